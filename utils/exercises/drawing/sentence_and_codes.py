"""One row of symbols: the words of a sentence, a mark, and the codes of its picture."""

import torch
from torch import Tensor
from torch.nn import functional as F

from utils.exercises.checking import Exercise


def sentence_and_codes(words: Tensor, codes: Tensor, n_words: int, n_codes: int) -> Tensor:
    """Return ids: words, a mark, and then codes, each kind with numbers of its own.

    Words keep their numbers, 0 to n_words - 1; code c becomes n_words + c; the mark, which begins a
    picture, is the last number, n_words + n_codes. Padding, 0, stays where it is.
    Shapes: words (B, T), codes (B, n), to (B, T + 1 + n).
    """
    mark = torch.full((len(words), 1), n_words + n_codes)
    return torch.cat([words, mark, n_words + codes], dim=1)


exercise = Exercise(sentence_and_codes, gradient=False, runs=True)


# What it is tried on ------------------------------------------------------------------------------


def pairs(n_words: int, n_codes: int, n: int, *lengths: int) -> tuple[Tensor, Tensor, int, int]:
    """Draw sentences of these lengths, padded behind, and a picture of n codes for each."""
    words = torch.randint(1, n_words, (len(lengths), max(lengths)))
    for row, length in zip(words, lengths, strict=True):
        row[length:] = 0
    return words, torch.randint(n_codes, (len(lengths), n)), n_words, n_codes


@exercise.stage("one sentence and a picture of two codes")
def one_pair():
    return [pairs(7, 4, 2, 3), pairs(5, 9, 3, 2)]


@exercise.stage("several sentences, some of them padded")
def several():
    words, *others = pairs(9, 6, 3, 3, 1)
    in_common = F.pad(words, (0, 2)), *others  # padding at the end of all sentences
    return [pairs(20, 8, 6, 4, 2, 5), pairs(11, 30, 4, 3, 6), in_common]


# What goes wrong ----------------------------------------------------------------------------------


def row(words: Tensor, mark: int | None, codes: Tensor) -> Tensor:
    marks = [] if mark is None else [torch.full((len(words), 1), mark)]
    return torch.cat([words, *marks, codes], dim=1)


@exercise.mistake(
    "codes keep their numbers, which words have already: code 5 and word 5 would be the same "
    "symbol."
)
def overlapping(words, codes, n_words, n_codes):
    return row(words, n_words + n_codes, codes)


@exercise.mistake(
    "codes are moved by their own number: they have to begin after the last word's number."
)
def moved_by_codes(words, codes, n_words, n_codes):
    return row(words, n_words + n_codes, n_codes + codes)


@exercise.mistake(
    "codes begin after the largest id of these words: it differs from batch to batch, so take "
    "n_words."
)
def moved_by_the_largest_word(words, codes, n_words, n_codes):
    return row(words, n_words + n_codes, words.max() + 1 + codes)


@exercise.mistake(
    "your mark comes after the largest code of these pictures: it differs from batch to batch, so "
    "take n_codes."
)
def mark_after_the_largest_code(words, codes, n_words, n_codes):
    return row(words, int(n_words + codes.max()) + 1, n_words + codes)


@exercise.mistake(
    "your mark has the number n_words, and codes begin after it: here codes come right after the "
    "words, and the mark has the last number."
)
def mark_before_codes(words, codes, n_words, n_codes):
    return row(words, n_words, n_words + 1 + codes)


@exercise.mistake("your mark has the number of code 0: give it one that no other symbol has.")
def mark_as_first_code(words, codes, n_words, n_codes):
    return row(words, n_words, n_words + codes)


@exercise.mistake("your mark has the number of the last code: numbers count from 0.")
def mark_as_last_code(words, codes, n_words, n_codes):
    return row(words, n_words + n_codes - 1, n_words + codes)


@exercise.mistake("your mark has a number that words or codes have: it comes after both.")
def mark_not_moved(words, codes, n_words, n_codes):
    return row(words, n_codes, n_words + codes)


@exercise.mistake("your mark is padding, 0: the model couldn't tell where a picture begins.")
def mark_as_padding(words, codes, n_words, n_codes):
    return row(words, 0, n_words + codes)


