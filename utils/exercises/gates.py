"""Checks of Day 3, and the mistakes that they know."""

import math

import torch
from torch import Tensor, nn

from utils.exercises.checking import Checker, Exercise, Mistake, Prediction, Stage


def random(*shape: int) -> Tensor:
    """Draw a tensor in double precision, in which mistakes can't hide behind rounding."""
    return torch.randn(*shape, dtype=torch.float64)


def gates(*shape: int) -> Tensor:
    """Draw numbers between 0 and 1."""
    return torch.rand(*shape, dtype=torch.float64)


# 3.2 ------------------------------------------------------------------------------------------


def hidden_size_for(budget: int, n_blocks: int, input_size: int) -> int:
    return largest(budget, lambda N: n_blocks * (N * input_size + N * N + N))


def largest(budget: int, parameters) -> int:
    N = 0
    while parameters(N + 1) <= budget:
        N += 1
    return N


# 3.3 ------------------------------------------------------------------------------------------


def lstm_step(x, h, c, W_x, W_h, b, order="iofg", candidate=torch.tanh, show=torch.tanh):
    blocks = (x @ W_x.T + h @ W_h.T + b).chunk(4, dim=1)
    a = dict(zip(order, blocks, strict=True))
    i, f, o = (a[gate].sigmoid() for gate in "ifo")
    c = f * c + i * candidate(a["g"])
    return o * show(c), c


def lstm_step_storing_what_it_shows(x, h, c, W_x, W_h, b):
    h, _ = lstm_step(x, h, c, W_x, W_h, b)
    return h, h


def lstm_step_showing_the_old(x, h, c, W_x, W_h, b):
    o = (x @ W_x.T + h @ W_h.T + b).chunk(4, dim=1)[1].sigmoid()
    return o * c.tanh(), lstm_step(x, h, c, W_x, W_h, b)[1]


def lstm_inputs(B: int, D: int, N: int, *closed: int) -> tuple:
    """Draw a step's inputs; the blocks `closed` are gates that let next to nothing through."""
    b = random(4 * N)
    for block in closed:
        b[block * N : (block + 1) * N] -= 50
    return random(B, D), random(B, N), random(B, N), random(4 * N, D), random(4 * N, N), b


# 3.4 ------------------------------------------------------------------------------------------


def gru_step(x: Tensor, h: Tensor, W_x: Tensor, W_h: Tensor, order: str = "rzn") -> Tensor:
    r, z, candidate = gru_parts(x, h, W_x, W_h, order)
    return (1 - z) * h + z * candidate


def gru_parts(x, h, W_x, W_h, order="rzn", before=True, reset=True):
    from_x = dict(zip(order, (x @ W_x.T).chunk(3, dim=1), strict=True))
    weights = dict(zip(order, W_h.chunk(3), strict=True))
    r, z = ((from_x[gate] + h @ weights[gate].T).sigmoid() for gate in "rz")
    reset = r if reset else torch.ones_like(r)
    recalled = (reset * h) @ weights["n"].T if before else reset * (h @ weights["n"].T)
    return r, z, (from_x["n"] + recalled).tanh()


def gru_step_reset_after(x, h, W_x, W_h):
    _, z, candidate = gru_parts(x, h, W_x, W_h, before=False)
    return (1 - z) * h + z * candidate


def gru_step_of_the_library(x, h, W_x, W_h):
    _, z, candidate = gru_parts(x, h, W_x, W_h, before=False)
    return z * h + (1 - z) * candidate


def gru_step_mixed_the_other_way(x, h, W_x, W_h):
    _, z, candidate = gru_parts(x, h, W_x, W_h)
    return z * h + (1 - z) * candidate


def gru_step_without_reset(x, h, W_x, W_h):
    _, z, candidate = gru_parts(x, h, W_x, W_h, reset=False)
    return (1 - z) * h + z * candidate


def gru_step_squashing_the_old(x, h, W_x, W_h):
    _, z, candidate = gru_parts(x, h, W_x, W_h)
    return (1 - z) * h.tanh() + z * candidate


def gru_inputs(B: int, D: int, N: int) -> tuple:
    return random(B, D), random(B, N), random(3 * N, D), random(3 * N, N)


