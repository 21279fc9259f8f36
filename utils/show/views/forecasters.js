// Forecasters of a series (`utils.tasks.drawn_series`): two that repeat, a linear one, an LSTM and a Transformer.
function forecasters({ decode, part, product, row, plus, layerNorm, relu, cache, block, lstm }, model) {
  const weights = decode(model), { heads, season, alpha } = model, Q = 3; // low, median, high
  const [linear, recurrent, looking] = ["linear.", "LSTM.", "Transformer."].map((name) => part(weights, name));
  const { rows, columns: S } = linear["linear.weight"], T = rows / Q, ahead = [...Array(T).keys()];
  const [gates, encoder] = [part(recurrent, "lstm."), part(looking, "encoder.")], blocks = [];
  while (`blocks.${blocks.length}.self_attention.W_in` in encoder) blocks.push(part(encoder, `blocks.${blocks.length}.`));

  // As a season before; the interval is conformal, by how far that was off in the past.
  const asBefore = (past, season) => ahead.map((t) => {
    const lag = season * Math.ceil((t + 1) / season), middle = past[S + t - lag];
    const off = past.slice(lag).map((value, i) => Math.abs(value - past[i])).sort((a, b) => a - b);
    const width = off[Math.ceil((off.length + 1) * (1 - alpha) - 1e-9) - 1];
    return [middle - width, middle, middle + width];
  });

  // The mean and the deviation of the past alone, as `PastScaler` has them.
  function scaler(past) {
    const mean = past.reduce((sum, value) => sum + value, 0) / S;
    const deviation = Math.sqrt(past.reduce((sum, value) => sum + (value - mean) ** 2, 0) / S);
    const flat = deviation <= 1e-8 * Math.max(...past.map(Math.abs));
    return [mean, flat ? 1 : deviation];
  }

  // The steps that a network reads: a value, and whether it is hidden.
  const steps = (past) => [...past.map((value) => [value, 0]), ...ahead.map(() => [0, 1])];

  function linearly(past) {
    const all = product(linear["linear.weight"], past, linear["linear.bias"]);
    return ahead.map((t) => all.subarray(Q * t, Q * (t + 1)));
  }

  function recurrently(past) {
    const W_h = gates.weight_hh_l0, layer = { W_x: gates.weight_ih_l0, W_h, b: plus(gates.bias_ih_l0, gates.bias_hh_l0) };
    let state = { h: new Float32Array(W_h.columns), c: new Float32Array(W_h.columns) };
    const states = steps(past).map((x) => (state = lstm(layer, x, state)).h);
    return states.slice(S).map((h) => product(recurrent["output.weight"], h, recurrent["output.bias"]));
  }

  function attending(past) {
    const table = encoder["embedding.positions.table"], symbols = part(encoder, "embedding.symbols.");
    let x = steps(past).map((step, at) => plus(product(symbols.weight, step, symbols.bias), row(table, at)));
    blocks.forEach((layer, i) => {
      const held = cache(x.length, table.columns), left = i < blocks.length - 1 ? [...x.keys()] : ahead.map((t) => S + t);
      x = block(layer, x, x.map(() => held), heads, left, relu);
    });
    return x.map((one) => product(looking["output.weight"], layerNorm(one, encoder["norm.weight"], encoder["norm.bias"]), looking["output.bias"]));
  }

  // What each goes on with, (T, Q); quantiles that cross are sorted.
  return function* ({ past }) {
    const [mean, deviation] = scaler(past), scaled = past.map((value) => (value - mean) / deviation);
    const learned = [linearly, recurrently, attending].map((forecast) => forecast(scaled).map((quantiles) =>
      Array.from(quantiles, (value) => value * deviation + mean).sort((a, b) => a - b)));
    yield { forecasts: [asBefore(past, 1), asBefore(past, season), ...learned] };
  };
}
