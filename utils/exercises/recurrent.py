"""Checks of Day 2, and the mistakes that they know."""

import math

import torch
from torch import Tensor

from utils.exercises.checking import Checker, Exercise, Mistake, Prediction, Stage
from utils.recurrent import RNN, LanguageModel


def random(*shape: int) -> Tensor:
    """Draw a tensor in double precision, in which mistakes can't hide behind rounding."""
    return torch.randn(*shape, dtype=torch.float64)


def layer_inputs(D: int, N: int) -> tuple[Tensor, Tensor, Tensor]:
    """Draw W_x, W_h and b, small enough that tanh does not saturate."""
    return random(N, D) / D**0.5, random(N, N) / N**0.5, random(N) / 2


# 2.1 ------------------------------------------------------------------------------------------


def language_model_size() -> int:
    model = LanguageModel(vocab_size=50, d_model=16, layer=RNN(16, 32))
    return sum(p.numel() for p in model.parameters())


# 2.3 ------------------------------------------------------------------------------------------


def leaky_rnn(x: Tensor, start: Tensor, W_x: Tensor, W_h: Tensor, b: Tensor, leak: float) -> Tensor:
    return leaky_scan(x, start, W_x, W_h, b, lambda h, new: (1 - leak) * h + leak * new)


def leaky_scan(x, start, W_x, W_h, b, mix, nonlinear=torch.tanh) -> Tensor:
    h, outputs = start.expand(len(x), -1), []
    for x_t in x.unbind(1):
        h = mix(h, nonlinear(x_t @ W_x.T + h @ W_h.T + b))
        outputs.append(h)
    return torch.stack(outputs, 1)


def leaky_without_memory(x, start, W_x, W_h, b, leak):
    steps = [leaky_rnn(x[:, t : t + 1], start, W_x, W_h, b, leak) for t in range(x.shape[1])]
    return torch.cat(steps, 1)


def leaky_tanh_last(x, start, W_x, W_h, b, leak):
    def mix(h, new):
        return torch.tanh((1 - leak) * h + leak * new)

    return leaky_scan(x, start, W_x, W_h, b, mix, nonlinear=lambda a: a)


def leaky_inputs(B: int, T: int, D: int, N: int, leak: float) -> tuple:
    return random(B, T, D), random(N), *layer_inputs(D, N), leak


# 2.5 ------------------------------------------------------------------------------------------

MATRICES = {
    "a": [[0.9, 5.0], [0.0, 0.9]],
    "b": [[0.6, -0.8], [0.8, 0.6]],
    "c": [[0.5, 0.6], [0.6, 0.5]],
    "d": [[0.0, 4.0], [0.2, 0.0]],
}


def explodes() -> str:
    def after_100_steps(rows: list) -> float:
        power = torch.linalg.matrix_power(torch.tensor(rows, dtype=torch.float64), 100)
        return torch.linalg.matrix_norm(power, 2).item()

    (name,) = [name for name, rows in MATRICES.items() if after_100_steps(rows) > 1000]
    return name


# 2.6 ------------------------------------------------------------------------------------------


def both_ends(outputs: Tensor, lengths: Tensor) -> Tensor:
    return read_at(outputs, lengths - 1, torch.zeros_like(lengths))


def read_at(outputs: Tensor, forward: Tensor, backward: Tensor) -> Tensor:
    """Take the forward half at one position of each sequence, the backward half at another."""
    rows, N = torch.arange(len(outputs)), outputs.shape[2] // 2
    return torch.cat([outputs[rows, forward, :N], outputs[rows, backward, N:]], 1)


def both_ends_inputs(T: int, N: int, *lengths: int) -> tuple:
    return random(len(lengths), T, 2 * N), torch.tensor(lengths)


# 2.7 ------------------------------------------------------------------------------------------


def packed_rnn(x: Tensor, starts: Tensor, W_x: Tensor, W_h: Tensor, b: Tensor) -> Tensor:
    h, outputs = x.new_zeros(len(x), len(b)), []
    for x_t, new in zip(x.unbind(1), starts.unbind(1), strict=True):
        h = h.masked_fill(new[:, None], 0)
        h = torch.tanh(x_t @ W_x.T + h @ W_h.T + b)
        outputs.append(h)
    return torch.stack(outputs, 1)


def packed_reset_late(x, starts, W_x, W_h, b):
    late = torch.cat([starts[:, :1] & False, starts[:, :-1]], 1)
    return packed_rnn(x, late, W_x, W_h, b)


