// An encoder and a decoder in pre-norm (`utils.transformer`), which writes one word after the other.
function interpreter({ decode, part, product, row, plus, layerNorm, relu, softmax, sinusoidal, cache, remember, attend }, model) {
  const weights = decode(model), { heads, english, chinese } = model;
  const [BOS, EOS] = ["<bos>", "<eos>"].map((sign) => chinese.indexOf(sign));
  const ids = new Map(english.map((word, id) => [word, id]));

  function stack(side) {
    const table = weights[`${side}.embedding.symbols.weight`], D = table.columns, blocks = [];
    while (`${side}.blocks.${blocks.length}.self_attention.W_in` in weights) {
      const layer = part(weights, `${side}.blocks.${blocks.length}.`);
      const norm = (i, x) => layerNorm(x, layer[`residuals.${i}.norm.weight`], layer[`residuals.${i}.norm.bias`]);
      const attention = (name) => {
        const own = part(layer, `${name}_attention.`);
        return {
          project: (x) => [0, D, 2 * D].map((from) => product(own.W_in, x, own.b_in).subarray(from, from + D)),
          mix: (context) => product(own["W_o.weight"], context, own["W_o.bias"]),
        };
      };
      const think = (x) => product(layer["feed_forward.W_2.weight"],
        relu(product(layer["feed_forward.W_1.weight"], x, layer["feed_forward.W_1.bias"])), layer["feed_forward.W_2.bias"]);
      blocks.push({ norm, think, own: attention("self"), cross: side === "decoder" ? attention("cross") : null });
    }
    const embed = (id, at) => plus(row(table, id).map((value) => value * Math.sqrt(D)), sinusoidal(at, D));
    const last = (x) => layerNorm(x, weights[`${side}.norm.weight`], weights[`${side}.norm.bias`]);
    return { table, D, blocks, embed, last };
  }
  const encoder = stack("encoder"), decoder = stack("decoder"), D = decoder.D;

  // What the encoder makes of a source: a vector for each word.
  function encode(source) {
    let x = source.map((id, at) => encoder.embed(id, at));
    for (const { norm, own, think } of encoder.blocks) {
      const held = cache(x.length, D), queries = x.map((one) => {
        const [query, key, value] = own.project(norm(0, one));
        remember(held, key, value);
        return query;
      });
      x = x.map((one, at) => plus(one, own.mix(attend(queries[at], held, heads).context)));
      x = x.map((one) => plus(one, think(norm(1, one))));
    }
    return x.map(encoder.last);
  }

  // Keys and values of the source, once for each block of the decoder.
  function memory(found) {
    return decoder.blocks.map(({ cross }) => {
      const held = cache(found.length, D);
      for (const one of found) {
        const [, key, value] = cross.project(one);
        remember(held, key, value);
      }
      return held;
    });
  }

  // Reads one word more; returns the logits of the next, and each block's looks at the source.
  function step(id, at, source, own) {
    let x = decoder.embed(id, at);
    const looks = decoder.blocks.map(({ norm, own: self, cross, think }, i) => {
      const [query, key, value] = self.project(norm(0, x));
      remember(own[i], key, value);
      x = plus(x, self.mix(attend(query, own[i], heads).context));
      const [asks] = cross.project(norm(1, x)), found = attend(asks, source[i], heads);
      x = plus(x, cross.mix(found.context));
      x = plus(x, think(norm(2, x)));
      return found.looks;
    });
    return { logits: product(decoder.table, decoder.last(x)), looks };
  }

  // Translates words that it knows. For each word written: the word, what else it might have been, what
  // all heads of all blocks attend to (the words and EOS), and milliseconds.
  return function* ({ text, longest }) {
    const source = memory(encode([...text.map((word) => ids.get(word)), ids.get("<eos>")]));
    const own = decoder.blocks.map(() => cache(longest, D));
    let id = BOS;
    for (let at = 0; at < longest && id !== EOS; at++) {
      const begun = performance.now(), { logits, looks } = step(id, at, source, own), shares = softmax(logits);
      const order = [...shares.keys()].filter((other) => other >= EOS).sort((a, b) => shares[b] - shares[a] || a - b);
      id = order[0];
      const next = order.slice(0, 5).map((other) => [other === EOS ? "EOS" : chinese[other], shares[other]]);
      yield { word: next[0][0], next, looks, ms: performance.now() - begun };
    }
  };
}

