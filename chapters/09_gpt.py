# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Day 9: GPT: a model that writes
#
# **Today's question:** how far can a model get by predicting the next token, and nothing else?
#
# After today you can
#
# - ask a text for its next token, at every position at once,
# - write GPT's forward pass, and say what keeps the future out,
# - draw a token with temperature, top-k and top-p, in the right order,
# - write with a cache, each token read once,
# - compare models by bits per byte, whatever their tokens are,
# - say what today's block has changed, and what that brings.
#
# It builds on [Day 6](06_transformer.ipynb)'s blocks, [Day 7](07_efficient_attention.ipynb)'s cache and [Day 8](08_text_classification.ipynb)'s tokens. You need 55 minutes to
# read and half an hour to write four functions. What you wrote is what writes, at the end. Three more exercises there take 20 minutes.

# %% tags=["setup"]
import convolution_to_attention  # is `utils` this book's?

import math
from collections import Counter
from functools import partial

import matplotlib.pyplot as plt
import torch
from torch import nn

from utils.efficient import KVCache
from utils.exercises.gpt import check
from utils.exercises.progress import checklist
from utils.positions import Rotary
from utils.self_attention import dot_product_attention, merge_heads, split_heads
from utils.measure import experiments
from utils.measure.claims import claim
from utils.show.display import observe
from utils.show.mechanisms import gpt as mechanisms
from utils.show.plotting import INK, bars, curves, use_book_style
from utils.show.views import guess, next_token, quiz, surprise, writing
from utils.tasks import writing as tasks
from utils.tasks.writing import RATE, STEPS, Writing, surprises_at_the_end, train_both_sides
from utils.training.metrics import perplexity
from utils.training.recipes import train_once

use_book_style()

# %% [markdown]
# **Five questions about yesterday**

# %% tags=["view"]
quiz("09_gpt")

# %% [markdown]
# ## Where we stand
#
# *5 minutes.* Yesterday an encoder read a text and said what it is about. It can't write a word. But the next word is an answer, too: give the encoder an output at each position, and ask there for the **next token**.
#
# The text is scikit-learn's documentation, which Days 3 and 7 read, cut into yesterday's byte pairs. We use one sentence all day.

# %%
task = Writing()
SENTENCE = "The estimator is fitted on the training data."
print(task.spelled(task.tokens.encode(SENTENCE)))

# %% tags=["evidence", "training"]
reader, readers = train_both_sides(task)

# %% tags=["evidence"] mystnb={"figure": {"caption": "Loss while Day 6's encoder learns to say the token behind each position: means of 20 steps. The vertical axis is logarithmic.", "name": "fig-both-sides"}, "image": {"alt": "A curve over 400 steps. It falls slowly from six nats to about three in 140 steps, then steeply to below a tenth, and ends at about 0.005."}}
learned = torch.tensor(readers.step_loss).view(-1, 20).mean(dim=1)
curves({"": (range(20, 401, 20), learned)}, "step", "loss (nats per token)", logy=True)
plt.show()

# %% [markdown]
# Nearly no loss, after seconds! Now let it write. It reads a beginning, and at its last position says what comes next.

# %%
text = tasks.best_continuation(reader, task.tokens.encode("The number of"), n=8)
lost = perplexity(surprises_at_the_end(task, reader).mean())
_, weights = reader(task.ids["validation"][None, :64], need_weights=True)  # (1, 1, h, T, T)
look = weights[0, 0].diagonal(1, -2, -1).mean(dim=-1).max()  # of all heads at the next token

# %% tags=["evidence"]
observe(
    "Its loss fell to {loss:.3f} nats. Of “The number of” it makes “{text}”. Where nothing follows yet, its perplexity is {lost:,.0f}, although there are only {V} tokens. One of its heads puts {look:.0%} of its weight on the next token.",
    **{"loss": learned[-1], "lost": lost, "look": look},
    text=task.tokens.decode(text),
    V=len(task.tokens),
    holds=learned[-1] < 0.1 and lost > len(task.tokens) and look > 0.9,
)

# %% [markdown]
# It has learned to look one place to the right, and to copy. When it writes, there is nothing to the right.

# %% [markdown]
# ## The idea
#
# *4 minutes.* So hide the future. Each position sees itself and what came before, as in Day 5's causal mask, and has to *guess* the next token {cite}`radford2018improving`.

# %% tags=["mechanism"] mystnb={"figure": {"caption": "What each row may see. Framed is the place of its answer: open to an encoder, hidden from GPT.", "name": "fig-hidden"}, "image": {"alt": "Two grids of five by five, rows and columns The, estimator, is, fit, ted; right of the rows the words that they are to say, estimator to on. On the left all cells are filled, and the four cells right of the diagonal are framed and have an exclamation mark. On the right only the cells up to the diagonal are filled, and the framed ones are blank."}}
mechanisms.hidden()
plt.show()

# %% [markdown]
# This is hard, and that is why it is useful. To guess what follows *The estimator is*, it helps to know which words belong together, which are verbs, what estimators do. Nobody has to label anything, since every text holds its own answers. And a text of $T$ tokens is not one lesson but $T - 1$.

