# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Solutions of Day 0
#
# First come the solutions of [First steps](../00_first_steps.ipynb), then those of its [deeper page](../deeper/00_first_steps.ipynb). Yours may look quite different and still be correct: the check decides.

# %%
import convolution_to_attention  # is `utils` this book's?
import torch
from torch.nn import functional as F

from utils.exercises.first_steps import check

# %% [markdown]
# (solution-gradient-step)=
# ## A gradient descent step
#
# Compute the scores, the loss and its slopes, and take a step against them. `clone` makes copies of our own, so that the given numbers stay as they are, and
# `requires_grad_` asks autograd to keep track of them. The new `W` starts from `W.detach()`, because the step isn't part of the model, and the next slopes
# should not be carried back through it.


# %%
def step(W, b, x, labels, learning_rate):
    W, b = W.clone().requires_grad_(), b.clone().requires_grad_()
    loss = F.cross_entropy(x @ W.T + b, labels)
    slope_W, slope_b = torch.autograd.grad(loss, (W, b))
    return W.detach() - learning_rate * slope_W, b.detach() - learning_rate * slope_b


step = check("gradient_step", step)

# %% [markdown]
# It works without autograd, too. The slope with respect to the scores is the prediction minus the target, divided by the number of digits. Multiply it by
# the pixels, sum over the digits, and you have the slope of $W$.


# %%
def by_the_error(W, b, x, labels, learning_rate):
    p = (x @ W.T + b).softmax(dim=1)  # (B, n_classes)
    error = (p - F.one_hot(labels, len(b))) / len(x)
    return W - learning_rate * error.T @ x, b - learning_rate * error.sum(dim=0)


torch.manual_seed(0)
task = torch.randn(10, 64), torch.randn(10), torch.randn(5, 64), torch.randint(10, (5,)), 0.5
for mine, formula in zip(step(*task), by_the_error(*task)):
    assert torch.allclose(mine, formula, atol=1e-5)
print("both steps lead to the same place")

# %% [markdown]
# (solution-cross-entropy)=
# ## Cross-entropy from scores
#
# If you subtract the same number $m$ from all logits in a row, then $e^{z_k - m} = e^{z_k} e^{-m}$,
# and the factor $e^{-m}$ cancels between the numerator and the denominator of the softmax. So we may
# subtract the largest logit. Then the largest power is $e^0 = 1$. Nothing overflows, and the sum is at
# least 1, so its logarithm is safe, too.
#
# The second idea is to avoid $p$ altogether. A probability of $e^{-1000}$ is rounded to 0, and
# $\log 0$ is $-\infty$. But
#
# $$
# \log p_k = (z_k - m) - \log \sum_j e^{z_j - m}
# $$
#
# never forms that tiny number.


