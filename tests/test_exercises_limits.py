"""Day 15's exercises, held to the book's functions, and answers to them in other styles."""

import math
import statistics

import numpy as np
import pytest
import torch
from torch.nn import functional as F

from utils import computation, scaling
from utils.data import formal
from utils.exercises.limits import check
from utils.exercises.limits.brackets_in_float64 import brackets_in_float64
from utils.exercises.limits.cheapest_size import cheapest_size
from utils.exercises.limits.compose import compose
from utils.exercises.limits.counter_writes import cells, counter_writes
from utils.exercises.limits.exponent import exponent
from utils.exercises.limits.parity_weights import parity_weights
from utils.exercises.limits.plan_run import plan_run
from utils.exercises.limits.sensitivity import sensitivity
from utils.exercises.limits.shares_correct import shares_correct
from utils.exercises.limits.two_steps import two_steps
from utils.exercises.limits.with_steps import with_steps
from utils.tasks import written_steps

EXACT = {"rtol": 1e-10, "atol": 1e-10}


def draw(*shape: int, seed: int = 0) -> torch.Tensor:
    return torch.randn(*shape, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))


# Held to the book's functions ---------------------------------------------------------------------


def test_the_weights_of_parity_are_the_books_and_find_it():
    words = formal.Modulo(2).draw(20, 1, 90, seed=3)
    said = computation.parity_rnn(*parity_weights())(words.ids).argmax(dim=-1)
    asked = words.answers != formal.IGNORE_INDEX
    assert torch.equal(said[asked], words.answers[asked])
    unit = check.exercises["parity_weights"].reference
    assert torch.equal(unit(words.ids[0]), said[0].double()) and unit() == (-1, 1, 0)


def test_two_steps_at_a_time_are_the_books_recurrence():
    a, u = draw(4, 7, 3).tanh(), draw(4, 7, 3, seed=1)
    gate, state = a[:, 0], u[:, 0]
    for t in range(1, 7):
        gate, state = two_steps(gate, state, a[:, t], u[:, t])
    torch.testing.assert_close(state, computation.by_loop(a, u)[:, -1], **EXACT)
    torch.testing.assert_close(gate, a.prod(dim=1), **EXACT)


def test_writes_are_those_of_the_books_lstm_and_tell_what_follows():
    language = formal.Blocks("ab")
    layer = computation.counter_lstm().layer
    written = layer.W_x[4:6].tanh().double()  # the block of the candidates
    assert torch.equal(written, torch.tensor(counter_writes(), dtype=torch.float64))
    ids = language.encode("aaaabbbb")
    first, second = cells(written, ids[0])
    answers = torch.where(second == 0, 0, torch.where(first == 0, 2, 1))
    assert torch.equal(answers, language.truth(ids)[0])


def test_all_symbols_change_parity_and_few_change_majority():
    words = torch.randint(2, (6, 11), generator=torch.Generator().manual_seed(0))
    parity, majority = (formal.LANGUAGES[name] for name in ("parity", "majority"))
    for word in words:
        assert sensitivity(lambda x: parity.truth(x[None])[0, -1], word) == 11
        ones = int(word.sum())
        expected = {5: 6, 6: 6}.get(ones, 0)
        assert sensitivity(lambda x: majority.truth(x[None])[0, -1], word) == expected


def test_written_steps_are_the_books_rows():
    language = formal.Modulo(3)
    words = language.draw(6, 5, 5, seed=2)
    inputs, targets = with_steps(words.ids, words.answers, len(language.symbols))
    assert torch.equal(inputs, written_steps.rows(language, words.ids, words.answers, True))
    assert torch.equal(targets[:, ::2], words.answers + 2) and (targets[:, 1::2] == -100).all()
    logits = draw(6, 10, 6)
    assert F.cross_entropy(logits.flatten(0, 1), targets.flatten()) == pytest.approx(
        written_steps.answer_loss((logits,), words.answers + 2).item()
    )


@pytest.mark.parametrize(
    ("gpu", "money", "days", "price", "utilisation", "k"),
    [("A100 (2020)", 1e3, 3, 2.5, 0.4, 20), ("H100 (2022)", 7e6, 80, 1.9, 0.31, 6)],
)
def test_a_plan_takes_the_days_that_the_book_counts(gpu, money, days, price, utilisation, k):
    gpus, weights, tokens = plan_run(money, days, price, scaling.GPUS[gpu], utilisation, k)
    assert gpus * days * 24 * price == pytest.approx(money)
    assert tokens == pytest.approx(k * weights)
    operations = scaling.six_n_d(weights, tokens)
    assert scaling.days_of(operations, gpu, gpus, utilisation) == pytest.approx(days)


