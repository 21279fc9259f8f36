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
# - measure how far off a forecast is, and say what a measure rewards,
# - hold a forecast against *as last week* before you believe in it,
# - let the origin roll, so that no forecast is judged by what it has seen,
# - find the step of a pipeline that sees the future,
# - put an interval around a forecast, and count how much it holds,
# - say when a network is better than a simple forecast.
#
# Today builds on [Day 3](03_gates.ipynb)'s LSTM, [Day 6](06_transformer.ipynb)'s Transformer and [Day 10](10_pretraining.ipynb)'s hidden words. It takes 50 minutes to read and 40 to write five functions; the exercises at its end take another half an hour. At the end you draw a series with the mouse, and four methods on this page go on with it.

# %% tags=["setup"]
import convolution_to_attention  # is `utils` this book's?

from statistics import fmean

import matplotlib.pyplot as plt
import torch
from torch.nn import functional as F

from utils import forecasting
from utils.data.sales import daily_sales, generate
from utils.exercises.forecasting import check
from utils.exercises.progress import checklist
from utils.forecasting import mae, mape, weighted_mae
from utils.measure import experiments
from utils.measure.claims import claim
from utils.show.display import observe, table
from utils.show.mechanisms import forecasting as mechanisms
from utils.show.plotting import bars, curves, heat_map, use_book_style
from utils.show.views import guess, quiz
from utils.tasks import classical
from utils.tasks import many_sales as field
from utils.tasks import sales as task
from utils.tasks import switches

use_book_style()

# %% [markdown]
# **Five questions about yesterday**

# %% tags=["view"]
quiz("14_forecasting")

# %% [markdown]
# ## Where we stand
#
# *6 minutes.* Yesterday's drawings could be checked, because each sentence says what is correct. Next week's sales can't be checked today. So we begin with what is in print. An article, *From RNN to Transformer* {cite}`unsignedrnn`, lets two networks forecast what a shop in the United Kingdom sells in a week {cite}`chen2019online`. This is its table: four measures of how far off the forecasts are, on average. (Each is defined below; smaller is better.)

# %% tags=["evidence"]
table(
    [
        [name, f"{of.mae:,.0f}", f"{of.mape:.2%}", f"{of.smape:.2%}", f"{of.wmae:,.0f}"]
        for name, of in task.PUBLISHED.items()
    ],
    ["network", "MAE (£)", "MAPE", "sMAPE", "weighted MAE (£)"],
)
better = [1 - new / old for old, new in zip(*task.PUBLISHED.values())]
observe(
    "By all four measures, the Transformer is better, by {least:.1%} to {most:.1%}.",
    least=min(better),
    most=max(better),
    holds=0.04 < min(better) < max(better) < 0.07,
)

# %% [markdown]
# The article calls this a tendency and no proof, since there are few weeks. Here they are. The first part is to learn from, the second one to choose with, and the last eight weeks are the test.

# %%
weeks = task.weeks()
sales = weeks.values  # (54,), in pounds
target = sales[weeks.test.start :]  # (8,)

# %% tags=["evidence"] mystnb={"figure": {"caption": "In the test weeks, the shop sells about twice as much as in the weeks that the networks learn from. Sales in pounds; the dashed line is the mean of the training weeks.", "name": "fig-fore-weeks"}, "image": {"alt": "A curve over 54 weeks in three parts. It stays between one and two hundred thousand pounds, rises in the last weeks to more than three hundred thousand, and ends far above that."}}
figure, ax = plt.subplots()
parts = {"training": weeks.train, "validation": weeks.validation, "test": weeks.test}
curves(
    {name: (list(part), sales[part.start : part.stop] / 1000) for name, part in parts.items()},
    "week",
    "sales (£1,000)",
    ax=ax,
)
ax.axhline(sales[: weeks.train.stop].mean() / 1000, color="0.3", linestyle="--", linewidth=1)
plt.show()

# %% [markdown]
# The article says that both networks read windows of 60 weeks. That can't be, as there are 54.

# %% tags=["mechanism"] mystnb={"figure": {"caption": "A window of 60 weeks is longer than the whole series.", "name": "fig-fore-window"}, "image": {"alt": "A strip of 54 cells in three colours, for training, validation and test. A bar below it begins with it and reaches beyond its end."}}
mechanisms.parts_and_window({name: len(part) for name, part in parts.items()}, window=60)
plt.show()

# %% [markdown]
# So nobody can run this again to the letter. We give the networks windows of 8 weeks, and keep the rest as it is described: sales scaled to mean 0 and deviation 1, batches of 64, and Huber's loss (the squared error, which becomes the absolute one where it is large). The rate is the best of four on the validation weeks, by a stored experiment with ten seeds. Here are three of the seeds.

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

