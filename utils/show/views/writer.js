// A decoder-only model with shifted tokens (`utils.tasks.shakespeare`), which goes on with letters.
function letters({ decode, part, product, row, plus, layerNorm, softmax, drawn, silu, cache, remember, attend }, model) {
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

  // Goes on with a text by so many letters. After each: the letter (none at first), what may be next,
  // what all heads of all blocks look at, where the text is read from, and milliseconds.
  return function* ({ text, length, temperature, p }) {
    const all = [...text].map((letter) => characters.indexOf(letter));
    for (let letter; ; length--) {
      const begun = performance.now(), from = beginning(all.length), window = all.slice(from);
      let same = 0;
      while (same < Math.min(read.length, window.length - 1) && read[same] === window[same]) same++;
      read.length = same;
      let logits;
      for (const next of window.slice(same)) logits = step(next);
      const found = left(logits, temperature, p);
      const next = found.order.map((other) => [characters[other], found.shares[other], found.kept.includes(other)]);
      yield { letter, next, looks: blocks.map(({ looks }) => looks), from, ms: performance.now() - begun };
      if (!length) return;
      all.push(drawn(found.shares, found.kept, Math.random()));
      letter = characters[all.at(-1)];
    }
  };
}

function draw({ model, beginning, longest }) {
  const SHOWN = 8, PACE = 25, WAIT = 400, ROOM = 5000; // letters, milliseconds twice, letters of a text
  const state = { begun: "", text: "", temperature: 0.8, p: 0.95, block: 0, head: 0, left: 0, piece: null };
  let network = null, timer, speed = 0;

  const spelt = (letter) => ({ " ": "␣", "\n": "↵" })[letter] ?? letter;
  const percent = (share) => (share >= 0.0995 || share === 0 ? `${Math.round(100 * share)}%`
    : share >= 0.0005 ? `${(100 * share).toFixed(1)}%` : "< 0.1%");
  const typing = typedText(beginning, longest, typed);
  const button = make("button", { type: "button", disabled: "", onclick: () => (state.left ? rest() : write(ROOM)) }, "Write");
  const again = make("button", { type: "button", disabled: "", onclick: () => begin(0) }, "Back to the beginning");
  const text = make("p", { class: "view-written", tabindex: "0", role: "group", "aria-label": "The text" });
  const bars = make("ul", { class: "view-bars view-letters" });
  const told = make("p"), size = make("p", { class: "view-label" });

  function typed() {
    if (state.left) rest();
    clearTimeout(timer);
    timer = setTimeout(() => begin(longest), WAIT);
  }

  function begin(length) {
    state.begun = state.text = typing.read();
    write(length);
  }

  function write(length) {
    state.left = Math.min(length, Math.max(0, ROOM - state.text.length));
    button.textContent = state.left ? "Stop" : "Write";
    const { text, temperature, p } = state;
    network.run({ text, length: state.left, temperature, p }, PACE, take, rest);
  }

  // With other settings it goes on where it is.
  const change = () => network && write(state.left);

  function rest() {
    network.stop();
    state.left = 0;
    button.textContent = "Write";
    say();
  }

  function take(piece) {
    if (piece.letter !== undefined) {
      state.text += piece.letter;
      state.left--;
      speed = 0.9 * (speed || piece.ms) + 0.1 * piece.ms;
    }
    state.piece = piece;
    show();
  }

  function show() {
    if (!state.piece) return;
    const { from, looks, next } = state.piece, look = looks[state.block][state.head], most = Math.max(...look);
    const letters = [...look].map((share, i) => {
      const place = from + i, one = make(place < state.begun.length ? "strong" : "span", {}, state.text[place]);
      one.style.setProperty("--look", `${Math.round(100 * share / most)}%`);
      return one;
    });
    text.replaceChildren(make("span", { class: "view-forgotten" }, state.text.slice(0, from)), ...letters);
    bars.replaceChildren(...next.slice(0, SHOWN).map(([letter, share, kept]) => {
      const item = bar(spelt(letter), kept ? percent(share) : `${percent(share)}, cut`, share);
      item.toggleAttribute("data-cut", !kept);
      return item;
    }));
  }

  // What a screen reader says: not each letter, but where the model rests.
  function say() {
    if (!state.piece) return;
    const { from, looks, next } = state.piece, look = looks[state.block][state.head];
    const best = next.slice(0, 3).map(([letter, share]) => `“${spelt(letter)}” ${percent(share)}`);
    const written = state.text.length - state.begun.length, at = look.indexOf(Math.max(...look));
    told.textContent = `${written ? `It has written ${written} letters. ` : ""}Most likely next: ${best.join(", ")}. ` +
      `Block ${state.block + 1}, head ${state.head + 1} attends most to “${spelt(state.text[from + at])}”, ` +
      `${percent(look[at])}, letter ${look.length - at} from the end.`;
    size.textContent = size.dataset.weights + (speed ? ` Here it takes ${speed.toFixed(1)} ms for a letter, ` +
      `and could write ${Math.round(1000 / speed).toLocaleString("en")} in a second; it waits, so that you can read along.` : "");
  }

  function attend(chosen) {
    Object.assign(state, chosen);
    show();
    if (!state.left) say();
  }

  function slider(name, min, max, step) {
    const key = { temperature: "temperature", "top-p": "p" }[name], output = make("output", {}, state[key].toFixed(2));
    const range = make("input", { type: "range", min, max, step, value: state[key], oninput: () => {
      state[key] = Number(range.value);
      output.textContent = state[key].toFixed(2);
      change();
    } });
    return make("label", { class: "view-field view-slider" }, name, range, output);
  }

  function wake(found) {
    typing.wake(found.characters);
    network = awake(letters, found);
    const n = found.weights.reduce((sum, [, rows, columns = 1]) => sum + rows * columns, 0);
    size.dataset.weights = `${n.toLocaleString("en")} weights, most of one byte, run in this page.`;
    for (const part of [button, again]) part.disabled = false;
    const numbers = (count) => Array.from({ length: count }, (_, i) => `${i + 1}`);
    const blocks = found.weights.filter(([name]) => name.endsWith("W_in")).length;
    choices.replaceChildren(
      choice("Block", numbers(blocks), 0, (block) => attend({ block })),
      choice("Head", numbers(found.heads), 0, (head) => attend({ head })));
    begin(0);
  }

  const choices = make("div", { class: "view-choices" });
  told.textContent = "The model is being loaded.";
  near(text).then(() => stored(model)).then(wake).catch((problem) => { told.textContent = `${problem}`; });
  return [...typing.nodes,
    slider("temperature", 0, 1.5, 0.05), slider("top-p", 0.05, 1, 0.05),
    make("div", { class: "view-moves-back" }, button, again), text,
    make("div", { class: "view-halves" },
      make("div", {}, make("p", { class: "view-label" }, "What may come next"), bars),
      make("div", {}, make("p", { class: "view-label" }, "Shaded: the letters that one head attends to"), choices)),
    make("div", { class: "view-answer", "aria-live": "polite" }, told), size];
}
