function draw({ sentences, stages, words }) {
  const state = { sentence: 0, place: 0, stage: 0, heat: 0 };
  const line = make("div", { class: "view-place" });
  const bars = make("ul", { class: "view-bars" });
  const seen = make("p", { class: "view-seen" });
  const told = make("p");

  const temperature = () => Math.round(100 * 2 ** state.heat) / 100;

  function places() {
    const { said } = sentences[state.sentence];
    line.replaceChildren(choice("The word to be predicted", said.map((id) => words[id]), state.place,
      (place) => { state.place = place; show(); }));
  }

  function show() {
    const { logits, said } = sentences[state.sentence];
    const chances = softmax(logits[state.place][state.stage].map((logit) => logit / temperature()));
    const best = ranked(chances).slice(0, 6);
    const right = said[state.place], share = (id) => wholePercent(chances[id]);
    const rank = chances.filter((chance) => chance > chances[right]).length + 1;
    seen.textContent = `After ${quote(stages[state.stage])} it would predict ${quote(words[best[0]])} (${share(best[0])}).`;
    told.textContent = best[0] === right ? "✓ That is correct."
      : `✗ The correct word is ${quote(words[right])}: ${share(right)}, rank ${rank} of ${words.length}.`;
    bars.replaceChildren(...best.map((id) => bar(words[id], share(id), chances[id])));
    heat.setAttribute("aria-valuetext", `temperature ${temperature()}`);
    value.textContent = `${temperature()}`;
  }

  const heat = make("input", { type: "range", min: "-3", max: "3", step: "0.5", value: "0",
    "aria-label": "Temperature", oninput: () => { state.heat = Number(heat.value); show(); } });
  const value = make("span", {});
  const controls = [
    lines("Sentence", sentences.map(({ source }) => source), 0,
      (sentence) => { Object.assign(state, { sentence, place: 0 }); places(); show(); }),
    line,
    choice("Its stream after", stages, 0, (stage) => { state.stage = stage; show(); }),
    make("div", { class: "view-choice" }, make("span", { class: "view-label", "aria-hidden": "true" }, "Temperature"),
      make("div", { class: "view-heat" }, heat, value)),
  ];
  places();
  show();
  return [...controls, make("div", { class: "view-answer", "aria-live": "polite" }, seen, told), bars];
}
