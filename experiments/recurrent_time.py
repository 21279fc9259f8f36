"""What a recurrent layer of the library costs when the same work is cut into more, smaller steps.

B·T stays at 12,800 symbols, so the work does; only the number of steps that wait for each other
grows. For the LSTM alone the library has, on most processors, a kernel of its own; "alike" are both
without it. Milliseconds of processor time for forward and backward pass, the quickest of several
rounds, on one thread.
"""

import time

import torch
from torch import nn

PARAMETERS = {
    "layer": ["RNN", "GRU", "LSTM", "GRU, alike", "LSTM, alike"],
    "length": [10, 25, 50, 100, 200, 400, 800],
    "hidden_size": 64,
    "symbols": 12_800,
}
ROUNDS = 7
SECONDS = ("milliseconds",)


def measure(layer: str, length: int, hidden_size: int, symbols: int) -> dict:
    torch.manual_seed(0)
    kind, _, alike = layer.partition(", ")
    model = getattr(nn, kind)(hidden_size, hidden_size, batch_first=True)
    x = torch.randn(symbols // length, length, hidden_size)
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        with torch.backends.mkldnn.flags(enabled=not alike):
            quickest = min(seconds(model, x) for _ in range(ROUNDS))
    finally:
        torch.set_num_threads(threads)
    return {"milliseconds": 1000 * quickest}


def seconds(model: nn.Module, x: torch.Tensor) -> float:
    start = time.process_time()
    outputs, _ = model(x)
    outputs.sum().backward()
    return time.process_time() - start
