# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Day 7: Efficient attention
#
# **Today's question:** does every position have to look at every other, and what is lost if it does not?
#
# After today you can
#
# - say what attention costs by length, in work and in bytes, and when it matters,
# - draw a sparse pattern, count its pairs, and compute no others,
# - attend to fewer keys than there are positions,
# - put features in the softmax's place, and step along with a state of one size,
# - find an exact softmax piece by piece,
# - generate with a cache, and keep no more of it than is needed.
#
# Each point is tested by an exercise at the end. The day builds on [Day 5](05_self_attention.ipynb) (heads, masks) and
# [Day 6](06_transformer.ipynb) (blocks).
# The core path takes about 90 minutes; what lies beyond it is marked. The exercises of warm-up and core take over two hours;
# choose some.

# %%
import convolution_to_attention  # is `utils` this book's?

import math
from statistics import fmean
from functools import partial

import matplotlib.pyplot as plt
import torch
from torch import nn
from torch.nn import functional as F

# %% [markdown]
# The second cell takes from the book's own package: today's modules, the layers that they change, the exercises, and the bench. Of the bench you
# know `work` and `peak_bytes` since yesterday; today they are explained.

# %%
from utils import efficient
from utils.data.sequences import IGNORE_INDEX, associative_recall
from utils.efficient import blocks, kernelised
from utils.exercises.efficient_attention import check
from utils.exercises.progress import checklist
from utils.measure import experiments
from utils.measure.claims import claim
from utils.measure.costs import exponent, peak_bytes, work
from utils.recurrent import RNN
from utils.self_attention import MultiHeadAttention, causal_mask
from utils.show.display import observe, show_source, table
from utils.show.plotting import INK, bars, curves, use_book_style
from utils.training.recipes import train_tagger
from utils.transformer import DecoderOnly, Tagger, TransformerConfig

# %%
use_book_style()

# %% [markdown]
# ## Where we stand
#
# *6 minutes.* The Transformer has no chain of steps any more. It pays with pairs: each of $T$ positions is compared with each of $T$.
# Yesterday ended with that square. We look at it more closely, at attention alone. This is Day 5's, in one line; all forms
# of today will be compared with it.

# %%
show_source(blocks.attend)

# %% [markdown]
# What does it cost? A clock would answer for this machine, and for what else it is doing now. So we **count**. `work` counts the
# operations: two for each multiply–add in a matrix product, one for each element elsewhere. `peak_bytes` asks PyTorch's allocator how much
# it had given out at once. Neither depends on the machine. (A fused function
# hides its operations; there `work` uses a formula.) One head is 64 wide.


# %%
def heads(T: int, d: int = 64, seed: int = 0, dtype=torch.float32) -> tuple[torch.Tensor, ...]:
    """Draw query, key and value of one head, (1, 1, T, d) each."""
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(3, 1, 1, T, d, generator=generator, dtype=dtype).unbind()


@torch.no_grad()
def cost(form, T: int) -> tuple[int, int]:
    """Operations of a form on one head of T positions, and the most bytes it held at once."""
    q, k, v = heads(T)
    return work(lambda: form(q, k, v)).total, peak_bytes(lambda: form(q, k, v))


# %%
lengths = [128, 256, 512, 1024]
of_full = {T: cost(blocks.attend, T) for T in lengths}
rows = [[T, f"{w / 1e6:.1f}", f"{b / 1e6:.2f}"] for T, (w, b) in of_full.items()]
table(rows, ["positions", "million operations", "MB at once"])
grows = [exponent(lengths, [of_full[T][i] for T in lengths]) for i in (0, 1)]
observe(
    "Work grows with the square of the length, and so do the bytes: both exponents are between 1.9 and 2.05.",
    all(1.9 < power < 2.05 for power in grows),
    {"work": f"{grows[0]:.2f}", "bytes": f"{grows[1]:.2f}"},
)

# %% [markdown]
# The exponent is the slope of a line through the logarithms: 2 means that twice the length costs four times as much. The bytes are those of
# the scores and the weights, $T \times T$ numbers each, which are gone as soon as the contexts are there. In training they have to stay,
# for the way back.
#
# Is that much? It depends on what stands around it. A block also has four projections and a feed-forward layer, and these grow with $T$, not with
# $T^2$. Where [yesterday](06_transformer.ipynb) broke off, we counted both for a block that is 64 wide: from a few hundred positions on, most of
# the work is in pairs. A wider block crosses later (exercise 7.1 asks where). But texts are long: a book has a million characters, and a picture
# of $256 \times 256$ pixels has 65,536 positions. There nearly all of the work is in pairs.
#
# ### Beside the RNN
#
# *Beyond the core path, up to the next section.* The RNN has no pairs, but a chain. One often sees two sketches: work by length, and training time by length, with the RNN as a line and
# the Transformer as a parabola. Here they are, measured: one layer each, 128 wide, four sequences at once, forward and backward.

# %%
by_length = experiments.load("sequence_time")
STEPS = by_length.parameters["T"]
LAYERS = ("RNN", "GRU", "attention", "encoder block")
TIMED = (*LAYERS, "library's GRU")
of_layer = {
    (layer, what): [by_length.select(layer=layer, T=T)[0][what] for T in STEPS]
    for layer in TIMED
    for what in ("work", "seconds")
}


# %%
def times_more(layer: str, other: str, what: str) -> list[float]:
    """How many times what another layer needs, by length."""
    return [a / b for a, b in zip(of_layer[layer, what], of_layer[other, what])]


def crossing(layer: str, other: str, what: str) -> float:
    """Length from which on a layer needs more than another, on lines between logarithms."""
    more = [math.log(times) for times in times_more(layer, other, what)]
    i = max(i for i, log in enumerate(more) if log < 0)  # from the next length on, all are above 0
    return STEPS[i] * (STEPS[i + 1] / STEPS[i]) ** (more[i] / (more[i] - more[i + 1]))


# %% mystnb={"figure": {"caption": "A training step of one layer, 128 wide, by the length of the sequences: operations (left) and seconds of processor time on one thread (right). Dashed: from here on the encoder block takes longer than our GRU. Stored experiment `sequence_time`; axes are logarithmic.", "name": "fig-crossing"}, "image": {"alt": "Two panels with rising lines. Left, RNN and GRU are straight lines; attention starts between the two, the encoder block above both, and they bend upwards. Right, our GRU and the library's are highest at short lengths, and close to each other; attention and the encoder block start near the RNN or below it and rise more steeply, and the encoder block crosses our GRU between two and three thousand positions."}}
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

# %%
work_meets = crossing("attention", "GRU", "work")
ours, theirs = (crossing("encoder block", gru, "seconds") for gru in ("GRU", "library's GRU"))
observe(
    "Attention does less work than a GRU up to about 128 positions, its width. The encoder block takes less time than "
    "our GRU up to over 1000 positions, than the library's up to over 500; a plain RNN takes less from 1024 on at the latest.",
    64 < work_meets < 256
    and ours > 1000
    and theirs > 500
    and min(times_more("encoder block", "RNN", "seconds")[STEPS.index(1024) :]) > 1.25,
    {"work meets at": f"{work_meets:.0f}"}
    | {"seconds meet at about": f"{round(ours, -2):.0f}, the library's {round(theirs, -2):.0f}"},
)

# %% [markdown]
# So there is no *one* crossing. It depends on what is compared with what, on the width and on the machine. (Our recurrences step in Python,
# while attention runs in the library; the library's GRU shows that this is not what makes the difference.) Sure in
# {numref}`fig-crossing` is only what is counted: the recurrence's work has a slope of 1, and the Transformer's rises from near 1 towards 2.

# %% [markdown]
# ## The idea
#
# *6 minutes.* Imagine a meeting of $T$ people where everyone is to hear everyone. There are six ways to make it shorter.
#
# 1. **Fewer pairs.** Everyone talks to the neighbours; a few hosts talk to all. News travels from neighbour to neighbour, over several
#    rounds (layers). The pattern may also have longer steps, or a few partners by chance. This is **sparse attention**.
# 2. **Fewer keys.** Some delegates sum up the others, and everyone hears the delegates: **low rank**.
# 3. **Another order.** There is one notice board, everyone adds to it, and everyone reads it once. Nobody meets anybody. Whether this can
#    replace a talk depends on what fits onto the board: **linear attention**, and with a board that estimates the softmax, the **Performer**.
# 4. **All pairs, but no record.** Everyone talks to everyone, in small groups, and keeps one running note instead of a record of all
#    talks: **tiles**, known as FlashAttention. That loses nothing.
# 5. **Nothing twice.** When a new person comes in, the others don't introduce themselves again: a **cache**, for generation.
# 6. **Shared notes.** Several heads use one set of keys and values, so that the cache is smaller.
#
# The fourth and the fifth change only how it is computed, the others also what. {numref}`fig-patterns` has the patterns of the first way, and the
# tiles of the fourth.

# %%
patterns = {
    "full": torch.ones(32, 32),
    "window, one global": efficient.window_mask(32, 3, global_positions=[0]).float(),
    "strided": efficient.strided_mask(32, 6).float(),
    "fixed": efficient.fixed_mask(32, 6).float(),
    "BigBird": efficient.bigbird_mask(32, 4).float(),
    "tiles": torch.full((32, 32), 0.4).index_put(
        (torch.arange(8, 16)[:, None], torch.arange(16, 24)), torch.tensor(1.0)
    ),
}

# %% mystnb={"figure": {"caption": "Which keys (across) each of 32 queries (down) is compared with: bright. All are drawn for both directions, though strided and fixed are causal in their paper. In the last picture all pairs are computed, but at any time there is only one tile of them.", "name": "fig-patterns"}, "image": {"alt": "Six square maps. Full: all bright. Window: a band along the diagonal, with a bright first row and first column. Strided: a band and parallel lines beside it. Fixed: squares along the diagonal, and vertical lines. BigBird: blocks along the diagonal, a broad first row and column, and single blocks elsewhere. Tiles: all half bright, with one bright square."}}
figure, axes = plt.subplots(2, 3, figsize=(6.4, 4.6), sharex=True, sharey=True)
for ax, (name, pattern) in zip(axes.flat, patterns.items()):
    ax.imshow(pattern, vmin=0, vmax=1)
    ax.grid(False)
    ax.set(title=name, xticks=[0, 15, 31], yticks=[0, 15, 31])
for ax in axes[1]:
    ax.set_xlabel("key")
for ax in axes[:, 0]:
    ax.set_ylabel("query")
plt.show()

# %% [markdown]
# A pattern saves nothing by itself. With a mask over all scores, as on Day 5, all pairs are computed and most are thrown away. The art is
# to compute no others; that is what we build today.

