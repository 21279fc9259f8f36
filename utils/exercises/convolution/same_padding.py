"""The zeros on each side that keep a picture's size at stride 1."""

from utils.exercises.checking import Exercise


def same_padding(kernel_size: int, dilation: int) -> int:
    """Return the padding on one side for which H_out = H at stride 1, where d(K - 1) is even."""
    return dilation * (kernel_size - 1) // 2


exercise = Exercise(same_padding, gradient=False)


# What it is tried on ------------------------------------------------------------------------------


@exercise.stage("a 3-wide kernel, undilated")
def three_wide():
    return [(3, 1)]


@exercise.stage("several kernels and dilations")
def several():
    return [(5, 1), (3, 2), (7, 3), (1, 4), (4, 2), (2, 6)]


# What goes wrong ----------------------------------------------------------------------------------


@exercise.mistake("dilation spreads the kernel's weights apart: how many pixels does it cover?")
def dilation_forgotten(kernel_size, dilation):
    return kernel_size // 2


@exercise.mistake("that is for both sides together; padding counts one side.")
def both_sides(kernel_size, dilation):
    return dilation * (kernel_size - 1)


@exercise.mistake("you counted the pixels that the kernel covers; how many positions are lost?")
def whole_reach(kernel_size, dilation):
    return dilation * (kernel_size - 1) + 1


@exercise.mistake("halve after multiplying: an even kernel has an odd number of gaps.")
def halved_first(kernel_size, dilation):
    return (kernel_size - 1) // 2 * dilation


@exercise.mistake(
    "an even kernel has an odd number of gaps: multiply by the gaps before you halve."
)
def kernel_halved(kernel_size, dilation):
    return dilation * (kernel_size // 2)


@exercise.mistake("count the gaps between a dilated kernel's weights: K weights have K - 1 gaps.")
def weights_for_gaps(kernel_size, dilation):
    return dilation * kernel_size // 2


@exercise.mistake("correct without dilation; with it, each of the K - 1 gaps is d pixels wide.")
def undilated(kernel_size, dilation):
    return (kernel_size - 1) // 2


@exercise.mistake("that is correct for a kernel of width 3; a wider one reaches further.")
def dilation_alone(kernel_size, dilation):
    return dilation


@exercise.mistake(
    "there are K - 1 gaps of d pixels each: which of the two is the 1 subtracted from?"
)
def taken_from_the_product(kernel_size, dilation):
    return (dilation * kernel_size - 1) // 2


@exercise.mistake("each of the K - 1 gaps is d pixels wide, and each side gets half of them all.")
def both_sides_undilated(kernel_size, dilation):
    return kernel_size - 1


@exercise.mistake("you add the dilation: it multiplies each of the K - 1 gaps.")
def dilation_added(kernel_size, dilation):
    return (kernel_size - 1 + dilation) // 2
