# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Day 14: Forecasting: tomorrow's sales
#
# **Today's question:** what will a shop sell next week, and how would we know that a network is any good at it?
#
# After today you can
#
# - measure how far off a forecast is, and know which forecasts a measure rewards,
# - compare a forecast with “same as last week” before you believe it,
# - roll the forecast origin, so that no forecast is judged on data that it has seen,
# - find the step of a pipeline that sees the future,
# - put an interval around a forecast, and count how often it holds.
#
# Today builds on [Day 3](03_gates.ipynb)'s LSTM, [Day 6](06_transformer.ipynb)'s Transformer and [Day 10](10_pretraining.ipynb)'s hidden words. It takes 55 minutes to read and 40 to write five functions; the exercises at its end take another 37 minutes. At the end you draw a series with the mouse, and five methods on this page continue it.

# %% tags=["setup"]
import convolution_to_attention  # is `utils` this book's?

from functools import partial
from math import comb
from statistics import fmean

import matplotlib.pyplot as plt
import torch
from torch.nn import functional as F

from utils import forecasting
from utils.data.sales import daily_sales, generate
from utils.exercises.forecasting import check
from utils.exercises.progress import checklist
from utils.forecasting import mae, mape
from utils.measure import experiments
from utils.measure.claims import claim
from utils.show.display import observe, show_source, table
from utils.show.mechanisms import forecasting as mechanisms
from utils.show.plotting import bars, curves, heat_map, use_book_style
from utils.show.views import draw_and_forecast, guess, quiz
from utils.tasks import classical
from utils.tasks import many_sales as field
from utils.tasks import sales as task
from utils.tasks import switches
from utils.tasks.drawn_series import to_take

use_book_style()

# %% [markdown]
# **Five questions about yesterday**

# %% tags=["view"]
quiz("14_forecasting")

# %% [markdown]
# ## Where we stand
#
# *5 minutes.* Yesterday's drawings could be checked against their sentences. Next week's sales can't be checked today. So we begin with a published table. An article, *From RNN to Transformer* {cite}`unsigned2025rnn`, has two networks forecast the weekly sales of a shop in the United Kingdom {cite}`chen2015online`. Its table gives four measures of error, defined below. (Smaller is better.)

# %%
HEAD = ["forecast", "MAE (£)", "MAPE", "sMAPE", "weighted MAE (£)"]


def in_words(name, mae, mape, smape, wmae):
    return [name, f"{mae:,.0f}", f"{mape:.2%}", f"{smape:.2%}", f"{wmae:,.0f}"]


published = task.PUBLISHED  # {network: (MAE, MAPE, sMAPE, weighted MAE)}
better = [1 - new / old for old, new in zip(published["LSTM"], published["Transformer"])]

# %% tags=["evidence"]
table([in_words(name, *of) for name, of in published.items()], HEAD)
observe(
    "By all four measures, the Transformer is better, by {least:.1%} to {most:.1%}.",
    least=min(better),
    most=max(better),
    holds=0.04 < min(better) < max(better) < 0.07,
)

# %% [markdown]
# The article itself calls this a tendency, because there are few weeks. By our count, in a longer record of the same shop {cite}`chen2019online`, there are 54, including an incomplete first and last one; the last eight are the test set.

# %%
weeks = task.weeks()
sales = weeks.values  # (54,), in pounds
target = sales[weeks.test.start :]  # (8,)
parts = {"training": weeks.train, "validation": weeks.validation, "test": weeks.test}
by_part = {name: (list(part), sales[part.start : part.stop] / 1000) for name, part in parts.items()}

# %% tags=["evidence"] mystnb={"figure": {"caption": "In the test weeks, the shop sells twice as much as in an average training week (dashed).", "name": "fig-fore-weeks"}, "image": {"alt": "A curve over 54 weeks in three parts. It begins high, before Christmas, falls to nothing, stays between one and two hundred thousand pounds, and rises in the last weeks to more than four hundred thousand."}}
ax = curves(by_part, "week from December 2010 on", "sales (£1,000)")
ax.axhline(by_part["training"][1].mean(), color="0.3", linestyle="--", linewidth=1)
plt.show()

# %% [markdown]
# The article gives both networks windows of 60 steps. For weekly sales that is impossible.

# %% tags=["mechanism"] mystnb={"figure": {"caption": "A window of 60 weeks is longer than the whole series.", "name": "fig-fore-window"}, "image": {"alt": "A strip of 54 cells in three colours, for training, validation and test. A bar below it begins with it and reaches beyond its end."}}
mechanisms.parts_and_window({name: len(part) for name, part in parts.items()}, window=60)
plt.show()

# %% [markdown]
# So the experiment can't be repeated exactly. Our networks read 8 weeks of scaled sales; the article's also read features of the calendar and of earlier weeks, and they were trained with other schedules (details on the [deeper page](deeper/14_forecasting.ipynb#deeper-sales-table)). A stored experiment with ten seeds chose the best of seven learning rates on the validation weeks. Here are three of the seeds.

# %% tags=["training"]
stored = experiments.load("weekly_sales")
by_network = {}
for kind in ("LSTM", "Transformer"):
    (row,) = stored.select(weeks="all", method=kind)
    made = []
    for seed in range(3):
        model = task.network(kind, window=8, seed=seed)
        task.train(model, weeks, rate=row["8, rate"], seed=seed)
        made.append(task.network_forecast(model, weeks, weeks.test))
    by_network[kind] = torch.stack(made)  # (3, 8)
off = {kind: mae(target.expand(3, 8), made).item() for kind, made in by_network.items()}
lines = {"sales": target} | by_network
assert sales[8 : weeks.train.stop].max() < target.min()  # the targets of training, of the test

