"""The words of `backwards`, up to twice as long: 2 to 24 letters, 12,000 of them, 20 passes.

The learning rate is to be picked on the validation words, which have 18 to 24 letters.
"""

from utils.tasks import backwards

PARAMETERS = {
    "model": ["vector of 96", "attention"],
    "words": 12_000,
    "longest": 24,
    "epochs": 20,
    "learning_rate": [3e-3, 1e-2, 3e-2],
    "seed": [0, 1],
}


def measure(
    model: str, words: int, longest: int, epochs: int, learning_rate: float, seed: int
) -> dict:
    how = {"longest": longest, "epochs": epochs, "learning_rate": learning_rate, "seed": seed}
    return backwards.measure(model, n_words=words, **how)
