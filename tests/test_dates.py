"""Dates mean what they say, no part knows another's answers, and the ceiling is a ceiling."""

import re
import runpy
from collections import Counter
from datetime import date

import pytest

from utils.data import dates, sources
from utils.data.dates import (
    FORMATS,
    LANGUAGES,
    LOCALES,
    UNSEEN_FORMATS,
    YEARS,
    ceiling,
    corpus,
    days,
    examples,
    language_words,
    more_training_words,
    normalised,
    parse_with_dateutil,
    render,
    split_days,
)

DAY = date(2004, 3, 5)  # a Friday


@pytest.fixture(scope="module")
def small():
    return corpus(n_train=3000, n_held_out=600)


# How dates are written


def test_twelve_locales_write_a_date_in_their_way():
    assert len(set(LOCALES)) == 12
    assert render(DAY, "en_US", "short") == "3/5/04"
    assert render(DAY, "en_GB", "yMd") == "05/03/2004"
    assert render(DAY, "de", "long") == "5. März 2004"
    assert render(DAY, "zh", "long") == "2004年3月5日"
    for locale in LOCALES:
        texts = {format: render(DAY, locale, format) for format in FORMATS + UNSEEN_FORMATS}
        for format, text in texts.items():
            assert re.search(r"(20)?04", text) and "5" in text, (locale, format)
            assert text == normalised(text) and text.isprintable()


def test_spaces_are_plain_and_invisible_marks_are_gone():
    assert normalised("5\u202fмар.\u00a02004\u2009г.") == "5 мар. 2004 г."
    assert normalised("\u200f5\u2060/3 \t\n") == "5/3"
    assert normalised("Ma\u0308rz") == "März" and len(normalised("Ma\u0308rz")) == 4
    every = {c for e in examples(5000, 0, days()) for c in e.text if c.isspace()}
    assert every == {" "}


@pytest.mark.parametrize(
    ("locale", "format", "says"),
    [
        ("xx", "short", "'xx'"),
        ("", "short", "''"),
        ("de", "shortest", "de .*'shortest'"),
    ],
)
def test_no_such_way_to_write(locale, format, says):
    with pytest.raises(ValueError, match=says):
        render(DAY, locale, format)


def test_two_digits_of_a_year_say_which():
    assert len({year % 100 for year in YEARS}) == len(YEARS) == 100


# What is drawn


def test_days_are_all_days():
    every = days()
    assert every[0] == date(1970, 1, 1) and every[-1] == date(2069, 12, 31)
    assert len(set(every)) == len(every) == (every[-1] - every[0]).days + 1
    assert len(days([2004])) == 366 and len(days([2100])) == 365


def test_no_day_is_in_two_parts():
    parts = split_days()
    assert sum(map(len, parts)) == len(set().union(*parts)) == len(days())
    assert len(parts[0]) / len(days()) == pytest.approx(0.8, abs=0.01)
    assert split_days() == parts != split_days(seed=1)


def test_examples_are_what_they_say_and_hang_on_the_seed():
    drawn = examples(2000, 3, days([2004, 2005]))
    for example in drawn:
        assert example.text == render(example.date, example.locale, example.format)
        assert date.fromisoformat(example.target) == example.date and len(example.target) == 10
    assert {e.locale for e in drawn} == set(LOCALES) and {e.format for e in drawn} == set(FORMATS)
    assert max(Counter(e.locale for e in drawn).values()) < 2 * 2000 / 12
    assert drawn == examples(2000, 3, days([2004, 2005])) != examples(2000, 4, days([2004, 2005]))
    only = examples(20, 0, [DAY], locales=["tr"], formats=["short"])
    assert set(only) == {dates.Example(render(DAY, "tr", "short"), "tr", DAY, "short")}


def test_corpus_holds_out_days_and_formats(small):
    assert [len(part) for part in small] == [3000, 600, 600, 600]
    train, validation, test, unseen = ({e.date for e in part} for part in small)
    assert not train & validation and not train & test and not validation & test
    assert not train & unseen and not validation & unseen
    for part in small[:3]:
        assert {e.format for e in part} == set(FORMATS)
        assert {e.locale for e in part} == set(LOCALES)
    assert {e.format for e in small.unseen_formats} == set(UNSEEN_FORMATS)
    assert not set(FORMATS) & set(UNSEEN_FORMATS)
    seen = {c for e in small.train for c in e.text}
    assert all(set(e.text) <= seen for e in small.validation + small.test)
    ways = [[(e.locale, e.format) for e in part] for part in (small.validation, small.test)]
    assert ways[0] != ways[1]  # the parts are drawn on their own
    assert corpus(10, 10, seed=1) == corpus(10, 10, seed=1) != corpus(10, 10, seed=2)


@pytest.mark.parametrize(
    "arguments",
    [(0, 0, [DAY]), (1, 0, []), (1, 0, [DAY], []), (1, 0, [DAY], LOCALES, [])],
)
def test_nothing_to_draw(arguments):
    with pytest.raises(ValueError, match=f"^{arguments[0]} examples"):
        examples(*arguments)


# The ceiling


