"""What a student is told: not the teacher's best word, but how likely it finds each of them."""

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
    """Draw logits so far below the others that their chances are exactly 0."""
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


@exercise.mistake("gradients shrink as 1/τ² at a temperature τ: what makes up for it?")
def not_squared(z, v, tau):
    return divergences(*both(z, v, tau)).mean()


@exercise.mistake("gradients shrink with the square of the temperature, so τ once is not enough.")
def once(z, v, tau):
    return tau * divergences(*both(z, v, tau)).mean()


@exercise.mistake("you divide by τ²: gradients shrink as 1/τ² already.")
def divided_by_square(z, v, tau):
    return divergences(*both(z, v, tau)).mean() / tau**2


@exercise.mistake("the student alone has the temperature: two alike would not say the same.")
def student_alone(z, v, tau):
    return tau**2 * divergences(log_chances(v, 1), log_chances(z, tau)).mean()


@exercise.mistake("the teacher alone has the temperature: two alike would not say the same.")
def teacher_alone(z, v, tau):
    return tau**2 * divergences(log_chances(v, tau), log_chances(z, 1)).mean()


@exercise.mistake("you multiply by the temperature, which sharpens: logits are divided by it.")
def multiplied(z, v, tau):
    return tau**2 * divergences(*both(z, v, 1 / tau)).mean()


@exercise.mistake("there is no temperature in your chances, only before the divergence.")
def no_temperature(z, v, tau):
    return tau**2 * divergences(*both(z, v, 1)).mean()


@exercise.mistake("the temperature is nowhere: logits are divided by it, the mean is multiplied.")
def temperature_nowhere(z, v, tau):
    return divergences(*both(z, v, 1)).mean()


@exercise.mistake("you divide the chances by τ: the logits are divided, before the softmax.")
def chances_divided(z, v, tau):
    return tau * divergences(*both(z, v, 1)).mean()


@exercise.mistake(
    "0 times the logarithm of 0 is no number: `log_softmax` gives logarithms that are finite."
)
def logarithm_of_chances(z, v, tau):
    p, q = ((x / tau).softmax(1) for x in (v, z))
    return tau**2 * (p * (p / q).log()).sum(1).mean()


@exercise.mistake("that is KL(q ‖ p): the mean is taken with the teacher's chances, not with q.")
def wrong_way_round(z, v, tau):
    return tau**2 * divergences(*both(v, z, tau)).mean()


@exercise.mistake("that is the cross-entropy: a student that says the same would not come to 0.")
def cross_entropy(z, v, tau):
    log_p, log_q = both(z, v, tau)
    return -(tau**2) * (log_p.exp() * log_q).sum(1).mean()


@exercise.mistake("a divergence is never below 0: the sign is reversed.")
def sign(z, v, tau):
    return -soft_target_loss(z, v, tau)


@exercise.mistake('you divide by words and by V: `reduction="mean"` does, "batchmean" does not.')
def mean_over_all(z, v, tau):
    return tau**2 * divergences(*both(z, v, tau)).mean() / z.shape[1]


@exercise.mistake("that is the sum over the words: the loss is their mean.")
def sum_over_words(z, v, tau):
    return tau**2 * divergences(*both(z, v, tau)).sum()


@exercise.mistake("these are hard targets: the teacher's best word, and nothing about the others.")
def hard_targets(z, v, tau):
    return tau**2 * F.cross_entropy(z / tau, v.argmax(1))


@exercise.mistake("the softmax runs over the words asked for: it should run over the vocabulary.")
def softmax_over_words(z, v, tau):
    log_p, log_q = (log_chances(x.T, tau).T for x in (v, z))
    return tau**2 * divergences(log_p, log_q).mean()


@exercise.mistake("`kl_div` takes the student's log q: you hand it q.")
def no_logarithm(z, v, tau):
    log_p, log_q = both(z, v, tau)
    return tau**2 * F.kl_div(log_q.exp(), log_p.exp(), reduction="batchmean")


@exercise.mistake("the softmax is taken twice: the second is of chances, not of logits.")
def softmax_twice(z, v, tau):
    log_p, log_q = (log_chances(log_chances(x, tau).exp(), 1) for x in (v, z))
    return tau**2 * divergences(log_p, log_q).mean()


@exercise.mistake("you divide by τ behind the softmax: logits are divided, before it.")
def behind_the_softmax(z, v, tau):
    log_p, log_q = (x.log_softmax(1) / tau for x in (v, z))
    return tau**2 * (log_p.exp() * (log_p - log_q)).sum(1).mean()


@exercise.mistake("that is the squared difference of the logits: compare the chances.")
def squared_difference(z, v, tau):
    return F.mse_loss(z, v)
