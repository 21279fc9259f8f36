# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Day 1: The convolutional network
#
# **Today's question:** how can a network make use of the fact that a picture is a picture?
#
# After today you can
#
# - work out a convolution by hand, and write it,
# - compute how large a feature map is, and how many weights it takes,
# - predict what happens to the answer when the picture moves,
# - compute how far a unit sees, and choose depth and dilation to match,
# - predict when a convolution is the wrong tool.
#
# The lesson builds on [Day 0](00_first_steps.ipynb): scores, losses, `fit`, and why the data are split in three. It takes 50 minutes to read and 34 to write the three
# functions at its heart. Your network is built from them, and at the end it reads a digit that you draw.

# %% tags=["setup"]
import convolution_to_attention  # is `utils` this book's?

from statistics import fmean

import matplotlib.pyplot as plt
import torch
from torch import nn
from torch.nn import functional as F

from utils import convolution
from utils.data.augmentation import jitter
from utils.data.pictures import digits, photographs
from utils.data.sequences import two_marks
from utils.data.strokes import RASTER, drawn_digits, rasterise
from utils.exercises.convolution import check
from utils.exercises.progress import checklist
from utils.measure import experiments
from utils.measure.claims import claim
from utils.show.display import observe
from utils.show.mechanisms import convolution as mechanisms
from utils.show.plotting import curves, image_grid, use_book_style
from utils.show.training import learning_curves
from utils.show.views import drawing, guess, quiz, sliding
from utils.tasks.digits import at_best_rate, mismatch, reads, train_reader

use_book_style()

# %% [markdown]
# **Five questions about yesterday**

# %% tags=["view"]
quiz("01_convolution")

# %% [markdown]
# ## Where we stand
#
# *2 minutes.* Yesterday's model laid one template per class on the digit, and fell apart when the digit moved by a pixel. Perhaps it was too simple? We give
# it a **hidden layer** of 128 units, each a sum over all pixels with weights of its own. Between the layers comes a **ReLU**, which turns negative numbers into 0.
# Today we split the data in file order, one handwritten sheet after another, so the training and test sets have no sheet in common. (`train_reader` is
# yesterday's `fit` with some refinements that we explain later.)

# %% tags=["training"]
data = digits("file order")
torch.manual_seed(0)
dense = nn.Sequential(nn.Flatten(), nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 10))
train_reader(dense, data.train, jittered=False, epochs=20)
ladder = {"dense": [reads(dense, data.validation, by) for by in (0, 1, 2)]}

# %% tags=["evidence"]
still, one, _ = ladder["dense"]
observe(
    "This network reads {still:.0%} of the validation digits in place, but only {one:.0%} of them once they are moved one pixel to the right.",
    **{"still": still, "one": one},
    holds=still > 0.9 and one < 0.7,
)

# %% [markdown]
# It never learned what a 3 looks like. It learned which of 64 numbers are large when there is a 3 *in the middle*. And it is wasteful: every layer of
# this kind has a weight for each pair of an input and an output.

# %% tags=["view"]
pixels = 224 * 224
guess(
    "A dense layer turns a photograph of 224 × 224 pixels into 16 pictures of the same size. How many weights does it have?",
    ["40 million", "40 billion", "40 trillion"],
    right="40 billion",
    because=f"{pixels:,} inputs times 16 · {pixels:,} outputs make {16 * pixels**2:,} weights.",
)

# %% [markdown]
# So we have two wishes. The layer should know which pixels are neighbours. And what it learns at one position should hold at every other.
#
# ## The idea
#
# *1 minute.* Imagine a proofreader with a card that has a small window in it. She slides the card over the page and asks the same question everywhere: "Is
# it bright on the left here, and dark on the right?" She writes each answer in the corresponding spot on a second sheet. When she is done, that sheet is a map of the edges.

# %% tags=["mechanism"] mystnb={"figure": {"caption": "One card slides over the whole picture, and each answer goes to the same position on a second sheet. The last window holds an edge, and its cell is bright.", "name": "fig-sliding-card"}, "image": {"alt": "On the left is the card, two by two: 1 and −1, in both rows. Then come, three times, a picture of five by five pixels with a 3 in blue and, next to it, a sheet of four by four cells. In the first picture a window of two by two is framed in the top left corner, and the first cell of the sheet is filled in. In the second it is one step to the right. In the third it is in the bottom right corner, on the edge of the stroke, and the whole sheet is filled in: its last column is the brightest."}}
rows = ["01110", "00010", "00110", "00010", "01110"]
small_three = torch.tensor([[float(dot) for dot in row] for row in rows])
mechanisms.card(small_three, torch.tensor([[1.0, -1.0], [1.0, -1.0]]))
plt.show()

# %% [markdown]
# That is a **convolution** {cite}`fukushima1980neocognitron,lecun1998gradient`. The question is a small grid of weights, the **kernel**. The sheet is a **feature map**. Two decisions
# are built in: an answer depends only on a small neighbourhood (**locality**), and the question is the same everywhere (**weight sharing**).
#
# ## Step by step
#
# ### The sum at one position
#
# *3 minutes.* Take a pencil. Here are a picture of 3 × 4 pixels and a kernel of 2 × 2:

