"""Day 14's tasks: the shop's weeks by the table's protocol, and the fair field of many series."""

import math

import pytest
import torch
from torch import nn

from utils.data.sales import Market, generate
from utils.forecasting import LinearForecaster
from utils.tasks import many_sales, sales
from utils.tasks.classical import ets, sarimax

WEEKS = sales.weeks()


def last_week(past):
    return past[-1:]


# The shop's weeks ---------------------------------------------------------------------------------


def test_the_last_15_percent_of_54_weeks_are_eight():
    assert len(WEEKS.values) == 54 and WEEKS.test == range(46, 54)
    assert len(sales.weeks(first=False, last=False).values) == 52
    two_years = sales.weeks("2009-12-01")
    assert len(two_years.values) == 106 and torch.equal(two_years.values[-53:], WEEKS.values[-53:])


def test_as_last_week_is_three_times_better_than_both_published_networks():
    forecast = sales.one_ahead(WEEKS, WEEKS.test, last_week)
    assert torch.equal(forecast, WEEKS.values[45:53])
    found = sales.measured(WEEKS, WEEKS.test, forecast)
    assert found.mae == pytest.approx(49_398, abs=1) and found.mape == pytest.approx(
        0.145, abs=1e-3
    )
    for published in sales.PUBLISHED.values():
        assert published.mae > 3 * found.mae and published.mape > 3 * found.mape


def test_the_published_figures_are_those_of_the_table():
    assert sales.PUBLISHED == {
        "LSTM": (170_133, 0.5469, 0.7693, 201_047),
        "Transformer": (162_398, 0.5182, 0.7191, 192_370),
    }


@pytest.mark.parametrize("network", sales.PUBLISHED)
def test_a_constant_gives_the_published_figures(network):
    """Of 54 weeks, the last 8: one number is as far off in all measures that need no weights."""
    published = sales.PUBLISHED[network]
    constant = sales.constant_with(WEEKS, published.mae)
    forecast = torch.full((8,), constant, dtype=torch.float64)
    found = sales.measured(WEEKS, WEEKS.test, forecast)
    assert found.mae == pytest.approx(published.mae)
    assert found.mape == pytest.approx(published.mape, rel=0.01)
    assert found.smape == pytest.approx(published.smape, rel=0.015)
    assert sales.unbalanced_wmae(WEEKS, forecast) == pytest.approx(published.wmae, rel=0.04)
    assert 125_000 < constant < 137_000
    with pytest.raises(ValueError, match="error of 9 "):
        sales.constant_with(WEEKS, 9)


def test_weights_come_from_the_training_weeks():
    forecast = sales.one_ahead(WEEKS, WEEKS.test, last_week)
    changed = WEEKS._replace(values=WEEKS.values.clone())
    changed.values[:30] *= 3  # the median is another
    before, after = (sales.measured(held, held.test, forecast) for held in (WEEKS, changed))
    assert before[:3] == after[:3] and before.wmae != after.wmae
    assert sales.unbalanced_wmae(WEEKS, forecast) == sales.unbalanced_wmae(changed, forecast)


def test_simple_forecasts_see_only_what_was_before():
    found = sales.simple_forecasts(WEEKS, WEEKS.test)
    assert "last year" not in found  # there is none
    two_years = sales.weeks("2009-12-01")
    found = sales.simple_forecasts(two_years, two_years.test)
    for i, week in enumerate(two_years.test):
        assert found["last year"][i] == two_years.values[week - 52]
        torch.testing.assert_close(found["mean"][i], two_years.values[:week].mean())
        torch.testing.assert_close(
            found["mean of four"][i], two_years.values[week - 4 : week].mean()
        )
        assert found["training mean"][i] == two_years.values[: two_years.train.stop].mean()
    changed = two_years._replace(values=two_years.values.clone())
    changed.values[-1] = 9e9
    for name, forecast in sales.simple_forecasts(changed, changed.test).items():
        assert torch.equal(forecast, found[name])
    assert torch.equal(sales.ets_forecast(changed), sales.ets_forecast(two_years))


class LastWeek(nn.Module):
    """A network that repeats the last week."""

    S = 5

    def forward(self, past):
        return past[:, -1:, None]


def test_a_network_forecasts_each_week_from_the_window_before_it():
    forecast = sales.network_forecast(LastWeek(), WEEKS, WEEKS.test)
    torch.testing.assert_close(forecast, WEEKS.values[45:53], rtol=1e-6, atol=0.1)


