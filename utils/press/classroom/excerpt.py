"""Of a hand-in, what its checks need: their cells, and from other cells what these use."""

import ast
import json  # nbformat takes seconds to load
import re
import symtable
from collections.abc import Iterator
from dataclasses import dataclass

from IPython.core.inputtransformer2 import TransformerManager

CALL = re.compile(r"^[ \t]*(?:(\w+)\s*=\s*)?check\(\s*[\"']([\w.]+)[\"']", re.MULTILINE)


@dataclass
class Cell:
    """A cell, or as much of it as is needed.

    source: all of it, as Python. code: the statements that are run; none if it can't be read, and
    then `problem` says why. checks: {exercise: the name under which the page goes on, or ""}.
    """

    source: str
    code: list[ast.stmt]
    checks: dict[str, str]
    problem: str = ""


def cells(notebook: str) -> list[Cell]:
    """The code cells of a notebook, from its text, each as a whole.

    Raises: ValueError if the text is no notebook.
    """
    try:
        found = json.loads(notebook)["cells"]
        sources = ["".join(cell["source"]) for cell in found if cell["cell_type"] == "code"]
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise ValueError("it can't be read as a notebook") from error
    return list(map(_cell, sources))


def _cell(source: str) -> Cell:
    checks = {name: target for target, name in CALL.findall(source)}
    try:
        python = TransformerManager().transform_cell(source)
        code = [each for each in ast.parse(python).body if "get_ipython" not in _names(each)[1]]
        return Cell(python, code, checks)
    except SyntaxError as error:
        return Cell(source, [], checks, f"SyntaxError: {error.msg} (line {error.lineno})")
    except (ValueError, RecursionError, MemoryError) as error:  # such as nesting without end
        return Cell(source, [], checks, f"{type(error).__name__}: it can't be read as Python")


def excerpt(cells: list[Cell]) -> list[Cell]:
    """The cells with checks, and of those before them the statements that define what these use.

    A definition is found by the name that it binds; what a call changes in passing, as
    `names.append(…)` does, is not.
    """
    wanted: set[str] = set()
    kept = []
    for cell in reversed(cells):
        code = []
        for statement in reversed(cell.code):
            bound, used = _names(statement)
            if cell.checks or bound & wanted or "*" in bound:
                code.append(statement)
                wanted = (wanted - _replaced(statement)) | used
        if code or cell.checks:
            kept.append(Cell(cell.source, code[::-1], cell.checks, cell.problem))
    return kept[::-1]


def _names(statement: ast.stmt) -> tuple[set[str], set[str]]:
    """The names that a statement binds at the top of a page, and those that it uses from there."""
    if isinstance(statement, ast.ImportFrom) and statement.names[0].name == "*":
        return {"*"}, set()
    top = symtable.symtable(ast.unparse(statement), "a cell", "exec")
    bound = {s.get_name() for s in top.get_symbols() if s.is_assigned() or s.is_imported()}
    used = {
        symbol.get_name()
        for table in _tables(top)
        for symbol in table.get_symbols()
        if symbol.is_referenced() and (table is top or symbol.is_global())
    }
    return bound, used


def _replaced(statement: ast.stmt) -> set[str]:
    """The names that after a statement mean nothing that came before it."""
    if isinstance(statement, ast.FunctionDef | ast.ClassDef):
        return {statement.name}
    targets = statement.targets if isinstance(statement, ast.Assign) else []
    return {target.id for target in targets if isinstance(target, ast.Name)}


def _tables(table: symtable.SymbolTable) -> Iterator[symtable.SymbolTable]:
    yield table
    for inner in table.get_children():
        yield from _tables(inner)
