# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Day 3: Gates: the LSTM and the GRU
#
# **Today's question:** how can a network learn what to keep, and for how long?
#
# After today you can
#
# - compute an LSTM's and a GRU's step by hand, gate by gate,
# - move weights from one convention to another, and say which one a GRU follows,
# - say what a forget gate does to the gradient, and set its bias for a distance,
# - run padded batches in both directions, and read the right states,
# - choose between RNN, LSTM and GRU at equal parameters, from measurements,
# - say what one vector for a sentence can't hold.
#
# Each point is tested by an exercise at the end. The day builds on [Day 2](02_recurrent.ipynb): the
# recurrence, its gradient through time, padded batches, perplexity. The core path takes about 90
# minutes; what lies beyond it is marked. The exercises of warm-up and core take as long again; choose
# some.

# %%
import convolution_to_attention  # is `utils` this book's?

import math
import re

import matplotlib.pyplot as plt
import torch
from torch import nn
from torch.nn import functional as F
from torch.nn.utils.rnn import pack_padded_sequence

# %% [markdown]
# The second cell takes from the book's own package: the module of yesterday and today, the exercises,
# and the bench.

# %%
from utils import recurrent
from utils.data.docstrings import docstring_text
from utils.data.text import pad
from utils.exercises.gates import check
from utils.exercises.progress import checklist
from utils.measure import experiments
from utils.measure.claims import cited_only, claim
from utils.show.display import observe, show_source, table
from utils.show.plotting import COLOURS, bars, curves, use_book_style
from utils.training.loop import Batches, evaluate, fit
from utils.training.metrics import accuracy, mean_and_spread
from utils.training.recipes import clip_gradients, recall_ids, rise_and_fall, train_recall

use_book_style()

# %% [markdown]
# ## Where we stand
#
# *6 minutes.* Yesterday's network reads a sequence of any length, and keeps what it has read in a
# state. Here is the task on which Day 1 ended, once more: name the first of many symbols, at the end.
# There are four symbols, so a guess is right in one case of four. We train the RNN on sequences of
# 50, for 150 steps.

# %%
torch.manual_seed(0)
forgetful = recurrent.SequenceClassifier(4, 8, recurrent.RNN(8, 112), 4)
steps, right = train_recall(forgetful, 50, rounds=3, seed=0)
observe(
    "The RNN guesses: it names a quarter of the symbols right, within 7 points.",
    abs(right - 0.25) < 0.07,
    {"steps": steps, "right": f"{right:.1%}"},
)

# %% [markdown]
# Would it help to train longer? Sometimes, as a table further down will tell: it is a matter of luck.
# Short sequences among the long ones helped yesterday, but not every task has short cases.
# Look at what training has to go by when it begins. We let an untrained layer read 100 random inputs,
# and ask how strongly its last state depends on what it held $k$ steps earlier.


# %%
def gradient_by_distance(layer: recurrent.Recurrent, steps: int, seed: int) -> torch.Tensor:
    """Norm of the last state's gradient by the memory k steps before, over that at k = 0.

    The memory is h, or the c of an LSTM. Shape: (steps,), the first for k = 0.
    """
    generator = torch.Generator().manual_seed(seed)
    x = torch.randn(steps, 8, layer.input_size, generator=generator).double()
    state, memories = layer.initial_state(8), []
    for x_t in x:
        state = layer.cell(x_t, state)
        memories.append(state[-1] if isinstance(state, tuple) else state)
    direction = torch.randn(8, layer.hidden_size, generator=generator).double()
    gradients = torch.autograd.grad((layer.hidden(state) * direction).sum(), memories)
    norms = torch.stack([gradient.norm() for gradient in gradients]).flip(0)
    return norms / norms[0]


# %%
def fades(build, steps: int = 100) -> torch.Tensor:
    """Gradient by distance of an untrained layer in double precision, geometric mean of four draws."""
    norms = []
    for seed in range(4):
        torch.manual_seed(seed)
        norms.append(gradient_by_distance(build().double(), steps, seed))
    return torch.stack(norms).log().mean(0).exp()


plain = fades(lambda: recurrent.RNN(16, 64))
observe(
    "In the RNN less than a millionth of the gradient is left after 50 steps.",
    plain[50] < 1e-6,
    {f"after {k} steps": f"{plain[k]:.0e}" for k in (1, 10, 50)},
)

# %% [markdown]
# With these initial weights, half of the gradient is lost at each step. What the first symbol should have changed can't be heard
# 50 steps later, until chance has made the weights such that something arrives. And the reason lies
# in the design: the state is *made anew* at every step. A matrix and a tanh stand between one step's
# knowledge and the next one's, even when nothing happens.
#
# Could we make the weights large enough that nothing gets lost? Yesterday's answer was that the
# gradient then explodes, or the tanh saturates; even the best start, an orthogonal matrix, only
# fades more slowly, as we will see. The way out is another one: **don't rewrite what you
# want to keep.**

# %% [markdown]
# ## The idea
#
# *6 minutes.* Think of a road that runs through all time steps, straight on. What drives on it stays
# what it is. Three gates stand at the road, at each step:
#
# - the **forget gate** stands across it, and says how much of the traffic may go on,
# - the **input gate** stands at the ramp that leads onto it,
# - the **output gate** stands at the exit, and says how much of it is shown to the world.
#
# The road has a lane for each unit. A gate is not open or shut: it is a number between 0 and 1 for
# each lane. It is computed from the input and from what was shown last, and the network learns how. This is **long short-term memory**, the LSTM
# {cite}`hochreiter1997long`. The road is the **cell state** $c_t$. What is shown is the state $h_t$
# that we know from yesterday.


# %% mystnb={"figure": {"caption": "One step of an LSTM. The cell state c runs along the top, past the forget gate f and the ramp behind the input gate i; the output gate o decides what of it is shown as h. All four letters below are computed from the input and from the last h.", "name": "fig-road"}, "image": {"alt": "A horizontal arrow from c at t minus 1 to c at t passes a multiplication sign and a plus sign. From below, f leads to the multiplication sign; i and g meet in a second multiplication sign that leads to the plus sign. Behind the plus sign an arrow branches off downwards through a tanh, meets o in a third multiplication sign, and leads to h at t. Below, an arrow from h at t minus 1 and x at t leads to f, i, g and o."}}
def draw_road(ax) -> None:
    """The road of the cell state, its gates, and where each of them gets its numbers."""
    arrows = [((0, 3), (1.3, 3)), ((1.7, 3), (3.3, 3)), ((3.7, 3), (8, 3))]  # the road
    arrows += [((1.5, 0.9), (1.5, 2.8)), ((3.5, 1.9), (3.5, 2.8))]  # f; the ramp
    arrows += [((3.0, 0.9), (3.38, 1.55)), ((4.0, 0.9), (3.62, 1.55))]  # i and g
    arrows += [((6.0, 3), (6.0, 2.6)), ((6.0, 2.2), (6.0, 1.9)), ((5.2, 0.9), (5.85, 1.55))]
    arrows += [((6.2, 1.7), (8, 1.7)), ((0, 0), (5.4, 0))]
    for start, end in arrows:
        ax.annotate(
            "",
            end,
            start,
            arrowprops={"arrowstyle": "->", "lw": 4 if end[1] == 3 == start[1] else 2},
        )
    signs = [(1.5, 3, "×"), (3.5, 3, "+"), (3.5, 1.7, "×"), (6.0, 1.7, "×")]
    for x, y, sign in signs:
        ax.text(x, y, sign, ha="center", va="center", fontsize=20, color=COLOURS[1])
    words = [(-0.5, 3, "$c_{t-1}$"), (8.4, 3, "$c_t$"), (8.4, 1.7, "$h_t$"), (6.0, 2.4, "tanh")]
    words += [(-0.9, 0, "$h_{t-1}, x_t$")] + [
        (x, 0.6, f"${letter}_t$") for x, letter in ((1.5, "f"), (3.0, "i"), (4.0, "g"), (5.2, "o"))
    ]
    for x, y, word in words:
        ax.text(x, y, word, ha="center", va="center", fontsize=15 if "$" in word else 12)
    for x in (1.5, 3.0, 4.0, 5.2):
        ax.annotate("", (x, 0.4), (x, 0.02), arrowprops={"arrowstyle": "->"})
    ax.set(xlim=(-1.6, 8.8), ylim=(-0.4, 3.4))
    ax.axis("off")


draw_road(plt.subplots(figsize=(7.4, 3.2))[1])
plt.show()

# %% [markdown]
# In {numref}`fig-road` no matrix and no tanh lies on the road itself. There is one multiplication, by
# a number that may be 1, and one addition. You have met an addition like this: the residual
# connections of Day 1 were a road around the layers. Here the road leads through time, and it has
# gates.

