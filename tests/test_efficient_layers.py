"""Day 7's forms within blocks: the same layer, another form between its projections."""

import copy
from functools import partial

import pytest
import torch
from torch import nn

from utils.attention import padding_mask
from utils.efficient import (
    FormAttention,
    Linformer,
    Performer,
    bigbird_attention,
    fixed_attention,
    fixed_mask,
    linear_attention,
    strided_attention,
    strided_mask,
    tiled_attention,
    use_form,
    window_attention,
    window_mask,
)
from utils.positions import Alibi
from utils.pretraining.relative import RelativeBias
from utils.self_attention import BiasedAttention, MultiHeadAttention, dot_product_attention
from utils.seq2seq import greedy_decode
from utils.transformer import (
    DecoderOnly,
    Encoder,
    EncoderBlock,
    EncoderOnly,
    Parts,
    Tagger,
    Transformer,
    TransformerConfig,
)

EXACT = {"rtol": 1e-10, "atol": 1e-10}
B, T, D, HEADS = 3, 11, 12, 2
SIZES = {"d_model": D, "n_heads": HEADS, "d_ff": 7, "n_layers": 2, "dropout": 0.0}


def config(**choices) -> TransformerConfig:
    return TransformerConfig(9, **(SIZES | choices))


def exact(_: int):
    return partial(tiled_attention, tile=4)


def test_an_exact_form_is_called_as_attention_is_and_looks_both_ways_unless_it_is_told():
    torch.manual_seed(0)
    query, key, value = torch.randn(3, B, HEADS, T, 4, dtype=torch.float64)
    context, weights = FormAttention(exact(0))(query, key, value)
    torch.testing.assert_close(context, dot_product_attention(query, key, value)[0], **EXACT)
    assert weights is None


@pytest.mark.parametrize("positions", ["sinusoidal", "rotary"])
def test_an_exact_form_changes_nothing(positions):
    torch.manual_seed(0)
    model = EncoderOnly(config(positions=positions), 4).double()
    ids, lengths = torch.randint(4, 9, (B, T)), torch.tensor([11, 3, 7])
    before, padded = model(ids), model(ids, lengths)
    use_form(model, exact)
    torch.testing.assert_close(model(ids), before, **EXACT)
    torch.testing.assert_close(model(ids, lengths), padded, **EXACT)


def test_an_exact_causal_form_changes_nothing():
    torch.manual_seed(1)
    stack = Encoder(config()).double()
    x = torch.randn(B, T, D, dtype=torch.float64)
    before, _ = stack.run(x, is_causal=True)
    use_form(stack, exact)
    torch.testing.assert_close(stack.run(x, is_causal=True)[0], before, **EXACT)


def test_a_window_in_a_layer_is_the_layer_under_the_windows_mask():
    torch.manual_seed(2)
    layer = MultiHeadAttention(D, HEADS).double()
    x = torch.randn(B, T, D, dtype=torch.float64, requires_grad=True)
    form = copy.copy(layer)
    form.attend = FormAttention(partial(window_attention, window=2))
    found, _ = form(x)
    expected, _ = layer(x, mask=window_mask(T, 2))
    torch.testing.assert_close(found, expected, **EXACT)
    parts = [x, *layer.parameters()]
    gradients = (torch.autograd.grad(y.pow(2).sum(), parts) for y in (found, expected))
    for ours, theirs in zip(*gradients, strict=True):
        torch.testing.assert_close(ours, theirs, **EXACT)


def test_each_block_gets_its_own_form_and_another_one_later():
    model = Tagger(config(), 5)
    use_form(model, lambda number: Linformer(T, 3 + number))
    forms = [block.self_attention.attend.form for block in model.encoder.blocks]
    assert [len(form.E) for form in forms] == [3, 4]
    assert {id(form.E) for form in forms} <= {id(weight) for weight in model.parameters()}
    use_form(model, exact)
    assert not any(isinstance(module, Linformer) for module in model.modules())


def test_a_causal_tagger_does_not_see_what_comes():
    torch.manual_seed(5)
    model = Tagger(config(), 5, is_causal=True).double()
    ids = torch.randint(9, (B, T))
    other = ids.clone()
    other[:, 6:] = (other[:, 6:] + 1) % 9
    before, after = model(ids), model(other)
    assert torch.equal(before[:, :6], after[:, :6])
    assert not torch.allclose(before[:, 6:], after[:, 6:])
    use_form(model, exact)
    torch.testing.assert_close(model(ids), before, **EXACT)


