# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Day 1, deeper: The convolutional network
#
# This page goes beyond the evening of [Day 1](../01_convolution.ipynb). It measures in full what the lesson only mentions, answers seven more claims, and has seven
# more exercises. The sections are independent, so begin with the question that interests you most. The code that they share comes first.

# %% tags=["setup"]
import convolution_to_attention  # is `utils` this book's?

import math
from statistics import fmean, stdev
from time import process_time

import matplotlib.pyplot as plt
import torch
from torch import nn
from torch.nn import functional as F

from utils import convolution
from utils.convolution import DigitsNet
from utils.data.pictures import digits, photographs
from utils.exercises.convolution import check
from utils.measure import experiments
from utils.measure.claims import claim
from utils.measure.costs import work
from utils.show.display import observe, show_source, table
from utils.show.mechanisms import convolution as mechanisms
from utils.show.plotting import curves, use_book_style
from utils.tasks.digits import at_best_rate, gradients, mismatch, reads, train_digits
from utils.training.metrics import mean_and_spread

use_book_style()
data = digits("file order")
sobel = torch.tensor([[1.0, 0.0, -1.0], [2.0, 0.0, -2.0], [1.0, 0.0, -1.0]]) / 4

# %% [markdown]
# (conv-fast)=
# ## How does a convolution get fast?
#
# *5 minutes.* Why is the library so much faster than your loops? With all three settings, stride $s$, padding $p$ and dilation $d$, and $x = 0$ outside the picture,
#
# $$
# y_{o,i,j} = b_o + \sum_{c,u,v} w_{o,c,u,v}\; x_{c,\,si+du-p,\,sj+dv-p} .
# $$ (eq-deeper-conv)
#
# Written as loops in Python, this sum is slow. But it is a great many sums of products, all of the same form, and so is a matrix product {cite}`chellapilla2006high`. Take
# one weight of the kernel: over all positions, the pixels that it meets are the picture again, shifted.

# %%
show_source(convolution.pixels_met)

# %% [markdown]
# So we stack shifted copies of the picture, one for each column of the kernel. Then each row of the kernel takes one matrix product with this stack, and the products are added up.
# (`baddbmm` adds the product of two batches of matrices to a third batch; `expand` repeats without copying; `unflatten` splits one axis into two.)

# %%
show_source(convolution.conv2d)

# %% tags=["evidence"]
small = torch.randn(4, 3, 12, 12, generator=torch.Generator().manual_seed(0))
weight = torch.randn(16, 3, 3, 3, generator=torch.Generator().manual_seed(0))
seconds = {}
for function, runs in ((convolution.conv2d_loop, 1), (convolution.conv2d, 20)):
    start = process_time()
    for _ in range(runs):
        function(small, weight)
    seconds[function.__name__] = (process_time() - start) / runs
ratio = seconds["conv2d_loop"] / seconds["conv2d"]
observe(
    "The matrix products are {ratio:.0f} times as fast as the loops.", ratio=ratio, holds=ratio > 5
)

# %% [markdown]
# The price is memory: each pixel is stored once per column of the kernel.

# %% [markdown]
# (conv-right)=
# ## Is it right, with gradients and dilation?
#
# *3 minutes.* Do the book's layers compute what the library's do, forwards and backwards? We compare the results and the gradients of the convolution, then load the library's weights into the book's layers. All sizes differ on
# purpose: if two were equal, swapped axes could go unnoticed.

# %%
generator = torch.Generator().manual_seed(1)
x = torch.randn(2, 3, 9, 11, dtype=torch.float64, generator=generator, requires_grad=True)
w = torch.randn(4, 3, 3, 2, dtype=torch.float64, generator=generator, requires_grad=True)
b = torch.randn(4, dtype=torch.float64, generator=generator, requires_grad=True)
torch.testing.assert_close(convolution.conv2d(x, w, b), convolution.conv2d_loop(x, w, b))
how = {"stride": 2, "padding": 1, "dilation": 3}
ours, theirs = convolution.conv2d(x, w, b, **how), F.conv2d(x, w, b, **how)
torch.testing.assert_close(ours, theirs, rtol=1e-10, atol=1e-10)
for mine, its in zip(*(torch.autograd.grad(y.pow(2).sum(), (x, w, b)) for y in (ours, theirs))):
    torch.testing.assert_close(mine, its, rtol=1e-10, atol=1e-10)

# %%
pairs = [
    (convolution.Conv2d(3, 5, 3, stride=2, padding=1), nn.Conv2d(3, 5, 3, stride=2, padding=1)),
    (convolution.BatchNorm2d(3), nn.BatchNorm2d(3)),
    (convolution.BatchNorm2d(3).eval(), nn.BatchNorm2d(3).eval()),
]
for ours, theirs in pairs:
    ours.load_state_dict(theirs.state_dict())
    torch.testing.assert_close(ours.double()(x), theirs.double()(x), rtol=1e-10, atol=1e-10)
    mode = "training" if ours.training else "evaluation"
    print(f"{type(ours).__name__} in {mode} mode: the same numbers")

# %% [markdown]
# (conv-moves)=
# ## Equivariance: which moves does a map follow?
#
# *3 minutes.* Does a map move along at any stride? We move a photograph by 1 to 4 pixels, and compare the map of the moved picture with the moved map, away from the borders.


