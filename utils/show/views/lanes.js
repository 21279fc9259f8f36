// A lane of a race: who writes in it, a clock, and a text, whose beginning is in bold.
function lane(way) {
  const clock = make("span", { class: "view-clock" }), start = make("strong"), rest = make("span");
  const box = make("div", {}, make("p", { class: "view-label" }, `${way}: `, clock),
    make("div", { class: "view-lane" }, start, rest));
  return { clock, start, rest, box };
}
