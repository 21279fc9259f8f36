// Words side by side, each over its share: per cent of the largest, with its sign.
const signed = (share) => (share > 0 ? `+${share}` : share < 0 ? `−${-share}` : "0");

function over(words, shares) {
  return words.map((word, place) => {
    const row = make("li", { "data-sign": shares[place] < 0 ? "against" : "for" },
      make("span", {}, word), make("span", {}, signed(shares[place])));
    row.style.setProperty("--share", Math.abs(shares[place]) / 100);
    return row;
  });
}

function speakers(words, shares, answer) {
  const speak = (places) => `${list(places.map((place) => `${quote(words[place])} (${signed(shares[place])})`))} ` +
    (places.length > 1 ? "speak" : "speaks");
  const places = ranked(shares);
  const forIt = places.filter((place) => shares[place] > 0).slice(0, 3);
  const against = places.filter((place) => shares[place] < 0).slice(-2).reverse();
  return (forIt.length ? `${speak(forIt)} most for ${quote(answer)}; ` : `nothing speaks for ${quote(answer)}; `) +
    (against.length ? `${speak(against)} against it.` : "nothing speaks against it.");
}