# %% tags=["mechanism"] mystnb={"figure": {"caption": "One text, as yesterday's encoder and as today's GPT learn from it.", "name": "fig-lessons"}, "image": {"alt": "Above, five boxes, The, estimator, is, fit, ted, with arrows into one box, from sklearn: 1 lesson. Below, the same five boxes; from each of the first four an arrow leads straight up to the next word, estimator, is, fit, ted: 4 lessons."}}
mechanisms.lessons()
plt.show()

# %% [markdown]
# A model that predicts tokens also writes: draw one from its chances, read it, go on. That is **GPT**: Day 6's encoder blocks with a causal mask, trained on the next token.

# %% [markdown]
# ## Step by step
#
# ### A loss at every position
#
# *8 minutes, 6 of them yours.* At position $t$, the logits are about the token at $t + 1$. So the targets are the text itself, shifted by a place:
#
# $$
# \mathcal{L} = -\frac{1}{T - 1} \sum_{t=0}^{T-2} \ln p(x_{t+1} \mid x_0, \dots, x_t) .
# $$ (eq-next-token)

# %% tags=["mechanism"] mystnb={"figure": {"caption": "Four positions, the chances that a model gave to the right tokens, and their losses. The last token is only a target.", "name": "fig-asked"}, "image": {"alt": "Below, the row reads: The, estimator, is, fit, ted. Above it, shifted by a place, the row target: estimator, is, fit, ted. Then the chances 0.5, 0.25, 0.1 and 0.5, and their negative logarithms 0.69, 1.39, 2.30 and 0.69, mean 1.27."}}
mechanisms.asked([0.5, 0.25, 0.1, 0.5])
plt.show()

# %%
chances = torch.tensor([0.5, 0.25, 0.1, 0.5])  # of the right tokens
print([f"{nats:.2f}" for nats in -chances.log()], f"mean {-chances.log().mean():.2f}")

# %% [markdown]
# ```{exercise} The loss at every position
# :label: exercise-next-token-loss
#
# *6 minutes.* Write {eq}`eq-next-token` for a batch. Shorter texts are filled up behind with `PAD` = 0, which is never a target: the mean is over all real targets of the batch together. (Today's pieces are all of one length.) ([Solution](solutions/09_gpt.ipynb#solution-next-token-loss))
# ```


# %%
def next_token_loss(logits, ids):
    """Shapes: logits (B, T, V) about what follows each token of ids (B, T), to a scalar tensor."""
    raise NotImplementedError


next_token_loss = check("next_token_loss", next_token_loss)

# %%
check.show_reference("next_token_loss")

# %% [markdown]
# ### GPT on one page
#
# *9 minutes, 5 of them yours.* What lies between ids and logits, you have met: a table of vectors, blocks, a norm, and the table once more to score all tokens (Day 6).

# %% tags=["mechanism"] mystnb={"figure": {"caption": "GPT with two blocks. The same table is read at the bottom and compared with at the top.", "name": "fig-gpt"}, "image": {"alt": "A tower with arrows upwards. From below: ids of The estimator is fit; table, a row for each id, times root D; two blocks, which look back, and think; norm; table, transposed, how alike, x times row; logits of what follows each. Beside the arrows the shapes B, T, D, and on top B, T, V."}}
mechanisms.tower(2)
plt.show()

# %% [markdown]
# ```{exercise} The forward pass
# :label: exercise-forward
#
# *5 minutes.* Go from ids to logits. Multiply the vectors by $\sqrt D$ as they enter, as on Day 6; the table scores as it is. ([Solution](solutions/09_gpt.ipynb#solution-forward))
# ```


# %%
def gpt(ids, table, blocks, norm):
    """Shapes: ids (B, T), table (V, D), blocks and norm: (B, T, D) to the same; to (B, T, V)."""
    raise NotImplementedError


gpt = check("forward", gpt)

# %%
check.show_reference("forward")

# %% [markdown]
# The block is Day 6's, with Day 5's rotary positions. `is_causal` keeps the future out: the last query sees the last key, even if a cache holds more keys than there are queries. (`start` and `cache` are for writing, later.)