# %% tags=["evidence"] mystnb={"figure": {"caption": "Both networks stay far below the sales. Forecasts of the eight test weeks, each from the eight weeks before it; mean and range of three seeds.", "name": "fig-fore-networks"}, "image": {"alt": "The sales of eight weeks rise from two to nearly five hundred thousand pounds. The two networks' forecasts lie between one and two hundred thousand and hardly rise."}}
curves(
    {"sales": (list(weeks.test), target / 1000)}
    | {kind: (list(weeks.test), made / 1000) for kind, made in by_network.items()},
    "week",
    "sales (£1,000)",
)
plt.show()

# %% tags=["evidence"]
off = {kind: fmean(mae(target, of).item() for of in made) for kind, made in by_network.items()}
observe(
    "On average over three seeds, the LSTM is off by £{lstm:,.0f} a week, and the Transformer by £{transformer:,.0f}.",
    lstm=off["LSTM"],
    transformer=off["Transformer"],
    holds=all(100_000 < error < 220_000 for error in off.values()),
)

# %% [markdown]
# That is the size of the table's errors. Is it little or much? The article doesn't ask. Someone who keeps a shop might not train anything, but say: next week will be as last week.

# %% tags=["view"]
guess(
    "In the table, the networks are off by £170,133 and £162,398 a week. How far off is someone who says: as last week?",
    ["by about £300,000", "by about £165,000", "by about £50,000"],
    right="by about £50,000",
    because=f"It is £{mae(target, sales[weeks.test.start - 1 : -1]).item():,.0f}, and nothing has to be trained.",
)

# %% [markdown]
# ## The idea
#
# *2 minutes.* **A forecast is as good as it is better than one that costs nothing.** Weather forecasters know this well: *tomorrow will be as today* is often true. A forecaster who is correct on 80% of days has shown nothing, if this rule is correct on 80% as well.
#
# So we need three things before we need a network: a cheap forecast to compare with, a measure that we understand, and a way to forecast the past as if we didn't know what came next. With these, we will see where networks earn their keep.
#
# ## Step by step
#
# ### The naive forecast: as last week
#
# *9 minutes, 7 of them yours.* The **naive** forecast repeats the last value. For a daily series that isn't clever, because Sunday isn't like Saturday. The **seasonal naive** forecast repeats the last season, which has $m$ steps: a day's sales are those of the same day a week before, $m = 7$. With $t$ steps ahead of the last known value $y_n$:
#
# $$
# \hat{y}_{n+t} = y_{n+t-m}, \qquad t = 1, \dots, m .
# $$ (eq-seasonal-naive)

# %% tags=["mechanism"] mystnb={"figure": {"caption": "The last season is repeated. Here, a season is a week.", "name": "fig-fore-naive"}, "image": {"alt": "Two rows of seven cells, one after the other, with the same numbers. Bent arrows lead from each cell of the first to the cell of the second that has its number."}}
mechanisms.last_season([9, 4, 5, 6, 7, 12, 14], season=7, T=7)
plt.show()

# %% [markdown]
# ```{exercise} As last week
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
# Our weeks are sums of seven days, so their season is one step. Each test week gets a forecast from all the weeks before it.

# %%
as_last_week = torch.cat([seasonal_naive(sales[None, :week], 1, 1)[0] for week in weeks.test])

# %% tags=["evidence"]
naive_error = mae(target, as_last_week).item()
observe(
    "*As last week* is off by £{naive:,.0f}. The table's Transformer, with £{published:,.0f}, is {times:.1f} times as far off.",
    naive=naive_error,
    published=task.PUBLISHED["Transformer"].mae,
    times=task.PUBLISHED["Transformer"].mae / naive_error,
    holds=naive_error < task.PUBLISHED["Transformer"].mae / 3,
)

# %% [markdown]
# ### Four measures: MAE, MAPE, sMAPE and weighted MAE
#
# *11 minutes, 7 of them yours.* The **mean absolute error** (MAE) is in pounds, so it can't compare a large shop with a small one. The **mean absolute percentage error** (MAPE) divides each error by the sales. The **symmetric** one {cite}`makridakis1993accuracy` divides by the mean of sales $y$ and forecast $\hat{y}$:
#
# $$
# \mathrm{MAPE} = \operatorname{mean} \frac{|y - \hat{y}|}{|y|}, \qquad \mathrm{sMAPE} = \operatorname{mean} \frac{2\,|y - \hat{y}|}{|y| + |\hat{y}|} .
# $$ (eq-smape)

# %% tags=["mechanism"] mystnb={"figure": {"caption": "Half and double are equally far off by sMAPE. By MAPE, half is better, and nothing that is too low is ever off by more than 100%.", "name": "fig-fore-half"}, "image": {"alt": "Three bars: the target, 100, then 50 and 200. Beside them are their errors, 50 and 100, their MAPE, 50% and 100%, and their sMAPE, 67% twice."}}
mechanisms.half_and_double(100)
plt.show()

