"""Importing this module makes sure that `utils` is this book's package: the name is common.

Where an older copy of a lesson asks for a module that has moved since, it says what to do.
"""

import sys
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

MOVED = (  # names of version 0.3
    "utils.lab.",
    "utils.exercises.alignment.",
    "utils.exercises.efficient.",
    "utils.exercises.self_attention.different_rows.",
    "utils.exercises.self_attention.rows_that_change.",
    "utils.exercises.transformer.echo_texts.",
)


class Moved:
    """The last finder of modules: what it is asked for is nowhere else."""

    @staticmethod
    def find_spec(name: str, path: object = None, target: object = None) -> None:
        if f"{name}.".startswith(MOVED):
            raise ModuleNotFoundError(
                f"The book's rooms have moved since this lesson was copied, and `{name}` is gone: "
                "your copy stays as it is, and `make fresh LESSON=NN_topic`, with the lesson's own "
                "name in place of NN_topic, puts a new copy beside it."
            )


sys.meta_path.append(Moved)
