"""Day 10's parts equal a formula or the reference, fit into Day 6's blocks, and count as published.

What they give together is compared in test_pretraining_published.
"""

import math
from copy import deepcopy
from functools import partial

import pytest
import torch
from published import offline
from torch import nn
from torch.nn import functional as F

from utils.language import GatedFeedForward, QKNormAttention, UnscaledEmbedding
from utils.language.shift import ShiftedAttention
from utils.pretraining import (
    PUBLISHED,
    DampedOutput,
    MaskedLanguageModel,
    MaskedWordHead,
    PairEmbedding,
    Pooler,
    RelativeBias,
    SharedEncoder,
    TextToText,
    TextToTextConfig,
    UniversalEncoder,
    UnscaledAttention,
    published_sizes,
    relative_buckets,
)
from utils.pretraining.heads import FewerHeads
from utils.pretraining.low_rank import add_low_rank
from utils.pretraining.rounded import WholeAttention, has_exact_products, with_whole_products
from utils.self_attention import BiasedAttention, MultiHeadAttention
from utils.seq2seq import BOS, beam_search, forced_weights, greedy_decode
from utils.transformer import Encoder, EncoderOnly, Parts, TransformerConfig

EXACT = {"rtol": 0.0, "atol": 1e-12}
B, T, S, D, H, F_, V, E = 3, 5, 7, 24, 4, 40, 11, 6
SIZES = {"vocab_size": V, "d_model": D, "n_heads": H, "d_ff": F_, "n_layers": 2}
PARTS = Parts(embedding=partial(PairEmbedding, max_len=9))
GENERATOR = torch.Generator().manual_seed(0)
IDS = torch.randint(0, V, (B, T), generator=GENERATOR)
SOURCE = torch.randint(0, V, (B, S), generator=GENERATOR)
TYPES = torch.tensor([0, 0, 1, 1, 1]).expand(B, T)
LENGTHS = torch.tensor([5, 2, 4])

reference = pytest.fixture(offline, scope="module")


def encoder_config(**how: object) -> TransformerConfig:
    return TransformerConfig(**SIZES | {"positions": None, "dropout": 0.0} | how)


def masked(encoder=Encoder, **how: object) -> MaskedLanguageModel:
    torch.manual_seed(0)
    return MaskedLanguageModel(encoder_config(), PARTS, encoder, **how).double()


def text_to_text(**how: object) -> TextToText:
    torch.manual_seed(0)
    sizes = SIZES | {"d_k": 5, "dropout": 0.0, "n_buckets": 8, "max_distance": 6}
    model = TextToText(TextToTextConfig(**sizes | how)).double()
    with torch.no_grad():
        for module in model.modules():
            if isinstance(module, RelativeBias):
                module.table.normal_()
    return model


# Words, positions, sentences ----------------------------------------------------------------------


def test_an_embedding_of_pairs_normalises_the_sum_of_three_tables():
    layer = PairEmbedding(V, D, max_len=9).double()
    found = layer(IDS, TYPES)
    words, places = layer.words.weight[IDS], layer.positions.table[:T]
    expected = F.layer_norm(words + places + layer.types.weight[TYPES], (D,))
    torch.testing.assert_close(found, expected, **EXACT)
    torch.testing.assert_close(layer(IDS), layer(IDS, torch.zeros_like(IDS)), **EXACT)
    assert not torch.allclose(layer(IDS), found)


def test_a_narrow_embedding_is_widened_behind_its_norm():
    layer = PairEmbedding(V, D, max_len=9, n_types=0, width=E).double()
    narrow = F.layer_norm(layer.words.weight[IDS] + layer.positions.table[:T], (E,))
    expected = narrow @ layer.widen.weight.T + layer.widen.bias
    torch.testing.assert_close(layer(IDS), expected, **EXACT)
    assert {weight.shape[-1] for weight in (layer.words.weight, layer.positions.table)} == {E}


def test_its_rows_begin_small_as_gpts():
    torch.manual_seed(0)
    layer = PairEmbedding(1000, 64, max_len=500)
    for table in (layer.words.weight, layer.positions.table, layer.types.weight):
        assert table.std().item() == pytest.approx(0.02, rel=0.2)


