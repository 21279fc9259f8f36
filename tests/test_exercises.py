"""Every exercise of every chapter, and the machinery that checks them."""

import _thread
import contextlib
import importlib
import io
import json
import math
import os
import pkgutil
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import nbformat
import numpy as np
import pytest
import torch
from filelock import FileLock
from torch import Tensor

from utils import ROOT, exercises
from utils.exercises import numbers, progress
from utils.exercises.checking import Checker, Exercise, Mistake, Prediction, Stage
from utils.exercises.checking.comparing import same
from utils.exercises.checking.sandbox import call
from utils.press import lessons, minutes, notebooks

CHAPTERS = {day.topic: day.stem for day in lessons.days()}  # folder of exercises: page

modules = [info.name for info in pkgutil.iter_modules(exercises.__path__)]
checks = {
    name: module.check
    for name in modules
    if hasattr(module := importlib.import_module(f"utils.exercises.{name}"), "check")
}
everything = {id: ex for check in checks.values() for id, ex in check.exercises.items()}
code = {id: ex for id, ex in everything.items() if isinstance(ex, Exercise)}
predictions = {id: ex for id, ex in everything.items() if isinstance(ex, Prediction)}

each_code = pytest.mark.parametrize("exercise", code.values(), ids=code.keys())
each_with_gradient = pytest.mark.parametrize(
    "exercise", [ex for ex in code.values() if ex.gradient], ids=lambda exercise: exercise.name
)
each_prediction = pytest.mark.parametrize("exercise", predictions.values(), ids=predictions.keys())
each_mistake = pytest.mark.parametrize(
    ("exercise", "mistake"),
    [(ex, mistake) for ex in everything.values() for mistake in ex.mistakes.values()],
    ids=[f"{id}-{name}" for id, ex in everything.items() for name in ex.mistakes],
)


@pytest.mark.parametrize("topic", checks)
def test_what_a_check_gives_back_has_its_references_name_and_nothing_else_has(
    topic,
):
    """Otherwise a wrong answer that a page runs on isn't told from chance (`utils.show.luck`)."""
    source = (ROOT / "chapters" / f"{CHAPTERS[topic]}.py").read_text(encoding="utf-8")
    given = re.findall(r"^(\w+) = check\(\"(\w+)\"", source, re.MULTILINE)
    for name, key in given:
        assert checks[topic].exercises[key].reference.__name__ == name
    bound = re.findall(r"^(\w+) = ", source, re.MULTILINE)
    assert all(bound.count(name) == [of for of, _ in given].count(name) for name, _ in given)


def says(exercise: Exercise | Prediction) -> set[str]:
    return {mistake.says for mistake in exercise.mistakes.values()}


def map_results(transform, value):
    """Apply `transform` to every tensor and number in a result."""
    if isinstance(value, tuple | list):
        return type(value)(map_results(transform, v) for v in value)
    return transform(value)


# Every exercise -----------------------------------------------------------------------------------


def test_every_chapter_has_its_checks():
    assert set(checks) == set(CHAPTERS)


@pytest.mark.parametrize("name", everything)
def test_a_name_is_that_of_one_exercise_in_the_book(name):
    files = [f"utils/exercises/{day}/{name}.py" for day in checks if name in checks[day].exercises]
    assert len(files) == 1, f"an exercise needs a name of its own: rename one of {files}"
    assert everything[name].name == name


@each_code
def test_the_reference_passes(exercise):
    assert exercise.judge(exercise.reference) == (True, "correct.")


@each_prediction
def test_the_answer_passes(exercise):
    assert exercise.judge(exercise.answer()) == (True, "correct.")


@each_mistake
def test_a_known_mistake_fails_and_is_named(exercise, mistake):
    passed, sentence = exercise.judge(mistake.wrong)
    wrong = f"{exercise.name}: the mistake {mistake.says!r}"
    assert not passed, f"{wrong} passes: add a stage or sizes where it differs, or mend the mistake"
    assert sentence == mistake.says, (
        f"{wrong} is answered by {sentence!r}: another mistake may give the same results, or its "
        "results may be of another type; add a stage that tells them apart, or drop one"
    )


@each_code
def test_a_code_exercise_knows_three_mistakes_or_more(exercise):
    found = len(exercise.mistakes)
    assert found >= 3, f"{exercise.name} knows {found} mistakes: write at least three"
    assert len(says(exercise)) == found, (
        f"{exercise.name}: two mistakes have the same sentence: give each one of its own"
    )


@pytest.mark.parametrize("exercise", everything.values(), ids=everything.keys())
def test_a_mistake_is_explained_in_words_of_its_own(exercise):
    for sentence in says(exercise):
        assert len(sentence) > 20 and sentence[-1] in ".?" and "\n" not in sentence, (
            f"{exercise.name}: {sentence!r} must be one line of over 20 letters that ends with a "
            "point or a question mark: say which idea is missed"
        )


@each_code
def test_no_two_mistakes_give_equal_results(exercise):
    results = {}
    for name, mistake in exercise.mistakes.items():
        results[name] = [call(mistake.wrong, inputs) for _, inputs in exercise.trials()]
    for first in results:
        for second in results:
            if first < second:
                pairs = zip(results[first], results[second], strict=True)
                assert any(
                    a.raised != b.raised or not (a.raised or same(a.value, b.value))
                    for a, b in pairs
                ), (
                    f"{exercise.name}: the mistakes {first} and {second} give the same results: "
                    "add a stage or sizes where they differ, or drop one"
                )


def shuffled(value: Tensor) -> Tensor:
    if not isinstance(value, Tensor):
        return value + 1
    order = torch.randperm(value.numel(), generator=torch.Generator().manual_seed(5))
    return value.flatten()[order].reshape(value.shape) if value.numel() > 1 else value + 1


OTHER_MISTAKES = {
    "one more": lambda y: y + 1,
    "a hundred more": lambda y: y + 100,
    "too large": lambda y: y * 1.37,
    "too large by a little": lambda y: y * 1.001 if not isinstance(y, int) else y + 17,
    "in another order": shuffled,
    "zeros": lambda y: 0 * y,
    "a constant": lambda y: 0 * y + 7,
    "the other sign, and more": lambda y: -1.1 * y,
    "not a number": lambda y: y * math.nan,
}


@each_code
def test_another_wrong_answer_fails_without_a_name(exercise):
    for what, transform in OTHER_MISTAKES.items():
        if exercise.name == "rolling_origin" and what in ("one more", "in another order"):
            continue  # of whole numbers, both are one more: counted from 1, which is named
        passed, sentence = exercise.judge(
            lambda *inputs, change=transform: map_results(change, exercise.reference(*inputs))
        )
        assert passed is False and not sentence.endswith(tuple(says(exercise))), (
            f"{exercise.name}: results that are {what} pass, or are named: {sentence}"
        )


@each_code
def test_an_answer_that_is_wrong_for_the_largest_inputs_only_fails_without_a_name(exercise):
    trials = len(exercise.trials())
    calls = iter(range(10**6))

    def attempt(*inputs):
        last = next(calls) % trials == trials - 1
        result = exercise.reference(*inputs)
        return map_results(lambda y: y * 1.5 + 1, result) if last else result

    passed, sentence = exercise.judge(attempt)
    assert passed is False and not sentence.endswith(tuple(says(exercise)))


