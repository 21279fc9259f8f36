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
# - turn any text into a next-token task, with a loss at every position,
# - write GPT's forward pass, and say which positions a token can affect,
# - sample the next token with a temperature and top-p, in the right order,
# - compare language models in bits per byte, whatever their tokens are,
# - mix two language models, and say why the mixture can beat both,
# - say what a GPT does that no table of counts can.
#
# It builds on [Day 5](05_self_attention.ipynb)'s causal mask, [Day 6](06_transformer.ipynb)'s blocks and [Day 8](08_text_classification.ipynb)'s byte pairs. It takes about 50 minutes to read and half an hour to write four
# functions, with a good place to stop halfway. At the end a GPT writes Shakespeare as you type, and yours writes documentation.

# %% tags=["setup"]
import convolution_to_attention  # is `utils` this book's?

import math
import zlib
from collections import Counter
from functools import partial

import matplotlib.pyplot as plt
import torch
from torch import nn

from utils.data.reviews import reviews
from utils.data.text import PAD
from utils.exercises.gpt import check
from utils.exercises.progress import checklist
from utils.measure import experiments
from utils.measure.claims import claim
from utils.positions import Rotary
from utils.self_attention import dot_product_attention, merge_heads, split_heads
from utils.show.display import observe
from utils.show.mechanisms import gpt as mechanisms
from utils.show.plotting import INK, bars, curves, use_book_style
from utils.show.views import guess, next_token, quiz, writer as page_writer
from utils.tasks import writing as tasks
from utils.tasks.adding import add, adder, drawn, share_right, train_adder
from utils.tasks.going_on import repeater, share_repeated, train_repeater, went_on
from utils.tasks.writing import RATE, Writing, surprises_at_the_end, train_both_sides
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
# *2 minutes.* Yesterday an encoder read a sentence and named its library. It can't write a word. But the next word can be an answer, too, just as a library's name can. So we give the encoder an output at every position and train it to predict the **next token** there.
#
# The text is scikit-learn's documentation, which you know from Days 3 and 7, cut into yesterday's byte pairs. One of its sentences will be our example all day.

# %%
task = Writing()
SENTENCE = "The estimator is fitted on the training data."
print(task.spelled(task.tokens.encode(SENTENCE)))

# %% tags=["evidence", "training"]
reader, readers = train_both_sides(task)

# %% tags=["evidence"] mystnb={"figure": {"caption": "Within seconds almost no loss is left: Day 6's encoder learns to predict the next token at every position. Means of ten steps; the vertical axis is logarithmic.", "name": "fig-both-sides"}, "image": {"alt": "A curve over 250 steps on a logarithmic axis. It starts at six nats, falls slowly at first and then steeply, to a small fraction of a nat."}}
learned = torch.tensor(readers.step_loss).view(-1, 10).mean(dim=1)
curves({"": (range(10, 251, 10), learned)}, "step", "loss (nats per token)", logy=True)
plt.show()

# %% [markdown]
# Almost no loss, after a few seconds. Wonderful! Now let it write: it reads the beginning of a sentence, we append the token that it predicts at the last position, and it reads again.

# %%
text = tasks.best_continuation(reader, task.tokens.encode("The number of"), n=8)
lost = perplexity(surprises_at_the_end(task, reader).mean())
_, weights = reader(task.ids["validation"][None, :64], need_weights=True)  # (1, 1, h, T, T)
ahead = weights[0, 0].diagonal(1, -2, -1).mean(dim=-1).max()  # the best head's, one ahead

# %% tags=["evidence"]
observe(
    "Its loss fell to {loss:.3f} nats. It continues “The number of” with: “{text}”. Where no text follows, its perplexity is {lost:,.0f}: a blind guess among all {V} tokens would do better. One of its heads puts {ahead:.0%} of its weight on the next token.",
    **{"loss": learned[-1], "lost": lost, "ahead": ahead},
    text=task.tokens.decode(text).removeprefix("The number of"),
    V=len(task.tokens),
    holds=learned[-1] < 0.5 and lost > len(task.tokens) and ahead > 0.6,
)

# %% [markdown]
# It has learned to look one position to the right and copy. That isn't predicting; it's reading the answer key. And when it writes, there is no position to the right.
#
# ## The idea
#
# *2 minutes.* So hide the future. Each position sees itself and everything before it, through Day 5's causal mask, and has to *guess* the next token {cite}`radford2018improving`.

# %% tags=["mechanism"] mystnb={"figure": {"caption": "A causal mask hides the answers. Filled: the positions that each row may see. Framed: the one that holds the row's target.", "name": "fig-hidden"}, "image": {"alt": "Two grids of five by five, with rows and columns called The, estimator, is, fit and ted; to the right of the rows, the words that they must predict, estimator to on. On the left all cells are filled, and the four cells to the right of the diagonal are framed and have an exclamation mark. On the right only the cells up to the diagonal are filled, and the framed ones are blank."}}
mechanisms.hidden()
plt.show()