# 3.5 ------------------------------------------------------------------------------------------


def share_of_the_old(steps: int = 5) -> float:
    """What is left of a state of 1 in the paper's GRU, with an update gate of 0.6."""
    x, h = torch.ones(2, 1, 1, dtype=torch.float64)
    W_x = torch.tensor([[0.0], [logit(0.6)], [0.0]], dtype=torch.float64)
    for _ in range(steps):
        h = gru_step(x, h, W_x, torch.zeros_like(W_x))
    return h.item()


# 3.6 ------------------------------------------------------------------------------------------


def other_convention(W_x: Tensor, W_h: Tensor, b: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    return tuple(negated(weight, 1) for weight in (W_x, W_h, b))


def negated(weight: Tensor, *blocks: int) -> Tensor:
    parts = [-x if i in blocks else x for i, x in enumerate(weight.chunk(3))]
    return torch.cat(parts)


def exchanged(weight: Tensor) -> Tensor:
    r, z, n = weight.chunk(3)
    return torch.cat([z, r, n])


def one_minus(weight: Tensor) -> Tensor:
    r, z, n = weight.chunk(3)
    return torch.cat([r, 1 - z, n])


# 3.7 ------------------------------------------------------------------------------------------


def gradient_left(steps: int = 20) -> float:
    """∂c_t / ∂c_0 of the library's LSTM, with a forget gate's bias of 1 and nothing else."""
    lstm = nn.LSTMCell(1, 1).double()
    for parameter in lstm.parameters():
        nn.init.zeros_(parameter)
    with torch.no_grad():
        lstm.bias_ih[1] = 1
    x = torch.zeros(1, 1, dtype=torch.float64)
    c_0 = torch.ones(1, 1, dtype=torch.float64, requires_grad=True)
    h, c = x, c_0
    for _ in range(steps):
        h, c = lstm(x, (h, c))
    return torch.autograd.grad(c, c_0)[0].item()


# 3.8 ------------------------------------------------------------------------------------------


def forget_bias(distance: int, share: float) -> float:
    return logit(share ** (1 / distance))


def logit(p: float) -> float:
    return math.log(p / (1 - p))


# 3.9 ------------------------------------------------------------------------------------------


def direct_path(f: Tensor) -> Tensor:
    later = f.flip(1).cumprod(1).flip(1)  # (B, T, N): the product of f_{t+1} … f_T
    return with_one_behind(later)


def with_one_behind(x: Tensor) -> Tensor:
    return torch.cat([x, torch.ones_like(x[:, :1])], dim=1)


def with_one_in_front(x: Tensor) -> Tensor:
    return torch.cat([torch.ones_like(x[:, :1]), x], dim=1)


def closed_at(T: int, t: int) -> Tensor:
    return (torch.arange(T) != t).double()[:, None]  # (T, 1)


def direct_path_one_gate_short(f: Tensor) -> Tensor:
    return with_one_behind(with_one_behind(f.flip(1).cumprod(1).flip(1)[:, 1:]))


def direct_path_one_gate_for_all(f: Tensor) -> Tensor:
    T = f.shape[1]
    return with_one_behind(f ** torch.arange(T, 0, -1)[:, None])


# 3.10 -----------------------------------------------------------------------------------------


def final_states(outputs: Tensor, lengths: Tensor) -> Tensor:
    forward, backward = outputs.chunk(2, dim=2)
    return torch.cat([at_the_end(forward, lengths), backward[0]], dim=1)


def at_the_end(states: Tensor, lengths: Tensor) -> Tensor:
    return states[lengths - 1, torch.arange(len(lengths))]


def final_states_backward_at_the_end(outputs, lengths):
    forward, backward = outputs.chunk(2, dim=2)
    return torch.cat([at_the_end(forward, lengths), backward[-1]], dim=1)


def final_states_at_the_padded_end(outputs, lengths):
    forward, backward = outputs.chunk(2, dim=2)
    return torch.cat([forward[-1], backward[0]], dim=1)


def final_states_exchanged(outputs, lengths):
    return torch.cat(final_states(outputs, lengths).chunk(2, dim=1)[::-1], dim=1)


def final_states_of_the_other_half(outputs, lengths):
    backward, forward = outputs.chunk(2, dim=2)
    return torch.cat([at_the_end(forward, lengths), backward[0]], dim=1)


def padded_outputs(T: int, N: int, *lengths: int) -> tuple[Tensor, Tensor]:
    return random(T, len(lengths), 2 * N), torch.tensor(lengths)  # anything stands in the padding


# 3.11 -----------------------------------------------------------------------------------------


def peephole_step(a, c, p_i, p_f, p_o):
    a_i, a_f, a_g, a_o = a.chunk(4, dim=1)
    i, f = (a_i + p_i * c).sigmoid(), (a_f + p_f * c).sigmoid()
    new = f * c + i * a_g.tanh()
    return (a_o + p_o * new).sigmoid() * new.tanh(), new


def peephole_step_output_sees_the_old(a, c, p_i, p_f, p_o):
    a_o = a.chunk(4, dim=1)[3]
    new = peephole_step(a, c, p_i, p_f, p_o)[1]
    return (a_o + p_o * c).sigmoid() * new.tanh(), new


def peephole_step_squashed(a, c, p_i, p_f, p_o):
    a_i, a_f, a_g, a_o = a.chunk(4, dim=1)
    i, f = (a_i + p_i * c.tanh()).sigmoid(), (a_f + p_f * c.tanh()).sigmoid()
    new = f * c + i * a_g.tanh()
    return (a_o + p_o * new.tanh()).sigmoid() * new.tanh(), new


def peephole_step_outside(a, c, p_i, p_f, p_o):
    a_i, a_f, a_g, a_o = a.chunk(4, dim=1)
    i, f = a_i.sigmoid() + p_i * c, a_f.sigmoid() + p_f * c
    new = f * c + i * a_g.tanh()
    return (a_o.sigmoid() + p_o * new) * new.tanh(), new


def peephole_step_for_the_candidate(a, c, p_i, p_f, p_o):
    a_i, a_f, a_g, a_o = a.chunk(4, dim=1)
    return peephole_step(torch.cat([a_i, a_f, a_g + p_i * c, a_o], dim=1), c, p_i, p_f, p_o)


def peephole_inputs(B: int, N: int) -> tuple:
    return random(B, 4 * N), 2 * random(B, N), random(N), random(N), random(N)


# 3.12 -----------------------------------------------------------------------------------------


def units_needed(length: int, vocab_size: int, bits: float) -> int:
    return math.ceil(length * math.log2(vocab_size) / bits)


# 3.13 -----------------------------------------------------------------------------------------


def choose(scores: Tensor, costs: Tensor, error=None) -> int:
    means = scores.mean(dim=1)
    best = means.argmax()
    error = standard_error if error is None else error
    good_enough = means >= means[best] - error(scores[best])
    return int(costs.masked_fill(~good_enough, math.inf).argmin())


def standard_error(runs: Tensor) -> Tensor:
    return runs.std() / math.sqrt(len(runs))


def choose_by_its_own_error(scores: Tensor, costs: Tensor) -> int:
    means, errors = scores.mean(dim=1), scores.std(dim=1) / math.sqrt(scores.shape[1])
    good_enough = means + errors >= means.max()
    return int(costs.masked_fill(~good_enough, math.inf).argmin())


# models that differ by about as much as their seeds do; what is better tends to cost more
def measurements(n_models: int, n_seeds: int) -> tuple[Tensor, Tensor]:
    quality = 0.3 * random(n_models)
    return 0.8 + 0.1 * (
        quality[:, None] + random(n_models, n_seeds)
    ), quality.argsort().argsort() + gates(n_models)


# 3.14 -----------------------------------------------------------------------------------------


def chrono_biases(u: Tensor, longest: int) -> tuple[Tensor, Tensor]:
    b_f = torch.log(1 + u * (longest - 2))
    return -b_f, b_f


check = Checker(
    Prediction(
        "3.1",
        lambda: sum(p.numel() for p in nn.LSTM(10, 16, bidirectional=True).parameters()),
        {
            "one direction": Mistake("that is one direction; each has weights of its own.", 1792),
            "one block": Mistake("that is one of the blocks of each direction.", 896),
            "three gates": Mistake("beside three gates there is what they let in.", 2688),
            "no bias": Mistake("each block also has biases.", 3328),
            "one bias": Mistake(
                "the library keeps two biases a block, one for each product.", 3456
            ),
            "no state": Mistake("the old state too is multiplied by weights.", 1536),
            "no input": Mistake("the input too is multiplied by weights.", 2304),
            "wide state": Mistake(
                "a direction reads its own old state, of 16 numbers, not that of both.", 5632
            ),
        },
    ),
    Exercise(
        "3.2",
        hidden_size_for,
        (
            Stage("an RNN", lambda: [(15, 1, 1), (14, 1, 1)]),
            Stage(
                "budgets that fit to the last parameter",
                lambda: [(4 * 16 * 25, 4, 8), (4 * 16 * 25 - 1, 4, 8), (3 * 20 * 26, 3, 5)],
            ),
            Stage("larger budgets", lambda: [(20_000, 1, 9), (20_000, 3, 40), (20_000, 4, 7)]),
        ),
        {
            "two biases": Mistake(
                "a block has one bias here: two are a habit of the library.",
                lambda budget, n_blocks, input_size: largest(
                    budget, lambda N: n_blocks * (N * input_size + N * N + 2 * N)
                ),
            ),
            "no bias": Mistake(
                "your layer is over its budget by a little: what is added to the two products?",
                lambda budget, n_blocks, input_size: largest(
                    budget, lambda N: n_blocks * (N * input_size + N * N)
                ),
            ),
            "one block": Mistake(
                "that would fit if there were one block of weights; the gates have theirs.",
                lambda budget, n_blocks, input_size: hidden_size_for(budget, 1, input_size),
            ),
            "divided": Mistake(
                "four times the blocks is not a quarter of the width: how do weights grow with N?",
                lambda budget, n_blocks, input_size: (
                    hidden_size_for(budget, 1, input_size) // n_blocks
                ),
            ),
            "rounded up": Mistake(
                "you went one step too far: the budget is a limit.",
                lambda budget, n_blocks, input_size: (
                    hidden_size_for(budget - 1, n_blocks, input_size) + 1
                ),
            ),
            "no input weights": Mistake(
                "the input has weights too, N·D of them in each block.",
                lambda budget, n_blocks, input_size: hidden_size_for(budget, n_blocks, 0),
            ),
        },
        gradient=False,
    ),
    Exercise(
        "3.3",
        lstm_step,
        (
            Stage("a closed input gate, one unit", lambda: [lstm_inputs(1, 2, 1, 0)]),
            Stage("a closed forget gate, one unit", lambda: [lstm_inputs(1, 2, 1, 2)]),
            Stage(
                "batches and several units", lambda: [lstm_inputs(2, 5, 3), lstm_inputs(4, 3, 6)]
            ),
        ),
        {
            "library's order": Mistake(
                "you cut the blocks as PyTorch orders them (i, f, g, o); these come as i, o, f, g.",
                lambda *inputs: lstm_step(*inputs, order="ifgo"),
            ),
            "forget and input": Mistake(
                "the forget gate holds the old, the input gate lets in the new, not the other way.",
                lambda *inputs: lstm_step(*inputs, order="foig"),
            ),
            "forget and output": Mistake(
                "the second block and the third have changed places: which comes after i?",
                lambda *inputs: lstm_step(*inputs, order="ifog"),
            ),
            "candidate": Mistake(
                "what is written has a sign: a sigmoid could only ever add to the cell.",
                lambda *inputs: lstm_step(*inputs, candidate=torch.sigmoid),
            ),
            "tanh forgotten": Mistake(
                "the cell has no bounds, the state has: what stands between them?",
                lambda *inputs: lstm_step(*inputs, show=lambda c: c),
            ),
            "output gate stored": Mistake(
                "the output gate decides what is shown, not what the cell keeps.",
                lstm_step_storing_what_it_shows,
            ),
            "old cell shown": Mistake(
                "the state shows the old cell: it should show what the step has just written.",
                lstm_step_showing_the_old,
            ),
        },
    ),
    Exercise(
        "3.4",
        gru_step,
        (
            Stage("one unit", lambda: [gru_inputs(1, 2, 1)]),
            Stage("several units", lambda: [gru_inputs(1, 2, 3)]),
            Stage("batches", lambda: [gru_inputs(2, 5, 3), gru_inputs(4, 3, 6)]),
        ),
        {
            "reset after": Mistake(
                "you multiplied by r after the product with W_n; here the old state is reset "
                "before, and a product mixes units.",
                gru_step_reset_after,
            ),
            "z and 1 - z": Mistake(
                "z and 1 - z are exchanged: in this paper z is the share of the new.",
                gru_step_mixed_the_other_way,
            ),
            "library": Mistake(
                "that is the library's GRU to the last digit; this paper differs in two places.",
                gru_step_of_the_library,
            ),
            "no reset": Mistake(
                "the candidate sees all of the old state: which gate was to hold it back?",
                gru_step_without_reset,
            ),
            "old squashed": Mistake(
                "the old state went through tanh once more: what is kept is kept as it is.",
                gru_step_squashing_the_old,
            ),
            "gates exchanged": Mistake(
                "the two gates are exchanged: the first block is r, the second z.",
                lambda x, h, W_x, W_h: gru_step(x, h, W_x, W_h, order="zrn"),
            ),
        },
    ),
    Prediction(
        "3.5",
        share_of_the_old,
        {
            "library": Mistake(
                "that is what PyTorch keeps; what does an update gate of 0.6 mean in the paper?",
                0.6**5,
            ),
            "one step": Mistake("that is left after one step; there are five.", 0.4),
            "one step of the library": Mistake(
                "that is what PyTorch keeps in one step: another convention, and more steps.", 0.6
            ),
            "replaced": Mistake("that is the share which is gone in PyTorch.", 1 - 0.6**5),
            "gone": Mistake(
                "that is the share which is gone; asked for is what is left.", 1 - 0.4**5
            ),
        },
        tolerance=0.05,
    ),
    Exercise(
        "3.6",
        other_convention,
        (
            Stage("one unit", lambda: [(random(3, 2), random(3, 1), random(3))]),
            Stage(
                "several units",
                lambda: [
                    (random(6, 5), random(6, 2), random(6)),
                    (random(12, 3), random(12, 4), random(12)),
                ],
            ),
        ),
        {
            "reset": Mistake(
                "you changed the reset gate; the conventions differ in the update gate.",
                lambda W_x, W_h, b: tuple(negated(weight, 0) for weight in (W_x, W_h, b)),
            ),
            "both gates": Mistake(
                "both gates were turned round; does the reset gate mean something else?",
                lambda W_x, W_h, b: tuple(negated(weight, 0, 1) for weight in (W_x, W_h, b)),
            ),
            "everything": Mistake(
                "all of it is negated, the candidate too, which should stay what it is.",
                lambda W_x, W_h, b: (-W_x, -W_h, -b),
            ),
            "bias": Mistake(
                "the gate is 1 - z only if everything inside of the sigmoid is turned round: one "
                "summand isn't.",
                lambda W_x, W_h, b: (negated(W_x, 1), negated(W_h, 1), b),
            ),
            "state": Mistake(
                "what the old state adds to the gate still has its old sign.",
                lambda W_x, W_h, b: (negated(W_x, 1), W_h, negated(b, 1)),
            ),
            "one minus": Mistake(
                "1 - z is wanted of the gate, not of its weights: what does σ(-a) have to do with "
                "σ(a)?",
                lambda W_x, W_h, b: tuple(map(one_minus, (W_x, W_h, b))),
            ),
            "exchanged": Mistake(
                "the two gates changed places; none of them should.",
                lambda W_x, W_h, b: tuple(map(exchanged, (W_x, W_h, b))),
            ),
        },
    ),
    Prediction(
        "3.7",
        gradient_left,
        {
            "bias as gate": Mistake("a bias of 1 is not a gate of 1: what is σ(1)?", 1.0),
            "one step": Mistake("that is one step; there are twenty.", 0.7310585786300049),
            "no bias": Mistake("you have the gate at a bias of 0.", 0.5**20),
            "e": Mistake("the bias is inside of a sigmoid, not of an exponential.", math.exp(-20)),
            "tanh": Mistake("a gate is a sigmoid of its bias, not a tanh.", math.tanh(1) ** 20),
        },
        tolerance=0.1,
    ),
    Exercise(
        "3.8",
        forget_bias,
        (
            Stage("one step", lambda: [(1, 0.5), (1, 0.8)]),
            Stage("half-lives", lambda: [(10, 0.5), (100, 0.5)]),
            Stage("other shares", lambda: [(20, 0.1), (50, 0.9), (7, 0.3)]),
        ),
        {
            "gate": Mistake(
                "that is the gate; the bias is what a sigmoid makes this gate of.",
                lambda distance, share: share ** (1 / distance),
            ),
            "logarithm": Mistake(
                "the logarithm turns an exponential back, not a sigmoid.",
                lambda distance, share: math.log(share) / distance,
            ),
            "half": Mistake(
                "that keeps half, whatever share is asked for.",
                lambda distance, share: logit(0.5 ** (1 / distance)),
            ),
            "1/e": Mistake(
                "that keeps 1/e, whatever share is asked for.",
                lambda distance, share: logit(math.exp(-1 / distance)),
            ),
            "lost": Mistake(
                "`share` is what is left, not what is lost.",
                lambda distance, share: logit((1 - share) ** (1 / distance)),
            ),
            "sign": Mistake(
                "a bias of this sign closes the gate: for a long memory it should stand open.",
                lambda distance, share: -logit(share ** (1 / distance)),
            ),
            "linear": Mistake(
                "you took the same amount away at each step; a gate takes the same share.",
                lambda distance, share: logit(1 - (1 - share) / distance),
            ),
        },
        gradient=False,
    ),
    Exercise(
        "3.9",
        direct_path,
        (
            Stage("one step", lambda: [(gates(1, 1, 2),)]),
            Stage("one unit", lambda: [(gates(1, 4, 1),)]),
            Stage(
                "batches and several units",
                lambda: [(gates(3, 5, 2),), (gates(4, 4, 3),), (gates(2, 7, 5),)],
            ),
            Stage("a gate that is shut", lambda: [(gates(2, 6, 3) * closed_at(6, 2),)]),
            Stage("a path too long for its product", lambda: [(gates(1, 3000, 2),)]),
        ),
        {
            "from the start": Mistake(
                "you multiplied from the first step on: that is how far c_0 reaches, and asked "
                "is what reaches the end.",
                lambda f: with_one_in_front(f.cumprod(1)),
            ),
            "sum": Mistake(
                "you added the gates; the chain rule along one path multiplies.",
                lambda f: with_one_behind(f.flip(1).cumsum(1).flip(1)),
            ),
            "one gate short": Mistake(
                "a gate is missing: between c_t and c_T stand f_{t+1} to f_T, both included.",
                direct_path_one_gate_short,
            ),
            "one gate for all": Mistake(
                "you raised one gate to a power; each step has a gate of its own.",
                direct_path_one_gate_for_all,
            ),
            "last gate only": Mistake(
                "that is the way back over one step; the path goes on.",
                with_one_behind,
            ),
            "batch": Mistake(
                "you multiplied along the batch: time is the second axis.",
                lambda f: with_one_behind(f.flip(0).cumprod(0).flip(0)),
            ),
        },
    ),
    Exercise(
        "3.10",
        final_states,
        (
            Stage("one sequence, without padding", lambda: [padded_outputs(3, 1, 3)]),
            Stage("a batch without padding", lambda: [padded_outputs(4, 2, 4, 4)]),
            Stage(
                "batches with padding",
                lambda: [
                    padded_outputs(5, 2, 3, 5, 1),
                    padded_outputs(4, 3, 2, 4, 1, 3),
                    padded_outputs(6, 3, 1, 6, 4, 2, 5, 3, 2),
                ],
            ),
        ),
        {
            "last row": Mistake(
                "you read both directions at the last position: one of them begins there, and for "
                "most sequences there is padding.",
                lambda outputs, lengths: outputs[-1],
            ),
            "backward at the end": Mistake(
                "the backward direction begins at the last position; where does it end?",
                final_states_backward_at_the_end,
            ),
            "backward at the last step": Mistake(
                "at a sequence's last step the backward direction has read one symbol.",
                lambda outputs, lengths: at_the_end(outputs, lengths),
            ),
            "padded": Mistake(
                "the forward direction is read where shorter sequences have padding.",
                final_states_at_the_padded_end,
            ),
            "both at the start": Mistake(
                "at the first position the forward direction has read one symbol.",
                lambda outputs, lengths: outputs[0],
            ),
            "exchanged": Mistake(
                "the right states, but the backward one comes first.",
                final_states_exchanged,
            ),
            "other half": Mistake(
                "you took the second half of the numbers for the forward direction.",
                final_states_of_the_other_half,
            ),
            "axes": Mistake(
                "you took the first axis for the batch: here time comes first.",
                lambda outputs, lengths: final_states(outputs.transpose(0, 1), lengths),
            ),
        },
    ),
    Exercise(
        "3.11",
        peephole_step,
        (
            Stage("one unit", lambda: [peephole_inputs(1, 1)]),
            Stage("batches and several units", lambda: [peephole_inputs(2, 3)]),
            Stage("more units than sequences, and fewer", lambda: [peephole_inputs(5, 4)]),
        ),
        {
            "output sees the old": Mistake(
                "the output gate comes last: it can see what the cell has become.",
                peephole_step_output_sees_the_old,
            ),
            "exchanged": Mistake(
                "the peepholes of the input gate and the forget gate are exchanged.",
                lambda a, c, p_i, p_f, p_o: peephole_step(a, c, p_f, p_i, p_o),
            ),
            "squashed": Mistake(
                "the gates look at the cell itself, not at its tanh.",
                peephole_step_squashed,
            ),
            "outside": Mistake(
                "the gates no longer lie between 0 and 1: a peephole goes into the sigmoid.",
                peephole_step_outside,
            ),
            "candidate": Mistake(
                "the candidate has no peephole: three vectors, three gates.",
                peephole_step_for_the_candidate,
            ),
            "none": Mistake(
                "that is a step without peepholes.",
                lambda a, c, p_i, p_f, p_o: peephole_step(a, c, 0 * p_i, 0 * p_f, 0 * p_o),
            ),
            "no output": Mistake(
                "two gates look at the cell, and the third does not.",
                lambda a, c, p_i, p_f, p_o: peephole_step(a, c, p_i, p_f, 0 * p_o),
            ),
        },
    ),
    Exercise(
        "3.12",
        units_needed,
        (
            Stage("one symbol of two", lambda: [(1, 2, 1.0)]),
            Stage("several symbols", lambda: [(5, 16, 4.0), (20, 16, 4.0)]),
            Stage("sizes that don't divide", lambda: [(20, 1000, 3.0), (7, 5, 1.5), (50, 26, 2.5)]),
        ),
        {
            "natural": Mistake(
                "a bit is a choice of two; your logarithm has another base.",
                lambda length, vocab_size, bits: math.ceil(length * math.log(vocab_size) / bits),
            ),
            "rounded down": Mistake(
                "what is left over still needs a unit.",
                lambda length, vocab_size, bits: math.floor(length * math.log2(vocab_size) / bits),
            ),
            "one symbol": Mistake(
                "that is enough for one symbol.",
                lambda length, vocab_size, bits: math.ceil(math.log2(vocab_size) / bits),
            ),
            "product": Mistake(
                "how many sequences are there? Each further symbol multiplies their number.",
                lambda length, vocab_size, bits: math.ceil(math.log2(length * vocab_size) / bits),
            ),
            "one-hot": Mistake(
                "you count a unit for each symbol of the vocabulary: a pattern of units can say it "
                "with fewer.",
                lambda length, vocab_size, bits: math.ceil(length * vocab_size / bits),
            ),
            "each rounded": Mistake(
                "you rounded up for each symbol; a unit may hold parts of two.",
                lambda length, vocab_size, bits: length * math.ceil(math.log2(vocab_size) / bits),
            ),
        },
        gradient=False,
    ),
    Exercise(
        "3.13",
        choose,
        (
            Stage(
                "two models, far apart",
                lambda: [
                    (
                        torch.tensor([[0.51, 0.52, 0.54], [0.9, 0.92, 0.91]]),
                        torch.tensor([1.0, 4.0]),
                    )
                ],
            ),
            Stage(
                "two models, close together",
                lambda: [
                    (
                        torch.tensor([[0.86, 0.89, 0.91], [0.82, 0.9, 0.95]]),
                        torch.tensor([1.0, 4.0]),
                    )
                ],
            ),
            Stage(
                "two seeds each",
                lambda: [
                    (torch.tensor([[0.77, 0.79], [0.8, 1.0]]), torch.tensor([1.0, 4.0])),
                    (torch.tensor([[0.81, 0.82], [0.8, 1.0]]), torch.tensor([1.0, 4.0])),
                ],
            ),
            Stage(
                "several models",
                lambda: [measurements(n, seeds) for n, seeds in 4 * [(3, 5), (6, 3), (5, 4)]],
            ),
        ),
        {
            "best mean": Mistake(
                "that is the best mean; a cheaper one may be as good, as far as one can tell.",
                lambda scores, costs: choose(scores, 0 * costs - scores.mean(dim=1)),
            ),
            "best run": Mistake(
                "the best single run is the luckiest: compare means.",
                lambda scores, costs: int(scores.amax(dim=1).argmax()),
            ),
            "deviation": Mistake(
                "you allow a standard deviation; the mean of several runs is known better than one "
                "run.",
                lambda scores, costs: choose(scores, costs, Tensor.std),
            ),
            "biased": Mistake(
                "dividing by n makes the spread of a few runs too small: the sample's has n - 1.",
                lambda scores, costs: choose(
                    scores, costs, lambda runs: runs.std(correction=0) / math.sqrt(len(runs))
                ),
            ),
            "twice": Mistake(
                "the sample's deviation has its n - 1 already; divide it by the root of n.",
                lambda scores, costs: choose(
                    scores, costs, lambda runs: runs.std() / math.sqrt(len(runs) - 1)
                ),
            ),
            "own error": Mistake(
                "you allow each model its own error; the rule takes that of the best.",
                choose_by_its_own_error,
            ),
            "cheapest": Mistake(
                "that is the cheapest of all, good or not.",
                lambda scores, costs: int(costs.argmin()),
            ),
        },
        gradient=False,
    ),
    Exercise(
        "3.14",
        chrono_biases,
        (
            Stage("one unit", lambda: [(gates(1), 100)]),
            Stage("several units", lambda: [(gates(5), 50), (gates(8), 784)]),
        ),
        {
            "both open": Mistake(
                "what forgets slowly should also write little: the input gate's bias has the other "
                "sign.",
                lambda u, longest: 2 * (torch.log(1 + u * (longest - 2)),),
            ),
            "exchanged": Mistake(
                "the two biases are exchanged: that forgets at once and writes all the time.",
                lambda u, longest: chrono_biases(u, longest)[::-1],
            ),
            "times": Mistake(
                "those are the times in steps; a gate's bias is the logarithm of one.",
                lambda u, longest: (-(1 + u * (longest - 2)), 1 + u * (longest - 2)),
            ),
            "log-uniform": Mistake(
                "the times are to be spread evenly, not their logarithms.",
                lambda u, longest: (-u * math.log(longest - 1), u * math.log(longest - 1)),
            ),
            "from 0": Mistake(
                "your times begin at 0; the shortest memory is one step.",
                lambda u, longest: (-torch.log(u * (longest - 1)), torch.log(u * (longest - 1))),
            ),
            "one step too far": Mistake(
                "your longest time is `longest`; the recipe ends at one step less.",
                lambda u, longest: (
                    -torch.log(1 + u * (longest - 1)),
                    torch.log(1 + u * (longest - 1)),
                ),
            ),
        },
    ),
)