@each_prediction
def test_another_wrong_prediction_fails_without_a_name(exercise):
    answer = exercise.answer()
    if isinstance(answer, str):
        others = ["nonsense", "", answer[::-1] + "x"]
    else:
        others = [answer + 1, answer * 1.37 + 0.1, -answer - 3, 123456.7, math.nan, math.inf]
    known = [m.wrong for m in exercise.mistakes.values()]
    for other in others:
        if any(exercise.agrees(other, wrong) for wrong in known):
            continue
        passed, sentence = exercise.judge(other)
        assert passed is False and not sentence.endswith(tuple(says(exercise)))
    assert not any(exercise.agrees(wrong, answer) for wrong in known)


@pytest.mark.parametrize("exercise", everything.values(), ids=everything.keys())
def test_an_untouched_exercise_says_so(exercise):
    def untouched(*inputs):
        raise NotImplementedError

    for attempt in [None] + [untouched] * isinstance(exercise, Exercise):
        passed, sentence = exercise.judge(attempt)
        assert passed is None and sentence.startswith("not started. ")


def tensors(values) -> list[Tensor]:
    if isinstance(values, Tensor):
        return [values]
    if isinstance(values, tuple | list):
        return [x for value in values for x in tensors(value)]
    return []


@each_code
def test_no_trial_hides_a_mistake_behind_constant_or_symmetric_inputs(exercise):
    for stage, inputs in exercise.trials():
        where = f"{exercise.name}, looking at {stage.looks_at}: the input of shape"
        for x in tensors(inputs):
            if x.is_floating_point() and x.numel() > 1:
                shape, draw = tuple(x.shape), "draw it with `random`, or write unequal numbers"
                assert x.isfinite().all(), f"{where} {shape} is not finite: {draw}"
                assert x.flatten().unique().numel() > 1, f"{where} {shape} is constant: {draw}"
                symmetric = f"{where} {shape} is symmetric: {draw}"
                for axis in range(x.dim()):
                    assert x.shape[axis] == 1 or not torch.equal(x, x.flip(axis)), symmetric
                if x.dim() > 1 and x.shape[-1] == x.shape[-2] > 1:
                    assert not torch.equal(x, x.mT), symmetric
    results = [exercise.reference(*inputs) for _, inputs in exercise.trials()]
    assert any((x != 0).any() for x in tensors(results)) or any(not tensors(r) for r in results), (
        f"{exercise.name}: the reference gives nothing but zeros: choose inputs where it does not"
    )


@each_code
def test_the_trials_are_the_same_in_every_call(exercise):
    torch.manual_seed(1)
    first = exercise.trials()
    torch.manual_seed(2)
    second = exercise.trials()
    assert all(a[0] is b[0] for a, b in zip(first, second, strict=True))
    assert all(
        torch.equal(x, y) for x, y in zip(tensors(first), tensors(second), strict=True)
    ) and same([i for _, i in first], [i for _, i in second])


@each_with_gradient
def test_the_gradient_counts_where_it_is_checked(exercise):
    def cut(*inputs):
        return map_results(Tensor.detach, exercise.reference(*inputs))

    def half_cut(*inputs):
        half = exercise.reference(*inputs)
        return map_results(lambda y: y / 2 + y.detach() / 2, half)

    passed, sentence = exercise.judge(cut)
    assert passed is False and "cut off from autograd" in sentence
    assert exercise.judge(half_cut) == (
        False,
        "the values are correct, but the gradient is not.",
    )


@each_with_gradient
def test_single_precision_passes(exercise):
    def single(*inputs):
        inputs = [
            x.float() if isinstance(x, Tensor) and x.is_floating_point() else x for x in inputs
        ]
        return exercise.reference(*inputs)

    assert exercise.judge(single) == (True, "correct.")


# The machinery, on a small exercise ---------------------------------------------------------------

ROWS = Exercise(
    lambda x, w: x @ w,
    (
        Stage("one row", lambda: [(torch.randn(1, 3, dtype=torch.float64), WEIGHT)]),
        Stage("several rows", lambda: [(torch.randn(4, 3, dtype=torch.float64), WEIGHT)]),
    ),
    {
        "first row": Mistake("you used the first row for all of them.", lambda x, w: x[:1] @ w),
        "sign": Mistake("the sign is reversed.", lambda x, w: -x @ w),
        "size": Mistake("it raises for several rows alone.", lambda x, w: x.reshape(1, 3) @ w),
    },
    name="rows",
)
WEIGHT = torch.tensor([[1.0, 2.0], [3.0, 5.0], [-7.0, 11.0]], dtype=torch.float64)
COUNT = Exercise(
    lambda n: n + 1, (Stage("numbers", lambda: [(1,), (5,)]),), {}, gradient=False, name="count"
)
SHARE = Exercise(
    lambda n: n / 3, (Stage("numbers", lambda: [(1,)]),), {}, gradient=False, name="share"
)
PAIR = Exercise(
    lambda x: (x, 2 * x),
    (Stage("two", lambda: [(torch.randn(3, 5, dtype=torch.float64),)]),),
    {},
    name="pair",
)
YES = Exercise(lambda n: n > 2, (Stage("yes", lambda: [(3,)]),), {}, gradient=False, name="yes")
LISTS = Exercise(
    lambda pairs: sum(float(a.sum()) for a, _ in pairs),
    (Stage("pairs", lambda: [([(torch.ones(2) + 1, 3)],)]),),
    {},
    gradient=False,
    name="lists",
)


HALF = Exercise(lambda: 3.5, (Stage("it", lambda: [()]),), {}, gradient=False, name="half")


def rows(*inputs: tuple, **mistakes: str) -> Exercise:
    """ROWS with inputs of its own, or with further mistakes, {name: sentence}, of the sign."""
    wrong = ROWS.mistakes["sign"].wrong
    more = {name: Mistake(sentence, wrong) for name, sentence in mistakes.items()}
    stages = [Stage("few", lambda: inputs)] if inputs else ROWS.stages
    return replace(ROWS, stages=stages, mistakes=ROWS.mistakes | more)


UNFINISHED = {  # what is wrong: the test, what it gets, and what it says
    "a mistake that is right": (
        test_a_known_mistake_fails_and_is_named,
        lambda: (ROWS, Mistake("so be it.", lambda x, w: x @ w)),
        "rows: the mistake 'so be it.' passes: add a stage",
    ),
    "a mistake that is not the only one": (
        test_a_known_mistake_fails_and_is_named,
        lambda: (rows(again="so be it."), ROWS.mistakes["sign"]),
        "another mistake may give the same results",
    ),
    "two equal mistakes": (
        test_no_two_mistakes_give_equal_results,
        lambda: (rows(again="so be it."),),
        "rows: the mistakes again and sign give the same results: add a stage",
    ),
    "two equal sentences": (
        test_a_code_exercise_knows_three_mistakes_or_more,
        lambda: (rows(again="the sign is reversed."),),
        "rows: two mistakes have the same sentence",
    ),
    "no mistake": (
        test_a_code_exercise_knows_three_mistakes_or_more,
        lambda: (COUNT,),
        "count knows 0 mistakes: write at least three",
    ),
    "too short a sentence": (
        test_a_mistake_is_explained_in_words_of_its_own,
        lambda: (rows(again="no."),),
        "rows: 'no.' must be one line of over 20 letters",
    ),
    "a constant trial": (
        test_no_trial_hides_a_mistake_behind_constant_or_symmetric_inputs,
        lambda: (rows((torch.ones(2, 3), WEIGHT)),),
        "rows, looking at few: the input of shape (2, 3) is constant: draw it with `random`",
    ),
    "a symmetric trial": (
        test_no_trial_hides_a_mistake_behind_constant_or_symmetric_inputs,
        lambda: (rows((torch.arange(6.0).reshape(2, 3), torch.eye(3))),),
        "the input of shape (3, 3) is symmetric",
    ),
}


