"""What a file of tests depends on is found, and nothing that it doesn't reach."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from utils import ROOT
from utils.press import reach
from utils.press.reach import Readings, imported, ours


@pytest.fixture
def book(tmp_path, monkeypatch):
    """A book of a few modules, one of which reads a file, and the files of two tests."""
    files = {
        "utils/__init__.py": "",
        "utils/reader.py": "def read(): return open(FILE).read()",
        "utils/layer.py": "from utils.reader import read\n",
        "utils/days/__init__.py": "",
        "utils/days/one.py": "import utils.layer",
        "utils/other.py": "",
        "tests/conftest.py": "",
        "tests/helper.py": "def look(): return open(FILE).read()",
        "tests/test_layer.py": "def run():\n    from utils import layer",
        "tests/test_days.py": "import importlib\nimportlib.import_module(f'utils.days.{1}')",
        "tests/test_other.py": "import helper, utils.other\nfrom helper import look",
        "data/numbers.txt": "1 2 3",
        "chapters/01_x.py": "import utils.other",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    monkeypatch.setattr(reach, "ROOT", tmp_path)
    monkeypatch.setattr(reach, "WHOLE", tmp_path / "*")
    monkeypatch.setattr(reach, "TEXTS", {tmp_path / "chapters"})
    monkeypatch.setattr(reach, "SUPPORT", {tmp_path / "tests" / "helper.py"})
    monkeypatch.setattr(reach, "FIXTURES", tmp_path / "tests" / "conftest.py")
    imported.cache_clear()
    yield tmp_path
    imported.cache_clear()


def names(book: Path, files: set[Path]) -> set[str]:
    return {file.relative_to(book).as_posix() for file in files}


def call(book: Path, module: str, hear, event: str, *given) -> None:
    """As if a module had caused an event."""
    code = compile("def cause(hear, *given): hear(*given)", str(book / module), "exec")
    space: dict = {}
    exec(code, space)
    space["cause"](hear, event, given)


def test_imports_are_followed_wherever_they_stand_and_computed_names_to_all_they_may_be(book):
    behind = Readings().behind
    assert names(book, behind(book / "tests/test_layer.py")) == {
        *(
            "tests/conftest.py",
            "tests/test_layer.py",
            "utils/__init__.py",
            "utils/layer.py",
            "utils/reader.py",
        )
    }
    found = names(book, behind(book / "tests/test_days.py"))
    assert {"utils/days/one.py", "utils/layer.py"} <= found and "utils/other.py" not in found


def test_a_file_counts_for_the_module_that_read_it_and_for_all_that_reach_this(book):
    readings = Readings()
    numbers = str(book / "data/numbers.txt")
    call(book, "utils/reader.py", readings._hear, "open", numbers, "r", 0)
    call(book, "utils/reader.py", readings._hear, "open", "/dev/null", "r", 0)
    call(book, "utils/reader.py", readings._hear, "open", 7, "r", 0)
    assert readings.of == {book / "utils/reader.py": {book / "data/numbers.txt"}}
    assert book / "data/numbers.txt" in readings.behind(book / "tests/test_layer.py")
    assert book / "data/numbers.txt" not in readings.behind(book / "tests/test_other.py")


def test_a_lesson_is_read_as_a_text_not_followed(book):
    readings = Readings()
    lesson = book / "chapters/01_x.py"
    call(book, "utils/reader.py", readings._hear, "open", str(lesson), "r", 0)
    found = readings.behind(book / "tests/test_layer.py")
    assert lesson in found and book / "utils/other.py" not in found


def test_a_program_on_the_book_may_read_all_of_it(book):
    readings = Readings()
    everything = {book / "utils/layer.py": {book / "*"}}
    for expected, program, *arguments, folder in (
        ({}, "fc-list", "/"),
        ({}, "/usr/bin/g++", f"-I{book}/.venv/include", book),
        (everything, "make", "-C", str(book), "/"),
    ):
        event = (program, [program, *arguments], folder, None)
        call(book, "utils/layer.py", readings._hear, "subprocess.Popen", *event)
        assert readings.of == expected


def test_what_a_helper_of_tests_reads_counts_for_no_module(book):
    readings = Readings()
    call(book, "tests/helper.py", readings._hear, "open", str(book / "data/numbers.txt"), "r", 0)
    assert readings.of == {}


def test_a_compiled_module_stands_for_its_source_and_what_commands_leave_is_nothing(book):
    assert ours(book / "utils/__pycache__/layer.cpython-311.pyc") == book / "utils/layer.py"
    left = (".pytest_cache/d/book/seconds.json", ".ruff_cache/x", "my/01_x.ipynb")
    for other in (".venv/bin/python", "_build/html/index.html", *left):
        assert ours(book / other) is None


LISTENING = """
from utils.press.reach import ROOT, Readings
readings = Readings()
readings.listen()
import importlib, os
from utils.press.lessons import days
days()
importlib.import_module("utils.training.metrics")
list(os.walk("benchmarks"))
for module, files in readings.of.items():
    for file in files:
        if module.name != "<string>":
            print(module.relative_to(ROOT).as_posix(), file.relative_to(ROOT).as_posix())
"""


def test_a_process_hears_what_its_modules_read(tmp_path):
    script = ROOT / "tests" / "test_of_a_process.py"  # as which the text is compiled; not written
    text = f"exec(compile({LISTENING!r}, {str(script)!r}, 'exec'))"
    told = subprocess.run(
        [sys.executable, "-c", text], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.splitlines()
    assert "utils/press/lessons.py lessons.toml" in told
    assert "tests/test_of_a_process.py utils/training/metrics.py" in told
    assert "tests/test_of_a_process.py benchmarks" in told


def test_each_file_of_exercise_tests_depends_on_all_exercises_of_its_day():
    for test in (ROOT / "tests").glob("test_exercises_*.py"):
        days = {file.parent for file in imported(test) if file.name == "__init__.py"}
        day = next(folder for folder in days if folder.parent == ROOT / "utils" / "exercises")
        assert set(day.glob("*.py")) <= Readings().behind(test), test.name


def test_files_that_show_a_view_depend_on_views_and_others_do_not():
    behind = Readings().behind
    frame = ROOT / "utils" / "show" / "views" / "frame.py"
    below = [file for file in behind(ROOT / "tests/test_convolution.py") if "views" in file.parts]
    assert below == []
    for test in (ROOT / "tests").glob("test_*.py"):
        asks = re.search(r"def test.*\b(shown|live)\b", text := test.read_text(encoding="utf-8"))
        if asks and "def shown(" not in text:  # a fixture of its own
            assert frame in behind(test), test.name
