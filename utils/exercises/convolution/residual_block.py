"""Two convolutions with a road around them."""

from torch import Tensor

from utils.exercises.checking import Exercise, random
from utils.exercises.convolution.everywhere import conv2d


def residual_block(x: Tensor, w1: Tensor, b1: Tensor, w2: Tensor, b2: Tensor) -> Tensor:
    """Shapes: x (B, C, H, W), w1 and w2 (C, C, 3, 3), b1 and b2 (C,). Returns: (B, C, H, W)."""
    f = conv2d(x, w1, b1, padding=1).relu()
    f = conv2d(f, w2, b2, padding=1)
    return (x + f).relu()


exercise = Exercise(residual_block)


# What it is tried on ------------------------------------------------------------------------------


def drawn(B: int, C: int, H: int, W: int) -> tuple[Tensor, ...]:
    return random(B, C, H, W), random(C, C, 3, 3), random(C), random(C, C, 3, 3), random(C)


@exercise.stage("one channel")
def one_channel():
    return [drawn(1, 1, 3, 4)]


@exercise.stage("several images and channels")
def several():
    return [drawn(2, 3, 5, 4), drawn(3, 2, 4, 6)]


# What goes wrong ----------------------------------------------------------------------------------


@exercise.mistake("there is no road around: what is added to the convolutions' output?")
def no_road(x, w1, b1, w2, b2):
    return _found(x, w1, b1, w2, b2).relu()


@exercise.mistake("the last ReLU comes after the sum; yours comes before it.")
def bent_before_the_sum(x, w1, b1, w2, b2):
    return x + _found(x, w1, b1, w2, b2).relu()


@exercise.mistake("the sum goes through one more ReLU.")
def no_last_relu(x, w1, b1, w2, b2):
    return x + _found(x, w1, b1, w2, b2)


@exercise.mistake("without a ReLU between them, two convolutions are only one.")
def no_relu_between(x, w1, b1, w2, b2):
    return (x + conv2d(conv2d(x, w1, b1, padding=1), w2, b2, padding=1)).relu()


@exercise.mistake("the road joins too early: it leads around both convolutions.")
def added_after_the_first(x, w1, b1, w2, b2):
    return conv2d((x + conv2d(x, w1, b1, padding=1)).relu(), w2, b2, padding=1).relu()


@exercise.mistake("you multiplied the input by the convolutions' output; the road adds them.")
def multiplied(x, w1, b1, w2, b2):
    return (x * _found(x, w1, b1, w2, b2)).relu()


@exercise.mistake("the first kernels are used twice; the second convolution has its own.")
def first_kernels_twice(x, w1, b1, w2, b2):
    return residual_block(x, w1, b1, w1, b1)


@exercise.mistake("the road leads around the second convolution only: it starts at the input.")
def around_the_second(x, w1, b1, w2, b2):
    f = conv2d(x, w1, b1, padding=1).relu()
    return (f + conv2d(f, w2, b2, padding=1)).relu()


@exercise.mistake("you took the mean of the two; the road adds the whole input.")
def mean_of_both(x, w1, b1, w2, b2):
    return ((x + _found(x, w1, b1, w2, b2)) / 2).relu()


@exercise.mistake("a convolution without padding makes the map smaller, so the sum doesn't fit.")
def no_padding(x, w1, b1, w2, b2):
    return (x + conv2d(conv2d(x, w1, b1).relu(), w2, b2)).relu()


@exercise.mistake(
    "one ReLU too many: the convolutions' output is added as it is, and may be negative."
)
def bent_before_and_after_the_sum(x, w1, b1, w2, b2):
    return (x + _found(x, w1, b1, w2, b2).relu()).relu()


@exercise.mistake("the road carries x as it is; yours goes through a ReLU.")
def bent_road(x, w1, b1, w2, b2):
    return (x.relu() + _found(x, w1, b1, w2, b2)).relu()


@exercise.mistake("there are two ReLUs: one between the convolutions, and one after the sum.")
def no_relu_at_all(x, w1, b1, w2, b2):
    return x + conv2d(conv2d(x, w1, b1, padding=1), w2, b2, padding=1)


@exercise.mistake("the second kernels are used twice; the first convolution has its own.")
def second_kernels_twice(x, w1, b1, w2, b2):
    return residual_block(x, w2, b2, w2, b2)


@exercise.mistake("the kernels are swapped: w1 and b1 come first.")
def kernels_exchanged(x, w1, b1, w2, b2):
    return residual_block(x, w2, b2, w1, b1)


@exercise.mistake("the biases are missing: each convolution adds its own.")
def no_biases(x, w1, b1, w2, b2):
    return residual_block(x, w1, 0 * b1, w2, 0 * b2)


@exercise.mistake("you subtracted the convolutions' output from the input; the road adds them.")
def subtracted(x, w1, b1, w2, b2):
    return (x - _found(x, w1, b1, w2, b2)).relu()


@exercise.mistake("the input is counted twice: the road adds it once.")
def road_twice(x, w1, b1, w2, b2):
    return (2 * x + _found(x, w1, b1, w2, b2)).relu()


def _found(x: Tensor, w1: Tensor, b1: Tensor, w2: Tensor, b2: Tensor) -> Tensor:
    return conv2d(conv2d(x, w1, b1, padding=1).relu(), w2, b2, padding=1)


@exercise.mistake(
    "your ReLUs come before the convolutions: here they come after the first one, and after the "
    "sum."
)
def relus_first(x, w1, b1, w2, b2):
    f = conv2d(x.relu(), w1, b1, padding=1)
    return x + conv2d(f.relu(), w2, b2, padding=1)


@exercise.mistake("the second bias is missing: each convolution adds its own.")
def second_bias_missing(x, w1, b1, w2, b2):
    return residual_block(x, w1, b1, w2, 0 * b2)


@exercise.mistake("the first bias is missing: each convolution adds its own.")
def first_bias_missing(x, w1, b1, w2, b2):
    return residual_block(x, w1, 0 * b1, w2, b2)


@exercise.mistake("you built a road around each convolution: there is one, around both.")
def two_roads(x, w1, b1, w2, b2):
    f = (x + conv2d(x, w1, b1, padding=1)).relu()
    return (f + conv2d(f, w2, b2, padding=1)).relu()
