"""The gradients of layer norm, for its input, gain and bias, worked out by hand."""

from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from utils.exercises.checking import Exercise, random


def layer_norm_gradient(
    x: Tensor, gain: Tensor, eps: float, grad_y: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    """Return the gradients with respect to x (B, T, D), the gain (D,) and the bias (D,).

    Shapes: x (B, T, D), gain (D,), grad_y (B, T, D).
    """
    deviation = (x.var(-1, correction=0, keepdim=True) + eps).sqrt()
    normed = (x - x.mean(-1, keepdim=True)) / deviation
    h = grad_y * gain
    pull = normed * (h * normed).mean(-1, keepdim=True)
    grad_x = (h - h.mean(-1, keepdim=True) - pull) / deviation
    return grad_x, (grad_y * normed).sum((0, 1)), grad_y.sum((0, 1))


class ByHand(Exercise):
    """An exercise in which autograd records nothing."""

    def judge(self, attempt: Any) -> tuple[bool | None, str]:
        with torch.inference_mode():
            return super().judge(attempt)


exercise = ByHand(layer_norm_gradient, gradient=False)


# What it is tried on ------------------------------------------------------------------------------


def drawn(B: int, T: int, D: int, eps: float) -> tuple:
    return 1 + 2 * random(B, T, D), random(D), eps, random(B, T, D)


@exercise.stage("one position")
def one_position():
    return [drawn(1, 1, 3, 0.1)]


@exercise.stage("several positions")
def several_positions():
    return [drawn(1, 4, 3, 1e-5)]


@exercise.stage("several sequences")
def several_sequences():
    return [drawn(2, 3, 4, 0.5), drawn(3, 2, 5, 1e-5)]


# What goes wrong ----------------------------------------------------------------------------------


def normalised(x: Tensor, eps: float) -> tuple[Tensor, Tensor]:
    """Return x̂, and what it was divided by."""
    deviation = (x.var(-1, correction=0, keepdim=True) + eps).sqrt()
    return (x - x.mean(-1, keepdim=True)) / deviation, deviation


def by_a_deviation(deviation: Tensor, x: Tensor, gain: Tensor, grad_y: Tensor) -> tuple:
    """Return the gradients, by the right formula, of a norm that divides by another deviation."""
    normed = (x - x.mean(-1, keepdim=True)) / deviation
    h = grad_y * gain
    pull = normed * (h * normed).mean(-1, keepdim=True)
    grad_x = (h - h.mean(-1, keepdim=True) - pull) / deviation
    return grad_x, (grad_y * normed).sum((0, 1)), grad_y.sum((0, 1))


@exercise.mistake("autograd is switched off here: work the gradients out, and write the formulas.")
def by_autograd(x, gain, eps, grad_y):
    leaves = [leaf.detach().requires_grad_() for leaf in (x, gain, torch.zeros_like(gain))]
    y = F.layer_norm(leaves[0], gain.shape, *leaves[1:], eps)
    return torch.autograd.grad(y, leaves, grad_y)


@exercise.mistake("you treat mean and standard deviation as constants: x changes both.")
def constants(x, gain, eps, grad_y):
    _, deviation = normalised(x, eps)
    return grad_y * gain / deviation, *layer_norm_gradient(x, gain, eps, grad_y)[1:]


@exercise.mistake(
    "x changes the mean, too: what happens to y if the same number is added to all of x?"
)
def mean_constant(x, gain, eps, grad_y):
    normed, deviation = normalised(x, eps)
    h = grad_y * gain
    grad_x = (h - normed * (h * normed).mean(-1, keepdim=True)) / deviation
    return grad_x, *layer_norm_gradient(x, gain, eps, grad_y)[1:]


@exercise.mistake("x changes the standard deviation, too: what happens to y if x is stretched?")
def deviation_constant(x, gain, eps, grad_y):
    _, deviation = normalised(x, eps)
    h = grad_y * gain
    grad_x = (h - h.mean(-1, keepdim=True)) / deviation
    return grad_x, *layer_norm_gradient(x, gain, eps, grad_y)[1:]


@exercise.mistake("x̂ is x divided by the standard deviation: divide its gradient by that, too.")
def not_divided(x, gain, eps, grad_y):
    _, deviation = normalised(x, eps)
    grad_x, *others = layer_norm_gradient(x, gain, eps, grad_y)
    return grad_x * deviation, *others


@exercise.mistake("on its way back to x, the gradient passes through the gain.")
def gain_passed_by(x, gain, eps, grad_y):
    _, *others = layer_norm_gradient(x, gain, eps, grad_y)
    return layer_norm_gradient(x, torch.ones_like(gain), eps, grad_y)[0], *others


@exercise.mistake("what does the gain multiply: x, or the normalised x̂?")
def gain_of_the_raw(x, gain, eps, grad_y):
    grad_x, _, grad_bias = layer_norm_gradient(x, gain, eps, grad_y)
    return grad_x, (grad_y * x).sum((0, 1)), grad_bias


@exercise.mistake("gain and bias serve all positions: their gradients add up.")
def means(x, gain, eps, grad_y):
    grad_x, *others = layer_norm_gradient(x, gain, eps, grad_y)
    positions = x.shape[0] * x.shape[1]
    return grad_x, *(grad / positions for grad in others)


@exercise.mistake("your standard deviation divides by D - 1; layer norm's divides by D.")
def one_less(x, gain, eps, grad_y):
    return by_a_deviation((x.var(-1, keepdim=True) + eps).sqrt(), x, gain, grad_y)


@exercise.mistake(
    "you add ε to the standard deviation; it belongs to the variance, under the root."
)
def eps_outside(x, gain, eps, grad_y):
    deviation = x.var(-1, correction=0, keepdim=True).sqrt() + eps
    return by_a_deviation(deviation, x, gain, grad_y)


@exercise.mistake("you take a sum where the formula has a mean over the width.")
def sums_for_means(x, gain, eps, grad_y):
    normed, deviation = normalised(x, eps)
    h = grad_y * gain
    pull = normed * (h * normed).sum(-1, keepdim=True)
    grad_x = (h - h.sum(-1, keepdim=True) - pull) / deviation
    return grad_x, *layer_norm_gradient(x, gain, eps, grad_y)[1:]


@exercise.mistake(
    "the part that comes through the standard deviation has the wrong sign: if x is stretched, y "
    "is divided by more."
)
def pushed(x, gain, eps, grad_y):
    normed, deviation = normalised(x, eps)
    h = grad_y * gain
    pull = normed * (h * normed).mean(-1, keepdim=True)
    grad_x = (h - h.mean(-1, keepdim=True) + pull) / deviation
    return grad_x, *layer_norm_gradient(x, gain, eps, grad_y)[1:]


@exercise.mistake("where is ε? It is added to the variance, forwards and backwards.")
def no_eps(x, gain, eps, grad_y):
    return layer_norm_gradient(x, gain, 0.0, grad_y)


@exercise.mistake("the gradients are correct, but their order is x, gain, bias.")
def bias_before_gain(x, gain, eps, grad_y):
    by_x, by_gain, by_bias = layer_norm_gradient(x, gain, eps, grad_y)
    return by_x, by_bias, by_gain


@exercise.mistake("the gain multiplies x̂, so its own gradient contains x̂, and not the gain.")
def gain_in_its_own(x, gain, eps, grad_y):
    by_x, by_gain, by_bias = layer_norm_gradient(x, gain, eps, grad_y)
    return by_x, gain * by_gain, by_bias


@exercise.mistake("the bias is added after the gain: its gradient doesn't pass through the gain.")
def bias_through_the_gain(x, gain, eps, grad_y):
    by_x, by_gain, by_bias = layer_norm_gradient(x, gain, eps, grad_y)
    return by_x, by_gain, gain * by_bias