# %% [markdown]
# This is hard, and therefore useful. To predict the token after *The estimator is*, it helps to know which words belong together, which are verbs, and what estimators do. And no labels are needed: every text contains its own answers, $T - 1$ of them in a text of $T$ tokens.

# %% tags=["mechanism"] mystnb={"figure": {"caption": "Yesterday's encoder gets one lesson from a text; today's GPT gets one from every token but the last.", "name": "fig-lessons"}, "image": {"alt": "Above are five boxes, The, estimator, is, fit and ted, with arrows into one box, from sklearn: 1 lesson. Below are the same five boxes; from each of the first four an arrow leads straight up to the next word, estimator, is, fit, ted: 4 lessons."}}
mechanisms.lessons()
plt.show()

# %% [markdown]
# Such a model can also write. It predicts the next token from those before it, reads its own prediction, and goes on: it is **autoregressive**. The text it starts from is the **prompt**. Day 6's blocks with a causal mask, trained to predict the next token, are a **GPT**.
#
# ## Step by step
#
# ### Next-token loss: every position has a target
#
# *11 minutes, 9 of them yours.* At position $t$, the logits predict the token at $t + 1$. So the targets are the text itself, shifted by one position:
#
# $$
# \mathcal{L} = -\frac{1}{T - 1} \sum_{t=0}^{T-2} \ln p(x_{t+1} \mid x_0, \dots, x_t) .
# $$ (eq-next-token)

# %% tags=["mechanism"] mystnb={"figure": {"caption": "Five tokens make four losses: each position's target, the probability that a model gave it, and the negative logarithm of that probability.", "name": "fig-asked"}, "image": {"alt": "Below is the row input: The, estimator, is, fit, ted. Above it, shifted by one position, is the row target: estimator, is, fit, ted. Then come the probabilities 0.5, 0.25, 0.1 and 0.5, and their negative logarithms 0.69, 1.39, 2.30 and 0.69, whose mean is 1.27."}}
mechanisms.asked([0.5, 0.25, 0.1, 0.5])
plt.show()

# %% [markdown]
# ```{exercise} Next-token loss
# :label: exercise-next-token-loss
#
# *9 minutes.* Compute {eq}`eq-next-token` for a batch. Shorter texts are padded on the right with `PAD` = 0, which is never a target: take one mean over all the real targets in the batch. ([Solution](solutions/09_gpt.ipynb#solution-next-token-loss))
# ```


# %%
def next_token_loss(logits, ids):
    """Shapes: logits (B, T, V) about what follows each token of ids (B, T), to a scalar tensor."""
    raise NotImplementedError


next_token_loss = check("next_token_loss", next_token_loss)

# %%
check.show_reference("next_token_loss")

# %% [markdown]
# ### GPT's forward pass, from ids to logits
#
# *8 minutes, 5 of them yours.* You have met every part: an embedding table, blocks, a norm, and the same table once more, to give every token a score (Day 6).

# %% tags=["mechanism"] mystnb={"figure": {"caption": "All of GPT, here with two blocks. One table is used twice: it embeds the input, and it scores the output.", "name": "fig-gpt"}, "image": {"alt": "A tower of boxes, with arrows pointing upwards. From bottom to top: ids of The estimator is fit; table, a row for each id, times root D; two blocks, of attention and a feed-forward layer; norm; table, transposed, a score for each token, x times row; logits of each next token. Beside the arrows are the shapes: B, T, D, and at the top B, T, V."}}
mechanisms.tower(2)
plt.show()

# %% [markdown]
# ```{exercise} GPT's forward pass
# :label: exercise-forward
#
# *5 minutes.* Given ids, return the logits of each next token. Multiply the vectors by $\sqrt D$ as they enter, as on Day 6; at the output, use the table as it is. ([Solution](solutions/09_gpt.ipynb#solution-forward))
# ```


# %%
def gpt(ids, table, blocks, norm):
    """Shapes: ids (B, T), table (V, D), blocks and norm: (B, T, D) to the same; to (B, T, V)."""
    raise NotImplementedError


gpt = check("forward", gpt)

# %%
check.show_reference("forward")

# %% [markdown]
# The block is Day 6's, with rotary positions. `is_causal=True` hides the future.


