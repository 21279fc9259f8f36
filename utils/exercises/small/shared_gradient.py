"""One matrix, used again and again: which gradient does it get?"""

import torch
from torch import Tensor

from utils.exercises.checking import Exercise, random


def shared_gradient(x: Tensor, W: Tensor, n: int, arriving: Tensor) -> Tensor:
    """Return the gradient by W of the sum of y ⊙ arriving, where n layers share W.

    Each layer adds to what it reads: h + tanh(h Wᵀ). The first reads x, the last gives y.
    Shapes: x and arriving (T, D), W (D, D), to (D, D). n is at least 1.
    """
    W = W.detach().requires_grad_()
    h = x
    for _ in range(n):
        h = h + torch.tanh(h @ W.T)
    return torch.autograd.grad((h * arriving).sum(), W)[0]


exercise = Exercise(shared_gradient, gradient=False)


# What it is tried on ------------------------------------------------------------------------------


@exercise.stage("a single layer")
def a_single_layer():
    return [
        (random(1, 2), random(2, 2), 1, random(1, 2)),
        (random(4, 3), random(3, 3), 1, random(4, 3)),
    ]


@exercise.stage("two layers that share a matrix")
def two_layers():
    return [(random(3, 2), random(2, 2), 2, random(3, 2))]


@exercise.stage("more of them")
def more():
    return [(random(4, 3), 0.5 * random(3, 3), n, random(4, 3)) for n in (3, 5)]


# What goes wrong ----------------------------------------------------------------------------------


def of_each_layer(x: Tensor, W: Tensor, n: int, arriving: Tensor) -> list[Tensor]:
    """Return the gradients of n layers that have a copy of W each."""
    copies = [W.detach().clone().requires_grad_() for _ in range(n)]
    h = x
    for copy in copies:
        h = h + torch.tanh(h @ copy.T)
    return list(torch.autograd.grad((h * arriving).sum(), copies))


@exercise.mistake(
    "you copied the layer: only its first use belongs to W, and the others' gradients are lost."
)
def first_alone(*given):
    return of_each_layer(*given)[0]


@exercise.mistake("only the last use reaches W: the earlier layers use it, too.")
def last_alone(*given):
    return of_each_layer(*given)[-1]


@exercise.mistake(
    "you average over the uses: each of them changes the loss, so their gradients add up."
)
def mean_over_uses(*given):
    return sum(of_each_layer(*given)) / given[2]


@exercise.mistake("you cut the state off between layers: a layer's input depends on W, too.")
def cut_off(x, W, n, arriving):
    W = W.detach().requires_grad_()
    h, found = x, torch.zeros_like(W)
    for _ in range(n):
        y = h + torch.tanh(h @ W.T)
        found = found + torch.autograd.grad((y * arriving).sum(), W)[0]
        h = y.detach()
    return found


def by_hand(
    x: Tensor,
    W: Tensor,
    n: int,
    arriving: Tensor,
    *,
    skip: float = 1.0,
    slope: bool = True,
    back: Tensor | None = None,
) -> Tensor:
    """Go back through the layers without autograd, or forget something on the way."""
    inputs, outputs = [x], []
    for _ in range(n):
        outputs.append(torch.tanh(inputs[-1] @ W.T))
        inputs.append(inputs[-1] + outputs[-1])
    gradient, found = arriving, torch.zeros_like(W)
    for h, t in zip(reversed(inputs[:-1]), reversed(outputs), strict=True):
        inner = gradient * (1 - t**2) if slope else gradient
        found = found + inner.T @ h
        gradient = skip * gradient + inner @ (W if back is None else back)
    return found


@exercise.mistake("the gradient also flows around each tanh, along h itself: you lost that path.")
def skip_lost(*given):
    return by_hand(*given, skip=0.0)


@exercise.mistake("the slope of tanh is missing: it is 1 - tanh².")
def slope_lost(*given):
    return by_hand(*given, slope=False)


@exercise.mistake(
    "the forward pass multiplies by Wᵀ, so the way back multiplies by W: yours uses Wᵀ."
)
def back_through_the_transpose(x, W, n, arriving):
    return by_hand(x, W, n, arriving, back=W.T)


@exercise.mistake(
    "that is n times the first layer's gradient: each layer reads the output of the one before."
)
def first_layer_n_times(x, W, n, arriving):
    return n * shared_gradient(x, W, 1, arriving)


@exercise.mistake("you have a single layer: there are n layers, which share one matrix.")
def one_layer(x, W, n, arriving):
    return shared_gradient(x, W, 1, arriving)


@exercise.mistake("one layer too many: x goes into the first, and the n-th gives y.")
def one_too_many(x, W, n, arriving):
    return shared_gradient(x, W, n + 1, arriving)


@exercise.mistake("your layers replace their input: each adds tanh(h Wᵀ) to its input h.")
def not_added(x, W, n, arriving):
    W = W.detach().requires_grad_()
    h = x
    for _ in range(n):
        h = torch.tanh(h @ W.T)
    return torch.autograd.grad((h * arriving).sum(), W)[0]


@exercise.mistake("W is transposed: a layer computes h Wᵀ.")
def not_transposed(x, W, n, arriving):
    return shared_gradient(x, W.T, n, arriving).T


@exercise.mistake("that is the transpose of the gradient, which has the shape and order of W.")
def transposed(x, W, n, arriving):
    return shared_gradient(x, W, n, arriving).T


@exercise.mistake(
    "that is the gradient of the plain sum of y: weigh each number with the gradient that arrives."
)
def nothing_arrives(x, W, n, arriving):
    return shared_gradient(x, W, n, torch.ones_like(arriving))


@exercise.mistake("you differentiate the mean of y ⊙ arriving: it is their sum.")
def mean_for_sum(x, W, n, arriving):
    return shared_gradient(x, W, n, arriving) / arriving.numel()


@exercise.mistake(
    "nothing watches W: autograd has to be told, before the layers run, that it needs a gradient."
)
def not_watched(x, W, n, arriving):
    h = x
    for _ in range(n):
        h = h + torch.tanh(h @ W.T)
    return torch.autograd.grad((h * arriving).sum(), W)[0]
