"""A `utils` that is not this book's is noticed, and explained in one sentence."""

import subprocess
import sys
from pathlib import Path

import pytest

from utils import ROOT


def last_line(folder: Path, *, with_book: bool = True) -> tuple[int, str]:
    """Import the guard as a script in `folder` would, whose own modules come first."""
    path = f"sys.path.append({str(ROOT)!r})" if with_book else "sys.path.append(sys.argv[1])"
    code = f"import sys; sys.path[:] = ['', *(p for p in sys.path if p)]; {path}\n"
    # -S leaves out site-packages, where this book may be installed
    run = subprocess.run(
        [
            sys.executable,
            "-S",
            "-c",
            code + "import convolution_to_attention",
            str(folder / "book"),
        ],
        cwd=folder,
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


def test_no_utils_at_all_is_told_how_to_install_it(tmp_path):
    book = tmp_path / "book"
    book.mkdir()
    guard = "convolution_to_attention.py"
    (book / guard).write_text((ROOT / guard).read_text(encoding="utf-8"), encoding="utf-8")
    returncode, line = last_line(tmp_path, with_book=False)
    assert returncode == 1
    assert line == (
        "ImportError: The book's package `utils` is not installed: start the lessons with "
        "`make lab`, or run `pip install --no-deps -e .` in the book's folder."
    )


def test_a_folder_of_its_name_without_code_is_noticed(tmp_path):
    book = tmp_path / "book"
    book.mkdir()
    guard = "convolution_to_attention.py"
    (book / guard).write_text((ROOT / guard).read_text(encoding="utf-8"), encoding="utf-8")
    (tmp_path / "utils").mkdir()
    returncode, line = last_line(tmp_path, with_book=False)
    assert returncode == 1
    assert line.startswith(f"ImportError: Python found another `utils` at {tmp_path / 'utils'}, ")


def test_the_books_own_utils_is_accepted(tmp_path):
    assert last_line(tmp_path) == (0, "")
    assert last_line(ROOT / "chapters") == (0, "")
