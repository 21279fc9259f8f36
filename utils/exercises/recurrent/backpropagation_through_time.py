"""The gradient of a recurrent layer's W_h, back through time, by hand."""

from torch import Tensor

from utils.exercises.checking import Exercise, random


def recurrent_gradient(states: Tensor, grad_h: Tensor, W_h: Tensor) -> Tensor:
    """Return the gradient of W_h in h_t = tanh(… + W_h h_{t-1} + …), summed over steps and batch.

    Shapes: states (B, T+1, N), from the one before the first step on; grad_h (B, T, N), the
    gradient that each step's own output sends to its state; W_h (N, N). Returns: (N, N).
    """
    return gradient_over_time(states[:, :-1], 1 - states[:, 1:] ** 2, grad_h, W_h)


def gradient_over_time(before: Tensor, slopes: Tensor, grad_h: Tensor, W_h: Tensor) -> Tensor:
    """Walk back along the states that W_h met and the slopes of tanh, each (B, T, N)."""
    carried, total = 0, 0
    for t in reversed(range(grad_h.shape[1])):
        delta = (grad_h[:, t] + carried) * slopes[:, t]
        total = total + delta.T @ before[:, t]
        carried = delta @ W_h
    return total


exercise = Exercise("2.8", recurrent_gradient, gradient=False)


# What it is tried on ------------------------------------------------------------------------------


def drawn(B: int, T: int, N: int) -> tuple[Tensor, Tensor, Tensor]:
    return random(B, T + 1, N).tanh(), random(B, T, N), random(N, N)


@exercise.stage("one step, one unit")
def one_unit():
    return [drawn(1, 1, 1)]


@exercise.stage("one step, several units")
def one_step():
    return [drawn(1, 1, 3)]


@exercise.stage("two steps of one unit")
def two_steps():
    return [drawn(1, 2, 1)]


@exercise.stage("batches, steps and units")
def batches():
    return [drawn(3, 4, 2), drawn(2, 5, 4)]


# What goes wrong ----------------------------------------------------------------------------------


@exercise.mistake("W_h was used at every step, and each use adds to the gradient.")
def last_step_only(states, grad_h, W_h):
    return recurrent_gradient(states[:, -2:], grad_h[:, -1:], W_h)


@exercise.mistake("h_t has a second influence on the loss: by way of the steps that follow.")
def not_carried(states, grad_h, W_h):
    return recurrent_gradient(states, grad_h, 0 * W_h)


@exercise.mistake("on the way back W_h is met from its other side: check the transpose.")
def transposed_weights(states, grad_h, W_h):
    return recurrent_gradient(states, grad_h, W_h.T)


@exercise.mistake("tanh's slope at step t is 1 - h², but of which state?")
def slope_before_the_step(states, grad_h, W_h):
    return gradient_over_time(states[:, :-1], 1 - states[:, :-1] ** 2, grad_h, W_h)


@exercise.mistake("tanh is missing: how much of a change comes through it?")
def no_slope(states, grad_h, W_h):
    return gradient_over_time(states[:, :-1], 0 * grad_h + 1, grad_h, W_h)


@exercise.mistake("which state does W_h multiply at step t? It is not the one that comes out.")
def state_after_the_step(states, grad_h, W_h):
    return gradient_over_time(states[:, 1:], 1 - states[:, 1:] ** 2, grad_h, W_h)


@exercise.mistake("rows and columns are exchanged: row i of W_h makes unit i of the new state.")
def transposed_result(states, grad_h, W_h):
    return recurrent_gradient(states, grad_h, W_h).T


@exercise.mistake("the loss sums over the batch, and so does its gradient.")
def mean_over_the_batch(states, grad_h, W_h):
    return recurrent_gradient(states, grad_h, W_h) / len(states)


@exercise.mistake("you walked forwards in time: when is it known what the later steps send back?")
def forwards(states, grad_h, W_h):
    before, slopes = states[:, :-1], 1 - states[:, 1:] ** 2
    return gradient_over_time(before.flip(1), slopes.flip(1), grad_h.flip(1), W_h)


@exercise.mistake(
    "what comes back from later steps passes through this step's tanh too: where is its slope?"
)
def carried_past_the_slope(states, grad_h, W_h):
    carried, total = 0, 0
    for t in reversed(range(grad_h.shape[1])):
        delta = grad_h[:, t] * (1 - states[:, t + 1] ** 2) + carried
        total = total + delta.T @ states[:, t]
        carried = delta @ W_h
    return total
