"""Importing this module makes sure that `utils` is this book's package: the name is common.

Where an older copy of a lesson asks for a module that has moved since, it says what to do; what
copies of version 0.8.0 ask for they get from where it is now. Training shows its steps in the page.
"""

import sys
from functools import partial
from importlib import import_module
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType

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
        if name == "transformers":
            raise ModuleNotFoundError(
                "This cell compares the book with the library `transformers`, which is not "
                "installed: run `%pip install transformers` in a cell, then this one again "
                "(`make test` brings it, too)."
            )
        if f"{name}.".startswith(MOVED):
            raise ModuleNotFoundError(
                f"The book's rooms have moved since this lesson was copied, and `{name}` is gone: "
                "your copy stays as it is, and `make fresh LESSON=NN_topic`, with the lesson's own "
                "name in place of NN_topic, puts a new copy beside it."
            )


sys.meta_path.append(Moved)

FORMER = {  # what modules had in version 0.8.0, and where it is now
    "utils.training.loop": {"Batches": "utils.data.batches"},
    "utils.training.recipes": {
        "recall_ids": "utils.tasks.memory",
        "stream": "utils.data.text",
        "train_characters": "utils.tasks.characters",
        "train_digits": "utils.tasks.digits",
        "train_recall": "utils.tasks.memory",
        "train_translator": "utils.tasks.translation",
    },
}


class Former:
    """The first finder of modules: those of `FORMER` still give what has moved out of them."""

    @staticmethod
    def find_spec(name: str, path: object = None, target: object = None) -> ModuleSpec | None:
        spec = PathFinder.find_spec(name, path) if name in FORMER else None
        if spec is not None:
            spec.loader.exec_module = partial(execute, spec.loader.exec_module)
        return spec


def execute(run: object, module: ModuleType) -> None:
    """Run a module's code, and let it give what it had."""
    run(module)
    module.__getattr__ = partial(former, module.__name__)
    if hasattr(module, "History"):
        module.History.plot = lambda self: import_module("utils.show.training").learning_curves(
            self
        )
    if module.__name__ == "utils.training.loop":
        import_module("utils.show.progress").in_the_page(module)


def former(module: str, name: str) -> object:
    if name in FORMER[module]:
        return getattr(import_module(FORMER[module][name]), name)
    raise AttributeError(f"module {module!r} has no attribute {name!r}")


sys.meta_path.insert(0, Former)
