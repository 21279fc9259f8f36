function draw({ libraries, names, words, scale, idf, weights, bias, sentence }) {
  const rows = new Map(words.map((word, row) => [word, row]));
  const field = make("input", { type: "text", value: sentence, maxlength: 300, autocomplete: "off",
    spellcheck: "false", oninput: show });
  const line = make("ul", { class: "view-over" });
  const bars = make("ul", { class: "view-bars" });
  const answer = make("p", { class: "view-seen" }), most = make("p"), strange = make("p", { class: "view-label" });

  // TF-IDF and a logistic regression: each known word adds its weights, times its share x of the text.
  function show() {
    const found = masked(field.value, names);
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
    bars.replaceChildren(...libraries.map((name, label) => bar(name, `${Math.round(100 * chances[label])}%`, chances[label])));
    if (!found.length) {
      answer.textContent = "Type a sentence of plain words, without formulas.";
      for (const node of [most, strange]) node.textContent = "";
      return;
    }
    answer.textContent = `The model takes this for ${libraries[best]}.`;
    most.textContent = `By their weights, ${speakers(found, shares, libraries[best])}`;
    const unknown = [...new Set(found.filter((word) => !rows.has(word)))];
    strange.textContent = unknown.length ? `It doesn't know ${list(unknown.map(quote))}.` : "";
  }

  show();
  return [make("label", { class: "view-field view-typed" }, "Your sentence ", field), line, bars,
    make("div", { class: "view-answer", "aria-live": "polite" }, answer, most, strange)];
}
