"""What a student learns from: soft targets and angles, every second block, and all at once."""

from functools import partial

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from utils.attention import padding_mask
from utils.data.text import PAD
from utils.pretraining import (
    IGNORE,
    MaskedLanguageModel,
    PairEmbedding,
    cosine_loss,
    every_second,
    soft_target_loss,
    student_of,
)
from utils.tasks import pretraining
from utils.tasks.distilling import Weights, distil, sizes_of
from utils.transformer import Parts, TransformerConfig
from utils.transformer.config import PAPERS

EXACT = {"rtol": 0.0, "atol": 1e-12}
B, T, D, V, N = 3, 5, 8, 11, 7
SIZES = {"d_model": D, "n_heads": 2, "d_ff": 12, "n_layers": 4, "dropout": 0.0}
PAIRS = Parts(embedding=partial(PairEmbedding, max_len=9))
IDS = torch.tensor([[5, 6, 7, 8, 9], [10, 5, 4, 0, 0], [6, 6, 1, 9, 0]])
LENGTHS = torch.tensor([5, 3, 4])
REAL = padding_mask(LENGTHS, T)[:, 0]


def drawn(*shape: int, seed: int = 0) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(*shape, generator=generator, dtype=torch.float64).requires_grad_()


def model(parts: Parts = PAPERS, seed: int = 0, **how: object) -> MaskedLanguageModel:
    torch.manual_seed(seed)
    positions = None if parts is PAIRS else "rotary"
    pooled = {name: how.pop(name) for name in ("pooled", "ordered") if name in how}
    config = TransformerConfig(V, **SIZES | {"norm": "pre", "positions": positions} | how)
    made = MaskedLanguageModel(config, parts, **pooled).double()
    with torch.no_grad():
        for weight in made.parameters():
            weight.add_(0.1 * torch.randn_like(weight))
    return made


def published_loss(s_logits, t_logits, s_hidden, t_hidden, labels, attended, tau, alphas):
    """As distiller.py of Hugging Face's examples has it, with `restrict_ce_to_mask`."""
    mask = (labels > -1).unsqueeze(-1).expand_as(s_logits)
    s_slct = torch.masked_select(s_logits, mask).view(-1, s_logits.shape[-1])
    t_slct = torch.masked_select(t_logits, mask).view(-1, s_logits.shape[-1])
    ce = nn.KLDivLoss(reduction="batchmean")(
        F.log_softmax(s_slct / tau, dim=-1), F.softmax(t_slct / tau, dim=-1)
    )
    mlm = nn.CrossEntropyLoss(ignore_index=-100)(s_logits.flatten(0, 1), labels.flatten())
    mask = attended.unsqueeze(-1).expand_as(s_hidden)
    s_slct = torch.masked_select(s_hidden, mask).view(-1, s_hidden.shape[-1])
    t_slct = torch.masked_select(t_hidden, mask).view(-1, s_hidden.shape[-1])
    same = s_slct.new_ones(len(s_slct))
    cos = nn.CosineEmbeddingLoss(reduction="mean")(s_slct, t_slct, same)
    return alphas[0] * mlm + alphas[1] * ce * tau**2 + alphas[2] * cos


# Soft targets -------------------------------------------------------------------------------------


@pytest.mark.parametrize("tau", [0.5, 1.0, 2.0, 10.0])
def test_soft_targets_are_the_divergence_word_by_word(tau):
    z, v = drawn(N, V), drawn(N, V, seed=1)
    p, q = (v / tau).softmax(1), (z / tau).softmax(1)
    by_hand = tau**2 * sum(p[i, k] * (p[i, k] / q[i, k]).log() for i in range(N) for k in range(V))
    torch.testing.assert_close(soft_target_loss(z, v, tau), by_hand / N, **EXACT)
    assert soft_target_loss(v, v, tau).item() == pytest.approx(0, abs=1e-12)


def test_a_high_temperature_matches_logits_however_high_it_is():
    """Hinton et al., 2015, eq. 4, times T²: the gradient goes to the logits' difference / V."""
    z, v = drawn(N, V), drawn(N, V, seed=1)
    expected = (z - z.mean(1, keepdim=True) - v + v.mean(1, keepdim=True)) / V / N
    for tau in (1e3, 1e4):
        (found,) = torch.autograd.grad(soft_target_loss(z, v, tau), z)
        torch.testing.assert_close(found, expected, rtol=0, atol=1 / tau)
    (found,) = torch.autograd.grad(soft_target_loss(z, v, 1.0), z)  # eq. 2 at T = 1
    torch.testing.assert_close(found, (z.softmax(1) - v.softmax(1)) / N, **EXACT)


