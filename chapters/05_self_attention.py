# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Day 5: Self-attention
#
# **Today's question:** what can a sequence find out by looking at itself, from all positions at once?
#
# After today you can
#
# - work out attention by hand for one query: scores, weights, weighted average,
# - write scaled dot-product attention, and say what the scale is for,
# - hide the future and padding with a mask,
# - split attention into heads without mixing up positions,
# - say why attention doesn't see order, and how to give it order,
# - find out whether an attention weight matters, by taking it away.
#
# Today builds on [Day 4](04_attention.ipynb): scores, weights, masks. It takes 55 minutes to read and 45 to write the functions at its heart. At the end, your
# network says what *it* means.

# %% tags=["setup"]
import convolution_to_attention  # is `utils` this book's?

import math
from functools import partial

import matplotlib.pyplot as plt
import torch
from torch import nn
from torch.nn.init import xavier_uniform_

from utils.attention import masked_softmax
from utils.exercises.progress import checklist
from utils.exercises.self_attention import check
from utils.self_attention import MultiHeadAttention
from utils.seq2seq import sequence_loss
from utils.data import pronouns
from utils.data.text import PAD, pad
from utils.measure import experiments
from utils.measure.claims import claim
from utils.show.diagrams import arrow, box, cells, label, note, sheet
from utils.show.display import observe, table
from utils.show.mechanisms import self_attention as mechanisms
from utils.show.plotting import bars, curves, heat_map, use_book_style
from utils.show.views import guess, heads, meaning, quiz
from utils.tasks.pronouns import RecurrentTagger, VOCABULARY, as_ids, shares_right
from utils.tasks.pronouns import looked_at, train_pronouns, without_link

use_book_style()

# %% [markdown]
# **Five questions about yesterday**

# %% tags=["view"]
quiz("05_self_attention")

# %% [markdown]
# ## Where we stand
#
# *2 minutes.* Read these two sentences.
#
# > The animal did not cross the street because it was too **tired**.
# >
# > The animal did not cross the street because it was too **wide**.
#
# What does *it* mean {cite}`uszkoreit2017transformer`? In the first sentence it means the animal, in the second the street. Can a network work that out by reading as
# yesterday's encoder did, word by word, from both ends?
#
# A small grammar writes 4,000 such sentences for training. The network has to fill the gap `_` with *does* or *do*, and name the noun that the pronoun means.

# %%
corpus = pronouns.corpus(seed=0)

# %% tags=["evidence"]
rows = [[" ".join(s.words), s.form, s.words[s.antecedent]] for s in corpus.test[:3]]
table(rows, ["sentence", "fills the gap", "the pronoun means"])

# %% [markdown]
# Exactly one noun agrees with the pronoun in number *and* fits the adjective: animals can be tired, streets can be wide. We never tell the network which nouns are animals.
# First we train a GRU that reads in both directions.


# %%
def right(logits: torch.Tensor, part: list) -> dict[str, float]:
    """Share of gaps and of pronouns that are correct; logits (B, T, V)."""
    return shares_right(logits.argmax(-1), part)


# %% tags=["evidence", "training"]
torch.manual_seed(0)
yesterday = RecurrentTagger(32, 24)
train_pronouns(yesterday, sequence_loss, corpus, epochs=5, learning_rate=3e-2)
with torch.no_grad():
    of_gru = right(yesterday.eval()(as_ids(corpus.validation)[0]), corpus.validation)

# %% tags=["evidence"]
recurrent = experiments.load("pronouns_recurrent")
patient = recurrent.select(learning_rate=recurrent.lowest("learning_rate", "validation"))
longer = [row["pronoun"] for row in patient]
observe(
    "After five epochs it fills {gap:.0%} of the gaps in the validation set correctly, and understands {pronoun:.0%} of the pronouns. "
    "After 60 epochs, at the best of three learning rates, three networks understand {low:.0%} to {high:.0%} of the pronouns in the test set.",
    **of_gru,
    **{"low": min(longer), "high": max(longer)},
    holds=of_gru["gap"] > 0.97 and of_gru["pronoun"] < 0.85 and max(longer) < 0.97,
)

# %% [markdown]
# The gaps are soon filled correctly, but the pronouns are hard. One suspect is the distance: everything that a state knows of a distant word has passed through [every
# state in between](deeper/05_self_attention.ipynb#deeper-way). Gates help, but don't shorten the path.

# %% [markdown]
# ## The idea
#
# *1 minute.* How did you know what *it* means? You looked from *it* to *tired*, and from there to a noun that can be tired.

# %% tags=["mechanism"] mystnb={"figure": {"caption": "Yesterday, the path from *animal* to *it* led through every state in between; today it is one step.", "name": "fig-two-roads"}, "image": {"alt": "The words \"the animal did not cross the street because it\" and three dots in a row of boxes. Above them is a chain of nine states joined by arrows; the seven arrows from the state of animal to the state of it are thick. Below the words one thick curved arrow leads from it straight to animal; it is labelled 1 step."}}
mechanisms.roads("the animal did not cross the street because it …", asks=8, asked=1)
plt.show()

# %% [markdown]
# Yesterday a decoder aligned itself with **another** sequence. Here a sequence is aligned with **itself**: each word asks, and any word may answer. That is
# **self-attention** {cite}`cheng2016long,lin2017structured,vaswani2017attention`.

# %% [markdown]
# ## Step by step
#
# ### Attention without weights
#
# *2 minutes.* Here are three words with two numbers each: how much of a *thing* the word is, and how much of an *action*.

# %%
x = torch.tensor([[1.0, 0.0], [0.0, 1.0], [0.5, 0.5]])  # cat, sat, there: (T, D)
scores = x @ x.T  # compare
weights = scores.softmax(dim=-1)  # choose
y = weights @ x  # mix
print("weights", [[round(a, 2) for a in row] for row in weights.tolist()])

# %% [markdown]
# These are the three steps of attention. **Compare**: a dot product scores each word against every word. **Choose**: a softmax turns a word's scores into positive weights
# that sum to 1. **Mix**: the weights average the words.

# %% tags=["mechanism"] mystnb={"figure": {"caption": "Without learned weights, *cat* attends mostly to itself.", "name": "fig-weightless"}, "image": {"alt": "On the left is the vector of cat, 1 and 0. Above the next cells are the vectors of cat, sat and there as columns, and where they cross are the three scores, 1, 0 and 0.5. An arrow, softmax, leads to the weights, 0.51, 0.19 and 0.31, in grey. Above the last cells are the three words as rows, and below them is their mixture, 0.66 and 0.34."}}
mechanisms.looks(x, x, x, everyone=False, bare=True)
plt.show()

