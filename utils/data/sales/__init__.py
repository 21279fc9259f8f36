"""A shop's sales, a reader's own series, and many series whose truth is known.

`daily_sales` is the shop's, `weekly` adds a series up, `read_series` reads a table of the reader's,
and `generate` writes series from parts that it gives back.
"""

from utils.data.sales.generated import HOLIDAYS, Market, Sales, generate
from utils.data.sales.history import Series, daily_sales, read_series, weekly

__all__ = [
    "HOLIDAYS",
    "Market",
    "Sales",
    "Series",
    "daily_sales",
    "generate",
    "read_series",
    "weekly",
]
