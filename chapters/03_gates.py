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
# - work out in numbers how a gate mixes old and new,
# - write one step of an LSTM and of a GRU, and explain each gate,
# - explain what the forget gate does to the gradient, and choose its bias for a distance,
# - tell the conventions of LSTMs and GRUs apart before you load weights,
# - count a layer's weights, and work out how much one state can hold.
#
# The lesson builds on [Day 2](02_recurrent.ipynb): the recurrence, its gradient through time, and perplexity. It takes 55 minutes to read and 32 to write
# the four functions at its heart. The page trains the LSTM you wrote, and at the end it continues your sentence.

# %% tags=["setup"]
import convolution_to_attention  # is `utils` this book's?

import math
from statistics import fmean

import matplotlib.pyplot as plt
import torch
from torch import nn
from torch.nn import functional as F

from utils import recurrent
from utils.data.docstrings import docstring_text
from utils.data.text import Vocabulary, stream
from utils.exercises.gates import check
from utils.exercises.progress import checklist
from utils.measure import experiments
from utils.measure.claims import claim
from utils.recurrent import RNN, SequenceClassifier, Streaming
from utils.show.display import observe
from utils.show.mechanisms import gates as mechanisms
from utils.show.plotting import curves, heat_map, use_book_style
from utils.show.views import gates, guess, quiz, recurrent_writer
from utils.tasks.characters import train_characters
from utils.tasks.memory import beside_the_road, fades, perplexities, recall_ids, right_symbols
from utils.tasks.memory import seeds_that_learn, telling_unit, train_recall, trained_repeater
from utils.training.loop import evaluate
from utils.training.sampling import sample

use_book_style()

# %% [markdown]
# **Five questions about yesterday**

# %% tags=["view"]
quiz("03_gates")

# %% [markdown]
# ## Where we stand
#
# *2 minutes.* Read these symbols once, cover them, and say which one came first.
#
# > **b** a d c a c b a d d c b a c d …
#
# You kept it because you knew you would be asked, and you let the others go. Can yesterday's network do that? We train it for 50 steps on sequences of 50 symbols of four kinds.

# %% tags=["training"]
torch.manual_seed(0)
forgetful = SequenceClassifier(4, 8, RNN(8, 112), 4)
_, right = train_recall(forgetful, 50, rounds=1, seed=0)

# %% tags=["evidence"]
fixed = experiments.load("recall_fixed")
learned = seeds_that_learn(fixed.rows)
lucky = learned["RNN"][50]
said = "The RNN names {right:.0%} of the first symbols correctly; blind guesses would name 25%. With twelve times as many steps, {lucky} of 3 networks learned the task."
observe(said, right=right, lucky=lucky, holds=abs(right - 0.25) < 0.1 and lucky < 2)

# %% [markdown]
# Why is it so hard? Training knows only what the gradient tells it. So we let an untrained RNN read 100 random inputs, and measure how strongly its last state depends on the state $k$ steps earlier.

# %% tags=["evidence"]
plain = fades(lambda: RNN(16, 64))  # (4, 100): four draws
left_of_50 = plain[:, 50].log().mean().exp().item()

# %% tags=["view"]
guess(
    "How much of the gradient is left after 50 steps?",
    ["about a half", "about a thousandth", "less than a millionth"],
    right="less than a millionth",
    because=f"Only {left_of_50:.0e} of it is left (geometric mean of four draws).",
)

# %% tags=["evidence"] mystnb={"figure": {"caption": "Less than a millionth of the gradient survives 50 steps back through an untrained RNN. The axis is logarithmic; the band spans four randomly initialised networks.", "name": "fig-rnn-fades"}, "image": {"alt": "A nearly straight line that falls on a logarithmic axis from 1 at distance 0 to below ten to the minus twenty at distance 99, in a narrow band."}}
curves({"RNN": (range(100), plain)}, "steps back", "gradient that is left", logy=True)
plt.show()

# %% tags=["evidence"]
assert left_of_50 < 1e-6

# %% [markdown]
# The reason lies in the design. The state is *rewritten* at every step: a matrix and a tanh come between one step's knowledge and the next's, even when nothing worth keeping happens. So here is today's idea: **don't rewrite what
# you want to keep.**

# %% [markdown]
# ## The idea
#
# *2 minutes.* Think of a road that runs through all time steps. Whatever drives on it stays as it is, and three gates control the traffic:
#
# - the **forget gate** $f$ decides how much of it may go on,
# - the **input gate** $i$, at the ramp, decides how much may join,
# - the **output gate** $o$, at the exit, decides how much the world gets to see.

# %% tags=["mechanism"] mystnb={"figure": {"caption": "In the RNN (above), a matrix and a tanh separate two states. The LSTM's road (below) has only one multiplication and one addition per step.", "name": "fig-road"}, "image": {"alt": "Above are four states h joined by arrows, and between any two of them is a box: W, tanh. Below is a thick road through three steps. Each step puts a multiplication sign on it, with the gate f below, then a plus sign with the gate i below, then an arrow leads down through the gate o to h; after that the road is called c1, c2, c3."}}
mechanisms.road()
plt.show()

# %% [markdown]
# The road has one lane per unit. A gate has one number between 0 and 1 for each lane, computed from the current input and the previous output with learned weights.
# This is **long short-term memory**, the
# LSTM {cite}`hochreiter1997long`, with the forget gate that it was given three years later {cite}`gers2000learning`. The road is called the **cell state** $c_t$, and the part of it that the output gate lets out is the state $h_t$ that you
# know.
#
# When `b` comes, the ramp should open. Then it should close, and the forget gate should stay open until someone asks.

# %% [markdown]
# ## Step by step
#
# ### A gate: mixing old and new
#
# *9 minutes, 6 of them yours.* We begin with a single gate. It mixes something old with something new, unit by unit:
#
# $$
# \begin{aligned}
# \operatorname{mix} &= z \odot \text{old} + (1 - z) \odot \text{new}, \\
# z &= \sigma(a) = \frac{1}{1 + e^{-a}} .
# \end{aligned}
# $$ (eq-mix)
#
# The **logistic function** $\sigma$, or sigmoid, turns any number $a$ into one between 0 and 1, and $\odot$ multiplies unit by unit.

