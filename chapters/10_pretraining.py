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
# **Today's question:** what can a model learn from text that nobody has labelled, and how small can it be made afterwards?
#
# After today you can
#
# - hide words by BERT's 80/10/10 rule, and say what each share is meant for,
# - ask for the hidden words, and for nothing else,
# - teach a small model what a large one knows, not only what is right,
# - say how much smaller half the blocks make a model.
#
# It builds on [Day 6](06_transformer.ipynb)'s encoder, [Day 8](08_text_classification.ipynb)'s sentences and [Day 9](09_gpt.ipynb)'s loss. You need 55 minutes to read and
# 25 to write four functions. At the end, a model trained with your functions fills the gap in a sentence of yours.

# %% tags=["setup"]
import convolution_to_attention  # is `utils` this book's?

from collections import Counter
from copy import deepcopy
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
from utils.pretraining import published_sizes, student_of
from utils.show.display import observe, show_source, table
from utils.show.mechanisms import pretraining as mechanisms
from utils.show.plotting import bars, curves, use_book_style
from utils.show.views import Guesser, fill_the_gap, guess, hidden_words, quiz

# %% tags=["setup"]
from utils.tasks import filling
from utils.tasks.distilling import distil, sizes_of
from utils.tasks.held_out import guessed
from utils.tasks.fine_tuning import classifier, fine_tune, with_labels
from utils.tasks.pretraining import SHARE, STEPS, Hidden, new_model, sizes, vocabulary, with_muon
from utils.tasks.reading import as_ids, bag_of_words, logits_of
from utils.training.loop import fit
from utils.transformer import Encoder

use_book_style()


def with_range(shares):
    """The mean of three seeds in percent, the lowest and the highest."""
    least, mean, most = (100 * f(shares) for f in (min, fmean, max))
    return f"{mean:.1f} ({least:.1f} to {most:.1f})"


# %% [markdown]
# **Five questions about yesterday**

# %% tags=["view"]
quiz("10_pretraining")

# %% [markdown]
# ## Where we stand
#
# *3 minutes.* Day 8 asked which of five libraries a sentence is from, and learned it from 6,000 sentences whose library was known. Such labels are somebody's work. What if there are only a hundred? (Ours are known; we act as if they weren't.) We give them to an encoder like Day 8's, of two blocks, and to a bag of words.

# %%
words, few = vocabulary(), with_labels(100)
held, truth = as_ids(few.validation, words)
stored = experiments.load("few_labels")


def rate(start):
    """The best of four for 100 labels (for a bag: of four penalties), from a stored experiment."""
    return stored.column("rate, 100 labels", start=start)[0]


def right(logits):
    """Share of the validation sentences that are given their library."""
    return (logits.argmax(dim=1) == truth).double().mean().item()


# %% tags=["training"]
beginner = fine_tune(classifier(new_model(0), 5), few, rate("from scratch"))
bag = bag_of_words(rate("bag of words")).fit(few.train.texts, few.train.labels)

# %%
of_beginner = right(logits_of(beginner, held))
of_bag = right(torch.from_numpy(bag.predict_log_proba(few.validation.texts)))
unlabelled = libraries.unlabelled()

# %% tags=["evidence"]
observe(
    "Of the new sentences, the encoder gets {network:.0%} right, the bag {bag:.0%}, and a guess 20 %. Another {lie:,} have no label.",
    network=of_beginner,
    bag=of_bag,
    lie=sum(map(len, unlabelled)),
    holds=0.2 < of_beginner < 0.4 and 0.24 < of_bag < 0.4,
)

# %% [markdown]
# The encoder is not much better than a guess. It doesn't know which words mean nearly the same, which go together, or that some are verbs, and a hundred labels can't teach that. The other sentences could. But what should a model be asked, where nobody has written an answer?

# %% [markdown]
# ## The idea
#
# *4 minutes.* Take a word away, and ask for it. The text holds the answer, as yesterday. But now the model may look at *both* sides: it isn't going to write, so there is no future to hide.

# %% tags=["mechanism"] mystnb={"figure": {"caption": "What a guess may look at. Empty cells are not shown to GPT.", "name": "fig-pre-sides"}, "image": {"alt": "The sentence take elements from an array along an axis twice, with a question mark for array. Above, GPT: arrows lead to it from the four words before, and the three words behind are blank. Below, today: arrows come from all seven other words."}}
mechanisms.both_sides()
plt.show()

# %% [markdown]
# Much may follow *from an*. With *along an axis* on the other side, little is left. A model that guesses the word knows something about arrays. This is **BERT**, the *bidirectional encoder representations from Transformers* {cite}`devlin2019bert`: Day 6's encoder, **pre-trained** as a **masked language model**, and then **fine-tuned**: trained further, with the labels of a task.
#
# *Bidirectional* sounds like a recurrent network that runs both ways. It isn't one: nothing is handed from word to word ([counted](deeper/10_pretraining.ipynb#claim-pre-1)). It sees both sides because it has no causal mask.

