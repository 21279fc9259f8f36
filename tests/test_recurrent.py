"""Recurrent layers give the library's numbers, in values, states and gradients; padding is unseen.

The library reads padded batches as packed sequences; what it has no layer for is held to a loop.
"""

import math

import pytest
import torch
from torch import nn
from torch.func import functional_call
from torch.nn import functional as F
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from utils import recurrent
from utils.recurrent import (
    GRU,
    LSTM,
    RNN,
    Bidirectional,
    Embedding,
    LanguageModel,
    SequenceClassifier,
    Streaming,
    detach,
    each,
    reverse,
)

EXACT = {"rtol": 0, "atol": 1e-10}
KINDS = [(RNN, nn.RNN), (LSTM, nn.LSTM), (GRU, nn.GRU)]
LAYERS = [RNN, LSTM, GRU, lambda D, N: GRU(D, N, reset="before")]
NAMES = ["RNN", "LSTM", "GRU", "GRU before"]
SIZES = [(3, 7, 4, 5), (4, 1, 2, 3), (1, 6, 5, 2), (5, 5, 3, 4)]  # B, T, D, N; once B = T


def draw(*size, seed=0):
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(*size, generator=generator, dtype=torch.float64)


def draw_lengths(B, T, seed=0):
    """Return lengths from 1 to T in no order; where there is room, one is 1 and one is T."""
    generator = torch.Generator().manual_seed(seed)
    lengths = torch.randint(1, T + 1, (B,), generator=generator)
    lengths[-1], lengths[0] = 1, T
    return lengths


def flat(state):
    return [part for s in state for part in flat(s)] if isinstance(state, tuple) else [state]


def build(layer, seed=0):
    """Give each parameter random numbers: a bias of 0 would hide where it is added."""
    for index, parameter in enumerate(layer.double().parameters()):
        parameter.data = draw(*parameter.shape, seed=seed + index) / math.sqrt(parameter.shape[-1])
    return layer


def library_run(library, x, state, lengths):
    """Return the library's outputs and final state ; a state is (L·directions, B, N)."""
    if lengths is None:
        return library(x, state)
    packed = pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False)
    outputs, state = library(packed, state)
    padded, _ = pad_packed_sequence(outputs, batch_first=True, total_length=x.shape[1])
    return padded, state


def weighted(*tensors):
    return sum((draw(*t.shape, seed=7 + i) * t).sum() for i, t in enumerate(tensors))


def gradients(tensors, inputs):
    return torch.autograd.grad(weighted(*tensors), inputs, retain_graph=True)


def assert_close(ours, expected):
    for a, b in zip(ours, expected, strict=True):
        torch.testing.assert_close(a, b, **EXACT)


# Equal to the library -----------------------------------------------------------------------------


@pytest.mark.parametrize(("kind", "library_kind"), KINDS, ids=NAMES[:3])
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("padded", [False, True])
@pytest.mark.parametrize("with_state", [False, True])
def test_a_layer_equals_the_librarys_with_gradients(kind, library_kind, size, padded, with_state):
    B, T, D, N = size
    library = build(library_kind(D, N, batch_first=True))
    ours = kind(D, N).double()
    ours.load_library(library)
    x = draw(B, T, D, seed=20).requires_grad_()
    states = [draw(B, N, seed=30 + i).requires_grad_() for i in range(1 + (kind is LSTM))]
    lengths = draw_lengths(B, T) if padded else None
    given = tuple(states) if kind is LSTM else states[0]
    theirs = each(lambda s: s[None], given)
    y, last = ours(x, given if with_state else None, lengths)
    expected_y, expected_last = library_run(library, x, theirs if with_state else None, lengths)
    y, expected_y = [y, *flat(last)], [expected_y, *(s[0] for s in flat(expected_last))]
    assert_close(y, expected_y)
    inputs = [x, *states] if with_state else [x]
    assert_close(gradients(y, inputs), gradients(expected_y, inputs))
    W_x, W_h, b_x, b_h = gradients(expected_y, list(library.parameters()))
    expected = {"W_x": W_x, "W_h": W_h, "b": b_x, "b_n": b_h[2 * N :]}
    names, parameters = zip(*ours.named_parameters(), strict=True)
    assert_close(gradients(y, parameters), [expected[name] for name in names])


@pytest.mark.parametrize(("kind", "library_kind"), KINDS, ids=NAMES[:3])
@pytest.mark.parametrize("padded", [False, True])
def test_a_layer_in_two_directions_equals_the_librarys_with_gradients(kind, library_kind, padded):
    B, T, D, N = 4, 6, 3, 5
    library = build(library_kind(D, N, batch_first=True, bidirectional=True))
    ours = Bidirectional(kind(D, N), kind(D, N)).double()
    ours.load_library(library)
    x = draw(B, T, D).requires_grad_()
    lengths = draw_lengths(B, T) if padded else None
    y, last = ours(x, lengths=lengths)
    expected_y, expected_last = library_run(library, x, None, lengths)
    y = [y, *flat(last)]
    expected_y = [expected_y, *(torch.cat([*s], dim=1) for s in flat(expected_last))]  # (2, B, N)
    assert_close(y, expected_y)
    assert_close(gradients(y, [x]), gradients(expected_y, [x]))
    assert torch.equal(ours.hidden(last), flat(last)[0])


# Equal to a loop ----------------------------------------------------------------------------------


