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
# **Today's question:** how far does it take you to predict the next token, and nothing else?
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
# read and under half an hour to write four functions. What you wrote is what writes, at the end.

# %% tags=["setup"]
import convolution_to_attention  # is `utils` this book's?

import math
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
from utils.measure.costs import work
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
# *5 minutes.* Yesterday an encoder read a text and said what it is about. It can't write a word. Or can it? A word that fits is an answer like any other: give the encoder an output at each position, and ask there for the **next token**.
#
# The text is the documentation of Days 3 and 7, a paragraph a line, cut into yesterday's byte pairs. One sentence goes with us through the day.

# %%
task = Writing()
SENTENCE = "The estimator is fitted on the training data."
print(task.spelled(task.tokens.encode(SENTENCE)))

# %% tags=["evidence", "training"]
reader, readers = train_both_sides(task)

# %% tags=["evidence"] mystnb={"figure": {"caption": "Loss while Day 6's encoder learns to say the token behind each position. The vertical axis is logarithmic.", "name": "fig-both-sides"}, "image": {"alt": "A curve over 400 steps. It stays between five and six nats at first, then falls steeply to below a tenth, and further."}}
curves({"": (range(1, 401), readers.step_loss)}, "step", "loss (nats per token)", logy=True)
plt.show()

# %% [markdown]
# Nearly no loss, after seconds! Now let it write. It reads a beginning, and at its last position says what comes next.

# %% tags=["evidence"]
text = tasks.best_continuation(reader, task.tokens.encode("The number of"), n=8)
lost = surprises_at_the_end(task, reader).mean()
observe(
    "In training its loss fell to {loss:.3f} nats. Of “The number of” it makes “{text}”. Where nothing follows yet, its perplexity is {lost:,.0f}, although there are only {V} tokens.",
    loss=readers.step_loss[-1],
    text=task.tokens.decode(text),
    lost=perplexity(lost),
    V=len(task.tokens),
    holds=readers.step_loss[-1] < 0.5 and perplexity(lost) > len(task.tokens),
)

# %% [markdown]
# It has learned to look one place to the right, and to copy. When it writes, there is nothing to the right.

# %% [markdown]
# ## The idea
#
# *4 minutes.* So hide the future. Each position sees itself and what came before, as in Day 5's causal mask, and has to *guess* the next token {cite}`radford2018improving`.

# %% tags=["mechanism"] mystnb={"figure": {"caption": "What each row may see. Framed is the place of its answer: open to an encoder, hidden from GPT.", "name": "fig-hidden"}, "image": {"alt": "Two grids of five by five, rows and columns The, estimator, is, fit, ted; right of the rows the words that they are to say, estimator to on. On the left all cells are filled, and the four cells right of the diagonal are framed and marked. On the right only the cells up to the diagonal are filled, and the framed ones are blank."}}
mechanisms.hidden()
plt.show()

# %% [markdown]
# This is hard, and that is its worth. To guess what follows *The estimator is*, it helps to know which words belong together, which are verbs, what estimators do. Nobody has to label anything, since every text holds its own answers. And a text of $T$ tokens is not one lesson but $T - 1$.

# %% tags=["mechanism"] mystnb={"figure": {"caption": "One text, as yesterday's encoder and as today's GPT learn from it.", "name": "fig-lessons"}, "image": {"alt": "Above, five boxes, The, estimator, is, fit, ted, with arrows into one box, from sklearn: 1 lesson. Below, the same five boxes with an arrow from each straight up to the next word, estimator, is, fit, ted, on: 5 lessons."}}
mechanisms.lessons()
plt.show()

# %% [markdown]
# A model that predicts tokens also writes: draw one from its chances, read it, go on. **GPT** is that: Day 6's encoder blocks, a causal mask, the next token, and nothing else.

# %% [markdown]
# ## Step by step
#
# ### A loss at every position
#
# *8 minutes, three quarters of them yours.* At position $t$, the logits are about the token at $t + 1$. So the targets are the text itself, shifted by a place:
#
# $$
# \mathcal{L} = -\frac{1}{T - 1} \sum_{t=0}^{T-2} \ln p(x_{t+1} \mid x_0, \dots, x_t) .
# $$ (eq-next-token)