def packed_reset_result(x, starts, W_x, W_h, b):
    outputs = packed_reset_late(x, starts, W_x, W_h, b)
    return outputs.masked_fill(starts[:, :, None], 0)


def packed_inputs(T: int, D: int, N: int, *starts: list[int]) -> tuple:
    """Draw a row of texts for each list of the places where a text starts."""
    rows = torch.tensor([[t in row for t in range(T)] for row in starts])
    return random(len(starts), T, D), rows, *layer_inputs(D, N)


# 2.8 ------------------------------------------------------------------------------------------


def recurrent_gradient(states: Tensor, grad_h: Tensor, W_h: Tensor) -> Tensor:
    return gradient_over_time(states, grad_h, lambda delta: delta @ W_h)


def gradient_over_time(states, grad_h, back, slopes_at=None, met=None) -> Tensor:
    """Walk back; by default tanh's slope is taken at h_t, and W_h met h_{t-1}."""
    slopes = 1 - (states[:, 1:] if slopes_at is None else slopes_at) ** 2
    met = states[:, :-1] if met is None else met
    carried, total = 0, 0
    for t in reversed(range(grad_h.shape[1])):
        delta = (grad_h[:, t] + carried) * slopes[:, t]
        total = total + delta.T @ met[:, t]
        carried = back(delta)
    return total


def gradient_inputs(B: int, T: int, N: int) -> tuple:
    return random(B, T + 1, N).tanh(), random(B, T, N), random(N, N)


# 2.9 ------------------------------------------------------------------------------------------


def truncated_gradient(
    x: Tensor, y: Tensor, start: Tensor, W_x: Tensor, W_h: Tensor, b: Tensor, k: int
) -> Tensor:
    return gradient_with_cuts(
        x, y, start, W_x, W_h, b, lambda t, h: h.detach() if t % k == 0 else h
    )


def gradient_with_cuts(x, y, start, W_x, W_h, b, before_step, counts=lambda t: 1.0) -> Tensor:
    W_h = W_h.detach().clone().requires_grad_()
    h, loss = start, 0
    for t in range(x.shape[1]):
        h = before_step(t, h)
        h = torch.tanh(x[:, t] @ W_x.T + h @ W_h.T + b)
        loss = loss + counts(t) * ((h - y[:, t]) ** 2).sum() / 2
    return torch.autograd.grad(loss, W_h)[0]


