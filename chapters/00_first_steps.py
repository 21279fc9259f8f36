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
# **Today's question:** how can a program find 650 numbers by itself?
#
# After today you can
#
# - write a step of gradient descent that trains a network,
# - turn scores into a loss, safely,
# - predict the shape of a result before you run the line,
# - judge what a model has learned.
#
# You should know derivatives and matrix products. If you have trained a network in PyTorch, go straight to
# [Day 1](01_convolution.ipynb). This page takes 25 minutes to read, and its two functions take another 16 to write. By the end, they will have trained a model that reads a digit you draw.
#
# Run each cell with Shift+Enter.

# %% tags=["setup"]
import convolution_to_attention  # is `utils` this book's?

import matplotlib.pyplot as plt
import torch
from torch import nn
from torch.nn import functional as F

from utils.data.batches import Batches
from utils.data.pictures import digits
from utils.exercises.first_steps import check
from utils.exercises.progress import checklist
from utils.show.display import observe
from utils.show.mechanisms import first_steps as mechanisms
from utils.show.plotting import curves, image_grid, use_book_style
from utils.show.views import guess
from utils.training.loop import fit

use_book_style()

# %% [markdown]
# ## Where we stand
#
# *1 minute.* These digits were handwritten, scanned, and shrunk to 8 by 8 pixels {cite}`alpaydin1998optical`.

# %% tags=["evidence"] mystnb={"figure": {"caption": "Sixteen digits from the training set, with their labels.", "name": "fig-first-steps-digits"}, "image": {"alt": "Two rows of eight small, blurred handwritten digits, white on black, each with its label above it."}}
data = digits()
image_grid(data.train.images[:16], titles=data.train.labels[:16])
plt.show()

# %% [markdown]
# You can read nearly all of them. Could you write down how? A 1 has ink in the middle, where a 0 has a hole. An 8 has ink on the left, where a 3
# has a gap.


# %% tags=["evidence"]
def best_rule(first: int, second: int, rows: slice, columns: slice) -> float:
    """Accuracy of telling two digits apart by the ink in one spot, at the best threshold."""
    chosen = (data.train.labels == first) | (data.train.labels == second)
    ink = data.train.images[chosen, 0, rows, columns].mean(dim=(1, 2))
    is_second = data.train.labels[chosen] == second
    return max(((ink > t / 20) == is_second).double().mean().item() for t in range(20))


# %% tags=["evidence"]
hole, gap = best_rule(0, 1, slice(3, 5), slice(3, 5)), best_rule(3, 8, slice(2, 4), slice(1, 3))
tried = max(best_rule(3, 8, slice(i, i + 2), slice(j, j + 2)) for i in range(7) for j in range(7))
observe(
    "The rule for 0 and 1 sorts {hole:.0%} of its digits correctly; the rule for 3 and 8 sorts only {gap:.0%}. With the best spot, the second rule would reach {tried:.0%}.",
    hole=hole,
    gap=gap,
    tried=tried,
    holds=hole > 0.95 and gap < 0.8 and tried > 0.9,
)

# %% [markdown]
# Examples showed us that spot. There are 45 pairs of digits, so why not learn everything from examples?
#
# ## The idea
#
# *1 minute.* Leave the numbers in the model open: its **parameters**, or weights. Sum up how wrong the model is in a single number, the **loss**. (Ours is 0.11 if the
# probability of the correct digit is 0.9, and 2.30 if it is 0.1.) Change each parameter a little, so that the loss falls. Repeat.

# %% tags=["mechanism"] mystnb={"figure": {"caption": "The loop that trains every network in this book.", "name": "fig-first-steps-loop"}, "image": {"alt": "Four boxes in a row, joined by arrows, say: forward, scores; loss, how wrong?; backward, which way is down?; step, new numbers. An arrow from the last back to the first says: again."}}
mechanisms.loop()
plt.show()

# %% [markdown]
# Training is a walk downhill in thick fog: you feel only the slope underfoot.
#
# ## Step by step
#
# ### A dense layer
#
# *2 minutes.* The model sees an image as a row of 64 numbers. This 3 is our example:

# %%
x, y = data.train.images.flatten(start_dim=1), data.train.labels  # (B, 1, 8, 8) to (B, 64)
three = x[10]
print((16 * three).int().view(8, 8), "is a", y[10].item())

# %% [markdown]
# For each class, the model multiplies each pixel by a weight, adds up the products, and adds a constant, the **bias**. The result is the class's score, or **logit**:
#
# $$
# z = x W^\top + b .
# $$ (eq-first-steps-logits)
#
# For $B$ images, $x$ is (B, 64), $W$ (10, 64), $b$ (10,) and $z$ (B, 10).

# %% tags=["mechanism"] mystnb={"figure": {"caption": "In a **dense** layer, each score is a weighted sum of all pixels.", "name": "fig-first-steps-layer"}, "image": {"alt": "On the left is a column of four pixels, 0, 1, 0.5, 1, in blue. Arrows lead to a table of weights with four rows and a column for each of the classes 0, 1, 2. Below it are the three scores −1, 2.5, 0.5. The column of class 1 and its score are framed: 0·−1 + 1·1 + 0.5·1 + 1·1."}}
mechanisms.layer()
plt.show()

# %% [markdown]
# ### Gradient descent
#
# *9 minutes, 6 of them yours.* The **slope**, or gradient, is how fast the loss $\mathcal L$ rises as a weight grows. A step goes against the slope,
# and the **learning rate** $\eta$ sets how far:
#
# $$
# \begin{aligned}
# W &\leftarrow W - \eta\, \frac{\partial \mathcal{L}}{\partial W} , \\
# b &\leftarrow b - \eta\, \frac{\partial \mathcal{L}}{\partial b} .
# \end{aligned}
# $$ (eq-first-steps-descent)

# %% tags=["mechanism"] mystnb={"figure": {"caption": "The steeper the hill, the longer the step: gradient descent with one weight.", "name": "fig-first-steps-step"}, "image": {"alt": "A bowl-shaped curve shows the loss as a function of the weight w. At a point high on the right, a dashed line shows the slope. Below, an arrow labelled step = learning rate times slope leads left to a point much lower on the curve."}}
mechanisms.one_step()
plt.show()

# %% [markdown]
# **Your turn.** The check names your mistakes.
#
# ```{exercise} A gradient descent step
# :label: exercise-gradient-step
#
# *6 minutes.* Compute the scores, the loss and the slopes, and return the new $W$ and $b$. `F.cross_entropy(scores, labels)` is the loss. If you begin with
# `W, b = W.clone().requires_grad_(), b.clone().requires_grad_()`, PyTorch tracks both, and `torch.autograd.grad(loss, (W, b))` returns their slopes.
# ([Solution](solutions/00_first_steps.ipynb#solution-gradient-step))
# ```


# %%
def step(W, b, x, labels, learning_rate):
    """Shapes: W (10, 64), b (10,), x (B, 64), labels (B,). Returns: the new W and b."""
    raise NotImplementedError


step = check("gradient_step", step)

# %%
check.show_reference("gradient_step")

# %% [markdown]
# All 650 numbers start at 0.

# %% tags=["view"]
guess(
    "After a single step, what share of unseen digits does the model read correctly?",
    ["about 10%", "about 30%", "over 80%"],
    right="over 80%",
    because="Each class's weights are now the average of its digits minus the average of all digits, times about 0.1: a good start.",
)


# %%
def descend(steps, learning_rate=1.0):
    """Start at 0, and take your steps on all training digits."""
    W, b = torch.zeros(10, 64), torch.zeros(10)
    for _ in range(steps):
        W, b = step(W.detach(), b.detach(), x, y, learning_rate)
    return W.detach(), b.detach()


def reads(W, b, part=data.validation):
    """Share of digits whose label has the largest score."""
    scores = part.images.flatten(start_dim=1) @ W.T + b
    return (scores.argmax(dim=1) == part.labels).double().mean().item()


# %% tags=["training"]
walk = {steps: descend(steps) for steps in (0, 1, 100)}

