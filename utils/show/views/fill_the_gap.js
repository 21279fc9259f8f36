function draw({ model, names, sentences, longest }) {
  let network = null, words = [], rows = new Map(), now = { found: [], ids: [] };

  const { field, hole } = gapped(sentences[0], longest, show);
  const line = make("p", { class: "view-filled" });
  const gaps = make("div", { class: "view-gaps" });
  const answer = make("p", { class: "view-seen" }), strange = make("p", { class: "view-label" });
  const size = make("p", { class: "view-label" });
  const tries = choice("Or try", sentences, 0, (sentence) => {
    field.value = sentences[sentence];
    show();
  });
  tries.classList.add("view-lines");

  function show() {
    if (!network) return;
    now = parsed(field.value, names, rows);
    const { found, ids } = now, asked = ids.includes(rows.get("<mask>"));
    if (asked) network.run({ ids: [...ids, rows.get("<eos>")] }, 0, take, () => {});
    else {
      network.stop();
      write([]);
      answer.textContent = found.length ? "Leave a gap: write ___ for a word."
        : "Type a sentence of plain words, without formulas.";
    }
  }

  function take({ best, ms }) {
    write(best);
    answer.textContent = `It fills in ${list(best.map(([[word, share]]) => `${quote(word)} (${percent(share)})`))}.`;
    size.textContent = `${size.dataset.weights} It took ${ms.toFixed(1)} ms.`;
  }

  function write(best) {
    const { found, ids } = now, unk = rows.get("<unk>"), mask = rows.get("<mask>");
    let filled = 0;
    line.replaceChildren(...found.flatMap((word, place) => {
      const kind = { [mask]: "strong", [unk]: "em" }[ids[place]] ?? "span";
      return [make(kind, {}, kind === "strong" ? best[filled++][0][0] : word), " "];
    }));
    gaps.replaceChildren(...best.map((shares, number) => make("div", {},
      make("p", { class: "view-label" }, best.length > 1 ? `Gap ${number + 1}` : "The gap"),
      make("ul", { class: "view-bars" }, ...guessed(shares)))));
    const unknown = [...new Set(found.filter((_, place) => ids[place] === unk))];
    strange.textContent = unknown.length ? `It doesn't know ${list(unknown.map(quote))}; all unknown words look alike to it.` : "";
  }

  function wake(held) {
    words = held.words;
    rows = new Map(words.map((word, row) => [word, row]));
    network = awake(filler, held);
    const { numbers, bytes } = sizeOf(held, 16);
    size.dataset.weights = `The whole network runs in this page: ${numbers.toLocaleString("en")} numbers, ` +
      `nearly all of two bytes, ${Math.round(bytes / 1000).toLocaleString("en")} kB.`;
    size.textContent = size.dataset.weights;
    show();
  }

  answer.textContent = "The model is being loaded.";
  near(gaps).then(() => stored(model)).then(wake).catch((problem) => { answer.textContent = `${problem}`; });
  return [make("label", { class: "view-field view-typed" }, "Your sentence ", field), hole,
    ...(sentences.length > 1 ? [tries] : []), line,
    make("div", { class: "view-answer", "aria-live": "polite" }, answer, strange), gaps, size];
}
