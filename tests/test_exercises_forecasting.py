"""Day 14's exercises, held to the book's functions, and answers to them in other styles."""

import heapq
import math
import statistics

import numpy as np
import pytest
import torch
from torch.nn import functional as F

from utils import forecasting
from utils.exercises.forecasting import check
from utils.exercises.forecasting.conformal_width import conformal_width
from utils.exercises.forecasting.decompose import decompose
from utils.exercises.forecasting.mape_optimum import SALES, mape_optimum
from utils.exercises.forecasting.pinball_loss import pinball_loss
from utils.exercises.forecasting.rolling_origin import rolling_origin
from utils.exercises.forecasting.scaled_by_past import scaled_by_past
from utils.exercises.forecasting.seasonal_naive import seasonal_naive
from utils.exercises.forecasting.smape import smape
from utils.exercises.forecasting.weighted_mae import weighted_mae
from utils.exercises.forecasting.which_leaks import which_leaks
from utils.exercises.forecasting.windows import windows

EXACT = {"rtol": 1e-10, "atol": 1e-10}


def draw(*shape: int, seed: int = 0) -> torch.Tensor:
    return torch.randn(*shape, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))


# Held to the book's functions ---------------------------------------------------------------------


def test_measures_are_the_books():
    y, f, known = draw(9).exp(), draw(9, seed=1).exp(), draw(6, seed=2).exp()
    y[4] = f[4] = f[7] = 0
    assert math.isclose(smape(y, f), 100 * forecasting.smape(y, f))
    assert math.isclose(
        weighted_mae(y, f, known), forecasting.weighted_mae(y, f, known.quantile(0.5).item())
    )


@pytest.mark.parametrize("given", [(9, 4, 2, 1), (9, 4, 2, 3), (6, 5, 1, 7), (30, 2, 7, 4)])
def test_origins_are_the_books(given):
    assert rolling_origin(*given) == forecasting.rolling_origin(*given)
    assert check.exercises["rolling_origin"].reference(*given) == [
        (list(known), list(ahead)) for known, ahead in rolling_origin(*given)
    ]


def test_the_scale_of_the_past_is_the_books():
    series = draw(5, 11).cumsum(dim=1)
    series[3, :7] = 4
    scaler = forecasting.PastScaler.of(series[:, :7])
    torch.testing.assert_close(scaled_by_past(series, 7), scaler.scale(series), **EXACT)


@pytest.mark.parametrize("T, season", [(3, 5), (5, 5), (12, 5), (4, 1), (20, 8)])
def test_as_last_season_is_the_books(T, season):
    past = draw(3, 8)
    assert torch.equal(seasonal_naive(past, T, season), forecasting.seasonal_naive(past, T, season))


def test_the_loss_of_quantiles_is_the_books_and_its_minimum_the_quantile():
    f, y, q = draw(6, 3), draw(6, seed=1), (0.1, 0.5, 0.8)
    expected = forecasting.pinball_loss(f, y, q)
    torch.testing.assert_close(pinball_loss(f, y, q), expected, **EXACT)
    targets = torch.arange(100.0)
    losses = [pinball_loss(torch.full((100, 1), at), targets, [0.8]) for at in targets.tolist()]
    assert 79 <= min(range(100), key=losses.__getitem__) <= 80


def test_widths_are_the_books():
    for n in range(1, 30):
        for alpha in (0.05, 0.25, 0.31, 0.5):
            scores = draw(n, seed=n)
            expected = forecasting.conformal_width(scores, alpha).item()
            assert conformal_width(scores, alpha) == expected


def test_windows_are_the_books_on_each_side():
    series = draw(23)
    found = windows(series, 4, 2, 13)
    for pair, part in zip(found, (series[:13], series[13:]), strict=True):
        for ours, books in zip(pair, forecasting.windows(part, 4, 2), strict=True):
            assert torch.equal(ours, books)


@pytest.mark.parametrize("kernel_size", [1, 3, 9, 25])
def test_trend_and_rest_are_what_the_books_linear_layers_read(kernel_size):
    series = draw(3, 12)
    trend, rest = decompose(series, kernel_size)
    books = forecasting.moving_average(series, kernel_size)
    torch.testing.assert_close((trend, rest), (books, series - books), **EXACT)