# %% tags=["evidence"] mystnb={"figure": {"caption": "Both networks stay far below the sales. Forecasts of the eight test weeks, each from the eight weeks before it; mean and range of three seeds.", "name": "fig-fore-networks"}, "image": {"alt": "The sales of eight weeks rise from two to nearly five hundred thousand pounds. The two networks' forecasts lie between one and two hundred thousand and hardly rise."}}
curves(
    {name: (list(weeks.test), of / 1000) for name, of in lines.items()}, "week", "sales (£1,000)"
)
plt.show()

# %% [markdown]
# The article doesn't ask what a shopkeeper might do: train nothing, and expect next week to be like last week.

# %% tags=["view"]
guess(
    f"In the table, the networks are off by £{published['LSTM'].mae:,.0f} and £{published['Transformer'].mae:,.0f} a week. How far off is a forecast that repeats last week's sales?",
    ["by about £300,000", "by about £165,000", "by about £50,000"],
    right="by about £50,000",
    because=f"It is £{mae(target, sales[weeks.test.start - 1 : -1]).item():,.0f}, and nothing has to be trained.",
)

# %% tags=["evidence"]
nothing = mae(target, sales[weeks.test.start - 1 : -1]).item()
observe(
    "Our LSTM is off by £{LSTM:,.0f} a week, and our Transformer by £{Transformer:,.0f}, about as far as the table's. A forecast that costs nothing is off by £{naive:,.0f} and beats both.",
    **off,
    naive=nothing,
    holds=2 * nothing < min(off.values()) and max(off.values()) < 250_000,
)

# %% [markdown]
# ## The idea
#
# *1 minute.* **A forecast is worth what it gains over one that costs nothing.** If *tomorrow will be like today* is correct on 80% of days, a weather forecaster who is correct as often has shown nothing.
#
# We need a cheap forecast to compare with, a measure that we understand, and a way to forecast the past without knowing its future.
#
# ## Step by step
#
# ### The naive forecast: same as last week
#
# *9 minutes, 7 of them yours.* The **naive** forecast repeats the last value. For daily sales that isn't clever, because Sunday isn't like Saturday. The **seasonal naive** forecast repeats the last season, which has $m$ steps: for daily sales with a weekly season, $m = 7$. After $n$ known steps, it predicts
#
# $$
# \hat{y}_{n+t} = y_{n+t-m}, \qquad t = 1, \dots, m .
# $$ (eq-seasonal-naive)

# %% tags=["mechanism"] mystnb={"figure": {"caption": "The last season is repeated. Here, a season is a week.", "name": "fig-fore-naive"}, "image": {"alt": "Two rows of seven cells, one after the other, with the same numbers. Bent arrows lead from each cell of the first to the cell of the second that has its number."}}
mechanisms.last_season([9, 4, 5, 6, 7, 12, 14], season=7, T=7)
plt.show()

# %% [markdown]
# ```{exercise} Same as last week
# :label: exercise-seasonal-naive
#
# *7 minutes.* Forecast T steps by {eq}`eq-seasonal-naive`. If T is longer than a season, the season is repeated as often as needed. ([Solution](solutions/14_forecasting.ipynb#solution-seasonal-naive))
# ```


# %%
def seasonal_naive(past, T, season):
    """Shapes: past (B, S); returns (B, T)."""
    raise NotImplementedError


seasonal_naive = check("seasonal_naive", seasonal_naive)

# %%
check.show_reference("seasonal_naive")

# %% [markdown]
# Our weeks are sums of seven days, so the weekly season is gone. Then $m = 1$, and we repeat the last week.

# %%
as_last_week = torch.cat([seasonal_naive(sales[None, :n], 1, 1)[0] for n in weeks.test]).double()
naive_error = mae(target, as_last_week).item()
times = published["Transformer"].mae / naive_error

# %% tags=["evidence"]
observe(
    "The table's Transformer is {times:.1f} times as far off as *same as last week*.",
    times=times,
    holds=times > 3,
)

# %% [markdown]
# ### Four measures: MAE, MAPE, sMAPE and weighted MAE
#
# *13 minutes, 8 of them yours.* The **mean absolute error** (MAE) is in pounds, so it can't compare a large shop with a small one. The **mean absolute percentage error** (MAPE) divides each error by the sales $y$. The **symmetric** one {cite}`makridakis1993accuracy` divides by the mean of sales and forecast $\hat{y}$:
#
# $$
# \begin{aligned}
# \mathrm{MAPE} &= \operatorname{mean} \frac{|y - \hat{y}|}{|y|}, \\
# \mathrm{sMAPE} &= \operatorname{mean} \frac{2\,|y - \hat{y}|}{|y| + |\hat{y}|} .
# \end{aligned}
# $$ (eq-smape)

# %% tags=["mechanism"] mystnb={"figure": {"caption": "By sMAPE, forecasts of half and of twice the target are equally far off. By MAPE, half is better, and a forecast between 0 and the target is never off by more than 100%.", "name": "fig-fore-half"}, "image": {"alt": "Three bars: the target, 100, then 50 and 200. Beside them are their errors, 50 and 100, their MAPE, 50% and 100%, and their sMAPE, 67% twice."}}
mechanisms.half_and_double(100)
plt.show()

# %% [markdown]
# In the article's **weighted MAE**, each week's weight is its sales divided by a median, at least 1 and at most 5. (It doesn't say which median, or whether it divides by the weights' sum. We take the training weeks' median, and divide.)
#
# ```{exercise} Symmetric percentages
# :label: exercise-smape
#
# *8 minutes.* Compute the sMAPE of {eq}`eq-smape` in percent, from 0 to 200. Where target and forecast are both 0, the error is 0. ([Solution](solutions/14_forecasting.ipynb#solution-smape))
# ```


# %%
def smape(target, forecast):
    """Shapes: target and forecast (n,); returns a number from 0 to 200."""
    raise NotImplementedError