# %% tags=["mechanism"] mystnb={"figure": {"caption": "An open gate keeps the old value, and a shut one takes the new: three units with $z$ at 1, 0.5 and 0. The thicker the arrow, the more comes through.", "name": "fig-valve"}, "image": {"alt": "Three units. In the first, z is 1: old 2 goes through a thick arrow to the mixture 2, and new 0.3 through a dashed one. In the second, z is 0.5: old minus 1 and new 0.6 come through arrows of the same width and make minus 0.2. In the third, z is 0: old 0.5 comes through a dashed arrow, new minus 0.8 through a thick one, and the mixture is minus 0.8."}}
z, old, new = torch.tensor([[1.0, 0.5, 0.0], [2.0, -1.0, 0.5], [0.3, 0.6, -0.8]])
mechanisms.valve(z, old, new)
plt.show()

# %% [markdown]
# Why a sigmoid, and not a switch? A switch has no slope, so no gradient could teach it when to flip.
#
# ```{exercise} A gate
# :label: exercise-mixture
#
# *6 minutes.* Return the mixture of {eq}`eq-mix`. You are given $a$, not $z$.
# ([Solution](solutions/03_gates.ipynb#solution-mixture))
# ```


# %%
def mix(a, old, new):
    """Shapes: all (B, N)."""
    raise NotImplementedError


mix = check("mixture", mix)

# %%
check.show_reference("mixture")

# %% [markdown]
# What is such a gate good for? In {numref}`fig-carried`, two networks read the same six symbols. A plain state changes at each symbol. A cell with two gates writes once, and then carries `b` along unchanged.

# %% tags=["mechanism"] mystnb={"figure": {"caption": "A plain state (above) is rewritten at each symbol of *b a d c a c*. A cell (below) keeps what *b* wrote, because its input gate opens for *b* alone and its forget gate then stays open.", "name": "fig-carried"}, "image": {"alt": "Above is a row of six cells for b, a, d, c, a, c: the state is 0.76, then 0.06, 0.56, minus 0.35, minus 0.54, minus 0.77. Below, the input gate is 1, then five times 0; the forget gate is five times 1; the cell is 0.76 at all six symbols, under a thick arrow."}}
added = torch.tensor([1.0, -0.4, 0.6, -0.7, -0.4, -0.7])
mechanisms.carried("badcac", added, w=0.6)
plt.show()

# %% [markdown]
# ### One step of an LSTM
#
# *14 minutes, 8 of them yours.* The LSTM has two gates where `mix` has one: how much of the old stays and how much of the new comes in are separate questions. Each gate is computed as yesterday's state was, from the input and
# the previous $h$, with weights of its own:
#
# $$
# \begin{aligned}
# i_t &= \sigma(W_{xi}\, x_t + W_{hi}\, h_{t-1} + b_i), \\
# f_t &= \sigma(W_{xf}\, x_t + W_{hf}\, h_{t-1} + b_f), \\
# g_t &= \tanh(W_{xg}\, x_t + W_{hg}\, h_{t-1} \\
# &\qquad + b_g), \\
# o_t &= \sigma(W_{xo}\, x_t + W_{ho}\, h_{t-1} + b_o) .
# \end{aligned}
# $$ (eq-lstm-gates)
#
# $g_t$ isn't a gate. It is the **candidate**, the value that could be written, and it may be negative. The four blocks of weights are stacked, so that one matrix product computes all four.

# %% tags=["mechanism"] mystnb={"figure": {"caption": "One product computes all four blocks. The result is cut into four parts, and each goes through its own function.", "name": "fig-four-blocks"}, "image": {"alt": "A matrix of eight rows in four colours, two for each of i, f, g and o; its columns belong to W_x and W_h. Multiplied by a column of x_t above h at t minus 1, it gives a column of eight numbers in the same colours. Four arrows lead from its parts through sigma, sigma, tanh and sigma to i_t, f_t, g_t and o_t."}}
mechanisms.blocks()
plt.show()

# %% [markdown]
# Then come the cell state and the output:
#
# $$
# \begin{aligned}
# c_t &= f_t \odot c_{t-1} + i_t \odot g_t, \\
# h_t &= o_t \odot \tanh(c_t) .
# \end{aligned}
# $$ (eq-lstm-cell)
#
# Do one step by hand, with one unit. Its cell holds 2, which means `b`. Its previous output was $h = 0.5$, and another symbol comes in, $x = 1$. The weights are chosen so that the numbers come out round. Then compare with {numref}`fig-lstm`.

# %%
x, h, c = 1.0, 0.5, 2.0
w_x = {"i": 0.0, "f": 1.0, "g": 1.0, "o": -1.0}
w_h = {"i": -2.0, "f": 1.0, "g": 0.0, "o": 2.0}
b = {"i": 0.0, "f": 0.5, "g": 0.0, "o": 0.0}
inside = {name: w_x[name] * x + w_h[name] * h + b[name] for name in "ifgo"}
inside

# %% tags=["mechanism"] mystnb={"figure": {"caption": "The forget gate is almost fully open, so the cell keeps most of its 2, while the input gate lets in a little: one step in numbers.", "name": "fig-lstm"}, "image": {"alt": "A thick road leads from c at t minus 1, which is 2, past a multiplication sign with f = 0.88, after which 1.76 is left, and a plus sign, to c_t = 1.97. Below, i = 0.27 and g = 0.76 meet in a multiplication sign; 0.20 goes up to the plus sign. After it an arrow leads down through tanh to a multiplication sign with o = 0.50, and on to h_t = 0.48. All four letters get their numbers from x_t and h at t minus 1."}}
squash = {"g": math.tanh}
values = {name: squash.get(name, lambda a: 1 / (1 + math.exp(-a)))(inside[name]) for name in "ifgo"}
mechanisms.lstm(c, values)
plt.show()

