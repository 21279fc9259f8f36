"""Parity, and a ball under five cups, by a Transformer that may write its answers down, or may not.

It reads words of 1 to 20 symbols, with its answer after each symbol, which it reads too, or with a
blank in the answer's place. "last" is the share of 200 new words of each length whose last answer
is correct, where it reads what it wrote itself; by chance it is 0.5 for parity, 0.2 for the ball.
"""

from utils.data.formal import LANGUAGES
from utils.tasks.formal_languages import RATES
from utils.tasks.written_steps import share_last, train_steps, writer

PARAMETERS = {
    "language": ["parity", "swaps"],
    "written": [True, False],
    "rate": list(RATES),
    "seed": [0, 1, 2, 3, 4],
    "steps": 750,
}
SHORT = {"rate": [1e-2], "seed": [0], "steps": 8, "LENGTHS": [5], "N": 20}
LENGTHS = [10, 20, 40, 80]
N = 200


def measure(language: str, written: bool, rate: float, seed: int, steps: int) -> dict:
    words = LANGUAGES[language]
    model = writer(words, seed)
    history = train_steps(model, words, written=written, steps=steps, rate=rate, seed=seed)
    shares = [share_last(model, words, T, written=written, n=N) for T in LENGTHS]
    return {
        "loss": sum(history.step_loss[-50:]) / len(history.step_loss[-50:]),
        "length": LENGTHS,
        "last": shares,
    }
