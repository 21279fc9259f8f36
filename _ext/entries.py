"""What the reference has an entry for, and how an entry's docstring is read.

A docstring is plain text: paragraphs, code in single backticks, and points such as "Shapes: …",
"Raises: …" or "dropout: …", each of which ends where the next begins.
"""

import ast
import copy
import inspect
import pkgutil
import re
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, is_dataclass
from functools import cache
from importlib import import_module
from types import GenericAlias, ModuleType
from typing import NamedTuple

from utils.press import lessons

SECTIONS = ("Shapes", "Returns", "Raises")
WITHIN = re.compile(rf"(?<=[.;:)]) (?=(?:{'|'.join(SECTIONS)}): )")  # begins after a sentence
POINT = re.compile(r"([A-Za-z_]\w*(?:, [A-Za-z_]\w*)*)( \([^)]*\))?: (.*)")
CODE = re.compile(r"`([^`]+)`")
DAY = re.compile(r"\bDay (\d+)\b")
ERROR = re.compile(r"\b[A-Z]\w*Error\b")


@dataclass(frozen=True)
class Entry:
    """A public name of a module: where it is imported from, and what it is."""

    address: str  # the shortest, as utils.transformer.FeedForward
    name: str
    thing: object

    @property
    def kind(self) -> str:
        if inspect.isclass(self.thing):
            return "exception" if issubclass(self.thing, Exception) else "class"
        return "data" if definition(self.thing) is None else "function"


def modules(page: str) -> list[ModuleType]:
    """The modules of a page of the reference, in the order in which they are to be read.

    A concept's files come as its docstring names them. Elsewhere a package is what it exports.
    """
    top = import_module(f"utils.{page}")
    if not hasattr(top, "__path__") or (page not in lessons.concepts() and "__all__" in vars(top)):
        return [top]
    names = [info.name for info in pkgutil.iter_modules(top.__path__) if info.name[0] != "_"]
    told = CODE.findall(top.__doc__ or "")
    names.sort(key=lambda name: (told.index(name) if name in told else len(told), name))
    return [import_module(f"{top.__name__}.{name}") for name in names]


@cache
def entries(page: str) -> dict[str, list[Entry]]:
    """{module: its entries, in the order of the file}; a module without any is left out."""
    top = import_module(f"utils.{page}")
    exported = getattr(top, "__all__", ())
    found: dict[str, list[Entry]] = {}
    for module in modules(page):
        for name in _defined(module, exported):
            thing = getattr(module, name)
            short = name in exported and getattr(top, name) is thing
            address = f"{(top if short else module).__name__}.{name}"
            found.setdefault(module.__name__, []).append(Entry(address, name, thing))
    return found


def _defined(module: ModuleType, exported: Collection[str]) -> Iterator[str]:
    """The names that a module defines, or that a package exports; of constants those exported."""
    everything = vars(module).get("__all__", ()) if hasattr(module, "__path__") else ()
    written = parsed(module.__name__)
    for name, thing in vars(module).items():
        if name.startswith("_") or inspect.ismodule(thing):
            continue
        defined = name in written.definitions or (name in written.comments and name in exported)
        if defined or name in everything:
            yield name


class Parsed(NamedTuple):
    """The text of a module: its lines, its functions and classes by name, its constants."""

    lines: list[str]
    definitions: dict[str, ast.AST]
    comments: dict[str, str]  # at the end of a constant's line, or ""


@cache
def parsed(module: str) -> Parsed:
    text = inspect.getsource(import_module(module))
    tree, lines = ast.parse(text), text.splitlines()
    return Parsed(lines, dict(_definitions(tree)), _comments(tree, lines))


def _definitions(body: ast.AST, within: str = "") -> Iterator[tuple[str, ast.AST]]:
    for node in body.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield within + node.name, node
            if isinstance(node, ast.ClassDef):
                yield from _definitions(node, f"{within}{node.name}.")


def _comments(body: ast.AST, lines: list[str]) -> dict[str, str]:
    found = {}
    for node in body.body:
        target = getattr(node, "target", None) or next(iter(getattr(node, "targets", ())), None)
        if isinstance(target, ast.Name):
            rest = lines[node.end_lineno - 1].encode()[node.end_col_offset :].decode().strip()
            found[target.id] = rest.removeprefix("# ") if rest.startswith("# ") else ""
    return found


