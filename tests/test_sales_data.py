"""Series of sales: the shop's, a reader's own, and those that are generated from their truth."""

import hashlib
import math
from dataclasses import fields
from importlib import resources

import numpy as np
import pytest
import torch
from test_files import is_one_sentence

from utils import ROOT
from utils.data.files import DatasetError
from utils.data.sales import HOLIDAYS, Market, Series, daily_sales, generate, read_series, weekly
from utils.data.sales.library import co2, sunspots

# The shop's ---------------------------------------------------------------------------------------


def test_the_file_is_the_one_that_the_readme_names():
    found = hashlib.sha256((ROOT / "data" / "online_retail_uk_daily.csv").read_bytes()).hexdigest()
    rows = (ROOT / "data" / "README.md").read_text(encoding="utf-8").splitlines()
    (row,) = [row for row in rows if "| `online_retail_uk_daily.csv` |" in row]
    assert found in row and "CC BY 4.0" in row and "739" in row


def test_the_shop_has_739_days():
    days = daily_sales()
    assert days.values.shape == (739,) and days.values.dtype == torch.float64
    assert (np.diff(days.dates) == np.timedelta64(1, "D")).all()
    assert str(days.dates[0]) == "2009-12-01" and days.values[0] == 47831.13
    assert str(days.dates[-1]) == "2011-12-09" and days.values[-1] == 196134.1
    assert (days.values == 0).sum() == 135 and days.values.min() == 0
    later = daily_sales("2010-12-01")
    assert torch.equal(later.values, days.values[365:]) and (later.dates == days.dates[365:]).all()
    for start in ("2012-01-01", "2009-11-30"):
        with pytest.raises(ValueError, match=f"^{start} .*2009-12-01 to 2011"):
            daily_sales(start)
    for start in ("soon", "1/12/2010"):
        with pytest.raises(ValueError, match=f"'{start}' .*date"):
            daily_sales(start)


@pytest.mark.parametrize("first", [True, False])
@pytest.mark.parametrize("last", [True, False])
def test_weeks_are_sums_from_monday_to_sunday(first, last):
    days = daily_sales("2010-12-01")  # a Wednesday, to a Friday
    weeks = weekly(days, first=first, last=last)
    assert len(weeks.values) == 52 + first + last
    for monday, total in zip(weeks.dates, weeks.values, strict=True):
        assert monday.astype(object).weekday() == 0
        within = (days.dates >= monday) & (days.dates < monday + np.timedelta64(7, "D"))
        torch.testing.assert_close(total, days.values[torch.from_numpy(within)].sum())


def test_a_whole_week_counts_always():
    dates = np.datetime64("2011-01-03") + np.arange(14)  # a Monday
    days = Series(dates, torch.arange(14.0, dtype=torch.float64))
    for partial in (True, False):
        weeks = weekly(days, first=partial, last=partial)
        assert weeks.values.tolist() == [21, 70] and (weeks.dates == dates[[0, 7]]).all()


@pytest.mark.parametrize(
    "dates, sentence",
    [
        (["2011-01-03"], "Only a daily series"),
        (["2011-01-03", "2011-01-05"], "Only a daily series"),
        (["2011-01-03", "2011-01-04"], "No whole week is in the days 2011-01-03 to 2011-01-04"),
    ],
)
def test_what_makes_no_weeks_is_refused(dates, sentence):
    days = Series(np.array(dates, dtype="datetime64[D]"), torch.ones(len(dates)).double())
    with pytest.raises(ValueError, match=sentence):
        weekly(days, first=False, last=False)


# The library's ------------------------------------------------------------------------------------


def test_carbon_dioxide_is_of_months_and_has_no_gap():
    series = co2()
    assert series.values.shape == (526,) and series.values.isfinite().all()
    months = series.dates.astype("datetime64[M]")
    assert (np.diff(months) == np.timedelta64(1, "M")).all()
    assert (series.dates == months.astype("datetime64[D]")).all()
    by_month = dict(zip(map(str, months), series.values.tolist(), strict=True))
    assert by_month["1958-03"] == 316.1  # a single week
    assert by_month["1958-04"] == pytest.approx((317.3 + 317.6 + 317.5 + 316.4) / 4)
    assert by_month["1958-06"] == pytest.approx((by_month["1958-05"] + by_month["1958-07"]) / 2)
    step = (by_month["1964-05"] - by_month["1964-01"]) / 4
    for i, month in enumerate(("1964-02", "1964-03", "1964-04"), start=1):
        assert by_month[month] == pytest.approx(by_month["1964-01"] + i * step)
    assert by_month["2001-12"] == pytest.approx(371.02)