def test_ceiling_by_hand():
    both = ("en_US", "es")  # 3/5/04: March or May
    assert ceiling([date(2004, 3, 5)], both, ["short"]) == 1  # 3/5/04 and 5/3/04
    assert ceiling([date(2004, 3, 5), date(2004, 5, 3)], both, ["short"]) == 2 / 4
    assert ceiling([date(2004, 3, 5), date(2004, 5, 3)], ["en_US"], ["short"]) == 1
    twice = ("es", "en_US", "es")  # now May is meant more often
    assert ceiling([date(2004, 3, 5), date(2004, 5, 3)], twice, ["short"]) == 4 / 6
    three = [date(2004, 3, 5), date(2004, 5, 3), date(2004, 5, 5), date(2004, 5, 13)]
    assert ceiling(three, both, ["short"]) == 6 / 8
    with pytest.raises(ValueError, match="no text"):
        ceiling([])


def test_only_numbers_hide_their_order():
    year = days([2005])
    assert ceiling(year, formats=["medium", "long", "full"]) == 1
    assert 0.98 < ceiling(year) < 0.995
    ambiguous = sum(d.day <= 12 and d.day != d.month for d in year)
    lost = 2 * ambiguous / (len(year) * len(LOCALES) * len(FORMATS))  # short and yMd, one locale
    assert ceiling(year) == pytest.approx(1 - lost, abs=0.002)


def test_no_year_is_taken_for_another():
    two = days([2004, 2011])
    alone = [ceiling(days([year])) * len(days([year])) for year in (2004, 2011)]
    assert ceiling(two) == pytest.approx(sum(alone) / len(two), abs=1e-12)


# The rules


def test_rules_with_the_locale_read_all_and_without_it_all_that_can_be_known(small):
    for part in (small.test, small.unseen_formats):
        wrong = [e for e in part if parse_with_dateutil(e.text, e.locale) != e.date]
        assert len(wrong) <= 0.01 * len(part), wrong[:5]
        wrong = [e for e in part if parse_with_dateutil(e.text) != e.date]
        assert len(wrong) <= 0.04 * len(part), wrong[:5]
    # Without it, what is wrong is the order of day and month, where the day is not first.
    assert {e.locale for e in wrong} == {"en_US"}
    assert all(e.date.day <= 12 and e.date.day != e.date.month for e in wrong)


@pytest.mark.parametrize(
    ("text", "locale", "expected"),
    [
        ("3/5/04", "en_US", date(2004, 3, 5)),
        ("3/5/04", "es", date(2004, 5, 3)),
        ("3/5/04", None, date(2004, 5, 3)),
        ("1/2/69", "es", date(2069, 2, 1)),
        ("1/2/70", "es", date(1970, 2, 1)),
        ("mar, 2 mar 2004", "es", date(2004, 3, 2)),
        ("mar, 6 abr 2004", "es", date(2004, 4, 6)),
        ("mar, 6/4/2004", "es", date(2004, 4, 6)),
        ("2004年3月5日星期五", None, date(2004, 3, 5)),
        ("2004/3/5", "zh", date(2004, 3, 5)),
        ("", "de", None),
        ("gestern", "de", None),
        ("März 2004", "de", None),
        ("31.02.2004", "de", None),
        ("9" * 40, None, None),
    ],
)
def test_rules(text, locale, expected):
    assert parse_with_dateutil(text, locale) == expected


def test_rules_of_no_locale():
    with pytest.raises(ValueError, match="'xx'"):
        parse_with_dateutil("1/2/2004", "xx")


# Words


def test_words_are_in_one_part_and_one_language():
    parts = language_words()
    texts = [[word.text for word in part] for part in parts]
    assert sum(map(len, texts)) == len(set().union(*texts)) > 2000
    for part in parts:
        assert {word.language for word in part} == set(LANGUAGES)
    train, validation, test = map(len, texts)
    assert train / (train + validation + test) == pytest.approx(0.8, abs=0.01)
    assert language_words() == parts != language_words(seed=1)


def test_words_are_small_letters_and_say_their_language():
    words = {word.text: word.language for part in language_words() for word in part}
    assert all(re.fullmatch(r"[^\W\d_]{3,}", text) and text == text.lower() for text in words)
    assert all(len(normalised(text)) == len(text) for text in words)
    assert words["freitag"] == "de" and words["vendredi"] == "fr" and words["perşembe"] == "tr"
    for shared in ("april", "september", "august"):
        assert shared not in words
    assert len(LANGUAGES) == 12


def test_more_words_to_train_on_are_of_one_language_and_none_is_held_out():
    more = more_training_words()
    train, *held_out = ({word.text for word in part} for part in language_words())
    found = {word.text: word.language for word in more}
    assert len(found) == len(more) > 1.5 * len(train) and set(found.values()) == set(LANGUAGES)
    assert found.keys().isdisjoint(set().union(*held_out))
    assert len(found.keys() & train) > 0.8 * len(train)


def test_words_of_another_babel_than_the_locks_are_told(monkeypatch, capsys):
    version = sources.version
    monkeypatch.setattr(sources, "version", lambda p: "2.99" if p == "babel" else version(p))
    monkeypatch.setattr(sources, "folder_of", sources.folder_of.__wrapped__)  # which asks anew
    runpy.run_path(dates.__file__)
    assert re.match(r"The book reads the texts of babel \S+, and 2\.99 is", capsys.readouterr().out)
