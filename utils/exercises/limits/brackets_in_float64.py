"""Predict how many brackets fit into one number."""

from utils.exercises.checking import Prediction

DIGITS, PER_BRACKET = 53, 2  # binary digits of a number in float64, and of a bracket


def brackets_in_float64() -> int:
    """A bracket takes two binary digits, and 53 digits have room for 26 brackets."""
    return DIGITS // PER_BRACKET


exercise = Prediction(brackets_in_float64)


# What goes wrong ----------------------------------------------------------------------------------


@exercise.mistake("that is one bracket for each digit: how many digits does a bracket take?")
def a_digit_each():
    return 53


@exercise.mistake(
    "those are the digits that are stored; the first one, always 1, isn't, but it counts. And how "
    "many digits does a bracket take?"
)
def a_stored_digit_each():
    return 52


@exercise.mistake("you round up: a bracket of which one digit is lost can't be read any more.")
def rounded_up():
    return 27


@exercise.mistake("half a bracket can't be read: how many whole ones fit?")
def not_rounded():
    return 26.5


@exercise.mistake("you count all 64 bits: some of them hold the sign and the exponent.")
def all_bits():
    return 32


@exercise.mistake("you count all 64 bits, one for each bracket: some hold sign and exponent.")
def a_bit_each():
    return 64


@exercise.mistake("that is how many fit into float32: float64 has more digits.")
def float32():
    return 12


@exercise.mistake(
    "you double what fits into float32: twice the bits are more than twice the digits, since the "
    "exponent grows by three bits only."
)
def twice_float32():
    return 24


@exercise.mistake("you count four digits for each bracket: two are enough for one of two kinds.")
def four_digits_each():
    return 13


@exercise.mistake(
    "those are decimal digits: the mantissa and a bracket are counted in binary ones."
)
def decimal_digits():
    return 16


@exercise.mistake("you multiply: the more digits a bracket takes, the fewer brackets fit.")
def multiplied():
    return 106


@exercise.mistake(
    "the top bracket's two digits count, too: it is as much in the number as the rest."
)
def one_less():
    return 25


@exercise.mistake(
    "that is how often a number in float64 can be quartered before it becomes 0: the digits run "
    "out much earlier."
)
def until_0():
    return 537
