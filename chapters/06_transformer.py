# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Day 6: The Transformer
#
# **Today's question:** what has to be added to attention before it can be stacked and trained?
#
# After today you can
#
# - write layer norm, and say over which numbers it averages,
# - build a block from attention, a feed-forward layer, residual sums and norms,
# - let a decoder attend to the source, with cross-attention,
# - translate one word at a time, with a model that learned all words at once,
# - encode positions with sinusoids, and scale the embeddings to match,
# - explain what residual sums and norms do for a gradient.
# Today builds on [Day 4](04_attention.ipynb) (translation) and [Day 5](05_self_attention.ipynb) (self-attention, masks and heads). It takes 50 minutes to read and
# 31 to write four functions. At the end a Transformer translates *your* sentence, word by word, and shows its cross-attention.

# %% tags=["setup"]
import convolution_to_attention  # is `utils` this book's?

import math
from statistics import fmean

import matplotlib.pyplot as plt
import torch
from torch import nn

from utils.data.batches import Batches
from utils.exercises.progress import checklist
from utils.exercises.transformer import check
from utils.positions import sinusoidal
from utils.self_attention import MultiHeadAttention, causal_mask
from utils.data.text import pad
from utils.seq2seq import BOS, EOS, PAD, sequence_loss, shift
from utils.measure import costs, experiments
from utils.measure.claims import claim
from utils.measure.graphs import longest_chain
from utils.show.diagrams import arrow, box, cells, dial, hand, label, note, sheet
from utils.show.display import observe, table
from utils.show.mechanisms import transformer as mechanisms
from utils.show.plotting import COLOURS, curves, heat_map, in_chinese, use_book_style
from utils.show.views import guess, quiz, stream, translator
from utils.tasks import stacks
from utils.tasks.short_translation import ASKED, ShortTask, at_best, recurrent
from utils.training.loop import fit
from utils.training.recipes import rise_and_fall

use_book_style()

# %% [markdown]
# **Five questions about yesterday**

# %% tags=["view"]
quiz("06_transformer")

# %% [markdown]
# ## Where we stand
#
# *1 minute.* On Day 4 a recurrent network learned to translate, helped by attention. Yesterday attention managed on its own, but it only filled in words; it never wrote a sentence. Could it translate by itself, with no recurrence anywhere?
#
# We train on short sentence pairs and keep one of them out: *I love deep learning*, 我 爱 深度 学习.

# %%
task = ShortTask()
table([list(pair) for pair in task.validation[:3]], ["English", "Chinese"])

# %% [markdown]
# The rival to beat is Day 4's network. A stored experiment trained it on the same pairs at four learning rates, with three seeds each; we use the best rate.

# %% tags=["evidence", "training"]
stored = experiments.load("short_rivals")
rivals = at_best(stored, "Day 4's network")
rival_right = fmean(row["test"] for row in rivals)

# %% tags=["evidence"]
rival = recurrent(task)
some = {n: torch.full((1, n), 5) for n in (8, 16)}  # n words, to n words
waits = {n: longest_chain(rival(x, torch.tensor([n]), x).sum()) for n, x in some.items()}
observe(
    "After four passes it translates {right:.0%} of 400 unseen sentences perfectly. But it works one step at a time: "
    "eight words take {eight} operations in a row, and sixteen take {sixteen}.",
    right=rival_right,
    eight=waits[8],
    sixteen=waits[16],
    holds=rival_right > 0.5 and waits[16] > 1.7 * waits[8],
)

# %% [markdown]
# Recurrence makes words queue; attention doesn't. So why not stack a few of yesterday's attention layers? Because yesterday turned up two problems: attention moves information around without computing anything new from it, and in a deep stack of such layers the words become ever more alike.

# %% [markdown]
# ## The idea
#
# *2 minutes.* Picture a team writing a report. They alternate between two activities. In a **meeting**, everyone hears what the others have found. Then they go back to their **desks** and think alone. The meeting is
# self-attention. The desk is a small network, identical at every position: the **feed-forward layer**.
#
# No one tears up their notes. Whatever comes of a meeting or an hour at the desk is *added* to the page: $x + f(x)$, not $f(x)$. That is a **residual connection** {cite}`he2016deep`. The page, a vector for each position, runs through
# all layers as the **residual stream**, and each layer reads a copy of it and adds a little.
#
# When everyone adds to a page, it fills up. So before anyone reads it, a copy is scaled to a standard size. That is **layer norm** {cite}`ba2016layer`.
#
# Attention and a feed-forward layer, each with a norm and a sum around it, make a **block**. Two stacks of blocks make a **Transformer** {cite}`vaswani2017attention`: the **encoder** reads the source, and the **decoder** writes. Here it is, still grey: each part lights up when we build it.

# %% tags=["mechanism"] mystnb={"figure": {"caption": "The whole Transformer, before any of it is built: encoder (left) and decoder, with L blocks each. The sums are left out.", "name": "fig-towers"}, "image": {"alt": "Two towers of grey boxes. The left one holds, from the bottom up, the words I love deep learning; embeddings and positions; then, L times, norm and self-attention, norm and feed-forward; a last norm; and on top a table with a column for each word, the encoder's output. Two lines, keys and values, lead from it into the right tower, which holds, from the bottom up, BOS 我 爱 深度 学习; embeddings and positions; then, L times, norm and causal self-attention, norm and cross-attention, norm and feed-forward; norm and logits; and the prediction, 我 爱 深度 学习 EOS."}}
hanzi = in_chinese("我 爱 深度 学习", pinyin="wǒ ài shēndù xuéxí")


def towers(*lit):
    mechanisms.towers(ASKED, ["BOS", *hanzi], [*hanzi, "EOS"], lit)


towers()
plt.show()

# %% [markdown]
# ## Step by step
#
# ### Layer norm: one size
#
# *10 minutes, 6 of them yours.* What goes wrong without a norm? We stack untrained attention and feed-forward layers, and add each output to the stream.


