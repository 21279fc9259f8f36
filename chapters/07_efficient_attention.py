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
# **Today's question:** what does attention compute twice, or for nothing, and what do we lose by leaving that out?
#
# After today you can
#
# - write with a cache of keys and values, and say why that is allowed,
# - compute the size of a cache for any model,
# - compute an exact softmax tile by tile,
# - draw the mask of a window, and say how far information travels through blocks,
# - count the cost of attention, and say at which length it dominates,
# - say what a window can't recall.
# Today builds on [Day 5](05_self_attention.ipynb) (queries, keys, values and masks) and [Day 6](06_transformer.ipynb) (blocks). It takes 55 minutes to read and half an hour to write three functions. At the end a Transformer uses your functions to write documentation: the same text as before, in far less time.

# %% tags=["setup"]
import convolution_to_attention  # is `utils` this book's?

import math
from functools import cache, partial
from time import perf_counter

import matplotlib.pyplot as plt
import torch
from torch.nn import functional as F

from utils import efficient
from utils.exercises.efficient_attention import check
from utils.exercises.progress import checklist
from utils.measure import experiments
from utils.measure.claims import claim
from utils.measure.costs import peak_bytes, work
from utils.show.display import observe, show_source
from utils.show.mechanisms import efficient_attention as mechanisms
from utils.show.plotting import INK, bars, curves, use_book_style
from utils.show.views import guess, live_race, models, online_softmax, quiz, race
from utils.tasks.long_texts import all_scores, heads
from utils.tasks.writer import Block, Writer, drawn, idle, next_letter, off_by_steps
from utils.tasks.writer import perplexity, take_weights, validation_rows, vocabulary
from utils.tasks.writer import weight_within, weights_of

use_book_style()
VOCABULARY = vocabulary()


def by_length(lines, lengths, xlabel, ylabel, logy=True):
    """Draw lines {name: numbers} over lengths, on a logarithmic axis with these ticks."""
    drawn = {name: (lengths, row) for name, row in lines.items()}
    ax = curves(drawn, xlabel, ylabel, logx=True, logy=logy)
    ax.set_xticks(lengths, lengths)
    ax.minorticks_off()
    return ax


# %% [markdown]
# **Five questions about yesterday**

# %% tags=["view"]
quiz("07_efficient_attention")

# %% [markdown]
# ## Where we stand
#
# *6 minutes.* Yesterday's Transformer translated. A decoder without an encoder can continue a text, character by character, as Day 3's network did. Here is one; two things in it are new. Rotary positions turn each query and key by an angle that grows with its position, so that only the distance between the two enters their score. And the attention function is an argument, `attend`, because today we will swap it.

# %%
show_source(Block)

# %%
show_source(Writer)

# %% [markdown]
# Ours was trained beforehand, on the documentation of seven Python libraries. Today we only use its weights, which is called **inference**. At first, each character attends to all characters before it.

# %% tags=["training"]
all_pairs = partial(F.scaled_dot_product_attention, is_causal=True)
writer = Writer(all_pairs)
take_weights(writer, models.load("documentation").weights)


# %%
@torch.no_grad()
def write(following, beginning, n=240):
    """Draw n characters, each from the logits that `following` returns for the text so far."""
    generator = torch.Generator().manual_seed(0)
    text, seconds = VOCABULARY.encode(beginning or " "), []
    for _ in range(n):
        begun = perf_counter()
        text.append(drawn(following(text), generator))
        seconds.append(perf_counter() - begun)
    return "".join(VOCABULARY.symbols[i] for i in text[-n:]), seconds


# %%
def read_again(model):
    """Read the whole text again for each new character."""
    return lambda text: model(torch.tensor([text]))[0, -1]


