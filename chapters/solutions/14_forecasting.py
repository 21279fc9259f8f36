# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Solutions of Day 14
#
# To the exercises of [Forecasting](../14_forecasting.ipynb), then to those of its [deeper page](../deeper/14_forecasting.ipynb). There is more than one correct way. A solution is good if the check passes and you can say why.

# %%
import convolution_to_attention  # is `utils` this book's?

import math

import torch
from torch.nn import functional as F

from utils.exercises.forecasting import check

# %% [markdown]
# (solution-seasonal-naive)=
# ## Same as last week
#
# The last season is the slice `past[:, -season:]`. Step $t$ of the forecast is its step $t$ modulo the season's length, so one index picks all steps at once, and a forecast longer than a season begins again.


# %%
def seasonal_naive(past, T, season):
    last = past[:, -season:]
    return last[:, torch.arange(T) % season]


seasonal_naive = check("seasonal_naive", seasonal_naive)

# %% [markdown]
# A common mistake is to count from the beginning of the series. Then a past that doesn't begin on a Monday shifts the week, and Sunday's sales are forecast for Wednesday:

# %%
week = torch.tensor([3.0, 3, 3, 3, 3, 9, 9])  # busy on Saturday and Sunday
past = week.repeat(4)[2:]  # begins on a Wednesday
true = week[:7]
from_the_start = past[torch.arange(7) % 7]
print("from the end:  ", seasonal_naive(past[None], 7, 7)[0].tolist())
print("from the start:", from_the_start.tolist())
assert torch.equal(seasonal_naive(past[None], 7, 7)[0], true)

# %% [markdown]
# (solution-smape)=
# ## Symmetric percentages
#
# Where target and forecast are both 0, the fraction would be 0/0, *not a number*, and one such week would spoil the whole mean. `where` puts a 0 there.


# %%
def smape(target, forecast):
    error, size = (target - forecast).abs(), target.abs() + forecast.abs()
    shares = torch.where(size == 0, 0, 2 * error / size)
    return 100 * shares.mean().item()


smape = check("smape", smape)

# %% [markdown]
# How symmetric is it? Half and double cost the same. But 50 pieces too few don't cost the same as 50 too many:

# %%
target = torch.tensor([100.0])
for forecast in (50.0, 150.0, 200.0):
    print(f"forecast {forecast:g}: sMAPE {smape(target, torch.tensor([forecast])):.1f}%")

# %% [markdown]
# So it prefers forecasts that are too high to those that are equally far too low. (MAPE treats 50 and 150 alike, and prefers half to double.) It is symmetric in the two numbers, which may change places, and not in the error.

# %% [markdown]
# (solution-rolling-origin)=
# ## Let the origin roll
#
# The first origin is `first`. The last one leaves $T$ steps, so it is $n - T$ at most, and `range` needs one more to include it.


# %%
def rolling_origin(n, first, T, step=1):
    origins = range(first, n - T + 1, step)
    return [(range(origin), range(origin, origin + T)) for origin in origins]


rolling_origin = check("rolling_origin", rolling_origin)

# %% [markdown]
# With a step of $T$, no value is forecast twice. With a smaller step, some are forecast several times, from different distances, so their errors are even more alike.

# %%
for step in (1, 2):
    asked = [t for _, ahead in rolling_origin(12, 6, 2, step) for t in ahead]
    print(f"step {step}: {asked}")

# %% [markdown]
# (solution-which-leaks)=
# ## Find the leak
#
# We change the future, and see whether the past notices. If a step's numbers before the origin are the same for both series, then no future went into them. The change must be large, and different on each later day, so that no mean, range or ratio of these days stays as it was.


# %%
def which_leaks(steps, series, origin):
    other = series.clone()
    other[origin:] += 1000 * torch.rand(len(series) - origin)
    names = []
    for name, step in steps.items():
        before, after = step(series)[:origin], step(other)[:origin]
        if not torch.equal(before, after):
            names.append(name)
    return names


which_leaks = check("which_leaks", which_leaks)

# %% [markdown]
# The same test finds leaks in pipelines that nobody understands any more. (It is Day 9's test of the causal mask: change a later token, and no earlier output may move.) A leak that depends on one rare value might still escape a single change, so in practice one would try several.

# %% [markdown]
# (solution-conformal-width)=
# ## How wide?
#
# Sorted, the k-th smallest has the index $k - 1$. The new score is one more beside the $n$ old ones, so $k$ is a share of $n + 1$. With few scores, even the largest isn't large enough for the promise.


# %%
def conformal_width(scores, alpha):
    n = len(scores)
    k = math.ceil((n + 1) * (1 - alpha))
    return scores.sort().values[k - 1].item() if k <= n else math.inf


conformal_width = check("conformal_width", conformal_width)

# %% [markdown]
# Is the promise kept? Let us draw 20 scores, take the width, draw a new score, and count how often it is inside. The distribution doesn't matter, so we take one with a long tail.

# %%
torch.manual_seed(0)
for alpha in (0.1, 0.2, 0.5):
    scores = torch.randn(20_000, 21).exp()
    widths = torch.tensor([conformal_width(of[:20], alpha) for of in scores])
    print(f"promised {1 - alpha:.0%}, held {(scores[:, 20] <= widths).float().mean():.1%}")

