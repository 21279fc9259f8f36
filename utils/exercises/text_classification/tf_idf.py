"""TF-IDF: a word that is in few texts says more about them."""

import torch
from torch import Tensor

from utils.exercises.checking import Exercise


def tf_idf(counts: Tensor) -> Tensor:
    """Return each text's weights (n, V) as scikit-learn computes them; without words, they are 0.

    A word that is in n_i of n texts has the factor 1 + ln((1 + n)/(1 + n_i)). A text's weights
    are its counts times these factors, divided by their Euclidean length.
    Shapes: counts (n, V), whole: how often each word occurs in each text.
    """
    n, n_i = len(counts), (counts > 0).sum(dim=0)
    weights = counts * (1 + ((1 + n) / (1 + n_i)).log())
    length = weights.norm(dim=1, keepdim=True)
    return weights / length.masked_fill(length == 0, 1)


exercise = Exercise(tf_idf, gradient=False)


# What it is tried on ------------------------------------------------------------------------------


def drawn(n: int, V: int, highest: int = 4) -> tuple[Tensor]:
    """Draw counts; every text has a word, and every word a text."""
    counts = torch.randint(highest, (n, V)) * (torch.rand(n, V) < 0.6)
    counts[torch.arange(V) % n, torch.arange(V)] += 1
    counts[torch.arange(n), torch.arange(n) % V] += 1
    return (counts,)


@exercise.stage("one text")
def one_text():
    return [(torch.tensor([[1, 3, 2]]),)]


@exercise.stage("several texts")
def several():
    return [drawn(3, 5), drawn(6, 4), drawn(4, 4)]


@exercise.stage("long texts")
def long_texts():
    return [drawn(5, 7, highest=12)]


@exercise.stage("a word that is in every text, and one that is in none")
def everywhere_and_nowhere():
    return [(torch.tensor([[1, 2, 0, 0], [3, 0, 0, 2], [1, 1, 0, 0]]),)]


@exercise.stage("a text without words")
def without_words():
    return [(torch.tensor([[2, 0, 1], [0, 0, 0], [0, 3, 1], [1, 0, 0]]),)]


# What goes wrong ----------------------------------------------------------------------------------


def weighed(counts: Tensor, factors: Tensor) -> Tensor:
    return normalised(counts * factors)


def normalised(weights: Tensor, p: int = 2) -> Tensor:
    length = weights.norm(p, dim=1, keepdim=True)
    return weights / length.masked_fill(length == 0, 1)


def smooth(counts: Tensor) -> Tensor:
    return ((1 + len(counts)) / (1 + (counts > 0).sum(dim=0))).log() + 1


@exercise.mistake(
    "the 1 before the logarithm is missing: a word that is in every text counts for nothing."
)
def without_plus_one(counts):
    return weighed(counts, smooth(counts) - 1)


@exercise.mistake(
    "you leave out the 1s inside the logarithm: without them, a word that is in no text divides "
    "by 0."
)
def not_smooth(counts):
    return weighed(counts, (len(counts) / (counts > 0).sum(dim=0)).log() + 1)


@exercise.mistake("you count how often a word occurs: n_i is the number of texts that contain it.")
def occurrences_for_texts(counts):
    return weighed(counts, ((1 + len(counts)) / (1 + counts.sum(dim=0))).log() + 1)


@exercise.mistake("you don't divide by the length: a longer text has larger weights.")
def not_normalised(counts):
    return counts * smooth(counts)


@exercise.mistake(
    "you divide by the sum of the weights; their Euclidean length is a root of squares."
)
def sum_for_length(counts):
    return normalised(counts * smooth(counts), p=1)


@exercise.mistake(
    "you divide each word's column by its length; each text's row should have length 1."
)
def columns_normalised(counts):
    return normalised((counts * smooth(counts)).T).T


@exercise.mistake(
    "you scale the counts to length 1 before the logarithm: scale the weights, at the end."
)
def normalised_too_early(counts):
    return normalised(counts.double()) * smooth(counts)


@exercise.mistake("a text without words becomes 0 / 0.")
def not_a_number(counts):
    weights = counts * smooth(counts)
    return weights / weights.norm(dim=1, keepdim=True)


@exercise.mistake("you only ask whether a word is in a text: multiply by how often it occurs.")
def there_or_not(counts):
    return weighed((counts > 0).double(), smooth(counts))


@exercise.mistake("that is the logarithm to base 2; ln is to base e.")
def base_2(counts):
    return weighed(counts, ((1 + len(counts)) / (1 + (counts > 0).sum(dim=0))).log2() + 1)


@exercise.mistake("your fraction is upside down: words in many texts get the larger logarithm.")
def upside_down(counts):
    return weighed(counts, ((1 + (counts > 0).sum(dim=0)) / (1 + len(counts))).log() + 1)


@exercise.mistake(
    "those are the counts, divided by their length: the logarithm is missing, or it is one number "
    "for each text, which cancels."
)
def without_logarithm(counts):
    return normalised(counts.double())


@exercise.mistake(
    "n should be the number of texts; yours is the number of words in the vocabulary."
)
def words_for_texts(counts):
    return weighed(counts, ((1 + counts.shape[1]) / (1 + (counts > 0).sum(dim=0))).log() + 1)


@exercise.mistake("that is the logarithm to base 10; ln is to base e.")
def base_10(counts):
    return weighed(counts, ((1 + len(counts)) / (1 + (counts > 0).sum(dim=0))).log10() + 1)


@exercise.mistake("you divide by the squared length: take the root of the sum of squares.")
def squared_length(counts):
    weights = counts * smooth(counts)
    squares = weights.square().sum(dim=1, keepdim=True)
    return weights / squares.masked_fill(squares == 0, 1)


@exercise.mistake(
    "that is the textbook's ln(n / n_i); here the factor has three 1s more, so that no word counts "
    "for nothing and none divides by 0."
)
def textbook(counts):
    return weighed(counts, (len(counts) / (counts > 0).sum(dim=0)).log())


@exercise.mistake("your fraction is n / (1 + n_i): one more is added to n, too.")
def one_missing_above(counts):
    return weighed(counts, (len(counts) / (1 + (counts > 0).sum(dim=0))).log() + 1)


@exercise.mistake("all texts are divided by one length in yours: each has its own.")
def one_length(counts):
    weights = counts * smooth(counts)
    return weights / weights.norm()


@exercise.mistake(
    "you take the logarithm of the counts, as some variants do: here they are multiplied as they "
    "are."
)
def logarithm_of_the_count(counts):
    return weighed((1 + counts).log(), smooth(counts))


@exercise.mistake("you multiply by the fraction itself: its logarithm is missing.")
def fraction_itself(counts):
    return weighed(counts, 1 + (1 + len(counts)) / (1 + (counts > 0).sum(dim=0)))
