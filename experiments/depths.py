"""Does depth buy composition? A ball under five cups, followed by Transformers of 1 to 8 blocks.

Each symbol exchanges two cups. A Transformer with 1, 2, 4 or 8 blocks, or an RNN or LSTM of one
layer, reads words of 1 to 20 symbols and says after each where the ball is. Positions are
sinusoidal: in trials of 300 steps, with 2 and 4 blocks, their loss was lower than that of rotary
ones and of ALiBi. All have the same recipe and the same three rates, of which one is chosen by
"chosen by", the share of all answers to other words of 1 to 20 symbols. "last" is the share of 500
new words of each length whose last answer is correct; by chance it is 0.2 for long words.
"""

from utils.data.formal import LANGUAGES
from utils.tasks.formal_languages import (
    CHOOSING,
    LONGEST,
    RATES,
    network,
    of_depth,
    shares_correct,
    train_network,
)

BLOCKS = {"8 blocks": 8, "4 blocks": 4, "2 blocks": 2, "1 block": 1}  # the longest first
PARAMETERS = {
    "kind": [*BLOCKS, "RNN", "LSTM"],
    "rate": list(RATES),
    "seed": [0, 1],
    "steps": 1000,
}
SHORT = {
    "kind": ["2 blocks", "RNN"],
    "rate": [1e-2],
    "seed": [0],
    "steps": 6,
    "LENGTHS": [1, 5, 20],
}
LENGTHS = [*range(1, LONGEST + 1), 2 * LONGEST]


def measure(kind: str, rate: float, seed: int, steps: int) -> dict:
    language = LANGUAGES["swaps"]
    deep = kind in BLOCKS
    model = of_depth(BLOCKS[kind], language, seed) if deep else network(kind, language, seed)
    history = train_network(model, language, steps=steps, rate=rate, seed=seed)
    return {
        "parameters": sum(weight.numel() for weight in model.parameters()),
        "loss": sum(history.step_loss[-50:]) / len(history.step_loss[-50:]),
        "chosen by": shares_correct(model, language, 1, LONGEST, seed=CHOOSING).all,
        "length": LENGTHS,
        "last": [shares_correct(model, language, T, T).last for T in LENGTHS],
    }
