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
# After today you can
#
# - write a step of gradient descent that trains a network,
# - turn scores into a loss, safely,
# - say the shape of a result before you run the line,
# - judge what was learned.
#
# You need to know what a derivative and a matrix product are. If you have trained a network in PyTorch before, go straight to
# [Day 1](01_convolution.ipynb). It takes 25 minutes to read, and 15 to write two functions. What you wrote is what is trained, and at the end
# it reads a digit that you draw.
#
# Run each cell with Shift+Enter, from the top.

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
# *2 minutes.* People wrote these digits; they were scanned and shrunk to 8 by 8 pixels {cite}`alpaydin1998optical`.

# %% tags=["evidence"] mystnb={"figure": {"caption": "Sixteen digits of the training set, each with its label.", "name": "fig-first-steps-digits"}, "image": {"alt": "Two rows of eight small, blurred handwritten digits, white on black, each with the right digit written above it."}}
data = digits()
image_grid(data.train.images[:16], titles=data.train.labels[:16])
plt.show()

# %% [markdown]
# You read nearly all. Could you write down how? A 1 has ink in the middle, where a 0 has a hole. An 8 has ink on the left, where a 3
# has a gap.


# %% tags=["evidence"]
def best_rule(first: int, second: int, rows: slice, columns: slice) -> float:
    """Share right if two digits are told apart by the ink in one place, at the best threshold."""
    chosen = (data.train.labels == first) | (data.train.labels == second)
    ink = data.train.images[chosen, 0, rows, columns].mean(dim=(1, 2))
    is_second = data.train.labels[chosen] == second
    return max(((ink > t / 20) == is_second).double().mean().item() for t in range(20))


# %% tags=["evidence"]
hole, gap = best_rule(0, 1, slice(3, 5), slice(3, 5)), best_rule(3, 8, slice(2, 4), slice(1, 3))
tried = max(best_rule(3, 8, slice(i, i + 2), slice(j, j + 2)) for i in range(7) for j in range(7))
observe(
    "The rule for 0 and 1 is right for {hole:.0%} of them, the one for 3 and 8 for {gap:.0%}. The best place for them gets {tried:.0%}.",
    hole=hole,
    gap=gap,
    tried=tried,
    holds=hole > 0.95 and gap < 0.8 and tried > 0.9,
)

# %% [markdown]
# We didn't know that place: the examples named it. And there are 45 pairs. We can't say how we read, so we let the examples say it.
#
# ## The idea
#
# *2 minutes.* Leave the numbers in the model open: its **parameters** or weights. Say with one number how wrong it is: the **loss**. Then
# change each parameter a little, in the direction in which the loss falls. Repeat.

# %% tags=["mechanism"] mystnb={"figure": {"caption": "The loop that trains every network in this book.", "name": "fig-first-steps-loop"}, "image": {"alt": "Four boxes in a row, joined by arrows: forward, scores; loss, how wrong?; backward, which way is down?; step, new numbers. An arrow from the last back to the first says: again."}}
mechanisms.loop()
plt.show()

# %% [markdown]
# It is a walk downhill in thick fog: you don't see the valley, but your foot feels the slope.
#
# ## Step by step
#
# ### Ten scores
#
# *4 minutes.* The model sees an image as 64 numbers in a row. This 3 goes with us:

# %%
x, y = data.train.images.flatten(start_dim=1), data.train.labels  # (B, 1, 8, 8) to (B, 64)
three = x[10]
print((16 * three).int().view(8, 8), "is a", y[10].item())

# %% [markdown]
# For each class it sums up all pixels, each times a weight, and adds a constant, the **bias**. That is the class's score, or **logit**:
#
# $$
# z = x W^\top + b .
# $$ (eq-first-steps-logits)
#
# For $B$ images, $x$ is (B, 64), $W$ (10, 64), $b$ (10,) and $z$ (B, 10).

# %% tags=["mechanism"] mystnb={"figure": {"caption": "A **dense** layer with four pixels and three classes: each score sums all pixels, with weights of its own.", "name": "fig-first-steps-layer"}, "image": {"alt": "On the left a column of four pixels, 0, 1, 0.5, 1, in blue. Arrows lead to a table of weights with four rows and a column for each of the classes 0, 1, 2. Below it stand the three scores −1, 2.5, 0.5. The column of class 1 and its score are framed: 0·−1 + 1·1 + 0.5·1 + 1·1."}}
mechanisms.layer()
plt.show()