# %% tags=["evidence"] mystnb={"figure": {"caption": "Without norms the stream grows with depth, and its gradient grows far more: sizes relative to one block. Mean and range of three random starts; both axes are logarithmic.", "name": "fig-sums-alone"}, "image": {"alt": "Two lines that stay near one up to about eight blocks and then bend upwards. At 64 blocks the stream has grown more than a hundredfold, and the gradient by many more orders of magnitude."}}
depths = [1, 2, 4, 8, 16, 32, 64]
grown = stacks.sizes("sum alone", depths)  # (3, depths, 2)
lines = {name: (depths, grown[..., i]) for i, name in enumerate(("stream", "gradient"))}
curves(lines, "blocks", "size, relative to one block", logx=True, logy=True)
plt.xticks(depths, depths)
plt.show()

# %% tags=["evidence"]
size, slope = grown[:, -1].mean(dim=0).tolist()
observe(
    "After 64 blocks the stream is {size:.0f} times as large as after one, and the gradient is {slope:.0e} times as large.",
    size=size,
    slope=slope,
    holds=size > 20 and slope > 1e4,
)

# %% [markdown]
# Every layer adds to the stream, so each reads larger numbers than the last. The cure is that each reads a normalised copy.

# %% tags=["mechanism"] mystnb={"figure": {"caption": "A norm comes before every layer, and another after each stack's last block.", "name": "fig-towers-norms"}, "image": {"alt": "The two towers again, in grey. Frames mark the norm below each attention and each feed-forward layer, and those above the last blocks."}}
towers("norms")
plt.show()

# %% [markdown]
# Layer norm treats each position by itself. It subtracts the mean $\mu$ of the position's $D$ numbers, divides by their standard deviation $\sigma$, and then applies a gain $g$ and a bias $b$, which are learned for each of the $D$ components:
#
# $$
# \begin{aligned}
# \operatorname{LN}(x) &= g \odot \frac{x - \mu}{\sqrt{\sigma^2 + \varepsilon}} + b, \\
# \mu &= \frac1D \sum_i x_i, \\
# \sigma^2 &= \frac1D \sum_i (x_i - \mu)^2 .
# \end{aligned}
# $$ (eq-layer-norm)
#
# A small $\varepsilon$ prevents division by 0. Other positions and the rest of the batch play no part, so a sentence comes out the same whatever else is in its batch.

# %% tags=["view"]
guess(
    "One position holds 1, 1, 5, 5, and another holds 10, 10, 50, 50. How do they come out of layer norm?",
    ["The second is ten times as large.", "Both come out the same.", "The second is shifted."],
    right="Both come out the same.",
    because="The first has mean 3 and standard deviation 2, the second has mean 30 and standard deviation 20: both become −1, −1, 1, 1.",
)

# %% tags=["mechanism"] mystnb={"figure": {"caption": "Layer norm brings small and large rows to the same size: an example without gain and bias. Each row is one position, and has its own mean and standard deviation.", "name": "fig-layer-norm"}, "image": {"alt": "Three tables with three rows, for I, love and deep, and four columns. The first holds 1, 1, 5, 5; then 10, 10, 50, 50; then 7, 9, 9, 7. In the second the means 3, 30 and 8 are subtracted. In the third the rows are divided by 2, 20 and 1, so that only ones and minus ones are left."}}
positions = {"I": [1.0, 1, 5, 5], "love": [10.0, 10, 50, 50], "deep": [7.0, 9, 9, 7]}
x = torch.tensor(list(positions.values()))  # (n, 4)
centred = x - x.mean(dim=1, keepdim=True)
sigma = centred.square().mean(dim=1, keepdim=True).sqrt()
ax = sheet(1.9 + 0.85 * len(x) + 1.1)
parts = (x, "$x$"), (centred, r"$x - \mu$"), (centred / sigma, r"$(x - \mu)\,/\,\sigma$")
blocks = []
for i, (numbers, name) in enumerate(parts):
    strength = (numbers.abs() / numbers.abs().amax(dim=1, keepdim=True)).clamp(0, 1)
    at = (1.55 + 5.05 * i, 1.5)
    blocks.append(cells(ax, at, numbers, role="state", weights=strength, size=(1.0, 0.85)))
    label(ax, blocks[-1], "top", name, weight="bold")
label(ax, blocks[0], "left", *positions)
for start, end in zip(blocks, blocks[1:], strict=False):
    arrow(ax, start.at("right"), end.at("left"))
means = ", ".join(f"{mean:g}" for mean in x.mean(dim=1).tolist())
divisors = ", ".join(f"{size:.3g}" for size in sigma[:, 0].tolist())
label(ax, blocks[1], "bottom", f"means {means}")
label(ax, blocks[2], "bottom", rf"$\sigma$ = {divisors}")
plt.show()

# %% [markdown]
# ```{exercise} Layer norm
# :label: exercise-layer-norm
#
# *6 minutes.* Return {eq}`eq-layer-norm`, computed from means and square roots. Allow any number of axes before the last. ([Solution](solutions/06_transformer.ipynb#solution-layer-norm))
# ```


# %%
def layer_norm(x, gain, bias, eps=1e-5):
    """Shapes: x (..., D), gain and bias (D,); returns (..., D)."""
    raise NotImplementedError


layer_norm = check("layer_norm", layer_norm)

# %%
check.show_reference("layer_norm")

# %% [markdown]
# ### The feed-forward layer: a desk at every position
#
# *2 minutes.* For given weights, attention's output is a weighted average of the values: it mixes them, but computes nothing nonlinear from them. The feed-forward layer does, because it puts a nonlinearity, the ReLU, between two matrices:
#
# $$
# \begin{aligned}
# \operatorname{FFN}(x) = {} & W_2 \max(0,\, W_1 x + b_1) \\
# & + b_2 .
# \end{aligned}
# $$ (eq-feed-forward)
#
# Its hidden layer is $F$ wide, in the paper four times the model's width, so most of an encoder block's weights are in these boxes:

# %% tags=["mechanism"] mystnb={"figure": {"caption": "The feed-forward layer comes last in each block.", "name": "fig-towers-desks"}, "image": {"alt": "The two towers again, in grey. Frames mark the feed-forward layer of the encoder and that of the decoder, on top of their blocks."}}
towers("feed-forward")
plt.show()

# %% [markdown]
# Two hidden units are enough to tell whether two bits differ, which no weighted sum can do: one counts the bits that are set, the other responds only when both are.

