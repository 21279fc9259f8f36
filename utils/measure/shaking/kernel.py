"""A shaken kernel: weights move by their last bit, and findings tell how near their bounds were.

Another processor rounds differently, and after a thousand steps a network has other numbers. Moving
each float32 weight by about its last bit, when an optimiser takes it, does the same on one machine.
"""

import ast
import json
import operator
import os
from collections.abc import Callable
from pathlib import Path

import torch
from IPython import get_ipython
from torch import Tensor
from torch.optim import Optimizer

SIZE = 1e-7  # of a move, relative to the weight: about the last bit of float32
COMPARED = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
}
BY_NAME = {operation.__name__: by for operation, by in COMPARED.items()}


def shake(seed: int, tell: Callable[[int], None]) -> None:
    """Let optimisers move each float32 weight once, when they take it; `tell` gets how many.

    What is trained by hand moves when autograd is told to follow it.
    """
    generator = torch.Generator().manual_seed(seed)

    def move(weight: Tensor) -> None:
        if weight.dtype == torch.float32 and weight.is_leaf and weight.device.type == "cpu":
            with torch.no_grad():
                weight.mul_(1 + SIZE * torch.randn(weight.shape, generator=generator))
            tell(weight.numel())

    take, follow = Optimizer.add_param_group, Tensor.requires_grad_

    def add_param_group(self: Optimizer, group: dict) -> None:
        take(self, group)
        for weight in self.param_groups[-1]["params"]:
            move(weight)

    def requires_grad_(self: Tensor, requires_grad: bool = True) -> Tensor:
        if requires_grad and not self.requires_grad and not isinstance(self, torch.nn.Parameter):
            move(self)
        return follow(self, requires_grad)

    Optimizer.add_param_group, Tensor.requires_grad_ = add_param_group, requires_grad_


class Recorder(ast.NodeTransformer):
    """Lets each finding, claim and assertion of a cell tell both sides of what it compares."""

    def visit_Call(self, node: ast.Call) -> ast.Call:
        self.generic_visit(node)
        called = node.func.id if isinstance(node.func, ast.Name) else ""
        for word in node.keywords:
            if called in ("observe", "claim") and word.arg == "holds" and node.args:
                said = node.args[0]
                name = said.value if isinstance(said, ast.Constant) else ast.unparse(said)
                word.value = self._told(called, str(name), word.value)
        return node

    def visit_Assert(self, node: ast.Assert) -> ast.Assert:
        node.test = self._told("assert", ast.unparse(node.test), node.test)
        return node

    def _told(self, kind: str, name: str, test: ast.expr) -> ast.expr:
        title = ast.Constant(f"{kind} {name}")
        return ast.copy_location(_call("__held__", title, Sides(title).visit(test)), test)


class Sides(ast.NodeTransformer):
    """Puts in place of `left < right` a call that notes both sides; filters decide nothing."""

    def __init__(self, title: ast.Constant):
        self.title = title

    def visit_Compare(self, node: ast.Compare) -> ast.expr:
        written = ast.Constant(ast.unparse(node))
        if not all(type(each) in COMPARED for each in node.ops):
            return node
        by = ast.Constant(" ".join(type(each).__name__ for each in node.ops))
        return _call("__compared__", self.title, written, by, node.left, *node.comparators)

    def visit_comprehension(self, node: ast.comprehension) -> ast.comprehension:
        node.iter = self.visit(node.iter)
        return node


def _call(name: str, *arguments: ast.expr) -> ast.Call:
    return ast.Call(ast.Name(name, ast.Load()), [*arguments], [])


class Record:
    """Writes what findings compare, a line each, to a file."""

    def __init__(self, path: Path):
        self.path, self.closed = path, set()

    def compared(self, title: str, written: str, by: str, first: object, *rest: object) -> object:
        """Compare as `written` says, and note the sides."""
        left, result = first, True
        for link, (name, right) in enumerate(zip(by.split(), rest, strict=True)):
            outcome = BY_NAME[name](left, right)
            if title not in self.closed:
                sides = _tightest(name, left, right)
                self.write(finding=title, compares=written, by=name, sides=sides, link=link)
            result = outcome if result is True else result & outcome
            if isinstance(result, bool) and not result:
                return result
            left = right
        return result

    def held(self, title: str, test: object) -> object:
        """Note whether a finding holds, and let the page go on; of a claim, its first call."""
        if callable(test):

            def once(**numbers: object) -> bool:
                verdict = test(**numbers)
                if title not in self.closed:
                    self.closed.add(title)
                    return self.held(title, verdict)
                return verdict

            self.closed.discard(title)
            return once
        self.write(finding=title, held=bool(test))
        return True

    def write(self, **entry: object) -> None:
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(entry) + "\n")


def _tightest(by: str, left: object, right: object) -> list[float] | None:
    """Both sides as numbers; of two tables, those at the place where they hold most narrowly."""
    try:
        a, b = (torch.as_tensor(side, dtype=torch.float64) for side in (left, right))
        a, b = torch.broadcast_tensors(a, b)
        margin = b - a if by.startswith("Lt") else a - b if by.startswith("Gt") else -(a - b).abs()
        place = margin.flatten().argmin()
        return [round(side.flatten()[place].item(), 9) for side in (a, b)]
    except (TypeError, ValueError, RuntimeError, IndexError):
        return None


def begin() -> None:
    """Shake this kernel by BOOK_SHAKE, and record into the folder BOOK_SHAKE_RECORD, if any."""
    folder, shell = os.environ.get("BOOK_SHAKE_RECORD"), get_ipython()
    if shell is None:
        return
    record = None
    if folder:
        record = Record(Path(folder) / f"{os.environ['BOOK_PAGE']}.jsonl")
        shell.ast_transformers.append(Recorder())
        shell.user_ns |= {"__compared__": record.compared, "__held__": record.held}
    shake(int(os.environ["BOOK_SHAKE"]), lambda n: record and record.write(moved=n))
