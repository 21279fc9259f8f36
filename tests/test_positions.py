"""Day 5's positions equal their closed forms; each known mistake fails the same check."""

import math
import re

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode

from utils.language import RotaryHalves
from utils.positions import (
    Alibi,
    LearnedPositions,
    Rotary,
    SinusoidalPositions,
    alibi_slopes,
    sinusoidal,
)

EXACT = {"rtol": 1e-10, "atol": 1e-10}
F64 = torch.float64
B, H, T, D = 3, 2, 5, 6
DTYPES = [torch.float64, torch.float32, torch.float16, torch.bfloat16]


def draw(*shape: int, seed: int = 0) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(*shape, dtype=F64, generator=generator)


# Sinusoidal ---------------------------------------------------------------------------------------


def closed_form(T: int, d: int, start: int = 0, base: float = 10_000.0) -> torch.Tensor:
    """Compute Vaswani et al. (2017, §3.5) number by number."""
    rows = []
    for m in range(start, start + T):
        row = []
        for column in range(d):
            angle = m / base ** (2 * (column // 2) / d)
            row.append(math.cos(angle) if column % 2 else math.sin(angle))
        rows.append(row)
    return torch.tensor(rows, dtype=F64)


def assert_closed_form(waves) -> None:
    for size in [(T, D), (4, 5), (1, 1), (7, 2), (6, 6)]:  # odd widths, and T = d_model
        for start, base in ((0, 10_000.0), (3, 100.0)):
            expected = closed_form(*size, start, base)
            torch.testing.assert_close(waves(*size, start, base), expected, **EXACT)


def test_the_waves_equal_the_closed_form():
    assert_closed_form(lambda *sizes: sinusoidal(*sizes, dtype=F64))


def waves_of(exponent, order):
    """Return a variant of the waves: another exponent, or other columns for sine and cosine."""

    def waves(T, d, start, base):
        m = torch.arange(start, start + T, dtype=F64)[:, None]
        pairs = torch.arange((d + 1) // 2, dtype=F64)
        angles = m * base ** -exponent(pairs, d)
        return order(angles.sin(), angles.cos())[:, :d]

    return waves


def interleaved(a, b):
    return torch.stack([a, b], dim=-1).flatten(1)


MISTAKEN_WAVES = {
    "exponent doubled": waves_of(lambda i, d: 4 * i / d, interleaved),
    "exponent halved": waves_of(lambda i, d: i / d, interleaved),
    "sine and cosine exchanged": waves_of(lambda i, d: 2 * i / d, lambda s, c: interleaved(c, s)),
    "sines in a block": waves_of(lambda i, d: 2 * i / d, lambda s, c: torch.cat([s, c], 1)),
    "width rounded to even": waves_of(lambda i, d: 2 * i / (d + d % 2), interleaved),
}


@pytest.mark.parametrize("waves", MISTAKEN_WAVES.values(), ids=MISTAKEN_WAVES)
def test_mistaken_waves_are_found(waves):
    with pytest.raises(AssertionError):
        assert_closed_form(waves)


def test_the_variants_differ_from_the_waves_only_in_their_mistake():
    assert_closed_form(waves_of(lambda i, d: 2 * i / d, interleaved))


def test_a_step_turns_every_pair_by_an_angle_that_does_not_depend_on_where_it_starts():
    waves, ahead = sinusoidal(T, D, dtype=F64), sinusoidal(T, D, start=7, dtype=F64)
    for i in range(D // 2):
        angle = 7 / 10_000 ** (2 * i / D)
        sin, cos = waves[:, 2 * i], waves[:, 2 * i + 1]
        turned = sin * math.cos(angle) + cos * math.sin(angle)
        torch.testing.assert_close(ahead[:, 2 * i], turned, **EXACT)
    products = waves @ waves.T
    assert all(products.diagonal(k).var(correction=0) < 1e-20 for k in range(T))


def test_the_waves_are_of_the_default_type_and_exact_far_out():
    assert sinusoidal(T, D).dtype == torch.get_default_dtype() == torch.float32
    far = sinusoidal(2, D, start=1_000_000)
    torch.testing.assert_close(far.double(), closed_form(2, D, 1_000_000), rtol=0, atol=1e-7)


# Added to the sequence ----------------------------------------------------------------------------


def assert_adds_rows(layer, rows) -> None:
    """rows(T, start): what each sequence gets; once B = T, where a wrong axis fits too."""
    for batch_size, length, start in ((B, T, 0), (4, 4, 0), (B, 2, 3)):
        x = draw(batch_size, length, D)
        for b in range(batch_size):
            expected = x[b] + rows(length, start)
            torch.testing.assert_close(layer(x, start)[b], expected, **EXACT)


def table() -> LearnedPositions:
    torch.manual_seed(0)
    return LearnedPositions(8, D).double()


def test_sinusoidal_positions_are_added_to_each_sequence():
    assert_adds_rows(SinusoidalPositions(D), lambda T, start: closed_form(T, D, start))


def test_learned_positions_are_added_to_each_sequence():
    layer = table()
    assert_adds_rows(layer, lambda T, start: layer.table[start : start + T])


MISTAKEN_SUMS = {
    "along the batch": lambda x, start: x + closed_form(len(x), D, start)[:, None],
    "start forgotten": lambda x, start: x + closed_form(x.shape[1], D),
    "start one too late": lambda x, start: x + closed_form(x.shape[1], D, start + 1),
}


@pytest.mark.parametrize("layer", MISTAKEN_SUMS.values(), ids=MISTAKEN_SUMS)
def test_mistaken_sums_are_found(layer):
    with pytest.raises(AssertionError):
        assert_adds_rows(layer, lambda T, start: closed_form(T, D, start))


@pytest.mark.parametrize("layer", [SinusoidalPositions(D), table()], ids=["waves", "learned"])
def test_a_sequence_in_pieces_gets_the_positions_of_the_whole(layer):
    x = draw(B, T, D)
    for cut in range(1, T):
        pieces = torch.cat([layer(x[:, :cut]), layer(x[:, cut:], start=cut)], dim=1)
        torch.testing.assert_close(pieces, layer(x), **EXACT)


def test_gradients_reach_the_sequence_and_the_rows_that_were_used():
    x, layer, ahead = draw(B, T, D).requires_grad_(), table(), draw(B, T, D, seed=1)
    (layer(x, start=2) * ahead).sum().backward()
    torch.testing.assert_close(x.grad, ahead, **EXACT)
    torch.testing.assert_close(layer.table.grad[2:7], ahead.sum(0), **EXACT)
    assert torch.all(layer.table.grad[[0, 1, 7]] == 0)


@pytest.mark.parametrize("dtype", DTYPES)
def test_the_type_of_the_numbers_stays(dtype):
    x = draw(B, T, D).to(dtype)
    for layer in (SinusoidalPositions(D), table().to(dtype)):
        y = layer(x, start=3)
        assert y.dtype == dtype and y.isfinite().all()
    turned = Rotary(D)(x, start=60_000)
    assert turned.dtype == dtype
    error = turned.double() - Rotary(D)(x.double(), start=60_000)
    assert error.abs().max() < 8 * torch.finfo(dtype).eps  # not the angle, the numbers are rounded


def test_the_table_starts_small():
    torch.manual_seed(1)
    assert LearnedPositions(100, 50).table.std().item() == pytest.approx(0.02, rel=0.05)


# Rotary -------------------------------------------------------------------------------------------


def complex_form(x: torch.Tensor, start: int = 0, base: float = 10_000.0) -> torch.Tensor:
    """Turn pairs as complex numbers, each times e^(i·m·θ)."""
    d_k = x.shape[-1]
    m = torch.arange(start, start + x.shape[-2], dtype=F64)[:, None]
    angles = m / base ** (torch.arange(0, d_k, 2, dtype=F64) / d_k)
    turn = torch.polar(torch.ones_like(angles), angles)
    pairs = torch.view_as_complex(x.unflatten(-1, (-1, 2)).contiguous())
    return torch.view_as_real(pairs * turn).flatten(-2)


def assert_rotates(rotate) -> None:
    for shape in [(B, H, T, D), (4, 3, 4, 2), (2, 5, 5, 8)]:  # B = T, h = T
        for start in (0, 3):
            results = []
            for function in (rotate, complex_form):
                x = draw(*shape).requires_grad_()
                y = function(x, start)
                (gradient,) = torch.autograd.grad((y * draw(*shape, seed=1)).sum(), x)
                results.append((y, gradient))
            for ours, theirs in zip(*results, strict=True):
                torch.testing.assert_close(ours, theirs, **EXACT)


def test_rotary_equals_the_complex_product():
    assert_rotates(lambda x, start: Rotary(x.shape[-1])(x, start))
    x = draw(B, H, T, D)
    torch.testing.assert_close(Rotary(D, base=50.0)(x, 2), complex_form(x, 2, 50.0), **EXACT)


def in_halves(x, start):
    """Turn number i with number i + d_k/2: another layout, which needs other weights."""
    half = x.shape[-1] // 2
    paired = torch.stack([x[..., :half], x[..., half:]], dim=-1).flatten(-2)
    turned = complex_form(paired, start).unflatten(-1, (-1, 2))
    return torch.cat([turned[..., 0], turned[..., 1]], dim=-1)


def conjugate(x):
    return x * x.new_tensor([1, -1]).repeat(x.shape[-1] // 2)


MISTAKEN_TURNS = {
    "halves": in_halves,
    "the other way round": lambda x, start: conjugate(complex_form(conjugate(x), start)),
    "along the heads": lambda x, start: complex_form(x.transpose(1, 2), start).transpose(1, 2),
    "start forgotten": lambda x, start: complex_form(x),
    "exponent doubled": lambda x, start: complex_form(x, start, base=10_000.0**2),
}


@pytest.mark.parametrize("rotate", MISTAKEN_TURNS.values(), ids=MISTAKEN_TURNS)
def test_mistaken_turns_are_found(rotate):
    with pytest.raises(AssertionError):
        assert_rotates(rotate)


def test_a_score_knows_the_distance_alone():
    rotary = Rotary(D)
    q, k = draw(1, D), draw(1, D, seed=1)
    for m in (0, 2, 9):
        for n in (0, 5, 9):
            score = rotary(q, start=m) @ rotary(k, start=n).T
            torch.testing.assert_close(score, q @ rotary(k, start=n - m).T, **EXACT)
    near, far = (rotary(q, start=3) @ rotary(k, start=n).T for n in (4, 9))
    assert (near - far).abs() > 1e-3  # the distance does count


def test_a_turn_keeps_lengths_and_leaves_position_0_alone():
    x = draw(B, H, T, D)
    y = Rotary(D)(x)
    torch.testing.assert_close(y.norm(dim=-1), x.norm(dim=-1), **EXACT)
    assert torch.equal(y[:, :, 0], x[:, :, 0])
    assert (y[:, :, 1] - x[:, :, 1]).abs().max() > 0.1
    assert not list(Rotary(D).parameters())


# What is kept -------------------------------------------------------------------------------------

ROTARIES = pytest.mark.parametrize("kind", [Rotary, RotaryHalves])


class OnTheProcessor(TorchDispatchMode):
    """Note each operation that gives a tensor on the processor."""

    def __init__(self):
        super().__init__()
        self.found = []

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        given = function(*args, **(kwargs or {}))
        if isinstance(given, torch.Tensor) and given.device.type == "cpu":
            self.found.append(str(function))
        return given


@ROTARIES
def test_on_another_device_no_pass_after_the_first_computes_on_the_processor(kind):
    rotary, x = kind(D), torch.empty(B, H, T, D, device="meta")
    with OnTheProcessor() as first:
        rotary(x)
    with OnTheProcessor() as later:
        assert rotary(x).device.type == "meta"
        for start in range(T, T + 20):  # as a text is written
            rotary(x[:, :, :1], start)
    assert first.found and not later.found


@ROTARIES
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
def test_what_is_kept_turns_as_what_is_made_anew_to_the_last_bit(kind, dtype):
    kept = kind(D)
    for n, start in [(5, 0), (1, 5), (3, 2), (70, 0), (1, 69), (1, 70), (2, 500), (5, 499), (5, 0)]:
        x = draw(B, H, n, D).to(dtype)
        assert torch.equal(kept(x, start), kind(D)(x, start))
        angles = torch.arange(start, start + n, dtype=F64)[:, None] * kept.frequencies
        for mine, wave in zip(
            kept.turns(kept.frequencies, x, start), (angles.cos(), angles.sin()), strict=True
        ):
            assert torch.equal(mine, wave.to(dtype))


@ROTARIES
def test_what_is_kept_follows_the_numbers_and_can_be_trained_after_inference(kind):
    rotary, x = kind(D), draw(1, T, D)
    with torch.inference_mode():
        rotary(x)
    whole = x.clone().requires_grad_()
    rotary(whole).sum().backward()
    assert whole.grad.isfinite().all()
    assert rotary(x.float()).dtype == torch.float32 and rotary(x).dtype == F64
    assert not rotary.state_dict()
    rotary.frequencies = 2 * rotary.frequencies
    torch.testing.assert_close(rotary(x[:, :1], 3), kind(D)(x[:, :1], 6), **EXACT)


@ROTARIES
def test_a_turn_is_compiled_in_one_piece(kind):
    rotary, x = kind(D), draw(B, H, T, D)
    compiled = torch.compile(rotary, backend="eager", fullgraph=True)
    for start in (0, 0, 3, 4):
        torch.testing.assert_close(compiled(x, start), rotary(x, start), **EXACT)


# Bad input ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda: sinusoidal(0, D), "^T .* 0"),
        (lambda: sinusoidal(T, 0), "d_model .* 0"),
        (lambda: SinusoidalPositions(-1), "d_model .* -1"),
        (lambda: LearnedPositions(0, D), "max_len .* 0"),
        (lambda: LearnedPositions(8, 2.5), "d_model .* 2.5"),
        (lambda: Rotary(0), "d_k .* 0"),
        (lambda: Rotary(5), "d_k .* 5"),
        (lambda: table()(draw(B, 9, D)), " 7 .* 0 .* 8:"),
        (lambda: table()(draw(B, T, D), start=4), " 7 .* 4 .* 8:"),
        (lambda: table()(draw(B, T, D), start=-1), " 7 .* -1 .* 3:"),
        (lambda: Rotary(D)(draw(B, H, T, 4)), r" 6\).*\(3, 2, 5, 4\)"),
        (lambda: Rotary(D)(draw(B, H, 0, D)), r" 6\).*\(3, 2, 0, 6\)"),
        (lambda: Rotary(D)(draw(D)), r" 6\).*\(6,\)"),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.parametrize("shape", [(B, T, 1), (B, 0, D), (T, D)], ids=str)
@pytest.mark.parametrize("layer", [SinusoidalPositions(D), table()], ids=["waves", "learned"])
def test_sequences_of_another_width_or_none_are_named(layer, shape):
    with pytest.raises(ValueError, match=re.escape(str(shape))):
        layer(draw(*shape))


def test_the_last_learned_position_can_be_used():
    layer, x = table(), draw(B, 8, D)
    torch.testing.assert_close(layer(x)[:, -1], layer(x[:, -1:], start=7)[:, 0], **EXACT)


# Padding in front ---------------------------------------------------------------------------------


@pytest.mark.parametrize("layer", [SinusoidalPositions(D), table()], ids=["waves", "learned"])
def test_each_sequence_may_begin_elsewhere(layer):
    layer, x = layer.double(), draw(3, T, D)
    found = layer(x, torch.tensor([2, 0, -3]))
    torch.testing.assert_close(found[:1], layer(x[:1], 2), **EXACT)
    torch.testing.assert_close(found[1:2], layer(x[1:2]), **EXACT)
    torch.testing.assert_close(found[2:, 3:], layer(x[2:, 3:]), **EXACT)


def test_a_batch_beyond_the_table_is_named_and_padding_does_not_count():
    layer, x = LearnedPositions(T, D), draw(2, T + 2, D).float()
    layer(x, torch.tensor([-2, -3]))
    with pytest.raises(ValueError, match=f" {T - 1} .* -1 .* {T}:"):
        layer(x, torch.tensor([-1, -3]))


# Added to the scores ------------------------------------------------------------------------------


def published_slopes(n: int) -> list[float]:
    """As the authors' code has them (github.com/ofirpress/attention_with_linear_biases)."""

    def of_a_power_of_2(n):
        start = 2 ** (-(2 ** -(math.log2(n) - 3)))
        return [start * start**i for i in range(n)]

    if math.log2(n).is_integer():
        return of_a_power_of_2(n)
    closest = 2 ** math.floor(math.log2(n))
    return of_a_power_of_2(closest) + published_slopes(2 * closest)[0::2][: n - closest]


@pytest.mark.parametrize("n_heads", [1, 2, 3, 6, 8, 12, 16, 20])
def test_the_slopes_are_the_papers_or_the_published_codes(n_heads):
    ratio = 2 ** (-8 / n_heads)
    formula = torch.tensor([ratio**i for i in range(1, n_heads + 1)])
    torch.testing.assert_close(alibi_slopes(n_heads), formula)
    published = torch.tensor(published_slopes(n_heads))
    torch.testing.assert_close(alibi_slopes(n_heads, published=True), published)
    is_power = n_heads & (n_heads - 1) == 0
    assert torch.allclose(published, formula) == is_power


def test_a_bias_falls_with_the_distance_from_the_last_key_on():
    bias = Alibi(4)(2, 5)
    assert bias.shape == (4, 2, 5)
    distance = torch.tensor([[3, 2, 1, 0, 1], [4, 3, 2, 1, 0]])
    torch.testing.assert_close(bias, -alibi_slopes(4)[:, None, None] * distance)
    with pytest.raises(ValueError, match="n_heads .* 0"):
        Alibi(0)


def test_a_bias_has_the_papers_slopes_unless_the_codes_are_asked_for_and_stores_neither():
    assert torch.equal(Alibi(6).slopes, alibi_slopes(6))
    assert torch.equal(Alibi(6, published=True).slopes, alibi_slopes(6, published=True))
    assert not Alibi(6).state_dict()
