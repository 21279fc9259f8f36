# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Day 11, deeper: Small models: distillation, int8 and LoRA
#
# This page goes beyond the evening of [Day 11](../11_small.ipynb). The sections are independent: take those that you are curious about.

# %% tags=["setup"]
import convolution_to_attention  # is `utils` this book's?

from functools import partial
from statistics import fmean

import matplotlib.pyplot as plt
import torch
from torch import nn

from utils.exercises.small import check
from utils.measure import experiments
from utils.measure.claims import claim
from utils.measure.costs import work
from utils.pretraining import MASK, SharedEncoder
from utils.pretraining.encoders import SignalledBlock
from utils.pretraining.heads import FewerHeads
from utils.pretraining.low_rank import LowRank, add_low_rank, merge_low_rank, n_trained
from utils.show.display import observe, show_source, table
from utils.show.plotting import bars, curves, use_book_style
from utils.tasks.fine_tuning import classifier
from utils.tasks.pretraining import new_model
from utils.tasks.sharing import ENCODERS, build

use_book_style()


def told(values: list[float], form: str = ".1%") -> str:
    """The mean over the seeds, the lowest and the highest."""
    return f"{fmean(values):{form}} ({min(values):{form}} to {max(values):{form}})"


# %% [markdown]
# (deeper-distilled)=
# ## Distillation: what does each part of DistilBERT's recipe contribute?
#
# *7 minutes.* **Does a student need all of its teacher?** DistilBERT's recipe ({numref}`fig-pre-recipe`) has four parts {cite}`sanh2019distilbert`: a start from every second block, and three losses: on the hidden words, on the teacher's soft targets {cite}`hinton2015distilling` and on the cosine of the angle between the last vectors. The published script gives these losses weights of 2, 5 and 1, at a temperature of 2.
#
# Here the teacher is the lesson's, with two blocks. Each student has one block and reads for 400 steps; in the second row, the teacher reads on for as long. Each of the following rows leaves something out; in one, a single block reads on its own for as long as teacher and student together. *Loss* and *found* are measured on hidden words in held-out text. For the last columns, each model is fine-tuned at the best of four rates, chosen on the validation set. In the last two rows a teacher with four blocks has a student with two.

# %% tags=["evidence"]
recipe = {row["model"]: row for row in experiments.load("distilled").rows}
columns = {"loss": ".2f", "right": ".1%", "100 labels": ".1%", "1000 labels": ".1%"}
rows = [
    [
        model,
        f"{row['parameters']:,}",
        *(told(row[column], form) for column, form in columns.items()),
    ]
    for model, row in recipe.items()
]
table(rows, ["model", "parameters", "loss (nats)", "found", "100 labels", "1,000 labels"])


# %% tags=["evidence"] mystnb={"figure": {"caption": "Leaving out the teacher's blocks costs most; leaving out any one of the three losses costs little. Loss on held-out text, above that of the student with the complete recipe and the same seed; three seeds (stored experiment `distilled`).", "name": "fig-pre-parts"}, "image": {"alt": "Seven horizontal bars. Without a teacher and from nothing is by far the longest, with 1.5 nats. From nothing follows with 0.55. Without a teacher, without soft targets and without masked words are below 0.1. For without the angle, and alone for as long, there is hardly a bar to be seen."}}
def cost(model: str) -> list[float]:
    """Loss above the complete recipe's, seed by seed."""
    pairs = zip(recipe[model]["loss"], recipe["student"]["loss"], strict=True)
    return [round(left_out - whole, 2) for left_out, whole in pairs]


LEFT_OUT = [model for model in recipe if model.startswith(("without", "from nothing", "alone"))]
bars({model: cost(model) for model in LEFT_OUT}, "loss above the complete recipe's (nats)")
plt.show()

# %% tags=["evidence"]
start, alone = fmean(cost("from nothing")), fmean(cost("without a teacher"))
observe(
    "Starting from random weights costs {start:.2f} nats. Starting from the teacher's block, but reading without a teacher, costs {alone:.2f}.",
    start=start,
    alone=alone,
    holds=start > 2 * alone > 0.02,
)

# %% [markdown]
# DistilBERT's authors left out the same parts, and judged the result by the tasks of GLUE. There, too, the start mattered most, followed by the soft targets, the cosine, and finally the hidden words.

