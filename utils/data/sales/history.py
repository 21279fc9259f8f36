"""A series of sales: the shop's that ships with the book, or the reader's own."""

import csv
import math
from collections import Counter
from collections.abc import Sequence
from datetime import date
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from utils import ROOT
from utils.data.files import DatasetError

FILE = "online_retail_uk_daily.csv"
SEPARATORS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}
WEEK = 7


class Series(NamedTuple):
    """One number for each date: equally many days apart, or a month."""

    dates: np.ndarray  # (T,) of datetime64[D]
    values: Tensor  # (T,), float64


def daily_sales(start: str = "2009-12-01") -> Series:
    """Load what a shop sold in the United Kingdom, in pounds a day; without trade it is 0.

    They are sums of UCI's Online Retail II (Chen, 2019), to 9 December 2011.
    start: the first day, as "2010-12-01".
    Raises: ValueError if this is none of the days, or no date.
    """
    series = read_series(ROOT / "data" / FILE, column="total price")
    try:
        day = np.datetime64(start, "D")
    except ValueError:
        raise ValueError(
            f"{start!r} is no date, so write it as year, month and day, 2010-12-01."
        ) from None
    first = np.flatnonzero(series.dates == day)
    if not len(first):
        raise ValueError(f"{start} is none of the days {series.dates[0]} to {series.dates[-1]}.")
    return Series(series.dates[first[0] :], series.values[first[0] :])


def weekly(days: Series, *, first: bool = True, last: bool = True) -> Series:
    """Add up days to weeks, from Monday to Sunday, each under the date of its Monday.

    first, last: whether the first and the last week count if some of their days are missing.
    Raises: ValueError if the series isn't daily, or no week is left.
    """
    if len(days.dates) < 2 or (np.diff(days.dates) != np.timedelta64(1, "D")).any():
        raise ValueError("Only a daily series, of two days or more, can be added up to weeks.")
    epoch_weekday = 3  # 1 January 1970 was a Thursday
    week = (days.dates.astype(int) + epoch_weekday) // WEEK
    numbers, n_days = np.unique(week, return_counts=True)
    sums = torch.zeros(len(numbers), dtype=torch.float64)
    sums.index_add_(0, torch.from_numpy(week - week[0]), days.values)
    counts = np.ones(len(numbers), dtype=bool)
    counts[0] &= first or n_days[0] == WEEK
    counts[-1] &= last or n_days[-1] == WEEK
    if not counts.any():
        raise ValueError(f"No whole week is in the days {days.dates[0]} to {days.dates[-1]}.")
    mondays = (numbers * WEEK - epoch_weekday).astype("datetime64[D]")
    return Series(mondays[counts], sums[torch.from_numpy(counts)])


def read_series(path: Path | str, column: str | None = None, *, least: int = 2) -> Series:
    """Read a series from a table: a line of names, then a line for each date, with commas.

    The first column has the dates, as 2010-12-01, in order: each day, each so many days, or each
    month, under the same day of it or under its last.
    column: the name of the column with the values; not needed if the table has two columns.
    least: how many values are needed, 2 or more.
    Raises: DatasetError if the table can't be read, has no names or no such column, or lacks a
        value or a date.
    """
    path = Path(path)
    (_, names), *rows = _rows(path)
    place = _place(path, names, column)
    dates, values = [], []
    for number, row in rows:
        if row:  # no empty line
            where = f"{path}, line {number}"
            if len(row) != len(names):
                raise DatasetError(
                    f"{where}: it has {len(row)} columns where the names are {len(names)}, so "
                    "write each number with a point and without commas."
                )
            dates.append(_date(where, row[0]))
            values.append(_value(where, row[place]))
    if len(values) < max(least, 2):
        what = "1 value" if len(values) == 1 else f"{len(values)} values"
        raise DatasetError(f"{path}: it has {what}, and at least {max(least, 2)} are needed.")
    days = np.array(dates, dtype="datetime64[D]")
    _check_dates(path, days)
    return Series(days, torch.tensor(values, dtype=torch.float64))


