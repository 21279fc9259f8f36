"""From Convolution to Attention: what the book teaches, one concept a module."""

import os
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

if os.environ.get("BOOK_SHAKE"):  # in a page's kernel: as on another processor
    from utils.measure.shaking.kernel import begin

    begin()
