function draw({ model, world, start, sentence, hidden }) {
  const N = 16, WAIT = 250; // sentences, and milliseconds after a key
  const { understand, say, holds, exchanged, among, seen } = sayings(world);
  let network = null, scale = 1, longest = 0, known = new Set(), timer, busy = false, late = false;
  let own = null, language = "en", way = 0, sixteen = [], chosen = 0, cosines = null, falls = [];

  const told = make("p"), why = make("p"), both = make("p"), never = make("p"), size = make("p", { class: "view-label" });
  const answer = make("div", { class: "view-answer", "aria-live": "polite" }, told, why, both, never);
  const bars = make("ul", { class: "view-bars view-sixteen" }), line = make("div", { class: "view-sentence" });
  const covers = make("div", { class: "view-patches", "aria-hidden": "true" });
  const field = make("input", { type: "text", maxlength: 200, autocomplete: "off", spellcheck: "false", value: sentence, disabled: "",
    oninput: () => { clearTimeout(timer); timer = setTimeout(read, WAIT); } });
  const exchange = make("button", { type: "button", "aria-pressed": "false", onclick: () => {
    exchange.setAttribute("aria-pressed", exchange.getAttribute("aria-pressed") === "false");
    tell();
  } }, "Compare with colours exchanged");
  const describe = make("button", { type: "button", onclick: () => {
    if (canvas.things.length) write(seen(placed()));
    else told.textContent = "The canvas is empty.";
  } }, "Say what is there");
  const canvas = stage(world, ask);
  const placed = () => canvas.things.map(({ kind, x, y, colour }) => {
    const { form, size: large, inks } = world.forms[kind];
    return { form, colour, size: large, x, y, side: Math.sqrt(inks[0].length) };
  });

  // What is asked: one's own sentence, and others said in the same way ------------------------------

  function write(scene) {
    field.value = say(scene, language, way);
    read();
  }

  function read() {
    const pieces = words(field.value), strange = [...new Set(pieces.filter((word) => !known.has(word)))];
    const text = field.value.trim(), meant = understand(text);
    if (!pieces.length || strange.length || pieces.length > longest) {
      network.stop();
      [sixteen, cosines, busy, late] = [[], null, false, false];
      bars.replaceChildren();
      covers.replaceChildren();
      for (const part of [why, both, never]) part.textContent = "";
      told.textContent = strange.length ? `No scene is described with ${list(strange.map(quote))}.`
        : pieces.length ? `It reads up to ${longest} words.` : "Say what there is, as in “a red three”.";
      return;
    }
    own = meant?.scene ?? null; // a sentence of known words may be none of the grammar
    ({ language, way } = meant ?? { language: /^[a-z]/.test(pieces[0]) ? "en" : "zh", way: 0 });
    const others = own ? among(own, world.others[own.things.length], N) : [null, ...world.others[2]];
    sixteen = others.slice(0, N).map((scene, i) => {
      const row = bar("", "", 0), name = make("button", { type: "button", onclick: () => { chosen = i; ask(); } });
      row.firstChild.append(name);
      const said = i ? say(scene, language, way) : text;
      name.textContent = said;
      return { scene, text: said, row, name };
    });
    bars.replaceChildren(...sixteen.map(({ row }) => row));
    bars.lang = language;
    chosen = 0;
    fill();
    ask();
  }

  // Menus that stay in the grammar: a thing, or how it lies to another ------------------------------

  const hues = Object.keys(world.colours), kinds = [...world.forms.keys()];
  const menus = [["colour", hues], ["thing", kinds], ["relation", [null, ...world.relations]], ["colour of the other", hues], ["other thing", kinds]];
  const values = menus.map(([, options]) => options[0]);

  function sceneOf([colour, kind, name, other, second]) {
    const thing = (k, hue) => ({ form: world.forms[k].form, colour: hue, size: world.forms[k].size });
    return { things: [thing(kind, colour), ...(name ? [thing(second, other)] : [])], relations: name ? [name] : [] };
  }

  function allowed({ things: [a, b], relations: [name] }) {
    if (!b) return true;
    const room = name === "inside" ? a.size !== "large" && b.size === "large" && b.form !== "triangle" : a.size !== "large" || b.size !== "large";
    return room && a.colour !== b.colour;
  }

  function shownAs(option, menu) {
    const { names, styles } = world.languages[language];
    if (menu === 2) return option ? styles[option].of : "–";
    if (menu % 3 === 0) return names[option];
    return [world.forms[option].size, world.forms[option].form].filter(Boolean).map((word) => names[word]).join(language === "en" ? " " : "");
  }

  const selects = menus.map(([label, options], menu) => make("select", { "aria-label": label, onchange: (event) => {
    values[menu] = options[event.target.value];
    write(sceneOf(values));
  } }));

  function fill() {
    if (own && own.things.length < 3) {
      own.things.forEach(({ form, colour, size: large }, i) => {
        values[3 * i] = colour;
        values[3 * i + 1] = world.forms.findIndex((one) => one.form === form && one.size === large);
      });
      values[2] = own.relations[0] ?? null;
    }
    if (!values[2] && values[3] === values[0]) values[3] = hues.find((hue) => hue !== values[0]);
    selects.forEach((select, menu) => {
      const options = menus[menu][1], free = [...options.keys()].filter((i) => allowed(sceneOf(values.with(menu, options[i]))));
      select.replaceChildren(...free.map((i) => make("option", { value: i }, shownAs(options[i], menu))));
      select.value = options.indexOf(values[menu]);
      select.hidden = menu > 2 && !values[2];
    });
    line.lang = language;
    languages.querySelectorAll("input")[codes.indexOf(language)].checked = true;
  }

  const codes = Object.keys(world.languages);
  const languages = choice("Language", codes.map((code) => world.languages[code].label), 0, (at) => {
    [language, way] = [codes[at], 0];
    write(own ?? sceneOf(values));
  });

  // What the network says ---------------------------------------------------------------------------

  function ask() {
    late = busy;
    if (busy || !network || !sixteen.length) return;
    [busy, falls] = [true, []];
    answer.setAttribute("aria-busy", "true");
    cover();
    network.run({ picture: canvas.pixels(), sentences: sixteen.map(({ text }) => words(text)), chosen, hidden }, 0, take, done);
  }

  function take(piece) {
    if (piece.cosines) {
      [busy, cosines] = [false, piece.cosines];
      rank();
      tell();
      if (late) ask();
    } else {
      falls.push(piece.fall);
      cover();
    }
  }

  function done() {
    tell();
    answer.setAttribute("aria-busy", "false");
  }

  const shares = () => softmax(cosines.map((one) => scale * one));
  const isTrue = ({ scene }) => Boolean(scene) && holds(scene, placed());

  function rank() {
    const chances = shares(), order = ranked(chances);
    sixteen.forEach((one, i) => {
      one.row.style.setProperty("--weight", wholePercent(chances[i]));
      one.row.lastChild.textContent = `${isTrue(one) ? "✓ " : ""}${wholePercent(chances[i])}`;
      one.row.toggleAttribute("data-own", i === 0);
      one.name.setAttribute("aria-pressed", i === chosen);
    });
    const rows = order.map((i) => sixteen[i].row);
    if (rows.some((row, i) => row !== bars.children[i])) bars.replaceChildren(...rows);
  }

  // Over the canvas: a frame for each patch, as thick as the score falls where that patch is black.
  function cover() {
    const most = Math.max(1e-9, ...falls.map(Math.abs));
    covers.replaceChildren(...falls.map((fall) => {
      const patch = make("span", { "data-sign": fall < 0 ? "against" : "for" });
      patch.style.setProperty("--share", Math.abs(fall) / most);
      return patch;
    }));
    covers.toggleAttribute("data-done", falls.length === canvas.patches ** 2);
  }

  function tell() {
    if (!cosines) return;
    const chances = shares(), best = sixteen[ranked(chances)[0]], right = sixteen.find(isTrue);
    told.textContent = `${quote(best.text)} fits best of ${N} (${wholePercent(Math.max(...chances))}). ` +
      (isTrue(best) ? "✓ That is true of the picture." : right ? `✗ True of the picture is ${quote(right.text)}.` : "None of them is true of the picture.");
    const n = canvas.patches, places = ranked(falls).filter((at) => falls[at] > 0.005).slice(0, 3);
    why.textContent = falls.length < n * n ? "" : `The score of ${quote(sixteen[chosen].text)} is ${score(cosines[chosen])}. ` + (places.length
      ? `It falls most where the patch is black in ${list(places.map((at) => `row ${Math.floor(at / n) + 1}, column ${at % n + 1} (by ${score(falls[at])})`))}.`
      : "It falls nowhere by as much as 0.01.");
    both.textContent = exchange.getAttribute("aria-pressed") === "true" ? compared() : "";
    const pairs = placed().filter(({ form, colour }) => world.unseen.some(([one, hue]) => one === form && hue === colour));
    never.textContent = [own ? "" : `${quote(sixteen[0].text)} describes no scene in the book's grammar, so it never gets a ✓.`,
      pairs.length ? `In training, ${list(pairs.map(({ form, colour }) => `no ${form} was ${colour}`))}.` : ""].filter(Boolean).join(" ");
  }

  function compared() {
    const [other] = own ? exchanged(own) : [], at = other ? sixteen.findIndex(({ text }) => text === say(other, language, way)) : 0;
    if (at < 1) return "Say two things of two colours, and they can exchange them.";
    const scores = `${quote(sixteen[0].text)} scores ${score(cosines[0], 3)}; with the colours exchanged, ${quote(sixteen[at].text)} scores ${score(cosines[at], 3)}. `;
    const [mine, others] = [sixteen[0], sixteen[at]].map(isTrue);
    if (!mine && !others) return `${scores}Neither is true of the picture.`;
    return scores + ((cosines[0] > cosines[at]) === mine ? "✓ The network prefers what is true of the picture." : "✗ The network prefers what is not true of the picture.");
  }

  function wake(stored) {
    network = awake(towers, stored);
    const rows = (name) => stored.weights.find(([one]) => one === `${name}_encoder.encoder.embedding.positions.table`)[1];
    [scale, longest] = [1 / stored.temperature, rows("text")];
    known = new Set(stored.words);
    canvas.patches = Math.sqrt(rows("image") - 1);
    covers.style.setProperty("--n", canvas.patches);
    size.textContent = `${weighed(stored)}.`;
    field.disabled = false;
    read();
  }

  canvas.pad.firstChild.after(covers);
  canvas.set(start);
  line.append(...selects);
  load([model], canvas.pad, told, wake);
  return [make("label", { class: "view-field view-typed" }, make("span", {}, "Your sentence, in English or Chinese"), field), languages, line,
    make("div", { class: "view-moves-back" }, describe, exchange),
    make("div", { class: "view-halves" }, make("div", {}, ...canvas.nodes),
      make("div", {}, make("p", { class: "view-label" }, "What fits (✓: true of the picture). Choose a sentence to see its patches (solid: for it, dashed: against it):"), bars)),
    answer, size];
}
