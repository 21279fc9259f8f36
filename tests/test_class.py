"""A class: its folders, with and without solutions, and the tables of the teachers' page."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from utils import ROOT
from utils.press.classroom import plan
from utils.press.classroom.folders import make_folders, rewritten
from utils.press.classroom.plan import builds_on
from utils.press.classroom.verdicts import VERDICTS
from utils.press.lessons import days
from utils.press.notebooks import LessonError

# ------------------------------------------------------------------------------------- the folders


@pytest.fixture(scope="module")
def made(tmp_path_factory) -> Path:
    return make_folders(3, 5, [4], tmp_path_factory.mktemp("class"))


def test_students_get_no_solutions_and_the_teacher_does(made):
    pages = {
        name: {path.relative_to(made / name).as_posix() for path in made.glob(f"{name}/**/*.ipynb")}
        for name in ("students", "teacher")
    }
    assert made.name == "days-3-to-5-without-4"
    assert len(pages["students"]) == 4  # two lessons, two deeper pages
    assert pages["teacher"] - pages["students"] == {
        f"chapters/solutions/{stem}.ipynb" for stem in ("03_gates", "05_self_attention")
    }
    text = "".join(path.read_text("utf-8") for path in made.glob("students/chapters/**/*.*"))
    assert "solutions/" not in text and "[Solution]" not in text
    assert not [*made.glob("**/__pycache__")] and [*made.parent.glob(".*")] == []


def test_pages_of_a_folder_link_to_what_is_there(made):
    for page in made.glob("*/chapters/**/*.ipynb"):
        text = page.read_text(encoding="utf-8")
        for target in re.findall(r"\]\(([^)\s#\\]+\.(?:ipynb|md))", text):
            assert (page.parent / target).resolve().exists(), f"{page}: {target}"


COPIES = """
from utils.press import jupyter, notebooks
print(jupyter.fresh_copy("chapters/05_self_attention"))
assert [found for script in notebooks.scripts() for found in notebooks.differences(script)] == []
from utils.exercises.self_attention import check
check("leaked_order", None)
"""


def test_readers_copies_are_made_in_a_folder_of_its_own(made):
    settings = {"cwd": made / "students", "capture_output": True, "text": True}
    environment = os.environ | {"PYTHONPATH": str(made / "students")}
    done = subprocess.run([sys.executable, "-c", COPIES], env=environment, **settings)
    assert done.returncode == 0, done.stderr
    assert "○ 5.9 leaked_order" in done.stdout
    (copy,) = (made / "students" / "my").glob("05_self_attention*.ipynb")
    text = copy.read_text(encoding="utf-8")
    assert ":enumerator: 5.2" in text and "olution](" not in text


def test_a_page_names_what_its_folder_lacks():
    page, there = Path("chapters/05_a.py"), {"chapters/05_a.ipynb", "glossary.md"}
    text = "[Day 4](04_b.ipynb#x), [terms](../glossary.md); {numref}`exercise-lstm`"
    assert rewritten(text, page, there) == "Day 4, [terms](../glossary.md); Exercise 3.2"
    link = "Write it. ([Solution](solutions/05_a.ipynb#solution-a))"
    assert rewritten(link, page, there) == "Write it."
    assert rewritten(link, page, there | {"chapters/solutions/05_a.ipynb"}) == link


@pytest.mark.parametrize(
    "first, last, without",
    [(3, 2, ()), (-1, 2, ()), (1, 99, ()), (1, 3, [4]), (1, 3, [2, 3]), (1, 1, [1])],
)
def test_days_that_there_are_not_are_refused(tmp_path, first, last, without):
    with pytest.raises(LessonError):
        make_folders(first, last, without, tmp_path)
    assert [*tmp_path.iterdir()] == []


def test_a_folder_that_is_there_is_left_as_it_is(tmp_path):
    (tmp_path / "day-0" / "students").mkdir(parents=True)
    with pytest.raises(LessonError, match="there already"):
        make_folders(0, 0, into=tmp_path)
    assert [path.name for path in tmp_path.rglob("*")] == ["day-0", "students"]


# ------------------------------------------------------------------------------ the teachers' page

TEACHING = (ROOT / "teaching.md").read_text(encoding="utf-8")


def needed(last: int) -> set[int]:
    """The days that a day builds on, and those that these build on, and itself."""
    return {last}.union(*map(needed, builds_on(days()[last])))


def test_what_can_be_left_out_is_what_no_day_builds_on():
    assert builds_on(days()[9]) == [5, 6, 8]
    written = [day for day in days() if day.written]
    left_out = {day.number for day in written} - {n for day in written for n in builds_on(day)}
    said = re.search(r"No day builds on (.*?), so", TEACHING)[1]
    numbers = ", ".join(map(str, sorted(left_out)))
    wrong = f'teaching.md, "What you can leave out": no day builds on Day {numbers}; write that'
    assert {int(number) for number in re.findall(r"\d+", said)} == left_out, wrong


COURSES = re.findall(r"(\w+) weeks[^:]*:\*\* (Days .*?), \D", TEACHING)
WEEKS = {"seven": 7, "eight": 8, "nine": 9, "ten": 10, "eleven": 11}


@pytest.mark.parametrize("weeks, course", COURSES)
def test_a_shorter_course_lacks_nothing_that_its_days_need(weeks, course):
    numbers = re.sub(r"(\d+) to (\d+)", lambda m: spread(*map(int, m.groups())), course)
    found = {int(number) for number in re.findall(r"\d+", numbers)}
    assert needed(max(found)) == found and len(found) == WEEKS[weeks.lower()]


def spread(first: int, last: int) -> str:
    return " ".join(map(str, range(first, last + 1)))


def test_the_tables_have_a_row_for_each_day():
    for name in plan.TABLES:
        rows = plan.table(name).splitlines()
        assert len(rows) == len(days()) + 2 and len({row.count("|") for row in rows}) == 1
    assert {"masked_attention", "merge_step"} <= {
        row[1].split("`")[-2] for row in plan.telling()[1:]
    }


def test_the_page_explains_every_verdict_and_no_other():
    explained = re.findall(
        r"^\| ([a-z ]+) \| [a-z]", TEACHING.partition("| verdict")[2], re.MULTILINE
    )
    assert tuple(explained[: len(VERDICTS)]) == VERDICTS and "*unreadable*" in TEACHING
