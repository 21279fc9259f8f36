# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Day 4: Sequence to sequence, and attention
#
# **Today's question:** how can a network look something up, where it had to remember everything?
#
# After today you can
#
# - make the pairs for teacher forcing, and judge a model without counting the padding,
# - compute attention weights, with any score and mask,
# - say which decoder state is the query in Bahdanau's and in Luong's model,
# - decode greedily, and say what a beam finds that greedy decoding misses,
# - take links from attention weights, and score them against the truth,
# - say what the fixed vector costs, by length.
#
# Each point is tested by an exercise at the end. The day builds on [Day 2](02_recurrent.ipynb) and
# [Day 3](03_gates.ipynb): recurrent layers, padded batches, reading in both directions.
# The core path takes about 90 minutes; what lies beyond it is marked. The exercises of warm-up and core take as long again;
# choose some.

# %%
import convolution_to_attention  # is `utils` this book's?

import itertools
from functools import partial
from time import perf_counter

import matplotlib.pyplot as plt
import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.flop_counter import FlopCounterMode

# %% [markdown]
# The second cell takes from the book's own package: the two concept modules of today, the exercises, and the
# bench.

# %%
from utils import attention, seq2seq
from utils.exercises.attention import check
from utils.exercises.attention.beam_search_curse import random_language
from utils.exercises.progress import checklist
from utils.seq2seq import BOS, EOS, PAD, Seq2Seq, Seq2SeqConfig

# %%
from utils.data import dates, translation
from utils.data.text import Vocabulary, pad
from utils.measure import experiments
from utils.measure.claims import claim
from utils.measure.graphs import longest_chain
from utils.show.display import observe, show_source, table
from utils.show.plotting import COLOURS, curves, heat_map, use_book_style
from utils.training import metrics
from utils.training.loop import Batches, evaluate, fit
from utils.training.recipes import train_translator

use_book_style()

# %% [markdown]
# ## Where we stand
#
# *10 minutes.* So far our networks gave one answer for a sequence, or one for each of its symbols. A translation is
# neither: it is another sequence, and nobody says in advance how long it is. Two recurrent networks can do it together
# {cite}`sutskever2014sequence,cho2014learning`. The **encoder** reads the source. The **decoder** starts from the encoder's last state. It
# writes the target symbol by symbol, and reads each symbol that it has written before it writes the next. That one state is
# all that passes between the two. (Sutskever's decoder, and ours, gets it at the beginning; Cho's is given it again at each step.) Yesterday ended with a doubt about it: can one vector hold a whole sentence?
#
# We ask with the smallest task that needs the whole source: write a word backwards. The words are drawn from six letters. A
# function gives them as ids; 0, 1 and 2 are taken by **PAD** (padding), **BOS** (begin) and **EOS** (end).


# %%
def random_words(n: int, longest: int, seed: int) -> list[list[int]]:
    """Words of 2 to `longest` letters, which are the ids 3 to 8."""
    generator = torch.Generator().manual_seed(seed)
    lengths = torch.randint(2, longest + 1, (n,), generator=generator)
    return [(3 + torch.randint(6, (int(N),), generator=generator)).tolist() for N in lengths]


"".join("abcdef"[letter - 3] for letter in random_words(1, 12, seed=1)[0])

# %% [markdown]
# The model is trained on 4,000 words of up to 12 letters. While it is trained, the decoder is fed the true symbols, whatever
# it would have written itself. This is called **teacher forcing**; we come back to it.


# %%
def speller(score: str | None, hidden_size: int = 48) -> Seq2Seq:
    """A small encoder–decoder, trained to write words backwards."""
    torch.manual_seed(0)
    model = Seq2Seq(Seq2SeqConfig(9, 9, 16, hidden_size, attention=score, style="Luong"))
    words = random_words(4000, 12, seed=0)
    sources, targets = [[*word, EOS] for word in words], [word[::-1] for word in words]
    how = {"epochs": 3, "batch_size": 32, "learning_rate": 6e-3}
    train_translator(model, seq2seq.sequence_loss, sources, targets, **how)
    return model


fixed = speller(None)

# %% [markdown]
# Then it writes 1,000 words that are drawn anew. (The shortest are no news to it: there are only 36 words of two letters and 216 of
# three. Of five letters and more it has seen hardly any.) A word is right if every letter is, and the end.

# %%
new_words = random_words(1000, 16, seed=1000)


def right_by_length(model: Seq2Seq) -> dict[int, float]:
    """Share of new words written backwards without a mistake, by their length."""
    written = seq2seq.greedy_decode(model, *pad([[*word, EOS] for word in new_words]), max_len=20)
    truth = [[*word[::-1], EOS] for word in new_words]
    lengths = [len(word) for word in new_words]
    return metrics.by_length(partial(metrics.exact_match, eos=EOS), lengths, list(written), truth)


through_vector = right_by_length(fixed)

# %% mystnb={"figure": {"caption": "Share of words written backwards without a mistake, by their length. The encoder hands one vector of 48 numbers to the decoder.", "name": "fig-fixed-vector"}, "image": {"alt": "A curve that starts at one for two letters, falls steeply from four letters on and is zero from about ten."}}
curves(
    {"": (list(through_vector), list(through_vector.values()))},
    "letters in the word",
    "share right",
)
plt.show()


# %%
def share(right: dict[int, float], lengths: range) -> float:
    """Mean over the lengths."""
    return sum(right[n] for n in lengths) / len(lengths)


short, long = share(through_vector, range(2, 4)), share(through_vector, range(9, 13))
observe(
    "Words of 2 and 3 letters: over 85 % right. Words of 9 to 12, as long as in training: under 15 %.",
    short > 0.85 and long < 0.15,
    {"2 and 3 letters": f"{short:.0%}", "9 to 12": f"{long:.0%}"},
)

# %% [markdown]
# {numref}`fig-fixed-vector` is yesterday's doubt, measured. Up to four letters nearly all words are right, and then it falls. The
# network has seen hundreds of words of ten letters, and hardly writes one of them right. As yesterday, there would be room in the
# vector. Two things have to be learned: to write each letter into it so that no later one disturbs it, and to keep it while the decoder
# writes. We have not measured which of them fails. Longer training may move the fall, as it did yesterday. But the decoder can't look at the word again: what the last state does not hold is lost.
#
# One could make the vector wider. We take twice the width, which is over three times as many parameters.

# %%
wide = speller(None, hidden_size=96)
through_wide = right_by_length(wide)
observe(
    "Twice the width: words of 6 letters gain over 15 points, and of 9 to 12 under 20 % are right.",
    through_wide[6] > through_vector[6] + 0.15 and share(through_wide, range(9, 13)) < 0.2,
    {"6 letters": f"{through_vector[6]:.0%} and {through_wide[6]:.0%}"}
    | {"9 to 12": f"{share(through_wide, range(9, 13)):.0%}"},
)

# %% [markdown]
# That helps, by about one letter. But it is a race against the length, and a sentence can always be longer.

# %% [markdown]
# ## The idea
#
# *5 minutes.* Imagine two interpreters. One listens to a whole speech, closes her notebook, and then speaks. The other has
# the speech in writing. Before each word he looks at the page again, at the place that matters now. He need not
# remember the page. He must know *where to look*.
#
# That is **attention** {cite}`bahdanau2015neural`. The encoder keeps all of its states, not the last alone. Here they are called
# **annotations**: one for each source position, and each knows its surroundings, since the encoder reads in both directions. Before
# it writes a symbol, the decoder
#
# 1. compares its own state, the **query**, with each annotation: a **score** says how well the two fit,
# 2. makes weights of the scores, which sum to 1, by a softmax,
# 3. takes the average of the annotations with these weights: the **context**.
#
# We draw it with the numbers that we will compute by hand below.


# %%
def boxed(ax, place: tuple[float, float], text: str) -> None:
    """Write a text in a box."""
    box = {"boxstyle": "round,pad=0.5", "facecolor": "white", "edgecolor": "black"}
    ax.text(*place, text, ha="center", va="center", bbox=box)


# %% mystnb={"figure": {"caption": "One look at the source. The query is compared with three annotations; lines are as thick as the weights that result; the context is the average with these weights.", "name": "fig-one-look"}, "image": {"alt": "Three boxes in a row stand for annotations. Lines lead from each of them up to a box called context, the first one thick, the second thin, the third of medium width; beside it stands a box called query, from which dashed lines lead to the annotations."}}
figure, ax = plt.subplots(figsize=(6.4, 3.2))
for i, weight in enumerate((0.60, 0.12, 0.28)):
    ax.plot([i, 1.0], [0.15, 1.85], color=COLOURS[0], lw=14 * weight, ls="-", zorder=0)
    ax.plot([i, 3.0], [0, 1.0], color=COLOURS[1], lw=1, ls="--", zorder=0)
    boxed(ax, (i, 0), f"$h_{i + 1}$")
    ax.text(i, -0.45, f"{weight:.2f}", color=COLOURS[0], ha="center")
boxed(ax, (1.0, 2.0), "context $c$")
boxed(ax, (3.0, 1.0), "query $s$")
ax.set(xlim=(-0.5, 3.7), ylim=(-0.6, 2.4))
ax.axis("off")
plt.show()

# %% [markdown]
# Everything in {numref}`fig-one-look` has a derivative. So gradient descent can train the scores along with all the rest, from the
# translations alone. Nobody has to tell the decoder where to look.

# %% [markdown]
# ## The mathematics
#
# *12 minutes.* A source $x_1 \dots x_S$ is to become a target $y_1 \dots y_T$, which ends with EOS. $y_{<t}$ stands for the symbols
# before $y_t$. The model gives the target's probability as a product, with one factor for each symbol:
#
# $$
# \begin{aligned}
# p(y \mid x) &= \prod_{t=1}^{T} p(y_t \mid y_{<t}, x), \\
# p(\cdot \mid y_{<t}, x) &= \operatorname{softmax}(W_o s_t + b_o), \qquad s_t = f(s_{t-1}, y_{t-1}) .
# \end{aligned}
# $$ (eq-seq2seq)
#
# Here $f$ is one step of a recurrent layer, $y_0$ is BOS, and $s_0$ is made of the encoder's last state. That is all the decoder gets
# of $x$. Training makes the probability of the true targets large. Sentences of a batch differ in length, so the shorter ones are
# filled up with PAD. The loss
# is the mean of $-\log p$ over the **real** symbols of all sentences. Padding counts neither in the sum nor in the number of
# symbols.
#
# With attention, the step also sees a context. For the annotations $h_1 \dots h_S$ and a query $q_t$,
#
# $$
# e_{tj} = \operatorname{score}(q_t, h_j), \qquad
# \alpha_{tj} = \frac{\exp e_{tj}}{\sum_{k} \exp e_{tk}}, \qquad
# c_t = \sum_{j} \alpha_{tj}\, h_j .
# $$ (eq-attention)
#
# What the query is compared with is called a **key**, and what is averaged a **value**: one looks up by the key, and gets the value.
# Here each annotation $h_j$ is both, but the code keeps them apart.
#
# The sums go over what may be attended to. A padded position gets the score $-\infty$, and so the weight 0. The scores that are in use:
#
# | name | $\operatorname{score}(q, h)$ | parameters | from |
# | --- | --- | --- | --- |
# | additive | $v^\top \tanh(W_a q + U_a h)$ | $W_a$, $U_a$, $v$ | {cite:t}`bahdanau2015neural` |
# | concat | $v^\top \tanh(W [q; h])$ | $W$, $v$ | {cite:t}`luong2015effective` |
# | dot | $q^\top h$ | none | {cite:t}`luong2015effective` |
# | general | $q^\top W_a h$ | $W_a$ | {cite:t}`luong2015effective` |
# | scaled dot | $q^\top h / \sqrt{d_k}$ | none | {cite:t}`vaswani2017attention` |
#
# $d_k$ is the width of a key. A dot product of wide vectors tends to be large, and the softmax then puts nearly all weight on one
# place; dividing by $\sqrt{d_k}$ takes that back. $[q; h]$ is one vector on top of the other. With $W = [W_a\; U_a]$ the concat score *is* the additive one. Luong's other two are
# called **multiplicative**.
#
# Which state is the query? The two papers differ in it.
#
# | | Bahdanau | Luong |
# | --- | --- | --- |
# | query $q_t$ | $s_{t-1}$, the state **before** the step | $s_t$, the state **after** the step |
# | the step | $s_t = f(s_{t-1}, y_{t-1}, c_t)$ | $s_t = f(s_{t-1}, y_{t-1})$ |
# | what the symbol is made of | $s_t$, $c_t$ and $y_{t-1}$ | $\tilde h_t = \tanh(W_c [c_t; s_t])$ |
# | path | $s_{t-1} \to \alpha_t \to c_t \to s_t$ | $s_t \to \alpha_t \to c_t \to \tilde h_t$ |
#
# In Bahdanau's model the context goes into the recurrence, so the next query knows what was seen. In Luong's basic model it does not,
# and so all its steps can be computed first, and then all queries at once. The best models of his paper do feed $\tilde h_{t-1}$ into
# the next step (**input feeding**, exercise 4.8), and give that up.
#
# A trained model has to find a $y$ for which {eq}`eq-seq2seq` is large. **Greedy** decoding takes the most probable symbol at each step.
# **Beam search** keeps several of the best beginnings, and so may find a better whole that begins worse. How translations and
# alignments are judged, we say when there are some.
#
# | symbol | shape | meaning |
# | --- | --- | --- |
# | $x$, $y$ | (B, S), (B, T) | source and target, as ids |
# | $h_j$ | (B, S, N) | annotations: keys and values at once |
# | $s_t$, $q_t$ | (B, T, N) | decoder states, queries |
# | $e$, $\alpha$ | (B, T, S) | scores and weights |
# | $c_t$ | (B, T, N) | contexts |
# | $\tilde h_t$ | (B, T, N) | what the logits are made of |