# %% tags=["mechanism"] mystnb={"figure": {"caption": "The day. In the middle, a model learns to guess words. What it has learned goes into a task, left, and into a smaller model, right.", "name": "fig-pre-road"}, "image": {"alt": "Three towers of boxes. In the middle, 1. pre-train: text without labels, table of words, two blocks, which word? Left, 2. fine-tune: a few labels, table of words, two blocks, which library? Right, 3. distil: text, and a teacher, table of words, one block, which word? Arrows lead from the middle tower to both others."}}
mechanisms.road()
plt.show()

# %% [markdown]
# ## Step by step
#
# ### Hide some words
#
# *12 minutes, 9 of them yours.* What should stand where a word is asked for? A sign of its own, `[MASK]`, comes to mind. BERT's authors saw a trap in it: when the model is tuned later, no sentence has a `[MASK]`. It might have learned to make useful vectors only where that sign stands. So they made a rule.

# %% tags=["mechanism"] mystnb={"figure": {"caption": "Of ten words that are asked for, eight become [MASK], one another word, and one stays. Since no word can be trusted, each has to be checked against the others.", "name": "fig-pre-trap"}, "image": {"alt": "Four rows of take elements from an array along an axis. In the first, 8 in 10, array is replaced by [MASK]; in the second, 1 in 10, by color; in the third, 1 in 10, it stays. Above them: asked in all three: array? The last row, tuned, has all its words: no [MASK] any more, and every word has to count."}}
mechanisms.trap()
plt.show()

# %% [markdown]
# The wrong word should teach the model to doubt what it reads, the word that stays, that it may be right. (Whether they do, [we couldn't tell](deeper/10_pretraining.ipynb#deeper-masking).) So two dice, numbers from 0 to 1, are cast for each word, and another word is drawn. The first die, `hides`, says whether it is asked for, the second, `how`, what stands in its place. They are cast anew whenever a text is read: a text whose gaps never change asks fewer questions.

# %% tags=["mechanism"] mystnb={"figure": {"caption": "Two dice for each word, at BERT's share, 15 %. Three words are asked for, and each fares differently.", "name": "fig-pre-dice"}, "image": {"alt": "Five rows over the eight words of the sentence. hides: 0.81, 0.12, 0.55, 0.93, 0.06, 0.38, 0.09, 0.70, of which the second, fifth and seventh are lit. how, for these: 0.93, 0.41, 0.85. read: elements has become draw, array [MASK], and an is still an. target: elements, array, an."}}
hides = [0.81, 0.12, 0.55, 0.93, 0.06, 0.38, 0.09, 0.70]
how = [0.10, 0.93, 0.20, 0.10, 0.41, 0.50, 0.85, 0.60]
others = "color draw axis same file not is size".split()
mechanisms.hiding(hides, how, others, share=0.15)
plt.show()

# %% [markdown]
# ```{exercise} Hide words
# :label: exercise-mask-words
#
# *9 minutes.* A word is asked for where `hides` is below the share. We call it hidden, even if it stays. It becomes `MASK` = 4 where `how` is below 0.8, and the word of `dice.words` where `how` is 0.9 or more; between, it stays. Words are the ids above 4. The others (padding, ends, unknown words) are never asked for. The target is the word that stood there, and `IGNORE` = −100 where nothing is asked.
# ([Solution](solutions/10_pretraining.ipynb#solution-mask-words))
# ```


# %%
def mask_words(ids, dice, share):
    """Shapes: ids, dice.hides, dice.how, dice.words (B, T); to what is read, and the targets."""
    raise NotImplementedError


mask_words = check("mask_words", mask_words)

# %%
check.show_reference("mask_words")

# %% [markdown]
# ### Ask only there
#
# *7 minutes, 5 of them yours.* The encoder turns each word into a vector $x_t$, and a **head** turns a vector into a score for every word it knows. The loss is about the hidden places $M$ alone:
#
# $$
# \mathcal{L} = -\frac{1}{|M|} \sum_{t \in M} \ln p(w_t \mid x_t) .
# $$ (eq-masked-words)

# %% tags=["mechanism"] mystnb={"figure": {"caption": "The loss of three words, with chances made up for this picture. The other places are read, and not asked.", "name": "fig-pre-loss"}, "image": {"alt": "A row of read words, a row of eight vectors x above. From three vectors arrows lead on to the targets elements, array and an, with the chances 0.02, 0.60 and 0.40 and the losses 3.91, 0.51 and 0.92, mean of 3: 1.78."}}
read = ["take", "draw", "from", "an", "[MASK]", "along", "an", "axis"]
mechanisms.asked_alone(read, {1: 0.02, 4: 0.6, 6: 0.4})
plt.show()

# %% [markdown]
# If every word were asked for, most would stand there to be copied, as for yesterday's first model. And the scores, thousands of them for each place, cost the most. So the head is called for hidden places only.
#
# ```{exercise} The loss of hidden words
# :label: exercise-masked-word-loss
#
# *5 minutes.* Write {eq}`eq-masked-words` for a batch: one mean over all words that are asked for, across all texts. ([Solution](solutions/10_pretraining.ipynb#solution-masked-word-loss))
# ```


