"""The number of parameters of a convolution from 3 channels to 16, with 5×5 kernels and biases."""

from torch import nn

from utils.exercises.checking import Prediction


def parameter_count() -> int:
    """Count the parameters of the library's layer."""
    return sum(p.numel() for p in nn.Conv2d(3, 16, 5).parameters())


exercise = Prediction(parameter_count)


@exercise.mistake("each output channel also has a bias.")
def no_biases():
    return 16 * 3 * 5 * 5


@exercise.mistake("a kernel is as deep as the image has channels.")
def flat_kernels():
    return 16 * (5 * 5 + 1)


@exercise.mistake("two things are missing: the depth of a kernel, and the biases.")
def flat_kernels_without_biases():
    return 16 * 5 * 5


@exercise.mistake("that is one kernel without its bias; how many kernels are there?")
def one_kernel_without_bias():
    return 3 * 5 * 5


@exercise.mistake("each output channel has a kernel of its own.")
def one_kernel():
    return 3 * 5 * 5 + 1


@exercise.mistake("there is one bias per output channel, not one per weight.")
def bias_for_each_weight():
    return 2 * 16 * 3 * 5 * 5


@exercise.mistake("each output channel has a bias: how many output channels are there?")
def bias_for_each_input_channel():
    return 16 * 3 * 5 * 5 + 3


@exercise.mistake("a 5×5 kernel has more than 5 numbers on each channel.")
def kernel_of_one_row():
    return 16 * (3 * 5 + 1)


@exercise.mistake("a kernel has one bias, however many slices it has.")
def bias_for_each_slice():
    return 16 * 3 * (5 * 5 + 1)


@exercise.mistake("each of the 16 kernels has a bias of its own.")
def one_bias():
    return 16 * 3 * 5 * 5 + 1
