# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Day 0: First steps
#
# **Today's question:** how can a program find 650 numbers that nobody tells it?
#
# The program reads handwritten digits. All that it knows is 650 numbers, and it gets them from
# examples. Today you see how, with nothing left out.
#
# After today you can
#
# - say the shape of a result before you run the line,
# - turn scores into a loss, safely,
# - carry a gradient back through a graph by hand,
# - write a training loop, and judge what was learned.
#
# Each point is tested by an exercise at the end. The day builds on little: you can write a Python
# function, and you remember what a derivative and a matrix product are. If you have trained a
# network in PyTorch before, you may go straight to [Day 1](01_convolution.ipynb). The core path
# takes about 45 minutes, the exercises half an hour more.
#
# **How to work with a lesson.** Run each cell with Shift+Enter, from the top. Before you do, guess
# what it will print: a wrong guess teaches more than a right answer read. When you work through
# `make lab`, this is your copy, in the folder `my/`: change what you like.
#
# - **Exercises** stand near the end. Each has a function to fill in, and a call of `check` below
#   it. It answers ○ when you have not started, ✓ when you are right, and ✗ with a sentence about
#   what went wrong when you are not.
# - **Claims** are sentences that people say about neural networks. A lesson measures them and
#   prints the verdict, also when it is "no". The page of [claims](../claims.md) lists them all.
#
# On Colab, first clone the book and install it; the [start page](../index.md) has the cell for
# that.

# %% [markdown]
# The first cell of every lesson makes sure that the book's own package is found, and imports what
# the lesson needs.

# %%
import convolution_to_attention  # is `utils` this book's?
import matplotlib.pyplot as plt
import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

from utils.data.pictures import digits
from utils.exercises.first_steps import check
from utils.exercises.progress import checklist
from utils.measure.claims import claim
from utils.show.display import show_source, table
from utils.show.plotting import COLOURS, INK, PAPER, curves, image_grid, use_book_style
from utils.training.loop import Batches, fit, train_epoch
from utils.training.metrics import accuracy

use_book_style()

# %% [markdown]
# ## Where we stand
#
# *3 minutes.* We start without any learning. Here is what the model will have to read: digits that
# people wrote by hand, scanned and shrunk to 8 by 8 pixels {cite}`alpaydin1998optical`. They come
# with scikit-learn {cite}`pedregosa2011scikit`.

# %%
data = digits()
table(
    [(part, len(getattr(data, part).labels)) for part in ("train", "validation", "test")],
    ("part", "digits"),
)

# %% [markdown]
# The digits are in three parts. Why three will become clear further down; until then, look at the
# first part only.

# %% mystnb={"figure": {"caption": "The first 16 digits of the training data, each with its label. A pixel is a number from 0 (no ink, black here) to 1 (white).", "name": "fig-first-steps-digits"}, "image": {"alt": "Two rows of eight small, blurred handwritten digits, white on black, each with the right digit written above it."}}
image_grid(data.train.images[:16], titles=data.train.labels[:16])
plt.show()

# %% [markdown]
# You read nearly all of them at once. Could you write down how? Let us try with one pair. A zero
# has a hole in the middle, a one has ink there. So the rule is: more than so much ink in the four
# middle pixels means 1.


# %%
def best_rule(first: int, second: int, rows: slice, columns: slice) -> None:
    """Tell two digits apart by the ink in one place, with the threshold that works best."""
    chosen = (data.train.labels == first) | (data.train.labels == second)
    ink = data.train.images[chosen, 0, rows, columns].mean(dim=(1, 2))
    is_second = data.train.labels[chosen] == second
    right = max(int(((ink > t / 20) == is_second).sum()) for t in range(20))
    print(f"{first} or {second}: {right} of {len(ink)} right, {right / len(ink):.0%}")


