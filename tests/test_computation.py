"""Machines whose weights are set by hand, on words of a thousand symbols and where numbers end."""

import math
from fractions import Fraction
from random import Random

import pytest
import torch
from torch import nn

from utils.computation import (
    FoldedRNN,
    LinearRecurrence,
    MajorityTransformer,
    ParityTransformer,
    RecurrentMixer,
    SortingTransformer,
    StackMachine,
    Transducer,
    adding_rnn,
    bare_block,
    by_hand,
    by_loop,
    by_scan,
    counter_lstm,
    deepest_stack,
    holds,
    parity_linear,
    parity_rnn,
    parity_tanh,
    pop,
    push,
    read_back,
    saturated,
    set_weights,
    top,
)
from utils.data.formal import Addition, Blocks, Dyck, Majority, Modulo
from utils.transformer import EncoderBlock, Parts, TransformerConfig

HALVES = {torch.bfloat16: 2**8, torch.float16: 2**11}  # where counting by ones ends


def draw(*shape, seed=0, dtype=torch.float64):
    return torch.randn(*shape, dtype=dtype, generator=torch.Generator().manual_seed(seed))


def bits(*shape, seed=0):
    return torch.randint(2, shape, generator=torch.Generator().manual_seed(seed))


def correct(machine, language, shortest, longest, n=12) -> bool:
    """Whether a machine gives all answers after all symbols of some words."""
    ids, answers, _ = language.draw(n, shortest, longest, seed=1)
    said = machine(ids)
    assert said.shape == (*ids.shape, len(language.classes))
    return bool(((said.argmax(dim=-1) == answers) | (answers < 0)).all())


# Recurrent machines -------------------------------------------------------------------------------

RECURRENT = {
    "parity, folded": (parity_rnn, Modulo(2)),
    "parity, tanh": (parity_tanh, Modulo(2)),
    "parity, linear": (parity_linear, Modulo(2)),
    "counter of two": (counter_lstm, Blocks("ab")),
    "counter of three": (lambda: counter_lstm(3), Blocks("abc")),
    "counter of five": (lambda: counter_lstm(5), Blocks("abcde")),
    "adder": (adding_rnn, Addition()),
    "majority": (MajorityTransformer, Majority()),
}


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("name", RECURRENT)
def test_a_machine_is_correct_after_each_of_a_thousand_symbols(name, dtype):
    make, language = RECURRENT[name]
    machine = make() if name != "majority" else make(dtype)
    machine = machine.to(dtype)
    assert correct(machine, language, 5, 9) and correct(machine, language, 996, 1010)


def test_three_weights_make_the_parity_itself():
    for weights in ((-1.0, 1.0, 0.0), (1.0, -1.0, 0.0)):
        machine, ids = parity_rnn(*weights), bits(3, 1000)
        states, _ = machine.layer(machine.embedding(ids))
        assert torch.equal(states[:, :, 0], (ids.cumsum(dim=1) % 2).float())
        assert sum(weight.numel() for weight in machine.layer.parameters()) == 3
    assert not correct(parity_rnn(1.0, 1.0, 0.0), Modulo(2), 5, 9)
    assert not correct(parity_rnn(-1.0, 0.9, 0.0), Modulo(2), 900, 999)


def test_a_folded_unit_is_its_equation():
    layer, x, h = FoldedRNN(3, 4).double(), draw(2, 5, 3), draw(2, 4, seed=1)
    found, last = layer(x, h)
    for t in range(5):
        h = (x[:, t] @ layer.W_x.T + h @ layer.W_h.T + layer.b).abs()
        torch.testing.assert_close(found[:, t], h)
    assert torch.equal(last, found[:, -1])


