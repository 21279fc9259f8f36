"""An encoder, a decoder, or both: who fills, who classifies, who goes on?

Each family learns from the same passages of the libraries' docstrings, for about equal time: the
steps were chosen by the seconds of a step on one machine, measured one after the other, and
"seconds" are those of the training here. Each has four ways to read, with two shares of hidden
words and two rates, or with four rates where nothing is hidden. The one that is best at the hidden
words of the validation sentences is taken, found with the first seed. Each has four rates for
classifying, as `tune` chooses them. Numbers are those of the test part, seed by seed.

"filled": hidden words of sentences that are found; "at once": without the second look of `fills`.
"filling" and "continuing": nats of a hidden word, and of a word of the second half of a passage
given all before it, each asked for on its own: an encoder is shown a mask behind what is before.
"""

import time
from functools import cache
from itertools import product

from utils.data.libraries import LIBRARIES, sentences
from utils.tasks import pretraining
from utils.tasks.families import FAMILIES, Classifies, Family, learn
from utils.tasks.fine_tuning import tune
from utils.tasks.gaps import Gap, fills, gaps, nats, passages, second_halves
from utils.tasks.reading import SEEDS, as_labelled, share_right

PARAMETERS = {"family": list(FAMILIES)}
SHORT = {
    "STEPS": {
        "encoder": {0.15: 4},
        "decoder": {0.0: 4},
        "both, spans": {0.15: 4},
        "both, infilling": {0.3: 4},
    },
    "FACTORS": {1: (1.0,)},
    "N_GAPS": 16,
    "N_PASSAGES": 4,
    "LABELS": (100,),
    "SEEDS": (0,),
    "RATES": (3e-3,),
    "TUNING": "Recipe(steps=4, batch_size=50)",
}
STEPS = {  # by the share of hidden words
    "encoder": {0.15: 940, 0.5: 730},
    "decoder": {0.0: 500},
    "both, spans": {0.15: 1000, 0.5: 710},
    "both, infilling": {0.3: 460, 0.5: 460},
}
SECONDS = ("seconds",)
FACTORS = {1: (0.25, 0.5, 1.0, 2.0), 2: (1.0, 2.0)}  # by how many shares are tried
N_GAPS, N_PASSAGES, LENGTH = 1000, 100, 64
LABELS = (100, 1000)


def data() -> list:
    return pretraining.data()


def measure(family: str) -> dict:
    pretraining.documents()  # made before the clock runs
    first, *others = SEEDS
    ways = [*product(STEPS[family], FACTORS[len(STEPS[family])])]
    tried = [learned(family, *way, first) for way in ways]
    by_way = [nats(model, hidden("validation")) for model, _ in tried]
    best = by_way.index(min(by_way))
    models, seconds = zip(
        tried[best], *(learned(family, *ways[best], seed) for seed in others), strict=True
    )
    filled = [fills(model, hidden("test")) for model in models]
    rest = second_halves(passages(sentences().test, LENGTH)[:N_PASSAGES])
    row = {
        "share, factor": list(ways[best]),
        "by share, factor": by_way,
        "steps": STEPS[family][ways[best][0]],
        "seconds": list(seconds),
        "parameters": sum(weight.numel() for weight in models[0].parameters()),
        "filled at once": [at_once for at_once, _ in filled],
        "filled": [looked_again for _, looked_again in filled],
        "filling": [nats(model, hidden("test")) for model in models],
        "continuing": [nats(model, rest) for model in models],
    }
    test = as_labelled(sentences().test)
    for n in LABELS:
        found = tune(lambda seed: Classifies(models[SEEDS.index(seed)], len(LIBRARIES)), n)
        row |= {
            f"rate, {n} labels": found.setting,
            f"{n} labels": [share_right(answer, test) for answer in found.answers],
        }
    return row


def learned(family: str, share: float, factor: float, seed: int) -> tuple[Family, float]:
    """A model that has read, and the seconds that it took."""
    model = FAMILIES[family](seed)
    model.share = share
    start = time.process_time()
    learn(model, STEPS[family][share], factor, seed)
    return model.eval(), time.process_time() - start


@cache
def hidden(part: str) -> list[Gap]:
    return gaps(getattr(sentences(), part))[:N_GAPS]
