"""What a file of tests depends on is found, and nothing that it doesn't reach."""

import subprocess
import sys
from pathlib import Path

import pytest

from utils import ROOT
from utils.press import reach
from utils.press.reach import WHOLE, Readings, imported, ours


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
        *("tests/test_layer.py", "utils/__init__.py", "utils/layer.py", "utils/reader.py")
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
    events = [("fc-list", ["fc-list"], None, None), ("make", ["make", "-C", str(book)], None, None)]
    for expected, event in zip(({}, {book / "utils/layer.py": {book / "*"}}), events, strict=True):
        call(book, "utils/layer.py", readings._hear, "subprocess.Popen", *event)
        assert readings.of == expected


def test_what_a_helper_of_tests_reads_counts_for_no_module(book):
    readings = Readings()
    call(book, "tests/helper.py", readings._hear, "open", str(book / "data/numbers.txt"), "r", 0)
    assert readings.of == {}


def test_a_compiled_module_stands_for_its_source_and_what_commands_leave_is_nothing(book):
    assert ours(book / "utils/__pycache__/layer.cpython-311.pyc") == book / "utils/layer.py"
    for other in (".venv/bin/python", "_build/html/index.html", "my/01_x.ipynb"):
        assert ours(book / other) is None


LISTENING = """
from utils.press.reach import Readings
readings = Readings()
readings.listen()
from utils.press.lessons import days
days()
from utils import ROOT
print(*(file.relative_to(ROOT).as_posix() for files in readings.of.values() for file in files))
"""


def test_a_process_hears_what_its_modules_read():
    told = subprocess.run(
        [sys.executable, "-c", LISTENING], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert "lessons.toml" in told.stdout.split() and WHOLE == ROOT / "*"
