// Two encoders into one space (`utils.vision.CLIP`): how well a picture fits sentences, and what its
// patches have to do with it.
function towers({ decode, part, product, row, plus, layerNorm, gelu, cache, remember, attend }, model) {
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

  // W x + b of many vectors: four at a time, which is faster than one by one.
  function products(W, xs, b) {
    const { rows, columns, numbers } = W, ys = xs.map(() => new Float32Array(rows)), spare = new Float32Array(rows);
    for (let t = 0; t < xs.length; t += 4) {
      const [p, q, r, s] = [0, 1, 2, 3].map((k) => xs[t + k] ?? xs[t]);
      const [y, z, u, v] = [0, 1, 2, 3].map((k) => ys[t + k] ?? spare);
      for (let i = 0, at = 0; i < rows; i++) {
        let one = b[i], two = one, three = one, four = one;
        for (let j = 0; j < columns; j++, at++) {
          const w = numbers[at];
          one += w * p[j];
          two += w * q[j];
          three += w * r[j];
          four += w * s[j];
        }
        y[i] = one;
        z[i] = two;
        u[i] = three;
        v[i] = four;
      }
    }
    return ys;
  }

  // Blocks in pre-norm over some vectors; then the mean of those at some places, in the common space.
  function read(x, { own, stack, blocks }, places) {
    const D = x[0].length;
    blocks.forEach((layer, i) => {
      const norm = (k, one) => layerNorm(one, layer[`residuals.${k}.norm.weight`], layer[`residuals.${k}.norm.bias`]);
      const dense = (name, all) => products(layer[`${name}.weight`], all, layer[`${name}.bias`]);
      const held = cache(x.length, D), roles = products(layer["self_attention.W_in"], x.map((one) => norm(0, one)), layer["self_attention.b_in"]);
      for (const all of roles) remember(held, all.subarray(D, 2 * D), all.subarray(2 * D));
      const left = i < blocks.length - 1 ? [...x.keys()] : places;
      const mixed = dense("self_attention.W_o", left.map((place) => attend(roles[place].subarray(0, D), held, heads).context));
      const after = left.map((place, k) => plus(x[place], mixed[k]));
      const thought = dense("feed_forward.W_2", dense("feed_forward.W_1", after.map((one) => norm(1, one))).map(gelu));
      x = after.map((one, k) => plus(one, thought[k]));
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

  // Cosines of a picture and sentences (lists of words); then, patch by patch, by how much that of one
  // sentence falls where it is hidden.
  return function* ({ picture, sentences, chosen, hidden: value }) {
    const all = sentences.map((sentence) => {
      const name = sentence.join(" ");
      if (!known.has(name)) known.set(name, said(sentence));
      return known.get(name);
    });
    const tokens = patches(picture).map(token), whole = seen(tokens);
    const cosines = all.map((one) => fits(one, whole));
    yield { cosines };
    const hidden = token(new Float32Array(3 * P * P).fill(value));
    for (const at of tokens.keys()) {
      yield { fall: cosines[chosen] - fits(all[chosen], seen(tokens.with(at, hidden))) };
    }
  };
}
