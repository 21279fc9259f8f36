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
# - work out a recurrence by hand, and write its loop,
# - read words of different lengths in one batch,
# - backpropagate through time, and check the gradients,
# - clip a gradient, and say when gradients vanish and when they explode,
# - judge a language model by its perplexity.
#
# The lesson builds on [Day 1](01_convolution.ipynb): shared weights, and gradients that fade with depth. It takes 55 minutes to read and 33 to write the four
# functions at its heart. The page trains the network you wrote, and at the end it guesses the language of any word.

# %% tags=["setup"]
import convolution_to_attention  # is `utils` this book's?

import math
from functools import partial
from statistics import fmean

import matplotlib.pyplot as plt
import torch
from torch import nn
from torch.nn import functional as F

from utils.data.text import pad
from utils.exercises.progress import checklist
from utils.exercises.recurrent import check
from utils.measure import experiments
from utils.measure.claims import claim
from utils.measure.jacobians import arrivals, noise, random_matrix, sizes_of_products
from utils.recurrent import RNN
from utils.show.display import observe, table
from utils.show.mechanisms import recurrent as mechanisms
from utils.show.plotting import bars, curves, heat_map, use_book_style
from utils.show.views import guess, quiz, reading, which_language
from utils.tasks.languages import (
    LETTERS, NAMES, WORDS, as_ids, count_letters, descend, endings, train_reader, train_writer,
)  # fmt: skip
from utils.training.metrics import accuracy, confusion_matrix, perplexity

use_book_style()

# %% [markdown]
# **Five questions about yesterday**

# %% tags=["view"]
quiz("02_recurrent")

# %% [markdown]
# ## Where we stand
#
# *2 minutes.* Which language is *perjantai* from? And *mittwoch*? You can make a good guess without knowing the words. Here are names of months, weekdays, countries and languages in twelve languages, collected by the Unicode
# Consortium. Words shared by two languages are left out.

# %%
some = WORDS["train"][:600:100]
table(
    [[word.text, NAMES[as_ids("train")[1][100 * i]]] for i, word in enumerate(some)],
    ["word", "language"],
)

# %% [markdown]
# A word may have three letters, or twenty. Yesterday's network sees only as far as its layers reach, which
# [we had to decide in advance](deeper/02_recurrent.ipynb#deeper-light). A **bag of letters** handles any length: count a word's
# letters, and let a linear classifier weigh the counts.

# %% tags=["training"]
counted = {"counted letters": count_letters(1)}

# %% tags=["evidence"]
observe(
    "Letter counts name the language of {share:.0%} of the validation words. A blind guess would be correct for {blind:.0%}.",
    share=counted["counted letters"],
    blind=1 / 12,
    holds=0.4 < counted["counted letters"] < 0.65,
)

# %% [markdown]
# But Finnish months end in *kuu*, and to a bag *kuu* and *uku* are the same. So we have three wishes: **order** should count, any **length** should do, and whatever matters should be **kept** until it
# is needed.

# %% [markdown]
# ## The idea
#
# *2 minutes.* Imagine someone listening to a long report with one small card to write on. After each sentence she rewrites the card, fitting what she knew already
# and what she has just heard into the same few lines. At
# the end, the card is all she has.
#
# The card is the **state**, a vector of fixed size. The same rule rewrites it at every step: weights are shared again, across time instead of space.

# %% tags=["mechanism"] mystnb={"figure": {"caption": "Same letters, same bag, but different states: four numbers, rewritten by one rule at each letter.", "name": "fig-card"}, "image": {"alt": "Two rows, for kuu and uku. In each, four columns of four numbers: first zeros, then the state after each letter, joined by arrows with labels such as reads k. The last column is framed, and differs between the rows. Next to it is the bag, which holds k 1 and u 2 in both."}}
mechanisms.card("kuu", "uku")
plt.show()

# %% [markdown]
# A network of this kind is **recurrent**: its state comes back as its own input {cite}`elman1990finding`. We draw it twice: as it is built, and **unrolled**, with one copy per step.

# %% tags=["mechanism"] mystnb={"figure": {"caption": "All copies have the same weights: a recurrent layer as it is built (left), and unrolled over three letters.", "name": "fig-unrolled"}, "image": {"alt": "On the left is a box h t with an arrow from x t below, labelled W x, an arrow to y t above, labelled W y, and a loop back to itself, labelled W h. A dashed arrow, unroll, leads to three boxes h 0, h 1, h 2 in a row, joined by arrows labelled W h; below them are the letters k, u, u, and above them are y 0, y 1, y 2."}}
mechanisms.unrolled("kuu")
plt.show()

# %% [markdown]
# Unrolled, it is a deep network with one layer per letter. Two things are new: the layers share their weights, and each has its
# own input.

# %% [markdown]
# ## Step by step
#
# ### One step of a recurrent network
#
# *6 minutes, 4 of them yours.* At step $t$ the layer takes the input $x_t$ and its own previous state $h_{t-1}$, and computes a new state:
#
# $$
# \begin{aligned}
# h_t &= \tanh(W_x x_t + W_h h_{t-1} + b) , \\
# h_{-1} &= 0 .
# \end{aligned}
# $$ (eq-rnn)
#
# The hyperbolic tangent keeps each number between -1 and 1. No weight has an index $t$: all steps share one set. For example, let *k* be 1 and *u* be -0.5, with no bias:

# %%
W_x = torch.tensor([[1.0], [0.5]])  # (N, D): a state of two numbers, an input of one
W_h = torch.tensor([[0.5, -1.0], [1.0, 0.0]])  # (N, N)
kuu = torch.tensor([[1.0], [-0.5], [-0.5]])  # (T, D)

