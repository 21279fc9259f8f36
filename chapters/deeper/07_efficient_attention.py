# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Day 7, deeper: Efficient attention
#
# This page goes beyond the evening of [Day 7](../07_efficient_attention.ipynb): six more forms of attention, what each of them costs and gives up, eleven more claims, and eleven more exercises. The sections are independent, so start with the question that you would have asked.

# %% tags=["setup"]
import convolution_to_attention  # is `utils` this book's?

import math
from functools import cache, partial
from itertools import product

import matplotlib.pyplot as plt
import torch
from torch import nn
from torch.nn import functional as F

from utils import efficient
from utils.data.batches import Batches
from utils.data.sequences import IGNORE_INDEX, associative_recall
from utils.efficient import blocks, kernelised
from utils.exercises.efficient_attention import check
from utils.measure import experiments
from utils.measure.claims import claim
from utils.measure.costs import exponent, peak_bytes, work
from utils.recurrent import RNN
from utils.self_attention import MultiHeadAttention, causal_mask
from utils.show.display import observe, show_source, table
from utils.show.mechanisms import efficient_attention as mechanisms
from utils.show.plotting import INK, bars, curves, use_book_style
from utils.show.views import patterns

# %% tags=["setup"]
from utils.tasks.long_texts import heads
from utils.training.recipes import tag_loss, train_once
from utils.transformer import DecoderOnly, Tagger, TransformerConfig

use_book_style()


@torch.no_grad()
def cost(form, T: int) -> tuple[int, int]:
    """Operations of a form on one head of T positions, and the most bytes it held at once."""
    q, k, v = heads(T)
    return work(lambda: form(q, k, v)).total, peak_bytes(lambda: form(q, k, v))


# %% [markdown]
# (deeper-exact)=
# ## Are all forms exact? Contexts, gradients, padding and caches
#
# *6 minutes.* The lesson compared contexts. Do the gradients agree as well, with padding, and for every pattern? We begin with a loop that follows the definition of a window. All lengths and widths differ, and the text's 23 positions
# are not a whole number of windows.

# %%
q, k, v = heads(23, d=5, dtype=torch.float64)


def window_loop(t: int, w: int) -> torch.Tensor:
    """The context of query t, from the definition. Returns (d_v,)."""
    there = range(max(0, t - w), min(23, t + w + 1))
    e = {s: (q[0, 0, t] @ k[0, 0, s] / math.sqrt(5)).exp() for s in there}
    return sum(e[s] * v[0, 0, s] for s in there) / sum(e.values())


looped = torch.stack([window_loop(t, 4) for t in range(23)])
found = efficient.window_attention(q, k, v, 4)[0, 0]
torch.testing.assert_close(found, looped, rtol=1e-10, atol=1e-10)

# %% [markdown]
# Then we compare every pattern with full attention under its mask: contexts, and gradients with respect to query, key and value, with a causal mask and without.

# %%
q, k, v = (x.requires_grad_() for x in heads(37, d=6, dtype=torch.float64))


def gap(ours, theirs) -> float:
    """Largest difference of two contexts, and of their gradients with respect to q, k and v."""
    pairs = [(ours, theirs)]
    gradients = (torch.autograd.grad(y.pow(2).sum(), (q, k, v)) for y in (ours, theirs))
    pairs += zip(*gradients, strict=True)
    return max((a - b).abs().max().item() for a, b in pairs)


# %%
sparse = [
    (efficient.window_attention, efficient.window_mask, {"window": 5}),
    (efficient.strided_attention, efficient.strided_mask, {"stride": 6}),
    (efficient.fixed_attention, efficient.fixed_mask, {"stride": 6, "n_summary": 2}),
]
gaps = []
for form, draw, sizes_of in sparse:
    for causal in (False, True):
        theirs = blocks.attend(q, k, v, draw(37, **sizes_of, is_causal=causal))
        gaps.append(gap(form(q, k, v, **sizes_of, is_causal=causal), theirs))
theirs = blocks.attend(q, k, v, efficient.bigbird_mask(37, 4, seed=1))
gaps.append(gap(efficient.bigbird_attention(q, k, v, 4, seed=1), theirs))

# %% [markdown]
# We compare the tiles with the library's kernel, including cases with fewer queries than keys, and with padding.

# %%
tiles = partial(efficient.tiled_attention, tile=8)
library = F.scaled_dot_product_attention
last = q[:, :, 20:]  # the last 17 queries, of 37
bottom_right = causal_mask(17, 37)
real = torch.arange(37)[None] < 30  # (B, S)
of_tiles = [
    gap(tiles(q, k, v), library(q, k, v)),
    gap(tiles(q, k, v, is_causal=True), library(q, k, v, is_causal=True)),
    gap(tiles(last, k, v, is_causal=True), library(last, k, v, attn_mask=bottom_right)),
    gap(tiles(q, k, v, key_mask=real), library(q, k, v, attn_mask=real[:, None, None])),
]

# %% [markdown]
# The forms of linear attention must agree with each other. And the Linformer, explained below, must agree with full attention if its matrices are the identity, because each of its mixtures is then a single key.


# %%
def linear_gap(form, **causal) -> float:
    """Difference of a form from all pairs of the same features."""
    ours, theirs = (
        one(efficient.elu_features(q), efficient.elu_features(k), v)
        for one in (form, partial(efficient.quadratic_form, **causal))
    )
    return gap(ours, theirs)


of_forms = [
    linear_gap(efficient.parallel_form),
    linear_gap(partial(efficient.chunked_form, chunk=8), is_causal=True),
    linear_gap(efficient.recurrent_form, is_causal=True),
]
linformer = efficient.Linformer(max_len=37, n_features=37).double()
with torch.no_grad():
    for mixture in (linformer.E, linformer.F):
        mixture.copy_(torch.eye(37))
of_forms.append(gap(linformer(q, k, v), blocks.attend(q, k, v)))

# %% [markdown]
# Last comes the cache, at every split. A decoder with rotary positions, in which two heads of queries share one head of keys, reads 24 symbols at once. Then it reads the first $n$ into a cache, and the others one by one.

# %%
torch.manual_seed(0)
config = TransformerConfig(
    11, d_model=16, n_heads=4, n_kv_heads=2, d_ff=20, n_layers=2, positions="rotary", norm="pre"
)
writer = DecoderOnly(config).double().eval()
ids = torch.randint(4, 11, (3, 24))


@torch.no_grad()
def cached(first: int) -> torch.Tensor:
    """Logits (B, T, V), with the first symbols read together and the others one by one."""
    caches = [efficient.KVCache(24) for _ in range(config.n_layers)]
    pieces = [ids[:, :first], *ids[:, first:].split(1, dim=1)]
    return torch.cat([writer.read(piece, caches)[0] for piece in pieces], dim=1)


with torch.no_grad():
    whole, _ = writer(ids)
splits = [(cached(n) - whole).abs().max().item() for n in range(1, 24)]

# %% tags=["evidence"]
observe(
    "Over patterns, tiles, forms and {splits} splits of a text, the largest difference, gradients included, is {off:.0e}.",
    splits=len(splits),
    off=max(*gaps, *of_tiles, *of_forms, *splits),
    holds=max(*gaps, *of_tiles, *of_forms, *splits) < 1e-10,
)

# %% [markdown]
# Does one of the forms secretly allocate a tensor (T, T)? At 4,096 positions such a tensor has $4 \cdot 4096^2$ bytes.

# %% tags=["evidence"]
thrifty = {
    "window": partial(efficient.window_attention, window=64),
    "strided": partial(efficient.strided_attention, stride=64),
    "fixed": partial(efficient.fixed_attention, stride=64),
    "bigbird": partial(efficient.bigbird_attention, block=32),
    "linformer": efficient.Linformer(4096, 64),
    "performer": efficient.Performer(64, 64),
    "linear": efficient.linear_attention,
    "tiled": partial(efficient.tiled_attention, tile=512),
}

# %% tags=["evidence"]
q, k, v = heads(4096)
with torch.no_grad():
    peaks = {name: peak_bytes(partial(form, q, k, v)) / 1e6 for name, form in thrifty.items()}
observe(
    "It would have {whole:.0f} MB. The forms hold at most {most:.0f} MB, not counting the Linformer's matrices.",
    whole=4 * 4096**2 / 1e6,
    most=max(peaks.values()),
    holds=max(peaks.values()) < 2 * 4096**2 / 1e6,
)

# %% [markdown]
# ## When do attention's pairs dominate the cost?
#
# *6 minutes.* From what length on is an RNN cheaper? Textbooks often sketch how work and training time grow with the length, with a line for the RNN and
# a parabola for the Transformer. Here both are measured: one layer each, 128 wide, four sequences at once, forward and backward.

# %% tags=["evidence"]
by_length = experiments.load("sequence_time")
STEPS = by_length.parameters["T"]
LAYERS = ("RNN", "GRU", "attention", "encoder block")
TIMED = (*LAYERS, "library's GRU")
of_layer = {
    (layer, what): [by_length.select(layer=layer, T=T)[0][what] for T in STEPS]
    for layer in TIMED
    for what in ("work", "seconds")
}


# %% tags=["evidence"]
def times_more(layer: str, other: str, what: str) -> list[float]:
    """How many times as much as another layer it needs, by length."""
    return [a / b for a, b in zip(of_layer[layer, what], of_layer[other, what])]


def crossing(layer: str, other: str, what: str) -> float:
    """Length from which on a layer needs more than another, interpolated between logarithms."""
    more = [math.log(times) for times in times_more(layer, other, what)]
    i = max(i for i, log in enumerate(more) if log < 0)  # from the next length on, all are above 0
    return STEPS[i] * (STEPS[i + 1] / STEPS[i]) ** (more[i] / (more[i] - more[i + 1]))


