"""The reference solutions of Day 2, held to the library and to definitions written out as loops."""

import math

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from utils.exercises.recurrent.backpropagation_through_time import recurrent_gradient
from utils.exercises.recurrent.bidirectional_states import both_ends
from utils.exercises.recurrent.gradient_clipping import clip
from utils.exercises.recurrent.leaky_units import leaky_rnn
from utils.exercises.recurrent.min_p import min_p
from utils.exercises.recurrent.packed_sequences import packed_rnn
from utils.exercises.recurrent.perplexity import perplexity_of_lines
from utils.exercises.recurrent.spectral_radius import with_radius
from utils.exercises.recurrent.top_p import nucleus_size
from utils.exercises.recurrent.truncated_backpropagation import truncated_gradient
from utils.recurrent import RNN, Bidirectional


def draw(*shape: int, seed: int = 0) -> torch.Tensor:
    return torch.randn(*shape, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))


@pytest.fixture
def layer() -> RNN:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        return RNN(3, 4).double()


def weights(layer: RNN) -> tuple[torch.Tensor, ...]:
    return tuple(w.detach() for w in (layer.W_x, layer.W_h, layer.b))


def test_a_layer_that_leaks_everything_is_the_plain_layer(layer):
    x, start = draw(2, 5, 3), draw(4)
    plain, _ = layer(x, start.expand(2, -1))
    torch.testing.assert_close(leaky_rnn(x, start, *weights(layer), 1.0), plain)
    still = leaky_rnn(x, start, *weights(layer), 0.0)
    torch.testing.assert_close(still, start.expand(2, 5, -1))


def test_both_ends_are_the_final_states_of_two_layers(layer):
    both = Bidirectional(layer, RNN(3, 4).double())
    lengths = torch.tensor([4, 1, 6, 5, 2])
    outputs, state = both(draw(5, 6, 3), lengths=lengths)
    torch.testing.assert_close(both_ends(outputs, lengths), state)


def test_texts_in_one_row_are_read_as_in_rows_of_their_own(layer):
    x = draw(1, 9, 3)
    starts = torch.tensor([[t in (2, 5) for t in range(9)]])
    apart = [layer(part)[0] for part in x.split([2, 3, 4], dim=1)]
    torch.testing.assert_close(packed_rnn(x, starts, *weights(layer)), torch.cat(apart, 1))


def test_the_gradient_through_time_is_autograds(layer):
    x, start, grad_h = draw(2, 5, 3), draw(2, 4), draw(2, 5, 4, seed=1)
    outputs, _ = layer(x, start)
    (expected,) = torch.autograd.grad((outputs * grad_h).sum(), layer.W_h)
    states = torch.cat([start[:, None], outputs.detach()], 1)
    got = recurrent_gradient(states, grad_h, layer.W_h.detach())
    torch.testing.assert_close(got, expected, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("k", [1, 3, 7, 9])
def test_the_truncated_gradient_is_the_sum_over_chunks_read_one_by_one(layer, k):
    x, y, state = draw(2, 7, 3), draw(2, 7, 4, seed=1), draw(2, 4)
    expected = torch.zeros(4, 4, dtype=torch.float64)
    start = state
    for chunk, target in zip(x.split(k, 1), y.split(k, 1), strict=True):
        outputs, state = layer(chunk, state.detach())
        expected += torch.autograd.grad(((outputs - target) ** 2).sum() / 2, layer.W_h)[0]
    got = truncated_gradient(x, y, start, *weights(layer), k)
    torch.testing.assert_close(got, expected, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("max_norm", [0.5, 2.0, 100.0])
def test_clipping_is_the_librarys(max_norm):
    parameters = [nn.Parameter(draw(*shape)) for shape in ((2, 3), (5,), (4, 1))]
    for seed, parameter in enumerate(parameters):
        parameter.grad = draw(*parameter.shape, seed=seed)
    got = clip([p.grad.clone() for p in parameters], max_norm)
    nn.utils.clip_grad_norm_(parameters, max_norm)
    for g, p in zip(got, parameters, strict=True):
        torch.testing.assert_close(g, p.grad, rtol=1e-5, atol=0)  # the library adds 1e-6


def test_perplexity_is_the_exponential_of_the_librarys_cross_entropy():
    logits, lengths = draw(3, 5, 7), torch.tensor([2, 5, 1])
    targets = torch.randint(7, (3, 5), generator=torch.Generator().manual_seed(0))
    targets[torch.arange(5) >= lengths[:, None]] = -100  # what the library leaves out
    flat = logits.flatten(0, 1), targets.flatten()
    nats = F.cross_entropy(*flat, reduction="none").view(3, 5)
    assert perplexity_of_lines(nats, lengths) == pytest.approx(math.exp(F.cross_entropy(*flat)))


@pytest.mark.parametrize("temperature", [0.5, 1.0, 2.0])
def test_the_sets_to_sample_from_are_those_of_a_loop(temperature):
    logits = 2 * draw(6, 11)
    for row, size, kept in zip(
        torch.softmax(logits / temperature, 1).tolist(),
        nucleus_size(logits, temperature, 0.8).tolist(),
        min_p(logits, temperature, 0.2).tolist(),
        strict=True,
    ):
        taken = []
        for p in sorted(row, reverse=True):
            if sum(taken) < 0.8:
                taken.append(p)
        assert size == len(taken)
        left = [p if p >= 0.2 * max(row) else 0 for p in row]
        assert kept == pytest.approx([p / sum(left) for p in left])


def test_the_spectral_radius_is_the_rate_at_which_powers_grow():
    W = with_radius(draw(5, 5), 0.9)
    norms = [torch.linalg.matrix_norm(W.matrix_power(n), 2).item() for n in (200, 1200)]
    assert (norms[1] / norms[0]) ** (1 / 1000) == pytest.approx(0.9, rel=0.01)