# %% tags=["mechanism"] mystnb={"figure": {"caption": "Four products and one sum give one number of the map.", "name": "fig-one-place"}, "image": {"alt": "A picture of three rows and four columns, 1 2 0 1, 0 1 3 2, 2 0 1 1; its top left window of two by two is framed. Next to it are the kernel 1 −1, 2 0, and the map of two rows and three columns, in which only the first number is filled in: −1. Below is written 1·1 + 2·−1 + 0·2 + 1·0 = −1."}}
x = torch.tensor([[1.0, 2.0, 0.0, 1.0], [0.0, 1.0, 3.0, 2.0], [2.0, 0.0, 1.0, 1.0]])
w = torch.tensor([[1.0, -1.0], [2.0, 0.0]])
mechanisms.one_place(x, w)
plt.show()

# %% [markdown]
# Which number comes to the right of −1? (It is 4.) Strictly, this is a *cross-correlation*; a mathematician's convolution flips the kernel first. A network learns its kernels,
# flipped or not, so the field says convolution, and so do we.
#
# ### Several channels, several kernels
#
# *11 minutes, 8 of them yours.* A colour photograph has three **channels**: red, green and blue. A kernel is as deep as the picture, and the products of all
# channels go into *one* sum. A layer that looks for several patterns has several kernels, and returns one map for each.

# %% tags=["mechanism"] mystnb={"figure": {"caption": "Two kernels return two maps, however many channels come in. A kernel has a slice for each channel; the sum of all its products, plus its bias, is one number of its map.", "name": "fig-channels"}, "image": {"alt": "On the left are three small pictures in a column, red, green and blue, each with a framed window of two by two. Arrows lead to two columns of slices: kernel 1 in light blue, kernel 2 in yellow, with three slices each. Arrows from the slices of kernel 1 meet in a sum, plus b, which leads to map 1; arrows from those of kernel 2 meet in another sum, which leads to map 2."}}
mechanisms.channels()
plt.show()

# %% [markdown]
# With $C$ channels, a kernel $w_o$ and a bias $b_o$ for each output channel $o$, and the window's top left corner in row $i$ and column $j$, counted from 0:
#
# $$
# y_{o,i,j} = b_o + \sum_{c=0}^{C-1} \sum_{u=0}^{K-1} \sum_{v=0}^{K-1} w_{o,c,u,v}\, x_{c,i+u,j+v} .
# $$ (eq-conv)
#
# **Your turn.** Compute the answers at one position, for a batch of windows that have already been cut out.
#
# ```{exercise} Convolution at one position
# :label: exercise-one-place
#
# *8 minutes.* Write {eq}`eq-conv`: for each window in the batch, return one number from each kernel. ([Solution](solutions/01_convolution.ipynb#solution-one-place))
# ```


# %%
def at_one_place(window, w, b):
    """Shapes: window (B, C, K, K), w (C_out, C, K, K), b (C_out,); returns (B, C_out)."""
    raise NotImplementedError


at_one_place = check("one_place", at_one_place)

# %%
check.show_reference("one_place")

# %% [markdown]
# `einsum` reads like the equation: each axis has a letter, and an axis whose letter is missing after the arrow is summed over. Now we fill all six positions of {numref}`fig-one-place`:

# %%
for i in range(2):
    windows = torch.stack([x[i : i + 2, j : j + 2] for j in range(3)])  # (3, 2, 2)
    print(at_one_place(windows[:, None], w[None, None], torch.zeros(1)).flatten().tolist())

# %% [markdown]
# ### Everywhere: stride, padding, dilation
#
# *27 minutes, 18 of them yours.* Three numbers decide where a kernel can go. The **stride** $s$ is how far it jumps. **Padding** lays a frame of zeros, $p$ wide, around the
# picture, so that the kernel can reach over the border. **Dilation** $d$ spreads the kernel's weights apart; we won't need it until the end.

# %% tags=["mechanism"] mystnb={"figure": {"caption": "Padding preserves the picture's size, and a larger stride shrinks it: the first position of a 3 × 3 kernel on a 5 × 5 picture (framed), and the map's size. Dots are zeros.", "name": "fig-settings"}, "image": {"alt": "Four drawings. Plain: a three by three kernel in the corner of a five by five picture; the map has three by three positions. Padding 1: a frame of dots surrounds the picture and the kernel starts in the frame; the map has five by five. Stride 2, padding 1: the map has three by three. Dilation 2: nine weights with gaps cover the whole picture; the map has one position."}}
mechanisms.settings()
plt.show()

# %% [markdown]
# A side of $H$ pixels has room for
#
# $$
# H_\text{out} = \left\lfloor \frac{H + 2p - d(K-1) - 1}{s} \right\rfloor + 1
# $$ (eq-size)
#
# positions {cite}`dumoulin2016guide`. The kernel covers $d(K-1)+1$ pixels; divide the remaining pixels into jumps of $s$, and add 1 for the position where it starts.
#
# ```{exercise} The whole convolution
# :label: exercise-everywhere
#
# *18 minutes.* Return the maps of the whole convolution, with stride and padding. Two loops over the positions with your `at_one_place` will do, but training will then take
# minutes. Or let `x.unfold(2, K, stride)` cut windows along axis 2: that axis then counts the positions, and a new axis of length K is added at the end.
# `F.pad(x, (p, p, p, p))` adds the frame. ([Solution](solutions/01_convolution.ipynb#solution-everywhere))
# ```


# %%
def conv2d(x, w, b, stride=1, padding=0):
    """Shapes: x (B, C, H, W), w (C_out, C, K, K), b (C_out,); returns (B, C_out, H_out, W_out)."""
    raise NotImplementedError


