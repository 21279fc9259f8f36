"""A filter keeps what its definition says, no more and no less, and generation feeds back."""

import math

import pytest
import torch

from utils.training.sampling import chooser, generate, sample, temperature, top_k, top_p


def kept(filtered):
    return filtered.isfinite()


def logits_of(*probabilities, dtype=torch.float64):
    return torch.tensor(probabilities, dtype=dtype).log()


def random_logits(*shape, seed=0):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def test_temperature_is_a_power_of_the_probabilities():
    logits = random_logits(3, 5)
    p = logits.softmax(dim=-1)
    for tau in (0.3, 1, 2.5):
        powers = p ** (1 / tau)
        expected = powers / powers.sum(dim=-1, keepdim=True)
        torch.testing.assert_close(
            temperature(logits, tau).softmax(-1), expected, atol=1e-10, rtol=0
        )


def test_temperature_comes_first():
    """After it, 0.6 of the mass is in one symbol; before it, in two."""
    logits = logits_of(0.5, 0.3, 0.2)
    assert kept(top_p(temperature(logits, 0.5), 0.6)).tolist() == [True, False, False]
    assert kept(temperature(top_p(logits, 0.6), 0.5)).tolist() == [True, True, False]


def test_a_chooser_takes_temperature_then_top_k_then_top_p():
    """Of 0.5, 0.3, 0.15, 0.05 the two best are left, 0.625 and 0.375; squared, 0.735 and 0.265."""
    logits = logits_of(0.5, 0.3, 0.15, 0.05).expand(500, 4)
    for p, symbols in ((0.7, {0}), (0.8, {0, 1})):
        drawn = chooser(tau=0.5, k=2, p=p, generator=torch.Generator().manual_seed(0))(logits)
        assert set(drawn.tolist()) == symbols
    warm = chooser(tau=1.0, k=3, p=0.7, generator=torch.Generator().manual_seed(0))
    assert set(warm(logits).tolist()) == {0, 1}  # of all four, 0.7 would be the same two


def test_a_chooser_at_temperature_0_takes_the_best():
    logits = random_logits(6, 7)
    assert torch.equal(chooser(tau=0)(logits), logits.argmax(-1))
    frequencies = (
        chooser(generator=torch.Generator().manual_seed(1))(
            logits_of(0.7, 0.2, 0.1).expand(4000, 3)
        ).bincount()
        / 4000
    )
    torch.testing.assert_close(frequencies, torch.tensor([0.7, 0.2, 0.1]), atol=0.03, rtol=0)


@pytest.mark.parametrize("k", [1, 2, 6, 7, 100])
def test_top_k_keeps_the_largest_as_they_were(k):
    logits = random_logits(4, 3, 7)
    filtered = top_k(logits, k)
    best = logits.topk(min(k, 7), dim=-1)
    expected = torch.full_like(logits, -math.inf).scatter(-1, best.indices, best.values)
    assert torch.equal(filtered, expected)


def smallest_set(p, mass):
    """The definition, by hand: the most probable, until their mass is reached."""
    chosen, total = [], 0.0
    for i in sorted(range(len(p)), key=lambda i: (-p[i], i)):
        chosen.append(i)
        total += p[i]
        if total >= mass:
            break
    return [i in chosen for i in range(len(p))]


@pytest.mark.parametrize("p", [0.05, 0.3, 0.77, 0.9, 0.999])
def test_top_p_keeps_the_smallest_set_that_reaches_p(p):
    logits = 2 * random_logits(40, 9)
    filtered = top_p(logits, p)
    sets = [smallest_set(row, p) for row in logits.softmax(dim=-1).tolist()]
    assert kept(filtered).tolist() == sets
    assert torch.equal(filtered[kept(filtered)], logits[kept(filtered)])
    assert torch.equal(top_p(logits.view(8, 5, 9), p), filtered.view(8, 5, 9))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize(
    "p, symbols", [(0.5, 1), (0.51, 2), (0.8, 2), (0.81, 3), (0.95, 3), (0.96, 4), (1, 4)]
)
def test_top_p_at_the_boundary(p, symbols, dtype):
    """A set that reaches p exactly is enough; one that stays below is not."""
    assert kept(top_p(logits_of(0.15, 0.5, 0.05, 0.3, dtype=dtype), p)).sum() == symbols


@pytest.mark.parametrize("left_out", [1e-6, 1e-7, 1e-9])
def test_p_near_one_leaves_out_no_more_than_it_says(left_out):
    """A tail of many symbols that holds twice what may be left out is not left out whole."""
    tail = torch.full((100,), 2 * left_out / 100, dtype=torch.float64)
    p = torch.cat([torch.tensor([1 - 2 * left_out], dtype=torch.float64), tail])
    mass = p[kept(top_p(p.log(), 1 - left_out))].sum()
    assert mass.item() == pytest.approx(1 - left_out, abs=left_out / 1.9)


def test_p_below_the_largest_keeps_the_best_alone():
    for p in (0.49, 0.1, 1e-6, 1e-30):
        assert kept(top_p(logits_of(0.3, 0.5, 0.2), p)).tolist() == [False, True, False]


def test_p_one_keeps_even_what_rounding_would_lose():
    logits = torch.tensor([0.0, -80.0, -1000.0])  # the last one's probability is 0 in float64
    assert torch.equal(top_p(logits, 1), logits)


def test_the_best_survives_every_filter():
    logits = random_logits(50, 11, seed=1)
    best = logits.argmax(dim=-1)
    for filtered in (top_k(logits, 1), top_p(logits, 1e-9), top_p(top_k(logits, 3), 0.2)):
        assert torch.equal(filtered.argmax(dim=-1), best)
        assert torch.equal(filtered.max(dim=-1).values, logits.max(dim=-1).values)


