"""In how many gaps does the likeliest real word begin with a vowel?"""

from collections.abc import Sequence

import torch
from torch import Tensor

from utils.exercises.checking import Exercise, random

WORDS = ["<pad>", "<mask>", "array", "axis", "image", "row", "<name>", "table", "index", "line"]
WORDS += ["by"]  # without a vowel


def vowel_share(logits: Tensor, words: Sequence[str]) -> float:
    """Return the share of gaps whose likeliest word of letters begins with a, e, i, o or u.

    Shapes: logits (n, V), of n gaps; words: all V symbols, as strings.
    """
    spelt = torch.tensor([word.isalpha() for word in words])
    best = logits.masked_fill(~spelt, -torch.inf).argmax(dim=1)
    return sum(words[i][0] in "aeiou" for i in best.tolist()) / len(best)


exercise = Exercise(vowel_share, gradient=False, runs=True)


# What it is tried on ------------------------------------------------------------------------------


def scores(n: int, *first: str, second: Sequence[str] = ()) -> tuple[Tensor, list[str]]:
    """Logits in which these words are likeliest, gap by gap, and these come next."""
    logits = random(n, len(WORDS))
    for row, word in zip(logits, first, strict=True):
        row[WORDS.index(word)] += 20
    for row, word in zip(logits, second, strict=bool(second)):
        row[WORDS.index(word)] += 10
    return logits, list(WORDS)


@exercise.stage("one gap, with a vowel and without")
def one_gap():
    return [scores(1, "axis"), scores(1, "row")]


@exercise.stage("several gaps")
def several_gaps():
    return [scores(4, "axis", "table", "image", "index"), scores(3, "line", "row", "array")]


@exercise.stage("a symbol that is no word is likeliest: the next one counts")
def no_word():
    return [scores(3, "<name>", "<mask>", "row", second=["index", "line", "axis"])]


@exercise.stage("all kinds of gaps")
def all_kinds():
    first = ["<name>", "table", "axis", "<pad>", "by", "image", "line"]
    second = ["axis", "index", "row", "table", "index", "line", "image"]
    return [scores(7, *first, second=second)]


@exercise.stage("a symbol with a hyphen or a digit is likeliest: it isn't made of letters only")
def more_than_letters():
    words = ["<mask>", "in-place", "by", "int8", "edge", "row"]
    logits = random(4, len(words))
    for row, word in zip(logits, ("in-place", "int8", "edge", "in-place"), strict=True):
        row[words.index(word)] += 20
    for row, word in zip(logits, ("by", "row", "row", "edge"), strict=True):
        row[words.index(word)] += 10
    return [(logits, words)]


@exercise.stage("every vowel, y as a consonant, and logits below 0")
def every_vowel():
    words = ["<mask>", "unit", "yield", "<name>", "order", "edge", "index"]
    logits = random(5, len(words)) - 30
    for row, word in zip(logits, ("unit", "order", "yield", "edge", "unit"), strict=True):
        row[words.index(word)] += 20
    return [(logits, words)]


# What goes wrong ----------------------------------------------------------------------------------


def begins(word: str) -> bool:
    return word[0] in "aeiou"


def spelt(words: Sequence[str]) -> Tensor:
    return torch.tensor([word.isalpha() for word in words])


def best(logits: Tensor, words: Sequence[str]) -> list[str]:
    chosen = logits.masked_fill(~spelt(words), -torch.inf).argmax(dim=1)
    return [words[i] for i in chosen.tolist()]


@exercise.mistake("symbols such as <name> are no words: take the likeliest of the others.")
def symbols_too(logits, words):
    return sum(begins(words[i]) for i in logits.argmax(dim=1).tolist()) / len(logits)


@exercise.mistake("gaps whose best symbol is no word are left out: take their next best word.")
def gaps_left_out(logits, words):
    chosen = [words[i] for i in logits.argmax(dim=1).tolist()]
    kept = [word for word in chosen if word.isalpha()]
    return sum(map(begins, kept)) / max(len(kept), 1)