# %%
class Block(nn.Module):
    """Causal attention and a feed-forward layer: x (B, T, D) to the same."""

    def __init__(self, D, h, F):
        super().__init__()
        self.h, self.turn = h, Rotary(D // h)
        self.W_in, self.W_o = nn.Linear(D, 3 * D), nn.Linear(D, D)
        self.think = nn.Sequential(nn.Linear(D, F), nn.GELU(), nn.Linear(F, D))
        self.norms = nn.ModuleList([nn.LayerNorm(D), nn.LayerNorm(D)])

    def forward(self, x):
        q, k, v = (split_heads(y, self.h) for y in self.W_in(self.norms[0](x)).chunk(3, dim=-1))
        found, _ = dot_product_attention(self.turn(q), self.turn(k), v, is_causal=True)
        x = x + self.W_o(merge_heads(found))
        return x + self.think(self.norms[1](x))


# %%
class GPT(nn.Module):
    """Ids (B, T) to logits (B, T, V) of each next token."""

    def __init__(self, V, D=96, h=4, F=384, L=2):
        super().__init__()
        self.table = nn.Parameter(0.02 * torch.randn(V, D))
        self.blocks = nn.ModuleList(Block(D, h, F) for _ in range(L))
        self.norm = nn.LayerNorm(D)

    def forward(self, ids):
        return gpt(ids, self.table, self.blocks, self.norm)


# %% [markdown]
# That is all. The largest GPT-2 has 48 such blocks, each 1,600 wide {cite}`radford2019language`. Its published weights fit this book's blocks: the [deeper page](deeper/09_gpt.ipynb#deeper-real-thing) loads them.
#
# ### Training on pieces of a long text
#
# *3 minutes.* A long text needn't be split into sentences or labelled. We take pieces of 65 tokens from random positions, so that each has 64 inputs and 64 targets. The 64 inputs are the model's **context window**: it sees no farther back.

# %% tags=["mechanism"] mystnb={"figure": {"caption": "Any piece of the text is an example; here is a batch of three. Pieces may overlap, and may start in the middle of a sentence.", "name": "fig-pieces"}, "image": {"alt": "A long row of cells, the training text, and under it three shorter rows, each with an arrow from its position in the text; two of them overlap."}}
mechanisms.pieces([2, 14, 8], 9)
plt.show()


# %%
def pieces(text, steps, B=8, T=64):
    """Batches of ids (B, T + 1) from random positions; each is its own target."""
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
    because=f"It gives every token the probability 1/{V}, and −ln 1/{V} = {math.log(V):.2f}. If your first loss is far from that, something is wrong.",
)

# %% tags=["training"]
torch.manual_seed(0)
writer = GPT(V)
STEPS = 500
batches = pieces(task.ids["train"], STEPS)
history = train_once(writer, next_token_loss, batches, learning_rate=RATE)

# %% tags=["evidence"] mystnb={"figure": {"caption": "GPT learns fast at first, then ever more slowly: its loss, averaged over 20 steps. Dashed: a model that knows nothing.", "name": "fig-writer-loss"}, "image": {"alt": "A curve over 500 steps. It begins near the dashed line at 6.2 nats, falls fast to about four within 150 steps, and then falls ever more slowly to well below three."}}
means = torch.tensor(history.step_loss).view(-1, 20).mean(dim=1)
ax = curves({"": (range(20, STEPS + 1, 20), means)}, "step", "loss (nats per token)")
ax.axhline(math.log(V), color=INK, lw=1, ls="--")
plt.show()

# %% [markdown]
# Does the mask keep the future out? We replace the last token of our sentence. Every logit before it must stay the same, to the last bit.

# %%
ids = torch.tensor([task.tokens.encode(SENTENCE)])
other = torch.cat([ids[:, :-1], torch.tensor([task.tokens.encode("?")])], dim=1)
with torch.no_grad():
    moved = (writer(other) - writer(ids)).abs().amax(dim=-1)[0]

# %% tags=["evidence"]
observe(
    "The first step's loss was {first:.2f}. With the last token replaced, the logits at the {n} positions before it move by {before:g}, and those at its own position move by {own:.1f}.",
    first=history.step_loss[0],
    n=len(moved) - 1,
    before=moved[:-1].max(),
    own=moved[-1],
    holds=abs(history.step_loss[0] - math.log(V)) < 0.2 and moved[:-1].max() == 0 < moved[-1],
)

# %% [markdown]
# ### Sampling: temperature and top-p
#
# *15 minutes, 11 of them yours.* To write, we draw the next token at random, with the model's probabilities: this is **sampling**. Used as they are, the probabilities lead the text astray: each rare token is unlikely, but there are hundreds of them, so one is soon drawn {cite}`holtzman2020curious`. Two knobs hold the rare tokens back, in this order:
#
# - a **temperature** $\tau$ divides the logits (Day 2),
# - **top-p** keeps the likeliest tokens until their probabilities add up to $p$, including the token that reaches it; the rest get 0, and the probabilities that stay are scaled to sum to 1.
#
# Top-p comes last because it adds up probabilities, and the temperature changes them.

# %% tags=["mechanism"] mystnb={"figure": {"caption": "A temperature below 1 favours the likeliest tokens, and top-p then drops the rest: probabilities of six tokens after *The estimator is fitted*, made up for this picture.", "name": "fig-knobs"}, "image": {"alt": "Three rows of six cells, on, to, with, by, in, a. Softmax gives 0.50, 0.23, 0.12, 0.08, 0.04 and 0.03. With a temperature of 0.7, the first grows to 0.64. Top-p with p = 0.8 leaves the first two, with 0.76 and 0.24."}}
logits = torch.tensor([2.0, 1.2, 0.6, 0.2, -0.6, -1.0])
mechanisms.cuts(logits, ["on", "to", "with", "by", "in", "a"], 0.7, 0.8)
plt.show()

