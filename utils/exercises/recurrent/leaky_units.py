"""A recurrent layer whose units keep most of their state."""

import torch
from torch import Tensor

from utils.exercises.checking import Exercise, random
from utils.exercises.recurrent.layers import layer


def leaky_rnn(x: Tensor, start: Tensor, W_x: Tensor, W_h: Tensor, b: Tensor, leak: float) -> Tensor:
    """Return the states after each step of h ← (1 - α) h + α tanh(W_x x + W_h h + b).

    Shapes: x (B, T, D), start (N,), W_x (N, D), W_h (N, N), b (N,). Returns: (B, T, N).
    """
    return scan(x, start, W_x, W_h, b, lambda h, a: (1 - leak) * h + leak * torch.tanh(a))


def scan(x, start, W_x, W_h, b, update) -> Tensor:
    """Stack the states of h ← update(h, W_x x + W_h h + b)."""
    h, states = start.expand(len(x), -1), []
    for x_t in x.unbind(1):
        h = update(h, x_t @ W_x.T + h @ W_h.T + b)
        states.append(h)
    return torch.stack(states, 1)


exercise = Exercise(leaky_rnn)


# What it is tried on ------------------------------------------------------------------------------


def drawn(B: int, T: int, D: int, N: int, leak: float) -> tuple:
    return random(B, T, D), random(N), *layer(D, N), leak


@exercise.stage("one step of one sequence")
def one_step():
    return [drawn(1, 1, 2, 3, 0.3)]


@exercise.stage("three steps, one after the other")
def three_steps():
    return [drawn(1, 3, 3, 2, 0.2)]


@exercise.stage("batches of independent sequences")
def batches():
    return [drawn(4, 5, 2, 3, 0.7), drawn(3, 3, 1, 4, 0.4)]


# What goes wrong ----------------------------------------------------------------------------------


@exercise.mistake(
    "with a leak near 0 the state should hardly change; yours hardly remembers anything."
)
def shares_exchanged(x, start, W_x, W_h, b, leak):
    return leaky_rnn(x, start, W_x, W_h, b, 1 - leak)


@exercise.mistake("that is the plain network: how much of the old state should be kept?")
def no_leak(x, start, W_x, W_h, b, leak):
    return leaky_rnn(x, start, W_x, W_h, b, 1.0)


@exercise.mistake("you keep all of the old state: the two shares should add up to 1.")
def nothing_forgotten(x, start, W_x, W_h, b, leak):
    return scan(x, start, W_x, W_h, b, lambda h, a: h + leak * torch.tanh(a))


@exercise.mistake("your loop runs over the batch: which axis is time?")
def over_the_batch(x, *others):
    return leaky_rnn(x.transpose(0, 1), *others).transpose(0, 1)


@exercise.mistake("the steps are stacked along the first axis, where the batch should be.")
def time_first(x, *others):
    return leaky_rnn(x, *others).transpose(0, 1)


@exercise.mistake("every step begins with the first state: carry the state on from step to step.")
def state_not_carried(x, *others):
    return torch.cat([leaky_rnn(x_t, *others) for x_t in x.split(1, dim=1)], 1)


@exercise.mistake("W_h h_{t-1} sums over the columns of W_h: is it transposed?")
def transposed(x, start, W_x, W_h, b, leak):
    return leaky_rnn(x, start, W_x, W_h.T, b, leak)


@exercise.mistake(
    "the tanh applies only to the new part; the share of the old state is added outside it."
)
def tanh_of_the_sum(x, start, W_x, W_h, b, leak):
    return scan(x, start, W_x, W_h, b, lambda h, a: torch.tanh((1 - leak) * h + leak * a))


@exercise.mistake("the new part is linear: something should keep it between -1 and 1.")
def no_tanh(x, start, W_x, W_h, b, leak):
    return scan(x, start, W_x, W_h, b, lambda h, a: (1 - leak) * h + leak * a)


@exercise.mistake("the state before the first step is given, but you begin with zeros.")
def starts_at_zero(x, start, *others):
    return leaky_rnn(x, 0 * start, *others)


@exercise.mistake("you return only the last state; return the state after every step.")
def last_state_only(x, *others):
    return leaky_rnn(x, *others)[:, -1]


@exercise.mistake(
    "you record each state before its step: the first one is `start`, and the last one is missing."
)
def one_step_early(x, start, *others):
    return with_the_start(x, start, *others)[:, :-1]


@exercise.mistake("there is one state too many: leave out the one before the first step.")
def with_the_start(x, start, *others):
    states = leaky_rnn(x, start, *others)
    return torch.cat([start.expand(len(x), 1, -1), states], 1)


@exercise.mistake("you joined the steps along an existing axis: time needs an axis of its own.")
def concatenated(x, *others):
    return leaky_rnn(x, *others).flatten(1)


@exercise.mistake(
    "the equation multiplies columns, but x_t holds a sequence in each row: which axis of W_x "
    "should be summed over?"
)
def rows_with_untransposed_weights(x, start, W_x, W_h, b, leak):
    return x[:, 0] @ W_x  # fails already: (B, D) by (N, D)


@exercise.mistake(
    "the equation multiplies a column, but x_t is a batch with a sequence in each row: on which "
    "side does W_x multiply rows?"
)
def weights_before_rows(x, start, W_x, W_h, b, leak):
    return W_x @ x[:, 0]  # fails already: (N, D) by (B, D)


@exercise.mistake("the leak is inside the tanh: it is the share of what the tanh returns.")
def leak_inside_the_tanh(x, start, W_x, W_h, b, leak):
    return scan(x, start, W_x, W_h, b, lambda h, a: (1 - leak) * h + torch.tanh(leak * a))


@exercise.mistake("the bias is missing: without it, a unit can't be on by itself.")
def no_bias(x, start, W_x, W_h, b, leak):
    return leaky_rnn(x, start, W_x, W_h, 0 * b, leak)
