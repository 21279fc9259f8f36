# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Day 8, deeper: Text classification
#
# This page goes beyond the evening of [Day 8](../08_text_classification.ipynb). The sections are independent: take those that you are curious about.

# %% tags=["setup"]
import convolution_to_attention  # is `utils` this book's?

import random
from collections import Counter
from itertools import pairwise
from statistics import fmean

import matplotlib.pyplot as plt
import torch
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from tokenizers import Tokenizer, models, pre_tokenizers
from torch import nn

from utils import classification, transformer
from utils.classification.attribution import rolled_out
from utils.data import libraries, reviews, sentiment
from utils.data.docstrings import docstring_text
from utils.data.text import pad
from utils.exercises.text_classification import check
from utils.measure import experiments
from utils.measure.claims import claim

# %% tags=["setup"]
from utils.show.display import observe, show_source, table
from utils.show.plotting import INK, bars, curves, use_book_style
from utils.tasks import reading
from utils.tokens import (
    BytePairs,
    byte_words,
    learn_merges,
    learn_merges_indexed,
    replace_pair,
    words,
)
from utils.tokens.published import BYTE_OF

use_book_style()

# %% [markdown]
# (deeper-reader-right)=
# ## Does our classifier match the library's?
#
# *4 minutes.* The lesson's classifier agreed with the library's, but positions and gradients were left out. What about the book's own, with both? `EncoderOnly` is a classifier built from Day 6's blocks. Its attention rotates queries and keys by their positions, and its pooling leaves padding out. We compare it with the library's encoder, in values and gradients, with padding, and with a random number for every weight: a gain of 1 or a bias of 0 would hide mistakes.

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
# The library has no layer with rotary positions to compare with. But two things must hold for any such classifier: padding and the other texts of a batch change nothing, and the order of the words does change something.

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
# (deeper-index)=
# ## Why is an index of pairs so much faster?
#
# *5 minutes.* The lesson's loop counts all pairs in all distinct words, merges one, and starts again. That is fast enough for 30,000 characters and 200 merges, but not for 4,000 merges from a megabyte. How much of this work is needed?
#
# A merge changes only the words that contain its pair, so only the pairs in these words need new counts. We learn 4,000 merges from scikit-learn's docstrings and count, for each merge, how many
# of the distinct words it touches.

# %% tags=["evidence"]
text, held_out = docstring_text("train"), docstring_text("test")
merges = learn_merges_indexed(text, 4000)
rank = {pair: number for number, pair in enumerate(merges)}
distinct, _ = byte_words(text)
touched = Counter()
for word in distinct:
    while found := [rank[pair] for pair in pairwise(word) if pair in rank]:
        touched[min(found)] += 1
        word = replace_pair(word, merges[min(found)], 256 + min(found))

# %% tags=["evidence"] mystnb={"figure": {"caption": "A merge touches only a few of the distinct words that the loop walks through: number of words for each of 4,000 merges, learned from the book's English text.", "name": "fig-touched"}, "image": {"alt": "Words, on a logarithmic axis, over the number of the merge from 1 to 4,000. A flat line near 6,000 stands for all distinct words. Below it a ragged curve begins at a few hundred, falls to about ten within the first 500 merges and to one or two at the end."}}
by_merge = [touched[number] for number in range(len(merges))]
numbers = range(1, len(merges) + 1)
every = [len(distinct)] * len(merges)
lines = {"all distinct words": (numbers, every), "words with the pair": (numbers, by_merge)}
curves(lines, "merge", "words", logy=True)
plt.show()

# %% tags=["evidence"]
mean_touched = fmean(by_merge)
observe(
    "On average, a merge touches {mean:.0f} of {all:,} distinct words: {share:.1%} of those that the loop walks through.",
    mean=mean_touched,
    all=len(distinct),
    share=mean_touched / len(distinct),
    holds=mean_touched < 0.01 * len(distinct),
)

# %% [markdown]
# So `learn_merges_indexed` keeps two things up to date: how often each pair occurs in the text, and which words contain it. For the words that a merge touches, it removes
# the old pairs and adds the new ones ({numref}`exercise-changed-counts`). The most frequent pair comes from a heap, which keeps the largest count on top: a count that has changed is pushed again, and the old one is discarded when it reaches the top. The merges are the same as the loop's, down to the last one.

# %% tags=["evidence"]
some = text[:40_000]
same = learn_merges(some, 100) == learn_merges_indexed(some, 100)
observe(
    "The loop and the index learn the same 100 merges from {size} characters.",
    size=len(some),
    holds=same,
)

# %% [markdown]
# (deeper-tokens-library)=
# ## Do our tokens match the tokenizers library's?
#
# *3 minutes.* The `tokenizers` library is written in Rust and splits the text for most published models. We give it our merges and let both encode a text that neither has
# seen, and then one that is meant to be hard. Do they agree?


# %% tags=["evidence"]
def in_the_library(tokens: BytePairs, merges: list[tuple[int, int]]) -> Tokenizer:
    """The library's tokeniser with the same vocabulary and merges."""
    letter = {byte: letter for letter, byte in BYTE_OF.items()}
    named = {n: "".join(letter[byte] for byte in token) for token, n in tokens.ids.items()}
    vocabulary = {name: number for number, name in named.items()}
    model = models.BPE(vocab=vocabulary, merges=[(named[a], named[b]) for a, b in merges])
    library = Tokenizer(model)
    library.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    return library


# %% tags=["evidence"]
tokens = BytePairs.from_merges(merges)
library = in_the_library(tokens, merges)
hard = "  It’s 3.14² … naïve cafe\u0301 今天天气很好 👩‍👩‍👧!\n\n\t__init__  "
agree = [tokens.encode(said) == library.encode(said).ids for said in (held_out, hard)]
observe(
    "All {n:,} tokens of the held-out text are the same as the library's, and so are all {m} of the hard line.",
    n=len(tokens.encode(held_out)),
    m=len(tokens.encode(hard)),
    holds=all(agree) and tokens.decode(tokens.encode(hard)) == hard,
)

