# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Solutions of Day 3
#
# First come the solutions of [Gates](../03_gates.ipynb), then those of its [deeper page](../deeper/03_gates.ipynb). There is more than one correct solution. What matters is that the check passes and that you can explain why.

# %%
import convolution_to_attention  # is `utils` this book's?

import math

import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from utils.exercises.gates import check
from utils.measure import experiments
from utils.recurrent import LSTM
from utils.show.display import observe, table

# %% [markdown]
# (solution-mixture)=
# ## A gate
#
# First comes the gate, a number between 0 and 1 for each unit, and then the mixture. The two shares sum to 1.


# %%
def mix(a, old, new):
    z = torch.sigmoid(a)
    return z * old + (1 - z) * new


mix = check("mixture", mix)

# %% [markdown]
# You can also write `torch.lerp(new, old, z)`, which is new + z · (old − new).

# %% [markdown]
# (solution-lstm)=
# ## The LSTM's step
#
# There is one product for the input and one for the old state, and their sum is cut into the four blocks. The gates go through $\sigma$, the candidate through tanh. The cell itself sees only one multiplication and one addition.


# %%
def lstm_step(x, h, c, W_x, W_h, b):
    i, f, g, o = (x @ W_x.T + h @ W_h.T + b).chunk(4, dim=1)
    c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
    return torch.sigmoid(o) * torch.tanh(c), c


lstm_step = check("lstm", lstm_step)

# %% [markdown]
# With the weights of the lesson's single unit, it returns the lesson's numbers.

# %%
W_x, W_h = torch.tensor([[0.0], [1.0], [1.0], [-1.0]]), torch.tensor([[-2.0], [1.0], [0.0], [2.0]])
h, c = lstm_step(
    *torch.tensor([[[1.0]], [[0.5]], [[2.0]]]), W_x, W_h, torch.tensor([0.0, 0.5, 0.0, 0.0])
)
print(f"cell {c.item():.2f}, shown {h.item():.2f}")

# %% [markdown]
# (solution-direct-path)=
# ## The gradient along the cell state
#
# From $c_t$ to $c_T$ the path leads through $f_{t+1}, \dots, f_T$. Together, these products are a running product from the end, which `cumprod` computes on the reversed gates.


# %%
def direct_path(f: torch.Tensor) -> torch.Tensor:
    later = f.flip(1).cumprod(1).flip(1)  # row t: f_{t+1} · … · f_T
    return torch.cat([later, torch.ones_like(f[:, :1])], dim=1)


direct_path = check("direct_path", direct_path)

# %% [markdown]
# (solution-gru)=
# ## The GRU's step
#
# Here the products with $x$ and with $h$ are kept apart, since $r$ multiplies only the one with $h$, including its bias. `mix` takes the input of $z$'s sigmoid.


# %%
def gru_step(x, h, W_x, W_h, b, b_hn):
    r_x, z_x, n_x = (x @ W_x.T + b).chunk(3, dim=1)
    r_h, z_h, n_h = (h @ W_h.T).chunk(3, dim=1)
    r = torch.sigmoid(r_x + r_h)
    n = torch.tanh(n_x + r * (n_h + b_hn))
    return mix(z_x + z_h, h, n)


gru_step = check("gru", gru_step)

# %% [markdown]
# With the library's weights it agrees with the library. The library's second bias for the reset and update gates is added to `b`.

# %%
cell = nn.GRUCell(3, 5)
W_x, W_h, b_x, b_h = cell.parameters()
x, h = torch.randn(2, 3), torch.randn(2, 5)
b = b_x + torch.cat([b_h[:10], torch.zeros(5)])
torch.testing.assert_close(gru_step(x, h, W_x, W_h, b, b_h[10:]), cell(x, h))

# %% [markdown]
# (solution-lstm-parameters)=
# ## Count an LSTM's parameters
#
# Three gates and the candidate make four blocks in each of the two directions. Each block has 16 rows, with 10 weights for the input, 16 for that direction's own old state, and two biases.

