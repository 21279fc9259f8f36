"""How many codes are still hidden after each step, if all are drawn at once?"""

import math

from utils.exercises.checking import Exercise


def unmask_schedule(n: int, steps: int) -> list[int]:
    """Return how many of n codes are hidden after each of the steps.

    After step t of `steps` it is n · cos(π/2 · t/steps), rounded down; but each step shows at least
    one code more, and the last one all.
    """
    hidden, before = [], n
    for t in range(1, steps + 1):
        before = min(before - 1, math.floor(n * math.cos(math.pi / 2 * (t / steps))))
        hidden.append(before)
    return hidden


exercise = Exercise(unmask_schedule, gradient=False)


# What it is tried on ------------------------------------------------------------------------------


@exercise.stage("one step")
def one_step():
    return [(9, 1)]


@exercise.stage("several steps")
def several_steps():
    return [(36, 4), (100, 7)]


@exercise.stage("nearly as many steps as codes")
def many_steps():
    return [(36, 29), (8, 8), (16, 11)]  # no cosine is 1/2, no straight line rounds


# What goes wrong ----------------------------------------------------------------------------------


def hidden_by(share, n: int, steps: int, rounded=math.floor) -> list[int]:
    """A schedule by another share of what is done, or another rounding."""
    hidden, before = [], n
    for t in range(1, steps + 1):
        before = min(before - 1, rounded(n * share(t / steps)))
        hidden.append(before)
    return hidden


def cosine(done: float) -> float:
    return math.cos(math.pi / 2 * done)


@exercise.mistake(
    "that is a straight line: with a cosine, few codes are shown at first, when little is known."
)
def straight(n, steps):
    return hidden_by(lambda done: 1 - done, n, steps)


@exercise.mistake(
    "the mask's share is 1 - sin: it shows most codes at first, when the least is known."
)
def fast_first(n, steps):
    return hidden_by(lambda done: 1 - math.sin(math.pi / 2 * done), n, steps)


@exercise.mistake(
    "that is the cosine of a learning rate, (1 + cos π t/steps) / 2: here it is a quarter "
    "of a turn."
)
def half_a_turn(n, steps):
    return hidden_by(lambda done: (1 + math.cos(math.pi * done)) / 2, n, steps)


@exercise.mistake("these are the codes that are shown so far: return how many are hidden.")
def shown(n, steps):
    return [n - hidden for hidden in unmask_schedule(n, steps)]


@exercise.mistake(
    "that is how many codes each step shows: return how many are still hidden after it."
)
def shown_in_each(n, steps):
    hidden = [n, *unmask_schedule(n, steps)]
    return [a - b for a, b in zip(hidden, hidden[1:], strict=False)]


@exercise.mistake(
    "you round up, and so one code is left: in floating point, the cosine of π/2 is a little more "
    "than 0."
)
def rounded_up(n, steps):
    return hidden_by(cosine, n, steps, math.ceil)


@exercise.mistake("you round up, but for the last step: the number is rounded down.")
def rounded_up_but_the_last(n, steps):
    return [*hidden_by(cosine, n, steps, math.ceil)[:-1], 0]


@exercise.mistake("you round to the nearest number: the number is rounded down.")
def to_the_nearest(n, steps):
    return hidden_by(cosine, n, steps, round)


@exercise.mistake("some steps of yours show nothing: each shows at least one code more.")
def idle_steps(n, steps):
    return [math.floor(n * cosine(t / steps)) for t in range(1, steps + 1)]


@exercise.mistake("that is before each step: begin with t = 1, after the first, and end with 0.")
def before_each(n, steps):
    return [n, *unmask_schedule(n, steps)[:-1]]


@exercise.mistake("all codes are hidden before the first step: return the numbers after each step.")
def one_more(n, steps):
    return [n, *unmask_schedule(n, steps)]


@exercise.mistake("the last step is missing: after it, 0 codes are hidden.")
def last_left_out(n, steps):
    return unmask_schedule(n, steps)[:-1]


@exercise.mistake("you take the share of what was still hidden: it is a share of all n codes.")
def of_the_rest(n, steps):
    hidden, before = [], n
    for t in range(1, steps + 1):
        before = math.floor(before * cosine(t / steps))
        hidden.append(before)
    return hidden


@exercise.mistake(
    "you take the share of what was still hidden, and fall below 0: it is a share of all n."
)
def of_the_rest_below_0(n, steps):
    hidden, before = [], n
    for t in range(1, steps + 1):
        before = min(before - 1, math.floor(before * cosine(t / steps)))
        hidden.append(before)
    return hidden


@exercise.mistake("these are shares: multiply by n, and round down.")
def shares(n, steps):
    return [hidden / n for hidden in unmask_schedule(n, steps)]


@exercise.mistake("these are numbers with a point: codes are whole, so round down.")
def not_rounded(n, steps):
    return [n * cosine(t / steps) for t in range(1, steps + 1)]


@exercise.mistake("the angle is t / steps, in which π/2 is missing: the last step is far from 0.")
def no_quarter(n, steps):
    return hidden_by(math.cos, n, steps)


@exercise.mistake(
    "your angle goes to π, where the cosine is -1: fewer than 0 codes can't be hidden."
)
def to_minus_one(n, steps):
    return hidden_by(lambda done: math.cos(math.pi * done), n, steps)


@exercise.mistake("a sine grows from 0 to 1, but what is hidden shrinks.")
def sine(n, steps):
    return hidden_by(lambda done: math.sin(math.pi / 2 * done), n, steps)


@exercise.mistake("you divide by steps + 1: after the last step, all of the way is done.")
def one_step_more(n, steps):
    return hidden_by(lambda done: cosine(done * steps / (steps + 1)), n, steps)


@exercise.mistake(
    "your steps count from 0: then nothing is done after the first, and codes remain at the end."
)
def from_0(n, steps):
    return hidden_by(lambda done: cosine(done - 1 / steps), n, steps)


@exercise.mistake(
    "you round t / steps down, which is 0 until the last step: a share is no whole number."
)
def whole_shares(n, steps):
    return hidden_by(lambda done: cosine(done // 1), n, steps)


@exercise.mistake(
    "you take the larger number of the two: each step shows at least one code, and more by the "
    "cosine."
)
def larger_of_both(n, steps):
    hidden, before = [], n
    for t in range(1, steps + 1):
        before = max(before - 1, math.floor(n * cosine(t / steps)))
        hidden.append(before)
    return hidden


@exercise.mistake("`math.cos` takes an angle in radians: a quarter of a turn is π/2, not 90.")
def degrees(n, steps):
    return hidden_by(lambda done: math.cos(90 * done), n, steps)


@exercise.mistake("the order is reversed: the first step leaves the most hidden.")
def backwards(n, steps):
    return unmask_schedule(n, steps)[::-1]