# %% tags=["evidence"] mystnb={"figure": {"caption": "Attention bends upwards where recurrences stay straight: a training step of one layer, 128 wide, by the length of the sequences. Operations (left) and seconds of processor time on one thread (right). Dashed: from here on, the encoder block takes longer than our GRU. Stored experiment `sequence_time`; axes are logarithmic.", "name": "fig-crossing"}, "image": {"alt": "Two panels with rising lines. Left, RNN and GRU are straight lines; attention starts between the two, the encoder block above both, and they bend upwards. Right, our GRU and the library's are highest at short lengths, and close to each other; attention and the encoder block start near the RNN or below it and rise more steeply, and the encoder block crosses our GRU."}}
figure, axes = plt.subplots(1, 2, figsize=(6.4, 3.8), sharex=True)
panels = (("work", "operations", LAYERS), ("seconds", "seconds", TIMED))
for ax, (what, label, layers) in zip(axes, panels):
    lines = {layer: (STEPS, of_layer[layer, what]) for layer in layers}
    curves(lines, "positions", label, logx=True, logy=True, ax=ax)
    ax.get_legend().remove()
    ax.set_xticks([16, 128, 1024], [16, 128, 1024])
axes[1].axvline(crossing("encoder block", "GRU", "seconds"), color=INK, lw=1, ls="--")
figure.legend(*axes[1].get_legend_handles_labels(), loc="outside upper center", ncols=3)
plt.show()

# %% tags=["evidence"]
meets = crossing("attention", "GRU", "work")
ours, theirs = (crossing("encoder block", gru, "seconds") for gru in ("GRU", "library's GRU"))
observe(
    "Attention does less work than a GRU up to {meets:.0f} positions. An encoder block takes less time than our GRU up to about {ours:,.0f} positions, and less than the library's GRU up to about {theirs:,.0f}.",
    meets=meets,
    ours=round(ours, -2),
    theirs=round(theirs, -2),
    holds=64 < meets < 256 and ours > 1.2 * theirs > 1000,
)

# %% [markdown]
# So there is no *one* crossing: it depends on the layers, on the width and on the machine. (Our recurrent layers step in Python, while attention runs in the library. With the library's GRU, which doesn't step in Python, the crossing comes earlier. So Python explains part of the difference, but not all of it.)
#
# (claim-eff-3a)=

# %% tags=["evidence"]
of_block, of_gru = of_layer["encoder block", "work"], of_layer["GRU", "work"]
claim(
    "eff-3a",
    "Yes, if texts are long: a block's work grows as the length to the power {early:.2f} near 100 positions, {late:.2f} near 3,000; a GRU's, {gru:.2f}.",
    early=exponent(STEPS[2:4], of_block[2:4]),
    late=exponent(STEPS[-2:], of_block[-2:]),
    gru=exponent(STEPS[-2:], of_gru[-2:]),
    holds=lambda early, late, gru: early < 1.4 and late > 1.6 and abs(gru - 1) < 0.1,
    experiment="sequence_time",
    scale="one layer, 128 wide, forward and backward",
)

# %% [markdown]
# (claim-eff-3b)=

# %% tags=["evidence"]
by_gru, by_rnn = (
    times_more("encoder block", other, "seconds") for other in ("library's GRU", "RNN")
)
claim(
    "eff-3b",
    "Yes, if compared with GRUs: a block takes {short:.0%} of their time at 1,024 positions, {long:.0%} at 4,096, and {plain:.0%} of an RNN's at 1,024.",
    short=by_gru[STEPS.index(1024)],
    long=by_gru[-1],
    plain=by_rnn[STEPS.index(1024)],
    holds=lambda short, long, plain: short < 0.8 < 1.25 < min(long, plain),
    experiment="sequence_time",
    scale="one layer, 128 wide, on one thread of one machine",
)

# %% [markdown]
# A machine that computes many positions at once would change the seconds, but not the work. A well-known table shows how the work of three kinds of layer grows with the length, the width and the size of the kernel. Does it hold?


# %% tags=["evidence"]
def layer_work(kind: str, n: int, d: int, k: int = 3) -> int:
    """Operations of one layer on a sequence of n positions, d wide."""
    x = torch.zeros(1, n, d)
    layers = {
        "attention": lambda: blocks.attend(x[None], x[None], x[None]),
        "attention with projections": lambda: MultiHeadAttention(d, 1)(x, need_weights=True),
        "RNN": lambda: RNN(d, d)(x),
        "convolution": lambda: nn.Conv1d(d, d, k, padding="same")(x.mT),
    }
    with torch.no_grad():
        return work(layers[kind]).total


def powers(kind: str) -> tuple[float, float]:
    """Exponents of n and of d."""
    by_n = exponent([256, 512], [layer_work(kind, n, 64) for n in (256, 512)])
    return by_n, exponent([128, 256], [layer_work(kind, 128, d) for d in (128, 256)])


# %% tags=["evidence"]
kinds = ("attention", "attention with projections", "RNN", "convolution")
alone, projected, rnn, convolution = map(powers, kinds)
of_kernel = exponent([3, 9], [layer_work("convolution", 128, 64, k) for k in (3, 9)])
rows = [[kind, *(f"{p:.2f}" for p in powers(kind))] for kind in kinds]
table(rows, ["layer", "power of the length", "power of the width"])
assert abs(rnn[0] - 1) < 0.1 and abs(rnn[1] - 2) < 0.1 and abs(of_kernel - 1) < 0.1
assert abs(convolution[0] - 1) < 0.1 and abs(convolution[1] - 2) < 0.1

# %% [markdown]
# (claim-eff-1)=

# %% tags=["evidence"]
claim(
    "eff-1",
    "Yes, if projections are left out: work grows with powers of {n:.2f} of the length, {d:.2f} of the width; with projections, the width's is {both:.2f}.",
    n=alone[0],
    d=alone[1],
    both=projected[1],
    holds=lambda n, d, both: abs(n - 2) < 0.1 and abs(d - 1) < 0.1 and both > 1.5,
    counted=True,
    scale="128 to 512 positions, 64 to 256 wide; the others are in the table",
)

# %% [markdown]
# (deeper-patterns)=
# ## Which sparse patterns reach further than a window?
#
# *13 minutes.* With windows alone, information from far away has to pass through many blocks. What else can a pattern contain? **Global** positions see everything and are seen by everything. The Sparse Transformer
# {cite:t}`child2019generating` adds keys at a distance: if the text is written in rows of length $l$, a query sees its neighbours and its column.

# %%
rows_of_four = blocks.to_blocks(torch.arange(12.0).view(1, 1, 12, 1), 4)  # (1, 1, 3, 4, 1)
print("rows   ", rows_of_four[0, 0, :, :, 0].int().tolist())
print("columns", rows_of_four.transpose(2, 3)[0, 0, :, :, 0].int().tolist())

# %% [markdown]
# So the second half of the pattern is attention within columns, and a transposition turns columns into rows. With $l = \sqrt T$, each query has about
# $2\sqrt T$ neighbours and $\sqrt T$ keys in its column. For data without natural rows, the paper has a **fixed** pattern: the query's own block, and the last positions of every block, which should summarise it. BigBird {cite}`zaheer2020bigbird` has a window, global positions and random ones, all in whole blocks of positions, so that the matrix products stay large.
# Why random ones? In a graph whose nodes are linked to a few random others, the path from any node to any other is short.

# %%
drawn = {
    "window, one global": efficient.window_mask(32, 3, global_positions=[0]),
    "strided": efficient.strided_mask(32, 6),
    "fixed": efficient.fixed_mask(32, 6),
    "BigBird": efficient.bigbird_mask(32, 4),
}

# %% tags=["evidence"] mystnb={"figure": {"caption": "Four ways to leave pairs out: bright cells are the keys (across) with which each of 32 queries (down) is compared. All are drawn in both directions, although strided and fixed patterns are causal in their paper.", "name": "fig-patterns"}, "image": {"alt": "Four square maps. Window: a band along the diagonal, with a bright first row and first column. Strided: a band with parallel lines on both sides. Fixed: squares along the diagonal, and vertical lines. BigBird: blocks along the diagonal, a broad first row and column, and single blocks elsewhere."}}
figure, axes = plt.subplots(2, 2, figsize=(6.4, 6.0), sharex=True, sharey=True)
for ax, (name, pattern) in zip(axes.flat, drawn.items()):
    ax.imshow(pattern.float(), vmin=0, vmax=1)
    ax.grid(False)
    ax.set(title=name, xticks=[0, 15, 31], yticks=[0, 15, 31])
for ax in axes[1]:
    ax.set_xlabel("key")
for ax in axes[:, 0]:
    ax.set_ylabel("query")
plt.show()

# %% [markdown]
# How far do two blocks reach? The product of two such matrices says which pairs are connected in two steps. But first, here is the book's code for strides.

# %%
show_source(efficient.strided_attention)


# %% tags=["evidence"]
def reached(pattern: torch.Tensor, layers: int) -> float:
    """Share of pairs (query, key) that are connected through so many layers."""
    connected = torch.linalg.matrix_power(pattern.double(), layers) > 0
    return connected.double().mean().item()


