"""Running parity: which networks learn it on 20 symbols, and are right on 160?

Each kind of network reads words of 1 to 20 symbols and says after each whether there were an odd
number of ones. All have the same recipe and the same three rates. "last" is the share of 500 new
words of each length after whose last symbol the answer is correct, by chance 0.5; "in training" is
the share of all answers to words of 1 to 20 symbols, by which a rate can be chosen.
"""

from utils.data.formal import LANGUAGES
from utils.tasks.formal_languages import (
    CHOOSING,
    KINDS,
    LONGEST,
    RATES,
    STEPS,
    network,
    shares_correct,
    train_network,
)

PARAMETERS = {"kind": list(KINDS), "rate": list(RATES), "seed": [0, 1, 2, 3, 4], "steps": STEPS}
SHORT = {"rate": [1e-2], "seed": [0], "steps": 6, "LENGTHS": [20, 40]}
LENGTHS = [20, 40, 80, 160]


def measure(kind: str, rate: float, seed: int, steps: int) -> dict:
    language = LANGUAGES["parity"]
    model = network(kind, language, seed)
    history = train_network(model, language, steps=steps, rate=rate, seed=seed)
    return {
        "parameters": sum(weight.numel() for weight in model.parameters()),
        "loss": sum(history.step_loss[-50:]) / len(history.step_loss[-50:]),
        "in training": shares_correct(model, language, 1, LONGEST, seed=CHOOSING).all,
        "length": LENGTHS,
        "last": [shares_correct(model, language, T, T).last for T in LENGTHS],
    }
