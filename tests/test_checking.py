"""An answer can neither break a check nor leave PyTorch, Python or numpy as it wants them."""

import builtins
import contextlib
import io
import math
import os
import random
import signal
import sys
from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import Tensor
from torch.nn import functional as F

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
    x = torch.ones(2, 3, dtype=torch.float64)
    exercise.but = lambda answer: (answer(x), "")[1]  # a remark calls it, too
    assert verdict(attempt, exercise).startswith("✓") and read() == before


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


# What PyTorch's errors mean --------------------------------------------------------------------

ROW = torch.arange(3.0, dtype=torch.float64, requires_grad=True)


def in_place():
    y = ROW.exp()
    y += 1
    y.sum().backward()


def unpacked(x):
    a, b = x.unbind(dim=1)[:1]
    return a + b


def endless(x):
    return endless(x)


ERRORS = {  # what raises: how the one sentence before the error begins
    (lambda x: x @ x[:, :2]): "in left @ right, the last axis of left must be as long as",
    (
        lambda x: x[None].expand(3, -1, -1) @ x[None].expand(3, -1, -1)
    ): "in left @ right, the last axis",
    (lambda x: right(x) + x): "axes are lined up from the right, and two of them differ in length",
    (lambda x: torch.cat([x, x[:, :2]])): "`cat` needs tensors that differ along its own axis only",
    (lambda x: x.reshape(5, 2)): "a new shape must hold as many numbers as the old one",
    (lambda x: x.sum(2)): "a tensor has fewer axes than you count",
    (lambda x: x[0, 0, 0]): "a tensor has fewer axes than you count",
    (lambda x: x[:, torch.tensor([1, 3])]): "you ask for more than there is: n entries have the",
    (lambda x: torch.nn.functional.embedding(torch.tensor([9]), x)): "you ask for more than there",
    (lambda x: x @ torch.ones(3, 2).long()): "two types are mixed, or whole numbers are used",
    (
        lambda x: x.argmax(1).softmax(0)
    ): "two types are mixed, or whole numbers are used where floating",
    (lambda x: x.masked_fill(x.long(), 0)): "a mask must hold True and False",
    (lambda x: torch.autograd.grad(x.sum(), x)): "autograd doesn't track what you differentiate",
    (lambda x: torch.autograd.grad(ROW.sum(), x)): "autograd doesn't track what you differentiate",
    (lambda x: ROW.mul_(2)): "a tensor that autograd tracks can't be changed in place",
    (lambda x: np.exp(ROW)): "numpy and PyTorch are mixed",
    (lambda x: math.exp(x)): "`float`, `int`, `.item()` and Python's `math` take one number",
    (lambda x: x if x > 0 else right(x)): "`if`, `and` and `or` need one answer",
    (lambda x: x - x.max(1)): "`max`, `min` and `sort` along an axis give values and their pos",
    (lambda x: (x, x).softmax(1)): "something is a tuple where a tensor is needed",
    (lambda x: None + x): "something is None where a value is needed",
    (lambda x: torch.exp(2.0) * x): "a plain number or list is used where a tensor is needed",
    (lambda x: x.softmax()): "a function is called with other arguments than it takes",
    (lambda x: (x * ROW.sum()).backward()): "`backward` starts from one number",
    (
        lambda x: torch.autograd.grad(ROW.sum(), ROW.detach().requires_grad_())
    ): "the result doesn't depend on",
    (lambda x: x.T.view(-1)): "after `.T`, `transpose` and `permute` the numbers don't lie",
    (lambda x: x.unflatten(1, (2, 2))): "a new shape must hold as many numbers as the old one",
    (lambda x: unpacked(x)): "there are more names on the left than values on the right",
    (lambda x: torch.stack([])): "the list that you join is empty",
    (lambda x: torch.tensor([[1], [1, 2]])): "the rows of a tensor are equally long",
    (lambda x: torch.einsum("ij,jk->ik", x, x)): "in `einsum` a letter is an axis",
    (lambda x: x.permute(0, 2, 1)): "`permute` takes each axis of the tensor once",
    (
        lambda x: F.cross_entropy(x[None], torch.zeros(1, 4).long())
    ): "for `cross_entropy`, logits are",
    (lambda x: F.cross_entropy(x, torch.zeros(3).long())): "for `cross_entropy`, logits are",
    (
        lambda x: F.cross_entropy(x, torch.ones(4, 3).long())
    ): "for `cross_entropy`, logits are (n, classes)",
    (lambda x: F.cross_entropy(x[0], torch.zeros(4).long())): "for `cross_entropy`, logits are",
    (lambda x: torch.cdist(x.long(), x.long())): "two types are mixed, or whole numbers are used",
    (lambda x: x.topk(0.5)): "a whole number is needed: divide with `//`",
    (lambda x: x[torch.zeros(2)]): "indices must be whole numbers",
    (lambda x: x.gather(1, torch.zeros(4).long())): "`gather` and `scatter` take an index with",
    (lambda x: x[torch.ones(3).bool()]): "a mask that picks must have the sizes of the axes",
    (lambda x: F.conv1d(x[None], x[None, :2])): "a convolution's weight is (out, in, K, K)",
    (lambda x: F.conv1d(x[None], torch.ones(1, 4, 9).to(x))): "the window is larger than what",
    (lambda x: range(x.sum())): "a whole number is needed",
    (lambda x: (x > 0) - (x > 1)): "masks are joined with `&`, `|` and `~`",
    (lambda x: x(2)): "a tensor is called like a function",
    (lambda x: list(len(x))): "a single number is used like a list",
    (lambda x: torch.multinomial(x - 9, 1)): "probabilities are 0 or more, and never NaN",
    (lambda x: [x].shape): "a plain number or list is used where a tensor is needed",
    (lambda x: in_place()): "a tensor that the gradient needs was overwritten",
    (lambda x: endless(x)): "your function calls itself without end",
    (lambda x, w: x @ w): "a function is called with other arguments than it takes",
}


