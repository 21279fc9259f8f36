# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Day 10: BERT: learning from hidden words
#
# **Today's question:** what can a model learn from text that nobody has labelled?
#
# After today you can
#
# - hide words by BERT's 80/10/10 rule, and say how far a visible word can then be trusted,
# - compute the loss on the hidden words, and on nothing else,
# - say why new masks in each pass teach more than fixed ones,
# - find out by experiment what a model knows that it was never told.
#
# It builds on [Day 6](06_transformer.ipynb)'s encoder, [Day 8](08_text_classification.ipynb)'s sentences and [Day 9](09_gpt.ipynb)'s loss. It takes 40 minutes to read, and
# its functions take 28 to write. At the end, a model fills the gap in a sentence of yours, right here on the page.

# %% tags=["setup"]
import convolution_to_attention  # is `utils` this book's?

from collections import Counter
from functools import partial
from statistics import fmean

import matplotlib.pyplot as plt
import torch
from torch import nn

from utils.data import libraries
from utils.data.text import EOS, pad
from utils.exercises.pretraining import check
from utils.exercises.progress import checklist
from utils.measure import experiments
from utils.measure.claims import claim
from utils.pretraining import IGNORE, MASK, MaskedWordHead, cast_dice
from utils.pretraining import published_sizes
from utils.show.display import observe, show_source, table
from utils.show.mechanisms import pretraining as mechanisms
from utils.show.plotting import bars, curves, heat_map, use_book_style
from utils.show.views import fill_the_gap, guess, models, quiz

# %% tags=["setup"]
from utils.tasks import filling
from utils.tasks.articles import gaps_after, logits_at, share_of_vowels
from utils.tasks.held_out import guessed
from utils.tasks.fine_tuning import classifier, fine_tune, with_labels
from utils.tasks.pretraining import SHARE, STEPS, Hidden, new_model, sizes, vocabulary, with_muon
from utils.tasks.reading import as_ids, bag_of_words, logits_of
from utils.tasks.two_bytes import restored
from utils.training.loop import fit
from utils.transformer import Encoder

use_book_style()

# %% [markdown]
# **Five questions about yesterday**

# %% tags=["view"]
quiz("10_pretraining")

# %% [markdown]
# ## Where we stand
#
# *2 minutes.* On Day 8 a model learned which of five libraries a sentence comes from, and it had thousands of labelled sentences to learn from. Labels are expensive, because a person has to write each of them. What if there are only a hundred? (In truth all our sentences have labels; today we hide most of them.) We train an encoder like Day 8's and a bag of words on a hundred sentences.

# %%
words, few = vocabulary(), with_labels(100)
held, truth = as_ids(few.validation, words)
stored = experiments.load("few_labels")


def rate(start):
    """The best of four learning rates for 100 labels (for a bag: of four penalties), as stored."""
    return stored.column("rate, 100 labels", start=start)[0]


def right(logits):
    """Share of the validation sentences that are assigned to their library."""
    return (logits.argmax(dim=1) == truth).double().mean().item()


# %% tags=["training"]
beginner = fine_tune(classifier(new_model(0), 5), few, rate("from scratch"))
bag = bag_of_words(rate("bag of words")).fit(few.train.texts, few.train.labels)

# %% tags=["evidence"]
of_beginner = right(logits_of(beginner, held))
of_bag = right(torch.from_numpy(bag.predict_log_proba(few.validation.texts)))
unlabelled = libraries.unlabelled()
observe(
    "The encoder classifies {network:.0%} of the new sentences correctly, the bag of words classifies {bag:.0%}, and a blind guess would get 20%. Another {n:,} sentences have no label.",
    network=of_beginner,
    bag=of_bag,
    n=sum(map(len, unlabelled)),
    holds=0.2 < of_beginner < 0.4 and 0.24 < of_bag < 0.4,
)

# %% [markdown]
# The encoder is hardly better than a guess. It doesn't know which words mean nearly the same, which ones go together, or which are verbs, and a hundred labels can't teach it that. The unlabelled sentences could. But what can we ask a model when no one has written down the answers?

# %% [markdown]
# ## The idea
#
# *2 minutes.* Take a word away, and ask for it. As on Day 9, the text itself holds the answer. But this model won't have to write, so there is no future to hide: it may look at *both* sides of the gap.

# %% tags=["mechanism"] mystnb={"figure": {"caption": "GPT predicts a word from its left side alone; today's model sees both sides of the gap. Cells that the model can't see are empty.", "name": "fig-pre-sides"}, "image": {"alt": "The sentence take elements from an array along an axis is shown twice, with a question mark for array. Above, for GPT, arrows lead to it from the four words before it, and the three words after it are blank. Below, for today's model, arrows come from all seven other words."}}
mechanisms.both_sides()
plt.show()

