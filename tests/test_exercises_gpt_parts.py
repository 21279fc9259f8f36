"""Day 9's exercises about the parts of a block and published weights, held to the book's layers."""

import itertools
import math
from functools import partial

import pytest
import torch
from torch.nn import functional as F

from utils import language
from utils.exercises.gpt import check
from utils.exercises.gpt.c_attn import from_c_attn
from utils.exercises.gpt.gated_width import gated_width
from utils.exercises.gpt.neighbouring_pairs import neighbouring_pairs
from utils.exercises.gpt.qk_norm import qk_norm_scores
from utils.language import QKNormAttention, RMSNorm, RotaryHalves
from utils.positions import Rotary
from utils.self_attention import MultiHeadAttention

EXACT = {"rtol": 1e-10, "atol": 1e-10}


def draw(*shape: int, seed: int = 0) -> torch.Tensor:
    return torch.randn(*shape, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))


def passes(number: str, answer) -> bool:
    return check.exercises[number].judge(answer) == (True, "correct.")


# 9.5 Normalised queries and keys ------------------------------------------------------------------


def test_normalised_scores_are_the_books_layers():
    torch.manual_seed(0)
    layer = QKNormAttention(24, 4, n_kv_heads=2, norm=partial(RMSNorm, eps=0.1)).double()
    for norm in (layer.norm_q, layer.norm_k):
        norm.weight.data = draw(6, seed=len(norm.weight))
    x = draw(2, 5, 24)
    q, k, _ = MultiHeadAttention.project(layer, x, None)
    k = k.repeat_interleave(2, dim=1)
    found = qk_norm_scores(q, k, layer.norm_q.weight, layer.norm_k.weight, 0.1)
    _, weights = layer(x, need_weights=True)
    torch.testing.assert_close(found.softmax(-1), weights, **EXACT)


def scores_by_the_library(q, k, g_q, g_k, eps):
    d = q.shape[-1]
    q, k = F.rms_norm(q, (d,), g_q, eps), F.rms_norm(k, (d,), g_k, eps)
    return torch.einsum("bhtd,bhsd->bhts", q, k) * d**-0.5


def scores_by_a_loop(q, k, g_q, g_k, eps):
    scores = q.new_empty(*q.shape[:3], k.shape[2])
    for b, h, t, s in itertools.product(*map(range, scores.shape)):
        sizes = [(x.pow(2).mean() + eps) ** 0.5 for x in (q[b, h, t], k[b, h, s])]
        product = ((g_q * q[b, h, t]) * (g_k * k[b, h, s])).sum()
        scores[b, h, t, s] = product / sizes[0] / sizes[1] / math.sqrt(q.shape[-1])
    return scores


@pytest.mark.parametrize("answer", [scores_by_the_library, scores_by_a_loop])
def test_normalised_scores_in_another_style_are_right(answer):
    assert passes("qk_norm", answer)


# 9.6 The width of a gated layer -------------------------------------------------------------------


@pytest.mark.parametrize("d_ff", [3, 512, 1000, 1536, 16_384])
@pytest.mark.parametrize("multiple", [1, 8, 256])
def test_the_width_is_the_books_and_the_first_that_is_wide_enough(d_ff, multiple):
    width = gated_width(d_ff, multiple)
    assert width == language.gated_width(d_ff, multiple)
    assert width % multiple == 0 and 3 * (width - multiple) < 2 * d_ff <= 3 * width


def width_by_a_loop(d_ff, multiple):
    width = multiple
    while 3 * width < 2 * d_ff:
        width += multiple
    return width


@pytest.mark.parametrize(
    "answer", [width_by_a_loop, lambda d_ff, m: m * math.ceil(2 * d_ff / 3 / m)]
)
def test_a_width_in_another_style_is_right(answer):
    assert passes("gated_width", answer)


# 9.8 From pairs of halves to neighbours -----------------------------------------------------------


@pytest.mark.parametrize("n_kv_heads", [1, 2, 4])
def test_reordered_rows_make_the_same_of_a_text_with_the_other_rotary_positions(n_kv_heads):
    halves, neighbours = (
        MultiHeadAttention(24, 4, n_kv_heads=n_kv_heads, bias=False, rotary=kind(6)).double()
        for kind in (RotaryHalves, Rotary)
    )
    rows = neighbouring_pairs(*halves.W_in.split(halves.rows), 4, n_kv_heads)
    neighbours.load_state_dict(halves.state_dict() | {"W_in": torch.cat(rows)})
    x = draw(2, 7, 24)
    found, _ = neighbours(x, is_causal=True)
    torch.testing.assert_close(found, halves(x, is_causal=True)[0], **EXACT)