def test_exponents_are_those_of_a_growth_that_shrinks():
    N, losses = draw(9).mul(3).exp(), draw(9, seed=1).exp()
    assert exponent(N, losses) == pytest.approx(-scaling.growth(N, losses))
    law = scaling.PowerLaw(0.0, 30.0, 0.21)
    assert exponent(N, torch.tensor(law.loss(N))) == pytest.approx(0.21)


def test_cheapest_sizes_are_the_books():
    for seed in range(5):
        N = draw(7, seed=seed).mul(2).exp()
        losses = 2 + 0.1 * (N.log() - 1) ** 2 + 0.02 * draw(7, seed=seed + 9)
        expected = scaling.parabola_minimum(N, losses).N
        assert cheapest_size(N, losses) == pytest.approx(expected)


def test_shares_are_the_books_measures():
    generator = torch.Generator().manual_seed(0)
    predicted, target = torch.randint(3, (2, 40, 3), generator=generator)
    measures = scaling.both_measures(predicted == target)
    assert shares_correct(predicted, target) == (measures.exact, measures.by_digit)


def test_permutations_one_after_another_follow_the_books_cups():
    language = formal.Swaps(5)
    ids = language.draw(4, 9, 9, seed=1).ids
    places = language.moves()[ids]  # (B, T, 5)
    so_far, found = torch.arange(5).expand(4, 5), []
    for t in range(9):
        so_far = compose(so_far, places[:, t])
        found.append(so_far[:, 0])
    assert torch.equal(torch.stack(found, dim=1), language.truth(ids))


def test_the_brackets_that_fit_are_those_that_the_books_machine_reads():
    machine = computation.StackMachine(torch.float64)
    assert computation.deepest_stack(machine) == brackets_in_float64() == 26
    assert check.exercises["brackets_in_float64"].judge(26.0) == (True, "correct.")


def test_the_pages_go_on_with_six_of_them():
    runs = {name for name, of in check.exercises.items() if getattr(of, "runs", False)}
    others = {"two_steps", "sensitivity", "plan_run", "compose", "cheapest_size"}
    assert runs == {"parity_weights", *others}


def test_an_exponent_keeps_its_sign():
    sizes, losses = torch.tensor([[1.0, 10, 100], [2, 4, 8]], dtype=torch.float64)
    assert exponent(sizes, losses) == pytest.approx(-math.log10(2))
    assert exponent(sizes, 1 / losses) == pytest.approx(math.log10(2))


# Other styles -------------------------------------------------------------------------------------


def steps_in_place(a_1, u_1, a_2, u_2):
    u = u_1.clone()
    u *= a_2
    u += u_2
    return [a_1.mul(a_2), u]


def steps_tried_out(a_1, u_1, a_2, u_2):
    def both(h):
        return torch.addcmul(u_2, a_2, a_1 * h + u_1)

    u = both(torch.zeros_like(u_1))
    return both(torch.ones_like(u_1)) - u, u


def flipped_back(answer, word):
    word, found = word.clone(), 0
    before = answer(word)
    for i in range(len(word)):
        word[i] ^= 1
        found += answer(word) != before
        word[i] ^= 1
    return found


def flipped_in_a_table(answer, word):
    flips = word ^ torch.eye(len(word), dtype=word.dtype)
    return torch.tensor([answer(row) != answer(word) for row in flips]).sum()


def steps_by_slices(symbols, answers, n_symbols):
    B, T = symbols.shape
    inputs, targets = torch.zeros(B, 2 * T).long(), torch.full((B, 2 * T), -100)
    inputs[:, 0::2], inputs[:, 1::2] = symbols, answers + n_symbols
    targets[:, 0::2] = answers + n_symbols
    return [inputs, targets]


def steps_by_a_loop(symbols, answers, n_symbols):
    inputs, targets = [], []
    for word, said in zip(symbols.tolist(), answers.tolist(), strict=True):
        pairs = list(zip(word, said, strict=True))
        inputs.append([id for x, a in pairs for id in (x, a + n_symbols)])
        targets.append([id for _, a in pairs for id in (a + n_symbols, -100)])
    return torch.tensor(inputs), torch.tensor(targets)


def planned_in_seconds(money, days, price, throughput, utilisation, tokens_per_weight):
    seconds = money / price * 60 * 60
    operations = throughput * utilisation * seconds
    D = (operations * tokens_per_weight / 6) ** 0.5
    return np.array([seconds / (days * 86_400), operations / (6 * D), D]).tolist()


