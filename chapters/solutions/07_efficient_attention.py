# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Solutions of Day 7
#
# First come the solutions for [Efficient attention](../07_efficient_attention.ipynb), then those for its [deeper page](../deeper/07_efficient_attention.ipynb). There is more than one correct way. What counts is that the check passes and that you can say why.

# %%
import convolution_to_attention  # is `utils` this book's?

import math
from functools import reduce

import torch
from torch.nn import functional as F
from torch.utils.flop_counter import FlopCounterMode

from utils.attention import masked_softmax
from utils.efficient import KVCache, window_attention
from utils.exercises.efficient_attention import check
from utils.self_attention import MultiHeadAttention, causal_mask
from utils.show.display import observe, table
from utils.transformer import FeedForward

# %% [markdown]
# (solution-cached-step)=
# ## Key–value cache: one step
#
# First the new key and value are appended to the old ones, so that the character also sees itself. No mask is needed: everything that is held came before, and nothing comes after. Positions are on the last axis but one, however many axes come first.


# %%
def cached_step(q, k, v, keys, values):
    keys, values = torch.cat([keys, k], dim=-2), torch.cat([values, v], dim=-2)
    weights = (q @ keys.mT / math.sqrt(q.shape[-1])).softmax(dim=-1)
    return weights @ values, keys, values


cached_step = check("cached_step", cached_step)

# %% [markdown]
# `torch.cat` copies everything that is held, at every step. The book's `KVCache` allocates its memory once and writes into it.

# %% [markdown]
# (solution-online-softmax)=
# ## Online softmax: one tile
#
# The new maximum is the larger of the old one and the tile's, and it is subtracted before every exponential. The old sums, from which the old maximum was subtracted, are too large by a factor of $e^{m' - m}$, so they are multiplied by $e^{m - m'}$, which is at most 1. With $m = -\infty$ this factor is 0, so the first tile needs no case of its own.


# %%
def take_in(scores, values, m, total, a):
    new = torch.maximum(m, scores.amax(dim=-1, keepdim=True))
    weights, rescale = (scores - new).exp(), (m - new).exp()
    total = rescale * total + weights.sum(dim=-1, keepdim=True)
    a = rescale * a + weights @ values
    return new, total, a


take_in = check("online_softmax", take_in)

# %% [markdown]
# Here are the numbers of the lesson's picture, in which the second tile raises the maximum from 3 to 5:

# %%
m, total, a = torch.tensor([[-math.inf]]), torch.zeros(1, 1), torch.zeros(1, 1)
for x, v in (([1.0, 3.0], [4.0, 0.0]), ([2.0, 5.0], [8.0, 2.0])):
    m, total, a = take_in(torch.tensor([x]), torch.tensor([v]).T, m, total, a)
    print(
        f"m {m.item():.0f}, sum {total.item():.4f}, values {a.item():.4f}, so far {(a / total).item():.4f}"
    )

# %% [markdown]
# (solution-window)=
# ## Sliding-window attention: the mask
#
# The difference $t - s$ says how far back a key is. It may be at most $w$, and it must not be negative, which would be the future. Both conditions have to hold, hence `&`.


# %%
def window_mask(T, w):
    back = torch.arange(T)[:, None] - torch.arange(T)
    return (back >= 0) & (back <= w)


window_mask = check("window", window_mask)

# %% [markdown]
# Row $t$ has $w + 1$ ticks, or fewer near the beginning. With triangles: keep everything up to the diagonal, and leave out what is more than $w$ diagonals below it.

# %%
assert torch.equal(window_mask(7, 2), torch.ones(7, 7).tril().triu(-2).bool())

# %% [markdown]
# (solution-cache-size)=
# ## What a key–value cache weighs
#
# Keys and values of 8 heads in 80 layers are 2 · 8 · 128 · 80 numbers of 2 bytes for each position. One layer's cache agrees, on the device `meta`, which knows shapes and computes nothing.

# %%
my_gib = 2 * 8 * 128 * 80 * 4096 * 2 / 2**30
with torch.device("meta"):
    one = torch.empty(1, 8, 4096, 128, dtype=torch.float16)
    held = KVCache(max_len=4096).append(one, one)
assert 80 * sum(x.nbytes for x in held) / 2**30 == my_gib
print(my_gib)
check("cache_size", my_gib)

# %% [markdown]
# With keys and values for each of the 64 heads of queries, it would be eight times as much, for every text that the model is writing at the moment.