# %%
def cross_entropy(logits: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
    """Return the mean over the batch of -log p of the correct class, safe for large logits.

    Shapes: logits (B, n_classes), labels (B,), int64. Returns: one number.
    """
    shifted = logits - logits.amax(dim=1, keepdim=True)  # (B, n_classes), the largest is 0
    log_p = shifted - shifted.exp().sum(dim=1, keepdim=True).log()
    return -log_p[torch.arange(len(labels)), labels].mean()


cross_entropy = check("cross_entropy", cross_entropy)

# %% [markdown]
# `keepdim=True` keeps the summed axis, with size 1: (B, 1) is repeated over the classes, as it
# should be. Without it the shape is (B,), and broadcasting would lay it along the classes,
# which is {numref}`exercise-silent-shape` again. The last line picks column $y_i$ from row $i$.
#
# With a logit of 1000, the textbook formula breaks in two ways:

# %%
large = torch.tensor([[1000.0, 0.0]])
p = large.exp() / large.exp().sum(dim=1, keepdim=True)
print("log p through exp:    ", p.log().tolist())
print("log p through softmax:", large.softmax(dim=1).log().tolist())
print("our loss for class 1: ", cross_entropy(large, torch.tensor([1])).item())

# %% [markdown]
# Through the powers, class 0 gets `nan`, which is not a number at all. The library's softmax subtracts
# the largest logit first, but its logarithm is still minus infinity for class 1, where −1000 would
# be correct. Our loss, 1000, is correct. The library's `F.cross_entropy` computes it in the same way. That is
# why it wants logits, and why a model in this book has no softmax at its end.

# %% [markdown]
# (solution-silent-shape)=
# ## A shape that fits by accident
#
# Write one shape above the other, aligned on the right:
#
# | tensor | axis 0 | axis 1 |
# | --- | --- | --- |
# | `prediction` | 32 | 1 |
# | `target` | missing | 32 |
# | difference | 32 | 32 |
#
# The column is repeated 32 times, and so is the row. So *every* prediction is compared with
# *every* target, and 32 · 32 = 1024 numbers are averaged.

# %%
prediction = 32 * 32
check("silent_shape", prediction)

# %% [markdown]
# How bad is that? Take predictions that are all perfect. Their error should be 0.

# %%
target = torch.arange(32.0)
column = target.unsqueeze(1)  # (32, 1): a perfect prediction of each target
print("column minus row:   ", ((column - target) ** 2).mean().item())
print("column minus column:", ((column - target.unsqueeze(1)) ** 2).mean().item())

# %% [markdown]
# The wrong line punishes perfect predictions with an error of 170.5. What does training do with that? We let
# the predictions walk downhill on this loss.

# %%
column.requires_grad_()
for _ in range(100):
    (gradient,) = torch.autograd.grad(((column - target) ** 2).mean(), column)
    column.data -= 5 * gradient
print(f"smallest prediction {column.min():.1f}, largest {column.max():.1f}")
print(f"mean of the targets {target.mean():.1f}")

# %% [markdown]
# The model predicts the mean for every example, and nothing in the program complains. The cure is a
# habit: before you subtract, know both shapes, or assert them.

# %% [markdown]
# (solution-honest-count)=
# ## Accuracy over batches
#
# Count the correct answers, count the examples, and divide at the very end. The mean of the
# batches' accuracies is something else: it gives the few examples of the last batch as much weight
# as a full batch.


# %%
def accuracy_over(batches: list[tuple[torch.Tensor, torch.Tensor]]) -> float:
    """Return the share of all examples whose label has the largest logit.

    Shapes: each batch is logits (B, n_classes) and labels (B,), where B may differ.
    """
    right = sum(int((logits.argmax(dim=1) == labels).sum()) for logits, labels in batches)
    return right / sum(len(labels) for _, labels in batches)


check("honest_count", accuracy_over)

# %% [markdown]
# How much does it matter? In the lesson there were 1221 digits in batches of 64, and the last batch had
# 5. Suppose a model errs on one of those five and on nothing else.

# %%
always_0 = torch.eye(10)[0]  # logits that predict 0
full = always_0.expand(64, 10), torch.zeros(64)
last = always_0.expand(5, 10), torch.tensor([0, 0, 0, 0, 1])
batches = [full] * 19 + [last]
share = accuracy_over(batches)
mean_of_shares = sum(accuracy_over([batch]) for batch in batches) / len(batches)
for name, result in [("of all examples", share), ("mean over the batches", mean_of_shares)]:
    print(f"{name}: {result:.2%}, as with {1221 * (1 - result):.0f} wrong")

# %% [markdown]
# One error in 1221 looks like twelve. `fit` and `evaluate` count each example once.

# %% [markdown]
# (solution-two-roads-back)=
# ## The chain rule along two paths
#
# Forwards: $z = wx + b$, then $h = \max(z, 0)$, $\hat y = wh$ and $L = (\hat y - y)^2$. Backwards,
# from the right:
#
# - The square gives $\partial L / \partial \hat y = 2 (\hat y - y)$. Call it $e$.
# - The product $\hat y = w h$ passes $e$ on, times the other factor: $e h$ goes to $w$, which is the
#   **first road**, and $e w$ goes to $h$.
# - The ReLU has slope 1 where $z$ is positive and 0 where it is negative. It works like a gate: it
#   lets $e w$ through to $z$, or nothing.
# - The product $w x$ passes the slope at $z$ on to $w$, times $x$: the **second road**. The sum
#   passes it on to $b$ as it is.


# %%
def backward(x: float, w: float, b: float, y: float) -> tuple[float, float]:
    """Return dL/dw and dL/db, by the chain rule and without autograd."""
    z = w * x + b
    h = max(z, 0.0)
    e = 2 * (w * h - y)  # dL/dŷ
    dz = e * w if z > 0 else 0.0  # through the gate, or not
    return e * h + dz * x, dz  # the two roads to w add up


check("two_roads_back", backward)

# %% [markdown]
# Autograd takes the same roads. Here is a case with an open gate, and one with a closed gate:

# %%
for x in (3.0, -3.0):
    w, b = torch.tensor(1.0, requires_grad=True), torch.tensor(-1.0, requires_grad=True)
    ((w * F.relu(w * x + b) + 4) ** 2).backward()  # the target is y = -4
    print(f"x = {x}: by autograd {(w.grad.item(), b.grad.item())}", end=", ")
    print(f"by hand {backward(x, 1.0, -1.0, -4.0)}")

# %% [markdown]
# With the gate closed, nothing moves the loss, so nothing is learned from this example. A ReLU
# whose gate is closed for *every* example is called dead.

# %% [markdown]
# (solution-momentum)=
# ## Momentum
#
# The four steps of the lesson's loop are all here. `torch.autograd.grad` returns the gradient
# instead of adding it to `.grad`, so there is nothing to clear. The update is done under
# `torch.no_grad()`: it changes a weight that autograd keeps track of, but isn't part of the model.
# And `clone` makes a copy of our own, so that the given weight stays as it is.


# %%
def train_with_momentum(
    W: torch.Tensor,
    x: torch.Tensor,
    labels: torch.Tensor,
    learning_rate: float,
    momentum: float,
    steps: int,
) -> torch.Tensor:
    """Return W after `steps` steps.

    Shapes: W (n_classes, n_pixels), x (B, n_pixels), labels (B,).
    """
    W = W.clone().requires_grad_()
    velocity = torch.zeros_like(W)
    for _ in range(steps):
        loss = F.cross_entropy(x @ W.T, labels)
        (gradient,) = torch.autograd.grad(loss, W)
        with torch.no_grad():
            velocity = momentum * velocity + gradient
            W -= learning_rate * velocity
    return W.detach()


check("momentum", train_with_momentum)

# %% [markdown]
# `torch.optim.SGD(..., momentum=...)` does the same, so we compare.

# %%
torch.manual_seed(0)
x, labels = torch.randn(6, 4), torch.randint(3, (6,))
W = torch.zeros(3, 4, requires_grad=True)
optimiser = torch.optim.SGD([W], lr=0.2, momentum=0.9)
for _ in range(10):
    optimiser.zero_grad()
    F.cross_entropy(x @ W.T, labels).backward()
    optimiser.step()
ours = train_with_momentum(torch.zeros(3, 4), x, labels, 0.2, 0.9, 10)
assert torch.allclose(ours, W, atol=1e-5)
print("ten steps agree with the library's optimiser")

# %% [markdown]
# What is momentum good for? Take a narrow valley, 50 times steeper across than along: $L =
# \tfrac12 (r^2 + 50 s^2)$. The walker and the ball start at (1, 1), with the same learning rate.


# %%
def steps_down(momentum: float) -> int:
    """Count the steps until the loss has fallen below a millionth."""
    place, velocity = torch.ones(2), torch.zeros(2)
    steepness, steps = torch.tensor([1.0, 50.0]), 0
    while (steepness * place**2).sum() / 2 > 1e-6:
        velocity = momentum * velocity + steepness * place  # the gradient of the loss
        place = place - 0.03 * velocity
        steps += 1
    return steps


print("walker:", steps_down(0.0), "steps;  ball:", steps_down(0.8), "steps")

# %% [markdown]
# Across the valley, the slope keeps changing sign, as in the right panel of
# {numref}`fig-first-steps-hill`. That keeps the walker's learning rate below 2/50, or each step
# would leap farther than the last, and with so small a rate it takes many steps along the valley. The
# ball's steps cancel out across the valley and add up along it.