def test_saturated_units_forget_noise_and_a_folded_one_keeps_it():
    kept = {}
    for name, machine in (("tanh", parity_tanh()), ("folded", parity_rnn())):
        one = machine.embedding(torch.tensor([[1]]))
        clean = machine.layer(one)[1]
        noisy = clean + 0.2
        for _ in range(6):
            clean, noisy = machine.layer(one, clean)[1], machine.layer(one, noisy)[1]
        kept[name] = (noisy - clean).abs().max().item()
    assert kept["tanh"] < 1e-6 and kept["folded"] == pytest.approx(0.2)


@pytest.mark.parametrize("dtype, most", HALVES.items())
def test_a_counter_ends_where_one_more_is_no_other_number(dtype, most):
    def reads(n):
        word = torch.tensor([[0] * n + [1] * n])
        said = counter_lstm().to(dtype)(word).argmax(dim=-1)
        return torch.equal(said, Blocks("ab").truth(word))

    assert reads(most - 1) and reads(most) and not reads(most + 1)
    assert torch.tensor(float(most), dtype=dtype) + 1 == most


def test_long_numbers_are_added():
    chance = Random(0)
    a, b = (chance.getrandbits(1500) for _ in range(2))
    digits = [[number >> place & 1 for place in range(1501)] for number in (a, b)]
    ids = torch.tensor(digits[0]) + 2 * torch.tensor(digits[1])
    said = adding_rnn()(ids[None]).argmax(dim=-1)[0].tolist()
    assert sum(digit << place for place, digit in enumerate(said)) == a + b


def test_an_adder_needs_weights_that_saturate():
    assert correct(adding_rnn(sharp=8.0), Addition(), 300, 300)
    assert not correct(adding_rnn(sharp=0.5), Addition(), 300, 300)


def test_a_transducer_answers_after_each_symbol_from_what_came_before():
    torch.manual_seed(0)
    model = Transducer(4, 5, nn_layer := LinearRecurrence(5, 6, -1), 3)
    assert nn_layer.output_size == 6
    ids = torch.randint(4, (2, 7))
    said = model(ids)
    assert said.shape == (2, 7, 3)
    torch.testing.assert_close(model(ids[:, :4]), said[:, :4])


# A stack in one number ----------------------------------------------------------------------------


def test_a_stack_of_exact_fractions_has_no_bottom():
    chance, held, q = Random(1), [], Fraction(0)
    for step in range(1200):
        if held and chance.random() < (0.3 if step < 600 else 0.7):
            assert top(q) == held.pop()
            q = pop(q)
        else:
            held.append(chance.getrandbits(1))
            q = push(q, held[-1])
        assert holds(q) == bool(held) and 0 <= q < 1
        if step % 100 == 50:
            assert len(held) > 15
            assert q == sum(Fraction(2 * bit + 1, 4**i) for i, bit in enumerate(held[::-1], 1))
    assert pop(Fraction(0)) == 0 and top(Fraction(0)) == 0


def test_saturated_is_a_line_between_0_and_1():
    x = torch.tensor([-2.0, 0.0, 0.3, 1.0, 5.0])
    assert saturated(x).tolist() == pytest.approx([0, 0, 0.3, 1, 1])
    assert [saturated(Fraction(n, 4)) for n in (-1, 1, 9)] == [0, Fraction(1, 4), 1]


@pytest.mark.parametrize(
    "dtype, depth",
    [(torch.bfloat16, 4), (torch.float16, 5), (torch.float32, 12), (torch.float64, 26)],
)
def test_a_stack_is_as_deep_as_half_the_digits_of_its_number(dtype, depth):
    machine = StackMachine(dtype)
    assert deepest_stack(machine) == depth and deepest_stack(machine, most=3) == 3
    assert depth == int(1 - math.log2(torch.finfo(dtype).eps)) // 2
    assert correct(machine, Dyck(2, shallowest=depth, deepest=depth), 1000, 1010)
    assert not correct(machine, Dyck(2, shallowest=depth + 4, deepest=depth + 4), 1000, 1010, n=99)


