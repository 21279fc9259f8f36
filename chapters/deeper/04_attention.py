# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Day 4, deeper: Sequence to sequence, and attention
#
# This page goes beyond the evening of [Day 4](../04_attention.ipynb). It measures in full what the lesson says in a sentence, answers five more claims, and has ten more
# exercises. The sections don't depend on each other, so begin with the question that interests you most. They share some imports, and a network that has learned to
# translate short sentences; these come first.

# %% tags=["setup"]
import convolution_to_attention  # is `utils` this book's?

import itertools
import math
from functools import partial
from statistics import fmean
from time import process_time

import matplotlib.pyplot as plt
import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.flop_counter import FlopCounterMode

from utils import attention, seq2seq
from utils.data.batches import Batches
from utils.exercises.attention import check
from utils.exercises.attention.beam_search_curse import random_language
from utils.seq2seq import EOS, PAD, Seq2Seq, Seq2SeqConfig

# %% tags=["setup"]
from utils.data import dates, translation
from utils.data.text import Vocabulary, pad
from utils.measure import experiments
from utils.measure.claims import claim
from utils.show.display import observe, show_source, table
from utils.show.mechanisms.attention import tree
from utils.show.plotting import curves, use_book_style
from utils.tasks.backwards import best_runs, whole
from utils.tasks.short_translation import KINDS, LONGEST, steps_apart
from utils.tasks.translation import train_translator
from utils.training import metrics
from utils.training.loop import evaluate, fit

use_book_style()

# %% [markdown]
# The sentences are the lesson's, from a grammar that knows which word translates which. We draw 12,000, keep the short ones of four kinds, and train the book's own
# `Seq2Seq` on them, with the dot score.

# %% tags=["evidence"]
drawn = translation.sentences(12_000, seed=0, structures=KINDS)
pairs = [pair for pair in drawn if len(pair.source) <= LONGEST]
train_pairs, test_pairs = pairs[:-400], pairs[-400:]
english = Vocabulary(word for pair in train_pairs for word in pair.source)
chinese = Vocabulary(word for pair in train_pairs for word in pair.target)


def in_ids(pairs: list[translation.Pair]) -> tuple[list[list[int]], list[list[int]]]:
    """Sources with EOS after them, and targets."""
    sources = [[*english.encode(pair.source), EOS] for pair in pairs]
    return sources, [chinese.encode(pair.target) for pair in pairs]


# %% tags=["evidence", "training"]
torch.manual_seed(0)
config = Seq2SeqConfig(len(english), len(chinese), 48, 64, attention="dot", style="Luong")
translator = Seq2Seq(config)
how = {"epochs": 5, "batch_size": 32, "learning_rate": 6e-3}
train_translator(translator, seq2seq.sequence_loss, *in_ids(train_pairs), **how)
sources, targets = in_ids(test_pairs)
source, lengths = pad(sources)
target, _ = pad([[*ids, EOS] for ids in targets])

# %% [markdown]
# (seq-vector)=
# ## How much does a fixed vector need?
#
# *6 minutes.* The lesson finds that a vector does learn to write words backwards, but takes longer. What do width, data and learning rate have to do with it? The stored
# experiment varies all three, with several learning rates and three seeds each. The table shows the best rate in each case, picked on validation words.

# %% tags=["evidence"]
backwards = experiments.load("backwards")
rows = []
for words, passes in ((4_000, 3), (12_000, 20)):
    for name, best in best_runs(backwards.select(words=words)).items():
        found = [row["validation"][-1] for row in best]
        trained_on = f"{words:,} words, {passes} passes"
        rows.append(
            [trained_on, name, f"{best[0]['parameters']:,}", f"{best[0]['learning_rate']:g}"]
        )
        rows[-1].append(f"{min(found):.0%} to {max(found):.0%}")
table(rows, ["trained on", "model", "parameters", "best rate", "9 to 12 letters correct"])

# %% [markdown]
# Twice the width helps, and more passes help much more. After the short training a vector seems unable to hold a long word at all. After the long one it holds most of
# them.
#
# Is it the same with sentences? We train a vector of 64 on the short sentences from above, with the same recipe, once for four passes and once for eight. (With attention
# it was five.)

# %% tags=["evidence", "training"]
after = {}
for passes in (4, 8):
    torch.manual_seed(0)
    through = Seq2Seq(Seq2SeqConfig(len(english), len(chinese), 48, 64, attention=None))
    longer = how | {"epochs": passes}
    train_translator(through, seq2seq.sequence_loss, *in_ids(train_pairs), **longer)
    after[passes] = whole(through(source, lengths, seq2seq.shift(target)), target)

# %% tags=["evidence"]
translated_right = whole(translator(source, lengths, seq2seq.shift(target)), target)
observe(
    "After four passes of training the vector translates {four:.0%} of 400 new sentences perfectly, and after eight {eight:.0%}. With attention, five passes give {ours:.0%}.",
    **{"four": after[4], "eight": after[8], "ours": translated_right},
    holds=after[4] + 0.05 < after[8] < translated_right - 0.2,
)

# %% [markdown]
# Again, more passes help the vector a lot. These two runs don't show whether it would ever catch up with attention. Now for sentences of 3 to 25 words: the stored
# experiment `translation` made six passes over 24,000 of them, and another, `translation_width`, doubles the vector.

# %% tags=["evidence"]
translated = experiments.load("translation")
lines = {
    "additive attention": translated.select(score="additive"),
    "vector of 256": experiments.load("translation_width").select(hidden_size=256),
    "vector of 128": translated.select(score="none"),
}
by_words = {
    name: (rows[0]["length"], [row["exact by length"] for row in rows])
    for name, rows in lines.items()
}

# %% tags=["evidence"] mystnb={"figure": {"caption": "With attention, exact translations stay frequent as sentences grow longer; through a vector they become rare. After six passes; means and ranges of three seeds (stored experiments).", "name": "fig-translation-length"}, "image": {"alt": "Three lines over the number of words, from 3 to 25. With additive attention it stays near one. The vectors fall to zero: 128 wide by about eight words, 256 wide by about seventeen."}}
curves(by_words, "English words", "share translated exactly")
plt.show()


# %% tags=["evidence"]
def between(rows: list[dict], first: int, last: int) -> float:
    """Mean share of exact translations over the source lengths from first to last, and seeds."""
    return fmean(
        share
        for row in rows
        for length, share in zip(row["length"], row["exact by length"])
        if first <= length <= last
    )


