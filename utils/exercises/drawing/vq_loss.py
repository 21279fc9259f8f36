"""The loss of a codebook: codes move to vectors, and vectors are held to their codes."""

from torch import Tensor

from utils.exercises.checking import Exercise, random
from utils.exercises.drawing.two_slopes import with_slopes


def vq_loss(z: Tensor, q: Tensor, beta: float) -> Tensor:
    """Return mean (sg[z] - q)² + β · mean (z - sg[q])²; sg[x] is x, without a gradient.

    The first part moves the codebook, the second, called commitment, the encoder. A mean is over
    all numbers.
    Shapes: z and q (n, D) to one number.
    """
    codebook = (z.detach() - q).square().mean()
    commitment = (z - q.detach()).square().mean()
    return codebook + beta * commitment


judged = with_slopes(vq_loss)
exercise = Exercise(vq_loss, gradient=False, runs=True, through=judged)


# What it is tried on ------------------------------------------------------------------------------


@exercise.stage("one number and its code")
def one_number():
    return [(random(1, 1), random(1, 1), 0.25)]


@exercise.stage("one vector")
def one_vector():
    return [(random(1, 3), random(1, 3), 0.25)]


@exercise.stage("several vectors, and other weights")
def several():
    return [(random(4, 2), random(4, 2), 0.5), (2 * random(3, 5), random(3, 5), 1.7)]


# What goes wrong ----------------------------------------------------------------------------------


def squared(a: Tensor, b: Tensor) -> Tensor:
    return (a - b).square().mean()


@exercise.mistake(
    "the weight is on the wrong side: β belongs to the commitment, which moves the vectors, and "
    "not to the part that moves the codebook."
)
@judged
def wrong_side(z, q, beta):
    return beta * squared(z.detach(), q) + squared(z, q.detach())


@exercise.mistake(
    "nothing stops the gradients: both parts move both sides, where each should move one."
)
@judged
def nothing_stopped(z, q, beta):
    return (1 + beta) * squared(z, q)


@exercise.mistake(
    "the codebook's part moves the encoder, too: stop z's gradient there, or vectors are held to "
    "their codes more strongly than β says."
)
@judged
def codebook_into_the_encoder(z, q, beta):
    return squared(z, q) + beta * squared(z, q.detach())


@exercise.mistake("the commitment moves the codebook, too: stop q's gradient there.")
@judged
def commitment_moves_the_codebook(z, q, beta):
    return squared(z.detach(), q) + beta * squared(z, q)


@exercise.mistake("neither part has a gradient: each stops one side alone.")
@judged
def all_stopped(z, q, beta):
    return (1 + beta) * squared(z, q).detach()


@exercise.mistake("the codebook never learns: in your first part, q's gradient is stopped.")
@judged
def codebook_stopped(z, q, beta):
    return squared(z, q).detach() + beta * squared(z, q.detach())


@exercise.mistake(
    "vectors are not held to their codes: in your second part, z's gradient is stopped."
)
@judged
def commitment_stopped(z, q, beta):
    return squared(z.detach(), q) + beta * squared(z, q).detach()


@exercise.mistake(
    "that is as large as the codebook's part alone: the commitment is added to it, β times."
)
def no_commitment(z, q, beta):
    return squared(z.detach(), q)


@exercise.mistake("the part that moves the codebook is missing.")
def no_codebook(z, q, beta):
    return beta * squared(z, q.detach())


@exercise.mistake("β is missing: the commitment counts less, or more, than the codebook's part.")
def no_weight(z, q, beta):
    return squared(z.detach(), q) + squared(z, q.detach())


@exercise.mistake("your β is always 0.25: that is the lesson's choice, but here it is an argument.")
def always_a_quarter(z, q, beta):
    return vq_loss(z, q, 0.25)


@exercise.mistake(
    "β weighs both parts: it belongs to the commitment, and the other counts in full."
)
def weight_on_both(z, q, beta):
    return beta * (squared(z.detach(), q) + squared(z, q.detach()))


@exercise.mistake("both parts move the codebook, and none moves the encoder.")
@judged
def codebook_twice(z, q, beta):
    return (1 + beta) * squared(z.detach(), q)


@exercise.mistake("both parts move the encoder, and none moves the codebook.")
@judged
def encoder_twice(z, q, beta):
    return (1 + beta) * squared(z, q.detach())


@exercise.mistake("you subtract the commitment: then it drives vectors away from their codes.")
def subtracted(z, q, beta):
    return squared(z.detach(), q) - beta * squared(z, q.detach())


@exercise.mistake("you square β: the equation squares the differences alone.")
def weight_squared(z, q, beta):
    return squared(z.detach(), q) + beta**2 * squared(z, q.detach())


@exercise.mistake("you halve the squares: the equation has no ½.")
def halved(z, q, beta):
    return vq_loss(z, q, beta) / 2


@exercise.mistake("you divide by β: a small one should weigh little.")
def divided(z, q, beta):
    return squared(z.detach(), q) + squared(z, q.detach()) / beta


@exercise.mistake("you add up all squares: take the mean, or more vectors make a larger loss.")
def summed_up(z, q, beta):
    return z.numel() * vq_loss(z, q, beta)


@exercise.mistake(
    "you add up the squares of each vector, as the paper does: here the mean is over all numbers."
)
def summed_up_in_a_vector(z, q, beta):
    return z.shape[1] * vq_loss(z, q, beta)


@exercise.mistake("these are absolute differences: square them.")
def absolute(z, q, beta):
    return (z.detach() - q).abs().mean() + beta * (z - q.detach()).abs().mean()


def both_parts(part, z: Tensor, q: Tensor, beta: float) -> Tensor:
    """The loss whose two parts make something else of the differences."""
    return part(z.detach() - q) + beta * part(z - q.detach())


@exercise.mistake("the norm isn't squared: that is the length of all differences together.")
def norm_not_squared(z, q, beta):
    return both_parts(lambda x: x.norm(), z, q, beta)


@exercise.mistake("you average the vectors' distances: the equation has their squares.")
def distances(z, q, beta):
    return both_parts(lambda x: x.norm(dim=1).mean(), z, q, beta)


@exercise.mistake(
    "you take a root of the mean: then a large difference pulls no more than a small one."
)
def root_of_the_mean(z, q, beta):
    return both_parts(lambda x: x.square().mean().sqrt(), z, q, beta)


@exercise.mistake(
    "you average differences with their signs, so that they cancel: nothing is squared."
)
def not_squared(z, q, beta):
    return both_parts(lambda x: x.mean(), z, q, beta)


@exercise.mistake("you square the mean: by then differences of opposite signs have cancelled.")
def squared_mean(z, q, beta):
    return both_parts(lambda x: x.mean().square(), z, q, beta)


@exercise.mistake("these are the squares of all numbers: a loss is one number.")
def of_each_number(z, q, beta):
    return both_parts(lambda x: x.square(), z, q, beta)


@exercise.mistake("that is a loss for each vector: a loss is one number.")
def of_each_vector(z, q, beta):
    return both_parts(lambda x: x.square().mean(dim=1), z, q, beta)


@exercise.mistake("you return two losses: return their sum.")
def as_a_pair(z, q, beta):
    return squared(z.detach(), q), beta * squared(z, q.detach())
