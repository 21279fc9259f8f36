/* Paper is white: a page that is dark on the screen turns light while it is printed. */
let theme = null;
window.addEventListener("beforeprint", () => {
  const page = document.documentElement;
  theme = page.dataset.theme;
  page.dataset.theme = "light";
  for (const image of document.images) image.loading = "eager";
});
window.addEventListener("afterprint", () => {
  document.documentElement.dataset.theme = theme;
});