conv2d = check("everywhere", conv2d)

# %%
check.show_reference("everywhere")

# %% [markdown]
# Long before networks learned kernels, people designed them. Sobel's kernel takes the difference between left and right, over three rows. Lay it on a photograph, and change its numbers:

# %% tags=["view"]
photo = photographs()["china"].mean(0)  # (H, W), grey
crop = F.avg_pool2d(photo[None, 150:390, 100:420], 2)[0]  # (120, 160)
sobel = torch.tensor([[1.0, 0.0, -1.0], [2.0, 0.0, -2.0], [1.0, 0.0, -1.0]])
kernels = {"vertical edges": sobel.tolist(), "horizontal edges": sobel.T.tolist()}
kernels |= {"blur": [[1 / 9] * 3] * 3, "only itself": [[0, 0, 0], [0, 1, 0], [0, 0, 0]]}
sliding(crop, kernels, place=(60, 80))

# %% mystnb={"figure": {"caption": "Your `conv2d` finds the vertical and the horizontal edges of a photograph (by Daniel Büchele, CC BY 2.0).", "name": "fig-sobel"}, "image": {"alt": "Three grey pictures of a Chinese temple: the photograph; its vertical edges, in which the posts are bright; and its horizontal edges, in which the rims of the roofs are bright."}}
both = torch.stack([sobel, sobel.T])[:, None]  # (2, 1, 3, 3)
edges = conv2d(photo[None, None], both, torch.zeros(2), padding=1)[0].abs()
image_grid(
    [photo, *(edges / 1.5).clamp(max=1)], ["photograph", "vertical", "horizontal"], columns=3
)
plt.show()

# %% [markdown]
# ### A kernel that is learned
#
# *2 minutes.* Sobel had to think up his kernel. Could yesterday's gradient descent have found it? We take a piece of the photograph and the map that Sobel's kernel gives for it,
# hide the kernel, and start from 0:

# %%
piece, none = crop[None, None, 60:92, 80:112], torch.zeros(1)  # (1, 1, 32, 32)
piece = piece - piece.mean()  # around 0, so that long steps are safe
wanted = conv2d(piece, sobel[None, None], none)
w, found = torch.zeros(1, 1, 3, 3), []
for _ in range(201):
    found.append(w)
    w = w.detach().requires_grad_()
    loss = ((conv2d(piece, w, none) - wanted) ** 2).mean()
    w = (w - 3.0 * torch.autograd.grad(loss, w)[0]).detach()

# %% tags=["evidence"] mystnb={"figure": {"caption": "Gradient descent finds Sobel's kernel: the learned kernel after 0 to 200 steps, and Sobel's own. Purple and orange mark opposite signs.", "name": "fig-learned-kernel"}, "image": {"alt": "Five grids of three by three squares. The first is empty. Then a purple column grows on the left and an orange one on the right, until the fourth grid looks like the fifth, Sobel's."}}
shown = {f"{steps} steps": found[steps][0] for steps in (0, 10, 50, 200)} | {"Sobel": sobel[None]}
image_grid(list(shown.values()), list(shown), columns=5, signed=True)
plt.show()

# %% tags=["evidence"]
off = (found[200][0, 0] - sobel).abs().max().item()
observe("After 200 steps, no weight is off by more than {off:.2f}.", off=off, holds=off < 0.1)

# %% [markdown]
# In a network there is no map to copy: the loss comes from the labels, and gradient descent looks for kernels whose maps help to predict them.
#
# **Enough for tonight?** This is a good place to stop: your convolution works, and can learn. Next, we build networks from it.
#
# ### A first reader: He initialisation
#
# *2 minutes.* A network's kernels start as random numbers with variance $2/n$, where $n = 9C$ is the number of products in each sum. This keeps the signal after the ReLU about
# as large as the one that came in {cite}`he2015delving`. From there on, kernels are trained like all other weights.


# %%
def kernels_of(out_channels, in_channels):
    """3 × 3 kernels and biases at the start, with He's variance."""
    n = 9 * in_channels
    weight = torch.randn(out_channels, in_channels, 3, 3) * (2 / n) ** 0.5
    return nn.Parameter(weight), nn.Parameter(torch.zeros(out_channels))


# %%
class FirstReader(nn.Module):
    """Two convolutions, then a dense layer on `n` numbers from each map: (B, 1, 8, 8) to (B, 10)."""

    def __init__(self, shrink, n, C=16):
        super().__init__()
        self.shrink = shrink
        self.w1, self.b1 = kernels_of(C, 1)
        self.w2, self.b2 = kernels_of(C, C)
        self.dense = nn.Linear(n * C, 10)

    def forward(self, x):
        x = conv2d(x, self.w1, self.b1, padding=1).relu()
        x = conv2d(x, self.w2, self.b2, padding=1).relu()
        return self.dense(self.shrink(x).flatten(1))


# %% [markdown]
# `shrink` will matter in a moment. Here it leaves the maps as they are, with 64 numbers each.


# %% tags=["training"]
def trained(shrink, n):
    """A first reader after ten epochs: the shares that it reads, moved by 0, 1 and 2 pixels."""
    torch.manual_seed(0)
    model = FirstReader(shrink, n)
    train_reader(model, data.train, jittered=False, epochs=10)
    return [reads(model, data.validation, by) for by in (0, 1, 2)]


