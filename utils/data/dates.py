"""Dates as people write them, to be read as ISO 8601; and words whose language is to be told.

All of it comes from CLDR, the Unicode project's record of how languages write, by way of Babel.
Each release of Babel knows a newer CLDR: compare nothing that hangs on its exact letters.
"""

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from datetime import date, timedelta
from functools import cache
from typing import NamedTuple

import numpy as np
from babel import Locale, UnknownLocaleError
from babel.dates import format_date
from dateutil import parser

from utils.data.sources import folder_of

folder_of("babel")  # says so if these are not the words that the book measured

LOCALES = tuple("en_US en_GB de fr es it pt_BR nl pl ru tr zh".split())
FORMATS = ("short", "medium", "long", "full", "yMd", "yMMMEd")  # CLDR's lengths and skeletons
UNSEEN_FORMATS = ("yMEd", "GyMMMd")  # weekday and numbers; with the era: never in training
YEARS = range(1970, 2070)  # a hundred: the two digits of a short year say which


class Example(NamedTuple):
    """A date as people of one locale write it, and what it means."""

    text: str
    locale: str
    date: date
    format: str

    @property
    def target(self) -> str:
        """The date in ISO 8601, such as 2004-03-05."""
        return self.date.isoformat()


def render(day: date, locale: str, format: str) -> str:
    """Write a date: `format` is one of CLDR's lengths ("short") or skeletons ("yMMMEd").

    Raises: ValueError if the locale has no such format, or Babel no such locale.
    """
    return normalised(format_date(day, _pattern(locale, format), locale))


@cache
def _pattern(locale: str, format: str) -> str:
    try:
        known = Locale.parse(locale)
    except (ValueError, UnknownLocaleError) as error:
        raise ValueError(f"{locale!r} is not a locale: write it as in {LOCALES}.") from error
    for patterns in (known.date_formats, known.datetime_skeletons):
        if format in patterns:
            return patterns[format].pattern
    raise ValueError(f"{locale} has no format {format!r}: choose among {FORMATS + UNSEEN_FORMATS}.")


def normalised(text: str) -> str:
    """Write every kind of space (CLDR has narrow ones that do not break) as one plain space.

    Marks that cannot be seen are left out, and letters are composed (Unicode's form NFC).
    """
    seen = "".join(c for c in unicodedata.normalize("NFC", text) if unicodedata.category(c) != "Cf")
    return " ".join(seen.split())


def days(years: Iterable[int] = YEARS) -> list[date]:
    """All days of some years, in order."""
    found = []
    for year in years:
        first = date(year, 1, 1)
        n_days = (date(year + 1, 1, 1) - first).days
        found += [first + timedelta(days=i) for i in range(n_days)]
    return found


def split_days(seed: int = 0) -> tuple[list[date], list[date], list[date]]:
    """Divide the days of a century at random: 80 % to train, 10 % to validate, 10 % to test.

    No day is in two parts: a model that learnt texts by heart would know none of the test.
    """
    return _three_parts(days(), seed)


