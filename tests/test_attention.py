"""Day 4's attention equals loops and the library, in value and gradient, masked rows included."""

import copy
import math

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from utils.attention import (
    AdditiveScore,
    Attention,
    ConcatScore,
    DotScore,
    GeneralScore,
    LocalAttention,
    ScaledDotScore,
    blanked,
    masked_softmax,
    padding_mask,
)

EXACT = {"rtol": 1e-10, "atol": 1e-10}
B, T, S, D_Q, D_K, D_V, N = 3, 4, 6, 5, 7, 2, 8
SIZES = [(B, T, S), (4, 4, 6), (2, 5, 5), (1, 1, 9), (3, 3, 3)]  # B = T, T = S, one query, all


def draw(*shape: int, seed: int = 0) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed + sum(shape))
    return torch.randn(*shape, dtype=torch.float64, generator=generator)


def some(*shape: int, seed: int = 0) -> torch.Tensor:
    """Draw a mask; of several sources, the last one's first query sees nothing."""
    mask = draw(*shape, seed=seed) > -0.5
    mask[..., 0] = True
    if len(shape) == 3 and shape[0] > 1:
        mask[-1, 0] = False
    return mask


def gradients(y: torch.Tensor, inputs: list[torch.Tensor]) -> list[torch.Tensor]:
    """Differentiate one random weighting of y by each input."""
    return list(torch.autograd.grad((draw(*y.shape, seed=1) * y).sum(), inputs))


def assert_same(ours, other, *inputs: torch.Tensor) -> None:
    """Compare results, a tensor or several, and gradients by every input."""
    results = []
    for function in (ours, other):
        leaves = [x.detach().clone().requires_grad_() for x in inputs]
        y = function(*leaves)
        y = y if isinstance(y, tuple) else (y,)
        results.append([*y, *gradients(torch.cat([part.flatten() for part in y]), leaves)])
    for a, b in zip(*results, strict=True):
        assert a.abs().max() > 0
        torch.testing.assert_close(a, b, **EXACT)


# The softmax and its mask -------------------------------------------------------------------------


def test_weights_are_the_softmax_of_what_is_not_masked():
    scores, mask = draw(B, T, S), some(B, T, S)
    weights = masked_softmax(scores, mask)
    for b in range(B):
        for t in range(T):
            seen = mask[b, t]
            assert torch.all(weights[b, t, ~seen] == 0)
            torch.testing.assert_close(weights[b, t, seen], scores[b, t, seen].softmax(0), **EXACT)


def test_rows_sum_to_one_over_the_source():
    weights = masked_softmax(draw(B, T, S), some(B, T, S))
    expected = some(B, T, S).any(-1).double()
    torch.testing.assert_close(weights.sum(dim=-1), expected, **EXACT)
    torch.testing.assert_close(masked_softmax(draw(B, T, S)), draw(B, T, S).softmax(-1), **EXACT)


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.float16, torch.bfloat16])
@pytest.mark.parametrize("mask_shape", [(B, T, S), (B, 1, S), (1, 1, S), (T, S), (S,), (B, 1, 1)])
@pytest.mark.filterwarnings("ignore:Anomaly Detection")
def test_a_fully_masked_row_gives_zeros_and_finite_gradients(dtype, mask_shape):
    scores = draw(B, T, S).to(dtype).requires_grad_()
    mask = torch.zeros(mask_shape, dtype=torch.bool)
    with torch.autograd.detect_anomaly():  # no NaN on the way either
        weights = masked_softmax(scores, mask)
        assert weights.dtype == dtype and torch.all(weights == 0)
        (gradient,) = torch.autograd.grad((weights * weights.new_tensor(range(S))).sum(), scores)
    assert torch.all(gradient == 0)


@pytest.mark.parametrize("dtype", [torch.float64, torch.float16, torch.bfloat16])
@pytest.mark.parametrize("sign", [1, -1])
def test_huge_scores_stay_right(dtype, sign):
    scores = torch.tensor([[sign * 1e4, sign * 1e4, 6e4, 0.0]], dtype=dtype, requires_grad=True)
    mask = torch.tensor([[True, True, False, False]])
    weights = masked_softmax(scores, mask)
    assert weights.tolist() == [[0.5, 0.5, 0, 0]]
    (gradient,) = torch.autograd.grad(weights[0, 0], scores)
    torch.testing.assert_close(gradient, scores.new_tensor([[0.25, -0.25, 0, 0]]))