# %% [markdown]
# (solution-mae-and-mape)=
# ## MAE and MAPE
#
# The absolute value comes first, or errors would cancel. Each error is divided by its own target before the mean is taken. Where a target is 0, the division gives infinity, or NaN if the forecast is 0 as well, so we ask before we divide.


# %%
def mae_and_mape(target, forecast):
    error = (target - forecast).abs()
    mape = 100 * (error / target.abs()).mean().item() if (target != 0).all() else math.nan
    return error.mean().item(), mape


check("mae_and_mape", mae_and_mape)

# %% [markdown]
# Why not leave such weeks out? Because the MAPE would then ignore any forecast of them, however wrong:

# %%
target = torch.tensor([100.0, 0.0, 200.0])
for forecast in (torch.tensor([90.0, 0.0, 180.0]), torch.tensor([90.0, 900.0, 180.0])):
    mae, _ = mae_and_mape(target, forecast)
    _, left_out = mae_and_mape(target[target > 0], forecast[target > 0])
    print(f"MAE {mae:.0f}, MAPE without the week of no sales {left_out:.0f}%")

# %% [markdown]
# (solution-mape-optimum)=
# ## Predict: which constant has the smallest MAPE?
#
# An error of one piece costs $1/20$ on the first day and $1/210$ on the last. So the days have weights $1/y$, and the best constant is their weighted median: half of the weight is below it and half above.

# %%
days = torch.tensor([20.0, 30, 60, 80, 100, 130, 210])
weight = 1 / days
below = weight.cumsum(dim=0) / weight.sum()
my_constant = days[below >= 0.5][0].item()
print(f"shares of the weight up to each day: {[round(share, 2) for share in below.tolist()]}")

check("mape_optimum", my_constant)

# %% [markdown]
# The two smallest days have more than half of the weight, so the best constant is 30, although the shop sells more than that on five days of seven. A forecaster who is judged by MAPE learns to forecast too little.

# %% [markdown]
# (solution-weighted-mae)=
# ## Large weeks count for more
#
# The weights depend on the target, so they are clipped first, and the sum is divided by them, not by the number of weeks. `quantile(0.5)` goes halfway between the two in the middle; torch's `median` would take the lower one.


# %%
def weighted_mae(target, forecast, known):
    weights = (target / known.quantile(0.5)).clamp(1, 5)
    return ((weights * (target - forecast).abs()).sum() / weights.sum()).item()


check("weighted_mae", weighted_mae)

# %% [markdown]
# (solution-windows)=
# ## Windows that don't overlap the border
#
# `unfold` cuts all windows of $S + T$ steps from a series. If it is called for each part by itself, no window can cross the border.


# %%
def windows(series, S, T, n_train):
    train, test = (part.unfold(0, S + T, 1) for part in (series[:n_train], series[n_train:]))
    return (train[:, :S], train[:, S:]), (test[:, :S], test[:, S:])


check("windows", windows)

# %% [markdown]
# Isn't it a waste to leave out the pairs across the border? Their pasts may reach into the training part without a leak, as long as their futures lie in the test. Our forecasts of the shop's test weeks did that. But a training pair that reaches into the test is a leak.

# %% [markdown]
# (solution-scaled-by-past)=
# ## A scale without a leak
#
# Mean and deviation are those of the first `origin` steps, and all steps are moved and divided by them. `unbiased=False` divides by the number of steps.


# %%
def scaled_by_past(series, origin):
    past = series[:, :origin]
    mean = past.mean(dim=1, keepdim=True)
    deviation = past.std(dim=1, keepdim=True, unbiased=False)
    return (series - mean) / torch.where(deviation == 0, 1, deviation)


check("scaled_by_past", scaled_by_past)

# %% [markdown]
# (solution-decompose)=
# ## A trend and the rest
#
# Half a kernel is added on both sides, by repeating the first and the last value, so that each step has a full window around it.


# %%
def decompose(series, kernel_size):
    half = kernel_size // 2
    longer = F.pad(series[:, None], (half, half), mode="replicate")
    trend = F.avg_pool1d(longer, kernel_size, stride=1)[:, 0]
    return trend, series - trend


check("decompose", decompose)

# %% [markdown]
# The trend looks ahead: around a step, it takes values from before and after it. That is no leak, because all of them belong to the past that the network reads. At the end of the past there is nothing to look ahead to, so the last value stands in for it.

# %% [markdown]
# (solution-pinball-loss)=
# ## The pinball loss
#
# Where the target is above the forecast, $y - \hat y$ is positive, and $q (y - \hat y)$ is larger than $(q - 1)(y - \hat y)$. Where it is below, it is the other way round. So the larger of the two is always the right one.


# %%
def pinball_loss(forecast, target, quantiles):
    q = torch.tensor(quantiles, dtype=forecast.dtype)
    above = target[:, None] - forecast
    return torch.maximum(q * above, (q - 1) * above).mean()


check("pinball_loss", pinball_loss)

# %% [markdown]
# Does its minimum lie at the quantile? We try all constants for a thousand skewed numbers.

# %%
torch.manual_seed(0)
numbers = torch.randn(1000).exp()
constants = torch.linspace(0, 8, 801)
for q in (0.1, 0.5, 0.9):
    losses = [pinball_loss(c.expand(1000, 1), numbers, (q,)) for c in constants]
    best = constants[torch.stack(losses).argmin()].item()
    print(f"q = {q}: the best constant is {best:.2f}, the quantile {numbers.quantile(q):.2f}")
    assert abs(best - numbers.quantile(q).item()) < 0.05
