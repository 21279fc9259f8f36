function draw({ network, symbols, unknown, answers, word, longest }) {
  const LEAST = 1e-8, MOST = 1e4; // of a gradient that is drawn
  let at = word.length - 1, scale = 1, bent = true;

  // The lesson's loop: the state after each letter.
  function read(letters) {
    let h = network.b.map(() => 0);
    return letters.map((letter) => {
      const x = network.letters[symbols[letter] ?? unknown];
      const past = times(network.W_h, h).map((value) => scale * value);
      h = times(network.W_x, x).map((value, i) => value + past[i] + network.b[i]);
      return (h = bent ? h.map(Math.tanh) : h);
    });
  }

  const scores = (h) => times(network.W_y, h).map((score, i) => score + network.b_y[i]);

  // How large the gradient of the answer's score is at each state, over that at the last one.
  function gradients(states) {
    const last = scores(states.at(-1));
    let g = network.W_y[last.indexOf(Math.max(...last))];
    const sizes = [];
    for (let t = states.length - 1; t >= 0; t--) {
      sizes.unshift(Math.hypot(...g));
      const inside = g.map((value, i) => value * (bent ? 1 - states[t][i] ** 2 : 1));
      g = g.map((_, j) => scale * inside.reduce((sum, value, i) => sum + value * network.W_h[i][j], 0));
    }
    return sizes.map((size) => size / sizes.at(-1));
  }

  const field = make("input", { type: "text", value: word, maxlength: longest, autocomplete: "off",
    autocapitalize: "off", spellcheck: "false", oninput: typed });
  const steps = make("div");
  const states = make("div", { class: "view-state", role: "img" });
  const stateLabel = make("p", { class: "view-label" });
  const answer = make("p", { class: "view-seen" });
  const strange = make("p", { class: "view-label" });
  const bars = make("ul", { class: "view-bars" });
  const back = make("ul", { class: "view-bars view-back" });
  const verdict = make("p", { class: "view-said" });

  const letters = () => [...field.value.trim().toLowerCase().normalize("NFC")].slice(0, longest);

  function typed() {
    at = Math.max(0, letters().length - 1);
    offer();
    show();
  }

  function offer() {
    const names = letters().map((letter, i) => `${i + 1} ${letter}`);
    steps.replaceChildren(...(names.length ? [choice("after letter", names, at, (index) => { at = index; show(); })] : []));
  }

  const shown = (size) => size >= 0.01 && size < 1000 ? `${+size.toPrecision(2)}` : size.toExponential(0);

  function show() {
    const typedLetters = letters();
    if (!typedLetters.length) {
      answer.textContent = "Type a word.";
      for (const node of [bars, back, states]) node.replaceChildren();
      for (const node of [verdict, stateLabel, strange]) node.textContent = "";
      return;
    }
    const all = read(typedLetters);
    const h = all[at], chances = softmax(scores(h));
    const ranks = ranked(chances);
    const soFar = typedLetters.slice(0, at + 1).join("");
    answer.textContent = `${quote(`${soFar}${at + 1 < typedLetters.length ? "…" : ""}`)} is ${answers[ranks[0]]}, says the network.`;
    const foreign = typedLetters.filter((letter) => !(letter in symbols));
    strange.textContent = foreign.length ? `It has never seen ${quote(foreign[0])}.` : "";
    bars.replaceChildren(...ranks.slice(0, 4).map((i) => bar(answers[i], wholePercent(chances[i]), chances[i])));
    const near = h.filter((value) => Math.abs(value) > 0.9).length;
    stateLabel.textContent = `The state: ${h.length} numbers from −1 (blue) to 1 (orange). ${near} of them are beyond ±0.9.`;
    states.setAttribute("aria-label", `${h.length} coloured cells, ${near} of them near −1 or 1`);
    states.replaceChildren(...h.map((value) => {
      const cell = make("span", { "data-sign": value < 0 ? "less" : "more" });
      cell.style.opacity = Math.min(1, Math.abs(value)).toFixed(2);
      return cell;
    }));
    const sizes = gradients(all);
    back.replaceChildren(...typedLetters.map((letter, t) => {
      const size = Math.min(MOST, Math.max(LEAST, sizes[t]));
      return bar(letter, shown(sizes[t]), Math.log(size / LEAST) / Math.log(MOST / LEAST));
    }));
    const first = sizes[0], what = first < 0.01 ? "It vanishes." : first > 100 ? "It explodes." : "It survives.";
    verdict.textContent = `${shown(first)} of the gradient arrives at the first letter. ${what}`;
  }

  const asked = make("label", { class: "view-field" }, "Your word ", field);
  const said = make("div", { class: "view-answer", "aria-live": "polite" }, answer, strange);
  const factor = make("output", {}, "1.0");
  const turn = make("input", { type: "range", min: 0, max: 3, step: 0.1, value: 1, oninput: () => {
    scale = +turn.value;
    factor.textContent = scale.toFixed(1);
    show();
  } });
  offer();
  show();
  return [asked, steps, stateLabel, states, said, bars,
    make("label", { class: "view-field" }, "Multiply W_h by ", turn, " ", factor),
    choice("at each step", ["tanh", "nothing"], 0, (index) => { bent = index === 0; show(); }),
    make("p", { class: "view-label" }, "The gradient of the answer's score, at each letter's state (1 at the last; logarithmic bars):"),
    back, make("div", { "aria-live": "polite" }, verdict)];
}