# %% [markdown]
# The library learns the same merges, too, if ties are broken in the same way (a test of the book checks this). If two pairs are equally frequent, both take the lower one. Another rule would give another vocabulary, just as good but not the same.

# %% [markdown]
# (deeper-subword-length)=
# ## What do subwords do to length, and to names?
#
# *5 minutes.* Each merge makes texts shorter and the vocabulary longer. How much shorter, and for which words? We encode the held-out docstrings with more and more of our 4,000 merges,
# and look at plain words and at names separately. A name here is a word with an underscore, or with a capital after its first letter, such as `n_estimators` or
# `LogisticRegression`.

# %% tags=["evidence"]
said = words(held_out)
names = sorted({word for word in said if "_" in word or word[1:] != word[1:].lower()})
plain = sorted({word for word in said if word.isalpha()} - {*names})
sizes = (0, 125, 250, 500, 1000, 2000, 4000)
per_word = {"names": [], "plain words": [], "the text": []}
for n_merges in sizes:
    cut = BytePairs.from_merges(merges[:n_merges])
    for which, part in (("names", names), ("plain words", plain)):
        per_word[which].append(fmean(len(cut.encode(f" {word}")) for word in part))
    per_word["the text"].append(len(cut.encode(held_out)) / len(held_out.split()))

# %% tags=["evidence"] mystnb={"figure": {"caption": "The more merges, the fewer tokens per word: distinct names, distinct plain words and the running text of docstrings that were not used for learning.", "name": "fig-subword-length"}, "image": {"alt": "Three falling curves over the number of merges, from 0 to 4,000. Names begin at about 16 tokens and end near 5; distinct plain words begin near 9 and end near 2.5; the running text begins between 6 and 7 and ends below 2."}}
lines = {which: (sizes, counts) for which, counts in per_word.items()}
ax = curves(lines, "merges", "tokens per word")
ax.set_ylim(0)
plt.show()

# %% tags=["evidence"]
observe(
    "With 4,000 merges the text has {text:.1f} tokens per word. A distinct plain word has {plain:.1f} on average, and a name {names:.1f}.",
    text=per_word["the text"][-1],
    plain=per_word["plain words"][-1],
    names=per_word["names"][-1],
    holds=per_word["the text"][-1] < 2 < 1.5 * per_word["plain words"][-1] < per_word["names"][-1],
)

# %% tags=["evidence"]
rows = []
for word in ("the", "convolution", "n_estimators", "RandomForestClassifier", "Wissenschaft"):
    row = [word]
    for n_merges in (500, 4000):
        cut = BytePairs.from_merges(merges[:n_merges])
        row.append(
            " · ".join(p.decode().strip() or "␣" for p in cut.pieces(cut.encode(f" {word}")))
        )
    rows.append(row)
table(rows, ["word", "after 500 merges", "after 4,000 merges"])

# %% [markdown]
# A frequent word becomes one token. A rare one stays in pieces, and its pieces are whatever was frequent elsewhere, whether they mean something or not. So a name costs about twice as many tokens as a plain word,
# and a word of another language costs more still: a model that was trained on English reads German in small pieces, pays for each of them, and has less room for the rest.
#
# What do we get in return? With a vocabulary of words, every new word becomes the same unknown token.

# %% tags=["evidence"]
known = {*words(text)}
new = [word for word in said if word not in known]
observe(
    "{unknown:.1%} of the held-out words, such as {examples}, are in no training text. As byte pairs, all of them can be written and read back.",
    unknown=len(new) / len(said),
    examples=" and ".join(
        f"“{word}”" for word in sorted({*new}, key=lambda w: (-new.count(w), w))[:2]
    ),
    holds=len(new) > 0.02 * len(said) and all(tokens.decode(tokens.encode(w)) == w for w in new),
)

# %% [markdown]
# (deeper-ceilings)=
# ## How much can anyone get right without seeing the order?
#
# *6 minutes.* **How good could the best bag of words be?** A grammar wrote our reviews, so the answer can be counted. Each review has one or two
# opinions, and three rules give the verdict. A negation reverses an opinion. After *but* comes the opinion that decides, and after *although* one that doesn't.
# Without such a word, the stronger of two opinions decides.

# %% tags=["evidence"]
corpus = reviews.reviews()
rows = []
for kind in (*reviews.KINDS, reviews.UNSEEN):
    part = corpus.unseen if kind == reviews.UNSEEN else corpus.test
    review = min((r for r in part if r.kind == kind), key=lambda r: (len(r.words), r.words))
    share = reviews.KINDS.get(kind, 0) / sum(reviews.KINDS.values())
    deciding = ", ".join(review.words[place] for place in reviews.deciding(review))
    rows.append(
        [kind, f"{share:.0%}", " ".join(review.words), ("bad", "good")[review.label], deciding]
    )
table(rows, ["kind", "share", "a review", "verdict", "because of"])

# %% [markdown]
# The last kind is in no training set: both opinions are negated, so a model has to combine two things that it has only seen separately.
#
# Half of the reviews have a twin: the same words in another order, and the opposite verdict. Here is one whose twin even has the same windows of three words.

# %% tags=["evidence"]
text = "I would not call the soup good but I would call the wine great"
review = reviews.Review(tuple(text.split()), 1, "negated contrast", decides=(13,))
twin = reviews.twin(review)
three = reviews.windows(3)
observe(
    "Good: {one}. Bad: {other}.",
    one=text,
    other=" ".join(twin.words),
    holds=three(review) == three(twin) and (review.label, twin.label) == (1, 0),
)

# %% [markdown]
# Anyone who sees only the bag has to give both the same verdict, and is wrong about one. The best strategy is to give each bag the verdict that is more often true of it; its accuracy is the Bayes accuracy. We
# don't estimate it: `ceiling` writes every review of a small lexicon and adds up probabilities as fractions. Words of the same kind are interchangeable, so a larger
# lexicon has the same ceiling.