# %% tags=["mechanism"] mystnb={"figure": {"caption": "Four positions, the chances that a model gave to the right tokens, and their losses. The last token is only asked for.", "name": "fig-asked"}, "image": {"alt": "Below, the row reads: The, estimator, is, fit, ted. Above it, shifted by a place, the row is asked for: estimator, is, fit, ted. Then the chances 0.5, 0.25, 0.1 and 0.5, and their negative logarithms 0.69, 1.39, 2.30 and 0.69, mean 1.27."}}
mechanisms.asked([0.5, 0.25, 0.1, 0.5])
plt.show()

# %%
chances = torch.tensor([0.5, 0.25, 0.1, 0.5])  # of the right tokens
print([f"{nats:.2f}" for nats in -chances.log()], f"mean {-chances.log().mean():.2f}")

# %% [markdown]
# ```{exercise} The loss at every position
# :label: exercise-9-1
#
# *6 minutes.* Write {eq}`eq-next-token` for a batch. Shorter texts are filled up behind with `PAD` = 0, and nobody asks for padding: the mean is over all real targets of the batch together. ([Solution](solutions/09_gpt.ipynb#solution-9-1))
# ```


# %%
def next_token_loss(logits, ids):
    """Shapes: logits (B, T, V) about what follows each token of ids (B, T); returns one number."""
    raise NotImplementedError


next_token_loss = check("9.1", next_token_loss)

# %%
check.show_reference("9.1")

# %% [markdown]
# ### GPT on one page
#
# *10 minutes, half of them yours.* What stands between ids and logits, you have met: a table of vectors, blocks, a norm, and the table once more to score all tokens (Day 6).

# %% tags=["mechanism"] mystnb={"figure": {"caption": "GPT with two blocks. The same table is read at the bottom and compared with at the top.", "name": "fig-gpt"}, "image": {"alt": "A tower with arrows upwards. From below: ids of The estimator is fit; table, a row for each id, times root D; two blocks, which look back, and think; norm; table, turned, how alike, x times row; logits of what follows each. Beside the arrows the shapes B, T, D, and on top B, T, V."}}
mechanisms.tower(2)
plt.show()

# %% [markdown]
# ```{exercise} The forward pass
# :label: exercise-9-2
#
# *5 minutes.* Go from ids to logits. Vectors enter multiplied by $\sqrt D$, as on Day 6; the table scores as it is. ([Solution](solutions/09_gpt.ipynb#solution-9-2))
# ```


# %%
def gpt(ids, table, blocks, norm):
    """Shapes: ids (B, T), table (V, D), blocks and norm: (B, T, D) to the same; to (B, T, V)."""
    raise NotImplementedError


gpt = check("9.2", gpt)

# %%
check.show_reference("9.2")

# %% [markdown]
# The block is Day 6's, with Day 5's rotary positions. `is_causal` is what keeps the future out. (`start` and `cache` are for writing, later.)


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
        pairs = zip(self.blocks, caches, strict=True)
        blocks = [partial(block, start=start, cache=cache) for block, cache in pairs]
        return gpt(ids, self.table, blocks, self.norm)


# %% [markdown]
# The table begins with small numbers, so that at first all tokens are about equally likely. And that is all of GPT. The largest GPT-2 has 48 such blocks, 1,600 wide {cite}`radford2019language`; what has changed since is told below.
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
    return [(ids, ids) for ids in text[starts + torch.arange(T + 1)]]


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
    holds=abs(history.step_loss[0] - math.log(V)) < 0.2 and moved[:-1].max() < 1e-4 < moved[-1],
)

# %% [markdown]
# ### Draw a token
#
# *9 minutes, two thirds of them yours.* To write, we draw the next token from the model's chances. As they are, rare tokens add up: each is unlikely, but one of them comes soon, and the text goes astray {cite}`holtzman2020curious`. Three knobs, **in this order**, keep them down. A temperature $\tau$ divides the logits (Day 2). **Top-k** keeps the $k$ likeliest. **Top-p** keeps the
# fewest, likeliest first, whose chances reach $p$; the one that reaches it belongs to them. After each cut, what is left is brought back to a sum of 1.

