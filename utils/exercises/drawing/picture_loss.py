"""The loss on both parts of a row: on the words of a sentence, and on the codes of its picture."""

import torch
from torch import Tensor
from torch.nn import functional as F

from utils.exercises.checking import Exercise, random


def picture_loss(logits: Tensor, ids: Tensor, n_words: int, share: float) -> Tensor:
    """Return (1 - share) · the mean over words + share · the mean over codes, of cross-entropies.

    Each logit is about what follows: words are 1 to n_words - 1, codes n_words to V - 2. Padding,
    0, and the mark, V - 1, are not asked for.
    Shapes: logits (B, T, V), ids (B, T), to one number.
    """
    target = ids[:, 1:]
    nats = F.cross_entropy(logits[:, :-1].mT, target, reduction="none")  # (B, T - 1)
    is_word = (target > 0) & (target < n_words)
    is_code = (target >= n_words) & (target < logits.shape[2] - 1)
    return (1 - share) * nats[is_word].mean() + share * nats[is_code].mean()


exercise = Exercise(picture_loss)


# What it is tried on ------------------------------------------------------------------------------


def rows(n_words: int, n_codes: int, n: int, share: float, *lengths: int) -> tuple:
    """Draw rows of words, padded to the longest, a mark and n codes, and logits for them."""
    B, T, V = len(lengths), max(lengths), n_words + n_codes + 1
    words = torch.randint(1, n_words, (B, T))
    for row, length in zip(words, lengths, strict=True):
        row[length:] = 0
    codes = torch.randint(n_words, V - 1, (B, n))
    ids = torch.cat([words, torch.full((B, 1), V - 1), codes], dim=1)
    return 2 * random(B, T + 1 + n, V), ids, n_words, share


@exercise.stage("one sentence, whose two parts weigh the same")
def one_row():
    return [rows(5, 4, 3, 0.5, 3)]


@exercise.stage("other shares")
def other_shares():
    return [rows(7, 5, 4, 0.875, 2), rows(4, 6, 2, 0.3, 5)]


@exercise.stage("sentences of several lengths, padded with 0")
def several_lengths():
    return [rows(6, 5, 3, 0.875, 4, 2, 6), rows(9, 4, 6, 0.6, 2, 5)]


# What goes wrong ----------------------------------------------------------------------------------


def parts(logits: Tensor, ids: Tensor, n_words: int) -> tuple[Tensor, Tensor, Tensor]:
    """-log p of each next symbol, whether it is a word, and whether it is a code: (B, T - 1)."""
    target = ids[:, 1:]
    nats = F.cross_entropy(logits[:, :-1].mT, target, reduction="none")
    is_word = (target > 0) & (target < n_words)
    return nats, is_word, (target >= n_words) & (target < logits.shape[2] - 1)


def weighted(words: Tensor, codes: Tensor, share: float) -> Tensor:
    return (1 - share) * words + share * codes


@exercise.mistake("the loss is over the sentence alone: the picture is what is to be drawn.")
def sentence_alone(logits, ids, n_words, share):
    nats, is_word, _ = parts(logits, ids, n_words)
    return nats[is_word].mean()


@exercise.mistake("the loss is over the picture alone: the sentence is learned, too.")
def picture_alone(logits, ids, n_words, share):
    nats, _, is_code = parts(logits, ids, n_words)
    return nats[is_code].mean()


@exercise.mistake("the two shares are exchanged: `share` is the picture's.")
def exchanged(logits, ids, n_words, share):
    return picture_loss(logits, ids, n_words, 1 - share)


@exercise.mistake(
    "that is one mean over words and codes together: longer parts would weigh more, whatever the "
    "share."
)
def one_mean(logits, ids, n_words, share):
    nats, is_word, is_code = parts(logits, ids, n_words)
    return nats[is_word | is_code].mean()


