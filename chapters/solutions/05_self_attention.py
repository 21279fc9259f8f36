# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Solutions of Day 5
#
# First come the solutions of [Self-attention](../05_self_attention.ipynb), then those of its [deeper page](../deeper/05_self_attention.ipynb). There is more
# than one correct solution. What matters is that the check passes and that you can explain why.

# %%
import convolution_to_attention  # is `utils` this book's?

import math

import torch
from torch import nn
from torch.nn import functional as F

from utils.attention import masked_softmax
from utils.exercises.self_attention import check
from utils.exercises.self_attention.leaked_order import different_rows
from utils.exercises.self_attention.reach import rows_that_change
from utils.positions import Rotary, sinusoidal
from utils.self_attention import MultiHeadAttention
from utils.show.display import observe, table

# %% [markdown]
# (solution-scaled-dot-product)=
# ## Scaled dot-product attention
#
# Compare, choose, mix. `query @ key.mT` has a row for each query, so the softmax runs along the last axis: each query shares out one unit of weight. The scale belongs
# *before* the softmax, and it is the root of the width that the dot product summed over. `@` and `.mT` leave all axes in front alone, so the same lines work for batches
# and heads.


# %%
def attention(query, key, value):
    scores = query @ key.mT / math.sqrt(query.shape[-1])
    weights = scores.softmax(dim=-1)
    return weights @ value, weights


attention = check("scaled_dot_product", attention)

# %% [markdown]
# (solution-masked-attention)=
# ## Masked attention
#
# A causal mask is a triangle. If there are as many queries as keys, it ends at the main diagonal. With $T$ queries and $S$ keys the queries are the last ones, so it ends
# $S - T$ positions further right. Both masks have to allow a key, hence `&`. `masked_softmax` removes the forbidden keys *before* it normalises, so that the remaining
# weights sum to 1, and it gives zeros where no key remains.


# %%
def attention(query, key, value, mask=None, is_causal=False):
    scores = query @ key.mT / math.sqrt(query.shape[-1])  # (..., T, S)
    if is_causal:
        T, S = scores.shape[-2:]
        past = torch.ones(T, S, dtype=torch.bool).tril(S - T)
        mask = past if mask is None else mask & past
    weights = masked_softmax(scores, mask)
    return weights @ value, weights


attention = check("masked_attention", attention)

# %% [markdown]
# The triangle for the last two of four positions:

# %%
print(torch.ones(2, 4, dtype=torch.bool).tril(4 - 2).int().tolist())

# %% [markdown]
# (solution-split-heads)=
# ## Split into heads
#
# First the width is cut into two axes, (B, T, h, d), while each number stays with its position. Then the axes of positions and heads are swapped. A `view` as (B, h, T, d)
# has the right shape at once, but it cuts along the positions.


# %%
def split_heads(x, n_heads):
    return x.unflatten(-1, (n_heads, -1)).transpose(1, 2)


split_heads = check("split_heads", split_heads)

# %%
numbers = torch.arange(12).view(1, 2, 6)  # two positions, six columns
print("right", split_heads(numbers, 2).tolist())
print("wrong", numbers.view(1, 2, 2, 3).tolist())

# %% [markdown]
# (solution-multi-head)=
# ## Multi-head self-attention
#
# One product computes queries, keys and values of all heads, and `chunk` cuts it into the three. The scale needs no change: your `attention` takes it from the width of its
# queries, which is that of one head. To concatenate the heads, swap positions and heads back, and merge the last two axes into one.


# %%
def multi_head(x, W_in, W_o, n_heads, mask=None):
    q, k, v = (split_heads(y, n_heads) for y in (x @ W_in.T).chunk(3, dim=-1))
    context, weights = attention(q, k, v, mask)  # (B, h, T, d)
    side_by_side = context.transpose(1, 2).flatten(2)  # (B, T, D)
    return side_by_side @ W_o.T, weights


multi_head = check("multi_head", multi_head)

# %% [markdown]
# With the library's weights it computes the same as the library:

# %%
torch.manual_seed(0)
library = nn.MultiheadAttention(12, 3, bias=False, batch_first=True).double()
x = torch.randn(2, 5, 12, dtype=torch.float64)
theirs = library(x, x, x, average_attn_weights=False)
mine = multi_head(x, library.in_proj_weight, library.out_proj.weight, 3)
torch.testing.assert_close(mine, theirs, rtol=1e-10, atol=1e-10)

# %% [markdown]
# (solution-give-order)=
# ## Learned positional encoding
#
# The slice has a row for each of the T positions, and the sum stretches it over the batch: all texts share the positions.