@pytest.mark.parametrize(("test", "given", "sentence"), UNFINISHED.values(), ids=UNFINISHED.keys())
def test_an_exercise_that_is_not_finished_says_what_to_do(test, given, sentence):
    with pytest.raises(AssertionError, match=re.escape(sentence)):
        test(*given())


def written_as(folder: Path, monkeypatch, **files: str) -> str:
    """A package of exercises whose files have these texts: its name."""
    (folder / "day_of_tests").mkdir()
    for name, text in {"__init__": "", **files}.items():
        (folder / "day_of_tests" / f"{name}.py").write_text(text, encoding="utf-8")
        monkeypatch.delitem(sys.modules, f"day_of_tests.{name}", raising=False)
    monkeypatch.delitem(sys.modules, "day_of_tests", raising=False)
    monkeypatch.syspath_prepend(folder)
    return "day_of_tests"


DEFINED = "from utils.exercises.checking import Exercise\nexercise = Exercise(abs)\n"


def test_a_file_that_defines_no_exercise_is_named(tmp_path, monkeypatch):
    files = {"one": DEFINED, "drawn": "import torch", "two": DEFINED}
    day = written_as(tmp_path, monkeypatch, **files)
    assert {name: ex.name for name, ex in Checker.of(day).exercises.items()} == {
        "one": "one",
        "two": "two",
    }
    files["two"] = files["two"].replace("exercise =", "excercise =")
    (tmp_path / "day_of_tests" / "two.py").write_text(files["two"], encoding="utf-8")
    importlib.invalidate_caches()
    monkeypatch.delitem(sys.modules, "day_of_tests.two")
    with pytest.raises(ValueError, match=r"^day_of_tests/two.py .*`exer"):
        Checker.of(day)


