// A decoder-only model with shifted tokens (`utils.tasks.shakespeare`), which goes on with letters.
function letters({ decode, part, product, row, plus, layerNorm, silu, cache, remember, attend, written }, model) {
  const weights = decode(model), { heads, characters } = model;
  const table = weights["stack.embedding.symbols.weight"], positions = weights["stack.embedding.positions.table"];
  const T = positions.rows, D = table.columns, quarter = Math.floor(D / 4);
  const special = table.rows - characters.length; // symbols that are no letters come first, and are never written
  const blocks = [];
  while (`stack.blocks.${blocks.length}.self_attention.W_in` in weights) {
    const layer = part(weights, `stack.blocks.${blocks.length}.`);
    const shifted = [new Float32Array(T * D), new Float32Array(T * D)]; // what attention and feed-forward have read
    blocks.push({ layer, shifted, held: cache(T, D), looks: null });
  }
  const read = []; // the letters that the caches hold

  // A quarter from two positions before, a quarter from one before.
  function shift(before, x, at) {
    before.set(x, at * D);
    return x.map((value, i) => {
      const back = i < quarter ? 2 : i < 2 * quarter ? 1 : 0;
      return back > at ? 0 : before[(at - back) * D + i];
    });
  }

  // Reads one letter more; returns the logits of what follows.
  function step(letter) {
    const at = read.push(letter) - 1;
    let x = plus(row(table, special + letter), row(positions, at));
    for (const block of blocks) {
      const { layer, shifted, held } = block;
      const inward = product(layer["self_attention.W_in"],
        shift(shifted[0], layerNorm(x, layer["residuals.0.norm.weight"]), at));
      held.length = at;
      remember(held, inward.subarray(D, 2 * D), inward.subarray(2 * D));
      const { context, looks } = attend(inward.subarray(0, D), held, heads);
      block.looks = looks;
      x = plus(x, product(layer["self_attention.W_o.weight"], context));
      const y = shift(shifted[1], layerNorm(x, layer["residuals.1.norm.weight"]), at);
      const gate = silu(product(layer["feed_forward.1.W_gate.weight"], y));
      const open = product(layer["feed_forward.1.W_up.weight"], y).map((value, i) => gate[i] * value);
      x = plus(x, product(layer["feed_forward.1.W_down.weight"], open));
    }
    return product(table, layerNorm(x, weights["stack.norm.weight"])).subarray(special);
  }

  // Beyond the context a text is read from half a context on: positions have no more rows.
  const beginning = (n) => (n <= T ? 0 : Math.ceil((n - T) / (T / 2)) * (T / 2));

  // All letters so far: the logits of what follows, what all heads of all blocks look at, and where the
  // text is read from.
  function reads(all) {
    const from = beginning(all.length), window = all.slice(from);
    let same = 0;
    while (same < Math.min(read.length, window.length - 1) && read[same] === window[same]) same++;
    read.length = same;
    let logits;
    for (const next of window.slice(same)) logits = step(next);
    return { logits, looks: blocks.map(({ looks }) => looks), from };
  }

  return (input) => written(reads, characters, input);
}

function draw(data) {
  const chosen = { block: 0, head: 0 };

  return writes(data, letters, ({ again }) => ({
    label: "Shaded: the letters that one head attends to",

    shares({ looks }) {
      const look = looks[chosen.block][chosen.head], most = Math.max(...look);
      return [...look].map((share) => share / most);
    },

    told({ from, looks }, text) {
      const look = looks[chosen.block][chosen.head], at = look.indexOf(Math.max(...look));
      return `Block ${chosen.block + 1}, head ${chosen.head + 1} attends most to ${quote(spelt(text[from + at]))}, ` +
        `${percent(look[at])}, letter ${look.length - at} from the end.`;
    },

    controls({ heads, weights }) {
      const blocks = weights.filter(([name]) => name.endsWith("W_in")).length;
      return [["Block", "block", blocks], ["Head", "head", heads]].map(([name, key, count]) =>
        choice(name, numbered(count), 0, (index) => { chosen[key] = index; again(); }));
    },
  }));
}