# %% tags=["evidence"]
observe(
    "The vectors translate {narrow:.0%} and {wide:.0%} of the sentences of 3 to 5 words exactly, and attention {ours:.0%}. At 20 to 25 words, the three translate {less:.0%}, {more:.0%} and {most:.0%}.",
    narrow=between(lines["vector of 128"], 3, 5),
    wide=between(lines["vector of 256"], 3, 5),
    ours=between(lines["additive attention"], 3, 5),
    less=between(lines["vector of 128"], 20, 25),
    more=between(lines["vector of 256"], 20, 25),
    most=between(lines["additive attention"], 20, 25),
    holds=between(lines["vector of 128"], 3, 5) < 0.8 < between(lines["additive attention"], 20, 25)
    and max(between(lines[f"vector of {width}"], 20, 25) for width in (128, 256)) < 0.1,
)

# %% [markdown]
# The vector of 128 lags even where sentences are shortest, so six passes were too few for it at every length, and the fall is no proof of a limit. Exact match falls with
# the length for every model, since one wrong word is enough; that is why attention, trained in the same way, is in the figure. How far a vector gets in translation with the data and
# the depth of {cite:t}`sutskever2014sequence` is not decided here.

# %% [markdown]
# (seq-exposure)=
# ## Exposure bias: what do its own mistakes cost?
#
# *5 minutes.* In training the decoder never saw a mistake of its own. When it writes, it has to live with them. This gap is called **exposure bias**
# {cite}`ranzato2016sequence`. How much does it hurt? We find all positions of the test set where the decoder, fed the truth, would write a wrong symbol, and let it go on.
# At the next step it reads either the truth, or the wrong symbol that it wanted to write. Everything else is the same.

# %% tags=["evidence"]
with torch.no_grad():
    guessed = translator.eval()(source, lengths, seq2seq.shift(target)).argmax(-1)  # (B, T)
real = target != PAD
wrong, stops = (guessed != target) & real, guessed == EOS
row, t = (wrong & ~stops)[:, :-1].logical_and(real[:, 1:]).nonzero(as_tuple=True)
truth_fed = seq2seq.shift(target)[row]
own_fed = truth_fed.clone()
own_fed[range(len(row)), t + 1] = guessed[row, t]


@torch.no_grad()
def next_wrong(fed: torch.Tensor) -> float:
    """Share of mistakes at the step after a mistake, for a decoder that reads `fed`."""
    said = translator(source[row], lengths[row], fed).argmax(-1)[range(len(row)), t + 1]
    return (said != target[row, t + 1]).double().mean().item()


# %% tags=["evidence"]
after_right = ~wrong[:, :-1] & real[:, 1:]
usual = wrong[:, 1:][after_right].double().mean().item()
told, own = next_wrong(truth_fed), next_wrong(own_fed)
observe(
    "After a correct symbol, {usual:.0%} of the next ones are wrong. After a mistake, {told:.0%} are if the decoder reads the truth, and {own:.0%} if it reads its mistake.",
    **{"usual": usual, "told": told, "own": own},
    holds=told > 1.5 * usual and own > told + 0.1,
)

# %% [markdown]
# These numbers contain two effects. Hard sentences have several mistakes, whatever the decoder reads: that is the step from the first number to the second. The step from the
# second to the third is the effect of the mistake itself. Part of that is no real error: after a different beginning, a different word is correct, but we compare with one reference,
# position by position. **Scheduled sampling** {cite}`bengio2015scheduled` lets the decoder read its own words more and more often during training.

# %% [markdown]
# (seq-dates)=
# ## Dates, with and without the language
#
# *6 minutes.* `3/5/04` is a day in March in the United States and one in May in Spain. A reader that isn't told the language can't be correct every time. How often could
# the best possible one be, over all days of two years? And how well do hand-written rules do? `dateutil` is a library that knows many formats. We gave it CLDR's names
# of months, the language, and rules of our own for its errors: which century two digits mean, what follows when the year comes first, where `3月5日` is cut, and that "mar" may be a
# Tuesday. A stored experiment trained a network of the lesson's kind on 24,000 dates, with three seeds.

# %% tags=["evidence"]
ceiling = dates.ceiling(dates.days([2023, 2024]))
corpus = dates.corpus(6000, n_held_out=1000, seed=0)
trained_days = {example.date for example in corpus.train}
assert not any(example.date in trained_days for example in corpus.test)


def rules_right(examples: list[dates.Example]) -> float:
    """Share of dates that the rules read correctly when they are told the language."""
    return fmean(dates.parse_with_dateutil(e.text, e.locale) == e.date for e in examples)


# %% tags=["evidence"]
by_rules = [rules_right(part) for part in (corpus.test, corpus.unseen_formats)]
read_dates = experiments.load("dates")
of_dates = {
    told: [read_dates.spread(name, locale=told) for name in ("exact", "unseen")]
    for told in (True, False)
}
rows = [
    [name, *(f"{low:.1%} to {high:.1%}" for _, low, high in of_dates[told])]
    for told, name in ((True, "the network, told the language"), (False, "not told"))
]
rows.append(["the rules", *(f"{right:.1%}" for right in by_rules)])
table(rows, ["reads", "formats seen in training", "formats never seen"])

# %% tags=["evidence"]
(seen, *_), (_, _, unseen) = of_dates[True]  # the mean, and the highest of three seeds
observe(
    "Without the language no reader can be correct on more than {ceiling:.1%}; the network reaches {untold:.1%}. With it, the network reads {told:.2%} of the new days correctly, the rules {rules:.2%}.",
    **{"ceiling": ceiling, "untold": of_dates[False][0][0], "told": seen, "rules": by_rules[0]},
    holds=0.98 < of_dates[False][0][0] / ceiling < 1
    and abs(seen - by_rules[0]) < 0.005
    and unseen < by_rules[1] - 0.03,
)

# %% [markdown]
# The network is as good as the rules where it has seen the format, and falls behind them where it has not. It is not a fair race: whoever wrote the rules had seen all of
# these formats.

# %% [markdown]
# (seq-right)=
# ## Is it right, in full?
#
# *8 minutes.* The lesson compares your network with the book's. But is the book's attention correct? Here is its code. A score has two halves: one concerns the keys alone and is
# computed once for a source; the other compares them with a query at each step.

# %%
show_source(attention.AdditiveScore)

# %% [markdown]
# The mechanism is given a score and knows nothing else about it. If the score is a dot product and no weights are wanted, it calls the library's function, which computes
# the same in one go and doesn't have to store the weights.

# %%
show_source(attention.Attention)

# %% [markdown]
# Does it really give the same as a softmax and an average by hand, with each of five scores?

# %% tags=["evidence"]
torch.manual_seed(0)
queries, keys, values = torch.randn(2, 6, 16), torch.randn(2, 8, 16), torch.randn(2, 8, 5)
mask = attention.padding_mask(torch.tensor([8, 5]), 8)  # (B, 1, S)
scores = {name: build(16) for name, build in seq2seq.models.SCORES.items()}


