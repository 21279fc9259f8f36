"""Biases of an LSTM's input and forget gates that give its units memories of many lengths."""

import math

from torch import Tensor

from utils.exercises.checking import Exercise
from utils.exercises.gates.drawn import gates


def chrono_biases(u: Tensor, longest: int) -> tuple[Tensor, Tensor]:
    """Return the biases (N,) of the input and the forget gate, for times of 1 to longest - 1 steps.

    Shapes: u (N,), drawn evenly from 0 to 1.
    """
    return biases(1 + u * (longest - 2))


def biases(times: Tensor) -> tuple[Tensor, Tensor]:
    return -times.log(), times.log()


exercise = Exercise(chrono_biases, gradient=False)


# What it is tried on ------------------------------------------------------------------------------


@exercise.stage("one unit")
def one_unit():
    return [(gates(1), 100)]


@exercise.stage("several units")
def several_units():
    return [(gates(5), 50), (gates(8), 784)]


# What goes wrong ----------------------------------------------------------------------------------


@exercise.mistake(
    "a unit that forgets slowly should also write little: the input gate's bias has the opposite "
    "sign."
)
def both_open(u, longest):
    _, b_f = chrono_biases(u, longest)
    return b_f, b_f


@exercise.mistake(
    "the two biases are swapped: such a unit forgets at once and writes all the time."
)
def exchanged(u, longest):
    return chrono_biases(u, longest)[::-1]


@exercise.mistake("those are the times in steps; a gate's bias is the logarithm of its time.")
def no_logarithm(u, longest):
    times = 1 + u * (longest - 2)
    return -times, times


@exercise.mistake("the times should be spread evenly, not their logarithms.")
def logarithms_spread_evenly(u, longest):
    return -u * math.log(longest - 1), u * math.log(longest - 1)


@exercise.mistake("your times begin at 0; the shortest memory is one step.")
def from_0(u, longest):
    return biases(u * (longest - 1))


@exercise.mistake("your longest time is `longest`; the recipe ends at one step less.")
def one_step_too_far(u, longest):
    return biases(1 + u * (longest - 1))


@exercise.mistake("the input gate's bias is missing: it is minus that of the forget gate.")
def forget_gate_alone(u, longest):
    return 0 * u, chrono_biases(u, longest)[1]


@exercise.mistake("your logarithm has base 2: a sigmoid is made with e.")
def base_2(u, longest):
    t = 1 + u * (longest - 2)
    return -t.log2(), t.log2()


@exercise.mistake(
    "you take u itself for the time: it should be spread over 1 to longest - 1 steps."
)
def not_stretched(u, longest):
    return -u.log(), u.log()