def cho_loop(layer, sequence, h):
    """Read one sequence (T, D) number by number as in Cho et al. (2014), eq. 5 to 8."""
    N = layer.hidden_size
    W_x, W_h, b = layer.W_x, layer.W_h, layer.b
    for x in sequence:
        r = [torch.sigmoid(W_x[j] @ x + W_h[j] @ h + b[j]) for j in range(N)]
        z = [torch.sigmoid(W_x[N + j] @ x + W_h[N + j] @ h + b[N + j]) for j in range(N)]
        reset = torch.stack([r[j] * h[j] for j in range(N)])
        new = [torch.tanh(W_x[k] @ x + W_h[k] @ reset + b[k]) for k in range(2 * N, 3 * N)]
        h = torch.stack([z[j] * h[j] + (1 - z[j]) * new[j] for j in range(N)])
    return h


@pytest.mark.parametrize("size", SIZES)
def test_gru_with_the_reset_before_equals_chos_equations(size):
    B, T, D, N = size
    layer = build(GRU(D, N, reset="before"))
    x, h = draw(B, T, D).requires_grad_(), draw(B, N, seed=1).requires_grad_()
    lengths = draw_lengths(B, T)
    y, last = layer(x, h, lengths)
    loop = [cho_loop(layer, x[b, : lengths[b]], h[b]) for b in range(B)]
    torch.testing.assert_close(last, torch.stack(loop), **EXACT)
    inputs = [x, h, *layer.parameters()]
    assert_close(gradients([last], inputs), gradients([torch.stack(loop)], inputs))
    shown = [cho_loop(layer, x[0, : t + 1], h[0]) for t in range(T)]
    torch.testing.assert_close(y[0], torch.stack(shown), **EXACT)


def test_the_two_resets_differ_and_agree_where_the_reset_gate_is_open():
    library = build(nn.GRU(3, 4, batch_first=True))
    x = draw(2, 6, 3)
    before, after = GRU(3, 4, reset="before").double(), GRU(3, 4, reset="after").double()
    after.load_library(library)
    same = {name: value for name, value in after.state_dict().items() if name != "b_n"}
    same["b"] = same["b"] + torch.cat([torch.zeros(8).double(), after.b_n.detach()])
    before.load_state_dict(same)
    assert before.b_n is None and sum(p.numel() for p in after.parameters()) == 3 * 4 * 8 + 4
    assert (before(x)[1] - after(x)[1]).abs().max() > 1e-3
    with torch.no_grad():
        for layer in (before, after):
            layer.b[:4] = 1000  # r = 1
    torch.testing.assert_close(before(x)[1], after(x)[1], **EXACT)


@pytest.mark.parametrize("make", LAYERS, ids=NAMES)
def test_the_steps_of_the_cell_are_those_of_the_layer(make):
    layer = build(make(3, 5))
    x = draw(4, 6, 3).requires_grad_()
    state, shown, all_states = layer.initial_state(4), [], []
    for x_t in x.unbind(1):
        state = layer.cell(x_t, state)
        shown.append(layer.hidden(state))
        all_states.append(flat(state)[-1])
    y, last = layer(x)
    expected = [torch.stack(shown, dim=1), *flat(state)]
    assert_close([y, *flat(last)], expected)
    inputs = [x, *layer.parameters()]
    assert_close(gradients([y, *flat(last)], inputs), gradients(expected, inputs))
    # a state in the middle, with what it keeps to itself
    middle = layer(x, lengths=torch.full((4,), 3))[1]
    torch.testing.assert_close(flat(middle)[-1], all_states[2], **EXACT)


@pytest.mark.parametrize("lengths", [None, [4, 1]])
def test_the_lstms_walk_back_through_time_has_the_gradient_of_its_numbers(lengths):
    layer = build(LSTM(2, 3))
    names, weights = zip(*layer.named_parameters(), strict=True)
    lengths = None if lengths is None else torch.tensor(lengths)

    def run(x, h, c, *weights):
        weights = dict(zip(names, weights, strict=True))
        y, (h, c) = functional_call(layer, weights, (x, (h, c), lengths))
        return y, h, c

    inputs = [draw(2, 4, 2), draw(2, 3, seed=1), draw(2, 3, seed=2)]
    inputs = [x.requires_grad_() for x in inputs]
    assert torch.autograd.gradcheck(run, (*inputs, *weights))


def test_the_lstm_says_that_it_has_no_second_derivative_and_its_cell_has():
    layer = build(LSTM(2, 3))
    x = draw(1, 4, 2).requires_grad_()
    with pytest.raises(RuntimeError, match="`cell`"):
        torch.autograd.grad(layer(x)[0].sum(), x, create_graph=True)
    h, _ = layer.cell(x[:, 0], layer.initial_state(1))
    (gradient,) = torch.autograd.grad(h.sum(), x, create_graph=True)
    gradient.sum().backward()
    assert x.grad.abs().max() > 0


# Gates --------------------------------------------------------------------------------------------


def with_bias(layer, block, value):
    N = layer.hidden_size
    with torch.no_grad():
        layer.b[block * N : (block + 1) * N] = value
    return layer