# %%
my_count = 2 * 4 * 16 * (10 + 16 + 2)
print(my_count)
check("lstm_parameters", my_count)

# %% [markdown]
# (solution-onnx-lstm)=
# ## Load an LSTM from ONNX
#
# Only the names of the four blocks change. Each gate goes through a sigmoid; the candidate, which may be negative, through a tanh.


# %%
def onnx_step(x, h, c, W_x, W_h, b):
    i, o, f, g = (x @ W_x.T + h @ W_h.T + b).chunk(4, dim=1)
    c = f.sigmoid() * c + i.sigmoid() * g.tanh()
    return o.sigmoid() * c.tanh(), c


check("onnx_lstm", onnx_step)

# %% [markdown]
# With its blocks in the new order, the library's own layer returns the same. The library's order is i, f, g, o.


# %%
def onnx_order(weight: torch.Tensor) -> torch.Tensor:
    i, f, g, o = weight.chunk(4)
    return torch.cat([i, o, f, g])


cell = nn.LSTMCell(3, 5)
x, h, c = torch.randn(2, 3), torch.randn(2, 5), torch.randn(2, 5)
W_x, W_h, b_x, b_h = map(onnx_order, cell.parameters())
theirs = cell(x, (h, c))
torch.testing.assert_close(onnx_step(x, h, c, W_x, W_h, b_x + b_h), theirs)

# %% [markdown]
# (solution-update-gate-at-0-6)=
# ## Predict: the same weights in another convention
#
# The library, like {cite:t}`cho2014learning`, keeps the share $z$; the colleague's GRU keeps $1 - z$. Since the candidates are 0, nothing else is added.

# %%
z, steps = 0.6, 5
print(f"yours {z**steps:.3f}, the colleague's {(1 - z) ** steps:.3f}")
check("update_gate_at_0_6", (1 - z) ** steps)

# %% [markdown]
# No error is raised, and the unit forgets nearly twice as fast. That is why you should test a program that loads weights against the program that saved them.

# %% [markdown]
# (solution-twenty-steps-at-bias-1)=
# ## Predict: twenty steps at a bias of 1
#
# The gate is $\sigma(1) \approx 0.73$, and each of the twenty steps multiplies the gradient by it.

# %%
my_gradient = torch.sigmoid(torch.tensor(1.0)).item() ** 20
print(f"{my_gradient:.4f}")
check("twenty_steps_at_bias_1", my_gradient)

# %% [markdown]
# About two thousandths is left. A bias of 1 helps over ten steps, but hardly over a hundred.

# %% [markdown]
# (solution-forget-bias)=
# ## Forget bias for a distance
#
# After $d$ steps $f^d$ is left, so the gate must be the $d$-th root of the share. The bias is the number that the sigmoid turns into this gate, its logit: $\log(f / (1 - f))$.


# %%
def forget_bias(distance: int, share: float) -> float:
    f = share ** (1 / distance)
    return math.log(f / (1 - f))


check("forget_bias", forget_bias)

# %% [markdown]
# Which bias keeps half?

# %%
distances = (1, 10, 100, 1000)
table(
    [[d, f"{0.5 ** (1 / d):.4f}", f"{forget_bias(d, 0.5):.2f}"] for d in distances],
    ["steps", "gate", "bias"],
)

# %% [markdown]
# Ten times the distance needs a bias that is larger by about 2.3, the logarithm of 10. That is why a few units of bias are enough for
# hundreds of steps.

# %% [markdown]
# (solution-bits-in-a-state)=
# ## Bits in a state
#
# There are $V^T$ sequences. Telling them apart takes $\log_2 V^T = T \log_2 V$ bits. Round up, since there are no fractions of a unit.


# %%
def units_needed(length: int, vocab_size: int, bits: float) -> int:
    return math.ceil(length * math.log2(vocab_size) / bits)


check("bits_in_a_state", units_needed)

# %% [markdown]
# The number of units needed grows with the length, but the vector doesn't.

