// A masked language model as utils.pretraining has it, kept in two bytes for each weight: it yields
// the likeliest words of each gap, with all bits or with few.
function filler({ decode, part, product, row, plus, layerNorm, softmax, gelu, rotary, cache, remember, attend }, model) {
  const MOST = 10, EXACT = 16; // words that are told of a gap; bits with which nothing is rounded
  const { heads, words } = model, MASK = words.indexOf("<mask>"), read = decode(model);
  const exact = Object.fromEntries(Object.entries(read).filter(([name]) => !name.endsWith(".rest")));
  for (const [name, weight] of Object.entries(exact)) {
    const rest = read[`${name}.rest`]?.numbers;
    if (rest) weight.numbers.forEach((value, i) => { weight.numbers[i] = value + rest[i]; });
  }

  // Whole numbers from -m to m, m = 2^(bits - 1) - 1, times a scale for each row.
  function rounded(W, bits) {
    const most = 2 ** (bits - 1) - 1, numbers = new Float32Array(W.numbers.length);
    for (let i = 0; i < W.rows; i++) {
      const own = row(W, i), scale = own.reduce((largest, value) => Math.max(largest, Math.abs(value)), 0) / most || 1;
      own.forEach((value, j) => { numbers[i * W.columns + j] = scale * Math.round(value / scale); });
    }
    return { ...W, numbers };
  }

  const made = { [EXACT]: exact };
  const withBits = (bits) => (made[bits] ??= Object.fromEntries(Object.entries(exact)
    .map(([name, weight]) => [name, weight.numbers ? rounded(weight, bits) : weight])));

  // What the blocks make of a text: a vector for each word.
  function vectors(weights, ids) {
    const table = weights["encoder.embedding.symbols.weight"], D = table.columns, root = Math.sqrt(D);
    let x = ids.map((id) => row(table, id).map((value) => root * value));
    for (let i = 0; `encoder.blocks.${i}.self_attention.W_in` in weights; i++) {
      const layer = part(weights, `encoder.blocks.${i}.`), held = cache(ids.length, D);
      const norm = (one, n) => layerNorm(one, layer[`residuals.${n}.norm.weight`], layer[`residuals.${n}.norm.bias`]);
      const linear = (name, one) => product(layer[`${name}.weight`], one, layer[`${name}.bias`]);
      const inward = x.map((one) => product(layer["self_attention.W_in"], norm(one, 0), layer["self_attention.b_in"]));
      inward.forEach((one, t) => remember(held, rotary(one.slice(D, 2 * D), t, heads), one.slice(2 * D)));
      x = x.map((one, t) => plus(one,
        linear("self_attention.W_o", attend(rotary(inward[t].slice(0, D), t, heads), held, heads).context)));
      x = x.map((one) => plus(one, linear("feed_forward.W_2", gelu(linear("feed_forward.W_1", norm(one, 1))))));
    }
    return x;
  }

  // How likely each word is at a position, once the head has read its vector.
  function shares(weights, x) {
    const y = layerNorm(x, weights["encoder.norm.weight"], weights["encoder.norm.bias"]);
    const h = gelu(product(weights["head.transform.weight"], y, weights["head.transform.bias"]));
    const table = weights["encoder.embedding.symbols.weight"];
    const logits = product(table, layerNorm(h, weights["head.norm.weight"], weights["head.norm.bias"]), weights["head.bias"]);
    return softmax(logits.subarray(MASK + 1));
  }

  return function* ({ ids, bits = EXACT }) {
    const begun = performance.now(), weights = withBits(bits), x = vectors(weights, ids);
    const gaps = ids.flatMap((id, t) => (id === MASK ? [shares(weights, x[t])] : []));
    const best = gaps.map((of) => [...of.keys()].sort((one, other) => of[other] - of[one]).slice(0, MOST)
      .map((place) => [words[MASK + 1 + place], of[place]]));
    yield { best, ms: performance.now() - begun };
  };
}

// What stands in a field: the words as the libraries' are read, their numbers, how many are gaps, and
// which are unknown. rows: {word: number}.
const STAND_IN = "gaptobefilled"; // a word like any other to what masks names
const GAP = new RegExp(`(?<!${LETTER})_+(?!${LETTER})`, "gu");
function parsed(text, names, rows) {
  const found = masked(text.replace(GAP, ` ${STAND_IN} `), names);
  const ids = found.map((word) => rows.get(word === STAND_IN ? "<mask>" : word) ?? rows.get("<unk>"));
  const gaps = ids.filter((id) => id === rows.get("<mask>")).length;
  return { found, ids, gaps, unknown: [...new Set(found.filter((_, place) => ids[place] === rows.get("<unk>")))] };
}

// The bytes of a stored model with so many bits for each number of a matrix.
function sizeOf({ weights }, bits) {
  const kept = weights.filter(([name]) => !name.endsWith(".rest"));
  const sum = (sizes) => sizes.reduce((one, other) => one + other, 0);
  const small = sum(kept.map(([, rows, columns = 0]) => rows * columns));
  const rows = sum(kept.map(([, rows]) => rows)), large = sum(kept.map(([, rows, columns]) => (columns ? 0 : rows)));
  return { numbers: small + large, bytes: bits < 32 ? small * bits / 8 + 4 * rows : 4 * (small + large) };
}

// A field for a sentence, and a button that leaves a gap where the cursor is, or in place of what is selected.
function gapped(sentence, longest, show) {
  const field = make("input", { type: "text", value: sentence, maxlength: longest, autocomplete: "off",
    spellcheck: "false", oninput: show });
  const hole = make("button", { type: "button", class: "view-hole", onclick: () => {
    field.setRangeText("___", field.selectionStart, field.selectionEnd, "end");
    field.focus();
    show();
  } }, "Leave a gap");
  return { field, hole };
}
