"""Day 14: measures, windows and origins, the scale of the past, simple forecasts, intervals."""

import math

import pytest
import torch

from utils.forecasting import (
    Interval,
    LinearForecaster,
    PastScaler,
    conformal_quantiles,
    conformal_width,
    coverage,
    drift,
    mae,
    mape,
    mase,
    mean_forecast,
    moving_average,
    naive,
    pinball_loss,
    rolling_origin,
    seasonal_naive,
    smape,
    split,
    split_conformal,
    weighted_mae,
    windows,
)
from utils.tasks.classical import ets


def draw(*shape, seed=0):
    return torch.randn(*shape, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))


def numbers(*values):
    return torch.tensor(values, dtype=torch.float64)


# Measures -----------------------------------------------------------------------------------------

TARGET, FORECAST = numbers(100, 200, -50, 400), numbers(80, 260, -50, 100)


def test_measures_by_hand():
    assert mae(TARGET, FORECAST) == (20 + 60 + 0 + 300) / 4
    torch.testing.assert_close(mape(TARGET, FORECAST), numbers(0.2 + 0.3 + 0.75)[0] / 4)
    expected = numbers(40 / 180 + 120 / 460 + 0 + 600 / 500)[0] / 4
    torch.testing.assert_close(smape(TARGET, FORECAST), expected)
    weights = [1, 2, 1, 4]  # y / 100, where that is between 1 and 5
    expected = numbers(20 * 1 + 60 * 2 + 300 * 4)[0] / sum(weights)
    torch.testing.assert_close(weighted_mae(TARGET, FORECAST, 100), expected)


def test_weights_are_clipped_on_both_sides_and_equal_errors_keep_their_size():
    target, forecast = numbers(1, 10, 1000), numbers(4, 16, 994)
    expected = numbers(3 * 1 + 6 * 1 + 6 * 5)[0] / 7
    torch.testing.assert_close(weighted_mae(target, forecast, 10), expected)
    torch.testing.assert_close(weighted_mae(target, target + 7, 10), numbers(7)[0])
    expected = numbers(3 * 2 + 6 * 2 + 6 * 3)[0] / 7
    torch.testing.assert_close(weighted_mae(target, forecast, 10, least=2, most=3), expected)


def test_smape_ends_at_2_and_two_zeros_are_no_error():
    target = numbers(0, 0, 5).requires_grad_()
    error = smape(target, numbers(0, 3, 0))
    torch.testing.assert_close(error.detach(), numbers(4 / 3)[0])
    error.backward()
    assert target.grad.isfinite().all()


def test_scaled_errors_compare_each_series_with_its_own_past():
    past = numbers(1, 3, 2, 6)
    for season, scale in ((1, (2 + 1 + 4) / 3), (2, (1 + 3) / 2)):
        found = mase(numbers(7, 5), numbers(6, 9), past, season)
        torch.testing.assert_close(found, numbers(2.5 / scale)[0])
    small = draw(3, 20)
    both = torch.cat([small, 1000 * small + 7])
    first = mase(small[:, 12:], small[:, 11:-1], small[:, :12])
    torch.testing.assert_close(mase(both[:, 12:], both[:, 11:-1], both[:, :12]), first)