# %% [markdown]
# ## By hand
#
# *8 minutes.* Three annotations $h_1, h_2, h_3$, the rows of `h`, and one query $s$, of two numbers each. Below them stand the weights
# of an additive score. Take a pencil: what is $W_a s + U_a h_1$, the sum inside of the tanh? Then run on.

# %%
h = torch.tensor([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])  # (S, N)
s = torch.tensor([0.5, 1.0])  # (N,)
W_a, U_a = torch.eye(2), torch.tensor([[1.0, 0.0], [0.0, -1.0]])
v = torch.tensor([2.0, 1.0])

# %% [markdown]
# The additive score. Each matrix is applied, and the query's part is added to each annotation's part.

# %%
print("W_a s    ", (W_a @ s).tolist())
print("U_a h    ", (h @ U_a.T + 0).tolist())
print("together ", (W_a @ s + h @ U_a.T).tolist())

# %% [markdown]
# Then the tanh, and one number of each pair by $v$.

# %%
e = (W_a @ s + h @ U_a.T).tanh() @ v  # (S,)
print(
    "tanh  ",
    [[round(number, 3) for number in row] for row in (W_a @ s + h @ U_a.T).tanh().tolist()],
)
print("scores", [round(number, 3) for number in e.tolist()])

# %% [markdown]
# The softmax makes weights of the scores, and the weights make the context.

# %%
alpha = e.exp() / e.exp().sum()
c = alpha @ h  # (N,)
print("weights", [round(number, 3) for number in alpha.tolist()])
print("context", [round(number, 3) for number in c.tolist()])

# %% [markdown]
# The first source state fits best, and the context lies nearest to it. Now the dot product, for the same query and the same
# states.

# %%
dot = h @ s
print("scores ", dot.tolist(), "weights", [round(number, 3) for number in dot.softmax(0).tolist()])

# %% [markdown]
# Now the third state wins. Neither is wrong: $W_a$, $U_a$ and $v$ are learned, and so are the states. Last, suppose that
# the third position is padding. It gets $-\infty$ *before* the softmax, and the other two share what it had.

# %%
e_masked = e.masked_fill(torch.tensor([False, False, True]), -torch.inf)
print("weights", [round(number, 3) for number in e_masked.softmax(0).tolist()])

# %% [markdown]
# ## Build it
#
# *20 minutes.* Much code follows, and you need not read all of it. In encoder and decoders read `forward` and `run`; in the attention
# read `remember` and `read`. What begins with `check_` only raises errors, `blanked` sets
# to 0 what is masked for all, and `_fused` computes the same in the library's kernel.
# `project`, `step` and `hidden` are the recurrent layers' own, from the last two days.
#
# First what a fixed vector needs: two recurrent networks, and training. The encoder reads in both directions, each with half of the
# width. Its last state is both directions' last states side by side.

# %%
show_source(seq2seq.Encoder)

# %% [markdown]
# The decoder begins with what a small layer, the bridge, makes of the encoder's last state. Here $T$ may be the length of
# a sentence, when the target is known; or 1, when it is written step by step.

# %%
show_source(seq2seq.Decoder)

# %% [markdown]
# ### Teacher forcing, and padding
#
# In training the decoder is fed the true symbols {cite}`williams1989learning`. What it reads is the target, moved by one step, with BOS in
# front.

# %%
show_source(seq2seq.shift)

# %%
target = torch.tensor([[5, 3, 4, EOS], [7, EOS, PAD, PAD]])
print("reads ", seq2seq.shift(target).tolist())
print("writes", target.tolist())

# %% [markdown]
# The second row reads an EOS and paddings too. That does no harm, because the loss leaves out every place where the *target* is
# padding.

# %%
show_source(seq2seq.sequence_loss)

# %% [markdown]
# Is the mean really over the symbols? We take logits by chance. More padding must leave the loss as it is.

# %%
logits = torch.randn(2, 4, 9, generator=torch.Generator().manual_seed(0))
loss = seq2seq.sequence_loss(logits, target)
longer = seq2seq.sequence_loss(F.pad(logits, (0, 0, 0, 7)), F.pad(target, (0, 7), value=PAD))
every_place = F.cross_entropy(logits.flatten(0, 1), target.flatten())
assert torch.equal(loss, longer)
print("with padding counted, the loss would be another:", not torch.isclose(loss, every_place))

# %% [markdown]
# ### One mechanism, any score
#
# Now {eq}`eq-attention`. The weights first: `masked_softmax` takes scores and a mask, True where one may look. What may not be looked
# at gets the weight 0. A row in which nothing may be looked at gets zeros: a softmax of $-\infty$ alone would be NaN. Its code is not
# shown, since you write it yourself in exercise 4.5.

# %% [markdown]
# A score has two halves. What concerns the keys alone is done once for a source. What compares them with a query is done at each
# step.

# %%
show_source(attention.Score)

# %%
show_source(attention.AdditiveScore)

# %%
show_source(attention.DotScore)

# %%
show_source(attention.GeneralScore)

# %% [markdown]
# The mechanism is given a score and knows nothing else about it. What it looks at is prepared by `remember`, and `read` does the rest of
# {eq}`eq-attention`.

# %%
show_source(attention.Attention)

# %% [markdown]
# Does it give the numbers that we found by hand?

# %%
score = attention.AdditiveScore(2, 2, 2)
with torch.no_grad():
    for parameter, value in ((score.W_a.weight, W_a), (score.U_a.weight, U_a), (score.v, v)):
        parameter.copy_(value)
context, weights = attention.Attention(score)(s[None, None], h[None], h[None])
torch.testing.assert_close(weights[0, 0], alpha)
torch.testing.assert_close(context[0, 0], c)

# %% [markdown]
# It does. Now five scores go through the same code, with six queries, eight keys and a mask. In all of them, softmax and average are the
# same two lines; we compute them here once more.

# %%
torch.manual_seed(0)
queries, keys, values = torch.randn(2, 6, 16), torch.randn(2, 8, 16), torch.randn(2, 8, 5)
mask = attention.padding_mask(torch.tensor([8, 5]), 8)  # (B, 1, S)
scores = {
    "additive": attention.AdditiveScore(16, 16, 16),
    "concat": attention.ConcatScore(16, 16, 16),
    "dot": attention.DotScore(),
    "general": attention.GeneralScore(16, 16),
    "scaled dot": attention.ScaledDotScore(),
}


# %%
def exchangeable(score: attention.Score) -> bool:
    """Whether weights and context follow from the score by a masked softmax and an average."""
    context, weights = attention.Attention(score)(queries, keys, values, mask)
    e = score(queries, keys).masked_fill(~mask, -torch.inf)
    alpha = e.exp() / e.exp().sum(-1, keepdim=True)
    return torch.allclose(weights, alpha, atol=1e-6) and torch.allclose(
        context, torch.einsum("bts,bsd->btd", alpha, values), atol=1e-5
    )


one_mechanism = {name: exchangeable(score) for name, score in scores.items()}
n_weights = {name: sum(p.numel() for p in score.parameters()) for name, score in scores.items()}
rows = [
    [name, n_weights[name], "same softmax, same average"] for name in scores if one_mechanism[name]
]
table(rows, ["score", "parameters", "the rest"])

# %% [markdown]
# ### Global and local
#
# *Beyond the core path, up to the next heading.* Local attention changes one thing: which positions may be looked at.
#
# **Local** attention looks at a window only {cite}`luong2015effective`: at the positions $p_t - w \dots p_t + w$. In **local-m** $p_t = t$. In
# **local-p** the query predicts the place, and a bell around it scales the weights:
#
# $$
# p_t = S \cdot \sigma(v_p^\top \tanh(W_p q_t)), \qquad
# \alpha_{tj} \leftarrow \alpha_{tj} \exp\left(-\frac{(j - p_t)^2}{2\,(w/2)^2}\right) .
# $$ (eq-local)

# %%
show_source(attention.LocalAttention)

# %% [markdown]
# Twelve queries look at twelve keys, all drawn by chance, in three ways.

# %%
torch.manual_seed(0)
twelve, places = torch.randn(1, 12, 16), torch.randn(1, 12, 16)
looks = {
    "global": attention.Attention(attention.ScaledDotScore()),
    "local-m": attention.LocalAttention(attention.ScaledDotScore(), window=2),
    "local-p": attention.LocalAttention(attention.ScaledDotScore(), window=2, d_query=16),
}
seen = {name: look(twelve, places, places)[1][0].detach() for name, look in looks.items()}

# %% mystnb={"figure": {"caption": "Weights of twelve queries (down) on twelve keys (across), all random. Left: on the whole source. Middle: within two positions of the query's own. Right: within two positions of a place that each query predicts, under a bell.", "name": "fig-local"}, "image": {"alt": "Three square maps. In the left one bright cells lie everywhere; in the middle one they lie in a band along the diagonal; in the right one in a vertical band that sways a little."}}
figure, axes = plt.subplots(1, 3, figsize=(6.4, 2.6), sharey=True)
for ax, (name, weights) in zip(axes, seen.items()):
    ax.imshow(weights, vmin=0, vmax=1)
    ax.grid(False)
    ax.set(title=name, xlabel="key", xticks=[0, 5, 10], yticks=[0, 5, 10])
axes[0].set_ylabel("query")
plt.show()

