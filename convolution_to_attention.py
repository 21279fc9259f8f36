"""Importing this module makes sure that `utils` is this book's package: the name is common."""

from importlib.util import find_spec
from pathlib import Path

HERE = Path(__file__).resolve().parent
SPEC = find_spec("utils")  # found, not run: another one's code is none of ours

if SPEC is None:
    raise ImportError(
        "The book's package `utils` is not installed: start the lessons with `make lab`, "
        "or run `pip install --no-deps -e .` in the book's folder."
    )

FOUND = Path(next(iter(SPEC.submodule_search_locations or [SPEC.origin])))

if FOUND.resolve() != HERE / "utils":
    raise ImportError(
        f"Python found another `utils` at {FOUND}, not the book's at {HERE / 'utils'}: "
        "rename or move that one, or start Python in another folder."
    )
