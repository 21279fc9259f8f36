// Day 7's writer (`utils.tasks.writer`), which goes on with a text in two lanes: without a cache it reads
// the whole text again for each character, with a cache only the characters that are new.
function racers({ decode, part, product, row, plus, layerNorm, relu, softmax, drawn, rotary, cache, remember, attend }, model) {
  const weights = decode(model), { heads, characters, most } = model;
  const table = weights["characters.weight"], D = table.columns;
  const special = table.rows - characters.length; // symbols that are no characters come first, and are never written
  const blocks = [];
  while (`blocks.${blocks.length}.W_in.weight` in weights) blocks.push(part(weights, `blocks.${blocks.length}.`));
  const norm = (x, layer, name) => layerNorm(x, layer[`${name}.weight`], layer[`${name}.bias`]);

  // The last `window` + 1 keys and values that are held; all of them, if the window is 0.
  function near({ keys, values, length }, window) {
    const from = window ? Math.max(0, length - 1 - window) : 0;
    return { keys: keys.subarray(from * D), values: values.subarray(from * D), length: length - from };
  }

  // Reads one character more; its keys and values are held from then on.
  function read(held, character, window) {
    const at = held[0].length;
    let x = row(table, special + character);
    for (const [i, layer] of blocks.entries()) {
      const inward = product(layer["W_in.weight"], norm(x, layer, "norms.0"));
      const [q, k, v] = [0, D, 2 * D].map((from) => inward.subarray(from, from + D));
      remember(held[i], rotary(k, at, heads), v);
      const { context } = attend(rotary(q, at, heads), near(held[i], window), heads);
      x = plus(x, product(layer["W_o.weight"], context));
      const inner = relu(product(layer["feed_forward.0.weight"], norm(x, layer, "norms.1"), layer["feed_forward.0.bias"]));
      x = plus(x, product(layer["feed_forward.2.weight"], inner, layer["feed_forward.2.bias"]));
    }
    return x;
  }

  const empty = () => blocks.map(() => cache(most, D));
  for (let i = 0, held = empty(); i < Math.min(most, 32); i++) read(held, 0, 0); // browsers compile what runs often

  // Goes on with a text, by as many characters as there are random numbers, in both lanes, which get the
  // same time. After each character: its lane, itself, how many were read for it, and milliseconds.
  return function* ({ text, random, temperature, window }) {
    const beginning = [...text].map((character) => characters.indexOf(character));
    const lane = (cached) => ({ cached, window: cached ? window : 0, text: [...beginning], held: empty(), ms: 0 });
    const lanes = [lane(false), lane(true)];
    for (;;) {
      const writing = lanes.filter((one) => one.text.length < beginning.length + random.length);
      if (!writing.length) return;
      const one = writing.reduce((first, other) => (other.ms < first.ms ? other : first));
      const begun = performance.now();
      if (!one.cached) for (const held of one.held) held.length = 0;
      const unread = one.text.slice(one.held[0].length);
      let x;
      for (const character of unread) x = read(one.held, character, one.window);
      const logits = product(weights["output.weight"], norm(x, weights, "norm"), weights["output.bias"]).subarray(special);
      const shares = softmax(logits.map((logit) => logit / temperature));
      const next = drawn(shares, [...shares.keys()], random[one.text.length - beginning.length]);
      one.text.push(next);
      const ms = performance.now() - begun;
      one.ms += ms;
      yield { lane: lanes.indexOf(one), character: characters[next], read: unread.length, ms };
    }
  };
}

function draw({ model, ways, beginning, longest, length, temperature, window }) {
  const RECENT = 20; // characters, of which the speed is shown
  const state = { begun: "", window: 0, running: false, drawing: false };
  let network = null;

  const typing = typedText(beginning, longest, reset);
  const button = make("button", { type: "button", disabled: "", onclick: () => (state.running ? rest() : write()) }, "Write");
  const lanes = ways.map((way) => ({ ...lane(way), written: [] }));
  const told = make("p"), size = make("p", { class: "view-label" });

  const sum = (pieces, what) => pieces.reduce((total, piece) => total + piece[what], 0);
  const short = (n) => (n < 10 ? n.toFixed(1) : count(Math.round(n)));

  function reset() {
    if (state.running) rest();
    state.begun = network ? typing.read() : beginning;
    for (const one of lanes) one.written = [];
    told.textContent = "";
    show();
  }

  function write() {
    reset();
    state.running = true;
    button.textContent = "Stop";
    const random = Array.from({ length }, () => Math.random()); // the same in both lanes
    network.run({ text: state.begun, random, temperature, window: state.window }, 0, take, rest);
  }

  function rest() {
    network.stop();
    state.running = false;
    button.textContent = "Write";
    show();
    say();
  }

  // Characters come faster than a screen is drawn.
  function take(piece) {
    lanes[piece.lane].written.push(piece);
    if (state.drawing) return;
    state.drawing = true;
    requestAnimationFrame(() => {
      state.drawing = false;
      show();
    });
  }

  function show() {
    for (const { start, rest, clock, written } of lanes) {
      const ms = sum(written.slice(-RECENT), "ms");
      start.textContent = state.begun;
      rest.textContent = written.map(({ character }) => character).join("");
      clock.textContent = `${ms ? `${short(1000 * Math.min(RECENT, written.length) / ms)} characters/s, ` : ""}` +
        `${count(sum(written, "read"))} read`;
    }
  }

  // What a screen reader says: not each character, but how the race went.
  function say() {
    const n = Math.min(...lanes.map(({ written }) => written.length));
    if (!n) return;
    const [slow, fast] = lanes.map(({ written }) => written.slice(0, n));
    const [a, b] = [sum(slow, "ms"), sum(fast, "ms")], other = slow.findIndex(({ character }, i) => character !== fast[i].character);
    const seconds = (ms) => `${(ms / 1000).toFixed(2)} s`;
    told.textContent = `The first ${count(n)} characters took ${seconds(a)} ${ways[0]} and ${seconds(b)} ${ways[1]}` +
      `${b ? `, which is ${short(a / b)} times as fast` : ""}. For them, the model read ${count(sum(slow, "read"))} characters ` +
      `${ways[0]}, most of them again and again, and ${count(sum(fast, "read"))} ${ways[1]}. ` +
      (other < 0 ? "Both texts are the same." : `From character ${count(other + 1)} on, the texts differ.`);
  }

  function wake(found) {
    typing.wake(found.characters);
    network = awake(racers, { ...found, most: longest + length });
    size.textContent = `${weighed(found)}, the same in both lanes.`;
    button.disabled = false;
    reset();
  }

  const seen = choice("The cache holds", ["all characters", `the last ${window + 1}`], 0, (chosen) => {
    state.window = chosen ? window : 0;
    if (network) reset();
  });
  show();
  const room = make("div", { class: "view-lanes view-short" }, ...lanes.map(({ box }) => box));
  load([model], room, told, wake);
  return [...typing.nodes, seen, make("div", { class: "view-moves" }, button), room,
    make("div", { class: "view-answer", "aria-live": "polite" }, told), size];
}
