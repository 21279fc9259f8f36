"""Predict how many bytes the codes of a picture need."""

from utils.exercises.checking import Prediction

PLACES, K = 6 * 6, 64  # codes of a picture, and vectors of the codebook


def bytes_in_codes() -> int:
    """A code is one of 64, so it needs 6 bits, and 36 of them are 27 bytes."""
    bits = K.bit_length() - 1
    return PLACES * bits // 8


exercise = Prediction(bytes_in_codes)


# What goes wrong ----------------------------------------------------------------------------------


@exercise.mistake("that is in bits: a byte has eight of them.")
def bits():
    return 216


@exercise.mistake("a byte has 256 values, and a code one of 64: how many bits are enough?")
def a_byte_each():
    return 36


@exercise.mistake(
    "8 bits for each code would be 288 bits, and 64 bits 288 bytes: n bits tell 2ⁿ codes apart."
)
def a_bit_for_each_vector():
    return 36 * 64 // 8


@exercise.mistake("that is the picture itself, a byte for each pixel and colour.")
def pixels():
    return 24 * 24 * 3


@exercise.mistake("a code is a number from a table, not a number in float32: how many are there?")
def four_bytes_each():
    return 36 * 4


@exercise.mistake("you count 7 bits: 6 of them have the numbers 0 to 63, which are 64.")
def seven_bits():
    return 31.5


@exercise.mistake("you count one row of the grid: there are six.")
def one_row():
    return 4.5


@exercise.mistake("the codebook is stored once, for all pictures: count the codes alone.")
def vectors():
    return 36 * 64


@exercise.mistake("64 is the size of the codebook: how many codes does a picture have?")
def exchanged():
    return 64 * 6 // 8


@exercise.mistake("that is how many bits one code takes: a picture has 36 codes.")
def one_code():
    return 6


@exercise.mistake("you count 5 bits, which tell 32 codes apart: there are 64.")
def five_bits():
    return 36 * 5 / 8


@exercise.mistake("a code is for a whole patch, not for each of its three colours.")
def three_colours():
    return 3 * 27


@exercise.mistake("that is 6 bits for each pixel: a code stands for a patch of 4 × 4 pixels.")
def a_code_for_each_pixel():
    return 24 * 24 * 6 // 8
