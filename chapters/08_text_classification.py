# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Day 8: Reading: what is this text about?
#
# **Today's question:** what is this text about, and which of its words decide it?
#
# After today you can
#
# - cut a text into tokens, and say what becomes of a word that nobody has seen,
# - weigh a word by how few texts hold it,
# - say what a sum over words can't get right,
# - average over the words of a text, and over nothing else,
# - find out which words decided, by taking each away,
# - measure how far a model's confidence can be trusted.
#
# It builds on [Day 5](05_self_attention.ipynb), looks and masks, and on [Day 6](06_transformer.ipynb), blocks and clocks. You need 55 minutes to read and
# 25 to write four functions. At the end it says which library wrote *your* sentence, and why.

# %% tags=["setup"]
import convolution_to_attention  # is `utils` this book's?

from statistics import fmean

import matplotlib.pyplot as plt
import torch
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from torch import nn
from torch.nn.functional import cross_entropy

from utils import tokens
from utils.classification import attention_received, gradient_times_input
from utils.classification import expected_calibration_error, fit_temperature, reliability
from utils.data import libraries, reviews
from utils.data.text import BucketedBatches, pad
from utils.exercises.progress import checklist
from utils.exercises.text_classification import check
from utils.positions import Rotary
from utils.self_attention import MultiHeadAttention
from utils.measure import experiments
from utils.measure.claims import claim
from utils.show.diagrams import arrow, box, cells, label, note, sheet
from utils.show.display import observe, table
from utils.show.mechanisms import text_classification as mechanisms
from utils.show.plotting import INK, bars, curves, heat_map, use_book_style
from utils.show.views import Reading, decided, guess, quiz, which_library
from utils.tasks import reading
from utils.training.loop import fit
from utils.training.recipes import rise_and_fall

use_book_style()

# %% [markdown]
# **Five questions about yesterday**

# %% tags=["view"]
quiz("08_text_classification")

# %% [markdown]
# ## Where we stand
#
# *5 minutes.* Day 6 translated, and yesterday a writer wrote, letter by letter. Today a text comes in and **one** answer goes out: a verdict, at first, and later who wrote it. Read these two reviews.
#
# > the plot was **not** good but the music was great
# >
# > the plot was good but the music was **not** great
#
# One word has moved, and the verdict flips, since what follows a *but* decides. This pair goes with us through the day.
#
# A small grammar writes such reviews, 6,000 to learn from. So of each we know the truth. We even know the words that **decide** it: without them, the grammar's rules leave the verdict open or turn it over.

# %%
PAIR = (
    "the plot was not good but the music was great",
    "the plot was good but the music was not great",
)
VERDICTS = "bad", "good"
corpus = reviews.reviews()
task = reading.as_task(corpus.train, corpus.validation, corpus.test)

# %% tags=["evidence"]
rows = [
    [" ".join(r.words), VERDICTS[r.label], " ".join(r.words[i] for i in reviews.deciding(r))]
    for r in corpus.train[3:7]
]
table(rows, ["review", "it says", "what decides"])

# %% [markdown]
# The oldest way to read a text is to count its words and forget their order: a **bag of words**. Each word has a number that is learned, and their sum decides.


# %% tags=["training"]
bag = make_pipeline(TfidfVectorizer(analyzer=list), LogisticRegression(C=3.0, max_iter=2000))
bag.fit(task.train.texts, task.train.labels)
print("good:", bag.predict_proba([review.split() for review in PAIR])[:, 1].round(2))


# %%
def by_kind(said):
    """Share of the validation reviews that is right: of all, and of each kind."""
    right = torch.as_tensor(said) == task.validation.labels
    kinds = [review.kind for review in corpus.validation]
    found = {"all": right}
    for kind in reviews.KINDS:
        found[kind] = right[[one == kind for one in kinds]]
    return {kind: of.double().mean().item() for kind, of in found.items()}


of_bag = by_kind(bag.predict(task.validation.texts))

# %% tags=["evidence"]
observe(
    "It gets {all:.0%} of 1,000 new reviews right, and a guess 50 %. Of the plain ones it gets {plain:.0%}, of those with a single opinion and a *not* or *never* {negation:.0%}.",
    **{kind: of_bag[kind] for kind in ("all", "plain", "negation")},
    holds=of_bag["all"] < 0.75 and of_bag["negation"] < 0.4 < 0.8 < of_bag["plain"],
)

# %% [markdown]
# Both of our reviews get the same probability of being good. They have to: the same words, the same sum. And a *not* is no help, since no number for it can turn *good* down and *bad* up.

# %% [markdown]
# ## The idea
#
# *3 minutes.* To read is to forget on purpose, and the art is to forget the right things. A model that reads takes four steps, and may forget at three of them:
#
# 1. A text is cut into **tokens**. A word for which there is none is lost.
# 2. Tokens become vectors, and look at each other. A bag of words leaves this out, and with it the order.
# 3. **Pooling** makes one vector of many. *Where* something was is forgotten.
# 4. The answer is one of a few. How sure the model was is mostly forgotten, too.

# %% tags=["mechanism"] mystnb={"figure": {"caption": "From a text to an answer.", "name": "fig-text-road"}, "image": {"alt": "From above: a box with the whole sentence, the plot was not good but the music was great; a row of ten boxes with its words; below each word a vector of three numbers; arrows from all ten into a single vector; and an arrow to a box, it is good. The five stages are called text, tokens, reading, pooling and answer."}}
mechanisms.road(PAIR[0], "it is good")
plt.show()

# %% [markdown]
# ## Step by step
#
# ### Which symbols?
#
# *14 minutes, most of them yours.* A network wants numbers, so a text has to become symbols. **Characters** are few, and none is ever unknown. But rows of them are long, and *not* is three symbols that someone has to put together. **Words** make short rows. But each needs a vector of its own, and one that wasn't in the training set has none: names, typing errors and *unfunny* all become the same `<unk>`.
#
# Today's reader does well with words. What you write in this section is for tomorrow, when a writer needs a token for everything. ([Today](deeper/08_text_classification.ipynb#deeper-subwords) such tokens neither help nor harm.)