@pytest.mark.parametrize(
    "how, ids, types, message",
    [
        ({"n_types": 0}, IDS, TYPES, "types out"),
        ({}, IDS, TYPES[:, 1:], r"\(3, 5\).*\(3, 4\)"),
        ({}, IDS, TYPES[:1], r"\(3, 5\).*\(1, 5\)"),
        ({}, IDS, 2 * TYPES, "Ids .* 1 .* 2"),
        ({}, IDS + V, None, "Ids .* 10 "),
        ({"max_len": 4}, IDS, None, " 3 .* 0 .* 4:"),
        ({"n_types": -1}, IDS, None, "n_types .* -1"),
        ({"width": 0}, IDS, None, "width .* 0"),
        ({"max_len": 0}, IDS, None, "max_len .* 0"),
    ],
)
def test_an_embedding_refuses_in_a_sentence(how, ids, types, message):
    with pytest.raises(ValueError, match=message):
        PairEmbedding(V, D, **{"max_len": 9} | how)(ids, types)


# A masked language model --------------------------------------------------------------------------


def test_a_head_says_of_one_vector_what_it_says_among_many():
    words = UnscaledEmbedding(V, E)
    head = MaskedWordHead(D, words, "gelu", partial(nn.LayerNorm, eps=1e-3)).double()
    nn.init.normal_(head.bias)
    x = torch.randn(B, T, D).double()
    inside = F.layer_norm(F.gelu(x @ head.transform.weight.T + head.transform.bias), (E,), eps=1e-3)
    expected = inside @ words.weight.double().T + head.bias
    torch.testing.assert_close(head(x), expected, **EXACT)
    hidden = torch.rand(B, T) < 0.4
    torch.testing.assert_close(head(x[hidden]), expected[hidden], **EXACT)
    assert head.weight is words.weight


def test_padding_changes_nothing():
    model = masked(pooled=True, ordered=True)
    whole = model.read(IDS, LENGTHS, TYPES)
    for row, n in enumerate(LENGTHS):
        alone = model.read(IDS[row : row + 1, :n], None, TYPES[row : row + 1, :n])
        torch.testing.assert_close(whole[row, :n], alone[0], **EXACT)
    order = model.order(model.pool(whole, LENGTHS))
    expected = torch.tanh(whole[:, 0] @ model.pool.W.weight.T + model.pool.W.bias)
    torch.testing.assert_close(order, model.order(expected), **EXACT)
    torch.testing.assert_close(model(IDS, LENGTHS, TYPES), model.head(whole), **EXACT)


def test_its_encoder_is_day_6s_and_goes_into_a_classifier():
    model = masked()
    torch.testing.assert_close(model.encoder(IDS, LENGTHS)[0], model.read(IDS, LENGTHS), **EXACT)
    assert model.pool is None and model.order is None
    classifier = EncoderOnly(encoder_config(), 2, PARTS, Pooler(D)).double()
    classifier.encoder = model.encoder
    classifier(IDS, LENGTHS).sum().backward()
    assert model.encoder.embedding.symbols.words.weight.grad.abs().max() > 0
    assert classifier.pool.W.weight.grad is not None


def test_dropout_comes_behind_the_norm_of_the_embedding():
    torch.manual_seed(0)
    model = MaskedLanguageModel(encoder_config(dropout=0.5), PARTS)
    entered = []
    model.encoder.blocks[0].register_forward_pre_hook(lambda _, x: entered.append(x[0]))
    model(IDS)
    normed = model.encoder.embedding.symbols(IDS)
    kept = entered[0] != 0
    assert 0.3 < kept.float().mean() < 0.7
    torch.testing.assert_close(entered[0][kept], 2 * normed[kept])


def test_types_that_say_nothing_change_nothing_nor_does_dropout():
    model = MaskedLanguageModel(encoder_config(dropout=0.5), PARTS)
    read = []
    for types in (None, torch.zeros_like(IDS)):
        torch.manual_seed(1)
        read.append(model.read(IDS, LENGTHS, types))
    assert torch.equal(*read)


@pytest.mark.parametrize("types", [None, TYPES])
def test_lengths_that_do_not_fit_are_refused(types):
    with pytest.raises(ValueError, match=" 6, .* 5 "):
        masked().read(IDS, torch.tensor([6, 1, 1]), types)


