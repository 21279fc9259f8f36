# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Day 3, deeper: Gates: the LSTM and the GRU
#
# This page goes beyond the evening of [Day 3](../03_gates.ipynb). It measures in full what the lesson only mentions, answers four more claims, and has seven more exercises. The sections don't depend on each other, so begin with the
# question that interests you most. The imports come first.

# %% tags=["setup"]
import convolution_to_attention  # is `utils` this book's?

import math
import re
from statistics import fmean

import matplotlib.pyplot as plt
import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence

from utils import recurrent
from utils.data.batches import Batches
from utils.data.docstrings import docstring_text
from utils.data.text import pad
from utils.exercises.gates import check
from utils.measure import experiments
from utils.measure.claims import claim
from utils.recurrent import GRU, LSTM, RNN, Bidirectional, SequenceClassifier
from utils.show.display import observe, show_source, table

# %% tags=["setup"]
from utils.show.plotting import bars, curves, use_book_style
from utils.tasks.memory import cell_jacobians, fades, recall_after, recall_ids, right_symbols
from utils.tasks.memory import second_way, train_recall, trained_repeater
from utils.training.loop import evaluate, fit
from utils.training.metrics import accuracy, mean_and_spread
from utils.training.recipes import clip_gradients, tag_loss

use_book_style()

# %% [markdown]
# (gates-right)=
# ## Are the layers correct, with gradients and padding?
#
# *5 minutes.* The lesson compared outputs with the library's. Do the gradients agree, too? In double precision, we compare the gradients with respect to the input and to the recurrent weights.

# %% tags=["evidence"]
torch.manual_seed(0)
x = torch.randn(3, 7, 5, dtype=torch.float64, requires_grad=True)

# %% tags=["evidence"]
apart = 0.0
for kind in ("LSTM", "GRU"):
    theirs = getattr(nn, kind)(5, 4, batch_first=True).double()
    ours = getattr(recurrent, kind)(5, 4).double()
    ours.load_library(theirs)
    y, y_theirs = ours(x)[0], theirs(x)[0]
    mine = torch.autograd.grad(y.pow(2).sum(), (x, ours.W_h))
    its = torch.autograd.grad(y_theirs.pow(2).sum(), (x, theirs.weight_hh_l0))
    for one, other in ((y, y_theirs), *zip(mine, its)):
        torch.testing.assert_close(one, other, rtol=1e-10, atol=1e-10)
        apart = max(apart, (one - other).abs().max().item())
said = "Outputs and gradients differ from the library's by at most {apart:.0e}."
observe(said, apart=apart, holds=apart < 1e-10)

# %% [markdown]
# Autograd could go back through all steps of the LSTM. The book's layer does it by hand, which pays off on long sequences. At each step, `dc` collects the gradients from the next step and from $h_t$. Then each block gets its
# share. For example, `di_dc`, which is $g_t\, i_t (1 - i_t)$, turns the gradient of $c_t$ into that of the input of $i_t$'s sigmoid. `addcmul(a, b, c)` is $a + b \odot c$. Only the last line for `dc` is the direct path.

# %%
show_source(recurrent.LSTMThroughTime.backward)

# %% [markdown]
# ### Bidirectional layers and padding
#
# A bidirectional layer is two layers {cite}`schuster1997bidirectional`. The second reads the reversed sequence, and its outputs are reversed again, so that both halves of an output belong to the same step:
#
# $$
# \begin{aligned}
# & y_t = [\overrightarrow{h}_t ;\ \overleftarrow{h}_t], \\
# & \overrightarrow{h}_t \text{ has read } x_0 \dots x_t, \\
# & \overleftarrow{h}_t \text{ has read } x_{T-1} \dots x_t .
# \end{aligned}
# $$ (eq-bidirectional)

# %%
show_source(recurrent.Bidirectional)

# %% [markdown]
# In a padded batch, reversing needs care. Reverse the whole row, and the backward layer reads the padding first. So each sequence is reversed within its own length.

# %%
show_source(recurrent.reverse)

# %% [markdown]
# Three sequences of 7, 4 and 2 steps form one batch. Each must give the same outputs as it does alone. We fill the padding with large numbers, so that reading any of it would show. The library's way of doing the same is a **packed
# sequence**.

# %%
lengths = torch.tensor([7, 4, 2])
library = nn.LSTM(5, 4, batch_first=True, bidirectional=True).double()
both_ways = Bidirectional(LSTM(5, 4), LSTM(5, 4)).double()
both_ways.load_library(library)
real = torch.arange(7) < lengths[:, None]  # (B, T)
padded = torch.where(real[:, :, None], x.detach(), 1000.0)
outputs, (h_last, _) = both_ways(padded, lengths=lengths)

# %% tags=["evidence"]
for row, length in enumerate(lengths.tolist()):
    alone, (h_alone, _) = both_ways(padded[row : row + 1, :length])
    torch.testing.assert_close(outputs[row, :length], alone[0], rtol=1e-10, atol=1e-10)
    torch.testing.assert_close(h_last[row], h_alone[0], rtol=1e-10, atol=1e-10)
