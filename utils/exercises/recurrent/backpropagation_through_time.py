"""Backpropagation through time, by hand: the gradient at each tanh, and that of W_h."""

import torch
from torch import Tensor

from utils.exercises.checking import Exercise, random


def back_through_time(states: Tensor, grad_h: Tensor, W_h: Tensor) -> tuple[Tensor, Tensor]:
    """Shapes: states (B, T+1, N), starting before the first step; W_h (N, N).

    grad_h (B, T, N): the gradient that each step's own output sends to its state.
    Returns: the deltas (B, T, N), and the gradient of W_h (N, N), summed over steps and batch.
    """
    later, grad_W_h, deltas = 0, 0, []
    for t in reversed(range(grad_h.shape[1])):
        h_before, h = states[:, t], states[:, t + 1]  # (B, N)
        delta = (1 - h**2) * (grad_h[:, t] + later)
        later = delta @ W_h  # what the step before this one will get
        grad_W_h = grad_W_h + delta.T @ h_before
        deltas.append(delta)
    return torch.stack(deltas[::-1], dim=1), grad_W_h


exercise = Exercise(back_through_time, gradient=False, runs=True)


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


def walked(before: Tensor, slopes: Tensor, grad_h: Tensor, W_h: Tensor) -> tuple[Tensor, Tensor]:
    """Walk back along the states that W_h met and the slopes of tanh, each (B, T, N)."""
    later, total, deltas = 0, 0, []
    for t in reversed(range(grad_h.shape[1])):
        deltas.insert(0, (grad_h[:, t] + later) * slopes[:, t])
        later, total = deltas[0] @ W_h, total + deltas[0].T @ before[:, t]
    return torch.stack(deltas, dim=1), total


@exercise.mistake("h_t also influences the loss in a second way: through the steps that follow.")
def not_carried(states, grad_h, W_h):
    return back_through_time(states, grad_h, 0 * W_h)


@exercise.mistake("W_h is used at every step, and every use adds to its gradient.")
def last_step_only(states, grad_h, W_h):
    deltas, _ = back_through_time(states, grad_h, W_h)
    return deltas, deltas[:, -1].T @ states[:, -2]


@exercise.mistake(
    "W_h is used at every step, and each use adds to its gradient: yours covers only the first."
)
def first_step_only(states, grad_h, W_h):
    deltas, _ = back_through_time(states, grad_h, W_h)
    return deltas, deltas[:, 0].T @ states[:, 0]


@exercise.mistake(
    "in the backward pass, W_h is transposed compared with the forward pass: check the transpose."
)
def transposed_weights(states, grad_h, W_h):
    return back_through_time(states, grad_h, W_h.T)


@exercise.mistake(
    "the tanh's slope at step t is 1 - h², where h is the tanh's output, not the previous state."
)
def slope_before_the_step(states, grad_h, W_h):
    return walked(states[:, :-1], 1 - states[:, :-1] ** 2, grad_h, W_h)


@exercise.mistake("the tanh's slope is missing: how much of a small change gets through a tanh?")
def no_slope(states, grad_h, W_h):
    return walked(states[:, :-1], 0 * grad_h + 1, grad_h, W_h)


@exercise.mistake("which state does W_h multiply at step t? Not the new one, but the previous one.")
def state_after_the_step(states, grad_h, W_h):
    return walked(states[:, 1:], 1 - states[:, 1:] ** 2, grad_h, W_h)


@exercise.mistake("the deltas are correct, but the gradient of W_h is transposed.")
def transposed_result(states, grad_h, W_h):
    deltas, gradient = back_through_time(states, grad_h, W_h)
    return deltas, gradient.T


@exercise.mistake("the loss sums over the batch, and so does the gradient of W_h.")
def mean_over_the_batch(states, grad_h, W_h):
    deltas, gradient = back_through_time(states, grad_h, W_h)
    return deltas, gradient / len(states)


@exercise.mistake(
    "you went forwards in time: when do you know the gradient that the later steps send back?"
)
def forwards(states, grad_h, W_h):
    before, slopes = states[:, :-1], 1 - states[:, 1:] ** 2
    deltas, gradient = walked(before.flip(1), slopes.flip(1), grad_h.flip(1), W_h)
    return deltas.flip(1), gradient


