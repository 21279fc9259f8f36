"""Day 10: text without labels asks its own questions: words are hidden, and have to be guessed.

Shapes: ids (B, T); a target is the id that is asked for, or IGNORE where nothing is asked.
"""

from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn import functional as F

from utils.arguments import check_share, check_sizes

MASK = 4  # [MASK]; below it are the special symbols that no text holds, above it the words
IGNORE = -100  # a target that `cross_entropy` leaves out


class Dice(NamedTuple):
    """What chance decides when words are hidden, for each place (B, T)."""

    hides: Tensor  # a word is asked for where this is below the share; from 0 up to 1
    how: Tensor  # what then stands there; from 0 up to 1
    words: Tensor  # a word at random


def cast_dice(shape: torch.Size | tuple[int, int], vocab_size: int) -> Dice:
    """Cast dice for ids (B, T), from torch's generator.

    Raises: ValueError if the vocabulary has no word.
    """
    check_sizes(words=vocab_size - MASK - 1)
    words = torch.randint(MASK + 1, vocab_size, tuple(shape))
    return Dice(torch.rand(tuple(shape)), torch.rand(tuple(shape)), words)


def mask_words(ids: Tensor, dice: Dice, share: float = 0.15) -> tuple[Tensor, Tensor]:
    """Hide a share of the words, and ask for them (Devlin et al., 2019, §3.1, task 1).

    Of the words that are asked for, 80 % become MASK, 10 % a word at random, and 10 % stay, each
    by its own dice. What is no word, such as padding, is never asked for.

    Returns: what the model reads, and the targets, (B, T) each.
    Raises: ValueError if the share is none, or the dice are of another shape.
    """
    check_share("share", share)
    if ids.dim() != 2:
        raise ValueError(f"Expected ids (B, T), got {tuple(ids.shape)}.")
    if any(of.shape != ids.shape for of in dice):
        shapes = [tuple(of.shape) for of in dice]
        raise ValueError(
            f"Expected dice for each of the ids {tuple(ids.shape)}, got {shapes}: cast them for "
            "the shape of the ids."
        )
    asked = (dice.hides < share) & (ids > MASK)
    hidden = ids.masked_fill(asked & (dice.how < 0.8), MASK)
    hidden = torch.where(asked & (dice.how >= 0.9), dice.words, hidden)
    return hidden, ids.masked_fill(~asked, IGNORE)


def masked_word_loss(head: Callable[[Tensor], Tensor], x: Tensor, target: Tensor) -> Tensor:
    """Mean cross-entropy, in nats, over the words that are asked for (ibid.).

    The head, whose logits are the most expensive numbers of all, is called for these alone.

    head: vectors (n, D) to logits (n, V). Shapes: x (B, T, D), target (B, T).
    Raises: ValueError if the shapes do not fit, or nothing is asked for.
    """
    if x.dim() != 3 or x.shape[:2] != target.shape:
        raise ValueError(
            f"Expected vectors (B, T, D) and targets (B, T), got {tuple(x.shape)} and "
            f"{tuple(target.shape)}."
        )
    asked = target != IGNORE
    if not asked.any():
        raise ValueError("No word is asked for, so there is no loss: hide a larger share.")
    return F.cross_entropy(head(x[asked]), target[asked])
