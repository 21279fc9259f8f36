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

    passed, says = verdict("5.5", from_lengths)
    assert not passed and "in front" in says


@pytest.mark.parametrize("filled", [-1e4, -65504.0])
def test_no_number_of_half_precision_is_below_all_scores(filled):
    def top_k(scores, mask, k):
        allowed = scores.masked_fill(~mask, filled)
        kept = allowed >= allowed.topk(k, dim=-1).values[..., -1:]
        return allowed.masked_fill(~kept, filled).softmax(-1)

    passed, says = verdict("5.6", top_k)
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

    assert verdict("5.10", lambda scores: biased(scores, lambda h, i: -8 * i / h))[0]
    passed, says = verdict("5.10", lambda scores: biased(scores, lambda h, i: -(8 // h) * i))
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

    assert verdict("5.11", turn) == (True, "correct.")
    assert not verdict("5.11", lambda x, start, base: turn(x, start, 1.01 * base))[0]


def test_a_rotation_whose_gradient_is_cut_does_not_pass():
    def turn(x, start, base):
        with torch.no_grad():
            change = rotary_halves(x, start, base) - x
        return x + change  # the gradient of a map that turns nothing

    passed, says = verdict("5.11", turn)
    assert not passed and says == "the values are right, but the gradient is not."


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

    passed, says = verdict("5.6", top_k)
    assert not passed and "fewer than k" in says


def test_a_cut_edge_may_be_taken_out_of_the_context():
    def without(weights, value, t, s):
        context, weight = weights @ value, weights[:, :, t, s, None]
        rest = 1 - weight
        cut = (context[:, :, t] - weight * value[:, :, s]) / rest.masked_fill(rest == 0, 1)
        context[:, :, t] = cut
        return context

    assert verdict("5.14", without) == (True, "correct.")
