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
# - compute a convolution by hand: its numbers, its output size and its gradient,
# - count what a layer costs, and say what sharing weights saves,
# - say how far a unit sees, and choose depth and dilation for the reach that you want,
# - say what happens to the output when the picture moves,
# - say what batch normalisation does in training and in use, and fold it away,
# - predict when a convolution is the wrong tool.
#
# Each point is tested by an exercise at the end. The day builds on
# [Day 0](00_first_steps.ipynb): tensors, autograd, `fit`, and why data are split in three.
# The core path takes about 80 minutes. The exercises take as long again; choose some.

# %%
import convolution_to_attention  # is `utils` this book's?

from statistics import fmean
from time import perf_counter

import matplotlib.pyplot as plt
import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.flop_counter import FlopCounterMode

# %% [markdown]
# The second cell takes from the book's own package: the concept module of today, the exercises, and
# the bench on which everything is measured.

# %%
from utils import convolution
from utils.data.augmentation import jitter
from utils.data.pictures import digits, photographs
from utils.data.sequences import delayed_recall, two_marks
from utils.exercises.convolution import check
from utils.exercises.progress import checklist
from utils.measure import experiments
from utils.measure.claims import claim
from utils.show.display import observe, show_source, table
from utils.show.plotting import curves, image_grid, use_book_style
from utils.training.loop import Batches, evaluate, fit
from utils.training.metrics import accuracy, mean_and_spread
from utils.training.recipes import train_digits

use_book_style()

# %% [markdown]
# ## Where we stand
#
# *5 minutes.* Yesterday's model had one **dense** layer: each output looked at every pixel, with a
# weight of its own for each. It failed on moved digits, and it did not notice a shuffle. Perhaps it
# was too simple? We give it a hidden layer of 128 units with **ReLU** (negative numbers become 0), and
# ask again. The digits come in the order of the file. Its last fifth is the test set, so it holds
# forms that the network has never seen. We lock that part away until the end.

# %%
data = digits("file order")
table(
    [
        [part, str(tuple(getattr(data, part).images.shape))]
        for part in ("train", "validation", "test")
    ],
    ["part", "images (B, C, H, W)"],
)

# %% [markdown]
# A dense network with one hidden layer is trained, and asked to read the validation digits.

# %%
torch.manual_seed(0)
dense = nn.Sequential(nn.Flatten(), nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 10))
train = Batches(*data.train, batch_size=64, shuffle=True)
fit(dense, train, F.cross_entropy, torch.optim.AdamW(dense.parameters(), lr=1e-2), epochs=20)


def reads(model: nn.Module, images: torch.Tensor, labels: torch.Tensor) -> float:
    """Share of the images that the model reads right, in evaluation mode."""
    return evaluate(model, [(images, labels)], F.cross_entropy, {"accuracy": accuracy})["accuracy"]


# %%
images, labels = data.validation
whole = reads(dense, images, labels)
observe(
    "The dense network reads more than 94 % of new digits.", whole > 0.94, {"right": f"{whole:.1%}"}
)

# %% [markdown]
# That looks fine. Now we move every digit by one pixel to the right. A person would not even
# notice.

# %%
moved = F.pad(images, (1, -1))  # an empty column comes in on the left, the last one goes
shifted = reads(dense, moved, labels)
observe(
    "Moved by one pixel, fewer than 60 % are read.",
    shifted < 0.6,
    {"in place": f"{whole:.1%}", "moved": f"{shifted:.1%}"},
)

# %% [markdown]
# The network falls from nearly all to about half. It never learned what a 3 looks like. It
# learned which of 64 numbers are large when there is a 3 *in the middle*. It doesn't know that
# pixel 12 lies beside pixel 13.
#
# Here is a sharper way to see the same thing. We shuffle the 64 pixels, all pictures in the same
# way, and train again.

# %% mystnb={"figure": {"caption": "Eight digits, and the same digits with their pixels shuffled, all in the same way.", "name": "fig-shuffled"}, "image": {"alt": "Two rows of eight small pictures; the upper row shows the digits zero to seven, the lower row only noise."}}
order = torch.randperm(64, generator=torch.Generator().manual_seed(1))
shuffled = data.train.images.flatten(1)[:, order].view(-1, 1, 8, 8)
image_grid(torch.cat([data.train.images[:8], shuffled[:8]]), columns=8)
plt.show()

# %%
torch.manual_seed(0)
blind = nn.Sequential(nn.Flatten(), nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 10))
scrambled = Batches(shuffled, data.train.labels, batch_size=64, shuffle=True)
fit(blind, scrambled, F.cross_entropy, torch.optim.AdamW(blind.parameters(), lr=1e-2), epochs=20)
unread = reads(blind, images.flatten(1)[:, order].view(-1, 1, 8, 8), labels)
observe(
    "To the dense network, shuffled pictures are as good as whole ones, within 3 points.",
    abs(unread - whole) < 0.03,
    {"whole": f"{whole:.1%}", "shuffled": f"{unread:.1%}"},
)

# %% [markdown]
# You can't read the lower row of {numref}`fig-shuffled`. The dense network can, as well as before: to
# it the two rows are the same problem. Whatever it knows, it is not about pictures. The hidden layer
# has not helped.
#
# It is also wasteful. Digits of 8×8 pixels hide that; a photograph does not. We count the weights
# of one dense layer that turns a picture into 16 maps of the same size.


# %%
def dense_parameters(size: int, channels: int, out_channels: int) -> int:
    """Weights and biases of a dense layer from one stack of maps to another."""
    inputs, outputs = channels * size**2, out_channels * size**2
    return inputs * outputs + outputs


table(
    [[f"{size}×{size}", f"{dense_parameters(size, 1, 16):,}"] for size in (8, 28, 224)],
    ["picture", "parameters of one dense layer"],
)

# %% [markdown]
# Forty billion parameters for one layer on one small photograph. Two wishes follow. The layer should
# know what neighbours are. And what it learns in one place should hold in all places.

# %% [markdown]
# ## The idea
#
# *5 minutes.* Imagine a proofreader with a card that has a small window in it. She slides the card
# over the page and asks the same question at each place: "is there a vertical stroke here?" She
# writes the answer down at the same place on a second sheet. When she is done, the second sheet
# is a map of where the vertical strokes are.
#
# That is a **convolution**. The question is a small grid of weights, the **kernel** (or filter).
# The map of answers is a **feature map**. Two decisions are built in:
#
# - **locality**: an answer depends on a small neighbourhood alone,
# - **weight sharing**: the question is the same everywhere.
#
# We draw what happens at one place. The kernel asks: "is it light on the left, and dark on the
# right?"

# %% mystnb={"figure": {"caption": "One step of a convolution. The nine pixels in the window (left) are multiplied by the kernel (middle); the sum is written to the map (right).", "name": "fig-one-step"}, "image": {"alt": "A handwritten zero with a three by three window marked on its right rim, the kernel with plus one, zero and minus one in its columns, and the resulting map with one square marked, in which the sum stands."}}
digit = data.train.images[0, 0]  # (8, 8)
kernel = torch.tensor([[1.0, 0.0, -1.0]] * 3)
answers = F.conv2d(digit[None, None], kernel[None, None])[0, 0]  # (6, 6)
row, column = divmod(answers.argmax().item(), 6)  # where the answer is the clearest yes
figure, axes = plt.subplots(1, 3, figsize=(7, 2.9))
axes[0].imshow(digit, cmap="gray")
for ax, panel in zip(axes[1:], (kernel, answers)):
    ax.imshow(panel, cmap="PuOr", vmin=-3, vmax=3)
for ax, title, size in zip(axes, ("picture", "kernel", "map"), (3, 0, 1)):
    ax.set(title=title, xlabel="column", ylabel="row")
    ax.grid(False)
    corner = (column - 0.5, row - 0.5)
    ax.add_patch(plt.Rectangle(corner, size, size, fill=False, color="#D55E00", lw=3))
plt.show()

# %% [markdown]
# The map in {numref}`fig-one-step` is purple where the answer is yes: the picture gets darker from
# left to right. Orange is the opposite, and white is no edge at all. The kernel has nine weights,
# and nine are enough for a picture of any size.

