"""The reference solutions of Day 5, held to the library and to definitions written out as loops."""

import math

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from utils.attention import masked_softmax
from utils.exercises.self_attention import check
from utils.exercises.self_attention.alibi import alibi_weights
from utils.exercises.self_attention.attention_dropout import dropped_weights
from utils.exercises.self_attention.cut_edge import without_edge
from utils.exercises.self_attention.induction_head import what_followed
from utils.exercises.self_attention.leaked_order import different_rows
from utils.exercises.self_attention.library_mask import library_mask
from utils.exercises.self_attention.packed_documents import packed_mask
from utils.exercises.self_attention.reach import rows_that_change
from utils.exercises.self_attention.rotary_halves import rotary_halves
from utils.exercises.self_attention.shift_matrix import shift_matrix
from utils.exercises.self_attention.silenced_head import silenced
from utils.exercises.self_attention.softmax_gradient import score_gradient
from utils.exercises.self_attention.top_k_attention import top_k_weights
from utils.exercises.self_attention.unit_variance import unit_scores
from utils.positions import Rotary, sinusoidal
from utils.self_attention import MultiHeadAttention, causal_mask, dot_product_attention


def draw(*shape: int, seed: int = 0) -> torch.Tensor:
    return torch.randn(*shape, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))


def build(cls, *sizes: int, **options) -> nn.Module:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        return cls(*sizes, **options).double()


@pytest.mark.parametrize(("window", "n_layers"), [(3, 1), (3, 2), (2, 3), (4, 2)])
def test_a_change_reaches_as_far_as_windows_add_up(window, n_layers):
    assert rows_that_change(window, n_layers) == 1 + n_layers * (window - 1)


def test_packed_documents_are_read_as_in_rows_of_their_own():
    layer, x = build(MultiHeadAttention, 6, 2), draw(1, 9, 6)
    document = torch.tensor([[1, 1, 2, 2, 2, 3, 3, 0, 0]])
    packed, weights = layer(x, mask=packed_mask(document), need_weights=True)
    apart = [layer(part, is_causal=True)[0] for part in x[:, :7].split([2, 3, 2], dim=1)]
    torch.testing.assert_close(packed[:, :7], torch.cat(apart, dim=1))
    assert not weights[:, :, 7:].any() and not weights[..., 7:].any()


@pytest.mark.parametrize(
    ("var_q", "var_k", "d_k"), [(1.0, 1.0, 16), (9.0, 0.25, 64), (0.1, 4.0, 8)]
)
def test_scores_have_a_variance_of_one(var_q, var_k, d_k):
    query, key = (
        math.sqrt(var_q) * draw(1, 1, 900, d_k),
        math.sqrt(var_k) * draw(1, 1, 800, d_k, seed=1),
    )
    assert unit_scores(query, key, var_q, var_k).var().item() == pytest.approx(1, rel=0.1)


@pytest.mark.parametrize("n_heads", [2, 3])
def test_the_librarys_mask_does_what_its_padding_mask_does(n_heads):
    library = build(nn.MultiheadAttention, 6, n_heads, batch_first=True)
    source, target = (
        torch.tensor([[3, 4, 0, 0], [5, 0, 0, 0], [1, 2, 3, 4]]),
        torch.tensor([[1, 0, 0]] * 3),
    )
    x, memory = draw(3, 3, 6), draw(3, 4, 6, seed=1)
    mask = library_mask(target, source, n_heads)
    expected, _ = library(x, memory, memory, key_padding_mask=source == 0)
    torch.testing.assert_close(library(x, memory, memory, attn_mask=mask)[0], expected)


@pytest.mark.parametrize("k", [1, 3, 6])
def test_the_best_keys_are_those_of_a_loop(k):
    scores, mask = draw(2, 3, 6, 6), causal_mask(6)
    got = top_k_weights(scores, mask, k)
    for row, weights, allowed in zip(
        scores.flatten(0, 1).flatten(0, 1).tolist(),
        got.flatten(0, 1).flatten(0, 1).tolist(),
        mask.repeat(6, 1).tolist(),
        strict=True,
    ):
        best = sorted((e, s) for s, e in enumerate(row) if allowed[s])[-k:]
        total = sum(math.exp(e) for e, _ in best)
        expected = {s: math.exp(e) / total for e, s in best}
        assert weights == pytest.approx([expected.get(s, 0) for s in range(6)])


