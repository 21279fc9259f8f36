"""Brackets that match, of one kind and of two: who keeps a stack, how long and how deep?

Each kind of network reads words of 1 to 20 symbols, with the same recipe. Its rate is the one at
which the first of five seeds answers other such words best: no worse than at a quarter of that rate
or at four times as much. For each seed, "words to 20" is the share of 500 words of 1 to
20 symbols after each of whose symbols the answer is correct; "last to 20" is the share of words
with a correct answer after the last symbol. So it goes on with 21 to 40, 41 to 80 and 81 to 160.
Short words come again, as there are few.

"deeper" is that share for words of 21 to 40 symbols whose brackets are nested 5 to 8 deep; in
training it is 4 at most.
"""

from utils.data.formal import LANGUAGES, Dyck
from utils.tasks.formal_languages import TABLED, table_row

SEEDS = (0, 1, 2, 3, 4)
PARAMETERS = {"language": ["Dyck-1", "Dyck-2"], "kind": list(TABLED), "steps": 700}
SHORT = {"kind": ["LSTM", "Transformer, ALiBi"], "steps": 4, "SEEDS": (0, 1)}
DEEPER = {f"Dyck-{kinds}": Dyck(kinds, shallowest=5, deepest=8) for kinds in (1, 2)}


def measure(language: str, kind: str, steps: int) -> dict:
    return table_row(kind, LANGUAGES[language], deeper=DEEPER[language], steps=steps, seeds=SEEDS)
