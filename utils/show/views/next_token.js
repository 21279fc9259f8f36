function draw({ tokens, starts, rows }) {
  const V = tokens.length, ROWS = 12, ROUNDING = 1e-6; // as in utils/training/sampling.py
  const state = { start: 0, taken: [], tau: 1, k: V, p: 1 };

  const key = (more = []) => [...starts[state.start], ...state.taken, ...more].join(",");
  const spelt = (token) => tokens[token].replaceAll(" ", "␣").replaceAll("\n", "↵").replaceAll("\t", "⇥") || "(empty)";

  // Temperature first, then top-k, then top-p of what is left; of equal ones the lower number is kept.
  function filtered() {
    const logits = rows[key()].map((below) => -below / 1000 / state.tau);
    const order = ranked(logits);
    const chances = softmax(logits);
    const best = order.slice(0, state.k);
    const left = softmax(best.map((token) => logits[token]));
    const enough = state.p - Math.min(ROUNDING, (1 - state.p) / 2);
    let before = 0;
    const fewest = state.p === 1 ? best.length : left.filter((chance) => {
      before += chance;
      return before - chance < enough;
    }).length;
    const kept = best.slice(0, Math.max(1, fewest));
    const drawn = softmax(kept.map((token) => logits[token]));
    return { order, chances, best, kept, drawn };
  }

  const text = make("p", { class: "view-next-text", tabindex: "-1" });
  const begun = make("span"), added = make("strong");
  text.append(begun, added);
  const bars = make("ul", { class: "view-bars view-next" });
  const hint = make("p", { class: "view-label" });
  const rest = make("p", { class: "view-label" });
  const seen = make("p"), counted = make("p");

  function take(token) {
    state.taken.push(token);
    show();
    (bars.querySelector("button") || back).focus();
  }

  function row(token, place, { chances, best, kept, drawn }) {
    const can = key([token]) in rows;
    const name = can ? make("button", { type: "button", "aria-label": `write ${spelt(token)}`, onclick: () => take(token) }, spelt(token))
      : spelt(token);
    const told = place < kept.length ? percent(drawn[place])
      : `cut by ${place < best.length ? "top-p" : "top-k"}, was ${percent(chances[token])}`;
    const item = bar(name, told, place < kept.length ? drawn[place] : chances[token]);
    item.toggleAttribute("data-cut", place >= kept.length);
    return item;
  }

  function show() {
    const found = filtered(), { order, chances, best, kept, drawn } = found;
    begun.textContent = starts[state.start].map((token) => tokens[token]).join("");
    added.textContent = state.taken.map((token) => tokens[token]).join("");
    const shown = order.slice(0, ROWS), others = order.slice(ROWS);
    bars.replaceChildren(...shown.map((token, place) => row(token, place, found)));
    hint.textContent = bars.querySelector("button") ? "Press a framed token to write it." : "The model's next step is not stored: go back and write something else.";
    const mass = others.reduce((sum, token) => sum + chances[token], 0);
    const stay = Math.max(0, kept.length - ROWS);
    rest.textContent = others.length ? `${others.length} more tokens had ${percent(mass)} together; ${stay || "none"} of them ${stay === 1 ? "is" : "are"} left.` : "";
    seen.textContent = `Most likely next: ${kept.slice(0, 3).map((token, i) => `${quote(spelt(token))} ${percent(drawn[i])}`).join(", ")}.`;
    const before = kept.reduce((sum, token) => sum + chances[token], 0);
    counted.textContent = kept.length === V ? `All ${V} tokens are left.`
      : `${kept.length} of ${V} tokens ${kept.length === 1 ? "is" : "are"} left; together they had ${percent(before)}. ` +
        `Top-k cut ${V - best.length}, top-p ${best.length - kept.length} more.`;
    for (const { output, told } of sliders) output.textContent = told();
    for (const button of [back, again]) button.setAttribute("aria-disabled", String(!state.taken.length));
  }

  function slider(name, min, max, step, value, change, told) {
    const output = make("output");
    const range = make("input", { type: "range", min, max, step, value, oninput: () => { change(Number(range.value)); show(); } });
    return { output, told, field: make("label", { class: "view-field view-slider" }, name, range, output) };
  }

  const mostK = Math.min(V, 40); // at its right end top-k keeps all
  const sliders = [
    slider("temperature", 0.1, 2, 0.1, 1, (tau) => { state.tau = tau; }, () => state.tau.toFixed(1)),
    slider("top-k", 1, mostK, 1, mostK, (k) => { state.k = k === mostK ? V : k; }, () => (state.k === V ? "all" : `${state.k}`)),
    slider("top-p", 0.05, 1, 0.05, 1, (p) => { state.p = p; }, () => state.p.toFixed(2)),
  ];
  const undo = (taken) => { state.taken = taken; show(); if (!taken.length) text.focus(); };
  const back = make("button", { type: "button", onclick: () => undo(state.taken.slice(0, -1)) }, "← Back one");
  const again = make("button", { type: "button", onclick: () => undo([]) }, "From the start");
  const choose = lines("Beginning", starts.map((start) => start.map((token) => tokens[token]).join("")), 0,
    (start) => { Object.assign(state, { start, taken: [] }); show(); });
  show();
  return [choose, ...sliders.map(({ field }) => field), text, make("div", { class: "view-moves-back" }, back, again), hint, bars, rest,
    make("div", { class: "view-answer", "aria-live": "polite" }, seen, counted)];
}
