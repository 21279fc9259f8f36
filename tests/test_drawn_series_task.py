"""Day 14's page: its forecasters, what they learn from, and the two methods that learn nothing."""

from dataclasses import astuple, fields

import numpy as np
import pytest
import torch

from utils.data.sales import Market
from utils.forecasting import split_conformal
from utils.tasks.drawn_series import (
    ALPHA,
    DAYS,
    KINDS,
    N_SERIES,
    all_five,
    as_before,
    forecasters,
    judge,
    many_markets,
    restored_forecasters,
    to_take,
    varied,
)
from utils.tasks.many_sales import S, T
from utils.tasks.rounded import in_int8


def drawn(n: int = 4) -> torch.Tensor:
    return torch.rand(n, S, dtype=torch.float64, generator=torch.Generator().manual_seed(0)) * 100


def test_no_two_markets_are_alike_and_parts_are_missing_or_up_to_twice_as_strong():
    chance = np.random.default_rng(0)
    markets = torch.tensor([astuple(varied(chance)) for _ in range(600)])
    ratio = markets / torch.tensor(astuple(Market()))
    missing = (markets == 0).float().mean(dim=0)
    assert len(missing) == len(fields(Market)) and ((missing - 1 / 3).abs() < 0.08).all()
    assert 1.9 < ratio.max() <= 2 and len(markets.unique(dim=0)) == 600


def test_many_markets_have_weeks_of_their_own():
    found = many_markets(6, 0)
    assert found.known is None and found.values.shape == (6 * N_SERIES, DAYS)
    assert found.values.isfinite().all() and (found.values >= 0).all()
    assert torch.equal(many_markets(2, 0).values, found.values[: 2 * N_SERIES])
    assert not torch.equal(many_markets(2, 1).values, found.values[: 2 * N_SERIES])
    weeks = found.values[::N_SERIES, : 7 * (DAYS // 7)].unflatten(1, (-1, 7))
    assert len(weeks.median(dim=1).values.argmax(dim=1).unique()) > 1  # the best day of the week
    with pytest.raises(ValueError, match="n"):
        many_markets(0, 0)


def test_series_to_take_fit_the_page():
    found = to_take()
    assert len(found) == 4
    for values in found.values():
        assert values.shape == (S + T,) and values.min() >= 0 and values.max() == pytest.approx(90)


@pytest.mark.parametrize("season", [1, 7])
def test_intervals_of_naive_methods_are_conformal_by_the_past_alone(season):
    past = drawn()
    found = as_before(past, season)
    assert found.shape == (4, T, 3)
    for t in range(T):
        lag = season * (t // season + 1)
        middle = past[:, S + t - lag]
        for row, forecast in enumerate(middle):
            known, before = past[row, lag:], past[row, :-lag]
            low, high = split_conformal(forecast, known, before, ALPHA)
            expected = torch.stack([low, forecast, high])
            torch.testing.assert_close(found[row, t], expected)


def test_an_interval_of_80_percent_holds_about_80_percent():
    series = torch.randn(300, S + T, generator=torch.Generator().manual_seed(0)).double()
    for season in (1, 7):
        found = judge(series[:, :S], series[:, S:], as_before(series[:, :S], season))
        assert found.coverage == pytest.approx(0.8, abs=0.02)


def test_five_methods_forecast_and_move_with_the_unit():
    past, models = drawn(), forecasters().eval()
    found = all_five(models, past)
    assert list(found) == ["naive", "seasonal naive", *KINDS]
    for name, other in all_five(models, 30 * past + 7).items():
        assert found[name].shape == (4, T, 3) and (found[name].diff(dim=2) >= 0).all()
        torch.testing.assert_close(other, 30 * found[name] + 7, atol=1e-2, rtol=1e-5)


def test_a_judge_measures_in_deviations_of_the_past():
    past = torch.tensor([[0.0, 10.0]]).repeat(2, S // 2).double()  # a mean and a deviation of 5
    target = torch.full((2, T), 20.0).double()
    forecast = torch.tensor([[5.0, 10, 15], [15, 20, 25]])[:, None].expand(2, T, 3).double()
    found = judge(past, target, forecast)
    assert found.error == pytest.approx(1) and found.coverage == 0.5
    # 0.1 · 3, 0.5 · 2 and 0.9 · 1 below, then 0.1 · 1, 0 and 0.1 · 1
    assert found.loss == pytest.approx((0.3 + 1 + 0.9 + 0.1 + 0.1) / 6)


def test_forecasters_come_back_from_whole_numbers():
    models = forecasters(3)
    kept = in_int8(models)
    back = restored_forecasters(kept)
    assert not back.training
    for weight, other in zip(models.parameters(), back.parameters(), strict=True):
        assert (other - weight).abs().max() <= weight.abs().max() / 250
    with pytest.raises(ValueError, match="another model"):
        restored_forecasters({name: kept[name] for name in [*kept][1:]})