# %%
def masked_word_loss(head, x, target):
    """Shapes: head, (n, D) to logits (n, V); x (B, T, D); target (B, T), -100 where not asked."""
    raise NotImplementedError


masked_word_loss = check("masked_word_loss", masked_word_loss)

# %%
check.show_reference("masked_word_loss")

# %% [markdown]
# ### What to read
#
# *4 minutes.* A question teaches something if its answer can be found, but not too easily. So it matters what stands around a gap. Our text comes in modules, such as `numpy.lib.format`, of some twenty sentences each.

# %% tags=["mechanism"] mystnb={"figure": {"caption": "A module, and three ways to take a passage from it.", "name": "fig-pre-passages"}, "image": {"alt": "Left a module of eight sentences, 0 to 7. Beside it: one sentence, 2; in order, 2, 3, 4, 5; mixed, 6, 1, 7, 3."}}
mechanisms.passages()
plt.show()

# %% tags=["view"]
kinds = "one sentence", "in order", "mixed"
after = {kind: stored.column("100 labels", start=kind)[0] for kind in kinds}
after["nothing read"] = stored.column("100 labels", start="from scratch")[0]
best = max(kinds, key=lambda kind: fmean(after[kind]))
guess(
    "An encoder reads passages of one kind, and is tuned with 100 labels. Which kind serves it best?",
    list(kinds),
    right=best,
    because=f"After it, {fmean(after[best]):.0%} of the test sentences are right. A sentence alone gives little to go by. Mixed sentences are a little ahead of those in order. They come from all over a module, so perhaps the model has to find out what it is about.",
)

# %% tags=["evidence"] mystnb={"figure": {"caption": "Test sentences that get their library after 100 labels, by what was read before: means of three seeds, lines from the lowest to the highest (stored experiment).", "name": "fig-pre-kinds"}, "image": {"alt": "Four bars. After single sentences 36 percent are right, after sentences in order 45, after mixed ones 48, and 30 where nothing was read."}}
bars({kind: [100 * share for share in of] for kind, of in after.items()}, "right (%)")
plt.show()

# %% [markdown]
# The first three read the same number of words. But the sentences of a module are all from one library. Nobody says from which; that they stand together is a hint, and most of what reading brings comes with it. It is a hint that texts give everywhere: a document has a subject. Our model reads mixed sentences, in passages of 128 words.
#
# ### Pre-train
#
# *6 minutes.* The model is Day 6's encoder and a head. The head is a layer, a norm, and the table of words once more: a vector is compared with the row of each word, as on Day 6.


# %%
class Reader(nn.Module):
    """Ids (B, T), padded behind lengths (B,), to vectors (B, T, D), from which the head guesses."""

    def __init__(self, config):
        super().__init__()
        self.config = config
        self.encoder = Encoder(config)
        table = self.encoder.embedding.symbols
        self.head = MaskedWordHead(config.d_model, table, config.activation, nn.LayerNorm)

    def forward(self, ids, lengths=None):
        return self.encoder(ids, lengths)[0]

    read = forward


# %% [markdown]
# BERT hides 15 % of the words, and reads a million batches. We have 1,500 of them, so each has to ask more: we hide half. (Large models, too, do better with more than 15 % {cite}`wettig2023mask`.) The optimiser is Muon, from [yesterday's race](deeper/09_gpt.ipynb#deeper-race). The cell after the next runs for about a minute.


# %%
def hide(ids):
    return mask_words(ids, cast_dice(ids.shape, len(words)), SHARE)


# %% tags=["training"]
torch.manual_seed(0)
teacher = Reader(sizes())
optimiser, schedule = with_muon(teacher, teacher.encoder.blocks, STEPS)
loss = partial(masked_word_loss, teacher.head)
batches = Hidden(STEPS, mask=hide)
history = fit(teacher, batches, loss, optimiser, epochs=1, schedule=schedule)

# %% tags=["evidence"] mystnb={"figure": {"caption": "Loss while the encoder reads: means of 20 steps, of 8 passages each.", "name": "fig-pre-training"}, "image": {"alt": "A curve over 1,500 steps that falls from above eight nats to below six in 100 steps, and then slowly to four."}}
means = torch.tensor(history.step_loss).view(-1, 20).mean(dim=1)
curves({"": (range(20, STEPS + 1, 20), means)}, "step", "loss (nats per hidden word)")
plt.show()

# %% [markdown]
# Now our sentence, which is from a module that it has not read. We hide each of its words in turn. (`<name>` and `<number>` are Day 8's signs, and *masked* is a word of these libraries: there are masked arrays.)