# %% tags=["mechanism"] mystnb={"figure": {"caption": "The same *u* leads to different states, because each state also depends on the one before.", "name": "fig-steps"}, "image": {"alt": "Three rows, for k, u, u. In each, W x times x t plus W h times the previous state equals two numbers; an arrow, tanh, leads to the new state, from which a line leads down to the previous state of the next row. The states are 0.76 and 0.46, then minus 0.52 and 0.47, then minus 0.84 and minus 0.65."}}
mechanisms.steps("kuu", kuu, W_x, W_h)
plt.show()

# %% [markdown]
# In a batch each sequence is a *row*, so the matrices are transposed and multiply from the right: $W_x x_t$ becomes `x_t @ W_x.T`.
#
# **Your turn.**
#
# ```{exercise} One recurrent step
# :label: exercise-one-step
#
# *4 minutes.* Return the new states of {eq}`eq-rnn` for a batch.
# ([Solution](solutions/02_recurrent.ipynb#solution-one-step))
# ```


# %%
def step(x_t, h, W_x, W_h, b):
    """Shapes: x_t (B, D), h (B, N), W_x (N, D), W_h (N, N), b (N,).

    Returns: the new state (B, N).
    """
    raise NotImplementedError


step = check("one_step", step)

# %%
check.show_reference("one_step")

# %% [markdown]
# ### The loop over a sequence
#
# *8 minutes, 7 of them yours.* Each step needs the state of the previous one, so the layer is a loop. It starts from zeros, since nothing has been read yet.
#
# ```{exercise} The recurrent layer
# :label: exercise-whole-sequence
#
# *7 minutes.* Read whole sequences with your `step`, and return the state after every step. `x.unbind(dim=1)` gives the T inputs, (B, D) each; `torch.stack` joins tensors along a new axis.
# ([Solution](solutions/02_recurrent.ipynb#solution-whole-sequence))
# ```


# %%
def read(x, W_x, W_h, b):
    """Shapes: x (B, T, D), W_x (N, D), W_h (N, N), b (N,). Returns: all states (B, T, N)."""
    raise NotImplementedError


read = check("whole_sequence", read)

# %%
check.show_reference("whole_sequence")

# %%
for name, order in {"kuu": [0, 1, 2], "uku": [1, 0, 2]}.items():
    print(name, read(kuu[None, order], W_x, W_h, torch.zeros(2))[0, -1].numpy().round(2))

# %% [markdown]
# Same letters, different order, different state. The first wish is granted.
#
# ### A reader: embedding and padding
#
# *3 minutes.* A letter is a number in a vocabulary, not a vector. So each letter gets a row in a table, an **embedding**, which is learned like all other weights.
#
# Words differ in length, but a batch is a rectangle, so short words get **padding**: extra symbols that fill the rest of the row. No state depends on what comes later, so padding at the end does no harm if we take the state after the word's
# *last letter*.

# %% tags=["mechanism"] mystnb={"figure": {"caption": "A word's state is taken after its last letter (framed), not after the padding (hatched).", "name": "fig-padding"}, "image": {"alt": "Three rows of nine cells: perjantai fills its row, mai and mittwoch are followed by hatched cells. The last letter of each word is framed. On the right are the lengths 9, 3 and 8."}}
mechanisms.padded(["perjantai", "mai", "mittwoch"])
plt.show()


# %%
class Network(nn.Module):
    """Read symbols: ids (B, T) to logits after each one, (B, T, n_out)."""

    def __init__(self, read, n_in, n_out, D=16, N=64):
        super().__init__()
        self.read, size = read, N**-0.5
        self.symbols = nn.Embedding(n_in, D)
        self.W_x = nn.Parameter(torch.empty(N, D).uniform_(-size, size))
        self.W_h = nn.Parameter(torch.empty(N, N).uniform_(-size, size))
        self.b = nn.Parameter(torch.zeros(N))
        self.output = nn.Linear(N, n_out)

    def states(self, ids):
        return self.read(self.symbols(ids), self.W_x, self.W_h, self.b)  # (B, T, N)

    def forward(self, ids):
        return self.output(self.states(ids))


# %%
class Reader(Network):
    """Name a word's language: ids (B, T) and lengths (B,) to logits (B, 12)."""

    def __init__(self, read):
        super().__init__(read, len(LETTERS), len(NAMES))

    def forward(self, ids, lengths):
        last = self.states(ids)[torch.arange(len(ids)), lengths - 1]  # (B, N)
        return self.output(last)


# %% tags=["training"]
torch.manual_seed(0)
reader = Reader(read)
history = train_reader(reader)

# %% tags=["evidence"]
observe(
    "After eight epochs your loop names the language of {share:.0%} of the validation words.",
    share=history.validation["accuracy"][-1],
    holds=history.validation["accuracy"][-1] > counted["counted letters"] + 0.08,
)

# %% [markdown]
# So order helps. But autograd did the backward pass. What did it compute?
#
# ### Backpropagation through time
#
# *17 minutes, 12 of them yours.* Unrolled, the network is an ordinary one, and ordinary backpropagation works {cite}`rumelhart1986learning,werbos1990backpropagation`. Let $\delta_t$ be the gradient of the loss with respect to the
# *input* of the tanh at step $t$. The state $h_t$ is used twice: by its own step's output, $y_t = W_y h_t$ with loss $\ell_t$, and by the next step. So two gradients arrive, and their sum is multiplied by the slope of the
# tanh, $1 - h_t^2$:
#
# $$
# \begin{aligned}
# \delta_t &= (1 - h_t^2) \odot \Big( W_y^\top \frac{\partial \ell_t}{\partial y_t} + W_h^\top \delta_{t+1} \Big) , \\
# \delta_T &= 0 .
# \end{aligned}
# $$ (eq-bptt)

