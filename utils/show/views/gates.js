function draw({ texts }) {
  const state = { text: 0, part: 0, unit: 0, at: 0 };
  const line = make("div", { class: "view-letters", role: "radiogroup", "aria-label": "Character" });
  const units = make("div");
  const seen = make("p");
  const all = make("p");
  let bars;

  const named = (letter) => ({ " ": "a space", "\n": "a new line" })[letter] || quote(letter);
  const unitName = () => (state.unit ? `unit ${state.unit}` : "the mean of all units");

  function lay() {
    const { text, parts } = texts[state.text];
    state.unit = Math.min(state.unit, parts[0].percent.length - 1);
    state.at = 0;
    bars = [...text].map((letter, at) => {
      const input = { name: "Character", "aria-label": `${named(letter)}, character ${at + 1}`,
        onchange: () => { state.at = at; show(at); }, checked: at === state.at };
      return radio(letter === " " ? "␣" : letter, input, { onpointerenter: () => show(at) });
    });
    line.replaceChildren(...bars);
    units.replaceChildren(choice("Unit", parts[0].percent.map((_, unit) => (unit ? `${unit}` : "mean")), state.unit,
      (unit) => { state.unit = unit; show(state.at); }));
  }

  function show(at) {
    const { text, parts } = texts[state.text];
    const { name, signed, percent } = parts[state.part];
    bars.forEach((label, place) => {
      const value = percent[state.unit][place];
      label.style.setProperty("--share", signed ? (100 + value) / 2 : value);
      label.toggleAttribute("data-shown", place === at);
    });
    seen.textContent = `Character ${at + 1}, ${named(text[at])}, ${unitName()}: ${name} ${percent[state.unit][at]}%` +
      (signed ? ", from −100 to 100." : " open.");
    all.textContent = parts.map((part) => `${part.name} ${part.percent[state.unit][at]}%`).join(" · ");
  }

  const controls = [
    lines("Text", texts.map(({ text }) => text), 0, (text) => { state.text = text; lay(); show(0); }),
    choice("Show", texts[0].parts.map(({ name }) => name), 0, (part) => { state.part = part; show(state.at); }),
  ];
  line.addEventListener("pointerleave", () => show(state.at));
  lay();
  show(0);
  return [...controls, units, line, make("div", { class: "view-answer", "aria-live": "polite" }, seen, all)];
}