# %% tags=["evidence", "nbval-ignore-output"]
said = list(mechanisms.SENTENCE)
guesses = filling.guesses(teacher.eval(), said)
rows = [
    [word, " · ".join(other for other, _ in best), f"{100 * p:.1f}"]
    for word, (best, p) in zip(said, guesses)
]
table(rows, ["hidden", "five best guesses", "chance of the hidden word (%)"])

# %%
of_words = guessed(teacher)["right"]  # of what is hidden in other modules
the = fmean(float(word == "the") for text in few.validation.texts for word in text)

# %% tags=["evidence"]
observe(
    "In modules that were left out, its first guess is right for {found:.0%} of the hidden words. Always to say “the” would be right for {the:.0%}.",
    found=of_words,
    the=the,
    holds=of_words > 2 * the,
)

# %% [markdown]
# All its guesses for *array* begin with a vowel, because of *an*, and so do all its words for *axis*. Nobody has told it about vowels, or about spelling.
#
# ### Tune it with a few labels
#
# *7 minutes.* The head goes. In its place comes what Day 8 had, the mean of all vectors and a layer with five outputs. That layer is new, and begins with zeros. The table and the blocks begin with what they have learned, and keep learning.

# %% tags=["mechanism"] mystnb={"figure": {"caption": "Fine-tuning: table and blocks are kept, the question is new.", "name": "fig-pre-tuned"}, "image": {"alt": "The three towers again. The left one, 2. fine-tune, with a few labels, the table, two blocks and which library?, is framed."}}
mechanisms.road(lit=2)
plt.show()

# %%
show_source(classifier)

# %% tags=["training"]
tuned = fine_tune(classifier(teacher, 5), few, rate("mixed"))
of_tuned = right(logits_of(tuned, held))

# %% tags=["evidence"]
observe(
    "With the same 100 labels and as many steps, the encoder that has read gets {tuned:.0%} right, the one that has not {beginner:.0%}, the bag {bag:.0%}.",
    tuned=of_tuned,
    beginner=of_beginner,
    bag=of_bag,
    holds=of_tuned > max(of_beginner, of_bag) + 0.02,
)

# %% [markdown]
# That was one run, judged on validation sentences. A stored experiment pre-trained three encoders. These, three from scratch and the bag got 30 to 2,500 labels. The validation set chose among four settings each; the test set was used once.

# %%
starts = {"has read": "mixed", "has not": "from scratch", "bag of words": "bag of words"}
labels = [30, 100, 300, 1000, 2500]
measured = {
    name: torch.tensor([stored.column(f"{n} labels", start=start)[0] for n in labels])
    for name, start in starts.items()
}  # (5, 3) each

# %% tags=["view"]
goal = measured["has read"][1].mean()
enough = [n for n, of in zip(labels, measured["has not"]) if of.mean() >= goal]
options = [*(f"{n:,}" for n in labels[1:]), "more than 2,500"]
guess(
    "How many labels does an encoder that has read nothing need to match the other's result with 100?",
    options,
    right=f"{enough[0]:,}" if enough else options[-1],
    because=f"The one that has read gets {goal:.0%} of the test sentences right with 100 labels.",
)

# %% tags=["evidence"] mystnb={"figure": {"caption": "Test sentences that get their library, by the number of labels: means and ranges of three seeds (stored experiment). The horizontal axis is logarithmic.", "name": "fig-pre-labels"}, "image": {"alt": "Three rising curves over 30 to 2,500 labels. What has read begins near 39 percent, reaches 48 at 100 labels, 54 at 1,000, and stays. The bag of words rises from 25 to 54, and what has not read from 27 to 49."}}
lines = {name: (labels, 100 * of.T) for name, of in measured.items()}
ax = curves(lines, "labels", "right (%)", logx=True)
ax.set_xticks(labels, [f"{n:,}" for n in labels])
ax.minorticks_off()
plt.show()

# %% tags=["evidence"]
at = {n: [of[i].mean() for of in measured.values()] for i, n in enumerate(labels)}
observe(
    "With 100 labels: {read:.0%} after reading, {fresh:.0%} without, and {bag:.0%} for the bag. With 2,500: {more:.0%}, {fresher:.0%} and {larger:.0%}.",
    **dict(zip(("read", "fresh", "bag"), at[100])),
    **dict(zip(("more", "fresher", "larger"), at[2500])),
    holds=0.12 < at[100][0] - at[100][2] < 0.18
    and at[2500][1] < at[2500][0] - 0.03
    and abs(at[2500][0] - at[2500][2]) < 0.02
    and enough == [2500]
    and at[300][2] < goal < at[1000][2],
)

# %% [markdown]
# To this network, reading is worth ten to twenty-five times as many labels. The bag, fifteen points behind with 100, gets that far with 1,000. With 2,500 counting does as well as reading.
#
# **Enough for tonight?** This is a good place to stop. What follows, some 35 minutes, makes the model small.

# %% [markdown]
# ### Make it small
#
# *13 minutes, 10 of them yours.* A model that a million people use should be small. A small one could read the same text by itself. Or a large one, its **teacher**, could help this **student**: that is **distillation** {cite}`hinton2015distilling`. Of a hidden word the text says only what it was. The teacher says more: that *matrix* would nearly have done, and *image* would not.