# %% [markdown]
# ```{exercise} Temperature and top-p
# :label: exercise-next-chances
#
# *11 minutes.* Given logits, a temperature and $p$, return the probabilities to sample from. Sort them (`order = likely.argsort(descending=True)`), cut, and put each back at its token's position (`likely[order] = ranked`). ([Solution](solutions/09_gpt.ipynb#solution-next-chances))
# ```


# %%
def next_chances(logits, tau, p):
    """Shapes: logits (V,) to probabilities (V,): temperature, then top-p."""
    raise NotImplementedError


next_chances = check("next_chances", next_chances)

# %%
check.show_reference("next_chances")

# %% [markdown]
# Now it can write. From the 65th token on, it forgets the earliest ones, because its context window is full. (Until then, [Day 7](07_efficient_attention.ipynb)'s cache would save work and change nothing. An empty prompt starts a new paragraph.)


# %%
@torch.no_grad()
def continued(prompt, n=40, tau=0.6, p=0.9, say=None):
    """Go on with any text, n tokens long; each prompt has a seed of its own."""
    generator = torch.Generator().manual_seed(zlib.crc32(prompt.encode()))
    ids = task.tokens.encode(prompt or "\n")
    for _ in range(n):
        likely = next_chances(writer(torch.tensor([ids[-64:]]))[0, -1], tau, p)
        ids.append(torch.multinomial(likely, 1, generator=generator).item())
        if say:
            say(task.tokens.decode(ids[-1:]))
    return task.tokens.decode(ids)


# %% [markdown]
# Here is the first thing that your GPT has ever written:

# %% tags=["nbval-ignore-output"]
print(continued("The estimator is"))

# %% [markdown]
# It has the tone of documentation, with no thought behind it. But a few minutes ago, its weights were random numbers.
#
# **Enough for tonight?** This is a good place to stop: you have written a GPT. The rest, some 35 minutes, asks how good your GPT is, and what it can do that counting can't.
#
# ## Is it right?
#
# *1 minute.* We compare your model with the book's `DecoderOnly`, and then, without the rotary positions, with PyTorch's blocks under a causal mask.

# %% tags=["evidence"]
assert tasks.off_from_book_and_library(GPT) < 1e-10
print("the logits agree with the book's model and with PyTorch's blocks to ten digits")

# %% [markdown]
# ## Train it
#
# ### Bits per byte: one measure for all tokens
#
# *1 minute.* How good is your GPT? A loss per token depends on how long the tokens are, and so does **perplexity**, its exponential (Day 2). But a text has the same number of bytes for every model, so we divide by that number:
#
# $$
# \text{bits per byte} = \frac{\text{nats per token}}{\ln 2} \cdot \frac{\text{tokens}}{\text{bytes}} .
# $$ (eq-bits-per-byte)

# %% tags=["mechanism"] mystnb={"figure": {"caption": "Per symbol, two models seem to differ; per byte, they are equal. One word, split in two ways, with bits made up for this picture.", "name": "fig-per-byte"}, "image": {"alt": "Above, two byte pairs: fit takes 6 bits and ted takes 1, which makes 7 bits in all, 3.50 per symbol and 1.17 per byte. Below, six letters: f, i, t, t, e and d take 3, 2, 1, 0.5, 0.25 and 0.25 bits, which makes 7 bits in all, 1.17 per symbol and 1.17 per byte."}}
letters = [3.0, 2.0, 1.0, 0.5, 0.25, 0.25]
mechanisms.per_byte([("byte pairs", ["fit", "ted"], [6.0, 1.0]), ("letters", "fitted", letters)])
plt.show()

# %% [markdown]
# ### Four writers, one text: an LSTM, two Transformers and a table of counts
#
# *3 minutes.* Three of this book's networks meet a rival without weights: a table of **n-gram counts** {cite}`kneser1995improved`. (An n-gram is a run of $n$ tokens.) It stores how often each token followed each run of four tokens in the training text. Where a run is rare or new, it relies on shorter ones. (Its twenty lines are on the [deeper page](deeper/09_gpt.ipynb#deeper-table).)

# %%
by_gpt = task.judged(writer.eval())  # surprises of all validation tokens but the first
by_table = task.counted(5)  # the same for a table of five tokens in a row
bits = {"GPT": task.per_byte(by_gpt), "table": task.per_byte(by_table)}

# %% tags=["view"]
rivals = experiments.load("four_writers")
NAMES = {"LSTM": "Day 3's LSTM", "Day 6's blocks": "Day 6's blocks", "GPT": "GPT", "table": "table"}
means = {name: rivals.spread("test", writer=name)[0] for name in NAMES}
guess(
    "All four have read the same text. Which needs the fewest bits per byte?",
    [*NAMES.values()],
    right=NAMES[min(means, key=means.get)],
    because="; ".join(f"{NAMES[name]}: {mean:.2f} bits per byte" for name, mean in means.items())
    + ".",
)

