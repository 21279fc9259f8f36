"""The model of `translation` without attention: does it only need more passes?

Three times the passes, at the learning rate of `translation` and at twice of it; the better one is
to be picked on the validation sentences.
"""

from functools import cache, partial

import torch

from utils.data.text import EOS, pad
from utils.seq2seq import Seq2Seq, Seq2SeqConfig, greedy_decode, sequence_loss
from utils.tasks.translation import MAX_LEN, Task
from utils.training.metrics import exact_match
from utils.training.recipes import train_translator

PARAMETERS = {"learning_rate": [4e-3, 8e-3], "pairs": 24_000, "epochs": 18, "seed": 0}
task = cache(Task)


def measure(learning_rate: float, pairs: int, epochs: int, seed: int) -> dict:
    given = task(pairs)
    torch.manual_seed(seed)
    sizes = len(given.english), len(given.chinese)
    model = Seq2Seq(Seq2SeqConfig(*sizes, attention=None, dropout=0.1))
    how = {"epochs": epochs, "learning_rate": learning_rate, "seed": seed}
    train_translator(model, sequence_loss, *given.ids(given.parts.train), **how)
    sources, targets = given.ids(given.parts.validation)
    written = list(greedy_decode(model, *pad(sources), MAX_LEN))
    validation = exact_match(written, [[*target, EOS] for target in targets], EOS)
    return {"validation": validation, **given.judge(partial(greedy_decode, model))}
