"""Day 2's exercises: references held to the library; right answers pass, wrong ones are named."""

import math

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from utils.exercises.recurrent import check
from utils.exercises.recurrent.backpropagation_through_time import back_through_time
from utils.exercises.recurrent.bidirectional_states import both_ends
from utils.exercises.recurrent.gradient_clipping import clip
from utils.exercises.recurrent.leaky_units import leaky_rnn
from utils.exercises.recurrent.min_p import min_p
from utils.exercises.recurrent.one_step import step
from utils.exercises.recurrent.packed_sequences import packed_rnn
from utils.exercises.recurrent.perplexity_of_lines import perplexity_of_lines
from utils.exercises.recurrent.spectral_radius import with_radius
from utils.exercises.recurrent.top_p import nucleus_size
from utils.exercises.recurrent.truncated_backpropagation import truncated_gradient
from utils.exercises.recurrent.whole_sequence import read
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


def test_a_step_and_the_loop_are_the_layers(layer):
    x, h = draw(2, 5, 3), draw(2, 4)
    torch.testing.assert_close(step(x[:, 0], h, *weights(layer)), layer.cell(x[:, 0], h))
    torch.testing.assert_close(read(x, *weights(layer)), layer(x)[0])


def test_the_gradient_through_time_is_autograds(layer):
    x, start, grad_h = draw(2, 5, 3), draw(2, 4), draw(2, 5, 4, seed=1)
    projected = layer.project(x.transpose(0, 1)).detach().requires_grad_()
    outputs = layer.unroll(projected, start)
    expected = torch.autograd.grad((outputs * grad_h).sum(), (projected, layer.W_h))
    states = torch.cat([start[:, None], outputs.detach()], 1)
    deltas, grad_W_h = back_through_time(states, grad_h, layer.W_h.detach())
    torch.testing.assert_close(deltas, expected[0].transpose(0, 1), rtol=1e-10, atol=1e-10)
    torch.testing.assert_close(grad_W_h, expected[1], rtol=1e-10, atol=1e-10)


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


# Right answers, written differently ---------------------------------------------------------------


def leaky_in_a_list(x, start, W_x, W_h, b, leak):
    states = [start.repeat(len(x), 1)]
    for t in range(x.shape[1]):
        new = torch.tanh(F.linear(x[:, t], W_x, b) + F.linear(states[-1], W_h))
        states.append(torch.lerp(states[-1], new, leak))
    return torch.stack(states[1:], dim=1)


def ends_in_a_loop(outputs, lengths):
    N = outputs.shape[-1] // 2
    rows = [
        torch.cat([row[n - 1][:N], row[0][N:]])
        for row, n in zip(outputs, lengths.tolist(), strict=True)
    ]
    return torch.stack(rows)


def ends_gathered(outputs, lengths):
    forward, backward = outputs.chunk(2, dim=-1)
    last = (lengths - 1).view(-1, 1, 1).expand(-1, 1, forward.shape[-1])
    return torch.cat((forward.gather(1, last).squeeze(1), backward[:, 0]), dim=-1)


def packed_by_multiplying(x, starts, W_x, W_h, b):
    h, states = 0 * x[:, 0] @ W_x.T, []
    for t in range(x.shape[1]):
        h = h * ~starts[:, t, None]
        h = torch.tanh(x[:, t] @ W_x.T + h @ W_h.T + b)
        states.append(h)
    return torch.stack(states, dim=1)


def packed_row_by_row(x, starts, W_x, W_h, b):
    rows = []
    for sequence, new in zip(x, starts, strict=True):
        h, states = torch.zeros_like(b), []
        for x_t, first in zip(sequence, new, strict=True):
            if first:
                h = torch.zeros_like(b)
            h = torch.tanh(W_x @ x_t + W_h @ h + b)
            states.append(h)
        rows.append(torch.stack(states))
    return torch.stack(rows)


def step_by_library(x_t, h, W_x, W_h, b):
    return torch.tanh(F.linear(x_t, W_x) + F.linear(h, W_h, b))


def step_on_columns(x_t, h, W_x, W_h, b):
    return torch.tanh(W_x @ x_t.T + W_h @ h.T + b[:, None]).T


def read_by_place(x, W_x, W_h, b):
    states = [torch.zeros(len(x), len(b), dtype=x.dtype)]
    for t in range(x.shape[1]):
        states.append(torch.tanh(x[:, t] @ W_x.T + states[-1] @ W_h.T + b))
    return torch.stack(states[1:], dim=1)


