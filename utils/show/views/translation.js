function draw({ menus, sentences }) {
  const state = menus.map(() => 0);
  const english = make("p", { class: "view-seen" });
  const chinese = make("p", { class: "view-written", lang: "zh" });
  const verdict = make("p");

  const quote = (text) => `“${text.replaceAll(" ", "")}”`;
  function show() {
    const at = menus.reduce((sum, { options }, i) => sum * options.length + state[i], 0);
    const { english: asked, right, written, learned } = sentences[at];
    english.textContent = `${asked}.`;
    chinese.textContent = `${written.replaceAll(" ", "")}。`;
    verdict.textContent = (written === right ? "✓ That is correct." : `✗ The correct translation is ${quote(right)}.`) +
      (learned ? " It was in the training set." : " It was not in the training set.");
  }

  const line = make("div", { class: "view-sentence" }, ...menus.map(({ label, options }, i) => {
    const select = make("select", { "aria-label": label, onchange: () => { state[i] = select.selectedIndex; show(); } },
      ...options.map((option) => make("option", {}, option)));
    return select;
  }));
  show();
  return [line, make("div", { class: "view-answer", "aria-live": "polite" }, english, chinese, verdict)];
}
