"""Sums as texts: written from either end, drawn without those that are asked for, learned."""

import math

import pytest
import torch

from utils.tasks.adding import (
    SYMBOLS,
    add,
    adder,
    answer_loss,
    answered,
    drawn,
    share_right,
    train_adder,
    written,
)


def spelled(ids) -> list[str]:
    return ["".join(SYMBOLS[number] for number in row) for row in ids.tolist()]


def adds(units_first: bool, wrong: int = -1):
    """A model that knows the sums, but for one number as the first."""

    class Calculator:
        def __call__(self, ids):
            logits = torch.zeros(*ids.shape, len(SYMBOLS))
            for row, text in enumerate(spelled(ids)):
                numbers = text.partition("=")[0].split("+")
                a, b = (int(x[::-1] if units_first else x) for x in numbers)
                n = len(numbers[0])
                total = f"{a + b + (a == wrong):0{n + 1}d}"
                answer = total[::-1] if units_first else total
                for k in range(len(text) - text.index("=")):
                    logits[row, text.index("=") + k, int(answer[k])] = 1
            return logits, None

    return Calculator()


def test_a_sum_is_written_from_its_units_on_or_as_usual():
    pairs = torch.tensor([7, 950]), torch.tensor([85, 73])
    assert spelled(written(pairs, units_first=False)) == ["007+085=0092", "950+073=1023"]
    assert spelled(written(pairs, units_first=True)) == ["700+580=2900", "059+370=3201"]
    assert spelled(written(pairs, False, digits=4)) == ["0007+0085=00092", "0950+0073=01023"]


@pytest.mark.parametrize(("a", "b"), [(1000, 0), (0, 1000), (-1, 5)])
def test_numbers_of_other_lengths_are_refused(a, b):
    with pytest.raises(ValueError, match="0 to 999"):
        written((torch.tensor([a]), torch.tensor([b])), units_first=True)


def test_pairs_that_are_kept_out_are_drawn_in_neither_order():
    asked = drawn(80, seed=0, digits=1)
    held = {frozenset(pair) for pair in zip(*(x.tolist() for x in asked), strict=True)}
    shown = drawn(3000, seed=1, digits=1, without=asked)
    shown = {frozenset(pair) for pair in zip(*(x.tolist() for x in shown), strict=True)}
    assert shown and not shown & held
    assert len(shown | held) == 55, "every other pair is drawn"


def test_pairs_are_numbers_of_so_many_digits():
    a, b = drawn(2000, seed=3)
    assert len(a) == len(b) == 2000
    assert 0 <= min(a.min(), b.min()) < 10 and 990 < max(a.max(), b.max()) < 1000
    assert torch.equal(a, drawn(2000, seed=3)[0]) and not torch.equal(a, drawn(2000, seed=4)[0])


def test_the_loss_is_that_of_the_answer_alone():
    ids = written(drawn(5, seed=0), units_first=True)
    right = 50 * torch.eye(len(SYMBOLS))[ids[:, 1:]]  # (5, 11, V)
    blind = right.clone()
    blind[:, :7] = 0  # what stands before the answer's first digit
    assert answer_loss((right, None), ids) < 1e-6
    assert answer_loss((blind, None), ids) < 1e-6
    blind[:, 7] = 0
    expected = torch.tensor(len(SYMBOLS)).log() / 4
    torch.testing.assert_close(answer_loss((blind, None), ids), expected)


@pytest.mark.parametrize("units_first", [True, False])
def test_an_answer_is_right_if_all_its_digits_are(units_first):
    pairs = torch.tensor([12, 500, 999, 12]), torch.tensor([7, 500, 1, 90])
    assert share_right(adds(units_first), pairs, units_first) == 1.0
    assert share_right(adds(units_first, wrong=12), pairs, units_first) == 0.5
    assert share_right(adds(not units_first), pairs, units_first) < 1.0
    four = torch.tensor([1234, 9999]), torch.tensor([8766, 1])
    assert share_right(adds(units_first), four, units_first, digits=4) == 1.0


@pytest.mark.parametrize("units_first", [True, False])
def test_a_sum_can_be_asked_for(units_first):
    assert add(adds(units_first), 457, 68, units_first) == 525
    assert add(adds(units_first), 999, 999, units_first) == 1998
    assert add(adds(units_first, wrong=3), 3, 4, units_first) == 8
    with pytest.raises(ValueError, match="0 to 999"):
        add(adds(units_first), 1000, 1, units_first)


def test_what_is_no_number_is_no_sum():
    class Says:
        def __call__(self, ids):
            return torch.eye(len(SYMBOLS))[torch.full_like(ids, SYMBOLS.index("+"))], None

    assert add(Says(), 1, 2) is None


def test_training_stops_after_each_so_many_steps_and_learns():
    model = adder(seed=0)
    ids = written(drawn(200, seed=9), units_first=True)

    def loss() -> float:
        with torch.no_grad():
            return answer_loss(model(ids[:, :-1]), ids).item()

    losses, steps = [loss()], []
    for done in train_adder(model, 20, 0.05, seed=0, every=10):
        steps.append(done)
        losses.append(loss())
    assert steps == [10, 20] and losses[0] > losses[1] > losses[2]


@pytest.mark.parametrize("units_first", [True, False])
def test_digits_are_judged_each_behind_the_true_ones(units_first):
    pairs = torch.tensor([12, 5, 7]), torch.tensor([30, 5, 1])
    correct, nats = answered(adds(units_first, wrong=7), pairs, units_first)
    assert correct[:2].all() and correct[2].tolist().count(False) == 1, "9 for 8, and no carry"
    assert correct[2, 0 if units_first else -1].item() is False
    calm, off = -1 + math.log(math.e + 11), math.log(math.e + 11)
    assert nats[correct].tolist() == pytest.approx([calm] * 11)
    assert nats[~correct].item() == pytest.approx(off)


def test_an_adder_has_the_width_that_is_asked_for():
    assert adder(0).config.d_model == 64 and adder(0, 16).config.d_ff == 64