ladder["convolutions"] = trained(lambda maps: maps, 64)

# %% tags=["evidence"]
first = dict(zip(("still", "one", "two"), ladder["convolutions"]))
observe(
    "Your convolutions read {still:.0%} of the digits in place. After a move of one pixel they read {one:.0%}; after a move of two, they read {two:.0%}.",
    **first,
    holds=first["still"] > 0.9 and first["one"] < 0.8,
)

# %% [markdown]
# ### What moves along: equivariance
#
# *2 minutes.* Was weight sharing for nothing? Let $S$ move a picture by some pixels. The kernel is the same everywhere, so, away from the borders,
#
# $$
# \operatorname{conv}(S x) = S \operatorname{conv}(x) .
# $$ (eq-equivariance)

# %% tags=["mechanism"] mystnb={"figure": {"caption": "At stride 1 the map moves with the picture. At stride 2, a one-pixel move changes the map's numbers. The kernel is 1, −1.", "name": "fig-moves"}, "image": {"alt": "Four rows of eight pixels, each with an arrow to its map. At stride 1: 0 0 1 1 0 0 0 0 gives 0 −1 0 1 0 0 0; moved by one pixel, the same numbers appear one position further right. At stride 2 the unmoved picture gives only zeros; the moved one gives 0 −1 1 0."}}
mechanisms.moved_along(torch.tensor([0.0, 0, 1, 1, 0, 0, 0, 0]), torch.tensor([1.0, -1.0]))
plt.show()

# %% [markdown]
# What goes in shifted comes out shifted. That is **equivariance**. So the *maps* did move along, but the dense layer after them still has a separate weight for each
# position. The *answer*, though, should stay the same: that is **invariance**.
#
# ### Pooling
#
# *11 minutes, 8 of them yours.* It matters little whether an edge is one pixel further left. So **max pooling** keeps only the largest number in each window.

# %% tags=["mechanism"] mystnb={"figure": {"caption": "Max pooling keeps the largest number of each 2 × 2 window. The mean of the whole map forgets every position.", "name": "fig-pooling"}, "image": {"alt": "In the middle is a map of four by four numbers, cut into four windows; in each the largest number is coloured. An arrow to the right, max, leads to these four: 2, 3, 1, 5. An arrow to the left, mean, leads to a single number."}}
mechanisms.pooled(torch.tensor([[0.0, 2, 1, 0], [1, 0, 0, 3], [0, 0, 5, 1], [1, 0, 2, 2]]))
plt.show()

# %% [markdown]
# ```{exercise} Max pooling
# :label: exercise-max-pooling
#
# *8 minutes.* Return the largest number in each K × K window. The windows lie side by side; leftover rows at the bottom and columns on the right are dropped. Careful: a map may be
# negative everywhere. ([Solution](solutions/01_convolution.ipynb#solution-max-pooling))
# ```


# %%
def max_pool2d(x, K):
    """Shapes: x (B, C, H, W) to (B, C, H // K, W // K)."""
    raise NotImplementedError


max_pool2d = check("max_pooling", max_pool2d)

# %%
check.show_reference("max_pooling")

# %% [markdown]
# Now we give the same reader your pooling before its dense layer: once with windows of 2 × 2, as in most networks, and once with one window as large as the map.

# %% tags=["training"]
ladder["windows of 2 × 2"] = trained(lambda maps: max_pool2d(maps, 2), 16)
ladder["the whole map"] = trained(lambda maps: max_pool2d(maps, 8), 1)

# %% tags=["view"]
two, whole = (ladder[name][1] for name in ("windows of 2 × 2", "the whole map"))
guess(
    "Once the digits are moved by one pixel, which reader reads more of them?",
    ["the one with windows of 2 × 2", "the one with the whole map", "both about the same"],
    right="the one with the whole map",
    because=f"With windows of 2 × 2 it reads {two:.0%}; with the whole map it reads {whole:.0%}.",
)

# %% tags=["evidence"] mystnb={"figure": {"caption": "A reader that pools over the whole map survives a move: share of validation digits read, unmoved and moved to the right. (Moving by two pixels cuts off part of most digits. The dense network was trained for 20 epochs, and the others for 10.)", "name": "fig-moved"}, "image": {"alt": "Four curves over a move of 0, 1 and 2 pixels. After one pixel, the curve for the whole map is far above the other three."}}
curves(
    {name: ((0, 1, 2), found) for name, found in ladder.items()}, "moved by (pixels)", "share read"
)
plt.xticks([0, 1, 2])
plt.show()

# %% tags=["evidence"]
observe(
    "When the digits are moved by one pixel, the reader with one window over the whole map reads {whole:.0%}, the one with windows of 2 × 2 reads {two:.0%}, and the one without pooling reads {none:.0%}.",
    **{"whole": whole, "two": two, "none": first["one"]},
    holds=whole > max(two, first["one"], ladder["dense"][1]) + 0.1,
)

# %% [markdown]
# A reader that asks only *whether* there is a corner, and not where, doesn't mind a move. Small windows forgive little: a maximum that slips into the next window meets a different weight.
#
# ### How far a unit sees: the receptive field
#
# *2 minutes.* After two layers of 3 × 3 kernels, a number depends on 5 × 5 pixels: its **receptive field**.