@exercise.mistake("the parts are weighted, but not averaged: each is a mean of its own.")
def weighted_sums(logits, ids, n_words, share):
    nats, is_word, is_code = parts(logits, ids, n_words)
    return weighted(nats[is_word].sum(), nats[is_code].sum(), share)


@exercise.mistake(
    "each symbol is weighted, but all are averaged together: each part is a mean of its own."
)
def weighted_symbols(logits, ids, n_words, share):
    nats, is_word, is_code = parts(logits, ids, n_words)
    total = weighted(nats[is_word].sum(), nats[is_code].sum(), share)
    return total / (is_word | is_code).sum()


@exercise.mistake(
    "each id has a weight, and one average divides by the sum of all weights: the part with more "
    "symbols still counts for more than its share."
)
def weighted_ids(logits, ids, n_words, share):
    nats, is_word, is_code = parts(logits, ids, n_words)
    weights = weighted(is_word.double(), is_code.double(), share)
    return (weights * nats).sum() / weights.sum()


@exercise.mistake("your share is always 7/8: that is DALL·E's choice, but here it is an argument.")
def always_seven_eighths(logits, ids, n_words, share):
    return picture_loss(logits, ids, n_words, 7 / 8)


@exercise.mistake("the share is missing: the two means are added up.")
def no_share(logits, ids, n_words, share):
    nats, is_word, is_code = parts(logits, ids, n_words)
    return nats[is_word].mean() + nats[is_code].mean()


@exercise.mistake("the sentence counts in full: its weight is 1 - share.")
def words_in_full(logits, ids, n_words, share):
    nats, is_word, is_code = parts(logits, ids, n_words)
    return nats[is_word].mean() + share * nats[is_code].mean()


@exercise.mistake("the picture counts in full: its weight is `share`.")
def codes_in_full(logits, ids, n_words, share):
    nats, is_word, is_code = parts(logits, ids, n_words)
    return (1 - share) * nats[is_word].mean() + nats[is_code].mean()


@exercise.mistake("padding counts as a word, and the mark as a code: neither is asked for.")
def nothing_left_out(logits, ids, n_words, share):
    nats, _, _ = parts(logits, ids, n_words)
    is_word = ids[:, 1:] < n_words
    return weighted(nats[is_word].mean(), nats[~is_word].mean(), share)


@exercise.mistake("padding counts as a word: it is never a target.")
def padding_counted(logits, ids, n_words, share):
    nats, _, is_code = parts(logits, ids, n_words)
    return weighted(nats[ids[:, 1:] < n_words].mean(), nats[is_code].mean(), share)


@exercise.mistake("the mark counts as a code: it is at the same position in every row.")
def mark_counted(logits, ids, n_words, share):
    nats, is_word, _ = parts(logits, ids, n_words)
    return weighted(nats[is_word].mean(), nats[ids[:, 1:] >= n_words].mean(), share)


@exercise.mistake("the mark counts as a word: it is at the same position in every row.")
def mark_as_word(logits, ids, n_words, share):
    nats, is_word, is_code = parts(logits, ids, n_words)
    is_mark = ids[:, 1:] == logits.shape[2] - 1
    return weighted(nats[is_word | is_mark].mean(), nats[is_code].mean(), share)


@exercise.mistake(
    "the last code never counts: codes run as far as V - 2, and only V - 1 is the mark."
)
def last_code_left_out(logits, ids, n_words, share):
    nats, is_word, is_code = parts(logits, ids, n_words)
    is_code = is_code & (ids[:, 1:] < logits.shape[2] - 2)
    return weighted(nats[is_word].mean(), nats[is_code].mean(), share)


@exercise.mistake("code 0 counts as a word: its id is n_words, the first that is no word's.")
def code_0_as_word(logits, ids, n_words, share):
    nats, is_word, is_code = parts(logits, ids, n_words)
    is_0 = ids[:, 1:] == n_words
    return weighted(nats[is_word | is_0].mean(), nats[is_code & ~is_0].mean(), share)


