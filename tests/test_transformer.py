"""Day 6's Transformer equals the library's, in value and gradient, and decodes as it was trained.

Each known mistake is put in the code's place, and shown to fail the same check.
"""

import copy
import itertools
import math
from functools import partial

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from utils.attention import padding_mask
from utils.positions import Alibi, SinusoidalPositions, sinusoidal
from utils.recurrent import Streaming, each
from utils.self_attention import (
    BiasedAttention,
    MultiHeadAttention,
    causal_mask,
    dot_product_attention,
    merge_heads,
)
from utils.seq2seq import (
    BOS,
    EOS,
    PAD,
    beam_search,
    forced_weights,
    greedy_decode,
    sequence_loss,
    shift,
)
from utils.training.sampling import generate
from utils.transformer import (
    CrossAttention,
    DecoderBlock,
    DecoderOnly,
    Encoder,
    EncoderBlock,
    EncoderOnly,
    FeedForward,
    InputEmbedding,
    LayerNorm,
    Parts,
    Residual,
    ScaledEmbedding,
    Tagger,
    Transformer,
    TransformerConfig,
    blocks,
    label_smoothing_loss,
    models,
    warmup_rate,
)
from utils.transformer.layers import ACTIVATIONS
from utils.transformer.stacks import as_caches

pytestmark = pytest.mark.filterwarnings("ignore:enable_nested_tensor is True")

EXACT = {"rtol": 1e-10, "atol": 1e-10}
B, T, S, D, H, F_, L, V, V_T = 3, 5, 7, 24, 4, 20, 2, 11, 9  # so d_k = 6
SIZES = [(B, T, S), (T, T, S), (H, T, T)]  # all differ; B = T; B = h and T = S
norms = pytest.mark.parametrize("norm", ["post", "pre"])
activations = pytest.mark.parametrize("activation", ["relu", "gelu"])
both_paths = pytest.mark.parametrize("need_weights", [True, False], ids=["weights", "fused"])


def draw(*shape: int, seed: int = 0) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(*shape, dtype=torch.float64, generator=generator)


def drawn_ids(*shape: int, vocab_size: int = V, seed: int = 0) -> torch.Tensor:
    """Draw symbols that are none of PAD, BOS and EOS."""
    generator = torch.Generator().manual_seed(seed)
    return torch.randint(EOS + 1, vocab_size, shape, generator=generator)


def lengths_up_to(size: int, batch_size: int) -> torch.Tensor:
    """Return lengths that all differ, as far as there are some, and the longest first."""
    return size - torch.arange(batch_size) % size


def randomised(module: nn.Module, seed: int = 0) -> nn.Module:
    """Give every weight a random number: a gain of 1 or a bias of 0 would hide mistakes."""
    module = module.double()
    for index, parameter in enumerate(module.parameters()):
        parameter.data = draw(*parameter.shape, seed=seed + index) / 2
    return module


def chosen(**choices) -> TransformerConfig:
    sizes = {"vocab_size": V, "d_model": D, "n_heads": H, "d_ff": F_, "n_layers": L, "dropout": 0.0}
    return TransformerConfig(**sizes | choices)


def results(function, *inputs: torch.Tensor) -> list[torch.Tensor]:
    """Return what a function gives, and its gradient by every input."""
    leaves = [x.detach().clone().requires_grad_() for x in inputs]
    y = function(*leaves)
    return [y, *torch.autograd.grad((y * draw(*y.shape, seed=9)).sum(), leaves)]


def assert_same(ours, other, *inputs: torch.Tensor) -> None:
    for a, b in zip(results(ours, *inputs), results(other, *inputs), strict=True):
        assert b.abs().max() > 0
        torch.testing.assert_close(a, b, **EXACT)


# The norm -----------------------------------------------------------------------------------------


def assert_normalises(build) -> None:
    """Hold a norm, built of a width and ε, to the library's."""
    for shape, eps in (((2, 3, 4), 1e-5), ((4, 4, 4), 0.1), ((3, 2, 5), 0.5), ((3, 1), 0.1)):
        theirs = randomised(nn.LayerNorm(shape[-1], eps))
        ours = build(shape[-1], eps).double()
        ours.weight.data, ours.bias.data = theirs.weight.data, theirs.bias.data
        found = []
        for norm in (ours, theirs):
            x = (draw(*shape, seed=3) + 1).requires_grad_()
            y = norm(x)
            weights = x, *norm.parameters()
            total = (y * draw(*shape, seed=9)).sum()
            found.append([y, *torch.autograd.grad(total, weights, materialize_grads=True)])
        for a, b in zip(*found, strict=True):
            torch.testing.assert_close(a, b, **EXACT)


class NormVariant(LayerNorm):
    """A norm as people write it, with room for a mistake in every place."""

    axis, unbiased, outside, gain_used = -1, False, False, True

    def forward(self, x):
        over = {"dim": self.axis, "keepdim": True}
        variance = x.var(correction=int(self.unbiased), **over)
        root = variance.sqrt() + self.eps if self.outside else (variance + self.eps).sqrt()
        normal = (x - x.mean(**over)) / root
        return (self.weight * normal if self.gain_used else normal) + self.bias


def norm_variant(**mistake):
    return type("Mistaken", (NormVariant,), mistake)


MISTAKEN_NORMS = {
    "the unbiased deviation": norm_variant(unbiased=True),
    "ε outside the root": norm_variant(outside=True),
    "over the positions": norm_variant(axis=-2),
    "over the batch": norm_variant(axis=0),
    "over all at once": norm_variant(axis=(-2, -1)),
    "no gain": norm_variant(gain_used=False),
}


def test_layer_norm_equals_the_librarys():
    assert_normalises(LayerNorm)
    assert_normalises(NormVariant)
    assert LayerNorm(D).eps == nn.LayerNorm(D).eps


def test_layer_norm_takes_the_librarys_state():
    ours, theirs = LayerNorm(D), randomised(nn.LayerNorm(D)).float()
    ours.load_state_dict(theirs.state_dict())
    torch.testing.assert_close(ours(draw(B, T, D).float()), theirs(draw(B, T, D).float()))


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
@pytest.mark.parametrize("scale", [1.0, 300.0, 10_000.0])
def test_layer_norm_holds_the_squares_of_half_precision(dtype, scale):
    x = (scale * draw(B, T, D)).to(dtype)
    y = LayerNorm(D).to(dtype)(x)
    assert y.dtype == dtype
    torch.testing.assert_close(y, nn.LayerNorm(D).to(dtype)(x))


@pytest.mark.parametrize("norm", MISTAKEN_NORMS.values(), ids=MISTAKEN_NORMS)
@pytest.mark.filterwarnings("ignore:var.*degrees of freedom")
def test_mistaken_norms_are_found(norm):
    with pytest.raises(AssertionError):
        assert_normalises(norm)


# The embedding ------------------------------------------------------------------------------------


