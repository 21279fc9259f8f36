function draw({ photo, kernels, place }) {
  const H = photo.length, W = photo[0].length;
  let kernel = kernels[0].weights.map((row) => [...row]), [row, column] = place;

  const answerAt = (i, j) => kernel.reduce((sum, weights, u) =>
    sum + weights.reduce((part, weight, v) => part + weight * photo[i + u][j + v] / 100, 0), 0);

  function paint(canvas, height, width, shade) {
    canvas.width = width;
    canvas.height = height;
    const context = canvas.getContext("2d"), image = context.createImageData(width, height);
    for (let i = 0; i < height; i++) {
      for (let j = 0; j < width; j++) image.data.set([...shade(i, j), 255], 4 * (i * width + j));
    }
    context.putImageData(image, 0, 0);
    return context;
  }

  // Purple is yes, orange is no, white is 0.
  function signed(value) {
    const share = Math.min(1, Math.abs(value)), end = value > 0 ? [84, 39, 136] : [179, 88, 6];
    return end.map((full) => Math.round(255 + share * (full - 255)));
  }

  const source = make("canvas", { role: "img", "aria-label": "The photograph, with the window framed" });
  const map = make("canvas", { role: "img", "aria-label": "The map of the kernel's answers: purple where positive, orange where negative" });
  const told = make("p", { class: "view-seen" });
  const sum = make("p");
  const fields = kernel.map((weights, u) => weights.map((_, v) => make("input", { type: "number", step: "any",
    "aria-label": `weight in row ${u + 1}, column ${v + 1}`,
    oninput: (event) => { kernel[u][v] = Number(event.target.value) || 0; show(true); } })));

  function show(all) {
    const frame = paint(source, H, W, (i, j) => Array(3).fill(Math.round(2.55 * photo[i][j])));
    frame.strokeStyle = "#ff8c1a";
    frame.lineWidth = 1;
    frame.strokeRect(column - 0.5, row - 0.5, 4, 4);
    if (all) paint(map, H - 2, W - 2, (i, j) => signed(answerAt(i, j)));
    const terms = kernel.flatMap((weights, u) => weights.map((weight, v) => [weight, photo[row + u][column + v] / 100]))
      .filter(([weight]) => weight);
    told.textContent = `At row ${row}, column ${column} the answer is ${answerAt(row, column).toFixed(2)}.`;
    sum.textContent = terms.map(([weight, pixel]) => `${+weight.toFixed(2)}·${pixel.toFixed(2)}`).join(" + ").replaceAll("+ -", "− ") || "No weight, no answer.";
  }

  const fill = () => fields.forEach((line, u) => line.forEach((field, v) => { field.value = +kernel[u][v].toFixed(2); }));
  const slider = (name, most, value, change) => {
    const range = make("input", { type: "range", min: "0", max: `${most}`, value: `${value}`, "aria-label": name,
      oninput: () => { change(Number(range.value)); show(false); } });
    return range;
  };
  const rows = slider("row", H - 3, row, (value) => { row = value; });
  const columns = slider("column", W - 3, column, (value) => { column = value; });
  const follow = (event) => {
    const { left, top, width, height } = source.getBoundingClientRect();
    const inside = (share, most) => Math.max(0, Math.min(most, Math.floor(share) - 1));
    row = inside(H * (event.clientY - top) / height, H - 3);
    column = inside(W * (event.clientX - left) / width, W - 3);
    rows.value = row;
    columns.value = column;
    show(false);
  };
  for (const kind of ["pointerdown", "pointermove"]) source.addEventListener(kind, follow);

  fill();
  show(true);
  return [choice("Kernel", kernels.map(({ name }) => name), 0, (chosen) => {
    kernel = kernels[chosen].weights.map((weights) => [...weights]);
    fill();
    show(true);
  }),
  make("div", { class: "view-sliding" }, source, map),
  make("div", { class: "view-sliding" },
    make("div", { class: "view-kernel", role: "group", "aria-label": "The kernel's weights" }, ...fields.flat()),
    make("div", {}, make("label", { class: "view-field" }, "row ", rows), make("label", { class: "view-field" }, "column ", columns))),
  make("div", { class: "view-answer", "aria-live": "polite" }, told, sum)];
}
