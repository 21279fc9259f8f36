"""A linear layer with a low-rank change, and the single weight that gives the same outputs."""

import torch
from torch import Tensor
from torch.nn import functional as F

from utils.exercises.checking import Exercise, random


def lora_layer(x: Tensor, W: Tensor, A: Tensor, B: Tensor, alpha: float) -> tuple[Tensor, Tensor]:
    """Return W x + α/r · B A x for each x, and the merged weight, whose product with x is the same.

    Shapes: x (..., d_in), W (n, d_in), A (r, d_in), B (n, r) to outputs (..., n) and (n, d_in).
    """
    scale = alpha / len(A)
    return x @ W.T + scale * (x @ A.T) @ B.T, W + scale * B @ A


exercise = Exercise(lora_layer, runs=True)


# What it is tried on ------------------------------------------------------------------------------


def drawn(*lead: int, n: int, d_in: int, r: int, alpha: float) -> tuple:
    return random(*lead, d_in), random(n, d_in), random(r, d_in), random(n, r), alpha


@exercise.stage("rank 1, α = 1")
def rank_one():
    return [drawn(1, n=3, d_in=2, r=1, alpha=1.0)]


@exercise.stage("a direction that has learned nothing: a column of B is 0")
def nothing_learned():
    x, W, A, B, alpha = drawn(4, n=3, d_in=5, r=2, alpha=8.0)
    B[:, 1] = 0
    return [(x, W, A, B, alpha)]


@exercise.stage("higher ranks, α stays 8")
def higher_ranks():
    return [drawn(3, n=4, d_in=7, r=2, alpha=8.0), drawn(2, n=6, d_in=5, r=4, alpha=8.0)]


@exercise.stage("texts")
def texts():
    return [drawn(2, 3, n=6, d_in=6, r=3, alpha=16.0), drawn(2, 4, n=5, d_in=8, r=5, alpha=0.5)]


# What goes wrong ----------------------------------------------------------------------------------


def scaled_by(scale: float, x: Tensor, W: Tensor, A: Tensor, B: Tensor) -> tuple[Tensor, Tensor]:
    return lora_layer(x, W, A, B, scale * len(A))


@exercise.mistake("α/r is missing: the change would grow with the rank.")
def no_scale(x, W, A, B, alpha):
    return scaled_by(1.0, x, W, A, B)


@exercise.mistake("α is not divided by r: each rank would need a rate of its own.")
def not_divided(x, W, A, B, alpha):
    return scaled_by(alpha, x, W, A, B)


@exercise.mistake("you divide by r, but where is α?")
def no_alpha(x, W, A, B, alpha):
    return scaled_by(1 / len(A), x, W, A, B)


@exercise.mistake("you multiply by r: α is divided by it.")
def times_the_rank(x, W, A, B, alpha):
    return scaled_by(alpha * len(A), x, W, A, B)


@exercise.mistake("you divide by the width of the inputs: r counts the numbers between A and B.")
def divided_by_the_width(x, W, A, B, alpha):
    return scaled_by(alpha / A.shape[1], x, W, A, B)


@exercise.mistake("you divide by the number of outputs: r counts the numbers between A and B.")
def divided_by_the_outputs(x, W, A, B, alpha):
    return scaled_by(alpha / len(B), x, W, A, B)


@exercise.mistake("you apply α/r twice, once to A and once to B.")
def scaled_twice(x, W, A, B, alpha):
    return scaled_by((alpha / len(A)) ** 2, x, W, A, B)


@exercise.mistake("α/√r is a later proposal for high ranks; here it is α/r.")
def divided_by_the_root(x, W, A, B, alpha):
    return scaled_by(alpha / len(A) ** 0.5, x, W, A, B)


@exercise.mistake("you subtract the change: add it to the frozen weight.")
def subtracted(x, W, A, B, alpha):
    return scaled_by(-alpha / len(A), x, W, A, B)


@exercise.mistake("that is the change alone: add the frozen weight's output.")
def change_alone(x, W, A, B, alpha):
    return lora_layer(x, torch.zeros_like(W), A, B, alpha)


@exercise.mistake("that is the frozen weight alone: what A and B learn has no effect.")
def frozen_alone(x, W, A, B, alpha):
    return x @ W.T, W