# %% tags=["mechanism"] mystnb={"figure": {"caption": "A state gets two gradients: one from its own step's loss, and one from the next step.", "name": "fig-two-arrows"}, "image": {"alt": "Three states h 0, h 1, h 2 in a row, each with a letter of kuu below and a loss above. Thin arrows lead from letter to state, from state to loss and from state to state, labelled W h. Thick arrows lead back: from each loss down to its state, labelled W y transposed times the loss's gradient; from state to state to the left, labelled W h transposed delta; and from state to letter, labelled delta."}}
mechanisms.both_arrows("kuu")
plt.show()

# %% [markdown]
# Take a single unit with $W_x = 1$, $W_h = 0.5$ and no bias. It reads 1, then 0, and the loss is half the square of its last state.

# %%
h_0 = math.tanh(1.0)
h_1 = math.tanh(0.5 * h_0)  # the loss is h_1 ** 2 / 2, so its gradient at h_1 is h_1
delta_1 = (1 - h_1**2) * h_1
delta_0 = (1 - h_0**2) * 0.5 * delta_1  # no loss of its own: only the next step's part
print(f"delta_1 = {delta_1:.2f}, delta_0 = {delta_0:.2f}, ratio {delta_0 / delta_1:.2f}")

# %% tags=["mechanism"] mystnb={"figure": {"caption": "One step back, only a fifth of the gradient is left: two steps in numbers, forwards (thin) and backwards (thick).", "name": "fig-two-steps"}, "image": {"alt": "Two states in a row, 0.76 and 0.36, joined by an arrow marked times 0.5; below them are the inputs 1 and 0, and above the second is the loss, 0.07. Thick arrows lead back: from the loss to the second state, which has delta 1 = 0.32, and from there to the first, which has delta 0 = 0.07."}}
mechanisms.back_in_numbers((1.0, 0.0), 0.5)
plt.show()

# %% [markdown]
# The weights are used at every step, so the gradient of each is a sum over the steps. For $W_h$,
#
# $$
# \frac{\partial \mathcal{L}}{\partial W_h} = \sum_t \delta_t\, h_{t-1}^\top .
# $$ (eq-bptt-weights)
#
# ```{exercise} Backpropagation through time
# :label: exercise-backpropagation-through-time
#
# *12 minutes.* For a batch, return the deltas of {eq}`eq-bptt` and the gradient of {eq}`eq-bptt-weights`, without autograd, from the last step to the first. `grad_h` holds the gradient that each step's own output sends back to its state. `states` begins with $h_{-1}$, so $h_t$ is `states[:, t + 1]`. A state is a row here, so $W_h^\top \delta$ becomes `delta @ W_h`.
# ([Solution](solutions/02_recurrent.ipynb#solution-backpropagation-through-time))
# ```


# %%
def back_through_time(states, grad_h, W_h):
    """Shapes: states (B, T+1, N), starting before the first step; grad_h (B, T, N).

    Returns: the deltas (B, T, N), and the gradient of W_h (N, N), summed over steps and batch.
    """
    raise NotImplementedError


back_through_time = check("backpropagation_through_time", back_through_time)

# %%
check.show_reference("backpropagation_through_time")


# %% [markdown]
# From here on, your function is the backward pass: autograd no longer looks inside the loop.


# %%
class ByHand(torch.autograd.Function):
    """`read`, with the backward pass that you wrote."""

    @staticmethod
    def forward(ctx, x, W_x, W_h, b):
        states = read(x, W_x, W_h, b)
        ctx.save_for_backward(x, W_x, W_h, F.pad(states, (0, 0, 1, 0)))  # zeros first
        return states

    @staticmethod
    def backward(ctx, grad_h):
        x, W_x, W_h, states = ctx.saved_tensors
        deltas, grad_W_h = back_through_time(states, grad_h, W_h)
        grad_W_x = torch.einsum("btn,btd->nd", deltas, x)
        return deltas @ W_x, grad_W_x, grad_W_h, deltas.sum(dim=(0, 1))


# %% [markdown]
# **Enough for tonight?** This is a good place to stop.
#
# ### Gradient clipping
#
# *13 minutes, 10 of them yours.* Many factors below 1 make a gradient vanish. What if they are above 1? Then the gradient can become huge, and one step along it throws the weights far away. The
# remedy is blunt. If the gradient $g$ of all weights together is longer than $c$, shorten it {cite}`pascanu2013difficulty` (an older recipe clips each of its
# numbers separately {cite}`mikolov2012statistical`):
#
# $$
# g \leftarrow g \cdot \min\!\Big(1, \frac{c}{\lVert g \rVert}\Big) .
# $$ (eq-clip)
#
# ```{exercise} Gradient clipping
# :label: exercise-gradient-clipping
#
# *10 minutes.* Return the gradients of several weight tensors, clipped as in {eq}`eq-clip`: $\lVert g \rVert$ is the length of all gradients together. Beware of a gradient that is zero.
# ([Solution](solutions/02_recurrent.ipynb#solution-gradient-clipping))
# ```


# %%
def clip(gradients, max_norm):
    """Shorten a list of gradients so that together they are at most `max_norm` long."""
    raise NotImplementedError


clip = check("gradient_clipping", clip)

# %%
check.show_reference("gradient_clipping")

# %% [markdown]
# Is clipping needed? We try plain gradient descent at four learning rates.


# %%
rates = (0.5, 1.0, 2.0, 4.0)


