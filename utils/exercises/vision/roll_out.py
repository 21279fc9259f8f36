"""Follow attention through all layers: how much of each patch reaches the class token?"""

import torch
from torch import Tensor

from utils.exercises.checking import Exercise


def roll_out(weights: Tensor) -> Tensor:
    """Return how much of each patch is in the class token after the last layer, by attention alone.

    Heads are averaged, and half of each token stays where it is, as on the residual path (Abnar and
    Zuidema, 2020).
    Shapes: weights (L, h, 1 + n, 1 + n), a row per query, class token first, to (n,).
    """
    T = weights.shape[-1]
    mixed = torch.eye(T, dtype=weights.dtype)  # before the first layer, each token is itself
    for layer in weights.mean(dim=1):
        mixed = (layer @ mixed + mixed) / 2
    return mixed[0, 1:]


exercise = Exercise(roll_out, gradient=False)


# What it is tried on ------------------------------------------------------------------------------


def drawn(L: int, h: int, n: int) -> tuple[Tensor]:
    return ((2 * torch.randn(L, h, 1 + n, 1 + n, dtype=torch.float64)).softmax(3),)


@exercise.stage("one layer of one head")
def one_layer():
    return [drawn(1, 1, 3)]


@exercise.stage("one layer of several heads")
def several_heads():
    return [drawn(1, 3, 4)]


@exercise.stage("several layers")
def several_layers():
    return [drawn(2, 1, 3), drawn(3, 2, 5), drawn(4, 3, 2)]


# What goes wrong ----------------------------------------------------------------------------------


def halves(weights: Tensor) -> list[Tensor]:
    """Return each layer's matrix, heads averaged and half of the identity in it."""
    eye = torch.eye(weights.shape[-1], dtype=weights.dtype)
    return [(layer + eye) / 2 for layer in weights.mean(1)]


def product(layers: list[Tensor]) -> Tensor:
    """Return the last layer times … times the first."""
    found = layers[0]
    for layer in layers[1:]:
        found = layer @ found
    return found


@exercise.mistake(
    "the order of your product is reversed: the last layer reads what those before it have mixed."
)
def reversed_order(weights):
    return product(halves(weights)[::-1])[0, 1:]


@exercise.mistake("you forget the residual path: half of a token is what it was before the layer.")
def no_residual(weights):
    return product([*weights.mean(1)])[0, 1:]


@exercise.mistake(
    "with the identity added, a row sums to 2: what is in a token are parts of one whole."
)
def not_halved(weights):
    return 2 ** len(weights) * product(halves(weights))[0, 1:]


@exercise.mistake(
    "you transpose each layer's weights: a row holds what a token reads, so it stays a row."
)
def turned(weights):
    return product([layer.T for layer in halves(weights)])[0, 1:]


@exercise.mistake(
    "the identity comes in only once, after the product: each block has a residual connection."
)
def residual_at_the_end(weights):
    return product([*weights.mean(1)])[0, 1:] / 2


@exercise.mistake("that is the last layer alone: what did its tokens hold when it read them?")
def last_layer_alone(weights):
    return halves(weights)[-1][0, 1:]


@exercise.mistake("that is the first layer alone: the later ones mix its results again.")
def first_layer_alone(weights):
    return halves(weights)[0][0, 1:]


@exercise.mistake(
    "that is the last layer's attention as it is: what did its tokens hold when it read them?"
)
def last_attention(weights):
    return weights[-1].mean(0)[0, 1:]


@exercise.mistake("you average the layers: a layer reads the results of the one before.")
def layers_averaged(weights):
    return torch.stack(halves(weights)).mean(0)[0, 1:]


@exercise.mistake("you average the layers' attention: a layer reads the results of the one before.")
def attention_averaged(weights):
    return weights.mean(dim=(0, 1))[0, 1:]


@exercise.mistake(
    "you multiply number by number: what passes from a token to another goes through all tokens in "
    "between, and that is a product of matrices."
)
def number_by_number(weights):
    return torch.stack(halves(weights)).prod(0)[0, 1:]


@exercise.mistake("that is how much of the class token is in each patch: read the other way.")
def column(weights):
    return product(halves(weights))[1:, 0]


@exercise.mistake("the class token's part in itself is still there: return those of the patches.")
def class_token_left_in(weights):
    return product(halves(weights))[0]


@exercise.mistake("you leave out the last patch instead of the class token, which comes first.")
def last_left_out(weights):
    return product(halves(weights))[0, :-1]


@exercise.mistake("you return all tokens' mixtures: take the class token's.")
def all_tokens(weights):
    return product(halves(weights))


@exercise.mistake("you take the strongest head at each place: average the heads.")
def strongest_head(weights):
    eye = torch.eye(weights.shape[-1], dtype=weights.dtype)
    return product([(layer + eye) / 2 for layer in weights.amax(1)])[0, 1:]


@exercise.mistake("you add up the heads, so a row no longer sums to 1: average them.")
def heads_added(weights):
    eye = torch.eye(weights.shape[-1], dtype=weights.dtype)
    return product([(layer + eye) / 2 for layer in weights.sum(1)])[0, 1:]


@exercise.mistake(
    "you follow each head on its own through the layers: all heads of a layer read what all heads "
    "of the one before have written."
)
def heads_apart(weights):
    eye = torch.eye(weights.shape[-1], dtype=weights.dtype)
    return torch.stack([product([*(w + eye) / 2]) for w in weights.unbind(1)]).mean(0)[0, 1:]


@exercise.mistake(
    "the patches' parts are scaled to sum to 1: the rest is what the class token kept of itself."
)
def scaled(weights):
    found = product(halves(weights))[0, 1:]
    return found / found.sum()


@exercise.mistake("that is what all tokens hold on average: the head reads the class token alone.")
def mean_of_all_tokens(weights):
    return product(halves(weights))[:, 1:].mean(0)


@exercise.mistake(
    "the first layer counts twice: begin with the identity, or go on with the second layer."
)
def first_layer_twice(weights):
    layers = halves(weights)
    return product([layers[0], *layers])[0, 1:]


@exercise.mistake(
    "you average the layers and go through the heads: average the heads, go through the layers."
)
def heads_for_layers(weights):
    return roll_out(weights.transpose(0, 1))
