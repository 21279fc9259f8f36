function draw({ network, drawings, raster, layers }) {
  const { convolution, maxPool, product, relu, softmax } = runtime();
  const matrix = (rows) => ({ rows: rows.length, columns: rows[0].flat(2).length, numbers: Float32Array.from(rows.flat(3)) });
  const layer = Object.fromEntries(Object.entries(network).map(([name, [W, b]]) => [name, { W: matrix(W), b }]));
  let strokes = [], pixels = grid(8), at = 0;

  function grid(size) {
    return Array.from({ length: size }, () => Array(size).fill(0));
  }

  // Strokes as pixels: the same numbers as `utils.data.strokes.rasterise`.
  function rasterise() {
    const { side, width, ink, pens, wider } = raster;
    const points = strokes.flat();
    const ends = [0, 1].map((i) => points.reduce(([low, high], p) => [Math.min(low, p[i]), Math.max(high, p[i])], [Infinity, -Infinity]));
    const size = ends.map(([low, high]) => Math.max(high - low, 1e-6));
    const middle = ends.map(([low, high]) => (low + high) / 2);
    let bitmap, count;
    for (const pen of pens) {
      const tall = (side - 2 * pen) / size[1], wide = (width - 2 * pen) / size[0];
      const scale = [Math.min(wide, wider * tall), Math.min(tall, wider * wide)];
      bitmap = grid(side);
      for (const stroke of strokes) {
        const line = stroke.map((p) => p.map((value, i) => (value - middle[i]) * scale[i] + side / 2));
        line.forEach(([x0, y0], k) => {
          const [x1, y1] = line[Math.min(k + 1, line.length - 1)];
          const along = x1 - x0, down = y1 - y0, length = along * along + down * down;
          for (let i = 0; i < side; i++) {
            for (let j = 0; j < side; j++) {
              const x = j + 0.5, y = i + 0.5;
              const t = length ? Math.min(Math.max(((x - x0) * along + (y - y0) * down) / length, 0), 1) : 0;
              const across = x - (x0 + t * along), below = y - (y0 + t * down);
              if (across * across + below * below <= pen * pen) bitmap[i][j] = 1;
            }
          }
        });
      }
      count = bitmap.flat().reduce((a, b) => a + b);
      if (count >= ink) break;
    }
    pixels = grid(8);
    bitmap.forEach((row, i) => row.forEach((on, j) => { pixels[i >> 2][j >> 2] += on / 16; }));
  }

  // The lesson's network: the maps that are shown, and its answer.
  const seen = (x, { W, b }) => {
    const maps = convolution(W, b, x, 3, 1);
    return { ...maps, numbers: relu(maps.numbers) };
  };

  function read(picture) {
    const x = { channels: 1, height: 8, width: 8, numbers: Float32Array.from(picture.flat()) };
    const first = seen(x, layer.first), third = seen(seen(first, layer.second), layer.third);
    const last = seen(maxPool(third, 2), layer.fourth);
    return { maps: [first, third, last], chances: [...softmax(product(layer.dense.W, last.numbers, layer.dense.b))] };
  }

  function paint(canvas, map, side, most) {
    canvas.width = canvas.height = side;
    const context = canvas.getContext("2d"), image = context.createImageData(side, side);
    map.forEach((value, i) => {
      const grey = Math.round(255 * Math.min(1, value / most));
      image.data.set([grey, grey, grey, 255], 4 * i);
    });
    context.putImageData(image, 0, 0);
  }

  const line = make("path", {});
  const pad = make("svg", { viewBox: "0 0 100 100", class: "view-pad", role: "img", "aria-label": "Draw a digit here, with mouse, pen or finger" }, line);
  const cells = pixels.flatMap((row, i) => row.map((_, j) => make("button", { type: "button", tabindex: "-1",
    onclick: () => { strokes = []; pixels[i][j] = other(pixels[i][j]); at = 8 * i + j; show(); },
    onkeydown: (event) => move(event, i, j), onfocus: () => { at = 8 * i + j; } })));
  const other = (value) => (value > 0.5 ? 0 : 1);
  const answer = make("p", { class: "view-seen" });
  const bars = make("ul", { class: "view-bars" });
  const shown = layers.map((name) => {
    const maps = Array.from({ length: 8 }, () => make("canvas", {}));
    return { maps, line: make("div", { class: "view-maps", role: "img", "aria-label": `Eight maps ${name}` }, ...maps), name };
  });

  function move(event, i, j) {
    const step = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key];
    if (!step) return;
    event.preventDefault();
    at = 8 * Math.min(7, Math.max(0, i + step[0])) + Math.min(7, Math.max(0, j + step[1]));
    cells.forEach((cell, k) => cell.setAttribute("tabindex", k === at ? "0" : "-1"));
    cells[at].focus();
  }

  function show(fooled = -1) {
    line.setAttribute("d", strokes.map((stroke) => `M${stroke.map((p) => p.join(" ")).join("L")}${stroke.length > 1 ? "" : "h0.1"}`).join(""));
    cells.forEach((cell, k) => {
      const value = pixels[k >> 3][k & 7];
      cell.style.setProperty("--full", value);
      cell.classList.toggle("view-changed", k === fooled);
      cell.setAttribute("tabindex", k === at ? "0" : "-1");
      cell.setAttribute("aria-label", `row ${(k >> 3) + 1}, column ${(k & 7) + 1}: ${Math.round(16 * value)} of 16`);
    });
    const empty = pixels.flat().every((value) => value === 0);
    const { maps, chances } = read(pixels);
    shown.forEach(({ maps: canvases }, number) => {
      const { numbers, height } = maps[number], size = height * height;
      const most = Math.max(1e-6, ...numbers.subarray(0, 8 * size));
      canvases.forEach((canvas, c) => paint(canvas, numbers.subarray(c * size, (c + 1) * size), height, most));
    });
    const ranks = ranked(chances);
    answer.textContent = empty ? "Draw a digit." : `It reads ${named(ranks[0])}.`;
    bars.replaceChildren(...(empty ? [] : ranks.slice(0, 3)).map((k) => bar(`${k}`, wholePercent(chances[k]), chances[k])));
  }

  const named = (digit) => `${digit === 8 ? "an" : "a"} ${digit}`;

  // Change the one pixel, of all 64, that costs the present answer most: one row a frame.
  async function fool() {
    if (pixels.flat().every((value) => value === 0)) return;
    const before = pixels.map((row) => [...row]), { chances } = read(before);
    const said = chances.indexOf(Math.max(...chances));
    let least = Infinity, worst = 0;
    for (let k = 0; k < 64; k++) {
      if (k % 8 === 0) await new Promise(requestAnimationFrame);
      const tried = before.map((row) => [...row]);
      tried[k >> 3][k & 7] = other(tried[k >> 3][k & 7]);
      const left = read(tried).chances[said];
      if (left < least) [least, worst] = [left, k];
    }
    if (pixels.flat().some((value, k) => value !== before[k >> 3][k & 7])) return; // somebody drew on
    strokes = [];
    pixels[worst >> 3][worst & 7] = other(pixels[worst >> 3][worst & 7]);
    at = worst;
    show(worst);
    const left = pixels.flat().some((value) => value !== 0), still = `It reads ${named(said)}.` === answer.textContent;
    answer.textContent = `With row ${(worst >> 3) + 1}, column ${(worst & 7) + 1} changed, ` +
      `${!left ? "nothing is left" : still ? `it still reads ${named(said)}` : answer.textContent.toLowerCase().slice(0, -1)}.`;
  }

  const point = (event) => {
    const { left, top, width, height } = pad.getBoundingClientRect();
    return [(event.clientX - left) / width, (event.clientY - top) / height].map((share) => Math.round(1000 * share) / 10);
  };
  let waiting = false;
  const soon = () => {
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => { waiting = false; if (strokes.length) rasterise(); show(); });
  };
  pad.addEventListener("pointerdown", (event) => {
    event.preventDefault();
    pad.setPointerCapture(event.pointerId);
    strokes.push([point(event)]);
    soon();
  });
  pad.addEventListener("pointermove", (event) => {
    if (!pad.hasPointerCapture(event.pointerId)) return;
    strokes.at(-1).push(point(event));
    soon();
  });

  function take(number) {
    strokes = drawings[number].strokes.map((stroke) => stroke.map((p) => [...p]));
    rasterise();
    show();
  }
  const clear = make("button", { type: "button", class: "view-clear", onclick: () => {
    strokes = [];
    pixels = grid(8);
    show();
  } }, "Clear");
  const trick = make("button", { type: "button", class: "view-clear", onclick: fool }, "Fool it with one pixel");
  const ready = make("div", { class: "view-ready", role: "group", "aria-label": "Take a drawing" },
    make("span", { class: "view-label" }, "or take one:"),
    ...drawings.map(({ digit }, number) => make("button", { type: "button", onclick: () => take(number) }, `${digit}`)));
  const squares = make("div", { class: "view-squares", role: "group", "aria-label": "What the network sees, pixel by pixel: arrow keys move, Enter changes" }, ...cells);
  take(0);
  return [make("div", { class: "view-drawing" },
    make("div", {}, make("p", { class: "view-label" }, "Draw a digit"), pad, clear),
    make("div", {}, make("p", { class: "view-label" }, "What the network sees"), squares, trick),
    make("div", { class: "view-answer", "aria-live": "polite" }, answer, bars)), ready,
    ...shown.flatMap(({ line, name }) => [make("p", { class: "view-label" }, `Eight maps ${name}`), line])];
}
