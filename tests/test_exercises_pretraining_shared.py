"""Exercises about pairs (Day 10) and shared layers (Day 11), held to the book's own."""

import itertools

import pytest
import torch

from utils.exercises.pretraining import check
from utils.exercises.pretraining.ordered_pair import ordered_pair
from utils.exercises.small import check as small
from utils.exercises.small.shared_gradient import shared_gradient
from utils.pretraining import SharedEncoder, make_pair
from utils.pretraining.pairs import QUESTIONS
from utils.seq2seq import BOS, EOS
from utils.transformer import Encoder, TransformerConfig

EXERCISES = check.exercises | small.exercises


def passes(number: str, answer) -> bool:
    return EXERCISES[number].judge(answer) == (True, "correct.")


# Pairs ---------------------------------------------------------------------------------------


def test_a_pair_is_the_books():
    parts = [7], [8, 9], [10, 11, 12]
    for (a, b, c), question, die in itertools.product(
        itertools.permutations(parts), QUESTIONS, (0.0, 0.3, 0.5, 0.8)
    ):
        assert ordered_pair(a, b, c, question, die) == make_pair(a, b, c, question, die)


def pair_in_place(first, second, other, question, die):
    shown, label = [list(first), list(second)], 0
    if die >= 0.5:
        label = 1
        if question == "order":
            shown.reverse()
        else:
            shown[1] = list(other)
    ids, types = [BOS], [0]
    for number, part in enumerate(shown):
        for id in [*part, EOS]:
            ids.append(id)
            types.append(number)
    return [ids, types, label]


def pair_by_cases(first, second, other, question, die):
    shown = {
        (True, "next"): (first, second),
        (True, "order"): (first, second),
        (False, "next"): (first, other),
        (False, "order"): (second, first),
    }[die < 0.5, question]
    ids = [BOS] + shown[0] + [EOS] + shown[1] + [EOS]
    front = ids.index(EOS) + 1
    return ids, [int(place >= front) for place in range(len(ids))], 1 - int(die < 0.5)


@pytest.mark.parametrize("answer", [pair_in_place, pair_by_cases])
def test_a_pair_in_another_style_is_right(answer):
    assert passes("ordered_pair", answer)


# The gradient of what is shared -------------------------------------------------------------


def by_hand(x, W, n, arriving):
    with torch.no_grad():
        states = [x]
        for _ in range(n):
            states.append(states[-1] + torch.tanh(states[-1] @ W.T))
        found, back = torch.zeros_like(W), arriving
        for h in reversed(states[:-1]):
            bent = back * (1 - torch.tanh(h @ W.T) ** 2)
            found += bent.T @ h
            back = back + bent @ W
    return found


def by_copies(x, W, n, arriving):
    copies = [W.clone().requires_grad_() for _ in range(n)]
    for copy in copies:
        x = x + (x @ copy.mT).tanh()
    x.backward(arriving)
    return torch.stack([copy.grad for copy in copies]).sum(0)


def by_jacobian(x, W, n, arriving):
    def total(W):
        h = x
        for _ in range(n):
            h = h + torch.einsum("td,ed->te", h, W).tanh()
        return (h * arriving).sum()

    return torch.func.grad(total)(W)


@pytest.mark.parametrize("answer", [by_hand, by_copies, by_jacobian])
def test_a_shared_gradient_in_another_style_is_right(answer):
    assert passes("shared_gradient", answer)


def test_a_shared_encoders_gradient_is_the_sum_over_its_layers():
    torch.manual_seed(0)
    config = TransformerConfig(
        11, d_model=8, n_heads=2, d_ff=12, n_layers=3, positions=None, dropout=0.0
    )
    shared, copied = SharedEncoder(config).double(), Encoder(config).double()
    copied.embedding = shared.embedding
    for block in copied.blocks:
        block.load_state_dict(shared.blocks[0].state_dict())
    x, arriving = torch.randn(2, 5, 8).double(), torch.randn(2, 5, 8).double()
    for model in (shared, copied):
        model.run(x)[0].backward(arriving)
    for name, weight in shared.blocks[0].named_parameters():
        of_each = [block.get_parameter(name).grad for block in copied.blocks]
        torch.testing.assert_close(weight.grad, sum(of_each), rtol=0.0, atol=1e-12)


# Other ways to the same mistakes ------------------------------------------------------------------


def with_detached_copies(x, W, n, arriving):
    layers = [W.requires_grad_(), *(W.detach().clone() for _ in range(n - 1))]
    for layer in layers:
        x = x + torch.tanh(x @ layer.T)
    x.backward(arriving)
    return W.grad


def states_cut_off(x, W, n, arriving):
    found = torch.zeros_like(W)
    for _ in range(n):
        bent = arriving * (1 - torch.tanh(x @ W.T) ** 2)
        found += bent.T @ x
        x = x + torch.tanh(x @ W.T)
    return found


def parts_run_together(first, second, other, question, die):
    label = int(die >= 0.5)
    if label and question == "order":
        first, second = second, first
    elif label:
        second = other
    return [BOS, *first, *second, EOS], [0, *(0 for _ in first), *(1 for _ in second), 1], label


@pytest.mark.parametrize(
    ("id", "mistake", "answer"),
    [
        ("shared_gradient", "first_alone", with_detached_copies),
        ("shared_gradient", "cut_off", states_cut_off),
        ("shared_gradient", "transposed", lambda *given: shared_gradient(*given).mT),
        ("shared_gradient", "mean_over_uses", lambda x, W, n, g: by_hand(x, W, n, g / n)),
        (
            "ordered_pair",
            "label_inverted",
            lambda *given: (*pair_in_place(*given)[:2], int(given[-1] < 0.5)),
        ),
        ("ordered_pair", "no_separator", parts_run_together),
    ],
)
def test_a_mistake_made_in_another_way_is_named(id, mistake, answer):
    exercise = EXERCISES[id]
    assert exercise.judge(answer) == (False, exercise.mistakes[mistake].says)
