"""Day 4: writing a target that is not known: greedy decoding and beam search.

What BOS and EOS are, the model says: `model.bos` and `model.eos`.
Shapes: source (B, S) holds ids, lengths (B,) count them. W is the beam's width.
"""

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor

from utils.arguments import check_logits
from utils.attention import Memory
from utils.recurrent import State, each
from utils.seq2seq.models import PAD, Seq2Seq, shift


@contextmanager
def _inference(model: Seq2Seq) -> Iterator[None]:
    """Switch off dropout and gradients for a while."""
    training = model.training
    model.eval()
    try:
        with torch.no_grad():
            yield
    finally:
        model.train(training)


def _next_log_probabilities(
    model: Seq2Seq, token: Tensor, state: State, memory: Memory | None, need_weights: bool = False
) -> tuple[Tensor, State, Tensor | None]:
    """Take one step for tokens (B,); what no target contains (PAD, BOS) can't be chosen."""
    logits, state, weights = model.decoder(token[:, None], state, memory, need_weights)
    log_p = logits[:, 0].log_softmax(dim=-1)  # (B, V)
    log_p[:, [PAD, model.bos]] = -torch.inf
    check_logits(log_p)
    return log_p, state, weights


def greedy_decode(
    model: Seq2Seq, source: Tensor, lengths: Tensor, max_len: int, need_weights: bool = False
) -> Tensor | tuple[Tensor, Tensor]:
    """Choose the most probable symbol at each step, until all have ended or max_len is reached.

    Returns: ids (B, T ≤ max_len), EOS included, PAD behind it; with them, if needed, the weights
    (B, T, S), which are 0 behind EOS.
    """
    check_search(source, max_len)
    with _inference(model):
        state, memory = model.encode(source, lengths)
        token = source.new_full((len(source),), model.bos)
        ended = torch.zeros_like(token, dtype=torch.bool)
        ids, alignment = [], []
        while len(ids) < max_len and not ended.all():
            log_p, state, weights = _next_log_probabilities(
                model, token, state, memory, need_weights
            )
            token = log_p.argmax(dim=-1).masked_fill(ended, PAD)
            ids.append(token)
            if need_weights:
                alignment.append(weights.masked_fill(ended[:, None, None], 0))
            ended = ended | (token == model.eos)
        ids = torch.stack(ids, dim=1)
        return (ids, torch.cat(alignment, dim=1)) if need_weights else ids


def forced_weights(model: Seq2Seq, source: Tensor, lengths: Tensor, target: Tensor) -> Tensor:
    """Return the weights (B, T, S) with which a model writes a target (B, T) that is given."""
    with _inference(model):
        target_in = shift(target, model.bos)
        logits, weights = model(source, lengths, target_in, need_weights=True)
    check_logits(logits)
    return weights


def _choose(state: State, rows: Tensor) -> State:
    """Return the state that consists of these rows."""
    return each(lambda part: part[rows], state)


def beam_search(
    model: Seq2Seq,
    source: Tensor,
    lengths: Tensor,
    width: int,
    max_len: int,
    length_penalty: float = 0.0,
) -> tuple[Tensor, Tensor]:
    """Keep the `width` most probable beginnings at each step (Sutskever et al., 2014, §3.2).

    What ends with EOS leaves the beam and competes by log p(y) / |y|^length_penalty, where |y|
    counts EOS. A beginning that max_len cuts off is returned only if none of its beam has ended.

    Returns: ids of the best (B, T ≤ max_len), EOS included, PAD behind it, and its score (B,).
    Raises: ValueError if the width or max_len is below 1, or the penalty is negative.
    """
    check_search(source, max_len)
    if width < 1 or length_penalty < 0:
        raise ValueError(
            f"A beam is at least 1 wide and its length penalty at least 0, got {width} and "
            f"{length_penalty}."
        )
    B, dtype = len(source), model.decoder.output.weight.dtype
    with _inference(model):
        state, memory = model.encode(source, lengths)
        first = torch.arange(B, device=source.device)[:, None]  # the first row of each beam
        rows = first.expand(-1, width).flatten()  # B·W rows, a sentence's beam side by side
        state = _choose(state, rows)
        memory = None if memory is None else Memory(*(part[rows] for part in memory))
        first = first * width

        ids = source.new_full((B, width, 0), PAD)
        token = source.new_full((B, width), model.bos)
        alive = source.new_full((B, width), -torch.inf, dtype=dtype)  # log p of the beginnings
        alive[:, 0] = 0
        best_ids = source.new_full((B, max_len), PAD)
        best = source.new_full((B,), -torch.inf, dtype=dtype)
        for t in range(1, max_len + 1):
            log_p, state, _ = _next_log_probabilities(model, token.flatten(), state, memory)
            V = log_p.shape[-1]
            candidates = (alive[..., None] + log_p.view(B, width, V)).flatten(1)
            alive, chosen = candidates.topk(width, dim=1)  # of W·V
            parent, token = chosen // V, chosen % V
            state = _choose(state, (first + parent).flatten())
            ids = torch.cat([ids.gather(1, parent[..., None].expand_as(ids)), token[..., None]], 2)

            ended = alive.masked_fill(token != model.eos, -torch.inf) / t**length_penalty
            score, beam = ended.max(dim=1)
            better = score > best
            best = torch.where(better, score, best)
            best_ids[better, :t] = ids[better, beam[better]]
            alive = alive.masked_fill(token == model.eos, -torch.inf)
            # log p only falls, so no beginning can reach more than it would at max_len
            if (alive.amax(dim=1) / max_len**length_penalty <= best).all():
                break
        score, beam = (alive / t**length_penalty).max(dim=1)
        cut = best == -torch.inf
        best_ids[cut, :t] = ids[cut, beam[cut]]
        longest = (best_ids != PAD).sum(dim=1).max()
        return best_ids[:, :longest], torch.where(cut, score, best)


def check_search(source: Tensor, max_len: int) -> None:
    """Raise a ValueError if there is no source, or a target may have no symbol."""
    if len(source) == 0:
        raise ValueError("There is no source to write a target for.")
    if max_len < 1:
        raise ValueError(f"A target has at least one symbol, got a max_len of {max_len}.")
