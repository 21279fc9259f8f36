"""From Convolution to Attention: what the book teaches, one concept a module."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
