"""How many parameters does attention from one sequence to another have?"""

from utils.exercises.checking import Prediction
from utils.self_attention import MultiHeadAttention


def parameters_of_a_reader() -> int:
    """Count the parameters of six heads, 48 wide, that look into a sequence 32 wide."""
    layer = MultiHeadAttention(48, 6, d_memory=32)
    return sum(p.numel() for p in layer.parameters())


exercise = Prediction("5.1", parameters_of_a_reader)


@exercise.mistake("each of the four maps has a bias, too.")
def biases_forgotten():
    return 2 * 48 * 48 + 2 * 32 * 48


@exercise.mistake("keys and values are made from the sequence that is 32 wide, not 48.")
def one_width():
    return 4 * 48 * 48 + 4 * 48


@exercise.mistake("the heads are mixed once more at the end, by W_o.")
def mixing_forgotten():
    return 48 * 48 + 2 * 32 * 48 + 3 * 48


@exercise.mistake("six heads share the width: none is as wide as the model.")
def heads_as_wide_as_the_model():
    return 6 * (48 * 48 + 2 * 32 * 48 + 3 * 48) + 6 * 48 * 48 + 48


@exercise.mistake("keys and values are made by a matrix each.")
def keys_are_values():
    return 2 * 48 * 48 + 32 * 48 + 3 * 48


@exercise.mistake("a bias is as wide as what its map gives, not as what goes in.")
def biases_of_the_inputs():
    return 2 * 48 * 48 + 2 * 32 * 48 + 2 * 48 + 2 * 32


@exercise.mistake("W_o has a bias, like the other three maps.")
def last_bias_forgotten():
    return 2 * 48 * 48 + 2 * 32 * 48 + 3 * 48
