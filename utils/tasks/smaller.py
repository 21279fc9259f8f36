"""Day 11: a tuned encoder becomes smaller, step by step, and each step is judged.

Half of the blocks, which learn from the whole; half of the heads; whole numbers of 8 bits, or of 4.
"""

from collections.abc import Iterator
from copy import deepcopy

import torch
from torch import nn

from utils.data.text import BucketedBatches
from utils.pretraining import MaskedLanguageModel
from utils.pretraining.heads import FewerHeads, head_importance
from utils.pretraining.low_rank import add_low_rank
from utils.pretraining.rounded import with_rounded_weights
from utils.tasks.distilling import sizes_of
from utils.tasks.fine_tuning import classifier
from utils.tasks.reading import Task, as_ids
from utils.transformer import EncoderOnly


class Watched:
    """Batches for `fit` that hand over a model after some steps, 0 among them if it is asked for.

    look: takes a number of steps and is called when the model has made them; it must not draw.
    """

    def __init__(self, batches, marks, look):
        self.batches, self.marks, self.look = batches, frozenset(marks), look

    def __len__(self) -> int:
        return len(self.batches)

    def __iter__(self) -> Iterator:
        for step, batch in enumerate(self.batches):
            if step in self.marks:
                self.look(step)
            yield batch


def without_half_of_its_heads(model: EncoderOnly, task: Task) -> EncoderOnly:
    """A copy of a tuned model whose blocks keep the more important half of their heads.

    Importance is that of Michel et al. (2019), on the task's training part.
    """
    learned = BucketedBatches(*as_ids(task.train, task.vocabulary), batch_size=256)
    made = deepcopy(model)
    for block, importance in zip(made.encoder.blocks, head_importance(model, learned), strict=True):
        kept = importance.topk(len(importance) // 2).indices.tolist()
        block.self_attention = FewerHeads(block.self_attention, kept)
    return made


def bytes_of(model: nn.Module, bits: int = 32) -> int:
    """The bytes of all numbers that a model keeps, if those of int8 take so many bits."""
    whole = sum(x.numel() for x in model.buffers() if x.dtype == torch.int8)
    whole += sum(x.numel() for x in model.parameters() if x.dtype == torch.int8)
    return sizes_of(model).bytes - (whole * (8 - bits) // 8 if bits < 8 else 0)


def one_by_one(model: EncoderOnly, task: Task) -> Iterator[tuple[str, nn.Module, int]]:
    """A tuned model as it is, with half of its heads, and that one in 8 bits and in 4.

    Gives: the step's name, what is left, and its bytes.
    """
    fewer = without_half_of_its_heads(model, task)
    yield "half of the heads", fewer, bytes_of(fewer)
    for bits in (8, 4):
        rounded = with_rounded_weights(fewer, bits)
        yield f"{bits} bits", rounded, bytes_of(rounded, bits)


def as_rounded(model: MaskedLanguageModel) -> MaskedLanguageModel:
    """A copy of a model whose matrices have the values that int8 leaves them, as real numbers."""
    made, rounded = deepcopy(model), with_rounded_weights(model)
    given = dict(rounded.named_modules())
    with torch.no_grad():
        for name, module in made.named_modules():
            for own, weight in module.named_parameters(recurse=False):
                weight.copy_(getattr(given[name], own))
    return made


def of_low_rank(model: MaskedLanguageModel, n_classes: int, rank: int) -> EncoderOnly:
    """A classifier whose encoder is frozen, but for changes of a rank (LoRA)."""
    made = classifier(model, n_classes)
    add_low_rank(made.encoder, rank)
    return made
