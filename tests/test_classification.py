"""Day 8's layers: [to be written]."""

from utils import classification


def test_the_module_says_what_it_is_about():
    assert classification.__doc__.startswith("Day 8: ")