def test_of_equal_ones_the_first_are_kept():
    equal = torch.zeros(2, 6)
    assert kept(top_k(equal, 2)).tolist() == 2 * [[True] * 2 + [False] * 4]
    assert kept(top_p(equal, 0.5)).tolist() == 2 * [[True] * 3 + [False] * 3]
    assert kept(top_k(torch.tensor([0.0, 1, 1, 1]), 2)).tolist() == [False, True, True, False]
    many = torch.arange(5000) % 3  # enough for a sort that is not stable to mix them up
    assert kept(top_k(many.float(), 100)).nonzero().flatten().tolist() == [*range(2, 302, 3)]


def test_filters_follow_each_other():
    logits = logits_of(0.4, 0.3, 0.2, 0.1)
    assert kept(top_p(top_k(logits, 2), 0.7)).sum() == 2  # 0.4 of 0.7 is too little
    assert kept(top_k(top_p(logits, 0.7), 3)).sum() == 2


@pytest.mark.parametrize("tau", [0, -1, math.nan, math.inf])
def test_no_such_temperature(tau):
    with pytest.raises(ValueError, match=f"temperature.* {tau}:"):
        temperature(torch.zeros(3), tau)


@pytest.mark.parametrize("tau", [1e-38, 1e-45, 1e-300])
def test_a_temperature_too_small_for_the_logits_is_refused(tau):
    """In silence, their quotients would be infinite, and the distribution NaN."""
    with pytest.raises(ValueError, match=f"temperature.* {tau}:.*not finite"):
        temperature(torch.tensor([[0.0, -1.0], [30.0, 5.0]]), tau)
    assert temperature(torch.tensor([30.0, -math.inf]), 1e-30).softmax(-1).tolist() == [1, 0]


@pytest.mark.parametrize("k", [0, -2, 2.5])
def test_no_such_k(k):
    with pytest.raises(ValueError, match=f"^k .*{k}:"):
        top_k(torch.zeros(3), k)


@pytest.mark.parametrize("p", [0, -0.1, 1.0001, math.nan])
def test_no_such_p(p):
    with pytest.raises(ValueError, match=f"^p .*{p}:"):
        top_p(torch.zeros(3), p)


@pytest.mark.parametrize(
    "choose",
    [lambda x: temperature(x, 1), lambda x: top_k(x, 1), lambda x: top_p(x, 0.5), sample],
)
def test_nothing_to_choose_from(choose):
    for empty in (torch.zeros(2, 0), torch.tensor(1.0)):
        with pytest.raises(ValueError, match="no symbol"):
            choose(empty)
    for bad in ([math.nan, 0], [math.inf, 0], [-math.inf, -math.inf]):
        with pytest.raises(ValueError, match="no distribution"):
            choose(torch.tensor([[0.0, 1.0], bad]))


def test_sample_follows_the_distribution_and_the_generator():
    logits = logits_of(0.5, 0.3, 0.2).expand(2, 6000, 3)
    drawn = sample(logits, torch.Generator().manual_seed(0))
    assert drawn.shape == (2, 6000) and drawn.dtype == torch.int64
    shares = drawn.flatten().bincount(minlength=3) / drawn.numel()
    assert torch.allclose(shares, torch.tensor([0.5, 0.3, 0.2]), atol=0.02)
    state = torch.get_rng_state()
    assert torch.equal(drawn, sample(logits, torch.Generator().manual_seed(0)))
    assert not torch.equal(drawn, sample(logits, torch.Generator().manual_seed(1)))
    assert torch.equal(torch.get_rng_state(), state)
    assert sample(logits_of(0.0, 1.0)).shape == () and sample(logits_of(0.0, 1.0)) == 1


def test_what_was_left_out_is_never_drawn():
    logits = top_k(random_logits(500, 9), 2)
    drawn = sample(logits, torch.Generator().manual_seed(0))
    assert logits.gather(-1, drawn[:, None]).isfinite().all()


def counting(symbols, state):
    """After s comes s + state, of 10; the state grows by 1."""
    return torch.nn.functional.one_hot((symbols + state) % 10, 10).double(), state + 1


def greedy(logits):
    return logits.argmax(dim=-1)


def test_generate_feeds_back_what_was_chosen_and_the_state():
    said = generate(counting, torch.tensor(1), torch.tensor([0, 5]), 4, greedy)
    assert said.tolist() == [[1, 3, 6, 0], [6, 8, 1, 5]]


def test_a_sequence_that_has_ended_says_nothing_else():
    said = generate(counting, torch.tensor(1), torch.tensor([0, 5]), 9, greedy, end=6)
    assert said.tolist() == [[1, 3, 6], [6, 6, 6]]  # and all have ended: it is over
    said = generate(counting, torch.tensor(1), torch.tensor([0, 5]), 2, greedy, end=6)
    assert said.tolist() == [[1, 3], [6, 6]]


def test_generate_keeps_no_graph_and_needs_a_length():
    weight = torch.ones(3, requires_grad=True)
    seen = []

    def choose(logits):
        seen.append(logits.requires_grad)
        return greedy(logits)

    generate(
        lambda s, _: (weight * torch.ones(len(s), 3), None), None, torch.tensor([0]), 2, choose
    )
    assert seen == [False, False]
    with pytest.raises(ValueError, match="length.* 0:"):
        generate(counting, torch.tensor(1), torch.tensor([0]), 0, greedy)
