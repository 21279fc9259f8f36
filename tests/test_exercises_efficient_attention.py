"""The reference solutions of Day 7, held to the page's forms and to definitions as loops."""

import math
from itertools import accumulate, permutations

import pytest
import torch
from torch.nn import functional as F

from utils.efficient import (
    KVCache,
    elu_features,
    linear_attention,
    orthogonal_directions,
    quadratic_form,
    window_attention,
    window_mask,
)
from utils.efficient.blocks import attend
from utils.exercises.efficient_attention import check, window
from utils.exercises.efficient_attention.banded_weights import band_weights
from utils.exercises.efficient_attention.cached_attention import continue_with
from utils.exercises.efficient_attention.cached_step import cached_step
from utils.exercises.efficient_attention.delta_rule import delta_rule
from utils.exercises.efficient_attention.dilated_window import dilated_mask
from utils.exercises.efficient_attention.merged_halves import merge
from utils.exercises.efficient_attention.online_entropy import entropy, online_entropy
from utils.exercises.efficient_attention.online_softmax import take_in
from utils.exercises.efficient_attention.pooled_keys import pooled_attention
from utils.exercises.efficient_attention.retention import forgetting_attention
from utils.exercises.efficient_attention.ring_buffer import put
from utils.exercises.efficient_attention.running_maximum import mean_number_of_maxima
from utils.exercises.efficient_attention.state_step import state_step
from utils.exercises.efficient_attention.two_sided_features import (
    long_keys,
    plain_features,
    two_sided_attention,
)

EXACT = {"rtol": 1e-10, "atol": 1e-10}


def draw(*shape: int, seed: int = 0) -> torch.Tensor:
    return torch.randn(*shape, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))


def heads(T: int, S: int, d_k: int = 5, d_v: int = 4) -> list[torch.Tensor]:
    return [draw(2, 3, T, d_k), draw(2, 3, S, d_k, seed=1), draw(2, 3, S, d_v, seed=2)]


@pytest.mark.parametrize(("T", "w"), [(1, 1), (6, 1), (9, 3), (4, 7)])
def test_a_causal_window_is_the_pages(T, w):
    assert torch.equal(window.window_mask(T, w), window_mask(T, w, is_causal=True))


@pytest.mark.parametrize(
    "mask",
    [
        lambda s, t, w: s <= t and t - s <= w,
        lambda s, t, w: t - w <= s <= t,
        lambda s, t, w: t - s >= 0 & t - s <= w,
    ],
)
def test_conditions_that_are_not_joined_cell_by_cell_are_named(mask):
    def answer(T, w):
        return mask(torch.arange(T), torch.arange(T)[:, None], w)

    passed, sentence = check.exercises["window"].judge(answer)
    assert not passed and "with brackets" in sentence


def test_steps_of_a_board_find_what_all_pairs_find():
    q, k, v = heads(7, 7, d_v=4)
    phi_q, phi_k = elu_features(q), elu_features(k)
    S, z = v.new_zeros(2, 3, 5, 4), v.new_zeros(2, 3, 1, 5)
    expected = quadratic_form(phi_q, phi_k, v, is_causal=True)
    for t in range(7):
        at = slice(t, t + 1)
        context, S, z = state_step(phi_q[:, :, at], phi_k[:, :, at], v[:, :, at], S, z)
        torch.testing.assert_close(context, expected[:, :, at], **EXACT)


@pytest.mark.parametrize("size", [1, 3, 7, 20])
def test_tile_by_tile_comes_the_softmax_of_all(size):
    q, k, v = heads(4, 9)
    scores = 100 * q @ k.mT
    m, total, a = scores.new_full((2, 3, 4, 1), -math.inf), v.new_zeros(2, 3, 4, 1), v.new_zeros(())
    for x, values in zip(scores.split(size, -1), v.split(size, -2), strict=True):
        m, total, a = take_in(x, values, m, total, a)
    torch.testing.assert_close(a / total, scores.softmax(-1) @ v, **EXACT)
    torch.testing.assert_close((m + total.log())[..., 0], scores.logsumexp(-1), **EXACT)


def test_a_caches_steps_are_causal_attention():
    q, k, v = heads(6, 6)
    keys, values = k[:, :, :0], v[:, :, :0]
    expected = F.scaled_dot_product_attention(q, k, v, is_causal=True)
    for t in range(6):
        new = (x[:, :, t : t + 1] for x in (q, k, v))
        context, keys, values = cached_step(*new, keys, values)
        torch.testing.assert_close(context, expected[:, :, t : t + 1], **EXACT)
    assert torch.equal(keys, k) and torch.equal(values, v)