# %% [markdown]
# ### A step downhill
#
# *8 minutes, most of them yours.* The **slope**, or gradient, says how fast the loss $\mathcal L$ rises with a weight. A step goes against it,
# and the **learning rate** $\eta$ says how far:
#
# $$
# \begin{aligned}
# W &\leftarrow W - \eta\, \frac{\partial \mathcal{L}}{\partial W} , \\
# b &\leftarrow b - \eta\, \frac{\partial \mathcal{L}}{\partial b} .
# \end{aligned}
# $$ (eq-first-steps-descent)

# %% tags=["mechanism"] mystnb={"figure": {"caption": "One step with one weight: the steeper the hill, the longer the step.", "name": "fig-first-steps-step"}, "image": {"alt": "A curve like a bowl: loss over weight w. At a point high on the right a dashed line shows the slope. Below, an arrow leads to the left, step = learning rate times slope, to a point much lower on the curve."}}
mechanisms.one_step()
plt.show()

# %% [markdown]
# **Your turn.** The check names your mistake. Until you begin, the page runs on the book's own step.
#
# ```{exercise} A step downhill
# :label: exercise-gradient-step
#
# *6 minutes.* Compute the scores, the loss and the slopes, and return the new $W$ and $b$. `F.cross_entropy(scores, labels)` is the loss. If you begin with
# `W, b = W.clone().requires_grad_(), b.clone().requires_grad_()`, PyTorch follows both, and `torch.autograd.grad(loss, (W, b))` gives both slopes.
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
# All 650 numbers begin at 0.

# %% tags=["view"]
guess(
    "After a single step, how many digits does it read that it has never seen?",
    ["about 10 %", "about 30 %", "over 80 %"],
    right="over 80 %",
    because="A class's weights are now the average of its digits, less that of all, times about 0.1: a good start.",
)


# %%
def descend(steps, learning_rate=1.0):
    """Begin at 0, and take your steps on all training digits."""
    W, b = torch.zeros(10, 64), torch.zeros(10)
    for _ in range(steps):
        W, b = step(W.detach(), b.detach(), x, y, learning_rate)
    return W.detach(), b.detach()


def reads(W, b, part=data.validation):
    """Share of digits whose largest score is at their label."""
    scores = part.images.flatten(start_dim=1) @ W.T + b
    return (scores.argmax(dim=1) == part.labels).double().mean().item()


# %% tags=["training"]
walk = {steps: descend(steps) for steps in (0, 1, 100)}

# %% tags=["evidence"]
share = [reads(*place) for place in walk.values()]
observe(
    "Before any step it reads {before:.0%} of the validation digits, after one step {one:.0%}, after a hundred {hundred:.0%}.",
    **dict(zip(("before", "one", "hundred"), share)),
    holds=share[0] < 0.15 and share[1] > 0.8 and share[2] > 0.92,
)

# %% [markdown]
# At first all scores are equal, and it says 0 each time. Your function did the rest; nobody told it what a 3 looks like.
#
# ### How far?
#
# *1 minute.* A learning rate of 1 was a choice. With a small one you walk for long. With a large one each step leaps over the valley:

# %% tags=["mechanism"] mystnb={"figure": {"caption": "Four steps down the same valley. Left: into it. Right: out of it, though each step has the right direction.", "name": "fig-first-steps-hill"}, "image": {"alt": "Two bowls with marked points and arrows between them. Left, learning rate 0.2: the points go down one side to the bottom. Right, learning rate 1.1: they jump from side to side and climb."}}
mechanisms.walks()
plt.show()

# %% [markdown]
# When a training goes wrong, look at the learning rate first. ([Four rates, tried](deeper/00_first_steps.ipynb#deeper-rates).)
#
# ### Shapes that fit
#
# *2 minutes.* $xW^\top$ is (B, 10) and $b$ is (10,), and still they were added. That is **broadcasting**: write two shapes above each other, aligned at the
# *right* end. Sizes fit if they are equal, or if one of them is 1 or missing; that one is repeated.