@torch.no_grad()
def difference(score: attention.Score) -> float:
    """Between the mechanism's contexts, and those of a softmax and an average by hand."""
    context, _ = attention.Attention(score)(queries, keys, values, mask)
    e = score(queries, keys).masked_fill(~mask, -torch.inf).exp()
    return (context - e / e.sum(-1, keepdim=True) @ values).abs().max().item()


with torch.no_grad():
    concat, additive = scores["concat"], scores["additive"]
    concat.W.weight.copy_(torch.cat([additive.W_a.weight, additive.U_a.weight], dim=1))
    concat.v.copy_(additive.v)
    apart = (concat(queries, keys) - additive(queries, keys)).abs().max().item()

# %% [markdown]
# (claim-s2s-3)=

# %% tags=["evidence"]
claim(
    "s2s-3",
    "Yes: one softmax and one average serve five scores (to {same:.0e}). Luong's “concat” is even the same score as Bahdanau's (to {apart:.0e}).",
    same=max(map(difference, scores.values())),
    apart=apart,
    holds=lambda same, apart: max(same, apart) < 1e-4,
    scale="random queries and keys, 16 wide",
)

# %% [markdown]
# Next comes a loop over sentences, queries and the keys that aren't padding, with sizes that all differ:

# %% tags=["evidence"]
torch.manual_seed(1)
score = attention.AdditiveScore(4, 6, 3).double()
q, k, values = (torch.randn(2, *sizes, dtype=torch.float64) for sizes in ((5, 4), (7, 6), (7, 2)))
some = torch.tensor([7, 4])
context, _ = attention.Attention(score)(q, k, values, attention.padding_mask(some, 7))


def context_loop(b: int, t: int) -> torch.Tensor:
    """The context of one query, from the definition. Returns (d_v,)."""
    there = range(int(some[b]))
    e = [score.v @ (score.W_a.weight @ q[b, t] + score.U_a.weight @ k[b, j]).tanh() for j in there]
    total = sum(number.exp() for number in e)
    return sum(number.exp() / total * values[b, j] for number, j in zip(e, there))


close = partial(torch.testing.assert_close, rtol=1e-10, atol=1e-10)
looped = torch.stack([torch.stack([context_loop(b, t) for t in range(5)]) for b in range(2)])
close(context, looped)

# %% [markdown]
# Then the library. It has the scaled dot product twice: as a function, and as a layer with four matrices around it, which we set to the identity. Mind the masks. In the
# function's, as in ours, True means "allowed"; the layer's `key_padding_mask` is the inverse.

# %% tags=["evidence"]
q, k = torch.randn(2, 5, 6, dtype=torch.float64), k.requires_grad_()
mask = attention.padding_mask(some, 7)
ours, weights = attention.Attention(attention.ScaledDotScore())(q, k, k, mask)
kernel = F.scaled_dot_product_attention(q, k, k, attn_mask=mask)
close(ours, kernel)
both = (torch.autograd.grad(x.pow(2).sum(), k, retain_graph=True)[0] for x in (ours, kernel))
close(*both)
layer = nn.MultiheadAttention(6, num_heads=1, bias=False, batch_first=True).double()
with torch.no_grad():
    layer.in_proj_weight.copy_(torch.eye(6, dtype=torch.float64).repeat(3, 1))
    layer.out_proj.weight.copy_(torch.eye(6, dtype=torch.float64))
theirs, their_weights = layer(q, k, k, key_padding_mask=~mask[:, 0])
close(ours, theirs)
close(weights, their_weights)

# %% [markdown]
# Next, the models. A decoder must give the same logits step by step as all at once. And a short source must come out as if it had no padding. We test both decoders, and
# the one without attention.


# %% tags=["evidence"]
def two_ways(score: str | None, style: str) -> float:
    torch.manual_seed(0)
    model = Seq2Seq(Seq2SeqConfig(9, 8, 5, 6, attention=score, style=style)).double()
    return steps_apart(model)


kinds = [(None, "Luong"), ("additive", "Bahdanau"), ("general", "Luong")]
assert max(two_ways(*kind) for kind in kinds) < 1e-12

# %% [markdown]
# Does the beam find what it should? With two letters and EOS, and at most four symbols, there are only 15 targets, so we can try them all. A beam of 24 drops none of them,
# and must find the best.

# %% tags=["evidence"]
torch.manual_seed(3)
tiny = Seq2Seq(Seq2SeqConfig(6, 5, 4, 8, attention="dot", style="Luong")).double().eval()
two, two_lengths = pad([[3, 4, EOS], [5, EOS]])
every = [[*word, EOS] for n in range(4) for word in itertools.product([3, 4], repeat=n)]


def log_probability(sentence: int, target: list[int]) -> float:
    """log p(target | source) of the tiny model, for one of its two sources."""
    y, S = torch.tensor([target]), int(two_lengths[sentence])
    logits = tiny(two[[sentence], :S], two_lengths[[sentence]], seq2seq.shift(y))
    return logits.log_softmax(-1)[0].gather(1, y.T).sum().item()


best = [max(every, key=lambda target: log_probability(b, target)) for b in (0, 1)]
found, _ = seq2seq.beam_search(tiny, two, two_lengths, width=24, max_len=4)
assert [metrics.until(row, EOS) for row in found] == best
written = seq2seq.greedy_decode(tiny, two, two_lengths, max_len=4)
narrow, _ = seq2seq.beam_search(tiny, two, two_lengths, width=1, max_len=4)
assert [metrics.until(row, EOS) for row in written] == [metrics.until(row, EOS) for row in narrow]
print("loop, library, steps and exhaustive search agree; a beam of 1 is greedy decoding")

# %% [markdown]
# (seq-beam)=
# ## Beam search: what does greedy decoding miss?
#
# *6 minutes.* The lesson's decoder takes the most probable symbol at each step. What does that miss? A good beginning doesn't always lead to a good end, so **beam
# search** keeps the best few beginnings.

# %% tags=["mechanism"] mystnb={"figure": {"caption": "A beam of two finds *ced*, which greedy decoding misses. The two most probable of all continuations stay (green); numbers are the probabilities of whole beginnings.", "name": "fig-beam"}, "image": {"alt": "A tree from left to right. BOS leads to d, 0.50, and c, 0.30, which stay, and to f, 0.20, which is dropped. d leads to de, 0.20, which stays, da and dc, dropped; c leads to ce, 0.24, which stays, and ca, dropped. ce leads to ced, 0.18, and de to dec, 0.14: both stay; dea and cea are dropped."}}
chances = {"": {"d": 0.5, "c": 0.3, "f": 0.2}, "d": {"e": 0.4, "a": 0.3, "c": 0.3}}
chances |= {"c": {"e": 0.8, "a": 0.2}, "de": {"c": 0.7, "a": 0.3}, "ce": {"d": 0.75, "a": 0.25}}
tree(chances, width=2, depth=3)
plt.show()