# %% [markdown]
# It works, but *cat* attends most to *cat*: a word finds what resembles it. And the scores are symmetric, so *sat* matters to *cat* as much as *cat* does to *sat*. That is no way
# to understand a pronoun: *it* has to find a noun, which it doesn't resemble, and the noun need not find *it*. Asking, being found and answering are three different things.
#
# ### Query, key and value
#
# *2 minutes.* So each word plays three roles, as in a library. You bring a question: the **query**. A book's spine names its subject: the **key**. Its contents go home with you: the
# **value**.
#
# | role | for the word *it* |
# | --- | --- |
# | query | "I refer to one thing. Which one, and what is said of it?" |
# | key | "I am a pronoun." |
# | value | whatever others should know once they have found me |
#
# Three matrices compute the roles from the same word $x_t$:
#
# $$
# q_t = W_q\, x_t, \quad k_t = W_k\, x_t, \quad v_t = W_v\, x_t .
# $$ (eq-roles)
#
# The matrices are learned, so the network finds out for itself what is worth asking. Our $W_q$ swaps and doubles the two numbers: a thing asks for actions, an action for
# things. In code, words are rows, hence `x @ W_q.T`.

# %%
W_q = torch.tensor([[0.0, 2.0], [2.0, 0.0]])
W_k = torch.tensor([[1.0, 0.0], [0.0, 1.0]])
W_v = torch.tensor([[3.0, 0.0], [0.0, 1.0]])
q, k, v = x @ W_q.T, x @ W_k.T, x @ W_v.T
print("queries", q.tolist())

# %% tags=["mechanism"] mystnb={"figure": {"caption": "Three matrices turn the two numbers of *cat* into its query (what it asks), its key (how it is found) and its value (what it gives).", "name": "fig-roles"}, "image": {"alt": "On the left are the word cat and its vector 1, 0. Three arrows lead through three matrices of two rows and two columns to three vectors: through W_q to the query 0, 2 in blue, which asks; through W_k to the key 1, 0 in orange, by which the word is found; through W_v to the value 3, 0 in green, which it gives."}}
roles = {"query": (W_q, "asks"), "key": (W_k, "is found by"), "value": (W_v, "gives")}

ax = sheet(7.8)
word = cells(ax, (0.5, 3.3), x[:1])
label(ax, word, "top", "cat", weight="bold")
label(ax, word, "bottom", "$x$")
for i, (role, (W, does)) in enumerate(roles.items()):
    matrix = cells(ax, (5.4, 0.25 + 2.6 * i), W, role=role, weights=0.25)
    vector = cells(ax, (9.7, 0.675 + 2.6 * i), x[:1] @ W.T, role=role)
    arrow(ax, word.at("right"), matrix.at("left"))
    arrow(ax, matrix.at("right"), vector.at("left"))
    label(ax, matrix, "bottom", f"$W_{role[0]}$")
    label(ax, vector, "bottom", f"${role[0]}$")
    note(ax, (12.2, 0.85 + 2.6 * i), role, align="left", weight="bold")
    note(ax, (12.2, 1.4 + 2.6 * i), does, align="left")
plt.show()

# %% [markdown]
# ### Attention by hand
#
# *12 minutes, 9 of them yours.* Take a pencil: multiply the query of *cat*, $(0, 2)$, by the key of each word.

# %% tags=["view"]
first = (q @ k.T)[0].tolist()
guess(
    "Which word does “cat” attend to most?",
    ["“cat”, itself", "“sat”", "“there”"],
    right="“sat”",
    because=f"The three products are {first[0]:.0f}, {first[1]:.0f} and {first[2]:.0f}: a thing asks for actions, and “sat” is one.",
)

# %% [markdown]
# The steps stay the same. With all queries, keys and values as rows of matrices, all three fit on one line {cite}`vaswani2017attention`:
#
# $$
# Y = \operatorname{softmax}\!\left(\frac{Q K^\top}{\sqrt{d_k}}\right) V .
# $$ (eq-scaled-dot-product)
#
# $d_k$ is the width of a query; the square root is explained below.

# %% tags=["mechanism"] mystnb={"figure": {"caption": "*cat* finds *sat*. Each number is written where its row and its column cross: query times key, divided by √2, is a score; weights times values are the output.", "name": "fig-look"}, "image": {"alt": "On the left is the query of cat, 0 and 2, in blue. Above the next cells are the keys of cat, sat and there as columns in orange, and where they cross are the three scores, 0, 1.41 and 0.71. An arrow, softmax, leads to the weights, 0.14, 0.58 and 0.28, in grey. Above the last cells are the three values as rows in green, that of sat the strongest, and below them is their mixture, 0.85 and 0.72."}}
mechanisms.looks(q, k, v, everyone=False)
plt.show()

# %% [markdown]
# **Your turn.**
#
# ```{exercise} Scaled dot-product attention
# :label: exercise-scaled-dot-product
#
# *9 minutes.* Write {eq}`eq-scaled-dot-product`: compare, choose, mix. Return the contexts and the weights, in this order. Allow any number of axes before (T, d), as in
# (B, T, d). `key.mT` is `key` with its last two axes swapped. ([Solution](solutions/05_self_attention.ipynb#solution-scaled-dot-product))
# ```


# %%
def attention(query, key, value):
    """Shapes: query (..., T, d_k), key (..., S, d_k), value (..., S, d_v).

    Returns: contexts (..., T, d_v) and weights (..., T, S).
    """
    raise NotImplementedError


attention = check("scaled_dot_product", attention)

# %%
check.show_reference("scaled_dot_product")

# %% [markdown]
# Run it on the three words. The first row belongs to *cat*.

# %%
y, alpha = attention(q, k, v)
print("weights", [[round(a, 2) for a in row] for row in alpha.tolist()])
print("outputs", [[round(a, 2) for a in row] for row in y.tolist()])

# %% tags=["mechanism"] mystnb={"figure": {"caption": "All queries are answered at once, one row each. The row of *cat* (framed) is the same as before.", "name": "fig-all-at-once"}, "image": {"alt": "The same map with three rows, for cat, sat and there. On the left is Q, of shape (T, d_k), in blue. Above the next cells is K transposed, (d_k, T), in orange, and where they cross are the scores, (T, T). An arrow, softmax, leads to the weights, (T, T), in grey. Above the last cells is V, (T, d_v), in green, and below it are the outputs Y, (T, d_v). The first row of Q, scores, weights and Y is framed: it holds the numbers of cat from before."}}
mechanisms.looks(q, k, v)
plt.show()

