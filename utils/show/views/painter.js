// A writer that goes on with a sentence in codes (`utils.tasks.drawing.writer`), several pictures in step,
// and the decoder that draws the codes (`utils.drawing.VQAutoencoder`).
function painter(runtime, { writer, codes }) {
  const { decode, part, products, row, plus, layerNorm, left, drawn, sigmoid, relu, cache, block, pixel, convolution, doubled } = runtime;
  const weights = decode(writer), drawing = decode(codes), { heads, words, longest } = writer;
  const ids = new Map(words.map((word, id) => [word, id])), PAD = 0;
  const table = weights["stack.embedding.symbols.weight"], positions = weights["stack.embedding.positions.table"];
  const T = positions.rows, D = table.columns, codebook = drawing["codebook.table"], K = codebook.rows;
  const places = T - longest - 2, side = Math.sqrt(places), mark = words.length + K;
  const output = { rows: K, columns: D, numbers: weights["output.weight"].numbers.subarray(words.length * D, mark * D) };
  const blocks = [];
  while (`stack.blocks.${blocks.length}.self_attention.W_in` in weights) blocks.push(part(weights, `stack.blocks.${blocks.length}.`));

  // The codes' logits after one symbol more of each sequence; held: a cache for each block, of each sequence.
  function read(symbols, held, at) {
    const every = [...symbols.keys()];
    let x = symbols.map((id) => plus(row(table, id).map((value) => Math.sqrt(D) * value), row(positions, at)));
    blocks.forEach((layer, i) => { x = block(layer, x, held.map((one) => one[i]), heads, every); });
    return products(output, x.map((one) => layerNorm(one, weights["stack.norm.weight"], weights["stack.norm.bias"])));
  }

  const layer = (name, x) => convolution(drawing[`decoder.${name}.weight`], drawing[`decoder.${name}.bias`], x, 3, 1);
  const bent = (x) => ({ ...x, numbers: relu(x.numbers) });

  // The picture of some codes, row by row; where there is no code yet, the decoder reads 0.
  function picture(all) {
    let x = pixel({ channels: codebook.columns, height: side, width: side }, (c, i, j) =>
      (all[i * side + j] === undefined ? 0 : row(codebook, all[i * side + j])[c]));
    x = bent(layer("0.0", x));
    const around = layer("1.f.2", bent(layer("1.f.0", x)));
    x = bent({ ...x, numbers: plus(x.numbers, around.numbers) });
    return layer("5", doubled(bent(layer("3.0", doubled(x))))).numbers.map(sigmoid);
  }

  // Draws as many pictures as there are rows of random numbers, one for each code. After each code: the codes
  // of all, their probabilities, and the first picture; after each row of codes all pictures.
  return function* ({ sentence, random, temperature }) {
    const beginning = blocks.map(() => cache(T, D));
    for (let at = 0; at < longest; at++) read([at < sentence.length ? ids.get(sentence[at]) : PAD], [beginning], at);
    const held = random.map(() => beginning.map(({ keys, values, length }) => ({ keys: keys.slice(), values: values.slice(), length })));
    const all = random.map(() => []);
    let symbols = all.map(() => mark);
    for (let place = 0; place < places; place++) {
      const chances = read(symbols, held, longest + place).map((logits, k) => {
        const { shares, kept } = left(logits, temperature, 1), code = drawn(shares, kept, random[k][place]);
        all[k].push(code);
        return shares[code];
      });
      const latest = all.map((one) => one[place]);
      symbols = latest.map((code) => words.length + code);
      yield { codes: latest, chances, pictures: ((place + 1) % side ? all.slice(0, 1) : all).map(picture) };
    }
  };
}
