"""The mistakes of Day 15's exercises, made in other ways than the checks know them."""

import math

import numpy as np
import pytest
import torch

from utils import scaling
from utils.exercises.limits import check


def flipping(
    flip=lambda word, i: word ^ (torch.arange(len(word)) == i), says=lambda a, b, i: a != b
):
    """Ask for each word that is made by a flip; count what is said of both answers."""

    def answer(answer, word):
        found = 0
        for i in range(len(word)):
            found += bool(says(answer(flip(word, i)), answer(word), word[i]))
        return found

    return answer


def adding_flips(answer, word):
    """Flip the symbols of one copy, one after another."""
    other, before, found = list(word), answer(word), 0
    for i, symbol in enumerate(word.tolist()):
        other[i] = torch.tensor(1 - symbol)
        found += answer(torch.stack(other)) != before
    return found


def in_turns(inputs, targets):
    """Make pairs of symbols, answers and n_symbols; what is read and asked are their two halves."""

    def answer(symbols, answers, n_symbols):
        halves = (
            torch.cat([x[:, :, None] for x in of(symbols, answers, n_symbols)], dim=2)
            for of in (inputs, targets)
        )
        return tuple(pairs.reshape(len(symbols), -1) for pairs in halves)

    return answer


def nothing(x):
    return torch.zeros_like(x) - 100


def read(x, a, n):
    return x, a + n


def asked(x, a, n):
    return a + n, nothing(a)


def next_tokens(symbols, answers, n_symbols):
    """The targets of a language model: what comes one later, in a row that is one shorter."""
    row = torch.stack([symbols, answers + n_symbols], dim=2).flatten(1)
    targets = row[:, 1:].clone()
    targets[:, 1::2] = -100
    return row[:, :-1], targets


def gpt_pair(symbols, answers, n_symbols):
    row = torch.stack([symbols, answers + n_symbols], dim=2).flatten(1)
    return row[:, :-1], row[:, 1:]


def plan(per_token=6.0, seconds=3600, hours=24, gpus=lambda gpus: gpus):
    """A plan with other numbers."""

    def answer(money, days, price, throughput, utilisation, k):
        C = money / price * seconds * throughput * utilisation
        N = (C / per_token / k) ** 0.5
        return gpus(money / (price * hours * days)), N, N * k

    return answer


def work(hours_of_gpus, gpus=lambda gpus: gpus):
    """A plan whose operations come from its GPUs and the hours of the run."""

    def answer(money, days, price, throughput, utilisation, k):
        n = money / price / days / 24
        C = hours_of_gpus(n, days * 24) * 3600 * throughput * utilisation
        N = math.sqrt(C / 6 / k)
        return gpus(n), N, k * N

    return answer


def of_fleet(money, days, price, throughput, utilisation, k):
    """Operations from GPUs and time, with the hours of all GPUs for the time."""
    gpus = money / price / days / 24
    N = math.sqrt(gpus * money / price * 3600 * throughput * utilisation / (6 * k))
    return gpus, N, k * N


def slope(x, y):
    """A slope by sums."""
    x, y = x - x.mean(), y - y.mean()
    return float((x @ y) / (x @ x))


def vertex(logarithm, power=math.exp, of=lambda a, b, c: -b / (2 * a)):
    """A size from the coefficients of a parabola."""

    def answer(sizes, losses):
        x = logarithm(sizes)
        X = torch.stack([x * x, x, x**0], dim=1)
        a, b, c = torch.linalg.lstsq(X, losses[:, None]).solution.flatten().tolist()
        return power(of(a, b, c))

    return answer


def same(x):
    return x


def averaged(exact, by_digit):
    """The means of what two functions make of the correct digits (n, k)."""

    def answer(predicted, target):
        correct = predicted.eq(target)
        return [of(correct).float().mean() for of in (exact, by_digit)]

    return answer


def scattered(first, then):
    """Write the second move's places to those of the first."""
    found = torch.zeros_like(first)
    for row, (f, s) in enumerate(zip(first, then, strict=True)):
        for i in range(len(f)):
            found[row, f[i]] = s[i]
    return found


def looked_up(table, index):
    return torch.stack([t[i] for t, i in zip(table, index, strict=True)])