# %% [markdown]
# Here no word waits for its neighbour, and every word is one step away from every other. The price is that $T$ words need $T^2$ scores, which Day 7 is about.
#
# ### The scale: why divide by the root?
#
# *3 minutes.* Let the numbers in $q$ and $k$ be independent, with mean 0 and variance 1. Their dot product is a sum of $d_k$ terms, each of variance 1, so its variance is
# $d_k$. The scores' standard deviation is 8 at a width of 64, and 32 at 1,024. A softmax of numbers so far apart puts nearly all the weight on the largest. It
# **saturates**, and then hardly any slope is left:
#
# $$
# \frac{\partial \alpha_s}{\partial e_r} = \alpha_s \left(\delta_{sr} - \alpha_r\right)
# $$ (eq-softmax-gradient)
#
# is close to 0 for all $s$ and $r$ if one weight is close to 1. ($e_r$ are the scores, and $\delta_{sr}$ is 1 for $s = r$ and 0 otherwise.) Divided by $\sqrt{d_k}$, the
# scores have variance 1 at any width. Does that matter? We let 500 random queries attend to 64 random keys each, and send a random gradient back through the weights to the
# scores.


# %% tags=["evidence"]
def through_softmax(d_k: int, scaled: bool) -> tuple[torch.Tensor, torch.Tensor]:
    """The largest weight and the size of the scores' gradient, (500,) each."""
    draw = partial(torch.randn, generator=torch.Generator().manual_seed(d_k))
    query, key, value = draw(500, 1, d_k), draw(500, 64, d_k), draw(500, 64, 16)
    scores = (query @ key.mT * (d_k**-0.5 if scaled else 1.0)).requires_grad_()
    weights = scores.softmax(dim=-1)
    (gradient,) = torch.autograd.grad((weights @ value * draw(500, 1, 16)).sum(), scores)
    return weights.amax(dim=(1, 2)).detach(), gradient.norm(dim=(1, 2))


widths = (4, 16, 64, 256, 1024)
looked = {(d_k, scaled): through_softmax(d_k, scaled) for d_k in widths for scaled in (True, False)}
share = {d: (looked[d, False][1].median() / looked[d, True][1].median()).item() for d in widths}

# %% tags=["view"]
guess(
    "At a width of 1,024, how much of the scores' gradient is left without the scale?",
    ["nearly all of it", "about a tenth", "less than a hundredth"],
    right="less than a hundredth",
    because=f"The median over 500 queries is {share[1024]:.4f} times the median with the scale.",
)

# %% tags=["evidence"] mystnb={"figure": {"caption": "Without the scale, a softmax over 64 keys saturates at large widths: the largest weight nears 1, and hardly any gradient reaches the scores. Medians (lines) and central nine tenths (bands) of 500 queries.", "name": "fig-scale"}, "image": {"alt": "Two panels over the width, from 4 to 1024. With the scale both lines are flat: the largest weight near 0.1, the gradient near 1. Without it the largest weight rises to 1, and the gradient falls, to about a thousandth at 1024."}}
figure, axes = plt.subplots(1, 2, figsize=(7.2, 3.2))
for i, (ax, name) in enumerate(zip(axes, ("largest weight", "gradient at the scores"))):
    lines = {
        told: (widths, torch.stack([looked[d, scaled][i] for d in widths], dim=1))
        for scaled, told in ((True, "with scale"), (False, "without"))
    }
    how = {"middle": "median", "within": 90, "logx": True, "logy": bool(i)}
    curves(lines, "width $d_k$", name, ax=ax, **how)
    ax.set_xticks(widths, widths)
plt.show()

# %% [markdown]
# At a width of 64, as in the Transformer paper, most of the gradient survives without the scale, and [the query's gradient](deeper/05_self_attention.ipynb#deeper-query) is
# even larger than with the scale.
#
# ### Masks: what may be seen
#
# *18 minutes, 16 of them yours.* No word should attend to padding. And a model that has to predict the next word must not see it: a **causal** mask lets each
# position see itself and all positions before it. `&` combines two masks.

# %% tags=["mechanism"] mystnb={"figure": {"caption": "The causal mask strikes out the future, and the padding mask the padding: which keys (columns) each query (row) may see. In a hatched row the query itself is padding.", "name": "fig-masks"}, "image": {"alt": "Three grids of four rows and four columns for cat, sat, there and padding. The causal mask has ticks on and below the diagonal and strokes above it. The padding mask has strokes in the last column and ticks elsewhere, and its last row is hatched. Both together have ticks on and below the diagonal in the first three rows and strokes elsewhere, and the last row is hatched."}}
mechanisms.masks()
plt.show()

# %% [markdown]
# What if every key is masked for a query, as when a batch is padded at the *front*? A softmax of nothing but $-\infty$ is NaN, which spreads. With a very negative number
# instead, it averages exactly the forbidden positions. So the weights of such a query should all be 0.
#
# ```{exercise} Masked attention
# :label: exercise-masked-attention
#
# *16 minutes.* Give your `attention` a mask, which is None or broadcasts to (..., T, S), and return contexts and weights as before. With `is_causal`, a query sees no key
# after its own position. If there are fewer queries than keys, the queries have the **last** positions: the last query sees the last key. Yesterday's
# `masked_softmax(scores, mask)` gives zeros where nothing is allowed; `tril(n)` keeps a matrix up to its $n$-th diagonal.
# ([Solution](solutions/05_self_attention.ipynb#solution-masked-attention))
# ```


# %%
def attention(query, key, value, mask=None, is_causal=False):
    """Shapes as before, mask broadcastable to (..., T, S), True = allowed.

    Returns: contexts (..., T, d_v) and weights (..., T, S).
    """
    raise NotImplementedError


attention = check("masked_attention", attention)

# %%
check.show_reference("masked_attention")

# %% [markdown]
# ### A first reader
#
# *4 minutes.* Your `attention` is enough for a network. Its output goes through one more matrix, $W_o$, and is **added** to the word's own vector. So a word stays itself
# while it learns about the others.


