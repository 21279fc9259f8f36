"""Day 15: Transformers with weights that are set by hand, of Day 6's blocks without their norms.

Attention with scores of 0 takes the mean over what it sees. That counts: shares of positions.
Where a machine needs its position, it is given as a fraction of the length, as in Chiang & Cholak
(2022).

Shapes: ids (B, T); inside, sequences are (B, T, D).
"""

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from utils.arguments import check_sizes
from utils.computation.transducers import check_word
from utils.transformer import EncoderBlock, Parts, TransformerConfig


@torch.no_grad()
def bare_block(d_model: int, n_heads: int = 1, d_ff: int = 1) -> EncoderBlock:
    """Return a block of Day 6 without norms, whose weights are all 0: it passes on what it reads.

    Raises: ValueError if a size is below 1, or the heads do not divide the width.
    """
    config = TransformerConfig(
        1, d_model=d_model, n_heads=n_heads, d_ff=d_ff, n_layers=1, norm="pre", dropout=0.0
    )
    block = EncoderBlock(config, Parts(norm=lambda width: nn.Identity()))
    for weight in block.parameters():
        weight.zero_()
    return block.requires_grad_(False).eval()


def one_hot(ids: Tensor, n_symbols: int, dtype: torch.dtype) -> Tensor:
    """Return a row for each symbol, 1 in its column. Shapes: (B, T) to (B, T, n_symbols).

    Raises: ValueError if ids are not whole numbers from 0 to n_symbols - 1, or a word is empty.
    """
    check_word(ids, n_symbols)
    return (ids[:, :, None] == torch.arange(n_symbols)).to(dtype)


class MajorityTransformer(nn.Module):
    """Say after each symbol whether there were more ones than zeros: one head, no feed-forward.

    A one counts 1, a zero -1, and a start before the word -1/2, so that the mean is never 0.
    Shapes: ids (B, T) to logits (B, T, 2).
    Raises: ValueError if ids are not 0 or 1, or a word is empty.
    """

    def __init__(self, dtype: torch.dtype = torch.float32):
        super().__init__()
        self.block = bare_block(2)
        attention = self.block.self_attention
        attention.W_in[4, 0] = 1.0  # the value's first number: W_in has W_q, W_k, W_v, 2 rows each
        attention.W_o.weight[1, 0] = 1.0  # goes to the second column
        self.dtype = dtype
        self.to(dtype)

    def forward(self, ids: Tensor) -> Tensor:
        zeros, ones = one_hot(ids, 2, self.dtype).unbind(dim=-1)
        x = F.pad((ones - zeros)[:, :, None], (0, 1, 1, 0))  # a column for the mean, and the start
        x[:, 0, 0] = -0.5
        mean = self.block(x, is_causal=True)[0][:, 1:, 1]  # (B, T)
        return torch.stack([torch.zeros_like(mean), mean], dim=-1)


class SortingTransformer(nn.Module):
    """Write the symbols of a sequence in order, smallest first: one head and the output.

    It counts, as counting sort does. The head finds the share C_v of symbols up to v. Position t,
    p = (t + 1/2) / T of the way, has to show the first v with C_v > p. The logit of v is
    Σ_{u<v} (p - C_u): it grows with v as long as C_u < p, and falls after.
    Shapes: ids (B, T) to logits (B, T, n_symbols).
    Raises: ValueError if n_symbols is below 1, ids are not whole numbers below it, or a word is
        empty.
    """

    def __init__(self, n_symbols: int, dtype: torch.dtype = torch.float32):
        super().__init__()
        check_sizes(n_symbols=n_symbols)
        V, D = n_symbols, 2 * n_symbols + 1  # symbols, their shares up to each, the position
        self.block = bare_block(D)
        attention, at = self.block.self_attention, torch.arange(V)
        attention.W_in[2 * D :][:V, :V] = torch.ones(V, V).tril()  # is the symbol at most v?
        attention.W_o.weight[V + at, at] = 1.0
        self.output = nn.Linear(D, V, bias=False).requires_grad_(False)
        self.output.weight.zero_()
        self.output.weight[:, V : 2 * V] = -torch.ones(V, V).tril(-1)  # u < v
        self.output.weight[:, 2 * V] = at.float()
        self.n_symbols, self.dtype = n_symbols, dtype
        self.to(dtype)

    def forward(self, ids: Tensor) -> Tensor:
        symbols, T = one_hot(ids, self.n_symbols, self.dtype), ids.shape[1]
        p = ((torch.arange(T, dtype=torch.float64) + 0.5) / T).to(self.dtype)
        rest = torch.cat([torch.zeros_like(symbols), p.expand(len(ids), T)[:, :, None]], dim=-1)
        return self.output(self.block(torch.cat([symbols, rest], dim=-1))[0])


class ParityTransformer(nn.Module):
    """Say whether a word has an odd number of ones: two blocks (Chiang & Cholak, 2022, §3).

    A start comes before n symbols, N = n + 1. The first block's head finds k/N, the share of ones,
    and 1/N. At position i its feed-forward layer turns k/N - i/N into a peak, which is 1/N where
    i = k and 0 elsewhere. The second block's heads look at the even and at the odd positions; the
    one that finds more of the peak is right.
    The two answers differ by about 2/N², and numbers have to resolve that.
    Shapes: ids (B, T) to logits (B, 2).
    Raises: ValueError if ids are not 0 or 1, or a word is empty.
    """

    COLUMNS = "one start place sign share step peak even odd spare".split()

    def __init__(self, dtype: torch.dtype = torch.float32):
        super().__init__()
        at = self.at = {name: column for column, name in enumerate(self.COLUMNS)}
        D = len(at)
        self.counts, self.compares = bare_block(D, d_ff=3), bare_block(D, n_heads=2)
        attention, layer = self.counts.self_attention, self.counts.feed_forward
        for value, (read, written) in enumerate([("one", "share"), ("start", "step")]):
            attention.W_in[2 * D + value, at[read]] = 1.0
            attention.W_o.weight[at[written], value] = 1.0
        for unit, (steps, height) in enumerate([(1.0, 1.0), (0.0, -2.0), (-1.0, 1.0)]):
            layer.W_1.weight[unit, at["share"]] = 1.0
            layer.W_1.weight[unit, at["place"]] = -1.0
            layer.W_1.weight[unit, at["step"]] = steps
            layer.W_2.weight[at["peak"], unit] = height
        attention = self.compares.self_attention
        for head, (name, sign) in enumerate([("even", 1.0), ("odd", -1.0)]):
            first = head * D // 2  # of the head's rows
            attention.b_in[first] = 5.0  # the same query everywhere
            attention.W_in[D + first, at["sign"]] = sign
            attention.W_in[2 * D + first, at["peak"]] = 1.0
            attention.W_o.weight[at[name], first] = 1.0
        self.dtype = dtype
        self.to(dtype)

    def forward(self, ids: Tensor) -> Tensor:
        check_word(ids, 2)
        i, width = torch.arange(ids.shape[1] + 1), len(self.COLUMNS)
        x = torch.zeros(len(ids), len(i), width, dtype=self.dtype)
        x[:, 1:, self.at["one"]] = ids.to(self.dtype)
        x[:, 0, self.at["start"]] = 1.0
        x[:, :, self.at["place"]] = (i.double() / len(i)).to(self.dtype)
        x[:, :, self.at["sign"]] = (1 - 2 * (i % 2)).to(self.dtype)
        x = self.compares(self.counts(x)[0])[0]
        return x[:, 0, [self.at["even"], self.at["odd"]]]
