"""Two steps of a linear recurrence are one of the same form."""

from torch import Tensor

from utils.exercises.checking import Exercise, random


def two_steps(a_1: Tensor, u_1: Tensor, a_2: Tensor, u_2: Tensor) -> tuple[Tensor, Tensor]:
    """Return a and u of the one step h → a h + u that does what the first and the second do.

    All products are element by element.
    Shapes: four times (B, N) to twice (B, N).
    """
    return a_2 * a_1, a_2 * u_1 + u_2


exercise = Exercise(two_steps, runs=True)


# What it is tried on ------------------------------------------------------------------------------


def steps(B: int, N: int) -> tuple[Tensor, ...]:
    """Two steps: gates from -1 to 1, and inputs."""
    return random(B, N).tanh(), random(B, N), random(B, N).tanh(), random(B, N)


@exercise.stage("one number")
def one_number():
    return [steps(1, 1), steps(1, 1)]


@exercise.stage("several states")
def several():
    return [steps(4, 3), steps(2, 5)]


# What goes wrong ----------------------------------------------------------------------------------


@exercise.mistake(
    "the order is reversed: that is the second step, and then the first. Which gate does the first "
    "input still pass?"
)
def reversed_order(a_1, u_1, a_2, u_2):
    return a_1 * a_2, a_1 * u_2 + u_1


@exercise.mistake(
    "the inputs are added as they are: the second step multiplies all that it finds, the first "
    "input included."
)
def inputs_added(a_1, u_1, a_2, u_2):
    return a_1 * a_2, u_1 + u_2


@exercise.mistake("the gates are added: what happens to a state that passes both, one by one?")
def gates_added(a_1, u_1, a_2, u_2):
    return a_1 + a_2, a_2 * u_1 + u_2


@exercise.mistake("the second gate multiplies its own input, too: that input comes after the gate.")
def both_inputs_gated(a_1, u_1, a_2, u_2):
    return a_1 * a_2, a_2 * (u_1 + u_2)


@exercise.mistake("the first input passes both gates in yours: it comes after the first one.")
def through_both_gates(a_1, u_1, a_2, u_2):
    return a_1 * a_2, a_1 * a_2 * u_1 + u_2


@exercise.mistake("the first input passes the first gate in yours: which gate comes after it?")
def through_the_first_gate(a_1, u_1, a_2, u_2):
    return a_1 * a_2, a_1 * u_1 + u_2


@exercise.mistake("each input passes its own gate in yours: a gate is for what was there before.")
def through_its_own_gate(a_1, u_1, a_2, u_2):
    return a_1 * a_2, a_1 * u_1 + a_2 * u_2


@exercise.mistake("the inputs are multiplied with each other: each is added, at its step.")
def inputs_multiplied(a_1, u_1, a_2, u_2):
    return a_1 * a_2, u_1 * u_2


@exercise.mistake("that is the second step alone: the first one is lost.")
def second_alone(a_1, u_1, a_2, u_2):
    return a_2, u_2


@exercise.mistake("that is the first step alone: the second one is lost.")
def first_alone(a_1, u_1, a_2, u_2):
    return a_1, u_1


@exercise.mistake("the gate is the second one's alone: the state passes two of them.")
def second_gate_alone(a_1, u_1, a_2, u_2):
    return a_2, a_2 * u_1 + u_2


@exercise.mistake("the input is the second one's alone: what was added at the first step is lost.")
def second_input_alone(a_1, u_1, a_2, u_2):
    return a_1 * a_2, u_2


@exercise.mistake("the two values are exchanged: first the gate, then the input.")
def exchanged(a_1, u_1, a_2, u_2):
    return a_2 * u_1 + u_2, a_1 * a_2


@exercise.mistake("the gate's sign is lost: a gate below 0 turns the state over.")
def sign_lost(a_1, u_1, a_2, u_2):
    return (a_1 * a_2).abs(), a_2 * u_1 + u_2


@exercise.mistake("that is the mean of the two steps: they come one after the other.")
def mean_of_both(a_1, u_1, a_2, u_2):
    return (a_1 + a_2) / 2, (u_1 + u_2) / 2


@exercise.mistake("the second input is subtracted: a step adds its input.")
def subtracted(a_1, u_1, a_2, u_2):
    return a_1 * a_2, a_2 * u_1 - u_2


@exercise.mistake(
    "that is the state after both steps, from 0 on: return a gate, too, for any state before them."
)
def from_0(a_1, u_1, a_2, u_2):
    return a_2 * u_1 + u_2
