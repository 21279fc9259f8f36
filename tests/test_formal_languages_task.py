"""Networks of many kinds on formal languages, with and without steps that they write."""

import pytest
import torch

from utils.data.formal import IGNORE_INDEX, LANGUAGES, Modulo, Swaps
from utils.tasks import formal_languages as task
from utils.tasks import written_steps

PARITY = LANGUAGES["parity"]


@pytest.mark.parametrize("kind", task.KINDS)
def test_every_kind_answers_after_each_symbol_without_looking_ahead(kind):
    model = task.network(kind, LANGUAGES["swaps"], seed=0)
    ids = LANGUAGES["swaps"].draw(3, 9, 9, seed=0).ids
    said, later = model(ids), ids.clone()
    later[:, 6:] = (later[:, 6:] + 1) % 10
    assert said.shape == (3, 9, 5)
    torch.testing.assert_close(model(later)[:, :6], said[:, :6])
    assert not torch.allclose(model(later)[:, 6:], said[:, 6:])
    again, other = (task.network(kind, LANGUAGES["swaps"], seed=seed) for seed in (0, 1))
    assert torch.equal(again(ids), said) and not torch.equal(other(ids), said)


def test_a_transformer_is_as_deep_as_it_is_told():
    swaps = LANGUAGES["swaps"]
    ids = swaps.draw(3, 9, 9, seed=0).ids
    for n_blocks in (1, 3):
        model = task.of_depth(n_blocks, swaps, seed=0)
        assert len(model.encoder.blocks) == n_blocks
    same = task.of_depth(task.BLOCKS, swaps, seed=0)
    assert torch.equal(same(ids), task.network("Transformer, sinusoidal", swaps, seed=0)(ids))
    assert not torch.equal(task.of_depth(task.BLOCKS, swaps, seed=1)(ids), same(ids))
    with pytest.raises(ValueError, match="n_layers"):
        task.of_depth(0, swaps, seed=0)


def test_kinds_differ_in_what_their_names_say():
    def gates(kind):
        model = task.network(kind, PARITY, 0)
        return {part.lowest for part in model.modules() if hasattr(part, "lowest")}

    for name in ("gates in (0, 1)", "blocks, gates in (0, 1)"):
        assert gates(name) == {0}
        assert gates(name.replace("(0", "(-1")) == {-1}
    for positions in ("none", "sinusoidal", "learned", "rotary", "ALiBi"):
        model = task.network(f"Transformer, {positions}", PARITY, 0)
        attention = model.encoder.blocks[0].self_attention
        assert (attention.rotary is not None) == (positions == "rotary")
        added = model.encoder.embedding.positions
        assert (added is not None) == (positions in ("sinusoidal", "learned"))
        assert hasattr(attention.attend, "bias") == (positions == "ALiBi")
    same = torch.zeros(1, 5, dtype=torch.long)  # without positions, all of one symbol is one state
    said = task.network("Transformer, none", PARITY, 0)(same)
    torch.testing.assert_close(said, said[:, :1].expand_as(said))


@pytest.mark.parametrize("kind", ["LSTM", "Transformer, ALiBi", "blocks, gates in (0, 1)"])
def test_training_lowers_the_loss_and_ends_in_evaluation_mode(kind):
    model = task.network(kind, LANGUAGES["first"], seed=0)
    history = task.train_network(model, LANGUAGES["first"], steps=60, rate=1e-2, seed=0)
    assert len(history.step_loss) == 60 and not model.training
    assert history.step_loss[-1] < 0.3 < history.step_loss[0]
    again = task.network(kind, LANGUAGES["first"], seed=0)
    losses = task.train_network(again, LANGUAGES["first"], steps=60, rate=1e-2, seed=0).step_loss
    assert losses == history.step_loss


def test_a_network_learns_what_its_gates_allow():
    shares = {}
    for kind in ("gates in (0, 1)", "gates in (-1, 1)"):
        model = task.network(kind, PARITY, seed=0)
        task.train_network(model, PARITY, steps=300, rate=1e-2, seed=0)
        shares[kind] = task.shares_correct(model, PARITY, 20, 20).last
    assert shares["gates in (-1, 1)"] > 0.95 and shares["gates in (0, 1)"] < 0.7