packed = pack_padded_sequence(padded, lengths, batch_first=True)
h_packed = library(packed)[1][0]  # (2, B, N), a row for each direction
torch.testing.assert_close(h_last, torch.cat(list(h_packed), dim=1), rtol=1e-10, atol=1e-10)
naive, _ = both_ways(padded)
assert not torch.allclose(naive[2, 0], outputs[2, 0])
print("in a batch, alone, and packed: the same")

# %% [markdown]
# Two mistakes are common here, and neither raises an error. One is to reverse the whole row, padding and all. The other is to take `outputs[:, -1]` as the final state of both directions: at the last step the backward layer has read
# only one symbol, and only at step 0 has it read everything. Which backward outputs depend on the first input?

# %% tags=["evidence"]
first_changed = torch.cat([x[:, :1] + 1, x[:, 1:]], dim=1)  # another first input
moves = (both_ways(first_changed)[0] - both_ways(x)[0])[:, :, 4:].abs().amax((0, 2))  # (T,)
heard = (moves > 0).nonzero().flatten().tolist()
assert heard == [0]
print("backward outputs that depend on the first input:", heard)

# %% [markdown]
# How much does padding cost? Each padded step is computed and thrown away. We put the lines of the docstrings into batches of 64, once in random order, and once with lines of similar length together.


# %% tags=["evidence"]
def share_of_padding(lengths: torch.Tensor) -> float:
    """Share of the computed steps that are padding, in batches of 64 in this order."""
    batches = lengths.split(64)
    computed = sum(len(batch) * batch.max().item() for batch in batches)
    return 1 - lengths.sum().item() / computed


lines = [line for line in docstring_text("train").splitlines() if line]
line_lengths = pad([list(line.encode()) for line in lines])[1]
order = torch.randperm(len(lines), generator=torch.Generator().manual_seed(0))
mixed_up, in_order = share_of_padding(line_lengths[order]), share_of_padding(line_lengths.sort()[0])
observe(
    "In random order, {mixed_up:.0%} of all steps are padding; sorted by length, {in_order:.1%} are.",
    mixed_up=mixed_up,
    in_order=in_order,
    holds=mixed_up > 0.25 and in_order < 0.03,
)

# %% [markdown]
# In training, though, the short lines shouldn't all come first. So the book's `BucketedBatches` sort within pools and shuffle the batches. A packed sequence saves the padded steps in another way: at each step, only the rows that
# haven't ended yet are computed.

# %% [markdown]
# (gates-resets)=
# ## Does it matter where a GRU's reset gate acts?
#
# *4 minutes.* Before the product with the weights, or after it? In the lesson's GRU, the reset gate acts *after* the product with $W_{hn}$, so that one product serves all three blocks. In the 2014 paper it acts *before*:
#
# $$
# \begin{aligned}
# n_t = \tanh( & W_{xn}\, x_t + b_n \\
# & + W_{hn} (r_t \odot h_{t-1})) .
# \end{aligned}
# $$ (eq-gru-before)
#
# With one unit you can't tell the two apart, since $w (r h)$ and $r (w h)$ are the same. So take two units, and a $W_{hn}$ that swaps them. The reset gate is open for the first and shut for the second.

# %%
old = torch.tensor([0.8, -0.4])
exchange = torch.tensor([[0.0, 1.0], [1.0, 0.0]])
r, z = torch.tensor([1.0, 0.0]), torch.tensor([0.5, 0.5])
for name, recalled in (("before", exchange @ (r * old)), ("after", r * (exchange @ old))):
    new = z * old + (1 - z) * torch.tanh(recalled)
    print(f"reset {name} the product:", [round(value, 3) for value in new.tolist()])

# %% [markdown]
# Before the product, $r$ chooses which *old* numbers can be seen: the first, which the product then passes to the second unit. After the product, $r$ chooses which *units* get to see an old number at all: only the first, which sees the second's. With the
# same weights, the two layers give different outputs.


# %% tags=["evidence"]
def resets_differ_by(hidden_size: int) -> float:
    """Largest difference between the outputs of the two conventions, with the same weights."""
    torch.manual_seed(0)
    after = GRU(5, hidden_size, reset="after").double()
    before = GRU(5, hidden_size, reset="before").double()
    before.load_state_dict(after.state_dict(), strict=False)  # b_n, which is 0, doesn't exist there
    return (after(x)[0] - before(x)[0]).abs().max().item()


one_unit, four_units = resets_differ_by(1), resets_differ_by(4)
observe(
    "With one unit, the outputs of the two conventions differ by at most {one:.0e}; with four units, by up to {four:.2f}.",
    one=one_unit,
    four=four_units,
    holds=one_unit < 1e-12 and four_units > 0.01,
)

# %% [markdown]
# So no test on a single unit can tell which of the two a GRU uses. The book's layer offers both.

# %%
show_source(recurrent.GRU)

# %% [markdown]
# (gates-highways)=
# ## Is an LSTM's cell state a residual connection?
#
# *6 minutes.* Day 1's residual connections led around the layers. Is the cell state the same thing, in time instead of depth? We measure how much of the gradient is left in untrained layers whose gates start at different biases.
# For comparison, we take depth instead of time: a stack of 100 layers $\tanh(W x + b)$, either plain, or with a residual connection around each layer, or with one that lets only a share $\sigma(1)$ through.