# %%
class Block(nn.Module):
    """A look back and a thought: x (B, T, D), from position `start` on, to the same."""

    def __init__(self, D, h, F):
        super().__init__()
        self.h, self.turn = h, Rotary(D // h)
        self.W_in, self.W_o = nn.Linear(D, 3 * D), nn.Linear(D, D)
        self.think = nn.Sequential(nn.Linear(D, F), nn.GELU(), nn.Linear(F, D))
        self.norms = nn.ModuleList([nn.LayerNorm(D), nn.LayerNorm(D)])

    def forward(self, x, start=0, cache=None):
        q, k, v = (split_heads(y, self.h) for y in self.W_in(self.norms[0](x)).chunk(3, dim=-1))
        q, k = self.turn(q, start), self.turn(k, start)
        k, v = (k, v) if cache is None else cache.append(k, v)
        found, _ = dot_product_attention(q, k, v, is_causal=True)
        x = x + self.W_o(merge_heads(found))
        return x + self.think(self.norms[1](x))


# %%
class GPT(nn.Module):
    """Ids (B, T), from position `start` on, to logits (B, T, V) of what follows each."""

    def __init__(self, V, D=96, h=4, F=384, L=2):
        super().__init__()
        self.table = nn.Parameter(0.02 * torch.randn(V, D))
        self.blocks = nn.ModuleList(Block(D, h, F) for _ in range(L))
        self.norm = nn.LayerNorm(D)

    def forward(self, ids, start=0, caches=None):
        caches = caches or [None] * len(self.blocks)
        pairs = zip(self.blocks, caches, strict=True)  # which your gpt needn't know of
        blocks = [partial(block, start=start, cache=cache) for block, cache in pairs]
        return gpt(ids, self.table, blocks, self.norm)


# %% [markdown]
# The table begins with small numbers, so that at first all tokens are about equally likely. And that is all of GPT. The largest GPT-2 has 48 blocks of this kind, 1,600 wide, with learned positions in place of rotary ones {cite}`radford2019language`.
#
# ### Batches of text
#
# *4 minutes.* A long text needs no sentences and no labels. We take pieces of 65 tokens from random places, and ask for 64 of each.

# %% tags=["mechanism"] mystnb={"figure": {"caption": "A batch of three pieces. They may overlap, and begin in the middle of a sentence.", "name": "fig-pieces"}, "image": {"alt": "A long row of cells, the training text, and under it three shorter rows, each with an arrow from where it stands in the text; two of them overlap."}}
mechanisms.pieces([2, 14, 8], 9)
plt.show()


# %%
def pieces(text, steps, B=8, T=64):
    """Batches of ids (B, T + 1) from random places; each is its own target."""
    generator = torch.Generator().manual_seed(0)
    starts = torch.randint(len(text) - T, (steps, B, 1), generator=generator)
    rows = text[starts + torch.arange(T + 1)]  # (steps, B, T + 1)
    return [(ids, ids) for ids in rows]


# %% tags=["view"]
V = len(task.tokens)
guess(
    f"There are {V} tokens. What is the loss of a model that knows nothing?",
    ["about 1 nat", f"about {math.log(V):.1f} nats", f"about {V} nats"],
    right=f"about {math.log(V):.1f} nats",
    because=f"Every token has the chance 1/{V}, and −ln 1/{V} = {math.log(V):.2f}. If a first loss is far from that, something is wrong.",
)

# %% [markdown]
# It learns with Day 6's recipe, one pass over a thousand batches: half a million tokens, the whole text about four times over.

# %% tags=["training"]
torch.manual_seed(0)
writer = GPT(V)
batches = pieces(task.ids["train"], STEPS)
history = train_once(writer, next_token_loss, batches, learning_rate=RATE)

# %% tags=["evidence"] mystnb={"figure": {"caption": "Loss while GPT learns: means of 20 steps. Dashed: a model that knows nothing.", "name": "fig-writer-loss"}, "image": {"alt": "A curve over 1,000 steps. It begins near the dashed line at 6.2 nats, falls fast to about four within 150 steps, and then ever more slowly to about two and a half."}}
means = torch.tensor(history.step_loss).view(-1, 20).mean(dim=1)
ax = curves({"": (range(20, STEPS + 1, 20), means)}, "step", "loss (nats per token)")
ax.axhline(math.log(V), color=INK, lw=1, ls="--")
plt.show()

# %% [markdown]
# Does it keep the future out? Put another word at the end of our sentence: what the model said before it must not change, to the last bit.

# %%
ids = torch.tensor([task.tokens.encode(SENTENCE)])
other = torch.cat([ids[:, :-1], torch.tensor([task.tokens.encode("?")])], dim=1)
with torch.no_grad():
    moved = (writer(other) - writer(ids)).abs().amax(dim=-1)[0]

# %% tags=["evidence"]
observe(
    "The first step's loss was {first:.2f}. With another last token, the logits at the {n} positions before it move by {before:g}, at its own by {own:.1f}.",
    first=history.step_loss[0],
    n=len(moved) - 1,
    before=moved[:-1].max(),
    own=moved[-1],
    holds=abs(history.step_loss[0] - math.log(V)) < 0.2 and moved[:-1].max() == 0 < moved[-1],
)

# %% [markdown]
# ### Draw a token
#
# *12 minutes, 10 of them yours.* To write, we draw the next token from the model's chances. As they are, rare tokens add up: each is unlikely, but one of them comes soon, and the text goes astray {cite}`holtzman2020curious`. Three knobs keep them down, in this order:
#
# - a **temperature** $\tau$ divides the logits (Day 2),
# - **top-k** keeps the $k$ likeliest,
# - **top-p** keeps the fewest, likeliest first, whose chances reach $p$; the one that reaches it belongs to them.
#
# After each cut, what is left is brought back to a sum of 1. Top-p has to come last, because it counts chances, and the other two change them.

# %% tags=["mechanism"] mystnb={"figure": {"caption": "Chances of six tokens behind *The estimator is fitted*, made up for this picture. Each row begins with what the row above has left.", "name": "fig-knobs"}, "image": {"alt": "Four rows of six cells, on, to, with, by, in, a. Softmax: 0.50, 0.23, 0.12, 0.08, 0.04, 0.03. Temperature 0.7: the first grows to 0.64. Top-k with k = 4 strikes out the last two. Top-p with p = 0.8 leaves the first two, 0.76 and 0.24."}}
logits = torch.tensor([2.0, 1.2, 0.6, 0.2, -0.6, -1.0])
mechanisms.cuts(logits, ["on", "to", "with", "by", "in", "a"], 0.7, 4, 0.8)
plt.show()

# %% [markdown]
# ```{exercise} The probabilities of the next token
# :label: exercise-next-chances
#
# *10 minutes.* From logits to the chances from which to draw. What is cut off has the chance 0, and each token stays at its place. If `k` is larger than $V$, top-k cuts nothing. ([Solution](solutions/09_gpt.ipynb#solution-next-chances))
# ```


# %%
def next_chances(logits, tau, k, p):
    """Shapes: logits (V,) to chances (V,): temperature, then top-k, then top-p."""
    raise NotImplementedError


next_chances = check("next_chances", next_chances)

# %%
check.show_reference("next_chances")

# %% [markdown]
# ### Write, with a cache
#
# *12 minutes, 9 of them yours.* Day 7's cache spares us reading everything again. The first step reads the whole beginning; what follows its *last* token is the first draw. Each further step reads one token, the one just drawn, at *its* position.

# %% tags=["mechanism"] mystnb={"figure": {"caption": "Three steps of writing. A position is a token's place in the whole text, wherever its step begins.", "name": "fig-feeding"}, "image": {"alt": "Step 1: The, estimator, is, read at positions 0, 1, 2, with an arrow to fit. Step 2: these three are pale, fit is read at position 3, with an arrow to ted. Step 3: four are pale, ted is read at position 4, with an arrow to on."}}
mechanisms.feeding(["The", "estimator", "is"], ["fit", "ted", "on"])
plt.show()

# %% [markdown]
# ```{exercise} Write with a cache
# :label: exercise-write
#
# *9 minutes.* `begin()` opens an empty cache and gives you `read(ids, start)`: it reads a tensor of ids (1, T), the first of them at position `start`, and returns the logits (1, T, V) of what follows each. What it has read, it holds; read each token once. `choose` turns the logits (V,) of one position into an id. Return the prompt and `n` more. ([Solution](solutions/09_gpt.ipynb#solution-write))
# ```


# %%
def write(begin, prompt, n, choose):
    """From the prompt, a list of ids, to a list of its ids and n more."""
    raise NotImplementedError


write = check("write", write)

# %%
check.show_reference("write")


# %%
def with_cache(model, n=64):
    """What `begin` is for a model: a cache for each block, which refuses more than n tokens."""
    return lambda: partial(model, caches=[KVCache(n) for _ in model.blocks])


@torch.no_grad()
def continued(beginning, n=55, tau=0.5, k=50, p=0.95, seed=0, say=None):
    """Let the writer go on with a text."""
    generator = torch.Generator().manual_seed(seed)

    def choose(logits):
        drawn = torch.multinomial(next_chances(logits, tau, k, p), 1, generator=generator).item()
        if say:
            say(task.tokens.decode([drawn]))
        return drawn

    ids = task.tokens.encode(beginning)
    return task.tokens.decode(write(with_cache(writer), ids, n, choose))


# %% [markdown]
# The pieces were 64 tokens long. From the 65th on, the writer would be at positions where it has never been, so the caches end there.

# %% tags=["nbval-ignore-output"]
print(continued("The estimator is"))

# %% [markdown]
# ### The block as it is built today
#
# *4 minutes.* Since 2019 people have changed that block part by part. You know some of the changes: rotary positions, which your model has already (Day 5), and heads that share keys and values (Day 7). New are a norm that subtracts nothing, and a hidden layer of which one half **gates** the other:
#
# $$
# \operatorname{RMSNorm}(x) = g \odot \frac{x}{\sqrt{\frac{1}{D} \sum_i x_i^2 + \varepsilon}}
# $$
#
# $$
# \operatorname{SwiGLU}(x) = W_\text{down}\,\big(\operatorname{silu}(W_\text{gate}\, x) \odot W_\text{up}\, x\big)
# $$
#
# where $\operatorname{silu}(u) = u\,\sigma(u)$ is a smooth ReLU.

# %% tags=["mechanism"] mystnb={"figure": {"caption": "GPT-2's block, left, and one as large models have it today. Framed is what is new.", "name": "fig-then-and-now"}, "image": {"alt": "Two blocks beside their streams. Left, GPT-2: layer norm; heads: q, k, v; softmax look; a plus on the stream; layer norm; 4D wide, GELU; a plus. Right, today: RMS norm; q heads share k and v; q, k normed, rotated; softmax look; a plus; RMS norm; 8/3 D wide, gated; a plus. All on the right is framed but softmax look. The lower parts are named looks, the upper ones thinks."}}
mechanisms.then_and_now()
plt.show()

# %% [markdown]
# | change | what it does | why |
# | --- | --- | --- |
# | RMS norm {cite}`zhang2019root` | divides by the size, subtracts nothing | less to compute, if [not always faster](deeper/09_gpt.ipynb#deeper-parts) |
# | SwiGLU {cite}`shazeer2020glu` | one half of the hidden layer gates the other (9.6) | more from as many weights |
# | rotary positions {cite}`su2021roformer` | rotates queries and keys | distances count, not places |
# | shared keys and values {cite}`ainslie2023gqa` | several heads of queries to one of keys | a smaller cache |
# | normed queries and keys {cite}`henry2020query` | bounds their size (9.5) | scores that can't explode |

# %% tags=["evidence"]
stored = experiments.load("modern_block")


def in_equal_time(change: str) -> float:
    """Mean loss over the seeds, at the best rate."""
    column, where = "loss in equal time", {"change": change}
    rate = stored.lowest("rate", column, **where)
    return stored.spread(column, rate=rate, **where)[0]


# %% tags=["evidence"]
changes = ("rotary", "RMSNorm", "SwiGLU", "grouped queries", "QK-norm")
won = {change: in_equal_time("GPT's block") - in_equal_time(change) for change in changes}
others = [won[change] for change in changes[1:]]
observe(
    "Each alone in two small blocks, and in equal time: rotary positions win {rotary:.2f} nats per letter, the others between {least:+.2f} and {most:+.2f}.",
    rotary=won["rotary"],
    least=min(others),
    most=max(others),
    holds=won["rotary"] > 0.1 and max(map(abs, others)) < won["rotary"] / 2,
)

# %% [markdown]
# So at this size one change makes the difference. What the others may win in large models, ours don't show ([part by part](deeper/09_gpt.ipynb#deeper-modern), with Muon and tied embeddings).

# %% [markdown]
# ## Is it right?
#
# *1 minute.* Your model against the book's `DecoderOnly`, and, without its rotations, against the library's blocks under a causal mask.

# %% tags=["evidence"]
assert tasks.off_from_book_and_library(GPT) < 1e-10
print("the logits agree with the book's model and with the library's blocks: ten digits")

# %% [markdown]
# ## Train it
#
# *7 minutes.* How good is our writer? A loss in nats per token depends on what a token is. **Perplexity**, its exponential (Day 2), does so too: with longer tokens there is more to guess at once. What all models share is the text, and its bytes.
#
# $$
# \text{bits per byte} = \frac{\text{nats per token}}{\ln 2} \cdot \frac{\text{tokens}}{\text{bytes}} .
# $$ (eq-bits-per-byte)

# %% tags=["mechanism"] mystnb={"figure": {"caption": "One word, cut in two ways, and the bits that two models need for it, made up for this picture. Per symbol they seem to differ.", "name": "fig-per-byte"}, "image": {"alt": "Above, byte pairs: fit with 6 bits and ted with 1, in all 7 bits, 3.50 per symbol, 1.17 per byte. Below, letters: f, i, t, t, e, d with 3, 2, 1, 0.5, 0.25 and 0.25 bits, in all 7 bits, 1.17 per symbol, 1.17 per byte."}}
letters = [3.0, 2.0, 1.0, 0.5, 0.25, 0.25]
mechanisms.per_byte([("byte pairs", ["fit", "ted"], [6.0, 1.0]), ("letters", "fitted", letters)])
plt.show()

# %% [markdown]
# Beside GPT stand tables of counts: how often did a token follow the 1, 2, … 5 before it {cite}`kneser1995improved`? All are judged on the validation text, in windows of 64 tokens.

# %%
judged = task.judged(writer.eval())  # -ln p of each token of the validation text but the first
ours = (judged.sum() / math.log(2) / task.n_bytes).item()
counted = {order: task.counted(order) for order in range(2, 7)}
bits = {order: task.per_byte(nats) for order, nats in counted.items()}
best = min(bits, key=bits.get)

# %% tags=["view"]
guess(
    "A table of counts is made in less than a second. Which needs fewer bits?",
    ["GPT, clearly", "about the same", "the table"],
    right=2 if bits[best] < ours - 0.05 else 0 if ours < bits[best] - 0.05 else 1,
    because=f"It needs {bits[best]:.2f} bits per byte, GPT after {STEPS:,} steps {ours:.2f}.",
)

# %% tags=["evidence"] mystnb={"figure": {"caption": "Bits per byte of the validation text: tables of counts, by how far back they look, and GPT (dashed).", "name": "fig-bits-per-byte"}, "image": {"alt": "A line over 1 to 5 tokens back. It falls from 2.4 to 1.98 bits per byte at 2 and slowly on to 1.87 at 5. The dashed line of GPT lies at 2.00."}}
ax = curves({"": (range(1, 6), [*bits.values()])}, "tokens back", "bits per byte")
ax.axhline(ours, color=INK, lw=1, ls="--")
ax.set_xticks([*range(1, 6)])
plt.show()

# %% tags=["evidence"]
observe(
    "GPT needs {ours:.2f} bits per byte, at a perplexity of {wavers:.0f} per token. The best table looks {back} tokens back and needs {table:.2f}; to look 2 back is enough for {two:.2f}.",
    **{"ours": ours, "table": bits[best], "two": bits[3], "back": best - 1},
    wavers=perplexity(judged.mean()),
    holds=bits[best] < ours - 0.05 and bits[3] < ours + 0.05,
)

# %% [markdown]
# So a table beats a network, at this size and after so short a training. Even two tokens back do as well. (The best table was chosen by the text that judges it; from 3 tokens on, that hardly matters.) Why does it win? Let us count how often the training text has each three neighbours of the validation text.

# %%
threes = {part: [*map(tuple, of.unfold(0, 3, 1).tolist())] for part, of in task.ids.items()}
times = Counter(threes["train"])
seen = torch.tensor([times[three] for three in threes["validation"]])
knows, lacks = (seen == 1) | (seen == 2), seen == 0

# %% tags=["evidence"]
(table, lost), (slow, able) = (
    (nats[1:][knows].mean(), nats[1:][lacks].mean()) for nats in (counted[3], judged)
)
observe(
    "Read once or twice: the table that looks 2 back needs {table:.1f} nats for the third token, GPT {slow:.1f}. Never read: GPT needs {able:.1f}, and the table {lost:.1f}.",
    **{"table": table, "slow": slow, "able": able, "lost": lost},
    holds=table < slow - 0.3 and able < lost - 0.3,
)

# %% [markdown]
# A count knows three tokens after one look. A network learns them by small steps, and a thousand steps are few. But what it has learned helps with texts that it never read, and there the table is lost.

# %% [markdown]
# ## Look inside
#
# *11 minutes.* What comes next? Choose a beginning, turn the three knobs, and take a token. Watch which ones disappear, and in which order.

# %% tags=["view"]
starts = [tuple(task.tokens.encode(text)) for text in ("The estimator is", "Return the number of")]
next_token(task.spelled(range(V)), tasks.tree(writer, starts, n=48), starts)

# %% [markdown]
# Now the other way round: a text is given. How much does each token surprise the model, and what did it expect?

# %% tags=["view"]
given = {
    "our sentence": SENTENCE,
    "the same words, in another order": "On data the fitted estimator training is the.",
    "from the validation text": task.tokens.decode(task.ids["validation"][30:90]),
}
surprise({title: tasks.surprised(task, writer, text) for title, text in given.items()})

# %%
tokens = task.spelled(task.ids["validation"][1:].tolist())
begin = judged[[token.startswith(" ") for token in tokens]].mean() / math.log(2)
inside = judged[[token[:1].isalpha() for token in tokens]].mean() / math.log(2)
right, mixed = (
    sum(bits for _, bits, _ in tasks.surprised(task, writer, text)[1:])
    for text in [*given.values()][:2]
)

# %% tags=["evidence"]
observe(
    "Over the validation text, a token that begins a word costs {begin:.1f} bits on average, one that goes on with it {inside:.1f}. Our sentence costs {right:.0f} bits, and {mixed:.0f} in the other order.",
    **{"begin": begin, "inside": inside, "right": right, "mixed": mixed},
    holds=begin > inside + 1 and mixed > 1.2 * right,
)

# %% [markdown]
# The beginnings of words are mostly hard, their ends are mostly easy. An order that makes no sense costs about twice as much. And does it help to have read more?

# %%
edges = [0, 1, 2, 4, 8, 32, 64]
compared = {"GPT": judged, f"table, {best - 1} back": counted[best]}
lines = {name: tasks.by_place(nats, edges) for name, nats in compared.items()}
gpt_at, table_at = (torch.tensor(means) for _, means in lines.values())
apart = gpt_at - table_at

# %% tags=["evidence"] mystnb={"figure": {"caption": "Loss on the validation text by how many tokens of the window have been read, for GPT and for the best table. Means over all windows and over neighbouring places.", "name": "fig-by-position"}, "image": {"alt": "Two lines over 1 to 64 tokens, on a logarithmic axis. Both fall by about a nat from one token to two and a little further up to about six, rise by a tenth of a nat up to twenty, and fall back at the end. The table's is lower throughout, by about a fifth of a nat."}}
ax = curves(lines, "tokens read", "loss (nats per token)", logx=True)
ax.set_xticks(edges[1:], edges[1:])
ax.minorticks_off()
plt.show()

# %% tags=["evidence"]
observe(
    "After one token GPT's loss is {first:.2f} nats, after two {second:.2f}, after 5 to 8 {eighth:.2f}, after 33 to 64 {last:.2f}. The table's is lower, by {apart:.2f} nats on average.",
    **dict(zip(("first", "second", "eighth", "last"), gpt_at[[0, 1, 3, -1]], strict=True)),
    apart=apart.mean(),
    holds=gpt_at[0] - gpt_at[1] > 0.5
    and gpt_at[1] > gpt_at[3]
    and abs(gpt_at[-1] - gpt_at[3]) < 0.25
    and apart.mean() > 0,
)

# %% [markdown]
# The second token is worth most, and after eight the rest is worth nearly nothing. The table can look back 5 tokens at most, and its curve is the same: after so short a training, GPT has learned what neighbours say.
#
# ### Cold and hot
#
# What does the temperature do to whole texts?


# %%
@torch.no_grad()
def drawn(tau, n=60, texts=20):
    """Texts that begin with *The*, all at once and without a cache."""
    ids = torch.tensor(task.tokens.encode("The")).expand(texts, -1)
    generator = torch.Generator().manual_seed(0)
    for _ in range(n):
        chances = (writer(ids)[:, -1] / tau).softmax(dim=-1)
        ids = torch.cat([ids, torch.multinomial(chances, 1, generator=generator)], dim=1)
    return [task.tokens.decode(row) for row in ids.tolist()]


# %%
taus = [0.1, 0.4, 0.7, 1.0, 1.3, 1.6]
texts = [*zip(*map(drawn, taus), strict=True)]
exist, varied = tasks.words_in(task, texts)  # (20, taus) each
warm, hot = exist.mean(dim=0)[[1, -1]]

# %% tags=["view"]
guess(
    "At a temperature of 1.6, how many of its words exist?",
    ["nearly all", "about half", "hardly any"],
    right=0 if hot > 0.75 else 1 if hot > 0.25 else 2,
    because=f"It is {hot:.0%}; at 0.4 it is {warm:.0%}. Pieces of words are put together freely when all tokens come near to each other.",
)

# %% tags=["evidence"] mystnb={"figure": {"caption": "Texts of 60 tokens by temperature, without top-k and top-p: the share of their words that the training text has, and the share of different ones. Means of 20 texts, and the range of the middle half of them.", "name": "fig-temperatures"}, "image": {"alt": "Two lines over temperatures from 0.1 to 1.6. The share of words that exist stays at about 0.8 up to 1.0 and falls to about 0.55. The share of different words rises from about 0.7 to nearly 1."}}
shares = {"exist": (taus, exist), "different": (taus, varied)}
curves(shares, "temperature", "share of words", within=50)
plt.show()

# %% tags=["evidence"]
observe(
    "At 0.4, {warm:.0%} of a text's words exist, at 1.6 {hot:.0%}.",
    warm=warm,
    hot=hot,
    holds=0.4 < hot < warm - 0.05,
)

# %% [markdown]
# Hot, it makes words up. Cold, it takes what is likeliest, and how much it repeats itself then differs from one trained model to the next. What one likes to read lies between, and there top-k and top-p cut off the tail.

# %% [markdown]
# ## Show someone
#
# *3 minutes.* It writes. Choose a beginning and a temperature; the text was drawn beforehand, by the network above. In JupyterLab, run the cell below, with a beginning of your own: it writes while you watch.

# %% tags=["view"]
beginnings = ["The estimator is", "Return the number of", "If the data are"]
writing({text: {tau: continued(text, tau=tau) for tau in (0.3, 0.6, 1.0)} for text in beginnings})


# %% tags=["nbval-ignore-output"]
print("Today we learned", end="")
_ = continued("Today we learned", seed=2, say=partial(print, end="", flush=True))

# %% [markdown]
# It has the tone, and no thought. A quarter of a million letters have taught it words, quotation marks and how a sentence of documentation runs. For Shakespeare's plays, change one argument at the top and run the page again (the text is fetched once). A sentence with numbers that doesn't hold for the plays stops it there; then go on with the next cell.
#
#     from utils.data.corpora import tiny_shakespeare
#     task = Writing(tiny_shakespeare)

# %% [markdown]
# ## Where it breaks
#
# *3 minutes.* The writer has read a quarter of a million letters. Now ask for something else: is this review good or bad? Yesterday's grammar writes reviews, people label them, and a model of the same kind learns from the labels, with a score for each answer at the last word. It begins from nothing.

# %%
labels = [30, 300, 3000]
right = tasks.right_from_labels(lambda V: GPT(V, D=48, F=192), labels, steps=480)  # (3 seeds, 3)

# %% tags=["evidence"] mystnb={"figure": {"caption": "Share of 500 new reviews that a small GPT classifies correctly, by the number of labels that it learned from, in 480 steps of 32 each: means and ranges of three seeds. Dashed: chance.", "name": "fig-labels"}, "image": {"alt": "A line over 30, 300 and 3,000 labels, on a logarithmic axis. It begins near the dashed line at a half, is at about 0.64 at 300, and rises to about 0.9."}}
ax = curves({"": (labels, right)}, "labels", "share right", logx=True)
ax.axhline(0.5, color=INK, lw=1, ls="--")
ax.set_xticks(labels, [f"{n:,}" for n in labels])
ax.minorticks_off()
plt.show()

# %% tags=["evidence"]
low, some, high = right.mean(dim=0)
observe(
    "With {few} labels it is right in {low:.0%}, where a coin is in half; with {more} in {some:.0%}, with {many:,} in {high:.0%}.",
    **dict(zip(("few", "more", "many"), labels, strict=True)),
    **{"low": low, "some": some, "high": high},
    holds=low < 0.6 and low < some < 0.75 and high > some + 0.15,
)

# %% [markdown]
# Three thousand labels are days of somebody's work, for this one question; the next question begins again at thirty. A model that has read *such* texts before would need no label to know which words belong together. Only the question would be new to it.

# %% [markdown]
# ## What we found
#
# *2 minutes.* Sentences that one often reads, and our answers. More are on the [deeper page](deeper/09_gpt.ipynb).
#
# (claim-gpt-7)=

# %% tags=["evidence"]
letters = Writing(n_merges=0)
nats = min(map(letters.counted, (5, 6, 7)), key=torch.mean)
claim(
    "gpt-7",
    "Yes: a table on letters has perplexity {low:.1f} and needs {more:.2f} bits per byte; on byte pairs {high:.1f}, and {fewer:.2f}.",
    **{"low": perplexity(nats.mean()), "high": perplexity(counted[best].mean())},
    **{"more": letters.per_byte(nats), "fewer": bits[best]},
    holds=lambda low, high, more, fewer: high > 2 * low and fewer < more,
    scale="the best tables; 5 byte pairs reach farther back than 6 letters do",
)


# %%
def off(model, row):
    """How far the gradient of one pass over a text is from that of a pass over each beginning."""
    passes = [model(row[:, :t])[:, -1] for t in range(1, row.shape[1] + 1)]
    one, many = (
        torch.autograd.grad(next_token_loss(logits, row), [*model.parameters()])
        for logits in (model(row), torch.stack(passes, dim=1))
    )
    one, many = (torch.cat([g.flatten() for g in gradient]) for gradient in (one, many))
    return (one - many).norm() / many.norm()


# %% [markdown]
# (claim-gpt-8)=

# %% tags=["evidence"]
row = task.ids["train"][None, :65]
claim(
    "gpt-8",
    "Yes: one pass has the gradient of 64, one for each beginning, up to {hidden:.0e} of its size; without the mask it is {seen:.0%} off.",
    hidden=off(writer, row),
    seen=off(reader, row),
    holds=lambda hidden, seen: hidden < 1e-4 and seen > 0.1,
    scale="a text of 65 tokens; two blocks with a causal mask, and one block without",
)

# %% [markdown]
# And those passes read $T (T + 1) / 2$ tokens, where one pass reads $T$.

# %% [markdown]
# ## Exercises
#
# More are on the [deeper page](deeper/09_gpt.ipynb), and all solutions on [a page of their own](solutions/09_gpt.ipynb).
#
# ```{exercise} Normed queries and keys
# :label: exercise-qk-norm
#
# *Core, 10 minutes.* Give each head's queries and keys an RMS norm over their $d_k$ numbers, $g \odot x / \sqrt{\frac{1}{d_k} \sum_i x_i^2 + \varepsilon}$, with a gain for queries and one for keys. Then score as ever, with the factor $1/\sqrt{d_k}$. How large can a score become, if the gains are 1? (The solution measures it.)
# ([Solution](solutions/09_gpt.ipynb#solution-qk-norm))
# ```


# %%
def qk_norm_scores(q, k, g_q, g_k, eps):
    """Shapes: q (B, h, T, d_k), k (B, h, S, d_k), gains (d_k,) to scores (B, h, T, S)."""
    raise NotImplementedError


check("qk_norm", qk_norm_scores)

# %% [markdown]
# ```{exercise} A gate's fair width
# :label: exercise-gated-width
#
# *Core, 5 minutes.* A plain feed-forward layer has two matrices, $W_1$ and $W_2$, and is $F$ wide inside. A gated one has three: $W_\text{down}\,(\operatorname{silu}(W_\text{gate}\, x) \odot W_\text{up}\, x)$. How wide may it be, if it is to have as many weights? Round up to the next `multiple`, since processors like round numbers.
# ([Solution](solutions/09_gpt.ipynb#solution-gated-width))
# ```


# %%
def gated_width(d_ff: int, multiple: int) -> int:
    """The width inside of a gated layer; d_ff is that of the plain one. No biases."""
    raise NotImplementedError


check("gated_width", gated_width)

# %% [markdown]
# ```{exercise} Predict: bits per byte
# :label: exercise-bits-per-byte
#
# *Warm-up, 5 minutes.* A model has a perplexity of 32 per token, and its tokens stand for 2.5 bytes on average. How many bits per byte does it need?
# ([Solution](solutions/09_gpt.ipynb#solution-bits-per-byte))
# ```

# %%
my_bits = None

check("bits_per_byte", my_bits)

# %% [markdown]
# ## Checklist and tomorrow
#
# The points from the top, ticked by their exercises.

# %% tags=["view"]
points = {
    "ask a text for its next token, at every position at once": "next_token_loss",
    "write GPT's forward pass, and say what keeps the future out": "forward",
    "draw a token with temperature, top-k and top-p, in the right order": "next_chances",
    "write with a cache, each token read once": "write",
    "compare models by bits per byte, whatever their tokens are": "bits_per_byte",
    "say what today's block has changed, and what that brings": "qk_norm gated_width",
}
checklist({point: ids.split() for point, ids in points.items()})

# %% [markdown]
# **Tomorrow:** a model that has read is not thrown away. It is asked for something else, with few labels, and for many tasks.

# %% [markdown]
# ## Further reading
#
# - {cite:t}`radford2018improving`, the first GPT.
# - {cite:t}`shannon1951prediction`, who let people guess the next letter.
# - {cite:t}`holtzman2020curious`, on why the likeliest text is not the best.