# %% [markdown]
# In {numref}`fig-local` the rows of the first two maps sum to 1, those of the third to less, because of the bell. Local-m assumes
# that source and target run in step. Local-p has to learn where things are. Its queries are untrained here, so all of them predict a
# place near the middle.
#
# ### Two decoders
#
# First a drawing, then the code. The orange arrow is the query's way. Two things are left out: in both models $s_t$ also reads $y_{t-1}$,
# and $\alpha_t$ and $c_t$ come from all annotations.


# %% mystnb={"figure": {"caption": "One step of both decoders. Bahdanau's asks with the state before the step, and the context goes into the step. Luong's asks with the state after the step, and the context goes into the output.", "name": "fig-two-decoders"}, "image": {"alt": "Two small diagrams. Left: from s t minus 1 an arrow leads to the attention alpha t, from there to the context c t, from there to s t, and from s t to the output. Right: from s t minus 1 an arrow leads to s t, from there to alpha t, to c t, and to the output h tilde t."}}
def draw_step(ax, title: str, arrows: str) -> None:
    """Draw named boxes at fixed places, and arrows between them, such as "before>weights"."""
    names = {"before": "$s_{t-1}$", "after": "$s_t$", "weights": r"$\alpha_t$"}
    names |= {"context": "$c_t$", "output": r"$\tilde{h}_t$"}
    places = {"before": (0, 0), "after": (2, 0), "weights": (0.5, 1.2), "context": (1.5, 1.2)}
    places |= {"output": (2, 2.2)}
    for arrow in arrows.split():
        start, end = arrow.split(">")
        colour = COLOURS[1] if end == "weights" else "black"  # the query's way
        style = {"arrowstyle": "-|>", "lw": 2, "color": colour, "shrinkA": 16, "shrinkB": 16}
        ax.annotate("", places[end], places[start], arrowprops=style)
    for name, place in places.items():
        boxed(ax, place, names[name])
    ax.set(title=title, xlim=(-0.5, 2.6), ylim=(-0.5, 2.7))
    ax.axis("off")


figure, axes = plt.subplots(1, 2, figsize=(6.4, 2.8))
shared = "before>after weights>context context>output after>output"
draw_step(axes[0], "Bahdanau", f"{shared} before>weights context>after")
draw_step(axes[1], "Luong", f"{shared} after>weights")
plt.show()

# %% [markdown]
# The decoder of Luong's style steps first, and then looks. The whole target runs through in one go.

# %%
show_source(seq2seq.LuongDecoder)

# %% [markdown]
# Bahdanau's looks first, and steps with what it has seen. So it goes step by step, in training too.

# %%
show_source(seq2seq.BahdanauDecoder)

# %% [markdown]
# (Our two decoders make the output in the same way, so that they differ in nothing else. Bahdanau's paper has another layer there.)
# The whole model puts encoder and decoder together:

# %%
show_source(Seq2Seq)

# %% [markdown]
# ### Writing
#
# Greedy decoding feeds the decoder what it has written, until EOS.

# %%
show_source(seq2seq.greedy_decode)

# %% [markdown]
# *Beyond the core path.* Beam search keeps the `width` best beginnings. What has ended leaves the beam, and competes with what ends later. Longer targets have
# more factors below 1, so their probability is smaller; a **length penalty** divides $\log p$ by a power of the
# length, to make up for it.

# %%
show_source(seq2seq.beam_search)

# %% [markdown]
# ## Is it right?
#
# *5 minutes.* First a loop, as {eq}`eq-attention` has it: for each sentence and each query, over the keys that are there. All
# sizes differ.

# %%
torch.manual_seed(1)
score = attention.AdditiveScore(4, 6, 3).double()
q, k, values = (torch.randn(2, *sizes, dtype=torch.float64) for sizes in ((5, 4), (7, 6), (7, 2)))
lengths = torch.tensor([7, 4])
context, weights = attention.Attention(score)(q, k, values, attention.padding_mask(lengths, 7))


# %%
def context_loop(b: int, t: int) -> torch.Tensor:
    """The context of one query, from the definition. Returns (d_v,)."""
    there = range(int(lengths[b]))
    e = [score.v @ (score.W_a.weight @ q[b, t] + score.U_a.weight @ k[b, j]).tanh() for j in there]
    total = sum(number.exp() for number in e)
    return sum(number.exp() / total * values[b, j] for number, j in zip(e, there))


looped = torch.stack([torch.stack([context_loop(b, t) for t in range(5)]) for b in range(2)])
torch.testing.assert_close(context, looped, rtol=1e-10, atol=1e-10)

# %% [markdown]
# Now the library. It has the scaled dot product twice: as a function, and as a layer with four matrices around it. We set all four to
# the identity. Mind the masks. The function's is like ours: True means "may be looked at". The layer's `key_padding_mask` is the
# inverse: True means "hide".

# %%
q, k = torch.randn(2, 5, 6, dtype=torch.float64), k.requires_grad_()
mask = attention.padding_mask(lengths, 7)
ours, weights = attention.Attention(attention.ScaledDotScore())(q, k, k, mask)
kernel = F.scaled_dot_product_attention(q, k, k, attn_mask=mask)
torch.testing.assert_close(ours, kernel, rtol=1e-10, atol=1e-10)
library_agrees = torch.allclose(ours, kernel, rtol=1e-10, atol=1e-10)
by_k = [
    torch.autograd.grad(result.pow(2).sum(), k, retain_graph=True)[0] for result in (ours, kernel)
]
torch.testing.assert_close(*by_k, rtol=1e-10, atol=1e-10)

# %%
layer = nn.MultiheadAttention(6, num_heads=1, bias=False, batch_first=True).double()
with torch.no_grad():
    layer.in_proj_weight.copy_(torch.eye(6, dtype=torch.float64).repeat(3, 1))
    layer.out_proj.weight.copy_(torch.eye(6, dtype=torch.float64))
theirs, their_weights = layer(q, k, k, key_padding_mask=~mask[:, 0])
torch.testing.assert_close(ours, theirs, rtol=1e-10, atol=1e-10)
torch.testing.assert_close(weights, their_weights, rtol=1e-10, atol=1e-10)

# %% [markdown]
# Both agree. *Beyond the core path, as is the rest of this section:* Luong's concat score is Bahdanau's additive one, if its matrix has the other two side by side:

# %%
additive, concat = attention.AdditiveScore(4, 6, 3), attention.ConcatScore(4, 6, 3)
with torch.no_grad():
    concat.W.weight.copy_(torch.cat([additive.W_a.weight, additive.U_a.weight], dim=1))
    concat.v.copy_(additive.v)
queries = torch.randn(2, 5, 4, dtype=torch.float64)
one, other = additive.double()(queries, k), concat.double()(queries, k)
torch.testing.assert_close(one, other, rtol=1e-10, atol=1e-10)
same_function = torch.allclose(one, other, rtol=1e-10, atol=1e-10)

# %% [markdown]
# Next, the models. Written step by step, with the true symbols fed, a decoder must give the logits that it gives all at once. And a short
# source must come out as if there were no padding behind it. We ask both decoders, and the one without attention.


# %%
def two_ways(score: str | None, style: str) -> float:
    """Largest difference between steps and the whole target, and between padded and alone."""
    torch.manual_seed(0)
    model = Seq2Seq(Seq2SeqConfig(9, 8, 5, 6, attention=score, style=style)).double()
    source, lengths = pad([[3, 4, 5, 6, EOS], [7, 8, EOS]])
    target_in = torch.tensor([[BOS, 3, 4, 5], [BOS, 6, 7, 3]])
    whole = model(source, lengths, target_in)
    state, memory = model.encode(source[1:, :3], lengths[1:])  # the second sentence, alone
    steps = []
    for symbol in target_in[1]:
        logits, state, _ = model.decoder(symbol.view(1, 1), state, memory)
        steps.append(logits[0, 0])
    return (torch.stack(steps) - whole[1]).abs().max().item()


kinds = [(None, "Luong"), ("additive", "Bahdanau"), ("general", "Luong")]
same = max(two_ways(*kind) for kind in kinds) < 1e-12
print("step by step, without padding: the same logits as all at once, padded:", same)

# %% [markdown]
# ### Does the beam find what it should?
#
# With two letters and EOS, and at most four symbols, there are only 15 targets. We can try them all. A beam of 24 drops nothing here:
# there are at most eight beginnings, with three continuations each. So it must find the best target of all. The model is untrained;
# that makes no difference to the search.

# %%
torch.manual_seed(3)
tiny = Seq2Seq(Seq2SeqConfig(6, 5, 4, 8, attention="dot", style="Luong")).double().eval()
source, lengths = pad([[3, 4, EOS], [5, EOS]])
letters = [3, 4]
targets = [[*word, EOS] for n in range(4) for word in itertools.product(letters, repeat=n)]
len(targets)


# %%
def log_probability(sentence: int, target: list[int]) -> float:
    """log p(target | source) of the tiny model, for one of its two sources."""
    y = torch.tensor([target])
    S = int(lengths[sentence])
    logits = tiny(source[[sentence], :S], lengths[[sentence]], seq2seq.shift(y))
    return logits.log_softmax(-1)[0].gather(1, y.T).sum().item()


best = [max(targets, key=lambda target: log_probability(b, target)) for b in (0, 1)]
found, log_p = seq2seq.beam_search(tiny, source, lengths, width=24, max_len=4)
assert [metrics.until(row, EOS) for row in found] == best
print("the beam found the best of", len(targets), "targets, for both sources")

# %% [markdown]
# A beam of width 1 has nothing to choose from, so it is greedy decoding. We
# let the speller write its words once more.

# %%
sources, lengths = pad([[*word, EOS] for word in new_words])
greedy = seq2seq.greedy_decode(fixed, sources, lengths, max_len=20)
narrow, _ = seq2seq.beam_search(fixed, sources, lengths, width=1, max_len=20)
as_lists = [[metrics.until(row, EOS) for row in rows] for rows in (greedy, narrow)]
print("a beam of 1 wrote the same words:", as_lists[0] == as_lists[1])

# %% [markdown]
# ## Train it
#
# *12 minutes.* First the words again. The same sizes, the same words, the same number of steps; but now the decoder may look back at
# the word. The score is `general`.

# %%
looking = speller("general")
with_attention = right_by_length(looking)

# %% mystnb={"figure": {"caption": "Share of words written backwards without a mistake, by their length. Right of the dashed line the words are longer than any in training.", "name": "fig-attention-words"}, "image": {"alt": "Three curves. The one with attention stays near one up to ten letters and then falls; those with a fixed vector fall from four letters on, the wider one a little later."}}
results = {"with attention": with_attention, "fixed vector": through_vector}
results["twice as wide"] = through_wide
ax = curves(
    {name: (list(right), list(right.values())) for name, right in results.items()},
    "letters in the word",
    "share right",
)
ax.axvline(12.5, color="black", linestyle="--")
plt.show()

# %%
n_parameters = {
    name: sum(p.numel() for p in model.parameters())
    for name, model in (("fixed", fixed), ("wide", wide), ("attention", looking))
}
gain = share(with_attention, range(9, 13)) - long
observe(
    "At 9 to 12 letters attention adds over 60 points, with fewer parameters than twice the width needs; "
    "beyond 14 letters it, too, is under 60 %.",
    gain > 0.6
    and n_parameters["attention"] < n_parameters["wide"]
    and share(with_attention, range(15, 17)) < 0.6,
    {"with attention": f"{share(with_attention, range(9, 13)):.0%}", "fixed": f"{long:.0%}"}
    | {f"parameters, {name}": f"{count:,}" for name, count in n_parameters.items()},
)