# %%
lengths = (5, 10, 20, 40)
table(
    [[length, units_needed(length, vocab_size=1000, bits=1)] for length in lengths],
    ["symbols out of 1000", "units, at one bit each"],
)

# %% [markdown]
# Language is kinder than this count: most sequences of words never occur. But a network also has to *learn* to store them, and in the lesson that fails long before the units run out.

# %% [markdown]
# (solution-fair-width)=
# ## Width at equal parameters
#
# A block has $ND + N^2 + N$ parameters. You could solve a quadratic equation for N, but counting up needs no thought about rounding.


# %%
def hidden_size_for(budget: int, n_blocks: int, input_size: int) -> int:
    N = 0
    while n_blocks * (N + 1) * (input_size + N + 2) <= budget:
        N += 1
    return N


check("fair_width", hidden_size_for)

# %% [markdown]
# Four times as many blocks halve the width instead of quartering it, since most of a block is $N^2$.

# %%
blocks = {"RNN": 1, "GRU": 3, "LSTM": 4}
table(
    [[name, hidden_size_for(20_000, n, input_size=16)] for name, n in blocks.items()],
    ["layer", "width for 20,000 parameters"],
)

# %% [markdown]
# (solution-bahdanau-gru)=
# ## A GRU that reads a context
#
# The reset gate is applied to the old state *before* the product. The product mixes units, so it matters whether a unit is silenced before or after it.


# %%
def gru_step(x, h, W_x, W_h) -> torch.Tensor:
    x_r, x_z, x_n = (x @ W_x.T).chunk(3, dim=1)
    W_hr, W_hz, W_hn = W_h.chunk(3)
    r = (x_r + h @ W_hr.T).sigmoid()
    z = (x_z + h @ W_hz.T).sigmoid()
    n = (x_n + (r * h) @ W_hn.T).tanh()
    return (1 - z) * h + z * n


check("bahdanau_gru", gru_step)

# %% [markdown]
# (solution-convert-update-gate)=
# ## GRU weights in the other convention
#
# The other program needs $1 - z$ where the first has $z$. Since $1 - \sigma(a) = \sigma(-a)$, it is enough to flip the sign of everything that goes into the update gate: its rows of both matrices and of the bias.


# %%
def other_convention(W_x, W_h, b) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    def turned(weight: torch.Tensor) -> torch.Tensor:
        r, z, n = weight.chunk(3)
        return torch.cat([r, -z, n])

    return turned(W_x), turned(W_h), turned(b)


check("convert_update_gate", other_convention)

# %% [markdown]
# So neither convention can do more than the other. They start out differently, though: a bias that makes one of them keep makes the other forget.

# %% [markdown]
# (solution-bidirectional-final-states)=
# ## Bidirectional layers: the last states
#
# The forward direction ends at a sequence's last real step, `lengths - 1`. The backward direction *begins* there and
# ends at position 0, whatever the length.


