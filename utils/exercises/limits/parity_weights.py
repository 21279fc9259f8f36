"""Set three weights by hand, so that a network of one unit finds the running parity."""

import torch
from torch import Tensor

from utils.exercises.checking import Exercise, random
from utils.exercises.limits.by_hand import run_on


def parity_weights() -> tuple[float, float, float]:
    """Return W_x, W_h and b with which h_t = |W_x x_t + W_h h_{t-1} + b| is the running parity.

    x_t is 0 or 1, and h_0 = 0. h_t is 1 if there were an odd number of ones up to x_t, else 0.
    """
    return -1.0, 1.0, 0.0


def states(weights: Tensor, word: Tensor) -> Tensor:
    """Run the unit. Shapes: weights (3,) and a word's ids (T,) to all states (T,)."""
    W_x, W_h, b = weights.tolist()
    h, found = 0.0, []
    for x in word.tolist():
        h = abs(W_x * x + W_h * h + b)
        found.append(h)
    return torch.tensor(found, dtype=torch.float64)


on_word = run_on(states, (3,), "three numbers, W_x, W_h and b")
exercise = Exercise(on_word(parity_weights), gradient=False, runs=True, through=on_word)


# What it is tried on ------------------------------------------------------------------------------


def words(*texts: str) -> list[tuple[Tensor]]:
    return [(torch.tensor([int(symbol) for symbol in text]),) for text in texts]


@exercise.stage("zeros before the first one")
def zeros():
    return words("0", "0001")


@exercise.stage("zeros after a one")
def one():
    return words("01", "1000")


@exercise.stage("several ones")
def several():
    return words("11", "1101", "01101011")


@exercise.stage("a word of a thousand symbols")
def long():
    return [((random(1000) > 0).long(),)]


# What goes wrong ----------------------------------------------------------------------------------


@exercise.mistake(
    "your state counts the ones: it grows with each of them, and nothing brings it back to 0."
)
@on_word
def counts_ones():
    return 1, 1, 0


@exercise.mistake(
    "your state is the last symbol: nothing is kept, so the zero after a one makes it forget."
)
@on_word
def last_symbol():
    return 1, 0, 0


@exercise.mistake(
    "your state is 1 where the last symbol is 0: nothing of the state before is kept."
)
@on_word
def not_the_last_symbol():
    return -1, 0, 1


@exercise.mistake("your state turns over at each zero: that is the parity of the zeros.")
@on_word
def parity_of_zeros():
    return 1, 1, -1


@exercise.mistake(
    "your state turns over at each symbol, whichever it is: that is the parity of the length."
)
@on_word
def parity_of_the_length():
    return 0, -1, 1


@exercise.mistake("your state counts the symbols: it never looks at which they are.")
@on_word
def counts_symbols():
    return 0, 1, 1


@exercise.mistake("your state counts the zeros, although a zero should change nothing.")
@on_word
def counts_zeros():
    return -1, 1, 1


@exercise.mistake(
    "your state is 1 from the first symbol on: neither the symbols nor the state before go into it."
)
@on_word
def always_one():
    return 0, 0, 1


@exercise.mistake(
    "your state loses a tenth at each symbol: after many zeros, the one before them is forgotten."
)
@on_word
def forgets():
    return -1, 0.9, 0


@exercise.mistake(
    "your state is halved at each symbol: after a few zeros, the one before them is forgotten."
)
@on_word
def forgets_fast():
    return -1, 0.5, 0


@exercise.mistake(
    "your state is a moving average of the symbols: it says how many ones there were lately."
)
@on_word
def moving_average():
    return 0.5, 0.5, 0


@exercise.mistake("your state doubles at each zero after a one: a zero should change nothing.")
@on_word
def doubles():
    return 1, -2, 0


@exercise.mistake("your states are 0 and 2: the parity is there, but it isn't 0 and 1.")
@on_word
def twice():
    return -2, 1, 0


@exercise.mistake("your states are 0 and a half: the parity is there, but it isn't 0 and 1.")
@on_word
def half():
    return -0.5, 1, 0


@exercise.mistake(
    "1 - 2x is the sign that a symbol gives if it is multiplied with the state: here it is added."
)
@on_word
def as_a_sign():
    return -2, 1, 1


@exercise.mistake("your state is pushed up at each step by a bias: is it still 0 before any one?")
@on_word
def half_a_bias():
    return -1, 1, 0.5