# %% [markdown]
# ## The mathematics
#
# *12 minutes.* For one head and one query, full attention is
#
# $$
# c_t = \frac{\sum_{s=1}^{S} \exp(q_t^\top k_s / \sqrt{d_k})\, v_s}{\sum_{s=1}^{S} \exp(q_t^\top k_s / \sqrt{d_k})} .
# $$ (eq-full-attention)
#
# **Sparse.** The sums go over a set $\mathcal S_t$ of keys instead of all. For a window, $\mathcal S_t = \{s : |t - s| \le w\}$
# {cite}`beltagy2020longformer`; for strides, $\{s : |t - s| \le l\} \cup \{s : (t - s) \bmod l = 0\}$ {cite}`child2019generating`. The work
# is that of the pairs that are left. (Mind the letters: the Longformer's paper calls *both* sides together $w$. Here $w$ is one side, so
# that a query sees $2w + 1$ keys.)
#
# **Low rank.** Matrices $E$ and $F$ mix the $S$ positions to $m$, before anything is compared {cite}`wang2020linformer`:
#
# $$
# \begin{aligned}
# C &= \operatorname{softmax}\left( \frac{Q\,(E K)^\top}{\sqrt{d_k}} \right) F V , \\
# &E, F : (m, S) .
# \end{aligned}
# $$ (eq-linformer)
#
# **Kernels.** A kernel, here, is a function of two vectors, as $\exp(q^\top k)$ is. ($q$ and $k$ stand for $q / \sqrt[4]{d_k}$ and $k /
# \sqrt[4]{d_k}$ from here on, so that the scale is in them. Linear attention drops it.) Suppose this kernel were a product $\phi(q)^\top
# \phi(k)$ of **features**, $m$ numbers each. Then $\phi(q_t)$ could be taken out of the sum {cite}`katharopoulos2020transformers`:
#
# $$
# c_t = \frac{\sum_s \phi(q_t)^\top \phi(k_s)\, v_s}{\sum_s \phi(q_t)^\top \phi(k_s)}
#     = \frac{\left(\sum_s \phi(k_s)\, v_s^\top\right)^\top \phi(q_t)}{\left(\sum_s \phi(k_s)\right)^\top \phi(q_t)} .
# $$ (eq-linear-attention)
#
# On the right, the sums don't know of $t$: they are made once for all queries. If the future is masked, they go up to $t$ only, and grow by
# one summand a step. Then they are the state of a recurrent network,
#
# $$
# \begin{aligned}
# S_t &= S_{t-1} + \phi(k_t)\, v_t^\top, \\
# z_t &= z_{t-1} + \phi(k_t), \\
# c_t &= \frac{S_t^\top \phi(q_t)}{z_t^\top \phi(q_t)} .
# \end{aligned}
# $$ (eq-recurrent-attention)
#
# **Linear attention** chooses some positive $\phi$, such as $\operatorname{elu}(x) + 1$, and gives up the exponential. The **Performer**
# keeps the exponential, and estimates it {cite}`choromanski2021rethinking`. For random directions $\omega \sim \mathcal N(0, I)$,
#
# $$
# \exp(x^\top y) = \mathbb E_\omega \left[ e^{\omega^\top x - |x|^2/2} \; e^{\omega^\top y - |y|^2/2} \right] ,
# $$ (eq-favor)
#
# for $\mathbb E\, e^{\omega^\top u} = e^{|u|^2 / 2}$; put $u = x + y$, and $|x + y|^2 = |x|^2 + |y|^2 + 2 x^\top y$. So with $m$ of them,
# $\phi(x)_i = e^{\omega_i^\top x - |x|^2/2} / \sqrt m$ gives products that are right on average. These features are positive, and the
# directions are drawn **orthogonal** to each other; hence the name FAVOR+, for fast attention via positive orthogonal random features.
#
# **Tiles.** A softmax needs the sum of a whole row. But the sum can be found while the scores pass by, a tile $x$ of them at a time
# {cite}`milakov2018online`. Keep three things: the maximum $m$ so far (no number of features here), the sum $\ell = \sum_j e^{x_j - m}$,
# and $a = \sum_j e^{x_j - m} v_j$. The maximum is taken off so that no exponential overflows. At first $m = -\infty$, $\ell = 0$ and
# $a = 0$. A new tile of scores $x$ with values $v$ gives
#
# $$
# \begin{aligned}
# m' &= \max(m, \max_j x_j), \\
# \ell' &= e^{m - m'} \ell + \sum_j e^{x_j - m'}, \\
# a' &= e^{m - m'} a + \sum_j e^{x_j - m'} v_j ,
# \end{aligned}
# $$ (eq-online-softmax)
#
# and at the end $c = a / \ell$. Nothing is approximated. FlashAttention {cite}`dao2022flashattention` does this in one fused function, within a
# GPU's fast memory. On the way back it computes the scores anew, so that the weights need not be stored.
#
# What we expect, for a head of width $d$, where $w$, $m$ and $\sqrt T$ are small beside $T$. (Where they are not, a form may cost more than
# full attention, as a window of 64 will at 128 positions.)
#
# | form | work | memory | exact? |
# | --- | --- | --- | --- |
# | full | $T^2 d$ | $T^2$ | yes |
# | window, BigBird | $T w d$ | $T w$ | no: a pattern |
# | strided, fixed | $T \sqrt T d$ | $T \sqrt T$ | no: a pattern |
# | Linformer | $T m d$ | $T m$ | no: low rank |
# | Performer | $T m d$ | $T m$ | no: an estimate |
# | linear attention | $T d^2$ | $T d$ | no: another function |
# | tiles | $T^2 d$ | $T d$ | yes |
#
# | symbol | shape | meaning |
# | --- | --- | --- |
# | $q_t$, $k_s$, $v_s$ | (B, h, T, $d_k$), (B, h, S, $d_k$), (B, h, S, $d_v$) | query, key, value |
# | $w$, $l$ | | positions that a window reaches to one side; stride |
# | $E$, $F$ | (m, S) | mixtures of positions |
# | $\phi(q)$, $\phi(k)$ | (B, h, T, m), (B, h, S, m) | features |
# | $S_t$, $z_t$ | (B, h, m, $d_v$), (B, h, m) | the state of linear attention |
# | $\omega$ | (m, $d_k$) | random directions |
# | $m$ | | mixtures (Linformer), features (kernels); with tiles, the running maximum |
# | $\ell$, $a$ | (B, h, T), (B, h, T, $d_v$) | sums of an online softmax |

# %% [markdown]
# ## By hand
#
# *8 minutes.* First the online softmax. One query has four scores, and each key's value is one number. They come in two tiles of two. Take
# a pencil: what is the maximum after the first tile, and what are $\ell$ and $a$?

# %%
x, v = torch.tensor([1.0, 3.0, 2.0, 5.0]), torch.tensor([4.0, 0.0, 8.0, 2.0])
m, total, summed = torch.tensor(-torch.inf), torch.tensor(0.0), torch.tensor(0.0)
for tile in (slice(0, 2), slice(2, 4)):
    new = torch.maximum(m, x[tile].max())
    weights = (x[tile] - new).exp()
    total = (m - new).exp() * total + weights.sum()
    summed = (m - new).exp() * summed + weights @ v[tile]
    m = new
    print(f"m {m:.0f}, sum {total:.4f}, values {summed:.4f}, context so far {summed / total:.4f}")

# %% [markdown]
# In the second tile the maximum rises from 3 to 5. What was summed so far is too large by $e^2$, and is scaled down. The softmax of all
# four at once gives the same:

# %%
print(f"{x.softmax(0) @ v:.4f}")

# %% [markdown]
# Then the order of a product. Three positions have features of two numbers, and values of one.

# %%
phi_q = torch.tensor([[1.0, 2.0], [0.0, 1.0], [3.0, 1.0]])
phi_k = torch.tensor([[1.0, 0.0], [2.0, 1.0], [0.0, 1.0]])
v = torch.tensor([[1.0], [2.0], [3.0]])
print("all pairs first:     ", (phi_q @ phi_k.T).tolist(), "→", (phi_q @ phi_k.T @ v).tolist())
print("keys and values first:", (phi_k.T @ v).tolist(), "→", (phi_q @ (phi_k.T @ v)).tolist())

# %% [markdown]
# The same three numbers. On the way, the first order makes $T \times T = 9$ numbers, the second makes 2, and would for a million positions.
# These sums have still to be divided. Put a 1 behind each value, and what becomes of the ones is the divisor of {eq}`eq-linear-attention`:

# %%
sums = phi_q @ (phi_k.T @ torch.cat([v, torch.ones(3, 1)], dim=1))
print(sums.tolist(), "→", [round(number, 4) for number in (sums[:, 0] / sums[:, 1]).tolist()])

# %% [markdown]
# ## Build it
#
# *24 minutes.* Much code follows, and you need not read all of it. Read the window's four lines, the three forms of linear attention, and the
# tiles. What begins with `check` only raises errors.
#
# ### Fewer pairs: a window
#
# How can a band of pairs be computed without the rest? In **blocks**. Cut the sequence into blocks as long as the window reaches, here 2.
# Then all that a query may see lies in its own block, in the one before, and in the one behind.

# %%
positions = torch.arange(8.0).view(1, 1, 8, 1)  # (B, h, T, d): each holds its own number
queries = blocks.to_blocks(positions, 2)  # (B, h, n, size, d)
keys = blocks.neighbours(positions, 2, is_causal=False)  # (B, h, n, 3 · size, d)
for i in range(4):
    print(queries[0, 0, i, :, 0].int().tolist(), "may see", keys[0, 0, i, :, 0].int().tolist())

# %% [markdown]
# Outside of the sequence the blocks are filled with zeros. Not all of the six keys are near enough for both queries, and the filling is no
# key at all. A small mask says so, one for each block.

# %%
everything = torch.ones(1, 8, dtype=torch.bool)  # (B, S): no padding
mask = blocks.neighbours_mask(2, 2, False, everything)  # (B, 1, n, size, 3 · size)
print(mask[0, 0, 0].int().tolist(), mask[0, 0, 1].int().tolist(), sep="\n")

# %% [markdown]
# Then attention within blocks is Day 5's, with one axis more. Scores are $n \cdot w \cdot 3w = 3wT$ numbers for $n = T / w$ blocks; up
# to a third of them is masked away, which is the price for large products. (Exercise 7.5 has another way.) In four lines:

# %%
q, k, v = heads(8, d=2)
near_keys, near_values = (blocks.neighbours(x, 2, is_causal=False) for x in (k, v))
contexts = blocks.attend(blocks.to_blocks(q, 2), near_keys, near_values, mask)
in_blocks = blocks.from_blocks(contexts, 8)
torch.testing.assert_close(in_blocks, blocks.attend(q, k, v, efficient.window_mask(8, 2)))

# %% [markdown]
# That is the whole idea. The function below adds causality, padding, and **global** positions, which are keys for all
# blocks, and queries for all keys. (The Longformer's paper gives them projections of their own; here they share the others'.)

# %%
show_source(efficient.window_attention)

# %%
with_window = partial(efficient.window_attention, window=64)
of_window = {T: cost(with_window, T) for T in lengths}
grows_linearly = exponent([512, 1024], [of_window[T][0] for T in (512, 1024)])
observe(
    "From 512 to 1024 positions the work of a window of 64 grows with an exponent between 0.9 and 1.1; at 1024 it is "
    "under half of full attention's.",
    0.9 < grows_linearly < 1.1 and of_window[1024][0] < 0.5 * of_full[1024][0],
    {"exponent": f"{grows_linearly:.2f}"}
    | {f"share at {T}": f"{of_window[T][0] / of_full[T][0]:.0%}" for T in lengths},
)

# %% [markdown]
# ### Longer steps, and chance
#
# *Beyond the core path, up to the next heading.* With windows alone, news from far comes through many layers. The Sparse Transformer
# {cite}`child2019generating` adds keys at a distance. Write the sequence in rows of length $l$: a query sees its neighbours, and its
# column.

# %%
rows_of_four = blocks.to_blocks(torch.arange(12.0).view(1, 1, 12, 1), 4)  # (1, 1, 3, 4, 1)
print("rows   ", rows_of_four[0, 0, :, :, 0].int().tolist())
print("columns", rows_of_four.transpose(2, 3)[0, 0, :, :, 0].int().tolist())

# %% [markdown]
# So the second half of the pattern is attention within columns, which is a transposition away. With $l = \sqrt T$ each query has about
# $2\sqrt T$ neighbours (causally half of them) and $\sqrt T$ in its column. The paper gives the two halves to blocks in turn, to different heads, or to
# one head that sees both; we do the last.

# %%
show_source(efficient.strided_attention)

# %% [markdown]
# Where the data has no natural rows, the paper has a **fixed** pattern instead: the own block, and of each block its last positions, which
# are to sum it up.

# %%
show_source(efficient.fixed_attention)

# %% [markdown]
# BigBird {cite}`zaheer2020bigbird` has a window, global positions, and random ones, all in whole blocks, so that the products stay large.
# Why random? In a graph where everyone knows a few others by chance, the way from anyone to anyone is short. In two layers a position
# reaches all positions by way of a global one anyhow.