@pytest.mark.parametrize(
    "call, sentence",
    [
        (lambda: mae(torch.ones(2, 1), torch.ones(2)), r"got \(2,\) for \(2, 1\)"),
        (lambda: smape(torch.ones(0), torch.ones(0)), r"got \(0,\) for \(0,\)"),
        (lambda: mape(numbers(1, 0), numbers(1, 1)), "A target is 0"),
        (lambda: weighted_mae(TARGET, FORECAST, 0), "positive median, got 0"),
        (lambda: weighted_mae(TARGET, FORECAST, math.nan), "positive median, got nan"),
        (lambda: mase(TARGET, FORECAST, torch.ones(3), 3), r"more than 3 steps .*\(3,\)"),
        (lambda: mase(TARGET, FORECAST, torch.ones(1, 9)), r"\(1, 9\) for \(4,\)"),
        (lambda: mase(TARGET, FORECAST, torch.ones(9)), "repeats itself"),
        (lambda: mase(TARGET, FORECAST, TARGET, 0), "season is a whole number of at least 1"),
        (lambda: mase(TARGET, FORECAST, TARGET, True), "season is a whole .*, got True"),
        (lambda: mase(TARGET, FORECAST, TARGET, -1), "season is a whole number of at least 1"),
        (
            lambda: mase(TARGET, FORECAST, numbers(2)[0]),
            r"more than 1 step for .*got \(\) for \(4,\)",
        ),
        (lambda: weighted_mae(0 * TARGET, FORECAST, 100, least=0), "All weights are 0"),
        (lambda: weighted_mae(TARGET, FORECAST, 100, least=-1), "from 0 to the largest, 5, got -1"),
        (lambda: weighted_mae(TARGET, FORECAST, 100, least=6), "from 0 to the largest, 5, got 6"),
        (lambda: mase(TARGET, FORECAST, numbers(1, math.nan, 2)), "A past is NaN or infinite"),
        (lambda: weighted_mae(TARGET, TARGET / 0, 100), "A forecast is NaN or infinite"),
    ],
)
def test_what_can_not_be_measured_is_refused(call, sentence):
    with pytest.raises(ValueError, match=sentence):
        call()


@pytest.mark.parametrize("measure", [mae, mape, smape])
@pytest.mark.parametrize("missing", [math.nan, math.inf])
def test_a_missing_number_is_not_measured(measure, missing):
    for what, pair in (
        ("target", (numbers(1, missing), numbers(1, 2))),
        ("forecast", (numbers(1, 2), numbers(missing, 1))),
    ):
        with pytest.raises(ValueError, match=f"{what} .*NaN"):
            measure(*pair)


def test_whole_numbers_are_measured_forecast_and_scaled_as_others():
    """Also where PyTorch gives them no mean: sales may be pieces."""
    target, forecast = torch.tensor([3, 8, 1]), torch.tensor([4, 6, 1])
    past = torch.tensor([2, 5, 4, 4])
    assert mae(target, forecast) == 1
    torch.testing.assert_close(mase(target, forecast, past), torch.tensor(1 / (4 / 3)))
    assert mean_forecast(past, 2).tolist() == [3.75, 3.75]
    expected = PastScaler.of(past.float()).scale(past.float())
    torch.testing.assert_close(PastScaler.of(past).scale(past), expected)
    assert pinball_loss(torch.tensor([[1], [4]]), torch.tensor([3, 3]), (0.75,)) == 0.875
    assert conformal_width(past, 0.5) == 4 and conformal_width(past, 0.1) == math.inf


@pytest.mark.parametrize("wrong, said", [([1.0, 2.0], "a list"), (TARGET > 0, r"of torch.bool")])
@pytest.mark.parametrize(
    "call",
    [
        lambda wrong: mae(wrong, wrong),
        lambda wrong: mase(TARGET, FORECAST, wrong),
        lambda wrong: windows(wrong, 1, 1),
        lambda wrong: seasonal_naive(wrong, 1, 1),
        PastScaler.of,
        lambda wrong: pinball_loss(wrong, wrong, (0.5,)),
        lambda wrong: conformal_width(wrong, 0.5),
        lambda wrong: moving_average(wrong, 3),
        LinearForecaster(2, 1),
        lambda wrong: ets(wrong, 1),
    ],
)
def test_what_is_no_tensor_of_numbers_is_refused(call, wrong, said):
    with pytest.raises(ValueError, match=f"tensor .*{said}"):
        call(wrong)


# Windows and origins ------------------------------------------------------------------------------


