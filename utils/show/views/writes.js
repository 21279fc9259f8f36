const spelt = (letter) => ({ " ": "␣", "\n": "↵" })[letter] ?? letter;

// A text that a model goes on with as one types: the worker runs `writer`. makeOwn gets again, which shows
// a piece anew, and change, which writes on with other settings. It gives what a view adds: its settings
// for the worker; controls(model); shares(piece), how deep each letter is shaded, from letter `from` on,
// and the label of this; and told(piece, text, begun), a sentence.
function writes({ model, beginning, longest }, writer, makeOwn) {
  const SHOWN = 8, PACE = 25, WAIT = 400, ROOM = 5000; // letters, milliseconds twice, letters of a text
  const state = { begun: "", text: "", temperature: 0.8, p: 0.95, left: 0, piece: null };
  let network = null, timer, speed = 0;

  // With other settings it goes on where it is.
  const change = () => network && write(state.left);
  const own = makeOwn({ again, change });

  const typing = typedText(beginning, longest, typed);
  const button = make("button", { type: "button", disabled: "", onclick: () => (state.left ? rest() : write(ROOM)) }, "Write");
  const back = make("button", { type: "button", disabled: "", onclick: () => begin(0) }, "Back to the beginning");
  const text = make("p", { class: "view-written", tabindex: "0", role: "group", "aria-label": "The text" });
  const bars = make("ul", { class: "view-bars view-next-letters" });
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
    if (state.left) told.textContent = "It is writing.";
    const { text, temperature, p } = state;
    network.run({ ...own.settings, text, length: state.left, temperature, p }, PACE, take, rest);
  }

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
    const { from = 0, next } = state.piece;
    const letters = [...own.shares(state.piece)].map((share, i) => {
      const place = from + i, one = make(place < state.begun.length ? "strong" : "span", {}, state.text[place]);
      one.style.setProperty("--look", wholePercent(share));
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
    const best = state.piece.next.slice(0, 3).map(([letter, share]) => `${quote(spelt(letter))} ${percent(share)}`);
    const written = state.text.length - state.begun.length;
    told.textContent = `${written ? `It has written ${written} letters. ` : ""}Most likely next: ${best.join(", ")}. ` +
      own.told(state.piece, state.text, state.begun);
    size.textContent = size.dataset.weights + (speed ? ` Here it takes ${speed.toFixed(1)} ms for a letter, ` +
      `and could write ${count(Math.round(1000 / speed))} in a second; it waits, so that you can read along.` : "");
  }

  function again() {
    show();
    if (!state.left) say();
  }

  function setting(name, key, min, max) {
    return slider(name, { min, max, step: 0.05, value: state[key] }, (value) => {
      state[key] = value;
      change();
    });
  }

  function wake(found) {
    typing.wake(found.characters);
    network = awake(writer, found);
    size.dataset.weights = `${weighed(found)}.`;
    for (const part of [button, back]) part.disabled = false;
    choices.replaceChildren(...own.controls(found));
    begin(0);
  }

  const choices = make("div", { class: "view-choices" });
  load([model], text, told, wake);
  return [...typing.nodes,
    setting("temperature", "temperature", 0, 1.5), setting("top-p", "p", 0.05, 1),
    make("div", { class: "view-moves-back" }, button, back), text,
    make("div", { class: "view-halves" },
      make("div", {}, make("p", { class: "view-label" }, "What may come next"), bars),
      make("div", {}, make("p", { class: "view-label" }, own.label), choices)),
    make("div", { class: "view-answer", "aria-live": "polite" }, told), size];
}