@pytest.mark.parametrize(("window", "dilation"), [(1, 1), (3, 2), (2, 5), (9, 4)])
def test_a_dilated_window_is_that_of_a_loop(window, dilation):
    mask = dilated_mask(12, window, dilation)
    for t in range(12):
        seen = {t - j * dilation for j in range(window + 1)}
        assert mask[t].nonzero()[:, 0].tolist() == sorted(s for s in seen if s >= 0)


def test_a_dilated_window_without_holes_is_the_pages():
    assert torch.equal(dilated_mask(11, 3, 1), window_mask(11, 3, is_causal=True))


def test_a_band_holds_the_weights_of_the_pages_window():
    T, window = 9, 3
    query, key, value = heads(T, T)
    weights = band_weights(query, key, window)
    context = torch.zeros_like(value)
    for t in range(T):
        for j in range(window + 1):
            if (s := t - window + j) >= 0:
                context[:, :, t] += weights[:, :, t, j, None] * value[:, :, s]
    expected = window_attention(query, key, value, window, is_causal=True)
    torch.testing.assert_close(context, expected, **EXACT)


def test_blocks_of_one_position_are_full_attention():
    query, key, value = heads(4, 7)
    key_mask = torch.arange(7) < torch.tensor([[7], [4]])
    got = pooled_attention(query, key, value, key_mask, 1)
    expected = attend(query, key, value, key_mask[:, None, None])
    torch.testing.assert_close(got, expected, **EXACT)


def test_pooled_keys_are_means_over_the_real_ones():
    query, key, value = heads(2, 6)
    got = pooled_attention(query, key, value, torch.arange(6).expand(2, 6) < 5, 3)
    k, v = (torch.stack([x[:, :, :3].mean(2), x[:, :, 3:5].mean(2)], dim=2) for x in (key, value))
    torch.testing.assert_close(got, attend(query, k, v), **EXACT)


def test_a_state_that_forgets_nothing_is_linear_attention():
    query, key, value = heads(8, 8)
    ones = torch.ones(3, dtype=torch.float64)
    phi = [elu_features(x) for x in (query, key)]
    got = forgetting_attention(*phi, value, ones)
    torch.testing.assert_close(
        got, linear_attention(query, key, value, is_causal=True), rtol=1e-10, atol=1e-10
    )
    torch.testing.assert_close(got, quadratic_form(*phi, value, is_causal=True), **EXACT)


def test_a_state_that_forgets_is_a_loop():
    phi_q, phi_k, value = (x.abs() for x in heads(6, 6))
    gamma = torch.tensor([0.5, 0.8, 0.95], dtype=torch.float64)
    state = torch.zeros(2, 3, 5, 4, dtype=torch.float64)
    total = torch.zeros(2, 3, 5, dtype=torch.float64)
    got = forgetting_attention(phi_q, phi_k, value, gamma)
    for t in range(6):
        state = gamma[:, None, None] * state + phi_k[:, :, t, :, None] * value[:, :, t, None]
        total = gamma[:, None] * total + phi_k[:, :, t]
        weighted = torch.einsum("bhm,bhmd->bhd", phi_q[:, :, t], state)
        context = weighted / (phi_q[:, :, t] * total).sum(-1, keepdim=True)
        torch.testing.assert_close(got[:, :, t], context, **EXACT)


def test_features_on_both_sides_come_close_to_softmax():
    query, key, value = (0.5 * x for x in heads(4, 6))
    omega = orthogonal_directions(20_000, 5, seed=0)
    got = two_sided_attention(query, key, value, omega)
    torch.testing.assert_close(got, attend(query, key, value), rtol=0, atol=0.01)


def test_features_on_both_sides_are_their_definition():
    query, key, value = heads(4, 6)
    omega = draw(7, 5, seed=3)
    phi = []
    for x in (query, key):
        x = x / 5**0.25
        both = torch.cat([(x @ omega.T).exp(), (-x @ omega.T).exp()], dim=-1)
        phi.append(both * (-x.square().sum(-1, keepdim=True) / 2).exp() / math.sqrt(14))
    expected = quadratic_form(*phi, value)
    torch.testing.assert_close(two_sided_attention(query, key, value, omega), expected, **EXACT)


def test_large_keys_round_to_0_without_their_maximum_and_not_with_it():
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        query, key, value, omega = long_keys(1, 2, 3, 5, 4, 6)
    assert (plain_features(query, key, omega)[1] == 0).all()
    assert two_sided_attention(query, key, value, omega).isfinite().all()


@pytest.mark.parametrize("offset", [0.0, 2000.0, -2000.0])
def test_merged_halves_are_the_whole(offset):
    query, key, value = heads(3, 9)
    scores = query @ key.mT + offset

    def look(columns: slice) -> tuple[torch.Tensor, torch.Tensor]:
        part = scores[..., columns]
        return part.softmax(-1) @ value[:, :, columns], part.logsumexp(-1)

    got = merge(*look(slice(0, 4)), *look(slice(4, 9)))
    for ours, expected in zip(got, look(slice(0, 9)), strict=True):
        torch.testing.assert_close(ours, expected, **EXACT)


