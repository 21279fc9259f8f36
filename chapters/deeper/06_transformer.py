# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Day 6, deeper: The Transformer
#
# This page goes beyond the evening of [Day 6](../06_transformer.ipynb). It shows how the paper trains its model and how large that model is, asks how far a Transformer reaches, answers
# thirteen more claims, and has eleven more exercises. The sections are independent, so start with the question that you would have asked.

# %% tags=["setup"]
import convolution_to_attention  # is `utils` this book's?

from functools import partial
from statistics import fmean

import matplotlib.pyplot as plt
import torch
from scipy import stats
from torch import nn
from torch.nn import functional as F

from utils import seq2seq, transformer
from utils.data import dates
from utils.data.batches import Batches
from utils.data.text import BucketedBatches, Vocabulary, pad
from utils.exercises.transformer import check
from utils.exercises.transformer.checkpoint_average import echo_texts
from utils.positions import sinusoidal
from utils.self_attention import causal_mask
from utils.seq2seq import BOS, EOS, PAD
from utils.transformer import EncoderBlock, Transformer, TransformerConfig

# %% tags=["setup"]
from utils.measure import experiments
from utils.measure.claims import claim
from utils.show.diagrams import brace, cells, dial, hand, label, note, sector, sheet
from utils.show.display import observe, show_source, table
from utils.show.mechanisms import transformer as mechanisms
from utils.show.plotting import INK, curves, heat_map, use_book_style
from utils.tasks.short_translation import ShortTask, steps_apart
from utils.training import metrics
from utils.training.counting import KneserNey
from utils.training.loop import evaluate, fit
from utils.training.recipes import rise_and_fall
from utils.training.sampling import generate, sample

use_book_style()

# %% [markdown]
# (deeper-equal)=
# ## Does our Transformer match the library's?
#
# *5 minutes.* The lesson compared its logits with the library's. Do the gradients agree as well, with pre-norm and with post-norm, and does a block compute what its equations say? First we write one of the book's encoder blocks, with post-norm, as a loop over positions and heads.
# Every weight is a random number: a gain of 1 or a bias of 0 would hide mistakes.


# %%
def randomised(layer: nn.Module) -> nn.Module:
    """Give every weight a random number."""
    for parameter in layer.parameters():
        nn.init.normal_(parameter, std=0.3)
    return layer.double()


torch.manual_seed(0)
small = {"d_model": 12, "n_heads": 4, "d_ff": 20, "n_layers": 2, "dropout": 0.0}
block = randomised(EncoderBlock(TransformerConfig(11, **small)))
x = torch.randn(1, 7, 12, dtype=torch.float64)
W_q, W_k, W_v = block.self_attention.W_in.split(12)
b_q, b_k, b_v = block.self_attention.b_in.split(12)
norm_1, norm_2 = (residual.norm for residual in block.residuals)
F1, F2 = block.feed_forward.W_1, block.feed_forward.W_2


# %%
def row_by_row(t: int) -> torch.Tensor:
    """The block's output at position t, from the equations. Returns (D,)."""
    heads = []
    for i in range(4):
        part = slice(3 * i, 3 * i + 3)  # d_k = 3
        q = W_q[part] @ x[0, t] + b_q[part]
        k, v = x[0] @ W_k[part].T + b_k[part], x[0] @ W_v[part].T + b_v[part]
        heads.append((k @ q / 3**0.5).softmax(0) @ v)
    y = x[0, t] + block.self_attention.W_o(torch.cat(heads))
    y = norm_1.weight * (y - y.mean()) / (y.var(correction=0) + 1e-5).sqrt() + norm_1.bias
    z = y + F2.weight @ (F1.weight @ y + F1.bias).relu() + F2.bias
    return norm_2.weight * (z - z.mean()) / (z.var(correction=0) + 1e-5).sqrt() + norm_2.bias


looped = torch.stack([row_by_row(t) for t in range(7)])
torch.testing.assert_close(block(x)[0][0], looped, rtol=1e-10, atol=1e-10)

# %% [markdown]
# Now for the library. We copy its weights into our layers; then values and gradients must be equal, even with padding. The library's masks are the inverse of ours: True means "hide".

# %%
sizes = {"d_model": 12, "nhead": 4, "dim_feedforward": 20, "dropout": 0.0, "batch_first": True}
x = torch.randn(2, 5, 12, dtype=torch.float64, requires_grad=True)
y = torch.randn(2, 7, 12, dtype=torch.float64, requires_grad=True)
there = (torch.arange(5) < torch.tensor([[5], [3]]))[:, None, None]  # (B, 1, 1, S)
hidden, future = ~there[:, 0, 0], ~causal_mask(7)
real = ~hidden[..., None]  # outputs at padding mean nothing


# %%
def apart(ours: torch.Tensor, theirs: torch.Tensor, *by: torch.Tensor) -> list[float]:
    """Largest differences between two results, and between their gradients; both are asserted."""
    weigh = torch.randn_like(ours)
    grads = [torch.autograd.grad((z * weigh).sum(), by) for z in (ours, theirs)]
    pairs = [(ours, theirs), *zip(*grads)]
    for one, other in pairs:
        torch.testing.assert_close(one, other, rtol=1e-10, atol=1e-10)
    return [(one - other).abs().max().item() for one, other in pairs]


# %%
off = []
for norm in ("post", "pre"):
    config, first = TransformerConfig(11, norm=norm, **small), {"norm_first": norm == "pre"}
    theirs = randomised(nn.TransformerEncoderLayer(**sizes, **first))
    ours = EncoderBlock(config).double()
    ours.load_library(theirs)
    off += apart(ours(x, there)[0] * real, theirs(x, src_key_padding_mask=hidden) * real, x)
    theirs = randomised(nn.TransformerDecoderLayer(**sizes, **first))
    ours = transformer.DecoderBlock(config).double()
    ours.load_library(theirs)
    masks = {"tgt_mask": future, "memory_key_padding_mask": hidden}
    off += apart(ours(y, ours.remember(x, there))[0], theirs(y, x, **masks), x, y)

# %% [markdown]
# Next comes the whole of `nn.Transformer`, which has one more norm after its last block.

# %%
library = randomised(nn.Transformer(num_encoder_layers=2, num_decoder_layers=2, **sizes))
model = Transformer(TransformerConfig(11, last_norm=True, **small)).double()
model.load_library(library)
annotations, _ = model.encoder.run(x, there)
ours, *_ = model.decoder.run(y, model.decoder.remember(annotations, there))
masks = {"tgt_mask": future, "src_key_padding_mask": hidden, "memory_key_padding_mask": hidden}
off += apart(ours, library(x, y, **masks), x, y)

# %% tags=["evidence"]
observe(
    "In five comparisons, values and gradients differ by at most {off:.0e}.",
    off=max(off),
    holds=max(off) < 1e-10,
)

# %% [markdown]
# Does the model return the same logits step by step as all at once, and does padding change anything? We try three kinds of positions.


# %% tags=["evidence"]
def two_ways(positions: str) -> float:
    torch.manual_seed(0)
    c = TransformerConfig(11, 9, positions=positions, **small | {"n_heads": 2})
    model = Transformer(c).double().eval()
    return steps_apart(model)


# %% tags=["evidence"]
most = max(two_ways(kind) for kind in ("sinusoidal", "learned", "rotary"))
observe(
    "Step by step and without padding, the logits differ by at most {most:.0e}.",
    most=most,
    holds=most < 1e-12,
)

# %% [markdown]
# ## Does it learn without residual connections?
#
# *3 minutes.* The lesson shows gradients of untrained stacks. Do they decide whether a stack learns? Here is the easiest task there is for eight blocks: each position should predict its own symbol. In the book's blocks, a `Residual` puts sum and norm around each
# sublayer, so three small classes are enough to take them away.


