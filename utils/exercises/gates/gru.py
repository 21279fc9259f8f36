"""A step of the library's GRU: reset after the product, and z keeps."""

import torch
from torch import Tensor

from utils.exercises.checking import Exercise, random
from utils.exercises.gates.mixture import mix


def gru_step(x: Tensor, h: Tensor, W_x: Tensor, W_h: Tensor, b: Tensor, b_hn: Tensor) -> Tensor:
    """Return the new h (B, N); the blocks are in the order r, z, n.

    Shapes: x (B, D), h (B, N), W_x (3N, D), W_h (3N, N), b (3N,), b_hn (N,).
    """
    r_x, z_x, n_x = (x @ W_x.T + b).chunk(3, dim=1)
    r_h, z_h, n_h = (h @ W_h.T).chunk(3, dim=1)
    r = (r_x + r_h).sigmoid()
    n = (n_x + r * (n_h + b_hn)).tanh()
    return mix(z_x + z_h, h, n)


exercise = Exercise(gru_step, runs=True)


# What it is tried on ------------------------------------------------------------------------------


def drawn(B: int, D: int, N: int, *closed: int) -> tuple[Tensor, ...]:
    """Draw a step's inputs; the blocks `closed` are gates at 0."""
    b = random(3 * N)
    for block in closed:
        b[block * N : (block + 1) * N] -= 50
    return random(B, D), random(B, N), random(3 * N, D), random(3 * N, N), b, random(N)


@exercise.stage("nothing kept and everything reset, one unit")
def begins_anew():
    return [drawn(1, 2, 1, 0, 1)]


@exercise.stage("everything reset, one unit")
def reset():
    return [drawn(1, 2, 1, 0)]


@exercise.stage("one unit")
def one_unit():
    return [drawn(1, 2, 1)]


@exercise.stage("batches and several units")
def several_units():
    return [drawn(2, 5, 3), drawn(4, 3, 6)]


# What goes wrong ----------------------------------------------------------------------------------


def parts(x, h, W_x, W_h, b):
    """Return r, the input of z's sigmoid, and both parts of the candidate."""
    r_x, z_x, n_x = (x @ W_x.T + b).chunk(3, dim=1)
    r_h, z_h, n_h = (h @ W_h.T).chunk(3, dim=1)
    return (r_x + r_h).sigmoid(), z_x + z_h, n_x, n_h


@exercise.mistake(
    "you reset the old state before the product with W_hn, as the paper does; here r comes after "
    "it."
)
def reset_before_the_product(x, h, W_x, W_h, b, b_hn):
    r, a, n_x, _ = parts(x, h, W_x, W_h, b)
    return mix(a, h, (n_x + (r * h) @ W_h.chunk(3)[2].T + b_hn).tanh())


@exercise.mistake(
    "you reset the old state before the product with W_hn, and b_hn with it; here r comes after it."
)
def reset_before_the_product_and_bias_too(x, h, W_x, W_h, b, b_hn):
    r, a, n_x, _ = parts(x, h, W_x, W_h, b)
    return mix(a, h, (n_x + (r * h) @ W_h.chunk(3)[2].T + r * b_hn).tanh())


@exercise.mistake("b_hn is inside the reset: r multiplies it, too.")
def bias_outside_the_reset(x, h, W_x, W_h, b, b_hn):
    r, a, n_x, n_h = parts(x, h, W_x, W_h, b)
    return mix(a, h, (n_x + r * n_h + b_hn).tanh())


@exercise.mistake("b_hn is missing from the candidate.")
def without_its_bias(x, h, W_x, W_h, b, b_hn):
    return gru_step(x, h, W_x, W_h, b, torch.zeros_like(b_hn))


@exercise.mistake("z and 1 - z are swapped: here z keeps the old state.")
def shares_exchanged(x, h, W_x, W_h, b, b_hn):
    r, a, n_x, n_h = parts(x, h, W_x, W_h, b)
    return mix(-a, h, (n_x + r * (n_h + b_hn)).tanh())


@exercise.mistake(
    "the candidate sees all of the old state: which gate should hold some of it back?"
)
def no_reset(x, h, W_x, W_h, b, b_hn):
    _, a, n_x, n_h = parts(x, h, W_x, W_h, b)
    return mix(a, h, (n_x + n_h + b_hn).tanh())


@exercise.mistake("the two gates are swapped: the first block is r, the second z.")
def gates_exchanged(x, h, W_x, W_h, b, b_hn):
    def turned(weight):
        r, z, n = weight.chunk(3)
        return torch.cat([z, r, n])

    return gru_step(x, h, turned(W_x), turned(W_h), turned(b), b_hn)


@exercise.mistake("r resets the whole candidate: the input's part belongs outside the reset.")
def input_reset_too(x, h, W_x, W_h, b, b_hn):
    r, a, n_x, n_h = parts(x, h, W_x, W_h, b)
    return mix(a, h, (r * (n_x + n_h + b_hn)).tanh())


