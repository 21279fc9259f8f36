# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Day 0, deeper: First steps
#
# This page goes beyond [Day 0](../00_first_steps.ipynb). The sections are independent, so begin with the question that interests you most. What they
# share comes first: imports, the digits, and the lesson's model.

# %% tags=["setup"]
import convolution_to_attention  # is `utils` this book's?

import matplotlib.pyplot as plt
import torch
from torch import nn
from torch.nn import functional as F

from utils.data.batches import Batches
from utils.data.pictures import digits
from utils.exercises.first_steps import check
from utils.measure.claims import claim
from utils.show.display import observe, show_source, table
from utils.show.mechanisms import first_steps as mechanisms
from utils.show.plotting import curves, image_grid, use_book_style
from utils.training.loop import fit, train_epoch

use_book_style()

# %% tags=["training"]
data = digits()
x, y = data.train.images.flatten(start_dim=1), data.train.labels
x_validation, y_validation = data.validation.images.flatten(1), data.validation.labels


def trained(learning_rate: float, epochs: int = 20):
    """The lesson's model, from zeros, and its history."""
    model = nn.Linear(64, 10)
    nn.init.zeros_(model.weight)
    nn.init.zeros_(model.bias)
    optimiser = torch.optim.SGD(model.parameters(), lr=learning_rate)
    batches = Batches(x, y, batch_size=64)
    return model, fit(model, batches, nn.CrossEntropyLoss(), optimiser, epochs=epochs)


model, history = trained(1.0)

# %% [markdown]
# (deeper-graph)=
# ## Backpropagation: how does a slope come back through a graph?
#
# *6 minutes.* The lesson's network had one layer, and its slopes had a formula. What if there are many operations, one after another and side by side? Take the
# smallest case. A model predicts $\hat y = wx + b$, and the target is $y$. The loss is the squared error, and on top of it we charge the weight a small rent,
# $\tfrac12 w^2$, which keeps it from growing needlessly. So $w$ reaches the loss by two roads.
#
# Each number that we compute is a node of a **graph**. Forwards, from left to right, we compute the values in the boxes. Backwards, from right to left, we ask
# each node: *if you grew a little, how much would $L$ grow?*

# %% tags=["mechanism"] mystnb={"figure": {"caption": "Slopes come back along both roads, and add up at w: the graph of L = (wx + b − y)² + ½w². In each box is a value, computed from left to right; below it is the slope of L with respect to that value, computed from right to left.", "name": "fig-first-steps-graph"}, "image": {"alt": "A graph. w = 2 and x = 3 lead to wx = 6, this and b = −1 to ŷ = 5, this and y = 4 to e = 1, then e² = 1, then L = 3. A second road leads from w over ½w² = 2 to L. The slopes are 1 at L, e² and ½w², 2 at e, ŷ, b and wx, and 6 + 2 = 8 at w."}}
mechanisms.graph()
plt.show()

# %% [markdown]
# Read it from the right. $L$ grows as fast as itself: 1. A sum passes its slope on unchanged, so $e^2$ and $\tfrac12 w^2$ get 1 each. The square has the slope
# $2e = 2$. Adding $b$ and subtracting $y$ leave the slope as it is, so 2 also reaches $\hat y$, $b$ and $wx$. The product passes its slope on times *the other factor*:
# $2 \cdot x = 6$ reaches $w$ on the upper road. On the lower one, the slope of $\tfrac12 w^2$ is $w = 2$.
#
# This is the **chain rule**. If $w$ moves $u$ and $v$, and both move the loss, then slopes are multiplied along each road, and the roads are added up:
#
# $$
# \frac{\partial L}{\partial w} =
# \frac{\partial L}{\partial u} \frac{\partial u}{\partial w} +
# \frac{\partial L}{\partial v} \frac{\partial v}{\partial w} .
# $$ (eq-first-steps-chain)
#
# PyTorch draws the same graph behind your back while you compute {cite}`paszke2019pytorch`. `backward` walks through it from right to left:

# %%
w = torch.tensor(2.0, requires_grad=True)  # "keep track of this one"
b = torch.tensor(-1.0, requires_grad=True)
L = (w * 3 + b - 4) ** 2 + w**2 / 2
L.backward()
print("L =", L.item(), " dL/dw =", w.grad.item(), " dL/db =", b.grad.item())

# %% [markdown]
# The numbers are the same: 3, 8 and 2. This is **backpropagation** {cite}`rumelhart1986learning`: one backward pass gives the slope in *every* direction, for the price of a
# few forward passes {cite}`baydin2018automatic`. Nudging the weights one by one would take a forward pass for each of them.

# %% [markdown]
# (deeper-foot)=
# ## Finite differences: is a smaller step more exact?
#
# *6 minutes.* To feel a slope with your foot, move one weight by a small $h$ and see how much the loss changes: $f'(z) \approx (f(z + h) - f(z)) / h$. That is a **finite
# difference**. It needs no calculus, so it would also find a mistake in a formula. How small should $h$ be?
#
# First, what counts as small? All numbers in a tensor have the same type. Networks compute with `float32`, and we check with `float64`. The gap between 1 and the next larger
# number is called *epsilon*:

# %%
for dtype in (torch.float32, torch.float64):
    one = torch.tensor(1.0, dtype=dtype)
    same = bool(one + 1e-8 == one)
    print(f"{dtype}: epsilon {torch.finfo(dtype).eps:.1e}, 1 + 1e-8 == 1 is {same}")

# %% [markdown]
# Now take the loss of three scores, 2, 1 and −1, where class 0 is correct. We move the first score, and know the true slope from the formula: $p_0 - 1$.


# %%
def finite_difference_error(h: float, dtype: torch.dtype) -> float:
    """How far (f(z + h) - f(z)) / h is from the slope, as a share of the slope."""
    z, right_class = torch.tensor([[2.0, 1.0, -1.0]], dtype=dtype), torch.tensor([0])
    moved = z + torch.tensor([h, 0.0, 0.0], dtype=dtype)
    rise = F.cross_entropy(moved, right_class) - F.cross_entropy(z, right_class)
    truth = z.double().softmax(dim=1)[0, 0].item() - 1
    return abs(rise.item() / h - truth) / abs(truth)


# %% tags=["evidence"] mystnb={"figure": {"caption": "A smaller step is more exact, up to a point: error of a finite difference as a share of the true slope, by the size of the step. An error of 1 means that the difference was 0.", "name": "fig-first-steps-difference"}, "image": {"alt": "Two curves in a picture with logarithmic axes. From the right, both fall as the step gets smaller. float32 turns up again near a step of 0.001, float64 near 1e-8; at the left end both have an error of about 1."}}
exponents = range(1, 17)
single = {k: finite_difference_error(10.0**-k, torch.float32) for k in exponents}
double = {k: finite_difference_error(10.0**-k, torch.float64) for k in exponents}
sizes = [10.0**-k for k in exponents]
lines = {"float32": (sizes, [*single.values()]), "float64": (sizes, [*double.values()])}
curves(lines, "step h", "error, as a share of the slope", logx=True, logy=True)
plt.show()

# %% [markdown]
# (claim-start-1)=

# %% tags=["evidence"]
assert all(double[k] > 5 * double[k + 1] for k in range(1, 6))
assert all(single[k] == 1 for k in range(7, 17))  # the difference is 0
claim(
    "start-1",
    "Yes, if it isn't too small: in float64 the error is {coarse:.0e} at 1e-4, {best:.0e} at 1e-8 and {fine:.0e} at 1e-12.",
    coarse=double[4],
    best=double[8],
    fine=double[12],
    holds=lambda coarse, best, fine: 100 * best < min(coarse, fine),
    scale="one slope of the loss of three scores",
)

# %% [markdown]
# Two errors are at work. One comes from the curve, which bends between $z$ and $z + h$: the smaller the step, the smaller this error. The other is rounding: as $h$ shrinks, $f(z + h)$ and
# $f(z)$ agree in more and more digits. So only the last, rounded ones are left in their difference, and dividing by $h$ blows those up. In `float32`, $2 + 10^{-7}$ is 2, and the
# difference is 0. Autograd takes no step, so it doesn't have this problem. So when we check its gradients, we use `float64`, and a step that is small, but not too small:

# %%
W, b = model.weight.detach().double(), model.bias.detach().double()
(slope,) = torch.autograd.grad(F.cross_entropy(x.double() @ W.requires_grad_().T + b, y), W)
with torch.no_grad():
    nudge = torch.zeros_like(W)
    nudge[3, 20] = 1e-5
    above, below = (F.cross_entropy(x.double() @ (W + n).T + b, y) for n in (nudge, -nudge))
assert torch.isclose(slope[3, 20], (above - below) / 2e-5, rtol=1e-6)
print("autograd and the foot agree")

# %% [markdown]
# (deeper-rates)=
# ## Which learning rate?
#
# *2 minutes.* The learning rate is not learned: we choose it. Such a number is called a **hyperparameter**. How much does it matter? We try four rates, and count correct answers
# on the training digits and on the validation digits. As a **baseline**, we always answer with the digit that is most common in the training set.


# %% tags=["evidence"]
def count_right(model, images, labels) -> int:
    """How many images have the largest score at their label."""
    with torch.no_grad():
        return int((model(images).argmax(dim=1) == labels).sum())


# %% tags=["evidence", "training"]
rates, right = (0.01, 0.1, 1.0, 10.0), {"training": [], "validation": []}
for rate in rates:
    other, _ = trained(rate)
    right["training"].append(count_right(other, x, y) / len(y))
    right["validation"].append(count_right(other, x_validation, y_validation) / len(y_validation))
commonest = y.bincount().argmax()
baseline = (y_validation == commonest).double().mean().item()

# %% tags=["evidence"] mystnb={"figure": {"caption": "On the validation digits, a learning rate above 1 hardly helps: share of digits read correctly after 20 epochs.", "name": "fig-first-steps-rates"}, "image": {"alt": "Two rising curves over four learning rates. Both begin below 90 percent at 0.01. On the training digits the curve rises to 98 percent at 10; on the validation digits it is flat from 1 on, at 96 percent."}}
curves(
    {part: (rates, shares) for part, shares in right.items()},
    "learning rate",
    "share correct",
    logx=True,
)
plt.show()

# %% tags=["evidence"]
observe(
    "With a rate of 0.01 the model reads {slow:.0%} of the validation digits, with a rate of 1 it reads {usual:.0%}, and with 10 it reads {fast:.0%}. Always answering with the most common digit is correct for {same:.0%}.",
    slow=right["validation"][0],
    usual=right["validation"][2],
    fast=right["validation"][3],
    same=baseline,
    holds=right["validation"][0] + 0.03 < right["validation"][2]
    and abs(right["validation"][3] - right["validation"][2]) < 0.03
    and right["training"][2] < right["training"][3]
    and baseline < 0.2,
)

# %% [markdown]
# With a rate of 0.01, the walk is still on its way down after 20 epochs. With 10, it has got furthest on the training digits. But on the validation digits, by which we choose,
# it does about as well as with 1.

# %% [markdown]
# (deeper-minibatch)=
# ## Minibatches: do 64 digits know the way?
#
# *2 minutes.* A step on all 1,221 digits is exact and slow. How well do 64 digits point downhill? We take the cosine between their slopes and those of all digits: 1 is the
# same direction, and 0 is a right angle.

# %%
W = torch.zeros(10, 64, requires_grad=True)
(slope,) = torch.autograd.grad(F.cross_entropy(x @ W.T, y), W)
agreement = []
for part in torch.arange(len(x)).split(64):
    (rough,) = torch.autograd.grad(F.cross_entropy(x[part] @ W.T, y[part]), W)
    agreement.append(F.cosine_similarity(rough.flatten(), slope.flatten(), dim=0))
print(f"{len(agreement)} batches, mean cosine {torch.stack(agreement).mean():.1f}")

# %% [markdown]
# They point roughly the same way, for about a twentieth of the work. So which gets further: twenty rough steps, or one exact step?