def test_a_score_of_minus_a_billion_is_still_no_mask():
    scores = torch.tensor([-1e9, -1e9 + 1, 5.0], dtype=torch.float64)
    weights = masked_softmax(scores, torch.tensor([True, True, False]))
    torch.testing.assert_close(weights[:2], torch.tensor([-1.0, 0.0]).double().softmax(0), **EXACT)
    assert weights[2] == 0


@pytest.mark.parametrize("fused", [False, True])
@pytest.mark.parametrize(
    "mask, message",
    [
        (torch.ones(B, T, S), "boolean.*float32"),
        (torch.ones(B, T, S, dtype=torch.int64), "boolean.*int64"),
        ([[True] * S] * T, "boolean.*list"),
        (torch.ones(B, S, dtype=torch.bool), r"\(3, 6\).*\(3, 4, 6\)"),
        (torch.ones(B, T, S + 1, dtype=torch.bool), r"\(3, 4, 7\).*\(3, 4, 6\)"),
        (torch.ones(1, B, T, S, dtype=torch.bool), r"\(1, 3, 4, 6\).*\(3, 4, 6\)"),
    ],
)
def test_a_mask_of_the_wrong_kind_is_named(mask, message, fused):
    query, keys, values = draw(B, T, N), draw(B, S, N), draw(B, S, D_V)
    with pytest.raises(ValueError, match=message):
        Attention(ScaledDotScore())(query, keys, values, mask, need_weights=not fused)
    with pytest.raises(ValueError, match=message):
        LocalAttention(DotScore(), 2)(query, keys, values, mask)


def test_a_padding_mask_is_true_where_there_are_symbols():
    mask = padding_mask(torch.tensor([1, 3, 2]), 3)
    assert mask.shape == (3, 1, 3)
    assert mask[:, 0].int().tolist() == [[1, 0, 0], [1, 1, 1], [1, 1, 0]]


# Scores -------------------------------------------------------------------------------------------


def every_score() -> list[tuple]:
    """Return each score with the widths of its queries and keys: different, where it can."""
    torch.manual_seed(0)
    cases = [
        (AdditiveScore(D_Q, D_K, N), D_Q, D_K),
        (ConcatScore(D_Q, D_K, N), D_Q, D_K),
        (GeneralScore(D_Q, D_K), D_Q, D_K),
        (DotScore(), D_K, D_K),
        (ScaledDotScore(), D_K, D_K),
    ]
    return [(score.double(), *widths) for score, *widths in cases]


each_score = pytest.mark.parametrize(
    "score, d_query, d_key", every_score(), ids=lambda x: type(x).__name__
)


@pytest.mark.parametrize("sizes", SIZES, ids=str)
def test_the_additive_score_equals_a_loop(sizes):
    B, T, S = sizes
    torch.manual_seed(1)
    score = AdditiveScore(D_Q, D_K, N).double()

    def loop(query, keys, W_a, U_a, v):
        rows = []
        for b in range(B):
            for t in range(T):
                for j in range(S):
                    rows.append(v @ torch.tanh(W_a @ query[b, t] + U_a @ keys[b, j]))
        return torch.stack(rows).view(B, T, S)

    def ours(query, keys, W_a, U_a, v):
        parameters = {"W_a.weight": W_a, "U_a.weight": U_a, "v": v}
        return torch.func.functional_call(score, parameters, (query, keys))

    weights = (score.W_a.weight, score.U_a.weight, score.v)
    assert_same(ours, loop, draw(B, T, D_Q), draw(B, S, D_K), *weights)


@pytest.mark.parametrize("sizes", SIZES, ids=str)
def test_concat_equals_the_additive_score_with_both_matrices_side_by_side(sizes):
    B, T, S = sizes
    torch.manual_seed(2)
    additive, concat = AdditiveScore(D_Q, D_K, N).double(), ConcatScore(D_Q, D_K, N).double()
    with torch.no_grad():
        concat.W.weight.copy_(torch.cat([additive.W_a.weight, additive.U_a.weight], dim=1))
        concat.v.copy_(additive.v)
    assert_same(concat, additive, draw(B, T, D_Q), draw(B, S, D_K))


