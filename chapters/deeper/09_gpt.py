# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Day 9, deeper: GPT: a model that writes
#
# What goes beyond the evening of [Day 9](../09_gpt.ipynb). The sections don't need each other: take those that you are curious about.

# %% tags=["setup"]
import convolution_to_attention  # is `utils` this book's?

import contextlib
import io
import math
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import torch

from utils.data.files import own_folder
from utils.exercises.gpt import check
from utils.language import GatedFeedForward, QKNormAttention, RMSNorm
from utils.language import gated_width as fair_width
from utils.language import load_gpt2, load_llama, stretch_slow
from utils.measure import experiments
from utils.measure.claims import claim
from utils.measure.costs import ring_bytes, ring_seconds
from utils.show.diagrams import arrow, box, brace, cells, label, note, sheet
from utils.show.display import observe, show_source, table
from utils.show.plotting import COLOURS, curves, use_book_style
from utils.tasks import copying, many_processes
from utils.tasks.generation import generate
from utils.tokens import read_byte_pairs
from utils.training import data_parallel
from utils.transformer import FeedForward
from utils.transformer.layers import ACTIVATIONS

use_book_style()

# %% [markdown]
# (deeper-parts)=
# ## What do today's parts do, one by one?
#
# *7 minutes.* **Which sizes does each part of today's block hold down, and what does it cost?** All of them are handed to Day 6's blocks. Nothing in those is written anew.

# %%
show_source(RMSNorm)

# %% [markdown]
# **RMS norm** {cite}`zhang2019root` leaves out the mean, and the bias. There is less to do, so is it faster? That depends on who wrote the kernel. For layer norm PyTorch has one kernel that does everything at once on a processor; for
# RMS norm it has none there, and the pieces run one after another. `make bench` times both on your machine.
#
# **SwiGLU** {cite}`shazeer2020glu` bends one product and lets it open or close the other.
#
# $$
# \operatorname{SwiGLU}(x) = W_\text{down}\,\big(\operatorname{SiLU}(W_\text{gate}\,x) \odot W_\text{up}\,x\big)
# $$ (eq-swiglu)
#
# Its three matrices cost as much as the plain layer's two if they are two thirds as wide. With $F = 4D$ that is the $8/3\,D$ of the lesson's picture.

# %% tags=["evidence"]
rows = []
for D in (96, 384, 4096):
    with torch.device("meta"):
        plain, gated = FeedForward(D, 4 * D, bias=False), GatedFeedForward(D, fair_width(4 * D))
    sizes = [sum(weight.numel() for weight in layer.parameters()) for layer in (plain, gated)]
    rows.append([D, 4 * D, fair_width(4 * D), *(f"{size:,}" for size in sizes)])
    assert 0 <= sizes[1] - sizes[0] < 3 * D
table(rows, ["D", "plain width", "gated width", "weights of the plain layer", "of the gated one"])

# %% [markdown]
# **What bends.** ReLU is 0 for half of all inputs. GELU and SiLU dip a little below 0 instead of breaking off. The square of ReLU {cite}`so2021searching` was found by a search through programs, and costs one product. GPT-2 takes the tanh for the exact GELU: nobody sees it in the picture, but its
# weights were trained with it.

# %% tags=["mechanism"] mystnb={"figure": {"caption": "What a hidden unit makes of its input: the activations of Day 6, of GPT-2 and of today.", "name": "fig-activations"}, "image": {"alt": "Four curves from minus 3 to 2. ReLU is 0 up to 0 and then a straight line. Squared ReLU is 0 up to 0, below ReLU up to 1 and above it from there on, 4 at 2. GELU and SiLU are near 0 far to the left, dip to minus 0.17 and minus 0.28, and approach ReLU on the right, GELU sooner."}}
u = torch.linspace(-3, 2, 101)
names = {"ReLU": "relu", "squared ReLU": "relu_squared", "GELU, by tanh": "gelu_tanh"}
names["SiLU"] = "silu"
shown = {name: (u, ACTIVATIONS[activation](u)) for name, activation in names.items()}
curves(shown, "input", "output")
plt.show()

# %% [markdown]
# **Normed queries and keys** {cite}`henry2020query,dehghani2023scaling`. A score is a product of lengths and a cosine. In long training at high rates lengths grow, a softmax of large scores is 1 at one place, and its gradient is 0 (Day 5). With an RMS norm on both, and gains of 1, no score exceeds $\sqrt{d_k}$.

# %% tags=["evidence"]
torch.manual_seed(0)
layer, x = QKNormAttention(96, 4, bias=False), torch.randn(1, 64, 96)
largest = {}
for factor in (1, 10, 100):
    with torch.no_grad():
        q, k, _ = layer.project(factor * x, None)
        plain_q, plain_k, _ = super(QKNormAttention, layer).project(factor * x, None)
    scores = [(a @ b.mT / 24**0.5).abs().max().item() for a, b in ((plain_q, plain_k), (q, k))]
    largest[factor] = scores