# %% tags=["evidence"]
photo = photographs()["china"].mean(0)[100:164, 200:264]  # (H, W), grey
rows = {
    m: ["equal" if mismatch(photo, sobel, s, m) < 1e-6 else "differs" for s in (1, 2, 4)]
    for m in (1, 2, 3, 4)
}
table([[m, *row] for m, row in rows.items()], ["moved by", "stride 1", "stride 2", "stride 4"])

# %% [markdown]
# After an odd move, a kernel of stride 2 lands between its old positions. At stride 4 the map follows only a move by 4.
#
# And do the answers stay the same? The lesson's stored experiment trained five networks, with and without jitter, each at four learning rates and with three seeds. The table shows each network at the
# rate that was best on the validation digits; the numbers are means over the seeds, on the test digits.


# %% tags=["evidence"]
moved = experiments.load("moved_digits")


found = {
    (name, jittered): [fmean(at_best_rate(moved, name, jittered, by)) for by in (0, 1, 2)]
    for jittered in (False, True)
    for name in moved.parameters["network"]
}
names = ["network", "jitter", "in place", "by one pixel", "by two"]
rows = [[n, "yes" if j else "no", *(f"{s:.1%}" for s in f)] for (n, j), f in found.items()]
table(rows, names)

# %% tags=["evidence"]
bare, small, whole = (
    found[name, False] for name in ("no pooling", "max pooling", "largest of each map")
)
observe(
    "After a move by one pixel, the network with 2 × 2 max pooling reads {small:.0%}, and the one without pooling {bare:.0%}. The one that takes the largest number of each map reads {whole:.0%}.",
    small=small[1],
    bare=bare[1],
    whole=whole[1],
    holds=abs(small[1] - bare[1]) < 0.1 and whole[1] > small[1] + 0.1,
)

# %% [markdown]
# The mean and the maximum of each map forget positions, so moves hurt less. Jitter helps every network, even the dense one; with it, pooling hardly matters for a move by one
# pixel.

# %% [markdown]
# (conv-road)=
# ## Residual connections: how does a gradient get through a deep stack?
#
# *9 minutes.* What becomes of a gradient on its long way back? To see farther, you stack more layers. But the gradient has to pass back through all of them, and each multiplies it by a factor.
# If all these factors are a little less than 1, little arrives. **Residual connections** {cite}`he2016deep` give the gradient a road on which nothing is multiplied.

# %% tags=["mechanism"] mystnb={"figure": {"caption": "A residual block adds its input to the output of two convolutions. On its way back, the gradient can take the road around them.", "name": "fig-road-around"}, "image": {"alt": "Boxes from left to right: x, convolution, ReLU, convolution, a plus, ReLU. A line leads from x above the boxes straight to the plus: the road around. Above it a thick brown arrow, the gradient, points back to x."}}
mechanisms.roads()
plt.show()

# %% [markdown]
# $$
# y = \operatorname{ReLU}\left(x + f(x)\right)
# $$ (eq-residual-block)
#
# Where the input of the last ReLU is positive, the derivative is $1 + f'(x)$. Even if $f'$ is nearly 0, the 1 is left. How much is that worth? We build stacks of 5 to 33 layers whose weights are
# half as large as in He's initialisation, so that each layer shrinks the signal.

# %% tags=["evidence"] mystnb={"figure": {"caption": "Without residual connections (roads), hardly any gradient gets through a deep stack with small weights: untrained networks, geometric means of four draws. *Small* is half of He's size.", "name": "fig-gradient-depth"}, "image": {"alt": "Three curves over depth, from 5 to 33 layers, on a logarithmic scale. With small weights the gradient falls by many powers of ten; with He's weights it falls far less; with small weights and roads around it stays nearly level."}}
depths = [5, 9, 17, 33]
arrives = gradients(data.train, depths)
lines = {name: (depths, norms) for name, norms in arrives.items()}
curves(lines, "depth (layers)", "size of the gradient", logy=True)
plt.show()

# %% tags=["evidence"]
left = {name: norms[-1] / norms[0] for name, norms in arrives.items()}
observe(
    "With 33 layers instead of 5, {small:.0e} of the first layer's gradient is left. With a residual connection around every two layers, {roads:.1f} of it is left; with He's weights and no residual connections, {he:.2f}.",
    small=left["small weights"],
    roads=left["small, with roads"],
    he=left["He's weights"],
    holds=left["small weights"] < 1e-6
    and left["small, with roads"] > 0.1 > left["small weights"]
    and 0.01 < left["He's weights"] < 1,
)

# %% [markdown]
# So with He's start a stack can nearly do without these roads, and yet deep networks have them: training moves the weights away from their start, and a road is open whatever the weights are. Residual connections return
# on several days, and [Day 6's deeper page](06_transformer.ipynb) trains deep stacks with and without them.

