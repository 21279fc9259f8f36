"""The writer of a page: its sizes, what it sees, that it learns, and how it is stored."""

import pytest
import torch

from utils.data.text import SPECIAL, Vocabulary
from utils.measure.experiments.results import load_script
from utils.tasks import shakespeare
from utils.tasks.letters import judged
from utils.tasks.rounded import in_int8
from utils.tasks.shakespeare import CONTEXT, texts, train, writer

PLAY = "ROMEO:\nBut soft, what light through yonder window breaks?\n\n" * 40


@pytest.fixture
def play(monkeypatch):
    """A short play in the place of all."""
    parts = {"train": PLAY, "validation": PLAY[:300], "test": PLAY[:200]}
    monkeypatch.setattr(shakespeare, "tiny_shakespeare", parts.get)
    monkeypatch.setattr(shakespeare, "vocabulary", lambda text: Vocabulary(PLAY))
    return Vocabulary(PLAY)


def test_it_has_half_a_million_weights_a_tied_output_and_no_bias():
    model = writer(69, seed=0)
    weights = dict(model.named_parameters())
    assert 450_000 < sum(weight.numel() for weight in weights.values()) < 480_000
    assert model.output.weight is model.stack.embedding.symbols.weight
    assert not [name for name in weights if "bias" in name or "b_in" in name]
    assert model.config.max_len == CONTEXT == 128


def test_it_does_not_look_ahead():
    model = writer(11, seed=0, d_model=16, d_ff=12, n_layers=2).eval().double()
    ids = torch.randint(11, (1, 12), generator=torch.Generator().manual_seed(0))
    changed = ids.clone()
    changed[:, 7:] = (changed[:, 7:] + 1) % 11
    with torch.no_grad():
        before, after = model(ids), model(changed)
    torch.testing.assert_close(before[:, :7], after[:, :7], atol=1e-12, rtol=0)
    assert (before[:, 7] - after[:, 7]).abs().max() > 1e-3


def test_the_last_tenth_validates(play):
    text, held_out = texts()
    assert "".join(play.decode(text)) == PLAY
    assert "".join(play.decode(held_out)) == PLAY[:300] + PLAY[:200]


def test_it_learns_and_is_left_in_evaluation_mode(play):
    text, held_out = texts()
    model = writer(len(play), seed=0, d_model=32, d_ff=32, n_layers=1)
    losses = train(model, text, steps=60, batch_size=8, seed=0)
    assert len(losses) == 60 and not model.training
    assert losses[0] > 3 and judged(model, held_out, CONTEXT) < 2
    again = writer(len(play), seed=0, d_model=32, d_ff=32, n_layers=1)
    assert train(again, text, steps=60, batch_size=8, seed=0) == losses


def test_the_experiment_stores_the_model_of_the_first_seed(play, monkeypatch):
    script, stored = load_script("shakespeare_page"), []
    small = {"d_model": 16, "d_ff": 8, "n_layers": 1}
    monkeypatch.setattr(script, "writer", lambda *of: writer(*of, **small))
    monkeypatch.setattr(script, "vocabulary", shakespeare.vocabulary)
    monkeypatch.setattr(script, "store", lambda *what, **told: stored.append((what, told)))
    for seed in (1, 0):
        found = script.measure(seed=seed, steps=2, batch_size=2)
        assert len(stored) == (seed == 0)
        assert found["int8"] == pytest.approx(found["float"], abs=0.02)
        assert len(found["losses"]) == 2
    (((name, weights), told),) = stored
    assert name == "shakespeare" and told["heads"] == 4
    assert told["characters"] == "".join(play.symbols[len(SPECIAL) :])
    assert told["made_by"] == "experiments/shakespeare_page.py"
    assert weights.keys() == in_int8(writer(len(play), 0, **small)).keys()