# %%
show_source(efficient.bigbird_attention)

# %% [markdown]
# How far do two layers reach? We follow the patterns with matrices of ones and zeros: two steps are a product.


# %%
def reached(pattern: torch.Tensor, layers: int) -> float:
    """Share of pairs (query, key) that are connected through so many layers."""
    connected = torch.linalg.matrix_power(pattern.double(), layers) > 0
    return connected.double().mean().item()


drawn = {
    "window": efficient.window_mask(256, 16),
    "strided": efficient.strided_mask(256, 16),
    "fixed": efficient.fixed_mask(256, 16),
    "bigbird": efficient.bigbird_mask(256, 8),
}
reach = {name: [reached(pattern, n) for n in (1, 2)] for name, pattern in drawn.items()}
rows = [[name, *(f"{share:.0%}" for share in shares)] for name, shares in reach.items()]
table(rows, ["pattern, 256 positions", "pairs in one layer", "connected in two"])

# %% [markdown]
# A window connects its neighbourhood only, which grows by $w$ with each layer. The other three connect every pair within two layers, BigBird by its global block alone. That
# news *can* travel does not mean that a network learns to send it; we will measure that.
#
# ### Fewer keys
#
# The Linformer {cite}`wang2020linformer` mixes positions. A row of $E$ says how much of each position goes into one mixture. If a row has a
# single 1, the mixture is a key; if it has equal weights on a block, it is the block's mean. We look at six positions and two mixtures.

# %%
E = torch.tensor([[1.0, 0, 0, 0, 0, 0], [0, 0, 0, 1 / 3, 1 / 3, 1 / 3]])  # (m, S)
key = torch.arange(12.0).view(6, 2)  # (S, d_k)
print(key.tolist(), "→", (E @ key).tolist())

# %% [markdown]
# In the layer $E$ and $F$ are learned, and have a column for each position of the longest sequence. Each mixture holds all positions, the
# future among them. So there is no causal form, and no way to generate text with it.

# %%
show_source(efficient.Linformer)

# %% [markdown]
# ### Another order: linear attention
#
# Now {eq}`eq-linear-attention`. First the features. Katharopoulos and others take $\operatorname{elu}(x) + 1$: positive, and growing.

# %%
show_source(kernelised.elu_features)

# %% [markdown]
# Then three forms of the same sum. The first makes the sums once, for all queries. (The divisor comes along as the value of a 1, as by hand.)

# %%
show_source(kernelised.parallel_form)

# %% [markdown]
# With the future masked, each query needs sums of its own. The second form steps along, as an RNN does. Its state is of one size, however
# long the text is: such a model can generate forever, in the same memory.

# %%
show_source(kernelised.recurrent_step)

# %% [markdown]
# But steps wait for each other, and that is what we left the RNN for. The third form is a compromise: whole **chunks** at a time. Within a
# chunk it makes the weights, as full attention does; what came before is in a sum.

# %%
show_source(kernelised.chunked_form)

# %% [markdown]
# Four positions with the features that we had by hand, and one more. Do the forms agree, when the future is masked?

# %%
phi_q, phi_k = (torch.cat([phi, torch.ones(1, 2)])[None, None] for phi in (phi_q, phi_k))
values = torch.tensor([[1.0], [2.0], [3.0], [4.0]])[None, None]
for name, form in (
    ("all pairs", partial(efficient.quadratic_form, is_causal=True)),
    ("recurrent", efficient.recurrent_form),
    ("chunks of 2", partial(efficient.chunked_form, chunk=2)),
):
    print(f"{name:12}", [round(c, 4) for c in form(phi_q, phi_k, values).flatten().tolist()])

# %% [markdown]
# ### Features that estimate the exponential
#
# *Beyond the core path, up to the next heading.* $\operatorname{elu} + 1$ makes another function of the scores, and a blunt one: it can't
# put nearly all weight on one key. The Performer wants the exponential itself. We try {eq}`eq-favor`, for two short vectors.

# %%
x, y = torch.tensor([0.5, -0.3, 0.2, 0.1]), torch.tensor([0.4, 0.2, -0.1, 0.6])
generator = torch.Generator().manual_seed(0)
for m in (10, 1000, 100_000):
    omega = torch.randn(m, 4, generator=generator)
    phi_x, phi_y = (efficient.log_features(vector, omega).exp() for vector in (x, y))
    print(f"{m:6} directions: {phi_x @ phi_y:.2f}; exp(x·y) is {(x @ y).exp():.2f}")

# %%
show_source(kernelised.log_features)

# %% [markdown]
# Each direction that is orthogonal to the others tells something new, so the estimate varies less. In $d_k$ dimensions there are $d_k$ such
# directions; more are drawn in groups.

# %%
show_source(efficient.orthogonal_directions)

# %% [markdown]
# A layer has one more trouble. For large $x$, $e^{\omega^\top x - |x|^2 / 2}$ is far too large or too small for single precision. What is
# subtracted from the exponent has to cancel in the quotient: one number for each query, or one for each *feature* of all keys. One for each
# key would change the weights.

# %%
show_source(efficient.Performer)

# %% [markdown]
# ### All pairs, a tile at a time
#
# The last form changes nothing but the order of the work. For each block of queries it walks along the keys, with {eq}`eq-online-softmax`.
# Read `forward`. (`torch.autograd.Function` is how PyTorch takes a gradient that is written by hand: `ctx` carries to `backward` what is to be
# kept.)

# %%
show_source(efficient.TiledAttention)

# %% [markdown]
# *Beyond the core path, this paragraph.* What autograd would keep for the way back is every tile. So the gradient is written by hand, and makes
# the tiles anew. It needs one number for each row, $\lambda = \log \sum_s e^{x_s}$, from which any weight follows: $p_s = e^{x_s - \lambda}$.
# If $\dot c$ arrives at the context, $g_s = \dot c^\top v_s$ arrives at weight $s$, and a softmax hands on $p_s (g_s - \sum_r p_r g_r)$. That
# sum needs no tile: $\sum_r p_r\, \dot c^\top v_r = \dot c^\top c$.
#
# In plain PyTorch this is a model of FlashAttention, not its speed. Each tile makes a round trip through main memory here; the point of the
# original is that it does not. The library has such a fused function (people say *kernel* for this, too), for processors as well: since Day
# 5 our layers have used `F.scaled_dot_product_attention` whenever nobody asks for the weights.

# %%
with_tiles = partial(efficient.tiled_attention, tile=64)
bytes_at = {
    "full": of_full[1024][1],
    "tiles": cost(with_tiles, 1024)[1],
    "the library's kernel": cost(F.scaled_dot_product_attention, 1024)[1],
}
observe(
    "At 1024 positions full attention holds over 8 MB at once; tiles, and the library's kernel, under a fifth of it.",
    bytes_at["full"] > 8e6
    and 5 * max(bytes_at["tiles"], bytes_at["the library's kernel"]) < bytes_at["full"],
    {name: f"{held / 1e6:.2f} MB" for name, held in bytes_at.items()},
)

# %% [markdown]
# ### Nothing twice: a cache
#
# A language model writes symbol by symbol. Each new symbol asks all earlier ones, so their keys and values are needed again at every step.
# They never change, since no position sees the future. So they are kept. Yesterday's decoder did that already, in its state, and copied all that
# it held at each step. `KVCache` takes its memory once. A layer of attention takes one (`cache=`), a decoder's `read` takes one for each block.

# %%
show_source(efficient.KVCache)

# %% [markdown]
# The cache has a price: it is what fills the memory when text is generated. One can make it smaller if several heads of queries share one
# head of keys and values, all of them (**multi-query** attention {cite}`shazeer2019fast`) or groups (**grouped-query**
# {cite}`ainslie2023gqa`). Day 5's layer can do it already; `n_kv_heads` says how many heads of keys and values there are. We count the
# bytes for 1,000 positions, a width of 512 and 8 heads.


# %%
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
    ["attention", "heads of keys", "bytes a layer"],
)

# %% [markdown]
# ### Into the blocks
#
# Last, the forms in Day 5's layer. Between its projections it calls what it was given as `attend`. A form takes other arguments than
# `dot_product_attention`, so here is a translation.

# %%
show_source(efficient.FormAttention)

# %% [markdown]
# `use_form` exchanges the attention of all blocks of a model. The weights stay where they are.

# %%
show_source(efficient.use_form)

# %% [markdown]
# ## Is it right?
#
# *5 minutes.* First a loop, as {eq}`eq-full-attention` has it, with the sums over a window. Lengths and widths all differ, and 23 positions
# are no multiple of the window.

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
# Then every sparse form against full attention under the mask of its pattern: contexts, and gradients by query, key and value. Causal, and not.

# %%
q, k, v = (x.requires_grad_() for x in heads(37, d=6, dtype=torch.float64))


def gap(ours, theirs) -> float:
    """Largest difference of two contexts, and of their gradients by q, k and v."""
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
assert max(gaps) < 1e-10
print("equal to full attention under the pattern's mask, with gradients:", len(gaps), "cases")

# %% [markdown]
# The tiles against the library's kernel, forward and backward, also where queries and keys are of two lengths and where a sequence is padded.

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
tiles_are_exact = max(of_tiles) < 1e-10
print("tiles equal the library's fused attention, with gradients:", tiles_are_exact)

# %% [markdown]
# The forms of linear attention against each other. And the Linformer: if $E$ and $F$ are the identity, each mixture is a key, and it has to
# be full attention.

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
forms_agree = max(of_forms) < 1e-10
print("parallel, chunked and recurrent form agree, with gradients:", forms_agree)

# %%
linformer = efficient.Linformer(max_len=37, n_features=37).double()
with torch.no_grad():
    for mixture in (linformer.E, linformer.F):
        mixture.copy_(torch.eye(37))
assert gap(linformer(q, k, v), blocks.attend(q, k, v)) < 1e-10

# %% [markdown]
# The Performer is right on average only. We come back to it when we look inside.
#
# ### A cache, at every split
#
# A small decoder reads 24 symbols at once. Then it reads the first $n$ into a cache, and the rest one by one; for each $n$. The logits have
# to be the same. Positions are rotary, and two heads of queries share one of keys.

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


# %%
with torch.no_grad():
    whole, _ = writer(ids)
splits = [(cached(n) - whole).abs().max().item() for n in range(1, 24)]
cache_is_exact = max(splits) < 1e-10
print("cached and uncached logits agree at all", len(splits), "splits:", cache_is_exact)

# %% [markdown]
# ### No pairs in hiding
#
# Does a form really not make a tensor $(T, T)$ somewhere? At 4096 positions such a tensor has 67 MB. All forms stay below
# half of it.

# %%
thrifty = {
    "window": with_window,
    "strided": partial(efficient.strided_attention, stride=64),
    "fixed": partial(efficient.fixed_attention, stride=64),
    "bigbird": partial(efficient.bigbird_attention, block=32),
    "linformer": efficient.Linformer(4096, 64),
    "performer": efficient.Performer(64, 64),
    "linear": efficient.linear_attention,
    "tiled": partial(efficient.tiled_attention, tile=512),
}

# %%
q, k, v = heads(4096)
with torch.no_grad():
    peaks = {name: peak_bytes(partial(form, q, k, v)) for name, form in thrifty.items()}

observe(
    "At 4096 positions no form holds half of the 67 MB of one tensor (T, T).",
    max(peaks.values()) < 4 * 4096**2 / 2,
    {name: f"{peak / 1e6:.1f} MB" for name, peak in peaks.items()},
)

# %% [markdown]
# ## Train it
#
# *10 minutes.* What are the cheap forms worth? A form that computes less is no bargain if the network can't do its work any more. We need
# tasks that tell them apart, and a baseline: full attention, in the same small Transformer, with the same training. The first task is
# **recall** {cite}`arora2024zoology`. Of 128 positions, half hold a pair: a key, and a value that belongs to it in this sequence only. The
# other half hold a key, and ask for its value. Where the answer stands is drawn by chance.

