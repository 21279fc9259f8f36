"""The gradient of W_h where the states go on from chunk to chunk and the gradients do not."""

import math

import torch
from torch import Tensor

from utils.exercises.checking import Exercise, random
from utils.exercises.recurrent.layers import layer


def truncated_gradient(
    x: Tensor, y: Tensor, start: Tensor, W_x: Tensor, W_h: Tensor, b: Tensor, k: int
) -> Tensor:
    """Return the gradient of W_h for the loss ½ Σ ‖h_t - y_t‖², cut before every k-th step.

    Shapes: x (B, T, D), y (B, T, N), start (B, N), W_x (N, D), W_h (N, N), b (N,).
    Returns: (N, N).
    """
    return gradient_with_cuts(
        lambda t, h: h.detach() if t % k == 0 else h, x, y, start, W_x, W_h, b
    )


def gradient_with_cuts(before_step, x, y, start, W_x, W_h, b, counted_from: int = 0) -> Tensor:
    """Differentiate the loss by W_h, where step t reads the state before_step(t, h)."""
    W_h = W_h.detach().clone().requires_grad_()
    h, loss = start, 0
    for t in range(x.shape[1]):
        h = before_step(t, h)
        h = torch.tanh(x[:, t] @ W_x.T + h @ W_h.T + b)
        if t >= counted_from:
            loss = loss + ((h - y[:, t]) ** 2).sum() / 2
    return torch.autograd.grad(loss, W_h)[0]


exercise = Exercise(truncated_gradient, gradient=False)


# What it is tried on ------------------------------------------------------------------------------


def drawn(B: int, T: int, D: int, N: int, k: int) -> tuple:
    weights = layer(D, N)
    return random(B, T, D), random(B, T, N), random(B, N), *weights, k


@exercise.stage("one chunk, nothing to cut")
def one_chunk():
    return [drawn(1, 3, 1, 2, 3)]


@exercise.stage("two chunks")
def two_chunks():
    return [drawn(1, 4, 2, 1, 2)]


@exercise.stage("several chunks, the last one shorter")
def shorter_last():
    return [drawn(2, 7, 1, 3, 3), drawn(3, 9, 3, 2, 4)]


# What goes wrong ----------------------------------------------------------------------------------


@exercise.mistake("that is the full gradient: the graph still reaches back through all chunks.")
def not_cut(*task):
    *given, k = task
    return gradient_with_cuts(lambda t, h: h, *given)


@exercise.mistake("only the gradient is cut between chunks: carry the state's value over.")
def state_zeroed(*task):
    *given, k = task
    return gradient_with_cuts(lambda t, h: 0 * h if t and t % k == 0 else h, *given)


@exercise.mistake(
    "each chunk begins with the first state: begin with the state in which the previous chunk "
    "ended."
)
def starts_again(x, y, start, W_x, W_h, b, k):
    return gradient_with_cuts(lambda t, h: start if t % k == 0 else h, x, y, start, W_x, W_h, b)


@exercise.mistake("the graph is cut at every step; within a chunk it should stay whole.")
def cut_at_every_step(*task):
    *given, k = task
    return gradient_with_cuts(lambda t, h: h.detach(), *given)


@exercise.mistake("the cut is one step late: it should come before a chunk's first step.")
def cut_late(*task):
    *given, k = task
    return gradient_with_cuts(lambda t, h: h.detach() if t % k == 1 else h, *given)


@exercise.mistake("k is the length of a chunk, and you made k chunks.")
def k_chunks(x, *others):
    *given, k = others
    return truncated_gradient(x, *given, math.ceil(x.shape[1] / k))


@exercise.mistake("you return only the last chunk's gradient; add the gradients of all chunks.")
def last_chunk_only(x, *others):
    *given, k = others
    first = (x.shape[1] - 1) // k * k  # the first step of the last chunk
    return gradient_with_cuts(
        lambda t, h: h.detach() if t % k == 0 else h, x, *given, counted_from=first
    )


@exercise.mistake("the loss is a sum over all steps: don't average over the chunks.")
def mean_of_the_chunks(x, *others):
    *given, k = others
    return truncated_gradient(x, *given, k) / math.ceil(x.shape[1] / k)


@exercise.mistake("everything is twice as large: which factor comes before the sum in the loss?")
def no_half(*task):
    return 2 * truncated_gradient(*task)


@exercise.mistake("the loss is summed over the batch; yours is a mean.")
def mean_over_the_batch(x, *others):
    return truncated_gradient(x, *others) / len(x)


@exercise.mistake("the last chunk is missing when it is shorter: its steps count, too.")
def shorter_chunk_dropped(x, y, *others):
    *given, k = others
    whole = x.shape[1] // k * k
    return truncated_gradient(x[:, :whole], y[:, :whole], *given, k)


@exercise.mistake("every step contributes to the loss; yours has only the last step of each chunk.")
def last_step_of_each_chunk(x, y, start, W_x, W_h, b, k):
    W_h = W_h.detach().clone().requires_grad_()
    h, loss = start, 0
    for inputs, targets in zip(x.split(k, dim=1), y.split(k, dim=1), strict=True):
        h = h.detach()
        for x_t in inputs.unbind(dim=1):
            h = torch.tanh(x_t @ W_x.T + h @ W_h.T + b)
        loss = loss + ((h - targets[:, -1]) ** 2).sum() / 2
    return torch.autograd.grad(loss, W_h)[0]


@exercise.mistake("you average the loss over the steps: here it is a sum.")
def mean_over_the_steps(x, y, start, W_x, W_h, b, k):
    return truncated_gradient(x, y, start, W_x, W_h, b, k) / x.shape[1]


@exercise.mistake("your chunks have k + 1 steps: they should have k.")
def one_step_longer(x, y, start, W_x, W_h, b, k):
    return truncated_gradient(x, y, start, W_x, W_h, b, k + 1)