def try_rates(clipping):
    """Validation accuracies, (2, 4): two seeds at four rates each."""
    shares = []
    for seed in (0, 1):
        for rate in rates:
            torch.manual_seed(seed)
            shares.append(descend(Reader(read), rate, clipping, seed))
    return torch.tensor(shares).view(2, 4)


# %% tags=["training"]
descents = {"clipped": try_rates(partial(clip, max_norm=1.0)), "not clipped": try_rates(None)}

# %% tags=["evidence"] mystnb={"figure": {"caption": "At the highest learning rate, clipping to length 1 helps: validation accuracy after three epochs of plain gradient descent (two seeds: mean and range).", "name": "fig-clipping"}, "image": {"alt": "Two curves over the learning rate, from 0.5 to 4. Up to 1 they lie together near 60 percent. At 4 the curve without clipping is far below the other."}}
lines = {told: (rates, shares) for told, shares in descents.items()}
curves(lines, "learning rate", "validation accuracy")
plt.show()

# %% tags=["evidence"]
means = [shares.mean(dim=0) for shares in descents.values()]  # by rate
(clipped, bare), (best, best_bare) = ([m[-1] for m in means], [m.max() for m in means])
observe(
    "At a learning rate of 4, the accuracy is {clipped:.0%} with clipping and {bare:.0%} without. At the best learning rate for each, it is {best:.0%} with and {best_bare:.0%} without.",
    clipped=clipped,
    bare=bare,
    best=best,
    best_bare=best_bare,
    holds=clipped > bare + 0.05 and abs(best - best_bare) < 0.1,
)

# %% [markdown]
# So at a suitable learning rate, this reader doesn't need clipping. Clipping buys safety at [higher learning rates](deeper/02_recurrent.ipynb#deeper-clipping), but can't help a gradient that has vanished.

# %% [markdown]
# ## Is it right?
#
# *1 minute.* With the same weights, your loop, the book's layer and the library's must agree, and so must your backward pass and autograd.

# %% tags=["evidence"]
torch.manual_seed(0)
theirs = nn.RNN(3, 5, batch_first=True).double()
book = RNN(3, 5).double()
book.load_library(theirs)
x = torch.randn(2, 7, 3, dtype=torch.float64, requires_grad=True)
weights = book.W_x, book.W_h, book.b
by_hand, by_book, by_library = ByHand.apply(x, *weights), book(x)[0], theirs(x)[0]
torch.testing.assert_close(by_hand, by_library, rtol=1e-10, atol=1e-10)
torch.testing.assert_close(by_book, by_library, rtol=1e-10, atol=1e-10)
gradients = [torch.autograd.grad(y.pow(2).sum(), (x, *weights)) for y in (by_hand, by_book)]
for ours, expected in zip(*gradients):
    torch.testing.assert_close(ours, expected, rtol=1e-10, atol=1e-10)
print("states agree with nn.RNN and the book's layer, gradients with autograd, to ten digits")

# %% [markdown]
# ## Train it
#
# *3 minutes.* Now everything is yours: step, loop, backward pass and clipping. We train three readers and keep the one with the best validation accuracy. The bag gets
# help: it may also count pairs and triples of letters
# {cite}`cavnar1994gram`.

# %% tags=["training"]
clip_to_1 = partial(clip, max_norm=1.0)
readers, histories = [], []
for seed in (0, 1, 2):
    torch.manual_seed(seed)
    readers.append(Reader(ByHand.apply))
    histories.append(train_reader(readers[-1], clip_to_1, seed=seed))

# %% tags=["training"]
counted |= {"and pairs": count_letters(2), "and triples": count_letters(3)}
named = [history.validation["accuracy"][-1] for history in histories]
reader = readers[named.index(max(named))].eval()

# %% tags=["view"]
guess(
    "Which method names the language of the most words?",
    ["counted letters", "counted letters, pairs and triples", "the network"],
    right="counted letters, pairs and triples",
    because=f"They name {counted['and triples']:.0%} correctly; your networks name {min(named):.0%} to {max(named):.0%}.",
)

# %% tags=["evidence"] mystnb={"figure": {"caption": "Counting pairs and triples beats the network: validation accuracy (network: mean and range of three seeds).", "name": "fig-languages"}, "image": {"alt": "Four bars. Counting letters reaches about 53 percent, counting pairs as well reaches 73, and counting triples, too, reaches 75. Your network reaches about 69."}}
shares = counted | {"your network": named}
bars({name: 100 * torch.tensor(share) for name, share in shares.items()}, "validation accuracy (%)")
plt.show()

# %% tags=["evidence"]
mean, triples = fmean(named), counted["and triples"]
said = "With pairs and triples, counting reaches {triples:.0%}; the networks reach {mean:.0%} on average."
observe(said, triples=triples, mean=mean, holds=mean < triples)

# %% [markdown]
# With 4,000 words to learn from, the old method wins: it is handed "sch" as a feature that the network has to discover. Every network needs such a **baseline**. Which languages does ours confuse?

# %%
test_ids, test_languages = as_ids("test")
said = reader(*pad(test_ids)).detach()
tested = accuracy(said, test_languages)

# %% tags=["evidence"] mystnb={"figure": {"caption": "Most test words are on the diagonal: the chosen reader's predictions (columns) for each language's words (rows).", "name": "fig-confusion"}, "image": {"alt": "A map of twelve rows and columns of languages. The diagonal is the brightest. Off it, there are cells of medium brightness among Spanish, Portuguese, Italian and French."}}
confused = confusion_matrix(said, test_languages).float()
ax = plt.subplots(figsize=(6.6, 5.4))[1]
names = {"rows": NAMES, "columns": NAMES, "xlabel": "predicted", "ylabel": "true"}
heat_map(confused / confused.sum(dim=1, keepdim=True), value_label="share", ax=ax, **names)
ax.tick_params(axis="x", labelrotation=60)
plt.show()