# %% tags=["mechanism"] mystnb={"figure": {"caption": "One text, three ways to cut it, the last of them an example. Hatched: a word that was not in the training set. Right: the number of tokens.", "name": "fig-three-cuts"}, "image": {"alt": "The text an unfunny plot three times. As characters it is 15 cells; as words three, of which unfunny is hatched; as subwords five: an, un, fun, ny, plot. Each piece stands under its letters."}}
example, subwords = "an unfunny plot", "an un fun ny plot".split()
rows = {"characters": list(example), "words": example.split(), "subwords": subwords}
mechanisms.cuts(example, rows, unknown={"unfunny"})
plt.show()

# %% [markdown]
# **Subwords** lie between: frequent words stay whole, rare ones come in pieces. Which pieces? Count. Begin with letters, or rather with the bytes in which a file holds them {cite}`radford2019language`: 256 different ones are enough for any language. Find the two tokens that are neighbours most often, and make one token of them. Repeat a few thousand times. This is **byte-pair encoding** {cite}`sennrich2016neural`.

# %% tags=["mechanism"] mystnb={"figure": {"caption": "Byte pairs: four merges in three words. In strong colour what was merged just now. No merge crosses from word to word.", "name": "fig-merging"}, "image": {"alt": "Five rows of cells over the letters of three words, the, other and mother, with gaps between the words. First 14 single letters; then h and e become he, three times; t and he become the; o and the become othe; othe and r become other. In the last row are four pieces: the, other, m, other."}}
three = [list(word.encode()) for word in ("the", "other", "mother")]
letters = {byte: chr(byte) for byte in range(256)}
rows = [[[letters[token] for token in word] for word in three]]
for new in range(256, 260):
    (one, other), three = tokens.merge_step(three, [1, 1, 1], new)
    letters[new] = letters[one] + letters[other]
    rows.append([[letters[token] for token in word] for word in three])
mechanisms.merging(rows)
plt.show()

# %% [markdown]
# ```{exercise} One merge
# :label: exercise-merge-step
#
# *10 minutes.* Write one such step. The text is given as its distinct words, lists of tokens, and how often each occurs. Count the pairs of neighbours, merge the most frequent one (of equally frequent pairs, the lowest, as Python compares tuples) into the token `new`, from left to right. `itertools.pairwise` gives the neighbours of a list.
# ([Solution](solutions/08_text_classification.ipynb#solution-merge-step))
# ```


# %%
def merge_step(words, counts, new):
    """Distinct words, each a list of tokens; the i-th occurs counts[i] times.

    Returns: the pair that was merged, and the words with `new` in its place.
    """
    raise NotImplementedError


merge_step = check("merge_step", merge_step)

# %%
check.show_reference("merge_step")

# %% [markdown]
# Now it reads 50 kB of what five libraries say in their documentation.

# %%
real = libraries.sentences()
text = " ".join(sentence.text for sentence in real.train)[:50_000]
cut, counts = tokens.byte_words(text)
merges = []
for new in range(256, 456):
    pair, cut = merge_step(cut, counts, new)
    merges.append(tuple(pair))

# %% [markdown]
# Two hundred merges. How is a word read with them, even one that wasn't there when they were learned? The same way, merge by merge.
#
# ```{exercise} A new word
# :label: exercise-encode-word
#
# *6 minutes.* Encode a word, given as a list of bytes: apply the merges in the order in which they were learned, the i-th makes the token 256 + i. `tokens.replace_pair(word, pair, new)` replaces a pair from left to right.
# ([Solution](solutions/08_text_classification.ipynb#solution-encode-word))
# ```


# %%
def encode_word(word, merges):
    """A list of bytes to a list of tokens; the i-th merge makes token 256 + i."""
    raise NotImplementedError


encode_word = check("encode_word", encode_word)

# %%
check.show_reference("encode_word")

# %%
spelled = [bytes([byte]) for byte in range(256)]
for one, other in merges:
    spelled.append(spelled[one] + spelled[other])


def pieces(word):
    return [spelled[token] for token in encode_word(list(word.encode()), merges)]


# %% tags=["evidence"]
rows = []
for word in (" function", " normalization", " unfunny", " Shakespeare", " 好"):
    shown = [piece.decode(errors="replace").replace(" ", "␣") for piece in pieces(word)]
    rows.append([word.strip(), " · ".join(shown), len(shown)])
table(rows, ["word", "its pieces", "number"])

# %% [markdown]
# Nothing is unknown. At worst a word is written in bytes, as 好, which has three. A space belongs to the word that follows. What is the price?

# %%
learned = tokens.learn_merges_indexed(" ".join(s.text for s in real.train), 3000)  # as you, faster
held = [sentence.text for sentence in real.validation]
per_sentence = {}
for n in (10, 30, 100, 300, 1000, 3000):
    pairs = tokens.BytePairs.from_merges(learned[:n])
    per_sentence[n] = fmean(len(pairs.encode(text)) for text in held)
in_words, characters = fmean(len(tokens.words(text)) for text in held), fmean(map(len, held))
known = {word for sentence in real.train for word in sentence.words}
new_words = [word not in known for sentence in real.validation for word in sentence.words]

# %% tags=["evidence"] mystnb={"figure": {"caption": "Tokens per sentence of the five libraries, by the number of merges: means over the validation set. Dashed: words. The horizontal axis is logarithmic.", "name": "fig-token-counts"}, "image": {"alt": "A falling curve over the number of merges from 10 to 3000, from about 70 tokens a sentence down to about 23, towards a dashed line below at about 17 words."}}
lines = {"byte pairs": (list(per_sentence), list(per_sentence.values()))}
ax = curves(lines, "merges", "tokens per sentence", logx=True)
ax.axhline(in_words, color=INK, lw=1, ls="--")
ax.set_ylim(0)
plt.show()

