# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Day 12, deeper: Vision: a picture is a sentence
#
# This page goes beyond the evening of [Day 12](../12_vision.ipynb). The sections are independent: take those that you are curious about.

# %% tags=["setup"]
import convolution_to_attention  # is `utils` this book's?

from functools import partial
from statistics import fmean

import matplotlib.pyplot as plt
import torch

from utils import vision
from utils.data.files import own_folder
from utils.data.pictures import photographs
from utils.data.scenes import drawn, scenes, understand
from utils.exercises.vision import check
from utils.measure import experiments
from utils.measure.claims import claim
from utils.measure.costs import work
from utils.show.display import observe, show_source, table
from utils.show.mechanisms import vision as mechanisms
from utils.show.plotting import bars, curves, heat_map, use_book_style
from utils.show.scenes import decided
from utils.show.views import models
from utils.tasks import decided_patches, space
from utils.tasks import patches as reading
from utils.tasks import scenes as naming
from utils.tokens.tables import read_json

use_book_style()

# %%
held = models.load("clip")  # the lesson's model
clip = naming.restored_clip(held.weights, held.header["temperature"])

# %% [markdown]
# (deeper-plane)=
# ## What if the patches are shuffled?
#
# *4 minutes.* **How much does each network depend on the plane?** An order is drawn at random, and the patches of every picture are put into it, in training and in testing. To a Vision Transformer that is nearly the same task: its positions are random at first anyway, so they learn another plane. To a convolutional network it isn't: its kernels look at neighbours that are no longer there. Shuffling single pixels goes further: then even a patch of 2 × 2 shows no part of a stroke.

# %% tags=["evidence"]
plain, mixed = experiments.load("vit_and_cnn"), experiments.load("shuffled_pictures")
NAMES = {"ViT": "Transformer", "CNN": "Day 1's network"}
read = {}
for kind, name in NAMES.items():
    read[name, "as they are"] = plain.column("test", network=kind, pictures=1221)[0]
    for what in ("patches", "pixels"):
        read[name, what] = mixed.column("test", network=kind, shuffled=what)[0]

# %% tags=["evidence"] mystnb={"figure": {"caption": "The more is shuffled, the more a convolutional network loses. The Transformer loses a point at most, and with shuffled pixels both read equally well. Test digits read correctly after training on all 1,221 digits, each network at its best rate. Mean and range of three seeds (stored experiments).", "name": "fig-vis-shuffled"}, "image": {"alt": "Six bars, three for the Transformer and three for Day 1's network: as they are, shuffled patches, shuffled pixels."}}
bars({f"{name}, {what}": [100 * r for r in of] for (name, what), of in read.items()}, "correct (%)")
vit, cnn = ([fmean(of) for (n, _), of in read.items() if n == name] for name in NAMES.values())
assert max(vit) - min(vit) < 0.0101 and cnn == sorted(cnn, reverse=True)
assert abs(vit[2] - cnn[2]) < 0.005  # with shuffled pixels
plt.show()

# %% [markdown]
# (claim-vis-2)=

# %% tags=["evidence"]
pixels, plainly = ([fmean(read[n, of]) for n in NAMES.values()] for of in ("pixels", "as they are"))
claim(
    "vis-2",
    "Yes: with shuffled pixels it reads {vit:.0%} of the digits, unshuffled {vit_plain:.0%}; a convolutional network reads {cnn:.0%} and {cnn_plain:.0%}.",
    vit=pixels[0],
    vit_plain=plainly[0],
    cnn=pixels[1],
    cnn_plain=plainly[1],
    holds=lambda vit, vit_plain, cnn, cnn_plain: (
        abs(vit - vit_plain) < 0.02 and cnn < cnn_plain - 0.04
    ),
    experiment="shuffled_pictures",
    scale="all pixels in one other order for training and test; 8 × 8 pixels, three seeds",
)

# %% [markdown]
# (deeper-positions)=
# ## Did the positions find the plane?
#
# *3 minutes.* **Did the lesson's CLIP learn which patches touch?** It was never told. We compare the learned vectors of every two positions, by the cosine of the angle between them, and take the mean over all pairs that are equally many rows and columns apart.

# %%
p = clip.image_encoder.encoder.embedding.positions.table[1:].detach()  # (36, 64)
alike = reading.likeness(p).view(6, 6, 6, 6)  # row and column of one, then of the other
far = (torch.arange(6)[:, None] - torch.arange(6)).abs()  # (6, 6)
down, across = far[:, None, :, None].expand_as(alike), far[:, None].expand_as(alike)
means = torch.tensor(
    [[alike[(down == y) & (across == x)].mean() for x in range(6)] for y in range(6)]
)

