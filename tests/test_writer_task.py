"""Day 7's writer: its text and batches, and what is asked of a trained one."""

import numpy as np
import pytest
import torch
from torch.nn import functional as F

from utils.data.docstrings import docstring_text
from utils.data.prose import long_prose, sentences
from utils.data.text import UNK
from utils.efficient import window_mask
from utils.tasks import writer
from utils.tasks.long_texts import all_scores, heads
from utils.tasks.rounded import in_int8


def all_pairs(q, k, v):
    return F.scaled_dot_product_attention(q, k, v, is_causal=True)


def small(attend=all_pairs) -> writer.Writer:
    torch.manual_seed(0)
    return writer.Writer(attend, D=8, h=2, F=12, L=3)


def test_pieces_are_the_text_and_what_follows_each_letter_in_two_lengths():
    batches = writer.pieces(5, seed=1)
    text = writer.ids("train")
    assert [tuple(x.shape) for x, _ in batches] == [(16, 128)] * 3 + [(4, 512), (16, 128)]
    rows = text.unfold(0, 129, 1)  # every place
    for x, y in batches[:3]:
        assert torch.equal(x[:, 1:], y[:, :-1])
        for row in torch.cat([x[:2], y[:2, -1:]], dim=1):
            assert (rows == row).all(dim=1).any()
    again = writer.pieces(5, seed=1)
    assert all(torch.equal(one[0], other[0]) for one, other in zip(batches, again, strict=True))
    assert not torch.equal(writer.pieces(1, seed=2)[0][0], batches[0][0])


def test_perplexity_is_that_of_guessing_for_a_model_that_knows_nothing():
    V = len(writer.vocabulary())
    guessing = lambda ids: torch.zeros(*ids.shape, V)  # noqa: E731
    assert writer.perplexity(guessing) == pytest.approx(V, rel=1e-5)


def test_a_drawn_letter_is_no_sign_and_a_low_temperature_takes_the_best():
    logits = torch.zeros(9)
    logits[: UNK + 1] = 50.0
    logits[7] = 2.0
    generator = torch.Generator().manual_seed(0)
    drawn = [writer.drawn(logits, generator, tau=0.5) for _ in range(300)]
    assert min(drawn) > UNK
    shares = torch.bincount(torch.tensor(drawn), minlength=9) / 300
    expected = (logits[UNK + 1 :] / 0.5).softmax(0)
    assert (shares[UNK + 1 :] - expected).abs().max() < 0.1
    assert {writer.drawn(logits, generator, tau=0.05) for _ in range(20)} == {7}


def test_the_letter_behind_a_text_is_asked_for_when_the_text_before_it_is_read():
    asked = []
    once_more = writer.next_letter(lambda text: asked.append(list(text)), 5)
    assert asked == [writer.ids("validation")[:4].tolist()]
    once_more()
    assert asked[1:] == [writer.ids("validation")[:5].tolist()]


def test_steps_that_differ_from_the_whole_are_found():
    model = small()

    def again(model):
        return lambda text: model(torch.tensor([text]))[0, -1]

    def forgetful(model):
        return lambda text: model(torch.tensor([text[-3:]]))[0, -1]

    assert writer.off_by_steps(model, again, 12) < 1e-12

    def cached(model):
        held = [None] * len(model.blocks)

        def attend(i, q, k, v):
            before = held[i] or (k[:, :, :0], v[:, :, :0])
            held[i] = [torch.cat(pair, dim=2) for pair in zip(before, (k, v), strict=True)]
            return F.scaled_dot_product_attention(q, *held[i])

        def of(text):
            now = [lambda q, k, v, i=i: attend(i, q, k, v) for i in range(len(held))]
            return model(torch.tensor([text[-1:]]), len(text) - 1, now)[0, -1]

        return of

    assert writer.off_by_steps(model, cached, 12) < 1e-12
    assert writer.off_by_steps(model, forgetful, 12) > 1e-3
    assert torch.get_default_dtype() == torch.float32
    assert model.output.weight.dtype == torch.float32


def test_a_writer_sees_no_future_and_knows_where_a_text_starts():
    model, text = small().double(), writer.ids("test")[None, :20]
    whole = model(text)
    torch.testing.assert_close(model(text[:, :11]), whole[:, :11])
    swapped = text.flip(1)
    assert not torch.allclose(model(swapped)[:, -1], whole[:, -1])
    late = model(text, start=7)  # rotary positions: a text may start anywhere
    torch.testing.assert_close(late, whole)


def test_each_block_attends_with_a_function_of_its_own_if_there_is_a_list():
    calls = []

    def counted(i, q, k, v):
        calls.append(i)
        return all_pairs(q, k, v)

    attend = [lambda q, k, v, i=i: counted(i, q, k, v) for i in range(3)]
    text = writer.ids("test")[None, :5]
    expected = small()(text)
    torch.testing.assert_close(small(attend)(text), expected)
    torch.testing.assert_close(small()(text, attend=attend), expected)
    assert calls == [0, 1, 2] * 2


