# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Day 8: Text classification
#
# **Today's question:** what is this text about, and which of its words decide it?
#
# After today you can
#
# - split a text into tokens, and encode a word that was never seen in training,
# - weight a word by how few texts contain it,
# - work out how much a sum over words can get right,
# - average over the words of a text, and over nothing else,
# - find out which words decided, by leaving each one out.
#
# Today builds on [Day 5](05_self_attention.ipynb) (attention and masks) and on [Day 6](06_transformer.ipynb) (Transformer blocks). It takes 50 minutes to read and
# 35 to write four functions. At the end the page names the library that *your* sentence sounds like, and the words that gave it away.

# %% tags=["setup"]
import convolution_to_attention  # is `utils` this book's?

import random
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
# *4 minutes.* On Day 6 we translated, and yesterday we wrote, letter by letter. Today a text goes in and only **one** answer comes out: first a verdict, later the library that the text comes from. Read these two reviews.
#
# > the plot was **not** good but the music was great
# >
# > the plot was good but the music was **not** great
#
# Only the *not* has moved, and yet the verdict flips, because the opinion after the *but* decides. This pair will be our example all day.
#
# A small grammar writes such reviews, 6,000 of them for training. So we know the correct verdict for each of them. We even know which words **decide** it: take one away, and the grammar's rules leave the verdict open or reverse it.

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
table(rows, ["review", "verdict", "deciding words"])

# %% [markdown]
# The oldest way of reading counts a text's words and forgets their order: a **bag of words**. Each word has a learned weight, and the sum of the weights decides.


# %% tags=["training"]
bag = make_pipeline(TfidfVectorizer(analyzer=list), LogisticRegression(C=3.0, max_iter=2000))
bag.fit(task.train.texts, task.train.labels)
print("good:", bag.predict_proba([review.split() for review in PAIR])[:, 1].round(2))


# %%
def by_kind(said):
    """Share of the validation reviews classified correctly: of all, and of each kind."""
    right = torch.as_tensor(said) == task.validation.labels
    kinds = [review.kind for review in corpus.validation]
    found = {"all": right}
    for kind in reviews.KINDS:
        found[kind] = right[[one == kind for one in kinds]]
    return {kind: of.double().mean().item() for kind, of in found.items()}


of_bag = by_kind(bag.predict(task.validation.texts))

# %% tags=["evidence"]
observe(
    "The bag classifies {all:.0%} of 1,000 new reviews correctly; a coin would manage 50%. It gets {plain:.0%} of the plain ones right, but only {negation:.0%} of those with a single opinion and a *not* or *never*.",
    **{kind: of_bag[kind] for kind in ("all", "plain", "negation")},
    holds=of_bag["all"] < 0.75 and of_bag["negation"] < 0.4 < 0.8 < of_bag["plain"],
)

# %% tags=["view"]
weight = dict(zip(bag[0].get_feature_names_out(), bag[1].coef_[0]))
guess(
    "Each word has one weight: a positive weight points to a good review, and a negative one to a bad review. What is the weight of “not”?",
    ["far above 0", "far below 0", "close to 0"],
    right="close to 0" if abs(weight["not"]) < weight["good"] / 3 else "far below 0",
    because=f"It is {weight['not']:+.2f}, while “good” has {weight['good']:+.2f} and “bad” has {weight['bad']:+.2f}.",
)

# %% tags=["evidence"] mystnb={"figure": {"caption": "A bag can praise or blame, but it can't reverse an opinion: its weights for six words. Those of the two negations are near 0.", "name": "fig-bag-weights"}, "image": {"alt": "Six bars around 0. Excellent and good reach far to the right, bad and terrible far to the left; not and never stay close to 0."}}
six = "excellent", "good", "never", "not", "bad", "terrible"
bars({word: weight[word] for word in six}, "weight")
plt.show()

# %% tags=["evidence"]
observe(
    "The weights of *not* and *good* add up to {sum:+.1f}: *not good* counts as praise.",
    sum=weight["not"] + weight["good"],
    holds=max(abs(weight["not"]), abs(weight["never"])) < 0.5
    and min(weight["good"], weight["excellent"], -weight["bad"], -weight["terrible"]) > 1,
)

# %% [markdown]
# *Not* reverses what follows it, praise and blame alike. But the bag adds the same number whether *good* or *bad* follows, so the best number is close to 0. Where the only opinion is negated, the adjective still decides, and decides wrongly. And both of our reviews get the same probability, because the same words add up to the same sum.