@exercise.mistake("you computed the last step first, and left the deltas in that order.")
def last_first(states, grad_h, W_h):
    deltas, gradient = back_through_time(states, grad_h, W_h)
    return deltas.flip(1), gradient


@exercise.mistake(
    "the gradient from later steps passes through this step's tanh, too: where is its slope?"
)
def carried_past_the_slope(states, grad_h, W_h):
    later, total, deltas = 0, 0, []
    for t in reversed(range(grad_h.shape[1])):
        deltas.insert(0, grad_h[:, t] * (1 - states[:, t + 1] ** 2) + later)
        later, total = deltas[0] @ W_h, total + deltas[0].T @ states[:, t]
    return torch.stack(deltas, dim=1), total


@exercise.mistake(
    "return the deltas first, then the gradient of W_h: yours are the other way round."
)
def exchanged(states, grad_h, W_h):
    return back_through_time(states, grad_h, W_h)[::-1]


@exercise.mistake("return the deltas, too: first the deltas, then the gradient of W_h.")
def gradient_alone(states, grad_h, W_h):
    return back_through_time(states, grad_h, W_h)[1]


@exercise.mistake(
    "the gradient from a step's own output passes through the tanh, too: the slope multiplies both."
)
def own_output_past_the_slope(states, grad_h, W_h):
    later, total, deltas = 0, 0, []
    for t in reversed(range(grad_h.shape[1])):
        deltas.insert(0, grad_h[:, t] + later * (1 - states[:, t + 1] ** 2))
        later, total = deltas[0] @ W_h, total + deltas[0].T @ states[:, t]
    return torch.stack(deltas, dim=1), total


@exercise.mistake("the slope of the tanh is 1 - h², and yours is 1 - h.")
def slope_without_square(states, grad_h, W_h):
    return walked(states[:, :-1], 1 - states[:, 1:], grad_h, W_h)


@exercise.mistake("W_h is one matrix for the whole batch: sum its gradient over the batch.")
def one_gradient_for_each_sequence(states, grad_h, W_h):
    deltas, _ = back_through_time(states, grad_h, W_h)
    return deltas, torch.einsum("btn,btm->bnm", deltas, states[:, :-1])


@exercise.mistake(
    "the gradient skips W_h on its way to the step before: h_{t-1} reached step t through it."
)
def carried_past_the_weights(states, grad_h, W_h):
    later, total, deltas = 0, 0, []
    for t in reversed(range(grad_h.shape[1])):
        delta = (1 - states[:, t + 1] ** 2) * (grad_h[:, t] + later)
        later, total = delta, total + delta.T @ states[:, t]
        deltas.insert(0, delta)
    return torch.stack(deltas, 1), total


@exercise.mistake(
    "you add up everything that later steps send: a step gets only what the next one sends, which "
    "already contains the rest."
)
def all_later_added(states, grad_h, W_h):
    later, total, deltas = 0, 0, []
    for t in reversed(range(grad_h.shape[1])):
        delta = (1 - states[:, t + 1] ** 2) * (grad_h[:, t] + later)
        later, total = later + delta @ W_h, total + delta.T @ states[:, t]
        deltas.insert(0, delta)
    return torch.stack(deltas, 1), total


@exercise.mistake(
    "only the last step's own gradient comes in: every step has one, and adds what comes from "
    "later."
)
def later_alone(states, grad_h, W_h):
    later, total, deltas = grad_h[:, -1], 0, []
    for t in reversed(range(grad_h.shape[1])):
        delta = (1 - states[:, t + 1] ** 2) * later
        later, total = delta @ W_h, total + delta.T @ states[:, t]
        deltas.insert(0, delta)
    return torch.stack(deltas, 1), total


@exercise.mistake("you average the gradient of W_h over the steps: every use of W_h adds to it.")
def mean_over_the_steps(states, grad_h, W_h):
    deltas, total = back_through_time(states, grad_h, W_h)
    return deltas, total / grad_h.shape[1]


@exercise.mistake("h (1 - h) is the slope of a sigmoid: what is that of a tanh?")
def slope_of_a_sigmoid(states, grad_h, W_h):
    h = states[:, 1:]
    return walked(states[:, :-1], h * (1 - h), grad_h, W_h)


@exercise.mistake("you take the tanh of the states again: they are what the tanh returned.")
def tanh_of_the_state(states, grad_h, W_h):
    return walked(states[:, :-1], 1 - states[:, 1:].tanh() ** 2, grad_h, W_h)