def test_words_that_choose_a_rate_are_not_those_that_test(monkeypatch):
    chosen, asked = LANGUAGES["swaps"].draw(50, 9, 9, task.CHOOSING), []
    tested = LANGUAGES["swaps"].draw(50, 9, 9, task.HELD_OUT)
    assert not (chosen.ids == tested.ids).all(dim=1).any()
    real = task.shares_correct

    def shares_correct(*given, **how):
        asked.append(how.get("seed", task.HELD_OUT))
        return real(*given, **how)

    monkeypatch.setattr(task, "shares_correct", shares_correct)
    row = task.table_row("RNN", PARITY, steps=2, seeds=(0,))
    tried = len(row["rates"])
    assert asked[:tried] == [task.CHOOSING] * tried and set(asked[tried:]) == {task.HELD_OUT}


def test_shares_count_last_answers_all_answers_and_whole_words():
    words = PARITY.draw(300, 1, 20, seed=task.HELD_OUT)

    def wrong_at(t):
        """Answers that are wrong at position t alone."""
        said = words.answers.clamp(min=0)
        said[:, t] = 1 - said[:, t]
        return lambda ids: torch.nn.functional.one_hot(said, 2).float()

    found = task.shares_correct(wrong_at(0), PARITY, 1, 20, n=300)
    lengths = words.lengths
    assert found.words == 0 and found.last == pytest.approx((lengths > 1).double().mean().item())
    assert found.all == pytest.approx(1 - 300 / lengths.sum().item())
    found = task.shares_correct(wrong_at(9), PARITY, 1, 20, n=300)
    assert found.words == pytest.approx((lengths < 10).double().mean().item())
    assert found.last == pytest.approx((lengths != 10).double().mean().item())
    perfect = task.shares_correct(wrong_at(slice(0, 0)), PARITY, 1, 20, n=300)
    assert perfect == (1, 1, 1)


@pytest.mark.parametrize("name", LANGUAGES)
def test_only_the_first_span_has_lengths_of_training(name, monkeypatch):
    """Else a score beyond training would be one of the words that training showed."""
    language, seen = LANGUAGES[name], []

    def train(model, loss, batches, **how):
        seen.extend(int((of != IGNORE_INDEX).sum(dim=1).max()) for _, of in batches)

    monkeypatch.setattr(task, "train_once", train)
    task.train_network(torch.nn.Identity(), language, steps=5, rate=1e-2, seed=0)
    assert len(seen) == 5 and max(seen) <= task.LONGEST == task.SPANS[0][1]
    ends = [last for _, last in task.SPANS]
    assert [first for first, _ in task.SPANS] == [1, *(last + 1 for last in ends[:-1])]
    for first, last in task.SPANS[1:]:
        lengths = language.draw(200, first, last, seed=task.HELD_OUT).lengths
        assert max(seen) < first <= lengths.min() <= lengths.max() <= last


def test_a_row_of_the_table_has_each_seed_at_the_best_rate_of_the_first(monkeypatch):
    """Four rates are tried: the start, its quarter, four times it, and sixteen times it."""
    made, asked, best = [], [], 4 * task.START

    def train(model, language, *, steps, rate, seed):
        model.made = (rate, seed)
        made.append((language, steps, rate, seed))

    def shares(model, language, shortest, longest, seed=task.HELD_OUT):
        rate, of = model.made
        asked.append((language, shortest, longest, seed, of))
        near = 0.9 if rate == best else 0.5
        return task.Shares(last=longest / 1000 + of, all=near, words=longest / 100 + of)

    monkeypatch.setattr(task, "train_network", train)
    monkeypatch.setattr(task, "shares_correct", shares)
    one, two = LANGUAGES["Dyck-1"], LANGUAGES["Dyck-2"]
    row = task.table_row("RNN", one, steps=2, seeds=(3, 5), deeper=two)
    tried = [task.START, task.START / 4, best, 4 * best]
    assert made == [(one, 2, rate, 3) for rate in tried] + [(one, 2, best, 5)]
    assert row["rate"] == best
    assert row["rates"] == sorted(tried)
    assert row["by rate"] == pytest.approx([0.5, 0.5, 0.9, 0.5])
    assert [row[f"words to {T}"] for T in (20, 40, 80, 160)] == [
        [3.2, 5.2],
        [3.4, 5.4],
        [3.8, 5.8],
        [4.6, 6.6],
    ]
    assert [row[f"last to {T}"] for T in (20, 160)] == [[3.02, 5.02], [3.16, 5.16]]
    assert row["deeper"] == [3.4, 5.4]
    assert asked[0] == (one, 1, 20, task.CHOOSING, 3)
    assert asked[-2:] == [(two, 21, 40, task.HELD_OUT, seed) for seed in (3, 5)]
    assert "deeper" not in task.table_row("RNN", PARITY, steps=2, seeds=(3,))
    assert {*task.TABLED} < {*task.KINDS}


