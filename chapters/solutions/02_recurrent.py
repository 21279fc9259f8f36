# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Solutions of Day 2
#
# First come the solutions of [The recurrent network](../02_recurrent.ipynb), then those of its [deeper page](../deeper/02_recurrent.ipynb). There is more than one correct solution. What matters is that the check passes and that you can
# explain why.

# %%
import convolution_to_attention  # is `utils` this book's?
import math

import torch
from torch import nn
from torch.nn import functional as F

from utils.exercises.recurrent import check
from utils.recurrent import RNN, LanguageModel
from utils.show.display import observe, table

# %% [markdown]
# (solution-one-step)=
# ## One recurrent step
#
# This is the equation with rows instead of columns: each sequence of the batch is a row, and a row is multiplied by the transposed matrix from the right. The bias is added to each row.


# %%
def step(x_t, h, W_x, W_h, b):
    return torch.tanh(x_t @ W_x.T + h @ W_h.T + b)


step = check("one_step", step)

# %% [markdown]
# (solution-whole-sequence)=
# ## The recurrent layer
#
# `new_zeros` returns zeros of the input's type. The states are collected in a list, since writing into a tensor that autograd still needs would break the backward pass.


# %%
def read(x, W_x, W_h, b):
    h, states = x.new_zeros(len(x), len(W_h)), []
    for x_t in x.unbind(dim=1):
        h = step(x_t, h, W_x, W_h, b)
        states.append(h)
    return torch.stack(states, dim=1)


read = check("whole_sequence", read)

# %% [markdown]
# (solution-backpropagation-through-time)=
# ## Backpropagation through time
#
# The loop runs from the last step to the first. `later` is the gradient that the next step has sent back; after the last step it is zero. A state is a row here, so $W_h^\top \delta$ for a column becomes $\delta\, W_h$ for a row.
# The product of $\delta^\top$ and the previous states sums over the batch.


# %%
def back_through_time(states, grad_h, W_h):
    later, grad_W_h, deltas = 0, 0, []
    for t in reversed(range(grad_h.shape[1])):
        delta = (1 - states[:, t + 1] ** 2) * (grad_h[:, t] + later)  # (B, N)
        later = delta @ W_h
        grad_W_h = grad_W_h + delta.T @ states[:, t]
        deltas.append(delta)
    return torch.stack(deltas[::-1], dim=1), grad_W_h


back_through_time = check("backpropagation_through_time", back_through_time)

# %% [markdown]
# Autograd gives the same gradient for the layer in `utils`.

# %%
layer, x, grad_h = RNN(3, 5).double(), torch.randn(2, 7, 3).double(), torch.randn(2, 7, 5).double()
outputs, _ = layer(x)
(outputs * grad_h).sum().backward()
states = F.pad(outputs.detach(), (0, 0, 1, 0))  # the state before the first step is 0
_, ours = back_through_time(states, grad_h, layer.W_h.detach())
print("largest difference below 1e-12:", (ours - layer.W_h.grad).abs().max().item() < 1e-12)

# %% [markdown]
# (solution-gradient-clipping)=
# ## Gradient clipping
#
# Add up the squares over all tensors, take one root, and multiply everything by one factor. For a gradient of zero the quotient is infinite, and the minimum with 1 takes care of that.


# %%
def clip(gradients: list[torch.Tensor], max_norm: float) -> list[torch.Tensor]:
    norm = torch.sqrt(sum((g**2).sum() for g in gradients))
    factor = (max_norm / norm).clamp(max=1)
    return [g * factor for g in gradients]


clip = check("gradient_clipping", clip)

# %% [markdown]
# PyTorch's own function does the same in place, except that it adds a millionth to the length.

# %%
layer = RNN(3, 5)
layer(torch.randn(2, 7, 3))[0].sum().backward()
ours = clip([p.grad.clone() for p in layer.parameters()], max_norm=0.5)
nn.utils.clip_grad_norm_(layer.parameters(), max_norm=0.5)
assert all(torch.allclose(g, p.grad, rtol=1e-4) for g, p in zip(ours, layer.parameters()))

# %% [markdown]
# (solution-recurrent-parameters)=
# ## Count a language model's parameters
#
# The embedding is a table with 50 rows of 16 numbers. The layer has $W_x$, $W_h$ and one bias per unit. The output layer has $W_y$ and a bias for each character.

# %%
my_count = 50 * 16 + (32 * 16 + 32 * 32 + 32) + (50 * 32 + 50)
model = LanguageModel(vocab_size=50, d_model=16, layer=RNN(16, 32))
assert my_count == sum(p.numel() for p in model.parameters())
print(my_count)
check("recurrent_parameters", my_count)

