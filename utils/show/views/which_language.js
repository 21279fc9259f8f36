// Day 2's network (`utils.tasks.languages.LetterReader`), asked after each letter of a word.
function reader({ decode, part, product, row, softmax, rnn }, model) {
  const weights = decode(model), table = weights["embedding.weight"], layer = part(weights, "layer.");
  const special = table.rows - model.letters.length; // symbols that are no letters come first, the unknown one last
  return function* (word) {
    let h = new Float32Array(layer.W_h.rows);
    yield [...word].map((letter) => {
      h = rnn(layer, row(table, special + model.letters.indexOf(letter)), h);
      return softmax(product(weights["output.weight"], h, weights["output.bias"]));
    });
  };
}

function draw({ model, word, longest }) {
  const SHOWN = 4; // languages
  let network = null, letters = "", answers = [];

  const field = make("input", { type: "text", value: word, maxlength: 3 * longest, autocomplete: "off",
    autocapitalize: "off", spellcheck: "false", disabled: "", oninput: typed });
  const map = make("div", { class: "view-verdicts", role: "img", "aria-label": "The model is being loaded." });
  const bars = make("ul", { class: "view-bars" });
  const answer = make("p"), way = make("p"), strange = make("p", { class: "view-label" });
  const size = make("p", { class: "view-label" });

  // The first word, in small letters, as in training.
  function read() {
    const words = field.value.replaceAll("İ", "i").toLowerCase().normalize("NFC").match(/\p{L}+/gu) ?? [];
    return { first: (words[0] ?? "").slice(0, longest), more: words.length > 1 };
  }

  function typed() {
    const { first } = read();
    if (first) network.run(first, 0, (verdicts) => show(first, verdicts), () => {});
    else show("", []);
  }

  // "After “p” it says Polish, from “pa” on Turkish."
  function path(written, best) {
    const turns = best.map((name, t) => ({ name, t })).filter(({ name, t }) => t === 0 || name !== best[t - 1]);
    if (turns.length < 2) return best.length > 1 ? `It has said ${best[0]} since the first letter.` : "";
    const after = turns.map(({ name, t }, i) =>
      `${i === turns.length - 1 ? "from" : "after"} “${written.slice(0, t + 1)}”${i === turns.length - 1 ? " on" : ""} ${i ? "" : "it said "}${name}`);
    return `A${after.join(", ").slice(1)}.`;
  }

  function show(written, verdicts) {
    if (read().first !== written) return; // another word was typed meanwhile
    const last = verdicts.at(-1);
    map.replaceChildren();
    bars.replaceChildren();
    way.textContent = strange.textContent = "";
    answer.textContent = "Type a word or a name.";
    if (!last) return map.setAttribute("aria-label", "Nothing has been typed.");
    const order = ranked(last), best = verdicts.map((shares) => ranked(shares)[0]);
    const rows = order.filter((i, rank) => rank < SHOWN || best.includes(i));
    map.style.setProperty("--letters", written.length);
    map.append(make("span"), ...[...written].map((letter) => make("b", {}, letter)));
    for (const i of rows) {
      map.append(make("span", {}, answers[i]), ...verdicts.map((shares, t) => {
        const cell = make("i", { title: `after “${written.slice(0, t + 1)}”: ${answers[i]} ${wholePercent(shares[i])}` });
        cell.style.setProperty("--share", wholePercent(shares[i]));
        cell.toggleAttribute("data-best", best[t] === i);
        return cell;
      }));
    }
    bars.replaceChildren(...order.slice(0, SHOWN).map((i) => bar(answers[i], wholePercent(last[i]), last[i])));
    answer.textContent = `“${written}” is ${answers[order[0]]}, says the network: ${wholePercent(last[order[0]])}.`;
    way.textContent = path(written, best.map((i) => answers[i]));
    map.setAttribute("aria-label", `The probability of ${rows.length} languages after each letter. ${way.textContent}`);
    const foreign = [...written].find((letter) => !letters.includes(letter));
    strange.textContent = (foreign ? `It has never seen ${quote(foreign)}. ` : "") +
      (read().more ? "It reads one word at a time, here the first." : "");
  }

  function wake(found) {
    ({ letters, answers } = found);
    network = awake(reader, found);
    size.textContent = `${weighed(found)}.`;
    field.disabled = false;
    typed();
  }

  load([model], field, answer, wake);
  return [make("label", { class: "view-field" }, "A word or a name ", field),
    make("p", { class: "view-label" }, "Its verdict after each letter (the bluer, the more probable; the best is framed):"), map, bars,
    make("div", { class: "view-answer", "aria-live": "polite" }, answer, way, strange), size];
}