# %% [markdown]
# Greedy decoding ends at *dec*. The beam also keeps *c*, and finds *ced*, which is more probable. Along a sentence probabilities multiply, so a program adds logarithms. A
# beginning that ends with EOS leaves the beam, and competes with those that end later. A beam of 1 is greedy decoding. You write such a step in {numref}`exercise-beam-step`. Does
# a beam of five find translations that the model considers more probable?


# %% tags=["evidence"]
@torch.no_grad()
def log_likelihood(written: torch.Tensor) -> torch.Tensor:
    """log p of the written targets, by the translator. Shapes: (B, T) to (B,)."""
    log_p = translator.eval()(source, lengths, seq2seq.shift(written)).log_softmax(-1)
    return (log_p.gather(-1, written[..., None])[..., 0] * (written != PAD)).sum(1)


greedy = seq2seq.greedy_decode(translator, source, lengths, max_len=20)
beam, _ = seq2seq.beam_search(translator, source, lengths, width=5, max_len=20)
higher = log_likelihood(beam) - log_likelihood(greedy)
observe(
    "For {better:.1%} of the sentences the beam finds a more probable translation than greedy decoding, and for {worse:.1%} a less probable one.",
    better=(higher > 1e-3).double().mean().item(),
    worse=(higher < -1e-3).double().mean().item(),
    holds=(higher > 1e-3).sum().item() > (higher < -1e-3).sum().item(),
)

# %% [markdown]
# For the other sentences both write the same. Whether a more probable translation is also a better one depends on the model; the [next section](#seq-bleu) measures it. Longer
# targets have more factors below 1, so their probability is smaller, and the most probable translation of all is often the empty one {cite}`stahlberg2019nmt`. A **length
# penalty** makes up for that by dividing $\log p$ by a power of the length. {numref}`exercise-beam-search-curse` shows what wide beams do without one.

# %% [markdown]
# (seq-bleu)=
# ## BLEU: how good is a translation that is not perfect?
#
# *4 minutes.* Exact match forgives nothing. What about a translation in which one word is different? **BLEU** {cite}`papineni2002bleu` looks up the translations' words,
# pairs, triples and quadruples in the references; each counts at most as often as it occurs there. The shares that it finds, $p_1$ to $p_4$, go into a geometric mean. If
# the translations' length $\ell$ is below the references' $r$, they pay for it:
#
# $$
# \begin{aligned}
# \text{BLEU} = {} & 100 \cdot \min\left(1, e^{1 - r/\ell}\right) \\
# & \cdot \exp\left(\tfrac14 \textstyle\sum_{n=1}^{4} \log p_n\right) .
# \end{aligned}
# $$ (eq-bleu)
#
# A BLEU means little without its recipe, which says how a text is cut into words {cite}`post2018call`.

# %% tags=["evidence"]
reference = [pair.target for pair in test_pairs]
judged = {}
for name, written in (("greedy", greedy), ("beam", beam)):
    said = [chinese.decode(row) or ["<nothing>"] for row in written]
    judged[name] = metrics.exact_match(written, target, EOS)
    judged[f"{name}_bleu"] = metrics.bleu(said, reference)
observe(
    "Greedy decoding translates {greedy:.0%} of 400 new sentences perfectly, with a BLEU of {greedy_bleu:.0f}; a beam of five translates {beam:.0%}, with {beam_bleu:.0f}.",
    **judged,
    holds=judged["greedy_bleu"] / 100 > judged["greedy"]
    and abs(judged["greedy"] - judged["beam"]) < 0.05,
)

# %% [markdown]
# BLEU gives credit for the correct parts of a wrong sentence, so it is higher than the share of perfect ones. And the beam's more probable translations are perfect about as
# often as the greedy ones.

# %% [markdown]
# (seq-aer)=
# ## Alignment error rate: how are links judged?
#
# *6 minutes.* Not every word has one clear partner. Which links should count, then? A link is **sure** ($\mathcal S$) if everyone would draw it, and **possible**
# ($\mathcal P \supseteq \mathcal S$) if it may be drawn or left out. In real texts people mark them; here the grammar does. Ours is generous: function words such as 了, 的
# and 把, but also 在, 给 and 一, have possible links only, so a stricter count would give higher rates. For a predicted set of links $\mathcal A$, the **alignment error rate**
# {cite}`och2003systematic` is
#
# $$
# \text{AER} = 1 - \frac{|\mathcal A \cap \mathcal S| + |\mathcal A \cap \mathcal P|}{|\mathcal A| + |\mathcal S|} .
# $$ (eq-aer)
#
# By hand: two links are sure, and one more is possible. The prediction has one of the sure links, the possible one, and a wrong one.

# %%
sure, possible = {(0, 0), (1, 2)}, {(0, 0), (1, 2), (2, 2)}
predicted = {(0, 0), (2, 2), (1, 1)}
by_hand = 1 - (len(predicted & sure) + len(predicted & possible)) / (len(predicted) + len(sure))
assert abs(by_hand - metrics.alignment_error_rate([predicted], [sure], [possible])) < 1e-12
print(f"AER {by_hand:.1f}")

# %% [markdown]
# Now for the 400 test sentences: we link each Chinese word with the English word that gets the largest weight. For comparison there are two guesses that know nothing, the
# diagonal and a random word.


# %% tags=["evidence"]
def error_rate(links: list) -> float:
    """Alignment error rate of one set of links for each test sentence."""
    must, may = [pair.sure for pair in test_pairs], [pair.possible for pair in test_pairs]
    return metrics.alignment_error_rate([frozenset(link) for link in links], must, may)


weights = seq2seq.forced_weights(translator, source, lengths, target)
sizes = [(len(pair.target), len(pair.source)) for pair in test_pairs]
chance = torch.Generator().manual_seed(0)
largest = error_rate([metrics.alignment(w, *size) for w, size in zip(weights, sizes)])
diagonal = error_rate([metrics.diagonal(*size) for size in sizes])
drawn = [enumerate(torch.randint(S, (T,), generator=chance).tolist()) for T, S in sizes]
observe(
    "Links by largest weight have an error rate of {largest:.0%}, the diagonal has {diagonal:.0%}, and random links have {drawn:.0%}.",
    **{"largest": largest, "diagonal": diagonal, "drawn": error_rate(drawn)},
    holds=largest < 0.75 * diagonal,
)

