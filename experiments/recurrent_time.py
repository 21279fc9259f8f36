"""What a recurrent layer costs when the same work is cut into more, smaller steps.

B·T stays at 12,800 symbols, so the work does; only the number of steps that wait for each other
grows. nn.GRU and nn.LSTM are the library's. For the LSTM alone it has, on most processors, a kernel
of its own; "alike" are both without it. Milliseconds of processor time for forward and backward
pass, the quickest of several rounds, on one thread.
"""

import time
from functools import partial

import torch
from torch import nn

from utils.recurrent import GRU, LSTM, RNN

PARAMETERS = {
    "layer": ["RNN", "GRU", "LSTM", "nn.GRU", "nn.LSTM", "nn.GRU, alike", "nn.LSTM, alike"],
    "length": [10, 25, 50, 100, 200, 400, 800],
    "hidden_size": 64,
    "symbols": 12_800,
}
LAYERS = {
    "RNN": RNN,
    "GRU": GRU,
    "LSTM": LSTM,
    "nn.GRU": partial(nn.GRU, batch_first=True),
    "nn.LSTM": partial(nn.LSTM, batch_first=True),
}
ROUNDS = 7
SECONDS = ("milliseconds",)


def measure(layer: str, length: int, hidden_size: int, symbols: int) -> dict:
    torch.manual_seed(0)
    model = LAYERS[layer.removesuffix(", alike")](hidden_size, hidden_size)
    x = torch.randn(symbols // length, length, hidden_size)
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        with torch.backends.mkldnn.flags(enabled=not layer.endswith("alike")):
            quickest = min(seconds(model, x) for _ in range(ROUNDS))
    finally:
        torch.set_num_threads(threads)
    return {"milliseconds": 1000 * quickest}


def seconds(model: nn.Module, x: torch.Tensor) -> float:
    start = time.process_time()
    outputs, _ = model(x)
    outputs.sum().backward()
    return time.process_time() - start
