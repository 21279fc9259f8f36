"""A language model writes: Day 7's cache, and Day 2's ways to choose a token."""

import torch
from torch import Tensor

from utils.arguments import check_ids, check_lengths
from utils.language import cached_step
from utils.training.sampling import chooser
from utils.training.sampling import generate as go_on
from utils.transformer import DecoderOnly


def generate(
    model: DecoderOnly,
    ids: Tensor,
    n: int,
    *,
    tau: float = 1.0,
    k: int | None = None,
    p: float = 1.0,
    end: int | None = None,
    lengths: Tensor | None = None,
    generator: torch.Generator | None = None,
) -> Tensor:
    """Go on with each prompt for n tokens, in evaluation mode.

    tau, k, p: temperature, top-k and top-p, in this order, as `sampling.chooser` takes them.
    end: a text that has said this token says nothing else; when all have, it is over.
    lengths: how many tokens of each prompt are real, (B,); what stands in front is padding.
    Shapes: ids (B, T) to what follows, (B, ≤ n).
    Raises: ValueError if a prompt is empty, the last token but one would exceed the model's
        context, ids are not of the vocabulary, lengths do not fit, or tokens can't be chosen so.
    """
    check_ids(ids, model.config.vocab_size)
    if not ids.shape[1]:
        raise ValueError("The prompt is empty: begin with one token at least.")
    T, padding = ids.shape[1], None
    if lengths is not None:
        check_lengths(lengths, len(ids), T)
        padding = T - lengths
    choose, training = chooser(tau, k, p, generator), model.training
    step = cached_step(model, T + n - 1, padding)  # what is written last is not read
    model.eval()
    try:
        return go_on(step, ids[:, :-1], ids[:, -1], n, choose, end)
    finally:
        model.train(training)