# %% [markdown]
# {numref}`fig-attention-words` is the whole point of the day. With attention it falls a little from ten letters on, and steeply
# beyond the longest words of training. "Go back one place" would work at any length, so it has not learned that.
#
# ### Dates in twelve languages
#
# *Beyond the core path, up to the next heading.* People write dates in many ways. Machines want one: year-month-day, as in ISO 8601. The book has dates in twelve locales and six
# formats, from CLDR, the record of how languages write. The days of the test stand in no other part.

# %%
corpus = dates.corpus(6000, n_held_out=1000, seed=0)
trained_days = {example.date for example in corpus.train}
observe(
    "No day of the test stands in training.",
    not any(example.date in trained_days for example in corpus.test),
    {f"{e.locale}: {e.text}": f"is {e.target}" for e in corpus.test[:6]},
)

# %% [markdown]
# The model reads letters, behind a first symbol that names the locale. Why the locale? `3/5/04` is a day in March in the United
# States and one in May in Spain. Who isn't told can't be right every time. We count how often the best possible reader would be right
# without it, over all days of two years. It loses little:

# %%
ceiling = dates.ceiling(dates.days([2023, 2024]))
observe(
    "Without the locale nobody can be right on more than 99.5 % of the dates; 98 % are possible.",
    0.98 < ceiling < 0.995,
    {"ceiling": f"{ceiling:.1%}"},
)


# %%
def as_ids(examples: list[dates.Example]) -> tuple[list[list[int]], list[list[int]]]:
    """Sources, with the locale in front and EOS behind, and targets."""
    sources = [[*letters.encode([f"<{e.locale}>", *e.text]), EOS] for e in examples]
    return sources, [digits.encode(e.target) for e in examples]


letters = Vocabulary(symbol for e in corpus.train for symbol in (f"<{e.locale}>", *e.text))
digits = Vocabulary("0123456789-")
print(f"{len(digits)} symbols to write; to read, over a hundred: {len(letters) > 100}")

# %% [markdown]
# We train a small model of Luong's style. The recipe: Adam, a learning rate that rises and falls, clipped gradients, and batches of similar
# length.

# %%
show_source(train_translator)

# %%
torch.manual_seed(0)
config = Seq2SeqConfig(len(letters), len(digits), 48, 96, attention="general", style="Luong")
reader = Seq2Seq(config)
history = train_translator(
    reader, seq2seq.sequence_loss, *as_ids(corpus.train), epochs=2, batch_size=32
)


def dates_right(model: Seq2Seq, examples: list[dates.Example]) -> float:
    """Share of dates that are right to the last digit."""
    sources, targets = as_ids(examples)
    written = seq2seq.greedy_decode(model, *pad(sources), max_len=12)
    return metrics.exact_match(written, [[*target, EOS] for target in targets], EOS)


# %% mystnb={"figure": {"caption": "Loss of each batch while the model learns to read dates.", "name": "fig-dates-loss"}, "image": {"alt": "A curve that falls from above two at once, is below a half after a hundred steps, and ends near zero, with small spikes."}}
steps = range(1, len(history.step_loss) + 1)
curves({"": (steps, history.step_loss)}, "step", "loss (nats a symbol)")
plt.show()

# %% [markdown]
# In {numref}`fig-dates-loss` most of the loss is gone after a hundred steps. The rest of the training goes into the last tenths: one
# wrong digit makes a date wrong.
#
# A baseline stands beside it: rules, written by people. `dateutil` is a library that knows many formats. We gave it CLDR's names of
# months and the locale, and rules of our own for what it got wrong: which century two digits mean, what follows a year in front,
# where `3月5日` is cut, and that "mar" may be a Tuesday.


# %%
def rules_right(examples: list[dates.Example]) -> float:
    """Share of dates that the rules read right, when they are told the locale."""
    return sum(dates.parse_with_dateutil(e.text, e.locale) == e.date for e in examples) / len(
        examples
    )


parts = {"formats seen in training": corpus.test, "formats never seen": corpus.unseen_formats}
by_model = {name: dates_right(reader, part) for name, part in parts.items()}
by_rules = {name: rules_right(part) for name, part in parts.items()}
observe(
    "The rules read over 99 % of the seen formats; the model over 60 %, and fewer of the unseen.",
    by_rules["formats seen in training"] > 0.99
    and by_model["formats seen in training"] > 0.6
    and by_model["formats never seen"] < by_model["formats seen in training"],
    {f"model, {name}": f"{right:.1%}" for name, right in by_model.items()}
    | {f"rules, {name}": f"{right:.1%}" for name, right in by_rules.items()},
)

# %% [markdown]
# The rules were written by people who know dates, and are told the locale. The model was told nothing but examples, and few of them. A stored
# experiment gave a model of this size four times as many, over three seeds, with the locale and without.

# %%
read_dates = experiments.load("dates")
of_dates = {
    locale: {name: read_dates.spread(name, locale=locale) for name in ("exact", "unseen")}
    for locale in (True, False)
}
table(
    [
        [told, *(f"{low:.1%} to {high:.1%}" for _, low, high in of_dates[locale].values())]
        for locale, told in ((True, "is told the locale"), (False, "is not"))
    ],
    ["the model", "formats seen in training", "formats never seen"],
)

# %%
told, untold = (of_dates[locale]["exact"] for locale in (True, False))
observe(
    "Told the locale, all three models read over 99.5 % of new dates; not told, they reach over 99 % of the "
    "ceiling.",
    told[1] > 0.995 and 0.99 * ceiling < untold[1] and untold[2] < ceiling,
    {"told": f"{told[0]:.2%}", "not told": f"{untold[0]:.2%}", "ceiling": f"{ceiling:.2%}"},
)

# %% [markdown]
# So it comes up to the rules where it has seen the format. Where it has not, it is behind them. That is no fair race: whoever wrote the
# rules had seen all of these formats.

# %% [markdown]
# ### From English into Chinese
#
# Next, sentences. A grammar of ours writes them in both languages at once, so that it is known which word stands for which. We take
# short ones of four kinds, with at most eight English words. One sentence is kept aside. We come back to
# it when we look inside.

# %%
asked = "I love deep learning".split()
drawn = translation.sentences(12000, seed=0, structures=["state", "study", "activity", "motion"])
pairs = [pair for pair in drawn if len(pair.source) <= 8 and pair.source != tuple(asked)]
train_pairs, test_pairs = pairs[:-400], pairs[-400:]
english = Vocabulary(word for pair in train_pairs for word in pair.source)
chinese = Vocabulary(word for pair in train_pairs for word in pair.target)
rows = [[" ".join(pair.source), " ".join(pair.target)] for pair in test_pairs[:4]]
table(
    [[len(train_pairs), len(english), len(chinese)]],
    ["pairs to train on", "English words known", "Chinese words known"],
)
table(rows, ["English", "Chinese"])


# %%
def in_ids(pairs: list[translation.Pair]) -> tuple[list[list[int]], list[list[int]]]:
    """Sources with EOS behind them, and targets."""
    sources = [[*english.encode(pair.source), EOS] for pair in pairs]
    return sources, [chinese.encode(pair.target) for pair in pairs]


torch.manual_seed(0)
translator = Seq2Seq(
    Seq2SeqConfig(len(english), len(chinese), 48, 64, attention="dot", style="Luong")
)
how = {"epochs": 5, "batch_size": 32, "learning_rate": 6e-3}
_ = train_translator(translator, seq2seq.sequence_loss, *in_ids(train_pairs), **how)

# %% [markdown]
# Greedy decoding and a beam of five translate 400 new sentences. Two numbers judge a translation. **Exact match** is the share of
# sentences that are right to the last symbol. **BLEU** {cite}`papineni2002bleu` looks up the translations' words, pairs, triples and
# quadruples in the references; each counts at most as often as it stands there. The four shares $p_n$ that are found go into a
# geometric mean. If the translations' length $\ell$ is below the references' $r$, they pay for it:
#
# $$
# \text{BLEU} = 100 \cdot \min\left(1, e^{1 - r/\ell}\right) \cdot \exp\left(\tfrac14 \textstyle\sum_{n=1}^{4} \log p_n\right) .
# $$ (eq-bleu)

# %%
sources, targets = in_ids(test_pairs)
source, lengths = pad(sources)
target, _ = pad([[*ids, EOS] for ids in targets])
greedy = seq2seq.greedy_decode(translator, source, lengths, max_len=20)
beam, beam_score = seq2seq.beam_search(translator, source, lengths, width=5, max_len=20)

# %%
reference = [pair.target for pair in test_pairs]
judged = {}
for name, written in (("greedy", greedy), ("beam of 5", beam)):
    words = [chinese.decode(row) or ["<nothing>"] for row in written]
    judged[name] = (metrics.exact_match(written, target, EOS), metrics.bleu(words, reference))
observe(
    "Between 40 and 90 % are exactly right; BLEU is above 50; the beam changes exact match by under 4 points.",
    0.4 < judged["greedy"][0] < 0.9
    and judged["greedy"][1] > 50
    and abs(judged["greedy"][0] - judged["beam of 5"][0]) < 0.04,
    {name: f"{exact:.0%} exact, BLEU {bleu:.0f}" for name, (exact, bleu) in judged.items()},
)


# %%
@torch.no_grad()
def log_likelihood(written: torch.Tensor) -> torch.Tensor:
    """log p of what was written, by the translator. Shapes: (B, T) to (B,)."""
    log_p = translator.eval()(source, lengths, seq2seq.shift(written)).log_softmax(-1)
    real = written != PAD
    return (log_p.gather(-1, written[..., None])[..., 0] * real).sum(1)


higher = log_likelihood(beam) - log_likelihood(greedy)
worse, better = (higher < -1e-3).double().mean().item(), (higher > 1e-3).double().mean().item()
observe(
    "The beam finds something more probable than greedy decoding for over 1 % of the sentences, and "
    "something less probable for under 2 %.",
    better > 0.01 and worse < 0.02,
    {"more probable": f"{better:.1%}", "less": f"{worse:.1%}"},
)

# %% [markdown]
# So the beam does what it is made for: it finds targets that the *model* holds more probable. Whether they are better translations is
# up to the model. Here they hardly are.
#
# ### The decoder's own mistakes
#
# *Beyond the core path, up to the next section.* In training the decoder never saw a mistake of its own. In use it must live with them. This gap is called **exposure bias**
# {cite}`ranzato2016sequence`. How much does it hurt? We look at all places of the test where the decoder, fed with the truth, would write
# a wrong symbol, and go on. At the next step it is fed either the truth, or the wrong symbol that it wanted to write. All else is the same.

# %%
with torch.no_grad():
    guess = translator.eval()(source, lengths, seq2seq.shift(target)).argmax(-1)  # (B, T)
real = target != PAD
wrong, stops = (guess != target) & real, guess == EOS
row, t = (wrong & ~stops)[:, :-1].logical_and(real[:, 1:]).nonzero(as_tuple=True)
truth_fed = seq2seq.shift(target)[row]
own_fed = truth_fed.clone()
own_fed[range(len(row)), t + 1] = guess[row, t]


# %%
@torch.no_grad()
def next_wrong(fed: torch.Tensor) -> float:
    """Share of mistakes at the step after a mistake, for a decoder that is fed this."""
    next_guess = translator(source[row], lengths[row], fed).argmax(-1)[range(len(row)), t + 1]
    return (next_guess != target[row, t + 1]).double().mean().item()


after_right = ~wrong[:, :-1] & real[:, 1:]
exposure = {
    "after a right symbol": wrong[:, 1:][after_right].double().mean().item(),
    "after a mistake, fed the truth": next_wrong(truth_fed),
    "after a mistake, fed the mistake": next_wrong(own_fed),
}
observe(
    "After a mistake the next symbol is wrong at least twice as often as after a right one, even if the "
    "truth is fed; if the mistake is fed, over 20 points more.",
    exposure["after a mistake, fed the truth"] > 2 * exposure["after a right symbol"]
    and exposure["after a mistake, fed the mistake"]
    > exposure["after a mistake, fed the truth"] + 0.2,
    {name: f"{rate:.0%}" for name, rate in exposure.items()},
)