# %% tags=["mechanism"] mystnb={"figure": {"caption": "Each of the three layers of width 3 adds two pixels to the receptive field, so the unit on top sees seven.", "name": "fig-reach"}, "image": {"alt": "Four rows of boxes, joined by lines. On top is one box; below it are three, then five, then a row of pixels, of which seven are coloured and one on each side is not. Below is written: sees 7."}}
mechanisms.reach()
plt.show()

# %% tags=["mechanism"] mystnb={"figure": {"caption": "With stride 2 in the second layer, the unit on top sees nine pixels: after that layer, one step is two pixels wide.", "name": "fig-reach-stride"}, "image": {"alt": "The same drawing; the unit on top sees three units of the second layer, which are twice as far apart; nine of the pixels are coloured. Below is written: sees 9."}}
mechanisms.reach(strides=(1, 2, 1))
plt.show()

# %% [markdown]
# Layer $l$ adds $d_l(K_l - 1)$ steps, each as wide as the product of all strides before it. So the receptive field $r_l$ and the width $j_l$ of a step follow {cite}`araujo2019computing` from
# $r_0 = j_0 = 1$:
#
# $$
# \begin{aligned}
# r_l &= r_{l-1} + d_l (K_l - 1)\, j_{l-1} , \\
# j_l &= s_l\, j_{l-1} .
# \end{aligned}
# $$ (eq-receptive-field)
#
# In {numref}`fig-reach-stride`, that is $1 + 2 + 2 + 2 \cdot 2 = 9$.

# %% [markdown]
# ## Is it right?
#
# *1 minute.* We compare your functions with the library's, in double precision and with sizes that all differ:

# %% tags=["evidence"]
torch.manual_seed(1)
some, w, b = (torch.randn(n, dtype=torch.float64) for n in ((2, 3, 9, 11), (4, 3, 3, 3), (4,)))
for how in ({}, {"stride": 2}, {"padding": 2}, {"stride": 3, "padding": 1}):
    maps = conv2d(some, w, b, **how)
    for theirs in (F.conv2d, convolution.conv2d):
        torch.testing.assert_close(maps, theirs(some, w, b, **how))
torch.testing.assert_close(max_pool2d(some, 2), F.max_pool2d(some, 2))
print("the same numbers as the library's and the book's layers")

# %% [markdown]
# Gradients, dilation and the book's layers are checked on the [deeper page](deeper/01_convolution.ipynb#conv-right).

# %% [markdown]
# ## Train it
#
# *4 minutes.* Now we put everything together. The first three convolutions see 7 × 7 pixels, nearly the whole digit.


# %%
class Reader(nn.Module):
    """Read digits: (B, 1, 8, 8) to scores (B, 10)."""

    def __init__(self, C=24):
        super().__init__()
        self.w1, self.b1 = kernels_of(C, 1)
        self.w2, self.b2 = kernels_of(C, C)
        self.w3, self.b3 = kernels_of(C, C)
        self.w4, self.b4 = kernels_of(2 * C, C)
        self.dense = nn.Linear(2 * C * 4 * 4, 10)

    def stages(self, x):
        """The maps after the first convolution, after the third, and after the last one."""
        first = conv2d(x, self.w1, self.b1, padding=1).relu()
        second = conv2d(first, self.w2, self.b2, padding=1).relu()
        third = conv2d(second, self.w3, self.b3, padding=1).relu()
        last = conv2d(max_pool2d(third, 2), self.w4, self.b4, padding=1).relu()
        return first, third, last

    def forward(self, x):
        return self.dense(self.stages(x)[-1].flatten(1))


# %% [markdown]
# There is another cure for moved digits: train on them. A digit that is moved, turned or slanted a little is still the same digit. Training on such variants is **augmentation**. Ours is
# **jitter**: in every epoch, each digit is changed a little in a new way.

# %% mystnb={"figure": {"caption": "Still the same digit: our 3, and seven variants drawn by augmentation.", "name": "fig-jitter"}, "image": {"alt": "Eight pictures of the same handwritten 3, each moved, turned or slanted a little differently."}}
three = data.train.images[999:1000]  # yesterday's
torch.manual_seed(0)
image_grid(torch.cat([three, jitter(three.expand(7, -1, -1, -1))]), columns=8)
plt.show()

# %% [markdown]
# What are the refinements in `train_reader`? **Adam** gives each weight a step size of its own {cite}`kingma2015adam`. And the learning rate rises, then falls
# {cite}`smith2018superconvergence`: large steps find the valley, and small ones reach its floor.

# %% tags=["training"]
torch.manual_seed(0)
reader = Reader()
history = train_reader(reader, data.train, jittered=True, validation=data.validation, epochs=24)

# %% mystnb={"figure": {"caption": "The loss of your reader falls over 24 epochs, and its accuracy rises.", "name": "fig-training"}, "image": {"alt": "Two panels over epochs: the losses in training and validation fall, and the accuracies rise to nearly one. At first, both are worse in training than in validation."}}
learning_curves(history)
plt.show()

# %%
(first, *_, last), (checked, *_) = history.train["loss"], history.validation["loss"]
said = "Its loss in the first epoch is {first:.2f} in training and {checked:.2f} in validation."
observe(said, first=first, checked=checked, holds=first > checked > 5 * last)

# %% [markdown]
# At first the training loss is higher: the training digits are jittered, and the loss is measured while the network is still learning. Now that everything is chosen, we
# use the test digits, once. For comparison, a stored experiment trained two networks: a dense one with about as many weights as your reader, and your reader with a
# [residual connection](deeper/01_convolution.ipynb#conv-road) around two layers. Both were trained with jitter for 40 epochs, from three seeds, at whichever of four learning rates was best on
# the validation set. (Validation and test digits are mostly from different sheets, so compare test only with test.)

