# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Day 9, deeper: GPT: a model that writes
#
# This page goes beyond the evening of [Day 9](../09_gpt.ipynb). The sections are independent: take those that you are curious about.

# %% tags=["setup"]
import convolution_to_attention  # is `utils` this book's?

import contextlib
import io
import math
import tempfile
from collections import Counter, defaultdict
from pathlib import Path
from statistics import fmean, median

import matplotlib.pyplot as plt
import torch
from torch import nn
from torch.nn import functional as F

from utils.data.files import own_folder
from utils.exercises.gpt import check
from utils.language import GatedFeedForward, QKNormAttention, RMSNorm
from utils.language import gated_width as fair_width
from utils.language import load_gpt2, load_llama, stretch_slow
from utils.language.shift import TokenShift
from utils.measure import experiments
from utils.measure.claims import claim
from utils.measure.costs import ring_bytes, ring_seconds

# %% tags=["setup"]
from utils.show.diagrams import arrow, box, brace, cells, label, note, sheet
from utils.show.display import observe, show_source, table
from utils.show.mechanisms import gpt as mechanisms
from utils.show.plotting import COLOURS, INK, curves, use_book_style
from utils.tasks import copying, many_processes, todays_block
from utils.tasks.generation import generate
from utils.tasks.letters import ids, pieces, vocabulary
from utils.tasks.race import CHANGES, GOAL, TUNED, WINNER
from utils.tasks.writing import small_decoder
from utils.tokens import read_byte_pairs
from utils.training import data_parallel
from utils.training.counting import KneserNey
from utils.training.optimisers import MuonAndAdamW
from utils.training.recipes import tag_loss
from utils.transformer import FeedForward
from utils.transformer.layers import ACTIVATIONS

use_book_style()

# %% [markdown]
# (deeper-cached-writer)=
# ## How does a GPT write without reading everything again?
#
# *10 minutes.* The lesson's `continued` reads the whole text anew for each token. Day 7 kept the keys and values of what had been read. **What is left to read, and at which position?**

# %% [markdown]
# ```{exercise} Write with a key–value cache
# :label: exercise-write
#
# *Core, 9 minutes.* Let a model write with a cache. `begin()` opens an empty cache and returns `read(ids, start)`, which reads a tensor of ids (1, T), the first of them at position `start`, and returns the logits (1, T, V) for the token after each of them. It keeps what it has read, so read each token only once. `choose` turns the logits (V,) of one position into an id. Return one list: the prompt's ids and `n` more.
# ([Solution](../solutions/09_gpt.ipynb#solution-write))
# ```


# %%
def write(begin, prompt, n, choose):
    """From the prompt, a list of ids, to a list of its ids and n more."""
    raise NotImplementedError


check("write", write)

# %% [markdown]
# (deeper-one-pass)=
# ## Does one pass really train all positions?
#
# *2 minutes.* The lesson counts one loss for each token but the first, and all of them come from one pass over the text. **Is the gradient that of reading every beginning by itself?** Only if no position has seen more than its own beginning. We compare the two gradients for the same blocks, with the causal mask and without. (The blocks are untrained and the tokens random, so without the mask we only ask whether the gradients differ. How far apart they would be in a trained model, this doesn't tell.)


# %%
def off(is_causal, ids):
    """How far the gradient of one pass over ids (1, T) is from that of a pass per beginning."""
    model = small_decoder("rotary")

    def read(ids):
        x = model.config.d_model**0.5 * F.embedding(ids, model.output.weight)
        return model.stack.run(x, is_causal=is_causal)[0] @ model.output.weight.T

    passes = [read(ids[:, :t])[:, -1] for t in range(1, ids.shape[1])]
    one, many = (
        torch.autograd.grad(tag_loss(logits, ids[:, 1:]), [*model.parameters()])
        for logits in (read(ids[:, :-1]), torch.stack(passes, dim=1))
    )
    one, many = (torch.cat([g.flatten() for g in gradient]) for gradient in (one, many))
    return (one - many).norm() / many.norm()


# %% [markdown]
# (claim-gpt-8)=

# %% tags=["evidence"]
row = torch.randint(1, 11, (1, 65), generator=torch.Generator().manual_seed(0))
claim(
    "gpt-8",
    "Yes: one pass gives the gradient of 64 passes, one per beginning, to within {hidden:.0e} of its size; without the mask, only to within {seen:.0%}.",
    hidden=off(True, row),
    seen=off(False, row),
    holds=lambda hidden, seen: hidden < 1e-10 and seen > 0.02,
    scale="65 random tokens; the same two untrained blocks, with a causal mask and without",
)

# %% [markdown]
# (deeper-parts)=
# ## RMSNorm, SwiGLU, rotary positions: what does each part of a modern block do?
#
# *9 minutes.* **What has changed in GPT's block since 2019, and what does each change cost?** Each part below is passed to Day 6's blocks as an argument.

# %% tags=["mechanism"] mystnb={"figure": {"caption": "Since GPT-2, nearly every part of the block has changed: GPT-2's block (left) and that of a large model today (right). New parts are framed.", "name": "fig-then-and-now"}, "image": {"alt": "Two blocks, each next to its residual stream. Left, GPT-2: layer norm; heads: q, k, v; softmax attention; a plus on the stream; layer norm; 4D wide, GELU; a plus. Right, today: RMS norm; q heads share k and v; q, k normed, rotated; softmax attention; a plus; RMS norm; 8/3 D wide, gated; a plus. Everything on the right except softmax attention is framed. The lower parts are labelled attention, the upper ones feed-forward."}}
mechanisms.then_and_now()
plt.show()

# %% [markdown]
# | change | effect | reason |
# | --- | --- | --- |
# | RMS norm {cite}`zhang2019root` | divides by the size, but doesn't subtract the mean | less to compute |
# | SwiGLU {cite}`shazeer2020glu` | one half of the hidden layer gates the other | more from the same number of weights |
# | rotary positions {cite}`su2021roformer` | rotate queries and keys | scores depend on offsets, not on positions |
# | shared keys and values {cite}`ainslie2023gqa` | several query heads share one head of keys and values | a smaller cache |
# | normed queries and keys {cite}`henry2020query` | bound their size | scores can't explode |

# %%
show_source(RMSNorm)

# %% [markdown]
# **RMS norm** leaves out the mean and the bias. That means less computation, but not always less time: if a library computes layer norm in one kernel and RMS norm in several steps, the simpler norm takes longer. `make bench` times both on your machine.
#
# **SwiGLU** multiplies the outputs of two linear maps. One of them goes through a smooth ReLU, $\operatorname{SiLU}(u) = u\,\sigma(u)$, and so opens or closes the other.
#
# $$
# \operatorname{SwiGLU}(x) = W_\text{down}\,\big(\operatorname{SiLU}(W_\text{gate}\,x) \odot W_\text{up}\,x\big)
# $$ (eq-swiglu)
#
# It has three matrices where the plain layer has two, so at equal cost it has to be narrower.

# %% [markdown]
# ```{exercise} SwiGLU: a gate's fair width
# :label: exercise-gated-width
#
# *Core, 5 minutes.* A plain feed-forward layer has two matrices, $W_1$ and $W_2$, and a hidden width of $F$. A gated one has three, as in {eq}`eq-swiglu`. How wide can it be with the same number of weights? Round up to the next `multiple`, since processors like round numbers.
# ([Solution](../solutions/09_gpt.ipynb#solution-gated-width))
# ```


# %%
def gated_width(d_ff: int, multiple: int) -> int:
    """The hidden width of a gated layer; d_ff is that of the plain one. No biases."""
    raise NotImplementedError


check("gated_width", gated_width)

# %% tags=["evidence"]
rows = []
for D in (96, 384, 4096):
    with torch.device("meta"):
        plain, gated = FeedForward(D, 4 * D, bias=False), GatedFeedForward(D, fair_width(4 * D))
    sizes = [sum(weight.numel() for weight in layer.parameters()) for layer in (plain, gated)]
    rows.append([D, 4 * D, fair_width(4 * D), *(f"{size:,}" for size in sizes)])
    assert 0 <= sizes[1] - sizes[0] < 3 * D
table(rows, ["D", "plain width", "gated width", "weights of the plain layer", "of the gated one"])

# %% [markdown]
# **Activation functions.** ReLU is 0 for all negative inputs. GELU and SiLU dip a little below 0 instead of bending sharply. The square of ReLU {cite}`so2021searching` was found by an automatic search through programs, and costs one extra product. GPT-2 approximates GELU with a tanh: plotted, the two can't be told apart, but its weights were trained with the approximation.

# %% tags=["mechanism"] mystnb={"figure": {"caption": "GELU and SiLU dip below 0 before they rise; ReLU and its square don't.", "name": "fig-activations"}, "image": {"alt": "Four curves from minus 3 to 2. ReLU is 0 up to 0 and then a straight line. Squared ReLU is 0 up to 0, below ReLU up to 1 and above it from there on; at 2 it is 4. GELU and SiLU are near 0 far to the left, dip to minus 0.17 and minus 0.28, and approach ReLU on the right, GELU sooner."}}
u = torch.linspace(-3, 2, 101)
names = {"ReLU": "relu", "squared ReLU": "relu_squared", "GELU, by tanh": "gelu_tanh"}
names["SiLU"] = "silu"
shown = {name: (u, ACTIVATIONS[activation](u)) for name, activation in names.items()}
curves(shown, "input", "output")
plt.show()

# %% [markdown]
# **Normed queries and keys** {cite}`henry2020query,dehghani2023scaling`. A score is the product of two lengths and a cosine. In long training at high learning rates, the lengths grow. The softmax of such large scores is almost 1 at a single position, so its gradient is almost 0 (Day 5). An RMS norm on queries and keys bounds the scores.