# %% tags=["evidence"]
share = [reads(*place) for place in walk.values()]
observe(
    "Before the first step, the model reads {before:.0%} of the unseen (validation) digits; one step brings that to {one:.0%}, and a hundred steps to {hundred:.0%}.",
    **dict(zip(("before", "one", "hundred"), share)),
    holds=share[0] < 0.15 and share[1] > 0.8 and share[2] > 0.92,
)

# %% [markdown]
# At first all scores are equal, so the model always answers 0. Your function did the rest, and was never told what a 3 looks like.
#
# ### How far? The learning rate
#
# *1 minute.* We chose a learning rate of 1. With a tiny one, the walk takes forever; with a large one, each step leaps across the valley:

# %% tags=["mechanism"] mystnb={"figure": {"caption": "A small learning rate leads into the valley (left), and a large one out of it (right): four steps each.", "name": "fig-first-steps-hill"}, "image": {"alt": "Two bowls with marked points and arrows between them. Left, learning rate 0.2: the points go down one side to the bottom. Right, learning rate 1.1: they jump from side to side and climb."}}
mechanisms.walks()
plt.show()

# %% [markdown]
# When training goes wrong, look at the learning rate first. ([Four learning rates, compared](deeper/00_first_steps.ipynb#deeper-rates).)
#
# ### How wrong? Cross-entropy
#
# *13 minutes, 10 of them yours.* First, **softmax** turns the scores into probabilities: $p_k = e^{z_k} / \sum_j e^{z_j}$. They are all positive and
# sum to 1. The **cross-entropy** is minus the natural logarithm of the probability given to the correct class $y_i$, averaged over the batch {cite}`goodfellow2016deep`:
#
# $$
# \mathcal{L} = -\frac1B \sum_{i=0}^{B-1} \log p_{i,\,y_i} .
# $$ (eq-first-steps-loss)
#
# Sure and right is cheap; sure and wrong is expensive. Here is our 3:

# %%
for steps, (W, b) in walk.items():
    p = (three @ W.T + b).softmax(dim=0)
    print(f"{steps:3} steps: p of a 3 is {p[3]:.2f}, and the loss is {-p[3].log():.2f}")

# %% [markdown]
# Before the first step every class gets a probability of 0.1, so the loss is $\log 10 \approx 2.30$. Check it before you train: it reveals mistakes that training would hide.
#
# ```{admonition} Broadcasting: which shapes fit?
# :class: tip
#
# $xW^\top$ is (B, 10) and $b$ is (10,), and yet they can be added. Write one shape above the other, aligned on the *right*. Sizes fit if they are equal, or if
# one of them is 1 or missing; that one is repeated. So a table's row sums fit it as (B, 1), which `keepdim=True` gives, but not as (B,). Shapes that fit by accident
# raise no error.
# ```

# %% tags=["mechanism"] mystnb={"figure": {"caption": "A column plus a row is a table. Pale numbers are copies.", "name": "fig-first-steps-shapes"}, "image": {"alt": "A column 10, 20, 30 of shape (3, 1), repeated four times, plus a row 1, 2, 3, 4 of shape (4,), repeated three times, equals a table of shape (3, 4) from 11 to 34."}}
mechanisms.stretched()
plt.show()

# %% [markdown]
# ```{exercise} Cross-entropy from scores
# :label: exercise-cross-entropy
#
# *10 minutes.* Return the loss of {eq}`eq-first-steps-loss` for a batch, without the library's softmax. Your function has to stay correct for scores as
# large as 1000, although $e^{1000}$ overflows to infinity: what happens to the softmax if you subtract the same number from all scores in a row?
# ([Solution](solutions/00_first_steps.ipynb#solution-cross-entropy))
# ```


# %%
def cross_entropy(logits, labels):
    """Shapes: logits (B, n_classes), labels (B,). Returns: one number."""
    raise NotImplementedError


cross_entropy = check("cross_entropy", cross_entropy)

# %%
check.show_reference("cross_entropy")