def read_in_single_precision(x, W_x, W_h, b):
    return read(*(part.float() for part in (x, W_x, W_h, b)))


def gradient_in_place(states, grad_h, W_h):
    gradient, deltas = torch.zeros(W_h.shape), torch.zeros_like(grad_h)
    carried = torch.zeros_like(grad_h[:, 0])
    for t in range(grad_h.shape[1] - 1, -1, -1):
        deltas[:, t] = (grad_h[:, t] + carried) * (1 - states[:, t + 1].square())
        gradient += torch.einsum("bi,bj->ij", deltas[:, t], states[:, t])
        carried = deltas[:, t] @ W_h
    return deltas, gradient


@torch.no_grad()
def gradient_without_autograd(states, grad_h, W_h):
    return back_through_time(states, grad_h, W_h)


def gradient_at_the_end(states, grad_h, W_h):
    delta, deltas = torch.zeros_like(states[:, 0]), []
    for grad, h in zip(grad_h.flip(1).unbind(1), states.flip(1).unbind(1), strict=False):
        delta = (1 - h * h) * (grad + (W_h.T @ delta.T).T)
        deltas = [delta, *deltas]
    deltas = torch.stack(deltas, 1)
    return [deltas, torch.einsum("bti,btj->ij", deltas, states[:, :-1])]


def chunk_by_chunk(x, y, start, W_x, W_h, b, k):
    W_h, h = W_h.clone().requires_grad_(), start
    for chunk, targets in zip(x.split(k, 1), y.split(k, 1), strict=True):
        h, loss = h.detach(), 0.0
        for x_t, y_t in zip(chunk.unbind(1), targets.unbind(1), strict=True):
            h = torch.tanh(x_t @ W_x.T + h @ W_h.T + b)
            loss += 0.5 * (h - y_t).pow(2).sum()
        loss.backward()
    return W_h.grad


def clipped_with_an_if(gradients, max_norm):
    norm = math.sqrt(sum((g * g).sum().item() for g in gradients))
    return tuple(g * max_norm / norm for g in gradients) if norm > max_norm else gradients


def perplexity_in_loops(nats, lengths):
    total = sum(sum(row[:n]) for row, n in zip(nats.tolist(), lengths.tolist(), strict=True))
    return torch.tensor(total / int(lengths.sum())).exp()


def size_by_searching(logits, temperature, p):
    sums = (logits / temperature).softmax(-1).sort(descending=True).values.cumsum(-1)
    return torch.searchsorted(sums, torch.full((len(sums), 1), p, dtype=sums.dtype))[:, 0] + 1


def size_in_a_loop(logits, temperature, p):
    sizes = []
    for row in torch.softmax(logits / temperature, dim=-1).tolist():
        total = size = 0
        for probability in sorted(row, reverse=True):
            total, size = total + probability, size + 1
            if total >= p:
                break
        sizes.append(size)
    return torch.tensor(sizes)


def min_p_on_logits(logits, temperature, share):
    log_p = torch.log_softmax(logits / temperature, dim=-1)
    unlikely = log_p < log_p.max(dim=-1, keepdim=True).values + math.log(share)
    return log_p.masked_fill(unlikely, -math.inf).softmax(-1)


def min_p_in_place(logits, temperature, share):
    p = (logits / temperature).softmax(-1)
    for row in p:
        row[row / row.max() < share] = 0
        row /= row.sum()
    return p


def radius_in_single_precision(W_h, radius):
    return radius * W_h.float() / torch.linalg.eig(W_h.float()).eigenvalues.abs().max()


RIGHT = [
    *[
        ("recurrent_parameters", 4018),
        ("mean_surprise", 4),
        ("mean_surprise", 4.0),
        ("vanishing_gradient", 31),
        ("matrix_powers", "C"),
    ],
    *[
        ("leaky_units", leaky_in_a_list),
        ("bidirectional_states", ends_in_a_loop),
        ("bidirectional_states", ends_gathered),
    ],
    *[("packed_sequences", packed_by_multiplying), ("packed_sequences", packed_row_by_row)],
    *[
        ("one_step", step_by_library),
        ("one_step", step_on_columns),
        ("whole_sequence", read_by_place),
    ],
    *[
        ("whole_sequence", read_in_single_precision),
        ("backpropagation_through_time", gradient_in_place),
    ],
    *[
        ("backpropagation_through_time", gradient_without_autograd),
        ("backpropagation_through_time", gradient_at_the_end),
        ("truncated_backpropagation", chunk_by_chunk),
    ],
    *[("gradient_clipping", clipped_with_an_if), ("perplexity_of_lines", perplexity_in_loops)],
    *[("top_p", size_by_searching), ("top_p", size_in_a_loop)],
    *[
        ("min_p", min_p_on_logits),
        ("min_p", min_p_in_place),
        ("spectral_radius", radius_in_single_precision),
    ],
]