# %% tags=["evidence"]
class NormAlone(transformer.Residual):
    """Normalise the sublayer's output, and forget its input."""

    def leave(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return self.norm(y)


class Neither(transformer.Residual):
    """Leave the sublayer's output as it is."""

    def leave(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return y


class SumAlone(transformer.Residual):
    """Add the sublayer's output, and leave the sum as it is."""

    def leave(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return x + y


# %% tags=["evidence"]
class Echo(nn.Module):
    """Predict each position's own symbol; ids (B, T) to logits (B, T, 8)."""

    def __init__(self, around: type[transformer.Residual]):
        super().__init__()
        config = TransformerConfig(8, d_model=32, n_heads=4, d_ff=128, dropout=0.0)
        self.embed = transformer.InputEmbedding(8, 32, "sinusoidal", 8, dropout=0.0)
        self.blocks = nn.ModuleList([EncoderBlock(config) for _ in range(8)])
        for block in self.blocks:
            block.residuals = nn.ModuleList([around(32, "post", 0.0) for _ in block.residuals])
        self.output = nn.Linear(32, 8)

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        x = self.embed(ids)
        for block in self.blocks:
            x, _ = block(x)
        return self.output(x)


# %% tags=["evidence"]
def per_position(logits: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
    """Mean cross-entropy over all positions. Shapes: logits (B, T, n), target (B, T)."""
    return F.cross_entropy(logits.mT, target)


# %% tags=["evidence", "training"]
def learns(around: type[transformer.Residual], seed: int) -> float:
    """Share of positions that are correct after 25 steps."""
    torch.manual_seed(seed)
    ids, new = torch.randint(8, (25 * 16, 8)), torch.randint(8, (200, 8))
    model = Echo(around)
    optimiser, schedule = rise_and_fall(model, 3e-3, 25)
    batches = Batches(ids, ids, batch_size=16)
    fit(model, batches, per_position, optimiser, epochs=1, schedule=schedule)
    return evaluate(model, [(new, new)], per_position, {"right": metrics.accuracy})["right"]


kinds = {"neither": Neither, "norm alone": NormAlone, "sum alone": SumAlone}
kinds |= {"sum and norm": transformer.Residual}
named = {name: [learns(kind, seed) for seed in (0, 1, 2)] for name, kind in kinds.items()}

# %% tags=["evidence"]
both, alone, norm, neither = (
    fmean(named[kind]) for kind in ("sum and norm", "sum alone", "norm alone", "neither")
)
observe(
    "After 25 steps, the blocks with sum and norm predict {both:.0%} of the symbols correctly, and those with the sum alone {alone:.0%}. With the norm alone it is {norm:.0%}, and with neither {neither:.0%}; "
    "a guess would be correct one time in eight. (Means of three seeds.)",
    **{"both": both, "alone": alone, "norm": norm, "neither": neither},
    holds=min(both, alone) > 0.6 and max(norm, neither) < 0.45,
)

# %% [markdown]
# Without the sum, the differences between positions are gone before the output can see them. Eight blocks don't need the norm for this task; deeper stacks, in which the gradient grows, do.

# %% [markdown]
# (deeper-warmup)=
# ## Does a Transformer need a warm-up?
#
# *6 minutes.* Why does the paper start its training so slowly? The learning rate rises linearly for $w = 4000$ steps and then falls. At step $n$ it is
#
# $$
# \begin{aligned}
# \eta(n) = {} & D^{-1/2} \\
# & \cdot \min\left(n^{-1/2},\; n\, w^{-3/2}\right) .
# \end{aligned}
# $$ (eq-warmup)

# %% tags=["evidence"] mystnb={"figure": {"caption": "More warm-up makes the peak of the paper's learning rate later and lower; a smaller width makes it higher. The schedule for three choices.", "name": "fig-warmup"}, "image": {"alt": "Three curves that rise in a straight line to a sharp peak and then fall ever more slowly. The peak of width 512 with 8000 steps is later and lower than with 4000; that of width 256 is higher."}}
steps = range(1, 20_001, 50)
choices = {"D = 512, w = 4000": (512, 4000), "D = 512, w = 8000": (512, 8000)}
choices |= {"D = 256, w = 4000": (256, 4000)}
lines = {
    name: (steps, [transformer.warmup_rate(step, *choice) for step in steps])
    for name, choice in choices.items()
}
curves(lines, "step", "learning rate")
plt.show()

# %% [markdown]
# Whether a warm-up is needed depends on where the norms are.

# %% tags=["mechanism"] mystnb={"figure": {"caption": "In pre-norm the residual stream has nothing but sums; in post-norm everything passes through the norms (framed). Left, a block with post-norm; right, with pre-norm.", "name": "fig-residuals"}, "image": {"alt": "Two towers over an x at the bottom. Left, post-norm: a thick arrow rises to a plus, then into a framed box, norm, then to another plus and another framed norm; boxes attention and feed-forward are next to the stream, between a copy of it and the plus. Right, pre-norm: the thick arrow rises through two plus signs and meets no box; next to it are norm and attention, then norm and feed-forward."}}
mechanisms.residuals()
plt.show()

# %% [markdown]
# The paper doesn't say why it starts near 0. Two reasons have been given. At the start Adam has seen few gradients, and takes full steps all the same {cite}`liu2020variance`. And according to the theory of {cite:t}`xiong2020layer`, the last blocks of a post-norm
# model get large gradients, however deep it is, while with pre-norm these shrink with depth. We look at $W_2$ of the last block, in an untrained model that has to predict random classes.


# %% tags=["evidence"]
def last_gradient(norm: str, depth: int, seed: int) -> float:
    """Size of the gradient of W_2 in the last block, for random targets."""
    torch.manual_seed(seed)
    config = TransformerConfig(8, d_model=64, n_heads=4, d_ff=256, n_layers=depth, norm=norm)
    encoder, output = transformer.Encoder(config).eval(), nn.Linear(64, 8)
    features, _ = encoder.run(torch.randn(4, 16, 64))
    F.cross_entropy(output(features).mT, torch.randint(8, (4, 16))).backward()
    return encoder.blocks[-1].feed_forward.W_2.weight.grad.norm().item()


# %% tags=["evidence"]
of_last = {
    (norm, n): [last_gradient(norm, n, seed) for seed in range(10)]
    for norm in ("post", "pre")
    for n in (2, 8, 32)
}
of_ten = {f"{norm}_{n}": sum(found) / 10 for (norm, n), found in of_last.items() if n != 8}
observe(
    "With post-norm, its gradient has a size of {post_2:.2f} in a model of 2 blocks and {post_32:.2f} in one of 32; with pre-norm the sizes are {pre_2:.2f} and {pre_32:.2f}. (Means of ten starts.)",
    **of_ten,
    holds=max(of_last["pre", 32]) < min(of_last["pre", 2] + of_last["post", 32]),
)

# %% [markdown]
# The difference is there, as the theory predicts. But it can't be the whole story, since Adam divides by the gradient's size; {cite:t}`liu2020understanding` argue that unequal gradients are not the root cause.
#
# What happens in training? A stored experiment trained encoders to sort sixteen digits in 150 steps: post-norm and pre-norm, with 2, 6 and 12 blocks, at three learning rates, with 50 steps of warm-up and with none.

# %% tags=["evidence"]
warmed = experiments.load("warmup")


def sorted_right(norm: str, blocks: int, rate: float, warmup: bool) -> tuple[float, float, float]:
    """Mean, lowest and highest share of digits in the correct position."""
    return warmed.spread("accuracy", norm=norm, blocks=blocks, rate=rate, warmup=warmup)


# %% tags=["evidence"] mystnb={"figure": {"caption": "Only deep stacks at high learning rates need a warm-up: share of digits sorted into the correct position, by the number of blocks. Mean and range of three seeds (stored experiment `warmup`). Rows: the two higher of three learning rates. Columns: post-norm and pre-norm.", "name": "fig-warmup-grid"}, "image": {"alt": "Four diagrams. With post-norm and a rate of 0.01 the line without warm-up falls to chance at twelve blocks, that with warm-up stays above 0.8; at 0.03 both fall. With pre-norm at 0.01 both lines stay high; at 0.03 the one without warm-up falls to about a half at twelve blocks."}}
figure, axes = plt.subplots(2, 2, figsize=(6.4, 5.4), sharex=True, sharey=True)
for row, rate in zip(axes, (0.01, 0.03)):
    for ax, norm in zip(row, ("post", "pre")):
        lines = {}
        for name, warmup in (("warm-up", True), ("none", False)):
            where = {"norm": norm, "rate": rate, "warmup": warmup}
            found = [warmed.column("accuracy", **where, seed=seed) for seed in (0, 1, 2)]
            lines[name] = ((2, 6, 12), found)
        curves(lines, "", "", ax=ax)
        ax.set(title=f"{norm}-norm, rate {rate}", xticks=(2, 6, 12), ylim=(0, 1.05))
figure.supxlabel("blocks")
figure.supylabel("share in correct position")
plt.show()

# %% [markdown]
# (claim-tr-5a)=

# %% tags=["evidence"]
claim(
    "tr-5a",
    "Yes, if deep and fast: at 0.01, twelve blocks sort {cold:.0%} without, {warm:.0%} with it; without, twelve sort {slow:.0%} at 0.003, two {shallow:.0%} at 0.01.",
    warm=sorted_right("post", 12, 0.01, True)[0],
    cold=sorted_right("post", 12, 0.01, False)[0],
    shallow=sorted_right("post", 2, 0.01, False)[0],
    slow=sorted_right("post", 12, 0.003, False)[0],
    holds=lambda warm, cold, shallow, slow: cold < 0.3 and min(warm, shallow, slow) > 0.7,
    experiment="warmup",
    scale="16 digits, 150 steps, three seeds, no clipping",
)

# %% [markdown]
# (claim-tr-5b)=

# %% tags=["evidence"]
claim(
    "tr-5b",
    "Yes, if the rate is modest: at 0.01, twelve blocks sort {modest:.0%} without one. At 0.03 they sort {cold:.0%} without and {warm:.0%} with one.",
    modest=sorted_right("pre", 12, 0.01, False)[0],
    cold=sorted_right("pre", 12, 0.03, False)[0],
    warm=sorted_right("pre", 12, 0.03, True)[0],
    holds=lambda modest, cold, warm: modest > 0.85 and warm > cold + 0.3,
    experiment="warmup",
    scale="16 digits, 150 steps, three seeds, no clipping",
)

# %% tags=["evidence"]
cold = [sorted_right(norm, n, 0.003, False)[0] for norm in ("post", "pre") for n in (2, 6, 12)]
observe(
    "At 0.003 every network does without a warm-up: each of the six sorts at least {least:.0%} of the digits.",
    least=min(cold),
    holds=min(cold) > 0.9,
)

# %% [markdown]
# So a warm-up buys room for a higher learning rate.

# %% [markdown]
# ## Do Adam's settings matter?
#
# *4 minutes.* Why does the paper change the optimiser's defaults? **Adam** {cite}`kingma2015adam` keeps two running means for each weight: of its gradient, and of the gradient's square. $\beta_1$ and $\beta_2$ are the shares of the old means that are kept at each step; the nearer to 1, the longer the memory. A step is
# $\eta$ times the first mean, divided by the root of the second plus a small $\varepsilon$, so gradients ten times as large make no larger steps. The paper has $\beta_2 = 0.98$ and $\varepsilon = 10^{-9}$; the library's defaults are 0.999 and $10^{-8}$.
#
# We sort digits again, with six blocks and post-norm. A stored experiment changed one number at a time.

# %% tags=["evidence"]
settings = experiments.load("adam")
adams = ["paper", *settings.parameters["adam"]]


def with_adam(adam: str, rate: float, warmup: bool = True) -> tuple[float, float, float]:
    """Mean, lowest and highest share of digits in the correct position, six blocks, post-norm."""
    if adam == "paper":
        return sorted_right("post", 6, rate, warmup)
    return settings.spread("accuracy", adam=adam, rate=rate, warmup=warmup)


columns = [(0.01, True), (0.01, False), (0.03, True), (0.03, False)]
rows = [[adam, *(f"{with_adam(adam, *column)[0]:.0%}" for column in columns)] for adam in adams]
headers = [f"{rate}, {'warm-up' if warmup else 'none'}" for rate, warmup in columns]
table(rows, ["settings", *headers])

# %% [markdown]
# (claim-tr-7a)=

# %% tags=["evidence"]
modest = [with_adam(adam, 0.01, warmup)[0] for adam in adams for warmup in (True, False)]
claim(
    "tr-7a",
    "No: at a rate of 0.01 every setting sorts {low:.0%} to {high:.0%}. At 0.03 a shorter memory than the paper's sorts {short:.0%}, the library's {long:.0%}.",
    low=min(modest),
    high=max(modest),
    short=with_adam("short memory", 0.03)[0],
    long=with_adam("library's β₂", 0.03)[0],
    holds=lambda low, high, short, long: low > 0.8 and high - low < 0.06 and short > long + 0.2,
    experiment="adam",
    scale="six post-norm blocks, 150 steps with warm-up (at 0.01 also without), three seeds",
)

# %% [markdown]
# (claim-tr-7b)=

# %% tags=["evidence"]
claim(
    "tr-7b",
    "Yes, if the rate is high: at 0.03 it sorts {cold:.0%} without a warm-up and {warm:.0%} with one; at 0.01, {modest:.0%} without.",
    cold=with_adam("paper", 0.03, False)[0],
    warm=with_adam("paper", 0.03)[0],
    modest=with_adam("paper", 0.01, False)[0],
    holds=lambda cold, warm, modest: cold < 0.3 and min(warm, modest) > 0.6,
    experiment="warmup",
    scale="six post-norm blocks, 150 steps, 50 of them warm-up, three seeds",
)

# %% [markdown]
# At a high rate a memory shorter than the library's helps, but there is nothing special about 0.98. We can't say anything about ε there: with the library's value, one seed sorts no better than chance, and the others as well as any. The paper's settings were found for its own task and size, and we did not try 4,000 steps of warm-up.

# %% [markdown]
# ## What do smoothed labels do?
#
# *6 minutes.* Why should a label not be certain? With **label smoothing** {cite}`szegedy2016rethinking` the target's probability is no longer 1. A share $s$ of each label $y$ is spread evenly over all symbols but PAD:
#
# $$
# \begin{aligned}
# q(k) &= (1 - s)\,[k = y] + \frac{s}{V - 1}, \\
# \text{loss} &= -\sum_{k \ne \text{PAD}} q(k) \log p(k) .
# \end{aligned}
# $$ (eq-smoothing)

# %%
show_source(transformer.label_smoothing_loss)

# %% [markdown]
# What does that ask of a model? We give more and more probability to the correct one of five symbols, and spread the rest evenly over the others.

# %% tags=["evidence"] mystnb={"figure": {"caption": "With smoothed labels, certainty is punished: loss by the probability given to the correct one of five symbols, for three shares s.", "name": "fig-smoothing"}, "image": {"alt": "Three curves. Without smoothing the loss falls towards zero at probability one. With smoothing the curves have a minimum, and rise steeply near probability one."}}
p = torch.linspace(0.5, 0.999, 200)
probabilities = torch.stack([torch.zeros_like(p), *3 * [(1 - p) / 3], p], dim=-1)  # PAD gets none
logits, right = probabilities.clamp_min(1e-9).log(), torch.full((1, 1), 4)
loss_at = {
    share: [transformer.label_smoothing_loss(row[None, None], right, share) for row in logits]
    for share in (0.0, 0.1, 0.2)
}
lines = {f"s = {share}": (p, torch.stack(loss)) for share, loss in loss_at.items()}
curves(lines, "probability of the correct symbol", "loss (nats)")
plt.show()

# %% tags=["evidence"]
lowest = {share: p[torch.stack(loss).argmin()].item() for share, loss in loss_at.items()}
observe(
    "With a share of 0.1 the loss is lowest at a probability of {tenth:.3f}, the label's own; without smoothing it is lowest at {none:.3f}.",
    tenth=lowest[0.1],
    none=lowest[0.0],
    holds=abs(lowest[0.1] - 0.925) < 0.005 and lowest[0.0] > 0.99,
)

# %% [markdown]
# A model that is certain is punished, even where it is correct. That should raise the perplexity. Does it help the model choose the correct symbol? A stored experiment trained small Transformers on Day 4's dates, with a share of 0.1 and with none, three seeds each: on a few dates, seen often, and on many, seen seldom.

# %% tags=["evidence"]
smoothed = experiments.load("smoothing")


def gains(column: str, pairs: int) -> torch.Tensor:
    """How much the share of 0.1 adds, seed by seed, (3,)."""
    with_it, without = (smoothed.select(pairs=pairs, smoothing=share) for share in (0.1, 0.0))
    return torch.tensor([a[column] - b[column] for a, b in zip(with_it, without)])


few, many = smoothed.parameters["pairs"]
rows = []
for n in (few, many):
    added = [gains(column, n) for column in ("nats", "accuracy", "exact")]
    rows.append([f"{n:,}", *(f"{of.min():+.3f} to {of.max():+.3f}" for of in added)])
table(rows, ["dates", "nats per symbol", "symbols correct", "dates correct"])

# %% [markdown]
# (claim-tr-6a)=

# %% tags=["evidence"]
claim(
    "tr-6a",
    "Yes, if there is enough data: on many dates it costs {low:.3f} to {high:.3f} nats per symbol with every seed; on few, {less:.3f} to {more:.3f}.",
    low=gains("nats", many).min(),
    high=gains("nats", many).max(),
    less=gains("nats", few).min(),
    more=gains("nats", few).max(),
    holds=lambda low, high, less, more: 0 < low < high and less < 0 < more,
    experiment="smoothing",
    scale="dates of twelve countries, 250 or 8,000 of them, three seeds",
)

# %% [markdown]
# (claim-tr-6b)=

# %% tags=["evidence"]
of_seeds = gains("accuracy", many)
error = (of_seeds.std() / len(of_seeds) ** 0.5).item()
claim(
    "tr-6b",
    "Can't tell here: it changes the share of correct symbols by {change:+.1%}; with three seeds, only more than {least:.1%} would count. BLEU wasn't measured.",
    change=of_seeds.mean(),
    least=stats.t.ppf(0.975, len(of_seeds) - 1) * error,
    holds=lambda change, least: abs(change) < least,
    experiment="smoothing",
    scale="8,000 dates of twelve countries, three seeds; beyond: outside Student's interval of 95%",
)

# %% [markdown]
# The paper's gain was half a BLEU point. Three seeds can neither show an effect of that size nor rule it out, and a date has one correct answer, while the paper's sentences had many translations. It would take more seeds, and a task with several correct answers.

# %% [markdown]
# ## How does the paper train?
#
# *4 minutes.* What does the whole recipe look like, and does it work? Here is all of it together: post-norm, sinusoids, one embedding table, smoothed labels, the warm-up and Adam's settings. The task is the first one of *The Annotated Transformer* {cite}`rush2018annotated`: copy ten symbols. (Adam's own rate is 1, and the schedule multiplies it; `LambdaLR` counts the steps already done,
# so we add one.)


# %%
def random_sequences(n: int, seed: int) -> torch.Tensor:
    """Sequences (n, 10) of ten symbols, which are the ids 3 to 12."""
    return torch.randint(3, 13, (n, 10), generator=torch.Generator().manual_seed(seed))


# %% tags=["training"]
torch.manual_seed(0)
copier = Transformer(TransformerConfig(13, d_model=32, n_heads=4, d_ff=64, n_layers=2, dropout=0.0))
sequences = random_sequences(260 * 64, seed=0)
tens, target = torch.full((len(sequences),), 10), F.pad(sequences, (0, 1), value=EOS)
batches = Batches(sequences, tens, seq2seq.shift(target), target, batch_size=64)
optimiser = torch.optim.Adam(copier.parameters(), lr=1.0, betas=(0.9, 0.98), eps=1e-9)
rate = partial(transformer.warmup_rate, d_model=32, warmup=100)
schedule = torch.optim.lr_scheduler.LambdaLR(optimiser, lambda done: rate(done + 1))
loss = transformer.label_smoothing_loss
history = fit(copier, batches, loss, optimiser, epochs=1, schedule=schedule)

# %% tags=["evidence"] mystnb={"figure": {"caption": "The model learns to copy in fits and starts: loss of each batch.", "name": "fig-copy-loss"}, "image": {"alt": "A curve that falls to about two and a half within some tens of steps, stays there for a while, falls with halts and spikes to about a half by step two hundred, and stays there."}}
curves({"": (range(1, 261), history.step_loss)}, "step", "loss (nats per symbol)")
plt.show()

# %% tags=["evidence"]
new = random_sequences(2000, seed=1000)
copied = seq2seq.greedy_decode(copier, new, torch.full((2000,), 10), max_len=12)
right = metrics.exact_match(copied, F.pad(new, (0, 1), value=EOS), EOS)
q = torch.tensor([0.9 + 0.1 / 12, *11 * [0.1 / 12]])  # a smoothed label, without PAD
least, at_end = -(q * q.log()).sum().item(), sum(history.step_loss[-20:]) / 20
with torch.no_grad():
    looks = copier.eval().attention_weights(new[:200], tens[:200], seq2seq.shift(new[:200])).cross
on_it = looks.diagonal(dim1=-2, dim2=-1).mean(dim=(0, -1))  # (L, h)

# %% tags=["evidence"]
observe(
    "It copies {right:.1%} of 2,000 new sequences. Its loss ends at {loss:.3f}; no loss can be below {least:.3f}, the entropy of the smoothed labels. One head puts "
    "{most:.0%} of its weight on the symbol to be copied.",
    right=right,
    loss=at_end,
    least=least,
    most=on_it.max().item(),
    holds=right > 0.9 and abs(at_end - least) < 0.1 and on_it.max() > 0.3,
)

# %% [markdown]
# At first it learns only which symbols there are: the loss stays near that of a guess among ten symbols and EOS. Then it discovers, in fits and starts, that it can attend to the same position of the source.

# %% [markdown]
# ## How large is the paper's model?
#
# *4 minutes.* The paper says that its base model has 65 million parameters. Is that so? We build the model at full size, with the vocabulary of about 37,000 that both languages share. On PyTorch's `meta` device a tensor has a shape but no numbers, so this takes no memory.


# %%
def n_parameters(**choices) -> int:
    """How many numbers a Transformer has to learn; the defaults are the base model's."""
    with torch.device("meta"):
        model = Transformer(TransformerConfig(**choices))
    return sum(p.numel() for p in model.parameters())


big = {"d_model": 1024, "n_heads": 16, "d_ff": 4096}
counted = {
    "base, one table": n_parameters(vocab_size=37_000),
    "base, three tables": n_parameters(vocab_size=37_000, target_vocab_size=37_000, tied=False),
    "big, one table": n_parameters(vocab_size=37_000, **big),
}
table(
    [[name, f"{count:,}", said] for (name, count), said in zip(counted.items(), ("65", "", "213"))],
    ["model", "parameters", "the paper says (millions)"],
)

# %% [markdown]
# The base model has nearly two million fewer parameters than the paper says, and the big one has over a million more. Another vocabulary can't explain both: it would bring one closer and push the other further away.
#
# (claim-tr-8)=

# %% tags=["evidence"]
claim(
    "tr-8",
    "No: with one table of 37,000 symbols it has {base:.1f} million. No vocabulary makes both models right: the big one has {big:.1f}, not 213.",
    base=counted["base, one table"] / 1e6,
    big=counted["big, one table"] / 1e6,
    holds=lambda base, big: 62 < base < 64.5 and big > 213.5,
    counted=True,
    scale="all biases counted; the paper says “about 37,000”, and gives no sum",
)

# %% [markdown]
# What does the number depend on? Here are four changes, and their effects on the blocks and on the embedding table:

# %% tags=["evidence"]
base, V = counted["base, one table"], 37_000
changed = {
    "12 blocks instead of 6": {"vocab_size": V, "n_layers": 12},
    "twice the width": {"vocab_size": V, "d_model": 1024, "d_ff": 4096},
    "twice the vocabulary": {"vocab_size": 2 * V},
    "64 heads instead of 8": {"vocab_size": V, "n_heads": 64},
}
times = {}
for name, choices in changed.items():
    words = choices["vocab_size"] * choices.get("d_model", 512)
    times[name] = words / (V * 512), (n_parameters(**choices) - words) / (base - V * 512)
rows = [[name, *(f"{factor:.2f}" for factor in both)] for name, both in times.items()]
table(rows, ["change", "embedding table, times", "blocks, times"])

# %% [markdown]
# (claim-tr-9)=

# %% tags=["evidence"]
claim(
    "tr-9",
    "Yes, if blocks or words are added: doubling them multiplies their parameters by {blocks:.2f} and {words:.2f}. Doubling the width multiplies the blocks' by {width:.2f}.",
    blocks=times["12 blocks instead of 6"][1],
    words=times["twice the vocabulary"][0],
    width=times["twice the width"][1],
    holds=lambda blocks, words, width: abs(blocks - 2) < 0.01 and words == 2 and width > 3.9,
    counted=True,
    scale="the paper's base model",
)

# %% [markdown]
# Twice the width makes a matrix four times as large. Heads are free: they only cut the width into pieces.

# %% [markdown]
# (deeper-turns)=
# ## Why are the positions waves?
#
# *5 minutes.* What can $W_q$ and $W_k$ do with sines and cosines? Moving on by $k$ positions turns each hand of the lesson's clocks by the angle $b = \omega_i k$, wherever it was. Let the hand be at $a = \omega_i p$. The sine and cosine of a sum of angles put this into numbers:
#
# $$
# \begin{aligned}
# &\begin{pmatrix} \sin(a + b) \\ \cos(a + b) \end{pmatrix} = \\
# &\quad \begin{pmatrix} \cos b & \sin b \\ -\sin b & \cos b \end{pmatrix}
# \begin{pmatrix} \sin a \\ \cos a \end{pmatrix} .
# \end{aligned}
# $$ (eq-shift-matrix)
#
# The first row is $\sin(a + b) = \cos b \sin a + \sin b \cos a$. There is no $a$ in the matrix, and so no $p$: *three words on* is the same matrix everywhere, and $W_q$ and $W_k$ are matrices.

# %% tags=["mechanism"] mystnb={"figure": {"caption": "The matrix for three steps doesn't depend on where they start: from position 2 to position 5, at a speed of one radian per position.", "name": "fig-turn"}, "image": {"alt": "A clock with a dashed hand at 2, a full one at 5 and the angle between them shaded. Next to it a matrix with the rows -0.99, 0.14 and -0.14, -0.99, called turn by 3, times the vector 0.91, -0.42 of position 2, gives -0.96, 0.28 of position 5."}}
omega, p, k = 1.0, 2, 3
ax = sheet(5.6)
face = dial(ax, (2.4, 2.9), 1.75)
sector(ax, face, p * omega, (p + k) * omega)
hand(ax, face, p * omega, role="query", text=f"{p}", dashed=True)
hand(ax, face, (p + k) * omega, role="query", text=f"{p + k}")
angle = torch.tensor([p * omega, k * omega, (p + k) * omega], dtype=torch.float64)
(sin_p, sin_k, sin_on), (cos_p, cos_k, cos_on) = angle.sin().tolist(), angle.cos().tolist()
size = (1.5, 0.85)
M = cells(ax, (6.2, 2.05), [[cos_k, sin_k], [-sin_k, cos_k]], weights=0.12, size=size)
v = cells(ax, (10.2, 2.05), [[sin_p], [cos_p]], role="query", weights=0.3, size=size)
on = cells(ax, (13.2, 2.05), [[sin_on], [cos_on]], role="query", weights=0.6, size=size)
note(ax, (9.7, 2.9), "·", weight="bold")
note(ax, (12.45, 2.9), "=", weight="bold")
brace(ax, M, "top", "the same for every start")
label(ax, M, "bottom", f"turn by {k}")
label(ax, v, "bottom", f"position {p}")
label(ax, on, "bottom", f"position {p + k}")
plt.show()


# %%
def turns(k, D):
    """The matrix (D, D) that moves any position on by k: a turn for each clock."""
    angles = k * 10_000.0 ** (-torch.arange(0, D, 2, dtype=torch.float64) / D)
    sin, cos = angles.sin(), angles.cos()
    pairs = torch.stack([torch.stack([cos, sin], -1), torch.stack([-sin, cos], -1)], -2)
    return torch.block_diag(*pairs)


waves = sinusoidal(2000, 512, dtype=torch.float64)
off = max((waves[k:] - waves[:-k] @ turns(k, 512).T).abs().max().item() for k in (1, 17, 500))

# %% [markdown]
# (claim-tr-1)=

# %% tags=["evidence"]
claim(
    "tr-1",
    "Yes: for each step, one matrix moves all 2,000 positions. Their numbers average {size:.1f} in size; the errors are at most {off:.0e}.",
    off=off,
    size=waves.abs().mean(),
    holds=lambda off, size: off < 1e-10 * size,
    counted=True,
    scale="512 wide, steps of 1, 17 and 500",
)

# %% [markdown]
# Training still has to find that matrix.

# %% [markdown]
# ## Do sinusoidal positions reach beyond the training length?
#
# *5 minutes.* Sinusoids go on for ever. Does a model that uses them? The paper chose them over learned positions for this reason, and did not test it. A stored experiment trained small decoder-only models on at most 20 symbols, either to *echo* the symbol three steps before, or to *copy* the first half of the sequence. Then it asked
# for the last five answers in sequences of up to 80.

# %% tags=["evidence"]
extrapolation = experiments.load("positions_length")
tested = extrapolation.rows[0]["length"]


def right_at(task: str, positions: str) -> torch.Tensor:
    """Share of correct answers by seed and length, (3, lengths)."""
    rows = extrapolation.select(task=task, positions=positions)
    return torch.tensor([row["accuracy"] for row in rows])


kinds_of = extrapolation.parameters["positions"]
found = {(task, kind): right_at(task, kind) for task in ("echo", "copy") for kind in kinds_of}

# %% tags=["evidence"] mystnb={"figure": {"caption": "No kind of position reaches far beyond the training lengths, which are left of the dashed line: share of correct answers by the length of the sequence, for four kinds of positions. Means and ranges of three seeds (stored experiment `positions_length`).", "name": "fig-extrapolation"}, "image": {"alt": "Two diagrams with four lines each. In the echo task sinusoidal and learned positions are at one up to 20 symbols and fall steeply after it, rotary ones stay above 0.9 up to 40, and the line without positions is low throughout. In the copy task the three lines with positions fall from one at 20 symbols to 0.2 and less at 40; the line without falls more slowly, from one at ten to 0.85 at 20 and 0.3 at 40."}}
figure, axes = plt.subplots(1, 2, figsize=(6.4, 3.8), sharey=True)
for ax, task in zip(axes, ("echo", "copy")):
    lines = {kind: (tested, found[task, kind]) for kind in kinds_of}
    curves(lines, "symbols", "share correct" if task == "echo" else "", ax=ax)
    ax.axvline(20, color=INK, linestyle="--", lw=1)
    ax.set_title(task)
axes[0].get_legend().remove()
plt.show()

# %% [markdown]
# (claim-tr-2)=

# %% tags=["evidence"]
mean_at = {
    (*key, n): of[:, tested.index(n)].mean() for key, of in found.items() for n in (20, 24, 40)
}
claim(
    "tr-2",
    "No: at twice the training length, models with sinusoids echo {waves:.0%} and copy {copied:.0%}, where a guess gets 10%; with rotary positions they echo {rotary:.0%}.",
    waves=mean_at["echo", "sinusoidal", 40],
    copied=mean_at["copy", "sinusoidal", 40],
    rotary=mean_at["echo", "rotary", 40],
    holds=lambda waves, copied, rotary: max(waves, copied) < 0.5 and rotary > 0.8,
    experiment="positions_length",
    scale="small decoders, trained on up to 20 symbols, three seeds; the paper says only that they may",
)

# %% tags=["evidence"]
observe(
    "At 24 symbols, a fifth beyond the training length, models with sinusoids still echo {waves:.0%} and copy {waves_copy:.0%}; with learned positions they echo {learned:.0%} and copy {learned_copy:.0%}.",
    waves=mean_at["echo", "sinusoidal", 24].item(),
    learned=mean_at["echo", "learned", 24].item(),
    waves_copy=mean_at["copy", "sinusoidal", 24].item(),
    learned_copy=mean_at["copy", "learned", 24].item(),
    holds=all(mean_at[t, "sinusoidal", 24] > mean_at[t, "learned", 24] for t in ("echo", "copy")),
)

# %% [markdown]
# A model has seen only the beginning of its sinusoids. A little further on it does better than with learned positions; twice as far, it fails. In copying, having no positions at all beats every kind of position, though within the training lengths it is worst. Perhaps such a model looks for the symbol that came after this one in the source, and for that it needs no positions.

# %% [markdown]
# ## How far back can a Transformer look?
#
# *4 minutes.* Which was the first of many symbols? On Day 3 this question showed how far back a network remembers. Stored experiments put it to an encoder of one block, with about as many parameters as Day 3's networks and the same training. Others trained small models to copy sequences within 400 steps.

# %% tags=["evidence"]
recalled, mixed = experiments.load("long_recall"), experiments.load("long_recall_mixed")
on_day_3, copying = experiments.load("recall_fixed"), experiments.load("long_copy")
at_100 = {
    layer: on_day_3.spread("test", layer=layer, length=100)
    for layer in ("RNN", "GRU", "GRU, keeping", "LSTM, keeping")
}
copies = {
    (model, n): copying.spread("accuracy", model=model, length=n)[0]
    for model in ("GRU", "Transformer")
    for n in (5, 40)
}

# %% [markdown]
# (claim-tr-10a)=

# %% tags=["evidence"]
claim(
    "tr-10a",
    "Yes: one encoder block recalls the first of 512 symbols in {fixed:.1%} of cases; trained on shorter sequences too, of 1,024 in {longer:.1%}.",
    fixed=recalled.spread("test", length=512)[1],
    longer=mixed.spread("test", model="Transformer", length=1024)[1],
    holds=lambda fixed, longer: min(fixed, longer) > 0.99 and max(fixed, longer) <= 1,
    experiment="long_recall",
    scale="four symbols, the lowest of three seeds",
)

# %% [markdown]
# (claim-tr-10b)=

# %% tags=["evidence"]
claim(
    "tr-10b",
    "No: a GRU with open gates recalls the first of 100 in {gates:.0%} (without: {bare:.0%}); an RNN trained on mixed lengths, of 1,024 in {taught:.0%}.",
    bare=at_100["GRU"][0],
    gates=at_100["GRU, keeping"][0],
    taught=mixed.spread("test", model="RNN", length=1024)[0],
    holds=lambda bare, gates, taught: bare < 0.65 and gates > 0.98 and taught > 0.98,
    experiment="recall_fixed",
    scale="four symbols, three seeds; of 100 alone at most 600 steps, one learning rate",
)

# %% [markdown]
# So 100 symbols are no limit for a recurrent network. Those that failed were badly initialised, or badly taught; with care, such a network remembers *one* thing for long. Where many have to be held at once, the Transformer learns sooner:

# %% tags=["evidence"]
observe(
    "Within 400 steps a Transformer copies {forty:.0%} of 40 symbols correctly. A GRU copies {gru:.0%} of 40, and {five:.0%} of five.",
    forty=copies["Transformer", 40],
    gru=copies["GRU", 40],
    five=copies["GRU", 5],
    holds=copies["Transformer", 40] > 0.98 and copies["GRU", 40] < 0.35,
)

# %% [markdown]
# With more steps the GRU may well get further. The Transformer doesn't have to hold the symbols: it attends to them.

# %% [markdown]
# (deeper-time)=
# ## Is a Transformer faster than a recurrent network, and as good?
#
# *4 minutes.* Is a layer faster if its words don't queue? On one core it is, for short sequences: a recurrent layer does little work in each of many small steps, an encoder block does much in a few large ones, and a processor prefers the latter. But as the text grows, so does the number of pairs.

# %% tags=["evidence"] mystnb={"figure": {"caption": "An encoder block is faster than a GRU in short sequences and slower in long ones: processor time of a training step of one layer, 128 wide, four sequences at once, on one thread (stored experiment `sequence_time`). Both axes are logarithmic.", "name": "fig-step-seconds"}, "image": {"alt": "Three rising lines over 16 to 4096 words. Those of the two GRUs are close to each other. That of the encoder block begins below both, rises more steeply from some hundred words on, and crosses them beyond one thousand."}}
by_length = experiments.load("sequence_time")
times = {
    layer: {row["T"]: row["seconds"] for row in by_length.select(layer=layer)}
    for layer in ("GRU", "library's GRU", "encoder block")
}
lines = {layer: (list(taken), list(taken.values())) for layer, taken in times.items()}
ax = curves(lines, "words", "seconds", logx=True, logy=True)
ax.set_xticks([16, 64, 256, 1024, 4096], [16, 64, 256, 1024, 4096])
ax.minorticks_off()
plt.show()

# %% [markdown]
# And a whole model? How long does a pass over Day 4's 24,000 sentences take on one core, and how well do the models do on alignments, unseen structures and dates? (The Transformer has smoothed labels, rotary positions and no dropout; Day 4's network has plain labels and a dropout of 0.1. So they differ in more than the architecture.)

# %% tags=["evidence"]
stored = {
    "Day 4's, 6 passes": experiments.load("translation").select(score="additive"),
    "Transformer, 5 passes": experiments.load("translation_transformer").rows,
}


def low_to_high(rows: list[dict], column: str) -> str:
    """Lowest and highest of the seeds, in percent (BLEU is in percent already)."""
    values = [row[column] * (1 if column == "bleu" else 100) for row in rows]
    return f"{min(values):.1f} to {max(values):.1f}"


# %% tags=["evidence"]
(passes,) = experiments.load("translation_time").rows
columns = ["unseen structures", "bleu", "aer"]
rows = [
    [name, of[0]["parameters"], f"{seconds:.0f}", *(low_to_high(of, c) for c in columns)]
    for (name, of), seconds in zip(stored.items(), (passes["additive"], passes["transformer"]))
]
headers = ["model", "parameters", "seconds per pass", "unseen structures, %", "BLEU"]
table(rows, [*headers, "alignment errors, %"])

# %% tags=["evidence"]
faster = passes["additive"] / passes["transformer"]
told = {
    name: experiments.load(name).spread("unseen", locale=True)
    for name in ("dates", "dates_transformer")
}
observe(
    "Day 4's network takes {faster:.2f} times as long per pass as the Transformer. But it reads {day_4s:.0%} of the dates in unseen formats correctly, and the Transformer {todays:.0%}.",
    faster=faster,
    todays=told["dates_transformer"][0],
    day_4s=told["dates"][0],
    holds=1 < faster < 2 and told["dates_transformer"][2] < told["dates"][1],
)

# %% [markdown]
# Why the Transformer has more trouble with unseen formats, and whether the architecture is the reason at all, was not measured. On unseen structures, the Transformer's own seeds lie several points apart.

# %% [markdown]
# ## Encoder-only and decoder-only: three models from the same blocks?
#
# *7 minutes.* What can an encoder or a decoder do alone? The Transformer has two halves, and each has made a career of its own. The **encoder** alone reads: it answers questions about a text, as BERT does {cite}`devlin2019bert`. The **decoder** alone, without a source, continues
# a text, as GPT does {cite}`radford2018improving`. Its blocks are the encoder's, with a causal mask.

# %%
show_source(transformer.EncoderOnly)

# %%
show_source(transformer.DecoderOnly)

# %% [markdown]
# The encoder should tell which of twelve languages a word is from. The words are Day 3's: names of months, languages and countries.

# %%
train_words, _, test_words = dates.language_words()
alphabet = Vocabulary(letter for word in train_words for letter in word.text)


def spelt(words: list[dates.Word]) -> tuple[list[list[int]], torch.Tensor]:
    """Words as ids, and the indices of their languages."""
    languages = torch.tensor([dates.LANGUAGES.index(word.language) for word in words])
    return [alphabet.encode(word.text) for word in words], languages


# %% tags=["training"]
torch.manual_seed(0)
modest = {"d_model": 32, "n_heads": 4, "d_ff": 64, "norm": "pre"}
linguist = transformer.EncoderOnly(TransformerConfig(len(alphabet), n_layers=1, **modest), 12)
batches = BucketedBatches(*spelt(train_words), batch_size=64, shuffle=True)
optimiser, schedule = rise_and_fall(linguist, 6e-3, 4 * len(batches))
_ = fit(linguist, batches, F.cross_entropy, optimiser, epochs=4, schedule=schedule)

# %% [markdown]
# The decoder should continue an English sentence. It learns from the lesson's English sentences, and should beat the best of Day 2's counting models.

# %%
task = ShortTask(12_000)
english = task.english


def as_rows(part: list[tuple[str, str]]) -> torch.Tensor:
    return task.source(text for text, _ in part)[0]


rows, new_rows = as_rows(task.train), as_rows(task.test)


class Writer(nn.Module):
    """A decoder-only model that keeps its state to itself; ids (B, T) to logits (B, T, V)."""

    def __init__(self, config: TransformerConfig):
        super().__init__()
        self.model = transformer.DecoderOnly(config)

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        return self.model(ids)[0]


# %% tags=["training"]
torch.manual_seed(0)
sizes = {"positions": "learned", "max_len": 12, "n_layers": 2} | modest
writer = Writer(TransformerConfig(len(english), **sizes))
batches = Batches(seq2seq.shift(rows), rows, batch_size=32, shuffle=True)
optimiser, schedule = rise_and_fall(writer, 6e-3, 4 * len(batches))
_ = fit(writer, batches, seq2seq.sequence_loss, optimiser, epochs=4, schedule=schedule)

# %% tags=["evidence"]
told = [[BOS, *row[row != PAD].tolist()] for row in rows]
asked = [[BOS, *row[row != PAD].tolist()] for row in new_rows]


def nats_by_counting(order: int) -> float:
    """Mean loss per symbol of a model that counts, on the test sentences."""
    model = KneserNey([i for text in told for i in text], order, len(english))
    return -torch.cat([model.log_probabilities(text)[1:] for text in asked]).mean().item()


counting = min(nats_by_counting(order) for order in (2, 3, 4))
test = BucketedBatches(*spelt(test_words), batch_size=256)
languages = evaluate(linguist, test, F.cross_entropy, {"right": metrics.accuracy})["right"]
writing = evaluate(writer, [(seq2seq.shift(new_rows), new_rows)], seq2seq.sequence_loss)["loss"]

# %% [markdown]
# (claim-tr-11)=

# %% tags=["evidence"]
layers = [
    sum(p.numel() for p in kind(512, 8, 2048).parameters())
    for kind in (nn.TransformerEncoderLayer, nn.TransformerDecoderLayer)
]
claim(
    "tr-11",
    "Yes, if no decoder sees a source: one block names {languages:.0%} of the languages and beats counting by {nats:.2f} nats; cross-attention takes {more:.0%} more weights.",
    languages=languages,
    nats=counting - writing,
    more=layers[1] / layers[0] - 1,
    holds=lambda languages, nats, more: languages > 0.4 and nats > 0.05 and 0.2 < more < 0.5,
    scale="twelve languages; short English sentences; weights of the paper's blocks, counted",
)

# %% [markdown]
# A decoder without a source is an encoder with a causal mask. One with a source has a third sublayer, cross-attention, that neither of the others has.
#
# What does the writer write if we sample each next word from its probabilities? Its state holds the keys and values of all words so far, so each step computes only one symbol.

# %%
chance = torch.Generator().manual_seed(0)


def one_step(symbol: torch.Tensor, state) -> tuple[torch.Tensor, object]:
    """Go on by one symbol. Shapes: (B,) to logits (B, V)."""
    logits, state = writer.model(symbol[:, None], state)
    return logits[:, -1], state


_ = writer.eval()
drawn = partial(sample, generator=chance)
written = generate(one_step, None, torch.full((200,), BOS), 12, drawn, end=EOS)
invented = {" ".join(english.decode(row)) for row in written} - {text for text, _ in task.train}

# %% tags=["evidence"]
observe(
    "Of 200 texts that it samples, {new} are not in its training set, such as *{one}* or *{other}*.",
    new=len(invented),
    one=sorted(invented)[0],
    other=sorted(invented)[-1],
    holds=len(invented) > 80,
)

# %% [markdown]
# New doesn't mean good: some of them are not sentences. Words drawn at random would be new every time.
#
# What do its heads attend to? For each head we measure the mean weight on the word itself, on the words before it, and on BOS.

# %% tags=["evidence"]
fed = seq2seq.shift(new_rows)
with torch.no_grad():
    _, _, weights = writer.model(fed, need_weights=True)  # (B, L, h, T, T)
weights = weights.flatten(1, 2)  # (B, heads, T, T)
late = (new_rows != PAD) & (torch.arange(fed.shape[1]) >= 4)  # has four symbols before it


def mean_weight(back: int) -> torch.Tensor:
    """Mean weight of each head on the symbol that many positions back. Returns (heads,)."""
    there = weights.diagonal(offset=-back, dim1=-2, dim2=-1)  # (B, heads, T - back)
    kept = late[:, back:]
    return (there * kept[:, None]).sum(dim=(0, 2)) / kept.sum()


on_first = (weights[..., 0] * late[:, None]).sum(dim=(0, 2)) / late.sum()
places = torch.stack([*(mean_weight(back) for back in range(4)), on_first], dim=1)  # (heads, 5)

# %% tags=["evidence"] mystnb={"figure": {"caption": "No head attends to one position only: mean weight of each of the writer's eight heads. The rest of the weight goes to words further back.", "name": "fig-writer-heads"}, "image": {"alt": "A table of colours with eight rows for the heads and five columns: itself, one back, two back, three back, BOS. Most rows are spread out over several columns."}}
where = ["itself", "1 back", "2 back", "3 back", "BOS"]
rows = [f"{i // 4 + 1}.{i % 4 + 1}" for i in range(8)]
names = {"rows": rows, "columns": where, "annotate": True}
heat_map(places, xlabel="attends to", ylabel="block and head", **names)
plt.show()

# %% [markdown]
# In large models some heads attend to the previous word, and to little else {cite}`voita2019analyzing,clark2019what`. In a model as small as ours, the work is shared. And the model that names languages? We measure how much weight the last three letters of a word get, in words of eight letters or more.

# %% tags=["evidence"]
ids, lengths = pad(spelt([word for word in test_words if len(word.text) >= 8])[0])
with torch.no_grad():
    _, weights = linguist.eval()(ids, lengths, need_weights=True)  # (B, L, h, T, T)
real = torch.arange(ids.shape[1]) < lengths[:, None]  # (B, T)
received = (weights.mean(dim=(1, 2)) * real[..., None]).sum(dim=1) / lengths[:, None]  # (B, T)
at_end = real & (torch.arange(ids.shape[1]) >= lengths[:, None] - 3)
on_end, evenly = (received * at_end).sum(dim=1).mean().item(), (3 / lengths).mean().item()
observe(
    "The last three letters get {on_end:.0%} of the weight; if all letters got the same, it would be {evenly:.0%}.",
    on_end=on_end,
    evenly=evenly,
    holds=on_end > 1.1 * evenly,
)

# %% [markdown]
# Perhaps the endings give a language away. But weight doesn't mean use, as Day 5 showed.
#
# The writer has no sinusoids. Each position has a learned vector of its own, which started at random. Has the model found out that 3 is next to 4?

# %% tags=["evidence"] mystnb={"figure": {"caption": "Neighbouring positions have learned similar vectors: cosines between the vectors of the first nine positions.", "name": "fig-learned-positions"}, "image": {"alt": "A square map of nine by nine cells with ones on the diagonal. Towards the end of the sentence the cells next to the diagonal are high; nearer the beginning they are mixed. The corners far from the diagonal are low."}}
learned = writer.model.stack.embedding.positions.table.detach()[:9]  # no sentence is longer
alike = F.cosine_similarity(learned[:, None], learned[None], dim=-1)
heat_map(alike, xlabel="position", ylabel="position", annotate=True, signed=True)
plt.show()

# %% tags=["evidence"]
beside, far = alike.diagonal(1)[1:].mean().item(), alike.diagonal(4)[1:].mean().item()
observe(
    "Neighbouring positions have a cosine of {beside:.2f} on average, and positions four apart one of {far:.2f}.",
    beside=beside,
    far=far,
    holds=beside > far + 0.1,
)

# %% [markdown]
# Nothing in the table tells the model that its rows have an order. It learned that from the sentences.

# %% [markdown]
# ## Exercises
#
# *180 minutes.* Which of these eleven would you like to write? PAD is always 0. The solutions are on [a page of their own](../solutions/06_transformer.ipynb).
#
# ```{exercise} From sentences to a shifted batch
# :label: exercise-shifted-target
#
# *Warm-up, 6 minutes.* The lesson shifts a rectangle of ids. Here, start from a batch of sentences (lists of ids, of different lengths). Return the decoder's input, which starts with `BOS` = 1, and its target, which ends with `EOS` = 2. Pad both on the right with
# `PAD` = 0, the input wherever the target is padded. ([Solution](../solutions/06_transformer.ipynb#solution-shifted-target))
# ```


# %%
def shifted(targets):
    """Turn lists of ids into the decoder's input (B, T) and its target (B, T)."""
    raise NotImplementedError


check("shifted_target", shifted)

# %% [markdown]
# ```{exercise} Sinusoids as they were run
# :label: exercise-tensor2tensor-positions
#
# *Core, 15 minutes.* The code that the paper's authors ran {cite}`vaswani2018tensor` doesn't do what the paper says. There are
# $n = \lfloor d_\text{model} / 2 \rfloor$ wavelengths, from $2\pi$ to $10\,000 \cdot 2\pi$, **both ends included**, each one larger than the last by the same factor. **All
# sines come first, then all cosines**. If the width is odd, the last column of the input stays as it is. Add these positions to a
# sequence whose first symbol is at position `start`. The width is at least 4.
# ([Solution](../solutions/06_transformer.ipynb#solution-tensor2tensor-positions))
# ```


# %%
def add_waves(x: torch.Tensor, start: int) -> torch.Tensor:
    """Shapes: x (B, T, d_model); returns the same shape."""
    raise NotImplementedError


check("tensor2tensor_positions", add_waves)

# %% [markdown]
# ```{exercise} Padding on the left
# :label: exercise-left-padding
#
# *Core, 15 minutes.* Texts that a decoder-only model should continue are best padded **on the left**: then they all end at the last position, and grow
# together. But a text's first symbol still has position 0. Embed such a batch as the paper does: the symbol's row times
# $\sqrt{d_\text{model}}$, plus the position's row. The padding should get zeros.
# ([Solution](../solutions/06_transformer.ipynb#solution-left-padding))
# ```


# %%
def embed(ids: torch.Tensor, symbols: torch.Tensor, positions: torch.Tensor) -> torch.Tensor:
    """Return (B, T, D).

    Shapes: ids (B, T), with PAD before each text; the tables of symbols (V, D) and of positions
    (max_len, D), where max_len is at least T.
    """
    raise NotImplementedError


check("left_padding", embed)

# %% [markdown]
# ```{exercise} Sandwich norm
# :label: exercise-sandwich-norm
#
# *Core, 15 minutes.* A norm can go elsewhere, too. In the **sandwich** {cite}`ding2021cogview`, each sublayer $f$ has one before
# it and one after it, and the free path stays free:
#
# $$
# x \leftarrow x + \operatorname{LN}(f(\operatorname{LN}(x))).
# $$
#
# Run all sublayers in this way, one after another. As in a pre-norm model, one more norm follows the last of them. Here layer norm is `F.layer_norm(x, x.shape[-1:])`, without
# gain and bias. ([Solution](../solutions/06_transformer.ipynb#solution-sandwich-norm))
# ```


# %%
def sandwich(x: torch.Tensor, sublayers: list) -> torch.Tensor:
    """Shapes: x (B, T, D), which each sublayer, a function of such an x, keeps; returns the same."""
    raise NotImplementedError


check("sandwich_norm", sandwich)

# %% [markdown]
# ```{exercise} SwiGLU
# :label: exercise-swiglu
#
# *Core, 10 minutes.* Day 3's gates are back {cite}`shazeer2020glu`. In a **SwiGLU** layer, one product of $x$ goes through
# $\operatorname{SiLU}(u) = u\,\sigma(u)$ and is multiplied by a second one, number by number:
#
# $$
# W_\text{down} \big( \operatorname{SiLU}(W_\text{gate}\, x) \odot W_\text{up}\, x \big) .
# $$
#
# Write it. Now there are three matrices instead of two. How wide is the hidden layer if there are as many weights as in a plain layer with a hidden width of 3072?
# ([Solution](../solutions/06_transformer.ipynb#solution-swiglu))
# ```


# %%
def swiglu(x, W_gate, W_up, W_down) -> torch.Tensor:
    """Shapes: x (B, T, D), W_gate and W_up (F, D), W_down (D, F); returns (B, T, D)."""
    raise NotImplementedError


check("swiglu", swiglu)

# %% [markdown]
# ```{exercise} Predict: when all pairs cost most
# :label: exercise-pairs-against-feed-forward
#
# *Core, 5 minutes.* A block is 512 wide, and its feed-forward layer has 2048 hidden units. In short texts, attention costs little. At what length $T$ do the two products over **all pairs** (the scores,
# and the weighted values; without the projections) cost as many operations as the feed-forward layer?
# ([Solution](../solutions/06_transformer.ipynb#solution-pairs-against-feed-forward))
# ```

# %%
my_length = None

check("pairs_against_feed_forward", my_length)

# %% [markdown]
# ```{exercise} Prefix language model: the mask
# :label: exercise-prefix-mask
#
# *Core, 15 minutes.* A source and its target can share one sequence, and one stack can read both. In a **prefix** model {cite}`raffel2020exploring` the first symbols, as many as
# `prefixes` says, are given: every position may see all of them, as in an encoder. After them, each position sees itself and what came before, as in a decoder. No position
# sees padding. Return the mask. What padded queries see doesn't matter; apply the same rule to them.
# ([Solution](../solutions/06_transformer.ipynb#solution-prefix-mask))
# ```


# %%
def prefix_mask(prefixes: torch.Tensor, lengths: torch.Tensor, T: int) -> torch.Tensor:
    """Return (B, T, T), one row per query, True where it may look.

    Shapes: prefixes (B,) and lengths (B,), the prefix included; padding comes last.
    """
    raise NotImplementedError


check("prefix_mask", prefix_mask)

# %% [markdown]
# ```{exercise} Label smoothing: a loss that can reach 0
# :label: exercise-smoothed-divergence
#
# *Core, 20 minutes.* With smoothed labels, the cross-entropy of a perfect model is not 0. The Kullback–Leibler divergence
# $\sum_k q(k) \log \frac{q(k)}{p(k)}$ is 0, because it is the cross-entropy minus the label's own entropy. And the share $s$ need not be spread
# evenly. {cite:t}`szegedy2016rethinking` let any distribution $u$ receive it:
#
# $$
# q(k) = (1 - s)\,[k = y] + s\, u(k).
# $$
#
# Let $u$ be each symbol's frequency in the training text. Return the mean divergence over all real symbols. In the formula, $0 \log 0 = 0$.
# ([Solution](../solutions/06_transformer.ipynb#solution-smoothed-divergence))
# ```


# %%
def smoothed_divergence(logits, target, real, prior, smoothing: float) -> torch.Tensor:
    """Return one number ().

    Shapes: logits (B, T, V), target (B, T), real (B, T) boolean, False for padding, prior (V,), the
    u of the formula: its numbers sum to 1, and some may be 0.
    """
    raise NotImplementedError


check("smoothed_divergence", smoothed_divergence)

# %% [markdown]
# ```{exercise} Warm-up and cosine decay
# :label: exercise-cosine-schedule
#
# *Core, 10 minutes.* The paper's learning rate falls as $1/\sqrt{\text{step}}$, for ever. If the number of steps is known, a cosine is more usual
# {cite}`loshchilov2017sgdr`. The rate rises linearly to `peak`, which it reaches at step `warmup`. From there half a cosine wave takes it down to `floor`, which it reaches at step `total` and keeps. Steps
# count from 1, and the line starts at 0, one step **before** the first.
# ([Solution](../solutions/06_transformer.ipynb#solution-cosine-schedule))
# ```


# %%
def rate(step: int, peak: float, warmup: int, total: int, floor: float) -> float:
    """Return the learning rate of a step; warmup is below total."""
    raise NotImplementedError


check("cosine_schedule", rate)

# %% [markdown]
# ```{exercise} Layer norm: the backward pass
# :label: exercise-layer-norm-gradient
#
# *Stretch, 25 minutes.* Layer norm is $y = g \odot \hat x + b$, with $\hat x = (x - \mu)/\sqrt{\sigma^2 + \varepsilon}$. Given the gradient of the loss with respect to $y$,
# work out those with respect to $x$, $g$ and $b$, first with a pencil, then in code, without autograd: the check switches it off. Each number of $x$ acts in three ways: by itself, through $\mu$, and through $\sigma$. Then explain why the gradient with respect to
# $x$ sums to 0 over the width.
# ([Solution](../solutions/06_transformer.ipynb#solution-layer-norm-gradient))
# ```


# %%
def layer_norm_gradient(x, gain, eps: float, grad_y) -> tuple:
    """Return the gradients with respect to x (B, T, D), the gain (D,) and the bias (D,).

    Shapes: x (B, T, D), gain (D,), grad_y (B, T, D).
    """
    raise NotImplementedError


check("layer_norm_gradient", layer_norm_gradient)

# %% [markdown]
# ```{exercise} Average checkpoints
# :label: exercise-checkpoint-average
#
# *Research, 45 minutes.* The paper's models are the mean of their last checkpoints {cite}`vaswani2017attention`. Given a list of checkpoints, oldest first, return the mean of the last few, parameter by parameter.
# Then train a small `transformer.DecoderOnly` on the texts of the next cell (here 0 is a symbol like any other, not PAD: use `F.cross_entropy`, and leave out the first two symbols, which can't be predicted; 16 texts of 24 symbols per step, 400 steps), at a constant rate of 0.01 and with fresh texts at each
# step. Save its parameters every 10 steps. How far above the texts' own surprise is the loss of the newest, of the mean of the last five, and of the mean of all? Is the mean's loss the mean of the losses? Explain why averaging helps, and when it
# doesn't. ([Solution](../solutions/06_transformer.ipynb#solution-checkpoint-average))
# ```


# %%
def average(checkpoints: list[list[torch.Tensor]], last: int) -> list[torch.Tensor]:
    """Return the means of the last checkpoints, which are lists of parameters, newest last."""
    raise NotImplementedError


check("checkpoint_average", average)

# %% [markdown]
# These are the texts. Each symbol depends on the one two positions before it, and on nothing else, so no model can do better than their surprise.

# %%
show_source(echo_texts)