# %% [markdown]
# ### Which way is down? The gradient
#
# *2 minutes.* Here are the weights again, now with the slopes that PyTorch computed {cite}`paszke2019pytorch`.

# %% tags=["mechanism"] mystnb={"figure": {"caption": "Backwards: the error is the prediction minus the target, and a weight's slope is the error of its class times its pixel.", "name": "fig-first-steps-slopes"}, "image": {"alt": "The same layer. Below the scores, softmax gives 0.03, 0.86, 0.12. The target is 0, 0, 1, so the error is 0.03, 0.86, −0.88. An arrow leads from the error to a framed table of slopes next to the weights: each is the error of its column times the pixel of its row. In the row of pixel 0, which is 0, all slopes are 0."}}
mechanisms.layer(back=True)
plt.show()

# %% [markdown]
# The correct class, 2, was given too low a probability, so its slopes are negative, and a step makes its weights larger. A pixel without ink teaches nothing. After
# one step, our 3 has these errors:

# %%
W, b = walk[1]
error = (three @ W.T + b).softmax(dim=0) - F.one_hot(y[10], 10)
for k in (1, 3, 8):
    print(f"class {k}: error {error[k]:+.2f}")

# %% [markdown]
# Most code calls `loss.backward()`, which *adds* the slopes to whatever is already in `.grad`:

# %%
W = torch.zeros(10, 64, requires_grad=True)
for call in (1, 2):
    F.cross_entropy(x @ W.T, y).backward()
    print(f"after call {call} the slopes have the size {W.grad.norm():.2f}")

# %% [markdown]
# The second size is twice the first, although the slope hasn't changed. So a loop has to clear `.grad` before each step.
#
# With many layers, the chain rule hands the error back, layer by layer. This is **backpropagation** {cite}`rumelhart1986learning`; PyTorch does it for
# [any graph of operations](deeper/00_first_steps.ipynb#deeper-graph).
#
# ## Is it right?
#
# *1 minute.* Your step has to agree with {numref}`fig-first-steps-slopes`, and your loss with the library's. A third
# check [moves one weight a little](deeper/00_first_steps.ipynb#deeper-foot).

# %% tags=["evidence"]
W, b = (v.double() for v in walk[1])
x64, rate = x.double(), 0.5
error = ((x64 @ W.T + b).softmax(dim=1) - F.one_hot(y, 10)) / len(x)  # (B, 10)
by_formula = W - rate * error.T @ x64, b - rate * error.sum(dim=0)
for mine, formula in zip(step(W, b, x64, y, rate), by_formula):
    assert torch.allclose(mine, formula, atol=1e-12)
assert torch.isclose(cross_entropy(x64 @ W.T + b, y), F.cross_entropy(x64 @ W.T + b, y))
print("they agree")

# %% [markdown]
# ## Train it
#
# *3 minutes.* So far, each step has used all 1,221 digits. But the slope of [64 of them](deeper/00_first_steps.ipynb#deeper-minibatch) already points roughly the
# same way. So we cut the data into
# **minibatches**, with a **batch size** of 64, and take a step after each. One pass through all of them is an **epoch**.


# %%
def train(images, labels, epochs=20):
    """Start at 0, and take your steps on 64 digits at a time."""
    W, b = torch.zeros(10, 64), torch.zeros(10)
    for _ in range(epochs):
        for rows in torch.arange(len(images)).split(64):
            W, b = step(W.detach(), b.detach(), images[rows], labels[rows], 1.0)
    return W.detach(), b.detach()


W, b = train(x, y)

# %% [markdown]
# From tomorrow on, the book's `fit` runs this loop, and an **optimiser** takes the steps. Here `fit` uses your loss:

# %%
model = nn.Linear(64, 10)  # the library's dense layer
nn.init.zeros_(model.weight)
nn.init.zeros_(model.bias)
optimiser = torch.optim.SGD(model.parameters(), lr=1.0)
batches = Batches(x, y, batch_size=64)
held_out = Batches(data.validation.images.flatten(1), data.validation.labels, batch_size=216)
history = fit(model, batches, cross_entropy, optimiser, epochs=20, validation=held_out)
print("the same weights:", torch.allclose(model.weight, W, atol=1e-4))

