"""Bytes and operations are counted as the formulas say, forward and backward."""

import re
import time

import pytest
import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.flop_counter import FlopCounterMode

from utils.efficient import elu_features, recurrent_form, tiled_attention
from utils.measure.costs import (
    Work,
    exponent,
    peak_bytes,
    ring_bytes,
    ring_seconds,
    seconds,
    work,
)
from utils.measure.experiments import live, load
from utils.recurrent import GRU
from utils.transformer import DecoderBlock, EncoderBlock, TransformerConfig

KILO = 250  # numbers in single precision of which 1000 bytes consist


def step(function, *inputs: torch.Tensor):
    """Return an action: forward and backward, by all inputs."""

    def action():
        leaves = [x.detach().requires_grad_() for x in inputs]
        y = function(*leaves)
        torch.autograd.grad(y, leaves, torch.ones_like(y))

    return action


def heads(*shapes: tuple[int, ...]) -> list[torch.Tensor]:
    generator = torch.Generator().manual_seed(0)
    return [torch.randn(*shape, generator=generator) for shape in shapes]


# Bytes --------------------------------------------------------------------------------------------


def test_peak_memory_counts_what_is_held_at_once():
    given = torch.zeros(1000, KILO)

    def one_after_the_other():
        for _ in range(5):
            torch.zeros(1000, KILO)

    assert peak_bytes(lambda: [torch.zeros(1000, KILO) for _ in range(5)]) == 5 * 10**6
    assert peak_bytes(one_after_the_other) == 10**6
    assert peak_bytes(lambda: given[:10].mT) == 0


def test_peak_memory_is_beside_what_was_there_before():
    held = [torch.zeros(1000, KILO)]

    def drop_then_take():
        held.clear()
        return torch.zeros(500, KILO)

    assert peak_bytes(drop_then_take) == 5 * 10**5
    assert peak_bytes(lambda: None) == 0


def test_peak_memory_holds_what_autograd_keeps():
    x = torch.ones(1000, KILO, requires_grad=True)
    assert peak_bytes(lambda: x.exp().exp().exp().sum()) == pytest.approx(3 * 10**6, abs=100)
    with torch.no_grad():  # the one that is read and the one that is made
        assert peak_bytes(lambda: x.exp().exp().exp().sum()) == pytest.approx(2 * 10**6, abs=100)


def test_peak_memory_sees_into_the_fused_kernel_and_no_scores():
    T, d = 512, 16
    q, k, v = heads(*[(1, 1, T, d)] * 3)
    fused = peak_bytes(lambda: F.scaled_dot_product_attention(q, k, v))
    context_and_sums = 4 * T * (d + 1)
    assert context_and_sums < fused < 4 * T * T  # and the kernel's own tiles
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        assert peak_bytes(lambda: F.scaled_dot_product_attention(q, k, v)) == fused
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(before)
    assert peak_bytes(lambda: (q @ k.mT).softmax(-1) @ v) >= 2 * 4 * T * T


def test_peak_memory_of_a_long_recurrence_is_that_of_its_states():
    T, d = 1500, 8
    phi, value = heads((1, 1, T, d), (1, 1, T, d))
    state, context = 4 * d * (d + 1), 4 * T * d
    forward = peak_bytes(lambda: recurrent_form(phi, phi, value))
    assert 2 * context < forward < 2 * context + 10 * state + 4 * T
    phi.requires_grad_()
    kept = peak_bytes(lambda: recurrent_form(phi, phi, value))
    assert T * state < kept < 1.5 * T * state + 4 * context


# Operations ---------------------------------------------------------------------------------------


def test_products_count_twice_their_multiplications():
    a, b, c = heads((3, 5), (5, 7), (2, 5, 4))
    x, y = a[0], a[1]
    bias = torch.zeros(7)
    cases = {
        lambda: a @ b: 2 * 3 * 5 * 7,
        lambda: a @ x: 2 * 3 * 5,
        lambda: x @ y: 2 * 5,
        lambda: a @ c: 2 * 2 * 3 * 5 * 4,
        lambda: F.linear(a, b.T, bias): 2 * 3 * 5 * 7,
        lambda: torch.addmv(bias[:3], a, x): 2 * 3 * 5,
        lambda: torch.baddbmm(bias[:4], c.mT, c): 2 * 2 * 4 * 5 * 4,
        lambda: torch.einsum("ij,jk->ik", a, b): 2 * 3 * 5 * 7,
    }
    for action, products in cases.items():
        assert work(action) == Work(products, 0)
        with torch.inference_mode():
            assert work(action) == Work(products, 0)