# %% [markdown]
# The stored experiment has a second rule: all weights above a threshold are links, with the threshold picked on validation data. Then some symbols have two partners, and
# some have none.

# %% tags=["evidence"]
products = ("dot", "scaled dot", "general")
no_weights = experiments.load("translation_unprojected")


def of_score(score: str, column: str) -> list[float]:
    """A column's numbers for a score, one for each seed."""
    return (
        no_weights.column(column)
        if score == "no weights"
        else translated.column(column, score=score)
    )


names = (*products, "additive", "no weights")
in_percent = lambda of: f"{100 * min(of):.0f} to {100 * max(of):.0f}"  # noqa: E731
table(
    [
        [name, *(in_percent(of_score(name, column)) for column in ("aer", "aer, threshold"))]
        for name in names
    ],
    ["score", "AER of the largest weights, %", "AER above a threshold, %"],
)

# %% [markdown]
# *No weights* is a score that [comes below](#seq-scores): its alignment is the worst by far, and yet it translates most sentences exactly. A good translation doesn't
# need a good alignment.

# %% [markdown]
# (seq-scores)=
# ## Which score is best?
#
# *8 minutes.* {cite:t}`vaswani2017attention` say (in §3.2.1, citing others) that for larger widths the additive score outperforms the dot product, unless that is scaled by
# $1/\sqrt{d_k}$. Is that so? The stored experiment trained all scores with one recipe, at one width, 128.

# %% tags=["evidence"]
exact = {name: of_score(name, "exact") for name in ("none", *names)}
table(
    [
        [name, *(in_percent(of_score(name, column)) for column in ("exact", "unseen structures"))]
        for name in exact
    ],
    ["score", "exact, %", "unseen structures, %"],
)

# %% tags=["evidence"]
mean = {name: fmean(found) for name, found in exact.items()}
ranked = [exact[name] for name in ("dot", "scaled dot", "additive")]
assert all(max(lower) < min(higher) for lower, higher in itertools.pairwise(ranked))

# %% [markdown]
# *None* is the fixed vector, and *unseen structures* are sentences that combine parts which occur only separately in training. At this width the scores rank as the paper says, in every
# seed. But all of them had the same learning rate, which may suit one score better than another. So another experiment trained three of them again, on 6,000 sentences,
# each at four rates.

# %% tags=["evidence"]
tuned = experiments.load("scores_tuned")
rates = tuned.parameters["learning_rate"]
at_best = {}
for score in tuned.parameters["score"]:
    shares = {r: tuned.spread("validation", score=score, learning_rate=r)[0] for r in rates}
    best = max(shares, key=shares.get)
    assert rates[0] < best < rates[-1]
    at_best[score] = tuned.column("test", score=score, learning_rate=best)
tuned_mean = {score: fmean(found) for score, found in at_best.items()}

# %% [markdown]
# (claim-s2s-5)=

# %% tags=["evidence"]
claim(
    "s2s-5",
    "Yes: at width 128, the only one measured, each at its best, additive translates {additive:.0%} of the sentences exactly, dot {dot:.0%} and scaled dot {scaled:.0%}.",
    additive=tuned_mean["additive"],
    dot=tuned_mean["dot"],
    scaled=tuned_mean["scaled dot"],
    holds=lambda additive, dot, scaled: dot + 0.05 < scaled < additive - 0.05,
    experiment="scores_tuned",
    scale="6,000 sentences of 3 to 25 words, 6 passes, 128 wide, three seeds, each at the best of four rates",
)

# %% [markdown]
# At this width the scaling helps, as the paper says, but the additive score stays ahead of both, so the scale isn't the whole difference. After six passes over so few sentences all three still have much to learn: with more training,
# in the table above, they are closer together. Whether a small width would change the order was not measured.
#
# **A score without matrices.** Keras, a widely used library, has a layer of "additive attention, a.k.a. Bahdanau-style" {cite}`keras2026additive` that has no $W_a$ and no
# $U_a$. The score is the sum of $\tanh(q + h)$ over the width, by default weighted with a learned $v$. Is that Bahdanau's? A query can mute a number, where the tanh is flat.
# But it can't flip one: the tanh rises, so a key that is larger in one number, and equal in the others, wins for every query, or loses for every query if that $v$ is
# negative. We let ten queries choose between two such keys. How often do they all agree?


# %% tags=["evidence"]
def unprojected(query: torch.Tensor, keys: torch.Tensor, v: torch.Tensor | float) -> torch.Tensor:
    """Keras's score. Shapes: query (B, T, d), keys (B, S, d), v (d,) to (B, T, S)."""
    return ((query[:, :, None] + keys[:, None]).tanh() * v).sum(dim=-1)


@torch.no_grad()
def all_agree(score, seed: int) -> bool:
    """Whether ten queries prefer the same of two keys that differ in one number."""
    draw = partial(torch.randn, generator=torch.Generator().manual_seed(seed), dtype=torch.double)
    keys, ten = draw(1, 1, 8).repeat(1, 2, 1), draw(1, 10, 8)
    keys[0, 1, seed % 8] += 0.5
    smaller, larger = score(ten, keys)[0].unbind(-1)
    return len((larger > smaller).unique()) == 1


# %% tags=["evidence"]
torch.manual_seed(0)
bare = partial(unprojected, v=1.0)
weighted = partial(unprojected, v=torch.randn(8, dtype=torch.double))
learned = attention.AdditiveScore(8, 8, 8).double()
agree = [fmean(all_agree(score, i) for i in range(100)) for score in (bare, weighted, learned)]

# %% [markdown]
# (claim-s2s-7)=

# %% tags=["evidence"]
claim(
    "s2s-7",
    "No: of two keys that differ in one number, all queries prefer the same ({simple:.0%} of pairs); with Bahdanau's matrices, they do for {learned:.0%}.",
    simple=min(agree[:2]),
    learned=agree[2],
    holds=lambda simple, learned: simple == 1 and learned < 0.85,
    scale="100 pairs of keys, ten queries each, 8 wide, random weights, without v and with it",
)

# %% tags=["evidence"]
observe(
    "In the stored experiment the plain sum, without *v*, translates {simple:.0%} of the sentences exactly, the additive score {additive:.0%}, and the fixed vector {none:.0%}.",
    **{"simple": mean["no weights"], "additive": mean["additive"], "none": mean["none"]},
    holds=mean["none"] + 0.5 < mean["no weights"] < mean["additive"],
)

# %% [markdown]
# The score itself has nothing to learn, but encoder and decoder do: they learn keys and queries for which the plain sum does most of the work.
#
# **A sequence and itself.** Nothing in {eq}`eq-attention` asks where queries come from. Here is a task without any recurrence: two of twelve positions are marked, and each
# position carries a bit that says which of the two symbols it has to name. Can additive attention do it, if queries, keys and values are the same twelve vectors?


