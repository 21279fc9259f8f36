"""Code in a form in which a name of the book's own is a number: that of its first mention.

Left out are module paths, annotations, docstrings, comments and what the sentences of errors say.
Of a class, those methods count that may run: Python's and the libraries' own (`__init__`,
`forward`), and those whose names are mentioned in the code that is reached.
"""

import ast
from collections import defaultdict, deque
from collections.abc import Iterable

from utils.measure.fingerprint.modules import (
    AT_IMPORT,
    WHOLE,
    Modules,
    Place,
    chain,
    is_bare_string,
)
from utils.measure.fingerprint.scopes import (
    COMPREHENSIONS,
    FUNCTIONS,
    Scope,
    arguments,
    binds,
    decorators,
)
from utils.measure.fingerprint.spelling import Spelled, Spelling, is_pythons

SHOWING = "utils.show"  # how a result is shown doesn't change it
NOTHING = (ast.Import, ast.ImportFrom, ast.Global, ast.Nonlocal, ast.Pass)
LEFT_OUT = {"ctx", "kind", "returns", "annotation", "type_comment", "type_params"}


class Canonical:
    """Reads what is reached from a script, and writes it in the order of first mention."""

    def __init__(self, modules: Modules, parameters: Iterable[str]):
        """parameters: names by which others than the code call its functions."""
        self.modules = modules
        self.spelling = Spelling(parameters)
        self.words: list[str | Spelled] = []
        self.numbers: dict[Place, int] = {}  # of definitions
        self.waiting: deque[Place] = deque()
        self.mentioned: dict[str, int] = {}  # attributes, by the order of their first mention
        self.methods: dict[str, list[Place]] = defaultdict(list)  # of reached classes, not called

    def text(self, roots: Iterable[str]) -> str:
        """Everything that is reached from names of the script."""
        for root in roots:
            if root in self.modules.read[""].definitions:
                self._reach(Place("", root))
        self._import("")
        while self.waiting:
            self._write_place(self.waiting.popleft())
        return "".join(self.spelling.text(self.words))

    # What is reached ------------------------------------------------------------------------------

    def _reach(self, place: Place) -> int:
        if place not in self.numbers:
            self.numbers[place] = len(self.numbers)
            self.waiting.append(place)
        return self.numbers[place]

    def _import(self, module: str) -> None:
        """A module that only defines does nothing when it is imported."""
        if self.modules.read[module].definitions.get(AT_IMPORT):
            self._reach(Place(module, AT_IMPORT))

    def _mention(self, name: str) -> None:
        """An attribute's name may call every method of that name."""
        self.mentioned.setdefault(name, len(self.mentioned))
        for place in self.methods.pop(name, ()):
            self._reach(place)

    def _write_place(self, place: Place) -> None:
        """Write a definition under its number."""
        self.here, self.locals = place.module, {}
        self.words.append(f"\n{self.numbers[place]}: ")
        if place.name == WHOLE:
            for name in list(self.modules.read[place.module].definitions):
                self.words.append(f"{name} is {self._reach(Place(place.module, name))}, ")
        scope = None
        if place.owner:
            owner = place._replace(name=place.owner, owner="")
            self.words.append(f"{self._reach(owner)} ")
            self._attribute(place.name)
            scope = Scope.of_class(self.modules.statements(owner)[0], None)
        for statement in self.modules.statements(place):
            if isinstance(statement, ast.ClassDef):
                self._write_class(statement, place)
            elif isinstance(statement, FUNCTIONS):
                self._write_function(statement, scope)
            else:
                self._write(statement, scope)

    def _write_class(self, node: ast.ClassDef, place: Place) -> None:
        """Write what its statement runs; a method is a definition of its own, if it may run."""
        libraries = list(self.modules.libraries(node, self.here))
        self.spelling.keep_of(*libraries)
        hooks = {name for each in libraries for name in dir(each)}
        plain, called = [], []
        for number, each in enumerate(node.body):
            if not isinstance(each, FUNCTIONS):
                plain.append(each)
                continue
            method = place._replace(name=each.name, owner=place.name)
            marks = [chain(getattr(mark, "func", mark)) for mark in each.decorator_list]
            if each.name in hooks or is_pythons(each.name):
                called.append((0, each.name, number, method))
            elif each.name in self.mentioned:
                called.append((1, "", self.mentioned[each.name], method))
            elif any(self.modules.named(self.here, mark)[0] for mark in marks if mark):
                called.append((2, "", number, method))  # a decorator of the book has it
            else:
                self.methods[each.name].append(method)
        self._write_head(node, plain, None)
        for *_, method in sorted(called):
            self._reach(method)

    # Syntax ---------------------------------------------------------------------------------------

    def _write(self, node: object, scope: Scope | None) -> None:
        special = getattr(self, f"_write_{type(node).__name__.lower()}", None)
        if isinstance(node, list):
            self._write_each(node, scope)
        elif special:
            special(node, scope)
        elif isinstance(node, COMPREHENSIONS):
            self._write_loops(node, scope)
        elif not isinstance(node, ast.AST):
            self.words.append(f"{node!r} ")
        else:
            self.words.append(f"{type(node).__name__}(")
            for name, value in ast.iter_fields(node):
                if name not in LEFT_OUT and value is not None and value != []:
                    self.words.append(f"{name}=")
                    self._write(value, scope)
            self.words.append(")")

    def _write_each(self, nodes: list, scope: Scope | None) -> None:
        self.words.append("[")
        for node in nodes:
            if not isinstance(node, NOTHING) and not is_bare_string(node):
                self._write(node, scope)
                self.words.append(", ")
        self.words.append("]")

    def _write_constant(self, node: ast.Constant, scope: Scope | None) -> None:
        self.words.append(f"{node.value!r} ")
        if isinstance(node.value, str) and node.value.isidentifier():
            self.spelling.keep(node.value)
            self._mention(node.value)

    def _write_name(self, node: ast.Name, scope: Scope | None) -> None:
        self._name(node.id, scope)

    def _write_attribute(self, node: ast.Attribute, scope: Scope | None) -> None:
        names = chain(node)
        if names and self._is_global(names[0], scope):
            self._global(names)
            return
        self._write(node.value, scope)
        self._attribute(node.attr)
        if isinstance(node.ctx, ast.Load):
            return
        owner = self._binder(node.value.id, scope) if isinstance(node.value, ast.Name) else None
        if owner and owner.myself == node.value.id:
            self.spelling.attributes.own.add(node.attr)
        else:
            self.spelling.attributes.kept.add(
                node.attr
            )  # it may be a library's object that is changed

    def _write_call(self, node: ast.Call, scope: Scope | None) -> None:
        self.words.append("Call(")
        self._write(node.func, scope)
        self._write(node.args, scope)
        parameters, method = self._signature(node, scope)
        for keyword in node.keywords:
            if keyword.arg is None:
                self.words.append("**")
            elif keyword.arg in parameters:
                self.words.append(f"{parameters.index(keyword.arg)}=")
            elif method is None:
                self.spelling.keywords.kept.add(keyword.arg)
                self.words.append(f"{keyword.arg}=")
            else:
                self.words += [Spelled("keyword", keyword.arg, method), "="]
            self._write(keyword.value, scope)
        self.words.append(")")

    def _write_raise(self, node: ast.Raise, scope: Scope | None) -> None:
        """Which error, and not what it says."""
        says = isinstance(node.exc, ast.Call) and ast.unparse(node.exc.func).endswith("Error")
        self.words.append("Raise(")
        self._write([node.exc.func if says else node.exc, node.cause], scope)
        self.words.append(")")

    def _write_assert(self, node: ast.Assert, scope: Scope | None) -> None:
        self.words.append("Assert ")
        self._write(node.test, scope)

    def _write_annassign(self, node: ast.AnnAssign, scope: Scope | None) -> None:
        """A field of a class; elsewhere, what an assignment without annotation is."""
        if scope and scope.is_class:
            self.words.append("Field ")
            self._write([node.target, node.value], scope)
            self._parameter(node.target.id)
        elif node.value:
            self._write(ast.Assign([node.target], node.value), scope)

    def _write_classdef(self, node: ast.ClassDef, scope: Scope | None) -> None:
        """A class within a function or a class: as a whole."""
        self.spelling.keep_of(*self.modules.libraries(node, self.here))
        self._name(node.name, scope)
        self._write_head(node, node.body, scope)

    def _write_head(self, node: ast.ClassDef, body: list[ast.stmt], scope: Scope | None) -> None:
        inner = Scope.of_class(node, scope)
        self.spelling.attributes.own |= inner.names
        self.words.append("Class")
        self._write([*node.decorator_list, ..., *node.bases, *node.keywords], scope)
        self._write(body, inner)

    def _write_functiondef(self, node: ast.FunctionDef, scope: Scope | None) -> None:
        self._name(node.name, scope)
        self._write_function(node, scope)

    _write_asyncfunctiondef = _write_functiondef

    def _write_lambda(self, node: ast.Lambda, scope: Scope | None) -> None:
        self._write_function(node, scope)

    def _write_function(self, node: ast.AST, scope: Scope | None) -> None:
        """Write a function without its name."""
        inner = Scope.of_function(node, scope)
        kinds = ("posonlyargs", "args", "kwonlyargs", "defaults")
        sizes = [len(getattr(node.args, kind)) for kind in kinds]
        self.words.append(f"{type(node).__name__}{sizes}{bool(node.args.vararg)}(")
        named = [... if default is None else default for default in node.args.kw_defaults]
        self._write([*decorators(node), *node.args.defaults, *named], scope)
        for arg in arguments(node.args):
            self._name(arg.arg, inner)
            self._parameter(arg.arg)
        self._write(node.body, inner)
        self.words.append(")")

    def _write_loops(self, node: ast.expr, scope: Scope | None) -> None:
        """A comprehension; its first source is of the scope around it."""
        first, *others = node.generators
        inner = Scope(binds(each.target for each in node.generators), scope)
        self.words.append(f"{type(node).__name__}(")
        self._write(first.iter, scope)
        self._write([first.target, first.is_async, first.ifs, *others], inner)
        self._write([getattr(node, part, None) for part in ("key", "value", "elt")], inner)
        self.words.append(")")

    def _write_excepthandler(self, node: ast.ExceptHandler, scope: Scope | None) -> None:
        self.words.append("except ")
        self._write(node.type, scope)
        self._binding(node.name, scope)
        self._write(node.body, scope)

    def _write_matchas(self, node: ast.MatchAs, scope: Scope | None) -> None:
        self.words.append("as ")
        self._write(node.pattern, scope)
        self._binding(node.name, scope)

    def _write_matchstar(self, node: ast.MatchStar, scope: Scope | None) -> None:
        self.words.append("star ")
        self._binding(node.name, scope)

    # Names ----------------------------------------------------------------------------------------

    def _name(self, name: str, scope: Scope | None) -> None:
        """Write a name: a local's number, an attribute of the class around it, or a global."""
        owner = self._binder(name, scope)
        if owner:
            self.words.append(f"v{self.locals.setdefault((owner, name), len(self.locals))} ")
        elif self._is_global(name, scope):
            self._global([name])
        else:
            self._attribute(name)

    def _binding(self, name: str | None, scope: Scope | None) -> None:
        if name:
            self._name(name, scope)

    def _binder(self, name: str, scope: Scope | None) -> Scope | None:
        """The function or comprehension around that binds a name."""
        while scope and (scope.is_class or name not in scope.names):
            scope = scope.outer
        return scope

    def _is_global(self, name: str, scope: Scope | None) -> bool:
        in_class = scope is not None and scope.is_class and name in scope.names
        return not in_class and self._binder(name, scope) is None

    def _global(self, names: list[str]) -> None:
        """Write what a chain stands for: the number of a definition, or a library's name."""
        places, libraries, rest = self.modules.named(self.here, names)
        for place in places:
            if place.module == SHOWING or place.module.startswith(f"{SHOWING}."):
                self.words.append("shown ")
            elif place.name == AT_IMPORT:
                self._import(place.module)
            else:
                self.words.append(f"g{self._reach(place)} ")
        if not places:
            self.words += [f"{dotted} " for dotted in libraries or [names[0]]]
        for name in [] if libraries else rest:
            self._attribute(name)

    def _attribute(self, name: str) -> None:
        self.words += [".", Spelled("attribute", name), " "]
        self._mention(name)

    def _parameter(self, name: str) -> None:
        self.words += [Spelled("parameter", name), " "]
        self.spelling.keywords.own.add(name)

    def _signature(self, node: ast.Call, scope: Scope | None) -> tuple[list[str], str | None]:
        """The parameters of what is called, if they are known, and the method that may have them.

        The method is "" for a function of any name, and None where the parameters are all known, or
        a library's.
        """
        names = chain(node.func)
        if not names or not self._is_global(names[0], scope):
            return [], getattr(node.func, "attr", "")
        places, libraries, rest = self.modules.named(self.here, names)
        if libraries == ["functools.partial"] and node.args:
            return self._signature(ast.Call(node.args[0], [], []), scope)
        if libraries or not places:
            return [], None
        known = None if rest else self.modules.parameters(places[-1])
        return ([], rest[-1] if rest else "") if known is None else (known, None)