def test_the_rest_counts_one_an_element():
    x, ids = torch.rand(3, 5, 7), torch.tensor([[1, 2], [0, 2]])
    held = torch.zeros(4, 100)
    cases = {
        lambda: x + 1: 105,
        lambda: x.exp_(): 105,
        lambda: x[:, :, :1] + x[:1]: 105,  # broadcast: what is made
        lambda: x.sum(): 105,  # what is read
        lambda: x.amax(dim=1): 105,
        lambda: x.softmax(dim=-1): 105,
        lambda: x.transpose(0, 2)[1:].view(6, 5, 3): 0,
        lambda: x.flatten(1).unsqueeze(0).expand(9, -1, -1): 0,
        lambda: torch.empty(10): 0,
        lambda: torch.zeros(10): 10,
        lambda: held[:, :3].copy_(x[0, :4, :3]): 12,  # in place: what is written, not what is held
        lambda: F.embedding(ids, held): 4 * 100,  # what is found, not the table
        lambda: x[:, torch.tensor([1, 1])]: 42,
        lambda: torch.cat([x, x]): 210,
    }
    for action, elements in cases.items():
        assert work(action) == Work(0, elements)
    assert work(lambda: x.sin() @ x.mT) == Work(2 * 3 * 5 * 7 * 5, 105)
    assert work(lambda: x.sin() @ x.mT).total == 2 * 3 * 5 * 7 * 5 + 105


def test_a_backward_pass_is_counted():
    x, W = heads((3, 5), (5, 7))
    product = 2 * 3 * 5 * 7
    assert work(step(lambda x, W: x @ W, x, W)).products == 3 * product
    assert work(step(lambda x: x @ W, x)).products == 2 * product
    # exp, ones_like, and the gradient's product with exp
    assert work(step(torch.exp, x)) == Work(0, 3 * 15)


COUNTED = {
    "conv1d": (lambda: nn.Conv1d(4, 6, 3, stride=2, padding=1), (2, 4, 11)),
    "conv2d": (lambda: nn.Conv2d(4, 6, (3, 2), dilation=2), (2, 4, 11, 9)),
    "transposed": (lambda: nn.ConvTranspose1d(4, 6, 3, stride=2), (2, 4, 11)),
    "mlp": (lambda: nn.Sequential(nn.Linear(5, 7), nn.ReLU(), nn.Linear(7, 2)), (3, 4, 5)),
    "nn.GRU": (lambda: nn.GRU(5, 6, batch_first=True), (2, 9, 5)),
    "GRU": (lambda: GRU(5, 6), (2, 9, 5)),
}


@pytest.mark.parametrize("name", COUNTED)
def test_products_are_those_of_the_librarys_counter_where_it_counts(name):
    make, shape = COUNTED[name]
    layer = make()

    def result(x):
        y = layer(x)
        return y[0] if isinstance(y, tuple) else y

    x = heads(shape)[0].requires_grad_()
    for action in (lambda: result(x), lambda: result(x).sum().backward()):
        with FlopCounterMode(display=False) as counter:
            action()
        assert work(action).products == counter.get_total_flops() > 0


def test_a_convolution_in_groups_counts_a_kernel_for_each_output():
    layer, x = nn.Conv2d(4, 6, 3, groups=2), torch.randn(2, 4, 11, 9, requires_grad=True)
    products = 2 * (2 * 6 * 9 * 7) * (2 * 3 * 3)
    assert work(lambda: layer(x)).products == products
    # the library's counter takes the kernels' gradient for that of one group
    assert work(lambda: layer(x).sum().backward()).products == 3 * products


def test_a_block_of_the_transformer_counts_as_the_librarys_counter_and_the_formula_say():
    B, T, S, D, d_ff, h = 2, 7, 5, 12, 20, 3
    config = TransformerConfig(9, d_model=D, n_heads=h, d_ff=d_ff, n_layers=1, dropout=0.0)
    x, source = heads((B, T, D), (B, S, D))
    encoder, decoder = EncoderBlock(config), DecoderBlock(config)

    def encode(x):
        return encoder(x, need_weights=True)[0]

    def decode(x, source):
        return decoder(x, decoder.remember(source), need_weights=True)[0]

    projections, pairs, feed_forward = 8 * B * T * D * D, 4 * B * T * T * D, 4 * B * T * D * d_ff
    assert work(lambda: encode(x)).products == projections + pairs + feed_forward
    for action in (
        lambda: encode(x).sum().backward(),
        lambda: decode(x, source),
        lambda: decode(x, source).sum().backward(),
    ):
        with FlopCounterMode(display=False) as counter:
            action()
        assert work(action).products == counter.get_total_flops()


