function make(tag, attributes = {}, ...children) {
  const node = ["svg", "path"].includes(tag)
    ? document.createElementNS("http://www.w3.org/2000/svg", tag)
    : document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else node.setAttribute(name, value);
  }
  // Else JupyterLab takes the arrow keys; it asks the element that has the focus, not its parents.
  if (["button", "input", "select"].includes(tag)) node.dataset.lmSuppressShortcuts = "true";
  node.append(...children);
  return node;
}

// A radio with its text; input and label: their attributes.
function radio(text, { checked, ...input }, label = {}) {
  const button = make("input", { type: "radio", ...input });
  button.checked = checked;
  return make("label", label, button, make("span", {}, text));
}

function choice(label, options, chosen, choose) {
  const radios = options.map((text, index) =>
    radio(text, { name: label, onchange: () => choose(index), checked: index === chosen }));
  const name = make("span", { class: "view-label", "aria-hidden": "true" }, label);
  return make("div", { class: "view-choice", role: "radiogroup", "aria-label": label }, name,
    make("div", {}, ...radios));
}

// A choice of whole texts, each on a line of its own.
function lines(...given) {
  const made = choice(...given);
  made.classList.add("view-lines");
  return made;
}

function bar(name, number, share) {
  const row = make("li", {}, make("span", {}, name), make("span", {}, number));
  row.style.setProperty("--weight", wholePercent(share));
  return row;
}

// A slider between its name and its value; change gets each new one.
function slider(name, { value, ...range }, change) {
  const output = make("output", {}, value.toFixed(2));
  const input = make("input", { type: "range", ...range, value, oninput: () => {
    output.textContent = Number(input.value).toFixed(2);
    change(Number(input.value));
  } });
  return make("label", { class: "view-field view-slider" }, name, input, output);
}

const quote = (text) => `“${text}”`;
const list = (parts) => [parts.slice(0, -1).join(", "), ...parts.slice(-1)].filter((part) => part).join(" and ");
const count = (number) => number.toLocaleString("en");
const wholePercent = (share) => `${Math.round(100 * share)}%`;
const percent = (share) => (share >= 0.0995 || share === 0 ? wholePercent(share)
  : share >= 0.0005 ? `${(100 * share).toFixed(1)}%` : "< 0.1%");
const score = (number, digits = 2) => number.toFixed(digits).replace("-", "−");

// The places of some numbers, that of the largest first; of equal ones the lower place.
const ranked = (numbers) => [...numbers.keys()].sort((one, other) => numbers[other] - numbers[one]);

const dot = (a, b) => a.reduce((sum, x, i) => sum + x * b[i], 0);
const times = (W, x) => W.map((row) => dot(row, x));

function softmax(scores) {
  const most = Math.max(...scores);
  const parts = scores.map((score) => Math.exp(score - most));
  const sum = parts.reduce((a, b) => a + b);
  return parts.map((part) => part / sum);
}

function start(id, draw) {
  for (const root of document.querySelectorAll(`[id="${id}"]:not([data-alive])`)) {
    const data = JSON.parse(root.querySelector("script").textContent);
    const form = make("form", { onsubmit: (event) => event.preventDefault() }, ...draw(data));
    root.querySelector(".view-still").replaceWith(form);
    root.dataset.alive = "";
  }
}