best_rule(0, 1, slice(3, 5), slice(3, 5))
best_rule(3, 8, slice(2, 4), slice(1, 3))  # an 8 has ink on the left, a 3 has a gap there
print("pairs of digits:", 10 * 9 // 2)

# %% [markdown]
# The rule for 0 and 1 is good. The one for 3 and 8, made with as much care, errs on one digit in
# four. And there are 45 pairs, each of which would need a rule of its own. **Rules written by hand
# fail here**, not because no rule exists, but because we can't say it. So we let the examples say
# it.

# %% [markdown]
# ## The idea
#
# *3 minutes.* Leave the numbers in the model open, and call them **parameters** or weights. Say
# with one number how wrong the model is: the **loss**. Then change the parameters a little, in the
# direction in which the loss falls. Repeat.
#
# Think of a walk down a hill in thick fog. You don't see the valley. But you feel with your foot
# which way the ground slopes, and you take a step that way. With 650 parameters the hill has 650
# directions, and the walk is the same.
#
# The smallest such hill has one weight $w$. The model says $\hat y = 3w - 1$, and the right answer
# is 4. The loss is the squared error $(\hat y - 4)^2$, and on top of it we charge the weight a
# small rent, $\tfrac12 w^2$, which keeps it from growing without need.


# %%
def hill(w):
    """The loss of one weight: a squared error and a rent."""
    return (3 * w - 1 - 4) ** 2 + w**2 / 2


def walk(w: float, learning_rate: float, steps: int) -> list[float]:
    """Feel the slope with a foot on each side, step downhill, repeat; return all places."""
    places = [w]
    for _ in range(steps):
        slope = (hill(w + 0.001) - hill(w - 0.001)) / 0.002
        w = w - learning_rate * slope
        places.append(w)
    return places


# %% [markdown]
# The step is the slope times a factor, the **learning rate**. We take five steps, with a small rate
# and with a larger one.

# %% mystnb={"figure": {"caption": "Five steps downhill from w = 3. Left: a learning rate of 0.02 walks into the valley. Right: with 0.11 each step leaps over the valley and lands higher than before.", "name": "fig-first-steps-hill"}, "image": {"alt": "Two panels with the same parabola of loss against weight. On the left the marked steps go down one side into the minimum near 1.6. On the right they jump from side to side and climb."}}
figure, axes = plt.subplots(1, 2, sharey=True)
w = np.linspace(-1.0, 4.0, 200)
for ax, learning_rate in zip(axes, (0.02, 0.11), strict=True):
    places = np.array(walk(3.0, learning_rate, steps=5))
    ax.plot(w, hill(w))
    ax.plot(places, hill(places), marker="o")
    ax.set(title=f"learning rate {learning_rate}", xlabel="weight w")
    before, after = hill(places[0]), hill(places[-1])
    print(f"rate {learning_rate}: loss {before:.1f} before, {after:.1f} after")
axes[0].set_ylabel("loss")
plt.show()

# %% [markdown]
# With the small rate the loss falls from 20.5 to 1.5, near the bottom. With the large one it
# *rises*, to 46.7. The direction was right each time, but the step was too long. Remember this
# picture when a training goes wrong: the learning rate is the first thing to look at.

# %% [markdown]
# ## The mathematics
#
# *4 minutes.* The model of today gives each of the ten classes a score, the **logit**: a weighted
# sum of all pixels, and a constant. A layer like this, where each output looks at each input with a
# weight of its own, is called **dense**.
#
# $$
# z = x W^\top + b
# $$ (eq-first-steps-logits)
#
# The **softmax** makes probabilities of scores. They are positive and sum to 1:
#
# $$
# p_{i,k} = \frac{e^{z_{i,k}}}{\sum_{j} e^{z_{i,j}}}
# $$ (eq-first-steps-softmax)
#
# The loss is the **cross-entropy**: the mean over the batch of minus the logarithm of the
# probability that the model gave to the right class {cite}`goodfellow2016deep`. Sure and right
# costs nothing; sure and wrong costs much.
#
# $$
# \mathcal{L} = -\frac1B \sum_{i=0}^{B-1} \log p_{i,\,y_i}
# $$ (eq-first-steps-loss)
#
# A step of **gradient descent** with learning rate $\eta$ changes all parameters $\theta = (W, b)$
# at once:
#
# $$
# \theta \leftarrow \theta - \eta\, \frac{\partial \mathcal{L}}{\partial \theta}
# $$ (eq-first-steps-descent)
#
# And the gradient comes from the **chain rule**. If $w$ moves $u$ and $v$, and both move the loss,
# then the influences are multiplied along each road and added over the roads:
#
# $$
# \frac{\partial \mathcal{L}}{\partial w} =
# \frac{\partial \mathcal{L}}{\partial u} \frac{\partial u}{\partial w} +
# \frac{\partial \mathcal{L}}{\partial v} \frac{\partial v}{\partial w}
# $$ (eq-first-steps-chain)
#
# | symbol | shape | meaning |
# | --- | --- | --- |
# | $x$ | (B, 64) | a batch of images, each laid out as one row of 64 pixels |
# | $W$, $b$ | (10, 64), (10,) | the parameters: 640 weights and 10 biases |
# | $z$, $p$ | (B, 10) | logits and probabilities, a row for each image $i$, a column for each class $k$ |
# | $y$ | (B,) | the right classes, whole numbers from 0 to 9 |
# | $\mathcal{L}$ | () | the loss, one number |

# %% [markdown]
# ## By hand
#
# *9 minutes.* Three things by hand, on numbers small enough to follow: shapes, a loss, a gradient.
#
# ### Tensors and their shapes
#
# A **tensor** is a block of numbers of one type, and its **shape** says how many there are along
# each axis. Images have four axes, always in the order (B, C, H, W): which image of the batch,
# which channel, row, column.

# %%
images, labels = data.train
print(images.shape, images.dtype)
print(labels.shape, labels.dtype)

# %% [markdown]
# There are 1221 images with one channel (grey), 8 rows and 8 columns. Indexing takes axes away from
# the left: `images[0]` is one image (1, 8, 8), and `images[0, 0]` its only channel (8, 8). Times
# 16, because each pixel counts the ink in a block of 4 by 4 dots of the scan:

# %%
print((16 * images[0, 0]).int())

# %% [markdown]
# This is all that the model ever sees: not a shape with a stroke, but 64 numbers. Our linear model
# wants them in one row, so we lay the three axes of an image end to end. The batch axis stays.

# %%
x, y = images.flatten(start_dim=1), labels
print(x.shape)

# %% [markdown]
# **Broadcasting.** Two tensors of different shapes can be added, or multiplied number by number.
# Write their shapes above each other, aligned at the *right* end. Two sizes fit if they are equal,
# or if one of them is 1 or missing; that one is stretched. So (3, 1) and (4,) give (3, 4):

# %%
column, row = torch.tensor([[10], [20], [30]]), torch.tensor([1, 2, 3, 4])
print(column + row)

# %% [markdown]
# The column was repeated four times, the row three times. That is how the bias $b$ of shape (10,)
# gets added to each row of $x W^\top$, of shape (B, 10). It is handy, and it is dangerous: shapes
# that fit by accident raise no error. Exercise 0.1 is about that.
#
# **Precision.** A tensor has numbers of one type. `float32` is what networks compute with,
# `float64` is what we check with. The gap from 1 to the next larger number is called *epsilon*:

# %%
for dtype in (torch.float32, torch.float64):
    one = torch.tensor(1.0, dtype=dtype)
    same = bool(one + 1e-8 == one)
    print(f"{dtype}: epsilon {torch.finfo(dtype).eps:.1e}, 1 + 1e-8 == 1 is {same}")

# %% [markdown]
# In `float32` there are about seven decimal digits, and $1 + 10^{-8}$ *is* 1. Keep that in mind: it
# decides the claim at the end.

# %% [markdown]
# ### A loss, from scores
#
# One example, three classes, and the model gives the scores 2, 1 and −1. The right class is number
# 0. We follow {eq}`eq-first-steps-softmax` and {eq}`eq-first-steps-loss` step by step.

# %%
z = torch.tensor([2.0, 1.0, -1.0])
powers = z.exp()
p = powers / powers.sum()
print("powers       ", [f"{v:.3f}" for v in powers.tolist()], f"sum {powers.sum():.3f}")
print("probabilities", [f"{v:.3f}" for v in p.tolist()], f"sum {p.sum():.3f}")
for k in range(3):
    print(f"if the right class were {k}, the loss would be {-p[k].log():.3f}")

# %% [markdown]
# The model gives class 0 a probability of 0.705, which costs 0.349. Had the right class been number
# 2, to which it gave 0.035, the same scores would have cost 3.349. The library computes the same
# from the scores:

# %%
by_library = F.cross_entropy(z.unsqueeze(0), torch.tensor([0]))  # (1, 3) and (1,)
assert torch.isclose(by_library, -p[0].log())
print(f"{by_library:.3f}")

# %% [markdown]
# Note what it takes: **scores, not probabilities**. Exercise 0.2 shows why that is the safe way.

# %% [markdown]
# ### A gradient, back through a graph
#
# Now the hill from above, taken apart. The weight is $w = 2$, the input $x = 3$, the bias $b = -1$
# and the right answer $y = 4$. Each number that is computed becomes a node of a **graph**; an arrow
# leads from what goes in to what comes out.


# %% tags=["hide-input"]
def draw_graph(nodes: dict, roads: list[list[str]]) -> None:
    """Draw nodes {text: (column, row, gradient)} and arrows along the roads from node to node."""
    _, ax = plt.subplots(figsize=(6.4, 4.6))
    arrow = {"arrowstyle": "-|>", "color": INK, "shrinkA": 26, "shrinkB": 30}
    for road in roads:
        for start, end in zip(road[:-1], road[1:], strict=True):
            ax.annotate("", xytext=nodes[start][:2], xy=nodes[end][:2], arrowprops=arrow)
    for text, (column, row, gradient) in nodes.items():
        box = {"boxstyle": "round", "facecolor": PAPER, "edgecolor": COLOURS[0]}
        ax.text(column, row, text, ha="center", va="center", bbox=box, size=15)
        if gradient:
            ax.text(column, row - 0.25, gradient, color="#b34700", ha="center", va="top", size=15)
    ax.set(xlim=(-0.6, 5.4), ylim=(-0.6, 2.9))
    ax.axis("off")


# %% [markdown]
# Forwards, from left to right, we compute the values in the boxes. Backwards, from right to left,
# we ask of each node: *if you grew by a little, how much would $L$ grow?* The answers stand below
# the boxes in {numref}`fig-first-steps-graph`.

# %% tags=["hide-input"] mystnb={"figure": {"caption": "The graph of L = (wx + b − y)² + ½w². In the boxes: values, computed from left to right. Below them, in orange: the derivative of L with respect to the box, computed from right to left.", "name": "fig-first-steps-graph"}, "image": {"alt": "A graph. w = 2 and x = 3 lead to wx = 6, this and b = −1 to ŷ = 5, this and y = 4 to e = 1, then e² = 1, then L = 3. A second road leads from w over ½w² = 2 to L. The gradients are 1 at L, e² and ½w², 2 at e, ŷ, b and wx, and 6 + 2 = 8 at w."}}
nodes = {"x = 3": (0, 2, ""), "w = 2": (0, 0.9, "6 + 2 = 8"), "b = −1": (1, 2.6, "2")}
nodes |= {"wx = 6": (1, 1.5, "2"), "ŷ = 5": (2, 1.5, "2"), "y = 4": (2, 2.6, "")}
nodes |= {"e = 1": (3, 1.5, "2"), "e² = 1": (4, 1.5, "1")}
nodes |= {"½w² = 2": (2.5, 0, "1"), "L = 3": (5, 0.9, "1")}
upper_road = ["w = 2", "wx = 6", "ŷ = 5", "e = 1", "e² = 1", "L = 3"]
lower_road = ["w = 2", "½w² = 2", "L = 3"]
from_inputs = [["x = 3", "wx = 6"], ["b = −1", "ŷ = 5"], ["y = 4", "e = 1"]]
draw_graph(nodes, [upper_road, lower_road, *from_inputs])
plt.show()

# %% [markdown]
# Read it from the right. $L$ grows as fast as itself: 1. A sum hands its gradient on unchanged, so
# $e^2$ and $\tfrac12 w^2$ get 1 each. The square has the slope $2e = 2$. Adding $b$ and taking away
# $y$ change nothing, so 2 also reaches $\hat y$, $b$ and $wx$. The product hands on the gradient
# times *the other factor*: $2 \cdot x = 6$ comes to $w$ on the upper road. On the lower one, the
# slope of $\tfrac12 w^2$ is $w = 2$. The roads add up, as {eq}`eq-first-steps-chain` says: **6 + 2
# = 8**.
#
# PyTorch {cite}`paszke2019pytorch` draws the same graph behind your back while you compute.
# `backward` walks it from right to left:

# %%
x_0, y_0 = 3.0, 4.0
w = torch.tensor(2.0, requires_grad=True)  # "follow this one"
b = torch.tensor(-1.0, requires_grad=True)
L = (w * x_0 + b - y_0) ** 2 + w**2 / 2
L.backward()
print("L =", L.item(), " dL/dw =", w.grad.item(), " dL/db =", b.grad.item())

# %% [markdown]
# The same 3, 8 and 2. This is **backpropagation** {cite}`rumelhart1986learning`: one walk back
# gives the slope in *every* direction, for the price of a few walks forward
# {cite}`baydin2018automatic`. Feeling with a foot, as we did on the hill, would take a walk for
# each of 650 parameters.
#
# One habit of PyTorch you have to know. Because roads add up, `backward` *adds* to what is in
# `.grad`. Call it for a second time:

# %%
L = (w * x_0 + b - y_0) ** 2 + w**2 / 2
L.backward()
print("dL/dw =", w.grad.item())

# %% [markdown]
# It says 16, yet the slope is still 8. Whoever takes more than one step has to empty `.grad` in
# between. Forgetting it is the most common mistake in a first training loop, and exercise 0.5 will
# recognise it.

# %% [markdown]
# ## Build it
#
# *3 minutes.* The model is one line, {eq}`eq-first-steps-logits`.


# %%
def logits(x: torch.Tensor, W: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """Score each class. Shapes: x (B, 64), W (10, 64), b (10,) to (B, 10)."""
    return x @ W.T + b


# %% [markdown]
# Its parameters start at zero. What should the loss be then? All scores are equal, so each class
# gets the probability 1/10, and the loss is $-\log \tfrac1{10} = \log 10$. Always ask for that
# number first: it finds mistakes before training hides them.

# %%
W, b = torch.zeros(10, 64, requires_grad=True), torch.zeros(10, requires_grad=True)
loss = F.cross_entropy(logits(x, W, b), y)
print("parameters:", W.numel() + b.numel())
print(f"loss {loss.item():.3f}, log 10 = {np.log(10):.3f}")

# %% [markdown]
# Here are the 650 numbers, all of them 0, and the loss is 2.303, as it should be. Now one step of
# {eq}`eq-first-steps-descent` on the whole training data. The update is no part of the model, so
# autograd is told to look away.

# %%
loss.backward()
with torch.no_grad():
    for parameter in (W, b):
        parameter -= 0.5 * parameter.grad
    after = F.cross_entropy(logits(x, W, b), y)
print(f"{W.grad.shape} {b.grad.shape}, loss {loss.item():.3f} → {after.item():.3f}")

# %% [markdown]
# A gradient has the shape of its parameter. The loss has fallen: 650 numbers have each moved a
# little, all in one go.

# %% [markdown]
# ## Is it right?
#
# *3 minutes.* A model that is wrong trains as well, only worse. So before we train, we compare:
# first the scores with a plain loop and with the library's layer, then the gradient with two other
# ways to get it.

# %%
loop = [sum(x[0, d] * W[k, d] for d in range(64)) + b[k] for k in range(10)]
layer = nn.Linear(64, 10)
layer.load_state_dict({"weight": W, "bias": b})
assert torch.allclose(logits(x, W, b)[0], torch.stack(loop), atol=1e-5)
assert torch.allclose(logits(x, W, b), layer(x), atol=1e-5)
print("the loop, the matrix product and nn.Linear agree")

# %% [markdown]
# So one line is a whole library layer. It loads our weights and gives our numbers; the book keeps
# to this with every layer that you build.
#
# For the gradient, softmax and cross-entropy together have a formula that is worth knowing:
# $\partial \mathcal{L} / \partial z_{i,k} = (p_{i,k} - [k = y_i]) / B$. In words: **what the model
# said, minus what it should have said**. The chain rule takes it on to $W$. We compare in
# `float64`.

# %%
x64, W64, b64 = (t.detach().double() for t in (x, W, b))
W64.requires_grad_()
F.cross_entropy(logits(x64, W64, b64), y).backward()
with torch.no_grad():
    p = logits(x64, W64, b64).softmax(dim=1)  # (1221, 10)
    error = (p - F.one_hot(y, 10)) / len(x)
assert torch.allclose(W64.grad, error.T @ x64, atol=1e-12)  # (10, 1221) @ (1221, 64)
print("autograd and the formula agree")

# %% [markdown]
# Last, the foot on the hill: move one weight to both sides, and see how much the loss changes. This
# asks nothing of calculus, so it would also find a mistake in the formula.

# %%
with torch.no_grad():
    step = torch.zeros_like(W64)
    step[3, 20] = 1e-5
    above = F.cross_entropy(logits(x64, W64 + step, b64), y)
    below = F.cross_entropy(logits(x64, W64 - step, b64), y)
assert torch.isclose(W64.grad[3, 20], (above - below) / 2e-5, rtol=1e-6)
print("autograd and the foot agree")

# %% [markdown]
# Three roads to one number. How long the foot's step should be is a question of its own, which the
# claim below answers.

# %% [markdown]
# ## Train it
#
# *9 minutes.* Now many steps. Is it worth going through all 1221 digits for each of them? Let us
# see how well 64 digits point downhill: 1 is the direction that all of them together give, 0 is at
# a right angle to it.

# %%
W = torch.zeros(10, 64, requires_grad=True)
(slope,) = torch.autograd.grad(F.cross_entropy(x @ W.T, y), W)
agreement = []
for rows in torch.arange(len(x)).split(64):
    (rough,) = torch.autograd.grad(F.cross_entropy(x[rows] @ W.T, y[rows]), W)
    agreement.append(F.cosine_similarity(rough.flatten(), slope.flatten(), dim=0))
print(f"{len(agreement)} batches, mean cosine {torch.stack(agreement).mean():.1f}")

# %% [markdown]
# A cosine of 0.7: roughly the same way, for a nineteenth of the work. So rather twenty rough steps
# than a single exact one. We cut the data into **minibatches** of 64, and take a step on each. Once
# through all of them is an **epoch**. Here is the whole training loop of the book, written out.


# %%
def train(x, y, learning_rate: float, epochs: int = 20):
    """Gradient descent on minibatches of 64; return W, b and the loss of each epoch."""
    W, b = torch.zeros(10, 64, requires_grad=True), torch.zeros(10, requires_grad=True)
    losses = []
    for _ in range(epochs):
        total = 0.0
        for rows in torch.arange(len(x)).split(64):
            loss = F.cross_entropy(logits(x[rows], W, b), y[rows])  # 1. how wrong?
            loss.backward()  # 2. which way is down?
            with torch.no_grad():
                for parameter in (W, b):
                    parameter -= learning_rate * parameter.grad  # 3. a step
                    parameter.grad = None  # 4. forget this slope
            total += loss.item() * len(rows)  # the last batch is smaller: it counts for less
        losses.append(total / len(x))
    return W.detach(), b.detach(), losses


# %% [markdown]
# The learning rate is not learned; we have to choose it. Such a number is called a
# **hyperparameter**. We try three, and count right answers twice: on the digits that it was trained
# on, and on the *validation* digits, which it has not seen. As a baseline, we say each time the
# digit that is most common in the training data.


# %%
def count_right(split, W, b) -> int:
    """Count the images whose largest logit is at their label."""
    return int((logits(split.images.flatten(1), W, b).argmax(dim=1) == split.labels).sum())


results = []
for learning_rate in (0.01, 0.1, 1.0):
    W, b, losses = train(x, y, learning_rate)
    right = count_right(data.train, W, b), count_right(data.validation, W, b)
    results.append((f"learning rate {learning_rate}", f"{losses[-1]:.2f}", *right))
commonest = y.bincount().argmax()
baseline = [int((part.labels == commonest).sum()) for part in (data.train, data.validation)]
results.append(("always the same digit", "–", *baseline))
table(results, ("", "loss", "of 1221", "of 216"))

# %% [markdown]
# With a rate of 0.01 the walk is still on its way after 20 epochs. With 1.0 it has got furthest:
# 207 of the 216 digits that it has never seen are right, where the baseline gets
# 22. We keep this model.
#
# ### The same with `fit`
#
# From here on, the loop comes from the book's bench: `fit` in `utils/training/loop.py`. This is what
# it does in an epoch:

# %%
show_source(train_epoch)

# %% [markdown]
# Look for the four numbered lines of our loop: they are all there, in another order: `zero_grad`
# forgets the last slope just before the new one comes. What stands around them watches for a loss
# that is no number, counts, and lets you stop. `fit` adds a progress bar, and numbers for each
# epoch. With the same batches it has to give the same weights, so we ask it to.

# %%
x_validation, y_validation = data.validation.images.flatten(1), data.validation.labels
model = nn.Linear(64, 10)
for parameter in model.parameters():
    nn.init.zeros_(parameter)
optimiser = torch.optim.SGD(model.parameters(), lr=1.0)  # does steps 3 and 4
history = fit(
    model,
    Batches(x, y, batch_size=64),
    nn.CrossEntropyLoss(),
    optimiser,
    epochs=20,
    metrics={"accuracy": accuracy},
    validation=Batches(x_validation, y_validation, batch_size=216),
)

# %% [markdown]
# Nothing is printed, so we compare: weights, biases, and the loss of each epoch.

# %%
assert torch.allclose(model.weight, W, atol=1e-4)
assert torch.allclose(model.bias, b, atol=1e-4)
assert np.allclose(history.train["loss"], losses, atol=1e-4)
print(f"fit and the written-out loop agree, after {len(history.step_loss)} steps")

# %% [markdown]
# They agree, after 400 steps. And the history can draw itself:

# %% mystnb={"figure": {"caption": "Training of the linear model: loss and accuracy by epoch, on the training data and on the validation data.", "name": "fig-first-steps-history"}, "image": {"alt": "Two panels. Left, the loss falls steeply in the first epochs and then slowly, validation a little above training at the end. Right, the accuracy rises to about 0.97 in training and 0.96 in validation."}}
history.plot()
plt.show()

# %% [markdown]
# Most is learned in the first few epochs. At the end the model does a little better on the digits
# that it was trained on than on the others. That gap is the subject of what comes next.

# %% [markdown]
# ### Three kinds of data, and why
#
# **Training data** are there to learn from. They can't judge. To see why, take a model that only
# memorises: for a new image it looks up the training image that is most like it, and says its
# label. And to make sure that there is nothing to understand, we deal the labels out at random.

# %%
torch.manual_seed(2)
nonsense = y[torch.randperm(len(y))]  # the labels, dealt out at random
itself = torch.cdist(x, x).argmin(dim=1)  # (1221,): the training image most like each one
alike = torch.cdist(x_validation, x).argmin(dim=1)  # (216,)
for name, memory in [("nonsense", nonsense), ("true labels", y)]:
    on_training = (memory[itself] == memory).sum()
    on_validation = (memory[alike] == y_validation).sum()
    print(f"{name}: training {on_training} of 1221, validation {on_validation} of 216")

# %% [markdown]
# With nonsense for labels it is perfect on the training data, and on the validation data it is
# right 20 times of 216, which is what guessing gets. With the true labels, the same memory is a
# good model: 211 of 216, better than ours. But the training data show no difference. **On them, a
# memory of nonsense and a good model are both perfect.** So we keep **validation data** apart, and
# choose by them: the learning rate, the number of epochs, the kind of model.
#
# But choosing wears them out. To see that, let a thousand "models" guess blindly, and choose the
# ten best by their validation accuracy. Then look at the same ten on other digits. (The training
# digits will do: who only guesses has learned nothing from them.)

# %%
torch.manual_seed(0)
guesses = torch.randint(10, (1000, len(y_validation) + len(y)))
right = guesses == torch.cat([y_validation, y])  # (1000, 216 + 1221)
chosen_by, others = right[:, :216].double().mean(dim=1), right[:, 216:].double().mean(dim=1)
best = chosen_by.argsort(descending=True, stable=True)[:10]
print(f"all 1000 on validation digits: {chosen_by.mean():.0%} right")
print(f"the ten best on the same:      {chosen_by[best].mean():.0%} right")
print(f"these ten on other digits:     {others[best].mean():.0%} right")

# %% [markdown]
# The winners look much better than the rest, and know nothing. Their number is flattering *because*
# we chose by it. On data that took no part in the choice they are back where guessing is. That is
# what **test data** are for: all choices are made without them, and at the very end they are asked,
# once.
#
# Our choice is made. So, once:

# %%
right = count_right(data.test, W, b)
share = right / len(data.test.labels)
spread = (share * (1 - share) / len(data.test.labels)) ** 0.5
print(f"test: {right} of {len(data.test.labels)} right, {share:.1%}")
print(f"standard error: {100 * spread:.1f} percentage points")

# %% [markdown]
# 344 of 360 digits are right, or 95.6 %. With so few digits that number is good to about one
# percentage point either way, so do not believe anybody, us included, who compares two models on it
# by half a point.

# %% [markdown]
# ## Look inside
#
# *3 minutes.* What are the 650 numbers? Each class has 64 weights, one for each pixel. So we can
# look at them as images.

# %% mystnb={"figure": {"caption": "The weights of each class, as images. Purple: ink here speaks for the digit. Orange: ink here speaks against it.", "name": "fig-first-steps-weights"}, "image": {"alt": "Ten images of 8 by 8 pixels in purple and orange. That of the digit 0 is orange in the middle with purple around it."}}
image_grid(W.reshape(10, 8, 8), titles=range(10), columns=5, signed=True)
plt.show()

# %% [markdown]
# Look at the 0: ink in the middle speaks against it. That is the rule which we wrote by hand, and
# the model has found it, together with all the others that we could not say. Each image is a
# **template**, laid on the digit; the sum of what lies under it is the score.
#
# And where does it err? The remaining errors say more about a model than its accuracy does. We look
# at the validation digits, since a look is the beginning of a choice.

# %% mystnb={"figure": {"caption": "The validation digits that the linear model gets wrong: what it says, and what is right.", "name": "fig-first-steps-errors"}, "image": {"alt": "Nine small handwritten digits, most of them slanted, thin or cut off, each titled with a wrong and a right digit."}}
said = logits(x_validation, W, b).argmax(dim=1)
wrong = said != y_validation
titles = [f"{s}, is {t}" for s, t in zip(said[wrong], y_validation[wrong], strict=True)]
image_grid(data.validation.images[wrong], titles, columns=5)
plt.show()
print("wrong:", int(wrong.sum()), "of 216")

# %% [markdown]
# Some of these nine are hard for you, too. Others are plain, like the two zeros: they are only
# narrower or more slanted than the template expects. That is a clue.

# %% [markdown]
# ## Where it breaks
#
# *4 minutes.* Take all images, and shuffle their pixels: one fixed shuffling, the same for every
# image. Here is what that does to the digits.

# %% mystnb={"figure": {"caption": "The first eight training digits (above), and the same with their pixels shuffled, all in the same way (below).", "name": "fig-first-steps-shuffled"}, "image": {"alt": "Above, eight handwritten digits. Below, the same eight as patterns of scattered grey squares, in which no digit can be seen."}}
torch.manual_seed(0)
order = torch.randperm(64)
image_grid(torch.cat([x[:8], x[:8, order]]).reshape(16, 8, 8), columns=8)
plt.show()

# %% [markdown]
# To us they are unreadable. Now train the same model on shuffled digits, and count on shuffled
# validation digits. **Before you run the cell, decide:** will it get more right than the 207 of
# before, fewer, or as many?

# %%
W_shuffled, b_shuffled, losses_shuffled = train(x[:, order], y, learning_rate=1.0)
said = logits(x_validation[:, order], W_shuffled, b_shuffled).argmax(dim=1)
print("right on shuffled digits:", int((said == y_validation).sum()), "of 216")
assert np.allclose(losses_shuffled, losses, atol=1e-5)
assert torch.allclose(W_shuffled, W[:, order], atol=1e-4)

# %% [markdown]
# Exactly as many. The loss of each epoch is the same, and the weights are the old ones, shuffled. A
# weighted sum doesn't ask in which order it is added up. So this model, which reads digits so well,
# **has no idea which pixels are neighbours**. Everything that makes an image an image is lost on
# it.
#
# That has a price. Move each digit by a single pixel, and fill the edge with black. You would
# hardly notice.

# %%
padded = F.pad(data.validation.images, (1, 1, 1, 1))  # (216, 1, 10, 10)
places = {"in place": (1, 1), "up": (2, 1), "down": (0, 1), "left": (1, 2), "right": (1, 0)}
for name, (top, left) in places.items():
    moved = padded[:, :, top : top + 8, left : left + 8].flatten(1)
    share = (logits(moved, W, b).argmax(dim=1) == y_validation).double().mean()
    print(f"{name}: {share:.0%} right")

# %% [markdown]
# From 96 % it falls to 41 % and less, whichever way we move. Each template is right for one place,
# and knows nothing of the place beside it. To make it read moved digits too, we would have to show
# it every digit at every place, and it would have to learn each place anew.

# %% [markdown]
# ## Claims, measured
#
# *3 minutes.* The foot on the hill is called a **finite difference**: $f'(z) \approx (f(z + h) -
# f(z)) / h$ for a small step $h$. It is commonly said that a smaller step makes it more exact. We
# take the loss of the three scores from above as $f$, move the first score, and know the truth from
# the formula: $p_0 - 1$.


# %%
def finite_difference_error(h: float, dtype: torch.dtype) -> float:
    """How far (f(z + h) - f(z)) / h is from the slope, as a share of the slope."""
    z, right_class = torch.tensor([[2.0, 1.0, -1.0]], dtype=dtype), torch.tensor([0])
    moved = z + torch.tensor([h, 0.0, 0.0], dtype=dtype)
    rise = F.cross_entropy(moved, right_class) - F.cross_entropy(z, right_class)
    truth = z.double().softmax(dim=1)[0, 0].item() - 1
    return abs(rise.item() / h - truth) / abs(truth)


# %% [markdown]
# We measure it for steps from a tenth down to $10^{-16}$, in both precisions.

# %% mystnb={"figure": {"caption": "Error of a finite difference, as a share of the true slope, against its step. Small steps stand on the left. An error of 1 means that nothing is left of the slope.", "name": "fig-first-steps-difference"}, "image": {"alt": "Two curves in a picture with logarithmic axes. From the right, both fall as the step gets smaller. float32 turns up again near a step of 0.001, float64 near 1e-8; at the left end both have an error of about 1."}}
exponents = range(1, 17)
single = {k: finite_difference_error(10.0**-k, torch.float32) for k in exponents}
double = {k: finite_difference_error(10.0**-k, torch.float64) for k in exponents}
steps = [10.0**-k for k in exponents]
lines = {"float32": (steps, [*single.values()]), "float64": (steps, [*double.values()])}
curves(lines, "step h", "error, as a share of the slope", logx=True, logy=True)
plt.show()

# %% [markdown]
# (claim-start-1)=
# From right to left, the error first falls with the step, as claimed. Then it turns. The claim is
# weighed in the next cell; its sentences are checked each time it runs.

# %%
falls = all(double[k] > 5 * double[k + 1] for k in range(1, 6))
lost = all(single[k] == 1 for k in range(7, 17))  # the difference is 0
turns = max(double[k] for k in range(9, 16)) > 1000 * double[8]

# %%
claim(
    "start-1",
    supports={
        "float64, from 0.1 to 1e-6: a tenth of the step, under a fifth of the error": falls,
        "float32: the error at 0.01 is smaller than at 0.1": single[2] < single[1],
    },
    limits={
        "float32, from 1e-7 on: nothing is left of the slope": lost,
        "float64: below 1e-8 the error grows again, more than a thousandfold": turns,
    },
    numbers={f"error at h = 1e-{k}, float32": single[k] for k in (1, 2, 4, 7)}
    | {f"error at h = 1e-{k}, float64": double[k] for k in (1, 4, 8, 12)},
)

# %% [markdown]
# Two errors are at work. The curve bends between $z$ and $z + h$, and a smaller step makes that
# error smaller. But $f(z + h)$ and $f(z)$ then agree in more and more digits, and only the last
# ones, which are rounded, are left for the difference; dividing by $h$ blows that up. In `float32`,
# $2 + 10^{-7}$ is 2, and the difference is 0. Autograd has no step, and so it does not have this
# trouble. That is why gradients are checked in `float64`, with a step that is small, but not too
# small.

# %% [markdown]
# ## Exercises
#
# *30 minutes, beyond the core path.* Each says how hard it is: *warm-up*, *core*, *stretch*. Fill
# in, run, and read what the check says. Try for a while before you look at a solution.

# %% [markdown]
# :::{exercise} A shape that fits by accident
# :label: exercise-0-1
#
# *Warm-up, 2 minutes.* A model gives one number for each of 32 examples, as a column: `prediction`
# has the shape (32, 1). The right answers are a row: `target` has the shape (32,). Somebody
# computes the squared error as `((prediction - target) ** 2).mean()`. It runs, and prints a number.
# How many numbers were averaged? Predict it before you try.
#
# [Solution](solutions/00_first_steps.ipynb#solution-0-1)
# :::

# %%
prediction = None  # a whole number
check("0.1", prediction)

# %% [markdown]
# :::{exercise} Cross-entropy from logits
# :label: exercise-0-2
#
# *Core, 8 minutes.* Write the loss {eq}`eq-first-steps-loss` for a whole batch, without
# `F.cross_entropy`, `softmax` or `log_softmax`. It has to stay right for logits as large as 1000.
# For that, find out what happens to {eq}`eq-first-steps-softmax` when the same number is taken from
# all logits of a row.
#
# [Solution](solutions/00_first_steps.ipynb#solution-0-2)
# :::


# %%
def cross_entropy(logits: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
    """Return the mean over the batch of -log p of the right class, safe for large logits.

    Shapes: logits (B, n_classes), labels (B,), int64. Returns: one number.
    """
    raise NotImplementedError


# %%
check("0.2", cross_entropy)

# %% [markdown]
# :::{exercise} Two roads back
# :label: exercise-0-3
#
# *Core, 8 minutes.* In this small network one weight is used twice: $h = \operatorname{ReLU}(wx +
# b)$, then $\hat y = wh$, and $L = (\hat y - y)^2$. The ReLU lets positive numbers through and
# makes 0 of negative ones. Draw the graph on paper, and carry the gradient back. (A weight that is
# used in many places is what tomorrow is about.)
#
# [Solution](solutions/00_first_steps.ipynb#solution-0-3)
# :::


# %%
def backward(x: float, w: float, b: float, y: float) -> tuple[float, float]:
    """Return dL/dw and dL/db, by the chain rule and without autograd."""
    raise NotImplementedError


# %%
check("0.3", backward)

# %% [markdown]
# :::{exercise} An honest count
# :label: exercise-0-4
#
# *Core, 5 minutes.* Data rarely divide into equal batches: 1221 digits in batches of 64 leave a
# last one with 5. Compute the accuracy over all examples, given the batches one by one.
#
# [Solution](solutions/00_first_steps.ipynb#solution-0-4)
# :::


# %%
def accuracy_over(batches: list[tuple[torch.Tensor, torch.Tensor]]) -> float:
    """Return the share of all examples whose largest logit is at their label.

    Shapes: each batch is logits (B, n_classes) and labels (B,), where B may differ.
    """
    raise NotImplementedError


# %%
check("0.4", accuracy_over)

# %% [markdown]
# :::{exercise} A ball, not a walker
# :label: exercise-0-5
#
# *Stretch, 10 minutes.* A walker forgets each step. A ball that rolls downhill keeps its speed:
# that is **momentum**. With a velocity $v$ that starts at 0, each step is $v \leftarrow \mu v +
# \partial \mathcal{L} / \partial W$, then $W \leftarrow W - \eta v$. Write the training loop, on
# the whole batch in each step, for the model $z = x W^\top$ without a bias. The `W` that you are
# given has to stay as it is. You may use autograd and `F.cross_entropy`, but none of `torch.optim`.
#
# [Solution](solutions/00_first_steps.ipynb#solution-0-5)
# :::


# %%
def train_with_momentum(
    W: torch.Tensor,
    x: torch.Tensor,
    labels: torch.Tensor,
    learning_rate: float,
    momentum: float,
    steps: int,
) -> torch.Tensor:
    """Return W after so many steps.

    Shapes: W (n_classes, n_pixels), x (B, n_pixels), labels (B,).
    """
    raise NotImplementedError


# %%
check("0.5", train_with_momentum)

# %% [markdown]
# ## Checklist and tomorrow
#
# *1 minute.* The points from the top, ticked by what you have passed.

# %%
checklist(
    {
        "say the shape of a result before you run the line": ["0.1"],
        "turn scores into a loss, safely": ["0.2"],
        "carry a gradient back through a graph by hand": ["0.3"],
        "write a training loop, and judge what was learned": ["0.4", "0.5"],
    }
)

# %% [markdown]
# The 650 numbers came from four lines, repeated 400 times: how wrong, which way is down, a step,
# forget. All that follows in this book, up to the Transformer, is trained by these four lines. What
# changes is the model.
#
# **Tomorrow** the model gets eyes. Today's looks at all pixels at once, and doesn't know which of
# them are neighbours; move the digits by one pixel, and it loses most of them. [Day
# 1](01_convolution.ipynb) uses one small template *everywhere* in the image. That is a convolution:
# a model that knows what a neighbour is, with fewer numbers to learn.

# %% [markdown]
# ## Further reading
#
# - {cite:t}`rumelhart1986learning` made backpropagation known, in four pages that read well today.
# - {cite:t}`baydin2018automatic` explain automatic differentiation, and how it differs from finite
#   differences and from formulas.
# - {cite:t}`goodfellow2016deep`, chapters 4 to 6, go from rounding errors to networks, with more
#   mathematics.
# - {cite:t}`paszke2019pytorch` describe why PyTorch records the graph while it computes.
# - {cite:t}`alpaydin1998optical` collected the digits, and {cite:t}`pedregosa2011scikit` made the
#   library that they come with.
