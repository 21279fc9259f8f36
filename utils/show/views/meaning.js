function draw({ network, words, menus, nouns, said }) {
  const state = menus.map(({ first }) => first);
  const answer = make("p", { class: "view-seen" });
  const verdict = make("p", { class: "view-said" });
  const bars = make("ul", { class: "view-bars" });

  // The lesson's reader: probabilities of all words at each position of a sentence.
  function read(ids) {
    const D = network.words[0].length, d = D / network.heads;
    let x = ids.map((id, t) => network.words[id].map((e, i) => e + network.places[t][i]));
    network.W_in.forEach((W_in, layer) => {
      const qkv = x.map((row) => times(W_in, row)); // (T, 3·D)
      const found = x.map(() => []);
      for (let head = 0; head < network.heads; head++) {
        const [q, k, v] = [0, 1, 2].map((role) =>
          qkv.map((row) => row.slice(role * D + head * d, role * D + (head + 1) * d)));
        q.forEach((query, t) => {
          const weights = softmax(k.map((key) => dot(query, key) / Math.sqrt(d)));
          for (let i = 0; i < d; i++) found[t].push(dot(weights, v.map((value) => value[i])));
        });
      }
      x = x.map((row, t) => times(network.W_o[layer], found[t]).map((y, i) => row[i] + y));
    });
    return x.map((row) => softmax(times(network.output, row).map((y, i) => y + network.bias[i])));
  }

  function show() {
    const chosen = menus.map(({ options }, i) => options[state[i]]);
    const sentence = chosen.join(" ").split(" ").filter((word) => word);
    const chances = read(sentence.map((word) => words.indexOf(word)));
    const gap = sentence.indexOf("_"), pronoun = sentence.findIndex((word) => word === "it" || word === "they");
    const best = (row) => words[row.indexOf(Math.max(...row))];
    const meant = best(chances[pronoun]);
    answer.textContent = `The network reads: “${sentence.join(" ").replace("_", best(chances[gap]))}”, ` +
      `and “${sentence[pronoun]}” means “${meant}”.`;
    const here = sentence.filter((word) => word in nouns);
    const fits = here.filter((noun) => nouns[noun].plural === (sentence[pronoun] === "they") &&
      nouns[noun].kind === said[sentence.at(-1)]);
    const outside = new Set(here).size < here.length ? "a noun occurs twice"
      : fits.length === 0 ? "no noun can be meant" : fits.length > 1 ? "more than one noun can be meant" : "";
    if (outside) verdict.textContent = `You have left the grammar: ${outside}. The network never saw such a sentence.`;
    else verdict.textContent = meant === fits[0] ? "✓ That is correct." : `✗ The correct noun is “${fits[0]}”.`;
    bars.replaceChildren(...here.map((noun) => {
      const share = chances[pronoun][words.indexOf(noun)];
      return bar(noun, `${Math.round(100 * share)}%`, share);
    }));
  }

  const line = make("div", { class: "view-sentence" }, ...menus.map(({ label, options }, i) => {
    if (options.length === 1) return make("span", {}, options[0]);
    const select = make("select", { "aria-label": label, onchange: () => { state[i] = select.selectedIndex; show(); } },
      ...options.map((option) => make("option", {}, option || "–")));
    select.selectedIndex = state[i];
    return select;
  }));
  show();
  return [line, make("div", { class: "view-answer", "aria-live": "polite" }, answer, verdict),
    make("p", { class: "view-label" }, "What the pronoun means, by the network's own probabilities:"), bars];
}