def test_the_maximum_moves_as_often_as_counted_over_all_orders():
    moves = [len(set(accumulate(order, max))) for order in permutations(range(6))]
    assert mean_number_of_maxima(6) == pytest.approx(sum(moves) / len(moves))


@pytest.mark.parametrize("chunk", [1, 3, 8])
def test_the_online_entropy_is_the_librarys(chunk):
    scores = 4 * draw(5, 8)
    expected = torch.distributions.Categorical(logits=scores).entropy()
    for got in (entropy(scores, chunk), online_entropy(scores, chunk)):
        torch.testing.assert_close(got, expected, **EXACT)


@pytest.mark.parametrize("cuts", [(7,), (3, 4), (1,) * 7, (2, 1, 4)])
def test_going_on_from_a_cache_equals_the_uncached(cuts):
    x, positions = draw(2, 7, 4), draw(9, 4, seed=1)
    W = [draw(4, 4, seed=seed) for seed in (2, 3, 4)]
    placed = x + positions[:7]
    q, k, v = (placed @ w.T for w in W)
    expected = F.scaled_dot_product_attention(q, k, v, is_causal=True)
    keys = values = x[:, :0]
    contexts = []
    for piece in x.split(cuts, dim=1):
        context, keys, values = continue_with(piece, keys, values, *W, positions)
        contexts.append(context)
    torch.testing.assert_close(torch.cat(contexts, 1), expected, **EXACT)
    torch.testing.assert_close((keys, values), (k, v), **EXACT)


@pytest.mark.parametrize("cuts", [(13,), (4, 9), (1,) * 13, (2, 5, 6)])
def test_a_ring_holds_the_last_of_a_cache(cuts):
    key, slots = draw(2, 3, 13, 4), 5
    ring, cache, length = draw(2, 3, slots, 4, seed=9), KVCache(13), 0
    for piece in key.split(cuts, dim=2):
        ring, held = put(ring, length, piece)
        everything, _ = cache.append(piece, piece)
        length += piece.shape[2]
        last = range(max(0, length - slots), length)
        assert sorted(held[held >= 0].tolist()) == list(last)
        assert all(p % slots == slot for slot, p in enumerate(held.tolist()) if p >= 0)
        for slot, p in enumerate(held.tolist()):
            if p >= 0:
                assert torch.equal(ring[:, :, slot], everything[:, :, p])


def test_the_delta_rule_finds_what_was_stored_last_under_orthogonal_keys():
    key = torch.linalg.qr(draw(4, 4)).Q[None, None]
    key = torch.cat([key, key, key], dim=2)  # written, written again, asked for
    value = torch.cat([draw(1, 1, 8, 3, seed=1), torch.zeros(1, 1, 4, 3)], dim=2)
    beta = (torch.arange(12) < 8).double()[None, None]
    found = delta_rule(key, key, value, beta)[:, :, 8:]
    torch.testing.assert_close(found, value[:, :, 4:8], **EXACT)


def test_the_delta_rule_is_a_step_down_the_squared_error():
    query, key, value = heads(5, 5)
    key, beta = F.normalize(key, dim=-1), draw(2, 3, 5).sigmoid()
    outputs = delta_rule(query, key, value, beta)
    state = torch.zeros(2, 3, 5, 4, dtype=torch.float64, requires_grad=True)
    for t in range(5):
        error = torch.einsum("bhk,bhkd->bhd", key[:, :, t], state) - value[:, :, t]
        (gradient,) = torch.autograd.grad(error.square().sum() / 2, state)
        state = (state - beta[:, :, t, None, None] * gradient).detach().requires_grad_()
        got = torch.einsum("bhk,bhkd->bhd", query[:, :, t], state)
        torch.testing.assert_close(outputs[:, :, t], got, **EXACT)


# Answers as people write them ---------------------------------------------------------------------


def band_by_dense_scores(query, key, window):
    """Right, though not the way that was asked for."""
    T = query.shape[2]
    mask = window_mask(T, window, is_causal=True)
    scores = query @ key.mT / math.sqrt(query.shape[3])
    weights = F.pad(scores.masked_fill(~mask, -math.inf).softmax(-1), (window, 0))
    return torch.stack([weights[:, :, t, t : t + window + 1] for t in range(T)], dim=2)


def merge_by_the_larger(context_1, log_sum_1, context_2, log_sum_2):
    m = torch.maximum(log_sum_1, log_sum_2)
    a, b = (log_sum_1 - m).exp()[..., None], (log_sum_2 - m).exp()[..., None]
    return (a * context_1 + b * context_2) / (a + b), m + (a + b).log()[..., 0]


