"""The number of parameters of a language model of 50 characters, width 16 and 32 hidden units."""

from utils.exercises.checking import Prediction
from utils.recurrent import RNN, LanguageModel


def parameter_count() -> int:
    """Count the parameters of the book's model."""
    model = LanguageModel(vocab_size=50, d_model=16, layer=RNN(16, 32))
    return sum(p.numel() for p in model.parameters())


exercise = Prediction(parameter_count)


@exercise.mistake("the library's layer has two biases; the equation above has one.")
def two_biases_in_the_layer():
    return parameter_count() + 32


@exercise.mistake("there are two biases: one in the layer, and one at the output.")
def no_biases():
    return parameter_count() - 32 - 50


@exercise.mistake("the embedding is a table of weights, too.")
def no_embedding():
    return parameter_count() - 50 * 16


@exercise.mistake("the layer has a second matrix: what multiplies the state?")
def no_recurrent_weights():
    return parameter_count() - 32 * 32


@exercise.mistake("something must turn a state into one number for each character.")
def no_logits():
    return parameter_count() - 50 * (32 + 1)


@exercise.mistake("the layer reads an embedding, not a character's one-hot.")
def one_hot_inputs():
    return parameter_count() + 32 * (50 - 16)


@exercise.mistake("the recurrent layer has a bias, too.")
def no_bias_in_the_layer():
    return parameter_count() - 32


@exercise.mistake("each character has a bias, too.")
def no_bias_of_the_logits():
    return parameter_count() - 50


@exercise.mistake("a text twice as long is read with the same weights.")
def twice_the_length():
    return 2 * parameter_count()