# %% tags=["evidence"]
related = [NAMES.index(name) for name in ("French", "Italian", "Portuguese", "Spanish")]
missed = confused - confused.diag().diag()
family = (missed[related][:, related].sum() / missed[related].sum()).item()
observe(
    "Your reader names the language of {share:.0%} of the test words. When it misreads a French, Italian, Portuguese or Spanish word, {family:.0%} of its answers name one of the other three; by chance, {blind:.0%} would.",
    share=tested,
    family=family,
    blind=3 / 11,
    holds=tested > 0.58 and family > 0.4,
)

# %% [markdown]
# ### Four kinds of recurrent networks
#
# Reading a word and answering once is one of four ways to use a recurrence {cite}`karpathy2015unreasonable`. The deeper page trains [a network for each](deeper/02_recurrent.ipynb#deeper-kinds).

# %% tags=["mechanism"] mystnb={"figure": {"caption": "Four ways to use a recurrence, with inputs (below), states and outputs (above).", "name": "fig-kinds"}, "image": {"alt": "Four small diagrams of states in a row. Many to one has three inputs and one output at the end: a word to its language. One to many has one input at the beginning and three outputs: a picture to its name. Many to many, in step, has three inputs and three outputs: letters to the next letters. First read, then write has two inputs, then two outputs: 307 to three hundred seven."}}
mechanisms.kinds()
plt.show()

# %% [markdown]
# ## Look inside
#
# *11 minutes.* Step through a word. Which numbers of the state change, and when does the answer change? Then multiply $W_h$ by a factor, and watch the gradient
# on its way back to the first letter. Try it
# without the tanh, too.

# %% tags=["view"]
network = {name: getattr(reader, name) for name in ("W_x", "W_h", "b")}
network |= {"letters": reader.symbols.weight}
network |= {"W_y": reader.output.weight, "b_y": reader.output.bias}
reading(network, LETTERS.symbols, NAMES, word="perjantai")

# %% [markdown]
# Each step back multiplies the gradient by $J_t = \operatorname{diag}(1 - h_t^2)\, W_h$, the step's **Jacobian**. Over $k$ steps,
#
# $$
# \begin{aligned}
# \frac{\partial h_t}{\partial h_{t-k}} &= J_t\, J_{t-1} \cdots J_{t-k+1} , \\
# \Big\lVert \frac{\partial h_t}{\partial h_{t-k}} \Big\rVert &\le \lVert W_h \rVert^{k} .
# \end{aligned}
# $$ (eq-jacobians)
#
# The norm $\lVert W_h \rVert$ is the largest factor by which $W_h$ can stretch a vector, and the tanh is never steeper than 1. So with a norm below 1 the gradient **vanishes** exponentially {cite}`hochreiter1991untersuchungen,bengio1994learning,pascanu2013difficulty`, like a message in a game of telephone:

# %% tags=["mechanism"] mystnb={"figure": {"caption": "Factors just below or above 1 soon lead far away from it: a message of size 1, passed on eight times.", "name": "fig-whispers"}, "image": {"alt": "Three rows of nine numbers. Multiplied by 0.8, they fall from 1 to 0.17; multiplied by 1, they stay at 1; multiplied by 1.25, they rise from 1 to 5.96."}}
mechanisms.passed_on((0.8, 1.0, 1.25))
plt.show()

# %% [markdown]
# Above 1, you will often read, the gradient **explodes**. But does a network behave like a single number? We take random matrices $W_h$ for 64 units, scaled to a chosen
# **spectral radius**: the magnitude of the largest eigenvalue, and so the factor by which a linear
# recurrence grows per step in the long run.

# %%
radii = (0.85, 1.0, 1.05)
arriving = {linear: {r: arrivals(r, linear) for r in radii} for linear in (True, False)}
left = {
    linear: {r: 10 ** logs[:, -1].mean().item() for r, logs in paths.items()}
    for linear, paths in arriving.items()
}

# %% tags=["view"]
guess(
    "With a spectral radius of 1.05, a tanh and random inputs, what becomes of a gradient over 100 steps?",
    ["It grows more than tenfold.", "It stays about the same.", "Less than a billionth is left."],
    right="Less than a billionth is left.",
    because=f"{left[False][1.05]:.0e} of it is left. Without the tanh and the inputs, it becomes {left[True][1.05]:.0f} times as large.",
)

# %% tags=["evidence"] mystnb={"figure": {"caption": "With a tanh and inputs (right), gradients vanish even at a spectral radius of 1.05; in a linear recurrence (left) they grow. Means and ranges of five random networks.", "name": "fig-factors"}, "image": {"alt": "Two panels with a logarithmic axis, over 100 steps. Left: the line for 0.85 falls to about ten to the minus seven, that for 1 stays level, and that for 1.05 rises to about one hundred. Right: all three fall, to below ten to the minus twelve."}}
figure, axes = plt.subplots(1, 2, figsize=(7.2, 3.2), sharey=True)
for ax, (linear, paths) in zip(axes, arriving.items()):
    lines = {str(r): (range(101), logs) for r, logs in paths.items()}
    curves(lines, "steps back", "log₁₀ of gradient size", ax=ax)
    ax.set_title("linear" if linear else "tanh, with inputs")
plt.show()

