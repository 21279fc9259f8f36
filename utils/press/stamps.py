"""Stamps: which pages have passed here with what they read now, and needn't run again.

A page's stamp names the files of the book that its kernel opened and the modules that it imported,
with their digests, and the setting: Python, packages, processor and variables of the environment.
"""

import ast
import hashlib
import importlib.metadata
import json
import os
import platform
import sys
import tomllib
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from utils import ROOT
from utils.exercises.numbers import LABEL

ALWAYS = ("conftest.py", "pyproject.toml")  # how a page is run, and what is compared
VARIABLES = (
    *("BOOK_", "ATEN_", "DNNL_", "KMP_", "MKL_", "OMP_", "ONEDNN_", "OPENBLAS_", "PYTHON"),
    *("TORCH", "MPL", "LANG", "LC_"),
)

# In a kernel: from now on keep in mind which files it opens.
LISTEN = """
def listen():
    import sys

    sys.opened = set()
    sys.addaudithook(lambda event, given: event == "open" and sys.opened.add(given[0]))

listen()
del listen
"""
REACHED = """__import__("json").dumps(
    [str(file) for file in __import__("sys").opened if isinstance(file, str)]
    + [module.__file__ for module in list(__import__("sys").modules.values())
       if isinstance(getattr(module, "__file__", None), str)]
)"""


def _ask(kernel, code: str, **expressions: str) -> dict:
    """Run code in nbval's kernel that no cell sees; the values of the expressions."""
    asked = kernel.kc.execute(code, silent=True, user_expressions=expressions)
    while (reply := kernel.get_message("shell", timeout=60))["parent_header"]["msg_id"] != asked:
        pass
    given = reply["content"]["user_expressions"]
    return {name: ast.literal_eval(each["data"]["text/plain"]) for name, each in given.items()}


def listen(kernel) -> None:
    """Let a kernel that has run nothing yet remember what it opens."""
    _ask(kernel, LISTEN)


def reached(kernel, folder: Path) -> set[Path]:
    """The files of the book that a kernel, at work in `folder`, has opened or imported."""
    named = (folder / file for file in json.loads(_ask(kernel, "", files=REACHED)["files"]))
    return {file for each in named if (file := _source(each)) and file.is_file()}


def _source(file: Path) -> Path | None:
    """The file within the book that was read: of a compiled one its source."""
    if file.parent.name == "__pycache__":
        file = file.parents[1] / f"{file.name.partition('.')[0]}.py"
    file = Path(os.path.abspath(file))
    return file if file.is_relative_to(ROOT) and ".venv" not in file.parts else None


@cache
def digest(file: Path, lesson: str) -> str:
    """SHA-256 of what a file says to a lesson; of one that isn't there nothing.

    In the tables of all lessons, as data/claims.toml, those rows count that name this one; in the
    scripts of lessons, which exercises are numbered by, the labels of the boxes.
    """
    if not file.is_file():
        return ""
    content = file.read_bytes()
    if file.suffix == ".py" and file.is_relative_to(ROOT / "chapters"):
        content = "\n".join(LABEL.findall(content.decode())).encode()
    elif file.parent == ROOT / "data" and file.suffix == ".toml":
        rows = map(json.dumps, tomllib.loads(content.decode()).items())
        content = "\n".join(row for row in rows if lesson in row).encode()
    return hashlib.sha256(content).hexdigest()


def setting() -> str:
    """SHA-256 of what else than the book's files may change a page."""
    packages = {f"{each.name} {each.version}" for each in importlib.metadata.distributions()}
    variables = (f"{name}={value}" for name, value in os.environ.items())
    parts = [
        sys.version,
        _processor(),
        *sorted(packages),
        *sorted(each for each in variables if each.startswith(VARIABLES)),
    ]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


def _processor() -> str:
    """The name of the processor and what it can do."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return f"{platform.machine()} {platform.processor()} {platform.platform()}"
    return "\n".join(sorted({each for each in lines if each.startswith(("model name", "flags"))}))


def store(folder: Path, page: Path, files: Iterable[Path], setting: str, since: float) -> None:
    """Stamp a page that has passed, unless a file that it read was changed meanwhile."""
    files = {page, *files, *(ROOT / name for name in ALWAYS)}
    if max(file.stat().st_mtime for file in files) < since:
        read = {
            file.relative_to(ROOT).as_posix(): digest(file, page.stem) for file in sorted(files)
        }
        content = json.dumps({"setting": setting, "read": read}, indent=1)
        (folder / _name(page)).write_text(content, encoding="utf-8")


def is_current(folder: Path, page: Path, setting: str) -> bool:
    """Whether a page has a stamp, and nothing that it read is other than it was."""
    try:
        stamp = json.loads((folder / _name(page)).read_text(encoding="utf-8"))
        return stamp["setting"] == setting and all(
            digest(ROOT / file, page.stem) == then for file, then in stamp["read"].items()
        )
    except (OSError, ValueError, KeyError, TypeError, AttributeError):  # none, or a damaged one
        return False


def _name(page: Path) -> str:
    return page.relative_to(ROOT).as_posix().replace("/", ".") + ".json"