def test_the_books_moving_average_leaks_and_a_scale_of_the_past_does_not():
    def scale(n):
        return lambda x: forecasting.PastScaler.of(x[:n]).scale(x)

    steps = {
        "average": lambda x: forecasting.moving_average(x[None], 5)[0],
        "past": scale(12),
        "all": scale(30),
    }
    assert which_leaks(steps, draw(30), 12) == ["average", "all"]


def test_no_constant_has_a_smaller_mape():
    sales = torch.tensor(SALES, dtype=torch.float64)
    constants = torch.linspace(0, 250, 2501, dtype=torch.float64)
    errors = [forecasting.mape(sales, c.expand_as(sales)).item() for c in constants]
    best = constants[min(range(len(errors)), key=errors.__getitem__)].item()
    assert best == mape_optimum() == 30
    judge = check.exercises["mape_optimum"].judge
    assert judge(best) == judge(30) == judge(30.01) == (True, "correct.")
    assert not judge(29.9)[0] and not judge(30.1)[0]


# Other styles -------------------------------------------------------------------------------------


def smape_by_a_loop(target, forecast):
    total = 0.0
    for y, f in zip(target.tolist(), forecast.tolist(), strict=True):
        if y != f:
            total += abs(y - f) / ((abs(y) + abs(f)) / 2)
    return total / len(target) * 100


def wmae_by_a_loop(target, forecast, known):
    median = statistics.median(known.tolist())
    above = below = 0.0
    for y, f in zip(target.tolist(), forecast.tolist(), strict=True):
        w = min(5, max(1, y / median))
        above, below = above + w * abs(y - f), below + w
    return above / below


def origins_by_a_loop(n, first, T, step=1):
    found, known = [], first
    while known + T <= n:
        found.append([torch.arange(known), torch.arange(known, known + T)])
        known += step
    return found


def scaled_in_place(series, origin):
    scaled = series.clone()
    for row in scaled:
        row -= row[:origin].mean()
        deviation = (row[:origin] ** 2).mean().sqrt()
        if deviation > 0:
            row /= deviation
    return scaled


def season_by_going_on(past, T, season):
    steps = list(past.unbind(1))
    for _ in range(T):
        steps.append(steps[-season])
    return torch.stack(steps[-T:], dim=1)


def loss_by_a_loop(forecast, target, quantiles):
    total = 0
    for row, y in zip(forecast, target, strict=True):
        for f, q in zip(row, quantiles, strict=True):
            total = total + (q * (y - f) if y > f else (1 - q) * (f - y))
    return total / forecast.numel()


def loss_by_the_absolute_error(forecast, target, quantiles):
    error = target.unsqueeze(1) - forecast
    return (error.abs() / 2 + (torch.tensor(quantiles) - 0.5) * error).mean()


def width_from_the_largest(scores, alpha):
    left_out = math.floor((len(scores) + 1) * alpha)
    return heapq.nlargest(left_out, scores.tolist())[-1] if left_out else math.inf


def windows_by_a_loop(series, S, T, n_train):
    parts = []
    for part in (series[:n_train], series[n_train:]):
        starts = range(len(part) - S - T + 1)
        pasts = torch.stack([part[i : i + S] for i in starts])
        parts.append([pasts, torch.stack([part[i + S : i + S + T] for i in starts])])
    return parts


def windows_sorted_out(series, S, T, n_train):
    train, test = ([], []), ([], [])
    for end in range(S + T, len(series) + 1):
        past, future = series[end - S - T : end].split((S, T))
        for pasts, futures in ([train] if end <= n_train else []) + (
            [test] if end - S - T >= n_train else []
        ):
            pasts.append(past)
            futures.append(future)
    return tuple(tuple(map(torch.stack, pair)) for pair in (train, test))


def decomposed_by_a_loop(series, kernel_size):
    half, n = kernel_size // 2, series.shape[1]
    trend = torch.zeros_like(series)
    for t in range(n):
        for j in range(t - half, t + half + 1):
            trend[:, t] += series[:, min(max(j, 0), n - 1)] / kernel_size
    return [trend, series - trend]