# %% tags=["evidence"]
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


# %% tags=["evidence"]
def marked(n: int, seed: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Sequences (n, 12, 8), and the target of each position (n, 12)."""
    generator = torch.Generator().manual_seed(seed)
    symbols = torch.randint(4, (n, 12), generator=generator)
    marks = torch.rand(n, 12, generator=generator).argsort(dim=1)[:, :2]  # where both marks are
    asked = torch.randint(2, (n, 12), generator=generator)  # which of them each position wants
    parts = [F.one_hot(symbols, 4), F.one_hot(marks, 12).mT, F.one_hot(asked, 2)]
    return torch.cat(parts, dim=-1).float(), symbols.gather(1, marks.gather(1, asked))


# %% tags=["evidence"]
def per_position(logits: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
    """Mean cross-entropy over all positions. Shapes: logits (B, T, n), target (B, T)."""
    return F.cross_entropy(logits.mT, target)


# %% tags=["evidence", "training"]
def pointed(looks: bool, seed: int) -> float:
    """Share of correct answers on new sequences, after training."""
    torch.manual_seed(seed)
    model = Pointer(looks)
    optimiser = torch.optim.Adam(model.parameters(), lr=1e-2)
    batches = Batches(*marked(2000, seed), batch_size=50, shuffle=True)
    fit(model, batches, per_position, optimiser, epochs=2)
    test = [marked(1000, seed + 1000)]
    return evaluate(model, test, per_position, {"accuracy": metrics.accuracy})["accuracy"]


points_at = {looks: [pointed(looks, seed) for seed in (0, 1, 2)] for looks in (True, False)}
observe(
    "On average over three runs, {seeing:.0%} of the positions name the correct symbol; without attention, {blind:.0%} do.",
    **{"seeing": fmean(points_at[True]), "blind": fmean(points_at[False])},
    holds=fmean(points_at[True]) > 0.8 and fmean(points_at[False]) < 0.5,
)

# %% [markdown]
# It can. Tomorrow a sequence attends to itself with another score, but that is not what makes it possible.

# %% [markdown]
# (seq-cost)=
# ## What does a score cost?
#
# *7 minutes.* {cite:t}`vaswani2017attention` also say that both scores cost about the same amount of work, but that the dot product is faster. By how much? We count operations for $n$
# queries and $n$ keys of width $d$, each multiplication, addition and tanh as one. The additive score applies its matrices once to each query and key. Then each *pair*
# costs about $4d$: an addition and a tanh for each of $d$ numbers, and the product with $v$. In a dot product a pair costs $2d$, and there are no matrices; *general* adds
# one matrix product. The average costs $2d$ per pair in all of them.


# %% tags=["evidence"]
def operations(name: str, T: int, S: int, d: int) -> int:
    """Operations of scores and contexts for T queries and S keys of width d."""
    matrices = {"additive": 2 * (T + S) * d * d, "general": 2 * S * d * d, "dot": 0}[name]
    a_pair = {"additive": 4 * d, "general": 2 * d, "dot": 2 * d}[name]
    return matrices + T * S * (a_pair + 2 * d)


# %% tags=["evidence"]
def counted(name: str, T: int, S: int, d: int) -> int:
    """The same by PyTorch's counter, which sees the products of matrices with matrices."""
    look = attention.Attention(seq2seq.models.SCORES[name](d))
    with FlopCounterMode(display=False) as counter, torch.no_grad():
        look(torch.randn(1, T, d), torch.randn(1, S, d), torch.randn(1, S, d))
    return counter.get_total_flops()


for T, S, d in ((32, 48, 16), (20, 70, 64)):
    assert counted("dot", T, S, d) == operations("dot", T, S, d)
    assert counted("general", T, S, d) == operations("general", T, S, d)
    elementwise = 4 * T * S * d  # additions, tanh, and the product with one vector
    assert counted("additive", T, S, d) == operations("additive", T, S, d) - elementwise

# %% [markdown]
# The counter agrees on all products of matrices; it doesn't see the additive score's work on each pair. For memory we ask autograd how much it keeps for the backward pass;
# for speed we ask the clock.


# %% tags=["evidence"]
def bytes_kept(name: str, n: int, d: int) -> int:
    """Bytes that autograd keeps for n queries and n keys of width d, in single precision."""
    kept, x = {}, torch.randn(1, n, d, requires_grad=True)
    look = attention.Attention(seq2seq.models.SCORES[name](d))

    def keep(tensor: torch.Tensor) -> torch.Tensor:
        storage = tensor.untyped_storage()  # two operations may keep one and the same
        kept[storage.data_ptr()] = storage.nbytes()
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor):
        look(x, x, x)
    return sum(kept.values())


# %% tags=["evidence"]
@torch.no_grad()
def seconds(function, *inputs, calls: int) -> float:
    """Processor seconds per call, the mean of several."""
    start = process_time()
    for _ in range(calls):
        function(*inputs)
    return (process_time() - start) / calls


# %% tags=["evidence"]
n, d = 256, 64
work = operations("additive", n, n, d) / operations("dot", n, n, d)
memory = bytes_kept("additive", n, d) / bytes_kept("dot", n, d)
x = torch.randn(1, n, d)
looks = {name: attention.Attention(seq2seq.models.SCORES[name](d)) for name in ("additive", "dot")}
calls = {"additive": 10, "dot": 200}
took = {name: seconds(looks[name], x, x, x, calls=n) for name, n in calls.items()}

# %% [markdown]
# (claim-s2s-4)=

# %% tags=["evidence"]
claim(
    "s2s-4",
    "Yes: for 256 symbols of width 64, additive does {work:.1f} times the work, but needs {memory:.0f} times the memory and {time:.0f} times the time.",
    work=work,
    memory=memory,
    time=took["additive"] / took["dot"],
    holds=lambda work, memory, time: work < 3 and memory > 2 * work and math.log2(time / work) > 1,
    scale="256 queries and keys, 64 wide, processor time, means of 10 and 200 calls",
)

# %% [markdown]
# Both compare all pairs, so the cost of both grows with the square of the length. The difference is that the additive score computes $d$ numbers for each pair, and the dot product one.
# On a processor that moves data more slowly than it multiplies, this is decisive.
#
# (claim-s2s-8)=

