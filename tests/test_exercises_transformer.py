"""The reference solutions of Day 6, held to the library and to definitions written out as loops."""

import math

import pytest
import torch
from torch import nn
from torch.nn import functional as F
from torch.optim.swa_utils import AveragedModel

from utils.exercises.transformer import check
from utils.exercises.transformer.block import block
from utils.exercises.transformer.checkpoint_average import average, echo_texts
from utils.exercises.transformer.cosine_schedule import rate
from utils.exercises.transformer.decoder_block import decoder_block
from utils.exercises.transformer.layer_norm import layer_norm
from utils.exercises.transformer.layer_norm_gradient import layer_norm_gradient
from utils.exercises.transformer.left_padding import embed
from utils.exercises.transformer.prefix_mask import prefix_mask
from utils.exercises.transformer.rms_norm import rms_norm
from utils.exercises.transformer.sandwich_norm import mean_so_far, sandwich
from utils.exercises.transformer.shifted_target import shifted
from utils.exercises.transformer.smoothed_divergence import smoothed, smoothed_divergence
from utils.exercises.transformer.swiglu import swiglu
from utils.exercises.transformer.tensor2tensor_positions import add_waves
from utils.exercises.transformer.write_translation import write
from utils.positions import LearnedPositions
from utils.seq2seq import BOS, EOS, PAD, greedy_decode, shift
from utils.transformer import (
    DecoderBlock,
    EncoderBlock,
    ScaledEmbedding,
    Transformer,
    TransformerConfig,
)


def draw(*shape: int, seed: int = 0) -> torch.Tensor:
    return torch.randn(*shape, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))


def test_the_predictions_are_what_is_measured():
    answers = [
        check.exercises[id].answer()
        for id in (
            "decoder_block_parameters",
            "unscaled_embedding",
            "pre_norm_deviation",
            "pairs_against_feed_forward",
        )
    ]
    assert answers == [66_752, pytest.approx(16), 5, 2048]


def test_the_norm_is_the_librarys():
    x, gain, bias = 1 + 3 * draw(2, 3, 5), draw(5, seed=1), draw(5, seed=2)
    expected = F.layer_norm(x, (5,), gain, bias, eps=0.01)
    torch.testing.assert_close(layer_norm(x, gain, bias, 0.01), expected)


def test_the_block_is_the_books():
    torch.manual_seed(0)
    config = TransformerConfig(9, d_model=6, n_heads=2, d_ff=10, norm="pre", dropout=0.0)
    book, x = EncoderBlock(config).double(), draw(2, 5, 6)
    norms = [residual.norm for residual in book.residuals]
    looks = lambda y: book.self_attention(y)[0]  # noqa: E731
    torch.testing.assert_close(block(x, norms, [looks, book.feed_forward]), book(x)[0])


def test_the_decoder_block_is_the_books():
    torch.manual_seed(0)
    config = TransformerConfig(9, d_model=6, n_heads=2, d_ff=10, norm="pre", dropout=0.0)
    book, x, memory = DecoderBlock(config).double(), draw(2, 5, 6), draw(2, 4, 6, seed=1)
    real = (torch.arange(4) < torch.tensor([[4], [2]]))[:, None, None]
    norms = [residual.norm for residual in book.residuals]
    layers = book.self_attention, book.cross_attention, book.feed_forward
    expected = book(x, book.remember(memory, real))[0]
    torch.testing.assert_close(decoder_block(x, memory, real, norms, *layers), expected)


def test_a_translation_is_written_as_the_book_decodes_greedily():
    torch.manual_seed(0)
    sizes = {"d_model": 8, "n_heads": 2, "d_ff": 8, "n_layers": 1, "dropout": 0.0}
    model = Transformer(TransformerConfig(9, 7, **sizes)).eval()
    source, lengths = torch.tensor([[3, 4, 5, EOS], [8, EOS, PAD, PAD]]), torch.tensor([4, 2])

    class Asked:
        def encode(self, ids):
            return ids, lengths

        def decode(self, ids, found):
            logits = model(*found, ids)
            logits[..., :EOS] = -torch.inf  # neither PAD nor BOS is ever chosen
            return logits

    found, expected = write(Asked(), source, 6), greedy_decode(model, source, lengths, 6)
    for row, right in zip(found.tolist(), expected.tolist(), strict=True):
        n = right.index(EOS) + 1 if EOS in right else len(right)
        assert row[:n] == right[:n] and len(row) == 6