# %%
ids, target, apart = associative_recall(2, 8, seed=0)
for (key, said), value, distance in zip(ids[0].tolist(), target[0].tolist(), apart[0].tolist()):
    asked = said == 4 + 8  # four keys, eight values, and the blank
    answer = f"it is {value}, told {distance} positions away" if asked else ""
    print(f"key {key}", f"is asked for ({answer})" if asked else f"has the value {said - 4}")

# %% [markdown]
# The model sees both directions, so the answer may come after the question. (In the paper's task it comes before, and key and value stand
# at positions of their own.) In the real task there are 64 keys and 8 values.
#
# The model sums the embeddings of what stands at a position, adds sinusoidal positions, and sends it through two of yesterday's blocks.

# %%
show_source(Tagger)

# %% [markdown]
# It is trained for 150 steps, on 16 sequences each; it sees every sequence once. Then it answers in new ones.


# %%
def recaller(form=None, seed: int = 0) -> Tagger:
    """A small Transformer, trained for 150 steps to recall, from among 128 positions."""
    torch.manual_seed(seed)
    sizes = {"d_model": 64, "n_heads": 2, "d_ff": 128, "n_layers": 2, "norm": "pre"}
    model = Tagger(TransformerConfig(64 + 9, dropout=0.0, **sizes), n_classes=8)
    if form is not None:
        efficient.use_form(model, lambda number: form)
    train_tagger(model, *associative_recall(16 * 150, 128, seed)[:2], seed=seed)
    return model.eval()


full = recaller()
test = associative_recall(256, 128, seed=1000)


# %%
@torch.no_grad()
def recalled(model) -> float:
    """Share of the questions in the test sequences that a model answers right."""
    ids, target, _ = test
    return (model(ids).argmax(-1) == target)[target != IGNORE_INDEX].double().mean().item()


observe(
    "With full attention over 95 % of the answers are right; by chance it would be one in eight.",
    recalled(full) > 0.95,
    {"right": f"{recalled(full):.1%}"},
)

# %% [markdown]
# Now the same with a window of 16, so that each query sees 33 keys, of 128. This is one member of a stored experiment; we train it
# here, and compare.

# %%
now, stored = experiments.live("efficient_quality", method="window", task="recall", seed=0)
far_now, near_now = now["right by distance"][-1], now["right by distance"][0]
observe(
    "With a window over 80 % of the answers are right up to 16 positions away, and under 25 % from 97 on: near what is stored.",
    near_now > 0.8 and far_now < 0.25 and abs(now["right"] - stored["right"]) < 0.1,
    {"near": f"{near_now:.0%}", "far": f"{far_now:.0%}"}
    | {"all": f"{now['right']:.1%}", "stored": f"{stored['right']:.1%}"},
)

# %% [markdown]
# And linear attention, trained alike?

# %%
early = recalled(recaller(efficient.linear_attention))
observe(
    "After the same 150 steps, with linear attention under a quarter of the answers are right.",
    early < 0.25,
    {"right": f"{early:.1%}"},
)

# %% [markdown]
# That is hardly more than chance. Can't it, or has it not learned yet? These are two questions, and a short training does not tell them apart.
# So in the stored experiment the forms that see all positions, the Linformer, the Performer and linear attention, train on recall for three
# times as many steps. (A pattern gets no more: what it doesn't see, it can't learn to answer.)
#
# There are eight forms, three seeds, and a second task. In **count**, every position is to say which of eight symbols is the most frequent in
# its sequence; by chance it would be right in one of eight. One has to look at everything, but at nothing exactly. Count has 180 steps with
# each form. A window, strides and the fixed pattern leave most queries 30 to 33 keys to compare with, BigBird 40, and the Linformer has 32
# mixtures. The Performer has 64 features, linear attention 32, as many as a head has numbers.

# %%
quality = experiments.load("efficient_quality")
METHODS = quality.parameters["method"]


def over_seeds(column: str, method: str, task: str) -> tuple[float, float, float]:
    """Mean, lowest and highest over three seeds."""
    return quality.spread(column, method=method, task=task)


def as_range(column: str, method: str, task: str) -> str:
    """Lowest and highest over three seeds, in percent."""
    _, low, high = over_seeds(column, method, task)
    return f"{100 * low:.0f} to {100 * high:.0f}"


# %%
steps = {name: quality.select(method=name, task="recall")[0]["steps"] for name in METHODS}
table(
    [
        [name, steps[name], *(as_range("right", name, task) for task in ("recall", "count"))]
        for name in METHODS
    ],
    ["attention", "steps of recall", "recall, % right", "count, % right"],
)

# %%
best = {task: over_seeds("right", "full", task)[0] for task in ("recall", "count")}
lost = {name: best["count"] - over_seeds("right", name, "count")[0] for name in METHODS}
recalls = {name: over_seeds("right", name, "recall") for name in METHODS}
patterns, all_seeing = METHODS[1:5], METHODS[5:]
observe(
    "With linear attention over 80 % of the answers are right in every seed, with the Performer fewer, and with all others "
    "but full attention under half. In count, the forms that see all positions lose under 5 points on average, and the patterns more.",
    recalls["linear"][1] > max(0.8, recalls["performer"][2])
    and max(recalls[name][2] for name in ("linformer", *patterns)) < 0.5
    and max(lost[name] for name in all_seeing) < 0.05 < min(lost[name] for name in patterns),
    {f"count, {name} loses": f"{100 * points:.1f} points" for name, points in lost.items()},
)

# %% [markdown]
# So linear attention can recall. It learns later than full attention, and at 150 steps we would have said that it can't. Its state has one size,
# and the 64 pairs of such a sequence fit into it, nearly all. Whether what is left would come with still more steps, and what the Performer would
# reach, we did not try.
#
# What do the patterns' numbers say? A question can be answered if the query sees the key that it needs; else it can be guessed, one of eight.
# We count the pairs.

# %%
masks = {
    "window": efficient.window_mask(128, 16),
    "strided": efficient.strided_mask(128, 12),
    "fixed": efficient.fixed_mask(128, 16, n_summary=2),
    "bigbird": efficient.bigbird_mask(128, 8, seed=0),
}
others = ~torch.eye(128, dtype=torch.bool)  # no question is its own answer
seen = {name: mask[others].double().mean().item() for name, mask in masks.items()}
rows = [[name, mask.sum(1).median().item(), f"{seen[name]:.0%}"] for name, mask in masks.items()]
table(rows, ["pattern, 128 positions", "keys of most queries", "other positions seen, on average"])

# %%
bound = {name: share + (1 - share) / 8 for name, share in seen.items()}
observe(
    "Each pattern answers what it sees, and guesses the rest: its best seed is within 2 points of that.",
    all(abs(recalls[name][2] - bound[name]) < 0.02 for name in masks),
    {name: f"{recalls[name][2]:.1%}, expected {bound[name]:.1%}" for name in masks},
)

# %% [markdown]
# So a pattern is not good or bad at recall. It sees a quarter of the pairs, or a third (BigBird), and no second layer made up for the others.
#
# Mind what all these numbers are. The models are small; one learning rate was chosen with full attention, and all forms got it; another seed
# draws other weights *and* other data. Only full attention, in recall, is trained to the end. With longer training other gaps may close, or open.
#
# Where is the answer, when a form misses it? The share of right answers in recall by the distance between question and answer:

# %%
EDGES = (1, 17, 33, 49, 65, 97, 128)  # as in the experiment
middles = [(a + b - 1) / 2 for a, b in zip(EDGES, EDGES[1:])]


shown = ("full", "window", "strided", "bigbird", "performer", "linear")
rings = {name: quality.column("right by distance", method=name, task="recall") for name in shown}

# %% mystnb={"figure": {"caption": "Share of right answers in recall, by the distance between question and answer: mean and range over three seeds (stored experiment `efficient_quality`). One in eight is chance.", "name": "fig-distance"}, "image": {"alt": "Six lines over the distance, from about 10 to 110 positions. Full attention stays at one. The window begins at one and drops to chance beyond its reach. Strided and BigBird begin at 0.8; strided falls to about 0.2, BigBird to 0.3 and rises to one half at the end. The Performer is flat near one half, linear attention flat above 0.9."}}
lines = {name: (middles, three) for name, three in rings.items()}
ax = curves(lines, "positions between question and answer", "share right")
ax.axhline(1 / 8, color=INK, lw=1, ls="--")
ax.set(ylim=(0, 1.05))
ax.legend(loc="upper right", bbox_to_anchor=(1, 0.86), ncols=3)
plt.show()

# %%
means = {name: [fmean(ring) for ring in zip(*three)] for name, three in rings.items()}
near, far = ({name: mean[end] for name, mean in means.items()} for end in (0, -1))
observe(
    "Up to 16 positions away the window answers over 90 %, and from 97 on under 20 %; at every distance full attention "
    "answers over 99 %, and linear attention over 80 %.",
    near["window"] > 0.9
    and far["window"] < 0.2
    and min(means["full"]) > 0.99
    and min(means["linear"]) > 0.8,
    {name: f"{near[name]:.0%} near, {far[name]:.0%} far" for name in shown},
)

# %% [markdown]
# In {numref}`fig-distance` each pattern fails in its own way. A window is right within its reach, and blind beyond it. (Two layers could carry
# news twice as far, but hardly everything that might be asked for.) Strided attention sees some distances always, up to 12 and the
# multiples of 12, and the others never; BigBird sees some pairs of each distance. (Its global block is the first, so it helps most where
# question and answer are at the two ends.) The Performer and linear attention sum up everything, wherever it stands. So what they miss, they
# miss at all distances alike.

# %% [markdown]
# ## Look inside
#
# *6 minutes.* Are attention maps really of low rank, as the Linformer assumes? And, beyond the core path: when is the Performer's estimate good?
#
# ### The rank of a map
#
# The weights of a head on a sequence are a matrix $(T, T)$, a **map**. A map of rank $m$ is a product of two thin matrices, $(T, m)$ and
# $(m, T)$. If few of its singular values are large (Day 2 had the largest: how far a matrix stretches), such a product comes near it. The Linformer's paper plots, for a trained model, which share of the sum of all singular values the largest ones
# have {cite}`wang2020linformer`. We do the same for our trained models, and ask beside it how it is where nothing was learned: in the same
# model before training, and for maps that are drawn by chance ({numref}`fig-rank`).


# %%
@torch.no_grad()
def largest_values(weights: torch.Tensor) -> list[float]:
    """Share of the n largest singular values in their sum, the mean over maps (…, T, T)."""
    values = torch.linalg.svdvals(weights).flatten(0, -2)  # (maps, T)
    return (values.cumsum(-1) / values.sum(-1, keepdim=True)).mean(0).tolist()


torch.manual_seed(0)
fresh = Tagger(full.encoder.blocks[0].config, n_classes=8).eval()
with torch.no_grad():
    _, untrained = fresh(test[0][:16], need_weights=True)
drawn_maps = (4 * torch.randn(16, 128, 128)).softmax(-1)
spectra = {"untrained": largest_values(untrained), "by chance, sharp": largest_values(drawn_maps)}

# %%
for task, block in (("recall", 1), ("recall", 2), ("count", 1)):
    rows = quality.select(method="full", task=task)
    by_seed = zip(*(row[f"largest values, {block}"] for row in rows))
    spectra[f"{task}, block {block}"] = [sum(shares) / len(rows) for shares in by_seed]

# %% mystnb={"figure": {"caption": "Which share of the sum of a map's 128 singular values the largest ones have: trained models (mean over three seeds, stored experiment `efficient_quality`), an untrained model, and maps drawn by chance.", "name": "fig-rank"}, "image": {"alt": "Five rising curves. Those of the untrained model, of count and of recall in the second block rise steeply; those of recall in the first block and of maps drawn by chance slowly."}}
lines = {name: (range(1, 129), values) for name, values in spectra.items()}
ax = curves(lines, "singular values, largest first", "share of their sum")
ax.legend(loc="lower right")
plt.show()