# %% tags=["mechanism"] mystnb={"figure": {"caption": "A hard target, and a teacher's soft ones, made up for this picture. A temperature τ above 1 (Day 2) brings out what is unlikely.", "name": "fig-pre-soft"}, "image": {"alt": "Three rows over array, matrix, tensor, image, axis. The text: 1, 0, 0, 0, 0. Teacher with temperature 1: 0.76, 0.17, 0.06, 0.01, 0.01. With temperature 2: 0.51, 0.24, 0.15, 0.05, 0.04."}}
likely = torch.tensor([5.0, 3.5, 2.5, 0.5, 0.0])
mechanisms.soft("array matrix tensor image axis".split(), likely, 0, [1, 2])
plt.show()

# %% [markdown]
# Let $p$ be the teacher's softmax of logits divided by $\tau$, and $q$ the student's. The student should agree:
#
# $$
# \mathcal{L}_\text{soft} = \frac{\tau^2}{|M|} \sum_{t \in M} \sum_{i=1}^{V} p_{t,i} \ln \frac{p_{t,i}}{q_{t,i}} .
# $$ (eq-soft-targets)
#
# Both are divided by $\tau$, so that a student with the same logits has a loss of 0. At a higher temperature, gradients are smaller, by about $1/\tau^2$: once because $p$ and $q$ come closer, and once through the division. The factor makes up for it.
#
# ```{exercise} Soft targets
# :label: exercise-soft-targets
#
# *6 minutes.* Write {eq}`eq-soft-targets`. Some chances are so small that a computer rounds them to 0. ([Solution](solutions/10_pretraining.ipynb#solution-soft-targets))
# ```


# %%
def soft_target_loss(student_logits, teacher_logits, tau):
    """Shapes: logits (n, V) of both, for n hidden words; to a scalar tensor."""
    raise NotImplementedError


soft_target_loss = check("soft_targets", soft_target_loss)

# %%
check.show_reference("soft_targets")

# %% [markdown]
# And where does a student begin? **DistilBERT** {cite}`sanh2019distilbert` begins as half of its teacher: with the table, the head, and every second block.

# %% tags=["mechanism"] mystnb={"figure": {"caption": "Students before they have learned anything themselves. Ours takes one block of two; table and head, not drawn, come along.", "name": "fig-pre-halved"}, "image": {"alt": "Left a tower of 12 blocks, BERT, with arrows from blocks 0, 2, 4, 6, 8 and 10 to the six blocks of DistilBERT. Right our teacher, of two blocks, with an arrow from block 0 to the only block of the student."}}
mechanisms.halved([("BERT", "DistilBERT", 12), ("our teacher", "student", 2)])
plt.show()

# %% [markdown]
# ```{exercise} Every second block
# :label: exercise-every-second
#
# *4 minutes.* Take every second block of a list, from the first on, in order. They are copies: what the student learns must leave its teacher as it is. ([Solution](solutions/10_pretraining.ipynb#solution-every-second))
# ```


# %%
def every_second(blocks):
    """A list of blocks, which are modules, to a list of half as many."""
    raise NotImplementedError


every_second = check("every_second", every_second)

# %%
check.show_reference("every_second")

# %%
student = student_of(teacher, every_second)
untaught = deepcopy(student).eval()

# %% [markdown]
# Both read the same text. The student's loss has three parts: the hidden words, as before; the soft targets, with your function; and 1 − cosine of the angle between its last vectors and the teacher's. (DistilBERT also leaves out what BERT adds to tell a first text from a second, and its pooler, a layer on the first vector. Our teacher has neither.)

# %%
show_source(distil)

# %% tags=["training"]
history = distil(teacher, student, Hidden(400, mask=hide), soft_targets=soft_target_loss)
half, taught = (guessed(model)["right"] for model in (untaught, student))

# %% tags=["evidence"]
observe(
    "Of the hidden words, the teacher finds {teacher:.0%}. Half of its blocks find {half:.0%} as they are, and {taught:.0%} after 400 steps.",
    teacher=of_words,
    half=half,
    taught=taught,
    holds=half < taught - 0.03 and taught > of_words - 0.08,
)

# %% [markdown]
# ## Is it right?
#
# *1 minute.* Your losses against PyTorch's. (The whole model against the library `transformers`, with weights in the published form: [deeper](deeper/10_pretraining.ipynb#deeper-published).)

# %% tags=["evidence"]
torch.manual_seed(0)
x, target = torch.randn(3, 9, 16).double(), torch.randint(5, 40, (3, 9))
target[torch.rand(3, 9) < 0.8] = IGNORE
head = nn.Linear(16, 40).double()
expected = nn.functional.cross_entropy(head(x).flatten(0, 1), target.flatten())
torch.testing.assert_close(masked_word_loss(head, x, target), expected, rtol=1e-10, atol=1e-10)

