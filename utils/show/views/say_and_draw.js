function draw({ models, sentences, temperature, tries }) {
  const PACE = 15, WAIT = 200; // milliseconds: between codes, and after a change of the temperature
  const still = matchMedia("(prefers-reduced-motion: reduce)").matches; // then nothing is seen before it is done
  const all = [...Array(tries).keys()], done = () => cosines.length === tries;
  let painting = null, judge = null, known = new Set(), longest = 0, places = 0, side = 0, timer;
  let random = [], begun = 0, order = all, chosen = 0, codes = [], chances = [], pictures = [], cosines = [];

  const field = make("input", { type: "text", maxlength: 200, autocomplete: "off", spellcheck: "false", value: sentences[0],
    onkeydown: (event) => { if (event.key === "Enter" && !event.isComposing && !button.disabled) begin(random); } }); // JupyterLab submits no form
  const button = make("button", { type: "button", disabled: "", onclick: () => begin(random) }, "Draw");
  const again = make("button", { type: "button", disabled: "", onclick: () => begin([]) }, "Again");
  const ready = sentences.map((text) => make("button", { type: "button", disabled: "", lang: /[a-z]/i.test(text) ? "en" : "zh", onclick: () => {
    field.value = text;
    begin(random);
  } }, text));
  const heat = slider("temperature", { min: 0, max: 1.5, step: 0.05, value: temperature }, (value) => {
    temperature = value;
    clearTimeout(timer);
    if (codes.length) timer = setTimeout(() => begin(random), WAIT);
  });

  const large = make("canvas", { role: "img", "aria-label": "No picture yet" }), named = make("p", { class: "view-label" });
  const cells = make("div", { class: "view-codes", role: "img", "aria-label": "No codes yet" });
  const tried = all.map((at) => {
    const canvas = make("canvas", { "aria-hidden": "true" }), fit = make("span");
    const choose = make("button", { type: "button", "aria-label": `Picture ${at + 1}`, onclick: () => { if (done()) show(at); } }, canvas, fit);
    return { canvas, fit, choose };
  });
  const told = make("p"), size = make("p", { class: "view-label" }), sorted = make("p", { class: "view-label" });
  const answer = make("div", { class: "view-answer", "aria-live": "polite" }, told);

  // What is asked, or one sentence that says what is wrong with it ---------------------------------

  function begin(numbers) {
    const text = field.value.trim(), sentence = words(text), strange = [...new Set(sentence.filter((word) => !known.has(word)))];
    clearTimeout(timer);
    painting.stop();
    judge.stop();
    [codes, chances, pictures, cosines, order] = [[], [], [], [], all];
    const wrong = strange.length ? `No scene is described with ${list(strange.map(quote))}: choose other words.`
      : sentence.length > longest ? `It reads up to ${longest} words: say less.`
      : sentence.length ? "" : "Say what there is, as in “a red three”.";
    field.setAttribute("aria-invalid", wrong !== "");
    told.textContent = wrong || "It is drawing.";
    answer.setAttribute("aria-busy", wrong === "");
    say("the sentence");
    show(0);
    if (wrong) return;
    begun = performance.now();
    random = numbers.length ? numbers : all.map(() => Array.from({ length: places }, Math.random));
    painting.run({ sentence, random, temperature }, still ? 0 : PACE, take, () => compare(text, sentence));
  }

  function take(piece) {
    codes.push(piece.codes);
    chances.push(piece.chances);
    piece.pictures.forEach((picture, k) => { pictures[k] = picture; });
    if (!still) show(0);
  }

  // CLIP reads one picture after the other; the most similar comes first.
  function compare(text, sentence) {
    judge.run({ picture: pictures[cosines.length], sentences: [sentence] }, 0, ({ cosines: [one] }) => cosines.push(one), () => {
      if (done()) judged(text);
      else compare(text, sentence);
    });
  }

  function say(text) {
    sorted.textContent = `${tries} pictures, sorted by their similarity with ${text}. Choose one to see it large.`;
  }

  function judged(text) {
    order = ranked(cosines);
    say(quote(text));
    show(0);
    const n = new Set(all.map((k) => `${codes.map((of) => of[k])}`)).size, seconds = (performance.now() - begun) / 1000;
    const [most, least] = [order[0], order.at(-1)].map((k) => score(cosines[k]));
    const greedy = temperature ? "" : ", because at temperature 0 each code is the most probable one";
    const same = `All ${tries} pictures are the same${greedy}. Their similarity with ${quote(text)} is ${most}. `;
    const best = `CLIP finds that the first picture fits ${quote(text)} best: their similarity is ${most}, and that of the last picture is ${least}. `;
    const different = n < tries ? `Among the ${tries} pictures, ${n} are different. ` : `All ${tries} pictures are different. `;
    told.textContent = `${n === 1 ? same : best + different}Drawing took ${seconds.toFixed(1)} s.`;
    answer.setAttribute("aria-busy", false);
  }

  // What is seen: all pictures, best first, and one of them in large with its codes ----------------

  function paintCodes(canvas, k) {
    if (!pictures[k]) {
      canvas.width = canvas.height = 1;
      return;
    }
    const pixels = Math.sqrt(pictures[k].length / 3), cell = pixels / side;
    paint(canvas, pictures[k], pixels);
    for (let at = codes.length; at < places; at++) { // no code has been drawn there
      canvas.getContext("2d").clearRect(cell * (at % side), cell * Math.floor(at / side), cell, cell);
    }
  }

  function show(at) {
    chosen = at;
    const k = order[chosen], n = codes.length, ended = done();
    const own = codes.map((of) => of[k]), similar = all.map((i) => (ended ? score(cosines[order[i]]) : ""));
    tried.forEach(({ canvas, fit, choose }, i) => {
      if (i === 0 || ended || n % side === 0) paintCodes(canvas, order[i]);
      fit.textContent = similar[i];
      choose.setAttribute("aria-pressed", ended && i === chosen);
      choose.setAttribute("aria-disabled", !ended);
      choose.setAttribute("aria-label", ended ? `Picture ${i + 1}, similarity ${similar[i]}` : `Picture ${i + 1}`);
    });
    paintCodes(large, k);
    named.textContent = ended ? `Picture ${chosen + 1} of ${tries}: similarity ${similar[chosen]}`
      : n ? `Drawing: ${n} of ${places} codes` : "The picture";
    large.setAttribute("aria-label", ended ? `Picture ${chosen + 1} of ${tries}` : "The picture that is being drawn");
    cells.setAttribute("aria-label", own.length ? `Codes, row by row: ${own.join(", ")}` : "No codes yet");
    cells.replaceChildren(...Array.from({ length: places }, (_, i) => {
      const cell = make("span", { "data-new": `${!ended && i === n - 1}` }, i < n ? `${own[i]}` : "");
      cell.style.setProperty("--share", wholePercent(i < n ? chances[i][k] : 0));
      return cell;
    }));
  }

  function wake(writer, decoder, clip) {
    [known, longest] = [new Set(writer.words), writer.longest];
    const [, rows] = writer.weights.find(([name]) => name === "stack.embedding.positions.table");
    places = rows - longest - 2;
    side = Math.sqrt(places);
    cells.style.setProperty("--side", side);
    painting = awake(painter, { writer, codes: decoder });
    judge = awake(towers, clip);
    size.textContent = `${weighed({ weights: [writer, decoder, clip].flatMap(({ weights }) => weights) })}.`;
    for (const one of [button, again, ...ready]) one.disabled = false;
    told.textContent = "Press “Draw”, or take one of the sentences.";
    show(0);
  }

  say("the sentence");
  load(models, cells, told, wake);
  return [make("label", { class: "view-field view-typed" }, make("span", {}, "Your sentence, in English or Chinese"), field),
    make("p", { class: "view-label" }, "Words that describe no scene, such as “seven” alone, are drawn, too."),
    make("div", { class: "view-moves-back view-sayings", role: "group", "aria-label": "Take a sentence" }, ...ready),
    heat, make("div", { class: "view-moves-back" }, button, again),
    make("div", { class: "view-drawn" },
      make("div", {}, named, large),
      make("div", {}, make("p", { class: "view-label" }, "Its codes, shaded by their probability"), cells)),
    sorted,
    make("div", { class: "view-tries", role: "group", "aria-label": "All pictures" }, ...tried.map(({ choose }) => choose)),
    answer, size];
}