def test_types_are_refused_where_no_embedding_takes_them():
    with pytest.raises(ValueError, match="types out"):
        MaskedLanguageModel(encoder_config(positions="rotary")).read(IDS, LENGTHS, TYPES)


def test_a_shared_encoder_is_one_block_that_is_passed_often():
    shared, plain = masked(SharedEncoder), masked()
    first, second = shared.encoder.blocks
    assert first is second
    of_block = sum(weight.numel() for weight in first.parameters())
    counted = [sum(w.numel() for w in model.parameters()) for model in (shared, plain)]
    assert counted[1] - counted[0] == of_block
    twice = Encoder(encoder_config(), PARTS).double()
    twice.embedding = shared.encoder.embedding
    for block in twice.blocks:
        block.load_state_dict(first.state_dict())
    torch.testing.assert_close(shared.encoder(IDS)[0], twice(IDS)[0], **EXACT)
    shared.encoder(IDS)[0].square().sum().backward()
    twice(IDS)[0].square().sum().backward()
    gradients = [block.feed_forward.W_1.weight.grad for block in twice.blocks]
    torch.testing.assert_close(first.feed_forward.W_1.weight.grad, sum(gradients), **EXACT)


def test_an_embedding_without_positions_adds_none():
    layer = PairEmbedding(V, D, max_len=None).double()
    expected = F.layer_norm(layer.words.weight[IDS] + layer.types.weight[TYPES], (D,))
    torch.testing.assert_close(layer(IDS, TYPES), expected, **EXACT)


@pytest.mark.parametrize("norm", ["post", "pre"])
def test_a_universal_encoder_is_its_block_by_hand_and_signals_before_each_step(norm):
    torch.manual_seed(0)
    model = UniversalEncoder(encoder_config(n_layers=3, norm=norm)).double()
    first, second, third = model.blocks
    assert first.block is second.block is third.block
    x = model.embedding.symbols(IDS)
    for step in (1, 2, 3):
        for i in range(T):
            for j in range(0, D, 2):
                slow = 10_000 ** (j / D)
                x[:, i, j] += math.sin(i / slow) + math.sin(step / slow)
                x[:, i, j + 1] += math.cos(i / slow) + math.cos(step / slow)
        x, _ = first.block(x)
    torch.testing.assert_close(model(IDS)[0], model.norm(x), **EXACT)


def test_a_universal_encoders_gradient_is_the_sum_over_its_steps():
    torch.manual_seed(0)
    shared = UniversalEncoder(encoder_config()).double()
    twice = deepcopy(shared)
    for signalled in twice.blocks:
        signalled.block = deepcopy(signalled.block)
    for model in (shared, twice):
        model(IDS, LENGTHS)[0].square().sum().backward()
    name = "self_attention.W_in"
    first, second = (signalled.block.get_parameter(name).grad for signalled in twice.blocks)
    assert not torch.allclose(first, second)
    found = shared.blocks[0].block.get_parameter(name).grad
    torch.testing.assert_close(found, first + second, **EXACT)


def test_a_universal_encoder_tells_one_place_and_one_step_from_another():
    torch.manual_seed(0)
    model = UniversalEncoder(encoder_config(n_layers=1)).double()
    same = model(torch.full((1, T), 3))[0]
    assert not torch.allclose(same[:, 0], same[:, 1])
    x = torch.randn(1, T, D).double()
    other = UniversalEncoder(encoder_config(n_layers=2)).double().blocks[1]
    other.block = model.blocks[0].block
    assert not torch.allclose(other(x)[0], model.blocks[0](x)[0])


def test_padding_changes_nothing_in_a_universal_encoder():
    torch.manual_seed(0)
    model = UniversalEncoder(encoder_config()).double()
    whole, weights = model(IDS, LENGTHS, need_weights=True)
    assert weights.shape == (B, 2, H, T, T)
    for row, n in enumerate(LENGTHS):
        alone = model(IDS[row : row + 1, :n])[0]
        torch.testing.assert_close(whole[row, :n], alone[0], **EXACT)


# Distances ----------------------------------------------------------------------------------------

EACH = pytest.mark.parametrize(
    "n_buckets, max_distance", [(32, 128), (8, 9), (4, 3), (16, 128), (32, 20), (12, 40), (64, 512)]
)


