"""An encoder, a decoder, or both: who fills, who classifies, who goes on?

Each family learns from the same passages of the libraries' docstrings, for about equal time: STEPS
was chosen by the seconds of a step on one machine, measured one after the other, and "seconds" are
those of the training here. Each has two rates for reading, of which the one that is better at the
hidden words of the validation sentences is taken, found with the first seed, and four rates for
classifying, as `tune` chooses them. Numbers are those of the test part, seed by seed.

"filled": hidden words of sentences that are found; "at once": without the second look of `fills`.
"filling" and "continuing": nats of a hidden word, and of a word of the second half of a passage
given all before it, each asked for on its own: an encoder is shown a mask behind what is before.
"""

import time
from functools import cache

from utils.data.libraries import LIBRARIES, sentences
from utils.tasks import pretraining
from utils.tasks.families import (
    FAMILIES,
    Classifies,
    Family,
    Gap,
    fills,
    gaps,
    learn,
    nats,
    passages,
    second_halves,
)
from utils.tasks.fine_tuning import tune
from utils.tasks.reading import SEEDS, as_labelled, share_right

PARAMETERS = {"family": list(FAMILIES)}
STEPS = {"encoder": 800, "decoder": 640, "both, spans": 670, "both, infilling": 512}
SECONDS = ("seconds",)
FACTORS = (0.5, 1.0)
N_GAPS, N_PASSAGES, LENGTH = 1000, 100, 64
LABELS = (100, 1000)


def data() -> list:
    return pretraining.data()


def measure(family: str) -> dict:
    pretraining.documents()  # made before the clock runs
    first, *others = SEEDS
    tried = [learned(family, factor, first) for factor in FACTORS]
    by_factor = [nats(model, hidden("validation")) for model, _ in tried]
    best = by_factor.index(min(by_factor))
    models, seconds = zip(
        tried[best], *(learned(family, FACTORS[best], seed) for seed in others), strict=True
    )
    filled = [fills(model, hidden("test")) for model in models]
    rest = second_halves(passages(sentences().test, LENGTH)[:N_PASSAGES])
    row = {
        "factor": FACTORS[best],
        "by factor": by_factor,
        "steps": STEPS[family],
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


def learned(family: str, factor: float, seed: int) -> tuple[Family, float]:
    """A model that has read, and the seconds that it took."""
    model = FAMILIES[family](seed)
    start = time.process_time()
    learn(model, STEPS[family], factor, seed)
    return model.eval(), time.process_time() - start


@cache
def hidden(part: str) -> list[Gap]:
    return gaps(getattr(sentences(), part))[:N_GAPS]
