"""Minutes of exercises: the formula, what readers counted, and what the lessons state."""

import math
import re
from importlib import import_module
from statistics import fmean

import pytest
from nbformat.v4 import new_markdown_cell, new_notebook

from utils.exercises.checking import Exercise, Prediction
from utils.press import budget, lessons, minutes, notebooks

each_day = pytest.mark.parametrize("day", lessons.days(), ids=lambda day: day.stem)
each_written_day = pytest.mark.parametrize(
    "day", [day for day in lessons.days() if day.written], ids=lambda day: day.stem
)
BOX = "```{exercise} Two words\n:label: exercise-a\n\n*5 minutes.* Write it.\n```"  # 6 words


def helper(x):
    y = x + 1
    return y


def reference(x):
    """Shapes: any."""
    if x is None:
        raise ValueError
    return helper(x) + helper(x)


def exercise(stages: int) -> Exercise:
    found = Exercise(reference)
    for number in range(stages):
        found.stage(f"stage {number}")(lambda: [(1,)])
    return found


def in_the_book(name: str) -> tuple[str, Exercise | Prediction]:
    """The box of an exercise, and the exercise."""
    for day in lessons.days():
        boxes = dict(minutes.boxes(day.stem))
        if name in boxes:
            topic = import_module(f"utils.exercises.{day.topic}")
            return boxes[name], topic.check.exercises[name]
    raise LookupError(name)


def test_an_estimate_is_statement_lines_and_a_failed_try():
    assert minutes.lines(reference) == 1 + 2  # its own line, and the helper's two
    assert minutes.estimate(BOX, exercise(4)) == pytest.approx(6 / 25 + 3 / 5 + 4 * 1.5)
    assert minutes.estimate(BOX, Prediction(lambda: 2)) == pytest.approx(6 / 25 + 2)


@pytest.mark.parametrize(
    ("told", "estimated", "counted", "whether"),
    [
        (5, 6, None, True),
        (8, 6, None, True),
        (9, 6, None, False),
        (3, 6, None, False),
        (25, 20, None, True),
        (26, 20, None, False),
        (18, 11, 18, True),
        (14, 11, 18, True),
        (23, 11, 18, False),
        (8, 11, 18, False),
        (3, 7, 4, True),
    ],
)
def test_stated_minutes_fit_within_a_quarter_or_two_minutes(told, estimated, counted, whether):
    assert minutes.fits(told, estimated, counted) == whether


def test_the_formula_is_closer_to_what_readers_counted_than_their_mean():
    still_there = [name for name in minutes.TAKEN if _is_in_a_lesson(name)]
    assert len(still_there) > 20
    taken = [minutes.TAKEN[name] for name in still_there]
    estimated = [minutes.estimate(*in_the_book(name)) for name in still_there]
    typical = math.sqrt(fmean((a - b) ** 2 for a, b in zip(taken, estimated, strict=True)))
    spread = math.sqrt(fmean((a - fmean(taken)) ** 2 for a in taken))
    assert typical < 3.3 and typical < spread
    assert sum(estimated) == pytest.approx(sum(taken), rel=0.15)


def _is_in_a_lesson(name: str) -> bool:
    return any(name in dict(minutes.boxes(day.stem)) for day in lessons.days())


@each_day
def test_the_minutes_of_an_exercise_are_its_estimate(day):
    exercises = import_module(f"utils.exercises.{day.topic}").check.exercises
    off = {
        name: (told, round(found))
        for name, box in minutes.boxes(day.stem)
        if not minutes.fits(
            told := budget.stated(box),
            found := minutes.estimate(box, exercises[name]),
            minutes.TAKEN.get(name),
        )
    }
    assert not off, f"stated, estimated: {off}; see `python -m utils.press.minutes`"


@each_written_day
def test_sections_say_how_long_they_take(day):
    page = notebooks.read(notebooks.CHAPTERS / f"{day.stem}.ipynb")
    found = {title: (told, asked) for title, told, asked in budget.sections(page)}
    for title, (told, asked) in found.items():
        minutes_told, *yours = map(int, re.findall(r"\d+", told))
        counted = f"{title}: counted are *{budget.spoken(asked)}.*"
        assert abs(minutes_told - asked.minutes) <= max(2.5, asked.minutes / 5), counted
        assert yours == [asked.writing] * (asked.writing > 0), counted
    added = sum(int(told.split()[0]) for told, _ in found.values())
    assert added == pytest.approx(sum(asked.minutes for _, asked in found.values()), rel=0.1)


def test_a_section_counts_what_stands_in_it():
    says = "*7 minutes, 5 of them yours.*"
    cells = [f"# Title\n\n## One\n\n{says} A b c.\n\n{BOX}\n\n### Two\n\nD e.", "## Three"]
    page = new_notebook(cells=[new_markdown_cell(text) for text in cells])
    ((title, told, asked),) = budget.sections(page)
    assert (title, told, asked.writing) == ("One", "7 minutes, 5 of them yours", 5)
    assert asked.words == budget.words(f"## One\n\n{says} A b c.\n\n{BOX}")
    assert budget.spoken(asked) == "5 minutes, 5 of them yours"


@each_written_day
def test_a_lesson_opens_with_how_long_it_takes(day):
    page = notebooks.read(notebooks.CHAPTERS / f"{day.stem}.ipynb")
    found = budget.count(page)
    said = r"(\d+|half an hour)"
    told = re.search(
        rf"takes (?:about )?{said}\s+minutes to read\b[^.]*?\s{said}\s+to write",
        page.cells[0].source,
    )
    counted = f"it takes {found.reading:.0f} minutes to read and {found.writing} to write"
    assert told, f"Say at the top: {counted}."
    reading, writing = (30 if each == "half an hour" else int(each) for each in told.groups())
    assert abs(reading - found.reading) <= 5 and abs(writing - found.writing) <= 2, counted


@each_written_day
def test_a_long_lesson_has_a_place_to_stop_about_halfway(day):
    if day.number == 0:
        pytest.skip("a short lesson")
    found = budget.count(notebooks.read(notebooks.CHAPTERS / f"{day.stem}.ipynb"))
    assert 0.35 < found.stop < 0.65, f"{budget.STOP} stands at {found.stop:.0%} of the minutes"


def test_boxes_of_a_script_are_found_with_their_names(tmp_path, monkeypatch):
    box = BOX.replace("exercise-a", "exercise-a-b")
    lines = ["%% [markdown]", "Text.", "", *box.splitlines(), "", "More."]
    script = "\n".join(f"# {line}".strip() for line in lines)
    (tmp_path / "05_topic.py").write_text(script, encoding="utf-8")
    monkeypatch.setattr(notebooks, "CHAPTERS", tmp_path)
    ((name, found),) = minutes.boxes("05_topic")
    assert name == "a_b" and budget.stated(found) == 5 and budget.words(found) == 6


def test_the_report_has_a_row_for_each_exercise():
    head, _, *rows = minutes.report().splitlines()
    assert head.split() == ["exercise", "stated", "estimated", "counted"]
    assert any(row.startswith("01 everywhere") for row in rows)


def test_a_box_counts_the_same_on_a_page_and_alone():
    alone = budget.count(new_notebook(cells=[new_markdown_cell(BOX)]))
    assert (alone.writing, alone.words) == (5, budget.words(BOX))