# %% tags=["evidence"]
observe(
    "Inputs 100 times as large: without the norms the largest score grows from {before:.1f} to {after:,.0f}. With them it stays at {normed:.1f}; √24 is 4.9.",
    before=largest[1][0],
    after=largest[100][0],
    normed=largest[100][1],
    holds=largest[100][0] > 5000 * largest[1][0] and largest[100][1] < 24**0.5 + 1e-3,
)

# %% [markdown]
# **No biases** is one argument, `bias=False`: a norm stands before each product and its gain stays. **The embedding** is not multiplied by $\sqrt{D}$ any more; its rows begin with a deviation of 0.02, so that the output that shares them begins near 0.


# %% [markdown]
# (deeper-real-thing)=
# ## Can your blocks run models that others trained?
#
# *8 minutes.* If our blocks are what we say they are, do published weights fit into them? GPT-2 {cite}`radford2019language` and Llama {cite}`touvron2023llama` are published as folders: `config.json` has the sizes, `model.safetensors` the weights, and two or three
# more files the tokens.
#
# A file of *safetensors* is a header, which says what lies where, and then numbers. Opening it runs nothing. The older `.bin` files are pickles, which are programs: whoever opens one runs it. The book opens none of those.
#
# | part | GPT-2 | Llama |
# | --- | --- | --- |
# | embedding | not multiplied by $\sqrt{D}$; it is the output, too | not multiplied; in small models it is the output, too |
# | positions | learned, up to 1,024 | rotary, in halves, often stretched |
# | norm | layer norm | RMS norm |
# | queries, keys, values | one matrix, `c_attn`, transposed | three matrices, with fewer heads of keys |
# | feed-forward layer | GELU by its tanh | SwiGLU |
# | biases | everywhere | nowhere |
#
# Each row is a trap, because a wrong choice gives no error. It gives a model that babbles. `c_attn` computes $x W$ where we compute $W x$, so it has to be transposed.

# %% tags=["mechanism"] mystnb={"figure": {"caption": "GPT-2's `c_attn` for a width of 2, as it is published, and the rows of our W_in.", "name": "fig-c-attn"}, "image": {"alt": "Left, the weight of c_attn: two rows and six columns, in pairs of columns named queries, keys, values. An arrow leads to its transpose, W_in: six rows and two columns, in pairs of rows with the same names."}}
ax = sheet(6.2)
for i, role in enumerate(("query", "key", "value")):
    published = [[f"{side}{role[0]}{j}" for j in "12"] for side in "ab"]
    left = cells(ax, (0.9 + 2.1 * i, 2.2), published, role=role, weights=0.8)
    columns = [list(column) for column in zip(*published, strict=True)]
    right = cells(ax, (10.2, 0.5 + 1.7 * i), columns, role=role, weights=0.8)
    brace(ax, left, "bottom", ("queries", "keys", "values")[i])
    brace(ax, right, "right", ("queries", "keys", "values")[i])
arrow(ax, (7.4, 3.05), (10.0, 3.05))
note(ax, (4.05, 1.6), "weight of c_attn")
note(ax, (8.7, 2.6), "transposed")
note(ax, (11.25, 5.9), "W_in")
plt.show()

# %% [markdown]
# Llama's rotary positions turn the first half of a head's numbers with the second (Exercise 5.17). So either the rows of $W_q$ and $W_k$ are put side by side when they are read, or the other pairs are turned. `load_llama` turns the other pairs, and Exercise 9.8 asks for the rows.

# %% tags=["mechanism"] mystnb={"figure": {"caption": "The six rows of W_q that make one head: Llama's pairs, a with a, b with b, c with c, and the order in which `Rotary` finds the same pairs.", "name": "fig-halves"}, "image": {"alt": "Above, six cells a b c a' b' c' in one row; below, a a' b b' c c'. Arrows lead from each cell to its new place; the first and the last stay."}}
ax = sheet(5.0)
rows = ["a", "b", "c", "a'", "b'", "c'"]
shades = [1, 0.6, 0.2]
above = cells(ax, (3.6, 0.7), [rows], role="key", weights=[shades * 2], size=(1.7, 0.9))
order = [0, 3, 1, 4, 2, 5]
pairs = [[rows[i] for i in order]]
below = cells(
    ax, (3.6, 3.3), pairs, role="key", weights=[[shades[i % 3] for i in order]], size=(1.7, 0.9)
)
for place, i in enumerate(order):
    arrow(ax, above[0, i].at("bottom"), below[0, place].at("top"))
label(ax, above, "left", "halves")
label(ax, below, "left", "neighbours")
plt.show()

# %% [markdown]
# Do they fit? `transformers` {cite}`wolf2020transformers` is the reference. Nothing can be fetched here, so it makes a small random model of each kind and saves it as the large ones are saved. The book reads that folder.


