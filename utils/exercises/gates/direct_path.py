"""What the forget gates of a run leave of the gradient along the direct path."""

import torch
from torch import Tensor

from utils.exercises.checking import Exercise
from utils.exercises.gates.drawn import gates


def direct_path(f: Tensor) -> Tensor:
    """Return ∂c_T / ∂c_t along the direct path, (B, T + 1, N), the first for t = 0.

    Shapes: f (B, T, N), its first step is f_1.
    """
    later = f.flip(1).cumprod(1).flip(1)  # (B, T, N): the product of f_{t+1} … f_T
    return torch.cat([later, torch.ones_like(f[:, :1])], dim=1)


exercise = Exercise(direct_path, gradient=False, runs=True)


# What it is tried on ------------------------------------------------------------------------------


@exercise.stage("one step")
def one_step():
    return [(gates(1, 1, 2),)]


@exercise.stage("one unit")
def one_unit():
    return [(gates(1, 4, 1),)]


@exercise.stage("batches and several units")
def several_units():
    return [(gates(3, 5, 2),), (gates(4, 4, 3),), (gates(2, 7, 5),)]


@exercise.stage("a gate that is shut")
def shut_gate():
    f = gates(2, 6, 3)
    f[:, 2] = 0
    return [(f,)]


@exercise.stage("a path too long for its product")
def long_path():
    return [(gates(1, 3000, 2),)]


# What goes wrong ----------------------------------------------------------------------------------


def with_one_behind(x: Tensor) -> Tensor:
    return torch.cat([x, torch.ones_like(x[:, :1])], dim=1)


@exercise.mistake(
    "you multiplied from the first step on, which gives ∂c_t / ∂c_0: return ∂c_T / ∂c_t."
)
def from_the_start(f):
    return torch.cat([torch.ones_like(f[:, :1]), f.cumprod(1)], dim=1)


@exercise.mistake("you added the gates; the chain rule along one path multiplies.")
def sum_for_product(f):
    return with_one_behind(f.flip(1).cumsum(1).flip(1))


@exercise.mistake("a gate is missing: between c_t and c_T are f_{t+1} to f_T, both included.")
def one_gate_short(f):
    return with_one_behind(with_one_behind(f.flip(1).cumprod(1).flip(1)[:, 1:]))


@exercise.mistake("you raised one gate to a power, but each step has its own gate.")
def one_gate_for_all(f):
    return with_one_behind(f ** torch.arange(f.shape[1], 0, -1)[:, None])


@exercise.mistake("that is the path over a single step: multiply over all steps up to T.")
def last_gate_only(f):
    return with_one_behind(f)


@exercise.mistake("you multiplied along the batch: time is the second axis.")
def batch_axis(f):
    return with_one_behind(f.flip(0).cumprod(0).flip(0))


@exercise.mistake(
    "the products are correct, but in reverse order: the first should be that of t = 0, the "
    "longest path."
)
def last_first(f):
    return direct_path(f).flip(1)


@exercise.mistake(
    "reversing the products doesn't reverse the paths: yours all start at f_1, but they should "
    "all end at f_T."
)
def products_turned_round(f):
    return with_one_behind(f.cumprod(1).flip(1))


@exercise.mistake(
    "you divide the full product by that of the first gates: if a gate is shut, or the path is "
    "long, that is 0 divided by 0."
)
def divided(f):
    from_0 = torch.cat([torch.ones_like(f[:, :1]), f.cumprod(1)], dim=1)
    return from_0[:, -1:] / from_0


@exercise.mistake(
    "you multiplied from the first step on, and put the 1 at the end: return ∂c_T / ∂c_t, not "
    "∂c_t / ∂c_0."
)
def from_the_start_with_one_behind(f):
    return with_one_behind(f.cumprod(1))


@exercise.mistake(
    "you reversed the time axis once, but not back: the first should be that of t = 0, the "
    "longest path."
)
def not_turned_back(f):
    return with_one_behind(f.flip(1).cumprod(1))


@exercise.mistake(
    "you return T products instead of T + 1: from c_T to itself the path has no gate, and its "
    "derivative is 1."
)
def without_the_one(f):
    return f.flip(1).cumprod(1).flip(1)


@exercise.mistake("the 1 belongs to t = T, so it comes last.")
def one_in_front(f):
    return torch.cat([torch.ones_like(f[:, :1]), f.flip(1).cumprod(1).flip(1)], dim=1)


@exercise.mistake("those are sums of logarithms: what undoes them?")
def logarithms(f):
    return with_one_behind(f.log().flip(1).cumsum(1).flip(1))


@exercise.mistake("you multiply by 1 - f, the share that is lost: f is the share that stays.")
def what_is_forgotten(f):
    return direct_path(1 - f)


@exercise.mistake("you multiply along the units: each unit has a path of its own, along time.")
def along_the_units(f):
    return with_one_behind(f.flip(2).cumprod(2).flip(2))


@exercise.mistake("your last entry is 0: what is the derivative of c_T by itself?")
def zero_behind(f):
    later = f.flip(1).cumprod(1).flip(1)
    return torch.cat([later, torch.zeros_like(f[:, :1])], 1)


@exercise.mistake("you apply a sigmoid to the gates: f has been through one already.")
def sigmoid_again(f):
    return direct_path(f.sigmoid())
