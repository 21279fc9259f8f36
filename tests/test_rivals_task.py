"""Writers side by side: networks of one size, tables, compressors, mixtures, a ladder of sizes."""

import gzip
import math
from types import SimpleNamespace

import pytest
import torch

from utils.data import manuals
from utils.measure.experiments.results import load_script
from utils.tasks import ladder, rivals
from utils.tasks.rivals import (
    NETWORKS,
    asked_about,
    best_share,
    best_table,
    compressed,
    counted,
    gpt,
    mixed,
    trained,
)
from utils.tasks.writing import Writing
from utils.training.counting import KneserNey

TEXTS = {
    "train": "the cat sat on the mat. the dog sat on the log. " * 30,
    "validation": "the cat sat on the log. " * 8,
    "test": "the dog sat on the cat, and the cat on the mat. " * 3,
}


@pytest.fixture(scope="module")
def task() -> Writing:
    return Writing(TEXTS.get, n_merges=6)


# --------------------------------------------------------------------------------------- networks


def test_the_three_networks_are_of_one_size():
    sizes = {
        name: sum(weight.numel() for weight in make(516).parameters())
        for name, make in NETWORKS.items()
    }
    assert sizes["GPT"] == 273_408  # the lesson's
    assert max(sizes.values()) < 1.01 * min(sizes.values())


@pytest.mark.parametrize("name", list(NETWORKS))
def test_no_network_sees_the_future(name):
    torch.manual_seed(0)
    model, ids = NETWORKS[name](30).eval(), torch.randint(30, (1, 9))
    other = torch.cat([ids[:, :5], (ids[:, 5:] + 1) % 30], dim=1)
    with torch.no_grad():
        ours, theirs = model(ids), model(other)
    assert ours.shape == (1, 9, 30)
    torch.testing.assert_close(ours[:, :5], theirs[:, :5], rtol=0, atol=1e-6)
    assert not torch.allclose(ours[:, 5:], theirs[:, 5:], atol=1e-3)


def test_days_differ_in_positions_and_activation():
    old, new = NETWORKS["Day 6's blocks"](30).model.config, gpt(30).model.config
    assert (old.positions, old.activation, old.norm) == ("sinusoidal", "relu", "pre")
    assert (new.positions, new.activation, new.norm) == ("rotary", "gelu", "pre")
    assert gpt(30).model.output.weight.std().item() == pytest.approx(0.02, rel=0.1)


def test_training_is_known_by_name_rate_and_seed(task, monkeypatch):
    monkeypatch.setattr(rivals, "STEPS", 30)
    monkeypatch.setattr(rivals, "T", 16)
    monkeypatch.setitem(NETWORKS, "GPT", lambda V: gpt(V, 16, 1, 2))
    model = trained("GPT", task, 1e-2, 0)
    assert not model.training
    assert task.judged(model).mean() < 0.8 * math.log(len(task.tokens))
    again, other = trained("GPT", task, 1e-2, 0), trained("GPT", task, 1e-2, 1)
    ids = task.ids["test"][None, :8]
    assert torch.equal(model(ids), again(ids)) and not torch.equal(model(ids), other(ids))
    with pytest.raises(ValueError, match="Unknown name 'GRU'"):
        trained("GRU", task, 1e-2, 0)


# -------------------------------------------------------------------------- parts and compressors


def test_another_part_is_asked_about_and_the_task_stays_as_it_was(task):
    other = asked_about(task, "test")
    assert torch.equal(other.ids["validation"], task.ids["test"])
    assert other.n_bytes == len(TEXTS["test"]) - len(task.tokens.pieces(task.ids["test"][:1])[0])
    assert other.n_bytes != task.n_bytes
    assert task.text["validation"] == TEXTS["validation"]
    with pytest.raises(ValueError, match="Unknown part"):
        asked_about(task, "tests")


def test_compressors_count_the_bits_of_each_byte():
    text = TEXTS["test"] + "é"
    found = compressed(text, read=text)
    size = len(text.encode())
    assert found["gzip"] * size / 8 == pytest.approx(len(gzip.compress(text.encode(), 9)), abs=14)
    assert 0 <= found["xz"] < compressed(text)["xz"], "what was read before is no news"


# ------------------------------------------------------------------------------------------ tables


def test_a_table_is_asked_in_windows_or_without_a_break():
    text = torch.tensor([0, 1, 2, 0, 1, 2, 0, 1, 3, 0, 1, 2])
    table = KneserNey(text, 3, 4)
    whole = -table.log_probabilities(text)[1:]
    torch.testing.assert_close(counted(table, text), whole)
    torch.testing.assert_close(counted(table, text, 50), whole)
    windows = [-table.log_probabilities(text[at : at + 5])[1:] for at in (0, 4, 8)]
    torch.testing.assert_close(counted(table, text, 4), torch.cat(windows))
    assert len(counted(table, text, 4)) == len(text) - 1
    assert not torch.allclose(counted(table, text, 4), whole)


def test_a_table_in_windows_is_the_one_of_the_lesson(task):
    table = KneserNey(task.ids["train"], 3, len(task.tokens))
    torch.testing.assert_close(counted(table, task.ids["validation"], 64), task.counted(3))


