"""Would the tests notice? Make one small mistake in a layer, run its nearest tests; then another.

`python tests/mutation.py` draws a sample of mistakes in the concept modules and says which of them
survived; `tests/survivors.toml` lists those that are known, each with the reason. What a mistake is
not made in: checks of arguments, sentences of errors, annotations.
"""

import argparse
import ast
import copy
import importlib.machinery
import multiprocessing
import os
import random
import re
import signal
import sys
import time
import tomllib
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import wait
from pathlib import Path

import pytest

from utils import ROOT
from utils.press.lessons import concepts
from utils.press.notebooks import REPRODUCIBLE

SURVIVORS = ROOT / "tests" / "survivors.toml"
LEAST = 0.95  # share of the sample that has to be noticed
AT_ONCE = 2
ENVIRONMENT = REPRODUCIBLE | {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
IMPORTED_ONCE = ("torch._dynamo", "torch.utils.flop_counter")  # for all that is forked

# Mistakes -----------------------------------------------------------------------------------------

OPERATORS = {
    ast.Add: [ast.Sub],
    ast.Sub: [ast.Add],
    ast.Mult: [ast.Div],
    ast.Div: [ast.Mult],
    ast.FloorDiv: [ast.Mult],
    ast.Mod: [ast.FloorDiv],
    ast.Pow: [ast.Mult],
    ast.LShift: [ast.RShift],
    ast.BitAnd: [ast.BitOr],
    ast.BitOr: [ast.BitAnd],
    ast.And: [ast.Or],
    ast.Or: [ast.And],
    ast.Lt: [ast.LtE, ast.GtE],
    ast.LtE: [ast.Lt, ast.Gt],
    ast.Gt: [ast.GtE, ast.LtE],
    ast.GtE: [ast.Gt, ast.Lt],
    ast.Eq: [ast.NotEq],
    ast.NotEq: [ast.Eq],
    ast.Is: [ast.IsNot],
    ast.IsNot: [ast.Is],
    ast.In: [ast.NotIn],
    ast.NotIn: [ast.In],
}
ONE_SIDED = (ast.Sub, ast.Div, ast.FloorDiv, ast.Mod, ast.Pow, ast.MatMult)
SYMMETRIC = ("max", "min", "maximum", "transpose", "promote_types")  # in their arguments
PAIRS = """max min, amax amin, argmax argmin, maximum minimum, sum mean, any all, sin cos,
zeros ones, zeros_like ones_like, tanh sigmoid, tril triu, keys values, rows columns"""
NAMES = {a: b for pair in map(str.split, PAIRS.split(",")) for a, b in (pair, pair[::-1])}
SPARED_FIELDS = ("annotation", "returns", "decorator_list", "bases", "type_params")


@dataclass(frozen=True)
class Mistake:
    """One change: another node in a field of the syntax tree's `parent`, or in a list there."""

    path: str  # of the module, from the book's folder
    function: str
    line: int
    was: str
    becomes: str
    tree: ast.Module
    parent: ast.AST
    field: str
    index: int | None
    new: ast.AST

    @property
    def key(self) -> tuple[str, str, str, str]:
        """What it is known by, wherever in the module it stands."""
        return self.path, self.function, self.was, self.becomes

    def __str__(self) -> str:
        return f"{self.path}:{self.line} {self.function}\n    - {self.was}\n    + {self.becomes}"

    def code(self) -> object:
        """Make the change in the tree, and compile the module."""
        if self.index is None:
            setattr(self.parent, self.field, self.new)
        else:
            getattr(self.parent, self.field)[self.index] = self.new
        return compile(ast.fix_missing_locations(self.tree), ROOT / self.path, "exec")


def mistakes(path: str, source: str) -> list[Mistake]:
    """All mistakes that can be made in a module."""
    tree, lines = ast.parse(source), source.encode().splitlines()
    return list(_within(path, "", tree, tree, lines))


def _within(path, function, tree, parent, lines) -> Iterator[Mistake]:
    for field, value in ast.iter_fields(parent):
        if field in SPARED_FIELDS:
            continue
        for index, old in enumerate(value if isinstance(value, list) else [value]):
            if not isinstance(old, ast.AST) or spared(old):
                continue
            where = index if isinstance(value, list) else None
            for new in replacements(old, parent, field):
                was, becomes = shown(old, new, lines)
                new = ast.copy_location(copy.copy(new), old)  # it may be a part of the old one
                yield Mistake(
                    path, function, old.lineno, was, becomes, tree, parent, field, where, new
                )
            inner = function
            if isinstance(old, ast.FunctionDef | ast.ClassDef):
                inner = f"{function}.{old.name}".lstrip(".")
            yield from _within(path, inner, tree, old, lines)


def spared(node: ast.AST) -> bool:
    """Whether this only checks an argument, composes a sentence, or tells a type."""
    match node:
        case ast.Import() | ast.ImportFrom() | ast.Raise() | ast.Assert() | ast.JoinedStr():
            return True
        case ast.Expr(value):
            return isinstance(value, ast.Constant) or spared(value)  # a docstring
        case ast.Call(func=ast.Name(name)):
            return name.startswith("check_") or name == "isinstance"
        case ast.FunctionDef(name=name):
            return name.startswith("check_")
        case ast.If(body=body, orelse=[]) | ast.For(body=body):
            return all(map(spared, body))
        case ast.keyword(arg=name):
            return name in ("strict", "device")
    return False


def replacements(node: ast.AST, parent: ast.AST, field: str) -> Iterator[ast.AST]:
    """What could stand in a node's place by mistake."""
    match node:
        case ast.Constant(bool(value)):
            yield ast.Constant(not value)
        case ast.Constant(int(value)):
            yield from (ast.Constant(value + 1), ast.Constant(value - 1))
        case ast.Constant(float(value)):
            yield ast.Constant(2 * value if value else 1.0)
        case ast.Name(name, ast.Load()) if name in NAMES:
            yield ast.Name(NAMES[name], ast.Load())
        case ast.Attribute(of, name, ast.Load()) if name in NAMES:
            yield ast.Attribute(of, NAMES[name], ast.Load())
        case ast.UnaryOp(operand=operand):
            yield operand
        case ast.BinOp(left, operator, right):
            yield from (ast.BinOp(left, other(), right) for other in others(operator))
            if isinstance(operator, ONE_SIDED):
                yield ast.BinOp(right, operator, left)
            if isinstance(operator, ast.Add | ast.Mult | ast.Div):
                yield left
        case ast.AugAssign(target, operator, value):
            yield from (ast.AugAssign(target, other(), value) for other in others(operator))
            yield ast.Pass()
        case ast.BoolOp(operator, values):
            yield from (ast.BoolOp(other(), values) for other in others(operator))
        case ast.Compare(left, operators, right):
            for i, operator in enumerate(operators):
                for other in others(operator):
                    changed = [*operators[:i], other(), *operators[i + 1 :]]
                    yield ast.Compare(left, changed, right)
        case ast.IfExp(test, body, orelse):
            yield ast.IfExp(test, orelse, body)
        case ast.Call(function, arguments, keywords):
            if getattr(function, "attr", getattr(function, "id", "")) not in SYMMETRIC:
                for swapped in exchanged(arguments):
                    yield ast.Call(function, swapped, keywords)
            if len(arguments) > 1:
                yield ast.Call(function, arguments[:-1], keywords)
            for keyword in keywords:
                if keyword.arg and not spared(keyword):
                    kept = [other for other in keywords if other is not keyword]
                    yield ast.Call(function, arguments, kept)
            if isinstance(function, ast.Attribute) and not names_no_value(function.value):
                yield function.value
        case ast.Tuple(elements, ast.Load()) if not isinstance(parent, ast.keyword):  # as in dim=
            yield from (ast.Tuple(swapped, ast.Load()) for swapped in exchanged(elements))
        case ast.Slice(lower, upper, step):
            if lower:
                yield ast.Slice(None, upper, step)
            if upper:
                yield ast.Slice(lower, None, step)
            if step:
                yield ast.Slice(lower, upper, None)
        case ast.With(body=body):
            yield ast.If(ast.Constant(True), body, [])
        case ast.Expr() | ast.Break() | ast.Assign([ast.Subscript()]):
            yield ast.Pass()
    if field == "test" and isinstance(parent, ast.If | ast.IfExp | ast.While):
        yield ast.UnaryOp(ast.Not(), node)


def others(operator: ast.AST) -> list[type]:
    return OPERATORS.get(type(operator), [])


def exchanged(nodes: list[ast.expr]) -> Iterator[list[ast.expr]]:
    """The lists in which two neighbours have changed places."""
    for i, (a, b) in enumerate(zip(nodes, nodes[1:], strict=False)):
        if not isinstance(a, ast.Starred) and ast.dump(a) != ast.dump(b):
            yield [*nodes[:i], b, a, *nodes[i + 2 :]]


def names_no_value(node: ast.AST) -> bool:
    """Whether this is a module, a class, `self` or `super()`, not a value that a method changes."""
    match node:
        case ast.Name(name):
            return name in ("self", "torch", "F", "nn", "math", "ctx") or name[0].isupper()
        case ast.Call(func=ast.Name("super")):
            return True
        case ast.Attribute(of):
            return names_no_value(of) and not (isinstance(of, ast.Name) and of.id == "self")
    return False


def shown(old: ast.AST, new: ast.AST, lines: list[bytes]) -> tuple[str, str]:
    """The line of a change, before and after, without comments; of a `with`, its first line."""
    rows = lines[old.lineno - 1 : old.end_lineno]
    before, behind = rows[0][: old.col_offset], rows[-1][old.end_col_offset :]
    text = ast.unparse(new)
    if isinstance(old, ast.With):
        rows, behind, text = rows[:1], b"", text.splitlines()[0]
    operators = ast.BinOp | ast.BoolOp | ast.Compare | ast.UnaryOp | ast.IfExp
    if isinstance(new, operators) and type(new) is not type(old):
        text = f"({text})"
    after = before + text.encode() + behind
    was, becomes = (
        " ".join(re.sub("  # .*", "", row.decode()).strip() for row in side)
        for side in (rows, [after])
    )
    return was, becomes


# Tests --------------------------------------------------------------------------------------------


def modules(names: list[str]) -> list[Path]:
    """The files of modules, named as in `attention` or `training/recipes`."""
    found = []
    for name in names:
        place = ROOT / "utils" / name
        found += sorted(place.rglob("*.py")) if place.is_dir() else [place.with_suffix(".py")]
    return found


def nearest_tests(path: str) -> tuple[str, ...]:
    """The test files named after a module, or a folder that it is in."""
    parts = Path(path).with_suffix("").parts[1:]
    found = {file for part in parts for file in ROOT.glob(f"tests/test_{part}*.py")}
    if not found:
        raise SystemExit(f"No test file is named after {path}: tests/test_{parts[-1]}.py is.")
    return tuple(sorted(file.relative_to(ROOT).as_posix() for file in found))


def run_tests(tests: tuple[str, ...], mistake: Mistake | None) -> None:
    """Run tests in this process, which ends with pytest's exit code."""
    os.setsid()
    if mistake is not None:
        for stream in (1, 2):
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream)
        put_into_import(mistake)
    options = ["-x", "-q", "-o", "addopts=", "-m", "not speed", "-p", "no:cacheprovider"]
    code = pytest.main([*options, "--noconftest", *tests])
    sys.stdout.flush()  # which _exit leaves out
    os._exit(code)


