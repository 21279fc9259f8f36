"""The forget gate's bias that leaves a given share of the cell after so many steps."""

import math

from utils.exercises.checking import Exercise


def forget_bias(distance: int, share: float) -> float:
    """Return the bias for which a share (0 to 1) of the cell is left after so many steps."""
    return logit(share ** (1 / distance))


def logit(p: float) -> float:
    return math.log(p / (1 - p))


exercise = Exercise(forget_bias, gradient=False)


# What it is tried on ------------------------------------------------------------------------------


@exercise.stage("one step")
def one_step():
    return [(1, 0.5), (1, 0.8)]


@exercise.stage("half-lives")
def half_lives():
    return [(10, 0.5), (100, 0.5)]


@exercise.stage("other shares")
def other_shares():
    return [(20, 0.1), (50, 0.9), (7, 0.3)]


# What goes wrong ----------------------------------------------------------------------------------


@exercise.mistake("that is the gate; the bias is the number that a sigmoid turns into it.")
def gate(distance, share):
    return share ** (1 / distance)


@exercise.mistake("a logarithm undoes an exponential, not a sigmoid.")
def logarithm(distance, share):
    return math.log(share) / distance


@exercise.mistake("that keeps half, whatever `share` is.")
def half(distance, share):
    return logit(0.5 ** (1 / distance))


@exercise.mistake("that keeps 1/e, whatever `share` is.")
def one_over_e(distance, share):
    return logit(math.exp(-1 / distance))


@exercise.mistake("`share` is the part that is left, not the part that is lost.")
def lost(distance, share):
    return logit((1 - share) ** (1 / distance))


@exercise.mistake("a bias of this sign closes the gate: for a long memory it should be open.")
def sign(distance, share):
    return -logit(share ** (1 / distance))


@exercise.mistake("you took away the same amount at each step; a gate takes away the same share.")
def linear(distance, share):
    return logit(1 - (1 - share) / distance)


@exercise.mistake(
    "log(distance) is the rule of thumb for a memory of about so many steps, but it ignores "
    "`share`."
)
def logarithm_of_the_distance(distance, share):
    return math.log(distance)


@exercise.mistake("you let each step keep `share`. Here `share` is kept by all the steps together.")
def power_for_root(distance, share):
    return logit(share**distance)


@exercise.mistake("that leaves `share` after one step, whatever the distance.")
def one_step_only(distance, share):
    return logit(share)


@exercise.mistake("that is one step too many: `distance` gates are multiplied.")
def one_step_more(distance, share):
    return logit(share ** (1 / (distance + 1)))


@exercise.mistake("a sigmoid is made with e, so undo it with the natural logarithm.")
def logarithm_of_base_two(distance, share):
    return logit(share ** (1 / distance)) / math.log(2)


@exercise.mistake(
    "a sigmoid is made with e, so undo it with the natural logarithm, not with base 10."
)
def logarithm_of_base_ten(distance, share):
    return logit(share ** (1 / distance)) / math.log(10)


@exercise.mistake("that is a good approximation for long distances, but not for short ones.")
def for_long_distances(distance, share):
    return math.log(-distance / math.log(share))


@exercise.mistake("you apply a sigmoid to the gate: which number does a sigmoid turn into it?")
def sigmoid_of_the_gate(distance, share):
    return 1 / (1 + math.exp(-(share ** (1 / distance))))