# %% [markdown]
# (solution-cost-of-pairs)=
# ## Predict: when do attention's pairs dominate the cost?
#
# The scores take $T^2 d_k$ multiply–adds in every head, and so do the averages: $2 T^2 D$ in all heads together. The projections take $4 T D^2$, and the
# feed-forward layer takes $2 T D \cdot 4D$. The two sides are equal at $T = 6D$, however many heads there are. We let PyTorch count
# both at this length, on `meta` again.

# %%
my_length = 6 * 512
with torch.device("meta"):
    attention, feed_forward = MultiHeadAttention(512, 8), FeedForward(512, 2048)
    x = torch.empty(1, my_length, 512)
with FlopCounterMode(display=False) as counter, torch.no_grad():
    attention(x, need_weights=True)
    feed_forward(x)
operations = {str(name): n for name, n in counter.get_flop_counts()["Global"].items()}
pairs = operations["aten.bmm"]  # products in each head; the other products are with weights
print(pairs, counter.get_total_flops() - pairs)
assert pairs == counter.get_total_flops() - pairs
check("cost_of_pairs", my_length)

# %% [markdown]
# In shorter texts the pairs are the smaller part of the work. At $T = D$ they are one seventh of it, so halving them saves one fourteenth.

# %% [markdown]
# (solution-window-recall)=
# ## Predict: what a window recalls
#
# The window sees an answer that is at most 16 positions from its question. There are $128 - n$ pairs of positions at a distance of $n$, and either of the two can be the question. The block answers these questions, and one in eight of the others. We count.

# %%
positions = torch.arange(128)
apart = (positions[:, None] - positions).abs()
seen = ((apart > 0) & (apart <= 16)).sum().item() / (128 * 127)
my_share = seen + (1 - seen) / 8
print(f"{seen:.3f} of the answers are seen, {my_share:.3f} correct")
check("window_recall", my_share)

# %% [markdown]
# The lesson's stored runs with two blocks come close to this number. The second block has added nothing.

# %% [markdown]
# (solution-dilated-window)=
# ## Dilated window: a window with holes
#
# Everything depends on how many positions back a key is. It must not be in the future nor too far back, and its distance must be a multiple of the dilation.


# %%
def dilated_mask(T: int, window: int, dilation: int) -> torch.Tensor:
    back = torch.arange(T)[:, None] - torch.arange(T)
    return (back >= 0) & (back <= window * dilation) & (back % dilation == 0)


check("dilated_window", dilated_mask)

# %% [markdown]
# Through three blocks, a path goes from query to key three times, and the number of paths is a product of the three masks. Information reaches the last of 70
# positions from itself and from the 63 before it, from each by exactly one path: its steps are the digits of the distance, to base 4. Three blocks
# without holes reach 9 positions back.

# %%
paths = [
    reduce(torch.matmul, [dilated_mask(70, 3, n).long() for n in dilations])[-1]
    for dilations in ((1, 4, 16), (1, 1, 1))
]
table(
    [
        [name, (row > 0).sum().item() - 1, row.max().item()]
        for name, row in zip(("1, 4, 16", "1, 1, 1"), paths, strict=True)
    ],
    ["dilations", "positions back", "most paths to one"],
)
assert (paths[0][-64:] == 1).all() and (paths[0] > 0).sum() == 64
assert (paths[1] > 0).sum() == 10

# %% [markdown]
# (solution-running-maximum)=
# ## Online softmax: how often does the maximum move? (a prediction)
#
# The $t$-th score moves the maximum if it is the largest of the first $t$. Each of these is equally likely to be the largest, so the probability is $1/t$, and the average number of moves
# is $1 + \frac12 + \frac13 + \dots + \frac1T$, which grows as the logarithm of $T$.

# %%
my_moves = sum(1 / t for t in range(1, 1001))
generator = torch.Generator().manual_seed(0)
scores = torch.rand(2000, 1000, generator=generator)
running = scores.cummax(dim=1).values
drawn = 1 + (running[:, 1:] > running[:, :-1]).sum(dim=1).double().mean().item()
observe(
    "The sum is {said:.2f}. In 2,000 random orders of 1,000 scores, {drawn:.2f} scores move the running maximum on average.",
    said=my_moves,
    drawn=drawn,
    holds=abs(my_moves - drawn) < 0.3,
)
check("running_maximum", my_moves)