# %%
def one_look(x, W_in, W_o, mask):
    """W_in (3·D, D) holds W_q, W_k and W_v, one below the other; an axis of one head is added."""
    q, k, v = (x @ W_in.T)[:, None].chunk(3, dim=-1)  # (B, 1, T, D) each
    context, weights = attention(q, k, v, mask)
    return context[:, 0] @ W_o.T, weights


# %%
class Reader(nn.Module):
    """Predict a word at each position: ids (B, T) to logits (B, T, V), and weights (B, L, h, T, T).

    The weights tell which word attends to which, in each of L layers and h heads.
    """

    def __init__(self, look, n_layers=1, ordered=False, D=32):
        super().__init__()
        V = len(VOCABULARY)
        self.look, self.ordered = look, ordered
        self.words, self.places = nn.Embedding(V, D), nn.Parameter(0.02 * torch.randn(24, D))
        layers = range(n_layers)
        self.W_in = nn.ParameterList(xavier_uniform_(torch.empty(3 * D, D)) for _ in layers)
        self.W_o = nn.ParameterList(xavier_uniform_(torch.empty(D, D)) for _ in layers)
        self.output = nn.Linear(D, V)

    def forward(self, ids, mask=None):
        x, looks = self.words(ids), []
        if self.ordered:
            x = give_order(x, self.places)
        real = (ids != PAD)[:, None, None]  # (B, 1, 1, T): no word attends to padding
        for layer, (W_in, W_o) in enumerate(zip(self.W_in, self.W_o)):
            allowed = real if mask is None else real & mask[:, layer]
            found, weights = self.look(x, W_in, W_o, mask=allowed)
            x = x + found
            looks.append(weights)
        return self.output(x), torch.stack(looks, dim=1)


# %% [markdown]
# In `forward`, `ordered`, `give_order` and `mask` come into play later. We train three readers, from different seeds.


# %%
def trained(look, n_layers=1, ordered=False, seed=0):
    """A reader after five epochs."""
    torch.manual_seed(seed)
    model = Reader(look, n_layers, ordered)
    train_pronouns(model, lambda said, y: sequence_loss(said[0], y), corpus, epochs=5, seed=seed)
    return model.eval()


@torch.no_grad()
def judged(model, part=corpus.validation):
    """Share of gaps and of pronouns that are correct."""
    return right(model(as_ids(part)[0])[0], part)


# %% tags=["training"]
steps = {"yesterday's GRU": [of_gru]}
steps["one head"] = [judged(trained(one_look, seed=seed)) for seed in (0, 1, 2)]

# %% tags=["evidence"]
pronoun, gap = ([found[what] for found in steps["one head"]] for what in ("pronoun", "gap"))
observe(
    "With one head, the readers understand {low:.0%} to {high:.0%} of the pronouns, and fill {worst:.0%} to {best:.0%} of the gaps correctly.",
    **{"low": min(pronoun), "high": max(pronoun), "worst": min(gap), "best": max(gap)},
    holds=sum(pronoun) / 3 > 0.5 and sum(gap) / 3 < 0.8,
)

# %% [markdown]
# Your few lines already understand most of the pronouns, but the gaps are hard.
#
# **Enough for tonight?** This is a good place to stop: your attention reads. Next it gets several heads, and a sense of order.
#
# ### Several heads at once
#
# *18 minutes, 14 of them yours.* A softmax has only one unit of weight to share out. *It* has to look at the adjective **and** at the nouns, and a word that looks in two
# places gets a mixture. So **multi-head attention** looks several times at once. Each **head** works in a slice of the width, $d_k = D / h$ columns, with a softmax of its
# own. The heads' outputs are concatenated, and $W_o$ mixes them:
#
# $$
# \operatorname{MultiHead}(x_t) = W_o \left[y^{(1)}_t; \dots; y^{(h)}_t\right] .
# $$ (eq-heads)

# %% tags=["mechanism"] mystnb={"figure": {"caption": "Two heads, each of which attends in its half of the width, with weights of its own.", "name": "fig-heads-cut"}, "image": {"alt": "At the top a matrix of three rows, cat, sat, there, and D columns, half of them light blue, half yellow. Two arrows lead down to a matrix of the light blue columns and one of the yellow columns. Each goes through a three by three table of weights of its own, in grey, to as many columns of its colour. Arrows lead down to these columns side by side; an arrow, W_o, leads from there to a matrix of one colour."}}
mechanisms.heads()
plt.show()

# %% [markdown]
# {numref}`fig-split` shows the right way to cut and the most common mistake. Both results have the same shape, so no error tells them apart.

# %% tags=["mechanism"] mystnb={"figure": {"caption": "The right way cuts the width first, then swaps the axes of heads and words. The wrong way, a plain view into the same shape, gives each head one and a half words.", "name": "fig-split"}, "image": {"alt": "On the left a table of three rows, cat, sat, there, and eight numbered columns, the first four light blue, the last four yellow. At the top right is the correct cut: head 0 all light blue with rows cat, sat, there; head 1 all yellow with the same rows. At the bottom right is the wrong one: head 0 has the rows cat (light blue), cat (yellow) and sat (light blue); head 1 has the rows sat (yellow), there (light blue) and there (yellow)."}}
mechanisms.cuts()
plt.show()

# %% [markdown]
# ```{exercise} Split into heads
# :label: exercise-split-heads
#
# *6 minutes.* Return `x`, (B, T, D), as (B, h, T, d), with $d = D / h$: the first head gets the first $d$ columns of every position, and the second the next $d$.
# ([Solution](solutions/05_self_attention.ipynb#solution-split-heads))
# ```


# %%
def split_heads(x, n_heads):
    """Shapes: x (B, T, D) to (B, h, T, d), d = D / h."""
    raise NotImplementedError


split_heads = check("split_heads", split_heads)

# %%
check.show_reference("split_heads")

# %% [markdown]
# ```{exercise} Multi-head self-attention
# :label: exercise-multi-head
#
# *8 minutes.* Write the layer: project, split, attend, concatenate, mix. Return the outputs and the weights. `W_in` holds $W_q$, $W_k$ and $W_v$ of all heads, one below
# the other. Use your `attention` and `split_heads`. ([Solution](solutions/05_self_attention.ipynb#solution-multi-head))
# ```


# %%
def multi_head(x, W_in, W_o, n_heads, mask=None):
    """Shapes: x (B, T, D), W_in (3·D, D), W_o (D, D), mask broadcastable to (B, h, T, T).

    Returns: outputs (B, T, D) and weights (B, h, T, T).
    """
    raise NotImplementedError