@pytest.mark.parametrize(("id", "attempt"), RIGHT)
def test_another_right_answer_passes(id, attempt):
    assert check.exercises[id].judge(attempt) == (True, "correct.")


def leaky_into_a_tensor(x, start, W_x, W_h, b, leak):
    states = x.new_zeros(*x.shape[:2], len(start))
    h = start.expand(len(x), -1)
    for t in range(x.shape[1]):
        states[:, t] = (1 - leak) * h + leak * torch.tanh(x[:, t] @ W_x.T + h @ W_h.T + b)
        h = states[:, t]
    return states


def packed_with_the_default_precision(x, starts, W_x, W_h, b):
    h, states = torch.zeros(len(x), len(b)), []
    for t in range(x.shape[1]):
        h = h.masked_fill(starts[:, t, None], 0)
        h = torch.tanh(x[:, t] @ W_x.T + h @ W_h.T + b)
        states.append(h)
    return torch.stack(states, dim=1)


def packed_in_place(x, starts, W_x, W_h, b):
    h, states = x.new_zeros(len(x), len(b)), []
    for t in range(x.shape[1]):
        h[starts[:, t]] = 0
        h = torch.tanh(x[:, t] @ W_x.T + h @ W_h.T + b)
        states.append(h.clone())
    return torch.stack(states, dim=1)


def gradient_with_the_default_precision(states, grad_h, W_h):
    delta, total, deltas = torch.zeros(len(grad_h), len(W_h)), 0, []
    for t in reversed(range(grad_h.shape[1])):
        delta = (grad_h[:, t] + delta @ W_h) * (1 - states[:, t + 1] ** 2)
        total = total + delta.T @ states[:, t]
        deltas.append(delta)
    return torch.stack(deltas[::-1], dim=1), total


@pytest.mark.parametrize(
    ("id", "attempt"),
    [
        ("packed_sequences", packed_with_the_default_precision),
        ("backpropagation_through_time", gradient_with_the_default_precision),
    ],
)
def test_a_right_answer_in_the_default_precision_passes(id, attempt):
    assert check.exercises[id].judge(attempt) == (True, "correct.")


@pytest.mark.parametrize(
    ("id", "attempt"),
    [
        ("leaky_units", leaky_in_a_list),
        ("bidirectional_states", ends_in_a_loop),
        ("packed_sequences", packed_by_multiplying),
    ],
)
def test_where_a_layer_is_asked_for_one_without_a_gradient_is_told_so(id, attempt):
    passed, sentence = check.exercises[id].judge(torch.no_grad()(attempt))
    assert (
        not passed and "the values are correct, but the result is cut off from autograd" in sentence
    )


@pytest.mark.parametrize(
    ("id", "attempt"), [("leaky_units", leaky_into_a_tensor), ("packed_sequences", packed_in_place)]
)
def test_a_state_that_autograd_cannot_follow_is_told_why(id, attempt):
    passed, sentence = check.exercises[id].judge(attempt)
    assert not passed and "it overwrites a tensor that the gradient needs" in sentence


# Wrong answers, written as people write them ------------------------------------------------------


def appended_before_the_step(x, start, W_x, W_h, b, leak):
    h, states = start.expand(len(x), -1), []
    for x_t in x.unbind(1):
        states.append(h)
        h = (1 - leak) * h + leak * torch.tanh(x_t @ W_x.T + h @ W_h.T + b)
    return torch.stack(states, dim=1)


def start_kept(x, start, W_x, W_h, b, leak):
    states = [start.expand(len(x), -1)]
    for x_t in x.unbind(1):
        h = states[-1]
        states.append((1 - leak) * h + leak * torch.tanh(x_t @ W_x.T + h @ W_h.T + b))
    return torch.stack(states, dim=1)


def ends_at(forward_shift, backward):
    def ends(outputs, lengths):
        N = outputs.shape[2] // 2
        rows = [
            torch.cat([outputs[i, n + forward_shift, :N], outputs[i, backward, N:]])
            for i, n in enumerate(lengths.tolist())
        ]
        return torch.stack(rows)

    return ends