def test_lstm_gates_stand_in_the_order_input_forget_new_output():
    x_t, h, c = draw(2, 3), draw(2, 4, seed=1), draw(2, 4, seed=2)
    i, f, g, o = build(LSTM(3, 4)).gates(x_t, (h, c))
    next_h, next_c = build(LSTM(3, 4)).cell(x_t, (h, c))
    torch.testing.assert_close(next_c, f * c + i * g, **EXACT)
    torch.testing.assert_close(next_h, o * torch.tanh(next_c), **EXACT)
    shut = with_bias(build(LSTM(3, 4)), 0, -1000)  # i = 0: nothing is written
    assert torch.equal(shut.cell(x_t, (h, c))[1], f * c)
    forgetting = with_bias(build(LSTM(3, 4)), 1, -1000)  # f = 0: nothing is kept
    assert torch.equal(forgetting.cell(x_t, (h, c))[1], i * g)
    saturated = with_bias(build(LSTM(3, 4)), 2, -1000)
    assert torch.equal(saturated.gates(x_t, (h, c))[2], torch.full_like(g, -1))
    hidden = with_bias(build(LSTM(3, 4)), 3, -1000)  # o = 0: nothing is shown
    assert torch.equal(hidden.cell(x_t, (h, c))[0], torch.zeros_like(h))


@pytest.mark.parametrize("reset", ["before", "after"])
def test_gru_gates_stand_in_the_order_reset_update_new(reset):
    def layer():
        return build(GRU(3, 4, reset))

    x_t, h = draw(2, 3), draw(2, 4, seed=1)
    r, z, n = layer().gates(x_t, h)
    assert all(((0 < gate) & (gate < 1)).all() for gate in (r, z)) and (n < 0).any()
    torch.testing.assert_close(layer().cell(x_t, h), z * h + (1 - z) * n, **EXACT)
    deaf = with_bias(layer(), 0, -1000)  # r = 0: the new value hears nothing of the state
    new = deaf.gates(x_t, h)[2]
    assert torch.equal(new, deaf.gates(x_t, 5 * h)[2]) and not torch.equal(new, n)
    keeping = with_bias(layer(), 1, 1000)  # z = 1: the state stays
    torch.testing.assert_close(keeping.cell(x_t, h), h, **EXACT)
    new_alone = with_bias(layer(), 1, -1000)
    torch.testing.assert_close(new_alone.cell(x_t, h), n, **EXACT)


def test_a_closed_cell_keeps_its_content_over_a_hundred_steps():
    layer = with_bias(with_bias(build(LSTM(3, 4)), 0, -1000), 1, 1000)
    h, c = draw(2, 4), draw(2, 4, seed=1).requires_grad_()
    _, (_, last) = layer(draw(2, 100, 3), (h, c))
    assert torch.equal(last, c)
    assert torch.equal(torch.autograd.grad(last.sum(), c)[0], torch.ones_like(c))


@pytest.mark.parametrize("forget_bias", [0, 1, 2.5])
def test_the_forget_gates_bias_begins_where_it_is_set_and_all_others_at_zero(forget_bias):
    layer = LSTM(3, 4, forget_bias=forget_bias)
    assert layer.b.tolist() == [0] * 4 + [forget_bias] * 4 + [0] * 8
    state = (torch.zeros(1, 4), torch.ones(1, 4))
    _, f, _, _ = layer.gates(torch.zeros(1, 3), state)
    torch.testing.assert_close(f, torch.full((1, 4), 1 / (1 + math.exp(-forget_bias))))
    assert torch.equal(LSTM(3, 4).b, LSTM(3, 4, forget_bias=1).b)


# Parameters ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("make", LAYERS, ids=NAMES)
def test_weights_begin_as_the_librarys_do_and_follow_the_seed(make):
    layers = []
    for seed in (0, 0, 1):
        torch.manual_seed(seed)
        layers.append(make(30, 25))
    for name in ("W_x", "W_h"):
        first, same, other = (getattr(layer, name) for layer in layers)
        assert torch.equal(first, same) and not torch.equal(first, other)
        assert 0.19 < first.abs().max() <= 1 / math.sqrt(25)
        assert abs(first.mean()) < 0.02
    assert all(
        (layer.b_n == 0).all() for layer in layers if getattr(layer, "b_n", None) is not None
    )


def test_parameters_are_four_and_three_times_those_of_the_simple_layer():
    counts = [sum(p.numel() for p in make(7, 5).parameters()) for make in LAYERS]
    simple = 5 * (7 + 5 + 1)
    assert counts == [simple, 4 * simple, 3 * simple + 5, 3 * simple]


@pytest.mark.parametrize(("kind", "library_kind"), KINDS, ids=NAMES[:3])
def test_only_a_layer_of_the_same_kind_and_size_is_loaded(kind, library_kind):
    ours = kind(3, 4)
    before = {name: value.clone() for name, value in ours.state_dict().items()}
    other_kind = next(other for _, other in KINDS if other is not library_kind)
    how = {"batch_first": True}
    for wrong in (
        *[library_kind(2, 4, **how), library_kind(3, 5, **how), library_kind(1, 1, **how)],
        *[other_kind(3, 4, **how), library_kind(3, 4, bias=False, **how), nn.Linear(3, 4)],
    ):
        name = type(wrong).__name__
        with pytest.raises(ValueError, match=f"{ours.library_mode} .* 3 .* 4 .* {name}"):
            ours.load_library(wrong)
    with pytest.raises(ValueError, match=f" {ours.library_mode} "):
        ours.load_direction(library_kind(3, 4), reverse=True)
    assert all(torch.equal(before[name], value) for name, value in ours.state_dict().items())


