/* Paper is white: a page that is dark on the screen is light while it is printed. */
window.addEventListener("beforeprint", () => {
  const { dataset } = document.documentElement;
  const { theme } = dataset;
  dataset.theme = "light";
  for (const image of document.images) image.loading = "eager";
  window.addEventListener("afterprint", () => { dataset.theme = theme; }, { once: true });
});