# %% tags=["mechanism"] mystnb={"figure": {"caption": "Chances of six tokens behind *The estimator is fitted*, made up for this picture. Each row begins with what the row above has left.", "name": "fig-knobs"}, "image": {"alt": "Four rows of six cells, on, to, with, by, in, a. Softmax: 0.50, 0.23, 0.12, 0.08, 0.04, 0.03. Temperature 0.7: the first grows to 0.64. Top-k with k = 4 strikes out the last two. Top-p with p = 0.8 leaves the first two, 0.76 and 0.24."}}
logits = torch.tensor([2.0, 1.2, 0.6, 0.2, -0.6, -1.0])
mechanisms.cuts(logits, ["on", "to", "with", "by", "in", "a"], 0.7, 4, 0.8)
plt.show()

# %% [markdown]
# ```{exercise} The chances of the next token
# :label: exercise-9-3
#
# *7 minutes.* From logits to the chances from which to draw. What is cut off has the chance 0, and each token stays at its place. ([Solution](solutions/09_gpt.ipynb#solution-9-3))
# ```


# %%
def next_chances(logits, tau, k, p):
    """Shapes: logits (V,) to chances (V,): temperature, then top-k, then top-p."""
    raise NotImplementedError


next_chances = check("9.3", next_chances)

# %%
check.show_reference("9.3")

# %% [markdown]
# ### Write, with a cache
#
# *9 minutes, two thirds of them yours.* Day 7's cache spares us reading everything again. The first step reads the whole beginning; what follows its *last* token is the first draw. Each further step reads one token, the one just drawn, at *its* position.

# %% tags=["mechanism"] mystnb={"figure": {"caption": "Three steps of writing. A position is a token's place in the whole text, wherever its step begins.", "name": "fig-feeding"}, "image": {"alt": "Step 1: The, estimator, is, read at positions 0, 1, 2, with an arrow to fit. Step 2: these three are pale, fit is read at position 3, with an arrow to ted. Step 3: four are pale, ted is read at position 4, with an arrow to on."}}
mechanisms.feeding(["The", "estimator", "is"], ["fit", "ted", "on"])
plt.show()

# %% [markdown]
# ```{exercise} Write with a cache
# :label: exercise-9-4
#
# *7 minutes.* `begin()` opens an empty cache and gives you `read(ids, start)`: it reads ids (1, T), the first of them at position `start`, and returns the logits (1, T, V) of what follows each. What it has read, it holds. `choose` makes an id of logits (V,). Return the prompt and `n` more. ([Solution](solutions/09_gpt.ipynb#solution-9-4))
# ```


# %%
def write(begin, prompt, n, choose):
    """A list of ids to a list of n more."""
    raise NotImplementedError


write = check("9.4", write)

# %%
check.show_reference("9.4")


# %%
def with_cache(model, n=256):
    """What `begin` is for a model: an empty cache for each block, with room for n tokens."""
    return lambda: partial(model, caches=[KVCache(n) for _ in model.blocks])


@torch.no_grad()
def continued(beginning, n=60, tau=0.5, k=50, p=0.95, seed=0, say=None):
    """Let the writer go on with a text."""
    generator = torch.Generator().manual_seed(seed)

    def choose(logits):
        drawn = torch.multinomial(next_chances(logits, tau, k, p), 1, generator=generator).item()
        if say:
            say(task.tokens.decode([drawn]))
        return drawn

    ids = task.tokens.encode(beginning)
    return task.tokens.decode(write(with_cache(writer), ids, n, choose))


# %% tags=["nbval-ignore-output"]
print(continued("The estimator is"))

# %% [markdown]
# ### The block as it is built today
#
# *5 minutes.* Nearly ten years have passed since that block, and people have changed it part by part. You know some of the changes: rotary positions, which your model has already (Day 5), and heads that share keys and values (Day 7).

# %% tags=["mechanism"] mystnb={"figure": {"caption": "GPT-2's block, left, and one as large models have it today. Framed is what is new.", "name": "fig-then-and-now"}, "image": {"alt": "Two towers over a stream. Left, GPT-2: layer norm; heads: q, k, v; softmax look; layer norm; D to 4D, GELU, to D. Right, today, all framed: RMS norm; q heads share k and v; q, k normed and turned; RMS norm; D to 8/3 D twice, multiplied, to D. Braces: looks, thinks."}}
mechanisms.then_and_now()
plt.show()

