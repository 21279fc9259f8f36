"""Day 14: forecasters that learn: linear ones, an LSTM, a Transformer, and one of patches."""

import math

import pytest
import torch

from utils.forecasting import (
    DLinear,
    LinearForecaster,
    LSTMForecaster,
    PatchForecaster,
    TransformerForecaster,
    cut_patches,
    hide_future,
    moving_average,
    weights_by_lag,
)
from utils.recurrent import LSTM
from utils.transformer import TransformerConfig

CONFIG = TransformerConfig(
    1, d_model=8, n_heads=2, d_ff=12, n_layers=2, norm="pre", positions="learned", dropout=0.0
)
KINDS = {
    "linear": LinearForecaster,
    "DLinear": lambda *sizes, **known: DLinear(*sizes, kernel_size=3, **known),
    "LSTM": lambda *sizes, **known: LSTMForecaster(*sizes, hidden_size=12, **known),
    "Transformer": lambda *sizes, **known: TransformerForecaster(CONFIG, *sizes, **known),
    "patches": lambda *sizes, **known: PatchForecaster(
        CONFIG, *sizes, patch_size=4, stride=2, **known
    ),
}
S, T, K, Q, B = 9, 4, 2, 3, 5

each_kind = pytest.mark.parametrize("kind", KINDS)


def draw(*shape, seed=0):
    return torch.randn(*shape, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))


def made(kind, **sizes):
    """A forecaster in double precision, all its weights drawn at random."""
    model = KINDS[kind](S, T, **sizes).double()
    for i, weight in enumerate(model.parameters()):
        with torch.no_grad():
            weight.copy_(0.4 * draw(*weight.shape, seed=i))
    return model


# All of them --------------------------------------------------------------------------------------


@each_kind
@pytest.mark.parametrize("n_known", [0, K])
def test_a_forecast_has_a_number_for_each_step_and_quantile(kind, n_known):
    model = made(kind, n_known=n_known, n_outputs=Q)
    past, known = draw(B, S), draw(B, S + T, n_known, seed=1) if n_known else None
    forecast = model(past, known)
    assert forecast.shape == (B, T, Q)
    forecast.square().sum().backward()
    for name, weight in model.named_parameters():
        assert weight.grad is not None and weight.grad.abs().max() > 0, name
    alone = model(past[2:3], None if known is None else known[2:3])
    torch.testing.assert_close(alone, forecast[2:3])  # no series sees another


@each_kind
def test_each_step_of_the_past_and_each_known_input_counts(kind):
    model = made(kind, n_known=K)
    past, known = draw(B, S).requires_grad_(), draw(B, S + T, K, seed=1).requires_grad_()
    model(past, known)[:, -1, 0].sum().backward()
    assert (past.grad.abs() > 1e-9).all()
    assert (known.grad[:, [*range(S), S + T - 1]].abs() > 1e-9).all()  # the others may


@each_kind
def test_inputs_of_other_sizes_are_refused(kind):
    model, with_known = KINDS[kind](S, T), KINDS[kind](S, T, n_known=K)
    for past in (torch.ones(B, S + 1), torch.ones(S), torch.ones(B, S, 1)):
        with pytest.raises(ValueError, match=r"Expected pasts \(B, 9\), got"):
            model(past)
    with pytest.raises(ValueError, match=r" None, .*\(5, 13, 2\)"):
        model(torch.ones(B, S), torch.ones(B, S + T, K))
    for known in (None, torch.ones(B, S, K), torch.ones(B - 1, S + T, K)):
        with pytest.raises(ValueError, match=r"known inputs \(5, 13, 2\), got"):
            with_known(torch.ones(B, S), known)
    past, known = torch.ones(B, S), torch.ones(B, S + T, K)
    for what, values in (("A step of a past", past), ("A known input", known)):
        values[2, 4] = math.nan
        with pytest.raises(ValueError, match=f"{what} .*NaN"):
            with_known(past, known)
        values[2, 4] = 1
    for sizes in ((0, T), (S, 0)):
        with pytest.raises(ValueError, match="^[ST] .* 1"):
            KINDS[kind](*sizes)
    with pytest.raises(ValueError, match="^n_outputs "):
        KINDS[kind](S, T, n_outputs=0)