# %% tags=["evidence"]
moved = experiments.load("moved_digits")
kinds = {"dense": "dense", "convolutional": "max pooling"}
stored = {n: at_best_rate(moved, kind, True, 0) for n, kind in kinds.items()}
right = reads(reader, data.test)
observe(
    "Your reader reads {right:.1%} of the test digits. In the stored experiment, the convolutional networks read {convo:.1%} on average and the dense ones {dense:.1%}.",
    right=right,
    **{name[:5]: fmean(runs) for name, runs in stored.items()},
    holds=right > 0.9 and min(stored["convolutional"]) > max(stored["dense"]) + 0.02,
)

# %% [markdown]
# [Larger designs](deeper/01_convolution.ipynb#conv-designs), from LeNet to GoogLeNet, are on the deeper page.

# %% [markdown]
# ## Look inside
#
# *3 minutes.* What did your reader learn? Here are the 24 kernels of its first layer, and some maps of our 3:

# %% mystnb={"figure": {"caption": "The 24 kernels of the first layer. Purple and orange mark opposite signs.", "name": "fig-kernels"}, "image": {"alt": "Twenty-four small grids of three by three squares, in two colours."}}
image_grid(reader.w1.detach(), columns=8, signed=True)
plt.show()

# %% mystnb={"figure": {"caption": "The maps get coarser: our 3 (left) and seven maps of it after the first convolution (top), the third, and the last (bottom).", "name": "fig-maps"}, "image": {"alt": "Three rows of small grey pictures, of eight by eight squares in the first two rows and of four by four in the last."}}
with torch.no_grad():
    shown = [[three[0, 0], *(maps[0, :7] / maps[0, :7].max())] for maps in reader.stages(three)]
image_grid([picture for row in shown for picture in row], columns=8)
plt.show()

# %% [markdown]
# You will often read that first layers find edges. Here, [a measurement](deeper/01_convolution.ipynb#conv-edges) doesn't find any, but AlexNet's first layer, which learned from a million
# photographs, does show them {cite}`krizhevsky2012imagenet`. And which digits are still hard?

# %% mystnb={"figure": {"caption": "The eight hardest validation digits, whose labels get the lowest probabilities: what the network reads, and the label.", "name": "fig-errors"}, "image": {"alt": "Eight badly written digits, each with the network's answer and the label above it."}}
images, labels = data.validation
with torch.no_grad():
    odds = reader(images).softmax(1)
hardest = odds[range(len(labels)), labels].argsort()[:8].tolist()
image_grid(images[hardest], [f"{odds[i].argmax()}, is {labels[i]}" for i in hardest], columns=4)
plt.show()

# %% [markdown]
# ## Show someone
#
# *8 minutes.* Draw a digit, and your network reads it, here in the page. Your strokes are stretched, inked and counted in blocks, as those in the data were
# {cite}`garris1994nist`. Which maps light up? Then let the page fool the network with a single pixel.

# %% tags=["view"]
weights = {"first": (reader.w1, reader.b1), "second": (reader.w2, reader.b2)}
weights |= {"third": (reader.w3, reader.b3), "fourth": (reader.w4, reader.b4)}
weights |= {"dense": (reader.dense.weight, reader.dense.bias)}
drawing(weights, drawn_digits()[::3], RASTER)

# %% [markdown]
# Thirty digits, three of each, were drawn for this book. They are neat and all in one style, so yours may be harder:

# %%
drawn = drawn_digits()
with torch.no_grad():
    said = reader(torch.stack([rasterise(one.strokes) for one in drawn])).argmax(1)
read = sum(one.digit == k for one, k in zip(drawn, said.tolist()))

# %% tags=["evidence"]
observe("Your network reads {read} of the thirty.", read=read, holds=read > 20)

# %% [markdown]
# How easily is it fooled? For each validation digit that it reads correctly, we change each of the 64 pixels in turn: bright becomes dark, and dark becomes bright.


# %%
def one_pixel_changed(image):
    """Shapes: (1, 8, 8) to (64, 1, 8, 8)."""
    which = torch.eye(64, dtype=torch.bool).view(64, 1, 8, 8)
    return torch.where(which, (image <= 0.5).float(), image)


with torch.no_grad():
    correct = [(x, y) for x, y in zip(*data.validation) if reader(x[None]).argmax() == y]
    answers = torch.stack([reader(one_pixel_changed(x)).argmax(1) for x, _ in correct])
fooled = answers != torch.tensor([[y] for _, y in correct])  # (digits, 64)

# %% tags=["view"]
guess(
    "On how many of these digits can changing a single pixel fool the network?",
    ["about one in 100", "about one in 20", "at least one in 5"],
    right="at least one in 5",
    because="Nothing in its training asked it to ignore a single wrong pixel.",
)

# %% tags=["evidence"] mystnb={"figure": {"caption": "You can still read them, but the network can't: digits with one pixel changed, the network's new answer, and the label.", "name": "fig-one-pixel"}, "image": {"alt": "Eight handwritten digits, each with one pixel too bright or too dark. Above each are the network's wrong answer and the label."}}
seen = [(i, fooled[i].int().argmax()) for i in fooled.any(1).nonzero()[:8, 0].tolist()]
titles = [f"{answers[i, pixel]}, is {correct[i][1]}" for i, pixel in seen]
image_grid([one_pixel_changed(correct[i][0])[pixel] for i, pixel in seen], titles)
plt.show()