# %% [markdown]
# | change | what it does | why |
# | --- | --- | --- |
# | RMS norm {cite}`zhang2019root` | divides by the size, subtracts nothing | less work |
# | SwiGLU {cite}`shazeer2020glu` | one half of the hidden layer gates the other (9.6) | more from as many weights |
# | rotary positions {cite}`su2021roformer` | turns queries and keys | distances count, not places |
# | shared keys and values {cite}`ainslie2023gqa` | several heads of queries to one of keys | a smaller cache |
# | normed queries and keys {cite}`henry2020query` | bounds their size (9.5) | scores that can't explode |
# | no biases | leaves them out | fewer parts |

# %% [markdown]
# ## Is it right?
#
# *1 minute.* Your model against the book's `DecoderOnly`, and, with its turns left out, against the library's blocks under a causal mask.

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
# Beside it stand tables of counts: how often did a token follow the 1, 2, … 5 before it {cite}`kneser1995improved`? All are judged on the validation text, in windows of 64 tokens.

# %%
judged = task.judged(writer.eval())  # -ln p of each token of the validation text but the first
ours = (judged.sum() / math.log(2) / task.n_bytes).item()

# %% tags=["evidence"]
counted = {order: task.counted(order) for order in range(2, 7)}
bits = {order: task.per_byte(nats) for order, nats in counted.items()}
best = min(bits, key=bits.get)

# %% tags=["view"]
guess(
    "A table of counts is made in a tenth of a second. Which needs fewer bits?",
    ["GPT, clearly", "about the same", "the table"],
    right="the table",
    because=f"It needs {bits[best]:.2f} bits per byte, GPT after {STEPS:,} steps {ours:.2f}.",
)

# %% tags=["evidence"] mystnb={"figure": {"caption": "Bits per byte of the validation text.", "name": "fig-bits-per-byte"}, "image": {"alt": "Lying bars: tables of counts that look 1 to 5 tokens back, falling from 2.4 to 1.9 bits per byte, and GPT at about 2.0."}}
named = {f"counts, {order - 1} back": value for order, value in bits.items()}
bars(named | {"GPT": ours}, "bits per byte")
plt.show()

# %% tags=["evidence"]
observe(
    "GPT needs {ours:.2f} bits per byte, at a perplexity of {wavers:.0f} per token. The best table, which looks {back} tokens back, needs {table:.2f}.",
    ours=ours,
    wavers=perplexity(judged.mean()),
    back=best - 1,
    table=bits[best],
    holds=bits[best] < ours < bits[2],
)

# %% [markdown]
# So a table beats a network, at this size and after so short a training. It is no secret of ours: a quarter of a million letters are few, and in so narrow a text, five tokens often come back word for word. What a network has that a table lacks is [on the deeper page](deeper/09_gpt.ipynb).

# %% [markdown]
# ## Look inside
#
# *12 minutes.* What comes next? Choose a beginning, turn the three knobs, and take a token. Watch which ones disappear, and in which order.

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

# %% [markdown]
# The beginnings of words are hard, their ends are easy. Where the order makes no sense, every word is a surprise. And does it help to have read more?

# %% tags=["evidence"] mystnb={"figure": {"caption": "Loss on the validation text by how many tokens of the window stand before, for GPT and for the best table. Means over all windows and over neighbouring places.", "name": "fig-by-position"}, "image": {"alt": "Two lines over 1 to 64 tokens, on a logarithmic axis. Both fall steeply up to about eight tokens, and are level from there on; the table's is lower throughout."}}
compared = {"GPT": judged, f"table, {best - 1} back": counted[best]}
lines = {name: tasks.by_place(nats, [0, 1, 2, 4, 8, 32, 64]) for name, nats in compared.items()}
curves(lines, "tokens before", "loss (nats per token)", logx=True)
plt.show()

# %% tags=["evidence"]
first, eighth, last = (lines["GPT"][1][i] for i in (0, 3, -1))
observe(
    "Behind one token GPT's loss is {first:.2f} nats, behind 5 to 8 tokens {eighth:.2f}, behind 33 to 64 it is {last:.2f}.",
    first=first,
    eighth=eighth,
    last=last,
    holds=first - eighth > 0.6 and abs(last - eighth) < 0.35,
)