# %% [markdown]
# Many words can follow *from an*, but with *along an axis* on the other side, only a few fit. To predict the word, a model has to know something about arrays. This is **BERT**, short for *bidirectional encoder representations from Transformers* {cite}`devlin2019bert`. It is Day 6's encoder, **pre-trained** as a **masked language model** and then **fine-tuned**: trained further, with the labels of a task.
#
# *Bidirectional* sounds like a recurrent network that runs both ways, but no state is carried along the sentence here: each word attends to all the others directly ([counted](deeper/10_pretraining.ipynb#claim-pre-1)). The encoder sees both sides because it has no causal mask.

# %% tags=["mechanism"] mystnb={"figure": {"caption": "Today's two stages: first the model learns to predict hidden words, then the same table and blocks learn a task.", "name": "fig-pre-road"}, "image": {"alt": "Two towers of boxes. The left one, 1. pre-train, leads from text without labels through the table of words and two blocks to the question which word? The right one, 2. fine-tune, leads from a few labels through the table of words and two blocks to which library? An arrow leads from the left tower to the right one."}}
mechanisms.road()
plt.show()

# %% [markdown]
# ## Step by step
#
# ### Masking: hide some of the words
#
# *17 minutes, 13 of them yours.* What should replace a hidden word? A special symbol, `[MASK]`, is the natural choice. BERT's authors saw a trap in it: in fine-tuning no sentence contains a `[MASK]`, and by then the model may have learned useful vectors for that symbol only. Hence their rule.

# %% tags=["mechanism"] mystnb={"figure": {"caption": "Of ten words that are asked for, eight become [MASK], one becomes another word, and one stays as it is. Since no word can be trusted, each has to be checked against its neighbours.", "name": "fig-pre-trap"}, "image": {"alt": "Four rows of take elements from an array along an axis. In the first, marked 8 in 10, array is replaced by [MASK]; in the second, marked 1 in 10, it is replaced by color; in the third, also marked 1 in 10, it stays. Above them is written: asked in all three: array? The last row, tuned, has all its words, with a note: no [MASK] any more, and every word has to count."}}
mechanisms.trap()
plt.show()

# %% [markdown]
# The wrong word is meant to teach the model to doubt its input. The word that stays is meant to tell it that the input may be correct. ([Our test](deeper/10_pretraining.ipynb#deeper-masking) couldn't tell whether that works.) So for each word we roll two dice that show numbers between 0 and 1, and draw another word at random. The first die, `hides`, decides whether the word is asked for. The second, `how`, decides what replaces it.

# %% tags=["mechanism"] mystnb={"figure": {"caption": "Two dice decide for each word. At BERT's share of 15%, three of these eight words are asked for, and each meets a different fate.", "name": "fig-pre-dice"}, "image": {"alt": "Five rows over the eight words of the sentence. The row hides has 0.81, 0.12, 0.55, 0.93, 0.06, 0.38, 0.09 and 0.70, of which the second, fifth and seventh are highlighted. For these three, the row how has 0.93, 0.41 and 0.85. In the row read, elements has become draw, array has become [MASK], and an is still an. The row target has elements, array and an."}}
hides = [0.81, 0.12, 0.55, 0.93, 0.06, 0.38, 0.09, 0.70]
how = [0.10, 0.93, 0.20, 0.10, 0.41, 0.50, 0.85, 0.60]
others = "color draw axis same file not is size".split()
mechanisms.hiding(hides, how, others, share=0.15)
plt.show()

# %% [markdown]
# ```{exercise} Mask words
# :label: exercise-mask-words
#
# *9 minutes.* Words are the ids above 4; other ids (padding, ends, unknown words) are never asked for. A word is asked for where `dice.hides` is below `share`. What the model reads there depends on `dice.how`: below 0.8 it is `MASK` = 4, from 0.9 on it is the word in `dice.words`, and in between it is the original word. The target is the original word where one is asked for, and `IGNORE` = −100 elsewhere. Return the model's input and the targets.
# ([Solution](solutions/10_pretraining.ipynb#solution-mask-words))
# ```


# %%
def mask_words(ids, dice, share):
    """Shapes: ids, dice.hides, dice.how, dice.words (B, T); returns the input and the targets."""
    raise NotImplementedError


mask_words = check("mask_words", mask_words)

# %%
check.show_reference("mask_words")