# %% tags=["evidence"]
observe(
    "A sentence is {characters:.0f} characters, {pairs:.0f} byte pairs after 3,000 merges, or {words:.0f} words. But {unknown:.1%} of the words in new modules were never seen before, though names are masked.",
    characters=characters,
    pairs=per_sentence[3000],
    words=in_words,
    unknown=fmean(new_words),
    holds=3 * per_sentence[3000] < characters and in_words < per_sentence[3000] and any(new_words),
)

# %% [markdown]
# ### A bag, and how far it gets
#
# *6 minutes.* Back to the reviews, whose words are few and known. Our bag weighs each word before it adds it up. A word that is in every text says little, one that is in few says much. Let word $i$ be in a text $c_i$ times, and in $n_i$ of all $n$ texts. Its **TF-IDF** (term frequency, inverse document frequency) is
#
# $$
# x_i = c_i \left(1 + \ln \frac{1 + n}{1 + n_i}\right) ,
# $$ (eq-tfidf)
#
# and then each text's numbers are scaled to the length 1. The second factor goes back to {cite:t}`sparckjones1972statistical`. Its 1s are scikit-learn's: the first keeps a word of every text from counting nothing, the others keep us from dividing by 0. Logistic regression learns a weight for each $x_i$.

# %% tags=["mechanism"] mystnb={"figure": {"caption": "Two reviews, one bag. Whatever is done with these counts, both get the same answer.", "name": "fig-bags"}, "image": {"alt": "Above, the words of the plot was not good but the music was great, below, those of the plot was good but the music was not great. From all words arrows lead to a row of counts between them: but 1, good 1, great 1, music 1, not 1, plot 1, the 2, was 2. Both sets of arrows lead to the same counts."}}
mechanisms.bags(*PAIR)
plt.show()

# %% [markdown]
# Was the bag badly trained, or is it blind? We needn't guess. The grammar can write *every* review (with two words of each sort, [which changes nothing](deeper/08_text_classification.ipynb#deeper-ceilings)), so we can ask how many others have the same bag, and what they say. Where half of them say good, nobody who sees the bag alone can be right in more than half.

# %% tags=["view"]
most = reviews.ceiling(reviews.windows(1))
guess(
    "What share of the reviews can anyone get right, at most, who sees only their bags?",
    ["about 64 %, as ours", "75 %", "over 90 %"],
    right="75 %" if 0.7 < most < 0.8 else "over 90 %",
    because=f"{most:.0%}. Of all reviews, {2 - 2 * most:.0%} share their bag with just as many of the opposite verdict, and half of these are lost.",
)

# %% [markdown]
# So ours fails twice. It is blind to the order, which costs a quarter. And it can only *add*. Even where the bag would tell, a sum can't turn over what a *not* turns over. Day 6's desk could: it isn't linear. But what the bag has lost, no desk brings back. How much order is needed? We count the same for **windows** of a few words, all that a convolution of Day 1 can see.

# %%
shares = {"trained bag": of_bag["all"], "any bag": most}
for size in (2, 3, 4):
    shares[f"windows of {size}"] = reviews.ceiling(reviews.windows(size))

# %% tags=["evidence"] mystnb={"figure": {"caption": "Reviews that are right. The first bar is the trained bag of words; the others are ceilings, counted over all reviews that the grammar writes. Dashed: a guess.", "name": "fig-ceilings"}, "image": {"alt": "Five bars. The trained bag reaches 64 percent. The ceiling of a bag is 75 percent, that of windows of two and of three words 89 percent, of windows of four 100 percent."}}
ax = bars({name: 100 * share for name, share in shares.items()}, "right (%)")
ax.axvline(50, color=INK, lw=1, ls="--")
plt.show()

# %% [markdown]
# Two words catch *truly good*, what stands beside a *but*, and a *not* right before its word. Three catch no more. In "I would **not** call the **plot** good but I would call the music great", from *not* to *plot* it takes four words, so three don't tell which half is turned over. For this grammar, four are enough. But somebody has to know that in advance. A look reaches all words, however far they are.

# %% [markdown]
# ### Many texts at once
#
# *8 minutes, half of them yours.* Texts differ in length, and a batch is a rectangle. So short texts are filled up with **padding**. If texts of similar length are put together, there is less to fill up: we shuffle them, sort a pool of some batches by length, and take the batches in random order.

# %% tags=["mechanism"] mystnb={"figure": {"caption": "Eight texts in batches of two: a row is a text, a cell a word, hatched is padding.", "name": "fig-text-batches"}, "image": {"alt": "Two columns of four batches of two rows of cells. On the left, as they come, 20 of 76 places are hatched; on the right, sorted by length, 6 of 62."}}
mechanisms.padded([3, 9, 5, 7, 4, 12, 6, 10], batch_size=2)
plt.show()

# %% [markdown]
# Padding must not count. Day 5's mask keeps it out of the looks. It has to be kept out once more, where the vectors of all words become one. We take their mean. In a batch, text $b$ has $n_b$ words:
#
# $$
# \bar x_b = \frac{1}{n_b} \sum_{t=1}^{n_b} x_{b,t} .
# $$ (eq-masked-mean)

# %% tags=["mechanism"] mystnb={"figure": {"caption": "A batch of two texts, pooled. Left, columns are words, white ones padding. Right, the mean over all places, in which the short text is diluted.", "name": "fig-pooled-texts"}, "image": {"alt": "Two rows. Above, not so good: three columns of two numbers, 1 2, 3 0 and 2 4, lead to their mean 2 2, on both sides the same. Below, great: one column 4 2 and two white ones 1 0; the mean over the real word is 4 2, that over all places 2 0.67, beside which stands: diluted."}}
vectors = torch.tensor([[[1.0, 2], [3, 0], [2, 4]], [[4, 2], [1, 0], [1, 0]]])  # (B, T, D)
n_words = [3, 1]
ax = sheet(6.5)
for x, title in ((9.0, "real words"), (12.8, "all places")):
    note(ax, (x + 0.3, 0.5), title, weight="bold")