# %% [markdown]
# ## The idea
#
# *1 minute.* Reading means forgetting on purpose, and the art is to forget the right things. A text classifier takes four steps, and may forget something at each:
#
# 1. A text is split into **tokens**. A word that has no token is lost.
# 2. Tokens become vectors and attend to each other. A bag of words skips this step, and so loses the order.
# 3. **Pooling** turns many vectors into one. The *position* of each word is forgotten.
# 4. The answer is one of a few classes. The model's confidence is mostly forgotten, too. ([Can it be trusted?](deeper/08_text_classification.ipynb#deeper-calibration))

# %% tags=["mechanism"] mystnb={"figure": {"caption": "A text becomes tokens, and each token becomes a vector; reading relates the vectors, pooling merges them into one, and that one gives the answer.", "name": "fig-text-road"}, "image": {"alt": "From top to bottom: a box with the whole sentence, “the plot was not good but the music was great”; a row of ten boxes with its words; below each word a vector of three numbers; arrows from all ten into a single vector; and an arrow to a box, “it is good”. The five stages are called text, tokens, reading, pooling and answer."}}
mechanisms.road(PAIR[0], "it is good")
plt.show()

# %% [markdown]
# ## Step by step
#
# ### Tokens: characters, words or subwords
#
# *29 minutes, 22 of them yours.* A network needs numbers, so a text has to become a sequence of symbols. **Characters** are few, and none is ever unknown. But they make long sequences: *not* is three symbols that the network has to put together first. **Words** make short sequences. But each needs a vector of its own, and a word that wasn't in the training set has none: names, typing errors and *unfunny* all become the same `<unk>`.
#
# Words are good enough for the reviews, whose grammar uses only a few of them. But at the end this page reads *your* sentence, and no one knows which words you will type. For that we need tokens from which any word can be built.

# %% tags=["mechanism"] mystnb={"figure": {"caption": "Subwords lie between characters and words: one text, split in three ways. (These subwords are made up.) Hatched: a word that was not in the training set. Right: the number of tokens.", "name": "fig-three-cuts"}, "image": {"alt": "The text “an unfunny plot” is shown three times. As characters it has 15 cells; as words it has three, of which unfunny is hatched; as subwords it has five: an, un, fun, ny, plot. Each piece is below its letters."}}
example, subwords = "an unfunny plot", "an un fun ny plot".split()
rows = {"characters": list(example), "words": example.split(), "subwords": subwords}
mechanisms.cuts(example, rows, unknown={"unfunny"})
plt.show()

# %% [markdown]
# **Subwords** are the compromise: frequent words stay whole, and rare ones are split into pieces. Which pieces? Start with the bytes that encode a text in a file {cite}`radford2019language`: 256 different ones are enough for any language. Find the most frequent pair of adjacent tokens, and merge it into one new token. Repeat a few thousand times. This is **byte-pair encoding** {cite}`sennrich2016neural`.

# %% tags=["mechanism"] mystnb={"figure": {"caption": "Four merges turn three words' letters into longer and longer pieces, the newest in strong colour. No merge crosses from one word to the next.", "name": "fig-merging"}, "image": {"alt": "Five rows of cells over the letters of three words, the, other and mother, with gaps between the words. The first row has 14 single letters. Below it, h and e become he, three times; t and he become the; o and the become othe; othe and r become other. In the last row are four pieces: the, other, m, other."}}
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
# ```{exercise} Byte-pair merge
# :label: exercise-merge-step
#
# *16 minutes.* Write one such merge. Given a text's distinct words, each a list of tokens, and how often each occurs, count the pairs of adjacent tokens, and replace the most frequent pair with the token `new`, from left to right. Return that pair and the new words. (If several pairs are equally frequent, take the smallest pair, as Python compares tuples.) `itertools.pairwise` (import it) yields the adjacent pairs of a list.
# ([Solution](solutions/08_text_classification.ipynb#solution-merge-step))
# ```


# %%
def merge_step(words, counts, new):
    """Distinct words, each a list of tokens; the i-th occurs counts[i] times.

    Returns: the merged pair, and the words with `new` in its place.
    """
    raise NotImplementedError


merge_step = check("merge_step", merge_step)

# %%
check.show_reference("merge_step")

# %% [markdown]
# Now run it on 30,000 characters of documentation from five libraries, in lower case and without punctuation.

# %%
real = libraries.sentences()
text = "\n".join(reading.plain(sentence.words) for sentence in real.train)
cut, counts = tokens.byte_words(text[:30_000])
merges = []
for new in range(256, 456):
    pair, cut = merge_step(cut, counts, new)
    merges.append(tuple(pair))

# %% [markdown]
# That makes two hundred merges. How do we split a word with them, even one that wasn't in that text? The same way, merge by merge.
#
# ```{exercise} Byte-pair encoding
# :label: exercise-encode-word
#
# *6 minutes.* Turn a word, a list of bytes, into a list of tokens: apply the merges in the order in which they were learned. Counting from 0, the i-th merge makes the token 256 + i. `tokens.replace_pair(word, pair, new)` replaces a pair from left to right.
# ([Solution](solutions/08_text_classification.ipynb#solution-encode-word))
# ```