smape = check("smape", smape)

# %%
check.show_reference("smape")

# %% [markdown]
# Now we can read the table backwards. Suppose a network always returns a constant $c$ that is below all sales. Its MAE is then the mean of the sales minus $c$. So the table's MAE gives us $c$, and $c$ gives the other measures.

# %%
median = sales[: weeks.train.stop].quantile(0.5).item()


def measures(forecast):
    symmetric = float(smape(target, forecast)) / 100
    weighted = forecasting.weighted_mae(target, forecast, median).item()
    return mae(target, forecast).item(), mape(target, forecast).item(), symmetric, weighted


rows = {"same as last week": measures(as_last_week)}
constants = {name: target.mean() - of.mae for name, of in published.items()}
for name, c in constants.items():
    rows |= {f"{name}, in print": published[name], f"always £{c:,.0f}": measures(c.expand(8))}
printed, always = (list(rows.values())[i::2] for i in (1, 2))
*apart, weighted = (
    max(abs(mine[k] / of[k] - 1) for of, mine in zip(printed, always)) for k in (1, 2, 3)
)

# %% tags=["view"]
guess(
    f"A constant forecast has the MAE of the table's LSTM. Its MAPE is then fixed. How far from the table's {published['LSTM'].mape:.2%} is it?",
    ["less than 1 percentage point", "about 10 points", "more than 20 points"],
    right="less than 1 percentage point",
    because=f"The constant's MAPE is {always[0][1]:.2%}, and its sMAPE is {always[0][2]:.2%}.",
)

# %% tags=["evidence"]
table([in_words(name, *of) for name, of in rows.items()], HEAD)
observe(
    "The constants match the table's MAPE and sMAPE to within {most:.1%}, and its weighted MAE to within {weighted:.1%}. They are {low:.0%} and {high:.0%} of the shop's mean sales in the test weeks.",
    most=max(apart),
    weighted=weighted,
    low=min(constants.values()) / target.mean(),
    high=max(constants.values()) / target.mean(),
    holds=max(apart) < 0.015 < weighted < 0.06 and max(constants.values()) < target.mean() / 2,
)

# %% [markdown]
# Two networks that each repeat one number, less than half of the mean sales, would come close to this table. That proves nothing: other forecasts have the same averages. Our own networks did nearly that (see {numref}`fig-fore-networks`): their forecasts hardly move. No training target was as high as the test weeks, because the two high weeks lie at the very beginning, where they are only inputs. *Same as last week* gets the new level for free.
#
# ### The rolling origin
#
# *12 minutes, 8 of them yours.* Eight weeks decide nothing. We would like more forecasts, each from the numbers known at the time. The **origin** is the number of known steps. We forecast the next $T$ steps, then let the origin **roll** on, and forecast again {cite}`tashman2000out`.

# %% tags=["mechanism"] mystnb={"figure": {"caption": "The origin rolls on. Steps that were forecast before are then known.", "name": "fig-fore-origins"}, "image": {"alt": "Three rows of twelve cells. In each row there are more blue cells, the known ones, than in the one above; two orange cells, the forecast, follow them."}}
mechanisms.origins(forecasting.rolling_origin(12, first=5, T=2, step=2), 12)
plt.show()

# %% [markdown]
# ```{exercise} Let the origin roll
# :label: exercise-rolling-origin
#
# *8 minutes.* A series has n steps. At the first origin, `first` of them are known, and `step` more at each later one, as long as T steps are left to forecast. For each origin, return a pair: the indices of the known steps, and those of the T steps to forecast. Both count from 0. ([Solution](solutions/14_forecasting.ipynb#solution-rolling-origin))
# ```


# %%
def rolling_origin(n, first, T, step=1):
    """Returns: a list of pairs (known, forecast), each a range or a list of numbers."""
    raise NotImplementedError


rolling_origin = check("rolling_origin", rolling_origin)

# %%
check.show_reference("rolling_origin")

# %% [markdown]
# Our record begins a year before the article's. From that year, three rules forecast the second, week by week.

# %%
two_years = task.weeks("2009-12-01", first=False, last=False).values  # (104,)
RULES = {
    "last week": lambda past: past[-1],
    "mean of four weeks": lambda past: past[-4:].mean(),
    "last year's week": lambda past: past[-52],
}
year = rolling_origin(len(two_years), 52, 1, 1)
errors = {
    name: fmean(
        (two_years[ahead[0]] - rule(two_years[: len(known)])).abs().item() for known, ahead in year
    )
    for name, rule in RULES.items()
}

# %% tags=["evidence"] mystnb={"figure": {"caption": "The best of three simple rules looks back a year. Mean absolute error of 52 weekly forecasts.", "name": "fig-fore-rules"}, "image": {"alt": "Three bars: the mean of four weeks is a little longer than last week, and last year's week is the shortest."}}
bars({name: error / 1000 for name, error in errors.items()}, "mean absolute error (£1,000)")
plt.show()

# %% tags=["evidence"]
observe(
    "Over 52 weeks, *same as last week* is off by £{last:,.0f} on average, and *same as last year* is off by £{year:,.0f}.",
    last=errors["last week"],
    year=errors["last year's week"],
    holds=len(year) == 52 and errors["last year's week"] < errors["last week"] < 60_000,
)

# %% [markdown]
# After Christmas, sales fall to nothing and return, as they did the year before. A rule can know that after one year. A network that reads only eight weeks of sales can't.
#
# **Enough for tonight?** This is a good place to stop: you can tell whether a forecast is worth anything.
#
# ### Leaks: a past that knows the future
#
# *12 minutes, 9 of them yours.* Before a network reads a series, a pipeline scales and smooths it and fills its gaps. If one of these steps uses numbers from after the origin, the future **leaks** into the network's input. The test error then looks fine, but in the shop the forecast fails, because tomorrow's numbers aren't there.

