"""How wide may a gated layer be, if it is to cost what the plain one does?"""

from utils.exercises.checking import Exercise


def gated_width(d_ff: int, multiple: int) -> int:
    """Return the hidden width at which a gated layer has as many weights as a plain one.

    d_ff: the hidden width of the plain layer, which has W_1 and W_2. The gated one has W_gate, W_up
    and W_down, and neither has biases. The width is rounded up to the next multiple.
    """
    return -(-2 * d_ff // (3 * multiple)) * multiple


exercise = Exercise(gated_width, gradient=False)


# What it is tried on ------------------------------------------------------------------------------


@exercise.stage("widths that need no rounding")
def no_rounding():
    return [(12, 1), (1536, 1)]


@exercise.stage("the next whole number")
def whole_numbers():
    return [(512, 1), (100, 1)]


@exercise.stage("the next multiple")
def multiples():
    return [(64, 8), (100, 7), (16_384, 256), (24, 8), (84, 7), (111, 10)]


# What goes wrong ----------------------------------------------------------------------------------


def up(numerator: int, denominator: int, multiple: int) -> int:
    return -(-numerator // (denominator * multiple)) * multiple


@exercise.mistake("that is half: do three matrices cost twice as much as two?")
def half(d_ff, multiple):
    return up(d_ff, 2, multiple)


@exercise.mistake("that is a third: what did the plain layer have, if the gated one has three?")
def third(d_ff, multiple):
    return up(d_ff, 3, multiple)


@exercise.mistake("wider than the plain layer, with one matrix more?")
def upside_down(d_ff, multiple):
    return up(3 * d_ff, 2, multiple)


@exercise.mistake("at the same width the gated layer has half as many weights again.")
def same_width(d_ff, multiple):
    return up(d_ff, 1, multiple)


@exercise.mistake("you round down; here it is up, so that the width is never below what is fair.")
def down(d_ff, multiple):
    return 2 * d_ff // (3 * multiple) * multiple


@exercise.mistake("rounded down before it is rounded up: a fraction is lost that asks for more.")
def down_then_up(d_ff, multiple):
    return up(2 * d_ff // 3, 1, multiple)


@exercise.mistake("you round to the nearest multiple; here it is up, as Llama does.")
def nearest(d_ff, multiple):
    return (4 * d_ff + 3 * multiple) // (6 * multiple) * multiple


@exercise.mistake("what fits already needs no further multiple.")
def one_too_many(d_ff, multiple):
    return (2 * d_ff // (3 * multiple) + 1) * multiple


@exercise.mistake("is it a multiple? Processors like widths that are.")
def no_multiple(d_ff, multiple):
    return up(2 * d_ff, 3, 1)


@exercise.mistake("that is how many multiples there are, not the width.")
def multiples_counted(d_ff, multiple):
    return up(2 * d_ff, 3, multiple) // multiple


@exercise.mistake(
    "two thirds are rounded to the nearest whole number before they are rounded up: a fraction "
    "may be lost that asks for more."
)
def nearest_then_up(d_ff, multiple):
    return up(round(2 * d_ff / 3), 1, multiple)


@exercise.mistake("you round down, and to no multiple.")
def cut_off(d_ff, multiple):
    return d_ff * 2 // 3


@exercise.mistake("you multiply by `multiple`: the width should be rounded up to one.")
def times_multiple(d_ff, multiple):
    return -(-2 * d_ff // 3) * multiple


@exercise.mistake("you round to the nearest whole number: round up, and to a multiple.")
def rounded_off(d_ff, multiple):
    return round(2 * d_ff / 3)
