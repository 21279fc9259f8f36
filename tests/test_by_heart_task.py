"""A table without a rule: its rows differ, it is learned by heart, and what is kept is counted."""

import math

import pytest
import torch

from utils.tasks.by_heart import SYMBOLS, Kept, T, Table, drawn, kept, learn, reader


def test_all_sequences_differ_and_their_answers_are_random():
    table, new = drawn(300, 500, seed=0)
    rows = {tuple(row) for row in torch.cat([table.ids, new.ids]).tolist()}
    assert len(rows) == 800 and table.ids.shape == table.answers.shape == (300, T)
    for each in (*table, *new):
        assert each.unique().tolist() == list(range(SYMBOLS))
    again, other = drawn(300, 500, seed=0)[0], drawn(300, 500, seed=1)[0]
    assert torch.equal(again.ids, table.ids) and torch.equal(again.answers, table.answers)
    assert not torch.equal(other.ids, table.ids)
    for symbol in range(SYMBOLS):  # no answer follows from its own symbol
        shares = torch.bincount(new.answers[new.ids == symbol], minlength=SYMBOLS) / 1000
        assert (shares - 0.25).abs().max() < 0.06
    everything, last = drawn(SYMBOLS**T - 1, 1, seed=0)
    assert len(everything.ids.unique(dim=0)) == SYMBOLS**T - 1
    assert not (everything.ids == last.ids).all(dim=1).any()


@pytest.mark.parametrize("known, new", [(0, 5), (5, 0), (SYMBOLS**T, 1)])
def test_tables_that_there_are_not_are_refused(known, new):
    with pytest.raises(ValueError, match="at least 1|different sequences"):
        drawn(known, new, seed=0)


def certain_of(answers, p):
    """A model that gives these answers the probability p, and all others as much as each other."""
    likely = torch.nn.functional.one_hot(answers, SYMBOLS).double()
    return lambda ids: (p * likely + (1 - p) / (SYMBOLS - 1) * (1 - likely)).log()


def test_bits_count_what_the_model_saves():
    table, _ = drawn(50, 1, seed=0)
    for p in (0.25, 0.5, 0.97):
        found = kept(certain_of(table.answers, p), table)
        assert found.bits == pytest.approx(50 * T * (2 + math.log2(p)), abs=1e-6)
    assert (found.answers, found.rows) == (1, 1)
    wrong = table.answers.clone()
    wrong[:20, 3] = (wrong[:20, 3] + 1) % SYMBOLS
    found = kept(certain_of(wrong, 0.97), table)
    assert found.answers == pytest.approx(1 - 20 / (50 * T)) and found.rows == pytest.approx(0.6)
    cost = 20 * (math.log2(0.97) - math.log2(0.01))
    assert found.bits == pytest.approx(50 * T * (2 + math.log2(0.97)) - cost)


def test_a_reader_sees_both_directions_and_has_the_blocks_that_it_is_told():
    table, _ = drawn(6, 1, seed=0)
    for n_blocks in (1, 2):
        model = reader(16, n_blocks, seed=0)
        assert len(model.encoder.blocks) == n_blocks
        said, changed = model(table.ids), table.ids.clone()
        changed[:, -1] = (changed[:, -1] + 1) % SYMBOLS
        assert said.shape == (6, T, SYMBOLS)
        assert not torch.allclose(model(changed)[:, 0], said[:, 0])
    assert torch.equal(reader(16, 2, seed=0)(table.ids), said)
    assert not torch.equal(reader(16, 2, seed=1)(table.ids), said)


def test_a_small_table_is_learned_by_heart_and_no_other():
    table, new = drawn(12, 300, seed=0)
    model = reader(16, 1, seed=0)
    before = kept(model, table)
    history = learn(model, table, steps=150, rate=1e-2, seed=0)
    assert len(history.step_loss) == 150 and not model.training
    assert before.answers < 0.5 and isinstance(before, Kept)
    assert kept(model, table).answers > 0.98 and kept(model, table).bits > 0.9 * 12 * T * 2
    assert abs(kept(model, new).answers - 0.25) < 0.08 and isinstance(new, Table)