# %% [markdown]
# So the sums are almost always rescaled by 1. Rising scores are the worst case, in which the maximum moves every time. Test an implementation with them.

# %% [markdown]
# (solution-state-step)=
# ## Linear attention: one step of the state
#
# A column times a row is a table: `phi_k.mT @ v` has the shape (..., m, d_v). It is added to $S$ before the query reads $S$, since a position also attends to itself. The query's features weight the rows of $S$ and, in the same way, the numbers of $z$. The quotient is an average of the values,
# since all weights are positive and divided by their sum.


# %%
def state_step(phi_q, phi_k, v, S, z):
    S = S + phi_k.mT @ v
    z = z + phi_k
    return (phi_q @ S) / (phi_q @ z.mT), S, z


state_step = check("state_step", state_step)

# %% [markdown]
# After three steps it returns the same context as all pairs at once:

# %%
torch.manual_seed(0)
phi_q, phi_k, v = torch.rand(3, 2), torch.rand(3, 2), torch.rand(3, 1)
S, z = torch.zeros(2, 1), torch.zeros(1, 2)
for t in range(3):
    context, S, z = state_step(phi_q[t : t + 1], phi_k[t : t + 1], v[t : t + 1], S, z)
weights = phi_q[2:] @ phi_k.T
torch.testing.assert_close(context, weights @ v / weights.sum())

# %% [markdown]
# (solution-count-of-pairs)=
# ## Sparse patterns: count the pairs
#
# A global position sees everything. Every other position sees its window, cut off at the ends, and the global positions before that window.


# %%
def count_pairs(T: int, window: int, n_global: int) -> int:
    total = n_global * T
    for t in range(n_global, T):
        first, last = max(0, t - window), min(T - 1, t + window)
        total += last - first + 1 + min(n_global, first)
    return total


print(f"{count_pairs(65536, 256, 4) / 65536**2:.2%} of the pairs")
check("count_of_pairs", count_pairs)

# %% [markdown]
# (solution-merged-halves)=
# ## Merge two halves of one softmax
#
# Each half is weighted by its share of the whole sum. With log-sums $a$ and $b$, the first half's share is $e^a / (e^a + e^b)$. That is the sigmoid of $a - b$, in which large
# numbers cancel before an exponential is taken.


# %%
def merge(context_1, log_sum_1, context_2, log_sum_2) -> tuple[torch.Tensor, torch.Tensor]:
    share = torch.sigmoid(log_sum_1 - log_sum_2)[..., None]
    context = share * context_1 + (1 - share) * context_2
    return context, torch.logaddexp(log_sum_1, log_sum_2)


check("merged_halves", merge)


# %% [markdown]
# Halves can be merged in any order, so any number of machines can take part, in a ring or in a tree. Here are seven pieces of a text.


# %%
def look(query, key, value) -> tuple[torch.Tensor, torch.Tensor]:
    """The context of one piece, and its log-sum."""
    scores = query @ key.mT / math.sqrt(query.shape[3])
    return scores.softmax(dim=-1) @ value, scores.logsumexp(dim=-1)


generator = torch.Generator().manual_seed(0)
query, key, value = torch.randn(3, 2, 4, 70, 8, generator=generator, dtype=torch.float64)
pieces = [look(query, k, v) for k, v in zip(key.split(10, 2), value.split(10, 2), strict=True)]
merged = reduce(lambda a, b: merge(*a, *b), pieces)
torch.testing.assert_close(merged, look(query, key, value))

# %% [markdown]
# (solution-banded-weights)=
# ## Banded weights: compute only the window
#
# With `window` rows of zeros in front, row $t$ and the `window` rows after it are the keys $t - \text{window}$ to $t$. The zeros are not keys, so
# their scores become $-\infty$.


# %%
def band_weights(query: torch.Tensor, key: torch.Tensor, window: int) -> torch.Tensor:
    T, d_k = query.shape[2:]
    near = F.pad(key, (0, 0, window, 0)).unfold(2, window + 1, 1)  # (B, h, T, d_k, window + 1)
    scores = (query[..., None, :] @ near)[..., 0, :] / math.sqrt(d_k)
    s = torch.arange(T)[:, None] + torch.arange(-window, 1)
    return scores.masked_fill(s < 0, -math.inf).softmax(dim=-1)


check("banded_weights", band_weights)

