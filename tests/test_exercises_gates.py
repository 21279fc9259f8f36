"""Day 3's exercises: other right answers pass, and wrong ones are called by their names."""

import math
import statistics

import pytest
import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from utils.exercises.gates import (
    bahdanau_gru,
    bidirectional_final_states,
    check,
    chrono_initialisation,
    direct_path,
    forget_bias,
    onnx_lstm,
)


def draw(*shape: int, seed: int = 0) -> torch.Tensor:
    return torch.randn(*shape, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))


def verdict(id: str, attempt) -> tuple[bool | None, str]:
    return check.exercises[id].judge(attempt)


def sentence(id: str, mistake: str) -> str:
    return check.exercises[id].mistakes[mistake].says


# The references, held to the library --------------------------------------------------------------


def test_the_step_in_onnx_order_is_the_librarys():
    cell = nn.LSTMCell(3, 5).double()
    i_f_g_o = [parameter.detach().chunk(4) for parameter in cell.parameters()]
    W_x, W_h, b_x, b_h = (torch.cat([i, o, f, g]) for i, f, g, o in i_f_g_o)
    x, h, c = draw(2, 3), draw(2, 5), draw(2, 5, seed=1)
    got = onnx_lstm.lstm_step(x, h, c, W_x, W_h, b_x + b_h)
    torch.testing.assert_close(got, cell(x, (h, c)))


def test_where_nothing_is_reset_bahdanaus_gru_is_the_librarys_with_z_turned_round():
    cell = nn.GRUCell(3, 5, bias=False).double()
    with torch.no_grad():
        cell.weight_hh[:5] = 0
        cell.weight_ih[:5] = 0  # r = 1/2 for every unit, before the product or after it
    x, h = draw(2, 3), draw(2, 5)
    W_x, W_h = (
        torch.cat([r, -z, n]) for r, z, n in (p.detach().chunk(3) for p in cell.parameters())
    )
    torch.testing.assert_close(bahdanau_gru.gru_step(x, h, W_x, W_h), cell(x, h))


def test_the_final_states_are_the_librarys():
    gru, lengths = nn.GRU(3, 4, bidirectional=True).double(), torch.tensor([5, 2, 4])
    outputs, h = gru(pack_padded_sequence(draw(5, 3, 3), lengths, enforce_sorted=False))
    outputs, _ = pad_packed_sequence(outputs, total_length=7)
    got = bidirectional_final_states.final_states(outputs, lengths)
    torch.testing.assert_close(got, torch.cat([h[0], h[1]], dim=1))


def test_the_direct_path_is_autograds_where_gates_are_given():
    f, c = draw(2, 4, 3).sigmoid(), draw(2, 3).requires_grad_()
    cells = [c]
    for f_t in f.unbind(1):
        cells.append(f_t * cells[-1])
    expected = [torch.autograd.grad(cells[-1].sum(), cell, retain_graph=True)[0] for cell in cells]
    torch.testing.assert_close(direct_path.direct_path(f), torch.stack(expected, 1))


@pytest.mark.parametrize(("distance", "share"), [(1, 0.3), (30, 0.5), (200, 0.9)])
def test_with_this_bias_the_share_is_left(distance, share):
    gate = torch.tensor(forget_bias.forget_bias(distance, share), dtype=torch.float64).sigmoid()
    assert gate.item() ** distance == pytest.approx(share)


def test_chronos_gates_forget_after_their_times():
    b_i, b_f = chrono_initialisation.chrono_biases(torch.tensor([0.0, 0.5, 1.0]).double(), 102)
    assert (1 / (1 - b_f.sigmoid())).tolist() == pytest.approx([2, 52, 102])  # time + 1
    torch.testing.assert_close(b_i.sigmoid(), 1 - b_f.sigmoid())


# Right answers, written differently ---------------------------------------------------------------


def width_by_formula(budget, n_blocks, input_size):
    return int((-(input_size + 1) + math.sqrt((input_size + 1) ** 2 + 4 * budget / n_blocks)) / 2)


def width_from_above(budget, n_blocks, input_size):
    return max(N for N in range(budget + 1) if n_blocks * N * (N + input_size + 1) <= budget)