@pytest.mark.parametrize("name", ["co2", "sunspots"])
def test_the_librarys_files_are_those_that_the_readme_names(name):
    path = f"datasets/{name}/{name}.csv"
    held = resources.files("statsmodels").joinpath(path).read_bytes()
    rows = (ROOT / "data" / "README.md").read_text(encoding="utf-8").splitlines()
    (row,) = [row for row in rows if f"| `{path}` |" in row]
    assert hashlib.sha256(held).hexdigest() in row and "public domain" in row


def test_sunspots_are_of_309_years():
    series = sunspots()
    assert series.values.shape == (309,) and series.values.dtype == torch.float64
    assert [str(day) for day in series.dates] == [f"{year}-01-01" for year in range(1700, 2009)]
    assert series.values[:2].tolist() == [5, 11] and series.values[-1] == 2.9
    past = series.values - series.values.mean()
    by_lag = [(past[lag:] * past[:-lag]).mean().item() for lag in range(5, 18)]
    assert by_lag.index(max(by_lag)) + 5 in (10, 11)


# A reader's own -----------------------------------------------------------------------------------


def saved(tmp_path, text, encoding="utf-8"):
    path = tmp_path / "mine.csv"
    path.write_text(text, encoding=encoding)
    return path


@pytest.mark.parametrize(
    "text",
    [
        "day,sold\n2011-01-30,1.5\n2011-01-31,0\n2011-02-01,-2e3\n",
        "\ufeffday,sold\r\n2011-01-30, 1.5\r\n2011-01-31,0\r\n\r\n2011-02-01,-2000",
        'day,"sold"\n"2011-01-30","1.5"\n2011-01-31,0\n2011-02-01,-2000\n',
        "day; in June,sold; in pounds | net\n2011-01-30,1.5\n2011-01-31,0\n2011-02-01,-2000\n",
    ],
)
def test_tables_as_programs_write_them_are_read(tmp_path, text):
    series = read_series(saved(tmp_path, text))
    assert series.values.tolist() == [1.5, 0, -2000]
    assert [str(day) for day in series.dates] == ["2011-01-30", "2011-01-31", "2011-02-01"]


def test_the_column_that_is_asked_for_is_read(tmp_path):
    path = saved(tmp_path, "day,a,b\n2011-01-01,1,4\n2011-01-02,2,5\n")
    assert read_series(path, "b").values.tolist() == [4, 5]
    assert read_series(str(path), "a").values.tolist() == [1, 2]
    for column, sentence in ((None, "say which column"), ("c", "no 'c'"), ("day", "no 'day'")):
        with pytest.raises(DatasetError, match=f"{sentence}.*, among 'a', 'b'") as caught:
            read_series(path, column)
        is_one_sentence(caught.value)


@pytest.mark.parametrize(
    "dates",
    [
        ["2011-01-01", "2011-02-01", "2011-03-01", "2011-04-01"],
        ["2011-01-03", "2011-01-10", "2011-01-17"],
        ["2011-02-01", "2011-03-01"],
        ["2012-01-31", "2012-02-29", "2012-03-31", "2012-04-30"],
        ["2011-03-31", "2011-06-30", "2011-09-30", "2011-12-31"],
    ],
)
def test_days_weeks_and_months_are_equal_steps(tmp_path, dates):
    text = "day,sold\n" + "".join(f"{day},1\n" for day in dates)
    assert [str(day) for day in read_series(saved(tmp_path, text)).dates] == dates


def test_two_columns_of_one_name_are_refused_if_that_is_asked_for(tmp_path):
    path = saved(tmp_path, "day,a,b,a\n2011-01-01,1,4,7\n2011-01-02,2,5,8\n")
    assert read_series(path, "b").values.tolist() == [4, 5]
    with pytest.raises(DatasetError, match="two columns .*'a'") as caught:
        read_series(path, "a")
    is_one_sentence(caught.value)


BEGUN = "day,sold\n2011-01-01,1\n2011-01-02,2\n"