# %% tags=["evidence"]
observe(
    "Changing one pixel can fool the network on {some:.0%} of the digits that it reads correctly, though only {changes:.1%} of all changes fool it.",
    some=fooled.any(1).double().mean().item(),
    changes=fooled.double().mean().item(),
    holds=fooled.any(1).double().mean() > 0.2 and fooled.double().mean() < 0.1,
)

# %% [markdown]
# So the network reads nearly all digits, but it doesn't read as we do: its answer can turn on a spot that we overlook.
#
# ## Where it breaks
#
# *3 minutes.* A kernel sees only a neighbourhood. What if the answer depends on things that are far apart? Here are two marks on a line: which comes first?

# %% tags=["mechanism"] mystnb={"figure": {"caption": "The answer is the mark further left: four examples of the task.", "name": "fig-two-marks"}, "image": {"alt": "Four rows of 20 cells. Each has a circle, in blue, and a square, in orange, six cells apart; sometimes the circle comes first, sometimes the square."}}
mechanisms.marks(two_marks(4, length=20, distance=6, seed=2)[0])
plt.show()

# %% [markdown]
# Networks of one, two and three layers of width 3 were trained on marks at each distance, with three seeds each. After the convolutions comes a maximum over the whole line.

# %% tags=["evidence"] mystnb={"figure": {"caption": "Each layer moves the cliff two steps further: share of correct answers, by the distance between the marks. Stored experiment, mean and range over three seeds.", "name": "fig-order"}, "image": {"alt": "Three curves like cliffs: with one layer the share drops from one to one half after a distance of two, with two layers after four, and with three layers after six, where one of three seeds fails."}}
order = experiments.load("order")
apart = order.parameters["distance"]
found = {n: [order.column("test", layers=n, seed=s) for s in (0, 1, 2)] for n in (1, 2, 3)}
lines = {f"layers: {n}": (apart, runs) for n, runs in found.items()}
curves(lines, "distance between marks (steps)", "share correct")
plt.show()
assert all(max(run[2 * n :]) < 0.6 for n, runs in found.items() for run in runs)

# %% [markdown]
# With $n$ layers a unit sees $2n + 1$ steps, so two marks that are $2n$ apart just fit, even if not every training run gets there (the band). Marks
# further apart never meet in one unit, and no training changes that. Can't a convolutional network see far, then? It can: with **dilations** that double from layer to
# layer, as in WaveNet {cite}`oord2016wavenet`, the reach doubles, too. (WaveNet's layers are also **causal**: an output
# sees nothing that comes later.)

# %% tags=["mechanism"] mystnb={"figure": {"caption": "With dilations 1, 2 and 4, three layers of width 3 see 15 steps.", "name": "fig-dilations"}, "image": {"alt": "The drawing of the receptive field with gaps that double from layer to layer: one box, three, seven, and fifteen coloured pixels. Below is written: sees 15."}}
mechanisms.reach(dilations=(1, 2, 4))
plt.show()

# %% tags=["evidence"]
recall = experiments.load("recall")
far = {doubling: recall.spread("test", doubling=doubling, length=256) for doubling in (True, False)}
observe(
    "Eight layers of width 2 name the first of 256 symbols in {doubling:.0%} of all sequences if their dilations double. Without dilations they name it in {plain:.0%}, which is no better than guessing among four.",
    doubling=far[True][0],
    plain=far[False][0],
    holds=far[True][1] > 0.95 and far[False][2] < 0.31,
)

# %% [markdown]
# So the fault is not that a convolution sees too little. The fault is that *somebody has to say in advance how far*. Eight layers of width 2 see 256 symbols, so the 257th needs a ninth layer. What we
# would like is a network that reads step by step, keeps what matters for as long as it matters, and has one set of weights for any length.

# %% [markdown]
# ## What we found
#
# *2 minutes.* Four claims that you will often read, and our answers. The [deeper page](deeper/01_convolution.ipynb) has seven more.
#
# (claim-cnn-1)=

# %% tags=["evidence"]
claim(
    "cnn-1",
    "Yes: 16 maps of a 28 × 28 picture take {shared} shared weights. A dense layer would need {dense:,}.",
    shared=16 * (3 * 3 + 1),
    dense=16 * 28**2 * (28**2 + 1),
    holds=lambda shared, dense: (
        dense > 1e4 * shared > 0
        and shared == sum(map(torch.numel, nn.Conv2d(1, 16, 3).parameters()))
    ),
    counted=True,
    scale="one layer, 3 × 3 kernels, with biases",
)

# %% [markdown]
# (claim-cnn-2a)=

# %% tags=["evidence"]
claim(
    "cnn-2a",
    "Yes, if the stride divides the shift: after one pixel, maps differ by {one:.0g} at stride 1 and by up to {two:.1f} at stride 2.",
    **{name: mismatch(photo, sobel, stride) for stride, name in ((1, "one"), (2, "two"))},
    holds=lambda one, two: one < 1e-5 and two > 0.1,
    scale="a photograph moved by one pixel, away from its borders",
)

# %% [markdown]
# (claim-cnn-2b)=