def test_an_rnn_with_relu_is_another_layer():
    with pytest.raises(ValueError, match="RNN_TANH .* RNN_RELU"):
        RNN(3, 4).load_library(nn.RNN(3, 4, nonlinearity="relu", batch_first=True))


def make_library(kind=nn.GRU, n_layers=1, both=False, batch_first=True):
    how = {"bidirectional": both, "batch_first": batch_first}
    return kind(3, 4, n_layers, **how)


OTHERS = {
    "two layers": (lambda: RNN(3, 4), lambda: make_library(nn.RNN, 2), "num_layers=1"),
    "both ways": (lambda: LSTM(3, 4), lambda: make_library(nn.LSTM, both=True), "bidirectional=F"),
    "time first": (lambda: GRU(3, 4), lambda: make_library(batch_first=False), "batch_first=True"),
    "one way": (lambda: Bidirectional(GRU(3, 4), GRU(3, 4)), make_library, "bidirectional=True"),
    "layers both ways": (
        lambda: Bidirectional(GRU(3, 4), GRU(3, 4)),
        lambda: make_library(n_layers=2, both=True),
        "num_layers=1",
    ),
    "another reset": (lambda: GRU(3, 4, reset="before"), make_library, 'reset="after"'),
    "a projection": (
        lambda: LSTM(3, 4),
        lambda: nn.LSTM(3, 4, batch_first=True, proj_size=2),
        " 3 .* 4 .*proj_size=2",
    ),
}


@pytest.mark.parametrize(("make", "library", "sentence"), OTHERS.values(), ids=OTHERS.keys())
def test_what_computes_something_else_is_not_loaded(make, library, sentence):
    ours = make()
    before = {name: value.clone() for name, value in ours.state_dict().items()}
    with pytest.raises(ValueError, match=sentence) as caught:
        ours.load_library(library())
    assert_one_sentence(str(caught.value))
    assert all(torch.equal(before[name], value) for name, value in ours.state_dict().items())


@pytest.mark.filterwarnings("ignore:dropout option")
def test_dropout_of_a_single_layer_does_nothing_so_it_is_loaded():
    library = nn.GRU(3, 4, batch_first=True, dropout=0.3)
    ours = GRU(3, 4)
    ours.load_library(library)
    torch.testing.assert_close(ours(X)[0], library(X)[0])


# Batches, padding and time ------------------------------------------------------------------------


@pytest.mark.parametrize("make", LAYERS, ids=NAMES)
def test_padding_is_unseen_and_the_last_state_is_that_of_the_unpadded_sequence(make):
    layer = build(make(3, 4))
    x, lengths = draw(3, 7, 3).requires_grad_(), torch.tensor([4, 7, 1])
    y, last = layer(x, lengths=lengths)
    for b, length in enumerate(lengths):
        alone, alone_last = layer(x[b : b + 1, :length])
        assert_close([y[b : b + 1, :length]], [alone])
        assert_close([s[b : b + 1] for s in flat(last)], flat(alone_last))
        assert torch.equal(y[b, length:], torch.zeros(7 - length, 4, dtype=torch.float64))
    (gradient,) = gradients([y, *flat(last)], [x])
    moved = x.detach().clone()
    for b, length in enumerate(lengths):
        assert (gradient[b, :length] != 0).all() and (gradient[b, length:] == 0).all()
        moved[b, length:] = 50 * draw(7 - length, 3, seed=9)
    z, moved_last = layer(moved, lengths=lengths.to(torch.uint8))
    pairs = zip([y, *flat(last)], [z, *flat(moved_last)], strict=True)
    assert all(torch.equal(a, b) for a, b in pairs)
    unread = layer(x)[1]  # without lengths, the padding is read like any other input
    assert (flat(unread)[0][[0, 2]] != flat(last)[0][[0, 2]]).all()


@pytest.mark.parametrize("make", LAYERS, ids=NAMES)
def test_sequences_of_a_batch_are_independent_and_no_step_sees_a_later_one(make):
    layer = build(make(3, 4))
    x = draw(5, 5, 3).requires_grad_()  # B = T: exchanged axes would go unnoticed by shape
    y, _ = layer(x)
    (gradient,) = torch.autograd.grad(y[1, 3].sum(), x, retain_graph=True)
    assert (gradient[1, :4] != 0).all() and (gradient[1, 4:] == 0).all()
    assert (gradient[[0, 2, 3, 4]] == 0).all()


@pytest.mark.parametrize("make", LAYERS, ids=NAMES)
def test_nothing_is_left_over_from_one_batch_to_the_next(make):
    layer = build(make(3, 4))
    x = draw(5, 6, 3)
    first, _ = layer(x)
    first.sum().backward()
    layer(draw(5, 6, 3, seed=1))[0].sum().backward()  # would fail if it reached the first graph
    again, _ = layer(x)
    assert torch.equal(first, again)
    smaller, _ = layer(x[:2])  # the last batch of an epoch
    torch.testing.assert_close(smaller, first[:2], **EXACT)


