"""Day 14's MAE and MAPE: held to the book's, in other styles, and mistakes made in other ways.

And a lag that is shifted the wrong way, as it is written elsewhere.
"""

import math
import statistics

import numpy as np
import pytest
import torch
from torch.nn import functional as F

from utils import forecasting
from utils.exercises.forecasting import check
from utils.exercises.forecasting.mae_and_mape import mae_and_mape

EXERCISE = check.exercises["mae_and_mape"]


def draw(*shape: int, seed: int = 0) -> torch.Tensor:
    return torch.randn(*shape, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))


def test_both_are_the_books_but_for_percent_and_a_target_of_0():
    y, f = draw(9), draw(9, seed=1)
    mae, mape = mae_and_mape(y, f)
    assert math.isclose(mae, forecasting.mae(y, f))
    assert math.isclose(mape, 100 * forecasting.mape(y, f))
    y[4] = 0
    mae, mape = mae_and_mape(y, f)
    assert math.isclose(mae, forecasting.mae(y, f)) and math.isnan(mape)


def by_a_loop(target, forecast):
    errors, shares = [], []
    for y, f in zip(target.tolist(), forecast.tolist(), strict=True):
        errors.append(abs(y - f))
        shares.append(abs(y - f) / abs(y) * 100 if y else math.nan)
    return [statistics.fmean(errors), statistics.fmean(shares)]


def by_numpy(target, forecast):
    y, f = target.numpy(), forecast.numpy()
    mape = np.nan if (y == 0).any() else 100 * np.mean(np.abs((y - f) / y))
    return np.mean(np.abs(y - f)), mape


def by_the_librarys_loss(target, forecast):
    shares = torch.where(target == 0, torch.nan, (forecast / target - 1).abs())
    return F.l1_loss(forecast, target), shares.mean() * 100


@pytest.mark.parametrize("answer", [by_a_loop, by_numpy, by_the_librarys_loss])
def test_an_answer_in_another_style_is_right(answer):
    assert EXERCISE.judge(answer) == (True, "correct.")


def with_shares(shares):
    """The MAE, and the mean of shares that are made of target and forecast."""
    return lambda y, f: (F.l1_loss(f, y), 100 * shares(y, f).mean())


MADE_OTHERWISE = [
    ("divided_by_0", with_shares(lambda y, f: abs((y - f) / y))),
    ("zeros_left_out", with_shares(lambda y, f: abs(y[y != 0] - f[y != 0]) / abs(y[y != 0]))),
    ("zeros_are_correct", with_shares(lambda y, f: ((y - f) / y).abs().nan_to_num(0, 0, 0))),
    ("over_a_tiny_number", with_shares(lambda y, f: abs(y - f) / abs(y).clamp_min(1e-8))),
    (
        "signed",
        lambda y, f: ((y - f).mean(), 100 * torch.where(y == 0, math.nan, 1 - f / y).mean()),
    ),
    (
        "over_sales_as_they_are",
        lambda y, f: ((y - f).abs().mean(), sum(abs(y - f) / y) / len(y) * 100),
    ),
    (
        "root_for_mae",
        lambda y, f: (F.mse_loss(f, y) ** 0.5, 100 * abs(1 - f / y.where(y != 0, math.nan)).mean()),
    ),
    ("share", lambda y, f: (F.l1_loss(f, y), abs(1 - f / y.where(y != 0, math.nan)).mean())),
]


@pytest.mark.parametrize(("mistake", "answer"), MADE_OTHERWISE)
def test_a_mistake_made_in_another_way_is_named(mistake, answer):
    passed, sentence = EXERCISE.judge(answer)
    assert not passed and sentence.endswith(EXERCISE.mistakes[mistake].says)


def test_a_roll_by_minus_the_horizon_is_a_lag_the_wrong_way():
    """As `shift` in a table: y_{t+1} taken for y_{t-1}."""

    def answer(series, S, T, n_train):
        parts = []
        for part in (series[:n_train], series[n_train:]):
            n = len(part) - S - T + 1
            columns = [part.roll(-lag)[:n] for lag in range(S + T)]
            parts.append((torch.stack(columns[T:], dim=1), torch.stack(columns[:T], dim=1)))
        return parts

    passed, sentence = check.exercises["windows"].judge(answer)
    assert not passed and "the lag is shifted the wrong way" in sentence