# %%
show_source(reviews.ceiling)

# %% tags=["evidence"] mystnb={"figure": {"caption": "Windows of four words are enough for this grammar: the highest possible accuracy for a model that sees a review as a bag of windows, by the number of words in a window. With one word, it is a bag of words.", "name": "fig-window-ceilings"}, "image": {"alt": "A curve over the number of words in a window, from 1 to 5. It begins at 75 percent, is at 89 percent for two and for three words, and at 100 percent from four words on."}}
sizes = range(1, 6)
ceilings = {size: reviews.ceiling(reviews.windows(size)) for size in sizes}
ax = curves({"ceiling": (sizes, list(ceilings.values()))}, "words in a window", "greatest accuracy")
ax.set_xticks(sizes)
plt.show()

# %% tags=["evidence"]
observe(
    "No bag of words can classify more than {bag:.0%} correctly, and no convolution with windows of three words more than {three:.2%}, whatever it pools. Windows of four see everything that matters here.",
    bag=ceilings[1],
    three=ceilings[3],
    holds=ceilings[1] == 0.75 and ceilings[3] == 0.8875 and ceilings[4] == 1,
)

# %% [markdown]
# Someone has to choose in advance how far a window reaches: two words are too few, three are no better, and four are enough.
#
# **A sum sees less than a bag.** This ceiling holds for *any* function of the bag, for instance a network on the mean of the embeddings. A logistic regression only adds up one number for each word. How far does it get with unlimited data? We
# fit it to all reviews of the grammar at once, each weighted by its probability.

# %% tags=["evidence"]
written = list(reviews.every())
bags = CountVectorizer(analyzer=list)
counts = bags.fit_transform([review.words for review, _ in written])
labels = [review.label for review, _ in written]
p = [float(probability) for _, probability in written]
weigh = LogisticRegression(C=1e6, max_iter=5000, tol=1e-10)
weigh = weigh.fit(counts, labels, sample_weight=[len(p) * one for one in p])

# %% tags=["evidence"]
scores = weigh.decision_function(counts)
said = [
    0.5 if abs(score) < 1e-3 else float((score > 0) == label)
    for score, label in zip(scores, labels, strict=True)
]
endless = sum(right * one for right, one in zip(said, p, strict=True))
weights = dict(zip(bags.get_feature_names_out(), weigh.coef_[0], strict=True))
observe(
    "With unlimited data, logistic regression classifies {endless:.0%} correctly. It gives *not* the weight {no:.2f}, and *good* {good:.2f}.",
    endless=endless,
    no=abs(weights["not"]),
    good=weights["good"],
    holds=abs(endless - 0.65) < 1e-3 and abs(weights["not"]) < 1e-3 < weights["good"],
)

# %% [markdown]
# In *not good* and *not bad* the same word would have to pull in opposite directions, so its best weight is zero: a sum can't express *reverse the next word*. So the regression reads every plain negation the wrong way round, and classifies half of the reviews with two opinions correctly.
#
# (deeper-library-leak)=
# ## How many test sentences were read in training?
#
# *5 minutes.* **Is a random split of documentation fair?** The sentences of the five libraries come from their docstrings. A library says many things more than once: *The default is …*, *Returns a copy of …*. Let us call two sentences near copies if at least half of
# the pairs of adjacent words that occur in either are in both. How many sentences of a test set have a near copy in training?

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

# %% tags=["evidence"]
observe(
    "{random:.0%} of the sentences in a random tenth have a near copy in the rest. With whole modules held out, {modules:.0%} still have one; with near copies left out as well, {none:.0%}.",
    random=leaks["dealt out at random"],
    modules=leaks["whole modules held out"],
    none=leaks["near copies left out as well"],
    holds=leaks["dealt out at random"] > 0.3 > leaks["whole modules held out"] > 0.05
    and not any(libraries.near_copies(ours.test, ours.train)),
)

# %% [markdown]
# So holding out whole modules is not enough, since modules copy from each other. We keep only the first of several near copies, wherever it is, and then hold out modules. In each part, every library has equally many sentences, so always giving the same answer is correct a fifth of the time.
#
# Names are masked, because *numpy* in a sentence would make the question a joke. We mask a word if its author marked it as a name, if it has a capital inside the sentence or a character that isn't a letter, or if it is the name of a library. Words that are topics stay: *tensor*, *axes*, *estimator*.

# %% [markdown]
# (deeper-six)=
# ## Which of six models reads best?
#
# *7 minutes.* **The lesson compared a bag of words with one Transformer. What do the models in between see, and how many examples does each need?** Here are six models:
#
# - **The majority** always predicts the most frequent class, whatever it reads.
# - **The bag of words** is TF-IDF with a logistic regression.
# - **The mean of embeddings** gives each word a vector and averages them, as fastText does {cite}`joulin2017bag`. That is a bag, too, but a network learns its weights.
# - **The text CNN** slides 96 kernels of three words over the text and keeps the largest output of each {cite}`kim2014convolutional`: Day 1's convolution, over words instead of pixels.
# - **The BiLSTM** is Day 3's LSTM, read from both ends; the largest value of each output is kept {cite}`conneau2017supervised`.
# - **The Transformer** is Day 6's encoder, with two blocks, rotary positions and the mean.
#
# All networks have vectors of 48 numbers. For each model we tried four learning rates (for the bag of words four penalties), chose the best on the validation set, and trained with three seeds. All networks took 500 steps, even with few examples.

# %% tags=["evidence"]
read = experiments.load("classifiers")
sizes = read.parameters["n_train"]
bag_ceiling, window_ceiling = (
    100 * reviews.ceiling(reviews.windows(n)) for n in (1, reading.KERNEL)
)