# %%
def give_order(x, table, start=0):
    return x + table[start : start + x.shape[1]]


give_order = check("give_order", give_order)

# %% [markdown]
# A text that is read in two pieces gets the same rows as one that is read in one go:

# %%
x, table_of_rows = torch.randn(1, 5, 4), torch.randn(8, 4)
pieces = [give_order(x[:, :3], table_of_rows), give_order(x[:, 3:], table_of_rows, start=3)]
assert torch.equal(torch.cat(pieces, dim=1), give_order(x, table_of_rows))

# %% [markdown]
# (solution-self-attention-parameters)=
# ## Count a layer's weights
#
# There are four maps from 48 to 48, for queries, keys, values and outputs, each with a bias of 48. The number of heads doesn't matter, because they share the width.

# %%
my_count = 4 * (48 * 48 + 48)
print(my_count)
for n_heads in (1, 6, 48):
    layer = MultiHeadAttention(48, n_heads)
    assert my_count == sum(p.numel() for p in layer.parameters())
check("self_attention_parameters", my_count)

# %% [markdown]
# (solution-unit-variance)=
# ## The scale that fits
#
# The variance of a product of independent numbers with mean 0 is the product of the variances, and the variance of a sum of $d_k$ such terms is $d_k$ times that.


# %%
def unit_scores(query, key, var_q: float, var_k: float) -> torch.Tensor:
    return query @ key.mT / math.sqrt(query.shape[-1] * var_q * var_k)


check("unit_variance", unit_scores)

# %%
generator = torch.Generator().manual_seed(0)
query, key = (torch.randn(1, 1, 1000, 32, generator=generator) for _ in range(2))
variance = unit_scores(3 * query, 0.5 * key, 9.0, 0.25).var().item()
print(f"variance of a million scores: {variance:.1f}")
assert abs(variance - 1) < 0.05

# %% [markdown]
# (solution-cut-edge)=
# ## Remove one link
#
# A softmax over fewer keys keeps the ratios of the weights: each $\exp e_s$ is divided by a smaller sum. So we divide the remaining weights by their own sum. Rows that
# weren't touched sum to 1 already, and a row that is empty is divided by 1 and stays 0.


# %%
def without_edge(weights, value, t: int, s: int) -> torch.Tensor:
    left = weights.clone()
    left[:, :, t, s] = 0
    total = left.sum(dim=-1, keepdim=True)
    return left / total.masked_fill(total == 0, 1) @ value


check("cut_edge", without_edge)

# %% [markdown]
# (solution-leaked-order)=
# ## Predict: the same word nine times
#
# Row $t$ averages over BOS and $t$ equal values. The more of them there are, the less weight is left for BOS, so **all ten** rows differ. Without a mask all nine equal
# words average over the same values, and there are two different rows. So a causal mask tells a network where it is, as long as something marks the beginning.
# {cite:t}`haviv2022transformer` found that language models without positions know where they are, and suggest that this is how.

# %%
table(
    [[name, different_rows(is_causal=causal)] for name, causal in (("yes", True), ("no", False))],
    ["causal mask", "different rows"],
)

# %%
check("leaked_order", 10)

# %% [markdown]
# (solution-reach)=
# ## Predict: how far does a change reach?
#
# After one layer, rows 4, 5 and 6 have changed. The second layer carries it two rows further, to row 8. That makes five rows. A window grows with the layers, as the
# receptive field of a convolution does.

# %%
table(
    [[n_layers, rows_that_change(n_layers=n_layers)] for n_layers in (1, 2, 3)],
    ["layers", "rows that change"],
)

# %%
check("reach", 5)

# %% [markdown]
# (solution-packed-documents)=
# ## Packing: several documents in one row
#
# Three conditions have to hold: the same document, no future, no padding. Padding has the number 0 on both sides, so without the last condition it would be a document of
# its own.


# %%
def packed_mask(document: torch.Tensor) -> torch.Tensor:
    query, key = document[:, :, None], document[:, None, :]
    m = torch.arange(document.shape[1])
    return ((query == key) & (m[:, None] >= m) & (key != 0))[:, None]


check("packed_documents", packed_mask)

# %% [markdown]
# (solution-silenced-head)=
# ## Silence a head
#
# A head is silent if its context is 0 before the heads are mixed. If its *scores* were 0, it would contribute the mean of its values.