# %% [markdown]
# ```{exercise} Query–key norm: normed queries and keys
# :label: exercise-qk-norm
#
# *Core, 10 minutes.* Give each head's queries and keys an RMS norm over their $d_k$ numbers, $g \odot x / \sqrt{\frac{1}{d_k} \sum_i x_i^2 + \varepsilon}$, with one gain for queries and one for keys. Then compute the scores as always, with the factor $1/\sqrt{d_k}$.
# ([Solution](../solutions/09_gpt.ipynb#solution-qk-norm))
# ```


# %%
def qk_norm_scores(q, k, g_q, g_k, eps):
    """Shapes: q (B, h, T, d_k), k (B, h, S, d_k), gains (d_k,) to scores (B, h, T, S)."""
    raise NotImplementedError


check("qk_norm", qk_norm_scores)

# %% tags=["evidence"]
torch.manual_seed(0)
layer, x = QKNormAttention(96, 4, bias=False), torch.randn(1, 64, 96)
largest = {}
for factor in (1, 10, 100):
    with torch.no_grad():
        q, k, _ = layer.project(factor * x, None)
        plain_q, plain_k, _ = super(QKNormAttention, layer).project(factor * x, None)
    scores = [(a @ b.mT / 24**0.5).abs().max().item() for a, b in ((plain_q, plain_k), (q, k))]
    largest[factor] = scores

# %% tags=["evidence"]
observe(
    "When the inputs are 100 times as large, the largest score without the norms grows from {before:.1f} to {after:,.0f}. With them it stays at {normed:.1f}, which is below √24, or 4.9.",
    before=largest[1][0],
    after=largest[100][0],
    normed=largest[100][1],
    holds=largest[100][0] > 5000 * largest[1][0] and largest[100][1] < 24**0.5 + 1e-3,
)

# %% [markdown]
# **No biases** is one argument, `bias=False`. **The embedding** is no longer multiplied by $\sqrt{D}$; its rows start with a standard deviation of 0.02, so that the logits, computed with the same rows, start near 0.


# %% [markdown]
# (deeper-modern)=
# ## Which changes to the Transformer block help?
#
# *6 minutes.* GPT's block has layer norm before each part, GELU, learned positions and biases. We measure ten changes to it, one of them a step back: post-norm, as in Day 6's paper. Three of them together are Llama's {cite}`touvron2023llama`. **What does each gain alone, and what do they gain together?** Two blocks of width 64 learn the docstrings, with each change at the best of the same three learning rates, for three seeds. One comparison is at equal steps. But some changes make a step slower, so the fairer comparison is in equal time: as many steps as fit into the plain block's training time. *All together* means all changes except post-norm and squared ReLU, which SwiGLU replaces. The time of a step is relative to a step of the plain block, timed in turn with it.

# %% tags=["evidence"]
modern = experiments.load("modern_block")
PLAIN, *CHANGED = modern.parameters["change"]
COLUMNS = {"equal steps": "loss", "equal time": "loss in equal time"}


def at_best(column: str, change: str) -> tuple[float, float, float]:
    """Mean, lowest and highest of a column over the seeds, at the rate with the least loss."""
    by = column if column in COLUMNS.values() else "loss"
    rate = modern.lowest("rate", by, change=change)
    return modern.spread(column, rate=rate, change=change)


plain = at_best("loss", PLAIN)
gains = {
    change: {name: plain[0] - at_best(column, change)[0] for name, column in COLUMNS.items()}
    for change in CHANGED
}

# %% tags=["evidence"]
rows = []
for change in sorted([PLAIN, *CHANGED], key=lambda change: at_best("loss in equal time", change)):
    found = [at_best(column, change) for column in COLUMNS.values()]
    losses = [f"{mean:.2f} ({low:.2f} to {high:.2f})" for mean, low, high in found]
    sizes = modern.column("parameters", change=change)
    slower = at_best("as long", PLAIN)[0] / at_best("as long", change)[0]
    rows.append([change, f"{sizes[0]:,}", f"{slower:.2f}", *losses])
table(rows, ["change", "parameters", "time of a step", *(f"loss, {name}" for name in COLUMNS)])

# %% tags=["evidence"] mystnb={"figure": {"caption": "Of the single changes, Muon and rotary positions lower the loss most, at equal steps (circles) and in equal time (squares). Lines show the range of three seeds.", "name": "fig-modern"}, "image": {"alt": "Twelve rows, one for each change, each with a circle and a square on a common axis; a vertical line marks the plain block. All together, Llama's three, Muon and rotary positions lie clearly to the right of the line, tied embeddings and squared ReLU a little; the others lie close to it on either side. The squares of Muon and of all together are well to the left of their circles."}}
ax = plt.subplots(figsize=(6.4, 4.4))[1]
order = sorted(CHANGED, key=lambda change: gains[change]["equal steps"])
for (name, column), marker, colour, off in zip(
    COLUMNS.items(), "os", COLOURS, (0.12, -0.12), strict=False
):
    for y, change in enumerate(order):
        mean, low, high = at_best(column, change)
        ax.plot([plain[0] - high, plain[0] - low], 2 * [y + off], "-", color=colour, linewidth=2)
        ax.plot(plain[0] - mean, y + off, marker, color=colour, label=name if y == 0 else None)
ax.axvline(0, color=INK, linewidth=0.8)
ax.set_yticks(range(len(order)), order)
ax.set(xlabel="gain over GPT's block (nats per letter)")
ax.legend()
plt.show()

# %% tags=["evidence"]
LLAMA = "RMSNorm, SwiGLU, rotary"
norm, gate, rotary, together = (
    gains[change]["equal time"] for change in ("RMSNorm", "SwiGLU", "rotary", LLAMA)
)

# %% [markdown]
# (claim-gpt-1)=

# %% tags=["evidence"]
claim(
    "gpt-1",
    "Yes, if rotary positions are among them: the three gain {together:.2f} nats in equal time, rotary alone {rotary:.2f}, SwiGLU alone {gate:+.2f}, RMS norm {norm:+.2f}.",
    together=together,
    rotary=rotary,
    gate=gate,
    norm=norm,
    holds=lambda together, rotary, gate, norm: (
        together > rotary > 0.2 and max(abs(gate), abs(norm)) < 0.1
    ),
    scale="docstrings, 250,000 letters; 2 pre-norm blocks of width 64; 800 steps of 512 letters; 3 rates, half of the rows best at one of the outer two, 3 seeds",
    experiment="modern_block",
)

# %% tags=["evidence"]
muon, whole = gains["Muon"], gains["all together"]["equal time"]
ranges = {change: at_best("loss", change)[2] - at_best("loss", change)[1] for change in CHANGED}
noisiest = max(ranges, key=ranges.get)
observe(
    "Muon gains {steps:.2f} nats at equal steps and {time:.2f} in equal time; all changes together gain {whole:.2f} in equal time. In the noisiest row, {noisiest}, the three seeds lie {noise:.2f} nats apart.",
    steps=muon["equal steps"],
    time=muon["equal time"],
    whole=whole,
    noisiest=noisiest,
    noise=ranges[noisiest],
    holds=muon["equal steps"] > muon["equal time"] > 0.1
    and whole > together
    and 0.1 < ranges[noisiest] < whole,
)

# %% [markdown]
# In equal time Muon gives back much of its gain, because at this width its matrix products take much of a step. They don't grow with the batch, so in large-scale training they cost next to nothing. (Muon's matrices are trained at three times the row's learning rate.)
#
# And the others? Alone, most of them differ from the plain block, in one direction or the other, by less than the noisiest row's seeds differ from each other, so we can't say anything about them. Nor did we try every rate that might suit them: half of the rows are at their best at the lowest or the highest of the three. On top of rotary positions, RMS norm and SwiGLU do gain a little, so a change that gains nothing alone may gain something with others. Nor do the rows tell us why rotary positions gain so much. Perhaps it is because learned positions have to be learned one by one, from few tokens; that isn't tested here. Norms and gates were chosen for much larger models, trained for much longer.

# %% [markdown]
# (deeper-race)=
# ## How fast can a small GPT be trained?
#
# *12 minutes.* nanoGPT {cite}`karpathy2022nanogpt` has a configuration for readers without a GPU: four blocks of width 128, 64 letters of context, 0.8 million parameters. According to its README, 2,000 steps take about three minutes and reach a loss of 1.88 nats per letter on Shakespeare, estimated on a sample of the validation text. **How quickly can 1.88 be reached?** The rules: training text only; at most 850,000 parameters; the loss is measured on the whole validation text, read in windows of 64 letters; no table of counts inside the model; the median of five seeds, run in turn, counts. The clock measures the processor time of the training steps, on one thread. It stops while the loss is checked, 13 times per schedule.
#
# An untuned baseline is easy to beat. So the learning rate and schedule of nanoGPT's model are tuned first, in fifteen trials: five rates times three lengths of the schedule, on a seed that doesn't race. The winner had fifteen trials of the same kind. But its parts were chosen earlier, in an unrecorded search by hand that the baseline didn't have, so the comparison flatters the winner. The table has nanoGPT's model twice: at its published rate, for 2,500 steps, and tuned. The test text, the last twentieth of the plays, was used once, at the end.

# %% tags=["evidence"]
ran = experiments.load("race")
NAMED = {"baseline": "nanoGPT's rate", "tuned": "the same, tuned", "winner": "winner"}

# %% tags=["evidence"]
rows = []
for racer in ran.parameters["racer"]:
    seconds, tests, steps, sizes = (
        ran.column(c, racer=racer) for c in ("seconds", "test", "steps", "parameters")
    )
    name, _, number = racer.partition(", ")
    spread = f"{min(seconds):.1f} to {max(seconds):.1f}"
    row = [NAMED[name], number or "float32", f"{sizes[0]:,}", f"{median(steps):.0f}"]
    rows.append([*row, f"{median(seconds):.1f}", spread, f"{fmean(tests):.2f}"])
