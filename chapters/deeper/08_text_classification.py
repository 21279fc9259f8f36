# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Day 8, deeper: Reading: what is this text about?
#
# What goes beyond the evening of [Day 8](../08_text_classification.ipynb). The sections don't need each other: take those that you are curious about.

# %% tags=["setup"]
import convolution_to_attention  # is `utils` this book's?

import random
from statistics import fmean

import matplotlib.pyplot as plt
import torch
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from torch import nn

from utils import transformer
from utils.data import libraries, reviews
from utils.data.text import pad
from utils.exercises.text_classification import check
from utils.measure import experiments
from utils.measure.claims import claim
from utils.show.display import observe, show_source, table
from utils.show.plotting import INK, bars, curves, use_book_style
from utils.tasks import reading

use_book_style()

# %% [markdown]
# (deeper-right)=
# ## Is it right, in full?
#
# *4 minutes.* The lesson's reader gave the library's numbers, without positions and without gradients. What about the book's own, with both? `EncoderOnly` is a classifier of Day 6's blocks. Its looks turn queries and keys by their positions, and its pooling leaves padding out. We compare it with the library's encoder, in values and gradients, with padding, and with every weight a random number: a gain of 1 or a bias of 0 would hide mistakes.

# %% tags=["evidence"]
torch.manual_seed(0)
small = {"d_model": 12, "n_heads": 3, "d_ff": 20, "n_layers": 2, "norm": "pre", "dropout": 0.0}
sizes = {"dim_feedforward": 20, "dropout": 0.0, "batch_first": True, "norm_first": True}
layer = nn.TransformerEncoderLayer(12, 3, **sizes)
library = nn.TransformerEncoder(layer, 2, nn.LayerNorm(12), enable_nested_tensor=False).double()
for weight in library.parameters():
    nn.init.normal_(weight, std=0.3)
config = transformer.TransformerConfig(11, positions=None, **small)
book = transformer.EncoderOnly(config, n_classes=5).double()
book.encoder.load_library(library)

# %% tags=["evidence"]
ids, lengths = pad([[3, 4, 5, 6, 7], [8, 9], [10, 4, 8]])
hidden = torch.arange(5) >= lengths[:, None]
embedding = book.encoder.embedding.symbols
read = library(embedding(ids), src_key_padding_mask=hidden)
means = torch.stack([row[:n].mean(dim=0) for row, n in zip(read, lengths)])
pairs = [(book(ids, lengths), book.output(means))]
weigh = torch.randn(3, 5, dtype=torch.float64)
grads = [
    torch.autograd.grad((z * weigh).sum(), embedding.weight, retain_graph=True) for z in pairs[0]
]
pairs += zip(*grads)
off = max((one - other).abs().max().item() for one, other in pairs)
observe("Values and gradients differ by at most {off:.0e}.", off=off, holds=off < 1e-10)

# %% [markdown]
# With positions there is no layer in the library to compare with. But two things must hold whatever a reader does inside: padding and the other texts of a batch change nothing, and the order of the words changes something.

# %% tags=["evidence"]
config = transformer.TransformerConfig(11, positions="rotary", **small)
turned = transformer.EncoderOnly(config, n_classes=5).double()
together = turned(ids, lengths)
alone = torch.cat([turned(row[None, :n]) for row, n in zip(ids, lengths)])
backwards = torch.cat([turned(row[None, :n].flip(1)) for row, n in zip(ids, lengths)])
apart, order = ((together - other).abs().max().item() for other in (alone, backwards))
observe(
    "Alone or in a batch, the logits differ by at most {apart:.0e}; with the words reversed, by {order:.1e}.",
    apart=apart,
    order=order,
    holds=apart < 1e-10 and order > 1e-4,
)

# %% [markdown]
# (deeper-ceilings)=
# ## How much can anybody get right who does not see the order?
#
# *6 minutes.* **How good could the best bag of words be?** A grammar wrote our reviews, so the answer can be counted. Each review has one or two
# opinions, and three rules say what it says. A negation turns an opinion over. After *but* comes what decides, and after *although* what doesn't.
# Of two opinions without such a word, the stronger one decides.

# %% tags=["evidence"]
corpus = reviews.reviews()
rows = []
for kind in (*reviews.KINDS, reviews.UNSEEN):
    part = corpus.unseen if kind == reviews.UNSEEN else corpus.test
    review = min((r for r in part if r.kind == kind), key=lambda r: (len(r.words), r.words))
    share = reviews.KINDS.get(kind, 0) / sum(reviews.KINDS.values())
    deciding = ", ".join(review.words[place] for place in review.decides)
    rows.append(
        [kind, f"{share:.0%}", " ".join(review.words), ("bad", "good")[review.label], deciding]
    )