# %% tags=["evidence"] mystnb={"figure": {"caption": "The positions found the rows of the plane, and its columns only weakly: those in the same row (on top) are similar however far apart they are; those in the same column (on the left) are less so, and only if they are a few rows apart. Mean cosines of the learned positions of the lesson's CLIP, by how far apart they are.", "name": "fig-vis-positions"}, "image": {"alt": "A table of six by six cosines. The rows are rows apart, the columns are columns apart, both 0 to 5. In the corner is 1. The rest of the first row is clearly above 0, in the first column the numbers fall from the top to the bottom, and most of the others are near 0."}}
heat_map(means, xlabel="columns apart", ylabel="rows apart", annotate=True, signed=True)
assert means[0, 1:].min() > 0.3 > means[1:, 0].max()
assert means[1:4, 0].min() > 0.05 and means[4:, 0].max() < 0
plt.show()

# %% tags=["evidence"]
same = {
    "row": (down == 0) & (across > 0),
    "column": (across == 0) & (down > 0),
    "neither": (down > 0) & (across > 0),
}
cosines = {name: alike[pairs].mean().item() for name, pairs in same.items()}
observe(
    "Two positions in the same row have a mean cosine of {row:.2f}, and two in the same column have one of {column:.2f}. For all others it is {neither:.2f}.",
    **cosines,
    holds=cosines["row"] > cosines["column"] + 0.1
    and cosines["column"] > abs(cosines["neither"]) + 0.05,
)

# %% [markdown]
# So this network learned which patches are in the same row, but hardly which of them touch: positions at the two ends of a row are similar, too. {cite:t}`dosovitskiy2021image` trained on far more pictures. In their networks, positions in the same row are similar, and so are those in the same column.

# %% [markdown]
# ```{exercise} The likeness of positions
# :label: exercise-position-likeness
#
# *Core, 7 minutes.* Return a map for each patch: the cosines of its learned position with those of all patches, laid out in the plane. The first position belongs to the class token. ([Solution](../solutions/12_vision.ipynb#solution-position-likeness))
# ```


# %%
def position_likeness(positions, rows, columns):
    """Shapes: positions (1 + rows · columns, D) to (rows, columns, rows, columns).

    The map of the patch in row i and column j is at [i, j].
    """
    raise NotImplementedError


check("position_likeness", position_likeness)

# %% [markdown]
# (deeper-jitter)=
# ## What does jitter give?
#
# *2 minutes.* **Is jitter worth as much as more pictures?** In the lesson, both networks saw each digit a little turned, stretched, slanted and shifted, each time in another way (Day 1). Here they see it as it is.

# %% tags=["evidence"]
unjittered = experiments.load("without_jitter")
amounts = unjittered.parameters["pictures"]
lines = {
    f"{name}, {how}": (
        amounts,
        100 * torch.tensor([of.column("test", network=kind, pictures=n)[0] for n in amounts]).T,
    )
    for kind, name in NAMES.items()
    for how, of in (("jitter", plain), ("none", unjittered))
}

# %% tags=["evidence"] mystnb={"figure": {"caption": "With few pictures, jitter helps both networks most; with all of them, it no longer helps the Transformer. Test digits read correctly, with and without it, each network at its best rate. Mean and range of three seeds (stored experiments).", "name": "fig-vis-jitter"}, "image": {"alt": "Four rising curves over 50 to 1,221 pictures, on a logarithmic axis: Day 1's network and the Transformer, each with and without jitter."}}
ax = curves(lines, "training pictures", "read correctly (%)", logx=True)
ax.set_xticks(amounts, amounts)
means = {line: of.mean(dim=0) for line, (_, of) in lines.items()}
gains = [means[f"{name}, jitter"] - means[f"{name}, none"] for name in NAMES.values()]
assert all(gain.equal(gain.sort(descending=True).values) for gain in gains)
assert gains[0][-1].abs() < 0.5 < gains[1][-1]  # with all pictures
plt.show()

# %% [markdown]
# To compare both networks on other pictures, exchange one word: take `data = load("CIFAR-10")` from `utils.data.pictures`, or `"Fashion-MNIST"` or `"Oxford Pets"`, train `reading.network_for(data, "ViT")` and `reading.network_for(data, "CNN")` with `reading.train`, and let them read `reading.some_of(data.test, 1000)`.

# %% [markdown]
# (deeper-looks)=
# ## How far do the heads look?
#
# *5 minutes.* **Does a head look at neighbours, like a kernel, or everywhere?** Multiply each weight by the distance between the two patches, and add up: that is the head's **attention distance**.

