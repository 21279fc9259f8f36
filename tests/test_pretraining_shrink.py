"""What makes a pre-trained model small or cheap to tune: low ranks, whole numbers, fewer heads."""

import os
import re
import subprocess
import sys

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn import functional as F
from torch.nn.utils import parametrize

from utils import ROOT
from utils.data.text import BucketedBatches, Vocabulary, pad
from utils.efficient import window_mask
from utils.exercises.small.int8_rows import int8_rows
from utils.measure.experiments.results import load_script
from utils.pretraining import MaskedLanguageModel, SharedEncoder
from utils.pretraining.heads import FewerHeads, gated, head_importance
from utils.pretraining.low_rank import LowRank, add_low_rank, merge_low_rank, n_trained
from utils.pretraining.rounded import (
    Rounded,
    WholeAttention,
    WholeLinear,
    has_exact_products,
    round_weight,
    whole_product,
    with_rounded_weights,
    with_whole_products,
)
from utils.self_attention import MultiHeadAttention
from utils.self_attention.multi_head import split_heads
from utils.tasks import shrinking
from utils.tasks.distilling import sizes_of
from utils.tasks.reading import Labelled, Task
from utils.transformer import EncoderOnly, TransformerConfig

EXACT = {"rtol": 0.0, "atol": 1e-12}
V, D, H, L, T = 13, 24, 4, 3, 7
SIZES = {"d_model": D, "n_heads": H, "d_ff": 40, "n_layers": L, "dropout": 0.0}
CONFIG = TransformerConfig(V, **SIZES, norm="pre", positions="rotary")
IDS = torch.randint(5, V, (5, T), generator=torch.Generator().manual_seed(0))
LENGTHS = torch.tensor([7, 2, 5, 1, 6])
LABELS = torch.tensor([0, 1, 2, 1, 0])


def classifier() -> EncoderOnly:
    torch.manual_seed(0)
    return EncoderOnly(CONFIG, 3).double().eval()


def layer(n_heads: int = H, **how: object) -> MultiHeadAttention:
    torch.manual_seed(0)
    made = MultiHeadAttention(D, n_heads, **how).double()
    for weight in made.parameters():
        nn.init.normal_(weight, std=0.3)
    return made


def learned(model: nn.Module) -> None:
    """Let B be what training may have made of it."""
    torch.manual_seed(1)
    for module in model.modules():
        if isinstance(module, LowRank):
            nn.init.normal_(module.B)


# Low rank -----------------------------------------------------------------------------------------


def test_lora_begins_as_the_model_itself_and_then_does_something():
    model = classifier()
    before = model(IDS, LENGTHS)
    add_low_rank(model.encoder, 2)
    assert torch.equal(model(IDS, LENGTHS), before)
    learned(model)
    assert not torch.allclose(model(IDS, LENGTHS), before)


def test_merged_it_is_the_same_to_the_last_bit_and_nothing_remains_of_it():
    model, plain = classifier(), classifier()
    add_low_rank(model.encoder, 3)
    learned(model)
    before = model(IDS, LENGTHS)
    merge_low_rank(model.encoder)
    assert torch.equal(model(IDS, LENGTHS), before)
    assert model.state_dict().keys() == plain.state_dict().keys()
    assert all(type(block.self_attention) is MultiHeadAttention for block in model.encoder.blocks)
    merge_low_rank(model.encoder)  # of nothing more
    add_low_rank(model.encoder, 1)
    assert torch.equal(model(IDS, LENGTHS), before)


def test_a_and_b_and_the_new_layer_alone_learn():
    model = classifier()
    add_low_rank(model.encoder, 2)
    learned(model)
    model(IDS, LENGTHS).square().sum().backward()
    found = {name for name, weight in model.named_parameters() if weight.grad is not None}
    of_change = {
        f"encoder.blocks.{block}.self_attention.parametrizations.W_in.{part}.{name}"
        for block in range(L)
        for part in (0, 1)
        for name in "AB"
    }
    assert found == {"output.weight", "output.bias"} | of_change
    assert all(weight.grad.abs().max() > 0 for weight in model.parameters() if weight.requires_grad)


