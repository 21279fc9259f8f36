"""The race on a laptop: counts are their formula, nothing looks ahead, the rules are kept."""

import math
from dataclasses import replace

import pytest
import torch
from torch import nn

from utils.data.batches import Batches
from utils.measure import experiments
from utils.tasks import letters, race
from utils.tasks.letters import judged, optimiser_of, pieces
from utils.tasks.race import BASELINE, CHANGES, MOST, TUNED, WINNER, alone, build, without
from utils.training.loop import fit
from utils.training.optimisers import MuonAndAdamW, decayed, hidden_matrices
from utils.training.recipes import tag_loss

V = 69  # of the plays
TINY = replace(WINNER, d_model=16, d_ff=12, length=12, steps=40)


@pytest.mark.parametrize("racer", [TINY, replace(TINY, shift=False), replace(BASELINE, d_model=16)])
def test_no_racer_looks_ahead(racer):
    model = build(racer, 11, seed=0).double()
    ids = torch.randint(11, (2, 12), generator=torch.Generator().manual_seed(0))
    changed = ids.clone()
    changed[:, 7:] = (changed[:, 7:] + 1) % 11
    with torch.no_grad():
        before, after = model(ids), model(changed)
    torch.testing.assert_close(before[:, :7], after[:, :7], atol=1e-12, rtol=0)
    assert (before[:, 7] - after[:, 7]).abs().max() > 1e-3


# Muon and AdamW -----------------------------------------------------------------------------------


RATES = {"matrix_rate": 0.1, "matrix_decay": 0.2, "rate": 0.01}


def jordans(weight: torch.Tensor, gradients: list[torch.Tensor], rate: float, decay: float):
    """Muon as Jordan et al. (2024) publish it, in float64, with decay as AdamW's."""
    weight, running = weight.clone(), torch.zeros_like(weight)
    for gradient in gradients:
        running = 0.95 * running + 0.05 * gradient
        x = 0.05 * gradient + 0.95 * running  # Nesterov's
        tall = len(x) > x.shape[1]
        x = (x.T if tall else x) / x.norm()
        for _ in range(5):  # Newton and Schulz
            square = x @ x.T
            x = 3.4445 * x - 4.7750 * square @ x + 2.0315 * square @ square @ x
        x = (x.T if tall else x) * max(1, weight.shape[0] / weight.shape[1]) ** 0.5
        weight = (1 - rate * decay) * weight - rate * x
    return weight


@pytest.mark.parametrize("decay", [0.0, 0.1, 0.5])
@pytest.mark.parametrize("shape", [(20, 12), (12, 20)])
def test_muon_is_jordans_and_decays_as_it_is_told(shape, decay):
    generator = torch.Generator().manual_seed(0)
    start, *gradients = torch.randn(6, *shape, generator=generator)
    weight, rest = nn.Parameter(3 * start), nn.Parameter(torch.ones(3))
    others = [{"params": [rest], "weight_decay": 0.0}]
    optimiser = MuonAndAdamW([weight], others, matrix_rate=0.1, matrix_decay=decay, rate=0.01)
    for gradient in gradients:
        weight.grad, rest.grad = gradient, torch.zeros(3)
        optimiser.step()
    expected = jordans(3 * start.double(), [g.double() for g in gradients], 0.1, decay)
    torch.testing.assert_close(weight.detach().double(), expected, rtol=0.0, atol=4e-3)
    assert torch.equal(rest, torch.ones(3))


def test_what_is_trained_so_far_decays_by_a_tenth():
    model = build(TINY, 11, seed=0)
    optimiser, _ = optimiser_of(model, 10, 1e-2, matrix_rate=0.1)
    assert [group["weight_decay"] for group in optimiser.param_groups] == [0.1, 0.1, 0.0]


def test_a_closure_makes_the_gradients_of_a_step():
    weight, rest = nn.Parameter(torch.eye(3)), nn.Parameter(torch.ones(3))
    optimiser = MuonAndAdamW([weight], [{"params": [rest]}], **RATES)

    def closure():
        optimiser.zero_grad()
        loss = (weight @ rest).square().sum()
        loss.backward()
        return loss

    with torch.no_grad():
        assert optimiser.step(closure).item() == 3.0
    assert not torch.equal(weight, torch.eye(3)) and (rest < 1).all()
    assert optimiser.step() is None