# %% [markdown]
# No row is all $-\infty$, since each position sees itself. `unfold` copies nothing, but the product reads each key `window + 1` times. The
# lesson's pieces read it twice.

# %% [markdown]
# (solution-pooled-keys)=
# ## Low-rank attention: pooled keys
#
# Padding is set to 0 before the sum, and each sum is divided by the number of real positions. An empty block is divided by 1 and masked.


# %%
def pooled_attention(query, key, value, key_mask, size: int) -> torch.Tensor:
    counts = key_mask.unflatten(1, (-1, size)).sum(dim=2)  # (B, n)
    divisor = counts.clamp(min=1)[:, None, :, None]
    k, v = (
        (x * key_mask[:, None, :, None]).unflatten(2, (-1, size)).sum(dim=3) / divisor
        for x in (key, value)
    )
    scores = query @ k.mT / math.sqrt(query.shape[3])
    return masked_softmax(scores, (counts > 0)[:, None, None]) @ v


check("pooled_keys", pooled_attention)

# %% [markdown]
# (solution-retention)=
# ## Retention: a state that forgets
#
# At each step, the old sums fade, and then the new key is added. Numerator and normaliser fade alike.


# %%
def forgetting_attention(phi_q, phi_k, value, gamma) -> torch.Tensor:
    sums, total, contexts = 0, 0, []
    for q, k, v in zip(phi_q.unbind(2), phi_k.unbind(2), value.unbind(2), strict=True):
        sums = gamma[:, None, None] * sums + k[..., :, None] * v[..., None, :]  # (B, h, m, d_v)
        total = gamma[:, None] * total + k  # (B, h, m)
        weighted = (q[..., None, :] @ sums)[..., 0, :]  # (B, h, d_v)
        contexts.append(weighted / (q * total).sum(dim=-1, keepdim=True))
    return torch.stack(contexts, dim=2)


check("retention", forgetting_attention)


# %% [markdown]
# With all pairs at once, retention is a mask with shades of grey: $\gamma^{t-s}$ where a causal mask has True. It is tempting to give $\gamma^t$ to the queries and
# $\gamma^{-s}$ to the keys, so that no matrix of shades is needed. But $\gamma^{-s}$ overflows: for $\gamma = 0.5$, even in double precision after 1023 positions.


# %%
def all_at_once(phi_q, phi_k, value, gamma) -> torch.Tensor:
    t = torch.arange(phi_q.shape[2])
    shades = gamma[:, None, None] ** (t[:, None] - t).clamp(min=0)  # (h, T, T)
    weights = (shades * (phi_q @ phi_k.mT)).tril()
    return weights @ value / weights.sum(dim=-1, keepdim=True)


phi_q, phi_k, value = torch.rand(3, 2, 4, 30, 5, dtype=torch.float64)
inputs = phi_q, phi_k, value, torch.tensor([0.5, 0.75, 0.9, 1.0], dtype=torch.float64)
torch.testing.assert_close(all_at_once(*inputs), forgetting_attention(*inputs))

# %% [markdown]
# (solution-two-sided-features)=
# ## Linear attention with features on both sides
#
# Stay with logarithms as long as you can. The number subtracted from the keys may differ from feature to feature, as long as it is added to the queries' features. The number
# subtracted from the queries may differ only from query to query, and then it cancels in the quotient. So do $|q|^2 / 2$ and the factor
# $1 / \sqrt{2m}$.


# %%
def two_sided_attention(query, key, value, omega) -> torch.Tensor:
    both = torch.cat([omega, -omega]) * query.shape[3] ** -0.25  # (2m, d_k)
    log_q = query @ both.T
    log_k = key @ both.T - key.square().sum(dim=-1, keepdim=True) / math.sqrt(4 * key.shape[3])
    largest = log_k.amax(dim=2, keepdim=True)  # of each feature, over the keys
    log_q = log_q + largest
    phi_q = (log_q - log_q.amax(dim=3, keepdim=True)).exp()
    phi_k = (log_k - largest).exp()
    weights_sum = phi_q @ phi_k.sum(dim=2)[..., None]  # (B, h, T, 1)
    return phi_q @ (phi_k.mT @ value) / weights_sum


check("two_sided_features", two_sided_attention)

# %% [markdown]
# What is gained by using both directions? The paper compares the two kinds at the same number of features: the squared error of the estimate of $\exp(x \cdot y)$ is
# multiplied by $1 - e^{-|x + y|^2}$ (its lemma 2). We estimate it for vectors of several lengths.