# %% tags=["evidence"] mystnb={"figure": {"caption": "Both losses fall: the training loss, averaged over each epoch, and the validation loss, measured at its end.", "name": "fig-first-steps-history"}, "image": {"alt": "Two curves over 20 epochs fall steeply at first, then slowly."}}
parts = {"training": history.train, "validation": history.validation}
lines = {name: (range(1, 21), part["loss"]) for name, part in parts.items()}
curves(lines, "epoch", "loss").set_xticks([1, 5, 10, 15, 20])
plt.show()

# %% [markdown]
# A model can't be judged on its **training set**: one that [only memorises](deeper/00_first_steps.ipynb#deeper-three) reads all the digits in it correctly, and perhaps no others (**overfitting**).
# We choose the learning rate, and everything else, on the **validation set**. Every choice based on it makes its verdict less trustworthy, so we use the **test set** once, at the end.

# %% tags=["evidence"]
found = {"validation": reads(W, b), "test": reads(W, b, data.test)}
observe(
    "Your model reads {validation:.0%} of the validation digits and {test:.1%} of the test digits.",
    **found,
    holds=min(found.values()) > 0.94 and W.view(10, 8, 8)[0, 3:5, 3:5].max().item() < 0,
)

# %% [markdown]
# ## Look inside
#
# *1 minute.* What do the 650 numbers look like? Each class has a weight for each pixel, so its weights form an image:

# %% tags=["evidence"] mystnb={"figure": {"caption": "Ink on purple speaks for the digit, and ink on orange against it: the weights of each class.", "name": "fig-first-steps-weights"}, "image": {"alt": "Ten images of 8 by 8 pixels in purple and orange. The image of the digit 0 is orange in the middle."}}
image_grid(W.reshape(10, 8, 8), titles=range(10), columns=5, signed=True)
plt.show()

# %% [markdown]
# Ink in the middle counts against a 0. That is the rule we wrote by hand, and the model found it by itself. Each image is a **template**, laid over the digit
# to weigh its ink.
#
# ## Show someone
#
# *1 minute.* Here is one unseen digit of each class, with the model's answer and its probability.

# %% tags=["evidence"] mystnb={"figure": {"caption": "Ten unseen digits, with the model's answers.", "name": "fig-first-steps-sure"}, "image": {"alt": "Ten handwritten digits, from 0 to 9, each with the digit that the model reads and a percentage."}}
first = [int((data.validation.labels == k).nonzero()[0]) for k in range(10)]
sure, said = (data.validation.images[first].flatten(1) @ W.T + b).softmax(dim=1).max(dim=1)
titles = [f"{k}: {p:.0%}" for k, p in zip(said, sure)]
image_grid(data.validation.images[first], titles, columns=5)
plt.show()

# %% [markdown]
# Now draw one yourself: `#` is ink, and `+` is half as much.

# %%
drawn = """
...##...
..#++#..
.....#..
...##...
.....#..
.....#..
..#++#..
...##...
"""
ink = torch.tensor([{".": 0.0, "+": 0.5, "#": 1.0}[dot] for dot in "".join(drawn.split())])
p = (ink @ W.T + b).softmax(dim=0)  # (10,)
print(f"It reads a {p.argmax()}, and is {p.max():.0%} sure.")

# %% [markdown]
# ## Where it breaks
#
# *2 minutes.* Shuffle the pixels of every digit in the same way, and train the same model on the result.

# %% tags=["evidence"] mystnb={"figure": {"caption": "Shuffling the pixels makes digits unreadable: eight digits, before and after.", "name": "fig-first-steps-shuffled"}, "image": {"alt": "Above are eight handwritten digits. Below are the same eight as patterns of scattered grey squares, in which no digit can be seen."}}
torch.manual_seed(0)
order = torch.randperm(64)
image_grid(torch.cat([x[:8], x[:8, order]]).reshape(16, 8, 8), columns=8)
plt.show()