# %% [markdown]
# So the rule holds for single numbers and linear recurrences, but not for the network that we use. Inputs push the units away from 0, to where the tanh is flat. (Gradients
# [can still explode](deeper/02_recurrent.ipynb#deeper-growth).)
#
# And your trained readers? We take the last twelve letters of long words, and send the loss's gradient back from the last letter.

# %%
ending, spoken = endings(12)  # ids (n, 12), languages (n,)


def sent_back(model):
    """The states (n, 13, N) over the endings of words, and the loss's own gradient at each."""
    states = model.states(ending).detach()
    last = states[:, -1].clone().requires_grad_()
    grad_h = torch.zeros_like(states)
    loss = F.cross_entropy(model.output(last), spoken)
    (grad_h[:, -1],) = torch.autograd.grad(loss, last)
    return F.pad(states, (0, 0, 1, 0)), grad_h


# %%
def fades(model):
    """Median size of the deltas over the endings of words, relative to the last letter's."""
    states, grad_h = sent_back(model)
    deltas, _ = back_through_time(states, grad_h, model.W_h.detach())
    sizes = deltas.norm(dim=2).flip(1)  # (n, 12)
    return (sizes / sizes[:, :1]).median(dim=0).values


# %%
torch.manual_seed(0)
fresh = [Reader(read) for _ in readers]
faded = {"untrained": torch.stack([*map(fades, fresh)])}
faded["trained"] = torch.stack([*map(fades, readers)])
before, after = (sizes[:, -1].mean().item() for sizes in faded.values())
radius = min(torch.linalg.eigvals(model.W_h).abs().max().item() for model in readers)
norm = min(torch.linalg.matrix_norm(model.W_h, 2).item() for model in readers)
began = max(torch.linalg.eigvals(model.W_h).abs().max().item() for model in fresh)

# %% tags=["evidence"] mystnb={"figure": {"caption": "Training lets more of the gradient through, but it still fades: its size at each letter, relative to its size at the last (three readers).", "name": "fig-fades"}, "image": {"alt": "Two falling curves on a logarithmic axis over 11 letters. The untrained one falls to about a thousandth, and the trained one to about a tenth."}}
lines = {name: (range(12), sizes) for name, sizes in faded.items()}
curves(lines, "letters before the last", "relative size", logy=True)
plt.show()

# %% tags=["evidence"]
observe(
    "Training raised the spectral radius from about {began:.1f} to {radius:.1f} or more. Still, only {after:.0%} of the gradient "
    "makes it eleven letters back; before training, {before:.1%} did.",
    began=began,
    radius=radius,
    after=after,
    before=before,
    holds=began < 0.8 and radius > 1.5 and before < 0.01 < after < 0.4,
)

# %% [markdown]
# Training has made up for some of what the tanh takes away.

# %% [markdown]
# ## Show someone
#
# *6 minutes.* Let someone type a word or a name, and guess its language before the network does. The one that runs in the page is a plain recurrent
# network like yours, but it has three times as many units, learned from about twice as
# many words, and during training had to answer after *every* letter.

# %% tags=["evidence"]
shown = experiments.load("language_page").select(seed=0)[0]
observe(
    "It names the language of {stored:.0%} of unseen words; yours manages {share:.0%}.",
    stored=shown["test in int8"],
    share=tested,
    holds=shown["test in int8"] > 0.7,
)

# %% tags=["view"]
which_language("languages", word="pazartesi")

# %% [markdown]
# Which letter decides? Add letters one at a time, and watch the network change its mind. It has seen only words from names of months, countries, currencies and cities,
# so a greeting or a surname is a hard test. In JupyterLab, ask your own
# reader, too:


# %%
def language_of(word):
    """Your reader's best guess."""
    return NAMES[reader(*pad([LETTERS.encode(word.lower())])).argmax()]


# %% tags=["nbval-ignore-output"]
print(language_of("perjantai"))

# %% [markdown]
# ## Where it breaks
#
# *7 minutes.* Now turn the task around: name a language, and let the network invent a word. This is the third kind in {numref}`fig-kinds`: after each letter,
# predict the next. Such a **language model** {cite}`mikolov2010recurrent` gives
# each letter $i_t$ a probability, and is judged by its **perplexity** on unseen words:
#
# $$
# \textstyle \mathrm{PP} = \exp\big( - \frac{1}{T} \sum_t \log p(i_t \mid i_0, \dots, i_{t-1}) \big) ,
# $$ (eq-perplexity)
#
# the exponential of the cross-entropy. A model that wavers between $n$ equally likely letters has perplexity $n$. Ours reads the language first, then the word.

# %% tags=["training"]
writers, nats = [], []
for seed in (0, 1, 2):
    torch.manual_seed(seed)
    writers.append(Network(ByHand.apply, len(LETTERS) + len(NAMES), len(LETTERS)))
    nats.append(train_writer(writers[-1], clip_to_1, epochs=6, seed=seed))
wavering = [perplexity(cross_entropy) for cross_entropy in nats]
writer = writers[nats.index(min(nats))]

# %% tags=["evidence"]
observe(
    "The three writers' perplexities lie between {low:.1f} and {high:.1f}; that of a blind guess is {all}.",
    all=len(LETTERS),
    low=min(wavering),
    high=max(wavering),
    holds=max(wavering) < 14,
)

# %% [markdown]
# To write, **sample** a letter from the model's probabilities, feed it back in, and sample the next. A model that reads its own output is **autoregressive**. A **temperature** divides the logits first: one below 1 makes likely letters
# likelier.


