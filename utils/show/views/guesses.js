const percent = (share) => (share >= 0.0995 ? `${Math.round(100 * share)}%`
  : share >= 0.0005 ? `${(100 * share).toFixed(1)}%` : "< 0.1%");

// The likeliest words with their bars; the one that stood there has a tick.
function guessed(best, right) {
  return best.map(([word, share]) => bar(word === right ? `✓ ${word}` : word, percent(share), share));
}
