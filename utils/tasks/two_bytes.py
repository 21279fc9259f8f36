"""Models in two bytes per weight, for pages that need them exactly and round them themselves.

Each matrix is kept as int8 by row, and what that rounding leaves over, in int8 by row once more:
together they are off by at most a 64,516th of a row's largest number.
"""

from collections.abc import Mapping

import numpy as np
import torch
from torch import nn

from utils.pretraining.rounded import round_weight

REST = ".rest"  # behind the name of what the first rounding leaves over
Weights = Mapping[str, tuple[np.ndarray, ...]]


def in_two_bytes(model: nn.Module) -> dict[str, tuple[np.ndarray, ...]]:
    """A model's weights for `utils.show.views.models.store`, each once, under its name.

    Returns: of a matrix two entries, NAME and NAME.rest, (int8 of (n, d_in), float32 of (n, 1))
        each; of a vector {name: (float32 of (n,),)}.
    Raises: ValueError as `round_weight` does.
    """
    found = {}
    for name, weight in model.named_parameters():
        weight = weight.detach().float()
        if weight.dim() == 1:
            found[name] = (weight.numpy(),)
            continue
        coarse = round_weight(weight)
        fine = round_weight(weight - coarse.scale * coarse.whole)
        for end, rounded in (("", coarse), (REST, fine)):
            found[name + end] = tuple(part.numpy() for part in rounded)
    return found


@torch.no_grad()
def restored(model: nn.Module, weights: Weights) -> nn.Module:
    """Give a model the weights that `in_two_bytes` or `in_int8` kept; return it in evaluation mode.

    Raises: ValueError if these are not the weights of such a model.
    """
    own = {  # kernels are kept as rows
        name: weight.flatten(1) if weight.dim() > 2 else weight
        for name, weight in model.named_parameters()
    }
    kept = {name: sum_of(weights, name) for name in weights if not name.endswith(REST)}
    unlike = sorted(
        name
        for name in own.keys() | kept.keys()
        if name not in own or name not in kept or own[name].shape != kept[name].shape
    )
    if unlike:
        raise ValueError(f"The stored weights are of another model: see {', '.join(unlike[:3])}.")
    for name, weight in own.items():
        weight.copy_(kept[name])
    return model.eval()


def sum_of(weights: Weights, name: str) -> torch.Tensor:
    """A weight as real numbers: scale · whole, and the rest if it was kept."""
    parts = [weights[name], *([weights[name + REST]] if name + REST in weights else [])]
    return sum(torch.tensor(part[0] * part[1] if len(part) == 2 else part[0]) for part in parts)
