"""Stamps: which pages and tests have passed here with what they read now, and needn't run again.

A page's stamp names the files of the book that its kernel opened and the modules that it imported,
with their digests, and the setting: Python, packages, processor and variables of the environment.
That of a file of tests names what `utils.press.reach` has found. The setting is stored part by
part, so that a run which finds another one can say what is other.
"""

import ast
import hashlib
import importlib.metadata
import json
import os
import platform
import shutil
import sys
import tomllib
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path

from utils import ROOT
from utils.exercises.numbers import LABEL
from utils.press.reach import NOT_OURS, WHOLE, ours

ALWAYS = ("conftest.py", "pyproject.toml")  # how a page is run, and what is compared
PROGRAMS = (  # tests ask for them
    *("chromium", "chromium-browser", "google-chrome", "java", "git", "make", "nvidia-smi"),
)
VARIABLES = (
    *("BOOK_", "ATEN_", "DNNL_", "KMP_", "MKL_", "OMP_", "ONEDNN_", "OPENBLAS_", "PYTHON"),
    *("TORCH", "MPL", "LANG", "LC_"),
)
INDIFFERENT = {"PYTHON", "PYTHONUNBUFFERED", "PYTHONDONTWRITEBYTECODE"}  # the first is make's

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
    while (reply := kernel.get_message("shell", timeout=600))["parent_header"]["msg_id"] != asked:
        pass
    given = reply["content"]["user_expressions"]
    return {name: ast.literal_eval(each["data"]["text/plain"]) for name, each in given.items()}


def listen(kernel) -> None:
    """Let a kernel that has run nothing yet remember what it opens."""
    _ask(kernel, LISTEN)


def reached(kernel, folder: Path) -> set[Path]:
    """The files of the book that a kernel, at work in `folder`, has opened or imported."""
    named = (folder / file for file in json.loads(_ask(kernel, "", files=REACHED)["files"]))
    return {file for each in named if (file := ours(each)) and file.is_file()}


def _below(folder: Path) -> list[Path]:
    """What is in a folder of the book, but for what its commands leave there."""
    return sorted(
        each
        for each in folder.iterdir()
        if each.name not in NOT_OURS and each.suffix not in (".part", ".lock", ".egg-info")
    )


def _files(file: Path) -> list[Path]:
    """The files that one stands for."""
    if file == WHOLE:
        folders, found = [ROOT], []
        while folders:
            for each in _below(folders.pop()):
                (folders if each.is_dir() else found).append(each)
        return found
    return [file] if os.path.isfile(file) else []


@cache
def digest(file: Path, lesson: str) -> str:
    """SHA-256 of what a file says to a lesson, or, with no lesson named, to a test.

    In the tables of all lessons, as data/claims.toml, those rows count that name this one; in the
    scripts of lessons, which exercises are numbered by, the labels of the boxes. Of a folder the
    names in it count; of WHOLE, all files of the book; what isn't there has an empty digest.
    """
    if file == WHOLE:
        content = "\n".join(f"{each} {digest(each, '')}" for each in _files(file)).encode()
    elif os.path.isdir(file):  # which never raises, whatever the name
        content = "\n".join(each.name for each in _below(file)).encode()
    elif not os.path.isfile(file):
        return ""
    else:
        content = file.read_bytes()
    if lesson and file.suffix == ".py" and file.is_relative_to(ROOT / "chapters"):
        content = "\n".join(LABEL.findall(content.decode())).encode()
    elif lesson and file.parent == ROOT / "data" and file.suffix == ".toml":
        rows = map(json.dumps, tomllib.loads(content.decode()).items())
        content = "\n".join(row for row in rows if lesson in row).encode()
    return hashlib.sha256(content).hexdigest()


def setting(environment: Mapping[str, str]) -> list[str]:
    """What else than the book's files may change a page, part by part.

    environment: the variables that Python began with. Libraries set more when they are imported,
    and which ones are depends on how the tests are run.
    """
    packages = {f"{each.name} {each.version}" for each in importlib.metadata.distributions()}
    variables = {name for name in environment if name.startswith(VARIABLES)} - INDIFFERENT
    return [
        f"Python {sys.version}",
        *_processor(),
        *sorted(packages),
        *(f"{name} at {shutil.which(name)}" for name in PROGRAMS),
        *(f"{name}={environment[name]}" for name in sorted(variables)),
    ]


def _processor() -> list[str]:
    """The name of the processor and what it can do."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return [f"{platform.machine()} {platform.processor()} {platform.platform()}"]
    named = {each for each in lines if each.startswith("model name")}
    able = {word for each in lines if each.startswith("flags") for word in each.split()[2:]}
    return [*sorted(named), *(f"the processor's {word}" for word in sorted(able))]


def changes(folder: Path, setting: list[str]) -> str:
    """What the setting of the last stamp had and this one hasn't, and the other way round."""
    try:
        last = max(folder.glob("*.*.json"), key=lambda stamp: stamp.stat().st_mtime)
        then = json.loads(last.read_text(encoding="utf-8"))["setting"]
        gone, new = sorted({*then} - {*setting}), sorted({*setting} - {*then})
    except (OSError, ValueError, KeyError, TypeError):  # none, or a damaged one
        return ""
    return "; ".join([*(f"no more {part}" for part in gone), *(f"now {part}" for part in new)])


def store(
    folder: Path,
    passed: Path,
    files: Iterable[Path],
    setting: list[str],
    since: float,
    lesson: str = "",
) -> None:
    """Stamp what has passed, unless a file that it read was changed meanwhile."""
    files = {passed, *files, *(ROOT / name for name in ALWAYS)}
    if max(each.stat().st_mtime for file in files for each in _files(file)) < since:
        read = {file.relative_to(ROOT).as_posix(): digest(file, lesson) for file in sorted(files)}
        content = json.dumps({"setting": setting, "lesson": lesson, "read": read}, indent=1)
        (folder / _name(passed)).write_text(content, encoding="utf-8")


def is_current(folder: Path, passed: Path, setting: list[str]) -> bool:
    """Whether a page or file of tests has a stamp, and nothing that it read is other than then."""
    try:
        stamp = json.loads((folder / _name(passed)).read_text(encoding="utf-8"))
        return stamp["setting"] == setting and all(
            digest(ROOT / file, stamp["lesson"]) == then for file, then in stamp["read"].items()
        )
    except (OSError, ValueError, KeyError, TypeError, AttributeError):  # none, or a damaged one
        return False


def _name(passed: Path) -> str:
    return passed.relative_to(ROOT).as_posix().replace("/", ".") + ".json"
