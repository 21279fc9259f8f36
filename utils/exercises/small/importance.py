"""Which heads matter? The slope of the loss by a gate at each head, text by text."""

from torch import Tensor
from torch.nn import functional as F

from utils.exercises.checking import Exercise, random


def importance(contexts: Tensor, gradients: Tensor) -> Tensor:
    """Return the mean over texts of |∂loss / ∂ξ|, for a gate ξ = 1 that multiplies a context.

    A text has one gate for each head, the same at all positions (Michel et al., 2019, eq. 2).
    gradients: of each text's own loss by the contexts.
    Shapes: both (B, h, T, d_v), to (h,).
    """
    return slopes(contexts, gradients).abs().mean(dim=0)


def slopes(contexts: Tensor, gradients: Tensor) -> Tensor:
    """∂loss / ∂ξ of each text, (B, h)."""
    return (contexts * gradients).sum(dim=(2, 3))


exercise = Exercise(importance, gradient=False)


# What it is tried on ------------------------------------------------------------------------------


def drawn(*shape: int) -> tuple[Tensor, Tensor]:
    return random(*shape), random(*shape)


@exercise.stage("one text, one position")
def one_text():
    return [drawn(1, 2, 1, 3)]


@exercise.stage("one text of several positions")
def several_positions():
    return [drawn(1, 3, 4, 2)]


@exercise.stage("two texts that want opposite things of a head")
def opposite():
    contexts, gradients = drawn(2, 3, 2, 4)
    contexts[1], gradients[1] = 2 * contexts[0], -gradients[0] / 3
    return [(contexts, gradients)]


@exercise.stage("several texts")
def several_texts():
    return [drawn(5, 3, 4, 2), drawn(3, 2, 6, 5)]


# What goes wrong ----------------------------------------------------------------------------------


@exercise.mistake(
    "texts with slopes of opposite sign cancel: take absolute values before the mean."
)
def size_of_the_mean(contexts, gradients):
    return slopes(contexts, gradients).mean(dim=0).abs()


@exercise.mistake(
    "these have signs: a head that lowers the loss matters as much as one that raises it."
)
def with_signs(contexts, gradients):
    return slopes(contexts, gradients).mean(dim=0)


@exercise.mistake(
    "you take absolute values too early: a text has one gate for each head, whose slope is a sum."
)
def size_of_each_number(contexts, gradients):
    return (contexts * gradients).abs().sum(dim=(2, 3)).mean(dim=0)


@exercise.mistake(
    "you have a gate for each position: a head has one gate for all positions of a text."
)
def gate_for_each_position(contexts, gradients):
    return (contexts * gradients).sum(dim=3).abs().sum(dim=2).mean(dim=0)


@exercise.mistake("you have a gate for each column: a head has one gate for its whole context.")
def gate_for_each_column(contexts, gradients):
    return (contexts * gradients).sum(dim=2).abs().sum(dim=2).mean(dim=0)


@exercise.mistake(
    "that is the gradient alone: a gate multiplies the context, so its slope contains both."
)
def gradients_alone(contexts, gradients):
    return gradients.sum(dim=(2, 3)).abs().mean(dim=0)


@exercise.mistake("that is the size of a head's output, whether or not the loss depends on it.")
def contexts_alone(contexts, gradients):
    return contexts.sum(dim=(2, 3)).abs().mean(dim=0)


@exercise.mistake("you sum contexts and gradients separately: multiply number by number, then sum.")
def product_of_sums(contexts, gradients):
    return (contexts.sum(dim=(2, 3)) * gradients.sum(dim=(2, 3))).abs().mean(dim=0)


@exercise.mistake("these are squares: importance is a mean absolute value.")
def squares(contexts, gradients):
    return slopes(contexts, gradients).square().mean(dim=0)


@exercise.mistake("that is the sum over texts: with more texts, every head would matter more.")
def sum_over_texts(contexts, gradients):
    return slopes(contexts, gradients).abs().sum(dim=0)


@exercise.mistake("a slope is the sum over positions and columns, not their mean.")
def mean_over_numbers(contexts, gradients):
    return (contexts * gradients).mean(dim=(2, 3)).abs().mean(dim=0)


@exercise.mistake("a slope is the sum over positions, not their mean.")
def mean_over_positions(contexts, gradients):
    return (contexts * gradients).sum(dim=3).mean(dim=2).abs().mean(dim=0)


@exercise.mistake("that is the text in which a head matters most: take the mean over texts.")
def largest_text(contexts, gradients):
    return slopes(contexts, gradients).abs().amax(dim=0)


@exercise.mistake("heads and positions have changed places: the second axis counts the heads.")
def of_positions(contexts, gradients):
    return (contexts * gradients).sum(dim=(1, 3)).abs().mean(dim=0)


@exercise.mistake(
    "that is normalised, as the paper does to compare blocks: here it isn't asked for."
)
def normalised(contexts, gradients):
    return F.normalize(importance(contexts, gradients), dim=0)


@exercise.mistake("that is one number for each text: importance is one for each head.")
def of_texts(contexts, gradients):
    return slopes(contexts, gradients).abs().mean(dim=1)


@exercise.mistake("that is the slope by a single gate for all texts: take each text's own first.")
def one_gate_for_all_texts(contexts, gradients):
    return slopes(contexts, gradients).sum(dim=0).abs()


@exercise.mistake("that is a root mean square: importance is a mean absolute value.")
def root_mean_square(c, g):
    return slopes(c, g).square().mean(0).sqrt()


@exercise.mistake("a slope is the sum over columns, not their mean.")
def mean_over_columns(c, g):
    return slopes(c, g).abs().mean(0) / c.shape[3]


@exercise.mistake(
    "you take absolute values too early, and means for sums: a gate's slope is the sum over its "
    "head's numbers."
)
def mean_size_of_each_number(contexts, gradients):
    return (contexts * gradients).abs().mean(dim=(0, 2, 3))


@exercise.mistake(
    "that is the size of the gradient: a gate multiplies the context, so its slope contains both."
)
def size_of_gradients(contexts, gradients):
    return gradients.abs().sum(dim=(2, 3)).mean(dim=0)


@exercise.mistake(
    "you have a gate for each position, and their mean: a head has one gate for all positions."
)
def mean_gate_of_positions(contexts, gradients):
    return (contexts * gradients).sum(dim=3).abs().mean(dim=(0, 2))


@exercise.mistake(
    "you average contexts and gradients over texts before multiplying: each text has its own slope."
)
def product_of_means(contexts, gradients):
    return slopes(contexts.mean(0, keepdim=True), gradients.mean(0, keepdim=True)).abs()[0]