MADE_OTHERWISE = [
    ("parity_weights", "counts_ones", lambda: [-1, -1, 0]),
    ("parity_weights", "counts_ones", lambda: torch.ones(3) - torch.eye(3)[2]),
    ("parity_weights", "last_symbol", lambda: (-1.0, 0.0, 0.0)),
    ("parity_weights", "parity_of_zeros", lambda: (-1, -1, 1)),
    ("parity_weights", "parity_of_the_length", lambda: (0, 1, -1)),
    ("parity_weights", "counts_symbols", lambda: (0, -1, -1)),
    ("parity_weights", "counts_zeros", lambda: np.array([1, -1, -1])),
    ("parity_weights", "twice", lambda: (2, -1, 0)),
    ("parity_weights", "forgets", lambda: (1, -0.9, 0)),
    ("parity_weights", "as_a_sign", lambda: (2, -1, -1)),
    ("two_steps", "reversed_order", lambda a, u, b, v: (a * b, torch.addcmul(u, a, v))),
    ("two_steps", "inputs_added", lambda a, u, b, v: [b * a, torch.stack([u, v]).sum(0)]),
    ("two_steps", "gates_added", lambda a, u, b, v: (b + a, v + b * u)),
    ("two_steps", "both_inputs_gated", lambda a, u, b, v: (a * b, b * u + b * v)),
    ("two_steps", "through_both_gates", lambda a, u, b, v: ((c := a * b), c * u + v)),
    ("two_steps", "from_0", lambda a, u, b, v: b * (a * 0 + u) + v),
    ("counter_writes", "b_not_subtracted", lambda: [[0.5, 0], [0, 0.5]]),
    ("counter_writes", "letters_together", lambda: np.array([[-1, -1], [0, -1]])),
    ("counter_writes", "transposed", lambda: torch.tensor([[1, -1], [0, 1]]).T),
    ("counter_writes", "a_in_the_second", lambda: ((-1, 1), (1, 0))),
    ("counter_writes", "cells_exchanged", lambda: ((0, 1), (-1, 1))),
    ("counter_writes", "b_twice", lambda: ((-0.25, 0.5), (0, 1))),
    ("counter_writes", "all_symbols", lambda: torch.full((2, 2), 0.3)),
    ("sensitivity", "ones", lambda answer, word: word.tolist().count(1)),
    ("sensitivity", "length", lambda answer, word: word.numel()),
    ("sensitivity", "not_flipped_back", adding_flips),
    ("sensitivity", "all_at_once", lambda answer, word: answer(word ^ 1) != answer(word)),
    ("sensitivity", "with_the_symbol", flipping(says=lambda a, b, symbol: a != symbol)),
    ("sensitivity", "with_the_flipped_symbol", flipping(says=lambda a, b, symbol: a == symbol)),
    ("sensitivity", "unchanged", flipping(says=lambda a, b, symbol: a == b)),
    ("sensitivity", "not_0", flipping(says=lambda a, b, symbol: a)),
    ("sensitivity", "larger", flipping(says=lambda a, b, symbol: a > b)),
    ("sensitivity", "smaller", flipping(says=lambda a, b, symbol: a < b)),
    ("sensitivity", "set_to_1", flipping(lambda word, i: word | (torch.arange(len(word)) == i))),
    ("sensitivity", "set_to_0", flipping(lambda word, i: word & (torch.arange(len(word)) != i))),
    ("sensitivity", "left_out", flipping(lambda word, i: word[torch.arange(len(word)) != i])),
    ("with_steps", "answer_first", in_turns(lambda x, a, n: (a + n, x), asked)),
    (
        "with_steps",
        "not_shifted",
        in_turns(lambda x, a, n: (x, a), lambda x, a, n: (a, nothing(a))),
    ),
    ("with_steps", "at_the_answer", in_turns(read, lambda x, a, n: (nothing(a), a + n))),
    ("with_steps", "answer_twice", in_turns(read, lambda x, a, n: (a + n, a + n))),
    ("with_steps", "zeros", in_turns(read, lambda x, a, n: (a + n, 0 * a))),
    ("with_steps", "last_left_out", next_tokens),
    ("with_steps", "shifted_as_in_a_gpt", gpt_pair),
    (
        "with_steps",
        "targets_to_the_left",
        in_turns(
            read, lambda x, a, n: (nothing(a), torch.cat([a[:, 1:] + n, nothing(x[:, :1])], 1))
        ),
    ),
    (
        "with_steps",
        "last_answer_alone",
        in_turns(
            read,
            lambda x, a, n: (torch.cat([nothing(x[:, 1:]), a[:, -1:] + n], 1), nothing(a)),
        ),
    ),
    (
        "with_steps",
        "side_by_side",
        lambda x, a, n: (
            torch.stack([x, a + n], dim=1).flatten(1),
            torch.stack([a + n, nothing(a)], dim=1).flatten(1),
        ),
    ),
    (
        "with_steps",
        "next_symbol_as_well",
        in_turns(read, lambda x, a, n: (a + n, torch.cat([x[:, 1:], nothing(x[:, :1])], 1))),
    ),
    ("plan_run", "without_six", plan(per_token=1)),
    ("plan_run", "forward_alone", plan(per_token=2)),
    ("plan_run", "hours_for_seconds", plan(seconds=1)),
    ("plan_run", "days_for_hours", plan(hours=1)),
    ("plan_run", "rounded_up", plan(gpus=lambda n: -int(-n // 1))),
    ("plan_run", "gpus_twice", of_fleet),
    ("plan_run", "rounded_down", plan(gpus=int)),
    ("plan_run", "rounded_down_at_work", work(lambda n, hours: int(n) * hours, int)),
    ("plan_run", "rounded", plan(gpus=lambda n: int(n + 0.5))),
    (
        "plan_run",
        "rounded_at_work",
        work(lambda n, hours: int(n + 0.5) * hours, lambda n: int(n + 0.5)),
    ),
    ("plan_run", "days_for_hours_of_work", work(lambda n, hours: n * hours / 24)),
    ("plan_run", "of_one_hour", work(lambda n, hours: n)),
    ("plan_run", "of_one_gpu_in_one_hour", work(lambda n, hours: 1)),
    ("plan_run", "of_one_day", work(lambda n, hours: n * 24)),
    ("plan_run", "as_percentage", work(lambda n, hours: n * hours * 100)),
    (
        "plan_run",
        "price_per_day",
        lambda m, d, p, *rest: plan()(m * 24, d, p, *rest),
    ),
    ("plan_run", "days_left_out", lambda m, d, p, *rest: (m / p / 24, *plan()(m, d, p, *rest)[1:])),
    (
        "plan_run",
        "split_evenly",
        lambda m, d, p, t, u, k: (m / p / 24 / d, *2 * [(m / p * 600 * t * u) ** 0.5]),
    ),
    ("exponent", "losses_alone", lambda N, L: -slope(N, L.log())),
    ("exponent", "sizes_alone", lambda N, L: -slope(N.log(), L)),
    ("exponent", "slope_itself", lambda N, L: slope(N.log2(), L.log2())),
    ("exponent", "sign_lost", lambda N, L: abs(slope(N.log(), L.log()))),
    ("exponent", "inverse", lambda N, L: -1 / slope(L.log10(), N.log10())),
    ("exponent", "losses_in_tens", lambda N, L: -slope(N.log(), L.log10())),
    ("exponent", "sizes_in_tens", lambda N, L: -slope(N.log10(), L.log())),
    (
        "exponent",
        "first_and_last",
        lambda N, L: math.log(L[0] / L[-1]) / math.log(N[-1] / N[0]),
    ),
    ("exponent", "height", lambda N, L: np.polyfit(N.log(), L.log(), 1)[-1]),
    ("exponent", "factor", lambda N, L: math.exp(np.polyfit(N.log(), L.log(), 1)[-1])),
    ("cheapest_size", "over_sizes", lambda N, L: vertex(same, same)(N / 1000, L) * 1000),
    ("cheapest_size", "logarithm", vertex(torch.log, same)),
    ("cheapest_size", "tens_then_e", vertex(torch.log10)),
    ("cheapest_size", "twos_then_e", vertex(torch.log2)),
    ("cheapest_size", "two_missing", vertex(torch.log, of=lambda a, b, c: -b / a)),
    ("cheapest_size", "sign_lost", vertex(torch.log, of=lambda a, b, c: b / (2 * a))),
    ("cheapest_size", "reverse_order", vertex(torch.log, of=lambda a, b, c: -b / (2 * c))),
    ("cheapest_size", "best_of_trained", lambda N, L: min(zip(L, N, strict=True))[1]),
    ("cheapest_size", "lowest_loss", lambda N, L: scaling.parabola_minimum(N, L).loss),
    ("shares_correct", "exchanged", averaged(same, lambda correct: correct.all(1))),
    ("shares_correct", "any_digit", averaged(lambda correct: correct.any(1), same)),
    ("shares_correct", "digits_twice", averaged(same, same)),
    ("shares_correct", "along_the_batch", averaged(lambda correct: correct.all(0), same)),
    ("shares_correct", "power", lambda p, t: ((m := (p == t).double().mean()) ** p.shape[1], m)),
    ("compose", "reversed_order", looked_up),
    ("compose", "first_backwards", scattered),
    ("compose", "way_back", lambda f, s: looked_up(s, f).argsort(1)),
    ("compose", "then_of_the_first_row", lambda f, s: s[0][f]),
    ("compose", "first_alone", lambda f, s: f.clone()),
    (
        "compose",
        "from_1",
        lambda f, s: torch.stack([r[i - 1] for i, r in zip(f, s, strict=True)]),
    ),
]


@pytest.mark.parametrize(("name", "mistake", "answer"), MADE_OTHERWISE)
def test_a_mistake_made_in_another_way_is_named(name, mistake, answer):
    exercise = check.exercises[name]
    passed, sentence = exercise.judge(answer)
    assert not passed and sentence.endswith(exercise.mistakes[mistake].says)


@pytest.mark.parametrize(
    ("given", "mistake"),
    [(53, "a_digit_each"), (32, "all_bits"), (52, "a_stored_digit_each"), (26.5, "not_rounded")],
)
def test_a_wrong_number_of_brackets_is_explained(given, mistake):
    exercise = check.exercises["brackets_in_float64"]
    assert exercise.judge(given) == (False, exercise.mistakes[mistake].says)


def test_at_least_ninety_mistakes_are_known():
    known = {name: len(exercise.mistakes) for name, exercise in check.exercises.items()}
    assert sum(known.values()) >= 90 and min(known.values()) >= 10