# %% tags=["mechanism"] mystnb={"figure": {"caption": "The upper scaler was fitted to the future, too, so everything it scales contains a trace of it. The lower one was fitted to the past alone.", "name": "fig-fore-leak"}, "image": {"alt": "Two strips of past and future cells. A bracket below the first reaches over both and leads to a scaler, then to a model. The bracket below the second reaches over the past alone."}}
mechanisms.two_scalers(n=16, origin=11)
plt.show()

# %% [markdown]
# ```{exercise} Find the leak
# :label: exercise-which-leaks
#
# *9 minutes.* A step of a pipeline turns a series of n days into n numbers, one for each day. It leaks if the number for a day before the origin depends on any day from the origin onwards. Given named steps, return the names of those that leak, in the given order. You can't read a step, but you can run it as often as you like. ([Solution](solutions/14_forecasting.ipynb#solution-which-leaks))
# ```


# %%
def which_leaks(steps, series, origin):
    """Shapes: series (n,); steps {name: function}; returns a list of names."""
    raise NotImplementedError


which_leaks = check("which_leaks", which_leaks)

# %%
check.show_reference("which_leaks")

# %% [markdown]
# Here is a pipeline for the shop's daily sales.

# %%
days = daily_sales().values  # (739,)
steps = {
    "scale by the first year": lambda x: (x - x[:365].mean()) / x[:365].std(),
    "mean of the last seven days": lambda x: F.avg_pool1d(F.pad(x[None], (6, 0)), 7, 1)[0],
    "mean of seven days around": lambda x: F.avg_pool1d(
        F.pad(x[None], (3, 3), mode="replicate"), 7, 1
    )[0],
}
leaking = list(which_leaks(steps, days, 500))
_, honest, leaky = (mae(days[401:], step(days)[400:-1]).item() for step in steps.values())

# %% tags=["evidence"]
observe(
    "This step leaks: {names}. As a forecast of tomorrow, it is off by £{leaky:,.0f}, and the mean of the last seven days is off by £{honest:,.0f}. The difference is borrowed from the future.",
    names=", ".join(leaking),
    leaky=leaky,
    honest=honest,
    holds=leaking == ["mean of seven days around"] and leaky < honest - 500,
)

# %% [markdown]
# ### An interval: how far off, with what probability?
#
# *11 minutes, 8 of them yours.* An **interval** of 80% should contain 80% of the later values. The simplest one asks the past: how far off were our forecasts? Take the $k$-th smallest of $n$ past errors as the half width around the next forecast:
#
# $$
# k = \lceil (n + 1)(1 - \alpha) \rceil .
# $$ (eq-conformal)
#
# Here $\alpha$ is the share that may lie outside, 0.2. If every order of the $n + 1$ errors is equally likely, the next one is among the $k$ smallest with a probability of at least $1 - \alpha$. That is a **conformal** interval {cite}`lei2018distribution`.

# %% tags=["mechanism"] mystnb={"figure": {"caption": "The k-th smallest of the past errors becomes the half width of the interval: here number 12 of 14, for 80%.", "name": "fig-fore-width"}, "image": {"alt": "Fourteen bars, sorted from short to long. The twelfth is orange. On the right is a band around a line, the forecast, that reaches as far to both sides as the twelfth bar is long."}}
torch.manual_seed(0)
mechanisms.width_of_scores(torch.rand(14) + 0.1, alpha=0.2)
plt.show()

# %% [markdown]
# ```{exercise} How wide?
# :label: exercise-conformal-width
#
# *8 minutes.* Return the k-th smallest of n scores, with k from {eq}`eq-conformal`. If k is larger than n, no score is large enough: return infinity. ([Solution](solutions/14_forecasting.ipynb#solution-conformal-width))
# ```


# %%
def conformal_width(scores, alpha):
    """Shapes: scores (n,); returns a number."""
    raise NotImplementedError


conformal_width = check("conformal_width", conformal_width)

# %%
check.show_reference("conformal_width")

# %% [markdown]
# Each week, the errors of *same as last week* so far give the interval for the next one. Do these intervals contain 80% of the weeks?

# %%
off_by = (two_years[1:] - two_years[:-1]).abs()  # (103,)
inside = [
    off_by[week].item() <= float(conformal_width(off_by[:week], 0.2))
    for week in range(20, len(off_by))
]
is_autumn = torch.arange(21, 104) % 52 >= 36  # of the weeks that are judged
held = torch.tensor(inside).double()
part_of = {"autumns": is_autumn, "others": ~is_autumn}
shares = {name: held[of].mean().item() for name, of in part_of.items()}
typical = {f"of_{name}": off_by[20:][of].quantile(0.5) for name, of in part_of.items()}

# %% tags=["evidence"]
observe(
    "Among {n} weeks, {all:.0%} lie inside their 80% interval. In the sixteen weeks before each December, {autumns:.0%} do, and in the {n_others} other weeks, {others:.0%} do. The median change from week to week is £{of_autumns:,.0f} before December and £{of_others:,.0f} in other weeks.",
    n=len(inside),
    all=fmean(inside),
    n_others=(~is_autumn).sum(),
    **shares,
    **typical,
    holds=fmean(inside) < 0.77
    and shares["autumns"] < 0.65 < 0.78 < shares["others"]
    and typical["of_autumns"] > 1.2 * typical["of_others"],
)

# %% [markdown]
# They don't. Before December a miss is nearly twice as likely as in other weeks, because the median change is larger. The promise has a condition: errors must be **exchangeable**, with every order equally likely.
#
# ## Is it right?
#
# *1 minute.* We compare your functions with the book's own. And a library's classical model, set to repeat the last season, must forecast *the same as last week*.