def test_dropout_is_the_librarys():
    scores = draw(2, 3, 4, 5)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        expected = F.dropout(scores.softmax(-1), 0.3)
    torch.testing.assert_close(dropped_weights(scores, expected != 0, 0.3, True), expected)


@pytest.mark.parametrize("head", [0, 2])
def test_a_silenced_head_is_a_stretch_of_w_o_without_weights(head):
    layer, x = build(MultiHeadAttention, 12, 3, bias=False), draw(2, 5, 12)
    matrices = [
        *(w.detach().clone() for w in layer.W_in.split(12)),
        layer.W_o.weight.detach().clone(),
    ]
    with torch.no_grad():
        layer.W_o.weight[:, 4 * head : 4 * (head + 1)] = 0
        expected, _ = layer(x)
    torch.testing.assert_close(silenced(x, *matrices, 3, head), expected)


def test_equal_symbols_differ_behind_another_one_if_the_future_is_masked():
    assert [different_rows(T) for T in (1, 2, 7)] == [1, 2, 7]
    assert different_rows(7, is_causal=False) == 2


def test_linear_biases_are_those_of_a_loop_and_of_the_whole_sequence():
    scores = draw(2, 4, 6, 6)
    got = alibi_weights(scores)
    for i in range(4):
        slope = 2 ** (-8 * (i + 1) / 4)
        for t in range(6):
            biased = [scores[1, i, t, s].item() - slope * (t - s) for s in range(t + 1)]
            expected = torch.tensor(biased, dtype=torch.float64).softmax(0)
            torch.testing.assert_close(got[1, i, t, : t + 1], expected)
            assert not got[1, i, t, t + 1 :].any()
    torch.testing.assert_close(alibi_weights(scores[:, :, 4:]), got[:, :, 4:])


def test_turned_halves_are_our_rotary_positions_in_another_order():
    x = draw(2, 3, 5, 8)
    order = torch.arange(8).view(2, 4).T.flatten()
    expected = Rotary(8, base=100.0)(x[..., order], start=4)
    torch.testing.assert_close(rotary_halves(x, 4, 100.0)[..., order], expected)


@pytest.mark.parametrize(("k", "d", "base"), [(1, 2, 10.0), (5, 8, 10_000.0), (-3, 6, 100.0)])
def test_the_matrix_walks(k, d, base):
    start, end = (sinusoidal(9, d, start, base, torch.float64) for start in (20, 20 + k))
    torch.testing.assert_close(start @ shift_matrix(k, d, base).T, end)


def test_the_gradient_of_the_scores_is_autograds():
    scores, value, grad = (
        draw(2, 3, 4, 5).requires_grad_(),
        draw(2, 3, 5, 6),
        draw(2, 3, 4, 6, seed=1),
    )
    weights = scores.softmax(-1)
    (expected,) = torch.autograd.grad((weights @ value * grad).sum(), scores)
    got = score_gradient(weights.detach(), value, grad)
    torch.testing.assert_close(got, expected, rtol=1e-10, atol=1e-10)


def test_a_cut_edge_is_a_masked_one():
    query, key, value = draw(2, 3, 4, 5), draw(2, 3, 4, 5, seed=1), draw(2, 3, 4, 6, seed=2)
    _, weights = dot_product_attention(query, key, value, is_causal=True, need_weights=True)
    for t, s in ((0, 0), (3, 1), (1, 3)):
        mask = causal_mask(4)
        mask[t, s] = False
        expected, _ = dot_product_attention(query, key, value, mask)
        torch.testing.assert_close(without_edge(weights, value, t, s), expected)


def test_what_followed_is_what_a_loop_finds():
    ids = torch.randint(4, (3, 15), generator=torch.Generator().manual_seed(0))
    got = what_followed(ids, 4)
    for row, shares in zip(ids.tolist(), got.tolist(), strict=True):
        for t, now in enumerate(row):
            next_ones = [row[s + 1] for s in range(t) if row[s] == now]
            expected = [next_ones.count(v) / max(len(next_ones), 1) for v in range(4)]
            assert shares[t] == pytest.approx(expected)


def verdict(exercise: str, attempt) -> tuple[bool | None, str]:
    return check.exercises[exercise].judge(attempt)


