// A masked language model as utils.pretraining has it: x is T vectors, W a list of rows.
function encoder({ matrices, vectors, numbers, reals, heads }) {
  const bytes = (text) => Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  const whole = new Int8Array(bytes(numbers).buffer), real = new Float32Array(bytes(reals).buffer);
  const weights = {};
  let at = 0, next = 0; // whole numbers row by row; real ones: a scale for each row, then the vectors
  for (const [name, rows, columns] of matrices) {
    weights[name] = Array.from({ length: rows }, () => {
      const scale = real[next++];
      return Float32Array.from(whole.subarray(at, at += columns), (number) => scale * number);
    });
  }
  for (const [name, size] of vectors) weights[name] = real.subarray(next, next += size);

  const table = weights["encoder.embedding.symbols.weight"];
  const D = table[0].length, d_k = D / heads;
  const L = matrices.filter(([name]) => name.endsWith("W_in")).length;

  function product(W, x) {
    return W.map((row) => {
      let sum = 0;
      for (let i = 0; i < row.length; i++) sum += row[i] * x[i];
      return sum;
    });
  }

  const plus = (x, y) => x.map((value, i) => value + y[i]);
  const affine = (W, b, x) => plus(product(weights[W], x), weights[b]);
  const linear = (layer, x) => affine(`${layer}.weight`, `${layer}.bias`, x);

  function norm(layer, x) {
    const gain = weights[`${layer}.weight`], bias = weights[`${layer}.bias`];
    const mean = x.reduce((sum, value) => sum + value, 0) / D;
    const deviation = Math.sqrt(x.reduce((sum, value) => sum + (value - mean) ** 2, 0) / D + 1e-5);
    return x.map((value, i) => gain[i] * (value - mean) / deviation + bias[i]);
  }

  // The integral of the normal distribution: Abramowitz and Stegun (1964), 7.1.26, to 1e-7.
  function below(x) {
    const t = 1 / (1 + 0.3275911 * Math.abs(x) / Math.SQRT2);
    const series = t * (0.254829592 + t * (-0.284496736 + t * (1.421413741 + t * (-1.453152027 + t * 1.061405429))));
    const tail = series * Math.exp(-x * x / 2) / 2;
    return x < 0 ? tail : 1 - tail;
  }

  const gelu = (x) => x.map((value) => value * below(value));

  // Rotary positions: each pair turns by an angle that grows with the position.
  function turned(x, position) {
    return x.map((value, i) => {
      const angle = position * 10000 ** (-2 * Math.floor(i / 2) / d_k);
      return value * Math.cos(angle) + (i % 2 ? x[i - 1] : -x[i + 1]) * Math.sin(angle);
    });
  }

  function attention(layer, x) {
    const projected = x.map((one) => affine(`${layer}.W_in`, `${layer}.b_in`, one));
    const contexts = x.map(() => []);
    for (let head = 0; head < heads; head++) {
      const [q, k, v] = [0, 1, 2].map((part) => projected.map((one) => one.slice(part * D + head * d_k, part * D + (head + 1) * d_k)));
      const queries = q.map(turned), keys = k.map(turned);
      for (const [t, query] of queries.entries()) {
        const looks = softmax(product(keys, query).map((score) => score / Math.sqrt(d_k)));
        for (let i = 0; i < d_k; i++) contexts[t].push(looks.reduce((sum, look, s) => sum + look * v[s][i], 0));
      }
    }
    return contexts.map((context) => linear(`${layer}.W_o`, context));
  }

  const think = (layer, x) => linear(`${layer}.W_2`, gelu(linear(`${layer}.W_1`, x)));

  // The logits of all words at some places of a text.
  return (ids, places) => {
    let x = ids.map((id) => Array.from(table[id], (value) => value * Math.sqrt(D)));
    for (let i = 0; i < L; i++) {
      const block = `encoder.blocks.${i}`;
      const looked = attention(`${block}.self_attention`, x.map((one) => norm(`${block}.residuals.0.norm`, one)));
      x = x.map((one, t) => plus(one, looked[t]));
      x = x.map((one) => plus(one, think(`${block}.feed_forward`, norm(`${block}.residuals.1.norm`, one))));
    }
    return places.map((place) => {
      const h = norm("head.norm", gelu(linear("head.transform", norm("encoder.norm", x[place]))));
      return plus(product(table, h), weights["head.bias"]);
    });
  };
}
