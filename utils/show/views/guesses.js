// The likeliest words with their bars; the one that stood there has a tick.
function guessed(best, right) {
  return best.map(([word, share]) => bar(word === right ? `✓ ${word}` : word, percent(share), share));
}