# %% tags=["evidence"] mystnb={"figure": {"caption": "A table of counts beats three networks of equal size after four passes over a small text: bits per byte of the test set, each network at the best of four learning rates. Mean and range of three seeds (stored experiment).", "name": "fig-four-writers"}, "image": {"alt": "Four bars of bits per byte, LSTM, Day 6's blocks, GPT and table. The table's is the shortest."}}
bars({NAMES[w]: rivals.column("test", writer=w) for w in NAMES}, "bits per byte")
plt.show()

# %% tags=["evidence"]
observe(
    "On the validation set, the table needs {counted:.2f} bits per byte, and your GPT, after fewer steps than the stored one, needs {yours:.2f}.",
    **{"yours": bits["GPT"], "counted": bits["table"]},
    holds=bits["table"] < bits["GPT"] - 0.1
    and means["table"] + 0.05 < min(mean for name, mean in means.items() if name != "table"),
)

# %% [markdown]
# The table wins! It was counted in a second, and on this small text it beats a week of gates and attention. *Where* does it win? We ask how often each run of three validation tokens occurred in training.

# %%
runs = {part: [*map(tuple, of.unfold(0, 3, 1).tolist())] for part, of in task.ids.items()}
times = Counter(runs["train"])
seen = torch.tensor([times[run] for run in runs["validation"]])  # about tokens 2, 3, …
rare, new = (seen == 1) | (seen == 2), seen == 0
counts, lost = by_table[1:][rare].mean(), by_table[1:][new].mean()
slow, able = by_gpt[1:][rare].mean(), by_gpt[1:][new].mean()

# %% tags=["evidence"]
observe(
    "Where the run was seen once or twice, the table's loss on its third token is {counts:.1f} nats and GPT's is {slow:.1f}. Where the run is new, the table's is {lost:.1f} and GPT's is {able:.1f}.",
    **{"counts": counts, "slow": slow, "able": able, "lost": lost},
    holds=counts < slow - 0.3 and able < lost - 0.2,
)

# %% [markdown]
# A table knows a run after seeing it once; a network learns in small steps. But where the text is new, the network's loss is smaller. The two fail on different tokens, so why choose?
#
# ### Mixing two language models
#
# *7 minutes, 5 of them yours.* Let both models predict, and give each token the mean of its two probabilities.

# %% tags=["mechanism"] mystnb={"figure": {"caption": "The mixture keeps every token that either model finds likely: probabilities of the token after *is fitted on the*, made up for this picture.", "name": "fig-mixture"}, "image": {"alt": "Three rows of five cells, t, data, e, model, X. The table gives them 0.80, 0.10, 0.05, 0.04 and 0.01; GPT gives them 0.20, 0.30, 0.10, 0.20 and 0.20; half and half, they get 0.50, 0.20, 0.08, 0.12 and 0.11."}}
mechanisms.mixture(
    ["t", "data", "e", "model", "X"], [0.8, 0.1, 0.05, 0.04, 0.01], [0.2, 0.3, 0.1, 0.2, 0.2]
)
plt.show()

# %% [markdown]
# ```{exercise} Mix two language models
# :label: exercise-half-and-half
#
# *5 minutes.* Given two models' surprises $-\ln p$ for the same tokens, return the surprises of their mixture, which gives each token the mean of their probabilities. ([Solution](solutions/09_gpt.ipynb#solution-half-and-half))
# ```


# %%
def half_and_half(ours, theirs):
    """Shapes: surprises (n,) and (n,), in nats, to (n,)."""
    raise NotImplementedError


half_and_half = check("half_and_half", half_and_half)

# %%
check.show_reference("half_and_half")

# %%
bits["half"] = task.per_byte(half_and_half(by_gpt, by_table))

# %% tags=["evidence"]
observe(
    "The mixture, half table and half GPT, needs {half:.2f} bits per byte; the table alone needs {table:.2f}, and GPT alone needs {gpt:.2f}.",
    **{"half": bits["half"], "table": bits["table"], "gpt": bits["GPT"]},
    holds=bits["half"] < min(bits["table"], bits["GPT"]) - 0.02,
)

# %% [markdown]
# Neither model was changed, yet the mixture beats both. Where one model gives a token almost no probability, the mixture still gives it half of the other's. So on every token, its loss is at most $\ln 2$ above the better model's. ([Mixtures with the other networks](deeper/09_gpt.ipynb#deeper-table) beat the table, too.)
#
# ### Induction: continuing what was just read
#
# *5 minutes, 1 of them yours.* Invent a sequence of a dozen letters, and begin to repeat it: *qzkwvjhxbmfy q…* What comes next? You know, although you have never seen this sequence before. A table of counts can't know: it has never read *qz*. Can a GPT?

# %% [markdown]
# ```{exercise} Predict: how many blocks?
# :label: exercise-blocks-to-copy
#
# *1 minute.* At least how many blocks does a GPT need to continue an invented sequence that repeats? ([Solution](solutions/09_gpt.ipynb#solution-blocks-to-copy))
# ```

