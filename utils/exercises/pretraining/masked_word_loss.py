"""The loss of a masked language model: at the words that are asked for, and nowhere else."""

import math
from collections.abc import Callable
from functools import cache

import torch
from torch import Tensor
from torch.nn import functional as F

from utils.exercises.checking import Exercise, random
from utils.pretraining import IGNORE


def masked_word_loss(head: Callable[[Tensor], Tensor], x: Tensor, target: Tensor) -> Tensor:
    """Return the mean cross-entropy, in nats, of the words that are asked for.

    head: vectors (n, D) to logits (n, V). Shapes: x (B, T, D); target (B, T), IGNORE where nothing
    is asked.
    """
    asked = target != IGNORE
    log_p = head(x[asked]).log_softmax(dim=-1)  # (n, V): of n words, not of B · T
    return -log_p.gather(1, target[asked][:, None]).mean()


def rows_scored(answer: Callable) -> str:
    """What has to be said of an answer whose head scores positions that nobody asks about."""
    scored = []

    def counting(x: Tensor) -> Tensor:
        scored.append(x.numel() // x.shape[-1])
        return head(x.shape[-1], 7)(x)

    target = torch.full((2, 40), IGNORE)
    target[:, :3] = 5
    answer(counting, torch.ones(2, 40, 3), target)
    n = int((target != IGNORE).sum())
    if len(scored) > n // 2:
        return f"you call the head {len(scored)} times for {n} words: once is enough."
    if sum(scored) > n:
        return (
            f"your head scores {sum(scored)} positions, of which only {n} are asked for: pick "
            "those first, and training is faster."
        )
    return ""


exercise = Exercise(masked_word_loss, data=(2,), runs=True, but=rows_scored)


# What it is tried on ------------------------------------------------------------------------------


@cache
def head(D: int, V: int) -> Callable[[Tensor], Tensor]:
    """A head, always the same for these sizes."""
    W = (3 * torch.arange(D * V, dtype=torch.float64)).sin().view(D, V)
    return lambda x: x @ W.to(x) + W[0].to(x)


def given(D: int, V: int, *asked: list[int], T: int) -> tuple:
    """A head, vectors, and targets at these places of each text."""
    target = torch.full((len(asked), T), IGNORE)
    for row, places in zip(target, asked, strict=True):
        row[places] = torch.randint(5, V, (len(places),))
    return head(D, V), random(len(asked), T, D), target


@exercise.stage("one word that is asked for")
def one_word():
    return [given(3, 7, [1], T=4)]


@exercise.stage("one text, several words")
def several_words():
    return [given(4, 9, [0, 3, 4], T=6)]


@exercise.stage("several texts, with more or fewer words that are asked for")
def several_texts():
    return [given(3, 8, [2], [0, 1, 4, 5], [3, 5], T=6), given(5, 6, [0, 1, 2], [1], T=4)]


@exercise.stage("a text of which nothing is asked, and one of which all is")
def nothing_and_all():
    return [given(4, 10, [], [0, 1, 2], T=3)]


# What goes wrong ----------------------------------------------------------------------------------


def nats(logits: Tensor, target: Tensor) -> Tensor:
    """Return -log p of each target (n,), 0 where nothing is asked."""
    losses = F.cross_entropy(logits.flatten(0, -2), target.flatten(), reduction="none")
    return losses.view(target.shape)


def those_asked(x: Tensor, target: Tensor) -> tuple[Tensor, Tensor]:
    asked = target != IGNORE
    return x[asked], target[asked]


@exercise.mistake(
    "you divide by all positions, B · T: the mean is over the words that are asked for."
)
def over_all_places(head, x, target):
    return nats(head(x), target).mean()


@exercise.mistake(
    "you add up the losses: the more words are hidden, the larger the sum; take the mean."
)
def sum_for_mean(head, x, target):
    x, target = those_asked(x, target)
    return nats(head(x), target).sum()


@exercise.mistake(
    "you sum within each text and average over texts: average over all words at once."
)
def sum_over_texts(head, x, target):
    return nats(head(x), target).sum(dim=1).mean()


@exercise.mistake(
    "a word weighs more in a text with few hidden words: take one mean over all words."
)
def mean_of_means(head, x, target):
    n = (target != IGNORE).sum(dim=1)
    return (nats(head(x), target).sum(dim=1)[n > 0] / n[n > 0]).mean()


@exercise.mistake("a text without hidden words gives 0/0: take one mean over all words at once.")
def mean_of_nothing(head, x, target):
    n = (target != IGNORE).sum(dim=1)
    return (nats(head(x), target).sum(dim=1) / n).mean()


@exercise.mistake(
    "positions where nothing is asked count as if their target were symbol 0: leave them out."
)
def zero_where_nothing_is_asked(head, x, target):
    return nats(head(x), target.clamp(min=0)).mean()


@exercise.mistake(
    "the head reads the first positions of the batch, not the ones that are asked for."
)
def first_places(head, x, target):
    _, words = those_asked(x, target)
    return nats(head(x.flatten(0, 1)[: len(words)]), words).mean()


@exercise.mistake("the sign: a loss is *minus* the logarithm of a probability.")
def sign(head, x, target):
    x, target = those_asked(x, target)
    return -nats(head(x), target).mean()


@exercise.mistake("that is minus the probability; the loss is minus its logarithm.")
def no_logarithm(head, x, target):
    x, target = those_asked(x, target)
    return -(-nats(head(x), target)).exp().mean()


@exercise.mistake("these are logits, not log-probabilities: the softmax is missing.")
def no_softmax(head, x, target):
    x, target = those_asked(x, target)
    return -head(x).gather(1, target[:, None]).mean()


@exercise.mistake("the softmax is taken twice: `cross_entropy` takes logits, not probabilities.")
def softmax_twice(head, x, target):
    x, target = those_asked(x, target)
    return nats(head(x).softmax(dim=-1), target).mean()


@exercise.mistake("the softmax runs along the positions: it should run along the vocabulary.")
def softmax_over_places(head, x, target):
    x, target = those_asked(x, target)
    return -head(x).log_softmax(dim=0).gather(1, target[:, None]).mean()


@exercise.mistake("these are bits: the book's losses are in nats, so take the natural logarithm.")
def bits(head, x, target):
    return masked_word_loss(head, x, target) / math.log(2)


@exercise.mistake("that is the perplexity: the loss is the mean of the logarithms, without exp.")
def perplexity(head, x, target):
    return masked_word_loss(head, x, target).exp()


@exercise.mistake(
    "the target is the word of the *same* position: nothing is shifted, as it was on Day 9."
)
def shifted(head, x, target):
    return masked_word_loss(head, x[:, :-1], target[:, 1:])


@exercise.mistake(
    "`cross_entropy` takes logits (n, V) and targets (n,): pick the hidden words, or flatten both."
)
def not_flattened(head, x, target):
    return F.cross_entropy(head(x), target)


@exercise.mistake(
    "IGNORE is no word, so `gather` can't look it up: pick the words that are asked for first."
)
def ignored_looked_up(head, x, target):
    log_p = head(x).log_softmax(dim=-1)
    return -log_p.gather(2, target[..., None])[target != IGNORE].mean()


@exercise.mistake(
    "`ignore_index=0` leaves out symbol 0, and -100 is looked up as a word: IGNORE is the default."
)
def zero_ignored(head, x, target):
    return F.cross_entropy(head(x).flatten(0, 1), target.flatten(), ignore_index=0)


@exercise.mistake("`cross_entropy` takes the logits first, and the targets second.")
def exchanged(head, x, target):
    words, asked = those_asked(x, target)
    return F.cross_entropy(asked, head(words))


@exercise.mistake("that is a loss for each hidden word: return their mean.")
def each_word(head, x, target):
    a = target != IGNORE
    return nats(head(x[a]), target[a])
