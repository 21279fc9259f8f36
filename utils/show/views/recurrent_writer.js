// An LSTM (`utils.recurrent.LanguageModel`) that goes on with letters.
function remembering({ decode, part, product, row, softmax, lstm, written }, model) {
  const weights = decode(model), { characters } = model;
  const table = weights["embedding.weight"], layer = part(weights, "layer.");
  const special = table.rows - characters.length; // symbols that are no letters come first, and are never written
  const nothing = { h: new Float32Array(layer.W_h.columns), c: new Float32Array(layer.W_h.columns) };
  const forgets = { // before which letters the state is emptied
    never: () => false,
    "after each word": (letter) => /\s/.test(letter),
    "after each letter": () => true,
  };
  let rule, steps = []; // of the letters read so far: each one, its probability, the state after it

  const logitsOf = ({ h }) => product(weights["output.weight"], h, weights["output.bias"]).subarray(special);

  // All letters so far: the logits of what follows, and the probability that each letter had.
  function reads(all, { forget }) {
    let same = 0;
    while (rule === forget && same < Math.min(steps.length, all.length) && steps[same].letter === all[same]) same++;
    rule = forget;
    steps.length = same;
    for (const letter of all.slice(same)) {
      const { state, logits } = steps.at(-1) ?? { state: nothing };
      const held = forgets[rule](characters[letter]) ? nothing : state;
      const next = lstm(layer, row(table, special + letter), held);
      steps.push({ letter, share: logits ? softmax(logits)[letter] : 1, state: next, logits: logitsOf(next) });
    }
    return { logits: steps.at(-1).logits, had: steps.map(({ share }) => share) };
  }

  return (input) => written(reads, characters, input);
}

function draw(data) {
  const rules = ["never", "after each word", "after each letter"], settings = { forget: rules[0] };
  const MOST = Math.log(1000); // a letter of a thousandth is shaded in full

  return writes(data, remembering, ({ change }) => ({
    settings,
    label: "Shaded: letters that it did not expect",
    shares: ({ had }) => had.map((share) => Math.min(1, -Math.log(share) / MOST)),

    told({ had }, text, begun) {
      const ofBeginning = had.slice(1, begun.length);
      if (!ofBeginning.length) return "";
      const least = Math.min(...ofBeginning), at = had.indexOf(least, 1);
      const unsure = Math.exp(-ofBeginning.reduce((sum, share) => sum + Math.log(share), 0) / ofBeginning.length);
      return `Your beginning has a perplexity of ${unsure.toFixed(1)} for it. It expected “${spelt(text[at])}” ` +
        `after “${begun.slice(Math.max(0, at - 8), at).replace(/\s+/g, " ")}” least, with ${percent(least)}.`;
    },

    controls: () => [choice("Empty its state", rules, 0, (index) => { settings.forget = rules[index]; change(); })],
  }));
}