@exercise.mistake("code 0 never counts: its id is n_words, which belongs to the codes.")
def code_0_left_out(logits, ids, n_words, share):
    nats, is_word, is_code = parts(logits, ids, n_words)
    return weighted(nats[is_word].mean(), nats[is_code & (ids[:, 1:] > n_words)].mean(), share)


@exercise.mistake(
    "the first code never counts: it is predicted at the mark, before any code is read."
)
def first_code_left_out(logits, ids, n_words, share):
    nats, is_word, is_code = parts(logits, ids, n_words)
    is_code = is_code & (ids[:, :-1] < logits.shape[2] - 1)
    return weighted(nats[is_word].mean(), nats[is_code].mean(), share)


@exercise.mistake(
    "you look for words and codes in what is read: it is the next symbol that is a word or a code."
)
def kinds_of_the_input(logits, ids, n_words, share):
    nats, _, _ = parts(logits, ids, n_words)
    read = ids[:, :-1]
    is_word = (read > 0) & (read < n_words)
    is_code = (read >= n_words) & (read < logits.shape[2] - 1)
    return weighted(nats[is_word].mean(), nats[is_code].mean(), share)


@exercise.mistake(
    "the targets are not shifted: each position is asked for the symbol that it has just read."
)
def not_shifted(logits, ids, n_words, share):
    nats = F.cross_entropy(logits.mT, ids, reduction="none")
    is_word = (ids > 0) & (ids < n_words)
    is_code = (ids >= n_words) & (ids < logits.shape[2] - 1)
    return weighted(nats[is_word].mean(), nats[is_code].mean(), share)


@exercise.mistake(
    "you average in each row first, and then over rows: a word of a short sentence weighs more "
    "than one of a long."
)
def mean_of_means(logits, ids, n_words, share):
    nats, is_word, is_code = parts(logits, ids, n_words)
    words = (nats * is_word).sum(1) / is_word.sum(1)
    return weighted(words.mean(), nats[is_code].mean(), share)


@exercise.mistake(
    "your shift goes the wrong way: each position is asked for the symbol that comes before it."
)
def shifted_backwards(logits, ids, n_words, share):
    return picture_loss(logits.flip(1), ids.flip(1), n_words, share)


@exercise.mistake(
    "words compete with words alone, and codes with codes: the softmax is over all V symbols."
)
def among_their_kind(logits, ids, n_words, share):
    _, is_word, is_code = parts(logits, ids, n_words)
    x, target = logits[:, :-1], ids[:, 1:]
    words = F.cross_entropy(x[is_word][:, :n_words], target[is_word])
    codes = F.cross_entropy(x[is_code][:, n_words:-1], target[is_code] - n_words)
    return weighted(words, codes, share)


@exercise.mistake(
    "the softmax is taken twice: cross-entropy takes logits, and these are probabilities."
)
def softmax_twice(logits, ids, n_words, share):
    return picture_loss(logits.softmax(2), ids, n_words, share)


@exercise.mistake(
    "each part is divided by all positions: divide by as many symbols as the part has."
)
def divided_by_all(logits, ids, n_words, share):
    nats, is_word, is_code = parts(logits, ids, n_words)
    return weighted((nats * is_word).mean(), (nats * is_code).mean(), share)


@exercise.mistake("the sign is reversed: a loss is minus the logarithm of a probability.")
def sign(logits, ids, n_words, share):
    return -picture_loss(logits, ids, n_words, share)


@exercise.mistake("you return two losses: return their weighted sum.")
def as_a_pair(logits, ids, n_words, share):
    nats, is_word, is_code = parts(logits, ids, n_words)
    return nats[is_word].mean(), nats[is_code].mean()


@exercise.mistake("that is a loss for each row: a loss is one number.")
def of_each_row(logits, ids, n_words, share):
    nats, is_word, is_code = parts(logits, ids, n_words)
    words, codes = ((nats * of_kind).sum(1) / of_kind.sum(1) for of_kind in (is_word, is_code))
    return weighted(words, codes, share)