def test_a_word_that_the_teacher_rules_out_costs_what_the_others_do():
    z, v = drawn(1, 3), torch.tensor([[0.0, 1.0, -1e9]], dtype=torch.float64)
    loss = soft_target_loss(z, v, 2.0)
    loss.backward()
    assert loss.isfinite() and z.grad.isfinite().all()


def test_a_teacher_gets_no_gradient():
    z, v = drawn(N, V), drawn(N, V, seed=1)
    soft_target_loss(z, v, 2.0).backward()
    x, of_teacher = drawn(B, T, D), drawn(B, T, D, seed=1)
    cosine_loss(x, of_teacher, REAL).backward()
    assert v.grad is None and of_teacher.grad is None
    assert z.grad.abs().max() > 0 and x.grad.abs().max() > 0


@pytest.mark.parametrize(
    "shapes, tau, message",
    [
        ([(N, V), (N, V + 1)], 2.0, r"\(7, 11\).*\(7, 12\)"),
        ([(B, T, V), (B, T, V)], 2.0, r"\(3, 5, 11\).*\(3, 5, 11\)"),
        ([(0, V), (0, V)], 2.0, "No word"),
        ([(N, V), (N, V)], 0.0, "temperature.* 0.0:"),
        ([(N, V), (N, V)], -1.0, "temperature.* -1.0:"),
    ],
)
def test_soft_targets_that_do_not_fit_are_refused(shapes, tau, message):
    with pytest.raises(ValueError, match=message):
        soft_target_loss(*(torch.zeros(shape) for shape in shapes), tau)


# Angles -------------------------------------------------------------------------------------------


def test_the_angle_is_the_librarys_over_what_is_real():
    x, of_teacher = drawn(B, T, D), drawn(B, T, D, seed=1)
    same = torch.ones(int(REAL.sum()))
    expected = F.cosine_embedding_loss(x[REAL], of_teacher[REAL], same)
    torch.testing.assert_close(cosine_loss(x, of_teacher, REAL), expected, rtol=0, atol=1e-9)
    padded = x.masked_fill(~REAL[..., None], float("nan"))
    assert torch.equal(cosine_loss(padded, of_teacher, REAL), cosine_loss(x, of_teacher, REAL))


def test_it_is_zero_for_one_direction_one_for_a_right_angle_and_two_for_the_opposite():
    x = torch.tensor([[[3.0, 4.0]]])
    real = torch.tensor([[True]])
    for other, expected in (([6.0, 8.0], 0.0), ([-4.0, 3.0], 1.0), ([-3.0, -4.0], 2.0)):
        found = cosine_loss(x, torch.tensor([[other]]), real)
        assert found.item() == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize(
    "shapes, real, message",
    [
        ([(B, T, D), (B, T, D + 1)], REAL, r"\(3, 5, 8\).*\(3, 5, 9\)"),
        ([(N, D), (N, D)], REAL, r"\(7, 8\).*\(7, 8\)"),
        ([(B, T, D), (B, T, D)], REAL.long(), "int64"),
        ([(B, T, D), (B, T, D)], REAL[:1], r"\(3, 5\).*\(1, 5\)"),
        ([(B, T, D), (B, T, D)], REAL & False, "all is padding"),
    ],
)
def test_angles_that_do_not_fit_are_refused(shapes, real, message):
    with pytest.raises(ValueError, match=message):
        cosine_loss(*(torch.zeros(shape) for shape in shapes), real)


# Every second block -------------------------------------------------------------------------------


def test_a_student_begins_with_every_second_block_and_all_the_rest():
    teacher = model()
    student = student_of(teacher)
    assert student.config.n_layers == 2 and teacher.config.n_layers == 4
    assert len(student.encoder.blocks) == 2 and len(teacher.encoder.blocks) == 4
    x = teacher.encoder.embedding(IDS)
    mask = padding_mask(LENGTHS, T)[:, None]
    for number in (0, 2):
        x, _ = teacher.encoder.blocks[number](x, mask)
    expected = teacher.head(teacher.encoder.norm(x))
    torch.testing.assert_close(student(IDS, LENGTHS)[REAL], expected[REAL], **EXACT)


@pytest.mark.parametrize("parts, how", [(PAPERS, {}), (PAIRS, {"pooled": True, "ordered": True})])
def test_it_shares_nothing_and_keeps_what_is_tied(parts, how):
    teacher = model(parts, **how).requires_grad_(False).eval()
    before = {name: weight.clone() for name, weight in teacher.state_dict().items()}
    student = student_of(teacher)
    assert student.training and all(weight.requires_grad for weight in student.parameters())
    symbols = student.encoder.embedding.symbols
    assert student.head.weight is getattr(symbols, "words", symbols).weight
    with torch.no_grad():
        for weight in student.parameters():
            weight.zero_()
    for name, weight in teacher.state_dict().items():
        assert torch.equal(weight, before[name]), name
    assert not teacher.training and teacher.config.n_layers == 4


