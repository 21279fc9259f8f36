// Two readers of bits (`utils.tasks.long_word`): an RNN and a Transformer, each with two logits after each bit.
function bitReaders({ decode, part, product, row, plus, layerNorm, relu, sinusoidal, cache, block, rnn }, model) {
  const weights = decode(model), { heads } = model;
  const [recurrent, looking] = ["RNN.", "Transformer."].map((name) => part(weights, name));
  const [layer, encoder] = [part(recurrent, "layer."), part(looking, "encoder.")], blocks = [];
  while (`blocks.${blocks.length}.self_attention.W_in` in encoder) blocks.push(part(encoder, `blocks.${blocks.length}.`));
  const answer = (reader, x) => product(reader["output.weight"], x, reader["output.bias"]);

  function recurrently(bits) {
    let h = new Float32Array(layer.W_h.columns);
    return bits.map((bit) => answer(recurrent, h = rnn(layer, row(recurrent["embedding.weight"], bit), h)));
  }

  function attending(bits) {
    const table = encoder["embedding.symbols.weight"], D = table.columns;
    let x = bits.map((bit, t) => plus(row(table, bit).map((value) => value * Math.sqrt(D)), sinusoidal(t, D)));
    for (const layer of blocks) {
      const room = cache(x.length, D); // all keys and values, of which position t sees the first t + 1
      x = block(layer, x, x.map((_, t) => ({ ...room, length: t })), heads, [...x.keys()], relu);
    }
    return x.map((one) => answer(looking, layerNorm(one, encoder["norm.weight"], encoder["norm.bias"])));
  }

  return function* ({ bits }) {
    yield { logits: [recurrently(bits), attending(bits)] };
  };
}