def online_entropy_by_row(scores, chunk):
    m = torch.full((len(scores),), -math.inf, dtype=scores.dtype)
    total = summed = torch.zeros_like(m)
    for piece in scores.split(chunk, 1):
        new = torch.maximum(m, piece.amax(1))
        e = (piece - new[:, None]).exp()
        total = (m - new).exp() * total + e.sum(1)
        summed = (m - new).exp() * summed + (e * piece).sum(1)
        m = new
    return m + total.log() - summed / total


def features_with_one_maximum(query, key, value, omega):
    """Right: the paper's one maximum over all keys and features of a head."""
    phi = []
    for x, axes in ((query, 3), (key, (2, 3))):
        x = x / x.shape[3] ** 0.25
        half = x.square().sum(-1, keepdim=True) / 2
        log_phi = torch.cat([x @ omega.T, -x @ omega.T], dim=-1) - half
        phi.append((log_phi - log_phi.amax(axes, keepdim=True)).exp())
    sums = phi[0] @ (phi[1].mT @ value)
    return sums / (phi[0] @ phi[1].sum(2)[..., None])


def ring_by_index(buffer, length, new):
    slots, T = buffer.shape[2], new.shape[2]
    buffer, last = buffer.clone(), torch.arange(max(0, T - slots), T)
    buffer[:, :, (length + last) % slots] = new[:, :, last]
    held = torch.full((slots,), -1)
    every = torch.arange(max(0, length + T - slots), length + T)
    held[every % slots] = every
    return buffer, held


def mask_by_a_loop(T, window, dilation):
    mask = torch.zeros(T, T, dtype=torch.bool)
    for t in range(T):
        for s in range(t, max(-1, t - window * dilation - 1), -dilation):
            mask[t, s] = True
    return mask


def pairs_by_a_loop(T, window, n_global):
    return sum(abs(t - s) <= window or min(t, s) < n_global for t in range(T) for s in range(T))


def band_by_a_loop(query, key, window):
    B, h, T, d_k = query.shape
    weights = torch.zeros(B, h, T, window + 1)  # in single precision
    for t in range(T):
        keys = key[:, :, max(0, t - window) : t + 1]
        scores = (keys @ query[:, :, t, :, None])[..., 0] / math.sqrt(d_k)
        weights[:, :, t, -keys.shape[2] :] = scores.softmax(-1)
    return weights


def pooled_by_a_loop(query, key, value, key_mask, size):
    rows = []
    for q, k, v, real in zip(query, key, value, key_mask, strict=True):
        cuts = [range(a, a + size) for a in range(0, len(real), size)]
        cuts = [[s for s in cut if real[s]] for cut in cuts]
        k, v = (torch.stack([x[:, cut].mean(1) for cut in cuts if cut], dim=1) for x in (k, v))
        rows.append(F.scaled_dot_product_attention(q, k, v))
    return torch.stack(rows)


def retention_from_zeros(phi_q, phi_k, value, gamma):
    B, h, T, m = phi_q.shape
    sums, total = torch.zeros(B, h, m, value.shape[3]), torch.zeros(B, h, m)  # single precision
    context = torch.zeros(value.shape)
    for t in range(T):
        sums = gamma[:, None, None] * sums + phi_k[:, :, t, :, None] * value[:, :, t, None]
        total = gamma[:, None] * total + phi_k[:, :, t]
        weighted = (phi_q[:, :, t, :, None] * sums).sum(2)
        context[:, :, t] = weighted / (phi_q[:, :, t] * total).sum(-1, keepdim=True)
    return context


def merge_by_softmax(context_1, log_sum_1, context_2, log_sum_2):
    log_sums = torch.stack([log_sum_1, log_sum_2])
    contexts = torch.stack([context_1, context_2])
    return [(log_sums.softmax(0)[..., None] * contexts).sum(0), log_sums.logsumexp(0)]


def online_entropy_by_numbers(scores, chunk):
    out = scores.new_zeros(len(scores))
    for t, row in enumerate(scores):
        m, total, summed = -math.inf, 0.0, 0.0
        for piece in row.split(chunk):
            new = max(m, piece.max().item())
            e = (piece - new).exp()
            total = total * math.exp(m - new) + e.sum()
            summed = summed * math.exp(m - new) + (e * piece).sum()
            m = new
        out[t] = m + total.log() - summed / total
    return out


def continued_one_by_one(x, keys, values, W_q, W_k, W_v, positions):
    contexts = []
    for t in range(x.shape[1]):
        placed = x[:, [t]] + positions[keys.shape[1]]
        keys = torch.cat([keys, placed @ W_k.T], 1)
        values = torch.cat([values, placed @ W_v.T], 1)
        contexts.append(F.scaled_dot_product_attention(placed @ W_q.T, keys, values))
    return [torch.cat(contexts, 1), keys, values]