@pytest.mark.parametrize("make", LAYERS, ids=NAMES)
def test_detach_cuts_the_graph_between_chunks_and_leaves_the_numbers(make):
    layer = build(make(3, 4))
    x = draw(2, 9, 3).requires_grad_()
    whole, last = layer(x)
    _, state = layer(x[:, :5])
    cut = detach(state)
    assert not any(s.requires_grad for s in flat(cut))
    assert all(torch.equal(a, b) for a, b in zip(flat(cut), flat(state), strict=True))
    rest, rest_last = layer(x[:, 5:], cut)
    assert_close([rest, *flat(rest_last)], [whole[:, 5:], *flat(last)])
    (gradient,) = torch.autograd.grad(rest.sum(), x)
    assert (gradient[:, 5:] != 0).all() and (gradient[:, :5] == 0).all()
    # undetached, the second chunk's gradient runs back through the first one's graph
    outputs, state = layer(x[:, :5])
    outputs.sum().backward()
    with pytest.raises(RuntimeError, match="backward through the graph a second time"):
        layer(x[:, 5:], state)[0].sum().backward()


def test_detach_and_each_keep_the_form_of_nested_states():
    h, c = draw(2, 3).requires_grad_(), draw(2, 4).requires_grad_()
    state = detach(((h, c), h))
    assert isinstance(state, tuple) and isinstance(state[0], tuple) and len(state) == 2
    assert torch.equal(state[0][1], c) and not state[0][1].requires_grad and c.requires_grad
    assert each(lambda s: s.shape[1], ((h, c), h)) == ((3, 4), 3)


# Two directions -----------------------------------------------------------------------------------


def test_reverse_turns_real_steps_around_and_leaves_padding_at_the_end():
    x = torch.tensor([[1, 2, 3, 0, 0], [4, 5, 6, 7, 8], [9, 0, 0, 0, 0]])
    turned = reverse(x, torch.tensor([3, 5, 1]))
    assert turned[:, :3].tolist() == [[3, 2, 1], [8, 7, 6], [9, 0, 0]]
    assert turned[1].tolist() == [8, 7, 6, 5, 4]
    assert reverse(x).tolist() == [[0, 0, 3, 2, 1], [8, 7, 6, 5, 4], [0, 0, 0, 0, 9]]
    vectors, lengths = draw(3, 5, 2), torch.tensor([3, 5, 1])
    assert torch.equal(reverse(reverse(vectors, lengths), lengths), vectors)
    assert reverse(vectors.to("meta"), lengths).device.type == "meta"  # with lengths on the CPU


@pytest.mark.parametrize("make", LAYERS, ids=NAMES)
def test_both_directions_end_at_their_own_ends(make):
    layer = Bidirectional(build(make(3, 4)), build(make(3, 5), seed=5))
    assert (layer.input_size, layer.output_size) == (3, 9)
    x, lengths = draw(3, 6, 3), torch.tensor([4, 6, 1])
    y, last = layer(x, lengths=lengths)
    final = layer.hidden(last)
    assert y.shape == (3, 6, 9) and final.shape == (3, 9)
    for b, length in enumerate(lengths):
        assert torch.equal(final[b, :4], y[b, length - 1, :4])
        assert torch.equal(final[b, 4:], y[b, 0, 4:])
        assert (y[b, length:] == 0).all()
    assert (final[:2, 4:] != y[range(2), lengths[:2] - 1, 4:]).all()  # the tempting mistake
    backwards, _ = layer.back(x[:1, :4].flip(1))
    torch.testing.assert_close(y[:1, :4, 4:], backwards.flip(1), **EXACT)


def test_each_step_of_a_bidirectional_layer_sees_past_and_future():
    layer = Bidirectional(build(GRU(3, 4)), build(GRU(3, 5), seed=5))
    x = draw(2, 6, 3).requires_grad_()
    y, _ = layer(x, lengths=torch.tensor([6, 4]))
    (ahead,) = torch.autograd.grad(y[0, 2, :4].sum(), x, retain_graph=True)
    (back,) = torch.autograd.grad(y[0, 2, 4:].sum(), x, retain_graph=True)
    assert (ahead[0, :3] != 0).all() and (ahead[0, 3:] == 0).all()
    assert (back[0, 2:] != 0).all() and (back[0, :2] == 0).all()
    (back,) = torch.autograd.grad(y[1, 0, 4:].sum(), x)
    assert (back[1, :4] != 0).all() and (back[1, 4:] == 0).all() and (back[0] == 0).all()


# Models -------------------------------------------------------------------------------------------

MODEL_LAYERS = {
    "RNN": lambda: RNN(3, 4),
    "LSTM": lambda: LSTM(3, 4),
    "GRU": lambda: GRU(3, 4),
}


@pytest.mark.parametrize("make", MODEL_LAYERS.values(), ids=MODEL_LAYERS.keys())
def test_a_language_model_gives_the_same_logits_whole_in_chunks_and_symbol_by_symbol(make):
    model = build(LanguageModel(11, 3, make()))
    ids = torch.randint(11, (2, 7), generator=torch.Generator().manual_seed(0))
    logits, last = model(ids)
    assert logits.shape == (2, 7, 11)
    for chunk in (1, 3):
        state, parts = None, []
        for start in range(0, 7, chunk):
            part, state = model(ids[:, start : start + chunk], state)
            parts.append(part)
        assert_close([torch.cat(parts, dim=1), *flat(state)], [logits, *flat(last)])
    changed = ids.clone()
    changed[:, 4] = (ids[:, 4] + 1) % 11
    differs = (model(changed)[0] != logits).any(dim=2)
    assert differs.tolist() == [[False] * 4 + [True] * 3] * 2  # no symbol sees a later one
    _, early = model(ids, lengths=torch.tensor([7, 4]))
    torch.testing.assert_close(flat(early)[0][1:], flat(model(ids[1:, :4])[1])[0], **EXACT)