# %%
generator = torch.Generator().manual_seed(0)
omega = torch.randn(400_000, 6, generator=generator, dtype=torch.float64)
direction = F.normalize(torch.randn(2, 6, generator=generator, dtype=torch.float64), dim=1)

# %%
measured, predicted = [], []
for length in (0.2, 0.3, 0.5):
    x, y = length * direction
    along, against = ((s * omega @ (x + y) - (x @ x + y @ y) / 2).exp() for s in (1, -1))
    measured.append((((along + against) / 2).var() / (along.var() / 2)).item())
    predicted.append(1 - math.exp(-(x + y).square().sum().item()))
observe(
    "For short vectors, features on both sides leave {shares} of the squared error. The lemma predicts {said}.",
    shares=", ".join(f"{m:.3f}" for m in measured),
    said=", ".join(f"{p:.3f}" for p in predicted),
    holds=all(abs(m / p - 1) < 0.1 for m, p in zip(measured, predicted, strict=True)),
)

# %% [markdown]
# The longer $x + y$ is, the less is gained, because one of the two sides is then nearly 0.

# %% [markdown]
# (solution-online-entropy)=
# ## The entropy of the weights, tile by tile
#
# This is the lesson's online softmax with the scores in place of the values. Both sums, $\ell$ and $r$, are rescaled from the old maximum to the
# new one.


# %%
def entropy(scores: torch.Tensor, chunk: int) -> torch.Tensor:
    m, total, r = torch.full_like(scores[:, :1], -math.inf), 0, 0
    for piece in scores.split(chunk, dim=1):
        new = torch.maximum(m, piece.amax(dim=1, keepdim=True))
        rescale, weights = (m - new).exp(), (piece - new).exp()
        total = rescale * total + weights.sum(dim=1, keepdim=True)
        r = rescale * r + (weights * piece).sum(dim=1, keepdim=True)
        m = new
    return (m + total.log() - r / total)[:, 0]


check("online_entropy", entropy)

# %% [markdown]
# (solution-cached-attention)=
# ## Attention that goes on from a cache
#
# The new symbols have the positions $S$ to $S + T - 1$. The first of them sees $S + 1$ keys and the last one sees all, so the mask's diagonal starts
# after the keys that are held. `causal_mask(T, S + T)` draws this mask.


# %%
def continue_with(x, keys, values, W_q, W_k, W_v, positions) -> tuple[torch.Tensor, ...]:
    T, S = x.shape[1], keys.shape[1]
    x = x + positions[S : S + T]
    keys = torch.cat([keys, x @ W_k.T], dim=1)
    values = torch.cat([values, x @ W_v.T], dim=1)
    scores = (x @ W_q.T) @ keys.mT / math.sqrt(x.shape[2])
    return masked_softmax(scores, causal_mask(T, S + T)) @ values, keys, values


check("cached_attention", continue_with)

# %% [markdown]
# (solution-ring-buffer)=
# ## A ring buffer for a window's cache
#
# The new keys come one by one, and each overwrites the one whose slot it takes. A slot holds the last position before `end` whose remainder is the slot's number. If
# that position would be negative, the slot is still empty.