def ring_by_a_loop(buffer, length, new):
    slots = buffer.shape[2]
    out, held = torch.zeros(buffer.shape) + buffer, [-1] * slots
    for p in range(length + new.shape[2]):
        held[p % slots] = p
        if p >= length:
            out[:, :, p % slots] = new[:, :, p - length]
    return out, torch.tensor(held)


def delta_rule_by_outer_products(query, key, value, beta):
    state, out = 0, torch.zeros(value.shape)
    for t in range(key.shape[2]):
        k, b = key[:, :, t, :, None], beta[:, :, t, None, None]
        found = (k * state).sum(2, keepdim=True)
        state = state + b * k * (value[:, :, t, None] - found)
        out[:, :, t] = (query[:, :, t, :, None] * state).sum(2)
    return out


@pytest.mark.parametrize(
    ("id", "answer"),
    [
        ("cost_of_pairs", 3072.0),
        ("window_recall", 0.3308),
        ("dilated_window", mask_by_a_loop),
        ("count_of_pairs", pairs_by_a_loop),
        ("banded_weights", band_by_a_loop),
        ("pooled_keys", pooled_by_a_loop),
        ("retention", retention_from_zeros),
        ("merged_halves", merge_by_softmax),
        ("running_maximum", 7),
        ("online_entropy", online_entropy_by_numbers),
        (
            "online_entropy",
            lambda scores, chunk: torch.distributions.Categorical(logits=scores).entropy(),
        ),
        ("cached_attention", continued_one_by_one),
        ("ring_buffer", ring_by_a_loop),
        ("delta_rule", delta_rule_by_outer_products),
        ("banded_weights", band_by_dense_scores),
        ("retention", lambda *inputs: retention_step_by_step(*inputs)),
        ("two_sided_features", features_with_one_maximum),
        ("merged_halves", merge_by_the_larger),
        ("online_entropy", online_entropy_by_row),
        ("ring_buffer", ring_by_index),
    ],
)
def test_another_right_answer_passes(id, answer):
    assert check.exercises[id].judge(answer) == (True, "correct.")


def delta_rule_in_place(query, key, value, beta):
    state = key.new_zeros(*key.shape[:2], key.shape[3], value.shape[3])
    outputs = []
    for t in range(key.shape[2]):
        found = torch.einsum("bhkd,bhk->bhd", state, key[:, :, t])
        change = beta[:, :, t, None] * (value[:, :, t] - found)
        state += torch.einsum("bhk,bhd->bhkd", key[:, :, t], change)
        outputs.append(torch.einsum("bhkd,bhk->bhd", state, query[:, :, t]))
    return torch.stack(outputs, 2)


def retention_in_place(phi_q, phi_k, value, gamma):
    sums, total = torch.zeros_like(phi_k[:, :, 0, :, None] * value[:, :, 0, None]), 0
    steps = []
    for t in range(phi_q.shape[2]):
        sums *= gamma[:, None, None]
        sums += phi_k[:, :, t, :, None] * value[:, :, t, None]
        total = gamma[:, None] * total + phi_k[:, :, t]
        weighted = (phi_q[:, :, t, None] @ sums)[:, :, 0]
        steps.append(weighted / (phi_q[:, :, t] * total).sum(-1, keepdim=True))
    return torch.stack(steps, 2)


@pytest.mark.parametrize(
    ("id", "answer"), [("retention", retention_in_place), ("delta_rule", delta_rule_in_place)]
)
def test_a_state_in_place_that_autograd_refuses_is_not_told_a_line_of_the_check(id, answer):
    _, sentence = check.exercises[id].judge(answer)
    assert "it overwrites a tensor that the gradient needs" in sentence


def test_a_state_in_single_precision_passes():
    def from_zeros(query, key, value, beta):
        B, h, T, d_k = key.shape
        state, outputs = torch.zeros(B, h, d_k, value.shape[3]), []
        for t in range(T):
            found = torch.einsum("bhkd,bhk->bhd", state, key[:, :, t])
            change = beta[:, :, t, None] * (value[:, :, t] - found)
            state = state + torch.einsum("bhk,bhd->bhkd", key[:, :, t], change)
            outputs.append(torch.einsum("bhkd,bhk->bhd", state, query[:, :, t]))
        return torch.stack(outputs, 2)

    assert check.exercises["delta_rule"].judge(from_zeros) == (True, "correct.")


def mask_as_a_loop(count, first=0):
    def mask(T, window, dilation):
        seen = torch.zeros(T, T, dtype=torch.bool)
        for t in range(T):
            for j in range(first, count(window)):
                if t - j * dilation >= 0:
                    seen[t, t - j * dilation] = True
        return seen

    return mask