# %% [markdown]
# For a text twice as long the number is the same: the weights are shared over time. PyTorch's own `nn.RNN` has 32 parameters more, because it adds two biases where one would do.

# %% [markdown]
# (solution-mean-surprise)=
# ## Predict: half sure, half lost
#
# Perplexity averages the logarithms. The mean of $\log 2$ and $\log 8$ is $\log 4$: the geometric mean of
# 2 and 8, not the arithmetic one. So on average, the model wavers between 4 characters.

# %%
log_p = torch.tensor([1 / 2, 1 / 8]).log()
print(f"{torch.exp(-log_p.mean()).item():.3f}")
check("mean_surprise", 4)

# %% [markdown]
# (solution-vanishing-gradient)=
# ## Predict: out of reach
#
# $0.8^k$ falls below 1/1000 when $k > \log 1000 / \log 1.25$, and $k$ is an integer.

# %%
print(f"{math.log(1000) / math.log(1.25):.2f}", f"{0.8**30:.6f}", f"{0.8**31:.6f}")
check("vanishing_gradient", 31)

# %% [markdown]
# At 64 steps the bound is below a millionth. As long as $W_h$ stays like this, such a network gets next to no hint that it should keep the first symbol. It can find out only if training first makes $\lVert W_h \rVert$ larger, for
# some other reason.

# %%
assert 0.8**64 < 1e-6

# %% [markdown]
# (solution-bidirectional-states)=
# ## Bidirectional network: the last states
#
# The forward layer ends at the last real token, the backward layer at position 0. Only the former depends on the lengths.


# %%
def both_ends(outputs: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
    N = outputs.shape[2] // 2
    rows = torch.arange(len(outputs))
    return torch.cat([outputs[rows, lengths - 1, :N], outputs[:, 0, N:]], dim=1)


check("bidirectional_states", both_ends)

# %% [markdown]
# PyTorch's bidirectional layer returns the same two states if you give it the lengths.

# %%
torch.manual_seed(0)
library = nn.RNN(3, 4, batch_first=True, bidirectional=True)
x, lengths = torch.randn(3, 6, 3), torch.tensor([4, 6, 1])
packed = nn.utils.rnn.pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False)
outputs, h_n = library(packed)
outputs, _ = nn.utils.rnn.pad_packed_sequence(outputs, batch_first=True)
assert torch.equal(both_ends(outputs, lengths), torch.cat([h_n[0], h_n[1]], dim=1))

# %% [markdown]
# (solution-truncated-backpropagation)=
# ## Truncated backpropagation through time
#
# `detach` keeps the value and forgets how it was computed. It is called where a chunk begins. Since the chunks share no graph, the gradient of the sum is the sum of their gradients.


# %%
def truncated_gradient(x, y, start, W_x, W_h, b, k: int) -> torch.Tensor:
    W_h = W_h.clone().requires_grad_()
    h, loss = start, 0.0
    for t in range(x.shape[1]):
        if t % k == 0:
            h = h.detach()
        h = torch.tanh(x[:, t] @ W_x.T + h @ W_h.T + b)
        loss = loss + ((h - y[:, t]) ** 2).sum() / 2
    return torch.autograd.grad(loss, W_h)[0]


check("truncated_backpropagation", truncated_gradient)

# %% [markdown]
# Here the graphs of all chunks stay in memory until the end. In training you call `backward` after each chunk, which frees its graph, so the memory no longer grows with the text.
#
# How far is the truncated gradient from the full one? We take random sequences of 64 steps, and divide the length of the difference by the length of the full gradient.


# %%
def error_of_chunks(k: int, seed: int) -> float:
    """Relative error of the gradient truncated to k steps, on random sequences of 64."""
    torch.manual_seed(seed)
    x, y, start = torch.randn(4, 64, 3), torch.randn(4, 64, 8), torch.zeros(4, 8)
    weights = torch.randn(8, 3) / 2, torch.randn(8, 8) / 8**0.5, torch.zeros(8)
    whole, cut = (truncated_gradient(x, y, start, *weights, length) for length in (64, k))
    return ((cut - whole).norm() / whole.norm()).item()


# %%
errors = {k: [error_of_chunks(k, seed) for seed in range(3)] for k in (1, 4, 16)}
observe(
    "Averaged over three seeds, the error is {one:.0%} with chunks of one step, {four:.0%} with four steps, and {sixteen:.0%} with sixteen.",
    one=sum(errors[1]) / 3,
    four=sum(errors[4]) / 3,
    sixteen=sum(errors[16]) / 3,
    holds=all(a > b > c for a, b, c in zip(*errors.values(), strict=True)),
)

# %% [markdown]
# Short chunks do well here, because nothing in these sequences depends on the distant past, and because the gradients vanish anyway. In a task that needs 30 steps of memory, chunks of 16 would lose the very term that matters.

