// Day 8's classifier over byte pairs (`utils.transformer.EncoderOnly`), and its bag of words.
function readers({ decode, part, product, row, plus, layerNorm, relu, softmax, rotary, cache, remember, attend }, model) {
  const weights = decode(model), { heads, merges, masks, libraries } = model;
  const table = weights["encoder.embedding.symbols.weight"], D = table.columns, blocks = [];
  while (`encoder.blocks.${blocks.length}.self_attention.W_in` in weights) blocks.push(part(weights, `encoder.blocks.${blocks.length}.`));
  const ranks = new Map(merges.map(([one, other], rank) => [`${one} ${other}`, rank]));
  const rows = new Map(model.words.map((word, id) => [word, id])), idf = weights["bag.idf"];

  // A word in byte pairs: as in Python, the merge that was learned first comes first.
  function cut(word) {
    const pieces = ` ${Object.hasOwn(masks, word) ? masks[word] : word}`.match(/'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+/gu);
    return pieces.flatMap((piece) => {
      let tokens = [...new TextEncoder().encode(piece)];
      for (;;) {
        const found = tokens.slice(1).map((token, i) => ranks.get(`${tokens[i]} ${token}`) ?? Infinity);
        const best = Math.min(...found);
        if (best === Infinity) return tokens;
        const [one, other] = merges[best], left = [];
        for (const token of tokens) {
          if (left.length && left.at(-1) === one && token === other) left[left.length - 1] = 256 + best;
          else left.push(token);
        }
        tokens = left;
      }
    });
  }

  // The bytes of a token, as letters where they are some.
  const spelt = (token) => (token < 256 ? [token] : merges[token - 256].flatMap(spelt));
  const letters = (token) => new TextDecoder().decode(Uint8Array.from(spelt(token)));

  // Log-probabilities of the libraries for tokens; for none, each is as likely.
  function transformer(ids) {
    if (!ids.length) return libraries.map(() => -Math.log(libraries.length));
    let x = ids.map((id) => row(table, id).map((value) => value * Math.sqrt(D)));
    for (const layer of blocks) {
      const norm = (i, one) => layerNorm(one, layer[`residuals.${i}.norm.weight`], layer[`residuals.${i}.norm.bias`]);
      const held = cache(x.length, D), queries = x.map((one, at) => {
        const all = product(layer["self_attention.W_in"], norm(0, one), layer["self_attention.b_in"]);
        remember(held, rotary(all.subarray(D, 2 * D), at, heads), all.subarray(2 * D));
        return rotary(all.subarray(0, D), at, heads);
      });
      x = x.map((one, at) => plus(one, product(layer["self_attention.W_o.weight"],
        attend(queries[at], held, heads).context, layer["self_attention.W_o.bias"])));
      x = x.map((one) => plus(one, product(layer["feed_forward.W_2.weight"], relu(product(layer["feed_forward.W_1.weight"],
        norm(1, one), layer["feed_forward.W_1.bias"])), layer["feed_forward.W_2.bias"])));
    }
    const mean = new Float32Array(D);
    for (const one of x) {
      layerNorm(one, weights["encoder.norm.weight"], weights["encoder.norm.bias"]).forEach((value, i) => { mean[i] += value / x.length; });
    }
    return logs(product(weights["output.weight"], mean, weights["output.bias"]));
  }

  const logs = (logits) => [...softmax(logits)].map(Math.log);

  // TF-IDF and a logistic regression.
  function bag(words) {
    const known = new Map();
    for (const word of words) if (rows.has(word)) known.set(word, (known.get(word) ?? 0) + idf[rows.get(word)]);
    const norm = Math.hypot(...known.values()), logits = Float32Array.from(weights["bag.bias"]);
    for (const [word, x] of known) row(weights["bag.weights"], rows.get(word)).forEach((weight, label) => { logits[label] += x / norm * weight; });
    return logs(logits);
  }

  // For words: what either says of them, and how much less likely its answer is without each of them.
  return function* ({ words }) {
    const tokens = words.map(cut);
    const judged = (judge) => {
      const whole = judge(words.map(() => true)), best = whole.indexOf(Math.max(...whole));
      const scores = words.map((_, out) => whole[best] - judge(words.map((_, at) => at !== out))[best]);
      return { shares: whole.map(Math.exp), best, scores };
    };
    yield {
      pieces: tokens.map((ids) => ids.map(letters)),
      readers: [judged((kept) => transformer(tokens.filter((_, at) => kept[at]).flat())),
        judged((kept) => bag(words.filter((_, at) => kept[at])))],
      unknown: words.filter((word) => !rows.has(word)),
    };
  };
}

function draw({ model, libraries, names, sentence }) {
  const WAIT = 150; // milliseconds after a key
  const NAMES = ["The Transformer", "The bag of words"];
  let network = null, timer, words = [];
  const field = make("input", { type: "text", value: sentence, maxlength: 300, autocomplete: "off",
    spellcheck: "false", disabled: "", oninput: () => { clearTimeout(timer); timer = setTimeout(show, WAIT); } });
  const panels = NAMES.map((name) => {
    const line = make("ul", { class: "view-over" }), bars = make("ul", { class: "view-bars" });
    return { line, bars, box: make("div", {}, make("p", { class: "view-label" }, name), line, bars) };
  });
  const told = NAMES.map(() => make("p")), read = make("p", { class: "view-label" }), strange = make("p", { class: "view-label" });

  function show() {
    words = masked(field.value, names);
    if (words.length) network.run({ words }, 0, take, () => {});
    else {
      network.stop();
      for (const { line, bars } of panels) for (const part of [line, bars]) part.replaceChildren();
      for (const node of [...told, read, strange]) node.textContent = "";
      told[0].textContent = ASK;
    }
  }

  function take({ pieces, readers, unknown }) {
    readers.forEach(({ shares, best, scores }, i) => {
      const most = Math.max(...scores.map(Math.abs)) || 1, parts = scores.map((score) => Math.round(100 * score / most));
      panels[i].line.replaceChildren(...over(words, parts));
      panels[i].bars.replaceChildren(...libraries.map((name, label) => bar(name, wholePercent(shares[label]), shares[label])));
      told[i].textContent = `${NAMES[i]} takes this for ${libraries[best]} (${wholePercent(shares[best])}); left out one by one, ` +
        speakers(words, parts, libraries[best]);
    });
    const cut = words.map((word, i) => [word, pieces[i]]).filter(([word, parts]) => parts.length > 1 && !word.startsWith("<"));
    read.textContent = cut.length ? `The Transformer reads ${list(cut.map(([word, parts]) => `${quote(word)} as ${parts.map((piece) => piece.trim()).join("·")}`))}.` : "";
    strange.textContent = unknown.length ? `The bag doesn't know ${list([...new Set(unknown)].map(quote))}.` : "";
  }

  function wake(found) {
    network = awake(readers, found);
    field.disabled = false;
    show();
  }

  load([model], field, told[0], wake);
  return [make("label", { class: "view-field view-typed" }, "Your sentence ", field),
    make("div", { class: "view-halves" }, ...panels.map(({ box }) => box)),
    make("div", { class: "view-answer", "aria-live": "polite" }, ...told), read, strange];
}