# %% tags=["mechanism"] mystnb={"figure": {"caption": "A column plus a row. Dark: the numbers that are there. Pale: repeated.", "name": "fig-first-steps-shapes"}, "image": {"alt": "A column 10, 20, 30 of shape (3, 1), repeated four times, plus a row 1, 2, 3, 4 of shape (4,), repeated three times, equals a table of shape (3, 4) from 11 to 34."}}
mechanisms.stretched()
plt.show()

# %%
scores = torch.tensor([[2.0, 1.0, -1.0], [0.0, 3.0, 1.0]])  # (2, 3): two images, three classes
print(scores.sum(dim=1).shape)
print(scores.sum(dim=1, keepdim=True).shape)

# %% [markdown]
# Summed over the classes, the scores leave one number per image. As (2, 1) it fits beside the scores; as (2,) it doesn't. Shapes that
# fit by accident are worse, because nothing is raised.
#
# ### How wrong?
#
# *9 minutes, most of them yours.* What was the loss? First, **softmax** turns scores into probabilities: $p_k = e^{z_k} / \sum_j e^{z_j}$. All are positive, and they
# sum to 1. The **cross-entropy** is minus the natural logarithm of what the right class $y_i$ got, averaged over the batch {cite}`goodfellow2016deep`:
#
# $$
# \mathcal{L} = -\frac1B \sum_{i=0}^{B-1} \log p_{i,\,y_i} .
# $$ (eq-first-steps-loss)
#
# Sure and right costs nothing; sure and wrong costs much. Here is our 3:

# %%
for steps, (W, b) in walk.items():
    p = (three @ W.T + b).softmax(dim=0)
    print(f"{steps:3} steps: p of a 3 is {p[3]:.2f}, the loss {-p[3].log():.2f}")

# %% [markdown]
# Without a step all ten classes get 0.1, so the loss is $\log 10 \approx 2.30$. Ask for that number first: it finds mistakes before training hides
# them.
#
# ```{exercise} Cross-entropy from scores
# :label: exercise-cross-entropy
#
# *8 minutes.* Write {eq}`eq-first-steps-loss` for a batch, without the library's softmax. It has to stay right for scores as
# large as 1000, though $e^{1000}$ is infinite: what happens to the softmax if you subtract the same number from all scores of a row?
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
# ### Which way is down?
#
# *4 minutes.* Here is the table of weights again, now with the slopes that you asked PyTorch for {cite}`paszke2019pytorch`.

# %% tags=["mechanism"] mystnb={"figure": {"caption": "Backwards: the error is what was said, minus what should have been said. A weight's slope is the error of its class times its pixel.", "name": "fig-first-steps-slopes"}, "image": {"alt": "The same layer. Below the scores, softmax makes 0.03, 0.86, 0.12. It should say 0, 0, 1, so the error is 0.03, 0.86, −0.88. An arrow leads from the error to a framed table of slopes beside the weights: each is the error of its column times the pixel of its row. In the row of pixel 0, which is 0, all slopes are 0."}}
mechanisms.layer(back=True)
plt.show()

# %% [markdown]
# Class 2 was right and got too little, so its slopes are negative, and a step makes these weights larger. A pixel without ink teaches nothing. Our 3,
# after one step of training:

# %%
W, b = walk[1]
error = (three @ W.T + b).softmax(dim=0) - F.one_hot(y[10], 10)
for k in (1, 3, 8):
    print(f"class {k}: error {error[k]:+.2f}")

# %% [markdown]
# In most code you will see `loss.backward()`. It puts the slopes into `.grad`, and *adds* to what is there:

# %%
W = torch.zeros(10, 64, requires_grad=True)
for call in (1, 2):
    F.cross_entropy(x @ W.T, y).backward()
    print(f"after call {call} the slopes have the size {W.grad.norm():.2f}")