def truncated_to_last_chunk(x, y, start, W_x, W_h, b, k):
    T = x.shape[1]
    return gradient_with_cuts(
        *(x, y, start, W_x, W_h, b),
        lambda t, h: h.detach() if t % k == 0 else h,
        lambda t: float(t // k == (T - 1) // k),
    )


def truncated_inputs(B: int, T: int, D: int, N: int, k: int) -> tuple:
    W_x, W_h, b = layer_inputs(D, N)
    return random(B, T, D), random(B, T, N), random(B, N), W_x, W_h, b, k


# 2.10 -----------------------------------------------------------------------------------------


def clip(gradients: list[Tensor], max_norm: float) -> list[Tensor]:
    return shortened(gradients, max_norm, length(gradients))


def length(gradients: list[Tensor]) -> Tensor:
    """The length of all tensors as one vector."""
    return torch.cat([g.flatten() for g in gradients]).norm()


def shortened(gradients: list[Tensor], max_norm: float, norm: Tensor) -> list[Tensor]:
    return [g * (max_norm / norm).clamp(max=1) for g in gradients]


def clip_always(gradients: list[Tensor], max_norm: float) -> list[Tensor]:
    return [g * (max_norm / length(gradients)) for g in gradients]


def clip_to_1(gradients: list[Tensor], max_norm: float) -> list[Tensor]:
    norm = length(gradients)
    return [g / norm if norm > max_norm else g for g in gradients]


# 2.11 -----------------------------------------------------------------------------------------


def perplexity(nats: Tensor, lengths: Tensor) -> float:
    return math.exp(nats[real(nats, lengths)].mean())


def real(nats: Tensor, lengths: Tensor) -> Tensor:
    """Say which positions are not padding: (B, T)."""
    return torch.arange(nats.shape[1]) < lengths[:, None]


def of_each_sequence(nats: Tensor, lengths: Tensor) -> Tensor:
    """The mean nats of each sequence, without its padding: (B,)."""
    return (nats * real(nats, lengths)).sum(1) / lengths


def perplexity_inputs(T: int, *lengths: int) -> tuple:
    # what stands at the padding is no smaller than the rest
    return random(len(lengths), T).exp(), torch.tensor(lengths)


# 2.12 -----------------------------------------------------------------------------------------


def nucleus_size(logits: Tensor, temperature: float, p: float) -> Tensor:
    return count_until(softmax_sorted(logits, temperature), p)


def softmax_sorted(logits: Tensor, temperature: float) -> Tensor:
    return torch.softmax(logits / temperature, 1).sort(1, descending=True).values


def count_until(probabilities: Tensor, p: float) -> Tensor:
    """Count the first probabilities of each row that are needed for a sum of p."""
    before = probabilities.cumsum(1) - probabilities
    return (before < p).sum(1)


def nucleus_without_crossing(logits: Tensor, temperature: float, p: float) -> Tensor:
    return (softmax_sorted(logits, temperature).cumsum(1) <= p).sum(1)


def nucleus_heated_late(logits: Tensor, temperature: float, p: float) -> Tensor:
    return count_until(softmax_sorted(logits, 1.0) / temperature, p)


def nucleus_unsorted(logits: Tensor, temperature: float, p: float) -> Tensor:
    return count_until(torch.softmax(logits / temperature, 1), p)


def nucleus_of_single_tokens(logits: Tensor, temperature: float, p: float) -> Tensor:
    return (torch.softmax(logits / temperature, 1) >= 1 - p).sum(1)


# 2.13 -----------------------------------------------------------------------------------------


def min_p(logits: Tensor, temperature: float, share: float) -> Tensor:
    probabilities = torch.softmax(logits / temperature, 1)
    return only(likely_enough(probabilities, share), probabilities)


def likely_enough(probabilities: Tensor, share: float) -> Tensor:
    return probabilities >= share * probabilities.amax(1, keepdim=True)


def only(kept: Tensor, probabilities: Tensor) -> Tensor:
    left = probabilities * kept
    return left / left.sum(1, keepdim=True)


def min_p_absolute(logits: Tensor, temperature: float, share: float) -> Tensor:
    probabilities = torch.softmax(logits / temperature, 1)
    return only(probabilities >= share, probabilities)


def min_p_of_batch(logits: Tensor, temperature: float, share: float) -> Tensor:
    probabilities = torch.softmax(logits / temperature, 1)
    return only(probabilities >= share * probabilities.amax(), probabilities)


def min_p_inverted(logits: Tensor, temperature: float, share: float) -> Tensor:
    probabilities = torch.softmax(logits / temperature, 1)
    return only(~likely_enough(probabilities, share), probabilities)


def min_p_heated_late(logits: Tensor, temperature: float, share: float) -> Tensor:
    kept = likely_enough(torch.softmax(logits, 1), share)
    return only(kept, torch.softmax(logits / temperature, 1))


def min_p_not_renormalised(logits: Tensor, temperature: float, share: float) -> Tensor:
    probabilities = torch.softmax(logits / temperature, 1)
    return probabilities * likely_enough(probabilities, share)


def min_p_softmax_twice(logits: Tensor, temperature: float, share: float) -> Tensor:
    left = min_p_not_renormalised(logits, temperature, share)
    return torch.softmax(left.masked_fill(left == 0, -math.inf), 1)


# 2.14 -----------------------------------------------------------------------------------------


def with_radius(W_h: Tensor, radius: float) -> Tensor:
    return W_h * (radius / torch.linalg.eigvals(W_h).abs().amax())


check = Checker(
    Prediction(
        "2.1",
        language_model_size,
        {
            "two biases": Mistake(
                "the library's layer has two biases; the equation above has one.", 4050
            ),
            "no biases": Mistake("there are two biases, one in the layer, one at the end.", 3936),
            "no embedding": Mistake("the embedding is a table of weights, too.", 3218),
            "no W_h": Mistake("the layer has a second matrix: where does the state go?", 2994),
            "no logits": Mistake("something must turn a state into a number a character.", 2368),
            "one-hot": Mistake("the layer reads an embedding, not a character's one-hot.", 5106),
            "no layer bias": Mistake("the recurrent layer has a bias, too.", 3986),
            "no logits bias": Mistake("each character has a bias, too.", 3968),
        },
    ),
    Prediction(
        "2.2",
        lambda: math.exp((math.log(2) + math.log(8)) / 2),
        {
            "arithmetic": Mistake(
                "2 and 8 are not averaged themselves: perplexity averages logarithms first.", 5.0
            ),
            "of the mean": Mistake(
                "the probabilities are not averaged: perplexity averages their logarithms.", 3.2
            ),
            "bits": Mistake("that is the mean number of bits; how many choices is it worth?", 2.0),
            "product": Mistake("perplexity is the value of one token, not of two.", 16.0),
        },
        tolerance=1e-3,
    ),
    Exercise(
        "2.3",
        leaky_rnn,
        (
            Stage("one step of one sequence", lambda: [leaky_inputs(1, 1, 2, 3, 0.3)]),
            Stage("three steps, one after the other", lambda: [leaky_inputs(1, 3, 3, 2, 0.2)]),
            Stage(
                "batches, whose sequences know nothing of each other",
                lambda: [leaky_inputs(4, 5, 2, 3, 0.7), leaky_inputs(3, 3, 1, 4, 0.4)],
            ),
        ),
        {
            "exchanged shares": Mistake(
                "a leak near 0 means a state that hardly changes; yours hardly remembers.",
                lambda x, start, W_x, W_h, b, leak: leaky_rnn(x, start, W_x, W_h, b, 1 - leak),
            ),
            "no leak": Mistake(
                "that is the plain network: what does the old state keep of itself?",
                lambda x, start, W_x, W_h, b, leak: leaky_rnn(x, start, W_x, W_h, b, 1.0),
            ),
            "nothing forgotten": Mistake(
                "the old state stays in full: two shares should add up to 1.",
                lambda x, start, W_x, W_h, b, leak: leaky_scan(
                    *(x, start, W_x, W_h, b), lambda h, new: h + leak * new
                ),
            ),
            "axes": Mistake(
                "your loop walks over the batch: which axis is time?",
                lambda x, *others: leaky_rnn(x.transpose(0, 1), *others).transpose(0, 1),
            ),
            "time first": Mistake(
                "the steps are stacked in the first axis, where the batch should be.",
                lambda x, *others: leaky_rnn(x, *others).transpose(0, 1),
            ),
            "not carried": Mistake(
                "every step begins where the first did: what does the second know of it?",
                leaky_without_memory,
            ),
            "transposed": Mistake(
                "W_h h_{t-1} sums over the columns of W_h: is it transposed?",
                lambda x, start, W_x, W_h, b, leak: leaky_rnn(x, start, W_x, W_h.T, b, leak),
            ),
            "tanh last": Mistake(
                "tanh bends the new part alone; the old state goes through untouched.",
                leaky_tanh_last,
            ),
            "no tanh": Mistake(
                "the new part is linear: something should keep it between -1 and 1.",
                lambda x, start, W_x, W_h, b, leak: leaky_scan(
                    *(x, start, W_x, W_h, b),
                    lambda h, new: (1 - leak) * h + leak * new,
                    nonlinear=lambda a: a,
                ),
            ),
            "zero state": Mistake(
                "the state before the first step is given, and you began with zeros.",
                lambda x, start, *others: leaky_rnn(x, 0 * start, *others),
            ),
            "last only": Mistake(
                "only the last state is there; the states after all steps are asked for.",
                lambda x, *others: leaky_rnn(x, *others)[:, -1],
            ),
        },
    ),
    Prediction(
        "2.4",
        lambda: next(k for k in range(1, 1000) if 0.8**k < 1 / 1000),
        {
            "rounded down": Mistake("after that many steps, a little more may be left.", 30),
            "linear": Mistake("each step takes a fifth of what is left, not of the beginning.", 5),
            "half": Mistake("that is where less than half is left; you need a thousandth.", 4),
            "a hundredth": Mistake("after that many steps, a hundredth is left.", 21),
            "exponential": Mistake("to lose a fifth is more than a factor of exp(-0.2).", 35),
        },
    ),
    Prediction(
        "2.5",
        explodes,
        {
            "a": Mistake("the 5 makes it grow at first; is that so after 100 factors of 0.9?", "a"),
            "b": Mistake("what does this matrix do with the length of a vector?", "b"),
            "d": Mistake("multiply it by itself once: what is left of the 4?", "d"),
        },
        choices=tuple(MATRICES),
    ),
    Exercise(
        "2.6",
        both_ends,
        (
            Stage("one sequence, without padding", lambda: [both_ends_inputs(3, 1, 3)]),
            Stage("one sequence with padding", lambda: [both_ends_inputs(5, 2, 3)]),
            Stage(
                "batches of different lengths",
                lambda: [both_ends_inputs(6, 2, 4, 1, 6, 3), both_ends_inputs(8, 3, 5, 2, 7)],
            ),
        ),
        {
            "last position": Mistake(
                "the last position may be padding, and there the backward half has hardly begun.",
                lambda outputs, lengths: outputs[:, -1],
            ),
            "forward at padding": Mistake(
                "the backward half is right; the forward half may come from padding.",
                lambda outputs, lengths: read_at(outputs, 0 * lengths - 1, 0 * lengths),
            ),
            "backward at the end": Mistake(
                "the forward half is right; the backward half has read one token there.",
                lambda outputs, lengths: read_at(outputs, lengths - 1, lengths - 1),
            ),
            "backward at padding": Mistake(
                "the forward half is right; the backward half is from where its reading begins.",
                lambda outputs, lengths: read_at(outputs, lengths - 1, 0 * lengths - 1),
            ),
            "off by one": Mistake(
                "the first position is number 0: what number has the last of four?",
                lambda outputs, lengths: read_at(outputs, lengths, 0 * lengths),
            ),
            "longest": Mistake(
                "the longest sequence is read right; the shorter ones end before it.",
                lambda outputs, lengths: read_at(
                    outputs, 0 * lengths + lengths.max() - 1, 0 * lengths
                ),
            ),
            "exchanged": Mistake(
                "each half is read where the other should be: which one ends at the left?",
                lambda outputs, lengths: read_at(outputs, 0 * lengths, lengths - 1),
            ),
            "mean": Mistake(
                "that is the mean over all positions, padding and all; one state is asked for.",
                lambda outputs, lengths: outputs.mean(1),
            ),
        },
    ),
    Exercise(
        "2.7",
        packed_rnn,
        (
            Stage("one text, one step", lambda: [packed_inputs(1, 2, 3, [0])]),
            Stage("two texts in one row", lambda: [packed_inputs(4, 1, 2, [0, 2])]),
            Stage(
                "rows whose texts start at different steps",
                lambda: [
                    packed_inputs(6, 2, 3, [0, 3], [2, 5], []),
                    packed_inputs(7, 3, 2, [0, 1, 4], [0], [3, 6], [0, 5]),
                ],
            ),
        ),
        {
            "never": Mistake(
                "the state is never reset: the second text goes on where the first ended.",
                lambda x, starts, *layer: packed_rnn(x, starts & False, *layer),
            ),
            "late": Mistake(
                "the reset comes one step late: the first token has met the old state by then.",
                packed_reset_late,
            ),
            "result": Mistake(
                "the state after the first token is zero: what did reading it leave?",
                packed_reset_result,
            ),
            "whole batch": Mistake(
                "when a text starts in one row, the other rows go on with theirs.",
                lambda x, starts, *layer: packed_rnn(
                    x, starts.any(0, keepdim=True).expand_as(starts), *layer
                ),
            ),
            "inverted": Mistake(
                "the state is kept where a text starts, and lost inside of it.",
                lambda x, starts, *layer: packed_rnn(x, ~starts, *layer),
            ),
            "always": Mistake(
                "no step knows of the one before: the state is reset everywhere.",
                lambda x, starts, *layer: packed_rnn(x, starts | True, *layer),
            ),
        },
    ),
    Exercise(
        "2.8",
        recurrent_gradient,
        (
            Stage("one step, one unit", lambda: [gradient_inputs(1, 1, 1)]),
            Stage("one step, several units", lambda: [gradient_inputs(1, 1, 3)]),
            Stage("two steps of one unit", lambda: [gradient_inputs(1, 2, 1)]),
            Stage(
                "batches, steps and units",
                lambda: [gradient_inputs(3, 4, 2), gradient_inputs(2, 5, 4)],
            ),
        ),
        {
            "last step": Mistake(
                "W_h was used at every step, and each use adds to the gradient.",
                lambda states, grad_h, W_h: recurrent_gradient(states[:, -2:], grad_h[:, -1:], W_h),
            ),
            "not carried": Mistake(
                "h_t has a second influence on the loss: by way of the steps that follow.",
                lambda states, grad_h, W_h: gradient_over_time(states, grad_h, lambda delta: 0),
            ),
            "transposed W_h": Mistake(
                "on the way back W_h is met from its other side: check the transpose.",
                lambda states, grad_h, W_h: recurrent_gradient(states, grad_h, W_h.T),
            ),
            "slope before": Mistake(
                "tanh's slope at step t is 1 - h², but of which state?",
                lambda states, grad_h, W_h: gradient_over_time(
                    states, grad_h, lambda delta: delta @ W_h, slopes_at=states[:, :-1]
                ),
            ),
            "no slope": Mistake(
                "tanh is missing: how much of a change comes through it?",
                lambda states, grad_h, W_h: gradient_over_time(
                    states, grad_h, lambda delta: delta @ W_h, slopes_at=0 * grad_h
                ),
            ),
            "state after": Mistake(
                "which state does W_h multiply at step t? It is not the one that comes out.",
                lambda states, grad_h, W_h: gradient_over_time(
                    states, grad_h, lambda delta: delta @ W_h, met=states[:, 1:]
                ),
            ),
            "transposed result": Mistake(
                "rows and columns are exchanged: row i of W_h makes unit i of the new state.",
                lambda states, grad_h, W_h: recurrent_gradient(states, grad_h, W_h).T,
            ),
            "mean": Mistake(
                "the loss sums over the batch, and so does its gradient.",
                lambda states, grad_h, W_h: recurrent_gradient(states, grad_h, W_h) / len(states),
            ),
        },
        gradient=False,
    ),
    Exercise(
        "2.9",
        truncated_gradient,
        (
            Stage("one chunk, nothing to cut", lambda: [truncated_inputs(1, 3, 1, 2, 3)]),
            Stage("two chunks", lambda: [truncated_inputs(1, 4, 2, 1, 2)]),
            Stage(
                "several chunks, the last one shorter",
                lambda: [truncated_inputs(2, 7, 1, 3, 3), truncated_inputs(3, 9, 3, 2, 4)],
            ),
        ),
        {
            "not cut": Mistake(
                "that is the whole gradient: the graph still reaches back through all chunks.",
                lambda x, y, start, W_x, W_h, b, k: gradient_with_cuts(
                    *(x, y, start, W_x, W_h, b), lambda t, h: h
                ),
            ),
            "zeroed": Mistake(
                "only the gradient is cut between chunks: the state's value is carried over.",
                lambda x, y, start, W_x, W_h, b, k: gradient_with_cuts(
                    *(x, y, start, W_x, W_h, b), lambda t, h: 0 * h if t and t % k == 0 else h
                ),
            ),
            "start again": Mistake(
                "each chunk begins with the first state: where did the one before it end?",
                lambda x, y, start, W_x, W_h, b, k: gradient_with_cuts(
                    *(x, y, start, W_x, W_h, b), lambda t, h: start if t % k == 0 else h
                ),
            ),
            "every step": Mistake(
                "the graph is cut at every step; inside of a chunk it stays whole.",
                lambda x, y, start, W_x, W_h, b, k: gradient_with_cuts(
                    *(x, y, start, W_x, W_h, b), lambda t, h: h.detach()
                ),
            ),
            "one late": Mistake(
                "the cut is one step late: a chunk's first step belongs to it.",
                lambda x, y, start, W_x, W_h, b, k: gradient_with_cuts(
                    *(x, y, start, W_x, W_h, b), lambda t, h: h.detach() if t % k == 1 else h
                ),
            ),
            "number of chunks": Mistake(
                "k is the length of a chunk, and you made k chunks.",
                lambda x, y, start, W_x, W_h, b, k: truncated_gradient(
                    *(x, y, start, W_x, W_h, b), -(-x.shape[1] // k)
                ),
            ),
            "last chunk": Mistake(
                "only the last chunk counts; the gradients of all chunks are added.",
                truncated_to_last_chunk,
            ),
            "mean of chunks": Mistake(
                "the loss is a sum over all steps; the chunks are not averaged.",
                lambda x, y, start, W_x, W_h, b, k: (
                    truncated_gradient(x, y, start, W_x, W_h, b, k) / math.ceil(x.shape[1] / k)
                ),
            ),
        },
        gradient=False,
    ),
    Exercise(
        "2.10",
        clip,
        (
            Stage("one tensor, too long", lambda: [([random(3) + 4], 1.0)]),
            Stage("one tensor, short enough", lambda: [([random(3) / 9], 1.0)]),
            Stage(
                "several tensors",
                lambda: [
                    ([random(2, 3), 4 * random(5), random(4, 2) / 4], 2.0),
                    ([random(3, 1) / 9, random(2) / 9], 0.7),
                ],
            ),
            Stage("a gradient of zero", lambda: [([torch.zeros(1, dtype=torch.float64)], 1.0)]),
            Stage("tensors that are short one by one", lambda: [([random(4), random(2, 5)], 3.9)]),
        ),
        {
            "each tensor": Mistake(
                "each tensor has a scale of its own, so the step turns: clip all as one vector.",
                lambda gradients, max_norm: [clip([g], max_norm)[0] for g in gradients],
            ),
            "each number": Mistake(
                "each number is clipped alone, so the step turns; only its length should change.",
                lambda gradients, max_norm: [g.clamp(-max_norm, max_norm) for g in gradients],
            ),
            "always": Mistake("a short gradient stays as it is; yours is stretched.", clip_always),
            "squared": Mistake(
                "that is the square of the length; something is left to do.",
                lambda gradients, max_norm: shortened(gradients, max_norm, length(gradients) ** 2),
            ),
            "sum of norms": Mistake(
                "lengths don't add up, their squares do.",
                lambda gradients, max_norm: shortened(
                    gradients, max_norm, sum(g.norm() for g in gradients)
                ),
            ),
            "to 1": Mistake(
                "gradients that are too long should get the length `max_norm`, not 1.", clip_to_1
            ),
            "epsilon": Mistake(
                "a little too short: no small number is needed beside the length.",
                lambda gradients, max_norm: shortened(
                    gradients, max_norm, length(gradients) + 1e-6
                ),
            ),
        },
        gradient=False,
    ),
    Exercise(
        "2.11",
        perplexity,
        (
            Stage("one sequence, without padding", lambda: [perplexity_inputs(3, 3)]),
            Stage("one sequence with padding", lambda: [perplexity_inputs(5, 2)]),
            Stage(
                "batches of different lengths",
                lambda: [perplexity_inputs(6, 1, 6, 3), perplexity_inputs(7, 5, 2, 7, 1)],
            ),
        ),
        {
            "padding": Mistake(
                "the padding is counted, and nobody asked the model about it.",
                lambda nats, lengths: math.exp(nats.mean()),
            ),
            "padding in the denominator": Mistake(
                "the padding's nats are gone, but it is still counted in what you divide by.",
                lambda nats, lengths: math.exp((nats * real(nats, lengths)).mean()),
            ),
            "base 2": Mistake(
                "these are nats, not bits: which power undoes a natural logarithm?",
                lambda nats, lengths: 2 ** nats[real(nats, lengths)].mean().item(),
            ),
            "not exponentiated": Mistake(
                "that is the cross-entropy in nats; perplexity is a number of choices.",
                lambda nats, lengths: nats[real(nats, lengths)].mean().item(),
            ),
            "sum": Mistake(
                "that is the inverse probability of all tokens together: what of one token?",
                lambda nats, lengths: math.exp(nats[real(nats, lengths)].sum()),
            ),
            "mean of perplexities": Mistake(
                "the mean of the sequences' perplexities is not the perplexity of all tokens.",
                lambda nats, lengths: of_each_sequence(nats, lengths).exp().mean().item(),
            ),
            "sequences alike": Mistake(
                "a token of a short sequence weighs more than one of a long sequence.",
                lambda nats, lengths: math.exp(of_each_sequence(nats, lengths).mean()),
            ),
            "a sequence": Mistake(
                "divide by the number of tokens, not of sequences.",
                lambda nats, lengths: math.exp(nats[real(nats, lengths)].sum() / len(lengths)),
            ),
            "mean over tokens": Mistake(
                "the logarithms are averaged, not what exp makes of them.",
                lambda nats, lengths: nats[real(nats, lengths)].exp().mean().item(),
            ),
        },
        gradient=False,
    ),
    Exercise(
        "2.12",
        nucleus_size,
        (
            Stage("temperature 1, one row", lambda: [(random(1, 6), 1.0, 0.8)]),
            Stage(
                "other temperatures", lambda: [(random(1, 9), 0.6, 0.9), (random(1, 9), 2.0, 0.9)]
            ),
            Stage("a token more likely than p", lambda: [(5 * random(2, 7), 0.5, 0.3)]),
            Stage(
                "several rows", lambda: [(random(4, 30), 0.8, 0.7), (2 * random(5, 17), 1.6, 0.95)]
            ),
        ),
        {
            "crossing": Mistake(
                "your set has not reached p yet: the token that crosses it belongs to the set.",
                nucleus_without_crossing,
            ),
            "crossing, at least one": Mistake(
                "where one token is not enough, your set has not reached p yet.",
                lambda *inputs: nucleus_without_crossing(*inputs).clamp(min=1),
            ),
            "temperature ignored": Mistake(
                "the temperature has no effect, and it should come first.",
                lambda logits, temperature, p: nucleus_size(logits, 1.0, p),
            ),
            "multiplied": Mistake(
                "a high temperature should make the distribution flat; yours makes it sharp.",
                lambda logits, temperature, p: nucleus_size(logits, 1 / temperature, p),
            ),
            "after softmax": Mistake(
                "the temperature divides the logits; yours divides the probabilities.",
                nucleus_heated_late,
            ),
            "least likely": Mistake(
                "the sum begins with the least likely tokens, and these should go.",
                lambda logits, temperature, p: count_until(
                    softmax_sorted(logits, temperature).flip(1), p
                ),
            ),
            "unsorted": Mistake(
                "the sum runs in the order of the vocabulary; which token should come first?",
                nucleus_unsorted,
            ),
            "each alone": Mistake(
                "you compare single probabilities; p is about their sum.", nucleus_of_single_tokens
            ),
        },
        gradient=False,
    ),
    Exercise(
        "2.13",
        min_p,
        (
            Stage("temperature 1, one row", lambda: [(random(1, 6), 1.0, 0.3)]),
            Stage(
                "other temperatures", lambda: [(random(1, 8), 2.0, 0.3), (random(1, 8), 0.6, 0.1)]
            ),
            Stage(
                "several rows", lambda: [(2 * random(3, 20), 1.5, 0.05), (random(4, 11), 0.7, 0.2)]
            ),
        ),
        {
            "absolute": Mistake(
                "the threshold stands still: it should move with the most likely token.",
                min_p_absolute,
            ),
            "not renormalised": Mistake("what is left doesn't sum to 1.", min_p_not_renormalised),
            "threshold first": Mistake(
                "the temperature comes too late: it changes who is near the most likely token.",
                min_p_heated_late,
            ),
            "temperature ignored": Mistake(
                "the temperature has no effect, and it should come first.",
                lambda logits, temperature, share: min_p(logits, 1.0, share),
            ),
            "multiplied": Mistake(
                "a high temperature should make the distribution flat; yours makes it sharp.",
                lambda logits, temperature, share: min_p(logits, 1 / temperature, share),
            ),
            "inverted": Mistake(
                "you kept the unlikely tokens and dropped the likely ones.", min_p_inverted
            ),
            "whole batch": Mistake("each row has a most likely token of its own.", min_p_of_batch),
            "softmax twice": Mistake(
                "a softmax of probabilities makes them nearly equal: how else do they sum to 1?",
                min_p_softmax_twice,
            ),
        },
        gradient=False,
    ),
    Exercise(
        "2.14",
        with_radius,
        (
            Stage("a matrix of one number", lambda: [(random(1, 1), 0.9)]),
            Stage(
                "a matrix that turns",
                lambda: [(torch.tensor([[0.3, -1.2], [0.9, 0.2]], dtype=torch.float64), 1.1)],
            ),
            Stage("larger matrices", lambda: [(random(5, 5), 0.8), (random(8, 8), 1.3)]),
        ),
        {
            "largest stretch": Mistake(
                "that is the largest stretch of any vector, not the size of an eigenvalue.",
                lambda W_h, radius: W_h * (radius / torch.linalg.matrix_norm(W_h, 2)),
            ),
            "frobenius": Mistake(
                "that is the length of the matrix as one vector; no eigenvalue was asked.",
                lambda W_h, radius: W_h * (radius / W_h.norm()),
            ),
            "largest entry": Mistake(
                "the largest entry says little about what the matrix does many times over.",
                lambda W_h, radius: W_h * (radius / W_h.abs().amax()),
            ),
            "real part": Mistake(
                "an eigenvalue may be complex; its size is more than its real part.",
                lambda W_h, radius: W_h * (radius / torch.linalg.eigvals(W_h).real.abs().amax()),
            ),
            "symmetric": Mistake(
                "these are the eigenvalues of a symmetric matrix, and W_h is none.",
                lambda W_h, radius: W_h * (radius / torch.linalg.eigvalsh(W_h).abs().amax()),
            ),
            "not divided": Mistake(
                "the matrix had a spectral radius before: yours multiplies it.",
                lambda W_h, radius: W_h * radius,
            ),
        },
        gradient=False,
    ),
)
