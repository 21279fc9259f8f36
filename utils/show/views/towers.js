// Two encoders into one space (`utils.vision.CLIP`): how well a picture fits sentences, and what its
// patches have to do with it.
function towers({ decode, part, product, row, plus, layerNorm, cache, block }, model) {
  const weights = decode(model), { heads, patch_size: P, words } = model, ids = new Map(words.map((word, id) => [word, id]));
  const symbols = "embedding.symbols.", positions = "embedding.positions.table";
  const [vision, text] = ["image", "text"].map(encoder), known = new Map(); // sentences that have been encoded
  const n = Math.sqrt(vision.stack[positions].rows - 1), side = n * P;

  function encoder(name) {
    const own = part(weights, `${name}_encoder.`), stack = part(own, "encoder."), blocks = [];
    while (`blocks.${blocks.length}.self_attention.W_in` in stack) blocks.push(part(stack, `blocks.${blocks.length}.`));
    return { own, stack, blocks };
  }

  const unit = (x) => {
    const length = Math.hypot(...x);
    return x.map((value) => value / length);
  };

  // Blocks over some vectors; then the mean of those at some places, in the common space.
  function read(x, { own, stack, blocks }, places) {
    blocks.forEach((layer, i) => {
      const held = cache(x.length, x[0].length), left = i < blocks.length - 1 ? [...x.keys()] : places;
      x = block(layer, x, x.map(() => held), heads, left);
    });
    const normed = x.map((one) => layerNorm(one, stack["norm.weight"], stack["norm.bias"]));
    const mean = normed.reduce(plus).map((sum) => sum / normed.length);
    return unit(product(own["output.weight"], mean, own["output.bias"]));
  }

  // The patches of a picture (3 · side · side), row by row, each (3 · P · P).
  function patches(picture) {
    return Array.from({ length: n * n }, (_, at) => Float32Array.from({ length: 3 * P * P }, (_, i) => {
      const c = Math.floor(i / (P * P)), y = Math.floor(at / n) * P + Math.floor(i / P) % P;
      return picture[(c * side + y) * side + (at % n) * P + i % P];
    }));
  }

  const token = (patch) => product(vision.stack[`${symbols}linear.weight`], patch, vision.stack[`${symbols}linear.bias`]);
  const placed = (x, { stack }) => x.map((one, at) => plus(one, row(stack[positions], at)));
  const seen = (tokens) => read(placed([vision.stack[`${symbols}class_token`], ...tokens], vision), vision, [0]);

  function said(sentence) {
    const table = text.stack[`${symbols}weight`], large = (value) => Math.sqrt(table.columns) * value;
    const x = sentence.map((word) => row(table, ids.get(word)).map(large));
    return read(placed(x, text), text, [...x.keys()]);
  }

  const fits = (one, other) => one.reduce((sum, value, i) => sum + value * other[i], 0);

  // Cosines of a picture and sentences (lists of words); then, if one sentence is chosen, patch by patch, by
  // how much its cosine falls where the patch is hidden.
  return function* ({ picture, sentences, chosen, hidden: value }) {
    const all = sentences.map((sentence) => {
      const name = sentence.join(" ");
      if (!known.has(name)) known.set(name, said(sentence));
      return known.get(name);
    });
    const tokens = patches(picture).map(token), whole = seen(tokens);
    const cosines = all.map((one) => fits(one, whole));
    yield { cosines };
    if (chosen === undefined) return;
    const hidden = token(new Float32Array(3 * P * P).fill(value));
    for (const at of tokens.keys()) {
      yield { fall: cosines[chosen] - fits(all[chosen], seen(tokens.with(at, hidden))) };
    }
  };
}