# %% tags=["evidence"] mystnb={"figure": {"caption": "On the reviews the two networks that see the whole order win; on the libraries' sentences the bags keep up. Correct answers on the test sets by the number of training examples; bands cover three seeds. Dotted: the ceilings of a bag of words and of windows of three words.", "name": "fig-six"}, "image": {"alt": "Two plots of the share that is correct over 500, 1,700 and 6,000 examples. Reviews: BiLSTM and Transformer rise to 100 percent; the text CNN to nearly the upper dotted line at 89; both bags stay near 65, below the lower dotted line at 75; the majority is at 50. Libraries: all rise together, from about 40 to between 50 and 60 percent; the majority is at 20."}}
axes = plt.subplots(1, 2, figsize=(8, 3.8))[1]
for ax, task_name in zip(axes, read.parameters["task"]):
    lines = {}
    for model in read.parameters["model"]:
        right = [read.column("test", task=task_name, model=model, n_train=n)[0] for n in sizes]
        lines[model] = sizes, [[100 * share for share in seed] for seed in zip(*right)]
    curves(lines, "training examples", f"{task_name}: correct (%)", logx=True, ax=ax)
    ax.set_xticks(sizes, [f"{n:,}" for n in sizes], minor=False)
    ax.minorticks_off()
for height in (bag_ceiling, window_ceiling):
    axes[0].axhline(height, color=INK, linestyle=":", linewidth=1)
axes[0].get_legend().remove()
plt.show()


# %% tags=["evidence"]
def right_in(
    task_name: str, model: str, part: str = "test", n_train: int = sizes[-1]
) -> list[float]:
    """Shares that are correct, seed by seed."""
    return read.column(part, task=task_name, model=model, n_train=n_train)[0]


best = {model: right_in("reviews", model) for model in read.parameters["model"]}
observe(
    "The Transformer classifies {transformer:.1%} of the reviews correctly and the BiLSTM {lstm:.1%}, means of three seeds; the text CNN manages {cnn:.1%}, the bag of words {bag:.1%}.",
    transformer=fmean(best["Transformer"]),
    lstm=fmean(best["BiLSTM"]),
    cnn=fmean(best["text CNN"]),
    bag=fmean(best["bag of words"]),
    holds=min(map(fmean, (best["Transformer"], best["BiLSTM"]))) > 0.98
    and 0.8 < max(best["text CNN"]) <= window_ceiling / 100 + 0.02
    and max(best["bag of words"]) < bag_ceiling / 100,
)

# %% [markdown]
# Each model fails where it is blind. Here are the test reviews, kind by kind.

# %% tags=["evidence"]
rows = []
for kind in (*reviews.KINDS, reviews.UNSEEN):
    shares = [fmean(right_in("reviews", model, kind)) for model in read.parameters["model"]]
    rows.append([kind, *(f"{100 * share:.0f}" for share in shares)])
table(rows, ["correct, %", *read.parameters["model"]])
by_kind = {
    model: {kind: fmean(right_in("reviews", model, kind)) for kind in reviews.KINDS}
    for model in ("bag of words", "text CNN")
}
assert by_kind["bag of words"]["plain"] > 0.9 > 0.2 > by_kind["bag of words"]["negation"]
assert by_kind["text CNN"]["negation"] > 0.95 and by_kind["text CNN"]["negated contrast"] < 0.75

# %% [markdown]
# To the bag, *not* is a word like any other, and can't reverse the next one. So on negated reviews it does worse than a coin. The CNN sees *not good* in one window, and *but* in another. It can't see that they belong together, so *negated contrast* remains a guess, or little more. No model was shown two negations in one review, and none is certain to understand them.
#
# The libraries' sentences are different. All five models that learn anything end within a few points of each other, and the bags are ahead. The words give the library away: *tensor*, *axes*, *estimator*. Nothing has to be reversed.

# %% tags=["evidence"]
few = {model: fmean(right_in("reviews", model, n_train=sizes[0])) for model in best}
heard = {model: fmean(right_in("libraries", model)) for model in best}
observe(
    "With {n} reviews the BiLSTM gets {lstm:.0%} right, the Transformer {transformer:.0%}. On the libraries' sentences, with {most:,} to learn from, the bag of words gets {bag:.1%}, the Transformer {transformer_5:.1%}.",
    n=sizes[0],
    lstm=few["BiLSTM"],
    transformer=few["Transformer"],
    bag=heard["bag of words"],
    transformer_5=heard["Transformer"],
    most=sizes[-1],
    holds=few["BiLSTM"] > few["Transformer"] + 0.1 and heard["bag of words"] > heard["Transformer"],
)

# %% [markdown]
# A recurrent network is given the order, since it walks along it. A Transformer first has to find out what to attend to, and that takes examples.

# %% [markdown]
# ### What if the words are shuffled?
#
# The stored experiment `negation` trained three of them on reviews as they are, and on reviews whose words were shuffled. Each then read test reviews of both kinds.

# %% tags=["evidence"]
mixed = experiments.load("negation")
rows = []
for model in mixed.parameters["model"]:
    for trained_on in mixed.parameters["trained_on"]:
        shares = [
            mixed.spread(of, model=model, trained_on=trained_on)[0]
            for of in ("order", "shuffled", "order, negation", "shuffled, negation")
        ]
        rows.append([model, trained_on, *(f"{100 * share:.0f}" for share in shares)])

# %% tags=["evidence"]
table(
    rows,
    [
        "model",
        "trained on",
        "in order, %",
        "shuffled, %",
        "negation, in order",
        "negation, shuffled",
    ],
)

# %% tags=["evidence"]
ordered = mixed.spread("order", model="Transformer", trained_on="order")[0]
lost = mixed.spread("shuffled", model="Transformer", trained_on="order")[0]
never_had = mixed.spread("shuffled", model="Transformer", trained_on="shuffled")
observe(
    "Once the words are shuffled, the Transformer classifies {lost:.0%} correctly instead of {ordered:.0%}. Trained on shuffled words, it classifies {never:.0%} of the shuffled reviews correctly.",
    lost=lost,
    ordered=ordered,
    never=never_had[0],
    holds=ordered > 0.98 and lost < 0.75 and never_had[2] < bag_ceiling / 100 + 0.03,
)

