"""Dates as people type them: of days in one part only, with a year that can be told."""

import numpy as np
import pytest

from utils.data.dates import LOCALES, YEARS, Example
from utils.data.text import EOS, UNK, Vocabulary
from utils.tasks.typed_dates import CENTURIES, brief, careless, drawn, in_ids, typed


class Always:
    """Chance that always gives the same."""

    def __init__(self, number: float):
        self.number = number

    def random(self) -> float:
        return self.number

    def integers(self, n: int) -> int:
        return n - 1


def test_no_day_is_in_both_parts_and_each_year_can_be_told():
    train, test = drawn(600, 200, 0)
    assert len(train) == 600 and len(test) == 200
    assert not {e.date for e in train} & {e.date for e in test}
    years = {e.date.year for e in train}
    assert years <= set(CENTURIES) and not years <= set(YEARS)
    for example in train + test:
        assert str(example.date.year) in example.text or example.date.year in YEARS
    assert drawn(600, 200, 0) == (train, test) != drawn(600, 200, 1)


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("Mar 5, 2004", "mar 5 2004"),
        ("5. März 2004", "5 marz 2004"),
        ("14 févr. 1993", "14 fevr 1993"),
        ("14.02.1993", "14.02.1993"),
        ("3/5/04", "3/5/04"),
        ("2004年3月5日", "2004年3月5日"),
    ],
)
def test_what_is_careless(text, plain):
    assert careless(text, Always(0.0)) == plain
    assert careless(text, Always(0.9)) == text


@pytest.mark.parametrize(
    ("text", "year", "short"),
    [
        ("05/03/2004", 2004, "5-3-04"),
        ("14.02.1993", 1993, "14-2-93"),
        ("14.02.04", 2004, "14-02-04"),  # else the year would lose its zero
        ("10.10.1903", 1903, "10-10-1903"),
        ("5 Mar 2004", 2004, "5 Mar 2004"),
        ("2004年3月5日", 2004, "2004年3月5日"),
    ],
)
def test_numbers_are_made_brief_and_words_are_not(text, year, short):
    assert brief(text, year, Always(0.0)) == short
    assert brief(text, year, Always(0.9)) == text


def test_only_where_the_month_is_a_word_another_country_may_be_named():
    day = drawn(1, 1, 0)[0][0].date
    worded, numbers = (
        Example("5 March 2004", "en_GB", day, "long"),
        Example("5/3/04", "en_GB", day, "short"),
    )
    assert typed(worded, Always(0.0)) == [f"<{LOCALES[-1]}>", *"5 march 2004"]
    assert typed(worded, Always(0.9)) == ["<en_GB>", *"5 March 2004"]
    assert typed(numbers, Always(0.0)) == ["<en_GB>", *"5-3-04"]
    assert typed(numbers, Always(0.9)) == ["<en_GB>", *"5/3/04"]


def test_now_and_then_a_letter_is_not_known_but_never_a_digit():
    known = Vocabulary(["<de>", *"5 Mai"])
    text = ["<de>", *"5 Mai 5"]
    assert in_ids(text, known) == [*known.encode(text), EOS]
    hidden = in_ids(text, known, Always(0.0))
    assert hidden.count(UNK) == 1 and hidden[-1] == EOS
    assert [i for i, id in enumerate(hidden) if id == UNK] == [6]
    assert UNK not in in_ids(["<de>", "5"], known, Always(0.0))
    chance = np.random.default_rng(0)
    assert sum(UNK in in_ids(text, known, chance) for _ in range(1000)) < 100