# %%
def encode_word(word, merges):
    """Turn a list of bytes into a list of tokens; the i-th merge makes token 256 + i."""
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
# No word is unknown any more: at worst, it is spelled out in bytes, like 好. (A space belongs to the word after it.) What does all this cost?

# %%
learned = tokens.learn_merges_indexed(text, 3000)  # like yours, but faster
held = [sentence.words for sentence in real.validation]
per_sentence = {}
for n in (10, 100, 1000, 3000):
    pairs = reading.PairVocabulary(learned[:n])
    per_sentence[n] = fmean(len(pairs.encode(words)) for words in held)
in_words, characters = fmean(map(len, held)), fmean(len(reading.plain(words)) for words in held)
known = {word for sentence in real.train for word in sentence.words}
new_words = [word not in known for words in held for word in words]

# %% tags=["evidence"] mystnb={"figure": {"caption": "The more merges, the fewer tokens in a sentence: means over the validation set of the five libraries. Dashed: the number of words. The horizontal axis is logarithmic.", "name": "fig-token-counts"}, "image": {"alt": "A falling curve over the number of merges from 10 to 3000, towards a dashed line just below its end, the number of words."}}
lines = {"byte pairs": (list(per_sentence), list(per_sentence.values()))}
ax = curves(lines, "merges", "tokens per sentence", logx=True)
ax.axhline(in_words, color=INK, lw=1, ls="--")
ax.set_ylim(0)
plt.show()

# %% tags=["evidence"]
observe(
    "On average, a sentence has {characters:.0f} characters and {words:.0f} words; after 3,000 merges, it has {pairs:.0f} tokens. But {unknown:.1%} of the validation set's words were never seen in training, even though names are masked.",
    characters=characters,
    pairs=per_sentence[3000],
    words=in_words,
    unknown=fmean(new_words),
    holds=2.5 * per_sentence[3000] < characters
    and in_words < per_sentence[3000]
    and any(new_words),
)

# %% [markdown]
# ### TF-IDF, and how far a bag of words gets
#
# *4 minutes.* Back to the reviews. Our bag weights each word before adding it: a word that is in every text says little, and a word that is in few says a lot. Let word $i$ occur $c_i$ times in a text, and in $n_i$ of all $n$ texts. Its **TF-IDF** (term frequency, inverse document frequency) is
#
# $$
# x_i = c_i \left(1 + \ln \frac{1 + n}{1 + n_i}\right) ,
# $$ (eq-tfidf)
#
# and then each text's numbers are scaled to length 1. The second factor goes back to {cite:t}`sparckjones1972statistical`; its 1s are scikit-learn's. Logistic regression then learns a weight for each $x_i$.

# %% tags=["mechanism"] mystnb={"figure": {"caption": "Two reviews, one bag: whatever is computed from these counts, both reviews get the same answer.", "name": "fig-bags"}, "image": {"alt": "Above are the words of “the plot was not good but the music was great”, and below are those of “the plot was good but the music was not great”. From all words arrows lead to a row of counts between them: but 1, good 1, great 1, music 1, not 1, plot 1, the 2, was 2. Both sets of arrows lead to the same counts."}}
mechanisms.bags(*PAIR)
plt.show()

# %% [markdown]
# Was the bag badly trained, or is it blind? The grammar can list [*every* review](deeper/08_text_classification.ipynb#deeper-ceilings), so we can count how many share a bag with reviews of the opposite verdict. `reviews.ceiling` returns the largest share of texts that can be classified correctly from bags alone.

# %% tags=["view"]
most = reviews.ceiling(reviews.windows(1))
guess(
    "What is the largest share of the reviews that anyone could get right from bags alone?",
    ["hardly more than ours", "75%", "over 90%"],
    right="75%" if 0.7 < most < 0.8 else "over 90%",
    because=f"It is {most:.0%}: {2 - 2 * most:.0%} of all reviews come in bags that are half good and half bad, where one answer for each bag loses half of them.",
)

# %% [markdown]
# So our bag has two faults: it is blind to order, and it can only *add*. Even where the bag holds the answer, a sum can't reverse what a *not* reverses. A feed-forward layer on the bag could reverse it, but nothing brings back the lost order. How much order is needed? We compute the same ceiling for **windows** of a few words, which is all that one of Day 1's convolutions can see.

# %%
shares = {"trained bag": of_bag["all"], "any bag": most}
for size in (2, 3, 4):
    shares[f"windows of {size}"] = reviews.ceiling(reviews.windows(size))