# %% [markdown]
# BERT asks for 15% of the words, over a million batches. We train on only 1,500 batches, so each has to ask for more: half of the words. (Large models, too, do better with more than 15% {cite}`wettig2023mask`.)
#
# ```{exercise} Predict: can a visible word be trusted?
# :label: exercise-trusted-word
#
# *4 minutes.* Half of the words are asked for, by the 80/10/10 rule. You see a word that isn't `[MASK]`. What is the probability, in percent, that it is *not* the original word? (Assume that a replacement never happens to be the same word.)
# ([Solution](solutions/10_pretraining.ipynb#solution-trusted-word))
# ```

# %%
my_percent = None

check("trusted_word", my_percent)

# %% [markdown]
# ### The loss on the hidden words
#
# *7 minutes, 5 of them yours.* The encoder turns each word into a vector $x_t$, and a **head** turns a vector into a logit for every word of the vocabulary. The loss is computed only at $M$, the positions whose words are asked for:
#
# $$
# \mathcal{L} = -\frac{1}{|M|} \sum_{t \in M} \ln p(w_t \mid x_t) .
# $$ (eq-masked-words)

# %% tags=["mechanism"] mystnb={"figure": {"caption": "Three words are asked for, so the loss is a mean of three terms; the other words are only read. The probabilities are invented for this picture.", "name": "fig-pre-loss"}, "image": {"alt": "A row of the eight words that are read, with a row of eight vectors x above it. From three vectors arrows lead on to the targets elements, array and an, with the probabilities 0.02, 0.60 and 0.40 and the losses 3.91, 0.51 and 0.92, whose mean is 1.78."}}
read = ["take", "draw", "from", "an", "[MASK]", "along", "an", "axis"]
mechanisms.asked_alone(read, {1: 0.02, 4: 0.6, 6: 0.4})
plt.show()

# %% [markdown]
# If the loss counted all the other words, too, most answers could be copied from the input, as in yesterday's first attempt, which had no mask. And the logits, thousands of them at each position, cost more than the blocks do. So the head is called only at $M$.
#
# ```{exercise} Masked-word loss
# :label: exercise-masked-word-loss
#
# *5 minutes.* Compute {eq}`eq-masked-words` for a batch: one mean over all the words that are asked for, in all its texts. Call the head once, for these words only. ([Solution](solutions/10_pretraining.ipynb#solution-masked-word-loss))
# ```


# %%
def masked_word_loss(head, x, target):
    """Shapes: head, (n, D) to logits (n, V); x (B, T, D); target (B, T), -100 where not asked."""
    raise NotImplementedError


masked_word_loss = check("masked_word_loss", masked_word_loss)

# %%
check.show_reference("masked_word_loss")

# %% [markdown]
# ### Which text to read
#
# *2 minutes.* A question teaches something if its answer can be found, but not too easily. So it matters what surrounds a gap. Our text comes from modules such as `numpy.lib.format`, with about twenty sentences each.

# %% tags=["mechanism"] mystnb={"figure": {"caption": "Three ways to take a passage from a module: one sentence, neighbouring sentences in order, or sentences mixed from all over it.", "name": "fig-pre-passages"}, "image": {"alt": "On the left is a module of eight sentences, 0 to 7. To its right are three passages: one sentence, 2; sentences in order, 2, 3, 4 and 5; and mixed sentences, 6, 1, 7 and 3."}}
mechanisms.passages()
plt.show()

# %% tags=["view"]
kinds = "one sentence", "in order", "mixed"
after = {kind: stored.column("100 labels", start=kind)[0] for kind in kinds}
after["nothing read"] = stored.column("100 labels", start="from scratch")[0]
best = max(kinds, key=lambda kind: fmean(after[kind]))
guess(
    "An encoder is pre-trained on passages of one kind, then fine-tuned with 100 labels. Which kind helps it most?",
    list(kinds),
    right=kinds.index(best),
    because=f"After pre-training on passages of this kind, the encoder classifies {fmean(after[best]):.0%} of the test sentences correctly. A single sentence gives few clues. Mixed sentences are slightly ahead of those in order: perhaps the model then has to find out what the whole module is about.",
)

# %% tags=["evidence"] mystnb={"figure": {"caption": "Longer passages help: test sentences classified correctly after 100 labels, by the kind of passage read in pre-training. Mean and range of three seeds (stored experiment).", "name": "fig-pre-kinds"}, "image": {"alt": "Four bars. After single sentences 36 percent are correct, after sentences in order 45 are, after mixed ones 48 are, and where nothing was read 30 are."}}
bars({kind: [100 * share for share in of] for kind, of in after.items()}, "correct (%)")
plt.show()