@pytest.mark.parametrize("kind", sales.KINDS)
def test_training_lowers_the_loss_and_sees_no_later_week(kind):
    model = sales.network(kind, 4)
    losses = sales.train(model, WEEKS, rate=1e-2, steps=40)
    assert losses[-1] < 0.9 * losses[0] and len(losses) == 40 and not model.training
    changed = WEEKS._replace(values=WEEKS.values.clone())
    changed.values[WEEKS.train.stop :] = 0
    other = sales.network(kind, 4)
    assert sales.train(other, changed, rate=1e-2, steps=40) == losses
    with pytest.raises(ValueError, match="Unknown kind 'RNN'"):
        sales.network("RNN", 4)


def test_both_networks_are_of_about_one_size():
    sizes = [
        sum(w.numel() for w in sales.network(k, 8).parameters()) for k in ("LSTM", "Transformer")
    ]
    assert max(sizes) < 1.1 * min(sizes)


def test_the_best_rate_is_that_of_the_validation_weeks(monkeypatch):
    monkeypatch.setattr(sales, "RATES", (1e-2, 1e-9, 3e-9))
    monkeypatch.setattr(sales, "CHOOSING", 2)
    found = sales.best_networks("linear", 4, WEEKS, range(3), steps=20)
    assert len(found.models) == 3 and len(found.by_rate) == 3
    assert found.rate == (1e-2, 1e-9, 3e-9)[found.by_rate.index(min(found.by_rate))]
    errors = [
        sales.measured(
            WEEKS, WEEKS.validation, sales.network_forecast(m, WEEKS, WEEKS.validation)
        ).mae
        for m in found.models
    ]
    assert min(found.by_rate) == pytest.approx(sum(errors[:2]) / 2)
    assert errors[2] not in errors[:2]


# The library's ------------------------------------------------------------------------------------


@pytest.mark.parametrize("log", [False, True])
def test_the_librarys_methods_go_on_with_a_season(log):
    week = torch.tensor([5.0, 9, 4, 7, 1, 3, 8], dtype=torch.float64)
    noise = torch.randn(77, generator=torch.Generator().manual_seed(0)).double()
    past = 1e4 * (week.repeat(11) + 0.05 * noise)
    expected = 1e4 * week.repeat(2)
    for forecast in (
        ets(past, 14, season=7, log=log),
        ets(past, 14, season=7, trend=True, log=log),
        sarimax(past, 14, log=log),
    ):
        assert forecast.shape == (14,)
        torch.testing.assert_close(forecast, expected, rtol=0.1, atol=2e3)


def test_sarimax_finds_the_effect_of_a_promotion_and_leaves_out_what_never_was():
    generator = torch.Generator().manual_seed(1)
    known = (torch.rand(114, 2, generator=generator) < 0.3).double()
    known[:100, 1] = 0  # not before the origin
    past = 100 + 40 * known[:, 0] + torch.randn(114, generator=generator)
    forecast = sarimax(past[:100], 14, known)
    torch.testing.assert_close(forecast, 100 + 40 * known[100:, 0], atol=6, rtol=0)
    known[:100] = 0
    assert sarimax(past[:100], 14, known).isfinite().all()


@pytest.mark.parametrize(
    "call, sentence",
    [
        (lambda: ets(torch.ones(13), 2, season=7), "at least 14 steps is needed, got one of 13"),
        (lambda: ets(torch.ones(9), 2), "at least 10 steps"),
        (lambda: sarimax(torch.ones(13), 2), "at least 14 steps"),
        (lambda: sarimax(torch.tensor([math.nan] * 20), 2), "NaN or infinite"),
        (lambda: sarimax(torch.ones(20), 2, torch.ones(20, 1)), r"of 20 \+ 2 steps, got \(20, 1\)"),
        (lambda: sarimax(torch.ones(20), 2, torch.ones(22)), r"of 20 \+ 2 steps, got \(22,\)"),
        (
            lambda: sarimax(torch.ones(20), 2, torch.tensor([[math.nan]] + 21 * [[1.0]])),
            "A known input",
        ),
        (lambda: ets(torch.ones(20), 0), "T is a whole number of at least 1, got 0"),
        (lambda: ets(torch.ones(20), 2, season=0), "season is a whole number of at least 1"),
        (lambda: sarimax(torch.ones(20), -1), "T is a whole number of at least 1, got -1"),
        (lambda: ets(torch.ones(3, 20), 2), r"the past of one series, \(S,\), got \(3, 20\)"),
        (lambda: sarimax(torch.ones(3, 20), 2), r"the past of one series, \(S,\), got \(3, 20\)"),
        (lambda: ets(torch.arange(20.0) - 1, 2, log=True), "above -1, got -1: leave out log=True"),
        (lambda: sarimax(torch.arange(20.0) - 9, 2, log=True), "above -1, got -9"),
    ],
)
def test_what_the_library_can_not_forecast_is_refused(call, sentence):
    with pytest.raises(ValueError, match=sentence):
        call()


