"""What keeps a codebook alive? Five codebooks, after 600 steps.

"learned": by the loss alone; "restarted": also put anew where nothing chose a code; "averaged
alone": moving averages of the vectors that chose it; "averaged": those with restarts; "Gumbel":
drawn from probabilities.
"in use" is the perplexity of the codes of new scenes; "read": the share of those that the parser
still reads. All have the same rate, at which "restarted" was tried.
"""

from utils.data.scenes import scenes
from utils.tasks.scenes_in_codes import CODEBOOKS, RATE, K, autoencoder, kept, train_autoencoder

PARAMETERS = {
    "kind": list(CODEBOOKS),
    "n_codes": [K],
    "seed": [0, 1, 2],
    "steps": 600,
    "rate": RATE,
}
SHORT = {"kind": ["averaged"], "seed": [0], "steps": 2, "N": 6, "POOL": 20}
N, POOL = 300, 20_000  # pictures for each share, and scenes to learn from


def measure(kind: str, n_codes: int, seed: int, steps: int, rate: float) -> dict:
    model = autoencoder(kind, seed, n_codes)
    train_autoencoder(model, kind, steps=steps, rate=rate, pool=scenes(POOL, 0), seed=seed)
    found = kept(model, scenes(N, 2, part="test"))
    return {"in use": found.in_use, "read": found.read, "error": found.error}
