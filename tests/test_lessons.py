"""The registry of the days: what follows from it, what each day has, and how a day begins."""

import os
import re
import shutil
import subprocess
import sys
import tomllib
from dataclasses import replace
from pathlib import Path

import pytest

from utils import ROOT
from utils.measure import claims
from utils.press import budget, lessons, new_day, notebooks

DAYS = lessons.days()
EMPTY = "[to be written]"

each_day = pytest.mark.parametrize("day", DAYS, ids=lambda day: day.stem)


def text(day: lessons.Day, folder: str = "") -> str:
    page = ROOT / "chapters" / folder / f"{day.stem}.py"
    return page.read_text(encoding="utf-8")


def test_contents_and_lists_are_what_the_registry_says():
    for file, expected in lessons.pages().items():
        assert (ROOT / file).read_text(encoding="utf-8") == expected, (
            f"{file} is not what lessons.toml says: run `make days`."
        )


@each_day
def test_a_lesson_is_headed_as_the_registry_says(day):
    row, page = f"the row of {day.stem} in lessons.toml", f"chapters/{day.stem}.py"
    agree = "change the one that is out of date, then run `make days` and `make execute`"
    heading = f"# Day {day.number}: {day.title}"
    assert f"# {heading}\n" in text(day), f"{row} wants {page} to begin with `{heading}`: {agree}"
    asked = re.search(r"\*\*Today's question:\*\* (.*?)\n#\n", text(day), re.DOTALL)
    assert asked, f"{page}: write `**Today's question:** …?` under the title, as a paragraph"
    asked = asked[1].replace("\n# ", " ")
    assert asked.lower() == day.question.lower(), (
        f"{page} asks {asked!r}, {row} {day.question!r}: {agree}"
    )
    assert day.state in ("written", "begun"), f'{row}: the state is "written" or "begun"'
    heading = f"# Day {day.number}, deeper: {day.title}"
    assert f"# {heading}\n" in text(day, "deeper"), (
        f"{row} wants chapters/deeper/{day.stem}.py to begin with `{heading}`: {agree}"
    )


@each_day
def test_what_a_day_brings_is_there(day):
    for name in (f"exercises/{day.topic}", *day.concepts):
        path = ROOT / "utils" / name
        assert path.is_dir() or path.with_suffix(".py").exists(), f"there is no utils/{name}"


def lacks(day: lessons.Day) -> list[str]:
    """What is still missing before a day can be called written."""
    lesson = text(day) + text(day, "deeper")
    counted = {
        "exercises": lesson.count("{exercise}"),
        "claims": sum(entry["chapter"] == day.stem for entry in claims.registry().values()),
    }
    least = {"exercises": 8, "claims": 5}
    if day.number == 0:  # half a day
        least = {"exercises": 4, "claims": 1}
    found = [
        f"{counted[what]} {what}, at least {least[what]} are needed"
        for what in least
        if counted[what] < least[what]
    ]
    pages = {
        "the lesson": text(day),
        "its deeper page": text(day, "deeper"),
        "its solutions": text(day, "solutions"),
        "its row in lessons.toml": " ".join(map(str, vars(day).values())),
    }
    for name in (day.topic, *day.concepts):
        for file in (
            *ROOT.glob(f"utils/**/{name}.py"),
            *ROOT.glob(f"utils/**/{name}/*.py"),
            *ROOT.glob(f"tests/test_{name}.py"),
        ):
            pages[file.relative_to(ROOT).as_posix()] = file.read_text(encoding="utf-8")
    for file in ROOT.glob("data/questions.toml"):
        pages["data/questions.toml"] = str(tomllib.loads(file.read_text("utf-8")).get(day.stem))
    found += [f"{name} has a {EMPTY}" for name, page in pages.items() if EMPTY in page]
    opened = [*budget.sections(notebooks.read(ROOT / "chapters" / f"{day.stem}.ipynb"))]
    if len(opened) < 9:
        found.append("minutes under each heading, such as *9 minutes, 6 of them yours.*")
    if day.number and text(day).count(f"# {budget.STOP}") != 1:
        found.append(f"a place to stop about halfway: {budget.STOP}")
    if not found and not day.written:
        found = ['its state in lessons.toml: write "written", then `make days`']
    return found


@each_day
def test_a_day_has_all_that_a_day_has(day):
    if found := lacks(day):
        pytest.fail(f"Day {day.number} is not finished: {'; '.join(found)}", pytrace=False)


ELSEWHERE = "chapters/01_convolution.py"


NUMBERS = "one two three four five six seven eight nine ten eleven twelve thirteen".split()
NUMBERS += "fourteen fifteen sixteen seventeen eighteen nineteen twenty".split()
NUMBER = rf"({'|'.join(NUMBERS)})"
MORE = rf"(?i)\b{NUMBER}\s+more\b"


