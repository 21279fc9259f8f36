"""The course at a glance: what is passed and what is next, how long it takes; a page to print."""

import json
import os
import re
from datetime import date
from importlib import import_module

import pytest

from utils.exercises.progress import progress
from utils.press import budget, course, jupyter, notebooks
from utils.press.lessons import days
from utils.press.notebooks import LessonError

NOBODY = course.standings(set())
CORE = [name for day in NOBODY for name in day.core]
FIRST, SECOND = NOBODY[:2]
EVERYTHING = {*CORE, *(name for day in NOBODY for name in day.beyond)}


def test_every_exercise_of_a_day_is_in_its_steps_or_beyond():
    for found in NOBODY:
        check = import_module(f"utils.exercises.{found.day.topic}").check
        assert sorted([*found.core, *found.beyond]) == sorted(check.exercises)


def test_the_minutes_are_those_that_the_budget_counts():
    for found in NOBODY:
        asked = budget.count(notebooks.read(notebooks.CHAPTERS / f"{found.day.stem}.ipynb"))
        assert (len(found.core), sum(found.core.values())) == (asked.exercises, asked.writing)
        assert found.left == pytest.approx(asked.minutes)


def test_what_is_passed_takes_its_minutes_and_its_share_of_the_reading():
    name, minutes = next(iter(SECOND.core.items()))
    begun = course.standings({name})[1]
    share = (len(SECOND.core) - 1) / len(SECOND.core)
    assert begun.left == pytest.approx(sum(SECOND.core.values()) - minutes + share * SECOND.reading)
    assert course.standings(set(SECOND.core))[1].left == 0
    assert course.standings(set(SECOND.beyond))[1].left == SECOND.left


def test_the_first_core_exercise_that_waits_is_next():
    passed = {*FIRST.core, *SECOND.core}
    third = NOBODY[2]
    passed.add(next(iter(third.core)))
    found = course.standings(passed)
    far, following, left = course.sentences(found)
    assert far.startswith(f"You have passed {len(passed)} of the {len(CORE)} exercises")
    assert f"2.2 {list(third.core)[1]}, on Day 2" in following
    assert f"`make lab LESSON={third.day.stem}`" in following
    hours = round(sum(each.left for each in found) / 60)
    assert f"About {hours} hours" in left
    assert "](02_recurrent.ipynb)" in course.sentences(found, in_lab=True)[1]
    signs = [line[0] for line in course.table(found).splitlines()[2:]]
    assert signs == ["✓", "✓", "→", *" " * (len(found) - 3)]


def test_at_the_end_there_is_nothing_next_but_the_page_to_print():
    far, done = course.sentences(course.standings(EVERYTHING))
    assert f"{len(CORE)} of the {len(CORE)}" in far and "`make summary`" in done


def test_one_hour_is_not_hours():
    left_one = EVERYTHING - {min(FIRST.core, key=FIRST.core.get)}
    assert course.sentences(course.standings(left_one))[2].startswith("About 1 hour of ")


# ------------------------------------------------------------------------------ in the first lesson


def test_the_first_lesson_opens_with_the_course(tmp_path, monkeypatch):
    monkeypatch.setattr(jupyter, "MINE", tmp_path)
    monkeypatch.setattr(progress, "session", {next(iter(FIRST.core))})
    for stem in ("00_first_steps", "01_convolution"):
        original = notebooks.CHAPTERS / f"{stem}.ipynb"
        jupyter.make_copy(original, tmp_path / original.name)
    first, second = (
        notebooks.code_cells(notebooks.read(tmp_path / f"{day.stem}.ipynb"))[0]
        for day in days()[:2]
    )
    assert first.metadata["jupyter"]["source_hidden"] and second.outputs == []
    (shown,) = first.outputs
    assert shown.data["text/markdown"].startswith("You have passed 1 of the ")
    again = []
    monkeypatch.setattr(course, "display", lambda data, raw: again.append(data))
    exec(first.source, {})
    assert again == [shown.data]


