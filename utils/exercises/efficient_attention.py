"""Checks of Day 7, and the mistakes that they know."""

import math

import torch
from torch import Tensor
from torch.nn import functional as F

from utils.efficient import window_mask
from utils.efficient.blocks import attend
from utils.exercises.checking import Checker, Exercise, Mistake, Prediction, Stage


def random(*shape: int) -> Tensor:
    """Draw a tensor in double precision, in which mistakes can't hide behind rounding."""
    return torch.randn(*shape, dtype=torch.float64)


def on_grid(*shape: int, step: float = 0.25) -> Tensor:
    """Draw from a grid, so that single precision holds large sums of it, too."""
    return step * torch.randint(-9, 10, shape).double()


def heads(B: int, h: int, T: int, S: int, d_k: int, d_v: int) -> tuple[Tensor, Tensor, Tensor]:
    return random(B, h, T, d_k), random(B, h, S, d_k), random(B, h, S, d_v)


# 7.1 ------------------------------------------------------------------------------------------


def length_where_pairs_cost_half(D: int, F: int) -> int:
    """Return T where 2·T²·D multiply-adds are as many as T·(4·D² + 2·D·F)."""
    return (4 * D**2 + 2 * D * F) // (2 * D)


# 7.2 ------------------------------------------------------------------------------------------


def cache_gib(n_layers: int, n_kv_heads: int, d_k: int, T: int, size: int, kinds: int = 2) -> float:
    return kinds * n_layers * n_kv_heads * d_k * T * size / 2**30


# 7.3 ------------------------------------------------------------------------------------------


def dilated_mask(T: int, window: int, dilation: int) -> Tensor:
    back = steps_back(T)
    return (back >= 0) & (back <= window * dilation) & (back % dilation == 0)


def steps_back(T: int) -> Tensor:
    t = torch.arange(T)
    return t[:, None] - t


def dilated_mask_on_a_grid(T, window, dilation):
    back = steps_back(T)
    return (back >= 0) & (back <= window * dilation) & (torch.arange(T) % dilation == 0)


def dilated_mask_as_wide_as_the_window(T, window, dilation):
    return dilated_mask(T, window, dilation) & (steps_back(T) <= window)


# 7.4 ------------------------------------------------------------------------------------------


def count_pairs(T: int, window: int, n_global: int) -> int:
    return int(window_mask(T, window, global_positions=range(n_global)).sum())


def count_pairs_one_way(T, window, n_global):
    seen = window_mask(T, window)
    seen[:, :n_global] = True
    return int(seen.sum())


def count_pairs_without_itself(T, window, n_global):
    return count_pairs(T, window, n_global) - (T - n_global)


def count_pairs_without_edges(T, window, n_global):
    beyond = sum(max(0, min(n_global, t - window)) for t in range(n_global, T))
    return n_global * T + (T - n_global) * (2 * window + 1) + beyond


def count_pairs_with_overlap(T, window, n_global):
    return count_pairs(T, window, 0) + 2 * T * n_global - n_global**2


def count_pairs_with_overlap_in_rows(T, window, n_global):
    local = sum(int(row.sum()) for row in window_mask(T, window)[n_global:])
    return n_global * T + local + (T - n_global) * n_global


def count_pairs_of_any_width(T, window, n_global):
    if window < T:
        return count_pairs(T, window, n_global)
    return T * (2 * window + 1) - window * (window + 1)


# 7.5 ------------------------------------------------------------------------------------------


def band_weights(
    query: Tensor,
    key: Tensor,
    window: int,
    first: int = 0,
    scaled: bool = True,
    hidden: bool = True,
    axis: int = -1,
) -> Tensor:
    """Attend in a band; mistakes shift it by `first`, or change what the last three say."""
    T, d_k = query.shape[2:]
    key = key / math.sqrt(d_k) if scaled else key
    filled = F.pad(key, (0, 0, window, window))  # position s stands at window + s
    near = filled.unfold(2, window + 1, 1)[:, :, first : first + T]  # (B, h, T, d_k, w + 1)
    scores = (query[..., None, :] @ near)[..., 0, :]
    s = torch.arange(T)[:, None] + torch.arange(first - window, first + 1)
    outside = (s < 0) | (s >= T)
    return scores.masked_fill(outside & hidden, -math.inf).softmax(axis)


def band_around_the_end(query, key, window):
    T, d_k = query.shape[2:]
    s = (torch.arange(T)[:, None] + torch.arange(-window, 1)) % T
    near = key[:, :, s] / math.sqrt(d_k)  # (B, h, T, w + 1, d_k)
    return (near @ query[..., None])[..., 0].softmax(-1)


def band_without_zeros(query, key, window):
    """Take a score of 0 for filling: right as long as no key is 0."""
    near = F.pad(key, (0, 0, window, 0)).unfold(2, window + 1, 1)  # (B, h, T, d_k, w + 1)
    scores = (query[..., None, :] @ near)[..., 0, :] / math.sqrt(query.shape[3])
    return scores.masked_fill(scores == 0, -math.inf).softmax(-1)


def with_a_key_of_zeros(T: int, d_k: int) -> tuple[Tensor, Tensor]:
    """Draw query and key (1, 1, T, d_k); the second key is all zeros."""
    return random(1, 1, T, d_k), random(1, 1, T, d_k) * (torch.arange(T) != 1)[:, None]


# 7.6 ------------------------------------------------------------------------------------------


def pooled_attention(query, key, value, key_mask, size) -> Tensor:
    counts = key_mask.unflatten(1, (-1, size)).sum(2)  # (B, n): real positions of each block
    divisor = counts.clamp(min=1)[:, None, :, None]
    k, v = (sums_of_blocks(x, key_mask, size) / divisor for x in (key, value))
    return attend(query, k, v, (counts > 0)[:, None, None])


def sums_of_blocks(x: Tensor, key_mask: Tensor, size: int) -> Tensor:
    """Sum (B, h, S, d) to (B, h, n, d), leaving padding out."""
    return (x * key_mask[:, None, :, None]).unflatten(2, (-1, size)).sum(3)


def pooled_over_padding(query, key, value, key_mask, size):
    real = key_mask.unflatten(1, (-1, size)).any(2)[:, None, None]
    k, v = (x.unflatten(2, (-1, size)).mean(3) for x in (key, value))
    return attend(query, k, v, real)


def pooled_by_size(query, key, value, key_mask, size):
    real = key_mask.unflatten(1, (-1, size)).any(2)[:, None, None]
    k, v = (sums_of_blocks(x, key_mask, size) / size for x in (key, value))
    return attend(query, k, v, real)


def pooled_with_empty_blocks(query, key, value, key_mask, size):
    divisor = key_mask.unflatten(1, (-1, size)).sum(2).clamp(min=1)[:, None, :, None]
    return attend(query, *(sums_of_blocks(x, key_mask, size) / divisor for x in (key, value)))