# %% [markdown]
# Eight tokens are worth a lot, the next fifty nearly nothing: after so short a training, GPT has learned what neighbours say. What longer training makes of the rest is [on the deeper page](deeper/09_gpt.ipynb).
#
# ### Cold and hot
#
# What do the knobs do to a whole text?

# %% tags=["evidence"]
taus = [0.1, 0.4, 0.7, 1.0, 1.3, 1.6]
free = {"n": 120, "k": V, "p": 1.0}
texts = [[continued("The", tau=tau, seed=seed, **free) for tau in taus] for seed in range(3)]
exist, varied = tasks.words_in(task, texts)  # (3, taus) each

# %% tags=["view"]
guess(
    "At a temperature of 1.6, how many of its words exist?",
    ["nearly all", "about half", "hardly any"],
    right="about half",
    because=f"It is {exist[:, -1].mean():.0%}; at 0.4 it is {exist[:, 1].mean():.0%}. Pieces of words are put together freely when all tokens come near to each other.",
)

# %% tags=["evidence"] mystnb={"figure": {"caption": "Texts of 120 tokens by temperature, without top-k and top-p: the share of their words that the training text has, and the share of different ones. Three texts each, means and ranges.", "name": "fig-temperatures"}, "image": {"alt": "Two lines over temperatures from 0.1 to 1.6. The share of words that exist begins high and falls to about a half. The share of different words is lower where it is cold than where it is hot."}}
curves({"exist": (taus, exist), "different": (taus, varied)}, "temperature", "share of words")
plt.show()

# %% [markdown]
# Cold, it repeats what is safe; hot, it makes words up. What one likes to read lies between, and there top-k and top-p cut off the tail.

# %% [markdown]
# ## Show someone
#
# *3 minutes.* It writes. Choose a beginning and a temperature; the text was drawn beforehand, by the network above. In JupyterLab, run the cell below, with a beginning of your own: it writes while you watch.

# %% tags=["view"]
beginnings = ["The estimator is", "Return the number of", "If the data are"]
writing({text: {tau: continued(text, tau=tau) for tau in (0.3, 0.6, 1.0)} for text in beginnings})


# %% tags=["nbval-ignore-output"]
print("Today we learned", end="")
_ = continued("Today we learned", n=80, seed=2, say=partial(print, end="", flush=True))

# %% [markdown]
# It has the tone, and no thought. A quarter of a million letters have taught it words, quotation marks and how a sentence of documentation runs. For Shakespeare's plays, change one argument at the top and run the page again (the text is fetched once):
#
#     from utils.data.corpora import tiny_shakespeare
#     task = Writing(tiny_shakespeare)

# %% [markdown]
# ## Where it breaks
#
# *3 minutes.* The writer has read a quarter of a million letters. Now ask for something else: is this review good or bad? Yesterday's grammar writes reviews, people label them, and a model of the same kind learns from the labels, with a score for each answer at the last word. It begins from nothing.

# %% tags=["evidence"] mystnb={"figure": {"caption": "Share of 500 new reviews that a small GPT names rightly, by the number of labels that it learned from: means and ranges of three seeds. Dashed: chance.", "name": "fig-labels"}, "image": {"alt": "A line over 30, 300 and 3,000 labels, on a logarithmic axis. It begins near the dashed line at a half and rises to between 0.7 and 0.9."}}
labels = [30, 300, 3000]
right = tasks.right_from_labels(lambda V: GPT(V, D=48, F=192), labels)  # (3 seeds, 3)
ax = curves({"": (labels, right)}, "labels", "share right", logx=True)
ax.axhline(0.5, color=INK, lw=1, ls="--")
plt.show()

# %% tags=["evidence"]
low, _, high = right.mean(dim=0).tolist()
observe(
    "With {few} labels it is right in {low:.0%}, where a coin is in half; with {many:,} in {high:.0%}.",
    few=labels[0],
    low=low,
    many=labels[-1],
    high=high,
    holds=low < 0.62 and high > low + 0.08,
)

# %% [markdown]
# Three thousand labels are days of somebody's work, for this one question; the next question begins again at thirty. Meanwhile our writer, which has learned without any label which words belong together, stands beside it unused.

