"""Day 10's judges: hidden words in text that no model has read, and sentences with few labels.

Shapes: ids (B, T), padded behind their ends, lengths (B,).
"""

from collections.abc import Mapping
from functools import cache

import torch
from torch import Tensor
from torch.nn import functional as F

from utils.data.libraries import LIBRARIES, everything, near_copies, sentences
from utils.data.text import EOS, pad
from utils.pretraining import IGNORE, MaskedLanguageModel, cast_dice, mask_words
from utils.tasks.fine_tuning import classifier, tune
from utils.tasks.pretraining import B, mixed, vocabulary
from utils.tasks.reading import as_labelled, share_right
from utils.training.loop import mode, seeded

N_PASSAGES, SHARE = 320, 0.15


@cache
def held_out() -> tuple[tuple[list[int], ...], ...]:
    """The modules of the validation sentences, whole, as ids: sentences, each with EOS behind it.

    What is a near copy of a sentence of any other module is left out.
    """
    modules = {sentence.module for sentence in sentences().validation}
    of_all = everything()
    inside = [sentence for sentence in of_all if sentence.module in modules]
    outside = [sentence for sentence in of_all if sentence.module not in modules]
    words = vocabulary()
    kept: dict[str, list[list[int]]] = {}
    for sentence, is_copy in zip(inside, near_copies(inside, outside), strict=True):
        if not is_copy:
            kept.setdefault(sentence.module, []).append([*words.encode(sentence.words), EOS])
    return tuple(map(tuple, kept.values()))


def all_hidden(ids: Tensor, share: float = SHARE) -> tuple[Tensor, Tensor]:
    """Hide words behind MASK alone, and ask for them: what is read, and the targets."""
    dice = cast_dice(ids.shape, len(vocabulary()))
    return mask_words(ids, dice._replace(how=torch.zeros_like(dice.how)), share)


@cache
def hidden_passages() -> tuple[tuple[Tensor, Tensor, Tensor], ...]:
    """The same batches (ids, lengths, targets) for all: mixed passages of held-out text."""
    with seeded(0, 0):
        weights = torch.tensor([float(sum(map(len, of))) for of in held_out()])
        chosen = weights.multinomial(N_PASSAGES, replacement=True).tolist()
        passages = [mixed(held_out()[number]) for number in chosen]
        batches = []
        for first in range(0, N_PASSAGES, B):
            ids, lengths = pad(passages[first : first + B])
            hidden, target = all_hidden(ids)
            batches.append((hidden, lengths, target))
    return tuple(batches)


@torch.no_grad()
def guessed(
    model: MaskedLanguageModel, batches: tuple[tuple[Tensor, ...], ...] | None = None
) -> dict[str, float]:
    """How well hidden words are guessed: "loss" in nats, and the share that is "right".

    batches: what the model reads, as `read` takes it, and then the targets; if none, held-out
        passages.
    """
    nats, right = [], []
    with mode(model, training=False):
        for *read, target in hidden_passages() if batches is None else batches:
            asked = target != IGNORE
            logits = model.head(model.read(*read)[asked])
            nats.append(F.cross_entropy(logits, target[asked], reduction="none"))
            right.append((logits.argmax(dim=1) == target[asked]).float())
    return {"loss": torch.cat(nats).mean().item(), "right": torch.cat(right).mean().item()}


def told_apart(models: Mapping[int, MaskedLanguageModel], n_train: int) -> dict:
    """How much of the test part is right when each seed's model is tuned with n_train labels.

    The rate is chosen of four on the validation part, with the first seed.
    """
    found = tune(lambda seed: classifier(models[seed], len(LIBRARIES)), n_train)
    test = as_labelled(sentences().test)
    return {
        f"rate, {n_train} labels": found.setting,
        f"by rate, {n_train} labels": found.by_setting,
        f"{n_train} labels": [share_right(answer, test) for answer in found.answers],
    }