of_256 = {
    "window": efficient.window_mask(256, 16),
    "strided": efficient.strided_mask(256, 16),
    "fixed": efficient.fixed_mask(256, 16),
    "bigbird": efficient.bigbird_mask(256, 8),
}
rows = [[name, *(f"{reached(mask, n):.0%}" for n in (1, 2))] for name, mask in of_256.items()]
table(rows, ["pattern, 256 positions", "pairs in one layer", "connected in two"])
assert all((reached(mask, 2) == 1) == (name != "window") for name, mask in of_256.items())

# %% [markdown]
# A window connects neighbours only. The other three connect every pair within two blocks of a network; BigBird's global positions alone would be enough for that. But even where
# information *can* travel, the network must still learn to send it. Whether it does is measured [below](#deeper-quality).
#
# Choose a pattern, a window and a length: which pairs are computed, and what do they cost? (*Linear* is [linear attention](#deeper-linear), which computes no pairs at all.)

# %% tags=["view"]
forms = {
    "all pairs": lambda w: blocks.attend,
    "window": lambda w: partial(efficient.window_attention, window=w),
    "strided": lambda w: partial(efficient.strided_attention, stride=w),
    "tiles of 64": lambda w: efficient.tiled_attention,
    "linear": lambda w: efficient.linear_attention,
}
masks = {"window": efficient.window_mask, "strided": efficient.strided_mask}
cost_of = cache(lambda name, w, T: cost(forms[name](w), T))


# %% tags=["view"]
def counted(name, w, T):
    """The pairs that a pattern computes, its operations and its bytes."""
    if name in masks:
        return masks[name](T, w), *cost_of(name, w, T)
    return torch.full((T, T), name != "linear"), *cost_of(name, None, T)


options = product(forms, (8, 32), (128, 512, 1024))
patterns({option: counted(*option) for option in options})

# %% [markdown]
# ## Linformer: are fewer keys enough?
#
# *9 minutes.* Must there be as many keys as positions? The Linformer {cite}`wang2020linformer` mixes the $S$ positions into $m$, by two learned matrices $E$ and $F$, before anything is compared:
#
# $$
# \begin{aligned}
# C &= \operatorname{softmax}\left( \frac{Q\,(E K)^\top}{\sqrt{d_k}} \right) F V , \\
# & E, F : (m, S) .
# \end{aligned}
# $$ (eq-linformer)
#
# A row of $E$ says how much of each position goes into one mixture. Each mixture contains all positions, later ones included. So the Linformer has no causal form and can't write a text.

# %%
show_source(efficient.Linformer)

# %% [markdown]
# Why should so few keys be enough? Think of a head's weights as a matrix $(T, T)$, a **map**. Its **rank** is the number of rows from which all others can be mixed: a map of rank $m$ is a product of two thin matrices, $(T, m)$ and
# $(m, T)$. If only a few of its singular values are large, such a product approximates it well. (Day 2 used the largest singular value, which says how far a matrix can stretch a vector.) For a trained model, the paper plots what share of their sum the largest ones make up. We do the same, and add an untrained model.


# %% tags=["evidence"]
@torch.no_grad()
def largest_values(weights: torch.Tensor) -> list[float]:
    """Share of their sum that the n largest singular values have, the mean over maps (…, T, T)."""
    values = torch.linalg.svdvals(weights).flatten(0, -2)  # (maps, T)
    return (values.cumsum(-1) / values.sum(-1, keepdim=True)).mean(0).tolist()


sizes = {"d_model": 64, "n_heads": 2, "d_ff": 128, "n_layers": 2, "norm": "pre"}
small = TransformerConfig(64 + 9, dropout=0.0, **sizes)
torch.manual_seed(0)
fresh, test = Tagger(small, n_classes=8).eval(), associative_recall(256, 128, seed=1000)
with torch.no_grad():
    _, untrained = fresh(test[0][:16], need_weights=True)
drawn_maps = (4 * torch.randn(16, 128, 128)).softmax(-1)
spectra = {"untrained": largest_values(untrained), "random, sharp": largest_values(drawn_maps)}

# %% tags=["evidence"]
quality = experiments.load("efficient_quality")
for task, block in (("recall", 1), ("recall", 2), ("count", 1)):
    rows = quality.select(method="full", task=task)
    by_seed = zip(*(row[f"largest values, {block}"] for row in rows))
    spectra[f"{task}, block {block}"] = [sum(shares) / len(rows) for shares in by_seed]

# %% tags=["evidence"] mystnb={"figure": {"caption": "A low rank is no sign of learning: share of the sum of a map's 128 singular values that the largest ones make up, in trained models (mean of three seeds, stored experiment `efficient_quality`), in an untrained model, and in random maps.", "name": "fig-rank"}, "image": {"alt": "Five rising curves. Those of the untrained model, of count and of recall in the second block rise steeply; those of recall in the first block and of random maps slowly."}}
lines = {name: (range(1, 129), values) for name, values in spectra.items()}
ax = curves(lines, "singular values, largest first", "share of their sum")
ax.legend(loc="lower right")
plt.show()

# %% tags=["evidence"]
at_32 = {name: values[31] for name, values in spectra.items()}
observe(
    "Of 128 singular values, the 32 largest make up {raw:.0%} of the sum before training, {count:.0%} once the model has learned to count, and {recall:.0%} in the first block once it has learned to recall.",
    raw=at_32["untrained"],
    count=at_32["count, block 1"],
    recall=at_32["recall, block 1"],
    holds=at_32["untrained"] > 0.8 and at_32["recall, block 1"] < 0.7,
)

# %% [markdown]
# An untrained head attends to everything almost equally, so all rows are almost the same: a map of rank one, plus noise. Counting
# needs no more than that. For recall, each position has to attend to a different one, and in the first block the rank *rises* in training. So a low rank is not a sign of learning, and a high one is not a sign of failure.
#
# (claim-eff-7)=

# %% tags=["evidence"]
claim(
    "eff-7",
    "Yes, if an overall impression is enough: the 32 largest of 128 singular values make up {count:.0%} for counting, {recall:.0%} in recall's first block.",
    count=at_32["count, block 1"],
    recall=at_32["recall, block 1"],
    holds=lambda count, recall: count > 0.9 and recall < 0.7,
    experiment="efficient_quality",
    scale="two layers, 64 wide, 128 positions, three seeds",
)

# %% [markdown]
# The Linformer hardly recalls anything, as you will see. Perhaps that isn't because of the rank: its mixtures are the same for all sequences, while the positions of the keys differ from sequence to sequence.

# %% [markdown]
# (deeper-linear)=
# ## Linear attention: can we do without pairs?
#
# *24 minutes.* A window forgets what is far away. Could a query receive *something* from everything, without being compared with every key? Suppose that a weight were a plain product, $\phi(q)^\top \phi(k)$, with no softmax around it, where $\phi$
# turns a query or a key into $m$ **features**, none of them negative. Then we may choose the order of the multiplication:

# %% tags=["mechanism"] mystnb={"figure": {"caption": "The order of a product decides its cost: with pairs first, there is a map of all pairs; with keys and values first, there is a small matrix whose size doesn't depend on the length.", "name": "fig-orders"}, "image": {"alt": "Above, a tall T by m matrix times a flat m by T matrix is a large square, T by T; times a tall T by d matrix it is a tall result. Below, the flat matrix times the tall T by d matrix is a small square, m by d; then the tall T by m matrix times the small square is the same tall result."}}
mechanisms.orders()
plt.show()

# %%
phi_q = torch.tensor([[1.0, 2.0], [0.0, 1.0], [3.0, 1.0]])
phi_k = torch.tensor([[1.0, 0.0], [2.0, 1.0], [0.0, 1.0]])
v = torch.tensor([[1.0], [2.0], [3.0]])
print("pairs first     ", (phi_q @ phi_k.T @ v).flatten().tolist())
print("keys first      ", (phi_q @ (phi_k.T @ v)).flatten().tolist())

# %% [markdown]
# The sums must still be divided by the sum of their weights, which can be rearranged in the same way {cite}`katharopoulos2020transformers`. This is **linear attention**:
#
# $$
# \begin{aligned}
# c_t &= \frac{\sum_s \phi(q_t)^\top \phi(k_s)\, v_s^\top}{\sum_s \phi(q_t)^\top \phi(k_s)}
#     = \frac{\phi(q_t)^\top S}{\phi(q_t)^\top z} , \\
# S &= \sum_s \phi(k_s)\, v_s^\top, \quad z = \sum_s \phi(k_s) .
# \end{aligned}
# $$ (eq-linear-attention)
#
# Picture a silent meeting: everyone pins a note to one board, $S$, and everyone reads the board. With a causal mask, the sums run up to $t$ and grow by one note per step: $S_t = S_{t-1} + \phi(k_t)\, v_t^\top$. So this attention is a recurrent network whose state has a fixed size.

# %% tags=["mechanism"] mystnb={"figure": {"caption": "The state never grows: in one step, a key's features times a value are added to it, and a query's features read it.", "name": "fig-board"}, "image": {"alt": "A column of features 2, 1 in orange times a row of values 1, 3 in green is a table with the rows 2, 6 and 1, 3, to be added. Plus the table S before, with the rows 4, 0 and 1, 1, it is S after, 6, 6 and 2, 4. The query's features 1, 2 in blue read it and return 10, 14."}}
mechanisms.board(
    *(torch.tensor([row]) for row in ([1.0, 2], [2.0, 1], [1.0, 3])),
    torch.tensor([[4.0, 0], [1, 1]]),
)
plt.show()

# %% [markdown]
# Which $\phi$ should we take? Its features must not be negative, so that the weights aren't negative either. The paper takes $x + 1$ above 0 and $e^x$ below.