def assert_embeds(build) -> None:
    """Hold an embedding to each symbol's row times √D, plus the wave of its position."""
    for batch_size, length, width, start in ((3, 4, 6, 0), (4, 4, 5, 2), (1, 5, 5, 0)):
        layer = build(V, width).double()
        ids = drawn_ids(batch_size, length)
        found, table = layer(ids, start), layer.symbols.weight
        for b, t in itertools.product(range(batch_size), range(length)):
            waves = []
            for column in range(width):
                angle = (start + t) / 10_000 ** (2 * (column // 2) / width)
                waves.append(math.cos(angle) if column % 2 else math.sin(angle))
            row = table[ids[b, t]] * math.sqrt(width) + torch.tensor(waves, dtype=torch.float64)
            torch.testing.assert_close(found[b, t], row, **EXACT)


def embedding(vocab_size, width):
    return InputEmbedding(vocab_size, width, "sinusoidal", max_len=1, dropout=0.0)


def with_waves(waves):
    """Return embeddings to which a function of (x, start) adds the positions."""

    def build(vocab_size, width):
        layer = embedding(vocab_size, width)
        layer.positions.forward = waves
        return layer

    return build


def along_the_batch(x, start):
    return x + sinusoidal(x.shape[0], x.shape[2], start, dtype=x.dtype)[:, None]


def exponent_doubled(x, start):
    return x + sinusoidal(x.shape[1], x.shape[2], start, base=10_000.0**2, dtype=x.dtype)


def exchanged(x, start):
    waves = sinusoidal(x.shape[1], x.shape[2] + 1, start, dtype=x.dtype)
    return x + waves[:, 1:]


def in_blocks(x, start):
    waves = sinusoidal(x.shape[1], x.shape[2], start, dtype=x.dtype)
    return x + torch.cat([waves[:, 0::2], waves[:, 1::2]], dim=1)


def start_forgotten(x, start):
    return x + sinusoidal(x.shape[1], x.shape[2], dtype=x.dtype)


def unscaled(vocab_size, width):
    layer = embedding(vocab_size, width)
    layer.symbols.forward = lambda ids: nn.Embedding.forward(layer.symbols, ids)
    return layer


def scaled_with_positions(vocab_size, width):
    layer = unscaled(vocab_size, width)
    positions = SinusoidalPositions(width)
    layer.positions.forward = lambda x, start: math.sqrt(width) * positions(x, start)
    return layer


MISTAKEN_EMBEDDINGS = {
    "positions along the batch": with_waves(along_the_batch),
    "exponent doubled": with_waves(exponent_doubled),
    "sine and cosine exchanged": with_waves(exchanged),
    "sines, then cosines": with_waves(in_blocks),
    "start forgotten": with_waves(start_forgotten),
    "not scaled": unscaled,
    "positions scaled too": scaled_with_positions,
}


def test_the_embedding_is_scaled_and_knows_positions():
    assert_embeds(embedding)


@pytest.mark.parametrize("build", MISTAKEN_EMBEDDINGS.values(), ids=MISTAKEN_EMBEDDINGS)
def test_mistaken_embeddings_are_found(build):
    with pytest.raises(AssertionError):
        assert_embeds(build)


def test_symbols_are_as_large_as_positions():
    torch.manual_seed(0)
    layer = ScaledEmbedding(V, 400)
    ids = drawn_ids(1, 50)
    rows, table = layer(ids)[0], layer.weight[ids[0]]
    torch.testing.assert_close(rows.norm(dim=1) / table.norm(dim=1), torch.full((50,), 20.0))
    assert rows.square().mean().item() == pytest.approx(1, abs=0.1)  # a wave's is 1/2


@pytest.mark.parametrize("positions", ["rotary", None])
def test_rotary_or_no_positions_add_nothing(positions):
    layer = InputEmbedding(V, D, positions, max_len=1, dropout=0.0)
    ids = drawn_ids(B, T)
    assert torch.equal(layer(ids, start=3), layer.symbols(ids))


def test_learned_positions_are_added_up_to_the_last():
    layer = InputEmbedding(V, D, "learned", max_len=6, dropout=0.0)
    ids = drawn_ids(B, T)
    expected = layer.symbols(ids) + layer.positions.table[1:6]
    torch.testing.assert_close(layer(ids, start=1), expected)
    with pytest.raises(ValueError, match=" 5 .* 2 .* 6:"):
        layer(ids, start=2)


# Sublayers ----------------------------------------------------------------------------------------


def test_a_squared_relu_is_0_below_0_and_a_square_above():
    found = ACTIVATIONS["relu_squared"](torch.tensor([-2.0, 0.0, 0.5, 3.0]))
    assert found.tolist() == [0, 0, 0.25, 9]


@activations
def test_the_feed_forward_layer_treats_each_position_alike(activation):
    layer, x = randomised(FeedForward(D, F_, activation)), draw(B, T, D)

    def one_by_one(x):
        rows = []
        for row in x.flatten(0, 1):
            hidden = layer.W_1.weight @ row + layer.W_1.bias
            if activation == "relu":
                hidden = torch.where(hidden > 0, hidden, 0)
            else:
                hidden = hidden * (1 + torch.erf(hidden / math.sqrt(2))) / 2
            rows.append(layer.W_2.weight @ hidden + layer.W_2.bias)
        return torch.stack(rows).view_as(x)

    assert_same(layer, one_by_one, x)


def normal(x: torch.Tensor) -> torch.Tensor:
    return (x - x.mean(-1, keepdim=True)) / (x.var(-1, correction=0, keepdim=True) + 1e-5).sqrt()


def test_a_residual_norms_the_sum_or_the_sublayers_input():
    x, double = draw(B, T, D) + 1, lambda x: 2 * x
    found = {}
    for norm in ("post", "pre"):
        around = Residual(D, norm, dropout=0.0).double()
        found[norm] = around.leave(x, double(around.enter(x)))
    torch.testing.assert_close(found["post"], normal(x + double(x)), **EXACT)
    torch.testing.assert_close(found["pre"], x + double(normal(x)), **EXACT)


@norms
def test_dropout_is_on_what_a_sublayer_adds_and_off_in_evaluation(norm):
    around = Residual(D, norm, dropout=0.5).double()
    x, y = draw(B, T, D), torch.ones(B, T, D, dtype=torch.float64)
    torch.manual_seed(0)
    if norm == "pre":
        added = around.leave(x, y) - x
        assert set(added.round().flatten().tolist()) == {0.0, 2.0}
    assert (around.leave(x, y) - around.leave(x, y)).abs().max() > 0.1
    around.eval()
    expected = x + y if norm == "pre" else normal(x + y)
    torch.testing.assert_close(around.leave(x, y), expected, **EXACT)


def test_what_dropout_takes_from_a_block_is_not_what_went_past_its_layers():
    config = chosen(norm="pre", dropout=1 - 1e-9)  # all is dropped
    x, source = draw(B, T, D), draw(B, S, D)
    block = DecoderBlock(config).double()
    torch.testing.assert_close(EncoderBlock(config).double()(x)[0], x, **EXACT)
    torch.testing.assert_close(block(x, block.remember(source))[0], x, **EXACT)


@both_paths
@pytest.mark.parametrize("n_kv_heads", [4, 2, 1])
@pytest.mark.parametrize("bias", [True, False], ids=["bias", "no bias"])
def test_a_remembered_source_is_attended_to_as_one_that_is_new(bias, n_kv_heads, need_weights):
    layer = randomised(CrossAttention(D, H, n_kv_heads=n_kv_heads, bias=bias))
    mask = padding_mask(lengths_up_to(S, B), S)[:, None]

    def read(x, source):
        y, weights = layer.read(x, layer.remember(source, mask), need_weights)
        assert (weights is None) == (not need_weights)
        return y if weights is None else torch.cat([y.flatten(), weights.flatten()])

    def whole(x, source):
        y, weights = layer(x, source, mask, need_weights=need_weights)
        return y if weights is None else torch.cat([y.flatten(), weights.flatten()])

    assert_same(read, whole, draw(B, T, D), draw(B, S, D, seed=1))


def test_attention_to_a_source_drops_weights_in_training_alone():
    layer = randomised(CrossAttention(D, H, dropout=0.5))
    x, memory = draw(B, T, D), layer.remember(draw(B, S, D, seed=1))
    torch.manual_seed(0)
    first, second = (layer.read(x, memory)[0] for _ in range(2))
    assert (first - second).abs().max() > 1e-3
    layer.eval()
    assert torch.equal(layer.read(x, memory)[0], layer.read(x, memory)[0])


# Blocks, and the library's ------------------------------------------------------------------------


def library_layer(kind, norm: str, activation: str, **options) -> nn.Module:
    options = {"activation": activation, "norm_first": norm == "pre"} | options
    return randomised(kind(D, H, F_, dropout=0.0, batch_first=True, **options), seed=5)


def loaded(kind, library: nn.Module, *parts: Parts, **choices) -> nn.Module:
    ours = kind(chosen(**choices), *parts).double()
    ours.load_library(library)
    return ours


def assert_same_gradients(ours: nn.Module, library: nn.Module) -> None:
    """Compare the gradients of all weights, by loading the library's as if they were weights."""
    gradients, expected = copy.deepcopy(library), copy.deepcopy(ours)
    for copied, parameter in zip(gradients.parameters(), library.parameters(), strict=True):
        copied.data = parameter.grad
    expected.load_library(gradients)
    loadable = {
        name: parameter
        for name, parameter in ours.named_parameters()
        if "embedding" not in name and "output" not in name  # which the library has not
    }
    assert len(loadable) >= len(list(library.parameters()))
    for name, parameter in loadable.items():
        torch.testing.assert_close(parameter.grad, expected.get_parameter(name).data, **EXACT)


def assert_same_block(ours, library, call, call_library, inputs, real=None) -> None:
    """Compare outputs, and gradients by inputs and weights, where it is real (B, T, 1)."""
    found = []
    for module, function in ((ours, call), (library, call_library)):
        module.zero_grad()
        leaves = [x.clone().requires_grad_() for x in inputs]
        y = function(*leaves)
        y = y if real is None else torch.where(real, y, 0)
        (y * draw(*y.shape, seed=9)).sum().backward()
        found.append([y, *(x.grad for x in leaves)])
    for a, b in zip(*found, strict=True):
        assert b.abs().max() > 0
        torch.testing.assert_close(a, b, **EXACT)
    assert_same_gradients(ours, library)


def assert_same_encoder_block(ours, library, sizes=(B, T, S), masked="both", need_weights=False):
    batch_size, length, _ = sizes
    padding = causal = None
    if masked in ("padding", "both"):
        padding = padding_mask(lengths_up_to(length, batch_size), length)  # (B, 1, T)
    if masked in ("causal", "both"):
        causal = causal_mask(length)

    def call(x):
        mask = None if padding is None else padding[:, None]
        options = {"is_causal": causal is not None, "need_weights": need_weights}
        y, weights = ours(x, mask, **options)
        assert (weights is None) == (not need_weights)
        return y

    def call_library(x):
        blocked = [None if mask is None else ~mask for mask in (causal, padding)]
        blocked_keys = None if padding is None else blocked[1][:, 0]
        return library(x, src_mask=blocked[0], src_key_padding_mask=blocked_keys)

    assert_same_block(ours, library, call, call_library, [draw(batch_size, length, D)])


@both_paths
@norms
@activations
@pytest.mark.parametrize("masked", ["nothing", "padding", "causal", "both"])
def test_an_encoder_block_equals_the_librarys(masked, activation, norm, need_weights):
    library = library_layer(nn.TransformerEncoderLayer, norm, activation)
    ours = loaded(EncoderBlock, library, norm=norm, activation=activation)
    for sizes in SIZES:
        assert_same_encoder_block(ours, library, sizes, masked, need_weights)


def assert_same_decoder_block(ours, library, sizes=(B, T, S), padded=True, need_weights=False):
    batch_size, T, S = sizes
    source_real = target_real = None
    if padded:
        source_real = padding_mask(lengths_up_to(S, batch_size), S)  # (B, 1, S)
        target_real = padding_mask(lengths_up_to(T, batch_size).flip(0), T)  # (B, 1, T)

    def call(x, source):
        mask = None if source_real is None else source_real[:, None]
        y, to_itself, to_source = ours(x, ours.remember(source, mask), need_weights=need_weights)
        if need_weights:
            assert to_itself.shape == (batch_size, H, T, T)
            assert to_source.shape == (batch_size, H, T, S)
        return y

    def call_library(x, source):
        return library(
            x,
            source,
            tgt_mask=~causal_mask(T),
            tgt_key_padding_mask=None if target_real is None else ~target_real[:, 0],
            memory_key_padding_mask=None if source_real is None else ~source_real[:, 0],
        )

    real = None if target_real is None else target_real.mT
    inputs = [draw(batch_size, T, D), draw(batch_size, S, D, seed=1)]
    assert_same_block(ours, library, call, call_library, inputs, real)


@both_paths
@norms
@activations
@pytest.mark.parametrize("padded", [False, True])
def test_a_decoder_block_equals_the_librarys(padded, activation, norm, need_weights):
    library = library_layer(nn.TransformerDecoderLayer, norm, activation)
    ours = loaded(DecoderBlock, library, norm=norm, activation=activation)
    for sizes in SIZES:
        assert_same_decoder_block(ours, library, sizes, padded, need_weights)


class NoWayPast(Residual):
    """Pre-norm that adds to what it has normalised, not to x."""

    def leave(self, x, y):
        return super().leave(self.norm(x) if self.pre else x, y)


class NoResidual(Residual):
    def leave(self, x, y):
        return super().leave(torch.zeros_like(x), y)


class Exchanged(Residual):
    def __init__(self, d_model, norm, dropout, layer):
        super().__init__(d_model, {"pre": "post", "post": "pre"}[norm], dropout, layer)


class NormOfTheSublayer(Residual):
    """x + LayerNorm(f(x)), neither of the two."""

    def enter(self, x):
        return x

    def leave(self, x, y):
        return x + self.norm(y)


class NextMask(CrossAttention):
    library = CrossAttention.library  # as it claims

    def read(self, x, memory, need_weights=False):
        return super().read(x, memory._replace(mask=memory.mask.roll(1, 0)), need_weights)


class MaskForgotten(CrossAttention):
    library = CrossAttention.library

    def read(self, x, memory, need_weights=False):
        return super().read(x, memory._replace(mask=None), need_weights)


class ScaledTwice(FeedForward):
    def forward(self, x):
        return super().forward(x) / math.sqrt(self.W_1.in_features)


class TanhGelu(FeedForward):
    def forward(self, x):
        return self.W_2(F.gelu(self.W_1(x), approximate="tanh"))


MISTAKEN_PARTS = {
    "pre and post exchanged": ("Residual", Exchanged),
    "nothing goes past the sublayer": ("Residual", NoResidual),
    "pre-norm adds to what is normed": ("Residual", NoWayPast),
    "a norm of what is added": ("Residual", NormOfTheSublayer),
    "feed-forward scaled": ("FeedForward", ScaledTwice),
    "gelu by tanh": ("FeedForward", TanhGelu),
    "mask of another source": ("CrossAttention", NextMask),
    "padding of the source seen": ("CrossAttention", MaskForgotten),
}
ONLY_PRE = ("pre-norm adds to what is normed", "post")  # there it is no mistake


@pytest.mark.parametrize(
    "mistake, norm",
    [pair for pair in itertools.product(MISTAKEN_PARTS, ("post", "pre")) if pair != ONLY_PRE],
)
def test_mistaken_blocks_are_found(mistake, norm, monkeypatch):
    name, part = MISTAKEN_PARTS[mistake]
    parts = Parts(feed_forward=part) if name == "FeedForward" else Parts()
    monkeypatch.setattr(blocks, name, part)
    monkeypatch.setattr(EncoderBlock, "check_library", lambda *_: None)  # which finds some, too
    choices = {"norm": norm, "activation": "gelu"}
    decoder = library_layer(nn.TransformerDecoderLayer, norm, "gelu")
    with pytest.raises(AssertionError):
        assert_same_decoder_block(loaded(DecoderBlock, decoder, parts, **choices), decoder)
    if name != "CrossAttention":
        encoder = library_layer(nn.TransformerEncoderLayer, norm, "gelu")
        with pytest.raises(AssertionError):
            assert_same_encoder_block(loaded(EncoderBlock, encoder, parts, **choices), encoder)


LIBRARY = nn.TransformerEncoderLayer, nn.TransformerDecoderLayer


@pytest.mark.parametrize("kind, theirs", [(EncoderBlock, LIBRARY[0]), (DecoderBlock, LIBRARY[1])])
@pytest.mark.parametrize(
    "options, message",
    [
        ({"nhead": 3}, "nhead"),
        ({"d_model": 12}, "self_attn.in_proj_weight"),
        ({"dim_feedforward": 9}, "linear1.weight"),
        ({"norm_first": True}, "norm_first"),
        ({"activation": "gelu"}, "activation"),
        ({"layer_norm_eps": 1e-6}, "layer_norm_eps"),
        ({"bias": False}, "self_attn.in_proj_bias"),
    ],
)
def test_a_library_layer_of_another_kind_is_refused(kind, theirs, options, message):
    ours = kind(chosen())
    before = copy.deepcopy(ours.state_dict())
    library = theirs(**{"d_model": D, "nhead": H, "dim_feedforward": F_} | options)
    with pytest.raises(ValueError, match=f"{theirs.__name__} .*{message}"):
        ours.load_library(library)
    with pytest.raises(ValueError, match="Linear .*: kind"):
        ours.load_library(nn.Linear(D, D))
    other = {EncoderBlock: LIBRARY[1], DecoderBlock: LIBRARY[0]}[kind]
    with pytest.raises(ValueError, match=f"{other.__name__} .*: kind"):
        ours.load_library(other(D, H, F_))
    assert all(torch.equal(weight, before[name]) for name, weight in ours.state_dict().items())


@pytest.mark.parametrize("kind, theirs", [(EncoderBlock, LIBRARY[0]), (DecoderBlock, LIBRARY[1])])
def test_a_block_that_computes_something_else_takes_nothing_of_the_library(kind, theirs):
    class Twice(kind):
        def forward(self, *inputs, **how):
            raise AssertionError("it is never called")

    with pytest.raises(ValueError, match="Twice computes something else"):
        Twice(chosen()).load_library(theirs(D, H, F_))


class Gated(nn.Module):
    """A feed-forward layer with a gate, as some later models have it."""

    def __init__(self, d_model, d_ff, activation, dropout):
        super().__init__()
        self.W = nn.Linear(d_model, 2 * d_ff)
        self.W_2 = nn.Linear(d_ff, d_model)

    def forward(self, x):
        a, b = self.W(x).chunk(2, dim=-1)
        return self.W_2(F.silu(a) * b)


def with_eps(block):
    block.residuals[-1].norm.eps = 1e-6


def with_gelu(block):
    block.feed_forward.activation = F.gelu


def other_way_round(block):
    block.residuals[0].pre = True


@pytest.mark.parametrize(
    "parts, change, message",
    [
        (Parts(norm=nn.RMSNorm), None, "without Parts"),
        (Parts(feed_forward=Gated), None, "without Parts"),
        (Parts(), with_eps, "without Parts"),
        (Parts(), with_gelu, "without Parts"),
        (Parts(), other_way_round, "without Parts"),
        (Parts(partial(nn.LayerNorm, eps=1e-6)), None, "without Parts"),
        (Parts(partial(nn.LayerNorm, bias=False)), None, "without Parts"),
        (Parts(feed_forward=partial(FeedForward, bias=False)), None, "without Parts"),
        (
            Parts(attention=partial(MultiHeadAttention, attend=BiasedAttention(Alibi(H)))),
            None,
            "rotary .*attend ",
        ),
    ],
)
@pytest.mark.parametrize("kind, theirs", [(EncoderBlock, 0), (DecoderBlock, 1)])
def test_a_block_of_other_parts_loads_no_library_layer(kind, theirs, parts, change, message):
    ours = kind(chosen(), parts)
    if change is not None:
        change(ours)
    before = copy.deepcopy(ours.state_dict())
    with pytest.raises(ValueError, match=message):
        ours.load_library(LIBRARY[theirs](D, H, F_))
    assert all(torch.equal(weight, before[name]) for name, weight in ours.state_dict().items())


def test_each_norm_and_each_attention_of_the_librarys_layer_is_looked_at():
    for part, attribute, value in (("norm3", "eps", 1e-6), ("multihead_attn", "num_heads", 2)):
        library = LIBRARY[1](D, H, F_)
        setattr(getattr(library, part), attribute, value)
        with pytest.raises(ValueError, match=part):
            DecoderBlock(chosen()).load_library(library)


def test_rotary_positions_load_no_library_model():
    model = Transformer(chosen(positions="rotary", last_norm=True))
    before = copy.deepcopy(model.state_dict())
    with pytest.raises(ValueError, match="rotary .*attend "):
        model.load_library(library_model().float())
    assert all(torch.equal(weight, before[name]) for name, weight in model.state_dict().items())


def test_a_last_norm_of_another_kind_loads_no_library_model():
    library = library_model().float()
    library.encoder.norm.eps = 1e-6
    with pytest.raises(ValueError, match="last norms .*1e-06"):
        Transformer(chosen(last_norm=True)).load_library(library)
    parts = Parts(norm=nn.RMSNorm)
    with pytest.raises(ValueError, match="last norms .*RMSNorm"):
        Transformer(chosen(last_norm=True), parts).load_library(library_model().float())


@norms
def test_a_model_is_made_of_the_parts_that_it_is_given(norm):
    biased = partial(MultiHeadAttention, attend=BiasedAttention(Alibi(H)))
    parts = Parts(nn.RMSNorm, Gated, biased)
    choices = chosen(norm=norm, positions=None, last_norm=True)
    encoder, decoder = Encoder(choices, parts).double(), DecoderOnly(choices, parts).double()
    for model in (encoder, decoder, EncoderOnly(choices, 3, parts), Transformer(choices, parts)):
        found = [type(module) for module in model.modules()]
        assert nn.LayerNorm not in found and FeedForward not in found
        assert {nn.RMSNorm, Gated, BiasedAttention} <= set(found)
    x, block = draw(B, T, D), encoder.blocks[0]
    y, _ = block(x, is_causal=True)
    first, second = (residual.norm for residual in block.residuals)
    bias = Alibi(H)(T, T)

    def attend(x):
        q, k, v = block.self_attention.project(x, None)
        context, _ = dot_product_attention(q, k, v, is_causal=True, bias=bias)
        return block.self_attention.W_o(merge_heads(context))

    if norm == "pre":
        x = x + attend(first(x))
        expected = x + block.feed_forward(second(x))
    else:
        x = first(x + attend(x))
        expected = second(x + block.feed_forward(x))
    torch.testing.assert_close(y, expected, **EXACT)
    ids = drawn_ids(B, T)
    whole, _ = decoder(ids)
    head, state = decoder(ids[:, :2])
    tail, _ = decoder(ids[:, 2:], state)
    torch.testing.assert_close(torch.cat([head, tail], dim=1), whole, **EXACT)


# The whole model, and the library's ---------------------------------------------------------------


def library_model(norm="post", activation="relu", **options) -> nn.Transformer:
    options = {"activation": activation, "norm_first": norm == "pre"} | options
    sizes = {"num_encoder_layers": L, "num_decoder_layers": L, "dim_feedforward": F_}
    model = nn.Transformer(D, H, **sizes, dropout=0.0, batch_first=True, **options)
    return randomised(model, seed=3)


def assert_same_model(ours: Transformer, library: nn.Transformer, sizes=(B, T, S)) -> None:
    """Compare what lies between embedding and output, which the library does not have."""
    batch_size, T, S = sizes
    source_real = padding_mask(lengths_up_to(S, batch_size), S)
    target_real = padding_mask(lengths_up_to(T, batch_size).flip(0), T)

    def call(source, target):
        annotations, _ = ours.encoder.run(source, source_real[:, None])
        memory = ours.decoder.remember(annotations, source_real[:, None])
        return ours.decoder.run(target, memory)[0]

    def call_library(source, target):
        return library(
            source,
            target,
            tgt_mask=~causal_mask(T),
            src_key_padding_mask=~source_real[:, 0],
            tgt_key_padding_mask=~target_real[:, 0],
            memory_key_padding_mask=~source_real[:, 0],
        )

    inputs = [draw(batch_size, S, D), draw(batch_size, T, D, seed=1)]
    assert_same_block(ours, library, call, call_library, inputs, target_real.mT)


@norms
@activations
@pytest.mark.parametrize("sizes", SIZES, ids=str)
def test_the_model_equals_the_librarys(sizes, activation, norm):
    library = library_model(norm, activation)
    choices = {"norm": norm, "activation": activation, "last_norm": True}
    assert_same_model(loaded(Transformer, library, **choices), library, sizes)


def test_pre_norm_ends_with_a_norm_and_the_papers_post_norm_does_not():
    library = library_model("pre")
    assert_same_model(loaded(Transformer, library, norm="pre"), library)
    with pytest.raises(ValueError, match=" 2 .*without .* 2 .*with .*last_norm"):
        Transformer(chosen(norm="post")).load_library(library_model("post"))
    library.encoder.norm = library.decoder.norm = None
    assert_same_model(loaded(Transformer, library, norm="pre", last_norm=False), library)


@pytest.mark.parametrize("side", ["encoder", "decoder"])
def test_a_forgotten_last_norm_is_found(side):
    library = library_model("pre")
    ours = loaded(Transformer, library, norm="pre")
    assert_same_model(ours, library)
    getattr(ours, side).norm.forward = lambda x: x
    with pytest.raises(AssertionError):
        assert_same_model(ours, library)


def test_a_library_model_of_another_depth_is_refused():
    with pytest.raises(ValueError, match=" 3 blocks.* 2 blocks.*n_layers"):
        Transformer(chosen(n_layers=3, last_norm=True)).load_library(library_model())


# Known targets ------------------------------------------------------------------------------------

MODELS = {
    "the paper's": {},
    "pre, gelu": {"norm": "pre", "activation": "gelu"},
    "learned": {"positions": "learned", "max_len": 9, "tied": False},
    "rotary": {"positions": "rotary", "norm": "pre"},
    "shared keys": {"n_kv_heads": 2, "positions": None},
    "two vocabularies": {"target_vocab_size": V_T},
}
kinds = pytest.mark.parametrize("choices", MODELS.values(), ids=MODELS)


def build(kind=Transformer, *sizes, **choices) -> nn.Module:
    """Return a model in which every weight is random, and no softmax is saturated."""
    model = kind(chosen(**choices), *sizes).double()
    for index, parameter in enumerate(model.parameters()):
        scale = 1 / math.sqrt(parameter.shape[-1]) if parameter.dim() > 1 else 0.5
        parameter.data = scale * draw(*parameter.shape, seed=index)
        if parameter.dim() == 1:
            parameter.data += 0.5
    return model


def source_and_target(batch_size=B, S=S, T=T, V_T=V_T):
    lengths = lengths_up_to(S, batch_size)
    source = drawn_ids(batch_size, S).where(torch.arange(S) < lengths[:, None], PAD)
    return source, lengths, drawn_ids(batch_size, T, vocab_size=V_T, seed=1)


@kinds
def test_shapes_and_padding_and_neighbours_in_the_batch(choices):
    model = build(**choices)
    V = choices.get("target_vocab_size", 11)
    for batch_size in (B, T, H):
        source, lengths, target = source_and_target(batch_size)
        logits, weights = model(source, lengths, target, need_weights=True)
        assert logits.shape == (batch_size, T, V) and weights.shape == (batch_size, T, S)
        torch.testing.assert_close(weights.sum(-1), torch.ones_like(weights[..., 0]), **EXACT)
        torch.testing.assert_close(model(source, lengths, target), logits, **EXACT)
        for b, length in enumerate(lengths):
            one = slice(b, b + 1)
            assert torch.all(weights[b, :, length:] == 0)
            alone = model(source[one, :length], lengths[one], target[one])
            torch.testing.assert_close(alone, logits[one], **EXACT)


@kinds
def test_the_future_changes_nothing_and_the_source_changes_all(choices):
    model = build(**choices)
    source, lengths, target = source_and_target()
    logits = model(source, lengths, target)
    for t in range(1, T):
        other = target.clone()
        other[:, t:] = (target[:, t:] - 2) % 6 + 3  # each another symbol
        changed = model(source, lengths, other)
        torch.testing.assert_close(changed[:, :t], logits[:, :t], rtol=0, atol=1e-12)
        assert ((changed - logits)[:, t:].abs().amax(dim=-1) > 1e-6).all()
    source = source.clone()
    source[:, 0] = (source[:, 0] - 2) % 6 + 3
    assert ((model(source, lengths, target) - logits).abs().amax(dim=-1) > 1e-6).all()


def test_a_mistaken_mask_lets_the_source_see_padding(monkeypatch):
    monkeypatch.setattr(models, "padding_mask", lambda *a: padding_mask(*a).roll(1, 0))
    with pytest.raises(AssertionError):
        test_shapes_and_padding_and_neighbours_in_the_batch({})


def test_without_positions_the_order_of_the_source_is_invisible():
    source, lengths, target = source_and_target()
    order = torch.tensor([3, 0, 4, 1, 6, 2, 5])
    lengths = torch.full_like(lengths, S)
    for choices, seen in (({"positions": None}, False), ({}, True), (MODELS["rotary"], True)):
        model = build(**choices)
        unlike = model(source[:, order], lengths, target) - model(source, lengths, target)
        assert (unlike.abs().max() > 1e-6) == seen


def test_every_weight_learns_something():
    model = build(positions="learned", norm="pre", tied=False)
    source, lengths, target = source_and_target()
    sequence_loss(model(source, lengths, shift(target)), target).backward()
    for name, parameter in model.named_parameters():
        assert parameter.grad.isfinite().all() and parameter.grad.abs().max() > 1e-8, name


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
@kinds
def test_half_precision_is_finite(choices, dtype):
    model = build(**choices).to(dtype)
    source, lengths, target = source_and_target()
    for need_weights in (True, False):
        logits = model(source, lengths, target, need_weights)
        logits = logits[0] if need_weights else logits
        model.zero_grad()
        logits.float().log_softmax(-1)[..., 3].sum().backward()
        assert logits.dtype == dtype and logits.isfinite().all()
        assert all(parameter.grad.isfinite().all() for parameter in model.parameters())


def test_all_heads_can_be_looked_at():
    model = build()
    source, lengths, target = source_and_target()
    looks = model.attention_weights(source, lengths, target)
    shapes = (B, L, H, S, S), (B, L, H, T, T), (B, L, H, T, S)
    for weights, shape in zip(looks, shapes, strict=True):
        assert weights.shape == shape
        torch.testing.assert_close(weights.sum(-1), torch.ones(shape[:-1]).double(), **EXACT)
    assert torch.all(looks.source[1, ..., lengths[1] :] == 0)
    assert torch.all(looks.target[..., ~causal_mask(T)] == 0)
    _, alignment = model(source, lengths, target, need_weights=True)
    torch.testing.assert_close(looks.cross.mean(dim=(1, 2)), alignment, **EXACT)
    assert looks.cross.std(dim=1).max() > 1e-3 and looks.cross.std(dim=2).max() > 1e-3


def test_weights_are_returned_where_they_are_asked_for_alone():
    (source, lengths, target), ids, x = source_and_target(), drawn_ids(B, T), draw(B, T, D)
    model, language_model = build(), build(DecoderOnly)
    encoder, decoder = model.encoder, model.decoder
    memory = decoder.remember(encoder(source)[0], torch.ones(1, 1, 1, S, dtype=torch.bool))
    of_block = decoder.blocks[0].remember(draw(B, S, D))
    for weights in (
        *encoder(source)[1:],
        *encoder.run(x)[1:],
        *encoder.blocks[0](x)[1:],
        *decoder(target, decoder.start(B), memory)[2:],
        *decoder.run(x, memory)[1:],
        *decoder.blocks[0](x, of_block)[1:],
        *decoder.blocks[0].cross_attention.read(x, of_block)[1:],
        language_model.read(ids, as_caches(language_model(ids)[1], L))[1],
    ):
        assert weights is None
    for logits in (
        model(source, lengths, target),
        build(EncoderOnly, 3)(ids),
        build(Tagger, 3)(ids),
    ):
        assert isinstance(logits, torch.Tensor)
    assert len(language_model(ids)) == 2


def test_what_is_not_called_causal_sees_the_future():
    model, ids, x = build(Tagger, 3), drawn_ids(B, T), draw(B, T, D)
    for layer in (model.encoder.blocks[0], model.encoder.run):
        assert torch.equal(layer(x)[0], layer(x, is_causal=False)[0])
        assert not torch.equal(layer(x)[0], layer(x, is_causal=True)[0])
    changed = ids.clone()
    changed[:, -1] = EOS
    assert not torch.allclose(model(ids)[:, 0], model(changed)[:, 0])


def test_the_defaults_are_the_papers_base_model():
    config = TransformerConfig(37_000)
    assert (config.d_model, config.n_heads, config.d_ff, config.n_layers) == (512, 8, 2048, 6)
    assert (config.activation, config.norm, config.positions) == ("relu", "post", "sinusoidal")
    assert config.tied and config.dropout == 0.1
    logits, target = draw(2, 3, V), drawn_ids(2, 3)
    smoothed = label_smoothing_loss(logits, target)
    assert torch.equal(smoothed, label_smoothing_loss(logits, target, smoothing=0.1))
    rates = [warmup_rate(step, d_model=512) for step in (3999, 4000, 4001)]
    assert max(rates) == rates[1]


def test_dropout_is_on_in_training_alone():
    model = build(dropout=0.3)
    source, lengths, target = source_and_target()
    torch.manual_seed(0)
    assert (model(source, lengths, target) - model(source, lengths, target)).abs().max() > 1e-3
    expected = build()(source, lengths, target)
    torch.testing.assert_close(model.eval()(source, lengths, target), expected, **EXACT)


def test_dropout_has_its_rate_in_every_place_and_each_place_is_used():
    model = build(dropout=0.3)
    used, places = [], [m for m in model.modules() if isinstance(m, nn.Dropout)]
    for place in places:
        place.register_forward_hook(lambda place, *_: used.append(place))
    model(*source_and_target())
    assert len(places) == len(used) == 2 + L * (2 + 1) + L * (3 + 1)  # inputs, sublayers, inside
    assert set(used) == set(places) and {place.p for place in places} == {0.3}
    attentions = [m for m in model.modules() if isinstance(m, MultiHeadAttention)]
    assert [attention.dropout for attention in attentions] == [0.3] * 3 * L


# Step by step -------------------------------------------------------------------------------------


def assert_steps_equal_the_whole(model: Transformer) -> None:
    """Compare a target in one go with every cut into two, and with one symbol at a time."""
    source, lengths, target = source_and_target(T=6)
    target = shift(target)
    whole, weights = model(source, lengths, target, need_weights=True)
    for sizes in [(cut, 6 - cut) for cut in range(1, 6)] + [(1,) * 6, (2, 1, 3)]:
        state, memory = model.encode(source, lengths)
        logits, looked = [], []
        for piece in target.split(sizes, dim=1):
            y, state, w = model.decoder(piece, state, memory, need_weights=True)
            logits.append(y)
            looked.append(w)
        torch.testing.assert_close(torch.cat(logits, dim=1), whole, **EXACT)
        torch.testing.assert_close(torch.cat(looked, dim=1), weights, **EXACT)
        for key, value in state:
            n_kv_heads = model.decoder.config.n_kv_heads or H
            assert key.shape == value.shape == (B, n_kv_heads, 6, D // H)


@kinds
def test_decoding_equals_teacher_forcing_at_every_step(choices):
    assert_steps_equal_the_whole(build(**choices))


def test_a_forgotten_start_is_found(monkeypatch):
    forward = SinusoidalPositions.forward
    monkeypatch.setattr(SinusoidalPositions, "forward", lambda self, x, start: forward(self, x))
    with pytest.raises(AssertionError):
        assert_steps_equal_the_whole(build())


def test_a_state_in_which_blocks_are_exchanged_is_found():
    model = build()
    decode = model.decoder.forward

    def mistaken(target_in, state, memory, need_weights=False):
        logits, state, weights = decode(target_in, state, memory, need_weights)
        return logits, tuple(reversed(state)), weights

    model.decoder.forward = mistaken
    with pytest.raises(AssertionError):
        assert_steps_equal_the_whole(model)


def test_a_source_is_read_once_however_many_steps_follow(monkeypatch):
    calls, remember = [], CrossAttention.remember
    monkeypatch.setattr(
        CrossAttention, "remember", lambda *a, **k: calls.append(1) or remember(*a, **k)
    )
    source, lengths, _ = source_and_target()
    greedy_decode(build(), source, lengths, max_len=6)
    assert len(calls) == L


def test_a_state_goes_on_in_two_ways():
    model = build()
    source, lengths, target = source_and_target()
    state, memory = model.encode(source, lengths)
    _, state, _ = model.decoder(target[:, :2], state, memory)
    before = each(torch.clone, state)
    one, _, _ = model.decoder(target[:, 2:3], state, memory)
    model.decoder(target[:, 3:4], state, memory)
    again, _, _ = model.decoder(target[:, 2:3], state, memory)
    assert torch.equal(one, again)
    assert each(len, state) == each(len, before)
    for (k, v), (k_0, v_0) in zip(state, before, strict=True):
        assert torch.equal(k, k_0) and torch.equal(v, v_0)


@kinds
def test_greedy_decoding_follows_what_teacher_forcing_prefers(choices):
    model = build(**choices)
    source, lengths, _ = source_and_target()
    ids, weights = greedy_decode(model, source, lengths, max_len=6, need_weights=True)
    logits = model(source, lengths, shift(ids))
    logits[..., [PAD, BOS]] = -torch.inf
    preferred = logits.argmax(dim=-1)
    assert torch.equal(preferred[ids != PAD], ids[ids != PAD])
    forced = forced_weights(model, source, lengths, ids)
    torch.testing.assert_close(weights[ids != PAD], forced[ids != PAD], **EXACT)
    assert torch.all(weights[ids == PAD] == 0)


@kinds
def test_a_beam_of_one_is_greedy(choices):
    model = build(**choices)
    source, lengths, _ = source_and_target()
    greedy = greedy_decode(model, source, lengths, max_len=5)
    ids, _ = beam_search(model, source, lengths, width=1, max_len=5)
    assert torch.equal(ids, greedy)


@norms
@pytest.mark.parametrize("length_penalty", [0.0, 1.0])
def test_a_wide_beam_finds_the_best_of_all_targets(length_penalty, norm):
    max_len, symbols = 3, (3, 4)
    model = build(target_vocab_size=5, norm=norm)
    source, lengths, _ = source_and_target()
    ids, score = beam_search(model, source, lengths, 8, max_len, length_penalty)
    for b in range(B):
        best = -math.inf, None
        for n in range(max_len):
            for said in itertools.product(symbols, repeat=n):
                y = torch.tensor([[*said, EOS]])
                logits = model(source[b : b + 1], lengths[b : b + 1], shift(y))
                log_p = logits.log_softmax(-1).gather(2, y[..., None]).sum().item()
                best = max(best, (log_p / (n + 1) ** length_penalty, [*said, EOS]))
        found = ids[b][ids[b] != PAD].tolist()
        assert found == best[1] and score[b].item() == pytest.approx(best[0], abs=1e-10)


def test_it_learns_to_copy_and_decodes_what_it_learned():
    torch.manual_seed(0)
    sizes = {"d_model": 32, "d_ff": 64, "n_layers": 1}
    model = Transformer(chosen(vocab_size=8, norm="pre", **sizes))
    optimiser = torch.optim.Adam(model.parameters(), lr=5e-3)
    lengths = torch.full((64,), 4)
    for step in range(200):
        source = drawn_ids(64, 4, vocab_size=8, seed=step)
        target = F.pad(source, (0, 1), value=EOS)
        loss = label_smoothing_loss(model(source, lengths, shift(target)), target, 0.1)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    unseen = drawn_ids(64, 4, vocab_size=8, seed=1000)
    expected = F.pad(unseen, (0, 1), value=EOS)
    assert torch.equal(greedy_decode(model, unseen, lengths, max_len=6), expected)
    assert torch.equal(beam_search(model, unseen, lengths, 3, 6, 0.6)[0], expected)


# One of the two -----------------------------------------------------------------------------------


def test_a_tagger_sums_what_stands_at_a_position():
    model, ids = build(Tagger, 5, positions=None), drawn_ids(B, T * 2).view(B, T, 2)
    logits, weights = model(ids, need_weights=True)
    assert logits.shape == (B, T, 5) and weights.shape == (B, L, H, T, T)
    torch.testing.assert_close(model(ids.flip(2)), logits, **EXACT)
    summed = sum(model.encoder.embedding.symbols(ids[:, :, i]) for i in (0, 1))
    expected = model.output(model.encoder.run(summed)[0])
    torch.testing.assert_close(logits, expected, **EXACT)


def test_a_tagger_of_single_symbols_reads_them_as_the_encoder_does():
    model, ids = build(Tagger, 5), drawn_ids(B, T)
    torch.testing.assert_close(model(ids), model.output(model.encoder(ids)[0]), **EXACT)


@kinds
def test_the_classifier_reads_what_is_real(choices):
    model = build(EncoderOnly, 3, **choices)
    for batch_size in (B, H):
        source, lengths, _ = source_and_target(batch_size)
        logits, weights = model(source, lengths, need_weights=True)
        assert logits.shape == (batch_size, 3) and weights.shape == (batch_size, L, H, S, S)
        for b, length in enumerate(lengths):
            alone = model(source[b : b + 1, :length])
            torch.testing.assert_close(alone, logits[b : b + 1], **EXACT)
            assert torch.all(weights[b, ..., length:] == 0)
    last = model(drawn_ids(B, S)) - model(drawn_ids(B, S).index_fill(1, torch.tensor(S - 1), 3))
    assert last.abs().max() > 1e-6


@kinds
def test_the_language_model_goes_on_from_its_state(choices):
    model = build(DecoderOnly, **choices)
    ids = drawn_ids(B, 6)
    whole, _, weights = model(ids, need_weights=True)
    assert whole.shape == (B, 6, V) and weights.shape == (B, L, H, 6, 6)
    torch.testing.assert_close(model(ids)[0], whole, **EXACT)
    for sizes in [(cut, 6 - cut) for cut in range(1, 6)] + [(1,) * 6]:
        state, logits, seen = None, [], 0
        for piece in ids.split(sizes, dim=1):
            y, state, w = model(piece, state, need_weights=True)
            logits.append(y)
            end = seen + piece.shape[1]
            torch.testing.assert_close(w, weights[..., seen:end, :end], **EXACT)
            seen = end
        torch.testing.assert_close(torch.cat(logits, dim=1), whole, **EXACT)
    changed = torch.cat([ids[:, :3], (ids[:, 3:] - 2) % 6 + 3], dim=1)
    torch.testing.assert_close(model(changed)[0][:, :3], whole[:, :3], rtol=0, atol=1e-12)


ALIBI = Parts(attention=partial(MultiHeadAttention, attend=BiasedAttention(Alibi(H))))
FRONT = {
    "sinusoidal": ({}, ()),
    "learned": ({"positions": "learned", "max_len": 9}, ()),
    "rotary": ({"positions": "rotary", "n_kv_heads": 2}, ()),
    "a bias": ({"positions": None}, (ALIBI,)),
    "none": ({"positions": None, "norm": "pre"}, ()),
}
in_front = pytest.mark.parametrize("choices, parts", FRONT.values(), ids=FRONT)


def padded_in_front(lengths: torch.Tensor, size: int) -> torch.Tensor:
    ids = drawn_ids(len(lengths), size, seed=3)
    return ids.where(torch.arange(size) >= size - lengths[:, None], PAD)


@both_paths
@in_front
def test_padding_in_front_changes_nothing(choices, parts, need_weights):
    model, lengths = build(DecoderOnly, *parts, **choices), torch.tensor([3, 5, 1])
    ids = padded_in_front(lengths, 5)
    logits, _, *weights = model(ids, need_weights=need_weights, lengths=lengths)
    total = 0
    for b, length in enumerate(lengths):
        alone, _ = model(ids[b : b + 1, 5 - length :])
        torch.testing.assert_close(logits[b : b + 1, 5 - length :], alone, **EXACT)
        total = total + alone.square().sum()
        if need_weights:
            assert not weights[0][b, ..., : 5 - length].any()
    real = torch.arange(5) >= 5 - lengths[:, None]
    by = [
        torch.autograd.grad(loss, list(model.parameters()), materialize_grads=True)
        for loss in (logits[real].square().sum(), total)
    ]
    for ours, expected in zip(*by, strict=True):
        torch.testing.assert_close(ours, expected, **EXACT)


@in_front
def test_a_batch_writes_what_each_would_write_alone(choices, parts):
    model, lengths = build(DecoderOnly, *parts, **choices).eval(), torch.tensor([3, 5, 1])
    ids = padded_in_front(lengths, 5)

    def written(ids, lengths):
        def step(symbol, held):
            state, n = held
            n = None if n is None else n + 1
            logits, state = model(symbol[:, None], state, lengths=n)
            return logits[:, 0], (state, n)

        logits, state = model(ids, lengths=lengths)
        first = logits[:, -1].argmax(-1)
        return generate(step, (state, lengths), first, 4, lambda logits: logits.argmax(-1))

    with torch.no_grad():
        together = written(ids, lengths)
        for b, length in enumerate(lengths):
            alone = written(ids[b : b + 1, 5 - length :], None)
            assert torch.equal(together[b : b + 1], alone)


def test_lengths_that_do_not_fit_are_named():
    model, ids = DecoderOnly(chosen(positions="learned", max_len=6)), drawn_ids(2, 5)
    _, state = model(ids)
    for lengths, message in (
        (torch.tensor([5]), r" 2 .*\(1,\)"),
        (torch.tensor([5, 6]), " 6, .* 5 "),
        (torch.tensor([5, 0]), "length .* 0,"),
    ):
        with pytest.raises(ValueError, match=message):
            model(ids, lengths=lengths)
    model(ids[:, :3], state, lengths=torch.tensor([6, 4]))
    with pytest.raises(ValueError, match=" 5 .* 6:"):
        model(ids[:, :3], state, lengths=torch.tensor([7, 4]))


# Other precision, compiled, and empty -------------------------------------------------------------

CALLS = {
    "encoder-decoder": (Transformer, (), lambda s, n, t: (s, n, t)),
    "language model": (DecoderOnly, (), lambda s, n, t: (t,)),
    "classifier": (EncoderOnly, (3,), lambda s, n, t: (s, n)),
    "tagger": (Tagger, (3, True), lambda s, n, t: (s,)),
}
calls = pytest.mark.parametrize("kind, sizes, inputs", CALLS.values(), ids=CALLS)
all_positions = pytest.mark.parametrize("positions", ["sinusoidal", "learned", "rotary"])


def first_of(y):
    return y[0] if isinstance(y, tuple) else y


def test_blocks_under_autocast_are_as_the_librarys():
    for norm in ("pre", "post"):
        library = library_layer(nn.TransformerEncoderLayer, norm, "relu").float().train()
        ours = loaded(EncoderBlock, library, norm=norm).float()
        x = draw(B, T, D).float()
        found = []
        for block in (ours, library):
            block.zero_grad()
            with torch.autocast("cpu", dtype=torch.bfloat16):
                y = first_of(block(x))
            y.float().square().sum().backward()
            found.append((y, sum(p.grad.abs().sum() for p in block.parameters())))
        (y, by_ours), (expected, by_theirs) = found
        assert y.dtype == expected.dtype
        torch.testing.assert_close(y, expected, rtol=0.05, atol=0.05)
        assert by_ours.item() == pytest.approx(by_theirs.item(), rel=0.05)


@both_paths
@all_positions
@calls
def test_a_model_works_under_autocast(kind, sizes, inputs, positions, need_weights):
    model = build(kind, *sizes, positions=positions, n_kv_heads=2).float()
    given = inputs(*source_and_target())
    expected = first_of(model(*given))
    with torch.autocast("cpu", dtype=torch.bfloat16):
        found = first_of(model(*given, need_weights=need_weights))
    assert found.dtype == torch.bfloat16
    torch.testing.assert_close(found.float(), expected, rtol=0.1, atol=0.1)
    found.float().square().sum().backward()
    assert all(p.grad is None or p.grad.isfinite().all() for p in model.parameters())


@all_positions
@calls
def test_a_model_is_compiled_in_one_piece(kind, sizes, inputs, positions):
    torch._dynamo.reset()
    model = build(kind, *sizes, positions=positions)
    given = inputs(*source_and_target())
    compiled = torch.compile(model, fullgraph=True, backend="eager")
    options = {"lengths": lengths_up_to(T, B)} if kind is DecoderOnly else {}
    found, expected = (first_of(run(*given, **options)) for run in (compiled, model))
    torch.testing.assert_close(found, expected, **EXACT)
    gradients = [
        torch.autograd.grad(y.square().sum(), list(model.parameters()), materialize_grads=True)
        for y in (found, expected)
    ]
    for ours, theirs in zip(*gradients, strict=True):
        torch.testing.assert_close(ours, theirs, **EXACT)


@calls
def test_an_empty_batch_is_read(kind, sizes, inputs):
    model = build(kind, *sizes)
    source, lengths, target = source_and_target()
    y = first_of(model(*inputs(source[:0], lengths[:0], target[:0])))
    assert (
        len(y) == 0 and y.shape[1:] == first_of(model(*inputs(source, lengths, target))).shape[1:]
    )


def test_the_language_model_takes_any_cache():
    class Held:
        length, key, value = 0, None, None

        def append(self, key, value):
            held = self.length > 0
            self.key = torch.cat([self.key, key], dim=2) if held else key
            self.value = torch.cat([self.value, value], dim=2) if held else value
            self.length += key.shape[2]
            return self.key, self.value

    model, ids = build(DecoderOnly), drawn_ids(B, T)
    caches = [Held() for _ in range(L)]
    logits = [model.read(piece, caches)[0] for piece in ids.split((2, 1, 2), dim=1)]
    torch.testing.assert_close(torch.cat(logits, dim=1), model(ids)[0], **EXACT)


def test_the_language_model_streams_as_the_recurrent_one_does():
    model, ids = build(DecoderOnly), drawn_ids(B, 6)
    stream = Streaming(model)
    first, second = stream(ids[:, :4], True), stream(ids[:, 4:], False)
    whole = model(ids)[0].transpose(1, 2)
    torch.testing.assert_close(torch.cat([first, second], dim=2), whole, **EXACT)


def test_the_language_model_equals_the_librarys_blocks_with_a_causal_mask():
    layer = library_layer(nn.TransformerEncoderLayer, "pre", "gelu")
    library = randomised(nn.TransformerEncoder(layer, L, nn.LayerNorm(D)))
    model = build(DecoderOnly, norm="pre", activation="gelu")
    model.stack.load_library(library)
    ids = drawn_ids(B, T)
    features = library(model.stack.embedding(ids), mask=~causal_mask(T))
    torch.testing.assert_close(model(ids)[0], model.output(features), **EXACT)


# Counting -----------------------------------------------------------------------------------------


def counted(kind, *sizes, **choices) -> int:
    with torch.device("meta"):
        model = kind(TransformerConfig(**choices), *sizes)
    return sum(parameter.numel() for parameter in model.parameters())


def expected_count(D=512, F=2048, L=6, V=37_000, tables=1, decoder=True, norms=0) -> int:
    attention = 4 * (D * D + D)
    feed_forward = 2 * D * F + F + D
    norm = 2 * D
    encoder_block = attention + feed_forward + 2 * norm
    decoder_block = 2 * attention + feed_forward + 3 * norm
    return L * (encoder_block + decoder * decoder_block) + tables * V * D + norms * norm


def test_the_papers_base_model_has_63_million_weights():
    count = counted(Transformer, vocab_size=37_000)
    assert count == expected_count() == 63_082_496
    blocks_alone = count - 37_000 * 512
    library = nn.Transformer(device="meta")  # two last norms more
    assert blocks_alone == sum(p.numel() for p in library.parameters()) - 4 * 512


@pytest.mark.parametrize(
    "kind, sizes, choices, expected",
    [
        (Transformer, (), {"tied": False}, {"tables": 3}),
        (Transformer, (), {"target_vocab_size": 37_000}, {"tables": 2}),
        (Transformer, (), {"norm": "pre"}, {"norms": 2}),
        (Transformer, (), {"d_model": 256, "d_ff": 96, "n_layers": 2}, {"D": 256, "F": 96, "L": 2}),
        (DecoderOnly, (), {}, {"decoder": False}),
        (
            DecoderOnly,
            (),
            {"tied": False, "norm": "pre"},
            {"decoder": False, "tables": 2, "norms": 1},
        ),
        (EncoderOnly, (9,), {}, {"decoder": False}),
    ],
)
def test_weights_are_counted_by_a_formula(kind, sizes, choices, expected):
    head = sum(n * 513 for n in sizes)
    found = counted(kind, *sizes, vocab_size=37_000, **choices)
    assert found == expected_count(**expected) + head


def test_tied_weights_are_one():
    model = Transformer(chosen())
    tables = (
        model.encoder.embedding.symbols.weight,
        model.decoder.embedding.symbols.weight,
        model.decoder.output.weight,
    )
    assert all(table is tables[0] for table in tables)
    model = Transformer(chosen(target_vocab_size=V_T))
    assert model.decoder.output.weight is model.decoder.embedding.symbols.weight
    assert model.encoder.embedding.symbols.weight.shape == (V, D)
    model = Transformer(chosen(tied=False))
    assert model.decoder.output.weight is not model.decoder.embedding.symbols.weight
    again = Transformer(chosen())
    again.load_state_dict(Transformer(chosen()).state_dict())
    assert again.encoder.embedding.symbols.weight is again.decoder.output.weight


# Training -----------------------------------------------------------------------------------------


def assert_smooths(loss) -> None:
    """Hold loss(logits, target, ε) to labels that are read off its gradient, p - q."""
    target = torch.tensor([[3, 5, EOS, PAD, PAD], [4, EOS, PAD, PAD, PAD], [6, 3, 3, 3, EOS]])
    n = int((target != PAD).sum())
    for V, smoothing in ((7, 0.1), (9, 0.3), (7, 0.0)):
        logits = draw(3, 5, V).requires_grad_()
        value = loss(logits, target, smoothing)
        (gradient,) = torch.autograd.grad(value, logits)
        assert torch.all(gradient[target == PAD] == 0)
        q = (logits.softmax(-1) - n * gradient).detach()[target != PAD]  # the labels
        torch.testing.assert_close(q.sum(-1), torch.ones(n).double(), **EXACT)
        expected = torch.full((n, V), smoothing / (V - 1), dtype=torch.float64)
        expected[:, PAD] = 0
        expected[range(n), target[target != PAD]] += 1 - smoothing
        torch.testing.assert_close(q, expected, **EXACT)
        log_p = logits.detach().log_softmax(-1)[target != PAD]
        torch.testing.assert_close(value, -(q * log_p).sum() / n, **EXACT)
    logits = draw(3, 5, 7)
    torch.testing.assert_close(loss(logits, target, 0.0), sequence_loss(logits, target), **EXACT)
    wider = F.pad(logits, (0, 0, 0, 2)), F.pad(target, (0, 2))
    torch.testing.assert_close(loss(*wider, 0.1), loss(logits, target, 0.1), **EXACT)
    logits[..., PAD] = -torch.inf  # as for symbols that are never said
    assert loss(logits, target, 0.1).isfinite()
    logits[..., BOS] = -torch.inf
    assert loss(logits, target, 0.0).isfinite()


def smoothing_variant(classes=lambda V: V - 1, left=lambda e: 1 - e, padding=False, mean="real"):
    """Return a loss as people write it, with labels that are filled in, and room for mistakes."""

    def loss(logits, target, smoothing):
        V = logits.shape[-1]
        q = torch.full_like(logits, smoothing / classes(V))
        q.scatter_add_(2, target[..., None], torch.full_like(logits[..., :1], left(smoothing)))
        if not padding:
            q[..., PAD] = 0
        log_p = logits.log_softmax(-1)
        losses = -torch.where(q == 0, 0, q * log_p).sum(-1)
        if mean == "no mask":
            return losses.mean()
        losses = losses[target != PAD]
        return losses.sum() / target.numel() if mean == "all" else losses.mean()

    return loss


def by_divergence(logits, target, smoothing):
    """KL(q ‖ p) with q·log q written out, and log 0 in it."""
    real = target != PAD
    q = torch.full_like(logits[real], smoothing / (logits.shape[-1] - 1))
    q.scatter_add_(1, target[real][:, None], torch.full_like(q[:, :1], 1 - smoothing))
    q[:, PAD] = 0
    log_p = logits[real].log_softmax(-1)
    return (q * (q.log() - log_p)).sum(-1).mean()


MISTAKEN_SMOOTHING = {
    "padding gets a share": smoothing_variant(classes=lambda V: V, padding=True),
    "padding's share is lost": smoothing_variant(classes=lambda V: V),
    "the mass is more than 1": smoothing_variant(left=lambda e: 1.0),
    "a share for one class too few": smoothing_variant(classes=lambda V: V - 2),
    "padded rows count": smoothing_variant(mean="no mask"),
    "padding in the denominator": smoothing_variant(mean="all"),
    "log 0": by_divergence,
    "the library's, padding as a class": lambda logits, target, e: F.cross_entropy(
        logits.flatten(0, 1), target.flatten(), ignore_index=PAD, label_smoothing=e
    ),
}


def test_smoothed_labels_sum_to_one_and_padding_gets_nothing():
    assert_smooths(label_smoothing_loss)
    assert_smooths(smoothing_variant())


@pytest.mark.parametrize("loss", MISTAKEN_SMOOTHING.values(), ids=MISTAKEN_SMOOTHING)
def test_mistaken_smoothing_is_found(loss):
    with pytest.raises(AssertionError):
        assert_smooths(loss)


def assert_warms_up(rate) -> None:
    """Hold rate(step, d_model, warmup) to the paper's formula, from the first step on."""
    for d_model, warmup in ((512, 4000), (64, 10), (1, 1)):
        peak = 1 / math.sqrt(d_model * warmup)
        for share in (1, 2, warmup):  # a line from 0, which step 1 leaves
            step = max(1, warmup // share)
            assert rate(step, d_model, warmup) == pytest.approx(peak * step / warmup, rel=1e-12)
        assert rate(1, d_model, warmup) == pytest.approx(peak / warmup, rel=1e-12)
        assert rate(4 * warmup, d_model, warmup) == pytest.approx(peak / 2, rel=1e-12)


MISTAKEN_RATES = {
    "a step behind": lambda step, d, w: warmup_rate(max(step - 1, 1), d, w),
    "a step ahead": lambda step, d, w: warmup_rate(step + 1, d, w),
    "starting at 0": lambda step, d, w: (step - 1) * warmup_rate(1, d, w),
    "the larger of the two": lambda step, d, w: d**-0.5 * max(step**-0.5, step * w**-1.5),
    "the width not in it": lambda step, d, w: warmup_rate(step, 1, w),
    "never falling": lambda step, d, w: warmup_rate(min(step, w), d, w),
}


def test_the_rate_rises_to_its_peak_and_falls():
    assert_warms_up(warmup_rate)
    rates = [warmup_rate(step, 512) for step in range(1, 10_001)]
    assert max(range(10_000), key=rates.__getitem__) == 4000 - 1


@pytest.mark.parametrize("rate", MISTAKEN_RATES.values(), ids=MISTAKEN_RATES)
def test_mistaken_rates_are_found(rate):
    with pytest.raises(AssertionError):
        assert_warms_up(rate)


def test_the_librarys_scheduler_counts_from_0():
    optimiser = torch.optim.Adam([nn.Parameter(torch.zeros(1))], lr=1.0)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimiser, lambda s: warmup_rate(s + 1, 512, 3))
    for step in range(1, 6):
        assert optimiser.param_groups[0]["lr"] == pytest.approx(warmup_rate(step, 512, 3))
        optimiser.step()
        schedule.step()


# Bad input ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "choices, message",
    [
        ({"n_heads": 5}, "^5 heads .* 24"),
        ({"n_kv_heads": 3}, "^3 heads .* 4 "),
        ({"d_model": 0}, "d_model .* 0"),
        ({"d_ff": 2.5}, "d_ff .* 2.5"),
        ({"n_layers": 0}, "n_layers .* 0"),
        ({"n_kv_heads": 0}, "n_kv_heads .* 0"),
        ({"target_vocab_size": 0}, "target_vocab_size .* 0"),
        ({"norm": "both"}, "norm 'both': .*'post', 'pre'"),
        ({"activation": "tanh"}, "activation 'tanh': .*'relu', 'gelu'"),
        ({"positions": "sine"}, "positions 'sine': .*'learned', 'rotary', None"),
        ({"dropout": 1.0}, "dropout .* 1.0"),
    ],
)
def test_a_model_that_cannot_be_is_named(choices, message):
    with pytest.raises(ValueError, match=message):
        chosen(**choices)


def test_layers_that_cannot_be_are_named():
    with pytest.raises(ValueError, match="norm 'both': .*'post', 'pre'"):
        Residual(D, "both", 0.0)
    with pytest.raises(ValueError, match="activation 'tanh': .*'relu'"):
        FeedForward(D, F_, "tanh")
    with pytest.raises(ValueError, match="d_ff .* 0"):
        FeedForward(D, 0)
    with pytest.raises(ValueError, match="positions 'waves': "):
        InputEmbedding(V, D, "waves", 5, 0.0)
    with pytest.raises(ValueError, match="d_k .* 3"):
        Transformer(chosen(d_model=12, positions="rotary"))
    with pytest.raises(ValueError, match="n_classes .* 0"):
        EncoderOnly(chosen(), 0)
    with pytest.raises(ValueError, match=r" 24\), .*\(3, 1\)"):
        LayerNorm(D)(torch.ones(3, 1))


SOURCE, LENGTHS, TARGET = source_and_target()


@pytest.mark.parametrize(
    "inputs, message",
    [
        ({"source": SOURCE[:, :0]}, r"\(3, 0, 24\)"),
        ({"target": TARGET[:, :0]}, r" 3 .*\(3, 0\)"),
        ({"target": TARGET[:2]}, r" 3 .*\(2, 5\)"),
        ({"lengths": LENGTHS[:2]}, r" 3 .*lengths.*\(2,\)"),
        ({"lengths": LENGTHS + 1}, " 8, .* 7 "),
        ({"lengths": LENGTHS - 5}, "length .* 0,"),
        ({"lengths": LENGTHS.double()}, " 3 .*lengths.*float64"),
        ({"source": SOURCE + 9}, "Ids .* 10 "),
        ({"source": SOURCE.double()}, "ids .*float64"),
        ({"target": TARGET + 9}, "Ids .* 10 "),
        ({"target": TARGET.repeat(1, 2)}, " 6 .* 0 .* 9:"),
    ],
)
def test_bad_input_is_named(inputs, message):
    model = Transformer(chosen(positions="learned", max_len=S))
    given = {"source": SOURCE, "lengths": LENGTHS, "target": TARGET} | inputs
    for call in (model, model.attention_weights):
        with pytest.raises(ValueError, match=message):
            call(*given.values())
    if "target" not in inputs:
        with pytest.raises(ValueError, match=message):
            EncoderOnly(chosen(), 2)(given["source"], given["lengths"])


def test_a_state_or_memory_that_does_not_fit_is_named():
    model = Transformer(chosen())
    state, memory = model.encode(SOURCE, LENGTHS)
    with pytest.raises(ValueError, match=" 3 sequences.* 2 "):
        model.decoder(TARGET[:2], state, memory)
    with pytest.raises(ValueError, match=" 2 blocks.* 1"):
        model.decoder(TARGET, state[:1], memory)
    with pytest.raises(ValueError, match=r"queries .*\(2, "):
        model.decoder(TARGET[:2], model.decoder.start(2), memory)
    language = DecoderOnly(chosen())
    _, state = language(TARGET)
    with pytest.raises(ValueError, match=" 3 sequences.* 2 "):
        language(TARGET[:2], state)
    with pytest.raises(ValueError, match=r"\(3, 0, 24\)"):
        language(TARGET[:, :0])
    with pytest.raises(ValueError, match=r" 24\), .*\(3, 7, 23\)"):
        model.decoder.blocks[0].remember(torch.ones(B, S, D - 1))


def test_losses_and_rates_that_cannot_be_are_named():
    logits = draw(B, T, V)
    for smoothing in (-0.1, 1.0):
        with pytest.raises(ValueError, match=f"smoothing .* {smoothing}"):
            label_smoothing_loss(logits, TARGET, smoothing)
    with pytest.raises(ValueError, match="padding"):
        label_smoothing_loss(logits, torch.zeros_like(TARGET))
    with pytest.raises(ValueError, match=r"\(3, 4, 11\).*\(3, 5\)"):
        label_smoothing_loss(logits[:, 1:], TARGET)
    for bad in ({"step": 0}, {"d_model": 0}, {"warmup": 0}, {"step": 1.5}):
        ((name, size),) = bad.items()
        with pytest.raises(ValueError, match=f"{name} .* {size}"):
            warmup_rate(**{"step": 1, "d_model": 512, "warmup": 4000} | bad)
