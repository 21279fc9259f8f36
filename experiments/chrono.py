"""Does an LSTM of 32 units learn to recall the first of 30 symbols within 250 steps?

Its forget gates begin with a bias of 0, of 1, or with one of its own for each unit (chrono
initialisation, Tallec and Ollivier, 2018).
"""

import torch

from utils.recurrent import LSTM, SequenceClassifier
from utils.tasks.memory import train_recall

PARAMETERS = {
    "start": ["bias 0", "bias 1", "chrono"],
    "rounds": 5,  # of 50 steps
    "seed": list(range(5)),
}
SHORT = {"rounds": 1}


def measure(start: str, rounds: int, seed: int) -> dict:
    torch.manual_seed(seed)
    layer = LSTM(8, 32, forget_bias=1.0 if start == "bias 1" else 0.0)
    if start == "chrono":
        with torch.no_grad():
            logs = (1 + 28 * torch.rand(32)).log()  # of times from 1 to 29 steps
            layer.b[:32], layer.b[32:64] = -logs, logs
    model = SequenceClassifier(4, 8, layer, 4)
    steps, right = train_recall(model, 30, seed=seed, rounds=rounds)
    return {"steps": steps, "test": right}
