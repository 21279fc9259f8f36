"""Predict what patches half as wide cost a Vision Transformer."""

from utils.exercises.checking import Prediction

D, SIDE, P = 768, 224, 16  # ViT-Base: width, and the sides of a picture and of a patch in pixels


def cost(P: float, *, each: float = 12 * D, pair: float = 2) -> float:
    """Return the multiply-adds of a block, divided by D: weights for each token, and the pairs."""
    n = (SIDE / P) ** 2
    return n * each + pair * n**2


def cost_of_patches() -> float:
    """Four times as many patches, and a bit more for the pairs: about 4.5."""
    return cost(P / 2) / cost(P)


exercise = Prediction(cost_of_patches, tolerance=0.02)


# What goes wrong ----------------------------------------------------------------------------------


@exercise.mistake(
    "that holds for the pairs: how large a part of the cost are they, beside what each patch costs "
    "by itself?"
)
def pairs_alone():
    return 16


@exercise.mistake("that holds for what each patch costs by itself: and the pairs?")
def patches_alone():
    return 4


@exercise.mistake("a picture has two sides, and both are cut twice as often.")
def one_side():
    return 2


@exercise.mistake(
    "that is for twice as many patches: a picture has two sides, and both are cut twice as often."
)
def twice_as_many():
    return cost(P / 2**0.5) / cost(P)


@exercise.mistake(
    "you add the two factors: each belongs to a part of the cost, and the parts are added up first."
)
def factors_added():
    return 20


@exercise.mistake(
    "that is the mean of the two factors: the part that grows by 16 is much smaller than the other."
)
def mean_of_factors():
    return 10


@exercise.mistake("the two factors are multiplied: each belongs to a part of the cost.")
def factors_multiplied():
    return 64


@exercise.mistake("that is the inverse: are smaller patches more patches, or fewer?")
def fewer():
    return 1 / cost_of_patches()


@exercise.mistake(
    "that is half of what the pairs cost: every patch attends to all n of them, which makes n² "
    "pairs, and each costs 2 · 768 products."
)
def half_of_the_pairs():
    return cost(P / 2, pair=1) / cost(P, pair=1)


@exercise.mistake(
    "that is attention without the feed-forward layer, which has two thirds of a block's weights."
)
def attention_alone():
    return cost(P / 2, each=4 * D) / cost(P, each=4 * D)


@exercise.mistake("the four matrices of attention are missing: a third of a block's weights.")
def feed_forward_alone():
    return cost(P / 2, each=8 * D) / cost(P, each=8 * D)


@exercise.mistake(
    "that is with the matrices' weights counted once: every patch is multiplied by them, n times."
)
def weights_once():
    few, many = (SIDE / P) ** 2, (2 * SIDE / P) ** 2
    return (12 * D + 2 * many**2) / (12 * D + 2 * few**2)


@exercise.mistake(
    "the pairs weigh 768 times too much: the matrices have 12 · 768² weights, not 12 · 768."
)
def width_not_squared():
    return cost(P / 2, each=12) / cost(P, each=12)


@exercise.mistake("that is by how much it grows more than at first: give the factor.")
def growth():
    return cost_of_patches() - 1


@exercise.mistake("that is in percent: give the factor.")
def in_percent():
    return 100 * cost_of_patches()


@exercise.mistake(
    "the pairs weigh twelve times too much: either the 12 of the matrices' weights is missing, or "
    "each of twelve heads counts as if it were 768 wide."
)
def each_head_as_wide():
    return cost(P / 2, pair=24) / cost(P, pair=24)


@exercise.mistake(
    "for that, the pairs would be about a twelfth of the cost at first: compare n² · 2 · 768 with "
    "n · 12 · 768² for n = 196."
)
def pairs_a_twelfth():
    return 5


@exercise.mistake(
    "for that, the pairs would be about a sixth of the cost at first: compare n² · 2 · 768 with "
    "n · 12 · 768² for n = 196."
)
def pairs_a_sixth():
    return 6


@exercise.mistake(
    "for that, the pairs would be more than a third of the cost at first: compare n² · 2 · 768 "
    "with n · 12 · 768² for n = 196."
)
def pairs_over_a_third():
    return 8.4