# %% tags=["evidence"]
by_rough, _ = trained(1.0, epochs=1)
with torch.no_grad():
    rough = F.cross_entropy(by_rough(x_validation), y_validation).item()
exact = F.cross_entropy(x_validation @ -slope.T, y_validation).item()
observe(
    "The rough steps of one epoch bring the validation loss from 2.30 down to {rough:.2f}; one exact step brings it only to {exact:.2f}.",
    rough=rough,
    exact=exact,
    holds=rough < 1 and exact > 2,
)

# %% [markdown]
# The work was the same: both looked at each of the 1,221 digits once.

# %% [markdown]
# ## What does `fit` do in an epoch?
#
# *3 minutes.* The lesson's loop had four parts: forward, loss, backward, step. Where are they in the book's `fit`? This is one of its epochs:

# %%
show_source(train_epoch)

# %% [markdown]
# They are all there. `zero_grad` clears the old slopes just before the new ones arrive, since `backward` *adds* to `.grad`. The lines around the four parts watch for a loss
# that isn't a number, keep count, and let you stop. `fit` adds a progress bar, and a record of each epoch. The lesson compared its weights with those of the loop. Now
# we compare the layer in three forms: as a plain loop, as a matrix product, and as the library's `nn.Linear`.

# %%
W, b = model.weight.detach(), model.bias.detach()
by_loop = torch.stack([sum(x[0, d] * W[k, d] for d in range(64)) + b[k] for k in range(10)])
with torch.no_grad():
    assert torch.allclose(by_loop, (x @ W.T + b)[0], atol=1e-5)
    assert torch.allclose(x @ W.T + b, model(x), atol=1e-5)
print("they agree, after", len(history.step_loss), "steps")

# %% [markdown]
# (deeper-three)=
# ## Training, validation, test: why three kinds of data?
#
# *5 minutes.* Why can't the training digits judge? Take a model that only memorises: for a new image, it looks up the most similar training image and returns its
# label. And to make sure that there is nothing to understand, we deal out the labels at random.

# %% tags=["evidence"]
torch.manual_seed(2)
nonsense = y[torch.randperm(len(y))]  # the labels, dealt out at random
itself = torch.cdist(x, x).argmin(dim=1)  # (1221,): the most similar training image
alike = torch.cdist(x_validation, x).argmin(dim=1)  # (216,)
rows = []
for name, memory in [("nonsense", nonsense), ("the true ones", y)]:
    on_training = int((memory[itself] == memory).sum())
    rows.append((name, on_training, int((memory[alike] == y_validation).sum())))
table(rows, ("labels", "correct of 1,221 in training", "of 216 in validation"))

# %% [markdown]
# With nonsense for labels, it is perfect on the training digits, and no better than guessing on the validation digits. With the true labels, the same memory is
# a good model, better than ours. But the training digits show no difference: **on them, a memory of nonsense and a good model are both perfect.** So we keep
# **validation** digits apart, and use them to choose the learning rate, the number of epochs and the kind of model.
#
# But every choice makes their verdict less trustworthy. To see that, let a thousand "models" guess blindly, and choose the ten best by their validation accuracy. Then test the same ten on other
# digits. (The training digits will do: a model that only guesses has learned nothing from them.)

# %% tags=["evidence"]
torch.manual_seed(0)
guesses = torch.randint(10, (1000, len(y_validation) + len(y)))
right = guesses == torch.cat([y_validation, y])  # (1000, 216 + 1221)
chosen_by, others = right[:, :216].double().mean(dim=1), right[:, 216:].double().mean(dim=1)
best = chosen_by.argsort(descending=True, stable=True)[:10]
shares = {"all": chosen_by.mean(), "best": chosen_by[best].mean(), "then": others[best].mean()}
shares = {name: share.item() for name, share in shares.items()}
observe(
    "On average, the thousand guess {all:.0%} of the validation digits correctly, and the ten best guess {best:.0%}. On other digits, those ten get {then:.0%}.",
    **shares,
    holds=shares["best"] > 0.15 and shares["then"] < 0.12,
)

