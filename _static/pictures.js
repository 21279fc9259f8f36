/* A picture of the page is shown as large as the window has room for, and on a phone larger. */
document.addEventListener("DOMContentLoaded", () => {
  const pictures = document.querySelectorAll("article :is(figure, .cell_output) img");
  if (!pictures.length || !window.HTMLDialogElement) return;
  const make = (tag, properties) => Object.assign(document.createElement(tag), properties);
  const large = make("img", {});
  const close = make("button", { type: "button", textContent: "×" });
  close.setAttribute("aria-label", "Close");
  const dialog = make("dialog", { className: "picture" });
  dialog.setAttribute("aria-label", "Figure");
  dialog.append(large, close);
  dialog.addEventListener("click", () => dialog.close());
  document.body.append(dialog);

  const enlarge = (box) => {
    const image = [...box.querySelectorAll("img")].find((one) => one.checkVisibility());
    const [width, height] = ["width", "height"].map((side) => Number(image.getAttribute(side)));
    Object.assign(large, { src: image.src, alt: image.alt });
    large.style.setProperty("--shape", width / height || 1);
    large.style.setProperty("--wide", `${1.6 * width}px`);
    dialog.showModal();
  };
  const boxes = new Set([...pictures].map((image) => image.closest(".drawing") ?? image));
  for (const box of boxes) {
    if (box.closest("a, .book-view")) continue;
    const around = make("span", { className: "enlarged" });
    const button = make("button", { type: "button", className: "enlarge", textContent: "⤢" });
    button.setAttribute("aria-label", "Enlarge the figure");
    box.replaceWith(around);
    around.append(box, button);
    box.addEventListener("click", () => enlarge(around));
    button.addEventListener("click", () => enlarge(around));
  }
});
