"""How many words to hide, behind what, and whether to draw them once or anew?

By "hidden": a share of the words of fresh passages, of which 80 % become [MASK], 10 % a word at
random and 10 % stay, or all [MASK]; or half of the words of the same passages, read 16 times,
drawn once before the first pass, or anew at each. All steps are of 8 passages of 128 words, and are
equally many up to a few. "loss" in nats and "right" are of held-out text in which 15 % of the
words are [MASK], the same for all; "loss by pass" is of the same. "labels" are of sentences from
five libraries, tuned as in `few_labels`.
"""

from collections.abc import Callable
from functools import partial

from torch import Tensor

from utils.tasks import pretraining
from utils.tasks.held_out import all_hidden, guessed, told_apart
from utils.tasks.pretraining import Hidden, hide, new_model, pretrain
from utils.tasks.reading import SEEDS
from utils.tasks.repeated import DRAWN, pretrain_on_the_same

FRESH: dict[str, Callable[[Tensor], tuple[Tensor, Tensor]]] = {
    **{f"{share:.0%}": partial(hide, share=share) for share in (0.15, 0.5, 0.7)},
    "15%, all [MASK]": partial(all_hidden, share=0.15),
}
PARAMETERS = {"hidden": [*FRESH, *DRAWN], "steps": 1000}
SHORT = {
    "steps": 4,
    "PASSES": 2,
    "SEEDS": (0,),
    "RATES": (3e-3,),
    "TUNING": "Recipe(steps=4, batch_size=50)",
    "N_PASSAGES": 16,
}


def data():
    return pretraining.data()


def measure(hidden: str, steps: int) -> dict:
    models = {seed: new_model(seed) for seed in SEEDS}
    row = {}
    for seed, model in models.items():
        if hidden in FRESH:
            pretrain(model, Hidden(steps, mask=FRESH[hidden]), seed)
        else:
            row[f"loss by pass, {seed}"] = pretrain_on_the_same(model, hidden, steps, seed)
    words = [guessed(model) for model in models.values()]
    row |= {name: [each[name] for each in words] for name in words[0]}
    return row | told_apart(models, 100)