# %%
W_1, b_1 = torch.tensor([[1.0, 1.0], [1.0, 1.0]]), torch.tensor([0.0, -1.0])
W_2 = torch.tensor([[1.0, -2.0]])
bits = torch.tensor([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
print(((bits @ W_1.T + b_1).relu() @ W_2.T)[:, 0].tolist())

# %% tags=["mechanism"] mystnb={"figure": {"caption": "No arrow leads from one position to another: at each, the same small network reads two bits (below) and tells whether they differ (above).", "name": "fig-desks"}, "image": {"alt": "Four columns for positions 0 to 3. At the bottom are the bits 0 0, 0 1, 1 0 and 1 1; arrows through W1 and the ReLU lead up to the hidden units 0 0, 1 0, 1 0 and 2 1, and arrows through W2 to the outputs 0, 1, 1, 0."}}
hidden = (bits @ W_1.T + b_1).relu()
out = hidden @ W_2.T
ax = sheet(8.4)
for i, (x, h, y) in enumerate(zip(bits, hidden, out, strict=True)):
    middle = 4.3 + 3.3 * i
    below = cells(ax, (middle - 1.05, 6.5), x[None], role="state", weights=0.6)
    between = cells(ax, (middle - 1.05, 3.7), h[None], role="query", weights=0.35)
    above = cells(ax, (middle - 0.525, 0.9), y[None], role="value", weights=0.6)
    arrow(ax, below.at("top"), between.at("bottom"))
    arrow(ax, between.at("top"), above.at("bottom"))
    note(ax, (middle, 7.9), f"position {i}")
for y, text in ((1.3, "out"), (4.1, "hidden"), (6.9, "two bits")):
    note(ax, (0.3, y), text, align="left", weight="bold")
note(ax, (0.3, 5.5), "$W_1$, ReLU", align="left")
note(ax, (0.3, 2.7), "$W_2$", align="left")
plt.show()

# %% [markdown]
# ### A block: pre-norm or post-norm
#
# *8 minutes, 5 of them yours.* Where does the norm belong? Let $f$ be a sublayer: attention or a feed-forward layer. The original paper normalises the sum; most models since then normalise the sublayer's input:
#
# $$
# \begin{aligned}
# \text{post-norm: } x &\leftarrow \operatorname{LN}(x + f(x)), \\
# \text{pre-norm: } x &\leftarrow x + f(\operatorname{LN}(x)) .
# \end{aligned}
# $$ (eq-residual)
#
# In post-norm the stream itself is rescaled after every sum. In pre-norm only the copy that a sublayer reads is rescaled, and a gradient can travel from the last block back to the first along [a path of additions only](deeper/06_transformer.ipynb#deeper-warmup).

# %% tags=["mechanism"] mystnb={"figure": {"caption": "Each sublayer returns vectors of the stream's own shape, which can be added to it: an encoder block, read upwards. Our model has D = 48, h = 4 heads and hidden width F = 160.", "name": "fig-shapes"}, "image": {"alt": "Two thick arrows rise from x of shape B, T, D. From the first, called attention, an arrow leads to the norm, B T D. Above it are q, k and v, B h T d_k; the weights, B h T T; the heads, B h T d_k; and their merger by W_o, B T D, from which an arrow leads back to a plus on the thick arrow. From the second, called FFN, an arrow leads to the norm, B T D. Above it are W_1 and the ReLU, B T F; and W_2, B T D, from which an arrow leads back to a plus."}}
mechanisms.shapes()
plt.show()

# %% [markdown]
# We take pre-norm, because [deep models train more stably with it](deeper/06_transformer.ipynb#deeper-warmup). Its stream is never normalised, so another norm follows the last block.
#
# ```{exercise} A Transformer block
# :label: exercise-block
#
# *5 minutes.* Run all sublayers of a block, one after the other, in pre-norm, and return the result. Each sublayer has a norm of its own. Norms and sublayers are functions that turn a sequence into another of the same shape. ([Solution](solutions/06_transformer.ipynb#solution-block))
# ```


# %%
def block(x, norms, sublayers):
    """Shapes: x (B, T, D), which each norm and each sublayer keeps; returns (B, T, D)."""
    raise NotImplementedError


block = check("block", block)

# %%
check.show_reference("block")

# %% [markdown]
# ### The decoder block: cross-attention
#
# *15 minutes, 13 of them yours.* The block so far can read: it is an encoder block. The decoder has to write, and every word it writes depends on the source. So a third sublayer comes between its self-attention and its feed-forward layer: **cross-attention**, as on Day 4. Its queries come from the decoder's stream, and its keys and values from
# the encoder's output. The decoder's self-attention is causal.

# %% tags=["mechanism"] mystnb={"figure": {"caption": "Attention comes in three kinds: full, causal, and cross-attention. The grids show which positions each query may see, with a row for each query and a column for each key.", "name": "fig-towers-attention"}, "image": {"alt": "The two towers again, in grey. In the encoder, a frame marks self-attention, with a full grid of four by four. In the decoder, frames mark causal self-attention, with a grid of five by five that is full up to its diagonal, and above it cross-attention, with a full grid of five by four, into which the keys and values of the encoder's output lead."}}
towers("self-attention", "cross-attention")
plt.show()

# %% [markdown]
# ```{exercise} A decoder block
# :label: exercise-decoder-block
#
# *13 minutes.* Run the three sublayers of a decoder block, in pre-norm, and return the result. `own` and `cross` are yesterday's attention layers. `layer(y, memory, mask=…, is_causal=…)` takes queries from `y`, and keys and values from `memory` (by default from `y`), and returns the output and the weights. `memory` is the encoder's output, which is already normalised; `real` is the mask that hides its padding. `think` is the feed-forward layer, and there are three `norms`. ([Solution](solutions/06_transformer.ipynb#solution-decoder-block))
# ```


# %%
def decoder_block(x, memory, real, norms, own, cross, think):
    """Shapes: x (B, T, D), memory (B, S, D), real (B, 1, 1, S); returns (B, T, D)."""
    raise NotImplementedError


decoder_block = check("decoder_block", decoder_block)

# %%
check.show_reference("decoder_block")

# %% [markdown]
# ### The shifted target: teacher forcing
#
# *2 minutes.* How does the decoder learn? At each position it has to predict the next word. During training we know the whole translation, so we feed the decoder the *true* previous word, whatever it would have predicted: teacher forcing, as on Day 4. And since a causal mask hides the words that come later, all positions are trained at once.

# %% tags=["mechanism"] mystnb={"figure": {"caption": "Teacher forcing: the decoder's input (below) is its target (above), shifted by one position. Solid arrows show what each position may see; dashed arrows feed back the true word.", "name": "fig-shifted"}, "image": {"alt": "A row of boxes below, BOS 我 爱 深度 学习, and one above, 我 爱 深度 学习 EOS. Thick arrows lead straight up, thin ones from each box to all boxes above that are further right. Dashed arrows lead from each word above to the same word below, one position to the right."}}
ax = sheet(6.6)
size = (2.2, 0.85)
places = [2.6 + 2.62 * i for i in range(5)]
above, below = [], []
for x, one, other in zip(places, [*hanzi, "EOS"], ["BOS", *hanzi], strict=True):
    above.append(box(ax, (x, 1.0), one, size))
    below.append(box(ax, (x, 4.8), other, size, role="state"))
for t, end in enumerate(above):
    for s, start in enumerate(below[: t + 1]):
        arrow(ax, start.at("top"), end.at("bottom"), weight=0.2 * (s == t))
for one, other in zip(above, below[1:], strict=False):
    arrow(ax, one.at("bottom"), other.at("top"), dashed=True)
note(ax, (0.2, 1.4), "target", align="left", weight="bold")
note(ax, (0.2, 5.2), "input", align="left", weight="bold")
note(ax, (8.6, 6.15), "the true word, one position later, whatever the model predicted")
plt.show()

# %%
english, chinese = zip(*task.train)
target, _ = pad([[*ids, EOS] for ids in task.target(chinese)])  # (B, T)
read = shift(target)  # BOS, then the target without its last word

# %% [markdown]
# That is Day 4's `shift`. Forget it, and every position can read the very word it has to predict. Nothing is learned, and the loss is wonderful.

# %% [markdown]
# **Enough for tonight?** This is a good place to stop: you have both blocks.
#
# ### The whole model
#
# *14 minutes, 8 of them yours.* Here is the whole Transformer. Its attention is yesterday's layer; `layer_norm`, `block` and `decoder_block` are yours.


# %%
class Norm(nn.Module):
    """Layer norm, with a learned gain and bias."""

    def __init__(self, D):
        super().__init__()
        self.gain, self.bias = nn.Parameter(torch.ones(D)), nn.Parameter(torch.zeros(D))

    def forward(self, x):
        return layer_norm(x, self.gain, self.bias)


# %%
class Block(nn.Module):
    """An encoder block: (B, T, D) to the same."""

    def __init__(self, D, h, F):
        super().__init__()
        self.own = MultiHeadAttention(D, h)
        self.think = nn.Sequential(nn.Linear(D, F), nn.ReLU(), nn.Linear(F, D))
        self.norms = nn.ModuleList([Norm(D), Norm(D)])

    def forward(self, x, real):
        return block(x, self.norms, [lambda y: self.own(y, mask=real)[0], self.think])


# %%
class DecoderBlock(Block):
    """One that also attends to a source (B, S, D)."""

    def __init__(self, D, h, F):
        super().__init__(D, h, F)
        self.cross = MultiHeadAttention(D, h)
        self.norms.append(Norm(D))

    def forward(self, x, memory, real):
        return decoder_block(x, memory, real, self.norms, self.own, self.cross, self.think)


# %%
class Transformer(nn.Module):
    """Sources (B, S) and the decoder's input (B, T) to logits (B, T, V) of the next words."""

    def __init__(self, V_source, V_target, ordered, D=48, h=4, F=160, L=2):
        super().__init__()
        self.ordered = ordered
        self.source, self.target = nn.Embedding(V_source, D), nn.Embedding(V_target, D)
        for words in (self.source, self.target):
            nn.init.normal_(words.weight, std=D**-0.5)
        self.encoder = nn.ModuleList(Block(D, h, F) for _ in range(L))
        self.decoder = nn.ModuleList(DecoderBlock(D, h, F) for _ in range(L))
        self.norms = nn.ModuleList([Norm(D), Norm(D)])  # after the last blocks

    def embed(self, words, ids):
        x = math.sqrt(words.embedding_dim) * words(ids)
        return x + sinusoidal(*x.shape[1:], dtype=x.dtype) if self.ordered else x

    def encode(self, ids):
        x, real = self.embed(self.source, ids), (ids != PAD)[:, None, None]  # (B, 1, 1, S)
        for layer in self.encoder:
            x = layer(x, real)
        return self.norms[0](x), real

    def decode(self, ids, found):
        x = self.embed(self.target, ids)
        for layer in self.decoder:
            x = layer(x, *found)
        return self.norms[1](x) @ self.target.weight.T

    def forward(self, source, ids):
        return self.decode(ids, self.encode(source))


# %% [markdown]
# The target's embedding table embeds the decoder's input, and scores its output {cite}`press2017using`.
#
# Once the model is trained, there is no true word to feed it. So it reads back its own words: it takes the most probable next word, appends it, and predicts again. A model that does so is **autoregressive**.

# %% tags=["mechanism"] mystnb={"figure": {"caption": "The decoder writes one word at a time, and each step (a line) reads all the words before it.", "name": "fig-ticking"}, "image": {"alt": "Five lines. In the first, BOS leads to 我. In the second, BOS 我 leads to 爱; in the third, BOS 我 爱 to 深度; in the fourth, BOS 我 爱 深度 to 学习; and in the last, BOS and all four words lead to EOS."}}
mechanisms.ticking([*hanzi, "EOS"])
plt.show()

# %% [markdown]
# ```{exercise} Greedy translation
# :label: exercise-write-translation
#
# *8 minutes.* Translate a batch of sources, one word at a time. `model.encode(source)` reads the source. Its result, together with the words so far, goes into `model.decode(ids, found)`, which returns logits (B, T, V): for each position, those of the next word. Start with `BOS`, write `longest` words for each source, and return them without `BOS`. (Whatever follows an EOS is cut off later.) ([Solution](solutions/06_transformer.ipynb#solution-write-translation))
# ```


# %%
@torch.no_grad()
def write(model, source, longest=14):
    """Turn sources (B, S) into ids (B, longest)."""
    raise NotImplementedError


write = check("write_translation", write)

# %%
check.show_reference("write_translation")

# %%
sources, _ = task.source(english)
batches = Batches(sources, read, target, batch_size=32, shuffle=True)
held_out, _ = task.source(text for text, _ in task.validation)


def trained(ordered, epochs=4):
    torch.manual_seed(0)
    model = Transformer(len(task.english), len(task.chinese), ordered)
    optimiser, schedule = rise_and_fall(model, 6e-3, epochs * len(batches))
    how = {"epochs": epochs, "schedule": schedule}
    return model, fit(model, batches, sequence_loss, optimiser, **how)


# %% tags=["training"]
bag, _ = trained(ordered=False, epochs=1)


# %%
def translate(model, sentence):
    words, _ = task.source([sentence])
    return task.texts(write(model, words))[0]


bag_right = task.exact(write(bag, held_out), task.validation)

# %% tags=["evidence"]
observe(
    "*I love deep learning* becomes {written}, and {right:.0%} of the unseen sentences come out perfectly.",
    written=translate(bag, ASKED),
    right=bag_right,
    holds=0.05 < bag_right < 0.9,
)

# %% [markdown]
# After one pass over the sentences, still without positions, it translates. But something is missing, and you know it from yesterday.

# %% tags=["view"]
told = ["the teacher likes Tom", "Tom likes the teacher"]
both = [translate(bag, sentence) for sentence in told]
guess(
    f"What does it return for “{told[0]}”, and for “{told[1]}”?",
    ["Two correct translations.", "The same translation twice.", "Nothing."],
    right="The same translation twice.",
    because=f"It returns “{both[0]}” and “{both[1]}”. To the encoder, a sentence is a bag of words.",
)


# %% [markdown]
# ### Sinusoidal positional encoding
#
# *3 minutes.* So we add a positional encoding to each word's embedding: Day 5's clocks {cite}`vaswani2017attention`. Each clock turns at a speed of its own, $\omega_i$, and shows the position $p$ by the direction of its hand. A direction is two numbers: the hand's distance to the right, and its height.
#
# $$
# \begin{aligned}
# \mathrm{PE}_{p,2i} &= \sin(\omega_i\, p), \\
# \mathrm{PE}_{p,2i+1} &= \cos(\omega_i\, p), \\
# \omega_i &= 10000^{-2i/D} .
# \end{aligned}
# $$ (eq-waves)

# %% tags=["mechanism"] mystnb={"figure": {"caption": "Positions enter once, at the bottom.", "name": "fig-towers-positions"}, "image": {"alt": "The two towers again, in grey. Frames mark embeddings and positions, the lowest box of either tower."}}
towers("embeddings")
plt.show()

# %% tags=["mechanism"] mystnb={"figure": {"caption": "A clock's hand traces two waves: its height is the cosine, and its distance to the right is the sine. Dashed hands are at later positions.", "name": "fig-wave"}, "image": {"alt": "On the left is a clock with a hand at twelve and dashed hands at seven later positions. On the right, over the positions 0 to 7, are a wave that begins at the top, with a dot at each position, and a dashed one that begins in the middle. An arrow leads from the tip of the hand to the first dot."}}
omega, steps = 0.7, 8
ax = sheet(6.4)
face = dial(ax, (2.75, 3.2), 2.0)
for m in range(steps):
    hand(ax, face, m * omega, dashed=m > 0, role="query")
left, width = 6.3, 9.2 / (steps - 1)
fine = torch.linspace(0, steps - 1, 200)
for shape, colour, style in ((torch.cos, COLOURS[0], "-"), (torch.sin, COLOURS[1], "--")):
    height = 3.2 - 2.0 * 0.88 * shape(omega * fine)
    ax.plot(left + width * fine, height, color=colour, ls=style, marker="", lw=2)
for m in range(steps):
    at = left + width * m, 3.2 - 2.0 * 0.88 * math.cos(m * omega)
    ax.plot(*at, "o", color=COLOURS[0], ms=7)
    note(ax, (at[0], 5.6), str(m))
arrow(ax, (2.75, 3.2 - 1.76), (left - 0.15, 3.2 - 1.76))
note(ax, (2.75, 5.75), "one clock", weight="bold")
note(ax, (10.9, 0.6), "height: cosine —   to the right: sine - -")
note(ax, (10.9, 6.15), "position")
plt.show()

# %% tags=["mechanism"] mystnb={"figure": {"caption": "Each position has a pattern of its own: the positional encodings of 64 positions, 32 numbers each. Fast clocks are on the left, slow ones on the right.", "name": "fig-sinusoids"}, "image": {"alt": "A map of 64 rows and 32 columns with stripes, which change fast from row to row in the first columns and ever more slowly to the right."}}
heat_map(sinusoidal(64, 32), xlabel="column", ylabel="position", signed=True)
plt.show()

# %% [markdown]
# Why waves? Moving on by $k$ positions turns a hand by the same angle, wherever it was. So *three words further on* means [the same matrix everywhere](deeper/06_transformer.ipynb#deeper-turns), and $W_q$ and $W_k$ can learn such matrices.
#
# In `embed`, the words' vectors are multiplied by $\sqrt D$. Their table starts with small numbers, which suit the logits, but the positional encoding would drown them out.

# %% [markdown]
# ## Is it right?
#
# *1 minute.* All three Transformers, PyTorch's, the book's and yours, get the same weights.


# %% tags=["evidence"]
torch.manual_seed(1)
library, book = stacks.library_and_book()
ours = Transformer(11, 13, True, 12, 3, 20).double()
stacks.take_over(ours, book)
ids, said = torch.tensor([[3, 4, 5, 6], [7, 8, PAD, PAD]]), torch.randint(3, 13, (2, 5))
x, y, hidden = ours.embed(ours.source, ids), ours.embed(ours.target, said), ids == PAD
masks = {"src_key_padding_mask": hidden, "memory_key_padding_mask": hidden}
expected = library(x, y, tgt_mask=~causal_mask(5), **masks) @ ours.target.weight.T
for found in (ours(ids, said), book(ids, torch.tensor([4, 2]), said)):
    torch.testing.assert_close(found, expected, rtol=1e-10, atol=1e-10)
print("the logits agree with nn.Transformer and with the book's: ten digits")

# %% [markdown]
# ([Gradients](deeper/06_transformer.ipynb#deeper-equal) agree, too.)

# %% [markdown]
# ## Train it
#
# *2 minutes.* Now we train it with positions, for four passes, like the rival.

# %% tags=["training"]
yours, history = trained(ordered=True)

# %% tags=["evidence"] mystnb={"figure": {"caption": "Both learn to translate within four passes: loss of Day 4's network (mean and range of three seeds, stored experiment) and of your Transformer (means of 50 steps). The vertical axis is logarithmic.", "name": "fig-translator-loss"}, "image": {"alt": "Two falling curves over the steps, from about four nats to well below one half."}}
means = torch.tensor(history.step_loss[: len(history.step_loss) // 50 * 50]).view(-1, 50)
n = min(len(means), len(rivals[0]["losses"]))
steps = range(50, 50 * n + 1, 50)
lines = {"Day 4's network": (steps, [row["losses"][:n] for row in rivals])}
lines["Transformer"] = (steps, means.mean(dim=1)[:n])
curves(lines, "step", "loss (nats per word)", logy=True)
plt.show()

# %% tags=["evidence"]
translator_right = task.exact(write(yours, held_out), task.validation)
ours = {n: longest_chain(yours(x, x).sum()) for n, x in some.items()}
without = fmean(row["validation"] for row in at_best(stored, "without positions"))
observe(
    "*I love deep learning* becomes {written}, and {right:.0%} of the unseen sentences come out perfectly. Even without positional encoding, at the best of four learning rates, {without:.0%} do, because most sentences allow only one sensible order. Eight words take {eight} operations in a row, and sixteen take {sixteen}.",
    written=translate(yours, ASKED),
    right=translator_right,
    without=without,
    eight=ours[8],
    sixteen=ours[16],
    holds=translator_right > max(0.8, without + 0.05)
    and waits[8] < ours[8] == ours[16] < waits[16],
)

# %% [markdown]
# In training, the chain no longer grows with the sentence: with eight words it is longer than the rival's, and with sixteen it is shorter. (In writing, words still queue.) Is the Transformer also the better model? In stored experiments, both models had about the same size and three seeds each. For short sentences and for copying digits, both had the same number of passes, each at its best learning rate; for Day 4's whole grammar, each followed its own recipe.

# %% tags=["evidence"]
both = "Day 4's network", "Transformer"
copies, old, new = map(experiments.load, ("copy_rivals", "translation", "translation_transformer"))
whole = old.select(score="additive"), new.rows
shares = {
    "short sentences, four passes": [at_best(stored, model) for model in both],
    "40 digits, 400 steps": [at_best(copies, model) for model in both],
}
shares = {name: [fmean(row["test"] for row in of) for of in two] for name, two in shares.items()}
shares["3 to 25 words, up to six passes"] = [fmean(row["exact"] for row in of) for of in whole]

# %% tags=["evidence"]
table(
    [[name, *(f"{share:.0%}" for share in two)] for name, two in shares.items()],
    ["correct", *both],
)
short, digits, long = shares.values()
alone = fmean(row["test"] for row in at_best(copies, "GRU"))
assert abs(short[0] - short[1]) < 0.04 and abs(long[0] - long[1]) < 0.01
assert min(digits) > 0.98 and alone < 1 / 3

# %% [markdown]
# At this size, neither is ahead. Both copy the digits, too, because both can attend to them. A GRU of about the same size, without attention, copies fewer than a third of them, even at its best learning rate.
#
# How much *time* you save when words don't queue depends on how many processors you have ([we had one](deeper/06_transformer.ipynb#deeper-time)).

# %% [markdown]
# ## Look inside
#
# *8 minutes.* Back to the sentence that the model never saw. Which source words does each Chinese word attend to?


# %%
def sublayers(layer, found):
    """Those of a decoder block, as functions of their input."""
    own, cross = layer.own, layer.cross
    return [lambda y: own(y, is_causal=True)[0], lambda y: cross(y, *found)[0], layer.think]


# %%
@torch.no_grad()
def through(source, read):
    """Logits (stages, B, T, V) after each sublayer; the last block's cross-attention (B, h, T, S)."""
    found, x = yours.encode(source), yours.embed(yours.target, read)
    stages = [x]
    for layer in yours.decoder:
        for norm, f in zip(layer.norms, sublayers(layer, found)):
            x = block(x, [norm], [f])
            stages.append(x)
    asks = layer.norms[1](stages[-3])
    weights = layer.cross(asks, *found, need_weights=True)[1]
    scores = [yours.norms[1](x) @ yours.target.weight.T for x in stages]
    return torch.stack(scores), weights


# %% tags=["evidence"] mystnb={"figure": {"caption": "Each head attends differently: cross-attention of the last block's four heads while *I love deep learning* is translated. Rows are the predicted words; circles mark the true alignment.", "name": "fig-translator-heads"}, "image": {"alt": "Four maps with five rows, 我, 爱, 深度, 学习 and EOS, and five columns, I, love, deep, learning and EOS. Bright cells lie on or near the circles of the diagonal in some heads and elsewhere in others."}}
words, (ids,) = [*ASKED.split(), "EOS"], task.target(["我 爱 深度 学习"])
_, weights = through(task.source([ASKED])[0], torch.tensor([[BOS, *ids]]))
figure, axes = plt.subplots(2, 2, figsize=(6.4, 6.0), sharex=True, sharey=True)
for i, (ax, looks) in enumerate(zip(axes.flat, weights[0])):
    ax.imshow(looks, vmin=0, vmax=1)
    ax.plot(range(4), range(4), "o", ms=16, mfc="none", mec=COLOURS[1], mew=2.5, ls="none")
    ax.grid(False)
    ax.set(title=f"head {i + 1}", yticks=range(5), yticklabels=[*hanzi, "EOS"])
    ax.set_xticks(range(5), words, rotation=45, ha="right")
plt.show()

# %% tags=["evidence"]
pairs = [(weights[0, i] - weights[0, j]).abs() for i in range(4) for j in range(i)]
apart = torch.stack(pairs).sum(dim=-1).mean().item() / 2
observe(
    "To turn one of these heads into another, {apart:.0%} of its weight would have to move, on average.",
    apart=apart,
    holds=apart > 0.1,
)

# %% [markdown]
# No one told the heads what to do. And attention weights are only half the story, as yesterday's ablations showed. So follow one position. After each sublayer we take its residual stream, normalise it, and ask the output layer what it would predict *now*. Choose a word, go up through the blocks, and try other temperatures (Day 2).

# %% tags=["view"]
followed = [(ASKED, "我 爱 深度 学习")]
followed += [pair for pair in task.validation if len(pair[0].split()) in (6, 7)][:2]
english, chinese = zip(*followed)
says, _ = pad([[*ids, EOS] for ids in task.target(chinese)])
scores, _ = through(task.source(english)[0], shift(says))  # (stages, B, T, V)
parts = ("self-attention", "cross-attention", "feed-forward")
stream(
    english,
    [[*text.split(), "EOS"] for text in chinese],
    scores,
    ["embedding and position", *(f"block {n}: {part}" for n in (1, 2) for part in parts)],
    task.chinese.symbols,
)

# %% [markdown]
# At first a position would predict the very word that it reads, because one table serves both ends and the stream holds nothing yet but the word and its position. Block by block the source comes in, and each sublayer only adds to what was there.

# %% tags=["evidence"]
says, _ = pad([[*ids, EOS] for ids in task.target(text for _, text in task.validation)])
reads = shift(says)
stages, _ = through(held_out, reads)
real = says != PAD
pairs = zip(stages[[0, 3, 6]], (reads, says, says))
share = [(scores.argmax(-1) == word)[real].float().mean().item() for scores, word in pairs]
observe(
    "Over all validation sentences, the stream starts by repeating its input word at {repeats:.0%} of the positions. After the first block it would predict the correct next word at {first:.0%} of them; after the second it would do so at {last:.0%}.",
    repeats=share[0],
    first=share[1],
    last=share[2],
    holds=min(share[0], share[2]) > 0.9 and share[1] < share[2],
)

# %% [markdown]
# ### What residual sums and norms do for the gradient
#
# In stacks of untrained blocks, we take away the sums, the norms, or both. How large is the gradient that reaches the input?

# %% tags=["evidence"]
heights = (1, 2, 4, 8, 16, 32)
slopes = {kind: stacks.gradients(kind, heights) for kind in stacks.AROUND}  # (3, heights, 2)

# %% tags=["view"]
left = {kind: (found[:, -2] / found[:, 0]).mean(dim=0).tolist() for kind, found in slopes.items()}
guess(
    "Without sums and norms, how much of one block's gradient is left after 16 blocks?",
    ["about a tenth", "about a thousandth", "less than a billionth"],
    right="less than a billionth",
    because=f"Only {left['neither'][0]:.0e} of it is left.",
)

# %% tags=["evidence"] mystnb={"figure": {"caption": "Only sum and norm together keep the gradient in bounds and the positions apart: size of the gradient at the input (left), and of its part that differs between positions (right), against the number of untrained blocks. Means and ranges of three starts; all axes are logarithmic, and the vertical ones begin at 1e-12.", "name": "fig-gradients"}, "image": {"alt": "Two diagrams of four lines each. Left: with neither sum nor norm the line falls to the lower edge by sixteen blocks; with the sum alone it rises from sixteen on; the other two stay level. Right: the two lines with sums are as on the left; the two without fall by more than ten orders of magnitude within a few blocks."}}
figure, axes = plt.subplots(1, 2, figsize=(6.4, 3.6), sharey=True)
for i, (ax, title) in enumerate(zip(axes, ("the whole gradient", "the part that differs"))):
    lines = {kind: (heights, found[..., i].clamp(min=1e-12)) for kind, found in slopes.items()}
    curves(lines, "blocks", "" if i else "size of the gradient", logx=True, logy=True, ax=ax)
    ax.set(title=title, xticks=heights, xticklabels=heights)
axes[0].legend(loc="lower left", fontsize=10, handlelength=1.6)
axes[1].get_legend().remove()
plt.show()

# %% [markdown]
# A norm alone keeps the gradient alive, too. But look at the right-hand panel: this gradient is the same for all positions, so it says nothing about any one word. The sum keeps the words apart, and the norm keeps the sum in bounds. With both, and with a feed-forward layer and positional encoding, attention can be stacked and trained.

# %% [markdown]
# ## Show someone
#
# *6 minutes.* Write an English sentence, and a Transformer translates it on this page, word by word. Choose a word of the translation to see its cross-attention. The model is today's, a little wider and trained longer, on Day 4's whole grammar (`experiments/translation_page.py` made it). It never saw *I love deep learning* either.

# %% tags=["view"]
translator("translation", sentence=ASKED)

# %% [markdown]
# Your own model is smaller; ask it in JupyterLab. Both know only the words of their training sentences.

# %%
written = translate(yours, "those clever students studied music with Mary")
observe("Your model writes: {written}.", written=written, holds=translator_right > 0.8)

# %% [markdown]
# ## Where it breaks
#
# *1 minute.* Every position attends to every other, so twice the length means four times as many pairs.


# %% tags=["evidence"] mystnb={"figure": {"caption": "In long sequences, comparing all pairs is most of the work: operations in a training step of one encoder block, 64 wide, by sequence length. Counted; both axes are logarithmic.", "name": "fig-cost"}, "image": {"alt": "Two straight lines over 128 to 2048 words. That of attention is twice as steep as that of the rest, and crosses it between 256 and 512."}}
lengths = [128, 256, 512, 1024, 2048]
counted = stacks.operations(lengths, costs.work)
lines = {name: (lengths, counted[:, i]) for i, name in enumerate(("all pairs", "all the rest"))}
ax = curves(lines, "words", "million operations", logx=True, logy=True)
ax.set_xticks(lengths, lengths)
ax.minorticks_off()
plt.show()

# %% tags=["evidence"]
share = (counted[:, 0] / counted.sum(dim=1)).tolist()
observe(
    "With 128 words, comparing all pairs takes {short:.0%} of the work; with 2,048 words it takes {long:.0%}.",
    short=share[0],
    long=share[-1],
    holds=share[0] < 0.4 and share[-1] > 0.7,
)

# %% [markdown]
# For a sentence, that hardly matters. For a book of 100,000 words, each head of each block would compare ten billion pairs.

# %% [markdown]
# ## What we found
#
# *1 minute.* Two claims that you will often read, and our answers. Thirteen more are on the [deeper page](deeper/06_transformer.ipynb).
#
# (claim-tr-3)=

# %% tags=["evidence"]
timed = experiments.load("sequence_time")
grus, todays = (timed.select(layer=name) for name in ("GRU", "encoder block"))
pairs = dict(zip(timed.parameters["T"], zip(grus, todays)))
claim(
    "tr-3",
    "Can't tell here: on one core, a block is at most {time:.1f} times as fast as a GRU, although its chain is {chain:.0f} times shorter.",
    time=max(gru["seconds"] / block["seconds"] for gru, block in pairs.values()),
    chain=pairs[512][0]["chain"] / pairs[512][1]["chain"],
    holds=lambda time, chain: time < 8 and chain > 100,
    experiment="sequence_time",
    scale="the book's GRU, which steps in Python, without attention; one layer, 128 wide, one thread, nine lengths from 16 to 4,096 words; chain lengths compared at 512 words",
)

# %% [markdown]
# (claim-tr-4)=

# %% tags=["evidence"]
claim(
    "tr-4",
    "Yes: after 16 untrained blocks, the gradient telling positions apart is {kept:.1f} times one block's; with norms alone it is {same:.0e}, and with neither {lost:.0e}.",
    kept=left["sum and norm"][1],
    lost=left["neither"][1],
    same=left["norm alone"][1],
    holds=lambda kept, lost, same: kept > 0.1 and lost < 1e-6 and same < 1e-6,
    scale="64 wide, 16 positions, three starts",
)

# %% [markdown]
# ## Exercises
#
# *As long as you like.* Eleven more are on the [deeper page](deeper/06_transformer.ipynb), and all solutions are on [a page of their own](solutions/06_transformer.ipynb).
#
# ```{exercise} Count a decoder block
# :label: exercise-decoder-block-parameters
#
# *Warm-up, 5 minutes.* A `DecoderBlock(64, 4, 256)` has two attention layers, a feed-forward layer, three norms, and a bias for each matrix. How many parameters does it have?
# ([Solution](solutions/06_transformer.ipynb#solution-decoder-block-parameters))
# ```

# %%
my_count = None

check("decoder_block_parameters", my_count)

# %% [markdown]
# ```{exercise} Predict: the embedding's scale
# :label: exercise-unscaled-embedding
#
# *Warm-up, 5 minutes.* The width is 512, and the embedding starts with numbers of standard deviation $1/\sqrt{512}$. Someone
# adds the sinusoids and forgets the factor $\sqrt{d_\text{model}}$. About how many times as long as a symbol's vector is the vector of
# its position? How much of the symbol can the model still make out?
# ([Solution](solutions/06_transformer.ipynb#solution-unscaled-embedding))
# ```

# %%
my_ratio = None

check("unscaled_embedding", my_ratio)

# %% [markdown]
# ```{exercise} Predict: a pre-norm stack's output
# :label: exercise-pre-norm-deviation
#
# *Core, 5 minutes.* An encoder has 12 pre-norm blocks. The numbers in its input have standard deviation 1. Suppose that each sublayer's output has standard deviation 1, too, and is
# independent of everything else. What is the standard deviation of the numbers that leave the last block, **before** the last norm? How much of
# its square, the variance, comes from the last sublayer?
# ([Solution](solutions/06_transformer.ipynb#solution-pre-norm-deviation))
# ```

# %%
my_deviation = None

check("pre_norm_deviation", my_deviation)

# %% [markdown]
# ```{exercise} RMS norm
# :label: exercise-rms-norm
#
# *Core, 6 minutes.* Most of today's large models use **RMSNorm** {cite}`zhang2019root` instead of layer norm. It divides each position by its root
# mean square, subtracts nothing, and has a gain but no bias:
#
# $$
# y = g \odot \frac{x}{\sqrt{\frac{1}{D} \sum_i x_i^2 + \varepsilon}} .
# $$
#
# Return it, computed from sums and square roots. For which $x$ does layer norm, without its bias, return the same?
# ([Solution](solutions/06_transformer.ipynb#solution-rms-norm))
# ```


# %%
def rms_norm(x: torch.Tensor, gain: torch.Tensor, eps: float) -> torch.Tensor:
    """Shapes: x (B, T, D), gain (D,); returns (B, T, D)."""
    raise NotImplementedError


check("rms_norm", rms_norm)

# %% [markdown]
# ```{exercise} Predict: a mask forgotten
# :label: exercise-forgotten-mask
#
# *Core, 5 minutes.* Someone trains a language model on random digits, each one as likely as any other whatever came before, and forgets the causal
# mask. At every position whose next digit is in the input, the training loss falls nearly to 0. Now the mask is put back. What is the trained model's loss on new digits:
# `"near 0"`, `"near ln 10"`, or `"far above ln 10"`?
# ([Solution](solutions/06_transformer.ipynb#solution-forgotten-mask))
# ```

# %%
my_loss = None

check("forgotten_mask", my_loss)

# %% [markdown]
# ## Checklist and tomorrow

# %% tags=["view"]
points = {
    "write layer norm, and say over which numbers it averages": "layer_norm rms_norm",
    "build a block from attention, a feed-forward layer, residual sums and norms": "block decoder_block_parameters",
    "let a decoder attend to the source, with cross-attention": "decoder_block",
    "translate one word at a time, with a model that learned all words at once": "write_translation forgotten_mask",
    "encode positions with sinusoids, and scale the embeddings to match": "unscaled_embedding",
    "explain what residual sums and norms do for a gradient": "pre_norm_deviation",
}
checklist({point: ids.split() for point, ids in points.items()})

# %% [markdown]
# **Tomorrow** we look at what all these pairs cost. Which can be left out, which can be computed more cheaply, and what is lost without them?

# %% [markdown]
# ## Further reading
#
# - {cite:t}`vaswani2017attention`, the paper to read first; by now you know most of it.
# - {cite:t}`rush2018annotated`, the same paper as a program.
# - {cite:t}`xiong2020layer`, on where the norm belongs.
# - {cite:t}`dong2021attention`, on what happens to attention without the rest.