# %% [markdown]
# A network can reverse *good* because of a *not* anywhere in the text, which no sum can. That is why the Transformer does better than the bag on shuffled *negation*. But once the words are shuffled, nothing shows which of two opinions is negated, or comes after *but*.

# %% [markdown]
# (deeper-subwords)=
# ## Do subwords beat words?
#
# *4 minutes.* Which tokens serve a classifier best? We take the same Transformer, the same texts, equally many steps and an equally large vocabulary (1,000): only the tokens differ. One task is the lesson's: which library is this sentence from? In the other, a single word is the whole text, and the question is which language it is from; no word of that test set is in the training set. The learning rate was chosen for each kind of token.


# %% tags=["evidence"]
def in_per_cent(seeds: list[float]) -> str:
    """Mean of several seeds, and their range."""
    low, high = (f"{100 * bound(seeds):.1f}" for bound in (min, max))
    return f"{100 * fmean(seeds):.1f} ({low} to {high})"


# %% tags=["evidence"]
cuts = experiments.load("subwords")
rows = []
for where in cuts.parameters["task"]:
    for way in cuts.parameters["tokens"]:
        (row,) = cuts.select(task=where, tokens=way)
        judged = [
            in_per_cent(row[part]) if part in row else "–" for part in ("test", "unseen words")
        ]
        sizes = f"{row['tokens per text']:.1f}", f"{row['unknown tokens']:.1%}"
        rows.append([where, way, *sizes, *judged])

# %% tags=["evidence"]
names = [
    "tokens per text",
    "of them unknown",
    "test, % correct",
    "texts with unseen words, % correct",
]
table(rows, ["task", "split into", *names])

# %% [markdown]
# (claim-cls-4)=

# %% tags=["evidence"]
right = {
    f"{short}_{where}": fmean(cuts.column("test", task=where, tokens=way)[0])
    for short, way in (("pairs", "byte pairs"), ("words", "words"))
    for where in cuts.parameters["task"]
}
claim(
    "cls-4",
    "Yes, if words are new: on single new words, byte pairs get {pairs_words:.0%} right, words {words_words:.0%}; on sentences, {pairs_sentences:.0%} and {words_sentences:.0%}.",
    **right,
    holds=lambda pairs_words, words_words, pairs_sentences, words_sentences: (
        pairs_words > words_words + 0.1 and pairs_sentences < words_sentences + 0.03
    ),
    experiment="subwords",
    scale="3,000 texts, vocabularies of 1,000, three seeds",
)

# %% [markdown]
# In new modules of the libraries few words are new, and splitting them neither helps nor harms. Where every word is new, a vocabulary of words can only guess, while subwords such as endings give a language away. Characters do that as well. But they make a sentence several times as long, and in the same number of steps the model learns little from them.

# %% [markdown]
# (deeper-pooling)=
# ## [CLS], the mean or the maximum?
#
# *5 minutes.* **BERT puts a symbol before the text and reads its answer off there. Is that better than the mean?** This [CLS] means nothing by itself {cite}`devlin2019bert`. It can attend to every word, in every block, and so choose its own information. The mean can't choose. Nor can the maximum, which keeps the largest value of each column, at whatever position.

# %%
show_source(classification.with_cls)
show_source(classification.CLSEncoder.forward)

# %% [markdown]
# We compare three Transformers that differ in nothing else, each at the best of four learning rates, with three seeds.

# %% tags=["evidence"]
read, pooled = experiments.load("classifiers"), experiments.load("pooling")
names = dict(zip(reading.POOLINGS, ("mean", "maximum", "[CLS]")))


def by_pooling(task_name: str, n_train: int) -> dict[str, list[float]]:
    """Per cent of the test set that is correct, seed by seed."""
    found = {}
    for model, name in names.items():
        stored = read if model in read.parameters["model"] else pooled
        (right,) = stored.column("test", task=task_name, model=model, n_train=n_train)
        found[name] = [100 * share for share in right]
    return found


# %% tags=["evidence"] mystnb={"figure": {"caption": "On no task is [CLS] clearly better than the mean: correct answers on the test sets with three ways to pool, 6,000 examples above, 500 below. A line goes from the lowest of three seeds to the highest.", "name": "fig-poolings"}, "image": {"alt": "Four charts of three bars each, for mean, maximum and CLS. Reviews with 6,000 examples: mean and CLS near 100, the maximum with a line down to 84. Libraries with 6,000: mean and maximum near 56, CLS near 53. With 500 examples reviews are between 60 and 70, libraries near 41."}}
axes = plt.subplots(2, 2, figsize=(8, 4.6))[1]
for row, n_train in zip(axes, (6000, 500)):
    for ax, task_name in zip(row, read.parameters["task"]):
        bars(
            by_pooling(task_name, n_train), f"{task_name}, {n_train:,} examples: correct (%)", ax=ax
        )
plt.show()

# %% [markdown]
# (claim-cls-2)=

# %% tags=["evidence"]
heard = {name: fmean(seeds) for name, seeds in by_pooling("libraries", 6000).items()}
claim(
    "cls-2",
    "Can't tell here: trained from scratch, [CLS] classifies {cls:.1f}% of the libraries' sentences correctly, the mean {mean:.1f}%; BERT's was pre-trained.",
    cls=heard["[CLS]"],
    mean=heard["mean"],
    holds=lambda cls, mean: 40 < cls < mean + 1 < 80,
    scale="6,000 sentences, 500 steps, best of four rates each, three seeds",
    experiment="pooling",
)

# %% [markdown]
# On the libraries' sentences [CLS] is behind, by about as much as its seeds differ; on the reviews, and with 500 examples, the seeds differ more than the poolings. (One of three seeds of the maximum had not yet learned to read the reviews.) There is a likely reason why [CLS] is no better. It has to *learn* what to attend to before anything reaches the output, while the mean gives every word a gradient from the first step. BERT had read billions of words before anyone asked its [CLS].