# The fair field -----------------------------------------------------------------------------------

SALES = generate(6, 210, seed=1)
SEEN = many_sales.field(SALES)


def test_origins_of_both_parts_follow_each_other_to_the_end():
    validation, test = (many_sales.origins(210, part) for part in many_sales.PARTS)
    assert validation + test == [210 - 14 * i for i in range(8, 0, -1)]
    assert many_sales.targets(SEEN, "test").shape == (6, 4, 14)
    assert torch.equal(many_sales.targets(SEEN, "test").flatten(1), SEEN.values[:, -56:])
    for length, part, sentence in ((181, "test", "182 or more"), (210, "train", "Unknown part")):
        with pytest.raises(ValueError, match=sentence):
            many_sales.origins(length, part)


def test_inputs_are_given_hidden_or_false():
    assert torch.equal(SEEN.known, SALES.known)
    assert many_sales.field(SALES, "hidden").known is None
    assert torch.equal(many_sales.field(SALES, "promotions").known, SALES.known[:, :, :1])
    false = many_sales.field(SALES, "false").known
    assert false.shape == SALES.known.shape and false.mean() == SALES.known.mean()
    together = torch.corrcoef(torch.stack([false[..., 0].flatten(), SALES.known[..., 0].flatten()]))
    assert together[0, 1].abs() < 0.2
    with pytest.raises(ValueError, match="Unknown inputs 'wrong'"):
        many_sales.field(SALES, "wrong")


def test_windows_are_scaled_by_their_own_past_and_go_with_their_inputs():
    batches = many_sales.Windows(SEEN, log=False, steps=3, batch_size=5)
    torch.manual_seed(0)
    found = list(batches)
    assert len(found) == len(batches) == 3
    for past, known, target in found:
        assert (past.shape, known.shape, target.shape) == ((5, 56), (5, 70, 2), (5, 14))
        torch.testing.assert_close(past.mean(dim=1), torch.zeros(5), atol=1e-5, rtol=0)
        for row in range(5):
            whole = torch.cat([past[row], target[row]]).double()
            matches = [
                torch.equal(known[row].double(), SEEN.known[i, j : j + 70])
                for i in range(6)
                for j in range(141)
                if torch.corrcoef(torch.stack([whole, SEEN.values[i, j : j + 70]]))[0, 1] > 0.9999
            ]
            assert matches == [True]
    hidden = many_sales.Windows(many_sales.field(SALES, "hidden"), True, 1)
    assert len(next(iter(hidden))) == 2
    with pytest.raises(ValueError, match=" 70 steps.* 69"):
        many_sales.Windows(SEEN.until(69), True, 1)


@pytest.mark.parametrize("name", many_sales.METHODS)
@pytest.mark.parametrize("inputs", ["given", "hidden"])
def test_no_method_sees_what_comes_after_the_origin(name, inputs):
    how = many_sales.method(name, steps=3)
    assert len(how.settings) == (1 if name == "seasonal naive" else 4)
    seen = many_sales.field(SALES, inputs).some(slice(2))
    origin = many_sales.origins(210, "test")[0]
    for setting in how.settings[:2]:
        forecast = many_sales.forecasts(how, seen, "test", setting, 0, 2)
        assert forecast.shape[:3] == (2, 4, 14) and forecast.isfinite().all()
        changed = seen._replace(values=seen.values.clone())
        changed.values[:, origin:] = 7.0
        again = many_sales.forecasts(how, changed, "test", setting, 0, 2)
        assert torch.equal(again[:, 0], forecast[:, 0])
        assert not torch.allclose(again[:, 1], forecast[:, 1])


def test_a_networks_quantiles_come_sorted_and_in_the_series_own_unit():
    model = LinearForecaster(56, 14, n_known=2, n_outputs=3)
    nn.init.zeros_(model.linear.weight)
    with torch.no_grad():
        model.linear.bias.copy_(torch.tensor([2.0, 0.0, 1.0]).repeat(14))
    past = SEEN.until(150, 14)
    made = many_sales.ready(model, log=False)(past)
    seen = past.values[:, -56:]
    for i in range(3):
        expected = seen.mean(dim=1) + i * seen.std(dim=1, unbiased=False)
        torch.testing.assert_close(made[:, 5, i], expected, rtol=1e-5, atol=1e-4)
    made = many_sales.ready(model, log=True)(past)
    expected = seen.log1p().mean(dim=1).expm1()
    torch.testing.assert_close(made[:, 5, 0], expected, rtol=1e-4, atol=1e-4)


