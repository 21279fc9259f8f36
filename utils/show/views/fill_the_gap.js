function draw({ model, names, sentences, longest }) {
  let network = null, rows = new Map(), now = {};

  const { field, hole } = gapped(sentences[0], longest, show);
  const line = make("p", { class: "view-filled" });
  const gaps = make("div", { class: "view-gaps" });
  const answer = make("p", { class: "view-seen" }), strange = make("p", { class: "view-label" });
  const size = make("p", { class: "view-label" });
  const tries = lines("Or try", sentences, 0, (sentence) => {
    field.value = sentences[sentence];
    show();
  });

  function show() {
    if (!network) return;
    now = parsed(field.value, names, rows);
    const { found, ids, gaps } = now;
    if (gaps) network.run({ ids: [...ids, rows.get("<eos>")] }, 0, take, () => {});
    else {
      network.stop();
      write([]);
      answer.textContent = found.length ? "Leave a gap: write ___ for a word." : ASK;
    }
  }

  function take({ best, ms }) {
    write(best);
    answer.textContent = `It fills in ${list(best.map(([[word, share]]) => `${quote(word)} (${percent(share)})`))}.`;
    size.textContent = `${size.dataset.weights} It took ${ms.toFixed(1)} ms.`;
  }

  function write(best) {
    const { found, ids } = now, unknown = now.unknown.map(quote);
    let filled = 0;
    line.replaceChildren(...found.flatMap((word, place) => {
      const kind = { [rows.get("<mask>")]: "strong", [rows.get("<unk>")]: "em" }[ids[place]] ?? "span";
      return [make(kind, {}, kind === "strong" ? best[filled++][0][0] : word), " "];
    }));
    gaps.replaceChildren(...best.map((shares, number) => make("div", {},
      make("p", { class: "view-label" }, best.length > 1 ? `Gap ${number + 1}` : "The gap"),
      make("ul", { class: "view-bars" }, ...guessed(shares)))));
    strange.textContent = unknown.length ? `It doesn't know ${list(unknown)}; all unknown words look alike to it.` : "";
  }

  function wake(held) {
    rows = new Map(held.words.map((word, row) => [word, row]));
    network = awake(filler, held);
    const { numbers, bytes } = sizeOf(held, 16);
    size.dataset.weights = `The whole network runs in this page: ${count(numbers)} numbers, ` +
      `nearly all of two bytes, ${count(Math.round(bytes / 1000))} kB.`;
    size.textContent = size.dataset.weights;
    show();
  }

  load([model], gaps, answer, wake);
  return [make("label", { class: "view-field view-typed" }, "Your sentence ", field), hole,
    ...(sentences.length > 1 ? [tries] : []), line,
    make("div", { class: "view-answer", "aria-live": "polite" }, answer, strange), gaps, size];
}