@pytest.mark.parametrize(
    "text, sentence",
    [
        ("day;sold\n2011-01-01;1\n", "separated by semicolons, so save it with commas"),
        ("day\tsold\n2011-01-01\t1\n", "separated by tabs"),
        ("day;sold, pounds\n2011-01-01;1\n", "separated by semicolons"),
        ("day|sold, in pounds, net\n\n2011-01-01|1,5\n2011-01-02|2,5\n", "separated by bars"),
        ("", "its first line names no two columns"),
        ("2011\n", "its first line names no two columns"),
        (BEGUN + "2011-01-03,\n", "line 4: '' is no number"),
        (BEGUN + "2011-01-03,NaN\n", "line 4: 'NaN' is no number"),
        (BEGUN + "2011-01-03,inf\n", "line 4: 'inf' is no number"),
        (BEGUN + "2011-01-03,many\n", "line 4: 'many' is no number"),
        (BEGUN + "2011-01-03,1,234\n", "line 4: it has 3 columns where the names are 2"),
        (BEGUN + "03/01/2011,1\n", "line 4: '03/01/2011' is no date"),
        (BEGUN + "2011-02-30,1\n", "line 4: '2011-02-30' is no date"),
        (BEGUN + "2011-01-02,1\n", "2011-01-02 is there twice"),
        (BEGUN + "2010-12-31,1\n", "2010-12-31 comes after 2011-01-02"),
        (BEGUN + "2011-01-04,1\n", "missing after 2011-01-02, and a series needs one each day"),
        (
            "day,sold\n2011-01-03,1\n2011-01-10,1\n2011-01-24,1\n2011-01-31,1\n",
            "missing after 2011-01-10, and a series needs one each 7 days",
        ),
        (
            "day,sold\n2011-01-05,1\n2011-02-05,1\n2011-04-05,1\n",
            "missing after 2011-02-05, and a series needs one each month",
        ),
        (
            "day,sold\n2011-01-31,1\n2011-02-28,1\n2011-04-30,1\n",
            "missing after 2011-02-28, and a series needs one each month",
        ),
        ("day,sold\n2011-01-01,1\n", "it has 1 value, and at least 2 are needed"),
        ("day,sold\n", "it has 0 values, and at least 2 are needed"),
        ("2011-01-01,1\n2011-01-02,2\n", "its first line has a date already, so write a line of"),
        ('day,"sold\n2011-01-01,1\n2011-01-02,2\n', "line 1: a quotation mark has no partner"),
        (BEGUN + '2011-01-03,"3\n2011-01-04,4\n', "line 4: a quotation mark has no partner"),
        ('day,"sold\nnet"\n2011-01-01,1\n2011-01-02,x\n', "line 4: 'x' is no number"),
    ],
)
def test_each_fault_of_a_table_gets_one_sentence(tmp_path, text, sentence):
    with pytest.raises(DatasetError, match=sentence) as caught:
        read_series(saved(tmp_path, text))
    is_one_sentence(caught.value)


def test_a_file_that_is_missing_in_another_encoding_or_too_short_gets_one_sentence(tmp_path):
    cases = [
        (tmp_path / "nothing.csv", 2, "it can't be read"),
        (saved(tmp_path, "Tag,Erlös in Läden\n", "utf-16"), 2, "isn't text in UTF-8"),
    ]
    for path, least, sentence in cases:
        with pytest.raises(DatasetError, match=sentence) as caught:
            read_series(path, least=least)
        is_one_sentence(caught.value)
    with pytest.raises(DatasetError, match=" 2 values.* 14 ") as caught:
        read_series(saved(tmp_path, BEGUN), least=14)
    is_one_sentence(caught.value)


# Generated ones -----------------------------------------------------------------------------------

NONE = Market(**{field.name: 0 for field in fields(Market)})


def only(**strong):
    return Market(**{field.name: 0 for field in fields(Market)} | strong)


def test_values_are_the_product_of_the_parts():
    sales = generate(5, 800, seed=1)
    product = torch.ones(5, 800, dtype=torch.float64)
    for part in sales.parts.values():
        assert part.shape == (5, 800)
        product = product * part
    torch.testing.assert_close(product, sales.values)
    assert sales.values.min() == 0 and sales.known.shape == (5, 800, 2)
    true = product / sales.parts["noise"]
    stock = sales.parts["in stock"] == 1
    torch.testing.assert_close(sales.expected()[stock], true[stock])
    assert (sales.expected() > 0).all()


def test_seeds_differ_and_more_or_longer_series_begin_alike():
    short, long = generate(3, 100, seed=4), generate(5, 230, seed=4)
    assert torch.equal(short.values, long.values[:3, :100])
    assert torch.equal(short.known, long.known[:3, :100])
    assert not torch.isclose(short.values, generate(3, 100, seed=5).values).all(dim=1).any()
    assert len({*long.values[:, 0].tolist()}) == 5


def test_a_part_of_strength_0_is_1():
    for name, part in generate(3, 400, market=NONE).parts.items():
        assert name == "level" or (part == 1).all(), name


