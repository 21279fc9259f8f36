"""Day 9: the norm without a mean, beside nn.RMSNorm and beside the norm that it replaces.

The second pair does not compute the same. The question is whether the norm that has less to do
takes less time, beside a kernel that does everything in one piece.
"""

from functools import partial

import torch
from torch import nn

from benchmarks.runner import Case, with_parameters
from utils.language import RMSNorm

B, T, D = 8, 64, 256
draw = partial(torch.randn, generator=torch.Generator().manual_seed(0))
GIVEN = draw(B, T, D), draw(D)


def case(name: str, library: nn.Module, same: bool) -> Case:
    ours, theirs = (with_parameters(norm, ["weight"]) for norm in (RMSNorm(D), library))
    return Case(f"{name}, {B}×{T}×{D}", ours, theirs, GIVEN, same=same)


CASES = [
    case("RMSNorm", nn.RMSNorm(D, eps=1e-5), same=True),
    case("RMSNorm beside nn.LayerNorm", nn.LayerNorm(D, bias=False), same=False),
]