def test_an_unknown_kind_is_refused_in_a_sentence():
    with pytest.raises(ValueError, match="'GRU'.*'RNN'"):
        task.network("GRU", PARITY, 0)


# Written steps ------------------------------------------------------------------------------------


def test_rows_have_an_answer_or_a_blank_after_each_symbol():
    language = Swaps(3)
    ids, answers = torch.tensor([[2, 0, 1], [0, 0, 0]]), torch.tensor([[0, 1, 1], [1, -100, -100]])
    assert written_steps.blank(language) == 6 and IGNORE_INDEX == -100
    assert written_steps.rows(language, ids, answers, True).tolist() == [
        [2, 3, 0, 4, 1, 4],
        [0, 4, 0, 6, 0, 6],
    ]
    assert written_steps.rows(language, ids, answers, False)[0].tolist() == [2, 6, 0, 6, 1, 6]


class Feeder(torch.nn.Module):
    """Says the parity of what it reads at the end: its last answer, if any, and the last symbol."""

    def forward(self, ids, state):
        state = (state or []) + [ids]
        read = torch.cat(state, dim=1)
        before = read[:, -2] - 2 if read.shape[1] > 1 else torch.zeros_like(read[:, 0])
        answer = (before + read[:, -1]) % 2
        logits = torch.nn.functional.one_hot(2 + answer, 5).float()
        return logits[:, None].expand(-1, ids.shape[1], -1), state


def test_a_model_reads_the_answers_that_it_wrote():
    words = PARITY.draw(20, 30, 30, seed=0)
    said = written_steps.answers_of(Feeder(), PARITY, words.ids, written=True)
    assert torch.equal(said, words.answers)
    said = written_steps.answers_of(Feeder(), PARITY, words.ids, written=False)
    assert torch.equal(said, words.ids)  # a blank, 4, counts as 2 - 2 = 0 … and is forgotten
    assert written_steps.share_last(Feeder(), PARITY, 30, written=True, n=50) == 1
    assert 0.2 < written_steps.share_last(Feeder(), PARITY, 30, written=False, n=50) < 0.8


@pytest.mark.parametrize("written", [True, False])
def test_one_after_another_is_what_all_at_once_would_say(written):
    language = Swaps(4)
    model, words = written_steps.writer(language, seed=0), language.draw(5, 7, 7, 0)
    model.eval()
    said = written_steps.answers_of(model, language, words.ids, written=written)
    with torch.no_grad():
        logits = model(written_steps.rows(language, words.ids, said, written))[0][:, 0::2]
    first, end = len(language.symbols), written_steps.blank(language)
    assert torch.equal(logits[:, :, first:end].argmax(dim=-1), said)


def test_a_model_learns_to_use_what_it_wrote():
    shares = {}
    for written in (True, False):
        model = written_steps.writer(PARITY, seed=0)
        history = written_steps.train_steps(
            model, PARITY, written=written, steps=120, rate=1e-2, seed=0
        )
        assert len(history.step_loss) == 120 and not model.training
        shares[written] = written_steps.share_last(model, PARITY, 20, written=written, n=200)
    assert shares[True] > 0.9 and shares[False] < 0.7


def test_loss_is_that_of_the_answers_alone():
    logits = torch.randn(2, 6, 5, generator=torch.Generator().manual_seed(0))
    wanted = torch.tensor([[2, 3, 3], [3, IGNORE_INDEX, IGNORE_INDEX]])
    found = written_steps.answer_loss((logits, None), wanted)
    p = logits.log_softmax(dim=-1)
    expected = -(p[0, 0, 2] + p[0, 2, 3] + p[0, 4, 3] + p[1, 0, 3]) / 4
    torch.testing.assert_close(found, expected)
    other = logits.clone()
    other[:, 1::2] += 1000 * torch.rand(5)
    torch.testing.assert_close(written_steps.answer_loss((other, None), wanted), found)


def test_modulo_is_the_parity_that_tasks_name():
    assert isinstance(PARITY, Modulo) and PARITY.m == 2