# %% [markdown]
# ## The mathematics
#
# *10 minutes.* For one channel, a kernel $w$ of $K \times K$ weights and a bias $b$,
#
# $$
# y_{i,j} = b + \sum_{u=0}^{K-1} \sum_{v=0}^{K-1} w_{u,v}\; x_{i+u,\,j+v} .
# $$ (eq-conv)
#
# Strictly, {eq}`eq-conv` is a **cross-correlation**. The convolution of mathematics flips the
# kernel first: it has $x_{i-u,\,j-v}$. A network learns its kernels, so it would learn the
# flipped one just as well. The field says "convolution", means {eq}`eq-conv`, and so do we.
#
# A picture has several channels, and a layer asks several questions. Each output channel $o$ has a kernel
# for each input channel $c$, and sums over them:
#
# $$
# y_{o,i,j} = b_o + \sum_{c=0}^{C-1} \sum_{u,v} w_{o,c,u,v}\; x_{c,\,i+u,\,j+v} .
# $$ (eq-conv-channels)
#
# Three numbers say where the kernel stands. The **stride** $s$ is how far it jumps. **Padding** $p$
# adds a frame of zeros, so that it can stand on the border. **Dilation** $d$ spreads its weights
# apart, so that the kernel reaches over $d(K-1)+1$ pixels. With all three,
#
# $$
# y_{o,i,j} = b_o + \sum_{c,u,v} w_{o,c,u,v}\; x_{c,\,si+du-p,\,sj+dv-p} \qquad (x = 0 \text{ outside the picture}).
# $$ (eq-conv-full)
#
# Along one side of length $H$ the kernel can then stand in
#
# $$
# H_\text{out} = \left\lfloor \frac{H + 2p - d(K-1) - 1}{s} \right\rfloor + 1
# $$ (eq-size)
#
# places {cite}`dumoulin2016guide`. How many input pixels can one output see? The first layer adds
# $d(K-1)$ pixels to the one in the middle. A later layer's step is wider than a pixel, by all
# the strides before it. With $r_0 = j_0 = 1$,
#
# $$
# r_l = r_{l-1} + d_l (K_l - 1)\, j_{l-1}, \qquad j_l = s_l\, j_{l-1} .
# $$ (eq-receptive-field)
#
# $r_l$ is called the **receptive field**. Last, let $S$ move a picture by some pixels. Because
# the same question is asked everywhere, away from the borders
#
# $$
# \operatorname{conv}(S x) = S \operatorname{conv}(x) .
# $$ (eq-equivariance)
#
# What goes in shifted comes out shifted. This is **equivariance**. It is not **invariance**, which
# would mean that the output does not change at all. We measure both below.
#
# | symbol | shape | meaning |
# | --- | --- | --- |
# | $x$ | (B, C, H, W) | images: batch, channels, height, width |
# | $w$ | (C_out, C, K, K) | kernels, `weight` in the code |
# | $b$ | (C_out,) | biases, `bias` in the code |
# | $y$ | (B, C_out, H_out, W_out) | feature maps |
# | $s, p, d$ | numbers | stride, padding, dilation |
# | $r_l, j_l$ | numbers | receptive field of layer $l$, and its step in input pixels |

# %% [markdown]
# ## By hand
#
# *5 minutes.* A picture of 3×4 pixels and a kernel of 2×2. Do the first number yourself before you
# run the cell.

# %%
x = torch.tensor([[1.0, 2.0, 0.0, 1.0], [0.0, 1.0, 3.0, 2.0], [2.0, 0.0, 1.0, 1.0]])
w = torch.tensor([[1.0, -1.0], [2.0, 0.0]])
x, w

# %% [markdown]
# In the first place the kernel lies on the corner. Four products, one sum.

# %%
corner = x[0:2, 0:2]
print((corner * w + 0).tolist(), "sum", (corner * w).sum().item())

# %% [markdown]
# One step to the right, the same weights meet other pixels.

# %%
print((x[0:2, 1:3] * w + 0).tolist(), "sum", (x[0:2, 1:3] * w).sum().item())

# %% [markdown]
# The kernel fits into 2 rows and 3 columns of places, as {eq}`eq-size` says.

# %%
y = torch.tensor([[(x[i : i + 2, j : j + 2] * w).sum() for j in range(3)] for i in range(2)])
assert y.shape == tuple(convolution.conv_output_size(size, 2) for size in x.shape)
y

# %% [markdown]
# Now two channels and a bias: the products of both channels go into one sum. The second channel is
# the first one upside down, and its kernel is all ones.

# %%
second = x.flip(0)
ones, bias = torch.ones(2, 2), 0.5
parts = (corner * w).sum(), (second[0:2, 0:2] * ones).sum()
print("channels", [part.item() for part in parts], "with bias", (sum(parts) + bias).item())

# %% [markdown]
# Last, the three settings. Stride 2 leaves out every other place. Padding by 1 lays a frame of zeros
# around the picture, and the kernel begins outside.

# %%
print("stride 2 ", y[::2, ::2].tolist())
framed = F.pad(x, (1, 1, 1, 1))  # (5, 6)
print("padding 1", (framed[0:2, 0:2] * w).sum().item(), "in the corner: 0·1 - 0·1 + 0·2 + 1·0")

# %% [markdown]
# With a flipped kernel, which is what mathematics calls a convolution, the numbers differ. An asymmetric
# kernel shows it; a symmetric one would hide it.

# %%
flipped = w.flip(0, 1)
torch.tensor([[(x[i : i + 2, j : j + 2] * flipped).sum() for j in range(3)] for i in range(2)])

# %% [markdown]
# ## Build it
#
# *20 minutes.* First the definition, as four nested loops over images, output channels, rows and
# columns.

# %%
show_source(convolution.conv2d_loop)

# %% [markdown]
# It gives the numbers that we found by hand.

# %%
assert torch.equal(convolution.conv2d_loop(x[None, None], w[None, None])[0, 0], y)

# %% [markdown]
# ### What kernels see
#
# Long before networks learned kernels, people designed them. Sobel's kernel takes the difference
# between left and right, and a weighted mean over three rows. A blur takes the mean of a window. We
# lay both on a photograph. (A photograph is numbers, too: three channels of them, for red, green and
# blue. Here we take their mean.)

# %%
photo = photographs()["china"].mean(0)[None, None]  # (1, 1, H, W), grey
sobel_x = torch.tensor([[1.0, 0.0, -1.0], [2.0, 0.0, -2.0], [1.0, 0.0, -1.0]]) / 4
kernels = {"Sobel across": sobel_x, "Sobel down": sobel_x.T, "blur": torch.full((9, 9), 1 / 81)}
maps = {name: convolution.conv2d(photo, k[None, None])[0, 0] for name, k in kernels.items()}

# %% mystnb={"figure": {"caption": "A photograph (by Daniel Büchele, CC BY 2.0), and what three designed kernels make of it. Sobel's two kernels answer to edges that stand and to edges that lie; the blur keeps what is smooth.", "name": "fig-sobel"}, "image": {"alt": "Four grey pictures of a Chinese temple: the photograph, its vertical edges, its horizontal edges, and a blurred version."}}
edges = [(3 * maps[name].abs()).clamp(max=1) for name in ("Sobel across", "Sobel down")]
image_grid([photo[0, 0], *edges, maps["blur"]], titles=["photograph", *kernels], columns=2)
plt.show()

# %% [markdown]
# In {numref}`fig-sobel` the posts are brighter under the first kernel, and the long rims of the roofs
# under the second. The leaves answer to both: they have edges in every direction. One photograph,
# three questions, three maps.

# %% [markdown]
# ### Channels, stride, padding, dilation
#
# A colour photograph has three channels. A layer with 16 kernels gives 16 maps, whatever went in.

# %%
colour = photographs()["flower"][None, :, :64, :96]  # (1, 3, 64, 96)
weight = torch.randn(16, 3, 3, 3, generator=torch.Generator().manual_seed(0))
settings = {
    "plain": {},
    "padding 1": {"padding": 1},
    "stride 2, padding 1": {"stride": 2, "padding": 1},
    "dilation 2": {"dilation": 2},
}
shapes = {
    name: tuple(convolution.conv2d(colour, weight, **s).shape) for name, s in settings.items()
}
table([[name, str(shape)] for name, shape in shapes.items()], ["3×3 kernel", "output (B, C, H, W)"])

# %% [markdown]
# Padding by one keeps the size of the picture under a 3×3 kernel. Stride 2 halves it. Dilation takes
# more from the border, since the kernel reaches further.
#
# ### Faster: matrix products
#
# The loops are slow, because Python does every step. The arithmetic itself is a great many equal sums
# of products, and that is what a matrix product is {cite}`chellapilla2006high`. Look at one weight of
# the kernel: over all places, the pixels that it meets are the picture again, shifted.

# %%
show_source(convolution.pixels_met)

# %% [markdown]
# So we lay the pictures, shifted by each column of the kernel, one on the other. Then each row of the
# kernel is one matrix product with these, and the products add up.

# %%
show_source(convolution.conv2d)

# %% [markdown]
# The price is memory: each pixel is stored once for each column of the kernel. We time the loops and the
# products on one small batch, and say no more than is safe to say on any machine.

# %%
small = torch.randn(4, 3, 12, 12, generator=torch.Generator().manual_seed(0))
seconds = {}
for function in (convolution.conv2d_loop, convolution.conv2d):
    start = perf_counter()
    function(small, weight)
    seconds[function.__name__] = perf_counter() - start
observe(
    "The matrix products are more than 10 times faster than the loops.",
    seconds["conv2d_loop"] > 10 * seconds["conv2d"],
    {name: f"{1000 * s:.1f} ms" for name, s in seconds.items()},
)

# %% [markdown]
# ### Pooling
#
# Whether an edge lies one pixel further left matters little for reading a digit. **Pooling** keeps the
# strongest answer of each window (max pooling) or the mean (average pooling), and the map gets
# smaller.

# %%
show_source(convolution.shifted_views)

# %%
show_source(convolution.max_pool2d)

# %%
negative = -torch.arange(1.0, 17.0).view(1, 1, 4, 4)
print("mean      ", convolution.avg_pool2d(negative, 2)[0, 0].tolist())
print("max       ", convolution.max_pool2d(negative, 2)[0, 0].tolist())
print("max, frame", convolution.max_pool2d(negative, 3, stride=2, padding=1)[0, 0].tolist())