# %% [markdown]
# The winners look much better than the rest, and know nothing. Their accuracy is flattering *because* we chose by it. That is what **test** digits are for: we make all
# choices without them, and ask them at the very end, once. How precise is the lesson's test accuracy?

# %% tags=["evidence"]
share = count_right(model, data.test.images.flatten(1), data.test.labels) / len(data.test.labels)
error = (share * (1 - share) / len(data.test.labels)) ** 0.5
observe(
    "The model reads {share:.1%} of the 360 test digits, with a standard error of {error:.1f} percentage points.",
    share=share,
    error=100 * error,
    holds=share > 0.94 and 0.008 < error < 0.013,
)

# %% [markdown]
# So if two models differ by half a point on these digits, don't believe anyone who calls one of them better, us included.
#
# ## Which digits does the model misread?
#
# *2 minutes.* The errors that remain tell you more about a model than its accuracy does. What do they have in common? We look at the validation digits, since looking is where
# choosing begins.

# %% tags=["evidence"] mystnb={"figure": {"caption": "Many of the validation digits that the linear model gets wrong are slanted, thin or cut off: its answer, and the label.", "name": "fig-first-steps-errors"}, "image": {"alt": "Nine small handwritten digits, most of them slanted, thin or cut off, each titled with the model's answer and the label."}}
with torch.no_grad():
    said = model(x_validation).argmax(dim=1)
wrong = said != y_validation
titles = [f"{s}, is {t}" for s, t in zip(said[wrong], y_validation[wrong], strict=True)]
image_grid(data.validation.images[wrong], titles, columns=5)
plt.show()

# %% [markdown]
# Some are hard for you, too. Others are easy, like the two zeros: they are only narrower or more slanted than the template expects. That is a clue for tomorrow.
#
# ## Exercises
#
# *18 minutes.* Which way back, and how fast down? The solutions are on [a page of their own](../solutions/00_first_steps.ipynb).
#
# ```{exercise} The chain rule along two paths
# :label: exercise-two-roads-back
#
# *Core, 8 minutes.* In this small network one weight is used twice: $h = \operatorname{ReLU}(wx + b)$, then $\hat y = wh$, and $L = (\hat y - y)^2$. The ReLU lets positive
# numbers through and turns negative ones into 0. Draw the graph on paper, and carry the slope back by the chain rule, without autograd. (Tomorrow is about a weight that is used at many positions.)
# ([Solution](../solutions/00_first_steps.ipynb#solution-two-roads-back))
# ```


# %%
def backward(x: float, w: float, b: float, y: float):
    """Return dL/dw and dL/db."""
    raise NotImplementedError


check("two_roads_back", backward)

# %% [markdown]
# ```{exercise} Momentum
# :label: exercise-momentum
#
# *Stretch, 10 minutes.* A walker forgets each step. A ball that rolls downhill keeps its speed: that is **momentum**. With a velocity $v$ that starts at 0, each step is
# $v \leftarrow \mu v + \partial \mathcal{L} / \partial W$, then $W \leftarrow W - \eta v$. Write the training loop, with the whole batch in each step, for the model
# $z = x W^\top$ without a bias. The `W` that you are given must stay as it is. You may use autograd and `F.cross_entropy`, but nothing from `torch.optim`.
# ([Solution](../solutions/00_first_steps.ipynb#solution-momentum))
# ```


# %%
def train_with_momentum(W, x, labels, learning_rate: float, momentum: float, steps: int):
    """Return W after `steps` steps.

    Shapes: W (n_classes, n_pixels), x (B, n_pixels), labels (B,).
    """
    raise NotImplementedError


check("momentum", train_with_momentum)

# %% [markdown]
# ## Further reading
#
# *10 minutes.* Where does all this come from?
#
# - {cite:t}`baydin2018automatic` explain automatic differentiation, and how it differs from finite differences and from deriving formulas.
# - {cite:t}`paszke2019pytorch` describe why PyTorch records the graph while it computes.
# - {cite:t}`alpaydin1998optical` collected the digits, and {cite:t}`pedregosa2011scikit` made the library that they come with.
