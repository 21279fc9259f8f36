"""An answer can neither break a check nor leave PyTorch, Python or numpy as it wants them."""

import builtins
import contextlib
import io
import os
import random
import signal
import sys

import numpy as np
import pytest
import torch
from torch import Tensor

from utils.exercises.checking import Checker, Exercise, Mistake, Prediction, Stage

WEIGHT = torch.arange(6, dtype=torch.float64).reshape(3, 2) - 2
DOUBLED = Mistake("you have it twice.", lambda x: 2 * x @ WEIGHT)


def product() -> Exercise:
    rows = Stage("rows", lambda: [(torch.randn(n, 3, dtype=torch.float64),) for n in (1, 4)])
    return Exercise(lambda x: x.softmax(-1) @ WEIGHT, [rows], {"doubled": DOUBLED}, name="product")


def verdict(attempt, exercise: Exercise | Prediction | None = None) -> str:
    """The one line that the call under an exercise prints."""
    exercise = exercise or product()
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        Checker(exercise)(exercise.name, attempt)
    (line,) = printed.getvalue().splitlines()
    return line


def right(x: Tensor) -> Tensor:
    return x.softmax(-1) @ WEIGHT


# It never raises ----------------------------------------------------------------------------------


def other_methods(x):
    Tensor.softmax = Tensor.__matmul__ = None
    return x


def on_meta(x):
    torch.set_default_device("meta")
    return right(x)


class Short(tuple):
    def __len__(self):
        return 1


class Exiting(Exception):
    def __str__(self):
        raise SystemExit


def unsayable(x):
    raise Exiting


class Leaving:
    @property
    def __class__(self):
        raise SystemExit


@pytest.mark.parametrize(
    ("attempt", "sign"),
    [
        (other_methods, "✗"),
        (on_meta, "✓"),  # its inputs lie on the CPU, and so does what it makes of them
        (lambda x: Short((right(x), right(x))), "✗"),
        (unsayable, "✗"),
        (lambda x: Leaving(), "✗"),
    ],
)
def test_no_answer_ends_the_cell(attempt, sign):
    assert verdict(attempt).startswith(f"{sign} product: ")
    assert torch.get_default_device() == torch.device("cpu")


def test_a_result_with_a_false_length_is_refused_where_gradients_are_weighted():
    pair = Exercise(lambda x: (x, 2 * x), [Stage("it", lambda: [(WEIGHT,)])])
    assert verdict(lambda x: (x, 2 * x), pair).startswith("✓")

    class Two(tuple):
        def __len__(self):
            return 2

    assert verdict(lambda x: Two((x, 2 * x, x)), pair).startswith("✗")


class NoNumber(int):
    def __float__(self):
        raise ZeroDivisionError("not me")


def test_no_prediction_ends_the_cell():
    number = Prediction(lambda: 100.0)
    assert verdict(NoNumber(3), number).endswith("that raised ZeroDivisionError: not me")


# It leaves all as it was --------------------------------------------------------------------------


def set_random(x):
    np.random.seed(1)
    random.seed(1)
    torch.manual_seed(1)


def generators() -> tuple:
    return random.getstate(), str(np.random.get_state()), torch.get_rng_state().tolist()


CHANGES = {  # what an answer does, and how to read what it must not leave changed
    "dtype": (lambda x: torch.set_default_dtype(torch.float64), torch.get_default_dtype),
    "device": (lambda x: torch.set_default_device("meta"), torch.get_default_device),
    "threads": (lambda x: torch.set_num_threads(3), torch.get_num_threads),
    "deterministic": (
        lambda x: torch.use_deterministic_algorithms(True),
        torch.are_deterministic_algorithms_enabled,
    ),
    "gradients": (lambda x: torch.set_grad_enabled(False), torch.is_grad_enabled),
    "stop button": (
        lambda x: signal.signal(signal.SIGINT, signal.SIG_IGN),
        lambda: signal.getsignal(signal.SIGINT),
    ),
    "folder": (lambda x: os.chdir(".."), os.getcwd),
    "recursion": (lambda x: sys.setrecursionlimit(2345), sys.getrecursionlimit),
    "generators": (set_random, generators),
    "norm": (lambda x: setattr(torch.linalg, "norm", None), lambda: torch.linalg.norm),
    "layer": (lambda x: setattr(torch.nn, "Linear", None), lambda: torch.nn.Linear),
    "relu": (
        lambda x: setattr(torch.nn.functional, "relu", None),
        lambda: torch.nn.functional.relu,
    ),
    "method": (lambda x: setattr(Tensor, "chunked", 3), lambda: hasattr(Tensor, "chunked")),
    "print": (lambda x: setattr(builtins, "print", None), lambda: builtins.print),
}


@pytest.fixture
def stop_button():
    """Python's own; pytest's workers ignore it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.parametrize(("change", "read"), CHANGES.values(), ids=CHANGES)
def test_what_an_answer_changes_is_put_back_at_once(change, read, stop_button):
    before, within = read(), []

    def attempt(x):
        result = right(x)
        change(x)
        within.append(read() == before)
        return result

    exercise = product()
    exercise.reference = lambda x: (within.append(read() == before), right(x))[1]
    assert verdict(attempt, exercise).startswith("✓")
    assert read() == before
    if change is not set_random:  # those at the end of the check
        assert within[:2] == [False, True]  # the reference runs without it


def test_a_default_device_of_the_readers_own_stays():
    torch.set_default_device("meta")
    try:
        seen = str(torch.get_default_device())
        number = Exercise(lambda n: n, [Stage("a number", lambda: [(1,)])], gradient=False)
        assert verdict(lambda n: torch.set_default_device("cpu") or n, number).startswith("✓")
        assert str(torch.get_default_device()) == seen == "meta"
    finally:
        torch.set_default_device(None)


def test_a_folder_that_is_gone_is_no_reason_to_stop(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    gone = tmp_path / "gone"

    def moves(x):
        gone.mkdir(exist_ok=True)
        os.chdir(gone)
        gone.rmdir()
        return right(x)

    assert verdict(moves).startswith("✓")
    assert os.getcwd() == str(tmp_path)


# It says what is wrong ----------------------------------------------------------------------------


def test_another_layout_or_device_is_said():
    assert verdict(lambda x: right(x).to_sparse()).endswith(
        "the result has layout torch.sparse_coo; it should be torch.strided."
    )
    assert verdict(lambda x: right(x).to("meta")).endswith(
        "the result is on device meta; it should be on cpu."
    )


class Flatterer(Tensor):
    """Equal to whatever it is compared with."""

    @classmethod
    def __torch_function__(cls, function, types, args=(), kwargs=None):
        if function is torch.allclose:
            return True
        return super().__torch_function__(function, types, args, kwargs or {})

    def detach(self):
        return self


def test_a_tensor_that_flatters_is_taken_for_its_numbers():
    assert verdict(lambda x: (2 * right(x)).as_subclass(Flatterer)).startswith("✗")
    assert verdict(lambda x: right(x).as_subclass(Flatterer)).startswith("✓")
