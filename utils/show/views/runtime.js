// What a model that lives in a page computes with; `live.js` takes it into a worker. A vector is a
// Float32Array, a matrix {rows, columns, numbers}, row by row. Sequences are read one step at a time.
function runtime() {
  // The weights of a stored model by their names: a matrix is scale · whole, widened once.
  function decode({ weights, bytes }) {
    const letters = atob(bytes), raw = new Uint8Array(letters.length);
    for (let i = 0; i < raw.length; i++) raw[i] = letters.charCodeAt(i);
    const n = weights.reduce((sum, [, rows]) => sum + rows, 0);
    const reals = new Float32Array(raw.buffer, 0, n), whole = new Int8Array(raw.buffer, 4 * n);
    const found = {};
    let real = 0, at = 0;
    for (const [name, rows, columns] of weights) {
      const own = reals.subarray(real, real += rows); // a vector, or the scales of a matrix's rows
      const numbers = new Float32Array(rows * (columns ?? 0));
      for (let i = 0, k = 0; i < rows; i++) {
        for (let j = 0; j < columns; j++) numbers[k++] = own[i] * whole[at++];
      }
      found[name] = columns === undefined ? own : { rows, columns, numbers };
    }
    return found;
  }

  // The weights of one layer: those whose names begin so, by the rest of their names.
  const part = (weights, prefix) => Object.fromEntries(Object.entries(weights)
    .filter(([name]) => name.startsWith(prefix)).map(([name, weight]) => [name.slice(prefix.length), weight]));

  // Products and sums --------------------------------------------------------------------------

  // W x + b, (rows,).
  function product({ rows, columns, numbers }, x, b) {
    const y = new Float32Array(rows);
    for (let i = 0, at = 0; i < rows; i++) {
      let sum = b ? b[i] : 0;
      for (let j = 0; j < columns; j++) sum += numbers[at++] * x[j];
      y[i] = sum;
    }
    return y;
  }

  // W x + b of many vectors: four at a time, which is faster than one by one.
  function products(W, xs, b) {
    const { rows, columns, numbers } = W, ys = xs.map(() => new Float32Array(rows)), spare = new Float32Array(rows);
    for (let t = 0; t < xs.length; t += 4) {
      const [p, q, r, s] = [0, 1, 2, 3].map((k) => xs[t + k] ?? xs[t]);
      const [y, z, u, v] = [0, 1, 2, 3].map((k) => ys[t + k] ?? spare);
      for (let i = 0, at = 0; i < rows; i++) {
        let one = b ? b[i] : 0, two = one, three = one, four = one;
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

  const row = ({ columns, numbers }, i) => numbers.subarray(i * columns, (i + 1) * columns);
  const plus = (x, y) => x.map((value, i) => value + y[i]);

  // Norms and activations ----------------------------------------------------------------------

  const mean = (x) => x.reduce((sum, value) => sum + value, 0) / x.length;

  function layerNorm(x, gain, bias) {
    const middle = mean(x);
    const deviation = Math.sqrt(x.reduce((sum, value) => sum + (value - middle) ** 2, 0) / x.length + 1e-5);
    return x.map((value, i) => gain[i] * (value - middle) / deviation + (bias ? bias[i] : 0));
  }

  function softmax(scores) {
    const most = scores.reduce((one, other) => Math.max(one, other), -Infinity);
    const parts = scores.map((score) => Math.exp(score - most));
    const sum = parts.reduce((one, other) => one + other, 0);
    return parts.map((share) => share / sum);
  }

  // One of some indices, in proportion to their shares; random: a number from 0 to 1.
  function drawn(shares, among, random) {
    let at = random * among.reduce((sum, i) => sum + shares[i], 0);
    return among.find((i) => (at -= shares[i]) < 0) ?? among[0];
  }

  const sigmoid = (value) => 1 / (1 + Math.exp(-value));
  const relu = (x) => x.map((value) => Math.max(value, 0));
  const silu = (x) => x.map((value) => value * sigmoid(value));

  // The integral of the normal distribution: Abramowitz and Stegun (1964), 7.1.26, to 1e-7.
  function below(x) {
    const t = 1 / (1 + 0.3275911 * Math.abs(x) / Math.SQRT2);
    const series = t * (0.254829592 + t * (-0.284496736 + t * (1.421413741 + t * (-1.453152027 + t * 1.061405429))));
    const tail = series * Math.exp(-x * x / 2) / 2;
    return x < 0 ? tail : 1 - tail;
  }

  const gelu = (x) => x.map((value) => value * below(value));

  // Positions: learned ones are rows of a table ------------------------------------------------

  const angle = (position, i, width) => position * 10000 ** (-2 * Math.floor(i / 2) / width);

  // Added to the sequence: sine and cosine in turn.
  const sinusoidal = (position, D) => Float32Array.from({ length: D }, (_, i) =>
    (i % 2 ? Math.cos : Math.sin)(angle(position, i, D)));

  // Queries and keys, in which each pair of neighbours turns, head by head.
  function rotary(x, position, heads) {
    const d = x.length / heads;
    return x.map((value, i) => {
      const turn = angle(position, i % d, d);
      return value * Math.cos(turn) + (i % 2 ? x[i - 1] : -x[i + 1]) * Math.sin(turn);
    });
  }

  // Attention ------------------------------------------------------------------------------------

  // Room for keys and values, (most, D) each; of a source that is looked at, or of what was read.
  const cache = (most, D) => ({ keys: new Float32Array(most * D), values: new Float32Array(most * D), length: 0 });

  function remember(held, key, value) {
    held.keys.set(key, held.length * key.length);
    held.values.set(value, held.length * key.length);
    held.length++;
  }

  // One query (D,), in heads, to a context (D,) and to each head's weights (length,).
  function attend(query, { keys, values, length }, heads) {
    const D = query.length, d = D / heads, context = new Float32Array(D), looks = [];
    for (let head = 0; head < heads; head++) {
      const scores = new Float32Array(length), from = head * d;
      for (let s = 0; s < length; s++) {
        let sum = 0;
        for (let i = from; i < from + d; i++) sum += query[i] * keys[s * D + i];
        scores[s] = sum / Math.sqrt(d);
      }
      const weights = softmax(scores);
      for (let s = 0; s < length; s++) {
        for (let i = from; i < from + d; i++) context[i] += weights[s] * values[s * D + i];
      }
      looks.push(weights);
    }
    return { context, looks };
  }

  // Vectors through a block of `utils.transformer` in pre-norm. Each is remembered in its own of `held`,
  // which may be one for all; then those at some places attend to what is held, and go on.
  function block(layer, x, held, heads, places, activation = gelu) {
    const D = x[0].length;
    const norm = (k, one) => layerNorm(one, layer[`residuals.${k}.norm.weight`], layer[`residuals.${k}.norm.bias`]);
    const dense = (name, all) => products(layer[`${name}.weight`], all, layer[`${name}.bias`]);
    const roles = products(layer["self_attention.W_in"], x.map((one) => norm(0, one)), layer["self_attention.b_in"]);
    roles.forEach((all, k) => remember(held[k], all.subarray(D, 2 * D), all.subarray(2 * D)));
    const mixed = dense("self_attention.W_o", places.map((k) => attend(roles[k].subarray(0, D), held[k], heads).context));
    const after = places.map((k, i) => plus(x[k], mixed[i]));
    const thought = dense("feed_forward.W_2", dense("feed_forward.W_1", after.map((one) => norm(1, one))).map(activation));
    return after.map((one, i) => plus(one, thought[i]));
  }

  // Recurrent steps: the rows of W_x, W_h and b in PyTorch's order of gates --------------------------

  const rnn = ({ W_x, W_h, b }, x, h) => plus(product(W_x, x, b), product(W_h, h)).map(Math.tanh);

  function lstm({ W_x, W_h, b }, x, { h, c }) {
    const N = h.length, sums = plus(product(W_x, x, b), product(W_h, h));
    const next = c.map((before, j) =>
      sigmoid(sums[N + j]) * before + sigmoid(sums[j]) * Math.tanh(sums[2 * N + j]));
    return { h: next.map((value, j) => sigmoid(sums[3 * N + j]) * Math.tanh(value)), c: next };
  }

  // The gate r resets after the product, as in PyTorch.
  function gru({ W_x, W_h, b, b_n }, x, h) {
    const N = h.length, read = product(W_x, x, b), kept = product(W_h, h);
    return h.map((before, j) => {
      const r = sigmoid(read[j] + kept[j]), z = sigmoid(read[N + j] + kept[N + j]);
      const n = Math.tanh(read[2 * N + j] + r * (kept[2 * N + j] + b_n[j]));
      return n + z * (before - n);
    });
  }

  // Pictures: {channels, height, width, numbers} -------------------------------------------------

  function pixel({ channels, height, width }, value) {
    const numbers = new Float32Array(channels * height * width);
    for (let c = 0, at = 0; c < channels; c++) {
      for (let i = 0; i < height; i++) for (let j = 0; j < width; j++) numbers[at++] = value(c, i, j);
    }
    return { channels, height, width, numbers };
  }

  // W has a row of channels · K · K for each new channel; around the picture is 0.
  function convolution(W, b, x, K, padding) {
    const height = x.height + 2 * padding - K + 1, width = x.width + 2 * padding - K + 1, patches = [];
    for (let i = -padding; i < height - padding; i++) {
      for (let j = -padding; j < width - padding; j++) {
        const patch = new Float32Array(W.columns);
        for (let c = 0, at = 0; c < x.channels; c++) {
          for (let row = i; row < i + K; row++) {
            for (let column = j; column < j + K; column++, at++) {
              const inside = row >= 0 && row < x.height && column >= 0 && column < x.width;
              if (inside) patch[at] = x.numbers[(c * x.height + row) * x.width + column];
            }
          }
        }
        patches.push(patch);
      }
    }
    const sums = products(W, patches, b);
    return pixel({ channels: W.rows, height, width }, (c, i, j) => sums[i * width + j][c]);
  }

  // Each pixel becomes four.
  const doubled = (x) => pixel({ ...x, height: 2 * x.height, width: 2 * x.width }, (c, i, j) =>
    x.numbers[(c * x.height + (i >> 1)) * x.width + (j >> 1)]);

  function maxPool(x, size) {
    const smaller = { channels: x.channels, height: Math.floor(x.height / size), width: Math.floor(x.width / size) };
    return pixel(smaller, (c, i, j) => {
      let most = -Infinity;
      for (let row = i * size; row < (i + 1) * size; row++) {
        for (let column = j * size; column < (j + 1) * size; column++) {
          most = Math.max(most, x.numbers[(c * x.height + row) * x.width + column]);
        }
      }
      return most;
    });
  }

  // Writing: one letter after the other ----------------------------------------------------------

  // The letters that are left, most likely first: temperature, then top-p, as `utils.training.sampling`.
  function left(logits, temperature, p) {
    const shares = softmax(logits.map((logit) => logit / Math.max(temperature, 1e-3)));
    const order = [...shares.keys()].sort((a, b) => shares[b] - shares[a] || a - b);
    let mass = 0;
    const kept = order.filter((letter) => {
      mass += shares[letter];
      return mass - shares[letter] < p - Math.min(1e-6, (1 - p) / 2) || p === 1;
    });
    return { shares, order, kept: kept.slice(0, temperature ? kept.length : 1) };
  }

  // Goes on with a text by so many letters. `reads` gives, for all letters so far, the logits of what
  // follows, and what else is to be shown. Each piece has this, the letter that was written (none at
  // first), what may be next, and milliseconds.
  function* written(reads, characters, { text, length, temperature, p, ...settings }) {
    const all = [...text].map((letter) => characters.indexOf(letter));
    for (let letter; ; length--) {
      const begun = performance.now(), { logits, ...seen } = reads(all, settings);
      const found = left(logits, temperature, p);
      const next = found.order.map((other) => [characters[other], found.shares[other], found.kept.includes(other)]);
      yield { ...seen, letter, next, ms: performance.now() - begun };
      if (!length) return;
      all.push(drawn(found.shares, found.kept, Math.random()));
      letter = characters[all.at(-1)];
    }
  }

  return { decode, part, product, products, row, plus, layerNorm, softmax, left, drawn, sigmoid, relu, silu, gelu,
    sinusoidal, rotary, cache, remember, attend, block, rnn, lstm, gru, pixel, convolution, doubled, maxPool, written };
}
