# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Day 2: The recurrent network
#
# **Today's question:** how can one network, with one set of weights, read a sequence of any length, in
# order?
#
# After today you can
#
# - compute a recurrence by hand, and say what its weights have to do with time,
# - send a gradient back through time, whole or cut off, and check it,
# - read sequences of different lengths in one batch without reading the padding,
# - say when a gradient fades on its way back and when it explodes, and clip it,
# - judge a model of text by its perplexity, and let it write,
# - predict how far back a recurrent network can learn and remember, and why.
#
# Each point is tested by an exercise at the end. The day builds on
# [Day 1](01_convolution.ipynb): causal convolutions, shared weights, and gradients that vanish with depth.
# The core path takes about 90 minutes; what lies beyond it is marked. The exercises of warm-up and core take as long again;
# choose some.

# %%
import convolution_to_attention  # is `utils` this book's?

import math

import matplotlib.pyplot as plt
import torch
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import MultinomialNB
from sklearn.pipeline import make_pipeline
from torch import nn
from torch.nn import functional as F

# %% [markdown]
# The second cell takes from the book's own package: today's module, yesterday's, and the bench.

# %%
from utils import convolution, recurrent
from utils.exercises.progress import checklist
from utils.exercises.recurrent import check
from utils.measure import experiments
from utils.measure.claims import claim
from utils.measure.graphs import longest_chain
from utils.show.display import observe, show_source, table
from utils.show.plotting import COLOURS, curves, use_book_style
from utils.training import sampling
from utils.training.metrics import accuracy, perplexity

# %%
from utils.training.recipes import (
    clip_gradients,
    recall_ids,
    rise_and_fall,
    stream,
    train_characters,
    train_recall,
)
from utils.training.loop import Batches, evaluate, fit

# %% [markdown]
# The third cell takes what we read: pictures of digits, words of many languages, and text.

# %%
from utils.data.dates import LANGUAGES, language_words
from utils.data.docstrings import PARTS, docstring_text
from utils.data.pictures import digits
from utils.data.text import BOS, EOS, PAD, BucketedBatches, Vocabulary, pad
from utils.training.counting import KneserNey

use_book_style()

# %% [markdown]
# ## Where we stand
#
# *6 minutes.* Yesterday a stack of dilated convolutions remembered the first of 64 symbols. But we had to say
# in advance how far it should see. What does that cost? Here is a task with a memory of one bit. A
# light is switched on, or off, or nothing happens; most of the time, nothing happens. Is it on?


