"""How often an answer calls PyTorch: a loop over a batch shows there, on any machine."""

from collections.abc import Callable
from typing import Any

from torch.overrides import TorchFunctionMode

from utils.exercises.checking.sandbox import copies


class _Counted(TorchFunctionMode):
    """Count the calls of PyTorch's functions."""

    calls = 0

    def __torch_function__(self, function, types, args=(), kwargs=None):
        self.calls += 1
        return function(*args, **(kwargs or {}))


def calls(answer: Callable, inputs: tuple) -> int:
    with _Counted() as counted:
        answer(*copies(inputs))
    return counted.calls


def looping(one: Callable[[], Any], many: Callable[[], Any], what: str) -> Callable:
    """What has to be said of a correct answer that loops over `what`: a remark for `Exercise.but`.

    one, many: give inputs that hold one of them, and several.
    """

    def remark(answer: Callable) -> str:
        if calls(answer, many()) <= 2 * calls(answer, one()):
            return ""
        return f"you loop over {what}: an operation on all of them at once is many times faster."

    return remark
