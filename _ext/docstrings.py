"""How the reference reads signatures and docstrings.

A docstring is plain text: paragraphs, code in single backticks, and points such as "Shapes: …",
"Raises: …" or "dropout: …", each of which ends where the next begins.
"""

import ast
import copy
import inspect
import re
from collections.abc import Callable, Collection, Iterator
from dataclasses import is_dataclass
from importlib import import_module
from types import GenericAlias

import entries

from utils.press import lessons

SECTIONS = ("Shapes", "Returns", "Raises")
WITHIN = re.compile(rf"(?<=[.;:)]) (?=(?:{'|'.join(SECTIONS)}): )")  # begins after a sentence
POINT = re.compile(r"([A-Za-z_]\w*(?:, [A-Za-z_]\w*)*)( \([^)]*\))?: (.*)")
DAY = re.compile(r"\bDay (\d+)\b")
ERROR = re.compile(r"\b[A-Z]\w*Error\b")


class _Full(ast.NodeTransformer):
    """Gives the names of the book's own types in full, so that they lead to their entries."""

    def __init__(self, module: str):
        self.module = import_module(module)

    def visit_Name(self, node: ast.Name) -> ast.expr:
        thing = getattr(self.module, node.id, None)
        if type(thing) is GenericAlias:  # a name of this file alone, as for tuple[int, int]
            return ast.parse(repr(thing), mode="eval").body
        homes = (self.module.__name__, getattr(thing, "__module__", None))
        there = (entries.addresses().get(f"{home}.{node.id}") for home in homes)
        return ast.Name(next(filter(None, there), node.id))

    def visit_Constant(self, node: ast.Constant) -> ast.AST:  # a type that is not yet defined
        return self.visit_Name(ast.Name(node.value)) if isinstance(node.value, str) else node


def signature(thing: object) -> tuple[str, str | None]:
    """Arguments and result as they are written; of a class of fields, these."""
    written = thing.__init__ if inspect.isclass(thing) and not _has_fields(thing) else thing
    home, written = getattr(inspect.unwrap(written), "__module__", ""), entries.definition(written)
    if written is None:
        return "", None
    written, full = copy.deepcopy(written), _Full(home)
    for node in ast.walk(written):
        if getattr(node, "annotation", None) is not None:
            node.annotation = full.visit(node.annotation)
    if _has_fields(thing):
        shown = (_field(node) for node in written.body if isinstance(node, ast.AnnAssign))
        return f"({', '.join(shown)})", None
    result = None if inspect.isclass(thing) else written.returns
    arguments = written.args
    first = next(iter(arguments.posonlyargs or arguments.args), None)
    if first and first.arg in ("self", "cls"):
        (arguments.posonlyargs or arguments.args).pop(0)
    return f"({ast.unparse(arguments)})", result and ast.unparse(full.visit(result))


def _has_fields(thing: object) -> bool:
    return inspect.isclass(thing) and (is_dataclass(thing) or issubclass(thing, tuple))


def _field(written: ast.AnnAssign) -> str:
    shown = f"{written.target.id}: {ast.unparse(written.annotation)}"
    if written.value is None:
        return shown
    made = isinstance(written.value, ast.Call) and "field" in ast.unparse(written.value.func)
    return f"{shown} = {'...' if made else ast.unparse(written.value)}"


def explained(thing: object) -> set[str]:
    """The names that a docstring may explain: arguments, of a class its methods' and fields."""
    written = entries.definition(thing)
    if isinstance(written, ast.FunctionDef):
        return {node.arg for node in ast.walk(written.args) if isinstance(node, ast.arg)}
    if not inspect.isclass(thing):
        return set()
    names = {name for cls in thing.__mro__ for name in getattr(cls, "__annotations__", ())}
    methods = (getattr(cls, name) for cls in thing.__mro__ for name in vars(cls))
    return names.union(*(explained(each) for each in methods if not inspect.isclass(each)))


def fields(thing: object) -> dict[str, str]:
    """{field: the comment at the end of its line} of a class that is made of fields."""
    if not _has_fields(thing):
        return {}
    comments = entries.comments(entries.definition(thing), entries.parsed(thing.__module__).lines)
    return {name: comment for name, comment in comments.items() if comment}


# Docstrings ---------------------------------------------------------------------------------------


def as_rst(text: str, points: Collection[str], address: Callable[[str], str | None]) -> list[str]:
    """A docstring as lines of reST: its points as a list of definitions.

    points: the names that can begin one. address: of what stands in backticks, or None.
    """
    lines: list[str] = []
    for term, content in _parts(inspect.cleandoc(text), set(points)):
        said = inline(content, address)
        lines += [said, ""] if term is None else [term, f"   {said}", ""]
    return lines


def _parts(text: str, points: set[str]) -> Iterator[tuple[str | None, str]]:
    """(the term of a point, in reST, or None for a paragraph; the words) in turn."""
    for block in re.split(r"\n\s*\n", text):
        term, words = None, []
        for line in WITHIN.sub("\n", block).splitlines():
            found = POINT.fullmatch(line)
            begins = found and (found[1] in SECTIONS or points.issuperset(found[1].split(", ")))
            ends = term and term not in SECTIONS and not line.startswith(" ")
            if (begins or ends) and words:
                yield term, " ".join(words)
                term, words = None, []
            if begins:
                term, words = _term(found[1], found[2] or ""), [found[3]]
            else:
                words.append(line.strip())
        if words:
            yield term, " ".join(words)


def _term(names: str, more: str) -> str:
    if names in SECTIONS:
        return names
    return ", ".join(f"``{name}``" for name in names.split(", ")) + inline(more)


def plain(text: str) -> str:
    """Text in reST, nothing of which is markup."""
    return re.sub(r"([^\w\s]|_)", r"\\\1", text)


def _lesson(words: str, number: int) -> str:
    stems = {day.number: day.stem for day in lessons.days()}
    if number not in stems:
        return words
    return f"\\ :doc:`{words} </chapters/{stems[number]}>`\\ "


def inline(text: str, address: Callable[[str], str | None] = lambda code: None) -> str:
    """Plain text as reST that says the same: code as code, and nothing else is markup."""
    made = []
    for i, part in enumerate(entries.CODE.split(text)):
        if i % 2 == 0:
            escaped = ERROR.sub(lambda found: f"\\ ``{found[0]}``\\ ", plain(part))
            made.append(DAY.sub(lambda found: _lesson(found[0], int(found[1])), escaped))
        elif there := address(part):
            made.append(f"\\ :py:obj:`{part} <{there}>`\\ ")
        else:
            made.append(f"\\ ``{part}``\\ ")
    return "".join(made)