def test_muon_gets_the_blocks_matrices_and_nothing_else():
    model = build(TINY, 11, seed=0)
    optimiser, _ = optimiser_of(model, 10, 1e-2, matrix_rate=0.1)
    muon, adamw = (
        {id(w) for group in part.param_groups for w in group["params"]} for part in optimiser.parts
    )
    names = {name: id(weight) for name, weight in model.named_parameters()}
    assert muon == {i for name, i in names.items() if "blocks" in name and "norm" not in name}
    assert not muon & adamw and muon | adamw == set(names.values())
    assert len(muon) == 5  # W_in, W_o, gate, up, down


def test_muon_refuses_what_is_no_matrix():
    with pytest.raises(ValueError, match=r"\(3,\)"):
        MuonAndAdamW([nn.Parameter(torch.ones(3))], [], **RATES)


def test_one_weight_is_not_trained_by_both():
    weight = nn.Parameter(torch.ones(3, 3))
    with pytest.raises(ValueError, match="parameter group"):
        MuonAndAdamW([weight], [{"params": [weight]}], **RATES)


def test_together_they_step_as_each_would_alone():
    one, other = (build(TINY, 11, seed=0) for _ in range(2))
    joint = MuonAndAdamW(hidden_matrices(one.stack.blocks), decayed(_rest(one), 0.1), **RATES)
    alone = [
        torch.optim.Muon(hidden_matrices(other.stack.blocks), lr=0.1, weight_decay=0.2),
        torch.optim.AdamW(decayed(_rest(other), 0.1), lr=0.01, betas=(0.9, 0.99), fused=True),
    ]
    ids = torch.randint(11, (3, 13), generator=torch.Generator().manual_seed(0))
    for _ in range(3):
        for model, optimisers in ((one, [joint]), (other, alone)):
            model.zero_grad()
            tag_loss(model(ids[:, :-1]), ids[:, 1:]).backward()
            for optimiser in optimisers:
                optimiser.step()
    for mine, theirs in zip(one.parameters(), other.parameters(), strict=True):
        assert torch.equal(mine, theirs)


def _rest(model: nn.Module) -> list[nn.Parameter]:
    matrices = {id(weight) for weight in hidden_matrices(model.stack.blocks)}
    return [weight for weight in model.parameters() if id(weight) not in matrices]


def test_a_stopped_run_goes_on_to_the_same_weights(tmp_path):
    rows = torch.randint(11, (8, 13), generator=torch.Generator().manual_seed(0))

    def trained(epochs: int, checkpoint=None) -> nn.Module:
        model = build(TINY, 11, seed=0)
        optimiser, schedule = optimiser_of(model, 8, 1e-2, matrix_rate=0.1)
        batches = Batches(rows[:, :-1], rows[:, 1:], batch_size=4, shuffle=True)
        fit(
            model,
            batches,
            tag_loss,
            optimiser,
            epochs=epochs,
            schedule=schedule,
            checkpoint=checkpoint,
        )
        return model

    whole, file = trained(4), tmp_path / "run.pt"
    trained(2, file)
    resumed = trained(4, file)
    for one, other in zip(whole.parameters(), resumed.parameters(), strict=True):
        assert torch.equal(one, other)


def test_the_schedule_moves_both_rates():
    optimiser, schedule = optimiser_of(build(TINY, 11, 0), 40, 1e-2, matrix_rate=0.1)
    rates = []
    for _ in range(40):
        rates.append([group["lr"] for group in optimiser.param_groups])
        optimiser.step()
        schedule.step()
    rates = torch.tensor(rates)
    torch.testing.assert_close(rates[:, 0], 10 * rates[:, 1])
    assert rates[:, 1].max().item() == pytest.approx(1e-2)
    assert rates[0, 1].item() == pytest.approx(5e-3)  # of two steps that it rises in
    assert rates[-1, 1].item() == pytest.approx(1e-3, rel=0.02)


# The rules ----------------------------------------------------------------------------------------


def test_who_races_is_small_enough():
    sizes = {name: sum(w.numel() for w in build(r, V, 0).parameters()) for name, r in _racers()}
    assert max(sizes.values()) <= MOST
    assert 0.79e6 < sizes["baseline"] - 64 * 128 - 9 * 128 < 0.81e6  # nanoGPT counts 0.80 M
    assert sizes["winner"] < sizes["baseline"] / 10