for i, text in enumerate((("not", "so", "good"), ("great", "", ""))):
    y = 1.9 + 2.6 * i
    tints = 0.4 * (torch.arange(3) < n_words[i])
    word = cells(ax, (1.2, y), vectors[i].T, role="state", weights=tints, size=(1.5, 0.85))
    label(ax, word, "top", *text)
    over_real, over_all = vectors[i, : n_words[i]].mean(dim=0), vectors[i].mean(dim=0)
    mean = cells(ax, (8.7, y), over_real[:, None], role="state", weights=0.8, size=(1.2, 0.85))
    arrow(ax, word.at("right"), mean.at("left"))
    cells(ax, (12.5, y), over_all[:, None], role="state", weights=0.8, size=(1.2, 0.85))
    if over_all.ne(over_real).any():
        note(ax, (14.0, y + 0.85), "diluted", align="left")
plt.show()

# %% [markdown]
# ```{exercise} The mean of the words
# :label: exercise-masked-mean
#
# *5 minutes.* Write {eq}`eq-masked-mean` for a batch. ([Solution](solutions/08_text_classification.ipynb#solution-masked-mean))
# ```


# %%
def masked_mean(x, lengths):
    """Shapes: x (B, T, D), lengths (B,); returns (B, D).

    The first lengths[b] places of text b are words.
    """
    raise NotImplementedError


masked_mean = check("masked_mean", masked_mean)

# %%
check.show_reference("masked_mean")

# %% [markdown]
# ### The whole reader
#
# *6 minutes.* Now all of it, on one page. A block is Day 6's. The look is Day 5's, with its rotary positions, so that a word knows how far away another is. The mean is yours. What is left are a table of vectors, one for each token, and one matrix that answers.