headers = ["racer", "numbers", "parameters", "steps", "seconds", "of five seeds", "test loss"]
table(rows, headers)

# %% tags=["evidence"]
clock = {racer: median(ran.column("seconds", racer=racer)) for racer in ran.parameters["racer"]}
observe(
    "The winner reaches the goal after {fast:.1f} seconds. nanoGPT's model takes {times:.0f} times as long at its published rate, and {tuned:.0f} times as long when tuned.",
    fast=clock["winner"],
    times=clock["baseline"] / clock["winner"],
    tuned=clock["tuned"] / clock["winner"],
    holds=clock["baseline"] > clock["tuned"] > 10 * clock["winner"],
)

# %% tags=["evidence"] mystnb={"figure": {"caption": "The winner reaches 1.88 long before nanoGPT's model, tuned or not. Validation loss by seconds of training, in float32; five runs of each.", "name": "fig-race"}, "image": {"alt": "Fifteen falling curves over seconds on a logarithmic axis. The winner's five fall from 2.2 to 1.88 within about two seconds. Those with nanoGPT's rate lie far to the right and arrive after about ninety seconds; those of the same model, tuned, arrive after about sixty."}}
ax = plt.subplots()[1]
for (racer, name), marker, colour in zip(NAMED.items(), "s^o", COLOURS, strict=False):
    for row in ran.select(racer=racer):
        named = name if row["seed"] == 0 else None
        how = {"marker": marker, "markersize": 3, "linewidth": 1, "linestyle": "-"}
        ax.plot(row["seconds at checks"], row["losses"], label=named, color=colour, **how)
ax.axhline(GOAL, color=INK, linewidth=0.8)
ax.set(xlabel="seconds of training", ylabel="validation loss (nats per letter)", xscale="log")
ax.set_xticks([0.3, 1, 3, 10, 30, 100], [0.3, 1, 3, 10, 30, 100])
ax.legend()
plt.show()

# %% tags=["evidence"]
gain = {racer: clock[racer] / clock[f"{racer}, bfloat16"] for racer in ("tuned", "winner")}
observe(
    "In bfloat16, the large model takes {large:.2f} of its time in float32, the winner {small:.2f}. The winner's products are probably too small to gain what the casts cost.",
    large=1 / gain["tuned"],
    small=1 / gain["winner"],
    holds=gain["winner"] < 1 < gain["tuned"],
)

# %% [markdown]
# Which of the winner's seven changes made the difference? The table tests each in two ways. *With it*: the tuned baseline plus this one change, on six tenths of its schedule, which is too short for the baseline itself. (These are equal steps, not equal time: with one narrow layer, 900 steps take a few seconds.) *Without it*: the winner minus this one change, on its own schedule and, if it hasn't reached 1.88 by then, on 1.5 times and on twice the steps. The rates aren't tuned anew for each row; Muon's own rate is 0.02 in the baseline. (Compare seconds only within a table: the two tables were measured at different times.)

# %% tags=["evidence"]
ladder = experiments.load("race_steps")


def arrival(change: str, how: str) -> tuple[float, float] | None:
    """The medians of seconds and steps over three seeds, if at least two of them arrive."""
    rows = ladder.select(change=change, how=how)
    there = [(row["seconds"], row["steps"]) for row in rows if row["steps"]]
    if len(there) < 2:
        return None
    seconds, steps = zip(*there, strict=True)
    return median(seconds), median(steps)


# %% tags=["evidence"]
def told(change: str, how: str) -> str:
    """Seconds and steps, or the loss at the end."""
    arrived = arrival(change, how)
    if arrived is None:
        column = ladder.column("loss", change=change, how=how)
        there = sum(loss <= GOAL for loss in column)
        return f"{there} of 3 arrive (loss {min(column):.2f} to {max(column):.2f})"
    return f"{arrived[0]:.1f} s ({arrived[1]:.0f} steps)"


# %% tags=["evidence"]
CHANGED = {
    "nothing": "the tuned baseline, and the winner",
    "Muon": "AdamW → Muon for the matrices of the blocks",
    "token shift": "half of the channels come from the two letters before",
    "rate": f"AdamW's rate {TUNED.rate:g} → {WINNER.rate:g}",
    "one narrow layer": "4 layers of 128 → 1 layer of 64",
    "ALiBi": "learned positions → a penalty on distance",
    "SwiGLU": "GELU → SwiGLU of equal size",
    "untied": "an output of its own; weights begin as Day 6's",
}
assert CHANGED.keys() == {"nothing", *CHANGES}
rows = [[c, what, told(c, "alone"), told(c, "without")] for c, what in CHANGED.items()]
table(rows, ["change", "what it is", "the baseline with it", "the winner without it"])

# %% tags=["evidence"]
steps = {change: (arrival(change, "without") or (0, 0))[1] for change in CHANGED}
needed = {change: n / steps["nothing"] for change, n in steps.items()}
others = [needed[c] for c in CHANGED if c not in ("nothing", "token shift", "one narrow layer")]
narrow = arrival("one narrow layer", "without")[0] / arrival("nothing", "without")[0]
observe(
    "Without token shift the winner needs {shift:.1f} times as many steps; without its one narrow layer, {narrow:.1f} times as many seconds. Without any one of the other changes it needs at most {most:.2f} times as many steps.",
    shift=needed["token shift"],
    narrow=narrow,
    most=max(others),
    holds=needed["token shift"] > 2 and narrow > 4 and 0 < min(others) and max(others) < 1.3,
)

# %% [markdown]
# For the large model, **Muon** alone or **token shift** alone is enough to arrive in time. The small one can't do without token shift; without Muon it even takes fewer seconds, since each step is cheaper. But beware of such a table: one change may do the work of another, and removing them one at a time can't show that. Each of five changes can be dropped at little cost, but that doesn't mean that the other two would be enough.

# %% [markdown]
# Why do these changes help?
#
# **Token shift** {cite}`peng2023rwkv` takes half of each position's channels from earlier letters: a quarter from the letter before, and a quarter from the one before that. (The paper mixes each channel with the previous position's in a learned proportion; the fixed quarters are ours.) On [Day 5](../05_self_attention.ipynb) a head had to learn to look one step back. Here every layer sees three letters in a row from the start of training, which frees attention for letters farther away. Token shift costs no parameters.

# %% tags=["mechanism"] mystnb={"figure": {"caption": "With token shift, a layer sees three letters at each position. Each column is a position, each row a quarter of its channels, and each cell names the letter they come from.", "name": "fig-token-shift"}, "image": {"alt": "A grid of four rows and six columns, under the letters t, o, space, b, e, comma. The two lower rows hold each position's own letter. The second row holds the letter before: nothing, t, o, space, b, e. The first row holds the letter two before: nothing, nothing, t, o, space, b."}}
letters = "to␣be,"
here = torch.arange(1.0, len(letters) + 1)[None, :, None].expand(1, -1, 4)
origin = TokenShift()(here)[0].T.int().tolist()  # (4, T), 0 where there is none
ax = sheet(5.4)
read = cells(ax, (5.4, 0.4), [list(letters)], role="state", size=(1.5, 0.8))
named = [["" if i == 0 else letters[i - 1] for i in row] for row in origin]
cells(
    ax,
    (5.4, 2.0),
    named,
    role="value",
    weights=[[i / 8 for i in row] for row in origin],
    size=(1.5, 0.8),
)
for row, told in enumerate(("two before", "one before", "here", "here")):
    note(ax, (5.1, 2.4 + 0.8 * row), told, align="right")
note(ax, (5.1, 0.8), "read", align="right", weight="bold")
plt.show()

# %%
show_source(TokenShift)

# %% [markdown]
# **Muon** {cite}`jordan2024muon` treats a matrix as a whole. AdamW scales each weight on its own, and the figure shows the result: its first step stretches a few directions far more than the others. Muon replaces the momentum with the nearest matrix that stretches all directions about equally. The idea is that rare directions are then learned as fast as frequent ones. This costs a few small matrix products per matrix and step. A step touches only a few rows of an embedding, so AdamW still trains tables and vectors.

# %% tags=["mechanism"]
known = vocabulary("docstrings")
model = todays_block.build(todays_block.PLAIN, len(known), seed=0)
((read, target),) = pieces(ids("docstrings", "train", known), 1, 8, todays_block.T, seed=0)
tag_loss(model(read), target).backward()
gradient = model.stack.blocks[0].feed_forward.W_1.weight.grad


# %% tags=["mechanism"] mystnb={"figure": {"caption": "Muon's first step stretches nearly all directions about equally, AdamW's only a few. Singular values, relative to the largest, for the feed-forward matrix of an untrained model on one batch.", "name": "fig-muon"}, "image": {"alt": "Three curves over the 64 directions of a matrix, sorted. AdamW's and the plain gradient's fall quickly from 1: to about 0.35 and 0.2 at the tenth direction. Muon's falls slowly and stays above 0.5, except in the last direction."}}
def first_step(optimiser: type) -> torch.Tensor:
    """What an optimiser adds to a matrix that is 0, with a rate of 1."""
    matrix = nn.Parameter(torch.zeros_like(gradient))
    matrix.grad = gradient.clone()
    optimiser([matrix], lr=1.0, weight_decay=0.0).step()
    return matrix.detach()


steps = {"the gradient": gradient}
steps |= {each.__name__: first_step(each) for each in (torch.optim.AdamW, torch.optim.Muon)}
ax = plt.subplots()[1]
for (name, step), dash, colour in zip(steps.items(), ("-", "--", ":"), COLOURS, strict=False):
    stretch = torch.linalg.svdvals(step)
    ax.plot(
        range(1, len(stretch) + 1), stretch / stretch[0], dash, color=colour, label=name, marker=""
    )
