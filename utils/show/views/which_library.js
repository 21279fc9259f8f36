function draw({ libraries, names, words, scale, idf, weights, bias, sentence }) {
  const rows = new Map(words.map((word, row) => [word, row]));
  const own = new Set(names);
  const NAME = "<name>", NUMBER = "<number>", LETTER = "[\\p{L}\\p{N}_]";
  const MARKED = new RegExp(`(:[:\\p{L}\\p{N}_]+:)?\`+[^\`]*\`+_*|\\*+${LETTER}+\\*+|"[^"]*"|` +
    `(?<!${LETTER})'[^' ]*'(?!${LETTER})|[.\\p{L}\\p{N}_]+[(][)]`, "gu");

  // As utils.data.libraries has it: small letters, no punctuation, names and numbers masked.
  function masked(text) {
    const plain = text.replaceAll("e.g.", "eg").replaceAll("i.e.", "ie").replace(MARKED, " ` ");
    if (/[=[\]{}<>|^~@#$%&+*:\\]/.test(plain)) return [];
    const found = [];
    for (const piece of plain.split(/[\s/]+|--/)) {
      const word = mask(piece.replace(/^[.,;!?()"']+|[.,;!?()"']+$/g, ""), found.length ? 0 : 1);
      if (word && !(word === NAME && found.at(-1) === NAME)) found.push(word);
    }
    return found;
  }

  function mask(piece, first) {
    if (/^[A-Za-z]+(?:['-][A-Za-z]+)*$/.test(piece)) {
      const small = piece.toLowerCase();
      return piece.slice(first) !== small.slice(first) || small.split("-").some((part) => own.has(part)) ? NAME : small;
    }
    if (/^[-+]?\p{Nd}/u.test(piece)) return NUMBER;
    return piece === "`" || /[\p{L}\p{N}_]/u.test(piece) ? NAME : "";
  }

  const field = make("input", { type: "text", value: sentence, maxlength: 300, autocomplete: "off",
    spellcheck: "false", oninput: show });
  const line = make("ul", { class: "view-over" });
  const bars = make("ul", { class: "view-bars" });
  const answer = make("p", { class: "view-seen" }), most = make("p"), strange = make("p", { class: "view-label" });

  // TF-IDF and a logistic regression: each known word adds its weights, times its share x of the text.
  function show() {
    const found = masked(field.value);
    const known = new Map(); // (word, its count times its idf)
    for (const word of found) if (rows.has(word)) known.set(word, (known.get(word) ?? 0) + idf[rows.get(word)]);
    const norm = Math.hypot(...known.values());
    const x = found.map((word) => (known.has(word) ? idf[rows.get(word)] / norm : 0));
    const adds = (label) => found.map((word, i) => (x[i] ? x[i] * weights[rows.get(word)][label] / scale : 0));
    const chances = softmax(bias.map((b, label) => adds(label).reduce((sum, part) => sum + part, b / scale)));
    const best = chances.indexOf(Math.max(...chances));
    const parts = adds(best);
    const largest = Math.max(...parts.map(Math.abs)) || 1;
    const shares = parts.map((part) => Math.round(100 * part / largest));

    line.replaceChildren(...over(found, shares));
    bars.replaceChildren(...libraries.map((name, label) => bar(name, `${Math.round(100 * chances[label])} %`, chances[label])));
    if (!found.length) {
      answer.textContent = "Type a sentence of plain words, without formulas.";
      for (const node of [most, strange]) node.textContent = "";
      return;
    }
    answer.textContent = `The model takes this for ${libraries[best]}.`;
    most.textContent = `By their weights, ${speakers(found, shares, libraries[best])}`;
    const unknown = [...new Set(found.filter((word) => !rows.has(word)))];
    strange.textContent = unknown.length ? `It does not know ${list(unknown.map(quote))}.` : "";
  }

  show();
  return [make("label", { class: "view-field view-typed" }, "Your sentence ", field), line, bars,
    make("div", { class: "view-answer", "aria-live": "polite" }, answer, most, strange)];
}