# %% [markdown]
# The article's **weighted MAE** gives large weeks more weight: sales divided by their median, at least 1 and at most 5. (It doesn't say which weeks' median; we take that of the training weeks.)
#
# ```{exercise} Symmetric percentages
# :label: exercise-smape
#
# *7 minutes.* Compute the sMAPE of {eq}`eq-smape` in percent, from 0 to 200. Where target and forecast are both 0, the error is 0. ([Solution](solutions/14_forecasting.ipynb#solution-smape))
# ```


# %%
def smape(target, forecast):
    """Shapes: target and forecast (n,); returns a number from 0 to 200."""
    raise NotImplementedError


smape = check("smape", smape)

# %%
check.show_reference("smape")

# %% [markdown]
# Now we can read the table backwards. Imagine a network that says the same number in each test week, some constant $c$ below all sales. Its MAE is the mean of the sales minus $c$. So the table's MAE tells us $c$, and with it the other three measures.

# %%
median = sales[: weeks.train.stop].quantile(0.5).item()


def measures(forecast):
    percent = 100 * mape(target, forecast).item(), smape(target, forecast)
    return [mae(target, forecast).item(), *percent, weighted_mae(target, forecast, median).item()]


constants = {name: target.mean() - published.mae for name, published in task.PUBLISHED.items()}
as_constants = {name: measures(c.expand(8)) for name, c in constants.items()}

# %% tags=["view"]
guess(
    "A constant has the MAE of the table's LSTM. Its MAPE is then fixed. How far is it from the table's 54.69%?",
    ["less than 1 percentage point", "about 10 points", "more than 20 points"],
    right="less than 1 percentage point",
    because=f"The constant's MAPE is {as_constants['LSTM'][1]:.2f}%, and its sMAPE is {as_constants['LSTM'][2]:.2f}%.",
)

# %% tags=["evidence"]
rows = {"as last week": measures(as_last_week)}
for name, published in task.PUBLISHED.items():
    in_print = published.mae, 100 * published.mape, 100 * published.smape, published.wmae
    rows |= {f"{name}, in print": in_print, f"always £{constants[name]:,.0f}": as_constants[name]}
table(
    [
        [name, f"{a:,.0f}", f"{b:.2f}%", f"{c:.2f}%", f"{d:,.0f}"]
        for name, (a, b, c, d) in rows.items()
    ],
    ["forecast", "MAE (£)", "MAPE", "sMAPE", "weighted MAE (£)"],
)
apart = [
    abs(mine / printed - 1)
    for name in constants
    for mine, printed in list(zip(as_constants[name], rows[f"{name}, in print"]))[1:3]
]
observe(
    "The two constants have the table's MAPE and sMAPE to within {most:.1%} of their values. They are {low:.0%} and {high:.0%} of what the shop sold in a mean test week.",
    most=max(apart),
    low=min(constants.values()) / target.mean(),
    high=max(constants.values()) / target.mean(),
    holds=max(apart) < 0.015 and max(constants.values()) < target.mean() / 2,
)

# %% [markdown]
# So the table is what two networks would give that say nearly the same each week: less than half of the sales. That is consistent with it, and no proof. (The weighted errors are further apart, and other forecasts have the same averages.) But our own networks did just that. A level that the training never saw is out of their reach, and *as last week* has it for nothing.
#
# ### The rolling origin
#
# *9 minutes, 7 of them yours.* Eight weeks decide nothing: with other weeks, the ranking may change. We would like more forecasts, each from what was known at the time. The **origin** is the number of known steps. We forecast the next $T$, then let the origin **roll** on, as time would, and forecast again {cite}`tashman2000out`.

# %% tags=["mechanism"] mystnb={"figure": {"caption": "The origin rolls on. What was forecast before is then known.", "name": "fig-fore-origins"}, "image": {"alt": "Four rows of twelve cells. In each row there are more blue cells, the known ones, than in the one above; two orange cells, the forecast, follow them."}}
mechanisms.origins(forecasting.rolling_origin(12, first=5, T=2, step=2), 12)
plt.show()

# %% [markdown]
# ```{exercise} Let the origin roll
# :label: exercise-rolling-origin
#
# *7 minutes.* Of n steps, `first` are known at the first origin, and `step` more at each later one, as long as T steps are left to forecast. For each origin, return a pair: the numbers of the known steps, and those of the T steps to forecast. Both count from 0. ([Solution](solutions/14_forecasting.ipynb#solution-rolling-origin))
# ```


# %%
def rolling_origin(n, first, T, step=1):
    """Returns: a list of pairs (known, forecast), each a range or a list of numbers."""
    raise NotImplementedError


rolling_origin = check("rolling_origin", rolling_origin)

# %%
check.show_reference("rolling_origin")

# %% [markdown]
# There is a year more of this shop than the article used. Let three simple rules forecast its second year, week by week.

# %%
two_years = task.weeks("2009-12-01", last=False).values  # (105,)
RULES = {
    "last week": lambda past: past[-1],
    "mean of four weeks": lambda past: past[-4:].mean(),
    "last year's week": lambda past: past[-52],
}
origins = rolling_origin(len(two_years), first=52, T=1)
errors = {
    name: torch.stack(
        [(two_years[ahead[0]] - rule(two_years[: len(known)])).abs() for known, ahead in origins]
    )
    for name, rule in RULES.items()
}