def test_a_language_model_is_an_embedding_a_layer_and_a_dense_layer():
    model = build(LanguageModel(11, 3, GRU(3, 4)))
    ids = torch.tensor([[5, 9]])
    h = model.layer.cell(model.embedding.weight[[9]], model.layer(model.embedding(ids[:, :1]))[1])
    expected = h @ model.output.weight.T + model.output.bias
    torch.testing.assert_close(model(ids)[0][:, 1], expected, **EXACT)
    assert len(list(model.parameters())) == 1 + 4 + 2


@pytest.mark.parametrize("kind", [RNN, LSTM])
def test_streaming_carries_the_state_on_and_cuts_its_gradient(kind):
    torch.manual_seed(0)
    model = LanguageModel(7, 3, kind(3, 5)).double()
    streaming = Streaming(model)
    ids = torch.randint(7, (2, 9))
    whole = model(ids)[0].transpose(1, 2)  # (B, V, T)
    first = streaming(ids[:, :4], torch.tensor(True))
    second = streaming(ids[:, 4:], torch.tensor(False))
    torch.testing.assert_close(torch.cat([first, second], dim=2), whole, **EXACT)
    rows = torch.autograd.grad(second.sum(), model.embedding.weight)[0].abs().sum(1) > 0
    assert rows.nonzero().flatten().tolist() == sorted(set(ids[:, 4:].flatten().tolist()))


def test_streaming_begins_anew_where_a_text_begins():
    torch.manual_seed(0)
    streaming = Streaming(LanguageModel(7, 3, RNN(3, 5)))
    ids = torch.randint(7, (2, 4))
    fresh = streaming(ids, torch.tensor(True))
    assert not torch.equal(streaming(ids, torch.tensor(False)), fresh)
    assert torch.equal(streaming(ids, torch.tensor(True)), fresh)
    assert streaming(ids[:1], torch.tensor(True)).shape == (1, 7, 4)  # a smaller batch, a new text


def test_a_layer_says_what_it_reads_and_writes():
    for layer, sizes in (
        (RNN(3, 4), (3, 4)),
        (Bidirectional(LSTM(3, 4), LSTM(3, 6)), (3, 10)),
    ):
        assert (layer.input_size, layer.output_size) == sizes
        assert layer(draw(2, 7, 3).float())[0].shape == (2, 7, sizes[1])


READERS = MODEL_LAYERS | {
    "both directions": lambda: Bidirectional(LSTM(3, 4), LSTM(3, 6)),
}


@pytest.mark.parametrize("make", READERS.values(), ids=READERS.keys())
def test_a_classifier_reads_each_sequence_to_its_own_end(make):
    model = build(SequenceClassifier(11, 3, make(), n_classes=6))
    ids = torch.randint(11, (4, 7), generator=torch.Generator().manual_seed(0))
    lengths = torch.tensor([5, 7, 1, 3])
    logits = model(ids, lengths)
    assert logits.shape == (4, 6)
    for b, length in enumerate(lengths):
        torch.testing.assert_close(logits[b : b + 1], model(ids[b : b + 1, :length]), **EXACT)
    longer = F.pad(ids, (0, 3), value=8)
    torch.testing.assert_close(model(longer, lengths), logits, **EXACT)
    assert (model(ids)[0] != logits[0]).all()  # the padding, read, would have changed it


def test_a_classifier_learns_what_stands_at_the_start_of_each_sequence():
    torch.manual_seed(0)
    model = SequenceClassifier(5, 4, GRU(4, 8), n_classes=5)
    optimiser = torch.optim.Adam(model.parameters(), lr=0.03)
    ids, lengths = torch.randint(5, (64, 6)), torch.randint(1, 7, (64,))
    for _ in range(40):
        optimiser.zero_grad()
        F.cross_entropy(model(ids, lengths), ids[:, 0]).backward()
        optimiser.step()
    assert (model(ids, lengths).argmax(dim=1) == ids[:, 0]).float().mean() > 0.95


# Padding, precision, compilation ------------------------------------------------------------------


@pytest.mark.parametrize("bad", [math.nan, math.inf])
@pytest.mark.parametrize("make", LAYERS, ids=NAMES)
def test_what_padding_holds_reaches_no_output_and_no_gradient(make, bad):
    one_way, both = build(make(3, 4)), build(Bidirectional(make(3, 4), make(3, 4)))
    lengths = torch.tensor([6, 2, 1])
    padding = torch.arange(6) >= lengths[:, None]
    for layer in (one_way, both):
        results = []
        for fill in (bad, 0.7):
            x = draw(3, 6, 3).masked_fill(padding[:, :, None], fill).requires_grad_()
            y, last = layer(x, lengths=lengths)
            y = [y, *flat(last)]
            results.append([*y, *gradients(y, [x, *layer.parameters()])])
        for poisoned, clean in zip(*results, strict=True):
            assert clean.abs().max() > 0
            assert torch.equal(poisoned, clean)