# %% [markdown]
# (deeper-decided)=
# ## Attribution: which words decided?
#
# *7 minutes.* **Three ways to colour the words of a text, and three different pictures. Which one is correct?** For real sentences there is no answer key, and a picture is believed if it looks sensible {cite}`jain2019attention`. Our grammar knows the words that decide. They are the smallest set without which its rules would leave the verdict open or reverse it: an adjective and its *not*, the *but* that makes them count, or two degrees that are compared. So each method can be graded like an exam.
#
# Every method gives each word of a review a number. Among the reviews that the model classifies correctly, we count how often the word with the largest number is one that decides.
#
# - **Leave one out**: how much log *p* falls without the word.
# - **Gradient × input**: how the class's logit would change if the word's vector were scaled down; its size $|\cdot|$; and the length of the gradient alone.
# - **Attention**: the weight that a word receives, averaged over all heads, blocks and queries (with [CLS], its query alone); the same in the last block; and *rolled out*, each block's weights multiplied by those below it, with half of each position kept for itself {cite}`abnar2020quantifying`.

# %%
show_source(classification.gradient_times_input)
show_source(classification.attention_rollout)
show_source(rolled_out)

# %% tags=["evidence"] mystnb={"figure": {"caption": "Gradient × input fails in the Transformer with the mean, and works in the BiLSTM: share of the reviews in which the word with the largest number is one that decides. A line goes from the lowest of three seeds to the highest; *chance* picks any word.", "name": "fig-marked"}, "image": {"alt": "Three bar charts, for the BiLSTM and for Transformers with the mean and with CLS. For the BiLSTM, leave-one-out and gradient times input are near 80 percent. For the Transformers, leave-one-out, attention and rollout are near 90; gradient times input is below 30 with the mean and near 60 with CLS. Chance is 16 everywhere."}}
marked = experiments.load("decided")
axes = plt.subplots(1, 3, figsize=(9.5, 3.6))[1]
found = {}
for ax, model in zip(axes, marked.parameters["model"]):
    columns = [name for name in marked.select(model=model)[0] if name.endswith(", highest")]
    found[model] = {
        name.removesuffix(", highest").replace("layer", "block"): marked.column(name, model=model)
        for name in columns
    }
    shares = {way: [100 * x for x in seeds] for way, seeds in found[model].items()}
    bars(shares, f"{model}: found (%)", ax=ax)
plt.show()

# %% tags=["evidence"]
of_reader = {way: fmean(seeds) for way, seeds in found["Transformer"].items()}
of_lstm = {way: fmean(seeds) for way, seeds in found["BiLSTM"].items()}
observe(
    "In the Transformer, leaving words out finds a deciding word in {left_out:.0%} of the reviews, attention in {attention:.0%}, gradient × input in {gradient:.0%}; a random word decides in {chance:.0%}. In the BiLSTM, gradient × input finds one in {gradient_lstm:.0%}.",
    left_out=of_reader["leave-one-out"],
    attention=of_reader["attention"],
    gradient=of_reader["gradient × input"],
    chance=of_reader["chance"],
    gradient_lstm=of_lstm["gradient × input"],
    holds=of_reader["leave-one-out"] > of_reader["attention"] > 2 * of_reader["gradient × input"]
    and of_lstm["gradient × input"] > 2 * of_reader["gradient × input"],
)

# %% [markdown]
# Leaving words out does best, in a test that favours it: the deciding words were themselves defined by leaving words out. And these are all means over seeds. Attention in the last block alone does much worse, and differs from seed to seed.
#
# Why does gradient × input fail in this Transformer and not in the BiLSTM? A likely reason, which we don't test here: a block reads its input through a layer norm, and a layer norm discards every vector's size. If a word's vector is scaled down a little, the block reads it nearly as before, however much the word matters. The *direction* of the vector matters, and the length of the gradient tells a little more about that. But with [CLS] the gradient does better, through the same norms, so they can't be the whole reason.

# %% [markdown]
# (deeper-calibration)=
# ## Calibration: does a model know how sure it should be?
#
# *5 minutes.* **The Transformer says *scipy*, with 93%. Should you bet on it at these odds?** A model is **calibrated** if 93 in 100 of all answers that it gives with 93% confidence are correct. To check, we sort the answers into bins by their confidence, and compare each bin's mean confidence with its share of correct answers: a **reliability diagram**. Below the diagonal, a model is surer than it should be.
#
# The **expected calibration error** is the mean distance from the diagonal, each bin weighted by its number of answers:
#
# $$
# \mathrm{ECE} = \sum_m \frac{n_m}{n}\,\bigl|\mathrm{accuracy}_m - \mathrm{confidence}_m\bigr|
# $$
#
# The cure is one number {cite}`guo2017calibration`. All logits are divided by a **temperature** τ, chosen so that the cross-entropy on the validation set is lowest. Dividing by a positive number never changes which logit is largest. So accuracy stays as it is, and only the confidence moves. On Day 2, temperature made a writer bolder.

# %%
show_source(classification.fit_temperature)

# %% tags=["evidence"] mystnb={"figure": {"caption": "A temperature moves the Transformer and the bag of words towards the diagonal, on which confidence equals accuracy: the libraries' test sentences, before and after temperature scaling.", "name": "fig-reliability-of-two"}, "image": {"alt": "Two plots of the share that is correct over the confidence. Before scaling the curve of the Transformer lies far below the diagonal and that of the bag of words above it; after it both are near it."}}
read = experiments.load("classifiers")
n_train = read.parameters["n_train"][-1]
axes = plt.subplots(1, 2, figsize=(8, 3.8), sharey=True)[1]
for ax, model in zip(axes, ("Transformer", "bag of words")):
    (row,) = read.select(task="libraries", model=model, n_train=n_train)
    lines = {}
    for when in ("before", "after"):
        places, heights = (
            [100 * x for x in row[f"{of} in bins {when}"]] for of in ("confidence", "accuracy")
        )
        lines[when] = places, heights
    curves(lines, "confidence (%)", f"{model}: correct (%)", ax=ax)
    ax.plot([20, 100], [20, 100], color=INK, linestyle=":", linewidth=1)