start = "The number of clusters "
text, slow = write(read_again(writer), start)
full = perplexity(writer, n_pieces=24)
scored = [T * (T + 1) // 2 for T in range(len(start), len(start) + len(text))]  # pairs, by step

# %% tags=["evidence"]
observe(
    "Its validation perplexity is {found:.1f}, and it writes: “{start}{text}…” To write that, each head scored {pairs:,} pairs of positions, and {again:.0%} of them had been scored before.",
    **{"found": full, "start": start, "text": " ".join(text.split())},
    **{"pairs": sum(scored), "again": 1 - scored[-1] / sum(scored)},
    holds=full < 4.5 and scored[-1] < 0.02 * sum(scored),
)

# %% tags=["mechanism"] mystnb={"figure": {"caption": "Pairs are scored again and again: three steps of writing, each of which reads the whole text. The pairs struck out have been scored before.", "name": "fig-again"}, "image": {"alt": "Three triangles of cells, of two, three and four rows, with the letters m, a, t, r on the left and above. The last row of each is filled; the cells above it are pale and struck out. Below them is written: 3 pairs, 2 new; 6 pairs, 3 new; 10 pairs, 4 new."}}
mechanisms.again()
plt.show()

# %% [markdown]
# The old characters haven't changed, and yet they are compared again. There is more waste: attention as you wrote it on Day 5 stores every score, only to read it once, and many scores hardly count in the end.

# %%
looks = weights_of(writer, validation_rows(16, 256))

# %% tags=["evidence"]
observe(
    "On validation text, the less important half of a query's pairs gets {wasted:.1%} of its attention, on average.",
    **{"wasted": idle(looks)},
    holds=idle(looks) < 0.1,
)

# %% [markdown]
# ## The idea
#
# *1 minute.* Picture a meeting in which everyone has to hear everyone. It can be shortened in three ways.
#
# 1. **Compute nothing twice.** When someone new comes in, the others don't introduce themselves again. That is a **cache** of keys and values.
# 2. **Store nothing needlessly.** Everyone still hears everyone, but a few at a time, and keeps one running summary instead of a transcript. That is attention in **tiles**.
# 3. **Compare nothing needlessly.** Everyone talks to their neighbours only, and news from far away takes several rounds. That is a **window**.

# %% tags=["mechanism"] mystnb={"figure": {"caption": "A cache and tiles change how attention is computed, but not its answers. A window changes what is computed.", "name": "fig-three-ways"}, "image": {"alt": "Three six-by-six maps. The first, nothing twice, is a pale triangle with a dark last row. The second, a tile at a time, is a pale triangle with one dark square of four cells. Under these two is written: the same answers. The third, neighbours, is a band along the diagonal, and under it is written: other answers."}}
mechanisms.three_ways()
plt.show()

# %% [markdown]
# ## Step by step
#
# ### A cache of keys and values
#
# *14 minutes, 9 of them yours.* The causal mask lets no character see what comes after it. So the keys and values of the old characters never change, in any block, and there is no need to compute them twice: we keep them.

# %% tags=["mechanism"] mystnb={"figure": {"caption": "Each new character adds one key and one value to the cache, and its query attends to everything held so far.", "name": "fig-cache"}, "image": {"alt": "Three pictures in a row: t comes, r comes, i comes. In each, keys in orange and values in green are tables of two rows, with three, four and five columns; the last column is new, dark and framed. Below is one row of scores in blue, with 3, 4 and 5 new pairs."}}
mechanisms.cache(steps=3, first=3)
plt.show()

# %% [markdown]
# ```{exercise} Key–value cache: one step
# :label: exercise-cached-step
#
# *9 minutes.* A new character brings a query, a key and a value. Append its key and value to the S held so far (0 at first). Then let its query attend to all of them, with scores scaled as always. Return the context, all keys and all values.
# ([Solution](solutions/07_efficient_attention.ipynb#solution-cached-step))
# ```


# %%
def cached_step(q, k, v, keys, values):
    """Shapes: q and k (..., 1, d_k), v (..., 1, d_v), keys (..., S, d_k), values (..., S, d_v).

    Returns: the context (..., 1, d_v), and the keys and values to be held, S + 1 of each.
    """
    raise NotImplementedError


cached_step = check("cached_step", cached_step)

# %%
check.show_reference("cached_step")

# %% [markdown]
# A small object holds each block's cache, and lets the model read only the new characters.


# %%
class Remembering:
    """The logits of what follows a text, of which only the new part is read."""

    def __init__(self, model):
        self.model, self.n_read = model, 0
        self.held = [None for _ in model.blocks]

    def attend(self, i, q, k, v):
        held = self.held[i] or (k[:, :, :0], v[:, :, :0])
        context, *self.held[i] = cached_step(q, k, v, *held)
        return context

    def __call__(self, text):
        attend = [partial(self.attend, i) for i in range(len(self.held))]
        for t in range(self.n_read, len(text)):
            logits = self.model(torch.tensor([text[t : t + 1]]), t, attend)
        self.n_read = len(text)
        return logits[0, -1]


_, fast = write(Remembering(writer), start)

# %% [markdown]
# How much work does one more character take, and how does that depend on the length of the text before it?

# %%
counts, remembering = [64, 128, 256, 512, 1024], Remembering(writer)
ways = {"without a cache": read_again(writer), "with a cache": remembering}
of_letter = {
    name: [work(next_letter(following, T)).total / 1e6 for T in counts]
    for name, following in ways.items()
}

# %% tags=["evidence"] mystnb={"figure": {"caption": "With a cache, one more character costs little more in a long text than in a short one. Without a cache, the cost grows faster than the length. Counted; both axes are logarithmic.", "name": "fig-letter-work"}, "image": {"alt": "Two lines over 64 to 1024 characters. Without a cache the line rises faster than the length; with a cache it begins far lower and rises much less."}}
by_length(of_letter, counts, "characters before", "million operations")
plt.show()

# %% tags=["evidence"]
without, with_cache = of_letter.values()
each = sum(x.nbytes for of_block in remembering.held for x in of_block) // remembering.n_read
observe(
    "After {behind:,} characters, the next one takes {times:.0f} times less work with a cache. The price is that the cache grows by {each:,} bytes per character.",
    **{"behind": counts[-1], "times": without[-1] / with_cache[-1], "each": each},
    holds=without[-1] > 200 * with_cache[-1],
)

# %% [markdown]
# A cache helps only where a text grows step by step. In training, and while the given beginning of a text (the **prompt**) is read, all queries come at once.
#
# ### What a key–value cache weighs
#
# *2 minutes.* Take a model that people use: Llama 3 has 70 billion weights, in 80 layers {cite}`grattafiori2024llama`. Each layer has 64 query heads, 128 wide, and each number takes two bytes. Instead of characters, the model reads words and parts of words, called **tokens**. Suppose that every head kept keys and values of its own, as ours do.

# %%
layers, n_heads, d_k, size = 80, 64, 128, 2
per_token = 2 * layers * n_heads * d_k * size  # bytes: keys and values

# %% tags=["mechanism"] mystnb={"figure": {"caption": "With keys and values for each head, the cache of a long text outweighs the model itself: a model of 70 billion weights, counted from its published sizes. Both axes are logarithmic.", "name": "fig-cache-weighs"}, "image": {"alt": "A straight line rises from 2.5 to 320 GiB over 1,024 to 131,072 tokens. A dashed horizontal line marks the weights, at 130 GiB; the cache crosses it between 32,768 and 65,536 tokens."}}
tokens, weights = [1024 * 2**i for i in range(8)], 70e9 * size / 2**30
gib = [per_token * T / 2**30 for T in tokens]
ax = by_length({"cache": gib}, tokens, "tokens of one text", "GiB")
ax.axhline(weights, color=INK, lw=1, ls="--", label="all weights")
ax.legend()
ax.set_xticks(tokens, [f"{T // 1024}k" for T in tokens])
plt.show()

# %% tags=["evidence"]
observe(
    "Each token would add {each:.1f} MiB. A text of {longest:,} tokens, the longest that the model reads, would need {cache:.0f} GiB; the weights take {weights:.0f} GiB.",
    **{"each": per_token / 2**20, "longest": tokens[-1], "cache": gib[-1], "weights": weights},
    holds=gib[-1] > 2 * weights,
)

# %% [markdown]
# That is for one text; a server writes many at once. So in this model eight query heads share one head of keys and values: **grouped-query attention** {cite}`ainslie2023gqa`. You will compute the size of its cache in {numref}`exercise-cache-size`.
#
# ### Tiles: the same softmax without the map
#
# *24 minutes, 12 of them yours.* Where all queries come at once, attention computes a **map** of scores, with a row for each query and a column for each key. We **count** what that costs: `work` counts operations, two for each multiply–add, and `peak_bytes` finds the most memory that PyTorch holds at once. Our head is 64 wide and has a causal mask.


# %%
@torch.no_grad()
def cost(form, T):
    """Operations of a form on T positions, and the most bytes it held at once."""
    q, k, v = heads(T)
    return work(lambda: form(q, k, v)).total, peak_bytes(lambda: form(q, k, v))


lengths = [128, 256, 512, 1024, 2048]
operations, held = zip(*(cost(all_scores, T) for T in lengths))

# %% tags=["evidence"] mystnb={"figure": {"caption": "For long texts, doubling the length quadruples the cost: operations (above) and peak memory (below) of one head that computes all scores at once. Counted; both axes are logarithmic.", "name": "fig-square"}, "image": {"alt": "Two parallel straight lines over 128 to 2048 positions, million operations above and megabytes below. Each rises fourfold when the length doubles."}}
counted = {"million operations": operations, "megabytes at once": held}
lines = {name: [number / 1e6 for number in row] for name, row in counted.items()}
by_length(lines, lengths, "positions", "")
plt.show()

# %% tags=["evidence"]
grown = {"work": operations[-1] / operations[-2], "memory": held[-1] / held[-2]}
observe(
    "From 1,024 to 2,048 positions, the work grows {work:.1f}-fold and the memory {memory:.1f}-fold.",
    **grown,
    holds=abs(grown["work"] - 4) < 0.2 and abs(grown["memory"] - 4) < 0.2,
)

# %% [markdown]
# The waste here is memory: each score is read once, and then the map is thrown away. But a softmax divides by the sum of a *whole* row. Must the row be in memory all at once? No: its scores can be processed in groups, one **tile** after another
# {cite}`milakov2018online`. Let $x_j$ be a query's score with key $j$, and $v_j$ the value. We keep the largest score so far, $m$, and two sums over the scores so far: $\ell$, the sum of $e^{x_j - m}$, and $a$, the sum of $e^{x_j - m} v_j$. (Subtracting $m$ keeps the exponentials from overflowing.) If a tile raises
# the maximum to $m'$, the old sums are first multiplied by $e^{m - m'}$:
#
# $$
# \begin{aligned}
# m' &= \max(m, \max_j x_j), \\
# \ell' &= e^{m - m'} \ell + \sum_j e^{x_j - m'}, \\
# a' &= e^{m - m'} a + \sum_j e^{x_j - m'} v_j .
# \end{aligned}
# $$ (eq-online-softmax)
#
# After the last tile, the context is $a / \ell$. Nothing is approximated.

# %% tags=["mechanism"] mystnb={"figure": {"caption": "The second tile raises the maximum from 3 to 5, so the sums so far shrink by a factor of $e^{-2}$: one query, four scores in two tiles.", "name": "fig-online"}, "image": {"alt": "Tile 1 has the scores 1, 3 and the values 4, 0; below it m is 3, the sum is 1.14 and a is 0.54. An arrow, times 0.14, leads to what is kept after tile 2, with the scores 2, 5 and the values 8, 2: m is 5, the sum is 1.2 and a is 2.47. An arrow leads to the context, 2.05."}}
mechanisms.online(torch.tensor([1.0, 3, 2, 5]), torch.tensor([4.0, 0, 8, 2]), 2)
plt.show()

# %% [markdown]
# Step through a longer row.

# %% tags=["view"]
online_softmax([1, 3, 2, 5, 4, 0, 6, 2, 1], [4, 0, 8, 2, 6, 1, 3, 5, 7], size=3)

# %% [markdown]
# ```{exercise} Online softmax: one tile
# :label: exercise-online-softmax
#
# *12 minutes.* Take in one tile as in {eq}`eq-online-softmax`, for T queries at once, and return the new $m$, $\ell$ and $a$. Before the first tile, $m = -\infty$ and both sums are 0. `amax(dim=-1, keepdim=True)` returns the largest number of each row. ([Solution](solutions/07_efficient_attention.ipynb#solution-online-softmax))
# ```


# %%
def take_in(scores, values, m, total, a):
    """Shapes: scores (..., T, n), values (..., n, d_v), m and total (..., T, 1), a (..., T, d_v).

    Returns: the new m, total (ℓ) and a.
    """
    raise NotImplementedError


take_in = check("online_softmax", take_in)

# %%
check.show_reference("online_softmax")

# %% [markdown]
# With this function, the writer can attend in tiles.


# %%
def in_tiles(q, k, v, tile=64):
    positions = torch.arange(q.shape[2])
    m = torch.full_like(q[..., :1], -math.inf)
    total, a = torch.zeros_like(m), torch.zeros_like(v)
    for part in positions.split(tile):
        scores = q @ k[:, :, part].mT / math.sqrt(q.shape[3])
        scores = scores.masked_fill(part > positions[:, None], -math.inf)
        m, total, a = take_in(scores, v[:, :, part], m, total, a)
    return a / total


writer.attend = in_tiles
tiled = perplexity(writer, n_pieces=24)
writer.attend = all_pairs

# %% tags=["evidence"]
observe(
    "With your tiles, the writer's perplexity is {tiled:.4f}; with all scores at once it was {full:.4f}.",
    **{"tiled": tiled, "full": full},
    holds=abs(tiled - full) < 1e-3,
)

# %% tags=["mechanism"] mystnb={"figure": {"caption": "Only one tile of scores exists at a time, and $m$, $\\ell$ and $a$ are kept for each query. Libraries process one group of queries after another; your loop takes all at once.", "name": "fig-walk"}, "image": {"alt": "A column of five blocks of queries, the fourth dark. On its right is a five-by-five grid of tiles; in the fourth row the tiles are numbered 1 to 4, and the third is dark and framed. An arrow leads from the row to three cells, m, the sum and a, kept for these queries. A note says: tile 3 is there now; 1 and 2 are gone, 4 is still to come."}}
mechanisms.walk()
plt.show()

# %% tags=["view"]
q, k, v = heads(4096)
held = {"all at once": peak_bytes(lambda: all_scores(q, k, v))}
with torch.no_grad():
    held["your tiles"] = peak_bytes(lambda: in_tiles(q, k, v))
    held["the library's"] = peak_bytes(lambda: all_pairs(q, k, v))
share = held["your tiles"] / held["all at once"]
answers = ["about half", "about a tenth", "less than a twentieth"]
guess(
    "Compared with all scores at once, how much memory do your tiles need at 4,096 positions?",
    answers,
    right=answers[2 if share < 0.05 else 1],
    because=f"They need {held['your tiles'] / 1e6:.1f} MB instead of {held['all at once'] / 1e6:.0f} MB, or {share:.1%} as much.",
)

# %% tags=["evidence"] mystnb={"figure": {"caption": "Tiles need hardly any memory: peak memory of one head at 4,096 positions. Counted.", "name": "fig-tile-bytes"}, "image": {"alt": "Three bars: all at once is by far the longest, at over two hundred megabytes; your tiles and the library's, at a few megabytes, hardly show."}}
bars({name: number / 1e6 for name, number in held.items()}, "megabytes at once")
plt.show()

# %% [markdown]
# **FlashAttention** {cite}`dao2022flashattention` does this inside a GPU's fast memory. The library's fused attention, which our layers have used since Day 5, works in the same way.
#
# **Enough for tonight?** This is a good place to stop. So far no answer has changed: a cache saves work, and tiles save memory. The last method does change them; it takes the remaining 35 minutes or so.
#
# ### A sliding window: fewer pairs, other answers
#
# *13 minutes, 8 of them yours.* With tiles or a cache, each query is still compared with every key before it, although half of them hardly count. Which pairs could be left out? The distant ones, perhaps. So let a character see itself and the $w$ characters before it, and no others {cite}`beltagy2020longformer`. The sum of values then runs over these alone:
#
# $$
# \begin{aligned}
# c_t &= \sum_{s=t-w}^{t} \alpha_{ts}\, v_s , \\
# \alpha_{ts} &= \frac{\exp(q_t^\top k_s / \sqrt{d_k})}{\sum_{r=t-w}^{t} \exp(q_t^\top k_r / \sqrt{d_k})} .
# \end{aligned}
# $$ (eq-window)

# %% tags=["mechanism"] mystnb={"figure": {"caption": "With a window of 2, each letter sees itself and the two before it.", "name": "fig-window"}, "image": {"alt": "A grid of eight rows and eight columns, labelled with the letters of matrices. There are ticks on the diagonal and in the two cells to its left. The row of the seventh letter, e, is framed: it sees i, c and e."}}
mechanisms.window(efficient.window_mask(8, 2, is_causal=True))
plt.show()

# %% [markdown]
# ```{exercise} Sliding-window attention: the mask
# :label: exercise-window
#
# *8 minutes.* Return the mask of {numref}`fig-window` for any T and w. It is boolean, and True where the query of a row sees the key of a column. `torch.arange` returns the positions, and `[:, None]` turns them into a column.
# ([Solution](solutions/07_efficient_attention.ipynb#solution-window))
# ```


# %%
def window_mask(T, w):
    """Returns (T, T), True where query t sees key s: itself, and the w positions before it."""
    raise NotImplementedError


window_mask = check("window", window_mask)

# %%
check.show_reference("window")

# %% [markdown]
# Is everything further back lost? Not in a stack of blocks. In the block below, the farthest character of the window has seen the characters before *it*.

# %% tags=["mechanism"] mystnb={"figure": {"caption": "Windows add up: three blocks with a window of 2 reach six letters back.", "name": "fig-news"}, "image": {"alt": "Four rows of eight boxes: the letters of matrices below, then blocks 1 to 3. From the last box of block 3, arrows fan out downwards: three boxes of block 2, five of block 1 and seven letters are filled; the first letter is not."}}
mechanisms.reach(w=2, layers=3)
plt.show()

# %% [markdown]
# So $L$ blocks with a window of $w$ reach back $L \cdot w$ positions. With a window of 16, our writer's four blocks reach back $4 \cdot 16 = 64$.


# %%
mask_of = cache(window_mask)  # drawn once for each length


def in_window(q, k, v, w=16):
    return F.scaled_dot_product_attention(q, k, v, attn_mask=mask_of(q.shape[2], w))


# %% [markdown]
# And what did the mask save? Nothing: all pairs are scored, and then most scores are thrown away. To compute only the scores that count, cut the text into pieces as long as the window. Everything that a query may see is in its own piece or in the one before.

# %% tags=["mechanism"] mystnb={"figure": {"caption": "Most of the map is never computed: a window of 2, in a text cut into pieces of 2. Each piece's queries meet the keys of two pieces, and a small mask hides those that are too far away.", "name": "fig-blocks"}, "image": {"alt": "The grid of the window. In each pair of rows only the four columns of its own piece and the piece before are computed; of these eight cells six are filled and two struck out. All other cells are blank. The last piece is framed."}}
mechanisms.blocks(efficient.window_mask(8, 2, is_causal=True), 2)
plt.show()

# %% tags=["evidence"]
in_blocks = partial(efficient.window_attention, window=64, is_causal=True)
ways = partial(all_scores, w=64), in_blocks
less, (of_mask, of_blocks) = ([cost(form, T)[0] for form in ways] for T in (1024, 2048))
observe(
    "With a window of 64 at 2,048 positions, the pieces take {share:.0%} of the work that it takes to compute all scores and mask them. When the text doubles in length, the pieces take {blocks:.1f} times as much work, and the mask takes {mask:.1f} times as much.",
    **{"share": of_blocks / of_mask, "blocks": of_blocks / less[1], "mask": of_mask / less[0]},
    holds=of_blocks < min(0.2 * of_mask, 2.2 * less[1]) and of_mask > 3.5 * less[0],
)

# %% [markdown]
# This is the only one of today's three methods whose work on a whole text doesn't grow with the square of the length. ([More patterns](deeper/07_efficient_attention.ipynb#deeper-patterns), and [a way to do without pairs](deeper/07_efficient_attention.ipynb#deeper-linear), are on the deeper page.)
#
# ## Is it right?
#
# *1 minute.* We compare your three functions with the library's attention and the book's own, in double precision.

# %% tags=["evidence"]
exact = partial(torch.testing.assert_close, rtol=1e-10, atol=1e-10)
q, k, v = heads(37, d=6, dtype=torch.float64)
exact(in_tiles(q, k, v, tile=8), all_pairs(q, k, v))
exact(in_window(q, k, v, w=5), efficient.window_attention(q, k, v, 5, is_causal=True))
assert off_by_steps(writer, Remembering, n=40) < 1e-10
print("tiles, window and steps agree with the library, the book and the whole text, to ten digits")

# %% [markdown]
# ## Train it
#
# *3 minutes.* A cache and tiles fit into any trained model. A window doesn't, because it computes a different function. We put windows in all the same, at first without further training.


# %%
def narrowed(w):
    """The trained writer, each of whose blocks sees w characters back."""
    model = Writer(partial(in_window, w=w))
    model.load_state_dict(writer.state_dict())
    return model


sudden = {w: perplexity(narrowed(w), n_pieces=24) for w in (4, 16, 64)}

# %% tags=["view"]
answers = ["It stays the same.", "It rises by less than a tenth.", "It rises by more than a tenth."]
guess(
    "The writer was trained with all pairs. Now each of its blocks suddenly sees only 16 characters back. What happens to the perplexity?",
    answers,
    right=answers[1 if sudden[16] < 1.1 * full else 2],
    because=f"It was {full:.2f} and is now {sudden[16]:.2f}. The near characters tell the writer nearly everything that the far ones would.",
)

# %% tags=["evidence"]
observe(
    "With a window of 64, the perplexity is {wide:.2f}. With a window of 4, it is {narrow:.2f}.",
    **{"wide": sudden[64], "narrow": sudden[4]},
    holds=abs(sudden[64] / full - 1) < 0.02
    and 1.01 < sudden[16] / full < 1.08
    and sudden[4] > 1.06 * full,
)

# %% [markdown]
# What are distant pairs worth, then? A stored experiment trained the writer further, for equally many steps, with six windows and with all pairs, three times each. Even with all pairs, the extra training makes the writer a little worse. So each window is compared with all pairs at the same stage.

# %%
stored = experiments.load("writer_windows")
sizes = [w for w in stored.parameters["window"] if w]


# %% tags=["evidence"] mystnb={"figure": {"caption": "On this text, a window of a few dozen characters hardly raises the perplexity, and raises it even less once the writer has trained under it. Perplexity on validation text, relative to that with all pairs with the same training: mean and range of three seeds (stored experiment).", "name": "fig-windows"}, "image": {"alt": "Two falling curves over windows of 4 to 128 characters. The curve before training starts about twice as far above 1 as the one after it; from 64 characters on, both are close to 1."}}
def relative(when, w):
    """Perplexities under a window over those with all pairs, by seed."""
    return [a / b for a, b in zip(*(stored.column(when, window=size) for size in (w, 0)))]


lines = {
    "at first": [*zip(*(relative("before", w) for w in sizes))],
    "after training": [*zip(*(relative("after", w) for w in sizes))],
}
by_length(lines, sizes, "characters back, in each block", "relative perplexity", logy=False)
plt.show()

# %% tags=["evidence"]
first, after = ({w: sum(relative(when, w)) / 3 - 1 for w in sizes} for when in ("before", "after"))
observe(
    "At first, a window of 4 raises the perplexity by {four:.1%}, one of 16 by {some:.1%}, and one of 64 by {many:.1%}. Once the writer has been trained with them, the first raises it by {four_after:.1%}, the second by {some_after:.1%}, and the third by {many_after:.1%}.",
    **{"four": first[4], "some": first[16], "many": first[64]},
    **{"four_after": after[4], "some_after": after[16], "many_after": after[64]},
    holds=all(0 < after[w] < 0.8 * first[w] for w in (4, 8, 16, 32))
    and max(first[16], first[64], after[64]) < 0.05
    and first[4] > 0.08
    and stored.spread("after", window=0)[1] > stored.spread("before", window=0)[2],
)

# %% [markdown]
# ## Look inside
#
# *1 minute.* Where does the writer's attention go when it may go anywhere?

# %% tags=["evidence"] mystnb={"figure": {"caption": "Most attention falls on the neighbours, but not all of it: the share that the last 1 to 192 characters get, averaged over heads and validation text. The dashed line marks a window of 16.", "name": "fig-near"}, "image": {"alt": "Four curves rise with the number of characters, from 1 to 192 on a logarithmic axis, some much earlier than others."}}
within = weight_within(looks)
lines = {f"block {i + 1}": (range(1, 193), share[:192]) for i, share in enumerate(within)}
ax = curves(lines, "characters, from the last one back", "share of the attention", logx=True)
ax.axvline(17, color=INK, lw=1, ls="--")
plt.show()

# %% tags=["evidence"]
reaches = within[:, 16].tolist()
observe(
    "The last 17 characters get {most:.0%} of the attention in one block, and {least:.0%} in the block that looks farthest. An even spread would give them {even:.0%}.",
    **{"most": max(reaches), "least": min(reaches), "even": 17 / 256},
    holds=max(reaches) > 0.8 and sum(reaches) > 0.6 * 4 and min(reaches) > 2 * 17 / 256,
)

# %% [markdown]
# On this text, attention beyond the window tells this writer little that is new.
#
# ## Show someone
#
# *11 minutes.* The writer runs on this page. Start a text, and it is continued twice, without a cache and with one, but with the same weights, random numbers and share of the processor's time. Then let the cache hold only the last 17 characters. Sooner or later the two texts diverge.

# %% tags=["view"]
live_race("documentation", beginning=start)

# %% [markdown]
# Next is a replay of your own cache, with the times of the machine that ran this page. In JupyterLab, add your own beginnings to the list.

# %%
beginnings = [start, "If the matrix is sparse, "]

# %% tags=["view"]
runs = {start: (text, slow, fast)}
for beginning in beginnings:
    if beginning not in runs:
        written, slowly = write(read_again(writer), beginning)
        runs[beginning] = (written, slowly, write(Remembering(writer), beginning)[1])
race(runs)

# %% [markdown]
# ## Where it breaks
#
# *3 minutes.* So is a window all you need? Take a text of 128 positions in which an answer can be far away. Half of the positions hold a pair, a key with its value; the other half, in between, hold a key alone and ask: *which value did it have?* That is **recall** {cite}`arora2024zoology`. The answer may come before the question or after it, so these models look both ways.
# Stored experiments trained Transformers of two blocks on this task, with three seeds for each kind of attention, the same number of steps and the same learning rate.

# %% tags=["view"]
EDGES = (1, 17, 33, 49, 65, 97, 128)  # as in the experiments
middles = [(a + b - 1) / 2 for a, b in zip(EDGES, EDGES[1:])]
quality, mixed = experiments.load("efficient_quality"), experiments.load("mixed_windows")
found = {
    name: quality.column("right by distance", method=method, task="recall")
    for name, method in (("all pairs", "full"), ("window of 16", "window"))
}
by_distance = [sum(rings) / 3 for rings in zip(*found["window of 16"])]
answers = ["16 positions", "32 positions", "all 128"]
guess(
    "Two blocks with a window of 16 reach 32 positions. Up to what distance do they find the answer?",
    answers,
    right=answers[0 if by_distance[1] < 0.5 else 1],
    because=f"At 1 to 16 positions they answer {by_distance[0]:.0%} of the questions correctly, and at 17 to 32 only {by_distance[1]:.0%}. Guessing would get one in eight correct.",
)

# %% tags=["evidence"] mystnb={"figure": {"caption": "One block with all pairs is enough to bring recall back. Share of correct answers by distance: mean and range of three seeds (stored experiments). The dashed line is chance.", "name": "fig-distance"}, "image": {"alt": "Three lines over the distance, from about 10 to 110 positions. All pairs stay at one. The window begins near one and drops to chance beyond 16 positions. A window in one block and all pairs in the other stay near one."}}
found["one of each"] = mixed.column("right by distance", **{"all pairs in block": 2})
lines = {name: (middles, rings) for name, rings in found.items()}
ax = curves(lines, "positions between question and answer", "share correct")
ax.axhline(1 / 8, color=INK, lw=1, ls="--")
plt.show()

# %% tags=["evidence"]
everywhere, near_only, one_each = (sum(rings[-1] for rings in rows) / 3 for rows in found.values())
beyond = max(rings[1] for rings in found["window of 16"])
observe(
    "Beyond 96 positions, windows alone answer {window:.0%} of the questions correctly, all pairs answer {all:.0%}, and one block of each answers {one:.0%}. At 17 to 32 positions, which two blocks could reach, the best run with windows answers {beyond:.0%}.",
    **{"window": near_only, "all": everywhere, "one": one_each, "beyond": beyond},
    holds=max(near_only, beyond) < 0.2 and min(everywhere, one_each) > 0.9,
)

# %% [markdown]
# On documentation a window lost little; here it is blind beyond 16 positions. Two blocks could have passed the answer on, but in so little training they didn't learn to. Some models alternate, with a window in one block and
# all pairs in the next {cite}`riviere2024gemma`. **Ask what the task has to find, and how far away it might be.** If you can't tell, keep all pairs, and save work with a cache and memory with tiles.
#
# **Today's answer:** attention computes old keys and values twice and stores its map for nothing; a cache and tiles avoid both, and change no answer. Many distant pairs are compared for nothing, too, but a network that leaves them all out can't recall what is far away.

# %% [markdown]
# ## What we found
#
# *1 minute.* Two claims that you will often read, and our answers. Eleven more are on the [deeper page](deeper/07_efficient_attention.ipynb).
#
# (claim-eff-8a)=

# %% tags=["evidence"]
slope = (with_cache[-1] - with_cache[-2]) / (counts[-1] - counts[-2])
line = [with_cache[0] + slope * (T - counts[0]) for T in counts]
claim(
    "eff-8a",
    "Yes: with a cache, each character in it adds {each:,.0f} operations to the next step; without one, twice the text takes {times:.1f} times the work.",
    each=1e6 * slope,
    times=without[-1] / without[-2],
    holds=lambda each, times: (
        each > 0 and max(abs(a / b - 1) for a, b in zip(line, with_cache)) < 0.01 and times > 2.2
    ),
    counted=True,
    scale="a writer of four blocks, 96 wide, 64 to 1,024 characters",
)

# %% [markdown]
# (claim-eff-2)=

# %% tags=["evidence"]
costs = experiments.load("attention_costs")
at = {T: {row["method"]: row["step_bytes"] for row in costs.select(T=T)} for T in (4096, 8192)}
claim(
    "eff-2",
    "No: when the length doubles, whole maps take {full:.1f} times as much memory, but tiles take only {tiled:.1f} times as much, and the library's kernel takes {fused:.1f} times as much.",
    **{name: at[8192][name] / at[4096][name] for name in ("full", "tiled", "fused")},
    holds=lambda full, tiled, fused: full > 3.5 and max(tiled, fused) < 2.2,
    experiment="attention_costs",
    scale="a training step of one head, 64 wide, 4,096 and 8,192 positions",
)

# %% [markdown]
# ## Exercises
#
# *As long as you like.* Eleven more are on the [deeper page](deeper/07_efficient_attention.ipynb), and all solutions are on [a page of their own](solutions/07_efficient_attention.ipynb).
#
# ```{exercise} What a key–value cache weighs
# :label: exercise-cache-size
#
# *Warm-up, 5 minutes.* A large language model has 80 layers. Each has 64 query heads, which share 8 heads of keys and values, all 128 wide.
# How many GiB ($2^{30}$ bytes) does its cache need for one sequence of 4096 positions, in half precision (2 bytes per number)?
# ([Solution](solutions/07_efficient_attention.ipynb#solution-cache-size))
# ```

# %%
my_gib = None

check("cache_size", my_gib)

# %% [markdown]
# ```{exercise} Predict: when do attention's pairs dominate the cost?
# :label: exercise-cost-of-pairs
#
# *Warm-up, 6 minutes.* An encoder block is 512 wide. It has 8 heads, four projections, and a feed-forward layer with 2048 hidden units. At which
# length $T$ do the pairs, that is, the scores and the averages of values, need as many multiply–adds as **all the rest** of the block? Ignore biases and everything that is not a matrix product.
# ([Solution](solutions/07_efficient_attention.ipynb#solution-cost-of-pairs))
# ```

# %%
my_length = None

check("cost_of_pairs", my_length)

# %% [markdown]
# ```{exercise} Predict: what a window recalls
# :label: exercise-window-recall
#
# *Core, 6 minutes.* A text has 128 positions. A question is equally likely at each of them, and its answer is equally likely at each of the other 127. A one-block model has a window of 16 positions to either side. It answers correctly if it sees the answer, and
# otherwise guesses one of 8 values. What share of the questions does it answer correctly? Half a percentage point more or less doesn't matter. ([Solution](solutions/07_efficient_attention.ipynb#solution-window-recall))
# ```

# %%
my_share = None

check("window_recall", my_share)

# %% [markdown]
# ```{exercise} Dilated window: a window with holes
# :label: exercise-dilated-window
#
# *Core, 10 minutes.* A **dilated** window reaches further with the same number of pairs. Query $t$ sees itself and `window` positions before it, spaced `dilation` apart. Return the mask. Then ask yourself: if three blocks have a window of 3 and dilations of 1, 4 and 16, from how far back can information reach the last position?
# ([Solution](solutions/07_efficient_attention.ipynb#solution-dilated-window))
# ```


# %%
def dilated_mask(T: int, window: int, dilation: int) -> torch.Tensor:
    """Return (T, T), boolean, True where query t (a row) sees key s (a column)."""
    raise NotImplementedError


check("dilated_window", dilated_mask)

# %% [markdown]
# ```{exercise} Online softmax: how often does the maximum move? (a prediction)
# :label: exercise-running-maximum
#
# *Core, 5 minutes.* An online softmax takes in the scores one by one. There are a thousand of them, no two equal, in random order. How often does the maximum move, on average? The first score
# counts as one move. A tenth more or less doesn't matter.
# ([Solution](solutions/07_efficient_attention.ipynb#solution-running-maximum))
# ```

# %%
my_moves = None

check("running_maximum", my_moves)

# %% [markdown]
# ## Checklist and tomorrow

# %% tags=["view"]
points = {
    "write with a cache of keys and values, and say why that is allowed": "cached_step",
    "compute the size of a cache for any model": "cache_size",
    "compute an exact softmax tile by tile": "online_softmax running_maximum",
    "draw the mask of a window, and say how far information travels through blocks": "window dilated_window",
    "count the cost of attention, and say at which length it dominates": "cost_of_pairs",
    "say what a window can't recall": "window_recall",
}
checklist({point: ids.split() for point, ids in points.items()})

# %% [markdown]
# You have written everything that a network needs to read, translate and write, and you know what it costs. **Tomorrow** a network reads [sentences that people wrote](08_text_classification.ipynb). What is each about, and which words decide it?

# %% [markdown]
# ## Further reading
#
# - {cite:t}`dao2022flashattention`, the paper to read first: why moving bytes costs more than computing.
# - {cite:t}`milakov2018online`, the online softmax, in four pages.
# - {cite:t}`ainslie2023gqa`, how a trained model gets a smaller cache.
# - {cite:t}`beltagy2020longformer`, windows, and what to add to them.