@exercise.mistake(
    "a number is left unused: the mark is n_words + n_codes, since numbers start at 0."
)
def one_unused(words, codes, n_words, n_codes):
    return row(words, n_words + n_codes + 1, n_words + codes)


@exercise.mistake("code 0 becomes n_words + 1: numbers count from 0, so it is n_words.")
def codes_from_one(words, codes, n_words, n_codes):
    return row(words, n_words + n_codes, n_words + 1 + codes)


@exercise.mistake("code 0 gets the number of the last word: words end at n_words - 1.")
def codes_one_too_low(words, codes, n_words, n_codes):
    return row(words, n_words + n_codes, n_words - 1 + codes)


@exercise.mistake(
    "codes and the mark are one too high: numbers count from 0, so code 0 is n_words, and the mark "
    "n_words + n_codes."
)
def all_one_too_high(words, codes, n_words, n_codes):
    return row(words, n_words + n_codes + 1, n_words + 1 + codes)


@exercise.mistake("there is one mark for all sentences: each row has its own.")
def one_mark(words, codes, n_words, n_codes):
    return torch.cat([words, torch.tensor([[n_words + n_codes]]), n_words + codes], dim=1)


@exercise.mistake("the mark is missing: nothing says where the picture begins.")
def no_mark(words, codes, n_words, n_codes):
    return row(words, None, n_words + codes)


@exercise.mistake("the mark comes between the sentence and the picture, not at the beginning.")
def mark_first(words, codes, n_words, n_codes):
    return row(words[:, :0], n_words + n_codes, row(words, None, n_words + codes))


@exercise.mistake("the mark comes between the sentence and the picture, not at the end.")
def mark_last(words, codes, n_words, n_codes):
    return row(row(words, None, n_words + codes), n_words + n_codes, codes[:, :0])


@exercise.mistake(
    "the picture comes first: it would be drawn before anything is known of the sentence."
)
def picture_first(words, codes, n_words, n_codes):
    return row(n_words + codes, n_words + n_codes, words)


@exercise.mistake("words are moved, too: they keep their numbers.")
def words_moved(words, codes, n_words, n_codes):
    return row(n_words + words, n_words + n_codes, n_words + codes)


@exercise.mistake(
    "your mark follows the last word, and padding comes at the end: then each place of a picture "
    "has another position for another sentence."
)
def padding_at_the_end(words, codes, n_words, n_codes):
    whole = sentence_and_codes(words, codes, n_words, n_codes)
    order = ((whole == 0) & (torch.arange(whole.shape[1]) < words.shape[1])).int()
    return whole.gather(1, order.argsort(dim=1, stable=True))


@exercise.mistake("you moved the padding to the front: sentences are given as they should stay.")
def padding_in_front(words, codes, n_words, n_codes):
    order = (words != 0).int().argsort(dim=1, stable=True)
    return sentence_and_codes(words.gather(1, order), codes, n_words, n_codes)


@exercise.mistake(
    "padding that all sentences share is missing: it stays, so that the mark and the codes have "
    "the same positions in each batch."
)
def padding_cut_off(words, codes, n_words, n_codes):
    longest = int((words != 0).sum(dim=1).max())
    return sentence_and_codes(words[:, :longest], codes, n_words, n_codes)


@exercise.mistake(
    "all pairs are in one row: each sentence and its picture have a row of their own."
)
def in_one_row(words, codes, n_words, n_codes):
    return sentence_and_codes(words, codes, n_words, n_codes).flatten()


@exercise.mistake("these are rows in a list: put them into one tensor.")
def in_a_list(words, codes, n_words, n_codes):
    return list(sentence_and_codes(words, codes, n_words, n_codes))


@exercise.mistake("these are rows of zeros with a one: an embedding takes whole numbers.")
def one_hot(words, codes, n_words, n_codes):
    return F.one_hot(sentence_and_codes(words, codes, n_words, n_codes), n_words + n_codes + 1)


@exercise.mistake(
    "your row is of floating point: an id is a whole number, and one part that isn't, such as the "
    "mark, makes the row floating point."
)
def as_floats(words, codes, n_words, n_codes):
    return sentence_and_codes(words, codes, n_words, n_codes).float()
