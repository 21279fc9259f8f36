"""Where each name of a script and of the book's modules is defined, and how that reads."""

import ast
import importlib.util
from collections import defaultdict
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

AT_IMPORT = "at import"  # a module's statements that define nothing: they run in any case
WHOLE = "*"  # all of a module: it was used in a way that doesn't say which of its names
ASIDE = (  # how a result is shown, and how a run is known and kept: no number hangs on it
    ["utils", "show"],
    ["utils", "training", "runs"],
    ["utils", "training", "checkpoints"],
)
LEFT_OUT = {"ctx", "kind", "returns", "annotation", "type_comment", "type_params"}


class Place(NamedTuple):
    """A definition: a module's name, which is "" for the script's, and its own."""

    module: str
    name: str


class Definition(NamedTuple):
    """How a definition reads, and the chains of names (`layers.size`) that it mentions."""

    text: str
    names: tuple[tuple[str, ...], ...]


class Modules:
    """A script and the modules of the book that it leads to."""

    def __init__(self, script: Path, book: Path):
        self.script, self.book = script, book
        self.read = {"": _module(script, "")}

    def file(self, module: str) -> Path | None:
        """Where a module of the book is; None if the book has none of this name."""
        if not module:
            return self.script
        path = self.book.joinpath(*module.split("."))
        files = path / "__init__.py", path.with_name(f"{path.name}.py")
        return next((file for file in files if file.is_file()), None)

    def reached(self, roots: Iterable[str] | None) -> dict[Place, str]:
        """The definitions that are reached, in the order of first mention, and how each reads.

        Behind each, there is what its names stand for: definitions, as numbers, or libraries.
        roots: names that the script may define, beside what it runs; None for all of it.
        """
        names = [WHOLE] if roots is None else [*roots, AT_IMPORT]
        begin = [Place("", name) for name in names if name in self.read[""].definitions]
        numbers = {place: number for number, place in enumerate(begin)}
        found: dict[Place, str] = {}
        while waiting := list(numbers)[len(found) :]:
            for place in waiting:
                text, mentioned = self.read[place.module].written(place.name)
                lines = [text]
                for names in mentioned:
                    places, libraries = self._named(place.module, names)
                    stand_for = [str(numbers.setdefault(each, len(numbers))) for each in places]
                    if stand_for or libraries:
                        lines.append(" ".join([".".join(names), *stand_for, *libraries]))
                found[place] = "\n".join(lines)
        return found

    def _named(self, module: str, names: tuple[str, ...]) -> tuple[list[Place], list[str]]:
        """What a chain of names stands for in a module.

        Returns: the places in the book that it leads to, or else dotted names of libraries.
        """
        first, *rest = names
        here = self.read[module]
        if first in here.definitions:
            return [Place(module, first)], []
        places, libraries = [], []
        for source in here.imports.get(first, ()):
            found = list(self._find([*source.split("."), *rest]))
            places += found
            if not found:
                libraries.append(source)
        return places, libraries

    def _find(self, parts: list[str]) -> Iterator[Place]:
        """The place of a dotted name, if it is of the book, and what its import runs before."""
        if any(parts[: len(room)] == room for room in ASIDE):
            return
        where = ""
        while parts and self._is_book(f"{where}.{parts[0]}".lstrip(".")):
            where = f"{where}.{parts[0]}".lstrip(".")
            parts = parts[1:]
            if AT_IMPORT in self.read[where].definitions:
                yield Place(where, AT_IMPORT)
        if not where:
            return
        module = self.read[where]
        if parts and parts[0] in module.definitions:
            yield Place(where, parts[0])
        elif parts and parts[0] in module.imports:
            for source in module.imports[parts[0]]:
                yield from self._find([*source.split("."), *parts[1:]])
        elif WHOLE in module.definitions:
            yield Place(where, WHOLE)

    def _is_book(self, name: str) -> bool:
        """Whether this is a module of the book, which is then read."""
        if name not in self.read and (file := self.file(name)):
            self.read[name] = _module(file, name)
        return name in self.read


