"""A step of the GRU in Bahdanau's decoder: r before the product, and z lets the new value in."""

import torch
from torch import Tensor

from utils.exercises.checking import Exercise, random


def gru_step(x: Tensor, h: Tensor, W_x: Tensor, W_h: Tensor) -> Tensor:
    """Return the new h (B, N); the blocks are stacked in the order r, z, n.

    Shapes: x (B, D), h (B, N), W_x (3N, D), W_h (3N, N).
    """
    r, z, x_n, W_hn = parts(x, h, W_x, W_h)
    n = (x_n + (r * h) @ W_hn.T).tanh()
    return (1 - z) * h + z * n


def parts(x: Tensor, h: Tensor, W_x: Tensor, W_h: Tensor) -> tuple[Tensor, ...]:
    """Return r, z, the input's part of the candidate, and the candidate's W_h."""
    x_r, x_z, x_n = (x @ W_x.T).chunk(3, dim=1)
    W_hr, W_hz, W_hn = W_h.chunk(3)
    return (x_r + h @ W_hr.T).sigmoid(), (x_z + h @ W_hz.T).sigmoid(), x_n, W_hn


exercise = Exercise(gru_step)


# What it is tried on ------------------------------------------------------------------------------


def drawn(B: int, D: int, N: int) -> tuple[Tensor, ...]:
    return random(B, D), random(B, N), random(3 * N, D), random(3 * N, N)


@exercise.stage("one unit")
def one_unit():
    return [drawn(1, 2, 1)]


@exercise.stage("several units")
def several_units():
    return [drawn(1, 2, 3)]


@exercise.stage("batches")
def batches():
    return [drawn(2, 5, 3), drawn(4, 3, 6)]


# What goes wrong ----------------------------------------------------------------------------------


@exercise.mistake(
    "you multiplied by r after the product with W_n; here the old state is reset before the "
    "product, which mixes the units."
)
def reset_after_the_product(x, h, W_x, W_h):
    r, z, x_n, W_hn = parts(x, h, W_x, W_h)
    return (1 - z) * h + z * (x_n + r * (h @ W_hn.T)).tanh()


@exercise.mistake("z and 1 - z are swapped: in this paper z is the share of the new.")
def shares_exchanged(x, h, W_x, W_h):
    r, z, x_n, W_hn = parts(x, h, W_x, W_h)
    return z * h + (1 - z) * (x_n + (r * h) @ W_hn.T).tanh()


@exercise.mistake("that is the library's GRU to the last digit; this paper differs in two places.")
def gru_of_the_library(x, h, W_x, W_h):
    r, z, x_n, W_hn = parts(x, h, W_x, W_h)
    return z * h + (1 - z) * (x_n + r * (h @ W_hn.T)).tanh()


@exercise.mistake(
    "the candidate sees all of the old state: which gate should hold some of it back?"
)
def no_reset(x, h, W_x, W_h):
    _, z, x_n, W_hn = parts(x, h, W_x, W_h)
    return (1 - z) * h + z * (x_n + h @ W_hn.T).tanh()


@exercise.mistake("the old state goes through the tanh once more: keep it as it is.")
def old_state_squashed(x, h, W_x, W_h):
    r, z, x_n, W_hn = parts(x, h, W_x, W_h)
    return (1 - z) * h.tanh() + z * (x_n + (r * h) @ W_hn.T).tanh()


@exercise.mistake("the two gates are swapped: the first block is r, the second z.")
def gates_exchanged(x, h, W_x, W_h):
    z, r, x_n, W_hn = parts(x, h, W_x, W_h)
    return (1 - z) * h + z * (x_n + (r * h) @ W_hn.T).tanh()


@exercise.mistake(
    "each block of W_h is square, so a missing transpose raises no error: with states in rows, W "
    "h is `h @ W.T`."
)
def transposed(x, h, W_x, W_h):
    return gru_step(x, h, W_x, torch.cat([weight.T for weight in W_h.chunk(3)]))


@exercise.mistake("the candidate has no bounds: a tanh is missing.")
def candidate_without_tanh(x, h, W_x, W_h):
    r, z, _ = (x @ W_x.T + h @ W_h.T).chunk(3, dim=1)
    n = x @ W_x.chunk(3)[2].T + (r.sigmoid() * h) @ W_h.chunk(3)[2].T
    return h + z.sigmoid() * (n - h)


@exercise.mistake("that is the candidate alone: z mixes it with the old state.")
def candidate_returned(x, h, W_x, W_h):
    r, z, x_n, W_hn = parts(x, h, W_x, W_h)
    return (x_n + (r * h) @ W_hn.T).tanh()


@exercise.mistake(
    "all of the old state stays, and the new is added on top: the two shares should sum to 1."
)
def old_state_in_full(x, h, W_x, W_h):
    r, z, x_n, W_hn = parts(x, h, W_x, W_h)
    return h + z * (x_n + (r * h) @ W_hn.T).tanh()


@exercise.mistake("r resets the old state that is kept, too: it is for the candidate only.")
def kept_state_reset(x, h, W_x, W_h):
    r, z, x_n, W_hn = parts(x, h, W_x, W_h)
    return (1 - z) * r * h + z * (x_n + (r * h) @ W_hn.T).tanh()
