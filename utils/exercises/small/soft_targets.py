"""A student's soft targets: the teacher's probability of every word, not only its best guess."""

import math

from torch import Tensor
from torch.nn import functional as F

from utils.exercises.checking import Exercise, random


def soft_target_loss(student_logits: Tensor, teacher_logits: Tensor, tau: float) -> Tensor:
    """Return the mean over words of τ² · KL(p ‖ q), where p is the teacher's, and q the student's.

    Both are softmaxes of logits / τ. Shapes: logits (n, V) of both, of the words that are asked
    for. The teacher's are given, and nothing is learned about them.
    """
    log_p = (teacher_logits / tau).log_softmax(dim=1)
    log_q = (student_logits / tau).log_softmax(dim=1)
    divergence = (log_p.exp() * (log_p - log_q)).sum(dim=1)  # (n,)
    return tau**2 * divergence.mean()


exercise = Exercise(soft_target_loss, data=(1,), runs=True)


# What it is tried on ------------------------------------------------------------------------------


def said(n: int, V: int, tau: float) -> tuple[Tensor, Tensor, float]:
    return 2 * random(n, V), 2 * random(n, V), tau


@exercise.stage("one word at a temperature of 1")
def one_word():
    return [said(1, 4, 1.0)]


@exercise.stage("several words at a temperature of 1")
def several_words():
    return [said(3, 5, 1.0), said(4, 4, 1.0)]


@exercise.stage("a temperature of 2")
def warm():
    return [said(5, 3, 2.0)]


@exercise.stage("words that the teacher rules out")
def ruled_out():
    """Draw logits so far below the others that their probabilities are exactly 0."""
    student, teacher, tau = said(2, 6, 2.0)
    teacher[:, 1] -= 4000
    return [(student, teacher, tau)]


@exercise.stage("other temperatures")
def other_temperatures():
    return [said(4, 7, 5.0), said(6, 5, 0.5)]


# What goes wrong ----------------------------------------------------------------------------------


def divergences(log_p: Tensor, log_q: Tensor) -> Tensor:
    """Return KL(p ‖ q) of each word, (n,)."""
    return F.kl_div(log_q, log_p, reduction="none", log_target=True).sum(1)


def log_chances(logits: Tensor, tau: float) -> Tensor:
    return (logits / tau).log_softmax(1)


def both(z: Tensor, v: Tensor, tau: float) -> tuple[Tensor, Tensor]:
    """Return log p of the teacher and log q of the student."""
    return log_chances(v, tau), log_chances(z, tau)


@exercise.mistake("at a temperature τ gradients shrink as 1/τ²: which factor makes up for that?")
def not_squared(z, v, tau):
    return divergences(*both(z, v, tau)).mean()


@exercise.mistake(
    "gradients shrink with the *square* of the temperature, so a factor of τ is not enough."
)
def once(z, v, tau):
    return tau * divergences(*both(z, v, tau)).mean()


@exercise.mistake("you divide by τ²: gradients shrink as 1/τ² already, so multiply.")
def divided_by_square(z, v, tau):
    return divergences(*both(z, v, tau)).mean() / tau**2


@exercise.mistake("only the student has the temperature: equal logits would not give a loss of 0.")
def student_alone(z, v, tau):
    return tau**2 * divergences(log_chances(v, 1), log_chances(z, tau)).mean()


@exercise.mistake(
    "only the teacher has the temperature: even with equal logits the loss would not be 0."
)
def teacher_alone(z, v, tau):
    return tau**2 * divergences(log_chances(v, tau), log_chances(z, 1)).mean()


@exercise.mistake("you multiply the logits by the temperature, which sharpens: divide by it.")
def multiplied(z, v, tau):
    return tau**2 * divergences(*both(z, v, 1 / tau)).mean()


@exercise.mistake(
    "your probabilities have no temperature: logits are divided by τ before the softmax."
)
def no_temperature(z, v, tau):
    return tau**2 * divergences(*both(z, v, 1)).mean()


@exercise.mistake(
    "you don't use the temperature: divide the logits by τ, and multiply the mean by τ²."
)
def temperature_nowhere(z, v, tau):
    return divergences(*both(z, v, 1)).mean()


@exercise.mistake("you divide the probabilities by τ: divide the logits, before the softmax.")
def chances_divided(z, v, tau):
    return tau * divergences(*both(z, v, 1)).mean()


@exercise.mistake("0 times the logarithm of 0 is NaN: `log_softmax` gives finite logarithms.")
def logarithm_of_chances(z, v, tau):
    p, q = ((x / tau).softmax(1) for x in (v, z))
    return tau**2 * (p * (p / q).log()).sum(1).mean()


@exercise.mistake(
    "that is KL(q ‖ p): the logarithms are weighted with the teacher's probabilities p."
)
def wrong_way_round(z, v, tau):
    return tau**2 * divergences(*both(v, z, tau)).mean()


@exercise.mistake(
    "that is the cross-entropy: a student that agrees with its teacher would not reach 0."
)
def cross_entropy(z, v, tau):
    log_p, log_q = both(z, v, tau)
    return -(tau**2) * (log_p.exp() * log_q).sum(1).mean()


@exercise.mistake("the sign is reversed: a divergence is never negative.")
def sign(z, v, tau):
    return -soft_target_loss(z, v, tau)


@exercise.mistake(
    '`reduction="mean"` divides by the words and by V; "batchmean" divides by the words.'
)
def mean_over_all(z, v, tau):
    return tau**2 * divergences(*both(z, v, tau)).mean() / z.shape[1]


