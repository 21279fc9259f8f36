"""Predict how many parameters DistilBERT has, to the last one, from the sizes in its paper."""

from utils.exercises.checking import Prediction

V, T, D, F, N = 30_522, 512, 768, 3072, 6  # words, positions, width, of feed-forward layers, blocks
LOOK = 4 * (D * D + D)  # queries, keys, values, output
THINK = 2 * D * F + F + D
NORM = 2 * D
TABLES = (V + T) * D


def counted(*parts: int) -> int:
    return sum(parts)


def distilberts_size() -> int:
    """Two tables and their norm, and six blocks with two norms each."""
    return counted(TABLES, NORM, N * (LOOK + THINK + 2 * NORM))


exercise = Prediction(distilberts_size, tolerance=1e-9)


@exercise.mistake("those are the blocks alone: a third of the parameters is in the table of words.")
def blocks_alone():
    return counted(N * (LOOK + THINK + 2 * NORM))


@exercise.mistake("half of BERT: the blocks are halved, but is the table of words?")
def half_of_bert():
    types, pooler = 2 * D, D * D + D
    return counted(TABLES, types, NORM, 2 * N * (LOOK + THINK + 2 * NORM), pooler) // 2


@exercise.mistake("that is BERT, with its 12 blocks: the student has half of them.")
def twelve_blocks():
    return 2 * half_of_bert()


@exercise.mistake("attention has a fourth matrix, which mixes the outputs of the heads.")
def three_matrices():
    return counted(TABLES, NORM, N * (3 * LOOK // 4 + THINK + 2 * NORM))


@exercise.mistake("a feed-forward layer has two matrices: one up to 3,072, and one down again.")
def one_way_up():
    return counted(TABLES, NORM, N * (LOOK + THINK // 2 + 2 * NORM))


@exercise.mistake("the feed-forward layers are missing: they hold two thirds of a block.")
def no_feed_forward():
    return counted(TABLES, NORM, N * (LOOK + NORM))


@exercise.mistake("each of the 12 heads has 64 columns of a matrix, not a matrix of its own.")
def a_matrix_a_head():
    return counted(TABLES, NORM, N * (12 * LOOK + THINK + 2 * NORM))


@exercise.mistake("you count the table of words twice: the head uses the same one.")
def a_second_table():
    return counted(TABLES, V * D, NORM, N * (LOOK + THINK + 2 * NORM))


@exercise.mistake("the positions have a table, too: a vector for each of 512.")
def no_positions():
    return distilberts_size() - T * D


@exercise.mistake("the biases are missing: each matrix of a block adds as many as it has outputs.")
def no_biases():
    return distilberts_size() - N * (4 * D + F + D)


@exercise.mistake("a norm has a gain and a bias, so twice the width.")
def gains_alone():
    return distilberts_size() - D - N * 2 * D


@exercise.mistake("the norm after the tables is missing.")
def no_first_norm():
    return distilberts_size() - NORM


@exercise.mistake("the norms are missing: two in each block, and one after the tables.")
def no_norms():
    return distilberts_size() - NORM - N * 2 * NORM


@exercise.mistake("about that many: give the exact number, without rounding to millions.")
def in_millions():
    return 66.36


@exercise.mistake(
    "that is DistilBERT with a classifier of two layers on top: the question is about the model "
    "itself."
)
def with_a_classifier():
    return distilberts_size() + D * D + D + 2 * D + 2


@exercise.mistake(
    "you count the bias of the head that guesses words: the head isn't part of the model."
)
def bias_of_the_head():
    return distilberts_size() + V


@exercise.mistake("that is the figure of the paper, rounded: count to the last parameter.")
def as_in_the_paper():
    return 66_000_000


@exercise.mistake("that is rounded: count to the last parameter.")
def rounded():
    return 66_400_000