# %% [markdown]
# (conv-norm)=
# ## What does batch normalisation do?
#
# *9 minutes.* Can a layer keep its signal at one size, whatever its weights are? The last section led the gradient around the layers. **Batch normalisation** takes another approach {cite}`ioffe2015batch`. It measures the mean $\mu$ and the variance $\sigma^2$ of each
# channel, over the batch and all positions, and brings them to 0 and 1:
#
# $$
# \hat{x} = \frac{x - \mu}{\sqrt{\sigma^2 + \varepsilon}}, \qquad y = \gamma\, \hat{x} + \beta .
# $$ (eq-batch-norm)
#
# $\varepsilon$ is small and keeps the denominator away from 0. $\gamma$ and $\beta$ are learned, so the layer can choose another mean and size. In training, $\mu$ and $\sigma^2$ are those of the batch,
# and the layer keeps running averages of both. In evaluation mode (`model.eval()`) it uses those averages, so the output for one picture doesn't depend on the others.

# %%
show_source(convolution.BatchNorm2d)

# %% [markdown]
# What does it do to the gradient of a deep stack? We build stacks of 5 to 33 layers, with five ways to start: weights of 0.01; **Glorot**'s rule {cite}`glorot2010understanding`, made for
# activations that are nearly a straight line around 0, such as **tanh**; He's rule; and He's rule with batch normalisation, without and with residual connections.