# %% [markdown]
# The last line is the reason for the padding with $-\infty$: on a map that is negative everywhere,
# a frame of zeros would win at every border.
#
# ### The layer, and how it starts
#
# A layer holds the kernels and draws them at random. How large should they be? A unit sums
# $n = C K^2$ products. If the weights have variance $2/n$, then a ReLU network keeps the mean square
# of its signal from layer to layer {cite}`he2015delving`: the sum doubles it, and the ReLU, which
# drops half of the numbers, halves it.

# %%
show_source(convolution.Conv2d)

# %% [markdown]
# Does that matter? We stack 5 to 33 layers, start them in several ways, and look at the gradient
# that arrives at the first layer.


# %%
def tower(depth: int, start: str, normalise: bool = False, residual: bool = False) -> nn.Sequential:
    """A stack of 3×3 convolutions with 16 channels, and a linear layer on the mean of the maps."""
    layers, channels = [], 1
    for _ in range(depth):
        conv = nn.Conv2d(channels, 16, 3, padding=1)
        std = {
            "all 0.01": 0.01,
            "Glorot": (2 / (9 * (channels + 16))) ** 0.5,
            "He": (2 / (9 * channels)) ** 0.5,
        }
        nn.init.normal_(conv.weight, std=std[start])
        nn.init.zeros_(conv.bias)
        layers += [conv, nn.BatchNorm2d(16)] if normalise else [conv]
        layers, channels = [*layers, nn.ReLU()], 16
    if residual:  # two layers to a block
        layers = layers[:3] + [convolution.ResidualBlock(16) for _ in range((depth - 1) // 2)]
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(16, 10))


# %%
def first_gradient(**how) -> float:
    """Norm of the gradient at the first layer before any training, geometric mean of four draws."""
    norms = torch.zeros(4)
    for seed in range(4):
        torch.manual_seed(seed)
        model = tower(**how)
        F.cross_entropy(model(data.train.images[:64]), data.train.labels[:64]).backward()
        norms[seed] = model[0].weight.grad.norm()
    return norms.log().mean().exp().item()


# %%
depths = [5, 9, 17, 33]
ways = {
    "weights of 0.01": {"start": "all 0.01"},
    "Glorot": {"start": "Glorot"},
    "He": {"start": "He"},
    "He, batch norm": {"start": "He", "normalise": True},
    "He, batch norm, residual": {"start": "He", "normalise": True, "residual": True},
}
arrives = {way: [first_gradient(depth=d, **how) for d in depths] for way, how in ways.items()}

# %% mystnb={"figure": {"caption": "Gradient that arrives at the first layer of an untrained stack, by its depth, mean of four draws. Where a line ends, single precision has no number small enough.", "name": "fig-gradient-depth"}, "image": {"alt": "Curves over depth on a logarithmic scale: with small weights the gradient vanishes within a few layers, with Glorot it falls steadily, with He it falls a little, with batch normalisation it grows, and with residual connections it grows a little."}}
shown = {
    way: ([d for d, g in zip(depths, norms) if g > 1e-30], [g for g in norms if g > 1e-30])
    for way, norms in arrives.items()
}
curves(shown, "depth (layers)", "gradient norm at layer 1", logy=True)
plt.show()

# %%
change = {way: norms[-1] / norms[0] for way, norms in arrives.items()}  # from 5 to 33 layers
residual = "He, batch norm, residual"
observe(
    "From 5 to 33 layers Glorot's gradient falls over 1000 times and He's under 50 times; with "
    "batch norm it grows over 10 times, and with residuals it changes by less than that.",
    change["Glorot"] < 1e-3 < 1 / 50 < change["He"] < 1
    and change["He, batch norm"] > 10 > change[residual] > 0.1,
    {way: f"×{factor:.1e}" for way, factor in change.items()},
)

# %% [markdown]
# {numref}`fig-gradient-depth` shows one reason why networks stayed shallow for so long. Weights that
# are too small kill the gradient within a few layers. Glorot's rule {cite}`glorot2010understanding`
# was made for activations that are close to a straight line at 0, such as **tanh**, a smooth step
# from -1 to 1. Under ReLUs it loses half of the signal in each layer. He's rule loses far less.
#
# **Batch normalisation** takes another way {cite}`ioffe2015batch`. It measures the mean $\mu$ and
# the variance $\sigma^2$ of each channel, and sets them right, whatever the weights are:
#
# $$
# \hat{x} = \frac{x - \mu}{\sqrt{\sigma^2 + \varepsilon}}, \qquad y = \gamma\, \hat{x} + \beta .
# $$ (eq-batch-norm)
#
# $\varepsilon$ is small and keeps the root away from 0. $\gamma$ and $\beta$ are learned, so that the
# layer may choose another size. In training, $\mu$ and $\sigma^2$ are those of the batch. Along the way
# the layer keeps a running average of both. In use (`model.eval()`) it takes those averages, so that
# the answer to one picture does not hang on the others.

# %%
show_source(convolution.BatchNorm2d)

# %% [markdown]
# It brings the signal to the same size in each layer, but look at the figure again: the *gradient*
# grows with depth. **Residual connections** {cite}`he2016deep` give it a road around the layers.

# %%
show_source(convolution.ResidualBlock)

# %% [markdown]
# Before its last ReLU, a block is $x + f(x)$, and its derivative is $1 + f'(x)$. So where the ReLU is
# open, the gradient has a road that does not pass through $f$. Roads like this will come back on
# several later days.

# %% [markdown]
# ## Is it right?
#
# *5 minutes.* A layer that trains may still be wrong: networks learn around many mistakes. So we compare
# numbers. First with the loops, then with the library, in double precision.

# %%
generator = torch.Generator().manual_seed(1)
x = torch.randn(2, 3, 9, 11, dtype=torch.float64, generator=generator, requires_grad=True)
w = torch.randn(4, 3, 3, 2, dtype=torch.float64, generator=generator, requires_grad=True)
b = torch.randn(4, dtype=torch.float64, generator=generator, requires_grad=True)
torch.testing.assert_close(convolution.conv2d(x, w, b), convolution.conv2d_loop(x, w, b))

# %% [markdown]
# All sizes differ on purpose. If two were equal, exchanged axes could go unnoticed. Now values and
# gradients against the library's convolution, with stride, padding and dilation at once.

# %%
how = {"stride": 2, "padding": 1, "dilation": 3}
ours, theirs = convolution.conv2d(x, w, b, **how), F.conv2d(x, w, b, **how)
torch.testing.assert_close(ours, theirs, rtol=1e-10, atol=1e-10)
for mine, its in zip(*(torch.autograd.grad(y.pow(2).sum(), (x, w, b)) for y in (ours, theirs))):
    torch.testing.assert_close(mine, its, rtol=1e-10, atol=1e-10)

# %% [markdown]
# Last, the layer itself. It loads the weights of the library's layer and gives the same numbers; so does
# batch normalisation, in training and in use.

# %%
pairs = [
    (convolution.Conv2d(3, 5, 3, stride=2, padding=1), nn.Conv2d(3, 5, 3, stride=2, padding=1)),
    (convolution.BatchNorm2d(3), nn.BatchNorm2d(3)),
    (convolution.BatchNorm2d(3).eval(), nn.BatchNorm2d(3).eval()),
]
for ours, theirs in pairs:
    ours.load_state_dict(theirs.state_dict())
    torch.testing.assert_close(ours.double()(x), theirs.double()(x), rtol=1e-10, atol=1e-10)
    print(f"{type(ours).__name__} {'in training' if ours.training else 'in use'}: the same numbers")

# %% [markdown]
# From here on we use the library's layers. They are the same, and faster: `make bench` prints how much.
#
# ### Does the output move with the picture?
#
# {eq}`eq-equivariance` says so. We move a photograph by 1 to 4 pixels, and compare the map of the
# moved picture with the moved map, away from the borders.


# %%
def mismatch(stride: int, shift: int) -> float:
    """Largest difference of 'move, then convolve' and 'convolve, then move', inside."""
    picture = photo[:, :, 100:164, 200:264]
    how = {"weight": sobel_x[None, None], "stride": stride, "padding": 1}
    after = F.conv2d(torch.roll(picture, shift, dims=3), **how)
    before = torch.roll(F.conv2d(picture, **how), shift // stride, dims=3)
    inner = slice(6, -6)
    return (after - before)[:, :, inner, inner].abs().max().item()


table(
    [
        [shift, *("equal" if mismatch(s, shift) < 1e-6 else "differs" for s in (1, 2, 4))]
        for shift in range(1, 5)
    ],
    ["moved by", "stride 1", "stride 2", "stride 4"],
)

# %% [markdown]
# At stride 1 the two are equal for every shift. At stride 2 they agree only for even shifts, since an odd one
# falls between the places where the kernel stands. At stride 4 only a shift by 4 survives.

# %% [markdown]
# ## Train it
#
# *15 minutes.* Our network for the digits has three convolutions. Two of them look at the full picture,
# one at the picture after pooling, and a dense layer decides.

# %%
show_source(convolution.DigitsNet)

# %% [markdown]
# There are few pictures, so we make more. A digit that is moved, turned, stretched or slanted a
# little is still the same digit. This is **data augmentation**. Each epoch sees new variants.

# %%
show_source(jitter)

# %% mystnb={"figure": {"caption": "One digit and fifteen variants of it, as augmentation draws them.", "name": "fig-jitter"}, "image": {"alt": "Sixteen pictures of the same handwritten digit, each moved, turned or slanted a little differently."}}
torch.manual_seed(0)
one = data.train.images[3:4].expand(16, -1, -1, -1)
image_grid(torch.cat([one[:1], jitter(one)[1:]]), columns=8)
plt.show()

# %% [markdown]
# The recipe has four parts. **AdamW** takes steps whose size adapts to each weight
# {cite}`loshchilov2019decoupled`. The learning rate rises and falls
# {cite}`smith2018superconvergence`. The labels are **soft**: a tenth
# of each is spread over all classes, so that the network need not become infinitely sure
# {cite}`szegedy2016rethinking`. And
# **dropout**, in the network itself, sets a random share of its numbers to 0 in each training step, so
# that no unit can rely on another {cite}`srivastava2014dropout`; in use it does nothing.

# %%
show_source(train_digits)

# %% mystnb={"figure": {"caption": "Loss and accuracy of DigitsNet over twenty epochs of training.", "name": "fig-training"}, "image": {"alt": "Two panels over epochs: the losses of training and validation fall, the accuracies rise towards one; validation is a little ahead."}}
torch.manual_seed(0)
model = convolution.DigitsNet()
history = train_digits(model, data.train, validation=data.validation, seed=0)
history.plot()
plt.show()

# %% [markdown]
# For most of the training, accuracy is lower in training than in validation. That is no mistake:
# training sees the jittered pictures, with dropout on. While the learning rate is high, the
# validation loss jumps; as the rate falls, it settles.
#
# Everything is chosen, so we unlock the test set, once.

# %%
test_images, test_labels = data.test
right = reads(model, test_images, test_labels)
observe(
    "On the test digits, forms that it never saw, the network reads at least 97 %.",
    right >= 0.97,
    {"right": f"{right:.1%}", "seconds of training": f"{sum(history.seconds):.1f}"},
)

# %% [markdown]
# One run is an anecdote. A long experiment trained this network and six other models on three seeds
# and on two kinds of split: at random, and in the file's order. Each model's learning rate or
# penalty is the one that was best on validation data.

# %%
baselines = experiments.load("digits_baselines")
networks = experiments.load("digits_networks")


def test_runs(name: str, split: str) -> list[float]:
    """Test accuracy over the seeds, with what was best on validation data."""
    if name in baselines.parameters["model"]:
        return [row["test"] for row in baselines.select(model=name, split=split)]
    where = {"model": name, "split": split}
    rates = networks.parameters["learning_rate"]
    best = max(rates, key=lambda r: networks.spread("validation", learning_rate=r, **where)[0])
    return [row["test"] for row in networks.select(learning_rate=best, **where)]


# %%
splits = ["random", "file order"]
names = [*baselines.parameters["model"], *networks.parameters["model"]]
runs = {(name, split): test_runs(name, split) for name in names for split in splits}
table(
    [[name, *(f"{mean_and_spread(runs[name, split]):.1%}" for split in splits)] for name in names],
    ["model", "random split", "file order"],
)

# %% [markdown]
# The table gives mean and standard deviation over three seeds. A spread of 0.0 is no certainty: on
# 360 test digits, one digit is 0.3 points, and chance alone moves such a number by about half a
# point. So the last three models can't be told apart. All networks were trained by the recipe of the
# convolutional one. A dense network or LeNet (which sees the digits enlarged to 32×32, with tanh and
# without normalisation) might do better with a recipe of its own.
#
# The two columns differ. On a random split, people whose writing was seen in training stand in the test
# set too. The order of the file is nearer to what we want to know: how does the network read a hand
# that it has never seen?

# %%
file_order = {name: sum(runs[name, "file order"]) / 3 for name in names}
normalised = ["small AlexNet", "small GoogLeNet", "DigitsNet"]
observe(
    "In file order the three normalised convolutional networks read over 98 %, all others under 96 %.",
    min(file_order[name] for name in normalised) > 0.98
    and max(share for name, share in file_order.items() if name not in normalised) < 0.96,
    {name: f"{share:.1%}" for name, share in file_order.items()},
)

# %%
for split, goal in (("random", 0.985), ("file order", 0.98)):
    mean = sum(runs["DigitsNet", split]) / 3
    observe(
        f"Split {split}: DigitsNet reads at least {goal:.1%} on average.",
        mean >= goal,
        {"mean of three seeds": f"{mean:.2%}"},
    )

# %%
reader, rival = (networks.select(model=name) for name in ("DigitsNet", "dense network"))
observe(
    "DigitsNet took at most 15 s of training a seed; the dense network has as many parameters, within 2 %.",
    max(row["seconds"] for row in reader) <= 15
    and abs(rival[0]["parameters"] / reader[0]["parameters"] - 1) < 0.02,
    {
        "slowest": f"{max(row['seconds'] for row in reader):.1f} s",
        "parameters": f"{reader[0]['parameters']:,} and {rival[0]['parameters']:,}",
    },
)

# %% [markdown]
# The run that you have just seen is a member of that experiment. It has to fall near the stored
# ones, and does.

# %%
low, high = min(runs["DigitsNet", "file order"]), max(runs["DigitsNet", "file order"])
observe(
    "Today's run lies within one and a half points of the stored ones.",
    low - 0.015 <= right <= high + 0.015,
    {"today": f"{right:.1%}", "stored": f"{low:.1%} to {high:.1%}"},
)

# %% [markdown]
# ### From LeNet to AlexNet to GoogLeNet
#
# LeNet read the digits on cheques in the 1990s {cite}`lecun1998gradient`. AlexNet is LeNet made
# wider and deeper, with ReLUs and dropout, trained on a million photographs
# {cite}`krizhevsky2012imagenet`. We build it at full size.

# %%
show_source(convolution.AlexNet)

# %% [markdown]
# AlexNet exists in two widths. The network of 2012 was split over two graphics cards, which cut
# some of its connections. Later its author described a version in one stream
# {cite}`krizhevsky2014one`; with slightly fewer channels, that is the one in most libraries.
#
# GoogLeNet asks several questions at once {cite}`szegedy2015going`. An **Inception block** looks at
# its input with kernels of 1×1, 3×3 and 5×5 and with a pooling window, and stacks the answers.

# %%
show_source(convolution.Inception)


# %%
def parameters(model: nn.Module) -> int:
    """Count the numbers that training changes."""
    return sum(p.numel() for p in model.parameters())


counts = {
    "LeNet": parameters(convolution.LeNet()),
    "AlexNet, one stream": parameters(convolution.AlexNet()),
    "AlexNet, widths of 2012": parameters(convolution.AlexNet((96, 256, 384, 384, 256))),
    "GoogLeNet": parameters(convolution.GoogLeNet()),
}
table([[name, f"{count:,}"] for name, count in counts.items()], ["network", "parameters"])

# %%
# thousands of parameters, as the paper's table 1 lists them, from the first convolution to the last
listed = [2.7, 112, 159, 380, 364, 437, 463, 580, 840, 1072, 1388, 1000]
print(f"the table in GoogLeNet's paper adds up to {sum(listed) / 1000:.1f} million")

# %% [markdown]
# The papers themselves say 60 million for AlexNet. For GoogLeNet the text says twelve times fewer, which
# would be 5 million; the paper's own table has more.
#
# The second AlexNet is counted with all connections, as if it had not been split. Where do the
# parameters sit?

# %%
rows = []
for name, network in (
    ("AlexNet, one stream", convolution.AlexNet()),
    ("GoogLeNet", convolution.GoogLeNet()),
):
    in_dense = sum(parameters(layer) for layer in network if isinstance(layer, nn.Linear))
    rows.append([name, f"{parameters(network) - in_dense:,}", f"{in_dense:,}"])
table(rows, ["network", "in convolutions", "in dense layers"])

# %% [markdown]
# GoogLeNet has one dense layer of a million numbers, where AlexNet has three with 59 million. It can
# afford that, because it takes the mean of each last map first, an idea of Network in Network
# {cite}`lin2014network`. That is all of its saving and more: its convolutions have more parameters than
# AlexNet's. The 1×1 convolutions keep them from growing further. They mix channels, and shrink their
# number before the expensive kernels. We count operations (multiplications and additions) for the first
# Inception block, which the paper calls 3a, on 28×28 places.


# %%
def work(model: nn.Module, x: torch.Tensor) -> int:
    """Count the floating-point operations of one forward pass."""
    with FlopCounterMode(display=False) as counter, torch.no_grad():
        model(x)
    return counter.get_total_flops()


class Unreduced(nn.Module):
    """Inception 3a without the 1×1 convolutions that come before the larger kernels."""

    def __init__(self):
        super().__init__()
        sizes = ((64, 1), (128, 3), (32, 5), (32, 1))
        self.branches = nn.ModuleList(nn.Conv2d(192, n, K, padding=K // 2) for n, K in sizes)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.cat([branch(x) for branch in self.branches], dim=1)


# %%
x = torch.randn(1, 192, 28, 28)
blocks = {
    "Inception 3a": convolution.Inception(192, 64, 96, 128, 16, 32, 32),
    "3a without reductions": Unreduced(),
    "one 5×5 convolution": nn.Conv2d(192, 256, 5, padding=2),
}
cost = {name: (parameters(block), work(block, x)) for name, block in blocks.items()}
table(
    [[name, f"{count:,}", f"{flops / 1e6:.0f}"] for name, (count, flops) in cost.items()],
    ["256 maps from 192", "parameters", "million operations"],
)

# %% [markdown]
# The block sees three scales for less than a seventh of what one large kernel costs. Scaled down to 8×8
# pixels, and with batch normalisation, AlexNet and GoogLeNet stand in the table further up. On so small
# a task they do no better, as far as 360 digits can tell, than three plain convolutions. They were made
# for a million photographs. A design is good *for a task*.

# %% [markdown]
# ## Look inside
#
# *10 minutes.* What did the network learn? Its first layer has 24 kernels of 3×3.

# %% mystnb={"figure": {"caption": "The kernels that the first layer learned. Purple and orange are the two signs.", "name": "fig-kernels"}, "image": {"alt": "Twenty-four small grids of three by three squares in two colours, without a pattern that most of them share."}}
learned = model[0][0].weight.detach()  # (24, 1, 3, 3)
image_grid(learned, columns=8, signed=True)
plt.show()

# %% [markdown]
# It is often said that first layers learn edge detectors, and with some good will one can see some
# here. Good will is not a measurement. An edge of any direction lies in the plane that Sobel's two
# kernels span, so we ask how much of a kernel lies in that plane. For a random kernel the share is
# 2 of 9 dimensions, on average.


# %%
def edge_share(kernels: torch.Tensor) -> float:
    """Mean share of a 3×3 kernel's squared length that lies in the plane of Sobel's kernels."""
    plane = torch.stack([sobel_x.flatten(), sobel_x.T.flatten()])
    plane = plane / plane.norm(dim=1, keepdim=True)  # the two are orthogonal
    flat = kernels.flatten(1)  # (n, 9)
    return (((flat @ plane.T) ** 2).sum(1) / (flat**2).sum(1)).mean().item()


random_kernels = torch.randn(10_000, 9, generator=torch.Generator().manual_seed(0))
shares = {"learned": edge_share(learned), "random": edge_share(random_kernels)}
observe(
    "The learned kernels are no nearer to edges than random ones, within 10 points.",
    abs(shares["learned"] - shares["random"]) < 0.1,
    {name: f"{share:.0%}" for name, share in shares.items()},
)

# %% [markdown]
# What the eye found there was chance. AlexNet's first kernels, learned from a million photographs, do
# show edges of all directions {cite}`krizhevsky2012imagenet`. Ours, on digits of 8×8 pixels, stayed near
# the place where chance had put them. Are they needed at all? We train once more, with the first layer
# frozen as it was drawn.

# %%
torch.manual_seed(0)
frozen = convolution.DigitsNet()
start = frozen[0][0].weight.detach().clone()
frozen[0][0].weight.requires_grad_(False)
train_digits(frozen, data.train, seed=0)
reads_frozen = reads(frozen, images, labels)
observe(
    "With random first kernels the network reads as many validation digits, within 2 points.",
    reads_frozen > reads(model, images, labels) - 0.02,
    {"frozen": f"{reads_frozen:.1%}", "trained": f"{reads(model, images, labels):.1%}"},
)

# %%
cosine = F.cosine_similarity(learned.flatten(1), start.flatten(1)).mean().item()
observe(
    "Training turned the first kernels by little: their mean cosine with the start is over 0.8.",
    cosine > 0.8,
    {"cosine": f"{cosine:.2f}"},
)

# %% [markdown]
# Deeper layers can't be drawn that way. But we can look at their maps for one digit.


# %% mystnb={"figure": {"caption": "One digit (left) and seven of its maps after the first convolution (top), the second (middle) and the third (bottom).", "name": "fig-maps"}, "image": {"alt": "Three rows of small grey pictures; in the first row the strokes of the digit are still visible, in the last row only a few squares are bright."}}
def maps_after(network: nn.Module, n_stages: int, pictures: torch.Tensor) -> torch.Tensor:
    """Feature maps that leave the first stages of a network in use."""
    with torch.no_grad():
        return nn.Sequential(*list(network.eval())[:n_stages])(pictures)


rows = []
for n_stages in (1, 2, 4):  # where the three convolutions end
    maps_of_digit = maps_after(model, n_stages, images[:1])[0, :7]
    rows += [images[0, 0], *(maps_of_digit / maps_of_digit.max())]
image_grid(rows, columns=8)
plt.show()

# %% [markdown]
# The first maps still show the strokes. In the last ones, at 4×4 places, little is left that one
# could call a picture.
#
# ### What each layer is about
#
# If not edges, does anything grow with depth? The numbers in a layer vary from picture to picture. Part
# of that variance lies *between* digits: a 3 differs from an 8. The rest lies *within* a digit: two
# people write a 3 differently. We ask what share lies between, at each depth. Three untrained networks
# stand beside the trained one, since random layers transform a picture too.


# %%
def digit_share(numbers: torch.Tensor, labels: torch.Tensor) -> float:
    """Share of the variance of (n, ...) numbers that lies between the digits."""
    numbers = numbers.flatten(1)
    mean = numbers.mean(0)
    of_digit = torch.stack([numbers[labels == d].mean(0) for d in range(10)])[labels]
    return (((of_digit - mean) ** 2).sum() / ((numbers - mean) ** 2).sum()).item()


def share_by_depth(network: nn.Module) -> list[float]:
    """The share in the pixels and after each of the three convolutions."""
    return [digit_share(maps_after(network, n, images), labels) for n in (0, 1, 2, 4)]


# %%
trained = share_by_depth(model)
untrained = []
for seed in (1, 2, 3):
    torch.manual_seed(seed)
    untrained.append(share_by_depth(convolution.DigitsNet()))
mean, highest = ([f(column) for column in zip(*untrained)] for f in (fmean, max))

# %% mystnb={"figure": {"caption": "Share of the variance that lies between digits, in the pixels (0) and after each convolution. For the untrained networks: mean and range of three.", "name": "fig-digit-share"}, "image": {"alt": "Two curves over depth. The trained network starts below the pixels after the first convolution and rises well above them after the third; the untrained networks stay flat."}}
curves(
    {"trained": (range(4), trained), "untrained": (range(4), untrained)},
    "convolutions passed",
    "share between digits",
)
plt.xticks(range(4))
plt.show()

# %%
observe(
    "After the third convolution the trained network is more about the digit than the pixels are, "
    "by over 3 points, and than any untrained network is, by over 5; after the first it is less.",
    trained[1] < trained[0] < trained[3] - 0.03 and trained[3] > highest[3] + 0.05,
    {"pixels": f"{trained[0]:.0%}", "trained": f"{trained[3]:.0%}", "untrained": f"{mean[3]:.0%}"},
)

# %% [markdown]
# Here is a hierarchy. The first layer is *less* about the digit than the pixels were. The last one forgets
# some of the handwriting and keeps the digit. That is a statement about variance, and no more.

# %% [markdown]
# ### How far a unit sees
#
# {eq}`eq-receptive-field` counts it. The gradient measures it: which input pixels does a unit in the
# middle of the last map depend on?


# %%
def gradient_field(layers: list[tuple[int, int, int]], size: int = 129) -> torch.Tensor:
    """Gradient of the middle output by each pixel; a layer is (kernel, stride, dilation)."""
    x = torch.zeros(1, 1, size, size, requires_grad=True)
    y = x
    for K, stride, dilation in layers:
        mean = torch.full((1, 1, K, K), 1 / K**2)
        y = convolution.conv2d(y, mean, stride=stride, dilation=dilation)
    y[0, 0, y.shape[2] // 2, y.shape[3] // 2].backward()
    return x.grad[0, 0]


# %%
stacks = {
    "plain": [(3, 1, 1)] * 5,
    "stride 2": [(3, 2, 1)] * 5,
    "dilation doubling": [(3, 1, 2**i) for i in range(5)],
}
fields = {}
for name, layers in stacks.items():
    reached = [(gradient_field(layers[:n]) != 0).any(0).sum().item() for n in range(1, 6)]
    assert reached == [convolution.receptive_field(layers[:n]) for n in range(1, 6)]
    fields[name] = reached
table([[name, *widths] for name, widths in fields.items()], ["layers", "1", "2", "3", "4", "5"])

# %% [markdown]
# Measured and counted agree. Without stride or dilation the field grows by the same amount with each
# layer. With either, each layer adds twice as much as the last. But do all pixels in the field weigh
# the same?

# %%
deep = [(3, 1, 1)] * 20
across = gradient_field(deep, size=61).sum(0)  # one number a column
distance = (torch.arange(61) - 30).abs()
reach = next(r for r in range(31) if across[distance <= r].sum() >= 0.95)
theory = convolution.receptive_field(deep)
print(f"receptive field {theory} pixels wide, 95 % of the weight within {2 * reach + 1}")

# %% mystnb={"figure": {"caption": "How much each input column counts for one output of 20 plain 3×3 layers. Dashed: the receptive field that the formula gives.", "name": "fig-effective-field"}, "image": {"alt": "A bell-shaped curve in the middle, much narrower than the distance between two dashed lines."}}
ax = curves(
    {"": (range(-30, 31), across)}, "column, from the centre (pixels)", "share of the gradient"
)
for side in (-1, 1):
    ax.axvline(side * (theory // 2), color="black", linestyle="--")
plt.show()

# %% [markdown]
# Here all kernels are averages; in trained networks it depends on the weights. The **effective
# receptive field** is a bell in the middle of the theoretical one {cite}`luo2016understanding`: many
# paths lead through the centre, few to the rim.
#
# ### What it still gets wrong
#
# The errors that remain are worth a look. We look at validation digits, since a look is the beginning of
# a choice: the eight that the network was least willing to read as their label says.

# %% mystnb={"figure": {"caption": "Eight validation digits on which the network is least sure: what it reads, and what the label says.", "name": "fig-errors"}, "image": {"alt": "Eight badly written digits, each with the network's reading and the label above it."}}
with torch.no_grad():
    odds = model.eval()(images).softmax(1)
hardest = odds[range(len(labels)), labels].argsort()[:8].tolist()
titles = [f"{odds[i].argmax()}, is {labels[i]}" for i in hardest]
image_grid(images[hardest], titles=titles, columns=4)
plt.show()

# %% [markdown]
# A one with a flag looks like a seven, a crooked one like an eight. At 8×8 pixels, one grey pixel
# decides.
#
# ### Does the answer stay when the picture moves?
#
# The mathematics promised that maps move along. It did not promise that *answers* stay. We move the
# validation digits, and compare six networks. Two of them are variants of DigitsNet: without
# pooling, and with the mean of each map in place of the dense layer's many numbers.


# %%
def digits_net(variant: str) -> nn.Sequential:
    """DigitsNet, without its pooling or with the mean of each map at the end."""
    first, second, pool, third, *_ = convolution.DigitsNet()
    if variant == "no pooling":
        return nn.Sequential(first, second, third, nn.Flatten(), nn.Linear(48 * 8 * 8, 10))
    head = [nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(48, 10)]
    return nn.Sequential(first, second, pool, third, *head)


def plainly_trained(network: nn.Module) -> nn.Module:
    """Train on the digits as they are, without jitter."""
    optimiser = torch.optim.AdamW(network.parameters(), lr=3e-3)
    fit(network, train, F.cross_entropy, optimiser, epochs=10)
    return network


# %%
torch.manual_seed(0)
readers = {
    "dense": dense,
    "no pooling": plainly_trained(digits_net("no pooling")),
    "DigitsNet": plainly_trained(convolution.DigitsNet()),
    "mean of each map": plainly_trained(digits_net("mean")),
    "dense, jittered": nn.Sequential(
        nn.Flatten(), nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 10)
    ),
    "DigitsNet, jittered": model,
}
_ = train_digits(readers["dense, jittered"], data.train)

# %%
after = {
    name: [reads(reader, F.pad(images, (move, -move)), labels) for move in (0, 1, 2)]
    for name, reader in readers.items()
}

# %% mystnb={"figure": {"caption": "Share of validation digits read right after a move to the right. (A move by two pixels cuts off a part of most digits.)", "name": "fig-moved"}, "image": {"alt": "Six curves over a move of zero, one and two pixels: the dense network falls steeply, the convolutional network without pooling nearly so, with pooling less; the one that takes the mean of each map and the jittered networks fall least."}}
curves(
    {name: ([0, 1, 2], scores) for name, scores in after.items()},
    "moved by (pixels)",
    "share read right",
)
plt.xticks([0, 1, 2])
plt.show()

# %%
one = {name: scores[1] for name, scores in after.items()}
observe(
    "Moved by one pixel: pooling helps, the mean of each map helps more, and jitter is worth over 15 "
    "points to DigitsNet and to the dense network.",
    one["no pooling"] < one["DigitsNet"] < one["mean of each map"]
    and one["DigitsNet, jittered"] > one["DigitsNet"] + 0.15
    and one["dense, jittered"] > one["dense"] + 0.15,
    {name: f"{score:.0%}" for name, score in one.items()},
)

# %% [markdown]
# Convolution alone makes no invariance. Max pooling buys some. Taking the mean of each map buys
# more, since then the network no longer knows places. Jitter helps every network, the dense one too.

# %% [markdown]
# ## Where it breaks
#
# *5 minutes.* A kernel sees its neighbours. What if the answer hangs on things that are far apart?
# Here is a task for a child. Two marks stand on a line. Which comes first?

# %% mystnb={"figure": {"caption": "Four sequences of the task. The answer is the mark further left.", "name": "fig-two-marks"}, "image": {"alt": "Four lines, each with a circle and a square at some distance; sometimes the circle comes first, sometimes the square."}}
lines, first = two_marks(4, length=48, distance=10, seed=2)
figure, ax = plt.subplots(figsize=(6.4, 2.4))
for mark, (shape, name) in enumerate((("o", "circle"), ("s", "square"))):
    row, place = lines[:, mark].nonzero(as_tuple=True)
    ax.scatter(place, row + 1, marker=shape, s=90, label=name)
ax.set(xlabel="position", ylabel="sequence", xlim=(0, 47), yticks=range(1, 5), ylim=(0.4, 4.6))
ax.legend(loc="center right")
plt.show()

# %% [markdown]
# A network of three layers with kernels of width 3 sees 7 steps. Then it takes the strongest answer
# over the whole line, wherever that was. We train it on marks that stand 4 steps apart, and on
# marks 12 steps apart.


# %%
def learns_order(distance: int) -> float:
    """Test accuracy of a three-layer network on marks that far apart."""
    torch.manual_seed(0)
    layers = [[nn.Conv1d(c, 24, 3, padding=1), nn.ReLU()] for c in (2, 24, 24)]
    network = nn.Sequential(
        *sum(layers, []), nn.AdaptiveMaxPool1d(1), nn.Flatten(), nn.Linear(24, 2)
    )
    batches = Batches(*two_marks(1500, 48, distance, seed=0), batch_size=100, shuffle=True)
    optimiser = torch.optim.AdamW(network.parameters(), lr=1e-2)
    fit(network, batches, F.cross_entropy, optimiser, epochs=8)
    return reads(network, *two_marks(1000, 48, distance, seed=1000))


# %%
near, far = learns_order(4), learns_order(12)
observe("4 steps apart: at least 99 % right.", near >= 0.99, {"right": f"{near:.1%}"})
observe("12 steps apart: chance, within 6 points.", abs(far - 0.5) < 0.06, {"right": f"{far:.1%}"})

# %% [markdown]
# A long experiment drew the whole curve, for networks of one, two and three layers and three seeds.
# The two runs above are members of it, and must agree with what is stored.

# %%
order = experiments.load("order")
for distance, today in ((4, near), (12, far)):
    (stored,) = order.select(layers=3, distance=distance, seed=0)
    assert abs(today - stored["test"]) < 0.05

# %%
apart = order.parameters["distance"]
lines = {
    name: (apart, [order.column("test", layers=n, seed=seed) for seed in (0, 1, 2)])
    for n, name in ((1, "1 layer"), (2, "2 layers"), (3, "3 layers"))
}

# %% mystnb={"figure": {"caption": "Share of right answers by the distance of the marks: mean and range over three seeds (stored experiment `order`).", "name": "fig-order"}, "image": {"alt": "Three curves like cliffs: with one layer the accuracy drops from one to one half after distance two, with two layers after four, with three layers after six."}}
curves(lines, "distance of the marks (steps)", "share of right answers")
plt.show()

# %%
for n in (1, 2, 3):
    inside = min(order.spread("test", layers=n, distance=d)[1] for d in apart if d < 2 * n)
    beyond = max(order.spread("test", layers=n, distance=d)[2] for d in apart if d > 2 * n)
    assert inside > 0.99 and beyond < 0.6
    print(f"{n} layers, {2 * n + 1} steps: solved at distances below {2 * n}, guessed above")

# %% [markdown]
# It is a cliff. While both marks fit into the receptive field, the network is perfect, but for the
# very rim of the deepest one: there a single path joins the two marks, and it depends on the seed
# whether training finds it. Once the marks don't fit, the network guesses. No training moves the
# cliff, since beyond it the two marks never meet in one unit.
#
# So a convolutional network can't handle long range? That is often said, and it is too much. With
# **dilations** that double from layer to layer, as in WaveNet {cite}`oord2016wavenet`, the reach
# doubles too. WaveNet's convolutions are also **causal**: each output sees only the past, as it must
# when a sequence is still being read.

# %%
show_source(convolution.CausalConv1d)

# %% [markdown]
# The task is now to remember the first symbol of 64, and to name it at the end. Six layers with kernels
# of width 2: with dilations 1, 2, 4, …, 32 they see 1 + (1 + 2 + 4 + … + 32) = 64 steps, and without
# they see 7. All else is equal.

# %%
show_source(convolution.RecallNet)


# %%
def recalls(doubling: bool) -> float:
    """Share of first symbols named right after 64 steps, by six layers."""
    torch.manual_seed(0)
    network = convolution.RecallNet(6, doubling)
    batches = Batches(*delayed_recall(2000, 64, seed=0), batch_size=100, shuffle=True)
    optimiser = torch.optim.AdamW(network.parameters(), lr=3e-3)
    fit(network, batches, F.cross_entropy, optimiser, epochs=6)
    return reads(network, *delayed_recall(1000, 64, seed=1000))


# %%
recalled = {doubling: recalls(doubling) for doubling in (True, False)}
numbers = {f"doubling {doubling}": f"{share:.1%}" for doubling, share in recalled.items()}
observe("With doubling dilations the symbol is recalled.", recalled[True] > 0.95, numbers)
observe("Without, it is guessed: one in four.", abs(recalled[False] - 0.25) < 0.06, numbers)

# %% [markdown]
# So the fault is not that a convolution sees too little. The fault is that *somebody has to say in
# advance how far*. The reach is built into the layers. A line of 65 symbols needs a seventh layer.
# What we would like is a network that reads step by step, keeps what matters for as long as it
# matters, and has one set of weights for any length.

# %% [markdown]
# ## Claims, measured
#
# *5 minutes.* Nine sentences that one often reads about convolutional networks, and what we found.
# Each verdict follows from what the cells above measured, or from a stored experiment.
#
# (claim-cnn-1)=

# %%
shared = parameters(nn.Conv2d(1, 16, 3))
times = {size: dense_parameters(size, 1, 16) / shared for size in (28, 224)}
claim(
    "cnn-1",
    supports={
        "at 28×28 a dense layer needs over 10,000 times as many": times[28] > 1e4,
        "at 224×224 it needs over 100 million times as many": times[224] > 1e8,
    },
    numbers={"convolution": shared} | {f"times at {n}×{n}": t for n, t in times.items()},
)

# %% [markdown]
# (claim-cnn-2)=

# %%
claim(
    "cnn-2",
    supports={
        "at stride 1 the map moves with the picture": max(mismatch(1, m) for m in (1, 2, 3, 4))
        < 1e-6,
        "at stride 2 it does for even moves": max(mismatch(2, m) for m in (2, 4)) < 1e-6,
        "with pooling more moved digits are read": one["DigitsNet"] > one["no pooling"],
    },
    limits={
        "at stride 2 it does not for odd moves": min(mismatch(2, m) for m in (1, 3)) > 1e-3,
        "with pooling, over a tenth is still misread after one pixel": one["DigitsNet"] < 0.9,
    },
    numbers={f"read after one pixel, {name}": score for name, score in one.items()},
)

# %% [markdown]
# (claim-cnn-3)=

# %%
added = {name: [b - a for a, b in zip(f, f[1:])] for name, f in fields.items()}
claim(
    "cnn-3",
    supports={"each plain 3×3 layer adds the same number of pixels": len(set(added["plain"])) == 1},
    limits={
        "it adds K - 1 = 2 pixels, not K": set(added["plain"]) == {2},
        "with stride 2 each layer adds twice as much as the last": added["stride 2"]
        == [4, 8, 16, 32],
        "so it does with doubling dilations": added["dilation doubling"] == [4, 8, 16, 32],
        "20 plain layers have 95 % of their weight in under half of the field": 2 * reach + 1
        < theory / 2,
    },
    numbers={"field of 20 layers": theory, "95 % of the weight within": 2 * reach + 1},
)

# %% [markdown]
# (claim-cnn-4)=

# %%
no_nearer = abs(shares["learned"] - shares["random"]) < 0.1
claim(
    "cnn-4",
    supports={
        "from the first to the third convolution the digit's share grows": trained[3]
        > trained[1] + 0.05,
        "in untrained networks it does not": highest[3] < highest[1] + 0.03,
    },
    limits={
        "first kernels are no nearer to edges than random ones": no_nearer,
    },
    numbers={"digit's share, pixels": trained[0], "1st": trained[1], "3rd": trained[3]},
)

# %% [markdown]
# On digits of 8×8 pixels, that is. What AlexNet's layers see in photographs, {cite:t}`zeiler2014visualizing`
# have shown; two cores can't repeat it.

# %% [markdown]
# (claim-cnn-5)=

# %%
ratio = {name: count / counts["GoogLeNet"] for name, count in counts.items() if "Alex" in name}
claim(
    "cnn-5",
    limits={
        "AlexNet in one stream has 8.7 times as many": f"{ratio['AlexNet, one stream']:.1f}"
        == "8.7",
        "AlexNet in the widths of 2012 has 8.9 times as many": f"{ratio['AlexNet, widths of 2012']:.1f}"
        == "8.9",
    },
    numbers=counts,
)

# %% [markdown]
# Nearer nine than twelve, whichever AlexNet one takes.
#
# The next two claims need many runs. A stored experiment trained one small network with ReLU and with
# tanh, in the manner of AlexNet's authors, but at three learning rates each. How many steps does it
# take until the training loss is down to 0.1, in at most 30 epochs?

# %%
race = experiments.load("activations")
rates = race.parameters["learning_rate"]


def steps_needed(activation: str, rate: float) -> list[int | None]:
    """Steps of each seed until the loss is down; None if it never was."""
    return [row["steps"] for row in race.select(activation=activation, learning_rate=rate)]


took = {(name, rate): steps_needed(name, rate) for name in ("ReLU", "tanh") for rate in rates}
table(
    [[f"{rate}", str(took["ReLU", rate]), str(took["tanh", rate])] for rate in rates],
    ["learning rate", "ReLU, three seeds", "tanh, three seeds"],
)

# %% [markdown]
# `None` means that the loss never came down that far. One member of the grid is run again, here and
# now, to see that the stored numbers are still true.

# %%
now, stored = experiments.live("activations", activation="ReLU", learning_rate=0.1, seed=0)
observe(
    "ReLU needs as many steps as the stored table says, within a quarter.",
    abs(now["steps"] - stored["steps"]) <= 0.25 * stored["steps"],
    {"steps now": now["steps"], "stored": stored["steps"]},
)

# %% [markdown]
# (claim-cnn-6)=

# %%
reached = {key: sum(steps) for key, steps in took.items() if None not in steps}
fastest = {
    name: min(reached[key] for key in reached if key[0] == name) for name in ("ReLU", "tanh")
}
ratio = {rate: reached["tanh", rate] / reached["ReLU", rate] for rate in (0.03, 0.1)}
claim(
    "cnn-6",
    limits={
        "with the best rate for each, ReLU is no faster": fastest["ReLU"] >= fastest["tanh"],
        "where all runs arrive, ReLU is never twice as fast": max(ratio.values()) < 2,
    },
    numbers={f"tanh's steps over ReLU's at {rate}": times for rate, times in ratio.items()},
    experiment="activations",
)

# %% [markdown]
# 0.03 and 0.1 are the rates at which all runs arrive. At 0.03 ReLU is ahead, at 0.1 tanh is; at 0.3 ReLU
# still learns and tanh does not. So ReLU forgives a badly chosen rate, which is worth something. All
# this is for four convolutions on digits; the claim was made for photographs.
#
# (claim-cnn-7)=

# %%
now, stored = experiments.live("dropout", network="dense", examples=50, dropout=0.5, seed=0)
observe(
    "With dropout and 50 examples, a dense network reads what the stored table says, within 5 points.",
    abs(now["test"] - stored["test"]) < 0.05,
    {"now": f"{now['test']:.1%}", "stored": f"{stored['test']:.1%}"},
)

# %%
drop = experiments.load("dropout")


def mean_of(column: str, network: str, examples: int, dropout: float) -> float:
    """Mean over three seeds."""
    return drop.spread(column, network=network, examples=examples, dropout=dropout)[0]


kinds = [(net, n) for net in ("dense", "DigitsNet") for n in drop.parameters["examples"]]
gains = {k: mean_of("test", *k, 0.5) - mean_of("test", *k, 0.0) for k in kinds}
lowers = [mean_of("test loss", *k, 0.5) < mean_of("test loss", *k, 0.0) for k in kinds]
table(
    [[net, n, f"{100 * gains[net, n]:+.1f}"] for net, n in kinds],
    ["network", "examples", "points"],
)

# %% [markdown]
# Points of test accuracy that dropout adds, over three seeds. In the dense network all three means
# fall a little. How far do the seeds of one setting lie apart?

# %%
ranges = [drop.spread("test", network=net, examples=n, dropout=0.5) for net, n in kinds]
print(f"at least {100 * min(high - low for _, low, high in ranges):.1f} points between seeds")

# %%
claim(
    "cnn-7",
    limits={
        "in none of six settings does it raise the mean accuracy by a point": max(gains.values())
        < 0.01,
        "it lowers the mean test loss in some settings and raises it in others": 0
        < sum(lowers)
        < 6,
    },
    numbers={f"{net}, {n} examples: gain": gain for (net, n), gain in gains.items()}
    | {"settings with a lower loss": sum(lowers)},
    experiment="dropout",
)

# %% [markdown]
# Half of the units were dropped, for 400 steps, in networks this small. AlexNet had 60 million
# parameters; that dropout does not help here does not say that it did not help there.

# %% [markdown]
# (claim-cnn-8)=

# %%
block, bare, large = (cost[name] for name in cost)
claim(
    "cnn-8",
    supports={
        "the block needs less than a seventh of the parameters of one 5×5 convolution": block[0]
        < large[0] / 7,
        "and less than a seventh of its operations": block[1] < large[1] / 7,
        "without the 1×1 reductions it would need over twice as many of both": bare[0]
        > 2 * block[0]
        and bare[1] > 2 * block[1],
    },
    numbers={f"{name}: million operations": flops / 1e6 for name, (_, flops) in cost.items()},
)

# %% [markdown]
# (claim-cnn-9)=

# %%
recall = experiments.load("recall")
for doubling, today in recalled.items():
    (stored,) = recall.select(doubling=doubling, length=64, seed=0)
    assert abs(today - stored["test"]) < 0.05

# %%
doubling = [recall.spread("test", doubling=True, length=n) for n in (16, 64, 256)]
undilated = [recall.spread("test", doubling=False, length=n) for n in (16, 64, 256)]

# %%
claim(
    "cnn-9",
    supports={
        "without dilation, 4 to 8 layers guess the first of 16 to 256 symbols, one in four": all(
            0.19 < low and high < 0.31 for _, low, high in undilated
        ),
    },
    limits={
        "with doubling dilations they recall it, at every length and seed": all(
            low > 0.95 for _, low, _ in doubling
        ),
    },
    numbers={"256 symbols, doubling": doubling[2][0], "256 symbols, undilated": undilated[2][0]},
    experiment="recall",
)

# %% [markdown]
# ## Exercises
#
# *As long as you like.* Fill in the functions and run the cells; the check under each one tells you
# what is wrong, if something is. Solutions stand on [a page of their own](solutions/01_convolution.ipynb).
#
# ```{exercise} Keep the size
# :label: exercise-1-1
#
# *Warm-up, 5 minutes.* At stride 1, how many zeros on *each* side keep a picture's size? Use
# {eq}`eq-size`, and take $d(K-1)$ as even; otherwise no number does.
# ([Solution](solutions/01_convolution.ipynb#solution-1-1))
# ```


# %%
def same_padding(kernel_size: int, dilation: int) -> int:
    """Padding on one side for which H_out = H at stride 1."""
    raise NotImplementedError


check("1.1", same_padding)

# %% [markdown]
# ```{exercise} Count before you build
# :label: exercise-1-2
#
# *Warm-up, 3 minutes.* How many parameters has a convolution from 3 channels to 16, with 5×5
# kernels and biases? Write down the number before you ask PyTorch.
# ([Solution](solutions/01_convolution.ipynb#solution-1-2))
# ```

# %%
my_count = None

check("1.2", my_count)

# %% [markdown]
# ```{exercise} Predict: shuffled pixels
# :label: exercise-1-3
#
# *Core, 5 minutes.* At the top of this page, one fixed shuffle of the pixels did nothing to a dense
# network. Suppose that DigitsNet and a dense network are each trained and tested on shuffled pictures,
# over three seeds. Whose mean share of errors grows by more than a quarter? Commit yourself to one of
# `"dense"`, `"convolutional"`, `"both"` and `"neither"`, and say to yourself why.
# ([Solution](solutions/01_convolution.ipynb#solution-1-3))
# ```

# %%
my_prediction = None

check("1.3", my_prediction)

# %% [markdown]
# ```{exercise} Convolution over time
# :label: exercise-1-4
#
# *Core, 15 minutes.* Sound and text have one axis, not two. Write the convolution (that is, the
# cross-correlation) over sequences, with channels, biases and a stride, but without padding, out of
# tensor operations. Loops are fine. ([Solution](solutions/01_convolution.ipynb#solution-1-4))
# ```


# %%
def conv1d(x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor, stride: int) -> torch.Tensor:
    """Shapes: x (B, C, T), weight (C_out, C, K), bias (C_out,); returns (B, C_out, T_out)."""
    raise NotImplementedError


check("1.4", conv1d)

# %% [markdown]
# ```{exercise} A kernel for each channel
# :label: exercise-1-5
#
# *Core, 10 minutes.* In a **depthwise** convolution each channel has one kernel of its own and is not
# mixed with the others. Write it, without padding. How many parameters does it need, compared with an
# ordinary convolution from C to C channels? ([Solution](solutions/01_convolution.ipynb#solution-1-5))
# ```


# %%
def depthwise_conv2d(x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    """Shapes: x (B, C, H, W), weight (C, K, K); returns (B, C, H_out, W_out)."""
    raise NotImplementedError


check("1.5", depthwise_conv2d)

# %% [markdown]
# ```{exercise} The smallest of each window
# :label: exercise-1-6
#
# *Core, 10 minutes.* Write *min* pooling, with stride and padding. What is padded must never win.
# ([Solution](solutions/01_convolution.ipynb#solution-1-6))
# ```


# %%
def min_pool2d(x: torch.Tensor, kernel_size: int, stride: int, padding: int) -> torch.Tensor:
    """Shapes: x (B, C, H, W) to (B, C, H_out, W_out)."""
    raise NotImplementedError


check("1.6", min_pool2d)

# %% [markdown]
# ```{exercise} How deep must it be?
# :label: exercise-1-7
#
# *Core, 10 minutes.* You want one output to see `length` steps. How many layers with kernels of width
# `kernel_size` and stride 1 does that take, with dilations that double (1, 2, 4, …) or with none
# (all 1)? ([Solution](solutions/01_convolution.ipynb#solution-1-7))
# ```


# %%
def layers_needed(length: int, kernel_size: int, doubling: bool) -> int:
    """Smallest number of layers whose receptive field is at least `length`."""
    raise NotImplementedError


check("1.7", layers_needed)

# %% [markdown]
# ```{exercise} Fold the normalisation away
# :label: exercise-1-8
#
# *Stretch, 15 minutes.* In use, batch normalisation is one multiplication and one addition a channel.
# So it can be folded into the convolution before it. Find weights and biases with which the
# convolution alone gives what both gave together. `mean` and `var` are the running ones, the other
# names are those of {eq}`eq-batch-norm`.
# ([Solution](solutions/01_convolution.ipynb#solution-1-8))
# ```


# %%
def fold_batch_norm(weight, bias, mean, var, gamma, beta, eps):
    """Shapes: weight (C_out, C, K, K), the others (C_out,), eps a number.

    Returns: the new weight and the new bias.
    """
    raise NotImplementedError


check("1.8", fold_batch_norm)

# %% [markdown]
# ```{exercise} The kernel's gradient
# :label: exercise-1-9
#
# *Stretch, 20 minutes.* Derive from {eq}`eq-conv-channels` what the loss's gradient by the weights is, given
# the gradient by the outputs, at stride 1 and without padding. Write it as sums of products, without
# autograd. You will meet an old acquaintance.
# ([Solution](solutions/01_convolution.ipynb#solution-1-9))
# ```


# %%
def weight_gradient(x: torch.Tensor, grad_y: torch.Tensor) -> torch.Tensor:
    """Shapes: x (B, C, H, W), grad_y (B, C_out, H_out, W_out); returns (C_out, C, K, K)."""
    raise NotImplementedError


check("1.9", weight_gradient)

# %% [markdown]
# ```{exercise} Blur before you jump
# :label: exercise-1-10
#
# *Research, 40 minutes.* A stride of 2 breaks equivariance, since fine detail falls between the places.
# Signal processing has a cure, and it works in networks too {cite}`zhang2019making`: blur first. Write
# `blur_pool`. Each channel is blurred with the kernel of rows 1 2 1, 2 4 2, 1 2 1, divided by its
# sum; the border is reflected by `F.pad(…, mode="reflect")`. Then every other row and column is kept,
# beginning with row 0 and column 0. Then measure: in DigitsNet, replace the pooling by max pooling at
# stride 1 and a blur pool. Train both for 8 epochs with AdamW at 3e-3, over three seeds. How many
# answers change when the digits move by one pixel?
# ([Solution](solutions/01_convolution.ipynb#solution-1-10))
# ```


# %%
def blur_pool(x: torch.Tensor) -> torch.Tensor:
    """Shapes: x (B, C, H, W) to (B, C, ceil(H / 2), ceil(W / 2))."""
    raise NotImplementedError


check("1.10", blur_pool)

# %% [markdown]
# ```{exercise} Predict: what moves along
# :label: exercise-1-11
#
# *Core, 5 minutes.* Two convolutions of stride 2 stand one on the other. By how many pixels must a picture
# move at least, so that the map of the second moves with it exactly, away from the borders? Write the
# number down, then try it with `F.conv2d`.
# ([Solution](solutions/01_convolution.ipynb#solution-1-11))
# ```

# %%
my_move = None

check("1.11", my_move)

# %% [markdown]
# ## Checklist and tomorrow
#
# The points from the top of the page, ticked when you have passed the exercises that test them.

# %%
points = {
    "compute a convolution by hand: its numbers, its output size and its gradient": "1.4 1.6 1.9",
    "count what a layer costs, and say what sharing weights saves": "1.2 1.5",
    "say how far a unit sees, and choose depth and dilation for the reach that you want": "1.1 1.7",
    "say what happens to the output when the picture moves": "1.10 1.11",
    "say what batch normalisation does in training and in use, and fold it away": "1.8",
    "predict when a convolution is the wrong tool": "1.3",
}
checklist({point: ids.split() for point, ids in points.items()})

# %% [markdown]
# **Tomorrow** we give up the fixed reach. A recurrent network reads one step at a time, with the same weights
# at each step, and carries what it has read in a state. We will ask it the question of today's last
# section: what was the first symbol? And we will measure how long it remembers.

# %% [markdown]
# ## Further reading
#
# - {cite:t}`lecun1998gradient`, the paper to read first: LeNet, and why it was built that way.
# - {cite:t}`krizhevsky2012imagenet` and {cite:t}`szegedy2015going`, the two networks that we counted.
# - {cite:t}`dumoulin2016guide`, all of this arithmetic in pictures;
#   {cite:t}`araujo2019computing`, receptive fields in full.
# - {cite:t}`he2015delving`, {cite:t}`ioffe2015batch` and {cite:t}`he2016deep`, the three cures of deep networks.
# - {cite:t}`zeiler2014visualizing`, what the layers of AlexNet see; {cite:t}`luo2016understanding`, how far.
# - {cite:t}`bai2018empirical`, convolutions over time against recurrent networks, on many tasks.
# - {cite:t}`fukushima1980neocognitron`, where the idea began.