# %% tags=["evidence"] mystnb={"figure": {"caption": "No bag can tell all reviews apart; windows of four words can. Shares classified correctly: the first bar is the trained bag of words; the others are ceilings, counted over all reviews that the grammar writes. Dashed: a guess.", "name": "fig-ceilings"}, "image": {"alt": "Five bars. The trained bag reaches 64 percent. The ceiling of a bag is 75 percent, that of windows of two and of three words 89 percent, and that of windows of four 100 percent."}}
ax = bars({name: 100 * share for name, share in shares.items()}, "correct (%)")
ax.axvline(50, color=INK, lw=1, ls="--")
plt.show()

# %% [markdown]
# A window of two words catches a *not* right before its adjective. In "I would **not** call the **plot** good but I would call the music great", a window needs four words to hold *not* and *plot*. For this grammar, four are enough, but someone has to know that in advance. Attention reaches every word, however far away.

# %% [markdown]
# **Enough for tonight?** This is a good place to stop: you have tokens for every text, and know what a bag of words can't see. The rest of the day reads with attention.
#
# ### Padding: many texts in a batch
#
# *8 minutes, 5 of them yours.* Texts differ in length, but a batch is a rectangle. So short texts are padded to the length of the longest. Batches of similar lengths need less.

# %% tags=["mechanism"] mystnb={"figure": {"caption": "Texts of similar length need less padding: eight texts in batches of two. Each row is a text, and each cell is a word; padding is hatched.", "name": "fig-text-batches"}, "image": {"alt": "Two columns, each with four batches of two rows of cells. On the left, the texts are in their original order, and 20 of 76 positions are hatched; on the right, they are sorted by length, and 6 of 62 are hatched."}}
mechanisms.padded([3, 9, 5, 7, 4, 12, 6, 10], batch_size=2)
plt.show()

# %% [markdown]
# Padding must not count. Day 5's mask keeps attention away from it, but padding has to be kept out once more, where the vectors of all words become one. We take their mean: if text $b$ of a batch has $n_b$ words,
#
# $$
# \bar x_b = \frac{1}{n_b} \sum_{t=1}^{n_b} x_{b,t} .
# $$ (eq-masked-mean)

# %% tags=["mechanism"] mystnb={"figure": {"caption": "A mean over all positions dilutes the short text. Left: two texts, with words as columns and padding untinted. Middle: the mean over the real words. Right: the mean over all positions.", "name": "fig-pooled-texts"}, "image": {"alt": "Two rows. Above, the text “not so good”: three columns of two numbers, 1 2, 3 0 and 2 4, lead to their mean 2 2, which is the same on both sides. Below, the text “great”: one column 4 2 and two untinted ones 1 0; the mean over the real word is 4 2, that over all positions 2 0.67, with a note: diluted."}}
vectors = torch.tensor([[[1.0, 2], [3, 0], [2, 4]], [[4, 2], [1, 0], [1, 0]]])  # (B, T, D)
n_words = [3, 1]
ax = sheet(6.5)
for x, title in ((9.0, "real words"), (12.8, "all positions")):
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
# ```{exercise} Masked mean pooling
# :label: exercise-masked-mean
#
# *5 minutes.* Compute {eq}`eq-masked-mean` for each text of a batch. ([Solution](solutions/08_text_classification.ipynb#solution-masked-mean))
# ```


# %%
def masked_mean(x, lengths):
    """Shapes: x (B, T, D), lengths (B,); returns (B, D).

    The first lengths[b] positions of text b are words.
    """
    raise NotImplementedError


masked_mean = check("masked_mean", masked_mean)

# %%
check.show_reference("masked_mean")

# %% [markdown]
# ### The whole classifier
#
# *5 minutes.* The block is Day 6's, its attention has rotary positions, and the mean is yours. All that is missing is a vector for each token, and one matrix that turns the mean into an answer.


