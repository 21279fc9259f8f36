"""One step of gradient descent, from the scores to the new numbers."""

import torch
from torch import Tensor
from torch.nn import functional as F

from utils.exercises.checking import Exercise, random


def step(W: Tensor, b: Tensor, x: Tensor, labels: Tensor, learning_rate: float):
    """Shapes: W (n_classes, n_pixels), b (n_classes,), x (B, n_pixels), labels (B,).

    Returns: the new W and b.
    """
    W, b = W.clone().requires_grad_(), b.clone().requires_grad_()
    loss = F.cross_entropy(x @ W.T + b, labels)
    slope_W, slope_b = torch.autograd.grad(loss, (W, b))
    return W.detach() - learning_rate * slope_W, b.detach() - learning_rate * slope_b


exercise = Exercise(step, gradient=False, runs=True)


# What it is tried on ------------------------------------------------------------------------------


def place(batch_size: int, learning_rate: float) -> tuple:
    labels = torch.randint(3, (batch_size,))
    return random(3, 4), random(3), random(batch_size, 4), labels, learning_rate


@exercise.stage("one digit")
def one_digit():
    return [place(1, 0.5)]


@exercise.stage("several digits at once")
def several_digits():
    return [place(6, 0.5), place(5, 2.0)]


# What goes wrong ----------------------------------------------------------------------------------


def moved(W, b, x, labels, learning_rate, bias=1, reduction="mean", prepare=lambda scores: scores):
    """Take a step by the slopes of a loss that may be wrong."""
    W, b = W.clone().requires_grad_(), b.clone().requires_grad_()
    loss = F.cross_entropy(prepare(x @ W.T + bias * b), labels, reduction=reduction)
    slopes = torch.autograd.grad(loss, (W, b), materialize_grads=True)
    return tuple(v.detach() - learning_rate * s for v, s in zip((W, b), slopes, strict=True))


@exercise.mistake("the loss rises: the slope points uphill, and you went with it.")
def uphill(W, b, x, labels, learning_rate):
    return moved(W, b, x, labels, -learning_rate)


@exercise.mistake("the learning rate is missing: how far is a step?")
def whole_slope(W, b, x, labels, learning_rate):
    return moved(W, b, x, labels, 1.0)


@exercise.mistake("you divide by the learning rate: a small rate is a short step.")
def rate_upside_down(W, b, x, labels, learning_rate):
    return moved(W, b, x, labels, 1 / learning_rate)


@exercise.mistake("the weights move, but the biases b stay: they have slopes, too.")
def bias_stays(W, b, x, labels, learning_rate):
    return moved(W, b, x, labels, learning_rate)[0], b


@exercise.mistake("the biases b move, but the weights stay: they have slopes, too.")
def weights_stay(W, b, x, labels, learning_rate):
    return W, moved(W, b, x, labels, learning_rate)[1]


@exercise.mistake("the scores lack their biases: x @ W.T, and then + b.")
def no_bias(W, b, x, labels, learning_rate):
    return moved(W, b, x, labels, learning_rate, bias=0)


@exercise.mistake("the steps grow with the number of digits: the loss is a mean over the batch.")
def sum_for_mean(W, b, x, labels, learning_rate):
    return moved(W, b, x, labels, learning_rate, reduction="sum")


@exercise.mistake("you divided by the number of digits, but the loss is already a mean.")
def mean_of_the_mean(W, b, x, labels, learning_rate):
    return moved(W, b, x, labels, learning_rate / len(x))


@exercise.mistake("the softmax is taken twice: `F.cross_entropy` takes scores, and has one inside.")
def softmax_twice(W, b, x, labels, learning_rate):
    return moved(W, b, x, labels, learning_rate, prepare=lambda scores: scores.softmax(1))


@exercise.mistake(
    "you moved W first, and took the slope of b only then. Take both slopes from where you are, "
    "before anything moves."
)
def one_after_the_other(W, b, x, labels, learning_rate):
    W = moved(W, b, x, labels, learning_rate)[0]
    return W, moved(W, b, x, labels, learning_rate)[1]