# %% tags=["evidence"]
def gradient_by_depth(road: float, orthogonal: bool, seed: int) -> torch.Tensor:
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


# %% tags=["evidence"]
def begun(layer: recurrent.Recurrent, bias: float = 0.0, orthogonal: bool = False):
    """The layer with a bias on its second gate (forget or update), or a rotation as W_h."""
    with torch.no_grad():
        layer.b[64:128] += bias
        if orthogonal:
            nn.init.orthogonal_(layer.W_h)
    return layer


# %% tags=["evidence"]
keeping = math.log(100)
in_time = {
    "RNN": fades(lambda: RNN(16, 64)),
    "RNN, orthogonal": fades(lambda: begun(RNN(16, 64), orthogonal=True)),
    "LSTM, bias 0": fades(lambda: LSTM(16, 64, forget_bias=0)),
    "LSTM, bias 1": fades(lambda: LSTM(16, 64, forget_bias=1)),
    "LSTM, bias log 100": fades(lambda: LSTM(16, 64, forget_bias=keeping)),
    "GRU, bias log 100": fades(lambda: begun(GRU(16, 64), keeping)),
}

# %% tags=["evidence"]
usual = 1 / (1 + math.exp(-1))
roads = {"plain": (0.0, False), f"share of {usual:.2f}": (usual, False), "residual": (1.0, False)}
roads["plain, orthogonal"] = 0.0, True
in_depth = {
    name: torch.stack([gradient_by_depth(*how, seed) for seed in range(4)])
    for name, how in roads.items()
}

# %% tags=["evidence"] mystnb={"figure": {"caption": "Where there is an open path, the gradient arrives, in time (left, untrained recurrent layers) as in depth (right, untrained stacks): gradient from the last state, by distance. Geometric mean of four draws, in double precision.", "name": "fig-highways"}, "image": {"alt": "Two panels with logarithmic axes. Left: the lines of the RNN and of the LSTM with bias 0 fall together to ten to the minus twenty and below within 100 steps; with bias 1, and for the RNN with an orthogonal matrix, the line falls to about ten to the minus seven; with bias log 100 the GRU falls to about 0.4 and the LSTM grows to about 50. Right: the line of the plain stack falls to below ten to the minus twenty, with a share of 0.73 it falls a little, with orthogonal matrices in the plain stack to a few thousandths, and with residual connections it grows somewhat."}}
figure, axes = plt.subplots(1, 2, figsize=(9.6, 4.2), sharey=True)
for ax, lines, xlabel in (
    (axes[0], in_time, "distance (steps)"),
    (axes[1], in_depth, "distance (layers)"),
):
    means = {name: (range(100), norms.log().mean(0).exp()) for name, norms in lines.items()}
    curves(means, xlabel, "", logy=True, ax=ax)
axes[0].set_ylabel("gradient, relative to distance 0")
plt.show()

# %% tags=["evidence"]
far = {n: norms[:, 99].log().mean().exp().item() for n, norms in (in_time | in_depth).items()}
table([[name, f"{left:.0e}"] for name, left in far.items()], ["after 99 steps or layers", "left"])

# %% [markdown]
# Where the path is open, the gradient arrives, in time as in depth. In an LSTM whose gates begin half open, it fades nearly as fast as in the RNN. So *having* a forget gate doesn't help unless the gate *is open*. The residual
# connection isn't neutral either: over 99 layers the gradient grows.
#
# (claim-lstm-5)=

# %% tags=["evidence"]
claim(
    "lstm-5",
    "Yes, if the gate is open: then 99 steps multiply the gradient by {open:.0f}, and 99 residual layers by {residual:.1f}. Half-open gates leave {half:.0e}.",
    open=far["LSTM, bias log 100"],
    residual=far["residual"],
    half=far["LSTM, bias 0"],
    holds=lambda open, residual, half: open > 1 and residual > 1 and half < 1e-12,
    scale="untrained layers of 64 units, four draws",
)

# %% [markdown]
# Not all of the curves follow {eq}`eq-chrono`. The GRU's does. The LSTM with the same bias ends with more than it began with, because of the second path, through the gates. Nor is an open path the only way to keep a gradient before
# training: orthogonal matrices lose far less of it than the usual ones. But training moves them, and the tanh still rewrites the state.
#
# The library has no setting for the forget gate's bias. Its two biases are drawn around 0, so its gates begin half open, and you have to open them yourself. The blocks are in the order i, f, g, o:

# %%
library_lstm = nn.LSTM(16, 64)
with torch.no_grad():
    library_lstm.bias_ih_l0[64:128] += 1  # one of the two is enough: they add up
start = (library_lstm.bias_ih_l0 + library_lstm.bias_hh_l0)[64:128].mean().sigmoid().item()
assert 0.7 < start < 0.76

