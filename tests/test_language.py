"""Day 9's layers: [to be written]."""

from utils import language


def test_the_module_says_what_it_is_about():
    assert language.__doc__.startswith("Day 9: ")