def pooled_to_nan(query, key, value, key_mask, size):
    counts = key_mask.unflatten(1, (-1, size)).sum(2)[:, None, :, None]
    k, v = (sums_of_blocks(x, key_mask, size) / counts for x in (key, value))
    real = (counts > 0).mT  # (B, 1, 1, n)
    scores = (query @ k.mT / math.sqrt(query.shape[3])).masked_fill(~real, -math.inf)
    return scores.softmax(-1) @ v


def pooled_by_weight(query, key, value, key_mask, size):
    """Let each mean count as many times as it has positions."""
    counts = key_mask.unflatten(1, (-1, size)).sum(2)
    k, v = (
        sums_of_blocks(x, key_mask, size) / counts.clamp(min=1)[:, None, :, None]
        for x in (key, value)
    )
    scores = query @ k.mT / math.sqrt(query.shape[3]) + counts[:, None, None].to(query).log()
    return scores.softmax(-1) @ v


def pooled_whole_blocks(query, key, value, key_mask, size):
    whole = key_mask.unflatten(1, (-1, size)).all(2)[:, None, None]
    k, v = (x.unflatten(2, (-1, size)).mean(3) for x in (key, value))
    return attend(query, k, v, whole)


def pooled_interleaved(query, key, value, key_mask, size):
    key, value = (x.unflatten(2, (size, -1)).transpose(2, 3).flatten(2, 3) for x in (key, value))
    key_mask = key_mask.unflatten(1, (size, -1)).mT.flatten(1)
    return pooled_attention(query, key, value, key_mask, size)


def pooled_by_length(query, key, value, key_mask, size):
    """Take the mask for a length, as if all padding stood at the end."""
    key_mask = torch.arange(key_mask.shape[1]) < key_mask.sum(1, keepdim=True)
    return pooled_attention(query, key, value, key_mask, size)


def to_pool(B: int, h: int, T: int, S: int, d_k: int, d_v: int, size: int, *lengths: int) -> tuple:
    key_mask = torch.arange(S) < torch.tensor(lengths)[:, None]
    return *heads(B, h, T, S, d_k, d_v), key_mask, size


def padded_in_front(*sizes: int) -> tuple:
    *inputs, key_mask, size = to_pool(*sizes)
    return *inputs, key_mask.flip(1), size


# 7.7 ------------------------------------------------------------------------------------------


def forgetting_attention(phi_q, phi_k, value, gamma) -> Tensor:
    return averaged(decayed(phi_q, phi_k, gamma), value)


def decayed(phi_q: Tensor, phi_k: Tensor, gamma: Tensor) -> Tensor:
    """Return the weights γ^(t - s) φ(q_t)·φ(k_s), 0 for s > t: (B, h, T, T)."""
    back = steps_back(phi_q.shape[2]).clamp(min=0)
    return (gamma[:, None, None] ** back * (phi_q @ phi_k.mT)).tril()


def averaged(weights: Tensor, value: Tensor) -> Tensor:
    return weights @ value / weights.sum(-1, keepdim=True)


def forgetting_by_a_plain_sum(phi_q, phi_k, value, gamma):
    total = (phi_q @ phi_k.mT).tril().sum(-1, keepdim=True)
    return decayed(phi_q, phi_k, gamma) @ value / total


def forgetting_on_both_sides(phi_q, phi_k, value, gamma):
    apart = steps_back(phi_q.shape[2]).abs()
    return averaged(gamma[:, None, None] ** apart * (phi_q @ phi_k.mT), value)


def forgetting_what_comes(phi_q, phi_k, value, gamma):
    """Let each key weigh γ^s: what is added decays, what is stored stays."""
    s = torch.arange(phi_k.shape[2])
    return averaged((phi_q @ (gamma[:, None, None] ** s[:, None] * phi_k).mT).tril(), value)


def forgetting_before_taking_in(phi_q, phi_k, value, gamma):
    return averaged(decayed(phi_q, phi_k, gamma).tril(-1), value)


def forgetting_at_once(phi_q, phi_k, value, gamma):
    """Decay what has just come in, too: γ^(t - s + 1), whose first γ cancels unless it is 0."""
    gammas = gamma[:, None, None]
    return averaged(gammas * decayed(phi_q, phi_k, gamma), value)


def forgetting_split_in_two(phi_q, phi_k, value, gamma):
    """Let queries weigh γ^t and keys γ^-s, which outgrows all numbers and has none for γ = 0."""
    t = torch.arange(phi_k.shape[2])[:, None]
    gamma = gamma[:, None, None]
    return averaged(((gamma**t * phi_q) @ (gamma**-t * phi_k).mT).tril(), value)


def features(B: int, h: int, T: int, m: int, d_v: int, gamma: Tensor | None = None) -> tuple:
    q, k, v = heads(B, h, T, T, m, d_v)
    gamma = 0.4 + 0.5 * torch.rand(h).double() if gamma is None else gamma
    return q.abs() + 0.1, k.abs() + 0.1, v, gamma


def features_at_the_ends() -> list[tuple]:
    """Draw for heads that forget all and nothing, and for a text too long for γ^-s."""
    ends, half = (torch.tensor(x, dtype=torch.float64) for x in ([0.0, 1.0], [0.5]))
    return [features(1, 2, 4, 3, 2, ends), features(1, 1, 1200, 2, 1, half)]


# 7.8 ------------------------------------------------------------------------------------------


def two_sided_attention(query, key, value, omega, power=-0.25, norm=True) -> Tensor:
    log_q, log_k = (two_sided(x * x.shape[3] ** power, omega, norm) for x in (query, key))
    largest = log_k.amax(2, keepdim=True)  # of each feature, over the keys: (B, h, 1, 2m)
    log_q = log_q + largest
    phi_q = (log_q - log_q.amax(3, keepdim=True)).exp()
    return averaged(phi_q @ (log_k - largest).exp().mT, value)


def two_sided(x: Tensor, omega: Tensor, norm: bool = True) -> Tensor:
    """Return the logarithms of the features (…, 2m), without the constant that cancels."""
    projected = x @ omega.T
    half = x.square().sum(-1, keepdim=True) / 2 if norm else 0.0
    return torch.cat([projected, -projected], dim=-1) - half


def plain_features(query: Tensor, key: Tensor, omega: Tensor) -> tuple[Tensor, Tensor]:
    exponents = (two_sided(x * x.shape[3] ** -0.25, omega) for x in (query, key))
    return tuple(x.exp() / math.sqrt(2 * len(omega)) for x in exponents)


def two_sided_unstable(query, key, value, omega):
    phi_q, phi_k = plain_features(query, key, omega)
    return averaged(phi_q @ phi_k.mT, value)