# %%
at_32 = {name: values[31] for name, values in spectra.items()}
needed = {name: 1 + sum(share < 0.9 for share in values) for name, values in spectra.items()}
observe(
    "The 32 largest of 128 singular values have over 80 % of the sum before training, over 90 % after learning to count, "
    "and under 70 % in the first block after learning to recall. Untrained, the first alone has a quarter or more.",
    at_32["untrained"] > 0.8
    and at_32["count, block 1"] > 0.9
    and at_32["recall, block 1"] < 0.7
    and 0.25 < spectra["untrained"][0] < 0.42,
    {"the first value, untrained": f"{spectra['untrained'][0]:.0%}"}
    | {f"{name}": f"{share:.0%} (90 % take {needed[name]})" for name, share in at_32.items()},
)

# %% [markdown]
# An untrained head looks at everything nearly alike, so that all rows are alike, and that is a map of rank one, plus noise: the first value alone has about a third of the sum. To
# count, nothing more is needed. To recall, each position has to look at another one, and in the first block the rank *rises* in training;
# in the second it falls. So a low rank is no sign of learning, nor a high one of failure: it depends on the task and the block.
#
# ### When the estimate is good
#
# *Beyond the core path, up to the next section.* First the kernel $\exp(x^\top y)$ alone. Fifty pairs of vectors in 16 dimensions have
# random directions, and all the same norm. For each pair, the estimate is divided by the true $\exp(x^\top y)$, so that 1 is right. We draw
# the directions a hundred times.

# %%
generator = torch.Generator().manual_seed(0)
pairs = F.normalize(torch.randn(2, 50, 16, generator=generator, dtype=torch.float64), dim=-1)


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


# %%
features = [16, 64, 256, 1024]
ratios = {norm: {m: estimates(norm, m) for m in features} for norm in (0.5, 1.0, 3.0)}
spread_of = {
    norm: [(by_m[m] - 1).square().mean().sqrt().item() for m in features]
    for norm, by_m in ratios.items()
}
by_norm = {norm: exponent(features, spread_of[norm]) for norm in (0.5, 1.0)}
bias = {norm: ratios[norm][64].mean().item() - 1 for norm in (0.5, 1.0)}
medians = {norm: ratios[norm][64].median().item() for norm in ratios}
independent = (estimates(1.0, 16, orthogonal=False) - 1).square().mean().sqrt().item()

# %%
observe(
    "For norms of 0.5 and 1 the mean of the estimates is within 5 % of the truth, and the error falls with an exponent "
    "between −0.4 and −0.65. At a norm of 3 half of the estimates are under a third of the truth.",
    all(abs(b) < 0.05 for b in bias.values())
    and all(-0.65 < power < -0.4 for power in by_norm.values())
    and medians[3.0] < 1 / 3,
    {f"exponent at norm {norm}": f"{power:.2f}" for norm, power in by_norm.items()}
    | {f"median at norm {norm}": f"{median:.2f}" for norm, median in medians.items()},
)

# %% [markdown]
# At a norm of 3 the mean is still right by {eq}`eq-favor`, but only in the way in which a lottery pays back its stakes: nearly all
# estimates are far too small, and a rare one is huge. The variance of a single feature says why; with $u = 2(x + y)$ in the same line of
# proof, it is $e^{|x + y|^2} - 1$ times the square of what is estimated. And how large are queries? With 64 numbers of variance 1, and
# after the division by $\sqrt[4]{d_k}$, their norm is about $8 / 2.8 = 2.8$.
#
# What a layer needs is the quotient in {eq}`eq-full-attention`, not the kernel. We compare contexts: 64 positions, all queries and keys of
# one norm (after the scale), and the error relative to the size of the exact contexts ({numref}`fig-performer`).

# %%
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

# %% mystnb={"figure": {"caption": "Relative error of the Performer's contexts, root mean square over 30 draws, by the number of features, for queries and keys of four norms. Both axes are logarithmic.", "name": "fig-performer"}, "image": {"alt": "Four lines. That for norm 0.5 falls straight, parallel to the grey line, that for norm 1 a little less steeply. Those for norm 2 and 4 lie above one at first; that for norm 2 falls slowly, that for norm 4 hardly at all."}}
lines = {f"norm {norm}": (features, [one for one, _ in errors[norm]]) for norm in norms}
ax = curves(lines, "features m", "relative error of the context", logx=True, logy=True)
root = [0.4 * (16 / m) ** 0.5 for m in features]
ax.plot(features, root, color="#777777", lw=1, ls="-", label="falls as 1/√m")
ax.legend(loc="upper center", ncols=3)
ax.set_ylim(top=10)
ax.set_xticks(features, features)
plt.show()

# %%
slopes = {norm: exponent(features, [one for one, _ in errors[norm]]) for norm in norms}
observe(
    "At a norm of 0.5 the contexts' error falls as m to the power −0.5, within 0.05; at a norm of 4 it is near 1 or above, "
    "even with 1024 features, and the power is above −0.1.",
    abs(slopes[0.5] + 0.5) < 0.05 and errors[4.0][-1][0] > 0.9 and slopes[4.0] > -0.1,
    {"error at norm 4, 1024 features": f"{errors[4.0][-1][0]:.2f}"}
    | {f"power at norm {norm}": f"{power:.2f}" for norm, power in slopes.items()},
)

# %% [markdown]
# An error of 1 is that of an answer of 0. So at a norm of 4 the estimate is no better than none, and more features hardly help; at 2 they
# begin to. The quotient of two unbiased estimates is not unbiased. And whether the error falls as promised depends on how long queries and
# keys are, which the network decides, not we: to look at one key sharply, they have to be long.

# %% [markdown]
# ## Where it breaks
#
# *7 minutes.* It would be convenient if a model that was trained with full attention could be used with a cheap form afterwards. `use_form`
# makes it easy to try. The weights stay; only what is between the projections is exchanged.

# %%
before = recalled(full)
efficient.use_form(full, lambda number: efficient.tiled_attention)
observe(
    "Tiles in place of full attention change nothing.",
    abs(recalled(full) - before) < 1e-3,
    {"before": f"{before:.1%}", "with tiles": f"{recalled(full):.1%}"},
)

# %% [markdown]
# And the forms that compute something else? The stored experiment has tried four of them, in its three models with full attention for each task.

# %%
cheap = ("window", "strided", "performer", "linear")
after = {
    (name, task): over_seeds(f"exchanged for {name}", "full", task)[0]
    for name in cheap
    for task in ("recall", "count")
}

# %%
rows = []
for name in cheap:
    row = [name]
    for task in ("recall", "count"):
        row += [as_range(f"exchanged for {name}", "full", task), as_range("right", name, task)]
    rows.append(row)
table(
    rows,
    ["form", "recall: exchanged, %", "trained with it", "count: exchanged, %", "trained with it"],
)

# %%
summing = ("performer", "linear")
observe(
    "In recall, the Performer and linear attention in place of full attention lose over 50 points; a window and strides "
    "answer what they do when trained, within 3. In count, the Performer and linear attention lose under 5, without any training.",
    max(after[name, "recall"] for name in summing) < best["recall"] - 0.5
    and all(abs(after[name, "recall"] - recalls[name][0]) < 0.03 for name in ("window", "strided"))
    and min(after[name, "count"] for name in summing) > best["count"] - 0.05,
    {f"{task}, {name}": f"{right:.0%} on average" for (name, task), right in after.items()},
)

# %% [markdown]
# So it depends on the task. A window and strides answer what they see, exchanged or trained. For the others we think it is this: to count, heads
# look at everything nearly alike, and there one positive weight is as good as another. To recall, a head puts nearly all its weight on one key
# by means of the exponential, and without the exponential it does not find that key any more. Linear attention has to learn a way of its own.
#
# What does each form cost, and give? Here is everything at once, from two worlds. The work and the bytes are
# those of one head, forward and backward, as a share of full attention's at 4096 positions (stored experiment `attention_costs`; `fixed`
# and `strided` have a stride of 64, everything else is 64 wide). How far the contexts are from full attention's is measured here, on the
# same random heads of 1024 positions. The last two columns are the small models' from above, which read 128 positions.

# %%
costs = experiments.load("attention_costs")
FORMS = costs.parameters["method"]
LENGTHS = costs.parameters["T"]


def column(name: str, method: str) -> list[float]:
    """A stored column of one form, by length."""
    return [costs.select(method=method, T=T)[0][name] for T in LENGTHS]


def relative(name: str, method: str, T: int) -> float:
    """A stored number of one form, as a share of full attention's."""
    of_form, of_full = (costs.select(method=m, T=T)[0][name] for m in (method, "full"))
    return of_form / of_full


# %%
torch.manual_seed(0)
q, k, v = heads(1024)
forms = thrifty | {
    "strided": partial(efficient.strided_attention, stride=32),
    "fixed": partial(efficient.fixed_attention, stride=32),
    "bigbird": partial(efficient.bigbird_attention, block=64),
    "linformer": efficient.Linformer(1024, 64),
    "fused": F.scaled_dot_product_attention,
}
with torch.no_grad():
    exact = blocks.attend(q, k, v)
    off = {
        name: ((form(q, k, v) - exact).norm() / exact.norm()).item() for name, form in forms.items()
    }


# %%
def as_trained(method: str) -> str:
    """The form that a quality was stored for: exact forms give what full attention gives."""
    return {"fused": "full", "tiled": "full"}.get(method, method)


def quality_of(method: str) -> list[str]:
    """What was reached with a form, on both tasks."""
    return [as_range("right", as_trained(method), task) for task in ("recall", "count")]


# %%
two_sided = [name for name in FORMS if "," not in name]  # not those that are causal
rows = []
for name in two_sided:
    shares = [relative(f"step_{what}", name, 4096) for what in ("work", "bytes", "seconds")]
    differs = f"{off.get(name, 0):.1f}"
    rows.append([name, *(f"{share:.3f}" for share in shares), differs, *quality_of(name)])
table(
    rows,
    ["form", "work", "bytes", "seconds", "off by", "recall, %", "count, %"],
)

# %% [markdown]
# The seconds are processor time on one thread of the machine that ran the experiment; other machines have others. "Off by" is relative to
# the size of the contexts: on random heads each form gives something else. (The Linformer's matrices are untrained here, and the
# Performer's queries have a norm of 2.8, where its estimate fails.) That is no verdict. What a network makes of a form after training is in
# the last columns. Tiles and the fused function do some more work than full attention, since they compute the scores twice
# (the fused function's by formula).
#
# Which form would one choose, then? What has to be kept decides which forms come into question; of these the quickest is chosen. For three
# needs and each length {numref}`fig-decision` names the form whose training step took the fewest seconds, among those that keep what is
# needed on average over three seeds. It is an example of how to decide, not a rule, for it joins what was not measured together: the
# quality is that of 128 positions, the seconds are those of the length below. A state that holds 64 pairs need not hold thousands
# (exercise 7.14 asks how many it holds). And in recall linear attention took three times as many steps. Lengths below 1024 are left out: there
# two measurements of one form differed as much as the forms do.


# %%
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


# %%
def quickest(need: tuple[str, int], T: int) -> tuple[str, float]:
    """The quickest form that keeps what is needed, and its seconds as a share of full attention's."""
    shares = {name: relative("step_seconds", name, T) for name in kept_by[need]}
    name = min(shares, key=shares.get)
    return name, shares[name]


long_ones = [T for T in LENGTHS if T >= 1024]
decision = {need: [quickest(need, T) for T in long_ones] for need in NEEDS}