# %% [markdown]
# ## The mathematics
#
# *15 minutes.* The gates are computed as yesterday's state was, each with weights of its own, but
# with the **logistic function** $\sigma(a) = 1 / (1 + e^{-a})$, which lies between 0 and 1:
#
# $$
# \begin{aligned}
# i_t &= \sigma(W_{xi}\, x_t + W_{hi}\, h_{t-1} + b_i), &
# f_t &= \sigma(W_{xf}\, x_t + W_{hf}\, h_{t-1} + b_f), \\
# o_t &= \sigma(W_{xo}\, x_t + W_{ho}\, h_{t-1} + b_o), &
# g_t &= \tanh(W_{xg}\, x_t + W_{hg}\, h_{t-1} + b_g) .
# \end{aligned}
# $$ (eq-lstm-gates)
#
# $g_t$ is no gate. It is the **candidate**, what could be written. Then the road, and the exit:
#
# $$
# c_t = f_t \odot c_{t-1} + i_t \odot g_t, \qquad h_t = o_t \odot \tanh(c_t) .
# $$ (eq-lstm-cell)
#
# The LSTM of 1997 had no forget gate: $f_t$ was 1, and cells filled up on
# streams without an end. The gate came
# three years later {cite}`gers2000learning`, and it is what everybody calls an LSTM today.
#
# ### What the forget gate does to the gradient
#
# Take {eq}`eq-lstm-cell` and hold $f_t$, $i_t$ and $g_t$ fixed. Then
#
# $$
# \frac{\partial c_t}{\partial c_{t-1}} = \operatorname{diag}(f_t), \qquad
# \frac{\partial c_t}{\partial c_{t-k}} = \operatorname{diag}(f_t \odot f_{t-1} \odot \cdots \odot f_{t-k+1}) .
# $$ (eq-road)
#
# We write $\partial$ while $h_{t-1}$ is held fixed, and $d$ when it moves along. For the gates are not
# fixed. They depend on $h_{t-1}$, and $h_{t-1} = o_{t-1} \odot \tanh(c_{t-1})$. So
# there is a second way from cell to cell, through the gates:
#
# $$
# \frac{d c_t}{d c_{t-1}} = \operatorname{diag}(f_t) + \frac{\partial c_t}{\partial h_{t-1}}\, \frac{\partial h_{t-1}}{\partial c_{t-1}} .
# $$ (eq-both-ways)
#
# {eq}`eq-road` is the **direct path** alone. It is often given as the whole truth, and we will
# measure how much is missing. The authors of 1997 knew that well: in training they
# cut the second way off, so that the gradient could neither fade nor explode on it. Only since 2005 is the full gradient in use {cite}`graves2005framewise`.
#
# On the direct path, a gate that stays at $f$ leaves $f^k$ after $k$ steps. A gate of one half loses
# the gradient as fast as yesterday's RNN. So it matters where the gates start. With weights near 0,
# $f \approx \sigma(b_f)$. If $b_f = \log T$, then
#
# $$
# f = \frac{T}{T+1}, \qquad f^{\,T} \approx \frac{1}{e} ,
# $$ (eq-chrono)
#
# so after $T$ steps more than a third is left {cite}`tallec2018can`: $\sigma(\log T) = 1/(1 + 1/T)$,
# and $(1 + 1/T)^T$ comes near $e$ from below.
#
# ### The GRU
#
# Can it be done with less? The **gated recurrent unit** {cite}`cho2014learning` has no cell beside
# its state, and two gates:
#
# $$
# \begin{aligned}
# r_t &= \sigma(W_{xr}\, x_t + W_{hr}\, h_{t-1} + b_r), \qquad
# z_t = \sigma(W_{xz}\, x_t + W_{hz}\, h_{t-1} + b_z), \\
# n_t &= \tanh(W_{xn}\, x_t + W_{hn} (r_t \odot h_{t-1}) + b_n), \\
# h_t &= z_t \odot h_{t-1} + (1 - z_t) \odot n_t .
# \end{aligned}
# $$ (eq-gru)
#
# The **update gate** $z$ is forget gate and input gate in one: what is let in, has to make room. The
# **reset gate** $r$ says how much of the old state the candidate may look at. Two conventions differ
# from source to source, and you have to ask which one you have before you:
#
# - *What $z$ stands for.* In {eq}`eq-gru`, as in the paper of 2014 and in PyTorch, $z = 1$ keeps.
#   Others exchange $z$ and $1 - z$ {cite}`chung2014empirical`. That is a matter of names.
# - *Where the reset stands.* In {eq}`eq-gru` it acts *before* the product with $W_{hn}$. PyTorch's
#   acts *after* it, so that one product serves all three blocks. That is no matter of names. It is
#   another function:
#
# $$
# n_t = \tanh(W_{xn}\, x_t + b_n + r_t \odot (W_{hn}\, h_{t-1} + b_{hn})) .
# $$ (eq-gru-after)
#
# ### Both directions
#
# A tag for a word may hang on what comes after it. If the whole sequence is there, one layer can read
# it forwards and another one backwards, each with weights of its own
# {cite}`schuster1997bidirectional`:
#
# $$
# y_t = [\overrightarrow{h}_t ;\ \overleftarrow{h}_t], \qquad
# \overrightarrow{h}_t \text{ has read } x_0 \dots x_t, \quad \overleftarrow{h}_t \text{ has read } x_{T-1} \dots x_t .
# $$ (eq-bidirectional)
#
# | symbol | shape | meaning |
# | --- | --- | --- |
# | $x_t$ | (B, D) | input at step $t$ |
# | $h_t$ | (B, N) | what the layer shows; the GRU's only state |
# | $c_t$ | (B, N) | the LSTM's cell state, the road |
# | $i_t, f_t, o_t$ | (B, N) | the LSTM's gates: input, forget, output, each in 0..1 |
# | $g_t$, $n_t$ | (B, N) | candidates of LSTM and GRU, in -1..1 |
# | $r_t, z_t$ | (B, N) | the GRU's gates: reset, update |
# | $W_{x\cdot}$, $W_{h\cdot}$ | (N, D), (N, N) | a block for each gate and candidate, stacked into `W_x` and `W_h` |

# %% [markdown]
# ## By hand
#
# *12 minutes.* One unit, one input. The weights are chosen so that each gate gets a round number to
# work on. The input is 1, the unit showed $h = 0.5$ last time, and its cell holds 2. Do the four sums
# before you run on.

# %%
x, h, c = 1.0, 0.5, 2.0
w_x = {"i": 0.0, "f": 1.0, "g": 1.0, "o": -1.0}
w_h = {"i": -2.0, "f": 1.0, "g": 0.0, "o": 2.0}
b = {"i": 0.0, "f": 0.5, "g": 0.0, "o": 0.0}
inside = {name: w_x[name] * x + w_h[name] * h + b[name] for name in "ifgo"}
inside

# %% [markdown]
# The forget gate gets 2, so it stands wide open. The input gate gets -1, the candidate 1, and the
# output gate 0, which is half open.


# %%
def sigma(a: float) -> float:
    """The logistic function."""
    return 1 / (1 + math.exp(-a))


gate = {name: sigma(inside[name]) for name in "ifo"}
g = math.tanh(inside["g"])
print("  ".join(f"{name} = {value:.3f}" for name, value in gate.items()), f" g = {g:.3f}")

# %% [markdown]
# The cell keeps most of its 2, and a little is let in. It stays large. What is shown is squashed, and
# halved.

# %%
kept, written = gate["f"] * c, gate["i"] * g
c_new = kept + written
h_new = gate["o"] * math.tanh(c_new)
print(f"kept {kept:.3f} + written {written:.3f} = cell {c_new:.3f}, shown {h_new:.3f}")

# %% [markdown]
# Now the two derivatives. We nudge the old cell and leave the old $h$ as it was: {eq}`eq-road`. Then
# we let $h$ move along with the cell it was computed from, as it does in the network:
# {eq}`eq-both-ways`. The last output gate was such that this cell showed this $h$.


# %%
def next_cell(c: float, h: float) -> float:
    """The cell after one step from (h, c), with the weights above."""
    i, f, _ = (sigma(w_x[name] * x + w_h[name] * h + b[name]) for name in "ifo")
    return f * c + i * math.tanh(w_x["g"] * x + w_h["g"] * h + b["g"])


tiny = 1e-6
direct = (next_cell(c + tiny, h) - next_cell(c, h)) / tiny
last_o = h / math.tanh(c)
both = (next_cell(c + tiny, last_o * math.tanh(c + tiny)) - next_cell(c, h)) / tiny
print(f"direct path {direct:.3f}, both ways {both:.3f}")

# %% [markdown]
# The first is the forget gate, to the last digit. The second is not far from it: a full cell saturates
# its tanh and so hardly moves $h$, and of what moves, the gates' shares partly cancel.
#
# ### The GRU, and its two resets
#
# One unit can't tell the two conventions apart. Why not? With a single number, $w (r h)$ and
# $r (w h)$ are the same. So we take two units, and a $W_{hn}$ that exchanges them. The reset gate is
# open for the first and shut for the second.

# %%
old = torch.tensor([0.8, -0.4])
exchange = torch.tensor([[0.0, 1.0], [1.0, 0.0]])
r, z = torch.tensor([1.0, 0.0]), torch.tensor([0.5, 0.5])
before, after = exchange @ (r * old), r * (exchange @ old)
for name, recalled in (("before", before), ("after", after)):
    print(f"reset {name} the product:", [round(value, 1) for value in recalled.tolist()])

# %% [markdown]
# Before the product, $r$ chooses which *old* numbers may be looked at: the first, which is then
# passed to the second unit. After it, $r$ chooses which *new* unit may look: the first, which looks
# at the second. With the update gate half open, and nothing from the input, the new states differ.

# %%
for name, recalled in (("before", before), ("after", after)):
    new = z * old + (1 - z) * torch.tanh(recalled)
    print(f"reset {name}: new state", [round(value, 3) for value in new.tolist()])

# %% [markdown]
# ## Build it
#
# *15 minutes.* First one step, as {eq}`eq-lstm-gates` and {eq}`eq-lstm-cell` say. The four blocks
# stand in one matrix, so one product serves them all.

# %%
show_source(recurrent.lstm_step)

# %% [markdown]
# It gives what we found by hand.

# %%
stacked = {k: torch.tensor([[w[name]] for name in "ifgo"]) for k, w in (("x", w_x), ("h", w_h))}
projected = x * stacked["x"].T + torch.tensor([[b[name] for name in "ifgo"]])
h_t, c_t, _ = recurrent.lstm_step(projected, torch.tensor([[h]]), torch.tensor([[c]]), stacked["h"])
assert abs(h_t.item() - h_new) < 1e-6 and abs(c_t.item() - c_new) < 1e-6

