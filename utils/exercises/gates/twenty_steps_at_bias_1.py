"""What is left of a cell's gradient after twenty steps with a forget gate's bias of 1?"""

import math

import torch
from torch import nn

from utils.exercises.checking import Prediction


def gradient_left(steps: int = 20) -> float:
    """∂c_t / ∂c_0 of the library's LSTM, with a forget gate's bias of 1 and nothing else."""
    lstm = nn.LSTMCell(1, 1).double()
    for parameter in lstm.parameters():
        nn.init.zeros_(parameter)
    with torch.no_grad():
        lstm.bias_ih[1] = 1
    x = torch.zeros(1, 1, dtype=torch.float64)
    c_0 = torch.ones(1, 1, dtype=torch.float64, requires_grad=True)
    h, c = x, c_0
    for _ in range(steps):
        h, c = lstm(x, (h, c))
    return torch.autograd.grad(c, c_0)[0].item()


exercise = Prediction(gradient_left, tolerance=0.1)


@exercise.mistake("a bias of 1 is not a gate of 1: what is σ(1)?")
def bias_as_gate():
    return 1.0


@exercise.mistake("that is one step; there are twenty.")
def one_step():
    return 1 / (1 + math.exp(-1))


@exercise.mistake("that is for a gate with a bias of 0.")
def no_bias():
    return 0.5**20


@exercise.mistake("the bias goes through a sigmoid, not an exponential.")
def exponential():
    return math.exp(-20)


@exercise.mistake("a gate is a sigmoid of its bias, not a tanh.")
def tanh():
    return math.tanh(1) ** 20


@exercise.mistake("one gate is missing: from c_0 to c_20 the path leads through twenty of them.")
def one_gate_short():
    return (1 / (1 + math.exp(-1))) ** 19


@exercise.mistake(
    "that is one gate too many: from c_0 to c_20 the path leads through twenty of them."
)
def one_gate_more():
    return (1 / (1 + math.exp(-1))) ** 21


@exercise.mistake(
    "σ(1) is the share that is kept at each step; 1 - σ(1) is the share that is lost."
)
def what_is_lost():
    return (1 - 1 / (1 + math.exp(-1))) ** 20


@exercise.mistake("that is the logarithm of the share that is left.")
def logarithm():
    return -20 * math.log(1 + math.exp(-1))


@exercise.mistake("did you write it in percent?")
def per_cent():
    return 100 * (1 / (1 + math.exp(-1))) ** 20
