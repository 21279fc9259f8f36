# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Solutions of Day 15
#
# To the exercises of [Limits and growth](../15_limits.ipynb), then to those of its [deeper page](../deeper/15_limits.ipynb). There is more than one correct way. A solution is good if the check passes and you can explain it.

# %%
import convolution_to_attention  # is `utils` this book's?

import math

import matplotlib.pyplot as plt
import numpy as np
import torch

from utils import computation, scaling
from utils.data import formal
from utils.exercises.limits import check
from utils.show.mechanisms import limits as mechanisms
from utils.show.plotting import use_book_style

use_book_style()

# %% [markdown]
# (solution-parity-weights)=
# ## Parity in three weights
#
# A zero should change nothing, so $|W_h h + b|$ is $h$ for both states: $b = 0$, and $W_h$ is 1 or -1. A one should turn 0 into 1 and 1 into 0, so $|W_x| = 1$ and $|W_x + W_h| = 0$: the two have opposite signs. That leaves two solutions, $|h - x|$ and $|x - h|$, which are the same.


# %%
def parity_weights():
    return -1, 1, 0


parity_weights = check("parity_weights", parity_weights)

# %% tags=["mechanism"] mystnb={"figure": {"caption": "One fold computes parity. A 1 moves the state to the left by 1: from 1 it lands on 0; from 0 it lands on −1, and the fold turns that into 1.", "name": "fig-lim-one-fold"}, "image": {"alt": "Four number lines from −1 to 1, dashed below 0. A dot stays at 0 or at 1 if the symbol is 0. If it is 1, an arrow moves the dot from 1 to 0, or from 0 to −1; a bent arrow leads on from there to 1."}}
mechanisms.folded_line([0, 1], [0, 1])
plt.show()

# %% [markdown]
# The states are whole numbers, so nothing is ever rounded, and the word may be as long as you like:

# %%
torch.manual_seed(0)
word = torch.randint(2, (1, 10_000))
machine = computation.parity_rnn(*map(float, parity_weights()))
agree = machine(word).argmax(dim=-1) == formal.Modulo(2).truth(word)
print(f"{agree.sum()} of {agree.numel()} states are correct")
assert agree.all()

# %% [markdown]
# (solution-two-steps)=
# ## Two steps are one
#
# We put the first step into the second: $a_2 (a_1 h + u_1) + u_2 = (a_2 a_1)\, h + (a_2 u_1 + u_2)$. The second gate multiplies all that it finds, the first input included.


# %%
def two_steps(a_1, u_1, a_2, u_2):
    return a_2 * a_1, a_2 * u_1 + u_2


two_steps = check("two_steps", two_steps)

# %% [markdown]
# Eight steps become four, then two, then one. Each round halves what is left, and within a round all pairs can be computed at the same time. The last state is the same as from a loop:

# %%
a, u = torch.rand(8, 1, 3, dtype=torch.float64) * 2 - 1, torch.rand(8, 1, 3, dtype=torch.float64)
gates, inputs = list(a), list(u)
while len(gates) > 1:
    pairs = zip(gates[::2], inputs[::2], gates[1::2], inputs[1::2], strict=True)
    gates, inputs = zip(*[two_steps(*pair) for pair in pairs], strict=True)
    print(f"{len(gates)} left")
by_loop = computation.by_loop(a.transpose(0, 1), u.transpose(0, 1))
torch.testing.assert_close(inputs[0], by_loop[:, -1])

# %% [markdown]
# (solution-counter-writes)=
# ## What the letters write
#
# The first cell adds 1 for each a and takes 1 away for each b, so it is 0 when there are as many of both. The second cell ignores the a and adds 1 for each b.


# %%
def counter_writes():
    return (1, -1), (0, 1)


check("counter_writes", counter_writes)

# %% [markdown]
# Any multiple of a row does the same: an LSTM that writes a half counts in halves. Here are both cells on a word:

# %%
language, writes = formal.Blocks("ab"), torch.tensor(counter_writes())
ids = language.encode("aaabbb")
cells = writes[:, ids[0]].cumsum(dim=1)  # (2, T)
for symbol, c, answer in zip("aaabbb", cells.T.tolist(), language.truth(ids)[0], strict=True):
    print(f"{symbol}: cells {c}, next: {language.classes[answer]}")
