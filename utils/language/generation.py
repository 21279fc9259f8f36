"""Day 9: a language model goes on with a text, and reads each token once."""

from collections.abc import Callable

import torch
from torch import Tensor

from utils.efficient import KVCache
from utils.transformer import DecoderOnly

Step = Callable[[Tensor, Tensor], tuple[Tensor, Tensor]]


def cached_step(model: DecoderOnly, max_len: int, padding: Tensor | None = None) -> Step:
    """Return a step that reads what is new, and has all that it read before in Day 7's caches.

    The step takes tokens (B,) and what stands before them and is unread yet, (B, T), T ≥ 0, to
    logits (B, V) of what follows, and (B, 0): nothing is unread. So `training.sampling.generate`
    begins with a prompt's last tokens and the rest of the prompt. Positions count on from step to
    step.
    max_len: how many tokens it can read in all.
    padding: how many of the first tokens of each text are padding in front, (B,).
    Raises: ValueError if max_len exceeds the model's context; the step, if a text exceeds max_len.
    """
    if max_len > model.config.max_len:
        raise ValueError(
            f"{max_len} tokens are to be read, and the model's context is {model.config.max_len}: "
            "shorten the prompt, or write less."
        )
    caches = [KVCache(max_len) for _ in range(model.config.n_layers)]

    @torch.no_grad()
    def step(tokens: Tensor, unread: Tensor) -> tuple[Tensor, Tensor]:
        ids = torch.cat([unread, tokens[:, None]], dim=1)
        read = caches[0].length + ids.shape[1]
        logits, _ = model.read(ids, caches, lengths=None if padding is None else read - padding)
        return logits[:, -1], unread[:, :0]

    return step
