// What a decoder writes, as radios, and the source that it looks at, with bars as high as the weights:
// `begin` a source, `add` each symbol with its weights in per cent, `say` where it looked.
function looking() {
  const written = make("div", { class: "view-chips", role: "radiogroup", "aria-label": "What it writes" });
  const source = make("ul", { class: "view-chips" });
  const seen = make("p");
  let symbols = [], steps = [], chosen = 0;

  const chip = (symbol) => (symbol === " " ? "␣" : symbol);
  const named = (symbol) => quote(symbol === " " ? "a space" : symbol);

  function begin(read) {
    [symbols, steps, chosen] = [read, [], 0];
    written.replaceChildren();
    source.replaceChildren(...symbols.map((symbol) => make("li", {}, make("span", {}, chip(symbol)), make("span"))));
    seen.textContent = "";
  }

  function add(symbol, weights) {
    const at = steps.push({ symbol, weights }) - 1;
    const choose = () => { chosen = at; say(at); };
    const input = { name: "Written", "aria-label": `${symbol}, number ${at + 1}`, onchange: choose, checked: at === 0 };
    written.append(radio(chip(symbol), input, { onpointerenter: () => say(at) }));
  }

  // The bars of one step.
  function show(at) {
    [...written.children].forEach((label, place) => label.toggleAttribute("data-shown", place === at));
    [...source.children].forEach((place, j) => {
      const weight = steps[at].weights[j];
      place.style.setProperty("--share", weight);
      place.lastChild.textContent = weight >= 5 ? `${weight}` : "";
    });
  }

  // And in words.
  function say(at = chosen) {
    show(at);
    const { symbol, weights } = steps[at];
    const most = ranked(weights).slice(0, 3).filter((j) => weights[j] >= 5)
      .map((j) => `${named(symbols[j])} (${weights[j]}%)`);
    seen.textContent = `While it writes ${named(symbol)}, ` +
      (most.length ? `it looks most at ${list(most)}.`
        : "its weight is spread over many positions.");
  }

  written.addEventListener("pointerleave", () => steps.length && say());
  const nodes = [make("p", { class: "view-label" }, "It writes (point at one):"), written,
    make("p", { class: "view-label" }, "and looks at (%):"), source];
  return { nodes, seen, begin, add, show, say };
}
