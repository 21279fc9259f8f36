"""Day 5's attention equals loops and the library, in value and gradient, whatever the mask.

Each known mistake is put in the code's place, and shown to fail the same check.
"""

import math
import re

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from utils.attention import padding_mask
from utils.positions import Alibi, LearnedPositions, Rotary, SinusoidalPositions
from utils.self_attention import (
    BiasedAttention,
    MultiHeadAttention,
    SelfAttentionTagger,
    causal_mask,
    dot_product,
    dot_product_attention,
    merge_heads,
    multi_head,
    split_heads,
)

EXACT = {"rtol": 1e-10, "atol": 1e-10}
B, H, T, S, D_K, D_V = 2, 3, 4, 6, 5, 7
SIZES = [  # all differ; B = T; B = h; T = S; one query
    (B, H, T, S, D_K, D_V),
    (4, 2, 4, 6, 3, 5),
    (3, 3, 2, 5, 4, 4),
    (2, 4, 5, 5, 3, 3),
    (3, 2, 1, 4, 5, 6),
]
DTYPES = [torch.float64, torch.float32, torch.float16, torch.bfloat16]
both_paths = pytest.mark.parametrize("need_weights", [True, False], ids=["weights", "fused"])


def draw(*shape: int, seed: int = 0) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(*shape, dtype=torch.float64, generator=generator)


def some(*shape: int, seed: int = 0) -> torch.Tensor:
    """Draw a mask in which each query sees the first key, and mostly others."""
    mask = draw(*shape, seed=seed) > -0.5
    mask[..., 0] = True
    return mask


def some_blind(*shape: int) -> torch.Tensor:
    """Draw a mask in which the last sequence's first query sees nothing."""
    mask = some(*shape)
    mask[-1, :, 0] = False
    return mask


def padding(batch_size: int, S: int) -> torch.Tensor:
    """Return (B, 1, 1, S) for sequences that all have another length, as far as there are some."""
    return padding_mask(torch.arange(batch_size) % S + 1, S)[:, None]


def heads(sizes, n_kv: int | None = None) -> list[torch.Tensor]:
    B, h, T, S, d_k, d_v = sizes
    n_kv = n_kv or h
    shapes = (B, h, T, d_k), (B, n_kv, S, d_k), (B, n_kv, S, d_v)
    return [draw(*shape, seed=seed) for seed, shape in enumerate(shapes)]


def results(function, inputs) -> list[torch.Tensor]:
    """Return what a function gives, a tensor or several, and its gradient by every input."""
    leaves = [x.detach().clone().requires_grad_() for x in inputs]
    y = function(*leaves)
    y = [y] if isinstance(y, torch.Tensor) else [part for part in y if part is not None]
    total = sum((part * draw(*part.shape, seed=9)).sum() for part in y)
    return [*y, *torch.autograd.grad(total, leaves)]


def assert_same(ours, other, *inputs: torch.Tensor) -> None:
    pairs = zip(results(ours, inputs), results(other, inputs), strict=True)
    for a, b in pairs:
        assert b.abs().max() > 0
        torch.testing.assert_close(a, b, **EXACT)