# %% tags=["mechanism"] mystnb={"figure": {"caption": "Above 0, the features grow along a straight line where a softmax has the exponential. (In libraries the dashed curve is called elu, plus 1.)", "name": "fig-features"}, "image": {"alt": "Two curves over -3 to 3. Left of 0 they are the same, near 0 and rising to 1. Right of 0 the features, dashed, go on as a straight line to 4, while the exponential leaves the picture."}}
x = torch.linspace(-3, 3, 121)
ax = curves({"exponential": (x, x.exp()), "φ": (x, efficient.elu_features(x))}, "x", "")
ax.set_ylim(0, 6)
plt.show()

# %% [markdown]
# ```{exercise} Linear attention: one step of the state
# :label: exercise-state-step
#
# *12 minutes.* Take one causal step of {eq}`eq-linear-attention`: add the new key and value to $S$ and the new key to $z$, then read them with the query. Features and value are rows, (..., 1, m) and (..., 1, d_v), so `phi_k.mT` is a column. Return the context, then the new $S$ and $z$, and leave the
# old ones as they are. ([Solution](../solutions/07_efficient_attention.ipynb#solution-state-step))
# ```


# %%
def state_step(phi_q, phi_k, v, S, z):
    """Shapes: phi_q and phi_k (..., 1, m), v (..., 1, d_v), S (..., m, d_v), z (..., 1, m).

    Returns: the context (..., 1, d_v), and the new S and z.
    """
    raise NotImplementedError


state_step = check("state_step", state_step)

# %%
check.show_reference("state_step")

# %% [markdown]
# Steps wait for each other, which is slow in training. There, all pairs can be computed at once, or one **chunk** of the text after another, with pairs within a
# chunk and the state for everything before it. (A 1 is appended to each value, so that the divisor is computed along with the sums.) All three ways return the same contexts.

# %%
show_source(kernelised.chunked_form)

# %%
phi_q, phi_k = (efficient.elu_features(x) for x in heads(4, d=2)[:2])
values = torch.tensor([[1.0], [2.0], [3.0], [4.0]])[None, None]
for name, form in (
    ("all pairs", partial(efficient.quadratic_form, is_causal=True)),
    ("recurrent", efficient.recurrent_form),
    ("chunks of 2", partial(efficient.chunked_form, chunk=2)),
):
    print(f"{name:12}", [round(c, 4) for c in form(phi_q, phi_k, values).flatten().tolist()])

S, z, steps = torch.zeros(1, 1, 2, 1), torch.zeros(1, 1, 1, 2), []
for rows in zip(*(x.split(1, dim=2) for x in (phi_q, phi_k, values))):
    context, S, z = state_step(*rows, S, z)
    steps.append(context.item())
print("your steps  ", [round(c, 4) for c in steps])

# %% [markdown]
# ## Performer: can random features estimate the softmax?
#
# *12 minutes.* Linear attention replaces the exponential with another, flatter function. Are there features whose products are the exponential itself? The **Performer** {cite}`choromanski2021rethinking` has random ones that estimate it. For random directions $\omega \sim \mathcal N(0, I)$,
#
# $$
# \exp(x^\top y) = \mathbb E_\omega \left[ e^{\omega^\top x - |x|^2/2} \; e^{\omega^\top y - |y|^2/2} \right] ,
# $$ (eq-favor)
#
# because $\mathbb E\, e^{\omega^\top u} = e^{|u|^2 / 2}$; put $u = x + y$, and $|x + y|^2 = |x|^2 + |y|^2 + 2 x^\top y$. So with $m$ directions,
# $\phi(x)_i = e^{\omega_i^\top x - |x|^2/2} / \sqrt m$ gives products that are correct on average. The features are positive, and the
# directions are drawn **orthogonal** to each other, so that each adds something new. Hence the name FAVOR+, for fast attention via positive orthogonal random features.

# %%
x, y = torch.tensor([0.5, -0.3, 0.2, 0.1]), torch.tensor([0.4, 0.2, -0.1, 0.6])
generator = torch.Generator().manual_seed(0)
for m in (10, 1000, 100_000):
    omega = torch.randn(m, 4, generator=generator)
    phi_x, phi_y = (efficient.log_features(vector, omega).exp() for vector in (x, y))
    print(f"{m:6} directions: {phi_x @ phi_y:.2f}; exp(x·y) is {(x @ y).exp():.2f}")

# %% [markdown]
# A layer has one more problem. For large $x$, $e^{\omega^\top x - |x|^2 / 2}$ is far too large or too small for single precision. Whatever we
# subtract from the exponents has to cancel in the quotient of {eq}`eq-linear-attention`. One number per *query* cancels, because it divides all weights of this query, in the numerator and in the denominator. One number per key doesn't cancel, because it changes one weight among the others. One number per *feature*, the same for all keys, cancels if it is **added to the queries' exponents**. So the layer subtracts each feature's maximum over the keys from the keys, and adds it to
# the queries.

# %%
show_source(efficient.Performer)

# %% [markdown]
# When is the estimate good? We first test the exponential alone. Fifty pairs of vectors in 16 dimensions have
# random directions and the same norm. For each pair, we divide the estimate by the true $\exp(x^\top y)$, so that 1 is correct, and we draw
# the directions a hundred times.

# %% tags=["evidence"]
generator = torch.Generator().manual_seed(0)
pairs = F.normalize(torch.randn(2, 50, 16, generator=generator, dtype=torch.float64), dim=-1)


# %% tags=["evidence"]
def estimates(norm: float, m: int, orthogonal: bool = True) -> torch.Tensor:
    """Estimates divided by the truth, (100 draws, 50 pairs)."""
    x, y = norm * pairs
    drawn = []
    for seed in range(100):
        omega = efficient.orthogonal_directions(m, 16, seed)
        if not orthogonal:
            free = torch.Generator().manual_seed(seed)
            omega = torch.randn(m, 16, generator=free, dtype=torch.float64)
        phi_x, phi_y = (efficient.log_features(z, omega).exp() for z in (x, y))
        drawn.append((phi_x * phi_y).sum(-1) / (x * y).sum(-1).exp())
    return torch.stack(drawn)


# %% tags=["evidence"]
features = [16, 64, 256, 1024]
ratios = {norm: {m: estimates(norm, m) for m in features} for norm in (0.5, 1.0, 3.0)}
means = {norm: by_m[64].mean().item() for norm, by_m in ratios.items()}
free, bound = (
    (estimates(1.0, 16, orthogonal) - 1).square().mean().sqrt().item()
    for orthogonal in (False, True)
)
observe(
    "With 64 features and a norm of 3, half of the estimates are below {median:.2f} times the truth. With 16 directions and a norm of 1, the error is {bound:.2f} if they are orthogonal, and {free:.2f} if they are independent.",
    median=ratios[3.0][64].median().item(),
    bound=bound,
    free=free,
    holds=ratios[3.0][64].median().item() < 1 / 3 and bound < free,
)

# %% [markdown]
# (claim-eff-6a)=

# %% tags=["evidence"]
claim(
    "eff-6a",
    "Yes: the mean of 5,000 estimates is {half:.3f} times the truth at a norm of 0.5, and {one:.3f} times at 1.",
    half=means[0.5],
    one=means[1.0],
    holds=lambda half, one: abs(half - 1) < 0.05 and abs(one - 1) < 0.05,
    scale="64 orthogonal features, 50 pairs in 16 dimensions, 100 draws",
)

# %% [markdown]
# At a norm of 3 the mean is still correct, by {eq}`eq-favor`, but only as a fair lottery pays back its stakes: most estimates are far too small, and a rare one is huge. The variance of a single feature shows why. By the same proof, with $u = 2(x + y)$, it is $e^{|x + y|^2} - 1$ times the square of the true value. And how long are queries? With 64 numbers of variance 1, and
# after division by $\sqrt[4]{d_k}$, their norm is about $8 / 2.8 \approx 2.8$.
#
# A layer needs the quotient, not the exponential. So we compare contexts, for 64 positions whose queries and keys all have
# the same norm (after scaling). The error is relative to the size of the exact contexts.

# %% tags=["evidence"]
q, k, v = heads(64, d=16, dtype=torch.float64)


def context_error(norm: float, m: int, draws: int = 30) -> tuple[float, float]:
    """Relative error of a draw of features, root mean square over the draws, and of their mean."""
    x, y = (2 * norm * F.normalize(z, dim=-1) for z in (q, k))  # 2 is the fourth root of d_k
    exact = blocks.attend(x, y, v)
    found = torch.stack(
        [efficient.Performer(16, m, seed).double()(x, y, v) for seed in range(draws)]
    )
    size = exact.square().mean().sqrt()
    one, mean = ((z - exact).square().mean().sqrt() / size for z in (found, found.mean(0)))
    return one.item(), mean.item()


norms = [0.5, 1.0, 2.0, 4.0]
errors = {norm: [context_error(norm, m) for m in features] for norm in norms}

# %% tags=["evidence"] mystnb={"figure": {"caption": "More features help only where queries and keys are short: relative error of the Performer's contexts, root mean square over 30 draws, by the number of features, for four norms. Both axes are logarithmic.", "name": "fig-performer"}, "image": {"alt": "Four lines. That for norm 0.5 falls straight, parallel to the grey line, that for norm 1 a little less steeply. Those for norm 2 and 4 lie above one at first; that for norm 2 falls slowly, that for norm 4 hardly at all."}}
lines = {f"norm {norm}": (features, [one for one, _ in errors[norm]]) for norm in norms}
ax = curves(lines, "features m", "relative error of the context", logx=True, logy=True)
root = [0.4 * (16 / m) ** 0.5 for m in features]
ax.plot(features, root, color="#777777", lw=1, ls="-", label="falls as 1/√m")
ax.legend(loc="upper center", ncols=3)
ax.set_ylim(top=10)
ax.set_xticks(features, features)
plt.show()

