"""Day 10: the same passages are read again and again; what is hidden is drawn once, or anew.

Shapes: ids (B, T), padded behind their ends, lengths (B,).
"""

from collections.abc import Iterator, Sequence
from functools import partial

from torch import Tensor

from utils.arguments import check_choice
from utils.pretraining import MaskedLanguageModel, masked_word_loss
from utils.tasks.held_out import hidden_passages
from utils.tasks.pretraining import SHARE, Hidden, Reads, hide, with_muon
from utils.training.loop import fit, seeded

DRAWN = ("drawn once", "drawn anew")
PASSES = 16


class HiddenAnew:
    """The same batches at each pass, whose words are hidden anew (Liu et al., 2019, §4.1)."""

    def __init__(self, batches: Sequence[tuple[Tensor, Tensor]]):
        self.batches = batches

    def __iter__(self) -> Iterator[tuple[Tensor, Tensor, Tensor]]:
        for ids, lengths in self.batches:
            hidden, target = hide(ids, SHARE)
            yield hidden, lengths, target


def pretrain_on_the_same(
    model: MaskedLanguageModel, drawn: str, steps: int, seed: int = 0
) -> list[float]:
    """Train a model on the same passages, PASSES times, with words hidden as one of DRAWN.

    Returns: the loss on held-out passages after each pass, in nats.
    Raises: ValueError if words can't be hidden so.
    """
    check_choice("drawn", drawn, DRAWN)
    with seeded(seed, 0):
        shown = Hidden(steps // PASSES, mask=partial(hide, share=0.0))
        batches = HiddenAnew([(ids, lengths) for ids, lengths, _ in shown])
        if drawn == "drawn once":
            batches = list(batches)
    optimiser, schedule = with_muon(model, model.encoder.blocks, PASSES * len(shown))
    history = fit(
        Reads(model),
        batches,
        partial(masked_word_loss, model.head),
        optimiser,
        epochs=PASSES,
        seed=seed,
        schedule=schedule,
        validation=hidden_passages(),
    )
    return history.validation["loss"]