@pytest.mark.parametrize("attempt", ERRORS, ids=lambda attempt: ERRORS[attempt][:20])
def test_one_plain_sentence_comes_before_a_common_error(attempt):
    def several(x):
        return attempt(x.repeat(4, 1)[:4])

    said = verdict(attempt if attempt.__code__.co_argcount > 1 else several)
    assert said.startswith(f"✗ product: {ERRORS[attempt]}")
    before, _, raised = said.partition(" It raised ")
    assert before.endswith(".") and ". " not in before.removeprefix("✗ product: ")[:-1]
    assert "Error: " in raised


def test_an_error_that_speaks_for_itself_is_given_as_it_is():
    assert verdict(lambda x: y).startswith("✗ product: it raised NameError: name 'y' is not")  # noqa: F821


# Answers that are wrong in two ways --------------------------------------------------------------


def masked(scores: Tensor, mask: Tensor, axis: int = -1) -> Tensor:
    return scores.masked_fill(~mask, -math.inf).softmax(axis)


def masked_softmax(**mistakes) -> Exercise:
    def drawn(size: int, *kept: int):
        scores = torch.randn(len(kept), size, size, dtype=torch.float64)
        return scores, (torch.arange(size) < torch.tensor(kept)[:, None])[:, None].expand_as(scores)

    stages = [
        Stage("everything allowed", lambda: [drawn(3, 3, 3)]),
        Stage("padding", lambda: [drawn(4, 4, 2), drawn(5, 3, 4)]),
        Stage("nothing allowed", lambda: [drawn(3, 0, 2)]),
    ]
    known = {name: Mistake(f"that is {name}.", wrong) for name, wrong in mistakes.items()}
    return Exercise(
        lambda scores, mask: masked(scores, mask).nan_to_num(), stages, known, name="weights"
    )


def over_queries(scores, mask):
    return masked(scores, mask, axis=1)


def over_queries_with_the_edge_mended(scores, mask):
    return over_queries(scores, mask).masked_fill(~mask, 0)


def test_a_mistake_with_an_edge_mended_is_named_with_where_it_shows():
    exercise = masked_softmax(over_queries=over_queries, unmasked=lambda s, mask: s.softmax(-1))
    assert verdict(over_queries, exercise) == "✗ weights: that is over_queries."
    assert verdict(over_queries_with_the_edge_mended, exercise) == (
        "✗ weights: looking at everything allowed, your result is that of a common mistake: "
        "that is over_queries."
    )


def test_two_mistakes_that_agree_where_it_shows_give_no_name():
    def over_queries_and_ones(scores, mask):
        weights = over_queries(scores, mask)
        return weights if mask.all() else weights.nan_to_num(1.0)

    exercise = masked_softmax(over_queries=over_queries, and_ones=over_queries_and_ones)
    assert verdict(over_queries, exercise) == "✗ weights: that is over_queries."
    said = verdict(over_queries_with_the_edge_mended, exercise)
    assert said == "✗ weights: looking at everything allowed: 18 of 18 numbers are wrong."


def test_a_mistake_that_later_inputs_speak_against_is_not_named():
    """With a first stage that shows both alike, it takes most of the others to tell them apart."""

    def over_queries_at_first(scores, mask):
        return over_queries(scores, mask) if mask.all() else scores.softmax(0)

    said = verdict(over_queries_at_first, masked_softmax(over_queries=over_queries))
    assert said == "✗ weights: looking at everything allowed: 18 of 18 numbers are wrong."


def test_one_stage_alone_is_too_little_for_a_name():
    exercise = masked_softmax(over_queries=over_queries)

    def wrong_once(scores, mask):
        wrong = over_queries(scores, mask)
        return wrong if mask.all() else exercise.reference(scores, mask)

    assert verdict(wrong_once, exercise).endswith("18 of 18 numbers are wrong.")


def test_nothing_but_zeros_gets_no_name():
    def upside_down(scores, mask):
        return masked(scores, ~mask).nan_to_num()

    def zeros_but_where_nothing_is_allowed(scores, mask):
        return torch.where(mask.any(-1, keepdim=True), 0.0, scores)

    exercise = masked_softmax(upside_down=upside_down)
    exercise.stages = [exercise.stages[0], replace(exercise.stages[0]), exercise.stages[2]]
    said = verdict(zeros_but_where_nothing_is_allowed, exercise)
    assert said.endswith("18 of 18 numbers are wrong.")


def test_an_answer_that_raises_where_it_is_first_wrong_is_named_by_its_errors_alone():
    def raises(scores, mask):
        return scores[: len(scores) + 1] @ scores[:, :2]

    def raises_then_wrong(scores, mask):
        return raises(scores, mask) if mask.all() else over_queries(scores, mask)

    exercise = masked_softmax(
        over_queries=over_queries,
        raised=lambda s, mask: raises(s, mask) if mask.all() else over_queries(s, mask) + 1,
    )
    assert "It raised RuntimeError" in verdict(raises_then_wrong, exercise)


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