def two_sided_without_sum(query, key, value, omega):
    phi_q, phi_k = plain_features(query, key, omega)
    return phi_q @ (phi_k.mT @ value)


def two_sided_with_each_keys_maximum(query, key, value, omega):
    log_q, log_k = (two_sided(x * x.shape[3] ** -0.25, omega) for x in (query, key))
    phi_q, phi_k = ((x - x.amax(3, keepdim=True)).exp() for x in (log_q, log_k))
    return averaged(phi_q @ phi_k.mT, value)


def two_sided_with_one_maximum(query, key, value, omega):
    log_q, log_k = (two_sided(x * x.shape[3] ** -0.25, omega) for x in (query, key))
    phi_q = (log_q - log_q.amax(3, keepdim=True)).exp()
    return averaged(phi_q @ (log_k - log_k.amax()).exp().mT, value)


def one_sided(query, key, value, omega):
    log_q, log_k = (two_sided(x * x.shape[3] ** -0.25, omega) for x in (query, key))
    log_q, log_k = (x[..., : len(omega)] for x in (log_q, log_k))
    largest = log_k.amax(2, keepdim=True)
    log_q = log_q + largest
    phi_q = (log_q - log_q.amax(3, keepdim=True)).exp()
    return averaged(phi_q @ (log_k - largest).exp().mT, value)


def to_estimate(B: int, h: int, T: int, S: int, d_k: int, d_v: int, m: int) -> tuple[Tensor, ...]:
    return *heads(B, h, T, S, d_k, d_v), random(m, d_k)


def long_keys(B: int, h: int, T: int, S: int, d_v: int, m: int) -> tuple[Tensor, ...]:
    """Draw keys of equal norms, so large that e^(-|k|² / 2) is 0 in double precision.

    On grids and with d_k = 16, whose fourth root is 2, single precision makes no error.
    """
    order = torch.rand(B, h, S, 16).argsort(-1)  # numbers 20 to 35 in some order, with signs
    key = (20.0 + order.double()) * (2 * torch.randint(0, 2, (B, h, S, 16)) - 1)
    query, omega = on_grid(B, h, T, 16), on_grid(m, 16)
    return query, key, random(B, h, S, d_v), omega


def unlike_heads(B: int, h: int, T: int, S: int, d_v: int, m: int) -> tuple[Tensor, ...]:
    """Draw as in `long_keys`, but with short keys in the first head."""
    query, key, value, omega = long_keys(B, h, T, S, d_v, m)
    return query, torch.cat([key[:, :1] / 16, key[:, 1:]], dim=1), value, omega


# 7.9 ------------------------------------------------------------------------------------------


def merge(context_1, log_sum_1, context_2, log_sum_2) -> tuple[Tensor, Tensor]:
    share = (log_sum_1 - log_sum_2).sigmoid()[..., None]
    return share * context_1 + (1 - share) * context_2, torch.logaddexp(log_sum_1, log_sum_2)


def merge_with_overflow(context_1, log_sum_1, context_2, log_sum_2):
    sum_1, sum_2 = log_sum_1.exp(), log_sum_2.exp()
    total = sum_1 + sum_2
    context = sum_1[..., None] * context_1 + sum_2[..., None] * context_2
    return context / total[..., None], total.log()


def merge_by_log_sums(context_1, log_sum_1, context_2, log_sum_2):
    a, b = log_sum_1[..., None], log_sum_2[..., None]
    context = (a * context_1 + b * context_2) / (a + b)
    return context, torch.logaddexp(log_sum_1, log_sum_2)


def merge_beside_the_second(context_1, log_sum_1, context_2, log_sum_2):
    """Rescale by the second log-sum, be it the larger one or not."""
    ratio = (log_sum_1 - log_sum_2).exp()
    context = (ratio[..., None] * context_1 + context_2) / (ratio[..., None] + 1)
    return context, log_sum_2 + (ratio + 1).log()


def merge_beside_the_first(context_1, log_sum_1, context_2, log_sum_2):
    return merge_beside_the_second(context_2, log_sum_2, context_1, log_sum_1)


def merge_with_one_maximum(context_1, log_sum_1, context_2, log_sum_2):
    """Take off the largest log-sum of all queries: right where the queries are alike."""
    largest = torch.maximum(log_sum_1.max(), log_sum_2.max())
    context, log_sum = merge_with_overflow(
        context_1, log_sum_1 - largest, context_2, log_sum_2 - largest
    )
    return context, log_sum + largest


def merge_undivided(context_1, log_sum_1, context_2, log_sum_2):
    larger = torch.maximum(log_sum_1, log_sum_2)
    context = (log_sum_1 - larger).exp()[..., None] * context_1
    context = context + (log_sum_2 - larger).exp()[..., None] * context_2
    return context, torch.logaddexp(log_sum_1, log_sum_2)


def merge_without_the_larger(context_1, log_sum_1, context_2, log_sum_2):
    context, log_sum = merge(context_1, log_sum_1, context_2, log_sum_2)
    return context, log_sum - torch.maximum(log_sum_1, log_sum_2)


def unlike_queries(B: int, h: int, d: int) -> tuple:
    """Draw halves for three queries whose log-sums lie a thousand apart."""
    levels = torch.tensor([-1024.0, 0.0, 1024.0], dtype=torch.float64)
    log_sums = levels + on_grid(B, h, 3), levels + on_grid(B, h, 3)
    return random(B, h, 3, d), log_sums[0], random(B, h, 3, d), log_sums[1]


def halves(B: int, h: int, T: int, d: int, offset: float = 0.0, apart: float = 0.0) -> tuple:
    """Draw two halves whose log-sums lie around `offset`, the first `apart` above the second."""
    contexts = random(B, h, T, d), random(B, h, T, d)
    log_sums = offset + apart + on_grid(B, h, T), offset + on_grid(B, h, T)
    return contexts[0], log_sums[0], contexts[1], log_sums[1]


# 7.10 -----------------------------------------------------------------------------------------


def mean_number_of_maxima(T: int) -> float:
    """Return Σ 1/t: of the first t scores, each is as likely to be the largest."""
    return sum(1 / t for t in range(1, T + 1))


# 7.11 -----------------------------------------------------------------------------------------


def entropy(scores: Tensor, chunk: int) -> Tensor:
    return torch.special.entr(scores.softmax(1)).sum(1)


def online_entropy(scores, chunk, of_sum=True, of_mean=True) -> Tensor:
    """Return log ℓ + m - r / ℓ, with ℓ = Σ exp(s - m) and r = Σ exp(s - m)·s.

    When the maximum m moves, both are rescaled: the last two arguments are what mistakes change.
    """
    largest, total, summed = torch.full_like(scores[:, :1], -math.inf), 0, 0
    for piece in scores.split(chunk, dim=1):
        new = torch.maximum(largest, piece.amax(1, keepdim=True))
        weights, rescale = (piece - new).exp(), (largest - new).exp()
        total = (rescale if of_sum else 1) * total + weights.sum(1, keepdim=True)
        summed = (rescale if of_mean else 1) * summed + (weights * piece).sum(1, keepdim=True)
        largest = new
    return (total.log() + largest - summed / total)[:, 0]