@EACH
@pytest.mark.parametrize("is_causal", [False, True])
def test_buckets_are_the_references(n_buckets, max_distance, is_causal, reference):
    attention = reference.models.t5.modeling_t5.T5Attention
    n = 700
    t = torch.arange(n)
    expected = attention._relative_position_bucket(
        t - t[:, None], not is_causal, n_buckets, max_distance
    )
    found = relative_buckets(n, n, n_buckets, max_distance, is_causal)
    assert torch.equal(found, expected)
    assert torch.equal(relative_buckets(5, n, n_buckets, max_distance, is_causal), found[-5:])


def test_near_buckets_hold_one_distance_and_far_ones_more():
    of_last = relative_buckets(1, 13, 8, 12, is_causal=True)[0].flip(0)  # by distance, from 0
    assert of_last.tolist() == [0, 1, 2, 3, 4, 4, 5, 6, 6, 6, 7, 7, 7]
    both = relative_buckets(5, 5, 8, 12)
    assert both[2].tolist() == [2, 1, 0, 5, 6]
    ahead = relative_buckets(4, 4, 8, 12, is_causal=True)
    assert ahead[0].tolist() == [0, 0, 0, 0]


@pytest.mark.parametrize(
    "how, message",
    [
        ({"T": 0}, "^T .* 0"),
        ({"n_buckets": 0}, "n_buckets .* 0"),
        ({"n_buckets": 6}, "n_buckets .* 4, .* 6"),
        ({"n_buckets": 5, "is_causal": True}, "n_buckets .* 2, .* 5"),
        ({"n_buckets": 8, "max_distance": 2}, "max_distance .* 2, .* 2"),
        ({"n_buckets": 8, "max_distance": 4, "is_causal": True}, "max_distance .* 4, .* 4"),
    ],
)
def test_buckets_that_can_not_be_are_refused(how, message):
    with pytest.raises(ValueError, match=message):
        relative_buckets(**{"T": 3, "S": 3} | how)
    if "T" not in how:
        with pytest.raises(ValueError, match=message):
            RelativeBias(H, **how)


def test_buckets_and_heads_are_t5s_unless_they_are_told():
    """32 buckets up to 128, and heads 64 wide (Raffel et al., 2020, §2.1 and 3.1.1)."""
    for is_causal in (False, True):
        expected = relative_buckets(300, 300, 32, 128, is_causal)
        assert torch.equal(relative_buckets(300, 300, is_causal=is_causal), expected)
        bias = RelativeBias(H, is_causal=is_causal)
        with torch.no_grad():
            bias.table.copy_(torch.arange(32.0)[:, None].expand(32, H))
        assert torch.equal(bias(300, 300)[0], expected.float())
    c = TextToTextConfig(**SIZES)
    assert (c.n_buckets, c.max_distance, c.d_k, c.start, c.damped) == (32, 128, 64, 0, True)


def test_a_bias_reads_its_table_by_distance_head_by_head():
    bias = RelativeBias(H, 8, 9)
    assert torch.equal(bias(T, S), torch.zeros(H, T, S))
    nn.init.normal_(bias.table)
    found, buckets = bias(T, S), relative_buckets(T, S, 8, 9)
    for h in range(H):
        for t in range(T):
            for s in range(S):
                assert found[h, t, s] == bias.table[buckets[t, s], h]


# Attention without a scale ------------------------------------------------------------------------


def by_hand(layer: UnscaledAttention, x, memory, mask=None, bias=0.0):
    """softmax(q·k + bias) v, head by head."""
    q, k, v = layer.W_in.split(layer.rows)
    d_k, h = layer.rows[0] // layer.n_heads, layer.n_heads
    contexts = []
    for i in range(h):
        own = slice(i * d_k, (i + 1) * d_k)
        scores = (x @ q[own].T) @ (memory @ k[own].T).mT
        scores = scores + (bias[i] if isinstance(bias, torch.Tensor) else bias)
        if mask is not None:
            scores = scores.masked_fill(~mask, -torch.inf)
        contexts.append(scores.softmax(-1) @ (memory @ v[own].T))
    return torch.cat(contexts, dim=-1) @ layer.W_o.weight.T


