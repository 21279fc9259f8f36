"""Day 12's layers: [to be written]."""

from utils import vision


def test_the_module_says_what_it_is_about():
    assert vision.__doc__.startswith("Day 12: ")
