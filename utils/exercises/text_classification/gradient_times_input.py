"""Which word decided? Ask how steeply the class's logit falls as a word's vector fades."""

from collections.abc import Callable
from functools import cache

import torch
from torch import Tensor
from torch.nn import functional as F

from utils.exercises.checking import Exercise, random

Model = Callable[[Tensor], Tensor]  # embedded words (T, D) to logits (n_classes,)


def gradient_times_input(model: Model, x: Tensor, label: int) -> Tensor:
    """Return x_t · ∂z/∂x_t for each word's vector x_t, (T,), where z is the label's logit.

    model: of embedded words (T, D) to logits (n_classes,). Shapes: x (T, D).
    """
    x = x.detach().requires_grad_()
    return (x * slope(model(x)[label], x)).sum(dim=-1).detach()


def slope(of: Tensor, x: Tensor) -> Tensor:
    return torch.autograd.grad(of, x)[0]


exercise = Exercise(gradient_times_input, gradient=False)


# What it is tried on ------------------------------------------------------------------------------


@cache
def reading(D: int, n_classes: int) -> Model:
    """Return a model that isn't a sum over its words."""
    generator = torch.Generator().manual_seed(D)
    rows = torch.randn(D + n_classes, D, dtype=torch.float64, generator=generator)
    W, output = rows.split((D, n_classes))

    def model(x: Tensor) -> Tensor:
        hidden = (x @ W).tanh()
        return output @ (hidden.mean(dim=0) + (hidden[:1] * hidden).sum(dim=0))

    return model


def drawn(T: int, D: int, n_classes: int, label: int) -> tuple:
    return reading(D, n_classes), random(T, D), label


@exercise.stage("one word")
def one_word():
    return [drawn(1, 3, 2, 1)]


@exercise.stage("several words")
def several():
    return [drawn(5, 3, 2, 0), drawn(4, 6, 3, 2)]


@exercise.stage("as many words as numbers in a vector")
def square():
    return [drawn(4, 4, 3, 1)]


@exercise.stage("classes that the model doesn't predict")
def each_class():
    model, x, _ = drawn(3, 5, 3, 0)
    return [(model, x, label) for label in range(3)]


# What goes wrong ----------------------------------------------------------------------------------


def leaf(x: Tensor) -> Tensor:
    return x.detach().requires_grad_()


def times(model: Model, x: Tensor, label: int) -> Tensor:
    """Gradient times input, number by number, (T, D)."""
    x = leaf(x)
    return (x * slope(model(x)[label], x)).detach()


@exercise.mistake("you lose the sign: a word can also speak against the class.")
def absolute(model, x, label):
    return times(model, x, label).sum(dim=-1).abs()


@exercise.mistake(
    "you add up absolute values: positive and negative parts of a vector should cancel."
)
def sum_of_sizes(model, x, label):
    return times(model, x, label).abs().sum(dim=-1)


@exercise.mistake("that is the gradient alone: multiply it by the word's vector.")
def gradient_alone(model, x, label):
    x = leaf(x)
    return slope(model(x)[label], x).sum(dim=-1)


@exercise.mistake(
    "that is the length of the gradient: take its dot product with the word's vector."
)
def length_of_the_gradient(model, x, label):
    x = leaf(x)
    return slope(model(x)[label], x).norm(dim=-1)


@exercise.mistake("you sum over the words: sum over each word's vector, for one number per word.")
def over_the_words(model, x, label):
    return times(model, x, label).sum(dim=0)


@exercise.mistake("you average over a word's vector: a dot product is a sum.")
def mean_for_sum(model, x, label):
    return times(model, x, label).mean(dim=-1)


@exercise.mistake("that is the gradient of the loss, which falls where the logit rises.")
def of_the_loss(model, x, label):
    x = leaf(x)
    loss = F.cross_entropy(model(x)[None], torch.tensor([label]))
    return (x * slope(loss, x)).sum(dim=-1).detach()


@exercise.mistake(
    "you differentiate log p, which also contains the other classes' logits: take the logit."
)
def of_log_p(model, x, label):
    x = leaf(x)
    return (x * slope(model(x).log_softmax(dim=-1)[label], x)).sum(dim=-1).detach()


@exercise.mistake(
    "you differentiate the probability, which is flat where the model is sure: take the logit."
)
def of_p(model, x, label):
    x = leaf(x)
    return (x * slope(model(x).softmax(dim=-1)[label], x)).sum(dim=-1).detach()


@exercise.mistake("you score the class that the model predicts: score the given label.")
def said_class(model, x, label):
    return gradient_times_input(model, x, int(model(x).argmax()))


@exercise.mistake("you differentiate all logits at once: take the given label's.")
def all_logits(model, x, label):
    x = leaf(x)
    return (x * slope(model(x).sum(), x)).sum(dim=-1).detach()


@exercise.mistake("the sign is reversed: a word that speaks for the class should score above 0.")
def reversed_sign(model, x, label):
    return -gradient_times_input(model, x, label)


@exercise.mistake(
    "nothing watches the words' vectors: autograd has to be told, before the model runs, that x "
    "needs a gradient."
)
def not_watched(model, x, label):
    return (x * slope(model(x)[label], x)).sum(dim=-1)


@exercise.mistake("you have a score for each number of a vector: sum them up to one for each word.")
def not_summed(model, x, label):
    return times(model, x, label)
