"""Writing words backwards through a fixed vector, and with attention: who arrives, and when?

Words of 2 to 12 letters: few of them and few passes, or three times as many and 20 passes. The
learning rate is to be picked on the validation words, which have 9 to 12 letters.
"""

from utils.tasks import backwards

PARAMETERS = {
    "model": ["vector of 48", "vector of 96", "attention"],
    "words": [4_000, 12_000],
    "longest": 12,
    "learning_rate": [1e-3, 3e-3, 1e-2, 3e-2],
    "seed": [0, 1, 2],
}
SHORT = {}
EPOCHS = {4_000: 3, 12_000: 20}


def measure(model: str, words: int, longest: int, learning_rate: float, seed: int) -> dict:
    how = {"longest": longest, "learning_rate": learning_rate, "seed": seed}
    return backwards.measure(model, n_words=words, epochs=EPOCHS[words], **how)