# %% [markdown]
# (solution-leaky-units)=
# ## Leaky units
#
# This is the usual loop over time. `start` has no batch axis; the first addition gives it one.


# %%
def leaky_rnn(x, start, W_x, W_h, b, leak: float) -> torch.Tensor:
    h, states = start, []
    for x_t in x.unbind(1):  # (B, D)
        h = (1 - leak) * h + leak * torch.tanh(x_t @ W_x.T + h @ W_h.T + b)
        states.append(h)
    return torch.stack(states, dim=1)


check("leaky_units", leaky_rnn)

# %% [markdown]
# Without the second term, the old state would be multiplied by $1 - \alpha$ at every step, whatever the weights are. So a small leak makes the memory longer, but equally for everything in it. Tomorrow's network learns when to keep
# and when to rewrite.

# %% [markdown]
# (solution-matrix-powers)=
# ## Predict: which one explodes?
#
# In the long run the eigenvalues decide, not the entries. Those of $a$ are both 0.9. $b$ is a rotation: its eigenvalues are complex, of magnitude 1. Those of $c$ are $0.5 + 0.6$ and $0.5 - 0.6$. And $d$, multiplied by itself, is
# 0.8 times the identity.

# %%
matrices = {
    "a": [[0.9, 5.0], [0.0, 0.9]],
    "b": [[0.6, -0.8], [0.8, 0.6]],
    "c": [[0.5, 0.6], [0.6, 0.5]],
    "d": [[0.0, 4.0], [0.2, 0.0]],
}
rows = []
for name, matrix in matrices.items():
    W = torch.tensor(matrix, dtype=torch.float64)
    stretch = [torch.linalg.matrix_norm(W.matrix_power(n), 2).item() for n in (1, 10, 100)]
    radius = torch.linalg.eigvals(W).abs().max().item()
    rows.append([name, f"{radius:.3f}", *(f"{s:.3g}" for s in stretch)])
table(rows, ["matrix", "spectral radius", "stretch in 1 step", "in 10", "in 100"])

# %%
check("matrix_powers", "c")

# %% [markdown]
# Look at $a$: after ten steps it stretches more than all others, and after a hundred it has nearly vanished. A matrix may stretch a vector and turn it into directions that shrink. So the largest singular value tells you the most
# that can happen in one step, and the spectral radius the fate of many steps.

# %% [markdown]
# (solution-packed-sequences)=
# ## Packing: several texts in one row
#
# The state is reset before the step, and only in the rows where a text starts. `masked_fill` leaves the others as they are.


# %%
def packed_rnn(x, starts, W_x, W_h, b) -> torch.Tensor:
    h, states = x.new_zeros(len(x), len(b)), []
    for x_t, new in zip(x.unbind(1), starts.unbind(1), strict=True):
        h = h.masked_fill(new[:, None], 0)
        h = torch.tanh(x_t @ W_x.T + h @ W_h.T + b)
        states.append(h)
    return torch.stack(states, dim=1)


check("packed_sequences", packed_rnn)

# %% [markdown]
# Two texts in one row give the same states as in rows of their own.

# %%
layer, text = RNN(3, 4), torch.randn(1, 9, 3)
starts = torch.tensor([[t in (0, 5) for t in range(9)]])
together = packed_rnn(text, starts, layer.W_x, layer.W_h, layer.b)
apart = torch.cat([layer(text[:, :5])[0], layer(text[:, 5:])[0]], dim=1)
assert torch.allclose(together, apart, atol=1e-6)

# %% [markdown]
# (solution-perplexity-of-lines)=
# ## Perplexity without padding
#
# First select, then average: that leaves the padding out of both the sum and the count. Setting its nats to zero would not be enough.


# %%
def perplexity_of_lines(nats: torch.Tensor, lengths: torch.Tensor) -> float:
    real = torch.arange(nats.shape[1]) < lengths[:, None]  # (B, T)
    return math.exp(nats[real].mean())


check("perplexity_of_lines", perplexity_of_lines)

# %% [markdown]
# (solution-top-p)=
# ## Top-p sampling
#
# A character belongs to the set if the more likely ones don't reach p yet. So the one that crosses the line is in, and the first one always is.


# %%
def nucleus_size(logits: torch.Tensor, temperature: float, p: float) -> torch.Tensor:
    likely = torch.softmax(logits / temperature, dim=1).sort(dim=1, descending=True).values
    before = likely.cumsum(dim=1) - likely
    return (before < p).sum(dim=1)


check("top_p", nucleus_size)

# %% [markdown]
# (solution-min-p)=
# ## Min-p sampling
#
# Each probability is compared with a share of the largest one in its row. Those that are left are divided by their sum.