multi_head = check("multi_head", multi_head)

# %%
check.show_reference("multi_head")

# %% [markdown]
# Heads cost no extra parameters: the same matrices are merely split. Now we use four:

# %% tags=["training"]
four_looks = partial(multi_head, n_heads=4)
steps["four heads"] = [judged(trained(four_looks, seed=seed)) for seed in (0, 1, 2)]

# %% tags=["evidence"]
four, filled = ([found[what] for found in steps["four heads"]] for what in ("pronoun", "gap"))
observe(
    "With four heads, the readers understand {low:.0%} to {high:.0%} of the pronouns, and on average they fill {gaps:.0%} of the gaps correctly.",
    **{"low": min(four), "high": max(four), "gaps": sum(filled) / 3},
    holds=sum(four) > sum(pronoun) and sum(filled) / 3 < 0.9,
)

# %% [markdown]
# ### Self-attention doesn't see order
#
# *10 minutes, 6 of them yours.* Why do the gaps stay wrong? The verb agrees with its subject: in "the animals near the gate _ not cross the street", the subject is the
# *first* noun.

# %% tags=["view"]
torch.manual_seed(0)
layer, seven = MultiHeadAttention(16, 4).double(), torch.randn(1, 7, 16, dtype=torch.float64)
shuffle = torch.randperm(7)
straight, _ = layer(seven)
shuffled, _ = layer(seven[:, shuffle])
moved = (shuffled - straight[:, shuffle]).abs().max().item()
guess(
    "We shuffle seven words and run the layer again. What are its seven outputs now?",
    ["Other numbers.", "The same, shuffled.", "The same, in the same order."],
    right="The same, shuffled.",
    because=f"The largest difference is {moved:.0e}, which is rounding.",
)

# %% tags=["mechanism"] mystnb={"figure": {"caption": "The same bag of words: in another order the outputs move with their words, and no number changes.", "name": "fig-bag-of-words"}, "image": {"alt": "Above, the words dog, bites and man go into self-attention, and three outputs of two numbers each come out. At the bottom, man, bites and dog go in from below. Arrows join the two outputs of each word: the numbers are the same, only the positions differ."}}
bag = {"dog": [1.0, 0.0], "bites": [0.0, 1.0], "man": [0.5, 0.5]}


def outputs(names):
    X = torch.tensor([bag[name] for name in names])  # (T, D)
    return (X @ W_q.T @ W_k @ X.T / 2**0.5).softmax(dim=1) @ X @ W_v.T


ax = sheet(9.4)
found = []
for names, sides, tops in (
    (["dog", "bites", "man"], ("bottom", "top"), (0.25, 1.6, 3.0)),
    (["man", "bites", "dog"], ("top", "bottom"), (8.3, 6.95, 5.55)),
):
    middle = box(ax, (1.5, tops[1]), "self-attention", (13, 0.85))
    found.append({})
    for i, (name, y) in enumerate(zip(names, outputs(names))):
        word = box(ax, (2.35 + 4.6 * i, tops[0]), name, (2.1, 0.85))
        found[-1][name] = cells(ax, (2.35 + 4.6 * i, tops[2]), y[None], role="value", weights=0.35)
        through = [(word.middle[0], middle.at(side)[1]) for side in sides]
        arrow(ax, word.at(sides[0]), through[1])
        arrow(ax, through[0], found[-1][name].at(sides[1]))
for name in bag:
    arrow(ax, found[0][name].at("bottom"), found[1][name].at("top"), role="value", weight=0.2)
plt.show()

# %% [markdown]
# For any matrix $P$ that reorders the rows,
#
# $$
# \operatorname{SA}(P X) = P \operatorname{SA}(X) .
# $$ (eq-permutation)
#
# To self-attention, a sentence is a bag of words, so its order has to be written in: that is **positional encoding**. The simplest method is a
# learned table with one row per position: to the vector of each word, we add the row of its position.

# %% tags=["mechanism"] mystnb={"figure": {"caption": "With the row of its position added, *dog* at position 0 and *dog* at position 2 are different vectors.", "name": "fig-positions"}, "image": {"alt": "Two panels, dog bites man and man bites dog. In each, three columns show, from top to bottom, the word, its two numbers, a plus sign, the row of its position 0, 1 or 2 in orange, and the sum. The rows are the same in both panels; the sums of dog and of man are not."}}
places = torch.tensor([[0.0, 0.5], [0.5, 0.5], [0.5, 0.0]])  # a row for each position
ax = sheet(6.4)
for i, names in enumerate((["dog", "bites", "man"], ["man", "bites", "dog"])):
    for t, name in enumerate(names):
        at = 0.6 + 8.0 * i + 2.5 * t
        word = torch.tensor([bag[name]])
        block = cells(ax, (at, 1.2), word)
        label(ax, block, "top", name, weight="bold")
        note(ax, (block.middle[0], 2.6), "+")
        row = cells(ax, (at, 3.1), places[t : t + 1], role="key", weights=0.35)
        label(ax, row, "bottom", f"row {t}")
        arrow(ax, (block.middle[0], 4.6), (block.middle[0], 5.1))
        cells(ax, (at, 5.2), word + places[t : t + 1], role="value", weights=0.35)
plt.show()

# %% [markdown]
# ```{exercise} Learned positional encoding
# :label: exercise-give-order
#
# *6 minutes.* Return each word plus the row of its position. The table may have more rows than a text has words. Each piece of a longer text begins at its own position
# `start`. ([Solution](solutions/05_self_attention.ipynb#solution-give-order))
# ```


# %%
def give_order(x, table, start=0):
    """Shapes: x (B, T, D), table (n, D), start + T ≤ n; returns (B, T, D)."""
    raise NotImplementedError


give_order = check("give_order", give_order)

# %%
check.show_reference("give_order")

# %% [markdown]
# Does the layer now notice that the seven words were shuffled?

# %%
rows = torch.randn(24, 16, dtype=torch.float64)
straight, _ = layer(give_order(seven, rows))
shuffled, _ = layer(give_order(seven[:, shuffle], rows))
print("the same, shuffled:", torch.allclose(shuffled, straight[:, shuffle]))

# %% [markdown]
# It does: {eq}`eq-permutation` no longer holds. The Transformer paper adds sines and cosines instead, like the hands of **clocks** {cite}`vaswani2017attention`, and so do we tomorrow;
# [rotary positions](deeper/05_self_attention.ipynb#deeper-rotary) rotate queries and keys.