# %% tags=["evidence"] mystnb={"figure": {"caption": "Over a whole year, simple rules are much closer together than two networks in the table. Mean absolute error of weekly forecasts.", "name": "fig-fore-rules"}, "image": {"alt": "Three bars of nearly the same length: last week, mean of four weeks, and last year's week."}}
bars({name: of.mean() / 1000 for name, of in errors.items()}, "mean absolute error (£1,000)")
plt.show()

# %% tags=["evidence"]
observe(
    "In {n} weeks, *as last week* is off by £{last:,.0f} on average, and *as in last year's week* by £{year:,.0f}.",
    n=len(origins),
    last=errors["last week"].mean(),
    year=errors["last year's week"].mean(),
    holds=len(origins) > 50 and max(of.mean() for of in errors.values()) < 60_000,
)

# %% [markdown]
# **Enough for tonight?** This is a good place to stop: you can tell whether a forecast is worth anything. Next, you find out how it may be too good to be true.
#
# ### Leaks: a past that knows the future
#
# *10 minutes, 8 of them yours.* Before a network reads a series, a pipeline scales and smooths it and fills its gaps. If one of these steps uses numbers from after the origin, the future **leaks** into what the network reads. The error on the test then looks fine, and tomorrow the forecast fails, because tomorrow's numbers aren't there. Most leaks look harmless: the scaler was fitted to all of the data.

# %% tags=["mechanism"] mystnb={"figure": {"caption": "The upper scaler has measured the future, so whatever it scales contains a trace of it. The lower one has measured the past alone.", "name": "fig-fore-leak"}, "image": {"alt": "Two strips of past and future cells. A bracket below the first reaches over both and leads to a scaler, then to a model. The bracket below the second reaches over the past alone."}}
mechanisms.two_scalers(n=16, origin=11)
plt.show()

# %% [markdown]
# ```{exercise} Find the leak
# :label: exercise-which-leaks
#
# *8 minutes.* A step of a pipeline turns a series of n days into n numbers, one for each day. It leaks if a number of a day before the origin depends on days from the origin on. Given steps by name, return the names of those that leak, in their order. You can't read a step, but you can run it as often as you like. ([Solution](solutions/14_forecasting.ipynb#solution-which-leaks))
# ```


# %%
def which_leaks(steps, series, origin):
    """Shapes: series (n,); steps {name: function}; returns a list of names."""
    raise NotImplementedError


which_leaks = check("which_leaks", which_leaks)

# %%
check.show_reference("which_leaks")

# %% [markdown]
# Here is a pipeline for the shop's days. One step takes the mean of seven days, with the day in the middle. How much would it help a forecast of tomorrow?

# %%
days = daily_sales().values  # (739,)
steps = {
    "scale by the first year": lambda x: (x - x[:365].mean()) / x[:365].std(),
    "mean of the last seven days": lambda x: F.avg_pool1d(F.pad(x[None], (6, 0)), 7, 1)[0],
    "mean of seven days around": lambda x: forecasting.moving_average(x[None], 7)[0],
}
leaking = which_leaks(steps, days, origin=500)

# %% tags=["evidence"]
smooth = {
    name: mae(days[401:], step(days)[400:-1]).item()
    for name, step in steps.items()
    if name.startswith("mean")
}
leaky, honest = smooth["mean of seven days around"], smooth["mean of the last seven days"]
observe(
    "Your function names: {names}. As a forecast of tomorrow, it is off by £{leaky:,.0f}, and the honest mean of the last seven days by £{honest:,.0f}. The difference is borrowed from the future.",
    names=", ".join(leaking),
    leaky=leaky,
    honest=honest,
    holds=leaking == ["mean of seven days around"] and leaky < honest - 500,
)

# %% [markdown]
# ### An interval: how far off, with which probability?
#
# *10 minutes, 8 of them yours.* A shop that orders for the mean runs out every other week. It needs to know how much more may come. An **interval** of 80% should contain 80% of what comes. The simplest honest one asks the past: how far off were our forecasts? Of $n$ past errors, take the $k$-th smallest as the half width around the next forecast:
#
# $$
# k = \lceil (n + 1)(1 - \alpha) \rceil , \qquad \alpha = 0.2 .
# $$ (eq-conformal)
#
# If the next error is one of $n + 1$ in a random order, it is among the $k$ smallest with a probability of at least $1 - \alpha$. That is a **conformal** interval {cite}`lei2018distribution`. It needs no normal distribution and no good model.

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
# Each week, the errors of *as last week* so far give the interval for the next one. Does it hold 80%?

# %%
off_by = (two_years[1:] - two_years[:-1]).abs()  # (104,)
inside = [
    off_by[week].item() <= conformal_width(off_by[:week], alpha=0.2)
    for week in range(20, len(off_by))
]
autumn = sum(inside[-16:]) / 16

