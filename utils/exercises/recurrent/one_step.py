"""One step of a recurrent layer: the old state and a new input make the new state."""

import torch
from torch import Tensor

from utils.exercises.checking import Exercise, random
from utils.exercises.recurrent.layers import layer


def step(x_t: Tensor, h: Tensor, W_x: Tensor, W_h: Tensor, b: Tensor) -> Tensor:
    """Shapes: x_t (B, D), h (B, N), W_x (N, D), W_h (N, N), b (N,).

    Returns: the new state (B, N).
    """
    return torch.tanh(x_t @ W_x.T + h @ W_h.T + b)


exercise = Exercise(step, runs=True)


# What it is tried on ------------------------------------------------------------------------------


def drawn(B: int, D: int, N: int) -> tuple[Tensor, ...]:
    return random(B, D), random(B, N).tanh(), *layer(D, N)


@exercise.stage("one number in, one unit")
def one_unit():
    return [drawn(1, 1, 1)]


@exercise.stage("one sequence, several units")
def several_units():
    return [drawn(1, 2, 3)]


@exercise.stage("a batch of sequences")
def batches():
    return [drawn(4, 3, 2), drawn(3, 3, 3), drawn(2, 5, 4)]


# What goes wrong ----------------------------------------------------------------------------------


@exercise.mistake("the state has no bounds: what keeps its numbers between -1 and 1?")
def no_tanh(x_t, h, W_x, W_h, b):
    return x_t @ W_x.T + h @ W_h.T + b


@exercise.mistake(
    "the new state doesn't depend on the old one: which matrix multiplies the old state?"
)
def forgets(x_t, h, W_x, W_h, b):
    return torch.tanh(x_t @ W_x.T + b)


@exercise.mistake("the new state doesn't depend on the input: which matrix multiplies the input?")
def does_not_read(x_t, h, W_x, W_h, b):
    return torch.tanh(h @ W_h.T + b)


@exercise.mistake("the bias is missing: without it, a unit can't be on by itself.")
def no_bias(x_t, h, W_x, W_h, b):
    return torch.tanh(x_t @ W_x.T + h @ W_h.T)


@exercise.mistake("in the equation the bias is inside the tanh; in yours it is outside.")
def bias_outside(x_t, h, W_x, W_h, b):
    return torch.tanh(x_t @ W_x.T + h @ W_h.T) + b


@exercise.mistake("you take the tanh of each part by itself: take it of their sum.")
def bent_apart(x_t, h, W_x, W_h, b):
    return torch.tanh(x_t @ W_x.T) + torch.tanh(h @ W_h.T + b)


@exercise.mistake(
    "W_h has a row for each new unit, so with states in rows it has to be transposed: `h @ W_h.T`."
)
def state_not_transposed(x_t, h, W_x, W_h, b):
    return torch.tanh(x_t @ W_x.T + h @ W_h + b)


@exercise.mistake("you add the old state as it is: multiply it by W_h, inside the tanh.")
def added(x_t, h, W_x, W_h, b):
    return h + torch.tanh(x_t @ W_x.T + b)


@exercise.mistake("you also add the old state outside the tanh: in the equation it is only inside.")
def kept_beside(x_t, h, W_x, W_h, b):
    return h + torch.tanh(x_t @ W_x.T + h @ W_h.T + b)


@exercise.mistake("a sigmoid returns numbers from 0 to 1; the equation has a tanh, from -1 to 1.")
def sigmoid(x_t, h, W_x, W_h, b):
    return torch.sigmoid(x_t @ W_x.T + h @ W_h.T + b)


@exercise.mistake(
    "the equation multiplies columns, but here each sequence of the batch is a row: put the row "
    "on the left, and transpose W_x."
)
def rows_with_untransposed_weights(x_t, h, W_x, W_h, b):
    return torch.tanh(x_t @ W_x + h @ W_h + b)


@exercise.mistake(
    "in the equation W_x is to the left of a column, but here each sequence is a row, and the row "
    "itself belongs on the left."
)
def weights_before_rows(x_t, h, W_x, W_h, b):
    return torch.tanh(W_x @ x_t + W_h @ h + b)


@exercise.mistake("that is a ReLU: the step uses tanh, which keeps the state between -1 and 1.")
def relu(x_t, h, W_x, W_h, b):
    return (x_t @ W_x.T + h @ W_h.T + b).relu()


@exercise.mistake("the tanh is taken twice: once is enough.")
def tanh_twice(x_t, h, W_x, W_h, b):
    return step(x_t, h, W_x, W_h, b).tanh()


@exercise.mistake("the two terms are multiplied: add what the input and the old state bring.")
def multiplied(x_t, h, W_x, W_h, b):
    return torch.tanh((x_t @ W_x.T) * (h @ W_h.T) + b)


@exercise.mistake("the bias is subtracted: add it inside the tanh.")
def bias_subtracted(x_t, h, W_x, W_h, b):
    return step(x_t, h, W_x, W_h, -b)


@exercise.mistake("you add the bias twice: the equation has one.")
def bias_twice(x_t, h, W_x, W_h, b):
    return torch.tanh(x_t @ W_x.T + b + h @ W_h.T + b)
