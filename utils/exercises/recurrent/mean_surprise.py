"""The perplexity of a model that gives the correct characters 1/2 and 1/8 by turns."""

import math

from utils.exercises.checking import Prediction


def perplexity() -> float:
    """Average the logarithms of 2 and of 8, and undo the logarithm."""
    return math.exp((math.log(2) + math.log(8)) / 2)


exercise = Prediction(perplexity, tolerance=1e-3)


@exercise.mistake("don't average 2 and 8 themselves: perplexity averages their logarithms.")
def arithmetic_mean():
    return (2 + 8) / 2


@exercise.mistake("don't average the probabilities: perplexity averages their logarithms.")
def mean_probability():
    return 1 / ((1 / 2 + 1 / 8) / 2)


@exercise.mistake("that is the mean number of bits; how many equally likely choices is that?")
def bits():
    return (math.log2(2) + math.log2(8)) / 2


@exercise.mistake("perplexity is about one token, not two together.")
def product():
    return 2.0 * 8.0


@exercise.mistake("that is the mean surprise in nats; how many equally likely choices is that?")
def nats():
    return (math.log(2) + math.log(8)) / 2


@exercise.mistake("that is a probability: how many equally likely characters would each have it?")
def probability():
    return math.sqrt(1 / 2 * 1 / 8)
