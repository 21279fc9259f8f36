"""A `utils` that is not this book's is noticed, and explained in one sentence."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from utils import ROOT


def last_line(folder: Path, then: str = "", *, with_book: bool = True) -> tuple[int, str]:
    """Import the guard as a script in `folder` would, whose own modules come first."""
    path = f"sys.path.append({str(ROOT)!r})" if with_book else "sys.path.append(sys.argv[1])"
    code = f"import sys; sys.path[:] = ['', *(p for p in sys.path if p)]; {path}\n"
    # -S leaves out site-packages and -E PYTHONPATH: this book may be found through either;
    # a shaken book would ask for torch, which is in site-packages
    run = subprocess.run(
        [
            sys.executable,
            "-SE",
            "-c",
            f"{code}import convolution_to_attention\n{then}",
            str(folder / "book"),
        ],
        cwd=folder,
        env={name: value for name, value in os.environ.items() if name != "BOOK_SHAKE"},
        capture_output=True,
        text=True,
    )
    return run.returncode, (run.stderr.strip().splitlines() or [""])[-1]


@pytest.mark.parametrize(
    "files", [["utils.py"], ["utils/__init__.py"], ["utils/other.py"]], ids=lambda files: files[0]
)
def test_another_utils_is_named_with_what_to_do(files, tmp_path):
    for name in files:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("raise RuntimeError\n")  # it is not run
    returncode, line = last_line(tmp_path)
    found = tmp_path / files[0].partition("/")[0]
    if files == ["utils/other.py"]:  # without __init__.py the book's package wins over it
        assert (returncode, line) == (0, "")
    else:
        assert returncode == 1
        assert line == (
            f"ImportError: Python found another `utils` at {found}, not the book's at "
            f"{ROOT / 'utils'}: rename or move that one, or start Python in another folder."
        )


def copied_guard(folder: Path) -> Path:
    """Put the guard into a folder of its own, as a book without `utils`."""
    book, guard = folder / "book", "convolution_to_attention.py"
    book.mkdir()
    (book / guard).write_text((ROOT / guard).read_text(encoding="utf-8"), encoding="utf-8")
    return book


def test_no_utils_at_all_is_told_how_to_install_it(tmp_path):
    copied_guard(tmp_path)
    returncode, line = last_line(tmp_path, with_book=False)
    assert returncode == 1
    assert line == (
        "ImportError: The book's package `utils` is not installed: start the lessons with "
        "`make lab`, or run `pip install --no-deps -e .` in the book's folder."
    )


def test_a_folder_of_its_name_without_code_is_noticed(tmp_path):
    copied_guard(tmp_path)
    (tmp_path / "utils").mkdir()
    returncode, line = last_line(tmp_path, with_book=False)
    assert returncode == 1
    assert line.startswith(f"ImportError: Python found another `utils` at {tmp_path / 'utils'}, ")


def test_the_books_own_utils_is_accepted(tmp_path):
    assert last_line(tmp_path) == (0, "")
    assert last_line(ROOT / "chapters") == (0, "")


@pytest.mark.parametrize(
    ("statement", "name"),
    [
        ("import utils.lab", "utils.lab"),
        ("import utils.lab.display", "utils.lab"),
        ("from utils import exercises, lab", "utils.lab"),
        ("from utils.lab import dates, experiments", "utils.lab"),
        ("from utils.lab.plotting import curves", "utils.lab"),
        ("from utils.exercises.alignment import check", "utils.exercises.alignment"),
        ("from utils.exercises.efficient import check", "utils.exercises.efficient"),
        ("from utils.exercises import efficient", "utils.exercises.efficient"),
        (
            "from utils.exercises.transformer import echo_texts",
            "utils.exercises.transformer.echo_texts",
        ),
    ],
)
def test_an_old_copy_is_told_that_the_rooms_have_moved(statement, name, tmp_path):
    package = copied_guard(tmp_path) / "utils"
    (package / "exercises" / "transformer").mkdir(parents=True)
    for folder in ("", "exercises", "exercises/transformer"):
        (package / folder / "__init__.py").touch()
    assert last_line(tmp_path, statement, with_book=False) == (1, sentence(name))


def sentence(name: str) -> str:
    return (
        "ModuleNotFoundError: The book's rooms have moved since this lesson was copied, and "
        f"`{name}` is gone: your copy stays as it is, and `make fresh LESSON=NN_topic`, with the "
        "lesson's own name in place of NN_topic, puts a new copy beside it."
    )


@pytest.mark.parametrize(
    ("statement", "name"),
    [
        ("from utils.lab import dates, experiments", "utils.lab.dates"),
        ("from utils.lab.plotting import curves", "utils.lab.plotting"),
    ],
)
def test_a_folder_that_an_update_left_behind_changes_nothing(statement, name, tmp_path):
    package = copied_guard(tmp_path) / "utils"
    (package / "lab" / "__pycache__").mkdir(parents=True)  # for Python a package without code
    (package / "__init__.py").touch()
    assert last_line(tmp_path, statement, with_book=False) == (1, sentence(name))


def test_the_book_itself_has_nothing_under_the_old_name(tmp_path):
    assert last_line(tmp_path, "import utils.lab") == (1, sentence("utils.lab"))


@pytest.mark.parametrize("name", ["utils.labs", "utils.exercises.alignments", "laboratory"])
def test_another_module_that_is_missing_is_reported_as_ever(name, tmp_path):
    package = copied_guard(tmp_path) / "utils"
    (package / "exercises").mkdir(parents=True)
    (package / "__init__.py").touch()
    line = f"ModuleNotFoundError: No module named {name!r}"
    assert last_line(tmp_path, f"import {name}", with_book=False) == (1, line)


def test_what_copies_of_the_version_before_ask_for_they_get_from_where_it_is_now():
    code = """
import convolution_to_attention as guard, importlib, matplotlib
matplotlib.use("agg")
for module, names in guard.FORMER.items():
    for name, now in names.items():
        exec(f"from {module} import {name} as given")
        assert given is getattr(importlib.import_module(now), name), name
from utils.training import loop
assert not hasattr(loop, "another")
history = loop.History()
history.add_epoch({"loss": 2.0}, {}, 1.0)
print(len(history.plot().axes))
"""
    told = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert told.stdout == "1\n", told.stderr