plt.show()

# %% tags=["evidence"]
learned = read.parameters["model"][1:]
errors = {
    model: {
        when: read.column(
            f"calibration error {when}", task="libraries", model=model, n_train=n_train
        )[0]
        for when in ("before", "after")
    }
    for model in learned
}

# %% tags=["evidence"]
temperatures = {
    model: fmean(read.column("temperature", task="libraries", model=model, n_train=n_train)[0])
    for model in learned
}
assert all(
    (tau > 1.5) == (tau > 1) == (model in learned[2:]) for model, tau in temperatures.items()
)

# %% tags=["evidence"]
rows = []
for model in learned:
    (row,) = read.select(task="libraries", model=model, n_train=n_train)
    before, after = (100 * fmean(errors[model][when]) for when in ("before", "after"))
    rows.append(
        [
            model,
            f"{100 * fmean(row['test']):.0f}",
            f"{before:.1f}",
            f"{after:.1f}",
            f"{temperatures[model]:.2f}",
        ]
    )
table(rows, ["model", "correct, %", "ECE before, points", "ECE after", "temperature"])

# %% [markdown]
# (claim-cls-6)=

# %% tags=["evidence"]
claim(
    "cls-6",
    "Yes, if the logits are divided by a temperature fitted on similar sentences: confidence and accuracy are {before:.0%} apart without it, {after:.0%} with it.",
    before=fmean(errors["Transformer"]["before"]),
    after=fmean(errors["Transformer"]["after"]),
    holds=lambda before, after: before > 0.08 and after < before / 2,
    experiment="classifiers",
    scale="a small Transformer, 6,000 sentences of five libraries, three seeds, 15 bins",
)

# %% [markdown]
# The networks that see order have temperatures far above 1: they are too sure of themselves. For the two bags it is the other way round: their temperature is below 1, because they are correct more often than they claim. (For the bag of words the penalty does this, because it keeps the weights small.)

# %% [markdown]
# (deeper-leak)=
# ## Is a random split a fair test?
#
# *7 minutes.* **A model classifies nine in ten test phrases correctly. Has it learned to read?** The Stanford Sentiment Treebank {cite}`socher2013recursive` contains sentences from film reviews. People judged not only the sentences but every branch of their parse trees. GLUE's training
# file {cite}`wang2019glue` has 67,349 of these phrases, each with a label.
#
# The file is not part of this book: these results were measured with it and stored. If your own copy is in the folder that `BOOK_DATA` names, `make experiments` measures them anew.
#
# So what happens if we shuffle the phrases and set a tenth aside?

# %% tags=["evidence"]
stored = experiments.load("sentiment")
learned = [model for model in stored.parameters["model"] if model != "majority"]
(leaks,) = stored.select(model="majority")
shared = {split: leaks[f"{split}_split, leak"] for split in ("random", "grouped")}
shared["official"] = leaks["sentences, leak"]
observe(
    "Take the test phrases that have at least six words. In a random split, {random:.0%} of them share six in a row with a training phrase. If phrases stay with the longest that contains them, {grouped:.1%} do, and so do {official:.1%} of GLUE's own sentences.",
    **shared,
    holds=shared["random"] > 0.8 and max(shared["grouped"], shared["official"]) < 0.1,
)

# %% [markdown]
# Parts of a sentence are on both sides. The model has read the same words, as part of something longer or shorter, together with people's verdict on it. The remedy is to split by group. Each phrase joins the longest phrase that contains it, and every group goes to one side as a whole.

# %%
show_source(sentiment.groups)

# %% [markdown]
# What still leaks is short: *good* is part of many phrases and can join only one of them.
#
# Now the same models are judged on the test phrases of the random split, on those of the grouped split, and on GLUE's 872 sentences, which are complete. Each model has three seeds, two passes of training, and the best of four settings, chosen on the validation phrases of the split by group. The models in the first and the third column are the very same, trained on the random split; only the test set differs. Those in the last column have learned from all phrases.


# %% tags=["evidence"]
def right(model: str, column: str) -> list[float]:
    """Shares that are correct, seed by seed."""
    return stored.column(column, model=model)[0]


columns = {
    "random split": "random_split, phrases",
    "split by group": "grouped_split, phrases",
    "sentences, after random": "random_split, sentences",
    "sentences, after grouped": "grouped_split, sentences",
    "sentences, after all": "all, sentences",
}
rows = []
for model in stored.parameters["model"]:
    means = [100 * fmean(right(model, column)) for column in columns.values()]
    rows.append([model, *(f"{mean:.1f}" for mean in means)])
table(rows, ["correct, %", *columns])

# %% tags=["evidence"]
falls = [
    100
    * (fmean(right(model, "random_split, phrases")) - fmean(right(model, "grouped_split, phrases")))
    for model in learned
]
observe(
    "From the random split to the split by group, every model that learns loses at least {least:.1f} points, and at most {most:.1f}.",
    least=min(falls),
    most=max(falls),
    holds=min(falls) > 3,
)

# %% tags=["evidence"]
official = [fmean(right(model, "all, sentences")) for model in learned]
chosen = max(learned, key=lambda model: max(stored.column("by setting", model=model)[0]))
mine, bag = (fmean(right(model, "all, sentences")) for model in (chosen, "bag of words"))
observe(
    "After training on all phrases, the network that was best on the validation phrases by group classifies {mine:.1%} of the 872 sentences correctly, averaged over three seeds; the bag of words gets {bag:.1%}. The standard error of such a share is {error:.1%}.",
    mine=mine,
    bag=bag,
    error=(mine * (1 - mine) / 872) ** 0.5,
    holds=chosen == "BiLSTM" and mine == max(official) and 0 < mine - bag < 0.02,
)