# %% tags=["evidence"]
observe(
    "Of {n} weeks, {all:.0%} lie inside an interval of 80%. In the last {last}, before Christmas, it is {autumn:.0%}.",
    n=len(inside),
    all=fmean(inside),
    last=16,
    autumn=autumn,
    holds=0.7 < fmean(inside) < 0.9 and autumn < fmean(inside),
)

# %% [markdown]
# The promise has a condition: past and future errors have to be **exchangeable**, as if they were drawn in any order. In autumn they aren't, since the weeks before Christmas are wilder than the rest.
#
# ## Is it right?
#
# *1 minute.* We compare your functions with the book's own. And a library's SARIMAX model that does nothing but subtract the last season must forecast *as last week*.

# %% tags=["evidence"]
torch.manual_seed(0)
past, made = torch.rand(3, 30, dtype=torch.float64), torch.rand(30, dtype=torch.float64)
assert torch.equal(seasonal_naive(past, 10, 7), forecasting.seasonal_naive(past, 10, 7))
torch.testing.assert_close(smape(past[0], made) / 100, forecasting.smape(past[0], made).item())
for n, first, T, step in ((30, 9, 4, 3), (20, 19, 1, 1)):
    pairs = [(list(known), list(ahead)) for known, ahead in rolling_origin(n, first, T, step)]
    book = forecasting.rolling_origin(n, first, T, step)
    assert pairs == [(list(known), list(ahead)) for known, ahead in book]
assert conformal_width(made, 0.2) == forecasting.conformal_width(made, 0.2).item()
by_library = classical.sarimax(past[0], 10, order=(0, 0, 0), season=7, seasonal=(0, 1, 0))
torch.testing.assert_close(by_library, seasonal_naive(past[:1], 10, 7)[0], rtol=1e-4, atol=1e-4)
print("forecasts, measures, origins and widths agree")

# %% [markdown]
# ## Train it
#
# *9 minutes.* One shop and a hundred weeks are a poor field for a network. A chain of shops has thousands of series. Whether a network is good there depends on what is in them, so we write them ourselves: each day's sales are a product of parts that we know.

# %%
chain = generate(100, 1095, seed=0)  # a hundred series of three years
seen = field.field(chain)  # sales, and the days of promotions and holidays

# %% tags=["evidence"] mystnb={"figure": {"caption": "What a series is made of: 120 days of one of them (top), and four of the factors of which it is a product. Here the level shifts once.", "name": "fig-fore-parts"}, "image": {"alt": "Five curves, one below the other. The first, the sales, is jagged. The others are a weekly wave, blocks of promotions, a step of the level, and noise."}}
SHOWN, SPAN = 4, slice(300, 420)
figure, axes = plt.subplots(5, 1, figsize=(6.4, 6.4), sharex=True)
pictured = {"sales": chain.values} | {
    name: chain.parts[name] for name in ("week", "promotion", "shift", "noise")
}
for ax, (name, of) in zip(axes, pictured.items()):
    curves({name: (range(300, 420), of[SHOWN, SPAN])}, "", name, ax=ax)
axes[-1].set_xlabel("day")
plt.show()

# %% [markdown]
# A network reads 56 days and forecasts 14. Promotions and holidays are planned, so they are known for the future, too. The future sales are hidden, and the network fills them in, as Day 10's network filled in words.

# %% tags=["mechanism"] mystnb={"figure": {"caption": "What a network reads on each day: the sales, or 0 where they are hidden, whether they are hidden, and whether there is a promotion. Here six days are known, and three are filled in.", "name": "fig-fore-filled"}, "image": {"alt": "Three rows of nine cells: values, of which the last three are hatched, a row of zeros and ones that marks these three, and a row of promotions. Below is a box, the network, and three cells with question marks."}}
mechanisms.filled_in([5, 9, 4, 6, 5, 8], [0, 1, 0, 0, 0, 1, 0, 1, 0], T=3)
plt.show()

# %% [markdown]
# A **local** model learns from one series. A **global** one learns from all of them at once {cite}`monteromanso2021principles`: what a promotion does in one shop may teach it something about another. Each window is scaled by its own 56 days, which makes small and large shops alike.

# %% tags=["mechanism"] mystnb={"figure": {"caption": "A model for each series, or one for all of them.", "name": "fig-fore-global"}, "image": {"alt": "On the left, three series, each with an arrow to a model of its own. On the right, arrows from three series lead to one model."}}
mechanisms.local_and_global(3)
plt.show()

# %% [markdown]
# The smallest network is a single linear layer: each day of the forecast is a weighted sum of the 56 days, plus an effect for promotions and holidays. It predicts three numbers per day, the **quantiles** 0.1, 0.5 and 0.9, which 10%, 50% and 90% of the sales should not exceed ([deeper page](deeper/14_forecasting.ipynb)). Your `seasonal_naive` is its rival. Errors are divided by those of *as last week* over the past, which makes series comparable; this is the **MASE** {cite}`hyndman2006another`.