# %% tags=["evidence"]
def published(kind: str, folder: Path) -> torch.nn.Module:
    """Let the reference save a small random model in a folder; return it."""
    import transformers

    torch.manual_seed(0)
    sizes = {"vocab_size": 64, "bos_token_id": 1, "eos_token_id": 2}
    if kind == "gpt2":
        config = transformers.GPT2Config(n_embd=32, n_head=4, n_layer=3, n_positions=64, **sizes)
        model = transformers.GPT2LMHeadModel(config)
    else:
        heads = {"num_attention_heads": 4, "num_key_value_heads": 2, "num_hidden_layers": 3}
        config = transformers.LlamaConfig(hidden_size=32, intermediate_size=88, **heads, **sizes)
        model = transformers.LlamaForCausalLM(config)
    with contextlib.redirect_stderr(io.StringIO()):  # it reports its progress
        model.double().eval().save_pretrained(folder)
    return model


# %% tags=["evidence"]
found = {}
ids = torch.randint(64, (3, 40), generator=torch.Generator().manual_seed(0))
for kind, load in (("gpt2", load_gpt2), ("llama", load_llama)):
    with tempfile.TemporaryDirectory() as folder, torch.no_grad():
        theirs, ours = published(kind, Path(folder)), load(folder, torch.float64)
        expected = theirs(ids).logits
        found[kind] = ((ours(ids)[0] - expected).abs().max() / expected.abs().max()).item()
observe(
    "Logits of three blocks, beside the reference's: GPT-2's agree to {gpt2:.0e} of the largest, Llama's to {llama:.0e}, since the reference computes its norms and angles in single precision.",
    **found,
    holds=found["gpt2"] < 1e-12 and found["llama"] < 1e-6,
)

# %% [markdown]
# **Longer texts than the training's.** A wave that has not gone round once in training has never been seen at its later angles. {cite:t}`chen2023extending` slow all waves by the same factor, so that far positions look like near ones. Llama 3.1 {cite}`grattafiori2024llama` slows only the slow ones and leaves the fast ones, which tell neighbours apart, as they are.

# %% tags=["mechanism"] mystnb={"figure": {"caption": "By how much Llama 3.1 slows a wave, by how often it turns in the 8,192 positions of the training. The horizontal axis is logarithmic.", "name": "fig-stretch"}, "image": {"alt": "A curve. Waves with less than one turn are slowed by 8. Between one turn and four the factor falls to 1, and there it stays."}}
turns = torch.logspace(-2, 3, 201, dtype=torch.float64)
waves = 2 * math.pi * turns / 8192
slowed = stretch_slow(waves, factor=8.0, low=1.0, high=4.0, context=8192)
curves({"": (turns, waves / slowed)}, "turns in training", "slowed by", logx=True)
plt.show()

# %% [markdown]
# Now the real ones. Put a folder `gpt2` or `llama`, with the files as they are published, into a folder that `BOOK_DATA` names.


# %% tags=["nbval-ignore-output"]
def continued(folder, load, beginning, n=40):
    """Let a published model go on with a text."""
    model, tokens = load(folder), read_byte_pairs(folder)
    ids = torch.tensor([tokens.encode(beginning)])
    generator = torch.Generator().manual_seed(0)
    written = generate(model, ids, n, tau=0.8, p=0.95, generator=generator)
    return beginning + tokens.decode(written[0])


for kind, load in (("gpt2", load_gpt2), ("llama", load_llama)):
    own = own_folder()
    if own and (own / kind).is_dir():
        print(f"{kind}:", continued(own / kind, load, "The cat sat on the"))
    else:
        print(f"{kind}: not tried here")

# %% [markdown]
# What the book does not read it says in a sentence: a pickle, a file that is cut short, weights that are missing or left over or of another shape, an option of the config that makes another model. Llama 2's tokens are no byte pairs, so that model is read, and its text is not.

# %% [markdown]
# ```{exercise} From halves to neighbours
# :label: exercise-9-8
#
# *Stretch, 12 minutes.* Reorder the rows of a published $W_q$ and $W_k$ so that the book's `Rotary`, which turns neighbours, makes the same scores. In each head, pair $i$ is $(i, i + d_k/2)$ in what is given, and $(2i, 2i + 1)$ in what you return. There may be fewer heads of keys than of queries.
# ([Solution](../solutions/09_gpt.ipynb#solution-9-8))
# ```


