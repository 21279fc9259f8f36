"""Make a picture obey its sentence: away from what would be drawn without it."""

from torch import Tensor

from utils.exercises.checking import Exercise, random


def guided_logits(with_sentence: Tensor, without: Tensor, weight: float) -> Tensor:
    """Return the logits without the sentence, moved `weight` times the way to those with it.

    At 1 these are the logits with the sentence, at 0 those without it.
    Shapes: (B, V) each, to (B, V).
    """
    return without + weight * (with_sentence - without)


exercise = Exercise(guided_logits)


# What it is tried on ------------------------------------------------------------------------------


@exercise.stage("twice the way")
def twice():
    return [(random(1, 3), random(1, 3), 2.0)]


@exercise.stage("other weights")
def other_weights():
    return [(random(2, 5), random(2, 5), 3.5), (random(3, 4), random(3, 4), 0.4)]


@exercise.stage("all of the way, and none of it")
def ends():
    return [(random(2, 3), random(2, 3), 1.0), (random(4, 2), random(4, 2), 0.0)]


# What goes wrong ----------------------------------------------------------------------------------


@exercise.mistake(
    "the two passes are exchanged: a large weight would drive the picture away from its sentence."
)
def exchanged(with_sentence, without, weight):
    return guided_logits(without, with_sentence, weight)


@exercise.mistake("the sign of the difference is reversed: it leads from without to with.")
def reversed_difference(with_sentence, without, weight):
    return without + weight * (without - with_sentence)


@exercise.mistake(
    "you begin at the logits with the sentence: that is another way to count, in which 0 leaves "
    "them as they are; here 1 does."
)
def one_more(with_sentence, without, weight):
    return with_sentence + weight * (with_sentence - without)


@exercise.mistake("that is the difference alone: add it to the logits without the sentence.")
def difference_alone(with_sentence, without, weight):
    return weight * (with_sentence - without)


@exercise.mistake("the weight counts for both: without + with - without leaves too little behind.")
def weight_on_everything(with_sentence, without, weight):
    return weight * (without + with_sentence)


@exercise.mistake(
    "the logits without the sentence are added in full: a part of them has to go as the others "
    "come."
)
def added(with_sentence, without, weight):
    return without + weight * with_sentence


@exercise.mistake(
    "the logits without the sentence are subtracted in full: at a weight of 1 they should be gone."
)
def subtracted(with_sentence, without, weight):
    return weight * with_sentence - without


@exercise.mistake(
    "at a weight of 0 you return the logits with the sentence: there, those without should be left."
)
def weight_on_the_other(with_sentence, without, weight):
    return with_sentence - weight * without


@exercise.mistake("a sign is reversed: the weights of the two passes should add up to 1.")
def rest_subtracted(with_sentence, without, weight):
    return weight * with_sentence - (1 - weight) * without


@exercise.mistake(
    "the weight multiplies the logits with the sentence alone, and those without cancel: it is the "
    "difference that is multiplied."
)
def without_cancelled(with_sentence, without, weight):
    return without + weight * with_sentence - without


@exercise.mistake(
    "that is a weighted mean, which stays between both: guidance goes beyond the logits with the "
    "sentence."
)
def weighted_mean(with_sentence, without, weight):
    return (weight * with_sentence + without) / (weight + 1)


@exercise.mistake("the weight has no effect: these are the logits with the sentence.")
def no_guidance(with_sentence, without, weight):
    return with_sentence + 0 * without


@exercise.mistake("the weight has no effect: these are the logits without the sentence.")
def sentence_unused(with_sentence, without, weight):
    return without + 0 * with_sentence


@exercise.mistake("that is the mean of both: guidance goes beyond the logits with the sentence.")
def mean(with_sentence, without, weight):
    return (with_sentence + without) / 2


@exercise.mistake("you divide by the weight: a large one should move the logits farther.")
def divided(with_sentence, without, weight):
    return without + (with_sentence - without) / weight


@exercise.mistake("these are probabilities: move the logits, and take the softmax afterwards.")
def softmax_first(with_sentence, without, weight):
    return guided_logits(with_sentence.softmax(dim=1), without.softmax(dim=1), weight)


@exercise.mistake("these are log-probabilities: move the logits as they are.")
def log_softmax_first(with_sentence, without, weight):
    return guided_logits(with_sentence.log_softmax(dim=1), without.log_softmax(dim=1), weight)


@exercise.mistake("the softmax comes later: return logits.")
def softmax_last(with_sentence, without, weight):
    return guided_logits(with_sentence, without, weight).softmax(dim=1)


@exercise.mistake("these are log-probabilities: the softmax comes later, so return logits.")
def log_softmax_last(with_sentence, without, weight):
    return guided_logits(with_sentence, without, weight).log_softmax(dim=1)