# %% tags=["evidence"]
torch.manual_seed(0)
past, made = torch.rand(3, 30, dtype=torch.float64), torch.rand(30, dtype=torch.float64)
close = partial(torch.testing.assert_close, rtol=1e-4, atol=1e-4, check_dtype=False)
close(seasonal_naive(past, 10, 7), forecasting.seasonal_naive(past, 10, 7))
close(float(smape(past[0], made)) / 100, forecasting.smape(past[0], made).item())
close(float(conformal_width(made, 0.2)), forecasting.conformal_width(made, 0.2).item())
mine, book = (of(30, 9, 4, 3) for of in (rolling_origin, forecasting.rolling_origin))
assert [[*map(list, pair)] for pair in mine] == [[*map(list, pair)] for pair in book]
by_library = classical.sarimax(past[0], 10, order=(0, 0, 0), season=7, seasonal=(0, 1, 0))
close(by_library, seasonal_naive(past[:1], 10, 7)[0])
print("forecasts, measures, origins and widths agree")

# %% [markdown]
# ## Train it
#
# *12 minutes.* One shop gives a network little to learn from; a chain has thousands of series. We generate ours, so that the truth is known: each day's sales are a product of factors.

# %%
chain = generate(100, 1095, seed=0)  # a hundred series of three years
seen = field.field(chain)  # sales, and the days of promotions and holidays
ONE, SPAN = 16, slice(930, 1050)  # one of the series, and some of its days
pictured = {"sales": chain.values[ONE, SPAN]} | {
    name: chain.parts[name][ONE, SPAN] for name in ("week", "promotion", "shift", "noise")
}

# %% tags=["evidence"] mystnb={"figure": {"caption": "A series is a product of factors: 120 days (top), and four of the factors. Here the level shifts once.", "name": "fig-fore-parts"}, "image": {"alt": "Five curves, one below the other. The first, the sales, is jagged. The others are a weekly wave, blocks of promotions, a step of the level, and noise."}}
figure, axes = plt.subplots(5, 1, figsize=(6.4, 6.4), sharex=True)
for ax, (name, of) in zip(axes, pictured.items()):
    curves({name: (range(930, 1050), of)}, "day" if name == "noise" else "", name, ax=ax)
plt.show()

# %% [markdown]
# A network reads 56 days and forecasts 14. Promotions (days with lower prices) and holidays are planned, so they are known in advance. The sales to forecast are hidden, and the network fills them in, as Day 10's network filled in words.

# %% tags=["mechanism"] mystnb={"figure": {"caption": "For each day the network reads the sales (0 where they are hidden), a mark for hidden sales and a mark for promotions; the mark for holidays isn't drawn.", "name": "fig-fore-filled"}, "image": {"alt": "Three rows of nine cells: values, of which the last three are hatched, a row of zeros and ones that marks these three, and a row of promotions. Below is a box, the network, and three cells with question marks."}}
mechanisms.filled_in([5, 9, 4, 6, 5, 8], [0, 1, 0, 0, 0, 1, 0, 1, 0], T=3)
plt.show()

# %% [markdown]
# Day 3's LSTM reads all 56 + 14 = 70 days, and its last 14 states give the forecast. The Transformer does the same with Day 6's encoder.

# %%
show_source(forecasting.hide_future)
show_source(forecasting.LSTMForecaster)

# %% [markdown]
# A **local** model learns from one series. A **global** one learns from all of them at once {cite}`monteromanso2021principles`. That can help, because promotions in one shop tell us something about promotions in another. Each window is scaled by its own 56 days, so large and small shops look alike.

# %%
show_source(forecasting.PastScaler)

# %% tags=["mechanism"] mystnb={"figure": {"caption": "A model for each series (left), or one for all of them (right).", "name": "fig-fore-global"}, "image": {"alt": "On the left, three series, each with an arrow to a model of its own. On the right, arrows from three series lead to one model."}}
mechanisms.local_and_global(3)
plt.show()

# %% [markdown]
# The smallest network is a linear layer: each day of the forecast is a weighted sum of the 56 days, plus an effect of promotions and holidays.
#
# All networks predict three **quantiles** per day, which 10%, 50% and 90% of the sales should not exceed. Their loss asks for them: for the quantile 0.9, a target above the forecast costs nine times as much as one below ([the pinball loss](deeper/14_forecasting.ipynb#deeper-quantiles)).
#
# From here on, *same as last week* repeats the last seven days. To compare series, we divide each error by this forecast's mean error over the past. The mean quotient is the **mean absolute scaled error** (MASE) {cite}`hyndman2006another`: over the past, *same as last week* itself has 1.

# %%
show_source(forecasting.LinearForecaster)

# %% tags=["training"]
known = field.origins(1095, "test")  # four origins, two weeks apart
linear = field.network("linear", n_known=2, seed=0)
field.train(linear, seen.until(known[0]), rate=3e-2, log=False, seed=0, steps=field.STEPS)
forecast = field.ready(linear, log=False)
by_linear = torch.stack([forecast(seen.until(origin, 14)) for origin in known], dim=1)
by_naive = torch.stack(
    [seasonal_naive(seen.values[:, :origin], 14, 7) for origin in known], dim=1
)  # (100, 4, 14)
live = {"naive": by_naive[..., None], "linear": by_linear}
live = {name: field.error(seen, "test", made) for name, made in live.items()}
many = experiments.load("many_series")
alone = {name: fmean(many.select(method=name, group=1)[0]["error"]) for name in field.SIMPLE}

# %% tags=["evidence"]
observe(
    "In the last eight weeks, *same as last week* has a MASE of {naive:.2f}. The linear network, trained on a hundred series, has one of {linear:.2f}. The figure below shows twenty other series, on which *same as last week* has a MASE of {other:.2f}.",
    naive=live["naive"],
    linear=live["linear"],
    other=alone["seasonal naive"],
    holds=live["linear"] < live["naive"] - 0.2 and 1 < live["naive"] < alone["seasonal naive"],
)

