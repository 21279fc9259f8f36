// Laws of growth (`utils.scaling`): a law is [E, A, B, α, β], and C = 6 · N · D operations.
const lossOf = ([E, A, B, alpha, beta], N, D) => E + A * N ** -alpha + B * D ** -beta;

// The weights for which the loss is lowest (Hoffmann et al., 2022, eq. 4).
function bestWeights([, A, B, alpha, beta], C) {
  const G = (alpha * A / (beta * B)) ** (1 / (alpha + beta));
  return G * (C / 6) ** (beta / (alpha + beta));
}

// The middle of what some laws predict, as `numpy.quantile` has its ends.
function middleOf(values, share) {
  const sorted = [...values].sort((a, b) => a - b);
  return [(1 - share) / 2, (1 + share) / 2].map((q) => {
    const at = q * (sorted.length - 1), i = Math.floor(at);
    return sorted[i] + (at - i) * ((sorted[i + 1] ?? sorted[i]) - sorted[i]);
  });
}

// What money buys: operations, and so many GPUs that run all the time.
function bought({ money, price, days }, throughput, utilisation) {
  const hours = money / price;
  return { hours, gpus: hours / (24 * days), operations: hours * 3600 * throughput * utilisation };
}