ax.set(xlabel="direction, sorted", ylabel="stretched by, of the most", ylim=(0, 1.05))
ax.legend()
plt.show()

# %%
show_source(MuonAndAdamW)

# %% [markdown]
# **One narrow layer.** The goal is modest, and a step of the small model costs a fraction of the large one's. **ALiBi** {cite}`press2022train` has no positions to learn; its penalty is eight times as steep as published, since our windows are much shorter than the paper's. **SwiGLU** and the untied output came out of the same search; the table doesn't show that either was needed.

# %% [markdown]
# (deeper-table)=
# ## How does a table of n-gram counts predict?
#
# *5 minutes.* In the lesson, a table beats three networks. **What is in it?** It remembers which symbols followed each run of four, and how often. For shorter runs it counts something else: in how many *different* longer runs a symbol occurred. *Francisco* is frequent, but it follows only *San*, so after any other word it is unlikely.


# %%
def count(text, back):
    """What followed each run of `back` symbols, and each shorter run: a table for each length."""
    tables = [defaultdict(Counter)]
    for i in range(back, len(text)):
        tables[0][tuple(text[i - back : i])][text[i]] += 1
    for _ in range(back):
        shorter = defaultdict(Counter)
        for run, followed in tables[0].items():
            shorter[run[1:]].update(followed.keys())
        tables.insert(0, shorter)
    return tables


# %% [markdown]
# To predict, we begin with the same probability for every symbol. Then we look up ever longer runs: no symbol, the last one, the last two, and so on up to four. Each time, a little is taken off every count. The probability that this frees is shared out among all symbols in proportion to the shorter run's prediction.


# %%
def counted_probability(tables, before, symbol, taken, V):
    """The probability of a symbol after a list of others; `taken` has a number for each table."""
    p = 1 / V
    for n, counts in enumerate(tables[: len(before) + 1]):
        if followed := counts.get(tuple(before[len(before) - n :])):
            kept = max(followed[symbol] - taken[n], 0)
            p = (kept + taken[n] * len(followed) * p) / followed.total()
    return p


# %% [markdown]
# How much is taken depends on how many counts are 1 and how many are 2. With that, these twenty lines predict what the book's table predicts, `KneserNey`:

# %% tags=["evidence"]
known = vocabulary("docstrings")
text, V = ids("docstrings", "train", known)[:5000].tolist(), len(known)
text = text[-4:] + text  # then its first four letters follow something, too
tables = count(text, 4)
times = [Counter(n for row in one.values() for n in row.values()) for one in tables]
taken = [found[1] / (found[1] + 2 * found[2]) if found[1] and found[2] else 0.5 for found in times]
new = ids("docstrings", "validation", known)[:200].tolist()
ours = [counted_probability(tables, new[max(i - 4, 0) : i], new[i], taken, V) for i in range(200)]
theirs = KneserNey(text, 5, V).log_probabilities(new).exp()
torch.testing.assert_close(torch.tensor(ours, dtype=torch.float64), theirs, rtol=1e-9, atol=0)
print("200 letters have the same probabilities, to nine digits")

# %% [markdown]
# More about the lesson's writers, from the same stored experiment: each network mixed with the table, half and half, and two programs that compress files. `gzip` compresses the test text alone, and `xz` after it has read the training text. (The two Transformers differ in more than their names: Day 6's blocks use ReLU and sinusoids, and GPT uses GELU and rotary positions.)

# %% tags=["evidence"]
rivals = experiments.load("four_writers")
writers = ["LSTM", "Day 6's blocks", "GPT"]
alone, halves = (
    {name: rivals.spread(column, writer=name)[0] for name in writers} for column in ("test", "half")
)
counts, gzip, xz = (rivals.spread(name, writer="table")[0] for name in ("test", "gzip", "xz"))
rows = [[name, f"{alone[name]:.2f}", f"{halves[name]:.2f}"] for name in writers]
rows += [
    [name, f"{bits:.2f}", ""] for name, bits in (("table", counts), ("xz", xz), ("gzip", gzip))
]
assert max(halves.values()) < counts < min(alone.values()) and counts < xz < gzip
table(rows, ["writer", "bits per byte", "half table"])

# %% [markdown]
# Every network helps the table, and no compressor comes near it.

# %% [markdown]
# (deeper-ladder)=
# ## Where does counting stop winning? The ladder, rung by rung
#
# *2 minutes.* In the lesson, a GPT overtakes the best table as it grows. **How were the two sides tuned?** All GPTs read as many tokens as two passes over the text have, each at the best of three learning rates. Since a larger GPT takes longer to read them, the tokens are equal, and the time isn't. The table was chosen on the validation text among three ways to cut the text into tokens and four lengths of its runs.

# %% tags=["evidence"]
ladder = experiments.load("counting_ladder")
rungs = sorted((r for r in ladder.rows if r["reader"] != "table"), key=lambda r: r["parameters"])
(best,) = ladder.select(reader="table")
rows = [
    [
        f"{r['parameters']:,}",
        f"{r['rate']:g}",
        len(r["test"]),
        *(f"{fmean(r[c]):.2f}" for c in ("test", "half")),
    ]
    for r in rungs
]
rows.append(["table", "", "", f"{best['test'][0]:.2f}", ""])
assert all(fmean(r["half"]) < min(fmean(r["test"]), best["test"][0]) for r in rungs)
table(rows, ["weights", "learning rate", "seeds", "bits per byte", "half table"])

# %% [markdown]
# At every size, half of each is better than either.

# %% [markdown]
# (deeper-counts)=
# ## Would a table of n-gram counts do as well?
#
# *6 minutes.* To reach a loss of 1.88, a model has to know little more than which letters follow which. Does that need a network? A table of counts {cite}`kneser1995improved` knows just that: how often each letter followed the few letters before it or, where those are rare, a shorter run of them. It learns from the same training text and is judged on the same windows.

# %% tags=["evidence"]
counted = experiments.load("race_counts")
ORDERS = [reader for reader in counted.parameters["reader"] if reader != "network"]


def best_order(learned: str, column: str = "own") -> tuple[float, str]:
    """The lowest mean loss of a table over the seeds, and its order: by the losses on `own`."""
    order = min(ORDERS, key=lambda reader: counted.spread("own", reader=reader, learned=learned)[0])
    return counted.spread(column, reader=order, learned=learned)[0], order


counts, order = best_order("plays")
counting = median(counted.column("seconds", reader=order, learned="plays"))
observe(
    "Counting {order} letters in a row gives a loss of {counts:.2f}, after {seconds:.2f} seconds. The goal of the race was {goal:.2f}.",
    order=int(order[-1]),
    counts=counts,
    seconds=counting,
    goal=GOAL,
    holds=counts < GOAL - 0.1 and counting < clock["winner"] / 5,
)

# %% [markdown]
# If all you want is 1.88, and quickly, count. What does a network have that the table lacks? We enlarge the winner to two layers of width 128, train it for 600 steps, and make the task harder for both: less text to learn from, a text of another kind, a longer window. *Elsewhere* means the other text: docstrings for a model that learned from plays, plays for one that learned from docstrings. For each training text, we take the table's order and the network's step that have the lowest validation loss.

# %% tags=["evidence"]
NAMES = {
    "plays": "all plays",
    "a quarter": "a quarter of them",
    "a sixteenth": "a sixteenth",
    "docstrings": "docstrings",
}

# %% tags=["evidence"]
rows, ahead = [], {}
for learned, name in NAMES.items():
    letters = counted.column("letters", reader="network", learned=learned)[0]
    row = [name, f"{letters:,}"]
    for column in ("own", "other"):
        table_loss, used = best_order(learned, column)
        net, low, high = counted.spread(column, reader="network", learned=learned)
        ahead[learned, column] = table_loss - net
        row += [f"{table_loss:.2f} ({used})", f"{net:.2f} ({low:.2f} to {high:.2f})"]
    rows.append(row)
headers = ["learned from", "letters", "counts", "network", "counts, elsewhere"]
table(rows, [*headers, "network, elsewhere"])

# %% tags=["evidence"]
leads = [*ahead.values()]
observe(
    "The table wins {won} of {n} comparisons. The network's largest lead is {most:.2f} nats, the table's {least:.2f}.",
    n=len(leads),
    won=sum(lead < 0 for lead in leads),
    most=max(leads),
    least=-min(leads),
    holds=sum(lead < 0 for lead in leads) > len(leads) / 2 and 0 < max(leads) < 0.1,
)

# %% tags=["evidence"] mystnb={"figure": {"caption": "Longer windows help the table and the network alike. Loss on validation docstrings by the length of the window; both learned from docstrings. Bands show the range of three seeds.", "name": "fig-counts-window"}, "image": {"alt": "Two curves over windows from 4 to 256 letters. They fall together, from about 2.2 to below 1.4, and nearly coincide throughout."}}
windows = [4, 8, 16, 32, 64, 128, 256]
_, order = best_order("docstrings")
readers = {f"counts, {order}": order, "network": "network"}
lines = {
    name: (windows, counted.column("windows", reader=reader, learned="docstrings"))
    for name, reader in readers.items()
}
ax = curves(lines, "window (letters)", "loss (nats per letter)", logx=True)
ax.set_xticks(windows, windows)
plt.show()

# %% [markdown]
# A longer window helps the table only because fewer letters are at the start of a window, where it sees less than it could. The network gains no more than that. So at this size, and after so little training, neither these eight comparisons nor the windows show anything that a network has and a table lacks. But no table can copy from the text it has just read, as the lesson's two blocks do; and with more text, larger networks overtake the table (the lesson's ladder).

# %% [markdown]
# (deeper-adding)=
# ## Does the order of writing decide what a GPT can add?
#
# *3 minutes.* The lesson's GPT writes sums units first. **What if it has to write the hundreds first, as we do?** Then the first digit depends on every carry, and none has been computed yet. In a stored experiment, both orders have the best of three learning rates, three seeds, and 300 steps.