# %% [markdown]
# ## Is it right?
#
# *1 minute.* We compare your layer with the library's, with the same weights and a padding mask:

# %% tags=["evidence"]
torch.manual_seed(1)
theirs = nn.MultiheadAttention(12, 3, bias=False, batch_first=True).double()
some, real = torch.randn(2, 6, 12, dtype=torch.float64), torch.arange(6) < torch.tensor([[6], [4]])
expected = theirs(some, some, some, key_padding_mask=~real, average_attn_weights=False)
ours = multi_head(some, theirs.in_proj_weight, theirs.out_proj.weight, 3, real[:, None, None])
book = MultiHeadAttention(12, 3, bias=False).double()
book.load_library(theirs)
for layer in (ours, book(some, mask=real[:, None, None], need_weights=True)):
    torch.testing.assert_close(layer, expected, rtol=1e-10, atol=1e-10)
print("outputs and weights agree with the library's and the book's layers to ten digits")

# %% [markdown]
# The [deeper page](deeper/05_self_attention.ipynb#deeper-right) checks the definition and the gradients.

# %% [markdown]
# ## Train it
#
# *2 minutes.* Now everything comes together: four heads, learned positions, and two layers, so that a word can read words that have read others. We keep the reader that is
# best on the validation set.

# %% tags=["training"]
readers = [trained(four_looks, n_layers=2, ordered=True, seed=seed) for seed in (0, 1, 2)]
steps["four heads, order, two layers"] = [judged(model) for model in readers]
reader = max(readers, key=lambda model: judged(model)["pronoun"])

# %% tags=["evidence"] mystnb={"figure": {"caption": "Four heads fix the pronouns; order and a second layer, added together, fix the gaps. Bars are means of three seeds (of one for the GRU); lines go from lowest to highest.", "name": "fig-ladder"}, "image": {"alt": "Two bar charts with four bars each. Pronouns: yesterday's GRU and one head are between 60 and 80 percent, four heads near 95, the whole reader near 100. Gaps: the GRU and the whole reader are near 100, one head near 55, four heads near 73."}}
figure, axes = plt.subplots(2, 1, figsize=(6.4, 5.6))
for ax, what in zip(axes, ("pronoun", "gap")):
    shares = {step: [100 * found[what] for found in runs] for step, runs in steps.items()}
    bars(shares, f"{what}s correct (%)", ax=ax)
plt.show()

# %% [markdown]
# Five epochs were enough for all this. ([With more, a single head](deeper/05_self_attention.ipynb#deeper-heads) gets far, too.) Now we use the test set, once, and
# sentences whose pair of noun and adjective was kept out of training. For comparison, a simple rule takes the first noun that agrees in number.

# %% tags=["evidence"]
parts = (corpus.test, "pronoun"), (corpus.test, "gap"), (corpus.unseen_pairs, "pronoun")
tested, gaps, new = (sum(judged(r, part)[what] for r in readers) / 3 for part, what in parts)
unseen = [row["pronoun, unseen pairs"] for row in patient]
ruled = sum(pronouns.first_of_its_number(s) == s.antecedent for s in corpus.test) / 500
observe(
    "On average the three readers fill {gaps:.0%} of the gaps in the test set correctly, and understand {reader:.1%} of the pronouns ({new:.1%} with unseen pairs). "
    "The rule answers {rule:.0%} of them correctly; after 60 epochs, the GRU answers at most {gru:.0%} correctly ({gru_new:.0%} with unseen pairs).",
    **{"gaps": gaps, "reader": tested, "new": new, "rule": ruled},
    **{"gru": max(longer), "gru_new": max(unseen)},
    holds=tested > max(0.97, ruled + 0.1)
    and new - max(unseen) > tested - max(longer)
    and gaps > sum(filled) / 3 + 0.1,
)

# %% [markdown]
# The gain is largest where a pair is new: the readers have learned what animals can be, not which words go together. Both models have about 14,000 parameters, and the GRU
# had twelve times as many epochs.

# %% [markdown]
# ## Look inside
#
# *6 minutes.* Back to the animal and the street: the reader has seen neither sentence.

# %% tags=["evidence"]
said = "the animal _ not cross the street because it is too".split()
asked = {word: [*said, word] for word in ("tired", "wide")}
assert not {tuple(words) for words in asked.values()} & {s.words for s in corpus.train}
ids = torch.tensor([VOCABULARY.encode(words, strict=True) for words in asked.values()])
it = asked["tired"].index("it")
with torch.no_grad():
    logits, weights = reader(ids)  # (2, T, V), (2, L, h, T, T)
sure, symbols = logits[:, it].softmax(-1).max(-1)
tired, wide = VOCABULARY.decode(symbols)
observe(
    "With *tired*, *it* means *the {a}*; with *wide*, *the {b}*.",
    **{"a": tired, "b": wide},
    holds=tired == "animal" and wide == "street" and sure.min() > 0.5,
)

# %% tags=["evidence"] mystnb={"figure": {"caption": "One word flips the answer: the weights of *it* in the first layer, head by head, with *tired* and with *wide*.", "name": "fig-it"}, "image": {"alt": "A map of eight rows and twelve columns: for each of four heads there is a row for the sentence with tired and one for that with wide; the columns are the words. In each row one or two cells are bright. For some heads the two rows are alike, for others not."}}
looks = weights[:, 0, :, it].transpose(0, 1).flatten(0, 1)  # (h · 2, T)
rows = [f"head {head}, {word}" for head in (1, 2, 3, 4) for word in asked]
names = {"rows": rows, "columns": [*asked["tired"][:-1], "tired/wide"]}
ax = plt.subplots(figsize=(7.2, 4.4))[1]
heat_map(looks, xlabel="key", ylabel="", value_label="weight", ax=ax, **names)
ax.tick_params(axis="x", labelrotation=60)
plt.show()

# %% [markdown]
# Choose a sentence, a layer and a head, and point at a word.

# %% tags=["view"]
one = corpus.validation[0]
shown = [*asked.values(), one.words]
ids, _ = pad([VOCABULARY.encode(words, strict=True) for words in shown])
wanted = [{2: "does", it: noun} for noun in ("animal", "street")]
wanted += [{one.gap: one.form, one.pronoun: one.words[one.antecedent]}]
past = torch.ones(ids.shape[1], ids.shape[1]).tril().bool().expand(3, 2, 1, -1, -1)
seen, answers = {}, {}
for name, mask in {"all words": None, "words so far": past}.items():
    with torch.no_grad():
        logits, seen[name] = reader(ids, mask)
    said = zip(logits.argmax(-1).tolist(), wanted)
    answers[name] = [{at: VOCABULARY.symbols[row[at]] for at in places} for row, places in said]
