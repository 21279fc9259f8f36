"""The mistakes of Day 9's exercise about top-p, made in other ways than its check knows them."""

import math

import pytest
import torch

from utils.exercises.gpt import check


def cut_where_p_is_not_reached(logits, tau, p, least=1):
    chances, order = (logits / tau).softmax(0).sort(descending=True)
    chances[max(int((chances.cumsum(0) < p).sum()), least) :] = 0
    return torch.zeros_like(chances).index_put((order,), chances / chances.sum())


def cut_above_p(logits, tau, p):
    chances, order = (logits / tau).softmax(0).sort(descending=True)
    chances[chances.cumsum(0) > p] = 0
    return torch.zeros_like(chances).scatter(0, order, chances / chances.sum())


def cut_as_they_stand(logits, tau, p):
    chances = (logits / tau).softmax(0)
    chances[chances.cumsum(0) > p] = 0
    return chances / chances.sum()


def cut_by_a_sorted_mask(logits, tau, p):
    chances = (logits / tau).softmax(0)
    ranked, _ = chances.sort(descending=True)
    chances[ranked.cumsum(0) - ranked >= p] = 0
    return chances / chances.sum()


def sorted_and_cut(logits, tau, p):
    """Return the chances, the order, and how many tokens stay."""
    chances, order = (logits / tau).softmax(0).sort(descending=True)
    return chances, order, int((chances.cumsum(0) - chances < p).sum())


def kept(*given):
    chances, _, n = sorted_and_cut(*given)
    return chances[:n]


def kept_and_the_rest(logits, tau, p, divided=True):
    likely = (logits / tau).softmax(0)
    chances, order, n = sorted_and_cut(logits, tau, p)
    likely[order[:n]] = chances[:n] / (chances[:n].sum() if divided else 1)
    return likely


def without_the_rest(logits, tau, p):
    _, order, n = sorted_and_cut(logits, tau, p)
    likely = (logits / tau).softmax(0)[order[:n].sort().values]
    return likely / likely.sum()


def share_of_the_tokens(logits, tau, p, whole=int):
    best = (logits / tau).softmax(0).topk(whole(p * len(logits)))
    likely = torch.zeros_like(logits)
    likely[best.indices] = best.values
    return likely / likely.sum()


def divided_before_the_cut(*given):
    chances, order, n = sorted_and_cut(*given)
    chances = chances / chances.sum()
    chances[n:] = 0
    return torch.zeros_like(chances).index_put((order,), chances)


def chosen_from(*given):
    likely = divided_before_the_cut(*given)
    return likely / likely.sum()


@pytest.mark.parametrize(
    ("mistake", "answer"),
    [
        ("crossing_left_out", cut_where_p_is_not_reached),
        (
            "best_dropped",
            lambda *given: cut_where_p_is_not_reached(*given, least=0),
        ),
        ("cut_above_p", cut_above_p),
        ("unsorted_to_p", cut_as_they_stand),
        ("mask_left_sorted", cut_by_a_sorted_mask),
        ("never_zeroed", kept_and_the_rest),
        (
            "divided_and_never_zeroed",
            lambda *given: kept_and_the_rest(*given, divided=False) / kept(*given).sum(),
        ),
        ("shorter", lambda *given: kept(*given) / kept(*given).sum()),
        ("shorter_in_order", without_the_rest),
        ("share_of_tokens", share_of_the_tokens),
        ("share_rounded_up", lambda *given: share_of_the_tokens(*given, whole=math.ceil)),
        ("share_rounded", lambda *given: share_of_the_tokens(*given, whole=round)),
        ("not_whole_at_the_end", divided_before_the_cut),
        ("drawn", lambda *given: torch.multinomial(chosen_from(*given), 1)),
        ("drawn", lambda *given: chosen_from(*given).multinomial(1).item()),
        ("likeliest", lambda *given: int(chosen_from(*given).argmax())),
    ],
)
def test_a_mistake_made_in_another_way_is_named(mistake, answer):
    exercise = check.exercises["next_chances"]
    assert exercise.judge(answer) == (False, exercise.mistakes[mistake].says)
