"""Day 7's writer: its text and batches, and what is asked of a trained one."""

import math

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from utils.data.text import UNK
from utils.efficient import window_mask
from utils.self_attention import causal_mask
from utils.tasks import writer
from utils.tasks.long_texts import all_scores, heads


class Looker(nn.Module):
    """Takes `looks` as the lesson's writer does: one block, whose head looks at the letters."""

    def __init__(self, D: int = 4):
        super().__init__()
        torch.manual_seed(0)
        V = len(writer.vocabulary())
        self.letters, self.blocks, self.output = nn.Embedding(V, D), [None], nn.Linear(D, V)

    def forward(self, ids, looks=None):
        x = self.letters(ids)[:, None]  # (B, 1, T, D)
        return self.output((looks[0] if looks else all_scores)(x, x, x)[:, 0])


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
    model = Looker()

    def again(model):
        return lambda text: model(torch.tensor([text]))[0, -1]

    def forgetful(model):
        return lambda text: model(torch.tensor([text[-3:]]))[0, -1]

    assert writer.off_by_steps(model, again, 12) < 1e-12

    def buffered(model):
        def of(text):
            held = torch.empty(2 * len(text), 4)  # in the default precision
            held[: len(text)] = model.letters(torch.tensor(text))
            return model.output(all_scores(*3 * [held[None, None, : len(text)]])[0, 0, -1])

        return of

    assert writer.off_by_steps(model, buffered, 12) < 1e-12
    assert writer.off_by_steps(model, forgetful, 12) > 1e-3
    assert torch.get_default_dtype() == torch.float32
    assert model.output.weight.dtype == torch.float32


def test_the_weight_within_a_distance_is_that_of_a_loop():
    model, T = Looker(), 8
    found = writer.weight_within(model, T, asked=2)
    x = model.letters(writer.ids("validation")[: 32 * T].view(32, T))
    weights = (x @ x.mT / 2).masked_fill(~causal_mask(T), -math.inf).softmax(-1)  # √4
    for distance in range(T):
        near = [weights[:, t, max(0, t - distance) : t + 1].sum(-1).mean() for t in (T - 2, T - 1)]
        assert found[0, distance].item() == pytest.approx((sum(near) / 2).item(), abs=1e-5)
    assert found.shape == (1, T)


@pytest.mark.parametrize("w", [None, 0, 2])
def test_all_scores_under_a_mask_are_the_librarys(w):
    q, k, v = heads(9, d=4, dtype=torch.float64)
    mask = window_mask(9, 9 if w is None else w, is_causal=True)
    expected = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
    torch.testing.assert_close(all_scores(q, k, v, w), expected)