@exercise.mistake("the merged weight is only the change: add it to W.")
def merged_without_the_weight(x, W, A, B, alpha):
    y, merged = lora_layer(x, W, A, B, alpha)
    return y, merged - W


@exercise.mistake("the merged weight is W unchanged: everything that A and B learned is lost.")
def nothing_merged(x, W, A, B, alpha):
    return lora_layer(x, W, A, B, alpha)[0], W


@exercise.mistake("the change counts twice: the merged weight already contains it.")
def counted_twice(x, W, A, B, alpha):
    y, merged = lora_layer(x, W, A, B, alpha)
    return 2 * y - x @ W.T, merged


@exercise.mistake("α/r is in the outputs, but not in the merged weight, so the two disagree.")
def merged_without_the_scale(x, W, A, B, alpha):
    return lora_layer(x, W, A, B, alpha)[0], W + B @ A


@exercise.mistake("the merged weight is transposed: it should have the shape of W.")
def merged_transposed(x, W, A, B, alpha):
    y, merged = lora_layer(x, W, A, B, alpha)
    return y, merged.T


@exercise.mistake(
    "there is a nonlinearity between A and B, so no single weight could replace them. A layer like "
    "that is called an adapter."
)
def bent_between(x, W, A, B, alpha):
    scale = alpha / len(A)
    return x @ W.T + scale * F.relu(x @ A.T) @ B.T, W + scale * B @ A


@exercise.mistake("the whole output is scaled: α/r belongs to the change alone.")
def all_scaled(x, W, A, B, alpha):
    return lora_layer(x, alpha / len(A) * W, A, B, alpha)


@exercise.mistake("α/r is in the merged weight, but not in the outputs, so the two disagree.")
def outputs_without_the_scale(x, W, A, B, alpha):
    return x @ W.T + (x @ A.T) @ B.T, lora_layer(x, W, A, B, alpha)[1]


@exercise.mistake("the factor is upside down: α is divided by r.")
def upside_down(x, W, A, B, alpha):
    return scaled_by(len(A) / alpha, x, W, A, B)


@exercise.mistake(
    "the product is B A, not A B: A leads from the inputs to r numbers, and B from them to the "
    "outputs."
)
def product_the_other_way(x, W, A, B, alpha):
    return lora_layer(x, W, A, B, alpha)[0], W + alpha / len(A) * A @ B


@exercise.mistake("the outputs come first, then the merged weight: yours are the other way round.")
def exchanged(x, W, A, B, alpha):
    return lora_layer(x, W, A, B, alpha)[::-1]


@exercise.mistake("the outputs are those of the change alone: the frozen weight adds its own.")
def outputs_without_the_weight(x, W, A, B, alpha):
    y, merged = lora_layer(x, W, A, B, alpha)
    return y - x @ W.T, merged


@exercise.mistake("the change is in the merged weight, but not in the outputs.")
def outputs_without_the_change(x, W, A, B, alpha):
    return x @ W.T, lora_layer(x, W, A, B, alpha)[1]


@exercise.mistake("the merged weight contains W twice.")
def weight_twice(x, W, A, B, alpha):
    y, merged = lora_layer(x, W, A, B, alpha)
    return y, merged + W


@exercise.mistake("the merged weight subtracts the change, and the outputs add it.")
def merged_with_a_minus(x, W, A, B, alpha):
    y, merged = lora_layer(x, W, A, B, alpha)
    return y, 2 * W - merged


@exercise.mistake("α is in the outputs, but not in the merged weight, so the two disagree.")
def merged_without_alpha(x, W, A, B, alpha):
    return lora_layer(x, W, A, B, alpha)[0], W + B @ A / len(A)


@exercise.mistake("in the merged weight, α is not divided by r, so it disagrees with the outputs.")
def merged_not_divided(x, W, A, B, alpha):
    return lora_layer(x, W, A, B, alpha)[0], W + alpha * B @ A


@exercise.mistake("in the outputs, α is not divided by r, so they disagree with the merged weight.")
def outputs_not_divided(x, W, A, B, alpha):
    return scaled_by(alpha, x, W, A, B)[0], lora_layer(x, W, A, B, alpha)[1]
