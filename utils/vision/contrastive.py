"""Day 12: pictures and sentences in one space: which belong together, and which fits best.

Shapes: features (B, E) of any length; only their direction counts. Row i of pictures and row i of
sentences belong together.
"""

import torch
from torch import Tensor
from torch.nn import functional as F


def cosines(image_features: Tensor, text_features: Tensor) -> Tensor:
    """Return how well each picture fits each sentence, -1..1. Shapes: (B, E), (n, E) to (B, n).

    Raises: ValueError if the features aren't two tables of one width and of one
        floating-point type.
    """
    shapes = tuple(image_features.shape), tuple(text_features.shape)
    if {len(shape) for shape in shapes} != {2} or shapes[0][1] != shapes[1][1]:
        raise ValueError(f"Expected features (B, E) and (n, E), got {shapes[0]} and {shapes[1]}.")
    kinds = image_features.dtype, text_features.dtype
    is_mixed = kinds[0] != kinds[1] and not torch.is_autocast_enabled(image_features.device.type)
    if is_mixed or not all(kind.is_floating_point for kind in kinds):
        raise ValueError(
            f"Expected features of one floating-point type, got {kinds[0]} and {kinds[1]}: bring "
            "both to it, as in features.float()."
        )
    return F.normalize(image_features, dim=1) @ F.normalize(text_features, dim=1).T


def check_temperature(temperature: float | Tensor) -> None:
    """Raise a ValueError if cosines can't be divided by it."""
    if not torch.compiler.is_compiling() and not temperature > 0:
        raise ValueError(f"The temperature is {temperature}: it has to be positive.")


def _logits(image_features: Tensor, text_features: Tensor, temperature: float | Tensor) -> Tensor:
    check_temperature(temperature)
    return cosines(image_features, text_features) / temperature


def contrastive_loss(
    image_features: Tensor, text_features: Tensor, temperature: float | Tensor
) -> Tensor:
    """Return the mean of two cross-entropies: of each picture's sentence, each sentence's picture.

    (Radford et al., 2021, fig. 3; after van den Oord et al., 2018, and Zhang et al., 2020.)
    Shapes: features (B, E) of both to one number.
    Raises: ValueError as `cosines` does, or if there isn't one sentence for each picture, or no
        pair, or the temperature isn't positive.
    """
    logits = _logits(image_features, text_features, temperature)  # (B, B)
    if logits.shape[0] != logits.shape[1] or not logits.numel():
        raise ValueError(f"{logits.shape[0]} pictures and {logits.shape[1]} sentences: no pairs.")
    own = torch.arange(len(logits), device=logits.device)
    return (F.cross_entropy(logits, own) + F.cross_entropy(logits.T, own)) / 2


def zero_shot(image_features: Tensor, text_features: Tensor, temperature: float | Tensor) -> Tensor:
    """Return the probability of each sentence, for each picture (ibid., §3.1.2).

    Shapes: pictures (B, E), sentences (n, E) to (B, n).
    Raises: ValueError as `cosines` does, or if the temperature isn't positive.
    """
    return _logits(image_features, text_features, temperature).softmax(dim=1)