# %%
class Block(nn.Module):
    """A look and a thought, each on a normed copy: x (B, T, D) to the same, and the weights."""

    def __init__(self, D, h, F):
        super().__init__()
        self.look = MultiHeadAttention(D, h, rotary=Rotary(D // h))
        self.think = nn.Sequential(nn.Linear(D, F), nn.ReLU(), nn.Linear(F, D))
        self.norms = nn.ModuleList(nn.LayerNorm(D) for _ in range(2))

    def forward(self, x, real):
        mask = real[:, None, None]  # (B, 1, 1, T): nobody looks at padding
        found, weights = self.look(self.norms[0](x), mask=mask, need_weights=True)
        x = x + found
        return x + self.think(self.norms[1](x)), weights


# %%
class Classifier(nn.Module):
    """Texts, ids (B, T) and lengths (B,), to logits (B, n_classes).

    If they are needed, also all weights (B, L, h, T, T).
    """

    def __init__(self, V, n_classes, D=48, h=4, F=96, L=2):
        super().__init__()
        self.tokens = nn.Embedding(V, D)
        nn.init.normal_(self.tokens.weight, std=D**-0.5)  # lengths near 1: no word is loud
        self.blocks = nn.ModuleList(Block(D, h, F) for _ in range(L))
        self.norm = nn.LayerNorm(D)  # blocks add to x: here all words count alike again
        self.output = nn.Linear(D, n_classes)

    def forward(self, ids, lengths=None, need_weights=False):
        B, T = ids.shape
        lengths = torch.full((B,), T) if lengths is None else lengths
        real = torch.arange(T) < lengths[:, None]  # (B, T)
        x, looks = self.tokens(ids), []
        for block in self.blocks:
            x, weights = block(x, real)
            looks.append(weights)
        logits = self.output(masked_mean(self.norm(x), lengths))
        return (logits, torch.stack(looks, dim=1)) if need_weights else logits


# %% [markdown]
# We train it as on Day 6, with Adam and a learning rate that rises and falls.


# %% tags=["training"]
def train(model, task, epochs, rate):
    ids = [task.vocabulary.encode(text) for text in task.train.texts]
    batches = BucketedBatches(ids, task.train.labels, batch_size=64, shuffle=True)
    optimiser, schedule = rise_and_fall(model, rate, epochs * len(batches))
    return fit(model, batches, cross_entropy, optimiser, epochs=epochs, schedule=schedule)


torch.manual_seed(0)
reader = Classifier(len(task.vocabulary), n_classes=2)
history = train(reader, task, epochs=8, rate=3e-3)


# %%
def says(model, texts, vocabulary):
    """Logits (n, n_classes) for texts, as their words."""
    return reading.logits_of(model, [vocabulary.encode(text) for text in texts])


of_reader = by_kind(says(reader, task.validation.texts, task.vocabulary).argmax(-1))
verdicts = says(reader, [review.split() for review in PAIR], task.vocabulary).softmax(-1)[:, 1]

# %% tags=["evidence"]
observe(
    "After eight passes the reader gets {all:.1%} of the new reviews right; no bag of words gets more than {bag:.0%}. Of our two, which it had never read, it says “good” with {first:.1%} and with {second:.1%}.",
    all=of_reader["all"],
    bag=most,
    first=verdicts[0].item(),
    second=verdicts[1].item(),
    holds=of_reader["all"] > most + 0.1
    and min(of_reader.values()) > 0.8
    and verdicts[0] > 0.5 > verdicts[1]
    and not {*PAIR} & {" ".join(review.words) for review in corpus.train},
)

# %% tags=["evidence"] mystnb={"figure": {"caption": "Right answers by kind of review. *Negated contrast* is the kind of our pair; in *strength* the stronger of two opinions decides.", "name": "fig-by-kind"}, "image": {"alt": "Two bar charts over five kinds of reviews. The bag of words is near 100 percent for plain ones, below 10 for negation, near 50 for the others; the reader is near 100 for all."}}
axes = plt.subplots(1, 2, figsize=(7.2, 3.2), sharey=True)[1]
for ax, (name, of) in zip(axes, {"bag of words": of_bag, "reader": of_reader}.items()):
    bars({kind: 100 * of[kind] for kind in reviews.KINDS}, f"{name}: right (%)", ax=ax)
plt.show()

# %% [markdown]
# The bag gave both reviews the same number. The reader tells them apart, and has learned all five kinds.

# %% [markdown]
# ## Is it right?
#
# *1 minute.* The library's encoder hands its weights to yours. It has no rotary positions, so for once the looks do without.


# %% tags=["evidence"]
torch.manual_seed(1)
how = {"dim_feedforward": 20, "dropout": 0.0, "batch_first": True, "norm_first": True}
layer = nn.TransformerEncoderLayer(12, 3, **how)
library = nn.TransformerEncoder(layer, 2, nn.LayerNorm(12), enable_nested_tensor=False).double()
ours = Classifier(11, 5, D=12, h=3, F=20).double()
for mine, theirs in zip(ours.blocks, library.layers):
    mine.look.rotary = None
    mine.look.load_library(theirs.self_attn)
    mine.think[0].load_state_dict(theirs.linear1.state_dict())
    mine.think[2].load_state_dict(theirs.linear2.state_dict())
    mine.norms[0].load_state_dict(theirs.norm1.state_dict())
    mine.norms[1].load_state_dict(theirs.norm2.state_dict())

# %% tags=["evidence"]
ids, lengths = pad([[3, 4, 5, 6, 7], [8, 9]])
hidden = torch.arange(5) >= lengths[:, None]
read = library(ours.tokens(ids), src_key_padding_mask=hidden)
expected = torch.stack([row[:n].mean(dim=0) for row, n in zip(read, lengths)])
torch.testing.assert_close(ours(ids, lengths), ours.output(expected), rtol=1e-10, atol=1e-10)
print("the logits agree with nn.TransformerEncoder, averaged text by text: ten digits")

# %% [markdown]
# Gradients and rotary positions are on the [deeper page](deeper/08_text_classification.ipynb#deeper-reader-right).

# %% [markdown]
# ## Train it
#
# *8 minutes.* A grammar is tidy. People aren't. Here is what the authors of five libraries write in their documentation. Names are masked as `<name>`, numbers as `<number>`. Which library says it?

# %% tags=["view"]
(heard,) = [said for said in real.train if "fanbelts" in said.words]
guess(
    f"“{heard.text}” Who says so?",
    list(libraries.LIBRARIES),
    right=libraries.LIBRARIES[heard.label],
    because=f"It is an example in {heard.module}. No library is about cars, but scipy's statistics take their examples from life.",
)

# %% [markdown]
# No module of a library is in two of the parts, and near copies of a sentence are left out. Otherwise a model that has learned *sentences* would look as if it had learned the library ([how many would be on both sides](deeper/08_text_classification.ipynb#deeper-library-leak)).
#
# Words that occur once in the training set become `<unk>`, so that the reader learns what to make of one; the bag leaves them out.

# %% tags=["training"]
task_5 = reading.as_task(real.train, real.validation, real.test, least=2)
bag_5 = make_pipeline(
    TfidfVectorizer(analyzer=list, min_df=2), LogisticRegression(C=3.0, max_iter=2000)
)
bag_5.fit(task_5.train.texts, task_5.train.labels)
torch.manual_seed(0)
reader_5 = Classifier(len(task_5.vocabulary), n_classes=5)
history = train(reader_5, task_5, epochs=3, rate=2e-3)

# %%
said_5 = {"bag": torch.from_numpy(bag_5.predict_log_proba(task_5.validation.texts))}
said_5["reader"] = says(reader_5, task_5.validation.texts, task_5.vocabulary)
true_5, right_5 = task_5.validation.labels, {}
for name, logits in said_5.items():
    right_5[name] = (logits.argmax(-1) == true_5).double().mean().item()

# %% tags=["evidence"]
observe(
    "The bag names the right library for {bag:.0%} of {n:,} validation sentences, the reader for {reader:.0%}. A guess would for 20 %.",
    n=len(true_5),
    **right_5,
    holds=0.4 < right_5["reader"] < right_5["bag"] + 0.05,
)

# %% [markdown]
# A bag keeps up with it! But one run at one rate says little. So a stored experiment tuned both with the same care: four settings each, chosen on the validation set, on few examples and on many, then once on the test set. (Its reader has dropout, and three seeds; a bag needs none.)

# %% tags=["evidence"] mystnb={"figure": {"caption": "Right answers on the test sets, 1,000 reviews and 1,370 sentences, by the number of texts to learn from: means and ranges of three seeds (stored experiment). Horizontal axes are logarithmic.", "name": "fig-by-examples"}, "image": {"alt": "Two diagrams over 500, 1,700 and 6,000 texts. On the reviews the bag stays near 60 percent, the reader rises from below 70 to nearly 100. On the libraries' sentences both rise together, from about 45 to nearly 60 percent for the bag, a few points less for the reader."}}
stored, ends = experiments.load("classifiers"), {}
n_train = stored.parameters["n_train"]
called = {"bag": "bag of words", "reader": "Transformer"}
axes = plt.subplots(1, 2, figsize=(7.2, 3.4))[1]
for ax, where in zip(axes, ("reviews", "libraries")):
    found = {name: stored.column("test", task=where, model=of) for name, of in called.items()}
    lines = {name: (n_train, 100 * torch.tensor(runs).T) for name, runs in found.items()}
    curves(lines, "texts", "right (%)", logx=True, ax=ax).set_title(where)
    ax.set_xticks(n_train, n_train, minor=False)
    ax.minorticks_off()
    ends |= {f"{name}_{where}": fmean(runs[-1]) for name, runs in found.items()}
plt.show()

# %% tags=["evidence"]
observe(
    "With 6,000 texts the reader gets {reader_reviews:.1%} of the reviews right, the bag {bag_reviews:.1%}. Of the libraries' sentences the reader gets {reader_libraries:.1%}, the bag {bag_libraries:.1%}.",
    **ends,
    holds=ends["reader_reviews"] > 0.95 > 0.75 > ends["bag_reviews"]
    and ends["reader_libraries"] < ends["bag_libraries"]
    and (len(corpus.test), len(real.test)) == (1000, 1370),
)

# %% [markdown]
# So there is no better reader, only a better reader *for something*. Where order decides, the bag is blind. Where single words give the author away, no reader here gains from order, and a sum of words is ahead by a few points. Nor are looks the only way to see order: Day 3's LSTM, from both ends, does at least as well on the reviews, and needs fewer of them ([six models](deeper/08_text_classification.ipynb#deeper-six) side by side). All of them learned from scratch. Pretrained on billions of words, it is another matter, which isn't tried here.

# %% [markdown]
# ## Look inside
#
# *14 minutes, some of them yours.* First, what went wrong? Which library was taken for which? Most often numpy and scipy, each for the other.

# %% tags=["evidence"] mystnb={"figure": {"caption": "Validation sentences of the five libraries (rows), and what the bag of words said (columns).", "name": "fig-libraries-confused"}, "image": {"alt": "A map of five rows and five columns with numbers. The diagonal is brightest. Off it, numpy and scipy are most often exchanged; sklearn is told best."}}
confused = torch.zeros(5, 5)
for pair in zip(true_5.tolist(), said_5["bag"].argmax(-1).tolist()):
    confused[pair] += 1
assert (confused + confused.T).triu(1).argmax() == 5 * 1 + 2  # numpy and scipy
marks = {"rows": libraries.LIBRARIES, "columns": libraries.LIBRARIES}
heat_map(confused, xlabel="said", ylabel="true", annotate=True, **marks)
plt.show()

# %% [markdown]
# ### Which words decided?
#
# Why does a model say what it says? The plainest way to ask: **leave one out**. Take a word away, and see how much less probable the answer $y$ becomes {cite}`li2016understanding`:
#
# $$
# s_t = \ln p(y \mid x) - \ln p(y \mid x \text{ without } x_t) .
# $$ (eq-leave-one-out)

# %% tags=["mechanism"] mystnb={"figure": {"caption": "Leaving one out, with a judge so simple that one can follow it. It says how much speaks for *bad*: *great* counts −1, but with a *not* it counts 1.", "name": "fig-leave-one-out"}, "image": {"alt": "Six rows of the sentence the music was not great. In the first nothing is struck out, and the judge says 1. In each of the others one word is struck out: without the, music or was it still says 1, a score of 0; without not it says -1, a score of 2; without great 0, a score of 1."}}
sentence = "the music was not great".split()


def judge(text):
    return (1 if "not" in text else -1) * ("great" in text)


ax = sheet(7.7)
for i in range(len(sentence) + 1):
    left = [word for t, word in enumerate(sentence) if t != i - 1]
    struck = [[t == i - 1 for t in range(len(sentence))]]
    y = 1.1 + 1.1 * i
    cells(ax, (0.4, y), [sentence], struck=struck, size=(1.9, 0.85))
    note(ax, (11.6, y + 0.42), f"{judge(left)}".replace("-", "−"))
    if i:
        score = judge(sentence) - judge(left)
        shown = [[f"{score}".replace("-", "−")]]
        cells(ax, (13.6, y), shown, role="key", weights=abs(score) / 2)
for x, title in ((11.6, "says"), (14.1, "score")):
    note(ax, (x, 0.5), title, weight="bold")
plt.show()

# %% [markdown]
# ```{exercise} Leave one out
# :label: exercise-left-out-words
#
# *5 minutes.* Give each word of a text its score {eq}`eq-leave-one-out`. The model makes logits (B, n_classes) of ids (B, T). ([Solution](solutions/08_text_classification.ipynb#solution-left-out-words))
# ```


# %%
def leave_one_out(model, text, label):
    """Shapes: text (T,), ids; returns the scores (T,) of its words, for one label."""
    raise NotImplementedError


leave_one_out = check("left_out_words", leave_one_out)

# %%
check.show_reference("left_out_words")

# %% [markdown]
# For the grammar's reviews we know which words decide. So other ways to ask can be put beside it: the **gradient** at a word's vector, times the vector, which guesses from the slope what would change {cite}`denil2014extraction`; and **attention**, the weight with which a word is looked at. Choose a review and a method. What decides is marked.

# %% tags=["view"]
pair = [
    reviews.Review(tuple(PAIR[0].split()), 1, "negated contrast", decides=(9,)),
    reviews.Review(tuple(PAIR[1].split()), 0, "negated contrast", decides=(8, 9)),
]
short = [r for r in corpus.validation if len(r.words) < 12]
others = [next(r for r in short if r.kind == kind) for kind in list(reviews.KINDS)[1:]]

# %% tags=["view"]
asked = []
for review in pair + others:
    ids = torch.tensor(task.vocabulary.encode(review.words))
    p = reader(ids[None]).detach().softmax(dim=-1)[0]
    said = int(p.argmax())
    scores = {
        "leave one out": leave_one_out(reader, ids, said).tolist(),
        "gradient × input": gradient_times_input(reader, reader.tokens, ids, said).tolist(),
        "attention": attention_received(reader, ids).tolist(),
    }
    answers = {"answer": VERDICTS[said], "right": VERDICTS[review.label]}
    decides = reviews.deciding(review)
    asked.append(
        Reading(review.words, probability=p[said], scores=scores, decides=decides, **answers)
    )

# %% tags=["view"]
decided(asked)

# %% [markdown]
# Where a word that decides scores 0, this reader needs less than the grammar does. But six reviews are few. So a stored experiment asked three other readers about 300 reviews each. How often is the word with the highest score one that decides?

# %% tags=["view"]
marked = experiments.load("decided")
ways = "leave-one-out", "gradient × input", "attention", "attention, last layer", "chance"
highest = {way: marked.column(f"{way}, highest", model="Transformer") for way in ways}
share = {way: fmean(found) for way, found in highest.items()}
worst = min(ways[:3], key=share.get)
guess(
    "Which of the three finds such a word least often?",
    list(ways[:3]),
    right=worst,
    because=f"In {share[worst]:.0%} of the reviews. A word picked at random decides in {share['chance']:.0%}.",
)

# %% tags=["evidence"] mystnb={"figure": {"caption": "In how many of 100 reviews the word with the highest score is one that decides: means of three readers, lines from the lowest to the highest (stored experiment).", "name": "fig-ways"}, "image": {"alt": "Five bars. Leave-one-out is near 93, gradient times input near 27, attention over all blocks near 89, attention of the last block near 60 with a wide range, chance at 16."}}
named = {way.replace("layer", "block"): found for way, found in highest.items()}
bars({way: [100 * one for one in found] for way, found in named.items()}, "found (%)")
plt.show()

# %% [markdown]
# Leaving words out comes first. But what decides was defined by leaving out, so this exam suits it. Attention, averaged over all heads and blocks, is close behind; its last block alone isn't. And the slope misleads. A likely reason: each block reads its input through a norm, which takes every vector's length away, so a vector that shrinks a little says nearly the same as before. [In an LSTM](deeper/08_text_classification.ipynb#deeper-decided), which has no norms, the slope works. We could find all this out because a grammar knew the truth. For real sentences nobody does.

# %% [markdown]
# ### How sure is it?
#
# The softmax gives probabilities. Are they? Of all answers that a model gives with 80 % confidence, four in five should be right: then it is **calibrated** {cite}`guo2017calibration`. A reliability diagram sorts answers by their confidence, and asks how many of each bin are right.
#
# If a model is too sure, one number helps. Divide the logits by a temperature $\tau$, as on Day 2, chosen on sentences that weren't used in training:
#
# $$
# p = \operatorname{softmax}(z / \tau) .
# $$ (eq-calibrated)
#
# Above 1, every answer becomes less sure, and none changes. We choose $\tau$ on every other module of the validation set, and measure on the rest.

# %%
modules = sorted({sentence.module for sentence in real.validation})
fitted = torch.tensor([modules.index(s.module) % 2 == 0 for s in real.validation])
tau = fit_temperature(said_5["reader"][fitted], true_5[fitted])
rest, true_rest = said_5["reader"][~fitted], true_5[~fitted]
judged = {"as trained": rest, "divided by τ": rest / tau, "bag": said_5["bag"][~fitted]}
bins = {name: reliability(logits, true_rest, n_bins=5) for name, logits in judged.items()}
off = {name: expected_calibration_error(logits, true_rest) for name, logits in judged.items()}

# %% tags=["evidence"] mystnb={"figure": {"caption": "How sure the reader is of its answers, in five bins (empty ones are left out), and how often it is right. The larger a disc, the more answers. On the dashed line the reader would be calibrated.", "name": "fig-reliability"}, "image": {"alt": "Two curves of discs over the confidence from 0.2 to 1. As trained, most discs lie below the dashed diagonal, and the largest is at the right. Divided by the temperature the discs move to the left, and lie nearer to the diagonal on average."}}
lines = {name: (bins[name].confidence, bins[name].accuracy) for name in list(bins)[:2]}
ax = curves(lines, "confidence", "share right")
for line, of in zip(ax.lines, bins.values()):
    ax.scatter(of.confidence, of.accuracy, s=of.count, color=line.get_color())
ax.plot([0.2, 1], [0.2, 1], color=INK, lw=1, ls="--", marker="")
plt.show()

# %% tags=["evidence"]
observe(
    "In 15 bins, the reader's confidence and accuracy are {before:.0%} apart on average. Divided by τ = {tau:.2f}, {after:.0%}; the bag's are {bag:.0%} apart, with no temperature at all.",
    before=off["as trained"],
    tau=tau,
    after=off["divided by τ"],
    bag=off["bag"],
    holds=off["as trained"] > max(off["divided by τ"], off["bag"]) + 0.02,
)

# %% [markdown]
# On average that helps. But one number can't bend a curve: it makes all answers less sure, also those that were not too sure.

# %% [markdown]
# ## Show someone
#
# *4 minutes.* Write a sentence of your own, as if you described what some function does. It says which library speaks, and which words gave it away.
#
# The bag speaks here, since it did better on validation. That also makes it easy to say why: each word has its number.

# %% tags=["view"]
counted, weighed = bag_5
which_library(
    counted.get_feature_names_out(),
    counted.idf_,
    weighed.coef_.T,
    weighed.intercept_,
    libraries=libraries.LIBRARIES,
    names=libraries.NAMES,
    sentence="Returns a copy of the points, in random order.",
)

# %% [markdown]
# Or, in JupyterLab:


# %%
def who_says(sentence):
    """The libraries, the most probable first, each with its probability."""
    p = bag_5.predict_proba([libraries.masked(sentence)])[0].tolist()
    return sorted(zip(libraries.LIBRARIES, p), key=lambda pair: -pair[1])


for library, p in who_says("Draw a line from the first to the last point, in the given colour."):
    print(f"{library:12}{p:4.0%}")

# %% [markdown]
# ## Where it breaks
#
# *3 minutes.* Ask the reader which word comes after "the music was". It has no answer: how good and how bad is all that it can say.
#
# And it must name a class, whatever it is given: a recipe gets a library, and a percentage.
#
# It also learns from little. Somebody has to say what each text is, and of that one answer the whole network lives.

# %% tags=["mechanism"] mystnb={"figure": {"caption": "What a text can teach. Above, one answer for the whole of it, as today. Below, an answer at each place: the next word.", "name": "fig-one-answer"}, "image": {"alt": "Two rows of the five words the music was not great. In the upper one arrows from all words lead to one box, bad. In the lower one an arrow leads from each word to a box with the next word: music, was, not, great, and a full stop."}}
ax = sheet(8.0)
verdict = box(ax, (6.6, 0.2), "bad", (2.4, 0.85), role="key")
for i, (word, following) in enumerate(zip(sentence, [*sentence[1:], "."])):
    x = 0.6 + 3.0 * i
    arrow(ax, box(ax, (x, 1.9), word, (2.4, 0.85)).at("top"), verdict.at("bottom"))
    below = box(ax, (x, 6.1), word, (2.4, 0.85))
    above = box(ax, (x, 4.4), following, (2.4, 0.85), role="key")
    arrow(ax, below.at("top"), above.at("bottom"))
note(ax, (8.0, 3.2), "one answer, and somebody had to give it")
note(ax, (8.0, 7.4), "five answers, and the text gives them itself")
plt.show()

# %% tags=["evidence"]
n_words = sum(map(len, task_5.train.texts))
observe(
    "From {sentences:,} sentences of the libraries the reader got as many answers. The same sentences hold {words:,} next words.",
    sentences=len(task_5.train.texts),
    words=n_words,
    holds=n_words > 10 * len(task_5.train.texts),
)

# %% [markdown]
# What if the question were the text itself: which word comes next? Every place would be a question, its answer would stand beside it, and nobody would have to label anything.

# %% [markdown]
# ## What we found
#
# *2 minutes.* Three sentences that one often reads, and our answers. Three more are on the [deeper page](deeper/08_text_classification.ipynb).
#
# (claim-cls-1)=

# %% tags=["evidence"]
lstm = fmean(stored.column("test", task="reviews", model="BiLSTM")[-1])
claim(
    "cls-1",
    "No: it gets {reader:.1%} of the reviews right, an LSTM {lstm:.1%}; of the libraries' sentences {reader_5:.1%}, a bag of words {bag_5:.1%}.",
    reader=ends["reader_reviews"],
    lstm=lstm,
    reader_5=ends["reader_libraries"],
    bag_5=ends["bag_libraries"],
    holds=lambda reader, lstm, reader_5, bag_5: lstm >= reader and bag_5 > reader_5 > 0.3,
    experiment="classifiers",
    scale="small networks, trained from scratch on 6,000 texts, four settings each, three seeds",
)

# %% [markdown]
# (claim-cls-3)=

# %% tags=["evidence"]
claim(
    "cls-3",
    "Yes, if all blocks are averaged: the word with most attention decides in {all:.0%} of reviews. In the last alone, {last:.0%}; chance {chance:.0%}.",
    all=share["attention"],
    last=share["attention, last layer"],
    chance=share["chance"],
    holds=lambda all, last, chance: all > last + 0.15 and last > 2 * chance,
    experiment="decided",
    scale="300 reviews, three readers of two blocks; means over blocks, heads and words that look",
)

# %% [markdown]
# (claim-cls-6)=

# %% tags=["evidence"]
(row,) = stored.select(task="libraries", model="Transformer", n_train=n_train[-1])
before, after = (fmean(row[f"calibration error {when}"]) for when in ("before", "after"))
claim(
    "cls-6",
    "Yes, if divided by a temperature, and for sentences like those it was fitted on: confidence and accuracy are {before:.0%} apart without, {after:.0%} with it.",
    before=before,
    after=after,
    holds=lambda before, after: before > 0.08 and after < before / 2,
    experiment="classifiers",
    scale="a small Transformer, 6,000 sentences of five libraries, three seeds, 15 bins",
)

# %% [markdown]
# ## Exercises
#
# *As long as you like.* More are on the [deeper page](deeper/08_text_classification.ipynb), and all solutions on [a page of their own](solutions/08_text_classification.ipynb).
#
# ```{exercise} Predict: what a sum of words gets right
# :label: exercise-weighed-words
#
# *Warm-up, 5 minutes.* There are six texts, all equally likely: *good* and *bad*, *not good* and *not bad*, *good but bad* and *bad but good*. *Not* turns the verdict over, and after *but* comes what decides. Someone gives each word a number, and calls a text good if the sum is above 0. What share of the texts can this get right, at most?
# ([Solution](solutions/08_text_classification.ipynb#solution-weighed-words))
# ```

# %%
my_share = None

check("weighed_words", my_share)

# %% [markdown]
# ```{exercise} How far off is its confidence?
# :label: exercise-calibration-error
#
# *Core, 10 minutes.* The **expected calibration error** puts answers into $M$ equally wide bins of confidence, and averages over the bins, each by its share of the answers, how far apart accuracy and mean confidence are:
#
# $$
# \sum_{m=1}^{M} \frac{n_m}{n} \left|\, \text{accuracy}_m - \text{confidence}_m \right| .
# $$
#
# Bin $m$ holds what is above $(m - 1) / M$ and up to $m / M$.
# ([Solution](solutions/08_text_classification.ipynb#solution-calibration-error))
# ```


# %%
def calibration_error(confidence, right, n_bins: int) -> float:
    """Shapes: confidence (n,), above 0 and up to 1; right (n,), True or False."""
    raise NotImplementedError


check("calibration_error", calibration_error)

# %% [markdown]
# ```{exercise} TF-IDF by hand
# :label: exercise-tf-idf
#
# *Core, 8 minutes.* Make {eq}`eq-tfidf` of counts, and divide each text's weights by their Euclidean length. A text without words keeps its zeros.
# ([Solution](solutions/08_text_classification.ipynb#solution-tf-idf))
# ```


# %%
def tf_idf(counts):
    """Shapes: counts (n, V), how often each word is in each text; returns weights (n, V)."""
    raise NotImplementedError


check("tf_idf", tf_idf)

# %% [markdown]
# ## Checklist and tomorrow
#
# The points from the top, ticked when you have passed the exercises that test them.

# %% tags=["view"]
points = {
    "cut a text into tokens, and say what becomes of a word that nobody has seen": "merge_step encode_word",
    "weigh a word by how few texts hold it": "tf_idf",
    "say what a sum over words can't get right": "weighed_words",
    "average over the words of a text, and over nothing else": "masked_mean",
    "find out which words decided, by taking each away": "left_out_words",
    "measure how far a model's confidence can be trusted": "calibration_error",
}
checklist({point: ids.split() for point, ids in points.items()})

# %% [markdown]
# **Tomorrow** the same blocks say what comes next, and write.

# %% [markdown]
# ## Further reading
#
# - {cite:t}`sennrich2016neural`, who brought byte pairs to translation; the program is on half a page.
# - {cite:t}`wang2012baselines`, on how hard bags of words are to beat.
# - {cite:t}`guo2017calibration`, on networks that are too sure.