# %% tags=["evidence"]
added = experiments.load("adding")
lines, longer, ends = {}, {}, {}
for order in added.parameters["order"]:
    spreads = {
        rate: added.spread("in the end", rate=rate, order=order)[0]
        for rate in added.parameters["rate"]
    }
    rate = max(spreads, key=spreads.get)
    ends[order] = spreads[rate]
    lines[order] = added.rows[0]["steps"], added.column("right", rate=rate, order=order)
    longer[order] = added.spread("four digits", rate=rate, order=order)[0]

# %% tags=["evidence"] mystnb={"figure": {"caption": "With the units first, a GPT learns to add within 300 steps; with the hundreds first (*usual*), it gets most sums wrong. Share of 5,000 unseen sums. Means and ranges of three seeds (stored experiment).", "name": "fig-adding"}, "image": {"alt": "Two curves over 300 steps. The one marked units first rises to nearly 100 percent; the one marked usual stays far below."}}
shares = {
    order: (steps, [[100 * x for x in run] for run in of]) for order, (steps, of) in lines.items()
}
curves(shares, "step", "correct sums (%)")
plt.show()

# %% tags=["evidence"]
observe(
    "With the units first, {units:.0%} of the sums are correct in the end; in the usual order, {usual:.0%} are. Of sums of four-digit numbers, which neither has been trained on, {longer:.0%} are correct with the units first.",
    units=ends["units first"],
    usual=ends["usual"],
    longer=longer["units first"],
    holds=ends["units first"] > 0.9 and ends["usual"] < 0.6 and longer["units first"] < 0.05,
)

# %% [markdown]
# A GPT reads what it writes, so the order of writing decides what each step has to compute. And it has learned to add three-digit numbers, not to add.

# %% [markdown]
# (deeper-tied)=
# ## Do tied embeddings help?
#
# *4 minutes.* A token has a row in two tables: the embedding, used to read it, and the output matrix, used to predict it. If they are **tied** {cite}`press2017using`, the two are one table. This saves parameters, and the larger the vocabulary's share of the model, the more it saves. Does the model also learn better? The same two blocks learn the docstrings as bytes (and one pair), and as byte pairs from larger vocabularies, tied and untied, each at the best of the same six rates. We compare bits per byte, since tokens from different vocabularies differ in length.

# %% tags=["evidence"]
tied = experiments.load("tied")


def bits(merges: int, is_tied: bool) -> tuple[float, float, float]:
    """Mean, lowest and highest over the seeds, at the best rate."""
    where = {"merges": merges, "tied": is_tied}
    rate = tied.lowest("rate", "bits", **where)
    return tied.spread("bits", rate=rate, **where)


rows = []
for merges in tied.parameters["merges"]:
    row = [f"{tied.column('vocabulary', merges=merges)[0]:,}"]
    for is_tied in (False, True):
        mean, low, high = bits(merges, is_tied)
        n = tied.column("parameters", merges=merges, tied=is_tied)[0]
        row += [f"{n:,}", f"{mean:.2f} ({low:.2f} to {high:.2f})"]
    rows.append(row)
headers = ["vocabulary", "parameters, two tables", "bits per byte"]
table(rows, [*headers, "parameters, tied", "bits per byte, tied"])

# %% [markdown]
# (claim-gpt-2)=

# %% tags=["evidence"]
few, *_, many = tied.parameters["merges"]
lost = {merges: bits(merges, True)[0] - bits(merges, False)[0] for merges in (few, many)}
saved = [tied.column("parameters", merges=many, tied=s)[0] for s in (False, True)]
claim(
    "gpt-2",
    "Yes, if the vocabulary is small: tied, bytes take {few:+.2f} bits per byte, {n:,} byte pairs {many:+.2f}; tying saves {saved:.0%} of the parameters there.",
    few=lost[few],
    many=lost[many],
    n=tied.column("vocabulary", merges=many)[0],
    saved=1 - saved[1] / saved[0],
    holds=lambda few, many, n, saved: few < -0.05 and many > 0.05 and n > 1000 and saved > 0.1,
    scale="docstrings, 250,000 letters; 2 blocks of width 64; 300 steps of 512 tokens; 6 rates, 3 seeds",
    experiment="tied",
)

# %% [markdown]
# Why does tying hurt with a large vocabulary? That isn't tested here. Nor are the two sides of equal size: with two tables, the model is larger. And after 300 steps all of these models are only half trained; the lesson's writer gets much further.

# %% [markdown]
# (deeper-context)=
# ## Is more context always better?
#
# *4 minutes.* How much context should you train with? A step has 1,024 letters. That can be 256 pieces of four letters, or four pieces of 256. Longer pieces show more context, but fewer different parts of the text. Seven models, one per length, are trained for 300 steps, each at the best of the same five rates.

# %% tags=["evidence"]
context = experiments.load("context")
lengths = context.parameters["context"]


def at_best(column: str, length: int) -> list[float]:
    """The losses of the seeds at the rate that is best for this length."""
    rate = context.lowest("rate", "loss", context=length)
    return context.column(column, rate=rate, context=length)


# %% tags=["evidence"] mystnb={"figure": {"caption": "A context of medium length gives the lowest loss. Loss by the context used in training and validation, at equal tokens; bands show the range of three seeds. The second line covers the last eighth of each window, for which nearly the whole context has been read.", "name": "fig-context"}, "image": {"alt": "Two lines over contexts from 4 to 256 letters. Both fall from 4 letters on, are lowest in the middle, between 16 and 64 letters, and rise again to 256."}}
lines = {}
for name, column in (("all letters", "loss"), ("the last eighth of a window", "last")):
    losses = [at_best(column, length) for length in lengths]
    lines[name] = (lengths, list(zip(*losses, strict=True)))
ax = curves(lines, "context (letters)", "loss (nats per letter)", logx=True)
ax.set_xticks(lengths, lengths)
plt.show()

# %% tags=["evidence"]
mean = {length: sum(at_best("loss", length)) / 3 for length in lengths}
best = min(mean, key=mean.get)

# %% [markdown]
# (claim-gpt-4)=

# %% tags=["evidence"]
claim(
    "gpt-4",
    "No: after 300 steps the loss falls from {first:.2f} with {least:.0f} letters of context to {lowest:.2f} with {best:.0f}; with {most:.0f} it is {last:.2f}.",
    first=mean[lengths[0]],
    least=lengths[0],
    lowest=mean[best],
    best=best,
    most=lengths[-1],
    last=mean[lengths[-1]],
    holds=lambda first, least, lowest, best, most, last: (
        least < best < most and lowest < first - 0.1 and lowest < last - 0.02
    ),
    scale="docstrings, 250,000 letters; 2 blocks of width 64; 300 steps of 1,024 letters; 5 rates, 3 seeds",
    experiment="context",
)

# %% [markdown]
# Why the long pieces do worse isn't tested here; perhaps it is because each step then shows fewer parts of the text. And the answer holds for a training of seconds, which reads the text little more than once: with more steps, the best length may grow.

# %% [markdown]
# (deeper-real-thing)=
# ## Can your blocks run GPT-2 and Llama?
#
# *8 minutes.* If our blocks are the real thing, do published weights fit into them? GPT-2 {cite}`radford2019language` and Llama {cite}`touvron2023llama` are published as folders: `config.json` has the sizes, `model.safetensors` the weights, and two or three more files the tokeniser.
#
# A *safetensors* file is a header, which lists where each tensor begins and ends, followed by the numbers. Opening it runs no code. The older `.bin` files are pickles, and a pickle is a program: opening it runs it. The book opens none of those.
#
# | part | GPT-2 | Llama |
# | --- | --- | --- |
# | embedding | not multiplied by $\sqrt{D}$; tied to the output | not multiplied; in small models tied to the output |
# | positions | learned, up to 1,024 | rotary, in halves, often stretched |
# | norm | layer norm | RMS norm |
# | queries, keys, values | one matrix, `c_attn`, transposed | three matrices; from Llama 2's largest on, fewer heads of keys and values |
# | feed-forward layer | GELU, approximated by tanh | SwiGLU |
# | biases | everywhere | nowhere |
#
# Each row is a trap, because a wrong choice raises no error; the model merely babbles. `c_attn` computes $x W$ where we compute $W x$, so it has to be transposed.

# %% tags=["mechanism"] mystnb={"figure": {"caption": "Transposed, GPT-2's published `c_attn` becomes our W_in; here for a width of 2.", "name": "fig-c-attn"}, "image": {"alt": "Left, the weight of c_attn: two rows and six columns, in pairs of columns named queries, keys, values. An arrow leads to its transpose, W_in: six rows and two columns, in pairs of rows with the same names."}}
ax = sheet(6.2)
for i, role in enumerate(("query", "key", "value")):
    published = [[f"{side}{role[0]}{j}" for j in "12"] for side in "ab"]
    left = cells(ax, (0.9 + 2.1 * i, 2.2), published, role=role, weights=0.8)
    columns = [list(column) for column in zip(*published, strict=True)]
    right = cells(ax, (10.2, 0.5 + 1.7 * i), columns, role=role, weights=0.8)
    brace(ax, left, "bottom", ("queries", "keys", "values")[i])
    brace(ax, right, "right", ("queries", "keys", "values")[i])
arrow(ax, (7.4, 3.05), (10.0, 3.05))
note(ax, (4.05, 1.6), "weight of c_attn")
note(ax, (8.7, 2.6), "transposed")
note(ax, (11.25, 5.9), "W_in")
plt.show()

