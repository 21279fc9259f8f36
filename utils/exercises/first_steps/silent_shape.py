"""How many numbers are in a column of 32 minus a row of 32?"""

import torch

from utils.exercises.checking import Prediction


def broadcast_size() -> int:
    """Count the numbers in a column of 32 minus a row of 32."""
    return (torch.zeros(32, 1) - torch.zeros(32)).numel()


exercise = Prediction(broadcast_size)


@exercise.mistake(
    "that would be one difference for each example. Shapes are not matched by what they "
    "mean, but from the right: write (32, 1) above (32,), aligned at the right end."
)
def by_example():
    return 32


@exercise.mistake("that is how many numbers go in. What size does each axis of the result have?")
def added():
    return 64


@exercise.mistake(
    "no error is raised here, and that is the trouble: an axis of size 1, or a missing one, is "
    "repeated to fit."
)
def error():
    return 0