# %% [markdown]
# The second is twice the first, and the slope is what it was. A loop has to empty `.grad` before each step.
#
# Networks with many layers hand the error back, layer by layer, by the chain rule. That is **backpropagation**
# {cite}`rumelhart1986learning`, and PyTorch does it for [any graph of operations](deeper/00_first_steps.ipynb#deeper-graph).
#
# ## Is it right?
#
# *1 minute.* Your step and one by {numref}`fig-first-steps-slopes` have to agree, and so do your loss and the library's. A third way is to
# [move one weight a little](deeper/00_first_steps.ipynb#deeper-foot), and see how much the loss changes.

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
# *4 minutes.* Each step looked at all 1,221 digits. But [64 of them](deeper/00_first_steps.ipynb#deeper-minibatch) already point roughly the same way. So we cut the
# data into **minibatches** of 64 and step after each. Once through all of them is an **epoch**.


# %%
def train(images, labels, epochs=20):
    """Begin at 0, and take your steps on 64 digits at a time."""
    W, b = torch.zeros(10, 64), torch.zeros(10)
    for _ in range(epochs):
        for rows in torch.arange(len(images)).split(64):
            W, b = step(W.detach(), b.detach(), images[rows], labels[rows], 1.0)
    return W.detach(), b.detach()


W, b = train(x, y)

# %% [markdown]
# The other days leave this loop to the book's `fit`, and the step to an optimiser. Here `fit` trains with your loss.

# %%
model = nn.Linear(64, 10)  # the library's dense layer
nn.init.zeros_(model.weight)
nn.init.zeros_(model.bias)
optimiser = torch.optim.SGD(model.parameters(), lr=1.0)
batches = Batches(x, y, batch_size=64)
held_out = Batches(data.validation.images.flatten(1), data.validation.labels, batch_size=216)
history = fit(model, batches, cross_entropy, optimiser, epochs=20, validation=held_out)
print("the same weights:", torch.allclose(model.weight, W, atol=1e-4))

# %% tags=["evidence"] mystnb={"figure": {"caption": "The loss by epoch: training, averaged over it; validation, at its end.", "name": "fig-first-steps-history"}, "image": {"alt": "Two curves that fall steeply in the first epochs and then slowly. At first validation is lower; at the end, validation is a little above training."}}
parts = {"training": history.train, "validation": history.validation}
lines = {name: (range(1, 21), part["loss"]) for name, part in parts.items()}
curves(lines, "epoch", "loss").set_xticks([1, 5, 10, 15, 20])
plt.show()

# %% [markdown]
# **Training** digits can't judge: a model that [only memorises](deeper/00_first_steps.ipynb#deeper-three) reads all of them. **Validation** digits
# are there to choose by, for instance the learning rate. Choosing wears them out, so at the very end, once, we ask the **test** digits.

# %% tags=["evidence"]
found = {"validation": reads(W, b), "test": reads(W, b, data.test)}
observe(
    "It reads {validation:.0%} of the validation digits and {test:.1%} of the test digits.",
    **found,
    holds=min(found.values()) > 0.94,
)

# %% [markdown]
# ## Look inside
#
# *1 minute.* What are the 650 numbers? Each class has a weight for each pixel, so we can look at them as images.

# %% tags=["evidence"] mystnb={"figure": {"caption": "The weights of each class. Purple: ink here speaks for the digit. Orange: against it.", "name": "fig-first-steps-weights"}, "image": {"alt": "Ten images of 8 by 8 pixels in purple and orange. That of the digit 0 is orange in the middle with purple around it."}}
image_grid(W.reshape(10, 8, 8), titles=range(10), columns=5, signed=True)
plt.show()

# %% [markdown]
# In the 0, ink in the middle speaks against it. That is the rule that we wrote by hand, and the model has found it. Each image is a **template**, laid
# on the digit; what lies under it is summed.
#
# ## Show someone
#
# *3 minutes.* The first digit of each class in the validation set: what it reads, and how sure it is.

# %% tags=["evidence"] mystnb={"figure": {"caption": "Ten digits that it has never seen.", "name": "fig-first-steps-sure"}, "image": {"alt": "Ten handwritten digits, from 0 to 9, each with what the model reads and a percentage, nearly all above 75 %."}}
first = [int((data.validation.labels == k).nonzero()[0]) for k in range(10)]
sure, said = (data.validation.images[first].flatten(1) @ W.T + b).softmax(dim=1).max(dim=1)
titles = [f"{k}: {p:.0%}" for k, p in zip(said, sure)]
image_grid(data.validation.images[first], titles, columns=5)
plt.show()