# %% tags=["evidence"]
kinds = {"none": "no pooling", "small": "max pooling", "whole": "largest of each map"}
claim(
    "cnn-2b",
    "No: even where pooling spans the picture, networks read {whole:.0%} of moved digits and {still:.0%} of unmoved ones. Small windows manage {small:.0%}; no pooling, {none:.0%}.",
    **{name: fmean(at_best_rate(moved, kind, False, 1)) for name, kind in kinds.items()},
    still=fmean(at_best_rate(moved, kinds["whole"], False, 0)),
    holds=lambda none, small, whole, still: max(none, small) + 0.1 < whole < still - 0.05,
    experiment="moved_digits",
    scale="a move by one pixel, 360 test digits of 8 × 8, small windows of 2 × 2, no jitter, three seeds, the best of four learning rates",
)

# %% [markdown]
# (These networks are deeper than your first readers, and were trained for 40 epochs.)
#
# (claim-cnn-9)=

# %% tags=["evidence"]
claim(
    "cnn-9",
    "No: with dilations that double, eight layers name the first of 256 symbols in {doubling:.0%} of sequences; without dilations, they are at chance: {plain:.0%}.",
    doubling=far[True][0],
    plain=far[False][0],
    holds=lambda doubling, plain: doubling > 0.95 and abs(plain - 0.25) < 0.06,
    experiment="recall",
    scale="layers of width 2, four symbols, three seeds",
)

# %% [markdown]
# ## Exercises
#
# *As long as you like.* Seven more are on the [deeper page](deeper/01_convolution.ipynb), and all solutions are on [a page of their own](solutions/01_convolution.ipynb).
#
# ```{exercise} Same padding
# :label: exercise-same-padding
#
# *Warm-up, 5 minutes.* At stride 1, how many zeros on *each* side keep a picture's size? Use {eq}`eq-size`, and assume that $d(K-1)$ is even; otherwise no number works.
# ([Solution](solutions/01_convolution.ipynb#solution-same-padding))
# ```


# %%
def same_padding(kernel_size: int, dilation: int) -> int:
    """Padding on one side for which H_out = H at stride 1."""
    raise NotImplementedError


check("same_padding", same_padding)

# %% [markdown]
# ```{exercise} Count a convolution's parameters
# :label: exercise-convolution-parameters
#
# *Warm-up, 3 minutes.* How many parameters does a convolution from 3 channels to 16 have, with 5 × 5 kernels and biases? ([Solution](solutions/01_convolution.ipynb#solution-convolution-parameters))
# ```

# %%
my_count = None

check("convolution_parameters", my_count)

# %% [markdown]
# ```{exercise} Predict: shuffled pixels
# :label: exercise-shuffled-pixels
#
# *Core, 5 minutes.* Yesterday one fixed shuffle of the pixels made no difference to a dense layer. Now a convolutional and a dense network are each trained and tested on shuffled
# pictures, with eight seeds. Whose mean error rate is more than 1.25 times as high as on the original pictures? Commit to `"dense"`, `"convolutional"`, `"both"` or `"neither"`.
# ([Solution](solutions/01_convolution.ipynb#solution-shuffled-pixels))
# ```

# %%
my_prediction = None

check("shuffled_pixels", my_prediction)

# %% [markdown]
# ```{exercise} Receptive field: how deep must it be?
# :label: exercise-receptive-field
#
# *Core, 10 minutes.* One output should see `length` steps. Return how many layers of width `kernel_size` and stride 1 you need, with dilations that double (1, 2, 4, …)
# or without dilation (all 1). ([Solution](solutions/01_convolution.ipynb#solution-receptive-field))
# ```


# %%
def layers_needed(length: int, kernel_size: int, doubling: bool) -> int:
    """Smallest number of layers whose receptive field is at least `length`."""
    raise NotImplementedError


check("receptive_field", layers_needed)

# %% [markdown]
# ```{exercise} Predict: is it equivariant?
# :label: exercise-strided-equivariance
#
# *Core, 5 minutes.* Two convolutions of stride 2 are applied one after the other. What is the smallest move of a picture, in pixels, for which the last map moves along exactly?
# ([Solution](solutions/01_convolution.ipynb#solution-strided-equivariance))
# ```

# %%
my_move = None

check("strided_equivariance", my_move)

# %% [markdown]
# ## Checklist and tomorrow

# %% tags=["view"]
points = {
    "work out a convolution by hand, and write it": "one_place everywhere",
    "compute how large a feature map is, and how many weights it takes": "same_padding convolution_parameters",
    "predict what happens to the answer when the picture moves": "max_pooling strided_equivariance",
    "compute how far a unit sees, and choose depth and dilation to match": "receptive_field",
    "predict when a convolution is the wrong tool": "shuffled_pixels",
}
checklist({point: ids.split() for point, ids in points.items()})

# %% [markdown]
# So that is how a network takes advantage of a picture: it asks the same small question everywhere, and pools the answers. **Tomorrow** we give up the fixed reach. A recurrent network reads one step at a time,
# with the same weights at each step, and carries what it has read in a state.

# %% [markdown]
# ## Further reading
#
# - {cite:t}`lecun1998gradient`, the paper to read first: LeNet, and why it was built that way.
# - {cite:t}`dumoulin2016guide`, all of this arithmetic in pictures.
# - {cite:t}`zhang2019making`, why networks with pooling are still not invariant, and a cure.
# - {cite:t}`bai2018empirical`, convolutions over time against recurrent networks, on many tasks.