def exponent_by_a_loop(sizes, losses):
    x = [math.log2(N) for N in sizes.tolist()]
    y = [math.log2(L) for L in losses.tolist()]
    return -statistics.linear_regression(x, y).slope


def exponent_by_least_squares(sizes, losses):
    X = torch.stack([torch.ones_like(sizes), -sizes.log10()], dim=1)
    return torch.linalg.lstsq(X, losses.log10()[:, None]).solution[1, 0]


def size_by_least_squares(sizes, losses):
    x = sizes.log2()
    X = torch.stack([x * x, x, torch.ones_like(x)], dim=1)
    a, b, _ = torch.linalg.lstsq(X, losses[:, None]).solution[:, 0]
    return 2 ** (-b / (2 * a))


def size_in_the_middle(sizes, losses):
    parabola = np.polynomial.Polynomial.fit(np.log10(sizes.numpy()), losses.numpy(), 2)
    return 10.0 ** parabola.deriv().roots()[0]


def shares_by_a_loop(predicted, target):
    n, k = target.shape
    whole = digits = 0
    for row, true in zip(predicted.tolist(), target.tolist(), strict=True):
        whole += row == true
        digits += sum(p == t for p, t in zip(row, true, strict=True))
    return [whole / n, digits / (n * k)]


def composed_by_a_loop(first, then):
    both = zip(first.tolist(), then.tolist(), strict=True)
    return torch.tensor([[s[i] for i in f] for f, s in both])


def composed_by_matrices(first, then):
    n = first.shape[1]
    both = F.one_hot(first, n).double() @ F.one_hot(then, n).double()
    return both.argmax(dim=2)


OTHER_STYLES = [
    ("parity_weights", lambda: (1, -1, 0)),
    ("parity_weights", lambda: [-1.0, 1.0, -0.0]),
    ("parity_weights", lambda: torch.tensor([1.0, -1.0, 0.0])),
    ("parity_weights", lambda: (torch.tensor(-1), np.float32(1), 0)),
    ("two_steps", steps_in_place),
    ("two_steps", steps_tried_out),
    ("counter_writes", lambda: [[-1, 1], [0, -1]]),
    ("counter_writes", lambda: ((0.1, -0.1), (0, 0.3))),
    ("counter_writes", lambda: torch.tensor([[0.7, -0.7], [0.0, 1.0]])),
    ("counter_writes", lambda: np.array([[1, -1], [0, 1]])),
    ("counter_writes", lambda: [torch.tensor([1.0, -1.0]), torch.tensor([0.0, 1.0])]),
    ("sensitivity", flipped_back),
    ("sensitivity", flipped_in_a_table),
    (
        "sensitivity",
        lambda answer, word: np.sum(
            [
                answer(torch.where(torch.arange(len(word)) == i, 1 - word, word)) != answer(word)
                for i in range(len(word))
            ]
        ),
    ),
    ("with_steps", steps_by_slices),
    ("with_steps", steps_by_a_loop),
    (
        "with_steps",
        lambda x, a, n: (
            torch.cat([x[..., None], a[..., None] + n], -1).reshape(len(x), -1),
            F.pad((a + n)[..., None], (0, 1), value=-100).view(len(x), -1),
        ),
    ),
    ("plan_run", planned_in_seconds),
    ("exponent", exponent_by_a_loop),
    ("exponent", exponent_by_least_squares),
    ("exponent", lambda N, L: -np.polyfit(N.log().numpy(), np.log(L.numpy()), 1)[0]),
    ("cheapest_size", size_by_least_squares),
    ("cheapest_size", size_in_the_middle),
    ("cheapest_size", lambda N, L: scaling.parabola_minimum(N, L).N),
    ("shares_correct", shares_by_a_loop),
    (
        "shares_correct",
        lambda p, t: ((p != t).sum(1).eq(0).float().mean(), 1 - (p != t).float().mean()),
    ),
    ("compose", composed_by_a_loop),
    ("compose", composed_by_matrices),
    ("compose", lambda f, s: torch.stack([row[i] for i, row in zip(f, s, strict=True)])),
    ("compose", lambda f, s: s[torch.arange(len(f))[:, None], f].int()),
]


@pytest.mark.parametrize(("name", "answer"), OTHER_STYLES)
def test_an_answer_in_another_style_is_right(name, answer):
    assert check.exercises[name].judge(answer) == (True, "correct.")
