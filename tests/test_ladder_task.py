"""Day 15's ladder: sizes by name, pieces that are new or come again, rates that are tried."""

from types import SimpleNamespace

import pytest
import torch

from utils.measure.experiments.results import load_script
from utils.tasks import ladder
from utils.tasks.rivals import gpt


@pytest.fixture
def small(monkeypatch):
    """Pieces of five tokens, two in a batch."""
    monkeypatch.setattr(ladder, "WINDOW", 5)
    monkeypatch.setattr(ladder, "BATCH", 2)


def read(batches) -> list[int]:
    """The first token of each piece, in the order in which they are read."""
    return [row[0].item() for rows, _ in batches for row in rows]


@pytest.mark.parametrize("sizes", [ladder.LADDER, ladder.BETWEEN])
def test_the_names_are_the_weights(sizes):
    for name, size in sizes.items():
        model = gpt(1028, size.d_model, size.n_layers, size.n_heads)
        weights = sum(weight.numel() for weight in model.parameters())
        number, unit = name.split()
        named = float(number) * {"thousand": 1e3, "million": 1e6}[unit]
        assert weights == pytest.approx(named, rel=0.05), f"{name}: {weights:,}"
    assert len(ladder.LADDER) == 8


def test_one_pass_reads_each_piece_once_with_what_follows(small):
    text = torch.arange(43)
    assert ladder.n_pieces(text) == 8 and ladder.n_pieces(text[:41]) == 8
    batches = ladder.in_passes(text, 8, 1, seed=3)
    assert sorted(read(batches)) == list(range(0, 40, 5))
    for rows, following in batches:
        assert rows.shape == following.shape == (2, 5) and (following == rows + 1).all()


def test_passes_come_in_new_orders_and_fewer_pieces_are_some_of_more(small):
    text = torch.arange(200)
    again = read(ladder.in_passes(text, 12, 3, seed=1))
    passes = [again[:12], again[12:24], again[24:]]
    assert all(sorted(each) == sorted(passes[0]) for each in passes)
    assert passes[0] != passes[1] != passes[2]
    assert sorted(passes[0]) != list(range(0, 60, 5)), "pieces come from all of the text"
    other = read(ladder.in_passes(text, 12, 3, seed=2))
    assert set(other) == set(again) and other != again
    assert set(read(ladder.in_passes(text, 6, 1, seed=9))) < set(again)
    assert len(read(ladder.in_passes(text, 3, 3, seed=0))) == 8, "what fills no batch is left out"


def test_pieces_that_are_not_there_are_refused(small):
    text = torch.arange(43)
    for unique, passes, match in (
        (9, 1, "has 8 pieces"),
        (0, 1, "unique"),
        (1, 0, "passes"),
        (1, 1, "don't fill a batch"),
    ):
        with pytest.raises(ValueError, match=match):
            ladder.in_passes(text, unique, passes, seed=0)


def test_the_best_rate_is_the_validation_texts(monkeypatch):
    tried = []

    def train_on(batches, size, vocab_size, rate, seed):
        tried.append((batches, vocab_size, rate, seed))
        return rate

    def nats(model, text):
        assert text.tolist() == list(range(5, 5 + ladder.CHOOSING))
        return abs(model - 0.08) + 2

    monkeypatch.setattr(ladder, "train_on", train_on)
    monkeypatch.setattr(ladder, "nats", nats)
    ids = {"validation": torch.arange(5, 90_000)}
    task = SimpleNamespace(tokens=range(77), ids=ids)
    found = ladder.at_best_rate(ladder.Size(8, 1, 1, (0,)), task, ["b"], seed=6, start=0.2)
    assert found.rate == found.model == 0.1
    assert found.by_rate == {rate: abs(rate - 0.08) + 2 for rate in (0.05, 0.1, 0.2, 0.4)}
    assert list(found.by_rate) == sorted(found.by_rate)
    assert tried == [(["b"], 77, rate, 6) for rate in (0.2, 0.1, 0.4, 0.05)]


def test_a_gpt_learns_from_its_pieces(small):
    text = torch.arange(600) % 7
    batches = ladder.in_passes(text, 100, 1, seed=0)
    model = ladder.train_on(batches, ladder.Size(16, 1, 2, (0,)), 11, 0.1, seed=0)
    assert not model.training and ladder.nats(model, text[:99]) < 0.5


def test_every_training_of_equal_operations_has_text_and_steps():
    """The text has 12,944 pieces; what is read comes near to the budget."""
    script = load_script("equal_operations")
    for training in script.PARAMETERS["training"]:
        C, _, name = training.partition(", ")
        size = (ladder.LADDER | ladder.BETWEEN)[name]
        model = gpt(1028, size.d_model, size.n_layers, size.n_heads)
        N = sum(weight.numel() for weight in model.parameters())
        pieces = round(float(C) / (6 * N) / ladder.WINDOW)
        assert 20 * ladder.BATCH <= pieces <= 12_944, training
        read = pieces // ladder.BATCH * ladder.BATCH * ladder.WINDOW
        assert 6 * N * read == pytest.approx(float(C), rel=0.03), training