# %% [markdown]
# Llama's rotary positions pair each number in the first half of a head with one in the second half ({numref}`exercise-rotary-halves`); ours pair neighbours. So we can either reorder the rows of $W_q$ and $W_k$ as we load them, or rotate Llama's pairs. `load_llama` does the latter, and {numref}`exercise-neighbouring-pairs` asks you to do the former.

# %% tags=["mechanism"] mystnb={"figure": {"caption": "After reordering, the two rows of each of Llama's pairs are neighbours, as `Rotary` expects: the six rows of W_q for one head, with pairs a and a', b and b', c and c'.", "name": "fig-halves"}, "image": {"alt": "Above, six cells a b c a' b' c' in one row; below, a a' b b' c c'. Arrows lead from each cell to its new position; the first and the last stay."}}
ax = sheet(5.0)
rows = ["a", "b", "c", "a'", "b'", "c'"]
shades = [1, 0.6, 0.2]
above = cells(ax, (3.6, 0.7), [rows], role="key", weights=[shades * 2], size=(1.7, 0.9))
order = [0, 3, 1, 4, 2, 5]
pairs = [[rows[i] for i in order]]
below = cells(
    ax, (3.6, 3.3), pairs, role="key", weights=[[shades[i % 3] for i in order]], size=(1.7, 0.9)
)
for place, i in enumerate(order):
    arrow(ax, above[0, i].at("bottom"), below[0, place].at("top"))
label(ax, above, "left", "halves")
label(ax, below, "left", "neighbours")
plt.show()

# %% [markdown]
# Do the weights fit? The `transformers` library {cite}`wolf2020transformers` is the reference. Nothing can be downloaded here, so it saves a small random model of each kind in the format of the large ones, and the book loads it.


# %% tags=["evidence"]
def published(kind: str, folder: Path) -> torch.nn.Module:
    """Let the reference save a small random model in a folder; return it."""
    import transformers

    torch.manual_seed(0)
    sizes = {"vocab_size": 64, "bos_token_id": 1, "eos_token_id": 2}
    if kind == "gpt2":
        config = transformers.GPT2Config(n_embd=32, n_head=4, n_layer=3, n_positions=64, **sizes)
        model = transformers.GPT2LMHeadModel(config)
    else:
        heads = {"num_attention_heads": 4, "num_key_value_heads": 2, "num_hidden_layers": 3}
        config = transformers.LlamaConfig(hidden_size=32, intermediate_size=88, **heads, **sizes)
        model = transformers.LlamaForCausalLM(config)
    with contextlib.redirect_stderr(io.StringIO()):  # it reports its progress
        model.double().eval().save_pretrained(folder)
    return model


# %% tags=["evidence"]
found = {}
ids = torch.randint(64, (3, 40), generator=torch.Generator().manual_seed(0))
for kind, load in (("gpt2", load_gpt2), ("llama", load_llama)):
    with tempfile.TemporaryDirectory() as folder, torch.no_grad():
        theirs, ours = published(kind, Path(folder)), load(folder, torch.float64)
        expected = theirs(ids).logits
        found[kind] = ((ours(ids)[0] - expected).abs().max() / expected.abs().max()).item()
observe(
    "With three blocks, GPT-2's logits agree with the reference's to {gpt2:.0e} of the largest. Llama's agree only to {llama:.0e}, since the reference computes its norms and angles in single precision.",
    **found,
    holds=found["gpt2"] < 1e-12 and found["llama"] < 1e-6,
)

# %% [markdown]
# **Longer texts than in training.** If a rotation hasn't completed a turn in training, the model has never seen its later angles. {cite:t}`chen2023extending` slow all rotations by the same factor, so that far positions look like near ones. Llama 3.1 {cite}`grattafiori2024llama` slows only the slow rotations. The fast ones, which tell neighbours apart, stay as they are.

# %% tags=["mechanism"] mystnb={"figure": {"caption": "Llama 3.1 slows only the rotations that make a few turns at most in training's 8,192 positions: by which factor, for each number of turns. The horizontal axis is logarithmic.", "name": "fig-stretch"}, "image": {"alt": "A curve. Rotations with less than one turn are slowed by 8. Between one turn and four the factor falls to 1, and there it stays."}}
turns = torch.logspace(-2, 3, 201, dtype=torch.float64)
waves = 2 * math.pi * turns / 8192
slowed = stretch_slow(waves, factor=8.0, low=1.0, high=4.0, context=8192)
curves({"": (turns, waves / slowed)}, "turns in training", "slowed by", logx=True)
plt.show()

# %% [markdown]
# Now for the real ones. Put a folder `gpt2` or `llama`, with the published files, into the folder that `BOOK_DATA` names.


# %% tags=["nbval-ignore-output"]
def continued(folder, load, beginning, n=40):
    """Let a published model go on with a text."""
    model, tokens = load(folder), read_byte_pairs(folder)
    ids = torch.tensor([tokens.encode(beginning)])
    generator = torch.Generator().manual_seed(0)
    written = generate(model, ids, n, tau=0.8, p=0.95, generator=generator)
    return beginning + tokens.decode(written[0])


for kind, load in (("gpt2", load_gpt2), ("llama", load_llama)):
    own = own_folder()
    if own and (own / kind).is_dir():
        print(f"{kind}:", continued(own / kind, load, "The cat sat on the"))
    else:
        print(f"{kind}: not tried here")

# %% [markdown]
# If the book can't load a folder, an error tells you why: a pickle, a truncated file, weights that are missing, left over or of the wrong shape, or an option in the config that makes it a different model. Llama 2's tokens are pairs of characters, not of bytes, so the book loads its weights but can't read text with it.

# %% [markdown]
# ```{exercise} Llama's rotary pairs: from halves to neighbours
# :label: exercise-neighbouring-pairs
#
# *Stretch, 12 minutes.* Reorder the rows of a published $W_q$ and $W_k$ so that the book's `Rotary`, which rotates neighbouring pairs, gives the same scores. In each head, pair $i$ is in rows $(i, i + d_k/2)$ of the given matrices, and must be in rows $(2i, 2i + 1)$ of those you return. There may be fewer heads of keys than of queries.
# ([Solution](../solutions/09_gpt.ipynb#solution-neighbouring-pairs))
# ```


