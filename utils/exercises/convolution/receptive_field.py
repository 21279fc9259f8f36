"""How many layers does it take for one output to see a given number of steps?"""

import math

from utils.convolution import receptive_field
from utils.exercises.checking import Exercise


def layers_needed(length: int, kernel_size: int, doubling: bool) -> int:
    """Return the smallest number of layers of stride 1 whose receptive field is `length` or more.

    doubling: whether the dilations are 1, 2, 4, … or all 1.
    """
    layers = []
    while receptive_field(layers) < length:
        layers.append((kernel_size, 1, 2 ** len(layers) if doubling else 1))
    return len(layers)


exercise = Exercise(layers_needed, gradient=False)


# What it is tried on ------------------------------------------------------------------------------


@exercise.stage("a reach of one pixel")
def one_pixel():
    return [(1, 3, False)]


@exercise.stage("undilated layers")
def undilated():
    return [(9, 3, False), (10, 3, False), (21, 5, False)]


@exercise.stage("doubling dilations")
def doubling_dilations():
    return [(15, 3, True), (16, 3, True), (64, 2, True), (10, 2, True), (40, 5, True)]


# What goes wrong ----------------------------------------------------------------------------------


def layers_that_add(length: int, gain: int, field: int, doubling: bool) -> int:
    """Count layers that each add `gain` times their dilation to a field, until it is `length`."""
    layers = 0
    while field < length:
        field += gain * (2**layers if doubling else 1)
        layers += 1
    return layers


@exercise.mistake("a layer adds K - 1 pixels to the reach: the middle one was there before.")
def divided_by_the_kernel(length, kernel_size, doubling):
    if doubling:
        return layers_needed(length, kernel_size, doubling)
    return math.ceil(length / kernel_size)


@exercise.mistake("the reach of your stack is still a little too short: may you round down?")
def rounded_down(length, kernel_size, doubling):
    gains = (length - 1) / (kernel_size - 1)
    return int(math.log2(gains + 1)) if doubling else int(gains)


@exercise.mistake(
    "a layer adds K - 1 steps, not K: one of its weights covers a step that was seen before."
)
def adds_the_kernel(length, kernel_size, doubling):
    return layers_that_add(length, kernel_size, 1, doubling)


@exercise.mistake(
    "when a stack reaches exactly far enough, you add one more layer. What does an output see "
    "before the first layer, and when is its reach enough?"
)
def one_layer_too_many(length, kernel_size, doubling):
    return layers_that_add(length, kernel_size - 1, 0, doubling)


@exercise.mistake("with doubling dilations, each layer adds twice as much as the one before it.")
def never_doubled(length, kernel_size, doubling):
    return layers_needed(length, kernel_size, False)


@exercise.mistake("without doubling, each layer adds just as much as the one before it.")
def always_doubled(length, kernel_size, doubling):
    return layers_needed(length, kernel_size, True)


@exercise.mistake("the dilations double from the second layer on: what is the first layer's?")
def first_dilation_doubled(length, kernel_size, doubling):
    return layers_that_add(length, (kernel_size - 1) * (2 if doubling else 1), 1, doubling)


@exercise.mistake("1 + 2 + 4 is 7, not 8: what do doubling dilations add up to?")
def power_for_the_sum(length, kernel_size, doubling):
    if not doubling:
        return layers_needed(length, kernel_size, doubling)
    return max(0, math.ceil(math.log2((length - 1) / (kernel_size - 1))))


@exercise.mistake("how many steps does an output see if there is no layer at all?")
def one_layer_at_least(length, kernel_size, doubling):
    return max(1, layers_needed(length, kernel_size, doubling))


@exercise.mistake(
    "that is correct for kernels of width 2: how much further does a wider one reach?"
)
def as_if_two_wide(length, kernel_size, doubling):
    if not doubling:
        return layers_needed(length, kernel_size, doubling)
    return math.ceil(math.log2(length))


@exercise.mistake(
    "your dilations grow K times from layer to layer; here they double, whatever K is."
)
def powers_of_the_kernel(length, kernel_size, doubling):
    if not doubling:
        return layers_needed(length, kernel_size, doubling)
    return math.ceil(math.log(length, kernel_size))