def gathered_one_too_far(outputs, lengths):
    forward, backward = outputs.chunk(2, dim=-1)
    last = lengths.view(-1, 1, 1).expand(-1, 1, forward.shape[-1])
    return torch.cat((forward.gather(1, last).squeeze(1), backward[:, 0]), dim=-1)


def gradient_by(delta_of, steps=lambda T: reversed(range(T)), before=0, keep="insert"):
    def gradient(states, grad_h, W_h):
        carried, total, deltas = 0, 0, []
        for t in steps(grad_h.shape[1]):
            delta = delta_of(grad_h[:, t], carried, 1 - states[:, t + 1] ** 2)
            total, carried = total + delta.T @ states[:, t + before], delta @ W_h
            deltas.insert(0, delta) if keep == "insert" else deltas.append(delta)
        return torch.stack(deltas, dim=1), total

    return gradient


def all_through(grad, carried, slope):
    return (grad + carried) * slope


def read_from(x, W_x, W_h, b, carry=True, keep="after"):
    h, states = torch.zeros(len(x), len(b), dtype=x.dtype), []
    for t in range(x.shape[1]):
        new = torch.tanh(x[:, t] @ W_x.T + h @ W_h.T + b)
        states.append(new if keep == "after" else h)
        h = new if carry else h
    return torch.stack(states, dim=1)


def loss_without_a_half(x, y, start, W_x, W_h, b, k):
    W_h, h, loss = W_h.clone().requires_grad_(), start, 0
    for t in range(x.shape[1]):
        h = torch.tanh(x[:, t] @ W_x.T + (h if t % k else h.detach()) @ W_h.T + b)
        loss = loss + ((h - y[:, t]) ** 2).sum()
    return torch.autograd.grad(loss, W_h)[0]


def divided_by_a_number(gradients, max_norm):
    scale = max_norm / math.sqrt(sum((g**2).sum().item() for g in gradients))
    return [g * scale if scale < 1 else g for g in gradients]


def size_up_to(comparison, offset=0, least=0):
    def size(logits, temperature, p):
        sums = torch.softmax(logits / temperature, 1).sort(1, descending=True).values.cumsum(1)
        return (comparison(sums, p).sum(1) + offset).clamp(min=least)

    return size


def strict_min_p(logits, temperature, share):
    p = torch.softmax(logits / temperature, 1)
    p = torch.where(p > share * p.max(1, keepdim=True).values, p, 0)
    return p / p.sum(1, keepdim=True)


def leaky_by(product, join=torch.stack):
    def leaky(x, start, W_x, W_h, b, leak):
        h, states = start.expand(len(x), -1), []
        for x_t in x.unbind(1):
            h = (1 - leak) * h + leak * torch.tanh(product(x_t, W_x) + product(h, W_h) + b)
            states.append(h)
        return join(states, dim=1)

    return leaky


def zero_logits(logits, temperature, share):
    logits = logits / temperature
    p = logits.softmax(-1)
    return logits.masked_fill(p < share * p.max(-1, keepdim=True)[0], 0).softmax(-1)


def maxima_without_an_axis(logits, temperature, share):
    p = torch.softmax(logits / temperature, dim=1)
    kept = torch.where(p >= share * p.max(dim=1).values, p, 0)
    return kept / kept.sum(dim=1, keepdim=True)


