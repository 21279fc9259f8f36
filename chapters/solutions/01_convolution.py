# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Solutions of Day 1
#
# First come the solutions of [The convolutional network](../01_convolution.ipynb), then those of its [deeper page](../deeper/01_convolution.ipynb). There is more than one good way. What counts is that the check passes and that you can say why.

# %%
import convolution_to_attention  # is `utils` this book's?
import torch
from torch import nn
from torch.nn import functional as F

from utils import convolution
from utils.convolution import DigitsNet, conv_output_size
from utils.data.batches import Batches
from utils.data.pictures import digits
from utils.exercises.convolution import check
from utils.measure import experiments
from utils.show.display import observe, table
from utils.training.loop import fit
from utils.training.metrics import mean_and_spread

# %% [markdown]
# (solution-one-place)=
# ## Convolution at one position
#
# The window and a kernel have the same shape, so each number has its partner: multiply, and sum over channels, rows and columns. `einsum` writes that in letters. Flattened, it is yesterday's
# $xW^\top + b$: at one position, a convolution is a dense layer that sees only the window.


# %%
def at_one_place(window, w, b):
    return window.flatten(1) @ w.flatten(1).T + b


at_one_place = check("one_place", at_one_place)

# %% [markdown]
# (solution-everywhere)=
# ## The whole convolution
#
# With loops: `range(0, H - K + 1, stride)` lists all the rows where a kernel can start, and its length is the height of the map. The results are stacked along an axis after the channels, which is then split into rows
# and columns.


# %%
def conv2d(x, w, b, stride=1, padding=0):
    x, K = F.pad(x, (padding, padding, padding, padding)), w.shape[-1]
    rows, columns = (range(0, size - K + 1, stride) for size in x.shape[2:])
    y = [at_one_place(x[:, :, i : i + K, j : j + K], w, b) for i in rows for j in columns]
    return torch.stack(y, dim=2).unflatten(2, (len(rows), len(columns)))


conv2d = check("everywhere", conv2d)

# %% [markdown]
# The book's own solution takes all windows at once. Its letters are those of the equation: `unfold` creates the axes `i`, `j`, `u` and `v`.

# %%
check.show_reference("everywhere")

# %% [markdown]
# (solution-max-pooling)=
# ## Max pooling
#
# An `unfold` with step K returns windows that lie side by side, and drops the leftover rows and columns. The maximum is taken over the two axes of the window, and nothing else, such as a 0, takes part.


# %%
def max_pool2d(x, K):
    return x.unfold(2, K, K).unfold(3, K, K).amax(dim=(-2, -1))


max_pool2d = check("max_pooling", max_pool2d)

# %% [markdown]
# (solution-same-padding)=
# ## Same padding
#
# A dilated kernel covers $d(K-1)+1$ pixels, so without padding the map is $d(K-1)$ pixels too small. Half
# of these are added on each side.


# %%
def same_padding(kernel_size: int, dilation: int) -> int:
    return dilation * (kernel_size - 1) // 2


assert conv_output_size(17, 7, padding=same_padding(7, 3), dilation=3) == 17
check("same_padding", same_padding)

# %% [markdown]
# (solution-convolution-parameters)=
# ## Count a convolution's parameters
#
# Each of the 16 kernels is 3 channels deep and 5×5 wide, and has one bias. The size of the picture does
# not matter.

# %%
my_count = 16 * (3 * 5 * 5 + 1)
print(my_count)
check("convolution_parameters", my_count)

# %% [markdown]
# (solution-shuffled-pixels)=
# ## Predict: shuffled pixels
#
# A dense layer doesn't know which pixels are neighbours, so a shuffle changes nothing for it. A kernel
# looks at neighbours, which after the shuffle are unrelated pixels. The stored experiment `shuffled`
# trained both kinds of network with eight seeds.


# %%
def over_seeds(model: str, shuffled: bool) -> str:
    """Mean and spread of the test accuracy."""
    rows = experiments.load("shuffled").select(model=model, shuffled=shuffled)
    return f"{mean_and_spread([row['test'] for row in rows]):.1%}"


table(
    [
        [model, over_seeds(model, False), over_seeds(model, True)]
        for model in ("dense", "DigitsNet")
    ],
    ["model", "pictures", "shuffled pictures"],
)

# %%
check("shuffled_pixels", "convolutional")