def test_a_network_of_exact_numbers_does_what_the_functions_do():
    ids = Dyck(2, deepest=6).draw(9, 40, 60, seed=2).ids
    q, said = torch.zeros(9, dtype=torch.float64), StackMachine(torch.float64)(ids)
    for t, id_t in enumerate(ids.unbind(dim=1)):
        q = torch.where(id_t < 2, push(q, id_t % 2), pop(q))
        torch.testing.assert_close(said[:, t, 2], top(q))
        torch.testing.assert_close(said[:, t, 0], 1 - holds(q))


def test_each_digit_of_noise_costs_so_many_levels():
    depths = [deepest_stack(StackMachine(torch.float64, noise)) for noise in (1e-2, 1e-4, 1e-8)]
    assert depths == [1, 4, 11]
    steps = [math.log(1 / noise, 4) for noise in (1e-2, 1e-4, 1e-8)]
    assert all(step - 3 < depth < step for depth, step in zip(depths, steps, strict=True))


def test_what_is_read_back_is_drawn_by_a_seed():
    machine = StackMachine(torch.float64, noise=1e-3)
    shares = [read_back(machine, 4, n=300, seed=seed) for seed in (0, 0, 1)]
    assert 0 < shares[0] < 1 and shares[0] == shares[1] != shares[2]


# Linear recurrence --------------------------------------------------------------------------------


@pytest.mark.parametrize("T", [2, 3, 7, 8, 21])
def test_all_steps_at_once_are_the_steps_one_after_another(T):
    a, u = draw(3, T, 4).tanh().requires_grad_(), draw(3, T, 4, seed=1).requires_grad_()
    loop, scan = by_loop(a, u), by_scan(a, u)
    torch.testing.assert_close(scan, loop)
    weights = draw(3, T, 4, seed=2)
    gradients = [torch.autograd.grad((h * weights).sum(), (a, u)) for h in (loop, scan)]
    torch.testing.assert_close(*gradients)
    for b in range(3):
        for t in range(T):
            h = sum(u[b, s] * a[b, s + 1 : t + 1].prod(dim=0) for s in range(t + 1))
            torch.testing.assert_close(loop[b, t], h)
    assert torch.equal(by_scan(a[:, :1], u[:, :1]), u[:, :1])


@pytest.mark.parametrize("lowest", [0, -1])
def test_gates_are_as_low_as_they_may_be(lowest):
    layer, x = LinearRecurrence(3, 5, lowest).double(), draw(2, 30, 3) * 30
    gates = layer.gates(x)
    assert lowest <= gates.min() < lowest + 0.01 and 0.99 < gates.max() <= 1
    z = torch.nn.functional.linear(x, layer.W_a, layer.b_a)
    torch.testing.assert_close(gates, z.sigmoid() if lowest == 0 else (z / 2).tanh())
    h, last = layer(x)
    torch.testing.assert_close(h, by_loop(gates, x @ layer.W_u.T))
    assert torch.equal(last, h[:, -1])


def test_parity_by_gates_ends_where_their_size_below_1_adds_up():
    assert sum(weight.numel() for weight in parity_linear().layer.parameters() if weight.any()) == 3

    def reach(W_a, b_a):
        ids, answers, _ = Modulo(2).draw(50, 1000, 1000, seed=0)
        wrong = (parity_linear(W_a, b_a)(ids).argmax(dim=-1) != answers).any(dim=0)
        return wrong.nonzero()[0].item() if wrong.any() else math.inf

    assert reach(-200.0, 100.0) == math.inf
    assert reach(-4.0, 2.0) < 10 < reach(-8.0, 4.0) < 100 < reach(-12.0, 6.0) < 1000
    states, _ = parity_linear(-8.0, 4.0).layer(torch.ones(1, 400, 1))
    assert states[0, -1].item() == pytest.approx(1 / (1 + math.tanh(2)), abs=1e-5)


