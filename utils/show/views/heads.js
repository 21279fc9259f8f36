function draw({ sentences, masks }) {
  const [{ looks: [looks] }] = masks;
  const state = { sentence: 0, mask: 0, layer: 0, head: 0, word: null };
  const picture = make("div", { class: "view-heads" });
  const seen = make("p");
  const said = make("div");
  let words, paths, keys;

  const set = (change) => { Object.assign(state, change); show(state.word); };

  // The rows of one sentence; T words give T² paths.
  function lay() {
    ({ words } = sentences[state.sentence]);
    const asked = sentences[state.sentence].right.map(([place]) => place);
    state.word = asked.at(-1);
    const queries = words.map((word, place) => {
      const input = { name: "Word", "aria-label": `${word}, word ${place + 1}`,
        onchange: () => set({ word: place }), checked: place === state.word };
      return radio(word, input, { onpointerenter: () => show(place), class: asked.includes(place) ? "view-asks" : "" });
    });
    paths = words.map((_, query) => words.map((_, key) => make("path", {
      d: `M0,${query + 0.5} C50,${query + 0.5} 50,${key + 0.5} 100,${key + 0.5}` })));
    const canvas = { viewBox: `0 0 100 ${words.length}`, preserveAspectRatio: "none", "aria-hidden": "true" };
    keys = words.map((word) => make("li", {}, make("span", {}, word), make("span", {})));
    picture.replaceChildren(
      make("span", { class: "view-label" }, "This word …"),
      make("span", { class: "view-label" }, "… looks at"),
      make("div", { class: "view-queries", role: "radiogroup", "aria-label": "The word that looks",
        onpointerleave: () => show(state.word) }, ...queries),
      make("svg", canvas, ...paths.flat()),
      make("ul", { class: "view-keys" }, ...keys));
  }

  function show(word) {
    const { sentence, mask, layer, head } = state;
    const looks = masks[mask].looks[sentence][layer][head]; // percent, (T, T)
    paths.forEach((row, query) => row.forEach((path, key) => {
      path.setAttribute("class", query === word ? "view-look" : "");
      path.setAttribute("stroke-width", 0.14 * looks[query][key]);
    }));
    [...picture.querySelectorAll(".view-queries label")].forEach((label, place) => {
      label.toggleAttribute("data-shown", place === word);
    });
    keys.forEach((row, key) => {
      row.style.setProperty("--weight", `${looks[word][key]}%`);
      row.lastChild.textContent = `${looks[word][key]}%`;
      row.toggleAttribute("data-faint", looks[word][key] < 5);
    });

    const whose = head ? `head ${head}` : "the mean of its heads";
    const most = ranked(looks[word]).slice(0, 3).filter((key) => looks[word][key] >= 5)
      .map((key) => `${quote(words[key])} (${looks[word][key]}%)`);
    seen.textContent = `Layer ${layer + 1}, ${whose}: ${quote(words[word])} ` +
      (most.length ? `looks most at ${list(most)}.` : "spreads its weight over many words.");
    said.replaceChildren(...sentences[sentence].right.map(([place, right], index) => {
      const answer = masks[mask].answers[sentence][index];
      const verdict = answer === right ? "✓ correct" : `✗ the correct answer is ${quote(right)}`;
      return make("p", {}, `For ${quote(words[place])} the model answers ${quote(answer)}: ${verdict}.`);
    }));
  }

  const texts = sentences.map(({ words }) => words.join(" "));
  const heads = looks[0].map((_, head) => (head ? `${head}` : "mean"));
  const controls = [
    lines("Sentence", texts, 0, (sentence) => { state.sentence = sentence; lay(); show(state.word); }),
    choice("May look at", masks.map(({ name }) => name), 0, (mask) => set({ mask })),
    choice("Layer", looks.map((_, layer) => `${layer + 1}`), 0, (layer) => set({ layer })),
    choice("Head", heads, 0, (head) => set({ head })),
  ];
  lay();
  show(state.word);
  return [...controls, picture, make("div", { class: "view-answer", "aria-live": "polite" }, seen, said)];
}