# %% [markdown]
# Four networks learn from 1, 10 and 100 series: an LSTM, a Transformer, the linear network, and DLinear, which treats the trend and the rest separately. Two classical methods have a model for each series {cite}`hyndman2021forecasting`. Exponential smoothing (ETS) gives older values less and less weight. SARIMAX is a linear model of past values, past errors and known inputs. Each method has the best of four settings, chosen on earlier weeks. ETS and *same as last week* can't read promotions, so compare the networks with SARIMAX.

# %% tags=["view"]
guess(
    "Which method is best if each learns from a single series of three years?",
    ["the LSTM", "SARIMAX, a classical method", "same as last week"],
    right="SARIMAX, a classical method",
    because="The figure below shows it: with one series, a network has too little to learn from.",
)

# %%
GROUPS = many.parameters["group"]


def mase_of(name, n=1):
    """A method's mean error over the seeds, if it learns from n series."""
    return fmean(many.select(method=name, group=n)[0]["error"])


by_group = {
    name: (GROUPS, [mase_of(name, n) for n in GROUPS])
    for name in ("linear", "DLinear", "LSTM", "Transformer")
}
by_itself, _, together = zip(*[errors for _, errors in by_group.values()])  # of four networks
reached = {"best": min(together), "worst": max(together), "one_best": min(by_itself)}
levels = {name.replace("seasonal naive", "same as last week"): x for name, x in alone.items()}
levels |= {"best possible": many.rows[0]["best possible, error"]}

# %% tags=["evidence"] mystnb={"figure": {"caption": "A network needs more than one series. Error (MASE) on the same twenty series by the number of training series. Grey: methods with a model for each series, and the best possible forecast (stored experiment).", "name": "fig-fore-many"}, "image": {"alt": "Four curves over 1, 10 and 100 series, which fall up to 10, between horizontal lines: same as last week at the top, then ETS and SARIMAX, and the best possible forecast at the bottom."}}
ax = curves(by_group, "series to learn from", "error (MASE)", logx=True)
ax.set_xticks(GROUPS, GROUPS)
for name, error in levels.items():
    ax.axhline(error, color="0.45", linewidth=1)
    ax.text(GROUPS[0], error, name, fontsize=13, va="top" if name == "SARIMAX" else "bottom")
ax.legend(ncols=2, loc=(0.3, 0.68))
plt.show()

# %% [markdown]
# **One series teaches a network too little; a hundred teach little more than ten.** Is the LSTM's lead over SARIMAX luck? We count the series on which it is ahead.

# %%
by_series = {
    (name, n): many.select(method=name, group=n)[0]["by series"]
    for name, n in (("SARIMAX", 1), ("LSTM", 1), ("LSTM", 10), ("LSTM", 100))
}
rival = by_series.pop(("SARIMAX", 1))
ahead_on = {n: sum(a < b for a, b in zip(of, rival)) for (_, n), of in by_series.items()}
n = len(rival)
p_ten, p_hundred = (
    sum(comb(n, i) for i in range(ahead_on[group], n + 1)) / 2**n for group in (10, 100)
)

# %% tags=["evidence"]
observe(
    "Trained on each series alone, the LSTM is ahead of SARIMAX on {one} of {n}. Trained on ten together, it is ahead on {ten}; trained on a hundred, it is ahead on {hundred}. A fair coin would give {ten} or more in {p_ten:.0%} of cases, and {hundred} or more in {p_hundred:.0%}.",
    **dict(zip(("one", "ten", "hundred"), ahead_on.values())),
    n=n,
    p_ten=p_ten,
    p_hundred=p_hundred,
    holds=ahead_on[1] < 10 < ahead_on[100] < 16 and p_ten < 0.05 < p_hundred,
)

# %% [markdown]
# So learning together helps, and SARIMAX stays a hard rival. (Networks had 700 steps, or 200 with one series. In *Show someone*, where promotions are hidden, the Transformer is the best of three networks after 5,000 steps.)
#
# ## Look inside
#
# *4 minutes.* What has the linear network found out? Its weights are a map: a row for each day ahead, a column for each day that it reads.

# %%
weights = linear.linear.weight.detach().view(14, 3, 56)[:, 1]  # of the median: (ahead, read)
lags = torch.arange(56, 0, -1) + torch.arange(14)[:, None]  # how many days lie between
weekly, others = (weights[(lags % 7 == 0) == whole].mean().item() for whole in (True, False))
said = "Mean weight of days that are whole weeks back: {weekly:.2f}; of other days: {others:.2f}."
observe(said, weekly=weekly, others=others, holds=weekly > others + 0.01)
names = {"rows": range(1, 15), "columns": [n if n % 7 == 0 else "" for n in range(56, 0, -1)]}
axes = {"xlabel": "days before the origin", "ylabel": "days ahead"}

# %% tags=["evidence"] mystnb={"figure": {"caption": "The network has found out that a week has seven days. Weights of the median, by days ahead and days before the origin.", "name": "fig-fore-weights"}, "image": {"alt": "A map of 14 rows and 56 columns with slanted stripes, seven days apart; they are strongest on the right, where the nearest days are."}}
heat_map(weights, **axes, **names, value_label="weight", signed=True)
plt.show()

# %% [markdown]
# Here are its forecasts from one origin, with the interval between the quantiles 0.1 and 0.9.

# %%
origin, made = known[1], by_linear[ONE, 1]  # (14, 3)
before, after = list(range(origin - 28, origin)), list(range(origin, origin + 14))
promoted = [day for day in before + after if chain.known[ONE, day, 0]]
lines = {
    "sales": (before + after, chain.values[ONE, before[0] : after[-1] + 1]),
    "same as last week": (after, by_naive[ONE, 1]),
    "linear network": (after, made[:, 1]),
}