def test_a_mixer_takes_the_place_of_attention_in_a_block():
    config = TransformerConfig(3, d_model=6, n_heads=2, d_ff=8, norm="pre", dropout=0.0)
    mixer = lambda *a, **how: RecurrentMixer(*a, lowest=-1, **how)  # noqa: E731
    block, x = EncoderBlock(config, Parts(attention=mixer)).double(), draw(2, 7, 6)
    y, weights = block(x, is_causal=True)
    assert weights is None and y.shape == x.shape
    later = x.clone()
    later[:, 4:] += 1
    torch.testing.assert_close(block(later, is_causal=True)[0][:, :4], y[:, :4])
    assert (block(later, is_causal=True)[0] - y).abs()[:, 4:].min() > 1e-6
    layer = block.self_attention
    torch.testing.assert_close(layer(x, is_causal=True)[0], layer.W_o(layer.recurrence(x)[0]))


# Transformers by hand -----------------------------------------------------------------------------


def test_a_bare_block_passes_on_what_it_reads():
    x = draw(2, 5, 6, dtype=torch.float32)
    assert torch.equal(bare_block(6, n_heads=3, d_ff=4)(x)[0], x)


@pytest.mark.parametrize("n", [1, 2, 3, 17, 18, 1000, 1501])
def test_two_blocks_tell_odd_from_even(n):
    ids = torch.cat([bits(6, n, seed=n), torch.zeros(1, n).long(), torch.ones(1, n).long()])
    for dtype in (torch.float32, torch.float64):
        assert torch.equal(ParityTransformer(dtype)(ids).argmax(dim=-1), ids.sum(dim=1) % 2)


def test_every_short_word_has_its_parity():
    ids = torch.cartesian_prod(*[torch.arange(2)] * 8)
    assert torch.equal(ParityTransformer()(ids).argmax(dim=-1), ids.sum(dim=1) % 2)


def test_its_answers_differ_the_less_the_longer_the_word():
    gaps = [ParityTransformer()(bits(1, n)).diff(dim=1).abs().item() for n in (20, 200, 2000)]
    assert gaps == pytest.approx([2 / (n + 1) ** 2 for n in (20, 200, 2000)], rel=0.05)


@pytest.mark.parametrize("dtype, long", [(torch.bfloat16, 1000), (torch.float16, 2500)])
def test_half_precision_ends_what_single_precision_can(dtype, long):
    ids = bits(12, long)
    share = (ParityTransformer(dtype)(ids).argmax(dim=-1) == ids.sum(dim=1) % 2).double().mean()
    assert share < 1
    assert torch.equal(ParityTransformer(dtype)(ids[:, :60]).argmax(-1), ids[:, :60].sum(1) % 2)


def test_a_majority_is_found_where_one_symbol_decides():
    n = 2000
    ids = (torch.arange(n) % 2).expand(3, n).clone()
    ids[1] = 1 - ids[1]
    ids[2, -1] = 0
    logits = MajorityTransformer()(ids)
    assert torch.equal(logits.argmax(dim=-1), Majority().truth(ids))
    assert (logits[:, :, 1].abs() * torch.arange(2, n + 2) >= 0.4).all()  # also for a tie


@pytest.mark.parametrize("n_symbols, T", [(2, 1), (3, 2), (7, 13), (5, 1200), (26, 700)])
def test_symbols_are_sorted(n_symbols, T):
    ids = torch.randint(n_symbols, (9, T), generator=torch.Generator().manual_seed(T))
    ids[0] = n_symbols - 1
    assert torch.equal(SortingTransformer(n_symbols)(ids).argmax(-1), ids.sort(dim=1).values)


def test_sorting_in_half_precision_ends():
    ids = torch.randint(5, (9, 600), generator=torch.Generator().manual_seed(0))
    said = SortingTransformer(5, torch.bfloat16)(ids).argmax(-1)
    assert 0.9 < (said == ids.sort(dim=1).values).double().mean() < 1


# What is refused ----------------------------------------------------------------------------------