# %% [markdown]
# (claim-eff-6b)=

# %% tags=["evidence"]
slopes = {norm: exponent(features, [one for one, _ in errors[norm]]) for norm in norms}
claim(
    "eff-6b",
    "Yes, if queries and keys are short: at norm 0.5 the error changes with a power of {short:.2f} of m, at 4 with {long:.2f}.",
    short=slopes[0.5],
    long=slopes[4.0],
    holds=lambda short, long: abs(short + 0.5) < 0.05 and long > -0.1,
    scale="one head, 64 positions, 16 wide, 16 to 1,024 features, 30 draws",
)

# %% tags=["evidence"]
observe(
    "At a norm of 4 the error is {error:.2f} times the contexts' size even with 1,024 features. With 16 features, the mean of 30 draws still has {left:.0%} of a single draw's error; without bias it would have {chance:.0%}.",
    error=errors[4.0][-1][0],
    left=errors[4.0][0][1] / errors[4.0][0][0],
    chance=30**-0.5,
    holds=errors[4.0][-1][0] > 0.9 and errors[4.0][0][1] > 0.4 * errors[4.0][0][0],
)

# %% [markdown]
# (Returning 0 would give an error of 1.) Averaging many draws doesn't remove all of the error, because the quotient of two unbiased estimates is itself biased. And whether the error falls as promised depends on the norm of queries and
# keys, which the network learns: to attend sharply to one key, they have to be long.

# %% [markdown]
# ## FlashAttention: what must tiles keep for the backward pass?
#
# *6 minutes.* Autograd would keep every one of your tiles for the backward pass. How can the backward pass do without them? It computes the tiles again. For that it needs one number per row, $\lambda = \log \sum_s e^{x_s}$, from which every weight follows: $p_s = e^{x_s - \lambda}$.
# If the gradient with respect to the context is $\dot c$, then the gradient with respect to weight $s$ is $g_s = \dot c^\top v_s$, and the gradient with respect to score $s$ is $p_s (g_s - \sum_r p_r g_r)$. That
# sum needs no tile: $\sum_r p_r\, \dot c^\top v_r = \dot c^\top c$. (With `torch.autograd.Function`, PyTorch accepts a gradient written by hand; `ctx` carries to `backward` whatever it needs.)

# %%
show_source(efficient.TiledAttention)

# %% [markdown]
# This imitates FlashAttention {cite}`dao2022flashattention` in plain PyTorch, without its speed: here each tile makes a round trip through main memory, which the
# original avoids. Attention in chunks, without quadratic memory, is a little older {cite}`rabe2021self`. A stored experiment counted the work and bytes of one head's training step, and measured its seconds.

# %% tags=["evidence"]
costs = experiments.load("attention_costs")
FORMS = costs.parameters["method"]
LENGTHS = costs.parameters["T"]
long_enough = slice(LENGTHS.index(1024), None)


def column(name: str, method: str) -> list[float]:
    """A stored column of one form, by length."""
    return [costs.select(method=method, T=T)[0][name] for T in LENGTHS]


def relative(name: str, method: str, T: int, other: str = "full") -> float:
    """A stored number of one form, as a share of another's."""
    of_form, of_other = (costs.select(method=m, T=T)[0][name] for m in (method, other))
    return of_form / of_other


# %% tags=["evidence"] mystnb={"figure": {"caption": "Tiles do as much work as full attention in far less memory; windows and linear attention do less work: operations, bytes and seconds of one head's training step, by the number of positions (stored experiment `attention_costs`). All axes are logarithmic.", "name": "fig-cost-growth"}, "image": {"alt": "Three panels, each with lines that rise to the right. In the first, full attention and tiles rise steeply together, the others flatter. In the second, full attention alone rises steeply, and the fused function and tiles lie lowest. In the third, tiles in plain PyTorch lie far above all others, full attention and the fused function rise as steeply below them, and the others are flatter."}}
figure, axes = plt.subplots(1, 3, figsize=(6.4, 4.2), sharex=True)
drawn_forms = ("full", "fused", "tiled", "window", "linear")
for ax, what in zip(axes, ("work", "bytes", "seconds")):
    lines = {name: (LENGTHS, column(f"step_{what}", name)) for name in drawn_forms}
    curves(lines, "positions", "", logx=True, logy=True, ax=ax)
    ax.get_legend().remove()
    ax.set_title({"work": "operations"}.get(what, what))
    ax.set_xticks([256, 2048], [256, 2048])
    ax.minorticks_off()
figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=5)
plt.show()

# %% tags=["evidence"]
growth = {
    (name, what): exponent(LENGTHS[long_enough], column(f"step_{what}", name)[long_enough])
    for name in FORMS
    for what in ("work", "bytes")
}
rows = [[name, *(f"{growth[name, what]:.2f}" for what in ("work", "bytes"))] for name in FORMS]
table(rows, ["form", "power of work", "power of bytes"])

# %% [markdown]
# (claim-eff-5a)=

# %% tags=["evidence"]
claim(
    "eff-5a",
    "Yes: in tiles, work grows with a power of {work:.2f} of the length, memory with {bytes:.2f}; contexts and gradients differ from the library's by {off:.0e}.",
    work=growth["tiled", "work"],
    bytes=growth["tiled", "bytes"],
    off=max(of_tiles),
    holds=lambda work, bytes, off: abs(work - 2) < 0.1 and abs(bytes - 1) < 0.1 and off < 1e-10,
    experiment="attention_costs",
    scale="one head, 64 wide, 1,024 to 8,192 positions",
)

# %% [markdown]
# (claim-eff-5b)=

# %% tags=["evidence"]
of_all_scores = [relative("step_seconds", "fused", T) for T in LENGTHS]
claim(
    "eff-5b",
    "Yes: at {lengths} lengths, the library's kernel takes {least:.0%} to {most:.0%} of the time that all scores at once take.",
    lengths=len(of_all_scores),
    least=min(of_all_scores),
    most=max(of_all_scores),
    holds=lambda lengths, least, most: lengths > 4 and 0.2 < least < 0.6 < most < 1,
    experiment="attention_costs",
    scale="a training step of one head on one thread of a processor, 256 to 8,192 positions; the paper's claim is about GPUs",
)

# %% [markdown]
# (claim-eff-9)=

# %% tags=["evidence"]
claim(
    "eff-9",
    "Yes, if work is the limit: at 8,192 positions tiles take {work:.0f} times a window's work, but {memory:.1%} of a whole map's memory.",
    work=relative("step_work", "tiled", 8192, "window"),
    memory=relative("step_bytes", "tiled", 8192),
    holds=lambda work, memory: work > 10 and 0 < memory < 0.05,
    experiment="attention_costs",
    scale="a training step of one head, 64 wide, a window of 64",
)

# %% [markdown]
# (claim-eff-4)=


# %% tags=["evidence"]
def linear_work(d: int) -> int:
    """Operations of linear attention on 512 positions, by the width."""
    q, k, v = heads(512, d)
    return work(lambda: efficient.linear_attention(q, k, v)).total


said = [growth[name, "work"] for name in ("window", "bigbird", "linformer", "performer", "linear")]
rooted = [growth[name, "work"] for name in ("strided", "fixed")]
claim(
    "eff-4",
    "No: linear attention's work grows with a power of {d:.2f} of the width, not 1. The powers of the length, {linear:.2f} and {strided:.2f}, are correct.",
    d=exponent([64, 256], [linear_work(d) for d in (64, 256)]),
    linear=max(said, key=lambda p: abs(p - 1)),
    strided=max(rooted, key=lambda p: abs(p - 1.5)),
    holds=lambda d, linear, strided: d > 1.8 and abs(linear - 1) < 0.1 and abs(strided - 1.5) < 0.1,
    experiment="attention_costs",
    scale="a training step of one head, 1,024 to 8,192 positions; the powers farthest from the claim",
)

# %% [markdown]
# The state is a matrix, $d$ by $d$, and every position adds to all of it: $O(n\,d^2)$.
#
# How long a sequence fits into 1 GiB in the training step of one head? For each
# form we fit a curve to the stored bytes and extrapolate it. Each curve has a constant and a linear term; full attention's also has a quadratic one, and those of the patterns with strides of $\sqrt T$ have a term in $T^{1.5}$.

# %% tags=["evidence"]
two_sided = [name for name in FORMS if "," not in name]  # not those that are causal


def longest(method: str) -> int:
    """Positions whose training step of one head fits into 1 GiB, rounded down to 2 digits."""
    powers = {"full": (0, 1, 2), "strided": (0, 1, 1.5), "fixed": (0, 1, 1.5)}.get(method, (0, 1))
    powers = torch.tensor(powers, dtype=torch.float64)
    T = torch.tensor(LENGTHS[long_enough], dtype=torch.float64)[:, None]
    held = torch.tensor(column("step_bytes", method)[long_enough], dtype=torch.float64)[:, None]
    factors = torch.linalg.lstsq(T**powers / held, torch.ones_like(held)).solution
    tried = torch.arange(1000.0, 1e6, 10, dtype=torch.float64)[:, None]
    found = int(tried[tried**powers @ factors <= 2**30].max())
    return found // 10 ** (len(str(found)) - 2) * 10 ** (len(str(found)) - 2)