@pytest.mark.parametrize("is_causal", [False, True])
def test_the_fused_kernel_is_counted_by_formula(is_causal):
    B, h, T, S, d_k, d_v = 2, 3, 7, 5, 4, 6
    S = T if is_causal else S
    q, k, v = heads((B, h, T, d_k), (B, h, S, d_k), (B, h, S, d_v))
    v = v if not is_causal else v[..., :d_k].contiguous()
    d_v = v.shape[3]
    pairs = B * h * (T * (T + 1) // 2 if is_causal else T * S)

    def fused(q, k, v):
        return F.scaled_dot_product_attention(q, k, v, is_causal=is_causal)

    if d_v != d_k:  # not for the fused kernel: the library takes the plain form
        assert work(lambda: fused(q, k, v)).products == 2 * pairs * (d_k + d_v)
        d_v, v = d_k, v[..., :d_k].contiguous()
    assert work(lambda: fused(q, k, v)) == Work(2 * pairs * (d_k + d_v), pairs)
    both = work(step(fused, q, k, v))
    assert both.products == 2 * pairs * (d_k + d_v) + 2 * pairs * (3 * d_k + 2 * d_v)
    ones = q.numel()  # ones_like, the gradient to begin with
    assert both.elementwise == 3 * pairs + ones


def test_what_the_fused_kernel_makes_of_full_attention_is_its_plain_work_and_one_product_more():
    T, d = 64, 16
    inputs = heads(*[(1, 1, T, d)] * 3)

    def plain(q, k, v):
        return (q @ k.mT / d**0.5).softmax(dim=-1) @ v

    fused, written_out = (
        work(step(function, *inputs)) for function in (F.scaled_dot_product_attention, plain)
    )
    assert fused.products - written_out.products == 2 * T * T * d
    assert written_out.products == 3 * 2 * 2 * T * T * d


def test_the_tiles_gradient_by_hand_is_counted():
    T, d, tile = 64, 16, 16
    q, k, v = heads(*[(1, 1, T, d)] * 3)
    product = 2 * T * T * d
    assert work(lambda: tiled_attention(q, k, v, tile=tile)).products == 2 * product
    both = work(step(lambda *x: tiled_attention(*x, tile=tile), q, k, v))
    assert both.products == 7 * product
    half = work(lambda: tiled_attention(q, k, v, tile=tile, is_causal=True)).products
    assert half == 2 * product * (T // tile + 1) / (2 * T // tile)


def test_kernels_that_hide_their_products_are_refused():
    layer, (x,) = nn.LSTM(5, 6, batch_first=True), heads((2, 9, 5))
    with pytest.raises(ValueError, match="mkldnn_rnn_layer"):
        work(lambda: layer(x))
    with torch.backends.mkldnn.flags(enabled=False):
        assert work(lambda: layer(x)).products == 2 * 2 * 9 * 4 * 6 * (5 + 6)


def test_counting_changes_no_result():
    q, k, v = heads(*[(1, 2, 9, 4)] * 3)
    results = []
    work(lambda: results.append(F.scaled_dot_product_attention(q, k, v)))
    peak_bytes(lambda: results.append(F.scaled_dot_product_attention(q, k, v)))
    assert torch.equal(results[0], results[1])
    assert torch.equal(results[0], F.scaled_dot_product_attention(q, k, v))


# Seconds ------------------------------------------------------------------------------------------


def test_seconds_are_the_least_of_a_few_repeats_on_one_thread():
    threads, calls = torch.get_num_threads(), []

    def slow_at_first():
        calls.append(torch.get_num_threads())
        end = time.process_time() + (0.05 if len(calls) == 1 else 0.005)
        while time.process_time() < end:
            pass

    torch.set_num_threads(2)
    try:
        assert 0.005 <= seconds(slow_at_first) < 0.05
        assert calls == [1] * 5 and torch.get_num_threads() == 2
        calls.clear()
        assert seconds(slow_at_first, enough=0.04) >= 0.05 and len(calls) == 1
        calls.clear()
        seconds(slow_at_first, repeats=3)
        assert len(calls) == 3
        with pytest.raises(RuntimeError):
            seconds(lambda: torch.ones(2) @ torch.ones(3))
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(threads)


# Growth -------------------------------------------------------------------------------------------


def test_an_exponent_is_the_slope_between_logarithms():
    sizes = [1, 2, 4, 8]
    assert exponent(sizes, [3 * n**1.5 for n in sizes]) == pytest.approx(1.5)
    assert exponent(sizes, [7, 7, 7, 7]) == pytest.approx(0)
    assert exponent([1, 2, 4], [1, 2, 8]) == pytest.approx(1.5)  # between 1 and 2
    T = [256, 512, 1024]
    states = [work(lambda n=n: elu_features(torch.ones(n, 4))).total for n in T]
    assert exponent(T, states) == pytest.approx(1)


@pytest.mark.parametrize(
    ("sizes", "values"),
    [([1], [1]), ([2, 2], [1, 2]), ([1, 2], [1]), ([1, 2], [0, 1]), ([0, 2], [1, 1]), ([], [])],
)
def test_what_has_no_exponent_is_refused(sizes, values):
    with pytest.raises(ValueError, match=f"{re.escape(str(sizes))} .*{re.escape(str(values))}"):
        exponent(sizes, values)


# What the stored tables say -----------------------------------------------------------------------


def column(method: str, name: str) -> dict[int, float]:
    """Return {T: value} of one form of attention."""
    return {row["T"]: row[name] for row in load("attention_costs").select(method=method)}


def fitted(values: dict[int, float]) -> float:
    return exponent(list(values), list(values.values()))


FORWARD_AND_STEP = ("work", "bytes", "step_work", "step_bytes")


@pytest.mark.parametrize(
    ("method", "names", "power"),
    [
        ("full", FORWARD_AND_STEP, 2),
        ("window", FORWARD_AND_STEP, 1),
        ("bigbird", FORWARD_AND_STEP, 1),
        ("linformer", FORWARD_AND_STEP, 1),
        ("performer", FORWARD_AND_STEP, 1),
        ("linear", FORWARD_AND_STEP, 1),
        ("linear, chunked", FORWARD_AND_STEP, 1),
        ("linear, recurrent", FORWARD_AND_STEP, 1),
        ("strided", ("work", "step_work"), 1.5),
        ("fixed", ("work", "step_work"), 1.5),
        ("tiled", ("work", "step_work"), 2),
        ("tiled", ("step_bytes",), 1),
        ("fused", ("work", "step_work"), 2),
    ],
)
def test_what_attention_costs_grows_with_this_power_of_the_length(method, names, power):
    sizes = load("attention_costs").parameters
    assert sizes["T"] == [256, 512, 1024, 2048, 4096, 8192]
    assert sizes["d_k"] == sizes["window"] == 64
    for name in names:
        assert fitted(column(method, name)) == pytest.approx(power, abs=0.1), name


@pytest.mark.parametrize("name", ["bytes", "step_bytes"])
def test_the_tiles_memory_is_linear_beside_one_tile_of_constant_size(name):
    """Forward alone that tile is as large as a context of several hundred positions."""
    held = column("tiled", name)
    further = {T: held[2 * T] - held[T] for T in held if 2 * T in held}
    assert fitted(further) == pytest.approx(1, abs=0.01)
    constant = 2 * held[256] - held[512]
    assert 64 * 64 * 4 <= constant <= 8 * 64 * 64 * 4  # a few tiles (64, 64) at once


@pytest.mark.parametrize("method", ["strided", "fixed"])
def test_the_sparse_patterns_memory_is_a_linear_part_and_one_with_the_power_of_1_5(method):
    """Copies of keys and values, d_k wide, outweigh √T weights: the sum grows more slowly."""
    held = column(method, "bytes")
    beyond = {T: held[4 * T] - 4 * held[T] for T in held if 4 * T in held}
    assert fitted(beyond) == pytest.approx(1.5, abs=0.1)
    assert 1.1 < fitted(held) < 1.35


def test_sparse_forms_never_hold_all_pairs():
    for method in ("window", "bigbird", "strided", "fixed"):
        for T, held in column(method, "step_bytes").items():
            if T >= 4096:
                assert held < 0.75 * 4 * T * T, (method, T)  # not even the scores alone
    for method in ("window", "bigbird", "fixed"):
        assert column(method, "bytes")[8192] < 8192**2, method  # nor a boolean for each
    for T, held in column("full", "bytes").items():
        assert held >= 2 * 4 * T * T  # scores and weights


@pytest.mark.parametrize("method", load("attention_costs").parameters["method"])
def test_what_is_counted_is_the_same_on_every_machine(method):
    now, stored = live("attention_costs", method=method, T=256)
    for name in FORWARD_AND_STEP:
        assert now[name] == stored[name]
        assert isinstance(now[name], int)


def test_generation_with_a_cache_is_many_times_as_fast_and_linear_in_each_symbol():
    table = load("generation_time")
    lengths = table.parameters["tokens"]
    assert lengths[-1] == 512
    rows = {method: table.select(method=method) for method in ("uncached", "state", "cached")}
    assert rows["uncached"][-1]["seconds"] > 5 * rows["cached"][-1]["seconds"]
    last = {method: [row["last_work"] for row in rows[method]] for method in rows}
    assert exponent(lengths, last["uncached"]) > 1  # each symbol reads all
    further = [b - a for a, b in zip(last["cached"], last["cached"][1:], strict=False)]
    assert exponent(lengths[:-1], further) == pytest.approx(1, abs=0.01)  # and a constant
    assert last["cached"][-1] < last["uncached"][-1] / 300


def test_layers_cost_what_the_formulas_say():
    table = load("sequence_time")
    D, B = table.parameters["width"], table.parameters["batch_size"]
    for T in table.parameters["T"]:
        products = {row["layer"]: row["products"] for row in table.select(T=T)}
        step = 3 * 2 * B * D * D  # a product (D, D) at one position, and twice that backward
        assert products["convolution"] == 3 * T * step
        # the first state is zeros, which need no gradient
        assert products["RNN"] == pytest.approx(2 * T * step, rel=1 / T)
        assert products["GRU"] == pytest.approx(6 * T * step, rel=1 / T)
        pairs = 2 * (2 + 5) * B * T * T * D  # the fused kernel makes the weights twice
        assert products["attention"] == 4 * T * step + pairs
        assert products["encoder block"] == 12 * T * step + pairs


def test_a_recurrence_is_a_chain_as_long_as_the_sequence_and_attention_is_not():
    table = load("sequence_time")
    chains = {layer: {} for layer in table.parameters["layer"]}
    for row in table.rows:
        chains[row["layer"]][row["T"]] = row["chain"]
    assert fitted(chains["RNN"]) == pytest.approx(1, abs=0.1)
    for layer in ("convolution", "attention", "encoder block"):
        assert len(set(chains[layer].values())) == 1


# Between machines ---------------------------------------------------------------------------------


def gone_round(parts: list[list[float]]) -> int:
    """Add up the processes' numbers around a ring, in place; return what one sends, in parts."""
    n, sent = len(parts), 0
    for step in range(n - 1):  # each adds what comes from before, and passes the sum on
        passed = [(r, (r - step) % n, parts[r][(r - step) % n]) for r in range(n)]
        for r, part, value in passed:
            parts[(r + 1) % n][part] += value
        sent += 1
    for step in range(n - 1):  # the sums go round
        passed = [(r, (r + 1 - step) % n, parts[r][(r + 1 - step) % n]) for r in range(n)]
        for r, part, value in passed:
            parts[(r + 1) % n][part] = value
        sent += 1
    return sent


@pytest.mark.parametrize("n", [1, 2, 3, 8])
def test_a_ring_sends_what_one_does_that_is_walked_round(n):
    parts = [[float(10 * r + part) for part in range(n)] for r in range(n)]
    sums = [sum(row[part] for row in parts) for part in range(n)]
    sent = gone_round(parts)
    assert parts == [sums] * n
    assert ring_bytes(40 * n, n) == pytest.approx(40 * sent)


def test_a_rings_time_is_that_of_its_bytes_and_of_its_steps():
    assert ring_seconds(3.2e6, 8, 1e9) == pytest.approx(5.6e-3)
    assert ring_seconds(0, 8, 1e9, latency=1e-5) == pytest.approx(14e-5)
    nearly_all = [ring_seconds(1e9, n, 1e9) for n in (2, 8, 1000)]
    assert nearly_all == pytest.approx([1.0, 1.75, 1.998])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [((1, 0), "bytes.* 0 .* 1"), ((-1, 2), "bytes.* 2 .*-1"), ((1, 2, 0), "bandwidth.* 0 ")],
)
def test_a_ring_of_nobody_is_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        ring_seconds(*arguments) if len(arguments) > 2 else ring_bytes(*arguments)