# %%
my_blocks = None

check("blocks_to_copy", my_blocks)

# %% [markdown]
# We train two models on random letters that repeat after a while. Nothing tells them to copy: the loss covers every next letter, including those that nothing could predict.

# %% tags=["training"]
one, two = repeater(1, seed=0), repeater(2, seed=0)
falls = {
    name: torch.tensor(train_repeater(model, seed=0, steps=150).step_loss).view(-1, 5).mean(dim=1)
    for name, model in (("one block", one), ("two blocks", two))
}

# %% tags=["evidence"] mystnb={"figure": {"caption": "Two blocks suddenly learn to continue a sequence that repeats. One block only learns which letters are in use, not their order. Means of five steps, over all letters, so the loss can't fall to 0. Dashed: a guess among 26 letters.", "name": "fig-going-on"}, "image": {"alt": "Two curves over 150 steps, both starting above the dashed line at 3.26. The curve of one block falls slowly to about 2.6. The curve of two blocks falls with it at first, then drops steeply to about 1.3."}}
ax = curves(
    {name: (range(5, 151, 5), loss) for name, loss in falls.items()},
    "step",
    "loss (nats per letter)",
)
ax.axhline(math.log(26), color=INK, lw=1, ls="--")
plt.show()

# %%
mine = "qzkwvjhxbmfy"  # yours: a dozen letters at most, all different
print("one block: ", mine, went_on(one, mine + mine[0], 11))
print("two blocks:", mine, went_on(two, mine + mine[0], 11))

finished = [share_repeated(model, 12) for model in (one, two)]  # of 200 invented dozens

# %% tags=["evidence"]
observe(
    "Given the first letter of the repetition, the model with two blocks completes {two:.0%} of 200 invented sequences without a mistake; the model with one block completes {one:.0%}.",
    **{"one": finished[0], "two": finished[1]},
    holds=finished[1] > 0.7 and finished[0] < 0.1,
)

# %% [markdown]
# How do two blocks do it? In the first, a head notes at each position which letter came *before* it. In the second, a head looks for the position whose note names the current letter, and fetches the letter at that position: an **induction head** {cite}`olsson2022context`. The second block reads the first block's notes, so a single block finds none to read.

# %% tags=["mechanism"] mystnb={"figure": {"caption": "An induction head searches through notes: block 1 writes down the letter before each position, and block 2 finds the note *q* and fetches the letter above it.", "name": "fig-induction"}, "image": {"alt": "A row of cells q, z, k, w, v, q and a question mark. Below each is the letter before it: q under z, z under k, and so on. An arrow goes from the second q down to the note q under z, and an arc above leads from z to the question mark."}}
mechanisms.induction("qzkwvq")
plt.show()

# %% [markdown]
# Large models do this, too: show them three examples of a new task, and they continue the pattern. The [deeper page](deeper/09_gpt.ipynb#deeper-induction) finds the heads, and silences them.
#
# ### A GPT that adds
#
# *2 minutes.* A sum is a text, too: `123+456=579`. There are a million pairs of numbers with up to three digits; a table of counts would have to read every one of them. We train a small GPT for 300 steps, with each number written units first, the order in which you add on paper.

# %% tags=["mechanism"] mystnb={"figure": {"caption": "Written units first, every digit of a sum depends on only a few digits before it: 457 + 68 = 525.", "name": "fig-carries"}, "image": {"alt": "A row of cells: 7 5 4 + 8 6 0 = 5 2 5 0. Arrows lead to the first digit of the answer from 7 and 8, to the second from 5, 6 and the first digit, to the third from 4, 0 and the second, and to the last from the third."}}
mechanisms.carries(457, 68)
plt.show()

# %% tags=["training"]
pairs = drawn(2000, seed=10**6)  # 2,000 pairs of numbers, kept out of training in both orders
sums = adder(seed=0)
for _ in train_adder(sums, rate=0.025, without=pairs):
    pass

# %% tags=["nbval-ignore-output"]
a, b = 457, 68  # yours, up to 999
print(f"{a} + {b} = {add(sums, a, b)}")

# %%
correct = share_right(sums, pairs, units_first=True)
stored = experiments.load("adding").column("in the end", rate=0.025, order="units first")

# %% tags=["evidence"]
observe(
    "It has read at most {read:,} of a million pairs, and it adds {correct:.0%} of 2,000 others correctly. Three stored runs add {least:.0%} to {most:.0%}.",
    **{"read": 300 * 64, "correct": correct, "least": min(stored), "most": max(stored)},
    holds=correct > 0.2 and min(stored) > 0.9,
)

# %% [markdown]
# A GPT reads its own output, so each digit needs only its own column, the column before, and the digit just written, which shows whether one is carried. [In the usual order, and with longer numbers](deeper/09_gpt.ipynb#deeper-adding), it does far worse.
#
# ### The ladder: where counting stops winning
#
# *2 minutes.* Our text was small, and so was the model. What if both grow? Four GPTs of increasing size read all of sympy's docstrings, and so does the best table of counts.

