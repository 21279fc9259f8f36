"""Day 11's exercises about what makes a model small, held to the book's own layers."""

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from utils.exercises.small import check
from utils.exercises.small.distilberts_size import distilberts_size
from utils.exercises.small.importance import importance
from utils.exercises.small.int8_rows import int8_rows
from utils.exercises.small.lora import lora_layer
from utils.pretraining import published_sizes
from utils.pretraining.heads import head_importance
from utils.pretraining.low_rank import LowRank
from utils.pretraining.rounded import round_weight
from utils.transformer import EncoderOnly, TransformerConfig

EXACT = {"rtol": 1e-10, "atol": 1e-10}


def draw(*shape: int, seed: int = 0) -> torch.Tensor:
    return torch.randn(*shape, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))


def passes(number: str, answer) -> bool:
    return check.exercises[number].judge(answer) == (True, "correct.")


# 11: LoRA ---------------------------------------------------------------------------------------


def test_lora_is_the_books():
    W, x = draw(7, 5), draw(2, 3, 5, seed=1)
    change = LowRank(W, (0, 7), 2, alpha=16.0)
    change.B.data = draw(7, 2, seed=2)
    y, merged = lora_layer(x, W, change.A, change.B, 16.0)
    torch.testing.assert_close(merged, change(W), **EXACT)
    torch.testing.assert_close(y, F.linear(x, change(W)), **EXACT)


def lora_by_merging_first(x, W, A, B, alpha):
    merged = torch.add(W, B @ A, alpha=alpha / A.shape[0])
    return [F.linear(x, merged), merged]


def lora_by_a_loop(x, W, A, B, alpha):
    merged = W.clone()
    for column, row in zip(B.unbind(1), A, strict=True):
        merged = merged + torch.outer(column, row) * (alpha / B.shape[1])
    return torch.einsum("...i,oi->...o", x, merged), merged


@pytest.mark.parametrize("answer", [lora_by_merging_first, lora_by_a_loop])
def test_lora_in_another_style_is_right(answer):
    assert passes("lora", answer)


# 11: Rows in int8 -------------------------------------------------------------------------------


def test_rows_are_the_books():
    W = draw(6, 9) * torch.tensor([1e-3, 1.0, 5.0, 0.0, 7.0, 1e3])[:, None]
    q, scale = int8_rows(W)
    assert torch.equal(q, round_weight(W).whole) and torch.equal(scale, round_weight(W).scale)


def rows_by_a_loop(W):
    whole, scales = torch.zeros(W.shape, dtype=torch.int8), torch.ones(len(W), 1).double()
    for i, row in enumerate(W.tolist()):
        largest = max(max(row), -min(row))
        if largest:
            scales[i] = largest / 127
            whole[i] = torch.tensor([round(number / (largest / 127)) for number in row])
    return whole, scales


@torch.no_grad()
def rows_by_the_norm(W):
    largest = torch.linalg.vector_norm(W, ord=float("inf"), dim=1, keepdim=True)
    scale = (largest / 127).masked_fill(largest == 0, 1)
    return [torch.round(W / scale).clamp(-127, 127).char(), scale]


@pytest.mark.parametrize("answer", [rows_by_a_loop, rows_by_the_norm])
def test_rows_in_another_style_are_right(answer):
    assert passes("int8_rows", answer)


def test_whole_numbers_take_a_byte():
    passed, sentence = check.exercises["int8_rows"].judge(
        lambda W: (int8_rows(W)[0].int(), int8_rows(W)[1])
    )
    assert passed is False and "torch.int8 is a byte" in sentence


# 11: The importance of heads --------------------------------------------------------------------