# %% tags=["training"]
known = field.origins(1095, "test")  # four origins, two weeks apart
linear = field.network("linear", n_known=2, seed=0)
field.train(linear, seen.until(known[0]), rate=3e-2, log=True, seed=0, steps=1000)
forecast = field.ready(linear, log=True)
by_linear = torch.stack([forecast(seen.until(origin, 14)) for origin in known], dim=1)
by_naive = torch.stack(
    [seasonal_naive(seen.values[:, :origin], 14, 7) for origin in known], dim=1
)  # (100, 4, 14)

# %% tags=["evidence"]
live = {
    "naive": field.error(seen, "test", by_naive[..., None]),
    "linear": field.error(seen, "test", by_linear),
}
observe(
    "*As last week* has a MASE of {naive:.2f}, and the linear network, trained on a hundred series, {linear:.2f}.",
    **live,
    holds=live["linear"] < live["naive"] - 0.1,
)

# %% [markdown]
# Now the whole field: an LSTM, a Transformer and two linear networks, each trained on 1, 10 and 100 series. Beside them are two classical methods with a model for each series, exponential smoothing (ETS) and SARIMAX {cite}`hyndman2021forecasting`. Each method has four settings and chooses one on earlier weeks.

# %% tags=["view"]
guess(
    "Which methods are best if each learns from a single series of three years?",
    [
        "the LSTM and the Transformer",
        "the classical methods and the linear networks",
        "as last week",
    ],
    right="the classical methods and the linear networks",
    because="The figure below shows it: with one series, a network has too little to learn from.",
)

# %%
many = experiments.load("many_series")
GROUPS = many.parameters["group"]
NETWORKS = "linear", "DLinear", "LSTM", "Transformer"
by_group = {
    name: torch.tensor([many.select(method=name, group=n)[0]["error"] for n in GROUPS])
    for name in NETWORKS
}  # (groups, seeds)
alone = {
    name: many.select(method=name, group=1)[0]["error"][0]
    for name in ("seasonal naive", "ETS", "SARIMAX")
}
best_possible = many.rows[0]["best possible, error"]

# %% tags=["evidence"] mystnb={"figure": {"caption": "Networks need many series. Error (MASE) on the same five series by the number of series that a network learns from; mean and range of two seeds. Grey lines: methods with a model for each series, and the forecast that knows the true parts (stored experiment).", "name": "fig-fore-many"}, "image": {"alt": "Four falling curves over 1, 10 and 100 series, between horizontal lines: as last week at the top, then ETS and SARIMAX, and the best possible forecast at the bottom."}}
ax = curves(
    {name: (GROUPS, of.T) for name, of in by_group.items()},
    "series to learn from",
    "error (MASE)",
    logx=True,
)
ax.set_xticks(GROUPS, GROUPS)
for name, error in (alone | {"best possible": best_possible}).items():
    ax.axhline(error, color="0.45", linewidth=1)
    ax.annotate(name, (GROUPS[0], error), xytext=(2, 3), textcoords="offset points", fontsize=11)
plt.show()

# %% [markdown]
# [to be written, when it is measured: what the figure shows]
#
# ## Look inside
#
# *3 minutes.* What has the linear network found out? Its weights are a map: a row for each day of the forecast, a column for each day that it reads.

# %% tags=["evidence"] mystnb={"figure": {"caption": "Nobody told the network that a week has seven days. Weights of the median, for each day ahead (rows) and each day before the origin (columns).", "name": "fig-fore-weights"}, "image": {"alt": "A map of 14 rows and 56 columns with slanted stripes, seven days apart; they are strongest on the right, where the nearest days are."}}
weights = linear.linear.weight.detach().view(14, 3, 56)[:, 1]  # (days ahead, days read)
heat_map(
    weights,
    xlabel="days before the origin",
    ylabel="days ahead",
    rows=range(1, 15),
    columns=[lag if lag % 7 == 0 else "" for lag in range(56, 0, -1)],
    value_label="weight",
    signed=True,
)
plt.show()

# %% tags=["evidence"]
lags = torch.arange(56, 0, -1) + torch.arange(1, 15)[:, None] - 1  # how many days apart
weekly, others = (weights[(lags % 7 == 0) == same].mean().item() for same in (True, False))
observe(
    "The mean weight of days that are whole weeks apart is {weekly:.3f}, and that of other days is {others:.3f}.",
    weekly=weekly,
    others=others,
    holds=weekly > others + 0.01,
)

# %% [markdown]
# Here are its forecasts for the series from above, from one origin, with the interval between the quantiles 0.1 and 0.9.