# %%
def min_p(logits: torch.Tensor, temperature: float, share: float) -> torch.Tensor:
    probabilities = torch.softmax(logits / temperature, dim=1)
    enough = probabilities >= share * probabilities.amax(dim=1, keepdim=True)
    left = probabilities.masked_fill(~enough, 0)
    return left / left.sum(dim=1, keepdim=True)


check("min_p", min_p)

# %% [markdown]
# Take a model that is sure, and one that wavers between 40 of 100 characters. How many does each rule keep?

# %%
sure, wavering = torch.full((2, 100), -6.0)
sure[0] = 3.0
wavering[:40] = 0.0
for name, logits in (("sure", sure[None]), ("wavering", wavering[None])):
    kept = (min_p(logits, 1.0, 0.1) > 0).sum().item()
    print(f"{name}: top-p 0.95 keeps {nucleus_size(logits, 1.0, 0.95).item()}, min-p 0.1 {kept}")

# %% [markdown]
# The tails are long and thin in both cases. Top-p cuts off 5% of the probability, even where the characters at the edge are as good as the others. Min-p judges each character by itself, so it keeps all 40.

# %% [markdown]
# (solution-spectral-radius)=
# ## Echo state network
#
# Eigenvalues scale with the matrix, so one division is enough. They may be complex; only their magnitude matters.


# %%
def with_radius(W_h: torch.Tensor, radius: float) -> torch.Tensor:
    return W_h * (radius / torch.linalg.eigvals(W_h).abs().max())


check("spectral_radius", with_radius)


# %% [markdown]
# Now for the measurement: first the states, then one linear layer for each delay, all fitted at once.


# %%
def states_of(W_h: torch.Tensor, u: torch.Tensor, seed: int) -> torch.Tensor:
    """The states (T, N) of an untrained network that reads the numbers u (T,)."""
    torch.manual_seed(seed)
    W_x, h, states = 0.1 * (2 * torch.rand(len(W_h)).double() - 1), 0.0 * W_h[0], []
    for u_t in u:
        h = torch.tanh(W_x * u_t + W_h @ h)
        states.append(h)
    return torch.stack(states)


# %%
def memory(W_h: torch.Tensor, seed: int, longest: int = 120) -> int:
    """The largest delay at which over half of the variance is explained, on held-out steps."""
    u = 2 * torch.rand(3200, generator=torch.Generator().manual_seed(seed)).double() - 1
    states = F.pad(states_of(W_h, u, seed), (0, 1), value=1.0)[200:]  # the 1 is for a bias
    past = torch.stack([u[200 - k : len(u) - k] for k in range(1, longest + 1)], dim=1)
    X, X_new, Y, Y_new = *states.split(2000), *past.split(2000)
    ridge = 1e-6 * torch.eye(X.shape[1]).double()
    read_off = torch.linalg.solve(X.T @ X + ridge, X.T @ Y)
    explained = 1 - ((X_new @ read_off - Y_new) ** 2).mean(0) / Y_new.var(0)
    return max((k for k in range(1, longest + 1) if explained[k - 1] > 0.5), default=0)


# %%
def random_matrix(seed: int) -> torch.Tensor:
    return torch.randn(100, 100, generator=torch.Generator().manual_seed(seed)).double()


reach = {
    radius: [memory(with_radius(random_matrix(seed), radius), seed) for seed in range(3)]
    for radius in (0.5, 0.95, 1.5)
}
observe(
    "With a radius of 0.95, the network remembers at least {edge} steps; with 0.5 at most {low}, and with 1.5 at most {high}.",
    edge=min(reach[0.95]),
    low=max(reach[0.5]),
    high=max(reach[1.5]),
    holds=min(reach[0.95]) > 2 * max(reach[0.5] + reach[1.5]),
)

# %% [markdown]
# With a small radius, the past fades. With a large one, the network produces noise of its own: two states that differ a little drift apart, and the old inputs drown in it. The best memory is on the edge between the two.
#
# Can we do better at the same radius? Most eigenvalues of a random matrix are well below the largest, so most directions forget quickly. In an **orthogonal** matrix all eigenvalues have magnitude 1, so no direction forgets faster
# than another. The $QR$ decomposition yields one.

# %%
reach["orthogonal"] = [
    memory(0.99 * torch.linalg.qr(random_matrix(seed)).Q, seed) for seed in range(3)
]
observe(
    "With an orthogonal matrix, times 0.99, the network remembers at least {steps} steps.",
    steps=min(reach["orthogonal"]),
    holds=min(reach["orthogonal"]) > 2 * max(reach[0.95]),
)

# %% [markdown]
# For a linear network there is a limit that no matrix can beat: the shares of variance explained, summed over all delays, are at most the number of units {cite}`jaeger2001short`. A network that holds many delays can't hold each of
# them well.