# %% tags=["evidence"]
small = {"T": 256, "S": 256, "d": 32}
powers = {
    name: (torch.tensor(float(counted("dot", **small | doubled))) / counted("dot", **small)).log2()
    for name, doubled in {"T": {"T": 512}, "S": {"S": 512}, "d": {"d": 64}}.items()
}
matrices = operations("additive", 16, 16, 512) / operations("dot", 16, 16, 512)
claim(
    "s2s-8",
    "Yes, if no matrix comes first: exponents {T:.0f}, {S:.0f} and {d:.0f}. For 16 symbols of 512 numbers, additive, with two, does {matrices:.0f} times that.",
    **{name: value.item() for name, value in powers.items()},
    matrices=matrices,
    holds=lambda T, S, d, matrices: T == S == d == 1 and matrices > 10,
    counted=True,
    scale="operations, from 256 to 512 positions and 32 to 64 numbers",
)

# %% [markdown]
# How do attention and recurrence compare by the clock? An encoder reads 512 symbols, and attention compares all 512 with each other.

# %% tags=["evidence"]
encoder = seq2seq.Encoder(Seq2SeqConfig(9, 9, 32, 32))
ids, x = torch.full((1, 512), 3), torch.randn(1, 512, 32)
look = attention.Attention(attention.ScaledDotScore())
took = seconds(encoder, ids, torch.tensor([512]), calls=10) / seconds(look, x, x, x, calls=100)
# symbols × directions × the GRU's blocks × 2 (multiply, add) × units × (inputs + states)
work = 4 * 512**2 * 32 / (512 * 2 * 3 * 2 * 16 * (32 + 16))
observe(
    "Attention does {work:.0f} times the work, and still the encoder takes {took:.0f} times as long.",
    work=work,
    took=took,
    holds=work > 5 and math.log2(took) > 1,
)

# %% [markdown]
# Not all of this is the chain: our encoder walks through its steps in Python, and the library's layers are faster. But they have the same chain.

# %% [markdown]
# (seq-local)=
# ## Local attention: must it look everywhere?
#
# *4 minutes.* In a long source, does each step have to look at all of it? **Local** attention looks only at a window {cite}`luong2015effective`: at the positions
# $p_t - w \dots p_t + w$. In **local-m** $p_t = t$. In **local-p** the query predicts the position, and a bell curve around it scales the weights:
#
# $$
# \begin{aligned}
# p_t &= S \cdot \sigma(v_p^\top \tanh(W_p q_t)) , \\
# \alpha_{tj} &\leftarrow \alpha_{tj} \exp\left(-\frac{(j - p_t)^2}{2\,(w/2)^2}\right) .
# \end{aligned}
# $$ (eq-local)

# %%
show_source(attention.LocalAttention)

# %% tags=["evidence"]
torch.manual_seed(0)
twelve, places = torch.randn(1, 12, 16), torch.randn(1, 12, 16)
scaled = attention.ScaledDotScore()
three = {
    "global": attention.Attention(scaled),
    "local-m": attention.LocalAttention(scaled, window=2),
    "local-p": attention.LocalAttention(scaled, window=2, d_query=16),
}
seen = {name: look(twelve, places, places)[1][0].detach() for name, look in three.items()}

# %% tags=["evidence"] mystnb={"figure": {"caption": "Local attention keeps to a window: weights of twelve queries (down) on twelve keys (across), all random. Left: on the whole source. Middle: within two positions of the query's own. Right: within two positions of the one that each query predicts, under a bell curve.", "name": "fig-local"}, "image": {"alt": "Three square maps. In the left one bright cells lie everywhere; in the middle one they lie in a band along the diagonal; in the right one in a vertical band that sways a little."}}
figure, axes = plt.subplots(1, 3, figsize=(6.4, 2.6), sharey=True)
for ax, (name, weights) in zip(axes, seen.items()):
    ax.imshow(weights, vmin=0, vmax=1)
    ax.grid(False)
    ax.set(title=name, xlabel="key", xticks=[0, 5, 10], yticks=[0, 5, 10])
axes[0].set_ylabel("query")
plt.show()

# %% [markdown]
# Local-m assumes that source and target run in step. Local-p has to learn where to look; its queries are untrained here, so all of them predict a position near the middle,
# and because of the bell curve the weights sum to less than 1.

# %% [markdown]
# ## What about real sentences?
#
# *3 minutes.* Our grammar is clean; people are not. How does such a network do on their sentences? The volunteers of Tatoeba have translated tens of thousands of sentences into Chinese. The collection is not part of this book, but you can fetch it: save the file that `tatoeba` asks for
# in a folder, and set `BOOK_DATA` to that folder. Then put this into a new cell. English is cut at spaces, and each Chinese character counts as a word. The training takes far longer than any other on this page.
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
# Many words occur there only once. How does the model translate them? Print some, and see which kind of sentence it gets right.

# %% [markdown]
# ## Exercises
#
# *156 minutes.* Which of these ten would you like to write? They don't depend on each other either. PAD is 0, BOS is 1, EOS is 2 (`seq2seq.BOS` and so on). The solutions are on [a page of their
# own](../solutions/04_attention.ipynb).

# %% [markdown]
# ```{exercise} A step of beam search
# :label: exercise-beam-step
#
# *Core, 8 minutes.* There are W beginnings. `alive` (W,) holds the $\log p$ of each; row $i$ of `log_p` (W, V) holds the $\log p$ of each symbol that may follow beginning $i$.
# Return the W best of all W · V continuations, best first: their $\log p$, the beginning that each continues, and the symbol that it adds. W may be larger than V.
# `x.flatten().topk(W)` gives values and indices. ([Solution](../solutions/04_attention.ipynb#solution-beam-step))
# ```


# %%
def beam_step(alive, log_p):
    """Shapes: alive (W,), log_p (W, V); returns log p, beginnings and symbols, each (W,)."""
    raise NotImplementedError


check("beam_step", beam_step)

# %% [markdown]
# ```{exercise} Predict: what a beam finds
# :label: exercise-beam-of-two
#
# *Core, 3 minutes.* A model's first symbol is *a* with probability 0.6 or *b* with 0.4. After *a* comes *c* (0.4), *d* (0.35) or *e* (0.25); after *b* comes *c* (0.9) or
# *d* (0.1). Then EOS is certain. What is the probability of the sentence that a beam of width 2 finds? And which sentence does greedy decoding write?
# ([Solution](../solutions/04_attention.ipynb#solution-beam-of-two))
# ```

# %%
my_probability = None

check("beam_of_two", my_probability)

# %% [markdown]
# ```{exercise} Teacher forcing: input and target
# :label: exercise-teacher-forcing
#
# *Core, 10 minutes.* A data set gives you sentences without BOS and EOS, padded on the right. Build the pair that teacher forcing needs. The target is the sentence, then
# EOS, then PAD. The decoder's input is BOS, then the sentence, then PAD. (`shift` would also feed the EOS of the shorter sentences. Here it should not be in the input.)
# ([Solution](../solutions/04_attention.ipynb#solution-teacher-forcing))
# ```


