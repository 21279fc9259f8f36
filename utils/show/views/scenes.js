// A sentence's words, as `utils.data.scenes` splits it.
const words = (text) => text.toLowerCase().match(/[a-z]+|[^\sa-z,.;:!?，。；：！？、]/gu) ?? [];

// The pixels of a picture, (3 · size · size), in 0..1.
function paint(canvas, numbers, size) {
  canvas.width = canvas.height = size;
  const context = canvas.getContext("2d"), image = context.createImageData(size, size), n = size * size;
  for (let i = 0; i < n; i++) image.data.set([0, 1, 2].map((c) => Math.round(255 * numbers[c * n + i])).concat(255), 4 * i);
  context.putImageData(image, 0, 0);
}

// Scenes and what is said of them, as in `utils.data.scenes`. A scene is {things: [{form, colour,
// size}, …], relations}; relations[i] is how thing i lies to thing i + 1.
function sayings({ languages, patterns, phrases, english, opposite, relations, colours, forms }) {
  const hues = Object.keys(colours), readers = patterns.map(([language, , way, source]) => ({ language, way, source: new RegExp(`^(?:${source})$`, "u") }));
  const same = (one, other) => one.form === other.form && one.colour === other.colour && one.size === other.size;

  // What a sentence says, in which language and way; undefined if it is none of the grammar.
  function understand(text) {
    const found = words(text), plain = found.join(/^[a-z]/.test(found[0]) ? " " : "");
    for (const { language, way, source } of readers) {
      const groups = source.exec(plain)?.groups;
      if (groups) return { scene: meant(groups), language, way };
    }
    return undefined;
  }

  function meant(groups) {
    const things = ["a", "b", "c"].filter((name) => groups[`${name}_form`]).map((name) => {
      const [form, colour, size] = ["form", "colour", "size"].map((part) => english[groups[`${name}_${part}`]] ?? null);
      return { form, colour, size };
    });
    const found = ["r", "s"].slice(0, things.length - 1).map((name) =>
      (groups[name] ? phrases[groups[name]] : opposite[phrases[groups[name.toUpperCase()]]]));
    return { things, relations: found };
  }

  function say({ things, relations: found }, language, way) {
    const { sentences, styles, names } = languages[language];
    const name = ({ form, colour, size }) => {
      const [a, b, c] = [names[size], names[colour], names[form]];
      if (language === "en") return ["a", a, b, c].filter(Boolean).join(" ");
      return size ? `${b}色${things.length < 3 ? "的" : ""}${a}${c}` : `${b}色的${c}`;
    };
    return sentences[things.length][way].replace(/[{](\w)(?:[[](\w+)[\]])?[}]/g, (_, slot, style) => {
      if (!style) return name(things["abc".indexOf(slot)]);
      const relation = found["rs".indexOf(slot.toLowerCase())];
      return styles[/[RS]/.test(slot) ? opposite[relation] : relation][style];
    });
  }

  // How a box {x, y, side} lies to another; null where that is inside it.
  const inside = (a, b) => a.side < b.side &&
    Math.min(a.x - b.x, a.y - b.y, b.x + b.side - a.x - a.side, b.y + b.side - a.y - a.side) >= -1;

  function relation(a, b) {
    if (inside(a, b)) return "inside";
    if (inside(b, a)) return null;
    const across = a.x - b.x + (a.side - b.side) / 2, down = a.y - b.y + (a.side - b.side) / 2;
    if (Math.abs(across) > Math.abs(down)) return across < 0 ? "left of" : "right of";
    return down < 0 ? "above" : "below";
  }

  // Whether all that a scene says is true of things that have places.
  function holds({ things, relations: found }, placed, before = []) {
    const i = before.length;
    if (i === things.length) return true;
    return placed.some((one) => !before.includes(one) && same(one, things[i]) &&
      (!i || relation(before.at(-1), one) === found[i - 1]) && holds({ things, relations: found }, placed, [...before, one]));
  }

  // The same from either end.
  function content({ things, relations: found }) {
    const names = things.map(({ form, colour, size }) => `${size} ${colour} ${form}`);
    const [there, back] = [[...names, ...found], [...names.reverse(), ...found.map((name) => opposite[name]).reverse()]].map(String);
    return there < back ? there : back;
  }

  const put = (all, i, ...some) => [...all.slice(0, i), ...some, ...all.slice(i + some.length)];

  // The same words, and something else: two neighbours exchange their colours, or their places.
  function exchanged({ things, relations: found }) {
    return found.flatMap((name, i) => {
      const [a, b] = things.slice(i, i + 2);
      const swaps = [[{ ...a, colour: b.colour }, { ...b, colour: a.colour }], ...(name === "inside" ? [] : [[b, a]])];
      return swaps.map((swap) => ({ things: put(things, i, ...swap), relations: found }));
    });
  }

  // One word of it changed: a relation, a colour, a form.
  function changed({ things, relations: found }) {
    const next = (all, one, k) => all[(all.indexOf(one) + k) % all.length];
    const others = found.flatMap((name, i) => relations.filter((other) => ![name, "inside"].includes(other))
      .map((other) => ({ things, relations: put(found, i, other) })));
    things.forEach((thing, i) => {
      const free = hues.filter((hue) => !things.some(({ colour }) => colour === hue));
      const alike = forms.filter(({ size }) => size === thing.size), at = alike.findIndex(({ form }) => form === thing.form);
      const { form, size } = next(alike, alike[at], 1);
      others.push({ things: put(things, i, { ...thing, colour: free[i % free.length] }), relations: found },
        { things: put(things, i, { ...thing, form, size }), relations: found });
    });
    return others;
  }

  // A scene and others, n in all, of which no two say the same: hard ones first, then those given.
  function among(scene, given, n) {
    const found = new Map();
    for (const one of [scene, ...exchanged(scene), ...changed(scene), ...given]) {
      if (found.size < n && !found.has(content(one))) found.set(content(one), one);
    }
    return [...found.values()];
  }

  // What things that have places show: small ones first, for what is inside another has to be.
  function seen(placed) {
    const things = [...placed].sort((one, other) => one.side - other.side);
    return { things, relations: things.slice(1).map((thing, i) => relation(things[i], thing)) };
  }

  return { understand, say, relation, holds, exchanged, among, seen };
}
