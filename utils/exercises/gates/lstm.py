"""A step of an LSTM: three gates, a candidate, a cell."""

import torch
from torch import Tensor

from utils.exercises.checking import Exercise, random


def lstm_step(
    x: Tensor, h: Tensor, c: Tensor, W_x: Tensor, W_h: Tensor, b: Tensor
) -> tuple[Tensor, Tensor]:
    """Return the new h and the new c; the blocks stand in the order i, f, g, o.

    Shapes: x (B, D), h and c (B, N), W_x (4N, D), W_h (4N, N), b (4N,).
    """
    i, f, g, o = (x @ W_x.T + h @ W_h.T + b).chunk(4, dim=1)  # (B, N) each
    c = f.sigmoid() * c + i.sigmoid() * g.tanh()
    return o.sigmoid() * c.tanh(), c


exercise = Exercise(lstm_step, runs=True)


# What it is tried on ------------------------------------------------------------------------------


def drawn(B: int, D: int, N: int, *closed: int) -> tuple[Tensor, ...]:
    """Draw a step's inputs; the blocks `closed` are gates that let next to nothing through."""
    b = random(4 * N)
    for block in closed:
        b[block * N : (block + 1) * N] -= 50
    return random(B, D), random(B, N), random(B, N), random(4 * N, D), random(4 * N, N), b


@exercise.stage("a closed input gate, one unit")
def closed_input_gate():
    return [drawn(1, 2, 1, 0)]


@exercise.stage("a closed forget gate, one unit")
def closed_forget_gate():
    return [drawn(1, 2, 1, 1)]


@exercise.stage("a closed output gate, one unit")
def closed_output_gate():
    return [drawn(1, 2, 1, 3)]


@exercise.stage("batches and several units")
def several_units():
    return [drawn(2, 5, 3), drawn(4, 3, 6)]


# What goes wrong ----------------------------------------------------------------------------------


def step(x, h, c, W_x, W_h, b, order="ifgo", candidate=torch.tanh, show=torch.tanh):
    """Take a step; the last three arguments are what mistakes change."""
    a = dict(zip(order, (x @ W_x.T + h @ W_h.T + b).chunk(4, dim=1), strict=True))
    i, f, o = (a[gate].sigmoid() for gate in "ifo")
    c = f * c + i * candidate(a["g"])
    return o * show(c), c


@exercise.mistake("the blocks come in the order i, f, g, o: yours are i, f, o, g.")
def output_gate_third(*inputs):
    return step(*inputs, order="ifog")


@exercise.mistake("the blocks come in the order i, f, g, o: yours are f, i, g, o.")
def forget_gate_first(*inputs):
    return step(*inputs, order="figo")


@exercise.mistake("the blocks come in the order i, f, g, o: yours are f, i, o, g.")
def as_in_the_equations_of_many_pages(*inputs):
    return step(*inputs, order="fiog")


@exercise.mistake("what is written has a sign: a sigmoid could only ever add to the cell.")
def candidate_without_sign(*inputs):
    return step(*inputs, candidate=torch.sigmoid)


@exercise.mistake("the candidate has no bounds: a single step could add any amount to the cell.")
def candidate_without_tanh(*inputs):
    return step(*inputs, candidate=lambda a: a)


@exercise.mistake("the cell has no bounds, the state has: what stands between them?")
def state_without_tanh(*inputs):
    return step(*inputs, show=lambda c: c)


@exercise.mistake("the output gate decides what is shown, not what the cell keeps.")
def shown_state_stored(*inputs):
    h, _ = lstm_step(*inputs)
    return h, h


@exercise.mistake("the state shows the old cell: it should show what the step has just written.")
def old_cell_shown(x, h, c, W_x, W_h, b):
    o = (x @ W_x.T + h @ W_h.T + b).chunk(4, dim=1)[3].sigmoid()
    return o * c.tanh(), lstm_step(x, h, c, W_x, W_h, b)[1]


@exercise.mistake("the gates have no bounds yet: a gate is σ of its block.")
def gates_without_sigmoid(x, h, c, W_x, W_h, b):
    i, f, g, o = (x @ W_x.T + h @ W_h.T + b).chunk(4, dim=1)
    c = f * c + i * g.tanh()
    return o * c.tanh(), c


@exercise.mistake(
    "there are two gates here, not one: the candidate gets the share i, not what f leaves."
)
def coupled(x, h, c, W_x, W_h, b):
    _, f, g, o = (x @ W_x.T + h @ W_h.T + b).chunk(4, dim=1)
    c = f.sigmoid() * c + (1 - f.sigmoid()) * g.tanh()
    return o.sigmoid() * c.tanh(), c


@exercise.mistake("the cell goes through a tanh on the road: then it is rewritten at each step.")
def tanh_on_the_road(*inputs):
    h, c = lstm_step(*inputs)
    return h, c.tanh()


@exercise.mistake("the bias is not added: without it, where would an untrained gate stand?")
def without_bias(x, h, c, W_x, W_h, b):
    return lstm_step(x, h, c, W_x, W_h, torch.zeros_like(b))


@exercise.mistake("the gates look at h, what was shown last, and not at the cell.")
def gates_see_the_cell(x, h, c, W_x, W_h, b):
    return lstm_step(x, c, c, W_x, W_h, b)


@exercise.mistake(
    "W_h is square in each block, so nothing is raised if it is used the wrong way round: W h is "
    "`h @ W.T` for states in rows."
)
def transposed(x, h, c, W_x, W_h, b):
    return lstm_step(x, h, c, W_x, torch.cat([weight.T for weight in W_h.chunk(4)]), b)


@exercise.mistake("the right numbers, but the cell comes first: asked for is h, then c.")
def cell_first(*inputs):
    return lstm_step(*inputs)[::-1]


@exercise.mistake("the blocks come in the order i, f, g, o: yours are i, o, f, g.")
def output_gate_second(*inputs):
    return step(*inputs, order="iofg")


@exercise.mistake("the blocks come in the order i, f, g, o: yours are i, g, f, o.")
def candidate_second(*inputs):
    return step(*inputs, order="igfo")


@exercise.mistake("the cell has a sign, and a sigmoid loses it: what is shown is its tanh.")
def shown_without_sign(*inputs):
    return step(*inputs, show=torch.sigmoid)


@exercise.mistake("whatever its name says, f is what is kept: it multiplies the cell, not 1 - f.")
def forgets_by_f(x, h, c, W_x, W_h, b):
    i, f, g, o = (x @ W_x.T + h @ W_h.T + b).chunk(4, dim=1)
    c = (1 - f.sigmoid()) * c + i.sigmoid() * g.tanh()
    return o.sigmoid() * c.tanh(), c


@exercise.mistake("nothing is ever forgotten: the old cell is multiplied by f.")
def without_forget_gate(x, h, c, W_x, W_h, b):
    i, _, g, o = (x @ W_x.T + h @ W_h.T + b).chunk(4, dim=1)
    c = c + i.sigmoid() * g.tanh()
    return o.sigmoid() * c.tanh(), c


@exercise.mistake("the gates look at the input alone: W_h and the last h are missing.")
def without_state(x, h, c, W_x, W_h, b):
    return lstm_step(x, torch.zeros_like(h), c, W_x, W_h, b)