z, v = torch.randn(2, 6, 40).double() * 3
log_q, log_p = ((of / 2).log_softmax(dim=1) for of in (z, v))
expected = 4 * nn.KLDivLoss(reduction="batchmean", log_target=True)(log_q, log_p)
torch.testing.assert_close(soft_target_loss(z, v, 2.0), expected, rtol=1e-10, atol=1e-10)
print("both agree with PyTorch's: ten digits")

# %% [markdown]
# ## Train it
#
# *5 minutes.* How small is the student now, how fast, and how good?

# %% tags=["view"]
large, small = sizes_of(teacher), sizes_of(student)
fewer = 1 - small.parameters / large.parameters
guess(
    "The student has half of the blocks. How many parameters does that save?",
    ["about 10 %", "about 40 %", "50 %"],
    right=0 if fewer < 0.25 else 1,
    because=f"{fewer:.0%}: {large.parameters:,} became {small.parameters:,}. The table of words is as large as before, and holds most of them.",
)

# %%
distilled, timed = experiments.load("distilled"), experiments.load("student_time")
rivals = {
    "teacher": "teacher",
    "student": "student",
    "its start, no lessons": "without a teacher",
    "its lessons, random start": "from nothing",
    "neither": "without a teacher, from nothing",
    "neither, 1,900 steps": "alone, as long as both",
}
quality = {
    n: {name: distilled.column(f"{n} labels", model=of)[0] for name, of in rivals.items()}
    for n in (100, 1000)
}
for n, of in quality.items():
    of["bag of words"] = stored.column(f"{n} labels", start="bag of words")[0]

# %% tags=["evidence"]
(ms,) = timed.select(setting="ours, one sentence")
rows = []
for name, size in (("teacher", large), ("student", small)):
    rows.append([name, f"{size.parameters:,}", f"{size.bytes / 1e6:.2f}", f"{ms[name]:.2f}"])
rows.append(["bag of words", "–", "–", "–"])
rows = [[*row, *(with_range(of[row[0]]) for of in quality.values())] for row in rows]
headers = ["model", "parameters", "MB", "ms per sentence"]
table(rows, [*headers, "right (%), 100 labels", "1,000 labels"])

# %%
part = {
    n: {name: fmean(of[name]) / fmean(of["teacher"]) for name in of} for n, of in quality.items()
}
assert min(part[100]["its start, no lessons"], part[100]["its lessons, random start"]) > 0.97

# %% tags=["evidence"] mystnb={"figure": {"caption": "Test sentences that get their library after 100 labels: means of three seeds, lines from the lowest to the highest (stored experiment). The five bars below the teacher are models of one block. Four read for 400 steps, one for 1,900, as many as teacher and student together. *Start*: the teacher's block, table and head; *lessons*: its soft targets and vectors.", "name": "fig-pre-small"}, "image": {"alt": "Seven bars. The teacher, the student, the start without lessons, the lessons from a random start, and neither after 1,900 steps are all between 43 and 51 percent; neither after 400 steps is at 35, and the bag of words at 33."}}
bars({name: [100 * share for share in of] for name, of in quality[100].items()}, "right (%)")
plt.show()

# %% [markdown]
# The student is an eighth smaller than its teacher, as good, and needs little more than half of the time. With 100 labels and neither gift, the same network is hardly better than the bag. But either gift would have done, and so would 1,900 steps of reading. So what a teacher saves a student here is reading: a fifth of the steps will do. That counts where the teacher is there already, as BERT was.

# %% [markdown]
# ## Look inside
#
# *7 minutes.* At the beginning, no word was like another. Now we can ask the table of words: which vectors point the same way as that of *must*? We ask it twice, after pre-training, and after a hundred labels alone.


# %%
often = Counter(word for module in unlabelled for said in module for word in said)


def alike(model, word, n=4):
    """The words with the smallest angles to a word, of those that occur 30 times or more."""
    vectors = nn.functional.normalize(model.encoder.embedding.symbols.weight.detach(), dim=1)
    near = vectors @ vectors[words.encode([word])[0]]
    order = [words.symbols[i] for i in near.argsort(descending=True)]
    return [other for other in order if often[other] >= 30 and other != word][:n]


# %% tags=["evidence", "nbval-ignore-output"]
rows = []
for word in "must compute row maximum two".split():
    rows.append([word, *(" · ".join(alike(model, word)) for model in (teacher, beginner))])
table(rows, ["word", "most alike after pre-training", "after 100 labels"])

# %% [markdown]
# In the middle are mostly words that can fill the same gaps, so their vectors had to become alike. A hundred labels teach nothing of the kind.
#
# Hide a word of our sentence, or of two others that no model has read. The slider begins with the teacher. It goes on to its student, and to half the teacher, as it was before it was taught.

# %% tags=["view"]
texts = [said]
for text in ("change the dimensions of an array", "the model according to the given training data"):
    texts.append(text.split())