def test_the_error_of_as_a_week_ago_is_about_1_and_of_the_truth_0():
    naive = many_sales.method("seasonal naive")
    calm = many_sales.field(generate(5, 400, seed=2, market=Market(shifts=0, empty=0)))
    found = many_sales.forecasts(naive, calm, "test", (), 0, 5)
    assert 0.6 < many_sales.error(calm, "test", found) < 1.6
    assert many_sales.error(calm, "test", many_sales.targets(calm, "test")[..., None]) == 0
    three = many_sales.targets(calm, "test")[..., None] * torch.tensor([0.5, 1, 2])
    assert many_sales.error(calm, "test", three) == 0  # the middle one is judged


def test_errors_are_told_apart_by_the_day_ahead_and_by_the_size_of_the_day():
    target = many_sales.targets(SEEN, "test")[:2]  # (2, 4, 14)
    made = target.clone()
    made[:, :, 3] += 1.0  # the fourth day ahead alone is off
    by_day = many_sales.errors_by_day(SEEN, "test", made[..., None])
    assert [t for t, off in enumerate(by_day) if off] == [3]
    whole = many_sales.error(SEEN, "test", made[..., None])
    assert sum(by_day) / 14 == pytest.approx(whole)
    best = target >= target.flatten(1).topk(6, dim=1).values[:, -1, None, None]  # 6 of 56 days
    assert best.sum() == 12
    for off, places in ((best, 0), (~best, 1)):
        made = (target + off.double())[..., None]
        errors = many_sales.errors_at_peaks(SEEN, "test", made)
        assert errors[places] > 0 and errors[1 - places] == 0
        days = (6, 50)[places]
        assert errors[places] * days / 56 == pytest.approx(many_sales.error(SEEN, "test", made))


def test_a_setting_is_chosen_by_the_validation_part_alone():
    asked = []

    def learn(past, setting, seed):
        asked.append((past.values.shape[1], setting, seed))
        return lambda past: past.values[:, -1:, None].expand(-1, 14, 1) * setting[0]

    how = many_sales.Method([(0.0,), (1.0,), (9.0,)], learn)
    found = many_sales.compete(how, SEEN, 6, 4, [5, 6])
    first, second = many_sales.origins(210, "validation")[0], many_sales.origins(210, "test")[0]
    assert asked == [(first, (x,), 5) for x in (0.0, 1.0, 9.0)] + [
        (second, (1.0,), seed) for seed in (5, 6)
    ]
    assert found.settings == [(1.0,)]
    assert [made.shape for made in found.forecasts] == [(4, 4, 14, 1)] * 2


def test_groups_share_out_the_judged_series_in_their_order():
    def learn(past, setting, seed):
        n = len(past.values)
        return lambda past: past.values[:, -1:, None].expand(-1, 14, 1) + 1000 * n

    how = many_sales.Method([()], learn)
    last = torch.stack([SEEN.values[:, o - 1] for o in many_sales.origins(210, "test")], dim=1)
    for group in (1, 2, 4, 6):
        (made,) = many_sales.compete(how, SEEN, group, 4, [0]).forecasts
        torch.testing.assert_close(made[:, :, 0, 0], last[:4] + 1000 * group)
    for group, judged in ((3, 4), (7, 4), (4, 7), (0, 4)):
        with pytest.raises(ValueError, match="groups of|^group "):
            many_sales.compete(how, SEEN, group, judged, [0])


def test_networks_learn_from_many_series_what_a_promotion_does():
    market = Market(year=0, trend=0, shifts=0, empty=0, noise=0.05, promoted=0.3)
    seen = many_sales.field(generate(20, 300, seed=3, market=market))
    how = many_sales.method("linear", steps=400)
    naive = many_sales.forecasts(many_sales.method("seasonal naive"), seen, "test", (), 0, 20)
    learned = many_sales.forecasts(how, seen, "test", (3e-2, True), 0, 20)
    errors = [many_sales.error(seen, "test", made) for made in (learned, naive)]
    assert errors[0] < 0.7 * errors[1]


def test_an_unknown_method_is_refused():
    with pytest.raises(ValueError, match="Unknown name 'oracle'"):
        many_sales.method("oracle")
    with pytest.raises(ValueError, match="Unknown kind 'ETS'"):
        many_sales.network("ETS", 2, 0)
