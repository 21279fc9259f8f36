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