# %%
def neighbouring_pairs(
    W_q: torch.Tensor, W_k: torch.Tensor, W_v: torch.Tensor, n_heads: int, n_kv_heads: int
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Shapes: W_q (h·d_k, D), W_k and W_v (n_kv_heads·d_k, D); returns three of the same."""
    raise NotImplementedError


check("9.8", neighbouring_pairs)

# %% [markdown]
# ```{exercise} Three matrices out of one
# :label: exercise-9-9
#
# *Core, 8 minutes.* GPT-2 computes `x @ weight + bias`, with a `weight` $(D, 3D)$, and cuts the result in thirds: queries, keys, values. Return $W_q, b_q, W_k, b_k, W_v, b_v$ for queries $W_q x + b_q$.
# ([Solution](../solutions/09_gpt.ipynb#solution-9-9))
# ```


# %%
def from_c_attn(weight: torch.Tensor, bias: torch.Tensor) -> tuple[torch.Tensor, ...]:
    """Shapes: weight (D, 3·D), bias (3·D,) to three times (D, D) and (D,)."""
    raise NotImplementedError


check("9.9", from_c_attn)

# %% [markdown]
# (deeper-machines)=
# ## What if one machine is too slow?
#
# *7 minutes.* What if two share the work? In **data-parallel** training each process has the whole model and a share of each batch, its **shard**. Each computes the gradient of its own shard; then they send each other their gradients, and all take the
# same step with the mean {cite}`li2020pytorch`. The weights stay equal, and nobody ever sends them. A process is known by its number, its **rank**.

# %% tags=["mechanism"] mystnb={"figure": {"caption": "One step of two processes. Eight examples are dealt out in turn, and both end with the weights that one process would have.", "name": "fig-two-processes"}, "image": {"alt": "On the left a column of eight cells, the examples 0 to 7. Arrows lead to two rows: rank 0 gets 0, 2, 4, 6 and rank 1 gets 1, 3, 5, 7. In each row follow a box, weights, and a box, gradient. From both gradients arrows lead to one box, their mean, and from there back to both weights."}}
ax = sheet(7.4)
batch = cells(ax, (0.9, 0.5), [[n] for n in range(8)], role="key", weights=0.5, size=(0.9, 0.8))
mean = box(ax, (12.9, 2.9), "their\nmean", (2.3, 1.6), role="gradient")
for rank, y in ((0, 1.2), (1, 5.0)):
    shard = [list(range(rank, 8, 2))]
    mine = cells(ax, (3.2, y), shard, role="key", weights=0.5, size=(0.7, 0.8))
    weights = box(ax, (6.9, y - 0.1), "weights", (2.2, 1.0), role="state")
    gradient = box(ax, (10.0, y - 0.1), "gradient", (2.4, 1.0), role="gradient")
    note(ax, (mine.middle[0], y - 0.5 if rank == 0 else y + 1.3), f"rank {rank}", weight="bold")
    arrow(ax, batch.at("right"), mine.at("left"))
    arrow(ax, mine.at("right"), weights.at("left"))
    arrow(ax, weights.at("right"), gradient.at("left"))
    side = "bottom" if rank == 0 else "top"
    arrow(ax, gradient.at("right"), mean.at("top" if rank == 0 else "bottom"))
    arrow(ax, mean.at("left"), weights.at(side), dashed=True)
note(ax, (8.6, 3.7), "the same step for both")
plt.show()

# %% [markdown]
# Nothing here is of our making: `DistributedDataParallel` is PyTorch's, and sends the gradients of the last layers while the backward pass is still busy with the first. `gloo` carries them between processors, `nccl` between GPUs. The book's part is what surrounds
# it: `fit` is the one of Day 0, each process is handed its shard, and the losses that it stores are those of the whole batch.

# %%
show_source(data_parallel.shard)

# %%
show_source(data_parallel.over_whole)

# %% [markdown]
# The number of examples is not always even. With shards of 7 and 2, a mean of the two means would let an example in the small shard count three and a half times as much. So each process multiplies its loss by its share of the examples, `weight`.
# How much is at stake? We take the gradient of nine pieces of text, whole and by shards.

# %%
model, rows = many_processes.writer(), many_processes.windows("train", 9)


def gradient(rows: torch.Tensor) -> torch.Tensor:
    """All numbers of the gradient of the mean loss, one behind the other."""
    loss = many_processes.loss(model(rows[:, :-1]), rows[:, 1:])
    return torch.cat([g.flatten() for g in torch.autograd.grad(loss, [*model.parameters()])])


whole, large, small = gradient(rows), gradient(rows[:7]), gradient(rows[7:])
alike = ((large + small) / 2 - whole).norm() / whole.norm()
weighed = ((7 * large + 2 * small) / 9 - whole).norm() / whole.norm()

# %% tags=["evidence"]
observe(
    "The mean of the two gradients is off from the whole batch's by {alike:.0%} of its size. Each weighted by its share of the examples, they are off by {weighed:.0e}.",
    alike=alike,
    weighed=weighed,
    holds=alike > 0.05 and weighed < 1e-5,
)

# %% [markdown]
# And do two processes go the way of one? A stored experiment takes 20 steps of Day 9's GPT in double precision: one process with batches of 32 pieces, and two with 16 each.

# %% tags=["evidence"] mystnb={"figure": {"caption": "Losses of 20 steps of one process and of two, which share each batch (stored experiment `two_processes`).", "name": "fig-two-losses"}, "image": {"alt": "Two curves that lie on each other: the loss falls within 20 steps."}}
stored = experiments.load("two_processes")
(one,), (two,) = (stored.column("losses", processes=n) for n in (1, 2))
lines = {"one process": (range(1, 21), one), "two processes": (range(1, 21), two)}
curves(lines, "step", "loss (nats per token)")
plt.show()

# %% [markdown]
# (claim-gpt-5)=

# %% tags=["evidence"]
claim(
    "gpt-5",
    "Yes, if each example counts alike: 20 losses differ by {most:.0e}. Where shards of 7 and 2 count alike, the gradient is {off:.0%} off.",
    most=max(abs(a - b) for a, b in zip(one, two)),
    off=alike.item(),
    holds=lambda most, off: most < 1e-9 and off > 0.05,
    scale="Day 9's GPT, 20 steps of 32 pieces in float64, two processes with gloo on one machine; no dropout",
    experiment="two_processes",
)

# %% [markdown]
# *Up to rounding* is as exact as it gets, since sums of floating-point numbers depend on their order. Dropout takes its lots from each process's own generator, and a layer that mixes examples, as BatchNorm does, sees only its shard: there the two ways part.
#
# Is it faster? Each process does half of the work. What is added is the sending.

# %% tags=["evidence"]
own = {row["processes"]: row["processor seconds per step"] for row in stored.rows}
sent = ring_bytes(stored.rows[0]["bytes of gradients"], 2)
observe(
    "Per step, one process works {alone:.0f} ms, and two work {shared:.0f} ms each. For that, each sends {sent:.1f} MB.",
    alone=1000 * own[1],
    shared=1000 * own[2],
    sent=sent / 1e6,
    holds=own[2] < 0.8 * own[1],
)

# %% [markdown]
# That is processor time, on a machine that others used as well; how much of it you save by the clock depends on your cores and cables.
#
# **On paper: 8 GPUs, and 1,000.** In a **ring**, each process sends only to its neighbour {cite}`patarasuk2009bandwidth`. The gradients are cut into $n$ parts. For $n - 1$ steps the parts travel and are added up on the way, for another $n - 1$ the sums go round. So each process sends $2 (n - 1)/n$ times the gradients, *hardly more
# for 1,000 processes than for 8*. We take the smallest GPT-2, with 124 million parameters $N$ {cite}`radford2019language`, and $6 N$ operations for a token's forward and backward pass. The rest is assumed, in round numbers: 16,384 tokens per GPU and step, a GPU that does 200 TFLOP/s, links of 100 GB/s within a machine and 25 GB/s between machines, and 10 µs for a step of the ring.

# %%
N = 124e6
compute = 6 * N * 16_384 / 200e12  # seconds of a GPU's own work
rows = []
for n, bandwidth in ((8, 100e9), (1000, 25e9)):  # bytes per second
    around = ring_seconds(4 * N, n, bandwidth, latency=1e-5)
    rows.append([n, ring_bytes(4 * N, n) / 1e9, 1000 * around, 1000 * compute])

# %% tags=["evidence"]
table(
    [
        [
            f"{n:,}",
            f"{gb:.2f}",
            f"{ms:.0f}",
            f"{own:.0f}",
            f"{own / (own + ms):.0%} to {own / max(own, ms):.0%}",
        ]
        for n, gb, ms, own in rows
    ],
    ["GPUs", "GB sent by each", "ring (ms)", "own work (ms)", "busy with own work"],
)

# %% [markdown]
# The last column's first number is for a ring that waits for the backward pass, the second for one that runs beside it. At 1,000 GPUs the ring's 1,998 small steps cost half as much time as its bytes, so real clusters reduce within a machine first. But the other limit is closer: 1,000 GPUs read 16 million tokens per step, and
# a batch can get so large that a step is no better for it. That is not a question of bytes.
#
# **If it is stopped.** Rank 0 writes `fit`'s checkpoint after each epoch. If you kill both processes in the middle, the same command goes on from it, and ends with the same weights, to the last bit: a test of this book does just that. `make train PROCESSES=2` is the command; the README has the one for several machines. GPUs were
# not tried here: there was none.

# %% [markdown]
# ```{exercise} The gradient of the whole batch
# :label: exercise-9-10
#
# *Core, 7 minutes.* Each process has the gradients of its shard's mean loss. Return those of the mean loss over all examples, parameter by parameter. The shards may be of different sizes; a process that got no example has computed on a borrowed one, which must not count.
# ([Solution](../solutions/09_gpt.ipynb#solution-9-10))
# ```


# %%
def whole_gradient(gradients, sizes):
    """Lists of gradients, one list per process, and the number of examples of each, to one list."""
    raise NotImplementedError


check("9.10", whole_gradient)

# %% [markdown]
# (deeper-induction)=
# ## How does it copy from its context?
#
# *9 minutes.* *… the Kaplan–Meier estimator … a Kaplan–*: what comes next? You need not know the word. Look for where the last piece stood before, and read on there. A head that does so is called an **induction head** {cite}`olsson2022context`; on
# [Day 5](../05_self_attention.ipynb) you built a perfect one by hand. It needs two blocks. In the first, a head writes into each position what stood *before* it. In the second, a head looks for positions that say "before me stood the present symbol", and fetches what they hold.

# %% tags=["mechanism"] mystnb={"figure": {"caption": "How an induction head finds what comes next. Block 1 notes the symbol before; block 2 looks for the note that names the present symbol.", "name": "fig-induction"}, "image": {"alt": "A row of seven cells: K, A, D, Q, M, A and a question mark. Below each stands the symbol before it: under A stands K, under D stands A, and so on. An arrow goes from the second A down and back to the A under D, and a bow above leads from D to the question mark, which is to become D."}}
ax = sheet(6.4)
symbols, before = ["K", "A", "D", "Q", "M", "A", "?"], ["", "K", "A", "D", "Q", "M", "A"]
lit = [[0.1, 0.1, 0.9, 0.1, 0.1, 0.6, 0.9]]
text = cells(ax, (3.4, 1.9), [symbols], role="value", weights=lit, size=(1.6, 0.9))
found = [[0.1, 0.1, 0.9, 0.1, 0.1, 0.1, 0.1]]
notes = cells(ax, (3.4, 4.3), [before], role="key", weights=found, size=(1.6, 0.9))
note(ax, (0.2, 2.35), "the text", align="left", weight="bold")
note(ax, (0.2, 4.75), "before it", align="left", weight="bold")
arrow(ax, text[0, 5].at("bottom"), notes[0, 2].at("top"), role="query")
arrow(ax, text[0, 2].at("top"), text[0, 6].at("top"), role="value", bend=0.22)
note(ax, (9.0, 5.8), "block 1 writes the lower row; block 2 asks it who has an A before it")
plt.show()

# %% [markdown]
# Does training find this? We let small GPTs with two blocks and four heads in each read sequences of 48 symbols in which a random segment of 12 to 24 symbols comes again and again. Where the segment is new, nothing can be known: 64 symbols, $\ln 64 = 4.16$ nats. Where it comes again, the context says it all. The heads see near
# symbols more easily than far ones (Day 6's ALiBi).
#
# How much does a head look like an induction head? Its **prefix-matching score** is its mean weight on what followed the present symbol before.

# %% [markdown]
# ```{exercise} The prefix-matching score
# :label: exercise-9-11
#
# *Core, 9 minutes.* Compute it for one head's maps. A position whose symbol was never there before has nothing to find, and doesn't count. Of several earlier places, the weights on what followed them are summed up.
# ([Solution](../solutions/09_gpt.ipynb#solution-9-11))
# ```


# %%
def prefix_matching(weights, ids):
    """Shapes: causal weights (B, T, T), a row for each query, and ids (B, T), to one number."""
    raise NotImplementedError


check("9.11", prefix_matching)

# %% tags=["evidence"]
heads = experiments.load("induction")
steps = range(0, heads.parameters["steps"] + 1, 100)


def by_step(column: str, layers: int) -> list[list[float]]:
    """A curve for each seed."""
    return heads.column(column, layers=layers)


# %% tags=["evidence"] mystnb={"figure": {"caption": "Small GPTs learn to copy. Left: loss where a segment is new and where it comes again, with two blocks and with one. Right: the best prefix-matching score of a head. Means and ranges of three seeds (stored experiment `induction`).", "name": "fig-copying"}, "image": {"alt": "Two diagrams over 2,000 steps. Left: the loss of new segments stays near 4.2. With two blocks the loss of repeated segments falls slowly to about 3.5, then steeply to below 1 within a few hundred steps; with one block it stays above 3. Right: with two blocks the best score stays below 0.1 and then jumps to about 0.8 at the same steps; with one block it stays below 0.1."}}
figure, (left, right) = plt.subplots(1, 2, figsize=(6.4, 3.4))
lines = {
    "new": (steps, by_step("new", 2)),
    "again, two blocks": (steps, by_step("again", 2)),
    "again, one block": (steps, by_step("again", 1)),
}
curves(lines, "step", "loss (nats)", ax=left)
left.set_ylim(0, 5)
scores = {
    "two blocks": (steps, by_step("best score", 2)),
    "one block": (steps, by_step("best score", 1)),
}
curves(scores, "step", "best prefix-matching score", ax=right)
right.set_ylim(0, 1)
plt.show()

# %% [markdown]
# For some hundred steps little happens. Then, within two or three hundred, heads of the second block begin to match prefixes, and at the same steps the loss falls. With one block neither happens. That is the picture that Olsson et al. saw in large models. But two curves that move together are not yet a cause. So we **silence**
# heads: what a head says is replaced, at each position, by its mean over many sequences. Nothing of this text is then left in it.

# %%
show_source(copying.silenced)

# %% [markdown]
# We tell three kinds of heads apart by what they look at in the end: the **induction heads**, whose score is above 0.3; their **helper**, which is the head of the first block that looks most at the symbol before; and the rest. Each kind is silenced in the models of all steps, also of those before the heads had formed.

# %% tags=["evidence"] mystnb={"figure": {"caption": "Loss where a segment comes again, with all heads and with one kind of heads silenced, at each hundredth step. Means and ranges of three seeds (stored experiment `induction`).", "name": "fig-silenced"}, "image": {"alt": "Four curves over 2,000 steps. Up to about step 700 all lie near 4. Then the loss with all heads falls below 1, and that without the rest falls as well, a little less; those without the induction heads and without the helper rise above 4 and stay there."}}
lines = {"all heads": (steps, by_step("again", 2))} | {
    f"without {kind}": (steps, by_step(f"without {kind}", 2))
    for kind in ("the rest", "induction heads", "the helper")
}
ax = curves(lines, "step", "loss where it comes again (nats)")
ax.set_ylim(0, 8)
plt.show()

# %% tags=["evidence"]
rows = heads.select(layers=2)
found = [row["induction heads"] for row in rows]
early = max(abs(row["without induction heads"][5] - row["again"][5]) for row in rows)


# %% tags=["evidence"]
def in_the_end(column: str, layers: int = 2) -> float:
    """Mean over the seeds of what a curve ends with."""
    ends = [row[column][-1] for row in heads.select(layers=layers)]
    return sum(ends) / len(ends)


# %% tags=["evidence"]
kinds = {"usual": "again", "without": "without induction heads"}
kinds |= {"helper": "without the helper", "rest": "without the rest"}
ended = {name: in_the_end(column) for name, column in kinds.items()}
lost = min(ended["without"], ended["helper"])
observe(
    "{least} or {most} of 8 heads are induction heads. Without them the loss in the end rises from {usual:.2f} to {without:.1f} nats, without their one helper to {helper:.1f}, without the rest to {rest:.2f}. At step 500, when they have not formed, it makes a difference of {early:.2f}.",
    least=min(found),
    most=max(found),
    early=early,
    **ended,
    holds=min(found) >= 1 and lost > 4 and ended["rest"] < 2 and early < 0.3,
)

# %% [markdown]
# Without its heads the model is worse than one that knows nothing ($\ln 64 = 4.16$): it has come to rely on them, and says wrong things with confidence. Silencing as many heads *at random* would mislead us, by the way. In a draw that happens to hold the helper, all is lost; in the other draws, hardly anything.

# %% tags=["evidence"]
draws = [loss for row in rows for loss in row["draws"]]
lost = [loss for loss in draws if loss > 4]
kept = [loss for loss in draws if loss <= 4]
observe(
    "Of {n} draws of as many others, {lost} bring the loss above 4 nats; in the remaining ones it is at most {most:.2f}.",
    n=len(draws),
    lost=len(lost),
    most=max(kept),
    holds=0 < len(lost) < len(draws) and max(kept) < 2,
)

# %% [markdown]
# And is *everything* that comes from the context the work of these heads? A model with one block has none. What it gains from the context is the difference between its losses on new and on repeated segments, and that isn't nothing: symbols that were there come again. And here copying is all there is to learn from a context, which in a language it is not.
#
# (claim-gpt-3)=

# %% tags=["evidence"]
claim(
    "gpt-3",
    "Yes, if the task is to copy: without these heads {usual:.1f} nats become {without:.1f}, without the rest {rest:.1f}. But one block, without any, gains {alone:.1f}.",
    usual=in_the_end("again"),
    without=in_the_end("without induction heads"),
    rest=in_the_end("without the rest"),
    alone=in_the_end("new", 1) - in_the_end("again", 1),
    holds=lambda usual, without, rest, alone: (
        usual < rest < 1.5 and 4 < without < 10 and 0 < alone < 2
    ),
    scale="random segments of 12 to 24 of 64 symbols; two blocks, four heads each; 2,000 steps; three seeds",
    experiment="induction",
)

# %% [markdown]
# (deeper-positions-loss)=
# ## What is more context worth?
#
# *3 minutes.* Each position of a text has more context than the one before it. Does that make its token easier to guess? A model's loss by position says so. A small GPT learns Day 7's text, character by character, in pieces of up to 512; the validation pieces overlap, so that all positions are asked about nearly the same text.

# %% tags=["evidence"] mystnb={"figure": {"caption": "Loss by position of a small GPT on characters, mean and range of three seeds (stored experiment `loss_by_position`). Each point is the mean from its position to the next point's.", "name": "fig-loss-by-position"}, "image": {"alt": "A curve over the number of characters before, on a logarithmic axis. It falls from 2.8 to 1.5 over the first six characters and is flat behind."}}
where = experiments.load("loss_by_position")
places = [begin + 1 for begin in where.rows[0]["begins"]]
ax = curves(
    {"": (places, where.column("losses"))},
    "characters read",
    "loss (nats per character)",
    logx=True,
)
plt.show()

# %% tags=["evidence"]
at = {
    begin: [row["losses"][i] for row in where.rows]
    for i, begin in enumerate(where.rows[0]["begins"])
}
worth = {begin: sum(values) / len(values) for begin, values in at.items()}

# %% [markdown]
# (claim-gpt-4)=

# %% tags=["evidence"]
claim(
    "gpt-4",
    "No: the next character costs {one:.2f} nats after one, {eight:.2f} after 8 to 11, and {most:.2f} after 192 or more.",
    one=worth[0],
    eight=worth[8],
    most=worth[192],
    holds=lambda one, eight, most: eight < one - 0.5 and abs(most - eight) < 0.05,
    scale="docstrings, character by character; two blocks; 900 steps; three seeds",
    experiment="loss_by_position",
)

# %% [markdown]
# After six characters, more context is worth nothing to this model: it has learned which letters follow which, and no more. That isn't because there is nothing to know further back. A model of this size, after 900 steps, has not learned to use it.

# %% [markdown]
# (deeper-grokking)=
# ## Can it understand long after it knows everything by heart?
#
# *5 minutes.* Power et al. trained small Transformers on tables of sums modulo a prime {cite}`power2022grokking`. Long after the training sums were right, and with nothing left to gain there, the other sums became right, too. They called it **grokking**. We repeat it: $a + b$ modulo 53, half of the 2,809 sums for training, one block, AdamW with a
# weight decay of 1, and for comparison without.

# %% tags=["evidence"] mystnb={"figure": {"caption": "Share of sums that are right, of those that are learned from and of the others, by step; one line per seed (stored experiment `grokking`). Left with weight decay, right without.", "name": "fig-grokking"}, "image": {"alt": "Two diagrams. In both, the training sums are all right after about 200 steps. With weight decay the other sums stay at a half for some three thousand steps and rise to 1 by about step 5,000, with single deep dents in both. Without weight decay they stay at a half or below for all 8,000 steps."}}
sums = experiments.load("grokking")
figure, axes = plt.subplots(1, 2, figsize=(6.4, 3.4), sharey=True)
halves = zip(("learned", "others"), ("-", "--"), COLOURS, strict=False)
halves = [(name, {"linestyle": dash, "color": colour}) for name, dash, colour in halves]
for ax, decay, title in zip(axes, (1.0, 0.0), ("weight decay 1", "no weight decay"), strict=True):
    for seed, row in enumerate(sums.select(weight_decay=decay)):
        for name, how in halves:
            x = range(100, 100 * len(row[name]) + 1, 100)
            named = name if seed == 0 else None
            ax.plot(x, row[name], lw=1.2, marker="", label=named, **how)
    ax.set(title=title, xlabel="step", xlim=(0, sums.parameters["steps"]), ylim=(0, 1.05))
axes[0].set_ylabel("share right")
axes[1].legend(loc="lower right")
plt.show()

# %% [markdown]
# (claim-gpt-6)=

# %% tags=["evidence"]
decayed, free = sums.select(weight_decay=1.0), sums.select(weight_decay=0.0)
by_heart = max(row["99 % of learned"] for row in decayed)
found = [row["99 % of others"] for row in decayed]
without = max(max(row["others"]) for row in free)
claim(
    "gpt-6",
    "Yes, if weights decay: known by heart after {heart:,} steps, understood after {soonest:,} to {latest:,}. Without decay, at most {without:.0%} by step {end:,}.",
    heart=by_heart,
    soonest=min(found),
    latest=max(found),
    without=without,
    end=sums.parameters["steps"],
    holds=lambda heart, soonest, latest, without, end: (
        5 * heart < soonest <= latest < end and without < 0.9
    ),
    scale="a + b modulo 53, half of the sums; one block 128 wide, 213,000 parameters; AdamW, batches of 512; three seeds",
    experiment="grokking",
)

# %% [markdown]
# Why do the others wait at a half? Of each other sum $a + b$, the mirror image $b + a$ is among the training sums with a chance of one half, and that order doesn't matter is learned at once. It is not yet addition. The curves with decay have dents: now and then a step goes wrong, and within a few hundred steps all is as before. Without decay there are none.
#
# What happens in between can't be seen in the training loss, nor why. Weight decay goes on shrinking the weights, and a rule may need smaller ones than a table does; that is an explanation, which this experiment doesn't test. It shows only that *the loss no longer falls* is not the same as *nothing is learned any more*. It doesn't follow that waiting always helps: here half of a complete table was given, and there is a rule to be found.
