"""The reference solutions of Day 6, held to the library and to definitions written out as loops."""

import math

import pytest
import torch
from torch import nn
from torch.nn import functional as F
from torch.optim.swa_utils import AveragedModel

from utils.exercises.transformer import check
from utils.exercises.transformer.checkpoint_average import average, echo_texts
from utils.exercises.transformer.cosine_schedule import rate
from utils.exercises.transformer.layer_norm_gradient import layer_norm_gradient
from utils.exercises.transformer.left_padding import embed
from utils.exercises.transformer.prefix_mask import prefix_mask
from utils.exercises.transformer.rms_norm import rms_norm
from utils.exercises.transformer.sandwich_norm import mean_so_far, sandwich
from utils.exercises.transformer.smoothed_divergence import smoothed, smoothed_divergence
from utils.exercises.transformer.swiglu import swiglu
from utils.exercises.transformer.tensor2tensor_positions import add_waves
from utils.positions import LearnedPositions
from utils.transformer import ScaledEmbedding


def draw(*shape: int, seed: int = 0) -> torch.Tensor:
    return torch.randn(*shape, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))


def test_the_predictions_are_what_is_measured():
    answers = [check.exercises[id].answer() for id in ("6.1", "6.2", "6.7", "6.9")]
    assert answers == [66_752, pytest.approx(16), 5, 2048]


@pytest.mark.parametrize("d_model", [4, 5, 6, 9])
def test_the_waves_are_those_of_a_loop(d_model):
    x, n = draw(2, 3, d_model), d_model // 2
    expected = x.clone()
    for t in range(3):
        for i in range(n):
            wavelength = 2 * math.pi * 10_000 ** (i / (n - 1))
            expected[:, t, i] += math.sin(2 * math.pi * (t + 7) / wavelength)
            expected[:, t, n + i] += math.cos(2 * math.pi * (t + 7) / wavelength)
    torch.testing.assert_close(add_waves(x, 7), expected)


def test_a_text_padded_on_its_left_is_embedded_as_it_is_without_padding():
    symbols, positions = ScaledEmbedding(7, 5).double(), LearnedPositions(9, 5).double()
    ids = torch.tensor([[0, 0, 3, 6], [2, 5, 1, 4], [0, 4, 4, 2]])
    with torch.no_grad():
        got = embed(ids, symbols.weight, positions.table)
        for row, of_row in zip(ids, got, strict=True):
            expected = positions(symbols(row[row != 0][None]))[0]
            torch.testing.assert_close(of_row[row != 0], expected)
            assert not of_row[row == 0].any()


def test_the_norm_without_a_mean_is_the_librarys():
    x, gain = draw(2, 3, 5), draw(5, seed=1)
    expected = F.rms_norm(x, (5,), gain, eps=0.01)
    torch.testing.assert_close(rms_norm(x, gain, 0.01), expected)


def test_sublayers_are_run_one_behind_the_other():
    x = draw(2, 3, 4)
    norm = nn.LayerNorm(4, elementwise_affine=False)
    y = x + norm(mean_so_far(norm(x)))
    expected = norm(y + norm(norm(y).sin()))
    torch.testing.assert_close(sandwich(x, [mean_so_far, torch.sin]), expected)


def test_the_mean_so_far_is_that_of_a_loop():
    x = draw(2, 3, 4)
    for t in range(3):
        torch.testing.assert_close(mean_so_far(x)[:, t], x[:, : t + 1].mean(1))


def test_the_gated_layer_is_the_librarys_layers_put_together():
    x, W_gate, W_up, W_down = draw(2, 3, 4), draw(5, 4), draw(5, 4, seed=1), draw(4, 5)
    expected = F.linear(F.silu(F.linear(x, W_gate)) * F.linear(x, W_up), W_down)
    torch.testing.assert_close(swiglu(x, W_gate, W_up, W_down), expected)


def test_who_sees_whom_is_as_in_a_loop():
    prefixes, lengths = torch.tensor([2, 1, 3]), torch.tensor([4, 5, 3])
    got = prefix_mask(prefixes, lengths, 5)
    for b, (prefix, length) in enumerate(zip(prefixes, lengths, strict=True)):
        for q in range(5):
            for k in range(5):
                assert got[b, q, k] == ((k <= q or k < prefix) and k < length)