# %%
def put(buffer: torch.Tensor, length: int, new: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    slots, end = buffer.shape[2], length + new.shape[2]
    buffer = buffer.clone()
    for i in range(new.shape[2]):
        buffer[:, :, (length + i) % slots] = new[:, :, i]
    slot = torch.arange(slots)
    held = end - 1 - (end - 1 - slot) % slots
    return buffer, held.clamp(min=-1)


check("ring_buffer", put)

# %% [markdown]
# Softmax attention doesn't mind the order of its keys. So the ring can be used as it is: position by position it returns the same as the lesson's window,
# with 5 slots for a window of 4, however long the text.

# %%
window, T = 4, 23
query, key, value = torch.randn(3, 2, 3, T, 6, generator=generator, dtype=torch.float64)
keys, values, steps = key.new_zeros(2, 3, window + 1, 6), value.new_zeros(2, 3, window + 1, 6), []
for t in range(T):
    keys, held = put(keys, t, key[:, :, t : t + 1])
    values, _ = put(values, t, value[:, :, t : t + 1])
    scores = query[:, :, t : t + 1] @ keys.mT / math.sqrt(6)
    steps.append(masked_softmax(scores, held >= 0) @ values)
expected = window_attention(query, key, value, window, is_causal=True)
torch.testing.assert_close(torch.cat(steps, dim=2), expected)

# %% [markdown]
# (solution-delta-rule)=
# ## The delta rule: correct what is stored
#
# Look up the value stored under the key, subtract it from the new value, and add the difference.


# %%
def delta_rule(query, key, value, beta) -> torch.Tensor:
    state, outputs = key.new_zeros(*key.shape[:2], key.shape[3], value.shape[3]), []
    for q, k, v, b in zip(*(x.unbind(2) for x in (query, key, value, beta)), strict=True):
        found = (k[..., None, :] @ state)[..., 0, :]  # (B, h, d_v)
        change = b[..., None] * (v - found)
        state = state + k[..., :, None] * change[..., None, :]
        outputs.append((q[..., None, :] @ state)[..., 0, :])
    return torch.stack(outputs, dim=2)


check("delta_rule", delta_rule)


# %% [markdown]
# For the measurement, a text first writes all keys with their values, and then asks for each key. A question must not write anything, so its value is
# 0 and its $\beta$ is 0. The batch has twenty sets of keys and values.


# %%
def share_found(memory, n: int, rewritten: bool) -> float:
    """Share of n keys that return the value stored last, over twenty draws."""
    generator = torch.Generator().manual_seed(n)
    key = F.normalize(torch.randn(20, 1, n, 32, generator=generator).double(), dim=3)
    value = F.normalize(torch.randn(20, 1, 2 * n, 32, generator=generator).double(), dim=3)
    writes = torch.cat([key, key], dim=2) if rewritten else key
    values = value if rewritten else value[:, :, :n]
    nearest = (memory(key, writes, values) @ values.mT).argmax(dim=3)
    wanted = torch.arange(n) + (n if rewritten else 0)
    return (nearest == wanted).double().mean().item()


# %%
def plain_sum(questions, key, value):
    return questions @ (key.mT @ value)


def corrected(questions, key, value):
    n, asked = key.shape[2], questions.shape[2]
    key = torch.cat([key, questions], dim=2)
    value = F.pad(value, (0, 0, 0, asked))
    beta = (torch.arange(n + asked) < n).to(key).expand(key.shape[:3])
    return delta_rule(key, key, value, beta)[:, :, n:]


def sharp_softmax(questions, key, value):
    return (32 * questions @ key.mT).softmax(dim=-1) @ value


# %%
MEMORIES = {"plain sum": plain_sum, "delta rule": corrected, "softmax": sharp_softmax}
SIZES = (8, 16, 32, 64, 128)
found = {
    (name, n, again): share_found(memory, n, again)
    for name, memory in MEMORIES.items()
    for n in SIZES
    for again in (False, True)
}

# %%
table(
    [
        [n, *(f"{found[name, n, again]:.0%}" for again in (False, True) for name in MEMORIES)]
        for n in SIZES
    ],
    ["n", *(f"{name}, {when}" for when in ("once", "rewritten") for name in MEMORIES)],
)

# %%
once = {name: found[name, 64, False] for name in MEMORIES}
observe(
    "Of 64 values that were written once, softmax finds {softmax:.0%}, the plain sum finds {plain:.0%}, and the delta rule finds {delta:.0%}.",
    softmax=once["softmax"],
    plain=once["plain sum"],
    delta=once["delta rule"],
    holds=once["softmax"] > 0.99 > 0.95 > once["plain sum"] > once["delta rule"] + 0.1,
)

# %%
again = {name: found[name, 16, True] for name in MEMORIES}
observe(
    "Of 16 values that replaced old ones, the delta rule finds {delta:.0%}, softmax finds {softmax:.0%}, and the plain sum finds {plain:.0%}.",
    delta=again["delta rule"],
    softmax=again["softmax"],
    plain=again["plain sum"],
    holds=again["delta rule"] > 0.9 and max(again["softmax"], again["plain sum"]) < 0.7,
)

# %% [markdown]
# There are two lessons in this table. First, a state of $32 \times 32$ numbers can't replace softmax attention, which keeps all the keys, and whose keys
# don't disturb each other as long as the scores are sharp. Second, the delta rule isn't a better memory as such, because each correction disturbs the values
# under similar keys. It pays off where something *changes*. The sum and softmax find both the old value and the new one under the
# same key, and return whichever happens to be a little nearer. Softmax attention needs positions to tell old from new; the delta rule
# doesn't.
