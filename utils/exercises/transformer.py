"""Checks of Day 6, and the mistakes that they know."""

import math
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from utils.exercises.checking import Checker, Exercise, Mistake, Prediction, Stage
from utils.positions import sinusoidal
from utils.transformer import DecoderBlock, TransformerConfig

PAD = 0


def random(*shape: int) -> Tensor:
    """Draw a tensor in double precision, in which mistakes can't hide behind rounding."""
    return torch.randn(*shape, dtype=torch.float64)


# 6.1 ------------------------------------------------------------------------------------------


def parameters_of_a_decoder_block() -> int:
    with torch.device("meta"):
        block = DecoderBlock(TransformerConfig(vocab_size=1, d_model=64, n_heads=4, d_ff=256))
    return sum(parameter.numel() for parameter in block.parameters())


# 6.2 ------------------------------------------------------------------------------------------


def place_against_symbol(d_model: int = 512) -> float:
    symbol = (d_model * d_model**-1) ** 0.5  # d numbers, each of variance 1/d
    return sinusoidal(1, d_model)[0].norm().item() / symbol


# 6.3 ------------------------------------------------------------------------------------------


def side_by_side(sines: Tensor, cosines: Tensor) -> Tensor:
    return torch.cat([sines, cosines], dim=1)


def in_turns(sines: Tensor, cosines: Tensor) -> Tensor:
    return torch.stack([sines, cosines], dim=2).flatten(1)


def steps_to_the_end(n: int) -> Tensor:
    return torch.arange(n, dtype=torch.float64) / (n - 1)


def add_waves(x, start, exponents=steps_to_the_end, lay=side_by_side, odd=(0, 1)) -> Tensor:
    """Add tensor2tensor's positions; the last three arguments are what mistakes change."""
    return x.double() + waves(x.shape[1], x.shape[2], start, exponents, lay, odd)