@pytest.mark.parametrize("sizes", SIZES, ids=str)
def test_the_products_equal_their_formulas(sizes):
    B, T, S = sizes
    query, keys = draw(B, T, D_K), draw(B, S, D_K)
    dot = "btd,bsd->bts"
    assert_same(DotScore(), lambda q, k: torch.einsum(dot, q, k), query, keys)
    root = D_K**0.5
    assert_same(ScaledDotScore(), lambda q, k: torch.einsum(dot, q, k) / root, query, keys)
    general = GeneralScore(D_Q, D_K).double()

    def bilinear(q, k):
        return torch.einsum("btq,qk,bsk->bts", q, general.W_a.weight, k)

    assert_same(general, bilinear, draw(B, T, D_Q), keys)


@each_score
def test_keys_prepared_once_give_what_each_step_would(score, d_query, d_key):
    attention = Attention(score)
    mask = some(B, 1, S)

    def at_once(query, keys, values):
        return attention(query, keys, values, mask)

    def step_by_step(query, keys, values):
        memory = attention.remember(keys, values, mask)
        steps = [attention.read(q[:, None], memory) for q in query.unbind(1)]
        return tuple(torch.cat(parts, dim=1) for parts in zip(*steps, strict=True))

    assert_same(at_once, step_by_step, draw(B, T, d_query), draw(B, S, d_key), draw(B, S, D_V))


def test_the_keys_are_projected_once_however_many_steps_look_at_them():
    for score in (AdditiveScore(D_Q, D_K, N), GeneralScore(D_Q, D_K)):
        calls = []
        projection = score.U_a if isinstance(score, AdditiveScore) else score.W_a
        projection.register_forward_hook(lambda *_, calls=calls: calls.append(1))
        attention = Attention(score).double()
        memory = attention.remember(draw(B, S, D_K), draw(B, S, D_V))
        for q in draw(B, T, D_Q).unbind(1):
            attention.read(q[:, None], memory)
        assert len(calls) == 1


def test_a_dot_product_of_two_widths_is_refused():
    for score in (DotScore(), ScaledDotScore()):
        for need_weights in (True, False):
            with pytest.raises(ValueError, match="5 .* 7"):
                Attention(score)(
                    draw(B, T, D_Q), draw(B, S, D_K), draw(B, S, D_V), None, need_weights
                )


# One mechanism ------------------------------------------------------------------------------------


@each_score
@pytest.mark.parametrize("masked", [False, True])
def test_attention_equals_a_loop_over_queries(score, d_query, d_key, masked):
    mask = some(B, T, S) if masked else torch.ones(B, T, S, dtype=torch.bool)

    def loop(query, keys, values):
        scores = score(query, keys)
        contexts = torch.zeros(B, T, D_V, dtype=torch.float64)
        weights = torch.zeros(B, T, S, dtype=torch.float64)
        for b in range(B):
            for t in range(T):
                seen = [j for j in range(S) if mask[b, t, j]]
                total = sum(scores[b, t, j].exp() for j in seen)
                for j in seen:
                    weights[b, t, j] = scores[b, t, j].exp() / total
                    contexts[b, t] += weights[b, t, j].clone() * values[b, j]
        return contexts, weights

    def ours(query, keys, values):
        return Attention(score)(query, keys, values, mask if masked else None)

    assert_same(ours, loop, draw(B, T, d_query), draw(B, S, d_key), draw(B, S, D_V))


@pytest.mark.parametrize("sizes", SIZES, ids=str)
@pytest.mark.parametrize("need_weights", [True, False])
def test_scaled_dot_equals_the_librarys_kernel(sizes, need_weights):
    B, T, S = sizes
    mask = some(B, T, S)

    def ours(query, keys, values):
        return Attention(ScaledDotScore())(query, keys, values, mask, need_weights)[0]

    def library(query, keys, values):
        return F.scaled_dot_product_attention(query, keys, values, attn_mask=mask)

    assert_same(ours, library, draw(B, T, D_K), draw(B, S, D_K), draw(B, S, D_V))


def test_scaled_dot_equals_the_librarys_layer_with_one_head():
    library = nn.MultiheadAttention(D_K, num_heads=1, bias=False, batch_first=True).double()
    W_q, W_k, W_v = library.in_proj_weight.chunk(3)
    mask = padding_mask(torch.tensor([2, S, 5]), S)

    def ours(query, keys, values):
        projected = (x @ W.T for x, W in ((query, W_q), (keys, W_k), (values, W_v)))
        context, weights = Attention(ScaledDotScore())(*projected, mask)
        return library.out_proj(context), weights

    def theirs(query, keys, values):
        return library(query, keys, values, key_padding_mask=~mask[:, 0])

    assert_same(ours, theirs, draw(B, T, D_K), draw(B, S, D_K), draw(B, S, D_K))


