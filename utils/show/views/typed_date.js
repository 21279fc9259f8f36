// GRUs with additive attention (`utils.seq2seq`, Luong's style), which read a text and write another, greedily.
function reader({ decode, part, product, row, plus, softmax, gru }, model) {
  const BOS = 1, EOS = 2, UNKNOWN = 3, SPECIAL = 4; // the ids of `utils.data.text`
  const weights = decode(model), { source, target, longest } = model;
  const [ahead, back, step] = ["encoder.layer.ahead.", "encoder.layer.back.", "decoder.layer."].map((name) => part(weights, name));
  const score = part(weights, "decoder.attention.score."), combine = part(weights, "decoder.combine.");
  const bridge = part(weights, "decoder.bridge.0."), output = part(weights, "decoder.output.");

  const joined = (x, y) => Float32Array.of(...x, ...y);
  const tanh = (x) => x.map(Math.tanh);
  const affine = ({ weight, bias }, x) => product(weight, x, bias);
  const known = (symbol) => (source.includes(symbol) ? SPECIAL + source.indexOf(symbol) : UNKNOWN);

  function states(layer, xs) {
    let h = new Float32Array(layer.W_h.columns);
    return xs.map((x) => (h = gru(layer, x, h)));
  }

  // For each symbol: what it is, its probability, and the weights of the source's symbols.
  return function* (symbols) {
    const xs = [...symbols.map(known), EOS].map((id) => row(weights["encoder.embedding.weight"], id));
    const forwards = states(ahead, xs), backwards = states(back, [...xs].reverse()).reverse();
    const annotations = forwards.map((h, j) => joined(h, backwards[j]));
    const keys = annotations.map((h) => product(score["U_a.weight"], h));
    let s = tanh(affine(bridge, joined(forwards.at(-1), backwards[0]))), last = BOS;
    for (let t = 0; t < longest && last !== EOS; t++) {
      s = gru(step, row(weights["decoder.embedding.weight"], last), s);
      const query = product(score["W_a.weight"], s);
      const look = softmax(Float32Array.from(keys, (key) =>
        tanh(plus(query, key)).reduce((sum, value, i) => sum + score.v[i] * value, 0)));
      const context = s.map((_, i) => annotations.reduce((sum, h, j) => sum + look[j] * h[i], 0));
      const shares = softmax(affine(output, tanh(affine(combine, joined(context, s)))));
      last = shares.reduce((best, share, id) => (id >= EOS && share > shares[best] ? id : best), EOS);
      yield { symbol: last === EOS ? "EOS" : target[last - SPECIAL] ?? "?", share: shares[last], look };
    }
  };
}

function draw({ model, examples }) {
  const WAIT = 300, PACE = 70; // milliseconds: after a key, and for a symbol
  const { nodes, seen, begin, add, show, say } = looking();
  const told = make("p"), strange = make("p", { class: "view-label" }), size = make("p", { class: "view-label" });
  let network, letters, timer, written, sure, chosen = 0;

  const field = make("input", { type: "text", maxlength: 48, autocomplete: "off", spellcheck: "false", disabled: "", oninput: () => {
    clearTimeout(timer);
    timer = setTimeout(read, WAIT);
  } });
  field.value = examples[0].text;
  const country = make("select", { disabled: "", onchange: () => {
    if (field.value === examples[chosen].text) field.value = examples[country.selectedIndex].text;
    chosen = country.selectedIndex;
    read();
  } }, ...examples.map(({ name }) => make("option", {}, name)));

  function read() {
    const text = [...field.value.normalize("NFC").replace(/\p{Cf}/gu, "").replace(/\s+/g, " ").trim()];
    const unknown = [...new Set(text.filter((letter) => !letters.includes(letter)))];
    strange.textContent = unknown.length ? `It has never seen ${unknown.map(quote).join(", ")}.` : "";
    const { locale, name } = examples[chosen];
    [written, sure, told.textContent] = ["", 1, text.length ? "" : "Type a date."];
    begin([name, ...text, "EOS"]);
    if (!text.length) network.stop();
    else network.run([`<${locale}>`, ...text], PACE, take, end);
  }

  function take({ symbol, share, look }) {
    add(symbol, [...look].map((weight) => Math.round(100 * weight)));
    show(written.length);
    written += symbol === "EOS" ? "" : symbol;
    sure *= share;
  }

  function end() {
    say();
    const day = new Date(`${written}T00:00:00Z`);
    const real = !Number.isNaN(day.getTime()) && day.toISOString().startsWith(written) && written.length === 10;
    const named = (what) => day.toLocaleDateString("en", { ...what, timeZone: "UTC" });
    told.textContent = (written ? `It reads ${written}` : "It writes nothing") +
      (real ? `: ${named({ weekday: "long" })}, ${day.getUTCDate()} ${named({ month: "long" })} ${day.getUTCFullYear()}. `
        : ", which is no date. ") + `It gives this answer a probability of ${wholePercent(sure)}.`;
  }

  function wake(found) {
    letters = found.source;
    network = awake(reader, found);
    size.textContent = `${weighed(found)}.`;
    for (const part of [field, country]) part.disabled = false;
    read();
  }

  load([model], told, told, wake);
  return [make("label", { class: "view-field" }, "A date", field), make("label", { class: "view-field" }, "written in", country), strange,
    ...nodes, make("div", { class: "view-answer", "aria-live": "polite" }, told, seen), size];
}
