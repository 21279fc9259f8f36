function draw({ sentences, models, measure, amount }) {
  const state = { sentence: 0, at: 0, model: 0 };
  const line = make("div", { class: "view-hidden", role: "radiogroup", "aria-label": "Hidden word" });
  const bars = make("ul", { class: "view-bars" });
  const seen = make("p"), size = make("p");
  const name = make("output");
  const last = models.length - 1; // the largest is on the right, as in the chart
  const slider = make("input", { type: "range", min: 0, max: last, step: 1, value: last,
    oninput: () => { state.model = last - Number(slider.value); show(); } });

  const share = (quality) => `${(100 * quality).toFixed(1)}%`;

  function open(sentence) {
    const words = sentences[sentence];
    Object.assign(state, { sentence, at: Math.floor(words.length / 2) });
    line.replaceChildren(...words.map((word, at) => {
      const choose = () => { state.at = at; show(); };
      return radio(word, { name: "Hidden word", "aria-label": `${word}, word ${at + 1}`, onchange: choose, checked: at === state.at });
    }));
    show();
  }

  // Quality upwards, parameters to the right, both from 0; a dot is a line of no length.
  const dots = models.map(() => make("path", { "vector-effect": "non-scaling-stroke" }));
  const largest = Math.max(...models.map(({ parameters }) => parameters));
  const best = Math.max(...models.map(({ quality }) => quality));
  models.forEach(({ parameters, quality }, i) => {
    const x = 100 * parameters / largest, y = best ? 100 - 100 * quality / best : 100;
    dots[i].setAttribute("d", `M${x.toFixed(1)} ${y.toFixed(1)}h0`);
  });
  const chart = make("svg", { viewBox: "0 0 100 100", preserveAspectRatio: "none", role: "img",
    "aria-label": `${measure} against ${amount}. ${models.map((model) => `${model.name}: ${count(model.parameters)}, ${share(model.quality)}`).join("; ")}.` }, ...dots);
  const ends = (...texts) => texts.map((text) => make("span", {}, text));
  const picture = make("div", { class: "view-quality" },
    make("span", { class: "view-label" }, measure),
    make("div", { class: "view-up" }, ...ends(share(best), "0")), chart,
    make("div", { class: "view-across" }, ...ends("0", count(largest))),
    make("span", { class: "view-label" }, amount));

  function show() {
    const { sentence, at, model } = state, { best: likeliest, right } = models[model].guesses[sentence][at];
    const word = sentences[sentence][at], { parameters, quality } = models[model];
    for (const [place, label] of [...line.children].entries()) {
      label.lastChild.textContent = place === at ? "___" : sentences[sentence][place];
    }
    bars.replaceChildren(...guessed(likeliest, word));
    dots.forEach((dot, i) => dot.toggleAttribute("data-now", i === model));
    name.textContent = models[model].name;
    slider.setAttribute("aria-valuetext", models[model].name);
    const given = right === null ? "The model doesn't know it" : `The model gives it ${percent(right)}`;
    seen.textContent = `The hidden word is ${quote(word)}. ${given}; its first guess is ${quote(likeliest[0][0])}: ${likeliest[0][0] === word ? "✓ correct" : "✗ not correct"}.`;
    size.textContent = `${models[model].name}: ${count(parameters)} ${amount}; ${measure}: ${share(quality)}.`;
  }

  const choose = lines("Sentence", sentences.map((words) => words.join(" ")), 0, open);
  open(0);
  return [...(sentences.length > 1 ? [choose] : []), line,
    make("label", { class: "view-field view-model" }, "Model ", slider, name),
    bars, make("div", { class: "view-answer", "aria-live": "polite" }, seen, size), picture];
}
