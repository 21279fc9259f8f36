"""The perplexity of a padded batch, without its padding."""

from torch import Tensor

from utils.exercises.attention.sentences import sentences
from utils.exercises.checking import Exercise, random
from utils.seq2seq import PAD


def perplexity(logits: Tensor, targets: Tensor) -> Tensor:
    """Return one number (), the exponential of the mean of -log p over all targets but PAD.

    Shapes: logits (B, T, V), targets (B, T) with PAD behind their ends.
    """
    return surprise(logits, targets)[targets != PAD].mean().exp()


def surprise(logits: Tensor, targets: Tensor) -> Tensor:
    """Return -log p of each target (B, T), padding included."""
    return -picked(logits.log_softmax(-1), targets)


def picked(x: Tensor, targets: Tensor) -> Tensor:
    return x.gather(-1, targets[..., None])[..., 0]


exercise = Exercise(perplexity, gradient=False)


# What it is tried on ------------------------------------------------------------------------------


def drawn(vocab_size: int, width: int, *lengths: int) -> tuple[Tensor, Tensor]:
    return random(len(lengths), width, vocab_size), sentences(vocab_size, width, *lengths)


@exercise.stage("one sentence without padding")
def without_padding():
    return [drawn(5, 3, 3)]


@exercise.stage("one sentence with padding")
def with_padding():
    return [drawn(5, 4, 2)]


@exercise.stage("logits of any size")
def large_logits():
    logits, targets = drawn(7, 4, 4, 2)
    return [(1000 + logits, targets)]


@exercise.stage("several sentences")
def several_sentences():
    return [drawn(7, 5, 2, 5, 3), drawn(11, 4, 4, 1, 2, 4)]


# What goes wrong ----------------------------------------------------------------------------------


@exercise.mistake("padding counts as if it had to be predicted.")
def padding_counted(logits, targets):
    return surprise(logits, targets).mean().exp()


@exercise.mistake("you left padding out of the sum, but count it in the number you divide by.")
def padding_in_the_denominator(logits, targets):
    return (surprise(logits, targets) * (targets != PAD)).mean().exp()


@exercise.mistake(
    "a symbol of a short sentence weighs more than one of a long one: average once, over all "
    "symbols."
)
def mean_of_means(logits, targets):
    real = targets != PAD
    return ((surprise(logits, targets) * real).sum(1) / real.sum(1)).mean().exp()


@exercise.mistake(
    "you take a perplexity for each sentence, and then their mean: average the logarithms of all "
    "symbols, and take the exponential once."
)
def mean_of_perplexities_of_sentences(logits, targets):
    real = targets != PAD
    return ((surprise(logits, targets) * real).sum(1) / real.sum(1)).exp().mean()


@exercise.mistake(
    "you divide by the number of sentences: the mean is over all symbols that had to be predicted."
)
def mean_over_sentences(logits, targets):
    return (surprise(logits, targets)[targets != PAD].sum() / len(targets)).exp()


@exercise.mistake("the loss is in nats: its base is e, not 2.")
def base_2(logits, targets):
    return 2 ** surprise(logits, targets)[targets != PAD].mean()


@exercise.mistake("the mean goes inside the exponential, not outside.")
def mean_outside(logits, targets):
    return surprise(logits, targets)[targets != PAD].exp().mean()


@exercise.mistake("that is the loss; the perplexity is its exponential.")
def loss(logits, targets):
    return surprise(logits, targets)[targets != PAD].mean()


@exercise.mistake(
    "the exponential of the sum is one over the whole text's probability: average first."
)
def sum_for_mean(logits, targets):
    return surprise(logits, targets)[targets != PAD].sum().exp()


@exercise.mistake("the probabilities sum to 1 over the positions, not over the vocabulary.")
def softmax_over_positions(logits, targets):
    return (-picked(logits.log_softmax(1), targets))[targets != PAD].mean().exp()


@exercise.mistake(
    "correct for small logits, but exp(1000) is infinite, and infinity divided by infinity is not"
    " a number. What can you subtract from all logits of a position without changing p?"
)
def overflow(logits, targets):
    p = picked(logits.exp(), targets) / logits.exp().sum(-1)
    return (-p.log())[targets != PAD].mean().exp()


@exercise.mistake(
    "correct for small logits, but exp(1000) is infinite, and so is the logarithm of the sum. "
    "What can you subtract from all logits of a position without changing p?"
)
def overflow_in_the_sum(logits, targets):
    log_p = picked(logits, targets) - logits.exp().sum(-1).log()
    return (-log_p)[targets != PAD].mean().exp()


@exercise.mistake(
    "you shift the targets once more: the logits at a position are already about the target there."
)
def shifted(logits, targets):
    return perplexity(logits[:, :-1], targets[:, 1:])


@exercise.mistake("that is below 1, a probability: which sign does -log p have?")
def sign(logits, targets):
    return 1 / perplexity(logits, targets)
