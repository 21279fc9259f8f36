"""Which score translates best, each at the learning rate that suits it?

The models of `translation`, on fewer sentences; `validation` and `test` are shares of sentences
that are written exactly. The rate is picked by `validation`.
"""

from collections.abc import Sequence
from functools import cache

import torch

from utils.data.text import EOS, pad
from utils.data.translation import Pair
from utils.seq2seq import Seq2Seq, Seq2SeqConfig, greedy_decode, sequence_loss
from utils.tasks.translation import MAX_LEN, Task, train_translator
from utils.training.metrics import exact_match

PARAMETERS = {
    "score": ["dot", "scaled dot", "additive"],
    "pairs": 6_000,
    "epochs": 6,
    "learning_rate": [2e-3, 4e-3, 8e-3, 1.6e-2],
    "seed": [0, 1, 2],
}
SHORT = {"pairs": 200, "epochs": 1}
task = cache(Task)


def measure(score: str, pairs: int, epochs: int, learning_rate: float, seed: int) -> dict:
    given = task(pairs)
    torch.manual_seed(seed)
    sizes = len(given.english), len(given.chinese)
    model = Seq2Seq(Seq2SeqConfig(*sizes, attention=score, style="Luong", dropout=0.1))
    train = given.ids(given.parts.train)
    train_translator(
        model, sequence_loss, *train, epochs=epochs, learning_rate=learning_rate, seed=seed
    )

    def exact(part: Sequence[Pair]) -> float:
        sources, targets = given.ids(part)
        written = greedy_decode(model, *pad(sources), MAX_LEN)
        return exact_match(list(written), [[*target, EOS] for target in targets], EOS)

    return {part: exact(getattr(given.parts, part)) for part in ("validation", "test")}