function draw({ model, sentence, longest }) {
  const PACE = 450; // milliseconds for a word, so that one can follow
  const state = { text: [], said: [], at: 0, block: 0, head: 0, example: -1 };
  let network = null, known = new Set(), examples = [], busy = false;

  const field = make("input", { type: "text", value: sentence, maxlength: 200, autocomplete: "off", spellcheck: "false",
    disabled: "", onchange: () => translate() });
  const button = make("button", { type: "button", disabled: "", onclick: () => translate() }, "Translate");
  const another = make("button", { type: "button", disabled: "", onclick: () => {
    state.example = (state.example + 1) % examples.length;
    field.value = examples[state.example][0];
    translate();
  } }, "Another sentence");
  const source = make("ul", { class: "view-row" });
  const written = make("div", { class: "view-row", role: "radiogroup", "aria-label": "What it has written", lang: "zh" });
  const bars = make("ul", { class: "view-bars" });
  const told = make("p"), seen = make("p"), size = make("p", { class: "view-label" });
  const vocabulary = make("details", { class: "view-known" });

  // Words as the model has them: without points, "don't" in two words, capitals as in training.
  function read() {
    const plain = field.value.replace(/[‘’]/g, "'").replace(/\b(do|does)n't\b/gi, "$1 not").replace(/[.,!?;:"]/g, " ");
    const pieces = plain.trim().split(/\s+/).filter(Boolean);
    const forms = (word) => [word, word.toLowerCase(), word[0].toUpperCase() + word.slice(1).toLowerCase()];
    return { pieces, found: pieces.map((word) => forms(word).find((form) => known.has(form))) };
  }

  function translate() {
    if (!network) return;
    network.stop();
    const { pieces, found } = read(), strange = [...new Set(pieces.filter((_, i) => found[i] === undefined))];
    Object.assign(state, { text: strange.length ? [] : found, said: [], at: -1 });
    busy = false;
    if (strange.length || !state.text.length || state.text.length >= longest) {
      told.textContent = strange.length ? `It never learned ${list(strange.map(quote))}. Below are the words that it knows.`
        : state.text.length ? `It reads up to ${longest - 1} words.` : "Write an English sentence.";
      lay();
      return;
    }
    busy = true;
    told.textContent = "It is writing.";
    lay();
    network.run({ text: state.text, longest }, PACE, take, rest);
  }

  function take(piece) {
    state.said.push(piece);
    state.at = state.said.length - 1;
    lay();
  }

  function rest() {
    busy = false;
    const wrote = state.said.map(({ word }) => word).filter((word) => word !== "EOS").join(" ");
    const asked = state.text.join(" "), example = examples.find(([english]) => english === asked);
    const verdict = !example ? "" : example[1] === wrote ? " That is correct, and it never saw this sentence in training."
      : ` The correct translation is ${quote(example[1].replaceAll(" ", ""))}.`;
    told.textContent = `${quote(asked)} becomes ${quote(wrote.replaceAll(" ", ""))}.${verdict}`;
    const ms = state.said.reduce((sum, piece) => sum + piece.ms, 0) / state.said.length;
    size.textContent = `${size.dataset.weights} Here a word takes ${ms.toFixed(1)} ms; it waits, so that you can follow.`;
    show();
  }

  // The source's weights for the chosen word: of one head, or the mean of all.
  function weights() {
    const looks = state.said[state.at]?.looks[state.block];
    if (!looks) return null;
    return state.head ? [...looks[state.head - 1]] : [...looks[0]].map((_, s) => looks.reduce((sum, look) => sum + look[s], 0) / looks.length);
  }

  function lay() {
    const symbols = state.text.length ? [...state.text, "EOS"] : [];
    source.replaceChildren(...symbols.map((word) => make("li", {}, make("span", {}, word), make("span"))));
    written.replaceChildren(...state.said.map(({ word }, at) => {
      const choose = () => { state.at = at; show(); };
      return radio(word, { name: "Written", "aria-label": `${word}, word ${at + 1}`, onchange: choose, checked: at === state.at });
    }));
    show();
  }

  function show() {
    const look = weights(), piece = state.said[state.at];
    [...source.children].forEach((place, s) => {
      const share = look ? look[s] : 0;
      place.style.setProperty("--look", wholePercent(share));
      place.lastChild.textContent = share >= 0.05 ? percent(share) : "";
    });
    bars.replaceChildren(...(piece?.next ?? []).map(([word, share]) => bar(word, percent(share), share)));
    if (!piece || busy) {
      seen.textContent = "";
      return;
    }
    const symbols = [...state.text, "EOS"], order = ranked(look).slice(0, 3).filter((s) => look[s] >= 0.05);
    seen.textContent = `While it writes ${quote(piece.word)}, ${state.head ? `head ${state.head}` : "the mean of all heads"} of block ` +
      `${state.block + 1} ${order.length ? `attends most to ${list(order.map((s) => `${quote(symbols[s])} (${percent(look[s])})`))}`
        : "spreads its weight over many words"}.`;
  }

  function wake(found) {
    known = new Set(found.english.filter((word) => word[0] !== "<"));
    examples = found.examples;
    network = awake(interpreter, found);
    size.dataset.weights = `${weighed(found)}.`;
    for (const part of [field, button, another]) part.disabled = false;
    const blocks = found.weights.filter(([name]) => name.endsWith("cross_attention.W_in")).length;
    state.block = blocks - 1;
    choices.replaceChildren(
      choice("Block", numbered(blocks), state.block, (block) => { state.block = block; show(); }),
      choice("Head", ["all", ...numbered(found.heads)], 0, (head) => { state.head = head; show(); }));
    vocabulary.replaceChildren(make("summary", {}, `The ${known.size} words that it knows`), make("p", {}, [...known].join(" ")));
    translate();
  }

  const choices = make("div", { class: "view-choices" });
  load([model], written, told, wake);
  return [make("label", { class: "view-field view-typed" }, make("span", {}, "Your English sentence"), field),
    make("div", { class: "view-moves-back" }, button, another),
    make("p", { class: "view-label" }, "It writes (choose a word):"), written,
    make("p", { class: "view-label" }, "and attends to:"), source,
    make("div", { class: "view-halves" },
      make("div", {}, make("p", { class: "view-label" }, "The word, and what else it might have been"), bars),
      make("div", {}, make("p", { class: "view-label" }, "Whose cross-attention is shaded"), choices)),
    make("div", { class: "view-answer", "aria-live": "polite" }, told, seen), size, vocabulary];
}