def verdict(exercise: Exercise, attempt) -> str:
    """What the call under an exercise prints; it must print it, and one line of it."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        assert Checker(exercise)(exercise.name, attempt) is None
    assert err.getvalue() == "" and out.getvalue().count("\n") == 1
    return out.getvalue().strip()


@pytest.fixture(autouse=True)
def no_progress(monkeypatch):
    monkeypatch.delenv("BOOK_PROGRESS", raising=False)
    monkeypatch.setattr(progress.progress, "session", set())


def in_place(x, w):
    y = x.clone()
    y.mul_(2)
    y /= 2
    return (y[:, None, :] * w.T).sum(-1)


class Product(torch.nn.Module):
    def forward(self, x, w):
        return x @ w


RIGHT = {
    "the same": lambda x, w: x @ w,
    "einsum": lambda x, w: torch.einsum("df,nd->nf", w, x),
    "a loop": lambda x, w: torch.stack([sum(a * b for a, b in zip(r, w, strict=True)) for r in x]),
    "in place on its own copy": in_place,
    "single precision": lambda x, w: x.float() @ w.float(),
    "a module": Product(),
}


@pytest.mark.parametrize("attempt", RIGHT.values(), ids=RIGHT.keys())
def test_a_merely_different_right_answer_passes(attempt):
    assert verdict(ROWS, attempt) == "✓ rows: correct."


def raises(x, w):
    y = x @ w
    return y + torch.zeros(7)


def raises_deep_inside(x, w):
    def helper(x):
        return {}["missing"]

    return helper(x @ w)


def prints_and_is_wrong(x, w):
    print("debugging", x)
    return x @ w + 1


def exits(x, w):
    exit()


def raises_of_another_kind(x, w):
    raise GeneratorExit("strange")


def changes_its_input(x, w):
    x *= 2
    return x @ w / 2


def half_detached(x, w):
    return x @ w.detach() / 2 + x @ w / 2


def by_numpy(x, w):
    return torch.from_numpy(x.detach().numpy() @ w.detach().numpy())


def unfinished(x, w):
    y = x @ w
    y.softmax()
    return y


def not_implemented_by_the_library(x, w):
    raise NotImplementedError("\"addmm_impl_cpu_\" not implemented for 'Bool'")


WRONG = {
    raises: "✗ rows: axes are lined up from the right, and two of them differ in length: print "
    "both shapes, and give one tensor the axis that it lacks, with `keepdim=True` or `[:, None]`. "
    "It raised RuntimeError: The size of tensor a (2) must match the size of "
    "tensor b (7) at non-singleton dimension 1 (in the line `return y + torch.zeros(7)`)",
    raises_deep_inside: "✗ rows: it raised KeyError: 'missing' (in the line `return helper(x "
    "@ w)`)",
    raises_of_another_kind: "✗ rows: it raised GeneratorExit: strange (in the line `raise "
    'GeneratorExit("strange")`)',
    not_implemented_by_the_library: "✗ rows: two types are mixed, or whole numbers are used where",
    unfinished: "✗ rows: a function is called with other arguments than it takes: compare the "
    "call with its `def` (the check calls yours as the page wrote it). It raised TypeError: softm",
    prints_and_is_wrong: "✗ rows: looking at one row: you got [",
    exits: "✗ rows: it called exit(): return the result instead.",
    changes_its_input: "✗ rows: it changed argument number 1: work on a copy.",
    half_detached: "✗ rows: the values are correct, but the gradient is not.",
    by_numpy: "✗ rows: the values are correct, but the result is cut off from autograd: compute "
    "with tensors all the way, without no_grad, .item(), .detach(), .data or numpy.",
    (lambda x, w: None): "✗ rows: looking at one row: it returned None: is a `return` missing?",
    (
        lambda x, w: (x @ w).numpy()
    ): "✗ rows: looking at one row: it returned an ndarray, not a tensor. Compute with torch's",
    (lambda x, w: (x @ w, w)): "✗ rows: looking at one row: it returned a tuple, not a tensor. One "
    "of its values is correct: return that alone.",
    (lambda x, w: [1.0, 2.0]): "✗ rows: looking at one row: it returned a list, not a tensor.",
    (
        lambda x, w: x
    ): "✗ rows: looking at one row: the result has shape (1, 3); it should be (1, 2).",
    (lambda x, w: (x @ w).int()): "✗ rows: looking at one row: the result has type torch.int32; it "
    "should be torch.float64.",
    (lambda x, w: (x @ w).to(torch.complex64)): "✗ rows: looking at one row: the result has type "
    "torch.complex64; it should be torch.float64.",
    (lambda x, w: (x @ w).to_sparse()): "✗ rows: looking at one row: the result has layout",
    (lambda x: x): "✗ rows: a function is called with other arguments than it takes: compare the "
    "call with its `def` (the check calls yours as the page wrote it). It raised TypeError: <lam",
    (lambda x, w: x[:1] @ w): "✗ rows: you used the first row for all of them.",
    3: "✗ rows: expected a function, got an int.",
}


@pytest.mark.parametrize("attempt", WRONG, ids=lambda attempt: getattr(attempt, "__name__", "3"))
def test_what_went_wrong_is_said_in_a_sentence(attempt):
    assert verdict(ROWS, attempt).startswith(WRONG[attempt])


def test_a_mistake_that_raises_is_named_by_its_own_exception_only():
    says = "✗ rows: it raises for several rows alone."
    assert verdict(ROWS, lambda x, w: x.reshape(1, 3) @ w) == says

    def another(x, w):
        if len(x) > 1:
            raise ValueError("something else")
        return x @ w

    assert "it raised ValueError: something else" in verdict(ROWS, another)


def test_a_mistake_that_fits_is_not_named_when_another_fits_too():
    def twice(says):
        return Mistake(says, lambda n: 2 * n + 1)

    exercise = Exercise(
        COUNT.reference, COUNT.stages, {"a": twice("a"), "b": twice("b")}, name="twice"
    )
    assert verdict(exercise, lambda n: 2 * n + 1).endswith("you got 3; it should be 2.")


def test_numbers_of_another_type_are_explained():
    assert verdict(COUNT, lambda n: n + 1.0).endswith(
        "looking at numbers: it returned a float, not a whole number (int)."
    )
    assert "an int64, not a whole number" in verdict(COUNT, lambda n: np.int64(n + 1))
    assert "a bool, not a whole number" in verdict(COUNT, lambda n: True)
    assert verdict(SHARE, lambda n: torch.tensor(n / 3)) == "✓ share: correct."
    assert "it returned a str, not a number." in verdict(SHARE, lambda n: "third")
    assert "you got 0.5; it should be 0.333" in verdict(SHARE, lambda n: 0.5)
    assert "it returned an int, not True or False." in verdict(YES, lambda n: 1)
    assert "it returned a Tensor, not 2 values." in verdict(PAIR, lambda x: x)
    assert "it returned 1 value, not 2." in verdict(PAIR, lambda x: (x,))
    assert "value 2: 15 of 15 numbers are wrong." in verdict(PAIR, lambda x: (x, 3 * x))
    assert "value 2: it returned None" in verdict(PAIR, lambda x: [x * 1, None])
    assert "value 1: the result has shape (5, 3)" in verdict(PAIR, lambda x: (x.T, 2 * x))


def test_a_mask_of_integers_is_not_one():
    stage = Stage("two numbers", lambda: [(torch.tensor([1, -1]),)])
    exercise = Exercise(lambda x: x > 0, (stage,), {}, gradient=False, name="tried")
    assert verdict(exercise, lambda x: x > 0) == "✓ tried: correct."
    problem = "the result has type torch.int64; it should be torch.bool."
    assert verdict(exercise, lambda x: (x > 0).long()).endswith(problem)


@pytest.mark.parametrize("n", [3, 30])
def test_what_is_nearly_right_is_not_shown_as_two_equal_rows(n):
    stage = Stage("numbers", lambda: [(torch.arange(1.0, n + 1, dtype=torch.float64),)])
    exercise = Exercise(torch.sqrt, (stage,), {}, name="tried")
    says = "the first four digits are correct, but the next ones are not: is a part in single "
    says += "precision, or was a small number added?"
    assert verdict(exercise, lambda x: x.float().sqrt().double()).endswith(says)


class Unprintable(Exception):
    def __str__(self):
        raise ValueError("no")


class Liar:
    """Says that it is a tensor, a number, a list."""

    def __init__(self, kind):
        self.kind = kind

    @property
    def __class__(self):
        return self.kind


class Broken(list):
    def __len__(self):
        raise ZeroDivisionError


def test_an_exception_that_cannot_be_printed_is_named():
    def attempt(x, w):
        raise Unprintable

    says = "✗ rows: it raised Unprintable: (its message cannot be printed) (in the line `raise"
    assert verdict(ROWS, attempt).startswith(says)


@pytest.mark.parametrize("exercise", [ROWS, COUNT, SHARE, PAIR, YES], ids=lambda ex: ex.name)
@pytest.mark.parametrize(
    "value",
    [*(Liar(kind) for kind in (Tensor, float, int, bool, list, str)), Broken(), 10**400, 10**5000],
    ids=lambda value: type(value).__name__,
)
def test_a_result_that_no_one_can_look_at_is_refused_in_a_sentence(exercise, value):
    sentence = verdict(exercise, lambda *inputs: value)
    assert sentence.startswith(f"✗ {exercise.name}: looking at ") and len(sentence) < 250


@pytest.mark.parametrize(
    "exercise",
    [ROWS, Prediction(lambda: "both"), Prediction(lambda: 1.5)],
    ids=["code", "a word", "a number"],
)
def test_something_else_than_was_asked_for_is_refused(exercise):
    for attempt in ("nonsense", b"", (), torch.zeros(2), object(), 1j):
        passed, sentence = exercise.judge(attempt)
        assert passed is False and sentence.endswith("."), attempt


@pytest.mark.parametrize(
    "exercise",
    [ROWS, COUNT, SHARE, PAIR, YES, LISTS, *(ex for ex in code.values() if ex.through)],
    ids=lambda exercise: exercise.name,
)
def test_a_result_of_another_type_is_explained(exercise):
    for value in (None, "a", (), [None], np.zeros(3), torch.zeros(0), {}, 1j):
        passed, sentence = exercise.judge(lambda *inputs, value=value: value)
        assert passed is False and not sentence.endswith(tuple(says(exercise)))
        assert re.search("None" if value is None else "returned|shape|it should", sentence), value


def test_a_whole_number_beyond_all_floats_is_no_prediction():
    number = Prediction(
        lambda: 100.0, {"half": Mistake("you have half of it.", 50.0)}, name="tried"
    )
    assert verdict(number, 10**400).startswith("✗ tried: that isn't it")


@pytest.mark.parametrize("value", ["3.5", b"3.5"])
def test_a_number_in_quotes_is_no_number(value):
    says = f"looking at it: it returned a {type(value).__name__}, not a number."
    assert verdict(HALF, lambda: value).endswith(says)


@pytest.mark.parametrize("value", [3.5, np.float32(3.5), torch.tensor(3.5), np.array(3.5)])
def test_a_number_of_any_kind_is_one(value):
    assert verdict(HALF, lambda: value) == "✓ half: correct."


def test_a_type_too_small_for_the_numbers_hides_nothing():
    many = torch.tensor([300, 44])
    exercise = Exercise(
        lambda: many, (Stage("them", lambda: [()]),), {}, gradient=False, name="tried"
    )
    assert verdict(exercise, lambda: many.int()) == "✓ tried: correct."
    assert verdict(exercise, lambda: many.to(torch.uint8)).endswith(
        "you got [44.0, 44.0]; it should be [300.0, 44.0]."
    )


@pytest.mark.parametrize("values", [[1.0, 2.0], (1.0, 2.0), 3.0])
def test_numbers_in_the_place_of_a_tensor_are_told_how_to_become_one(values):
    says = r"it returned a (list|tuple|float), not a tensor\. Turn the numbers into one with torch"
    assert re.search(says, verdict(ROWS, lambda x, w: values))


FORKING = """
import os, torch
from utils.exercises.checking import Checker, Exercise, Stage