def test_stored_weights_are_taken_as_they_are_and_of_another_model_not():
    model, other = small(), writer.Writer(all_pairs, D=8, h=2, F=12, L=3)
    stored = in_int8(model)
    writer.take_weights(other, stored)
    assert not other.training
    for name, weight in other.named_parameters():
        whole, *scale = (torch.tensor(part) for part in stored[name])
        assert torch.equal(weight, whole * scale[0] if scale else whole)
        torch.testing.assert_close(weight, model.get_parameter(name), rtol=0.02, atol=0.02)
    for wrong in (
        {name: stored[name] for name in list(stored)[1:]},
        stored | {"norm.weight": (np.ones(9, dtype=np.float32),)},
    ):
        with pytest.raises(ValueError, match="another model"):
            writer.take_weights(other, wrong)


def test_batches_of_the_long_text_follow_it_and_every_fourth_is_longer():
    text = torch.arange(3000)
    batches = writer.batches_of(text, 5, per_step=1024, seed=1)
    assert [tuple(x.shape) for x, _ in batches] == [(4, 256)] * 3 + [(2, 512), (4, 256)]
    for x, y in batches:
        assert torch.equal(y, x + 1) and torch.equal(x[:, 1:], y[:, :-1])
    assert not torch.equal(writer.batches_of(text, 1, 1024, seed=2)[0][0], batches[0][0])


def test_a_training_lowers_the_loss_and_the_same_seed_gives_the_same():
    model, again = small(), small()
    losses = writer.train_well(model, 12, 512, 3e-2, seed=0).step_loss
    assert losses[-1] < losses[0] - 0.1 and not model.training
    assert writer.train_well(again, 12, 512, 3e-2, seed=0).step_loss == losses
    assert len(writer.adapt(model, steps=3, per_step=512).step_loss) == 3


def test_weights_are_those_of_attention_with_all_pairs():
    model, rows = small(), writer.validation_rows(2, 8)
    found = writer.weights_of(model, rows)
    assert [block.shape for block in found] == [(2, 2, 8, 8)] * 3
    for block in found:
        torch.testing.assert_close(block.sum(-1), torch.ones(2, 2, 8))
        assert not block.triu(1).any()
    assert writer.validation_rows(2, 8).tolist()[1] == writer.ids("validation")[8:16].tolist()


def test_the_weight_within_a_distance_is_that_of_a_loop():
    model, T = small(), 8
    weights = writer.weights_of(model, writer.validation_rows(4, T))
    found = writer.weight_within(weights, asked=2)
    for block, row in zip(weights, found, strict=True):
        for back in range(T):
            near = [block[:, :, t, max(0, t - back) : t + 1].sum(-1).mean() for t in (T - 2, T - 1)]
            assert row[back].item() == pytest.approx((sum(near) / 2).item(), abs=1e-5)
    assert found.shape == (3, T)


def test_idle_pairs_are_the_less_important_half_of_those_that_are_seen():
    even = torch.ones(2, 1, 4, 4).tril()
    even = even / even.sum(-1, keepdim=True)
    assert writer.idle([even]) == pytest.approx((0 + 1 / 2 + 1 / 3 + 1 / 2) / 4)
    sharp = torch.tensor([[1.0, 0, 0], [0.9, 0.1, 0], [0.2, 0.1, 0.7]])[None, None]
    assert writer.idle([sharp]) == pytest.approx((0 + 0.1 + 0.1) / 3)
    assert writer.idle([torch.eye(4)[None, None], even]) == pytest.approx(1 / 6)


@pytest.mark.parametrize("w", [None, 0, 2])
def test_all_scores_under_a_mask_are_the_librarys(w):
    q, k, v = heads(9, d=4, dtype=torch.float64)
    mask = window_mask(9, 9 if w is None else w, is_causal=True)
    expected = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
    torch.testing.assert_close(all_scores(q, k, v, w), expected)


def test_the_long_text_begins_with_the_short_one_and_has_nothing_that_is_held_out():
    text = long_prose()
    assert text.startswith(docstring_text("train") + "\n\n")
    assert len(text) > 8 * len(docstring_text("train")) and text.isascii()
    for part in ("validation", "test"):
        assert set(sentences(docstring_text(part))).isdisjoint(sentences(text))


def test_sentences_end_at_a_stop_and_are_on_one_line():
    assert sentences("One two.\nThree:\nfour; five\n\nSix") == [
        "One two.", "Three:", "four;", "five", "Six",
    ]  # fmt: skip


def test_with_another_version_of_the_text_the_characters_are_a_stored_writers(monkeypatch):
    monkeypatch.setattr(writer, "docstring_text", lambda part: "Ø")
    monkeypatch.setattr(writer, "other_version", lambda library: "another")
    known = writer.vocabulary.__wrapped__()
    assert known.symbols == writer.vocabulary().symbols and len(known) == 96
