"""Which names a function, a comprehension or a class binds."""

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
SCOPES = (*FUNCTIONS, *COMPREHENSIONS, ast.ClassDef, ast.Lambda)


@dataclass(eq=False)
class Scope:
    """The names that are bound here, and the scope around it; the module around all is None."""

    names: set[str]
    outer: "Scope | None" = None
    is_class: bool = False
    myself: str = ""  # what a method calls its object

    @classmethod
    def of_function(cls, node: ast.AST, outer: "Scope | None") -> "Scope":
        every = arguments(node.args)
        body = node.body if isinstance(node.body, list) else [node.body]
        is_method = outer is not None and outer.is_class and every
        static = any(ast.unparse(mark) == "staticmethod" for mark in decorators(node))
        taken = [
            each.names for each in _within(body) if isinstance(each, (ast.Global, ast.Nonlocal))
        ]
        names = {arg.arg for arg in every} | binds(body) - set(sum(taken, []))
        return cls(names, outer, myself=every[0].arg if is_method and not static else "")

    @classmethod
    def of_class(cls, node: ast.ClassDef, outer: "Scope | None") -> "Scope":
        return cls(binds(node.body), outer, is_class=True)


def arguments(args: ast.arguments) -> list[ast.arg]:
    """All arguments of a function, in the order of its signature."""
    others = [arg for arg in (args.vararg, args.kwarg) if arg]
    return [*args.posonlyargs, *args.args, *args.kwonlyargs, *others]


def decorators(node: ast.AST) -> list[ast.expr]:
    return getattr(node, "decorator_list", [])


def binds(nodes: Iterable[ast.AST]) -> set[str]:
    """The names that statements bind in the scope that they stand in."""
    names: set[str | None] = set()
    for node in _within(nodes):
        if isinstance(node, (*FUNCTIONS, ast.ClassDef)):
            names.add(node.name)
        elif isinstance(node, COMPREHENSIONS):
            walrus = [each for each in ast.walk(node) if isinstance(each, ast.NamedExpr)]
            names |= {each.target.id for each in walrus}
        elif isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            names.add(node.id)
        elif isinstance(node, (ast.ExceptHandler, ast.MatchAs, ast.MatchStar)):
            names.add(node.name)
    return names - {None}


def _within(nodes: Iterable[ast.AST]) -> Iterator[ast.AST]:
    """The nodes of a scope, without what stands in the scopes in it."""
    for node in nodes:
        yield node
        if not isinstance(node, SCOPES):
            yield from _within(ast.iter_child_nodes(node))