@each_score
@pytest.mark.parametrize("mask_shape", [None, (B, T, S), (B, 1, S), (T, S)], ids=str)
def test_without_weights_the_context_is_the_same(score, d_query, d_key, mask_shape):
    attention = Attention(score)
    mask = None if mask_shape is None else some(*mask_shape)
    inputs = draw(B, T, d_query), draw(B, S, d_key), draw(B, S, D_V)
    assert attention(*inputs, mask, need_weights=False)[1] is None
    assert_same(
        lambda *x: attention(*x, mask, need_weights=False)[0],
        lambda *x: attention(*x, mask)[0],
        *inputs,
    )


@pytest.mark.parametrize("score", [DotScore(), ScaledDotScore(), GeneralScore(D_K, D_K).double()])
def test_without_weights_the_fused_kernel_does_the_work(score, monkeypatch):
    calls, kernel = [], F.scaled_dot_product_attention
    monkeypatch.setattr(
        F, "scaled_dot_product_attention", lambda *a, **k: calls.append(1) or kernel(*a, **k)
    )
    inputs = draw(B, T, D_K), draw(B, S, D_K), draw(B, S, D_V)
    Attention(score)(*inputs)
    assert not calls
    Attention(score)(*inputs, need_weights=False)
    assert calls


@pytest.mark.parametrize("need_weights", [True, False])
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.float16, torch.bfloat16])
def test_a_query_that_sees_nothing_gets_zeros(need_weights, dtype):
    for score, d_query, d_key in every_score():
        attention = Attention(score.to(dtype))
        shapes = (B, T, d_query), (B, S, d_key), (B, S, D_V)
        inputs = [draw(*shape).to(dtype).requires_grad_() for shape in shapes]
        context, weights = attention(*inputs, some(B, T, S), need_weights=need_weights)
        assert torch.all(context[-1, 0] == 0) and context[0].abs().min() > 0
        assert not need_weights or torch.all(weights[-1, 0] == 0)
        found = gradients(context.double(), inputs)
        assert all(g.isfinite().all() and g.abs().max() > 0 for g in found)
        assert torch.all(found[0][-1, 0] == 0)


@pytest.mark.parametrize("need_weights", [True, False])
def test_half_precision_with_scores_of_ten_thousand(need_weights):
    query = torch.tensor([[[100.0]]], dtype=torch.float16, requires_grad=True)
    keys = torch.tensor([[[100.0], [100.0], [300.0], [-100.0]]], dtype=torch.float16)
    values = torch.tensor([[[1.0], [3.0], [7.0], [5.0]]], dtype=torch.float16)
    mask = torch.tensor([[[True, True, False, True]]])
    for score in (DotScore(), ScaledDotScore()):
        context, _ = Attention(score)(query, keys, values, mask, need_weights)
        assert context.item() == 2
        assert torch.autograd.grad(context.sum(), query)[0].isfinite().all()


@each_score
@pytest.mark.parametrize("need_weights", [True, False])
def test_what_is_masked_changes_nothing(score, d_query, d_key, need_weights):
    query, keys, values = draw(B, T, d_query), draw(B, S, d_key), draw(B, S, D_V)
    mask = padding_mask(torch.tensor([2, S, 3]), S)
    padded = ~mask[:, 0, :, None]
    noise = 1e3 * draw(B, S, 1, seed=5)
    attention = Attention(score)
    before, _ = attention(query, keys, values, mask, need_weights)
    after, _ = attention(query, keys + padded * noise, values + padded * noise, mask, need_weights)
    torch.testing.assert_close(before, after, **EXACT)
    seen = ~padded
    other, _ = attention(query, keys, values + seen * noise, mask, need_weights)
    assert (before - other).abs().max() > 1  # and what is not, does