assert torch.equal(cells[0] == 0, language.truth(ids)[0] == 2)

# %% [markdown]
# (solution-sensitivity)=
# ## How sensitive is an answer?
#
# We flip one symbol in a copy, ask again, and compare with the answer to the word itself. The copy is a new one for each symbol; otherwise the flips would add up.


# %%
def sensitivity(answer, word):
    before, found = answer(word), 0
    for i in range(len(word)):
        other = word.clone()
        other[i] = 1 - other[i]
        found += int(answer(other) != before)
    return found


sensitivity = check("sensitivity", sensitivity)

# %% [markdown]
# Parity has the largest sensitivity that there is: every symbol changes it. For most words, majority has none at all.

# %%
TASKS = {
    "parity": lambda word: int(word.sum()) % 2,
    "majority": lambda word: 2 * int(word.sum()) > len(word),
    "first symbol": lambda word: int(word[0]),
}
words = torch.randint(2, (200, 21), generator=torch.Generator().manual_seed(0))
for name, answer in TASKS.items():
    found = [sensitivity(answer, word) for word in words]
    print(f"{name}: {sum(found) / len(found):.1f} of 21 symbols on average")
    assert name != "parity" or set(found) == {21}
    assert name != "majority" or found.count(0) > len(found) / 2

# %% [markdown]
# (solution-plan-run)=
# ## Plan a training run
#
# Money divided by price gives GPU hours, and dividing these by the hours in the given days gives the number of GPUs. The GPU hours also give the operations $C$. With $D = k N$, $C = 6 N \cdot k N$, so $N = \sqrt{C / 6k}$.


# %%
def plan_run(money, days, price, throughput, utilisation, tokens_per_weight):
    hours = money / price
    gpus = hours / (24 * days)
    C = hours * 3600 * throughput * utilisation
    weights = math.sqrt(C / (6 * tokens_per_weight))
    return gpus, weights, tokens_per_weight * weights


plan_run = check("plan_run", plan_run)

# %% [markdown]
# Because of the square root, ten times the money buys about three times the weights, on three times the tokens:

# %%
h100 = scaling.GPUS["H100 (2022)"]
sizes = []
for money in (1e3, 1e4, 1e5):
    gpus, weights, tokens = plan_run(money, 30, 2.5, h100, 0.4, 20)
    sizes.append(weights)
    print(f"${money:,.0f}: {gpus:.1f} GPUs, {weights:.2g} weights, {tokens:.2g} tokens")
assert math.isclose(sizes[2] / sizes[0], 10)

# %% [markdown]
# (solution-brackets-in-float64)=
# ## Predict: how many brackets fit into float64?
#
# Each bracket takes two of 53 digits, and half a bracket can't be read: $\lfloor 53 / 2 \rfloor = 26$.

# %%
brackets_in_float64 = 53 // 2
check("brackets_in_float64", brackets_in_float64)

# %% [markdown]
# Does the machine agree? It reads words of opening brackets and their closing ones, and we look for the greatest depth without a wrong answer.

# %%
for dtype in (torch.float32, torch.float64):
    depth = computation.deepest_stack(computation.StackMachine(dtype))
    print(f"{dtype}: {depth} brackets")
assert depth == brackets_in_float64

# %% [markdown]
# (solution-with-steps)=
# ## Written steps
#
# `stack` pairs each symbol with its answer in a new axis, and `flatten` takes them out in turns. An answer follows its symbol, so the causal mask hides it from the position that has to predict it.


# %%
def with_steps(symbols, answers, n_symbols):
    written = answers + n_symbols
    inputs = torch.stack([symbols, written], dim=2).flatten(1)
    targets = torch.stack([written, torch.full_like(written, -100)], dim=2).flatten(1)
    return inputs, targets


check("with_steps", with_steps)

# %%
symbols = torch.tensor([[1, 0, 1, 1]])
inputs, targets = with_steps(symbols, formal.Modulo(2).truth(symbols), n_symbols=2)
print("reads:   ", inputs[0].tolist())
print("predicts:", targets[0].tolist())

