"""Day 9's parts equal the library's or a formula, and fit into Day 6's blocks.

Each known mistake is put in the code's place, and shown to fail the same check.
"""

import math
from functools import partial

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from utils.language import (
    GatedFeedForward,
    QKNormAttention,
    RMSNorm,
    RotaryHalves,
    UnscaledEmbedding,
    gated_width,
    stretch_evenly,
    stretch_slow,
)
from utils.positions import Rotary
from utils.self_attention import MultiHeadAttention
from utils.transformer import (
    DecoderOnly,
    EncoderBlock,
    FeedForward,
    InputEmbedding,
    Parts,
    ScaledEmbedding,
    Transformer,
    TransformerConfig,
)

EXACT = {"rtol": 0.0, "atol": 1e-12}
B, T, D, H, F_, V = 3, 5, 24, 4, 40, 11


def draw(*shape: int, seed: int = 0) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def randomised(layer: nn.Module, seed: int = 1) -> nn.Module:
    generator = torch.Generator().manual_seed(seed)
    for weight in layer.double().parameters():
        nn.init.normal_(weight, std=0.5, generator=generator)
    return layer


def assert_same(ours, library, x) -> None:
    """Compare outputs, and the gradients of the input and of all weights, in their order."""
    found = []
    for layer in (ours, library):
        given = x.clone().requires_grad_()
        y = layer(given)
        weights = list(layer.parameters())
        found.append(
            [y, *torch.autograd.grad((y * draw(*y.shape, seed=9)).sum(), [given, *weights])]
        )
    for a, b in zip(*found, strict=True):
        torch.testing.assert_close(a, b, **EXACT)


# A norm without a mean ----------------------------------------------------------------------------


def normed(norm: type[RMSNorm], x: torch.Tensor, eps: float) -> None:
    ours, library = norm(D, eps).double(), nn.RMSNorm(D, eps).double()
    library.load_state_dict(randomised(ours).state_dict())
    assert_same(ours, library, x)


@pytest.mark.parametrize("eps", [1e-5, 0.5])
@pytest.mark.parametrize("shape", [(B, T, D), (D, D), (D,)])
def test_rms_norm_equals_the_librarys(shape, eps):
    normed(RMSNorm, 0.1 + draw(*shape), eps)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
@pytest.mark.parametrize("scale", [300.0, 1e-4])
def test_rms_norm_holds_the_squares_of_half_precision(dtype, scale):
    x = (scale * draw(B, T, D)).to(dtype)
    y = RMSNorm(D, 1e-12).to(dtype)(x)
    assert y.dtype == dtype and y.isfinite().all()
    expected = F.rms_norm(x.double(), (D,), eps=1e-12)
    torch.testing.assert_close(y.double(), expected, rtol=2 * torch.finfo(dtype).eps, atol=1e-6)


class Centred(RMSNorm):
    def forward(self, x):
        return super().forward(x - x.mean(-1, keepdim=True))


class OutsideTheRoot(RMSNorm):
    def forward(self, x):
        return self.weight * x / (x.square().mean(-1, keepdim=True).sqrt() + self.eps)


class NotDividedByTheWidth(RMSNorm):
    def forward(self, x):
        return self.weight * x / (x.square().sum(-1, keepdim=True) + self.eps).sqrt()


class OnePlusGain(RMSNorm):
    def forward(self, x):
        return super().forward(x) * (1 + self.weight) / self.weight


class NoGradientOfTheSize(RMSNorm):
    def forward(self, x):
        size = (x.square().mean(-1, keepdim=True) + self.eps).sqrt()
        return self.weight * x / size.detach()


@pytest.mark.parametrize(
    "norm", [Centred, OutsideTheRoot, NotDividedByTheWidth, OnePlusGain, NoGradientOfTheSize]
)
def test_mistaken_norms_are_found(norm):
    with pytest.raises(AssertionError):
        normed(norm, 0.1 + draw(B, T, D), 0.5)


# A gate in the feed-forward layer -----------------------------------------------------------------

PYTHON = {  # by hand, number by number
    "silu": lambda u: u / (1 + math.exp(-u)),
    "relu": lambda u: max(u, 0.0),
    "relu_squared": lambda u: max(u, 0.0) ** 2,
    "gelu": lambda u: u * (1 + math.erf(u / math.sqrt(2))) / 2,
    "gelu_tanh": lambda u: u * (1 + math.tanh(math.sqrt(2 / math.pi) * (u + 0.044715 * u**3))) / 2,
}


def by_hand(activation: str, x: torch.Tensor) -> torch.Tensor:
    return x.clone().apply_(PYTHON[activation])