def lstm_by_rows(x, h, c, W_x, W_h, b):
    N, rows = c.shape[1], []
    for x_n, h_n, c_n in zip(x, h, c, strict=True):
        a = W_x @ x_n + W_h @ h_n + b
        i, o, f = a[:N].sigmoid(), a[N : 2 * N].sigmoid(), a[2 * N : 3 * N].sigmoid()
        new = f * c_n + i * a[3 * N :].tanh()
        rows.append((o * new.tanh(), new))
    return [torch.stack(part) for part in zip(*rows, strict=True)]


def lstm_in_place(x, h, c, W_x, W_h, b):
    a = x @ W_x.T
    a += h @ W_h.T
    a += b
    i, o, f, g = a.split(c.shape[1], dim=1)
    c = c.clone()
    c *= torch.sigmoid(f)
    c += torch.sigmoid(i) * torch.tanh(g)
    return torch.sigmoid(o) * torch.tanh(c), c


def gru_by_columns(x, h, W_x, W_h):
    N = h.shape[1]
    r = torch.sigmoid(torch.cat([x, h], 1) @ torch.cat([W_x[:N], W_h[:N]], 1).T)
    z = torch.sigmoid(torch.cat([x, h], 1) @ torch.cat([W_x[N : 2 * N], W_h[N : 2 * N]], 1).T)
    n = torch.tanh(torch.cat([x, r * h], 1) @ torch.cat([W_x[2 * N :], W_h[2 * N :]], 1).T)
    return h + z * (n - h)


def gru_into_zeros(x, h, W_x, W_h):
    new = torch.zeros(h.shape)  # single precision
    for b in range(len(h)):
        new[b] = gru_by_columns(x[b : b + 1], h[b : b + 1], W_x, W_h)[0]
    return new


@torch.no_grad()
def converted_in_place(W_x, W_h, b):
    new = [nn.Parameter(weight.clone()) for weight in (W_x, W_h, b)]
    for weight in new:
        N = len(weight) // 3
        weight[N : 2 * N] *= -1
    return new


