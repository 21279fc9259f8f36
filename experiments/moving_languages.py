"""Counting modulo 5, and a ball under five cups: who follows what moves?

Each kind of network reads words of 1 to 20 symbols, with the same recipe and the same two rates, of
which one is chosen by "chosen by". "words" is the share of 500 new words, of 1 to 20, 21 to 40, 41
to 80 and 81 to 160 symbols, after each of whose symbols the answer is correct; "last" is the share
of words with a correct answer after the last symbol.
"""

from utils.data.formal import LANGUAGES
from utils.tasks.formal_languages import RATES, TABLED, table_row

PARAMETERS = {
    "language": ["modulo 5", "swaps"],
    "kind": list(TABLED),
    "rate": list(RATES),
    "seed": [0, 1, 2, 3, 4],
    "steps": 700,
}
SHORT = {"kind": ["LSTM", "Transformer, ALiBi"], "rate": [1e-2], "seed": [0], "steps": 4}


def measure(language: str, kind: str, rate: float, seed: int, steps: int) -> dict:
    how = {"steps": steps, "rate": rate, "seed": seed}
    return table_row(kind, LANGUAGES[language], **how)