def assert_gated(kind: type, activation: str) -> None:
    layer, x = randomised(kind(D, F_, activation)), draw(B, T, D)
    W_gate, W_up, W_down = layer.parameters()
    hidden = by_hand(activation, (x @ W_gate.T).detach()) * (x @ W_up.T)
    torch.testing.assert_close(layer(x), hidden @ W_down.T, **EXACT)


@pytest.mark.parametrize("activation", PYTHON)
def test_one_product_opens_the_other(activation):
    assert_gated(GatedFeedForward, activation)


class OtherBranch(GatedFeedForward):
    def forward(self, x):
        return self.W_down(self.W_gate(x) * self.activation(self.W_up(x)))


class BothActivated(GatedFeedForward):
    def forward(self, x):
        return self.W_down(self.activation(self.W_gate(x)) * self.activation(self.W_up(x)))


class SigmoidGate(GatedFeedForward):
    def forward(self, x):
        return self.W_down(self.W_gate(x).sigmoid() * self.W_up(x))


class SumOfBoth(GatedFeedForward):
    def forward(self, x):
        return self.W_down(self.activation(self.W_gate(x)) + self.W_up(x))


@pytest.mark.parametrize("kind", [OtherBranch, BothActivated, SigmoidGate, SumOfBoth])
def test_mistaken_gates_are_found(kind):
    with pytest.raises(AssertionError):
        assert_gated(kind, "silu")


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("activation", PYTHON)
def test_the_plain_layer_knows_todays_activations_and_may_have_no_biases(activation, bias):
    layer, x = randomised(FeedForward(D, F_, activation, bias=bias)), draw(B, T, D)
    assert len(list(layer.parameters())) == (4 if bias else 2)
    b_1, b_2 = (layer.W_1.bias, layer.W_2.bias) if bias else (0, 0)
    hidden = by_hand(activation, (x @ layer.W_1.weight.T + b_1).detach())
    torch.testing.assert_close(layer(x), hidden @ layer.W_2.weight.T + b_2, **EXACT)


def test_dropout_is_inside_the_gated_layer_in_training_alone():
    layer, x = randomised(GatedFeedForward(D, F_, dropout=0.5)), draw(B, T, D)
    torch.manual_seed(0)
    y = layer(x)
    torch.manual_seed(0)
    inside = F.dropout(F.silu(layer.W_gate(x)) * layer.W_up(x), 0.5)
    torch.testing.assert_close(y, layer.W_down(inside), **EXACT)
    layer.eval()
    assert torch.equal(layer(x), layer(x)) and not torch.equal(layer(x), y)


@pytest.mark.parametrize(
    "d_ff, multiple, expected",
    [(1536, 1, 1024), (16_384, 256, 11_008), (20_480, 256, 13_824), (512, 1, 342), (3, 2, 2)],
)
def test_the_gated_width_is_two_thirds_rounded_up(d_ff, multiple, expected):
    """The second and third are LLaMA's of 7 and 13 billion parameters."""
    assert gated_width(d_ff, multiple) == expected


@pytest.mark.parametrize("d_ff", [48, 512, 1024])
def test_at_the_gated_width_both_layers_have_as_many_parameters(d_ff):
    plain, gated = FeedForward(D, d_ff, bias=False), GatedFeedForward(D, gated_width(d_ff))
    ours, theirs = (sum(w.numel() for w in layer.parameters()) for layer in (gated, plain))
    assert 0 <= ours - theirs < 3 * D


# Queries and keys of one length -------------------------------------------------------------------


def attended(layer: QKNormAttention, x: torch.Tensor, **how: object) -> torch.Tensor:
    """Attend by loops over heads and positions, with the equations alone."""
    D_, h, n_kv = layer.d_model, layer.n_heads, layer.n_kv_heads
    d = D_ // h
    q, k, v = (x @ layer.W_in.T).split([D_, d * n_kv, d * n_kv], dim=-1)
    heads = []
    for i in range(h):
        j = i // (h // n_kv)
        norms = (layer.norm_q, q[..., i * d : i * d + d]), (layer.norm_k, k[..., j * d : j * d + d])
        q_i, k_j = (
            norm.weight * y / (y.square().mean(-1, keepdim=True) + norm.eps).sqrt()
            for norm, y in norms
        )
        if layer.rotary is not None:
            q_i, k_j = layer.rotary(q_i), layer.rotary(k_j)
        scores = q_i @ k_j.mT / math.sqrt(d)
        scores = scores.masked_fill(torch.ones(T, T).triu(1).bool(), -math.inf)
        heads.append(scores.softmax(-1) @ v[..., j * d : j * d + d])
    return torch.cat(heads, dim=-1) @ layer.W_o.weight.T


def assert_qk_normed(kind: type, rotary: nn.Module | None, n_kv_heads: int | None) -> None:
    layer = randomised(kind(D, H, n_kv_heads=n_kv_heads, bias=False, rotary=rotary))
    x = 3 * draw(B, T, D)
    expected = attended(layer, x)
    for need_weights in (False, True):
        y, _ = layer(x, is_causal=True, need_weights=need_weights)
        torch.testing.assert_close(y, expected, **EXACT)