# %% tags=["evidence"]
parts = ("without soft targets", "without masked words", "without the angle")
soft, words, cosine = (fmean(cost(model)) for model in parts)
missed = max(
    fmean(recipe["student"]["100 labels"]) - fmean(recipe[model]["100 labels"]) for model in parts
)

# %% [markdown]
# (claim-pre-5d)=

# %% tags=["evidence"]
claim(
    "pre-5d",
    "No: soft targets are worth {soft:.2f} nats, hidden words {words:.2f}, the cosine {cosine:.2f}; with 100 labels, leaving one out costs at most {points:.1f} points.",
    soft=soft,
    words=words,
    cosine=cosine,
    points=100 * missed,
    holds=lambda soft, words, cosine, points: (
        soft > words > 0.01 > abs(cosine) and 0 < points < 0.9
    ),
    scale="blocks of width 64: two teach one; 400 steps of 1,024 words, half of them hidden; three seeds",
    experiment="distilled",
)

# %% tags=["evidence"]
GIFTS = {"both": "student", "start": "without a teacher", "lessons": "from nothing"}
GIFTS |= {"neither": "without a teacher, from nothing", "alone": "alone, as long as both"}
tuned = {gift: fmean(recipe[model]["100 labels"]) for gift, model in GIFTS.items()}
given = [tuned[gift] for gift in ("both", "start", "lessons", "alone")]
observe(
    "With 100 labels the student classifies {both:.0%} of the sentences correctly. With its teacher's block alone it reaches {start:.0%}, with its teacher's lessons alone {lessons:.0%}, with neither {neither:.0%}, and with neither but 1,900 steps {alone:.0%}.",
    **tuned,
    holds=min(given) > tuned["neither"] + 0.1 and max(given) - min(given) < 0.03,
)

# %% [markdown]
# So 400 steps are enough with one of the teacher's gifts, weights or lessons. With as many steps as teacher and student took together, a model needs neither. In short, a teacher that already exists saves reading. But this experiment doesn't show that a student learns *more* from it than from the text.
#
# Fewer blocks also save time. How much?
#
# (claim-pre-5b)=

# %% tags=["evidence"]
timed = experiments.load("student_time")
(theirs,) = timed.select(setting="published, 32 tokens")
(ours,) = timed.select(setting="ours, one sentence")
claim(
    "pre-5b",
    "Yes, and more: at the published sizes it reads {bert:.0%} faster; our student, with half the blocks, reads {ours:.0%} faster than its teacher.",
    bert=theirs["teacher"] / theirs["student"] - 1,
    ours=ours["teacher"] / ours["student"] - 1,
    holds=lambda bert, ours: bert > 0.6 and ours > 0.3,
    experiment="student_time",
    scale="random weights; one text of 32 tokens, or of 16 words; one thread",
)

# %% [markdown]
# (deeper-pruned)=
# ## Pruning: how many attention heads are needed?
#
# *6 minutes.* **How many heads can go, and which?** The importance of a head is the absolute slope of the loss with respect to its gate, averaged over texts $x$ {cite}`michel2019sixteen`. (The importances of a block are then divided by the length of the vector that they form, so that blocks can be compared.)
#
# $$
# I_h = \mathbb{E}_x \left| \frac{\partial \mathcal{L}(x)}{\partial \xi_h} \right|
# $$ (eq-importance)
#
# A silent head is still computed. `FewerHeads` cuts it out and gives the same outputs:

# %%
torch.manual_seed(0)
model = new_model(0).double()
layer, x = model.encoder.blocks[0].self_attention, torch.randn(2, 9, 64).double()
fewer = FewerHeads(layer, kept=[0, 1, 3])
kept = torch.tensor([1.0, 1.0, 0.0, 1.0]).repeat_interleave(16)  # 64 columns of W_o, by head
layer.W_o.weight.data *= kept
torch.testing.assert_close(fewer(x)[0], layer(x)[0])

# %% tags=["evidence"]
n_whole, n_fewer = (sum(weight.numel() for weight in of.parameters()) for of in (layer, fewer))
observe(
    "The layer has {whole:,} parameters; without one of its heads, it has {fewer:,}.",
    whole=n_whole,
    fewer=n_fewer,
    holds=n_whole - n_fewer == 4 * 64 * 16 + 3 * 16,
)