def test_the_shifted_target_is_the_books():
    read, say = shifted([[5, 7], [9, 4, 6], [8]])
    assert say.tolist() == [[5, 7, EOS, PAD], [9, 4, 6, EOS], [8, EOS, PAD, PAD]]
    real = say != PAD
    assert torch.equal(read[real], shift(say)[real]) and read[:, 0].eq(BOS).all()
    assert read[~real].eq(PAD).all()


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


def test_in_the_texts_a_symbol_depends_on_the_last_but_one():
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


# Answers as people write them ---------------------------------------------------------------------


def waves_in_two_precisions(x, start):
    n = x.shape[2] // 2
    places = start + torch.arange(x.shape[1], dtype=torch.float64)
    angles = places[:, None] / 10_000 ** torch.linspace(0, 1, n)
    return x + F.pad(torch.cat([angles.sin(), angles.cos()], 1), (0, x.shape[2] % 2))


def waves_by_a_loop(x, start):
    out, n = x.clone(), x.shape[2] // 2
    for t in range(x.shape[1]):
        for i in range(n):
            angle = (start + t) / 10_000 ** (i / (n - 1))
            out[:, t, i] += math.sin(angle)
            out[:, t, n + i] += math.cos(angle)
    return out


def embedded_by_a_loop(ids, symbols, positions):
    out = torch.zeros(*ids.shape, symbols.shape[1])  # in single precision
    for b, row in enumerate(ids.tolist()):
        place = 0
        for t, symbol in enumerate(row):
            if symbol:
                out[b, t] = math.sqrt(symbols.shape[1]) * symbols[symbol] + positions[place]
                place += 1
    return out


def rms_norm_in_place(x, gain, eps):
    return x.clone().mul_((x.pow(2).mean(-1, keepdim=True) + eps).rsqrt()).mul_(gain)


def block_by_recursion(x, norms, sublayers):
    if not norms:
        return x
    return block_by_recursion(x + sublayers[0](norms[0](x)), norms[1:], sublayers[1:])


def shifted_by_padding_each(targets):
    T = max(len(y) for y in targets)
    rows = [(F.pad(torch.tensor(y), (0, T - len(y))), len(y)) for y in targets]
    say = torch.stack([F.pad(row, (0, 1)) for row, _ in rows])
    say[torch.arange(len(rows)), torch.tensor([n for _, n in rows])] = EOS
    read = torch.stack([F.pad(row, (1, 0), value=BOS) for row, _ in rows])
    return [read, say]


def sandwich_by_recursion(x, sublayers):
    def norm(x):
        deviation = (x.var(-1, correction=0, keepdim=True) + 1e-5).sqrt()
        return (x - x.mean(-1, keepdim=True)) / deviation

    if not sublayers:
        return norm(x)
    return sandwich_by_recursion(x + norm(sublayers[0](norm(x))), sublayers[1:])


def swiglu_by_position(x, W_gate, W_up, W_down):
    out = torch.zeros(x.shape)  # in single precision
    for b in range(x.shape[0]):
        for t in range(x.shape[1]):
            u = W_gate @ x[b, t]
            out[b, t] = W_down @ (u * u.sigmoid() * (W_up @ x[b, t]))
    return out


def mask_by_slices(prefixes, lengths, T):
    mask = torch.ones(T, T).tril().bool().repeat(len(prefixes), 1, 1)
    for seen, prefix, length in zip(mask, prefixes, lengths, strict=True):
        seen[:, :prefix] = True
        seen[:, length:] = False
    return mask


def divergence_by_a_loop(logits, target, real, prior, smoothing):
    total = 0
    for b, t in real.nonzero().tolist():
        log_p = logits[b, t].log_softmax(0)
        for k in range(len(prior)):
            q = smoothing * prior[k] + (1 - smoothing) * (k == target[b, t])
            if q > 0:
                total = total + q * (q.log() - log_p[k])
    return total / real.sum()


def divergence_of_the_library(logits, target, real, prior, smoothing):
    q = smoothed(target, prior, smoothing)
    return F.kl_div(logits[real].log_softmax(-1), q[real], reduction="batchmean")


def rate_as_a_tensor(step, peak, warmup, total, floor):
    share = max(0, min(1, (step - warmup) / (total - warmup)))
    fallen = floor + (peak - floor) * (1 + math.cos(math.pi * share)) / 2
    return torch.tensor(min(1, step / warmup) * fallen)


