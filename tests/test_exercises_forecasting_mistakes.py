"""The mistakes of Day 14's exercises, made in other ways than the checks know them."""

import math

import numpy as np
import pytest
import torch
from torch.nn import functional as F

from utils.exercises.forecasting import check


def weighing(divisor, within=(1, 5)):
    """Weigh by the sales over a number that is made of target and known sales."""

    def answer(target, forecast, known):
        weights = (target / divisor(target, known)).clamp(*within)
        return sum(weights * (target - forecast).abs()) / sum(weights)

    return answer


def rolling(origins, known=lambda k: k, start=lambda k: k, end=lambda k, T: k + T):
    """Roll over the origins of n, first, T and step; each knows and forecasts what is given."""

    def answer(n, first, T, step=1):
        return [(range(known(k)), range(start(k), end(k, T))) for k in origins(n, first, T, step)]

    return answer


def usual(n, first, T, step):
    return range(first, n - T + 1, step)


def by_moves(n, first, T, step):
    return [first + i * step for i in range((n - first - T) // step)]


def windows_of_the_past(n, first, T, step):
    starts = range(0, n - first - T + 1, step)
    return [(range(i, i + first), range(i + first, i + first + T)) for i in starts]


def standardised(part, **how):
    """Scale by mean and deviation of a part of the series; a deviation of 0 isn't looked after."""

    def answer(series, origin):
        x = part(series, origin)
        mean, deviation = x.mean(1, keepdim=True), x.std(1, keepdim=True, **how)
        return (series - mean) / deviation

    return answer


def step_by_step(index):
    """Take for step t of a forecast the step of the past with this index."""

    def answer(past, T, season):
        return torch.stack([past[:, index(t, season)] for t in range(T)], dim=1)

    return answer


def largest_of_two(left, right):
    """The larger one of two products with y - ŷ."""

    def answer(forecast, target, quantiles):
        q, error = torch.tensor(quantiles), target[:, None] - forecast
        return torch.maximum(left(q) * error, right(q) * error).mean()

    return answer


def with_indicator(forecast, target, quantiles):
    q, error = torch.tensor(quantiles), target[:, None] - forecast
    return ((q - (error > 0).to(error)) * error).mean()


def in_order(index, **how):
    """Sort scores, and take the one with the index that is made of n and α."""

    def answer(scores, alpha):
        return torch.sort(scores, **how).values[index(len(scores), alpha)]

    return answer


def k_of(n, alpha):
    return math.ceil((n + 1) * (1 - alpha))


def pairs_from(train, test):
    """Pairs of the whole series that begin where these say, of n steps, S, T and n_train."""

    def answer(series, S, T, n_train):
        found = []
        for starts in (train(len(series), S, T, n_train), test(len(series), S, T, n_train)):
            pasts = torch.stack([series[i : i + S] for i in starts])
            found.append((pasts, torch.stack([series[i + S : i + S + T] for i in starts])))
        return found

    return answer


def fitting(n, S, T, n_train):
    return range(n_train - S - T + 1)


def later(n, S, T, n_train):
    return range(n_train, n - S - T + 1)


def windows_shuffled(series, S, T, n_train):
    train, test = (part.unfold(0, S + T, 1) for part in (series[:n_train], series[n_train:]))
    train = train[torch.randperm(len(train))]
    return (train[:, :S], train[:, S:]), (test[:, :S], test[:, S:])


def averaging(window, mean=lambda steps, k: steps.mean(1)):
    """A trend whose step t is the mean of a slice, which t and the kernel's size give."""

    def answer(series, k):
        steps = [mean(series[:, window(t, k)], k) for t in range(series.shape[1])]
        trend = torch.stack(steps, dim=1)
        return trend, series - trend

    return answer


def pooled(pad):
    """A trend by PyTorch's pooling of a series that was made longer."""

    def answer(series, k):
        trend = F.avg_pool1d(pad(series[:, None], k), k, 1)[:, 0]
        return trend, series - trend

    return answer


def looking(other, changes):
    """Name steps whose results change, as is decided by both of them and the origin."""

    def answer(steps, series, origin):
        changed = other(series, origin)
        return [k for k, step in steps.items() if changes(step(series), step(changed), origin)]

    return answer


def new_future(series, origin):
    return torch.cat([series[:origin], 2 * series[origin:] + 5])


def times(by):
    return lambda x, origin: torch.cat([x[:origin], by * x[origin:]])


def in_the_past(a, b, origin):
    return not torch.equal(a[:origin], b[:origin])


def leaks_by_cutting_off(steps, series, origin):
    return [
        k for k, step in steps.items() if (step(series)[:origin] != step(series[:origin])).any()
    ]


def leaks_by_two_futures(steps, series, origin):
    """Later days 1,000 higher, then their numbers backwards."""
    names = set()
    for change in (lambda x: x + 1000, lambda x: x.flip(0)):
        other = torch.cat([series[:origin], change(series[origin:])])
        names |= {k for k, step in steps.items() if in_the_past(step(series), step(other), origin)}
    return [k for k in steps if k in names]


def leaks_by_gradients(steps, series, origin):
    names = []
    for name in steps:
        x = series.detach().clone().requires_grad_(True)
        (gradient,) = torch.autograd.grad(steps[name](x)[:origin].sum(), x)
        if (gradient[origin:] != 0).any():
            names.append(name)
    return names


MADE_OTHERWISE = [
    ("smape", "without_the_2", lambda y, f: 100 * ((y - f).abs() / (abs(y) + abs(f))).mean()),
    ("smape", "share", lambda y, f: (2 * (y - f).abs() / (y.abs() + f.abs())).mean()),
    ("smape", "a_little_below", lambda y, f: (200 * abs(y - f) / (abs(y) + abs(f) + 1e-3)).mean()),
    (
        "smape",
        "one_below_the_sum",
        lambda y, f: 200 * ((y - f).abs() / (1 + abs(y) + abs(f))).mean(),
    ),
    ("smape", "mape", lambda y, f: 100 * ((y - f).abs() / y.abs()).mean()),
    ("smape", "zero_by_zero", lambda y, f: 100 * ((y - f).abs() * 2 / (abs(y) + abs(f))).mean()),
    ("smape", "zeros_left_out", lambda y, f: 200 * ((y - f).abs() / (abs(y) + abs(f))).nanmean()),
    ("smape", "ratio_of_sums", lambda y, f: 200 * F.l1_loss(f, y) / (abs(y) + abs(f)).mean()),
    ("smape", "over_the_mean_target", lambda y, f: 100 * sum(abs(y - f)) / sum(abs(y))),
    ("weighted_mae", "median_of_the_test", weighing(lambda y, known: y.median())),
    ("weighted_mae", "lower_median", weighing(lambda y, known: known.median())),
    ("weighted_mae", "mean_for_median", weighing(lambda y, known: sum(known) / len(known))),
    ("weighted_mae", "clipped_before", weighing(lambda y, known: 1)),
    (
        "weighted_mae",
        "not_clipped",
        weighing(lambda y, known: np.median(known), within=(None, math.inf)),
    ),
    (
        "weighted_mae",
        "divided_by_weeks",
        lambda y, f, known: ((y / known.quantile(0.5)).clamp(1, 5) * (y - f).abs()).mean(),
    ),
    (
        "weighted_mae",
        "no_lower_limit",
        weighing(lambda y, known: known.quantile(0.5), within=(0, 5)),
    ),
    (
        "weighted_mae",
        "unweighted",
        weighing(lambda y, known: known.quantile(0.5), within=(5, 1)),  # PyTorch gives 1 to all
    ),
    ("rolling_origin", "last_missing", rolling(lambda n, f, T, s: range(f, n - T, s))),
    ("rolling_origin", "one_beyond", rolling(lambda n, f, T, s: range(f, n - T + 2, s))),
    ("rolling_origin", "as_many_as_moves", rolling(by_moves)),
    ("rolling_origin", "by_one", rolling(lambda n, f, T, s: range(f, n - T + 1))),
    ("rolling_origin", "by_the_larger", rolling(lambda n, f, T, s: range(f, n - T + 1, max(T, s)))),
    ("rolling_origin", "sliding", windows_of_the_past),
    (
        "rolling_origin",
        "a_step_ahead",
        rolling(
            lambda n, f, T, s: range(f, n - T, s), start=lambda k: k + 1, end=lambda k, T: k + 1 + T
        ),
    ),
    (
        "rolling_origin",
        "a_step_left_out",
        rolling(usual, start=lambda k: k + 1, end=lambda k, T: k + 1 + T),
    ),
    ("rolling_origin", "overlapping", rolling(usual, known=lambda k: k + 1)),
    (
        "rolling_origin",
        "from_1",
        lambda n, first, T, step: [
            (list(range(1, k + 1)), [k + i for i in range(1, T + 1)])
            for k in range(first, n - T + 1, step)
        ],
    ),
    ("rolling_origin", "too_short", rolling(usual, end=lambda k, T: k + T - 1)),
    ("rolling_origin", "too_long", rolling(usual, end=lambda k, T: k + T + 1)),
    ("scaled_by_past", "of_all", standardised(lambda x, n: x, correction=0)),
    ("scaled_by_past", "of_all_unbiased", standardised(lambda x, n: x)),
    ("scaled_by_past", "unbiased", standardised(lambda x, n: x[:, :n])),
    ("scaled_by_past", "divided_by_0", standardised(lambda x, n: x[:, :n], correction=0)),
    (
        "scaled_by_past",
        "infinity_to_the_largest",
        lambda x, n: torch.nan_to_num(
            (x - x[:, :n].mean(1)[:, None]) / x[:, :n].std(1, correction=0)[:, None]
        ),
    ),
    ("scaled_by_past", "one_too_many", standardised(lambda x, n: x[:, : n + 1], correction=0)),
    (
        "scaled_by_past",
        "a_little_more",
        lambda x, n: (
            (x - x[:, :n].mean(1)[:, None]) / (x[:, :n].std(1, correction=0)[:, None] + 1e-3)
        ),
    ),
    ("scaled_by_past", "over_dim_0", lambda x, n: (x - x[:, :n].mean(0)) / x[:, :n].std(0)),
    (
        "scaled_by_past",
        "whole_over_dim_0",
        lambda x, n: (x - x.mean(0, keepdim=True)) / x.var(0, keepdim=True).sqrt(),
    ),
    ("scaled_by_past", "of_the_future", standardised(lambda x, n: x[:, n:], correction=0)),
    ("seasonal_naive", "on_from_the_front", step_by_step(lambda t, season: t - season)),
    ("seasonal_naive", "backwards", step_by_step(lambda t, season: -1 - t % season)),
    ("seasonal_naive", "a_step_early", step_by_step(lambda t, season: t % season - season - 1)),
    ("seasonal_naive", "a_step_late", step_by_step(lambda t, season: (t + 1) % season - season)),
    ("seasonal_naive", "first_season", lambda x, T, m: x[:, :m].repeat(1, T)[:, :T]),
    ("seasonal_naive", "first_of_the_season", step_by_step(lambda t, season: -season)),
    ("seasonal_naive", "part_missing", lambda x, T, m: x[:, -m:].repeat(1, T // m)[:, :T]),
    ("seasonal_naive", "empty_slice", lambda x, T, m: x[:, -m : -m + T]),
    ("pinball_loss", "exchanged", largest_of_two(lambda q: -q, lambda q: 1 - q)),
    ("pinball_loss", "minus_missing", largest_of_two(lambda q: q, lambda q: 1 - q)),
    ("pinball_loss", "smaller", with_indicator),
    (
        "pinball_loss",
        "quantiles_summed_up",
        lambda f, y, q: sum(
            torch.where(y > f[:, i], q[i] * (y - f[:, i]), (1 - q[i]) * (f[:, i] - y)).mean()
            for i in range(len(q))
        ),
    ),
    ("conformal_width", "between_two", lambda s, alpha: float(np.quantile(s, 1 - alpha))),
    ("conformal_width", "of_n", in_order(lambda n, alpha: math.ceil(n * (1 - alpha)) - 1)),
    ("conformal_width", "rounded_down", in_order(lambda n, alpha: int((n + 1) * (1 - alpha)) - 1)),
    ("conformal_width", "one_further", in_order(k_of)),
    (
        "conformal_width",
        "one_further",  # as it is often written
        lambda s, alpha: float(
            np.quantile(s, min(1, k_of(len(s), alpha) / len(s)), method="higher")
        ),
    ),
    ("conformal_width", "error_if_too_few", in_order(lambda n, alpha: k_of(n, alpha) - 1)),
    ("conformal_width", "largest_if_too_few", in_order(lambda n, a: min(k_of(n, a), n) - 1)),
    (
        "conformal_width",
        "from_the_largest",
        in_order(lambda n, alpha: k_of(n, alpha) - 1, descending=True),
    ),
    ("windows", "shuffled", windows_shuffled),
    (
        "windows",
        "training_reaches_over",
        pairs_from(lambda n, S, T, n_train: range(n_train - S + 1), later),
    ),
    ("windows", "room_for_one", pairs_from(lambda n, S, T, n_train: range(n_train - S), later)),
    (
        "windows",
        "cut_after_the_last_past",
        pairs_from(
            lambda n, S, T, n_train: range(n_train - S),
            lambda n, S, T, n_train: range(n_train - S, n - S - T + 1),
        ),
    ),
    (
        "windows",
        "test_reaches_back",
        pairs_from(fitting, lambda n, S, T, n_train: range(n_train - S, n - S - T + 1)),
    ),
    (
        "windows",
        "border_in_the_test",
        pairs_from(fitting, lambda n, S, T, n_train: range(n_train - S - T + 1, n - S - T + 1)),
    ),
    (
        "windows",
        "last_of_test_missing",
        pairs_from(fitting, lambda n, S, T, n_train: range(n_train, n - S - T)),
    ),
    ("decompose", "zeros", pooled(lambda x, k: F.pad(x, (k // 2, k // 2)))),
    ("decompose", "mirrored", pooled(lambda x, k: F.pad(x, (k // 2, k // 2), mode="reflect"))),
    ("decompose", "backwards", pooled(lambda x, k: F.pad(x, (k - 1, 0), mode="replicate"))),
    (
        "decompose",
        "fewer_at_the_ends",
        averaging(lambda t, k: slice(max(0, t - k // 2), t + k // 2 + 1)),
    ),
    (
        "decompose",
        "zeros",
        averaging(
            lambda t, k: slice(max(0, t - k // 2), t + k // 2 + 1),
            lambda steps, k: steps.sum(1) / k,
        ),
    ),
    ("decompose", "backwards_and_fewer", averaging(lambda t, k: slice(max(0, t - k + 1), t + 1))),
    ("which_leaks", "all_days", looking(new_future, lambda a, b, origin: (a != b).any())),
    (
        "which_leaks",
        "every_day",
        looking(new_future, lambda a, b, origin: (a[:origin] != b[:origin]).all()),
    ),
    (
        "which_leaks",
        "a_day_more",
        looking(new_future, lambda a, b, origin: (a[: origin + 1] != b[: origin + 1]).any()),
    ),
    ("which_leaks", "nothing_in_common", looking(lambda x, origin: x.flip(0), in_the_past)),
    (
        "which_leaks",
        "moved_alike",
        looking(lambda x, origin: x + (torch.arange(len(x)) >= origin), in_the_past),
    ),
    ("which_leaks", "by_gradients", leaks_by_gradients),
    ("which_leaks", "cut_off", leaks_by_cutting_off),
    ("which_leaks", "moved_and_reordered", leaks_by_two_futures),
    *(
        ("which_leaks", mistake, looking(times(by), in_the_past))
        for mistake, by in (("multiplied", 3), ("multiplied", 0.5), ("signs_changed", -1))
    ),
    (
        "which_leaks",
        "reordered",
        looking(lambda x, origin: torch.cat([x[:origin], x[origin:].flip(0)]), in_the_past),
    ),
]


@pytest.mark.parametrize(("name", "mistake", "answer"), MADE_OTHERWISE)
def test_a_mistake_made_in_another_way_is_named(name, mistake, answer):
    exercise = check.exercises[name]
    passed, sentence = exercise.judge(answer)
    assert not passed and sentence.endswith(exercise.mistakes[mistake].says)


@pytest.mark.parametrize(
    ("given", "mistake"),
    [
        (80.0, "median"),
        (90, "mean"),
        (51.9, "harmonic_mean"),
        (69.5, "geometric_mean"),
        (0.564, "its_mape"),
        (56.4, "its_mape_in_percent"),
    ],
)
def test_a_wrong_constant_is_explained(given, mistake):
    exercise = check.exercises["mape_optimum"]
    assert exercise.judge(given) == (False, exercise.mistakes[mistake].says)


@pytest.mark.parametrize("known", [range, lambda k: list(range(k)), torch.arange])
def test_origins_may_be_ranges_lists_and_tensors_and_wrong_ones_are_told_in_numbers(known):
    exercise = check.exercises["rolling_origin"]

    def answer(n, first, T, step):
        return [(known(k), known(k + T)[k:]) for k in usual(n, first, T, step)]

    assert exercise.judge(answer) == (True, "correct.")
    says = "looking at one origin, and one step to forecast: it returned 2 values, not 1."
    assert exercise.judge(lambda *given: 2 * answer(*given)) == (False, says)
