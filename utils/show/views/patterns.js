function draw({ names, windows, lengths, rows }) {
  const state = { name: 0, window: 0, length: 0 };
  const levels = Array.from({ length: 9 }, (_, i) => make("path", { "fill-opacity": (0.1 + (i + 1) / 10).toFixed(1) }));
  const picture = make("svg", { class: "view-pattern", role: "img" }, ...levels);
  const bars = make("ul", { class: "view-bars" });
  const told = make("p");

  const at = ({ name, window, length }) => rows[(name * windows.length + window) * lengths.length + length];
  const size = (bytes) => (bytes < 1e6 ? `${(bytes / 1e3).toFixed(1)} kB` : `${(bytes / 1e6).toFixed(1)} MB`);

  function show() {
    const row = at(state), full = at({ ...state, name: 0 }), T = lengths[state.length], n = row.cells.length;
    picture.setAttribute("viewBox", `0 0 ${n} ${n}`);
    for (const [i, path] of levels.entries()) {
      path.setAttribute("d", row.cells.flatMap((line, y) => [...line].map((cell, x) => (cell === `${i + 1}` ? `M${x} ${y}h1v1h-1z` : ""))).join(""));
    }
    told.textContent = `${names[state.name]}, ${T} positions: ${count(row.pairs)} of ${count(T * T)} pairs, ` +
      `${count(row.work)} operations, ${count(row.bytes)} bytes at once.`;
    picture.setAttribute("aria-label", `Queries downwards, keys to the right: ${names[state.name]}`);
    bars.replaceChildren(
      bar("pairs", `${(100 * row.pairs / (T * T)).toFixed(1)}%`, row.pairs / (T * T)),
      bar("operations", `${(row.work / 1e6).toFixed(1)} million`, Math.min(1, row.work / full.work)),
      bar("bytes", size(row.bytes), Math.min(1, row.bytes / full.bytes)));
  }

  const controls = [
    choice("Pattern", names, 0, (name) => { state.name = name; show(); }),
    choice("Window", windows.map(String), 0, (window) => { state.window = window; show(); }),
    choice("Positions", lengths.map(String), 0, (length) => { state.length = length; show(); }),
  ];
  show();
  return [...controls, picture, bars, make("div", { class: "view-answer", "aria-live": "polite" }, told)];
}