# %% mystnb={"figure": {"caption": "Which form one would choose if the quality that was measured at 128 positions held at all lengths: the quickest of those that keep what is needed, in means over three seeds, by the length of the sequence; the number is its share of full attention's seconds in a training step (stored experiments `attention_costs` and `efficient_quality`).", "name": "fig-decision"}, "image": {"alt": "A table of three needs and four lengths. First row, recall within 5 points: full attention or the fused function, from about 1 down to 0.5. The two others, recall within 15 points and count: linear attention or the Linformer, from about 0.3 at 1024 positions down to about 0.014 at 8192."}}
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

# %%
chosen = {need: {name for name, _ in row} for need, row in decision.items()}
exact_forms = {"full", "fused", "tiled"}
observe(
    "Only exact forms keep recall within 5 points; within 15, linear attention does, too. For that and for count a cheaper "
    "form is the quickest at all these lengths, and at 8192 positions takes under a tenth of the seconds.",
    set(kept_by["recall", 5]) == exact_forms
    and set(kept_by["recall", 15]) == exact_forms | {"linear"}
    and not (chosen["recall", 15] | chosen["count", 5]) & exact_forms
    and max(decision[need][-1][1] for need in (("recall", 15), ("count", 5))) < 0.1,
    {f"{task} within {n}": ", ".join(sorted(chosen[task, n])) for task, n in NEEDS},
)

# %% [markdown]
# Read it by rows, and treat seconds within a quarter of each other as equal; they were measured once, and are rough. If hardly an answer may be
# wrong, then of what we trained only full attention will do, and the choice is between ways to compute it. If some may be wrong, or an overall
# impression will do, a form that sums everything up saves much, on long sequences. Whether that is linear attention or the Linformer, in count,
# neither our seconds nor our seeds decide.
#
# What do the cheap forms give up, in our small models? A pattern gives up what it does not look at, which is most of what is far; in recall that
# was lost. The Linformer hardly learned to recall at all, and the Performer half. Linear attention gave up little that we could measure, and paid
# with steps of training. But its state does not grow with the text. It holds nearly all of 64 pairs; from how many on it no longer would, we did
# not ask. Long texts are mostly read with full attention, in tiles and with a cache; or with windows, where they will do: one well-known language
# model looks back 4096 positions in each of its layers {cite}`jiang2023mistral`, and lets news travel from layer to layer.
#
# The lessons that follow are applications, with sequences of some hundred positions. There little is to be saved, and we will use what Day
# 6 built.

# %% [markdown]
# ## Claims, measured
#
# *9 minutes.* Nine sentences about long sequences, and what we found; three of them here, the others beyond the core path. First the growth, by the stored counts of a training step: the power
# of the length, from 1024 positions on.

# %%
long_enough = slice(LENGTHS.index(1024), None)
growth = {
    (name, what): exponent(LENGTHS[long_enough], column(f"step_{what}", name)[long_enough])
    for name in FORMS
    for what in ("work", "bytes")
}
rows = [[name, *(f"{growth[name, what]:.2f}" for what in ("work", "bytes"))] for name in FORMS]
table(rows, ["form", "power of work", "power of bytes"])

# %% mystnb={"figure": {"caption": "Operations, bytes and seconds of one head's training step, by the number of positions (stored experiment `attention_costs`). All axes are logarithmic.", "name": "fig-cost-growth"}, "image": {"alt": "Three panels, each with lines that rise to the right. In the first, full attention and tiles rise steeply together, the others flatter. In the second, full attention alone rises steeply, and the fused function and tiles lie lowest. In the third, tiles in plain PyTorch lie far above all others, full attention and the fused function rise as steeply below them, and the others are flatter."}}
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

# %% [markdown]
# In {numref}`fig-cost-growth` the line of full attention in the middle stands alone: the square of memory. (The bytes of strided and fixed
# patterns have a power below 1.5 as yet, since queries, keys and values, which are linear, still weigh more than the scores. And the fused
# function has one below 1, since it also takes memory that does not grow.)


# %%
def rnn_bytes(T: int) -> int:
    """Bytes that a training step of an RNN holds at once."""
    network, x = RNN(64, 64), torch.zeros(1, T, 64)
    return peak_bytes(lambda: network(x)[0].sum().backward())


of_rnn = exponent([256, 512], [rnn_bytes(T) for T in (256, 512)])


# %%
def about(power: float, expected: float) -> bool:
    """Whether an exponent is what was expected, within 0.1."""
    return abs(power - expected) < 0.1


linear_in_T = ("window", "bigbird", "linformer", "performer", "linear")
root_in_T = ("strided", "fixed")
work_of, bytes_of = ({name: growth[name, what] for name in FORMS} for what in ("work", "bytes"))
stepping = "linear, recurrent"
in_steps = [about(power, 1) for power in (bytes_of[stepping], of_rnn)]
in_tiles = [bytes_of[name] < 1.1 for name in ("tiled", "fused")]

# %% [markdown]
# (claim-eff-2)=

# %%
claim(
    "eff-2",
    supports={
        "full attention's bytes grow with a power of 2.0 ± 0.1": about(bytes_of["full"], 2),
        "those of linear attention, step by step, and of an RNN, with 1.0 ± 0.1": all(in_steps),
    },
    limits={
        "full attention in tiles, ours or the library's, has a power under 1.1": all(in_tiles),
    },
    numbers={f"power of bytes, {n}": bytes_of[n] for n in ("full", "fused", "tiled", stepping)},
    experiment="attention_costs",
)

# %% [markdown]
# So the square of memory was never a property of attention, only of the way in which it was
# computed. The square of work is.

# %% [markdown]
# ### Generation

# %%
generation = experiments.load("generation_time")
tokens = generation.parameters["tokens"]


def generated(what: str) -> dict[str, list[float]]:
    """A stored column, by the number of symbols, without a cache and with one."""
    return {
        method: [generation.select(method=method, tokens=n)[0][what] for n in tokens]
        for method in ("uncached", "cached")
    }


in_all, of_last, clock = (generated(what) for what in ("work", "last_work", "seconds"))

# %%
quicker = [a / b for a, b in zip(clock["uncached"], clock["cached"])]
rows = [
    [n, f"{a / 1e9:.2f}", f"{b / 1e9:.2f}", f"{times:.1f}"]
    for n, a, b, times in zip(tokens, *in_all.values(), quicker)
]
table(rows, ["symbols", "billion operations", "with a cache", "times quicker (stored)"])
saved = in_all["uncached"][-1] / in_all["cached"][-1]


# %%
def growing(method: str) -> list[int]:
    """By how much the last symbol's work grows, from each number of symbols to its double."""
    return [b - a for a, b in zip(of_last[method], of_last[method][1:])]


by_length_only = exponent(tokens[1:], growing("cached"))
one, two = growing("uncached")[-2:]  # of b T + c T², twice the length adds b T + 3 c T²
square = (two - 2 * one) / 6 * 16 / of_last["uncached"][-1]  # c T² at the last length
square_is_small = 0.05 < square < 0.25
cache_grows = about(exponent([500, 1000], [cache_bytes(8, T) for T in (500, 1000)]), 1)

# %% [markdown]
# (claim-eff-8)=

# %%
claim(
    "eff-8",
    supports={
        "cached and uncached logits agree to 1e-10, at all 23 splits of a text": cache_is_exact,
        "512 symbols cost under a hundredth of the work": saved > 100,
        "and under a fifth of the seconds": quicker[-1] > 5,
        "what grows in the last symbol's work has the power 1.0 ± 0.1": about(by_length_only, 1),
    },
    limits={
        "the cache's bytes grow with the length, power 1.0 ± 0.1": cache_grows,
        "without it, what grows with the square is under a quarter of the last symbol's work": square_is_small,
    },
    numbers={"work saved": saved, "times quicker": quicker[-1], "share of the square": square},
    experiment="generation_time",
)

# %% [markdown]
# A symbol's work has a part that does not grow (projections, feed-forward layer) and one that grows with the length (its pairs). At these
# lengths the first is the larger: what a cache spares here is mostly the way of all earlier symbols through the layers. And something
# else does change: the memory of the cache grows with the length. A window, or the state of linear attention, stops that. (Seconds fall less
# than work: a step on one symbol is so small that its operations are not what takes the time. They were measured once, and are rough.)
#
# ### The longest sequence
#
# How long a sequence fits into 1 GiB, in the training step of one head? Beside the queries, keys and values, a step holds at least the
# context and four gradients, of 64 numbers each: 1280 bytes a position, so that nothing longer than 838,860 positions can fit. For each
# form we draw a curve through the stored bytes and follow it on: a constant and a line; full attention also has a square, and strides of
# $\sqrt T$ a term with $T^{1.5}$.


# %%
def longest(method: str) -> int:
    """Positions of which a training step of one head fits into 1 GiB, rounded down to 2 digits."""
    powers = {"full": (0, 1, 2), "strided": (0, 1, 1.5), "fixed": (0, 1, 1.5)}.get(method, (0, 1))
    powers = torch.tensor(powers, dtype=torch.float64)
    T = torch.tensor(LENGTHS[long_enough], dtype=torch.float64)[:, None]
    held = torch.tensor(column("step_bytes", method)[long_enough], dtype=torch.float64)[:, None]
    factors = torch.linalg.lstsq(T**powers / held, torch.ones_like(held)).solution
    tried = torch.arange(1000.0, 1e6, 10, dtype=torch.float64)[:, None]
    found = int(tried[tried**powers @ factors <= 2**30].max())
    return found // 10 ** (len(str(found)) - 2) * 10 ** (len(str(found)) - 2)


fits = {name: longest(name) for name in two_sided}
assert max(fits.values()) <= 2**30 / 1280  # no more than what must be held allows

# %% mystnb={"figure": {"caption": "Longest sequence whose training step fits into 1 GiB, for one head 64 wide: followed on from counted bytes (stored experiment `attention_costs`). The axis is logarithmic.", "name": "fig-longest"}, "image": {"alt": "Lying bars, one for each form. Full attention has by far the shortest, at some ten thousand positions; strided and fixed attention about 55,000 and 100,000, BigBird 110,000, a window 190,000, linear attention, Performer and Linformer about 300,000 to 520,000; the fused function and tiles are longest, at about 830,000."}}
bars(fits, "positions in 1 GiB", logx=True)
plt.show()

# %% [markdown]
# In {numref}`fig-longest` the exact forms in tiles hold the longest sequences of all: if memory is what is short, no cheap form is needed.
# What tiles don't save is work:

# %%
squared = [name for name in two_sided if about(bytes_of[name], 2)]
gained = min(fits["tiled"], fits["fused"]) / fits["full"]
longest_cheap = max(fits[name] for name in (*linear_in_T, *root_in_T))
work_left = relative("step_work", "fused", 8192) / relative("step_work", "window", 8192)

# %% [markdown]
# (claim-eff-9)=

# %%
claim(
    "eff-9",
    supports={
        "1 GiB holds a step of under 12,000 positions of full attention": fits["full"] < 12_000,
        "it is the only form whose bytes grow with the square": squared == ["full"],
        "in tiles, too, its work is over 30 times a window's, at 8192 positions": work_left > 30,
    },
    limits={
        "in tiles, ours or the library's, it holds 70 to 110 times as many": 70 < gained < 110,
        "that is more than any other form": fits["tiled"] > longest_cheap < fits["fused"],
    },
    numbers={"times as many in tiles": gained, "times a window's work": work_left},
    experiment="attention_costs",
)

# %% [markdown]
# This is one head. A whole model also holds its weights, and activations and a cache, which grow with the length.
#
# ### The other sentences
#
# *Beyond the core path, up to the exercises.* The growth of work, form by form.


# %%
def linear_work(d: int) -> int:
    """Operations of linear attention on 512 positions, by the width."""
    q, k, v = heads(512, d)
    return work(lambda: efficient.linear_attention(q, k, v)).total


by_width = exponent([64, 256], [linear_work(d) for d in (64, 256)])
windows = [cost(partial(efficient.window_attention, window=w), 2048)[0] for w in (64, 128)]
by_window = exponent([64, 128], windows)
as_said = all(about(work_of[name], 1) for name in linear_in_T)
as_said_too = all(about(work_of[name], 1.5) for name in root_in_T)

