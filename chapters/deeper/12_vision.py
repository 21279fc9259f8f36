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
from random import Random
from statistics import fmean

import matplotlib.pyplot as plt
import torch
from sklearn.linear_model import LogisticRegression

from utils import vision
from utils.data.scenes import COLOURS, DIGITS, Scene, Thing, drawn, scenes, understand
from utils.exercises.vision import check
from utils.measure import experiments
from utils.measure.claims import claim
from utils.measure.costs import work
from utils.show.display import observe, show_source, table
from utils.show.plotting import bars, curves, image_grid, use_book_style
from utils.show.scenes import decided
from utils.show.views import models
from utils.tasks import decided_patches
from utils.tasks import patches as reading
from utils.tasks import scenes as naming

use_book_style()

# %%
held = models.load("clip")  # the lesson's model
clip = naming.restored_clip(held.weights, held.header["temperature"])

# %% [markdown]
# (deeper-plane)=
# ## What if the patches are shuffled?
#
# *4 minutes.* **How much does each network depend on the plane?** One fixed order is drawn at random, and the patches of every picture are put into it, in training and in testing. To a Vision Transformer that is nearly the same task: its positions are random at first anyway, so they learn another plane. To a convolutional network it isn't: its kernels look at neighbours that are no longer there. Shuffling single pixels is worse for both, because then even a patch of 2 × 2 shows nothing.

# %% tags=["evidence"]
plain, mixed = experiments.load("vit_and_cnn"), experiments.load("shuffled_pictures")
NAMES = {"ViT": "Transformer", "CNN": "Day 1's network"}
read = {}
for kind, name in NAMES.items():
    read[name, "as they are"] = plain.column("test", network=kind, pictures=1221)[0]
    for what in ("patches", "pixels"):
        read[name, what] = mixed.column("test", network=kind, shuffled=what)[0]

# %% tags=["evidence"] mystnb={"figure": {"caption": "Shuffled patches are nearly the same to a Transformer, and worse for a convolutional network; shuffled pixels hurt both. Test digits read correctly after training on all 1,221 digits, each network at the best of four rates. Mean and range of three seeds (stored experiments).", "name": "fig-vis-shuffled"}, "image": {"alt": "Six bars, three for the Transformer and three for Day 1's network: as they are, shuffled patches, shuffled pixels."}}
bars({f"{name}, {what}": [100 * r for r in of] for (name, what), of in read.items()}, "correct (%)")
plt.show()

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
# (deeper-cost)=
# ## What do smaller patches cost?
#
# *4 minutes.* **If small patches show more, why not take single pixels?** Halve $P$, and there are four times as many tokens. The products with $W_p$ stay the same, those with the blocks' matrices grow fourfold, and those for scores and averages grow sixteenfold, because they go with the square of the number of tokens (Day 7). With $T = HW/P^2 + 1$ tokens, width $D$ and $F$ hidden units, one block takes this many products:
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
# (deeper-decided)=
# ## Which patches decided? Attention, roll-out, gradient and occlusion
#
# *7 minutes.* **Does attention show what an answer is based on?** In our scenes we know the truth. A picture shows two things, and a sentence names one of them, such as "a red three". So the patches of the three should decide, and not those of the other thing. Four methods give each patch a score:
#
# - **Attention**: the weight that the class token gives to the patch in the last block, averaged over the heads.
# - **Roll-out** {cite}`abnar2020quantifying`: half of what leaves a block came in through the residual connection. So each block's weights $A_l$, averaged over the heads, are mixed with the identity, and the blocks are multiplied: $\tilde A_L \cdots \tilde A_1$ with $\tilde A_l = \tfrac12 (A_l + I)$. The class token's row says how much of each patch it would hold if attention were all that happens.
# - **Gradient × input**: the gradient of the similarity with respect to the patch's numbers, times these numbers, summed up.
# - **Occlusion**: how far the similarity falls when the patch is painted black, like the ground.

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

# %% tags=["evidence"] mystnb={"figure": {"caption": "Occlusion finds the thing that the sentence names; attention can't know it. Share of 100 scenes of two things in which the strongest patch is on the named one; *any ink* is a patch drawn at random from those on either thing.", "name": "fig-vis-truth"}, "image": {"alt": "Five bars: attention, roll-out, gradient times input, occlusion and any ink. That of occlusion is the longest."}}
on = decided_patches.on_the_thing(clip, 100)
bars({way: 100 * share for way, share in on.items()}, "strongest patch on it (%)")
plt.show()