# %% [markdown]
# ```{exercise} The LSTM's step
# :label: exercise-lstm
#
# *8 minutes.* Write {eq}`eq-lstm-gates` and {eq}`eq-lstm-cell`. The blocks are stacked in the order i, f, g, o. `y.chunk(4, dim=1)` cuts the columns of y into four parts. Return h, then c.
# ([Solution](solutions/03_gates.ipynb#solution-lstm))
# ```


# %%
def lstm_step(x, h, c, W_x, W_h, b):
    """Shapes: x (B, D), h and c (B, N), W_x (4N, D), W_h (4N, N), b (4N,).

    Returns: the new h and the new c, (B, N) each.
    """
    raise NotImplementedError


lstm_step = check("lstm", lstm_step)

# %%
check.show_reference("lstm")

# %% [markdown]
# A layer repeats your step along the sequence. One number will turn out to matter: the forget gate's bias at the start.


# %%
def fresh(rows, columns, N):
    """Initial weights like the library's: uniform, within one over the root of N."""
    return nn.Parameter(torch.empty(rows, columns).uniform_(-(N**-0.5), N**-0.5))


# %%
class LSTM(nn.Module):
    """x (B, T, D) and a state (h, c) to all h (B, T, N) and the last state."""

    def __init__(self, D, N, forget_bias=1.0):
        super().__init__()
        self.W_x, self.W_h = fresh(4 * N, D, N), fresh(4 * N, N, N)
        self.b = nn.Parameter(torch.zeros(4 * N))
        with torch.no_grad():
            self.b[N : 2 * N] = forget_bias

    def forward(self, x, state=None):
        h, c = state or 2 * [x.new_zeros(len(x), self.W_h.shape[1])]
        shown = []
        for x_t in x.unbind(1):
            h, c = lstm_step(x_t, h, c, self.W_x, self.W_h, self.b)
            shown.append(h)
        return torch.stack(shown, dim=1), (h, c)


# %%
class Recall(nn.Module):
    """Name the symbol that came first: ids (B, T) to logits (B, 4)."""

    def __init__(self, layer, N):
        super().__init__()
        self.symbols, self.layer, self.output = nn.Embedding(4, 8), layer, nn.Linear(N, 4)

    def forward(self, ids):
        return self.output(self.layer(self.symbols(ids))[0][:, -1])


# %% [markdown]
# ### The gradient along the cell state
#
# *16 minutes, 10 of them yours.* What does the cell state do for the gradient? Hold the gates fixed in {eq}`eq-lstm-cell`. Then the derivative of each cell state with respect to the one before is the forget gate, and over many
# steps it is a product:
#
# $$
# \begin{aligned}
# \frac{\partial c_T}{\partial c_t} = \operatorname{diag}( & f_T \odot f_{T-1} \\
# & \odot \cdots \odot f_{t+1}) .
# \end{aligned}
# $$ (eq-road)
#
# No matrix, no tanh. But the gates aren't really fixed: they depend on $h_{t-1}$, which was computed from $c_{t-1}$. So there is a second path from one cell state to the next.

# %% tags=["mechanism"] mystnb={"figure": {"caption": "The gradient has two paths back: the direct one, with one forget gate per step, and the dashed one, through the gates and the previous output.", "name": "fig-ways-back"}, "image": {"alt": "Three cells, c at t minus 2, t minus 1 and t. Thick arrows in the gradient's colour lead back from each to the one before, marked f_t and f at t minus 1. Below, dashed arrows lead from each cell to a box, gates, from there to the state h before it, and up to the cell before it."}}
mechanisms.ways_back()
plt.show()

# %% [markdown]
# ```{exercise} The gradient along the cell state
# :label: exercise-direct-path
#
# *10 minutes.* Given the forget gates $f_1 \dots f_T$ of a run, return the product in {eq}`eq-road` for each $t$ from 0 to $T$. The last one, over no gates at all, is 1. `cumprod` computes running products, and `flip` reverses an axis.
# ([Solution](solutions/03_gates.ipynb#solution-direct-path))
# ```


# %%
def direct_path(f):
    """Shapes: f (B, T, N), its first step is f_1; returns (B, T + 1, N), the first for t = 0."""
    raise NotImplementedError


direct_path = check("direct_path", direct_path)

# %%
check.show_reference("direct_path")

# %% [markdown]
# A gate that stays at $f$ leaves a share of $f^T$ of the gradient after $T$ steps. With small weights, a gate starts near $\sigma(b_f)$. With a bias of 0 it is half open, and half is lost at each step, much as in the RNN. With a bias of $\log T$,
#
# $$
# \begin{aligned}
# f &= \sigma(\log T) = \frac{T}{T + 1}, \\
# f^T &\approx \frac{1}{e} :
# \end{aligned}
# $$ (eq-chrono)
#
# more than a third is left {cite}`tallec2018can`. With a bias of $\log 50$ the cell forgets one part in 51 at each step; with the usual bias of 1, it forgets more than a quarter.

# %% tags=["mechanism"] mystnb={"figure": {"caption": "Small losses add up: the share that a forget gate keeps (green) and loses (hatched) in one step, and the share that is left after 50 such steps.", "name": "fig-forgetting"}, "image": {"alt": "Three bars of the same length. Bias log 50: all but a sliver is green, 0.98; after 50 steps 0.37 is left. Bias 1: 0.73 is green; after 50 steps 2e-07 is left. Bias 0: half is green; after 50 steps 9e-16 is left."}}
biases = {"bias log 50": math.log(50), "bias 1": 1.0, "bias 0": 0.0}
mechanisms.forgetting(biases, steps=50)
plt.show()

# %% [markdown]
# What does your function return for such gates?