# %% tags=["view"]
ladder = experiments.load("counting_ladder")
rungs = sorted((r for r in ladder.rows if r["reader"] != "table"), key=lambda r: r["parameters"])
(counting,) = ladder.select(reader="table")
table = counting["test"][0]
found = [sum(rung["test"]) / len(rung["test"]) for rung in rungs]
passed = [rung["reader"] for rung, needed in zip(rungs, found) if needed < table]
guess(
    "The table stays as it is. At which of these sizes does a GPT first need fewer bits than the table?",
    [*(rung["reader"] for rung in rungs), "at none of these"],
    right=passed[0] if passed else "at none of these",
    because=f"The table needs {table:.2f} bits per byte, and the GPTs, in order of size, need {', '.join(f'{needed:.2f}' for needed in found)}.",
)

# %% tags=["evidence"] mystnb={"figure": {"caption": "A GPT gets better as it grows, and overtakes the best table of counts (dashed): bits per byte of a test set, by the GPT's number of weights (stored experiment).", "name": "fig-counting-ladder"}, "image": {"alt": "A falling line over 58 thousand to 1.4 million weights on a logarithmic axis. It begins above a dashed horizontal line, the table, and ends below it."}}
sizes = [rung["parameters"] for rung in rungs]
ax = curves({"": (sizes, found)}, "weights", "bits per byte", logx=True)
ax.axhline(table, color=INK, lw=1, ls="--")
ax.set_xticks(sizes, [rung["reader"] for rung in rungs])
ax.minorticks_off()
plt.show()

# %% [markdown]
# (claim-gpt-10)=

# %% tags=["evidence"]
claim(
    "gpt-10",
    "Yes, if it is large enough: the best table needs {table:.2f} bits per byte; GPTs need {most:.2f} with {small:,} weights and {least:.2f} with {large:,}.",
    **{"table": table, "most": found[0], "least": found[-1]},
    **{"small": sizes[0], "large": sizes[-1]},
    holds=lambda table, most, least, small, large: least < table < most and 20 * small < large,
    scale=f"sympy's docstrings, {counting['letters read'] / 1e6:.1f} million letters, two passes; each GPT at the best of three learning rates; tables of letters and byte pairs up to order 7",
    experiment="counting_ladder",
)
assert all(small > large + 0.01 for small, large in zip(found, found[1:]))

# %% [markdown]
# A table gets better only by reading more; a network also gets better by growing. ([Rung by rung](deeper/09_gpt.ipynb#deeper-ladder).)
#
# ## Look inside
#
# *6 minutes.* What comes next, in the eyes of your GPT? Choose a prompt, turn the knobs, and take a token. (The third knob, top-k, keeps the $k$ likeliest tokens.)

# %% tags=["view"]
prompts = [tuple(task.tokens.encode(text)) for text in ("The estimator is", "Return the number of")]
next_token(task.spelled(range(V)), tasks.tree(writer, prompts, n=48), prompts)


# %%
def cost(text):
    """The bits that your GPT needs for a text, all its tokens but the first."""
    return sum(bits for _, bits, _ in tasks.surprised(task, writer, text)[1:])


order, mixed_up = cost(SENTENCE), cost("On data the fitted estimator training is the.")

# %% tags=["evidence"]
observe(
    "Our sentence costs {order:.0f} bits; with its words mixed up, it costs {mixed_up:.0f}.",
    **{"order": order, "mixed_up": mixed_up},
    holds=mixed_up > 1.2 * order,
)

# %% [markdown]
# ## Show someone
#
# *6 minutes.* Type, and a GPT goes on writing. This isn't your GPT, which trained for a minute and isn't yet worth reading aloud. It is a stored one with four blocks, trained for far longer on a million letters of Shakespeare, and it runs right here on the page.

# %% tags=["view"]
page_writer("shakespeare", beginning="JULIET:\nWhat is a ")

# %% tags=["evidence"]
(stored,) = experiments.load("shakespeare_page").rows
observe(
    "It has {n:,} weights, rounded to 8 bits. On plays that it has never read, its loss is {nats:.2f} nats per letter.",
    **{"n": stored["parameters"], "nats": stored["int8"]},
    holds=stored["int8"] < 1.55,
)

# %% [markdown]
# Yours writes documentation. In JupyterLab, run this cell with any prompt you like, and it writes while you watch.

# %% tags=["nbval-ignore-output"]
print("Today we learned", end="")
_ = continued("Today we learned", say=partial(print, end="", flush=True))

# %% [markdown]
# ## Where it breaks
#
# *2 minutes.* A GPT can write, copy and add. Can it answer a question? Here is a review from yesterday's grammar. We let your GPT complete it with *good* and with *bad*, and take the completion that costs fewer bits.

# %%
asked = reviews(n_train=1, n_held_out=100).validation
print(" ".join(asked[0].words), "->", ["bad", "good"][asked[0].label])
correct = 0
for review in asked:
    good, bad = (cost(f"{' '.join(review.words)}. It was {word}.") for word in ("good", "bad"))
    correct += (good < bad) == review.label