# %% [markdown]
# ## What we found
#
# *2 minutes.* Sentences that one often reads, and our answers. More are on the [deeper page](deeper/09_gpt.ipynb).
#
# (claim-gpt-7)=

# %% tags=["evidence"]
tables = {}
for n in (1, 768):
    cut = Writing(n_merges=n)
    nats = min((cut.counted(order) for order in (4, 5, 6)), key=torch.mean)
    tables[n] = perplexity(nats.mean()), cut.per_byte(nats)
(low, more), (high, fewer) = tables.values()
claim(
    "gpt-7",
    "Yes: a table on letters has perplexity {low:.1f} and needs {more:.2f} bits per byte; on byte pairs {high:.1f}, and {fewer:.2f}.",
    **{"low": low, "high": high, "more": more, "fewer": fewer},
    holds=lambda low, high, more, fewer: high > 2 * low and fewer < more,
    scale="tables that look 3 to 5 tokens back, the best of each; 1 merge and 768",
)

# %% [markdown]
# (claim-gpt-8)=

# %% tags=["evidence"]
row = task.ids["train"][None, :64]
whole, *shorter = (work(lambda t=t: writer(row[:, :t])).total for t in range(64, 0, -1))
claim(
    "gpt-8",
    "Yes: one pass over 64 tokens takes {whole:.0f} million operations and answers everywhere; a pass for each answer takes {times:.0f} times as many.",
    whole=whole / 1e6,
    times=(whole + sum(shorter)) / whole,
    holds=lambda whole, times: whole > 0 and times > 20,
    counted=True,
    scale="two blocks, 96 wide",
)

# %% [markdown]
# ## Exercises
#
# More are on the [deeper page](deeper/09_gpt.ipynb), and all solutions on [a page of their own](solutions/09_gpt.ipynb).
#
# ```{exercise} Normed queries and keys
# :label: exercise-9-5
#
# *Core, 10 minutes.* Give each head's queries and keys an RMS norm over their $d_k$ numbers, $g \odot x / \sqrt{\frac{1}{d_k} \sum_i x_i^2 + \varepsilon}$, with a gain for queries and one for keys. Then score as ever, with the factor $1/\sqrt{d_k}$. How large can a score become, if the gains are 1?
# ([Solution](solutions/09_gpt.ipynb#solution-9-5))
# ```


# %%
def qk_norm_scores(q, k, g_q, g_k, eps):
    """Shapes: q (B, h, T, d_k), k (B, h, S, d_k), gains (d_k,) to scores (B, h, T, S)."""
    raise NotImplementedError


check("9.5", qk_norm_scores)

# %% [markdown]
# ```{exercise} A gate's fair width
# :label: exercise-9-6
#
# *Core, 5 minutes.* A plain feed-forward layer has two matrices, $W_1$ and $W_2$, and is $F$ wide inside. A gated one has three: $W_\text{down}\,(\operatorname{silu}(W_\text{gate}\, x) \odot W_\text{up}\, x)$. How wide may it be, if it is to have as many weights? Round up to the next `multiple`, since processors like round numbers.
# ([Solution](solutions/09_gpt.ipynb#solution-9-6))
# ```


# %%
def gated_width(d_ff: int, multiple: int) -> int:
    """The width inside of a gated layer; d_ff is that of the plain one. No biases."""
    raise NotImplementedError


check("9.6", gated_width)

# %% [markdown]
# ```{exercise} Predict: bits per byte
# :label: exercise-9-7
#
# *Warm-up, 5 minutes.* A model has a perplexity of 32 per token, and its tokens stand for 2.5 bytes on average. How many bits per byte does it need?
# ([Solution](solutions/09_gpt.ipynb#solution-9-7))
# ```

# %%
my_bits = None

check("9.7", my_bits)

# %% [markdown]
# ## Checklist and tomorrow
#
# The points from the top, ticked by their exercises.

# %% tags=["view"]
points = {
    "ask a text for its next token, at every position at once": "9.1",
    "write GPT's forward pass, and say what keeps the future out": "9.2",
    "draw a token with temperature, top-k and top-p, in the right order": "9.3",
    "write with a cache, each token read once": "9.4",
    "compare models by bits per byte, whatever their tokens are": "9.7",
    "say what today's block has changed, and what that brings": "9.5 9.6",
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