# %% [markdown]
# Deep networks have taught the same lesson. Highway networks put the LSTM's gates on the paths around their layers {cite}`srivastava2015highway`, residual networks removed the gates, and scaling such a path down makes a deep
# network worse {cite}`he2016identity`. The authors of the first LSTM cut off the second path in training, so that the gradient could neither vanish nor explode on it. Only since 2005 has the full gradient been used
# {cite}`graves2005framewise`.

# %% [markdown]
# (gates-latch)=
# ## Does the cell state carry the memory?
#
# *5 minutes.* Does a trained LSTM keep a symbol by carrying it along in its cell state, with forget gates near 1? We train three LSTMs to recall the first of 20 symbols, and then let them read 1,000, far more than they have ever
# seen. We record the forget gates: how much would they leave over that distance, in the best of 53 units?

# %% tags=["evidence", "training"]
holders = []
for seed in (0, 1, 2):
    torch.manual_seed(seed)
    layer = LSTM(8, 53, forget_bias=math.log(20))
    holders.append(SequenceClassifier(4, 8, layer, 4))
    train_recall(holders[-1], 20, seed=seed)
right, left = zip(*(recall_after(model, 1000, ramp=1000) for model in holders))

# %% tags=["evidence"]
observe(
    "Trained on 20 steps, the three still name {right:.0%} of the first symbols after 1,000, on average. Even in the best unit of the best network, the forget gates would have left only {left:.1%}.",
    right=fmean(right),
    left=max(left),
    holds=fmean(right) > 0.6 and max(left) < 0.2,
)

# %% [markdown]
# Is so little enough, or does the network *write the symbol again* as it goes? We shut the input gates after the first 20 symbols, so that nothing more can be written.

# %% tags=["evidence"]
shut = {n: [recall_after(model, n, ramp=20)[0] for model in holders] for n in (100, 1000)}
observe(
    "With the input gates shut after 20 symbols, the three still name {near:.0%} correctly after 100 symbols, on average, and {far:.0%} after 1,000.",
    near=fmean(shut[100]),
    far=fmean(shut[1000]),
    holds=fmean(shut[100]) > fmean(shut[1000]) + 0.3,
)

# %% [markdown]
# For 1,000 steps, carrying the symbol along isn't enough: whatever leaks out must be replaced. $h$ tells the candidate and the input gate what to put back into the cell. Engineers call this a **latch**. A plain RNN can hold a bit
# that way, too {cite}`bengio1994learning`. So a network needs open gates in order to *learn from long sequences alone*, but not in order to keep something.
#
# In these trained networks, too, not all of the gradient takes the direct path:

# %% tags=["evidence"]
first = recall_ids(1, 20, seed=1)[0]  # one sequence
jacobian, product = cell_jacobians(
    holders[0].layer.double(), holders[0].embedding(first)[0].detach().double(), direct_only=True
)
torch.testing.assert_close(jacobian, product.diag(), rtol=1e-10, atol=1e-12)
beside = [second_way(model.layer, model.embedding(first)[0]) for model in holders]
observe(
    "With h held fixed, the gradient is the product of the forget gates. Over 20 steps, the gradient on the second path is {low:.2f} to {high:.2f} times as large.",
    low=min(beside),
    high=max(beside),
    holds=min(beside) > 0.02,
)

# %% [markdown]
# (gates-mixed)=
# ## Can a plain RNN learn long memory after all?
#
# *4 minutes.* From long sequences alone, only layers whose gates begin open learn reliably. What if short sequences are mixed in? In a second stored experiment, each batch has a length of its own, from 2 up to the full one, with
# short ones as frequent as long ones.

# %% tags=["evidence"]
mixed = experiments.load("recall_mixed")
layers, lengths = mixed.parameters["layer"], mixed.parameters["length"]
rows = []
for n in lengths:
    steps = [max(row["steps"] for row in mixed.select(layer=name, length=n)) for name in layers]
    rows.append([f"{n} symbols", *steps])
table(rows, ["steps, at most", *layers])

# %% tags=["evidence"]
most, worst = max(row["steps"] for row in mixed.rows), min(row["test"] for row in mixed.rows)
observe(
    "All three kinds learn all lengths, with all seeds, in at most {most} steps. Even the worst network names {worst:.1%} of the first symbols correctly.",
    most=most,
    worst=worst,
    holds=most <= 250 and worst > 0.99,
)

# %% [markdown]
# So the RNN *can* hold a symbol for 400 steps. But it can't find out how from long sequences alone: storing is easy, *learning to store* is hard {cite}`bengio1994learning`. Anyone who claims that RNNs forget after 10 steps, or that
# LSTMs remember for 1,000, should add how they were trained.
#
# Recall is an extreme task. Day 2's was closer to real life: which of twelve languages is a word from? A stored experiment trained all three kinds with the same recipe.

# %% tags=["evidence"]
words = experiments.load("words")
rows = []
for kind in words.parameters["layer"]:
    runs = words.select(layer=kind)
    share = mean_and_spread(row["test"] for row in runs)
    rows.append([kind, f"{runs[0]['parameters']:,}", f"{share:.1%}"])
table(rows, ["layer", "parameters", "test accuracy"])

# %% [markdown]
# The RNN is not far behind: words are short, and there is little to keep for long. All three had the same learning rate, so a few points may be due to the recipe.