# %% tags=["mechanism"] mystnb={"figure": {"caption": "The attention distance is a mean of distances, with the attention weights as weights: one query (framed) and 16 keys. The weights are invented for this picture.", "name": "fig-vis-distance"}, "image": {"alt": "On the left are four by four weights; the framed one, in row 2 and column 2, is the largest, and its neighbours follow. On the right are the distances of all patches from the framed one, from 0 to 2.83. Between them is the word times, and below: sum of all products: 0.95 patches."}}
near = torch.tensor([[1.0, 2, 1, 0], [3, 18, 6, 1], [4, 12, 6, 1], [2, 2, 1, 1]])
mechanisms.looked(near / near.sum(), at=(1, 1))
plt.show()

# %%
new = drawn(scenes(200, 1, part="test"), seed=1, part="test")
everywhere = reading.distances(6).mean().item()  # if all 36 patches had the same weight
encoders = {"untrained": naming.clip(seed=0).image_encoder, "trained": clip.image_encoder}
reach = {name: reading.looks(encoder, new) for name, encoder in encoders.items()}  # (2, 4) each

# %% tags=["evidence"] mystnb={"figure": {"caption": "Training hardly changes how far the heads look: in both blocks, it is about as far as with the same weight for all patches. Attention distances in the lesson's CLIP, before and after training, on 200 new scenes. Mean and range of a block's four heads.", "name": "fig-vis-looks"}, "image": {"alt": "Five bars of nearly the same length, about 3: block 1 untrained and trained, block 2 untrained and trained, and the same weight for all. The lines for the range are short; the longest is that of block 2, trained."}}
by_block = {
    f"block {i + 1}, {of}": each[i].tolist() for i in range(2) for of, each in reach.items()
}
bars(by_block | {"same weight for all": everywhere}, "attention distance (patches)")
plt.show()

# %% tags=["evidence"]
ends = {f"{of}_{end}": getattr(reach[of], end)().item() for of in reach for end in ("min", "max")}
observe(
    "Before training, the heads look {untrained_min:.2f} to {untrained_max:.2f} patches far. After training, they look {trained_min:.2f} to {trained_max:.2f} patches far, and a head with the same weight for all patches would look {even:.2f} patches far.",
    even=everywhere,
    **ends,
    holds=all(
        abs(end - everywhere) < (0.15 if of.startswith("un") else 0.5) for of, end in ends.items()
    ),
)

# %% [markdown]
# So none of its heads keeps to neighbours, before training or after. That is no law: in large Vision Transformers, some heads of the lowest layers do look at neighbours {cite}`dosovitskiy2021image`. They have to learn it, too: trained on fewer pictures, they don't {cite}`raghu2021vision`.

# %% [markdown]
# ```{exercise} Attention distance
# :label: exercise-attention-distance
#
# *Core, 9 minutes.* Return each head's attention distance: the mean, over queries and pictures, of the sum of weight times distance in the plane ({numref}`fig-vis-distance`). The class token has no position in the plane. Leave it out, as a query and as a key, and scale the remaining weights of each query to sum to 1. ([Solution](../solutions/12_vision.ipynb#solution-attention-distance))
# ```


# %%
def attention_distance(weights, rows, columns):
    """Shapes: weights (B, h, 1 + n, 1 + n), class token first, n = rows · columns; returns (h,)."""
    raise NotImplementedError


check("attention_distance", attention_distance)

# %% [markdown]
# (deeper-class)=
# ## A class token, or the mean of the patches?
#
# *2 minutes.* **Who should answer for a picture?** Instead of a class token, the head can read the mean of the patches' outputs, as Day 8's classifiers read that of the words' (`pool="mean"`). We train both on all digits.

# %% tags=["evidence"]
pooled = experiments.load("class_token")
answers = {}
for pool, name in (("class", "class token"), ("mean", "mean of the patches")):
    by_rate = {row["rate"]: fmean(row["validation"]) for row in pooled.select(pool=pool)}
    best = max(by_rate, key=by_rate.get)
    assert best == min(by_rate)
    answers[name] = pooled.column("test", pool=pool, rate=best)[0]

# %% tags=["evidence"] mystnb={"figure": {"caption": "A class token and a mean read about equally well here. Test digits read correctly, each at the best of three learning rates (for both, the lowest of the three). Mean and range of three seeds (stored experiment).", "name": "fig-vis-pooled"}, "image": {"alt": "Two bars, class token and mean of the patches."}}
bars({name: [100 * r for r in of] for name, of in answers.items()}, "correct (%)")
assert abs(fmean(answers["class token"]) - fmean(answers["mean of the patches"])) < 0.02
plt.show()

# %% [markdown]
# (deeper-cost)=
# ## What do smaller patches cost?
#
# *5 minutes.* **Why not take the smallest patches, single pixels?** First, do smaller patches help? The lesson's Vision Transformer learns from all 1,221 digits in patches of three sizes, with a learning rate tuned for each.