@pytest.mark.parametrize("rank", [1, 4, 16])
def test_its_parameters_are_counted(rank):
    model = classifier()
    add_low_rank(model.encoder, rank)
    assert n_trained(model.encoder) == L * 2 * rank * (D + D)
    assert n_trained(model) == n_trained(model.encoder) + 3 * D + 3
    assert n_trained(classifier()) == sum(weight.numel() for weight in classifier().parameters())


@pytest.mark.parametrize("n_kv_heads", [1, 2, 4])
@pytest.mark.parametrize("alpha", [2.0, 8.0])
def test_queries_and_values_are_the_papers(n_kv_heads, alpha):
    """h = W x + α/r · B A x, as a path of its own beside the frozen one; keys stay."""
    plain = layer(n_kv_heads=n_kv_heads)
    changed = layer(n_kv_heads=n_kv_heads)
    add_low_rank(changed, 3, alpha)
    learned(changed)
    x = torch.randn(2, T, D).double()
    of_q, of_v = changed.parametrizations.W_in
    q, k, v = plain.project(x, None)
    found = changed.project(x, None)
    for whole, old, path in ((found[0], q, of_q), (found[2], v, of_v)):
        beside = alpha / 3 * (x @ path.A.T) @ path.B.T
        expected = old + split_heads(beside, old.shape[1])
        torch.testing.assert_close(whole, expected, rtol=0.0, atol=1e-11)
    assert torch.equal(found[1], k)
    x_alone = changed(x)[0]
    merge_low_rank(changed)
    assert torch.equal(changed(x)[0], x_alone)


def test_a_begins_with_the_inputs_size_whatever_the_rank():
    torch.manual_seed(0)
    change = LowRank(torch.empty(300, 400), (100, 300), 50)
    assert change.A.std().item() == pytest.approx(1 / 20, rel=0.05)
    assert change.A.shape == (50, 400) and change.B.shape == (200, 50) and not change.B.any()


def test_alpha_is_robertas_unless_it_is_told():
    """Hu et al. (2022), table 9."""
    weight = torch.empty(4, 6)
    assert LowRank(weight, (0, 4), 2).scale == 4.0
    add_low_rank(changed := layer(), 4)
    assert [change.scale for change in changed.parametrizations.W_in] == [2.0, 2.0]


@pytest.mark.parametrize("rank", [0, -1, 1.5, D + 1])
def test_a_rank_that_can_not_be_is_refused(rank):
    with pytest.raises(ValueError, match=f"rank .* {D} .* {rank}"):
        add_low_rank(classifier().encoder, rank)


def test_a_layer_that_is_changed_already_is_refused():
    model = classifier()
    add_low_rank(model.encoder, 1)
    with pytest.raises(ValueError, match="ParametrizedMultiHeadAttention"):
        add_low_rank(model.encoder, 1)


# Whole numbers ------------------------------------------------------------------------------------


def by_hand(weight: torch.Tensor, most: int) -> torch.Tensor:
    rows = []
    for row in weight.tolist():
        scale = max(map(abs, row)) / most or 1.0
        rows.append([scale * round(x / scale) for x in row])
    return torch.tensor(rows, dtype=weight.dtype)


@pytest.mark.parametrize("bits", [2, 4, 7, 8])
def test_a_row_is_whole_numbers_and_a_scale(bits):
    torch.manual_seed(0)
    weight = torch.randn(6, 9).double() * torch.tensor([1e-3, 1.0, 5.0, 0.0, 7.0, 1e3])[:, None]
    found, most = round_weight(weight, bits), 2 ** (bits - 1) - 1
    assert found.whole.dtype == torch.int8 and found.scale.shape == (6, 1)
    torch.testing.assert_close(found.scale * found.whole, by_hand(weight, most), **EXACT)
    assert found.whole.abs().amax(dim=1).tolist() == [most, most, most, 0, most, most]
    error = (found.scale * found.whole - weight).abs()
    assert (error <= found.scale / 2 + 1e-12).all()


