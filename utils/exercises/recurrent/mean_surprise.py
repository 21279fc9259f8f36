"""The perplexity of a model that gives 1/2 and 1/8 to the right characters, by turns."""

import math

from utils.exercises.checking import Prediction


def perplexity() -> float:
    """Average the logarithms of 2 and of 8, and undo the logarithm."""
    return math.exp((math.log(2) + math.log(8)) / 2)


exercise = Prediction(perplexity, tolerance=1e-3)


@exercise.mistake("2 and 8 are not averaged themselves: perplexity averages logarithms first.")
def arithmetic_mean():
    return (2 + 8) / 2


@exercise.mistake("the probabilities are not averaged: perplexity averages their logarithms.")
def mean_probability():
    return 1 / ((1 / 2 + 1 / 8) / 2)


@exercise.mistake("that is the mean number of bits; how many choices is it worth?")
def bits():
    return (math.log2(2) + math.log2(8)) / 2


@exercise.mistake("perplexity is the value of one token, not of two.")
def product():
    return 2.0 * 8.0


@exercise.mistake("that is the mean surprise in nats; how many choices is it worth?")
def nats():
    return (math.log(2) + math.log(8)) / 2


@exercise.mistake("that is a probability: how many equally likely characters would each have it?")
def probability():
    return math.sqrt(1 / 2 * 1 / 8)