# %%
stays = torch.tensor([*biases.values()]).sigmoid().expand(1, 50, 3).double()
on_the_road = direct_path(stays)[0].flip(0)  # (51, 3), by distance

# %% tags=["evidence"] mystnb={"figure": {"caption": "Only a bias of log 50 saves the gradient over 50 steps: the share left on the direct path if the forget gate stays where its bias puts it. The axis is logarithmic.", "name": "fig-biases"}, "image": {"alt": "Three lines that fall from 1 on a logarithmic axis. The one for a bias of 0 falls steeply, to below ten to the minus fifteen at 50 steps; the one for a bias of 1 falls to below ten to the minus six; the one for a bias of log 50 is nearly flat and ends above a third."}}
lines = {name: (range(51), on_the_road[:, k]) for k, name in enumerate(biases)}
curves(lines, "steps back", "gradient that is left", logy=True)
plt.show()

# %% tags=["evidence"]
keeping, usual, half = on_the_road[50].tolist()
said = "After 50 steps, a bias of log 50 leaves {keeping:.2f} of the gradient. A bias of 1 leaves {usual:.0e}, and a bias of 0 leaves {half:.0e}."
observe(said, keeping=keeping, usual=usual, half=half, holds=keeping > 1 / 3 and usual < 1e-6)

# %% [markdown]
# And the second path? We follow both paths with autograd in an untrained layer, then cut the second one off and compare.

# %% tags=["evidence"]
one, many = (beside_the_road(steps) for steps in (1, 20))  # three seeds each
said = "After one step, the gradient on the second path is {one:.2f} times as large as the one on the direct path. After 20 steps it is {many:.1f} times as large."
observe(said, one=fmean(one), many=fmean(many), holds=max(one) < 0.3 and min(many) > 3)

# %% [markdown]
# So "the gradient of the cell is the forget gate" is only half the truth. Many paths leave the cell state and come back.
#
# Now we train your LSTM in the same way as the RNN, with about as many parameters. The forget gate's bias starts at $\log 50$.

# %% tags=["training"]
torch.manual_seed(0)
keeper = Recall(LSTM(8, 53, forget_bias=math.log(50)), 53)
steps, right = train_recall(keeper, 50, seed=0)

# %% tags=["evidence"]
said = "After {steps} steps your LSTM recalls the first of 50 symbols {right:.1%} of the time."
observe(said, steps=steps, right=right, holds=right > 0.9)

# %% [markdown]
# **Enough for tonight?** This is a good place to stop: your LSTM remembers. Next come a layer that gets by with less and an LSTM that writes.
#
# ### The gated recurrent unit (GRU)
#
# *13 minutes, 8 of them yours.* Can it be done with less? The **gated recurrent unit** {cite}`cho2014learning` has no separate cell. It carries the state itself along, and a single gate decides between old and new: your
# `mix`.
#
# $$
# \begin{aligned}
# r_t &= \sigma(W_{xr}\, x_t + W_{hr}\, h_{t-1} + b_r), \\
# z_t &= \sigma(W_{xz}\, x_t + W_{hz}\, h_{t-1} + b_z), \\
# n_t &= \tanh(W_{xn}\, x_t + b_n \\
# &\qquad + r_t \odot (W_{hn}\, h_{t-1} + b_{hn})), \\
# h_t &= z_t \odot h_{t-1} + (1 - z_t) \odot n_t .
# \end{aligned}
# $$ (eq-gru)

# %% tags=["mechanism"] mystnb={"figure": {"caption": "The LSTM (left) carries a cell state along (thick line) and outputs a part of it; the GRU (right) carries the state itself.", "name": "fig-side-by-side"}, "image": {"alt": "On the left is the LSTM: a thick road leads from c at t minus 1 to c_t, with a multiplication sign above f and a plus sign above a second multiplication of i and g; after it an exit leads through tanh and a multiplication with o to h_t. On the right is the GRU: a thick road leads from h at t minus 1 to h_t, with a multiplication sign above z and a plus sign above a multiplication of 1 minus z and n; n gets an arrow from r. All gates are fed by h at t minus 1 and x_t."}}
mechanisms.side_by_side()
plt.show()

# %% [markdown]
# The **update gate** $z$ decides how much is kept. The shares of old and new sum to 1, so whatever comes in pushes something out. The **reset gate** $r$ decides how much of the old state the candidate may use. With $z = r = 0$ a unit begins anew,
# as if it had read nothing.

# %% tags=["mechanism"] mystnb={"figure": {"caption": "Two gates give three ways to treat an old state. Keep: z = 1, and the candidate doesn't matter. Rewrite: z = 0, and the candidate has seen the old state. Begin anew: z = r = 0, so the candidate has seen only the input.", "name": "fig-updates-resets"}, "image": {"alt": "Three rows of five columns: h, r, n, z, new h. Keep: h is 0.8 and minus 0.4, r is 1, n is minus 0.1 and 0.8, z is 1, and the new h is 0.8 and minus 0.4, framed. Rewrite: the same with z = 0; the new h is n. Begin anew: r and z are 0, n is 0.29 twice, and so is the new h."}}
state, from_input = torch.tensor([0.8, -0.4]), torch.tensor([0.3, 0.3])
exchange = torch.tensor([[0.0, 1.0], [1.0, 0.0]])  # W_hn: each unit looks at the other
mechanisms.updates_and_resets(state, from_input, exchange)
plt.show()

# %% [markdown]
# Beware of conventions. Ours are the library's: $z = 1$ keeps the old state, and $r$ acts after the product with $W_{hn}$. Some papers swap $z$ and $1 - z$, which is only a
# matter of names. But the 2014 paper resets *before* the product, and
# [that is a different function](deeper/03_gates.ipynb#gates-resets).
#
# ```{exercise} The GRU's step
# :label: exercise-gru
#
# *8 minutes.* Write {eq}`eq-gru`, and return the new $h$. The blocks are stacked in the order r, z, n. `b` holds $b_r$, $b_z$ and $b_n$, and `b_hn` is separate. Use your `mix`.
# ([Solution](solutions/03_gates.ipynb#solution-gru))
# ```