EMPTY = torch.empty(3, 0, dtype=torch.long)
NOTHING = r"There is no symbol to read in ids of shape \(3, 0\)"


@pytest.mark.parametrize(
    "make, sentence",
    [
        (lambda: Transducer(2, 1, FoldedRNN(1, 1), 0), "n_classes is a whole number"),
        (lambda: parity_rnn()(torch.tensor([[2]])), "from 0 to 1 in this vocabulary, got 2"),
        (lambda: set_weights(FoldedRNN(1, 1), W=[1.0]), r"W: got \(1,\) for no such weight"),
        (lambda: set_weights(FoldedRNN(1, 2), b=[1.0]), r"b: got \(1,\) for \(2,\)"),
        (lambda: counter_lstm(1), "n_letters has to be at least 2, got 1"),
        (lambda: StackMachine(noise=-0.1), "noise is from 0 to below 1, got -0.1"),
        (lambda: StackMachine(noise=math.nan), "noise is from 0 to below 1, got nan"),
        (lambda: StackMachine()(torch.tensor([[4]])), "from 0 to 3 in this vocabulary, got 4"),
        (lambda: StackMachine()(EMPTY), NOTHING),
        (lambda: push(0.0, 2), "A bit is 0 or 1, got 2"),
        (lambda: push(Fraction(0), -1), "A bit is 0 or 1, got -1"),
        (lambda: push(torch.zeros(2), torch.tensor([1.0, 0.5])), "A bit is 0 or 1, got tensor"),
        (lambda: read_back(StackMachine(), 0), "depth is a whole number of at least 1"),
        (lambda: by_loop(torch.ones(1, 2, 3), torch.ones(1, 2, 1)), "of one shape"),
        (lambda: by_scan(torch.ones(1, 0, 3), torch.ones(1, 0, 3)), "at least one step, got"),
        (lambda: by_scan(torch.ones(2, 3), torch.ones(2, 3)), r"\(B, T, N\)"),
        (lambda: LinearRecurrence(2, 3, 1), "Unknown lowest gate 1: choose one of 0, -1"),
        (lambda: LinearRecurrence(0, 3, 0), "input_size is a whole number"),
        (lambda: LinearRecurrence(2, 3, 0)(torch.ones(1, 4, 3)), r"Expected sequences \(B, T, 2\)"),
        (lambda: RecurrentMixer(4, 1, lowest=0)(torch.ones(1, 2, 4)), "is_causal=True alone"),
        (
            lambda: RecurrentMixer(4, 1, lowest=0)(
                torch.ones(1, 2, 4), is_causal=True, need_weights=True
            ),
            "no weights to show",
        ),
        (lambda: bare_block(3, n_heads=2), "2 heads do not divide a width of 3"),
        (lambda: MajorityTransformer()(torch.tensor([[2]])), "from 0 to 1"),
        (lambda: MajorityTransformer()(EMPTY), NOTHING),
        (lambda: SortingTransformer(3)(torch.tensor([[3]])), "from 0 to 2"),
        (lambda: SortingTransformer(3)(EMPTY), NOTHING),
        (lambda: SortingTransformer(0), "n_symbols is a whole number"),
        (lambda: ParityTransformer()(torch.tensor([[2]])), "from 0 to 1"),
        (lambda: ParityTransformer()(EMPTY), NOTHING),
    ],
)
def test_what_no_machine_can_read_is_refused_in_a_sentence(make, sentence):
    with pytest.raises(ValueError, match=sentence):
        make()


def test_weights_that_are_set_are_not_learned():
    machine = by_hand(set_weights(FoldedRNN(1, 1), b=[2.0]), [[1.0]], [[3.0]], [4.0])
    assert not any(weight.requires_grad for weight in machine.parameters())
    assert [weight.item() for weight in machine.layer.parameters()] == [0, 0, 2]
    assert not machine.training and isinstance(machine, nn.Module)