def test_the_order_is_chosen_on_the_validation_text(task):
    table, found = best_table(task, (1, 2, 3, 40), window=64)
    assert [*found] == [1, 2, 3], "an order of 40 does not fit"
    assert table.order == min(found, key=found.get) > 1
    assert found[2] == pytest.approx(task.per_byte(task.counted(2)))


# ---------------------------------------------------------------------------------------- mixtures


def test_a_mixture_is_one_of_probabilities():
    ours, theirs = -torch.tensor([0.5, 0.1]).log(), -torch.tensor([0.1, 0.1]).log()
    torch.testing.assert_close(mixed(ours, theirs).neg().exp(), torch.tensor([0.3, 0.1]).double())
    torch.testing.assert_close(
        mixed(ours, theirs, 0.75).neg().exp(), torch.tensor([0.4, 0.1]).double()
    )
    for share in (0, 1, -0.5):
        with pytest.raises(ValueError, match=" 0 .* 1"):
            mixed(ours, theirs, share)


def test_the_better_one_has_the_larger_share():
    good, bad = torch.full((50,), 1.0), torch.full((50,), 2.0)
    assert best_share(good, bad) == 0.95 and best_share(bad, good) == 0.05
    a = torch.tensor([0.1, 3.0]).repeat(20)
    assert best_share(a, a.flip(0)) == 0.5


# ---------------------------------------------------------------------------------------- the text


@pytest.fixture
def library(tmp_path, monkeypatch):
    for k in range(12):
        own = "".join(f"Paragraph {j} of module {k}.\n\n    " for j in range(20 - k))
        said = f'    r"""{own}Said by all.\n\n    Façade.\n    """\n'
        code = f'x = """no docstring"""\n\ndef f():\n{said}'
        (tmp_path / f"m{k:02d}.py").write_text(code, encoding="utf-8")
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "test_it.py").write_text('"""A test."""\n')
    monkeypatch.setattr(manuals, "folder_of", lambda library: tmp_path)
    manuals._modules.cache_clear()
    yield
    manuals._modules.cache_clear()


def test_a_manual_has_all_docstrings_once_in_three_parts(library):
    parts = {part: manuals.manual(part, "any") for part in ("train", "validation", "test")}
    assert parts["validation"].count("of module 5.") == 15 == parts["validation"].count("module")
    assert parts["test"].count("of module 6.") == 14 == parts["test"].count("module")
    assert parts["train"].startswith("Paragraph 0 of module 0.\n\nParagraph 1 of module 0.")
    whole = "".join(parts.values())
    assert whole.count("Said by all.") == 1
    assert whole.isascii() and "A test" not in whole and "no docstring" not in whole
    with pytest.raises(ValueError, match="No part"):
        manuals.manual("tests", "any")


# -------------------------------------------------------------------------------------- the ladder


def test_all_sizes_read_as_many_tokens(task, monkeypatch):
    monkeypatch.setattr(ladder, "PASSES", 3)
    long = SimpleNamespace(ids={"train": range(1_000_000)})
    assert ladder.steps_of(long) == round(3_000_000 / 2048)
    assert ladder.steps_of(long, 1 / 8) == round(3_000_000 / 2048 / 8)
    assert ladder.steps_of(task) == 1


def test_the_names_of_the_sizes_are_their_weights():
    for name, size in ladder.SIZES.items():
        model = gpt(1028, size.d_model, size.n_layers, size.n_heads)
        weights = sum(weight.numel() for weight in model.parameters())
        number, unit = name.split()
        named = float(number) * {"thousand": 1e3, "million": 1e6}[unit]
        assert weights == pytest.approx(named, rel=0.05), f"{name}: {weights:,}"


def test_a_rate_is_chosen_by_the_validation_text(task, monkeypatch):
    tried = []

    def train(size, task, rate, seed, steps):
        tried.append((rate, seed, steps))
        return rate

    monkeypatch.setattr(ladder, "train", train)
    monkeypatch.setattr(
        ladder, "judged", lambda model, task, part: torch.full((9,), (model - 0.02) ** 2 + 1)
    )
    size = ladder.Size(8, 1, 1, (4, 5))
    rate, found = ladder.best_rate(size, task, (0.01, 0.02, 0.04))
    assert rate == 0.02 and found[1] == min(found) and len(found) == 3
    assert [(rate, seed) for rate, seed, _ in tried] == [(0.01, 4), (0.02, 4), (0.04, 4)]


def test_a_gpt_of_the_ladder_learns(task, monkeypatch):
    monkeypatch.setattr(ladder, "WINDOW", 16)
    size = ladder.Size(16, 1, 2, (0,))
    model = ladder.train(size, task, 0.02, seed=0, steps=30)
    nats = ladder.judged(model, task, "test")
    assert len(nats) == len(task.ids["test"]) - 1
    assert ladder.bits(task, "test", nats) < math.log2(len(task.tokens))
    assert nats.mean() < 0.8 * math.log(len(task.tokens))


@pytest.mark.parametrize("name", ["four_writers", "counting_ladder", "adding"])
def test_every_network_has_its_rates_on_both_sides(name):
    script = load_script(name)
    rates = script.PARAMETERS.get("rate") or getattr(script, "RATES", ladder.RATES)
    for each in rates.values() if isinstance(rates, dict) else [rates]:
        assert len(each) >= 3 and list(each) == sorted(each)