def loop(query, key, value, mask):
    """Attend query by query, each to a list of the keys that it may see."""
    B, h, T, d_k = query.shape
    mask = mask.expand(B, h, T, key.shape[2])
    group = h // key.shape[1]
    contexts, weights = [], []
    for b in range(B):
        for i in range(h):
            for t in range(T):
                row = torch.zeros(key.shape[2], dtype=query.dtype)
                seen = mask[b, i, t].nonzero().flatten()
                if len(seen):
                    scores = [query[b, i, t] @ key[b, i // group, s] for s in seen]
                    e = (torch.stack(scores) / math.sqrt(d_k)).exp()
                    row = row.index_put((seen,), e / e.sum())
                weights.append(row)
                contexts.append(row @ value[b, i // group])
    return torch.stack(contexts).view(B, h, T, -1), torch.stack(weights).view(B, h, T, -1)


# The causal mask ----------------------------------------------------------------------------------


def assert_causal(mask) -> None:
    for T, S in ((1, 1), (4, 4), (2, 5), (1, 3)):
        found = mask(T, S)
        assert found.shape == (T, S) and found.dtype == torch.bool
        for t in range(T):
            own = S - T + t  # the last query stands at the last key
            assert found[t].tolist() == [s <= own for s in range(S)]


def test_a_query_sees_the_keys_up_to_its_own_position():
    assert_causal(causal_mask)
    assert torch.equal(causal_mask(4), causal_mask(4, 4))


MISTAKEN_MASKS = {
    "aligned to the first key": lambda T, S: torch.ones(T, S, dtype=torch.bool).tril(),
    "own position hidden": lambda T, S: torch.ones(T, S, dtype=torch.bool).tril(S - T - 1),
    "inverted": lambda T, S: ~causal_mask(T, S),
    "the past hidden": lambda T, S: torch.ones(T, S, dtype=torch.bool).triu(S - T),
}


@pytest.mark.parametrize("mask", MISTAKEN_MASKS.values(), ids=MISTAKEN_MASKS)
def test_mistaken_causal_masks_are_found(mask):
    with pytest.raises(AssertionError):
        assert_causal(mask)


@pytest.mark.parametrize("sizes", [(0,), (4, 3), (2, 0), (-1, 3)])
def test_a_causal_mask_without_queries_or_their_keys_is_refused(sizes):
    with pytest.raises(ValueError, match=f" {sizes[0]} .* {sizes[-1]} "):
        causal_mask(*sizes)


# One mechanism ------------------------------------------------------------------------------------


def masks(B: int, h: int, T: int, S: int) -> dict[str, tuple[torch.Tensor | None, bool]]:
    """Return what may be asked for: a mask or None, and whether the future is masked too."""
    cases = {
        "none": (None, False),
        "padding": (padding(B, S), False),
        "each query": (some(T, S), False),
        "each head": (some(1, h, T, S), False),
        "keys": (some(S), False),
        "queries": (draw(B, 1, T, 1) > 0, False),
        "everything, a query blind": (some_blind(B, h, T, S), False),
        "nothing": (torch.zeros(1, 1, 1, 1, dtype=torch.bool), False),
    }
    if T <= S:
        cases["causal"] = (None, True)
        cases["causal and padding"] = (padding(B, S), True)
        cases["causal, a query blind"] = (some_blind(B, 1, T, S), True)
    return cases


def combined(mask, is_causal, T, S):
    mask = torch.ones(1, 1, 1, 1, dtype=torch.bool) if mask is None else mask
    return mask & causal_mask(T, S) if is_causal else mask


@both_paths
@pytest.mark.parametrize("kind", masks(B, H, T, S))
@pytest.mark.parametrize("sizes", SIZES, ids=str)
def test_it_equals_a_loop_and_the_librarys_kernel(sizes, kind, need_weights):
    B, h, T, S, d_k, d_v = sizes
    mask, is_causal = masks(B, h, T, S)[kind]
    whole = combined(mask, is_causal, T, S).expand(B, h, T, S)

    def ours(q, k, v):
        return dot_product_attention(q, k, v, mask, need_weights, is_causal=is_causal)

    def expected(q, k, v):
        return loop(q, k, v, whole) if need_weights else loop(q, k, v, whole)[0]

    if whole.any():
        assert_same(ours, expected, *heads(sizes))
        assert_same(
            lambda *x: ours(*x)[0],
            lambda *x: F.scaled_dot_product_attention(*x, attn_mask=whole),
            *heads(sizes),
        )
    else:
        assert all(torch.all(y == 0) for y in results(ours, heads(sizes)))


def assert_attends(attend) -> None:
    """Hold attend(q, k, v, mask (B, h, T, S)) to the loop, and to scores that are huge."""
    for sizes in SIZES:
        B, h, T, S, *_ = sizes
        for mask, is_causal in masks(B, h, T, S).values():
            mask = combined(mask, is_causal, T, S).expand(B, h, T, S)
            context = attend(*heads(sizes), mask)
            torch.testing.assert_close(context, loop(*heads(sizes), mask)[0], **EXACT)
    for dtype in (torch.float64, torch.float16):
        query = torch.tensor([[[[100.0]]]], dtype=dtype)
        key = torch.tensor([[[[-300.0], [-300.0], [300.0], [0.0]]]], dtype=dtype)
        value = torch.tensor([[[[1.0], [3.0], [7.0], [5.0]]]], dtype=dtype)
        mask = torch.tensor([[[[True, True, False, False]]]])
        assert attend(query, key, value, mask).item() == 2  # scores of ∓30 000


def variant(scale=math.sqrt, fill=-math.inf, axis=-1, invert=False, after=False, blind=0.0):
    """Return attention as people write it, with room for a mistake in every place."""

    def attend(query, key, value, mask):
        scores = (query / scale(query.shape[-1])) @ key.mT
        mask = ~mask if invert else mask
        nothing = ~mask.any(-1, keepdim=True)
        weights = scores if after else scores.masked_fill(~mask, fill)
        weights = weights.softmax(axis)
        if after:
            weights = weights * mask
        if blind is not None:
            weights = weights.masked_fill(nothing, blind)
        return weights @ value

    return attend


MISTAKEN_ATTENTION = {
    "softmax over the queries": variant(axis=-2),
    "softmax over the heads": variant(axis=1),
    "not scaled": variant(scale=lambda d_k: 1.0),
    "scaled twice": variant(scale=lambda d_k: d_k),
    "scaled by the width of the model": variant(scale=lambda d_k: math.sqrt(H * d_k)),
    "mask inverted": variant(invert=True),
    "mask after the softmax": variant(after=True),
    "a blind query gets NaN": variant(blind=None),
    "a blind query gets the mean": variant(fill=-1e300, blind=None),
    "a fill that scores overcome": variant(fill=-1e4),
}


@both_paths
def test_it_passes_the_check_that_the_mistakes_fail(need_weights):
    assert_attends(lambda *x: dot_product_attention(*x, need_weights)[0])
    assert_attends(variant())


@pytest.mark.parametrize("attend", MISTAKEN_ATTENTION.values(), ids=MISTAKEN_ATTENTION)
def test_mistaken_attention_is_found(attend):
    with pytest.raises(AssertionError):
        assert_attends(attend)


def test_a_fill_of_minus_a_billion_does_not_fit_into_half_precision():
    with pytest.raises(RuntimeError, match="overflow"):
        assert_attends(variant(fill=-1e9))


@pytest.mark.parametrize("sizes", SIZES, ids=str)
def test_weights_sum_to_one_over_the_keys_and_are_0_where_masked(sizes):
    B, h, T, S, *_ = sizes
    mask = some_blind(B, h, T, S)
    _, weights = dot_product_attention(*heads(sizes), mask, need_weights=True)
    assert weights.shape == (B, h, T, S) and torch.all(weights[~mask] == 0)
    torch.testing.assert_close(weights.sum(-1), mask.any(-1).double(), **EXACT)
    assert dot_product_attention(*heads(sizes), mask)[1] is None


@both_paths
@pytest.mark.parametrize("is_causal", [False, True])
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.filterwarnings("ignore:Anomaly Detection")
def test_a_blind_query_gets_zeros_and_finite_gradients(dtype, is_causal, need_weights):
    inputs = [x.to(dtype).requires_grad_() for x in heads((B, H, T, S, D_K, D_V))]
    mask = some_blind(B, 1, T, S)
    with torch.autograd.detect_anomaly():  # no NaN on the way either
        context, weights = dot_product_attention(*inputs, mask, need_weights, is_causal=is_causal)
        found = torch.autograd.grad((context * draw(*context.shape).to(dtype)).sum(), inputs)
    assert context.dtype == dtype and torch.all(context[-1, :, 0] == 0)
    assert context.isfinite().all() and context[0].abs().min() > 0
    assert weights is None or torch.all(weights[-1, :, 0] == 0)
    assert all(g.isfinite().all() and g.abs().max() > 0 for g in found)
    assert torch.all(found[0][-1, :, 0] == 0)


@both_paths
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_precision_comes_near_to_double(dtype, need_weights):
    inputs = [x.to(dtype) for x in heads((B, H, T, S, D_K, D_V))]
    mask = padding(B, S)
    context, _ = dot_product_attention(*inputs, mask, need_weights)
    expected, _ = dot_product_attention(*(x.double() for x in inputs), mask, need_weights)
    assert (context.double() - expected).abs().max() < 10 * torch.finfo(dtype).eps


@both_paths
@pytest.mark.parametrize("is_causal", [False, True])
def test_what_is_masked_changes_nothing(is_causal, need_weights):
    query, key, value = heads((B, H, T, S, D_K, D_V))
    mask = padding(B, S)
    hidden = ~mask.mT  # (B, 1, S, 1)
    noise = 1e3 * draw(B, 1, S, 1, seed=5)

    def attend(key, value):
        return dot_product_attention(query, key, value, mask, need_weights, is_causal=is_causal)[0]

    before = attend(key, value)
    assert torch.equal(before, attend(key + hidden * noise, value + hidden * noise))
    assert (before - attend(key, value + ~hidden * noise)).abs().max() > 1


def test_the_fused_kernel_works_where_no_weights_are_needed(monkeypatch):
    calls, kernel = [], F.scaled_dot_product_attention
    monkeypatch.setattr(
        F, "scaled_dot_product_attention", lambda *a, **k: calls.append(a) or kernel(*a, **k)
    )
    inputs = heads((B, H, S, S, D_K, D_V))
    dot_product_attention(*inputs, need_weights=True)
    assert not calls
    dot_product_attention(*inputs)
    dot_product_attention(*inputs, is_causal=True)
    assert [call[3] for call in calls] == [None, None]  # it makes no mask that the kernel can spare
    one = inputs[0][:, :, -1:]
    dot_product_attention(one, *inputs[1:], is_causal=True)
    assert calls[2][3] is None


def assert_drops(attend) -> None:
    """Hold attend(q, k, v, share) to: a weight is 0, or what it was, over 1 - share."""
    q, k, _ = heads((B, H, 40, S, D_K, S))
    v = torch.eye(S, dtype=torch.float64).expand(B, H, S, S)  # so the context is the weights
    torch.manual_seed(0)
    kept, expected = attend(q, k, v, 0.2), dot_product_attention(q, k, v)[0]
    dropped = kept == 0
    assert dropped.double().mean().item() == pytest.approx(0.2, abs=0.03)
    torch.testing.assert_close(kept[~dropped], expected[~dropped] / 0.8, **EXACT)


@both_paths
def test_dropout_sets_weights_to_zero_and_makes_up_for_it(need_weights):
    assert_drops(lambda q, k, v, p: dot_product_attention(q, k, v, None, need_weights, p)[0])


def test_weights_come_back_as_they_were_before_dropout():
    inputs = heads((B, H, T, S, D_K, D_V))
    _, weights = dot_product_attention(*inputs, need_weights=True, dropout=0.5)
    torch.testing.assert_close(weights, loop(*inputs, some(1, 1, 1, 1))[1], **EXACT)


MISTAKEN_DROPOUT = {
    "on the scores": lambda q, k, v, p: F.dropout(q @ k.mT / D_K**0.5, p).softmax(-1) @ v,
    "not made up for": lambda q, k, v, p: 0.8 * dot_product_attention(q, k, v, dropout=p)[0],
    "the share that is kept": lambda q, k, v, p: dot_product_attention(q, k, v, dropout=1 - p)[0],
}


@pytest.mark.parametrize("attend", MISTAKEN_DROPOUT.values(), ids=MISTAKEN_DROPOUT)
def test_mistaken_dropout_is_found(attend):
    with pytest.raises(AssertionError):
        assert_drops(attend)


@both_paths
@pytest.mark.parametrize("n_kv", [1, 2, 3])
@pytest.mark.parametrize("kind", ["none", "padding", "each head", "causal, a query blind"])
def test_shared_keys_equal_repeated_keys(kind, n_kv, need_weights):
    sizes = (B, 6, T, S, D_K, D_V)
    mask, is_causal = masks(*sizes[:4])[kind]

    def repeated(repeat):
        def attend(q, k, v):
            k, v = repeat(k, 6 // n_kv), repeat(v, 6 // n_kv)
            return dot_product_attention(q, k, v, mask, need_weights, is_causal=is_causal)

        return attend

    def shared(q, k, v):
        return dot_product_attention(q, k, v, mask, need_weights, is_causal=is_causal)

    def neighbours(x, times):
        return x.repeat_interleave(times, dim=1)

    def round_and_round(x, times):
        return x.repeat(1, times, 1, 1)

    inputs = heads(sizes, n_kv)
    assert_same(shared, repeated(neighbours), *inputs)
    whole = combined(mask, is_causal, T, S)
    assert_same(lambda *x: shared(*x)[0], lambda *x: loop(*x, whole)[0], *inputs)
    if n_kv > 1:
        with pytest.raises(AssertionError):
            assert_same(shared, repeated(round_and_round), *inputs)


@pytest.mark.parametrize("batch_size", [2, 4])  # as many as heads of keys, and of queries
def test_shared_keys_are_shared_in_any_batch(batch_size):
    inputs = heads((batch_size, 4, T, S, D_K, D_V), 2)
    fused, _ = dot_product_attention(*inputs)
    torch.testing.assert_close(fused, dot_product_attention(*inputs, None, True)[0], **EXACT)


@both_paths
@pytest.mark.parametrize(
    "mask, message",
    [
        (torch.ones(B, 1, T, S), "boolean.*float32"),
        (torch.ones(T, S, dtype=torch.int64), "boolean.*int64"),
        ([[True] * S] * T, "boolean.*list"),
        (some(S, T), r"\(6, 4\).*\(2, 3, 4, 6\)"),
        (some(B, S), r"\(2, 6\).*\(2, 3, 4, 6\).*\(B, 1, 1, S\)"),
        (some(B * H, 1, T, S), r"\(6, 1, 4, 6\).*\(2, 3, 4, 6\)"),
        (some(H, B, T, S), r"\(3, 2, 4, 6\).*\(2, 3, 4, 6\)"),
        (some(1, B, 1, T, S), r"\(1, 2, 1, 4, 6\).*\(2, 3, 4, 6\)"),
        (some(B, 1, S), r"\(2, 1, 6\).*mask\[:, None\]"),
        (some(H, T, S), r"\(3, 4, 6\).*mask\[None\]"),
    ],
)
def test_a_mask_of_the_wrong_kind_is_named(mask, message, need_weights):
    inputs = heads((B, H, T, S, D_K, D_V))
    with pytest.raises(ValueError, match=message):
        dot_product_attention(*inputs, mask, need_weights)


@both_paths
def test_a_mask_of_three_axes_is_read_where_it_has_one_meaning(need_weights):
    inputs = heads((B, H, T, S, D_K, D_V))
    for mask in (some(1, T, S), some(1, 1, S)):
        context, _ = dot_product_attention(*inputs, mask, need_weights)
        torch.testing.assert_close(context, loop(*inputs, mask)[0], **EXACT)


@both_paths
def test_heads_that_do_not_fit_are_named(need_weights):
    q, k, v = heads((B, H, T, S, D_K, D_V))
    wrong = {
        "three axes": (q[0], k[0], v[0]),
        "another batch": (q[:1], k, v),
        "another width": (q[..., 1:], k, v),
        "a key too few": (q, k[:, :, 1:], v),
        "heads of values": (q, k, v[:, :1]),
        "heads that do not divide": (q, k[:, :2], v[:, :2]),
        "no key": (q, k[:, :, :0], v[:, :, :0]),
        "no query": (q[:, :, :0], k, v),
    }
    for inputs in wrong.values():
        shapes = ", ".join(str(tuple(x.shape)) for x in inputs)
        with pytest.raises(ValueError, match=re.escape(shapes)):
            dot_product_attention(*inputs, need_weights=need_weights)
    with pytest.raises(ValueError, match=" 6 queries .* 4 keys"):
        dot_product_attention(k, q, q, None, need_weights, is_causal=True)


# What nobody may see, and what is added to the scores ---------------------------------------------


@both_paths
@pytest.mark.parametrize("broken", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("is_causal", [False, True])
@pytest.mark.parametrize("h, n_kv", [(3, 3), (4, 2)])
def test_what_is_broken_where_nobody_looks_reaches_neither_outputs_nor_gradients(
    h, n_kv, is_causal, broken, need_weights
):
    query, key, value = heads((B, h, T, S, D_K, D_V), n_kv)
    mask = padding(B, S)
    hidden = ~mask.mT  # (B, 1, S, 1)

    def attend(q, k, v):
        return dot_product_attention(q, k, v, mask, need_weights, is_causal=is_causal)

    clean = results(attend, [query, key, value])
    dirty = [query, *(x.masked_fill(hidden, broken) for x in (key, value))]
    for found, expected in zip(results(attend, dirty), clean, strict=True):
        torch.testing.assert_close(found, expected, **EXACT)


@both_paths
@pytest.mark.parametrize("kind", masks(B, 4, T, S))
@pytest.mark.parametrize("n_kv", [4, 2])
def test_a_bias_is_added_to_the_scores_beside_the_mask(n_kv, kind, need_weights):
    sizes = (B, 4, T, S, D_K, D_V)
    mask, is_causal = masks(B, 4, T, S)[kind]
    whole = combined(mask, is_causal, T, S).expand(B, 4, T, S)
    bias = draw(4, T, S, seed=4)

    def ours(q, k, v, bias):
        return dot_product_attention(q, k, v, mask, need_weights, is_causal=is_causal, bias=bias)[0]

    def by_hand(q, k, v, bias):
        k, v = (x.repeat_interleave(4 // n_kv, dim=1) for x in (k, v))
        scores = q @ k.mT / math.sqrt(D_K) + bias
        e = torch.where(whole, scores, -math.inf).exp()
        return e / e.sum(-1, keepdim=True).clamp(min=1e-300) @ v

    if whole.any():
        assert_same(ours, by_hand, *heads(sizes, n_kv), bias)
        if n_kv == 4:
            library = bias.masked_fill(~whole, -math.inf)  # a mask of numbers
            found = F.scaled_dot_product_attention(*heads(sizes), library)
            torch.testing.assert_close(ours(*heads(sizes), bias), found, **EXACT)
    else:
        assert not ours(*heads(sizes, n_kv), bias).any()


@both_paths
@pytest.mark.parametrize(
    "bias, message",
    [
        (torch.ones(T, S, dtype=torch.bool), "bias .*torch.bool"),
        (torch.ones(S, T), r"bias .*\(6, 4\).*\(2, 3, 4, 6\)"),
        (torch.ones(1, B, H, T, S), r"bias .*\(1, 2, 3, 4, 6\).*\(2, 3, 4, 6\)"),
    ],
)
def test_a_bias_that_does_not_fit_is_named(bias, message, need_weights):
    with pytest.raises(ValueError, match=message):
        dot_product_attention(*heads((B, H, T, S, D_K, D_V)), need_weights=need_weights, bias=bias)


@both_paths
def test_an_empty_batch_gives_an_empty_batch(need_weights):
    x, mask = torch.randn(0, T_SELF, D), torch.ones(0, 1, 1, T_SELF, dtype=torch.bool)
    for n_kv in (4, 2):
        layer = MultiHeadAttention(D, N_HEADS, n_kv_heads=n_kv, rotary=Rotary(6))
        y, weights = layer(x, mask=mask, is_causal=True, need_weights=need_weights)
        assert y.shape == x.shape
        assert weights is None or weights.shape == (0, N_HEADS, T_SELF, T_SELF)
    assert MultiHeadAttention(D, N_HEADS)(x, x, need_weights=need_weights)[0].shape == x.shape


# Heads --------------------------------------------------------------------------------------------


def assert_heads(split, merge) -> None:
    for batch_size, length, n_heads, d in ((2, 5, 3, 4), (4, 4, 2, 3), (3, 2, 3, 3)):
        x = draw(batch_size, length, n_heads * d)
        y = split(x, n_heads)
        assert y.shape == (batch_size, n_heads, length, d)
        for i in range(n_heads):
            assert torch.equal(y[:, i], x[..., i * d : (i + 1) * d])
        assert torch.equal(merge(y), x)


def test_each_head_gets_a_stretch_of_the_width_and_merging_lays_them_side_by_side():
    assert_heads(split_heads, merge_heads)
    x = draw(2, 5, 12)
    assert split_heads(x, 3).data_ptr() == x.data_ptr()  # a view


def split_without_transposing(x, n_heads):
    return x.reshape(x.shape[0], n_heads, x.shape[1], -1)


def split_by_turns(x, n_heads):
    return x.unflatten(-1, (-1, n_heads)).permute(0, 3, 1, 2)


def merge_without_transposing(x):
    return x.reshape(x.shape[0], x.shape[2], -1)


def merge_by_turns(x):
    return x.permute(0, 2, 3, 1).flatten(2)


MISTAKEN_HEADS = {
    "split without transposing": ("split_heads", split_without_transposing),
    "split by turns": ("split_heads", split_by_turns),
    "merged without transposing": ("merge_heads", merge_without_transposing),
    "merged by turns": ("merge_heads", merge_by_turns),
}


@pytest.mark.parametrize("name, mistake", MISTAKEN_HEADS.values(), ids=MISTAKEN_HEADS)
def test_mistaken_heads_are_found(name, mistake, monkeypatch):
    correct = {"split_heads": split_heads, "merge_heads": merge_heads}
    with pytest.raises(AssertionError):
        assert_heads(*(correct | {name: mistake}).values())
    monkeypatch.setattr(multi_head, name, mistake)
    with pytest.raises(AssertionError):
        assert_same_as_library(*pair(), memory=None)


@pytest.mark.parametrize("n_heads", [5, 0, -2])
def test_heads_that_do_not_divide_are_named(n_heads):
    with pytest.raises(ValueError, match=f"^{n_heads} heads .* 12"):
        split_heads(draw(2, 5, 12), n_heads)


# The layer and the library's ----------------------------------------------------------------------

D, N_HEADS = 24, 4  # so d_k = 6
T_SELF, S_MEMORY = 5, 7


def pair(bias: bool = True, n_heads: int = N_HEADS):
    """Return our layer and the library's with the same random weights, biases too."""
    theirs = nn.MultiheadAttention(D, n_heads, bias=bias, batch_first=True).double()
    for seed, parameter in enumerate(theirs.parameters()):
        parameter.data = draw(*parameter.shape, seed=seed) / 2
    ours = MultiHeadAttention(D, n_heads, bias=bias).double()
    ours.load_library(theirs)
    return ours, theirs


def weights_of(layer) -> list[torch.Tensor]:
    """Return the gradients of a layer's weights and biases."""
    if isinstance(layer, MultiHeadAttention):
        W_in = layer.W_in
        biases = [layer.b_in, layer.W_o.bias]
        out = layer.W_o.weight
    else:
        W_in = layer.in_proj_weight
        biases = [layer.in_proj_bias, layer.out_proj.bias]
        out = layer.out_proj.weight
    return [W_in.grad, out.grad, *(b.grad for b in biases if b is not None)]


def assert_same_as_library(
    ours, theirs, memory, mask=None, is_causal=False, need_weights=True, batch_size=2
) -> None:
    """Compare outputs, weights, and gradients by inputs and parameters."""
    inputs = [draw(batch_size, T_SELF, D)]
    inputs += [] if memory is None else [draw(batch_size, S_MEMORY, memory, seed=1)]
    n_keys = inputs[-1].shape[1]
    whole = combined(mask, is_causal, T_SELF, n_keys)
    whole = whole.expand(batch_size, ours.n_heads, T_SELF, n_keys)

    def library(x, m=None):
        m = x if m is None else m
        blocked = ~whole.flatten(0, 1)
        y, weights = theirs(x, m, m, attn_mask=blocked, average_attn_weights=False)
        return (y, weights) if need_weights else y

    def layer(*inputs):
        return ours(*inputs, mask=mask, is_causal=is_causal, need_weights=need_weights)

    found = []
    for attend, module in ((layer, ours), (library, theirs)):
        module.zero_grad()
        leaves = [x.detach().clone().requires_grad_() for x in inputs]
        y = attend(*leaves)
        y = [y] if isinstance(y, torch.Tensor) else [part for part in y if part is not None]
        sum((part * draw(*part.shape, seed=9)).sum() for part in y).backward()
        found.append([*y, *(x.grad for x in leaves), *weights_of(module)])
    for a, b in zip(*found, strict=True):
        torch.testing.assert_close(a, b, **EXACT)


LIBRARY_MASKS = {
    "none": (None, False),
    "padding": (padding, False),
    "causal": (None, True),
    "both": (padding, True),
    "each head": (lambda B, S: some(B, N_HEADS, T_SELF, S), False),
}


@both_paths
@pytest.mark.parametrize("bias", [True, False], ids=["bias", "no bias"])
@pytest.mark.parametrize("memory", [None, D])
@pytest.mark.parametrize("kind", LIBRARY_MASKS)
def test_the_layer_equals_the_librarys(kind, memory, bias, need_weights):
    mask, is_causal = LIBRARY_MASKS[kind]
    layers = pair(bias)
    for batch_size in (2, T_SELF, N_HEADS):  # once B = T, once B = h
        made = mask and mask(batch_size, T_SELF if memory is None else S_MEMORY)
        assert_same_as_library(*layers, memory, made, is_causal, need_weights, batch_size)


@both_paths
def test_it_equals_the_librarys_own_masks_and_its_fast_path(need_weights):
    ours, theirs = pair()
    x, lengths = draw(3, T_SELF, D), torch.tensor([2, 5, 3])
    mask = padding_mask(lengths, T_SELF)
    with torch.no_grad():
        for layer in (ours.eval(), theirs.eval()):
            assert not layer.training
        expected, weights = theirs(x, x, x, key_padding_mask=~mask[:, 0])
        y, found = ours(x, mask=mask[:, None], need_weights=need_weights)
        torch.testing.assert_close(y, expected, **EXACT)
        if need_weights:
            torch.testing.assert_close(found.mean(1), weights, **EXACT)
        fast, _ = theirs(x, x, x, need_weights=False)
        torch.testing.assert_close(ours(x, need_weights=need_weights)[0], fast, **EXACT)


@pytest.mark.parametrize("bias", [True, False])
def test_its_weights_begin_as_the_librarys(bias):
    torch.manual_seed(0)
    theirs = nn.MultiheadAttention(D, N_HEADS, bias=bias)
    torch.manual_seed(0)
    ours = MultiHeadAttention(D, N_HEADS, bias=bias)
    twin = MultiHeadAttention(D, N_HEADS, bias=bias)
    twin.load_library(theirs)
    for name, weight in ours.state_dict().items():
        assert torch.equal(weight, twin.state_dict()[name]), name


MISTAKEN_LAYERS = {
    "scaled by the width of the model": lambda q, k, v, *rest: dot_product_attention(
        q / math.sqrt(N_HEADS), k, v, *rest
    ),
    "keys and values exchanged": lambda q, k, v, *rest: dot_product_attention(q, v, k, *rest),
    "queries and keys exchanged": lambda q, k, v, *rest: dot_product_attention(k, q, v, *rest),
    "mask inverted": lambda q, k, v, mask, *rest: dot_product_attention(q, k, v, ~mask, *rest),
    "mask of the next sequence": lambda q, k, v, mask, *rest: dot_product_attention(
        q, k, v, mask.repeat(N_HEADS, 1, 1, 1).view(len(q), N_HEADS, 1, -1), *rest
    ),
    "mask forgotten": lambda q, k, v, mask, *rest: dot_product_attention(q, k, v, None, *rest),
}


@both_paths
@pytest.mark.parametrize("mistake", MISTAKEN_LAYERS.values(), ids=MISTAKEN_LAYERS)
def test_mistaken_layers_are_found(mistake, need_weights, monkeypatch):
    layers, mask = pair(), padding(2, T_SELF)
    assert_same_as_library(*layers, None, mask, need_weights=need_weights)
    monkeypatch.setattr(layers[0], "attend", mistake)
    with pytest.raises(AssertionError):
        assert_same_as_library(*layers, None, mask, need_weights=need_weights)


@pytest.mark.parametrize(
    "library",
    [
        nn.MultiheadAttention(D, 3),
        nn.MultiheadAttention(12, N_HEADS),
        nn.MultiheadAttention(D, N_HEADS, bias=False),
        nn.MultiheadAttention(D, N_HEADS, kdim=9, vdim=9),
        nn.MultiheadAttention(D, N_HEADS, kdim=9),
        nn.MultiheadAttention(D, N_HEADS, add_bias_kv=True),
        nn.MultiheadAttention(D, N_HEADS, add_zero_attn=True),
        nn.Linear(D, D),
    ],
    ids=["heads", "width", "bias", "memory", "two widths", "bias_kv", "zero_attn", "linear"],
)
def test_a_library_layer_of_another_kind_is_refused(library):
    layer = MultiHeadAttention(D, N_HEADS)
    before = {name: weight.clone() for name, weight in layer.state_dict().items()}
    with pytest.raises(ValueError, match=r"nn.MultiheadAttention\(24, 4, bias=True"):
        layer.load_library(library)
    assert all(torch.equal(weight, before[name]) for name, weight in layer.state_dict().items())


def test_a_layer_with_shared_keys_loads_no_library_layer():
    with pytest.raises(ValueError, match="n_kv_heads"):
        MultiHeadAttention(D, N_HEADS, n_kv_heads=2).load_library(nn.MultiheadAttention(D, N_HEADS))


@pytest.mark.parametrize(
    "options", [{"rotary": Rotary(6)}, {"attend": BiasedAttention(Alibi(N_HEADS))}], ids=str
)
def test_a_layer_that_computes_something_else_loads_no_library_layer(options):
    layer = MultiHeadAttention(D, N_HEADS, **options)
    before = {name: weight.clone() for name, weight in layer.state_dict().items()}
    with pytest.raises(ValueError, match="rotary .*attend "):
        layer.load_library(nn.MultiheadAttention(D, N_HEADS))
    assert all(torch.equal(weight, before[name]) for name, weight in layer.state_dict().items())


# The layer alone ----------------------------------------------------------------------------------


def build(seed: int = 0, **options) -> MultiHeadAttention:
    """Return a layer of random weights: a bias of 0 would hide where it is added."""
    layer = MultiHeadAttention(D, N_HEADS, **options).double()
    for index, parameter in enumerate(layer.parameters()):
        parameter.data = draw(*parameter.shape, seed=seed + index) / 2
    return layer


@both_paths
@pytest.mark.parametrize("n_kv", [4, 2, 1])
@pytest.mark.parametrize("memory", [None, D])
@pytest.mark.parametrize("blind", [False, True])
def test_the_layer_equals_a_loop_over_heads(blind, memory, n_kv, need_weights):
    layer, d = build(n_kv_heads=n_kv), D // N_HEADS
    W_q, W_k, W_v = layer.W_in.split([D, n_kv * d, n_kv * d])
    b_q, b_k, b_v = layer.b_in.split([D, n_kv * d, n_kv * d])
    n_keys = T_SELF if memory is None else S_MEMORY
    mask = (some_blind if blind else some)(B, N_HEADS, T_SELF, n_keys)

    def one_by_one(x, m=None):
        m = x if m is None else m
        contexts, weights = [], []
        for i in range(N_HEADS):
            mine, shared = slice(i * d, (i + 1) * d), i // (N_HEADS // n_kv) * d
            its = slice(shared, shared + d)
            q = x @ W_q[mine].T + b_q[mine]
            k, v = m @ W_k[its].T + b_k[its], m @ W_v[its].T + b_v[its]
            scores = q @ k.mT / math.sqrt(d)
            weight = torch.where(mask[:, i], scores.exp(), 0)
            weight = weight / weight.sum(-1, keepdim=True).clamp(min=1e-300)
            contexts.append(weight @ v)
            weights.append(weight)
        y = torch.cat(contexts, dim=-1) @ layer.W_o.weight.T + layer.W_o.bias
        return (y, torch.stack(weights, dim=1)) if need_weights else y

    inputs = [draw(B, T_SELF, D)] + ([] if memory is None else [draw(B, S_MEMORY, memory, seed=1)])
    assert_same(lambda *x: layer(*x, mask=mask, need_weights=need_weights), one_by_one, *inputs)
    if blind:  # nothing seen: zeros go into W_o
        y, _ = layer(*inputs, mask=mask, need_weights=need_weights)
        torch.testing.assert_close(y[-1, 0], layer.W_o.bias, **EXACT)


@both_paths
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
@pytest.mark.parametrize("rotary", [None, Rotary(6)], ids=["plain", "rotary"])
def test_half_precision_is_finite(dtype, rotary, need_weights):
    layer = build(rotary=rotary).to(dtype)
    x = (10 * draw(B, T_SELF, D)).to(dtype).requires_grad_()
    y, _ = layer(
        x, mask=some_blind(B, 1, T_SELF, T_SELF), is_causal=True, need_weights=need_weights
    )
    y.sum().backward()
    assert y.dtype == dtype and y.isfinite().all()
    for tensor in (x, *layer.parameters()):
        assert tensor.grad.isfinite().all() and tensor.grad.abs().max() > 0


@pytest.mark.parametrize("memory, products", [(None, 2), (D, 3)])
def test_self_attention_projects_in_one_product(memory, products, monkeypatch):
    calls, linear = [], F.linear
    monkeypatch.setattr(F, "linear", lambda *a, **k: calls.append(1) or linear(*a, **k))
    layer = build()
    layer(draw(B, T_SELF, D), None if memory is None else draw(B, S_MEMORY, memory))
    assert len(calls) == products  # with the one at the end


def test_shared_keys_save_weights():
    sizes = [sum(p.numel() for p in build(n_kv_heads=n).parameters()) for n in (4, 2, 1)]
    d = D // N_HEADS
    assert sizes == [2 * (D * D + D) + 2 * n * d * (D + 1) for n in (4, 2, 1)]


# What attention does not see ----------------------------------------------------------------------


@both_paths
def test_without_positions_attention_does_not_see_the_order(need_weights):
    layer, x, order = build(), draw(B, T_SELF, D), torch.tensor([3, 0, 4, 1, 2])
    options = {"need_weights": need_weights}
    y, weights = layer(x, **options)
    shuffled, moved = layer(x[:, order], **options)
    torch.testing.assert_close(shuffled, y[:, order], **EXACT)
    if need_weights:
        torch.testing.assert_close(moved, weights[:, :, order][..., order], **EXACT)
    mask = padding(B, T_SELF)
    torch.testing.assert_close(
        layer(x[:, order], mask=mask[..., order], **options)[0],
        layer(x, mask=mask, **options)[0][:, order],
        **EXACT,
    )
    memory = draw(B, T_SELF, D, seed=1)
    torch.testing.assert_close(
        layer(x, memory[:, order], **options)[0], layer(x, memory, **options)[0], **EXACT
    )


@pytest.mark.parametrize("sees_order", ["waves", "rotary", "causal"])
def test_positions_and_a_causal_mask_let_it_see_the_order(sees_order):
    layer = build(rotary=Rotary(6) if sees_order == "rotary" else None)
    x, order = draw(B, T_SELF, D), torch.tensor([3, 0, 4, 1, 2])

    def attend(x):
        x = SinusoidalPositions(D)(x) if sees_order == "waves" else x
        return layer(x, is_causal=sees_order == "causal")[0]

    assert (attend(x[:, order]) - attend(x)[:, order]).abs().max() > 1e-3


@both_paths
def test_the_future_changes_nothing(need_weights):
    layer, x = build(), draw(B, T_SELF, D)
    before, _ = layer(x, is_causal=True, need_weights=need_weights)
    for t in range(1, T_SELF):
        changed = torch.cat([x[:, :t], 100 * draw(B, T_SELF - t, D, seed=t)], dim=1)
        after, _ = layer(changed, is_causal=True, need_weights=need_weights)
        torch.testing.assert_close(after[:, :t], before[:, :t], rtol=0, atol=1e-13)
        assert (after[:, t:] - before[:, t:]).abs().max() > 1e-3


@both_paths
@pytest.mark.parametrize("batch_size", [2, N_HEADS])
def test_padding_and_neighbours_in_the_batch_change_nothing(batch_size, need_weights):
    layer, x = build(), draw(batch_size, T_SELF, D)
    lengths = [t + 1 for t in range(batch_size)]
    mask = padding(batch_size, T_SELF)
    y, _ = layer(x, mask=mask, need_weights=need_weights)
    for b, length in enumerate(lengths):
        alone, _ = layer(x[b : b + 1, :length], need_weights=need_weights)
        torch.testing.assert_close(y[b : b + 1, :length], alone, **EXACT)


@both_paths
def test_padding_of_a_memory_changes_nothing(need_weights):
    layer, x = build(), draw(3, T_SELF, D)
    memory, lengths = draw(3, S_MEMORY, D), (4, S_MEMORY, 2)
    mask = padding_mask(torch.tensor(lengths), S_MEMORY)[:, None]
    y, _ = layer(x, memory, mask, need_weights=need_weights)
    for b, length in enumerate(lengths):
        alone, _ = layer(x[b : b + 1], memory[b : b + 1, :length], need_weights=need_weights)
        torch.testing.assert_close(y[b : b + 1], alone, **EXACT)


def test_dropout_is_off_in_evaluation():
    layer, x = build(dropout=0.5), draw(B, T_SELF, D)
    without = build()(x)[0]
    for need_weights in (True, False):
        torch.manual_seed(0)
        first, second = (layer.train()(x, need_weights=need_weights)[0] for _ in range(2))
        assert (first - second).abs().max() > 1e-3
        y = layer.eval()(x, need_weights=need_weights)[0]
        torch.testing.assert_close(y, without, **EXACT)


# Step by step -------------------------------------------------------------------------------------


class Held:
    """The smallest cache: what was seen so far, in a longer and longer tensor."""

    def __init__(self, length: int = 0):
        self.length, self.key, self.value = length, None, None

    def append(self, key, value):
        held = self.key is not None
        self.key = torch.cat([self.key, key], dim=2) if held else key
        self.value = torch.cat([self.value, value], dim=2) if held else value
        self.length += key.shape[2]
        return self.key, self.value


def assert_same_in_pieces(layer, need_weights=False, masked=False) -> None:
    """Compare a sequence in one go with two pieces, cut anywhere, and with one symbol at a time."""
    x = draw(B, 6, D)
    mask = padding(B, 6) | (torch.arange(6) == 0) if masked else None
    options = {"is_causal": True, "need_weights": need_weights}
    whole, weights = layer(x, mask=mask, **options)
    pieces = [(cut, 6 - cut) for cut in range(1, 6)] + [(1,) * 6, (2, 1, 3)]
    for sizes in pieces:
        cache, outputs = Held(), []
        for piece in x.split(sizes, dim=1):
            end = cache.length + piece.shape[1]
            seen = None if mask is None else mask[..., :end]
            y, w = layer(piece, mask=seen, cache=cache, **options)
            outputs.append(y)
            if need_weights:
                expected = weights[:, :, end - piece.shape[1] : end, :end]
                torch.testing.assert_close(w, expected, **EXACT)
        assert cache.length == 6 and cache.key.shape[1] == layer.n_kv_heads
        torch.testing.assert_close(torch.cat(outputs, dim=1), whole, **EXACT)


@both_paths
@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize("n_kv", [4, 2, 1])
@pytest.mark.parametrize("turned", [False, True])
def test_cached_equals_uncached_at_every_split(turned, n_kv, masked, need_weights):
    layer = build(n_kv_heads=n_kv, rotary=Rotary(6) if turned else None)
    assert_same_in_pieces(layer, need_weights, masked)


@both_paths
def test_a_bias_of_distances_is_the_same_in_pieces(need_weights):
    biased = build(attend=BiasedAttention(Alibi(N_HEADS)))
    assert_same_in_pieces(biased, need_weights, masked=True)
    x, plain = draw(B, T_SELF, D), build()
    found, _ = biased(x, is_causal=True, need_weights=need_weights)
    assert (found - plain(x, is_causal=True, need_weights=need_weights)[0]).abs().max() > 1e-3
    theirs = nn.MultiheadAttention(D, N_HEADS, batch_first=True).double()
    plain.load_library(theirs)
    biased.load_state_dict(plain.state_dict(), strict=False)
    bias = Alibi(N_HEADS)(T_SELF, T_SELF).masked_fill(~causal_mask(T_SELF), -math.inf)
    expected, _ = theirs(x, x, x, attn_mask=bias.double().repeat(B, 1, 1))
    found, _ = biased(x, is_causal=True, need_weights=need_weights)
    torch.testing.assert_close(found, expected, **EXACT)


class StartForgotten(Rotary):
    def forward(self, x, start=0):
        return super().forward(x)


@pytest.mark.parametrize("mistake", ["corner", "start"])
@both_paths
def test_mistaken_pieces_are_found(mistake, need_weights, monkeypatch):
    layer = build(rotary=(StartForgotten if mistake == "start" else Rotary)(6))
    if mistake == "corner":
        mistaken = MISTAKEN_MASKS["aligned to the first key"]
        monkeypatch.setattr(dot_product, "causal_mask", lambda T, S, _: mistaken(T, S))
    with pytest.raises(AssertionError):
        assert_same_in_pieces(layer, need_weights)


def test_rotary_positions_know_the_distance_alone():
    layer, x = build(rotary=Rotary(6)), draw(B, T_SELF, D)
    here, there = layer(x, is_causal=True)[0], layer(x, is_causal=True, cache=Held(1000))[0]
    torch.testing.assert_close(here, there, **EXACT)


# Bad input ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "options, message",
    [
        ({"n_heads": 5}, "^5 heads .* 24"),
        ({"n_heads": 0}, "^n_heads .* 0"),
        ({"d_model": -24}, "d_model .* -24"),
        ({"n_kv_heads": 3}, "^3 heads .* 4 "),
        ({"n_kv_heads": 8}, "^8 heads .* 4 "),
        ({"n_kv_heads": 0}, "n_kv_heads .* 0"),
        ({"dropout": 1.0}, "dropout .* 1.0"),
        ({"dropout": -0.1}, "dropout .* -0.1"),
    ],
)
def test_a_layer_that_cannot_be_is_named(options, message):
    with pytest.raises(ValueError, match=message):
        MultiHeadAttention(**{"d_model": D, "n_heads": N_HEADS} | options)


X = draw(B, T_SELF, D)


@both_paths
@pytest.mark.parametrize(
    "options, inputs, message",
    [
        ({}, {"x": X[..., 1:]}, r" 24\), .*\(2, 5, 23\)"),
        ({}, {"x": X[0]}, r" 24\), .*\(5, 24\)"),
        ({}, {"x": X[:, :0]}, r"\(2, 0, 24\)"),
        ({}, {"memory": X[:, :0]}, r"\(2, 0, 24\)"),
        ({}, {"memory": X[..., 1:]}, r" 24\), .*\(2, 5, 23\)"),
        ({}, {"memory": X[:1]}, "^2 .*memories.* 1"),
        ({}, {"memory": X, "cache": Held()}, "cache .*rotary .*memory"),
        ({"rotary": Rotary(6)}, {"memory": X}, "cache .*rotary .*memory"),
        ({"rotary": Rotary(4)}, {}, r" 4\).*\(2, 4, 5, 6\)"),
        ({}, {"memory": X[:, 1:], "is_causal": True}, " 5 queries .* 4 keys"),
        ({}, {"mask": torch.ones(5, 5)}, "boolean.*float32"),
        ({}, {"mask": some(4, 5)}, r"\(4, 5\).*\(2, 4, 5, 5\)"),
        ({}, {"mask": some(2, 1, 5)}, r"\(2, 1, 5\).*mask\[None\]"),
    ],
)
def test_bad_input_is_named(options, inputs, message, need_weights):
    with pytest.raises(ValueError, match=message):
        build(**options)(**{"x": X} | inputs, need_weights=need_weights)


# Layers of it, and nothing else -------------------------------------------------------------------


def tagger(residual: bool = True, **options) -> SelfAttentionTagger:
    torch.manual_seed(5)
    return SelfAttentionTagger(11, 7, 12, 3, 2, residual=residual, **options).double()


@pytest.mark.parametrize("residual", [True, False])
def test_a_tagger_is_layers_of_the_library(residual):
    model, ids = tagger(residual, positions=LearnedPositions(6, 12)), torch.randint(1, 11, (4, 5))
    layers = [nn.MultiheadAttention(12, 3, batch_first=True).double() for _ in range(2)]
    for ours, theirs in zip(model.layers, layers, strict=True):
        ours.load_library(theirs)
    x = model.embedding.weight[ids] + model.positions.table[:5]
    for layer in layers:
        found, _ = layer(x, x, x)
        x = x + found if residual else found
    logits, expected = model(ids), model.output(x)
    torch.testing.assert_close(logits, expected, rtol=1e-10, atol=1e-10)
    by = [
        torch.autograd.grad(out.pow(2).sum(), model.embedding.weight, retain_graph=True)[0]
        for out in (logits, expected)
    ]
    torch.testing.assert_close(*by, rtol=1e-10, atol=1e-10)


def test_a_tagger_does_not_read_padding():
    model, ids = tagger(rotary=Rotary(4)), torch.randint(1, 11, (1, 5))
    padded = model(nn.functional.pad(ids, (0, 3)))
    torch.testing.assert_close(padded[:, :5], model(ids), rtol=1e-10, atol=1e-10)


def test_a_taggers_mask_hides_a_link_in_one_layer_and_head():
    model, ids = tagger(), torch.randint(1, 11, (4, 5))
    mask = torch.ones(4, 2, 3, 5, 5, dtype=torch.bool)
    mask[1, 1, 2, 3, 0] = False
    logits, weights = model(ids, mask, need_weights=True)
    whole, all_weights = model(ids, need_weights=True)
    assert weights.shape == (4, 2, 3, 5, 5)
    assert weights[1, 1, 2, 3, 0] == 0 and all_weights[1, 1, 2, 3, 0] > 0
    differs = (logits - whole).abs().amax(-1) > 1e-12
    assert differs.nonzero().tolist() == [[1, 3]]
    torch.testing.assert_close(model(ids, mask), logits, rtol=1e-10, atol=1e-10)


def test_a_causal_tagger_keeps_the_future_out():
    model, ids = tagger(), torch.randint(1, 10, (4, 5))
    other = ids.clone()
    other[:, 3:] = 10
    before, after = (model(x, causal_mask(5)) for x in (ids, other))
    assert torch.equal(before[:, :3], after[:, :3]) and not torch.equal(before, after)


def test_a_tagger_refuses_what_does_not_fit():
    model, ids = tagger(), torch.randint(1, 11, (4, 5))
    with pytest.raises(ValueError, match=r"\(4, 3, 5, 5\).*\(4, 2, 3, 5, 5\)"):
        model(ids, torch.ones(4, 3, 5, 5, dtype=torch.bool))
    with pytest.raises(ValueError, match="boolean"):
        model(ids, torch.ones(5, 5))
    with pytest.raises(ValueError, match="n_layers"):
        SelfAttentionTagger(11, 7, 12, 3, 0)
    with pytest.raises(ValueError, match="^5 heads .* 12"):
        SelfAttentionTagger(11, 7, 12, 5, 1)
