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
# - draw the mask of a window, and say how far news travels through layers,
# - change the order of a product, and step along with a state of one size,
# - find an exact softmax tile by tile,
# - write with a cache, and say what it weighs,
# - count what attention costs, in pairs, work and bytes,
# - say which of these ways gives other answers, and when that hurts.
#
# It builds on [Day 5](05_self_attention.ipynb) and [Day 6](06_transformer.ipynb). You need 55 minutes to read and under half an hour to write four
# functions. What you wrote is what writes, at the end: the same text as before, in less time.

# %% tags=["setup"]
import convolution_to_attention  # is `utils` this book's?

import math
from functools import cache, partial
from itertools import product
from time import perf_counter

import matplotlib.pyplot as plt
import torch
from torch import nn
from torch.nn import functional as F

from utils import efficient
from utils.efficient import blocks
from utils.exercises.efficient_attention import check
from utils.exercises.progress import checklist
from utils.positions import Rotary
from utils.self_attention import merge_heads, split_heads
from utils.measure import experiments
from utils.measure.claims import claim
from utils.measure.costs import exponent, peak_bytes, work
from utils.show.display import observe
from utils.show.mechanisms import efficient_attention as mechanisms
from utils.show.plotting import INK, bars, curves, use_book_style
from utils.show.views import guess, online_softmax, patterns, quiz, race
from utils.tasks.long_texts import all_scores, heads
from utils.tasks.writer import drawn, perplexity, train_writer, vocabulary
from utils.tasks.writer import next_letter, off_by_steps, weight_within

use_book_style()
VOCABULARY = vocabulary()

# %% [markdown]
# **Five questions about yesterday**

# %% tags=["view"]
quiz("07_efficient_attention")

# %% [markdown]
# ## Where we stand
#
# *6 minutes.* Day 3 had a network that continues a text, letter by letter. Here is yesterday's decoder for the same task, made small. Only one thing is new: the part that looks is handed in as
# `attend`, because today we exchange it. (`turn` is Day 5's rotary position.)