def test_week_and_year_have_their_strength_and_their_period():
    sales = generate(40, 2 * 365, seed=2, market=only(week=0.3, year=0.4))
    week, year = (sales.parts[name].log() for name in ("week", "year"))
    assert torch.equal(week[:, 7:], week[:, :-7]) and not torch.equal(week[:, 1:], week[:, :-1])
    assert week.std(dim=1).mean() == pytest.approx(0.3, rel=0.1)
    assert year[:, :365].std(dim=1).mean() == pytest.approx(0.4, rel=0.1)
    torch.testing.assert_close(year[:, 365:], year[:, :365], atol=0.02, rtol=0)
    for part in (week, year):  # alike in all series but for the strength
        ratios = part[1:] / part[0]
        torch.testing.assert_close(ratios, ratios[:, :1].expand_as(ratios), rtol=1e-6, atol=1e-6)


def test_trends_promotions_and_holidays_act_where_they_are():
    sales = generate(200, 365, seed=9, market=only(trend=0.5, promotion=0.6, promoted=0.2))
    growth = (sales.parts["trend"][:, 364] / sales.parts["trend"][:, 0]).log()
    assert growth.std() == pytest.approx(0.5, rel=0.2) and abs(growth.mean()) < 0.15
    promoted = sales.known[:, :, 0]
    assert promoted.mean() == pytest.approx(0.2, abs=0.02)
    assert torch.equal(promoted[:, :364].unfold(1, 7, 7).sum(dim=2) % 7, torch.zeros(200, 52))
    lift = sales.parts["promotion"].log()
    assert (lift[promoted == 0] == 0).all()
    assert lift[promoted == 1].mean() == pytest.approx(0.6, rel=0.1)
    strength = lift.sum(dim=1) / promoted.sum(dim=1)  # of each series
    assert strength[promoted.any(dim=1)].std() == pytest.approx(0.6 / 3, rel=0.2)

    sales = generate(2, 800, market=only(holiday=0.5))
    days = [str(day)[5:] for day in sales.dates[sales.known[0, :, 1] == 1]]
    assert set(days) == set(HOLIDAYS) and sales.known[:, :, 1].sum(dim=1).tolist() == [17, 17]
    assert ((sales.parts["holiday"] != 1) == (sales.known[:, :, 1] == 1)).all()


def test_shelves_are_empty_in_runs_and_the_level_shifts_as_often_as_asked():
    sales = generate(100, 1000, seed=6, market=only(empty=0.05, shift=0.5, shifts=0.8))
    empty = sales.parts["in stock"] == 0
    assert empty.double().mean() == pytest.approx(0.05, rel=0.15)
    assert torch.equal(empty, sales.values == 0)
    begins = (empty[:, 1:] & ~empty[:, :-1]).sum()
    assert empty.sum() / begins == pytest.approx(3, rel=0.15)
    jumps = sales.parts["shift"].log().diff(dim=1)
    moved = jumps[jumps.abs() > 1e-9]
    torch.testing.assert_close(moved.abs(), torch.full_like(moved, 0.5))
    assert len(moved) / 100 == pytest.approx(0.8 * 1000 / 365.25, rel=0.2)
    assert 0.3 < (moved > 0).double().mean() < 0.7


def test_noise_is_skewed_with_a_mean_of_1_and_quantiles_hold_what_they_say():
    sales = generate(300, 400, seed=7, market=Market(noise=0.6, empty=0))
    noise = sales.parts["noise"]
    assert noise.mean() == pytest.approx(1, abs=0.01)
    assert noise.median() == pytest.approx(math.exp(-(0.6**2) / 2), abs=0.02)
    for q in (0.1, 0.5, 0.9):
        below = sales.values <= sales.quantile(q)
        assert below.double().mean() == pytest.approx(q, abs=0.005)
        assert below.double().mean(dim=1).std() < 0.03  # in each series
    torch.testing.assert_close(sales.parts["noise"].log().std(dim=1), sales.sigma, rtol=0.2, atol=0)


@pytest.mark.parametrize(
    "call, sentence",
    [
        (lambda: Market(week=-0.1), "week is a number of at least 0, got -0.1"),
        (lambda: Market(noise=math.nan), "noise is a number"),
        (lambda: Market(promoted=1.2), "promoted is a share, at most 1, got 1.2"),
        (lambda: Market(empty=0.6), "empty is a share, at most 0.5"),
        (lambda: generate(0, 5), "n is a whole number of at least 1, got 0"),
        (lambda: generate(2.5, 5), "n is a whole number of at least 1, got 2.5"),
        (lambda: generate(5, 0), "T is a whole number of at least 1"),
        (lambda: generate(1, 5).quantile(1.0), "between 0 and 1, got 1.0"),
    ],
)
def test_what_makes_no_series_is_refused(call, sentence):
    with pytest.raises(ValueError, match=sentence):
        call()
