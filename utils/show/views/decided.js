function draw({ methods, texts }) {
  const state = { text: 0, method: 0 };
  const line = make("ul", { class: "view-decided" });
  const answer = make("p"), most = make("p"), truth = make("p");

  const quote = (word) => `“${word}”`;
  const list = (parts) => parts.join(", ").replace(/, ([^,]*)$/, " and $1");
  const signed = (share) => (share > 0 ? `+${share}` : share < 0 ? `−${-share}` : "0");

  function show() {
    const { words, answer: said, percent, right, scores, decides } = texts[state.text];
    const shares = scores[state.method];
    line.replaceChildren(...words.map((word, place) => {
      const row = make("li", { "data-sign": shares[place] < 0 ? "against" : "for" },
        make("span", {}, word), make("span", {}, signed(shares[place])));
      row.style.setProperty("--share", Math.abs(shares[place]) / 100);
      row.toggleAttribute("data-decides", decides.includes(place));
      return row;
    }));

    answer.textContent = `The model says ${quote(said)}, ${percent} %: ` +
      (said === right ? "✓ right." : `✗ right is ${quote(right)}.`);
    const ranked = words.map((_, place) => place).sort((one, other) => shares[other] - shares[one]);
    const told = (places) => list(places.map((place) => `${quote(words[place])} (${signed(shares[place])})`));
    const forIt = ranked.filter((place) => shares[place] > 0).slice(0, 3);
    const against = ranked.filter((place) => shares[place] < 0).slice(-2).reverse();
    const speak = (places) => `${told(places)} ${places.length > 1 ? "speak" : "speaks"}`;
    most.textContent = `${methods[state.method]}: ` +
      (forIt.length ? `${speak(forIt)} most for ${quote(said)}; ` : `nothing speaks for ${quote(said)}; `) +
      (against.length ? `${speak(against)} against it.` : "nothing speaks against it.");
    const found = new Set(ranked.slice(0, decides.length));
    const missed = decides.filter((place) => !found.has(place)).map((place) => quote(words[place]));
    truth.textContent = !decides.length ? ""
      : `▲ What decides is ${list(decides.map((place) => quote(words[place])))}: ` +
        (missed.length ? `✗ other words have larger numbers than ${list(missed)}.` : "✓ the largest numbers are there.");
  }

  const choices = [
    choice("Text", texts.map(({ words }) => words.join(" ")), 0, (text) => { state.text = text; show(); }),
    choice("Method", methods, 0, (method) => { state.method = method; show(); }),
  ];
  choices[0].classList.add("view-lines");
  show();
  return [...choices, line, make("p", { class: "view-label" },
    "A full bar and +: the word speaks for the model's answer. A striped bar and −: against it. The largest number is 100."),
  make("div", { class: "view-answer", "aria-live": "polite" }, answer, most, truth)];
}
