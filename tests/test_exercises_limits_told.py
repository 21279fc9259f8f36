"""What Day 15's exercises say of answers that can't be read, and of no known mistake."""

import math
from fractions import Fraction

import pytest
import torch

from utils.exercises.limits import check

THREE = "it raised ValueError: you returned a {}, not three numbers, W_x, W_h and b."
TABLE = "it raised ValueError: you returned a {}, not two rows of two numbers, a row for each cell."


@pytest.mark.parametrize(
    ("name", "given", "says"),
    [
        ("parity_weights", None, "it returned None: is a `return` missing?"),
        ("parity_weights", "1, 1, 0", THREE.format("str")),
        ("parity_weights", (-1, 1), THREE.format("tuple")),
        ("parity_weights", ([-1], [1], [0]), THREE.format("tuple")),
        ("parity_weights", (-1, 1, math.nan), "it raised ValueError: one of your numbers is"),
        ("counter_writes", None, "it returned None: is a `return` missing?"),
        ("counter_writes", (1, -1, 0, 1), TABLE.format("tuple")),
        ("counter_writes", ((1, -1), (0,)), TABLE.format("tuple")),
        ("counter_writes", ("1 -1", "0 1"), TABLE.format("tuple")),
        ("counter_writes", ((Fraction(1, 2), "b"), (0, 1)), TABLE.format("tuple")),
        ("counter_writes", ((1, -math.inf), (0, 1)), "it raised ValueError: one of your numbers"),
        ("counter_writes", ((3, -3), (0, 1)), "it raised ValueError: an LSTM writes tanh(…)"),
        ("two_steps", None, "it returned None: is a `return` missing?"),
        ("two_steps", (1, 2, 3), "it returned 3 values, not 2."),
        ("sensitivity", "2", "it returned a str, not a whole number (int)."),
        ("sensitivity", 1.0, "it returned a float, not a whole number (int)."),
        ("sensitivity", None, "it returned None: is a `return` missing?"),
        ("with_steps", None, "it returned None: is a `return` missing?"),
        ("with_steps", (torch.zeros(2, 2),) * 2, "value 1: the result has shape (2, 2); it should"),
        ("plan_run", (None, 1.0, 1.0), "value 1: it returned None: is a `return` missing?"),
        ("plan_run", (2.0, "1e9", 1.0), "value 1: you got 2.0; it should be 1.0."),
        ("exponent", None, "it returned None: is a `return` missing?"),
        ("exponent", math.nan, "you got nan; it should be "),
        ("exponent", "0.3", "it returned a str, not a number."),
        ("cheapest_size", math.nan, "you got nan; it should be "),
        ("cheapest_size", [1.0], "it returned a list, not a number."),
        ("shares_correct", 0.5, "it returned a float, not 2 values."),
        ("shares_correct", ("all", 1.0), "value 1: it returned a str, not a number."),
        ("compose", [[1, 2, 0]], "it returned a list, not a tensor."),
        ("compose", torch.zeros(3), "the result has shape (3,); it should be (1, 3)."),
    ],
)
def test_what_cannot_be_read_is_told_in_one_sentence(name, given, says):
    passed, sentence = check.exercises[name].judge(lambda *inputs: given)
    assert passed is False
    told = sentence.partition(": ")[2] if sentence.startswith("looking at ") else sentence
    assert told.startswith(says)


@pytest.mark.parametrize(
    ("name", "answer", "says"),
    [
        (
            "parity_weights",
            lambda: (-1, 0.8, 0),
            "looking at zeros after a one: you got [1.0, 0.8, 0.64, 0.512]; it should be "
            "[1.0, 1.0, 1.0, 1.0].",
        ),
        (
            "counter_writes",
            lambda: ((1, -0.75), (0, 1)),
            "looking at a word that is complete: value 1: you got [1.0, 0.25]; it should be "
            "[1.0, 0.0].",
        ),
        (
            "sensitivity",
            lambda answer, word: answer(word - 2 * word) != answer(word),
            "it raised ValueError: `answer` takes a tensor (n,) of 0 and 1.",
        ),
        (
            "sensitivity",
            lambda answer, word: word.bitwise_xor_(1).sum(),
            "it changed argument number 2: work on a copy.",
        ),
    ],
)
def test_what_is_no_known_mistake_is_told_in_numbers(name, answer, says):
    passed, sentence = check.exercises[name].judge(answer)
    assert passed is False and sentence.startswith(says)