# %% [markdown]
# ## How much do gates cost, in weights and time?
#
# *5 minutes.* Where the RNN has one block of weights, an LSTM has four and a GRU three. How many weights is that, and how much time does it take?

# %% tags=["evidence"]
sizes = ((8, 16), (64, 128), (300, 512))
counts = {
    kind: [sum(p.numel() for p in getattr(nn, kind)(*size).parameters()) for size in sizes]
    for kind in ("RNN", "GRU", "LSTM")
}
table(
    [[f"nn.{name}", *(f"{n:,}" for n in row)] for name, row in counts.items()],
    ["layer", *(f"D = {D}, N = {N}" for D, N in sizes)],
)

# %% [markdown]
# The library keeps two biases per block. Usually only their sum matters, and the book's layers keep one. But in the GRU's candidate one of them is multiplied by the reset gate, so the two can't be merged.
#
# (claim-lstm-2)=

# %% tags=["evidence"]
of_rnn = [lstm / rnn for lstm, rnn in zip(counts["LSTM"], counts["RNN"])]
of_lstm = [gru / lstm for gru, lstm in zip(counts["GRU"], counts["LSTM"])]
assert len(set(of_rnn)) == len(set(of_lstm)) == 1
claim(
    "lstm-2",
    "Yes, at equal width: {four:.0f} times the RNN's weights, and the GRU has {three:.0%} of the LSTM's.",
    four=of_rnn[0],
    three=of_lstm[0],
    holds=lambda four, three: four == 4 and three == 0.75,
    counted=True,
    scale="the library's layers alone, at three sizes",
)

# %% [markdown]
# A stored experiment timed a forward and a backward pass of the library's layers, 64 units wide, over the same 12,800 symbols on one core, cut into many short sequences or a few long ones. The longer the sequences, the more steps
# have to wait for each other, and the smaller each step is.

# %% tags=["evidence"]
cost = experiments.load("recurrent_time")
spans = cost.parameters["length"]
took = {
    name: [cost.select(layer=name, length=T)[0]["milliseconds"] for T in spans]
    for name in cost.parameters["layer"]
}

# %% tags=["evidence"] mystnb={"figure": {"caption": "Computed *alike*, without the LSTM's special kernel, the GRU is faster than the LSTM; in the library it isn't. Time of a forward and a backward pass over 12,800 symbols, by the length of the sequences into which they are cut. Stored, on one core.", "name": "fig-step-cost"}, "image": {"alt": "Five curves over the length, from 10 to 800, on logarithmic axes. The RNN is the lowest up to 400 symbols, rising from 11 milliseconds to about 30. The LSTM is flat at about 28. The GRU begins next to it and rises to over 90. Alike, the GRU does the same, and the LSTM lies above it everywhere, from 37 to about 105."}}
lines = {name: (spans, milliseconds) for name, milliseconds in took.items()}
curves(lines, "length (symbols)", "milliseconds", logx=True, logy=True)
plt.show()

# %% [markdown]
# By arithmetic alone, a GRU should take three quarters of an LSTM's time. The library's GRU takes as long as its LSTM or longer, because the LSTM has a special kernel on the processor that we used. So the figure also shows both computed
# *alike*, with that kernel switched off. The longer the sequences, the more something else matters: how many separate operations have to be started.

# %% tags=["evidence"]
rates = experiments.load("learning_rates")


def perplexities(layer: str) -> list[float]:
    """Mean, lowest and highest on the test text, at the rate that is best on the validation text."""
    grid = rates.parameters["learning_rate"]
    best = rates.lowest("learning_rate", "validation", layer=layer)
    assert grid[0] < best < grid[-1]
    return [math.exp(nats) for nats in rates.spread("test", layer=layer, learning_rate=best)]


# %% tags=["evidence"]
def share_of_time(suffix: str) -> float:
    """The GRU's time as a share of the LSTM's, averaged over the lengths."""
    return fmean(a / b for a, b in zip(took[f"GRU{suffix}"], took[f"LSTM{suffix}"]))


observe(
    "Averaged over the lengths, the library's GRU takes {library:.0%} of its LSTM's time, and {alike:.0%} if both are computed alike.",
    library=share_of_time(""),
    alike=share_of_time(", alike"),
    holds=share_of_time(", alike") < 0.95 < 1.05 < share_of_time(""),
)

# %% [markdown]
# (claim-lstm-3)=

# %% tags=["evidence"]
(gru, *grus), (lstm, *lstms) = perplexities("GRU"), perplexities("LSTM")
assert min(grus) > max(lstms) and grus[1] - grus[0] > gru - lstm > 0
claim(
    "lstm-3",
    "Can't tell here: it takes {alike:.0%} of the LSTM's time computed alike, {library:.0%} in the library; perplexities are {low:.1f} to {high:.1f} (LSTM: {least:.1f} to {most:.1f}).",
    alike=share_of_time(", alike"),
    library=share_of_time(""),
    **{"low": grus[0], "high": grus[1], "least": lstms[0], "most": lstms[1]},
    holds=lambda alike, library, low, high, least, most: (
        alike < 0.95 < 1.05 < library and high - low > (low + high) / 2 - (least + most) / 2 > 0
    ),
    experiment="recurrent_time",
    scale="time: 64 units each, sequences of 10 to 800, one core; text: equal parameters, three passes, three seeds, the best of five learning rates",
)