# %%
def gru_step(x, h, W_x, W_h, b, b_hn):
    """Shapes: x (B, D), h (B, N), W_x (3N, D), W_h (3N, N), b (3N,), b_hn (N,).

    Returns: the new h (B, N).
    """
    raise NotImplementedError


gru_step = check("gru", gru_step)

# %%
check.show_reference("gru")


# %%
class GRU(nn.Module):
    """x (B, T, D) and a state h to all h (B, T, N) and the last one."""

    def __init__(self, D, N, update_bias=0.0):
        super().__init__()
        self.W_x, self.W_h = fresh(3 * N, D, N), fresh(3 * N, N, N)
        self.b, self.b_hn = nn.Parameter(torch.zeros(3 * N)), nn.Parameter(torch.zeros(N))
        with torch.no_grad():
            self.b[N : 2 * N] = update_bias

    def forward(self, x, h=None):
        h = x.new_zeros(len(x), self.W_h.shape[1]) if h is None else h
        shown = []
        for x_t in x.unbind(1):
            h = gru_step(x_t, h, self.W_x, self.W_h, self.b, self.b_hn)
            shown.append(h)
        return torch.stack(shown, dim=1), h


# %% tags=["training"]
torch.manual_seed(0)
steps, right = train_recall(Recall(GRU(8, 62, update_bias=math.log(20)), 62), 20, seed=0)

# %% tags=["evidence"]
said = "After {steps} steps your GRU recalls the first of 20 symbols {right:.1%} of the time."
observe(said, steps=steps, right=right, holds=right > 0.9)

# %% [markdown]
# ## Is it right?
#
# *1 minute.* We give your layers, the library's and the book's the same weights, and compare their outputs.

# %% tags=["evidence"]
torch.manual_seed(1)
some = torch.randn(3, 7, 5, dtype=torch.float64)
for kind in (LSTM, GRU):
    theirs = getattr(nn, kind.__name__)(5, 4, batch_first=True).double()
    yours, book = kind(5, 4).double(), getattr(recurrent, kind.__name__)(5, 4).double()
    book.load_library(theirs)
    with torch.no_grad():
        for name in ("W_x", "W_h", "b"):
            getattr(yours, name).copy_(getattr(book, name))
        if kind is GRU:
            yours.b_hn.copy_(book.b_n)
    for layer in (yours, book):
        torch.testing.assert_close(layer(some)[0], theirs(some)[0], rtol=1e-10, atol=1e-10)
print("your LSTM and GRU agree with the library's and the book's, to ten digits")

# %% [markdown]
# Gradients, padded batches and bidirectional layers are checked on the [deeper page](deeper/03_gates.ipynb#gates-right).

# %% [markdown]
# ## Train it
#
# *4 minutes.* One run is an anecdote. A stored experiment trained six kinds of layers with about as many parameters as yours, with three seeds each, for at most 600 steps. *Keeping* means that the bias of the LSTM's forget gate, or
# of the GRU's update gate, starts at $\log T$.

# %% tags=["evidence"] mystnb={"figure": {"caption": "Only the layers whose gates begin open (*keeping*) learn every length: how many of three networks name over 90% of the first symbols.", "name": "fig-learned"}, "image": {"alt": "A map of six rows and four columns, with the number of networks that learn 10, 20, 50 and 100 symbols. RNN: 3, 2, 1, 0. GRU: 3, 0, 0, 0. GRU, keeping: 3 everywhere. LSTM, bias 0: 3, 0, 0, 0. LSTM, bias 1: 3, 2, 0, 0. LSTM, keeping: 3 everywhere."}}
names = {"rows": list(learned), "columns": [f"{n} steps" for n in learned["RNN"]]}
names |= {"xlabel": "", "ylabel": "", "value_label": "seeds of 3"}
heat_map(torch.tensor([[*of.values()] for of in learned.values()]), annotate=True, **names)
plt.show()

# %% tags=["evidence"]
open_from_the_start = [learned[f"{kind}, keeping"] for kind in ("GRU", "LSTM")]
assert {n for of in open_from_the_start for n in of.values()} == {3}
assert learned["LSTM, bias 1"][50] == 0
of_1024 = experiments.load("long_recall_mixed")
mixed = sum(right > 0.9 for right in of_1024.column("test", model="LSTM"))
assert min(of_1024.column("test", model="RNN")) > 0.9

# %% [markdown]
# So "gates cure the vanishing gradient" isn't what we see. *Open* gates cure it, but you have to open them yourself: with the usual biases, gated layers are no better here than the plain one. Or is there another cure?

# %% tags=["view"]
guess(
    "Three LSTMs with a bias of 1 train on sequences of up to 1,024 symbols, short ones among them. How many recall the first of 1,024?",
    ["none", "some", "all"],
    right=("none", "some", "some", "all")[mixed],
    because=f"{mixed} of 3 do: short sequences pave the way.",
)

# %% [markdown]
# Mixing in short sequences helps [the plain RNN](deeper/03_gates.ipynb#gates-mixed), too. As yesterday, the trouble lies in the learning.
#
# Now for something to read: the docstrings of a library, character by character. Your LSTM goes through the training text twice.

# %%
VOCABULARY = Vocabulary(docstring_text("train"))
text, validation, test = (
    torch.tensor(VOCABULARY.encode(docstring_text(part)))
    for part in ("train", "validation", "test")
)


class Writer(nn.Module):
    """Predict the next symbol: ids (B, T) to logits (B, T, V), and the state."""

    def __init__(self, layer, D, N):
        super().__init__()
        V = len(VOCABULARY)
        self.letters, self.layer, self.output = nn.Embedding(V, D), layer, nn.Linear(N, V)

    def forward(self, ids, state=None):
        shown, state = self.layer(self.letters(ids), state)
        return self.output(shown), state


