"""Weights and biases with which a convolution alone does what it did with batch normalisation."""

import torch
from torch import Tensor

from utils.exercises.checking import Exercise, random


def fold_batch_norm(
    weight: Tensor, bias: Tensor, mean: Tensor, var: Tensor, gamma: Tensor, beta: Tensor, eps: float
) -> tuple[Tensor, Tensor]:
    """Return the weight and the bias of a convolution that normalises by running mean and variance.

    Shapes: weight (C_out, C, K, K), all others but eps (C_out,).
    """
    scale = gamma / torch.sqrt(var + eps)
    return weight * scale[:, None, None, None], (bias - mean) * scale + beta


exercise = Exercise(fold_batch_norm, gradient=False)


# What it is tried on ------------------------------------------------------------------------------


def drawn(channels: int, out_channels: int, K: int) -> tuple:
    var = torch.rand(out_channels, dtype=torch.float64) + 0.1  # near ε: shows where ε is added
    bias, mean, gamma, beta = (random(out_channels) for _ in range(4))
    return random(out_channels, channels, K, K), bias, mean, var, gamma, beta, 0.1


@exercise.stage("one channel")
def one_channel():
    return [drawn(1, 1, K=1)]


@exercise.stage("several channels")
def several_channels():
    return [drawn(3, 4, K=2), drawn(2, 5, K=3)]


# What goes wrong ----------------------------------------------------------------------------------


@exercise.mistake("ε belongs inside the root, together with the variance.")
def epsilon_outside_the_root(weight, bias, mean, var, gamma, beta, eps):
    return fold_batch_norm(weight, bias, mean, (var.sqrt() + eps) ** 2, gamma, beta, 0.0)


@exercise.mistake("normalisation divides by a standard deviation, and you divide by a variance.")
def root_forgotten(weight, bias, mean, var, gamma, beta, eps):
    return fold_batch_norm(weight, bias, mean, (var + eps) ** 2, gamma, beta, 0.0)


@exercise.mistake("the convolution had a bias before it was normalised; where did it go?")
def old_bias_forgotten(weight, bias, mean, var, gamma, beta, eps):
    return fold_batch_norm(weight, 0 * bias, mean, var, gamma, beta, eps)


@exercise.mistake("ε is missing: what if a channel never varied?")
def epsilon_forgotten(weight, bias, mean, var, gamma, beta, eps):
    return fold_batch_norm(weight, bias, mean, var, gamma, beta, 0.0)


@exercise.mistake("the layer scales what it has normalised; where is γ?")
def gamma_forgotten(weight, bias, mean, var, gamma, beta, eps):
    return fold_batch_norm(weight, bias, mean, var, torch.ones_like(gamma), beta, eps)


@exercise.mistake("the layer adds something last; where is β?")
def beta_forgotten(weight, bias, mean, var, gamma, beta, eps):
    return fold_batch_norm(weight, bias, mean, var, gamma, 0 * beta, eps)


@exercise.mistake("normalising starts with a subtraction; where is μ?")
def mean_forgotten(weight, bias, mean, var, gamma, beta, eps):
    return fold_batch_norm(weight, bias, 0 * mean, var, gamma, beta, eps)


@exercise.mistake(
    "the old bias is normalised and scaled like everything else that the convolution returns."
)
def old_bias_unscaled(weight, bias, mean, var, gamma, beta, eps):
    folded, shift = fold_batch_norm(weight, 0 * bias, mean, var, gamma, beta, eps)
    return folded, shift + bias


@exercise.mistake("the bias is folded, but the weights are as they were: what scales them?")
def weights_unscaled(weight, bias, mean, var, gamma, beta, eps):
    return weight, fold_batch_norm(weight, bias, mean, var, gamma, beta, eps)[1]


@exercise.mistake("you added the mean: would the outputs then have a mean of 0?")
def mean_added(weight, bias, mean, var, gamma, beta, eps):
    return fold_batch_norm(weight, bias, -mean, var, gamma, beta, eps)


@exercise.mistake(
    "the scales were laid along a kernel's row, since broadcasting starts at the right: which "
    "axis of the weight holds the output channels?"
)
def scale_along_the_row(weight, bias, mean, var, gamma, beta, eps):
    scale = gamma / torch.sqrt(var + eps)
    return weight * scale, (bias - mean) * scale + beta


@exercise.mistake(
    "the scales were laid along the input channels: which axis of the weight holds the output "
    "channels?"
)
def scale_along_the_input(weight, bias, mean, var, gamma, beta, eps):
    scale = gamma / torch.sqrt(var + eps)
    return weight * scale[:, None, None], (bias - mean) * scale + beta


@exercise.mistake("γ scales everything that was normalised: the old bias and the mean, too.")
def gamma_on_the_weights_only(weight, bias, mean, var, gamma, beta, eps):
    folded = fold_batch_norm(weight, bias, mean, var, gamma, beta, eps)[0]
    return folded, (bias - mean) / torch.sqrt(var + eps) + beta


@exercise.mistake("you subtract the mean after scaling: it belongs to what is scaled.")
def mean_unscaled(weight, bias, mean, var, gamma, beta, eps):
    folded, shift = fold_batch_norm(weight, bias, 0 * mean, var, gamma, beta, eps)
    return folded, shift - mean


@exercise.mistake("you multiply by the deviation: normalising divides by it.")
def multiplied_by_the_deviation(weight, bias, mean, var, gamma, beta, eps):
    scale = gamma * torch.sqrt(var + eps)
    return weight * scale[:, None, None, None], (bias - mean) * scale + beta


@exercise.mistake("you scale β, too: it is added after the scaling.")
def beta_scaled(weight, bias, mean, var, gamma, beta, eps):
    scale = gamma / torch.sqrt(var + eps)
    return weight * scale[:, None, None, None], (bias - mean + beta) * scale
