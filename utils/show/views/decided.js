function draw({ methods, texts }) {
  const state = { text: 0, method: 0 };
  const line = make("ul", { class: "view-over" });
  const answer = make("p"), most = make("p"), truth = make("p");

  function show() {
    const { words, answer: said, percent, right, scores, decides } = texts[state.text];
    const shares = scores[state.method];
    line.replaceChildren(...over(words, shares));
    for (const place of decides) line.children[place].toggleAttribute("data-decides", true);

    answer.textContent = `The model answers ${quote(said)}, with ${percent}%: ` +
      (said === right ? "✓ correct." : `✗ the correct answer is ${quote(right)}.`);
    most.textContent = `By ${methods[state.method]}, ${speakers(words, shares, said)}`;
    const found = new Set(ranked(shares).slice(0, decides.length));
    const missed = decides.filter((place) => !found.has(place)).map((place) => quote(words[place]));
    truth.textContent = !decides.length ? ""
      : `▲ Deciding: ${list(decides.map((place) => quote(words[place])))}. ` +
        (missed.length ? `✗ Other words have larger numbers than ${list(missed)}.` : "✓ The largest numbers are there.");
  }

  const choices = [
    lines("Text", texts.map(({ words }) => words.join(" ")), 0, (text) => { state.text = text; show(); }),
    choice("Method", methods, 0, (method) => { state.method = method; show(); }),
  ];
  show();
  return [...choices, line, make("p", { class: "view-label" },
    "A full bar and +: the word speaks for the model's answer. A striped bar and −: against it. The largest number is 100."),
  make("div", { class: "view-answer", "aria-live": "polite" }, answer, most, truth)];
}