# %% [markdown]
# A model of four blocks, tuned with 1,000 labels, has sixteen heads. {numref}`fig-pre-heads` silences them one by one: the least important first, at random, or the most important first. Importance is measured on the training sentences, and nothing is tuned afterwards.

# %% tags=["evidence"]
heads = experiments.load("pruned_heads")
N_HEADS = len(heads.column("importance")[0])
draws = [f"at random, {i}" for i in range(heads.parameters["draws"])]
ORDERS = {
    "least important first": heads.column("least first"),
    "at random": [curve for draw in draws for curve in heads.column(draw)],
    "most important first": heads.column("most first"),
}
most = N_HEADS // 2 + 1
at = {
    name: [fmean(silent) for silent in zip(*curves_of, strict=True)]
    for name, curves_of in ORDERS.items()
}

# %% tags=["evidence"]
whole, silent = at["at random"][0], at["at random"][-1]
cost_of = {name: whole - of[most] for name, of in at.items()}

# %% [markdown]
# (claim-pre-9)=

# %% tags=["evidence"]
claim(
    "pre-9",
    "Yes, if they aren't the most important: {most} of 16 cost {random:.1f} points at random, {least:.1f} if least important, {first:.1f} if most; all cost {all:.0f}.",
    most=most,
    least=100 * cost_of["least important first"],
    random=100 * cost_of["at random"],
    first=100 * cost_of["most important first"],
    all=100 * (whole - silent),
    holds=lambda most, least, random, first, all: (
        most == 9 and max(least, random) < 3 < 5 < first < all < 30
    ),
    scale="five libraries' sentences, 1,000 labels; 4 blocks of 4 heads, width 64; three seeds; nothing tuned afterwards",
    experiment="pruned_heads",
)

# %% tags=["evidence"]
of_block = {
    name: [fmean(column) for column in zip(*heads.column(name), strict=True)]
    for name in ("without a block's", "but the most important")
}
rows = [
    [block + 1, *(f"{100 * (whole - of_block[name][block]):+.1f}" for name in of_block)]
    for block in range(heads.parameters["n_layers"])
]
table(rows, ["block", "cost of all its heads (points)", "of all but the most important"])

# %% tags=["evidence"]
worst = max(whole - right for right in of_block["without a block's"])
observe(
    "Silencing all heads of one block costs at most {worst:.1f} points. Without any heads at all, {silent:.0%} of the sentences are correct; guessing gives 20%.",
    worst=100 * worst,
    silent=silent,
    holds=worst < 0.04
    and 0.28 < silent < whole - 0.08
    and at["at random"][13] > at["least important first"][13],
)

# %% [markdown]
# So heads can stand in for one another, and only those of the first block are missed. Importance does tell us which heads to keep. Among the rest, a random choice works as well, and better when few are left. But much of this task can be solved from the words alone, without their neighbours. A task that depends on positions would miss its heads sooner, as Day 9's copying did. (Michel et al. removed 20% to 40% of all heads from trained models without a noticeable loss.)

# %% [markdown]
# (deeper-shared)=
# ## Shared layers: what if all blocks have the same weights?
#
# *7 minutes.* Four blocks hold four times as many weights as one. **Does an encoder need four different blocks, or only four passes?** ALBERT {cite}`lan2020albert` has a single block and sends the text through it again and again ({numref}`fig-pre-shared`). It also makes the embedding table narrow, and widens its rows with one matrix: $V \cdot E + E \cdot D$ numbers in place of $V \cdot D$. The Universal Transformer {cite}`dehghani2019universal` shares a block, too, but before each pass it tells the block where each symbol is and which pass this is. (It can also stop earlier for some symbols than for others, which we leave out.)

# %%
show_source(SharedEncoder)

# %%
show_source(SignalledBlock)

# %% [markdown]
# The gradient of a shared weight is the sum over all its uses. Nothing else changes, so sharing saves memory but no computation. Seven encoders read the same text for 750 steps, at the lesson's learning rates, which were chosen for separate blocks. Both Universal Transformers have the paper's signals; the second also has rotary positions, like all the others. The last encoder has four separate blocks, narrow enough to have as few parameters as the shared one. *Products* are those of one pass over a batch, relative to the first row.