def told(page: str) -> dict[str, list[str]]:
    """The numbers of further claims and exercises that a page speaks of."""
    words = page.replace("\n#", "")  # a sentence may go on in the next line
    found = {"claims": [], "exercises": []}
    headings = {"What we found": "claims", "Exercises": "exercises"}
    for section in page.split("# ## ")[1:]:
        if kind := headings.get(section.partition("\n")[0]):
            found[kind] += re.findall(MORE + r"(?: (?:is|are) on| *\.$)", section, re.MULTILINE)
            found[kind] += re.findall(rf"Which of these {NUMBER}\b", section)
    for kind in found:
        found[kind] += re.findall(rf"{MORE}\s+{kind}", words)
    return found


@each_day
def test_further_claims_and_exercises_are_as_many_as_pages_say(day):
    deeper = text(day, "deeper")
    claimed = len(re.findall(r"^ *claim\($", deeper, re.MULTILINE))
    there = {"claims": claimed, "exercises": deeper.count("```{exercise}")}
    for page, name in ((text(day), day.stem), (deeper, f"deeper/{day.stem}")):
        for kind, numbers in told(page).items():
            for number in numbers:
                now = NUMBERS[there[kind] - 1]
                wrong = f"chapters/{name}.py speaks of {number} further {kind}: write {now}"
                assert number.lower() == now, wrong


@each_day
def test_the_exercises_at_the_end_take_as_long_as_is_said(day):
    page = notebooks.read(ROOT / "chapters" / "deeper" / f"{day.stem}.ipynb")
    for title, said, asked in budget.sections(page):
        if title == "Exercises":
            minutes = asked.writing_after
            wrong = f'chapters/deeper/{day.stem}.py, "Exercises": write {minutes} minutes'
            assert abs(int(said.partition(" ")[0]) - minutes) <= 1, wrong


def test_a_number_of_claims_that_is_wrong_is_found():
    page = "# ## What we found\n# The [page](x.ipynb) has six more.\n# ## Exercises\n"
    assert told(page + "# Four more are on it.\n") == {"claims": ["six"], "exercises": ["Four"]}
    assert told("# and has ten more\n# exercises.")["exercises"] == ["ten"]
    assert told("# ## Exercises\n# Which of these six?")["exercises"] == ["six"]


@pytest.mark.parametrize(
    "row, page, sentence",
    [
        ({"title": "Another"}, {}, f"{ELSEWHERE} to begin with `# Day 1: Another`: change the one"),
        ({"question": "Why?"}, {}, "01_convolution in lessons.toml 'Why?': change the one that is"),
        ({}, {"**Today's question:** ": "Why "}, f"{ELSEWHERE}: write `**Today's question:** …?`"),
        ({"state": "done"}, {}, 'the state is "written" or "begun"'),
    ],
)
def test_a_heading_that_differs_is_a_sentence_that_says_what_to_change(
    row, page, sentence, monkeypatch
):
    written = text(DAYS[1])
    for before, after in page.items():
        written = written.replace(before, after)
    monkeypatch.setitem(globals(), "text", lambda day, folder="": written)
    with pytest.raises(AssertionError, match=re.escape(sentence)):
        test_a_lesson_is_headed_as_the_registry_says(replace(DAYS[1], **row))


def test_a_day_that_lacks_nothing_else_is_to_be_called_written():
    begun = replace(DAYS[0], state="begun")
    (said,) = lacks(begun)
    assert said.endswith('write "written", then `make days`')
    assert not any("state" in said for said in lacks(replace(begun, question=EMPTY)))
    with pytest.raises(pytest.fail.Exception, match="^Day 0 .*its state") as failed:
        test_a_day_has_all_that_a_day_has(begun)
    assert str(failed.value).count("its state") == 1