@pytest.mark.filterwarnings("ignore:TF32 acceleration")
@pytest.mark.parametrize(("kind", "library_kind"), KINDS, ids=NAMES[:3])
def test_mixed_precision_works_as_the_librarys_does(kind, library_kind):
    torch.manual_seed(0)
    library = library_kind(6, 8, batch_first=True)
    ours = kind(6, 8)
    ours.load_library(library)
    x = torch.randn(4, 5, 6)
    results = []
    for layer in (ours, library):
        leaf = x.clone().requires_grad_()
        # oneDNN has no bfloat16 LSTM for each processor, the library without it has one for all
        with torch.autocast("cpu", torch.bfloat16), torch.backends.mkldnn.flags(enabled=False):
            _, state = layer(leaf)
            y, state = layer(leaf, state)  # goes on from what a step has left
        y.float().square().sum().backward()
        results.append([y.float(), *(s.float().squeeze(0) for s in flat(state)), leaf.grad])
        assert all(p.grad.dtype == p.dtype == torch.float32 for p in layer.parameters())
        assert leaf.grad.dtype == torch.float32
        results[-1].append((layer.W_h if layer is ours else layer.weight_hh_l0).grad)
    for mine, theirs in zip(*results, strict=True):
        torch.testing.assert_close(mine, theirs, rtol=0.05, atol=0.05)


@pytest.mark.parametrize("make", LAYERS, ids=NAMES)
def test_models_train_in_mixed_precision(make):
    torch.manual_seed(0)
    both = Bidirectional(make(6, 4), make(6, 4))
    classifier, language = SequenceClassifier(9, 6, both, 3), LanguageModel(9, 6, make(6, 8))
    ids, lengths = torch.randint(9, (4, 5)), torch.tensor([5, 2, 1, 4])
    for model, read in (
        (classifier, lambda: classifier(ids, lengths)),
        (language, lambda: language(ids, lengths=lengths)[0]),
    ):
        with torch.autocast("cpu", torch.bfloat16):
            y = read()
            y.float().square().sum().backward()
        assert y.dtype == torch.bfloat16
        for parameter in model.parameters():
            assert parameter.grad.dtype == torch.float32 and parameter.grad.isfinite().all()


@pytest.mark.parametrize("make", LAYERS, ids=NAMES)
def test_a_step_of_the_cell_works_in_mixed_precision(make):
    layer = make(3, 4)
    with torch.autocast("cpu", torch.bfloat16):
        state = layer.cell(torch.randn(2, 3), layer.initial_state(2))
        state = layer.cell(torch.randn(2, 3), state)
    assert all(part.dtype == torch.bfloat16 for part in flat(state))


@pytest.mark.parametrize("make", LAYERS, ids=NAMES)
def test_models_compile_whole(make):
    torch.compiler.reset()
    torch.manual_seed(0)
    both = Bidirectional(make(3, 2), make(3, 2))
    classifier = SequenceClassifier(5, 3, both, 2)
    language = LanguageModel(5, 3, make(3, 4))
    ids, lengths = torch.randint(5, (2, 3)), torch.tensor([3, 1])
    for model, read in (
        (classifier, lambda model: model(ids, lengths)),
        (language, lambda model: model(ids)[0]),
        (Streaming(language), lambda model: model(ids, True) + model(ids, False)),
    ):
        results = []
        for form in (model, torch.compile(model, backend="eager", fullgraph=True)):
            y = read(form)
            results.append([y, *torch.autograd.grad(y.square().sum(), list(model.parameters()))])
        for compiled, eager in zip(*results, strict=True):
            torch.testing.assert_close(compiled, eager)


@pytest.mark.parametrize(("kind", "library_kind"), KINDS, ids=NAMES[:3])
def test_a_batch_without_a_sequence_is_read_as_the_library_reads_it(kind, library_kind):
    library, ours = library_kind(3, 4, batch_first=True), kind(3, 4)
    x = X[:0].clone().requires_grad_()
    for y in (library(x)[0], ours(x)[0], ours(x, lengths=FULL[:0])[0]):
        assert y.shape == (0, 5, 4)
        y.sum().backward()
        assert x.grad.shape == (0, 5, 3)
    assert Bidirectional(kind(3, 4), kind(3, 4))(x)[0].shape == (0, 5, 8)
    assert LanguageModel(7, 3, kind(3, 4))(torch.zeros(0, 5, dtype=torch.int64))[0].shape == (
        0,
        5,
        7,
    )


# Bad inputs ---------------------------------------------------------------------------------------

X, H = torch.zeros(2, 5, 3), torch.zeros(2, 4)
FULL = torch.tensor([5, 2])

BAD = {
    "width": (lambda layer: layer(torch.zeros(2, 5, 4)), r" 3\), .*\(2, 5, 4\)"),
    "no batch": (lambda layer: layer(X[0]), r" 3\), .*\(5, 3\)"),
    "no step": (lambda layer: layer(X[:, :0]), r"no step .*\(2, 0, 3\)"),
    "length 0": (lambda layer: layer(X, lengths=torch.tensor([5, 0])), "length .* 0,"),
    "negative": (lambda layer: layer(X, lengths=-FULL), "length .* -5,"),
    "too long": (lambda layer: layer(X, lengths=FULL + 1), "length .* 6, .* 5 "),
    "lengths' batch": (lambda layer: layer(X, lengths=FULL[:1]), r" 2 .*\(1,\) .*int64"),
    "lengths' axes": (lambda layer: layer(X, lengths=FULL[None]), r" 2 .*\(1, 2\)"),
    "half steps": (lambda layer: layer(X, lengths=FULL.float()), " 2 .*lengths.* torch.float32"),
    "listed lengths": (lambda layer: layer(X, lengths=[5, 3]), " 2 .*lengths.* list"),
    "a mask": (lambda layer: layer(X, lengths=FULL > 1), " 2 .*lengths.* torch.bool"),
    "a list": (lambda layer: layer(X.tolist()), r" 3\), .* list"),
}
STATES = {
    "last batch's state": (RNN, H[:1], r"\(2, 4\) .*\(1, 4\)"),
    "width of a state": (GRU, H[:, :3], r"\(2, 4\) .*\(2, 3\)"),
    "library's axis": (RNN, H[None], r"\(2, 4\) .*\(1, 2, 4\)"),
    "h alone": (LSTM, H, r"\(\(2, 4\), \(2, 4\)\) .* \(2, 4\)"),
    "batch of c": (LSTM, (H, H[:1]), r"\(\(2, 4\), \(1, 4\)\)"),
    "digits": (RNN, H.double(), "torch.float32, .* torch.float64"),
    "digits of c": (LSTM, (H, H.double()), "torch.float32, .* torch.float64"),
    "h and c": (GRU, (H, H), r" \(2, 4\) .*\(\(2, 4\), \(2, 4\)\)"),
}