# %% tags=["evidence"]
read = torch.randint(MASK + 1, 3000, (2, 128)), torch.full((2,), 128)
products = {}
for name in ENCODERS:
    with torch.no_grad():
        products[name] = work(partial(build(name, seed=0).eval(), *read)).products

# %% tags=["evidence"]
shared = experiments.load("shared_layers")
rows = []
for row in shared.rows:
    sizes = [f"{row['parameters']:,}", f"{row['bytes'] / 2**20:.2f}"]
    sizes.append(f"{products[row['encoder']] / products['four blocks']:.2f}")
    rows.append([row["encoder"], *sizes, told(row["loss"], ".2f")])
    rows[-1] += [told(row[name]) for name in ("100 labels", "1000 labels")]
headers = ["encoder", "parameters", "MiB", "products", "loss of hidden words"]
table(rows, [*headers, "100 labels", "1,000 labels"])

# %% tags=["evidence"] mystnb={"figure": {"caption": "With few labels a shared block does as well as four; a narrow table and the paper's signals lower the accuracy. Test sentences classified correctly after 100 labels, with thousands of parameters in brackets; means of three seeds, lines from the lowest to the highest (stored experiment `shared_layers`).", "name": "fig-pre-sharing"}, "image": {"alt": "Seven horizontal bars. Four blocks and the shared one are the longest, about 0.36, and four narrower blocks follow with 0.33. The factorised table and both Universal Transformers have about 0.27, and the table with the shared block 0.24."}}
labelled = {f"{row['encoder']} ({row['parameters'] / 1000:.0f})": row for row in shared.rows}
bars({name: row["100 labels"] for name, row in labelled.items()}, "share correct")
plt.show()

# %% tags=["evidence"]
means = {
    name: {row["encoder"]: fmean(row[name]) for row in shared.rows}
    for name in ("loss", "100 labels", "1000 labels")
}
four, one, narrow = "four blocks", "one block, shared", "four narrower blocks"

# %% [markdown]
# (claim-pre-6)=

# %% tags=["evidence"]
right = means["1000 labels"]
claim(
    "pre-6",
    "Can't tell here: at rates chosen for four blocks, one block costs {nats:.2f} nats and reaches {one:.1%} instead of {four:.1%}; four narrow blocks reach {narrow:.1%}.",
    nats=means["loss"][one] - means["loss"][four],
    one=right[one],
    four=right[four],
    narrow=right[narrow],
    holds=lambda nats, one, four, narrow: (
        0.2 < nats < 0.6 and one + 0.02 < four < 0.6 and abs(narrow - one) < 0.03
    ),
    scale="four passes, width 64, 3,070 words; 750 steps of 1,024 words, at one pair of rates for reading; four for labels, three seeds",
    experiment="shared_layers",
)

# %% tags=["evidence"]
few = means["100 labels"]
observe(
    "With 100 labels, {one:.0%} of the sentences are correct with a shared block and {four:.0%} with four separate ones. A table only 16 wide costs {table:.2f} nats. A Universal Transformer's loss is {signals:.2f}, or {rotary:.2f} with rotary positions.",
    one=few[one],
    four=few[four],
    table=means["loss"]["factorised table"] - means["loss"][four],
    signals=means["loss"]["Universal Transformer"],
    rotary=means["loss"]["Universal Transformer, rotary"],
    holds=abs(few[one] - few[four]) < 0.02
    and means["loss"]["factorised table"] > means["loss"][one]
    and means["loss"]["Universal Transformer"] > means["loss"]["Universal Transformer, rotary"],
)

# %% [markdown]
# A shared block might read better at learning rates of its own, which we didn't try. In ALBERT's paper, too, sharing all weights cost 1.5 to 2.5 points at equal width, and a larger width made up for it. Here, four narrow blocks do as well as one shared block, with fewer products. Sharing saves memory, but at our size memory isn't scarce.