# %%
def final_states(outputs: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
    forward, backward = outputs.chunk(2, dim=2)
    last = forward[lengths - 1, torch.arange(len(lengths))]
    return torch.cat([last, backward[0]], dim=1)


check("bidirectional_final_states", final_states)

# %% [markdown]
# The library returns the same final states if you pass the lengths to `pack_padded_sequence`.

# %%
gru, lengths = nn.GRU(3, 4, bidirectional=True), torch.tensor([5, 2, 4])
packed = pack_padded_sequence(torch.randn(5, 3, 3), lengths, enforce_sorted=False)
outputs, h = gru(packed)
outputs, _ = pad_packed_sequence(outputs)
torch.testing.assert_close(final_states(outputs, lengths), torch.cat([h[0], h[1]], dim=1))

# %% [markdown]
# (solution-peepholes)=
# ## Peephole connections
#
# The order is the point. Two gates see the cell before it changes, the third sees it afterwards.


# %%
def peephole_step(a, c, p_i, p_f, p_o) -> tuple[torch.Tensor, torch.Tensor]:
    a_i, a_f, a_g, a_o = a.chunk(4, dim=1)
    i, f = (a_i + p_i * c).sigmoid(), (a_f + p_f * c).sigmoid()
    c = f * c + i * a_g.tanh()
    o = (a_o + p_o * c).sigmoid()
    return o * c.tanh(), c


check("peepholes", peephole_step)

# %% [markdown]
# (solution-one-standard-error)=
# ## Choose a model within one standard error
#
# If the means of several models are within one standard error of the best, these runs can't tell them apart, so the cost decides among them.


# %%
def choose(scores: torch.Tensor, costs: torch.Tensor) -> int:
    means = scores.mean(dim=1)
    best = means.argmax()
    error = scores[best].std() / math.sqrt(scores.shape[1])
    good_enough = means >= means[best] - error
    return int(costs.masked_fill(~good_enough, math.inf).argmin())


check("one_standard_error", choose)

# %% [markdown]
# With three seeds, the standard error is itself a rough guess. The rule keeps you from paying for luck, but not from measuring too little.

# %% [markdown]
# (solution-chrono-initialisation)=
# ## Chrono initialisation
#
# A gate with a bias of $\log t$ is at $t / (t + 1)$, so it forgets in about $t$ steps. The input gate of the same unit is at $1 / (t + 1)$: a unit that keeps things for long is written to in small portions.


# %%
def chrono_biases(u: torch.Tensor, longest: int) -> tuple[torch.Tensor, torch.Tensor]:
    b_f = torch.log(1 + u * (longest - 2))
    return -b_f, b_f


check("chrono_initialisation", chrono_biases)

# %% [markdown]
# Now for the measurement, with three ways to begin.


# %%
def build(start: str, longest: int, seed: int) -> LSTM:
    torch.manual_seed(seed)
    layer = LSTM(8, 32, forget_bias=1.0 if start == "bias 1" else 0.0)
    if start == "chrono":
        with torch.no_grad():
            layer.b[:32], layer.b[32:64] = chrono_biases(torch.rand(32), longest)
    return layer


# %% [markdown]
# In an untrained layer, how many of the 32 units still depend on their $c_0$ after 100 steps? The gradient is the full one, along all paths.


# %%
def units_that_remember(start: str, seed: int) -> int:
    layer = build(start, 100, seed)
    c_0 = torch.zeros(1, 32, requires_grad=True)
    state = torch.zeros(1, 32), c_0
    for x_t in torch.randn(100, 1, 8):
        state = layer.cell(x_t, state)
    rows = [torch.autograd.grad(c, c_0, retain_graph=True)[0] for c in state[1][0]]
    return int((torch.cat(rows).diagonal().abs() >= 0.1).sum())


counts = {
    start: [units_that_remember(start, seed) for seed in range(3)]
    for start in ("bias 0", "bias 1", "chrono")
}
observe(
    "After 100 steps, at least a tenth of the gradient is left in {least} to {most} of 32 units with chrono initialisation, and in {none} with one bias for all.",
    least=min(counts["chrono"]),
    most=max(counts["chrono"]),
    none=max(counts["bias 0"] + counts["bias 1"]),
    holds=min(counts["chrono"]) >= 8 and max(counts["bias 0"] + counts["bias 1"]) == 0,
)

# %% [markdown]
# And does it help learning? The stored experiment `chrono` trained such layers to name the first of 30 symbols, with five seeds and at most 250 steps of `train_recall`.

# %%
stored = experiments.load("chrono")
right = {start: stored.column("test", start=start) for start in stored.parameters["start"]}
learned = {start: sum(share > 0.9 for share in shares) for start, shares in right.items()}
observe(
    "With chrono initialisation, {chrono} of 5 networks learn it; with a bias of 0, {zero} do, and with a bias of 1, {one}.",
    chrono=learned["chrono"],
    zero=learned["bias 0"],
    one=learned["bias 1"],
    holds=learned["chrono"] >= 4 and learned["bias 0"] + learned["bias 1"] <= 1,
)

# %% [markdown]
# You have to give this recipe the distance. If you don't know it, take the longest sequence that you have. We didn't measure how that affects shorter memories.