@pytest.mark.parametrize("n_kv_heads", [None, 2])
@pytest.mark.parametrize("rotary", [None, Rotary(D // H), RotaryHalves(D // H)], ids=str)
def test_queries_and_keys_are_normalised_head_by_head(rotary, n_kv_heads):
    assert_qk_normed(QKNormAttention, rotary, n_kv_heads)


class KeysAlone(QKNormAttention):
    def project(self, x, memory):
        q, k, v = MultiHeadAttention.project(self, x, memory)
        return q, self.norm_k(k), v


class ValuesToo(QKNormAttention):
    def project(self, x, memory):
        q, k, v = super().project(x, memory)
        return q, k, F.rms_norm(v, v.shape[-1:])


class OverTheHeads(QKNormAttention):
    def project(self, x, memory):
        q, k, v = MultiHeadAttention.project(self, x, memory)
        return tuple(
            norm.weight * F.rms_norm(y.transpose(1, 3), y.shape[1:2], eps=1e-5).transpose(1, 3)
            for norm, y in ((self.norm_q, q), (self.norm_k, k))
        ) + (v,)


@pytest.mark.parametrize("kind", [KeysAlone, ValuesToo, OverTheHeads])
def test_mistaken_norms_of_queries_and_keys_are_found(kind):
    with pytest.raises(AssertionError):
        assert_qk_normed(kind, None, None)


def test_without_gain_no_score_is_larger_than_the_root_of_the_width():
    layer, x = QKNormAttention(D, H).double(), 1000 * draw(B, T, D)
    q, k, _ = layer.project(x, None)
    assert (q @ k.mT / math.sqrt(D // H)).abs().max() <= math.sqrt(D // H) + 1e-9


def test_another_norm_of_queries_and_keys_can_be_handed_in():
    layer = QKNormAttention(D, H, norm=nn.LayerNorm)
    assert isinstance(layer.norm_q, nn.LayerNorm) and layer.norm_k.normalized_shape == (D // H,)


# Rotary positions in halves -----------------------------------------------------------------------


def assert_turned(kind: type, start: int) -> None:
    """In the order of neighbours, halves turn as the paper's pairs do."""
    x = draw(B, H, T, 8)
    neighbours = torch.arange(8).view(2, 4).T.flatten()  # 0 4 1 5 2 6 3 7
    expected = Rotary(8, base=50.0)(x[..., neighbours], start)
    torch.testing.assert_close(kind(8, 50.0)(x, start)[..., neighbours], expected, **EXACT)


@pytest.mark.parametrize("start", [0, 7])
def test_halves_turn_as_neighbours_do(start):
    assert_turned(RotaryHalves, start)


class Backwards(RotaryHalves):
    def forward(self, x, start=0):
        return super().forward(x.roll(4, -1), start).roll(4, -1)


class FromZero(RotaryHalves):
    def forward(self, x, start=0):
        return super().forward(x)


@pytest.mark.parametrize("kind", [Rotary, Backwards, FromZero])
def test_mistaken_halves_are_found(kind):
    with pytest.raises(AssertionError):
        assert_turned(kind, 7)


def test_the_first_position_is_0_and_turns_nothing():
    x = draw(B, H, 1, 8)
    assert torch.equal(RotaryHalves(8)(x), x)


def test_far_positions_are_turned_as_exactly_as_near_ones():
    x = draw(1, 1, 3, 8)
    error = RotaryHalves(8)(x.float(), 60_000).double() - RotaryHalves(8)(x, 60_000)
    assert error.abs().max() < 1e-6
    assert RotaryHalves(8)(x.bfloat16()).dtype == torch.bfloat16


def test_stretched_evenly_all_positions_are_nearer():
    x, stretch = draw(1, 1, 9, 8), partial(stretch_evenly, factor=4.0)
    slow, plain = RotaryHalves(8, stretch=stretch), RotaryHalves(8)
    torch.testing.assert_close(slow(x[:, :, :1], 8), plain(x[:, :, :1], 2), **EXACT)


def test_slow_waves_are_slowed_and_fast_ones_stay():
    """As in Llama 3.1: by 8; those that turn less than once in 8192 positions, not from 4 on."""
    turns = torch.tensor([8.0, 4.0, 2.5, 1.0, 0.5], dtype=torch.float64)
    frequencies = 2 * math.pi * turns / 8192
    slowed = stretch_slow(frequencies, factor=8.0, low=1.0, high=4.0, context=8192)
    expected = turns * torch.tensor([1, 1, 0.5 + 0.5 / 8, 1 / 8, 1 / 8], dtype=torch.float64)
    torch.testing.assert_close(slowed, 2 * math.pi * expected / 8192, **EXACT)


# All in one model ---------------------------------------------------------------------------------

TODAY = Parts(
    norm=RMSNorm,
    feed_forward=GatedFeedForward,
    attention=partial(QKNormAttention, bias=False),
    embedding=UnscaledEmbedding,
    rotary=RotaryHalves,
)


def chosen(**choices: object) -> TransformerConfig:
    sizes = {"vocab_size": V, "d_model": D, "n_heads": H, "d_ff": F_, "n_layers": 2, "dropout": 0.0}
    today = {"activation": "silu", "norm": "pre", "positions": "rotary", "n_kv_heads": 2}
    return TransformerConfig(**sizes | today | choices)


IDS = torch.randint(0, V, (B, 7), generator=torch.Generator().manual_seed(3))


def test_a_model_is_made_of_todays_parts_and_has_no_bias():
    model = DecoderOnly(chosen(), TODAY)
    kinds = {type(module) for module in model.modules()}
    assert {RMSNorm, GatedFeedForward, QKNormAttention, UnscaledEmbedding, RotaryHalves} <= kinds
    assert not kinds & {nn.LayerNorm, FeedForward, MultiHeadAttention, ScaledEmbedding, Rotary}
    assert not [name for name, _ in model.named_parameters() if "bias" in name or "b_in" in name]
    assert model.output.weight is model.stack.embedding.symbols.weight


def test_encoder_and_decoder_take_the_embedding_and_the_rotary_positions():
    model = Transformer(chosen(target_vocab_size=7), TODAY)
    for stack in (model.encoder, model.decoder):
        assert type(stack.embedding.symbols) is UnscaledEmbedding
        assert all(type(b.self_attention.rotary) is RotaryHalves for b in stack.blocks)
    assert all(block.cross_attention.rotary is None for block in model.decoder.blocks)


@pytest.mark.parametrize("split", range(1, 7))
def test_a_model_of_todays_parts_goes_on_from_its_state(split):
    model = randomised(DecoderOnly(chosen(), TODAY))
    whole, _ = model(IDS)
    first, state = model(IDS[:, :split])
    second, _ = model(IDS[:, split:], state)
    torch.testing.assert_close(torch.cat([first, second], dim=1), whole, **EXACT)


def test_every_weight_of_todays_parts_learns_something():
    model = randomised(DecoderOnly(chosen(), TODAY))
    model(IDS)[0].logsumexp(-1).sum().backward()
    assert all(weight.grad.abs().max() > 0 for weight in model.parameters())


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_todays_parts_are_finite_in_half_precision(dtype):
    logits, _ = DecoderOnly(chosen(), TODAY).to(dtype)(IDS)
    assert logits.dtype == dtype and logits.isfinite().all()


def test_rotary_parts_turn_self_attention_where_positions_are_rotary():
    block = EncoderBlock(chosen(), TODAY._replace(rotary=partial(Rotary, base=7.0)))
    assert block.self_attention.rotary.frequencies[0] == 1.0
    assert block.self_attention.rotary.frequencies[1] == 7.0 ** (
        -2 / block.self_attention.rotary.d_k
    )
    assert EncoderBlock(chosen(positions=None), TODAY).self_attention.rotary is None


def test_an_unscaled_embedding_begins_small_and_stays_as_it_is():
    torch.manual_seed(0)
    layer = InputEmbedding(1000, D, None, 1, 0.0, UnscaledEmbedding)
    assert torch.equal(layer(IDS), layer.symbols.weight[IDS])
    assert layer.symbols.weight.std().item() == pytest.approx(0.02, rel=0.05)


# Bad input ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda: RMSNorm(0), "d_model .* 0"),
        (lambda: RMSNorm(D)(torch.ones(3, 1)), r" 24\).*\(3, 1\)"),
        (lambda: GatedFeedForward(D, 0), "d_ff .* 0"),
        (lambda: GatedFeedForward(D, F_, "tanh"), "activation 'tanh'"),
        (lambda: gated_width(0), "d_ff .* 0"),
        (lambda: gated_width(8, 0), "multiple .* 0"),
        (lambda: QKNormAttention(D, 5), "5 heads .* 24"),
        (lambda: RotaryHalves(0), "d_k .* 0"),
        (lambda: RotaryHalves(5), "d_k .* 5"),
        (lambda: RotaryHalves(6)(draw(B, T, 4)), r" 6\).*\(3, 5, 4\)"),
        (lambda: RotaryHalves(6)(draw(B, 0, 6)), r" 6\).*\(3, 0, 6\)"),
        (lambda: RotaryHalves(6)(draw(6)), r" 6\).*\(6,\)"),
        (lambda: UnscaledEmbedding(V, D)(IDS + V), "Ids .* 10 "),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()
