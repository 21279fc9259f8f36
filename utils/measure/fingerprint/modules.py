"""Where each name of a script and of the book's modules is defined."""

import ast
import importlib.util
from collections import defaultdict
from collections.abc import Iterator
from functools import cache, reduce
from pathlib import Path
from typing import NamedTuple

from utils.measure.fingerprint.scopes import FUNCTIONS, arguments

AT_IMPORT = "at import"  # a module's statements that define nothing: they run in any case
WHOLE = "*"  # all of a module: it was used in a way that doesn't say which of its names


class Place(NamedTuple):
    """A definition: a module's name, its own, and its class's if it is a method."""

    module: str
    name: str
    owner: str = ""


class Modules:
    """A script and the modules of the book that it leads to; the script's own name is ""."""

    def __init__(self, script: Path, book: Path):
        self.book = book
        self.read = {"": Module("", script)}

    def statements(self, place: Place) -> list[ast.stmt]:
        """The statements that make up a definition."""
        definitions = self.read[place.module].definitions
        if not place.owner:
            return definitions.get(place.name, [])
        bodies = [each.body for each in definitions[place.owner] if isinstance(each, ast.ClassDef)]
        return [each for each in sum(bodies, []) if getattr(each, "name", None) == place.name]

    def named(self, module: str, chain: list[str]) -> tuple[list[Place], list[str], list[str]]:
        """What a chain of names (`layers.size`) stands for in a module.

        Returns: the places in the book that it leads to, dotted names of libraries that it may
        stand for, and what is left of the chain behind the last place.
        """
        first, *rest = chain
        here = self.read[module]
        if first in here.definitions:
            return [Place(module, first)], [], rest
        places, libraries, left = [], [], rest
        for source in here.imports.get(first, ()):
            found = list(self._find([*source.split("."), *rest]))
            if found:
                places += [place for place, _ in found]
                left = found[-1][1]
            else:
                libraries.append(".".join([source, *rest]))
        return places, libraries, left

    def parameters(self, place: Place) -> list[str] | None:
        """The names of the arguments that a function or a class is called with."""
        for each in self.statements(place):
            if isinstance(each, FUNCTIONS):
                return [arg.arg for arg in arguments(each.args)]
            if isinstance(each, ast.ClassDef):
                return self._fields(each, place.module)
        return None

    def _fields(self, node: ast.ClassDef, module: str) -> list[str]:
        """The arguments of `__init__`, or else the fields of a data class, those of bases first."""
        for each in node.body:
            if isinstance(each, FUNCTIONS) and each.name == "__init__":
                return [arg.arg for arg in arguments(each.args)][1:]
        inherited = [self.parameters(place) or [] for place in self._bases(node, module)[0]]
        fields = [each.target.id for each in node.body if isinstance(each, ast.AnnAssign)]
        return [*sum(inherited, []), *fields]

    def libraries(self, node: ast.ClassDef, module: str) -> Iterator[object]:
        """The classes of libraries that a class inherits from, also by way of the book's."""
        places, dotted = self._bases(node, module)
        yield from map(_imported, dotted)
        for place in places:
            for each in self.statements(place):
                if isinstance(each, ast.ClassDef):
                    yield from self.libraries(each, place.module)

    def _bases(self, node: ast.ClassDef, module: str) -> tuple[list[Place], list[str]]:
        """The bases that a class names: the book's, and those of libraries and of Python."""
        places, dotted = [], []
        for base in node.bases:
            names = chain(base.value if isinstance(base, ast.Subscript) else base)
            if names:
                found, elsewhere, _ = self.named(module, names)
                places += [place for place in found if place.name not in (AT_IMPORT, WHOLE)]
                dotted += elsewhere or ([] if found else [".".join(["builtins", *names])])
        return places, dotted

    def _find(self, parts: list[str]) -> Iterator[tuple[Place, list[str]]]:
        """(place, names left behind it) of a dotted name, and of what its import runs before."""
        where = ""
        while parts and self._is_book(f"{where}.{parts[0]}".lstrip(".")):
            where = f"{where}.{parts[0]}".lstrip(".")
            parts = parts[1:]
            yield Place(where, AT_IMPORT), []
        if not where:
            return
        module = self.read[where]
        if parts and parts[0] in module.definitions:
            yield Place(where, parts[0]), parts[1:]
        elif parts and parts[0] in module.imports:
            for source in module.imports[parts[0]]:
                yield from self._find([*source.split("."), *parts[1:]])
        else:
            yield Place(where, WHOLE), parts

    def _is_book(self, name: str) -> bool:
        """Whether this is a module of the book, which is then read."""
        path = self.book.joinpath(*name.split("."))
        for file in (path / "__init__.py", path.with_name(f"{path.name}.py")):
            if name not in self.read and file.is_file():
                self.read[name] = Module(name, file)
        return name in self.read


class Module:
    """The top level of a file: the statements that define each name, and where names come from."""

    def __init__(self, name: str, path: Path):
        """Sort the statements; an import counts for the whole file, wherever it stands."""
        self.definitions: dict[str, list[ast.stmt]] = defaultdict(list)
        self.imports: dict[str, list[str]] = defaultdict(list)
        package = name if path.name == "__init__.py" else name.rpartition(".")[0]
        tree = ast.parse(path.read_text(encoding="utf-8"))
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
                for each in names or [AT_IMPORT]:
                    self.definitions[each].append(statement)


@cache
def _imported(dotted: str) -> object:
    """What a dotted name of a library stands for."""
    parts = dotted.split(".")
    for n in range(len(parts) - 1, 0, -1):
        try:
            return reduce(getattr, parts[n:], importlib.import_module(".".join(parts[:n])))
        except (ImportError, AttributeError):
            continue
    return object


def chain(node: ast.expr) -> list[str]:
    """The names of `a.b.c`, or nothing if it doesn't begin with a name."""
    names = []
    while isinstance(node, ast.Attribute):
        names.insert(0, node.attr)
        node = node.value
    return [node.id, *names] if isinstance(node, ast.Name) else []


def is_bare_string(node: object) -> bool:
    value = node.value if isinstance(node, ast.Expr) else None
    return isinstance(value, ast.Constant) and isinstance(value.value, str)


def _changes(statement: ast.stmt) -> list[str]:
    """The names that a statement at the top level defines or changes."""
    if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return [statement.name]
    if not isinstance(statement, (ast.Assign, ast.AnnAssign, ast.AugAssign)):
        return []
    targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
    names = [node for target in targets for node in ast.walk(target) if isinstance(node, ast.Name)]
    return list(dict.fromkeys(node.id for node in names))


def _does_nothing(statement: ast.stmt) -> bool:
    """Imports, strings, and what runs only when the module is the program."""
    is_main = isinstance(statement, ast.If) and ast.unparse(statement.test).startswith(
        "__name__ =="
    )
    return (
        isinstance(statement, (ast.Import, ast.ImportFrom)) or is_bare_string(statement) or is_main
    )