def decomposed_by_a_convolution(series, kernel_size):
    half = (kernel_size - 1) // 2
    longer = F.pad(series.unsqueeze(1), (half, half), mode="replicate")
    trend = F.conv1d(longer, series.new_full((1, 1, kernel_size), 1 / kernel_size)).squeeze(1)
    return trend, series - trend


def leaks_with(change, agree=torch.equal):
    """Look for leaks with another change of the future (n,)."""

    def answer(steps, series, origin):
        found, other = [], torch.cat([series[:origin], change(series[origin:])])
        for name, step in steps.items():
            if not agree(step(series)[:origin], step(other)[:origin]):
                found.append(name)
        return found

    return answer


OTHER_STYLES = [
    ("smape", smape_by_a_loop),
    ("smape", lambda y, f: (200 * (y - f).abs() / (y.abs() + f.abs())).nan_to_num().mean()),
    (
        "smape",
        lambda y, f: (
            100 * F.l1_loss(f, y, reduction="none").div((abs(y) + abs(f)) / 2 + 1e-12).mean()
        ),
    ),
    ("weighted_mae", wmae_by_a_loop),
    (
        "weighted_mae",  # PyTorch divides by the weights' sum as well
        lambda y, f, known: F.l1_loss(f, y, weight=(y / known.quantile(0.5)).clamp(1, 5)),
    ),
    (
        "weighted_mae",
        lambda y, f, known: np.average(
            (y - f).abs(), weights=np.clip(y.numpy() / np.median(known), 1, 5)
        ),
    ),
    ("rolling_origin", rolling_origin),
    ("rolling_origin", origins_by_a_loop),
    (
        "rolling_origin",
        lambda n, first, T, step: [
            (list(range(k)), list(range(n))[k : k + T]) for k in range(first, n - T + 1, step)
        ],
    ),
    ("scaled_by_past", scaled_in_place),
    (
        "scaled_by_past",
        lambda x, origin: torch.nan_to_num(
            (x - x[:, :origin].mean(1)[:, None])
            / x[:, :origin]
            .var(1, correction=0)
            .sqrt()
            .masked_fill(x[:, :origin].var(1) == 0, 1)[:, None]
        ),
    ),
    ("scaled_by_past", lambda x, n: forecasting.PastScaler.of(x[:, :n]).scale(x)),
    ("seasonal_naive", forecasting.seasonal_naive),
    ("seasonal_naive", season_by_going_on),
    ("seasonal_naive", lambda x, T, m: x[:, -m:].repeat(1, T // m + 1)[:, :T]),
    ("seasonal_naive", lambda x, T, m: torch.stack([x[:, t % m - m] for t in range(T)], dim=1)),
    ("pinball_loss", forecasting.pinball_loss),
    ("pinball_loss", loss_by_a_loop),
    ("pinball_loss", loss_by_the_absolute_error),
    (
        "pinball_loss",
        lambda f, y, q: (
            sum(
                torch.where(y > f[:, i], q[i] * (y - f[:, i]), (1 - q[i]) * (f[:, i] - y)).mean()
                for i in range(len(q))
            )
            / len(q)
        ),
    ),
    ("conformal_width", width_from_the_largest),
    ("conformal_width", lambda s, a: forecasting.conformal_width(s, a)),
    (
        "conformal_width",
        lambda s, a: sorted([*s.tolist(), float("inf")])[math.ceil((1 - a) * (len(s) + 1)) - 1],
    ),
    ("windows", windows_by_a_loop),
    ("windows", windows_sorted_out),
    ("decompose", decomposed_by_a_loop),
    ("decompose", decomposed_by_a_convolution),
    ("which_leaks", leaks_with(lambda future: 0 * future)),
    ("which_leaks", leaks_with(lambda future: future * math.nan)),
    ("which_leaks", leaks_with(lambda future: future.flip(0) ** 2, torch.allclose)),
    ("which_leaks", leaks_with(lambda future: future + torch.arange(1, len(future) + 1) ** 2)),
    ("which_leaks", leaks_with(lambda future: 50 * torch.rand_like(future))),
]


@pytest.mark.parametrize(("name", "answer"), OTHER_STYLES)
def test_an_answer_in_another_style_is_right(name, answer):
    assert check.exercises[name].judge(answer) == (True, "correct.")