# %%
def teacher_pairs(ids: torch.Tensor, lengths: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Shapes: ids (B, T), lengths (B,); returns the input and the target, each (B, T + 1)."""
    raise NotImplementedError


check("teacher_forcing", teacher_pairs)

# %% [markdown]
# ```{exercise} Perplexity of a padded batch
# :label: exercise-perplexity-of-targets
#
# *Core, 10 minutes.* Perplexity is the exponential of the mean of $-\log p$ over all symbols that had to be predicted. Write it for a padded batch, with tensor operations.
# `F.cross_entropy` would do it all at once, so leave it aside. ([Solution](../solutions/04_attention.ipynb#solution-perplexity-of-targets))
# ```


# %%
def perplexity(logits: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
    """Shapes: logits (B, T, V), targets (B, T) with PAD after their ends; returns one number ()."""
    raise NotImplementedError


check("perplexity_of_targets", perplexity)

# %% [markdown]
# ```{exercise} Key padding mask
# :label: exercise-blocked-keys
#
# *Core, 15 minutes.* `nn.MultiheadAttention` wants a different kind of mask: one for each source, and **True where there is padding**. Turn scores and such a mask into
# weights. They should be correct for scores of any size, and 0 for a source that is nothing but padding, where the library gives NaN. The gradient should be finite, too.
# Don't use `masked_softmax`. ([Solution](../solutions/04_attention.ipynb#solution-blocked-keys))
# ```


# %%
def weights_where_not(scores: torch.Tensor, blocked: torch.Tensor) -> torch.Tensor:
    """Shapes: scores (B, T, S), blocked (B, S), True for padding; returns weights (B, T, S)."""
    raise NotImplementedError


check("blocked_keys", weights_where_not)

# %% [markdown]
# ```{exercise} Cosine: look for a direction
# :label: exercise-cosine-score
#
# *Core, 10 minutes.* The neural Turing machine finds its memories by their direction {cite}`graves2014neural`. The score is the cosine between query and key, times a
# sharpness $\beta$. Return its weights, for a source without padding. What can this score do that a dot product can't, and the other way round?
# ([Solution](../solutions/04_attention.ipynb#solution-cosine-score))
# ```


# %%
def cosine_weights(query: torch.Tensor, keys: torch.Tensor, beta: float) -> torch.Tensor:
    """Shapes: query (B, T, d), keys (B, S, d); returns weights (B, T, S)."""
    raise NotImplementedError


check("cosine_score", cosine_weights)

# %% [markdown]
# ```{exercise} Exact match
# :label: exercise-exact-match
#
# *Core, 10 minutes.* What share of the sentences is exactly correct? Each target ends with EOS and is padded. A prediction is correct if it agrees with the target up to
# EOS, this one included. Whatever follows doesn't matter, and the two tensors may differ in width. ([Solution](../solutions/04_attention.ipynb#solution-exact-match))
# ```


# %%
def exact_match(predicted: torch.Tensor, target: torch.Tensor) -> float:
    """Shapes: predicted (B, T'), target (B, T), both ids; returns a share from 0 to 1."""
    raise NotImplementedError


check("exact_match", exact_match)

# %% [markdown]
# ```{exercise} Coverage: remember where you looked
# :label: exercise-coverage
#
# *Stretch, 20 minutes.* Decoders translate some words twice and others never. **Coverage** {cite}`tu2016modeling` tells the score how much weight each position has
# received so far. In its simplest form {cite}`see2017get` that is the sum of its weights over all previous steps, 0 at the first. The additive score takes it in as one
# more term:
#
# $$
# e_{tj} = v^\top \tanh(W s_t + U h_j + w \operatorname{cov}_{tj}), \qquad
# \operatorname{cov}_{tj} = \sum_{t' < t} \alpha_{t'j} .
# $$
#
# Return the weights $\alpha$ of all steps, for given queries $s_t$ and sources without padding. ([Solution](../solutions/04_attention.ipynb#solution-coverage))
# ```


# %%
def coverage_weights(queries, keys, W, U, w, v) -> torch.Tensor:
    """Return weights (B, T, S).

    Shapes: queries (B, T, N), keys (B, S, N), W and U (N, N), w and v (N,).
    """
    raise NotImplementedError


check("coverage", coverage_weights)

# %% [markdown]
# ```{exercise} Input feeding
# :label: exercise-input-feeding
#
# *Stretch, 25 minutes.* Luong's decoder doesn't know where it has looked, unless it is told. **Input feeding** hands the result of one step's attention to the next step
# {cite}`luong2015effective`. With a plain recurrent layer and the dot score, a step is
#
# $$
# s_t = \tanh(W_s [x_t; \tilde h_{t-1}; s_{t-1}]), \qquad
# \tilde h_t = \tanh(W_c [c_t; s_t]),
# $$
#
# where $c_t$ is the context for the query $s_t$, and $\tilde h$ begins at 0. Run it over all steps. You may use `attention.masked_softmax` and `attention.padding_mask`.
# ([Solution](../solutions/04_attention.ipynb#solution-input-feeding))
# ```


# %%
def input_feeding(x, s_0, annotations, lengths, W_s, W_c) -> torch.Tensor:
    """Return all h̃ (B, T, N).

    Shapes: x (B, T, D), s_0 (B, N), annotations (B, S, N), the sources' lengths (B,),
    W_s (N, D + 2N), W_c (N, 2N).
    """
    raise NotImplementedError


check("input_feeding", input_feeding)

# %% [markdown]
# ```{exercise} The beam search curse
# :label: exercise-beam-search-curse
#
# *Research, 45 minutes.* Write a beam search that returns **all** sentences that have ended, best first. The model is a table, as for greedy decoding in the lesson. At
# each step, the `width` best of all continuations of all beginnings stay. Those that end with EOS leave; their slots stay empty for this step. The search goes on for
# `max_len` steps. The ended sentences are ranked by $\log p$ divided by $\text{length}^\text{penalty}$, where the length counts EOS. Then measure on twenty languages, with
# `max_len=20` (`random_language(seed)` gives the $\log p$ of one, in which a sentence may end after any symbol): how long is the best sentence, by the width of the beam,
# with a penalty of 0 and of 1? How long are sentences that are drawn at random? What does this say about the most probable sentence?
# ([Solution](../solutions/04_attention.ipynb#solution-beam-search-curse))
# ```


# %%
def n_best(log_p: torch.Tensor, width: int, max_len: int, penalty: float) -> list[list[int]]:
    """Shapes: log_p (V, V); returns the ids of all ended sentences, EOS included, best first."""
    raise NotImplementedError


check("beam_search_curse", n_best)
