"""A language model writes the same with and without a cache, and never beyond its context.

Each known mistake is put in the code's place, and shown to fail the same check.
"""

import math

import pytest
import torch

from utils.language import GatedFeedForward, RMSNorm, RotaryHalves, UnscaledEmbedding, generation
from utils.tasks.generation import generate
from utils.training.sampling import chooser
from utils.transformer import DecoderOnly, Parts, TransformerConfig

B, T, V, CONTEXT = 23, 5, 11, 12
TODAY = Parts(RMSNorm, GatedFeedForward, embedding=UnscaledEmbedding, rotary=RotaryHalves)
KINDS = {
    "learned": ({"positions": "learned"}, Parts()),
    "sinusoidal": ({"positions": "sinusoidal"}, Parts()),
    "today's": ({"positions": "rotary", "n_kv_heads": 2, "activation": "silu"}, TODAY),
}
each_kind = pytest.mark.parametrize("kind", KINDS)


def build(kind: str = "learned") -> DecoderOnly:
    choices, parts = KINDS[kind]
    config = TransformerConfig(
        V,
        d_model=16,
        n_heads=4,
        d_ff=24,
        n_layers=2,
        norm="pre",
        tied=False,
        max_len=CONTEXT,
        **choices,
    )
    torch.manual_seed(2)
    model = DecoderOnly(config, parts).double()
    for weight in model.parameters():
        torch.nn.init.normal_(weight, std=0.6)
    return model


IDS = torch.randint(0, V, (B, T), generator=torch.Generator().manual_seed(4))


@torch.no_grad()
def without_cache(model, ids, n, choose):
    """Read the whole text anew for each token."""
    model.eval()
    for _ in range(n):
        ids = torch.cat([ids, choose(model(ids)[0][:, -1])[:, None]], dim=1)
    return ids[:, -n:]


def generator(seed=0):
    return torch.Generator().manual_seed(seed)


@each_kind
@pytest.mark.parametrize("how", [{"tau": 0}, {}, {"tau": 0.7, "k": 5, "p": 0.8}], ids=str)
@pytest.mark.parametrize("length", [1, T])
def test_a_cache_changes_nothing(kind, how, length):
    model, ids = build(kind), IDS[:, :length]
    n = CONTEXT + 1 - length  # the last token is written, not read
    expected = without_cache(model, ids, n, chooser(**how, generator=generator()))
    for _ in range(2):  # the second text begins as the first did
        assert torch.equal(generate(model, ids, n, **how, generator=generator()), expected)


class NoRoom(generation.KVCache):
    """Holds only what the last call brought."""

    def append(self, key, value):
        self.reset()
        return super().append(key, value)


class AlwaysAtZero(generation.KVCache):
    """Holds all, and says that the text begins with each step."""

    length = property(lambda self: 0, lambda self, length: None)

    def append(self, key, value):
        held = getattr(self, "held", (key[:, :, :0], value[:, :, :0]))
        self.held = tuple(torch.cat(pair, dim=2) for pair in zip(held, (key, value), strict=True))
        return self.held


@each_kind
@pytest.mark.parametrize("cache", [NoRoom, AlwaysAtZero])
def test_a_cache_that_forgets_or_resets_positions_is_found(kind, cache, monkeypatch):
    monkeypatch.setattr(generation, "KVCache", cache)
    with pytest.raises(AssertionError):
        test_a_cache_changes_nothing(kind, {}, T)


@each_kind
def test_a_batch_padded_in_front_writes_what_each_text_alone_does(kind):
    model, lengths = build(kind), torch.tensor([2, 5, 1])
    ids = IDS[:3].masked_fill(torch.arange(T) < (T - lengths)[:, None], 0)
    together = generate(model, ids, 6, tau=0, lengths=lengths)
    for b, length in enumerate(lengths):
        assert torch.equal(
            together[b : b + 1], generate(model, ids[b : b + 1, T - length :], 6, tau=0)
        )


def test_a_text_that_has_ended_says_nothing_else():
    model = build()
    plain = generate(model, IDS, 7, tau=0)
    end = plain[0, 2].item()
    ended = generate(model, IDS, 7, tau=0, end=end)
    for row, free in zip(ended.tolist(), plain.tolist(), strict=True):
        stop = free.index(end) if end in free else 7
        assert row == (free[: stop + 1] + 7 * [end])[: len(row)]
    assert ended[0, 2:].eq(end).all()


def test_what_is_drawn_follows_the_generator():
    model = build()
    first, again, other = (generate(model, IDS, 7, generator=generator(seed)) for seed in (1, 1, 2))
    assert torch.equal(first, again) and not torch.equal(first, other)


def test_writing_drops_nothing_out_and_leaves_the_mode_as_it_was():
    model = build().train()
    assert model.config.dropout > 0
    assert torch.equal(generate(model, IDS, 7, tau=0), generate(model, IDS, 7, tau=0))
    assert model.training and not generate(model.eval(), IDS, 1).requires_grad
    assert not model.training
    with pytest.raises(ValueError, match="temperature"):
        generate(model.train(), IDS, 1, tau=-1.0)
    assert model.training


@pytest.mark.parametrize(
    "ids, n, how, message",
    [
        (IDS, CONTEXT + 2 - T, {}, "13 tokens .* 12"),
        (IDS[:, :0], 3, {}, "prompt is empty"),
        (IDS + V, 3, {}, "Ids .* 10 "),
        (IDS[0], 3, {}, r"ids .*\(5,\)"),
        (IDS, 0, {}, "length .* 0:"),
        (IDS[:3], 2, {"lengths": torch.tensor([1, 6, 2])}, " 6, .* 5 "),
        (IDS[:3], 2, {"lengths": torch.tensor([1, 2])}, r" 3 .*\(2,\)"),
        (IDS, 2, {"k": 0}, "^k .* 0:"),
        (IDS, 2, {"p": 0.0}, "^p .* 0.0:"),
    ],
)
@each_kind
def test_bad_input_is_named(kind, ids, n, how, message):
    with pytest.raises(ValueError, match=message):
        generate(build(kind), ids, n, **how)


def test_logits_that_are_no_numbers_are_named_also_where_the_best_is_taken():
    with pytest.raises(ValueError, match="NaN"):
        chooser(tau=0)(torch.tensor([[1.0, math.nan]]))