# %%
def silenced(x, W_q, W_k, W_v, W_o, n_heads: int, head: int) -> torch.Tensor:
    q, k, v = ((x @ W.T).unflatten(-1, (n_heads, -1)).transpose(1, 2) for W in (W_q, W_k, W_v))
    weights = (q @ k.mT / math.sqrt(q.shape[-1])).softmax(dim=-1)  # (B, h, T, T)
    speaks = (torch.arange(n_heads) != head)[:, None, None]
    context = weights @ v * speaks  # (B, h, T, d_k)
    return context.transpose(1, 2).flatten(2) @ W_o.T


check("silenced_head", silenced)

# %% [markdown]
# The output is a sum over heads, each through its own columns of $W_o$. So the contributions of the single heads add up to the whole output:

# %%
torch.manual_seed(1)
x, matrices = torch.randn(2, 5, 12).double(), torch.randn(4, 12, 12).double() / 4
everything = silenced(x, *matrices, 3, head=-1)  # there is no such head
alone = sum(everything - silenced(x, *matrices, 3, head) for head in range(3))
assert torch.allclose(alone, everything)

# %% [markdown]
# {cite:t}`michel2019sixteen` did this to trained Transformers, head by head. Most heads could be silenced, one at a time, with hardly any loss.

# %% [markdown]
# (solution-induction-head)=
# ## Induction head: what has come next so far?
#
# The first layer's work is the shift by one: each position knows which symbol came before it, and nothing comes before the first. The query is the present symbol, the key
# is the symbol before, and the value is the symbol at the key's own position. All matches count alike.


# %%
def what_followed(ids: torch.Tensor, vocab_size: int) -> torch.Tensor:
    before = F.pad(ids[:, :-1], (1, 0), value=-1)  # -1 is no symbol
    m = torch.arange(ids.shape[1])
    mask = (ids[:, :, None] == before[:, None]) & (m[:, None] >= m)  # (B, T, T)
    weights = masked_softmax(torch.zeros(mask.shape), mask)
    return weights @ F.one_hot(ids, vocab_size).float()


check("induction_head", what_followed)

# %% [markdown]
# Here is a word written twice; these are the predictions at the first letters of its second copy. After a letter that had occurred once, the letter that followed it then gets all the weight. The *t* had occurred three
# times, with a different letter after it each time:

# %%
word = "attention "
letters = sorted(set(word))
ids = torch.tensor([[letters.index(letter) for letter in 2 * word]])
for letter, shares in list(zip(2 * word, what_followed(ids, len(letters))[0], strict=True))[10:15]:
    said = [f"{letters[i]!r} {p:.2f}" for i, p in enumerate(shares.tolist()) if p]
    print(f"after {letter!r}:", ", ".join(said))

# %% [markdown]
# Now the soft one: a match with a score of $\beta$ among $T - 1$ scores of 0 gets a weight of $e^\beta / (e^\beta + T - 1)$. That is half where $\beta = \ln(T - 1)$. We
# search for it without the formula.


# %%
def sharpness_for_half(T: int) -> float:
    """The smallest β, in steps of 0.01, with which one match gets half of the weight."""
    beta = torch.arange(0, 20, 0.01, dtype=torch.float64)
    scores = torch.zeros(len(beta), T, dtype=torch.float64)
    scores[:, 0] = beta
    return beta[scores.softmax(dim=-1)[:, 0] >= 0.5][0].item()


sharpness = {T: sharpness_for_half(T) for T in (16, 64, 256, 1024, 4096)}
table(
    [[T, f"{beta:.2f}", f"{math.sqrt(8 * beta):.1f}"] for T, beta in sharpness.items()],
    ["T", "β for half", "length of query and key, d_k = 64"],
)

# %%
steps = [
    b - a for a, b in zip(list(sharpness.values()), list(sharpness.values())[1:], strict=False)
]
observe(
    "For a sequence four times as long, β has to be larger by {least:.2f} to {most:.2f}; ln 4 is {ln_4:.2f}.",
    least=min(steps),
    most=max(steps),
    ln_4=math.log(4),
    holds=all(abs(step - math.log(4)) < 0.1 for step in steps),
)

# %% [markdown]
# Where a query and a key of length $\ell$ match, their dot product, scaled by $1/\sqrt{64}$, is $\ell^2 / 8$. So $\ell = \sqrt{8 \beta}$. With numbers of variance 1 a
# vector of width 64 has a length of about 8. That is enough among a thousand keys and not quite among four thousand, and only if all other keys are orthogonal. A head that
# is sharp enough for short sequences blurs on long ones, because the same $\beta$ meets more competitors.