def gradients_by_a_loop(x, gain, eps, grad_y):
    grad_x, grad_gain, grad_bias = torch.zeros(x.shape), *torch.zeros(2, len(gain))
    for b in range(x.shape[0]):
        for t in range(x.shape[1]):
            centred = x[b, t] - x[b, t].mean()
            deviation = (centred.square().mean() + eps).sqrt()
            h = grad_y[b, t] * gain
            by_variance = -(h * centred).sum() / 2 / deviation**3
            by_mean = -h.sum() / deviation
            grad_x[b, t] = h / deviation + (2 * by_variance * centred + by_mean) / x.shape[2]
            grad_gain += grad_y[b, t] * centred / deviation
            grad_bias += grad_y[b, t]
    return [grad_x, grad_gain, grad_bias]


def average_by_a_loop(checkpoints, last):
    sums = [torch.zeros(parameter.shape) for parameter in checkpoints[0]]
    for checkpoint in checkpoints[-last:]:
        for total, parameter in zip(sums, checkpoint, strict=True):
            total += parameter
    return tuple(total / last for total in sums)


@pytest.mark.parametrize(
    ("id", "answer"),
    [
        ("layer_norm", lambda x, gain, bias, eps: F.layer_norm(x, gain.shape, gain, bias, eps)),
        (
            "layer_norm",
            lambda x, g, b, eps: (
                g * ((x - x.mean(-1, True)) * (x.var(-1, False, keepdim=True) + eps).rsqrt()) + b
            ),
        ),
        ("block", block_by_recursion),
        ("shifted_target", shifted_by_padding_each),
        ("decoder_block_parameters", 66752.0),
        ("unscaled_embedding", 16),
        ("tensor2tensor_positions", waves_in_two_precisions),
        ("tensor2tensor_positions", waves_by_a_loop),
        ("left_padding", embedded_by_a_loop),
        ("rms_norm", rms_norm_in_place),
        ("rms_norm", lambda x, gain, eps: F.rms_norm(x, gain.shape, gain, eps)),
        ("sandwich_norm", sandwich_by_recursion),
        ("swiglu", swiglu_by_position),
        ("prefix_mask", mask_by_slices),
        ("smoothed_divergence", divergence_by_a_loop),
        ("smoothed_divergence", divergence_of_the_library),
        ("cosine_schedule", rate_as_a_tensor),
        ("layer_norm_gradient", gradients_by_a_loop),
        ("checkpoint_average", average_by_a_loop),
    ],
)
def test_another_right_answer_passes(id, answer):
    assert check.exercises[id].judge(answer) == (True, "correct.")


def test_a_shifted_target_that_reads_ends_passes_with_a_remark():
    def last_column_left_out(targets):
        T = max(map(len, targets)) + 2
        whole = torch.tensor([[BOS, *y, EOS] + [PAD] * (T - 2 - len(y)) for y in targets])
        return whole[:, :-1], whole[:, 1:]

    passed, sentence = check.exercises["shifted_target"].judge(last_column_left_out)
    assert passed and sentence.startswith("correct, but shorter sentences read EOS")


def test_a_right_divergence_passes_that_normalises_the_labels():
    """The prior is data: what the gradient by it would be doesn't matter."""

    def of_distributions(logits, target, real, prior, smoothing):
        label = torch.distributions.Categorical(probs=smoothed(target, prior, smoothing))
        model = torch.distributions.Categorical(logits=logits)
        return torch.distributions.kl_divergence(label, model)[real].mean()

    assert check.exercises["smoothed_divergence"].judge(of_distributions) == (True, "correct.")


def test_a_sum_in_place_that_autograd_refuses_is_not_told_a_line_of_the_check():
    def in_place(x, sublayers):
        x = x.clone()
        for f in sublayers:
            x += F.layer_norm(f(F.layer_norm(x, x.shape[-1:])), x.shape[-1:])
        return F.layer_norm(x, x.shape[-1:])

    _, sentence = check.exercises["sandwich_norm"].judge(in_place)
    assert "it overwrites a tensor that the gradient needs" in sentence


def waves_with(exponents, turns=False):
    """Return an answer that has its own exponents of n wavelengths in a width of d."""

    def add(x, start):
        d = x.shape[2]
        angles = (start + torch.arange(x.shape[1]))[:, None] / 10_000 ** exponents(
            d // 2, d
        ).double()
        both = torch.stack([angles.sin(), angles.cos()], dim=2 if turns else 1).flatten(1)
        return x + F.pad(both, (0, d % 2))

    return add


