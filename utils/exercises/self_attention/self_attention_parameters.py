"""How many parameters does a layer of six heads have?"""

from utils.exercises.checking import Prediction
from utils.self_attention import MultiHeadAttention


def parameters_of_a_layer() -> int:
    """Count the parameters of six heads, 48 wide together, with biases."""
    return sum(p.numel() for p in MultiHeadAttention(48, 6).parameters())


exercise = Prediction(parameters_of_a_layer)


@exercise.mistake("each of the four maps has a bias, too.")
def biases_forgotten():
    return 4 * 48 * 48


@exercise.mistake("the heads are mixed once more at the end, by W_o.")
def mixing_forgotten():
    return 3 * (48 * 48 + 48)


@exercise.mistake("six heads share the width: none is as wide as the model.")
def heads_as_wide_as_the_model():
    return 6 * 3 * (48 * 48 + 48) + 6 * 48 * 48 + 48


@exercise.mistake("that is one head's share of the queries, keys and values: there are six.")
def a_single_head():
    return 3 * (48 * 8 + 8) + 48 * 48 + 48


@exercise.mistake("a bias is as wide as the output of its map: all heads together, not one.")
def biases_of_one_head():
    return 4 * 48 * 48 + 3 * 8 + 48


@exercise.mistake("W_o has a bias, like the other three maps.")
def last_bias_forgotten():
    return 4 * 48 * 48 + 3 * 48
