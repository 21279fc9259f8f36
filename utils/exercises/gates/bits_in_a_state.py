"""How many units are needed to tell all sequences of a length apart."""

import math

from utils.exercises.checking import Exercise


def units_needed(length: int, vocab_size: int, bits: float) -> int:
    """Return the smallest number of units, of so many bits each, that can tell them apart."""
    return math.ceil(length * math.log2(vocab_size) / bits)


exercise = Exercise(units_needed, gradient=False)


# What it is tried on ------------------------------------------------------------------------------


@exercise.stage("one symbol of two")
def one_symbol():
    return [(1, 2, 1.0)]


@exercise.stage("several symbols")
def several_symbols():
    return [(5, 16, 4.0), (20, 16, 4.0)]


@exercise.stage("sizes that don't divide")
def undivided_sizes():
    return [(20, 1000, 3.0), (7, 5, 1.5), (50, 26, 2.5)]


# What goes wrong ----------------------------------------------------------------------------------


@exercise.mistake("a bit is a choice of two; your logarithm has another base.")
def natural_logarithm(length, vocab_size, bits):
    return math.ceil(length * math.log(vocab_size) / bits)


@exercise.mistake("round up: what is left over needs a unit, too.")
def rounded_down(length, vocab_size, bits):
    return math.floor(length * math.log2(vocab_size) / bits)


@exercise.mistake("that is enough for one symbol only.")
def one_symbol_only(length, vocab_size, bits):
    return math.ceil(math.log2(vocab_size) / bits)


@exercise.mistake("how many sequences are there? Each further symbol multiplies their number.")
def product_for_power(length, vocab_size, bits):
    return math.ceil(math.log2(length * vocab_size) / bits)


@exercise.mistake(
    "you count a unit for each symbol of the vocabulary: as a pattern of bits, a symbol takes "
    "fewer."
)
def one_hot(length, vocab_size, bits):
    return math.ceil(length * vocab_size / bits)


@exercise.mistake("you rounded up for each symbol; a unit may hold parts of two symbols.")
def each_symbol_rounded_up(length, vocab_size, bits):
    return length * math.ceil(math.log2(vocab_size) / bits)


@exercise.mistake("that is the number of bits needed: how many of them does a unit hold?")
def bits_for_units(length, vocab_size, bits):
    return math.ceil(length * math.log2(vocab_size))


@exercise.mistake("when the bits divide evenly among the units, you count one unit too many.")
def one_more_always(length, vocab_size, bits):
    return math.floor(length * math.log2(vocab_size) / bits) + 1


@exercise.mistake("you rounded to the nearest integer: round up, or the last bits have no unit.")
def rounded_to_the_nearest(length, vocab_size, bits):
    return round(length * math.log2(vocab_size) / bits)


@exercise.mistake("the more bits a unit holds, the fewer units you need: divide by `bits`.")
def multiplied_by_bits(length, vocab_size, bits):
    return math.ceil(length * math.log2(vocab_size) * bits)


@exercise.mistake("you rounded up the bits of each symbol: several symbols may share a bit.")
def bits_of_each_symbol_rounded_up(length, vocab_size, bits):
    return math.ceil(length * math.ceil(math.log2(vocab_size)) / bits)


@exercise.mistake("a bit is a choice of two: your logarithm has base 10.")
def base_10(length, vocab_size, bits):
    return math.ceil(length * math.log10(vocab_size) / bits)


@exercise.mistake(
    "you count one bit for each symbol: how many does a choice among `vocab_size` symbols take?"
)
def a_bit_for_a_symbol(length, vocab_size, bits):
    return math.ceil(length / bits)