def embedded_as_if_padded_on_the_right(ids, symbols, positions):
    return F.embedding(ids, symbols) * symbols.shape[1] ** 0.5 + positions[: ids.shape[1]]


def embedded_with_position_minus_1(ids, symbols, positions):
    places = (ids != 0).cumsum(1) - 1
    return F.embedding(ids, symbols) * symbols.shape[1] ** 0.5 + positions[places]


def rms_norm_with_an_axis_lost(x, gain, eps):
    root = torch.sqrt((x**2).mean(dim=-1) + eps)
    return gain * (x / root)


def sandwich_that_returns_at_once(x, sublayers):
    for f in sublayers:
        x = x + F.layer_norm(f(F.layer_norm(x, x.shape[-1:])), x.shape[-1:])
        return F.layer_norm(x, x.shape[-1:])


def sandwich_without_paths(x, sublayers):
    for f in sublayers:
        x = F.layer_norm(f(F.layer_norm(x, x.shape[-1:])), x.shape[-1:])
    return x


def mask_with(prefix=lambda prefix, length: prefix, length=lambda prefix, length: length):
    def mask(prefixes, lengths, T):
        at, pair = torch.arange(T), (prefixes[:, None, None], lengths[:, None, None])
        return ((at <= at[:, None]) | (at < prefix(*pair))) & (at < length(*pair))

    return mask


def mask_of_two_blocks(prefixes, lengths, T):
    at = torch.arange(T)
    given = at < prefixes[:, None]  # (B, T)
    together = given[:, None] == given[:, :, None]
    return together & (given[:, None] | (at <= at[:, None])) & (at < lengths[:, None, None])


def loss_with(log_p=lambda logits: logits.log_softmax(-1), over=lambda x, real: x[real].mean()):
    def loss(logits, target, real, prior, smoothing):
        q = smoothed(target, prior, smoothing)
        terms = torch.where(q > 0, q * q.clamp(min=1e-30).log(), 0) - q * log_p(logits)
        return over(terms.sum(-1), real)

    return loss


def rate_with(rise=lambda step, warmup: step / warmup, fall=lambda progress: progress):
    def answer(step, peak, warmup, total, floor):
        if step <= warmup:
            return peak * rise(step, warmup)
        progress = min(1.0, (step - warmup) / (total - warmup))
        return floor + (peak - floor) * fall(progress)

    return answer


def half_a_wave(x):
    return 0.5 + 0.5 * math.cos(math.pi * x)


def gradients_with(reduce, sign=1):
    def answer(x, gain, eps, grad_y):
        deviation = (x.var(-1, correction=0, keepdim=True) + eps).sqrt()
        normed, h = (x - x.mean(-1, keepdim=True)) / deviation, grad_y * gain
        grad_x = h - reduce(h) - sign * normed * reduce(h * normed)
        return grad_x / deviation, (grad_y * normed).sum((0, 1)), grad_y.sum((0, 1))

    return answer


def gradients_by_autograd(x, gain, eps, grad_y):
    x, gain = x.clone().requires_grad_(), gain.clone().requires_grad_()
    bias = torch.zeros_like(gain, requires_grad=True)
    F.layer_norm(x, gain.shape, gain, bias, eps).backward(grad_y)
    return x.grad, gain.grad, bias.grad


def average_of(part):
    def answer(checkpoints, last):
        return [sum(of_all) / len(of_all) for of_all in zip(*part(checkpoints, last), strict=True)]

    return answer