# %% tags=["training"]
torch.manual_seed(0)
writer = Writer(LSTM(24, 128), 24, 128)
how = {"epochs": 2, "batch_size": 32, "length": 32, "learning_rate": 3e-2}
history = train_characters(Streaming(writer), text, validation, **how)

# %% tags=["evidence"]
nats = evaluate(Streaming(writer), stream(test, 16, len(test)), nn.CrossEntropyLoss())["loss"]
counts = torch.bincount(text, minlength=len(VOCABULARY)) + 1
alone = math.exp(-(counts / counts.sum()).log()[test].mean())
said = "Its perplexity on the test text is {found:.1f}. A model that knows only the frequency of each character has a perplexity of {alone:.1f}."
found_by_yours = math.exp(nats)
observe(said, found=found_by_yours, alone=alone, holds=found_by_yours < 6 and alone > 15)

# %% [markdown]
# LSTM, GRU or RNN: which is best? {numref}`fig-rates` holds a warning. It compares three kinds of layers with equal numbers of parameters, at five learning rates.

# %% tags=["evidence"] mystnb={"figure": {"caption": "Which layer is best depends on the learning rate: perplexity on the validation text after three passes. Means and ranges of three seeds, cut off above 50.", "name": "fig-rates"}, "image": {"alt": "Three curves over five learning rates from 0.003 to 0.3, on logarithmic axes. At 0.003 the LSTM's is the highest, near 10, and the others lie near 7. The RNN's and the GRU's are lowest at 0.01, near 6 and 5.5, and higher at higher learning rates, where single seeds leave the picture. The LSTM's falls to 5 at 0.1, the lowest of all, and rises to about 7 at 0.3."}}
rates = experiments.load("learning_rates")
grid, found = rates.parameters["learning_rate"], perplexities(rates.rows)  # (seeds, rates) each
lines = {kind: (grid, of) for kind, of in found.items()}
ax = curves(lines, "learning rate", "perplexity", logx=True, logy=True)
ax.set(ylim=(4, 50))
ax.set_xticks(grid, grid)
ax.set_yticks([5, 10, 20, 40], [5, 10, 20, 40])
ax.minorticks_off()
plt.show()

# %% tags=["evidence"]
least = {kind: of.mean(dim=0).min().item() for kind, of in found.items()}
slow = {f"{kind}_slow": of[:, 0].mean().item() for kind, of in found.items()}
said = "At a learning rate of 0.003, the LSTM's perplexity is {LSTM_slow:.1f}, the GRU's is {GRU_slow:.1f}, and the RNN's is {RNN_slow:.1f}. At their best learning rates, the LSTM reaches {LSTM:.1f}, the GRU reaches {GRU:.1f}, and the RNN reaches {RNN:.1f}."
last = slow["LSTM_slow"] > 1.2 * max(slow["GRU_slow"], slow["RNN_slow"])
first = least["LSTM"] < 0.95 * min(least["GRU"], least["RNN"])
observe(said, **least, **slow, holds=last and first)

# %% [markdown]
# At a single learning rate, you compare recipes, not layers. Here the order is even reversed: the layer that is last at the lowest learning rate is first when each
# has its best. A learning rate is a **hyperparameter**, a number that isn't learned
# in training, and each kind of layer needs its own.

# %% [markdown]
# ## Look inside
#
# *8 minutes.* We run the trained networks again, and record their gates.


# %%
@torch.no_grad()
def gates_of(layer, x):
    """Forget, input and output gates, and the cell: x (B, T, D) to (4, B, T, N)."""
    h = c = x.new_zeros(len(x), layer.W_h.shape[1])
    seen = []
    for x_t in x.unbind(1):
        i, f, _, o = (x_t @ layer.W_x.T + h @ layer.W_h.T + layer.b).sigmoid().chunk(4, dim=1)
        h, c = lstm_step(x_t, h, c, layer.W_x, layer.W_h, layer.b)
        seen.append(torch.stack([f, i, o, c]))
    return torch.stack(seen, dim=2)


# %% [markdown]
# First, your recall network reads 400 sequences of 50 symbols.

# %%
ids, first = recall_ids(400, 50, seed=7)
forget, _, _, held = gates_of(keeper.layer, keeper.symbols(ids))  # (B, T, N)
unit, alone = telling_unit(held, first)

# %% tags=["evidence"] mystnb={"figure": {"caption": "After 50 steps, the best unit's cell still shows which symbol came first. Lines are means over the sequences that began with the same symbol; bands cover nine tenths of them.", "name": "fig-cell"}, "image": {"alt": "Four curves over 50 steps, one for each first symbol. They part in the first steps and stay apart, each in a band of its own width; at the end the lowest and the highest are far from each other."}}
lines = {f"began with {'abcd'[k]}": (range(50), held[first == k][:, :, unit]) for k in range(4)}
curves(lines, "step", "cell", within=90)
plt.show()

# %% tags=["evidence"]
left = direct_path(forget)[:, 1].mean(dim=0).max().item()
apart = [held[first == k][:, :, unit].mean(dim=0) for k in range(4)]
grows = (torch.stack(apart).std(dim=0)[-1] / torch.stack(apart).std(dim=0)[9]).item()
said = "From this cell alone, {alone:.0%} of the first symbols can be identified after 50 steps; blind guesses would name 25%. At best, a unit's forget gates leave {left:.0%} of what the first symbol wrote. At the end, the four means are {grows:.1f} times as far apart as after ten steps."
observe(said, alone=alone, left=left, grows=grows, holds=alone > 0.4 and left > 0.05 and grows > 1)

# %% [markdown]
# So the cell does keep the symbol. But unlike the cell in {numref}`fig-carried`, it doesn't shut its input gate. It goes on writing more of the same, and so the
# four curves drift apart. That is sturdier than our plan: whatever leaks
# out is [written again](deeper/03_gates.ipynb#gates-latch), even over 1,000 steps.
#
# And the writer? Choose a text, a gate and a unit, and point at a character.