def test_with_an_even_prior_the_divergence_is_the_librarys_smoothed_loss_less_its_least():
    logits, even = draw(2, 3, 5), torch.full((5,), 0.2, dtype=torch.float64)
    target = torch.tensor([[0, 3, 4], [2, 2, 1]])
    real = torch.tensor([[True, True, False], [True, True, True]])
    loss = F.cross_entropy(logits[real], target[real], label_smoothing=0.1)
    q = torch.tensor([0.92, 0.02, 0.02, 0.02, 0.02], dtype=torch.float64)
    got = smoothed_divergence(logits, target, real, even, 0.1)
    torch.testing.assert_close(got, loss + (q * q.log()).sum())


def test_the_divergence_from_the_labels_themselves_is_0():
    target, real = torch.tensor([[1, 2]]), torch.ones(1, 2, dtype=torch.bool)
    prior = torch.tensor([0.5, 0.25, 0.25], dtype=torch.float64)
    log_p = smoothed(target, prior, 0.1).log()
    got = smoothed_divergence(log_p, target, real, prior, 0.1)
    torch.testing.assert_close(got, torch.zeros_like(got))


def test_the_rates_are_those_of_two_schedulers_of_the_library():
    warmup, total, peak, floor = 5, 20, 0.4, 0.1
    optimiser = torch.optim.SGD([nn.Parameter(torch.zeros(1))], lr=peak)
    fall = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, total - warmup, floor)
    for step in range(1, total + 1):
        if step > warmup:
            optimiser.step()
            fall.step()
        rise = min(step / warmup, 1)
        expected = rise * optimiser.param_groups[0]["lr"]
        assert rate(step, peak, warmup, total, floor) == pytest.approx(expected)
    assert rate(total + 9, peak, warmup, total, floor) == pytest.approx(floor)


def test_the_gradient_of_layer_norm_is_autograds():
    x, gain, bias, grad_y = draw(2, 3, 5), draw(5), draw(5, seed=1), draw(2, 3, 5, seed=2)
    leaves = [leaf.requires_grad_() for leaf in (x, gain, bias)]
    y = F.layer_norm(x, (5,), gain, bias, eps=0.1)
    expected = torch.autograd.grad((y * grad_y).sum(), leaves)
    got = layer_norm_gradient(x.detach(), gain.detach(), 0.1, grad_y)
    for ours, theirs in zip(got, expected, strict=True):
        torch.testing.assert_close(ours, theirs, rtol=1e-10, atol=1e-10)


def test_the_mean_of_the_last_checkpoints_is_the_librarys():
    layer = nn.Linear(3, 2).double()
    averaged, checkpoints = AveragedModel(layer), []
    for seed in range(5):
        with torch.no_grad():
            for i, parameter in enumerate(layer.parameters()):
                parameter.copy_(draw(*parameter.shape, seed=10 * seed + i))
        checkpoints.append([parameter.detach().clone() for parameter in layer.parameters()])
        if seed >= 2:
            averaged.update_parameters(layer)
    expected = list(averaged.module.parameters())
    for ours, theirs in zip(average(checkpoints, 3), expected, strict=True):
        torch.testing.assert_close(ours, theirs.detach())


def test_in_the_texts_a_symbol_hangs_on_the_last_but_one():
    ids, surprise = echo_texts(4000, 12, language=3, seed=0)
    counts = torch.zeros(2, 6, 6)  # what follows two places on, and one
    for places in (2, 1):
        pairs = torch.stack([ids[:, 2 - places : -places], ids[:, 2:]]).flatten(1)
        counts[2 - places].index_put_(tuple(pairs), torch.tensor(1.0), accumulate=True)
    p = counts / counts.sum(2, keepdim=True)
    of_two, of_one = (-(counts * p.log()).sum((1, 2)) / counts.sum((1, 2))).tolist()
    assert of_two == pytest.approx(surprise, abs=0.01) and of_one > surprise + 0.1
    again, _ = echo_texts(4000, 12, language=3, seed=0)
    other, near = echo_texts(4000, 12, language=3, seed=1)
    assert torch.equal(ids, again) and not torch.equal(ids, other)
    assert near == pytest.approx(surprise, abs=0.02)