heads(shown, seen, answers=answers, right=wanted)

# %% [markdown]
# ### Does an attention weight matter?
#
# A single picture proves little. So a stored experiment asked five such readers about 500 sentences: how much weight does the pronoun give to its **antecedent**
# (the noun it refers to), the adjective, another noun and any other word?

# %% tags=["evidence"]
five = experiments.load("pronouns").select(layers=2, heads=4)
called = {"antecedent": "antecedent", "adjective": "what is said"}
called |= {"other noun": "other noun", "any other word": "no noun"}
on = {name: [sum(row[f"pronoun to {key}"]) / 8 for row in five] for name, key in called.items()}
missed = {
    name: [100 * (row["pronoun"] - row[f"cut pronoun to {key}"]) for row in five]
    for name, key in called.items()
}

# %% [markdown]
# "So *it* attends to *the animal*." That is where most people stop. But a weight only says how much of a value goes into an average. That value may hold nothing of
# interest, or the same information may arrive by another route. Whether attention explains anything is disputed {cite}`jain2019attention,wiegreffe2019attention`. The
# honest test is an **ablation**: take the link away. Does the answer get worse?

# %%
part, key_at = corpus.validation, looked_at(corpus.validation)


@torch.no_grad()
def right_without(key):
    """Share of pronouns that are correct when the pronoun may not attend to the key."""
    link = without_link(part, [s.pronoun for s in part], key_at[key])  # (B, T, T)
    mask = link[:, None, None].expand(-1, 2, -1, -1, -1)  # both layers, all heads
    return right(reader(as_ids(part)[0], mask)[0], part)["pronoun"]


lost = {key: 100 * (judged(reader)["pronoun"] - right_without(key)) for key in key_at}

# %% tags=["view"]
guess(
    "Which link is missed most when it is taken away?",
    ["to the antecedent", "to the adjective", "both about as much"],
    right="to the antecedent",
    because=f"Without it, the reader gets {lost['antecedent']:.0f} more of every 100 pronouns wrong; without the link to the adjective, {lost['adjective']:.0f} more.",
)

# %% tags=["evidence"] mystnb={"figure": {"caption": "The adjective gets much of the weight, but is missed far less than the antecedent. Left: the mean weight that a pronoun gives four kinds of words. Right: how many more of every 100 pronouns a reader gets wrong without the link to that kind. Means of five stored readers, with lines from lowest to highest.", "name": "fig-cuts"}, "image": {"alt": "Two bar charts with four bars each: antecedent, adjective, other noun, any other word. Left: antecedent and adjective are long, the other two short. Right: only the bar of the antecedent is long; that of the adjective is short, the others are nearly zero."}}
figure, axes = plt.subplots(1, 2, figsize=(7.2, 2.8))
bars(on, "mean weight", ax=axes[0])
bars(missed, "points lost without it", ax=axes[1])
axes[1].set_yticklabels([])
plt.show()

# %% tags=["evidence"]
relative = sum(on["adjective"]) / sum(on["antecedent"])
observe(
    "The pronoun gives the adjective {n:.0%} of the weight that it gives the antecedent.",
    n=relative,
    holds=relative > 0.5
    and max(missed["adjective"]) < 20
    and lost["adjective"] < lost["antecedent"],
)

# %% [markdown]
# Yet the adjective is missed far less. Often, the number, singular or plural, is enough to decide. And the adjective's information also reaches *it* [through other
# words](deeper/05_self_attention.ipynb#deeper-adjective). A weight shows which word is looked at, but not whether the answer depends on it.

# %% [markdown]
# ## Show someone
#
# *6 minutes.* Put a sentence together, and a reader like yours answers here. Let someone else choose, and guess first. Then do today's test: take away a word that the
# pronoun attends to. Does the answer need it?

# %% tags=["view"]
meaning(
    "pronouns",
    menus=pronouns.menus(),
    nouns={
        noun: (pronouns.kind(noun), noun in pronouns.SINGULAR, pronouns.never_said(noun))
        for noun in sorted(pronouns.NOUNS)
    },
    said={word: kind for kind, (_, said) in pronouns.SAID_OF.items() for word in said},
)

# %% [markdown]
# In JupyterLab, your own reader answers:


# %%
@torch.no_grad()
def says(sentence):
    """The word that the reader puts into the gap, and the noun that it takes the pronoun for."""
    words = sentence.lower().strip(" .").split()
    logits, _ = reader(torch.tensor([VOCABULARY.encode(words, strict=True)]))
    at = [i for i, word in enumerate(words) if word in ("_", "it", "they")]
    return VOCABULARY.decode(logits[0, at].argmax(-1))


said = says("the big dogs near the gate _ not reach the old bridge because they are too hungry")
observe(
    "It answers: {said}.",
    said=", ".join(said),
    holds={*said} <= {*pronouns.FORMS, *pronouns.NOUNS},
)

# %% [markdown]
# ## Where it breaks
#
# *2 minutes.* Stack twelve untrained layers, once with the sum (a residual connection), once with each layer's output **instead of** its input. How much do the positions
# still differ at the end?


# %%
@torch.no_grad()
def by_depth(residual: bool, seed: int, depth: int = 12) -> list[float]:
    """Size of the part that differs between positions, relative to the whole, by layer."""
    torch.manual_seed(seed)
    x, differ = torch.randn(16, 32, 64, dtype=torch.float64), []
    for n in range(depth + 1):
        if n:
            found, _ = MultiHeadAttention(64, 4).double()(x)
            x = x + found if residual else found
        differ.append(((x - x.mean(dim=1, keepdim=True)).norm() / x.norm()).item())
    return differ


# %% tags=["evidence"] mystnb={"figure": {"caption": "With attention alone, 32 random words become the same within a few untrained layers; with the sum they stay different. Three seeds each.", "name": "fig-collapse"}, "image": {"alt": "Two curves over the number of layers. The one with the sum stays near one. That of attention alone falls ever faster, to about one part in ten thousand after two layers, and to nothing but rounding after two more."}}
lines = {
    name: (range(13), torch.tensor([by_depth(residual, seed) for seed in (0, 1, 2)]))
    for name, residual in (("with the sum", True), ("attention alone", False))
}
curves(lines, "layers", "share that differs", logy=True)
plt.show()

