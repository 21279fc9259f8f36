"""GPT-2's queries, keys and values are published in one matrix, the other way round."""

from torch import Tensor

from utils.exercises.checking import Exercise, random


def from_c_attn(weight: Tensor, bias: Tensor) -> tuple[Tensor, ...]:
    """Take W_q, b_q, W_k, b_k, W_v and b_v from GPT-2's c_attn, for queries W_q x + b_q.

    GPT-2 computes x @ weight + bias, and cuts what comes out in thirds: queries, keys, values.
    Shapes: weight (D, 3·D), bias (3·D,) to three times (D, D) and (D,).
    """
    (W_q, W_k, W_v), (b_q, b_k, b_v) = weight.T.chunk(3), bias.chunk(3)
    return W_q, b_q, W_k, b_k, W_v, b_v


exercise = Exercise(from_c_attn)


# What it is tried on ------------------------------------------------------------------------------


@exercise.stage("a width of 2")
def width_of_2():
    return [(random(2, 6), random(6))]


@exercise.stage("a width of 3, at which a third is as wide as there are thirds")
def width_of_3():
    return [(random(3, 9), random(9))]


@exercise.stage("wider models")
def wider():
    return [(random(4, 12), random(12)), (random(12, 36), random(36))]


# What goes wrong ----------------------------------------------------------------------------------


def laid_out(matrices, biases):
    return tuple(x for pair in zip(matrices, biases, strict=True) for x in pair)


@exercise.mistake("the thirds are right, and lie as in x W: for W x each is transposed.")
def not_transposed(weight, bias):
    return laid_out(weight.chunk(3, dim=1), bias.chunk(3))


@exercise.mistake(
    "you read the numbers in another order than rows and columns: that is no transpose."
)
def viewed(weight, bias):
    return laid_out(weight.reshape(bias.shape[0], -1).chunk(3), bias.chunk(3))


@exercise.mistake("keys and values are exchanged: what is asked comes second, what is told third.")
def keys_for_values(weight, bias):
    W_q, b_q, W_k, b_k, W_v, b_v = from_c_attn(weight, bias)
    return W_q, b_q, W_v, b_v, W_k, b_k


@exercise.mistake("queries and keys are exchanged: the queries come first.")
def keys_for_queries(weight, bias):
    W_q, b_q, W_k, b_k, W_v, b_v = from_c_attn(weight, bias)
    return W_k, b_k, W_q, b_q, W_v, b_v


@exercise.mistake("you take every third column; the queries are the first third, all together.")
def every_third(weight, bias):
    return laid_out([weight.T[i::3] for i in range(3)], [bias[i::3] for i in range(3)])


@exercise.mistake("the matrices are right, and each bias is cut in another way than its matrix.")
def biases_every_third(weight, bias):
    return laid_out(weight.T.chunk(3), [bias[i::3] for i in range(3)])


@exercise.mistake("the biases are missing: GPT-2 has some, although later models have none.")
def no_biases(weight, bias):
    return laid_out(weight.T.chunk(3), (0 * bias).chunk(3))


@exercise.mistake("all three get the queries' bias: each has a third of its own.")
def one_bias(weight, bias):
    return laid_out(weight.T.chunk(3), 3 * [bias.chunk(3)[0]])


@exercise.mistake("you cut the model's width in thirds: what is cut is what comes out.")
def inputs_cut(weight, bias):
    W_q, W_k, W_v = weight.chunk(3)
    return laid_out([W_q.T, W_k.T, W_v.T], bias.chunk(3))


@exercise.mistake("each matrix is followed by its own bias: yours has all matrices first.")
def matrices_first(weight, bias):
    return *weight.T.chunk(3), *bias.chunk(3)


@exercise.mistake("each matrix comes first, then its bias: yours are the other way round.")
def biases_first(weight, bias):
    (a, b, c), (d, e, f) = weight.T.chunk(3), bias.chunk(3)
    return d, a, e, b, f, c


@exercise.mistake("`split` takes the size of each part, D: `chunk` takes the number of parts, 3.")
def split_in_threes(weight, bias):
    parts = zip(weight.T.split(3), bias.split(3), strict=True)
    return tuple(x for pair in parts for x in pair)


@exercise.mistake(
    "`view` and `reshape` to (3, D, D) cut the numbers row by row, but a third is D of the columns."
)
def viewed_and_transposed(weight, bias):
    D = len(weight)
    return laid_out(weight.reshape(3, D, D).mT, bias.chunk(3))