# %% tags=["evidence"] mystnb={"figure": {"caption": "The network expects the promotion, which as last week can't. Sales before and after an origin, the forecasts, and the network's interval of 80% (shaded).", "name": "fig-fore-one"}, "image": {"alt": "A jagged curve of six weeks. From the dotted line on, two forecasts go on with it, one of them in a shaded band."}}
origin, made = known[1], by_linear[SHOWN, 1]  # (14, 3)
before, after = range(origin - 28, origin), range(origin, origin + 14)
ax = curves(
    {
        "sales": ([*before, *after], chain.values[SHOWN, before.start : after.stop]),
        "as last week": (after, by_naive[SHOWN, 1]),
        "linear network": (after, made[:, 1]),
    },
    "day",
    "sales",
)
ax.fill_between(list(after), made[:, 0], made[:, 2], alpha=0.2, linewidth=0)
ax.axvline(origin - 0.5, color="0.3", linestyle=":", linewidth=1)
plt.show()

# %% [markdown]
# Does the interval hold 80%? The network has learned its quantiles from the past, where it may fit too well. So it can be **calibrated** with your conformal width {cite}`romano2019conformalized`: on later origins, measure how far outside the sales lie, and move both ends by the $k$-th smallest of these distances.

# %%
covered = experiments.load("sales_coverage")
share = {
    f"{name}, {when}": [100 * x for x in covered.column(when, method=name)]
    for name in covered.parameters["method"]
    for when in ("before", "after")
}

# %% tags=["evidence"] mystnb={"figure": {"caption": "Share of later sales inside intervals of 80%, before and after calibration. Mean and range of three seeds (stored experiment).", "name": "fig-fore-coverage"}, "image": {"alt": "Six bars, two for each of three networks: before and after calibration; a line marks 80%."}}
ax = bars(share, "inside (%)")
ax.axvline(80, color="0.3", linestyle="--", linewidth=1)
plt.show()

# %% [markdown]
# ## Show someone
#
# *5 minutes.* Draw a series, and watch four methods go on with it, with their intervals. Draw a weekly wave, then a wave with a jump at its end. Which of them notices?

# %% tags=["view"]
draw_and_forecast(...)

# %% [markdown]
# ## Where it breaks
#
# *4 minutes.* Everything so far was noisy, and no method could be perfect. So here is a series without any noise. A switch decides the level, up or down. Whenever it is thrown, the level turns over. The days of the switch are known in advance, as promotions were. So the future is certain: go from day to day, and turn over when the switch says so.

# %% tags=["mechanism"] mystnb={"figure": {"caption": "A rule of one line: each switch turns the level over.", "name": "fig-fore-switch"}, "image": {"alt": "A row of zeros and ones; below it, a line that goes up or down at each one and stays as it is at each zero."}}
mechanisms.switched([0, 1, 0, 0, 1, 1, 0, 0, 1, 0, 1, 0, 0, 1])
plt.show()

# %% tags=["view"]
guess(
    "Both networks learn from as many such series as they like. Which one forecasts the level two weeks ahead?",
    ["both", "only the Transformer", "only the LSTM"],
    right="only the LSTM",
    because="The cell below trains both.",
)

# %% tags=["training"]
right = {
    kind: switches.train_and_test(kind, steps=600, seed=0)
    for kind in ("linear", "LSTM", "Transformer")
}  # the share of 2,000 new series, for each of 14 days ahead

# %% tags=["evidence"] mystnb={"figure": {"caption": "The LSTM follows the switch for two weeks. The Transformer guesses, at best from the second day on. Share of new series whose level is forecast correctly.", "name": "fig-fore-switches"}, "image": {"alt": "Three curves over 14 days. One stays at 100%. The two others lie at 50%."}}
curves(
    {kind: (range(1, 15), 100 * of) for kind, of in right.items()},
    "days ahead",
    "correct (%)",
)
plt.show()

# %% tags=["evidence"]
later = {kind: of[2:].mean().item() for kind, of in right.items()}
observe(
    "From the third day on, the LSTM is correct in {lstm:.0%} of cases, and the Transformer in {transformer:.0%}. Who tosses a coin is correct in 50%.",
    lstm=later["LSTM"],
    transformer=later["Transformer"],
    holds=later["LSTM"] > 0.95 and later["Transformer"] < 0.6,
)

# %% [markdown]
# It isn't for want of data, since each batch was new. And nothing is random in it. One network finds a rule of one line, the other doesn't. So what can a network learn at all?
#
# ## What we found
#
# *1 minute.* Three claims, and our answers. Six more are on the [deeper page](deeper/14_forecasting.ipynb).
#
# (claim-fore-1)=

# %% tags=["evidence"]
in_runs = {
    name: [row["8, mae"] for row in stored.select(weeks="all", method=name)][0]
    for name in ("LSTM", "Transformer")
}
(simple,) = stored.select(weeks="all", method="simple")
claim(
    "fore-1",
    "No: run again, the LSTM is off by £{lstm:,.0f} and the Transformer by £{transformer:,.0f}, but *as last week* only by £{naive:,.0f}.",
    lstm=fmean(in_runs["LSTM"]),
    transformer=fmean(in_runs["Transformer"]),
    naive=simple["last week, mae"],
    holds=lambda lstm, transformer, naive: (
        naive < 0.6 * min(lstm, transformer) and max(lstm, transformer) < 250_000
    ),
    experiment="weekly_sales",
    scale="54 weeks, of which 8 are the test; windows of 8; each at its best of four rates; ten seeds",
)

