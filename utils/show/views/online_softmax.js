function draw({ scores, values, size }) {
  const cut = (list) => Array.from({ length: Math.ceil(list.length / size) }, (_, i) => list.slice(i * size, (i + 1) * size));
  const tiles = cut(scores), carried = cut(values);
  const states = [{ m: -Infinity, sum: 0, a: 0, rescale: 1 }];
  for (const [i, tile] of tiles.entries()) {
    const { m, sum, a } = states[i], most = Math.max(m, ...tile), rescale = Math.exp(m - most);
    const weights = tile.map((score) => Math.exp(score - most));
    states.push({ m: most, rescale, sum: rescale * sum + weights.reduce((x, y) => x + y), a: rescale * a + dot(weights, carried[i]) });
  }
  const number = (x) => (x === -Infinity ? "−∞" : x.toFixed(4).replace("-", "−"));
  const plain = (x) => String(x).replace("-", "−");
  let step = 0;

  const row = (name, lists) => make("tr", {}, make("th", { scope: "row" }, name),
    ...lists.flatMap((list, i) => list.map((x) => make("td", { "data-tile": i }, plain(x)))));
  const body = make("tbody", {}, row("scores", tiles), row("values", carried));
  const kept = make("dl", { class: "view-kept" });
  const told = make("p");
  const back = make("button", { type: "button", onclick: () => move(-1) }, "← Back");
  const on = make("button", { type: "button", onclick: () => move(1) }, "Next tile →");

  function move(by) {
    step = Math.max(0, Math.min(tiles.length, step + by));
    show();
  }

  function show() {
    const { m, sum, a, rescale } = states[step], end = step === tiles.length;
    for (const cell of body.querySelectorAll("td")) {
      const tile = Number(cell.dataset.tile);
      cell.toggleAttribute("data-now", tile === step - 1);
      cell.toggleAttribute("data-gone", tile < step - 1);
    }
    const pairs = [["maximum m", m], ["sum ℓ", sum], ["values a", a], ["context so far", step ? a / sum : 0]];
    kept.replaceChildren(...pairs.flatMap(([name, x]) => [make("dt", {}, name), make("dd", {}, step || name === "maximum m" ? number(x) : "0")]));
    const old = states[Math.max(0, step - 1)].m;
    told.textContent = !step ? "Nothing is taken in yet."
      : (step === 1 ? `Tile 1 of ${tiles.length} is taken in.`
        : m > old ? `Tile ${step} of ${tiles.length}: the maximum rises from ${plain(old)} to ${plain(m)}, so ℓ and a were first multiplied by ${number(rescale)}.`
        : `Tile ${step} of ${tiles.length}: the maximum stays, so nothing was rescaled.`) +
        (end ? ` A softmax of all at once gives ${number(dot(softmax(scores), values))}.` : "");
    back.setAttribute("aria-disabled", String(step === 0));
    on.setAttribute("aria-disabled", String(end));
  }

  show();
  return [make("div", { class: "view-tiles", tabindex: "0", role: "group", "aria-label": "Scores and values" }, make("table", {}, body)),
    make("div", { class: "view-moves" }, back, on), kept,
    make("div", { class: "view-answer", "aria-live": "polite" }, told)];
}
