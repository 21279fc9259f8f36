# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Solutions of Day 10
#
# To the exercises of [BERT](../10_pretraining.ipynb), then to those of its [deeper page](../deeper/10_pretraining.ipynb). There is more than one correct way. What counts is that the check passes and that you can say why.

# %%
import convolution_to_attention  # is `utils` this book's?

import math

import torch
from torch.nn import functional as F

from utils.data.text import BOS, EOS
from utils.exercises.pretraining import check
from utils.pretraining import cast_dice, draw_spans, put_back, relative_buckets
from utils.show.display import observe

# %% [markdown]
# (solution-mask-words)=
# ## Masking: hide some of the words
#
# Whether a word is asked for depends on the first die alone, and on whether it is a word at all. What replaces it depends on the second die, and matters only where the word is asked for. The targets are taken from the original text, not from the masked one; otherwise the model would have to predict `MASK`.


# %%
def mask_words(ids, dice, share):
    asked = (dice.hides < share) & (ids > 4)
    hidden = ids.masked_fill(asked & (dice.how < 0.8), 4)
    hidden = torch.where(asked & (dice.how >= 0.9), dice.words, hidden)
    return hidden, ids.masked_fill(~asked, -100)


mask_words = check("mask_words", mask_words)

# %% [markdown]
# Over many words the shares come out as they should. Now and then a random word is the original one, so slightly less than a tenth become another word.

# %%
torch.manual_seed(0)
ids = torch.randint(5, 3070, (100, 1000))
hidden, target = mask_words(ids, cast_dice(ids.shape, 3070), 0.15)
asked = target != -100
of = hidden[asked]
shares = {"masked": of == 4, "same": of == ids[asked], "other": (of != 4) & (of != ids[asked])}

# %%
observe(
    "{asked:.1%} of the words are asked for. {masked:.1%} of these became MASK, {same:.1%} stayed, and {other:.1%} became another word.",
    asked=asked.double().mean(),
    **{name: where.double().mean() for name, where in shares.items()},
    holds=abs(asked.double().mean() - 0.15) < 0.005
    and abs(shares["masked"].double().mean() - 0.8) < 0.01,
)

# %% [markdown]
# (solution-trusted-word)=
# ## Predict: can a visible word be trusted?
#
# Half of the words are asked for, and a tenth of those become another word: these are false. Eight tenths of the half become `[MASK]`, and all other words are visible. The share of false words among the visible ones follows.

# %%
asked = 0.5
my_percent = 100 * asked * 0.1 / (1 - asked * 0.8)

check("trusted_word", my_percent)

# %% [markdown]
# About one visible word in twelve is false, so the model can't afford to believe any of them without checking. At BERT's share of 15% it is one in sixty.

# %% [markdown]
# (solution-masked-word-loss)=
# ## Masked language model: the loss on the hidden words
#
# A boolean mask picks vectors and targets in the same order, from all texts of the batch. So the mean is over words, and a text without hidden words adds nothing. `cross_entropy` leaves out targets of −100 by itself, which gives the same number; but then the head has computed $V$ logits for each position of the batch, only for most of them to be thrown away. The check tells you so.


# %%
def masked_word_loss(head, x, target):
    asked = target != -100
    return F.cross_entropy(head(x[asked]), target[asked])


masked_word_loss = check("masked_word_loss", masked_word_loss)

# %% [markdown]
# (solution-vowel-share)=
# ## What share begins with a vowel?
#
# Symbols that aren't words get a logit of $-\infty$, so that the next best word wins. The maximum is taken along the vocabulary, once for each gap.


# %%
def vowel_share(logits, words):
    spelt = torch.tensor([word.isalpha() for word in words])
    best = logits.masked_fill(~spelt, -torch.inf).argmax(dim=1)
    return sum(words[i][0] in "aeiou" for i in best.tolist()) / len(best)


vowel_share = check("vowel_share", vowel_share)

# %% [markdown]
# The rule in English is about sounds, not letters: *a uniform*, *an hour*. A model that follows the rule must therefore break yours now and then.