# %% [markdown]
# All three encoders read the same number of words. But a module's sentences all come from one library. The model isn't told which one, but finding them together is a hint, and perhaps much of the benefit comes from it. Other texts give the same hint, because a document has a subject. We take mixed sentences, in passages of 128 words.
#
# ### Pre-train: the first steps here, the rest stored
#
# *4 minutes.* The model is Day 6's encoder with a prediction head: a dense layer, a norm, and the embedding table once more, which compares a vector with each word's row, as on Day 6. The optimiser, Muon, takes steps of about the same size in all directions of a weight matrix ([Day 9's race](deeper/09_gpt.ipynb#deeper-race) explains it). Training takes 1,500 steps and more than a minute. **Here you run the first tenth of it; a fully trained model comes with the book.**


# %%
class Reader(nn.Module):
    """Ids (B, T), padded after lengths (B,), to vectors (B, T, D), from which the head predicts."""

    def __init__(self, config):
        super().__init__()
        self.config = config
        self.encoder = Encoder(config)
        table = self.encoder.embedding.symbols
        self.head = MaskedWordHead(config.d_model, table, config.activation, nn.LayerNorm)

    def read(self, ids, lengths=None):
        return self.encoder(ids, lengths)[0]

    forward = read  # training calls the model itself


# %%
def hide(ids):
    return mask_words(ids, cast_dice(ids.shape, len(words)), SHARE)