# %% [markdown]
# The text is that of the lesson's experiment. All three GRUs did worse than all three LSTMs, but the GRUs differ more from each other than their mean differs from the LSTMs'. A finer choice of learning rates might also bring the two closer. In a study on raw speech, LSTM and GRU were about equal, and both were
# better than the plain network {cite}`chung2014empirical`.

# %% [markdown]
# ## Do bidirectional networks help? Reading the future
#
# *6 minutes.* Chinese is written without spaces, and so was Latin. We remove the spaces from the docstrings and ask at each letter: does a word end here? After `the` it does if `module` follows, but not if `mselves` does. Anyone
# reading from left to right has to decide before seeing the rest. How much does seeing it help?


# %% tags=["evidence"]
def unspaced(part: str, length: int = 32) -> tuple[torch.Tensor, torch.Tensor]:
    """Letters of the docstrings without spaces, 0 to 25, and 1 where a word ends; both (n, T)."""
    words = re.findall("[a-z]+", docstring_text(part).lower())
    letters = torch.tensor([ord(letter) - ord("a") for letter in "".join(words)])
    ends = torch.zeros_like(letters)
    ends[torch.tensor([len(word) for word in words]).cumsum(0) - 1] = 1
    n = len(letters) // length
    return letters[: n * length].view(n, length), ends[: n * length].view(n, length)


letters, ends = unspaced("test")
never = 1 - ends.double().mean().item()
observe(
    "A reader that always answers “no end” is correct for {never:.1%} of the test letters.",
    never=never,
    holds=3 / 4 < never < 5 / 6,
)


# %%
class Segmenter(nn.Module):
    """Predicts for each letter whether a word ends there. Letters (B, T) to logits (B, T, 2)."""

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


# %% tags=["evidence"]
def share_wrong(direction: str, hidden_size: int, seed: int) -> float:
    """Share of wrong answers of a trained segmenter on unseen text."""
    torch.manual_seed(seed)
    model = Segmenter(direction, hidden_size)
    batches = Batches(*unspaced("train"), batch_size=64, shuffle=True)
    optimiser = torch.optim.Adam(model.parameters(), lr=1e-2)
    clip_gradients(optimiser, 1.0)
    fit(model, batches, tag_loss, optimiser, epochs=1, seed=seed)
    return 1 - evaluate(model, [(letters, ends)], tag_loss, {"accuracy": accuracy})["accuracy"]


# %% tags=["evidence", "training"]
directions = {"forward": 48, "backward": 48, "both": 32}  # hidden units, for equal parameters
sizes = [sum(p.numel() for p in Segmenter(*how).parameters()) for how in directions.items()]
assert max(sizes) < 1.05 * min(sizes)
wrong = {d: [share_wrong(d, N, seed) for seed in (0, 1, 2)] for d, N in directions.items()}

# %% tags=["evidence"] mystnb={"figure": {"caption": "A reader of both directions errs least: share of letters with a wrong prediction, mean and range of three seeds, at nearly equal numbers of parameters.", "name": "fig-directions"}, "image": {"alt": "Three bars. The forward reader is wrong most often, the backward reader clearly less, the one that reads both ways least."}}
bars({d: [100 * share for share in three] for d, three in wrong.items()}, "wrong answers (%)")
plt.show()

# %% tags=["evidence"]
past, future, both = (fmean(wrong[direction]) for direction in directions)
observe(
    "On average, readers of the past alone err on {past:.1%} of the letters, readers of the future alone on {future:.1%}, and readers of both on {both:.1%}.",
    past=past,
    future=future,
    both=both,
    holds=both + 0.005 < future < past - 0.01,
)

# %% [markdown]
# Here the future is worth more than the past: the best sign that a word has ended is the beginning of the next one. But the past still helps.
#
# (claim-lstm-7)=

# %% tags=["evidence"]
claim(
    "lstm-7",
    "Yes: in finding word ends, readers of both directions err on {both:.1%} of the letters on average, readers of the past alone on {forward:.1%}.",
    both=both,
    forward=past,
    holds=lambda both, forward: both < 0.8 * forward,
    scale="about 13,000 parameters, one pass over the docstrings, means of three seeds",
)

# %% [markdown]
# All of this holds only if the future is available. A model that predicts the next letter, or listens to a person who is still speaking, can't use it.

# %% [markdown]
# (gates-quotes)=
# ## Does an LSTM unit know that it is inside quotation marks?
#
# *4 minutes.* In a language model, you can find units that mean something. A famous one knows whether the text is inside quotation marks {cite}`karpathy2015visualizing`. Is there one in ours? If you search long enough, you will
# find something, so a stored experiment fixed the rules in advance. It trained an LSTM of 120 units on the docstrings, three times. On validation text, it picked the unit whose cell correlates most with "inside quotation marks",
# and judged it on test text. Then it cut that unit out: its $h$ and $c$ stay at 0.

# %% tags=["evidence"]
quotes = experiments.load("quotes")