everything = " ".join(word for module in unlabelled for sentence in module for word in sentence)
assert not any(" ".join(text) in everything for text in texts)
models = {"teacher": (teacher, of_words), "student": (student, taught)}
models["half the teacher, untaught"] = untaught, half
guessers = [
    Guesser(name, sizes_of(of).parameters, share, [filling.guesses(of, text) for text in texts])
    for name, (of, share) in models.items()
]
hidden_words(texts, guessers, measure="hidden words found")

# %% [markdown]
# ## Show someone
#
# *4 minutes.* Your student fills the gap that you leave. Write a sentence as a library's documentation would, with `___` for a word. The student is small enough to come along in this page, each weight in [a single byte](deeper/10_pretraining.ipynb#deeper-int8), and it computes while you type.

# %% tags=["view"]
fill_the_gap(
    filling.in_int8(student),
    words.symbols,
    n_heads=4,
    names=libraries.NAMES,
    sentence="Take elements from an ___ along an axis.",
)

# %% [markdown]
# Or, in JupyterLab:

# %% tags=["nbval-ignore-output"]
for word, chance in filling.fill(student, "Compute the ___ of a matrix.")[0]:
    print(f"{word:15}{chance:4.0%}")

# %% [markdown]
# ## Where it breaks
#
# *4 minutes.* A single gap has all its neighbours. What if they are missing, too?

# %%
longer, lengths = pad([[*ids, EOS] for ids in held if len(ids) > 15])


