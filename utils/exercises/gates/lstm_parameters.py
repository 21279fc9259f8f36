"""How many parameters does the library's bidirectional LSTM have?"""

from torch import nn

from utils.exercises.checking import Prediction


def lstm_parameters() -> int:
    """Count the parameters of a bidirectional LSTM of 10 inputs and 16 units."""
    return sum(p.numel() for p in nn.LSTM(10, 16, bidirectional=True).parameters())


exercise = Prediction(lstm_parameters)


@exercise.mistake("that is one direction; each has its own weights.")
def one_direction():
    return 4 * 16 * (10 + 16 + 2)


@exercise.mistake("that is only one block of each direction.")
def one_block():
    return 2 * 16 * (10 + 16 + 2)


@exercise.mistake("the three gates aren't everything: what do they let in?")
def three_gates():
    return 2 * 3 * 16 * (10 + 16 + 2)


@exercise.mistake("each block also has biases.")
def no_bias():
    return 2 * 4 * 16 * (10 + 16)


@exercise.mistake("the library keeps two biases per block, one for each product.")
def one_bias():
    return 2 * 4 * 16 * (10 + 16 + 1)


@exercise.mistake("the old state is multiplied by weights, too.")
def no_state():
    return 2 * 4 * 16 * (10 + 2)


@exercise.mistake("the input is multiplied by weights, too.")
def no_input():
    return 2 * 4 * 16 * (16 + 2)


@exercise.mistake(
    "a direction reads its own old state, of 16 numbers, not that of both directions."
)
def state_of_both_directions():
    return 2 * 4 * 16 * (10 + 2 * 16 + 2)


@exercise.mistake("that is one direction with one bias per block: there are two of each.")
def one_direction_and_bias():
    return 4 * 16 * (10 + 16 + 1)


@exercise.mistake("each direction has 16 units of its own: they don't share them.")
def units_shared_out():
    return 2 * 4 * 8 * (10 + 8 + 2)