def pairs_as_formula(T, window, n_global):
    """Count the rows of the global positions, and forget their columns."""
    return n_global * T + sum(
        min(T - 1, t + window) - max(0, t - window) + 1 for t in range(n_global, T)
    )


def retention_step_by_step(phi_q, phi_k, value, gamma, fade_total=True, divide=True):
    sums, total, steps = 0, 0, []
    for q, k, v in zip(phi_q.unbind(2), phi_k.unbind(2), value.unbind(2), strict=True):
        sums = gamma[:, None, None] * sums + k[..., None] * v[..., None, :]
        total = (gamma[:, None] if fade_total else 1) * total + k
        context = (q[..., None] * sums).sum(-2)
        steps.append(context / (q * total).sum(-1, keepdim=True) if divide else context)
    return torch.stack(steps, dim=2)


def retention_with_powers_of_both_signs(phi_q, phi_k, value, gamma):
    powers = gamma.log()[:, None] * torch.arange(phi_q.shape[2])  # (h, T)
    sums = (powers.exp()[..., None] * phi_q) @ ((-powers).exp()[..., None] * phi_k).mT
    return sums.tril() @ value / sums.tril().sum(-1, keepdim=True)


def retention_by_logarithms(phi_q, phi_k, value, gamma):
    t = torch.arange(phi_q.shape[2])
    back = (t[:, None] - t).clamp(min=0)
    decay = (back * gamma.log().view(-1, 1, 1)).exp().masked_fill(t[:, None] < t, 0)
    weights = decay * (phi_q @ phi_k.mT)
    return weights @ value / weights.sum(-1, keepdim=True)


def merge_by_a_ratio(context_1, log_sum_1, context_2, log_sum_2):
    x = (log_sum_1 - log_sum_2).exp()
    context = (x[..., None] * context_1 + context_2) / (x[..., None] + 1)
    return context, log_sum_2 + (x + 1).log()


def merge_by_a_ratio_to_the_first(context_1, log_sum_1, context_2, log_sum_2):
    return merge_by_a_ratio(context_2, log_sum_2, context_1, log_sum_1)


def merge_with_the_maximum_of_all(context_1, log_sum_1, context_2, log_sum_2):
    m = max(log_sum_1.max(), log_sum_2.max())
    a, b = (log_sum_1 - m).exp()[..., None], (log_sum_2 - m).exp()[..., None]
    return (a * context_1 + b * context_2) / (a + b), m + (a + b).log()[..., 0]


def band_that_hides_scores_of_0(query, key, window):
    near = F.pad(key, (0, 0, window, 0)).unfold(2, window + 1, 1).mT  # (B, h, T, w + 1, d_k)
    scores = (near @ query[..., None])[..., 0] / math.sqrt(query.shape[3])
    return scores.masked_fill(scores == 0, -math.inf).softmax(-1)


def means_of_so_many(query, key, value, key_mask, size):
    """Read the mask as a number of positions."""
    lengths = key_mask.sum(1)
    rows = []
    for q, k, v, n in zip(query, key, value, lengths.tolist(), strict=True):
        cuts = [slice(a, min(a + size, n)) for a in range(0, n, size)]
        k, v = (torch.stack([x[:, cut].mean(1) for cut in cuts], dim=1) for x in (k, v))
        rows.append((q @ k.mT / math.sqrt(q.shape[-1])).softmax(-1) @ v)
    return torch.stack(rows)


def running_entropy_with_the_first_maximum(scores, chunk):
    m, total, summed = scores[:, :chunk].amax(1, keepdim=True), 0, 0
    for piece in scores.split(chunk, 1):
        e = (piece - m).exp()
        total = total + e.sum(1)
        summed = summed + (e * piece).sum(1)
    return m[:, 0] + total.log() - summed / total


def running_entropy_with_one_maximum(scores, chunk):
    m, total, summed = torch.tensor(-math.inf).double(), 0, 0
    for piece in scores.split(chunk, 1):
        new = torch.maximum(m, piece.max())
        e = (piece - new).exp()
        total = (m - new).exp() * total + e.sum(1)
        summed = (m - new).exp() * summed + (e * piece).sum(1)
        m = new
    return m + total.log() - summed / total


def features_with_one_maximum_for_all_heads(query, key, value, omega):
    phi = []
    for x in (query, key):
        x = x / x.shape[3] ** 0.25
        half = x.square().sum(-1, keepdim=True) / 2
        phi.append(torch.cat([x @ omega.T, -x @ omega.T], dim=-1) - half)
    phi = [(phi[0] - phi[0].amax(3, keepdim=True)).exp(), (phi[1] - phi[1].max()).exp()]
    sums = phi[0] @ (phi[1].mT @ value)
    return sums / (phi[0] @ phi[1].sum(2)[..., None])


