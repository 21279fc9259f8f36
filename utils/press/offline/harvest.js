// A built page as it is taken along: an article of XML, without scripts and tools.
// root: the address of the book's folder; page: its file there; address: where it is on the web, if
// it is; stills: {view: file}.
({ root, page, address, stills }) => {
  const article = document.querySelector("article.bd-article");
  const all = (selector) => article.querySelectorAll(selector);
  const make = (tag, attributes, ...children) => {
    const node = Object.assign(document.createElement(tag), attributes);
    node.append(...children);
    return node;
  };

  for (const view of all(".book-view")) {
    const said = make("div", { innerHTML: view.dataset.still });
    if (!(view.id in stills)) { // questions
      const asked = make("div", { className: "questions" }, ...said.childNodes);
      for (const answer of asked.querySelectorAll("details p"))
        answer.textContent = answer.textContent.replace(/^(You guessed it|Correct)\. /, "");
      view.replaceWith(asked);
      continue;
    }
    const what = said.textContent.split(/: an interactive picture|\n/)[0];
    const there = address ? make("a", { href: address, textContent: address })
      : make("code", { textContent: page });
    view.replaceWith(make("figure", { className: "still" },
      make("img", { src: root + stills[view.id], alt: `${what}: a still of an interactive picture.` }),
      make("figcaption", {}, `${what}. This is a still: in the book's page it runs, at `, there, ".")));
  }
  for (const formula of all("mjx-container")) {
    const { parentNode } = formula;
    parentNode.append(formula.querySelector("math"));
    formula.querySelector("mjx-assistive-mml").remove();
    for (const { name } of [...formula.attributes])
      if (/^(tabindex|ctxtmenu)/.test(name)) formula.removeAttribute(name);
  }
  const tools = "script, style, link, button, input, .headerlink, .enlarge, .ways-in"
    + ", [data-for=dark], .arc-tall"; // of a picture drawn twice, the other
  for (const tool of all(tools)) tool.remove();
  for (const image of all("img")) {
    image.setAttribute("src", image.src.slice(root.length));
    for (const name of ["loading", "data-for"]) image.removeAttribute(name);
  }
  for (const link of all("a[href]"))
    if (link.href.startsWith(root)) link.setAttribute("href", link.href.slice(root.length));
  const han = "[\\u3000-\\u9fff\\uff00-\\uffef]+";
  const texts = document.createTreeWalker(article, NodeFilter.SHOW_TEXT);
  const chinese = []; // for its font, and for who hears it
  while (texts.nextNode())
    if (!texts.currentNode.parentNode.closest("math, mjx-container"))
      if (texts.currentNode.data.match(han)) chinese.push(texts.currentNode);
  for (const text of chinese)
    text.replaceWith(...text.data.split(new RegExp(`(${han})`)).map((part, index) =>
      index % 2 ? make("span", { lang: "zh", textContent: part }) : part));
  const seen = new Set();
  for (const node of all("[id]")) {
    if (seen.has(node.id)) node.removeAttribute("id");
    seen.add(node.id);
  }
  const typeset = document.querySelector("#MJX-CHTML-styles");
  return {
    article: new XMLSerializer().serializeToString(article),
    styles: typeset ? [...typeset.sheet.cssRules].map((rule) => rule.cssText) : [],
  };
}