# %% tags=["evidence"]
def tower(depth: int, std, normalise: bool = False, residual: bool = False) -> nn.Sequential:
    """A stack of 3×3 convolutions with 16 channels, and a linear layer on the mean of the maps."""
    layers, channels = [], 1
    for _ in range(depth):
        conv = nn.Conv2d(channels, 16, 3, padding=1)
        nn.init.normal_(conv.weight, std=std(channels))
        nn.init.zeros_(conv.bias)
        layers += [conv, nn.BatchNorm2d(16)] if normalise else [conv]
        layers, channels = [*layers, nn.ReLU()], 16
    if residual:  # two layers to a block
        layers = layers[:3] + [convolution.ResidualBlock(16) for _ in range((depth - 1) // 2)]
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(16, 10))


# %% tags=["evidence"]
def first_gradient(**how) -> float:
    """Norm of the gradient at the first layer before any training, geometric mean of four draws."""
    norms = torch.zeros(4)
    for seed in range(4):
        torch.manual_seed(seed)
        model = tower(**how)
        F.cross_entropy(model(data.train.images[:64]), data.train.labels[:64]).backward()
        norms[seed] = model[0].weight.grad.norm()
    return norms.log().mean().exp().item()


# %% tags=["evidence"]
def he(channels: int) -> float:
    return (2 / (9 * channels)) ** 0.5


depths = [5, 9, 17, 33]
ways = {
    "weights of 0.01": {"std": lambda channels: 0.01},
    "Glorot": {"std": lambda channels: (2 / (9 * (channels + 16))) ** 0.5},
    "He": {"std": he},
    "He, batch norm": {"std": he, "normalise": True},
    "He, batch norm, residual": {"std": he, "normalise": True, "residual": True},
}
arrives = {way: [first_gradient(depth=d, **how) for d in depths] for way, how in ways.items()}

# %% tags=["evidence"] mystnb={"figure": {"caption": "How much gradient reaches the first layer of a deep stack depends on its start: untrained networks, geometric means of four draws. Where a line ends, single precision has no number small enough.", "name": "fig-gradient-starts"}, "image": {"alt": "Curves over depth on a logarithmic scale: with small weights the gradient vanishes within a few layers, with Glorot it falls steadily, with He it falls a little, with batch normalisation it grows, and with residual connections it grows a little."}}
shown = {
    way: ([d for d, g in zip(depths, norms) if g > 1e-30], [g for g in norms if g > 1e-30])
    for way, norms in arrives.items()
}
curves(shown, "depth (layers)", "gradient norm at layer 1", logy=True)
plt.show()

# %% tags=["evidence"]
change = {way: norms[-1] / norms[0] for way, norms in arrives.items()}  # from 5 to 33 layers
observe(
    "From 5 to 33 layers, the gradient changes by a factor of {glorot:.0e} with Glorot's start and {he:.2f} with He's. With batch normalisation the factor is {norm:.0f}, and {both:.1f} with residual connections as well.",
    glorot=change["Glorot"],
    he=change["He"],
    norm=change["He, batch norm"],
    both=change["He, batch norm, residual"],
    holds=change["Glorot"] < 1e-3 < 1 / 50 < change["He"] < 1
    and change["He, batch norm"] > 10 > change["He, batch norm, residual"] > 0.1,
)

# %% [markdown]
# With ReLUs, Glorot's rule loses half of the signal in each layer, and He's loses far less. Batch normalisation keeps the *signal* at one size, but the *gradient* grows with depth. With
# residual connections, both stay about the same.

# %% [markdown]
# (conv-field)=
# ## Do all pixels in the receptive field count equally?
#
# *5 minutes.* On which pixels does a unit depend, and how much? The lesson counted the pixels that a unit sees. The gradient of a unit in the middle of the last map measures how much each one matters.


# %% tags=["evidence"]
def gradient_field(layers: list[tuple[int, int, int]], size: int = 129) -> torch.Tensor:
    """Gradient of the middle output for each pixel; a layer is (kernel, stride, dilation)."""
    x = torch.zeros(1, 1, size, size, requires_grad=True)
    y = x
    for K, stride, dilation in layers:
        mean = torch.full((1, 1, K, K), 1 / K**2)
        y = convolution.conv2d(y, mean, stride=stride, dilation=dilation)
    y[0, 0, y.shape[2] // 2, y.shape[3] // 2].backward()
    return x.grad[0, 0]


# %% tags=["evidence"]
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
# The measured widths are those of the formula. But look at twenty plain layers whose kernels all take a mean:

# %% tags=["evidence"] mystnb={"figure": {"caption": "Most of the weight lies in the middle: how much each input column counts for one output of 20 plain 3×3 layers. Dashed: the receptive field by the formula.", "name": "fig-effective-field"}, "image": {"alt": "A bell-shaped curve in the middle, much narrower than the distance between two dashed lines."}}
deep = [(3, 1, 1)] * 20
across = gradient_field(deep, size=61).sum(0)  # one number per column
theory = convolution.receptive_field(deep)
ax = curves(
    {"": (range(-30, 31), across)}, "column, from the centre (pixels)", "share of the gradient"
)
for side in (-1, 1):
    ax.axvline(side * (theory // 2), color="black", linestyle="--")
plt.show()

# %% tags=["evidence"]
distance = (torch.arange(61) - 30).abs()
reach = next(r for r in range(31) if across[distance <= r].sum() >= 0.95)
observe(
    "The receptive field is {theory} pixels wide, but its middle {within} carry 95% of the weight.",
    theory=theory,
    within=2 * reach + 1,
    holds=2 * reach + 1 < theory / 2,
)

# %% [markdown]
# The **effective receptive field** is a bell in the middle of the theoretical one {cite}`luo2016understanding`: many paths lead through the centre, few to the rim. In trained networks its shape depends
# on the weights.

# %% [markdown]
# (claim-cnn-3)=

# %% tags=["evidence"]
claim(
    "cnn-3",
    "No: five layers of width 3 see {five} pixels, since each adds two pixels, not three. With doubling dilations they see {doubled}.",
    five=fields["plain"][-1],
    doubled=fields["dilation doubling"][-1],
    holds=lambda five, doubled: five == 1 + 5 * 2 and doubled == 1 + 2 * 31,
    counted=True,
    scale="five layers",
)

# %% [markdown]
# (conv-designs)=
# ## What did LeNet, AlexNet and GoogLeNet add?
#
# *10 minutes.* Which ideas made convolutional networks what they are? **LeNet** read the digits on cheques in the 1990s {cite}`lecun1998gradient`, with convolutions, pooling, dense layers and tanh. **AlexNet** is LeNet made wider and deeper, with ReLUs
# and dropout, trained on a million photographs {cite}`krizhevsky2012imagenet`. We build it at full size.

# %%
show_source(convolution.AlexNet)

# %% [markdown]
# AlexNet exists in two widths. The network of 2012 was split over two graphics cards, which cut some of its connections. Later its author described a version in one stream
# {cite}`krizhevsky2014one`, which most libraries have adopted with slightly fewer channels.
#
# **GoogLeNet** uses several kernel sizes at once {cite}`szegedy2015going`. An **Inception block** applies kernels of 1×1, 3×3 and 5×5 and a pooling window to the same input, and stacks the maps.

# %%
show_source(convolution.Inception)


# %% tags=["evidence"]
def parameters(model: nn.Module) -> int:
    """Count the numbers that training changes."""
    return sum(p.numel() for p in model.parameters())


built = {
    "LeNet": convolution.LeNet(),
    "AlexNet, one stream": convolution.AlexNet(),
    "AlexNet, widths of 2012": convolution.AlexNet((96, 256, 384, 384, 256)),
    "GoogLeNet": convolution.GoogLeNet(),
}


# %% tags=["evidence"]
counts = {name: parameters(model) for name, model in built.items()}
in_dense = {
    name: sum(parameters(layer) for layer in model if isinstance(layer, nn.Linear))
    for name, model in built.items()
}
rows = [[name, f"{n:,}", f"{n - in_dense[name]:,}"] for name, n in counts.items()]
table(rows, ["network", "parameters", "of them in convolutions"])

# %% [markdown]
# The second AlexNet is counted with all connections, as if it had not been split. GoogLeNet has one dense layer with a million parameters, where AlexNet has three with 59 million. One is enough because GoogLeNet first takes
# the mean of each of its last maps, an idea from Network in Network {cite}`lin2014network`. Its convolutions have more parameters than AlexNet's.
#
# AlexNet's paper counts 60 million parameters. GoogLeNet's claims twelve times fewer, which would be 5 million, but the paper's own table has more:

# %% tags=["evidence"]
# thousands of parameters, as the paper's table 1 lists them, from the first convolution to the last
listed = [2.7, 112, 159, 380, 364, 437, 463, 580, 840, 1072, 1388, 1000]
print(f"the table in GoogLeNet's paper adds up to {sum(listed) / 1000:.1f} million")

# %% [markdown]
# (claim-cnn-5)=

# %% tags=["evidence"]
claim(
    "cnn-5",
    "No: AlexNet has {stream:.1f} times as many in one stream, and {wide:.1f} times as many in the widths of 2012.",
    stream=counts["AlexNet, one stream"] / counts["GoogLeNet"],
    wide=counts["AlexNet, widths of 2012"] / counts["GoogLeNet"],
    holds=lambda stream, wide: 8.6 < stream < wide < 9,
    counted=True,
    scale="both networks at full size",
)

# %% [markdown]
# The 1×1 convolutions mix channels, and reduce their number before the expensive kernels. We count the multiplications and additions of the first Inception block, which the paper calls 3a, on 28×28 positions.


# %% tags=["evidence"]
class Unreduced(nn.Module):
    """Inception 3a without the 1×1 convolutions that come before the larger kernels."""

    def __init__(self):
        super().__init__()
        sizes = ((64, 1), (128, 3), (32, 5), (32, 1))
        self.branches = nn.ModuleList(nn.Conv2d(192, n, K, padding=K // 2) for n, K in sizes)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.cat([branch(x) for branch in self.branches], dim=1)


# %% tags=["evidence"]
x = torch.randn(1, 192, 28, 28)
blocks = {
    "Inception 3a": convolution.Inception(192, 64, 96, 128, 16, 32, 32),
    "3a without reductions": Unreduced(),
    "one 5×5 convolution": nn.Conv2d(192, 256, 5, padding=2),
}
with torch.no_grad():
    cost = {
        name: (parameters(block), work(lambda b=block: b(x)).total)
        for name, block in blocks.items()
    }
table(
    [[name, f"{count:,}", f"{flops / 1e6:.0f}"] for name, (count, flops) in cost.items()],
    ["256 maps from 192", "parameters", "million operations"],
)

# %% [markdown]
# (claim-cnn-8)=

# %% tags=["evidence"]
block, unreduced, large = (flops / 1e6 for _, flops in cost.values())
claim(
    "cnn-8",
    "Yes: the block takes {block:.0f} million operations, and one 5 × 5 convolution takes {large:.0f}. Without its 1 × 1 reductions, the block takes {bare:.0f}.",
    block=block,
    large=large,
    bare=unreduced,
    holds=lambda block, large, bare: 7 * block < large and 2 * block < bare < large / 2,
    counted=True,
    scale="Inception 3a, 192 to 256 maps of 28 × 28",
)

# %% [markdown]
# How well do the designs read digits? A stored experiment trained scaled-down versions, with batch normalisation in AlexNet and GoogLeNet, and **DigitsNet**, which has three normalised convolutions. Two classical models
# are there for comparison. Each model was trained with three seeds, at the best of four learning rates or penalties by validation; all networks had the same 20 epochs.

# %% tags=["evidence"]
baselines, networks = (experiments.load(f"digits_{kind}") for kind in ("baselines", "networks"))


def best_rate(name: str, split: str) -> float:
    """The learning rate that was best on validation digits."""
    where, rates = {"model": name, "split": split}, networks.parameters["learning_rate"]
    return max(rates, key=lambda r: networks.spread("validation", learning_rate=r, **where)[0])


def test_runs(name: str, split: str) -> list[float]:
    """Test accuracy over the seeds, with what was best on validation data."""
    if name in baselines.parameters["model"]:
        return baselines.column("test", model=name, split=split)
    return networks.column("test", model=name, split=split, learning_rate=best_rate(name, split))


# %% tags=["evidence"]
splits = ["random", "file order"]
names = [*baselines.parameters["model"], *networks.parameters["model"]]
runs = {(name, split): test_runs(name, split) for name in names for split in splits}
table(
    [[name, *(f"{mean_and_spread(runs[name, split]):.1%}" for split in splits)] for name in names],
    ["model", "random split", "file order"],
)

# %% tags=["evidence"]
gap = {name: fmean(runs[name, "random"]) - fmean(runs[name, "file order"]) for name in names}
normal = ["small AlexNet", "small GoogLeNet", "DigitsNet"]
lowest = min(fmean(runs[name, "file order"]) for name in normal)
others = max(fmean(runs[name, "file order"]) for name in names if name not in normal)
observe(
    "In file order, the three normalised designs read at least {lowest:.1%} on average, and the other models at most {others:.1%}.",
    lowest=lowest,
    others=others,
    holds=lowest > others + 0.01,
)

# %% [markdown]
# On 360 test digits, one digit is 0.3 points, so the last three can't be told apart. Two of them were designed for a million photographs: a design is good *for a task*. All were trained by DigitsNet's recipe; the
# dense network and LeNet might do better with recipes of their own.
#
# The two columns differ. With a random split, some people have digits in both the training and the test set. The order of the file comes closer to what we want to know: how well does a network read a hand that it has never seen?

# %% [markdown]
# (conv-recipe)=
# ## Soft labels, weight decay, dropout: what else is in a recipe?
#
# *6 minutes.* What do people add to a training recipe, and does it help? DigitsNet's recipe has three more parts than the lesson's. **AdamW** is Adam with **weight decay**: it also makes each weight a little smaller in every step {cite}`loshchilov2019decoupled`.
# The labels are **soft**: a tenth of each is spread over all classes, so that the network doesn't have to become infinitely sure {cite}`szegedy2016rethinking`. And **dropout** sets a random share of
# a layer's numbers to 0 in each training step, so that no unit can rely on another {cite}`srivastava2014dropout`; in evaluation mode it does nothing.

# %%
show_source(train_digits)

# %% [markdown]
# Does dropout help here? It should help most where a large network has few examples. So a stored experiment trained a dense network with two hidden layers of 512 units on 50 digits, at four learning rates, with
# dropout and without. It did so for twenty draws of the digits. In each draw, all networks began with the same weights, so that they can be compared one by one. The rates were chosen on the validation digits.

# %% tags=["evidence"]
drop = experiments.load("dropout")


def chosen_rate(dropout: float) -> float:
    """The learning rate with the highest mean accuracy on the validation part; inside the grid."""
    tried = drop.parameters["learning_rate"]
    found = {r: fmean(drop.column("validation", dropout=dropout, learning_rate=r)) for r in tried}
    best = max(found, key=found.get)
    assert tried[0] < best < tried[-1]
    return best


tests = {
    p: [100 * x for x in drop.column("test", dropout=p, learning_rate=chosen_rate(p))]
    for p in drop.parameters["dropout"]
}
gains = {p: [x - y for x, y in zip(tests[p], tests[0.0])] for p in tests if p}
rows = [["0", f"{chosen_rate(0.0):g}", f"{fmean(tests[0.0]):.1f}", "", ""]]
for p, gained in gains.items():
    better = f"{sum(gain > 0 for gain in gained)} of {len(gained)}"
    rows.append(
        [f"{p:g}", f"{chosen_rate(p):g}", f"{fmean(tests[p]):.1f}", f"{fmean(gained):+.1f}", better]
    )
table(rows, ["dropout", "best rate", "test accuracy (%)", "points gained", "draws with a gain"])

# %% [markdown]
# (claim-cnn-7)=

# %% tags=["evidence"]
errors = {p: stdev(gained) / math.sqrt(len(gained)) for p, gained in gains.items()}
most = max(gains, key=lambda p: fmean(gains[p]))
claim(
    "cnn-7",
    "No: on 50 digits a dense network at its best rates gains {gain:.1f} points on {without:.0f}%; chance alone brings {error:.1f} (a standard error).",
    gain=fmean(gains[most]),
    without=fmean(tests[0.0]),
    error=errors[most],
    holds=lambda gain, without, error: 0 < gain < 2 * error < 0.01 * without,
    experiment="dropout",
    scale="300,000 parameters, 50 digits, 400 steps, dropout of 0.2 and 0.5, four rates, twenty draws",
)

# %% [markdown]
# A gain of one point would have shown up here. Larger pictures, more of them, or more training may be another matter: AlexNet's authors report that without dropout their network overfitted substantially.

# %% [markdown]
# (conv-activations)=
# ## Is ReLU faster than tanh?
#
# *4 minutes.* How many steps does each need? AlexNet's authors say that networks with ReLU train several times faster. A stored experiment trained one small network with each, by plain gradient descent at six learning rates. We count the steps until
# the training loss is down to 0.1, within 30 epochs.

# %% tags=["evidence"]
race = experiments.load("activations")
rates = race.parameters["learning_rate"]
took = {
    (name, rate): race.column("steps", activation=name, learning_rate=rate)
    for name in ("ReLU", "tanh")
    for rate in rates
}
told = {key: ", ".join(str(s or "never") for s in steps) for key, steps in took.items()}
table(
    [[f"{rate}", told["ReLU", rate], told["tanh", rate]] for rate in rates],
    ["learning rate", "ReLU, three seeds", "tanh, three seeds"],
)

# %% [markdown]
# (claim-cnn-6)=

# %% tags=["evidence"]
reached = {key: fmean(steps) for key, steps in took.items() if None not in steps}
fastest = {
    name: min(v for key, v in reached.items() if key[0] == name) for name in ("ReLU", "tanh")
}
claim(
    "cnn-6",
    "No: on these digits, each at its best rate, ReLU needs {relu:.0f} steps and tanh {tanh:.0f}.",
    relu=fastest["ReLU"],
    tanh=fastest["tanh"],
    holds=lambda relu, tanh: relu > 1.2 * tanh > 20,
    experiment="activations",
    scale="four convolutions, digits of 8 × 8 pixels, until the training loss is 0.1, six rates, three seeds",
)

# %% [markdown]
# But ReLU forgives a badly chosen rate: at 0.3 it still learns while tanh doesn't, and at 0.03 it is ahead. That is worth something. And the claim was made about photographs.

# %% [markdown]
# (conv-edges)=
# ## Do first layers find edges, and deep ones meaning?
#
# *8 minutes.* How can you measure whether a kernel is an edge detector? An edge detector for any direction lies in the plane that Sobel's two kernels span. So how much of a learned kernel lies in that plane? For a random one it is two ninths, on average. We train DigitsNet for ten epochs with
# three seeds, and again with the first layer frozen at its random start.


# %% tags=["evidence"]
def edge_share(kernels: torch.Tensor) -> float:
    """Mean share of a 3×3 kernel's squared length that lies in the plane of Sobel's kernels."""
    plane = torch.stack([sobel.flatten(), sobel.T.flatten()])
    plane = plane / plane.norm(dim=1, keepdim=True)  # the two are orthogonal
    flat = kernels.flatten(1)  # (n, 9)
    return (((flat @ plane.T) ** 2).sum(1) / (flat**2).sum(1)).mean().item()


def digits_net(seed: int, frozen: bool = False) -> nn.Module:
    """DigitsNet, trained."""
    torch.manual_seed(seed)
    network = DigitsNet()
    network[0][0].weight.requires_grad_(not frozen)
    train_digits(network, data.train, epochs=10, seed=seed)
    return network.eval()


# %% tags=["evidence", "training"]
trained, frozen = ([digits_net(seed, still) for seed in (0, 1, 2)] for still in (False, True))
shares = [edge_share(network[0][0].weight.detach()) for network in trained]
by_chance = edge_share(torch.randn(10_000, 9, generator=torch.Generator().manual_seed(0)))
read = [[reads(network, data.validation) for network in some] for some in (trained, frozen)]
observe(
    "With random first kernels, DigitsNet reads {frozen:.1%} of the validation digits on average; with learned ones it reads {learned:.1%}.",
    frozen=fmean(read[1]),
    learned=fmean(read[0]),
    holds=abs(fmean(read[0]) - fmean(read[1])) < 0.03,
)

# %% [markdown]
# (claim-cnn-4a)=

# %% tags=["evidence"]
claim(
    "cnn-4a",
    "Can't tell here: on small digits, {learned:.0%} of a first kernel lies in the plane of edges, as does {random:.0%} of a random kernel.",
    learned=fmean(shares),
    random=by_chance,
    holds=lambda learned, random: abs(learned - random) < 0.1 and 0.15 < random < 0.3,
    scale="24 kernels, 8 × 8 pixels, three seeds; AlexNet's, from photographs, do show edges",
)

# %% [markdown]
# And do deep layers find meaning? The numbers in a layer vary from picture to picture. Part of that variance lies *between* digits: a 3 differs from an 8. The rest lies *within* a digit: two
# people write a 3 differently. What share lies between digits, at each depth? We compare trained networks with untrained ones, since random layers transform a picture, too.


# %% tags=["evidence"]
def digit_share(numbers: torch.Tensor, labels: torch.Tensor) -> float:
    """Share of the variance of (n, ...) numbers that lies between the digits."""
    numbers = numbers.flatten(1)
    mean = numbers.mean(0)
    of_digit = torch.stack([numbers[labels == d].mean(0) for d in range(10)])[labels]
    return (((of_digit - mean) ** 2).sum() / ((numbers - mean) ** 2).sum()).item()


@torch.no_grad()
def share_by_depth(network: nn.Module) -> list[float]:
    """The share in the pixels and after each of the three convolutions."""
    images, labels = data.validation
    stages = [nn.Sequential(*list(network)[:n]) for n in (0, 1, 2, 4)]
    return [digit_share(stage(images), labels) for stage in stages]


# %% tags=["evidence"] mystnb={"figure": {"caption": "In trained networks, later layers separate the digits: share of the variance that lies between digits, in the pixels (0) and after each convolution. Mean and range of three networks.", "name": "fig-digit-share"}, "image": {"alt": "Two curves over depth. The trained networks start below the pixels after the first convolution and rise well above them after the third; the untrained networks stay flat."}}
deep_share = {"trained": torch.tensor([share_by_depth(network) for network in trained])}
drawn = []
for seed in (1, 2, 3):
    torch.manual_seed(seed)
    drawn.append(share_by_depth(DigitsNet().eval()))
deep_share["untrained"] = torch.tensor(drawn)
lines = {name: (range(4), shares) for name, shares in deep_share.items()}
curves(lines, "convolutions passed", "share between digits")
plt.xticks(range(4))
plt.show()

# %% [markdown]
# (claim-cnn-4b)=

# %% tags=["evidence"]
first, last = deep_share["trained"].mean(0)[[1, 3]].tolist()
claim(
    "cnn-4b",
    "Yes: {last:.0%} of the third layer's variance lies between digits, {first:.0%} of the first's, and {untrained:.0%} of the third's before any training.",
    first=first,
    last=last,
    untrained=deep_share["untrained"][:, 3].mean().item(),
    holds=lambda first, last, untrained: (
        last > first + 0.05 and last > untrained + 0.05 and first > 0.05 and untrained > 0.05
    ),
    scale="three layers, 216 validation digits, three seeds each",
)

# %% [markdown]
# That is a statement about variance, and no more. {cite:t}`zeiler2014visualizing` have shown what AlexNet's layers see in photographs.

# %% [markdown]
# (conv-recall)=
# ## How is a convolution made causal?
#
# *4 minutes.* What if the sequence isn't finished yet? WaveNet's convolutions are **causal** {cite}`oord2016wavenet`: they pad only at the front, so each output sees nothing that comes later.

# %%
show_source(convolution.CausalConv1d)

# %% [markdown]
# In the lesson's task, the network reads many symbols and then names the first. Here there are 64 symbols and six layers of width 2. With dilations 1, 2, 4, …, 32 they see 1 + (1 + 2 + 4 + … + 32) = 64 steps; without dilations, they see 7.

# %%
show_source(convolution.RecallNet)

# %% tags=["evidence"]
recall = experiments.load("recall")
named = {
    doubling: recall.spread("test", doubling=doubling, length=64) for doubling in (True, False)
}
observe(
    "In a stored experiment with three seeds, networks with doubling dilations name {doubling:.0%} of the symbols on average. Those without them name {plain:.0%}, no better than a guess among four.",
    doubling=named[True][0],
    plain=named[False][0],
    holds=named[True][1] > 0.95 and named[False][2] < 0.31,
)

# %% [markdown]
# ## Exercises
#
# *115 minutes.* Which of these seven would you like to write? Their numbers continue the lesson's. All solutions are on [a page of their own](../solutions/01_convolution.ipynb).

# %% [markdown]
# ```{exercise} A residual block
# :label: exercise-residual-block
#
# *Core, 5 minutes.* Write {eq}`eq-residual-block`, where $f$ is a convolution, a ReLU and another convolution, as in {numref}`fig-road-around`. Use `convolution.conv2d`, with padding 1.
# ([Solution](../solutions/01_convolution.ipynb#solution-residual-block))
# ```


# %%
def residual_block(x, w1, b1, w2, b2):
    """Shapes: x (B, C, H, W), w1 and w2 (C, C, 3, 3), b1 and b2 (C,); returns (B, C, H, W)."""
    raise NotImplementedError


check("residual_block", residual_block)

# %% [markdown]
# ```{exercise} One-dimensional convolution
# :label: exercise-convolution-over-time
#
# *Core, 15 minutes.* Sound and text have one axis, not two. Write the convolution (that is, the
# cross-correlation) over sequences, with channels, biases and a stride, but without padding. Use
# tensor operations; loops are fine. ([Solution](../solutions/01_convolution.ipynb#solution-convolution-over-time))
# ```


# %%
def conv1d(x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor, stride: int) -> torch.Tensor:
    """Shapes: x (B, C, T), weight (C_out, C, K), bias (C_out,); returns (B, C_out, T_out)."""
    raise NotImplementedError


check("convolution_over_time", conv1d)

# %% [markdown]
# ```{exercise} Depthwise convolution
# :label: exercise-depthwise-convolution
#
# *Core, 10 minutes.* In a **depthwise** convolution, each channel has a kernel of its own and isn't
# mixed with the others. Write it, without padding. How many parameters does it need, compared with an
# ordinary convolution from C to C channels? ([Solution](../solutions/01_convolution.ipynb#solution-depthwise-convolution))
# ```


# %%
def depthwise_conv2d(x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    """Shapes: x (B, C, H, W), weight (C, K, K); returns (B, C, H_out, W_out)."""
    raise NotImplementedError


check("depthwise_convolution", depthwise_conv2d)

# %% [markdown]
# ```{exercise} Min pooling
# :label: exercise-min-pooling
#
# *Core, 10 minutes.* Write *min* pooling, with stride and padding. A padded number must never win.
# ([Solution](../solutions/01_convolution.ipynb#solution-min-pooling))
# ```


# %%
def min_pool2d(x: torch.Tensor, kernel_size: int, stride: int, padding: int) -> torch.Tensor:
    """Shapes: x (B, C, H, W) to (B, C, H_out, W_out)."""
    raise NotImplementedError


check("min_pooling", min_pool2d)

# %% [markdown]
# ```{exercise} Fold batch normalisation away
# :label: exercise-batch-norm-folding
#
# *Stretch, 15 minutes.* In evaluation mode, batch normalisation is one multiplication and one addition per channel.
# So it can be folded into the convolution before it. Find weights and biases with which the
# convolution alone returns what the two returned together. `mean` and `var` are the running
# averages; the other names are those of {eq}`eq-batch-norm`.
# ([Solution](../solutions/01_convolution.ipynb#solution-batch-norm-folding))
# ```


# %%
def fold_batch_norm(weight, bias, mean, var, gamma, beta, eps):
    """Shapes: weight (C_out, C, K, K), the others (C_out,), eps a number.

    Returns: the new weight and the new bias.
    """
    raise NotImplementedError


check("batch_norm_folding", fold_batch_norm)

# %% [markdown]
# ```{exercise} The kernel's gradient
# :label: exercise-weight-gradient
#
# *Stretch, 20 minutes.* From {eq}`eq-deeper-conv`, derive the gradient of the loss with respect to the
# weights, given the gradient with respect to the outputs, at stride 1 and without padding. Write it as
# sums of products, without autograd. It is a convolution again: of what with what?
# ([Solution](../solutions/01_convolution.ipynb#solution-weight-gradient))
# ```


# %%
def weight_gradient(x: torch.Tensor, grad_y: torch.Tensor) -> torch.Tensor:
    """Shapes: x (B, C, H, W), grad_y (B, C_out, H_out, W_out); returns (C_out, C, K, K)."""
    raise NotImplementedError


check("weight_gradient", weight_gradient)

# %% [markdown]
# ```{exercise} Anti-aliasing: blur before a stride
# :label: exercise-blur-pooling
#
# *Research, 40 minutes.* A stride of 2 breaks equivariance, since fine detail falls between the
# positions. Signal processing has a cure that works in networks, too {cite}`zhang2019making`: blur first.
# Write `blur_pool`: blur each channel with the kernel of rows 1 2 1, 2 4 2, 1 2 1, divided by its sum,
# and reflect the border with `F.pad(…, mode="reflect")`. Then keep every other row and column,
# starting with row 0 and column 0. Now measure: in DigitsNet, replace the pooling by max pooling at
# stride 1 and a blur pool. Train both networks for 4 epochs with AdamW at 3e-3, over three seeds. How many
# answers change when the digits move by one pixel?
# ([Solution](../solutions/01_convolution.ipynb#solution-blur-pooling))
# ```


# %%
def blur_pool(x: torch.Tensor) -> torch.Tensor:
    """Shapes: x (B, C, H, W) to (B, C, ceil(H / 2), ceil(W / 2))."""
    raise NotImplementedError


check("blur_pooling", blur_pool)