def definition(thing: object) -> ast.AST | None:
    """How a function or class of `utils` is written; None for one of others."""
    thing = inspect.unwrap(getattr(thing, "__func__", thing))
    home, name = (getattr(thing, part, None) or "" for part in ("__module__", "__qualname__"))
    return parsed(home).definitions.get(name) if home.startswith("utils.") else None


def code(thing: object) -> tuple[str, int]:
    """The source of a function or class, and the number of its first line."""
    written = definition(thing)
    first = min(node.lineno for node in (written, *written.decorator_list))
    lines = parsed(inspect.unwrap(thing).__module__).lines[first - 1 : written.end_lineno]
    return "\n".join(lines), first


def pages() -> list[str]:
    """The pages of the reference: a concept module each, and the other floors."""
    return [*lessons.concepts(), *lessons.FLOORS]


@cache
def addresses() -> dict[str, str]:
    """{any address of an entry: the one that is listed}."""
    found = {}
    for page in pages():
        for module, listed in entries(page).items():
            for entry in listed:
                home = getattr(entry.thing, "__module__", None) or module
                for place in (f"utils.{page}", module, home):
                    found.setdefault(f"{place}.{entry.name}", entry.address)
    return found


@cache
def by_name() -> dict[str, str]:
    """{name: address} of the names that one entry alone has."""
    found: dict[str, set[str]] = {}
    for address in addresses().values():
        found.setdefault(address.rpartition(".")[2], set()).add(address)
    return {name: next(iter(of)) for name, of in found.items() if len(of) == 1}


@cache
def places() -> set[str]:
    """The modules that the reference has."""
    return {f"utils.{page}" for page in pages()}.union(*(entries(page) for page in pages()))


@cache
def _concepts() -> dict[str, str]:
    listed = (
        entry for page in lessons.concepts() for each in entries(page).values() for entry in each
    )
    return {_plain(entry.name): entry.address for entry in listed}


def _plain(name: str) -> str:
    return re.sub("[_-]", "", name).lower()


def concept(exercise: str) -> str | None:
    """The entry of a concept that an exercise asks for, which is called the same."""
    return _concepts().get(_plain(exercise))


def constant(address: str) -> str:
    """What the comment beside a constant says."""
    module, _, name = address.rpartition(".")
    page = module.removeprefix("utils.")
    said = (parsed(place).comments.get(name) for place in (module, *entries(page)))
    text = next(filter(None, said), "")
    return text[:1].upper() + text[1:] + "." if text else ""


# Signatures ---------------------------------------------------------------------------------------


class _Full(ast.NodeTransformer):
    """Gives the names of the book's own types in full, so that they lead to their entries."""

    def __init__(self, module: str):
        self.module = import_module(module)

    def visit_Name(self, node: ast.Name) -> ast.expr:
        thing = getattr(self.module, node.id, None)
        if type(thing) is GenericAlias:  # a name of this file alone, as for tuple[int, int]
            return ast.parse(repr(thing), mode="eval").body
        homes = (self.module.__name__, getattr(thing, "__module__", None))
        there = (addresses().get(f"{home}.{node.id}") for home in homes)
        return ast.Name(next(filter(None, there), node.id))

    def visit_Constant(self, node: ast.Constant) -> ast.AST:  # a type that is not yet defined
        return self.visit_Name(ast.Name(node.value)) if isinstance(node.value, str) else node


def signature(thing: object) -> tuple[str, str | None]:
    """Arguments and result as they are written; of a class of fields, these."""
    written = thing.__init__ if inspect.isclass(thing) and not _has_fields(thing) else thing
    home, written = getattr(inspect.unwrap(written), "__module__", ""), definition(written)
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
    written = definition(thing)
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
    comments = _comments(definition(thing), parsed(thing.__module__).lines)
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
    for i, part in enumerate(CODE.split(text)):
        if i % 2 == 0:
            escaped = ERROR.sub(lambda found: f"\\ ``{found[0]}``\\ ", plain(part))
            made.append(DAY.sub(lambda found: _lesson(found[0], int(found[1])), escaped))
        elif there := address(part):
            made.append(f"\\ :py:obj:`{part} <{there}>`\\ ")
        else:
            made.append(f"\\ ``{part}``\\ ")
    return "".join(made)