@exercise.mistake("W comes first, then b: yours are the other way round.")
def exchanged(W, b, x, labels, learning_rate):
    return moved(W, b, x, labels, learning_rate)[::-1]


@exercise.mistake("this is the step alone, not where it leads: add it to W and b.")
def the_way_alone(W, b, x, labels, learning_rate):
    there = moved(W, b, x, labels, learning_rate)
    return there[0] - W, there[1] - b


@exercise.mistake("these are the slopes: a step goes against them, and starts from W and b.")
def slopes_alone(W, b, x, labels, learning_rate):
    there = moved(W, b, x, labels, -1.0)
    return there[0] - W, there[1] - b


@exercise.mistake("W and b haven't moved: return the new numbers.")
def nothing_moves(W, b, x, labels, learning_rate):
    return W, b


@exercise.mistake("these scores never met a softmax: `F.cross_entropy` has one inside.")
def no_softmax(W, b, x, labels, learning_rate):
    W, b = W.clone().requires_grad_(), b.clone().requires_grad_()
    slopes = torch.autograd.grad(F.nll_loss(x @ W.T + b, labels), (W, b))
    return tuple(v.detach() - learning_rate * s for v, s in zip((W, b), slopes, strict=True))


@exercise.mistake("the scores come first, then the labels: `F.cross_entropy(scores, labels)`.")
def labels_first(W, b, x, labels, learning_rate):
    return F.cross_entropy(labels, x @ W.T + b)


@exercise.mistake(
    "autograd forgets the graph after one backward pass. Ask for both slopes in one call, as in "
    "`torch.autograd.grad(loss, (W, b))`."
)
def two_walks(W, b, x, labels, learning_rate):
    W, b = W.clone().requires_grad_(), b.clone().requires_grad_()
    loss = F.cross_entropy(x @ W.T + b, labels)
    return torch.autograd.grad(loss, W), torch.autograd.grad(loss, b)


@exercise.mistake(
    "you subtract the loss itself. The slope is how fast the loss changes with a weight."
)
def loss_for_slope(W, b, x, labels, learning_rate):
    loss = F.cross_entropy(x @ W.T + b, labels)
    return W - learning_rate * loss, b - learning_rate * loss


@exercise.mistake("W has a row for each class, and a pixel meets its weight in x @ W.T.")
def not_transposed(W, b, x, labels, learning_rate):
    return x @ W + b


@exercise.mistake(
    "autograd refuses to track a tensor that is changed in place while it watches. Make a new "
    "one: W - learning_rate * slope."
)
def in_place(W, b, x, labels, learning_rate):
    W, b = W.clone().requires_grad_(), b.clone().requires_grad_()
    F.cross_entropy(x @ W.T + b, labels).backward()
    W -= learning_rate * W.grad
    b -= learning_rate * b.grad
    return W, b


@exercise.mistake(
    "autograd doesn't track W and b: call `requires_grad_()` on both before you compute the loss."
)
def not_followed(W, b, x, labels, learning_rate):
    F.cross_entropy(x @ W.T + b, labels).backward()


@exercise.mistake("the label plays no part in your slope: which class's score should rise?")
def label_missing(W, b, x, labels, learning_rate):
    p = (x @ W.T + b).softmax(1) / len(x)
    return W - learning_rate * p.T @ x, b - learning_rate * p.sum(0)


@exercise.mistake("that is the slope of a squared error: the loss here is the cross-entropy.")
def squared_error(W, b, x, labels, learning_rate):
    W, b = W.clone().requires_grad_(), b.clone().requires_grad_()
    y = F.one_hot(labels, len(b)).to(x.dtype)
    loss = ((x @ W.T + b) - y).square().mean()
    sW, sb = torch.autograd.grad(loss, (W, b))
    return W.detach() - learning_rate * sW, b.detach() - learning_rate * sb


@exercise.mistake("the learning rate is missing in the step of b: it is the same for both.")
def rate_for_the_weights_alone(W, b, x, labels, learning_rate):
    return moved(W, b, x, labels, learning_rate)[0], moved(W, b, x, labels, 1)[1]