@pytest.mark.parametrize("shape, S, T", [((11,), 4, 2), ((3, 9), 5, 1), ((2, 3, 7), 1, 6)])
def test_windows_are_all_pairs_of_past_and_future(shape, S, T):
    series = draw(*shape)
    past, future = windows(series, S, T)
    n = shape[-1] - S - T + 1
    assert past.shape == (*shape[:-1], n, S) and future.shape == (*shape[:-1], n, T)
    for i in range(n):
        assert torch.equal(past[..., i, :], series[..., i : i + S])
        assert torch.equal(future[..., i, :], series[..., i + S : i + S + T])


def test_an_origin_sees_what_comes_before_it_and_rolls_to_the_end():
    origins = rolling_origin(10, 5, 2)
    assert [(known.stop, [*ahead]) for known, ahead in origins] == [
        (5, [5, 6]),
        (6, [6, 7]),
        (7, [7, 8]),
        (8, [8, 9]),
    ]
    assert all(known.start == 0 for known, _ in origins)
    assert [known.stop for known, _ in rolling_origin(11, 3, 2, step=3)] == [3, 6, 9]
    assert len(rolling_origin(7, 4, 3)) == 1


def test_time_is_cut_into_three_parts_in_order():
    assert split(54) == (range(38), range(38, 46), range(46, 54))
    assert split(10, (0.5, 0.2, 0.3)) == (range(5), range(5, 7), range(7, 10))


@pytest.mark.parametrize("shape", [(12,), (3, 12)])
def test_a_scaler_knows_the_past_alone_and_goes_both_ways(shape):
    series = 5 + 3 * draw(*shape)
    scaler = PastScaler.of(series[..., :8])
    scaled = scaler.scale(series)
    torch.testing.assert_close(scaled[..., :8].mean(-1), torch.zeros(shape[:-1]).double())
    deviation = scaled[..., :8].square().mean(-1).sqrt()
    torch.testing.assert_close(deviation, torch.ones(shape[:-1]).double())
    torch.testing.assert_close(scaler.unscale(scaled), series)
    changed = series.clone()
    changed[..., 8:] = 1e6
    for before, after in zip(scaler, PastScaler.of(changed[..., :8]), strict=True):
        assert torch.equal(before, after)


@pytest.mark.parametrize("level", [0.0, 3.1, 1e7])
def test_a_constant_is_moved_to_0(level):
    past = torch.full((2, 7), level)
    scaler = PastScaler.of(past)
    assert scaler.deviation.flatten().tolist() == [1, 1]
    torch.testing.assert_close(scaler.scale(past), torch.zeros(2, 7), atol=1e-5 * level, rtol=0)


def test_a_past_that_hardly_moves_is_no_constant():
    past = 1000 + 1e-3 * draw(2, 9)
    deviation = PastScaler.of(past).scale(past).square().mean(dim=-1).sqrt()
    torch.testing.assert_close(deviation, torch.ones(2).double())


@pytest.mark.parametrize(
    "call, sentence",
    [
        (lambda: windows(torch.ones(5), 4, 2), "at least 6 steps is needed, got one of 5"),
        (lambda: windows(torch.ones(5), 0, 2), "S is a whole number"),
        (lambda: windows(numbers(1, math.nan, 2), 1, 1), "NaN or infinite"),
        (lambda: rolling_origin(10, 9, 2), "After 9 known steps, 2 more don't fit"),
        (lambda: rolling_origin(10, 0, 2), "first is a whole number"),
        (lambda: rolling_origin(10, 4, 2, 0), "step is a whole number"),
        (lambda: split(54, (0.7, 0.1, 0.1)), "add up to 1"),
        (lambda: split(54.0), "n is a whole number of at least 1, got 54.0"),
        (lambda: split(3), "of 3 steps leaves a part empty"),
        (lambda: PastScaler.of(torch.ones(2, 0)), "at least 1 step is needed, got one of 0"),
        (lambda: naive(torch.tensor(1.0), 2), "got one of 0"),
        (lambda: seasonal_naive(torch.ones(2, 6), 3, 7), "at least 7 steps is needed, got one of"),
        (lambda: drift(torch.ones(1), 3), "at least 2 steps"),
        (lambda: mean_forecast(torch.ones(3), 0), "T is a whole number"),
    ],
)
def test_what_is_too_short_is_refused(call, sentence):
    with pytest.raises(ValueError, match=sentence):
        call()


