// Layers of self-attention over learned positions (`utils.self_attention`), each added to its input.
function tagger({ decode, part, product, row, plus, softmax, cache, remember, attend }, model) {
  const weights = decode(model), { words, heads } = model, SPECIAL = 4;
  const table = weights["embedding.weight"], D = table.columns;
  const layers = [];
  while (`layers.${layers.length}.W_in` in weights) layers.push(part(weights, `layers.${layers.length}.`));

  // Probabilities of all words at each position, and the mean weights of one position over layers
  // and heads. `without`: positions that this one may not attend to.
  return function* ({ sentence, pronoun, without }) {
    const T = sentence.length, looks = new Float32Array(T);
    const all = [...sentence.keys()], kept = all.filter((s) => !without.includes(s));
    let x = sentence.map((word, t) =>
      plus(row(table, SPECIAL + words.indexOf(word)), row(weights["positions.table"], t)));
    for (const layer of layers) {
      const roles = x.map((one) => product(layer.W_in, one, layer.b_in));
      const [open, cut] = [all, kept].map((places) => {
        const held = cache(T, D);
        for (const s of places) remember(held, roles[s].subarray(D, 2 * D), roles[s].subarray(2 * D));
        return held;
      });
      x = x.map((one, t) => {
        const found = attend(roles[t].subarray(0, D), t === pronoun ? cut : open, heads);
        if (t === pronoun) {
          for (const look of found.looks) look.forEach((share, i) => { looks[kept[i]] += share / heads / layers.length; });
        }
        return plus(one, product(layer["W_o.weight"], found.context, layer["W_o.bias"]));
      });
    }
    const shares = x.map((one) => softmax(product(weights["output.weight"], one, weights["output.bias"])));
    yield { shares: shares.map((all) => all.subarray(SPECIAL)), looks };
  };
}

function draw({ model, menus, nouns, said }) {
  const chosen = menus.map(({ first }) => first), REASON = menus.length - 1;
  const answer = make("p", { class: "view-seen" }), verdict = make("p", { class: "view-said" });
  const bars = make("ul", { class: "view-bars" }), links = make("div", { class: "view-chips view-links", role: "group", "aria-label": "Links of the pronoun" });
  const size = make("p", { class: "view-label" });
  let network, words, cut = [];

  const put = (parts) => menus.map(({ options }, i) => options[parts[i]]).join(" ").split(" ").filter((word) => word);
  const isPronoun = (word) => word === "it" || word === "they";

  // The nouns that the pronoun can mean; none if a noun stands twice.
  function fits(sentence) {
    const here = sentence.filter((word) => word in nouns);
    return new Set(here).size < here.length ? [] : here.filter((noun) =>
      nouns[noun].plural === sentence.includes("they") && nouns[noun].kind === said[sentence.at(-1)]);
  }

  // The options of a menu that stay in the grammar: of a noun, if there is then something to say.
  const stays = (parts) => fits(put(parts)).length === 1;
  const other = (menu, option, parts = chosen) => parts.map((part, i) => (i === menu ? option : part));
  const open = (menu) => [...menus[menu].options.keys()].filter((option) => {
    const parts = other(menu, option);
    return menu === REASON ? stays(parts) : menus[REASON].options.some((_, reason) => stays(other(REASON, reason, parts)));
  });

  // If what was said fits no more: the same of the other number, or else the first that fits.
  function choose(menu, option) {
    chosen[menu] = option;
    if (!stays(chosen)) {
      const half = menus[REASON].options.length / 2, same = (chosen[REASON] + half) % (2 * half);
      chosen[REASON] = stays(other(REASON, same)) ? same : open(REASON)[0];
    }
    cut = [];
    fill();
    ask();
  }

  const selects = menus.map(({ label, options }, menu) => (options.length === 1 ? make("span", {}, options[0])
    : make("select", { "aria-label": label, onchange: (event) => choose(menu, Number(event.target.value)) })));

  function fill() {
    selects.forEach((select, menu) => {
      if (select.tagName !== "SELECT") return;
      select.replaceChildren(...open(menu).map((option) => make("option", { value: option }, menus[menu].options[option] || "–")));
      select.value = chosen[menu];
    });
  }

  function ask() {
    const sentence = put(chosen), pronoun = sentence.findIndex(isPronoun);
    network.run({ sentence, pronoun, without: cut }, 0, (found) => tell(sentence, pronoun, found), () => {});
  }

  function tell(sentence, pronoun, { shares, looks }) {
    const best = (row) => words[row.indexOf(Math.max(...row))];
    const gap = sentence.indexOf("_"), meant = best(shares[pronoun]), [right] = fits(sentence);
    const taken = cut.map((s) => quote(sentence[s])).join(" and ");
    answer.textContent = `${taken ? `Without the link to ${taken}, the` : "The"} network reads: ` +
      `${quote(sentence.join(" ").replace("_", best(shares[gap])))}, and ${quote(sentence[pronoun])} means ${quote(meant)}.`;
    verdict.textContent = (meant === right ? "✓ That is correct." : `✗ The correct noun is ${quote(right)}.`) +
      (nouns[right].never === sentence.at(-1) ? ` In training, ${quote(right)} was never said to be ${quote(sentence.at(-1))}.` : "");
    bars.replaceChildren(...sentence.filter((word) => word in nouns).map((noun) => {
      const share = shares[pronoun][words.indexOf(noun)];
      return bar(noun, wholePercent(share), share);
    }));
    lay(sentence, looks);
  }

  // A box for each word: its weight, and whether the pronoun may attend to it.
  function lay(sentence, looks) {
    const boxes = [...links.querySelectorAll("input")], at = boxes.indexOf(document.activeElement);
    links.replaceChildren(...sentence.map((word, s) => {
      const box = make("input", { type: "checkbox", "aria-label": `${word}, ${wholePercent(looks[s])}`, onchange: () => {
        cut = box.checked ? cut.filter((place) => place !== s) : [...cut, s].sort((one, next) => one - next);
        ask();
      } });
      box.checked = !cut.includes(s);
      box.disabled = !cut.includes(s) && cut.length === sentence.length - 1; // something has to be left
      const label = make("label", {}, box, make("span", {}, word), make("span", {}, cut.includes(s) ? "cut" : `${Math.round(100 * looks[s])}`));
      label.style.setProperty("--share", 100 * looks[s]);
      return label;
    }));
    links.querySelectorAll("input")[at]?.focus();
  }

  function wake(found) {
    words = found.words;
    network = awake(tagger, found);
    size.textContent = `${weighed(found)}.`;
    fill();
    ask();
  }

  load([model], answer, answer, wake);
  return [make("div", { class: "view-sentence" }, ...selects),
    make("div", { class: "view-answer", "aria-live": "polite" }, answer, verdict),
    make("p", { class: "view-label" }, "What the pronoun means, by the network's own probabilities:"), bars,
    make("p", { class: "view-label" }, "What the pronoun attends to (% over all layers and heads). Choose a word to take that link away:"), links, size];
}