# %%
def watched(text):
    """The writer's gates and cell (tanh) over a text, for its twelve most restless units."""
    ids = torch.tensor([VOCABULARY.encode(text)])
    parts = gates_of(writer.layer, writer.letters(ids))[:, 0]  # (4, T, N)
    parts[3] = parts[3].tanh()
    restless = parts[0].std(dim=0).topk(12).indices
    names = "forget gate", "input gate", "output gate", "cell"
    return dict(zip(names, parts[:, :, restless]))


# %% tags=["view"]
sentences = (
    "Return True if the given estimator is (probably) a classifier.",
    "Build a Bagging ensemble of estimators from the training set (X, y).",
)
gates({sentence: watched(sentence) for sentence in sentences})

# %% [markdown]
# Be careful with interpretations: among so many units, one will always seem to mean something. [A fair test](deeper/03_gates.ipynb#gates-quotes) looked for a unit that knows about quotation marks, and found none.

# %% [markdown]
# ## Show someone
#
# *7 minutes.* This LSTM lives in the page. Type a **prompt**, a beginning for it to continue. The LSTM has half a million weights, and has read the documentation of seven
# libraries four times; yours has read that of one library twice.

# %% tags=["evidence"]
shown = experiments.load("lstm_page").rows[0]
said = "On the same test text, its perplexity is {stored:.1f}, and your LSTM's is {found:.1f}."
stored = shown["int8"]
observe(said, stored=stored, found=found_by_yours, holds=stored < 0.95 * found_by_yours)

# %% tags=["view"]
recurrent_writer("lstm", beginning="If the input is ")

# %% [markdown]
# Then **empty its state**, first after each word, then after each letter. Which goes first, spelling or sense?

# %% tags=["evidence"]
emptied = {name: shown[f"after each {name}"] for name in ("word", "letter")}
said = "With its state emptied after each word, its perplexity rises from {stored:.1f} to {word:.1f}; with the state emptied after each letter, it rises to {letter:.1f}."
kept = 1.1 * stored < emptied["word"] < emptied["letter"] / 1.3
observe(said, stored=stored, **emptied, holds=kept)

# %% [markdown]
# Everything it knows about the sentence is in its state. In JupyterLab, let your own LSTM write as well, with a temperature, as yesterday:


# %%
@torch.no_grad()
def continued(start, temperature, n=160):
    """The prompt, and n more characters."""
    generator = torch.Generator().manual_seed(len(start))
    ids, state, written = torch.tensor([VOCABULARY.encode(start)]), None, start
    for _ in range(n):
        logits, state = writer(ids, state)
        ids = sample(logits[:, -1] / temperature, generator)[:, None]
        written += VOCABULARY.symbols[ids.item()]
    return written


# %% tags=["nbval-ignore-output"]
print(continued("Return the number of ", temperature=0.6))

# %% [markdown]
# That is nonsense. Still, two passes ago your LSTM didn't know that words exist.

# %% [markdown]
# ## Where it breaks
#
# *2 minutes.* A gated network can keep one symbol. Can it keep a whole sentence? The task is child's play: repeat after me. The network reads a few symbols (there are
# eight kinds), then a start signal, and then has to repeat the symbols. When the signal comes, all it has is its state: one vector.

# %% tags=["training"]
repeaters = {N: trained_repeater(N) for N in (16, 32, 64)}

# %% tags=["view"]
lost = [(~right_symbols(repeaters[64], 12))[:, t].double().mean().item() for t in range(12)]
guess(
    "The network has read twelve symbols. Which one is it most likely to repeat correctly?",
    ["the first", "one in the middle", "all about equally"],
    right="the first" if lost[0] < min(lost[3:9]) else "one in the middle",
    because=f"{1 - lost[0]:.0%} of the first symbols are correct, and {1 - sum(lost[4:8]) / 4:.0%} of those in the middle.",
)

# %% tags=["evidence"] mystnb={"figure": {"caption": "A wider state only moves the cliff: share of sentences repeated without a mistake, for states of three widths after 300 training steps.", "name": "fig-bottleneck"}, "image": {"alt": "Three curves that start near one and fall to zero: with 16 units the fall begins at two symbols, with 32 at three, and with 64 at four."}}
lengths = range(1, 13)
exact = {
    N: [right_symbols(model, n).all(1).double().mean().item() for n in lengths]
    for N, model in repeaters.items()
}
lines = {f"N = {N}": (lengths, shares) for N, shares in exact.items()}
curves(lines, "length of the sentence (symbols)", "share repeated exactly")
plt.show()

# %% tags=["evidence"]
said = "A network of 16 units repeats {narrow:.0%} of the sentences of five symbols correctly, one of 32 units repeats {middle:.0%}, and one of 64 units repeats {wide:.0%}. But at twelve symbols, even 64 units manage only {long:.0%}."
shares = {"narrow": exact[16][4], "middle": exact[32][4], "wide": exact[64][4]}
observe(
    said,
    **shares,
    long=exact[64][11],
    holds=shares["narrow"] + 0.05 < shares["middle"] < shares["wide"] - 0.1 and exact[64][11] < 0.2,
)

# %% [markdown]
# A wider state moves the cliff, and [so does longer training](deeper/03_gates.ipynb#gates-sentence). Neither removes it here. On Day 1 we had to decide in advance *how far* to look; here we have to decide in advance *how much* fits
# in. What we would like is a network that keeps everything it has read, step by step, and looks up what it needs.

# %% [markdown]
# ## What we found
#
# *1 minute.* Two claims that you will often read, and our answers. Four more are on the [deeper page](deeper/03_gates.ipynb).
#
# (claim-lstm-1)=

# %% tags=["evidence"]
claim(
    "lstm-1",
    "Yes, if h is held fixed. Otherwise, other paths carry {one:.2f} times the direct path's gradient after one step, and {many:.1f} times after 20.",
    one=fmean(one),
    many=fmean(many),
    holds=lambda one, many: 0.05 < one < 0.5 and many > 2,
    scale="untrained layers of 53 units, forget bias 1, three seeds",
)