@each_kind
def test_a_past_of_another_precision_is_refused_and_known_marks_may_be_whole_numbers(kind):
    model = KINDS[kind](S, T, n_known=K)
    for past in (draw(B, S), torch.ones(B, S, dtype=torch.int64)):
        with pytest.raises(ValueError, match=" torch.float32,"):
            model(past, torch.ones(B, S + T, K))
    with pytest.raises(ValueError, match=r" torch.float64, .*`.to\(torch.float64\)`"):
        model.double()(torch.ones(B, S), torch.ones(B, S + T, K))
    past, marks = draw(B, S), draw(B, S + T, K) > 0
    assert torch.equal(model(past, marks.long()), model(past, marks.double()))


# Linear ones --------------------------------------------------------------------------------------


def test_a_linear_forecast_begins_as_the_mean_and_is_a_weighted_sum():
    past = draw(B, S)
    for model in (LinearForecaster(S, T).double(), DLinear(S, T, kernel_size=5).double()):
        mean = past.mean(dim=1)[:, None, None].expand(B, T, 1)
        torch.testing.assert_close(model(past), mean)
    model = made("linear", n_outputs=Q)
    W, b = model.linear.weight.unflatten(0, (T, Q)), model.linear.bias.unflatten(0, (T, Q))
    torch.testing.assert_close(model(past), torch.einsum("tqs,bs->btq", W, past) + b)


@pytest.mark.parametrize("kernel_size", [1, 3, 7, 25])
def test_a_moving_average_repeats_the_ends(kernel_size):
    whole = torch.tensor([[4, 6, 9]])  # pieces: their mean is no whole number
    assert torch.equal(moving_average(whole, 3), moving_average(whole.float(), 3))
    series, half = draw(2, S), kernel_size // 2
    longer = torch.cat(
        [series[:, :1].expand(-1, half), series, series[:, -1:].expand(-1, half)], dim=1
    )
    for i in range(S):
        expected = longer[:, i : i + kernel_size].mean(dim=1)
        torch.testing.assert_close(moving_average(series, kernel_size)[:, i], expected)
    for size in (4, 0):
        with pytest.raises(ValueError, match="odd .* 4|1, .* 0"):
            moving_average(series, size)
    with pytest.raises(ValueError, match="odd size, got 24"):
        DLinear(S, T, kernel_size=24)
    assert DLinear(S, T).kernel_size == 25  # the paper's
    with pytest.raises(ValueError, match="NaN or infinite"):
        moving_average(series / 0, kernel_size)
    with pytest.raises(ValueError, match=rf"Expected series \(B, S\), got \({S},\)"):
        moving_average(series[0], kernel_size)


def test_dlinear_is_a_sum_over_trend_and_rest():
    model, past = made("DLinear"), draw(B, S)
    trend = moving_average(past, 3)
    expected = model.trend(trend) + model.rest(past - trend)
    torch.testing.assert_close(model(past)[:, :, 0], expected)
    assert not torch.allclose(model.trend.weight, model.rest.weight)


@pytest.mark.parametrize("kind", ["linear", "DLinear", "patches"])
def test_an_effect_is_taken_from_the_past_and_added_to_the_forecast(kind):
    """A shop whose promotions add 3 is forecast like one that has none, and then 3 are added."""
    model, plain = made(kind, n_known=K), draw(B, S + T)
    model.effects.data = torch.tensor([3.0, 0.0], dtype=torch.float64)
    known = torch.stack([draw(B, S + T, seed=1) > 0.3, draw(B, S + T, seed=2) > 0], dim=2).double()
    past = plain[:, :S] + 3 * known[:, :S, 0]
    forecast = model(past, known)[:, :, 0] - 3 * known[:, S:, 0]
    torch.testing.assert_close(forecast, model.from_past(plain[:, :S])[:, :, 0])


# Networks -----------------------------------------------------------------------------------------


def test_the_future_is_hidden_and_what_is_known_is_not():
    past, known = draw(B, S), draw(B, S + T, K, seed=1)
    steps = hide_future(past, known, T)
    assert steps.shape == (B, S + T, 2 + K)
    assert torch.equal(steps[:, :S, 0], past) and (steps[:, S:, 0] == 0).all()
    assert (steps[:, :S, 1] == 0).all() and (steps[:, S:, 1] == 1).all()
    assert torch.equal(steps[:, :, 2:], known)
    assert hide_future(past, None, T).shape == (B, S + T, 2)