# Simple forecasts ---------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", [(10,), (2, 10)])
def test_simple_forecasts_by_hand(shape):
    past = draw(*shape)
    for t in range(8):
        assert torch.equal(naive(past, 8)[..., t], past[..., -1])
        assert torch.equal(seasonal_naive(past, 8, 3)[..., t], past[..., 7 + t % 3])
        torch.testing.assert_close(mean_forecast(past, 8)[..., t], past.mean(dim=-1))
        slope = (past[..., 9] - past[..., 0]) / 9
        torch.testing.assert_close(drift(past, 8)[..., t], past[..., 9] + (t + 1) * slope)
    assert mean_forecast(past, 4).shape == (*shape[:-1], 4)


# Intervals ----------------------------------------------------------------------------------------


def test_the_pinball_loss_by_hand_and_its_minimum_is_the_quantile():
    forecast, target = numbers(1, 4)[None], numbers(3)
    expected = (0.1 * 2 + (1 - 0.9) * 1) / 2
    torch.testing.assert_close(pinball_loss(forecast, target, (0.1, 0.9)), numbers(expected)[0])
    torch.testing.assert_close(
        2 * pinball_loss(FORECAST[:, None], TARGET, (0.5,)), mae(TARGET, FORECAST)
    )
    target = draw(1001).exp()
    for q in (0.1, 0.5, 0.8):
        guesses = target.sort().values
        losses = torch.stack(
            [pinball_loss(guess.expand(1001, 1), target, (q,)) for guess in guesses]
        )
        assert losses.argmin() == round(q * 1000)


def test_the_width_is_a_score_of_the_right_rank():
    scores = draw(19, 3).abs()
    for alpha, rank in ((0.1, 18), (0.2, 16), (0.5, 10), (0.05, 19)):
        expected = scores.sort(dim=0).values[rank - 1]
        assert torch.equal(conformal_width(scores, alpha), expected)
    assert torch.equal(conformal_width(scores[:9], 0.1), scores[:9].amax(dim=0))  # k = 9 of 9
    third = scores[:9].sort(dim=0).values[2]  # 10 · 0.3 is a little above 3 here
    assert torch.equal(conformal_width(scores[:9], 0.7), third)
    assert conformal_width(scores[:8], 0.1).tolist() == [math.inf] * 3


def test_intervals_cover_what_they_promise_whatever_the_model():
    """Over many calibrations, of exchangeable errors: between 1 - α and 1 - α + 1/(n + 1)."""
    target = draw(4000, 40).exp()
    n, alpha = 19, 0.23
    calibration, new = target[:, :n].T, target[:, n:].T
    made = split_conformal(torch.full_like(new, 0.8), calibration, 0 * calibration + 0.8, alpha)
    assert 1 - alpha - 0.005 < coverage(new, made) < 1 - alpha + 1 / (n + 1) + 0.005
    narrow = Interval(0 * calibration + 0.9, 0 * calibration + 1.1)
    wide = Interval(0 * calibration - 9, 0 * calibration + 9)
    for held in (narrow, wide):
        start = Interval(0 * new + held.low[0, 0], 0 * new + held.high[0, 0])
        made = conformal_quantiles(start, calibration, held, alpha)
        assert 1 - alpha - 0.005 < coverage(new, made) < 1 - alpha + 1 / (n + 1) + 0.005


