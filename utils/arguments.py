"""What the layers refuse: each check of an argument, once, with its sentence."""

from numbers import Integral

import torch
from torch import Tensor


def is_whole(x: object) -> bool:
    """Return whether this is a tensor of whole numbers."""
    kinds = (torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64)
    return isinstance(x, Tensor) and x.dtype in kinds


def described(x: object) -> str:
    """Return what to call a wrong argument: a tensor by shape and numbers, the rest by type."""
    return f"{tuple(x.shape)} of {x.dtype}" if isinstance(x, Tensor) else f"a {type(x).__name__}"


def check_sizes(**sizes: int) -> None:
    """Raise a ValueError if a size is not a whole number of at least 1."""
    for name, size in sizes.items():
        if not isinstance(size, Integral) or size < 1:
            raise ValueError(f"{name} is a whole number of at least 1, got {size!r}.")


def check_share(name: str, value: float) -> None:
    """Raise a ValueError if a share is not from 0 to below 1."""
    if not 0 <= value < 1:
        raise ValueError(f"{name} is a share from 0 to below 1, got {value}.")


def check_choice(name: str, value: object, known: object) -> None:
    """Raise a ValueError if a choice is not among those that are known."""
    if value not in known:
        raise ValueError(f"Unknown {name} {value!r}: choose one of {', '.join(map(repr, known))}.")


def check_at_least(least: int, name: str, value: int) -> None:
    """Refuse a size that is too small."""
    if value < least:
        raise ValueError(f"{name} has to be at least {least}, got {value}.")


def check_sequences(x: Tensor, input_size: int, lengths: Tensor | None) -> None:
    """Raise a ValueError if there is nothing to read, or if sequences and lengths disagree."""
    if not isinstance(x, Tensor) or x.dim() != 3 or x.shape[2] != input_size:
        raise ValueError(f"Expected sequences (B, T, {input_size}), got {described(x)}.")
    batch_size, T, _ = x.shape
    if batch_size == 0 or T == 0:
        raise ValueError(f"There is no step to read in an input of shape {tuple(x.shape)}.")
    if lengths is None:
        return
    if not is_whole(lengths) or lengths.shape != (batch_size,):
        raise ValueError(
            f"Expected a tensor of {batch_size} whole lengths, one for each sequence, "
            f"got {described(lengths)}."
        )
    shortest, longest = int(lengths.min()), int(lengths.max())
    if shortest < 1:
        raise ValueError(
            f"A length is {shortest}, and a sequence without a step has no last state: "
            "leave empty sequences out of the batch."
        )
    if longest > T:
        raise ValueError(f"A length is {longest}, but the sequences have only {T} steps.")


def check_mask(mask: Tensor, shape: tuple[int, ...]) -> None:
    if not isinstance(mask, Tensor) or mask.dtype != torch.bool:
        kind = mask.dtype if isinstance(mask, Tensor) else type(mask).__name__
        raise ValueError(
            f"A mask is a boolean tensor, True where attention is allowed, got {kind}: compare "
            "first, as in `ids != PAD`."
        )
    sizes = zip(reversed(mask.shape), reversed(shape), strict=False)
    if mask.dim() > len(shape) or any(ours not in (1, theirs) for ours, theirs in sizes):
        raise ValueError(
            f"A mask of shape {tuple(mask.shape)} does not broadcast to the scores "
            f"{tuple(shape)}: one for each source is (B, 1, S)."
        )