# %% tags=["evidence"]
summed, alone = lines["with the sum"][1][:, 12].mean(), lines["attention alone"][1][:, 2].mean()
observe(
    "After two layers of attention alone, only {alone:.1e} of the whole differs between positions; with the sum, {summed:.0%} still does after twelve.",
    **{"alone": alone.item(), "summed": summed.item()},
    holds=alone < 1e-3 and summed > 0.8,
)

# %% [markdown]
# These are averages of averages: soon no word knows which one it is. {cite:t}`dong2021attention` prove that the difference shrinks doubly exponentially with depth.
#
# A nonlinear step is missing, too: for given weights, the output of attention is *linear* in the values. It can fetch, mix and weigh, but it computes nothing new. A
# position that sees only itself can't even [tell whether exactly one of two bits is set](deeper/05_self_attention.ipynb#deeper-bits).
#
# So attention moves information between positions, and the sum keeps the information already there. Thinking about it takes something else.

# %% [markdown]
# ## What we found
#
# *1 minute.* Three claims that you will often read, and our answers. The [deeper page](deeper/05_self_attention.ipynb) has seven more.
#
# (claim-att-2)=

# %% tags=["evidence"]
claim(
    "att-2",
    "Yes: without the scale, the scores' typical gradient is {wide:.4f} times as large at width 1,024; at 64 it is {usual:.2f} times as large.",
    **{"wide": share[1024], "usual": share[64]},
    holds=lambda wide, usual: wide < 0.01 and usual > 0.5,
    scale="500 random queries, 64 keys",
)

# %% [markdown]
# (claim-att-4)=

# %% tags=["evidence"]
leak = partial(experiments.load("order_leak").spread, "right", layers=2, positions=False)
knows = {name: leak(causal=name == "causal")[0] for name in ("free", "causal")}
claim(
    "att-4",
    "Yes, if nothing is masked: asked which of two marks came first, two layers answer {free:.0%} correctly; with a causal mask, they answer {causal:.0%} correctly.",
    **knows,
    holds=lambda free, causal: abs(free - 0.5) < 0.06 and causal > 0.95,
    experiment="order_leak",
    scale="twelve positions, three seeds",
)

# %% [markdown]
# (claim-att-7)=

# %% tags=["evidence"]
claim(
    "att-7",
    "Yes: the antecedent gets {noun:.2f} of the weight, another noun gets {other:.2f}; without the link to the antecedent, {lost:.0f} more of 100 answers are wrong.",
    **{"noun": sum(on["antecedent"]) / 5, "other": sum(on["other noun"]) / 5},
    lost=sum(missed["antecedent"]) / 5,
    holds=lambda noun, other, lost: noun > 2 * other and lost > 50,
    experiment="pronouns",
    scale="5 readers of 13,896 parameters, 500 sentences",
)

# %% [markdown]
# ## Exercises
#
# Eleven more are on the [deeper page](deeper/05_self_attention.ipynb), and all solutions are on [a page of their own](solutions/05_self_attention.ipynb).
#
# ```{exercise} Count a layer's weights
# :label: exercise-self-attention-parameters
#
# *Warm-up, 3 minutes.* A layer of self-attention is 48 wide and has six heads. Unlike yours, its four linear maps have biases. How many parameters does it have?
# ([Solution](solutions/05_self_attention.ipynb#solution-self-attention-parameters))
# ```

# %%
my_count = None

check("self_attention_parameters", my_count)

# %% [markdown]
# ```{exercise} The scale that fits
# :label: exercise-unit-variance
#
# *Core, 6 minutes.* $1/\sqrt{d_k}$ is the scale for numbers of variance 1. Yours are independent and have mean 0, but their variance is `var_q` in the queries and `var_k`
# in the keys. Return scores whose variance is 1. ([Solution](solutions/05_self_attention.ipynb#solution-unit-variance))
# ```


# %%
def unit_scores(query, key, var_q: float, var_k: float):
    """Shapes: query (B, h, T, d_k), key (B, h, S, d_k); returns scores (B, h, T, S)."""
    raise NotImplementedError


check("unit_variance", unit_scores)

# %% [markdown]
# ```{exercise} Remove one link
# :label: exercise-cut-edge
#
# *Core, 10 minutes.* Return the context without the link from query $t$ to key $s$, in all heads and sequences, as if the key had been masked for this query. You have the
# weights, not the scores. A query that attended to nothing else gets zeros. ([Solution](solutions/05_self_attention.ipynb#solution-cut-edge))
# ```


# %%
def without_edge(weights, value, t: int, s: int):
    """Shapes: weights (B, h, T, S), value (B, h, S, d_v); returns the context (B, h, T, d_v)."""
    raise NotImplementedError


check("cut_edge", without_edge)

# %% [markdown]
# ```{exercise} Predict: the same word nine times
# :label: exercise-leaked-order
#
# *Core, 5 minutes.* A sequence is BOS, followed by the same word nine times. A single layer of **causal** self-attention reads it, without positional encoding. How many
# *different* rows are there among its ten outputs? ([Solution](solutions/05_self_attention.ipynb#solution-leaked-order))
# ```

# %%
my_different_rows = None

check("leaked_order", my_different_rows)

# %% [markdown]
# ## Checklist and tomorrow

# %% tags=["view"]
points = {
    "work out attention by hand for one query: scores, weights, weighted average": "scaled_dot_product",
    "write scaled dot-product attention, and say what the scale is for": "scaled_dot_product unit_variance",
    "hide the future and padding with a mask": "masked_attention",
    "split attention into heads without mixing up positions": "split_heads multi_head self_attention_parameters",
    "say why attention doesn't see order, and how to give it order": "leaked_order give_order",
    "find out whether an attention weight matters, by taking it away": "cut_edge",
}
checklist({point: ids.split() for point, ids in points.items()})

# %% [markdown]
# So a sequence can find out, in one step, which of its words belong together, at any distance. **Tomorrow** each position gets a small network to think with, and a norm keeps the numbers in bounds. That is a block of the Transformer.

# %% [markdown]
# ## Further reading
#
# - {cite:t}`vaswani2017attention`, sections 3.2 and 4: today's lesson on two pages.
# - {cite:t}`jain2019attention` and {cite:t}`wiegreffe2019attention`, a dispute over whether attention explains a prediction. Read both.