# %% [markdown]
# Two things are in these numbers. Hard sentences have several mistakes, and no feeding changes that: it is the step from the first
# number to the second. The step from the second to the third is what the fed mistake itself does. A part of that is no fault. If
# the decoder leaves out a word, or begins with another, then another next word is right, and we compare with one reference, place by
# place.

# %% [markdown]
# ## Look inside
#
# *10 minutes.* Where does the decoder look? For a word written backwards there is a right answer: the last letter first.


# %%
def weights_for(model: Seq2Seq, source: list[int], target: list[int]) -> torch.Tensor:
    """Weights (T, S) while the model is fed this target, EOS included in both."""
    return seq2seq.forced_weights(model, *pad([source]), torch.tensor([target]))[0]


# %% mystnb={"figure": {"caption": "Where the speller looks while it writes a word of eight letters backwards.", "name": "fig-backwards"}, "image": {"alt": "A square map with bright cells from the upper right to the lower left, that is, along the antidiagonal."}}
word = next(word for word in new_words if len(word) == 8)
spelt = ["abcdef"[letter - 3] for letter in word]
picture = weights_for(looking, [*word, EOS], [*word[::-1], EOS])
names = {"rows": [*spelt[::-1], "EOS"], "columns": [*spelt, "EOS"]}
heat_map(picture, xlabel="read", ylabel="written", value_label="weight", **names)
plt.show()

# %% [markdown]
# The bright cells run from the last letter to the first. Nobody told the model so. For a date there is more to see: the parts
# change places, and a month has a name.

# %% mystnb={"figure": {"caption": "Where the model looks while it writes a date that was written in Portuguese.", "name": "fig-date"}, "image": {"alt": "A map with the digits of an ISO date down and the letters of a Portuguese date across. The digits of the year have their bright cells at the far right, those of the month in the name of the month, those of the day further left."}}
day = dates.Example(
    dates.render(dates.date(1993, 2, 14), "pt_BR", "full"), "pt_BR", dates.date(1993, 2, 14), "full"
)
(read,), (written,) = as_ids([day])
picture = weights_for(reader, read, [*written, EOS])
ax = plt.subplots(figsize=(6.4, 3.4))[1]
names = {"rows": [*day.target, "EOS"], "columns": ["pt", *day.text, "EOS"]}
heat_map(picture, xlabel="read", ylabel="written", value_label="weight", ax=ax, **names)
ax.tick_params(axis="x", labelsize=8)
plt.show()

# %%
year = picture[:4, day.text.index("1993") + 1 :].sum(1)  # weight of the year's four digits
observe(
    "While the year is written, over half of the weight lies on the year and what follows it.",
    year.mean() > 0.5,
    {"weight": f"{year.mean():.0%}"},
)

# %% [markdown]
# The decoder writes the year first and so looks at the end of the text first.
#
# ### A sentence, and the truth
#
# Now the sentence that was kept aside. The true links are marked; the model doesn't know them.

# %%
words = "我 爱 深度 学习".split()
picture = weights_for(
    translator, [*english.encode(asked), EOS], [*chinese.encode(words, strict=True), EOS]
)
truth = frozenset((i, i) for i in range(4))

# %% mystnb={"figure": {"caption": "Where the translator looks while it writes the translation of a sentence that it has never seen. Circles: the true alignment.", "name": "fig-sentence"}, "image": {"alt": "A map with five rows for the Chinese words wo, ai, shendu, xuexi and EOS, and five columns for I, love, deep, learning and EOS. Circles mark the diagonal; the first two rows have their bright cells there."}}
pinyin = ["wǒ 1", "ài 2", "shēndù 3", "xuéxí 4", "EOS"]
heat_map(
    picture,
    xlabel="English",
    ylabel="Chinese",
    value_label="weight",
    rows=pinyin,
    columns=[*asked, "EOS"],
)
ring = {"markersize": 20, "markerfacecolor": "none", "markeredgecolor": COLOURS[1], "mew": 3}
for t, j in truth:
    plt.plot(j + 0.5, t + 0.5, "o", **ring)
plt.show()

# %%
found = metrics.alignment(picture, 4, 4)
observe(
    "我 looks at *I*, 爱 at *love*; 深度 学习 has over 80 % of its weight on what follows *love*.",
    {(0, 0), (1, 1)} <= found and picture[2:4, 2:].sum().item() > 1.6,
    {
        "links": str(sorted(found)),
        "true": str(sorted(truth)),
        "weight": f"{picture[2:4, 2:].sum().item() / 2:.0%}",
    },
)

# %% [markdown]
# (In Chinese it is 我 爱 深度 学习; the rows of {numref}`fig-sentence` have its pronunciation.) *I* and *love* are found. For
# *deep learning* the weight lies on what follows *love*, and not on one word for each. Why might that do?

# %%
apart = {p.source.index("learning") - p.source.index("deep") for p in pairs if "deep" in p.source}
print("where *deep* stands, *learning* follows:", apart == {1})

# %% [markdown]
# An annotation knows its neighbours. If two words always come together, either place may be able to tell what stands in both. So the largest weight
# says where the decoder *looked*, and not which word it *meant*.
#
# ### The alignment error rate
#
# One picture can be chosen; a number judges all. Not every word has one clear partner. A link is **sure** ($\mathcal S$) if nobody would
# doubt it, and **possible** ($\mathcal P \supseteq \mathcal S$) if one may draw it or leave it out. In real texts people mark them; here
# the grammar does. Sure links should be found, and possible ones may be. Ours is generous: function words such as 了, 的 and 把, but also
# 在, 给 and 一, have possible links only, so a stricter count would give higher rates. For a predicted set of links $\mathcal A$, the **alignment
# error rate** {cite}`och2003systematic` is
#
# $$
# \text{AER} = 1 - \frac{|\mathcal A \cap \mathcal S| + |\mathcal A \cap \mathcal P|}{|\mathcal A| + |\mathcal S|} .
# $$ (eq-aer)
#
# First by hand: three target words, and a source of three words. Two links are sure, one
# more is possible. The predicted links have one of the sure ones, the possible one, and one that is wrong.

# %%
sure, possible = {(0, 0), (1, 2)}, {(0, 0), (1, 2), (2, 2)}
predicted = {(0, 0), (2, 2), (1, 1)}
print(
    "predicted and sure",
    len(predicted & sure),
    "; predicted and possible",
    len(predicted & possible),
)
by_hand = 1 - (1 + 2) / (3 + 2)
assert abs(by_hand - metrics.alignment_error_rate([predicted], [sure], [possible])) < 1e-12
print(f"AER {by_hand:.1f}")

# %% [markdown]
# Now for the 400 test sentences. Each Chinese word is linked with the English word of the largest weight, while the decoder is fed the
# true translation. Two guesses that know nothing stand beside it: the diagonal, and a word by chance.


# %%
def error_rate(links: list) -> float:
    """Alignment error rate of one set of links for each test sentence."""
    must, may = [pair.sure for pair in test_pairs], [pair.possible for pair in test_pairs]
    return metrics.alignment_error_rate([frozenset(link) for link in links], must, may)


