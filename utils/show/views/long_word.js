function draw({ model, readers, longest, word, most }) {
  const SEEN = 20, WIDE = 50; // bits in the window, and in a row of the picture below it
  const WAIT = 200; // milliseconds of rest, before the networks read
  const PARITY = [-1, 1, 0]; // W_x, W_h, b
  const mine = [...PARITY];
  let network = null, bits = [], answers = readers.map(() => null), states = [], at = 0, problem = "", timer;

  // What is right, and what the three weights say -----------------------------------------------------

  const parities = () => {
    let odd = 0;
    return bits.map((bit) => (odd ^= bit));
  };
  // In 32 bits, as PyTorch computes it.
  function fold() {
    const [W_x, W_h, b] = mine.map(Math.fround);
    let h = 0;
    states = bits.map((bit) => (h = Math.abs(Math.fround(Math.fround(W_x * bit + b) + Math.fround(W_h * h)))));
    answers[0] = states.map((state) => (Number.isFinite(state) ? Number(state > 0.5) : "∞")); // no answer
  }

  // What is seen -------------------------------------------------------------------------------------

  const path = (name, d) => make("path", { class: `view-${name}`, d });
  const strip = (name) => {
    const cells = make("div", { class: "view-cells" });
    return { cells, box: make("div", { class: "view-strip" }, make("small", {}, name), cells) };
  };
  const strips = [strip("the word"), ...readers.map((name) => strip(`${name}: odd so far?`))];
  const pad = make("div", { class: "view-bits", role: "slider", tabindex: "0", "aria-valuemin": 1,
    "aria-label": "Your word: arrow keys choose a bit, space flips it" }, ...strips.map(({ box }) => box));
  pad.dataset.lmSuppressShortcuts = "true";
  const pictures = readers.map((name) => {
    const svg = make("svg", { role: "img", preserveAspectRatio: "none" }), value = make("span");
    return { svg, value, box: make("div", {}, make("strong", {}, name), svg, value) };
  });
  const where = make("p", { class: "view-label" }), told = make("p"), seen = make("p"), odd = make("p"), size = make("p", { class: "view-label" });
  const formula = make("p", { class: "view-formula" });
  const answer = make("div", { class: "view-answer", "aria-live": "polite" }, told, seen);

  const short = (number) => (Number.isFinite(number) && Math.abs(number) < 1e4 ? score(number) : Number.isFinite(number) ? number.toExponential(1) : "∞");
  const several = (n, one, more = `${one}s`) => `${count(n)} ${n === 1 ? one : more}`;
  const right = (found, truth, from, to) => truth.slice(from, to).filter((one, i) => found[from + i] === one).length;

  function show() {
    const truth = parities(), T = bits.length, from = SEEN * Math.floor(at / SEEN), to = Math.min(T, from + SEEN);
    [bits, ...answers].forEach((row, i) => strips[i].cells.replaceChildren(...bits.slice(from, to).map((_, k) => {
      const t = from + k, cell = make("b", {}, row ? `${row[t]}` : "·");
      cell.toggleAttribute("data-at", t === at);
      if (i && row) cell.toggleAttribute("data-wrong", row[t] !== truth[t]);
      return cell;
    })));
    where.textContent = T ? `Bits ${count(from + 1)} to ${count(to)} of ${count(T)}; a wrong answer is marked. Tap a bit of the word to flip it.` : "";
    back.setAttribute("aria-disabled", from === 0); // disabled, it would lose the focus
    on.setAttribute("aria-disabled", to >= T);
    const wide = Math.max(1, Math.min(T, WIDE)), rows = Math.ceil(T / wide) || 1;
    pictures.forEach(({ svg, value, box }, i) => {
      const found = answers[i], cells = (name, wanted) => path(name, [...Array(T).keys()].filter((t) => wanted(found?.[t] === truth[t], t))
        .map((t) => `M${t % wide} ${Math.floor(t / wide) + 0.5}h1`).join("") || "M0 0");
      svg.setAttribute("viewBox", `0 0 ${wide} ${rows}`);
      box.style.setProperty("--rows", rows);
      svg.replaceChildren(...(found ? [cells("right", (fits) => fits), cells("wrong", (fits) => !fits)] : [cells("open", () => true)]),
        cells("window", (_, t) => t >= from && t < to));
      const shares = found && [[0, longest], [longest, T]].filter(([begin, end]) => Math.min(end, T) > begin)
        .map(([begin, end], later) => `${later ? "the rest" : `first ${Math.min(longest, T)}`}: ${wholePercent(right(found, truth, begin, end) / (Math.min(end, T) - begin))}`);
      value.textContent = found ? shares.join(", ") : "";
      svg.setAttribute("aria-label", found ? `${readers[i]}: ${count(right(found, truth, 0, T))} of ${count(T)} answers correct` : `${readers[i]}: no answers yet`);
    });
    pad.setAttribute("aria-valuemax", Math.max(1, T));
    pad.setAttribute("aria-valuenow", at + 1);
    pad.setAttribute("aria-valuetext", T ? `bit ${count(at + 1)} of ${count(T)}: ${bits[at]}; odd so far: ${truth[at]}${readers.map((name, i) =>
      (answers[i] ? `, ${name} ${answers[i][at]}` : "")).join("")}` : "no bit");
    const [W_x, W_h, b] = mine, before = at ? states[at - 1] : 0;
    formula.textContent = T ? `After bit ${count(at + 1)}: |${score(W_x)} · ${bits[at]} + ${score(W_h)} · ${short(before)} + ${score(b)}| = ${short(states[at])}. ` +
      (answers[0][at] === "∞" ? "That is more than 32 bits can hold, so the machine has no answer."
        : `That is ${answers[0][at] ? "" : "not "}above one half, so the machine answers ${answers[0][at] ? "odd" : "even"}.`) : "";
  }

  function tell() {
    const truth = parities(), T = bits.length;
    answer.setAttribute("aria-busy", "false");
    odd.textContent = problem;
    if (!T) {
      [told.textContent, seen.textContent] = ["Type a word of 0 and 1, or take one.", ""];
      return;
    }
    const ones = bits.filter((bit) => bit).length, n = right(answers[0], truth, 0, T), first = Math.min(longest, T);
    const trained = (from, to) => list(readers.slice(1).map((name, i) => `the ${name} answers ${count(right(answers[i + 1], truth, from, to))} correctly`));
    told.textContent = `${several(T, "bit")}, of which ${several(ones, "is one", "are ones")}. The machine of three weights answers ` +
      `${n === T ? "all of them" : `${count(n)} of ${count(T)}`} correctly.`;
    seen.textContent = `On the first ${several(first, "bit")}, ${trained(0, first)}.` + (T > longest
      ? ` On the other ${count(T - longest)}, further than any word in training, ${trained(longest, T)}.` : "");
  }

  // What is asked ------------------------------------------------------------------------------------

  function read(next, place) {
    bits = next;
    at = Math.min(Math.max(0, place), Math.max(0, bits.length - 1));
    answers = readers.map(() => null);
    fold();
    show();
    clearTimeout(timer);
    if (!network) return;
    network.stop();
    answer.setAttribute("aria-busy", "true");
    timer = setTimeout(bits.length ? ask : tell, WAIT);
  }

  const ask = () => network.run({ bits }, 0, ({ logits }) => {
    logits.forEach((rows, i) => { answers[i + 1] = rows.map(([even, odd]) => Number(odd > even)); });
    show();
  }, tell);

  function typed() {
    const letters = field.value.replace(/\s/g, "");
    const found = [...letters.replace(/[^01]/g, "")].map(Number);
    problem = found.length < letters.length ? "A word has only 0 and 1: other letters are left out."
      : found.length > most ? `A word has at most ${count(most)} bits: the rest is left out.` : "";
    read(found.slice(0, most), at);
  }

  function take(next, place = 0) {
    field.value = next.join("");
    problem = "";
    read(next, place);
  }

  const flip = (t) => take(bits.map((bit, i) => (i === t ? 1 - bit : bit)), t);
  function go(place) {
    at = Math.min(bits.length - 1, Math.max(0, place));
    show();
  }

  const ways = { ArrowLeft: -1, ArrowRight: 1, PageUp: -SEEN, PageDown: SEEN, Home: -most, End: most, ArrowUp: -1, ArrowDown: 1 };
  pad.addEventListener("keydown", (event) => {
    if (!bits.length || event.ctrlKey || event.metaKey || event.altKey) return;
    if (Object.hasOwn(ways, event.key)) go(at + ways[event.key]);
    else if ([" ", "Enter"].includes(event.key)) flip(at);
    else if (["0", "1"].includes(event.key)) take(bits.map((bit, i) => (i === at ? Number(event.key) : bit)), at);
    else return;
    event.preventDefault();
  });
  pad.addEventListener("click", (event) => {
    const row = strips.findIndex(({ cells }) => cells.contains(event.target)), k = row < 0 ? -1 : [...strips[row].cells.children].indexOf(event.target);
    if (k < 0) return;
    const t = SEEN * Math.floor(at / SEEN) + k;
    if (row) go(t);
    else flip(t);
  });
  pictures.forEach(({ svg }) => svg.addEventListener("click", (event) => {
    const { left, top, width, height } = svg.getBoundingClientRect(), wide = Math.min(bits.length, WIDE);
    if (bits.length) go(Math.floor((event.clientX - left) / width * wide) + wide * Math.floor((event.clientY - top) / height * Math.ceil(bits.length / wide)));
  }));

  const field = make("textarea", { rows: 2, autocomplete: "off", spellcheck: "false", inputmode: "numeric", oninput: typed });
  field.dataset.lmSuppressShortcuts = "true";
  const button = (name, act, more = {}) => make("button", { type: "button", onclick: act, ...more }, name);
  const random = (T) => Array.from({ length: T }, () => Number(Math.random() < 0.5));
  const ready = [20, 100, 1000].map((T) => button(`${count(T)} at random`, () => take(random(T))));
  const same = button("1,000 ones", () => take(Array(1000).fill(1)));
  const back = button(`‹ ${SEEN} before`, () => go(at - SEEN)), on = button(`Next ${SEEN} ›`, () => go(at + SEEN));
  const sliders = ["W_x", "W_h", "b"].map((name, i) => {
    const field = slider(name, { value: PARITY[i], min: -2, max: 2, step: 0.1 }, (value) => {
      mine[i] = value;
      write();
      fold();
      show();
      if (answer.getAttribute("aria-busy") === "false") tell();
    });
    const write = () => { field.querySelector("output").textContent = score(mine[i]); }; // with a true minus
    write();
    return field;
  });
  const again = button("Set to parity", () => sliders.forEach((one, i) => {
    const input = one.querySelector("input");
    input.value = PARITY[i];
    input.dispatchEvent(new Event("input"));
  }));

  load([model], pad, told, (found) => {
    network = awake(bitReaders, found);
    size.textContent = `RNN and Transformer: ${weighed(found)}. In training, words had up to ${longest} bits.`;
    read(bits, at);
  });
  take([...word].map(Number));
  return [make("label", { class: "view-written" }, "A word of 0 and 1", field), odd,
    make("div", { class: "view-moves-back", role: "group", "aria-label": "Take a word" }, ...ready, same),
    pad, make("div", { class: "view-moves-back" }, back, on), where,
    make("div", { class: "view-pictures" }, ...pictures.map(({ box }) => box)),
    make("div", { role: "group", "aria-label": "The three weights" }, ...sliders, make("div", { class: "view-moves-back" }, again)), formula, answer, size];
}