# %% [markdown]
# (claim-eff-4)=

# %%
claim(
    "eff-4",
    supports={
        "window, BigBird, Linformer, Performer, linear: work has the power 1.0 ± 0.1": as_said,
        "strided and fixed, with a stride of √n: 1.5 ± 0.1": as_said_too,
        "a window's work has a power of w of 1.0 ± 0.1": about(by_window, 1),
    },
    limits={
        "linear attention's work has a power of d over 1.8": by_width > 1.8,
    },
    numbers={"power of d, linear": by_width, "power of w, window": by_window},
    experiment="attention_costs",
)

# %% [markdown]
# One reads $O(n\,d)$ for linear attention. But its state is a matrix, $d$ by $d$, and every position adds to all of it: $O(n\,d^2)$. And
# from which length on does a form pay, beside the library's kernel?


# %%
def pays_from(method: str) -> int:
    """The stored length from which on a form's step is quicker than the fused kernel's."""
    later = [
        n
        for n in LENGTHS
        if relative("step_seconds", method, n) >= relative("step_seconds", "fused", n)
    ]
    return next(n for n in LENGTHS if n > max(later, default=0))


pays = {name: pays_from(name) for name in (*linear_in_T, *root_in_T)}
observe(
    "From at most 2048 positions on, all these forms take fewer seconds than the library's fused kernel (stored).",
    max(pays.values()) <= 2048,
    pays,
)

# %% [markdown]
# Next, three kinds of layer side by side.


# %%
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


# %%
alone, projected, rnn, convolution = (
    powers(kind) for kind in ("attention", "attention with projections", "RNN", "convolution")
)
in_kernel = exponent([3, 9], [layer_work("convolution", 128, 64, k) for k in (3, 9)])
as_convolution = about(convolution[0], 1) and about(in_kernel, 1) and about(convolution[1], 2)
both = projected[1] > 1.5
of_kinds = {"attention": alone, "with projections": projected}
of_kinds |= {"RNN": rnn, "convolution": convolution}
rows = [[kind, f"{n:.2f}", f"{d:.2f}"] for kind, (n, d) in of_kinds.items()]
table(rows, ["layer", "power of n", "power of d"])

# %% [markdown]
# (claim-eff-1)=

# %%
claim(
    "eff-1",
    supports={
        "attention alone: n to 2.0 ± 0.1, d to 1.0 ± 0.1": about(alone[0], 2)
        and about(alone[1], 1),
        "RNN: n to 1.0 ± 0.1, d to 2.0 ± 0.1": about(rnn[0], 1) and about(rnn[1], 2),
        "convolution: n and k to 1.0 ± 0.1, d to 2.0 ± 0.1": as_convolution,
    },
    limits={"with projections, 128 positions of attention have a power of d over 1.5": both},
    numbers={f"power of n, {kind}": n for kind, (n, _) in of_kinds.items()},
)

# %% [markdown]
# What the library's kernel gains, and what our tiles don't:

# %%
(of_all,), (of_kernel,), (of_pieces,) = (
    costs.select(method=name, T=LENGTHS[-1]) for name in ("full", "fused", "tiled")
)
took = {row["method"]: row["step_seconds"] for row in (of_all, of_kernel, of_pieces)}
not_yet = min(relative("step_seconds", "fused", n) for n in (1024, 2048)) > 0.75
same_work = about(work_of["tiled"], 2) and abs(of_pieces["work"] / of_all["work"] - 1) < 0.1
faster = took["fused"] < 0.8 * took["full"]
more_work = 1.1 < of_pieces["step_work"] / of_all["step_work"] < 1.25

# %% [markdown]
# (claim-eff-5)=

# %%
claim(
    "eff-5",
    supports={
        "tiles equal the library's attention, with gradients": tiles_are_exact,
        "forward, their work is full attention's within 10 %, with a power of 2.0 ± 0.1": same_work,
        "their bytes have a power of 1.0 ± 0.1": about(bytes_of["tiled"], 1),
        "at 8192 positions the library's kernel takes under 80 % of the seconds": faster,
    },
    limits={
        "at 1024 and 2048, on one thread, its step is at most a quarter quicker": not_yet,
        "with the way back the tiles' work is 10 to 25 % more: scores are made twice": more_work,
    },
    numbers=took,
    experiment="attention_costs",
)

# %% [markdown]
# (All this is one thread of a processor. The paper's claim is about GPUs, where fast and slow memory lie further apart; and our tiles, in
# plain PyTorch, are several times slower than plain attention.)

# %%
small_bias = all(abs(b) < 0.05 for b in bias.values())
as_root = abs(slopes[0.5] + 0.5) < 0.05
left_in_mean = errors[4.0][0][1] / errors[4.0][0][0]
kept = errors[4.0][-1][0] / errors[4.0][0][0]
by_angle = spread_of[1.0][0] / independent

# %% [markdown]
# (claim-eff-6)=

# %%
claim(
    "eff-6",
    supports={
        "the kernel's estimate has the right mean, within 5 %, at norms of 0.5 and 1": small_bias,
        "at a norm of 0.5 the contexts' error has a power of m of −0.5 ± 0.05": as_root,
        "16 orthogonal directions err less than 16 independent ones, at norm 1": by_angle < 1,
    },
    limits={
        "at a norm of 1 the power is above −0.45 already": slopes[1.0] > -0.45,
        "at a norm of 4 over 40 % of the error stays in the mean of 30 draws": left_in_mean > 0.4,
        "there, 64 times as many features leave over 80 % of it": kept > 0.8,
    },
    numbers={"stays in the mean": left_in_mean, "orthogonal by independent": by_angle},
)

# %% [markdown]
# Pure chance would leave $1 / \sqrt{30}$, under a fifth, of the error in the mean of 30 draws; the rest is bias.

# %%
nearly = lost["linformer"] < 0.05
few, raw = at_32["count, block 1"] > 0.9, at_32["untrained"]

# %% [markdown]
# (claim-eff-7)=

# %%
claim(
    "eff-7",
    supports={
        "count: the 32 largest of 128 singular values have over 90 % of the sum": few,
        "there the Linformer with 32 mixtures loses under 5 points on average": nearly,
    },
    limits={
        "recall: in the first block the 32 largest have under 70 %": at_32["recall, block 1"] < 0.7,
        "recall: before training the 32 largest have over 80 %": raw > 0.8,
    },
    numbers={f"share of the 32 largest, {name}": share for name, share in at_32.items()},
    experiment="efficient_quality",
)

# %% [markdown]
# That the Linformer hardly recalls need not be the rank's fault: its mixtures are the same for all sequences, and the keys stand elsewhere in
# each. What more steps would bring, we don't know. And it has 16,384 weights more than the others, in its two blocks.

# %% [markdown]
# Last, the two curves from the beginning ({numref}`fig-crossing`).

# %%
of_long = slice(STEPS.index(512), None)
slope = {
    layer: exponent(STEPS[of_long], of_layer[layer, "work"][of_long])
    for layer in ("GRU", "encoder block")
}
of_block = of_layer["encoder block", "work"]
early, late = (exponent(STEPS[i : i + 2], of_block[i : i + 2]) for i in (5, len(STEPS) - 2))
rising = slope["encoder block"] > 1.5 and late > early

# %%
by_gru, by_library, by_rnn = (
    times_more("encoder block", other, "seconds") for other in ("GRU", "library's GRU", "RNN")
)
at_256, at_1024 = STEPS.index(256), STEPS.index(1024)
ahead = max(by_gru[: at_1024 + 1]) < 1 and max(by_library[: at_256 + 1]) < 1
behind = min(by_gru[-1], by_library[-1]) > 1
of_slopes = {f"power of work, {layer}": power for layer, power in slope.items()}
behind_rnn, not_square = min(by_rnn[at_1024:]) > 1.25, slope["encoder block"] < 1.8

# %% [markdown]
# (claim-eff-3)=

# %%
claim(
    "eff-3",
    supports={
        "from 512 positions on, the GRU's work has a power of 1.0 ± 0.1": about(slope["GRU"], 1),
        "and the encoder block's has one over 1.5, which rises": rising,
        "it takes less time than our GRU up to 1024, and than the library's up to 256": ahead,
        "and more than both at 4096": behind,
    },
    limits={
        "on one thread, from 1024 on it takes longer than a plain RNN": behind_rnn,
        "the square is not reached: from 512 to 4096 the power is under 1.8": not_square,
    },
    numbers={"seconds meet at about": round(ours, -2)} | of_slopes,
    experiment="sequence_time",
)

# %% [markdown]
# These seconds are of one thread of one machine. A machine that computes many positions at once would change them, and not the work.

# %% [markdown]
# ## Exercises
#
# *As long as you like.* Fill in the functions and run the cells; the check under each one tells you
# what is wrong, if something is. Heads come with four axes, as on this page: (B, h, T, d). Solutions stand on
# [a page of their own](solutions/07_efficient_attention.ipynb).
#
# ```{exercise} Predict: when do the pairs matter?
# :label: exercise-7-1
#
# *Warm-up, 5 minutes.* An encoder block is 512 wide. It has 8 heads, four projections, and a feed-forward layer that is 2048 wide inside.
# Its work grows with $T$, apart from that of the pairs, the scores and the averages of the values, which grows with $T^2$. At which
# length $T$ do the pairs need as many multiply–adds as **all the rest** of the block? Leave out what is not a matrix product, and biases.
# ([Solution](solutions/07_efficient_attention.ipynb#solution-7-1))
# ```

# %%
my_length = None

check("7.1", my_length)

# %% [markdown]
# ```{exercise} What a cache weighs
# :label: exercise-7-2
#
# *Warm-up, 5 minutes.* A large language model has 80 layers. Each has 64 heads of queries, which share 8 heads of keys and values, 128 wide.
# How many GiB ($2^{30}$ bytes) does its cache need for one sequence of 4096 positions, in half precision (2 bytes a number)?
# ([Solution](solutions/07_efficient_attention.ipynb#solution-7-2))
# ```

# %%
my_gib = None

check("7.2", my_gib)

# %% [markdown]
# ```{exercise} A window with holes
# :label: exercise-7-3
#
# *Core, 10 minutes.* A **dilated** window reaches farther for the same number of pairs {cite}`beltagy2020longformer`. In its causal form,
# query $t$ sees itself, and `window` positions before it, each of them `dilation` before the next. Draw the mask. Then ask yourself: three
# layers lie above each other, with a window of 3 and dilations 1, 4 and 16. How far back does the last position hear?
# ([Solution](solutions/07_efficient_attention.ipynb#solution-7-3))
# ```


# %%
def dilated_mask(T: int, window: int, dilation: int) -> torch.Tensor:
    """Return (T, T), boolean, True where query t (a row) sees key s (a column)."""
    raise NotImplementedError


check("7.3", dilated_mask)

# %% [markdown]
# ```{exercise} Count the pairs
# :label: exercise-7-4
#
# *Core, 15 minutes.* How many scores does a window with global positions need? The window reaches `window` positions to both sides; the
# first `n_global` positions are global. A global position sees all, and is seen by all; nothing is causal. Count the pairs (query, key)
# without drawing the mask: at a million positions, it would not fit into memory. A loop over the positions is fine. (The check sees only your numbers.) Which share of all
# pairs is it at $T = 65536$ with a window of 256 and 4 global positions? ([Solution](solutions/07_efficient_attention.ipynb#solution-7-4))
# ```


# %%
def count_pairs(T: int, window: int, n_global: int) -> int:
    """Return how many pairs there are, at most T²; n_global is at most T."""
    raise NotImplementedError


check("7.4", count_pairs)