def _three_parts(items: Sequence, seed: int) -> tuple[list, list, list]:
    order = np.random.default_rng(seed).permutation(len(items))
    train, validation, test = np.split(order, [8 * len(items) // 10, 9 * len(items) // 10])
    return [items[i] for i in train], [items[i] for i in validation], [items[i] for i in test]


def examples(
    n: int,
    seed: int | Sequence[int],
    dates: Sequence[date],
    locales: Sequence[str] = LOCALES,
    formats: Sequence[str] = FORMATS,
) -> list[Example]:
    """Draw n examples: date, locale and format are each drawn evenly, on their own.

    Raises: ValueError if n < 1, or there is no date, locale or format to choose from.
    """
    if n < 1 or not (dates and locales and formats):
        raise ValueError(f"{n} examples of nothing: draw at least 1, from dates, locales, formats.")
    rng = np.random.default_rng(seed)
    drawn = zip(*(rng.integers(len(x), size=n) for x in (dates, locales, formats)), strict=True)
    return [
        Example(render(dates[i], locales[j], formats[k]), locales[j], dates[i], formats[k])
        for i, j, k in drawn
    ]


class Corpus(NamedTuple):
    """Examples to learn from, to choose with, and to judge with once, in two ways.

    `validation` and `test` have days that training never saw, `unseen_formats` the days of the
    test in formats that training never saw either.
    """

    train: list[Example]
    validation: list[Example]
    test: list[Example]
    unseen_formats: list[Example]


def corpus(n_train: int, n_held_out: int = 2000, seed: int = 0) -> Corpus:
    """Draw a corpus in twelve locales and six formats; no day is in two of its three parts.

    Raises: ValueError if a number is less than 1.
    """
    train, validation, test = split_days(seed)
    return Corpus(
        examples(n_train, [seed, 0], train),
        examples(n_held_out, [seed, 1], validation),
        examples(n_held_out, [seed, 2], test),
        examples(n_held_out, [seed, 3], test, formats=UNSEEN_FORMATS),
    )


def ceiling(
    dates: Iterable[date], locales: Sequence[str] = LOCALES, formats: Sequence[str] = FORMATS
) -> float:
    """The best share of exact answers that any reader who is not told the locale can expect.

    3/5/04 is a day in March here and one in May there. The best reader knows how often each
    meaning is meant, and answers with the most frequent one. Counted over all dates, locales and
    formats, each as likely as any other.

    Raises: ValueError if there is nothing to count.
    """
    meanings: dict[str, Counter] = defaultdict(Counter)
    for day in dates:
        for locale in locales:
            for format in formats:
                meanings[render(day, locale, format)][day] += 1
    if not meanings:
        raise ValueError("There is no text: give dates, locales and formats.")
    best = sum(max(counts.values()) for counts in meanings.values())
    return best / sum(counts.total() for counts in meanings.values())


# What rules can do


def parse_with_dateutil(text: str, locale: str | None = None) -> date | None:
    """Read a date by dateutil's rules and CLDR's names of months; other words are passed over.

    With a locale: its names, and its order of day and month. Without: the names of all twelve
    locales at once, and the day first, as most of them have it. In both, a year in front is
    followed by the month, two digits are a year of `YEARS`, and if day, month and year are there
    already, a name of a month in front is a weekday: Spanish "mar" is Tuesday as well as March.

    Returns: the date, or None if the rules find none.
    Raises: ValueError if Babel knows no such locale.
    """
    rules = _rules((locale,) if locale else LOCALES)
    months = [word for word in re.findall(r"[^\W\d]+", text) if rules.month(word)]
    n_parts = len(months) + len(re.findall(r"\d+", text))
    if n_parts < 3:
        return None
    if n_parts > 3 and months:
        text = text.replace(months[0], "", 1)
    text = re.sub(r"(?<=\d)(?=[^\W\d])|(?<=[^\W\d])(?=\d)", " ", text)  # 3月5日: 3 月 5 日
    day_first = rules.dayfirst and not re.match(r"\D*\d{4}", text)
    try:
        return parser.parse(text, rules, dayfirst=day_first, fuzzy=True).date()
    except (parser.ParserError, OverflowError):
        return None


@cache
def _rules(locales: tuple[str, ...]) -> parser.parserinfo:
    """What dateutil needs to know of some locales."""
    orders = [re.sub(r"[^dMy]", "", _pattern(locale, "yMd")) for locale in locales]
    day_first = [order.index("d") < order.index("M") for order in orders]
    months = [
        Locale.parse(locale).months[context][width]
        for locale in locales
        for context in ("format", "stand-alone")
        for width in ("abbreviated", "wide")
    ]

    class Rules(parser.parserinfo):
        MONTHS = [tuple({names[i].rstrip(".") for names in months}) for i in range(1, 13)]
        WEEKDAYS = []

        def convertyear(self, year, century_specified=False):
            if century_specified or year >= 100:
                return year
            return year + (1900 if year >= YEARS[0] % 100 else 2000)

    return Rules(dayfirst=2 * sum(day_first) > len(locales))


# Words whose language is to be told

LANGUAGES = tuple("cs de en es fi fr it nl pl pt sv tr".split())  # all in Latin letters


class Word(NamedTuple):
    """A word and the language that it is from."""

    text: str
    language: str


def language_words(seed: int = 0) -> tuple[list[Word], list[Word], list[Word]]:
    """Words of twelve languages: 80 % to train, 10 % to validate, 10 % to test.

    They are names of months, weekdays, languages and countries, cut at spaces and hyphens, in
    small letters, three or more of them. A word that several of the languages have ("april") is
    left out, so no word is in two parts, and none has two answers; related words ("island",
    "islands") may be in different parts.
    """
    return _three_parts(_of_one_language(_words), seed)


def more_training_words() -> list[Word]:
    """Words of the twelve languages to train on: currencies, scripts and time zones name more.

    None is in the other two parts of `language_words`.
    """
    held_out = {word.text for part in language_words()[1:] for word in part}
    words = _of_one_language(lambda language: _words(language, more=True))
    return [word for word in words if word.text not in held_out]


def _of_one_language(words_of: Callable[[str], set[str]]) -> list[Word]:
    languages_of = defaultdict(set)
    for language in LANGUAGES:
        for word in words_of(language):
            languages_of[word].add(language)
    return [Word(word, *of) for word, of in sorted(languages_of.items()) if len(of) == 1]


def _words(language: str, more: bool = False) -> set[str]:
    """The words that CLDR has in a language."""
    known = Locale.parse(language)
    tables = [known.languages, known.territories]
    tables += [kind["format"]["wide"] for kind in (known.months, known.days)]
    if more:
        tables += [known.currencies, known.scripts, known.variants]
        tables += [zone.get("long", {}) for zone in known.meta_zones.values()]
        tables += [{"city": zone["city"]} for zone in known.time_zones.values() if "city" in zone]
    names = " ".join(name for table in tables for name in table.values())
    small = normalised(names.replace("İ", "i").lower())  # Turkish: İ would become i and a dot
    return {word for word in re.findall(r"[^\W\d_]+", small) if len(word) > 2}