def rows_by_a_loop(W_q, W_k, W_v, n_heads, n_kv_heads):
    found = []
    for W, n in ((W_q, n_heads), (W_k, n_kv_heads)):
        d, order = len(W) // n, []
        for head in range(n):
            for i in range(d // 2):
                order += [head * d + i, head * d + i + d // 2]
        found.append(W[order])
    return *found, W_v


def rows_by_views(W_q, W_k, W_v, n_heads, n_kv_heads):
    D = W_q.shape[1]
    q, k = (
        W.view(n, 2, len(W) // n // 2, D).permute(0, 2, 1, 3).reshape(-1, D)
        for W, n in ((W_q, n_heads), (W_k, n_kv_heads))
    )
    return [q, k, W_v.clone()]


@pytest.mark.parametrize("answer", [rows_by_a_loop, rows_by_views])
def test_reordered_rows_in_another_style_are_right(answer):
    assert passes("neighbouring_pairs", answer)


# 9.9 GPT-2's c_attn -------------------------------------------------------------------------------


def test_the_parts_of_c_attn_make_its_queries_keys_and_values():
    weight, bias, x = draw(4, 12), draw(12, seed=1), draw(2, 5, 4)
    W_q, b_q, W_k, b_k, W_v, b_v = from_c_attn(weight, bias)
    found = [F.linear(x, W_q, b_q), F.linear(x, W_k, b_k), F.linear(x, W_v, b_v)]
    torch.testing.assert_close(torch.cat(found, dim=-1), x @ weight + bias, **EXACT)


def parts_by_slices(weight, bias):
    D, parts = len(weight), []
    for i in range(3):
        parts += [weight[:, i * D : (i + 1) * D].transpose(0, 1), bias[i * D : (i + 1) * D]]
    return parts


def parts_by_unflatten(weight, bias):
    D = len(weight)
    matrices = weight.unflatten(1, (3, D)).permute(1, 2, 0)
    return tuple(x for pair in zip(matrices, bias.view(3, D), strict=True) for x in pair)


@pytest.mark.parametrize("answer", [parts_by_slices, parts_by_unflatten])
def test_parts_of_c_attn_in_another_style_are_right(answer):
    assert passes("c_attn", answer)


# Other ways to the same mistakes ------------------------------------------------------------------


def thirds_of_the_inputs(weight, bias):
    W_q, W_k, W_v = torch.chunk(weight, 3, dim=0)
    b_q, b_k, b_v = bias.chunk(3)
    return W_q.mT, b_q, W_k.mT, b_k, W_v.mT, b_v


def with_parts_of_3(weight, bias):
    return [
        x for W, b in zip(weight.split(3, dim=1), bias.split(3), strict=False) for x in (W.T, b)
    ]


def by_a_view(weight, bias):
    D = len(weight)
    W, b = weight.contiguous().view(3, D, D), bias.view(3, D)
    return W[0].T, b[0], W[1].T, b[1], W[2].T, b[2]


@pytest.mark.parametrize(
    ("id", "mistake", "answer"),
    [
        ("c_attn", "inputs_cut", thirds_of_the_inputs),
        ("c_attn", "split_in_threes", with_parts_of_3),
        ("c_attn", "viewed_and_transposed", by_a_view),
        (
            "qk_norm",
            "cosines",
            lambda q, k, g_q, g_k, eps: (
                scores_by_the_library(q, k, g_q, g_k, eps / q.shape[-1]) / q.shape[-1]
            ),
        ),
        ("gated_width", "down", lambda d_ff, multiple: int(2 * d_ff / 3 / multiple) * multiple),
        (
            "gated_width",
            "nearest",
            lambda d_ff, multiple: round(2 * d_ff / 3 / multiple) * multiple,
        ),
        (
            "neighbouring_pairs",
            "way_back",
            lambda W_q, W_k, W_v, n, n_kv: (
                torch.cat([torch.cat([head[0::2], head[1::2]]) for head in W_q.chunk(n)]),
                torch.cat([torch.cat([head[0::2], head[1::2]]) for head in W_k.chunk(n_kv)]),
                W_v,
            ),
        ),
        (
            "c_attn",
            "not_transposed",
            lambda weight, bias: [
                x
                for W, b in zip(weight.split(len(weight), 1), bias.split(len(weight)), strict=True)
                for x in (W, b)
            ],
        ),
    ],
)
def test_a_mistake_made_in_another_way_is_named(id, mistake, answer):
    exercise = check.exercises[id]
    assert exercise.judge(answer) == (False, exercise.mistakes[mistake].says)