# %% [markdown]
# An answer that stood before its symbol would be read before it is asked for. The loss would be wonderful, and the network would know nothing.

# %% [markdown]
# (solution-shares-correct)=
# ## All or nothing, and digit by digit
#
# The same comparison is averaged in two ways. For the first share, a row counts if all of its digits are correct.


# %%
def shares_correct(predicted, target):
    correct = predicted == target
    return correct.all(dim=1).double().mean().item(), correct.double().mean().item()


check("shares_correct", shares_correct)

# %% [markdown]
# If mistakes are independent, the first share is the second to the power of k. So it stays near 0 for a long time and then seems to jump, although the digits improve at a steady rate:

# %%
generator = torch.Generator().manual_seed(0)
target = torch.randint(10, (20_000, 8), generator=generator)
for p in (0.5, 0.7, 0.9, 0.99):
    wrong = torch.rand(target.shape, generator=generator) >= p
    exact, by_digit = shares_correct(torch.where(wrong, (target + 1) % 10, target), target)
    print(f"digits {by_digit:.1%}, answers {exact:.1%}, by the power {p**8:.1%}")
    assert abs(exact - p**8) < 0.02

# %% [markdown]
# (solution-compose)=
# ## One permutation after another
#
# The thing at position i goes to `first[i]`, and from there to `then[first[i]]`. `gather` looks this up in each row.


# %%
def compose(first, then):
    return then.gather(1, first)


compose = check("compose", compose)

# %% [markdown]
# The order matters: two swaps of three cups that share a cup don't commute. That is why a network that only counts how often each swap occurred can't follow the ball.

# %%
swap_12, swap_23 = torch.tensor([[1, 0, 2]]), torch.tensor([[0, 2, 1]])
print("1 and 2, then 2 and 3:", compose(swap_12, swap_23)[0].tolist())
print("2 and 3, then 1 and 2:", compose(swap_23, swap_12)[0].tolist())
assert not torch.equal(compose(swap_12, swap_23), compose(swap_23, swap_12))

# %% [markdown]
# (solution-exponent)=
# ## The exponent of a power law
#
# From $L = A / N^\alpha$ follows $\log L = \log A - \alpha \log N$. That is a straight line, and its slope is $-\alpha$. The base of the logarithm doesn't matter if it is the same on both axes.


# %%
def exponent(sizes, losses):
    slope, height = np.polyfit(sizes.log(), losses.log(), 1)
    return -float(slope)


check("exponent", exponent)

# %% [markdown]
# With a floor, a power law is no straight line any more. The fit then finds too small an exponent, without a warning:

# %%
N = torch.logspace(4, 9, 11, dtype=torch.float64)
for E in (0.0, 0.5, 1.7):
    print(f"floor {E}: exponent {exponent(N, E + 40 * N**-0.34):.3f}")
assert exponent(N, 1.7 + 40 * N**-0.34) < exponent(N, 40 * N**-0.34)

# %% [markdown]
# (solution-cheapest-size)=
# ## The best size for a budget
#
# `polyfit` returns the coefficients of $a x^2 + b x + c$, with the highest power first. The slope $2ax + b$ is 0 at $x = -b / 2a$. There, $x$ is a logarithm, so we return its exponential.


# %%
def cheapest_size(sizes, losses):
    a, b, c = np.polyfit(sizes.log(), losses, 2)
    return float(np.exp(-b / (2 * a)))


cheapest_size = check("cheapest_size", cheapest_size)

# %% [markdown]
# The law of Hoffmann and others isn't quite a parabola. With the sizes spread evenly around its best split, the parabola finds nearly that size; if all sizes are too small, it doesn't.

# %%
C = 1e21
best = scaling.HOFFMANN.best_split(C).N
for first, last in ((0.2, 5), (0.02, 0.5)):
    N = best * np.geomspace(first, last, 7)
    losses = scaling.HOFFMANN.loss(N, C / (6 * N))
    found = cheapest_size(torch.tensor(N), torch.tensor(losses)) / best
    print(
        f"sizes {first:g} to {last:g} times the best one: the parabola's lowest point is at {found:.2f}"
    )
