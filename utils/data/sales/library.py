"""Two series that statsmodels brings along, longer than the shop's: no sales, but seasons.

They are read from the installed library. Airline passengers, the third that is often shown, aren't
among its files.
"""

import numpy as np
import torch
from statsmodels.datasets import co2 as weekly_co2
from statsmodels.datasets import sunspots as yearly_sunspots

from utils.data.sales.history import Series


def co2() -> Series:
    """Load the carbon dioxide in the air on Mauna Loa, 1958 to 2001: a mean a month, in ppm.

    The library's values are of weeks, 59 of them missing: a month's mean is of those it has.
    Five months have none, and lie on a line between those around them.
    """
    weeks = weekly_co2.load_pandas().data["co2"]
    months = weeks.resample("MS").mean().interpolate()
    return Series(months.index.to_numpy("datetime64[D]"), torch.tensor(months.to_numpy()))


def sunspots() -> Series:
    """Load the mean number of sunspots of each year, 1700 to 2008, under the date of its first day.

    They come and go in about eleven years.
    """
    table = yearly_sunspots.load_pandas().data
    years = np.array([f"{year:.0f}-01-01" for year in table["YEAR"]], dtype="datetime64[D]")
    return Series(years, torch.tensor(table["SUNACTIVITY"].to_numpy()))