# %% tags=["evidence"] mystnb={"figure": {"caption": "Tiles and the library's kernel fit the longest sequences into 1 GiB, longer than any form that computes less: one head's training step, 64 wide, extrapolated from counted bytes (stored experiment `attention_costs`).", "name": "fig-longest"}, "image": {"alt": "Horizontal bars, one for each form. Full attention has by far the shortest bar; then come strided and fixed attention, BigBird, a window, linear attention, the Performer and the Linformer. The fused function and tiles are longest."}}
fits = {name: longest(name) for name in two_sided}
bars(fits, "positions in 1 GiB")
plt.show()

# %% tags=["evidence"]
observe(
    "Full attention fits {full:,} positions, and tiles fit {tiled:,}. The best of the forms that compute less fits {cheap:,}.",
    full=fits["full"],
    tiled=fits["tiled"],
    cheap=max(n for name, n in fits.items() if name not in ("full", "tiled", "fused")),
    holds=max(fits.values()) in (fits["tiled"], fits["fused"]) and fits["full"] < 12_000,
)

# %% [markdown]
# (deeper-cache)=
# ## How can a key–value cache be made smaller?
#
# *6 minutes.* What can be saved in a cache? First, time: yours appends new keys to the old ones, and so at every step it copies everything that it holds. The book's `KVCache` allocates its memory once, and Day 5's layer accepts one (`cache=`).

# %%
show_source(efficient.KVCache)

# %% [markdown]
# A cache becomes smaller if several heads of queries share one
# head of keys and values: all heads in **multi-query** attention {cite}`shazeer2019fast`, groups of heads in **grouped-query** attention
# {cite}`ainslie2023gqa`. In Day 5's layer, `n_kv_heads` is the number of heads of keys and values. We count the
# bytes for 1,000 positions, a width of 512 and 8 heads.


# %% tags=["evidence"]
@torch.no_grad()
def cache_bytes(n_kv_heads: int, T: int = 1000) -> int:
    """Bytes of keys and values that one layer's cache holds for T positions."""
    layer = MultiHeadAttention(512, 8, n_kv_heads=n_kv_heads)
    cache = efficient.KVCache(T)
    layer(torch.zeros(1, T, 512), is_causal=True, cache=cache)
    held = cache.append(*torch.zeros(2, 1, n_kv_heads, 0, 64))
    return sum(x.untyped_storage().nbytes() for x in held)


held = {n: cache_bytes(n) for n in (8, 2, 1)}
kinds = {8: "multi-head", 2: "grouped-query", 1: "multi-query"}
table(
    [[kinds[n], n, f"{size:,}"] for n, size in held.items()],
    ["attention", "heads of keys", "bytes per layer"],
)

# %% [markdown]
# (claim-eff-8b)=

# %% tags=["evidence"]
claim(
    "eff-8b",
    "No: the logits stay the same, within {off:.0e}, but memory grows: one layer holds {short:,} bytes after 250 positions and {long:,} after 1,000.",
    off=max(splits),
    short=cache_bytes(8, 250),
    long=cache_bytes(8, 1000),
    holds=lambda off, short, long: off < 1e-10 and long > 3 * short > 0,
    counted=True,
    scale="512 wide, 8 heads; logits of a decoder of two layers, at 23 splits",
)

# %% [markdown]
# How much does a cache save in a wider model? A stored experiment timed a decoder of two layers, 256 wide.

# %% tags=["evidence"]
generation = experiments.load("generation_time")
tokens = generation.parameters["tokens"]


def generated(what: str, method: str) -> list[float]:
    """A stored column, by the number of symbols."""
    return [generation.select(method=method, tokens=n)[0][what] for n in tokens]


saved, quicker = (
    [a / b for a, b in zip(generated(what, "uncached"), generated(what, "cached"))]
    for what in ("work", "seconds")
)
observe(
    "To write {n} symbols it needs {saved:.0f} times less work with a cache, and {quicker:.1f} times less time, on one thread.",
    n=tokens[-1],
    saved=saved[-1],
    quicker=quicker[-1],
    holds=saved[-1] > 100 and quicker[-1] > 5,
)

# %% [markdown]
# Time falls less than work, because calling PyTorch takes longer than the few operations of a step on one symbol. And pairs aren't the only saving: without a cache, all earlier symbols pass through the projections and feed-forward layers again, too.

# %% [markdown]
# (deeper-quality)=
# ## What do cheaper forms of attention give up?
#
# *12 minutes.* A form that computes less is no bargain if the network can no longer do its task. Which tasks tell the forms apart? The lesson's **recall** {cite}`arora2024zoology` does. Half of the 128 positions hold a pair: a key, and a value that belongs to it in this sequence only. The
# other half hold a key and ask for its value. (The Long Range Arena {cite}`tay2021long` tests forms on texts of up to 16,000 symbols, and a survey {cite}`tay2022efficient` compares many more forms.)

# %%
ids, target, apart = associative_recall(2, 8, seed=0)
for (key, said), value, distance in zip(ids[0].tolist(), target[0].tolist(), apart[0].tolist()):
    asked = said == 4 + 8  # four keys, eight values, and the blank
    answer = f"it is {value}, told {distance} positions away" if asked else ""
    print(f"key {key}", f"is asked for ({answer})" if asked else f"has the value {said - 4}")

# %% [markdown]
# The model looks in both directions, so the answer may come after the question. (In the paper's task it comes before, and key and value have
# positions of their own.) The full task has 64 keys and 8 values. Between its projections, Day 5's layer calls a function, `attend`; `use_form` exchanges this function in all blocks of a model.

# %%
show_source(efficient.use_form)

# %% [markdown]
# We repeat one run of a stored experiment here: a window of 16 to both sides, 150 steps on 16 sequences each.

# %% tags=["evidence"]
now, stored = experiments.live("efficient_quality", method="window", task="recall", seed=0)
observe(
    "If the answer is up to 16 positions away, {near:.0%} of the questions are answered correctly; from 97 positions on, {far:.0%} are. Altogether it is {all:.1%}, and in the stored run {stored:.1%}.",
    near=now["right by distance"][0],
    far=now["right by distance"][-1],
    all=now["right"],
    stored=stored["right"],
    holds=now["right by distance"][0] > 0.6 and now["right by distance"][-1] < 0.25,
)


# %% tags=["evidence"]
@torch.no_grad()
def recalled(model) -> float:
    """Share of the questions in the test sequences that a model answers correctly."""
    ids, target, _ = test
    return (model(ids).argmax(-1) == target)[target != IGNORE_INDEX].double().mean().item()


torch.manual_seed(0)
linear = Tagger(small, n_classes=8)
efficient.use_form(linear, lambda number: efficient.linear_attention)
seen = Batches(*associative_recall(16 * 150, 128, 0)[:2], batch_size=16)
train_once(linear, tag_loss, seen, learning_rate=5e-3)
early = recalled(linear.eval())
observe(
    "With linear attention, after the same 150 steps, {early:.0%} of the answers are correct. Guessing would get one in eight.",
    early=early,
    holds=early < 0.4,
)

# %% [markdown]
# Is linear attention unable to recall, or has it not learned to do so yet? A short training run can't tell.
# So in the experiment the Linformer, the Performer and linear attention train on recall for three
# times as many steps. (The patterns get no more steps. They could find what none of their blocks sees only by passing values on from block to block; we haven't tried whether more steps would teach them that.) There are eight forms, three seeds, and a second task: in **count**, every position has to predict which of eight symbols is the most frequent. The prediction depends on all positions, but on none in particular.
# The patterns leave a typical query 30 to 40 keys; the Linformer has 32 mixtures, the Performer 64 features, and linear attention 32.

# %% tags=["evidence"]
METHODS = quality.parameters["method"]


def over_seeds(column: str, method: str, task: str) -> tuple[float, float, float]:
    """Mean, lowest and highest over three seeds."""
    return quality.spread(column, method=method, task=task)


def as_range(column: str, method: str, task: str) -> str:
    """Lowest and highest over three seeds, in percent."""
    _, low, high = over_seeds(column, method, task)
    return f"{100 * low:.0f} to {100 * high:.0f}"


# %% tags=["evidence"]
steps = {name: quality.select(method=name, task="recall")[0]["steps"] for name in METHODS}
rows = [
    [name, steps[name], *(as_range("right", name, task) for task in ("recall", "count"))]
    for name in METHODS
]
table(rows, ["attention", "steps of recall", "recall, % correct", "count, % correct"])
recall = {name: over_seeds("right", name, "recall") for name in METHODS}
assert recall["linear"][1] > 0.8 and recall["linformer"][2] < 0.3

# %% [markdown]
# So linear attention can recall. It learns to do so later than full attention, and after 150 steps we would have said that it can't. And the patterns? A question can be answered if the query sees the key that it needs. Otherwise the model can only guess one of eight values. How many answers should then be correct?

# %% tags=["evidence"]
masks = {
    "window": efficient.window_mask(128, 16),
    "strided": efficient.strided_mask(128, 12),
    "fixed": efficient.fixed_mask(128, 16, n_summary=2),
    "bigbird": efficient.bigbird_mask(128, 8, seed=0),
}
others = ~torch.eye(128, dtype=torch.bool)  # no question is its own answer
seen = {name: mask[others].double().mean().item() for name, mask in masks.items()}
expected = {name: share + (1 - share) / 8 for name, share in seen.items()}
best_seed = {name: over_seeds("right", name, "recall")[2] for name in masks}