def test_ties_go_to_the_even_number_and_zeros_stay():
    weight = torch.tensor([[127.0, 0.5, 1.5, 2.5, -0.5, -1.5, 0.0], [0.0] * 7])
    found = round_weight(weight)
    assert found.whole.tolist() == [[127, 0, 2, 2, 0, -2, 0], [0] * 7]
    assert found.scale.flatten().tolist() == [1.0, 1.0]


def test_the_smallest_numbers_do_not_divide_by_zero():
    found = round_weight(torch.tensor([[1e-45, 0.0]]))
    assert found.whole.tolist() == [[0, 0]] and found.scale.isfinite().all()


@pytest.mark.parametrize("size", [1.0, 1e-4, 1e-5])
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
@pytest.mark.parametrize("rounded", [round_weight, int8_rows])
def test_in_half_precision_no_number_is_off_by_more_than_half_a_step(rounded, dtype, size):
    generator = torch.Generator().manual_seed(0)
    weight = (size * torch.randn(200, 300, generator=generator)).to(dtype)
    whole, scale = rounded(weight)
    exact = weight.double().numpy()  # in which each number of the halves is exact
    step = np.abs(exact).max(axis=1, keepdims=True) / 127
    assert np.abs(whole.double().numpy() - exact / step).max() <= 0.5001
    np.testing.assert_allclose(scale.double().numpy(), step, rtol=1e-6)


@pytest.mark.parametrize("rounded", [round_weight, int8_rows])
def test_a_scale_that_is_cut_to_the_smallest_number_turns_no_sign(rounded):
    whole, scale = rounded(torch.tensor([[2.1e-43, -2.1e-43]]))  # 150 times the smallest number
    assert whole.tolist() == [[127, -127]] and scale.item() > 0


def test_one_scale_for_all_loses_what_is_small():
    weight = torch.tensor([[1.0, -2.0], [254.0, 0.0]])
    found = round_weight(weight, by_row=False)
    assert found.scale.tolist() == [[2.0]]
    assert found.whole.tolist() == [[0, -1], [127, 0]]
    assert round_weight(weight).whole.tolist() == [[64, -127], [127, 0]]


@pytest.mark.parametrize(
    "weight, bits, message",
    [
        (torch.zeros(3), 8, r"\(3,\) .*float32"),
        (torch.zeros(0, 3), 8, r"\(0, 3\)"),
        (torch.zeros(2, 3, dtype=torch.int64), 8, "int64"),
        (torch.tensor([[1.0, torch.nan]]), 8, "NaN"),
        (torch.tensor([[1.0, torch.inf]]), 8, "NaN"),
        (torch.ones(2, 2), 1, "bits .* 8, .* 1"),
        (torch.ones(2, 2), 9, "bits .* 8, .* 9"),
        (torch.ones(2, 2), 4.0, "bits .* 8, .* 4.0"),
    ],
)
def test_what_can_not_be_rounded_is_refused(weight, bits, message):
    with pytest.raises(ValueError, match=message):
        round_weight(weight, bits)


def masked() -> MaskedLanguageModel:
    torch.manual_seed(0)
    return MaskedLanguageModel(CONFIG).double().eval()


@pytest.mark.parametrize("bits, by_row", [(8, True), (8, False), (4, True)])
def test_a_rounded_model_computes_with_the_rounded_weights(bits, by_row):
    model, expected = masked(), masked()
    with torch.no_grad():
        for weight in expected.parameters():
            if weight.dim() == 2:
                found = round_weight(weight, bits, by_row)
                weight.copy_(found.scale * found.whole)
    rounded = with_rounded_weights(model, bits, by_row)
    torch.testing.assert_close(rounded(IDS, LENGTHS), expected(IDS, LENGTHS), **EXACT)
    assert not torch.allclose(model(IDS, LENGTHS), expected(IDS, LENGTHS))
    assert not any(weight.requires_grad for weight in rounded.parameters())


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_a_rounded_model_in_half_precision_says_what_it_said(dtype):
    model = masked()
    rounded = [with_rounded_weights(model.to(dtype)), with_rounded_weights(model.float()).to(dtype)]
    expected = model(IDS, LENGTHS)
    for each in rounded:
        found = each(IDS, LENGTHS)
        assert found.dtype == dtype and (found - expected).norm() < 0.05 * expected.norm()


