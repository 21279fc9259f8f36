"""How long is a pass over Day 4's translations for Day 4's model, and for Day 6's Transformer?

Processor seconds of one core, for sentences drawn from the whole corpus, each model the quickest of
several rounds, in turn. The models are those of `translation` (additive) and of
`translation_transformer`.
"""

import time

from torch import nn

from utils.measure.costs import one_thread
from utils.seq2seq import Seq2Seq, Seq2SeqConfig, sequence_loss
from utils.tasks.translation import TRANSFORMER, Task, train_translator
from utils.transformer import Transformer, TransformerConfig, label_smoothing_loss

PARAMETERS = {"pairs": 24_000, "sentences": 1_280, "rounds": 5}
SHORT = {"pairs": 400, "sentences": 100, "rounds": 1}
SECONDS = ("additive", "transformer")


def measure(pairs: int, sentences: int, rounds: int) -> dict:
    given = Task(pairs)
    V, W = len(given.english), len(given.chinese)
    recurrent = Seq2SeqConfig(V, W, attention="additive", style="Luong", dropout=0.1)
    transformer = TransformerConfig(V, W, **TRANSFORMER)
    models = {
        "additive": (Seq2Seq(recurrent), sequence_loss),
        "transformer": (Transformer(transformer), label_smoothing_loss),
    }
    some = given.ids(given.parts.train[:: pairs // sentences])
    quickest = dict.fromkeys(models, float("inf"))
    with one_thread():
        for _ in range(rounds):
            for name, model in models.items():
                quickest[name] = min(quickest[name], seconds(*model, some))
    return {name: least * pairs / len(some[0]) for name, least in quickest.items()}


def seconds(model: nn.Module, loss, ids: tuple[list, list]) -> float:
    start = time.process_time()
    train_translator(model, loss, *ids, epochs=1)
    return time.process_time() - start
