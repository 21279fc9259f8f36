"""Trained models as whole numbers, which `utils.show.views.models` stores for a page.

Shapes: a matrix is (n, d_in), its whole numbers too, its scales (n, 1); a vector is (n,).
"""

import numpy as np
from torch import nn

from utils.pretraining.rounded import round_weight


def in_int8(model: nn.Module) -> dict[str, tuple[np.ndarray, ...]]:
    """What `with_rounded_weights` keeps of a model, as arrays, each weight once.

    Returns: {name: (int8 of (n, d_in), float32 of (n, 1))} of matrices and tables, and of vectors
        {name: (float32 of (n,),)}; of a kernel d_in is C · K · K.
    Raises: ValueError as `round_weight` does.
    """
    found = {}
    for name, weight in model.named_parameters():
        weight = weight.detach().float()
        parts = round_weight(weight.flatten(1)) if weight.dim() > 1 else (weight,)
        found[name] = tuple(part.numpy() for part in parts)
    return found