# %% tags=["evidence"]
rows = [
    [name, f"{seen[name]:.0%}", f"{expected[name]:.1%}", f"{best_seed[name]:.1%}"] for name in masks
]
table(rows, ["pattern", "pairs seen", "expected correct", "correct, best seed"])
assert all(abs(best_seed[name] - expected[name]) < 0.02 for name in masks)
assert all(30 <= mask.sum(dim=1).median() <= 40 for mask in masks.values())

# %% [markdown]
# Each pattern answers what it sees and guesses the rest. The second block adds nothing.

# %% tags=["evidence"] mystnb={"figure": {"caption": "Patterns fail at the distances that they don't see; forms that sum up everything fail everywhere alike. Share of correct answers in recall, by the distance between question and answer: mean and range of three seeds (stored experiment `efficient_quality`). Dashed: chance.", "name": "fig-all-distances"}, "image": {"alt": "Six lines over the distance, from about 10 to 110 positions. Full attention stays at one. The window begins near one and drops to chance beyond its reach. Strided and BigBird begin somewhat lower and fall less far; BigBird rises again at the end. The Performer is flat near one half, linear attention flat near the top."}}
EDGES = (1, 17, 33, 49, 65, 97, 128)  # as in the experiment
middles = [(a + b - 1) / 2 for a, b in zip(EDGES, EDGES[1:])]
shown = ("full", "window", "strided", "bigbird", "performer", "linear")
lines = {
    name: (middles, quality.column("right by distance", method=name, task="recall"))
    for name in shown
}
ax = curves(lines, "positions between question and answer", "share correct")
ax.axhline(1 / 8, color=INK, lw=1, ls="--")
ax.set(ylim=(0, 1.05))
ax.legend(loc="upper right", bbox_to_anchor=(1, 0.86), ncols=3)
plt.show()

# %% [markdown]
# A window is correct within its reach and blind beyond it. Strided attention sees some distances always and the others never, while BigBird sees some pairs at each distance. (Its global positions are the first ones, so they help most when
# question and answer are at the two ends.) The Performer and linear attention sum up everything, wherever it is, so they miss
# about as much at one distance as at another.
#
# The models are small, and all forms got the learning rate that was chosen for full attention. Only full attention, in recall, has nothing left to learn. With longer training, other gaps may close or open.

# %% [markdown]
# ## Can a trained model's attention be exchanged for a cheaper form?
#
# *5 minutes.* It would be convenient to train with full attention and then use a cheaper form. Does that work? With `use_form` the weights stay, and only the function between the projections is exchanged. The stored experiment has tried four forms.

# %% tags=["evidence"]
cheap, tasks = ("window", "strided", "performer", "linear"), ("recall", "count")
rows = []
for name in cheap:
    row = [name]
    for task in tasks:
        row += [as_range(f"exchanged for {name}", "full", task), as_range("right", name, task)]
    rows.append(row)
table(
    rows,
    ["form", "recall: exchanged, %", "trained with it", "count: exchanged, %", "trained with it"],
)
put_in = {name: over_seeds(f"exchanged for {name}", "full", "recall")[0] for name in cheap[:2]}
assert all(abs(share - recall[name][0]) < 0.05 for name, share in put_in.items())

# %% tags=["evidence"]
best = {task: over_seeds("right", "full", task)[0] for task in tasks}
lost = {
    (name, task): best[task] - over_seeds(f"exchanged for {name}", "full", task)[0]
    for name in ("performer", "linear")
    for task in tasks
}
observe(
    "Exchanging full attention for linear attention changes the share of correct answers by {recall:+.0f} points in recall, and by {count:+.1f} points in count.",
    recall=-100 * lost["linear", "recall"],
    count=-100 * lost["linear", "count"],
    holds=min(lost[name, "recall"] for name in ("performer", "linear")) > 0.5
    and max(lost[name, "count"] for name in ("performer", "linear")) < 0.05,
)

# %% [markdown]
# It depends on the task. In recall, a window and strides answer what they see, whether they are put in afterwards or used from the start. For the other two forms we suspect this: to count, heads
# attend to everything almost equally, and one positive weight is as good as another. To recall, a head uses the exponential to put nearly all its weight on one key,
# and without the exponential it no longer finds that key.

# %% [markdown]
# ## Which form of attention should you choose?
#
# *8 minutes.* What does each form cost, and what does it achieve? This table has both, from two experiments. Work, bytes and seconds are
# those of one head, forward and backward, as a share of full attention's at 4,096 positions. The last two columns come from the small models above, which read 128 positions.


# %% tags=["evidence"]
def as_trained(method: str) -> str:
    """The form whose quality was stored: exact forms return what full attention returns."""
    return {"fused": "full", "tiled": "full"}.get(method, method)


rows = []
for name in two_sided:
    shares = [relative(f"step_{what}", name, 4096) for what in ("work", "bytes", "seconds")]
    quality_of = [as_range("right", as_trained(name), task) for task in tasks]
    rows.append([name, *(f"{share:.3f}" for share in shares), *quality_of])
table(rows, ["form", "work", "bytes", "seconds", "recall, %", "count, %"])

# %% [markdown]
# The seconds are processor time on one thread of the machine that ran the experiment; on another machine they differ. To choose, first rule out the forms that fall short of the quality you need, and then take the fastest of the rest. {numref}`fig-decision` is an example, not a rule, because it combines two measurements: the
# quality at 128 positions, and the seconds at the length given.


# %% tags=["evidence"]
def keeps(method: str, task: str, points: int) -> bool:
    """Whether a form is within so many points of full attention, both as means over seeds."""
    return over_seeds("right", as_trained(method), task)[0] > best[task] - points / 100


NEEDS = {
    ("recall", 5): "anything may matter: recall within 5 points of full attention's",
    ("recall", 15): "some of it may be missed: recall within 15 points",
    ("count", 5): "an overall impression: count within 5 points",
}
kept_by = {need: [name for name in two_sided if keeps(name, *need)] for need in NEEDS}
rows = [[task, points, ", ".join(names)] for (task, points), names in kept_by.items()]
table(rows, ["task", "points that may be lost", "forms that lose no more"])


# %% tags=["evidence"]
def quickest(need: tuple[str, int], T: int) -> tuple[str, float]:
    """The fastest form that is good enough, and its seconds as a share of full attention's."""
    shares = {name: relative("step_seconds", name, T) for name in kept_by[need]}
    name = min(shares, key=shares.get)
    return name, shares[name]


long_ones = [T for T in LENGTHS if T >= 1024]
decision = {need: [quickest(need, T) for T in long_ones] for need in NEEDS}
kinds = [{name for name, _ in row} for row in decision.values()]
assert kinds[0] <= {"full", "fused"} and kinds[1] | kinds[2] <= {"linear", "linformer"}

# %% tags=["evidence"] mystnb={"figure": {"caption": "If hardly any answer may be wrong, only full attention is left; otherwise linear attention or the Linformer is fastest. Each cell names the fastest form that is good enough, as if the quality at 128 positions (means of three seeds) held at all lengths, and its share of full attention's seconds in a training step (stored experiments `attention_costs` and `efficient_quality`).", "name": "fig-decision"}, "image": {"alt": "A table of three needs and four lengths. First row, recall within 5 points: full attention or the fused function. The two others, recall within 15 points and count: linear attention or the Linformer, with shares that fall as the length grows."}}
figure, axes = plt.subplots(3, 1, figsize=(6.4, 4.2), sharex=True)
for ax, (need, chosen) in zip(axes, decision.items()):
    ax.imshow([[share for _, share in chosen]], vmin=0, vmax=1, aspect="auto")
    for i, (name, share) in enumerate(chosen):
        colour = "white" if share < 0.5 else "black"
        ax.text(i, 0, f"{name}\n{share:.2g}", ha="center", va="center", color=colour)
    ax.set_title(NEEDS[need], loc="left")
    ax.set(yticks=[], xticks=range(len(long_ones)), xticklabels=long_ones)
    ax.grid(False)
axes[-1].set_xlabel("positions")
plt.show()

# %% [markdown]
# Read it row by row, and treat seconds within a quarter of each other as equal. If hardly any answer may be wrong, only full attention is left among the forms that we trained, and you choose how to compute it. If some answers may be wrong, or an overall
# impression is enough, a form that sums everything up saves a lot on long sequences. Most large models read long texts with full attention, in tiles and with a cache, or with windows where these are enough: in Mistral each layer looks back 4,096 positions {cite}`jiang2023mistral`, and information travels further from layer to layer.

# %% [markdown]
# ## Exercises
#
# *220 minutes.* Which of these would you try? Heads come with four axes: (B, h, T, d). Solutions are on
# [a page of their own](../solutions/07_efficient_attention.ipynb).

# %% [markdown]
# ```{exercise} Sparse patterns: count the pairs
# :label: exercise-count-of-pairs
#
# *Core, 15 minutes.* A window reaches `window` positions to either side. The first `n_global` positions are global: they see everything, and everything sees them. There is no causal mask. Count the pairs (query, key)
# without building the mask, which for a million positions would not fit into memory. A loop over positions is fine. ([Solution](../solutions/07_efficient_attention.ipynb#solution-count-of-pairs))
# ```


# %%
def count_pairs(T: int, window: int, n_global: int) -> int:
    """Return how many pairs there are, at most T²; n_global is at most T."""
    raise NotImplementedError


check("count_of_pairs", count_pairs)

# %% [markdown]
# ```{exercise} Merge two halves of one softmax
# :label: exercise-merged-halves
#
# *Core, 15 minutes.* The keys of a long text are on two machines, each of which has attended to its own half {cite}`liu2024ring`. Each sends a
# context, which is an average over its half, and for each query the logarithm of the sum of the exponentials, $\log \sum_s
# e^{\text{score}_s}$. From these, compute the context over the whole text, and its log-sum. Scores may be in the thousands, and the two halves may be far
# apart. ([Solution](../solutions/07_efficient_attention.ipynb#solution-merged-halves))
# ```