def converted_by_a_sign(W_x, W_h, b):
    sign = torch.ones(len(b))
    sign[len(b) // 3 : 2 * len(b) // 3] = -1
    return W_x * sign[:, None], W_h * sign[:, None], b * sign


def bias_by_torch(distance, share):
    return torch.tensor(share, dtype=torch.float64).pow(1 / distance).logit()


def bias_by_the_odds(distance, share):
    return -math.log(math.exp(-math.log(share) / distance) - 1)


def path_in_place(f):
    B, T, N = f.shape
    out = torch.ones(B, T + 1, N)
    for t in range(T - 1, -1, -1):
        out[:, t] = out[:, t + 1] * f[:, t]
    return out


@torch.no_grad()
def path_as_a_list(f):
    left = [torch.ones_like(f[:, 0])]
    for f_t in reversed(f.unbind(1)):
        left.insert(0, left[0] * f_t)
    return torch.stack(left, dim=1)


def path_by_products(f):
    return torch.stack([f[:, t:].prod(1) for t in range(f.shape[1] + 1)], dim=1)


def path_by_logarithms(f):
    logs = f.log().flip(1).cumsum(1).flip(1)
    return torch.cat([logs, torch.zeros_like(logs[:, :1])], 1).exp()


def states_by_loop(outputs, lengths):
    N, states = outputs.shape[2] // 2, []
    for b, length in enumerate(lengths.tolist()):
        states.append(torch.cat([outputs[length - 1, b, :N], outputs[0, b, N:]]))
    return torch.stack(states)


def states_into_zeros(outputs, lengths):
    _, B, width = outputs.shape
    states = torch.zeros(B, width)
    for b in range(B):
        states[b, : width // 2] = outputs[lengths[b] - 1, b, : width // 2]
        states[b, width // 2 :] = outputs[0, b, width // 2 :]
    return states


def states_by_gathering(outputs, lengths):
    index = (lengths - 1)[None, :, None].expand(1, -1, outputs.shape[2])
    last = outputs.gather(0, index)[0]
    N = outputs.shape[2] // 2
    return torch.where(torch.arange(2 * N) < N, last, outputs[0])


def peepholes_in_place(a, c, p_i, p_f, p_o):
    i, f, g, o = a.clone().split(c.shape[1], dim=1)
    new = torch.sigmoid(f + p_f * c) * c
    new = new + torch.sigmoid(i + p_i * c) * torch.tanh(g)
    return [torch.sigmoid(o + p_o * new) * torch.tanh(new), new]


def units_by_counting(length, vocab_size, bits):
    units = 0
    while 2 ** (units * bits) < vocab_size**length:
        units += 1
    return units


def units_by_power(length, vocab_size, bits):
    return math.ceil(math.log2(vocab_size**length) / bits)


def chosen_by_loop(scores, costs):
    runs = scores.tolist()
    best = max(runs, key=statistics.mean)
    bound = statistics.mean(best) - statistics.stdev(best) / len(best) ** 0.5
    good = [i for i, row in enumerate(runs) if statistics.mean(row) >= bound]
    return min(good, key=lambda i: costs[i].item())


def chosen_in_order(scores, costs):
    mean, error = scores.mean(1), scores.std(1) / scores.shape[1] ** 0.5
    bound = mean.max() - error[mean.argmax()]
    for i in costs.argsort().tolist():
        if mean[i] >= bound:
            return i


@torch.no_grad()
def chrono_in_place(u, longest):
    times = torch.empty(len(u), 2)
    times[:, 1] = torch.lerp(torch.ones_like(u), torch.full_like(u, longest - 1.0), u)
    times[:, 0] = 1 / times[:, 1]
    return times.log().unbind(1)


def chrono_by_gates(u, longest):
    times = 1 + u * (longest - 2)
    gate = times / (times + 1)
    return (1 - gate).logit(), gate.logit()


RIGHT = [
    *[
        ("lstm_parameters", 3584),
        ("lstm_parameters", 3584.0),
        ("update_gate_at_0_6", 0.4**5),
        ("update_gate_at_0_6", 0.01),
        ("update_gate_at_0_6", 0.0102),
    ],
    *[("fair_width", width_by_formula), ("fair_width", width_from_above)],
    *[("onnx_lstm", lstm_by_rows), ("onnx_lstm", lstm_in_place)],
    *[("bahdanau_gru", gru_by_columns), ("bahdanau_gru", gru_into_zeros)],
    *[("convert_update_gate", converted_in_place), ("convert_update_gate", converted_by_a_sign)],
    *[("twenty_steps_at_bias_1", 0.002), ("twenty_steps_at_bias_1", 0.0019)],
    *[("forget_bias", bias_by_torch), ("forget_bias", bias_by_the_odds)],
    *[
        ("direct_path", path_in_place),
        ("direct_path", path_as_a_list),
        ("direct_path", path_by_products),
    ],
    ("direct_path", path_by_logarithms),
    *[
        ("bidirectional_final_states", states_by_loop),
        ("bidirectional_final_states", states_into_zeros),
        ("bidirectional_final_states", states_by_gathering),
    ],
    *[
        ("peepholes", peepholes_in_place),
        ("bits_in_a_state", units_by_counting),
        ("bits_in_a_state", units_by_power),
    ],
    *[("one_standard_error", chosen_by_loop), ("one_standard_error", chosen_in_order)],
    *[("chrono_initialisation", chrono_in_place), ("chrono_initialisation", chrono_by_gates)],
]


@pytest.mark.parametrize(("id", "attempt"), RIGHT)
def test_another_right_answer_passes(id, attempt):
    assert verdict(id, attempt) == (True, "correct.")


# Known mistakes, written differently --------------------------------------------------------------


def gru_untransposed(x, h, W_x, W_h):
    N = h.shape[1]
    W_hr, W_hz, W_hn = W_h[:N], W_h[N : 2 * N], W_h[2 * N :]
    a = x @ W_x.T
    r, z = torch.sigmoid(a[:, :N] + h @ W_hr), torch.sigmoid(a[:, N : 2 * N] + h @ W_hz)
    return (1 - z) * h + z * torch.tanh(a[:, 2 * N :] + (r * h) @ W_hn)


def path_backwards(f):
    out = [torch.ones_like(f[:, 0])]
    for f_t in reversed(f.unbind(1)):
        out.append(out[-1] * f_t)
    return torch.stack(out, dim=1)


def path_divided(f):
    left = [f.prod(1)]
    for f_t in f.unbind(1):
        left.append(left[-1] / f_t)
    return torch.stack(left, dim=1)


def states_batch_first(outputs, lengths):
    N = outputs.shape[2] // 2
    forward = outputs[torch.arange(len(lengths)), lengths - 1, :N]
    return torch.cat((forward, outputs[:, 0, N:]), -1)


def states_batch_first_by_loop(outputs, lengths):
    N, states = outputs.shape[2] // 2, torch.zeros(len(lengths), outputs.shape[2])
    for b in range(len(lengths)):
        states[b, :N], states[b, N:] = outputs[b, lengths[b] - 1, :N], outputs[b, 0, N:]
    return states


def chosen_among_the_good(scores, costs):
    means = scores.mean(1)
    error = scores[means.argmax()].std() / scores.shape[1] ** 0.5
    return costs[means >= means.max() - error].argmin().item()


NAMED = [
    ("fair_width", "strictly_below", lambda *sizes: width_from_above(sizes[0] - 1, *sizes[1:])),
    ("onnx_lstm", "cell_first", lambda *inputs: tuple(lstm_by_rows(*inputs))[::-1]),
    ("bahdanau_gru", "transposed", gru_untransposed),
    ("update_gate_at_0_6", "per_cent", 1.024),
    ("update_gate_at_0_6", "per_cent", 1.02),
    ("update_gate_at_0_6", "gone", 0.99),
    ("twenty_steps_at_bias_1", "one_gate_short", 0.0026),
    ("forget_bias", "logarithm_of_the_distance", lambda distance, share: math.log(distance)),
    ("forget_bias", "power_for_root", lambda distance, share: -math.log(1 / share**distance - 1)),
    ("direct_path", "last_first", path_backwards),
    ("bidirectional_final_states", "batch_first", states_batch_first),
    ("bidirectional_final_states", "batch_first_one_by_one", states_batch_first_by_loop),
    ("bidirectional_final_states", "last_row", lambda outputs, lengths: outputs[len(outputs) - 1]),
    ("bits_in_a_state", "one_more_always", lambda *sizes: int(units_in_parts(*sizes)) + 1),
    ("bits_in_a_state", "rounded_to_the_nearest", lambda *sizes: int(units_in_parts(*sizes) + 0.5)),
    ("one_standard_error", "counted_among_the_good", chosen_among_the_good),
]


def units_in_parts(length, vocab_size, bits):
    return length * math.log2(vocab_size) / bits


@pytest.mark.parametrize(("id", "mistake", "attempt"), NAMED)
def test_a_mistake_is_named_however_it_is_written(id, mistake, attempt):
    assert verdict(id, attempt) == (False, sentence(id, mistake))


# Wrong answers that are no known mistake ----------------------------------------------------------


def gru_with_one_gate(x, h, W_x, W_h):
    W_x, W_h = (torch.cat([z, z, n]) for _, z, n in (W_x.chunk(3), W_h.chunk(3)))
    return bahdanau_gru.gru_step(x, h, W_x, W_h)


WRONG = [
    *[
        ("lstm_parameters", 3583),
        ("fair_width", lambda *sizes: 1 + width_from_above(*sizes)),
        ("update_gate_at_0_6", 0.5),
    ],
    *[
        ("onnx_lstm", lambda x, h, c, *weights: (h, c)),
        ("bahdanau_gru", gru_with_one_gate),
        ("twenty_steps_at_bias_1", 0.5),
    ],
    *[
        ("convert_update_gate", lambda *weights: weights),
        ("forget_bias", lambda distance, share: 1.0),
    ],
    *[
        ("direct_path", path_divided),
        ("direct_path", lambda f: torch.ones(len(f), f.shape[1] + 1, f.shape[2])),
    ],
    *[
        ("bidirectional_final_states", lambda outputs, lengths: outputs.mean(0)),
        ("one_standard_error", lambda scores, costs: 0),
    ],
    *[("bits_in_a_state", lambda *sizes: math.ceil(units_in_parts(*sizes)) - 1)],
    (
        "chrono_initialisation",
        lambda u, longest: (-(1 + u * longest).log(), (1 + u * longest).log()),
    ),
]


@pytest.mark.parametrize(("id", "attempt"), WRONG)
def test_a_wrong_answer_gets_no_false_name(id, attempt):
    exercise = check.exercises[id]
    passed, says = exercise.judge(attempt)
    assert passed is False
    assert not says.endswith(tuple(m.says for m in exercise.mistakes.values()))