def assert_one_sentence(message: str) -> None:
    assert message.endswith(".") and "\n" not in message and message.count(". ") == 0


@pytest.mark.parametrize("make", LAYERS, ids=NAMES)
@pytest.mark.parametrize(("call", "sentence"), BAD.values(), ids=BAD.keys())
def test_bad_sequences_get_one_sentence(make, call, sentence):
    both = Bidirectional(make(3, 4), make(3, 4))
    for layer in (make(3, 4), both):
        with pytest.raises(ValueError, match=sentence) as caught:
            call(layer)
        assert_one_sentence(str(caught.value))


@pytest.mark.parametrize(("kind", "state", "sentence"), STATES.values(), ids=STATES.keys())
def test_a_bad_state_gets_one_sentence(kind, state, sentence):
    with pytest.raises(ValueError, match=sentence) as caught:
        kind(3, 4)(X, state)
    assert_one_sentence(str(caught.value))


BUILDS = {
    "reset": (lambda: GRU(3, 4, reset="later"), "reset 'later': .*'before', 'after'"),
    "kinds": (lambda: Bidirectional(RNN(3, 4), GRU(3, 4)), "RNN .* 3 .*GRU .* 3 "),
    "widths": (lambda: Bidirectional(RNN(3, 4), RNN(2, 4)), "RNN .* 3 .*RNN .* 2 "),
    "no unit": (lambda: LSTM(3, 0), "hidden_size .* 0"),
    "no input": (lambda: GRU(-1, 4), "input_size .* -1"),
    "half a unit": (lambda: RNN(3, 2.5), "hidden_size .* 2.5"),
    "no class": (lambda: SequenceClassifier(5, 3, RNN(3, 4), 0), "n_classes .* 0"),
    "state": (lambda: Bidirectional(RNN(3, 4), RNN(3, 4))(X, H), "state out"),
}


@pytest.mark.parametrize(("call", "sentence"), BUILDS.values(), ids=BUILDS.keys())
def test_what_does_not_fit_together_gets_one_sentence(call, sentence):
    with pytest.raises(ValueError, match=sentence) as caught:
        call()
    assert_one_sentence(str(caught.value))


IDS = {
    "beyond": (torch.tensor([[0, 6], [7, 1]]), " 6 .* 7"),
    "below": (torch.tensor([[0, -1], [9, 1]]), " 6 .* -1"),
    "half": (torch.ones(2, 3), r"\(2, 3\) .*torch.float32"),
    "a mask": (torch.ones(2, 3, dtype=torch.bool), r"\(2, 3\) .*torch.bool"),
    "one text": (torch.tensor([1, 2]), r"\(2,\) .*torch.int64"),
    "a list": ([[1, 2]], "ids .* list"),
}


@pytest.mark.parametrize(("ids", "sentence"), IDS.values(), ids=IDS.keys())
def test_bad_ids_get_one_sentence(ids, sentence):
    for model in (LanguageModel(7, 3, RNN(3, 4)), SequenceClassifier(7, 3, GRU(3, 4), 2)):
        with pytest.raises(ValueError, match=sentence) as caught:
            model(ids)
        assert_one_sentence(str(caught.value))


@pytest.mark.parametrize(
    "sizes, says",
    [((0, 3), "vocab_size .* 0"), ((-2, 3), "vocab_size .* -2"), ((7, 0), "d_model .* 0")],
)
def test_a_vocabulary_without_a_symbol_or_a_width_is_refused(sizes, says):
    with pytest.raises(ValueError, match=says) as caught:
        LanguageModel(*sizes, RNN(3, 4))
    assert_one_sentence(str(caught.value))


@pytest.mark.parametrize("dtype", [torch.int32, torch.uint8, torch.int64])
def test_an_embedding_is_a_row_of_its_table_for_each_id(dtype):
    embedding = Embedding(7, 3)
    ids = torch.tensor([[0, 6, 2], [5, 5, 1]])
    assert torch.equal(embedding(ids.to(dtype)), embedding.weight[ids])
    assert embedding(ids[:, :0]).shape == (2, 0, 3)  # an empty text is refused by the layer


def test_every_public_class_and_function_says_what_it_does():
    for name in set(recurrent.__all__) - {"State"}:
        doc = getattr(recurrent, name).__doc__.lower()
        assert any(word in doc for word in ("shapes:", "return", "raise", "n_blocks")), name
