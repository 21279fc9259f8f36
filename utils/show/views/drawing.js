function draw({ network, drawings, raster, layers }) {
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

  // The lesson's network. Maps are lists of rows of numbers.
  function conv(maps, [w, b]) {
    const size = maps[0].length;
    return w.map((kernel, o) => {
      const y = Array.from({ length: size }, () => Array(size).fill(b[o]));
      kernel.forEach((channel, c) => channel.forEach((row, u) => row.forEach((weight, v) => {
        for (let i = Math.max(0, 1 - u); i < Math.min(size, size + 1 - u); i++) {
          for (let j = Math.max(0, 1 - v); j < Math.min(size, size + 1 - v); j++) y[i][j] += weight * maps[c][i + u - 1][j + v - 1];
        }
      })));
      return y;
    });
  }

  const each = (maps, change) => maps.map((map, c) => map.map((row, i) => row.map((value, j) => change(value, c, i, j))));
  const relu = (maps) => each(maps, (value) => Math.max(value, 0));

  function pool(maps) {
    const half = [...Array(maps[0].length / 2).keys()];
    return maps.map((map) => half.map((i) => half.map((j) =>
      Math.max(map[2 * i][2 * j], map[2 * i][2 * j + 1], map[2 * i + 1][2 * j], map[2 * i + 1][2 * j + 1]))));
  }

  function read() {
    const first = relu(conv([pixels], network.first));
    const found = conv(relu(conv(first, network.second)), network.third);
    const block = relu(each(first, (value, c, i, j) => value + found[c][i][j]));
    const last = relu(conv(pool(block), network.fourth));
    const scores = times(network.dense[0], last.flat(2)).map((score, k) => score + network.dense[1][k]);
    return { maps: [first, block, last], chances: softmax(scores) };
  }

  function paint(canvas, map, most) {
    canvas.width = canvas.height = map.length;
    const context = canvas.getContext("2d"), image = context.createImageData(map.length, map.length);
    map.flat().forEach((value, i) => {
      const grey = Math.round(255 * Math.min(1, value / most));
      image.data.set([grey, grey, grey, 255], 4 * i);
    });
    context.putImageData(image, 0, 0);
  }

  const line = make("path", {});
  const pad = make("svg", { viewBox: "0 0 100 100", class: "view-pad", role: "img", "aria-label": "Draw a digit here, with mouse, pen or finger" }, line);
  const cells = pixels.flatMap((row, i) => row.map((_, j) => make("button", { type: "button", tabindex: "-1",
    onclick: () => { strokes = []; pixels[i][j] = pixels[i][j] > 0.5 ? 0 : 1; at = 8 * i + j; show(); },
    onkeydown: (event) => move(event, i, j), onfocus: () => { at = 8 * i + j; } })));
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

  function show() {
    line.setAttribute("d", strokes.map((stroke) => `M${stroke.map((p) => p.join(" ")).join("L")}${stroke.length > 1 ? "" : "h0.1"}`).join(""));
    cells.forEach((cell, k) => {
      const value = pixels[k >> 3][k & 7];
      cell.style.setProperty("--full", value);
      cell.setAttribute("tabindex", k === at ? "0" : "-1");
      cell.setAttribute("aria-label", `row ${(k >> 3) + 1}, column ${(k & 7) + 1}: ${Math.round(16 * value)} of 16`);
    });
    const empty = pixels.flat().every((value) => value === 0);
    const { maps, chances } = read();
    shown.forEach(({ maps: canvases }, layer) => {
      const most = Math.max(1e-6, ...maps[layer].slice(0, 8).flat(2));
      canvases.forEach((canvas, c) => paint(canvas, maps[layer][c], most));
    });
    const ranks = chances.map((_, k) => k).sort((a, b) => chances[b] - chances[a]);
    answer.textContent = empty ? "Draw a digit." : `It reads a ${ranks[0]}.`;
    bars.replaceChildren(...(empty ? [] : ranks.slice(0, 3)).map((k) => bar(`${k}`, `${Math.round(100 * chances[k])}%`, chances[k])));
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
  const ready = make("div", { class: "view-ready", role: "group", "aria-label": "Take a drawing" },
    make("span", { class: "view-label" }, "or take one:"),
    ...drawings.map(({ digit }, number) => make("button", { type: "button", onclick: () => take(number) }, `${digit}`)));
  const squares = make("div", { class: "view-squares", role: "group", "aria-label": "What the network sees, pixel by pixel: arrow keys move, Enter changes" }, ...cells);
  take(0);
  return [make("div", { class: "view-drawing" },
    make("div", {}, make("p", { class: "view-label" }, "Draw a digit"), pad, clear),
    make("div", {}, make("p", { class: "view-label" }, "What the network sees"), squares),
    make("div", { class: "view-answer", "aria-live": "polite" }, answer, bars)), ready,
    ...shown.flatMap(({ line, name }) => [make("p", { class: "view-label" }, `Eight maps ${name}`), line])];
}