@pytest.mark.parametrize("n_heads, d_k", [(4, 6), (5, 3), (3, 16)])
def test_scores_are_not_scaled_and_heads_of_any_width(n_heads, d_k):
    layer = UnscaledAttention(D, n_heads, d_k=d_k).double()
    x, memory = torch.randn(B, T, D).double(), torch.randn(B, S, D).double()
    torch.testing.assert_close(layer(x)[0], by_hand(layer, x, x), **EXACT)
    torch.testing.assert_close(layer(x, memory)[0], by_hand(layer, x, memory), **EXACT)
    with_weights, weights = layer(x, memory, need_weights=True)
    torch.testing.assert_close(with_weights, layer(x, memory)[0], **EXACT)
    assert weights.shape == (B, n_heads, T, S)
    prepared = layer.remember(memory)
    torch.testing.assert_close(layer.read(x, prepared)[0], by_hand(layer, x, memory), **EXACT)
    causal = torch.ones(T, T, dtype=torch.bool).tril()
    torch.testing.assert_close(layer(x, is_causal=True)[0], by_hand(layer, x, x, causal), **EXACT)
    assert {name for name, _ in layer.named_parameters()} == {"W_in", "W_o.weight"}
    bias = RelativeBias(n_heads, 8, 6).double()
    nn.init.normal_(bias.table)
    layer.attend = BiasedAttention(bias)
    torch.testing.assert_close(layer(x)[0], by_hand(layer, x, x, bias=bias(T, T)), **EXACT)


def test_its_scores_begin_with_a_variance_of_1():
    torch.manual_seed(0)
    layer = UnscaledAttention(512, 8, d_k=64)
    q, k, _ = layer.project(torch.randn(2, 200, 512), None)
    assert (q @ k.mT / 8).std().item() == pytest.approx(1, rel=0.05)
    assert layer(torch.randn(2, 3, 512))[0].std() < 2


# The library's layers -----------------------------------------------------------------------------


def encoder_of(attention) -> Encoder:
    return Encoder(encoder_config(norm="pre"), Parts(attention=attention))


def tuned() -> Encoder:
    encoder = encoder_of(MultiHeadAttention)
    add_low_rank(encoder, 2)
    return encoder


OTHERS = {
    "queries and keys are normalised": lambda: encoder_of(QKNormAttention),
    "tokens are shifted": lambda: encoder_of(ShiftedAttention),
    "weights are changed by a low rank": tuned,
    "weights are whole numbers": lambda: with_whole_products(encoder_of(MultiHeadAttention)),
    "one block is shared": lambda: SharedEncoder(encoder_config(norm="pre")),
    "one block is shared, with signals": lambda: UniversalEncoder(encoder_config(norm="pre")),
}


@pytest.mark.parametrize("name", OTHERS)
def test_what_computes_something_else_takes_no_weights_of_the_librarys(name):
    if name == "weights are whole numbers" and not has_exact_products():
        pytest.skip("sums of int8 run over here")
    ours = OTHERS[name]()
    block = nn.TransformerEncoderLayer(D, H, F_, batch_first=True, norm_first=True)
    library = nn.TransformerEncoder(block, 2, nn.LayerNorm(D), enable_nested_tensor=False)
    before = deepcopy(ours.state_dict())
    with pytest.raises(ValueError, match="compute|share|another"):
        ours.load_library(library)
    assert all(torch.equal(weight, before[name]) for name, weight in ours.state_dict().items())


