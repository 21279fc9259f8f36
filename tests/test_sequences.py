"""The small tasks: what is asked can be answered from what is there."""

import pytest
import torch
from torch import nn

from utils.data.batches import Batches
from utils.data.sequences import associative_recall, most_frequent, two_marks
from utils.training.recipes import tag_loss, train_once

N, LENGTH = 7, 20
KEYS, VALUES = LENGTH // 2, 8
BLANK = KEYS + VALUES


def test_each_question_has_its_answer_where_it_is_said_to_be():
    ids, target, apart = associative_recall(N, LENGTH, seed=3)
    assert ids.shape == (N, LENGTH, 2) and target.shape == apart.shape == (N, LENGTH)
    for b in range(N):
        keys, said = ids[b].unbind(-1)
        pairs = {int(key): t for t, key in enumerate(keys) if said[t] != BLANK}
        assert sorted(pairs) == list(range(KEYS))
        for t in range(LENGTH):
            where = pairs[int(keys[t])]
            if where == t:
                assert target[b, t] == -100 and apart[b, t] == 0 and KEYS <= said[t] < BLANK
            else:
                assert target[b, t] == said[where] - KEYS and apart[b, t] == abs(where - t)


def test_recall_hangs_on_the_seed_alone():
    torch.manual_seed(0)
    first = associative_recall(N, LENGTH, seed=3)
    torch.manual_seed(1)
    again, other = associative_recall(N, LENGTH, seed=3), associative_recall(N, LENGTH, seed=4)
    assert all(torch.equal(a, b) for a, b in zip(first, again, strict=True))
    assert not torch.equal(first[0], other[0])


@pytest.mark.parametrize("length", [0, 1, 7])
def test_a_length_without_halves_is_named(length):
    with pytest.raises(ValueError, match=f"even, .* {length}"):
        associative_recall(N, length, seed=0)


def test_the_answer_is_the_most_frequent_symbol():
    ids, answer = most_frequent(50, LENGTH, seed=0)
    assert ids.shape == answer.shape == (50, LENGTH)
    for sequence, found in zip(ids.tolist(), answer.tolist(), strict=True):
        assert set(found) == {max(range(8), key=sequence.count)}
    assert len(set(answer[:, 0].tolist())) > 4
    assert not torch.equal(ids, most_frequent(50, LENGTH, seed=1)[0])


def test_what_is_most_frequent_stands_out_as_much_as_it_is_said_to():
    ids, answer = most_frequent(3000, 400, seed=0)
    assert set(ids.flatten().tolist()) == set(range(8))
    found = (ids == answer).double().mean()
    chances = (3 * torch.rand(30_000, 8, generator=torch.Generator().manual_seed(1))).softmax(1)
    assert abs(found - chances.max(1).values.mean()) < 0.01


def test_each_sequence_has_chances_of_its_own():
    for seed in range(3):  # alone, as among others
        counts = most_frequent(1, 4000, seed)[0].flatten().bincount(minlength=8)
        assert counts.max() > 2 * counts.min()


@pytest.mark.parametrize("draw", [lambda: most_frequent(4, 9, 1), lambda: two_marks(9, 20, 3, 1)])
def test_sequences_hang_on_the_seed_alone(draw):
    found = draw()
    torch.rand(3)
    assert all(map(torch.equal, found, draw()))


def test_of_symbols_equally_frequent_the_first_is_the_answer():
    ids, answer = most_frequent(500, 6, seed=0)
    tied = 0
    for sequence, found in zip(ids.tolist(), answer[:, 0].tolist(), strict=True):
        counts = [sequence.count(symbol) for symbol in range(8)]
        assert found == counts.index(max(counts))
        tied += counts.count(max(counts)) > 1
    assert tied > 50


@pytest.mark.parametrize(("length", "distance"), [(20, 3), (23, 8), (11, 1)])
def test_two_marks_stand_everywhere_between_the_margins(length, distance):
    sequences, first = two_marks(3000, length, distance, seed=0)
    assert sequences.shape == (3000, 2, length) and set(sequences.unique().tolist()) == {0, 1}
    assert torch.equal(sequences.sum(2), torch.ones(3000, 2))
    where = sequences.argmax(2)  # (n, 2): where each channel's mark stands
    rows = torch.arange(3000)
    start, end = where[rows, first], where[rows, 1 - first]
    assert (end - start == distance).all() and set(first.tolist()) == {0, 1}
    fifth = length // 5
    assert set(start.tolist()) == set(range(fifth, length - fifth - distance))
    assert not torch.equal(sequences, two_marks(3000, length, distance, seed=1)[0])


def test_marks_that_do_not_fit_are_refused():
    assert (two_marks(9, 10, 5, seed=0)[0].argmax(2).sort(1).values == torch.tensor([2, 7])).all()
    with pytest.raises(ValueError, match=" 6 .* 10 "):
        two_marks(9, 10, 6, seed=0)


class Table(nn.Module):
    """Names a class for each symbol by itself."""

    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(6, 4)

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        return self.table(ids)


def test_a_tagger_learns_what_is_asked_and_nothing_else():
    torch.manual_seed(0)
    ids = torch.randint(6, (800, 10))
    target = (ids % 4).masked_fill(ids == 5, -100)
    model = Table()
    before = model.table.weight[5].clone()
    train_once(model, tag_loss, Batches(ids, target, batch_size=16), learning_rate=1e-1)
    assert torch.equal(model(ids).argmax(-1)[ids != 5], target[ids != 5])
    assert torch.equal(model.table.weight[5], before)
    assert tag_loss(model(ids), target) < 0.5