# %% tags=["view"]
guess(
    "To us, shuffled digits are unreadable. How many does the model read after training on them?",
    ["fewer than before", "as many", "more"],
    right="as many",
    because="Exactly as many: a weighted sum doesn't care about the order of its terms. The weights are the old ones, shuffled.",
)

# %%
W_shuffled, b_shuffled = train(x[:, order], y)
print("the old weights, shuffled:", torch.allclose(W_shuffled, W[:, order], atol=1e-4))

# %% [markdown]
# So the model **has no idea which pixels are neighbours**. That has a price. Move our 3 by one pixel, and you will hardly notice.

# %%
places = {"in place": (1, 1), "up": (2, 1), "down": (0, 1), "left": (1, 2), "right": (1, 0)}


def moved(images, top, left):
    """Shapes: (B, 1, 8, 8) to the same, with black at the edge."""
    return F.pad(images, (1, 1, 1, 1))[:, :, top : top + 8, left : left + 8]


# %% tags=["evidence"] mystnb={"figure": {"caption": "A one-pixel move can change the answer: our 3, unmoved and moved in four directions, with the model's answers.", "name": "fig-first-steps-moved"}, "image": {"alt": "Five images of the same 3, in place and moved up, down, left and right by one pixel, and what the model reads in each."}}
ways = torch.cat([moved(data.train.images[10:11], *place) for place in places.values()])
said = (ways.flatten(1) @ W.T + b).argmax(dim=1)
image_grid(ways, [f"{place}: {k}" for place, k in zip(places, said)], columns=5)
plt.show()

# %% tags=["evidence"]
images = [moved(data.validation.images, *place) for place in places.values()]
still = [reads(W, b, data.validation._replace(images=way)) for way in images]
observe(
    "The model reads {all:.0%} of the validation digits in place. Move them by a pixel, and it reads {worst:.0%} to {best:.0%}, depending on the direction.",
    **{"all": still[0], "worst": min(still), "best": max(still[1:])},
    holds=still[0] > 0.94 and max(still[1:]) < 0.5 and said[0] == 3 and (said[1:] != 3).any(),
)

# %% [markdown]
# Each template fits one position, and knows nothing about the next one.
#
# ## Exercises
#
# *As long as you like.* Two more, and a claim put to the test, are on the [deeper page](deeper/00_first_steps.ipynb).
#
# ```{exercise} Predict: a shape that fits by accident
# :label: exercise-silent-shape
#
# *Warm-up, 4 minutes.* A model returns one number for each of 32 examples, as a column: `prediction` is (32, 1). The targets are a row: `target` is (32,).
# `((prediction - target) ** 2).mean()` runs without an error. How many numbers are averaged? ([Solution](solutions/00_first_steps.ipynb#solution-silent-shape))
# ```

# %%
my_size = None

check("silent_shape", my_size)

# %% [markdown]
# ```{exercise} Accuracy over batches
# :label: exercise-honest-count
#
# *Core, 7 minutes.* In batches of 64, 1,221 digits leave a last batch of 5. Given the batches one by one, return the share of all examples whose
# label has the largest score. ([Solution](solutions/00_first_steps.ipynb#solution-honest-count))
# ```


# %%
def accuracy_over(batches):
    """Shapes: each batch is logits (B, n_classes) and labels (B,), where B may differ."""
    raise NotImplementedError


check("honest_count", accuracy_over)

# %% [markdown]
# ## Checklist and tomorrow

# %% tags=["view"]
points = {
    "write a step of gradient descent that trains a network": "gradient_step",
    "turn scores into a loss, safely": "cross_entropy",
    "predict the shape of a result before you run the line": "silent_shape",
    "judge what a model has learned": "honest_count",
}
checklist({point: [id] for point, id in points.items()})

# %% [markdown]
# That is how a program finds 650 numbers: downhill, step by step. The same loop trains the Transformer of Day 6. **Tomorrow** the model gets
# eyes: a convolution, one small template used *everywhere* in the image.
#
# ## Further reading
#
# - {cite:t}`rumelhart1986learning`, four pages that still read well.
# - {cite:t}`goodfellow2016deep`, chapters 4 to 6.