# %% [markdown]
# ```{exercise} The gradient of a shared layer
# :label: exercise-shared-gradient
#
# *Stretch, 12 minutes.* Each of $n$ layers returns $h + \tanh(h W^\top)$, and all share $W$. Return the gradient, with respect to $W$, of the sum of $y \odot g$, where $y$ is the output of the last layer and $g$ the gradient that arrives there. Use autograd, or do it by hand.
# ([Solution](../solutions/11_small.ipynb#solution-shared-gradient))
# ```


# %%
def shared_gradient(
    x: torch.Tensor, W: torch.Tensor, n: int, arriving: torch.Tensor
) -> torch.Tensor:
    """Shapes: x and arriving (T, D), W (D, D), to (D, D)."""
    raise NotImplementedError


check("shared_gradient", shared_gradient)

# %% [markdown]
# (deeper-int8)=
# ## Quantisation: are 8-bit weights faster, too?
#
# *5 minutes.* The lesson rounds a student's weights. Here we round the teacher's: in int8 with a scale for each row, in int8 with one scale for a whole matrix, and in 4 bits. (In memory our 4-bit numbers take a byte each; in a file two of them share one.) **And do integers also save time?**

# %% tags=["evidence"]
small = experiments.load("int8")
FORMS = ["float32", "int8 by row", "int8, one scale", "4 bits by row"]
JUDGED = {"accuracy": ".1%", "loss": ".3f"}


# %% tags=["evidence"]
rows = []
for form in FORMS:
    sizes = (small.column(f"{form}, bytes {where}")[0] for where in ("in memory", "on disk"))
    judged = [told(small.column(f"{form}, {what}"), how) for what, how in JUDGED.items()]
    rows.append([form, *judged, *(f"{size:,}" for size in sizes)])
judged = [told(small.column(f"whole products, {what}"), how) for what, how in JUDGED.items()]
rows.append(["int8, the blocks' inputs too", *judged, "–", "–"])
headers = ["form", "correct, 1,000 labels", "loss of hidden words", "bytes in memory", "on disk"]
table(rows, headers)

# %% [markdown]
# An int8 weight that is *widened* to float32 before each product saves memory, but no time. Only multiplying the integers themselves (*whole products*) saves time, and for that the inputs have to be rounded as well.

# %% tags=["evidence"] mystnb={"figure": {"caption": "Only products of integers (*whole products*) are faster, and only in a wide layer. Milliseconds for 8 passages of 128 words, one thread: our encoder of two blocks, and one block of BERT-base's width. Three runs (stored experiment `int8`).", "name": "fig-pre-int8-ms"}, "image": {"alt": "Two groups of three horizontal bars. At width 64, float32, int8 widened and int8 with whole products take about equally long. At width 768, float32 and widened take equally long, whole products about a third as long."}}
BY_WAY = ["float32", "int8, widened", "int8, whole products"]
figure, axes = plt.subplots(2, 1, figsize=(6.4, 4.2))
for ax, width in zip(axes, (64, 768), strict=True):
    bars({way: small.column(f"ms {width}, {way}") for way in BY_WAY}, "milliseconds", ax=ax)
    ax.set_title(f"width {width}")
plt.show()

# %% tags=["evidence"]
ms = {(w, way): fmean(small.column(f"ms {w}, {way}")) for w in (64, 768) for way in BY_WAY}
times = {w: ms[w, BY_WAY[0]] / ms[w, BY_WAY[2]] for w in (64, 768)}
observe(
    "Compared with float32, products of integers are {narrow:.1f} times as fast at width 64, and {wide:.1f} times as fast at width 768.",
    narrow=times[64],
    wide=times[768],
    holds=0.8 < times[64] < 1.4 and times[768] > 2,
)

# %% [markdown]
# Everything around the products is as slow as before: scores, softmax, norms and the rounding itself stay in float32, and at width 64 that costs as much as the products save. In models of about seven billion weights and more, a few columns of the inputs are so large that rounding them fails; LLM.int8 keeps those in 16 bits {cite}`dettmers2022llm`.
#
# The processor also needs instructions for integers. Without them, the library's kernel adds two products in 16 bits, where the largest ones overflow, and returns wrong sums without a warning. `whole_product` tries the largest sum first, and refuses to work where it comes out wrong.