@pytest.mark.parametrize(
    "form",
    [
        partial(window_attention, window=3),
        partial(window_attention, window=2, global_positions=[0]),
        partial(strided_attention, stride=4),
        partial(fixed_attention, stride=4),
        linear_attention,
        Performer(D // HEADS, 8).double(),
    ],
)
def test_a_causal_tagger_does_not_see_what_comes_in_any_form(form):
    torch.manual_seed(6)
    model = Tagger(config(), 5, is_causal=True).double()
    use_form(model, lambda _: form)
    ids = torch.randint(9, (B, T))
    other = ids.clone()
    other[:, 6:] = (other[:, 6:] + 1) % 9
    before, after = model(ids), model(other)
    torch.testing.assert_close(before[:, :6], after[:, :6], **EXACT)
    assert not torch.allclose(before[:, 6:], after[:, 6:])


@pytest.mark.parametrize(
    "form, mask",
    [
        (partial(window_attention, window=3), window_mask(T, 3, is_causal=True)),
        (partial(strided_attention, stride=4), strided_mask(T, 4, is_causal=True)),
        (partial(fixed_attention, stride=4), fixed_mask(T, 4, is_causal=True)),
    ],
)
def test_a_layer_with_a_causal_pattern_is_the_layer_under_its_mask(form, mask):
    torch.manual_seed(7)
    layer, x = MultiHeadAttention(D, HEADS).double(), torch.randn(B, T, D, dtype=torch.float64)
    expected, _ = layer(x, mask=mask)
    layer.attend = FormAttention(form)
    torch.testing.assert_close(layer(x, is_causal=True)[0], expected, **EXACT)


@pytest.mark.parametrize(
    "wrong, message",
    [
        (lambda layer, x: layer(x, need_weights=True), "need_weights"),
        (lambda layer, x: layer(x, mask=torch.ones(T, T, dtype=torch.bool)), r"\(11, 11\)"),
        (lambda layer, x: layer(x, is_causal=True), "causal"),
    ],
)
def test_what_a_form_can_not_do_is_said(wrong, message):
    layer = MultiHeadAttention(D, HEADS, attend=FormAttention(Linformer(T, 4)))
    with pytest.raises(ValueError, match=message):
        wrong(layer, torch.randn(B, T, D))
    dropping = MultiHeadAttention(D, HEADS, dropout=0.1, attend=FormAttention(Linformer(T, 4)))
    with pytest.raises(ValueError, match="dropout"):
        dropping(torch.randn(B, T, D))


@pytest.mark.parametrize(
    "model, message",
    [
        (lambda: DecoderOnly(config()), "causal"),
        (lambda: Transformer(config()), "causal"),
        (lambda: Tagger(config(), 5, is_causal=True), "causal"),
        (lambda: Tagger(config(dropout=0.1), 5), "dropout"),
    ],
)
def test_a_form_that_can_not_do_what_a_model_asks_is_refused_at_once(model, message):
    model = model()
    before = [block.self_attention.attend for block in model.modules() if is_block(block)]
    with pytest.raises(ValueError, match=message):
        use_form(model, lambda _: Linformer(T, 4))
    assert [b.self_attention.attend for b in model.modules() if is_block(b)] == before


def is_block(module: nn.Module) -> bool:
    return isinstance(module, EncoderBlock)


CAUSAL = {
    "tiles": partial(tiled_attention, tile=4),
    "window": partial(window_attention, window=3),
    "global": partial(window_attention, window=2, global_positions=[0]),
    "strided": partial(strided_attention, stride=4),
    "fixed": partial(fixed_attention, stride=4),
    "linear": linear_attention,
    "performer": Performer(D // HEADS, 8).double(),
}


@pytest.mark.parametrize("n_kv_heads", [None, 1])
@pytest.mark.parametrize("positions", ["sinusoidal", "rotary"])
@pytest.mark.parametrize("form", CAUSAL.values(), ids=CAUSAL)
def test_a_language_model_goes_on_from_its_state_in_every_form(form, positions, n_kv_heads):
    torch.manual_seed(8)
    model = DecoderOnly(config(positions=positions, n_kv_heads=n_kv_heads)).double()
    ids = torch.randint(9, (B, T))
    full = model(ids)[0]
    use_form(model, lambda _: form)
    whole, _ = model(ids)
    if form is CAUSAL["tiles"]:
        torch.testing.assert_close(whole, full, **EXACT)
    for sizes in ((T - 1, 1), (4, 7), (1,) * T):
        state, logits = None, []
        for piece in ids.split(sizes, dim=1):
            y, state = model(piece, state)
            logits.append(y)
        torch.testing.assert_close(torch.cat(logits, dim=1), whole, **EXACT)
    whole.sum().backward()
    assert all(p.grad.isfinite().all() and p.grad.any() for p in model.stack.parameters())


def test_a_translator_in_an_exact_form_translates_as_before():
    torch.manual_seed(9)
    model = Transformer(config(n_kv_heads=1)).double()
    source, lengths = torch.randint(3, 9, (B, T)), torch.tensor([11, 3, 7])
    target = torch.randint(3, 9, (B, 5))
    before, written = model(source, lengths, target), greedy_decode(model, source, lengths, 6)
    use_form(model, exact)
    torch.testing.assert_close(model(source, lengths, target), before, **EXACT)
    assert torch.equal(greedy_decode(model, source, lengths, 6), written)


EVERY = CAUSAL | {
    "performer": Performer(D // HEADS, 8),
    "bigbird": partial(bigbird_attention, block=2),
    "linformer": Linformer(T, 4),
}
every_form = pytest.mark.parametrize("form", EVERY.values(), ids=EVERY)


@every_form
def test_a_model_with_a_form_is_compiled_in_one_piece(form):
    torch._dynamo.reset()
    torch.manual_seed(10)
    model, ids = EncoderOnly(config(), 4), torch.randint(4, 9, (B, T))
    use_form(model, lambda _: form)
    lengths = torch.tensor([11, 3, 7])
    found = torch.compile(model, fullgraph=True, backend="eager")(ids, lengths)
    torch.testing.assert_close(found, model(ids, lengths))
    found.sum().backward()


@every_form
def test_a_model_with_a_form_works_under_autocast(form):
    torch.manual_seed(11)
    model, ids = EncoderOnly(config(), 4), torch.randint(4, 9, (B, T))
    use_form(model, lambda _: form)
    expected = model(ids)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        found = model(ids)
    assert found.dtype == torch.bfloat16
    torch.testing.assert_close(found.float(), expected, rtol=0.1, atol=0.05)
    found.float().square().sum().backward()
    for name, parameter in model.named_parameters():
        assert parameter.grad.isfinite().all(), name


def test_padding_reaches_the_form():
    form = MultiHeadAttention(D, HEADS, attend=FormAttention(Linformer(T, 4)))
    x, mask = torch.randn(B, T, D), padding_mask(torch.tensor([11, 5, 8]), T)[:, None]
    changed = x.clone()
    changed[1, 5:] += 1
    found, other = form(x, mask=mask)[0], form(changed, mask=mask)[0]
    torch.testing.assert_close(found[1, :5], other[1, :5])


@pytest.mark.parametrize(
    "form",
    [
        partial(fixed_attention, stride=3),
        partial(window_attention, window=3, global_positions=torch.tensor([0])),
    ],
)
@pytest.mark.parametrize("is_causal", [False, True])
def test_a_form_that_counts_positions_refuses_padding_in_front(form, is_causal):
    layer = MultiHeadAttention(D, HEADS, attend=FormAttention(form))
    x, behind = torch.randn(B, T, D), padding_mask(torch.tensor([11, 5, 0]), T)[:, None]
    assert layer(x, mask=behind, is_causal=is_causal)[0].isfinite().all()
    with pytest.raises(ValueError, match="padding in front"):
        layer(x, mask=behind.flip(-1), is_causal=is_causal)


@pytest.mark.parametrize(
    "form",
    [
        partial(window_attention, window=3),
        partial(strided_attention, stride=2),
        linear_attention,
        tiled_attention,
    ],
)
def test_other_causal_forms_pass_over_padding_in_front(form):
    layer = MultiHeadAttention(D, HEADS, attend=FormAttention(form))
    x = torch.randn(2, T, D)
    in_front = padding_mask(torch.tensor([T, 5]), T)[:, None].flip(-1)
    padded = layer(x, mask=in_front, is_causal=True)[0]
    torch.testing.assert_close(padded[1:, -5:], layer(x[1:, -5:], is_causal=True)[0])


@pytest.mark.parametrize(
    "ids, shape", [(torch.zeros(3), r"\(3,\)"), (torch.zeros(2, 0, dtype=torch.long), r"\(2, 0\)")]
)
def test_a_tagger_names_ids_it_can_not_read(ids, shape):
    with pytest.raises(ValueError, match=shape):
        Tagger(config(), 5)(ids)


@pytest.mark.parametrize("bias", [RelativeBias, Alibi])
def test_a_bias_on_the_scores_is_not_dropped_in_silence(bias):
    parts = Parts(attention=partial(MultiHeadAttention, attend=BiasedAttention(bias(4))))
    config = TransformerConfig(11, d_model=16, n_heads=4, d_ff=24, n_layers=2, dropout=0.0)
    model = EncoderOnly(config, 3, parts).eval()
    ids = torch.randint(11, (2, 6), generator=torch.Generator().manual_seed(0))
    before, n_weights = model(ids), len(model.state_dict())
    with pytest.raises(ValueError, match="BiasedAttention"):
        use_form(model, exact)
    assert torch.equal(model(ids), before) and len(model.state_dict()) == n_weights


def test_a_model_without_blocks_is_named():
    with pytest.raises(ValueError, match="no EncoderBlock"):
        use_form(nn.Linear(2, 3), exact)
