"""Does the RNN of recall_fixed arrive after all, given 3,000 steps and the right learning rate?"""

import torch

from utils.recurrent import RNN, SequenceClassifier
from utils.tasks.memory import train_recall

PARAMETERS = {
    "length": [20, 50],
    "learning_rate": [3e-3, 1e-2, 3e-2],
    "rounds": 60,  # of 50 steps
    "seed": [0, 1, 2],
}
SHORT = {"rounds": 1}


def measure(length: int, learning_rate: float, rounds: int, seed: int) -> dict:
    torch.manual_seed(seed)
    model = SequenceClassifier(4, 8, RNN(8, 112), 4)
    how = {"learning_rate": learning_rate, "rounds": rounds, "seed": seed}
    steps, right = train_recall(model, length, **how)
    return {"steps": steps, "test": right}