# %% [markdown]
# (solution-attention-dropout)=
# ## Dropout by hand
#
# A weight is kept with probability $1 - p$, and is then divided by $1 - p$: on average it is as large as before. The rows sum to 1 only on average.


# %%
def dropped_weights(scores, kept, p: float, training: bool) -> torch.Tensor:
    weights = scores.softmax(dim=-1)
    return weights * kept / (1 - p) if training else weights


check("attention_dropout", dropped_weights)

# %% [markdown]
# (solution-library-mask)=
# ## An attention mask for the library
#
# `repeat_interleave` repeats each sequence's mask before it goes on to the next. `repeat` would go through all sequences once for each head: with two heads, the second
# head of the first sequence would get the second sequence's mask. The shape is the same, so there would be no error.


# %%
def library_mask(target: torch.Tensor, source: torch.Tensor, n_heads: int) -> torch.Tensor:
    blocked = (source == 0)[:, None].expand(-1, target.shape[1], -1)  # (B, T, S)
    return blocked.repeat_interleave(n_heads, dim=0)


check("library_mask", library_mask)

# %% [markdown]
# With this mask the library's layer computes the same as ours, given the same weights and the book's own mask:

# %%
torch.manual_seed(0)
library = nn.MultiheadAttention(12, 3, batch_first=True)
ours = MultiHeadAttention(12, 3)
ours.load_library(library)
target, source = torch.tensor([[4, 5, 6], [7, 0, 0]]), torch.tensor([[3, 4, 0, 0], [5, 6, 7, 0]])
x, memory = torch.randn(2, 3, 12), torch.randn(2, 4, 12)
theirs, _ = library(x, memory, memory, attn_mask=library_mask(target, source, 3))
same, _ = ours(x, memory, mask=(source != 0)[:, None, None])
assert torch.allclose(theirs, same, atol=1e-6)

# %% [markdown]
# (solution-top-k-attention)=
# ## Top-k attention: only the best
#
# First the mask, then the choice, then the softmax. $-\infty$ is below every score in every precision. Where fewer than $k$ keys are allowed, the $k$-th best is $-\infty$
# itself: then everything is kept, and the mask alone decides.


# %%
def top_k_weights(scores: torch.Tensor, mask: torch.Tensor, k: int) -> torch.Tensor:
    allowed = scores.masked_fill(~mask, -math.inf)
    worst_kept = allowed.topk(k, dim=-1).values[..., -1:]  # (B, h, T, 1)
    return masked_softmax(scores, mask & (allowed >= worst_kept))


check("top_k_attention", top_k_weights)

# %% [markdown]
# (solution-alibi)=
# ## ALiBi: distance has a price
#
# The queries' positions begin at $S - T$, so that the last query is at the last key. The distance itself tells which keys are in the future: those where it is negative.


# %%
def alibi_weights(scores: torch.Tensor) -> torch.Tensor:
    _, h, T, S = scores.shape
    distance = torch.arange(S - T, S)[:, None] - torch.arange(S)  # (T, S)
    slopes = 2.0 ** (-8 * torch.arange(1, h + 1, dtype=scores.dtype) / h)
    return masked_softmax(scores - slopes[:, None, None] * distance, distance >= 0)


check("alibi", alibi_weights)

# %% [markdown]
# Equal scores show the effect of the slopes. The steepest head attends to a few neighbours, the flattest to almost all positions equally. How many of 256 positions get more
# than half of the weight of the nearest one?

# %%
weights = alibi_weights(torch.zeros(1, 4, 1, 256))[0, :, 0]
near = (weights > weights[:, -1:] / 2).sum(dim=-1)
table([[head + 1, n] for head, n in enumerate(near.tolist())], ["head", "positions"])

# %% [markdown]
# (solution-rotary-halves)=
# ## Rotary positions: turn the other pairs
#
# `chunk` gives the first numbers of all pairs, then the second ones. The rest is a rotation like any other.