@pytest.mark.parametrize(
    ("id", "mistake", "answer"),
    [
        (
            "layer_norm",
            "eps_outside_and_one_less",
            lambda x, gain, bias, eps: (
                gain * (x - x.mean(-1, True)) / (x.std(-1, keepdim=True) + eps) + bias
            ),
        ),
        (
            "block",
            "norm_behind",
            lambda x, norms, fs: [x := x + n(f(x)) for n, f in zip(norms, fs, strict=True)][-1],
        ),
        ("decoder_block_parameters", "no_cross_attention", 50_112),
        ("decoder_block_parameters", "gains_alone", 66_560),
        ("unscaled_embedding", "upside_down", 0.0625),
        (
            "tensor2tensor_positions",
            "papers_wavelengths",
            waves_with(lambda n, d: 2 * torch.arange(n) / d),
        ),
        ("tensor2tensor_positions", "end_left_out", waves_with(lambda n, d: torch.arange(n) / n)),
        (
            "tensor2tensor_positions",
            "papers_pairs",
            waves_with(lambda n, d: 2 * torch.arange(n) / d, turns=True),
        ),
        (
            "tensor2tensor_positions",
            "shorter_and_shorter",
            waves_with(lambda n, d: -torch.arange(n).double() / (n - 1)),
        ),
        (
            "tensor2tensor_positions",
            "wavelengths_without_2_pi",
            waves_with(lambda n, d: torch.linspace(0, 1, n) - math.log(2 * math.pi, 10_000)),
        ),
        ("left_padding", "padding_taken_for_text", embedded_as_if_padded_on_the_right),
        ("left_padding", "padding_at_the_end_of_the_table", embedded_with_position_minus_1),
        ("rms_norm", "axis_lost", rms_norm_with_an_axis_lost),
        ("sandwich_norm", "returned_in_the_loop", sandwich_that_returns_at_once),
        ("sandwich_norm", "no_residual_without_the_last", sandwich_without_paths),
        ("pre_norm_deviation", "variance", 25),
        ("pre_norm_deviation", "three_sublayers_each", 6.08),
        ("prefix_mask", "one_more", mask_with(prefix=lambda prefix, length: prefix + 1)),
        ("prefix_mask", "one_more_real", mask_with(length=lambda prefix, length: length + 1)),
        ("prefix_mask", "one_less_real", mask_with(length=lambda prefix, length: length - 1)),
        (
            "prefix_mask",
            "prefix_counted_twice",
            mask_with(length=lambda prefix, length: prefix + length),
        ),
        ("prefix_mask", "one_prefix", mask_with(prefix=lambda prefix, length: prefix[0])),
        ("prefix_mask", "prefix_apart", mask_of_two_blocks),
        ("smoothed_divergence", "no_softmax", loss_with(log_p=lambda logits: logits)),
        ("smoothed_divergence", "no_logarithm", loss_with(log_p=lambda logits: logits.softmax(-1))),
        (
            "smoothed_divergence",
            "softmax_over_positions",
            loss_with(log_p=lambda logits: logits.log_softmax(1)),
        ),
        (
            "smoothed_divergence",
            "mean_over_sentences",
            loss_with(over=lambda x, real: (x * real).sum() / len(x)),
        ),
        (
            "smoothed_divergence",
            "mean_over_sentences_with_padding",
            loss_with(over=lambda x, _: x.sum() / len(x)),
        ),
        (
            "cosine_schedule",
            "line_between_first_and_peak",
            rate_with(lambda step, warmup: (step - 1) / (warmup - 1), half_a_wave),
        ),
        (
            "cosine_schedule",
            "line_too_long",
            rate_with(lambda step, warmup: step / (warmup + 1), half_a_wave),
        ),
        ("cosine_schedule", "no_pi", rate_with(fall=lambda x: 0.5 + 0.5 * math.cos(x))),
        ("cosine_schedule", "cosine_alone", rate_with(fall=lambda x: math.cos(math.pi * x))),
        ("layer_norm_gradient", "by_autograd", gradients_by_autograd),
        (
            "layer_norm_gradient",
            "sums_for_means",
            gradients_with(lambda h: h.sum(-1, keepdim=True)),
        ),
        (
            "layer_norm_gradient",
            "pushed",
            gradients_with(lambda h: h.mean(-1, keepdim=True), sign=-1),
        ),
        ("checkpoint_average", "one_too_many", average_of(lambda all, last: all[-last - 1 :])),
        (
            "checkpoint_average",
            "divided_by_all",
            lambda all, last: [sum(x) / len(all) for x in zip(*all[-last:], strict=True)],
        ),
    ],
)
def test_a_mistake_made_in_another_way_is_named_too(id, mistake, answer):
    exercise = check.exercises[id]
    assert exercise.judge(answer) == (False, exercise.mistakes[mistake].says)


def test_a_line_from_another_first_step_gets_no_name_that_is_not_its_own():
    """At a warm-up of 4, a peak of 0.5 and a floor of 0.1 it looks as if it rose from the floor."""
    exercise = check.exercises["cosine_schedule"]
    answer = rate_with(lambda step, warmup: (step + 1) / (warmup + 1), half_a_wave)
    passed, sentence = exercise.judge(answer)
    assert passed is False
    assert not sentence.endswith(tuple(m.says for m in exercise.mistakes.values()))