# %% [markdown]
# ```{exercise} A band
# :label: exercise-7-5
#
# *Core, 20 minutes.* The page computes its window in blocks. There is another way: a causal window's weights are a
# **band**, one row of `window + 1` numbers for each query, and it can be stored as one. Column $j$ belongs to key
# $t - \text{window} + j$, so that the last column is the position itself. Where there is no such key, the weight is 0.
# `F.pad` and `Tensor.unfold` give each query its keys, without a tensor (T, T). (The check sees only your numbers.)
# ([Solution](solutions/07_efficient_attention.ipynb#solution-7-5))
# ```


# %%
def band_weights(query: torch.Tensor, key: torch.Tensor, window: int) -> torch.Tensor:
    """Shapes: query and key (B, h, T, d_k); returns softmax weights (B, h, T, window + 1)."""
    raise NotImplementedError


check("7.5", band_weights)

# %% [markdown]
# ```{exercise} Keys in short
# :label: exercise-7-6
#
# *Core, 15 minutes.* The Linformer learns how to mix positions. The plainest mixture is learned by nobody: the **mean** of each block of `size`
# neighbours, of its keys and of its values. Attend to these means, each of which counts as one key, with scores scaled as always.
# Leave padding out of the means; a block that is all padding gets the weight 0.
# ([Solution](solutions/07_efficient_attention.ipynb#solution-7-6))
# ```


# %%
def pooled_attention(query, key, value, key_mask, size: int) -> torch.Tensor:
    """Return the context (B, h, T, d_v).

    Shapes: query (B, h, T, d_k), key (B, h, S, d_k), value (B, h, S, d_v), key_mask (B, S), False
    at padding, wherever it stands; no sequence is all padding. size divides S.
    """
    raise NotImplementedError


check("7.6", pooled_attention)

# %% [markdown]
# ```{exercise} A state that forgets
# :label: exercise-7-7
#
# *Core, 20 minutes.* Linear attention adds up all keys that ever came. Retention {cite}`sun2023retentive` lets them fade: a key that lies $n$
# positions back counts $\gamma^n$ times, and each head has a $\gamma$ of its own. With the normaliser of this page,
#
# $$
# c_t = \frac{\sum_{s \le t} \gamma^{t-s}\, \phi(q_t)^\top \phi(k_s)\, v_s}{\sum_{s \le t} \gamma^{t-s}\, \phi(q_t)^\top \phi(k_s)} .
# $$
#
# Write it in the form that you like: step by step, or all pairs at once. $\gamma$ may be 0 or 1 ($0^0 = 1$), and a text long. Then say how
# the other one goes. ([Solution](solutions/07_efficient_attention.ipynb#solution-7-7))
# ```


# %%
def forgetting_attention(phi_q, phi_k, value, gamma) -> torch.Tensor:
    """Return the contexts (B, h, T, d_v).

    Shapes: phi_q and phi_k (B, h, T, m), positive, value (B, h, T, d_v), gamma (h,), from 0 to 1.
    """
    raise NotImplementedError


check("7.7", forgetting_attention)

# %% [markdown]
# ```{exercise} Features on both sides
# :label: exercise-7-8
#
# *Stretch, 25 minutes.* The Performer's paper has a second kind of positive features {cite}`choromanski2021rethinking`, which look along
# each direction and against it:
#
# $$
# \phi(x) = \frac{e^{-|x|^2 / 2}}{\sqrt{2m}} \left[ e^{\omega_1 \cdot x}, \dots, e^{\omega_m \cdot x}, e^{-\omega_1 \cdot x}, \dots, e^{-\omega_m \cdot x} \right] .
# $$
#
# Estimate softmax attention with them, for given directions, not causal: $\phi(q)^\top \phi(k)$ stands for $\exp(q^\top k / \sqrt{d_k})$.
# It should also be right for keys so large that each feature, taken as it stands here, rounds to 0, and where one head has such keys and
# another has not. ([Solution](solutions/07_efficient_attention.ipynb#solution-7-8))
# ```


# %%
def two_sided_attention(query, key, value, omega) -> torch.Tensor:
    """Return the context (B, h, T, d_v).

    Shapes: query (B, h, T, d_k), key (B, h, S, d_k), value (B, h, S, d_v), omega (m, d_k).
    """
    raise NotImplementedError


check("7.8", two_sided_attention)

# %% [markdown]
# ```{exercise} Two halves, one softmax
# :label: exercise-7-9
#
# *Core, 15 minutes.* The keys of a long text lie on two machines. Each has attended to its own half {cite}`liu2024ring`. It sends the
# context, which is an average over its half, and for each query the logarithm of the sum of the exponentials, $\log \sum_s
# e^{\text{score}_s}$. Make of these the context over the whole text, and its log-sum. Scores may be in the thousands, and the halves far
# apart. ([Solution](solutions/07_efficient_attention.ipynb#solution-7-9))
# ```


# %%
def merge(context_1, log_sum_1, context_2, log_sum_2) -> tuple[torch.Tensor, torch.Tensor]:
    """Shapes: contexts (B, h, T, d_v), log-sums (B, h, T); returns one of each."""
    raise NotImplementedError


check("7.9", merge)

# %% [markdown]
# ```{exercise} Predict: how often does the maximum move?
# :label: exercise-7-10
#
# *Core, 5 minutes.* An online softmax takes in the scores one by one, and rescales whatever it has summed when the running maximum moves. A
# thousand scores, no two of them equal, come in an order drawn by chance. How often does the maximum move, on average? The first score
# counts as one move. Within a tenth is good enough. Predict first; then let the computer draw.
# ([Solution](solutions/07_efficient_attention.ipynb#solution-7-10))
# ```

# %%
my_moves = None

check("7.10", my_moves)

# %% [markdown]
# ```{exercise} How sharp, without the weights
# :label: exercise-7-11
#
# *Stretch, 20 minutes.* The entropy of a query's weights tells how widely it looks: $-\sum_s p_s \log p_s$ with $p_s = e^{x_s - m} / \ell$.
# With tiles the weights are never there at once. But
#
# $$
# \begin{aligned}
# -\sum_s p_s \log p_s &= m + \log \ell - \frac{r}{\ell}, \\
# \ell &= \sum_s e^{x_s - m}, \quad r = \sum_s e^{x_s - m} x_s ,
# \end{aligned}
# $$
#
# where $m$ is the largest of the scores $x_s$, since $\log p_s = x_s - m - \log \ell$. Walk along the scores in chunks, with $m$, $\ell$
# and $r$ as running numbers, one of each for every row. Rows may lie a thousand apart, and so may the chunks of a row. (The check sees your
# numbers, not your way: that no row of weights is ever whole is up to you.) ([Solution](solutions/07_efficient_attention.ipynb#solution-7-11))
# ```


# %%
def entropy(scores: torch.Tensor, chunk: int) -> torch.Tensor:
    """Shapes: scores (T, S), read `chunk` columns at a time; returns nats (T,)."""
    raise NotImplementedError


check("7.11", entropy)

# %% [markdown]
# ```{exercise} Go on from a cache
# :label: exercise-7-12
#
# *Core, 20 minutes.* A layer of one head holds the keys and values of $S$ positions. Now $T$ further symbols come at once, as when a user types
# the next question. Add to each the learned position that it stands at, make its query, key and value ($q = W_q x$, and so on), and
# attend: to all that is held, and causally to each other, scaled as always. Return the keys and values for the next call, too. $S$ may be 0.
# ([Solution](solutions/07_efficient_attention.ipynb#solution-7-12))
# ```


# %%
def continue_with(x, keys, values, W_q, W_k, W_v, positions) -> tuple[torch.Tensor, ...]:
    """Return the context (B, T, D), and all keys and values, (B, S + T, D) each.

    Shapes: x (B, T, D), keys and values (B, S, D), the matrices (D, D), positions (max_len, D).
    """
    raise NotImplementedError


check("7.12", continue_with)

# %% [markdown]
# ```{exercise} A ring
# :label: exercise-7-13
#
# *Stretch, 25 minutes.* A causal window needs no longer memory than itself. So the cache can be a **ring** {cite}`jiang2023mistral`:
# position $p$ stands in slot $p \bmod \text{slots}$, and takes the place of the one that was there. Put $T$ new keys into it, behind
# `length` positions that this sequence has already had; $T$ may be more than there are slots. Say also which position each slot now holds,
# and $-1$ where it holds none of this sequence, whatever the last sequence has left there. Return new tensors, and leave the old ones as
# they are. ([Solution](solutions/07_efficient_attention.ipynb#solution-7-13))
# ```


# %%
def put(buffer: torch.Tensor, length: int, new: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the buffer after it, and the positions it holds (slots,), whole numbers.

    Shapes: buffer (B, h, slots, d), new (B, h, T, d).
    """
    raise NotImplementedError


check("7.13", put)

# %% [markdown]
# ```{exercise} Correct what is stored
# :label: exercise-7-14
#
# *Research, 45 minutes.* The state of linear attention is a memory to which each position adds. What was stored under a key before stays in
# the sum. The **delta rule** {cite}`schlag2021linear` looks it up first, and adds only the difference:
#
# $$
# \begin{aligned}
# S_t &= S_{t-1} + \beta_t\, k_t \left( v_t - S_{t-1}^\top k_t \right)^\top, \\
# o_t &= S_t^\top q_t,
# \end{aligned}
# $$
#
# with $S_0 = 0$, keys of length 1, and no normaliser. Write it. Then measure what a state of $32 \times 32$ can hold. Store $n$ random keys
# (of length 1) with random values, and ask for each of them: how often is the value that was stored the one that is nearest to what comes
# back, by $n$? With the plain sum, the delta rule ($\beta = 1$), and softmax attention with sharp scores (32 times the dot product)? Then
# store a *new* value under each of the keys, and ask again. ([Solution](solutions/07_efficient_attention.ipynb#solution-7-14))
# ```


# %%
def delta_rule(query, key, value, beta) -> torch.Tensor:
    """Return the outputs o (B, h, T, d_v).

    Shapes: query and key (B, h, T, d_k), value (B, h, T, d_v), beta (B, h, T).
    """
    raise NotImplementedError


check("7.14", delta_rule)

# %% [markdown]
# ## Checklist and tomorrow
#
# The points from the top of the page, ticked when you have passed the exercises that test them.

# %%
points = {
    "say what attention costs by length, in work and in bytes, and when it matters": "7.1",
    "draw a sparse pattern, count its pairs, and compute no others": "7.3 7.4 7.5",
    "attend to fewer keys than there are positions": "7.6",
    "put features in the softmax's place, and step along with a state of one size": "7.7 7.8 7.14",
    "find an exact softmax piece by piece": "7.9 7.10 7.11",
    "generate with a cache, and keep no more of it than is needed": "7.2 7.12 7.13",
}
checklist({point: ids.split() for point, ids in points.items()})

# %% [markdown]
# **From here on** attention is put to use. Everything that the coming lessons need is there. First comes text, sorted into classes;
# then models that read (BERT), that write (GPT), and that see.

# %% [markdown]
# ## Further reading
#
# - {cite:t}`dao2022flashattention`, the paper to read first: exact attention, and why bytes that move cost more than operations.
# - {cite:t}`milakov2018online` and {cite:t}`rabe2021self`, the online softmax, and attention without the square of memory.
# - {cite:t}`katharopoulos2020transformers`, linear attention and its three forms; {cite:t}`schlag2021linear`, what its state can hold.
# - {cite:t}`choromanski2021rethinking`, the Performer, with proofs on bias and variance.
# - {cite:t}`child2019generating`, {cite:t}`beltagy2020longformer` and {cite:t}`zaheer2020bigbird`, the sparse patterns.
# - {cite:t}`wang2020linformer`, low rank.
# - {cite:t}`arora2024zoology`, recall as the task that tells them apart.
# - {cite:t}`tay2021long`, a benchmark of such forms on long sequences, and {cite:t}`tay2022efficient`, a survey.
# - {cite:t}`shazeer2019fast` and {cite:t}`ainslie2023gqa`, fewer heads of keys for faster generation.