def put_into_import(mistake: Mistake) -> None:
    """Let Python find a module with the mistake where it would find the module."""
    loader = importlib.machinery.SourceFileLoader
    load, path, code = loader.get_code, str(ROOT / mistake.path), mistake.code()

    def get_code(self, name):
        return code if self.path == path else load(self, name)

    loader.get_code = get_code


class Run:
    """Tests that run in a process of their own, forked from this one."""

    def __init__(self, tests: tuple[str, ...], mistake: Mistake | None, seconds: float):
        self.mistake, self.begun = mistake, time.monotonic()
        self.deadline = self.begun + seconds
        fork = multiprocessing.get_context("fork")
        self.process = fork.Process(target=run_tests, args=(tests, mistake))
        self.process.start()

    def ended(self) -> bool:
        """Whether the tests are through; after the deadline they are stopped."""
        if self.process.is_alive() and time.monotonic() > self.deadline:
            with suppress(ProcessLookupError):  # it may not lead its group yet
                os.killpg(self.process.pid, signal.SIGKILL)
            self.process.kill()
            self.process.join()
        return not self.process.is_alive()


def clean_seconds(tests: tuple[str, ...]) -> float:
    """How long tests take on the code as it is, on which they have to pass."""
    run = Run(tests, None, 3600)
    run.process.join()
    if run.process.exitcode:
        raise SystemExit(f"{' '.join(tests)} fail without a mistake: mend that first.")
    return time.monotonic() - run.begun


