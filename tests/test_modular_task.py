"""Sums modulo p in two halves, and a network that learns one of them."""

import torch

from utils.tasks.modular import adder, additions, last_said, share_right, train_adder


def test_the_halves_are_all_sums_once():
    (ids, sums), (other_ids, other_sums) = additions(7, seed=0)
    assert ids.shape == (25, 3) and sums.shape == (25, 1) and len(other_ids) == 24
    both = torch.cat([ids, other_ids]).tolist()
    assert sorted(both) == [[a, b, 7] for a in range(7) for b in range(7)]
    found = torch.cat([sums, other_sums])[:, 0].tolist()
    assert found == [(a + b) % 7 for a, b, _ in both]
    assert not torch.equal(ids, additions(7, seed=1)[0][0])


def test_only_what_is_said_behind_the_equals_sign_counts():
    logits = torch.zeros(2, 3, 8)
    logits[:, 2] = torch.eye(8)[[4, 5]] * 100
    wanted = torch.tensor([[4], [5]])
    assert last_said((logits, None), wanted) < 1e-6
    logits[:, :2] = 9 * torch.randn(2, 2, 8)
    assert last_said((logits, None), wanted) < 1e-6
    assert last_said((logits, None), wanted.flip(0)) > 50


def test_an_adder_learns_its_half_and_stops_in_between():
    learned, others = additions(5, seed=0)
    model = adder(5, seed=0)
    shares = [share_right(model, learned)]
    for done in train_adder(model, learned, 60, weight_decay=0.0, seed=0, every=30):
        shares.append(share_right(model, learned))
        assert done == 30 * (len(shares) - 1)
    assert shares[0] < 0.5 and shares[-1] == 1.0 and len(shares) == 3
    assert share_right(model, others) < 1.0


def test_weight_decay_makes_weights_smaller():
    learned, _ = additions(5, seed=0)
    norms = []
    for decay in (0.0, 1.0):
        model = adder(5, seed=0)
        for _ in train_adder(model, learned, 60, weight_decay=decay, seed=0, every=60):
            norms.append(sum(w.pow(2).sum() for w in model.parameters()).item())
    assert norms[1] < norms[0]