@exercise.mistake("that is the number of gaps: divide it by how many there are.")
def not_divided(logits, words):
    return float(sum(map(begins, best(logits, words))))


@exercise.mistake("you look at the last letter: does the word *begin* with a vowel?")
def last_letter(logits, words):
    return sum(word[-1] in "aeiou" for word in best(logits, words)) / len(logits)


@exercise.mistake("you ask whether there is a vowel anywhere: only the first letter counts.")
def any_letter(logits, words):
    return sum(any(letter in "aeiou" for letter in word) for word in best(logits, words)) / len(
        logits
    )


@exercise.mistake("that is the share of consonants: the other way round.")
def consonants(logits, words):
    return 1 - sum(map(begins, best(logits, words))) / len(logits)


@exercise.mistake("that is the *probability* of a vowel: count first guesses instead.")
def probability(logits, words):
    p = logits.masked_fill(~spelt(words), -torch.inf).softmax(dim=1)
    return p[:, [begins(word) for word in words]].sum(dim=1).mean().item()


@exercise.mistake(
    "you take the likeliest *gap* for each word: the maximum runs along the vocabulary."
)
def along_the_gaps(logits, words):
    return share_of([words[i] for i in logits.argmax(dim=0).tolist()], "aeiou")


@exercise.mistake("you count the words of the vocabulary: count gaps, by their likeliest word.")
def of_the_vocabulary(logits, words):
    return share_of([word for word in words if word.isalpha()], "aeiou")


@exercise.mistake(
    "you number the words of letters anew, and look them up in the whole vocabulary: keep their "
    "numbers."
)
def numbered_anew(logits, words):
    chosen = logits[:, spelt(words)].argmax(dim=1)
    return sum(begins(words[i]) for i in chosen.tolist()) / len(logits)


@exercise.mistake("that is the *least* likely word: take the largest logit.")
def least_likely(logits, words):
    chosen = logits.masked_fill(~spelt(words), torch.inf).argmin(dim=1)
    return sum(begins(words[i]) for i in chosen.tolist()) / len(logits)


def share_of(chosen: Sequence[str], vowels: str) -> float:
    return sum(word[0] in vowels for word in chosen) / len(chosen)


@exercise.mistake("that is in percent: a share is between 0 and 1.")
def in_per_cent(logits, words):
    return 100 * vowel_share(logits, words)


@exercise.mistake("y doesn't count here: the vowels are a, e, i, o and u.")
def y_too(logits, words):
    return share_of(best(logits, words), "aeiouy")


@exercise.mistake("u is a vowel, too: a, e, i, o and u.")
def without_u(logits, words):
    return share_of(best(logits, words), "aeio")


@exercise.mistake(
    "you give symbols a logit of 0, which is the largest where all others are below: give them "
    "-infinity."
)
def symbols_at_0(logits, words):
    chosen = (logits * spelt(words)).argmax(dim=1)
    return share_of([words[i] for i in chosen.tolist()], "aeiou")


@exercise.mistake("you divide by the size of the vocabulary: divide by the number of gaps.")
def all_lengths(logits, words):
    return sum(begins(w) for w in best(logits, words)) / len(words)


@exercise.mistake(
    "words that begin with a consonant are left out before you look: let all words of letters "
    "compete."
)
def vowels_alone(logits, words):
    return 1.0  # all of those begin with a vowel


@exercise.mistake("“in-place” isn't made of letters only: ask about each character of a symbol.")
def first_character(logits, words):
    letters = torch.tensor([word[0].isalpha() for word in words])
    chosen = logits.masked_fill(~letters, -torch.inf).argmax(dim=1)
    return share_of([words[i] for i in chosen.tolist()], "aeiou")


@exercise.mistake("“int8” ends in a digit: only letters count.")
def digits_too(logits, words):
    letters = torch.tensor([word.isalnum() for word in words])
    chosen = logits.masked_fill(~letters, -torch.inf).argmax(dim=1)
    return share_of([words[i] for i in chosen.tolist()], "aeiou")
