"""The search for a learning rate goes on until no neighbour is better, on both sides."""

import math

import pytest

from utils.training.tuning import losses_by_rate


@pytest.mark.parametrize(
    ("best", "tried"),
    [
        (0.1, [0.1, 0.05, 0.2]),
        (0.35, [0.1, 0.05, 0.2, 0.4, 0.8]),
        (0.0125, [0.1, 0.05, 0.2, 0.025, 0.0125, 0.00625]),
    ],
)
def test_no_rate_is_tried_twice_and_the_best_is_never_the_edge(best, tried):
    asked = []

    def loss_at(rate):
        asked.append(rate)
        return abs(rate - best)

    losses = losses_by_rate(loss_at, 0.1)
    assert asked == list(losses) == tried
    assert losses == {rate: abs(rate - best) for rate in tried}
    found = min(losses, key=losses.get)
    assert min(tried) < found < max(tried)


def test_the_first_of_equal_rates_is_the_best():
    losses = losses_by_rate(lambda rate: 0.0, 2**-8, factor=4)
    assert list(losses) == [2**-8, 2**-10, 2**-6] and min(losses, key=losses.get) == 2**-8


def test_a_loss_that_is_no_number_counts_as_infinite():
    losses = losses_by_rate(lambda rate: math.nan if rate > 1 else 1 / rate, 1.0)
    assert losses == {1.0: 1.0, 0.5: 2.0, 2.0: math.inf}


@pytest.mark.parametrize(
    ("start", "factor", "loss", "match"),
    [(0, 2, 1, "above 0"), (1, 1, 1, "factor above 1"), (1, 2, math.nan, "finite loss")],
)
def test_what_is_no_search_is_refused(start, factor, loss, match):
    with pytest.raises(ValueError, match=match):
        losses_by_rate(lambda rate: loss, start, factor)