# %% [markdown]
# The effect is no larger than the spread of the seeds, so a single training run could show nothing, or the opposite. A wrong assumption costs something, but here it isn't ruinous: at 8×8 pixels, three
# layers see most of the picture anyway, and the dense layer after them can sort things out.

# %%
stored = experiments.load("shuffled")
wrong = {
    (name, shuffle): 1 - stored.spread("test", model=name, shuffled=shuffle)[0]
    for name in ("dense", "DigitsNet")
    for shuffle in (False, True)
}
before, after = wrong["DigitsNet", False], wrong["DigitsNet", True]
observe(
    "The shuffle raises DigitsNet's error rate from {before:.1%} to {after:.1%}. On shuffled pictures, the dense network's is {dense:.1%}.",
    before=before,
    after=after,
    dense=wrong["dense", True],
    holds=1.25 * before < after < wrong["dense", True],
)

# %% [markdown]
# (solution-receptive-field)=
# ## Receptive field: how deep must it be?
#
# Each layer adds $d(K-1)$. Without dilation, a length of $n$ takes $(n-1)/(K-1)$ layers, rounded up. With doubling dilations, $L$ layers
# add $(2^L-1)(K-1)$, so $L$ grows with the logarithm of $n$. Adding up in a loop avoids all questions of rounding.


# %%
def layers_needed(length: int, kernel_size: int, doubling: bool) -> int:
    field, layers = 1, 0
    while field < length:
        field += (2**layers if doubling else 1) * (kernel_size - 1)
        layers += 1
    return layers


print(layers_needed(1000, 3, doubling=False), layers_needed(1000, 3, doubling=True))
check("receptive_field", layers_needed)

# %% [markdown]
# (solution-strided-equivariance)=
# ## Predict: is it equivariant?
#
# One step of the second map is as wide as the product of the strides. If the picture moves by less, it
# lands between the map's positions.