# %% [markdown]
# (claim-lstm-4)=

# %% tags=["evidence"]
claim(
    "lstm-4",
    "Yes, if gates begin open ({kept} of 3 learn 100 steps; with bias 1, {usual} do) or shorter sequences are mixed in ({mixed} learn 1,024).",
    kept=learned["LSTM, keeping"][100],
    usual=learned["LSTM, bias 1"][100],
    mixed=mixed,
    holds=lambda kept, usual, mixed: kept == 3 and usual == 0 and mixed == 3,
    experiment="recall_fixed",
    scale="13,392 parameters, one learning rate, at most 600 training steps (1,000 for sequences of 1,024 symbols), three seeds; the paper's own LSTM had no forget gate",
)

# %% [markdown]
# ## Exercises
#
# *As long as you like.* Seven more are on the [deeper page](deeper/03_gates.ipynb), and all solutions are on [a page of their own](solutions/03_gates.ipynb).
#
# ```{exercise} Count an LSTM's parameters
# :label: exercise-lstm-parameters
#
# *Warm-up, 3 minutes.* How many parameters does `nn.LSTM(10, 16, bidirectional=True)` have? It has two layers, one for each direction, and the library keeps two biases where one would do. Write down the number before you ask PyTorch.
# ([Solution](solutions/03_gates.ipynb#solution-lstm-parameters))
# ```

# %%
my_count = None

check("lstm_parameters", my_count)

# %% [markdown]
# ```{exercise} Load an LSTM from ONNX
# :label: exercise-onnx-lstm
#
# *Core, 8 minutes.* ONNX is a file format for moving networks from one library to another. It stacks an LSTM's blocks in the order **i, o, f, g**. Write a step that takes such weights and returns the new h and c.
# ([Solution](solutions/03_gates.ipynb#solution-onnx-lstm))
# ```


# %%
def onnx_step(x, h, c, W_x, W_h, b):
    """Shapes: x (B, D), h and c (B, N), W_x (4N, D), W_h (4N, N), b (4N,).

    Returns: the new h and the new c.
    """
    raise NotImplementedError


check("onnx_lstm", onnx_step)

# %% [markdown]
# ```{exercise} Predict: the same weights in another convention
# :label: exercise-update-gate-at-0-6
#
# *Core, 3 minutes.* In your GRU, a unit's update gate is at 0.6 for five steps, and its candidate is 0 throughout. A colleague loads the same weights into a GRU whose $z$ is the share of the *new*. There, too, the gate is at 0.6.
# What share of the unit's state is left in the colleague's GRU after the five steps? Within 3% is close enough.
# ([Solution](solutions/03_gates.ipynb#solution-update-gate-at-0-6))
# ```

# %%
my_share = None

check("update_gate_at_0_6", my_share)

# %% [markdown]
# ```{exercise} Predict: twenty steps at a bias of 1
# :label: exercise-twenty-steps-at-bias-1
#
# *Core, 5 minutes.* It is common to start the forget gate's bias at 1 {cite}`jozefowicz2015empirical`. Let all other weights and inputs be 0. What is $\partial c_{20} / \partial c_0$? Within a tenth is close enough.
# ([Solution](solutions/03_gates.ipynb#solution-twenty-steps-at-bias-1))
# ```

# %%
my_gradient = None

check("twenty_steps_at_bias_1", my_gradient)

# %% [markdown]
# ```{exercise} Forget bias for a distance
# :label: exercise-forget-bias
#
# *Core, 7 minutes.* Now the other way round: return the bias of the forget gate that leaves `share` of the cell after `distance` steps, if nothing else moves the gate.
# ([Solution](solutions/03_gates.ipynb#solution-forget-bias))
# ```


# %%
def forget_bias(distance: int, share: float) -> float:
    """The bias that leaves `share` (0 to 1) of the cell after `distance` steps."""
    raise NotImplementedError


check("forget_bias", forget_bias)

# %% [markdown]
# ```{exercise} Bits in a state
# :label: exercise-bits-in-a-state
#
# *Core, 7 minutes.* A state has to store any sequence of `length` symbols from a vocabulary of `vocab_size`, so that the sequence can be recovered from it. Suppose
# that a unit holds `bits` bits reliably. Return the smallest number of units that will do.
# ([Solution](solutions/03_gates.ipynb#solution-bits-in-a-state))
# ```


# %%
def units_needed(length: int, vocab_size: int, bits: float) -> int:
    """Smallest number of units that can tell all sequences apart."""
    raise NotImplementedError


check("bits_in_a_state", units_needed)

# %% [markdown]
# ## Checklist and tomorrow

# %% tags=["view"]
points = {
    "work out in numbers how a gate mixes old and new": "mixture",
    "write one step of an LSTM and of a GRU, and explain each gate": "lstm gru",
    "explain what the forget gate does to the gradient, and choose its bias for a distance": "direct_path twenty_steps_at_bias_1 forget_bias",
    "tell the conventions of LSTMs and GRUs apart before you load weights": "onnx_lstm update_gate_at_0_6",
    "count a layer's weights, and work out how much one state can hold": "lstm_parameters bits_in_a_state",
}
checklist({point: ids.split() for point, ids in points.items()})

# %% [markdown]
# So a network can learn when to open and shut its gates, and it keeps what it carries for as long as they stay open. **Tomorrow** one network reads a sentence and
# another writes its translation. Between them is a single vector. We measure what that
# costs, and then let the second network look back at *all* the states of the first, and choose.

# %% [markdown]
# ## Further reading
#
# - {cite:t}`hochreiter1997long`, the LSTM, and {cite:t}`gers2000learning`, its forget gate.
# - {cite:t}`cho2014learning`, the GRU; {cite:t}`chung2014empirical`, the first comparison of the two.
# - {cite:t}`greff2017lstm` removed each part of the LSTM in turn, in thousands of runs.