def _racers():
    yield from (("baseline", BASELINE), ("winner", WINNER))
    for change in CHANGES:
        yield from ((f"{change} alone", alone(change)), (f"without {change}", without(change)))


def test_the_tuned_baseline_is_the_quickest_of_its_trials():
    trials = experiments.load("race_rates").select(racer="baseline")
    best = min((row for row in trials if row["seconds"]), key=lambda row: row["seconds"])
    assert replace(BASELINE, rate=best["rate"], steps=best["schedule"]) == TUNED
    factors, shares = (sorted({row[of] for row in trials}) for of in ("factor", "share"))
    assert best["factor"] not in (factors[0], factors[-1])  # faster and slower ones were tried
    assert best["share"] not in (shares[0], shares[-1])


def test_too_large_a_racer_is_refused(plays):
    with pytest.raises(ValueError, match="850,000"):
        race.race(replace(BASELINE, n_layers=5), seed=0)


def test_each_change_is_one_and_changes_something():
    for change in CHANGES:
        for changed, from_ in ((alone(change), TUNED), (without(change), WINNER)):
            assert changed != from_ and changed.steps == from_.steps
    assert alone("nothing", 0.5) == replace(TUNED, steps=TUNED.steps // 2)
    assert without("nothing") == WINNER


@pytest.fixture
def plays(monkeypatch):
    """A text in place of Shakespeare's, which does not ship."""
    parts = {"train": "to be or not to be " * 400, "validation": "to be or not " * 30}
    seen = []

    def text(part: str) -> str:
        seen.append(part)
        return parts[part]

    monkeypatch.setitem(letters.TEXTS, "plays", text)
    letters.vocabulary.cache_clear()
    yield seen
    letters.vocabulary.cache_clear()


def test_a_race_ends_at_the_goal_and_never_sees_the_test_text(plays, monkeypatch):
    monkeypatch.setattr(race, "GOAL", 0.7)
    model, laps = race.race(TINY, seed=0)
    assert set(plays) == {"train", "validation"}
    assert laps[-1].loss <= race.GOAL < min(lap.loss for lap in laps[:-1])
    assert laps[-1].steps < TINY.steps
    seconds = [lap.seconds for lap in laps]
    assert seconds == sorted(seconds) and seconds[0] > 0
    again, _ = race.race(TINY, seed=0)
    for one, other in zip(model.parameters(), again.parameters(), strict=True):
        assert torch.equal(one, other)


def test_a_race_may_be_lost(plays):
    _, laps = race.race(replace(TINY, rate=1e-6, matrix_rate=1e-6), seed=0)
    assert laps[-1].steps == TINY.steps and laps[-1].loss > race.GOAL


def test_in_bfloat16_losses_differ_a_little(plays):
    full, half = (race.race(replace(TINY, steps=20), 0, b)[1][-1].loss for b in (False, True))
    assert full != half and full == pytest.approx(half, abs=0.05)


def test_each_letter_but_the_first_is_judged_once():
    text, seen = torch.arange(100) % 7, []

    def model(ids: torch.Tensor) -> torch.Tensor:
        seen.append(ids)
        return nn.functional.one_hot((ids + 1) % 7, 7) * 5.0

    loss = judged(model, text, 64)
    assert torch.equal(torch.cat([ids.flatten() for ids in seen]), text[:-1])
    assert max(ids.shape[1] for ids in seen) == 64
    assert loss == pytest.approx(math.log(1 + 6 * math.exp(-5)), rel=1e-5)


def test_pieces_lie_in_the_text_and_follow_the_seed():
    text = torch.arange(50)
    batches = pieces(text, 300, 4, 9, seed=1)
    assert len(batches) == 300
    for given, wanted in batches:
        assert given.shape == (4, 9) and torch.equal(given + 1, wanted)
    starts = torch.cat([given[:, 0] for given, _ in batches])
    assert starts.min() == 0 and starts.max() == 40
    assert torch.equal(batches[0][0], pieces(text, 300, 4, 9, seed=1)[0][0])
    assert not torch.equal(batches[0][0], pieces(text, 300, 4, 9, seed=2)[0][0])
