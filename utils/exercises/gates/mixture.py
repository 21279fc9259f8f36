"""A gate: a mixture of the old and the new, unit by unit."""

import torch
from torch import Tensor

from utils.exercises.checking import Exercise, random


def mix(a: Tensor, old: Tensor, new: Tensor) -> Tensor:
    """Return σ(a) of the old and the rest of the new. Shapes: all (B, N)."""
    z = a.sigmoid()
    return z * old + (1 - z) * new


exercise = Exercise(mix, runs=True)


# What it is tried on ------------------------------------------------------------------------------


def drawn(B: int, N: int, shift: float = 0.0) -> tuple[Tensor, ...]:
    return random(B, N) + shift, random(B, N), random(B, N)


@exercise.stage("a gate that is wide open")
def wide_open():
    return [drawn(1, 2, 40.0)]


@exercise.stage("a gate that is shut")
def shut():
    return [drawn(1, 2, -40.0)]


@exercise.stage("gates somewhere in between")
def between():
    return [drawn(1, 1), drawn(2, 4), drawn(3, 3)]


# What goes wrong ----------------------------------------------------------------------------------


@exercise.mistake("`a` has no bounds: which function turns it into a gate between 0 and 1?")
def without_sigmoid(a, old, new):
    return a * old + (1 - a) * new


@exercise.mistake("the shares are swapped: an open gate, near 1, keeps the old.")
def exchanged(a, old, new):
    return mix(-a, old, new)


@exercise.mistake("a tanh lies between -1 and 1, but a gate that is shut should be 0.")
def with_tanh(a, old, new):
    return mix_with(a.tanh(), old, new)


@exercise.mistake(
    "you add all of the new, however much of the old stays: the share of the new is the rest, 1 - "
    "σ(a)."
)
def new_in_full(a, old, new):
    return a.sigmoid() * old + new


@exercise.mistake("both get the same share: the new should get the rest, 1 - σ(a).")
def same_share(a, old, new):
    return a.sigmoid() * (old + new)


@exercise.mistake("the sigmoid is taken twice: for a wide open gate that gives 0.73.")
def sigmoid_twice(a, old, new):
    return mix(a.sigmoid(), old, new)


@exercise.mistake("1 - σ(a) is not σ(1 - a).")
def sigmoid_of_the_rest(a, old, new):
    return a.sigmoid() * old + (1 - a).sigmoid() * new


@exercise.mistake("a softmax divides one gate among the units: each unit has a gate of its own.")
def with_softmax(a, old, new):
    return mix_with(a.softmax(dim=-1), old, new)


def mix_with(z: Tensor, old: Tensor, new: Tensor) -> Tensor:
    return z * old + (1 - z) * new


@exercise.mistake("that is a switch, and it has no slope: a gate that is half open lets half in.")
def switch(a, old, new):
    return torch.where(a > 0, old, new)


@exercise.mistake("you multiply the old by the new: the two shares are added.")
def multiplied(a, old, new):
    z = a.sigmoid()
    return (z * old) * ((1 - z) * new)


@exercise.mistake("you subtract the share of the new: the two shares are added.")
def subtracted(a, old, new):
    z = a.sigmoid()
    return z * old - (1 - z) * new


@exercise.mistake("the old is missing: only the share of the new is left.")
def new_alone(a, old, new):
    return (1 - a.sigmoid()) * new


@exercise.mistake("the new is missing: only the share of the old is left.")
def old_alone(a, old, new):
    return a.sigmoid() * old


@exercise.mistake("the new gets 1 - a in yours: its share is the rest of the gate, 1 - σ(a).")
def rest_without_sigmoid(a, old, new):
    return a.sigmoid() * old + (1 - a) * new
