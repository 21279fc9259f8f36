"""Predict the bits per byte of a model that is known by its perplexity per token."""

import math

from utils.exercises.checking import Prediction


def bits_per_byte() -> float:
    """Perplexity 32 per token means five bits per token, and a token is 2.5 bytes long."""
    return math.log2(32) / 2.5


exercise = Prediction(bits_per_byte, tolerance=0.01)


@exercise.mistake("those are the bits per token: one token stands for two and a half bytes.")
def per_token():
    return math.log2(32)


@exercise.mistake("that is a perplexity shared out among bytes: take the logarithm first.")
def perplexity_divided():
    return 32 / 2.5


@exercise.mistake("the logarithm of a quotient: first the bits of a token, then their share.")
def divided_first():
    return math.log2(32 / 2.5)


@exercise.mistake("these are nats: a bit is a choice between two, so the logarithm has base 2.")
def nats():
    return math.log(32) / 2.5


@exercise.mistake("multiplied: a byte is less than a token, and has fewer bits.")
def multiplied():
    return math.log2(32) * 2.5


@exercise.mistake("that is the perplexity per byte: among so many, but how many bits is that?")
def perplexity_per_byte():
    return 32 ** (1 / 2.5)


@exercise.mistake(
    "these are nats per token: take the logarithm to base 2, and share it among bytes."
)
def nats_per_token():
    return math.log(32)


@exercise.mistake("that is upside down: divide the bits of a token by its bytes.")
def upside_down():
    return 2.5 / math.log2(32)


@exercise.mistake("that is the logarithm to base 10: a bit is a choice between two.")
def base_10():
    return math.log10(32) / 2.5


@exercise.mistake("that is a perplexity times bytes: take the logarithm first, then divide.")
def perplexity_multiplied():
    return 32 * 2.5


@exercise.mistake("that is the perplexity itself: how many bits tell one of 32 equal choices?")
def perplexity():
    return 32


@exercise.mistake(
    "a byte's eight bits don't enter: what is asked is how many bits the model needs for a byte."
)
def times_eight():
    return 8 * math.log2(32) / 2.5


@exercise.mistake(
    "you divide by 8, too: that would be per bit of the text, and what is asked is per byte."
)
def per_bit():
    return math.log2(32) / 2.5 / 8


@exercise.mistake("a token is 2.5 bytes long, not 8: share its bits among its bytes.")
def by_eight():
    return math.log2(32) / 8


@exercise.mistake(
    "that is a token's logarithm to base 10: take it to base 2, and share it among the bytes."
)
def base_10_per_token():
    return math.log10(32)


@exercise.mistake(
    "the natural logarithm of a quotient: take the logarithm of 32 to base 2, then divide it."
)
def nats_divided_first():
    return math.log(32 / 2.5)


@exercise.mistake(
    "you turn nats into bits, but the logarithm to base 2 gives bits already: leave out ln 2."
)
def turned_twice():
    return math.log2(32) / math.log(2) / 2.5