# %%
class Block(nn.Module):
    """Attention and a feed-forward layer, each on a normed copy: (B, T, D) to the same, and weights."""

    def __init__(self, D, h, F):
        super().__init__()
        self.look = MultiHeadAttention(D, h, rotary=Rotary(D // h))
        self.think = nn.Sequential(nn.Linear(D, F), nn.ReLU(), nn.Linear(F, D))
        self.norms = nn.ModuleList(nn.LayerNorm(D) for _ in range(2))

    def forward(self, x, real):
        mask = real[:, None, None]  # (B, 1, 1, T): no word attends to padding
        found, weights = self.look(self.norms[0](x), mask=mask, need_weights=True)
        x = x + found
        return x + self.think(self.norms[1](x)), weights


# %%
class Classifier(nn.Module):
    """Texts, ids (B, T) and lengths (B,), to logits (B, n_classes).

    With need_weights, also all attention weights (B, L, h, T, T).
    """

    def __init__(self, V, n_classes, D=48, h=4, F=96, L=2):
        super().__init__()
        self.tokens = nn.Embedding(V, D)
        nn.init.normal_(self.tokens.weight, std=D**-0.5)  # lengths near 1: all equally loud
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
# We train it as on Day 6, with Adam and a learning rate that rises and then falls.


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
    """Logits (n, n_classes) for texts, each a list of words."""
    return reading.logits_of(model, [vocabulary.encode(text) for text in texts])


of_reader = by_kind(says(reader, task.validation.texts, task.vocabulary).argmax(-1))
verdicts = says(reader, [review.split() for review in PAIR], task.vocabulary).softmax(-1)[:, 1]

# %% tags=["evidence"]
observe(
    "After eight passes the Transformer classifies {all:.1%} of the new reviews correctly; no bag of words can exceed {bag:.0%}. It had never read our pair, yet it gives the first review a {first:.1%} probability of being good, and the second a probability of {second:.1%}.",
    all=of_reader["all"],
    bag=most,
    first=verdicts[0].item(),
    second=verdicts[1].item(),
    holds=of_reader["all"] > most + 0.1
    and min(of_reader.values()) > 0.8
    and verdicts[0] > 0.5 > verdicts[1]
    and not {*PAIR} & {" ".join(review.words) for review in corpus.train},
)

# %% tags=["evidence"] mystnb={"figure": {"caption": "The Transformer masters all five kinds of review, but the bag of words doesn't: shares classified correctly. Our pair is a *negated contrast*; *contrast* is the same without a *not*; in *strength* the stronger of two opinions decides.", "name": "fig-by-kind"}, "image": {"alt": "Two bar charts over five kinds of reviews. The bag of words is near 100 percent for plain ones, below 10 for negation, near 50 for the others; the Transformer is near 100 for all."}}
axes = plt.subplots(1, 2, figsize=(7.2, 3.2), sharey=True)[1]
for ax, (name, of) in zip(axes, {"bag of words": of_bag, "Transformer": of_reader}.items()):
    bars({kind: 100 * of[kind] for kind in reviews.KINDS}, f"{name}: correct (%)", ax=ax)
plt.show()

# %% [markdown]
# The Transformer tells our two reviews apart.

# %% [markdown]
# ## Is it right?
#
# *1 minute.* PyTorch's encoder lends its weights to yours. It has no rotary positions, so for once yours does without them, too.


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
print("the logits agree with nn.TransformerEncoder, averaged text by text, to ten digits")

# %% [markdown]
# Gradients and rotary positions are checked on the [deeper page](deeper/08_text_classification.ipynb#deeper-reader-right).

# %% [markdown]
# ## Train it
#
# *5 minutes.* A grammar is tidy; people aren't. From now on we read sentences that people wrote, in the documentation of five libraries. Names are masked as `<name>`, and numbers as `<number>`.

# %% tags=["view"]
(heard,) = [said for said in real.train if "fanbelts" in said.words]
guess(
    f"“{heard.text}” Which library says that?",
    list(libraries.LIBRARIES),
    right=libraries.LIBRARIES[heard.label],
    because=f"It is an example in {heard.module}. No library is about cars, but scipy's statistics take their examples from life.",
)

# %% [markdown]
# The training, validation and test sets share no module, and near copies of a sentence are left out. Otherwise a model that has only memorised *sentences* would look as if it had learned the libraries ([how many would be in two of them](deeper/08_text_classification.ipynb#deeper-library-leak)).
#
# The Transformer reads byte pairs, with the 3,000 merges from above, so no word is unknown to it. The bag leaves out words that occur in only one training sentence.

# %% tags=["training"]
task_5 = reading.as_task(real.train, real.validation, real.test)
task_5 = task_5._replace(vocabulary=reading.PairVocabulary(learned))
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
    "The bag names the correct library for {bag:.0%} of {n:,} validation sentences, and the Transformer does so for {reader:.0%}. A guess would be correct 20% of the time.",
    n=len(true_5),
    **right_5,
    holds=0.35 < right_5["reader"] < right_5["bag"] + 0.05,
)

# %% [markdown]
# The bag keeps up! But one run at one learning rate says little. So a stored experiment tuned both with the same care, on few examples and on many: each time, the best of four settings on the validation set was measured once on the test set. (Its Transformer is trained with dropout, from three seeds, and it reads whole words, which [makes no difference here](deeper/08_text_classification.ipynb#deeper-subwords).)

# %% tags=["evidence"] mystnb={"figure": {"caption": "With 6,000 texts, the Transformer wins on the reviews, and the bag wins on the libraries' sentences: share of correct answers on test sets of 1,000 reviews and 1,370 sentences. Means and ranges of three seeds (stored experiment); the vertical axes differ, the horizontal ones are logarithmic.", "name": "fig-by-examples"}, "image": {"alt": "Two diagrams over 500, 1,700 and 6,000 texts. On the reviews the bag stays near 60 percent; the Transformer rises from below 70 to nearly 100. On the libraries' sentences both rise together: the bag rises from about 45 to nearly 60 percent, and the Transformer stays a few points below it."}}
stored, ends = experiments.load("classifiers"), {}
n_train = stored.parameters["n_train"]
called = {"bag": "bag of words", "reader": "Transformer"}
axes = plt.subplots(1, 2, figsize=(7.2, 3.4))[1]
for ax, where in zip(axes, ("reviews", "libraries")):
    found = {name: stored.column("test", task=where, model=of) for name, of in called.items()}
    lines = {name: (n_train, 100 * torch.tensor(runs).T) for name, runs in found.items()}
    curves(lines, "training texts", "correct (%)", logx=True, ax=ax).set_title(where)
    ax.set_xticks(n_train, n_train, minor=False)
    ax.minorticks_off()
    ends |= {f"{name}_{where}": fmean(runs[-1]) for name, runs in found.items()}
plt.show()

# %% tags=["evidence"]
observe(
    "With 6,000 texts the Transformer classifies {reader_reviews:.1%} of the reviews correctly, and the bag classifies {bag_reviews:.1%}. On the libraries' sentences the bag is ahead: it classifies {bag_libraries:.1%} of them correctly, and the Transformer classifies {reader_libraries:.1%}.",
    **ends,
    holds=ends["reader_reviews"] > 0.95 > 0.75 > ends["bag_reviews"]
    and ends["reader_libraries"] < ends["bag_libraries"]
    and (len(corpus.test), len(real.test)) == (1000, 1370),
)

# %% [markdown]
# So neither is the better reader; each is better *for something*. Why does order matter in one task and not in the other? Take the order away: your two Transformers read the same texts again, with their words shuffled.


# %%
def shuffled(texts):
    dice = random.Random(0)
    return [dice.sample(list(text), len(text)) for text in texts]


still = {}
for name, model, of in (("reviews", reader, task), ("libraries", reader_5, task_5)):
    said = says(model, shuffled(of.validation.texts), of.vocabulary).argmax(-1)
    still[name] = (said == of.validation.labels).double().mean().item()

# %% tags=["evidence"]
observe(
    "On the libraries' sentences, shuffling hardly matters: the Transformer still recognises {libraries:.0%} of them, and {before:.0%} in their original order. But when the reviews are shuffled, the Transformer classifies only {reviews:.0%} of them correctly; in their original order, it classifies {of_reviews:.0%}.",
    **still,
    before=right_5["reader"],
    of_reviews=of_reader["all"],
    holds=still["libraries"] > right_5["reader"] - 0.1
    and still["reviews"] < of_reader["all"] - 0.15,
)

# %% [markdown]
# A library gives itself away by *which* words it uses, in any order. In a review, order decides what a *not* reverses. But attention isn't the only way to see order: Day 3's LSTM, reading from both ends, does at least as well on the reviews, and needs fewer of them ([six models](deeper/08_text_classification.ipynb#deeper-six) side by side). All of these models learned from scratch; one pretrained on billions of words is another matter.

# %% [markdown]
# ## Look inside
#
# *1 minute.* First, the errors. The libraries that the bag mixes up most often are numpy and scipy.

# %% tags=["evidence"] mystnb={"figure": {"caption": "numpy and scipy are mistaken for each other most often: validation sentences of the five libraries (rows), and the bag's predictions (columns).", "name": "fig-libraries-confused"}, "image": {"alt": "A map of five rows and five columns with numbers. The diagonal is brightest. Off it, numpy and scipy are most often confused; sklearn is recognised best."}}
confused = torch.zeros(5, 5)
for pair in zip(true_5.tolist(), said_5["bag"].argmax(-1).tolist()):
    confused[pair] += 1
assert (confused + confused.T).triu(1).argmax() == 5 * 1 + 2  # numpy and scipy
marks = {"rows": libraries.LIBRARIES, "columns": libraries.LIBRARIES}
heat_map(confused, xlabel="predicted", ylabel="true", annotate=True, **marks)
plt.show()

# %% [markdown]
# ### Leave one out: which words decided?
#
# Why does a model answer as it does? The most direct test is to **leave one out**: take a word away, and see how much less probable the answer $y$ becomes {cite}`li2016understanding`:
#
# $$
# s_t = \ln p(y \mid x) - \ln p(y \mid x \text{ without } x_t) .
# $$ (eq-leave-one-out)

# %% tags=["mechanism"] mystnb={"figure": {"caption": "Leaving out *not* changes the verdict most. The judge is so simple that you can follow it: its number says how strongly the words point to *bad*. *Great* counts −1, or 1 if there is a *not*.", "name": "fig-leave-one-out"}, "image": {"alt": "Six rows of the sentence “the music was not great”. In the first, nothing is struck out, and the judge says 1. In each of the others one word is struck out: without “the”, “music” or “was” it still says 1, a score of 0; without “not” it says −1, a score of 2; without “great” it says 0, a score of 1."}}
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
for x, title in ((11.6, "judge"), (14.1, "score")):
    note(ax, (x, 0.5), title, weight="bold")
plt.show()

# %% [markdown]
# ```{exercise} Leave one out
# :label: exercise-left-out-words
#
# *8 minutes.* Given a text's ids and a label, return the score {eq}`eq-leave-one-out` of each of its words. The model turns ids (B, T) into logits (B, n_classes). ([Solution](solutions/08_text_classification.ipynb#solution-left-out-words))
# ```


# %%
def leave_one_out(model, text, label):
    """Shapes: text (T,), ids; returns the scores (T,) of its words, for one label."""
    raise NotImplementedError


leave_one_out = check("left_out_words", leave_one_out)

# %%
check.show_reference("left_out_words")

# %% [markdown]
# For the grammar's reviews we know which words decide, so we can test this method and two others. One is the **gradient** with respect to a word's vector, times the vector: it uses the slope to estimate how much the answer would change without the word {cite}`denil2014extraction`. The other is **attention**, the weight that a word receives. Choose a review and a method; the words that decide are marked.

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
# Six reviews prove little. A stored experiment asked three other Transformers about 300 reviews each. How often is the word with the highest score one that decides?

# %% tags=["view"]
marked = experiments.load("decided")
ways = "leave-one-out", "gradient × input", "attention", "attention, last layer", "chance"
highest = {way: marked.column(f"{way}, highest", model="Transformer") for way in ways}
share = {way: fmean(found) for way, found in highest.items()}
worst = min(ways[:3], key=share.get)
guess(
    "Which of the three finds a deciding word least often?",
    list(ways[:3]),
    right=worst,
    because=f"It finds one in {share[worst]:.0%} of the reviews. A word picked at random decides in {share['chance']:.0%} of them.",
)

# %% tags=["evidence"] mystnb={"figure": {"caption": "Leaving words out finds a deciding word most often: share of the reviews in which the word with the highest score decides. Mean and range of three Transformers (stored experiment).", "name": "fig-ways"}, "image": {"alt": "Five bars, in percent. Leave-one-out is near 93, gradient times input is near 27, attention over all blocks is near 89, attention of the last block is near 60 with a wide range, and chance is at 16."}}
assert max(ways, key=share.get) == "leave-one-out" and share["attention"] > 0.75
named = {way.replace("layer", "block"): found for way, found in highest.items()}
bars({way: [100 * one for one in found] for way, found in named.items()}, "found (%)")
plt.show()

# %% [markdown]
# Leaving words out does best. But the deciding words were themselves defined by leaving words out, so the test favours that method. Attention, averaged over all heads and blocks, comes close; the last block's alone doesn't. And the gradient misleads, perhaps because each block reads its input through a norm, which discards the length of every vector. An LSTM has no norms, and [there the gradient works](deeper/08_text_classification.ipynb#deeper-decided).


# %% [markdown]
# ## Show someone
#
# *6 minutes.* Write a sentence of your own, as if you were describing what a function does. Two readers run on this page: today's Transformer on byte pairs, and the bag of words for comparison. Each names the library that your sentence sounds like. Then each reads the sentence again without its first word, without its second, and so on, and shows which words gave the library away. (`experiments/libraries_page.py` trained both.)

# %% tags=["view"]
which_library("libraries", sentence="Returns a copy of the points, in random order.")

# %% [markdown]
# Or ask your own Transformer, in JupyterLab:


# %%
def who_says(sentence):
    """The library that it is most probably from, and the probability."""
    logits = says(reader_5, [libraries.masked(sentence)], task_5.vocabulary)
    p, label = logits[0].softmax(-1).max(-1)
    return libraries.LIBRARIES[label], p.item()


library, p = who_says("Draw a line from the first to the last point, in the given colour.")
observe("It takes this for {library}, and is {p:.0%} sure.", library=library, p=p, holds=p > 0.2)

# %% [markdown]
# ## Where it breaks
#
# *2 minutes.* Ask the Transformer which word comes after "the music was". It has no answer: all it can say is *good* or *bad*, and how sure it is.
#
# And it must name a class, whatever it is given: a recipe gets a library, and a percentage.
#
# It also has little to learn from. Someone has to label each text, and that one label is all the network gets.

# %% tags=["mechanism"] mystnb={"figure": {"caption": "A text has one label, but a next word at every position. Above: one answer for the whole text, as today. Below: an answer at each position, the next word.", "name": "fig-one-answer"}, "image": {"alt": "Two rows of the five words “the music was not great”. In the upper one, arrows from all words lead to one box, bad. In the lower one, an arrow leads from each word to a box with the next word: music, was, not, great, and a full stop."}}
ax = sheet(8.0)
verdict = box(ax, (6.6, 0.2), "bad", (2.4, 0.85), role="key")
for i, (word, following) in enumerate(zip(sentence, [*sentence[1:], "."])):
    x = 0.6 + 3.0 * i
    arrow(ax, box(ax, (x, 1.9), word, (2.4, 0.85)).at("top"), verdict.at("bottom"))
    below = box(ax, (x, 6.1), word, (2.4, 0.85))
    above = box(ax, (x, 4.4), following, (2.4, 0.85), role="key")
    arrow(ax, below.at("top"), above.at("bottom"))
note(ax, (8.0, 3.2), "one answer, and someone had to give it")
note(ax, (8.0, 7.4), "five answers, and the text gives them itself")
plt.show()

# %% tags=["evidence"]
n_words = sum(map(len, task_5.train.texts))
observe(
    "The {sentences:,} training sentences of the libraries gave the Transformer one answer each. The same sentences contain {words:,} next words.",
    sentences=len(task_5.train.texts),
    words=n_words,
    holds=n_words > 10 * len(task_5.train.texts),
)

# %% [markdown]
# What if we asked the text itself: which word comes next? Every position would be a question with its answer printed right after it, and nobody would have to label anything.

# %% [markdown]
# ## What we found
#
# *1 minute.* So what is a text about? Count its words, and read their order where a *not* can reverse them; then leave out one word at a time to see which of them decided. Two claims that you will often read, and our answers. Four more are on the [deeper page](deeper/08_text_classification.ipynb).
#
# (claim-cls-1)=

# %% tags=["evidence"]
lstm = fmean(stored.column("test", task="reviews", model="BiLSTM")[-1])
claim(
    "cls-1",
    "No: on the reviews its accuracy is {reader:.1%}, and an LSTM's is {lstm:.1%}; on the libraries' sentences it is {reader_5:.1%}, and a bag's is {bag_5:.1%}.",
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
    "Yes, if blocks are averaged: the most attended word decides in {all:.0%} of reviews; the last block's does in {last:.0%}, a random word in {chance:.0%}.",
    all=share["attention"],
    last=share["attention, last layer"],
    chance=share["chance"],
    holds=lambda all, last, chance: all > last + 0.15 and last > 2 * chance,
    experiment="decided",
    scale="300 reviews, three Transformers of two blocks; means over blocks, heads and querying words",
)

# %% [markdown]
# ## Exercises
#
# *As long as you like.* More are on the [deeper page](deeper/08_text_classification.ipynb), and all solutions are on [a page of their own](solutions/08_text_classification.ipynb).
#
# ```{exercise} Predict: what a sum of words gets right
# :label: exercise-weighed-words
#
# *Warm-up, 5 minutes.* There are six texts, all equally likely: *good* and *bad*, *not good* and *not bad*, *good but bad* and *bad but good*. *Not* reverses the verdict, and the opinion after a *but* decides. Someone gives each word a number, and calls a text good if the sum is above 0. What is the largest share of the texts that such a sum can classify correctly?
# ([Solution](solutions/08_text_classification.ipynb#solution-weighed-words))
# ```

# %%
my_share = None

check("weighed_words", my_share)

# %% [markdown]
# ```{exercise} TF-IDF by hand
# :label: exercise-tf-idf
#
# *Core, 8 minutes.* Compute {eq}`eq-tfidf` from counts, and divide each text's weights by their Euclidean length. A text without words keeps its zeros.
# ([Solution](solutions/08_text_classification.ipynb#solution-tf-idf))
# ```


# %%
def tf_idf(counts):
    """Shapes: counts (n, V), how often each word occurs in each text; returns weights (n, V)."""
    raise NotImplementedError


check("tf_idf", tf_idf)

# %% [markdown]
# ## Checklist and tomorrow

# %% tags=["view"]
points = {
    "split a text into tokens, and encode a word that was never seen in training": "merge_step encode_word",
    "weight a word by how few texts contain it": "tf_idf",
    "work out how much a sum over words can get right": "weighed_words",
    "average over the words of a text, and over nothing else": "masked_mean",
    "find out which words decided, by leaving each one out": "left_out_words",
}
checklist({point: ids.split() for point, ids in points.items()})

# %% [markdown]
# **Tomorrow** the same blocks predict what comes next, and write.

# %% [markdown]
# ## Further reading
#
# - {cite:t}`sennrich2016neural`, who brought byte pairs to translation; the program fits on half a page.
# - {cite:t}`wang2012baselines`, on bags of words as a baseline that is hard to beat.
