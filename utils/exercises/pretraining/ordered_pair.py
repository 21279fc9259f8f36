"""Two parts of a text as a pair, for BERT's question about them, and for ALBERT's."""

from utils.data.text import BOS, EOS
from utils.exercises.checking import Exercise


def ordered_pair(
    first: list[int], second: list[int], other: list[int], question: str, die: float
) -> tuple[list[int], list[int], int]:
    """Return ids, types and label of a pair: BOS, a part, EOS, a part, EOS.

    If the die is below 0.5, the second part follows the first, and the label is 0. Otherwise it is
    1: for the question "next" the other part stands in place of the second, for "order" the two
    are exchanged. A type is 0 up to the first part's EOS, and 1 behind it.
    first, second: neighbours in a text; other: of another text; die: from 0 up to 1.
    """
    label = 0 if die < 0.5 else 1
    if label and question == "next":
        second = other
    elif label:
        first, second = second, first
    return together(first, second, label)


def together(first: list[int], second: list[int], label: int) -> tuple[list[int], list[int], int]:
    ids = [BOS, *first, EOS, *second, EOS]
    return ids, [0] * (len(first) + 2) + [1] * (len(second) + 1), label


exercise = Exercise(ordered_pair, gradient=False)


# What it is tried on ------------------------------------------------------------------------------

FIRST, SECOND, OTHER = [11, 12, 13], [21, 22], [31, 32, 33, 34]


@exercise.stage("a pair that follows")
def follows():
    return [(FIRST, SECOND, OTHER, "next", 0.1), (FIRST, SECOND, OTHER, "order", 0.4)]


@exercise.stage("a next sentence from another text")
def from_another_text():
    return [(FIRST, SECOND, OTHER, "next", 0.9), ([5], [6, 7], [8], "next", 0.6)]


@exercise.stage("two parts in the other order")
def exchanged():
    return [(FIRST, SECOND, OTHER, "order", 0.7), ([5, 6, 7, 8], [9], [10, 11], "order", 0.95)]


@exercise.stage("a die of exactly 0.5, and of 0")
def exactly_half():
    return [
        (FIRST, SECOND, OTHER, question, die)
        for question in ("next", "order")
        for die in (0.5, 0.0)
    ]


# What goes wrong ----------------------------------------------------------------------------------


def drawn(first, second, other, question, die):
    """Return the two parts that are shown, and the label."""
    label = int(die >= 0.5)
    if label and question == "next":
        return first, other, label
    return (second, first, label) if label else (first, second, label)


@exercise.mistake("for the order, too, you take a part of another text: topic tells that apart.")
def other_for_both(first, second, other, question, die):
    return ordered_pair(first, second, other, "next", die)


@exercise.mistake(
    "for the next sentence, too, you exchange the parts, and the other is never seen."
)
def exchanged_for_both(first, second, other, question, die):
    return ordered_pair(first, second, other, "order", die)


@exercise.mistake("the two questions are mixed up: which of them exchanges the parts?")
def questions_exchanged(first, second, other, question, die):
    return ordered_pair(first, second, other, {"next": "order", "order": "next"}[question], die)


@exercise.mistake("the label is the wrong way round: class 0 says that the second part follows.")
def label_inverted(*given):
    ids, types, label = ordered_pair(*given)
    return ids, types, 1 - label


@exercise.mistake("the die is read the wrong way round: below 0.5 the second part follows.")
def die_inverted(first, second, other, question, die):
    return ordered_pair(first, second, other, question, 0.0 if die >= 0.5 else 0.9)


@exercise.mistake("a die of exactly 0.5 is not below it.")
def half_included(first, second, other, question, die):
    return ordered_pair(first, second, other, question, 0.0 if die <= 0.5 else die)


@exercise.mistake("the label says that they are exchanged, and the parts stand as in the text.")
def never_exchanged(first, second, other, question, die):
    ids, types, label = ordered_pair(first, second, other, question, die)
    return (*together(first, second, 0)[:2], label) if question == "order" else (ids, types, label)


@exercise.mistake("the other part stands in the first one's place: ask what comes next.")
def other_in_front(first, second, other, question, die):
    if question == "next" and die >= 0.5:
        return together(other, second, 1)
    return ordered_pair(first, second, other, question, die)


@exercise.mistake(
    "types went with their parts when those were exchanged: then they give the answer away."
)
def types_exchanged_too(first, second, other, question, die):
    ids, types, label = ordered_pair(first, second, other, question, die)
    return ids, [1 - t for t in types] if label and question == "order" else types, label


@exercise.mistake(
    "the types are those of the parts before the exchange: count those that are shown."
)
def types_before_the_exchange(first, second, other, question, die):
    ids, types, label = ordered_pair(first, second, other, question, die)
    if question == "order":
        types = together(first, second, label)[1]
    return ids, types, label


@exercise.mistake("the EOS between the parts is missing: where does the second one begin?")
def no_separator(*given):
    a, b, label = drawn(*given)
    return [BOS, *a, *b, EOS], [0] * (len(a) + 1) + [1] * (len(b) + 1), label


@exercise.mistake("the EOS at the end is missing: each part has one behind it.")
def no_end(*given):
    ids, types, label = ordered_pair(*given)
    return ids[:-1], types[:-1], label


@exercise.mistake("BOS is missing: what is read off for the pair stands there.")
def no_begin(*given):
    ids, types, label = ordered_pair(*given)
    return ids[1:], types[1:], label


@exercise.mistake("a part's EOS belongs to it: the one between them still has type 0.")
def separator_of_the_second(*given):
    ids, types, label = ordered_pair(*given)
    place = types.index(1) - 1
    return ids, [*types[:place], 1, *types[place + 1 :]], label


@exercise.mistake("a second BOS stands before the second part: there is one, at the very front.")
def two_begins(*given):
    ids, types, label = ordered_pair(*given)
    place = types.index(1)
    return [*ids[:place], BOS, *ids[place:]], [*types, 1], label


@exercise.mistake("all types are 0: nothing tells the parts apart but an EOS.")
def one_type(*given):
    ids, types, label = ordered_pair(*given)
    return ids, [0] * len(types), label


@exercise.mistake(
    "you count the types with the second part, but the other part is shown: count what is shown."
)
def types_of_the_second(first, second, other, question, die):
    ids, types, label = ordered_pair(first, second, other, question, die)
    if question == "next" and label:
        types = together(first, second, label)[1]
    return ids, types, label


@exercise.mistake("BOS has a type, too: there are as many types as ids.")
def begin_without_a_type(*given):
    ids, types, label = ordered_pair(*given)
    return ids, types[1:], label


@exercise.mistake("your types are the wrong way round: those of the first part are 0.")
def types_from_1(first, second, other, question, die):
    ids, types, label = ordered_pair(first, second, other, question, die)
    return ids, [1 - each for each in types], label
