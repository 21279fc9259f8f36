"""The gradient of a loss with respect to the scores, back through the softmax by hand."""

import math

from torch import Tensor

from utils.exercises.checking import Exercise, random


def score_gradient(weights: Tensor, value: Tensor, grad_context: Tensor) -> Tensor:
    """Return the gradient of the scores (B, h, T, S), without autograd.

    Shapes: weights (B, h, T, S), value (B, h, S, d_v), grad_context (B, h, T, d_v).
    """
    g = grad_context @ value.mT  # of the weights
    return weights * (g - (weights * g).sum(-1, keepdim=True))


exercise = Exercise(score_gradient, gradient=False)


# What it is tried on ------------------------------------------------------------------------------


def drawn(B: int, h: int, T: int, S: int, d_v: int) -> tuple[Tensor, Tensor, Tensor]:
    return random(B, h, T, S).softmax(-1), random(B, h, S, d_v), random(B, h, T, d_v)


@exercise.stage("one query and two keys")
def one_query():
    return [drawn(1, 1, 1, 2, 1)]


@exercise.stage("one head")
def one_head():
    return [drawn(1, 1, 3, 4, 2)]


@exercise.stage("several heads")
def several_heads():
    return [drawn(2, 3, 4, 5, 6), drawn(3, 3, 3, 7, 2)]


# What goes wrong ----------------------------------------------------------------------------------


@exercise.mistake(
    "α(1 - α) is the slope of a weight in its own score; the other scores change it, too."
)
def diagonal(weights, value, grad_context):
    return weights * (1 - weights) * (grad_context @ value.mT)


@exercise.mistake("if one weight grows, the others shrink: the gradients of a row should sum to 0.")
def mean_forgotten(weights, value, grad_context):
    return weights * (grad_context @ value.mT)


@exercise.mistake("you subtract the plain mean: subtract the mean under the weights.")
def plain_mean(weights, value, grad_context):
    g = grad_context @ value.mT
    return weights * (g - g.mean(-1, keepdim=True))


@exercise.mistake("you sum over the queries: each query has a softmax of its own.")
def over_the_queries(weights, value, grad_context):
    g = grad_context @ value.mT
    return weights * (g - (weights * g).sum(-2, keepdim=True))


@exercise.mistake("the sign is reversed: the mean is subtracted.")
def sign(weights, value, grad_context):
    return -score_gradient(weights, value, grad_context)


@exercise.mistake("the difference has to be multiplied by the weight itself.")
def weight_forgotten(weights, value, grad_context):
    g = grad_context @ value.mT
    return g - (weights * g).sum(-1, keepdim=True)


@exercise.mistake("that is the gradient of the weights; the softmax is still missing.")
def of_the_weights(weights, value, grad_context):
    return grad_context @ value.mT


@exercise.mistake(
    "the mean that you subtract from a query's row is summed over all queries and heads."
)
def summed_over_everything(weights, value, grad_context):
    g = grad_context @ value.mT
    return weights * (g - (weights * g).sum())


@exercise.mistake("subtract a mean: in your sum the weights are missing.")
def plain_sum(weights, value, grad_context):
    g = grad_context @ value.mT
    return weights * (g - g.sum(-1, keepdim=True))


@exercise.mistake("the mean is added: it should be subtracted.")
def mean_added(weights, value, grad_context):
    g = grad_context @ value.mT
    return weights * (g + (weights * g).sum(-1, keepdim=True))


@exercise.mistake(
    "you divide by a root: the scores have been scaled before they enter the softmax."
)
def scaled(weights, value, grad_context):
    return score_gradient(weights, value, grad_context) / math.sqrt(value.shape[-1])