# %% tags=["evidence"] mystnb={"figure": {"caption": "The network expects the promotion (grey); *same as last week* can't. The day with the highest sales lies above its 80% interval (shaded). Sales before and after an origin (dotted), and two forecasts.", "name": "fig-fore-one"}, "image": {"alt": "A jagged curve of six weeks. From the dotted line on, two forecasts go on with it, one of them in a shaded band."}}
ax = curves(lines, "day", "sales")
ax.fill_between(after, made[:, 0], made[:, 2], color="C2", alpha=0.3, linewidth=0)
for day in promoted:
    ax.axvspan(day - 0.5, day + 0.5, color="0.85", linewidth=0, zorder=0)
ax.axvline(origin - 0.5, color="0.3", linestyle=":", linewidth=1)
plt.show()

# %% [markdown]
# Do such intervals contain 80% of the sales? A learned quantile promises nothing. So the interval can be **calibrated** with your conformal width {cite}`romano2019conformalized`: at origins between the training and test sets, measure how far outside the interval the sales lie (a negative number if they are inside), and move both ends outwards by the $k$-th smallest of these distances. A negative one shrinks the interval.

# %%
covered = experiments.load("sales_coverage")
share = {
    f"{name}, {when}": [100 * x for x in covered.column(when, method=name)]
    for name in covered.parameters["method"]
    for when in ("before", "after")
}

# %% tags=["evidence"] mystnb={"figure": {"caption": "Calibration changes little here: the intervals contain about 80% of later sales before it and after it. Mean and range of three seeds (stored experiment).", "name": "fig-fore-coverage"}, "image": {"alt": "Six bars near a line at 80%, two for each of three networks: before and after calibration."}}
bars(share, "inside (%)").axvline(80, color="0.3", linestyle="--", linewidth=1)
plt.show()

# %% [markdown]
# ## Show someone
#
# *5 minutes.* Draw a series, and watch five methods continue it, with their intervals. Draw a weekly wave, then one with a jump at its end.

# %% tags=["view"]
draw_and_forecast("forecasters", series=to_take())

# %% [markdown]
# ## Where it breaks
#
# *2 minutes.* Here is a series without noise: a switch flips the level on days known in advance, so the future is certain.

# %% tags=["mechanism"] mystnb={"figure": {"caption": "A one-line rule: each throw of the switch flips the level.", "name": "fig-fore-switch"}, "image": {"alt": "A row of zeros and ones; below it, a line that goes up or down at each one and stays as it is at each zero."}}
mechanisms.switched([0, 1, 0, 0, 1, 1, 0, 0, 1, 0, 1, 0, 0, 1])
plt.show()

# %% tags=["view"]
guess(
    "An LSTM and a Transformer learn for 500 steps. Which one forecasts the level two weeks ahead?",
    ["both", "only the Transformer", "only the LSTM"],
    right="only the LSTM",
    because="The LSTM follows every switch. From the third day on, the Transformer is at chance.",
)

# %% tags=["training"]
correct = {
    kind: switches.train_and_test(kind, steps=500, seed=0)  # (14,), of 2,000 new series
    for kind in ("linear", "LSTM", "Transformer")
}
later = {kind: of[2:].mean().item() for kind, of in correct.items()}

# %% tags=["evidence"] mystnb={"figure": {"caption": "The LSTM follows the switch for two weeks. The Transformer guesses from the third day on at the latest, and so does the linear network. Share of new series whose level is forecast correctly.", "name": "fig-fore-switches"}, "image": {"alt": "Three curves over 14 days. One stays at 100%. The two others lie at 50%."}}
curves(
    {kind: (range(1, 15), 100 * of) for kind, of in correct.items()}, "days ahead", "correct (%)"
)
plt.show()

# %% tags=["evidence"]
observe(
    "From the third day on, the LSTM is correct in {lstm:.0%} of cases, and the Transformer is correct in {transformer:.0%}. A coin would be correct in 50%.",
    lstm=later["LSTM"],
    transformer=later["Transformer"],
    holds=later["LSTM"] > 0.95 and later["Transformer"] < 0.6,
)

# %% [markdown]
# With 500 steps, one learning rate and one seed, the LSTM finds the one-line rule, and this one-layer Transformer doesn't. Counting modulo 2 suits a state that is updated every day.
#
# ## What we found
#
# *2 minutes.* Three claims, and our answers. Six more are on the [deeper page](deeper/14_forecasting.ipynb).
#
# (claim-fore-1)=

# %%
again = [stored.select(weeks="all", method=of)[0] for of in published]  # LSTM, Transformer
reading = {weeks: [fmean(row[f"{weeks}, mae"]) for row in again] for weeks in task.WINDOWS}
ratio = {weeks: new / old for weeks, (old, new) in reading.items()}
smallest = min(map(min, reading.values()))

# %% tags=["evidence"]
claim(
    "fore-1",
    "Can't tell here: it is {worse:.0%} worse with 4 weeks read, {better:.0%} better with 8, {little:.0%} with 12. *Same as last week* (£{naive:,.0f}) beats both.",
    worse=ratio[4] - 1,
    better=1 - ratio[8],
    little=1 - ratio[12],
    naive=naive_error,
    holds=lambda worse, better, little, naive: (
        0.05 < worse < 0.2 and 0.1 < better < 0.3 and abs(little) < 0.05 and 2 * naive < smallest
    ),
    experiment="weekly_sales",
    scale="MAE; 54 weeks, 8 of them the test; sales alone; each network at its best of seven rates; ten seeds",
)

# %% [markdown]
# (claim-fore-2)=