# %% [markdown]
# (deeper-lora)=
# ## LoRA: how little of a model has to be tuned?
#
# *5 minutes.* **How much of a fine-tuned copy has to differ from the original?** At the least, the new layer has to: the encoder then stays *frozen*. LoRA {cite}`hu2022lora` freezes it, too, but adds a product of rank $r$ to the weights of queries and values ({eq}`eq-lora`). $\alpha$ is the same for all ranks, so that one learning rate suits them all.

# %%
show_source(LowRank)

# %% [markdown]
# Our attention keeps the weights of queries, keys and values in one matrix, so only some of its rows change. PyTorch calls such a weight *parametrised*: whenever the layer asks for it, it is computed anew. Once the change has been merged into the weight, it costs nothing.

# %%
torch.manual_seed(0)
tuned, ids = classifier(new_model(0), 5), torch.randint(5, 100, (2, 16))
everything = n_trained(tuned)
add_low_rank(tuned.encoder, rank=8)
learning = n_trained(tuned)
for weight in tuned.parameters():
    if weight.requires_grad:
        nn.init.normal_(weight)  # as if it had learned
before = tuned(ids)
merge_low_rank(tuned.encoder)
assert torch.equal(tuned(ids), before) and before.std() > 0.1  # to the last bit

# %% tags=["evidence"]
observe(
    "At rank 8, {learning:,} of {everything:,} numbers are trained: {share:.1%}.",
    learning=learning,
    everything=everything,
    share=learning / everything,
    holds=0.01 < learning / everything < 0.03,
)

# %% [markdown]
# Is that enough? The lesson's teacher is fine-tuned with 100 labels and with 1,000. Each method has four learning rates of its own, and the validation set chooses one of them for each seed. It also chooses the rank.

# %% tags=["evidence"]
lora = experiments.load("lora")
RANKS = [1, 2, 4, 8, 16]
WAYS = ["frozen", *(f"rank {rank}" for rank in RANKS), "full"]
tested, validated = (
    {n: {way: lora.column(f"{way}, {n} labels{what}") for way in WAYS} for n in (100, 1000)}
    for what in ("", ", by rate")
)
best = {n: {way: fmean(map(max, runs)) for way, runs in of.items()} for n, of in validated.items()}
chosen = {n: max(WAYS[1:-1], key=of.get) for n, of in best.items()}

# %% tags=["evidence"]
rows = [
    [way, f"{lora.column(f'{way}, trained')[0]:,}"]
    + [f"{best[n][way]:.1%}, {told(tested[n][way])}" for n in (100, 1000)]
    for way in WAYS
]
table(rows, ["way", "numbers", "100 labels: validation, test", "1,000 labels: validation, test"])

# %% [markdown]
# (claim-pre-11)=

# %% tags=["evidence"]
full, low = fmean(tested[1000]["full"]), fmean(tested[1000][chosen[1000]])
claim(
    "pre-11",
    "Can't tell here: on the validation set full tuning reaches {full_val:.1%} and LoRA {low_val:.1%}; on the test set, {full:.1%} and {low:.1%}.",
    full_val=best[1000]["full"],
    low_val=best[1000][chosen[1000]],
    full=full,
    low=low,
    holds=lambda full_val, low_val, full, low: (
        abs(full_val - low_val) < 0.01 and 0 < full - low < 0.04
    ),
    scale="rank and rate chosen on the validation set; 2 blocks of width 64; 1,000 labels, 150 steps, three seeds; 1,370 test sentences",
    experiment="lora",
)

# %% tags=["evidence"]
apart = max(
    max(of) - min(of) for of in ([fmean(tested[n][way]) for way in WAYS[1:-1]] for n in tested)
)
frozen = fmean(tested[1000]["frozen"])
observe(
    "From rank 1 to rank 16, mean accuracies differ by at most {apart:.1f} points. The frozen encoder, with its new layer of 325 numbers, classifies {frozen:.1%} of the sentences correctly.",
    apart=100 * apart,
    frozen=frozen,
    holds=apart < 0.02 and frozen < low,
)

# %% [markdown]
# What the encoder has learned from text is useful as it is: the new layer alone reads off most of what the task needs. Rank 1 does nearly as well as rank 16, and Hu et al. found the same. They saw no loss of quality at all, in models with 125 million to 175 billion weights. For those, a full copy per task is a burden; a copy of ours is a megabyte.
