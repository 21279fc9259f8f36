"""A step of an LSTM whose gates see the cell."""

import torch
from torch import Tensor

from utils.exercises.checking import Exercise, random


def peephole_step(
    a: Tensor, c: Tensor, p_i: Tensor, p_f: Tensor, p_o: Tensor
) -> tuple[Tensor, Tensor]:
    """Return the new h and the new c.

    Shapes: a (B, 4N), what input and old state add, in the order i, f, g, o; c (B, N); p_i, p_f and
    p_o (N,).
    """
    a_i, a_f, a_g, a_o = a.chunk(4, dim=1)
    i, f = (a_i + p_i * c).sigmoid(), (a_f + p_f * c).sigmoid()
    new = f * c + i * a_g.tanh()
    return (a_o + p_o * new).sigmoid() * new.tanh(), new


exercise = Exercise(peephole_step)


# What it is tried on ------------------------------------------------------------------------------


def drawn(B: int, N: int) -> tuple[Tensor, ...]:
    return random(B, 4 * N), 2 * random(B, N), random(N), random(N), random(N)


@exercise.stage("one unit")
def one_unit():
    return [drawn(1, 1)]


@exercise.stage("batches and several units")
def several_units():
    return [drawn(2, 3)]


@exercise.stage("more units than sequences, and fewer")
def fewer_units():
    return [drawn(5, 4)]


# What goes wrong ----------------------------------------------------------------------------------


@exercise.mistake("the output gate comes last: it sees the new cell.")
def output_gate_sees_the_old_cell(a, c, p_i, p_f, p_o):
    a_o = a.chunk(4, dim=1)[3]
    new = peephole_step(a, c, p_i, p_f, p_o)[1]
    return (a_o + p_o * c).sigmoid() * new.tanh(), new


@exercise.mistake("the peepholes of the input gate and the forget gate are swapped.")
def peepholes_exchanged(a, c, p_i, p_f, p_o):
    return peephole_step(a, c, p_f, p_i, p_o)


@exercise.mistake("the gates see the cell itself, not its tanh.")
def cell_squashed(a, c, p_i, p_f, p_o):
    a_i, a_f, a_g, a_o = a.chunk(4, dim=1)
    i, f = (a_i + p_i * c.tanh()).sigmoid(), (a_f + p_f * c.tanh()).sigmoid()
    new = f * c + i * a_g.tanh()
    return (a_o + p_o * new.tanh()).sigmoid() * new.tanh(), new


@exercise.mistake("the gates no longer lie between 0 and 1: a peephole belongs inside the sigmoid.")
def outside_the_sigmoid(a, c, p_i, p_f, p_o):
    a_i, a_f, a_g, a_o = a.chunk(4, dim=1)
    i, f = a_i.sigmoid() + p_i * c, a_f.sigmoid() + p_f * c
    new = f * c + i * a_g.tanh()
    return (a_o.sigmoid() + p_o * new) * new.tanh(), new


@exercise.mistake("the candidate has no peephole: three vectors, three gates.")
def peephole_for_the_candidate(a, c, p_i, p_f, p_o):
    a_i, a_f, a_g, a_o = a.chunk(4, dim=1)
    return peephole_step(torch.cat([a_i, a_f, a_g + p_i * c, a_o], dim=1), c, p_i, p_f, p_o)


@exercise.mistake("that is a step without peepholes.")
def no_peepholes(a, c, p_i, p_f, p_o):
    return peephole_step(a, c, 0 * p_i, 0 * p_f, 0 * p_o)


@exercise.mistake("two gates see the cell, but the third doesn't.")
def output_gate_without_peephole(a, c, p_i, p_f, p_o):
    return peephole_step(a, c, p_i, p_f, 0 * p_o)


@exercise.mistake(
    "you cut `a` into i, f, o, g; here the candidate comes third, and the output gate last."
)
def candidate_last(a, c, p_i, p_f, p_o):
    a_i, a_f, a_o, a_g = a.chunk(4, dim=1)
    return peephole_step(torch.cat([a_i, a_f, a_g, a_o], dim=1), c, p_i, p_f, p_o)


@exercise.mistake("the numbers are correct, but the cell comes first: return h, then c.")
def cell_first(*inputs):
    return peephole_step(*inputs)[::-1]


@exercise.mistake("the candidate has no bounds: a tanh is missing.")
def candidate_without_tanh(a, c, p_i, p_f, p_o):
    a_i, a_f, a_g, a_o = a.chunk(4, dim=1)
    new = (a_f + p_f * c).sigmoid() * c + (a_i + p_i * c).sigmoid() * a_g
    return (a_o + p_o * new).sigmoid() * new.tanh(), new


@exercise.mistake("the cell has no bounds, but the state has: which function comes between them?")
def state_without_tanh(a, c, p_i, p_f, p_o):
    a_i, a_f, a_g, a_o = a.chunk(4, dim=1)
    new = (a_f + p_f * c).sigmoid() * c + (a_i + p_i * c).sigmoid() * a_g.tanh()
    return (a_o + p_o * new).sigmoid() * new, new