# %% [markdown]
# Now draw one yourself: `#` is ink, `+` is half as much.

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
# *3 minutes.* Shuffle the pixels, in the same way for every digit, and train the same model on them.

# %% tags=["evidence"] mystnb={"figure": {"caption": "Eight digits, and the same with their pixels shuffled.", "name": "fig-first-steps-shuffled"}, "image": {"alt": "Above, eight handwritten digits. Below, the same eight as patterns of scattered grey squares, in which no digit can be seen."}}
torch.manual_seed(0)
order = torch.randperm(64)
image_grid(torch.cat([x[:8], x[:8, order]]).reshape(16, 8, 8), columns=8)
plt.show()

# %% tags=["view"]
guess(
    "To us they are unreadable. How many does the model read after training on them?",
    ["fewer than before", "as many", "more"],
    right="as many",
    because="Exactly as many: a weighted sum doesn't ask in which order it is added up. The weights are the old ones, shuffled.",
)

# %%
W_shuffled, b_shuffled = train(x[:, order], y)
print("the old weights, shuffled:", torch.allclose(W_shuffled, W[:, order], atol=1e-4))

# %% [markdown]
# So the model **has no idea which pixels are neighbours**. That has a price. Move our 3 by one pixel; you would hardly notice.

# %%
places = {"in place": (1, 1), "up": (2, 1), "down": (0, 1), "left": (1, 2), "right": (1, 0)}


def moved(images, top, left):
    """Shapes: (B, 1, 8, 8) to the same, with black at the edge."""
    return F.pad(images, (1, 1, 1, 1))[:, :, top : top + 8, left : left + 8]


# %% tags=["evidence"] mystnb={"figure": {"caption": "The 3 of the day, in place and moved by one pixel: what the model reads.", "name": "fig-first-steps-moved"}, "image": {"alt": "Five images of the same 3, in place and moved up, down, left and right by one pixel. Only in place and moved right is it read as a 3."}}
ways = torch.cat([moved(data.train.images[10:11], *place) for place in places.values()])
said = (ways.flatten(1) @ W.T + b).argmax(dim=1)
image_grid(ways, [f"{place}: {k}" for place, k in zip(places, said)], columns=5)
plt.show()

# %% tags=["evidence"]
images = [moved(data.validation.images, *place) for place in places.values()]
still = [reads(W, b, data.validation._replace(images=way)) for way in images]
observe(
    "In place, {all:.0%} of the validation digits are read; moved by one pixel, {worst:.0%} to {best:.0%}.",
    **{"all": still[0], "worst": min(still), "best": max(still[1:])},
    holds=still[0] > 0.94 and max(still[1:]) < 0.5,
)

# %% [markdown]
# Each template is right for one place, and knows nothing of the place beside it.
#
# ## Exercises
#
# *As long as you like.* Two more, and a claim that is measured, are on the [deeper page](deeper/00_first_steps.ipynb).
#
# ```{exercise} Predict: a shape that fits by accident
# :label: exercise-silent-shape
#
# *Warm-up, 2 minutes.* A model gives one number for each of 32 examples, as a column: `prediction` is (32, 1). The right answers are a row: `target`
# is (32,). `((prediction - target) ** 2).mean()` runs. How many numbers were averaged? ([Solution](solutions/00_first_steps.ipynb#solution-silent-shape))
# ```

# %%
my_size = None

check("silent_shape", my_size)

# %% [markdown]
# ```{exercise} An honest count
# :label: exercise-honest-count
#
# *Core, 5 minutes.* In batches of 64, 1,221 digits leave a last one with 5. Given the batches one by one, compute the share of all examples whose
# largest score is at their label. ([Solution](solutions/00_first_steps.ipynb#solution-honest-count))
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
    "say the shape of a result before you run the line": "silent_shape",
    "judge what was learned": "honest_count",
}
checklist({point: [id] for point, id in points.items()})

# %% [markdown]
# The Transformer of Day 6 is trained by the same loop. What changes is the model. **Tomorrow** it gets eyes: one small template, used *everywhere* in the
# image. That is a convolution.
#
# ## Further reading
#
# - {cite:t}`rumelhart1986learning`, four pages that read well today.
# - {cite:t}`goodfellow2016deep`, chapters 4 to 6.