NAMED = [
    *[("mean_surprise", math.log(4), "nats"), ("mean_surprise", 0.25, "probability")],
    *[("vanishing_gradient", 30, "rounded_down"), ("vanishing_gradient", 32, "one_too_many")],
    ("vanishing_gradient", math.log(1 / 1000) / math.log(0.8), "not_whole"),
    *[
        ("leaky_units", appended_before_the_step, "one_step_early"),
        ("leaky_units", start_kept, "with_the_start"),
    ],
    *[
        ("bidirectional_states", ends_at(0, 0), "one_too_far"),
        ("bidirectional_states", gathered_one_too_far, "one_too_far_by_gather"),
    ],
    *[
        ("bidirectional_states", ends_at(-2, 0), "one_too_early"),
        ("bidirectional_states", ends_at(-1, 1), "backward_one_short"),
    ],
    ("one_step", lambda x, h, W_x, W_h, b: x @ W_x.T + h @ W_h.T + b, "no_tanh"),
    (
        "one_step",
        lambda x, h, W_x, W_h, b: torch.tanh(F.linear(x, W_x, b) + h @ W_h),
        "state_not_transposed",
    ),
    (
        "one_step",
        lambda x, h, W_x, W_h, b: torch.tanh(W_x @ x + W_h @ h + b),
        "weights_before_rows",
    ),
    (
        "one_step",
        lambda x, h, W_x, W_h, b: (x @ W_x + h @ W_h + b).tanh(),
        "rows_with_untransposed_weights",
    ),
    ("one_step", lambda x, h, W_x, W_h, b: F.sigmoid(x @ W_x.T + h @ W_h.T + b), "sigmoid"),
    ("whole_sequence", lambda *given: read_from(*given, carry=False), "not_carried"),
    ("whole_sequence", lambda *given: read_from(*given, keep="before"), "one_step_early"),
    ("whole_sequence", lambda *given: read_from(*given)[:, -1], "last_state_only"),
    (
        "whole_sequence",
        lambda x, *W: read_from(x.mT.mT.transpose(0, 1), *W).transpose(0, 1),
        "over_the_batch",
    ),
    (
        "backpropagation_through_time",
        gradient_by(lambda g, c, s: g * s + c),
        "carried_past_the_slope",
    ),
    ("backpropagation_through_time", gradient_by(lambda g, c, s: g + c), "no_slope"),
    ("backpropagation_through_time", gradient_by(lambda g, c, s: g * s), "not_carried"),
    ("backpropagation_through_time", gradient_by(all_through, before=1), "state_after_the_step"),
    ("backpropagation_through_time", gradient_by(all_through, keep="append"), "last_first"),
    (
        "backpropagation_through_time",
        gradient_by(all_through, steps=range, keep="append"),
        "forwards",
    ),
    *[
        ("truncated_backpropagation", loss_without_a_half, "no_half"),
        ("gradient_clipping", divided_by_a_number, "divided_by_zero"),
    ],
    ("top_p", size_up_to(torch.less), "reaching_left_out"),
    ("top_p", size_up_to(torch.less_equal), "crossing_left_out"),
    ("top_p", size_up_to(torch.less, least=1), "reaching_left_out_but_for_one"),
    ("top_p", size_up_to(torch.less_equal, least=1), "crossing_left_out_but_for_one"),
    ("top_p", size_up_to(torch.less_equal, offset=1), "one_more_at_exactly_p"),
    ("top_p", size_up_to(torch.greater_equal), "counted_after"),
    *[("min_p", strict_min_p, "strictly_more_likely"), ("min_p", zero_logits, "logits_zeroed")],
    ("min_p", maxima_without_an_axis, "axis_lost"),
    ("spectral_radius", lambda W, r: W / torch.linalg.eigvals(W).abs().max(), "to_1"),
    ("leaky_units", leaky_by(lambda x, W: x @ W), "rows_with_untransposed_weights"),
    ("leaky_units", leaky_by(lambda x, W: W @ x), "weights_before_rows"),
    ("leaky_units", leaky_by(lambda x, W: x @ W.T, join=torch.cat), "concatenated"),
    ("spectral_radius", lambda W, r: r / torch.linalg.eigvals(W).max() * W, "complex_compared"),
]


@pytest.mark.parametrize(("id", "attempt", "name"), NAMED)
def test_a_common_mistake_is_named(id, attempt, name):
    exercise = check.exercises[id]
    assert exercise.judge(attempt) == (False, exercise.mistakes[name].says)


# Wrong answers that are no known mistake ----------------------------------------------------------


def top_k(logits, temperature, p):
    return torch.full((len(logits),), 3)


WRONG = [
    *[
        ("recurrent_parameters", 4019),
        ("mean_surprise", 8.0),
        ("vanishing_gradient", 29),
        ("bidirectional_states", lambda outputs, lengths: outputs[:, 1]),
    ],
    *[("leaky_units", lambda x, start, *_: start.expand(*x.shape[:2], -1)), ("top_p", top_k)],
    *[
        ("truncated_backpropagation", lambda x, y, start, W_x, W_h, b, k: W_h),
    ],
    *[
        ("min_p", lambda logits, t, share: logits.softmax(1)),
        ("spectral_radius", lambda W, radius: W),
    ],
]


@pytest.mark.parametrize(("id", "attempt"), WRONG)
def test_a_wrong_answer_gets_no_false_name(id, attempt):
    exercise = check.exercises[id]
    passed, sentence = exercise.judge(attempt)
    assert passed is False
    assert not sentence.endswith(tuple(m.says for m in exercise.mistakes.values()))