# %% [markdown]
# That network is the bidirectional LSTM. It is ahead of the bag by about one standard error: 872 sentences are too few to decide which model reads best.

# %% [markdown]
# The random split promises an accuracy that neither a bag of words nor a Transformer reaches on new sentences. Here it would at least have chosen a good model. That isn't guaranteed.

# %% [markdown]
# (claim-cls-5)=

# %% tags=["evidence"]
split = {
    name: fmean(fmean(right(model, f"{name}_split, phrases")) for model in learned)
    for name in ("random", "grouped")
}
claim(
    "cls-5",
    "No: on a random split the models classify {random:.0%} correctly on average; on phrases split by group it is {grouped:.0%}, on new sentences {official:.0%}.",
    **split,
    official=fmean(fmean(right(model, "random_split, sentences")) for model in learned),
    holds=lambda random, grouped, official: random - max(grouped, official) > 0.05,
    scale=f"SST-2, 67,349 phrases (in the tests of {leaks['random_split, words']:.0f} to {leaks['grouped_split, words']:.0f} words on average), 872 sentences (of {leaks['sentences, words']:.0f}); three seeds, each model at its best setting of four",
    experiment="sentiment",
)

# %% [markdown]
# Does only this data set leak? Whenever examples come in families, a random split puts relatives on both sides: frames of one film, pictures of one patient, several questions about one paragraph, days of one month, files of one project. So ask of every data set: what is a family here? (scikit-learn splits by group with `GroupKFold`.) Then measure the leak, as above, before you measure anything else.
#
# {numref}`exercise-split-by-group` asks for such a split.

# %% [markdown]
# ## AG News: what about more text?
#
# *1 minute.* What if there are not 6,000 texts but 120,000? AG News has that many short articles on four topics. For a bag of embedded words and pairs of words, {cite:t}`joulin2017bag` report an error of 7.5%. The articles may be used for research only, so the book doesn't fetch them. If your copy is in the folder that `BOOK_DATA` names, `ag_news("train")` in `utils.data.corpora` reads it. We didn't try it.

# %% [markdown]
# ## More exercises
#
# *65 minutes.* What is left to write? Solutions are on [a page of their own](../solutions/08_text_classification.ipynb).
#
# ```{exercise} Expected calibration error
# :label: exercise-calibration-error
#
# *Core, 10 minutes.* The **expected calibration error** sorts the answers into $M$ equally wide bins of confidence. In each bin it takes the distance between accuracy and mean confidence, and it averages these distances over the bins, weighting each bin by its share of the answers:
#
# $$
# \sum_{m=1}^{M} \frac{n_m}{n} \left|\, \text{accuracy}_m - \text{confidence}_m \right| .
# $$
#
# Bin $m$ holds the confidences above $(m - 1) / M$ and up to $m / M$.
# ([Solution](../solutions/08_text_classification.ipynb#solution-calibration-error))
# ```


# %%
def calibration_error(confidence, right, n_bins: int) -> float:
    """Shapes: confidence (n,), above 0 and up to 1; right (n,), True or False."""
    raise NotImplementedError


check("calibration_error", calibration_error)

# %% [markdown]
# ```{exercise} Byte pairs: what a merge changes
# :label: exercise-changed-counts
#
# *Stretch, 20 minutes.* The plain loops are slow because they count all pairs anew for each merge. By how much does each pair's count change when `pair` becomes `new`? Return a sorted list of (pair, change), for every pair whose count changes, and for no other. Watch out for words in which two merges are side by side. `replace_pair(word, pair, new)` replaces from left to right.
# ([Solution](../solutions/08_text_classification.ipynb#solution-changed-counts))
# ```


# %%
def changed_counts(words, counts, pair, new):
    """Distinct words, each a list of tokens; the i-th occurs counts[i] times."""
    raise NotImplementedError


check("changed_counts", changed_counts)

# %% [markdown]
# ```{exercise} A [CLS] vector
# :label: exercise-cls-pooling
#
# *Core, 10 minutes.* Put the vector `cls` before each text, let all positions attend to the real ones, and return the output at `cls`. `attend(x, mask)` takes x (B, S, D) and a mask (B, 1, S), True where a position may be attended to.
# ([Solution](../solutions/08_text_classification.ipynb#solution-cls-pooling))
# ```


# %%
def cls_pool(attend, x, lengths, cls):
    """Shapes: x (B, T, D), lengths (B,) in words, cls (D,); returns (B, D)."""
    raise NotImplementedError


check("cls_pooling", cls_pool)

# %% [markdown]
# ```{exercise} Split by group
# :label: exercise-split-by-group
#
# *Core, 15 minutes.* For each phrase, return whether it goes to the test set. A phrase belongs to the longest phrase, in words, that contains it word for word; if several are equally long, to the first in the list. Whole groups go to the test set, in the order in which their longest phrases appear in the list, until it has at least `n_test` phrases.
# ([Solution](../solutions/08_text_classification.ipynb#solution-split-by-group))
# ```


# %%
def goes_to_test(phrases: list[str], n_test: int) -> list[bool]:
    """One answer for each phrase: True for the test, False for training."""
    raise NotImplementedError


check("split_by_group", goes_to_test)

# %% [markdown]
# ```{exercise} Gradient times input
# :label: exercise-gradient-times-input
#
# *Core, 10 minutes.* Score each word by $x_t \cdot \partial z / \partial x_t$, where $z$ is the label's logit. The model turns embedded words (T, D) into logits (n_classes,).
# ([Solution](../solutions/08_text_classification.ipynb#solution-gradient-times-input))
# ```


# %%
def gradient_times_input(model, x, label):
    """Shapes: x (T, D); returns the scores (T,) of the words."""
    raise NotImplementedError


check("gradient_times_input", gradient_times_input)