@pytest.mark.parametrize(
    ("id", "answer"),
    [
        ("banded_weights", band_that_hides_scores_of_0),
        ("pooled_keys", means_of_so_many),
        ("retention", retention_with_powers_of_both_signs),
        ("two_sided_features", features_with_one_maximum_for_all_heads),
        ("merged_halves", merge_by_a_ratio),
        ("merged_halves", merge_with_the_maximum_of_all),
        ("online_entropy", running_entropy_with_one_maximum),
        ("online_entropy", running_entropy_with_the_first_maximum),
        (
            "online_entropy",
            lambda scores, chunk: -(scores.softmax(1) * scores.softmax(1).log()).sum(1),
        ),
    ],
)
def test_an_answer_right_for_ordinary_inputs_only_fails(id, answer):
    """In another order of operations the answers lost to rounding need not be the mistake's."""
    passed, sentence = check.exercises[id].judge(answer)
    assert passed is False and sentence != "correct."


def continue_from(x, keys, values, W_q, W_k, W_v, positions, start=None, diagonal=None):
    T, S = x.shape[1], keys.shape[1]
    begin = S if start is None else start
    x = x + positions[begin : begin + T]
    keys = torch.cat([keys, x @ W_k.T], 1)
    values = torch.cat([values, x @ W_v.T], 1)
    scores = (x @ W_q.T) @ keys.mT / math.sqrt(x.shape[-1])
    future = torch.ones(T, S + T).triu(1 + (S if diagonal is None else diagonal)).bool()
    return scores.masked_fill(future, -math.inf).softmax(-1) @ values, keys, values


def mask_by_slices(T, window, dilation):
    mask = torch.zeros(T, T)
    for t in range(T):
        mask[t, max(0, t - window * dilation) : t + 1 : dilation] = 1
    return mask.bool()


def pairs_by_ranges(T, window, n_global):
    seen = 0
    for t in range(T):
        if t < n_global:
            seen += T
        else:
            seen += len(set(range(n_global)) | set(range(max(0, t - window), min(T, t + window))))
    return seen


def band_masked_after_softmax(query, key, window):
    near = F.pad(key, (0, 0, window, 0)).unfold(2, window + 1, 1)
    scores = torch.einsum("bhtd,bhtdw->bhtw", query, near) / query.shape[3] ** 0.5
    missing = torch.arange(query.shape[2])[:, None] + torch.arange(-window, 1) < 0
    return scores.softmax(-1).masked_fill(missing, 0)


def retention_with(divide, add=lambda gamma: 1):
    """Return the recurrence with another division, and another share of what is new."""

    def answer(phi_q, phi_k, value, gamma):
        sums, total, steps = 0, 0, []
        for t in range(phi_q.shape[2]):
            k, new = phi_k[:, :, t], add(gamma[:, None])
            sums = gamma[:, None, None] * sums + (new * k)[..., None] * value[:, :, t, None]
            total = gamma[:, None] * total + new * k
            weighted = (phi_q[:, :, t, None] @ sums)[:, :, 0]
            steps.append(weighted / divide(phi_q[:, :, t], total))
        return torch.stack(steps, dim=2)

    return answer


def features_with(shift, norm=0.5, added=0.0):
    """Return the estimate whose keys' maximum and norms are taken off in another way."""

    def answer(query, key, value, omega):
        query, key = (x / x.shape[3] ** 0.25 for x in (query, key))
        both = torch.cat([omega, -omega])
        log_q, log_k = (x @ both.T - norm * x.square().sum(-1, keepdim=True) for x in (query, key))
        phi_q = (log_q - log_q.amax(-1, keepdim=True)).exp() + added
        phi_k = (log_k - log_k.amax(shift, keepdim=True)).exp() + added
        return phi_q @ (phi_k.mT @ value) / (phi_q @ phi_k.sum(2)[..., None])

    return answer


def entropy_with(maximum=torch.maximum, start=-math.inf, end=lambda m: m, drop_rest=False):
    """Return the running entropy with another maximum, another start or another end."""

    def answer(scores, chunk):
        T, S = scores.shape
        m, total, summed = scores.new_full((T,), start), *scores.new_zeros(2, T)
        for first in range(0, S - chunk + 1 if drop_rest else S, chunk):
            piece = scores[:, first : first + chunk]
            new = maximum(m, piece.amax(1))
            e, rescale = (piece - new[:, None]).exp(), (m - new).exp()
            total = rescale * total + e.sum(1)
            summed = rescale * summed + (e * piece).sum(1)
            m = new
        return end(m) + total.log() - summed / total

    return answer


