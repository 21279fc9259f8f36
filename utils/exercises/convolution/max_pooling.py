"""Pooling that keeps the strongest answer of each window; windows lie side by side."""

from torch import Tensor
from torch.nn import functional as F

from utils.exercises.checking import Exercise, looping, random


def max_pool2d(x: Tensor, K: int) -> Tensor:
    """Shapes: x (B, C, H, W) to (B, C, H // K, W // K)."""
    return x.unfold(2, K, K).unfold(3, K, K).amax(dim=(-2, -1))


exercise = Exercise(
    max_pool2d,
    runs=True,
    but=looping(
        lambda: (random(1, 1, 4, 4), 2), lambda: (random(16, 3, 4, 4), 2), "images or channels"
    ),
)


# What it is tried on ------------------------------------------------------------------------------


@exercise.stage("one map")
def one_map():
    return [(random(1, 1, 4, 4), 2)]


@exercise.stage("several images and channels")
def several():
    return [(random(2, 3, 4, 6), 2), (random(3, 2, 6, 9), 3)]


@exercise.stage("maps that are negative everywhere")
def negative():
    return [(-random(2, 3, 4, 4).abs() - 1, 2)]


@exercise.stage("sizes that leave a remainder")
def with_a_rest():
    return [(random(2, 3, 5, 7), 2), (random(1, 2, 8, 7), 3)]


# What goes wrong ----------------------------------------------------------------------------------


@exercise.mistake("that is the mean of each window; you need its largest number.")
def mean(x, K):
    return F.avg_pool2d(x, K)


@exercise.mistake("that is the smallest number of each window; you need its largest.")
def smallest(x, K):
    return -max_pool2d(-x, K)


@exercise.mistake("windows lie side by side here: from one to the next, the window jumps K pixels.")
def overlapping(x, K):
    return F.max_pool2d(x, K, stride=1)


@exercise.mistake("the window covers rows and columns; the channels stay separate.")
def over_channels(x, K):
    return max_pool2d(x, K).amax(dim=1, keepdim=True)


@exercise.mistake("you kept one corner of each window; which of its numbers should stay?")
def corner(x, K):
    return x[:, :, : x.shape[2] // K * K : K, : x.shape[3] // K * K : K]


@exercise.mistake("zeros win where all numbers are negative: compare nothing with 0.")
def with_zero(x, K):
    return max_pool2d(x, K).relu()


@exercise.mistake("a window that hangs over the border should be dropped; yours is still there.")
def rest_kept(x, K):
    return F.max_pool2d(x, K, ceil_mode=True)


@exercise.mistake("the largest of the whole map is one number; each window has its own.")
def of_the_whole_map(x, K):
    return x.amax(dim=(2, 3))


@exercise.mistake("that is the largest of each row of a window: its rows are still separate.")
def rows_apart(x, K):
    return x.unfold(2, K, K).unfold(3, K, K).amax(dim=-1)


@exercise.mistake("that is the largest of each piece of a row: a window has K rows, too.")
def along_the_rows_only(x, K):
    return x.unfold(3, K, K).amax(dim=-1)


@exercise.mistake("that is the largest of each piece of a column: a window has K columns, too.")
def along_the_columns_only(x, K):
    return x.unfold(2, K, K).amax(dim=-1)


@exercise.mistake("that is the sum of each window; you need its largest number.")
def total(x, K):
    return K**2 * F.avg_pool2d(x, K)


@exercise.mistake(
    "leftover rows and columns are dropped at the bottom and the right; you dropped the first ones."
)
def start_dropped(x, K):
    return max_pool2d(x[:, :, x.shape[2] % K :, x.shape[3] % K :], K)


@exercise.mistake(
    "the numbers were cut in the order of memory, so a window holds pieces of one row: cut rows "
    "into (H // K, K) and columns into (W // K, K)."
)
def cut_in_the_order_of_memory(x, K):
    (B, C), (H, W) = x.shape[:2], (size // K for size in x.shape[2:])
    return x[:, :, : H * K, : W * K].reshape(B, C, H, W, K * K).amax(dim=-1)


@exercise.mistake("you compare sizes without their signs: -5 is smaller than 2.")
def largest_size(x, K):
    return max_pool2d(x.abs(), K)


@exercise.mistake("rows and columns of the pooled map are swapped.")
def map_transposed(x, K):
    return max_pool2d(x, K).mT


@exercise.mistake("your window always jumps by 2: from one window to the next it is K pixels.")
def jumps_by_two(x, K):
    return F.max_pool2d(x, K, stride=2)


@exercise.mistake("those are the positions of the largest numbers: return the numbers themselves.")
def positions(x, K):
    return x.unfold(2, K, K).unfold(3, K, K).flatten(-2).argmax(-1)


@exercise.mistake("the last row and the last column of windows are missing: how often does K fit?")
def one_window_short(x, K):
    return max_pool2d(x, K)[:, :, : (x.shape[2] - 1) // K, : (x.shape[3] - 1) // K]


@exercise.mistake("your windows are always 2 wide: their size is K.")
def always_two(x, K):
    return max_pool2d(x, 2)


@exercise.mistake(
    "your windows are cut along one axis only: a window is K rows high and K columns wide."
)
def whole_rows(x, K):
    return x.unfold(2, K, K).amax(dim=(-2, -1))