def forks(n):
    os.fork()
    return n + 1

stages = (Stage("n", lambda: [(1,), (5,)]),)
check = Checker(Exercise(lambda n: n + 1, stages, {}, False, name="count"))
check("count", forks)
print("and on")
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no process can be forked here")
def test_an_answer_that_forks_leaves_one_kernel():
    done = subprocess.run(
        [sys.executable, "-c", FORKING], cwd=ROOT, capture_output=True, text=True, timeout=600
    )
    assert done.stdout == "✓ count: correct.\nand on\n" and done.returncode == 0


def test_what_an_answer_patches_is_put_back():
    before = torch.allclose, torch.nn.functional.relu, math.isclose, Tensor.double

    def patches(x, w):
        torch.allclose = torch.nn.functional.relu = math.isclose = lambda *_, **__: True
        Tensor.double = lambda tensor: tensor
        return x @ w + 1

    assert "looking at one row" in verdict(ROWS, patches)
    assert (torch.allclose, torch.nn.functional.relu, math.isclose, Tensor.double) == before


SUMS = Exercise(
    lambda x, w: torch.stack([row @ w for row in x]).cumsum(0),
    (Stage("sums", lambda: [(torch.randn(4, 3, dtype=torch.float64), WEIGHT)]),),
    {"last": Mistake("that is the last sum alone.", lambda x, w: (x @ w).sum(0) + 0 * x @ w)},
    name="tried",
)


def sums(x, w):
    state, states = torch.zeros(1, 2), []
    for row in x:
        state = torch.addmm(state, row[None], w)
        states.append(state[0])
    return torch.stack(states)


def test_states_in_single_precision_are_as_good():
    assert verdict(SUMS, sums) == "✓ tried: correct."
    wrong = verdict(SUMS, lambda x, w: 2 * sums(x, w))
    assert wrong.startswith("✗ tried: looking at sums: you got [")
    last = verdict(SUMS, lambda x, w: sums(x, w)[-1] + 0 * x @ w)
    assert last == "✗ tried: that is the last sum alone."
    cut = verdict(SUMS, torch.no_grad()(sums))
    assert "the values are correct, but the result is cut off from autograd" in cut


def test_types_that_clash_in_single_precision_too_are_said():
    def clashes(x, w):
        return x.float() @ w.double()

    assert verdict(SUMS, clashes) == (
        "✗ tried: two types are mixed, or whole numbers are used where floating point is needed: "
        "convert with `.to(x.dtype)`, and make new tensors with `x.new_zeros(…)`. It raised "
        "RuntimeError: expected m1 and m2 to have the same dtype, but got: float != double "
        "(in the line `return x.float() @ w.double()`)"
    )


def test_writing_in_place_into_what_is_read_is_explained():
    def loop(x, w):
        sums = torch.zeros(len(x), 2, dtype=x.dtype)
        for t in range(len(x)):
            sums[t] = (sums[t - 1] * sums[t - 1]).sqrt() * 0 + (x[: t + 1] @ w).sum(0)
        return sums

    sentence = verdict(SUMS, loop)
    assert "autograd can't follow it, because it overwrites a tensor" in sentence
    assert "torch.stack" in sentence and "in the line" not in sentence


def test_the_line_of_a_decorated_function_is_its_own():
    @torch.no_grad()
    def attempt(x, w):
        return x @ w[:2]

    assert verdict(ROWS, attempt).endswith("(in the line `return x @ w[:2]`)")


def test_inputs_inside_of_lists_are_copies_too():
    def empties(pairs):
        total = sum(float(a.sum()) for a, _ in pairs)
        pairs[0][0].zero_()
        return total

    assert "it changed argument number 1" in verdict(LISTS, empties)
    assert verdict(LISTS, LISTS.reference) == "✓ lists: correct."


def test_a_function_that_prints_a_lot_is_quick_and_silent():
    def talks(x, w):
        for i in range(100_000):
            print("line", i)
        return x @ w

    start = time.process_time()
    assert verdict(ROWS, talks) == "✓ rows: correct. (What it printed is not shown.)"
    assert time.process_time() - start < 20


def test_an_endless_loop_ends_with_the_stop_button():
    started = threading.Event()

    def stop():
        started.wait()
        time.sleep(0.1)
        _thread.interrupt_main()

    def endless(x, w):
        started.set()
        while True:
            x = x + 1

    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # xdist's workers ignore it
    try:
        threading.Thread(target=stop, daemon=True).start()
        sentence = verdict(ROWS, endless)
    finally:
        signal.signal(signal.SIGINT, before)
    assert sentence == "✗ rows: you stopped it while it ran: does a loop never end?"


def test_the_stop_button_ends_a_check_that_looks_for_a_name():
    calls = []

    def wrong_then_endless(x, w):
        calls.append(len(x))
        if len(calls) > 1:
            raise KeyboardInterrupt
        return x @ w + 1

    assert "looking at one row" in verdict(ROWS, wrong_then_endless)
    assert len(calls) == 2


def test_a_check_that_is_stopped_itself_says_so():
    def interrupted():
        raise KeyboardInterrupt

    assert verdict(Prediction(interrupted, name="half"), 3) == "✗ half: you stopped the check."


def test_the_learners_random_numbers_are_left_alone():
    torch.manual_seed(7)
    expected = torch.rand(3)
    torch.manual_seed(7)
    verdict(ROWS, lambda x, w: torch.manual_seed(1) and torch.rand(4) and x @ w)
    verdict(ROWS, ROWS.reference)
    assert torch.equal(torch.rand(3), expected)


def test_the_verdict_does_not_depend_on_the_callers_seed_or_autograd():
    verdicts = set()
    for seed in range(5):
        torch.manual_seed(seed)
        verdicts.add(verdict(ROWS, lambda x, w: x @ w + torch.rand(1).round() * 1e-3))
    assert len(verdicts) == 1
    with torch.no_grad():
        assert verdict(ROWS, ROWS.reference) == "✓ rows: correct."


def test_a_prediction_takes_what_it_asks_for():
    word = Prediction(
        lambda: "both", {"one": Mistake("only one of them is.", "neither")}, name="word"
    )
    number = Prediction(
        lambda: 100.0, {"half": Mistake("you have half of it.", 50.0)}, tolerance=0.05, name="tried"
    )
    assert verdict(word, " Both ") == "✓ word: correct."
    assert verdict(word, "neither") == "✗ word: only one of them is."
    assert verdict(word, "all") == "✗ word: that isn't it: think again."
    assert verdict(word, 3) == "✗ word: expected a str, got an int."
    assert verdict(word, None).startswith("○ word: not started. Replace None")
    assert verdict(number, 97) == verdict(number, 104.9) == "✓ tried: correct."
    assert verdict(number, 51) == "✗ tried: you have half of it."
    assert verdict(number, 90).startswith("✗ tried: that isn't it")
    assert verdict(number, "100") == "✗ tried: expected a float, got a str."
    for computed in (torch.tensor(97.0), np.float32(97), Fraction(194, 2)):
        assert verdict(number, computed) == "✓ tried: correct."
    assert verdict(number, torch.tensor(51)) == "✗ tried: you have half of it."
    assert verdict(number, torch.tensor([100.0])) == "✗ tried: expected a float, got a Tensor."
    assert verdict(number, torch.tensor(100j)) == "✗ tried: expected a float, got a complex."
    assert verdict(Prediction(lambda: 1, name="one"), True).startswith("✗ one: that isn't it")