def _rows(path: Path) -> list[tuple[int, list[str]]]:
    """The cells of a table, each row with the number of its first line; the names come first."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise DatasetError(f"{path}: it can't be read ({error.strerror}).") from None
    except UnicodeDecodeError:
        raise DatasetError(f"{path}: it isn't text in UTF-8, so save it as CSV in UTF-8.") from None
    lines = text.splitlines()
    used = _separator(lines)
    if used != ",":
        raise DatasetError(
            f"{path}: its columns are separated by {SEPARATORS[used]}, so save it with commas."
        )
    if not lines or "," not in lines[0]:
        raise DatasetError(f"{path}: its first line names no two columns, a date and a value.")
    rows, reader, begins = [], csv.reader(lines, strict=True), 1
    try:
        for row in reader:
            rows.append((begins, row))
            begins = reader.line_num + 1
    except csv.Error:
        raise DatasetError(
            f"{path}, line {begins}: a quotation mark has no partner at the end of its cell, so "
            "take it out."
        ) from None
    return rows


def _separator(lines: Sequence[str]) -> str:
    """The one that comes first in most lines: later in a line, a mark may belong to a number."""
    marks = [[mark for mark in line if mark in SEPARATORS] for line in lines]
    first = Counter(of_line[0] for of_line in marks if of_line)
    return max(first, key=first.get, default=",")


def _place(path: Path, names: Sequence[str], column: str | None) -> int:
    """The place of the column that is asked for."""
    if _as_date(names[0]):
        raise DatasetError(
            f"{path}: its first line has a date already, so write a line of names above it."
        )
    if column is None and len(names) == 2:
        return 1
    if names[1:].count(column) > 1:
        raise DatasetError(f"{path}: two columns are called {column!r}, so rename one of them.")
    if column in names[1:]:
        return names.index(column, 1)
    known = ", ".join(map(repr, names[1:]))
    asked = "say which column is to be read" if column is None else f"there is no {column!r}"
    raise DatasetError(f"{path}: {asked}, among {known}.")


def _as_date(cell: str) -> date | None:
    try:
        return date.fromisoformat(cell.strip())
    except ValueError:
        return None


def _date(where: str, cell: str) -> date:
    found = _as_date(cell)
    if found is None:
        raise DatasetError(
            f"{where}: {cell!r} is no date, so write it as year, month and day, 2010-12-01."
        )
    return found


def _value(where: str, cell: str) -> float:
    try:
        value = float(cell)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise DatasetError(
            f"{where}: {cell!r} is no number, so write the value that belongs there (0 if nothing "
            "was sold)."
        )
    return value


def _check_dates(path: Path, days: np.ndarray) -> None:
    """Raise a DatasetError if dates are not in order, equally far apart, and each there once."""
    for before, after in pairwise(days):
        if after <= before:
            what = "is there twice" if after == before else f"comes after {before}"
            raise DatasetError(f"{path}: {after} {what}, and each date comes once, in order.")
    gaps, months = np.diff(days), days.astype("datetime64[M]")
    first, next_first = (month.astype(days.dtype) for month in (months, months + 1))
    alike = len({*(days - first)}) == 1 or (days + 1 == next_first).all()  # or all ends of months
    if alike and gaps.min().astype(int) >= 28:
        gaps = np.diff(months)
    if (gaps != gaps.min()).any():
        before = days[np.argmax(gaps != gaps.min())]
        raise DatasetError(
            f"{path}: dates are missing after {before}, and a series needs one each "
            f"{_said(gaps.min())} (0 if nothing was sold)."
        )


def _said(step: np.timedelta64) -> str:
    """A step in words: day, 7 days, month."""
    unit = {"D": "day", "M": "month"}[np.datetime_data(step)[0]]
    n = int(step.astype(int))
    return unit if n == 1 else f"{n} {unit}s"