@torch.no_grad()
def found(n):
    """Share that the teacher guesses of n neighbours, hidden amid long validation sentences."""
    places = (lengths // 2 - n // 2)[:, None] + torch.arange(n)
    gone = longer.gather(1, places)
    x = teacher(longer.scatter(1, places, MASK), lengths)
    x = x[torch.arange(len(longer))[:, None], places]  # (B, n, D)
    return (teacher.head(x).argmax(dim=-1) == gone)[gone > MASK].double().mean().item()


gaps = {n: found(n) for n in (1, 2, 3, 4, 6, 8)}

# %% tags=["evidence"] mystnb={"figure": {"caption": "Hidden words that are the teacher's first guess, by how many words in a row are hidden in the middle of long validation sentences.", "name": "fig-pre-gaps"}, "image": {"alt": "A falling curve over gaps of 1 to 8 words, from 30 percent to 12."}}
ax = curves(
    {"": (list(gaps), [100 * share for share in gaps.values()])}, "gap (words)", "found (%)"
)
ax.set_ylim(0)
plt.show()

# %% [markdown]
# And if everything after the first words is missing, can it write? We let it fill eight gaps.


# %%
def written(beginning, n=8):
    """The likeliest word of each gap."""
    chances = filling.chances_of(teacher, [*beginning, *[filling.HIDDEN] * n])
    return [words.symbols[MASK + 1 + i] for i in chances.argmax(dim=1).tolist()]


def twice(texts):
    """Of all words, the share that repeats the one before."""
    steps = [step for text in texts for step in zip(text, text[1:])]
    return fmean(float(one == other) for one, other in steps)


# %% tags=["evidence"]
here = few.validation.texts[:100]
repeats, real = twice([written(text[:3]) for text in here]), twice(here)
observe(
    "Alone, {one:.0%} of the hidden words are found, eight in a row {eight:.0%}. And it writes: “compute the {text}”. Of its words {repeats:.0%} repeat the one before; in real sentences, {real:.1%} do.",
    one=gaps[1],
    eight=gaps[8],
    text=" ".join(written(["compute", "the"])).replace("<name>", "‹name›"),
    repeats=repeats,
    real=real,
    holds=gaps[8] < gaps[1] - 0.05 and repeats > real + 0.2,
)

# %% [markdown]
# It was asked for each word by itself, and never whether two guesses go together.

# %% tags=["mechanism"] mystnb={"figure": {"caption": "Three phrases, with chances made up for this picture. The likeliest word of each gap, taken for itself, makes a fourth that nobody says.", "name": "fig-pre-apart"}, "image": {"alt": "Above, read: set the and two question marks. Below, three pairs that go together: color map with 0.4, line width with 0.3 and bar width with 0.3. Last row, filled: set the, color 0.4, width 0.6."}}
phrases = {("color", "map"): 0.4, ("line", "width"): 0.3, ("bar", "width"): 0.3}
mechanisms.each_for_itself(phrases)
plt.show()

# %% [markdown]
# Yesterday's writer knows, at each word, what it has just written. But it sees one side only. What if one part read the sentence with its gaps, and another wrote what is missing?

# %% [markdown]
# ## What we found
#
# *2 minutes.* Sentences that one often reads, and our answers. More are on the [deeper page](deeper/10_pretraining.ipynb).
#
# (claim-pre-3)=

# %% tags=["evidence"]
claim(
    "pre-3",
    "Yes: with 100 labels {read:.0%} are right after reading, {fresh:.0%} from scratch, where it takes 2,500 labels for {more:.0%}.",
    read=at[100][0],
    fresh=at[100][1],
    more=at[2500][1],
    holds=lambda read, fresh, more: fresh + 0.1 < read < more < read + 0.05,
    experiment="few_labels",
    scale="238,000 words to read, five libraries to tell apart; four rates each, three seeds",
)

# %% [markdown]
# (claim-pre-5a)=

# %% tags=["evidence"]
distilbert, bert = (published_sizes(name).total for name in ("DistilBERT", "BERT-base"))
claim(
    "pre-5a",
    "Yes: its published sizes have {fewer:.0%} fewer. With half the blocks ours has {ours:.0%} fewer, since most are in the table of words.",
    fewer=1 - distilbert / bert,
    ours=fewer,
    holds=lambda fewer, ours: 0.38 < fewer < 0.41 and 0.05 < ours < 0.2,
    counted=True,
    scale="sizes of the papers, built as shapes alone; our teacher and its student",
)

# %% [markdown]
# (claim-pre-5b)=

# %% tags=["evidence"]
(theirs,) = timed.select(setting="published, 32 tokens")
claim(
    "pre-5b",
    "Yes, and more: at the published sizes it reads {bert:.0%} faster; our student, of half the blocks, reads {ours:.0%} faster than its teacher.",
    bert=theirs["teacher"] / theirs["student"] - 1,
    ours=ms["teacher"] / ms["student"] - 1,
    holds=lambda bert, ours: bert > 0.6 and ours > 0.3,
    experiment="student_time",
    scale="random weights; one text of 32 tokens, or of 16 words; one thread",
)

# %% [markdown]
# (claim-pre-5c)=

# %% tags=["evidence"]
claim(
    "pre-5c",
    "Yes: with 100 and 1,000 labels its accuracy is {few:.0%} and {more:.0%} of its teacher's. Untaught, in 1,900 steps: {alone:.0%} and {longer:.0%}.",
    few=part[100]["student"],
    more=part[1000]["student"],
    alone=part[100]["neither, 1,900 steps"],
    longer=part[1000]["neither, 1,900 steps"],
    holds=lambda few, more, alone, longer: (
        0.97 < few < 1.03 and 0.97 < more < 1.03 and alone > 0.93 and 0.93 < longer < 0.99
    ),
    experiment="distilled",
    scale="one of two blocks, 400 steps; which of five libraries; four rates each, three seeds",
)

# %% [markdown]
# ## Exercises
#
# More are on the [deeper page](deeper/10_pretraining.ipynb), and all solutions on [a page of their own](solutions/10_pretraining.ipynb).
#
# ```{exercise} Predict: how large is DistilBERT?
# :label: exercise-distilberts-size
#
# *Warm-up, 8 minutes.* DistilBERT has a table of 30,522 words, one of 512 positions, 6 blocks and a width of 768. In a block there are four matrices for attention, a feed-forward layer that is 3,072 wide inside, all with biases, and two norms; one more norm follows the tables. How many million parameters is that?
# ([Solution](solutions/10_pretraining.ipynb#solution-distilberts-size))
# ```

# %%
my_millions = None

check("distilberts_size", my_millions)

# %% [markdown]
# ```{exercise} The angle to the teacher
# :label: exercise-cosine
#
# *Core, 8 minutes.* The third part of the student's loss: the mean of $1 - \cos$ of the angle between its vector and its teacher's, over all places that are real. The cosine of two vectors is their product, divided by both lengths.
# ([Solution](solutions/10_pretraining.ipynb#solution-cosine))
# ```


# %%
def cosine_loss(x_student, x_teacher, real):
    """Shapes: vectors (B, T, D) of both; real (B, T), False at padding; to a scalar tensor."""
    raise NotImplementedError


check("cosine", cosine_loss)

# %% [markdown]
# ## Checklist and tomorrow
#
# The points from the top, ticked by their exercises.

# %% tags=["view"]
points = {
    "hide words by BERT's 80/10/10 rule, and say what each share is meant for": "mask_words",
    "ask for the hidden words, and for nothing else": "masked_word_loss",
    "teach a small model what a large one knows, not only what is right": "soft_targets every_second cosine",
    "say how much smaller half the blocks make a model": "distilberts_size",
}
checklist({point: ids.split() for point, ids in points.items()})

# %% [markdown]
# **What comes next** joins yesterday and today: one half reads, the other writes. It begins on the [deeper page](deeper/10_pretraining.ipynb#deeper-spans), where gaps of several words are filled, and [every task becomes text](deeper/10_pretraining.ipynb#deeper-text-to-text).

# %% [markdown]
# ## Further reading
#
# - {cite:t}`devlin2019bert`: BERT.
# - {cite:t}`howard2018universal`, who tuned a model that had read, before BERT, and counted the labels that it saves.
# - {cite:t}`liu2019roberta`, who train BERT longer, cast its dice anew, and leave out its question about the next sentence.
# - {cite:t}`sanh2019distilbert`: DistilBERT, on five pages.
