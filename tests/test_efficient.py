"""Day 7's forms equal full attention under their pattern, and never make a tensor (T, S)."""

import math
import re
from functools import partial

import pytest
import torch
from torch.nn import functional as F
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves
from torch.utils.flop_counter import FlopCounterMode

from utils.attention import masked_softmax
from utils.efficient import (
    KVCache,
    Linformer,
    Performer,
    bigbird_attention,
    bigbird_mask,
    chunked_form,
    elu_features,
    fixed_attention,
    fixed_mask,
    linear_attention,
    log_features,
    orthogonal_directions,
    parallel_form,
    quadratic_form,
    random_blocks,
    recurrent_form,
    recurrent_step,
    strided_attention,
    strided_mask,
    tiled_attention,
    window_attention,
    window_mask,
)
from utils.positions import Rotary
from utils.self_attention import MultiHeadAttention

EXACT = {"rtol": 1e-10, "atol": 1e-10}
B, H, T, S, D_K, D_V = 3, 2, 11, 13, 5, 4


def draw(*shape: int, seed: int = 0) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed + sum(shape))
    return torch.randn(*shape, dtype=torch.float64, generator=generator)


def heads(T: int = T, S: int | None = None, B: int = B) -> list[torch.Tensor]:
    """Draw query, key and value; without S, of one sequence."""
    S = T if S is None else S
    return [draw(B, H, T, D_K), draw(B, H, S, D_K, seed=1), draw(B, H, S, D_V, seed=2)]