# %% tags=["training"]
torch.manual_seed(0)
yours = Reader(sizes())
optimiser, schedule = with_muon(yours, yours.encoder.blocks, STEPS)
loss = partial(masked_word_loss, yours.head)
batches = Hidden(STEPS // 10, mask=hide)
history = fit(yours, batches, loss, optimiser, epochs=1, schedule=schedule)

# %%
reader = restored(Reader(sizes()), models.load("reader").weights)
long = experiments.load("reader_page")

# %% tags=["evidence"] mystnb={"figure": {"caption": "The loss falls fast to the level that can be reached without the neighbours, and then slowly: your run, and three stored ones ten times as long (1,500 steps). Means over 20 steps of 8 passages each.", "name": "fig-pre-training"}, "image": {"alt": "A curve over 1,500 steps that falls from above eight nats to about six in 100 steps, and then slowly to four. A second, short curve follows its beginning."}}
here = [fmean(history.step_loss[first : first + 20]) for first in range(0, 140, 20)]
losses = long.column("losses")
lines = {"stored": (range(20, STEPS + 1, 20), losses), "yours": (range(20, 141, 20), here)}
curves(lines, "step", "loss (nats per hidden word)")
plt.show()

# %%
found = {"yours": guessed(yours)["right"], "stored": guessed(reader)["right"]}
the = fmean(float(word == "the") for text in few.validation.texts for word in text)

# %% tags=["evidence"]
observe(
    "In held-out modules, your reader's first guess is correct for {yours:.0%} of the hidden words; always answering “the” would be correct for {the:.0%}. The stored reader's first guess is correct for {stored:.0%} of them.",
    **found,
    the=the,
    holds=found["yours"] < 0.14 and found["stored"] > 2 * the and found["stored"] > 0.24,
)

# %% [markdown]
# **From now on we use the stored reader.** Our sentence comes from a module that it has never read. We hide its words one at a time, and ask for each. (`<name>` and `<number>` are Day 8's symbols for names and numbers. *masked* is an ordinary word in these libraries, where arrays can be masked.)

# %% tags=["nbval-ignore-output"]
said = list(mechanisms.SENTENCE)
rows = [
    [word, " · ".join(other for other, _ in best), f"{100 * p:.1f}"]
    for word, (best, p) in zip(said, filling.guesses(reader, said))
]
table(rows, ["hidden", "five best guesses", "probability of the hidden word (%)"])

# %% [markdown]
# **Enough for tonight?** This is a good place to stop.
#
# ### It never saw a letter, but knows its vowels
#
# *15 minutes, 10 of them yours.* Look at the reader's guesses for *array*: they begin with vowels. Is that because of *an*? The reader never saw a letter. To it, *array* is one number and *an* is another, and nothing in a number says how a word is spelled. An experiment can settle this: in the validation sentences, hide every word that follows *an*. Then change *an* to *a*, and nothing else.

# %% tags=["mechanism"] mystnb={"figure": {"caption": "Only the article changes, so it alone can cause a change in the answer.", "name": "fig-pre-swap"}, "image": {"alt": "Two rows, take elements from an [MASK] along an axis, and the same with a in place of the first an. An arrow leads from each [MASK] to a box: the upper one says a vowel? and the lower one says and now?"}}
mechanisms.swapped()
plt.show()

# %% [markdown]
# ```{exercise} What share begins with a vowel?
# :label: exercise-vowel-share
#
# *10 minutes.* Given the logits for $n$ gaps and the $V$ symbols as strings, find the likeliest symbol for each gap, among those made of letters only (`"<name>".isalpha()` is False). Return the share of the gaps whose symbol begins with a, e, i, o or u.
# ([Solution](solutions/10_pretraining.ipynb#solution-vowel-share))
# ```


# %%
def vowel_share(logits, words):
    """Shapes: logits (n, V); words: the V symbols, as strings. Returns a number from 0 to 1."""
    raise NotImplementedError


vowel_share = check("vowel_share", vowel_share)

# %%
changes = {"an": "a", "a": "an"}
vowels = {}
for article, other in changes.items():
    for shown in (article, other):
        logits = logits_at(reader, gaps_after(article, shown))
        vowels[article, shown] = vowel_share(logits, words.symbols)

# %% tags=["view"]
guess(
    "After “an”, nearly all first guesses begin with a vowel. Now “an” becomes “a”. How many of them still do?",
    ["nearly all: the other words haven't changed", "about half", "hardly any"],
    right="hardly any",
    because=f"{vowels['an', 'a']:.0%} still do; {vowels['an', 'an']:.0%} did before. One word decides it.",
)

# %% tags=["evidence"]
assert vowels["an", "a"] == share_of_vowels(logits_at(reader, gaps_after("an", "a")), words.symbols)
observe(
    "After *an*, {an:.0%} of the first guesses begin with a vowel; with *an* changed to *a*, {an_a:.0%} do. After *a*, {a:.0%} do; with *a* changed to *an*, {a_an:.0%} do.",
    an=vowels["an", "an"],
    an_a=vowels["an", "a"],
    a=vowels["a", "a"],
    a_an=vowels["a", "an"],
    holds=min(vowels["an", "an"], vowels["a", "an"]) > 0.8
    and max(vowels["an", "a"], vowels["a", "a"]) < 0.15,
)

# %%
named = {
    "after an": "an",
    "a, changed to an": "a to an",
    "after a": "a",
    "an, changed to a": "an to a",
}
last = {
    name: [100 * run[-1] for run in long.column(f"teacher: {column}")]
    for name, column in named.items()
}

# %% tags=["evidence"] mystnb={"figure": {"caption": "One word decides the first letter of another: share of gaps whose first guess begins with a vowel, in three stored runs.", "name": "fig-pre-vowels"}, "image": {"alt": "Four bars. After an, and where a has become an, nearly all first guesses begin with a vowel. After a, and where an has become a, hardly any do."}}
bars(last, "first guess begins with a vowel (%)")
plt.show()

# %% [markdown]
# Predicting hidden words sorted the vocabulary into two lists, one that follows *an* and one that follows *a*. The lists agree with the spelling, although the input contains no spelling: a rule about sounds left its trace in which words occur together. When does the model find that rule?

# %%
steps = long.column("teacher: steps")[0]
lines = {
    name: (steps, [[100 * share for share in run] for run in long.column(f"teacher: {column}")])
    for name, column in (("after an", "an"), ("an changed to a", "an to a"))
}

# %% tags=["evidence"] mystnb={"figure": {"caption": "At first the reader guesses a vowel whatever the article is; later, the article decides: share of first guesses that begin with a vowel, during training. Means and ranges of three stored runs.", "name": "fig-pre-when"}, "image": {"alt": "Two curves over 1,500 steps, for gaps after an and for the same gaps with an changed to a. They run together at first; then the first rises to nearly 100 percent and the other falls to nearly 0."}}
curves(lines, "step", "vowels (%)")
plt.show()

# %% [markdown]
# ## Is it right?
#
# *1 minute.* We compare your loss with PyTorch's. (The [deeper page](deeper/10_pretraining.ipynb#deeper-published) compares the whole model with that of the `transformers` library, using weights in the published format.)

# %% tags=["evidence"]
torch.manual_seed(0)
x, target = torch.randn(3, 9, 16).double(), torch.randint(5, 40, (3, 9))
target[torch.rand(3, 9) < 0.8] = IGNORE
head = nn.Linear(16, 40).double()
expected = nn.functional.cross_entropy(head(x).flatten(0, 1), target.flatten())
torch.testing.assert_close(masked_word_loss(head, x, target), expected, rtol=1e-10, atol=1e-10)
print("the loss agrees with PyTorch's to ten digits")

# %% [markdown]
# ## Train it
#
# *4 minutes.* Now the labels: we **fine-tune** the stored reader. Its head is replaced by Day 8's: the mean of all vectors, and a linear layer with five outputs. That layer is new, and its weights start at zero. The table and the blocks start from what they have learned, and keep learning.

# %% tags=["mechanism"] mystnb={"figure": {"caption": "Fine-tuning starts from the pre-trained table and blocks; only the question is new.", "name": "fig-pre-tuned"}, "image": {"alt": "The two towers again. The right one, 2. fine-tune, with a few labels, the table, two blocks and which library?, is framed."}}
mechanisms.road(lit=2)
plt.show()

# %%
show_source(classifier)

# %% tags=["training"]
tuned = fine_tune(classifier(reader, 5), few, rate("mixed"))
of_tuned = right(logits_of(tuned, held))

# %% tags=["evidence"]
observe(
    "With the same 100 labels and the same number of steps, the pre-trained encoder classifies {tuned:.0%} of the sentences correctly, the one trained from scratch classifies {beginner:.0%}, and the bag of words classifies {bag:.0%}.",
    tuned=of_tuned,
    beginner=of_beginner,
    bag=of_bag,
    holds=of_tuned > max(of_beginner, of_bag) + 0.02,
)

# %% [markdown]
# That was one run, judged on validation sentences. A stored experiment pre-trained three encoders. These three, three from scratch, and the bag of words were given 30 to 2,500 labels. Each got the best of four settings on the validation set; the test set was used only once.

# %%
starts = {"pre-trained": "mixed", "from scratch": "from scratch", "bag of words": "bag of words"}
labels = [30, 100, 300, 1000, 2500]
measured = {
    name: torch.tensor([stored.column(f"{n} labels", start=start)[0] for n in labels])
    for name, start in starts.items()
}  # (5, 3) each
at = {n: [of[i].mean() for of in measured.values()] for i, n in enumerate(labels)}

# %% tags=["view"]
goal = measured["pre-trained"][1].mean()
enough = [n for n, of in zip(labels, measured["from scratch"]) if of.mean() >= goal]
options = [*(f"{n:,}" for n in labels[1:]), "more than 2,500"]
guess(
    "How many labels does an encoder from scratch need to match the pre-trained one with 100?",
    options,
    right=options.index(f"{enough[0]:,}") if enough else len(options) - 1,
    because=f"With 100 labels, the pre-trained one classifies {goal:.0%} of the test sentences correctly.",
)

# %% tags=["evidence"] mystnb={"figure": {"caption": "Pre-training saves labels, above all where there are few: test sentences classified correctly, by the number of labels. Means and ranges of three seeds (stored experiment). The horizontal axis is logarithmic.", "name": "fig-pre-labels"}, "image": {"alt": "Three rising curves over 30 to 2,500 labels. The pre-trained encoder begins near 39 percent, reaches 48 at 100 labels and 54 at 1,000, and stays there. The bag of words rises from 25 to 54, and the encoder from scratch from 27 to 49."}}
lines = {name: (labels, 100 * of.T) for name, of in measured.items()}
ax = curves(lines, "labels", "correct (%)", logx=True)
ax.set_xticks(labels, [f"{n:,}" for n in labels])
ax.minorticks_off()
plt.show()

# %% tags=["evidence"]
observe(
    "With 100 labels, the pre-trained encoder classifies {read:.0%} of the sentences correctly, the one trained from scratch classifies {fresh:.0%}, and the bag of words classifies {bag:.0%}. With 2,500 labels they classify {more:.0%}, {fresher:.0%} and {larger:.0%} correctly.",
    **dict(zip(("read", "fresh", "bag"), at[100])),
    **dict(zip(("more", "fresher", "larger"), at[2500])),
    holds=0.12 < at[100][0] - at[100][2] < 0.18
    and at[2500][1] < at[2500][0] - 0.03
    and abs(at[2500][0] - at[2500][2]) < 0.02
    and enough == [2500]
    and at[300][2] < goal < at[1000][2],
)

# %% [markdown]
# So reading replaces most of the labels: the network from scratch needs more than ten times as many to catch up. The bag of words needs fewer than that, and with the most labels, counting does as well as reading. **Pre-training pays off where labels are scarce.** It is done once, and the result can be fine-tuned for one task after another. That is why BERT's weights were published: few could afford the training, but almost anyone can afford the fine-tuning.

# %% [markdown]
# ## Look inside
#
# *2 minutes.* Before training, no word resembled any other. Now we can ask the table which words' vectors point in nearly the same direction as that of *must*. We ask it after pre-training, and after training on a hundred labels alone.


# %%
often = Counter(word for module in unlabelled for said in module for word in said)


def alike(model, word, n=4):
    """The words with the smallest angles to a word, of those that occur 30 times or more."""
    vectors = nn.functional.normalize(model.encoder.embedding.symbols.weight.detach(), dim=1)
    near = vectors @ vectors[words.encode([word])[0]]
    order = [words.symbols[i] for i in near.argsort(descending=True)]
    return [other for other in order if often[other] >= 30 and other != word][:n]


# %% tags=["nbval-ignore-output"]
rows = []
for word in "must compute row maximum two".split():
    rows.append([word, *(" · ".join(alike(model, word)) for model in (reader, beginner))])
table(rows, ["word", "most similar after pre-training", "after 100 labels"])

# %%
groups = "must can should two three four row column axis compute return estimate".split()
vectors = nn.functional.normalize(reader.encoder.embedding.symbols.weight.detach(), dim=1)
rows = vectors[words.encode(groups)]
cosines = rows @ rows.T
same = torch.eye(4).bool().repeat_interleave(3, 0).repeat_interleave(3, 1)  # of one group
within, across = cosines[same & ~torch.eye(12).bool()].mean(), cosines[~same].mean()

# %% tags=["evidence"] mystnb={"figure": {"caption": "Words that can fill the same gap have become alike: cosines between rows of the table, after pre-training.", "name": "fig-pre-alike"}, "image": {"alt": "A square map of twelve words by twelve: must, can, should; two, three, four; row, column, axis; compute, return, estimate. Along the diagonal there are bright squares of three by three."}}
ax = plt.subplots(figsize=(6.0, 5.0))[1]
heat_map(cosines, xlabel="", ylabel="", value_label="cosine", ax=ax, rows=groups, columns=groups)
ax.tick_params(axis="x", labelrotation=60)
plt.show()

# %% tags=["evidence"]
observe(
    "Within the four groups the mean cosine is {within:.2f}; between them it is {across:.2f}.",
    within=within.item(),
    across=across.item(),
    holds=within > across + 0.15,
)

# %% [markdown]
# Words that can fill the same gaps needed similar vectors, because the head compares each gap's vector with theirs. A hundred labels teach nothing of the kind.

# %% [markdown]
# ## Show someone
#
# *6 minutes.* The stored reader fills the gap that you leave. Write a sentence in the style of a library's documentation, with `___` for one word, and let someone guess before the reader does. Then change an *a* to *an*. All its weights come with this page, and it computes its guesses as you type.

# %% tags=["view"]
fill_the_gap(
    "reader",
    names=libraries.NAMES,
    sentences=[
        "Take elements from an ___ along an axis.",
        "Take elements from a ___ along an axis.",
        "The input ___ have the same shape.",
    ],
)

# %% [markdown]
# Or, in JupyterLab:

# %% tags=["nbval-ignore-output"]
for word, p in filling.fill(reader, "Compute the ___ of a matrix.")[0]:
    print(f"{word:15}{p:4.0%}")

# %% [markdown]
# ## Where it breaks
#
# *4 minutes.* Around a single gap, all the neighbours are visible. What if they are missing, too?

# %%
longer, lengths = pad([[*ids, EOS] for ids in held if len(ids) > 15])


@torch.no_grad()
def found_of(n):
    """Share that the reader finds of n neighbours, hidden amid long validation sentences."""
    places = (lengths // 2 - n // 2)[:, None] + torch.arange(n)
    gone = longer.gather(1, places)
    x = reader(longer.scatter(1, places, MASK), lengths)
    x = x[torch.arange(len(longer))[:, None], places]  # (B, n, D)
    return (reader.head(x).argmax(dim=-1) == gone)[gone > MASK].double().mean().item()


gaps = {n: found_of(n) for n in (1, 2, 3, 4, 6, 8)}

# %% tags=["evidence"] mystnb={"figure": {"caption": "The longer the gap, the fewer of its words are found: share of hidden words that are the reader's first guess, in the middle of long validation sentences.", "name": "fig-pre-gaps"}, "image": {"alt": "A falling curve over gaps of 1 to 8 words, from 30 percent to 12."}}
ax = curves(
    {"": (list(gaps), [100 * share for share in gaps.values()])}, "gap (words)", "found (%)"
)
ax.set_ylim(0)
plt.show()

# %% [markdown]
# And if everything after the first few words is missing, can the reader write? We let it fill eight gaps at once.


# %%
def written(beginning, n=8):
    """The likeliest word of each gap."""
    p = filling.chances_of(reader, [*beginning, *[filling.HIDDEN] * n])
    return [words.symbols[MASK + 1 + i] for i in p.argmax(dim=1).tolist()]


def twice(texts):
    """The share of words that repeat the word before them."""
    steps = [step for text in texts for step in zip(text, text[1:])]
    return fmean(float(one == other) for one, other in steps)


repeats = twice([written(text[:3]) for text in few.validation.texts[:100]])
real = twice(few.validation.texts)

# %% tags=["evidence"]
observe(
    "It finds {one:.0%} of single hidden words, but only {eight:.0%} of those in gaps of eight. And it writes: “compute the {text}”. {repeats:.0%} of its words repeat the word before them; in real sentences {real:.1%} do.",
    one=gaps[1],
    eight=gaps[8],
    text=" ".join(written(["compute", "the"])).replace("<name>", "‹name›"),
    repeats=repeats,
    real=real,
    holds=gaps[8] < gaps[1] - 0.05 and repeats > real + 0.2,
)

# %% [markdown]
# In training it was asked for each word separately, and never whether two answers go together.

# %% tags=["mechanism"] mystnb={"figure": {"caption": "The likeliest words of two gaps, chosen separately, make a phrase that does not exist. The probabilities of the three phrases are invented for this picture.", "name": "fig-pre-apart"}, "image": {"alt": "The first row, read, has set the and two question marks. Below are three pairs that go together: color map with a probability of 0.4, line width with 0.3 and bar width with 0.3. The last row, filled, has set the, color with 0.4 and width with 0.6."}}
phrases = {("color", "map"): 0.4, ("line", "width"): 0.3, ("bar", "width"): 0.3}
mechanisms.each_for_itself(phrases)
plt.show()

# %%
ours = sum(weight.numel() for weight in reader.parameters())
base = published_sizes("BERT-base").total

# %% tags=["evidence"]
observe(
    "There is a second problem: every task needs a fine-tuned copy. Each copy of our model has {ours:,} parameters and takes {mb:.1f} MB; each copy of BERT-base has {millions:.0f} million and takes {large:.0f} MB.",
    ours=ours,
    mb=4 * ours / 1e6,
    millions=base / 1e6,
    large=4 * base / 1e6,
    holds=100e6 < base < 120e6,
)

# %% [markdown]
# Yesterday's writer knows, at each word, what it has just written, but it sees only one side. Models [with both parts](deeper/10_pretraining.ipynb#deeper-spans) solve the first problem. The second, size, is tomorrow's subject.

# %% [markdown]
# ## What we found
#
# *1 minute.* One claim that you will often read, and our answer. Five more are on the [deeper page](deeper/10_pretraining.ipynb).
#
# (claim-pre-3)=

# %% tags=["evidence"]
claim(
    "pre-3",
    "Yes: with 100 labels, {read:.0%} of the sentences are classified correctly after pre-training and {fresh:.0%} from scratch. Without pre-training, reaching {more:.0%} takes 2,500 labels.",
    read=at[100][0],
    fresh=at[100][1],
    more=at[2500][1],
    holds=lambda read, fresh, more: fresh + 0.1 < read < more < read + 0.05,
    experiment="few_labels",
    scale="238,000 words to read, five libraries to tell apart; four learning rates each, three seeds",
)

# %% [markdown]
# **What can a model learn from text that nobody has labelled?** Which words can replace one another, what a passage is about, and even which words begin with a vowel. That is enough for a hundred labels to do the work of several hundred or, for a network from scratch, of thousands.

# %% [markdown]
# ## Exercises
#
# More are on the [deeper page](deeper/10_pretraining.ipynb), and all solutions are on [a page of their own](solutions/10_pretraining.ipynb).
#
# ```{exercise} Predict: how much of a text is ever asked for?
# :label: exercise-asked-at-least-once
#
# *Warm-up, 4 minutes.* A model reads a text ten times, and each time 15% of the words are asked for. If the masks are drawn only once, only 15% of the words are ever asked for. If they are drawn afresh for each pass, what percentage is asked for at least once?
# ([Solution](solutions/10_pretraining.ipynb#solution-asked-at-least-once))
# ```

# %%
my_share = None

check("asked_at_least_once", my_share)

# %% [markdown]
# ## Checklist and tomorrow

# %% tags=["view"]
points = {
    "hide words by BERT's 80/10/10 rule, and say how far a visible word can then be trusted": "mask_words trusted_word",
    "compute the loss on the hidden words, and on nothing else": "masked_word_loss",
    "say why new masks in each pass teach more than fixed ones": "asked_at_least_once",
    "find out by experiment what a model knows that it was never told": "vowel_share",
}
checklist({point: ids.split() for point, ids in points.items()})

# %% [markdown]
# **Tomorrow** we make the reader small: one megabyte is a lot for filling gaps, and ten tasks would take ten. How much of it can go before it forgets what it has read?

# %% [markdown]
# ## Further reading
#
# - {cite:t}`devlin2019bert`: BERT.
# - {cite:t}`howard2018universal`, who fine-tuned a pre-trained model before BERT did, and counted the labels that this saves.
# - {cite:t}`liu2019roberta`, who train BERT longer, draw new masks for each pass, and leave out its question about the next sentence.