def test_its_bytes_are_one_for_each_number_of_a_matrix_and_a_scale_for_each_row():
    model = masked().float()
    matrices = [weight for weight in model.parameters() if weight.dim() == 2]
    small = sum(4 * weight.numel() for weight in model.parameters() if weight.dim() != 2)
    rounded = with_rounded_weights(model)
    tables = sum(weight.nbytes for weight in model.buffers())
    expected = sum(weight.numel() + 4 * len(weight) for weight in matrices) + small + tables
    assert sizes_of(rounded).bytes == expected  # the shared table counts once
    table = rounded.head.parametrizations.weight.original0
    assert table is rounded.encoder.embedding.symbols.parametrizations.weight.original0
    assert table.dtype == torch.int8


def test_products_of_whole_numbers_are_right_or_refused():
    torch.manual_seed(0)
    x, weight = torch.randn(2, 5, 40).double(), torch.randn(9, 40).double()
    x[0, 0], weight[0], bias = 1.0, 1.0, torch.randn(9).double()  # the largest of all sums
    rounded = round_weight(weight)
    if not has_exact_products():
        with pytest.raises(ValueError, match="int8 .* 16 bits"):
            whole_product(x, rounded)
        return
    rows = by_hand(x.flatten(0, 1), 127).view_as(x)
    expected = rows @ (rounded.scale * rounded.whole).T + bias
    torch.testing.assert_close(whole_product(x, rounded, bias), expected, rtol=1e-10, atol=1e-10)
    found = WholeLinear(weight, None)(x)
    torch.testing.assert_close(found, expected - bias, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_in_half_precision_products_are_as_near_as_in_single(dtype):
    if not has_exact_products():
        return
    generator = torch.Generator().manual_seed(0)
    x, weight = (torch.randn(n, 64, generator=generator).to(dtype) for n in (2000, 50))
    found, exact = whole_product(x, round_weight(weight)), x.double() @ weight.double().T
    assert found.dtype == dtype
    assert ((found - exact).norm(dim=1) < 0.03 * exact.norm(dim=1)).all()


WHETHER_EXACT = """
import torch
from utils.pretraining.rounded import has_exact_products
torch.manual_seed(0)
a, b = (torch.randint(-127, 128, shape, dtype=torch.int8) for shape in ((70, 300), (300, 90)))
a[0], b[:, 0] = 127, 127
exact = torch.equal(torch._int_mm(a, b).double(), a.double() @ b.double())
print(exact, has_exact_products())
"""


def test_sums_that_run_over_are_noticed():
    how = os.environ | {"ONEDNN_MAX_CPU_ISA": "SSE41", "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", WHETHER_EXACT]
    said = subprocess.run(command, env=how, capture_output=True, text=True, check=True).stdout
    exact, found = said.split()
    assert exact == found


def test_sums_that_do_not_run_over_are_not_refused():
    generator = torch.Generator().manual_seed(0)
    a, b = (
        torch.randint(-127, 128, shape, dtype=torch.int8, generator=generator)
        for shape in ((70, 300), (300, 90))
    )
    a[0], b[:, 0] = 127, 127
    exact = torch.equal(torch._int_mm(a, b).double(), a.double() @ b.double())
    assert has_exact_products() == exact


needs_exact = pytest.mark.skipif(not has_exact_products(), reason="sums of int8 run over here")


@needs_exact
@pytest.mark.parametrize("bias", [True, False])
def test_attention_with_whole_products_rounds_inputs_and_weights(bias):
    plain = layer(n_kv_heads=2, bias=bias)
    whole = WholeAttention(plain)
    x = torch.randn(2, T, D).double()
    rounded = by_hand(x.flatten(0, 1), 127).view_as(x)
    with torch.no_grad():
        plain.W_in.copy_(by_hand(plain.W_in, 127))
    for found, expected in zip(whole.project(x, None), plain.project(rounded, None), strict=True):
        torch.testing.assert_close(found, expected, rtol=1e-10, atol=1e-10)
    mask = torch.ones(T, T, dtype=torch.bool).tril()
    found, weights = whole(x, mask=mask, need_weights=True)
    torch.testing.assert_close(found, whole(x, mask=mask)[0], **EXACT)
    assert torch.equal(weights > 0, mask.expand_as(weights))
    with pytest.raises(ValueError, match="memory out"):
        whole(x, x)


@needs_exact
def test_an_encoder_with_whole_products_is_near_the_first():
    model = masked()
    whole = with_whole_products(model.encoder)
    found, expected = whole(IDS, LENGTHS)[0], model.encoder(IDS, LENGTHS)[0]
    assert 1e-6 < (found - expected).norm() / expected.norm() < 0.05
    kinds = {type(module) for block in whole.blocks for module in block.modules()}
    assert WholeLinear in kinds and nn.Linear not in kinds
    assert type(model.encoder.blocks[0].self_attention) is MultiHeadAttention


@needs_exact
def test_a_block_that_is_shared_multiplies_whole_numbers_once():
    torch.manual_seed(0)
    model = MaskedLanguageModel(CONFIG, encoder=SharedEncoder).double().eval()
    whole = with_whole_products(model.encoder)
    found, expected = whole(IDS, LENGTHS)[0], model.encoder(IDS, LENGTHS)[0]
    assert 1e-6 < (found - expected).norm() / expected.norm() < 0.1


@needs_exact
def test_an_encoder_with_whole_products_is_compiled_in_one_piece():
    whole = with_whole_products(masked().encoder.float())
    compiled = torch.compile(whole, backend="eager", fullgraph=True)
    torch.testing.assert_close(compiled(IDS)[0], whole(IDS)[0])


def test_whole_numbers_take_a_plain_layer():
    changed = layer()
    add_low_rank(changed, 1)
    with pytest.raises(ValueError, match=" MultiHeadAttention, .* Parametrized"):
        WholeAttention(changed)


def test_a_row_that_is_not_finite_is_not_hidden():
    if has_exact_products():
        x = torch.tensor([[1.0, torch.nan], [1.0, 2.0]])
        found = whole_product(x, Rounded(torch.ones(3, 2, dtype=torch.int8), torch.ones(3, 1)))
        assert found[0].isnan().all() and found[1].isfinite().all()


# Heads --------------------------------------------------------------------------------------------


def test_gates_of_one_change_nothing_and_leave_nothing_behind():
    model = classifier()
    before = model(IDS, LENGTHS)
    with gated(model.encoder, torch.ones(L, H).double()):
        torch.testing.assert_close(model(IDS, LENGTHS), before, **EXACT)
    with gated(model.encoder, torch.zeros(L, H).double()):
        assert not torch.allclose(model(IDS, LENGTHS), before)
    assert torch.equal(model(IDS, LENGTHS), before)


def test_a_gate_multiplies_what_its_head_says():
    """As if its columns of W_o were multiplied, in each way to attend."""
    model, other = classifier(), classifier()
    gates = torch.rand(L, H).double()
    with torch.no_grad():
        for block, of_block in zip(other.encoder.blocks, gates, strict=True):
            block.self_attention.W_o.weight *= of_block.repeat_interleave(D // H)
    with gated(model.encoder, gates):
        torch.testing.assert_close(model(IDS, LENGTHS), other(IDS, LENGTHS), **EXACT)
        found, _ = model(IDS, LENGTHS, need_weights=True)
    torch.testing.assert_close(found, other(IDS, LENGTHS), **EXACT)


def test_each_text_can_have_gates_of_its_own():
    model = classifier()
    gates = torch.rand(len(IDS), L, H).double()
    with gated(model.encoder, gates):
        together = model(IDS, LENGTHS)
    for row, of_text in enumerate(gates):
        with gated(model.encoder, of_text):
            alone = model(IDS[row : row + 1], LENGTHS[row : row + 1])
        torch.testing.assert_close(together[row : row + 1], alone, **EXACT)


def test_importance_is_the_mean_of_what_a_small_change_of_a_gate_does_to_each_text():
    model, small, change = classifier(), 1e-6, torch.zeros(L, H).double()

    def losses(gates: torch.Tensor) -> torch.Tensor:
        with torch.no_grad(), gated(model.encoder, gates):
            return F.cross_entropy(model(IDS, LENGTHS), LABELS, reduction="none")

    ones = torch.ones(L, H).double()
    for block in range(L):
        for head in range(H):
            step = torch.zeros(L, H).double()
            step[block, head] = small
            slope = (losses(ones + step) - losses(ones - step)) / (2 * small)
            change[block, head] = slope.abs().mean()
    expected = change / change.norm(dim=1, keepdim=True)
    batches = [
        (IDS[:2], LENGTHS[:2], LABELS[:2]),
        (IDS[2:], LENGTHS[2:], LABELS[2:]),
    ]
    found = head_importance(model, batches)
    torch.testing.assert_close(found, expected, rtol=1e-6, atol=1e-8)
    assert not found.requires_grad
    assert all(weight.grad is None for weight in model.parameters())


def test_batches_of_texts_are_read_as_they_are_learned_from():
    model, texts = classifier(), [ids[:n].tolist() for ids, n in zip(IDS, LENGTHS, strict=True)]
    batches = BucketedBatches(texts, LABELS, batch_size=2)
    whole = head_importance(model, [(*pad(texts), LABELS)])
    torch.testing.assert_close(head_importance(model, batches), whole, rtol=1e-10, atol=1e-10)


def test_a_head_that_says_nothing_has_no_importance():
    model = classifier()
    with torch.no_grad():
        model.encoder.blocks[1].self_attention.W_o.weight[:, D // H : 2 * D // H] = 0
    found = head_importance(model, [(IDS, LENGTHS, LABELS)])
    assert found[1, 1] == 0 and (found > 0).sum() == L * H - 1


@pytest.mark.parametrize(
    "gates",
    [torch.ones(L, H - 1), torch.ones(L + 1, H), torch.ones(H), torch.ones(1, 2, L, H)],
)
def test_gates_that_are_not_one_for_each_head_are_refused(gates):
    with (
        pytest.raises(ValueError, match=re.escape(str(tuple(gates.shape)))),
        gated(classifier().encoder, gates.double()),
    ):
        pass


def test_shared_blocks_and_dropout_are_refused():
    shared = SharedEncoder(CONFIG)
    with (
        pytest.raises(ValueError, match="Blocks share"),
        gated(shared, torch.ones(L, H)),
    ):
        pass
    with pytest.raises(ValueError, match=r"eval\(\)"):
        head_importance(classifier().train(), [(IDS, LENGTHS, LABELS)])


KEPT = pytest.mark.parametrize("kept", [[2], [0, 3], [1, 2, 3], [3, 0, 1, 2]])


@KEPT
@pytest.mark.parametrize("bias", [True, False])
def test_a_layer_without_heads_says_what_it_says_with_gates_of_zero(kept, bias):
    whole, x = layer(bias=bias), torch.randn(2, T, D).double()
    fewer = FewerHeads(whole, kept)
    gate = torch.zeros(H).double()
    gate[kept] = 1
    silenced = layer(bias=bias)
    with torch.no_grad():
        silenced.W_o.weight *= gate.repeat_interleave(D // H)
    mask = window_mask(T, 3)
    for how in ({}, {"mask": mask}, {"is_causal": True}):
        expected, weights = silenced(x, need_weights=True, **how)
        torch.testing.assert_close(fewer(x, **how)[0], expected, **EXACT)
        found, of_kept = fewer(x, need_weights=True, **how)
        torch.testing.assert_close(found, expected, **EXACT)
        torch.testing.assert_close(of_kept, weights[:, sorted(kept)], **EXACT)
    gone = (H - len(kept)) * D // H
    n_whole, n_fewer = (sum(w.numel() for w in of.parameters()) for of in (whole, fewer))
    assert n_whole - n_fewer == gone * (4 * D + 3 * bias)
    fewer(x)[0].sum().backward()
    assert all(weight.grad is None for weight in whole.parameters())


@KEPT
def test_cut_out_of_a_model_they_are_as_silent_as_with_gates(kept):
    model, gates = classifier(), torch.ones(L, H).double()
    gates[1] = 0
    gates[1, kept] = 1
    with gated(model.encoder, gates):
        expected = model(IDS, LENGTHS)
    block = model.encoder.blocks[1]
    block.self_attention = FewerHeads(block.self_attention, kept)
    torch.testing.assert_close(model(IDS, LENGTHS), expected, **EXACT)


@pytest.mark.parametrize("kept", [[], [4], [-1], [1, 1]])
def test_heads_that_can_not_be_kept_are_refused(kept):
    with pytest.raises(ValueError, match=f" 3, .*{re.escape(str(kept))}"):
        FewerHeads(layer(), kept)


def test_heads_that_share_keys_and_layers_of_another_kind_are_refused():
    with pytest.raises(ValueError, match="share keys"):
        FewerHeads(layer(n_kv_heads=2), [0])
    fewer, x = FewerHeads(layer(), [0]), torch.randn(1, T, D).double()
    with pytest.raises(ValueError, match=" MultiHeadAttention, .* FewerHeads"):
        FewerHeads(fewer, [0])
    with pytest.raises(ValueError, match="memory out"):
        fewer(x, x)
    changed = layer()
    parametrize.register_parametrization(changed, "W_in", nn.Identity())
    with pytest.raises(ValueError, match=" MultiHeadAttention, .* Parametrized"):
        FewerHeads(changed, [0])


# How they are measured ----------------------------------------------------------------------------


def test_the_rate_is_chosen_in_validation_and_each_begins_anew(monkeypatch):
    made, drawn = [], []

    def tuned(model, task, rate, seed):
        drawn.append(torch.rand(()).item())
        model.rate = rate
        return model

    def make():
        made.append(nn.Linear(1, 1))
        return made[-1]

    shares = {0.1: 0.3, 0.2: 0.7, 0.3: 0.5}
    task = Task(None, "validation", "test", None, 2)
    monkeypatch.setattr(shrinking, "fine_tune", tuned)
    monkeypatch.setattr(
        shrinking, "right", lambda model, of, part: shares[model.rate] * (part == "validation")
    )
    best = shrinking.at_best_rate(make, shares, task, seed=3)
    assert best == (made[1], 0.2, [0.3, 0.7, 0.5])
    assert len(set(map(id, made))) == 3 and len(set(drawn)) == 1


def test_what_is_right_is_counted_of_the_part_that_is_asked_for():
    words = Vocabulary(["a", "b"])
    part = Labelled([["a"], ["b", "a"], ["b"]], torch.tensor([0, 0, 1]))
    first = nn.Module()
    first.forward = lambda ids, lengths: F.one_hot((ids[:, 0] == words.encode(["b"])[0]).long(), 2)
    assert shrinking.right(first, Task(None, None, None, words, 2), part) == pytest.approx(2 / 3)


@pytest.mark.parametrize("kind, learns", [("frozen", 0), ("rank 2", L * 4 * 2 * D), ("full", None)])
def test_that_much_of_a_classifier_is_tuned(kind, learns):
    of_kind = load_script("lora").of_kind
    model = of_kind(kind, masked(), 5)
    whole = sum(weight.numel() for weight in model.encoder.parameters())
    assert n_trained(model.encoder) == (whole if learns is None else learns)
    assert n_trained(model) - n_trained(model.encoder) == 5 * D + 5


def test_numbers_of_four_bits_share_a_byte_and_can_be_told_apart():
    model = with_rounded_weights(masked().float(), bits=4)
    stored = load_script("int8").as_stored(model, 4)
    name = "encoder.blocks.0.feed_forward.W_1.parametrizations.weight.original0"
    packed, whole = stored[name], dict(model.named_parameters())[name]
    assert packed.shape == (40, D // 2) and packed.dtype == torch.int8
    low, high = packed.to(torch.int32) << 28 >> 28, packed.to(torch.int32) >> 4
    assert torch.equal(torch.stack([low, high], dim=2).flatten(1), whole.int())
    assert stored.keys() == dict(model.named_parameters()).keys()
    assert torch.equal(load_script("int8").as_stored(model, 8)[name], whole)
