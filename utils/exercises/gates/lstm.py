"""A step of an LSTM: three gates, a candidate, a cell."""

import torch
from torch import Tensor

from utils.exercises.checking import Exercise, random


def lstm_step(
    x: Tensor, h: Tensor, c: Tensor, W_x: Tensor, W_h: Tensor, b: Tensor
) -> tuple[Tensor, Tensor]:
    """Return the new h and the new c; the blocks are in the order i, f, g, o.

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
    """Take a step; the last three arguments are those that mistakes change."""
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


@exercise.mistake("the candidate may be negative: a sigmoid could only ever add to the cell.")
def candidate_without_sign(*inputs):
    return step(*inputs, candidate=torch.sigmoid)


@exercise.mistake("the candidate has no bounds: a single step could add any amount to the cell.")
def candidate_without_tanh(*inputs):
    return step(*inputs, candidate=lambda a: a)


@exercise.mistake("the cell has no bounds, but the state has: which function comes between them?")
def state_without_tanh(*inputs):
    return step(*inputs, show=lambda c: c)


@exercise.mistake("the output gate decides how much is shown, not how much the cell keeps.")
def shown_state_stored(*inputs):
    h, _ = lstm_step(*inputs)
    return h, h


@exercise.mistake("the state shows the old cell: it should show the new one.")
def old_cell_shown(x, h, c, W_x, W_h, b):
    o = (x @ W_x.T + h @ W_h.T + b).chunk(4, dim=1)[3].sigmoid()
    return o * c.tanh(), lstm_step(x, h, c, W_x, W_h, b)[1]


@exercise.mistake("the gates have no bounds yet: a gate is σ of its block.")
def gates_without_sigmoid(x, h, c, W_x, W_h, b):
    i, f, g, o = (x @ W_x.T + h @ W_h.T + b).chunk(4, dim=1)
    c = f * c + i * g.tanh()
    return o * c.tanh(), c


@exercise.mistake("there are two gates here, not one: multiply the candidate by i, not by 1 - f.")
def coupled(x, h, c, W_x, W_h, b):
    _, f, g, o = (x @ W_x.T + h @ W_h.T + b).chunk(4, dim=1)
    c = f.sigmoid() * c + (1 - f.sigmoid()) * g.tanh()
    return o.sigmoid() * c.tanh(), c


@exercise.mistake(
    "the cell goes through a tanh on its way to the next step: then it is rewritten each time."
)
def tanh_on_the_road(*inputs):
    h, c = lstm_step(*inputs)
    return h, c.tanh()


@exercise.mistake("the bias is missing: without it, how far would an untrained gate be open?")
def without_bias(x, h, c, W_x, W_h, b):
    return lstm_step(x, h, c, W_x, W_h, torch.zeros_like(b))


@exercise.mistake("the gates are computed from h, the previous output, not from the cell.")
def gates_see_the_cell(x, h, c, W_x, W_h, b):
    return lstm_step(x, c, c, W_x, W_h, b)


@exercise.mistake(
    "each block of W_h is square, so a missing transpose raises no error: with states in rows, W "
    "h is `h @ W.T`."
)
def transposed(x, h, c, W_x, W_h, b):
    return lstm_step(x, h, c, W_x, torch.cat([weight.T for weight in W_h.chunk(4)]), b)


@exercise.mistake("the numbers are correct, but the cell comes first: return h, then c.")
def cell_first(*inputs):
    return lstm_step(*inputs)[::-1]


@exercise.mistake("the blocks come in the order i, f, g, o: yours are i, o, f, g.")
def output_gate_second(*inputs):
    return step(*inputs, order="iofg")


@exercise.mistake("the blocks come in the order i, f, g, o: yours are i, g, f, o.")
def candidate_second(*inputs):
    return step(*inputs, order="igfo")


@exercise.mistake("the cell may be negative, and a sigmoid loses its sign: show its tanh.")
def shown_without_sign(*inputs):
    return step(*inputs, show=torch.sigmoid)


@exercise.mistake(
    "despite its name, f is the share that is kept: multiply the cell by f, not by 1 - f."
)
def forgets_by_f(x, h, c, W_x, W_h, b):
    i, f, g, o = (x @ W_x.T + h @ W_h.T + b).chunk(4, dim=1)
    c = (1 - f.sigmoid()) * c + i.sigmoid() * g.tanh()
    return o.sigmoid() * c.tanh(), c


@exercise.mistake("nothing is ever forgotten: the old cell is multiplied by f.")
def without_forget_gate(x, h, c, W_x, W_h, b):
    i, _, g, o = (x @ W_x.T + h @ W_h.T + b).chunk(4, dim=1)
    c = c + i.sigmoid() * g.tanh()
    return o.sigmoid() * c.tanh(), c


@exercise.mistake("the gates see only the input: W_h and the previous h are missing.")
def without_state(x, h, c, W_x, W_h, b):
    return lstm_step(x, torch.zeros_like(h), c, W_x, W_h, b)


@exercise.mistake("the input gate is missing: it decides how much of the candidate is stored.")
def without_input_gate(x, h, c, W_x, W_h, b):
    i, f, g, o = (x @ W_x.T + h @ W_h.T + b).chunk(4, dim=1)
    c = f.sigmoid() * c + g.tanh()
    return o.sigmoid() * c.tanh(), c


@exercise.mistake("the output gate is missing: it decides how much of the cell is shown.")
def without_output_gate(x, h, c, W_x, W_h, b):
    c = lstm_step(x, h, c, W_x, W_h, b)[1]
    return c.tanh(), c


@exercise.mistake("the gates never see the input x: add x @ W_x.T.")
def without_input(x, h, c, W_x, W_h, b):
    return lstm_step(0 * x, h, c, W_x, W_h, b)


@exercise.mistake("the forget gate multiplies the new part, too: it belongs to the old cell alone.")
def forgets_the_new_too(x, h, c, W_x, W_h, b):
    i, f, g, o = (x @ W_x.T + h @ W_h.T + b).chunk(4, dim=1)
    c = f.sigmoid() * (c + i.sigmoid() * g.tanh())
    return o.sigmoid() * c.tanh(), c


@exercise.mistake("your forget gate keeps h: what it should keep is the cell, c.")
def state_for_cell(x, h, c, W_x, W_h, b):
    return lstm_step(x, h, h, W_x, W_h, b)


@exercise.mistake("you add the bias twice: here there is one for both products.")
def bias_twice(x, h, c, W_x, W_h, b):
    return lstm_step(x, h, c, W_x, W_h, 2 * b)


@exercise.mistake("you return the cell for both: h is what the output gate shows of it.")
def cell_twice(x, h, c, W_x, W_h, b):
    c = lstm_step(x, h, c, W_x, W_h, b)[1]
    return c, c


@exercise.mistake("the cell is missing: return h and c, since the next step needs both.")
def state_alone(x, h, c, W_x, W_h, b):
    return lstm_step(x, h, c, W_x, W_h, b)[0]


@exercise.mistake(
    "you cut the batch into four parts: the blocks lie along the last axis, of 4N numbers."
)
def cut_along_the_batch(x, h, c, W_x, W_h, b):
    i, f, g, o = (x @ W_x.T + h @ W_h.T + b).chunk(4)
    c = f.sigmoid() * c + i.sigmoid() * g.tanh()
    return o.sigmoid() * c.tanh(), c