# %%
@torch.no_grad()
def write(language, n, temperature=0.7):
    """Let the writer invent n words of a language, letter by letter."""
    chance = torch.Generator().manual_seed(0)
    ids = torch.full((n, 1), len(LETTERS) + NAMES.index(language))
    for _ in range(16):
        logits = writer(ids)[:, -1] / temperature
        drawn = torch.multinomial(logits.softmax(dim=-1), 1, generator=chance)
        ids = torch.cat([ids, drawn], dim=1)
    return ["".join(LETTERS.decode(row)) for row in ids[:, 1:]]


# %% tags=["nbval-ignore-output"]
for language in ("Finnish", "German", "Spanish"):
    print(f"{language:8}", *write(language, n=6))

# %% [markdown]
# All rows used the same random draws, so where a column's words are alike, the language made hardly any difference. Does the reader recognise the language we asked for?

# %%
asked = torch.arange(len(NAMES)).repeat_interleave(40)
own = [LETTERS.encode(word or "-") for name in NAMES for word in write(name, n=40)]
agrees = accuracy(reader(*pad(own)).detach(), asked)

# %% tags=["evidence"]
observe(
    "It recognises the language of {agrees:.0%} of 480 invented words. A blind guess would be correct for {blind:.0%}.",
    agrees=agrees,
    blind=1 / len(NAMES),
    holds=agrees < 0.35,
)

# %% [markdown]
# The writer was told the language once, at the first step, and makes hardly any use of it. And does the reader use the first letters? We show it only the last letters of long words.


# %%
@torch.no_grad()
def same_answer(model):
    """Share of answers that stay the same with only the last 1, 2, …, 12 letters, (12,)."""
    lengths = [torch.full_like(spoken, k) for k in range(1, 13)]
    answers = torch.stack([model(ending[:, -int(k[0]) :], k).argmax(1) for k in lengths])
    return (answers == answers[-1]).double().mean(dim=1)


# %%
kept = torch.stack([*map(same_answer, readers)])  # (3, 12)

# %% tags=["view"]
guess(
    "The reader sees only the last four of twelve letters. How often does it still give the same answer?",
    ["in about a quarter of the words", "in about half", "in more than three quarters"],
    right="in more than three quarters",
    because=f"It is the same for {kept[:, 3].mean():.0%} of the words, on average.",
)

# %% tags=["evidence"] mystnb={"figure": {"caption": "Four letters decide most answers: the share of answers that stay the same with only the last letters (three readers: mean and range).", "name": "fig-endings"}, "image": {"alt": "A curve over the letters read, 1 to 12. It rises steeply up to four letters, and then slowly to 100 percent."}}
curves({"readers": (range(1, 13), kept)}, "last letters read", "same answer")
plt.show()

# %% tags=["evidence"]
four = kept[:, 3].mean()
observe(
    "With only the last four letters, {four:.0%} of the answers stay the same.",
    four=four,
    holds=four > 0.75,
)

# %% [markdown]
# So the first steps hardly count, in writing as in reading. Can't these networks remember, or can't they learn to? In a stored experiment, networks of 112 units
# were trained for 600 steps to name the *first* of many symbols.

# %%
stored = {"full length only": "recall_fixed", "shorter ones, too": "recall_mixed"}
lines, learned = {}, {}
for name, result in zip(stored, map(experiments.load, stored.values())):
    lengths = result.parameters["length"]
    lines[name] = lengths, [result.column("test", layer="RNN", seed=s) for s in (0, 1, 2)]
    for n in lengths:
        rows = result.select(layer="RNN", length=n)
        learned[name, n] = sum(row["test"] > 0.9 for row in rows)

# %% tags=["evidence"] mystnb={"figure": {"caption": "With shorter sequences mixed in, a plain recurrent network recalls the first of 400 symbols. Mean and range of three seeds (stored experiments); the line is a blind guess.", "name": "fig-recall"}, "image": {"alt": "Two curves over the length. After training on the full length only, recall is complete up to 10 symbols and falls between 10 and 100, with a wide range. With shorter sequences mixed in, it stays complete up to 400."}}
ax = curves(lines, "length (symbols)", "accuracy", logx=True)
ax.axhline(0.25, color="black", linewidth=1)
plt.show()

# %% [markdown]
# They *can* remember: with short sequences among the long ones, all three networks recall the first of 400 symbols. But with long ones alone, the gradient gives
# hardly any hint: among 50 symbols, the first gets [less than a billionth](deeper/02_recurrent.ipynb#deeper-budget) of it, and learning is a matter of luck. So the
# memory is innocent; the trouble is in the learning.

# %% [markdown]
# ## What we found
#
# *2 minutes.* Three claims that you will often read, and our answers. Three more are on the [deeper page](deeper/02_recurrent.ipynb).
#
# (claim-rnn-2)=

# %% tags=["evidence"]
claim(
    "rnn-2",
    "Yes, if the recurrence is linear: a radius of 0.85 multiplies gradients by {low:.0e}, and 1.05 by {high:.0f}. With tanh, 1.05 multiplies them by {bent:.0e}.",
    low=left[True][0.85],
    high=left[True][1.05],
    bent=left[False][1.05],
    holds=lambda low, high, bent: low < 1e-5 and high > 10 and bent < 1e-12,
    scale="100 steps, random networks of 64 units with these radii, five seeds; with tanh, inputs of variance 1",
)

# %% [markdown]
# (claim-rnn-3)=