# Beginning a day ----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def begun(tmp_path_factory) -> Path:
    """A copy of the book in which the next day has been begun."""
    book = tmp_path_factory.mktemp("begun") / "book"
    left = shutil.ignore_patterns(".git", ".venv", "_build", "my", "*.egg-info", "__pycache__")
    shutil.copytree(ROOT, book, ignore=left)
    done = subprocess.run(
        [sys.executable, "-m", "utils.press.new_day", str(len(DAYS)), "topic_of_the_day"],
        cwd=book,
        env=os.environ | {"PYTHONPATH": str(book)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return book


def test_a_day_that_was_begun_passes_all_tests_but_those_that_say_what_it_lacks(begun):
    number = len(DAYS)
    keep = f"{number:02d}_topic or topic_of_the_day or contents or registry or left_out"
    files = "lessons notebooks budget class exercises claims minutes shaking topic_of_the_day"
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-n0", "-rf", "--tb=line", "-p", "no:cacheprovider"]
        + ["-k", f"({keep}) and not begun", *(f"tests/test_{file}.py" for file in files.split())],
        cwd=begun,
        env={name: os.environ[name] for name in os.environ if not name.startswith("PYTEST_")}
        | {"PYTHONPATH": str(begun)},
        capture_output=True,
        text=True,
    )
    failed = re.findall(r"^FAILED (\S+)", done.stdout, re.MULTILINE)
    assert failed == [
        f"tests/test_lessons.py::test_a_day_has_all_that_a_day_has[{number:02d}_topic_of_the_day]",
        f"tests/test_budget.py::test_a_lesson_keeps_its_budget[{number:02d}_topic_of_the_day]",
    ], done.stdout
    for lack in (
        "1 exercises, at least 8",
        "its row in lessons.toml",
        "data/questions.toml",
        "tests/test_topic_of_the_day.py has a [to be written]",
        "minutes under each heading",
        "pictures: 0, at least 15",
    ):
        assert lack in done.stdout, lack
    deeper = f"chapters/deeper/{number:02d}_topic_of_the_day"
    assert deeper in (begun / "_toc.yml").read_text(encoding="utf-8")
    questions = tomllib.loads((begun / "data" / "questions.toml").read_text(encoding="utf-8"))
    assert len(questions[f"{number:02d}_topic_of_the_day"]) == 5
    assert int(re.search(r"(\d+) passed", done.stdout)[1]) > 30


@pytest.mark.parametrize(
    "number, topic, says",
    [
        (len(DAYS) + 1, "text", f" {len(DAYS)}, .* {len(DAYS) + 1}"),
        (len(DAYS), "text-classes", "'text-classes'"),
        (len(DAYS), "Text", "'Text'"),
        (len(DAYS), "Text Classes", "'Text Classes'"),
        (len(DAYS), "übersicht", "'übersicht'"),
        (len(DAYS), "class", "'class'"),
        (len(DAYS), "torch", "'torch'"),
        (len(DAYS), "check", "'check'"),
        (len(DAYS), "checking", "utils/exercises/checking/__init__.py "),
        (len(DAYS), "attention", "utils/attention.py "),
        (len(DAYS), "training", "utils/training "),
    ],
)
def test_a_day_that_can_not_begin_is_refused_and_nothing_is_written(number, topic, says):
    before = (ROOT / "lessons.toml").read_bytes()
    with pytest.raises(ValueError, match=says):
        new_day.begin(number, topic)
    assert (ROOT / "lessons.toml").read_bytes() == before
    assert not list(ROOT.glob(f"chapters/*_{topic}.py")) or topic == "attention"


@pytest.mark.parametrize("questions", [None, "[99_other]\n"])
@pytest.mark.parametrize("deeper", [False, True])
def test_a_day_whose_cell_fails_leaves_the_book_as_it_was(tmp_path, monkeypatch, questions, deeper):
    for folder in ("chapters/solutions", "data", "tests", "utils/exercises"):
        (tmp_path / folder).mkdir(parents=True)
    for file in ("lessons.toml", "README.md", "index.md"):
        shutil.copy(ROOT / file, tmp_path)
    (tmp_path / "_toc.yml").write_text("the contents", encoding="utf-8")
    if questions:
        (tmp_path / "data" / "questions.toml").write_text(questions, encoding="utf-8")
    if deeper:
        (tmp_path / "chapters" / "deeper").mkdir()

    def execute(script: Path) -> None:
        assert "topic_of_the_day" in (tmp_path / "_toc.yml").read_text(encoding="utf-8")
        if script.parent.name == "solutions":
            raise notebooks.LessonError("A cell fails.")
        script.with_suffix(".ipynb").write_text("executed", encoding="utf-8")

    monkeypatch.setattr(notebooks, "execute", execute)
    before = {path: path.is_file() and path.read_bytes() for path in tmp_path.rglob("*")}
    with pytest.raises(notebooks.LessonError, match="A cell fails"):
        new_day.begin(len(DAYS), "topic_of_the_day", tmp_path)
    assert {path: path.is_file() and path.read_bytes() for path in tmp_path.rglob("*")} == before


@pytest.mark.parametrize("arguments", [[], ["", ""], ["8", ""], ["", "text"], ["eight", "text"]])
def test_a_day_without_its_number_or_topic_is_one_sentence(arguments):
    with pytest.raises(SystemExit, match="NUMBER=.* TOPIC="):
        new_day.main(arguments)


def test_a_row_that_lacks_a_field_is_one_sentence_to_make_days(begun):
    registry = begun / "lessons.toml"
    before = registry.read_text(encoding="utf-8")
    registry.write_text(before.replace("fails =", "breaks =", 1), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "utils.press.lessons"],
        cwd=begun,
        env=os.environ | {"PYTHONPATH": str(begun)},
        capture_output=True,
        text=True,
    )
    registry.write_text(before, encoding="utf-8")
    assert done.returncode and re.fullmatch(
        r"lessons.toml: the day 00_first_steps has the fields .*, and needs .*\.\n", done.stderr
    )


def test_a_registry_with_a_gap_or_a_field_too_few_is_refused(tmp_path):
    registry = (ROOT / "lessons.toml").read_text(encoding="utf-8")
    (tmp_path / "lessons.toml").write_text(registry.replace('"01_', '"11_'), encoding="utf-8")
    with pytest.raises(ValueError, match="lessons.toml: .* 00_, 01_"):
        lessons.days(tmp_path)
    (tmp_path / "lessons.toml").write_text(registry.replace("fails =", "breaks ="), "utf-8")
    with pytest.raises(ValueError, match="00_first_steps .*'breaks'.*'fails'"):
        lessons.days(tmp_path)