# %% [markdown]
# (claim-vis-3)=

# %% tags=["evidence"]
claim(
    "vis-3",
    "No: its strongest patch is on the named thing in {attention:.0%} of scenes, any patch with ink in {ink:.0%}; that of occlusion is in {occlusion:.0%}.",
    attention=on["attention"],
    ink=on["any ink"],
    occlusion=on["occlusion"],
    holds=lambda attention, ink, occlusion: (
        abs(attention - ink) < 0.15 and 0.45 < ink < 0.6 and occlusion > 0.9
    ),
    scale="the page's CLIP, 100 scenes of two things, patches of 4 × 4",
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
# *Stretch, 8 minutes.* Paint over one patch after the other, and ask the model again. Return the map of how far the score falls. ([Solution](../solutions/12_vision.ipynb#solution-occlusion))
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
# (deeper-probe)=
# ## Zero-shot against a linear probe
#
# *4 minutes.* **How much would a few labels add?** A **linear probe** (Day 2) is trained on the frozen image features of digits, with $k$ labelled pictures for each of the ten. Zero-shot naming has no labels, only sentences. Each digit has five, one in each colour, and the mean of their vectors stands for it ({numref}`exercise-several-ways`).


# %%
def of_digits(n, seed, part):
    """Image features (n, 64) and labels (n,) of single digits, in all colours."""
    many = scenes(2 * n, seed, n_things=(1,), part=part, pairs="all")
    some = [scene for scene in many if scene.things[0].form in DIGITS][:n]
    with torch.no_grad():
        features = clip.encode_images(drawn(some, seed, part))
    return features, torch.tensor([DIGITS.index(scene.things[0].form) for scene in some])


# %%
ways = [[Scene((Thing(form, colour),)) for colour in COLOURS] for form in DIGITS]
classes = torch.stack([naming.vectors_of(clip, of_one).mean(dim=0) for of_one in ways])  # (10, 64)
x, y = of_digits(400, 0, "test")
no_labels = ((x @ classes.T).argmax(dim=1) == y).double().mean().item()

# %% tags=["evidence"]
labels, correct = [1, 2, 5, 10, 50], []
for seed in range(3):
    x_train, y_train = of_digits(1000, 1 + seed, "train")
    of_class = [(y_train == k).nonzero()[:, 0] for k in range(10)]
    correct.append([])
    for k in labels:
        some = torch.cat([rows[:k] for rows in of_class])
        probe = LogisticRegression(C=100, max_iter=2000).fit(x_train[some], y_train[some])
        correct[-1].append(100 * probe.score(x, y))

# %% tags=["evidence"] mystnb={"figure": {"caption": "Sentences alone are worth a few labels per digit: single digits of the test handwriting named correctly by a linear probe, and by sentences alone (dashed). Mean and range of three draws of the labelled pictures.", "name": "fig-vis-probe"}, "image": {"alt": "A curve with a band over 1 to 50 labels per digit, on a logarithmic axis, rises towards a dashed horizontal line."}}
ax = curves({"linear probe": (labels, correct)}, "labels per digit", "correct (%)", logx=True)
ax.axhline(100 * no_labels, color="gray", linestyle="dashed", linewidth=1)
plt.show()

# %% [markdown]
# ```{exercise} A class in several ways
# :label: exercise-several-ways
#
# *Core, 7 minutes.* A class can be named in several ways: *a red three*, *a three in red*. CLIP makes one vector of their vectors: each is divided by its length, and so is the mean of the results. Return it for each class. ([Solution](../solutions/12_vision.ipynb#solution-several-ways))
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
# *5 minutes.* **Do pictures and sentences share one space?** A picture's own sentence is more similar to it than other sentences are. That doesn't mean that the two are close. Liang et al. {cite}`liang2022mind` found two clouds, far apart, in every model that they looked at. Their **modality gap** is the distance between the means of the two clouds.

# %% tags=["evidence"]
described = naming.distinct_scenes(300, 0, part="test")
with torch.no_grad():
    u = clip.encode_images(drawn(described, 0, "test"))
v = {language: naming.vectors_of(clip, described, language) for language in ("en", "zh")}
gap = (u.mean(dim=0) - v["en"].mean(dim=0)).norm().item()
between = (v["zh"].mean(dim=0) - v["en"].mean(dim=0)).norm().item()
own = (u * v["en"]).sum(dim=1).mean().item()
languages = (v["zh"] * v["en"]).sum(dim=1).mean().item()

# %% tags=["evidence"] mystnb={"figure": {"caption": "Here the clouds overlap: pictures and sentences in both languages are spread over the same region. 300 new scenes, each as a picture, in English and in Chinese; the two main directions of all 900 vectors.", "name": "fig-vis-gap"}, "image": {"alt": "A scatter plot of three kinds of points: pictures as circles, English as squares, Chinese as triangles. They are mixed all over the plot."}}
every = torch.cat([u, v["en"], v["zh"]])
_, _, axes_of = torch.pca_lowrank(every - every.mean(dim=0), q=2, niter=8)
ax = plt.subplots()[1]
for name, of, marker in (
    ("pictures", u, "o"),
    ("English", v["en"], "s"),
    ("Chinese", v["zh"], "^"),
):
    x, y = ((of - every.mean(dim=0)) @ axes_of).T
    ax.scatter(x, y, s=14, marker=marker, label=name, alpha=0.6)
ax.set(xlabel="first component", ylabel="second component")
ax.legend()
plt.show()

# %% tags=["evidence"]
observe(
    "The means of pictures and English sentences are {gap:.2f} apart, those of the two languages {between:.2f}. A picture and its sentence have a cosine of {own:.2f}, the same sentence in two languages {languages:.2f}.",
    **{"gap": gap, "between": between, "own": own, "languages": languages},
    holds=gap > between and own < languages,
)

# %% [markdown]
# (claim-vis-6)=

# %% tags=["evidence"]
page = experiments.load("clip_page").select(hard=0.0)
first = {
    language: fmean(row[f"pictures, seen, {language}"] for row in page) for language in ("en", "zh")
}
claim(
    "vis-6",
    "Yes: among 100 sentences, {en:.0%} of pictures find their own first, in Chinese {zh:.0%}; the clouds' means are {gap:.2f} apart, those of both languages {between:.2f}.",
    **first,
    gap=gap,
    between=between,
    holds=lambda en, zh, gap, between: min(en, zh) > 0.5 and between < gap < 0.4,
    experiment="clip_page",
    scale="one to three things; three seeds, the distances of one; unit vectors",
)

# %% [markdown]
# (deeper-fooled)=
# ## What else is in the picture: can a seven turn a three into a seven?
#
# *4 minutes.* **Does it help or hurt that something else is in the picture?** Goh et al. {cite}`goh2021multimodal` put a note that said *iPod* on an apple, and CLIP saw an iPod. Nobody writes words into our scenes, but two digits can lie side by side. The picture shows a red three left of a blue seven, and there are two sentences to choose from, "a red three" and "a red seven". All the words of the second one are in the picture, in some way. Will the model fall for it? As a control, the wrong sentence names a digit that isn't there.


# %%
def own_chosen(present: bool, n=200):
    """Share of pictures of two digits for which the first one's sentence is chosen.

    present: whether the wrong sentence has the other digit's form, or one that isn't there.
    """
    chance = Random(0)
    shown, options = [], []
    for _ in range(n):
        forms, colours = chance.sample(DIGITS, 3), chance.sample(list(COLOURS), 2)
        first, second = map(Thing, forms, colours)
        shown.append(Scene((first, second), ("left of",)))
        wrong = Thing(forms[1 if present else 2], colours[0])
        options.append([Scene((first,)), Scene((wrong,))])
    found = naming.chosen(clip, drawn(shown, chance, "test"), options)
    return (found == 0).double().mean().item()


# %% tags=["evidence"]
absent, present = own_chosen(present=False), own_chosen(present=True)
observe(
    "If the wrong digit is nowhere in the picture, the sentence about the first one is chosen for {absent:.0%} of pictures; if the wrong digit lies beside it in another colour, for {present:.0%}.",
    absent=absent,
    present=present,
    holds=present < absent,
)

# %% [markdown]
# (deeper-published)=
# ## The real thing: published weights
#
# *2 minutes.* **Do our layers compute what published models compute?** `load_vit` reads a Vision Transformer from a folder with `config.json` and its weights, in the layout of `transformers`, timm or torchvision, and `load_clip` reads CLIP. On small models with random weights, the outputs equal those of `transformers` (the tests compare them). To try a published one, put a folder `clip` into the folder that `BOOK_DATA` names.

# %%
show_source(vision.load_clip)