# %% [markdown]
# (solution-asked-at-least-once)=
# ## Predict: how much of a text is ever asked for?
#
# In each pass a word is spared with a probability of 0.85, and the passes are independent, so it is spared all ten times with a probability of $0.85^{10}$. All other words are asked for at least once.

# %%
my_share = 100 * (1 - 0.85**10)

check("asked_at_least_once", my_share)

# %% [markdown]
# Masks that are drawn once would ask for 15% of the words and never for the rest, however often the text is read.

# %% [markdown]
# (solution-ordered-pair)=
# ## Next sentence, or sentence order: two questions about a pair
#
# First decide which parts are shown, then lay them out: ids and types don't depend on the question. The types tell the first part from the second, not which of them was written first. If they moved along with the parts, a model could read the answer off the first type.


# %%
def ordered_pair(first, second, other, question, die):
    shown, label = [first, second], int(die >= 0.5)
    if label:
        shown = [first, other] if question == "next" else [second, first]
    ids, types = [BOS], [0]
    for kind, part in enumerate(shown):
        ids += [*part, EOS]
        types += [kind] * (len(part) + 1)
    return ids, types, label


check("ordered_pair", ordered_pair)

# %% [markdown]
# (solution-hide-spans)=
# ## T5: spans with sentinels
#
# Going from the last span to the first, you never move anything that still has to be replaced. Going from the first to the last, you would have to remember how much shorter the source has become, or copy the remaining words piece by piece, as the book does.


# %%
def hide_given_spans(ids, spans, sentinels):
    source, target = list(ids), [sentinels[len(spans)]]
    for (start, end), sentinel in reversed([*zip(spans, sentinels)]):
        target = [sentinel, *ids[start:end], *target]
        source[start:end] = [sentinel]
    return source, target


check("hide_spans", hide_given_spans)

# %% [markdown]
# Nothing is lost: source and target together give the text back.

# %%
text = [*range(20, 60)]
spans = draw_spans(len(text), share=0.3, generator=torch.Generator().manual_seed(0))
marks = [*range(99, 80, -1)]
assert put_back(*hide_given_spans(text, spans, marks), marks) == text

# %% [markdown]
# (solution-decoder-reads)=
# ## T5: the decoder's input
#
# Make the target first: the words, the end, and −100 as padding. The input is the same, shifted to the right by one position, with the start at the front. An embedding has no row for −100, so wherever −100 was shifted along, it becomes padding. In a shorter target, the decoder then also reads the end. That does no harm, because nothing is asked there.


# %%
def decoder_reads(targets, start, end, pad):
    rows = [torch.tensor([*target, end]) for target in targets]
    says = torch.nn.utils.rnn.pad_sequence(rows, batch_first=True, padding_value=-100)
    reads = F.pad(says[:, :-1], (1, 0), value=start)
    return reads.masked_fill(reads == -100, pad), says


check("decoder_reads", decoder_reads)

# %% [markdown]
# T5 starts with its padding symbol, BART with its end symbol. Any symbol will do, as long as it is the same in training and when the model writes.

# %% [markdown]
# (solution-relative-buckets)=
# ## T5's relative positions: a bucket for each distance
#
# Both sides are counted in the same way, by $|t - s|$, and $n$ is added for keys after the query. The formula is turned around: a logarithm, rounded down, tells you how many buckets beyond the near ones a distance is. Distances below $n/2$ would have a negative logarithm, so they are raised to $n/2$ first, and the near distances are put back at the end.


# %%
def buckets(behind, n_buckets, max_distance):
    n = n_buckets // 2
    near = n // 2
    distance = behind.abs()
    share = (distance.clamp(min=near) / near).log() / math.log(max_distance / near)
    far = (near + (share * (n - near)).long()).clamp(max=n - 1)
    return torch.where(distance < near, distance, far) + n * (behind < 0)


check("relative_buckets", buckets)

# %% [markdown]
# T5 itself has 32 buckets for distances up to 128, and yours agree with the layer's:

# %%
distances = torch.arange(200)[:, None] - torch.arange(200)
assert torch.equal(buckets(distances, 32, 128), relative_buckets(200, 200))
