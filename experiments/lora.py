"""What is gained when more of a pre-trained encoder is tuned: nothing, low ranks, or all of it?

Of the frozen encoder, only the new layer learns; of LoRA, also its two thin matrices for queries
and for values of each block. Each is at the best of four rates of its own, by the validation part,
for each seed, which has its own pre-training and its own labels. The test part is read once.
"""

from functools import partial

from torch import nn

from utils.pretraining import MaskedLanguageModel
from utils.pretraining.low_rank import add_low_rank, n_trained
from utils.tasks import pretraining
from utils.tasks.fine_tuning import RATES, classifier, with_labels
from utils.tasks.shrinking import at_best_rate, pretrained, right

PARAMETERS = {"seed": [0, 1, 2]}
SHORT = {
    "N_LABELS": (100,),
    "RATES_OF": "{kind: (3e-3,) for kind in KINDS}",
    "STEPS": 4,
    "TUNING": "Recipe(steps=4, batch_size=50)",
}
N_LABELS = 100, 1000
RANKS = 1, 2, 4, 8, 16
KINDS = ("frozen", *(f"rank {rank}" for rank in RANKS), "full")
RATES_OF = {  # each at least as wide as it needs to be: the best of a pilot is within
    "frozen": (3e-3, 1e-2, 3e-2, 1e-1),
    **{f"rank {rank}": (1e-3, 3e-3, 1e-2, 3e-2) for rank in RANKS},
    "full": RATES,
}


def data():
    return pretraining.data()


def measure(seed: int) -> dict:
    model, row = pretrained(seed), {}
    for n_labels in N_LABELS:
        task = with_labels(n_labels, seed)
        for kind in KINDS:
            make = partial(of_kind, kind, model, task.n_classes)
            best = at_best_rate(make, RATES_OF[kind], task, seed)
            named = f"{kind}, {n_labels} labels"
            row[named] = right(best.model, task, task.test)
            row[f"{named}, rate"] = best.rate
            row[f"{named}, by rate"] = best.by_rate
            row[f"{kind}, trained"] = n_trained(best.model)
    return row


def of_kind(kind: str, model: MaskedLanguageModel, n_classes: int) -> nn.Module:
    """A classifier of which that much is tuned."""
    made = classifier(model, n_classes)
    if kind == "frozen":
        made.encoder.requires_grad_(False)
    elif kind != "full":
        add_low_rank(made.encoder, int(kind.removeprefix("rank ")))
    return made