@exercise.mistake("that is the sum over the words: the loss is their mean.")
def sum_over_words(z, v, tau):
    return tau**2 * divergences(*both(z, v, tau)).sum()


@exercise.mistake("these are hard targets: the teacher's best word, and nothing about the others.")
def hard_targets(z, v, tau):
    return tau**2 * F.cross_entropy(z / tau, v.argmax(1))


@exercise.mistake("the softmax runs along the hidden words: it should run along the vocabulary.")
def softmax_over_words(z, v, tau):
    log_p, log_q = (log_chances(x.T, tau).T for x in (v, z))
    return tau**2 * divergences(log_p, log_q).mean()


@exercise.mistake("`kl_div` takes the student's logarithms, log q: you pass q itself.")
def no_logarithm(z, v, tau):
    log_p, log_q = both(z, v, tau)
    return tau**2 * F.kl_div(log_q.exp(), log_p.exp(), reduction="batchmean")


@exercise.mistake("the softmax is taken twice: the second one gets probabilities, not logits.")
def softmax_twice(z, v, tau):
    log_p, log_q = (log_chances(log_chances(x, tau).exp(), 1) for x in (v, z))
    return tau**2 * divergences(log_p, log_q).mean()


@exercise.mistake("you divide by τ after the softmax: divide the logits, before it.")
def behind_the_softmax(z, v, tau):
    log_p, log_q = (x.log_softmax(1) / tau for x in (v, z))
    return tau**2 * (log_p.exp() * (log_p - log_q)).sum(1).mean()


@exercise.mistake("that is the squared difference of the logits: compare the probabilities.")
def squared_difference(z, v, tau):
    return F.mse_loss(z, v)


@exercise.mistake(
    "you divide the softmax by τ and forget its logarithm: KL compares log p with log q."
)
def softmax_over_tau(z, v, tau):
    p, q = (x.softmax(1) / tau for x in (v, z))
    return tau**2 * (p * (p - q)).sum(1).mean()


@exercise.mistake(
    "that is the cross-entropy, without τ²: a student that agrees with its teacher should reach 0."
)
def cross_entropy_not_squared(z, v, tau):
    log_p, log_q = both(z, v, tau)
    return -(log_p.exp() * log_q).sum(1).mean()


@exercise.mistake(
    "you subtract the student's logits from the teacher's: KL compares log p with log q."
)
def logits_compared(z, v, tau):
    return tau**2 * (log_chances(v, tau).exp() * (v - z) / tau).sum(1).mean()


@exercise.mistake("that is in bits: the book measures in nats.")
def bits(z, v, tau):
    return soft_target_loss(z, v, tau) / math.log(2)


@exercise.mistake("that is a divergence for each word: return their mean.")
def each_word(z, v, tau):
    return tau**2 * divergences(*both(z, v, tau))


@exercise.mistake("you add a loss for the teacher's best word: here the divergence is all.")
def with_hard_targets(z, v, tau):
    return soft_target_loss(z, v, tau) + F.cross_entropy(z, v.argmax(1))


@exercise.mistake(
    "that is the squared difference of the probabilities: a divergence compares their logarithms."
)
def squared_chances(z, v, tau):
    return tau**2 * ((v / tau).softmax(1) - (z / tau).softmax(1)).square().sum(1).mean()


@exercise.mistake("you weight with log p: the weights of the sum are the probabilities p.")
def weighted_with_logarithms(z, v, tau):
    log_p, log_q = both(z, v, tau)
    return tau**2 * (log_p * (log_p - log_q)).sum(1).mean()


@exercise.mistake("you subtract probabilities: a divergence compares their logarithms.")
def logarithms_forgotten(z, v, tau):
    p, q = (x.exp() for x in both(z, v, tau))
    return tau**2 * (p * (p - q)).sum(1).mean()


@exercise.mistake("you divide log p by log q: the logarithm of p / q is their difference.")
def ratio_of_logarithms(z, v, tau):
    log_p, log_q = both(z, v, tau)
    return tau**2 * (log_p.exp() * (log_p / log_q)).sum(1).mean()


@exercise.mistake(
    "the weights p are missing: a word counts as much as the teacher finds it likely."
)
def no_weights(z, v, tau):
    log_p, log_q = both(z, v, tau)
    return tau**2 * (log_p - log_q).sum(1).mean()


@exercise.mistake("the weights are the student's probabilities: they should be the teacher's.")
def weighted_by_the_student(z, v, tau):
    log_p, log_q = both(z, v, tau)
    return tau**2 * (log_q.exp() * (log_p - log_q)).sum(1).mean()


@exercise.mistake("brackets are missing: p weights the whole difference of the logarithms.")
def no_brackets(z, v, tau):
    log_p, log_q = both(z, v, tau)
    return tau**2 * (log_p.exp() * log_p - log_q).sum(1).mean()


@exercise.mistake("you divide the logits by τ²: divide them by τ, and multiply the mean by τ².")
def logits_over_the_square(z, v, tau):
    return tau**2 * divergences(*both(z, v, tau**2)).mean()


@exercise.mistake(
    "that is the cross-entropy, and only the teacher has the temperature: a student with the "
    "teacher's logits should reach 0."
)
def cross_entropy_student_cold(z, v, tau):
    return tau**2 * F.cross_entropy(z, (v / tau).softmax(1))
