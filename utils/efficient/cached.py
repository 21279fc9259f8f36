"""Caching: in generation, the keys and values of earlier positions are kept, not computed again."""

import torch
from torch import Tensor

from utils.arguments import check_at_least


class KVCache:
    """Hold the keys and values of up to `max_len` positions, in memory that is taken once.

    After `reset` it takes another sequence, or another batch. No gradient passes through it.
    Raises: ValueError if max_len < 1.
    """

    def __init__(self, max_len: int):
        check_at_least(1, "max_len", max_len)
        self.max_len = max_len
        self.length = 0  # positions that are held
        self._keys = self._values = torch.empty(0)

    def append(self, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
        """Put T further positions behind those that are held.

        Shapes: key (B, h, T, d_k), value (B, h, T, d_v).
        Returns: all keys (B, h, length, d_k) and all values (B, h, length, d_v).
        Raises: ValueError if they don't fit those that are held, there is no room for them, or they
        need a gradient.
        """
        if key.dim() != 4 or value.dim() != 4 or key.shape[:3] != value.shape[:3]:
            raise ValueError(
                "Expected a key (B, h, T, d_k) and a value (B, h, T, d_v), got "
                f"{tuple(key.shape)} and {tuple(value.shape)}."
            )
        if torch.is_grad_enabled() and (key.requires_grad or value.requires_grad):
            raise ValueError("No gradient passes through a cache: use it under torch.no_grad().")
        if self.length == 0:
            self._keys, self._values = (self._room(x) for x in (key, value))
        for held, new in ((self._keys, key), (self._values, value)):
            if _all_but_length(held) != _all_but_length(new):
                raise ValueError(
                    f"The cache holds (B, h, d, type) = {_all_but_length(held)}, got "
                    f"{_all_but_length(new)}: reset() it before another batch or type."
                )
        end = self.length + key.shape[2]
        if end > self.max_len:
            raise ValueError(
                f"The context is {self.max_len} positions: {self.length} are held, "
                f"{key.shape[2]} more don't fit."
            )
        self._keys[:, :, self.length : end] = key
        self._values[:, :, self.length : end] = value
        self.length = end
        return self._keys[:, :, :end], self._values[:, :, :end]

    def reset(self) -> None:
        """Forget all positions."""
        self.length = 0

    def _room(self, x: Tensor) -> Tensor:
        B, h, _, d = x.shape
        return x.new_empty(B, h, self.max_len, d)


def _all_but_length(x: Tensor) -> tuple[int, int, int, torch.dtype]:
    B, h, _, d = x.shape
    return B, h, d, x.dtype