def judged(row: dict) -> list[str]:
    """Correlations of the picked unit; losses at closing marks: whole, without it, without another."""
    correlations = [row[f"correlation, {part}"] for part in ("validation", "test")]
    losses = [row["loss"], row["loss, unit cut"], max(row["loss, another cut"])]
    return [f"{abs(r):.2f}" for r in correlations] + [f"{loss:.2f}" for loss in losses]


table(
    [["trained" if row["epochs"] else "untrained", *judged(row)] for row in quotes.rows],
    ["LSTM", "validation", "test", "loss (nats)", "unit cut", "worst other unit cut"],
)

# %% [markdown]
# *Validation* and *test* are correlations of the picked unit; the last three columns are losses at the test text's closing marks. Look at the untrained networks first. With 120 units to choose from, some unit always correlates a little, and part of that
# correlation is gone on other text. After training the correlations are hardly higher. And a correlation doesn't show that the network *uses* the unit. Cutting the unit out can.

# %% tags=["evidence"]
trained = quotes.select(epochs=6)
gains = [row["loss"] - row["loss, unit cut"] for row in trained]
harms = [max(row["loss, another cut"]) / row["loss"] - 1 for row in trained]
observe(
    "Without the picked unit, the loss at {marks} closing marks is {least:.2f} to {most:.2f} nats lower, not higher. But in each network there is another unit whose removal raises it by at least {harm:.0%}.",
    marks=trained[0]["closing marks"],
    least=min(gains),
    most=max(gains),
    harm=min(harms),
    holds=min(gains) > 0 and min(harms) > 0.05,
)

# %% [markdown]
# So the rule found no unit that keeps track of quotations here. Our networks have hardly learned to expect a closing mark. Larger ones, trained on more text, may well have such a unit. The rule spared us the opposite mistake:
# finding a unit that moves at some marks, and believing in it.

# %% [markdown]
# (gates-sentence)=
# ## Is the state vector too small for the sentence?
#
# *4 minutes.* In the lesson, even 64 units rarely repeat twelve symbols. Is there no room for them? We train one network twice as long.

# %% tags=["evidence", "training"]
usual, longer = trained_repeater(64), trained_repeater(64, steps=600)

# %% tags=["evidence"] mystnb={"figure": {"caption": "Longer training helps: share of correct symbols in sentences of twelve, by position, for 64 units after 300 and after 600 training steps. One seed each.", "name": "fig-places"}, "image": {"alt": "Two curves over the positions 1 to 12. The one after 300 steps falls from the first position to a low near the tenth, and rises a little at the end; the one after 600 steps lies above it."}}
by_place = {
    f"{told} steps": (range(1, 13), right_symbols(model, 12).double().mean(0))
    for told, model in (("300", usual), ("600", longer))
}
curves(by_place, "position in the sentence", "share correct")
plt.show()

# %% tags=["evidence"]
exact = {
    (told, n): right_symbols(model, n).all(1).double().mean().item()
    for told, model in (("usual", usual), ("longer", longer))
    for n in (8, 12)
}
observe(
    "Trained twice as long, it repeats {long_8:.0%} of the sentences of eight symbols instead of {short_8:.0%}, and {long_12:.0%} of those of twelve instead of {short_12:.0%}.",
    long_8=exact["longer", 8],
    short_8=exact["usual", 8],
    long_12=exact["longer", 12],
    short_12=exact["usual", 12],
    holds=exact["longer", 8] > exact["usual", 8] + 0.15 and exact["longer", 12] < 0.4,
)

# %% [markdown]
# There is room: {numref}`exercise-bits-in-a-state` counts it. Learning to *use* it is what takes so long. Each symbol has to be written into the state so that no later one disturbs it, and has to be found there again when its turn
# comes.
# (This is one seed and one learning rate: the order of the two curves is safe, their exact heights aren't.)

# %% [markdown]
# ## Exercises
#
# *115 minutes.* Which of these seven would you like to write? They don't depend on each other either.
#
# ```{exercise} Width at equal parameters
# :label: exercise-fair-width
#
# *Warm-up, 10 minutes.* Layers should be compared at equal numbers of parameters. A layer has `n_blocks`
# blocks: 1 in an RNN, 3 in a GRU, 4 in an LSTM. A block has $W_x$ (N, D), $W_h$ (N, N) and one bias (N).
# What is the largest N for which the layer stays within a parameter budget?
# ([Solution](../solutions/03_gates.ipynb#solution-fair-width))
# ```


# %%
def hidden_size_for(budget: int, n_blocks: int, input_size: int) -> int:
    """Largest N whose parameters do not exceed the budget."""
    raise NotImplementedError


check("fair_width", hidden_size_for)

# %% [markdown]
# ```{exercise} A GRU that reads a context
# :label: exercise-bahdanau-gru
#
# *Core, 15 minutes.* Tomorrow's decoder {cite}`bahdanau2015neural` has a GRU whose update gate lets the new value *in*. It also reads from the
# source, which is left out here:
#
# $$
# \begin{aligned}
# r &= \sigma(W_{xr} x + W_{hr} h), \\
# z &= \sigma(W_{xz} x + W_{hz} h), \\
# n &= \tanh(W_{xn} x + W_{hn} (r \odot h)), \\
# h' &= (1 - z) \odot h + z \odot n .
# \end{aligned}
# $$
#
# Write its step. The blocks are stacked in the order r, z, n, and there are no biases.
# ([Solution](../solutions/03_gates.ipynb#solution-bahdanau-gru))
# ```


