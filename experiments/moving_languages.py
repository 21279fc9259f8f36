"""Counting modulo 2 and 5, and a ball under five cups: who follows what moves?

Each kind of network reads words of 1 to 20 symbols, with the same recipe. Its rate is the one at
which the first of five seeds answers other such words best: no worse than at a quarter of that rate
or at four times as much. For each seed, "words to 20" is the share of 500 words of 1 to
20 symbols after each of whose symbols the answer is correct; "last to 20" is the share of words
with a correct answer after the last symbol. So it goes on with 21 to 40, 41 to 80 and 81 to 160.
Short words come again, as there are few.
"""

from utils.data.formal import LANGUAGES
from utils.tasks.formal_languages import TABLED, table_row

SEEDS = (0, 1, 2, 3, 4)
PARAMETERS = {"language": ["parity", "modulo 5", "swaps"], "kind": list(TABLED), "steps": 700}
SHORT = {"kind": ["LSTM", "Transformer, ALiBi"], "steps": 4, "SEEDS": (0, 1)}


def measure(language: str, kind: str, steps: int) -> dict:
    return table_row(kind, LANGUAGES[language], steps=steps, seeds=SEEDS)