@each_score
@pytest.mark.parametrize("bad", [math.nan, math.inf])
@pytest.mark.parametrize("axes", ["sources", "queries", "all"])
@pytest.mark.parametrize("need_weights", [True, False])
def test_what_no_query_sees_may_hold_anything(score, d_query, d_key, bad, axes, need_weights):
    mask = {
        "sources": padding_mask(torch.tensor([2, S, 3]), S),
        "queries": some(B, T, S) & padding_mask(torch.tensor([2, S, 3]), S),
        "all": torch.arange(S) < S - 1,
    }[axes]
    unseen = ~mask.expand(B, T, S).any(dim=1)[..., None]
    assert unseen.any()
    for attention in (
        Attention(score),
        LocalAttention(score, 1),
        LocalAttention(score, 2, d_query),
    ):
        attention.double()
        results = []
        for fill in (bad, 0.7):
            query = draw(B, T, d_query).requires_grad_()
            keys = draw(B, S, d_key).masked_fill(unseen, fill).requires_grad_()
            values = draw(B, S, D_V).masked_fill(unseen, fill).requires_grad_()
            context, weights = attention(query, keys, values, mask, need_weights)
            inputs = [query, keys, values, *attention.parameters()]
            results.append([context, *gradients(context, inputs)])
            results[-1] += [weights] if need_weights else []
        for poisoned, clean in zip(*results, strict=True):
            assert torch.equal(poisoned, clean)
            assert clean.isfinite().all()


def test_a_mask_of_two_axes_that_could_mean_either_is_refused():
    query, keys, values = draw(4, 4, N), draw(4, S, N), draw(4, S, D_V)
    mask = padding_mask(torch.tensor([2, S, 3, 1]), S)[:, 0]  # (B, S)
    for attention in (Attention(ScaledDotScore()), LocalAttention(DotScore(), 2)):
        for need_weights in (True, False):
            with pytest.raises(ValueError, match=r"\(4, 6\).*mask\[None\]"):
                attention(query, keys, values, mask, need_weights)
        by_source, _ = attention(query, keys, values, mask[:, None])
        by_query, _ = attention(query, keys, values, mask[None])
        assert not torch.allclose(by_source, by_query)
        fewer, _ = attention(query[:3], keys[:3], values[:3], mask)  # (T, S), and no other reading
        torch.testing.assert_close(fewer, by_query[:3])
        single, _ = attention(query[:1, :1], keys[:1], values[:1], mask[:1])
        torch.testing.assert_close(single, by_source[:1, :1])


@each_score
@pytest.mark.parametrize("need_weights", [True, False])
def test_attention_works_in_mixed_precision(score, d_query, d_key, need_weights):
    attention = Attention(copy.deepcopy(score).float())
    tensors = [draw(B, T, d_query), draw(B, S, d_key), draw(B, S, D_V)]
    mask = padding_mask(torch.tensor([2, S, 3]), S)
    results = []
    for enabled in (True, False):
        leaves = [x.float().requires_grad_() for x in tensors]
        with torch.autocast("cpu", torch.bfloat16, enabled=enabled):
            context, _ = attention(*leaves, mask, need_weights)
        results.append([context.float(), *gradients(context.double(), leaves)])
    for half, full in zip(*results, strict=True):
        assert half.dtype == torch.float32
        torch.testing.assert_close(half, full, rtol=0.1, atol=0.1)


@each_score
def test_attention_compiles_whole(score, d_query, d_key):
    torch.compiler.reset()
    query, keys, values = draw(B, T, d_query), draw(B, S, d_key), draw(B, S, D_V)
    mask = padding_mask(torch.tensor([2, S, 3]), S)
    for attention in (Attention(score), LocalAttention(score, 2, d_query).double()):
        compiled = torch.compile(attention, backend="eager", fullgraph=True)
        for ours, eager in zip(
            compiled(query, keys, values, mask), attention(query, keys, values, mask), strict=True
        ):
            torch.testing.assert_close(ours, eager)


@pytest.mark.parametrize("need_weights", [True, False])
def test_no_source_gives_no_context(need_weights):
    context, _ = Attention(DotScore())(
        draw(0, T, N), draw(0, S, N), draw(0, S, D_V), None, need_weights
    )
    assert context.shape == (0, T, D_V)


def test_the_hidden_layers_vector_begins_with_a_length_of_about_one():
    """So that scores begin with about the variance of tanh, however wide the layer is."""
    torch.manual_seed(0)
    for d_attention in (100, 400, 1600):
        for score in (AdditiveScore(3, 4, d_attention), ConcatScore(3, 4, d_attention)):
            assert score.v.norm().item() == pytest.approx(1, abs=0.2)


def test_sizes_that_disagree_are_refused():
    attention = Attention(DotScore())
    query, keys, values = draw(B, T, N), draw(B, S, N), draw(B, S, D_V)
    with pytest.raises(ValueError, match=r"\(3, 6, 8\).*\(3, 5, 2\)"):
        attention(query, keys, values[:, 1:])
    with pytest.raises(ValueError, match=r" 3 .*\(2, 4, 8\)"):
        attention(query[:2], keys, values)
    with pytest.raises(ValueError, match=r" 3 .*\(3, 8\)"):
        LocalAttention(DotScore(), 1)(query[:, 0], keys, values)