def waves(T, d_model, start, exponents=steps_to_the_end, lay=side_by_side, odd=(0, 1)) -> Tensor:
    places = start + torch.arange(T, dtype=torch.float64)
    angles = places[:, None] * 10_000 ** -exponents(d_model // 2)
    both = lay(angles.sin(), angles.cos())
    return F.pad(both, odd) if d_model % 2 else both


def add_waves_along_the_batch(x, start):
    return x.double() + waves(x.shape[0], x.shape[2], start)[:, None]


def add_the_papers_waves(x, start):
    return x.double() + sinusoidal(x.shape[1], x.shape[2], start, dtype=torch.float64)


def add_waves_in_even_widths_only(x, start):
    right = sinusoidal(x.shape[1], x.shape[2], start, dtype=torch.float64)
    papers = torch.zeros_like(right)
    papers[:, 0::2] = right[:, 0::2]
    papers[:, 1::2] = waves_by_angle(x, start).cos()  # one too many, if the width is odd
    return x.double() + papers


def waves_by_angle(x: Tensor, start: int) -> Tensor:
    T, d_model = x.shape[1:]
    exponents = torch.arange(0, d_model, 2, dtype=torch.float64) / d_model
    return (start + torch.arange(T, dtype=torch.float64))[:, None] / 10_000**exponents


def add_waves_with_one_more_sine(x, start):
    B, T, d_model = x.shape
    right = waves(T, d_model + d_model % 2, start)
    return x.double() + right[:, :d_model]


# 6.4 ------------------------------------------------------------------------------------------


def embed_from_the_left(ids, symbols, positions, before=None, after=1.0, first=0) -> Tensor:
    """Embed texts that are padded on their left; the last three are what mistakes change."""
    before = math.sqrt(symbols.shape[1]) if before is None else before
    real = ids != PAD
    places = (real.cumsum(1) - 1 + first).clamp(min=0)
    return masked(after * (before * symbols[ids] + positions[places]), ids)


def masked(x: Tensor, ids: Tensor) -> Tensor:
    return x * (ids != PAD)[..., None]


def scaled(symbols: Tensor) -> Tensor:
    return math.sqrt(symbols.shape[1]) * symbols


def embed_the_padding_too(ids, symbols, positions):
    places = ((ids != PAD).cumsum(1) - 1).clamp(min=0)
    return scaled(symbols)[ids] + positions[places]


def embed_counting_the_padding(ids, symbols, positions):
    return masked(scaled(symbols)[ids] + positions[: ids.shape[1]], ids)


def embed_along_the_batch(ids, symbols, positions):
    return masked(scaled(symbols)[ids] + positions[: len(ids), None], ids)


def embed_counting_backwards(ids, symbols, positions):
    return masked(scaled(symbols)[ids] + positions[: ids.shape[1]].flip(0), ids)


def texts(vocab_size: int, width: int, d_model: int, *lengths: int) -> tuple:
    """Draw ids (B, width) with PAD before each text, a table of symbols, and one of positions."""
    ids = torch.randint(PAD + 1, vocab_size, (len(lengths), width))
    ids[torch.arange(width) < width - torch.tensor(lengths)[:, None]] = PAD
    return ids, random(vocab_size, d_model), random(width + 3, d_model)


# 6.5 ------------------------------------------------------------------------------------------


def rms_norm(x, gain, eps, axis=-1) -> Tensor:
    return gain * x / (x.square().mean(axis, keepdim=True) + eps).sqrt()


def rms_norm_with_one_less(x, gain, eps):
    return gain * x / (x.square().sum(-1, keepdim=True) / (x.shape[-1] - 1) + eps).sqrt()


def rms_norm_by_deviation(correction: int):
    """Return a norm that divides by a deviation, though nothing was subtracted above."""

    def wrong(x, gain, eps):
        return gain * x / (x.var(-1, correction=correction, keepdim=True) + eps).sqrt()

    return wrong


# 6.6 ------------------------------------------------------------------------------------------


def norm(x: Tensor) -> Tensor:
    return F.layer_norm(x, x.shape[-1:])


def sandwich(x: Tensor, sublayers: list, norm=norm, last=True) -> Tensor:
    """Run sublayers between two norms each; the last two arguments are what mistakes change."""
    for f in sublayers:
        x = x + norm(f(norm(x)))
    return norm(x) if last else x


def sublayers_joined_by(step, last=True):
    """Return a run of all sublayers in which `step(x, f, start)` joins one to what comes in."""

    def wrong(x: Tensor, sublayers: list) -> Tensor:
        start = x
        for f in sublayers:
            x = step(x, f, start)
        return norm(x) if last else x

    return wrong


def sandwich_side_by_side(x, sublayers):
    return norm(x + sum(norm(f(norm(x))) for f in sublayers))


def mean_so_far(x: Tensor) -> Tensor:
    return x.cumsum(1) / torch.arange(1, x.shape[1] + 1)[:, None]


# 6.8 ------------------------------------------------------------------------------------------


def gated(x, W_gate, W_up, W_down, activation=F.silu) -> Tensor:
    return (activation(x @ W_gate.T) * (x @ W_up.T)) @ W_down.T


# 6.10 -----------------------------------------------------------------------------------------


def prefix_mask(prefixes: Tensor, lengths: Tensor, T: int, shift: int = 0) -> Tensor:
    causal, key = causal_and_key(T)
    seen = causal | (key < prefixes[:, None, None] + shift)
    return seen & (key < lengths[:, None, None])


def causal_and_key(T: int) -> tuple[Tensor, Tensor]:
    at = torch.arange(T)
    return at[None] <= at[:, None], at[None]  # query, key: (T, T), and (1, T)


def prefix_mask_of_queries(prefixes, lengths, T):
    causal, key = causal_and_key(T)
    seen = causal | (key.T < prefixes[:, None, None])
    return seen & (key < lengths[:, None, None])


def prefix_mask_without_padded_queries(prefixes, lengths, T):
    _, key = causal_and_key(T)
    return prefix_mask(prefixes, lengths, T) & (key.T < lengths[:, None, None])


def prefix_mask_without_itself(prefixes, lengths, T):
    causal, key = causal_and_key(T)
    seen = causal.tril(-1) | (key < prefixes[:, None, None])
    return seen & (key < lengths[:, None, None])


def prefix_mask_for_both_reasons(prefixes, lengths, T):
    causal, key = causal_and_key(T)
    return causal & (key < prefixes[:, None, None]) & (key < lengths[:, None, None])


def prefix_mask_of_the_future(prefixes, lengths, T):
    causal, key = causal_and_key(T)
    seen = causal.T | (key < prefixes[:, None, None])
    return seen & (key < lengths[:, None, None])


# 6.12 -----------------------------------------------------------------------------------------


def smoothed(target: Tensor, prior: Tensor, smoothing: float) -> Tensor:
    return (1 - smoothing) * one_hot(target, prior) + smoothing * prior  # (B, T, V)


def one_hot(target: Tensor, prior: Tensor) -> Tensor:
    return F.one_hot(target, len(prior)).to(prior)


def smoothed_uniformly(target, prior, smoothing):
    return smoothed(target, torch.full_like(prior, 1 / len(prior)), smoothing)


def smoothed_on_top(target, prior, smoothing):
    return one_hot(target, prior) + smoothing * prior


def smoothed_elsewhere(target, prior, smoothing):
    hot = one_hot(target, prior)
    return (1 - smoothing) * hot + smoothing * prior * (1 - hot)


def divergence(q: Tensor, log_p: Tensor) -> Tensor:
    return (torch.xlogy(q, q) - q * log_p).sum(-1)


def mean_of(x: Tensor, real: Tensor) -> Tensor:
    return x[real].mean()


def smoothed_divergence(
    logits, target, real, prior, smoothing, label=smoothed, distance=divergence, over=mean_of
) -> Tensor:
    """Return the mean divergence; the last three arguments are what mistakes change."""
    q = label(target, prior, smoothing)
    return over(distance(q, logits.log_softmax(-1)), real)


def judged(B: int, T: int, V: int, smoothing: float, *lengths: int, unseen: int = 0) -> tuple:
    """Draw logits and targets of a text in which the last `unseen` symbols never stand."""
    real = torch.arange(T) < torch.tensor(lengths)[:, None]
    prior = random(V).softmax(0) * (torch.arange(V) < V - unseen)
    target = torch.randint(V - unseen, (B, T))
    return 2 * random(B, T, V), target, real, prior / prior.sum(), smoothing


# 6.13 -----------------------------------------------------------------------------------------


def half_a_wave(progress: float) -> float:
    return (1 + math.cos(math.pi * progress)) / 2


def cosine_rate(step, peak, warmup, total, floor, shape=half_a_wave, clamp=True) -> float:
    """Return the rate of a step; the last two arguments are what mistakes change."""
    if step <= warmup:
        return peak * step / warmup
    progress = (step - warmup) / (total - warmup)
    return floor + (peak - floor) * shape(min(progress, 1.0) if clamp else progress)


def cosine_rate_from_the_floor(step, peak, warmup, total, floor):
    if step <= warmup:
        return floor + (peak - floor) * step / warmup
    return cosine_rate(step, peak, warmup, total, floor)


def cosine_rate_late(step, peak, warmup, total, floor):
    if step <= warmup:
        return peak * (step - 1) / warmup
    return cosine_rate(step, peak, warmup, total, floor)


def cosine_rate_cut_off(step, peak, warmup, total, floor):
    whole = cosine_rate(step, peak, warmup, total, 0.0)
    return whole if step <= warmup else max(floor, whole)


def cosine_rate_of_the_whole(step, peak, warmup, total, floor):
    if step <= warmup:
        return peak * step / warmup
    return floor + (peak - floor) * half_a_wave(min(step / total, 1.0))


def cosine_rate_by_all_steps(step, peak, warmup, total, floor):
    if step <= warmup:
        return peak * step / warmup
    return floor + (peak - floor) * half_a_wave(min((step - warmup) / total, 1.0))


def cosine_rate_above_the_floor(step, peak, warmup, total, floor):
    if step <= warmup:
        return peak * step / warmup
    return floor + cosine_rate(step, peak, warmup, total, 0.0)


# 6.14 -----------------------------------------------------------------------------------------


def layer_norm_gradient(
    x, gain, eps, grad_y, centre=True, stretch=True, divide=True
) -> tuple[Tensor, Tensor, Tensor]:
    """Return the three gradients; the last three arguments are what mistakes change."""
    deviation = (x.var(-1, correction=0, keepdim=True) + eps).sqrt()
    normed = (x - x.mean(-1, keepdim=True)) / deviation
    h = grad_y * gain
    grad_x = h
    if centre:
        grad_x = grad_x - h.mean(-1, keepdim=True)
    if stretch:
        grad_x = grad_x - normed * (h * normed).mean(-1, keepdim=True)
    grad_x = grad_x / deviation if divide else grad_x
    return grad_x, (grad_y * normed).sum((0, 1)), grad_y.sum((0, 1))


def layer_norm_gradient_without_the_gain(x, gain, eps, grad_y):
    _, *others = layer_norm_gradient(x, gain, eps, grad_y)
    return layer_norm_gradient(x, torch.ones_like(gain), eps, grad_y)[0], *others


def layer_norm_gradient_of_the_raw(x, gain, eps, grad_y):
    grad_x, _, grad_bias = layer_norm_gradient(x, gain, eps, grad_y)
    return grad_x, (grad_y * x).sum((0, 1)), grad_bias


def layer_norm_gradient_of_means(x, gain, eps, grad_y):
    grad_x, *others = layer_norm_gradient(x, gain, eps, grad_y)
    positions = x.shape[0] * x.shape[1]
    return grad_x, *(grad / positions for grad in others)


def layer_norm_gradient_by(deviation_of):
    """Return the gradients, by the right formula, of a norm that divides by another deviation."""

    def wrong(x, gain, eps, grad_y):
        deviation = deviation_of(x, eps)
        normed = (x - x.mean(-1, keepdim=True)) / deviation
        h = grad_y * gain
        pulled = normed * (h * normed).mean(-1, keepdim=True)
        grad_x = (h - h.mean(-1, keepdim=True) - pulled) / deviation
        return grad_x, (grad_y * normed).sum((0, 1)), grad_y.sum((0, 1))

    return wrong


def layer_norm_gradient_by_autograd(x, gain, eps, grad_y):
    bias = torch.zeros_like(gain)
    leaves = [leaf.detach().requires_grad_() for leaf in (x, gain, bias)]
    y = F.layer_norm(leaves[0], gain.shape, *leaves[1:], eps)
    return torch.autograd.grad(y, leaves, grad_y)


class ByHand(Exercise):
    """An exercise in which autograd records nothing."""

    def judge(self, attempt: Any) -> tuple[bool | None, str]:
        with torch.inference_mode():
            return super().judge(attempt)


def normed_inputs(B: int, T: int, D: int, eps: float) -> tuple:
    return 1 + 2 * random(B, T, D), random(D), eps, random(B, T, D)


# 6.15 -----------------------------------------------------------------------------------------


def echo_texts(n: int, T: int, language: int, seed: int) -> tuple[Tensor, float]:
    """Draw n texts (n, T) in which each symbol depends on the one two places before it alone.

    language: a seed of what follows what, the same in all texts; seed: that of these texts.
    Returns: ids from 0 to 5, and the mean surprise -log p of all symbols but the first two.
    """
    generator = torch.Generator().manual_seed(language)
    p = (1.5 * torch.randn(6, 6, generator=generator)).softmax(-1)
    generator.manual_seed(1_000_000 + seed)
    ids = list(torch.randint(6, (2, n), generator=generator))
    for _ in range(T - 2):
        ids.append(torch.multinomial(p[ids[-2]], 1, generator=generator)[:, 0])
    ids = torch.stack(ids, dim=1)
    return ids, -p.log()[ids[:, :-2], ids[:, 2:]].mean().item()


def average(checkpoints: list[list[Tensor]], last: int) -> list[Tensor]:
    return [torch.stack(of_all).mean(0) for of_all in zip(*checkpoints[-last:], strict=True)]


def average_by_halves(checkpoints, last):
    means = checkpoints[-last]
    for checkpoint in checkpoints[len(checkpoints) - last + 1 :]:
        means = [(mean + x) / 2 for mean, x in zip(means, checkpoint, strict=True)]
    return means


def saved(n: int, *shapes: tuple[int, ...]) -> list[list[Tensor]]:
    return [[random(*shape) for shape in shapes] for _ in range(n)]


check = Checker(
    Prediction(
        "6.1",
        parameters_of_a_decoder_block,
        {
            "encoder's": Mistake(
                "that is an encoder block's: which layer does a decoder block have besides?",
                4 * 64 * 64 + 4 * 64 + 2 * 64 * 256 + 256 + 64 + 4 * 64,
            ),
            "no biases": Mistake(
                "you leave out the biases; in the book's layers each matrix has one.",
                8 * 64 * 64 + 2 * 64 * 256 + 6 * 64,
            ),
            "no norms": Mistake(
                "the norms have something to learn, too.",
                8 * 64 * 64 + 8 * 64 + 2 * 64 * 256 + 256 + 64,
            ),
            "two norms": Mistake(
                "there are as many norms as sublayers.",
                8 * 64 * 64 + 8 * 64 + 2 * 64 * 256 + 256 + 64 + 4 * 64,
            ),
            "no W_o": Mistake(
                "the heads are laid side by side, and then? A matrix of each attention is missing.",
                6 * 64 * 64 + 6 * 64 + 2 * 64 * 256 + 256 + 64 + 6 * 64,
            ),
        },
    ),
    Prediction(
        "6.2",
        place_against_symbol,
        {
            "factor": Mistake(
                "that is the factor itself; how long is a position's vector, all waves together?",
                math.sqrt(512),
            ),
            "with it": Mistake(
                "that is how it is with the factor, and here it is forgotten.", math.sqrt(0.5)
            ),
            "square": Mistake("that is the square of the length.", 256.0),
            "alike": Mistake(
                "numbers of about 1 in the one, and of 1/√512 in the other: are they equally long?",
                1.0,
            ),
        },
        tolerance=0.02,
    ),
    Exercise(
        "6.3",
        add_waves,
        (
            Stage("position 0", lambda: [(random(1, 1, 6).float(), 0)]),
            Stage("a few positions", lambda: [(random(1, 3, 6).float(), 0)]),
            Stage(
                "several sequences, and a later start",
                lambda: [(random(3, 5, 8).float(), 0), (random(2, 4, 6).float(), 9)],
            ),
            Stage(
                "an odd width",
                lambda: [(random(2, 4, 7).float(), 0), (random(3, 3, 5).float(), 4)],
            ),
        ),
        {
            "batch": Mistake(
                "you count the sequences of the batch: along which axis do the positions stand?",
                add_waves_along_the_batch,
            ),
            "doubled": Mistake(
                "the exponents are twice what they should be: how far does the last one go?",
                lambda x, start: add_waves(x, start, lambda n: 2 * steps_to_the_end(n)),
            ),
            "paper's": Mistake(
                "those are the paper's wavelengths, which stop short of 10 000 · 2π.",
                lambda x, start: add_waves(x, start, lambda n: steps_to_the_end(n) * (n - 1) / n),
            ),
            "all of the paper": Mistake(
                "those are the paper's positions, their order and their wavelengths; what is asked "
                "for differs in both.",
                add_the_papers_waves,
            ),
            "even only": Mistake(
                "those are the paper's positions, and an odd width has one cosine less than sines.",
                add_waves_in_even_widths_only,
            ),
            "in turns": Mistake(
                "sine and cosine take turns, as in the paper: here each has a block of its own.",
                lambda x, start: add_waves(x, start, lay=in_turns),
            ),
            "exchanged": Mistake(
                "the blocks are exchanged: which one is 0 at position 0?",
                lambda x, start: add_waves(
                    x, start, lay=lambda sines, cosines: side_by_side(cosines, sines)
                ),
            ),
            "zeros first": Mistake(
                "of an odd width, the column that is left over is the last.",
                lambda x, start: add_waves(x, start, odd=(1, 0)),
            ),
            "one more sine": Mistake(
                "of an odd width, you make room for one wave more; here a column stays as it is.",
                add_waves_with_one_more_sine,
            ),
            "from 1": Mistake(
                "you count from 1: the first symbol stands at `start`.",
                lambda x, start: add_waves(x, start + 1),
            ),
            "no start": Mistake(
                "you begin at 0, wherever the sequence begins.",
                lambda x, start: add_waves(x, 0),
            ),
            "waves alone": Mistake(
                "those are the waves alone; and the symbols?",
                lambda x, start: add_waves(0 * x, start),
            ),
        },
    ),
    Exercise(
        "6.4",
        embed_from_the_left,
        (
            Stage("one text without padding", lambda: [texts(5, 2, 9, 2)]),
            Stage("one text with padding", lambda: [texts(6, 4, 9, 2)]),
            Stage(
                "several texts",
                lambda: [
                    texts(7, 5, 16, 3, 5, 1),
                    texts(11, 6, 9, 2, 6, 4, 5),
                    texts(8, 3, 4, 1, 3, 2),
                ],
            ),
        ),
        {
            "not scaled": Mistake(
                "the symbols come in as the table has them, too small beside the positions.",
                lambda *inputs: embed_from_the_left(*inputs, before=1.0),
            ),
            "scaled late": Mistake(
                "the factor is the symbols' alone: yours stretches the positions, too.",
                lambda ids, symbols, positions: embed_from_the_left(
                    ids, symbols, positions, before=1.0, after=math.sqrt(symbols.shape[1])
                ),
            ),
            "divided": Mistake(
                "you divide: are the symbols' vectors too long, or too short?",
                lambda ids, symbols, positions: embed_from_the_left(
                    ids, symbols, positions, before=symbols.shape[1] ** -0.5
                ),
            ),
            "no root": Mistake(
                "a vector's length grows as the root of its width.",
                lambda ids, symbols, positions: embed_from_the_left(
                    ids, symbols, positions, before=symbols.shape[1]
                ),
            ),
            "root of V": Mistake(
                "the factor comes from the width, not from the size of the vocabulary.",
                lambda ids, symbols, positions: embed_from_the_left(
                    ids, symbols, positions, before=math.sqrt(len(symbols))
                ),
            ),
            "batch": Mistake(
                "each text gets one position for all its symbols: along which axis do you count?",
                embed_along_the_batch,
            ),
            "left edge": Mistake(
                "you count the padding: the same text would change with what it is batched with.",
                embed_counting_the_padding,
            ),
            "from 1": Mistake(
                "a text's first symbol stands at position 0.",
                lambda *inputs: embed_from_the_left(*inputs, first=1),
            ),
            "backwards": Mistake(
                "you count from the end: a text that grows would move all its symbols.",
                embed_counting_backwards,
            ),
            "padding": Mistake(
                "at the padding there should be zeros.",
                embed_the_padding_too,
            ),
        },
    ),
    Exercise(
        "6.5",
        rms_norm,
        (
            Stage("one position", lambda: [(random(1, 1, 3), random(3), 0.01)]),
            Stage("small numbers", lambda: [(0.1 * random(1, 1, 4), random(4), 0.1)]),
            Stage(
                "several sequences",
                lambda: [
                    (3 * random(2, 3, 5), random(5), 1e-6),
                    (1 + random(4, 2, 6), random(6), 0.5),
                ],
            ),
        ),
        {
            "centred": Mistake(
                "you subtract the mean: that is layer norm. This one only looks at the size.",
                lambda x, gain, eps: rms_norm(x - x.mean(-1, keepdim=True), gain, eps),
            ),
            "ε outside": Mistake(
                "ε is added to the root; it belongs to what the root is taken of.",
                lambda x, gain, eps: gain * x / (x.square().mean(-1, keepdim=True).sqrt() + eps),
            ),
            "one less": Mistake(
                "you divide by D - 1: no mean was estimated here, so nothing is to be corrected.",
                rms_norm_with_one_less,
            ),
            "sum": Mistake(
                "that divides by the length of the vector, which grows with its width.",
                lambda x, gain, eps: gain * x / (x.square().sum(-1, keepdim=True) + eps).sqrt(),
            ),
            "positions": Mistake(
                "you average over the positions: each has a size of its own.",
                lambda x, gain, eps: rms_norm(x, gain, eps, axis=1),
            ),
            "all": Mistake(
                "a whole sequence gets one size: a symbol would feel what comes after it.",
                lambda x, gain, eps: rms_norm(x, gain, eps, axis=(1, 2)),
            ),
            "batch": Mistake(
                "all sequences of the batch share one size: each position has its own.",
                lambda x, gain, eps: rms_norm(x, gain, eps, axis=(0, 1, 2)),
            ),
            "deviation": Mistake(
                "a variance takes the mean away first: here nothing is subtracted, not in the "
                "divisor either.",
                rms_norm_by_deviation(0),
            ),
            "deviation, one less": Mistake(
                "a variance takes the mean away first, and divides by D - 1: here nothing is "
                "subtracted, and nothing corrected.",
                rms_norm_by_deviation(1),
            ),
            "no ε": Mistake(
                "where is ε? A vector of zeros would give 0 divided by 0.",
                lambda x, gain, eps: rms_norm(x, gain, 0.0),
            ),
            "no gain": Mistake(
                "the gain is missing: all numbers leave at the same scale.",
                lambda x, gain, eps: rms_norm(x, 1.0, eps),
            ),
            "no root": Mistake(
                "you divide by the mean square: then twice as large comes out half as large.",
                lambda x, gain, eps: gain * x / (x.square().mean(-1, keepdim=True) + eps),
            ),
        },
    ),
    Exercise(
        "6.6",
        sandwich,
        (
            Stage("one sublayer", lambda: [(2 * random(1, 2, 4), [torch.sin])]),
            Stage("two sublayers", lambda: [(2 * random(2, 3, 5), [mean_so_far, torch.square])]),
            Stage(
                "three sublayers",
                lambda: [(3 * random(3, 4, 6), [torch.square, mean_so_far, torch.sin])],
            ),
        ),
        {
            "post": Mistake(
                "you normalise the sum: that is post-norm, and no path is left free.",
                sublayers_joined_by(lambda x, f, start: norm(x + f(x))),
            ),
            "pre": Mistake(
                "that is pre-norm: what a sublayer adds should be normalised, too.",
                sublayers_joined_by(lambda x, f, start: x + f(norm(x))),
            ),
            "post alone": Mistake(
                "that is a post-norm model: you normalise the sums, and so leave no path free.",
                sublayers_joined_by(lambda x, f, start: norm(x + f(x)), last=False),
            ),
            "pre alone": Mistake(
                "that is pre-norm, with one norm missing behind each sublayer and one at the end.",
                sublayers_joined_by(lambda x, f, start: x + f(norm(x)), last=False),
            ),
            "behind": Mistake(
                "the sublayer reads what was not normalised.",
                sublayers_joined_by(lambda x, f, start: x + norm(f(x))),
            ),
            "no last norm": Mistake(
                "what leaves the last sublayer is as large as all that was added: what follows it?",
                lambda *inputs: sandwich(*inputs, last=False),
            ),
            "sum too": Mistake(
                "you normalise the sum as well: then no path is left free.",
                sublayers_joined_by(lambda x, f, start: norm(x + norm(f(norm(x))))),
            ),
            "sum too, alone": Mistake(
                "you normalise each sum: no path is left free, and one norm at the end is enough.",
                sublayers_joined_by(lambda x, f, start: norm(x + norm(f(norm(x)))), last=False),
            ),
            "normed path": Mistake(
                "what goes past a sublayer should go past its norms as well.",
                sublayers_joined_by(lambda x, f, start: norm(x) + norm(f(norm(x)))),
            ),
            "no residual": Mistake(
                "what came in is lost: a sublayer adds to it.",
                sublayers_joined_by(lambda x, f, start: norm(f(norm(x)))),
            ),
            "from the start": Mistake(
                "each sublayer adds to the very first input: what the others added is lost.",
                sublayers_joined_by(lambda x, f, start: start + norm(f(norm(x)))),
            ),
            "side by side": Mistake(
                "all sublayers read the same input: each should read what the one before it left.",
                sandwich_side_by_side,
            ),
            "axes": Mistake(
                "you normalise over positions and width together: each position is by itself.",
                lambda *inputs: sandwich(*inputs, norm=lambda x: F.layer_norm(x, x.shape[1:])),
            ),
        },
    ),
    Prediction(
        "6.7",
        lambda: math.sqrt(1 + 2 * 12),
        {
            "added": Mistake(
                "of independent numbers the variances add up, not the deviations.",
                25.0,
            ),
            "one each": Mistake("a block has two sublayers.", math.sqrt(13)),
            "post": Mistake("that is post-norm: here nothing normalises the sum.", 1.0),
            "input": Mistake("what came in is still among it.", math.sqrt(24)),
        },
        tolerance=0.01,
    ),
    Exercise(
        "6.8",
        gated,
        (
            Stage(
                "one position, one hidden unit",
                lambda: [(random(1, 1, 2), random(1, 2), random(1, 2), random(2, 1))],
            ),
            Stage(
                "several sequences",
                lambda: [
                    (random(2, 3, 4), random(5, 4), random(5, 4), random(4, 5)),
                    (random(3, 2, 5), random(4, 5), random(4, 5), random(5, 4)),
                ],
            ),
        ),
        {
            "exchanged": Mistake(
                "gate and value are exchanged: which of them is squashed?",
                lambda x, W_gate, W_up, W_down: gated(x, W_up, W_gate, W_down),
            ),
            "sigmoid": Mistake(
                "σ(u) alone is the gate of 1997; here it is u · σ(u).",
                lambda *inputs: gated(*inputs, activation=torch.sigmoid),
            ),
            "ReLU": Mistake(
                "that gate is a ReLU: flat below 0, where SiLU dips a little.",
                lambda *inputs: gated(*inputs, activation=torch.relu),
            ),
            "GELU": Mistake(
                "that gate is a GELU: it looks much like SiLU, and is not it.",
                lambda *inputs: gated(*inputs, activation=F.gelu),
            ),
            "no activation": Mistake(
                "nothing bends here: that is a product of two linear maps.",
                lambda *inputs: gated(*inputs, activation=lambda u: u),
            ),
            "both": Mistake(
                "both ways are squashed: one should stay linear.",
                lambda x, W_gate, W_up, W_down: (
                    F.silu(x @ W_gate.T) * F.silu(x @ W_up.T) @ W_down.T
                ),
            ),
            "behind": Mistake(
                "you squash the product: the gate is squashed before it multiplies.",
                lambda x, W_gate, W_up, W_down: F.silu((x @ W_gate.T) * (x @ W_up.T)) @ W_down.T,
            ),
            "added": Mistake(
                "a gate multiplies, and yours is added.",
                lambda x, W_gate, W_up, W_down: (F.silu(x @ W_gate.T) + x @ W_up.T) @ W_down.T,
            ),
            "no value": Mistake(
                "that is the plain layer: what does the gate let through?",
                lambda x, W_gate, W_up, W_down: F.silu(x @ W_gate.T) @ W_down.T,
            ),
        },
    ),
    Prediction(
        "6.9",
        lambda: 2048,
        {
            "scores": Mistake(
                "the scores are one product with all pairs; which is the other?", 4096
            ),
            "one matrix": Mistake("the feed-forward layer has two matrices.", 1024),
            "projections": Mistake(
                "that is where they overtake the projections, too; asked for is the feed-forward "
                "layer alone.",
                3072,
            ),
            "width": Mistake(
                "that would be right for a feed-forward layer as narrow as the model.", 512
            ),
        },
    ),
    Exercise(
        "6.10",
        prefix_mask,
        (
            Stage("one text without padding", lambda: [(torch.tensor([2]), torch.tensor([4]), 4)]),
            Stage("one text with padding", lambda: [(torch.tensor([2]), torch.tensor([4]), 6)]),
            Stage(
                "several texts",
                lambda: [
                    (torch.tensor([1, 3, 2]), torch.tensor([5, 4, 7]), 7),
                    (torch.tensor([4, 2]), torch.tensor([4, 6]), 6),
                ],
            ),
        ),
        {
            "causal": Mistake(
                "that is a decoder's mask: the prefix is known from the start, all of it.",
                lambda prefixes, lengths, T: prefix_mask(0 * prefixes, lengths, T),
            ),
            "all": Mistake(
                "that is an encoder's mask: what is yet to be written can be seen.",
                lambda prefixes, lengths, T: prefix_mask(lengths, lengths, T),
            ),
            "one more": Mistake(
                "the prefix is one longer than it should be: how many positions are in it?",
                lambda *inputs: prefix_mask(*inputs, shift=1),
            ),
            "one less": Mistake(
                "the prefix is one shorter than it should be: how many positions are in it?",
                lambda *inputs: prefix_mask(*inputs, shift=-1),
            ),
            "queries": Mistake(
                "you open the rows of the prefix: it would see what is yet to be written. Which "
                "axis are the keys?",
                prefix_mask_of_queries,
            ),
            "future": Mistake(
                "behind the prefix, each position sees what comes after it.",
                prefix_mask_of_the_future,
            ),
            "padding": Mistake(
                "the padding can be seen: which keys are real?",
                lambda prefixes, lengths, T: prefix_mask(prefixes, torch.full_like(lengths, T), T),
            ),
            "padded queries": Mistake(
                "you took away what padded queries see: padding is hidden as a key; its own rows "
                "follow the rule.",
                prefix_mask_without_padded_queries,
            ),
            "itself": Mistake(
                "behind the prefix, a position should see itself, too.",
                prefix_mask_without_itself,
            ),
            "and": Mistake(
                "you ask for both: one reason to be seen is enough.",
                prefix_mask_for_both_reasons,
            ),
            "inverted": Mistake(
                "your mask says what is hidden; the book's say what may be seen.",
                lambda *inputs: ~prefix_mask(*inputs),
            ),
            "transposed": Mistake(
                "rows and columns are exchanged: a row belongs to a query.",
                lambda *inputs: prefix_mask(*inputs).mT,
            ),
        },
        gradient=False,
    ),
    Prediction(
        "6.11",
        lambda: "far above ln 10",
        {
            "cheated": Mistake(
                "so it was while training: each position could read off its answer one place on. "
                "Is the answer still there?",
                "near 0",
            ),
            "guessed": Mistake(
                "that is the loss of one who knows that nothing can be known. Did this model ever "
                "have to learn that?",
                "near ln 10",
            ),
        },
        choices=("near 0", "near ln 10", "far above ln 10"),
    ),
    Exercise(
        "6.12",
        smoothed_divergence,
        (
            Stage("one symbol", lambda: [judged(1, 1, 3, 0.25, 1)]),
            Stage("several symbols", lambda: [judged(2, 3, 5, 0.5, 3, 3)]),
            Stage("symbols that never occur", lambda: [judged(3, 2, 7, 0.25, 2, 2, 2, unseen=2)]),
            Stage(
                "sentences of several lengths",
                lambda: [judged(3, 4, 6, 0.25, 4, 1, 3), judged(2, 5, 4, 0.125, 2, 5)],
            ),
        ),
        {
            "log 0": Mistake(
                "0 · log 0 is NaN for a computer: what is it in the limit?",
                lambda *inputs: smoothed_divergence(
                    *inputs, distance=lambda q, log_p: (q * (q.log() - log_p)).sum(-1)
                ),
            ),
            "uniform": Mistake(
                "you spread the share evenly: here the frequent symbols get more of it.",
                lambda *inputs: smoothed_divergence(*inputs, label=smoothed_uniformly),
            ),
            "on top": Mistake(
                "your labels sum to more than 1: what is spread has to come from somewhere.",
                lambda *inputs: smoothed_divergence(*inputs, label=smoothed_on_top),
            ),
            "elsewhere": Mistake(
                "your labels sum to less than 1: the right symbol has its part of the prior, too.",
                lambda *inputs: smoothed_divergence(*inputs, label=smoothed_elsewhere),
            ),
            "cross-entropy": Mistake(
                "that is the cross-entropy, which can't reach 0: what is the least it can be?",
                lambda *inputs: smoothed_divergence(
                    *inputs, distance=lambda q, log_p: -(q * log_p).sum(-1)
                ),
            ),
            "reversed": Mistake(
                "the two distributions are exchanged: the mean is to be taken under the label.",
                lambda *inputs: smoothed_divergence(
                    *inputs,
                    distance=lambda q, log_p: (log_p.exp() * (log_p - q.log())).sum(-1),
                ),
            ),
            "mean over V": Mistake(
                "you average over the vocabulary: along it, a divergence is a sum.",
                lambda *inputs: smoothed_divergence(*inputs) / len(inputs[3]),
            ),
            "sum": Mistake(
                "that is the sum over the symbols; asked for is their mean.",
                lambda *inputs: smoothed_divergence(*inputs, over=lambda x, real: x[real].sum()),
            ),
            "shares": Mistake(
                "the shares are exchanged: most of the label is the right symbol's.",
                lambda logits, target, real, prior, smoothing: smoothed_divergence(
                    logits, target, real, prior, 1 - smoothing
                ),
            ),
            "padding": Mistake(
                "padding is counted among the symbols.",
                lambda *inputs: smoothed_divergence(*inputs, over=lambda x, real: x.mean()),
            ),
            "denominator": Mistake(
                "padding is left out of the sum, but still counted where you divide.",
                lambda *inputs: smoothed_divergence(
                    *inputs, over=lambda x, real: (x * real).sum() / real.numel()
                ),
            ),
            "sentences": Mistake(
                "a mean of sentences' means: symbols of short ones count for more.",
                lambda *inputs: smoothed_divergence(
                    *inputs, over=lambda x, real: ((x * real).sum(1) / real.sum(1)).mean()
                ),
            ),
        },
    ),
    Exercise(
        "6.13",
        cosine_rate,
        (
            Stage("the first step", lambda: [(1, 0.5, 4, 20, 0.1)]),
            Stage("the rise and the peak", lambda: [(3, 0.5, 4, 20, 0.1), (4, 0.5, 4, 20, 0.1)]),
            Stage(
                "the fall",
                lambda: [(5, 0.5, 4, 20, 0.1), (9, 0.8, 4, 20, 0.05), (63, 0.3, 10, 80, 0.02)],
            ),
            Stage("the end", lambda: [(20, 0.5, 4, 20, 0.1)]),
            Stage("what comes after the end", lambda: [(27, 0.5, 4, 20, 0.1)]),
        ),
        {
            "from 0": Mistake(
                "your first step has a rate of 0, and teaches nothing: steps count from 1.",
                lambda step, *others: cosine_rate(step - 1, *others),
            ),
            "one ahead": Mistake(
                "you are one step ahead: after how many steps should the peak be reached?",
                lambda step, *others: cosine_rate(step + 1, *others),
            ),
            "late": Mistake(
                "your line begins at the first step with 0, and jumps behind `warmup`.",
                cosine_rate_late,
            ),
            "cut": Mistake(
                "your wave goes down to 0 and is cut off: it should be flat where it ends.",
                cosine_rate_cut_off,
            ),
            "from the floor": Mistake(
                "the warm-up rises from 0: the floor holds only for the fall.",
                cosine_rate_from_the_floor,
            ),
            "no warm-up": Mistake(
                "where is the warm-up? The first steps are already the largest.",
                lambda step, peak, warmup, total, floor: cosine_rate(
                    max(step, warmup), peak, warmup, total, floor
                ),
            ),
            "whole": Mistake(
                "the rate jumps at the peak: where does the fall begin?",
                cosine_rate_of_the_whole,
            ),
            "whole wave": Mistake(
                "a whole wave would come back to the peak: how much of it falls?",
                lambda *inputs: cosine_rate(
                    *inputs, shape=lambda progress: half_a_wave(2 * progress)
                ),
            ),
            "by total": Mistake(
                "how long is the fall? You divide by all steps, and the warm-up is not part of it.",
                cosine_rate_by_all_steps,
            ),
            "upside down": Mistake(
                "your wave rises: where does it begin?",
                lambda *inputs: cosine_rate(
                    *inputs, shape=lambda progress: 1 - half_a_wave(progress)
                ),
            ),
            "quarter": Mistake(
                "a quarter of a wave arrives steeply: it should be flat at both ends.",
                lambda *inputs: cosine_rate(
                    *inputs, shape=lambda progress: math.cos(math.pi / 2 * progress)
                ),
            ),
            "line": Mistake(
                "yours falls in a line: the wave is flat at both ends.",
                lambda *inputs: cosine_rate(*inputs, shape=lambda progress: 1 - progress),
            ),
            "rising again": Mistake(
                "behind the end the wave rises again: the rate should stay at the floor.",
                lambda *inputs: cosine_rate(*inputs, clamp=False),
            ),
            "no floor": Mistake(
                "it falls to 0: the floor is forgotten.",
                lambda step, peak, warmup, total, floor: cosine_rate(
                    step, peak, warmup, total, 0.0
                ),
            ),
            "above the floor": Mistake(
                "the floor is added on top: the rate gets larger than the peak.",
                cosine_rate_above_the_floor,
            ),
        },
        gradient=False,
    ),
    ByHand(
        "6.14",
        layer_norm_gradient,
        (
            Stage("one position", lambda: [normed_inputs(1, 1, 3, 0.1)]),
            Stage("several positions", lambda: [normed_inputs(1, 4, 3, 1e-5)]),
            Stage(
                "several sequences",
                lambda: [normed_inputs(2, 3, 4, 0.5), normed_inputs(3, 2, 5, 1e-5)],
            ),
        ),
        {
            "autograd": Mistake(
                "autograd is switched off here: work the gradients out, and write the formulas.",
                layer_norm_gradient_by_autograd,
            ),
            "constants": Mistake(
                "you treat mean and deviation as constants: x moves both of them.",
                lambda *inputs: layer_norm_gradient(*inputs, centre=False, stretch=False),
            ),
            "no mean": Mistake(
                "x moves the mean, too: what happens to y if one number is added to all of x?",
                lambda *inputs: layer_norm_gradient(*inputs, centre=False),
            ),
            "no deviation": Mistake(
                "x moves the deviation, too: what happens to y if x is stretched?",
                lambda *inputs: layer_norm_gradient(*inputs, stretch=False),
            ),
            "not divided": Mistake(
                "y = x̂ … and x̂ is x divided by something: so is its gradient.",
                lambda *inputs: layer_norm_gradient(*inputs, divide=False),
            ),
            "no gain": Mistake(
                "on its way back to x, the gradient passes the gain.",
                layer_norm_gradient_without_the_gain,
            ),
            "raw": Mistake(
                "what does the gain multiply: x, or what became of it?",
                layer_norm_gradient_of_the_raw,
            ),
            "means": Mistake(
                "gain and bias serve all positions: their gradients add up.",
                layer_norm_gradient_of_means,
            ),
            "one less": Mistake(
                "your deviation divides by D - 1; layer norm's divides by D.",
                layer_norm_gradient_by(lambda x, eps: (x.var(-1, keepdim=True) + eps).sqrt()),
            ),
            "ε outside": Mistake(
                "ε is added to the deviation; it belongs to the variance, under the root.",
                layer_norm_gradient_by(
                    lambda x, eps: x.var(-1, correction=0, keepdim=True).sqrt() + eps
                ),
            ),
        },
        gradient=False,
    ),
    Exercise(
        "6.15",
        average,
        (
            Stage("two checkpoints of one parameter", lambda: [(saved(2, (3,)), 2)]),
            Stage("the last few of many", lambda: [(saved(5, (2, 3), (4,)), 3)]),
            Stage(
                "other numbers of them",
                lambda: [(saved(6, (3, 2), (5,), (1, 4)), 4), (saved(4, (2, 2), (3,)), 1)],
            ),
        ),
        {
            "halves": Mistake(
                "halving at each step gives the newest half of the weight: all should count alike.",
                average_by_halves,
            ),
            "all": Mistake(
                "the oldest are among them, from before the model was any good.",
                lambda checkpoints, last: average(checkpoints, len(checkpoints)),
            ),
            "first": Mistake(
                "you take the first ones: which end of the list is the newest?",
                lambda checkpoints, last: average(checkpoints[:last], last),
            ),
            "newest": Mistake(
                "that is the newest alone: nothing is averaged.",
                lambda checkpoints, last: average(checkpoints, 1),
            ),
            "sum": Mistake(
                "that is the sum: weights that many times too large.",
                lambda checkpoints, last: [last * x for x in average(checkpoints, last)],
            ),
            "without the newest": Mistake(
                "the newest is left out.",
                lambda checkpoints, last: average(
                    checkpoints[:-1] if len(checkpoints) > last else checkpoints, last
                ),
            ),
        },
        gradient=False,
    ),
)
