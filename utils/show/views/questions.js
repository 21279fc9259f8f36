function draw({ title, questions, reveal }) {
  const steps = questions.map((_, place) =>
    make("button", { type: "button", onclick: () => turnTo(place) }, `${place + 1}`));
  const panels = questions.map(({ question, options, right, answers }, place) => {
    const answer = make("p", { class: "view-answer", "aria-live": "polite" });
    const buttons = options.map((option, index) =>
      make("button", { type: "button", "aria-pressed": "false", onclick: () => choose(index) },
        make("span", { class: "view-mark", "aria-hidden": "true" }, "ABCDEF"[index]),
        make("span", {}, option)));
    const choose = (chosen) => {
      buttons.forEach((button, index) => {
        const judged = index === chosen || (reveal && index === right);
        const mark = judged ? (index === right ? "right" : "wrong") : "open";
        button.setAttribute("aria-pressed", index === chosen);
        button.dataset.mark = mark;
        button.firstChild.textContent = { right: "✓", wrong: "✗", open: "ABCDEF"[index] }[mark];
      });
      answer.textContent = answers[chosen];
      steps[place].dataset.mark = chosen === right ? "right" : "wrong";
      name();
    };
    const parts = [make("p", { class: "view-asked" }, question),
      make("div", { class: "view-options" }, ...buttons), answer];
    if (place + 1 < questions.length) {
      const next = { type: "button", class: "view-next", onclick: () => turnTo(place + 1, true) };
      parts.push(make("button", next, "Next question"));
    }
    const group = { class: "view-question", role: "group", "aria-label": question, tabindex: -1 };
    return make("div", group, ...parts);
  });

  let shown = 0;
  const name = () => steps.forEach((step, place) => {
    const said = { right: ", answered: correct", wrong: ", answered: not correct yet" };
    step.setAttribute("aria-label", `Question ${place + 1}${said[step.dataset.mark] ?? ""}`);
    step.setAttribute("aria-current", place === shown ? "step" : "false");
  });
  const turnTo = (place, focus = false) => {
    shown = place;
    panels.forEach((panel, index) => { panel.hidden = index !== place; });
    name();
    if (focus) panels[place].focus();
  };
  turnTo(0);

  const head = make("div", { class: "view-head" }, make("span", { class: "view-label" }, title));
  if (questions.length > 1) {
    head.append(make("div", { class: "view-steps", role: "group", "aria-label": title }, ...steps));
  }
  return [head, ...panels];
}
