"""What a layer of each kind costs as sequences grow: operations and seconds of a training step.

One layer of width 128 forward and backward, by its input and its parameters. "products" counts
matrix products alone, "work" everything, "chain" the operations of the forward pass that have to
wait for each other. Attention has 4 heads and the fused kernel, the encoder block has attention and
a feed-forward layer 512 wide, a kernel of the convolution covers 3 positions; "library's GRU" is
nn.GRU. Seconds are of processor time on one thread, the least of a few repeats.
"""

import torch
from torch import Tensor, nn

from utils.measure.costs import seconds, work
from utils.measure.graphs import longest_chain
from utils.recurrent import GRU, RNN
from utils.self_attention import MultiHeadAttention
from utils.transformer import EncoderBlock, TransformerConfig


class Convolution(nn.Conv1d):
    """Over time: (B, T, D) to the same."""

    def forward(self, x: Tensor) -> tuple[Tensor]:
        return (super().forward(x.mT).mT,)


def encoder_block(width: int) -> EncoderBlock:
    config = TransformerConfig(1, d_model=width, n_heads=4, d_ff=4 * width, dropout=0.0)
    return EncoderBlock(config)


LAYERS = {
    "RNN": lambda width: RNN(width, width),
    "GRU": lambda width: GRU(width, width),
    "library's GRU": lambda width: nn.GRU(width, width, batch_first=True),
    "convolution": lambda width: Convolution(width, width, 3, padding=1),
    "attention": lambda width: MultiHeadAttention(width, 4),
    "encoder block": encoder_block,
}
PARAMETERS = {
    "layer": list(LAYERS),
    "T": [16, 32, 64, 128, 256, 512, 1024, 2048, 4096],
    "width": 128,
    "batch_size": 4,
}
SHORT = {}
SECONDS = ("seconds",)


def measure(layer: str, T: int, width: int, batch_size: int) -> dict:
    torch.manual_seed(0)
    model = LAYERS[layer](width)
    x = torch.randn(batch_size, T, width, requires_grad=True)
    leaves = [x, *model.parameters()]

    def step() -> None:
        y = model(x)[0]
        torch.autograd.grad(y, leaves, torch.ones_like(y))

    counted = work(step)
    return {
        "products": counted.products,
        "work": counted.total,
        "chain": longest_chain(model(x)[0]),
        "parameters": sum(weight.numel() for weight in model.parameters()),
        "seconds": seconds(step),
    }
