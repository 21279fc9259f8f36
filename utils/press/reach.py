"""What a file of tests depends on: the modules that it reaches, and what these have read.

A file that is read once and kept serves many tests. So a reading counts for the module that did it,
and through it for each file of tests that reaches the module. Nothing is imported here that might
read before anybody listens.
"""

import ast
import os
import sys
from collections import defaultdict
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path

from utils import ROOT

WHOLE = ROOT / "*"  # all files of the book
IMPORTED_FROM = ("", "tests", "_ext")  # folders of the book that are on the path of a test
NOT_OURS = {  # what the book's commands and their tools leave in its folder
    *(".venv", ".git", "_build", "my", "class"),
    *("__pycache__", ".pytest_cache", ".ruff_cache", ".ipynb_checkpoints"),
}
TEXTS = {ROOT / "chapters", *(ROOT / "chapters" / name for name in ("deeper", "solutions"))}
OF_THE_SYSTEM = {"ldconfig", "gcc", "g++", "ld", "objdump", "pandoc"}  # what libraries ask
HERE = Path(__file__)
FIXTURES = ROOT / "tests" / "conftest.py"
SUPPORT = {ROOT / "conftest.py", *(ROOT / "tests").glob("[!t]*.py")}  # reads for its caller


class Readings:
    """The files and folders of the book that each of its modules has read in this process."""

    def __init__(self) -> None:
        self.of: dict[Path, set[Path]] = defaultdict(set)

    def listen(self) -> None:
        """Note from now on what is read."""
        sys.addaudithook(self._heard)

    def _heard(self, event: str, given: tuple) -> None:
        with suppress(OSError):  # as where the working directory is gone: whoever reads may go on
            self._hear(event, given)

    def _hear(self, event: str, given: tuple) -> None:
        if event in ("open", "os.listdir", "os.scandir"):
            named = given[0] if given[0] is not None else "."
            if isinstance(named, (str, os.PathLike)) and (file := ours(Path(named))):
                self._note(file)
        elif event == "subprocess.Popen":
            program, arguments, folder, _ = given
            if Path(os.fsdecode(program or "")).name in OF_THE_SYSTEM:
                return
            if ours(Path(os.fsdecode(folder or "."))) or str(ROOT) in str(arguments):
                self._note(WHOLE)  # it may read anything
        elif event in ("os.fork", "os.posix_spawn", "os.system"):
            self._note(WHOLE)

    def _note(self, file: Path) -> None:
        frame = sys._getframe(1)
        while frame:
            module = Path(frame.f_code.co_filename)
            reader = module != HERE and module not in SUPPORT
            if reader and module.is_absolute() and ours(module):
                self.of[module].add(file)
                return
            frame = frame.f_back

    def behind(self, test: Path) -> set[Path]:
        """All that a file of tests depends on: itself, the modules that it reaches, their files."""
        found: set[Path] = set()
        waiting = {test, FIXTURES}
        while waiting:
            file = waiting.pop()
            found.add(file)
            if file.suffix == ".py" and os.path.isfile(file) and file.parent not in TEXTS:
                waiting |= (imported(file) | self.of.get(file, set())) - found
        return found


def ours(file: Path) -> Path | None:
    """The file of the book that is named, of a compiled module its source; None for others."""
    if file.parent.name == "__pycache__":
        file = file.parents[1] / f"{file.name.partition('.')[0]}.py"
    file = Path(os.path.abspath(file))
    if not file.is_relative_to(ROOT) or NOT_OURS & set(file.relative_to(ROOT).parts):
        return None
    return file


@cache
def imported(file: Path) -> set[Path]:
    """The modules of the book that one imports, and the packages that they are in."""
    modules: set[Path] = set()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            modules.update(*(_named(alias.name) for alias in node.names))
        elif isinstance(node, ast.ImportFrom) and node.module:
            modules.update(*(_named(f"{node.module}.{alias.name}") for alias in node.names))
        elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith("import_module"):
            modules.update(_below(node.args[0], file))
        elif isinstance(node, ast.Call) and ast.unparse(node.func) == "Checker.of":
            modules.update(file.parent.glob("*.py"))  # the exercises of its day
    return modules


def _named(name: str) -> Iterator[Path]:
    """The packages and the module of a dotted name, as far as they are the book's."""
    for folder in IMPORTED_FROM:
        path = ROOT / folder
        for part in name.split("."):
            path /= part
            files = path / "__init__.py", path.with_name(f"{part}.py")
            yield from (file for file in files if file.is_file())


def _below(name: ast.expr, file: Path) -> Iterator[Path]:
    """All modules that a computed name may stand for: those behind its constant beginning.

    A module of `utils` whose name is all computed is heard when it is read, and its reader's.
    """
    begin = name.values[0] if isinstance(name, ast.JoinedStr) else name
    if isinstance(begin, ast.Constant):
        yield from ROOT.joinpath(*begin.value.strip(".").split(".")).rglob("*.py")
    elif not file.is_relative_to(ROOT / "utils"):
        yield from (ROOT / "utils").rglob("*.py")