def padded(S: int = T, B: int = B) -> torch.Tensor:
    """Draw a key mask (B, S); the first sequence is short, the last has no keys at all."""
    mask = draw(B, S) > -0.5
    mask[0, S // 3 :] = False
    mask[-1] = False
    return mask


def dense(query, key, value, mask) -> torch.Tensor:
    """Compute full attention with a mask broadcastable to (B, h, T, S)."""
    scores = torch.einsum("bhtd,bhsd->bhts", query, key) / query.shape[-1] ** 0.5
    return masked_softmax(scores, mask) @ value


def assert_same(ours, other, *inputs: torch.Tensor) -> None:
    """Compare results and gradients by every input."""
    results = []
    for function in (ours, other):
        leaves = [x.detach().clone().requires_grad_() for x in inputs]
        y = function(*leaves)
        loss = (draw(*y.shape, seed=3) * y).sum()
        results.append([y, *torch.autograd.grad(loss, leaves)])
    assert results[0][0].abs().max() > 0
    for a, b in zip(*results, strict=True):
        torch.testing.assert_close(a, b, **EXACT)


class Largest(TorchDispatchMode):
    """Note the most elements that a tensor made meanwhile holds; a view makes nothing."""

    def __init__(self):
        super().__init__()
        self.elements = 0

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        result = function(*args, **(kwargs or {}))
        given = {x.untyped_storage().data_ptr() for x in tree_leaves(args) if is_tensor(x)}
        for x in filter(is_tensor, tree_leaves(result)):
            if x.untyped_storage().data_ptr() not in given:
                held = x.untyped_storage().nbytes() // x.element_size()
                self.elements = max(self.elements, held)
        return result


def is_tensor(x) -> bool:
    return isinstance(x, torch.Tensor)


def forward_and_backward(form, T: int, d: int = 2) -> None:
    query, key, value = (draw(1, 1, T, d, seed=i).requires_grad_() for i in range(3))
    form(query, key, value).sum().backward()
    assert all(x.grad.isfinite().all() for x in (query, key, value))


# Patterns -----------------------------------------------------------------------------------------


def pattern(name: str, T: int, size: int, is_causal: bool):
    """Return a form, and its pattern (T, T) by another route: from its definition, pair by pair."""
    c = max(1, size // 2)
    places = {0, T // 2, T - 1}
    rules = {
        "window": lambda t, s: abs(t - s) <= size,
        "global": lambda t, s: abs(t - s) <= size or t in places or s in places,
        "strided": lambda t, s: abs(t - s) <= size or (t - s) % size == 0,
        "fixed": lambda t, s: t // size == s // size or s % size in range(size - c, size),
    }
    forms = {
        "window": lambda *x, **k: window_attention(*x, size, is_causal=is_causal, **k),
        "global": lambda *x, **k: window_attention(
            *x, size, global_positions=[T // 2, 0, T - 1, 0], is_causal=is_causal, **k
        ),
        "strided": lambda *x, **k: strided_attention(*x, size, is_causal=is_causal, **k),
        "fixed": lambda *x, **k: fixed_attention(*x, size, c, is_causal=is_causal, **k),
    }
    masks = {
        "window": lambda: window_mask(T, size, is_causal=is_causal),
        "global": lambda: window_mask(
            T, size, global_positions=[0, T // 2, T - 1], is_causal=is_causal
        ),
        "strided": lambda: strided_mask(T, size, is_causal=is_causal),
        "fixed": lambda: fixed_mask(T, size, c, is_causal=is_causal),
    }
    seen = [[rules[name](t, s) and (s <= t or not is_causal) for s in range(T)] for t in range(T)]
    return forms[name], torch.tensor(seen), masks[name]()


PATTERNS = pytest.mark.parametrize("name", ["window", "global", "strided", "fixed"])
CAUSAL = pytest.mark.parametrize("is_causal", [False, True])


@PATTERNS
@CAUSAL
@pytest.mark.parametrize("size", [1, 2, 3, 5, 10, 11, 40])
def test_a_pattern_equals_full_attention_under_its_mask(name, is_causal, size):
    form, seen, drawn = pattern(name, T, size, is_causal)
    assert torch.equal(seen, drawn)
    assert_same(form, lambda *x: dense(*x, seen), *heads())
    key_mask = padded()
    both = seen & key_mask[:, None, None]
    assert_same(lambda *x: form(*x, key_mask=key_mask), lambda *x: dense(*x, both), *heads())


@PATTERNS
@CAUSAL
@pytest.mark.parametrize("T", [1, 2, 3, 8, 16])
def test_a_pattern_of_another_length_and_batch(name, is_causal, T):
    form, seen, _ = pattern(name, T, 4, is_causal)
    inputs = draw(T, 3, T, 6), draw(T, 3, T, 6, seed=1), draw(T, 3, T, 1)  # B = T
    assert_same(form, lambda *x: dense(*x, seen), *inputs)


@pytest.mark.parametrize("n_global", [0, 1, 2, 9])
@pytest.mark.parametrize("n_random", [0, 2, 9])
@pytest.mark.parametrize(("T", "block"), [(11, 1), (11, 2), (16, 2), (11, 3), (11, 40)])
def test_bigbird_equals_full_attention_under_its_mask(T, block, n_global, n_random):
    chosen = {"n_global": n_global, "n_random": n_random, "seed": 5}
    seen = bigbird_mask(T, block, **chosen)
    inputs = heads(T)
    assert_same(
        lambda *x: bigbird_attention(*x, block, **chosen), lambda *x: dense(*x, seen), *inputs
    )
    key_mask = padded(T)
    assert_same(
        lambda *x: bigbird_attention(*x, block, **chosen, key_mask=key_mask),
        lambda *x: dense(*x, seen & key_mask[:, None, None]),
        *inputs,
    )


def test_bigbird_draws_blocks_that_are_neither_global_nor_beside():
    n, n_global, n_random = 12, 2, 3
    drawn, counts = random_blocks(n, n_global, n_random, seed=7)
    assert counts.all() and drawn.shape == (n, n_random)
    for i, row in enumerate(drawn.tolist()):
        assert len(set(row)) == n_random
        assert all(j >= n_global and abs(i - j) > 1 for j in row)
    seen = bigbird_mask(n, 1, n_global=n_global, n_random=n_random, seed=7)
    for i in range(n):
        beside = {j for j in (i - 1, i, i + 1) if 0 <= j < n}
        expected = set(range(n)) if i < n_global else {0, 1} | beside | set(drawn[i].tolist())
        assert set(seen[i].nonzero().flatten().tolist()) == expected
    torch.rand(3)  # the seed alone decides
    assert torch.equal(seen, bigbird_mask(n, 1, n_global=n_global, n_random=n_random, seed=7))
    assert not torch.equal(seen, bigbird_mask(n, 1, n_global=n_global, n_random=n_random, seed=8))


def test_bigbird_where_there_are_fewer_blocks_than_it_would_draw():
    drawn, counts = random_blocks(5, 1, 3, seed=0)
    for i in range(5):
        others = {j for j in range(1, 5) if abs(i - j) > 1}
        assert set(drawn[i][counts[i]].tolist()) <= others
        assert counts[i].sum() == min(3, len(others))


LEFT_OUT = {  # a form or its pattern, what it needs, and what it takes for what is left out
    "window": (window_attention, (3,), {"is_causal": False, "global_positions": ()}),
    "window's mask": (window_mask, (T, 3), {"is_causal": False, "global_positions": ()}),
    "strided": (strided_attention, (3,), {"is_causal": False}),
    "strided mask": (strided_mask, (T, 3), {"is_causal": False}),
    "fixed": (fixed_attention, (4,), {"is_causal": False, "n_summary": 1}),
    "fixed mask": (fixed_mask, (T, 4), {"is_causal": False, "n_summary": 1}),
    "bigbird": (bigbird_attention, (2,), {"n_global": 1, "n_random": 1, "seed": 0}),
    "bigbird's mask": (bigbird_mask, (T, 2), {"n_global": 1, "n_random": 1, "seed": 0}),
    "linear": (linear_attention, (), {"is_causal": False}),
    "quadratic": (quadratic_form, (), {"is_causal": False}),
    "performer": (lambda *x, **k: Performer(D_K, 9).double()(*x, **k), (), {"is_causal": False}),
    "performer's draw": (lambda *x, **k: Performer(D_K, 9, **k).double()(*x), (), {"seed": 0}),
    "tiled": (tiled_attention, (), {"is_causal": False}),
}


@pytest.mark.parametrize("case", LEFT_OUT.values(), ids=LEFT_OUT.keys())
def test_what_is_left_out_of_a_form_is_what_it_says(case):
    function, needed, left_out = case
    inputs = () if needed[:1] == (T,) else heads()
    found = function(*inputs, *needed)
    assert torch.equal(found, function(*inputs, *needed, **left_out))
    for name, value in left_out.items():
        other = (0,) if value == () else not value if value is False else value + 1
        assert not torch.equal(found, function(*inputs, *needed, **{name: other}))


SPARSE = {
    "window": lambda *x, **k: window_attention(*x, 8, **k),
    "causal window": lambda *x, **k: window_attention(*x, 8, is_causal=True, **k),
    "global": lambda *x, **k: window_attention(*x, 8, global_positions=[0, 100, 7], **k),
    "strided": lambda *x, **k: strided_attention(*x, 16, **k),
    "causal strided": lambda *x, **k: strided_attention(*x, 16, is_causal=True, **k),
    "fixed": lambda *x, **k: fixed_attention(*x, 16, 2, **k),
    "causal fixed": lambda *x, **k: fixed_attention(*x, 16, 2, is_causal=True, **k),
    "bigbird": lambda *x, **k: bigbird_attention(*x, 8, n_random=2, **k),
    "linear": linear_attention,
    "causal linear": lambda *x, **k: linear_attention(*x, is_causal=True, **k),
    "tiled": lambda *x, **k: tiled_attention(*x, tile=32, **k),
    "causal tiled": lambda *x, **k: tiled_attention(*x, tile=32, is_causal=True, **k),
}
EACH_FORM = pytest.mark.parametrize("form", SPARSE.values(), ids=SPARSE.keys())


@EACH_FORM
@pytest.mark.parametrize("is_padded", [False, True])
def test_no_form_makes_a_tensor_of_all_pairs(form, is_padded):
    T = 256
    arguments = {"key_mask": torch.arange(T)[None] < 200} if is_padded else {}
    with Largest() as largest:
        forward_and_backward(lambda *x: form(*x, **arguments), T)
    assert 0 < largest.elements <= T * T / 3


def test_the_record_sees_a_dense_tensor_forward_and_backward():
    T = 64
    with Largest() as largest:
        forward_and_backward(lambda *x: dense(*x, torch.ones(T, T, dtype=torch.bool)), T)
    assert largest.elements == T * T
    query, key = draw(T, 2).requires_grad_(), draw(T, 2)
    y = (query * 1).sum()
    with Largest() as largest:
        y.backward()
    assert largest.elements == T * 2
    with Largest() as largest:
        key.expand(T, T, 2)
    assert largest.elements == 0


@pytest.mark.parametrize("name", ["window", "causal window", "strided", "causal strided"])
def test_the_largest_tensor_grows_as_the_pattern_does(name):
    """Twice the length, at most twice the tensor; strided with √T, 8 times for 4 times."""
    sizes = {}
    for T in (64, 256):
        with Largest() as largest:
            if "strided" in name:
                causal = "causal" in name
                forward_and_backward(
                    lambda *x, T=T, c=causal: strided_attention(*x, math.isqrt(T), is_causal=c), T
                )
            else:
                forward_and_backward(SPARSE[name], T)
        sizes[T] = largest.elements
    assert sizes[256] / sizes[64] == pytest.approx(8 if "strided" in name else 4, rel=0.05)


@pytest.mark.parametrize(
    ("name", "bound"),
    [
        ("window", 1.6),  # 3 blocks for 2·8 + 1 keys
        ("causal window", 1.85),  # 2 blocks for 8 + 1
        ("strided", 1.6),
        ("causal strided", 2.4),  # whole columns, of which half is seen
        ("fixed", 1.2),
        ("causal fixed", 2.2),
        ("bigbird", 1.2),
    ],
)
def test_the_work_is_close_to_what_the_pattern_needs(name, bound):
    T, d = 256, 4
    masks = {
        "window": window_mask(T, 8),
        "causal window": window_mask(T, 8, is_causal=True),
        "strided": strided_mask(T, 16),
        "causal strided": strided_mask(T, 16, is_causal=True),
        "fixed": fixed_mask(T, 16, 2),
        "causal fixed": fixed_mask(T, 16, 2, is_causal=True),
        "bigbird": bigbird_mask(T, 8, n_random=2),
    }
    with FlopCounterMode(display=False) as counter:
        forward_and_backward(SPARSE[name], T, d)
    needed = 3 * 2 * 2 * d * masks[name].sum().item()  # two products, and twice that backward
    assert 1 <= counter.get_total_flops() / needed <= bound


# Kernels ------------------------------------------------------------------------------------------


def test_the_features_are_elu_plus_one():
    x = torch.cat([draw(50), torch.zeros(1, dtype=torch.float64)])
    assert_same(elu_features, lambda x: F.elu(x) + 1, x)
    small = elu_features(torch.tensor([-30.0], requires_grad=True))
    assert small.item() == pytest.approx(math.exp(-30), rel=1e-5)  # elu(-30) + 1 is 0 in float32
    large = torch.tensor([1e4], requires_grad=True)
    assert torch.autograd.grad(elu_features(large).sum(), large)[0].item() == 1


def features(T: int = T, S: int = S) -> list[torch.Tensor]:
    return [elu_features(draw(B, H, T, 7)), elu_features(draw(B, H, S, 7)), draw(B, H, S, D_V)]


def test_the_quadratic_form_equals_a_loop():
    phi_q, phi_k, value = features()
    context = quadratic_form(phi_q, phi_k, value)
    causal = quadratic_form(phi_q, phi_k[:, :, :T], value[:, :, :T], is_causal=True)
    for t in range(T):
        for result, n in ((context, S), (causal, t + 1)):
            weights = torch.stack([(phi_q[:, :, t] * phi_k[:, :, s]).sum(-1) for s in range(n)], -1)
            weights = weights / weights.sum(-1, keepdim=True)
            expected = (weights[..., None] * value[:, :, :n]).sum(2)
            torch.testing.assert_close(result[:, :, t], expected, **EXACT)


def test_the_forms_of_linear_attention_are_equal():
    assert_same(parallel_form, quadratic_form, *features())
    own = features(T, T)

    def quadratic(*x):
        return quadratic_form(*x, is_causal=True)

    assert_same(recurrent_form, quadratic, *own)
    for chunk in (1, 2, 3, T - 1, T, 64):
        assert_same(lambda *x, c=chunk: chunked_form(*x, chunk=c), quadratic, *own)


@CAUSAL
def test_linear_attention_equals_its_definition(is_causal):
    query, key, value = heads() if is_causal else heads(T, S)
    key_mask = padded(key.shape[2])

    def definition(query, key, value, mask):
        phi_q, phi_k = F.elu(query) + 1, F.elu(key) + 1
        weights = (phi_q @ phi_k.mT) * mask
        if is_causal:
            weights = weights.tril()
        total = weights.sum(-1, keepdim=True)
        return (weights / total.where(total > 0, 1)) @ value

    assert_same(
        lambda *x: linear_attention(*x, is_causal=is_causal),
        lambda *x: definition(*x, 1),
        query,
        key,
        value,
    )
    assert_same(
        lambda *x: linear_attention(*x, is_causal=is_causal, key_mask=key_mask),
        lambda *x: definition(*x, key_mask[:, None, None]),
        query,
        key,
        value,
    )


def test_the_state_of_the_recurrence_has_one_size():
    phi_q, phi_k, value = features(T, T)
    state, contexts, sizes = None, [], set()
    for t in range(T):
        context, state = recurrent_step(phi_q[:, :, t], phi_k[:, :, t], value[:, :, t], state)
        contexts.append(context)
        sizes.add(tuple(state.shape))
    assert sizes == {(B, H, 7, D_V + 1)}
    torch.testing.assert_close(torch.stack(contexts, 2), chunked_form(phi_q, phi_k, value), **EXACT)


def test_directions_are_orthogonal_in_blocks_and_as_long_as_gaussian_ones():
    omega = orthogonal_directions(11, 4, seed=3)
    assert omega.shape == (11, 4)
    for block in omega.split(4):
        gram = block @ block.T
        torch.testing.assert_close(gram, gram.diagonal().diag(), **EXACT)
    many = orthogonal_directions(20_000, 4, seed=0)
    assert many.mean(0).abs().max() < 0.03 and many.mean(0).abs().max() > 0
    torch.testing.assert_close(many.T @ many / 20_000, torch.eye(4).double(), atol=0.04, rtol=0)
    fourth = many.square().sum(1).square().mean()  # E|ω|⁴ = d(d + 2); of fixed norms √d it is d²
    assert fourth == pytest.approx(24, rel=0.05)
    assert torch.equal(omega, orthogonal_directions(11, 4, seed=3))
    assert not torch.equal(omega, orthogonal_directions(11, 4, seed=4))


@pytest.mark.parametrize(("d", "m"), [(1, 4), (2, 4), (4, 3), (4, 6)])
def test_the_features_estimate_exp_without_bias(d, m):
    x, y = draw(d, seed=20), draw(d, seed=30)
    x, y = 0.5 * x / x.norm(), 0.6 * y / y.norm()
    estimates = []
    for seed in range(1500):
        phi = log_features(torch.stack([x, y]), orthogonal_directions(m, d, seed)).exp()
        estimates.append(phi[0] @ phi[1])
    estimates = torch.stack(estimates)
    error = estimates.std() / math.sqrt(len(estimates))
    assert (estimates.mean() - (x @ y).exp()).abs() < 4 * error
    assert error < 0.04 * (x @ y).exp()


def test_orthogonal_features_scatter_less_than_independent_ones():
    x, y = draw(8, seed=20), draw(8, seed=30)
    x, y = x / x.norm(), y / y.norm()
    errors = {"orthogonal": [], "independent": []}
    for seed in range(300):
        for kind, omega in (
            ("orthogonal", orthogonal_directions(8, 8, seed)),
            ("independent", draw(8, 8, seed=1000 + seed)),
        ):
            phi = log_features(torch.stack([x, y]), omega).exp()
            errors[kind].append((phi[0] @ phi[1] - (x @ y).exp()).item() ** 2)
    assert sum(errors["orthogonal"]) < 0.9 * sum(errors["independent"])


def exact_estimate(performer, query, key, value, mask):
    """Compute the Performer's weights pair by pair, as logarithms: none overflows."""
    scale = query.shape[-1] ** -0.25
    log_q, log_k = (log_features(scale * x, performer.omega) for x in (query, key))
    pairs = (log_q[:, :, :, None] + log_k[:, :, None]).logsumexp(-1)  # (B, h, T, S)
    return masked_softmax(pairs, mask) @ value


@pytest.mark.parametrize(("is_causal", "size"), [(False, 1), (False, 20), (True, 1), (True, 8)])
def test_the_performer_equals_its_quadratic_form_at_large_norms(is_causal, size):
    query, key, value = heads() if is_causal else heads(T, S)
    query = size * query
    key = key * torch.linspace(1, size, key.shape[2])[:, None].flip(0)  # of all norms
    performer = Performer(D_K, 8, seed=1).double()
    mask = torch.ones(query.shape[2], key.shape[2], dtype=torch.bool)
    mask = mask.tril() if is_causal else mask
    key_mask = padded(key.shape[2])
    for given, seen in ((None, mask), (key_mask, mask & key_mask[:, None, None])):
        assert_same(
            lambda *x, given=given: performer(*x, is_causal=is_causal, key_mask=given),
            lambda *x, seen=seen: exact_estimate(performer, *x, seen),
            query,
            key,
            value,
        )


def test_the_performer_at_norms_that_overflow_float32():
    query, key, value = (x.float() for x in heads(T, S))
    performer = Performer(D_K, 8, seed=1)
    ours = performer(60 * query, 60 * key, value)  # exponents in the thousands
    mask = torch.ones(T, S, dtype=torch.bool)
    expected = exact_estimate(performer, 60 * query, 60 * key, value, mask)
    torch.testing.assert_close(ours, expected, atol=1e-3, rtol=1e-3)
    assert ours.abs().max() > 0.1


def test_the_performer_comes_close_to_softmax_with_many_features():
    query, key, value = heads(T, S)
    query, key = query / 2, key / 2
    full = dense(query, key, value, torch.ones(T, S, dtype=torch.bool))
    errors = []
    for m in (16, 4096):
        estimates = [Performer(D_K, m, seed=s).double()(query, key, value) for s in range(3)]
        errors.append(sum((x - full).square().mean() for x in estimates).sqrt())
    assert errors[1] < 0.25 * errors[0] and errors[1] < 0.1


def test_the_performers_features_belong_to_its_seed():
    assert torch.equal(Performer(4, 6, seed=2).omega, Performer(4, 6, seed=2).omega)
    assert not torch.equal(Performer(4, 6, seed=2).omega, Performer(4, 6, seed=3).omega)
    assert list(Performer(4, 6).state_dict()) == ["omega"] and not list(
        Performer(4, 6).parameters()
    )


# Low rank -----------------------------------------------------------------------------------------


def test_the_linformer_equals_its_formula():
    torch.manual_seed(0)
    linformer = Linformer(max_len=S + 2, n_features=6).double()
    query, key, value = heads(T, S)
    key_mask = padded(S)
    kept = key_mask[:, None, :, None].double()

    def formula(query, key, value, kept=1):
        k = torch.einsum("ms,bhsd->bhmd", linformer.E[:, :S], key * kept)
        v = torch.einsum("ms,bhsd->bhmd", linformer.F[:, :S], value * kept)
        return (query @ k.mT / D_K**0.5).softmax(-1) @ v

    assert_same(linformer, formula, query, key, value)
    assert_same(lambda *x: linformer(*x, key_mask), lambda *x: formula(*x, kept), query, key, value)
    assert torch.all(linformer(query, key, value, key_mask)[-1] == 0)
    loss = linformer(query, key, value).sum()
    assert all(g.abs().max() > 0 for g in torch.autograd.grad(loss, list(linformer.parameters())))


def test_a_linformer_that_mixes_nothing_is_full_attention():
    linformer = Linformer(S, S).double()
    with torch.no_grad():
        linformer.E.copy_(torch.eye(S))
        linformer.F.copy_(torch.eye(S))
    full = torch.ones(T, S, dtype=torch.bool)
    assert_same(linformer, lambda *x: dense(*x, full), *heads(T, S))


def test_a_linformers_mixtures_begin_as_large_as_keys():
    torch.manual_seed(0)
    linformer = Linformer(max_len=200, n_features=50)
    for mixtures in (linformer.E, linformer.F):
        assert (mixtures @ torch.randn(200, 30)).std().item() == pytest.approx(1, rel=0.1)


# All forms ----------------------------------------------------------------------------------------

EVERY = {
    **SPARSE,
    "linformer": Linformer(256, 9),
    "performer": Performer(2, 9),
    "causal performer": lambda *x, **k: Performer(2, 9)(*x, is_causal=True, **k),
}
EVERY_FORM = pytest.mark.parametrize("name", EVERY)


@pytest.mark.parametrize("name", ["linformer", "performer", "causal performer"])
def test_the_features_do_not_make_all_pairs_either(name):
    T = 256
    with Largest() as largest:
        query, key, value = (draw(1, 1, T, 2, seed=i).float().requires_grad_() for i in range(3))
        EVERY[name](query, key, value).sum().backward()
    assert 0 < largest.elements <= T * T / 3


@EVERY_FORM
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32])
def test_every_form_is_finite_in_half_precision(name, dtype):
    form = EVERY[name]
    if isinstance(form, torch.nn.Module):
        form = form.to(dtype)
    key_mask = torch.arange(120)[None] < torch.tensor([[120], [50], [0]])
    drawn = [draw(3, 2, 120, 2, seed=i) for i in range(3)]
    inputs = [x.to(dtype).requires_grad_() for x in drawn]
    context = form(*inputs, key_mask=key_mask)
    assert context.dtype == dtype and context.isfinite().all()
    assert torch.all(context[-1] == 0)  # all its keys are padding
    gradients = torch.autograd.grad(context.float().square().sum(), inputs)
    assert all(g.isfinite().all() and g.dtype == dtype for g in gradients)
    reference = form.double() if isinstance(form, torch.nn.Module) else form
    if name != "causal performer":  # its features are float32
        tolerance = 0.08 if dtype == torch.bfloat16 else 0.02
        expected = reference(*[x.detach().double() for x in inputs], key_mask=key_mask)
        torch.testing.assert_close(context.double(), expected, atol=tolerance, rtol=tolerance)


@pytest.mark.parametrize("name", ["window", "global", "strided", "fixed", "bigbird", "tiled"])
def test_half_precision_with_huge_scores(name):
    inputs = [(100 * draw(1, 1, 20, 2, seed=i)).half().requires_grad_() for i in range(3)]
    forms = SPARSE | {"global": lambda *x: window_attention(*x, 8, global_positions=[0, 7])}
    context = forms[name](*inputs)
    assert context.isfinite().all()
    gradients = torch.autograd.grad(context.sum(), inputs)
    assert all(g.isfinite().all() for g in gradients)


@EVERY_FORM
def test_what_is_padding_changes_nothing(name):
    form = EVERY[name]
    key_mask = torch.arange(40)[None] < torch.tensor([[40], [13], [1]])
    query, key, value = (draw(3, 2, 40, 2, seed=i).float() for i in range(3))
    noise = 1e3 * ~key_mask[:, None, :, None] * draw(3, 1, 40, 1, seed=5).float()
    if name == "linformer":
        form = form.float()
    elif name == "performer":
        form = Performer(2, 9)
    arguments = {"key_mask": key_mask}
    if name == "global":
        form = SPARSE["window"]
    before = form(query, key, value, **arguments)
    after = form(query, key + noise, value + noise, **arguments)
    torch.testing.assert_close(before, after, atol=1e-6, rtol=1e-6)


@EVERY_FORM
@pytest.mark.parametrize("broken", [math.nan, math.inf])
def test_what_is_broken_in_padding_reaches_neither_outputs_nor_gradients(name, broken):
    form, key_mask = EVERY[name], torch.arange(40)[None] < torch.tensor([[40], [13], [1]])
    form = {"performer": Performer(2, 9), "global": partial(window_attention, window=8)}.get(
        name, form
    )
    query, key, value = (draw(3, 2, 40, 2, seed=i).float() for i in range(3))
    hidden, found = ~key_mask[:, None, :, None], []
    for fill in (0.0, broken):
        inputs = [query, key.masked_fill(hidden, fill), value.masked_fill(hidden, fill)]
        inputs = [x.requires_grad_() for x in inputs]
        context = form(*inputs, key_mask=key_mask)
        found.append([context, *torch.autograd.grad(context.square().sum(), inputs)])
    for dirty, clean in zip(*found[::-1], strict=True):
        torch.testing.assert_close(dirty, clean)


@pytest.mark.parametrize("name", [name for name in EVERY if "causal" in name])
def test_causal_forms_do_not_see_what_comes_after(name):
    query, key, value = (draw(2, 1, 60, 2, seed=i).float() for i in range(3))
    before = EVERY[name](query, key, value)
    for t in (0, 1, 16, 31, 58):
        later = torch.arange(60)[:, None] > t
        changed = EVERY[name](query, key + 3 * later, value + 5 * later)
        torch.testing.assert_close(changed[:, :, : t + 1], before[:, :, : t + 1])
        assert (changed[:, :, t + 1 :] - before[:, :, t + 1 :]).abs().max() > 0.01


@pytest.mark.parametrize("position", [0, 30, 39])
def test_a_global_position_reaches_both_ways(position):
    query, key, value = (draw(1, 1, 40, 2, seed=i) for i in range(3))

    def change(at):
        other = value.clone()
        other[:, :, at] += 1
        a, b = (
            window_attention(query, key, v, 2, global_positions=[position]) for v in (value, other)
        )
        return (a - b).abs().amax(dim=(0, 1, 3)) > 1e-9

    assert change(position).all()
    assert change(10)[position]
    assert change(10).sum() <= 5 + 1


# Tiles --------------------------------------------------------------------------------------------


@CAUSAL
@pytest.mark.parametrize("tile", [1, 2, 4, 13, 64])
@pytest.mark.parametrize(("T", "S"), [(T, S), (8, 8), (1, 9), (13, 13)])
def test_tiles_equal_full_attention(is_causal, tile, T, S):
    seen = torch.ones(T, S, dtype=torch.bool)
    seen = seen.tril(S - T) if is_causal else seen
    key_mask = padded(S)

    def tiled(*x, key_mask=None):
        return tiled_attention(*x, is_causal=is_causal, key_mask=key_mask, tile=tile)

    assert_same(tiled, lambda *x: dense(*x, seen), *heads(T, S))
    assert_same(
        lambda *x: tiled(*x, key_mask=key_mask),
        lambda *x: dense(*x, seen & key_mask[:, None, None]),
        *heads(T, S),
    )
    library = F.scaled_dot_product_attention
    assert_same(tiled, lambda *x: library(*x, attn_mask=seen), *heads(T, S))


@pytest.mark.parametrize("order", [1, -1])
def test_tiles_with_scores_that_rise_or_fall_along_the_row(order):
    """A maximum found late has to rescale what was summed before: the sum and the values."""
    query = torch.ones(1, 1, 3, 1, dtype=torch.float64)
    key = order * torch.linspace(-900, 900, 30, dtype=torch.float64).view(1, 1, 30, 1)
    full = torch.ones(3, 30, dtype=torch.bool)
    for k in (key, key / 300):
        inputs = query, k, draw(1, 1, 30, D_V)
        assert_same(lambda *x: tiled_attention(*x, tile=4), lambda *x: dense(*x, full), *inputs)


def test_the_gradient_by_hand_passes_a_numerical_check():
    inputs = [x.requires_grad_() for x in heads(3, 5, B=1)]
    key_mask = torch.tensor([[True, False, False, True, True]])
    for is_causal in (False, True):
        assert torch.autograd.gradcheck(
            lambda *x, c=is_causal: tiled_attention(*x, is_causal=c, key_mask=key_mask, tile=2),
            inputs,
        )


def test_tiles_keep_the_inputs_the_context_and_one_sum_a_row():
    T, tile = 256, 16
    saved = []
    inputs = [draw(1, 1, T, 2, seed=i).requires_grad_() for i in range(3)]
    with torch.autograd.graph.saved_tensors_hooks(
        lambda x: saved.append(x.numel()) or x, lambda x: x
    ):
        tiled_attention(*inputs, tile=tile)
    assert sum(saved) == T * (3 * 2 + 2 + 1 + 1)  # query, key, value, context, log sum, mask
    with Largest() as largest:
        tiled_attention(*inputs, tile=tile).sum().backward()
    assert largest.elements <= T * 2


def test_causal_tiles_leave_out_what_nobody_sees():
    T, tile = 64, 8
    with FlopCounterMode(display=False) as whole:
        tiled_attention(*heads(T), tile=tile)
    with FlopCounterMode(display=False) as causal:
        tiled_attention(*heads(T), tile=tile, is_causal=True)
    n = T // tile
    assert causal.get_total_flops() / whole.get_total_flops() == (n + 1) / (2 * n)


# The cache ----------------------------------------------------------------------------------------


def in_pieces(cache, query, key, value, cuts) -> torch.Tensor:
    """Attend causally, some queries at a time, with the keys so far from the cache."""
    contexts = []
    for start, stop in zip([0, *cuts], [*cuts, key.shape[2]], strict=True):
        piece = slice(start, stop)
        keys, values = cache.append(key[:, :, piece], value[:, :, piece])
        contexts.append(tiled_attention(query[:, :, piece], keys, values, is_causal=True, tile=4))
    return torch.cat(contexts, dim=2)


def test_the_cache_equals_the_uncached_at_every_split():
    query, key, value = heads()
    whole = dense(query, key, value, torch.ones(T, T, dtype=torch.bool).tril())
    cache = KVCache(T)
    splits = [[cut] for cut in range(1, T)] + [[], list(range(1, T)), [2, 3, 7]]
    for cuts in splits:  # and from one sequence to the next
        torch.testing.assert_close(in_pieces(cache, query, key, value, cuts), whole, **EXACT)
        assert cache.length == T
        cache.reset()
        assert cache.length == 0


@pytest.mark.parametrize("n_kv_heads", [1, 2, 4])
@torch.no_grad()
def test_a_layer_with_the_cache_equals_the_layer_without(n_kv_heads):
    torch.manual_seed(0)
    layer = MultiHeadAttention(8, 4, n_kv_heads=n_kv_heads, rotary=Rotary(2)).double()
    x = draw(B, T, 8)
    whole, _ = layer(x, is_causal=True)
    cache = KVCache(T)
    for cut in range(1, T):
        pieces = [layer(part, is_causal=True, cache=cache)[0] for part in (x[:, :cut], x[:, cut:])]
        torch.testing.assert_close(torch.cat(pieces, dim=1), whole, **EXACT)
        cache.reset()


def test_the_cache_gives_back_what_it_got_and_no_more():
    _, key, value = heads()
    cache = KVCache(100)
    keys, values = cache.append(key[:, :, :3], value[:, :, :3])
    again, _ = cache.append(key[:, :, 3:4], value[:, :, 3:4])
    assert torch.equal(keys, key[:, :, :3]) and torch.equal(values, value[:, :, :3])
    assert torch.equal(again, key[:, :, :4]) and cache.length == 4


def test_the_cache_takes_its_memory_once():
    _, key, value = heads()
    cache = KVCache(100)
    cache.append(key[:, :, :1], value[:, :, :1])
    with Largest() as largest:
        for t in range(1, T):
            cache.append(key[:, :, t : t + 1], value[:, :, t : t + 1])
    assert largest.elements == 0


def test_after_a_reset_the_cache_takes_another_batch():
    cache = KVCache(T)
    _, key, value = heads()
    cache.append(key, value)
    _, other_key, other_value = heads(4, B=5)
    with pytest.raises(ValueError, match=r"\(3, 2, 5, torch.float64\).*\(5, 2, 5, torch.float64\)"):
        cache.append(other_key, other_value)
    assert cache.length == T
    cache.reset()
    keys, values = cache.append(other_key, other_value)
    assert torch.equal(keys, other_key) and torch.equal(values, other_value)


def test_what_the_cache_refuses():
    _, key, value = heads(4)
    with pytest.raises(ValueError, match="max_len.* 0"):
        KVCache(0)
    cache = KVCache(5)
    cache.append(key, value)
    with pytest.raises(ValueError, match="context.* 5 .* 4 .* 4 "):
        cache.append(key, value)
    with pytest.raises(ValueError, match="context.* 3 .* 0 .* 4 "):
        KVCache(3).append(key, value)
    with pytest.raises(ValueError, match=r"\(3, 2, 4, 5\).*\(3, 2, 3, 4\)"):
        cache.append(key, value[:, :, 1:])
    with pytest.raises(ValueError, match=r"\(2, 4, 5\).*\(2, 4, 4\)"):
        cache.append(key[0], value[0])
    cache.append(key[:, :, :1], value[:, :, :1])  # still as it was
    cache.reset()
    cache.append(key.float(), value.float())
    with pytest.raises(ValueError, match="float32.*float64"):
        cache.append(key[:, :, :1], value[:, :, :1])
    key.requires_grad_()
    with pytest.raises(ValueError, match="no_grad"):
        KVCache(5).append(key, value)
    with torch.no_grad():
        assert not KVCache(5).append(key, value)[0].requires_grad


# Bad input ----------------------------------------------------------------------------------------


@EVERY_FORM
def test_shapes_that_do_not_fit_are_refused(name):
    form = EVERY[name]
    query, key, value = (draw(3, 2, 8, 2, seed=i).float() for i in range(3))
    for bad in (
        (query[0], key[0], value[0]),
        (query[:2], key, value),
        (query[:, :1], key, value),
        (query[..., :1], key, value),
        (query, key, value[:, :, :7]),
    ):
        shapes = ", ".join(str(tuple(x.shape)) for x in bad)
        with pytest.raises(ValueError, match=re.escape(shapes)):
            form(*bad)
    with pytest.raises(ValueError, match=r"\(3, 2, 0, 2\)"):
        form(query[:, :, :0], key[:, :, :0], value[:, :, :0])
    for mask in (torch.ones(3, 8), torch.ones(3, 7).bool(), torch.ones(3, 1, 8).bool()):
        with pytest.raises(ValueError, match=rf"\(3, 8\).*{mask.dtype}"):
            form(query, key, value, key_mask=mask)


@pytest.mark.parametrize(
    "name", [name for name in EVERY if name not in ("linear", "tiled", "linformer", "performer")]
)
def test_two_lengths_where_positions_are_compared_are_refused(name):
    form = EVERY[name]
    query, key, value = (draw(3, 2, 8, 2, seed=i).float() for i in range(3))
    with pytest.raises(ValueError, match=" 8 .* 7"):
        form(query, key[:, :, 1:], value[:, :, 1:])


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda *x: window_attention(*x, 0), "window.* 0"),
        (lambda *x: window_attention(*x, 1, global_positions=[11]), " 10, .* 11"),
        (lambda *x: window_attention(*x, 1, global_positions=[-1]), " 10, .* -1"),
        (lambda *x: strided_attention(*x, 0), "stride.* 0"),
        (lambda *x: fixed_attention(*x, 0), "stride.* 0"),
        (lambda *x: fixed_attention(*x, 3, 4), " 3 positions.* 4"),
        (lambda *x: fixed_attention(*x, 3, 0), " 3 positions.* 0"),
        (lambda *x: bigbird_attention(*x, 0), "The block.* 0"),
        (lambda *x: bigbird_attention(*x, 2, n_global=-1), "global.* -1"),
        (lambda *x: bigbird_attention(*x, 2, n_random=-1), "random.* -1"),
        (lambda *x: tiled_attention(*x, tile=0), "tile.* 0"),
        (lambda *x: chunked_form(*x, chunk=0), "chunk.* 0"),
        (lambda *x: Linformer(10, 2)(*x), " 10 .* 11"),
        (lambda *x: Linformer(0, 2), "max_len.* 0"),
        (lambda *x: Linformer(2, 0), "n_features.* 0"),
        (lambda *x: Performer(0, 2), "d_k.* 0"),
        (lambda *x: Performer(2, 0), "n_features.* 0"),
        (lambda *x: Performer(4, 2)(*x), "d_k.* 4, .* 5"),
    ],
)
def test_sizes_that_make_no_sense_are_refused(call, sentence):
    with pytest.raises(ValueError, match=sentence):
        call(*heads())


def test_causal_forms_of_features_need_one_sequence():
    for form in (chunked_form, recurrent_form, lambda *x: quadratic_form(*x, is_causal=True)):
        with pytest.raises(ValueError, match=" 11 .* 13"):
            form(*features())