def test_each_place_has_its_own_width_and_wide_quantiles_are_narrowed():
    target, forecast = draw(30, 4), torch.zeros(30, 4).double()
    target[:, 2] *= 10
    made = split_conformal(draw(5, 4, seed=1), target, forecast, 0.2)
    width = (made.high - made.low) / 2
    torch.testing.assert_close(width, conformal_width(target.abs(), 0.2).expand(5, 4))
    torch.testing.assert_close((made.high + made.low) / 2, draw(5, 4, seed=1))
    assert width[0, 2] > 4 * width[0, 1]
    wide = Interval(forecast - 99, forecast + 99)
    calibrated = conformal_quantiles(Interval(*(end[:5] for end in wide)), target, wide, 0.2)
    assert (calibrated.high < 60).all() and (calibrated.low > -60).all()


def test_coverage_counts_the_ends():
    target = numbers(1, 2, 3, 4)
    assert coverage(target, Interval(numbers(1, 0, 4, 5), numbers(2, 2, 9, 9))) == 0.5
    assert coverage(target, Interval(0 * target - math.inf, 0 * target + math.inf)) == 1


def test_an_interval_that_is_narrowed_too_far_becomes_its_middle():
    """Of two calibrated intervals of the same place, one was as wide as 20, the other as 2."""
    low, high = numbers(-10, 4)[:, None], numbers(10, 6)[:, None]
    calibration = Interval(torch.full((19, 1), -9.0).double(), torch.full((19, 1), 9.0).double())
    made = conformal_quantiles(Interval(low, high), draw(19, 1), calibration, 0.2)
    assert made.low[0] < made.high[0] < 4 and made.low[1] == made.high[1] == 5
    assert coverage(numbers(0, 5)[:, None], made) == 1


@pytest.mark.parametrize(
    "call, sentence",
    [
        (lambda: pinball_loss(torch.ones(3, 2), torch.ones(3), (0.5,)), r"got \(3, 2\)"),
        (lambda: pinball_loss(torch.ones(3, 1), torch.ones(3, 1), (0.5,)), r"of \(3, 1\) targets"),
        (lambda: pinball_loss(torch.ones(3, 1), torch.ones(3), (1.0,)), "between 0 and 1, got"),
        (lambda: pinball_loss(torch.ones(3, 0), torch.ones(3), ()), r"or more, got \(3, 0\)"),
        (lambda: pinball_loss(torch.ones(0, 1), torch.ones(0), (0.5,)), r"or more, got \(0, 1\)"),
        (lambda: conformal_width(torch.ones(3), 0.0), "α is a share between 0 and 1, got 0.0"),
        (lambda: conformal_width(torch.ones(0, 2), 0.5), "no score to calibrate"),
        (
            lambda: split_conformal(torch.ones(2), torch.ones(4), torch.ones(3), 0.2),
            r"got \(3,\) for \(4,\)",
        ),
        (
            lambda: conformal_quantiles(
                Interval(torch.ones(2), torch.ones(2)),
                torch.ones(4),
                Interval(torch.ones(4), torch.ones(3)),
                0.2,
            ),
            r"got \(3,\) for \(4,\)",
        ),
        (lambda: coverage(torch.ones(2), Interval(torch.ones(3), torch.ones(2))), r"got \(3,\)"),
        (lambda: coverage(TARGET, Interval(TARGET + 1, TARGET - 1)), "sort quantiles that cross"),
        (lambda: coverage(TARGET, Interval(TARGET, TARGET * math.nan)), "A forecast is NaN"),
        (lambda: coverage(TARGET / 0, Interval(TARGET, TARGET)), "A target is NaN or infinite"),
        (lambda: conformal_width(numbers(1, math.nan, 3), 0.5), "A score is NaN or infinite"),
        (lambda: pinball_loss(TARGET[:, None], TARGET / 0, (0.5,)), "A target is NaN"),
        (lambda: pinball_loss(TARGET[:, None] / 0, TARGET, (0.5,)), "A forecast is NaN"),
    ],
)
def test_what_makes_no_interval_is_refused(call, sentence):
    with pytest.raises(ValueError, match=sentence):
        call()
