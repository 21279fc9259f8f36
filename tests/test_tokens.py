"""Day 8's layers: [to be written]."""

from utils import tokens


def test_the_module_says_what_it_is_about():
    assert tokens.__doc__.startswith("Day 8: ")