# %%
def gru_step(x, h, W_x, W_h) -> torch.Tensor:
    """Shapes: x (B, D), h (B, N), W_x (3N, D), W_h (3N, N); returns the new h (B, N)."""
    raise NotImplementedError


check("bahdanau_gru", gru_step)

# %% [markdown]
# ```{exercise} GRU weights in the other convention
# :label: exercise-convert-update-gate
#
# *Core, 10 minutes.* You have trained a GRU whose update gate is the share of the *old* state that stays. You want
# to use it in a program whose update gate is the share of the *new* candidate. Everything else is the same.
# Which weights does the program need in order to compute the same states? The blocks are stacked in the
# order r, z, n. ([Solution](../solutions/03_gates.ipynb#solution-convert-update-gate))
# ```


# %%
def other_convention(W_x, W_h, b) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Shapes: W_x (3N, D), W_h (3N, N), b (3N,); returns the three of the other convention."""
    raise NotImplementedError


check("convert_update_gate", other_convention)

# %% [markdown]
# ```{exercise} Bidirectional layers: the last states
# :label: exercise-bidirectional-final-states
#
# *Core, 10 minutes.* The library's bidirectional layers return their outputs with **time first**, unless told
# otherwise: (T, B, 2N), with the forward direction in the first N numbers. The sequences were packed before and
# padded afterwards, so each direction has read only real steps; the outputs at the padding mean nothing. Given
# the outputs and the lengths, return the final states of both directions, forward first. Loops are fine.
# ([Solution](../solutions/03_gates.ipynb#solution-bidirectional-final-states))
# ```


# %%
def final_states(outputs: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
    """Shapes: outputs (T, B, 2N), lengths (B,); returns (B, 2N), the forward direction first."""
    raise NotImplementedError


check("bidirectional_final_states", final_states)

# %% [markdown]
# ```{exercise} Peephole connections
# :label: exercise-peepholes
#
# *Stretch, 15 minutes.* An LSTM's gates see $h$, but not the cell that they guard. **Peephole connections**
# {cite:t}`gers2000recurrent` change that: before the sigmoid, the input gate and the forget gate add
# $p_i \odot c_{t-1}$ and $p_f \odot c_{t-1}$, and the output gate, which comes last, adds $p_o \odot c_t$. Write
# the step. The sum of all other terms has been computed for you: `a`, in the order i, f, g, o.
# ([Solution](../solutions/03_gates.ipynb#solution-peepholes))
# ```


# %%
def peephole_step(a, c, p_i, p_f, p_o) -> tuple[torch.Tensor, torch.Tensor]:
    """Shapes: a (B, 4N), c (B, N), p_i, p_f and p_o (N,); returns the new h and the new c."""
    raise NotImplementedError


check("peepholes", peephole_step)

# %% [markdown]
# ```{exercise} Choose a model within one standard error
# :label: exercise-one-standard-error
#
# *Stretch, 15 minutes.* You have the validation scores of several models, each with several seeds, and the cost of
# each model. The best mean may be luck. A cautious rule {cite}`breiman1984classification` takes the cheapest
# model whose mean is at most *one standard error of the best model* below the best mean. The standard error is
# the sample standard deviation divided by $\sqrt{n}$. Write the rule.
# ([Solution](../solutions/03_gates.ipynb#solution-one-standard-error))
# ```


# %%
def choose(scores: torch.Tensor, costs: torch.Tensor) -> int:
    """Shapes: scores (models, seeds), larger is better; costs (models,).

    Returns: the index of the chosen model.
    """
    raise NotImplementedError


check("one_standard_error", choose)

# %% [markdown]
# ```{exercise} Chrono initialisation
# :label: exercise-chrono-initialisation
#
# *Research, 40 minutes.* One bias for all units gives all of them the same memory. *Chrono initialisation*
# {cite:t}`tallec2018can` draws a time for each unit, uniformly from 1 to `longest - 1` steps. The forget gate's bias
# is the logarithm of this time, and the input gate's bias is its negative. Write it for given numbers `u`, drawn
# uniformly from 0 to 1. Then measure: build an untrained LSTM of 32 units and let it read 100 random inputs. In how
# many units is at least a tenth of the gradient of $c_{100}$ with respect to $c_0$ left, with a forget bias of 0,
# of 1, and with your biases for 100 steps? Then train all three to recall the first of 30 symbols, in at most 250
# steps. Which ones learn it?
# ([Solution](../solutions/03_gates.ipynb#solution-chrono-initialisation))
# ```


# %%
def chrono_biases(u: torch.Tensor, longest: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Shapes: u (N,), from 0 to 1; returns the biases (N,) of the input and the forget gate."""
    raise NotImplementedError


check("chrono_initialisation", chrono_biases)
