"""What the layers refuse: each check of an argument, once, with its sentence.

What has to read values, such as the largest id, is left out while `torch.compile` traces: there it
would stop the device once a step.
"""

import math
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
        if isinstance(size, bool) or not isinstance(size, Integral) or size < 1:
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


# Days 2 and 3 -------------------------------------------------------------------------------------


def check_sequences(x: Tensor, input_size: int, lengths: Tensor | None) -> None:
    """Raise a ValueError if there is nothing to read, or if sequences and lengths disagree."""
    if not isinstance(x, Tensor) or x.dim() != 3 or x.shape[2] != input_size:
        raise ValueError(f"Expected sequences (B, T, {input_size}), got {described(x)}.")
    batch_size, T, _ = x.shape
    if T == 0:
        raise ValueError(f"There is no step to read in an input of shape {tuple(x.shape)}.")
    if lengths is not None:
        check_lengths(lengths, batch_size, T)


def check_lengths(lengths: Tensor, batch_size: int, T: int) -> None:
    """Raise a ValueError if lengths do not fit sequences; a compiled step does not read them."""
    if not is_whole(lengths) or lengths.shape != (batch_size,):
        raise ValueError(
            f"Expected a tensor of {batch_size} whole lengths, one for each sequence, "
            f"got {described(lengths)}."
        )
    if batch_size == 0 or torch.compiler.is_compiling():
        return
    shortest, longest = int(lengths.min()), int(lengths.max())
    if shortest < 1:
        raise ValueError(
            f"A length is {shortest}, and a sequence without a step has no last state: "
            "leave empty sequences out of the batch."
        )
    if longest > T:
        raise ValueError(f"A length is {longest}, but the sequences have only {T} steps.")


def check_ids(ids: Tensor, vocab_size: int) -> None:
    """Raise a ValueError if ids are not whole numbers (B, T) of the vocabulary."""
    if not is_whole(ids) or ids.dim() != 2:
        raise ValueError(f"Expected a tensor of whole ids (B, T), got {described(ids)}.")
    if torch.compiler.is_compiling() or not ids.numel():
        return
    smallest, largest = (int(end) for end in ids.aminmax())
    if smallest < 0 or largest >= vocab_size:
        raise ValueError(
            f"Ids run from 0 to {vocab_size - 1} in this vocabulary, got "
            f"{smallest if smallest < 0 else largest}."
        )


# Choosing a symbol --------------------------------------------------------------------------------


def check_logits(logits: Tensor) -> None:
    """Raise a ValueError if a row of logits (..., V) leaves nothing to choose from."""
    if logits.ndim == 0 or logits.shape[-1] == 0:
        raise ValueError(f"Expected logits (…, V), got {tuple(logits.shape)}: there is no symbol.")
    if not logits.max(dim=-1).values.isfinite().all():
        raise ValueError(
            "A row of logits has NaN or +inf, or -inf alone: there is no distribution to draw from."
        )


def check_temperature(tau: float, logits: Tensor) -> None:
    """Raise a ValueError if a temperature is not positive, or too small for these logits."""
    if not 0 < tau < math.inf:
        raise ValueError(
            f"The temperature is {tau}: it has to be positive; the limit at 0 is logits.argmax(-1)."
        )
    if not (logits / tau).max(dim=-1).values.isfinite().all():
        raise ValueError(
            f"The temperature is {tau}: the best of these logits, divided by it, is not finite; "
            "the limit at 0 is logits.argmax(-1)."
        )


# Day 4 --------------------------------------------------------------------------------------------


def check_target(target: Tensor, n_sources: int) -> None:
    """Raise a ValueError if there is not a target (B, T) of some symbols for each source."""
    if target.dim() != 2 or len(target) != n_sources or not target.shape[1]:
        raise ValueError(
            f"Expected a target of at least one symbol for each of {n_sources} sources, "
            f"got {tuple(target.shape)}."
        )


def check_mask(mask: Tensor, shape: tuple[int, ...]) -> None:
    """Raise a ValueError if a mask does not fit scores of this shape, (B, T, S) or (B, h, T, S)."""
    if not isinstance(mask, Tensor) or mask.dtype != torch.bool:
        kind = mask.dtype if isinstance(mask, Tensor) else type(mask).__name__
        raise ValueError(
            f"A mask is a boolean tensor, True where attention is allowed, got {kind}: compare "
            "first, as in `ids != PAD`."
        )
    if len(shape) == 4 and mask.dim() == 3 and mask.shape[0] > 1:  # B = h would fit in silence
        raise ValueError(
            f"A mask of three axes, {tuple(mask.shape)}, leaves open whether the first counts "
            "sequences or heads: write mask[:, None] for sequences, mask[None] for heads."
        )
    sizes = zip(reversed(mask.shape), reversed(shape), strict=False)
    if mask.dim() > len(shape) or any(ours not in (1, theirs) for ours, theirs in sizes):
        each = "source" if len(shape) == 3 else "sequence"
        raise ValueError(
            f"A mask of shape {tuple(mask.shape)} does not broadcast to the scores "
            f"{tuple(shape)}: one for each {each} is (B, {'1, ' * (len(shape) - 2)}S)."
        )


# Days 5 to 7 --------------------------------------------------------------------------------------


def check_heads(query: Tensor, key: Tensor, value: Tensor, shared: bool) -> None:
    """Raise a ValueError if these are no heads; shared: there may be fewer of keys and values."""
    fitting = (
        query.dim() == key.dim() == value.dim() == 4
        and 0 not in (*query.shape[1:], *key.shape[1:], *value.shape[1:])
        and query.shape[0] == key.shape[0]
        and query.shape[1] % key.shape[1] == 0
        and (shared or query.shape[1] == key.shape[1])
        and query.shape[3] == key.shape[3]
        and key.shape[:3] == value.shape[:3]
    )
    if not fitting:
        h, fewer = ("n_kv", ", h a multiple of n_kv,") if shared else ("h", "")
        shapes = ", ".join(str(tuple(x.shape)) for x in (query, key, value))
        raise ValueError(
            f"Expected queries (B, h, T, d_k), keys (B, {h}, S, d_k) and values (B, {h}, S, d_v), "
            f"none of them empty{fewer} got {shapes}."
        )


def check_head_counts(d_model: int, n_heads: int, n_kv_heads: int | None) -> None:
    """Raise a ValueError if heads do not divide the width, or those of keys those of queries."""
    if d_model % n_heads:
        raise ValueError(f"{n_heads} heads do not divide a width of {d_model}.")
    if n_heads % (n_kv_heads or n_heads):
        raise ValueError(f"{n_kv_heads} heads of keys do not divide {n_heads} of queries.")


def check_width(x: Tensor, width: int) -> None:
    """Raise a ValueError if what stands at each position has another width."""
    if x.shape[-1] != width:
        raise ValueError(f"Expected (..., {width}), got {tuple(x.shape)}.")


def check_plain(layer: object, kind: type) -> None:
    """Raise a ValueError if a layer is of a kind that may compute something else."""
    if type(layer) is not kind:
        raise ValueError(
            f"Expected a plain {kind.__name__}, got a {type(layer).__name__}: merge or take off "
            "first what was put on it."
        )


def check_no_memory(memory: object) -> None:
    """Raise a ValueError if a layer of self-attention alone is to look at another sequence."""
    if memory is not None:
        raise ValueError("This layer looks at its own sequence alone: leave the memory out.")