# %%
def light_switch(n: int, length: int, seed: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Draw commands, 0 off, 1 on, 2 wait, and whether the light is on after each; both (n, length)."""
    generator = torch.Generator().manual_seed(seed)
    commands = torch.randint(2, (n, length), generator=generator)
    waits = torch.rand(n, length, generator=generator) < 0.8
    waits[:, 0] = False
    latest = torch.where(waits, 0, torch.arange(length)).cummax(dim=1).values  # step of a command
    return torch.where(waits, 2, commands), commands.gather(1, latest)


commands, light = light_switch(1, 16, seed=0)
print("commands", *("off on wait".split()[c] for c in commands[0]))
print("light   ", *("off on".split()[state] for state in light[0]))

# %% [markdown]
# Yesterday's `RecallNet` with four layers sees 16 steps. We train it on rows of 16 commands.

# %%
torch.manual_seed(0)
reaching = convolution.RecallNet(4, doubling=True, n_symbols=3)
commands, light = light_switch(2000, 16, seed=0)
one_hot = F.one_hot(commands, 3).float().transpose(1, 2)  # (n, 3, 16)
optimiser = torch.optim.AdamW(reaching.parameters(), lr=3e-3)
batches = Batches(one_hot, light[:, -1], batch_size=100, shuffle=True)
_ = fit(reaching, batches, F.cross_entropy, optimiser, epochs=10)

# %%
commands, light = light_switch(1000, 16, seed=1000)
one_hot = F.one_hot(commands, 3).float().transpose(1, 2)
share = accuracy(reaching(one_hot), light[:, -1])
observe("Over 95 % of new rows of 16 are read right.", share > 0.95, {"right": f"{share:.1%}"})

# %% [markdown]
# It learned the task. Now somebody gives one command and goes away. We wait, and ask.


# %%
def then_wait(steps: int) -> torch.Tensor:
    """Two rows of commands (2, steps + 1): "off" and "on", and then nothing happens."""
    return torch.cat([torch.tensor([[0], [1]]), torch.full((2, steps), 2)], dim=1)


for steps in (4, 8, 16, 1000):
    rows = F.one_hot(then_wait(steps), 3).float().transpose(1, 2)
    off, on = reaching(rows).argmax(1).tolist()
    print(f"after {steps} waits:", "told apart" if off != on else "the same answer to both")

# %% [markdown]
# From 16 waits on, the command is out of sight: the network gets the same 16 numbers in both cases, so it
# must give the same answer. That is no lack of training. One bit has to be kept, and there is no place
# where it could be kept.
#
# Could we look at everything at once, without any reach? We could add up all inputs, as if throwing the
# words of a sentence into a bag. A bag takes any length. But it loses who did what.

# %%
bags = CountVectorizer().fit_transform(["dog bites man", "man bites dog", "dog bites dog"])
print("bites dog man")
print(bags.toarray())

# %% [markdown]
# The first two rows are equal: who bit whom is lost. So there are three wishes. Order should count. The length should be free. And what matters should be kept for
# as long as it matters.

# %% [markdown]
# ## The idea
#
# *5 minutes.* Imagine someone who listens to a long report, and has one small card to write on. After
# each sentence she rewrites the card: what she knew, and what she has just heard, in the same few
# lines. She never hears a sentence again. At the end, the card is all she has.
#
# The card is the **state**. It is a vector of fixed size, whatever the length of the report. The rule by which she
# rewrites it is the same at every step: this is weight sharing again, over time in place of space. A network that
# works like this is called **recurrent**, because its state comes back as its own input. We draw it
# twice: as it is built, and **unrolled**, with a copy for each step.


# %% mystnb={"figure": {"caption": "A recurrent layer as it is built (left), and unrolled over four steps (right). All copies have the same weights.", "name": "fig-unrolled"}, "image": {"alt": "On the left one box h with an arrow from x below, an arrow to y above and a loop back to itself. On the right four boxes in a row, joined by arrows labelled W_h from left to right; each has its own x below, with an arrow labelled W_x, and its own y above."}}
def draw_step(ax, place: float, index: str) -> None:
    """One box with its input below and its output above."""
    ax.add_patch(plt.Rectangle((place - 0.35, 0.65), 0.7, 0.7, fill=False, lw=2, color=COLOURS[0]))
    for height, letter in ((0, "x"), (1, "h"), (2, "y")):
        ax.text(place, height, f"${letter}_{{{index}}}$", ha="center", va="center", fontsize=16)
    for low, label in ((0.2, "$W_x$"), (1.38, "$W_y$")):
        ax.annotate("", (place, low + 0.42), (place, low), arrowprops={"arrowstyle": "->"})
        ax.text(place + 0.06, low + 0.2, label, va="center", fontsize=11)


figure, ax = plt.subplots(figsize=(7.4, 2.9))
for place, index in zip((0, 2.6, 4.0, 5.4, 6.8), ("t", "0", "1", "2", "3")):
    draw_step(ax, place, index)
loop = {"arrowstyle": "->", "connectionstyle": "arc3,rad=-1.6"}
ax.annotate("", (0.37, 0.85), (0.37, 1.2), arrowprops=loop)
ax.text(0.85, 1.02, "$W_h$", va="center", fontsize=11)
for place in (1.55, 2.95, 4.35, 5.75):
    ax.annotate("", (place + 0.7, 1), (place, 1), arrowprops={"arrowstyle": "->"})
    ax.text(place + 0.35, 1.12, "$W_h$", ha="center", fontsize=11)
ax.set(xlim=(-0.5, 7.4), ylim=(-0.3, 2.3))
ax.axis("off")
plt.show()

# %% [markdown]
# {numref}`fig-unrolled` is a deep network, with a layer for each step. There are two differences to yesterday's
# deep networks. All layers have the same weights, and each gets an input of its own. Everything that we know
# about depth applies, and that will matter: on Day 1, gradients vanished in deep stacks.
#
# There is a children's game. People sit in a circle; the first whispers a sentence to the
# second, she whispers it on, and what the last one says is nothing like the first. If each person
# passes on nine tenths of what she hears, then after 20 people there is about an eighth left. One rule, applied
# many times, makes small losses large. The game is a good picture of an *untrained* network. A network can learn to whisper
# clearly, and we will see one that does.

# %%
print(f"{0.9**20:.2f} of the message after 20 people, {0.9**50:.3f} after 50")

# %% [markdown]
# ## The mathematics
#
# *12 minutes.* At step $t$ the layer gets the input $x_t$ and its own last state $h_{t-1}$. It makes a new state
# {cite}`elman1990finding`:
#
# $$
# h_t = \tanh(W_x x_t + W_h h_{t-1} + b), \qquad h_{-1} = 0,
# $$ (eq-rnn)
#
# and an output from the state, wherever one is wanted:
#
# $$
# y_t = W_y h_t + b_y .
# $$ (eq-rnn-output)
#
# The hyperbolic tangent keeps each number of the state between -1 and 1. Without such a bound, repeated
# products could overflow. No weight has an index $t$: the same $W_x$, $W_h$ and $b$ serve at every step.
#
# **Symbols come in as vectors.** A letter or word is a number $i$ in a vocabulary of $V$. It is looked up in a table of
# $V$ vectors, which are learned like all other weights. This is an **embedding**. With the one-hot vector
# $e_i$ it is an ordinary product,
#
# $$
# x_t = E^\top e_{i_t} = E_{i_t} .
# $$ (eq-embedding)
#
# ### Backpropagation through time
#
# The loss is a sum over steps, $\mathcal{L} = \sum_t \ell_t$. Unrolled, the network is an ordinary one, so ordinary
# backpropagation works {cite}`rumelhart1986learning,werbos1990backpropagation`. Let $a_t$ be what stands
# inside the tanh in {eq}`eq-rnn`, and $\delta_t = \partial \mathcal{L} / \partial a_t$. The state $h_t$ has two
# consumers: the output of its own step, and the next step. Unit $j$ of $h_t$ reaches each unit $i$ of $a_{t+1}$ through the weight
# $W_h[i, j]$. These ways add up to $\sum_i W_h[i, j]\, \delta_{t+1, i}$, which is $W_h^\top \delta_{t+1}$. So two terms arrive, and pass
# through the slope of the tanh, which is $1 - h_t^2$ ($\odot$ multiplies number by number, and $T$ is the number of steps):
#
# $$
# \delta_t = (1 - h_t^2) \odot \Big( W_y^\top \frac{\partial \ell_t}{\partial y_t} + W_h^\top \delta_{t+1} \Big),
# \qquad \delta_T = 0 .
# $$ (eq-bptt)
#
# The weights are used at every step, so their gradients add up over the steps:
#
# $$
# \frac{\partial \mathcal{L}}{\partial W_h} = \sum_t \delta_t\, h_{t-1}^\top, \qquad
# \frac{\partial \mathcal{L}}{\partial W_x} = \sum_t \delta_t\, x_t^\top, \qquad
# \frac{\partial \mathcal{L}}{\partial b} = \sum_t \delta_t .
# $$ (eq-bptt-weights)
#
# The way back needs all states of the way forward, so memory grows with the length. A long text doesn't fit. **Truncated**
# backpropagation {cite}`williams1990efficient` cuts the text into chunks. The *state* is carried over from chunk to chunk, the *gradient*
# is not: at the end of each chunk, $\delta$ starts from 0 again. In PyTorch, `detach` does it: it gives the same numbers, cut off from the graph. What is forgotten is how a
# step changes losses beyond the end of its chunk.
#
# ### Does the gradient arrive?
#
# How does a state depend on one $k$ steps earlier? By {eq}`eq-rnn`, one step multiplies by
# $J_t = \operatorname{diag}(1 - h_t^2)\, W_h$, its **Jacobian**. Many steps multiply many of them:
#
# $$
# \frac{\partial h_t}{\partial h_{t-k}} = J_t\, J_{t-1} \cdots J_{t-k+1} .
# $$ (eq-jacobians)
#
# Let the norm $\lVert W_h \rVert$ be the most by which $W_h$ can stretch a vector, its largest **singular value**. As the slope of the tanh is
# never above 1,
#
# $$
# \Big\lVert \frac{\partial h_t}{\partial h_{t-k}} \Big\rVert \le \lVert W_h \rVert^{k} .
# $$ (eq-bound)
#
# So if $\lVert W_h \rVert < 1$, the gradient vanishes exponentially {cite}`hochreiter1991untersuchungen,bengio1994learning,pascanu2013difficulty`. The
# converse does not follow. The bound is an upper one, and says nothing if $\lVert W_h \rVert > 1$.
#
# Another number is often named. Some vectors are only stretched: $W_h v = \mu v$. Then $\mu$ is an **eigenvalue**, and $k$ steps of a
# linear recurrence multiply $v$ by $\mu^k$. The **spectral radius** $\rho(W_h)$ is the largest magnitude of an eigenvalue. It is at most
# $\lVert W_h \rVert$, and it decides what becomes of the powers $W_h^k$ in the end.
#
# But in a network the slopes stand between the factors. So we measure how much the product of many Jacobians grows, and take the
# mean factor per step. The logarithm of that is
#
# $$
# \lambda = \lim_{T \to \infty} \frac{1}{T} \log \lVert J_T\, J_{T-1} \cdots J_1 \rVert ,
# $$ (eq-lyapunov)
#
# called the largest **Lyapunov exponent**. Where the factor $e^\lambda$ is below 1 the gradient vanishes, above 1
# it explodes. We will measure norm, radius and factor, and see where they part.
#
# Against exploding there is a plain remedy. If the gradient $g$ of all weights together is longer than $c$, it is shortened to that
# length {cite}`pascanu2013difficulty`; others cut each number by itself {cite}`mikolov2012statistical`:
#
# $$
# g \leftarrow g \cdot \min\!\Big(1, \frac{c}{\lVert g \rVert}\Big) .
# $$ (eq-clip)
#
# This is **gradient clipping**. The direction stays, only the length is bounded. Nothing of the kind helps a gradient
# that has vanished: what comes from far away is drowned by what comes from near.
#
# ### A model of text
#
# The probability of a text is a product, letter by letter,
# $p(i_0, \dots, i_{T-1}) = \prod_t p(i_t \mid i_0, \dots, i_{t-1})$. A recurrent network gives each factor from its state:
# it reads $i_{t-1}$, and its output, through a softmax, says what may come next. That is a **language model**
# {cite}`mikolov2010recurrent`. It is judged by its **perplexity** on text that it has not seen,
#
# $$
# \mathrm{PP} = \exp\Big( - \frac{1}{T} \sum_t \log p(i_t \mid i_0, \dots, i_{t-1}) \Big) ,
# $$ (eq-perplexity)
#
# the exponential of the cross-entropy. A model that hesitates between $n$ equally likely letters at each step has perplexity $n$.
#
# | symbol | shape | meaning |
# | --- | --- | --- |
# | B, T, D, N, V | | sequences in a batch, steps, numbers of an input, of a state, symbols of the vocabulary |
# | $x_t$ | (B, D) | input at step $t$; all of them are (B, T, D) |
# | $h_t$ | (B, N) | state after step $t$ |
# | $y_t$ | (B, V) | output at step $t$, such as logits |
# | $W_x$ | (N, D) | from input to state |
# | $W_h$ | (N, N) | from state to state |
# | $W_y$ | (V, N) | from state to output |
# | $E$ | (V, D) | embedding, a row for each symbol |
# | $\delta_t$ | (B, N) | gradient of the loss by $a_t$, the inside of the tanh |
# | $J_t$ | (N, N) | Jacobian of step $t$, one for each example; $\operatorname{diag}$ puts a vector on a diagonal |
#
# The equations speak of one example, a column. In a batch the examples are rows, and each matrix stands transposed on the right.

# %% [markdown]
# ## By hand
#
# *8 minutes.* A state of two numbers, inputs of one, no bias. Compute the first state yourself before you run on.

# %%
W_x = torch.tensor([[1.0], [0.5]])  # (N, D)
W_h = torch.tensor([[0.5, -1.0], [1.0, 0.0]])  # (N, N)
x = torch.tensor([[1.0], [0.0], [0.5]])  # (T, D)
h = torch.zeros(2)
for t in range(3):
    inside = W_x @ x[t] + W_h @ h
    h = torch.tanh(inside)
    print(f"t = {t}: inside", inside.numpy().round(3), "state", h.numpy().round(3))

# %% [markdown]
# At $t = 0$ there is no past, so inside stands $W_x$ alone. At $t = 1$ the input is zero, and still the state isn't:
# it goes on from the last one. And order counts: with the inputs turned round, the last state is another.

# %%
backwards = torch.zeros(2)
for t in (2, 1, 0):
    backwards = torch.tanh(W_x @ x[t] + W_h @ backwards)
print("forwards", h.numpy().round(3), " backwards", backwards.numpy().round(3))

# %% [markdown]
# Now the gradient, with single numbers. The weights are $w_x = 1$ and $w_h = 0.5$, the input is 1 at the first step and then 0,
# and the loss is the last of three states. Each step back multiplies by $w_h$ and by a slope.

# %%
w_h, states = 0.5, [math.tanh(1.0)]
for _ in range(2):
    states.append(math.tanh(w_h * states[-1]))
slopes = [1 - h**2 for h in states]
print("states", *(f"{h:.3f}" for h in states), " slopes", *(f"{s:.3f}" for s in slopes))

# %%
delta = {2: slopes[2]}
for t in (1, 0):
    delta[t] = slopes[t] * w_h * delta[t + 1]
by_hand = sum(delta[t] * states[t - 1] for t in (1, 2))  # h_{-1} = 0 adds nothing
print("deltas", *(f"{delta[t]:.3f}" for t in range(3)), f" gradient of w_h {by_hand:.3f}")

# %% [markdown]
# Three steps, and the first $\delta$ is already a tenth of the last: two factors of $w_h$, and two slopes below 1. Autograd finds the same number for $w_h$.

# %%
weight, state = torch.tensor(0.5, requires_grad=True), torch.tensor(0.0)
for value in (1.0, 0.0, 0.0):
    state = torch.tanh(value + weight * state)
state.backward()
assert abs(weight.grad.item() - by_hand) < 1e-6

# %% [markdown]
# Only the last step has a loss. So, truncated after each step, only the last term is left: the state of step 1 counts as if it had
# fallen from the sky.

# %%
truncated = delta[2] * states[1]
print(f"whole {by_hand:.3f}, truncated {truncated:.3f}")

# %% [markdown]
# ## Build it
#
# *12 minutes.* First one step, and a walk over the steps, in the shapes of the table above.


# %%
def walk(x: torch.Tensor, W_x: torch.Tensor, W_h: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """States after each step. Shapes: x (B, T, D) to (B, T, N)."""
    h, states = x.new_zeros(len(x), len(W_h)), []
    for x_t in x.unbind(dim=1):  # (B, D)
        h = torch.tanh(x_t @ W_x.T + h @ W_h.T + b)
        states.append(h)
    return torch.stack(states, dim=1)


# %% [markdown]
# In a batch, the examples are rows, so each matrix stands transposed on the right. The walk gives the numbers that
# we found by hand.

# %%
states = walk(x[None], W_x, W_h, torch.zeros(2))
torch.testing.assert_close(states[0, -1], h)
states[0].numpy().round(3)

# %% [markdown]
# The loop over time can't be avoided, since each step needs the one before. But $W_x x_t$ needs no state. So
# the layer computes it for all steps in one product, and only the rest in the loop. Here is one step of it, and
# the loop. (`n_blocks`, `each` and `hidden` are there for tomorrow's layers.)

# %%
show_source(recurrent.RNN)

# %%
show_source(recurrent.Recurrent.unroll)

# %% [markdown]
# ### Different lengths in one batch
#
# Sentences have different lengths, and a batch is a rectangle. So the short ones are filled up at the end, which is
# called **padding**, and `lengths` says how many steps of each are real. Where is the final state then? Not in the last column: there,
# the short ones have read padding.

# %%
torch.manual_seed(0)
layer = recurrent.RNN(3, 5)
batch = torch.randn(2, 6, 3)
lengths = torch.tensor([6, 2])
outputs, final = layer(batch, lengths=lengths)
alone = layer(batch[1:, :2])[1]  # the short one by itself
in_last_column = layer(batch)[0][:, -1]
print("final state as if it were alone:", torch.allclose(final[1], alone[0], atol=1e-6))
print("last column as if it were alone:", torch.allclose(in_last_column[1], alone[0], atol=1e-2))

# %%
show_source(recurrent.Recurrent.forward)

# %% [markdown]
# No state depends on what comes later. So it's enough to pick the right rows at the end, and to set the outputs at
# padding to zero.
#
# ### Embeddings
#
# A lookup in a table is the product of {eq}`eq-embedding`, without the multiplications by zero.

# %%
embedding = nn.Embedding(5, 3)
ids = torch.tensor([4, 0, 4])
assert torch.equal(embedding(ids), F.one_hot(ids, 5).float() @ embedding.weight)
print(tuple(embedding(ids).shape), "the first and the last row are the same vector")

# %% [markdown]
# ### Two models
#
# From an embedding, a recurrent layer and an output layer one can build two models. One answers after each
# step, the other once, from the final state.

# %%
show_source(recurrent.LanguageModel)

# %%
show_source(recurrent.SequenceClassifier)

# %% [markdown]
# The first is called a language model, because it mostly is one. But any question can be asked after each
# step. We ask it whether the light is on. Three networks, from three seeds, with a state of only eight numbers, see rows of 16 commands.


# %%
def each_step(outputs: tuple, targets: torch.Tensor) -> torch.Tensor:
    """Cross-entropy over all steps. Shapes: logits (B, T, V) beside a state, targets (B, T)."""
    return F.cross_entropy(outputs[0].flatten(0, 1), targets.flatten())


def learn_switch(seed: int) -> nn.Module:
    """A network of eight units, trained on rows of 16 commands."""
    torch.manual_seed(seed)
    network = recurrent.LanguageModel(3, 4, recurrent.RNN(4, 8))
    batches = Batches(*light_switch(2000, 16, seed), batch_size=100, shuffle=True)
    optimiser = torch.optim.AdamW(network.parameters(), lr=1e-2)
    fit(network, batches, each_step, optimiser, epochs=5, seed=seed)
    return network


# %%
keepers = [learn_switch(seed) for seed in range(3)]
for steps in (16, 1000, 10_000):
    with torch.no_grad():
        answers = [net(then_wait(steps))[0][:, -1].argmax(1).tolist() for net in keepers]
    print(f"after {steps} waits:", sum(answer == [0, 1] for answer in answers), "of 3 are right")

# %% [markdown]
# They were trained on 16 steps, and keep the bit for ten thousand. Yesterday's network lost it after 16. A state is a place where something can be kept, and the length is free.

# %% [markdown]
# ## Is it right?
#
# *6 minutes.* Against the library's layer with the same weights, in double precision, with sizes that all differ: outputs,
# final states and gradients.

# %%
torch.manual_seed(0)
theirs = nn.RNN(3, 5, batch_first=True).double()
ours = recurrent.RNN(3, 5).double()
ours.load_library(theirs)
x = torch.randn(2, 7, 3, dtype=torch.float64, requires_grad=True)
(y, last), (y_lib, last_lib) = ours(x), theirs(x)
torch.testing.assert_close(y, y_lib, rtol=1e-10, atol=1e-10)
torch.testing.assert_close(last, last_lib[0], rtol=1e-10, atol=1e-10)
for mine, its in zip(*(torch.autograd.grad(out.pow(2).sum(), x) for out in (y, y_lib))):
    torch.testing.assert_close(mine, its, rtol=1e-10, atol=1e-10)

# %% [markdown]
# And against the walk in which nothing is computed in advance.

# %%
W_x, W_h, b = ours.W_x.detach(), ours.W_h.detach(), ours.b.detach()
torch.testing.assert_close(walk(x, W_x, W_h, b), y, rtol=1e-10, atol=1e-10)

# %% [markdown]
# The library has two biases for each unit where only their sum counts. So its layer has five parameters more than ours.
#
# ### Is the derivation right?
#
# {eq}`eq-bptt` was derived on paper. We let autograd keep $\partial \mathcal{L} / \partial a_t$ at each step, and see
# whether these numbers fulfil it. The loss is half the sum of all squared states, so what each step sends to its own state is $h_t$ itself.

# %%
insides, h, states = [], torch.zeros(2, 5, dtype=torch.float64), []
for x_t in x.unbind(dim=1):
    insides.append(x_t @ W_x.T + h @ W_h.T + b)
    h = torch.tanh(insides[-1])
    states.append(h)
loss = sum(h.pow(2).sum() for h in states) / 2
deltas = [*torch.autograd.grad(loss, insides, retain_graph=True), torch.zeros_like(h)]
for t, h in enumerate(states):
    torch.testing.assert_close(deltas[t], (1 - h**2) * (h + deltas[t + 1] @ W_h))

# %% [markdown]
# The gradient of the bias is their sum, as {eq}`eq-bptt-weights` says, and that of the inputs is what passes $W_x$.

# %%
(ours(x)[0].pow(2).sum() / 2).backward()
torch.testing.assert_close(ours.b.grad, sum(deltas[:7]).sum(0))
torch.testing.assert_close(x.grad, torch.stack(deltas[:7], dim=1) @ W_x)

# %% [markdown]
# All of it agrees. The gradient of $W_h$ is yours to find, in the exercises.

# %% [markdown]
# ## Train it
#
# *20 minutes.* Recurrent networks come in four kinds, by what goes in and what comes out. **Many to one**: a
# sequence in, one answer out. **One to many**: the other way round. **Many to many** in step, with an
# answer after each input, and **many to many** with another length: first read all, then write. We
# train one of each, once, from one seed: another seed gives other numbers.
#
# ### Many to one: which language is this word from?
#
# CLDR is the collection in which the Unicode Consortium keeps how people write names of countries, languages, months and
# weekdays. We take twelve languages in Latin letters. A word that several of them share is left out.

# %%
words = dict(zip(("train", "validation", "test"), language_words()))
letters = Vocabulary("".join(word.text for word in words["train"]))


def as_ids(part: str) -> tuple[list[list[int]], torch.Tensor]:
    """The words of a part as lists of ids, and their languages as numbers."""
    classes = [LANGUAGES.index(word.language) for word in words[part]]
    return [letters.encode(word.text) for word in words[part]], torch.tensor(classes)


observe(
    "There are more than 3000 words to train on, and more than 300 each to validate and to test.",
    len(words["train"]) > 3000 and min(len(words[part]) for part in ("validation", "test")) > 300,
    {part: len(words[part]) for part in words},
)

# %% [markdown]
# First the baselines, since they are old and good {cite}`cavnar1994gram`: count the letters of a word, or its pairs and triples
# of letters, and put a linear classifier on the counts.

# %%
texts = {part: [word.text for word in words[part]] for part in words}
labels = {part: as_ids(part)[1] for part in words}
counted = {}
for n, name in ((1, "letters"), (2, "and pairs"), (3, "and triples")):
    for kind in (MultinomialNB(alpha=0.3), LogisticRegression(max_iter=500)):
        counts = CountVectorizer(analyzer="char_wb", ngram_range=(1, n))
        model = make_pipeline(counts, kind).fit(texts["train"], labels["train"])
        counted[type(kind).__name__, name] = model.score(texts["validation"], labels["validation"])

# %% [markdown]
# Then the network. It reads letter by letter, and answers from its last state. The batches hold words of similar
# length, so that little is padded. The learning rate rises and falls as yesterday; what is new is that gradients are clipped, as in
# {eq}`eq-clip`.

# %%
show_source(rise_and_fall)

# %% mystnb={"figure": {"caption": "Loss and accuracy of the language reader over eight epochs.", "name": "fig-language-training"}, "image": {"alt": "Two panels over epochs: the losses of training and validation fall, the accuracies rise; from the fourth epoch on training is ahead of validation."}}
torch.manual_seed(0)
reader = recurrent.SequenceClassifier(len(letters), 32, recurrent.RNN(32, 96), len(LANGUAGES))
batches = BucketedBatches(*as_ids("train"), batch_size=64, shuffle=True)
held_out = {part: BucketedBatches(*as_ids(part), batch_size=256) for part in ("validation", "test")}
optimiser, schedule = rise_and_fall(reader, 5e-3, 8 * len(batches))
how = {"schedule": schedule, "metrics": {"accuracy": accuracy}}
history = fit(
    reader, batches, F.cross_entropy, optimiser, epochs=8, validation=held_out["validation"], **how
)
history.plot()
plt.show()

# %%
reads = history.validation["accuracy"][-1]
regression = {name: counted["LogisticRegression", name] for _, name in counted}
observe(
    "The network beats counted letters by over 10 points, but not counted triples.",
    reads > max(counted[key] for key in counted if key[1] == "letters") + 0.1
    and reads < regression["and triples"],
    {"network": f"{reads:.1%}"}
    | {f"counted {n}": f"{share:.1%}" for n, share in regression.items()},
)

# %% [markdown]
# So order helps, but on a few thousand words an old method is better. It knows at once that "sch" is a thing. The network
# has to find out from letters alone. A baseline is there to say so. Now that all is chosen, the test, once.

# %%
tested = evaluate(reader, held_out["test"], F.cross_entropy, {"accuracy": accuracy})["accuracy"]
observe(
    "On test words it names the language, one of twelve, at least six times of ten.",
    tested > 0.6,
    {"right": f"{tested:.1%}"},
)

# %% [markdown]
# ### Many to many, in step: what comes next?
#
# The second model writes. It reads what scikit-learn's docstrings say, which `help()` shows, and is to say each next character.
# Some modules are held out. The text is one very long sequence, so it is cut into chunks, and the state goes on
# from chunk to chunk while the gradient does not.

# %%
show_source(recurrent.Streaming)

# %%
show_source(train_characters)

# %%
symbols = Vocabulary(docstring_text("train"))
docstrings = {part: torch.tensor(symbols.encode(docstring_text(part))) for part in PARTS}
torch.manual_seed(0)
writer = recurrent.Streaming(recurrent.LanguageModel(len(symbols), 32, recurrent.RNN(32, 128)))
how = {"batch_size": 16, "length": 32, "learning_rate": 8e-3}
_ = train_characters(writer, docstrings["train"], docstrings["validation"], epochs=2, **how)
judged_on = stream(docstrings["test"], 16, len(docstrings["test"]))
test_nats = evaluate(writer, judged_on, F.cross_entropy)["loss"]

# %% [markdown]
# Beside it stand models that only count {cite}`shannon1951prediction`. A model of order $n$ looks at the $n - 1$
# characters before, and looks up what has followed them. Where it has seen too little, it falls back on a shorter
# context, by the rules of Kneser and Ney {cite}`kneser1995improved`.

# %% mystnb={"figure": {"caption": "Perplexity on the test's text of models that count, by their order (they look at one character fewer), and of the recurrent network after two epochs.", "name": "fig-perplexity"}, "image": {"alt": "A falling curve that is flat from order six on; a dashed horizontal line for the network crosses it after order three."}}
orders = range(1, 8)
counting = {n: KneserNey(docstrings["train"], n, len(symbols)) for n in orders}
perplexities = {
    n: perplexity(-model.log_probabilities(docstrings["test"]).mean())
    for n, model in counting.items()
}
ours = perplexity(test_nats)
ax = curves({"counting": (orders, list(perplexities.values()))}, "order (characters)", "perplexity")
ax.axhline(ours, linestyle="--", color=COLOURS[1], label="recurrent, two epochs")
ax.legend()
plt.show()

# %%
observe(
    "After two epochs the network is better than triples of characters, and worse than sextuples.",
    perplexities[6] < ours < perplexities[3],
    {"network": f"{ours:.2f}"} | {f"order {n}": f"{perplexities[n]:.2f}" for n in (3, 4, 6)},
)

# %% [markdown]
# The network has no table of what follows what. It has to get along with 128 numbers, and it was trained for seconds. What a longer training
# gives, and what gates add, is tomorrow's matter.
#
# ### Let it write
#
# A language model gives a probability to each next character. To write, one draws a character, feeds it back in, and so
# on. Taking the most likely one each time is called **greedy**. Three other ways of choosing are in use:
#
# - a **temperature** $\tau$ divides the logits before the softmax. Below 1, likely characters become likelier; above 1, all become
#   more alike.
# - **top-k** {cite}`fan2018hierarchical` draws among the $k$ most likely ones,
# - **top-p** {cite}`holtzman2020curious` among the fewest that together have the probability $p$.

# %%
show_source(sampling.top_p)


# %%
def step(ids: torch.Tensor, state: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Read one character of each of B texts. Shapes: (B,) to logits (B, V)."""
    logits, state = writer.model(ids[:, None], state)
    return logits[:, 0], state


def write(choose, start: str = "The ") -> torch.Tensor:
    """64 texts of 400 characters (64, 400) that go on from a beginning."""
    ids = torch.tensor([symbols.encode(start)] * 64)
    with torch.no_grad():
        _, state = writer.model(ids[:, :-1])
    return sampling.generate(step, state, ids[:, -1], 400, choose)


# %%
filters = {
    "temperature 0.3": lambda logits: sampling.temperature(logits, 0.3),
    "temperature 0.7": lambda logits: sampling.temperature(logits, 0.7),
    "temperature 1": lambda logits: logits,
    "temperature 1.5": lambda logits: sampling.temperature(logits, 1.5),
    "top-k, 5": lambda logits: sampling.top_k(logits, 5),
    "top-p, 0.9": lambda logits: sampling.top_p(logits, 0.9),
}


# %%
def drawn_from(keep):
    """A way of choosing: filter the logits, then draw."""
    chance = torch.Generator().manual_seed(0)
    return lambda logits: sampling.sample(keep(logits), chance)


written = {"greedy": write(lambda logits: logits.argmax(-1))}
written |= {name: write(drawn_from(keep)) for name, keep in filters.items()}

# %% tags=["nbval-ignore-output"]
for name, ids in written.items():
    print(f"{name:16}", repr("".join(symbols.decode(ids[0, :100]))))

# %% [markdown]
# Which is best? Two things are wanted, and they pull apart. The text should be like the docstrings: we let the counting model of
# order 5 judge it, by its perplexity. And it should not repeat itself: we count what share of its pieces of eight
# characters are different.


# %%
def judged(ids: torch.Tensor) -> float:
    """Perplexity of texts (n, 400) to the counting model of order 5."""
    return perplexity(-counting[5].log_probabilities(ids).mean())


def variety(ids: torch.Tensor) -> float:
    """Share of the pieces of eight characters, within texts (n, 400), that differ."""
    pieces = ids.unfold(1, 8, 1).tolist()  # (n, 393, 8)
    return sum(len(set(map(tuple, text))) / len(text) for text in pieces) / len(pieces)


rows = len(docstrings["validation"]) // 400
written["the docstrings"] = docstrings["validation"][: 400 * rows].view(rows, 400)
surprise = {name: judged(ids) for name, ids in written.items()}
varied = {name: variety(ids) for name, ids in written.items()}

# %% mystnb={"figure": {"caption": "64 texts of 400 characters written in each way. Right: more varied. Up: more surprising to a model that counts.", "name": "fig-sampling"}, "image": {"alt": "Points over variety from zero to one. Greedy writing stands far to the left and low, a temperature of 0.3 in the middle and low, temperatures of 1 and above to the right and high. The others and the docstrings stand to the right, in between."}}
figure, ax = plt.subplots(figsize=(7, 4.2))
for (name, value), marker in zip(surprise.items(), "osD^vPX*", strict=True):
    ax.scatter(varied[name], value, marker=marker, s=90, label=name)
ax.set(xlabel="share of different pieces", ylabel="perplexity to order 5", yscale="log")
ax.legend(fontsize=10)
plt.show()

# %%
observe(
    "Greedy writing goes in circles: under half of its pieces differ. At temperature 1 over 90 % differ, "
    "but the text surprises over twice as much as the docstrings. Top-p at 0.9 is under two thirds of that, "
    "with over 60 % of the pieces different.",
    varied["greedy"] < 0.5
    and varied["temperature 1"] > 0.9
    and surprise["temperature 1"] > 2 * surprise["the docstrings"]
    and surprise["top-p, 0.9"] < surprise["temperature 1"] * 2 / 3
    and varied["top-p, 0.9"] > 0.6,
    {name: f"{surprise[name]:.1f} at {varied[name]:.0%}" for name in surprise},
)

# %% [markdown]
# By these two numbers a temperature of 0.7 and top-k come nearest to the docstrings. Top-p is more varied, and more surprising. No way is
# best in both: each buys likeness with variety.
#
# ### One to many: a picture becomes a word
#
# Describing pictures is the best known task of this kind {cite}`vinyals2015show`. Ours is the smallest of them. A handwritten digit goes in, and
# the network spells its name. The picture becomes the first state; from there on, a language model of letters writes.

# %%
names = "zero one two three four five six seven eight nine".split()
alphabet = Vocabulary("".join(names))


class Speller(nn.Module):
    """A picture is the first state of a model of letters. Shapes: (B, 1, 8, 8), (B, T) to logits."""

    def __init__(self):
        super().__init__()
        self.look = nn.Linear(64, 64)
        self.write = recurrent.LanguageModel(len(alphabet), 8, recurrent.RNN(8, 64))

    def forward(self, images: torch.Tensor, ids: torch.Tensor) -> tuple:
        return self.write(ids, torch.tanh(self.look(images.flatten(1))))


# %% [markdown]
# In training the network reads the right word, with a sign for its beginning in front, and has to say the same word, with a sign
# for its end behind. Places that are padding don't count in the loss.


# %%
def spelled(labels: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """What is read and what is to be said, (B, T) each: the names of digits."""
    ids = [alphabet.encode(names[label]) for label in labels.tolist()]
    return pad([[BOS, *word] for word in ids])[0], pad([[*word, EOS] for word in ids])[0]


def real_steps(outputs: tuple, targets: torch.Tensor) -> torch.Tensor:
    """Cross-entropy over all steps that are not padding."""
    return F.cross_entropy(outputs[0].flatten(0, 1), targets.flatten(), ignore_index=PAD)


# %%
data = digits("file order")
torch.manual_seed(0)
speller = Speller()
optimiser = torch.optim.AdamW(speller.parameters(), lr=5e-3)
clip_gradients(optimiser, 1.0)
batches = Batches(data.train.images, *spelled(data.train.labels), batch_size=64, shuffle=True)
_ = fit(speller, batches, real_steps, optimiser, epochs=10)

# %% [markdown]
# In use, it reads what it has said itself.


# %%
def say(model: nn.Module, state: torch.Tensor, length: int) -> torch.Tensor:
    """The most likely symbol at each step, from a first state on. Shapes: (B, N) to (B, ≤ length)."""

    def step(ids, state):
        logits, state = model(ids[:, None], state)
        return logits[:, 0], state

    first = torch.full((len(state),), BOS)
    return sampling.generate(step, state, first, length, lambda logits: logits.argmax(-1), end=EOS)


# %%
images, wanted = data.test
with torch.no_grad():
    first_state = torch.tanh(speller.look(images.flatten(1)))
said = ["".join(alphabet.decode(row)) for row in say(speller.write, first_state, 6)]
named = sum(word == names[label] for word, label in zip(said, wanted.tolist())) / len(said)
proper = sum(word in names for word in said) / len(said)
observe(
    "Of the new digits over three quarters are named right, and over 95 % of what it says are names of digits.",
    named > 0.75 and proper > 0.95,
    {"right": f"{named:.1%}", "names": f"{proper:.1%}"},
)

# %% [markdown]
# ### Many to many: first read, then write
#
# *Beyond the core path, up to the next heading.* When the output has another length than the input, one network reads all of it, and its last state is the first state of
# another that writes. Day 4 is about such pairs. Here one reads the figures of a number below a thousand, and writes it in
# words: 307 is *three hundred seven*.

# %%
teens = "ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen".split()
tens = "twenty thirty forty fifty sixty seventy eighty ninety".split()
spoken = Vocabulary([*names, *teens, *tens, "hundred"])
figures = Vocabulary("0123456789")


def in_words(number: int) -> list[str]:
    """A number below a thousand, in words."""
    if number < 20:
        return [(names + teens)[number]]
    if number < 100:
        return [tens[number // 10 - 2], *(in_words(number % 10) if number % 10 else ())]
    rest = in_words(number % 100) if number % 100 else []
    return [names[number // 100], "hundred", *rest]


print(*in_words(307), "|", *in_words(40), "|", *in_words(999))


# %%
class NumberReader(nn.Module):
    """One network reads figures, another writes words from its last state on."""

    def __init__(self):
        super().__init__()
        self.read = recurrent.SequenceClassifier(len(figures), 16, recurrent.RNN(16, 64), 64)
        self.write = recurrent.LanguageModel(len(spoken), 16, recurrent.RNN(16, 64))

    def forward(self, source: torch.Tensor, lengths: torch.Tensor, ids: torch.Tensor) -> tuple:
        return self.write(ids, torch.tanh(self.read(source, lengths)))


# %%
order = torch.randperm(1000, generator=torch.Generator().manual_seed(0)).tolist()
known, unseen = order[:800], order[800:]
sources = {n: figures.encode(str(n)) for n in order}
targets = {n: spoken.encode(in_words(n)) for n in order}
torch.manual_seed(0)
counter = NumberReader()
optimiser = torch.optim.AdamW(counter.parameters(), lr=5e-3)
clip_gradients(optimiser, 1.0)
batches = BucketedBatches(
    [sources[n] for n in known], [targets[n] for n in known], batch_size=40, shuffle=True
)
_ = fit(counter, batches, real_steps, optimiser, epochs=30)

# %%
source, lengths = pad([sources[n] for n in unseen])
with torch.no_grad():
    first_state = torch.tanh(counter.read(source, lengths))
answers = [spoken.decode(row) for row in say(counter.write, first_state, 6)]
exact = sum(answer == in_words(n) for answer, n in zip(answers, unseen)) / len(unseen)
observe(
    "Of 200 numbers that it never saw, over 70 % are written without a mistake.",
    exact > 0.7,
    {"right": f"{exact:.1%}"},
)

# %% [markdown]
# It did not learn a thousand numbers by heart. It learned how numbers are said, and that takes memory: between the *three* and the
# *seven* of 307 it has to say *hundred*, and to know what comes after.
#
# ### When training breaks
#
# Most networks above were trained with clipped gradients, {eq}`eq-clip`. Is that needed? Here is a case where it is. The task is
# yesterday's: to say which of four symbols was the first, of ten. We use plain gradient descent with a high
# learning rate, since AdamW divides by the gradient's size and so hides much of the trouble.


# %%
def descend(clipped: bool, rate: float, seed: int) -> tuple[float, nn.Module]:
    """Final training loss, and the network, after learning to recall the first of ten symbols."""
    torch.manual_seed(seed)
    network = recurrent.SequenceClassifier(4, 8, recurrent.RNN(8, 32), 4)
    nn.init.normal_(network.layer.W_h, std=1.5 / 32**0.5)  # it can hold a symbol, and explode
    optimiser = torch.optim.SGD(network.parameters(), lr=rate)
    if clipped:
        clip_gradients(optimiser, 1.0)
    batches = Batches(*recall_ids(2000, 10, seed), batch_size=50, shuffle=True)
    history = fit(network, batches, F.cross_entropy, optimiser, epochs=6, seed=seed)
    return history.train["loss"][-1], network


# %%
def recalled(network: nn.Module, length: int) -> float:
    """Share of new sequences of a length whose first symbol the network names."""
    ids, first = recall_ids(1000, length, 1000)
    with torch.no_grad():
        return accuracy(network(ids), first)


# %%
descents = {
    (clipped, rate): [descend(clipped, rate, seed) for seed in range(3)]
    for rate in (0.1, 2.0)
    for clipped in (True, False)
}
right = {how: [recalled(network, 10) for _, network in runs] for how, runs in descents.items()}
table(
    [
        [str(rate), "yes" if clipped else "no", f"{sum(r > 0.95 for r in shares)} of 3"]
        for (clipped, rate), shares in right.items()
    ],
    ["learning rate", "clipped", "seeds that learn it"],
)

# %%
observe(
    "At a rate of 2 all clipped networks learn it, and at most one of the others; at 0.1 all learn it.",
    min(right[True, 2.0]) > 0.95
    and sum(share > 0.5 for share in right[False, 2.0]) <= 1
    and min(right[True, 0.1] + right[False, 0.1]) > 0.95,
    {"largest final loss, unclipped": f"{max(loss for loss, _ in descents[False, 2.0]):.1f}"},
)

# %% [markdown]
# We suspect the large steps: one of them can throw the weights so far that training does not find the way back, though by chance it
# may. Clipping bounds the step. With a low rate it isn't needed here; clipping is what makes higher rates safe.

# %% [markdown]
# ## Look inside
#
# *14 minutes.* How far back does a gradient reach? Here is the picture that stands in many courses: a factor a little below
# 1 vanishes, one a little above explodes. Beside it we put what happens in networks. $W_h$ is a random matrix of 64 units, scaled to a given
# spectral radius; the inputs are random numbers of variance 1. The network in the middle is linear, the one on the right has its tanh.


# %%
def random_matrix(radius: float, seed: int, size: int = 64) -> torch.Tensor:
    """A matrix of normal numbers, scaled to a spectral radius."""
    W = torch.randn(size, size, generator=torch.Generator().manual_seed(seed))
    return W * radius / torch.linalg.eigvals(W).abs().max()


def noise(steps: int, size: float, seed: int, units: int = 64) -> torch.Tensor:
    """Random inputs (T, N), already multiplied by W_x."""
    generator = torch.Generator().manual_seed(1000 + seed)
    return size * torch.randn(steps, units, generator=generator)


# %%
def log_product(W: torch.Tensor, inputs: torch.Tensor, linear: bool = False) -> list[float]:
    """log₁₀ of the norm of the product of 0, 1, …, T Jacobians, along a run over inputs (T, N).

    The norm is the root of the mean square of a row: that of the identity is 1.
    """
    h, total, logs = torch.zeros(len(W)), 0.0, [0.0]
    product = torch.eye(len(W)) / len(W) ** 0.5
    for u in inputs:
        h = torch.tanh(W @ h + u)
        product = W @ product if linear else (1 - h**2)[:, None] * (W @ product)
        total += product.norm().log10().item()
        product = product / product.norm()  # or it would underflow
        logs.append(total)
    return logs


# %% mystnb={"figure": {"caption": "Size of a gradient by the number of steps that it goes back: powers of one number (left), a linear recurrence with that spectral radius (middle), and the same weights with a tanh and inputs (right).", "name": "fig-factors"}, "image": {"alt": "Three panels with a logarithmic axis. Left and middle: the line for 0.85 falls to ten to the minus seven over a hundred steps, the one for 1 stays level, the one for 1.05 rises to about one hundred. Right: all three fall, to below ten to the minus seventeen."}}
radii, steps = (0.85, 1.0, 1.05), range(101)
kinds = {
    "one number": lambda r: [k * math.log10(r) for k in steps],
    "linear": lambda r: log_product(random_matrix(r, 0), noise(100, 1.0, 0), linear=True),
    "tanh, with inputs": lambda r: log_product(random_matrix(r, 0), noise(100, 1.0, 0)),
}
figure, axes = plt.subplots(1, 3, figsize=(9, 3.4), sharey=True)
for ax, (title, path) in zip(axes, kinds.items()):
    curves({str(r): (steps, path(r)) for r in radii}, "steps back", "log₁₀ of the size", ax=ax)
    ax.set_title(title)
plt.show()


# %%
def arrives(radius: float, linear: bool) -> list[float]:
    """log₁₀ of what arrives after 100 steps, for five seeds."""
    return [log_product(random_matrix(radius, s), noise(100, 1.0, s), linear)[-1] for s in range(5)]


arrived = {(r, linear): arrives(r, linear) for r in radii for linear in (True, False)}
print("one number:", *(f"{r} to the power of 100 is {r**100:.1e}" for r in radii), sep="\n  ")

# %%
observe(
    "Over 100 steps the linear network shrinks a gradient below 1e-5 at 0.85, and lets it grow over "
    "10 times at 1.05. With tanh and inputs it shrinks below 1e-12 at all three radii.",
    max(arrived[0.85, True]) < -5
    and min(arrived[1.05, True]) > 1
    and all(max(arrived[r, False]) < -12 for r in radii),
    {"1.05, linear": f"1e{arrived[1.05, True][0]:.0f}", "tanh": f"1e{arrived[1.05, False][0]:.0f}"},
)

# %% [markdown]
# So the picture is right about numbers and about linear recurrences, and wrong about the network that we use. Inputs push the
# units away from 0, to where the tanh is flat, and each step multiplies by slopes well below 1.
#
# When does a tanh network explode then? We measure the factor per step, $e^\lambda$ of {eq}`eq-lyapunov`, over spectral radii up to 5
# and inputs of several sizes.


# %%
def factor(W: torch.Tensor, inputs: torch.Tensor) -> float:
    """Factor per step of the product of Jacobians, after 100 steps to settle."""
    logs = log_product(W, inputs)
    return 10 ** ((logs[-1] - logs[100]) / (len(logs) - 101))


radii = [0.5, 0.85, 1.05, 1.5, 2.0, 3.0, 4.0, 5.0]
sizes = [0.1, 0.3, 1.0, 3.0]
factors = {
    (r, size): [factor(random_matrix(r, s), noise(250, size, s)) for s in range(3)]
    for r in radii
    for size in sizes
}

# %% mystnb={"figure": {"caption": "Factor per step by which a gradient changes on its way back, mean and range of three random networks. Above 1 it explodes, below it vanishes. A linear network would follow the diagonal.", "name": "fig-growth"}, "image": {"alt": "Curves over the spectral radius from 0.5 to 5, all rising, all below the diagonal from a radius of 1 on; they cross the line at 1 between radii of about 1.5 for small inputs and 3 for large ones."}}
lines = {"linear": (radii[:5], radii[:5])}
for size in sizes:
    three = zip(*(factors[r, size] for r in radii))
    lines[f"inputs of size {size}"] = radii, list(three)
ax = curves(lines, "spectral radius of $W_h$", "factor per step")
ax.axhline(1, color="black", linewidth=1)
plt.show()

# %%
turned = max(factors[2.0, 3.0]) < 0.9 and sum(factors[2.0, 0.1]) / 3 > 1.03
observe(
    "At radius 1.05 the factor is below 1 for inputs of every size. At 2 it is below 0.9 for inputs of size "
    "3, and above 1 in the mean for size 0.1. At 5 it is above 1 for all.",
    all(max(factors[1.05, size]) < 1 for size in sizes)
    and turned
    and all(min(factors[5.0, size]) > 1.1 for size in sizes),
    {f"radius {r}, size 1": f"{sum(factors[r, 1.0]) / 3:.2f}" for r in (1.05, 2.0, 5.0)},
)

# %% [markdown]
# Above a norm of 1, no number of $W_h$ alone decides. The same weights make a gradient vanish under large inputs and explode under small ones. Large random
# networks without inputs become chaotic above a radius of 1 {cite}`sompolinsky1988chaos`; inputs calm them.
#
# ### Singular values and eigenvalues
#
# *Beyond the core path.* The bound {eq}`eq-bound` speaks of the norm, the figure of the spectral radius. How far can the two lie apart? Five matrices:


# %%
def rotation(size: int, seed: int) -> torch.Tensor:
    """A random orthogonal matrix: it turns vectors and keeps their length."""
    W = torch.randn(size, size, generator=torch.Generator().manual_seed(seed))
    return torch.linalg.qr(W)[0]


matrices = {
    "0.95 × orthogonal": 0.95 * rotation(64, 0),
    "orthogonal": rotation(64, 0),
    "shear": torch.tensor([[0.8, 4.0], [0.0, 0.8]]),
    "random, radius 1.05": random_matrix(1.05, 0),
    "random, radius 5": random_matrix(5.0, 0),
}


# %%
def facts(W: torch.Tensor) -> dict[str, float]:
    """Norm, spectral radius, largest and last norm of 100 powers, and the factor with a tanh."""
    powers, power = [], torch.eye(len(W), dtype=torch.float64)
    for _ in range(100):
        power = W.double() @ power
        powers.append(torch.linalg.matrix_norm(power, 2).item())
    return {
        "norm": torch.linalg.matrix_norm(W, 2).item(),
        "radius": torch.linalg.eigvals(W).abs().max().item(),
        "largest": max(powers),
        "last": powers[-1],
        "tanh": factor(W, noise(250, 1.0, 0, len(W))),
    }


# %%
measured = {name: facts(W) for name, W in matrices.items()}
table(
    [
        [name, f"{f['norm']:.2f}", f"{f['radius']:.2f}", f"{f['last']:.0e}",
         "vanishes" if f["tanh"] < 1 else "explodes"]
        for name, f in measured.items()
    ],
    ["W", "largest singular value", "spectral radius", "norm of W¹⁰⁰", "tanh, inputs of size 1"],
)  # fmt: skip

# %% [markdown]
# The shear is the instructive one. Its norm is above 4, and yet its powers vanish in the end, since its spectral radius is 0.8. On
# the way they grow first. The orthogonal matrix keeps every gradient as long as it is, for ever; but with a tanh and inputs it no
# longer does.

# %%
shear = measured["shear"]
observe(
    "The powers of the shear grow to over 8 before they vanish.",
    shear["largest"] > 8 and shear["last"] < 1e-6,
    {"largest norm": f"{shear['largest']:.1f}", "norm of the 100th": f"{shear['last']:.0e}"},
)

# %% [markdown]
# ### In the network that we trained
#
# Random weights are one thing. What did training make of them, in the network that writes docstrings? We let it read
# held-out text, and measure the same numbers.

# %%
trained = writer.model
torch.manual_seed(0)
fresh = recurrent.LanguageModel(len(symbols), 32, recurrent.RNN(32, 128))
text = docstrings["validation"][: 16 * 1500].view(16, 1500)


def inner(model: nn.Module) -> dict[str, float]:
    """Norm and radius of W_h, how flat the tanh is on real text, and the factor per step there."""
    with torch.no_grad():
        projected = model.layer.project(model.embedding(text))
        h = model.layer(model.embedding(text))[0]
        return {
            "norm": torch.linalg.matrix_norm(model.layer.W_h, 2).item(),
            "radius": torch.linalg.eigvals(model.layer.W_h).abs().max().item(),
            "saturated": (h.abs() > 0.95).float().mean().item(),
            "factor": factor(model.layer.W_h, projected[0, :300]),
        }


# %%
before, after = inner(fresh), inner(trained)
observe(
    "Training raised the spectral radius from under 1 to over 2 and saturated over half of the units, and "
    "the gradient still shrinks, to less than 0.9 of its size at a mean step.",
    before["radius"] < 1 < 2 < after["radius"]
    and before["saturated"] < 0.05 < 0.5 < after["saturated"]
    and max(before["factor"], after["factor"]) < 0.9,
    {
        "radius": f"{before['radius']:.2f} to {after['radius']:.2f}",
        "norm": f"{before['norm']:.2f} to {after['norm']:.2f}",
        "saturated": f"{before['saturated']:.0%} to {after['saturated']:.0%}",
        "factor per step": f"{before['factor']:.2f} to {after['factor']:.2f}",
    },
)

# %% [markdown]
# Here is what the rule of thumb "above 1 it explodes" misses. The spectral radius is far above 1, and the gradient vanishes, because most
# units sit at -1 or 1, where the tanh is flat. We draw it: the gradient of one step's loss by each state before.


# %%
def gradient_back(model: nn.Module, steps: int = 60) -> list[float]:
    """Norm of the gradient of a loss by the state k steps earlier, over that by its own state."""
    h, states = torch.zeros(16, 128), []
    for projected_t in model.layer.project(model.embedding(text[:, :100])).unbind(dim=1):
        h = model.layer.step(projected_t, h)
        states.append(h)
    loss = F.cross_entropy(model.output(h), text[:, 100])
    norms = [g.norm().item() for g in torch.autograd.grad(loss, states)][::-1]
    return [norm / norms[0] for norm in norms[:steps]]


# %% mystnb={"figure": {"caption": "Gradient of the loss at one step by the state k steps earlier, relative to its own, in the network that writes.", "name": "fig-gradient-back"}, "image": {"alt": "Two falling lines on a logarithmic axis; the one of the trained network falls more slowly, to below one millionth after sixty steps, the untrained one further."}}
back = {name: gradient_back(model) for name, model in (("untrained", fresh), ("trained", trained))}
curves(
    {name: (range(60), norms) for name, norms in back.items()},
    "steps back",
    "relative size",
    logy=True,
)
plt.show()

# %%
observe(
    "Training lets the gradient reach further back: after 20 steps ten times as much of it is left, or more.",
    10 * back["untrained"][20] < back["trained"][20],
    {name: f"{norms[20]:.0e}" for name, norms in back.items()},
)


# %% [markdown]
# That also says what truncation costs. We compare the gradient of $W_h$ over 64 steps, whole, with the one that is cut into chunks.


# %%
def gradient_in_chunks(model: nn.Module, k: int) -> torch.Tensor:
    """Gradient of W_h over 64 steps, cut after every k."""
    model.zero_grad()
    state = None
    for begin in range(0, 64, k):
        logits, state = model(text[:, begin : begin + k], state)
        targets = text[:, begin + 1 : begin + k + 1]
        F.cross_entropy(logits.flatten(0, 1), targets.flatten(), reduction="sum").backward()
        state = recurrent.detach(state)
    return model.layer.W_h.grad.flatten().clone()


# %%
whole = gradient_in_chunks(trained, 64)
likeness = {
    k: F.cosine_similarity(gradient_in_chunks(trained, k), whole, dim=0).item() for k in (1, 4, 16)
}
observe(
    "Cut after each step, the gradient points elsewhere, with a cosine below 0.85; cut after 16, above 0.93.",
    likeness[1] < 0.85 and likeness[16] > 0.93 and likeness[1] < likeness[4] < likeness[16],
    {f"after {k}": f"{cosine:.2f}" for k, cosine in likeness.items()},
)

# %% [markdown]
# Cutting after 16 loses little. But this network was trained on chunks of 32, so it never had reason to look further.
#
# ### What the state knows
#
# *Beyond the core path, as is the rest of this section.* What does the card hold, in the end? A **linear probe** {cite}`alain2016understanding` asks: can the character of $k$ steps ago be read off the
# state, by a linear map that is fitted to half of the texts and tested on the other half?


# %%
def probe(model: nn.Module, k: int) -> float:
    """Share of characters k steps back that a linear map reads off the state, on other texts."""
    with torch.no_grad():
        h = model.layer(model.embedding(text))[0][:, 30:]  # (16, T, N)
    h = torch.cat([h, torch.ones_like(h[:, :, :1])], dim=2)
    past = text[:, 30 - k : text.shape[1] - k]
    known, targets = h[:8].flatten(0, 1), F.one_hot(past[:8].flatten(), len(symbols)).float()
    ridge = known.T @ known + torch.eye(known.shape[1])
    weights = torch.linalg.solve(ridge, known.T @ targets)
    return accuracy(h[8:].flatten(0, 1) @ weights, past[8:].flatten())


distances = [0, 1, 2, 3, 4, 5, 6, 8, 10, 15, 20]
probed = {
    name: [probe(model, k) for k in distances]
    for name, model in (("trained", trained), ("untrained", fresh))
}

# %% mystnb={"figure": {"caption": "Share of characters that can be read off the state, by how long ago they were read.", "name": "fig-probe"}, "image": {"alt": "Two falling curves. The untrained network's stays near one for three steps and falls to chance at about eight; the trained network's falls from the second step on and is at chance after about six."}}
ax = curves(
    {name: (distances, shares) for name, shares in probed.items()},
    "steps ago",
    "share read off the state",
)
guess = (text == text.flatten().mode().values).float().mean().item()  # always the same character
ax.axhline(guess, color="black", linewidth=1)
ax.set_xticks(range(0, 21, 5))
plt.show()

# %%
observe(
    "Of characters three steps ago over 70 % can be read off the untrained state, and over 10 points less "
    "off the trained one; of those 15 steps ago what a guess would give, within 5 points.",
    probed["untrained"][3] > 0.7
    and probed["trained"][3] < probed["untrained"][3] - 0.1
    and max(abs(shares[9] - guess) for shares in probed.values()) < 0.05,
    {name: f"{shares[3]:.0%}, {shares[9]:.0%}" for name, shares in probed.items()},
)

# %% [markdown]
# A surprise: a linear map finds *more* of the last characters in the untrained network. Random weights mix everything in. The trained
# network has to say what comes next, and for that it need not know each letter of the last word. Of these it keeps less in a form that
# is easy to read; what a cleverer reader would find, this probe can't tell. Both are one network from one seed.
#
# ### A reader at work
#
# Last, the network that names languages. After each letter we can ask what it would say now.

# %% mystnb={"figure": {"caption": "What the language reader would answer after each letter of a word from the validation set, for the four likeliest languages at the end.", "name": "fig-reading"}, "image": {"alt": "Curves over the letters of a word; the lead changes several times before the end."}}
chosen = max(words["validation"], key=lambda word: (word.language == "fi") * len(word.text))
ids = torch.tensor([letters.encode(chosen.text)])
with torch.no_grad():
    shown = reader.output(reader.layer(reader.embedding(ids))[0])[0].softmax(1)  # (T, 12)
top = shown[-1].topk(4).indices.tolist()
places = range(1, len(chosen.text) + 1)
ax = curves({LANGUAGES[i]: (places, shown[:, i]) for i in top}, "letter", "probability")
ax.set_xticks(places, list(chosen.text))
plt.show()

# %% [markdown]
# It changes its mind every few letters. Is that so for all long words? We give it the last five letters alone, and the first five alone, and compare
# with what it says of the whole word.

# %%
long = [letters.encode(w.text) for w in words["validation"] if len(w.text) >= 10]
with torch.no_grad():
    whole = reader(*pad(long)).argmax(1)
    same = {
        part: (reader(*pad([ids[cut] for ids in long])).argmax(1) == whole).float().mean().item()
        for part, cut in (("last", slice(-5, None)), ("first", slice(5)))
    }
observe(
    "Of words with ten letters or more, the last five give the answer of the whole in over 75 %, the "
    "first five in under 40 %.",
    same["last"] > 0.75 and same["first"] < 0.4,
    {f"{part} five": f"{share:.0%}" for part, share in same.items()},
)

# %% [markdown]
# What stood five letters back hardly counts any more. For the language of a word that is often enough. For the meaning of a sentence it would not be.

# %% [markdown]
# ## Where it breaks
#
# *8 minutes.* In theory, a recurrent network with rational weights can compute whatever a computer can {cite}`siegelmann1995computational`,
# given numbers of unlimited precision and as much time as it wants. That says that weights exist. Does training find
# them? We come back to yesterday's question: what was the first of many symbols? A long experiment trained networks of 112
# units. It stopped once 99.5 % of validation sequences were right, or after 600 steps.

# %%
show_source(train_recall)

# %% [markdown]
# One half of it saw sequences of the full length only. The other half saw shorter ones among them. One member is run again, here
# and now.

# %%
now, stored = experiments.live("recall_fixed", layer="RNN", length=10, seed=0)
observe(
    "The first of 10 symbols is recalled as the stored table says, within 3 points.",
    abs(now["test"] - stored["test"]) < 0.03,
    {"now": f"{now['test']:.1%}", "stored": f"{stored['test']:.1%}"},
)

# %%
halves = {
    "full length only": experiments.load("recall_fixed"),
    "shorter ones, too": experiments.load("recall_mixed"),
}
lines, learned = {}, {}
for name, result in halves.items():
    lengths = result.parameters["length"]
    lines[name] = lengths, [result.column("test", layer="RNN", seed=seed) for seed in (0, 1, 2)]
    for n in lengths:
        rows = result.select(layer="RNN", length=n)
        learned[name, n] = sum(row["test"] > 0.9 for row in rows)

# %% mystnb={"figure": {"caption": "Share of first symbols that a plain recurrent network recalls, by the length of the sequence: mean and range over three seeds (stored experiments `recall_fixed` and `recall_mixed`). The line at the bottom is chance.", "name": "fig-recall"}, "image": {"alt": "Two curves over the length. Trained on the full length only, recall is complete up to 10 symbols, and between 10 and 100 it falls, with a wide range between seeds. With shorter sequences among them it stays complete up to 400."}}
ax = curves(lines, "length (symbols)", "recalled", logx=True)
ax.axhline(0.25, color="black", linewidth=1)
plt.show()

# %%
table(
    [[name, n, f"{count} of 3"] for (name, n), count in learned.items()],
    ["trained on", "length", "seeds over 90 %"],
)

# %% [markdown]
# This is not what one usually reads. A plain recurrent network *can* remember the first of 400 symbols, at all three seeds, and it learns it in a few
# hundred steps, if it meets short sequences among the long ones. From long ones alone it learns nothing reliably beyond
# ten. So the trouble is not in the memory. It is in the learning: what does the gradient say about the first symbol, before training?


# %%
def reaches_first(length: int, seed: int) -> float:
    """Gradient of an untrained network's loss by its first input, over that by its last."""
    torch.manual_seed(seed)
    network = recurrent.SequenceClassifier(4, 8, recurrent.RNN(8, 112), 4)
    ids, first = recall_ids(100, length, seed)
    x = network.embedding(ids).detach().requires_grad_()
    F.cross_entropy(network.output(network.layer(x)[1]), first).backward()
    norms = x.grad.norm(dim=(0, 2))  # (T,)
    return (norms[0] / norms[-1]).item()


reach = {n: [reaches_first(n, seed) for seed in range(3)] for n in (10, 20, 50)}
observe(
    "Of 10 symbols the first gets over a thousandth of the last one's gradient, of 20 less than a "
    "thousandth, of 50 less than a billionth.",
    min(reach[10]) > 1e-3 > max(reach[20]) and max(reach[50]) < 1e-9,
    {f"of {n}": f"{max(shares):.0e}" for n, shares in reach.items()},
)

# %% [markdown]
# From a billionth, learning is a matter of luck: the table tells for how many seeds of three. Short sequences build the road that long ones
# then use. We did not even sort them; to go from easy to hard would be a **curriculum** {cite}`bengio2009curriculum`. It is a cure where
# the same thing can be asked of short sequences. Where what has to be kept always lies far back, there are none to mix in. We would like a network in
# which the road is there from the beginning. Whether there is one, tomorrow's lesson measures.

# %% [markdown]
# ## Claims, measured
#
# *6 minutes.* Six sentences that one often reads about recurrent networks, and what we found.
#
# The first one is about lengths. The same weights read any length. And what they say about a beginning doesn't depend on what
# comes later. But were they trained for it? The networks that learned to recall the first of *ten* symbols get sequences of
# nine and of eleven.

# %%
layer = recurrent.RNN(3, 5)
x = torch.randn(2, 1000, 3, generator=torch.Generator().manual_seed(0))
with torch.no_grad():
    whole = layer(x)[0]
    prefixes = {n: (layer(x[:, :n])[0] - whole[:, :n]).abs().max().item() for n in (1, 10, 999)}
other = {n: [recalled(network, n) for _, network in descents[True, 2.0]] for n in (9, 10, 11)}
observe(
    "Of ten symbols the first is recalled by all three; of nine and of eleven, by none in over 80 %.",
    min(other[10]) > 0.95 and max(other[9] + other[11]) < 0.8,
    {f"of {n}": ", ".join(f"{share:.0%}" for share in shares) for n, shares in other.items()},
)

# %% [markdown]
# So they didn't learn "the first". They learned something that comes out right after ten steps, and we may not count on it after another number.
#
# (claim-rnn-1)=

# %%
with torch.no_grad():
    kept = [net(then_wait(1000))[0][:, -1].argmax(1).tolist() == [0, 1] for net in keepers]
same_beginning = max(prefixes.values()) < 1e-5
neither = max(other[9] + other[11]) < 0.8

# %%
claim(
    "rnn-1",
    supports={
        "one layer reads 1, 10, 999 and 1000 steps; a beginning gives the same states": same_beginning,
        "trained on 16 commands, all three networks keep a light for 1000": all(kept),
    },
    limits={
        "trained on exactly 10 symbols, none recalls the first of 9 or 11 in over 80 %": neither
    },
    numbers={f"recalled of {n}, lowest": min(shares) for n, shares in other.items()},
)

# %% [markdown]
# (claim-rnn-2)=

# %%
linear_too = max(arrived[0.85, True]) < -5 and min(arrived[1.05, True]) > 1
not_so = max(arrived[1.05, False]) < -12
claim(
    "rnn-2",
    supports={
        "over 100 steps 0.85 leaves under a millionth of a number": 0.85**100 < 1e-6,
        "over 100 steps 1.05 makes over a hundred times as much of it": 1.05**100 > 100,
        "linear networks with these spectral radii do so too, at five seeds": linear_too,
    },
    limits={"with tanh and inputs a radius of 1.05 vanishes, below 1e-12, at five seeds": not_so},
    numbers={"tanh, radius 1.05, log10 after 100 steps": sum(arrived[1.05, False]) / 5},
)

# %% [markdown]
# (claim-rnn-3)=

# %%
small, shear = measured["0.95 × orthogonal"], measured["shear"]
holds_below = small["last"] < 0.01 and small["tanh"] < 1
shear_ends = shear["norm"] > 4 and shear["largest"] > 8 and shear["last"] < 1e-6
norms = {
    r: [torch.linalg.matrix_norm(random_matrix(r, s), 2).item() for s in range(3)] for r in radii
}
above_one = min(norms[1.05]) > 1.5 and all(max(factors[1.05, size]) < 1 for size in sizes)
far_above = min(norms[5.0]) > 5 and min(factors[5.0, 1.0]) > 1.1
writer_vanishes = after["norm"] > 2 and after["factor"] < 0.9

# %%
claim(
    "rnn-3",
    supports={
        "with a norm of 0.95 a gradient vanishes, with tanh and without": holds_below,
        "three random matrices of norms over 5 make it explode, with tanh and inputs": far_above,
    },
    limits={
        "three of norms over 1.5 make it vanish, with inputs of four sizes": above_one,
        "the same three, of radius 2, let it grow with small inputs and shrink with large ones": turned,
        "a shear of norm over 4 lets it grow over 8 times, and then it vanishes": shear_ends,
        "in the trained writer the norm is over 2, and it vanishes": writer_vanishes,
    },
    numbers={"factor per step in the writer": after["factor"], "its norm": after["norm"]},
)

# %% [markdown]
# Above a norm of 1, what decides is the growth of the whole product of Jacobians along a run, and not a number of $W_h$.
#
# (claim-rnn-4)=

# %%
at = {n: learned["full length only", n] for n in (10, 20, 50, 100)}
some_fail = 0 < at[20] < 3
claim(
    "rnn-4",
    supports={
        "from sequences of 100 alone no seed of three learns it": at[100] == 0,
    },
    limits={
        "from 20 alone some seeds do and some don't": some_fail,
        "from 10 alone all three do": at[10] == 3,
        "with shorter ones on the way all three do at 400": learned["shorter ones, too", 400] == 3,
        "a light that is asked for at each step is kept for 1000": all(kept),
    },
    experiment="recall_fixed",
)

# %% [markdown]
# One reads of 10 steps, of 20, of 50. From the full length alone, 10 was always learned here, 20 depends on the seed, and 100 never was. What
# is said of 400 comes from the second experiment, `recall_mixed`.
#
# For the next claim we count. A step can't begin before the one that it needs. How long is the longest chain of operations that wait for
# each other? The graph that autograd keeps for the way back tells.


# %%
show_source(longest_chain)

# %%
causal = convolution.RecallNet(8, doubling=True, n_symbols=3)
spans = (64, 128, 256)
chains = {
    "recurrent layer": [longest_chain(layer(torch.randn(1, T, 3))[1]) for T in spans],
    "8 dilated convolutions": [longest_chain(causal(torch.randn(1, 3, T))) for T in spans],
}
table([[name, *counts] for name, counts in chains.items()], ["steps", *map(str, spans)])

# %% [markdown]
# The convolutions wait for their layers, and not for the length. But must a recurrence wait? If it is *linear*, two steps can be joined
# into one before anything has come in {cite}`blelloch1990prefix,martin2018parallelizing`. Then the chain has the length of a logarithm.


# %%
def in_rounds(a: float, x: torch.Tensor) -> tuple[torch.Tensor, int]:
    """All h_t = a h_{t-1} + x_t (T,) at once, in rounds that double how far each has seen."""
    h, rounds, reach = x, 0, 1
    while reach < len(x):
        earlier = torch.cat([h.new_zeros(reach), h[:-reach]])
        h, rounds, reach = h + a**reach * earlier, rounds + 1, 2 * reach
    return h, rounds


x = torch.randn(64, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
at_once, rounds = in_rounds(0.9, x)
one_by_one = [x[0]]
for value in x[1:]:
    one_by_one.append(0.9 * one_by_one[-1] + value)
torch.testing.assert_close(at_once, torch.stack(one_by_one), rtol=1e-10, atol=1e-10)
print(f"{len(x)} steps in {rounds} rounds")

# %% [markdown]
# With a tanh between them, two steps can't be joined like this. But one can guess all states at once, and take one step from all guesses
# at once, again and again {cite}`song2021accelerating`. Each round makes one more state exact. If the network forgets fast, all of them
# are right long before.


# %%
def rounds_to_settle(W: torch.Tensor, inputs: torch.Tensor) -> int:
    """Rounds until no state (T, N) changes by more than 1e-10, all steps at once in each."""
    h, rounds, change = torch.zeros_like(inputs), 0, 1.0
    while change > 1e-10:
        before = F.pad(h[:-1], (0, 0, 1, 0))
        new = torch.tanh(before @ W.T + inputs)
        h, rounds, change = new, rounds + 1, (new - h).abs().max().item()
    return rounds


settled = [
    rounds_to_settle(random_matrix(1.05, s).double(), noise(1000, 1.0, s).double())
    for s in range(3)
]
print("all 1000 states are found in under 100 rounds:", max(settled) < 100)

# %% [markdown]
# And does waiting cost anything? A stored experiment read 12,800 symbols, forwards and backwards, cut into sequences of 10 to 800 steps. The work is the
# same each time; only how many steps wait for each other differs.
#
# (claim-rnn-5)=

# %%
timed = experiments.load("recurrent_time")
took = {row["length"]: row["milliseconds"] for row in timed.select(layer="RNN")}
waits = chains["recurrent layer"]
longer_by_two = waits[2] - waits[1] == 2 * (256 - 128)
flat = len(set(chains["8 dilated convolutions"])) == 1

# %%
claim(
    "rnn-5",
    supports={
        "each step makes the chain of a recurrent layer longer by two": longer_by_two,
        "dilated convolutions have the same chain for 64 and for 256 steps": flat,
        "800 steps take over 3 times as long as 10, at the same work": took[800] > 3 * took[10],
    },
    limits={
        "a linear recurrence over 64 steps needs 6 rounds, not 64": rounds == 6,
        "1000 steps with a tanh, of three networks that forget, need under 100": max(settled) < 100,
    },
    numbers={f"ms for {n} steps": milliseconds for n, milliseconds in took.items()},
    experiment="recurrent_time",
)

# %% [markdown]
# Rounds cost work: each computes all steps again. And a network that remembers needs many. Recurrences without a tanh between the steps come on a later day. And the timing is that of many
# small products after each other, on one thread: a part of it is the cost of each call.
#
# (claim-rnn-6)=

# %%
claim(
    "rnn-6",
    supports={
        "many to one: the language of a word, over 60 % of test words, one of twelve": tested > 0.6,
        "one to many: a picture of a digit spells its name, over 85 % of new ones": named > 0.85,
        "many to many: a number in words, over 70 % of new ones without a mistake": exact > 0.7,
        "in step: the next character, better than counting triples": ours < perplexities[3],
    },
    numbers={"language": tested, "digits": named, "numbers": exact, "perplexity": ours},
)

# %% [markdown]
# ## Exercises
#
# *As long as you like.* Fill in the functions and run the cells; the check under each one tells you
# what is wrong, if something is. Solutions stand on [a page of their own](solutions/02_recurrent.ipynb).
#
# ```{exercise} Count before you build
# :label: exercise-2-1
#
# *Warm-up, 5 minutes.* A model of text knows 50 characters. It looks each one up in an embedding of
# width 16, reads with one layer of 32 units as in {eq}`eq-rnn`, and gives 50 logits by
# {eq}`eq-rnn-output`. How many parameters is that? And how many for a text of twice the length?
# Write down the first number before you ask PyTorch.
# ([Solution](solutions/02_recurrent.ipynb#solution-2-1))
# ```

# %%
my_count = None

check("2.1", my_count)

# %% [markdown]
# ```{exercise} Predict: half sure, half lost
# :label: exercise-2-2
#
# *Warm-up, 5 minutes.* In a long text, a model gave the right character a probability of 1/2 at every
# other step, and of 1/8 at the steps between. What is its perplexity? Commit yourself before you use
# {eq}`eq-perplexity`. ([Solution](solutions/02_recurrent.ipynb#solution-2-2))
# ```

# %%
my_perplexity = None

check("2.2", my_perplexity)

# %% [markdown]
# ```{exercise} A card that is rewritten slowly
# :label: exercise-2-3
#
# *Core, 15 minutes.* In {eq}`eq-rnn` the whole card is rewritten at every step. **Leaky** units keep
# most of it:
#
# $$
# h_t = (1 - \alpha)\, h_{t-1} + \alpha \tanh(W_x x_t + W_h h_{t-1} + b) .
# $$
#
# Write the layer. The state before the first step is given, and it is the same for all sequences of
# the batch. You may loop over time, but not over the batch.
# ([Solution](solutions/02_recurrent.ipynb#solution-2-3))
# ```


# %%
def leaky_rnn(x, start, W_x, W_h, b, leak: float) -> torch.Tensor:
    """Shapes: x (B, T, D), start (N,), W_x (N, D), W_h (N, N), b (N,).

    Returns: the states after each step (B, T, N).
    """
    raise NotImplementedError


check("2.3", leaky_rnn)

# %% [markdown]
# ```{exercise} Predict: out of reach
# :label: exercise-2-4
#
# *Core, 5 minutes.* The largest singular value of a network's $W_h$ is 0.8. Take {eq}`eq-bound`: from
# how many steps on is it certain that less than a thousandth of a gradient arrives? Give the smallest
# such number. What does it mean for a task like yesterday's, to recall a symbol after 64 steps?
# ([Solution](solutions/02_recurrent.ipynb#solution-2-4))
# ```

# %%
my_steps = None

check("2.4", my_steps)

# %% [markdown]
# ```{exercise} Predict: which one explodes?
# :label: exercise-2-5
#
# *Core, 10 minutes.* Without the tanh, 100 steps multiply a gradient by the 100th power of $W_h$.
# For one of these matrices, that can make it more than a thousand times as long. For which one? Look
# at the numbers first, and commit yourself to `"a"`, `"b"`, `"c"` or `"d"`.
#
# $$
# a = \begin{pmatrix} 0.9 & 5 \\ 0 & 0.9 \end{pmatrix} \quad
# b = \begin{pmatrix} 0.6 & -0.8 \\ 0.8 & 0.6 \end{pmatrix} \quad
# c = \begin{pmatrix} 0.5 & 0.6 \\ 0.6 & 0.5 \end{pmatrix} \quad
# d = \begin{pmatrix} 0 & 4 \\ 0.2 & 0 \end{pmatrix}
# $$
#
# ([Solution](solutions/02_recurrent.ipynb#solution-2-5))
# ```

# %%
my_matrix = None

check("2.5", my_matrix)

# %% [markdown]
# ```{exercise} Where does a sentence end?
# :label: exercise-2-6
#
# *Core, 10 minutes.* Some networks read a sentence twice: one layer from left to right, another from
# right to left. At each position, the first half of `outputs` is the state of the forward layer, the
# second half that of the backward layer, which begins at the last real token. To classify a
# sentence, we want from both layers the state after all of it. The sentences of a batch are padded at
# the right end, and what stands at the padding may be anything.
# ([Solution](solutions/02_recurrent.ipynb#solution-2-6))
# ```


# %%
def both_ends(outputs: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
    """Shapes: outputs (B, T, 2N), lengths (B,) whole numbers.

    Returns: the forward layer's last state beside the backward layer's last state (B, 2N).
    """
    raise NotImplementedError


check("2.6", both_ends)

# %% [markdown]
# ```{exercise} Several texts in one row
# :label: exercise-2-7
#
# *Core, 15 minutes.* Padding wastes time. One can also lay short texts behind each other, as many as fit
# into a row. Then no text may know anything of the one before it. `starts` is `True` where a new text
# begins: before this step, the state is set to zero. A row may begin in the middle of a text; its
# state begins at zero too. Write the layer of {eq}`eq-rnn` for such rows.
# ([Solution](solutions/02_recurrent.ipynb#solution-2-7))
# ```


# %%
def packed_rnn(x, starts, W_x, W_h, b) -> torch.Tensor:
    """Shapes: x (B, T, D), starts (B, T) True or False, W_x (N, D), W_h (N, N), b (N,).

    Returns: the states after each step (B, T, N).
    """
    raise NotImplementedError


check("2.7", packed_rnn)

# %% [markdown]
# ```{exercise} Back through time
# :label: exercise-2-8
#
# *Stretch, 20 minutes.* Write {eq}`eq-bptt` and {eq}`eq-bptt-weights` for $W_h$, in matrices and for a
# batch, without autograd. Of the way there, only the states are left. `grad_h` is the gradient that
# each step's own output sends to its state, $W_y^\top\, \partial \ell_t / \partial y_t$.
# ([Solution](solutions/02_recurrent.ipynb#solution-2-8))
# ```


# %%
def recurrent_gradient(states, grad_h, W_h) -> torch.Tensor:
    """Shapes: states (B, T+1, N), from the one before the first step on; grad_h (B, T, N).

    Returns: the gradient of W_h (N, N), summed over steps and batch.
    """
    raise NotImplementedError


check("2.8", recurrent_gradient)

# %% [markdown]
# ```{exercise} Where to cut
# :label: exercise-2-9
#
# *Stretch, 20 minutes.* Now truncated, and with autograd. The sequences are cut into chunks of `k`
# steps; the last chunk may be shorter. The loss is $\frac{1}{2}\sum_t \lVert h_t - y_t \rVert^2$,
# summed over the batch. The states go on from chunk to chunk, the gradients do not. What is the gradient
# of $W_h$, added up over all chunks? `torch.autograd.grad(loss, W_h)` returns a tuple.
# ([Solution](solutions/02_recurrent.ipynb#solution-2-9))
# ```


# %%
def truncated_gradient(x, y, start, W_x, W_h, b, k: int) -> torch.Tensor:
    """Shapes: x (B, T, D), y (B, T, N), start (B, N), W_x (N, D), W_h (N, N), b (N,).

    Returns: the gradient of W_h (N, N).
    """
    W_h = W_h.clone().requires_grad_()
    raise NotImplementedError


check("2.9", truncated_gradient)

# %% [markdown]
# ```{exercise} Clip the whole
# :label: exercise-2-10
#
# *Core, 10 minutes.* Write {eq}`eq-clip` for a model with several tensors of weights. Beware of a
# gradient that is zero.
# ([Solution](solutions/02_recurrent.ipynb#solution-2-10))
# ```


# %%
def clip(gradients: list[torch.Tensor], max_norm: float) -> list[torch.Tensor]:
    """The gradients of all tensors, together at most `max_norm` long."""
    raise NotImplementedError


check("2.10", clip)

# %% [markdown]
# ```{exercise} What the padding says
# :label: exercise-2-11
#
# *Core, 10 minutes.* `nats` holds $-\log p$ of each right character, with the natural logarithm, as
# `F.cross_entropy(…, reduction="none")` gives it. The lines are padded at the end. What is the model's
# perplexity? Every real character counts alike, whether its line is short or long.
# ([Solution](solutions/02_recurrent.ipynb#solution-2-11))
# ```


# %%
def perplexity_of_lines(nats: torch.Tensor, lengths: torch.Tensor) -> float:
    """Shapes: nats (B, T), lengths (B,) whole numbers."""
    raise NotImplementedError


check("2.11", perplexity_of_lines)

# %% [markdown]
# ```{exercise} How many may speak?
# :label: exercise-2-12
#
# *Core, 15 minutes.* Top-k always leaves k characters to choose from, top-p sometimes many and
# sometimes one. How many? First comes the temperature. Then the most likely characters are taken, one
# after the other, until together they have a probability of at least p.
# ([Solution](solutions/02_recurrent.ipynb#solution-2-12))
# ```


# %%
def nucleus_size(logits: torch.Tensor, temperature: float, p: float) -> torch.Tensor:
    """Shapes: logits (B, V) to whole numbers (B,): how many characters top-p keeps."""
    raise NotImplementedError


check("2.12", nucleus_size)

# %% [markdown]
# ```{exercise} A threshold that moves
# :label: exercise-2-13
#
# *Stretch, 15 minutes.* **Min-p** {cite}`nguyen2025turning` asks each character alone: are you at least
# `share` times as likely as the most likely one? When the model is sure, the threshold is high, and when
# it wavers, it is low. Write it, with the temperature first.
# ([Solution](solutions/02_recurrent.ipynb#solution-2-13))
# ```


# %%
def min_p(logits: torch.Tensor, temperature: float, share: float) -> torch.Tensor:
    """Shapes: logits (B, V) to the probabilities from which to draw (B, V)."""
    raise NotImplementedError


check("2.13", min_p)

# %% [markdown]
# ```{exercise} A memory that nobody trained
# :label: exercise-2-14
#
# *Research, 45 minutes.* In an **echo state network** {cite}`jaeger2001short` $W_x$ and $W_h$ are random
# and stay so; only the output layer is fitted. How much does such a state know of the past? Write
# `with_radius` first: it scales a matrix to a given spectral radius. Then take 100 tanh
# units without biases, with $W_x$ uniform between -0.1 and 0.1. Feed them one random
# number a step, uniform between -1 and 1. Find by least squares how well the input of $k$ steps ago can be
# read off the state, on steps that you held back. What is the largest $k$ for which more than half of the
# variance is explained? Measure it for radii of 0.5, 0.95 and 1.5, over three seeds. Can you find
# a $W_h$ with a radius of at most 1 that remembers twice as long as the best of these?
# ([Solution](solutions/02_recurrent.ipynb#solution-2-14))
# ```


# %%
def with_radius(W_h: torch.Tensor, radius: float) -> torch.Tensor:
    """A multiple of W_h (N, N) whose largest eigenvalue has the magnitude `radius`."""
    raise NotImplementedError


check("2.14", with_radius)

# %% [markdown]
# ## Checklist and tomorrow
#
# The points from the top of the page, ticked when you have passed the exercises that test them.

# %%
points = {
    "compute a recurrence by hand, and say what its weights have to do with time": "2.1 2.3",
    "send a gradient back through time, whole or cut off, and check it": "2.8 2.9",
    "read sequences of different lengths in one batch without reading the padding": "2.6 2.7",
    "say when a gradient fades on its way back and when it explodes, and clip it": "2.5 2.10",
    "judge a model of text by its perplexity, and let it write": "2.2 2.11 2.12 2.13",
    "predict how far back a recurrent network can learn and remember, and why": "2.4 2.14",
}
checklist({point: ids.split() for point, ids in points.items()})

# %% [markdown]
# **Tomorrow** we look for a state that is harder to overwrite. The card of today is rewritten in full at each step, and the
# gradient pays for every rewriting. What if the network could decide, number by number, what to keep? A number that is kept
# is multiplied by 1, and a gradient that goes back through it is, too.

# %% [markdown]
# ## Further reading
#
# - {cite:t}`elman1990finding`, the paper to read first: what a small recurrent network finds in time.
# - {cite:t}`werbos1990backpropagation` and {cite:t}`williams1990efficient`, backpropagation through time, whole and truncated.
# - {cite:t}`bengio1994learning` and {cite:t}`pascanu2013difficulty`, why the past is hard to learn;
#   {cite:t}`hochreiter1991untersuchungen`, where it was seen first (in German).
# - {cite:t}`mikolov2010recurrent`, recurrent models of language; {cite:t}`karpathy2015unreasonable`, what they write,
#   and the four kinds in one picture.
# - {cite:t}`holtzman2020curious`, why likely text is dull and random text is wrong.
# - {cite:t}`shannon1951prediction`, people guess the next letter, and the beginning of all this.
# - {cite:t}`siegelmann1995computational`, what recurrent networks could compute.