# %% tags=["evidence"]
sized = experiments.load("patch_sizes")
by_side = {P: sized.column("test", patch_size=P)[0] for P in sized.parameters["patch_size"]}
by_side[2] = plain.column("test", network="ViT", pictures=1221)[0]

# %% tags=["evidence"] mystnb={"figure": {"caption": "Smaller patches don't help here: single pixels are read worst. Test digits read correctly after training on all 1,221 digits for 1,000 steps, each size at its best learning rate. Mean and range of three seeds (stored experiments).", "name": "fig-vis-patch-sizes"}, "image": {"alt": "Three bars: patches of 4 by 4, 2 by 2 and 1 by 1 pixels. The first is the longest, the last clearly the shortest."}}
sides = {f"{P} × {P}: {(8 // P) ** 2} patches": by_side[P] for P in (4, 2, 1)}
bars({name: [100 * r for r in of] for name, of in sides.items()}, "correct (%)")
plt.show()

# %% tags=["evidence"]
of_size = {name: fmean(by_side[P]) for name, P in (("four", 4), ("two", 2), ("one", 1))}
observe(
    "With patches of 4 × 4, it reads {four:.0%} of the test digits; with 2 × 2, it reads {two:.0%}, and with single pixels, {one:.0%}.",
    **of_size,
    holds=of_size["one"] < of_size["two"] - 0.02 < of_size["four"] - 0.04,
)

# %% [markdown]
# A smaller patch says less by itself, so attention has more to put together. Perhaps 1,221 digits are too few to learn that from: with millions of pictures, 16 × 16 beat 32 × 32 {cite}`dosovitskiy2021image`.
#
# Now for the cost. Halve $P$, and there are four times as many tokens. The products with $W_p$ stay the same, those with the blocks' matrices grow fourfold, and those for scores and averages grow sixteenfold, because they go with the square of the number of tokens (Day 7). With $T = HW/P^2 + 1$ tokens, width $D$ and $F$ hidden units, one block takes this many products:
#
# $$
# T\,(4 D^2 + 2 D F) + 2\, T^2 D .
# $$ (eq-patch-cost)


