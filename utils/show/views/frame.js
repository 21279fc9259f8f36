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

function choice(label, options, chosen, choose) {
  const radios = options.map((text, index) => {
    const radio = make("input", { type: "radio", name: label, onchange: () => choose(index) });
    radio.checked = index === chosen;
    return make("label", {}, radio, make("span", {}, text));
  });
  const name = make("span", { class: "view-label", "aria-hidden": "true" }, label);
  return make("div", { class: "view-choice", role: "radiogroup", "aria-label": label }, name,
    make("div", {}, ...radios));
}

function bar(name, number, share) {
  const row = make("li", {}, make("span", {}, name), make("span", {}, number));
  row.style.setProperty("--weight", `${Math.round(100 * share)}%`);
  return row;
}

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