def test_a_mask_from_lengths_is_wrong_where_padding_stands_in_front():
    def from_lengths(target, source, n_heads):
        behind = torch.arange(source.shape[1]) >= (source != 0).sum(1, keepdim=True)
        wide = behind[:, None].expand(-1, target.shape[1], -1)
        return wide.repeat_interleave(n_heads, dim=0)

    passed, says = verdict("library_mask", from_lengths)
    assert not passed and "in front" in says


@pytest.mark.parametrize("filled", [-1e4, -65504.0])
def test_no_number_of_half_precision_is_below_all_scores(filled):
    def top_k(scores, mask, k):
        allowed = scores.masked_fill(~mask, filled)
        kept = allowed >= allowed.topk(k, dim=-1).values[..., -1:]
        return allowed.masked_fill(~kept, filled).softmax(-1)

    passed, says = verdict("top_k_attention", top_k)
    assert not passed and "not below every score" in says


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_slopes_of_any_precision_pass_and_those_of_whole_exponents_do_not(dtype):
    def biased(scores, exponents):
        _, h, T, S = scores.shape
        slopes = 2.0 ** exponents(h, torch.arange(1, h + 1, dtype=dtype))
        distance = torch.arange(S - T, S)[:, None] - torch.arange(S)
        return (
            (scores - slopes[:, None, None] * distance)
            .masked_fill(distance < 0, -math.inf)
            .softmax(-1)
        )

    assert verdict("alibi", lambda scores: biased(scores, lambda h, i: -8 * i / h))[0]
    passed, says = verdict("alibi", lambda scores: biased(scores, lambda h, i: -(8 // h) * i))
    assert not passed and "whole" in says


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_halves_may_be_turned_by_angles_of_any_precision(dtype):
    def turn(x, start, base):
        d = x.shape[-1]
        m, i = torch.arange(start, start + x.shape[-2]), torch.arange(d // 2, dtype=dtype)
        angles = m[:, None] * base ** (-2 * i / d)
        a, b = x[..., : d // 2], x[..., d // 2 :]
        cos, sin = angles.cos(), angles.sin()
        return torch.cat((a * cos - b * sin, a * sin + b * cos), dim=-1)

    assert verdict("rotary_halves", turn) == (True, "correct.")
    assert not verdict("rotary_halves", lambda x, start, base: turn(x, start, 1.01 * base))[0]


def test_attention_that_large_scores_overflow_passes_with_a_remark():
    def by_exponentials(query, key, value):
        powers = (query @ key.mT / math.sqrt(query.shape[-1])).exp()
        weights = powers / powers.sum(-1, keepdim=True)
        return weights @ value, weights

    passed, sentence = verdict("scaled_dot_product", by_exponentials)
    assert passed and sentence.startswith("correct, but where a score is large")


def test_a_rotation_whose_gradient_is_cut_does_not_pass():
    def turn(x, start, base):
        with torch.no_grad():
            change = rotary_halves(x, start, base) - x
        return x + change  # the gradient of a map that turns nothing

    passed, says = verdict("rotary_halves", turn)
    assert not passed and says == "the values are correct, but the gradient is not."


@pytest.mark.parametrize(
    "choose",
    [
        lambda allowed, k: allowed >= allowed.topk(k, dim=-1).values[..., -1:],
        lambda allowed, k: torch.zeros_like(allowed).scatter(-1, allowed.topk(k).indices, 1) > 0,
    ],
)
def test_whoever_forgets_the_mask_at_last_is_told_so(choose):
    def top_k(scores, mask, k):
        allowed = scores.masked_fill(~mask, -math.inf)
        return masked_softmax(scores, choose(allowed, k))

    passed, says = verdict("top_k_attention", top_k)
    assert not passed and "fewer than k" in says


def test_a_cut_edge_may_be_taken_out_of_the_context():
    def without(weights, value, t, s):
        context, weight = weights @ value, weights[:, :, t, s, None]
        rest = 1 - weight
        cut = (context[:, :, t] - weight * value[:, :, s]) / rest.masked_fill(rest == 0, 1)
        context[:, :, t] = cut
        return context

    assert verdict("cut_edge", without) == (True, "correct.")


# Right answers, written differently ---------------------------------------------------------------


def pair_by_pair(document):
    B, T = document.shape
    mask = torch.zeros(B, 1, T, T, dtype=torch.bool)
    for b in range(B):
        for t in range(T):
            for s in range(t + 1):
                mask[b, 0, t, s] = document[b, s] == document[b, t] > 0
    return mask


def by_a_root_in_single_precision(query, key, var_q, var_k):
    return query @ key.transpose(-2, -1) / torch.sqrt(torch.tensor(query.size(-1) * var_q * var_k))


def scaled_before_the_product(query, key, var_q, var_k):
    return torch.einsum(
        "bhtd,bhsd->bhts", query / var_q**0.5, key / (query.shape[-1] * var_k) ** 0.5
    )


def head_by_head(target, source, n_heads):
    B, (T, S) = len(source), (target.shape[1], source.shape[1])
    mask = torch.zeros(B * n_heads, T, S, dtype=torch.bool)
    for b in range(B):
        for i in range(n_heads):
            mask[b * n_heads + i] = source[b] == 0
    return mask


def query_by_query(scores, mask, k):
    weights, mask = torch.zeros_like(scores), mask.expand_as(scores)
    for at in torch.cartesian_prod(*map(torch.arange, scores.shape[:3])).tolist():
        row, allowed = scores[tuple(at)], mask[tuple(at)].nonzero().flatten().tolist()
        best = sorted(allowed, key=row.tolist().__getitem__, reverse=True)[:k]
        if best:
            weights[(*at, best)] = row[best].softmax(0)
    return weights


def scattered(scores, mask, k):
    best = scores.masked_fill(~mask, -math.inf).topk(k, dim=-1)
    weights = best.values.softmax(-1).nan_to_num(0)
    return torch.zeros_like(scores).scatter(-1, best.indices, weights)


def shares_divided_again(scores, mask, k):
    weights = masked_softmax(scores, mask)
    weights = torch.zeros_like(weights).scatter(-1, (best := weights.topk(k)).indices, best.values)
    total = weights.sum(-1, keepdim=True)
    return weights / torch.where(total > 0, total, 1)


def filled_into_zeros(scores, kept, p, training):
    weights = scores.softmax(-1)
    if not training:
        return weights
    dropped = torch.zeros(scores.shape)
    dropped[kept] = weights[kept].float() / (1 - p)
    return dropped


def stretch_by_stretch(x, W_q, W_k, W_v, W_o, n_heads, head):
    d_k = len(W_q) // n_heads
    outputs = torch.zeros(x.shape)
    for i in range(n_heads):
        if i != head:
            columns = slice(i * d_k, (i + 1) * d_k)
            q, k, v = (x @ W[columns].T for W in (W_q, W_k, W_v))
            outputs = outputs + F.scaled_dot_product_attention(q, k, v) @ W_o[:, columns].T
    return outputs


def in_place(x, W_q, W_k, W_v, W_o, n_heads, head):
    B, T, D = x.shape
    q, k, v = ((x @ W.T).view(B, T, n_heads, -1).transpose(1, 2) for W in (W_q, W_k, W_v))
    scores = q @ k.transpose(-2, -1) / torch.sqrt(torch.tensor(D // n_heads))
    context = scores.softmax(-1) @ v
    context[:, head] = 0
    return context.transpose(1, 2).reshape(B, T, D) @ W_o.T


def by_the_keys_position_alone(scores):  # what all keys of a query share cancels
    _, h, T, S = scores.shape
    m = 2.0 ** (-8 / h * torch.arange(1, h + 1)).view(h, 1, 1)
    past = torch.ones(T, S).tril(S - T).bool()
    return (scores + m * torch.arange(S)).masked_fill(~past, -math.inf).softmax(-1)


def position_by_position(scores):
    _, h, T, S = scores.shape
    weights = torch.zeros(scores.shape)
    for i in range(h):
        for t in range(T):
            seen = S - T + t + 1
            paid = torch.tensor([2 ** (-8 * (i + 1) / h) * (seen - 1 - s) for s in range(seen)])
            weights[:, i, t, :seen] = (scores[:, i, t, :seen] - paid).softmax(-1).float()
    return weights


def by_rotated_halves(x, start, base):
    T, d = x.shape[-2:]
    angles = torch.outer(torch.arange(start, start + T), base ** (-torch.arange(0, d, 2) / d))
    angles = torch.cat([angles, angles], dim=-1)
    return x * angles.cos() + torch.cat([-x[..., d // 2 :], x[..., : d // 2]], -1) * angles.sin()


def by_complex_numbers(x, start, base):
    T, d = x.shape[-2:]
    angles = torch.arange(start, start + T)[:, None] * base ** (-torch.arange(0, d, 2) / d)
    turned = torch.complex(*x.chunk(2, dim=-1)) * torch.polar(torch.ones_like(angles), angles)
    return torch.cat([turned.real, turned.imag], dim=-1)


def block_by_block(k, d, base):
    M = torch.zeros(d, d)
    for i in range(0, d, 2):
        angle = k * base ** (-i / d)
        M[i, i] = M[i + 1, i + 1] = math.cos(angle)
        M[i, i + 1], M[i + 1, i] = math.sin(angle), -math.sin(angle)
    return M


def by_the_jacobian(weights, value, grad_context):
    with torch.no_grad():
        jacobian = torch.diag_embed(weights) - weights[..., :, None] * weights[..., None, :]
        return (jacobian @ (grad_context @ value.mT)[..., None]).squeeze(-1)


def by_autograd(weights, value, grad_context):
    scores = weights.log().requires_grad_()
    return torch.autograd.grad((scores.softmax(-1) @ value * grad_context).sum(), scores)[0]


def divided_by_what_is_left(weights, value, t, s):
    weights = weights.clone()
    left = 1 - weights[:, :, t, s, None]
    weights[:, :, t, s] = 0
    weights[:, :, t] = (weights[:, :, t] / left).nan_to_num(0)
    return weights @ value


def sum_kept_off_0(weights, value, t, s):
    left = weights.clone()
    left[:, :, t, s] = 0
    return left / (left.sum(-1, keepdim=True) + 1e-12) @ value


def counted_in_a_loop(ids, vocab_size):
    shares = torch.zeros(*ids.shape, vocab_size)
    for b, row in enumerate(ids.tolist()):
        for t, now in enumerate(row):
            followed = [row[s + 1] for s in range(t) if row[s] == now]
            for v in followed:
                shares[b, t, v] += 1 / len(followed)
    return shares


def counted_and_divided(ids, vocab_size):
    T = ids.shape[1]
    same = (ids[:, :, None] == ids[:, None, :-1]) & torch.ones(T, T - 1).tril(-1).bool()
    counts = same.double() @ F.one_hot(ids[:, 1:], vocab_size).double()
    return counts / counts.sum(-1, keepdim=True).clamp_min(1)


def row_by_row(x, table, start=0):
    y = x.clone()
    for t in range(x.shape[1]):
        y[:, t] += table[start + t]
    return y


def looked_up(x, table, start=0):
    return x + F.embedding(torch.arange(x.shape[1]) + start, table)


RIGHT = [
    *[("give_order", row_by_row), ("give_order", looked_up)],
    *[
        ("packed_documents", pair_by_pair),
        ("library_mask", head_by_head),
        ("attention_dropout", filled_into_zeros),
    ],
    *[
        ("unit_variance", by_a_root_in_single_precision),
        ("unit_variance", scaled_before_the_product),
    ],
    *[
        ("top_k_attention", query_by_query),
        ("top_k_attention", scattered),
        ("top_k_attention", shares_divided_again),
    ],
    *[("silenced_head", stretch_by_stretch), ("silenced_head", in_place)],
    *[("alibi", by_the_keys_position_alone), ("alibi", position_by_position)],
    *[
        ("rotary_halves", by_rotated_halves),
        ("rotary_halves", by_complex_numbers),
        ("shift_matrix", block_by_block),
    ],
    *[("softmax_gradient", by_the_jacobian), ("softmax_gradient", by_autograd)],
    *[("cut_edge", divided_by_what_is_left), ("cut_edge", sum_kept_off_0)],
    *[("induction_head", counted_in_a_loop), ("induction_head", counted_and_divided)],
]


@pytest.mark.parametrize(("id", "attempt"), RIGHT)
def test_another_right_answer_passes(id, attempt):
    assert verdict(id, attempt) == (True, "correct.")


# Wrong answers as people write them, with words of their name -------------------------------------


def chosen_before_the_mask(scores, mask, k):
    best = torch.zeros_like(scores).scatter(-1, scores.topk(k, dim=-1).indices, 1) > 0
    return masked_softmax(scores, mask & best)


def chosen_before_the_mask_without_masked_softmax(scores, mask, k):
    best = scores.topk(k, dim=-1)
    kept = torch.full_like(scores, -math.inf).scatter(-1, best.indices, best.values)
    return kept.masked_fill(~mask, -math.inf).softmax(-1)


def safe_by_a_trillionth(scores, mask, k):
    allowed = scores.masked_fill(~mask, -math.inf)
    highest = allowed.amax(-1, keepdim=True)
    kept = (allowed - highest.masked_fill(highest.isinf(), 0)).exp()
    kept = kept * (allowed >= allowed.topk(k, dim=-1).values[..., -1:])
    return kept / kept.sum(-1, keepdim=True).clamp_min(1e-12)


def divided_again(scores, mask, k):
    best = scores.masked_fill(~mask, -math.inf).topk(k, dim=-1).indices
    weights = scores.softmax(-1) * torch.zeros_like(scores).scatter(-1, best, 1) * mask
    total = weights.sum(-1, keepdim=True)
    return weights / torch.where(total > 0, total, 1)


def divided_again_safe_by_a_trillionth(scores, mask, k):
    best = scores.masked_fill(~mask, -math.inf).topk(k, dim=-1).indices
    weights = scores.softmax(-1) * torch.zeros_like(scores).scatter(-1, best, 1) * mask
    return weights / weights.sum(-1, keepdim=True).clamp_min(1e-12)


def strictly_above(scores, mask, k):
    allowed = scores.masked_fill(~mask, -math.inf)
    return masked_softmax(scores, mask & (allowed > allowed.topk(k).values[..., -1:]))


def blocked_rows_of_padding(target, source, n_heads):
    wide = (source == 0)[:, None] | (target == 0)[:, :, None]
    return wide[:, None].expand(-1, n_heads, -1, -1).flatten(0, 1)


def blocked_between_padding(target, source, n_heads):
    return ((source == 0)[:, None] & (target == 0)[:, :, None]).repeat_interleave(n_heads, 0)


def untransposed_heads(x, W_q, W_k, W_v, W_o, n_heads, head):
    q, k, v = ((x @ W.T).view(*x.shape[:2], n_heads, -1) for W in (W_q, W_k, W_v))
    context = F.scaled_dot_product_attention(q, k, v)
    context[:, :, head] = 0
    return context.flatten(2) @ W_o.T


def left_out(x, W_q, W_k, W_v, W_o, n_heads, head):
    q, k, v = ((x @ W.T).chunk(n_heads, dim=-1) for W in (W_q, W_k, W_v))
    heads = [i for i in range(n_heads) if i != head]
    return torch.cat([F.scaled_dot_product_attention(q[i], k[i], v[i]) for i in heads], -1) @ W_o.T


def written_over(x, start, base):
    d, T = x.shape[-1], x.shape[-2]
    angles = torch.arange(start, start + T)[:, None] * base ** (-torch.arange(0, d, 2) / d)
    cos, sin, x = angles.cos(), angles.sin(), x.clone()
    x[..., : d // 2] = x[..., : d // 2] * cos - x[..., d // 2 :] * sin
    x[..., d // 2 :] = x[..., d // 2 :] * cos + x[..., : d // 2] * sin
    return x


def angles_side_by_side(x, start, base):
    d, T = x.shape[-1], x.shape[-2]
    angles = torch.arange(start, start + T)[:, None] * base ** (-torch.arange(0, d, 2) / d)
    angles = angles.repeat_interleave(2, dim=-1)
    return x * angles.cos() + torch.cat([-x[..., d // 2 :], x[..., : d // 2]], -1) * angles.sin()


def column_by_column(k, d, base):
    M = torch.zeros(d, d, dtype=torch.float64)
    for i in range(0, d, 2):
        angle = torch.tensor(k * base ** (-2 * i / d), dtype=torch.float64)
        M[i, i] = M[i + 1, i + 1] = angle.cos()
        M[i, i + 1], M[i + 1, i] = angle.sin(), -angle.sin()
    return M


def mean_summed(weights, value, grad_context):
    g = grad_context @ value.mT
    return weights * (g - (weights * g).sum())


def without_edge_by(divide):
    def attempt(weights, value, t, s):
        left = weights.clone()
        left[:, :, t, s] = 0
        return divide(left, left.sum(-1, keepdim=True)) @ value

    return attempt


def divided_by_no_match(ids, vocab_size):
    T = ids.shape[1]
    same = (ids[:, :, None] == ids[:, None, :-1]) & torch.ones(T, T - 1).tril(-1).bool()
    counts = same.float() @ F.one_hot(ids[:, 1:], vocab_size).float()
    return counts / counts.sum(-1, keepdim=True)


def first_match(ids, vocab_size):
    shares = torch.zeros(*ids.shape, vocab_size)
    for b, row in enumerate(ids.tolist()):
        for t, now in enumerate(row):
            if now in row[:t]:
                shares[b, t, row[row.index(now) + 1]] = 1
    return shares


NAMED = [
    ("give_order", lambda x, table, start=0: x + table[: x.shape[1]], "always gets row 0"),
    ("self_attention_parameters", 4 * 48 * 48 + 3 * 48, "W_o has a bias"),
    ("self_attention_parameters", 4 * 48 * 48 + 3 * 8 + 48, "all heads together"),
    ("packed_documents", lambda d: d[:, None, :, None] == d[:, None, None], "sees its future"),
    ("unit_variance", lambda q, k, a, b: q @ k.mT / math.sqrt(a * b), "grows with d_k"),
    ("library_mask", blocked_rows_of_padding, "a query that is padding is blocked everywhere"),
    ("library_mask", blocked_between_padding, "padding themselves"),
    ("top_k_attention", chosen_before_the_mask, "takes one of the k places."),
    (
        "top_k_attention",
        chosen_before_the_mask_without_masked_softmax,
        "takes one of the k places, and",
    ),
    ("top_k_attention", safe_by_a_trillionth, "as small as a billionth is 0"),
    ("top_k_attention", divided_again, "the masked keys take part"),
    ("top_k_attention", divided_again_safe_by_a_trillionth, "two things at once"),
    ("top_k_attention", strictly_above, "one key too few"),
    ("attention_dropout", lambda e, kept, p, training: e.softmax(-1) * kept, "in evaluation, too"),
    ("silenced_head", untransposed_heads, "the heads of one position"),
    ("silenced_head", left_out, "keeps its place"),
    ("rotary_halves", written_over, "turned already"),
    ("rotary_halves", angles_side_by_side, "repeated for two neighbours"),
    ("shift_matrix", column_by_column, "counts pairs, not columns"),
    ("softmax_gradient", mean_summed, "over all queries and heads"),
    ("cut_edge", without_edge_by(lambda left, sum: left / sum.clamp_min(1e-6)), "has little left"),
    ("cut_edge", without_edge_by(lambda left, sum: left / (sum + 1e-9)), "a billionth"),
    ("cut_edge", without_edge_by(lambda left, sum: left / (sum + 1e-8)), "no longer sum to 1"),
    ("induction_head", divided_by_no_match, "divide 0 by 0"),
    ("induction_head", first_match, "the first time alone"),
]


@pytest.mark.parametrize(("id", "attempt", "words"), NAMED)
def test_a_common_mistake_is_named_in_other_peoples_code(id, attempt, words):
    passed, says = verdict(id, attempt)
    assert passed is False and words in says
    assert says in {mistake.says for mistake in check.exercises[id].mistakes.values()}


def test_a_sum_that_is_off_by_a_millionth_is_said_to_be_wrong_not_imprecise():
    add = without_edge_by(lambda left, sum: left / (sum + 1e-6))
    passed, says = verdict("cut_edge", add)
    assert passed is False and says.startswith("looking at a query that saw hardly anything else: ")
    assert "are wrong" in says


def test_in_half_precision_a_query_without_a_key_gets_zeros():
    def top_k(scores, mask, k):
        weights = check.exercises["top_k_attention"].reference(scores, mask, k)
        spoilt = scores.dtype is torch.float16 and ~mask.any(-1, keepdim=True)
        return weights.masked_fill(torch.as_tensor(spoilt), math.nan)

    assert verdict("top_k_attention", top_k)[0] is False