table(rows, ["kind", "share", "a review", "it says", "because of"])

# %% [markdown]
# The last kind is in no training set: there both opinions are negated, and a reader has to put together what it has seen apart.
#
# Half of the reviews have a twin: the same words in another order, and the opposite meaning. Here is one whose twin has even the same windows of three words.

# %% tags=["evidence"]
text = "I would not call the soup good but I would call the wine great"
review = reviews.Review(tuple(text.split()), 1, "negated contrast", (13,))
twin = reviews.twin(review)
three = reviews.windows(3)
observe(
    "Good: {one}. Bad: {other}.",
    one=text,
    other=" ".join(twin.words),
    holds=three(review) == three(twin) and (review.label, twin.label) == (1, 0),
)

# %% [markdown]
# Anyone who sees only the bag has to say the same of both, and is wrong about one. The best that can be done is to say of each bag what is more often true of it. This is Bayes' accuracy for what is seen. We
# don't estimate it: `ceiling` writes every review of a small lexicon and adds up probabilities as fractions. Words of a kind can be exchanged for each other, so a larger
# lexicon has the same ceiling.

# %%
show_source(reviews.ceiling)

# %% tags=["evidence"] mystnb={"figure": {"caption": "The ceiling of whoever sees a review as a bag of windows, by the number of words in a window. One word: a bag of words.", "name": "fig-window-ceilings"}, "image": {"alt": "A curve over the number of words in a window, from 1 to 5. It begins at 75 percent, is at 89 percent for two and for three words, and at 100 percent from four words on."}}
sizes = range(1, 6)
ceilings = {size: reviews.ceiling(reviews.windows(size)) for size in sizes}
ax = curves({"ceiling": (sizes, list(ceilings.values()))}, "words in a window", "greatest accuracy")
ax.set_xticks(sizes)
plt.show()

# %% tags=["evidence"]
observe(
    "No bag of words gets more than {bag:.0%} right, and no convolution with windows of three words more than {three:.2%}, whatever it pools. Windows of four see everything that matters here.",
    bag=ceilings[1],
    three=ceilings[3],
    holds=ceilings[1] == 0.75 and ceilings[3] == 0.8875 and ceilings[4] == 1,
)

# %% [markdown]
# Somebody has to say in advance how far a window reaches: two are too few, three are no better, and four are enough.
#
# **A sum sees less than a bag.** This ceiling is one for *any* function of the bag, for instance a network on the mean of the embeddings. A logistic regression adds up one number for each word. What does it reach with endless data? We
# fit it to all reviews of the grammar at once, each weighted with its probability.

# %% tags=["evidence"]
written = list(reviews.every())
bags = CountVectorizer(analyzer=list)
counts = bags.fit_transform([review.words for review, _ in written])
labels = [review.label for review, _ in written]
p = [float(probability) for _, probability in written]
weigh = LogisticRegression(C=1e6, max_iter=5000, tol=1e-10)
weigh.fit(counts, labels, sample_weight=[len(p) * one for one in p])
scores = weigh.decision_function(counts)
said = [
    0.5 if abs(score) < 1e-3 else float((score > 0) == label)
    for score, label in zip(scores, labels, strict=True)
]
endless = sum(right * one for right, one in zip(said, p, strict=True))
weights = dict(zip(bags.get_feature_names_out(), weigh.coef_[0], strict=True))
observe(
    "With endless data, logistic regression gets {endless:.0%} right. It gives *not* the weight {no:.2f}, and *good* {good:.2f}.",
    endless=endless,
    no=abs(weights["not"]),
    good=weights["good"],
    holds=abs(endless - 0.65) < 1e-3 and abs(weights["not"]) < 1e-3 < weights["good"],
)

# %% [markdown]
# In *not good* and *not bad* the same word pulls to opposite sides, so its best weight is zero: a sum can't say *turn the next word over*. All plain negations are therefore read the wrong way round, and of whatever has two opinions, half.
#
# (deeper-library-leak)=
# ## How many sentences of a test set were read in training?
#
# *5 minutes.* **Is a random split of documentation fair?** The sentences of the five libraries come from their docstrings. A library says many things more than once: *The default is …*, *Returns a copy of …*. Let us call two sentences near copies if at least half of
# the pairs of neighbouring words that occur in either are in both. How many sentences of a test set have a near copy in training?

