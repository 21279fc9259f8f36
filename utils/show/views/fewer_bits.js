function draw({ models, names, sentence, longest }) {
  const SHOWN = 5, CHOICES = [2, 3, 4, 5, 6, 7, 8];
  const state = { bits: 8 };
  let rows = new Map();
  const { field, hole } = gapped(sentence, longest, show);
  const answer = make("p", { class: "view-seen" }), strange = make("p", { class: "view-label" });
  const range = make("input", { type: "range", min: CHOICES[0], max: CHOICES.at(-1), step: 1, value: state.bits,
    oninput: () => { state.bits = Number(range.value); bits(); show(); } });
  const output = make("output", {}, `${state.bits}`);
  const slider = make("label", { class: "view-field view-few" }, "bits for each weight of the last model", range, output);

  // Three readers: two as they were trained, and the smaller one again with fewer bits.
  const readers = [...models.map(({ name }, model) => ({ name, model, bits: () => 16 })),
    { name: models.at(-1).name, model: models.length - 1, bits: () => state.bits }];
  for (const reader of readers) {
    reader.title = make("p", { class: "view-label" });
    reader.bars = make("ul", { class: "view-bars" });
    reader.box = make("div", {}, reader.title, reader.bars);
  }

  function bits() {
    output.textContent = `${state.bits}`;
    range.setAttribute("aria-valuetext", `${state.bits} bits`);
  }

  function show() {
    if (!rows.size) return;
    Object.assign(state, parsed(field.value, names, rows));
    const unknown = state.unknown.map(quote);
    strange.textContent = unknown.length ? `They don't know ${list(unknown)}.` : "";
    for (const reader of readers) reader.best = null;
    if (!state.gaps) {
      for (const { network, bars } of readers) {
        network.stop();
        bars.replaceChildren();
      }
      answer.textContent = state.found.length ? "Leave a gap: write ___ for a word." : ASK;
      return;
    }
    for (const reader of readers) {
      const input = { ids: [...state.ids, rows.get("<eos>")], bits: reader.bits() };
      reader.network.run(input, 0, ({ best }) => take(reader, best[0]), () => {});
    }
  }

  function take(reader, best) {
    reader.best = best;
    const { numbers, bytes } = sizeOf(reader.stored, reader.bits() < 16 ? reader.bits() : 32);
    const how = reader.bits() < 16 ? `${reader.bits()} bits` : "as trained";
    reader.title.textContent = `${reader.name}, ${how}: ${count(numbers)} numbers, ${Math.round(bytes / 1000)} kB`;
    reader.bars.replaceChildren(...guessed(best.slice(0, SHOWN)));
    if (readers.some((each) => !each.best)) return;
    const told = readers.map((each) => `the ${each.name} ${each.bits() < 16 ? `with ${each.bits()} bits ` : ""}${quote(each.best[0][0])} (${percent(each.best[0][1])})`);
    const same = new Set(readers.map((each) => each.best[0][0])).size === 1;
    answer.textContent = `First guesses: ${list(told)}. ${same ? "All three agree." : "They don't all agree."}`;
  }

  function wake(...held) {
    rows = new Map(held[0].words.map((word, row) => [word, row]));
    for (const reader of readers) {
      reader.stored = held[reader.model];
      reader.network = awake(filler, reader.stored);
    }
    bits();
    show();
  }

  const boxes = make("div", { class: "view-gaps" }, ...readers.map(({ box }) => box));
  load(models.map(({ model }) => model), boxes, answer, wake);
  return [make("label", { class: "view-field view-typed" }, "Your sentence ", field), hole, slider, boxes,
    make("div", { class: "view-answer", "aria-live": "polite" }, answer, strange)];
}