# %%
def moves_along(move: int) -> bool:
    """Whether the map of two layers of stride 2 moves exactly with the picture."""
    torch.manual_seed(0)
    first, second = torch.randn(2, 1, 1, 3, 3, dtype=torch.float64)
    picture = torch.randn(1, 1, 64, 64, dtype=torch.float64)
    maps = [
        F.conv2d(F.conv2d(x, first, stride=2, padding=1), second, stride=2, padding=1)
        for x in (picture, torch.roll(picture, move, dims=3))
    ]
    back = torch.roll(maps[1], -(move // 4), dims=3)
    return torch.allclose(maps[0][..., 4:-4], back[..., 4:-4])


[move for move in range(1, 9) if moves_along(move)]

# %%
check("strided_equivariance", 4)

# %% [markdown]
# (solution-residual-block)=
# ## A residual block
#
# Both terms of the sum need the same shape, so the convolutions keep the size and the number of channels. The last ReLU comes after the sum.


# %%
def residual_block(x, w1, b1, w2, b2):
    f = conv2d(conv2d(x, w1, b1, padding=1).relu(), w2, b2, padding=1)
    return (x + f).relu()


check("residual_block", residual_block)

# %% [markdown]
# (solution-convolution-over-time)=
# ## One-dimensional convolution
#
# `unfold` returns all windows as a view, and the letters of `einsum` say which axes meet: the sum runs over channels `c` and positions `k` in
# the kernel.


# %%
def conv1d(x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor, stride: int) -> torch.Tensor:
    windows = x.unfold(2, weight.shape[2], stride)  # (B, C, T_out, K)
    return torch.einsum("bctk,ock->bot", windows, weight) + bias[:, None]


check("convolution_over_time", conv1d)

# %% [markdown]
# (solution-depthwise-convolution)=
# ## Depthwise convolution
#
# The letters are the same, but the channel `c` is on both sides of the arrow, so it isn't summed over. The layer has $C K^2$ weights,
# while an ordinary convolution from C to C channels has $C^2 K^2$.


# %%
def depthwise_conv2d(x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    K = weight.shape[1]
    windows = x.unfold(2, K, 1).unfold(3, K, 1)  # (B, C, H_out, W_out, K, K)
    return torch.einsum("bchwuv,cuv->bchw", windows, weight)


check("depthwise_convolution", depthwise_conv2d)

# %% [markdown]
# (solution-min-pooling)=
# ## Min pooling
#
# These windows overlap and have padding, so we use the book's `max_pool2d`. The smallest of some numbers is minus the largest of their negatives. The padding takes care of itself: $-\infty$ becomes
# $+\infty$, which never wins a minimum.


# %%
def min_pool2d(x: torch.Tensor, kernel_size: int, stride: int, padding: int) -> torch.Tensor:
    return -convolution.max_pool2d(-x, kernel_size, stride, padding)


check("min_pooling", min_pool2d)

# %% [markdown]
# (solution-batch-norm-folding)=
# ## Fold batch normalisation away
#
# In evaluation mode, the layer returns $\gamma\,(y - \mu)/\sqrt{\sigma^2 + \varepsilon} + \beta$ with fixed numbers.
# Insert $y = w * x + b$, and collect the terms. The factor $\gamma/\sqrt{\sigma^2 + \varepsilon}$ goes into the
# weights, and everything else into the bias.


# %%
def fold_batch_norm(weight, bias, mean, var, gamma, beta, eps):
    scale = gamma / torch.sqrt(var + eps)  # (C_out,)
    return weight * scale[:, None, None, None], (bias - mean) * scale + beta


check("batch_norm_folding", fold_batch_norm)

# %% [markdown]
# (solution-weight-gradient)=
# ## The kernel's gradient
#
# The weight $w_{o,c,u,v}$ meets the pixel $x_{c,i+u,j+v}$ at every position of the kernel, so by the chain rule
#
# $$
# \frac{\partial \mathcal{L}}{\partial w_{o,c,u,v}} = \sum_{b,i,j} \frac{\partial \mathcal{L}}{\partial y_{b,o,i,j}}\; x_{b,c,i+u,j+v} .
# $$
#
# That is a cross-correlation again, of the picture with the gradient as the kernel.


# %%
def weight_gradient(x: torch.Tensor, grad_y: torch.Tensor) -> torch.Tensor:
    windows = x.unfold(2, grad_y.shape[2], 1).unfold(3, grad_y.shape[3], 1)  # (B, C, K, K, H', W')
    return torch.einsum("bcuvij,boij->ocuv", windows, grad_y)


check("weight_gradient", weight_gradient)

# %% [markdown]
# (solution-blur-pooling)=
# ## Anti-aliasing: blur before a stride


# %%
def blur_pool(x: torch.Tensor) -> torch.Tensor:
    row = torch.tensor([1.0, 2.0, 1.0], dtype=x.dtype, device=x.device) / 4
    kernel = torch.outer(row, row).expand(x.shape[1], 1, 3, 3)
    padded = F.pad(x, (1, 1, 1, 1), mode="reflect")
    return F.conv2d(padded, kernel, stride=2, groups=x.shape[1])


check("blur_pooling", blur_pool)

# %% [markdown]
# Now the measurement. Two networks are trained in the same way, without augmentation, with three seeds: one with max pooling
# at stride 2, the other with max pooling at stride 1 and a blur before the jump.


# %%
class BlurPool(nn.Module):
    """Max pooling without a jump, then a blur and the jump."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return blur_pool(F.max_pool2d(F.pad(x, (0, 1, 0, 1)), 2, stride=1))


# %%
def changed_answers(pool: nn.Module, seed: int) -> float:
    """Share of validation digits that are read differently after a move by one pixel."""
    data = digits("random", seed)
    torch.manual_seed(seed)
    network = DigitsNet()
    network[2] = pool
    train = Batches(*data.train, batch_size=64, shuffle=True)
    optimiser = torch.optim.AdamW(network.parameters(), lr=3e-3)
    fit(network, train, F.cross_entropy, optimiser, epochs=4, seed=seed)
    images = data.validation.images
    with torch.no_grad():
        network.eval()
        here, moved = (network(x).argmax(1) for x in (images, F.pad(images, (1, -1))))
    return (here != moved).float().mean().item()


# %%
hard = [changed_answers(nn.MaxPool2d(2), seed) for seed in range(3)]
soft = [changed_answers(BlurPool(), seed) for seed in range(3)]
observe(
    "With max pooling, {hard:.0%} of the answers change; with a blur before the jump, {soft:.0%} do.",
    hard=sum(hard) / 3,
    soft=sum(soft) / 3,
    holds=sum(soft) < 0.7 * sum(hard),
)

# %% [markdown]
# Why does the blur help? A kernel that jumps sees only every other position, so an edge between two of
# them can come and go as the picture moves. A blur spreads each edge over its neighbours before any are
# dropped. The price is sharpness, and a little time.
