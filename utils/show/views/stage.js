// A small canvas on which coloured things lie: dragged there from a tray, or moved by arrow keys.
// forms: {form, size, inks}; an ink is a square of letters, "0" for none up to "g" for all of it.
function stage({ side, forms, colours }, changed) {
  const hues = Object.keys(colours), most = 3; // things, as in training
  const inks = forms.map((one) => one.inks.map((ink) => Float32Array.from(ink, (letter) => parseInt(letter, 17) / 16)));
  const wide = ({ kind }) => Math.sqrt(inks[kind][0].length);
  const things = []; // {kind, hand, colour, x, y, button}: x and y of the corner, in pixels
  let colour = hues[0], chosen = null;

  // The pixels of things, (3 · side · side), as `utils.data.scenes` draws them: large ones first.
  function pixels(shown = things) {
    const picture = new Float32Array(3 * side * side);
    for (const thing of [...shown].sort((one, other) => wide(other) - wide(one))) {
      const size = wide(thing);
      inks[thing.kind][thing.hand].forEach((full, i) => {
        const at = (thing.y + Math.floor(i / size)) * side + thing.x + i % size;
        if (full) colours[thing.colour].forEach((part, c) => { picture[c * side * side + at] = part * full; });
      });
    }
    return picture;
  }

  const called = ({ form, size }) => (size ? `${size} ${form}` : form);
  const named = (thing) => `${thing.colour} ${called(forms[thing.kind])}`;
  const within = (value, thing) => Math.min(side - wide(thing), Math.max(0, Math.round(value)));
  const apart = (one, other) => one.x + wide(one) < other.x || other.x + wide(other) < one.x ||
    one.y + wide(one) < other.y || other.y + wide(other) < one.y;

  function show() {
    paint(canvas, pixels(), side);
    for (const thing of things) {
      const part = (value) => `${100 * value / side}%`, { button } = thing;
      Object.assign(button.style, { left: part(thing.x), top: part(thing.y), width: part(wide(thing)), height: part(wide(thing)) });
      button.setAttribute("aria-label", `${named(thing)}, column ${thing.x + 1}, row ${thing.y + 1}`);
      button.setAttribute("aria-pressed", thing === chosen);
    }
    if (chosen) {
      colour = chosen.colour;
      paints.querySelectorAll("input")[hues.indexOf(colour)].checked = true;
    }
    for (const offer of offers) offer.paint();
    told.textContent = chosen ? `${named(chosen)}: column ${chosen.x + 1}, row ${chosen.y + 1}. Arrow keys move it, Delete removes it.`
      : things.length ? "Drag a thing, or choose it and press the arrow keys." : "The canvas is empty: take something from the tray.";
    another.disabled = !chosen || inks[chosen.kind].length < 2;
    remove.disabled = !chosen;
    for (const button of tray.children) button.setAttribute("aria-disabled", things.length >= most); // a disabled one could not be dragged
    changed();
  }

  function move(thing, x, y) {
    const before = [thing.x, thing.y];
    Object.assign(thing, { x: within(x, thing), y: within(y, thing) });
    if (thing.x !== before[0] || thing.y !== before[1] || thing !== chosen) {
      chosen = thing;
      show();
    }
  }

  const point = (event) => {
    const { left, top, width } = pad.getBoundingClientRect();
    return [event.clientX - left, event.clientY - top].map((value) => value / width * side);
  };

  function add(thing) {
    let from;
    const button = make("button", { type: "button",
      onpointerdown: (event) => {
        const [x, y] = point(event);
        from = [x - thing.x, y - thing.y];
        button.setPointerCapture(event.pointerId);
      },
      onpointermove: (event) => {
        if (!button.hasPointerCapture(event.pointerId)) return;
        const [x, y] = point(event);
        move(thing, x - from[0], y - from[1]);
      },
      onfocus: () => { if (thing !== chosen) { chosen = thing; show(); } },
      onkeydown: (event) => {
        const step = { ArrowUp: [0, -1], ArrowDown: [0, 1], ArrowLeft: [-1, 0], ArrowRight: [1, 0] }[event.key];
        if (step) move(thing, thing.x + step[0], thing.y + step[1]);
        else if (["Delete", "Backspace"].includes(event.key)) take(thing);
        else return;
        event.preventDefault();
      },
      onclick: () => button.focus() });
    Object.assign(thing, { button });
    things.push(thing);
    pad.append(button);
    chosen = thing;
    return thing;
  }

  function take(thing) {
    thing.button.remove();
    things.splice(things.indexOf(thing), 1);
    chosen = null;
    show();
    (things.at(-1)?.button ?? tray.firstChild).focus();
  }

  // The first place, from the middle row outwards, where a new thing touches none.
  function free(thing) {
    const n = side - wide(thing) + 1, middle = Math.floor(n / 2);
    const rows = [...Array(n).keys()].sort((a, b) => Math.abs(a - middle) - Math.abs(b - middle));
    for (const y of rows) {
      for (let x = 0; x < n; x++) if (things.every((other) => apart(other, { ...thing, x, y }))) return { x, y };
    }
    return { x: middle, y: middle };
  }

  // A thing of the tray: pressed, it comes to a free place; dragged, it comes along.
  function offered(kind) {
    const picture = make("canvas", {});
    let held = null, dragged = false;
    const made = () => ({ kind, hand: Math.floor(Math.random() * inks[kind].length), colour, x: 0, y: 0 });
    const button = make("button", { type: "button", "aria-label": called(forms[kind]),
      onpointerdown: (event) => {
        [held, dragged] = [null, false];
        button.setPointerCapture(event.pointerId);
      },
      onpointermove: (event) => {
        if (!button.hasPointerCapture(event.pointerId)) return;
        const [x, y] = point(event);
        if (!held && (things.length >= most || x < 0 || y < 0 || x > side || y > side)) return;
        held ??= add(made());
        dragged = true;
        move(held, x - wide(held) / 2, y - wide(held) / 2);
      },
      onclick: () => {
        if (dragged || things.length >= most) return;
        const thing = made();
        add(Object.assign(thing, free(thing)));
        show();
        thing.button.focus();
      } }, picture);
    return { button, paint: () => {
      const size = wide({ kind }), ink = inks[kind][0];
      paint(picture, colours[colour].flatMap((part) => [...ink].map((full) => part * full)), size);
    } };
  }

  const canvas = make("canvas", { "aria-hidden": "true" });
  const pad = make("div", { class: "view-stage", role: "group", "aria-label": "Canvas: drag a thing, or move it with the arrow keys" }, canvas);
  const offers = forms.map((_, kind) => offered(kind));
  const tray = make("div", { class: "view-tray", role: "group", "aria-label": "Add a thing" }, ...offers.map(({ button }) => button));
  const told = make("p", { class: "view-label", role: "status" });
  const another = make("button", { type: "button", onclick: () => {
    chosen.hand = (chosen.hand + 1) % inks[chosen.kind].length;
    show();
  } }, "Another handwriting");
  const remove = make("button", { type: "button", onclick: () => take(chosen) }, "Remove");
  const paints = choice("Colour", hues, 0, (place) => {
    colour = hues[place];
    if (chosen) chosen.colour = colour;
    show();
  });

  return { things, pixels, pad, nodes: [paints, tray, pad, told, make("div", { class: "view-moves-back" }, another, remove)],
    set(given) {
      for (const { button } of things.splice(0)) button.remove();
      for (const { form, size, ...thing } of given) add({ ...thing, kind: forms.findIndex((one) => one.form === form && one.size === size) });
      chosen = null;
      show();
    } };
}
