"""A training loop with momentum."""

import torch
from torch import Tensor
from torch.nn import functional as F

from utils.exercises.checking import Exercise, random


def train_with_momentum(
    W: Tensor, x: Tensor, labels: Tensor, learning_rate: float, momentum: float, steps: int
) -> Tensor:
    """Return W after some steps of v ← momentum · v + gradient, W ← W - learning_rate · v.

    The loss is the cross-entropy of the logits x Wᵀ on the whole batch; v starts at 0. The W that
    was given stays as it is.
    Shapes: W (n_classes, n_pixels), x (B, n_pixels), labels (B,).
    """
    W = W.clone().requires_grad_()
    velocity = torch.zeros_like(W)
    for _ in range(steps):
        loss = F.cross_entropy(x @ W.T, labels)
        (gradient,) = torch.autograd.grad(loss, W)
        with torch.no_grad():
            velocity = momentum * velocity + gradient
            W -= learning_rate * velocity
    return W.detach()


exercise = Exercise(train_with_momentum, gradient=False)


# What it is tried on ------------------------------------------------------------------------------


def task(learning_rate: float, momentum: float, steps: int) -> tuple:
    return random(3, 4), random(6, 4), torch.randint(3, (6,)), learning_rate, momentum, steps


@exercise.stage("no step at all")
def no_step():
    return [task(0.5, 0.9, 0)]


@exercise.stage("one step")
def one_step():
    return [task(0.5, 0.9, 1)]


@exercise.stage("two steps without momentum")
def without_momentum():
    return [task(0.5, 0.0, 2)]


@exercise.stage("several steps")
def several_steps():
    return [task(0.5, 0.9, 2), task(0.2, 0.5, 5)]


# What goes wrong ----------------------------------------------------------------------------------


def trained(update, W, x, labels, learning_rate, momentum, steps, reduction="mean"):
    """Train by steps `W, v = update(W, v, gradient, learning_rate, momentum)`."""
    velocity = torch.zeros_like(W)
    for _ in range(steps):
        W = W.detach().requires_grad_()
        loss = F.cross_entropy(x @ W.T, labels, reduction=reduction)
        (gradient,) = torch.autograd.grad(loss, W)
        W, velocity = update(W.detach(), velocity, gradient, learning_rate, momentum)
    return W.detach()


@exercise.mistake(
    "the first step is correct, but then the gradients of earlier steps come in again: `backward` "
    "adds to `.grad`."
)
def gradients_added_up(W, x, labels, learning_rate, momentum, steps):
    W, velocity = W.clone().requires_grad_(), torch.zeros_like(W)
    for _ in range(steps):
        F.cross_entropy(x @ W.T, labels).backward()
        with torch.no_grad():
            velocity = momentum * velocity + W.grad
            W -= learning_rate * velocity
    return W.detach()


@exercise.mistake("the loss rises: the gradient points uphill.")
def uphill(*task):
    return trained(lambda W, v, g, rate, m: (W + rate * (m * v + g), m * v + g), *task)


@exercise.mistake(
    "this is gradient descent without momentum: nothing is carried from step to step."
)
def velocity_forgotten(*task):
    return trained(lambda W, v, g, rate, m: (W - rate * g, v), *task)


@exercise.mistake(
    "each step uses the velocity of the step before: the new gradient comes in first."
)
def velocity_too_late(*task):
    return trained(lambda W, v, g, rate, m: (W - rate * v, m * v + g), *task)


@exercise.mistake(
    "this velocity is a running average, with the gradient times (1 - momentum). Some libraries "
    "do that; here the gradient comes in whole."
)
def averaged(*task):
    def update(W, v, g, rate, m):
        v = m * v + (1 - m) * g
        return W - rate * v, v

    return trained(update, *task)


@exercise.mistake("the steps grow with the number of examples: the loss is a mean over the batch.")
def sum_for_mean(*task):
    return trained(
        lambda W, v, g, rate, m: (W - rate * (m * v + g), m * v + g), *task, reduction="sum"
    )