def ring_with(held, cut=False):
    """Return a ring that says in another way which positions it holds."""

    def answer(buffer, length, new):
        slots = buffer.shape[2]
        if cut:
            new = new[:, :, -slots:]
        out = buffer.clone()
        for i in range(new.shape[2]):
            out[:, :, (length + i) % slots] = new[:, :, i]
        return out, held(length, length + new.shape[2], torch.arange(slots))

    return answer


def last_positions(length, end, slot):
    return torch.tensor([max(range(s, end, len(slot)), default=-1) for s in slot.tolist()])


def linear_attention_without_normaliser(query, key, value, beta):
    return (query @ key.mT).tril() @ value


@pytest.mark.parametrize(
    ("id", "mistake", "answer"),
    [
        ("cost_of_pairs", "three_projections", 2816),
        ("cache_size", "queries_too", 6.25),
        ("cache_size", "mebibytes", 1280),
        ("dilated_window", "one_long", mask_as_a_loop(lambda window: window + 2)),
        ("dilated_window", "counted_from_the_beginning", mask_by_slices),
        ("count_of_pairs", "last_left_out", pairs_by_ranges),
        ("banded_weights", "masked_too_late", band_masked_after_softmax),
        (
            "retention",
            "normaliser_without_the_query",
            retention_with(lambda q, total: total.sum(-1, keepdim=True)),
        ),
        (
            "retention",
            "small_number_added",
            retention_with(lambda q, total: (q * total).sum(-1, keepdim=True) + 1e-6),
        ),
        (
            "retention",
            "running_average",
            retention_with(
                lambda q, total: (q * total).sum(-1, keepdim=True), add=lambda gamma: 1 - gamma
            ),
        ),
        ("two_sided_features", "maxima_not_given_back", features_with(2)),
        ("two_sided_features", "norm_not_halved", features_with((2, 3), norm=1.0)),
        ("two_sided_features", "small_number_added", features_with((2, 3), added=1e-4)),
        (
            "two_sided_features",
            "not_estimated",
            lambda q, k, v, _: F.scaled_dot_product_attention(q, k, v),
        ),
        ("running_maximum", "halving", 10),
        ("running_maximum", "first_left_out", 6.49),
        (
            "online_entropy",
            "log_of_0",
            lambda scores, chunk: -(scores.softmax(1) * scores.softmax(1).log()).sum(1),
        ),
        ("online_entropy", "maximum_of_the_chunk", entropy_with(maximum=lambda m, new: new)),
        ("online_entropy", "maximum_from_0", entropy_with(start=0.0)),
        ("online_entropy", "maximum_forgotten", entropy_with(end=lambda m: 0)),
        ("online_entropy", "rest_left_out", entropy_with(drop_rest=True)),
        (
            "cached_attention",
            "positions_from_1",
            lambda *x: continue_from(*x, start=x[1].shape[1] + 1),
        ),
        ("cached_attention", "one_ahead", lambda *x: continue_from(*x, diagonal=x[1].shape[1] + 1)),
        (
            "ring_buffer",
            "counted_below_0",
            ring_with(lambda length, end, slot: end - 1 - (end - 1 - slot) % len(slot)),
        ),
        ("ring_buffer", "cut_without_counting", ring_with(last_positions, cut=True)),
        (
            "ring_buffer",
            "positions_in_order",
            ring_with(lambda *x: last_positions(*x).sort().values),
        ),
        ("delta_rule", "plain_sum_without_beta", linear_attention_without_normaliser),
        ("dilated_window", "one_short", mask_as_a_loop(lambda window: window)),
        ("dilated_window", "not_itself", mask_as_a_loop(lambda window: window + 1, first=1)),
        ("count_of_pairs", "one_way", pairs_as_formula),
        (
            "retention",
            "normaliser_kept",
            lambda *inputs: retention_step_by_step(*inputs, fade_total=False),
        ),
        (
            "retention",
            "no_normaliser",
            lambda *inputs: retention_step_by_step(*inputs, divide=False),
        ),
        ("banded_weights", "zeros_hidden", band_that_hides_scores_of_0),
        ("pooled_keys", "mask_as_length", means_of_so_many),
        ("retention", "decayed_at_once", retention_by_logarithms),
        ("merged_halves", "beside_the_first", merge_by_a_ratio_to_the_first),
        ("cached_attention", "positions_from_0", lambda *inputs: continue_from(*inputs, start=0)),
        ("cached_attention", "wrong_corner", lambda *inputs: continue_from(*inputs, diagonal=0)),
    ],
)
def test_a_mistake_made_in_another_way_is_named_too(id, mistake, answer):
    exercise = check.exercises[id]
    assert exercise.judge(answer) == (False, exercise.mistakes[mistake].says)