@pytest.mark.parametrize(
    "layer",
    [
        lambda: QKNormAttention(D, H),
        lambda: ShiftedAttention(D, H),
        lambda: UnscaledAttention(D, H, d_k=D // H),
        lambda: FewerHeads(MultiHeadAttention(D, H), [0, 1, 2, 3]),
        pytest.param(
            lambda: WholeAttention(MultiHeadAttention(D, H)),
            marks=pytest.mark.skipif(not has_exact_products(), reason="sums of int8 run over here"),
        ),
    ],
    ids=["norms", "shifted", "not scaled", "fewer heads", "whole numbers"],
)
def test_attention_of_another_kind_takes_no_weights_of_the_librarys(layer):
    ours = layer()
    with pytest.raises(ValueError, match=f"^A {type(ours).__name__} "):
        ours.load_library(nn.MultiheadAttention(D, H))


@pytest.mark.parametrize("name, size", [("n_heads", 0), ("d_k", 0), ("d_k", 2.5)])
def test_heads_that_can_not_be_are_refused(name, size):
    with pytest.raises(ValueError, match=f"{name} .* {size}"):
        UnscaledAttention(D, **{"n_heads": 2, "d_k": 3} | {name: size})


# T5 -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("how", [{}, {"n_decoder_layers": 1, "tied": False, "damped": False}])
def test_writing_step_by_step_equals_all_at_once(how):
    model = text_to_text(**how)
    lengths = torch.tensor([7, 1, 4])
    whole = model(SOURCE, lengths, IDS)
    state, memory = model.encode(SOURCE, lengths)
    steps = []
    for token in IDS.split(1, dim=1):
        logits, state, _ = model.decoder(token, state, memory)
        steps.append(logits)
    torch.testing.assert_close(torch.cat(steps, dim=1), whole, **EXACT)
    shorter = model(SOURCE[1:2, :1], lengths[1:2], IDS[1:2])
    torch.testing.assert_close(shorter, whole[1:2], **EXACT)
    assert len(model.decoder.blocks) == how.get("n_decoder_layers", 2)


@pytest.mark.parametrize("how", [{}, {"start": BOS}, {"start": 3, "end": 1}], ids=str)
def test_day_4s_searches_write_with_it(how):
    """From the model's own start: 0 unless it is told."""
    model = text_to_text(**how)
    lengths = torch.tensor([7, 1, 4])
    start = how.get("start", 0)
    greedy, looked = greedy_decode(model, SOURCE, lengths, 6, need_weights=True)
    best, _ = beam_search(model, SOURCE, lengths, 1, 6)
    assert torch.equal(greedy, best)
    target_in = torch.cat([torch.full((B, 1), start), greedy[:, :-1]], dim=1)
    with torch.no_grad():
        logits = model(SOURCE, lengths, target_in)
    assert (logits.argmax(-1) == start).any()
    logits[..., [0, start]] = -torch.inf  # padding and what comes before are never written
    written = greedy != 0
    assert torch.equal(logits.argmax(-1)[written], greedy[written])
    forced = forced_weights(model, SOURCE, lengths, greedy)
    torch.testing.assert_close(looked[written], forced[written], **EXACT)


def test_heads_need_not_divide_its_width():
    model = text_to_text(d_model=D + 1)
    assert model(SOURCE, torch.tensor([7, 1, 4]), IDS).shape == (B, T, V)


def test_its_start_stands_before_the_target():
    assert text_to_text(start=7).shift(IDS)[:, 0].tolist() == [7] * B
    assert text_to_text().shift(IDS)[:, 0].tolist() == [0] * B
    assert torch.equal(text_to_text(start=7).shift(IDS)[:, 1:], IDS[:, :-1])


def test_a_damped_output_divides_by_the_root_of_the_width():
    table = nn.Parameter(torch.randn(V, D).double())
    x = torch.randn(B, T, D).double()
    torch.testing.assert_close(DampedOutput(table)(x), x @ table.T / D**0.5, **EXACT)
    tied, free = text_to_text(), text_to_text(tied=False, damped=False)
    assert tied.decoder.output.weight is tied.encoder.embedding.symbols.weight
    assert free.decoder.output.weight is not free.encoder.embedding.symbols.weight


def test_a_gated_layer_goes_in_its_place():
    config = TextToTextConfig(**SIZES, d_k=5, activation="gelu_tanh")
    model = TextToText(config, feed_forward=GatedFeedForward)
    kinds = {type(block.feed_forward) for block in (*model.encoder.blocks, *model.decoder.blocks)}
    assert kinds == {GatedFeedForward}
    plain = TextToText(TextToTextConfig(**SIZES, d_k=5))
    assert plain.encoder.blocks[0].feed_forward.W_1.bias is None


def test_every_weight_learns():
    model = text_to_text()
    model(SOURCE, torch.tensor([7, 1, 4]), IDS).logsumexp(-1).sum().backward()
    for name, weight in model.named_parameters():
        assert weight.grad is not None and weight.grad.abs().max() > 0, name


@pytest.mark.parametrize(
    "how, message",
    [
        ({"norm": "post"}, "norm='pre', .*'post'"),
        ({"positions": "rotary"}, "positions=None, .*'rotary'"),
        ({"n_kv_heads": 2}, "n_kv_heads=None, .* 2:"),
        ({"target_vocab_size": 9}, "target_vocab_size=None, .* 9:"),
        ({"start": V}, "start .* 10, .* 11"),
        ({"start": -1}, "start .* 10, .* -1"),
        ({"end": V}, "end .* 10, .* 11"),
        ({"end": [1]}, r"end .* 10, .* \[1\]"),
        ({"end": True}, "end .* 10, .* True"),
        ({"start": 3, "end": 3}, "end 3 .*start"),
        ({"start": 3, "end": 0}, "end 0 .*padding"),
        ({"n_heads": 0}, "n_heads .* 0"),
        ({"d_k": 0}, "d_k .* 0"),
        ({"n_decoder_layers": 0}, "n_decoder_layers .* 0"),
        ({"d_model": 0}, "d_model .* 0"),
        ({"activation": "tanh"}, "activation 'tanh'"),
    ],
)
def test_a_t5_that_can_not_be_is_refused(how, message):
    with pytest.raises(ValueError, match=message):
        TextToTextConfig(**SIZES | how)


# Published sizes ----------------------------------------------------------------------------------

TABLES = {  # name: millions of parameters, as the papers have them, rounded to so many
    "BERT-base": (110, 10),  # Devlin et al. (2019), §3
    "BERT-large": (340, 10),
    "DistilBERT": (66, 1),  # Sanh et al. (2019), table 3
    "ALBERT-base": (12, 1),  # Lan et al. (2020), table 1
    "ALBERT-large": (18, 1),
    "ALBERT-xlarge": (60, 10),
    "ALBERT-xxlarge": (235, 1),
}


@pytest.mark.parametrize("name", TABLES)
def test_the_papers_tables_count_what_the_sizes_give_but_for_the_last(name):
    millions, unit = TABLES[name]
    counted = published_sizes(name).total / 1e6
    assert (round(counted / unit) * unit == millions) == (name != "ALBERT-xxlarge")
    assert set(PUBLISHED) == set(TABLES)


@pytest.mark.parametrize(
    "name, model, kind",
    [
        ("BERT-base", "BertModel", "BertConfig"),
        ("BERT-large", "BertModel", "BertConfig"),
        ("DistilBERT", "DistilBertModel", "DistilBertConfig"),
        ("ALBERT-base", "AlbertModel", "AlbertConfig"),
        ("ALBERT-xxlarge", "AlbertModel", "AlbertConfig"),
    ],
)
def test_the_reference_has_as_many_parameters(name, model, kind, reference):
    config = getattr(reference, kind)(**PUBLISHED[name][1])
    with torch.device("meta"):
        theirs = getattr(reference, model)(config)
    assert published_sizes(name).total == sum(weight.numel() for weight in theirs.parameters())
    if name in ("BERT-base", "DistilBERT", "ALBERT-xxlarge"):  # these are what a config begins with
        begun = getattr(reference, kind)()
        sizes = set(PUBLISHED[name][1]) - {"hidden_act"}
        assert {k: getattr(config, k) for k in sizes} == {k: getattr(begun, k) for k in sizes}


def test_a_model_whose_sizes_are_not_told_is_refused():
    with pytest.raises(ValueError, match="'GPT': .*'BERT-base'"):
        published_sizes("GPT")


def test_distilbert_leaves_out_two_fifths_and_albert_eight_ninths():
    bert, distilbert = published_sizes("BERT-base"), published_sizes("DistilBERT")
    assert round(1 - distilbert.total / bert.total, 1) == 0.4
    assert 2 * distilbert.blocks == bert.blocks and distilbert.pooler == 0
    assert bert.embedding - distilbert.embedding == 2 * 768  # the types
    albert = published_sizes("ALBERT-base")
    assert 12 * albert.blocks == bert.blocks
    assert round(1 - albert.total / bert.total, 2) == 0.89
    large = published_sizes("BERT-large").total / published_sizes("ALBERT-large").total
    assert 18 < large < 19.5  # "18x fewer" (Lan et al., 2020, §1)
