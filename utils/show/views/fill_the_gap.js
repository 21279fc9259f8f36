function draw({ words, names, sentence, longest, ...network }) {
  const MOST = 10; // words that are shown for a gap
  const STAND_IN = "gaptobefilled"; // a word like any other to what masks names
  const [EOS, UNK, MASK] = ["<eos>", "<unk>", "<mask>"].map((symbol) => words.indexOf(symbol));
  const rows = new Map(words.map((word, row) => [word, row]));
  const logits = encoder(network);

  const field = make("input", { type: "text", value: sentence, maxlength: longest, autocomplete: "off",
    spellcheck: "false", oninput: show });
  const hole = make("button", { type: "button", class: "view-hole", onclick: leave }, "Leave a gap");
  const line = make("p", { class: "view-filled" });
  const gaps = make("div", { class: "view-gaps" });
  const answer = make("p", { class: "view-seen" }), strange = make("p", { class: "view-label" });

  // Where the cursor is, or in place of what is selected.
  function leave() {
    field.setRangeText("___", field.selectionStart, field.selectionEnd, "end");
    field.focus();
    show();
  }

  // The ten likeliest words for each gap: [word, probability].
  function guess(ids) {
    const places = ids.flatMap((id, place) => (id === MASK ? [place] : []));
    return logits(ids, places).map((row) => {
      const chances = softmax(row.slice(MASK + 1)).map((share, i) => [words[MASK + 1 + i], share]);
      return chances.sort(([, one], [, other]) => other - one).slice(0, MOST);
    });
  }

  function show() {
    const gap = new RegExp(`(?<!${LETTER})_+(?!${LETTER})`, "gu");
    const found = masked(field.value.replace(gap, ` ${STAND_IN} `), names);
    const ids = found.map((word) => (word === STAND_IN ? MASK : rows.get(word) ?? UNK));
    const best = ids.includes(MASK) ? guess([...ids, EOS]) : [];
    let filled = 0;
    line.replaceChildren(...found.flatMap((word, place) => {
      const kind = { [MASK]: "strong", [UNK]: "em" }[ids[place]] ?? "span";
      return [make(kind, {}, kind === "strong" ? best[filled++][0][0] : word), " "];
    }));
    gaps.replaceChildren(...best.map((shares, number) => make("div", {},
      make("p", { class: "view-label" }, best.length > 1 ? `Gap ${number + 1}` : "The gap"),
      make("ul", { class: "view-bars" }, ...guessed(shares)))));
    const unknown = [...new Set(found.filter((_, place) => ids[place] === UNK))];
    strange.textContent = unknown.length ? `It doesn't know ${list(unknown.map(quote))}; all unknown words look alike to it.` : "";
    answer.textContent = !found.length ? "Type a sentence of plain words, without formulas."
      : !best.length ? "Leave a gap: write ___ for a word."
        : `It fills in ${list(best.map(([[word, share]]) => `${quote(word)} (${percent(share)})`))}.`;
  }

  const sum = (sizes) => sizes.reduce((one, other) => one + other, 0);
  const small = sum(network.matrices.map(([, rows, columns]) => rows * columns));
  const large = sum(network.vectors.map(([, size]) => size)), scales = sum(network.matrices.map(([, rows]) => rows));
  const whole = (number) => number.toLocaleString("en");
  const kilobytes = (number) => `${whole(Math.round(number / 1000))} kB`;
  const size = make("p", { class: "view-label" }, `The whole network is in this page, ${whole(small + large)} numbers: ` +
    `${whole(small)} of one byte, with a scale for each of ${whole(scales)} rows, and ${whole(large)} as they were. ` +
    `That is ${kilobytes(small + 4 * (large + scales))}, as text ${kilobytes(network.numbers.length + network.reals.length)}; ` +
    `with four bytes per number, it would be ${kilobytes(4 * (small + large))}.`);
  show();
  return [make("label", { class: "view-field view-typed" }, "Your sentence ", field), hole, line,
    make("div", { class: "view-answer", "aria-live": "polite" }, answer, strange), gaps, size];
}