# %%
def merge(context_1, log_sum_1, context_2, log_sum_2) -> tuple[torch.Tensor, torch.Tensor]:
    """Shapes: contexts (B, h, T, d_v), log-sums (B, h, T); returns one of each."""
    raise NotImplementedError


check("merged_halves", merge)

# %% [markdown]
# ```{exercise} Banded weights: compute only the window
# :label: exercise-banded-weights
#
# *Core, 20 minutes.* The lesson computes its window in pieces of the text. There is another way: the weights of a causal window are a
# **band**, which can be stored as one row of `window + 1` numbers for each query. Column $j$ belongs to key
# $t - \text{window} + j$, so the last column is the position itself. Where there is no such key, the weight is 0.
# `F.pad` and `Tensor.unfold` give each query its keys, without a tensor (T, T). (The check sees only your numbers.)
# ([Solution](../solutions/07_efficient_attention.ipynb#solution-banded-weights))
# ```


# %%
def band_weights(query: torch.Tensor, key: torch.Tensor, window: int) -> torch.Tensor:
    """Shapes: query and key (B, h, T, d_k); returns softmax weights (B, h, T, window + 1)."""
    raise NotImplementedError


check("banded_weights", band_weights)

# %% [markdown]
# ```{exercise} Low-rank attention: pooled keys
# :label: exercise-pooled-keys
#
# *Core, 15 minutes.* The Linformer learns how to mix positions. The plainest mixture needs no learning: for each block of `size`
# neighbours, take the **mean** of its keys and the mean of its values. Attend to these means, each of which counts as one key, with scores scaled as always.
# Leave padding out of the means; a block that is all padding gets a weight of 0.
# ([Solution](../solutions/07_efficient_attention.ipynb#solution-pooled-keys))
# ```


# %%
def pooled_attention(query, key, value, key_mask, size: int) -> torch.Tensor:
    """Return the context (B, h, T, d_v).

    Shapes: query (B, h, T, d_k), key (B, h, S, d_k), value (B, h, S, d_v), key_mask (B, S), False
    at padding, wherever it is; no sequence is all padding. size divides S.
    """
    raise NotImplementedError


check("pooled_keys", pooled_attention)

# %% [markdown]
# ```{exercise} Retention: a state that forgets
# :label: exercise-retention
#
# *Core, 20 minutes.* Linear attention adds up all keys so far. Retention {cite}`sun2023retentive` lets them fade: a key $n$
# positions back is multiplied by $\gamma^n$, and each head has a $\gamma$ of its own. Normalised as in linear attention,
#
# $$
# c_t = \frac{\sum_{s \le t} \gamma^{t-s}\, \phi(q_t)^\top \phi(k_s)\, v_s}{\sum_{s \le t} \gamma^{t-s}\, \phi(q_t)^\top \phi(k_s)} .
# $$
#
# Write it in whichever form you like, step by step or with all pairs at once. $\gamma$ may be 0 or 1 ($0^0 = 1$), and the text may be long. Then describe the other form. ([Solution](../solutions/07_efficient_attention.ipynb#solution-retention))
# ```


# %%
def forgetting_attention(phi_q, phi_k, value, gamma) -> torch.Tensor:
    """Return the contexts (B, h, T, d_v).

    Shapes: phi_q and phi_k (B, h, T, m), positive, value (B, h, T, d_v), gamma (h,), from 0 to 1.
    """
    raise NotImplementedError


check("retention", forgetting_attention)

# %% [markdown]
# ```{exercise} Linear attention with features on both sides
# :label: exercise-two-sided-features
#
# *Stretch, 25 minutes.* The Performer's paper has a second kind of positive features {cite}`choromanski2021rethinking`, which use
# each direction and its opposite:
#
# $$
# \phi(x) = \frac{e^{-|x|^2 / 2}}{\sqrt{2m}} \left[ e^{\omega_1 \cdot x}, \dots, e^{\omega_m \cdot x}, e^{-\omega_1 \cdot x}, \dots, e^{-\omega_m \cdot x} \right] .
# $$
#
# Given the directions, estimate softmax attention with these features, without a causal mask: $\phi(q)^\top \phi(k)$ replaces $\exp(q^\top k / \sqrt{d_k})$.
# Your function must also be correct for keys so large that each feature, as written here, rounds to 0, even if only one of the heads has such keys. ([Solution](../solutions/07_efficient_attention.ipynb#solution-two-sided-features))
# ```


# %%
def two_sided_attention(query, key, value, omega) -> torch.Tensor:
    """Return the context (B, h, T, d_v).

    Shapes: query (B, h, T, d_k), key (B, h, S, d_k), value (B, h, S, d_v), omega (m, d_k).
    """
    raise NotImplementedError


check("two_sided_features", two_sided_attention)

# %% [markdown]
# ```{exercise} The entropy of the weights, tile by tile
# :label: exercise-online-entropy
#
# *Stretch, 20 minutes.* The entropy of a query's weights says how widely it attends: $-\sum_s p_s \log p_s$ with $p_s = e^{x_s - m} / \ell$.
# In tiles the weights are never all there at once. But
#
# $$
# \begin{aligned}
# -\sum_s p_s \log p_s &= m + \log \ell - \frac{r}{\ell}, \\
# \ell &= \sum_s e^{x_s - m}, \quad r = \sum_s e^{x_s - m} x_s ,
# \end{aligned}
# $$
#
# where $m$ is the largest of the scores $x_s$, since $\log p_s = x_s - m - \log \ell$. Take in the scores chunk by chunk, and keep a running $m$, $\ell$
# and $r$ for every row. The scores of different rows may differ by a thousand, and so may the chunks of a row. (The check sees only your
# numbers, not your method.) ([Solution](../solutions/07_efficient_attention.ipynb#solution-online-entropy))
# ```


# %%
def entropy(scores: torch.Tensor, chunk: int) -> torch.Tensor:
    """Shapes: scores (T, S), read `chunk` columns at a time; returns nats (T,)."""
    raise NotImplementedError


check("online_entropy", entropy)

# %% [markdown]
# ```{exercise} Attention that goes on from a cache
# :label: exercise-cached-attention
#
# *Core, 20 minutes.* A layer of one head holds the keys and values of $S$ positions. Now $T$ more symbols come at once, as when a user types
# the next question. Add to each symbol the learned vector of its position, and compute its query, key and value ($q = W_q x$, and so on). Each new symbol
# attends to everything that is held, and causally to the new symbols, with scores scaled as always. Return the keys and values for the next call, too. $S$ may be 0.
# ([Solution](../solutions/07_efficient_attention.ipynb#solution-cached-attention))
# ```


# %%
def continue_with(x, keys, values, W_q, W_k, W_v, positions) -> tuple[torch.Tensor, ...]:
    """Return the context (B, T, D), and all keys and values, (B, S + T, D) each.

    Shapes: x (B, T, D), keys and values (B, S, D), the matrices (D, D), positions (max_len, D).
    """
    raise NotImplementedError


check("cached_attention", continue_with)

# %% [markdown]
# ```{exercise} A ring buffer for a window's cache
# :label: exercise-ring-buffer
#
# *Stretch, 25 minutes.* A causal window needs no more memory than its own length. So its cache can be a **ring** {cite}`jiang2023mistral`:
# position $p$ goes into slot $p \bmod \text{slots}$ and replaces the position that was there. Put $T$ new keys into it, after
# the `length` positions that this sequence already has; $T$ may be larger than the number of slots. Also return which position each slot now holds,
# and $-1$ where it holds none of this sequence, even if an earlier sequence has left something there. Return new tensors, and leave the old ones as
# they are. ([Solution](../solutions/07_efficient_attention.ipynb#solution-ring-buffer))
# ```


# %%
def put(buffer: torch.Tensor, length: int, new: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the new buffer, and the positions that it holds (slots,), whole numbers.

    Shapes: buffer (B, h, slots, d), new (B, h, T, d).
    """
    raise NotImplementedError


check("ring_buffer", put)

# %% [markdown]
# ```{exercise} The delta rule: correct what is stored
# :label: exercise-delta-rule
#
# *Research, 45 minutes.* The state of linear attention is a memory to which each position adds, so an old value under the same key stays in
# the sum. The **delta rule** {cite}`schlag2021linear` looks up the old value first, and adds only the difference:
#
# $$
# \begin{aligned}
# S_t &= S_{t-1} + \beta_t\, k_t \left( v_t - S_{t-1}^\top k_t \right)^\top, \\
# o_t &= S_t^\top q_t,
# \end{aligned}
# $$
#
# with $S_0 = 0$, keys of norm 1, and no normaliser. Write it. Then measure how much a state of $32 \times 32$ can hold. Store $n$ random keys
# (of norm 1) with random values, and ask for each of them. How often is the stored value the one nearest to the output, and how does that depend on $n$? Compare
# the plain sum, the delta rule ($\beta = 1$), and softmax attention with sharp scores (32 times the dot product). Then
# store a *new* value under each of the keys, and ask again. ([Solution](../solutions/07_efficient_attention.ipynb#solution-delta-rule))
# ```


# %%
def delta_rule(query, key, value, beta) -> torch.Tensor:
    """Return the outputs o (B, h, T, d_v).

    Shapes: query and key (B, h, T, d_k), value (B, h, T, d_v), beta (B, h, T).
    """
    raise NotImplementedError


check("delta_rule", delta_rule)
