function draw({ texts }) {
  const most = Math.max(1, ...texts.flatMap(({ tokens }) => tokens.map(({ bits }) => bits ?? 0)));
  const state = { text: 0, at: 0 };
  const line = make("div", { class: "view-surprise", role: "radiogroup", "aria-label": "Token" });
  const all = make("p", { class: "view-label" });
  const seen = make("p"), instead = make("p");
  let marks;

  const spelt = (text) => text.replaceAll(" ", "␣").replaceAll("\n", "↵").replaceAll("\t", "⇥");
  const percent = (share) => (share >= 0.0995 ? `${Math.round(100 * share)}%` : share >= 0.0005 ? `${(100 * share).toFixed(1)}%` : "less than 0.1%");

  function lay() {
    const { tokens } = texts[state.text];
    state.at = tokens.findIndex(({ bits }) => bits !== undefined);
    marks = tokens.map(({ text, bits }, at) => {
      const radio = make("input", { type: "radio", name: "Token", "aria-label": `${spelt(text)}, token ${at + 1}`,
        onchange: () => { state.at = at; show(at); } });
      radio.checked = at === state.at;
      const mark = make("label", { onpointerenter: () => show(at) }, radio, make("span", {}, text.replaceAll("\n", "↵\n")));
      mark.style.setProperty("--share", `${Math.round(100 * (bits ?? 0) / most)}%`);
      mark.toggleAttribute("data-given", bits === undefined);
      return mark;
    });
    line.replaceChildren(...marks);
    const counted = tokens.filter(({ bits }) => bits !== undefined);
    const bits = counted.reduce((sum, token) => sum + token.bits, 0);
    const bytes = counted.reduce((sum, { text }) => sum + new TextEncoder().encode(text).length, 0);
    all.textContent = `In all: ${bits.toFixed(1)} bits for ${bytes} bytes, ${(bits / bytes).toFixed(2)} bits per byte. ` +
      `The darkest colour is ${most.toFixed(1)} bits.`;
  }

  function show(at) {
    const { text, bits, expected } = texts[state.text].tokens[at];
    marks.forEach((mark, place) => mark.toggleAttribute("data-shown", place === at));
    const given = bits === undefined;
    seen.textContent = `Token ${at + 1}, “${spelt(text)}”: ` + (given ? "it was given, not predicted."
      : `${bits.toFixed(1)} bits; the model gave it ${percent(2 ** -bits)}.`);
    instead.textContent = given ? "" : `The model's first guesses: ${expected.map(([other, share]) => `“${spelt(other)}” ${percent(share)}`).join(", ")}.`;
  }

  function open(text) {
    state.text = text;
    lay();
    show(state.at);
  }

  line.addEventListener("pointerleave", () => show(state.at));
  const choose = texts.length > 1 ? [choice("Text", texts.map(({ title }) => title), 0, open)] : [];
  for (const radios of choose) radios.classList.add("view-lines");
  open(0);
  return [...choose, line, all, make("div", { class: "view-answer", "aria-live": "polite" }, seen, instead)];
}