weights = seq2seq.forced_weights(translator, source, lengths, target)
sizes = [(len(pair.target), len(pair.source)) for pair in test_pairs]
chance = torch.Generator().manual_seed(0)
aer = {
    "largest weight": error_rate([metrics.alignment(w, *size) for w, size in zip(weights, sizes)]),
    "diagonal": error_rate([{(t, t * S // T) for t in range(T)} for T, S in sizes]),
    "by chance": error_rate(
        [enumerate(torch.randint(S, (T,), generator=chance).tolist()) for T, S in sizes]
    ),
}

# %%
observe(
    "The largest weights are wrong by less than 30 %, and less than two thirds as often as the diagonal.",
    aer["largest weight"] < 0.3 and aer["largest weight"] < 2 / 3 * aer["diagonal"],
    {name: f"{rate:.0%}" for name, rate in aer.items()},
)

# %% [markdown]
# ### What it still gets wrong
#
# *Beyond the core path, as is the rest of this section.* Four of the sentences that were not translated exactly. (These differ from machine to machine.)

# %%
missed = [i for i in range(400) if metrics.until(greedy[i], EOS) != metrics.until(target[i], EOS)]
observe(
    "Some sentences are not translated exactly.",
    len(missed) > 0,
    {
        f"“{' '.join(test_pairs[i].source)}”": f"{' '.join(chinese.decode(greedy[i]))}, "
        f"should be {' '.join(test_pairs[i].target)}"
        for i in missed[:4]
    },
)

# %% [markdown]
# Look at each of them: is it the structure that is wrong, or a single word? BLEU forgives a single word, exact match does not.
#
# ### Real sentences
#
# Our grammar is clean; people are not. The volunteers of Tatoeba have translated tens of thousands of sentences into Chinese. The collection
# is not part of this book, but you can fetch it: save the file that `tatoeba` asks for in a folder, and let `BOOK_DATA` name that folder. Then put
# this into a new cell. English is cut at spaces, and each Chinese character is a word. It trains far longer than anything else on this page.
#
# ```python
# from utils.data.corpora import tatoeba
#
# real = tatoeba()  # without the file, it says in one sentence where to get it
# parts = {
#     "train": [(english.lower().split(), list(chinese)) for english, chinese in real.train],
#     "test": [(english.lower().split(), list(chinese)) for english, chinese in real.test[:1000]],
# }
# theirs = [Vocabulary(w for pair in parts["train"] for w in pair[side]) for side in (0, 1)]
# sources, targets = {}, {}
# for part, pairs_of in parts.items():
#     sources[part] = [[*theirs[0].encode(source), EOS] for source, _ in pairs_of]
#     targets[part] = [theirs[1].encode(target) for _, target in pairs_of]
# torch.manual_seed(0)
# config = Seq2SeqConfig(*map(len, theirs), 128, 256, style="Luong", dropout=0.2)
# model = Seq2Seq(config)
# train_translator(model, seq2seq.sequence_loss, sources["train"], targets["train"], epochs=5)
# written = seq2seq.greedy_decode(model, *pad(sources["test"]), max_len=30)
# words = [theirs[1].decode(row) or ["<nothing>"] for row in written]
# print(f"BLEU, characters: {metrics.bleu(words, [target for _, target in parts['test']]):.1f}")
# ```
#
# The words are those of people, and many stand there once only. What does the model make of them? Print some, and see which kind of sentence
# it gets right.

# %% [markdown]
# ## Where it breaks
#
# *5 minutes.* Attention has taken the burden of memory from the recurrence. It has not taken the recurrence away. Encoder and decoder still go
# step by step, and a step can't begin before the last one has ended. How long is the longest chain of operations that wait for each other?
# Autograd knows, as on Day 2: it keeps a graph of all that was computed, so we can count.


# %%
def chains(n: int) -> dict[str, int]:
    """Longest chains for n source and n target symbols."""
    ids, x = torch.full((1, n), 3), torch.randn(1, n, 16, requires_grad=True)
    found = {}
    for style, score in (("Bahdanau", "additive"), ("Luong", "general")):
        model = Seq2Seq(Seq2SeqConfig(9, 9, 16, 16, attention=score, style=style))
        found[style] = longest_chain(model(ids, torch.tensor([n]), ids).sum())
    alone = attention.Attention(attention.AdditiveScore(16, 16, 16))
    return found | {"attention alone": longest_chain(alone(x, x, x)[0].sum())}


sizes = [8, 16, 32, 64, 128]
waiting = {n: chains(n) for n in sizes}

# %% mystnb={"figure": {"caption": "Operations that have to wait for each other, by the length of source and target. Both axes are logarithmic.", "name": "fig-chains"}, "image": {"alt": "Two rising straight lines for Bahdanau's and Luong's models, and a flat line for attention alone."}}
lines = {name: (sizes, [waiting[n][name] for n in sizes]) for name in waiting[8]}
curves(lines, "symbols in source and target", "longest chain (operations)", logx=True, logy=True)
plt.xticks(sizes, sizes)
plt.show()

# %%
double = {name: waiting[128][name] / waiting[64][name] for name in waiting[8]}
observe(
    "Twice the length makes the chain twice as long, within 5 %; that of attention alone stays the same.",
    1.9 < double["Luong"] < 2.05
    and 1.9 < double["Bahdanau"] < 2.05
    and double["attention alone"] == 1,
    {name: f"×{factor:.2f}" for name, factor in double.items()},
)

# %% [markdown]
# A processor with a thousand cores can't shorten a chain. *Beyond the core path:* we also look at the clock. An encoder reads 512 symbols, and
# attention compares all 512 with all. By the count of operations the second is more work.


# %%
def quickest(function, repeats: int = 5) -> float:
    """Seconds of the fastest of some runs."""
    seconds = []
    for _ in range(repeats):
        start = perf_counter()
        with torch.no_grad():
            function()
        seconds.append(perf_counter() - start)
    return min(seconds)


encoder = seq2seq.Encoder(Seq2SeqConfig(9, 9, 32, 32))
ids, x, look = torch.full((1, 512), 3), torch.randn(1, 512, 32), looks["global"]
took = {"encoder": quickest(lambda: encoder(ids, torch.tensor([512])))}
took["attention"] = quickest(lambda: look(x, x, x))
# symbols × directions × the GRU's blocks × 2 (multiply, add) × units × (inputs + states)
work = {"encoder": 512 * 2 * 3 * 2 * 16 * (32 + 16), "attention": 4 * 512**2 * 32}
observe(
    "Attention among all pairs is over 5 times the work; yet the encoder takes over 5 times as long.",
    work["attention"] > 5 * work["encoder"] and took["encoder"] > 5 * took["attention"],
    {name: f"{1000 * seconds:.1f} ms" for name, seconds in took.items()},
)

# %% [markdown]
# Not all of this factor is the chain: our encoder walks through its steps in Python, and the library's layers are faster. But the chain
# is theirs too. And look at the flat line once more: attention compared
# 128 positions with each other, in as many waiting steps as 8. If attention is what does the work, what is the recurrence still
# for? Tomorrow we leave it out.

# %% [markdown]
# ## Claims, measured
#
# *8 minutes.* Eight sentences about sequence to sequence and attention, and what we found. Four of them hang on how well a trained model
# translates. For these, stored experiments trained models on sentences of all kinds and of 3 to 25 words, with one score after the other,
# three seeds each.

# %%
translated = experiments.load("translation")
without_weights = experiments.load("translation_unprojected")
products = ("dot", "scaled dot", "general")
names = ("none", *products, "additive", "no weights")


def rows_of(score: str) -> list[dict]:
    """The stored rows of a score, one for each seed."""
    return without_weights.rows if score == "no weights" else translated.select(score=score)


# %%
def over_seeds(column: str, score: str) -> tuple[float, float, float]:
    """Mean, lowest and highest of three seeds."""
    values = [row[column] for row in rows_of(score)]
    return sum(values) / len(values), min(values), max(values)


def by_words(rows: list[dict]) -> dict[int, tuple[float, float, float]]:
    """Mean, lowest and highest share of exact translations over the seeds, by source length."""
    columns = zip(*(row["exact by length"] for row in rows))
    return {
        length: (sum(shares) / len(shares), min(shares), max(shares))
        for length, shares in zip(rows[0]["length"], columns)
    }


# %%
lengths_of = {name: by_words(rows_of(name)) for name in names}
worst = {name: min(mean for mean, *_ in found.values()) for name, found in lengths_of.items()}
attending = [name for name in names if name != "none"]


def as_range(column: str, score: str) -> str:
    """Lowest and highest of three seeds, in percent (BLEU is one already)."""
    _, low, high = over_seeds(column, score)
    scale = 1 if column == "bleu" else 100
    return f"{scale * low:.0f} to {scale * high:.0f}"


# %%
columns = ["exact", "unseen structures", "bleu"]
table(
    [
        [name, *(as_range(column, name) for column in columns), f"{100 * worst[name]:.0f}"]
        for name in names
    ],
    ["score", "exact, %", "unseen structures, %", "BLEU", "exact at the worst length, %"],
)
table(
    [[name, as_range("aer", name), as_range("aer, threshold", name)] for name in attending],
    ["score", "alignment errors of the largest weight, %", "of weights above a threshold, %"],
)

# %% [markdown]
# Each range goes from the lowest to the highest of three seeds; the worst length is that with the lowest mean. *none* is the fixed vector;
# *no weights* is the simplified score that comes at the end of this section. *Unseen structures* are sentences that combine parts which
# training shows only apart. The threshold was picked on validation data. Now by length, and with fixed vectors of two widths.

# %%
wide = experiments.load("translation_width").select(hidden_size=256)
wider = by_words(wide)
by_label = {
    "additive": rows_of("additive"),
    "dot": rows_of("dot"),
    "fixed vector, N = 128": rows_of("none"),
    "fixed vector, N = 256": wide,
}
lines = {
    label: (rows[0]["length"], [row["exact by length"] for row in rows])
    for label, rows in by_label.items()
}

# %% mystnb={"figure": {"caption": "Share of sentences translated exactly, by their number of English words: mean and range over three seeds (stored experiments `translation` and `translation_width`).", "name": "fig-translation-length"}, "image": {"alt": "Four lines over the number of words, from 3 to 25. With additive attention it stays near one; with the dot score it falls to about 0.8. The fixed vectors fall to zero: 128 wide by about eight words, 256 wide by about seventeen."}}
curves(lines, "English words", "share exactly right")
plt.show()


# %%
def between(found: dict, first: int, last: int) -> float:
    """Mean share of exact translations over the source lengths from first to last."""
    shares = [mean for length, (mean, *_) in found.items() if first <= length <= last]
    return sum(shares) / len(shares)


short_ones = {label: between(found, 3, 5) for label, found in lengths_of.items()}
long_ones = {label: between(found, 20, 25) for label, found in lengths_of.items()}
width_helps = share(through_wide, range(9, 13)) - long
without = max(long_ones["none"], between(wider, 20, 25))
measured = {f"exact, 3 to 5 words, {name}": short_ones[name] for name in ("none", "additive")}
measured |= {f"exact, 20 to 25 words, {name}": long_ones[name] for name in ("none", "additive")}

# %% [markdown]
# (claim-s2s-1)=

# %%
claim(
    "s2s-1",
    supports={
        "backwards: over 85 % of 2 and 3 letters, under 15 % of 9 to 12": (
            short > 0.85 > 0.15 > long
        ),
        "twice the width is less help than attention, at 9 to 12 letters": width_helps < gain,
        "translation: from 20 words on under 1 % are exact, at both widths": without < 0.01,
        "with additive attention over 95 % are, at every length": worst["additive"] > 0.95,
    },
    numbers=measured,
    experiment="translation",
)

# %% [markdown]
# Exact match falls with the length for every model, since one wrong word is enough. That is why the fixed vector stands beside models
# that may look, and are trained alike.
#
# (claim-s2s-2)=

# %%
columns = itertools.product(attending, ("aer", "aer, threshold"))
aers = {(name, column): over_seeds(column, name) for name, column in columns}
additive_aer = aers["additive", "aer, threshold"][0]
worst_aer = max(aers[name, "aer"][2] for name in attending if name != "no weights")
below_the_diagonal = aer["largest weight"] < 2 / 3 * aer["diagonal"]
all_the_same = aers["no weights", "aer"][1] > 0.25 and over_seeds("exact", "no weights")[1] > 0.85

# %%
claim(
    "s2s-2",
    supports={
        "the additive score's error rate is under 10 %, in the mean of seeds": additive_aer < 0.1,
        "with four scores and three seeds each, it is under 30 %": worst_aer < 0.3,
        "in short sentences it is under two thirds of the diagonal's": below_the_diagonal,
    },
    limits={
        "with no weights it is over 25 %, and over 85 % of sentences are right": all_the_same,
    },
    numbers={f"{name}, {column}": mean for (name, column), (mean, *_) in aers.items()},
    experiment="translation",
)

# %% [markdown]
# Nobody showed these models a link, and most of those that they found are true. But the largest weight is not the alignment itself, as
# *deep learning* has shown. Most of what is left are words that the decoder needs no look for: it writes 了 after a verb, and looks at
# the next word already.
#
# (claim-s2s-5)=

# %%
exact = {name: over_seeds("exact", name) for name in names}
additive_leads = exact["additive"][1] > max(exact[name][2] for name in products)
behind = exact["additive"][0] - max(exact[name][0] for name in products)
dot_adds = exact["dot"][0] - exact["none"][0]
scale_adds = exact["scaled dot"][1] - exact["dot"][2]

# %%
claim(
    "s2s-5",
    supports={
        "all seeds of the additive score are better than all of the three products": additive_leads,
        "the dot score adds over 60 points to the fixed vector": dot_adds > 0.6,
    },
    limits={
        "the best product is over a point behind the additive score": behind > 0.01,
        "without its scale, the dot product is over three points worse than with it": scale_adds
        > 0.03,
    },
    numbers={f"exact, {name}": mean for name, (mean, *_) in exact.items()},
    experiment="translation",
)

# %% [markdown]
# So the dot product is enough to win most of what attention has to give, and with its scale nearly all. The scale
# comes from the Transformer's paper; tomorrow we look at what it does. All models were trained by one recipe, at one learning rate and
# one width; with others the order may change.

# %% [markdown]
# (claim-s2s-3)=

# %%
claim(
    "s2s-3",
    supports={
        "five scores go through one softmax and one average": all(one_mechanism.values()),
        "Luong's concat score is Bahdanau's additive one": same_function,
        "with the scaled dot score it gives what the library's kernel gives": library_agrees,
    },
    numbers={f"parameters, {name}": count for name, count in n_weights.items()},
)

# %% [markdown]
# ### What a score costs
#
# *Beyond the core path, as is the rest of this section.* We count operations for $n$ queries and $n$ keys of width $d$, each multiplication, addition and tanh as one. The matrices of the additive score
# are applied once to each query and key. Then each *pair* costs about $4d$: an addition and a tanh for each of $d$ numbers, and the
# product with $v$. In a dot product a pair costs $2d$, and there are no matrices; with one, as in *general*, there is
# one matrix product. The average costs $2d$ a pair in all of them.


# %%
def operations(name: str, T: int, S: int, d: int) -> int:
    """Operations of scores and contexts for T queries and S keys of width d."""
    matrices = {"additive": 2 * (T + S) * d * d, "general": 2 * S * d * d, "dot": 0}[name]
    a_pair = {"additive": 4 * d, "general": 2 * d, "dot": 2 * d}[name]
    return matrices + T * S * (a_pair + 2 * d)


# %%
def counted(name: str, T: int, S: int, d: int) -> int:
    """The same by PyTorch's counter, which sees the products of matrices with matrices."""
    score = seq2seq.models.SCORES[name]
    look = attention.Attention(score(d))
    with FlopCounterMode(display=False) as counter, torch.no_grad():
        look(torch.randn(1, T, d), torch.randn(1, S, d), torch.randn(1, S, d))
    return counter.get_total_flops()


# %%
for T, S, d in ((32, 48, 16), (20, 70, 64)):
    assert counted("dot", T, S, d) == operations("dot", T, S, d)
    assert counted("general", T, S, d) == operations("general", T, S, d)
    elementwise = 4 * T * S * d  # additions, tanh, and the product with one vector
    assert counted("additive", T, S, d) == operations("additive", T, S, d) - elementwise

# %% [markdown]
# The counter agrees on all products of matrices; the additive score's work on each pair it does not see. For memory we ask autograd how much it keeps for the way back.


# %%
def bytes_kept(name: str, n: int, d: int) -> int:
    """Bytes that autograd keeps of n queries and n keys of width d, in single precision."""
    kept = {}
    score = seq2seq.models.SCORES[name]
    look = attention.Attention(score(d))
    x = torch.randn(1, n, d, requires_grad=True)

    def keep(tensor: torch.Tensor) -> torch.Tensor:
        storage = tensor.untyped_storage()  # two operations may keep one and the same
        kept[storage.data_ptr()] = storage.nbytes()
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor):
        look(x, x, x)
    return sum(kept.values())


cases = [(n, d) for n in (16, 64, 256) for d in (16, 64)]
table(
    [
        [
            n,
            d,
            *(f"{operations(name, n, n, d) / 1e6:.2f}" for name in ("additive", "dot")),
            *(f"{bytes_kept(name, n, d) / 1e6:.2f}" for name in ("additive", "dot")),
        ]
        for n, d in cases
    ],
    ["n", "d", "additive, million operations", "dot", "additive, MB kept", "dot, MB kept"],
)

# %% [markdown]
# A power of $n$ or $d$ can be read from two counts: if twice the $n$ costs four times as much, the power is 2.


# %%
def power(cost, small: dict, **doubled) -> float:
    """The exponent with which the cost grows when something doubles."""
    return (torch.tensor(cost(**(small | doubled))).double() / cost(**small)).log2().item()


of = {name: partial(operations, name) for name in ("additive", "dot", "general")}
large = {"T": 4096, "S": 4096, "d": 32}
in_n = {name: power(cost, large, T=8192, S=8192) for name, cost in of.items()}
sentence = {"T": 16, "S": 16, "d": 512}
in_n_sentence = {name: power(cost, sentence, T=32, S=32) for name, cost in of.items()}
in_d_sentence = {name: power(cost, sentence, d=1024) for name, cost in of.items()}

# %% [markdown]
# (claim-s2s-4)=

# %%
matrices_too = min(in_d_sentence["additive"], in_d_sentence["general"]) > 1.9
almost_linear = max(in_n_sentence["additive"], in_n_sentence["general"]) < 1.1
memory = bytes_kept("additive", 256, 64) / bytes_kept("dot", 256, 64)
dots_half = in_n["dot"] == 2 and power(of["dot"], large, d=64) == 1
squared = in_n["additive"] > 1.95

# %%
claim(
    "s2s-4",
    supports={"the dot product's half is right: n², and d": dots_half},
    limits={
        "in long sequences the additive score grows with the square of n, too": squared,
        "d² comes from matrices, which a dot product with a matrix has as well": matrices_too,
        "in 16 symbols of width 512 both of these grow almost linearly in n": almost_linear,
        "with 256 symbols of width 64 it keeps over 10 times the memory: d numbers a pair": memory
        > 10,
    },
    numbers={f"power of n, {name}": p for name, p in in_n.items()} | {"memory": memory},
)

# %% [markdown]
# The claim may come from counting the additive score's matrices, but the dot product's pairs. Both have
# pairs. What differs is that the additive score makes $d$ numbers of each pair, where the dot product makes one. On a
# processor that moves data more slowly than it multiplies, that decides.

# %%
doubled = {"T": {"T": 512}, "S": {"S": 512}, "d": {"d": 64}}
small = {"T": 256, "S": 256, "d": 32}
powers = {name: power(partial(counted, "dot"), small, **twice) for name, twice in doubled.items()}
powers["d, additive"] = power(of["additive"], sentence, d=1024)

# %% [markdown]
# (claim-s2s-8)=

# %%
claim(
    "s2s-8",
    supports={
        "with the dot score, counted operations grow as T, as S and as d": all(
            powers[size] == 1 for size in "TSd"
        ),
    },
    limits={
        "the additive score's matrices cost (T + S)·d² besides: most of it, in short sentences": (
            powers["d, additive"] > 1.8
        ),
    },
    numbers={f"power of {name}": p for name, p in powers.items()},
)

# %% [markdown]
# ### Additive attention of a sequence to itself
#
# It is said that Bahdanau's attention works between two sequences only, and that a sequence's attention to itself needs
# the Transformer's. But nothing in {eq}`eq-attention` asks where the queries come from. Here is a task: two of
# twelve positions are marked, A and B, and each position carries a bit that says which of the two symbols it is to name. Queries, keys and values are the same twelve vectors, and there is no
# recurrence.


# %%
class Pointer(nn.Module):
    """Twelve symbols, two of them marked, to logits at each position; x (B, 12, 8) to (B, 12, 4)."""

    def __init__(self, looks: bool):
        super().__init__()
        self.embed = nn.Linear(8, 16)  # four symbols, two marks, which of them is asked for
        self.look = attention.Attention(attention.AdditiveScore(16, 16, 16)) if looks else None
        self.output = nn.Linear(16, 4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.embed(x)
        return self.output(x if self.look is None else self.look(x, x, x)[0])


# %%
def marked(n: int, seed: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Sequences (n, 12, 8), and what each position is to say (n, 12)."""
    generator = torch.Generator().manual_seed(seed)
    symbols = torch.randint(4, (n, 12), generator=generator)
    marks = torch.rand(n, 12, generator=generator).argsort(dim=1)[:, :2]  # where both marks are
    asked = torch.randint(2, (n, 12), generator=generator)  # which of them each position wants
    parts = [F.one_hot(symbols, 4), F.one_hot(marks, 12).mT, F.one_hot(asked, 2)]
    return torch.cat(parts, dim=-1).float(), symbols.gather(1, marks.gather(1, asked))


# %%
def per_position(logits: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
    """Mean cross-entropy over all positions. Shapes: logits (B, T, n), target (B, T)."""
    return F.cross_entropy(logits.mT, target)


# %%
def pointed(looks: bool, seed: int) -> float:
    """Share of right answers on new sequences, after training."""
    torch.manual_seed(seed)
    model = Pointer(looks)
    optimiser = torch.optim.Adam(model.parameters(), lr=1e-2)
    batches = Batches(*marked(2000, seed), batch_size=50, shuffle=True)
    fit(model, batches, per_position, optimiser, epochs=5)
    test = [marked(1000, seed + 1000)]
    return evaluate(model, test, per_position, {"accuracy": metrics.accuracy})["accuracy"]


points_at = {looks: [pointed(looks, seed) for seed in (0, 1, 2)] for looks in (True, False)}

# %% [markdown]
# (claim-s2s-6)=

# %%
claim(
    "s2s-6",
    limits={
        "with additive attention to themselves, positions find the symbol they want in over 95 %": (
            min(points_at[True]) > 0.95
        ),
        "without, they find it in under 45 %": max(points_at[False]) < 0.45,
    },
    numbers={f"right, seed {seed}": right for seed, right in enumerate(points_at[True])}
    | {"right without": max(points_at[False])},
)

# %% [markdown]
# ### A simplified score
#
# One also finds "additive attention" in a few lines, without $W_a$, $U_a$ and $v$: the score is the sum of
# $\tanh(q + h)$ over the width. It has nothing to learn, and a query can want little. Where query and key
# together are large, the tanh is flat, so a query can mute a number. It can't turn one around: the tanh rises, so if one key is larger
# than another in *all* its numbers, then it gets the larger weight, whatever the query is. We let queries
# choose between two such keys, a hundred times.


# %%
def unprojected(query: torch.Tensor, keys: torch.Tensor) -> torch.Tensor:
    """The simplified score. Shapes: query (B, T, d), keys (B, S, d) to (B, T, S)."""
    return (query[:, :, None] + keys[:, None]).tanh().sum(dim=-1)


# %%
def larger_wins(score, seed: int) -> float:
    """How often the key that is larger in all its numbers gets more weight, of ten queries."""
    generator = torch.Generator().manual_seed(seed)
    key = torch.randn(1, 1, 8, generator=generator)
    keys, ten = torch.cat([key, key + 0.5], dim=1), torch.randn(1, 10, 8, generator=generator)
    with torch.no_grad():
        smaller, larger = score(ten, keys)[0].unbind(-1)
    return (larger > smaller).double().mean().item()


# %%
torch.manual_seed(0)
wins = {
    "simplified": [larger_wins(unprojected, seed) for seed in range(100)],
    "additive": [larger_wins(attention.AdditiveScore(8, 8, 8), seed) for seed in range(100)],
}
often = {name: sum(shares) / 100 for name, shares in wins.items()}
print(f"simplified: the larger key wins {often['simplified']:.0%} of the time")

# %% [markdown]
# Under an additive score with weights drawn by chance it wins about half of the time: $v$ and the matrices say what is
# wanted, and they can be learned.

# %% [markdown]
# (claim-s2s-7)=

# %%
behind = exact["additive"][1] - exact["no weights"][2]
unaligned = aers["no weights", "aer"][1]
claim(
    "s2s-7",
    limits={
        "a key that is larger in all its numbers wins, for any query": often["simplified"] == 1,
        "under random additive scores it wins 30 to 70 %": 0.3 < often["additive"] < 0.7,
        "trained, all its seeds are over 4 points behind all of the additive score's": behind
        > 0.04,
        "and over a quarter of its alignment is wrong": unaligned > 0.25,
    },
    numbers={f"exact, {name}": exact[name][0] for name in ("additive", "no weights", "none")},
    experiment="translation",
)

# %% [markdown]
# And still it translates most sentences exactly, far more than no attention at all. The score itself has nothing to
# learn, but encoder and decoder do: they learn keys and queries of which the plain sum does most of what is needed. A missing matrix need not show in the
# result. It shows in the equations, in the alignment, and in how far behind the model stays.

# %% [markdown]
# ## Exercises
#
# *As long as you like.* Fill in the functions and run the cells; the check under each one tells you
# what is wrong, if something is. Ids are as in `utils.seq2seq`: PAD is 0, BOS is 1, EOS is 2. Solutions stand on
# [a page of their own](solutions/04_attention.ipynb).
#
# ```{exercise} Count the score's weights
# :label: exercise-4-1
#
# *Warm-up, 3 minutes.* How many parameters has `AdditiveScore(d_query=64, d_key=128, d_attention=32)`? Write
# down the number before you ask PyTorch.
# ([Solution](solutions/04_attention.ipynb#solution-4-1))
# ```

# %%
my_count = None

check("4.1", my_count)

# %% [markdown]
# ```{exercise} Predict: nowhere to look
# :label: exercise-4-2
#
# *Warm-up, 3 minutes.* Someone masks by filling in $-10^9$, in single precision, and takes the softmax. By mistake, all
# eight keys of a query are masked. Their scores were 0 to 7. Which weight does the first key get?
# ([Solution](solutions/04_attention.ipynb#solution-4-2))
# ```

# %%
my_weight = None

check("4.2", my_weight)

# %% [markdown]
# ```{exercise} What goes in, what should come out
# :label: exercise-4-3
#
# *Core, 10 minutes.* A data set gives you sentences without BOS and EOS, padded behind their ends. Make the pair that teacher
# forcing needs. The target is the sentence, then EOS, then PAD. The decoder's input is BOS, then the sentence, then PAD. (`shift` would
# also feed the EOS of the shorter sentences. Here it should not be in the input.)
# ([Solution](solutions/04_attention.ipynb#solution-4-3))
# ```


# %%
def teacher_pairs(ids: torch.Tensor, lengths: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Shapes: ids (B, T), lengths (B,); returns the input and the target, each (B, T + 1)."""
    raise NotImplementedError


check("4.3", teacher_pairs)

# %% [markdown]
# ```{exercise} Perplexity without padding
# :label: exercise-4-4
#
# *Core, 10 minutes.* Perplexity is the exponential of the mean of $-\log p$ over all symbols that were to be predicted.
# Write it for a padded batch, out of tensor operations. `F.cross_entropy` would do it at once, so leave it aside.
# ([Solution](solutions/04_attention.ipynb#solution-4-4))
# ```


# %%
def perplexity(logits: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
    """Shapes: logits (B, T, V), targets (B, T) with PAD behind their ends; returns one number ()."""
    raise NotImplementedError


check("4.4", perplexity)

# %% [markdown]
# ```{exercise} The library's masks
# :label: exercise-4-5
#
# *Core, 15 minutes.* `nn.MultiheadAttention` wants a mask of another kind: one for each source, and **True where there is
# padding**. Make weights of scores and such a mask. They should be right for scores of any size, and 0 for a
# source that is nothing but padding, where the library gives NaN. The gradient should be finite, too. Don't use `masked_softmax`.
# ([Solution](solutions/04_attention.ipynb#solution-4-5))
# ```


# %%
def weights_where_not(scores: torch.Tensor, blocked: torch.Tensor) -> torch.Tensor:
    """Shapes: scores (B, T, S), blocked (B, S), True for padding; returns weights (B, T, S)."""
    raise NotImplementedError


check("4.5", weights_where_not)

# %% [markdown]
# ```{exercise} Look for a direction
# :label: exercise-4-6
#
# *Core, 10 minutes.* The neural Turing machine finds its memories by their direction {cite}`graves2014neural`. The score is the
# cosine between query and key, times a sharpness $\beta$. Write its weights, for a source without padding. What
# can this score do that a dot product can't, and the other way round?
# ([Solution](solutions/04_attention.ipynb#solution-4-6))
# ```


# %%
def cosine_weights(query: torch.Tensor, keys: torch.Tensor, beta: float) -> torch.Tensor:
    """Shapes: query (B, T, d), keys (B, S, d); returns weights (B, T, S)."""
    raise NotImplementedError


check("4.6", cosine_weights)

# %% [markdown]
# ```{exercise} Predict: who asks?
# :label: exercise-4-7
#
# *Core, 5 minutes.* In a model of **Bahdanau's** style you change the symbol that the decoder is fed at step 3; steps count from 0.
# All else stays. What is the first step whose attention weights change? Say to yourself what it is in Luong's.
# ([Solution](solutions/04_attention.ipynb#solution-4-7))
# ```

# %%
my_step = None

check("4.7", my_step)

# %% [markdown]
# ```{exercise} Feed the attention back
# :label: exercise-4-8
#
# *Stretch, 25 minutes.* Luong's decoder does not know where it has looked, unless it is told. His **input feeding** hands what the last step
# found to the next {cite}`luong2015effective`. With a plain recurrent layer and the dot score, a step is
#
# $$
# s_t = \tanh(W_s [x_t; \tilde h_{t-1}; s_{t-1}]), \qquad
# \tilde h_t = \tanh(W_c [c_t; s_t]),
# $$
#
# where $c_t$ is the context that $s_t$ asks for, and $\tilde h$ begins at 0. Run it over all steps. You may use
# `masked_softmax` and `padding_mask`.
# ([Solution](solutions/04_attention.ipynb#solution-4-8))
# ```


# %%
def input_feeding(x, s_0, annotations, lengths, W_s, W_c) -> torch.Tensor:
    """Return all h̃ (B, T, N).

    Shapes: x (B, T, D), s_0 (B, N), annotations (B, S, N), the sources' lengths (B,),
    W_s (N, D + 2N), W_c (N, 2N).
    """
    raise NotImplementedError


check("4.8", input_feeding)

# %% [markdown]
# ```{exercise} Not before you have said something
# :label: exercise-4-9
#
# *Core, 10 minutes.* Decode greedily with a **minimum length**: EOS may not be chosen before `min_len` other symbols stand. The
# model is a table here. Its row `log_p[last]` holds the log-probabilities of the next symbol, and BOS stands before
# the first. A sentence ends with EOS, which belongs to the result, or is cut off at `max_len` symbols.
# ([Solution](solutions/04_attention.ipynb#solution-4-9))
# ```


# %%
def greedy(log_p: torch.Tensor, min_len: int, max_len: int) -> list[int]:
    """Shapes: log_p (V, V); returns the chosen ids, at most max_len."""
    raise NotImplementedError


check("4.9", greedy)

# %% [markdown]
# ```{exercise} Score an alignment
# :label: exercise-4-10
#
# *Core, 10 minutes.* The usual alignment has one link for each target symbol. But some symbols have two partners, and some have none. So let
# **every weight that reaches a threshold** be a link. With these links $A$, the sure ones $S$, and the possible ones $P$, which
# contain the sure, the alignment error rate {cite}`och2003systematic` is
#
# $$
# 1 - \frac{|A \cap S| + |A \cap P|}{|A| + |S|} .
# $$
# ([Solution](solutions/04_attention.ipynb#solution-4-10))
# ```


# %%
def alignment_error(weights, sure, possible, threshold: float) -> float:
    """Shapes: weights (T, S), sure and possible (T, S) boolean; returns the rate."""
    raise NotImplementedError


check("4.10", alignment_error)

# %% [markdown]
# ```{exercise} Right as a whole
# :label: exercise-4-11
#
# *Core, 10 minutes.* What share of the sentences is exactly right? Each target ends with EOS and is padded. A prediction is right if it
# agrees with the target up to EOS, this one included. What it has behind that may be anything, and the two tensors need
# not be equally wide. ([Solution](solutions/04_attention.ipynb#solution-4-11))
# ```


# %%
def exact_match(predicted: torch.Tensor, target: torch.Tensor) -> float:
    """Shapes: predicted (B, T'), target (B, T), both ids; returns a share from 0 to 1."""
    raise NotImplementedError


check("4.11", exact_match)

# %% [markdown]
# ```{exercise} What the fixed vector costs
# :label: exercise-4-12
#
# *Core, 10 minutes.* Two models have translated the same sentences, one with attention and one through a fixed vector. You know of each
# sentence whether it is right. How much larger is the share of right sentences with attention, **by length**? A bucket holds the lengths
# from one edge up to, but not including, the next. An empty bucket costs 0.
# ([Solution](solutions/04_attention.ipynb#solution-4-12))
# ```


# %%
def cost_by_length(attention, fixed, lengths, edges: list[int]) -> torch.Tensor:
    """Shapes: attention and fixed (B,) boolean, lengths (B,); returns one number a bucket.

    edges: where the buckets begin, and behind them the end of the last.
    """
    raise NotImplementedError


check("4.12", cost_by_length)

# %% [markdown]
# ```{exercise} Remember where you looked
# :label: exercise-4-13
#
# *Stretch, 20 minutes.* Decoders translate some words twice and others never. **Coverage** {cite}`tu2016modeling` tells the score what each
# position was given so far. In its simplest form {cite}`see2017get` that is the sum of its weights over all steps before, 0 at the first. The additive score takes it in
# as one more summand:
#
# $$
# e_{tj} = v^\top \tanh(W s_t + U h_j + w \operatorname{cov}_{tj}), \qquad
# \operatorname{cov}_{tj} = \sum_{t' < t} \alpha_{t'j} .
# $$
#
# Write the weights $\alpha$ of all steps, for given queries $s_t$ and sources without padding.
# ([Solution](solutions/04_attention.ipynb#solution-4-13))
# ```


# %%
def coverage_weights(queries, keys, W, U, w, v) -> torch.Tensor:
    """Return weights (B, T, S).

    Shapes: queries (B, T, N), keys (B, S, N), W and U (N, N), w and v (N,).
    """
    raise NotImplementedError


check("4.13", coverage_weights)

# %% [markdown]
# ```{exercise} The beam search curse
# :label: exercise-4-14
#
# *Research, 45 minutes.* Write a beam search that returns **all** sentences that have ended, best first. The model is a table, as
# for greedy decoding above. At each step, of all continuations of all beginnings, the `width` best stay. Those that end with EOS leave; their
# places stay empty for this step. The search goes on for `max_len` steps. The ended ones are ranked by
# $\log p$ divided by $\text{length}^\text{penalty}$, where the length counts EOS. Then measure on twenty languages, with `max_len=20`
# (`random_language(seed)` gives the $\log p$ of one, in which a sentence may end after any symbol):
# how long is the best sentence, by the width of the beam, with a penalty of 0 and of 1? How long are sentences that
# are drawn by chance? What does this say about the most probable sentence?
# ([Solution](solutions/04_attention.ipynb#solution-4-14))
# ```


# %%
def n_best(log_p: torch.Tensor, width: int, max_len: int, penalty: float) -> list[list[int]]:
    """Shapes: log_p (V, V); returns the ids of all ended sentences, EOS included, best first."""
    raise NotImplementedError


check("4.14", n_best)

# %% [markdown]
# ```{exercise} Predict: what a beam finds
# :label: exercise-4-15
#
# *Core, 3 minutes.* A model's first symbol is *a* with probability 0.6 or *b* with 0.4. Behind *a* come *c* (0.4), *d* (0.35) or *e* (0.25);
# behind *b* come *c* (0.9) or *d* (0.1). Then EOS is sure. What is the probability of the sentence that a beam of width 2 finds? And which
# one does greedy decoding write? ([Solution](solutions/04_attention.ipynb#solution-4-15))
# ```

# %%
my_probability = None

check("4.15", my_probability)

# %% [markdown]
# ## Checklist and tomorrow
#
# The points from the top of the page, ticked when you have passed the exercises that test them.

# %%
points = {
    "make the pairs for teacher forcing, and judge a model without counting the padding": "4.3 4.4",
    "compute attention weights, with any score and mask": "4.1 4.2 4.5 4.6 4.13",
    "say which decoder state is the query in Bahdanau's and in Luong's model": "4.7 4.8",
    "decode greedily, and say what a beam finds that greedy decoding misses": "4.9 4.14 4.15",
    "take links from attention weights, and score them against the truth": "4.10",
    "say what the fixed vector costs, by length": "4.11 4.12",
}
checklist({point: ids.split() for point, ids in points.items()})

# %% [markdown]
# **Tomorrow** the recurrence goes. A sequence looks at itself, all positions at once. Then nothing says any more which symbol came first,
# and we have to tell the network.

# %% [markdown]
# ## Further reading
#
# - {cite:t}`bahdanau2015neural`, the paper to read first; look at its pictures of alignments.
# - {cite:t}`sutskever2014sequence` and {cite:t}`cho2014learning`, the encoder and decoder without attention.
# - {cite:t}`luong2015effective`, the scores side by side, global and local.
# - {cite:t}`williams1989learning`, teacher forcing; {cite:t}`bengio2015scheduled` and {cite:t}`ranzato2016sequence`, what it costs, and two cures.
# - {cite:t}`graves2014neural`, attention to a memory that can be written to.
# - {cite:t}`koehn2017six`, what went wrong with these models in practice: long sentences, rare words, alignments that are off by a
#   word, and beams that were too wide.
# - {cite:t}`stahlberg2019nmt`, on what the most probable translation of all is, which is often the empty one.
# - {cite:t}`post2018call`, why a BLEU without its recipe says little.
