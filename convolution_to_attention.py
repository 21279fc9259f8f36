"""Importing this module makes sure that `utils` is this book's package: the name is common."""

from pathlib import Path

try:
    import utils
except ImportError as error:
    raise ImportError(
        "The book's package `utils` is not installed: start the lessons with `make lab`, "
        "or run `pip install --no-deps -e .` in the book's folder."
    ) from error

HERE = Path(__file__).resolve().parent
FOUND = Path(next(iter(utils.__path__), "") if hasattr(utils, "__path__") else utils.__file__)

if FOUND.resolve() != HERE / "utils":
    raise ImportError(
        f"Python found another `utils` at {FOUND}, not the book's at {HERE / 'utils'}: "
        "rename or move that one, or start Python in another folder."
    )
