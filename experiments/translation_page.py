"""The Transformer that translates in Day 6's page: trained on Day 4's grammar, rounded and stored.

It is the lesson's model, 64 wide instead of 48, with the paper's sinusoids. "float" and "int8" are
the shares of 2,300 test sentences that it translates exactly: as it was trained, and with its
matrices and tables in whole numbers of 8 bits. The model of the first seed is stored for the page,
in int8, with some test sentences. The sentence of the lesson is kept from the training.
"""

from functools import cache

import torch
from torch import nn

from utils.data.text import EOS, pad
from utils.data.translation import Pair
from utils.pretraining.rounded import with_rounded_weights
from utils.seq2seq import greedy_decode, sequence_loss
from utils.show.views.models import store
from utils.tasks.rounded import in_int8
from utils.tasks.short_translation import ASKED
from utils.tasks.translation import MAX_LEN, TRANSFORMER, Task, train_translator
from utils.training.metrics import exact_match
from utils.transformer import Transformer, TransformerConfig

PARAMETERS = {"pairs": 24_000, "epochs": 10, "seed": [0]}
SHORT = {"pairs": 200, "epochs": 1, "STORED": None}
STORED = 0  # the seed
SHOWN = 60  # sentences of the test that go with the model, up to LONGEST words long
LONGEST = 12
task = cache(Task)


def measure(pairs: int, epochs: int, seed: int) -> dict:
    given = task(pairs)
    torch.manual_seed(seed)
    sizes = TRANSFORMER | {"positions": "sinusoidal"}
    model = Transformer(TransformerConfig(len(given.english), len(given.chinese), **sizes))
    kept = [pair for pair in given.parts.train if " ".join(pair.source) != ASKED]
    history = train_translator(model, sequence_loss, *given.ids(kept), epochs=epochs, seed=seed)
    if seed == STORED:
        store(
            "translation",
            in_int8(model),
            made_by="experiments/translation_page.py",
            heads=sizes["n_heads"],
            english=list(given.english.symbols),
            chinese=list(given.chinese.symbols),
            examples=shown(given.parts.test),
        )
    losses = history.step_loss
    return {
        "parameters": sum(weight.numel() for weight in model.parameters()),
        "float": exact(given, model),
        "int8": exact(given, with_rounded_weights(model)),
        "losses": losses[:: max(1, len(losses) // 30)],
    }


def shown(test: list[Pair]) -> list[list[str]]:
    """Some sentences and their translations, words with spaces between them."""
    short = [pair for pair in test if 4 <= len(pair.source) <= LONGEST]
    return [[" ".join(pair.source), " ".join(pair.target)] for pair in short[:SHOWN]]


def exact(given: Task, model: nn.Module) -> float:
    """Share of the test sentences that a model translates exactly."""
    sources, targets = given.ids(given.parts.test)
    written = greedy_decode(model, *pad(sources), MAX_LEN)
    return exact_match(list(written), [[*target, EOS] for target in targets], EOS)
