"""Let a gradient pass a choice: the decoder's goes to the encoder as it is."""

from torch import Tensor

from utils.exercises.checking import Exercise, random
from utils.exercises.drawing.two_slopes import with_slopes


def straight_through(z: Tensor, q: Tensor) -> Tensor:
    """Return the numbers of q, with the gradient going to z unchanged, and none to q.

    Shapes: z and q (n, D), q the codebook's vectors nearest to z, to (n, D).
    """
    return z + (q - z).detach()


judged = with_slopes(straight_through)
exercise = Exercise(straight_through, gradient=False, runs=True, through=judged)


# What it is tried on ------------------------------------------------------------------------------


@exercise.stage("one vector")
def one_vector():
    return [(random(1, 3), random(1, 3))]


@exercise.stage("several vectors")
def several():
    return [(random(4, 2), random(4, 2)), (3 * random(3, 5), random(3, 5))]


# What goes wrong ----------------------------------------------------------------------------------


@exercise.mistake(
    "straight-through is forgotten: z gets no gradient, since it is in q by a choice alone, which "
    "has no slope, so the encoder never learns."
)
@judged
def forgotten(z, q):
    return q


@exercise.mistake("nothing gets a gradient: cut off what is added to z, but not z.")
@judged
def nothing(z, q):
    return q.detach()


@exercise.mistake("the numbers are those of z: the picture has to be drawn from codes alone.")
def z_itself(z, q):
    return z


@exercise.mistake(
    "the gradient goes to the codebook, too: it learns from a loss of its own, not from the "
    "picture's."
)
@judged
def codebook_as_well(z, q):
    return z + (q - z.detach())


@exercise.mistake("z gets the gradient with its sign reversed: which z do you cut off?")
@judged
def reversed_sign(z, q):
    return z.detach() + (q - z)


@exercise.mistake(
    "you multiply by a ratio: it gives the numbers of q, but the gradient is multiplied by it, too."
)
@judged
def by_a_ratio(z, q):
    return z * (q / z).detach()


@exercise.mistake("the difference is reversed: z + (z - q) moves away from q.")
def away(z, q):
    return z + (z - q).detach()


@exercise.mistake("that is z + q: what has to be added to z, to get q?")
def added(z, q):
    return z + q.detach()


@exercise.mistake("that is half way between z and q: the decoder reads q.")
def half_way(z, q):
    return (z + q.detach()) / 2


@exercise.mistake("half of the gradient is lost: z should get all of it.")
@judged
def half_the_gradient(z, q):
    return z / 2 + (q - z / 2).detach()


@exercise.mistake("that is the difference alone, as a constant: what is it added to?")
@judged
def difference_alone(z, q):
    return (q - z).detach()


@exercise.mistake("z gets twice the gradient: it should pass unchanged.")
@judged
def twice_the_gradient(z, q):
    return 2 * z + (q - 2 * z).detach()
