"""What the reference has an entry for, under which address, and how it is written."""

import ast
import inspect
import pkgutil
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from types import ModuleType
from typing import NamedTuple

from utils.press import lessons

CODE = re.compile(r"`([^`]+)`")


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
    return Parsed(lines, dict(_definitions(tree)), comments(tree, lines))


def _definitions(body: ast.AST, within: str = "") -> Iterator[tuple[str, ast.AST]]:
    for node in body.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield within + node.name, node
            if isinstance(node, ast.ClassDef):
                yield from _definitions(node, f"{within}{node.name}.")


def comments(body: ast.AST, lines: list[str]) -> dict[str, str]:
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
    return list(lessons.referred_to(lessons.days()))


@cache
def addresses() -> dict[str, str]:
    """{any address of an entry: the one that is listed}."""
    found = {}
    for page in pages():
        for module, each in entries(page).items():
            for entry in each:
                home = getattr(entry.thing, "__module__", None) or module
                for place in (f"utils.{page}", module, home):
                    found.setdefault(f"{place}.{entry.name}", entry.address)
    return found


@cache
def listed() -> set[str]:
    """The addresses of all entries."""
    return set(addresses().values())


@cache
def by_name() -> dict[str, str]:
    """{name: address} of the names that one entry alone has."""
    found: dict[str, set[str]] = {}
    for address in listed():
        found.setdefault(address.rpartition(".")[2], set()).add(address)
    return {name: next(iter(of)) for name, of in found.items() if len(of) == 1}


@cache
def places() -> set[str]:
    """The modules that the reference has."""
    return {f"utils.{page}" for page in pages()}.union(*(entries(page) for page in pages()))


@cache
def _concepts() -> dict[str, str]:
    modules = (each for page in lessons.concepts() for each in entries(page).values())
    return {_letters(entry.name): entry.address for each in modules for entry in each}


def _letters(name: str) -> str:
    return re.sub("[_-]", "", name).lower()


def concept(exercise: str) -> str | None:
    """The entry of a concept that an exercise asks for, which is called the same."""
    return _concepts().get(_letters(exercise))


def constant(address: str) -> str:
    """What the comment beside a constant says."""
    module, _, name = address.rpartition(".")
    files = (module, *entries(module.removeprefix("utils.")))
    text = next(filter(None, (parsed(file).comments.get(name) for file in files)), "")
    return text[:1].upper() + text[1:] + "." if text else ""


def meant(address: str) -> str | None:
    """The listed address of what an address means: an entry, a method of one, a module."""
    known = addresses()
    if address in known:
        return known[address]
    if address in places():
        return address
    owner, _, name = address.rpartition(".")
    if owner in known and not name.startswith("_"):
        thing = named(known[owner])
        if inspect.isclass(thing) and inspect.isroutine(vars(thing).get(name)):
            return f"{known[owner]}.{name}"
    return None


def named(address: str) -> object:
    """What has an address."""
    module, _, name = address.rpartition(".")
    return getattr(import_module(module), name)