def test_berts_types_and_pooler_are_left_out():
    teacher = model(PAIRS, pooled=True, ordered=True)
    student = student_of(teacher)
    assert student.pool is None and student.order is None and teacher.pool is not None
    assert not [name for name, _ in student.named_parameters() if "types" in name]
    embedding = teacher.encoder.embedding.symbols
    summed = embedding.words.weight[IDS] + embedding.positions.table[:T]
    x = F.layer_norm(summed, (D,), embedding.norm.weight, embedding.norm.bias)
    torch.testing.assert_close(student.encoder.embedding.symbols(IDS), x, **EXACT)
    with pytest.raises(ValueError, match="types"):
        student.read(IDS, LENGTHS, torch.zeros_like(IDS))


def test_gradients_of_the_teachers_training_are_left_behind():
    teacher = model()
    teacher(IDS).sum().backward()
    assert all(weight.grad is None for weight in student_of(teacher).parameters())
    assert teacher.head.weight.grad is not None


def test_the_readers_own_choice_is_taken():
    teacher = model()
    student = student_of(teacher, lambda blocks: [every_second(blocks)[1]])
    assert student.config.n_layers == 1
    assert torch.equal(
        student.encoder.blocks[0].self_attention.W_in, teacher.encoder.blocks[2].self_attention.W_in
    )


def test_blocks_that_can_not_be_halved_are_refused():
    with pytest.raises(ValueError, match="blocks.* 3 "):
        student_of(model(n_layers=3))


# All at once --------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def taught():
    """A teacher with dropout, in training mode, and its student without, after two steps."""
    teacher = pretraining.new_model(0)
    before = {name: weight.clone() for name, weight in teacher.state_dict().items()}
    student, modes = student_of(teacher), []
    for module in teacher.modules():
        if isinstance(module, nn.Dropout):
            module.p = 0.5
    teacher.encoder.register_forward_pre_hook(lambda of, _: modes.append(of.training))
    batches = list(pretraining.Hidden(2))
    history = distil(teacher, student, batches)
    return teacher, before, modes, student, batches, history


def test_the_teacher_is_in_evaluation_mode_and_stays_as_it_is(taught):
    teacher, before, modes, *_ = taught
    assert modes == [False, False] and teacher.training
    assert all(torch.equal(weight, before[name]) for name, weight in teacher.state_dict().items())
    assert all(weight.grad is None for weight in teacher.parameters())


@pytest.mark.parametrize("weights", [Weights(), Weights(1.0, 0.0, 3.0)])
def test_the_loss_is_the_published_scripts(taught, weights):
    teacher, before, _, _, batches, _ = taught
    plain = pretraining.new_model(1)
    plain.load_state_dict(before)
    student = student_of(plain)
    ids, lengths, labels = batches[0]
    with torch.no_grad():
        x, of_teacher = student.read(ids, lengths), plain.read(ids, lengths)
        expected = published_loss(
            *(student.head(x), plain.head(of_teacher), x, of_teacher, labels),
            *(ids != PAD, 2.0, weights),
        )
    history = distil(teacher, student, batches[:1], weights=weights)
    assert history.step_loss == [pytest.approx(expected.item(), rel=1e-5)]
    assert Weights() == (2.0, 5.0, 1.0)


def test_all_of_the_student_learns(taught):
    teacher, _, _, student, _, history = taught
    begun = student_of(teacher).state_dict()
    assert len(history.step_loss) == 2
    changed = {name: not torch.equal(w, begun[name]) for name, w in student.state_dict().items()}
    assert all(changed.values()), [name for name, moved in changed.items() if not moved]


def test_soft_targets_of_the_readers_own_are_used():
    teacher = pretraining.new_model(0, n_layers=2)
    asked = []

    def own(student_logits, teacher_logits, tau):
        asked.append((student_logits.shape, teacher_logits.requires_grad, tau))
        return 0.0 * student_logits.sum()

    batches = list(pretraining.Hidden(1))
    distil(teacher, student_of(teacher), batches, soft_targets=own)
    n = int((batches[0][2] != IGNORE).sum())
    assert asked == [((n, len(pretraining.vocabulary())), False, 2.0)]


# What came of it ----------------------------------------------------------------------------------


def test_sizes_count_what_is_shared_once_and_bytes_by_their_kind():
    made = model(n_layers=2)
    assert made.head.weight is made.encoder.embedding.symbols.weight
    counted = sum({id(weight): weight.numel() for weight in made.parameters()}.values())
    assert sizes_of(made) == (counted, 8 * counted)
    assert sizes_of(made.half()) == (counted, 2 * counted)
    made.register_buffer("rows", torch.zeros(10, dtype=torch.int8))
    assert sizes_of(made) == (counted, 2 * counted + 10)
