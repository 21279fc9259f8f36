"""A perfect induction head: which symbols have followed the present one so far?"""

import torch
from torch import Tensor
from torch.nn import functional as F

from utils.attention import masked_softmax
from utils.exercises.checking import Exercise
from utils.self_attention import causal_mask


def what_followed(ids: Tensor, vocab_size: int) -> Tensor:
    """Return for each position the shares (B, T, V) of the symbols after its earlier ones, or 0.

    Shapes: ids (B, T).
    """
    return mean_where(matches(ids), one_hot(ids, vocab_size))


def matches(ids: Tensor) -> Tensor:
    """Return (B, T, T): True where the symbol before position s is the one at t, and s ≤ t."""
    return (ids[:, :, None] == before(ids)[:, None]) & causal_mask(ids.shape[1])


def before(ids: Tensor) -> Tensor:
    return F.pad(ids[:, :-1], (1, 0), value=-1)  # -1 is no symbol


def one_hot(ids: Tensor, vocab_size: int) -> Tensor:
    return F.one_hot(ids, vocab_size).to(torch.get_default_dtype())


def mean_where(seen: Tensor, values: Tensor) -> Tensor:
    return masked_softmax(torch.zeros(()).expand(seen.shape), seen) @ values


exercise = Exercise(what_followed, gradient=False)


# What it is tried on ------------------------------------------------------------------------------


@exercise.stage("a symbol that comes again")
def again():
    return [(torch.tensor([[1, 2, 1]]), 3)]


@exercise.stage("a symbol that follows itself")
def follows_itself():
    return [(torch.tensor([[2, 2, 1, 2]]), 3)]


@exercise.stage("several sequences")
def several_sequences():
    return [
        (torch.randint(4, (2, 9)), 4),
        (torch.randint(3, (3, 12)), 3),
        (torch.randint(5, (6, 6)), 5),
    ]


# What goes wrong ----------------------------------------------------------------------------------


def same_earlier(ids: Tensor) -> Tensor:
    return (ids[:, :, None] == ids[:, None]) & causal_mask(ids.shape[1]).tril(-1)


@exercise.mistake("you find where the symbol was; what came after it?")
def itself(ids, vocab_size):
    return mean_where(same_earlier(ids), one_hot(ids, vocab_size))


@exercise.mistake("each of your rows is the symbol at t itself: what came after it?")
def present_symbol(ids, vocab_size):
    return one_hot(ids, vocab_size)


@exercise.mistake("that is the symbol before: what came after it?")
def what_stood_before(ids, vocab_size):
    earlier = same_earlier(ids)
    earlier[:, :, 0] = False  # nothing stands before it
    return mean_where(earlier, one_hot(F.pad(ids[:, :-1], (1, 0)), vocab_size))


@exercise.mistake(
    "your first key wraps round: no symbol comes before the first, not even the last."
)
def around_the_end(ids, vocab_size):
    seen = (ids[:, :, None] == ids.roll(1, dims=1)[:, None]) & causal_mask(ids.shape[1])
    return mean_where(seen, one_hot(ids, vocab_size))


@exercise.mistake("you count symbols that follow only later.")
def future_open(ids, vocab_size):
    return mean_where(ids[:, :, None] == before(ids)[:, None], one_hot(ids, vocab_size))


@exercise.mistake("the symbol at t may itself follow an earlier one: position t knows it already.")
def not_itself(ids, vocab_size):
    return mean_where(matches(ids).tril(-1), one_hot(ids, vocab_size))


@exercise.mistake("you count the last time alone; the shares are over all of them.")
def last_time_only(ids, vocab_size):
    seen = matches(ids)
    last = (seen * torch.arange(1, ids.shape[1] + 1)).argmax(-1)  # the latest position
    return one_hot(ids.gather(1, last), vocab_size) * seen.any(-1, keepdim=True)


@exercise.mistake("those are counts; shares sum to 1.")
def counted(ids, vocab_size):
    return matches(ids).to(torch.get_default_dtype()) @ one_hot(ids, vocab_size)


@exercise.mistake("where nothing matches, you average over everything; such a row is 0.")
def mean_of_everything(ids, vocab_size):
    weights = torch.zeros(matches(ids).shape).masked_fill(~matches(ids), -1e9).softmax(-1)
    return weights @ one_hot(ids, vocab_size)


@exercise.mistake("you count the first time alone; the shares are over all earlier times.")
def first_time_only(ids, vocab_size):
    seen = matches(ids)
    first = seen.long().argmax(-1)
    return one_hot(ids.gather(1, first), vocab_size) * seen.any(-1, keepdim=True)


@exercise.mistake("you put symbol 0 before the first position, but nothing comes before it.")
def symbol_0_before_the_first(ids, vocab_size):
    seen = ids[:, :, None] == F.pad(ids[:, :-1], (1, 0))[:, None]
    return mean_where(seen & causal_mask(ids.shape[1]), one_hot(ids, vocab_size))


@exercise.mistake("where nothing matches, you divide 0 by 0: such a row is 0.")
def not_a_number(ids, vocab_size):
    counts = counted(ids, vocab_size)
    return counts / counts.sum(-1, keepdim=True)


@exercise.mistake("you count the symbol after the one at t: position t does not know it yet.")
def next_one_too(ids, vocab_size):
    seen = (ids[:, :, None] == ids[:, None, :-1]) & causal_mask(ids.shape[1])[:, :-1]
    return mean_where(seen, one_hot(ids[:, 1:], vocab_size))