@exercise.mistake(
    "autograd refuses to track a weight that is changed in place while it watches. The update "
    "isn't part of the model: where may it look away?"
)
def inside_the_graph(W, x, labels, learning_rate, momentum, steps):
    velocity = torch.zeros_like(W)
    for _ in range(steps):
        W.grad = None
        F.cross_entropy(x @ W.T, labels).backward()
        velocity = momentum * velocity + W.grad
        W -= learning_rate * velocity
    return W.detach()


@exercise.mistake(
    "momentum multiplies the gradient in yours, so the velocity never slows down: it is the old "
    "velocity that fades."
)
def momentum_on_the_gradient(W, x, labels, learning_rate, momentum, steps):
    def update(W, v, g, rate, momentum):
        v = v + momentum * g
        return W - rate * v, v

    return trained(update, W, x, labels, learning_rate, momentum, steps)


@exercise.mistake("momentum multiplies the new gradient, too: only the old velocity fades.")
def momentum_on_both(W, x, labels, learning_rate, momentum, steps):
    def update(W, v, g, rate, momentum):
        v = momentum * (v + g)
        return W - rate * v, v

    return trained(update, W, x, labels, learning_rate, momentum, steps)


@exercise.mistake(
    "the learning rate comes in twice: it multiplies either the gradient or the velocity."
)
def rate_twice(W, x, labels, learning_rate, momentum, steps):
    def update(W, v, g, rate, momentum):
        v = momentum * v + rate * g
        return W - rate * v, v

    return trained(update, W, x, labels, learning_rate, momentum, steps)


@exercise.mistake("the learning rate is missing: how long is a step?")
def no_rate(W, x, labels, learning_rate, momentum, steps):
    return train_with_momentum(W, x, labels, 1.0, momentum, steps)


@exercise.mistake(
    "that is Nesterov's momentum, which looks one step ahead: here W moves by the velocity."
)
def nesterov(W, x, labels, learning_rate, momentum, steps):
    def update(W, v, g, rate, momentum):
        v = momentum * v + g
        return W - rate * (g + momentum * v), v

    return trained(update, W, x, labels, learning_rate, momentum, steps)


@exercise.mistake("your loop runs one step too few.")
def one_step_less(W, x, labels, learning_rate, momentum, steps):
    return train_with_momentum(W, x, labels, learning_rate, momentum, steps - 1)


@exercise.mistake("your loop runs one step too many.")
def one_step_more(W, x, labels, learning_rate, momentum, steps):
    return train_with_momentum(W, x, labels, learning_rate, momentum, steps + 1)


@exercise.mistake("the old velocity is kept in full: momentum is the share of it that stays.")
def never_fades(W, x, labels, learning_rate, momentum, steps):
    return train_with_momentum(W, x, labels, learning_rate, 1.0, steps)


@exercise.mistake("the softmax is taken twice: the cross-entropy has one inside.")
def softmax_twice(W, x, labels, learning_rate, momentum, steps):
    W, velocity = W.clone(), torch.zeros_like(W)
    for _ in range(steps):
        W = W.detach().requires_grad_()
        (g,) = torch.autograd.grad(F.cross_entropy((x @ W.T).softmax(1), labels), W)
        velocity = momentum * velocity + g
        W = W.detach() - learning_rate * velocity
    return W.detach()


@exercise.mistake(
    "every step uses the gradient of the first W: W has moved, and so has the gradient."
)
def first_gradient_again(W, x, labels, learning_rate, momentum, steps):
    start = W.clone().requires_grad_()
    (g,) = torch.autograd.grad(F.cross_entropy(x @ start.T, labels), start)
    velocity = torch.zeros_like(W)
    for _ in range(steps):
        velocity = momentum * velocity + g
        W = W - learning_rate * velocity
    return W.detach()


@exercise.mistake("you use 1 - momentum where momentum belongs: near 1 the velocity hardly fades.")
def shares_exchanged(W, x, labels, learning_rate, momentum, steps):
    return train_with_momentum(W, x, labels, learning_rate, 1 - momentum, steps)
