"""Segments that come again, heads that match prefixes, and heads that are silenced."""

import pytest
import torch

from utils.exercises.gpt.prefix_matching import prefix_matching as of_one_map
from utils.measure.experiments import load
from utils.measure.experiments.results import load_script
from utils.tasks.copying import (
    LONGEST,
    SHORTEST,
    T,
    V,
    copier,
    first_and_again,
    looks,
    looks_back,
    prefix_matching,
    repeated,
    silenced,
    surprises,
    train_copier,
)


@pytest.fixture
def model():
    """A model whose heads say something, in evaluation as in training."""
    model = copier(2, 4, seed=0)
    for weight in model.parameters():
        torch.nn.init.normal_(weight, std=0.2)
    return model.double()


def test_sequences_repeat_their_segment_until_they_are_full():
    periods = torch.tensor([3, 5, 7, 4])
    ids = repeated(4, 16, 50, periods, seed=0)
    assert ids.shape == (4, 16)
    for row, period in zip(ids, periods.tolist(), strict=True):
        assert torch.equal(row[period:], row[:-period])
        assert len(set(row[:period].tolist())) > 1
    assert torch.equal(ids, repeated(4, 16, 50, periods, seed=0))
    assert not torch.equal(ids[0], repeated(4, 16, 50, 3, seed=1)[0])


def test_losses_are_those_of_the_first_and_the_second_time():
    # symbols 1 to 4 are new, 5 is the segment's first again, 6 to 9 come for the second time
    losses = torch.tensor([[1.0] * 4 + [100.0] + [3.0] * 4 + [50.0] * 2])
    assert first_and_again(losses, 5) == (1.0, 3.0)


def test_a_head_that_looks_at_what_came_next_last_time_matches_prefixes():
    ids = repeated(3, 12, 1000, 4, seed=0)
    perfect = torch.zeros(3, 1, 2, 12, 12)
    for t in range(12):
        perfect[:, 0, 0, t, t - 3 if t >= 4 else 0] = 1  # behind where the symbol was before
        perfect[:, 0, 1, t, t - 4 if t >= 4 else 0] = 1  # where it was itself
    torch.testing.assert_close(prefix_matching(perfect, ids), torch.tensor([[1.0, 0.0]]))


def test_a_head_that_looks_at_the_symbol_before_is_told_from_one_that_does_not():
    weights = torch.zeros(2, 1, 2, 5, 5)
    weights[:, 0, 0] = torch.eye(5).roll(1, 0).tril()
    weights[:, 0, 1] = torch.eye(5)
    torch.testing.assert_close(looks_back(weights), torch.tensor([[1.0, 0.0]]))


def test_the_score_of_all_heads_is_that_of_the_exercise_head_by_head(model):
    ids = torch.randint(6, (5, 20), generator=torch.Generator().manual_seed(0))
    weights = looks(model, ids)
    scores = prefix_matching(weights, ids)
    assert scores.shape == (2, 4)
    for block in range(2):
        for head in range(4):
            expected = of_one_map(weights[:, block, head], ids)
            torch.testing.assert_close(scores[block, head], expected, rtol=1e-12, atol=0)


def test_with_all_heads_silenced_the_past_makes_no_difference(model):
    ids = torch.randint(V, (6, T + 1), generator=torch.Generator().manual_seed(1))
    ids[1, 20] = ids[0, 20]  # the same symbol at one place, behind other pasts
    everything = [(block, head) for block in range(2) for head in range(4)]
    with silenced(model, everything), torch.no_grad():
        logits, _ = model(ids[:, :-1])
    torch.testing.assert_close(logits[0, 20], logits[1, 20], rtol=1e-12, atol=1e-12)
    with silenced(model, everything[1:]), torch.no_grad():
        logits, _ = model(ids[:, :-1])
    assert (logits[0, 20] - logits[1, 20]).abs().max() > 1e-3


def test_a_silenced_head_says_its_mean_and_the_others_what_they_said(model):
    ids = torch.randint(V, (6, T), generator=torch.Generator().manual_seed(2))
    heard = []
    W_o = model.stack.blocks[0].self_attention.W_o
    with torch.no_grad():
        for quiet in ([], [(0, 2)]):
            with silenced(model, quiet):  # its hook comes first
                hook = W_o.register_forward_hook(lambda _, inputs, __: heard.append(inputs[0]))
                model(ids)
                hook.remove()
    usual, without = (x.unflatten(-1, (4, -1)) for x in heard)
    assert torch.equal(usual[:, :, [0, 1, 3]], without[:, :, [0, 1, 3]])
    mean = usual[:, :, 2].mean(dim=0).expand_as(without[:, :, 2])
    torch.testing.assert_close(without[:, :, 2], mean, rtol=1e-12, atol=1e-12)


def test_nothing_is_silenced_afterwards(model):
    ids = repeated(4, T + 1, V, 18, seed=3)
    before = surprises(model, ids)
    with silenced(model, [(0, 0), (1, 3)]):
        assert not torch.equal(surprises(model, ids), before)
    with pytest.raises(KeyError), silenced(model, [(1, 1)]):
        raise KeyError
    assert torch.equal(surprises(model, ids), before)


def test_training_stops_after_each_so_many_steps_and_learns():
    model = copier(1, 4, seed=0)
    ids = repeated(64, T + 1, V, 18, seed=4)
    means = [surprises(model, ids).mean().item()]
    for _ in train_copier(model, 40, seed=0, every=20):
        means.append(surprises(model, ids).mean().item())
    assert len(means) == 3 and means[0] > means[1] > means[2]


def test_the_segments_of_the_experiment_are_of_the_lengths_of_training():
    assert SHORTEST <= load_script("induction").PERIOD <= LONGEST


def test_the_stored_copying_falls_when_the_heads_form():
    rows = load("induction").select(layers=2)
    for row in rows:
        copied = [old - again for old, again in zip(row["new"], row["again"], strict=True)]
        half = max(copied) / 2
        steps = [next(i for i, x in enumerate(copied) if x > half)]
        steps.append(next(i for i, x in enumerate(row["best score"]) if x > 0.3))
        assert abs(steps[0] - steps[1]) <= 3