def survivors(sample: list[Mistake]) -> list[Mistake]:
    """Make each mistake, and return those with which the tests pass."""
    limits = {}
    for mistake in sample:
        tests = nearest_tests(mistake.path)
        if tests not in limits:
            limits[tests] = 20 + 4 * clean_seconds(tests)
    waiting, running, left = list(sample), [], []
    while waiting or running:
        while waiting and len(running) < AT_ONCE:
            tests = nearest_tests(waiting[0].path)
            running.append(Run(tests, waiting.pop(0), limits[tests]))
        wait([run.process.sentinel for run in running], timeout=1)
        for run in [run for run in running if run.ended()]:
            running.remove(run)
            survived = run.process.exitcode == 0
            print(f"{'SURVIVED' if survived else 'noticed '} {run.mistake}", flush=True)
            left += [run.mistake] if survived else []
    return left


def known_survivors() -> dict[tuple[str, str, str, str], str]:
    """The mistakes that no test has to notice, and the reason of each."""
    rows = tomllib.loads(SURVIVORS.read_text(encoding="utf-8")).get("survivor", [])
    return {(r["module"], r["function"], r["was"], r["becomes"]): r["reason"] for r in rows}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("modules", nargs="*", help="as in attention or training/recipes")
    parser.add_argument("--sample", type=int, default=300)
    parser.add_argument("--seed", type=int, default=0)
    choice = parser.parse_args()
    os.chdir(ROOT)
    os.environ.update(ENVIRONMENT)
    for name in IMPORTED_ONCE:
        importlib.import_module(name)
    everything = []
    for file in modules(choice.modules or concepts()):
        path = file.relative_to(ROOT).as_posix()
        everything += mistakes(path, file.read_text(encoding="utf-8"))
    known = known_survivors()
    sample = random.Random(choice.seed).sample(everything, min(choice.sample, len(everything)))
    begun = time.monotonic()
    left = survivors(sample)
    new = [mistake for mistake in left if mistake.key not in known]
    print(
        f"\n{len(sample)} of {len(everything)} mistakes made in {time.monotonic() - begun:.0f} "
        f"seconds, {len(sample) - len(left)} noticed; {len(left) - len(new)} of the others are "
        f"listed in {SURVIVORS.name}, {len(new)} are not:"
    )
    print(*new, sep="\n")
    sys.exit(len(new) > (1 - LEAST) * len(sample))


if __name__ == "__main__":
    main()