# %%
def rotary_halves(x: torch.Tensor, start: int, base: float) -> torch.Tensor:
    T, d = x.shape[-2:]
    m, i = torch.arange(start, start + T)[:, None], torch.arange(d // 2, dtype=torch.float64)
    angles = (m * base ** (-2 * i / d)).to(x.dtype)  # (T, d/2)
    first, second = x.chunk(2, dim=-1)
    cos, sin = angles.cos(), angles.sin()
    return torch.cat([first * cos - second * sin, second * cos + first * sin], dim=-1)


check("rotary_halves", rotary_halves)

# %% [markdown]
# To use such a model's weights with our `Rotary`, bring the numbers of each pair side by side, in queries and in keys: reorder the rows of $W_q$ and $W_k$ within each
# head. A dot product doesn't depend on an order that both vectors share, so the scores are the same.

# %%
d = 8
order = torch.arange(d).view(2, d // 2).T.flatten()
print("new order of a head's rows:", order.tolist())
torch.manual_seed(2)
q, k = torch.randn(2, 1, 1, 6, d).double()
rotary = Rotary(d, base=100.0)
theirs = rotary_halves(q, 0, 100.0) @ rotary_halves(k, 0, 100.0).mT
assert torch.allclose(rotary(q[..., order]) @ rotary(k[..., order]).mT, theirs)

# %% [markdown]
# (solution-shift-matrix)=
# ## A matrix that shifts positions
#
# We use the formulas for the sine and cosine of a sum, with $\omega_i = \text{base}^{-2i/d}$:
#
# $$
# \begin{aligned}
# \sin(m\omega_i + k\omega_i) &= \cos(k\omega_i) \sin(m\omega_i) \\
# &\quad + \sin(k\omega_i) \cos(m\omega_i) ,
# \end{aligned}
# $$
#
# and $\cos(m\omega_i + k\omega_i) = \cos(k\omega_i)\cos(m\omega_i) - \sin(k\omega_i)\sin(m\omega_i)$. So each pair has a 2 × 2 block of its own on the diagonal of $M_k$,
# which turns it by $k\omega_i$.


# %%
def shift_matrix(k: int, d: int, base: float) -> torch.Tensor:
    angles = k * base ** (-2 * torch.arange(d // 2, dtype=torch.float64) / d)
    blocks = [[[c, s], [-s, c]] for c, s in zip(angles.cos(), angles.sin(), strict=True)]
    return torch.block_diag(*map(torch.tensor, blocks)).double()


check("shift_matrix", shift_matrix)

# %%
waves = sinusoidal(100, 64, dtype=torch.float64)
assert torch.allclose(waves[:-7] @ shift_matrix(7, 64, 10_000.0).T, waves[7:])

# %% [markdown]
# Now a head that attends one position back. The query is the wave itself, the key is the wave moved one position *forward*, times some $\beta$. They agree best where the
# key is one before the query. Neighbouring waves are alike, so it takes a large $\beta$ to separate them:

# %%
keys = waves @ shift_matrix(1, 64, 10_000.0).T
scores = waves @ keys.T / math.sqrt(64)
t = torch.arange(1, 100)
shares = {beta: (beta * scores).softmax(dim=-1)[t, t - 1].min().item() for beta in (1, 10, 100)}
table(
    [[beta, f"{share:.2f}"] for beta, share in shares.items()],
    ["β", "weight of the position before, at least"],
)

# %% [markdown]
# (solution-softmax-gradient)=
# ## Back through the softmax
#
# Let $g_{ts} = \partial L / \partial \alpha_{ts}$, the dot product of the context's gradient with the value. By {eq}`eq-softmax-gradient`,
# $\partial \alpha_s / \partial e_r = \alpha_s (\delta_{sr} - \alpha_r)$. Summed over all weights, that gives
# $\partial L / \partial e_{ts} = \alpha_{ts} \bigl(g_{ts} - \sum_r \alpha_{tr} g_{tr}\bigr)$: each value is compared with what the query gets on average.


# %%
def score_gradient(weights, value, grad_context) -> torch.Tensor:
    g = grad_context @ value.mT  # (B, h, T, S)
    return weights * (g - (weights * g).sum(dim=-1, keepdim=True))


check("softmax_gradient", score_gradient)

# %% [markdown]
# When one weight is almost 1, the mean is almost that key's own $g$, and for all other keys $\alpha$ is almost 0. So all gradients vanish, and a query that attends to the
# wrong key hardly learns that it is wrong. Here it attends to the first of eight keys, though the second would be better. We let the score of the first grow:

# %%
value = torch.zeros(1, 1, 8, 1).double()
value[0, 0, 1] = 1.0  # what the loss would like to see more of
gradients = {}
for ahead in (0, 4, 8, 16):
    scores = torch.zeros(1, 1, 1, 8).double()
    scores[..., 0] = ahead
    gradient = score_gradient(scores.softmax(dim=-1), value, torch.ones(1, 1, 1, 1).double())
    gradients[ahead] = gradient.abs().max().item()
table([[a, f"{g:.0e}"] for a, g in gradients.items()], ["first score ahead by", "largest gradient"])