def test_an_unknown_exercise_is_answered_with_those_that_exist():
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        Checker(ROWS, COUNT)("colums", None)
    assert out.getvalue() == "There is no exercise colums here. The exercises are rows, count.\n"


# Progress -----------------------------------------------------------------------------------------


@pytest.fixture
def file(tmp_path, monkeypatch):
    file = tmp_path / "progress.json"
    monkeypatch.setenv("BOOK_PROGRESS", str(file))
    return file


def left_in(folder: Path) -> list[str]:
    """What stands in the reader's folder, but for the lock."""
    return sorted({path.name for path in folder.iterdir()} - {".progress.json.lock"})


def begin_anew(monkeypatch) -> None:
    monkeypatch.setattr(progress.progress, "session", set())


def test_a_tick_is_stored_and_merged_with_those_of_other_sessions(file, monkeypatch):
    verdict(ROWS, ROWS.reference)
    assert json.loads(file.read_text()) == {"edition": 4, "passed": ["rows"]}
    begin_anew(monkeypatch)
    verdict(COUNT, COUNT.reference)
    file.write_text(
        json.dumps({"edition": 4, "passed": ["other", "count"]})
    )  # another notebook, meanwhile
    begin_anew(monkeypatch)
    verdict(SHARE, SHARE.reference)
    verdict(YES, lambda n: False)
    assert json.loads(file.read_text()) == {"edition": 4, "passed": ["count", "other", "share"]}
    assert progress.progress.passed() == {"other", "count", "share"}
    assert left_in(file.parent) == ["progress.json"]


def test_ticks_by_number_of_version_0_8_0_are_carried_over(file, monkeypatch):
    file.write_text(json.dumps({"edition": 3, "passed": ["4.3", "10.1", "other"]}))
    carried = {"masked_softmax", "mask_words", "other"}
    assert progress.progress.passed() == carried
    verdict(ROWS, ROWS.reference)
    stored = json.loads(file.read_text())
    assert stored == {"edition": 4, "passed": sorted(carried | {"rows"})}
    begin_anew(monkeypatch)
    assert progress.progress.passed() == carried | {"rows"}


@pytest.mark.parametrize("there", [[], ["count", "rows"]])
def test_the_ticks_of_a_former_file_are_added_to_those_that_are_there(there, file, tmp_path):
    former = tmp_path / "former.json"
    former.write_text(json.dumps({"edition": 3, "passed": ["4.3", "rows"]}))
    if there:
        file.write_text(json.dumps({"edition": 4, "passed": there}))
    progress.carry_over(former)
    expected = sorted({"masked_softmax", "rows", *there})
    assert json.loads(file.read_text()) == {"edition": 4, "passed": expected}
    assert not former.exists() and os.environ["BOOK_PROGRESS"] == str(file)


@pytest.mark.parametrize("damaged", ["former", "file"])
def test_where_one_of_both_files_is_damaged_both_stay_as_they_are(damaged, file, tmp_path):
    former = tmp_path / "former.json"
    text = {each: json.dumps({"edition": 4, "passed": [each]}) for each in ("former", "file")}
    text[damaged] = "{"
    former.write_text(text["former"])
    file.write_text(text["file"])
    with pytest.raises(ValueError, match="is damaged"):
        progress.carry_over(former)
    assert (former.read_text(), file.read_text()) == (text["former"], text["file"])
    assert os.environ["BOOK_PROGRESS"] == str(file)


def test_a_former_file_that_a_notebook_still_writes_is_waited_for(file, tmp_path, monkeypatch):
    former = tmp_path / "former.json"
    former.write_text('{"edition": 4, "passed": ["rows"]}')
    monkeypatch.setattr(progress, "PATIENCE", 0.05)
    with FileLock(former.with_name(".former.json.lock")), pytest.raises(OSError):
        progress.carry_over(former)
    assert former.exists() and not file.exists()


def test_the_numbers_of_version_0_8_0_name_exercises_each_once():
    names = list(progress.FORMER.values())
    assert len(names) == 164 and len(set(names)) == 164 and set(names) <= set(everything)


@pytest.mark.parametrize("old", [{"passed": ["4.3"]}, {"edition": 2, "passed": ["4.3"]}])
def test_a_file_from_before_version_0_8_0_is_left_as_it_is(old, file, capsys):
    file.write_text(json.dumps(old))
    progress.progress.add("rows")
    assert f"({file} is from before version 0.8.0: delete it to" in capsys.readouterr().out
    assert json.loads(file.read_text()) == old and progress.progress.passed() == {"rows"}


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('{"edition": 5, "passed": ["4.3"]}', "is from a newer version of the book"),
        ('{"passed": ' + 100_000 * "[" + 100_000 * "]" + "}", "is damaged: delete it"),
    ],
)
def test_a_file_that_is_not_understood_is_left_as_it_is(text, says, file, capsys):
    file.write_text(text)
    progress.progress.add("rows")
    assert f"({file} {says}" in capsys.readouterr().out
    assert file.read_text() == text and progress.progress.passed() == {"rows"}


def test_a_copy_that_calls_exercises_by_their_former_numbers_works_as_before(capsys, monkeypatch):
    from utils.exercises.self_attention import check

    right = check.exercises["split_heads"].reference
    assert check("5.3", right) is right
    said = capsys.readouterr().out
    assert said.startswith(f"✓ {numbers.titled('split_heads')}: correct.\n")
    progress.checklist({"split": ["5.3"], "split and mask": "5.2 5.3".split()})
    listed = capsys.readouterr().out.splitlines()
    assert [line[0] for line in listed[::2]] == ["☑", "☐"] and "masked_attention" in listed[3]
    shown = []
    monkeypatch.setattr("utils.show.display.display", lambda bundle, raw: shown.append(bundle))
    check.show_reference("5.3")
    assert "split_heads" in shown[0]["text/plain"]
    assert set(progress.progress.session) == {"split_heads"}


TICKING = """
import sys
from utils.exercises import progress

progress.PATIENCE = 600
sys.stdin.readline()
progress.progress.add(sys.argv[1])
"""


def test_no_tick_is_lost_when_notebooks_write_at_once(file):
    ids = [f"exercise_{number}" for number in range(6)]
    ticking = [
        subprocess.Popen(
            [sys.executable, "-c", TICKING, id], stdin=subprocess.PIPE, cwd=ROOT, text=True
        )
        for id in ids
    ]
    with FileLock(file.with_name(".progress.json.lock")):  # until all of them wait for it
        for process in ticking:
            process.stdin.write("now\n")
            process.stdin.flush()
        time.sleep(0.5)
        assert not file.exists()
    assert [process.wait() for process in ticking] == [0] * len(ids)
    assert json.loads(file.read_text()) == {"edition": 4, "passed": ids}
    assert left_in(file.parent) == ["progress.json"]


