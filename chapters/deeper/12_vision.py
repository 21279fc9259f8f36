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

# %% [markdown]
# (deeper-plane)=
# ## What if the patches are shuffled?
#
# *4 minutes.* **How much does each network depend on the plane?** One fixed order is drawn at random, and the patches of every picture are put into it, in training and in testing. To a Vision Transformer that is nearly the same task: its positions are random at first anyway, so they learn another plane. To a convolutional network it isn't: its kernels look at neighbours that are no longer there. Shuffling single pixels is worse for both, because then even a patch of 2 × 2 shows nothing.

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
# - **Occlusion**: how far the similarity falls when the patch is painted grey.

# %% [markdown]
# Attention and roll-out don't depend on the sentence at all: the picture is encoded before anything is asked. So how often is the strongest patch on the thing that is named?

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

# %% [markdown]
# (deeper-fooled)=
# ## What else is in the picture: can a seven turn a three into a seven?
#
# *4 minutes.* **Does it help or hurt that something else is in the picture?** Goh et al. {cite}`goh2021multimodal` put a note that said *iPod* on an apple, and CLIP saw an iPod. Nobody writes words into our scenes, but two digits can lie side by side. The picture shows a red three left of a blue seven, and there are two sentences to choose from, "a red three" and "a red seven". All the words of the second one are in the picture, in some way. Will the model fall for it? As a control, the wrong sentence names a digit that isn't there.