class Module:
    """The top level of a file: the statements that define each name, and where names come from."""

    def __init__(self, package: str, text: str):
        """Sort the statements; an import counts for the whole file, wherever it stands."""
        self.definitions: dict[str, list[ast.stmt]] = defaultdict(list)
        self.imports: dict[str, list[str]] = defaultdict(list)
        self._written: dict[str, Definition] = {}
        tree = ast.parse(text)
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                for alias in node.names:
                    first = alias.name.partition(".")[0]
                    source = alias.name if alias.asname else first
                    self.imports[alias.asname or first].append(source)
            elif isinstance(node, ast.ImportFrom):
                dots = "." * node.level + (node.module or "")
                source = importlib.util.resolve_name(dots, package) if node.level else dots
                for alias in node.names:
                    self.imports[alias.asname or alias.name].append(f"{source}.{alias.name}")
        for statement in tree.body:
            if not _does_nothing(statement):
                names = [each for each in _changes(statement) if each not in self.imports]
                for each in [*(names or [AT_IMPORT]), WHOLE]:
                    self.definitions[each].append(statement)

    def written(self, name: str) -> Definition:
        """How the statements read that define a name."""
        if name not in self._written:
            names: dict[tuple[str, ...], None] = {}  # in the order of first mention
            text = _written(self.definitions[name], names)
            self._written[name] = Definition(text, tuple(names))
        return self._written[name]


def _module(path: Path, name: str) -> Module:
    package = name if path.name == "__init__.py" else name.rpartition(".")[0]
    return _parsed(package, path.read_text(encoding="utf-8"))


_parsed = cache(Module)  # once for each text


def _written(node: object, names: dict[tuple[str, ...], None]) -> str:
    """Syntax as a text, the same in every release of Python; chains of names are noted."""
    if isinstance(node, list):
        return f"[{', '.join(_written(each, names) for each in node if not _does_nothing(each))}]"
    if not isinstance(node, ast.AST):
        return repr(node)
    if isinstance(node, ast.Constant):
        return f"{node.value!r}"
    if chain := _chain(node):
        names.setdefault(chain)
        return ".".join(chain)
    if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call):  # whatever it says
        node = ast.Raise(node.exc.func, node.cause)
    if isinstance(node, ast.Assert):
        node = ast.Assert(node.test, None)
    if isinstance(node, ast.JoinedStr):  # early 3.12 has an empty text behind `{a:{b}}`
        node = ast.JoinedStr([each for each in node.values if getattr(each, "value", None) != ""])
    fields = [
        f"{field}={_written(value, names)}"
        for field, value in ast.iter_fields(node)
        if field not in LEFT_OUT and value is not None and value != []
    ]
    return f"{type(node).__name__}({', '.join(fields)})"


def _chain(node: ast.AST) -> tuple[str, ...]:
    """The names of `a.b.c`, or nothing if it doesn't begin with a name."""
    names: tuple[str, ...] = ()
    while isinstance(node, ast.Attribute):
        names = node.attr, *names
        node = node.value
    return (node.id, *names) if isinstance(node, ast.Name) else ()


def _changes(statement: ast.stmt) -> list[str]:
    """The names that a statement at the top level defines or changes."""
    if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return [statement.name]
    if not isinstance(statement, (ast.Assign, ast.AnnAssign, ast.AugAssign)):
        return []
    targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
    names = [node for target in targets for node in ast.walk(target) if isinstance(node, ast.Name)]
    return list(dict.fromkeys(node.id for node in names))


def _does_nothing(node: object) -> bool:
    """Imports, strings, and what runs only when the module is the program."""
    if isinstance(node, ast.Expr):
        return isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
    if isinstance(node, ast.If) and isinstance(node.test, ast.Compare):
        return _chain(node.test.left) == ("__name__",)
    return isinstance(node, (ast.Import, ast.ImportFrom, ast.Pass))