# %% tags=["evidence"]
claim(
    "fore-2",
    "Yes, if they learn from a hundred series ({best:.2f} to {worst:.2f}; SARIMAX {classic:.2f}, level with the worst); from one, SARIMAX wins ({one_best:.2f} at best).",
    **reached,
    classic=alone["SARIMAX"],
    holds=lambda best, worst, one_best, classic: (
        best < classic - 0.04
        and abs(worst - classic) < 0.03
        and classic + 0.03 < one_best < 1.1 * classic
    ),
    experiment="many_series",
    scale="MASE; generated daily sales of three years, 14 days ahead, promotions known; twenty series judged; two seeds, one with a single series",
)

# %% [markdown]
# (claim-fore-9)=

# %% tags=["evidence"]
claim(
    "fore-9",
    "Yes, if nothing changes: on generated series, {low:.0%} to {high:.0%} of sales lie inside, {low_after:.0%} to {high_after:.0%} after calibration; in the shop's weeks, {shop:.0%} do.",
    low=min(covered.column("before")),
    high=max(covered.column("before")),
    low_after=min(covered.column("after")),
    high_after=max(covered.column("after")),
    shop=fmean(inside),
    holds=lambda low, high, low_after, high_after, shop: (
        shop < 0.76 < min(low, low_after) < 0.8 < max(high, high_after) < 0.84
    ),
    experiment="sales_coverage",
    scale="three networks, each at the best of four settings; 100 generated series, four later origins, three seeds; 83 weeks of a shop, errors of *same as last week*",
)

# %% [markdown]
# ## Exercises
#
# Two more are on the [deeper page](deeper/14_forecasting.ipynb), and all solutions are on [a page of their own](solutions/14_forecasting.ipynb).

# %% [markdown]
# ```{exercise} MAE and MAPE
# :label: exercise-mae-and-mape
#
# *Core, 8 minutes.* Return the MAE, and the MAPE of {eq}`eq-smape` in percent. If a target is 0, the MAPE is NaN. ([Solution](solutions/14_forecasting.ipynb#solution-mae-and-mape))
# ```


# %%
def mae_and_mape(target, forecast):
    """Shapes: target and forecast (n,); returns two numbers."""
    raise NotImplementedError


check("mae_and_mape", mae_and_mape)

# %% [markdown]
# ```{exercise} Predict: which constant has the smallest MAPE?
# :label: exercise-mape-optimum
#
# *Core, 4 minutes.* On seven days, a shop sells 20, 30, 60, 80, 100, 130 and 210 items. Which constant forecast has the smallest MAPE? (The median, 80, has the smallest MAE.) ([Solution](solutions/14_forecasting.ipynb#solution-mape-optimum))
# ```

# %%
mape_optimum = None  # a number
check("mape_optimum", mape_optimum)

# %% [markdown]
# ```{exercise} Large weeks count for more
# :label: exercise-weighted-mae
#
# *Core, 9 minutes.* Return a weighted MAE: the sum of $w\,|y - \hat{y}|$ over the sum of $w$. A week's weight $w$ is its sales $y$ over the median of the known weeks, at least 1 and at most 5. The median of an even number of weeks is halfway between the two in the middle. ([Solution](solutions/14_forecasting.ipynb#solution-weighted-mae))
# ```


# %%
def weighted_mae(target, forecast, known):
    """Shapes: target and forecast (n,), known (m,), sales of the weeks before; returns a number."""
    raise NotImplementedError


check("weighted_mae", weighted_mae)

# %% [markdown]
# ```{exercise} Windows that don't overlap the border
# :label: exercise-windows
#
# *Core, 8 minutes.* Cut a series into pairs: S steps, and the T steps that follow. Training pairs lie in the first n_train steps and test pairs in the rest; a pair across the border is in neither. In each part, a pair begins at every step, in order, as long as it fits. ([Solution](solutions/14_forecasting.ipynb#solution-windows))
# ```


# %%
def windows(series, S, T, n_train):
    """Shapes: series (n,); returns ((N, S), (N, T)) to train on, ((M, S), (M, T)) to test on."""
    raise NotImplementedError


check("windows", windows)

# %% [markdown]
# ```{exercise} A scale without a leak
# :label: exercise-scaled-by-past
#
# *Core, 8 minutes.* Shift and divide each series so that its first `origin` steps have mean 0 and standard deviation 1; treat later steps in the same way. (The deviation divides by `origin`, not by one less.) A constant past is only shifted to 0. ([Solution](solutions/14_forecasting.ipynb#solution-scaled-by-past))
# ```


# %%
def scaled_by_past(series, origin):
    """Shapes: series (B, n); returns (B, n)."""
    raise NotImplementedError


check("scaled_by_past", scaled_by_past)

# %% [markdown]
# ## Checklist and tomorrow

# %% tags=["view"]
points = {
    "measure how far off a forecast is, and know which forecasts a measure rewards": "smape mae_and_mape weighted_mae mape_optimum",
    "compare a forecast with “same as last week” before you believe it": "seasonal_naive",
    "roll the forecast origin, so that no forecast is judged on data that it has seen": "rolling_origin windows",
    "find the step of a pipeline that sees the future": "which_leaks scaled_by_past",
    "put an interval around a forecast, and count how often it holds": "conformal_width",
}
checklist({point: ids.split() for point, ids in points.items()})

# %% [markdown]
# So networks forecast well where they see many series, and they need a rival that costs nothing, or their failure goes unnoticed. **Tomorrow** we ask which tasks a network can do at all, and how much it gains from being larger.

# %% [markdown]
# ## Further reading
#
# - {cite:t}`hyndman2021forecasting`: the textbook, free to read.
# - {cite:t}`hyndman2006another`: what is wrong with percentages, and the MASE.
# - {cite:t}`romano2019conformalized`: intervals from quantiles, calibrated.
