"""Predict how many parameters DistilBERT has, from the sizes that its paper gives."""

from utils.exercises.checking import Prediction

V, T, D, F, N = 30_522, 512, 768, 3072, 6  # words, positions, width, of feed-forward layers, blocks
LOOK = 4 * (D * D + D)  # queries, keys, values, output
THINK = 2 * D * F + F + D
NORM = 2 * D
TABLES = (V + T) * D


def millions(*parts: int) -> float:
    return sum(parts) / 1e6


def distilberts_size() -> float:
    """In millions: two tables and their norm, and six blocks with two norms each."""
    return millions(TABLES, NORM, N * (LOOK + THINK + 2 * NORM))


exercise = Prediction(distilberts_size, tolerance=0.01)


@exercise.mistake("those are the blocks: a third of the parameters is in the table of words.")
def blocks_alone():
    return millions(N * (LOOK + THINK + 2 * NORM))


@exercise.mistake("half of BERT: the blocks are halved, but is the table of words?")
def half_of_bert():
    types, pooler = 2 * D, D * D + D
    return millions(TABLES, types, NORM, 2 * N * (LOOK + THINK + 2 * NORM), pooler) / 2


@exercise.mistake("that is BERT, with its 12 blocks: the student has every second one.")
def twelve_blocks():
    return 2 * half_of_bert()


@exercise.mistake("the looks have a fourth matrix, which mixes what the heads found.")
def three_matrices():
    return millions(TABLES, NORM, N * (3 * LOOK // 4 + THINK + 2 * NORM))


@exercise.mistake("a feed-forward layer has two matrices: up to 3,072, and down again.")
def one_way_up():
    return millions(TABLES, NORM, N * (LOOK + THINK // 2 + 2 * NORM))


@exercise.mistake("blocks without their feed-forward layers: these hold two thirds of a block.")
def no_feed_forward():
    return millions(TABLES, NORM, N * (LOOK + NORM))


@exercise.mistake("each of 12 heads has 64 columns of a matrix, not a matrix of its own.")
def a_matrix_a_head():
    return millions(TABLES, NORM, N * (12 * LOOK + THINK + 2 * NORM))


@exercise.mistake("a second table of words for the head: the head has the same one.")
def a_second_table():
    return millions(TABLES, V * D, NORM, N * (LOOK + THINK + 2 * NORM))


@exercise.mistake("these are single parameters: say it in millions.")
def not_in_millions():
    return 1e6 * distilberts_size()