# %% [markdown]
# The layer holds the weights, and starts its forget gate at a bias of its own. The walk over the
# steps is yesterday's.

# %%
show_source(recurrent.LSTM)

# %% [markdown]
# *Beyond the core path, up to the GRU.* Autograd could walk back through all these steps; the layer
# does it by hand, which pays on long sequences. At each step, `dc` collects what comes from the step
# after and what comes through $h_t$. Then the inside of each block gets its part: `di_dc`, for one, is
# what makes of the gradient of $c_t$ that of the inside of $i_t$, namely $g_t\, i_t (1 - i_t)$.
# `addcmul(a, b, c)` is $a + b \odot c$. Only the last line for `dc` is the direct path.

# %%
show_source(recurrent.LSTMThroughTime.backward)

# %% [markdown]
# The GRU, with both places of the reset.

# %%
show_source(recurrent.GRU)

# %% [markdown]
# How many parameters is that? An LSTM has four blocks where the RNN has one, a GRU three.

# %%
sizes = ((8, 16), (64, 128), (300, 512))


def parameters(model: nn.Module) -> int:
    """Count the numbers that training changes."""
    return sum(p.numel() for p in model.parameters())


counts = {
    f"{package.__name__}.{kind}": [parameters(getattr(package, kind)(*size)) for size in sizes]
    for package in (nn, recurrent)
    for kind in ("RNN", "GRU", "LSTM")
}
table(
    [[name.removeprefix("torch."), *(f"{n:,}" for n in row)] for name, row in counts.items()],
    ["layer", *(f"D = {D}, N = {N}" for D, N in sizes)],
)

# %% [markdown]
# The library keeps two biases for each block. Mostly only their sum counts, and we keep one. In the
# GRU's candidate one of them stands inside the reset, {eq}`eq-gru-after`, and can't be added to the
# other, so ours keeps both there.
#
# ### Both directions, and padding
#
# A bidirectional layer is two layers. The second one reads the reversed sequence, and its outputs are
# turned round again, so that both sides of an output speak about the same step.

# %%
show_source(recurrent.Bidirectional)

# %% [markdown]
# In a padded batch, "reversed" needs care. Turn the whole row round, and the backward layer reads the
# padding first. So each sequence is turned round within its own length.

# %%
show_source(recurrent.reverse)

# %% [markdown]
# ## Is it right?
#
# *8 minutes.* Against the library, with its weights, in double precision: values, and gradients by
# the input and by the weights of the state.