# Local attention ----------------------------------------------------------------------------------

LENGTHS = torch.tensor([2, 6, 5])


def local_loop(attention, predict, scores, values, start=0):
    """Compute Luong et al. (2015, §3.2) position by position, each sentence cut to its length."""
    D = attention.window
    contexts, weights = torch.zeros(B, T, D_V).double(), torch.zeros(B, T, S).double()
    for b, length in enumerate(LENGTHS.tolist()):
        for t in range(T):
            p = predict(b, t, length) if predict else torch.tensor(float(start + t))
            inside = [s for s in range(length) if p - D <= s <= p + D]
            if inside:
                align = scores[b, t, inside].softmax(0)
                for s, a in zip(inside, align, strict=True):
                    gauss = torch.exp(-((s - p) ** 2) / (2 * (D / 2) ** 2)) if predict else 1
                    weights[b, t, s] = a * gauss
            contexts[b, t] = weights[b, t].clone() @ values[b]
    return contexts, weights


@pytest.mark.parametrize("window", [1, 2, 7])
@pytest.mark.parametrize("start", [0, 3])
@each_score
def test_the_monotonic_window_equals_a_loop(score, d_query, d_key, window, start):
    attention = LocalAttention(score, window)

    def ours(query, keys, values):
        memory = attention.remember(keys, values, padding_mask(LENGTHS, S))
        return attention.read(query, memory, start=start)

    def loop(query, keys, values):
        return local_loop(attention, None, score(query, keys), values, start)

    inputs = draw(B, T, d_query), draw(B, S, d_key), draw(B, S, D_V)
    assert_same(ours, loop, *inputs)
    sums = ours(*inputs)[1].sum(-1)
    assert set(sums.round(decimals=9).unique().tolist()) <= {0.0, 1.0}


@pytest.mark.parametrize("window", [1, 2, 7])
@each_score
def test_the_predicted_window_equals_a_loop(score, d_query, d_key, window):
    torch.manual_seed(window)
    attention = LocalAttention(score, window, d_query).double()
    W_p, v = attention.position[0].weight, attention.position[2].weight[0]

    def ours(query, keys, values, W_p, v):
        names = {"position.0.weight": W_p, "position.2.weight": v[None]}
        arguments = (query, keys, values, padding_mask(LENGTHS, S))
        return torch.func.functional_call(attention, names, arguments)

    def loop(query, keys, values, W_p, v):
        def predict(b, t, length):
            return length * torch.sigmoid(v @ torch.tanh(W_p @ query[b, t]))

        return local_loop(attention, predict, score(query, keys), values)

    assert_same(ours, loop, draw(B, T, d_query), draw(B, S, d_key), draw(B, S, D_V), W_p, v)


def test_a_window_behind_the_end_sees_nothing():
    inputs = [draw(B, T, N).requires_grad_(), draw(B, S, N), draw(B, S, D_V)]
    context, weights = LocalAttention(DotScore(), 1)(*inputs, padding_mask(LENGTHS, S))
    assert torch.all(weights[0, 3] == 0) and torch.all(context[0, 3] == 0)  # t = 3, S = 2
    assert weights[0, 2].tolist() == [0, 1, 0, 0, 0, 0]
    assert gradients(context, inputs[:1])[0].isfinite().all()


def test_local_attention_without_weights_or_mask():
    torch.manual_seed(0)
    inputs = draw(B, T, N), draw(B, S, N), draw(B, S, D_V)
    for attention in (LocalAttention(DotScore(), 2), LocalAttention(DotScore(), 2, N).double()):
        context, weights = attention(*inputs)
        assert weights.shape == (B, T, S)
        alone, nothing = attention(*inputs, need_weights=False)
        assert nothing is None
        torch.testing.assert_close(alone, context, **EXACT)
    with pytest.raises(ValueError, match="window.* 0"):
        LocalAttention(DotScore(), 0)


def test_what_no_query_may_attend_to_is_blanked():
    x = draw(2, 3, 2)
    mask = torch.tensor([[[True, False, False], [False, True, False]]])  # (1, T, S)
    expected = x.clone()
    expected[:, 2] = 0
    assert torch.equal(blanked(x, mask), expected)
    expected[:, 1] = 0
    assert torch.equal(blanked(x, mask[0, 0]), expected)
    assert blanked(x, None) is x
