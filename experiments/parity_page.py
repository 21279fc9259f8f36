"""The page's readers of bits: an RNN and a Transformer that learn running parity, stored in int8.

Both learn from words of 1 to 20 bits, as in `experiments/parity.py`. Each is trained at three
rates, and the one is kept that answers more of other such words correctly ("in training"). "last"
is the share of 500 new words of each length after whose last bit the answer is correct, by chance
0.5; "in int8": with the weights as they are stored for the page.
"""

from torch import nn

from utils.data.formal import LANGUAGES
from utils.show.views.models import store
from utils.tasks.formal_languages import (
    CHOOSING,
    LONGEST,
    RATES,
    STEPS,
    shares_correct,
    train_network,
)
from utils.tasks.long_word import READERS, facts_for_page, readers, restored_readers
from utils.tasks.rounded import in_int8

STORED = 0  # this seed
PARAMETERS = {"seed": [STORED], "steps": STEPS}
SHORT = {"steps": 2, "STORED": None, "LENGTHS": [20, 40]}
LENGTHS = [20, 40, 80, 160]


def measure(seed: int, steps: int) -> dict:
    parity, kept, row = LANGUAGES["parity"], nn.ModuleDict(), {"length": LENGTHS}
    for name in READERS:
        tried = {}
        for rate in RATES:
            model = readers(seed)[name]
            train_network(model, parity, steps=steps, rate=rate, seed=seed)
            tried[rate] = shares_correct(model, parity, 1, LONGEST, seed=CHOOSING).all, model
        rate = max(tried, key=lambda rate: tried[rate][0])
        row[f"rate of {name}"] = rate
        row[f"in training of {name}"], kept[name] = tried[rate]
    weights = in_int8(kept)
    if seed == STORED:
        store("parity", weights, made_by="experiments/parity_page.py", **facts_for_page())
    rounded = restored_readers(weights)
    for name in READERS:
        row[f"parameters of {name}"] = sum(weight.numel() for weight in kept[name].parameters())
        for end, model in (("", kept[name]), (" in int8", rounded[name])):
            found = [shares_correct(model, parity, T, T).last for T in LENGTHS]
            row[f"last of {name}{end}"] = found
    return row
