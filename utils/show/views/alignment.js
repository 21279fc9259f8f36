function draw({ choose, examples }) {
  const state = { example: 0, at: 0 };
  const written = make("div", { class: "view-chips", role: "radiogroup", "aria-label": "What it writes" });
  const source = make("ul", { class: "view-chips" });
  const seen = make("p");
  const verdict = make("p");
  let labels, places;

  const quote = (symbol) => `“${symbol === " " ? "a space" : symbol}”`;
  const chip = (symbol) => (symbol === " " ? "␣" : symbol);
  const joined = (symbols) => {
    const parts = symbols.filter((symbol) => symbol !== "EOS");
    return parts.join(parts.some((part) => /[\u4e00-\u9fff]|^.$/.test(part)) ? "" : " ");
  };

  function lay() {
    const example = examples[state.example];
    state.at = 0;
    labels = example.written.map((symbol, at) => {
      const radio = make("input", { type: "radio", name: "Written", "aria-label": `${symbol}, number ${at + 1}`,
        onchange: () => { state.at = at; show(at); } });
      radio.checked = at === 0;
      return make("label", { onpointerenter: () => show(at) }, radio, make("span", {}, chip(symbol)));
    });
    written.replaceChildren(...labels);
    places = example.source.map((symbol) => make("li", {}, make("span", {}, chip(symbol)), make("span")));
    source.replaceChildren(...places);
    const right = joined(example.right);
    verdict.textContent = `It wrote ${quote(joined(example.written))}. ` +
      (example.written.join(" ") === example.right.join(" ") ? "✓ That is correct." : `✗ The correct answer is ${quote(right)}.`);
  }

  function show(at) {
    const { source: symbols, written: said, looks } = examples[state.example];
    const weights = looks[at];
    labels.forEach((label, place) => label.toggleAttribute("data-shown", place === at));
    places.forEach((place, j) => {
      place.style.setProperty("--share", weights[j]);
      place.lastChild.textContent = weights[j] >= 5 ? `${weights[j]}` : "";
    });
    const most = symbols.map((_, j) => j).filter((j) => weights[j] >= 5)
      .sort((one, other) => weights[other] - weights[one]).slice(0, 3)
      .map((j) => `${quote(symbols[j])} (${weights[j]}%)`);
    seen.textContent = `While it writes ${quote(said[at])}, ` +
      (most.length ? `it looks most at ${most.join(", ").replace(/, ([^,]*)$/, " and $1")}.`
        : "its weight is spread over many positions.");
  }

  const examplesChoice = choice(choose, examples.map(({ name }) => name), 0,
    (example) => { state.example = example; lay(); show(0); });
  examplesChoice.classList.add("view-lines");
  written.addEventListener("pointerleave", () => show(state.at));
  lay();
  show(0);
  return [examplesChoice,
    make("p", { class: "view-label" }, "It writes (point at one):"), written,
    make("p", { class: "view-label" }, "and looks at (%):"), source,
    make("div", { class: "view-answer", "aria-live": "polite" }, seen, verdict)];
}