def entropy_with_one_maximum(scores, chunk):
    """Take off the largest score of all rows: right where the rows are alike."""
    return entropy_without_maximum(scores - scores.max(), chunk)


def entropy_with_the_first_maximum(scores, chunk):
    """Take off the first chunk's maximum: right as long as no score is much larger."""
    return entropy_without_maximum(scores - scores[:, :chunk].amax(1, keepdim=True), chunk)


def entropy_without_maximum(scores, chunk):
    weights = scores.exp()
    total = weights.sum(1)
    return total.log() - (weights * scores).sum(1) / total


def mean_entropy_of_chunks(scores, chunk):
    return torch.stack([entropy(piece, chunk) for piece in scores.split(chunk, 1)]).mean(0)


def entropy_of_the_last_chunk(scores, chunk):
    return entropy(scores.split(chunk, 1)[-1], chunk)


def scores_by_level(S: int) -> Tensor:
    """Draw three rows (3, S) that lie a thousand apart."""
    return torch.tensor([[-1024.0], [0.0], [1024.0]], dtype=torch.float64) + on_grid(3, S)


def scores_that_climb(T: int, chunk: int) -> Tensor:
    """Draw rows (T, 3 · chunk), each chunk of which lies a thousand above the one before."""
    levels = torch.tensor([-1024.0, 0.0, 1024.0], dtype=torch.float64).repeat_interleave(chunk)
    return levels + on_grid(T, 3 * chunk)


def sorted_scores(T: int, S: int, descending: bool = False) -> Tensor:
    return random(T, S).sort(1, descending=descending).values


# 7.12 -----------------------------------------------------------------------------------------


def continue_with(
    x, keys, values, W_q, W_k, W_v, positions, start="held", corner="last", valued=True
):
    """Attend to what is held and to oneself; mistakes change the last three arguments."""
    T, S = x.shape[1], keys.shape[1]
    begin = {"held": S, "zero": 0, "end": len(positions) - T}[start]
    placed = x + positions[begin : begin + T]
    keys = torch.cat([keys, placed @ W_k.T], dim=1)
    values = torch.cat([values, (placed if valued else x) @ W_v.T], dim=1)
    visible = {"last": S, "first": 0, "none": S + T}[corner]
    mask = torch.ones(T, S + T, dtype=torch.bool).tril(visible)
    return attend(placed @ W_q.T, keys, values, mask), keys, values


def continue_without_the_past(x, keys, values, W_q, W_k, W_v, positions):
    S = keys.shape[1]
    nothing = keys[:, :0], values[:, :0]
    context, k, v = continue_with(x, *nothing, W_q, W_k, W_v, positions[S:])
    return context, torch.cat([keys, k], dim=1), torch.cat([values, v], dim=1)


def continue_and_forget(x, keys, values, W_q, W_k, W_v, positions):
    S = keys.shape[1]
    context, k, v = continue_with(x, keys, values, W_q, W_k, W_v, positions)
    return context, k[:, S:], v[:, S:]


def continue_in_front(x, keys, values, W_q, W_k, W_v, positions):
    S = keys.shape[1]
    context, k, v = continue_with(x, keys, values, W_q, W_k, W_v, positions)
    k, v = (torch.cat([y[:, S:], y[:, :S]], dim=1) for y in (k, v))
    return context, k, v


def to_continue(B: int, T: int, S: int, D: int, max_len: int) -> tuple[Tensor, ...]:
    held = random(B, T, D), random(B, S, D), random(B, S, D)
    return *held, random(D, D), random(D, D), random(D, D), random(max_len, D)


# 7.13 -----------------------------------------------------------------------------------------


def put(buffer, length, new) -> tuple[Tensor, Tensor]:
    window = buffer.shape[2]
    buffer = buffer.clone()
    for i in range(new.shape[2]):
        buffer[:, :, (length + i) % window] = new[:, :, i]
    return buffer, positions_held(length + new.shape[2], window)


def positions_held(length: int, window: int) -> Tensor:
    """Return the last position p < length with p mod window = slot, or -1: (window,)."""
    slot = torch.arange(window)
    return torch.where(slot < length, length - 1 - (length - 1 - slot) % window, -1)


def put_and_stop(buffer, length, new):
    window = buffer.shape[2]
    room = new[:, :, : max(0, window - length)]
    return put(buffer, min(length, window), room)


def put_on_the_last(buffer, length, new):
    window = buffer.shape[2]
    buffer, held = buffer.clone(), positions_held(length, window)
    for i in range(new.shape[2]):
        slot = min(length + i, window - 1)
        buffer[:, :, slot] = new[:, :, i]
        held[slot] = length + i
    return buffer, held


def put_in_order(buffer, length, new):
    """Keep a queue: the oldest first."""
    window = buffer.shape[2]
    queue = torch.cat([buffer[:, :, :length], new], dim=2)[:, :, -window:]
    n, end = queue.shape[2], length + new.shape[2]
    held = torch.full((window,), -1)
    held[:n] = torch.arange(end - n, end)
    return torch.cat([queue, buffer[:, :, n:]], dim=2), held


def put_over_the_last_text(buffer, length, new):
    buffer, held = put(buffer, length, new)
    return buffer, torch.where(held < 0, torch.arange(len(held)), held)


def put_with_slots(buffer, length, new):
    buffer, held = put(buffer, length, new)
    return buffer, torch.where(held < 0, -1, held % len(held))


def put_the_first(buffer, length, new):
    """Of more than fit, keep those that come first."""
    window, T = buffer.shape[2], new.shape[2]
    kept, _ = put(buffer, length, new[:, :, :window])
    return kept, positions_held(length + min(T, window), window)


def ring(B: int, h: int, window: int, d: int, length: int, T: int) -> tuple[Tensor, int, Tensor]:
    return random(B, h, window, d), length, random(B, h, T, d)


# 7.14 -----------------------------------------------------------------------------------------


def delta_rule(query, key, value, beta, corrected_by="key", damps="both", read="after") -> Tensor:
    """Correct what is stored, then read; the last three arguments are what mistakes change."""
    state = key.new_zeros(*key.shape[:2], key.shape[3], value.shape[3])  # (B, h, d_k, d_v)
    steps = []
    for q, k, v, b in zip(
        query.unbind(2), key.unbind(2), value.unbind(2), beta.unbind(2), strict=True
    ):
        b = b[..., None]
        stored = looked_up(k if corrected_by == "key" else q, state)
        if read == "before":
            steps.append(looked_up(q, state))
        if corrected_by == "nothing":
            stored = torch.zeros_like(stored)
        change = {"both": b * (v - stored), "new": b * v - stored, "nothing": v - stored}[damps]
        state = state + k[..., :, None] * change[..., None, :]
        if read == "after":
            steps.append(looked_up(q, state))
    return torch.stack(steps, dim=2)


