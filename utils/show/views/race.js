function draw({ ways, runs }) {
  const state = { run: 0, began: null };
  const lanes = ways.map(lane);
  const told = make("p");
  const go = make("button", { type: "button", onclick: begin }, "Write");

  const total = (lane) => runs[state.run].passed[lane].at(-1);
  const seconds = (milliseconds) => `${(milliseconds / 1000).toFixed(2)} s`;

  function show(now) {
    const { text, passed } = runs[state.run];
    for (const [i, { clock, start, rest }] of lanes.entries()) {
      const there = passed[i].filter((at) => at <= now).length;
      start.textContent = runs[state.run].start;
      rest.textContent = text.slice(0, there);
      clock.textContent = seconds(Math.min(Math.max(now, 0), total(i)));
    }
    const times = total(0) / total(1);
    told.textContent = now < Math.max(total(0), total(1)) ? "" :
      `${text.length} characters took ${seconds(total(0))} ${ways[0]} and ${seconds(total(1))} ${ways[1]}: ${times.toFixed(1)} times as fast.`;
  }

  function step() {
    if (state.began === null) return;
    const now = performance.now() - state.began;
    show(now);
    if (now < Math.max(total(0), total(1))) requestAnimationFrame(step);
    else state.began = null;
  }

  function begin() {
    const idle = state.began === null;
    state.began = performance.now();
    if (idle) requestAnimationFrame(step);
  }

  function reset(run) {
    Object.assign(state, { run, began: null });
    show(-1);
  }

  const starts = lines("Beginning", runs.map(({ start }) => start), 0, reset);
  reset(0);
  return [starts, make("div", { class: "view-moves" }, go), make("div", { class: "view-lanes" }, ...lanes.map(({ box }) => box)),
    make("div", { class: "view-answer", "aria-live": "polite" }, told)];
}
