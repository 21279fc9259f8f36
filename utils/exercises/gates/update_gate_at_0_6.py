"""What is left of a unit if a GRU gets the weights of another convention, unchanged?"""

import torch

from utils.exercises.checking import Prediction
from utils.exercises.gates.bahdanau_gru import gru_step
from utils.exercises.gates.forget_bias import logit


def share_of_the_old(steps: int = 5) -> float:
    """Return the part of a state of 1 that is left in the other GRU, with an update gate of 0.6."""
    x, h = torch.ones(2, 1, 1, dtype=torch.float64)
    W_x = torch.tensor([[0.0], [logit(0.6)], [0.0]], dtype=torch.float64)
    for _ in range(steps):
        h = gru_step(x, h, W_x, torch.zeros_like(W_x))
    return h.item()


exercise = Prediction(share_of_the_old, tolerance=0.03)


@exercise.mistake(
    "that is the share that PyTorch keeps; what does an update gate of 0.6 mean in the "
    "colleague's GRU?"
)
def library():
    return 0.6**5


@exercise.mistake("that is the share left after one step; there are five.")
def one_step():
    return 0.4


@exercise.mistake(
    "that is the share that PyTorch keeps in one step: here the convention differs, and there are "
    "five steps."
)
def one_step_of_the_library():
    return 0.6


@exercise.mistake("that is the share that PyTorch loses.")
def gone_in_the_library():
    return 1 - 0.6**5


@exercise.mistake("a share lies between 0 and 1: did you write it in percent?")
def per_cent():
    return 100 * 0.4**5


@exercise.mistake("that is the share that is lost; give the share that is left.")
def gone():
    return 1 - 0.4**5
