"""The corpus as a task: sentences in ids, and how what a model makes of them is judged."""

from collections.abc import Callable, Sequence
from functools import partial

from torch import Tensor, nn

from utils.data.text import EOS, BucketedBatches, Vocabulary, pad
from utils.data.translation import Pair, corpus, sentences
from utils.training.loop import History, fit
from utils.training.metrics import (
    alignment,
    alignment_error_rate,
    bleu,
    by_length,
    diagonal,
    exact_match,
)
from utils.training.recipes import rise_and_fall

MAX_LEN = 40  # target words, some more than the longest translation has
THRESHOLDS = (0.2, 0.3, 0.4, 0.5, 0.6, 0.7)
TRANSFORMER = {  # what its config needs for about as many parameters as Day 4's model has
    "d_model": 64,
    "n_heads": 4,
    "d_ff": 256,
    "n_layers": 2,
    "norm": "pre",
    "positions": "rotary",
    "dropout": 0.0,
}


def train_translator(
    model: nn.Module,
    loss: Callable,
    sources: list[list[int]],
    targets: list[list[int]],
    *,
    epochs: int,
    batch_size: int = 64,
    learning_rate: float = 4e-3,
    seed: int = 0,
) -> History:
    """Train an encoder and decoder on pairs of ids, which are to follow the truth so far.

    Trained with `rise_and_fall`.
    """
    batches = BucketedBatches(sources, targets, batch_size, shuffle=True)
    optimiser, schedule = rise_and_fall(model, learning_rate, epochs * len(batches))
    return fit(model, batches, loss, optimiser, epochs=epochs, seed=seed, schedule=schedule)


class Task:
    """From English into Chinese: learn from `pairs` sentences, be judged on others."""

    def __init__(self, pairs: int):
        self.parts = corpus(0, n_train=pairs)
        self.english = Vocabulary(word for pair in self.parts.train for word in pair.source)
        self.chinese = Vocabulary(word for pair in self.parts.train for word in pair.target)

    def ids(self, part: Sequence[Pair]) -> tuple[list[list[int]], list[list[int]]]:
        """Sources, each ended by EOS, and targets, which are not: that is for the batches to do."""
        sources = [[*self.english.encode(pair.source), EOS] for pair in part]
        return sources, [self.chinese.encode(pair.target) for pair in part]

    def measure(
        self,
        model: nn.Module,
        loss: Callable,
        write: Callable,
        align: Callable | None = None,
        *,
        epochs: int,
        seed: int,
    ) -> dict:
        """Train a model with `train_translator`; return what `judge` and `alignment_errors` find.

        write, align: as they ask for, with the model as a first argument.
        """
        ids = self.ids(self.parts.train)
        train_translator(model, loss, *ids, epochs=epochs, seed=seed)
        return {
            "parameters": sum(p.numel() for p in model.parameters()),
            **self.judge(partial(write, model)),
            **(self.alignment_errors(partial(align, model)) if align else {}),
        }

    def judge(self, write: Callable[[Tensor, Tensor, int], Tensor]) -> dict:
        """Let a model write what it never saw, and compare.

        write: makes ids (B, T) of sources (B, S), their lengths (B,) and the most that may be
            written, as `greedy_decode` does.
        """
        test = self.parts.test
        written, right = self._written(write, test)
        lengths = [len(pair.source) for pair in test]
        exact = by_length(lambda *both: exact_match(*both, EOS), lengths, written, right)
        words = [self.chinese.decode(row) or ["<nothing>"] for row in written]
        return {
            "exact": exact_match(written, right, EOS),
            "length": list(exact),
            "exact by length": list(exact.values()),
            "bleu": bleu(words, [pair.target for pair in test]),
            "unseen structures": exact_match(
                *self._written(write, self.parts.unseen_structures), EOS
            ),
        }

    def _written(self, write: Callable, part: Sequence[Pair]) -> tuple[list, list]:
        sources, targets = self.ids(part)
        return list(write(*pad(sources), MAX_LEN)), [[*target, EOS] for target in targets]

    def alignment_errors(self, align: Callable[[Tensor, Tensor, Tensor], Tensor]) -> dict:
        """Alignment error rates of a model's weights, where it follows the true translation.

        Links are the largest weights; or all weights above a threshold, picked on validation.
        align: makes weights (B, T, S) of sources (B, S), lengths (B,) and targets (B, T).
        """
        validation, test = (
            self._errors(align, part, (None, *THRESHOLDS))
            for part in (self.parts.validation, self.parts.test)
        )
        threshold = min(THRESHOLDS, key=validation.get)
        return {"aer": test[None], "threshold": threshold, "aer, threshold": test[threshold]}

    def _errors(self, align: Callable, part: Sequence[Pair], thresholds: Sequence) -> dict:
        sources, targets = self.ids(part)
        whole, _ = pad([[*target, EOS] for target in targets])
        weights = align(*pad(sources), whole)
        truth = [pair.sure for pair in part], [pair.possible for pair in part]
        return {
            threshold: alignment_error_rate(
                [
                    alignment(rows, len(pair.target), len(pair.source), threshold)
                    for rows, pair in zip(weights, part, strict=True)
                ],
                *truth,
            )
            for threshold in thresholds
        }


def diagonal_error(n: int) -> float:
    """Alignment error rate of diagonals, for n sentences of the corpus's grammar."""
    pairs = sentences(n, seed=1)
    guessed = [diagonal(len(pair.target), len(pair.source)) for pair in pairs]
    return alignment_error_rate(
        guessed, [pair.sure for pair in pairs], [pair.possible for pair in pairs]
    )