def test_an_lstm_goes_on_from_the_past_as_day_3s_would():
    model = made("LSTM", n_known=K, n_outputs=Q)
    ours = LSTM(2 + K, 12).double()
    ours.load_library(model.lstm)
    past, known = draw(B, S), draw(B, S + T, K, seed=1)
    states, _ = ours(hide_future(past, known, T))
    torch.testing.assert_close(model(past, known), model.output(states[:, S:]))


def test_a_transformer_reads_its_forecast_off_the_hidden_steps():
    model = made("Transformer", n_known=K).eval()
    past, known = draw(B, S), draw(B, S + T, K, seed=1)
    forecast, weights = model(past, known, need_weights=True)
    assert torch.allclose(forecast, model(past, known))
    assert weights.shape == (B, 2, 2, S + T, S + T)
    torch.testing.assert_close(weights.sum(-1), torch.ones(B, 2, 2, S + T).double())
    x = model.encoder.embedding(hide_future(past, known, T))
    x, _ = model.encoder.run(x)
    torch.testing.assert_close(forecast, model.output(x)[:, S:])
    order = [*reversed(range(S))]
    assert not torch.allclose(model(past[:, order], known), forecast)  # it knows positions


def test_weights_by_lag_are_means_along_diagonals():
    weights = draw(2, 3, S + T, S + T).abs()
    found = weights_by_lag(weights, S)
    assert found.shape == (2, 3, S)
    for lag in range(1, S + 1):
        looks = [weights[..., t, t - lag] for t in range(S, S + T) if t - lag < S]
        torch.testing.assert_close(found[..., lag - 1], torch.stack(looks).mean(dim=0))
    week = torch.zeros(S + T, S + T)
    week[range(S, S + T), range(S - 7, S + T - 7)] = 1  # each looks seven steps back
    assert weights_by_lag(week, S).tolist() == [0] * 6 + [1, 0, 0]
    with pytest.raises(ValueError, match=r" 9 steps.* \(9, 9\)"):
        weights_by_lag(week[:S, :S], S)


@pytest.mark.parametrize("size, stride, n", [(4, 2, 4), (4, 3, 3), (9, 1, 2), (9, 9, 2), (2, 5, 3)])
def test_patches_are_the_papers_in_number_and_end_with_the_last_value(size, stride, n):
    past = draw(B, S)
    cut = cut_patches(past, size, stride)
    assert cut.shape == (B, n, size) and n == (S - size) // stride + 2
    longer = torch.cat([past] + [past[:, -1:]] * stride, dim=1)
    for i in range(n):
        assert torch.equal(cut[:, i], longer[:, i * stride : i * stride + size])
    with pytest.raises(ValueError, match="patch .* 10 .* 9"):
        cut_patches(past, 10, 1)
    with pytest.raises(ValueError, match="^stride "):
        cut_patches(past, 2, 0)
    with pytest.raises(ValueError, match=r"Expected pasts \(B, S\), got \(9,\)"):
        cut_patches(past[0], 4, 2)


def test_a_forecast_is_read_off_all_patches():
    model, past = made("patches", n_outputs=Q), draw(B, S)
    x, _ = model.encoder(cut_patches(past, 4, 2))
    flat = torch.cat([x[:, i] for i in range(x.shape[1])], dim=1)
    expected = model.output(flat).reshape(B, T, Q)
    torch.testing.assert_close(model(past), expected)
    assert model.encoder.embedding.positions is not None


@each_kind
def test_each_learns_a_series_that_repeats(kind):
    """A week of four steps, whose phase differs: to repeat it, one has to look at the past."""
    torch.manual_seed(0)
    start = torch.arange(64) % 4
    phase = (start[:, None] + torch.arange(S + T)) % 4
    series = torch.tensor([1.0, -0.5, 0.3, -0.8])[phase]
    model = KINDS[kind](S, T)
    optimiser = torch.optim.Adam(model.parameters(), lr=0.01)
    for _ in range(300):
        loss = (model(series[:, :S])[:, :, 0] - series[:, S:]).abs().mean()
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    assert loss < 0.3  # the best constant is 0.65 off