def test_importance_is_the_books():
    torch.manual_seed(0)
    sizes = {"d_model": 12, "n_heads": 3, "d_ff": 8, "n_layers": 1, "dropout": 0.0}
    model = EncoderOnly(TransformerConfig(9, **sizes), 4).double().eval()
    ids, lengths, labels = torch.randint(9, (5, 6)), torch.tensor([6, 2, 4, 1, 5]), torch.arange(5)
    kept = []

    def keep(_, inputs):
        kept.append(inputs[0].unflatten(-1, (3, 4)).transpose(1, 2))
        kept[-1].retain_grad()
        return kept[-1].transpose(1, 2).flatten(2)

    with model.encoder.blocks[0].self_attention.W_o.register_forward_pre_hook(keep):
        F.cross_entropy(model(ids, lengths), labels % 4, reduction="sum").backward()
    found = importance(kept[0], kept[0].grad)
    expected = head_importance(model, [(ids, lengths, labels % 4)])[0]
    torch.testing.assert_close(found / found.norm(), expected, **EXACT)


def importance_by_a_loop(contexts, gradients):
    found = []
    for head in range(contexts.shape[1]):
        sizes = [
            abs((c[head] * g[head]).sum().item()) for c, g in zip(contexts, gradients, strict=True)
        ]
        found.append(sum(sizes) / len(sizes))
    return torch.tensor(found, dtype=torch.float64)


def importance_by_a_gate(contexts, gradients):
    gates = nn.Parameter(torch.ones(contexts.shape[:2], dtype=torch.float64))
    torch.einsum("bh,bhtd->bhtd", gates, contexts).backward(gradients)
    return gates.grad.abs().mean(0)


@pytest.mark.parametrize("answer", [importance_by_a_loop, importance_by_a_gate])
def test_importance_in_another_style_is_right(answer):
    assert passes("importance", answer)


# Other ways to the same mistakes ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("id", "mistake", "answer"),
    [
        (
            "lora",
            "not_divided",
            lambda x, W, A, B, alpha: (
                F.linear(x, W) + alpha * F.linear(F.linear(x, A), B),
                W + alpha * (B @ A),
            ),
        ),
        (
            "lora",
            "merged_without_the_scale",
            lambda x, W, A, B, alpha: (
                F.linear(x, W + alpha / A.shape[0] * (B @ A)),
                W + torch.einsum("or,ri->oi", B, A),
            ),
        ),
        (
            "int8_rows",
            "one_scale",
            lambda W: (
                torch.round(127 * W / W.abs().max()).char(),
                W.abs().max().div(127).repeat(len(W))[:, None],
            ),
        ),
        (
            "int8_rows",
            "cut_off",
            lambda W: (torch.trunc(W / int8_rows(W)[1]).char(), int8_rows(W)[1]),
        ),
        (
            "int8_rows",
            "divides_by_zero",
            lambda W: (
                (W / (W.abs().max(1, keepdim=True).values / 127)).round().char(),
                W.abs().max(1, keepdim=True).values / 127,
            ),
        ),
        (
            "importance",
            "size_of_the_mean",
            lambda contexts, gradients: (
                torch.einsum("bhtd,bhtd->h", contexts, gradients).abs() / len(contexts)
            ),
        ),
        (
            "importance",
            "size_of_each_number",
            lambda contexts, gradients: (
                torch.einsum("bhtd,bhtd->h", contexts.abs(), gradients.abs()) / len(contexts)
            ),
        ),
    ],
)
def test_a_mistake_made_in_another_way_is_named(id, mistake, answer):
    exercise = check.exercises[id]
    assert exercise.judge(answer) == (False, exercise.mistakes[mistake].says)


# DistilBERT's size --------------------------------------------------------------------------------


def test_distilbert_is_as_large_as_its_layers():
    assert distilberts_size() == published_sizes("DistilBERT").total


@pytest.mark.parametrize(
    ("given", "mistake"),
    [
        (65_969_664, "no_positions"),
        (66.4, None),
        (42_527_232, "blocks_alone"),
        (66.36, "in_millions"),
    ],
)
def test_only_the_exact_size_of_distilbert_is_correct(given, mistake):
    exercise = check.exercises["distilberts_size"]
    passed, sentence = exercise.judge(given)
    assert not passed
    assert mistake is None or sentence == exercise.mistakes[mistake].says
    assert exercise.judge(66_362_880) == (True, "correct.")