# %% tags=["evidence"]
every = list(libraries.everything())
random.Random(0).shuffle(every)
n = len(every) // 10
leaks = {"dealt out at random": fmean(libraries.near_copies(every[:n], every[n:]))}
modules = sorted({sentence.module for sentence in every})
held_out = {*random.Random(0).sample(modules, len(modules) // 10)}
inside, outside = ([s for s in every if (s.module in held_out) == there] for there in (True, False))
leaks["whole modules held out"] = fmean(libraries.near_copies(inside, outside))
ours = libraries.sentences()
leaks["near copies left out as well"] = fmean(libraries.near_copies(ours.test, ours.train))
table(
    [[split, f"{leak:.0%}"] for split, leak in leaks.items()],
    ["split", "test sentences with a near copy in training"],
)
observe(
    "{random:.0%} of the sentences of a random tenth have a near copy in the rest. Where whole modules are held out, {modules:.0%} still have one; where near copies are left out as well, {none:.0%}.",
    random=leaks["dealt out at random"],
    modules=leaks["whole modules held out"],
    none=leaks["near copies left out as well"],
    holds=leaks["dealt out at random"] > 0.3 > leaks["whole modules held out"] > 0.05
    and not any(libraries.near_copies(ours.test, ours.train)),
)

# %% [markdown]
# So holding out whole modules is not enough, since modules copy from each other. We keep the first of all near copies, wherever it is, and then hold out modules. In each part every library has as many sentences, so who always says the same is right in a fifth.
#
# Names are masked, because *numpy* in a sentence would make the question a joke. A name is what its author marked as one, what has a capital inside the sentence, or a sign that is no letter, and the libraries' own names. Words that are topics stay: *tensor*, *axes*, *estimator*.

# %% [markdown]
# ## More exercises
#
# *As long as you like.* Solutions are on [a page of their own](../solutions/08_text_classification.ipynb).
#
# ```{exercise} What a merge changes
# :label: exercise-8-8
#
# *Stretch, 20 minutes.* Counting all pairs anew for each merge is what makes the plain loops slow. By how much does each pair's count change when `pair` becomes `new`? Return a sorted list of (pair, change), for each pair whose count is another than before, and for no other. Mind words in which two merges are side by side. `replace_pair(word, pair, new)` replaces from left to right.
# ([Solution](../solutions/08_text_classification.ipynb#solution-8-8))
# ```


# %%
def changed_counts(words, counts, pair, new):
    """Distinct words, each a list of tokens; the i-th occurs counts[i] times."""
    raise NotImplementedError


check("8.8", changed_counts)

# %% [markdown]
# ```{exercise} A place that speaks for the text
# :label: exercise-8-9
#
# *Core, 10 minutes.* Put the vector `cls` before each text, let all places attend to what is real, and return what became of `cls`. `attend(x, mask)` takes x (B, S, D) and a mask (B, 1, S), True where a place may be attended to.
# ([Solution](../solutions/08_text_classification.ipynb#solution-8-9))
# ```


# %%
def cls_pool(attend, x, lengths, cls):
    """Shapes: x (B, T, D), lengths (B,) in words, cls (D,); returns (B, D)."""
    raise NotImplementedError


check("8.9", cls_pool)

# %% [markdown]
# ```{exercise} A split by group
# :label: exercise-8-10
#
# *Core, 15 minutes.* Say of each phrase whether it is for the test. A phrase belongs to the longest phrase, in words, that contains it word for word; of several as long, to the first in the list. Groups go to the test whole, in the order of their longest phrases, until at least `n_test` phrases are there.
# ([Solution](../solutions/08_text_classification.ipynb#solution-8-10))
# ```


# %%
def goes_to_test(phrases: list[str], n_test: int) -> list[bool]:
    """One answer for each phrase: True for the test, False for training."""
    raise NotImplementedError


check("8.10", goes_to_test)

# %% [markdown]
# ```{exercise} Gradient times input
# :label: exercise-8-11
#
# *Core, 10 minutes.* Score each word by $x_t \cdot \partial z / \partial x_t$, where $z$ is the label's logit. The model takes embedded words (T, D) and gives logits (n_classes,).
# ([Solution](../solutions/08_text_classification.ipynb#solution-8-11))
# ```


# %%
def gradient_times_input(model, x, label):
    """Shapes: x (T, D); returns the scores (T,) of the words."""
    raise NotImplementedError


check("8.11", gradient_times_input)