def looked_up(x: Tensor, state: Tensor) -> Tensor:
    return (x[..., None, :] @ state)[..., 0, :]


def delta_rule_that_forgets_all(query, key, value, beta):
    """Let the whole state decay by 1 - β, not only what the key finds."""
    b = beta[..., None]
    log_kept = (1 - b).log().cumsum(2)  # (B, h, T, 1)
    decay = (log_kept - log_kept.mT).tril().exp().tril()
    return (decay * (query @ key.mT)) @ (b * value)


def facts(B: int, h: int, T: int, d_k: int, d_v: int) -> tuple[Tensor, ...]:
    query, key, value = heads(B, h, T, T, d_k, d_v)
    beta = 0.2 + 0.7 * torch.rand(B, h, T, dtype=torch.float64)
    return query, F.normalize(key, dim=-1), value, beta


check = Checker(
    Prediction(
        "7.1",
        lambda: length_where_pairs_cost_half(512, 2048),
        {
            "projections alone": Mistake(
                "that is without the feed-forward layer, whose two maps are most of the rest.", 1024
            ),
            "one missing": Mistake(
                "something of the rest is missing: four projections, and two maps, each from one "
                "width to the other.",
                2048,
            ),
            "narrow": Mistake("the feed-forward layer is four times as wide inside.", 1536),
            "one product": Mistake(
                "each pair is used twice: for its score, and for its share of the values.", 6144
            ),
            "each head": Mistake(
                "the heads share the width: eight of 64 cost as much as one of 512.", 384
            ),
            "one head": Mistake("those are the pairs of one head; there are eight.", 24576),
        },
    ),
    Prediction(
        "7.2",
        lambda: cache_gib(80, 8, 128, 4096, 2),
        {
            "one of two": Mistake("that is for the keys or for the values; both are kept.", 0.625),
            "all heads": Mistake(
                "that is with keys for each of the 64 heads of queries: here eight share them.",
                cache_gib(80, 64, 128, 4096, 2),
            ),
            "one head": Mistake(
                "that is with a single head of keys, as in multi-query attention.",
                cache_gib(80, 1, 128, 4096, 2),
            ),
            "single precision": Mistake(
                "a number in half precision has two bytes.", cache_gib(80, 8, 128, 4096, 4)
            ),
            "one layer": Mistake(
                "that is one layer's; each has keys of its own.", cache_gib(1, 8, 128, 4096, 2)
            ),
            "decimal": Mistake("that is in units of 10⁹ bytes; a GiB is 2³⁰.", 1.342),
        },
        tolerance=0.01,
    ),
    Exercise(
        "7.3",
        dilated_mask,
        (
            Stage("a window without holes", lambda: [(5, 2, 1)]),
            Stage("every second position", lambda: [(8, 2, 2)]),
            Stage("other windows and holes", lambda: [(13, 3, 4), (11, 1, 3), (10, 4, 2)]),
            Stage("a window wider than the sequence", lambda: [(7, 9, 2)]),
        ),
        {
            "off by one": Mistake(
                "your window is one short: `window` positions before t, and t itself.",
                lambda T, window, dilation: dilated_mask(T, window - 1, dilation),
            ),
            "future": Mistake(
                "the window crosses the causal line: position t sees what comes after it.",
                lambda T, window, dilation: (
                    dilated_mask(T, window, dilation) | dilated_mask(T, window, dilation).T
                ),
            ),
            "span": Mistake(
                "you count the window in positions: it is counted in steps, holes left out.",
                dilated_mask_as_wide_as_the_window,
            ),
            "grid": Mistake(
                "you keep the positions that `dilation` divides: the holes move along with t.",
                dilated_mask_on_a_grid,
            ),
            "itself": Mistake(
                "a position doesn't see itself.",
                lambda T, window, dilation: dilated_mask(T, window, dilation) & (steps_back(T) > 0),
            ),
            "no holes": Mistake(
                "the span is right, and it has no holes.",
                lambda T, window, dilation: dilated_mask(T, window * dilation, 1),
            ),
            "holes": Mistake(
                "you leave `dilation` holes between two keys: the next is `dilation` before, so "
                "that 1 leaves none.",
                lambda T, window, dilation: dilated_mask(T, window, dilation + 1),
            ),
            "inverted": Mistake(
                "True is for what may be attended to.",
                lambda T, window, dilation: ~dilated_mask(T, window, dilation),
            ),
            "transposed": Mistake(
                "rows and columns are exchanged: a row is what one query sees.",
                lambda T, window, dilation: dilated_mask(T, window, dilation).T,
            ),
        },
        gradient=False,
    ),
    Exercise(
        "7.4",
        count_pairs,
        (
            Stage("a window without global positions", lambda: [(6, 1, 0), (11, 3, 0)]),
            Stage("one global position", lambda: [(9, 2, 1)]),
            Stage("several", lambda: [(20, 2, 3), (31, 5, 4), (17, 1, 7)]),
            Stage("a window wider than the sequence", lambda: [(5, 8, 0), (6, 9, 2)]),
        ),
        {
            "one way": Mistake(
                "your global positions work in one direction: they see all *and* are seen by all.",
                count_pairs_one_way,
            ),
            "overlap": Mistake(
                "what is global and within the window, you count twice.",
                count_pairs_with_overlap,
            ),
            "overlap in rows": Mistake(
                "near the beginning, a global position also lies in the window: it is seen once.",
                count_pairs_with_overlap_in_rows,
            ),
            "both sides": Mistake(
                "`window` is how far it reaches to one side, not to both together.",
                lambda T, window, n_global: count_pairs(T, window // 2, n_global),
            ),
            "causal": Mistake(
                "nothing is causal here: a window reaches forward, too.",
                lambda T, window, n_global: (
                    count_pairs(T, window, n_global)
                    - int(window_mask(T, window)[n_global:].triu(n_global + 1).sum())
                ),
            ),
            "edges": Mistake(
                "near the ends of the sequence, a window has fewer positions.",
                count_pairs_without_edges,
            ),
            "itself": Mistake(
                "within its window, a position also sees itself.",
                count_pairs_without_itself,
            ),
            "once": Mistake(
                "t seeing s and s seeing t are two pairs, each with a score of its own.",
                lambda T, window, n_global: (count_pairs(T, window, n_global) + T) // 2,
            ),
            "too wide": Mistake(
                "your formula holds for windows that fit; a wider one sees all, and no more.",
                count_pairs_of_any_width,
            ),
            "dense": Mistake(
                "those are all pairs: the pattern leaves most of them out.",
                lambda T, window, n_global: T**2,
            ),
        },
        gradient=False,
    ),
    Exercise(
        "7.5",
        band_weights,
        (
            Stage("the first position", lambda: [(random(1, 1, 1, 3), random(1, 1, 1, 3), 2)]),
            Stage("a window of 1", lambda: [(random(1, 1, 3, 2), random(1, 1, 3, 2), 1)]),
            Stage(
                "a window wider than the sequence",
                lambda: [(random(1, 2, 3, 5), random(1, 2, 3, 5), 4)],
            ),
            Stage("a key of zeros", lambda: [(*with_a_key_of_zeros(4, 3), 2)]),
            Stage(
                "several heads and sequences",
                lambda: [
                    (random(2, 3, 7, 5), random(2, 3, 7, 5), 2),
                    (random(3, 2, 9, 4), random(3, 2, 9, 4), 5),
                ],
            ),
        ),
        {
            "off by one": Mistake(
                "your window is one short: `window` positions before t, and t itself.",
                lambda query, key, window: band_weights(query, key, window - 1),
            ),
            "future": Mistake(
                "your band lies behind t: the window crosses the causal line.",
                lambda query, key, window: band_weights(query, key, window, first=window),
            ),
            "both sides": Mistake(
                "your band reaches to both sides of t: half of it is the future.",
                lambda query, key, window: band_weights(query, key, 2 * window, first=window),
            ),
            "filling": Mistake(
                "what stands before the beginning gets weight: its score is 0, not -∞.",
                lambda query, key, window: band_weights(query, key, window, hidden=False),
            ),
            "zero": Mistake(
                "a key may be all zeros: where there is none is said by the place, not by a score "
                "of 0.",
                band_without_zeros,
            ),
            "around": Mistake(
                "before the beginning, the end comes in again: position 0 sees the future.",
                band_around_the_end,
            ),
            "not scaled": Mistake(
                "the scores are not scaled.",
                lambda query, key, window: band_weights(query, key, window, scaled=False),
            ),
            "reversed": Mistake(
                "the columns run backwards: the last one is the position itself.",
                lambda query, key, window: band_weights(query, key, window).flip(-1),
            ),
            "axis": Mistake(
                "your softmax runs over the positions: the weights of one query should sum to 1.",
                lambda query, key, window: band_weights(query, key, window, axis=2),
            ),
        },
    ),
    Exercise(
        "7.6",
        pooled_attention,
        (
            Stage("no padding", lambda: [to_pool(1, 1, 2, 6, 3, 2, 3, 6)]),
            Stage("padding within a block", lambda: [to_pool(1, 2, 3, 6, 3, 4, 3, 5)]),
            Stage("blocks of nothing but padding", lambda: [to_pool(2, 1, 3, 8, 4, 3, 2, 3, 6)]),
            Stage("padding in front", lambda: [padded_in_front(2, 1, 3, 8, 4, 3, 2, 3, 6)]),
            Stage(
                "several sequences",
                lambda: [
                    to_pool(3, 2, 4, 12, 5, 3, 4, 7, 12, 2),
                    to_pool(2, 3, 5, 10, 4, 6, 2, 10, 7),
                ],
            ),
        ),
        {
            "padding": Mistake(
                "padding is in the means.",
                pooled_over_padding,
            ),
            "denominator": Mistake(
                "you left padding out of the sum, and count it where you divide.",
                pooled_by_size,
            ),
            "empty": Mistake(
                "a block of nothing but padding gets weight: its score is 0, not -∞.",
                pooled_with_empty_blocks,
            ),
            "NaN": Mistake(
                "a block of nothing but padding has no mean: 0 / 0 is NaN, and so is NaN times a "
                "weight of 0.",
                pooled_to_nan,
            ),
            "by weight": Mistake(
                "a block counts by its number of positions: here each mean counts as one key.",
                pooled_by_weight,
            ),
            "length": Mistake(
                "you take the mask for a length: padding may stand in front, too.",
                pooled_by_length,
            ),
            "whole blocks": Mistake(
                "a block with some padding is left out whole: only its padding should be.",
                pooled_whole_blocks,
            ),
            "interleaved": Mistake(
                "your blocks are not of neighbours: each takes positions from all over.",
                pooled_interleaved,
            ),
            "not scaled": Mistake(
                "the scores are not scaled.",
                lambda query, *rest: pooled_attention(query * math.sqrt(query.shape[3]), *rest),
            ),
            "mask ignored": Mistake(
                "the mask changes nothing: padding is in the means, and makes blocks of its own.",
                lambda query, key, value, key_mask, size: pooled_over_padding(
                    query, key, value, torch.ones_like(key_mask), size
                ),
            ),
        },
    ),
    Exercise(
        "7.7",
        forgetting_attention,
        (
            Stage("one position", lambda: [features(1, 2, 1, 3, 4)]),
            Stage("two positions", lambda: [features(1, 2, 2, 3, 2)]),
            Stage("γ = 0, γ = 1, and a long text", features_at_the_ends),
            Stage("several", lambda: [features(3, 2, 7, 4, 5), features(2, 4, 5, 6, 3)]),
        ),
        {
            "no normaliser": Mistake(
                "you forget the normaliser: the weights of a query should sum to 1.",
                lambda phi_q, phi_k, value, gamma: decayed(phi_q, phi_k, gamma) @ value,
            ),
            "normaliser kept": Mistake(
                "what you divide by does not decay: it is a sum of the same weights.",
                forgetting_by_a_plain_sum,
            ),
            "future": Mistake(
                "your sum includes the future.",
                forgetting_on_both_sides,
            ),
            "late": Mistake(
                "you read before the position's own key is taken in; the first finds nothing.",
                forgetting_before_taking_in,
            ),
            "the new decays": Mistake(
                "what is new decays, and what is old stays: it should be the other way round.",
                forgetting_what_comes,
            ),
            "no decay": Mistake(
                "nothing decays: that is linear attention as it was.",
                lambda phi_q, phi_k, value, gamma: forgetting_attention(
                    phi_q, phi_k, value, torch.ones_like(gamma)
                ),
            ),
            "split": Mistake(
                "right as algebra; but on a long text γ^-s outgrows all numbers, and for γ = 0 "
                "there is none: raise γ to the power t - s.",
                forgetting_split_in_two,
            ),
            "at once": Mistake(
                "right as algebra; but for γ = 0 nothing is left of a position's own key, which "
                "should count γ⁰ = 1 times: it must not decay before it is read, and 0 times the "
                "logarithm of 0 is NaN.",
                forgetting_at_once,
            ),
            "one decay": Mistake(
                "all heads forget alike: each has a γ of its own.",
                lambda phi_q, phi_k, value, gamma: forgetting_attention(
                    phi_q, phi_k, value, gamma[:1].expand_as(gamma)
                ),
            ),
        },
    ),
    Exercise(
        "7.8",
        two_sided_attention,
        (
            Stage("one feature", lambda: [to_estimate(1, 1, 1, 2, 3, 2, 1)]),
            Stage("large keys", lambda: [long_keys(1, 2, 3, 5, 4, 6)]),
            Stage("large keys in one head only", lambda: [unlike_heads(1, 2, 3, 5, 4, 6)]),
            Stage(
                "several heads and sequences",
                lambda: [to_estimate(2, 3, 4, 5, 6, 2, 7), to_estimate(3, 2, 6, 4, 5, 3, 8)],
            ),
        ),
        {
            "no maximum": Mistake(
                "where keys are large, all features round to 0, and 0 / 0 is NaN: bring the "
                "exponents near 0 before you take the exponential.",
                two_sided_unstable,
            ),
            "one maximum": Mistake(
                "one maximum for all heads: a head with larger keys rounds to 0 beside the others.",
                two_sided_with_one_maximum,
            ),
            "each key's": Mistake(
                "each key is brought to the same size by a maximum of its own, and that does not "
                "cancel: keys are weighed against each other.",
                two_sided_with_each_keys_maximum,
            ),
            "norm": Mistake(
                "|x|² / 2 is missing in the exponent: large keys weigh too much.",
                lambda *inputs: two_sided_attention(*inputs, norm=False),
            ),
            "not scaled": Mistake(
                "the scores are not scaled: the softmax is one of q·k / √d_k.",
                lambda *inputs: two_sided_attention(*inputs, power=0),
            ),
            "scaled twice": Mistake(
                "query and key are both divided by √d_k, their product by d_k.",
                lambda *inputs: two_sided_attention(*inputs, power=-0.5),
            ),
            "one side": Mistake(
                "that looks along ω alone: the other half of the features looks along -ω.",
                one_sided,
            ),
            "no normaliser": Mistake(
                "you forget the normaliser: the weights of a query should sum to 1.",
                two_sided_without_sum,
            ),
        },
    ),
    Exercise(
        "7.9",
        merge,
        (
            Stage("one query", lambda: [halves(1, 1, 1, 2)]),
            Stage(
                "sums that no number holds",
                lambda: [halves(1, 2, 3, 4, 1024.0), halves(2, 1, 3, 5, -1024.0)],
            ),
            Stage(
                "halves far apart",
                lambda: [
                    halves(1, 3, 4, 2, -1024.0, apart=2048.0),
                    halves(2, 3, 4, 3, 1024.0, apart=-2048.0),
                ],
            ),
            Stage("queries far apart", lambda: [unlike_queries(2, 3, 4)]),
            Stage("several heads", lambda: [halves(2, 3, 4, 5), halves(3, 2, 5, 4)]),
        ),
        {
            "one maximum": Mistake(
                "one maximum for all queries: each query has a softmax, and a maximum, of its own.",
                merge_with_one_maximum,
            ),
            "undivided": Mistake(
                "rescaled, and not divided: the two halves' weights should sum to 1.",
                merge_undivided,
            ),
            "not put back": Mistake(
                "what you took off the log-sums for the exponential is not put back.",
                merge_without_the_larger,
            ),
            "mean": Mistake(
                "both halves count alike: a half with larger scores has more of the weight.",
                lambda context_1, log_sum_1, context_2, log_sum_2: (
                    (context_1 + context_2) / 2,
                    torch.logaddexp(log_sum_1, log_sum_2),
                ),
            ),
            "added": Mistake(
                "each half is an average already: added up, the weights sum to 2.",
                lambda context_1, log_sum_1, context_2, log_sum_2: (
                    context_1 + context_2,
                    torch.logaddexp(log_sum_1, log_sum_2),
                ),
            ),
            "overflow": Mistake(
                "right as algebra; but the exponential of 1000 is no number any more: rescale by "
                "the larger one first.",
                merge_with_overflow,
            ),
            "second": Mistake(
                "right as algebra; but where the first half is larger by a thousand, its ratio to "
                "the second is no number: rescale by the larger one of the two.",
                merge_beside_the_second,
            ),
            "first": Mistake(
                "right as algebra; but where the second half is larger by a thousand, its ratio to "
                "the first is no number: rescale by the larger one of the two.",
                merge_beside_the_first,
            ),
            "logarithms": Mistake(
                "you weigh by the logarithms of the sums.",
                merge_by_log_sums,
            ),
            "exchanged": Mistake(
                "each half gets the other one's weight.",
                lambda context_1, log_sum_1, context_2, log_sum_2: merge(
                    context_2, log_sum_1, context_1, log_sum_2
                ),
            ),
            "product": Mistake(
                "to add logarithms is to multiply the sums.",
                lambda context_1, log_sum_1, context_2, log_sum_2: (
                    merge(context_1, log_sum_1, context_2, log_sum_2)[0],
                    log_sum_1 + log_sum_2,
                ),
            ),
            "larger": Mistake(
                "the larger one alone leaves out what the other half adds.",
                lambda context_1, log_sum_1, context_2, log_sum_2: (
                    merge(context_1, log_sum_1, context_2, log_sum_2)[0],
                    torch.maximum(log_sum_1, log_sum_2),
                ),
            ),
        },
    ),
    Prediction(
        "7.10",
        lambda: mean_number_of_maxima(1000),
        {
            "half": Mistake(
                "half of them would be larger than all before? After 500, few can be.", 500.0
            ),
            "all": Mistake("that is when they come in rising order.", 1000.0),
            "one": Mistake("that is when the largest comes first.", 1.0),
            "root": Mistake("less than that: what is the chance that the t-th is a new one?", 31.6),
            "halving": Mistake(
                "close: the t-th is the largest so far with probability 1/t. What is the sum?", 9.97
            ),
        },
        tolerance=0.1,
    ),
    Exercise(
        "7.11",
        entropy,
        (
            Stage("a single chunk", lambda: [(random(2, 4), 6)]),
            Stage("scores that fall", lambda: [(sorted_scores(2, 5, descending=True), 2)]),
            Stage("scores that rise", lambda: [(sorted_scores(3, 6), 2)]),
            Stage(
                "scores whose exponential is no number",
                lambda: [(1024 + on_grid(3, 5), 2), (-1024 + on_grid(2, 7), 3)],
            ),
            Stage("rows that lie far apart", lambda: [(scores_by_level(7), 3)]),
            Stage("chunks that lie far apart", lambda: [(scores_that_climb(2, 3), 3)]),
            Stage("several chunks", lambda: [(2 * random(4, 11), 3), (3 * random(5, 9), 4)]),
        ),
        {
            "sum": Mistake(
                "the running maximum moves, and the sum ℓ is still that of the old one.",
                lambda scores, chunk: online_entropy(scores, chunk, of_sum=False),
            ),
            "output": Mistake(
                "the running maximum moves; you rescale ℓ, and r is still that of the old one.",
                lambda scores, chunk: online_entropy(scores, chunk, of_mean=False),
            ),
            "neither": Mistake(
                "the running maximum moves, and what you summed before is not rescaled.",
                lambda scores, chunk: online_entropy(scores, chunk, of_sum=False, of_mean=False),
            ),
            "no maximum": Mistake(
                "right as algebra; but the exponential of 1000 is no number any more.",
                entropy_without_maximum,
            ),
            "one maximum": Mistake(
                "one maximum for all rows: each query has a softmax, and a maximum, of its own.",
                entropy_with_one_maximum,
            ),
            "first maximum": Mistake(
                "right as algebra; but a later chunk may lie a thousand above the first one's "
                "maximum: let the maximum move.",
                entropy_with_the_first_maximum,
            ),
            "last": Mistake(
                "that is the last chunk's: what came before is forgotten.",
                entropy_of_the_last_chunk,
            ),
            "mean": Mistake(
                "that is the mean over chunks; one softmax runs over all of them.",
                mean_entropy_of_chunks,
            ),
            "bits": Mistake(
                "that is in bits; asked for are nats.",
                lambda scores, chunk: entropy(scores, chunk) / math.log(2),
            ),
            "sign": Mistake(
                "an entropy is never negative: log p is.",
                lambda scores, chunk: -entropy(scores, chunk),
            ),
        },
    ),
    Exercise(
        "7.12",
        continue_with,
        (
            Stage("a first symbol, nothing held", lambda: [to_continue(1, 1, 0, 2, 3)]),
            Stage("one symbol behind others", lambda: [to_continue(1, 1, 3, 2, 6)]),
            Stage("several symbols, nothing held", lambda: [to_continue(2, 3, 0, 4, 5)]),
            Stage(
                "several symbols behind others",
                lambda: [to_continue(3, 2, 4, 5, 9), to_continue(4, 4, 3, 2, 8)],
            ),
        ),
        {
            "offset": Mistake(
                "positions count from 0 in each call: what is held comes before.",
                lambda *inputs: continue_with(*inputs, start="zero"),
            ),
            "end": Mistake(
                "you take the table's last positions, not those that follow what is held.",
                lambda *inputs: continue_with(*inputs, start="end"),
            ),
            "corner": Mistake(
                "your causal mask counts from the first key: the last query should see the last.",
                lambda *inputs: continue_with(*inputs, corner="first"),
            ),
            "future": Mistake(
                "of several new symbols, the first sees those behind it.",
                lambda *inputs: continue_with(*inputs, corner="none"),
            ),
            "past": Mistake(
                "the new symbols see only each other, not what is held.",
                continue_without_the_past,
            ),
            "forgotten": Mistake(
                "you return the new keys and values alone: in the next call, the past is gone.",
                continue_and_forget,
            ),
            "in front": Mistake(
                "the new keys stand before the old ones.",
                continue_in_front,
            ),
            "not scaled": Mistake(
                "the scores are not scaled.",
                lambda x, keys, values, W_q, *rest: continue_with(
                    x, keys, values, W_q * math.sqrt(x.shape[2]), *rest
                ),
            ),
            "transposed": Mistake(
                "your matrices stand the wrong way round: W x, for x a row, is x Wᵀ.",
                lambda x, keys, values, W_q, W_k, W_v, positions: continue_with(
                    x, keys, values, W_q.T, W_k.T, W_v.T, positions
                ),
            ),
            "values": Mistake(
                "the values are made without positions; here all three read the same input.",
                lambda *inputs: continue_with(*inputs, valued=False),
            ),
        },
    ),
    Exercise(
        "7.13",
        put,
        (
            Stage("an empty ring", lambda: [ring(1, 1, 3, 2, 0, 2)]),
            Stage("room for all", lambda: [ring(1, 2, 5, 2, 2, 2), ring(2, 1, 4, 3, 1, 3)]),
            Stage("the first positions are overwritten", lambda: [ring(2, 1, 4, 3, 3, 2)]),
            Stage("a ring that has gone round", lambda: [ring(1, 2, 3, 4, 7, 1)]),
            Stage(
                "more than the ring holds",
                lambda: [ring(2, 3, 4, 2, 1, 6), ring(3, 1, 5, 2, 8, 12)],
            ),
        ),
        {
            "offset": Mistake(
                "positions count from 0 in each call: `length` came before.",
                lambda buffer, length, new: put(buffer, 0, new),
            ),
            "stop": Mistake(
                "when the ring is full, nothing more goes in: the new should take the place of the "
                "oldest.",
                put_and_stop,
            ),
            "last slot": Mistake(
                "when the ring is full, all goes into the last slot.",
                put_on_the_last,
            ),
            "queue": Mistake(
                "that is a queue: right as a memory, but each call moves all that is held. In a "
                "ring, nothing moves.",
                put_in_order,
            ),
            "not reset": Mistake(
                "a slot that this sequence has not filled still holds what the last one left: it "
                "must not count as held.",
                put_over_the_last_text,
            ),
            "slots": Mistake(
                "those are the numbers of the slots: the positions go on counting.",
                put_with_slots,
            ),
            "first": Mistake(
                "of more than the ring holds, the last ones should stay.",
                put_the_first,
            ),
        },
        gradient=False,
    ),
    Exercise(
        "7.14",
        delta_rule,
        (
            Stage("one position", lambda: [facts(1, 1, 1, 3, 2)]),
            Stage("two positions", lambda: [facts(1, 1, 2, 3, 2)]),
            Stage("several", lambda: [facts(2, 3, 6, 4, 5), facts(3, 2, 8, 5, 4)]),
        ),
        {
            "sum": Mistake(
                "what is stored under a key is not taken out before the new is put in: that is the "
                "sum of linear attention.",
                lambda *inputs: delta_rule(*inputs, corrected_by="nothing"),
            ),
            "query": Mistake(
                "you correct what the query finds; it is the key's place that is written to.",
                lambda *inputs: delta_rule(*inputs, corrected_by="query"),
            ),
            "before": Mistake(
                "you read before you write: a position should find what it has just stored.",
                lambda *inputs: delta_rule(*inputs, read="before"),
            ),
            "old": Mistake(
                "β weighs what is new, and all of the old is taken out: it weighs the difference.",
                lambda *inputs: delta_rule(*inputs, damps="new"),
            ),
            "no beta": Mistake(
                "β changes nothing: each key replaces all that it finds.",
                lambda *inputs: delta_rule(*inputs, damps="nothing"),
            ),
            "all": Mistake(
                "the whole state decays: only what the key finds should be corrected.",
                delta_rule_that_forgets_all,
            ),
        },
    ),
)