@exercise.mistake("the candidate has no bounds: a tanh is missing.")
def candidate_without_tanh(x, h, W_x, W_h, b, b_hn):
    r, a, n_x, n_h = parts(x, h, W_x, W_h, b)
    return mix(a, h, n_x + r * (n_h + b_hn))


@exercise.mistake("r has no bounds yet: a gate is σ of its block.")
def reset_without_sigmoid(x, h, W_x, W_h, b, b_hn):
    r_x, _, _ = (x @ W_x.T + b).chunk(3, dim=1)
    r_h, _, _ = (h @ W_h.T).chunk(3, dim=1)
    _, a, n_x, n_h = parts(x, h, W_x, W_h, b)
    return mix(a, h, (n_x + (r_x + r_h) * (n_h + b_hn)).tanh())


@exercise.mistake(
    "the sigmoid of z is taken twice: your `mix` takes the sigmoid's input, not the gate."
)
def sigmoid_twice(x, h, W_x, W_h, b, b_hn):
    r, a, n_x, n_h = parts(x, h, W_x, W_h, b)
    return mix(a.sigmoid(), h, (n_x + r * (n_h + b_hn)).tanh())


@exercise.mistake("the bias b is missing.")
def without_bias(x, h, W_x, W_h, b, b_hn):
    return gru_step(x, h, W_x, W_h, torch.zeros_like(b), b_hn)


@exercise.mistake(
    "each block of W_h is square, so a missing transpose raises no error: with states in rows, W "
    "h is `h @ W.T`."
)
def transposed(x, h, W_x, W_h, b, b_hn):
    return gru_step(x, h, W_x, torch.cat([weight.T for weight in W_h.chunk(3)]), b, b_hn)


@exercise.mistake("the candidate may be negative: it goes through a tanh, not a sigmoid.")
def candidate_without_sign(x, h, W_x, W_h, b, b_hn):
    r, a, n_x, n_h = parts(x, h, W_x, W_h, b)
    return mix(a, h, (n_x + r * (n_h + b_hn)).sigmoid())


@exercise.mistake(
    "despite its name, r is the share of the old state that gets through: use r, not 1 - r."
)
def reset_turned_round(x, h, W_x, W_h, b, b_hn):
    r, a, n_x, n_h = parts(x, h, W_x, W_h, b)
    return mix(a, h, (n_x + (1 - r) * (n_h + b_hn)).tanh())


@exercise.mistake("r is for the candidate's eyes only: z keeps h itself.")
def kept_state_reset(x, h, W_x, W_h, b, b_hn):
    r, a, n_x, n_h = parts(x, h, W_x, W_h, b)
    return mix(a, r * h, (n_x + r * (n_h + b_hn)).tanh())


@exercise.mistake(
    "you add the candidate's two products before r is applied, and b_hn is missing: r multiplies "
    "only the state's part."
)
def one_product_for_all(x, h, W_x, W_h, b, b_hn):
    r, a, n_x, n_h = parts(x, h, W_x, W_h, b)
    return mix(a, h, (r * (n_x + n_h)).tanh())


@exercise.mistake("the blocks come in the order r, z, n: yours are r, n, z.")
def candidate_second(x, h, W_x, W_h, b, b_hn):
    def turned(weight):
        r, z, n = weight.chunk(3)
        return torch.cat([r, n, z])

    return gru_step(x, h, turned(W_x), turned(W_h), turned(b), b_hn)


@exercise.mistake("the old state is lost: z decides how much of it stays.")
def old_state_lost(x, h, W_x, W_h, b, b_hn):
    r, z, n_x, n_h = parts(x, h, W_x, W_h, b)
    return (1 - z.sigmoid()) * (n_x + r * (n_h + b_hn)).tanh()


@exercise.mistake(
    "all of the old state stays, and the new is added on top: the two shares should sum to 1."
)
def old_state_in_full(x, h, W_x, W_h, b, b_hn):
    r, z, n_x, n_h = parts(x, h, W_x, W_h, b)
    return h + (1 - z.sigmoid()) * (n_x + r * (n_h + b_hn)).tanh()


@exercise.mistake("you add b twice: here it belongs to the product with x.")
def bias_twice(x, h, W_x, W_h, b, b_hn):
    return gru_step(x, h, W_x, W_h, 2 * b, b_hn)


@exercise.mistake("your candidate sees only the input: r lets part of the old state in.")
def candidate_without_state(x, h, W_x, W_h, b, b_hn):
    r, z, n_x, n_h = parts(x, h, W_x, W_h, b)
    return mix(z, h, n_x.tanh())


@exercise.mistake("that is the candidate alone: z mixes it with the old state.")
def candidate_returned(x, h, W_x, W_h, b, b_hn):
    r, z, n_x, n_h = parts(x, h, W_x, W_h, b)
    return (n_x + r * (n_h + b_hn)).tanh()