def test_a_lock_that_nobody_opens_costs_one_sentence(file, monkeypatch, capsys):
    monkeypatch.setattr(progress, "PATIENCE", 0.05)
    with FileLock(file.with_name(".progress.json.lock")):
        progress.progress.add("rows")
    out = capsys.readouterr().out
    assert out.startswith("Your progress can't be stored (") and out.count("\n") == 1
    assert progress.progress.passed() == {"rows"} and not file.exists()


def test_a_tick_that_is_stored_already_writes_nothing(file):
    verdict(ROWS, ROWS.reference)
    os.utime(file, (0, 0))
    verdict(ROWS, ROWS.reference)
    assert file.stat().st_mtime == 0


def test_without_a_file_ticks_count_for_the_session(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    verdict(ROWS, ROWS.reference)
    assert progress.progress.passed() == {"rows"}
    assert not any(tmp_path.iterdir())


DAMAGED = [
    "",
    "{",
    "[]",
    '{"passed": 3}',
    '{"passed": "rows"}',
    "null",
    '{"other": []}',
    b"\xff\xfe",
]


@pytest.mark.parametrize("damaged", DAMAGED)
def test_a_damaged_file_is_left_as_it_is_with_one_sentence(damaged, file, capsys):
    damaged = damaged if isinstance(damaged, bytes) else damaged.encode()
    file.write_bytes(damaged)
    progress.progress.add("rows")
    assert capsys.readouterr().out == (
        f"Your progress can't be stored ({file} is damaged: delete it to start a new one): "
        "ticks count for this session only.\n"
    )
    assert file.read_bytes() == damaged
    assert progress.progress.passed() == {"rows"}
    assert capsys.readouterr().out.startswith(f"Your progress can't be read ({file} is damaged")
    assert left_in(file.parent) == ["progress.json"]


def test_a_folder_that_cant_be_written_costs_one_sentence(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("BOOK_PROGRESS", str(tmp_path / "missing" / "progress.json"))
    progress.progress.add("rows")
    out = capsys.readouterr().out
    assert out.startswith("Your progress can't be stored (") and out.count("\n") == 1
    assert progress.progress.passed() == {"rows"}


def test_a_read_only_folder_costs_one_sentence(file, monkeypatch, capsys):
    def refuse(*args, **kwargs):
        raise PermissionError(13, "Permission denied", str(file))

    monkeypatch.setattr(Path, "write_text", refuse)  # for root no folder is read-only
    progress.progress.add("rows")
    out = capsys.readouterr().out
    assert "Permission denied" in out and out.count("\n") == 1


def test_a_write_that_breaks_off_leaves_the_old_file(file, monkeypatch, capsys):
    progress.progress.add("rows")
    before = file.read_text()

    def fail(self, target):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", fail)
    progress.progress.add("count")
    assert "No space left" in capsys.readouterr().out
    assert file.read_text() == before
    assert left_in(file.parent) == ["progress.json"]


def test_the_checklist_ticks_a_point_when_all_its_exercises_are_passed(capsys):
    points = {"multiply": ["rows"], "multiply and count": ["rows", "count"]}
    progress.progress.add("rows")
    progress.checklist(points)
    assert capsys.readouterr().out == (
        "☑ multiply\n   rows\n☐ multiply and count\n   rows, count\n"
    )
    progress.progress.add("count")
    progress.checklist(points)
    assert capsys.readouterr().out.count("☑") == 2


# Chapters and solutions ---------------------------------------------------------------------------


CHECK = re.compile(r'^(?:\w+ = )?check\("(\w+)",', re.MULTILINE)


def stored(script: Path) -> nbformat.NotebookNode:
    return nbformat.read(script.with_suffix(".ipynb"), as_version=4)


def pages(name: str) -> list[Path]:
    """The lesson and its deeper page."""
    return [ROOT / folder / f"{name}.py" for folder in ("chapters", "chapters/deeper")]


BOX = re.compile(r"^# (`{3,}|:{3,})\{exercise\}.*?^# \1$", re.MULTILINE | re.DOTALL)


def amiss(names: set[str], name: str, written: str, solved: str) -> list[str]:
    """What the text of a day's pages, and of its solutions, lacks of the day's exercises."""
    boxes, labels = [box[0] for box in BOX.finditer(written)], []
    for box in boxes:
        label = re.search(r"^# :label: exercise-([a-z0-9-]+)$", box, re.MULTILINE)
        labels.append(label[1].replace("-", "_") if label else "a box without")
    solutions = re.findall(r"^# \(solution-([a-z0-9-]+)\)=$", solved, re.MULTILINE)
    lesson, page = f"chapters/{name}.py, or its deeper page,", f"chapters/solutions/{name}.py"
    found = []
    for where, needs, there in (
        (lesson, "a box with `:label: exercise-the-name`", labels),
        (lesson, '`check("the_name", …)` in a cell', CHECK.findall(written)),
        (page, "a line `(solution-the-name)=`", [label.replace("-", "_") for label in solutions]),
        (page, '`check("the_name", …)` in a cell', CHECK.findall(solved)),
    ):
        if missing := sorted(names - set(there)):
            found.append(f"{where} needs {needs} for {', '.join(missing)}")
        elif there != labels or len(there) > len(names):
            found.append(f"{where} needs {needs} once for each, in order, not {', '.join(there)}")
    for label, box in zip(labels, boxes, strict=True):
        solution = f"{name}.ipynb#solution-{label.replace('_', '-')})"
        if not found and solution not in box:
            found.append(f"the box of {label} needs the link ([Solution](solutions/{solution})")
    return found


@pytest.mark.parametrize(("module", "name"), CHAPTERS.items())
def test_every_exercise_has_its_check_its_page_and_its_solution(module, name):
    written = "\n".join(page.read_text(encoding="utf-8") for page in pages(name))
    solved = (ROOT / "chapters/solutions" / f"{name}.py").read_text(encoding="utf-8")
    if found := amiss(set(checks[module].exercises), name, written, solved):
        pytest.fail("; ".join(found) + ". Then `make execute`.", pytrace=False)


@pytest.mark.parametrize(
    ("page", "before", "after", "sentence"),
    [
        (0, ":label: exercise-one-b", "", "`:label: exercise-the-name` for one_b"),
        (0, "exercise-one-b", "exercise-one-a", "`:label: exercise-the-name` for one_b"),
        (0, "# %%", "# ```{exercise}\n# ```\n\n# %%", "not one_a, a box without"),
        (
            0,
            "#solution-one-b",
            "#solution-one-a",
            "([Solution](solutions/01_x.ipynb#solution-one-b",
        ),
        (0, 'check("one_b"', 'check("one_a"', "in a cell for one_b"),
        (1, "(solution-one-b)=", "(solution-one_b)=", "`(solution-the-name)=` for one_b"),
        (1, "(solution-one-b)=", 2 * "(solution-one-b)=\n# ", "not one_a, one_b, one_b"),
        (1, 'check("one_b", f)', "f", "solutions/01_x.py needs `check("),
    ],
)
def test_what_an_exercise_lacks_on_its_pages_is_said(page, before, after, sentence):
    lesson = (
        "# ```{{exercise}} Title\n# :label: exercise-one-{0}\n#\n# Do it. "
        "([Solution](solutions/01_x.ipynb#solution-one-{0}))\n# ```\n\n"
        '# %%\nf = check("one_{0}", f)\n'
    )
    solutions = '# (solution-one-{0})=\n# ## It\n\n# %%\ncheck("one_{0}", f)\n'
    written = ["".join(map(text.format, "ab")) for text in (lesson, solutions)]
    assert amiss({"one_a", "one_b"}, "01_x", *written) == []
    assert before in written[page]
    written[page] = written[page].replace(before, after)
    said = amiss({"one_a", "one_b"}, "01_x", *written)
    assert sentence in said[0]


@pytest.mark.parametrize("script", notebooks.scripts(), ids=lambda p: f"{p.parent.name}/{p.stem}")
def test_no_source_spells_the_number_of_an_exercise(script):
    text = script.read_text(encoding="utf-8").replace("\n# ", " ")
    found = re.findall(r"[Ee]xercises? \d+\.\d+|(?:exercise|solution)-\d.*|check\S*\(\"\d.*", text)
    assert found == [], f"write {{numref}}`exercise-the-name` in place of {found}"


BOXES = "# %% [markdown]\n# ```{{exercise}} It\n# :label: exercise-{}\n# ```\n"


def test_numbers_follow_the_order_of_the_boxes_from_the_lesson_to_its_deeper_page(tmp_path):
    (tmp_path / "deeper").mkdir()
    days = {"07_a": ("look", "top-k"), "deeper/07_a": ("alibi",), "11_b": ("more",)}
    for page, labels in days.items():
        (tmp_path / f"{page}.py").write_text("".join(map(BOXES.format, labels)), encoding="utf-8")
    before = {"look": "7.1", "top-k": "7.2", "alibi": "7.3", "more": "11.1"}
    assert numbers.numbers(tmp_path) == {f"exercise-{name}": at for name, at in before.items()}


def test_an_exercise_between_two_others_touches_three_sources_and_moves_the_later_numbers(
    tmp_path, monkeypatch
):
    chapters, name = ROOT / "chapters", "00_first_steps"
    for folder in ("deeper", "solutions"):
        (tmp_path / folder).mkdir()
        shutil.copy(chapters / folder / f"{name}.py", tmp_path / folder)
    lesson, solved = tmp_path / f"{name}.py", tmp_path / "solutions" / f"{name}.py"
    box = f"# ```{{exercise}} It\n# :label: exercise-new\n# ({name}.ipynb#solution-new)\n# ```"
    cell = '\n\n# %%\ncheck("new", f)\n\n# %% [markdown]\n'
    added = {  # where, and before which line: what is added
        (lesson, "# ```{exercise} Cross-entropy"): box + cell,
        (solved, "# (solution-cross-entropy)="): "# (solution-new)=\n# ## It" + cell,
    }
    for (page, line), text in added.items():
        before = (chapters / page.relative_to(tmp_path)).read_text(encoding="utf-8")
        assert before.count(line) == 1
        page.write_text(before.replace(line, text + line), encoding="utf-8")
    day = Checker.of(written_as(tmp_path, monkeypatch, new=DEFINED)).exercises
    names = set(day) | set(checks["first_steps"].exercises)
    written = [
        page.read_text(encoding="utf-8") for page in (lesson, tmp_path / "deeper" / lesson.name)
    ]
    assert amiss(names, name, "\n".join(written), solved.read_text(encoding="utf-8")) == []
    was, now = numbers.numbers(chapters), numbers.numbers(tmp_path)
    assert now.pop("exercise-new") == was["exercise-cross-entropy"] == "0.2"
    assert list(now) == [label for label in was if was[label].startswith("0.")]
    for label, number in now.items():
        later = int(was[label].partition(".")[2]) > 1
        assert int(number.partition(".")[2]) == int(was[label].partition(".")[2]) + later


def test_an_exercise_that_is_on_no_page_is_called_by_its_name_alone(tmp_path):
    assert numbers.numbers(tmp_path) == {}
    assert numbers.titled("of_no_page") == "of_no_page"
    assert re.fullmatch(r"5\.\d+ split_heads", numbers.titled("split_heads"))


@pytest.mark.parametrize(("module", "name"), CHAPTERS.items())
def test_an_exercise_is_untouched_in_the_chapter_and_passed_in_its_solution(module, name):
    for scripts, sign in ((pages(name), "○"), ([ROOT / f"chapters/solutions/{name}.py"], "✓")):
        printed = {}
        for cell in (cell for script in scripts for cell in stored(script).cells):
            called = CHECK.search(cell.source)
            if cell.cell_type == "code" and called:
                printed[called[1]] = "".join(output.get("text", "") for output in cell.outputs)
        assert set(printed) == set(checks[module].exercises), (
            f"{scripts[0].relative_to(ROOT)} was executed before it had all exercises: run "
            "`make execute`"
        )
        for id, text in printed.items():
            *_, verdict = (line for line in text.splitlines() if "From here on" not in line)
            assert verdict.startswith(f"{sign} {numbers.titled(id)}: "), (
                f"{scripts[0].relative_to(ROOT)} has printed {verdict!r} for {id}: leave it "
                "unwritten in the lesson and right in the solutions, then `make execute`"
            )


@pytest.mark.parametrize(("module", "name"), CHAPTERS.items())
def test_the_checklist_of_a_chapter_names_its_exercises(module, name):
    notebook = nbformat.read(ROOT / "chapters" / f"{name}.ipynb", as_version=4)
    printed = "".join(
        output.get("text", "")
        for cell in notebook.cells
        if cell.cell_type == "code" and "checklist(" in cell.source
        for output in cell.outputs
    )
    named = [name for line in re.findall("^   (.+)", printed, re.M) for name in line.split(", ")]
    asked = {numbers.titled(exercise) for exercise, _ in minutes.boxes(name)}
    assert asked and asked <= set(named) <= set(map(numbers.titled, checks[module].exercises)), (
        f"the checklist of {name} names {named}: write the names of the lesson's exercises into "
        "its points, then `make execute`"
    )


def test_what_a_reader_wrote_is_what_runs(capsys, monkeypatch):
    monkeypatch.delenv("BOOK_PROGRESS", raising=False)

    def double(x):
        return 2 * x

    def mine(x):
        return x + x

    def untouched(x):
        raise NotImplementedError

    stages = [Stage("one number", lambda: [(3.0,)])]
    of_page = Exercise(double, stages, gradient=False, runs=True, name="of_page")
    other = Exercise(double, stages, gradient=False, name="other")
    check = Checker(of_page, other)
    assert check("of_page", mine) is mine
    assert "From here on, the page uses yours." in capsys.readouterr().out
    for attempt in (untouched, abs):
        assert check("of_page", attempt) is double
        assert "From here on, the page uses the book's." in capsys.readouterr().out
    assert check("other", mine) is None and "page runs" not in capsys.readouterr().out


def test_pages_take_what_a_check_returns_if_it_returns_something():
    for page in (ROOT / "chapters").rglob("*.py"):
        for taken, name in re.findall(r'^(.*?)\bcheck\("(\w+)"', page.read_text("utf-8"), re.M):
            assert bool(taken) == getattr(everything[name], "runs", False), (
                f"{page.name}: assign what check({name!r}, …) returns just where the exercise "
                "has runs=True; otherwise the page shows a function's name, or loses it"
            )
