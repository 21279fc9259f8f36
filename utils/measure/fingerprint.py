"""A fingerprint of the code that a script reaches, of its parameters and of its data.

Code is followed definition by definition: from the script's own functions to the functions, classes
and constants of this book that they name, and on from those. What is hashed is the syntax tree,
without positions, docstrings and comments: only what may change a result changes it.
"""

import ast
import hashlib
import importlib.util
import json
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np

from utils import ROOT

AT_IMPORT = "at import"  # a module's statements that define nothing: they run in any case
SHOWING = {"utils.show.plotting", "utils.show.display"}  # how a result is shown doesn't change it
WHOLE = "*"  # all of a module: it was used in a way that doesn't say which of its names


def fingerprint(
    script: Path, roots: Iterable[str], parameters: dict, data: Iterable = (), book: Path = ROOT
) -> str:
    """SHA-256 of the code reached from `roots` of `script`, its parameters and arrays of data."""
    digest = hashlib.sha256(json.dumps(parameters, sort_keys=True).encode())
    for place, code in sorted(Code(script, book).reached(roots).items()):
        digest.update(f"\n{place}\n{code}".encode())
    for array in data:
        array = np.ascontiguousarray(array)
        digest.update(f"\n{array.dtype} {array.shape}\n".encode() + array.tobytes())
    return digest.hexdigest()


class Code:
    """A script and the modules of the book that it leads to; the script's own name is ""."""

    def __init__(self, script: Path, book: Path = ROOT):
        self.book = book
        self.modules = {"": Module("", script)}

    def reached(self, roots: Iterable[str]) -> dict[str, str]:
        """{"module: name": syntax tree} of every definition reached from `roots` of the script."""
        found: dict[str, str] = {}
        waiting = [("", root) for root in roots if root in self.modules[""].definitions]
        waiting.append(("", AT_IMPORT))
        while waiting:
            where, name = waiting.pop()
            if where in SHOWING or f"{where}: {name}" in found:
                continue
            module = self.modules[where]
            statements = module.definitions.get(name, [])
            code = [dump(statement) for statement in statements]
            if name == WHOLE:
                waiting += [(where, each) for each in module.definitions]
            for chain in sorted(set(chains(statements))):
                first, _, rest = chain.partition(".")
                if first in module.definitions:
                    waiting.append((where, first))
                for source in module.imports.get(first, ()):
                    code.append(f"{first} is {source}")
                    waiting += self.find(f"{source}.{rest}".rstrip("."))
            found[f"{where}: {name}"] = "\n".join(code)
        return found

    def find(self, dotted: str) -> Iterator[tuple[str, str]]:
        """(module, name) of what a dotted name stands for in the book, and what its import runs."""
        parts, where = dotted.split("."), ""
        while parts and self._read(f"{where}.{parts[0]}".lstrip(".")):
            where = f"{where}.{parts.pop(0)}".lstrip(".")
            yield where, AT_IMPORT
        if not where:
            return
        module = self.modules[where]
        if parts and parts[0] in module.definitions:
            yield where, parts[0]
        elif parts and parts[0] in module.imports:
            for source in module.imports[parts[0]]:
                yield from self.find(".".join([source, *parts[1:]]))
        else:
            yield where, WHOLE

    def _read(self, name: str) -> bool:
        """Read a module of the book, unless it is from elsewhere."""
        path = self.book.joinpath(*name.split("."))
        for file in (path / "__init__.py", path.with_name(f"{path.name}.py")):
            if name not in self.modules and file.is_file():
                self.modules[name] = Module(name, file)
        return name in self.modules


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
                    self.imports[alias.asname or first].append(
                        alias.name if alias.asname else first
                    )
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


def chains(statements: Iterable[ast.AST]) -> Iterator[str]:
    """The names that code mentions, with the attributes that follow them (`module.name`)."""
    nodes = list(statements)
    while nodes:
        node = inner = nodes.pop()
        while isinstance(inner, ast.Attribute):
            inner = inner.value
        if isinstance(inner, ast.Name):
            yield ast.unparse(node)
        else:
            nodes += ast.iter_child_nodes(node)


def dump(node: object) -> str:
    """A syntax tree as text, without bare strings, and the same in every release of Python."""
    if isinstance(node, list):
        return f"[{', '.join(dump(each) for each in node if not _is_bare_string(each))}]"
    if not isinstance(node, ast.AST):
        return repr(node)
    fields = [(name, value) for name, value in ast.iter_fields(node) if value not in (None, [])]
    return f"{type(node).__name__}({', '.join(f'{name}={dump(value)}' for name, value in fields)})"


def _changes(statement: ast.stmt) -> list[str]:
    """The names that a statement at the top level defines or changes."""
    if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return [statement.name]
    if not isinstance(statement, (ast.Assign, ast.AnnAssign, ast.AugAssign)):
        return []
    targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
    return [chain.partition(".")[0] for chain in chains(targets)]


def _does_nothing(statement: ast.stmt) -> bool:
    """Imports, strings, and what runs only when the module is the program."""
    is_main = isinstance(statement, ast.If) and ast.unparse(statement.test).startswith(
        "__name__ =="
    )
    return (
        isinstance(statement, (ast.Import, ast.ImportFrom)) or _is_bare_string(statement) or is_main
    )


def _is_bare_string(node: object) -> bool:
    value = node.value if isinstance(node, ast.Expr) else None
    return isinstance(value, ast.Constant) and isinstance(value.value, str)