# %%
def neighbouring_pairs(
    W_q: torch.Tensor, W_k: torch.Tensor, W_v: torch.Tensor, n_heads: int, n_kv_heads: int
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Shapes: W_q (h·d_k, D), W_k and W_v (n_kv_heads·d_k, D); returns three of the same."""
    raise NotImplementedError


check("neighbouring_pairs", neighbouring_pairs)

# %% [markdown]
# ```{exercise} GPT-2's c_attn: three matrices from one
# :label: exercise-c-attn
#
# *Core, 8 minutes.* GPT-2 computes `x @ weight + bias`, with a `weight` of shape $(D, 3D)$, and splits the result into thirds: queries, keys, values. Return $W_q, b_q, W_k, b_k, W_v, b_v$ such that the queries are $W_q x + b_q$, and so on.
# ([Solution](../solutions/09_gpt.ipynb#solution-c-attn))
# ```


# %%
def from_c_attn(weight: torch.Tensor, bias: torch.Tensor) -> tuple[torch.Tensor, ...]:
    """Shapes: weight (D, 3·D), bias (3·D,) to three times (D, D) and (D,)."""
    raise NotImplementedError


check("c_attn", from_c_attn)

# %% [markdown]
# (deeper-machines)=
# ## Data-parallel training: what if one machine is too slow?
#
# *7 minutes.* What if two of them share the work? In **data-parallel** training each process has the whole model and a share of each batch, its **shard**. Each computes the gradient for its own shard; then the processes exchange their gradients, and all take the same step with the mean {cite}`li2020pytorch`. So the weights stay equal, and only gradients have to be sent. Each process has a number, its **rank**.

# %% tags=["mechanism"] mystnb={"figure": {"caption": "After a step, both processes have the weights that a single process would have: eight examples are dealt out in turn, and the gradients are averaged.", "name": "fig-two-processes"}, "image": {"alt": "On the left a column of eight cells, the examples 0 to 7. Arrows lead to two rows: rank 0 gets 0, 2, 4, 6 and rank 1 gets 1, 3, 5, 7. Each row goes on with a box, weights, and a box, gradient. From both gradients arrows lead to one box, their mean, and from there back to both weights."}}
ax = sheet(7.4)
batch = cells(ax, (0.9, 0.5), [[n] for n in range(8)], role="key", weights=0.5, size=(0.9, 0.8))
mean = box(ax, (12.9, 2.9), "their\nmean", (2.3, 1.6), role="gradient")
for rank, y in ((0, 1.2), (1, 5.0)):
    shard = [list(range(rank, 8, 2))]
    mine = cells(ax, (3.2, y), shard, role="key", weights=0.5, size=(0.7, 0.8))
    weights = box(ax, (6.9, y - 0.1), "weights", (2.2, 1.0), role="state")
    gradient = box(ax, (10.0, y - 0.1), "gradient", (2.4, 1.0), role="gradient")
    note(ax, (mine.middle[0], y - 0.5 if rank == 0 else y + 1.3), f"rank {rank}", weight="bold")
    arrow(ax, batch.at("right"), mine.at("left"))
    arrow(ax, mine.at("right"), weights.at("left"))
    arrow(ax, weights.at("right"), gradient.at("left"))
    side = "bottom" if rank == 0 else "top"
    arrow(ax, gradient.at("right"), mean.at("top" if rank == 0 else "bottom"))
    arrow(ax, mean.at("left"), weights.at(side), dashed=True)
note(ax, (8.6, 3.7), "the same step for both")
plt.show()

# %% [markdown]
# PyTorch's `DistributedDataParallel` sends the gradients of the last layers while the backward pass is still busy with the first ones. `gloo` carries them between processors, `nccl` between GPUs. The book adds the rest: Day 0's `fit` gives each process its shard, and the losses that it stores are those of the whole batch.

# %%
show_source(data_parallel.shard)

# %%
show_source(data_parallel.over_whole)

# %% [markdown]
# Shards aren't always equally large. With shards of 7 and 2, averaging the two means would make each example in the small shard count three and a half times as much as one in the large shard. So each process multiplies its loss by `weight`, its share of the examples relative to an equal share.
# How much difference does that make? We compute the gradient for nine pieces of text, whole and by shards.

# %%
model, rows = many_processes.writer(), many_processes.windows("train", 9)


def gradient(rows: torch.Tensor) -> torch.Tensor:
    """All numbers of the gradient of the mean loss, one after another."""
    loss = many_processes.loss(model(rows[:, :-1]), rows[:, 1:])
    return torch.cat([g.flatten() for g in torch.autograd.grad(loss, [*model.parameters()])])


whole, large, small = gradient(rows), gradient(rows[:7]), gradient(rows[7:])
alike = ((large + small) / 2 - whole).norm() / whole.norm()
weighed = ((7 * large + 2 * small) / 9 - whole).norm() / whole.norm()

# %% tags=["evidence"]
observe(
    "The plain mean of the two gradients differs from the whole batch's gradient by {alike:.0%} of its size. Weighted by the shards' sizes, the mean differs by {weighed:.0e}.",
    alike=alike,
    weighed=weighed,
    holds=alike > 0.05 and weighed < 1e-5,
)

# %% [markdown]
# And do two processes take the same steps as one? A stored experiment trains Day 9's GPT for 20 steps in double precision: one process with batches of 32 pieces, and two with 16 each.

# %% tags=["evidence"] mystnb={"figure": {"caption": "Two processes that share each batch have the same losses as one, over 20 steps (stored experiment `two_processes`).", "name": "fig-two-losses"}, "image": {"alt": "Two curves that coincide: the loss falls within 20 steps."}}
stored = experiments.load("two_processes")
(one,), (two,) = (stored.column("losses", processes=n) for n in (1, 2))
lines = {"one process": (range(1, 21), one), "two processes": (range(1, 21), two)}
curves(lines, "step", "loss (nats per token)")
plt.show()

# %% [markdown]
# (claim-gpt-5)=

# %% tags=["evidence"]
claim(
    "gpt-5",
    "Yes, if all examples count equally: 20 losses differ by {most:.0e}. If shards of 7 and 2 count equally, the gradient is {off:.0%} off.",
    most=max(abs(a - b) for a, b in zip(one, two)),
    off=alike.item(),
    holds=lambda most, off: most < 1e-9 and off > 0.05,
    scale="Day 9's GPT, 20 steps of 32 pieces in float64, two processes with gloo on one machine; no dropout",
    experiment="two_processes",
)

# %% [markdown]
# They agree up to rounding, which is as exact as it gets, since sums of floating-point numbers depend on their order. But dropout draws from each process's own generator, and a layer that mixes examples, such as BatchNorm, sees only its own shard. With either, one process and two no longer agree.
#
# Is it faster? Each process does half of the work, but it also has to send gradients.

# %% tags=["evidence"]
own = {row["processes"]: row["processor seconds per step"] for row in stored.rows}
sent = ring_bytes(stored.rows[0]["bytes of gradients"], 2)
observe(
    "On its own, a process works for {alone:.0f} ms per step. Two processes work for {shared:.0f} ms each, and each of them sends {sent:.1f} MB.",
    alone=1000 * own[1],
    shared=1000 * own[2],
    sent=sent / 1e6,
    holds=own[2] < 0.8 * own[1],
)

# %% [markdown]
# That is processor time, on a shared machine; how much time you save by the clock depends on your cores and cables.
#
# **On paper: 8 GPUs, and 1,000.** In a **ring**, each process sends only to its neighbour {cite}`patarasuk2009bandwidth`. The gradients are cut into $n$ parts. For $n - 1$ steps the parts travel around the ring and are added up on the way; for another $n - 1$ the sums go round. So each process sends $2 (n - 1)/n$ times the size of the gradients, *hardly more
# for 1,000 processes than for 8*. We take the smallest GPT-2, with 124 million parameters $N$ {cite}`radford2019language`, and $6 N$ operations for a token's forward and backward pass. The other figures are assumptions, in round numbers: 16,384 tokens per GPU and step, a GPU that does 200 TFLOP/s, links of 100 GB/s within a machine and 25 GB/s between machines, and 10 µs for each step of the ring.

# %%
N = 124e6
compute = 6 * N * 16_384 / 200e12  # seconds of a GPU's own work
rows = []
for n, bandwidth in ((8, 100e9), (1000, 25e9)):  # bytes per second
    around = ring_seconds(4 * N, n, bandwidth, latency=1e-5)
    rows.append([n, ring_bytes(4 * N, n) / 1e9, 1000 * around, 1000 * compute])

# %% tags=["evidence"]
table(
    [
        [
            f"{n:,}",
            f"{gb:.2f}",
            f"{ms:.0f}",
            f"{own:.0f}",
            f"{own / (own + ms):.0%} to {own / max(own, ms):.0%}",
        ]
        for n, gb, ms, own in rows
    ],
    ["GPUs", "GB sent by each", "ring (ms)", "own work (ms)", "busy with own work"],
)

# %% [markdown]
# In the last column, the first number is for a ring that waits for the backward pass, the second for one that runs at the same time. At 1,000 GPUs the latency of the ring's 1,998 small steps costs half as much time as sending the bytes, so real clusters first add up the gradients within each machine. But another limit is closer: 1,000 GPUs read 16 million tokens per step, and beyond some size a larger batch no longer improves the step.
#
# **If training is interrupted.** Rank 0 writes `fit`'s checkpoint after each epoch. If you kill both processes midway, the same command resumes from the checkpoint and ends with the same weights, to the last bit: one of the book's tests does just that. The command is `make train PROCESSES=2`; the README has the one for several machines. None of this was tried on GPUs.

# %% [markdown]
# ```{exercise} Data parallelism: the gradient of the whole batch
# :label: exercise-shard-gradients
#
# *Core, 7 minutes.* Each process has the gradients of its shard's mean loss. Return the gradients of the mean loss over all examples, parameter by parameter. The shards may have different sizes; a process that got no example has computed the gradient for a borrowed one, which must not count.
# ([Solution](../solutions/09_gpt.ipynb#solution-shard-gradients))
# ```


# %%
def whole_gradient(gradients, sizes):
    """Lists of gradients, one list per process, and the number of examples of each, to one list."""
    raise NotImplementedError


check("shard_gradients", whole_gradient)

# %% [markdown]
# (deeper-induction)=
# ## Induction heads: how does a model copy from its context?
#
# *9 minutes.* The lesson's two blocks continued a sequence of invented letters. **Was it induction heads that copied, and does anything else learn from the context?** An **induction head** {cite}`olsson2022context` in the second block looks for the note that the first block has written ({numref}`fig-induction`); on
# [Day 5](../05_self_attention.ipynb) you built a perfect one by hand.
#
# Small GPTs, with two blocks of four heads each, read sequences of 48 symbols, in which a random segment of 12 to 24 symbols is repeated again and again. Where the segment is new, nothing can be predicted: with 64 kinds of symbols, the loss is $\ln 64 = 4.16$ nats. Where it is repeated, the context holds the answer. The heads see near
# symbols more easily than far ones (Day 6's ALiBi).
#
# How close does a head come to an induction head? Its **prefix-matching score** is its mean weight on the positions right after earlier occurrences of the current symbol.

# %% [markdown]
# ```{exercise} Induction heads: the prefix-matching score
# :label: exercise-prefix-matching
#
# *Core, 9 minutes.* Compute the prefix-matching score from one head's attention maps. A position whose symbol hasn't occurred before has nothing to find, and doesn't count. If the symbol has occurred several times, add up the weights on the positions that follow.
# ([Solution](../solutions/09_gpt.ipynb#solution-prefix-matching))
# ```


# %%
def prefix_matching(weights, ids):
    """Shapes: causal weights (B, T, T), a row for each query, and ids (B, T), to one number."""
    raise NotImplementedError


check("prefix_matching", prefix_matching)

# %% tags=["evidence"]
heads = experiments.load("induction")
steps = range(0, heads.parameters["steps"] + 1, 100)


def by_step(column: str, layers: int) -> list[list[float]]:
    """A curve for each seed."""
    return heads.column(column, layers=layers)


# %% tags=["evidence"] mystnb={"figure": {"caption": "With two blocks, small GPTs suddenly learn to copy, just when induction heads form. Left: loss where a segment is new and where it comes again, with two blocks and with one. Right: the best prefix-matching score of a head. Means and ranges of three seeds (stored experiment `induction`).", "name": "fig-copying"}, "image": {"alt": "Two diagrams over 2,000 steps. Left: the loss of new segments stays near 4.2. With two blocks the loss of repeated segments falls slowly to about 3.5, then steeply to below 1 within a few hundred steps; with one block it stays above 3. Right: with two blocks the best score stays below 0.1 and then jumps to about 0.8 at the same steps; with one block it stays below 0.1."}}
figure, (left, right) = plt.subplots(1, 2, figsize=(6.4, 3.4))
lines = {
    "new": (steps, by_step("new", 2)),
    "again, two blocks": (steps, by_step("again", 2)),
    "again, one block": (steps, by_step("again", 1)),
}
curves(lines, "step", "loss (nats)", ax=left)
left.set_ylim(0, 5)
scores = {
    "two blocks": (steps, by_step("best score", 2)),
    "one block": (steps, by_step("best score", 1)),
}
curves(scores, "step", "best prefix-matching score", ax=right)
right.set_ylim(0, 1)
plt.show()

# %% [markdown]
# For several hundred steps little happens. Then, within two or three hundred, heads in the second block begin to match prefixes, and at the same steps the loss falls. With one block neither happens. Olsson et al. saw this pattern in models of all sizes, and showed the cause in small ones. Still, two curves that move together don't prove a cause. So we **silence** heads: at each position, a head's output is replaced by its mean over many sequences, which says nothing about the current one.

# %%
show_source(copying.silenced)

# %% [markdown]
# We sort the heads into three kinds by what they attend to at the end of training: the **induction heads**, whose score is above 0.3; their **helper**, the head of the first block that attends most to the previous symbol; and the rest. We silence each kind in the models from all steps, even those from before the heads had formed.

# %% tags=["evidence"] mystnb={"figure": {"caption": "Silencing the induction heads or their helper undoes the copying; silencing the rest doesn't. Loss where a segment comes again, at every hundredth step. Means and ranges of three seeds (stored experiment `induction`).", "name": "fig-silenced"}, "image": {"alt": "Four curves over 2,000 steps. Up to about step 700 all lie near 4. Then the loss with all heads falls below 1, and that without the rest falls as well, a little less; those without the induction heads and without the helper rise above 4 and stay there."}}
lines = {"all heads": (steps, by_step("again", 2))} | {
    f"without {kind}": (steps, by_step(f"without {kind}", 2))
    for kind in ("the rest", "induction heads", "the helper")
}
ax = curves(lines, "step", "loss where it comes again (nats)")
ax.set_ylim(0, 8)
plt.show()

# %% tags=["evidence"]
rows = heads.select(layers=2)
found = [row["induction heads"] for row in rows]
early = max(abs(row["without induction heads"][5] - row["again"][5]) for row in rows)


# %% tags=["evidence"]
def in_the_end(column: str, layers: int = 2) -> float:
    """Mean over the seeds of what a curve ends with."""
    ends = [row[column][-1] for row in heads.select(layers=layers)]
    return sum(ends) / len(ends)


# %% tags=["evidence"]
kinds = {"usual": "again", "without": "without induction heads"}
kinds |= {"helper": "without the helper", "rest": "without the rest"}
ended = {name: in_the_end(column) for name, column in kinds.items()}
lost = min(ended["without"], ended["helper"])
observe(
    "{least} or {most} of 8 heads are induction heads. Without them the final loss rises from {usual:.2f} to {without:.1f} nats, without their one helper to {helper:.1f}, without the rest to {rest:.2f}. At step 500, before they have formed, silencing them changes it by at most {early:.2f}.",
    least=min(found),
    most=max(found),
    early=early,
    **ended,
    holds=min(found) >= 1 and lost > 4 and ended["rest"] < 2 and early < 0.3,
)

# %% [markdown]
# Without these heads the model is worse than one that knows nothing ($\ln 64 = 4.16$): it has come to rely on them, and is now confidently wrong. Silencing the same number of heads *at random* would be a misleading comparison: in a draw that happens to include the helper, everything is lost; in the other draws, hardly anything.

# %% tags=["evidence"]
draws = [loss for row in rows for loss in row["draws"]]
lost = [loss for loss in draws if loss > 4]
kept = [loss for loss in draws if loss <= 4]
observe(
    "In {lost} of {n} random draws of as many other heads, the loss rises above 4 nats; in the remaining draws it is at most {most:.2f}.",
    n=len(draws),
    lost=len(lost),
    most=max(kept),
    holds=0 < len(lost) < len(draws) and max(kept) < 2,
)

# %% [markdown]
# And are these heads the *only* way to learn from the context? A model with one block has none of them. Its gain from the context is the difference between its losses on new and on repeated segments, and that isn't zero: symbols that have occurred are likely to occur again. Besides, in this task copying is all there is to learn from the context; in a language it isn't.
#
# (claim-gpt-3)=

# %% tags=["evidence"]
claim(
    "gpt-3",
    "Can't tell here: only copying was tried. Without these heads {usual:.1f} nats become {without:.1f}, without the rest {rest:.1f}; one block, without any, gains {alone:.1f}.",
    usual=in_the_end("again"),
    without=in_the_end("without induction heads"),
    rest=in_the_end("without the rest"),
    alone=in_the_end("new", 1) - in_the_end("again", 1),
    holds=lambda usual, without, rest, alone: (
        usual < rest < 1.5 and 4 < without < 10 and 0 < alone < 2
    ),
    scale="random segments of 12 to 24 of 64 symbols; two blocks, four heads each; 2,000 steps; three seeds",
    experiment="induction",
)

# %% [markdown]
# (deeper-positions-loss)=
# ## Loss by position: what is more context worth?
#
# *3 minutes.* Each position of a text has more context than the one before it. Does that make its token easier to guess? A model's loss by position tells us. A small GPT learns Day 7's text, character by character, in pieces of up to 512 characters. The validation pieces overlap, so that all positions are tested on nearly the same text.

# %% tags=["evidence"] mystnb={"figure": {"caption": "After the first few characters, more context no longer helps a small GPT: its loss by position, mean and range of three seeds (stored experiment `loss_by_position`). Each point is a mean over the positions from its own up to the next point's.", "name": "fig-loss-by-position"}, "image": {"alt": "A curve over the number of characters read, on a logarithmic axis. It falls from 2.8 to 1.5 over the first six characters and is flat from there on."}}
where = experiments.load("loss_by_position")
places = [begin + 1 for begin in where.rows[0]["begins"]]
ax = curves(
    {"": (places, where.column("losses"))},
    "characters read",
    "loss (nats per character)",
    logx=True,
)
plt.show()

# %% tags=["evidence"]
at = {
    begin: [row["losses"][i] for row in where.rows]
    for i, begin in enumerate(where.rows[0]["begins"])
}
worth = {begin: sum(values) / len(values) for begin, values in at.items()}

# %% tags=["evidence"]
observe(
    "The next character costs {one:.2f} nats after one character, {eight:.2f} after 8 to 11, and {most:.2f} after 192 or more.",
    one=worth[0],
    eight=worth[8],
    most=worth[192],
    holds=worth[8] < worth[0] - 0.5 and abs(worth[192] - worth[8]) < 0.05,
)

# %% [markdown]
# Beyond eight characters, more context is worth next to nothing to this model. Perhaps it knows little more than which letters follow which. That isn't tested here, nor whether the text farther back would help.

# %% [markdown]
# (deeper-grokking)=
# ## Grokking: can a network generalise long after it has memorised everything?
#
# *5 minutes.* Is a model done once it gets every training example correct? Power et al. trained small Transformers on tables of sums and other operations modulo a prime {cite}`power2022grokking`. Long after all training examples were correct, the others became correct, too. They called this **grokking**. We repeat the experiment with $a + b$ modulo 53: half of the 2,809 sums for training, one block, AdamW with a weight decay of 1 and, for comparison, without.

# %% tags=["evidence"] mystnb={"figure": {"caption": "With weight decay (left), the other sums become correct long after those of the training set; without it (right), they don't. Share of correct sums by step; one line per seed (stored experiment `grokking`).", "name": "fig-grokking"}, "image": {"alt": "Two diagrams. In both, the training sums are all correct after about 200 steps. With weight decay the other sums stay at a half for some three thousand steps and rise to 1 by about step 5,000, with single deep dents in both. Without weight decay they stay at a half or below for all 8,000 steps."}}
sums = experiments.load("grokking")
figure, axes = plt.subplots(1, 2, figsize=(6.4, 3.4), sharey=True)
halves = zip(("learned", "others"), ("-", "--"), COLOURS, strict=False)
halves = [(name, {"linestyle": dash, "color": colour}) for name, dash, colour in halves]
for ax, decay, title in zip(axes, (1.0, 0.0), ("weight decay 1", "no weight decay"), strict=True):
    for seed, row in enumerate(sums.select(weight_decay=decay)):
        for name, how in halves:
            x = range(100, 100 * len(row[name]) + 1, 100)
            named = name if seed == 0 else None
            ax.plot(x, row[name], lw=1.2, marker="", label=named, **how)
    ax.set(title=title, xlabel="step", xlim=(0, sums.parameters["steps"]), ylim=(0, 1.05))
axes[0].set_ylabel("share correct")
axes[1].legend(loc="lower right")
plt.show()

# %% tags=["evidence"]
decayed, free = sums.select(weight_decay=1.0), sums.select(weight_decay=0.0)
by_heart = max(row["99 % of learned"] for row in decayed)
found = [row["99 % of others"] for row in decayed]
without = max(max(row["others"]) for row in free)

# %% [markdown]
# (claim-gpt-6)=

# %% tags=["evidence"]
claim(
    "gpt-6",
    "Yes: with decay, it has memorised after {heart:,} steps and generalises after {soonest:,} to {latest:,}. Without, at most {without:.0%} are correct by step {end:,}.",
    heart=by_heart,
    soonest=min(found),
    latest=max(found),
    without=without,
    end=sums.parameters["steps"],
    holds=lambda heart, soonest, latest, without, end: (
        5 * heart < soonest <= latest < end and without < 0.9
    ),
    scale="a + b modulo 53, half of the sums; one block 128 wide, 213,000 parameters; AdamW, batches of 512; three seeds",
    experiment="grokking",
)

# %% [markdown]
# Why do the other sums wait at one half? For each of them, $a + b$, the mirror image $b + a$ is among the training sums with probability one half. A model that has learned only that order doesn't matter gets half of them correct, but that isn't addition yet. The curves with decay have dents: now and then a step goes wrong, and within a few hundred steps the model recovers. Without decay there are no dents.
#
# These curves don't show what happens in between, or why. Weight decay keeps shrinking the weights, and perhaps a rule needs smaller weights than a table does, but this experiment doesn't test that explanation. It shows only that *every training example is correct* doesn't mean *nothing more is learned*. Nor does it follow that waiting always helps: here the model was given half of a complete table, and there is a rule to find.