# %% [markdown]
# (claim-fore-2)=

# %% tags=["evidence"]
local, together = (
    fmean(by_group["LSTM"][i].tolist() + by_group["Transformer"][i].tolist()) for i in (0, -1)
)
classic = min(alone["ETS"], alone["SARIMAX"])
claim(
    "fore-2",
    "Yes, if there are many series: with 100, LSTM and Transformer have a mean error of {together:.2f}; with one each, {local:.2f}; the best classical method, {classic:.2f}.",
    together=together,
    local=local,
    classic=classic,
    holds=lambda together, local, classic: together < classic < local,
    experiment="many_series",
    scale=f"MASE; generated daily sales, three years, 14 days ahead, promotions known; five series judged; {many.parameters['steps']:,} steps; two seeds",
)

# %% [markdown]
# (claim-fore-9)=

# %% tags=["evidence"]
before, after = (
    fmean(
        covered.column(when, method=name)[i]
        for name in covered.parameters["method"]
        for i in range(3)
    )
    for when in ("before", "after")
)
claim(
    "fore-9",
    "Yes, if it is calibrated: of later sales, learned intervals of 80% hold {before:.0%}, and calibrated ones {after:.0%}.",
    before=before,
    after=after,
    holds=lambda before, after: (
        abs(after - 0.8) < 0.03 and abs(before - 0.8) > abs(after - 0.8) + 0.01
    ),
    experiment="sales_coverage",
    scale="three networks, 100 generated series, calibrated on four origins and judged on four later ones; three seeds",
)

# %% [markdown]
# ## Exercises
#
# Two more are on the [deeper page](deeper/14_forecasting.ipynb), and all solutions are on [a page of their own](solutions/14_forecasting.ipynb).

# %% [markdown]
# ```{exercise} Predict: which constant has the smallest MAPE?
# :label: exercise-mape-optimum
#
# *Core, 4 minutes.* On seven days, a shop sells 20, 30, 60, 80, 100, 130 and 210 pieces. Which constant forecast has the smallest MAPE? (The median, 80, has the smallest MAE.) ([Solution](solutions/14_forecasting.ipynb#solution-mape-optimum))
# ```

# %%
mape_optimum = None  # a number
check("mape_optimum", mape_optimum)

# %% [markdown]
# ```{exercise} Large weeks count for more
# :label: exercise-weighted-mae
#
# *Core, 8 minutes.* Return the article's weighted MAE: the sum of $w\,|y - \hat{y}|$ over the sum of $w$. A week's weight $w$ is its sales $y$ over the median of the known weeks, at least 1 and at most 5. The median of an even number of weeks is halfway between the two in the middle. ([Solution](solutions/14_forecasting.ipynb#solution-weighted-mae))
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
# *Core, 8 minutes.* Cut a series into pairs: S steps, and the T that follow. Training pairs lie in the first n_train steps and test pairs in the rest; a pair across the border is in neither. In each part, a pair begins at every step, in order, as long as it fits. ([Solution](solutions/14_forecasting.ipynb#solution-windows))
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
# *Core, 7 minutes.* Move and divide each series so that its first `origin` steps have mean 0 and deviation 1, and later steps in the same way. (The deviation divides by the number of steps, not by one less.) A past that stays the same is only moved to 0. ([Solution](solutions/14_forecasting.ipynb#solution-scaled-by-past))
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
    "measure how far off a forecast is, and say what a measure rewards": "smape weighted_mae mape_optimum",
    "hold a forecast against *as last week* before you believe in it": "seasonal_naive",
    "let the origin roll, so that no forecast is judged by what it has seen": "rolling_origin windows",
    "find the step of a pipeline that sees the future": "which_leaks scaled_by_past",
    "put an interval around a forecast, and count how much it holds": "conformal_width",
    "say when a network is better than a simple forecast": "seasonal_naive",
}
checklist({point: ids.split() for point, ids in points.items()})

# %% [markdown]
# So networks forecast well where they see many series, and they need a rival who costs nothing, or nobody notices when they fail. Today one network learned a rule from its data that another never found, although both saw enough. **Tomorrow** we ask what a network can compute, and what it gains from being larger.

# %% [markdown]
# ## Further reading
#
# - {cite:t}`hyndman2021forecasting`: the textbook of forecasting, free to read, with all the simple methods.
# - {cite:t}`hyndman2006another`: what is wrong with percentages, and the MASE.
# - {cite:t}`zeng2023transformers`: a linear layer against Transformers; the [deeper page](deeper/14_forecasting.ipynb) repeats it.
# - {cite:t}`romano2019conformalized`: intervals from quantiles, calibrated.