# %%
x = torch.randn(3, 7, 5, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
x.requires_grad_(True)
for kind in ("LSTM", "GRU"):
    theirs = getattr(nn, kind)(5, 4, batch_first=True).double()
    ours = getattr(recurrent, kind)(5, 4).double()
    ours.load_library(theirs)
    y, y_theirs = ours(x)[0], theirs(x)[0]
    torch.testing.assert_close(y, y_theirs, rtol=1e-10, atol=1e-10)
    mine = torch.autograd.grad(y.pow(2).sum(), (x, ours.W_h))
    its = torch.autograd.grad(y_theirs.pow(2).sum(), (x, theirs.weight_hh_l0))
    torch.testing.assert_close(mine, its, rtol=1e-10, atol=1e-10)
    print(f"{kind}: the same values and gradients")

# %% [markdown]
# So the library's GRU resets *after* the product, as its documentation says. With the paper's
# convention and the same weights, the outputs are others. And with one unit they are the same, as we
# saw by hand, if the bias inside the reset is 0: whoever tests a GRU on a single unit can't see which
# one it is.


# %%
def resets_differ_by(hidden_size: int) -> float:
    """Largest difference between the outputs of the two conventions, with the same weights."""
    torch.manual_seed(0)
    after = recurrent.GRU(5, hidden_size, reset="after").double()
    before = recurrent.GRU(5, hidden_size, reset="before").double()
    before.load_state_dict(after.state_dict(), strict=False)  # b_n, which is 0, has no place there
    return (after(x)[0] - before(x)[0]).abs().max().item()


observe(
    "With one unit the two GRUs agree; with four they differ by more than a hundredth.",
    resets_differ_by(1) < 1e-12 and resets_differ_by(4) > 0.01,
    {f"{N} units": f"{resets_differ_by(N):.0e}" for N in (1, 4)},
)

# %% [markdown]
# ### Padded batches
#
# Three sequences of 7, 4 and 2 steps lie in one batch. In both directions, each must come out as if
# it were alone. We put large numbers where the padding is, so that reading any of it would show. The
# library's way of doing the same is a **packed** sequence.

# %%
lengths = torch.tensor([7, 4, 2])
library = nn.LSTM(5, 4, batch_first=True, bidirectional=True).double()
both_ways = recurrent.Bidirectional(recurrent.LSTM(5, 4), recurrent.LSTM(5, 4)).double()
both_ways.load_library(library)
real = torch.arange(7) < lengths[:, None]  # (B, T)
padded = torch.where(real[:, :, None], x.detach(), 1000.0)
outputs, (h_last, _) = both_ways(padded, lengths=lengths)

# %%
for row, length in enumerate(lengths.tolist()):
    alone, (h_alone, _) = both_ways(padded[row : row + 1, :length])
    torch.testing.assert_close(outputs[row, :length], alone[0], rtol=1e-10, atol=1e-10)
    torch.testing.assert_close(h_last[row], h_alone[0], rtol=1e-10, atol=1e-10)
packed = pack_padded_sequence(padded, lengths, batch_first=True)
h_packed = library(packed)[1][0]  # (2, B, N), a row for each direction
torch.testing.assert_close(h_last, torch.cat(list(h_packed), dim=1), rtol=1e-10, atol=1e-10)

# %% [markdown]
# All three agree. Two mistakes are common here, and neither gives an error. One is to reverse the
# whole row, padding and all: then the short sequences come out wrong. The other is to take
# `outputs[:, -1]` as the final state of both directions. At the last step the backward layer has read
# one symbol only; it has read everything at step 0.

# %%
naive, _ = both_ways(padded)
assert not torch.allclose(naive[2, 0], outputs[2, 0])
first_changed = torch.cat([x[:, :1] + 1, x[:, 1:]], dim=1)  # another first input
moves = (both_ways(first_changed)[0] - both_ways(x)[0])[:, :, 4:].abs().amax((0, 2))  # (T,)
print("backward outputs that hear of the first input:", (moves > 0).nonzero().flatten().tolist())

# %% [markdown]
# What does padding cost? Each padded step is computed and thrown away. We take the lines of the
# docstrings that you know from yesterday, in batches of 64: in random order, and with lines of similar
# length together.


# %%
def share_of_padding(lengths: torch.Tensor) -> float:
    """Share of the computed steps that is padding, in batches of 64 in this order."""
    batches = lengths.split(64)
    computed = sum(len(batch) * batch.max().item() for batch in batches)
    return 1 - lengths.sum().item() / computed


lines = [line for line in docstring_text("train").splitlines() if line]
line_lengths = pad([list(line.encode()) for line in lines])[1]
order = torch.randperm(len(lines), generator=torch.Generator().manual_seed(0))
waste = share_of_padding(line_lengths[order]), share_of_padding(line_lengths.sort().values)
observe(
    "In random order more than a quarter of all steps is padding, sorted by length less than 3 %.",
    waste[0] > 0.25 and waste[1] < 0.03,
    {"random": f"{waste[0]:.0%}", "sorted": f"{waste[1]:.1%}"},
)

# %% [markdown]
# For training, one does not want all short lines first. So the book's `BucketedBatches` sort within
# pools, and shuffle the batches. A packed sequence saves the padded steps too, in another way: at
# each step it computes only the rows that still go on.
#
# ## Train it
#
# *15 minutes.* Back to the task at which the RNN failed. Our LSTM gets fewer units, so that it has
# about as many parameters, and its forget gate starts at $\log 50$, by {eq}`eq-chrono`.

# %%
torch.manual_seed(0)
keeping = recurrent.LSTM(8, 53, forget_bias=math.log(50))
reader = recurrent.SequenceClassifier(4, 8, keeping, 4)
steps, right = train_recall(reader, 50, seed=0)
observe(
    "The LSTM names over 95 % of the first symbols of 50 right.",
    right > 0.95,
    {"steps": steps, "right": f"{right:.1%}", "parameters": f"{parameters(reader):,}"},
)

# %% [markdown]
# One run is an anecdote. A stored experiment trained six kinds of layers at four lengths, for 600
# steps at most, with three seeds and 13,392 to 14,036 parameters each. *Keeping* means a bias of
# $\log T$, at the LSTM's forget gate or at the GRU's update gate. How many of the three runs name over
# 90 % of the symbols right in the end?

# %%
fixed, mixed = experiments.load("recall_fixed"), experiments.load("recall_mixed")
(stored,) = fixed.select(layer="LSTM, keeping", length=50, seed=0)
assert abs(right - stored["test"]) < 0.05


def learned(result: experiments.Result, layer: str, length: int) -> int:
    """In how many seeds over 90 % of the first symbols are named right."""
    return sum(row["test"] > 0.9 for row in result.select(layer=layer, length=length))


# %%
def show_recall(result: experiments.Result) -> None:
    """Show how many of three runs learned the task, by layer and length."""
    layers, lengths = result.parameters["layer"], result.parameters["length"]
    rows = [[name, *(f"{learned(result, name, n)} of 3" for n in lengths)] for name in layers]
    table(rows, ["layer", *(f"{n} steps" for n in lengths)])


show_recall(fixed)

# %% [markdown]
# Two things stand in this table. Networks that start by keeping learn everything, LSTM and GRU alike.
# And the others are no better than the RNN: a GRU as it comes, and an LSTM with a bias of 0, learn 10
# steps and no more, where the RNN without any gate is sometimes lucky at 20 and 50; a bias of 1 lies
# between. A gate that is half open halves what passes, at each step, and so loses as much as the RNN
# does. All that is at one learning rate, within 600 steps and on three seeds: too little to put the
# losers in order. But the plain sentence "gates cure the vanishing gradient" is not what we see. *Open*
# gates do, and somebody has to open them.
#
# A second experiment mixed the lengths: each batch has one of its own, from 2 up to the full one, the
# short ones as often as the long ones. (It may take 1000 steps, and needs few of them.)

# %%
show_recall(mixed)
most = max(row["steps"] for row in mixed.rows)
observe(
    "With shorter sequences in training, all layers learn all lengths, in at most 250 steps.",
    most <= 250 and all(row["test"] > 0.99 for row in mixed.rows),
    {"most steps": most},
)

# %% [markdown]
# Now every layer learns every length, the plain RNN too, and the LSTM with nothing but its common
# bias of 1. What is learned at 5 steps nearly works at 8, and from there it is not far to 12. So the
# RNN *can* hold a symbol for 400 steps. What it can't is find out how, from long sequences alone:
# storing is easy, *learning to store* is hard {cite}`bengio1994learning`. Whoever says that RNNs
# forget after 10 steps, or that LSTMs remember 1000, should say how they were trained.
#
# ### Which language is it?
#
# Recall is an extreme task. Here is one that is nearer to life: in which of twelve languages is a
# word? A stored experiment trained the three kinds with about 24,000 parameters each, by one recipe.

# %%
words = experiments.load("words")
kinds = ["RNN", "GRU", "LSTM"]
rows = []
for kind in kinds:
    found = words.select(layer=kind)
    share = mean_and_spread(row["test"] for row in found)
    rows.append([kind, f"{found[0]['parameters']:,}", f"{share:.1%}"])
table(rows, ["layer", "parameters", "test words right"])

# %% [markdown]
# The test has a few hundred words, so chance alone moves such a share by two points. The RNN is not
# far behind: words are short, and there is little to keep for long.
#
# ### Which letter comes next?
#
# Now the docstrings, letter by letter, with about 103,000 parameters each and three passes over the text.
# And here is a trap. We could choose one learning rate, say 0.003, train all three with it, and print
# the result. This experiment took three rates.

# %%
rates = experiments.load("learning_rates")


def perplexity(kind: str, rate: float, part: str = "validation") -> list[float]:
    """Perplexity of letters on a part of the text, for each seed."""
    return [math.exp(row[part]) for row in rates.select(layer=kind, learning_rate=rate)]


rows = []
for kind in kinds:
    found = [
        f"{mean_and_spread(perplexity(kind, r)):.2f}" for r in rates.parameters["learning_rate"]
    ]
    rows.append([kind, f"{rates.select(layer=kind)[0]['parameters']:,}", *found])
table(rows, ["layer", "parameters", *(f"rate {r}" for r in rates.parameters["learning_rate"])])

# %% [markdown]
# At 0.003 the LSTM looks worst by far. At 0.03 it is the best of the three, and the others have begun
# to suffer. Whoever prints one column of this table compares recipes, not layers. (The comparison of
# languages above used one rate for all, and so has this weakness.) So each kind gets its own rate, chosen on validation data, and only then is the
# test text read.

# %%
best = {
    kind: min(rates.parameters["learning_rate"], key=lambda r: sum(perplexity(kind, r)))
    for kind in kinds
}
of_test = {kind: mean_and_spread(perplexity(kind, best[kind], "test")) for kind in kinds}
table(
    [[kind, str(best[kind]), f"{of_test[kind]:.2f}"] for kind in kinds],
    ["layer", "best rate", "perplexity on the test text"],
)

# %%
apart = max(of_test[kind].mean for kind in kinds) / min(of_test[kind].mean for kind in kinds)
alike = apart < 1.1
observe(
    "Each at its best rate, the three kinds lie within 10 % in perplexity.",
    alike,
    {"highest over lowest": f"{apart:.2f}"},
)

# %% [markdown]
# At this size, and after three passes over 300,000 letters, there is little to choose between the
# three. The LSTM's best rate lies at the edge of what was tried, so it may have more in it. On raw
# speech gated networks were found to be better than the plain one, with LSTM and GRU about equal
# {cite}`chung2014empirical`.
#
# ### What does a step cost?
#
# At equal *width* the GRU has three blocks where the LSTM has four. A stored table has the time of a
# forward and a backward pass over 12,800 symbols, 64 units wide, on one core, for our layers and for
# the library's. The work stays the same: 1280 sequences of 10 steps, or 16 of 800. Only the number of
# steps that wait for each other grows, and each becomes smaller.

# %%
cost = experiments.load("recurrent_time")
spans = cost.parameters["length"]
took = {
    name: [cost.select(layer=name, length=T)[0]["milliseconds"] for T in spans]
    for name in cost.parameters["layer"]
}

# %%
table(
    [[name, *(f"{milliseconds:.0f}" for milliseconds in row)] for name, row in took.items()],
    ["milliseconds", *(f"{T} steps" for T in spans)],
)

# %% [markdown]
# By its arithmetic a GRU should take three quarters of an LSTM's time. In few large steps ours takes
# about that. The library's takes as long as its LSTM or longer, since that has a kernel of its own on the processor that measured. In
# many small steps both take more. Then another thing
# decides: how many single operations have to be started, and how they are written. Our LSTM's way back
# is written by hand, our GRU's is left to autograd. Which one is faster is a question about software,
# too.

# %% [markdown]
# ### Future context
#
# Chinese is written without spaces, and so was Latin. We take the docstrings' spaces away and ask for
# each letter: does a word end here? After `the` it does if `module` follows, and it does not if
# `mselves` does. A reader who goes from left to right has to decide before she sees it.


# %%
def unspaced(part: str, length: int = 32) -> tuple[torch.Tensor, torch.Tensor]:
    """Letters of the docstrings without spaces, 0 to 25, and 1 where a word ends; both (n, T)."""
    words = re.findall("[a-z]+", docstring_text(part).lower())
    letters = torch.tensor([ord(letter) - ord("a") for letter in "".join(words)])
    ends = torch.zeros_like(letters)
    ends[torch.tensor([len(word) for word in words]).cumsum(0) - 1] = 1
    n = len(letters) // length
    return letters[: n * length].view(n, length), ends[: n * length].view(n, length)


letters, ends = unspaced("test")
print("nowhereisnowhere  the letters")
print("--|---|-|------|  the ends, if it reads: now here is nowhere")
observe(
    "Whoever always says 'no end' is right for three quarters to five sixths of the test's letters.",
    3 / 4 < 1 - ends.double().mean() < 5 / 6,
    {"no end": f"{1 - ends.double().mean():.1%}", "letters": f"{ends.numel():,}"},
)


# %%
class Segmenter(nn.Module):
    """Says for each letter whether a word ends there. Letters (B, T) to logits (B, T, 2)."""

    def __init__(self, direction: str, hidden_size: int):
        super().__init__()
        self.reversed, both = direction == "backward", direction == "both"
        self.embedding = nn.Embedding(26, 16)
        self.layer = nn.LSTM(16, hidden_size, batch_first=True, bidirectional=both)
        self.output = nn.Linear((1 + both) * hidden_size, 2)

    def forward(self, letters: torch.Tensor) -> torch.Tensor:
        x = self.embedding(letters.flip(1) if self.reversed else letters)
        outputs = self.output(self.layer(x)[0])
        return outputs.flip(1) if self.reversed else outputs


# %%
def words_found(direction: str, hidden_size: int, seed: int) -> tuple[int, float]:
    """Parameters of a segmenter, and its share of right answers on new text."""
    torch.manual_seed(seed)
    model = Segmenter(direction, hidden_size)
    batches = Batches(*unspaced("train"), batch_size=32, shuffle=True)
    optimiser = torch.optim.Adam(model.parameters(), lr=1e-2)
    clip_gradients(optimiser, 1.0)
    fit(model, batches, per_step, optimiser, epochs=1, seed=seed)
    test = [(letters, ends)]
    return parameters(model), evaluate(model, test, per_step, {"accuracy": accuracy})["accuracy"]


def per_step(logits: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
    """Mean cross-entropy over all steps. Shapes: logits (B, T, n), target (B, T)."""
    return F.cross_entropy(logits.flatten(0, 1), target.flatten())


# %%
directions = {"forward": 48, "backward": 48, "both": 32}  # hidden units, for equal parameters
runs = {d: [words_found(d, N, seed) for seed in (0, 1, 2)] for d, N in directions.items()}
found = {direction: [right for _, right in three] for direction, three in runs.items()}
table(
    [[d, f"{runs[d][0][0]:,}"] for d in directions],
    ["direction", "parameters"],
)

# %% mystnb={"figure": {"caption": "Share of letters for which it is wrongly said whether a word ends there: mean and range over three seeds, about 13,000 parameters each.", "name": "fig-directions"}, "image": {"alt": "Three bars. The forward reader is wrong most often, the backward reader clearly less, the one that reads both ways least."}}
wrong = {d: [1 - right for right in three] for d, three in found.items()}
bars(wrong, "share of wrong answers")
plt.show()

# %%
observe(
    "Every backward reader is wrong less often than every forward one, by a point at least, and every "
    "reader of both directions less often than every backward one.",
    max(wrong["backward"]) + 0.01 < min(wrong["forward"])
    and max(wrong["both"]) < min(wrong["backward"]),
    {d: f"{min(three):.1%} to {max(three):.1%}" for d, three in wrong.items()},
)

# %% [markdown]
# By {numref}`fig-directions` the future is worth more than the past here: where a word ends, one sees
# best from the next word's beginning. The past still adds to it. All of this holds if the future is
# there. Who predicts the next letter, or listens to somebody who is still speaking, can't use it.

# %% [markdown]
# ## Look inside
#
# *20 minutes.* What do gates do to the gradient? We measure as we did at the top, for untrained
# layers whose gates start in different places. Beside it stands depth in place of time: a stack of
# 100 layers, $\tanh(W x + b)$ alone, with a residual road around each layer, and with a road that
# lets only $\sigma(1) = 0.73$ of its traffic through.


# %%
def gradient_by_depth(road: float, seed: int, orthogonal: bool = False) -> torch.Tensor:
    """Norm of the gradient k layers below the top of a stack, over that at the top. Shape: (100,)."""
    torch.manual_seed(seed)
    layers = [nn.Linear(64, 64).double() for _ in range(100)]
    for layer in layers if orthogonal else ():
        nn.init.orthogonal_(layer.weight)
    x, states = torch.randn(8, 64, dtype=torch.float64, requires_grad=True), []
    for layer in layers:
        x = road * x + torch.tanh(layer(x))
        states.append(x)
    gradients = torch.autograd.grad((x * torch.randn(8, 64)).sum(), states)
    norms = torch.stack([gradient.norm() for gradient in gradients]).flip(0)
    return norms / norms[0]


# %%
def biased_gru(bias: float) -> recurrent.GRU:
    """A GRU whose update gate starts at a bias."""
    layer = recurrent.GRU(16, 64)
    with torch.no_grad():
        layer.b[64:128] += bias  # the blocks stand in the order r, z, n
    return layer


# %%
def orthogonal_rnn() -> recurrent.RNN:
    """An RNN whose W_h starts as a rotation."""
    layer = recurrent.RNN(16, 64)
    nn.init.orthogonal_(layer.W_h)
    return layer


# %%
in_time = {
    "RNN": plain,
    "RNN, orthogonal": fades(orthogonal_rnn),
    "LSTM, bias 0": fades(lambda: recurrent.LSTM(16, 64, forget_bias=0)),
    "LSTM, bias 1": fades(lambda: recurrent.LSTM(16, 64, forget_bias=1)),
    "LSTM, bias log 100": fades(lambda: recurrent.LSTM(16, 64, forget_bias=math.log(100))),
    "GRU, bias log 100": fades(lambda: biased_gru(math.log(100))),
}
roads = {"no road": 0.0, "road of 0.73": sigma(1.0), "residual": 1.0}
in_depth = {
    name: torch.stack([gradient_by_depth(road, seed) for seed in range(4)]).log().mean(0).exp()
    for name, road in roads.items()
}
bare = [gradient_by_depth(0.0, seed, orthogonal=True) for seed in range(4)]
in_depth["no road, orthogonal"] = torch.stack(bare).log().mean(0).exp()

# %% mystnb={"figure": {"caption": "Gradient that arrives from the last state, by distance: through time (left) in untrained recurrent layers, through depth (right) in untrained stacks. Geometric mean of four draws, in double precision.", "name": "fig-highways"}, "image": {"alt": "Two panels with logarithmic axes. Left: the lines of the RNN and of the LSTM with bias 0 fall together to ten to the minus twenty and below within 100 steps; with bias 1, and for the RNN with an orthogonal matrix, the line falls to about ten to the minus seven; with bias log 100 the GRU falls to about 0.4 and the LSTM grows to about 50. Right: without a road the line falls to below ten to the minus twenty, with a road of 0.73 a little, without a road but with orthogonal matrices to a few thousandths, and with residual connections it grows somewhat."}}
figure, axes = plt.subplots(1, 2, figsize=(9.6, 4.2), sharey=True)
for ax, lines, xlabel in (
    (axes[0], in_time, "distance (steps)"),
    (axes[1], in_depth, "distance (layers)"),
):
    curves({n: (range(100), norms) for n, norms in lines.items()}, xlabel, "", logy=True, ax=ax)
axes[0].set_ylabel("gradient, relative to distance 0")
plt.show()

# %%
far = {name: norms[99].item() for name, norms in (in_time | in_depth).items()}
observe(
    "From the library's initial weights, the RNN, the LSTM with bias 0 and the stack without a road keep less "
    "than a billionth of a billionth of the gradient over 99 steps or layers. With open gates the GRU keeps a "
    "third or a little more, and the LSTM's gradient grows over tenfold; over residual roads it does not shrink.",
    max(far["RNN"], far["LSTM, bias 0"], far["no road"]) < 1e-18
    and 0.3 < far["GRU, bias log 100"] < 0.45
    and far["LSTM, bias log 100"] > 10
    and far["residual"] > 1,
    {name: f"{left:.0e}" for name, left in far.items()},
)

# %% [markdown]
# Left and right in {numref}`fig-highways` tell the same story: where a road is open, the gradient
# arrives. And look at the bias of 0: an LSTM whose gates start half open fades nearly as fast as the
# RNN. It is not the *having* of a forget gate that helps, it is the gate *being open*.
#
# The lines don't all follow {eq}`eq-chrono`. The GRU does: a little over a third is left. The LSTM with
# the same bias ends with more than it had, and with a bias of 1 it keeps far more than $0.73^{99}$.
# Something comes beside the road; the next section measures it. Nor is a road the only way to keep a
# gradient at the start. Orthogonal matrices lose far less than the usual ones. But they are orthogonal
# only at the start: training moves them, and the tanh still rewrites the state.
#
# A bias of 1 is our default, and a common one {cite}`jozefowicz2015empirical`. The library has no such
# setting. Its two biases are drawn around 0, so its gates start half open, and one has to open them
# oneself. The blocks stand in the order i, f, g, o:

# %%
library_lstm = nn.LSTM(16, 64)
with torch.no_grad():
    library_lstm.bias_ih_l0[64:128] += 1  # one of the two is enough: they add up
start = sigma((library_lstm.bias_ih_l0 + library_lstm.bias_hh_l0)[64:128].mean().item())
assert 0.7 < start < 0.76

# %% [markdown]
# Depth has learned the same lesson. Highway networks put the LSTM's gates on their roads
# {cite}`srivastava2015highway`, residual networks removed them, and a road that is scaled down makes a
# deep network worse {cite}`he2016identity`.
#
# ### How much of the gradient drives on the road?
#
# {eq}`eq-both-ways` has two ways. With autograd we can follow both, or cut the second by detaching
# $h$. How large is the second, compared with the first?


# %%
def cell_jacobians(lstm: recurrent.LSTM, x: torch.Tensor, direct_only: bool) -> tuple:
    """d c_T / d c_0 (N, N), and the product of all forget gates (N,), of one sequence x (T, D).

    The state before x is what ten steps on its first input have left.
    """
    state = lstm.initial_state(1)
    for _ in range(10):
        shown = lstm.gates(x[:1], state)[3].detach()
        state = lstm.cell(x[:1], state)
    products = []

    def read(c: torch.Tensor) -> torch.Tensor:
        h, product = shown * c.tanh(), torch.ones_like(c)
        for x_t in x[:, None]:
            h = h.detach() if direct_only else h
            product = product * lstm.gates(x_t, (h, c))[1]
            h, c = lstm.cell(x_t, (h, c))
        products.append(product[0].detach())
        return c[0]

    jacobian = torch.autograd.functional.jacobian(read, state[1].detach())
    return jacobian[:, 0], products[0]


# %%
def second_way(lstm: recurrent.LSTM, x: torch.Tensor) -> float:
    """Size of what does not come along the direct path, relative to what does (Frobenius norms)."""
    lstm, x = lstm.double(), x.double()
    direct, gates = cell_jacobians(lstm, x, direct_only=True)
    torch.testing.assert_close(direct, gates.diag(), rtol=1e-10, atol=1e-12)
    full, _ = cell_jacobians(lstm, x, direct_only=False)
    return ((full - direct).norm() / direct.norm()).item()


# %%
shares = {1: [], 20: []}
for steps in shares:
    for seed in (0, 1, 2):
        torch.manual_seed(seed)
        untrained = recurrent.LSTM(8, 53, forget_bias=1)
        shares[steps].append(second_way(untrained, torch.randn(steps, 8)))
observe(
    "The direct path is the product of the forget gates. What comes the second way is between a tenth and a "
    "quarter of it after one step, and over five times as large after 20 (untrained, bias 1, three seeds).",
    min(shares[1]) > 0.1 and max(shares[1]) < 0.25 and min(shares[20]) > 5,
    {f"{steps} steps": f"{min(s):.2f} to {max(s):.2f}" for steps, s in shares.items()},
)

# %% [markdown]
# After one step the second way has about a sixth of the direct path's size; after 20 steps it is several
# times as large. There are many ways that leave the road and come back, and together they carry more
# than the road does.
#
# ### Does the road carry the memory?
#
# So a trained LSTM keeps what it has read on the road, with gates near 1? We train three of them to
# recall the first of 20 symbols, and then let them read 1000 symbols, far more than they have ever
# seen. We follow the forget gates: what would be left on the road alone, in the best of 53 lanes?


# %%
def recall_after(model: recurrent.SequenceClassifier, length: int, ramp: int) -> tuple:
    """Share of first symbols named right, and of a cell what the forget gates leave, in the best lane.

    From step `ramp` on nothing more is written into the cell: i ⊙ g is left out.
    """
    ids, first = recall_ids(200, length, seed=5_000_000)
    (h, c), log_left = model.layer.initial_state(200), 0.0
    with torch.no_grad():
        for t, x_t in enumerate(model.embedding(ids).unbind(1)):
            i, f, g, o = model.layer.gates(x_t, (h, c))
            c = f * c + (i * g if t < ramp else 0)
            h, log_left = o * c.tanh(), log_left + f.log()
        return accuracy(model.output(h), first), log_left.exp().amax(1).mean().item()


# %%
holders = []
for seed in (0, 1, 2):
    torch.manual_seed(seed)
    layer = recurrent.LSTM(8, 53, forget_bias=math.log(20))
    holders.append(recurrent.SequenceClassifier(4, 8, layer, 4))
    train_recall(holders[-1], 20, seed=seed)
after = [recall_after(model, 1000, ramp=1000) for model in holders]
cut = {
    length: [recall_after(model, length, ramp=20)[0] for model in holders] for length in (100, 1000)
}

# %%
right, left = zip(*after)
observe(
    "Trained on 20 steps, all three still name over 90 % of the first symbols after 1000; the forget gates "
    "would have left less than a tenth in the best lane.",
    min(right) > 0.9 and max(left) < 0.1,
    {"right": f"{min(right):.0%} or more", "left of a cell": f"{max(left):.1%} or less"},
)

# %% [markdown]
# Is that little enough after all, or does the network *write it again* as it goes? We shut the ramp: after the
# first 20 symbols nothing more gets onto the road.

# %%
observe(
    "With the ramp shut after 20 symbols, all three are right in over 90 % after 100 symbols, and in under "
    "40 % after 1000, where chance is a quarter.",
    min(cut[100]) > 0.9 and max(cut[1000]) < 0.4,
    {f"{length} steps": f"{min(s):.0%} to {max(s):.0%}" for length, s in cut.items()},
)

# %% [markdown]
# So for 100 steps the road alone suffices, and for 1000 it does not: whatever has leaked must be
# refilled. $h$ tells the candidate and the input gate what to put back into the cell. Engineers call
# this a **latch**. A plain RNN can hold a bit that way too {cite}`bengio1994learning`, and as we saw, it
# learns to, if short sequences are mixed in. The open road lets a network learn *from long sequences
# alone*; for the mere keeping it is not needed.
#
# ### Gates over a text
#
# *Beyond the core path, as is the rest of this section.* In a model of text, one can find units that mean something. A famous one knows whether the text is
# inside quotation marks {cite}`karpathy2015visualizing`. Such findings are easy to make by looking
# long enough, so a stored experiment fixed the rules in advance. It trained an LSTM of 120 units on
# the docstrings, three times. It picked the unit whose cell correlates most with "inside quotation
# marks", on validation text, and judged it on the test's. Then it cut that unit out, which means that it
# held its $h$ and $c$ at 0, and looked at the loss of the closing marks.

# %%
quotes = experiments.load("quotes")


def judged(row: dict) -> list[str]:
    """Correlations of the picked unit; losses at closing marks whole, without it, without another."""
    correlations = [row[f"correlation, {part}"] for part in ("validation", "test")]
    losses = [row["loss"], row["loss, unit cut"], max(row["loss, another cut"])]
    return [f"{abs(r):.2f}" for r in correlations] + [f"{loss:.2f}" for loss in losses]


table(
    [["trained" if row["epochs"] else "untrained", *judged(row)] for row in quotes.rows],
    ["LSTM", "validation", "test", "loss (nats)", "unit cut", "worst other unit cut"],
)

# %% [markdown]
# Two columns are correlations of the picked unit, the last three are losses at the test's closing
# marks. Look at the untrained networks first. With 120 units to choose from, some unit always
# correlates a little, and on other text some of that is gone. After training the correlations are hardly
# higher. And a correlation does not say that the network *uses* the unit. The cut does.

# %%
trained = quotes.select(epochs=6)
observe(
    "In none of three trained networks does cutting the picked unit cost anything at closing marks; cutting "
    "another one raises the loss by over a twentieth.",
    all(row["loss, unit cut"] < row["loss"] for row in trained)
    and all(max(row["loss, another cut"]) > 1.05 * row["loss"] for row in trained),
    {"closing marks in the test": trained[0]["closing marks"]},
)

# %% [markdown]
# So the rule found no unit that keeps track of quotations here. A closing mark still costs over four nats: our networks have
# hardly learned to expect one. Larger ones, with more text, may well have such a unit; that is not decided here. What the rule spared us
# is the other mistake: to look for a unit that moves at some marks, and to believe it.

# %% [markdown]
# ## Where it breaks
#
# *7 minutes.* A gated network keeps one symbol for a thousand steps. Can it keep a sentence? The task
# is a child's: say after me. The network reads some symbols out of eight, then a sign, and then it
# has to repeat them. At the sign all that it knows is its state, one vector. While it repeats, it
# gets the right last symbol each time, so no mistake pulls others after it.


# %%
def say_after_me(n: int, length: int, seed: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Symbols, a sign (8), the symbols again but for the last; and what is to be said."""
    symbols = torch.randint(8, (n, length), generator=torch.Generator().manual_seed(seed))
    return torch.cat([symbols, torch.full((n, 1), 8), symbols[:, :-1]], dim=1), symbols


# %%
class Repeater(nn.Module):
    """A language model that is asked from the sign on. Ids (B, 2T) to logits (B, T, 9)."""

    def __init__(self, hidden_size: int):
        super().__init__()
        self.model = recurrent.LanguageModel(9, 16, recurrent.LSTM(16, hidden_size))

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        return self.model(ids)[0][:, ids.shape[1] // 2 :]


# %%
def trained_repeater(hidden_size: int, steps: int = 450) -> Repeater:
    """Train on sentences of 1 to 12 symbols."""
    torch.manual_seed(0)
    model = Repeater(hidden_size)
    optimiser, schedule = rise_and_fall(model, 1e-2, steps)
    batches = [say_after_me(64, 1 + 7 * k % 12, seed=k) for k in range(steps)]
    fit(model, batches, per_step, optimiser, epochs=1, schedule=schedule)
    return model


widths, sentence_lengths = (16, 32, 64), range(1, 13)
repeaters = {N: trained_repeater(N) for N in widths}
longer = trained_repeater(64, steps=1350)


# %%
@torch.no_grad()
def right_symbols(repeater: Repeater, length: int) -> torch.Tensor:
    """Whether each symbol of 500 new sentences is repeated right. Shape: (500, T)."""
    ids, symbols = say_after_me(500, length, seed=1_000_000 + length)
    return repeater(ids).argmax(2) == symbols


def shares_exact(repeater: Repeater) -> list[float]:
    """Share of sentences without a mistake, by length."""
    right = (right_symbols(repeater, length) for length in sentence_lengths)
    return [each.all(1).double().mean().item() for each in right]


exact = {N: shares_exact(repeater) for N, repeater in repeaters.items()}
exact_longer = shares_exact(longer)

# %% mystnb={"figure": {"caption": "Share of sentences repeated without a mistake, by their length, for states of three widths after 450 steps of training, and for the widest after 1350.", "name": "fig-bottleneck"}, "image": {"alt": "Four curves that start at one and fall; with 16 units the fall begins at two symbols, with 32 at four, with 64 at five, and with 64 and three times the steps at seven."}}
lines = {f"N = {N}": (sentence_lengths, shares) for N, shares in exact.items()}
curves(
    lines | {"N = 64, longer": (sentence_lengths, exact_longer)},
    "length of the sentence (symbols)",
    "share repeated exactly",
)
plt.show()

# %%
observe(
    "All widths repeat a single symbol in over 97 % of cases, and no width repeats twelve in over 10 %; at "
    "five symbols, each doubling of the width helps by over 15 points.",
    all(shares[0] > 0.97 and shares[-1] < 0.1 for shares in exact.values())
    and exact[32][4] > exact[16][4] + 0.15
    and exact[64][4] > exact[32][4] + 0.15,
    {f"N = {N}, five symbols": f"{shares[4]:.0%}" for N, shares in exact.items()},
)

# %% [markdown]
# The sentences that were lost are no longer than those of the training: twelve symbols were seen as
# often as one. Which part is lost?

# %%
by_place = right_symbols(repeaters[64], 12).double().mean(0)  # (T,)
observe(
    "Of twelve symbols the first and the last are named right more often than the weakest of the others, by "
    "5 points.",
    min(by_place[0], by_place[-1]) > by_place[1:-1].min() + 0.05,
    {
        "first": f"{by_place[0]:.0%}",
        "weakest": f"{by_place.min():.0%}",
        "last": f"{by_place[-1]:.0%}",
    },
)

# %% [markdown]
# In {numref}`fig-bottleneck` a wider state moves the cliff. So does longer training, and neither removes
# it here. Is the vector too small, then?

# %%
observe(
    "With three times the training, 64 units repeat over 40 points more of the sentences of eight symbols, and of "
    "those of twelve still under 20 %.",
    exact_longer[7] > exact[64][7] + 0.4 and exact_longer[11] < 0.2,
    {f"{n} symbols": f"{exact[64][n - 1]:.0%}, longer {exact_longer[n - 1]:.0%}" for n in (8, 12)},
)

# %% [markdown]
# Room would be there, as exercise 3.12 counts. What takes so long to learn is the *use* of it. Each symbol
# must be written into the state so that none of the later ones disturbs it, and must be found there
# again when its turn comes. And all of it goes through one vector, whose size is fixed before the first
# word. (One seed and one learning rate each: the order of the lines is safe, their exact places are not.)
#
# In Day 1 somebody had to say in advance *how far* to look. Here somebody has to say in advance *how
# much* fits in. What we would like is a network that keeps all that it has read, step by step, and
# looks up what it needs.

# %% [markdown]
# ## Claims, measured
#
# *6 minutes.* Seven sentences that one often reads about gated networks, and what we found.
#
# (claim-lstm-1)=

# %%
first = recall_ids(1, 20, seed=1)[0]  # one sequence
of_trained = [second_way(m.layer, m.embedding(first)[0].detach()) for m in holders]
numbers = {"1 step": shares[1], "20 steps": shares[20], "20 steps, trained": of_trained}
x = holders[0].embedding(first)[0].detach().double()
jacobian, product = cell_jacobians(holders[0].layer, x, direct_only=True)
is_product = torch.allclose(jacobian, product.diag(), rtol=1e-10, atol=1e-12)

# %%
claim(
    "lstm-1",
    supports={"with h held fixed, the gradient is the product of the forget gates": is_product},
    limits={
        "after one step, what comes through h is over a twentieth of it": min(shares[1]) > 0.05,
        "after 20 steps of an untrained layer it is the larger part": min(shares[20]) > 1,
        "after 20 steps of a trained one it is over a twentieth": min(of_trained) > 0.05,
    },
    numbers={f"second way, {name}": sum(three) / 3 for name, three in numbers.items()},
)

# %% [markdown]
# (claim-lstm-2)=

# %%
columns = range(len(sizes))
library = {kind: counts[f"torch.nn.{kind}"] for kind in ("RNN", "GRU", "LSTM")}
claim(
    "lstm-2",
    supports={
        "at three sizes the LSTM has exactly four times as many as the RNN": all(
            library["LSTM"][n] == 4 * library["RNN"][n] for n in columns
        ),
        "and the GRU exactly three quarters of the LSTM's": all(
            4 * library["GRU"][n] == 3 * library["LSTM"][n] for n in columns
        ),
    },
    numbers={kind: row[-1] for kind, row in library.items()},
)

# %% [markdown]
# That is at equal width, and for the layer alone. Where this page compares what layers *learn*, their
# parameters are about equal, and so the LSTM is narrower. Costs and gradients it compares at equal width.
# %% [markdown]
# (claim-lstm-3)=

# %%
ratios = {
    T: [took[f"{of}GRU"][n] / took[f"{of}LSTM"][n] for of in ("", "nn.")]
    for n, T in enumerate(spans)
}
seconds = {
    kind: mean_and_spread(
        row["seconds"] for row in rates.select(layer=kind, learning_rate=best[kind])
    )
    for kind in kinds
}

few_steps, many_steps = max(ratios[T][0] for T in (10, 25, 50)), min(ratios[400] + ratios[800])
slower = seconds["GRU"].mean > 0.95 * seconds["LSTM"].mean
measured = {f"GRU's time over LSTM's, {T} steps": ours for T, (ours, _) in ratios.items()}
measured |= {f"the library's, {T} steps": theirs for T, (_, theirs) in ratios.items()}
measured |= {f"seconds of training, {kind}": took.mean for kind, took in seconds.items()}

# %%
claim(
    "lstm-3",
    supports={
        "at equal width, over 10 to 50 steps, ours takes under 0.9 of the time": few_steps < 0.9,
        "at equal parameters, each at its best rate, perplexities lie within 10 %": alike,
    },
    limits={
        "over 400 or 800 steps it takes longer, ours and the library's": many_steps > 1,
        "at equal parameters, ours over 64 steps, its training is not shorter": slower,
    },
    numbers=measured,
    experiment="recurrent_time",
)

# %% [markdown]
# (claim-lstm-4)=

# %%
kept_100 = learned(fixed, "LSTM, keeping", 100)
longest = learned(mixed, "LSTM", 400)

# %%
claim(
    "lstm-4",
    supports={
        "with a forget bias of log 100 all three learn 100 steps": kept_100 == 3,
        "shown shorter sequences too, with a bias of 1, all three learn 400": longest == 3,
    },
    limits={
        "from long ones alone, with a bias of 1, none of three learns 50": (
            learned(fixed, "LSTM, bias 1", 50) == 0
        ),
        "with a bias of 0 none learns 20": learned(fixed, "LSTM, bias 0", 20) == 0,
        "shown shorter sequences too, the plain RNN learns 400": learned(mixed, "RNN", 400) == 3,
    },
    experiment="recall_fixed",
)

# %% [markdown]
# What the LSTM is praised for hangs on a number that is easily overlooked: where its forget gate
# starts. (The cell of 1997 had no such gate, which is a gate that is always open.) *Keeping* is another
# matter than learning: the three that learned 20 steps kept a symbol for 1000.

# %% [markdown]
# (claim-lstm-5)=

# %%
open_gates, bare = far["GRU, bias log 100"], max(far["RNN"], far["no road"])
half_open, at_one = far["LSTM, bias 0"], far["LSTM, bias 1"]
growing, orthogonal = far["LSTM, bias log 100"], far["no road, orthogonal"]

# %%
claim(
    "lstm-5",
    supports={
        "with an open gate a third of a GRU's is left after 99 steps": open_gates > 0.3,
        "after 99 residual layers it is all there": far["residual"] > 1,
        "with the usual weights and no road, less than 1e-18, in time or depth": bare < 1e-18,
    },
    limits={
        "with a forget bias of 1 less than a ten-thousandth of it is left": at_one < 1e-4,
        "with a forget bias of 0 less than 1e-18, as in the RNN": half_open < 1e-18,
        "an LSTM's grows over tenfold, which its road alone can't do": growing > 10,
        "orthogonal weights keep a thousandth over 99 layers without a road": orthogonal > 1e-3,
    },
    numbers={f"left after 99, {name}": left for name, left in far.items()},
)

# %% [markdown]
# A residual road has no gate. The LSTM's is like it as long as the gate is open, and the gate is free
# to close. That is its purpose.
#
# (claim-lstm-6)=

# %%
cited_only(
    "lstm-6",
    "does not hold",
    "a trained BERT is not run here; its paper calls the model a multi-layer bidirectional Transformer encoder "
    "(Devlin et al., 2019, section 3), and no layer of it is recurrent",
)

# %% [markdown]
# The word *bidirectional* is what the two have in common. BERT {cite}`devlin2019bert` gets it in
# another way, which is a matter for a later day.
#
# (claim-lstm-7)=

# %%
pair = recurrent.Bidirectional(recurrent.RNN(3, 4), recurrent.RNN(3, 4))
_, state = pair(torch.randn(1, 5, 3))
try:
    waits = pair(torch.randn(1, 5, 3), state) is None
except ValueError as refused:
    waits = "whole sequence" in str(refused)

# %%
claim(
    "lstm-7",
    supports={
        "at equal parameters, all readers of both directions beat all others in finding word ends": max(
            wrong["both"]
        )
        < min(wrong["backward"] + wrong["forward"]),
        "the future alone beats the past alone, by a point at least": max(wrong["backward"]) + 0.01
        < min(wrong["forward"]),
    },
    limits={"it has to wait for the end: it can't go on from a state, as one direction can": waits},
    numbers={f"wrong, {d}, seed {k}": w for d, three in wrong.items() for k, w in enumerate(three)},
)

# %% [markdown]
# ## Exercises
#
# *As long as you like.* Fill in the functions and run the cells; the check under each one tells you
# what is wrong, if something is. Solutions stand on [a page of their own](solutions/03_gates.ipynb).
#
# ```{exercise} Count before you build
# :label: exercise-3-1
#
# *Warm-up, 3 minutes.* How many parameters has `nn.LSTM(10, 16, bidirectional=True)`? Write down the number before you ask
# PyTorch. Remember that the library keeps two biases where one would do.
# ([Solution](solutions/03_gates.ipynb#solution-3-1))
# ```

# %%
my_count = None

check("3.1", my_count)

# %% [markdown]
# ```{exercise} A fair width
# :label: exercise-3-2
#
# *Warm-up, 10 minutes.* Layers should be compared at equal parameters. A layer has `n_blocks` blocks:
# 1 in an RNN, 3 in a GRU, 4 in an LSTM. A block has $W_x$ (N, D), $W_h$ (N, N) and one bias (N). What is
# the largest N for which the layer stays within a budget of parameters?
# ([Solution](solutions/03_gates.ipynb#solution-3-2))
# ```


# %%
def hidden_size_for(budget: int, n_blocks: int, input_size: int) -> int:
    """Largest N whose parameters do not exceed the budget."""
    raise NotImplementedError


check("3.2", hidden_size_for)

# %% [markdown]
# ```{exercise} An LSTM from elsewhere
# :label: exercise-3-3
#
# *Core, 15 minutes.* ONNX is a file format in which networks move from one library to another. It
# stacks an LSTM's blocks in the order **i, o, f, g**, with $g$ the candidate. Write a step that
# takes such weights. ([Solution](solutions/03_gates.ipynb#solution-3-3))
# ```


# %%
def lstm_step(x, h, c, W_x, W_h, b) -> tuple[torch.Tensor, torch.Tensor]:
    """Shapes: x (B, D), h and c (B, N), W_x (4N, D), W_h (4N, N), b (4N,).

    Returns: the new h and the new c.
    """
    raise NotImplementedError


check("3.3", lstm_step)

# %% [markdown]
# ```{exercise} The GRU of tomorrow's paper
# :label: exercise-3-4
#
# *Core, 15 minutes.* Tomorrow's decoder {cite}`bahdanau2015neural` has a GRU whose update gate lets the new value *in*; what it sees of the
# source besides is left out here:
#
# $$
# r = \sigma(W_{xr} x + W_{hr} h), \quad z = \sigma(W_{xz} x + W_{hz} h), \quad
# n = \tanh(W_{xn} x + W_{hn} (r \odot h)), \quad
# h' = (1 - z) \odot h + z \odot n .
# $$
#
# Write its step. The blocks are stacked in the order r, z, n, and there are no biases.
# ([Solution](solutions/03_gates.ipynb#solution-3-4))
# ```


# %%
def gru_step(x, h, W_x, W_h) -> torch.Tensor:
    """Shapes: x (B, D), h (B, N), W_x (3N, D), W_h (3N, N); returns the new h (B, N)."""
    raise NotImplementedError


check("3.4", gru_step)

# %% [markdown]
# ```{exercise} Predict: the same weights in another convention
# :label: exercise-3-5
#
# *Core, 3 minutes.* In PyTorch's GRU, a unit's update gate stands at 0.6 for five steps, and its candidate is 0 all the time. You load
# the same weights, unchanged (all biases are 0), into the GRU of the exercise above, and its update gate stands at 0.6 too. What share of the unit's
# state is left after the five steps? Within 3 % is near enough.
# ([Solution](solutions/03_gates.ipynb#solution-3-5))
# ```

# %%
my_share = None

check("3.5", my_share)

# %% [markdown]
# ```{exercise} From one convention to the other
# :label: exercise-3-6
#
# *Core, 10 minutes.* You have trained a GRU whose update gate says how much of the *old* state stays. You want to
# use it in a program whose update gate says how much of the *new* candidate comes in. All else is alike. Which
# weights must the program be given, so that it gives the same states? The blocks are stacked in the
# order r, z, n. ([Solution](solutions/03_gates.ipynb#solution-3-6))
# ```


# %%
def other_convention(W_x, W_h, b) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Shapes: W_x (3N, D), W_h (3N, N), b (3N,); returns the three of the other convention."""
    raise NotImplementedError


check("3.6", other_convention)

# %% [markdown]
# ```{exercise} Predict: twenty steps at a bias of 1
# :label: exercise-3-7
#
# *Core, 5 minutes.* It is common to start the forget gate's bias at 1 {cite}`jozefowicz2015empirical`. Let all other
# weights and inputs be 0. What is $\partial c_{20} / \partial c_0$? Within a tenth is near enough.
# ([Solution](solutions/03_gates.ipynb#solution-3-7))
# ```

# %%
my_gradient = None

check("3.7", my_gradient)

# %% [markdown]
# ```{exercise} A bias for a distance
# :label: exercise-3-8
#
# *Core, 10 minutes.* Turn it round. With which bias of the forget gate is `share` of the cell left after
# `distance` steps, if nothing else moves the gate?
# ([Solution](solutions/03_gates.ipynb#solution-3-8))
# ```


# %%
def forget_bias(distance: int, share: float) -> float:
    """The bias for which a share (0 to 1) of the cell is left after so many steps."""
    raise NotImplementedError


check("3.8", forget_bias)

# %% [markdown]
# ```{exercise} The direct path
# :label: exercise-3-9
#
# *Core, 15 minutes.* You have recorded the forget gates $f_1 \dots f_T$ of a run. Along the direct path, without
# the gates' own dependence on the past, what is $\partial c_T / \partial c_t$, for all $t$ from 0 to $T$? The last
# of them is 1. ([Solution](solutions/03_gates.ipynb#solution-3-9))
# ```


# %%
def direct_path(f: torch.Tensor) -> torch.Tensor:
    """Shapes: f (B, T, N), its first step is f_1; returns (B, T + 1, N), the first for t = 0."""
    raise NotImplementedError


check("3.9", direct_path)

# %% [markdown]
# ```{exercise} Where does each direction end?
# :label: exercise-3-10
#
# *Core, 10 minutes.* The library's bidirectional layers give their outputs with **time first**, unless they are told
# otherwise: (T, B, 2N), the forward direction in the first N numbers. The sequences were packed before and padded afterwards, so each
# direction has read its real steps only; what stands in the padding means nothing. Read from the outputs the final state of
# each direction, side by side, for sequences of these lengths. Loops are fine.
# ([Solution](solutions/03_gates.ipynb#solution-3-10))
# ```


# %%
def final_states(outputs: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
    """Shapes: outputs (T, B, 2N), lengths (B,); returns (B, 2N), the forward direction first."""
    raise NotImplementedError


check("3.10", final_states)

# %% [markdown]
# ```{exercise} Gates that see the cell
# :label: exercise-3-11
#
# *Stretch, 15 minutes.* An LSTM's gates see $h$, but not the cell that they guard. **Peepholes** change that
# {cite}`gers2000recurrent`: before the sigmoid, the input gate and the forget gate add $p_i \odot c_{t-1}$ and
# $p_f \odot c_{t-1}$, and the output gate, which comes last, $p_o \odot c_t$. Write the step. What the
# input and the old state add is computed already: `a`, in the order i, f, g, o.
# ([Solution](solutions/03_gates.ipynb#solution-3-11))
# ```


# %%
def peephole_step(a, c, p_i, p_f, p_o) -> tuple[torch.Tensor, torch.Tensor]:
    """Shapes: a (B, 4N), c (B, N), p_i, p_f and p_o (N,); returns the new h and the new c."""
    raise NotImplementedError


check("3.11", peephole_step)

# %% [markdown]
# ```{exercise} What must fit into one vector
# :label: exercise-3-12
#
# *Core, 10 minutes.* A state is to hold any sequence of `length` symbols out of `vocab_size`, so that all of them can be read
# from it. Suppose that a unit holds `bits` bits reliably. How many units are needed at least?
# ([Solution](solutions/03_gates.ipynb#solution-3-12))
# ```


# %%
def units_needed(length: int, vocab_size: int, bits: float) -> int:
    """Smallest number of units that can tell all sequences apart."""
    raise NotImplementedError


check("3.12", units_needed)

# %% [markdown]
# ```{exercise} Which one, then?
# :label: exercise-3-13
#
# *Stretch, 15 minutes.* You have validation scores of several models, each over several seeds, and what each model
# costs. The best mean may be luck. A cautious rule {cite}`breiman1984classification` takes the cheapest model
# whose mean is at most *one standard error of the best model* below the best mean. The standard error is the sample's
# standard deviation divided by $\sqrt{n}$. Write the rule.
# ([Solution](solutions/03_gates.ipynb#solution-3-13))
# ```


# %%
def choose(scores: torch.Tensor, costs: torch.Tensor) -> int:
    """Shapes: scores (models, seeds), larger is better; costs (models,).

    Returns: the number of the model to take.
    """
    raise NotImplementedError


check("3.13", choose)

# %% [markdown]
# ```{exercise} Memories of many lengths
# :label: exercise-3-14
#
# *Research, 40 minutes.* One bias for all units gives all of them the same memory. *Chrono initialisation*
# {cite}`tallec2018can` draws for each unit a time, evenly from 1 to `longest - 1` steps. The forget gate's bias is the
# logarithm of this time, and the input gate's bias is minus that. Write it for given numbers `u`, drawn
# evenly from 0 to 1. Then measure: build an LSTM of 32 units, untrained, and let it read 100 random inputs. In how many
# units is a tenth or more of the gradient of $c_{100}$ by $c_0$ left, with a forget bias of 0, with 1, and with your
# biases for 100 steps? Then train them to recall the first of 30 symbols, in at most 250 steps. Who learns it?
# ([Solution](solutions/03_gates.ipynb#solution-3-14))
# ```


# %%
def chrono_biases(u: torch.Tensor, longest: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Shapes: u (N,), from 0 to 1; returns the biases (N,) of the input and the forget gate."""
    raise NotImplementedError


check("3.14", chrono_biases)

# %% [markdown]
# ## Checklist and tomorrow
#
# The points from the top of the page, ticked when you have passed the exercises that test them.

# %%
points = {
    "compute an LSTM's and a GRU's step by hand, gate by gate": "3.3 3.4 3.11",
    "move weights from one convention to another, and say which one a GRU follows": "3.4 3.5 3.6",
    "say what a forget gate does to the gradient, and set its bias for a distance": "3.7 3.8 3.9",
    "run padded batches in both directions, and read the right states": "3.10",
    "choose between RNN, LSTM and GRU at equal parameters, from measurements": "3.1 3.2 3.13",
    "say what one vector for a sentence can't hold": "3.12",
}
checklist({point: ids.split() for point, ids in points.items()})

# %% [markdown]
# **Tomorrow** the two halves of the repeating network come apart: one network reads a sentence,
# another one writes its translation. Between them stands one vector, and we will measure what that
# costs. Then we let the second network look back at *all* states of the first, and choose.

# %% [markdown]
# ## Further reading
#
# - {cite:t}`hochreiter1997long`, the paper of the LSTM: hard to read, and right in most things;
#   {cite:t}`gers2000learning`, its forget gate.
# - {cite:t}`cho2014learning`, the GRU; {cite:t}`chung2014empirical`, the first comparison of the two.
# - {cite:t}`greff2017lstm` removed each part of the LSTM in turn, in thousands of runs: forget gate
#   and output activation are needed most, and **peepholes**, which let the gates see the cell
#   {cite}`gers2000recurrent`, or **coupled gates** with $i = 1 - f$ change little.
# - {cite:t}`jozefowicz2015empirical` searched ten thousand architectures. None was better than both
#   LSTM and GRU on all tasks, and a forget bias of 1 closed most of the gap between the two.
# - {cite:t}`tallec2018can`, why gates are what one gets when a network shall not mind how fast time
#   runs, and how to start them.
# - {cite:t}`graves2005framewise`, bidirectional LSTMs, and the full gradient.
# - {cite:t}`karpathy2015visualizing`, what units of a text model stand for.