# %%
labelled = experiments.load("few_labels")  # of which library is a sentence? Three seeds each
few, some, many, read = (
    sum(labelled.column(f"{n} labels", start=start)[0]) / 3
    for start, n in [("from scratch", n) for n in (100, 1000, 2500)] + [("mixed", 100)]
)

# %% tags=["evidence"]
observe(
    "It judges {share:.0%} of {n} reviews correctly; a coin would get half of them right. Trained from scratch to tell five libraries apart, a network classifies {few:.0%} of the sentences correctly after 100 labels, and {many:.0%} after 2,500 (stored experiment).",
    **{"share": correct / 100, "n": 100, "few": few, "many": many},
    holds=30 < correct < 70 and few < 0.35 and many > few + 0.12 and read > some,
)

# %% [markdown]
# Predicting the next token taught it what documentation sounds like, not what *this* review says. A network that learns from labels can do better (Day 8's did), but it needs thousands of them, and for another question it has to be trained anew.

# %% [markdown]
# ## What we found
#
# *1 minute.* You will often read these two claims. A third is [below the ladder](#claim-gpt-10), and others are on the [deeper page](deeper/09_gpt.ipynb).
#
# (claim-gpt-7)=

# %% tags=["evidence"]
letters = Writing(n_merges=0)
nats, pairs = letters.counted(6), task.counted(6)
claim(
    "gpt-7",
    "Yes: a table of letters has a perplexity of {low:.1f} and needs {more:.2f} bits per byte; one of byte pairs has {high:.1f} and needs {fewer:.2f}.",
    **{"low": perplexity(nats.mean()), "high": perplexity(pairs.mean())},
    **{"more": letters.per_byte(nats), "fewer": task.per_byte(pairs)},
    holds=lambda low, high, more, fewer: high > 2 * low and fewer < more,
    scale="tables of order 6; 5 byte pairs reach farther back than 5 letters do",
)

# %% [markdown]
# (claim-gpt-9)=

# %% tags=["evidence"]
copiers = experiments.load("induction")
again = {n: sum(run[-1] for run in copiers.column("again", layers=n)) / 3 for n in (1, 2)}
claim(
    "gpt-9",
    "Yes: where a random segment recurs, two blocks have a loss of {two:.1f} nats per symbol, one block has {one:.1f}, and guessing would give {guess:.1f}.",
    two=again[2],
    one=again[1],
    guess=math.log(64),
    holds=lambda two, one, guess: two < 1 and guess - 0.6 < one < guess,
    scale="64 symbols, four heads per block, 2,000 steps, three seeds",
    experiment="induction",
)

# %% [markdown]
# ## Exercises
#
# More are on the [deeper page](deeper/09_gpt.ipynb), and all solutions are on [a page of their own](solutions/09_gpt.ipynb).
#
# ```{exercise} Predict: how far does a new token reach?
# :label: exercise-future-positions
#
# *Warm-up, 2 minutes.* GPT reads five tokens, and the third is replaced. At how many of the five positions do the logits change?
# ([Solution](solutions/09_gpt.ipynb#solution-future-positions))
# ```

# %%
my_positions = None

check("future_positions", my_positions)

# %% [markdown]
# ```{exercise} Predict: bits per byte
# :label: exercise-bits-per-byte
#
# *Warm-up, 4 minutes.* A model has a perplexity of 32 per token, and its tokens are 2.5 bytes long on average. How many bits per byte does it need?
# ([Solution](solutions/09_gpt.ipynb#solution-bits-per-byte))
# ```

# %%
my_bits = None

check("bits_per_byte", my_bits)

# %% [markdown]
# ## Checklist and tomorrow

# %% tags=["view"]
points = {
    "turn any text into a next-token task, with a loss at every position": "next_token_loss",
    "write GPT's forward pass, and say which positions a token can affect": "forward future_positions",
    "sample the next token with a temperature and top-p, in the right order": "next_chances",
    "compare language models in bits per byte, whatever their tokens are": "bits_per_byte",
    "mix two language models, and say why the mixture can beat both": "half_and_half",
    "say what a GPT does that no table of counts can": "blocks_to_copy",
}
checklist({point: ids.split() for point, ids in points.items()})

# %% [markdown]
# **How far can a model get by predicting the next token, and nothing else?** Far: at this size, to text with the right tone; at a larger size, past our best table of counts; and to copying and adding, if its training text rewards them. But not to an answer about *this* review.
#
# **Tomorrow:** a model puts its reading to use. From a hundred labels it learns more than an untrained model learns from a thousand.

# %% [markdown]
# ## Further reading
#
# - {cite:t}`radford2018improving`, the first GPT.
# - {cite:t}`shannon1951prediction`, who had people guess the next letter.
# - {cite:t}`holtzman2020curious`, on why the likeliest text is not the best.
# - {cite:t}`olsson2022context`, who found induction heads.