def test_every_folded_cell_of_a_copy_begins_with_what_it_is(tmp_path):
    original = notebooks.CHAPTERS / "01_convolution.ipynb"
    jupyter.make_copy(original, tmp_path / original.name)
    folded = [
        (cell.metadata.tags, cell.source.partition("\n")[0])
        for cell in notebooks.code_cells(notebooks.read(tmp_path / original.name))
        if cell.metadata.get("jupyter", {}).get("source_hidden")
    ]
    assert folded[0] == (["setup"], "# Set-up")
    assert {line for tags, line in folded if "evidence" in tags} == {"# How this was measured"}
    assert len(folded) > 20 and all(line.startswith("# ") for _, line in folded)


# ------------------------------------------------------------------------------------ make progress


@pytest.fixture
def my(tmp_path, monkeypatch):
    """The reader's folder, with one tick in the file of a former version."""
    monkeypatch.setattr(jupyter, "MINE", tmp_path)
    monkeypatch.setenv("BOOK_PROGRESS", "")
    monkeypatch.setattr(progress, "session", set())
    (tmp_path / "progress.json").write_text('{"edition": 4, "passed": ["gradient_step"]}')
    return tmp_path


def test_make_progress_prints_it_and_writes_only_the_ticks_that_it_carries_over(my, capsys):
    jupyter.main(["progress"])
    out = capsys.readouterr().out
    assert out.startswith(f"You have passed 1 of the {len(CORE)} ") and "Minutes left" in out
    stored = json.loads((my / ".progress.json").read_text())
    assert stored == {"edition": 4, "passed": ["gradient_step"]}
    assert [file.name for file in my.iterdir() if not file.name.startswith(".")] == []


def test_ticks_that_are_damaged_are_left_with_a_sentence(my, capsys):
    (my / "progress.json").write_text("{")
    jupyter.main(["progress"])
    said = capsys.readouterr().out.splitlines()[0]
    assert "can't be carried over" in said and "is damaged" in said
    assert (my / "progress.json").read_text() == "{" and not (my / ".progress.json").exists()


def test_the_summary_is_a_page_that_asks_nobody_and_prints_well(my, capsys):
    jupyter.main(["summary"])
    assert (my / "summary.html").as_uri() in capsys.readouterr().out
    page = (my / "summary.html").read_text(encoding="utf-8")
    assert page.count("<section>") == len(NOBODY) and page.count("☑") == 1
    assert page.count("<li>") == sum(len(day.points) for day in NOBODY)
    assert "//" not in page and "<script" not in page and "@page" in page
    assert "1 exercises" not in page and "1 exercise passed" in page
    assert sorted(file.name for file in my.iterdir() if file.name[0] != ".") == ["summary.html"]


def test_the_summary_of_everything_ticks_everything():
    page = course.summary(course.standings(EVERYTHING), date(2026, 5, 4))
    assert "☐" not in page and "4 May 2026" in page and f"{len(EVERYTHING)} exercises" in page


def test_a_summary_replaces_an_earlier_one_and_nothing_else(my, monkeypatch):
    file = my / "summary.html"
    course.write_summary(file, course.summary(NOBODY, date(2026, 5, 4)))
    course.write_summary(file, later := course.summary(NOBODY, date(2026, 5, 5)))
    assert file.read_text(encoding="utf-8") == later
    for mine in (b"my own notes", b"\xff\xfe"):
        file.write_bytes(mine)
        with pytest.raises(LessonError, match="summary.html"):
            course.write_summary(file, later)
        assert file.read_bytes() == mine
    assert not list(my.glob(f".summary.html.{os.getpid()}"))


def test_the_points_are_those_of_the_lessons_checklist():
    assert all(set(names) <= EVERYTHING for day in NOBODY for names in day.points.values())
    assert all(4 <= len(day.points) <= 6 for day in NOBODY)
    assert not re.search(r"[{}`$]", "".join(point for day in NOBODY for point in day.points))