# %%
def by_formula(P, D=64, F=128, L=2, side=24):
    """Products of a picture's encoder: patches, blocks, and the layer at the end."""
    T = (side // P) ** 2 + 1
    return (T - 1) * 3 * P**2 * D + L * (T * (4 * D**2 + 2 * D * F) + 2 * T**2 * D) + D * 64


# %% tags=["evidence"]
rows = []
for P in (12, 8, 6, 4, 3, 2, 1):
    model = vision.VisionTransformer(
        reading.encoder_config(64, 2), channels=3, image_size=24, patch_size=P, n_classes=64
    )
    with torch.no_grad():
        counted = (
            work(partial(model, torch.zeros(1, 3, 24, 24))).products // 2
        )  # with the sums, 2 each
    assert counted == by_formula(P)
    inside = 2 * 2 * ((24 // P) ** 2 + 1) ** 2 * 64 / counted
    rows.append([f"{P} × {P}", (24 // P) ** 2, f"{counted:,}", f"{inside:.0%}"])
table(rows, ["patch", "patches", "products", "of these, scores and averages"])

# %% [markdown]
# So with single pixels, most of the work would be attention. The Vision Transformer of the paper reads 224 × 224 pixels in 196 patches of 16 × 16. Single pixels would be 50,176 tokens.

# %% [markdown]
# (deeper-which-patches)=
# ## Which patches decided? Attention, roll-out, gradient and occlusion
#
# *7 minutes.* **Does a picture's attention show what an answer is based on?** In our scenes we know the truth. A picture shows two things, and a sentence names one of them, such as "a red three". So the patches of the three should decide, and not those of the other thing. Four methods give each patch a score:
#
# - **Attention**: the weight that the class token gives to the patch in the last block, averaged over the heads.
# - **Roll-out** {cite}`abnar2020quantifying`: say that half of what leaves a block came in through the residual connection. Then each block's weights $A_l$, averaged over the heads, are mixed with the identity, and the blocks are multiplied: $\tilde A_L \cdots \tilde A_1$ with $\tilde A_l = \tfrac12 (A_l + I)$. The class token's row says how much of each patch it would hold if attention were all that happens.
# - **Gradient × input**: the gradient of the similarity with respect to the patch's numbers, times these numbers, summed up.
# - **Occlusion**: how far the similarity falls when the patch is painted black, like the background.

# %%
show_source(decided_patches.scores)

# %% tags=["evidence"] mystnb={"figure": {"caption": "Four answers to one question: which patches of the picture make it similar to *a red three*? Attention and roll-out would be the same for any sentence. Each map is divided by its largest value.", "name": "fig-vis-four-ways"}, "image": {"alt": "The scene of a red three left of a blue seven, and four maps of six by six patches with the outlines of both digits: attention, roll-out, gradient times input and occlusion."}}
picture = drawn([understand("a red three left of a blue seven")], seed=76)[0]
(sentence,) = naming.vectors_of(clip, [understand("a red three")])
scored = decided_patches.scores(clip, picture, sentence)
shown = {way: (of / of.abs().max()).detach().view(6, 6) for way, of in scored.items()}
decided(picture, shown, label="share of the largest")
plt.show()

# %% [markdown]
# Attention and roll-out don't depend on the sentence at all: the picture is encoded before anything is asked. So how often is the strongest patch on the thing that is named?

# %% tags=["evidence"] mystnb={"figure": {"caption": "Occlusion finds the thing that the sentence names; attention can't know it. Share of 200 scenes of two things in which the strongest patch is on the named one; *any ink* is a patch drawn at random from those on either thing.", "name": "fig-vis-truth"}, "image": {"alt": "Five bars: attention, roll-out, gradient times input, occlusion and any ink. That of occlusion is the longest."}}
on = decided_patches.on_the_thing(clip, 200)
bars({way: 100 * share for way, share in on.items()}, "strongest patch on it (%)")
plt.show()

# %% [markdown]
# (claim-vis-3)=

# %% tags=["evidence"]
claim(
    "vis-3",
    "Can't tell here: pictures are encoded before a thing is named. So attention's strongest patch is on it in {attention:.0%} (any ink: {ink:.0%}; occlusion: {occlusion:.1%}).",
    attention=on["attention"],
    ink=on["any ink"],
    occlusion=on["occlusion"],
    holds=lambda attention, ink, occlusion: (
        abs(attention - ink) < 0.12 and 0.45 < ink < 0.6 and occlusion > 0.9
    ),
    scale="the page's CLIP, whose pictures are encoded before a sentence is known; 200 scenes of two things, patches of 4 × 4",
)

# %% [markdown]
# Occlusion asks the question that we mean: does the answer depend on it? That is Day 5's test, an ablation. It costs a pass through the network for each patch.

# %% [markdown]
# ```{exercise} Roll-out
# :label: exercise-roll-out
#
# *Stretch, 7 minutes.* Given the attention weights of all blocks, return the roll-out: how much of each patch is in the class token after the last block. Average the heads, mix each matrix with the identity, half and half, and multiply. In which order? ([Solution](../solutions/12_vision.ipynb#solution-roll-out))
# ```


# %%
def roll_out(weights):
    """Shapes: weights (L, h, 1 + n, 1 + n), first block first, class token first; returns (n,)."""
    raise NotImplementedError


check("roll_out", roll_out)

# %% [markdown]
# ```{exercise} Occlusion
# :label: exercise-occlusion
#
# *Stretch, 8 minutes.* Paint over each patch alone, in a copy of the original picture, and ask the model again. Return the map of how far the score falls. ([Solution](../solutions/12_vision.ipynb#solution-occlusion))
# ```


# %%
def occlusion(score, image, patch_size, value):
    """Return the fall of the score when each patch, alone, is set to `value`.

    score: a function of images (B, C, H, W) that returns scores (B,).
    Shapes: image (C, H, W) to (H/P, W/P).
    """
    raise NotImplementedError


check("occlusion", occlusion)

# %% [markdown]
# (deeper-batches)=
# ## How large should a batch be?
#
# *3 minutes.* **Does contrastive learning need large batches?** In a batch of $B$ pairs, each picture has $B - 1$ counterexamples. Three small CLIPs see the same number of pictures, of one to three things, in batches of 16, 64 or 256. So the smallest batches allow the most steps. Each batch size gets the best of four learning rates, and learns its temperature.

# %% tags=["evidence"]
batched = experiments.load("clip_batches")
by_size = {B: batched.column("correct", batch_size=B)[0] for B in batched.parameters["batch_size"]}

# %% tags=["evidence"] mystnb={"figure": {"caption": "Batches of 64 teach more than batches of 16; batches of 256 teach no more than those of 64. Pictures and sentences that find each other first among 100, after the same number of pictures. Mean and range of three seeds (stored experiment).", "name": "fig-vis-batches"}, "image": {"alt": "Three bars: batches of 16, of 64 and of 256."}}
bars({f"batches of {B}": [100 * r for r in of] for B, of in by_size.items()}, "found first (%)")
plt.show()

# %% [markdown]
# (claim-vis-5)=

# %% tags=["evidence"]
small, middle, large = map(fmean, by_size.values())
best = [row["by rate"].index(max(row["by rate"])) for row in batched.rows]
assert (best[0], best[-1]) == (0, 3)  # of four rates, the lowest and the highest
claim(
    "vis-5",
    "Yes, if they are small: with batches of 16, {small:.0%} of pairs find each other first; with 64, {middle:.0%} do, and with 256, {large:.0%} do.",
    small=small,
    middle=middle,
    large=large,
    holds=lambda small, middle, large: middle > small + 0.03 and abs(large - middle) < 0.02,
    experiment="clip_batches",
    scale=f"{batched.parameters['pictures']:,} pictures each, three seeds; four rates, of which 16 does best at the lowest and 256 at the highest; first among 100, mean of both ways",
)

# %% [markdown]
# (deeper-temperature)=
# ## Does the temperature have to be learned?
#
# *2 minutes.* **What would a fixed temperature do?** The lower it is, the more the loss looks only at the most similar wrong pair.

# %% tags=["evidence"]
tempered = experiments.load("clip_temperature")
at = {row["temperature"]: row["correct"] for row in tempered.rows}
ends = tempered.column("ends at", temperature=0.0)[0]
lowest = {row["temperature"] for row in tempered.rows if row["by rate"][0] == max(row["by rate"])}
assert lowest == {0.01, 0.5}

# %% tags=["evidence"] mystnb={"figure": {"caption": "Learned or fixed, it hardly matters, unless it is far too high. Pictures and sentences that find each other first among 100, each temperature at the best of three learning rates (for 0.01 and 0.5, the lowest). Mean and range of three seeds (stored experiment).", "name": "fig-vis-temperature"}, "image": {"alt": "Four bars: learned, and fixed at 0.01, 0.07 and 0.5."}}
bars(
    {(f"fixed at {tau:g}" if tau else "learned"): [100 * r for r in of] for tau, of in at.items()},
    "found first (%)",
)
plt.show()

# %% tags=["evidence"]
observe(
    "Learned, it ends at {learned:.3f}, and pictures and sentences find each other first in {own:.0%} of cases; fixed at 0.5, in {high:.0%}.",
    learned=fmean(ends),
    own=fmean(at[0.0]),
    high=fmean(at[0.5]),
    holds=abs(fmean(at[0.0]) - fmean(at[0.07])) < 0.05 and fmean(at[0.5]) < fmean(at[0.0]) - 0.03,
)

# %% [markdown]
# So from CLIP's start, 0.07, it needn't be found by trial: it is learned with the weights. (We tried no other start.)
#
# (deeper-linear-probe)=
# ## Zero-shot against a linear probe
#
# *4 minutes.* **How many labels are the sentences worth?** A **linear probe** is a linear classifier that is trained on frozen features (Day 2). Ours reads the pictures' vectors, and names one of thirteen forms. Zero-shot naming has no labels, only thirteen sentences that differ in the form. (The model learned these words, of course, from the sentences of its training.)

# %% tags=["evidence"]
labels = [10, 30, 100, 300, 1000]
TRIED = {"forms in all colours": ("all", "all"), "in colours never seen": ("seen", "unseen")}
probes, worded = {}, {}
for name, (learned, pairs) in TRIED.items():
    worded[name] = 100 * space.worded(clip, pairs=pairs)
    probes[name] = [
        [100 * space.probed(clip, n, pairs=pairs, learned=learned, seed=s) for n in labels]
        for s in range(3)
    ]

# %% tags=["evidence"] mystnb={"figure": {"caption": "Sentences are worth hundreds of labels, and they carry over to colours in which a form was never seen. There, a probe that learned only from known combinations doesn't catch up, even with a thousand labels. Form of single things named correctly by a linear probe (lines: mean and range of three draws) and by sentences (dashed horizontal lines, in the same colours); 500 new pictures.", "name": "fig-vis-probe"}, "image": {"alt": "Two rising curves over 10 to 1,000 labels, on a logarithmic axis, each with a dashed horizontal line. The upper curve comes near its line at some hundred labels; the lower one, for colours never seen, levels off far below its own."}}
mean, (known, new) = {name: torch.tensor(of).mean(dim=0) for name, of in probes.items()}, TRIED
lines = {name: (labels, of) for name, of in probes.items()}
ax = curves(lines, "labelled pictures", "form named correctly (%)", logx=True)
for line, share in zip(ax.get_lines(), worded.values()):
    ax.axhline(share, color=line.get_color(), linestyle="dashed", linewidth=1)
plt.show()

# %% tags=["evidence"]
some, most = mean[known][labels.index(300)].item(), mean[new][-1].item()
observe(
    "With 300 labels, the probe names {some:.0f}% of the forms correctly; sentences name {all:.0f}%. In colours never seen, it names {most:.0f}% with 1,000 labels, and sentences name {unseen:.0f}%.",
    **{"some": some, "all": worded[known], "most": most, "unseen": worded[new]},
    holds=some < worded[known] and most < worded[new] - 5,
)

# %% [markdown]
# Why does the probe fail on a red zero? In its training, all zeros had other colours, so nothing stops it from taking red as evidence against zero. Sentences name the form and the colour in separate words.

# %% [markdown]
# ```{exercise} A class in several ways
# :label: exercise-several-ways
#
# *Core, 7 minutes.* A class can be named in several ways: *a red three*, *a three in red*. CLIP combines their vectors into one: each is divided by its length, and so is the mean of the results. Return this vector for each class. ([Solution](../solutions/12_vision.ipynb#solution-several-ways))
# ```


# %%
def several_ways(sentences):
    """Shapes: sentences (n, ways, E), of any length, to unit vectors (n, E)."""
    raise NotImplementedError


check("several_ways", several_ways)

# %% [markdown]
# (deeper-gap)=
# ## The gap between pictures and sentences
#
# *5 minutes.* **Do pictures and sentences share one space?** A picture's own sentence is more similar to it than other sentences are. That doesn't mean that the two are close. {cite:t}`liang2022mind` found two clouds, far apart, in every model that they looked at. Their **modality gap** is the distance between the means of the two clouds.

# %%
u, v = space.clouds(clip)  # of 300 new scenes, (300, 64) each
_, v_zh = space.clouds(clip, language="zh")
apart = {name: space.gap(u, of) for name, of in (("English", v), ("Chinese", v_zh))}
between = space.gap(v, v_zh)["gap"]

# %% tags=["evidence"] mystnb={"figure": {"caption": "Here the clouds overlap: pictures and sentences in both languages are spread over the same region. 300 new scenes, each as a picture, in English and in Chinese; the two main directions of all 900 vectors.", "name": "fig-vis-gap"}, "image": {"alt": "A scatter plot of three kinds of points: pictures as circles, English as squares, Chinese as triangles. They are mixed all over the plot."}}
every = torch.cat([u, v, v_zh])
_, _, axes_of = torch.pca_lowrank(every - every.mean(dim=0), q=2, niter=8)
ax = plt.subplots()[1]
for name, of, marker in (("pictures", u, "o"), ("English", v, "s"), ("Chinese", v_zh, "^")):
    x, y = ((of - every.mean(dim=0)) @ axes_of).T
    ax.scatter(x, y, s=14, marker=marker, label=name, alpha=0.6)
ax.set(xlabel="first component", ylabel="second component")
ax.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=3)
plt.show()

# %% tags=["evidence"]
observe(
    "The means of pictures and English sentences are {gap:.2f} apart, those of the two languages {between:.2f}. A picture and its own sentence have a cosine of {own:.2f}, a picture and another's {others:.2f}.",
    gap=apart["English"]["gap"],
    between=between,
    own=apart["English"]["own"],
    others=apart["English"]["others"],
    holds=between < apart["English"]["gap"] < 0.3 and apart["English"]["own"] > 0.8,
)

# %% [markdown]
# (claim-vis-6)=

# %% tags=["evidence"]
page = experiments.load("clip_page").rows
first = {
    of: fmean(row[f"{way}, seen, {of}"] for row in page for way in ("pictures", "sentences"))
    for of in ("en", "zh")
}
claim(
    "vis-6",
    "Yes: {en:.0%} of pairs find each other first (in Chinese, {zh:.0%} do). Pictures' and sentences' means are {gap:.2f} apart; the two languages' are {between:.2f} apart.",
    **first,
    gap=apart["English"]["gap"],
    between=between,
    holds=lambda en, zh, gap, between: min(en, zh) > 0.8 and between < gap < 0.3,
    experiment="clip_page",
    scale="one to three things; first among 100, mean of both ways; three seeds, the distances of one; unit vectors",
)

# %% [markdown]
# (deeper-bag)=
# ## Does it read sentences, or bags of words?
#
# *3 minutes.* **What if all the words of a sentence are shuffled?** In the lesson, the model often confused two sentences with the same words. So we take scenes of two and three things, and let each picture find its sentence among 300: with the words in their order, and in a random one.

# %% tags=["evidence"]
in_order, as_bag = (space.found_first(clip, 300, shuffled=how) for how in (False, True))
observe(
    "With the words in order, {ordered:.0%} of pictures find their sentence first among 300; with shuffled words, {shuffled:.0%} do.",
    ordered=in_order,
    shuffled=as_bag,
    holds=in_order > 0.6 and abs(in_order - as_bag) < 0.15,
)

# %% [markdown]
# To find one sentence among many, a bag of words is nearly enough, as most sentences differ in their words. That is why such a test doesn't show whether a model understands a sentence {cite}`yuksekgonul2023when`.
#
# So the training has to ask for the order. In a stored experiment, every second scene of several things brings one with exchanged words along, so that the batch holds two sentences with the same words.

# %% tags=["evidence"]
mixed_in, of_what = experiments.load("clip_exchanged").rows, ("colours", "places")
apart_by = {
    (name, what): fmean(row[f"exchanged {what}, {of}"] for row in rows for of in ("en", "zh"))
    for name, rows in (("plain", page), ("hard", mixed_in))
    for what in of_what
}
gained = {what: apart_by["hard", what] - apart_by["plain", what] for what in of_what}
observe(
    "With such batches, the correct one of two sentences is chosen for {hard_colours:.0%} instead of {colours:.0%} if the colours are exchanged, and for {hard_places:.0%} instead of {places:.0%} if the things are (three seeds, two languages).",
    hard_colours=apart_by["hard", "colours"],
    colours=apart_by["plain", "colours"],
    hard_places=apart_by["hard", "places"],
    places=apart_by["plain", "places"],
    holds=0 < gained["colours"] < 0.15 and gained["places"] < 0.02,
)

# %% [markdown]
# So such pairs in the batches aren't enough: with exchanged colours, the model chooses a little better, and with exchanged things, no better than before.

# %% [markdown]
# (deeper-fooled)=
# ## What else is in the picture: can a seven turn a three into a seven?
#
# *3 minutes.* **Does it hurt that something else is in the picture?** {cite:t}`goh2021multimodal` put a note that said *iPod* on an apple, and CLIP saw an iPod. Our scenes hold no written words, but two digits can lie next to each other: a red three and a blue seven. Ten sentences ask for the red digit: *a red zero* to *a red nine*. No red seven is there, but a seven is, and something red.

# %% tags=["evidence"]
shares = space.misled(clip)
observe(
    "Alone, the digit is named correctly in {alone:.0%} of pictures. With another digit next to it, in another colour, it is named correctly in {beside:.0%}; in {other:.0%}, the other digit's form is given the first one's colour.",
    alone=shares["alone"],
    beside=shares["beside another"],
    other=shares["the other"],
    holds=shares["alone"] > 0.8
    and shares["beside another"] < shares["alone"] - 0.2
    and abs(shares["beside another"] - shares["the other"]) < 0.2,
)

# %% [markdown]
# So the vector of a picture says that there is a three, a seven, red and blue, and hardly which belongs to which: a bag of properties, as the sentence's is a bag of words.

# %% [markdown]
# (deeper-published-vision)=
# ## The real thing: published weights
#
# *2 minutes.* **Do our layers compute what published models compute?** `load_vit` reads a Vision Transformer from a folder with `config.json` and its weights, in the layout of `transformers`, timm or torchvision, and `load_clip` reads CLIP. On small models with random weights, the outputs equal those of `transformers` (the tests compare them).

# %%
show_source(vision.load_clip)

# %% [markdown]
# Now for the real ones. Put a folder `clip` or `vit`, with the published files, into the folder that `BOOK_DATA` names. CLIP's tokenizer and the preprocessing of both are read as well. If a folder lacks `preprocessor_config.json`, as timm's do, write one: `size`, `image_mean` and `image_std` are enough. The photograph is one of scikit-learn's, of a dahlia.


# %% tags=["nbval-ignore-output"]
@torch.no_grad()
def named_by_clip(folder, photo, sentences):
    """Let a published CLIP choose one of the sentences."""
    model, tokens = vision.load_clip(folder), vision.read_word_end_pairs(folder)
    seen = vision.preprocess(photo, vision.read_preprocessing(folder))  # (3, H, W)
    u, v = model.encode_images(seen[None]), model.encode_texts(*tokens.batch(sentences))
    return sentences[vision.zero_shot(u, v, model.temperature).argmax()]


# %% tags=["nbval-ignore-output"]
@torch.no_grad()
def named_by_vit(folder, photo):
    """Let a published Vision Transformer choose one of the classes that it was trained on."""
    model, names = vision.load_vit(folder), read_json(folder / "config.json").table("id2label")
    best = model(vision.preprocess(photo, vision.read_preprocessing(folder))[None]).argmax().item()
    return names.get(str(best), best)


# %% tags=["nbval-ignore-output"]
own, photo = own_folder(), (255 * photographs()["flower"]).round().byte()  # (3, 427, 640)
things = [f"a photo of a {name}" for name in ("tower", "dahlia", "cat", "seven")]
for kind, name in (("clip", partial(named_by_clip, sentences=things)), ("vit", named_by_vit)):
    if own and (own / kind).is_dir():
        print(f"{kind}:", name(own / kind, photo))
    else:
        print(f"{kind}: not tried here")