# %% tags=["evidence"]
tight = 0.95 * torch.linalg.qr(random_matrix(1.0, 0)).Q  # it stretches all vectors alike
claim(
    "rnn-3",
    "Yes, if the norm is below 1: one of 0.95 leaves {tight:.0e} of the gradient. Above 1, no: readers (norm {norm:.1f} or more) keep {after:.0%}.",
    tight=10 ** sizes_of_products(tight, noise(100, 1.0, 0))[-1],
    norm=norm,
    after=after,
    holds=lambda tight, norm, after: tight < 0.01 and norm > 2 and after < 0.5,
    scale="100 steps, a random network with tanh and inputs; eleven letters, three trained readers; 64 units each",
)

# %% [markdown]
# (claim-rnn-4)=

# %%
patience = experiments.load("recall_patience")
alone = {
    n: max(
        sum(steps < 3000 for steps in patience.column("steps", length=n, learning_rate=rate))
        for rate in patience.parameters["learning_rate"]
    )
    for n in patience.parameters["length"]
}

# %% tags=["evidence"]
claim(
    "rnn-4",
    "No: with shorter sequences mixed in, {mixed} of 3 recall the first of 400. Without them, {twenty} managed 20 symbols, and {fifty} managed 50.",
    mixed=learned["shorter ones, too", 400],
    fifty=alone[50],
    twenty=alone[20],
    holds=lambda mixed, fifty, twenty: mixed == 3 and fifty > 0 and twenty > 0,
    experiment="recall_patience",
    scale="112 units, three seeds, one of four symbols; without: the best of three learning rates, 3,000 steps",
)

# %% [markdown]
# ## Exercises
#
# *As long as you like.* Eight more are on the [deeper page](deeper/02_recurrent.ipynb), and all solutions are on [a page of their own](solutions/02_recurrent.ipynb).
#
# ```{exercise} Count a language model's parameters
# :label: exercise-recurrent-parameters
#
# *Warm-up, 5 minutes.* A language model knows 50 characters. It looks each one up in an embedding of width 16, reads the embeddings with one layer of 32 units as in {eq}`eq-rnn`, and computes 50 logits with a matrix and a bias. How many
# parameters does it have? And how many for a text twice as long? Write down the first number.
# ([Solution](solutions/02_recurrent.ipynb#solution-recurrent-parameters))
# ```

# %%
my_count = None

check("recurrent_parameters", my_count)

# %% [markdown]
# ```{exercise} Predict: half sure, half lost
# :label: exercise-mean-surprise
#
# *Warm-up, 5 minutes.* In a long text, a model gave the correct character a probability of 1/2 at every other step, and one of 1/8 at the steps in between. What is its perplexity? Answer before you use {eq}`eq-perplexity`.
# ([Solution](solutions/02_recurrent.ipynb#solution-mean-surprise))
# ```

# %%
my_perplexity = None

check("mean_surprise", my_perplexity)

# %% [markdown]
# ```{exercise} Predict: out of reach
# :label: exercise-vanishing-gradient
#
# *Core, 5 minutes.* The norm of a network's $W_h$ is 0.8. What is the smallest number of steps after which {eq}`eq-jacobians` guarantees that less than a thousandth of a gradient arrives?
# ([Solution](solutions/02_recurrent.ipynb#solution-vanishing-gradient))
# ```

# %%
my_steps = None

check("vanishing_gradient", my_steps)

# %% [markdown]
# ```{exercise} Bidirectional network: the last states
# :label: exercise-bidirectional-states
#
# *Core, 10 minutes.* A **bidirectional network** reads a sentence twice: one layer reads from left to right, and another from right to left, starting at the last real token. At each position, the first half of `outputs` is the state of the
# forward layer, and the second half is that of the backward layer. To classify a sentence, return each layer's final state. The outputs at the
# padding, on the right, may be anything.
# ([Solution](solutions/02_recurrent.ipynb#solution-bidirectional-states))
# ```

# %% tags=["mechanism"] mystnb={"figure": {"caption": "One layer reads forwards and the other backwards, so the layer above them sees past and future.", "name": "fig-both-ends"}, "image": {"alt": "Three letters k, u, u at the bottom. Above them a row of pink boxes joined by arrows to the right, labelled forwards, then a row of green boxes joined by arrows to the left, labelled backwards. From both, arrows lead up to a row of orange boxes, labelled above, joined by arrows to the right."}}
mechanisms.directions("kuu")
plt.show()


# %%
def both_ends(outputs: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
    """Shapes: outputs (B, T, 2N), lengths (B,) integers.

    Returns: the forward layer's final state, then the backward layer's (B, 2N).
    """
    raise NotImplementedError


check("bidirectional_states", both_ends)

# %% [markdown]
# ## Checklist and tomorrow

# %% tags=["view"]
points = {
    "work out a recurrence by hand, and write its loop": "one_step whole_sequence recurrent_parameters",
    "read words of different lengths in one batch": "bidirectional_states",
    "backpropagate through time, and check the gradients": "backpropagation_through_time",
    "clip a gradient, and say when gradients vanish and when they explode": "gradient_clipping vanishing_gradient",
    "judge a language model by its perplexity": "mean_surprise",
}
checklist({point: ids.split() for point, ids in points.items()})

# %% [markdown]
# So one step, repeated with one set of weights, reads any length in order. But it rewrites its whole state each time, and the gradient pays for every rewrite. **Tomorrow:** what if the network could decide, number by number, what
# to keep?

# %% [markdown]
# ## Further reading
#
# - {cite:t}`elman1990finding`, the paper to read first: what a small recurrent network finds in time.
# - {cite:t}`werbos1990backpropagation` and {cite:t}`williams1990efficient`, backpropagation through time, in full and truncated.
# - {cite:t}`bengio1994learning` and {cite:t}`pascanu2013difficulty`, why the past is hard to learn.
# - {cite:t}`karpathy2015unreasonable`, what recurrent networks write.