# %%
class Block(nn.Module):
    """A look and a thought, each added to the stream: x (B, T, D) to the same."""

    def __init__(self, D, h, F):
        super().__init__()
        self.h, self.turn = h, Rotary(D // h)
        self.W_in, self.W_o = nn.Linear(D, 3 * D, bias=False), nn.Linear(D, D, bias=False)
        self.think = nn.Sequential(nn.Linear(D, F), nn.ReLU(), nn.Linear(F, D))
        self.norms = nn.ModuleList([nn.LayerNorm(D), nn.LayerNorm(D)])

    def forward(self, x, attend, start):
        q, k, v = (split_heads(y, self.h) for y in self.W_in(self.norms[0](x)).chunk(3, dim=-1))
        found = attend(self.turn(q, start), self.turn(k, start), v)
        x = x + self.W_o(merge_heads(found))
        return x + self.think(self.norms[1](x))


# %%
class Writer(nn.Module):
    """Ids (B, T), from position `start` on, to logits (B, T, V); `attend` makes contexts."""

    def __init__(self, attend, D=64, h=2, F=256, L=2):
        super().__init__()
        V = len(VOCABULARY)
        self.attend, self.letters = attend, nn.Embedding(V, D)
        self.blocks = nn.ModuleList(Block(D, h, F) for _ in range(L))
        self.norm, self.output = nn.LayerNorm(D), nn.Linear(D, V)

    def forward(self, ids, start=0, looks=None):
        x = self.letters(ids)
        for i, block in enumerate(self.blocks):
            x = block(x, looks[i] if looks else self.attend, start)
        return self.output(self.norm(x))


# %% [markdown]
# It reads a library's documentation, in pieces of 128 and of 512 letters. At first, each letter looks at all before it.


# %%
def trained(attend):
    torch.manual_seed(0)
    model = Writer(attend)
    return model, train_writer(model)


@torch.no_grad()
def write(following, beginning, n=480):
    """Draw n letters, each from the logits that `following` makes of all ids so far."""
    text, seconds, generator = VOCABULARY.encode(beginning), [], torch.Generator().manual_seed(0)
    for _ in range(n):
        begun = perf_counter()
        text.append(drawn(following(text), generator))
        seconds.append(perf_counter() - begun)
    return "".join(VOCABULARY.symbols[i] for i in text[-n:]), seconds


# %% tags=["training"]
all_pairs = partial(F.scaled_dot_product_attention, is_causal=True)
writer, history = trained(all_pairs)


# %%
def read_again(model):
    """Read the whole text again for each new letter."""
    return lambda text: model(torch.tensor([text]))[0, -1]


start, n = "Return the number of ", 480
text, slow = write(read_again(writer), start, n)

# %% tags=["evidence"]
full = perplexity(writer)
compared = [T * (T + 1) // 2 for T in range(len(start), len(start) + n)]
measured = {"found": full, "text": text[:40].replace("\n", " ")}
observe(
    "Its validation perplexity is {found:.1f}. It writes: “{text}…” For that, each head compared {pairs:,} pairs, {again:.0%} of them again.",
    **measured | {"pairs": sum(compared), "again": 1 - compared[-1] / sum(compared)},
    holds=full < 12 and compared[-1] < 0.02 * sum(compared),
)

# %% tags=["mechanism"] mystnb={"figure": {"caption": "Three steps of writing. At each, the whole text is read again: struck out is what was compared before.", "name": "fig-again"}, "image": {"alt": "Three triangles of cells, of two, three and four rows, with the letters m, a, t, r beside and above them. The last row of each is filled; the cells above it are pale and struck out. Below: 3 pairs, 2 new; 6 pairs, 3 new; 10 pairs, 4 new."}}
mechanisms.again()
plt.show()

# %% [markdown]
# That is one waste. The other is the square itself. A clock would measure this machine, so we **count**: `work` counts operations, two for each multiply–add; `peak_bytes` asks PyTorch how much memory it had
# given out at once. One head is 64 wide, and makes `all_scores` under a causal mask.


# %%
@torch.no_grad()
def cost(form, T):
    """Operations of a form on T positions, and the most bytes it held at once."""
    q, k, v = heads(T)
    return work(lambda: form(q, k, v)).total, peak_bytes(lambda: form(q, k, v))


lengths = [128, 256, 512, 1024, 2048]
operations, held = zip(*(cost(all_scores, T) for T in lengths))

# %% tags=["evidence"] mystnb={"figure": {"caption": "What one head costs by the length of the text, if all scores are made at once: counted. Both axes are logarithmic.", "name": "fig-square"}, "image": {"alt": "Two parallel straight lines over 128 to 2048 positions, million operations above and megabytes below. Each rises by a factor of four from a length to its double."}}
counted = {"million operations": operations, "megabytes at once": held}
lines = {name: (lengths, [number / 1e6 for number in row]) for name, row in counted.items()}
ax = curves(lines, "positions", "", logx=True, logy=True)
ax.set_xticks(lengths, lengths)
ax.minorticks_off()
plt.show()

# %% tags=["evidence"]
by_work, by_bytes = exponent(lengths, operations), exponent(lengths, held)
observe(
    "Work grows with a power of {by_work:.2f} of the length, bytes with {by_bytes:.2f}: twice the length costs four times as much.",
    **{"by_work": by_work, "by_bytes": by_bytes},
    holds=abs(by_work - 2) < 0.1 and abs(by_bytes - 2) < 0.1,
)

# %% [markdown]
# ## The idea
#
# *3 minutes.* Imagine a meeting where everyone is to hear everyone. There are four ways to make it shorter.
#
# 1. **Neighbours.** Everyone talks to those beside them. News from far away comes in several rounds: a **window**.
# 2. **A board.** Everyone pins a note to one board, and everyone reads the board once. Nobody meets anybody: **linear attention**.
# 3. **Small groups.** Everyone still hears everyone, a few at a time, and keeps one running note instead of a record of it all: **tiles**.
# 4. **Nothing twice.** When someone new comes in, the others don't introduce themselves again: a **cache**.

# %% tags=["mechanism"] mystnb={"figure": {"caption": "Four ways. The first two change what is computed, the others only how.", "name": "fig-four-ways"}, "image": {"alt": "Four small pictures. Neighbours: a band along the diagonal of a six by six map. A board: six positions with arrows into a box S, and arrows from it to six positions. Under these two: other answers. Small groups: a pale triangle with one dark square of four cells. Nothing twice: a pale triangle with a dark last row. Under these two: the same answers."}}
mechanisms.four_ways()
plt.show()

# %% [markdown]
# ## Step by step
#
# ### Neighbours: a window
#
# *12 minutes, a third of them yours.* Let a letter see itself and the $w$ letters before it {cite}`beltagy2020longformer`. Its sum runs over these alone:
#
# $$
# \begin{aligned}
# c_t &= \sum_{s=t-w}^{t} \alpha_{ts}\, v_s , \\
# \alpha_{ts} &= \frac{\exp(q_t^\top k_s / \sqrt{d_k})}{\sum_{r=t-w}^{t} \exp(q_t^\top k_r / \sqrt{d_k})} .
# \end{aligned}
# $$ (eq-window)

# %% tags=["mechanism"] mystnb={"figure": {"caption": "A window of 2: each letter sees itself and two before it.", "name": "fig-window"}, "image": {"alt": "A grid of eight rows and columns, the letters of matrices. Ticks stand on the diagonal and in the two cells left of it. The row of the seventh letter, e, is framed: it sees i, c and e."}}
mechanisms.window(efficient.window_mask(8, 2, is_causal=True))
plt.show()

# %% [markdown]
# ```{exercise} A window
# :label: exercise-window
#
# *4 minutes.* Draw the mask of {numref}`fig-window` for any T and w: boolean, True where the query of a row sees the key of a column. `torch.arange` makes positions, and `[:, None]` turns them into a column.
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
# Now a second writer learns with your mask. Each letter sees itself and 16 before it, and nothing else.


# %%
mask_of = cache(window_mask)  # drawn once for each length


def in_window(q, k, v, w=16):
    return F.scaled_dot_product_attention(q, k, v, attn_mask=mask_of(q.shape[2], w))


# %% tags=["training"]
neighbours, by_window = trained(in_window)

# %% tags=["view"]
near = perplexity(neighbours)
guess(
    "What becomes of the perplexity if each letter sees only 16 before it?",
    ["It doubles.", "It rises by a third.", "It does not rise."],
    right="It does not rise." if near < full else "It rises by a third.",
    because=f"With all pairs it is {full:.1f}, now it is {near:.1f}. In so short a training, what is near says most about the next letter.",
)

# %% [markdown]
# After this training, the pairs that we left out are no loss. And 16 letters are not all that it knows. The sixteenth before has itself seen sixteen before *it*.

# %% tags=["mechanism"] mystnb={"figure": {"caption": "Three layers with a window of 2: what reaches the last letter on top.", "name": "fig-news"}, "image": {"alt": "Four rows of eight boxes: the letters of matrices below, then layers 1 to 3. From the last box of layer 3, arrows fan out downwards: three boxes of layer 2, five of layer 1 and seven letters are filled; the first letter is not."}}
mechanisms.reach(w=2, layers=3)
plt.show()

# %% [markdown]
# So $L$ layers reach back $L \cdot w$ positions.
#
# What did the mask save? Nothing. All pairs are compared, then most are thrown away. To *compute* no others, cut the text into blocks as long as the window. All that a query may see is then in its own block
# or the one before.

# %% tags=["mechanism"] mystnb={"figure": {"caption": "The same window in blocks of 2. Each block of queries is multiplied with two blocks of keys; a small mask takes away what is too far or still to come.", "name": "fig-blocks"}, "image": {"alt": "The grid of the window. In each pair of rows only the four columns of its own block and the block before are computed; of these eight cells five are filled and the others struck out. All other cells are blank. The last block is framed."}}
mechanisms.blocks(efficient.window_mask(8, 2, is_causal=True), 2)
plt.show()

# %% tags=["evidence"] mystnb={"figure": {"caption": "Operations of one head with a window of 64: with a mask over all scores, and in blocks. Counted; both axes are logarithmic.", "name": "fig-blocks-work"}, "image": {"alt": "Two straight lines over 128 to 2048 positions. They begin at nearly the same height; that of the mask rises twice as steeply as that of the blocks."}}
ways = {"mask over all": partial(all_scores, w=64)}
ways["in blocks"] = partial(efficient.window_attention, window=64, is_causal=True)
counted = {name: [cost(form, T)[0] / 1e6 for T in lengths] for name, form in ways.items()}
lines = {name: (lengths, row) for name, row in counted.items()}
ax = curves(lines, "positions", "million operations", logx=True, logy=True)
ax.set_xticks(lengths, lengths)
ax.minorticks_off()
plt.show()

# %% tags=["evidence"]
share = counted["in blocks"][-1] / counted["mask over all"][-1]
slope = exponent(lengths[2:], counted["in blocks"][2:])
observe(
    "At 2,048 positions blocks need {share:.0%} of the work; it grows with a power of {slope:.2f} of the length.",
    **{"share": share, "slope": slope},
    holds=share < 0.2 and abs(slope - 1) < 0.1,
)

# %% [markdown]
# More patterns are on the [deeper page](deeper/07_efficient_attention.ipynb#deeper-patterns).
#
# ### A board: another order
#
# *13 minutes, half of them yours.* A window forgets what is far. Can one keep *something* of everything? Suppose a weight were a plain product, $\phi(q)^\top \phi(k)$, with no softmax around it. $\phi$
# makes $m$ **features** of a query or a key, none below 0. Then the order of the multiplication is ours to choose:

# %% tags=["mechanism"] mystnb={"figure": {"caption": "Three matrices, multiplied in two orders. The first makes a map of all pairs on its way, the second a small board.", "name": "fig-orders"}, "image": {"alt": "Above, a tall T by m matrix times a flat m by T matrix is a large square, T by T; times a tall T by d matrix it is a tall result. Below, the flat matrix times the tall T by d matrix is a small square, m by d; then the tall T by m matrix times the small square is the same tall result."}}
mechanisms.orders()
plt.show()

# %%
phi_q = torch.tensor([[1.0, 2.0], [0.0, 1.0], [3.0, 1.0]])
phi_k = torch.tensor([[1.0, 0.0], [2.0, 1.0], [0.0, 1.0]])
v = torch.tensor([[1.0], [2.0], [3.0]])
print("pairs first     ", (phi_q @ phi_k.T @ v).flatten().tolist())
print("the board first ", (phi_q @ (phi_k.T @ v)).flatten().tolist())

# %% [markdown]
# The sums still have to be divided by the sum of their weights, and that can be taken apart in the same way {cite}`katharopoulos2020transformers`:
#
# $$
# \begin{aligned}
# c_t &= \frac{\sum_s \phi(q_t)^\top \phi(k_s)\, v_s^\top}{\sum_s \phi(q_t)^\top \phi(k_s)}
#     = \frac{\phi(q_t)^\top S}{\phi(q_t)^\top z} , \\
# S &= \sum_s \phi(k_s)\, v_s^\top, \quad z = \sum_s \phi(k_s) .
# \end{aligned}
# $$ (eq-linear-attention)
#
# $S$ is the board. If the future is hidden, its sums go up to $t$, and grow by one note per step, $S_t = S_{t-1} + \phi(k_t)\, v_t^\top$. So this attention is a recurrent network, with a state of one size.

# %% tags=["mechanism"] mystnb={"figure": {"caption": "One step: a key's features times a value are added to the board, and a query's features read it.", "name": "fig-board"}, "image": {"alt": "A column of features 2, 1 in orange times a row of values 1, 3 in green is a table with the rows 2, 6 and 1, 3, to be added. Plus the table S before, with the rows 4, 0 and 1, 1, it is S after, 6, 6 and 2, 4. The query's features 1, 2 in blue read it and find 10, 14."}}
mechanisms.board(
    *(torch.tensor([row]) for row in ([1.0, 2], [2.0, 1], [1.0, 3])),
    torch.tensor([[4.0, 0], [1, 1]]),
)
plt.show()

# %% [markdown]
# Which $\phi$? It must not be negative, so that weights aren't. The paper takes $x + 1$ above 0 and $e^x$ below.

# %% tags=["mechanism"] mystnb={"figure": {"caption": "The features, and the exponential that a softmax has. (In libraries the dashed curve is called elu, plus 1.)", "name": "fig-features"}, "image": {"alt": "Two curves over -3 to 3. Left of 0 they are the same, near 0 and rising to 1. Right of 0 the features, dashed, go on as a straight line to 4, while the exponential leaves the picture."}}
x = torch.linspace(-3, 3, 121)
ax = curves({"exponential": (x, x.exp()), "φ": (x, efficient.elu_features(x))}, "x", "")
ax.set_ylim(0, 6)
plt.show()

# %% [markdown]
# ```{exercise} The board
# :label: exercise-state-step
#
# *7 minutes.* Take one step of {eq}`eq-linear-attention`: pin the new note, then read. Features and value are rows, (..., 1, m) and (..., 1, d_v), so a column is `phi_k.mT`. Return the context, and the new $S$ and $z$. Don't change the
# old ones in place. ([Solution](solutions/07_efficient_attention.ipynb#solution-state-step))
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
# Steps wait for each other, which is bad for training. So a third writer learns from all pairs at once, under a triangle, and *writes* with your step. A small object gives each block a look of its own (`looks`), and keeps what it holds.


# %%
phi = efficient.elu_features


def by_features(q, k, v):
    weights = (phi(q) @ phi(k).mT).tril()
    return weights @ v / weights.sum(dim=-1, keepdim=True)


# %% tags=["training"]
summing, by_sums = trained(by_features)


# %%
class Remembering:
    """The logits of what follows a text; only what has not been read yet is read."""

    def __init__(self, model, step, nothing):
        self.model, self.step, self.nothing, self.n_read = model, step, nothing, 0
        self.held = [None for _ in model.blocks]

    def look(self, i, q, k, v):
        held = self.held[i] or self.nothing(q, k, v)
        context, *self.held[i] = self.step(q, k, v, *held)
        return context

    def __call__(self, text):
        looks = [partial(self.look, i) for i in range(len(self.held))]
        for t in range(self.n_read, len(text)):
            logits = self.model(torch.tensor([text[t : t + 1]]), t, looks)
        self.n_read = len(text)
        return logits[0, -1]


# %%
def feature_step(q, k, v, S, z):
    return state_step(phi(q), phi(k), v, S, z)


def empty_board(q, k, v):
    return k.new_zeros(*k.shape[:2], k.shape[3], v.shape[3]), torch.zeros_like(k)


def on_a_board(model):
    return Remembering(model, feature_step, empty_board)


stepping = on_a_board(summing)
text, _ = write(stepping, start, n=100)

# %% tags=["evidence"]
blurred = perplexity(summing)
board = sum(x.numel() for of_block in stepping.held for x in of_block)
observe(
    "Its perplexity is {blurred:.1f}. It writes “{text}…”, and holds {board:,} numbers, however long the text.",
    **{"blurred": blurred, "text": text[:30].replace("\n", " "), "board": board},
    holds=near < 1.15 * full and blurred > 1.2 * max(full, near),
)

# %% [markdown]
# After the same training it is worse. Its features grow as a line where a softmax has an exponential, so its weights come out more alike. Perhaps that is the reason. To learn more slowly is not to be unable to learn, as we will see.
#
# ### Small groups: tiles
#
# *14 minutes, half of them yours.* Now the same numbers, found in another way. A softmax divides by the sum of a *whole* row. Must the row be there at once? No: the sum can be found while the scores pass by, a **tile** of them at a time
# {cite}`milakov2018online`. Keep three numbers for each query: the largest score so far, $m$ (no number of features now); the sum $\ell$ of all $e^{x_j - m}$; and $a$, the same sum with the values in it. (The maximum is taken off so that no exponential overflows.) When a tile raises
# the maximum to $m'$, what was summed so far is too large by $e^{m' - m}$:
#
# $$
# \begin{aligned}
# m' &= \max(m, \max_j x_j), \\
# \ell' &= e^{m - m'} \ell + \sum_j e^{x_j - m'}, \\
# a' &= e^{m - m'} a + \sum_j e^{x_j - m'} v_j ,
# \end{aligned}
# $$ (eq-online-softmax)
#
# and at the end $c = a / \ell$. Nothing is approximated.

# %% tags=["mechanism"] mystnb={"figure": {"caption": "One query, four scores in two tiles. In the second the maximum rises from 3 to 5, so the sums so far are multiplied by $e^{-2}$.", "name": "fig-online"}, "image": {"alt": "Tile 1 has the scores 1, 3 and the values 4, 0; below it m is 3, the sum 1.14, a 0.54. An arrow, times 0.14, leads to what is kept after tile 2, with the scores 2, 5 and the values 8, 2: m is 5, the sum 1.2, a 2.47. An arrow leads to the context, 2.05."}}
mechanisms.online(torch.tensor([1.0, 3, 2, 5]), torch.tensor([4.0, 0, 8, 2]), 2)
plt.show()

# %% [markdown]
# Step through a longer row.

# %% tags=["view"]
online_softmax([1, 3, 2, 5, 4, 0, 6, 2, 1], [4, 0, 8, 2, 6, 1, 3, 5, 7], size=3)

# %% [markdown]
# ```{exercise} One tile
# :label: exercise-online-softmax
#
# *8 minutes.* Take in one tile, for T queries at once. The first tile finds $m = -\infty$ and sums of 0. `amax(dim=-1, keepdim=True)` is the largest of each row. ([Solution](solutions/07_efficient_attention.ipynb#solution-online-softmax))
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
# With it, all queries walk along the keys.


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
tiled = perplexity(writer)
writer.attend = all_pairs

# %% tags=["evidence"]
observe(
    "With your tiles, the first writer's perplexity is {tiled:.4f}; it was {full:.4f}.",
    **{"tiled": tiled, "full": full},
    holds=abs(tiled - full) < 1e-3,
)

# %% tags=["mechanism"] mystnb={"figure": {"caption": "How libraries walk: one block of queries after another, a tile at a time. Yours takes all queries along at once.", "name": "fig-walk"}, "image": {"alt": "A column of five blocks of queries, the fourth dark. Beside it a five by five grid of tiles; in the fourth row the tiles are numbered 1 to 4, and the third is dark and framed. An arrow leads from the row to three cells, m, the sum and a, kept for these queries. Note: tile 3 is there now; 1 and 2 are gone, 4 is still to come."}}
mechanisms.walk()
plt.show()

# %% tags=["view"]
q, k, v = heads(4096)
held = {"all at once": peak_bytes(lambda: all_scores(q, k, v))}
with torch.no_grad():
    held["your tiles"] = peak_bytes(lambda: in_tiles(q, k, v))
    held["the library's"] = peak_bytes(lambda: all_pairs(q, k, v))
share = held["your tiles"] / held["all at once"]
guess(
    "At 4,096 positions: how much of the memory do your tiles take, compared with all scores at once?",
    ["about half", "about a tenth", "less than a twentieth"],
    right="less than a twentieth" if share < 0.05 else "about a tenth",
    because=f"{held['your tiles'] / 1e6:.1f} MB instead of {held['all at once'] / 1e6:.0f}, that is {share:.1%}.",
)

# %% tags=["evidence"] mystnb={"figure": {"caption": "The most bytes that one head holds at once, at 4,096 positions: counted.", "name": "fig-tile-bytes"}, "image": {"alt": "Three bars: all at once is by far the longest, at over two hundred megabytes; your tiles and the library's hardly show, at a few."}}
bars({name: number / 1e6 for name, number in held.items()}, "megabytes at once")
plt.show()

# %% [markdown]
# **FlashAttention** {cite}`dao2022flashattention` does this in one function within a GPU's fast memory, and on the way back it makes the scores anew. The library's fused attention, which our layers have used since Day 5, is of this kind. Your tiles model its memory, not its speed.
#
# ### Nothing twice: a cache
#
# *9 minutes, half of them yours.* Back to writing. The keys and values of old letters never change, since no letter sees what comes after it. So keep them.

# %% tags=["mechanism"] mystnb={"figure": {"caption": "A cache. Each new letter brings one key and one value; its query looks at all that are held.", "name": "fig-cache"}, "image": {"alt": "Three pictures beside each other: t comes, r comes, i comes. In each, keys in orange and values in green are tables of two rows, with three, four and five columns; the last column is new, dark and framed. Below, one row of looks in blue: 3, 4 and 5 new pairs."}}
mechanisms.cache(steps=3, first=3)
plt.show()

# %% [markdown]
# ```{exercise} A cache's step
# :label: exercise-cached-step
#
# *6 minutes.* One new letter comes, with its query, key and value. Put key and value behind those that are held, let the query look at all, and return the context, the keys and the values. Scale as always. S is the number of keys that are held, at first 0.
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


# %%
def no_keys(q, k, v):
    return k[:, :, :0], v[:, :, :0]


def cached(model):
    return Remembering(model, cached_step, no_keys)


remembering = cached(writer)
_, fast = write(remembering, start, n)


# %% tags=["evidence"] mystnb={"figure": {"caption": "Operations for one more letter, by the length of the text before it: counted. Both axes are logarithmic.", "name": "fig-letter-work"}, "image": {"alt": "Two lines over 128 to 2048 letters. Without a cache it rises faster than the length; with a cache it begins far lower and rises much less."}}
counts = [128, 256, 512, 1024, 2048]
ways = {"without a cache": read_again, "with a cache": cached}
by_letter = {
    name: [work(next_letter(following(writer), T)).total / 1e6 for T in counts]
    for name, following in ways.items()
}
lines = {name: (counts, row) for name, row in by_letter.items()}
ax = curves(lines, "letters before", "million operations", logx=True, logy=True)
ax.set_xticks(counts, counts)
ax.minorticks_off()
plt.show()

# %% tags=["evidence"]
without, with_cache = by_letter.values()
each = sum(x.nbytes for of_block in remembering.held for x in of_block) // remembering.n_read
observe(
    "Behind {behind:,} letters one more costs {times:.0f} times less work. The price: the cache grows by {each:,} bytes per letter.",
    **{"behind": counts[-1], "times": without[-1] / with_cache[-1], "each": each},
    holds=without[-1] > 200 * with_cache[-1],
)

# %% [markdown]
# With long texts, or many at once, caches fill a large model's memory. So several heads [share keys and values](deeper/07_efficient_attention.ipynb#deeper-cache), or a window lets the oldest go.

# %% [markdown]
# ## Is it right?
#
# *1 minute.* Your four functions against the library's attention and the book's own, in double precision.

# %% tags=["evidence"]
exact = partial(torch.testing.assert_close, rtol=1e-10, atol=1e-10)
q, k, v = heads(37, d=6, dtype=torch.float64)
exact(in_tiles(q, k, v, tile=8), all_pairs(q, k, v))
exact(in_window(q, k, v, w=5), efficient.window_attention(q, k, v, 5, is_causal=True))
exact(by_features(q, k, v), efficient.linear_attention(q, k, v, is_causal=True))
assert off_by_steps(writer, cached) < 1e-10 and off_by_steps(summing, on_a_board) < 1e-10
print(
    "tiles, window and board agree with the library and the book; steps with the whole: ten digits"
)

# %% [markdown]
# Gradients, padding and more forms: on the [deeper page](deeper/07_efficient_attention.ipynb#deeper-exact).

# %% [markdown]
# ## Train it
#
# *2 minutes.* Three writers learned today, from the same pieces in the same order, with one seed and one rate.

# %% tags=["evidence"] mystnb={"figure": {"caption": "Loss while three writers learn, the means of 20 steps.", "name": "fig-writers"}, "image": {"alt": "Three falling curves over 240 steps. All pairs and the window fall together; the board stays clearly above both."}}
lines = {}
for name, of in (("all pairs", history), ("window of 16", by_window), ("board", by_sums)):
    lines[name] = (range(20, 241, 20), torch.tensor(of.step_loss).view(-1, 20).mean(dim=1))
curves(lines, "step", "loss (nats per letter)")
plt.show()

# %% [markdown]
# All pairs have hardly an advantage here. With other seeds, or in longer trainings, that may change.

# %% [markdown]
# ## Look inside
#
# *8 minutes.* Does the first writer need far letters? Where does its weight go?


# %% tags=["evidence"] mystnb={"figure": {"caption": "How much of the first writer's weight lies on the last so many letters: means over heads and validation text. Dashed: a window of 16.", "name": "fig-near"}, "image": {"alt": "Two curves that rise with the number of letters, 1 to 192, on a logarithmic axis."}}
within = weight_within(writer)
lines = {f"block {i + 1}": (range(1, 193), share[:192]) for i, share in enumerate(within)}
ax = curves(lines, "letters, from the last one back", "share of the weight", logx=True)
ax.axvline(17, color=INK, lw=1, ls="--")
ax.set_ylim(0, 1.02)
plt.show()

# %% tags=["evidence"]
first, second = within[:, 16].tolist()
observe(
    "Within 16 letters lies {first:.0%} of the weight in the first block, and {second:.0%} in the second.",
    **{"first": first, "second": second},
    holds=max(first, second) > 0.5 and min(first, second) > 0.1,
)

# %% [markdown]
# Evenly spread, it would be less than a tenth. Yet the second writer does without the rest, and is hardly worse. Now choose a pattern, a window and a length: which pairs are computed, and what do they cost? (Here as in an encoder, to both sides. *Strided* sees neighbours and every so-many-th position.)


# %% tags=["view"]
forms = {
    "all pairs": lambda w: blocks.attend,
    "window": lambda w: partial(efficient.window_attention, window=w),
    "strided": lambda w: partial(efficient.strided_attention, stride=w),
    "tiles of 64": lambda w: efficient.tiled_attention,
    "board": lambda w: efficient.linear_attention,
}
masks = {"window": efficient.window_mask, "strided": efficient.strided_mask}
cost_of = cache(lambda name, w, T: cost(forms[name](w), T))


# %% tags=["view"]
def counted(name, w, T):
    """The pairs that a pattern computes, its operations and its bytes."""
    if name in masks:
        return masks[name](T, w), *cost_of(name, w, T)
    return torch.full((T, T), name != "board"), *cost_of(name, None, T)


options = product(forms, (8, 32), (128, 512, 2048))
patterns({option: counted(*option) for option in options})

# %% [markdown]
# ## Show someone
#
# *3 minutes.* The same network writes the same text twice: once reading everything again for each letter, once with your step, each letter in the time it took. In JupyterLab, put your own beginnings into the list.

# %%
beginnings = [start, "If the input is sparse, ", "Today we learned "]

# %% tags=["view"]
runs = {}
for beginning in beginnings:
    text, slow = write(read_again(writer), beginning, n)
    _, fast = write(cached(writer), beginning, n)
    runs[beginning] = (text, slow, fast)
race(runs)

# %% [markdown]
# The longer the text, the larger the gap: without a cache, each letter is more work than the last.

# %% [markdown]
# ## Where it breaks
#
# *5 minutes.* So is a window all one needs? Take another text: a list of 64 pairs, a key and its value, and among them 64 questions, *which value had this key?* That is **recall** {cite}`arora2024zoology`. The answer is anywhere among 128 positions, and windows reach to both sides.
# A stored experiment trained small Transformers on it, three seeds for each form. The rate was chosen with all pairs. Patterns got the steps in which all pairs learn it, the board three times as many.

# %% tags=["view"]
quality = experiments.load("efficient_quality")
recall = {
    name: quality.spread("right", method=name, task="recall") for name in ("window", "linear")
}
guess(
    "Which of the two finds a value that was told 100 positions away?",
    ["the window", "the board", "neither"],
    right="the board",
    because=f"The board answers {recall['linear'][0]:.0%} of all questions. A window of 16 sees a quarter of the pairs, and answers {recall['window'][0]:.0%}.",
)

# %% tags=["evidence"] mystnb={"figure": {"caption": "Share of right answers in recall, by distance: mean and range of three seeds (stored experiment). Dashed: chance.", "name": "fig-distance"}, "image": {"alt": "Three lines over the distance, from about 10 to 110 positions. All pairs stay at one. The window begins near one and drops to chance beyond 16 positions. The board is level above 0.9."}}
EDGES = (1, 17, 33, 49, 65, 97, 128)  # as in the experiment
middles = [(a + b - 1) / 2 for a, b in zip(EDGES, EDGES[1:])]
called = {"full": "all pairs", "window": "window of 16", "linear": "board"}
found = {
    name: quality.column("right by distance", method=method, task="recall")
    for method, name in called.items()
}
lines = {name: (middles, rings) for name, rings in found.items()}
ax = curves(lines, "positions between question and answer", "share right")
ax.axhline(1 / 8, color=INK, lw=1, ls="--")
ax.set_ylim(0, 1.05)
plt.show()

# %% tags=["evidence"]
every, near_only, on_board = (sum(rings[-1] for rings in rows) / 3 for rows in found.values())
beyond = max(rings[1] for rings in found["window of 16"])
observe(
    "From 97 positions on, the window answers {window:.0%}, near chance, the board {board:.0%}, all pairs {all:.0%}. At 17 to 32, which two layers could reach, it answers at most {beyond:.0%}.",
    **{"window": near_only, "board": on_board, "all": every, "beyond": beyond},
    holds=max(near_only, beyond) < 0.2 and on_board > 0.8 and every > 0.99,
)

# %% [markdown]
# The verdict is turned round. In the documentation a window was enough and the board behind; here the window is blind, and the board finds what it needs. No form is good or bad by itself. **Ask what the task has to find, and how far away it is.** Where you can't say, take the ways that give
# the same answers: tiles and a cache. ([Eight forms and two tasks](deeper/07_efficient_attention.ipynb#deeper-quality), side by side.)

# %% [markdown]
# ## What we found
#
# *2 minutes.* Three sentences that one often reads, and our answers. The [deeper page](deeper/07_efficient_attention.ipynb) has ten more.
#
# (claim-eff-2)=

# %% tags=["evidence"]
costs = experiments.load("attention_costs")
sizes = [T for T in costs.parameters["T"] if T >= 1024]
of = {
    (name, what): [costs.select(method=name, T=T)[0][f"step_{what}"] for T in sizes]
    for name in ("full", "tiled", "fused", "window")
    for what in ("work", "bytes")
}
claim(
    "eff-2",
    "No: in tiles, attention's bytes grow with a power of {tiled:.2f} of the length, the library's with {fused:.2f}. Only whole maps have {full:.2f}.",
    **{name: exponent(sizes, of[name, "bytes"]) for name in ("full", "tiled", "fused")},
    holds=lambda full, tiled, fused: full > 1.9 and 0.5 < tiled < 1.1 and 0.5 < fused < 1.1,
    experiment="attention_costs",
    scale="a training step of one head, 64 wide, 1,024 to 8,192 positions",
)

# %% [markdown]
# (claim-eff-8a)=

# %% tags=["evidence"]
growing = [[b - a for a, b in zip(row, row[1:])] for row in (with_cache, without)]
claim(
    "eff-8a",
    "Yes: what grows in a letter's work grows with a power of {cached:.2f} of the length with a cache, of {without:.2f} without.",
    **dict(zip(("cached", "without"), [exponent(counts[1:], row) for row in growing])),
    holds=lambda cached, without: abs(cached - 1) < 0.05 and without > 1.4 * cached,
    counted=True,
    scale="a writer of two layers, 64 wide, 128 to 2,048 letters",
)

# %% [markdown]
# (claim-eff-9)=

# %% tags=["evidence"]
claim(
    "eff-9",
    "Yes, if work is what is short: at 8,192 positions tiles need {work:.0f} times a window's. Of the memory of whole maps they take {memory:.1%}.",
    work=of["tiled", "work"][-1] / of["window", "work"][-1],
    memory=of["tiled", "bytes"][-1] / of["full", "bytes"][-1],
    holds=lambda work, memory: work > 10 and 0 < memory < 0.05,
    experiment="attention_costs",
    scale="a training step of one head, 64 wide, a window of 64",
)

# %% [markdown]
# ## Exercises
#
# Eight more are on the [deeper page](deeper/07_efficient_attention.ipynb), and all solutions on [a page of their own](solutions/07_efficient_attention.ipynb).
#
# ```{exercise} Predict: when do the pairs matter?
# :label: exercise-cost-of-pairs
#
# *Warm-up, 5 minutes.* An encoder block is 512 wide. It has 8 heads, four projections, and a feed-forward layer that is 2048 wide inside. At which
# length $T$ do the pairs, their scores and the averages of values, need as many multiply–adds as **all the rest** of the block? Leave out what is not a matrix product, and biases.
# ([Solution](solutions/07_efficient_attention.ipynb#solution-cost-of-pairs))
# ```

# %%
my_length = None

check("cost_of_pairs", my_length)

# %% [markdown]
# ```{exercise} What a cache weighs
# :label: exercise-cache-size
#
# *Warm-up, 5 minutes.* A large language model has 80 layers. Each has 64 heads of queries, which share 8 heads of keys and values, 128 wide.
# How many GiB ($2^{30}$ bytes) does its cache need for one sequence of 4096 positions, in half precision (2 bytes a number)?
# ([Solution](solutions/07_efficient_attention.ipynb#solution-cache-size))
# ```

# %%
my_gib = None

check("cache_size", my_gib)

# %% [markdown]
# ```{exercise} A window with holes
# :label: exercise-dilated-window
#
# *Core, 10 minutes.* A **dilated** window reaches farther for the same number of pairs. Query $t$ sees itself, and `window` positions before it, each of them `dilation` before the next. Draw the mask. Then ask yourself: three
# layers have a window of 3 and dilations 1, 4 and 16. How far back does the last position hear?
# ([Solution](solutions/07_efficient_attention.ipynb#solution-dilated-window))
# ```


# %%
def dilated_mask(T: int, window: int, dilation: int) -> torch.Tensor:
    """Return (T, T), boolean, True where query t (a row) sees key s (a column)."""
    raise NotImplementedError


check("dilated_window", dilated_mask)

# %% [markdown]
# ```{exercise} Count the pairs
# :label: exercise-count-of-pairs
#
# *Core, 15 minutes.* A window reaches `window` positions to both sides; the first `n_global` positions are global: they see all, and are seen by all. Nothing is causal. Count the pairs (query, key)
# without drawing the mask: at a million positions it would not fit into memory. A loop over positions is fine. ([Solution](solutions/07_efficient_attention.ipynb#solution-count-of-pairs))
# ```


# %%
def count_pairs(T: int, window: int, n_global: int) -> int:
    """Return how many pairs there are, at most T²; n_global is at most T."""
    raise NotImplementedError


check("count_of_pairs", count_pairs)

# %% [markdown]
# ```{exercise} Two halves, one softmax
# :label: exercise-merged-halves
#
# *Core, 15 minutes.* The keys of a long text lie on two machines. Each has attended to its own half {cite}`liu2024ring`. It sends the
# context, an average over its half, and for each query the logarithm of the sum of the exponentials, $\log \sum_s
# e^{\text{score}_s}$. Make of these the context over the whole text, and its log-sum. Scores may be in the thousands, and the halves far
# apart. ([Solution](solutions/07_efficient_attention.ipynb#solution-merged-halves))
# ```


# %%
def merge(context_1, log_sum_1, context_2, log_sum_2) -> tuple[torch.Tensor, torch.Tensor]:
    """Shapes: contexts (B, h, T, d_v), log-sums (B, h, T); returns one of each."""
    raise NotImplementedError


check("merged_halves", merge)

# %% [markdown]
# ```{exercise} Predict: how often does the maximum move?
# :label: exercise-running-maximum
#
# *Core, 5 minutes.* An online softmax takes in the scores one by one. A
# thousand scores, no two of them equal, come in an order drawn by chance. How often does the maximum move, on average? The first score
# counts as one move. Within a tenth is good enough.
# ([Solution](solutions/07_efficient_attention.ipynb#solution-running-maximum))
# ```

# %%
my_moves = None

check("running_maximum", my_moves)

# %% [markdown]
# ## Checklist and tomorrow
#
# The points from the top, ticked by their exercises.

# %% tags=["view"]
points = {
    "draw the mask of a window, and say how far news travels through layers": "window dilated_window",
    "change the order of a product, and step along with a state of one size": "state_step",
    "find an exact softmax tile by tile": "online_softmax merged_halves running_maximum",
    "write with a cache, and say what it weighs": "cached_step cache_size",
    "count what attention costs, in pairs, work and bytes": "cost_of_pairs count_of_pairs",
    "say which of these ways gives other answers, and when that hurts": "count_of_pairs merged_halves",
}
checklist({point: ids.split() for point, ids in points.items()})

# %% [markdown]
# **Tomorrow** the parts are put to use. You have written all that a network needs to read, translate and write, and know what it costs. [Day 8](08_text_classification.ipynb) gives it sentences that people wrote, and asks: what is this about, and which words say so?

# %% [markdown]
# ## Further reading
#
# - {cite:t}`dao2022flashattention`, the paper to read first: why bytes that move cost more than operations.
# - {cite:t}`milakov2018online`, the online softmax, in four pages.
# - {cite:t}`katharopoulos2020transformers`, linear attention; {cite:t}`schlag2021linear`, what its board can hold.
