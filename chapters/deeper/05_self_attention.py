# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Day 5, deeper: Self-attention
#
# This page goes beyond the evening of [Day 5](../05_self_attention.ipynb). It measures in full what the lesson says in a sentence, answers seven more claims, and has eleven
# more exercises. The sections don't depend on each other, so begin with the question that interests you most. They share some imports, and some readers of pronouns;
# these come first.

# %% tags=["setup"]
import convolution_to_attention  # is `utils` this book's?

import math
from functools import partial
from statistics import fmean, median

import matplotlib.pyplot as plt
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from utils import self_attention
from utils.attention import AdditiveScore, Attention, padding_mask
from utils.exercises.self_attention import check
from utils.positions import LearnedPositions, Rotary
from utils.recurrent import RNN, Bidirectional, Embedding
from utils.self_attention import MultiHeadAttention, SelfAttentionTagger, causal_mask
from utils.seq2seq import PAD, sequence_loss

# %% tags=["setup"]
from utils.data import pronouns
from utils.measure import experiments
from utils.measure.claims import claim
from utils.measure.graphs import longest_chain
from utils.show.diagrams import arrow, dial, hand, note, sector, sheet, words
from utils.show.display import observe, show_source, table
from utils.show.plotting import COLOURS, MARKERS, bars, curves, use_book_style
from utils.tasks.pronouns import VOCABULARY, as_ids, shares_right, train_pronouns, without_link
from utils.training import metrics
from utils.training.loop import fit

use_book_style()

# %% [markdown]
# The readers are the lesson's, built from the layer in `utils`, which has biases: 32 numbers per word, four heads, learned positions. We train one with two layers. For
# comparison we train three with one layer, from three seeds, at twice the learning rate.


# %% tags=["evidence"]
def tagger(n_layers: int, seed: int = 0) -> SelfAttentionTagger:
    """An untrained reader of the grammar's words."""
    torch.manual_seed(seed)
    V, where = len(VOCABULARY), LearnedPositions(24, 32)
    return SelfAttentionTagger(V, V, 32, 4, n_layers, positions=where)


# %% tags=["evidence"]
def trained(n_layers: int, learning_rate: float, seed: int = 0) -> SelfAttentionTagger:
    """A reader after six epochs."""
    model = tagger(n_layers, seed)
    train_pronouns(model, sequence_loss, corpus, learning_rate=learning_rate, seed=seed)
    return model.eval()


# %% tags=["evidence"]
@torch.no_grad()
def right(model: nn.Module, part: list[pronouns.Sentence], mask=None) -> dict[str, float]:
    """Share of gaps and of pronouns that are correct; mask (B, L, h, T, T)."""
    return shares_right(model(as_ids(part)[0], mask).argmax(-1), part)


# %% tags=["evidence", "training"]
corpus = pronouns.corpus(seed=0)
reader = trained(2, 1e-2)
one_layer = [trained(1, 2e-2, seed) for seed in (0, 1, 2)]

# %% [markdown]
# (deeper-query)=
# ## What does the scale do to the query?
#
# *5 minutes.* Without the scale $1/\sqrt{d_k}$ the gradient at the scores fades as heads get wider, as the lesson shows. But scores aren't learned; queries are. What
# arrives there, one step further back? Again 500 random queries attend to 64 random keys each, and we send a random gradient into their outputs.


# %% tags=["evidence"]
def at_query(d_k: int, scaled: bool) -> torch.Tensor:
    """Size of the gradient that arrives at each of 500 queries, (500,)."""
    draw = partial(torch.randn, generator=torch.Generator().manual_seed(d_k))
    query, key, value = draw(500, 1, d_k), draw(500, 64, d_k), draw(500, 64, 16)
    query.requires_grad_()
    weights = (query @ key.mT * (d_k**-0.5 if scaled else 1.0)).softmax(dim=-1)
    (gradient,) = torch.autograd.grad((weights @ value * draw(500, 1, 16)).sum(), query)
    return gradient.norm(dim=(1, 2))


widths = (4, 16, 64, 256, 1024)
arrives = {
    told: torch.stack([at_query(d_k, scaled) for d_k in widths], dim=1)
    for told, scaled in (("with scale", True), ("without", False))
}

# %% tags=["evidence"] mystnb={"figure": {"caption": "Without the scale the query's gradient is larger than with it, up to a width of 256, and then collapses for most queries: its size by the width of queries and keys. Lines are medians of 500 queries; bands hold nine tenths of them.", "name": "fig-query"}, "image": {"alt": "Two curves over the width, from 4 to 1024, on logarithmic axes. With the scale the line is flat, near 1, in a narrow band. Without it the line lies above the other up to a width of 256 and then falls to a fortieth; its band widens, upwards to about 50 and downwards to a millionth of a millionth."}}
lines = {told: (widths, sizes) for told, sizes in arrives.items()}
how = {"middle": "median", "within": 90, "logx": True, "logy": True}
ax = curves(lines, "width $d_k$", "size of the gradient", **how)
ax.set_xticks(widths, widths)
plt.show()

# %% tags=["evidence"]
usual, bare = (arrives[told].median(dim=0).values for told in ("with scale", "without"))
at = {d_k: i for i, d_k in enumerate(widths)}
most = bare[at[64]] / usual[at[64]]
least = bare[at[1024]] / usual[at[1024]]
shaken = (arrives["without"][:, at[1024]] > 5 * usual[at[1024]]).double().mean()
observe(
    "Without the scale, the typical query's gradient at a width of 64 is {most:.1f} times as large as with it; at 1,024 it is "
    "{least:.3f} times as large, but for {shaken:.0%} of the queries it is more than five times the usual size.",
    most=most.item(),
    least=least.item(),
    shaken=shaken.item(),
    holds=(most > 4 and least < 0.1 and shaken > 0.05 and (bare > usual)[:4].all()).item(),
)

# %% [markdown]
# The query's gradient is a weighted sum of keys, with a factor $1/\sqrt{d_k}$ that comes from the scale. Without the scale this factor is missing, so up to a width of 256
# the typical query gets a *larger* gradient. At 1,024 most queries are saturated, and the few that waver between two keys get enormous gradients. So the scale does two things:
# it keeps the gradient from vanishing, as the paper suspects, and it keeps it from growing.
#
# All of this assumed that the numbers in queries and keys are independent, with variance 1. Then the dot product has variance $d_k$. But nothing in a layer ensures that
# condition. Does the result hold there?

# %% tags=["evidence"]
drawn = {}
for d_k in widths:
    q, k = torch.randn(2, 10_000, d_k, generator=torch.Generator().manual_seed(d_k))
    drawn[d_k] = (q * k).sum(dim=1).var().item() / d_k


# %% tags=["evidence"]
@torch.no_grad()
def in_layers(model: SelfAttentionTagger) -> list[float]:
    """Variance of the bare products between the words of a sentence, over d_k, by layer."""
    ids, ratios = as_ids(corpus.validation)[0], []
    x, real = model.positions(model.embedding(ids)), (ids != 0)[:, None, None]  # (B, 1, 1, T)
    for layer in model.layers:
        q, k, _ = layer.project(x, None)
        products = (q @ k.mT).masked_select(real & real.mT)
        ratios.append(products.var().item() / q.shape[-1])
        x = x + layer(x, mask=real)[0]
    return ratios


# %% tags=["evidence"]
fresh, after = in_layers(tagger(2)), in_layers(reader)
observe(
    "Before training, the variance in the first layer is {fresh_1:.2f} times d_k, and in the second {fresh_2:.2f} times. After training it is {after_1:.0f} "
    "and {after_2:.0f} times.",
    fresh_1=fresh[0],
    fresh_2=fresh[1],
    after_1=after[0],
    after_2=after[1],
    holds=max(fresh) < 0.5 and min(after) > 2,
)

# %% [markdown]
# (claim-att-1)=

# %% tags=["evidence"]
claim(
    "att-1",
    "Yes: the variance is {low:.2f} to {high:.2f} times d_k. In a trained reader, where nothing ensures the condition, it is {trained:.0f} times d_k.",
    low=min(drawn.values()),
    high=max(drawn.values()),
    trained=max(after),
    holds=lambda low, high, trained: 0.94 < low and high < 1.06 and trained > 2,
    scale="10,000 random pairs at each of five widths, 4 to 1,024; one reader, heads 8 wide",
)

# %% [markdown]
# The formula is correct, but a layer doesn't meet its condition. The initialisation makes queries and keys smaller than assumed, and training makes them larger. So the
# scale keeps the query's gradient at the same size for all widths at the start of training. From then on the network sets its own scale.

# %% [markdown]
# ## Is a soft dictionary a dictionary?
#
# *4 minutes.* A dictionary returns the value of the key that equals the query. Attention compares the query with all keys and mixes their values. If the scores are
# multiplied by a large $\beta$, the softmax puts all its weight on the best key: is it a dictionary then? We store ten random values under ten random keys of length 1, and
# ask for each of them.

# %%
generator = torch.Generator().manual_seed(0)
draw = partial(torch.randn, generator=generator, dtype=torch.float64)
keys, values = F.normalize(draw(10, 8), dim=1), draw(10, 3)
errors = {}
for beta in (1, 3, 10, 30, 100):
    fetched = (beta * keys @ keys.T).softmax(dim=1) @ values
    errors[beta] = (fetched - values).abs().max().item()

# %% tags=["evidence"]
table([[beta, f"{errors[beta]:.5f}"] for beta in (1, 3, 10, 30)], ["β", "largest error"])

# %% [markdown]
# At $\beta = 100$ only rounding is left: the soft dictionary becomes an exact one, for the keys that it holds. Asked for any other key, a dictionary returns nothing. And
# the soft one?

# %% tags=["evidence"]
absent = F.normalize(draw(100, 8), dim=1)  # keys that are not there
sure = ((100 * absent @ keys.T).softmax(dim=1).amax(dim=1) > 0.9).double().mean().item()
observe(
    "Asked for 100 keys that it doesn't hold, at β = 100, the soft dictionary puts over nine tenths of its weight on a single entry in {sure:.0%} of the "
    "cases.",
    sure=sure,
    holds=sure > 0.7,
)

# %% [markdown]
# It always returns something, and with confidence. And even a key that is there can lose. The dot product grows with the length of a key, so a long key that points in
# nearly the same direction can beat the key that was asked for. Since $\langle k, k' \rangle \le \lVert k \rVert \lVert k' \rVert$, the thief is always longer. How often
# does that happen among random keys?


# %% tags=["evidence"]
def stolen(n: int, d: int) -> list[float]:
    """Share of look-ups that fetch another entry, in ten dictionaries of n keys of d numbers."""
    shares = []
    for seed in range(10):
        keys = torch.randn(n, d, generator=torch.Generator().manual_seed(seed))
        wrong = (keys @ keys.T).argmax(dim=1) != torch.arange(n)
        shares.append(wrong.double().mean().item())
    return shares


sizes = (4, 8, 16, 32, 64)
thefts = {n: torch.tensor([stolen(n, d) for d in sizes]).T for n in (10, 100, 1000)}  # (10, 5)

# %% tags=["evidence"] mystnb={"figure": {"caption": "The wider the keys, the fewer are lost to a longer key: how often a random key, used as its own query, loses to another. Lines are means of ten dictionaries; bands go from the lowest to the highest.", "name": "fig-thefts"}, "image": {"alt": "Three falling curves over the width of the keys, from 4 to 64: 10, 100 and 1000 keys. At a width of 4 they begin at about 33, 78 and 96 percent; from 32 on all are at zero."}}
lines = {f"{n:,} keys": (sizes, 100 * shares) for n, shares in thefts.items()}
ax = curves(lines, "numbers in a key", "fetched another entry (%)", logx=True)
ax.set_xticks(sizes, sizes)
ax.minorticks_off()
plt.show()

# %% [markdown]
# In many dimensions random keys have nearly the same length, and are nearly at right angles, so there is room for all of them.
#
# (claim-att-9)=

# %% tags=["evidence"]
claim(
    "att-9",
    "Yes, if all keys are equally long: then it errs by {error:.0e}. If their lengths differ, {stolen:.0%} of the look-ups fetch another "
    "entry.",
    error=errors[100],
    stolen=thefts[100][:, sizes.index(8)].mean(),
    holds=lambda error, stolen: error < 1e-9 and stolen > 0.2,
    scale="10 keys of length 1, β = 100; 100 random keys, ten draws, β without limit; keys of 8 numbers",
)

# %% [markdown]
# And it never reports that it found nothing. So it is a dictionary only for keys of equal length, and only for those that it holds.

# %% [markdown]
# (deeper-way)=
# ## How far is it from one word to another?
#
# *3 minutes.* A recurrent network hands information from state to state. How much of a word is left after 32 hand-overs, and how much in a layer of self-attention? We take
# the gradient of one position's output with respect to every word, in a sequence of 65. Both layers are untrained.

# %% tags=["evidence"]
torch.manual_seed(0)
layers = {"RNN in both directions": Bidirectional(RNN(16, 8), RNN(16, 8))}
layers["self-attention"] = MultiHeadAttention(16, 4)
heard = {}
for name, layer in layers.items():
    some = torch.randn(50, 65, 16, requires_grad=True)
    (gradient,) = torch.autograd.grad(layer(some)[0][:, 32].pow(2).sum(), some)
    heard[name] = gradient.norm(dim=2).mean(dim=0)  # (65,)
left = {name: size / size[33] for name, size in heard.items()}  # the word next to it: 1

# %% tags=["evidence"] mystnb={"figure": {"caption": "In an RNN the influence of a word fades with its distance; in self-attention it doesn't: size of the gradient of position 32's output with respect to each of 65 words, relative to that of the next word. Mean of 50 random sequences; logarithmic axis.", "name": "fig-heard"}, "image": {"alt": "Two curves over the positions 0 to 64. That of the RNN falls from the middle along nearly straight lines to both sides, by many powers of ten. That of self-attention is flat, with a small peak in the middle."}}
curves({name: (range(65), size) for name, size in left.items()}, "position", "gradient", logy=True)
plt.show()

# %% [markdown]
# (claim-att-3)=
# Gates make the slope flatter, as on [Day 3](../03_gates.ipynb), but they don't shorten the path. We ask autograd for the longest chain of operations from an input to
# the output.

# %% tags=["evidence"]
words_in = torch.randn(1, 128, 16)
chains = {name: longest_chain(layer(words_in)[0].sum()) for name, layer in layers.items()}
claim(
    "att-3",
    "Yes: for 128 words an RNN takes {rnn} operations in a row, self-attention {attention}; 32 words away, {faint:.0e} and {clear:.1f} of the gradient are left.",
    rnn=chains["RNN in both directions"],
    attention=chains["self-attention"],
    faint=left["RNN in both directions"][0].item(),
    clear=left["self-attention"][0].item(),
    holds=lambda rnn, attention, faint, clear: rnn > 10 * attention and clear > 1e4 * faint,
    scale="untrained layers, 16 wide",
)

# %% [markdown]
# Attention is the shortest path. Whether the network takes it is another question: see the pronoun below.

# %% [markdown]
# (deeper-right)=
# ## Is the layer right, in full?
#
# *4 minutes.* The lesson compared outputs with the library's. Do they also follow the definition, and do the gradients agree? First the definition, as a loop over
# sequences, heads, queries and the keys that a query may see. All sizes differ, and the mask hides the future and padding.

# %%
torch.manual_seed(1)
layer = MultiHeadAttention(12, n_heads=3, bias=False).double()
x = torch.randn(2, 6, 12, dtype=torch.float64, requires_grad=True)
lengths = torch.tensor([6, 4])
real = padding_mask(lengths, 6)[:, None]  # (B, 1, 1, S)
both = real & causal_mask(6)  # (B, 1, T, S)


# %%
def look_of(b: int, head: int, t: int) -> torch.Tensor:
    """The output of one head for one query, from the definition. Returns (d_v,)."""
    d = 12 // 3
    roles = layer.W_in.view(3, 3, d, 12)[:, head]  # W_q, W_k, W_v of this head: (3, d, D)
    q = roles[0] @ x[b, t]
    there = [s for s in range(6) if s <= t and s < int(lengths[b])]
    e = [q @ (roles[1] @ x[b, s]) / math.sqrt(d) for s in there]
    total = sum(score.exp() for score in e)
    return sum(score.exp() / total * (roles[2] @ x[b, s]) for score, s in zip(e, there))


rows = [[torch.cat([look_of(b, h, t) for h in range(3)]) for t in range(6)] for b in range(2)]
looped = torch.stack([torch.stack(sentence) for sentence in rows]) @ layer.W_o.weight.T

# %% [markdown]
# We compare this with our layer in both its modes: with weights, and without, where the library's fused kernel does the work and never stores them. Then we compare our
# layer with the library's own, whose masks mean the opposite: `True` hides.

# %%
theirs = nn.MultiheadAttention(12, 3, batch_first=True).double()
ours = MultiHeadAttention(12, 3).double()
ours.load_library(theirs)
hidden = {"attn_mask": ~causal_mask(6), "key_padding_mask": ~real[:, 0, 0]}
expected = theirs(x, x, x, **hidden)[0]

# %% tags=["evidence"]
apart = {"outputs": 0.0, "gradients": 0.0}
for reference, built in ((looped, layer), (expected, ours)):
    for need_weights in (True, False):
        outputs = reference, built(x, mask=both, need_weights=need_weights)[0]
        slopes = [torch.autograd.grad(y.pow(2).sum(), x, retain_graph=True)[0] for y in outputs]
        for what, (one, other) in (("outputs", outputs), ("gradients", slopes)):
            torch.testing.assert_close(one, other, rtol=1e-10, atol=1e-10)
            apart[what] = max(apart[what], (one - other).abs().max().item())
observe(
    "In all four comparisons the outputs differ by at most {outputs:.0e}, the gradients by at most {gradients:.0e}.",
    **apart,
    holds=max(apart.values()) < 1e-10,
)

# %% [markdown]
# That is rounding, in the outputs and in the gradients. Does the future stay out, down to the last bit? We change the last three of nine symbols and compare the first six
# outputs. Then we make the last three infinite.

# %% tags=["evidence"]
torch.manual_seed(0)
before = torch.randn(4, 9, 12, dtype=torch.float64, requires_grad=True)
after, endless = before.detach().clone(), before.detach().clone()
after[:, 6:], endless[:, 6:] = 100 * torch.randn(4, 3, 12), torch.inf
changed, spoilt = {}, {}
for need in (True, False):
    look = partial(ours, is_causal=True, need_weights=need)
    was, now, far = (look(x)[0] for x in (before, after, endless))
    changed[need] = (was != now)[:, :6].sum().item()
    spoilt[need] = far[:, :6].isnan().double().mean().item()
(gradient,) = torch.autograd.grad(was[:, :6].sum(), before)

# %% [markdown]
# (claim-att-5)=
# We compare the outputs of the first six of nine symbols: 4 sequences, 6 positions and 12 numbers at each.

# %% tags=["evidence"]
assert not gradient[:, 6:].any()  # nor does the past's gradient reach the future
claim(
    "att-5",
    "Yes, if the future is finite: {moved} of 288 past numbers change with it. An infinite future turns {spoilt:.0%} of them into NaN.",
    moved=max(changed.values()),
    spoilt=min(spoilt.values()),
    holds=lambda moved, spoilt: moved == 0 and spoilt > 0.9,
    scale="one untrained layer, fused and with weights",
)

# %% [markdown]
# So the layer is correct, and the causal mask keeps every finite future out. But it does so by a weight of 0, and 0 times infinity is NaN. This matters where numbers
# overflow: in half precision (`torch.float16`) the largest is 65,504.

# %% [markdown]
# ## Is one layer enough?
#
# *4 minutes.* The lesson's reader has two layers, so that a word can attend to words that have attended already. Does it need both? First we see how far simple rules get.
# The gap might agree with the nearest noun before it. The pronoun might mean the nearest noun, or the subject, or the first noun of its number, or the first of a kind that
# the adjective fits.


# %% tags=["evidence"]
def by_rules(s: pronouns.Sentence) -> dict[str, bool]:
    """Whether simple rules are correct in a sentence."""
    plural = {place: s.words[place] in pronouns.SINGULAR for place in s.nouns}
    nearest = min(s.nouns, key=lambda place: abs(place - s.pronoun))
    kind = pronouns.kind(s.words[s.antecedent])
    agrees = [place for place in s.nouns if plural[place] == plural[s.antecedent]]
    fits = [place for place in s.nouns if pronouns.kind(s.words[place]) == kind]
    before = max(place for place in s.nouns if place < s.gap)
    return {
        "gap: nearest noun before": plural[before] == plural[s.subject],
        "pronoun: nearest noun": nearest == s.antecedent,
        "pronoun: subject": s.subject == s.antecedent,
        "pronoun: first of its number": agrees[0] == s.antecedent,
        "pronoun: first of its kind": fits[0] == s.antecedent,
    }


# %% tags=["evidence"] mystnb={"figure": {"caption": "One clue is often enough, for the pronoun its number or its kind: how often simple rules are correct, on 500 validation sentences.", "name": "fig-rules"}, "image": {"alt": "Five bars: the gap by the nearest noun before it 67 percent; the pronoun by the nearest noun 40, by the subject 45, by the first noun of its number 77, of its kind 78."}}
guesses = [by_rules(s) for s in corpus.validation]
rules = {rule: 100 * fmean(row[rule] for row in guesses) for rule in guesses[0]}
bars(rules, "correct (%)")
plt.show()

# %% [markdown]
# One clue, number or kind, is often enough ({numref}`fig-rules`). To do better, a reader needs both. How well do ours do?

# %% tags=["evidence"]
judged = {"two layers": [right(reader, corpus.validation)]}
judged["one layer"] = [right(model, corpus.validation) for model in one_layer]
wrong = {
    what: {name: [100 * (1 - run[what]) for run in runs] for name, runs in judged.items()}
    for what in ("gap", "pronoun")
}

# %% tags=["evidence"] mystnb={"figure": {"caption": "One layer comes close to two: wrong answers on 500 validation sentences, after six epochs. With one layer, bars are means of three seeds, and lines go from the lowest to the highest.", "name": "fig-one-layer"}, "image": {"alt": "Two bar charts with two bars each. Gaps: two layers near zero; one layer a few percent, with a line from near zero to over twice that. Pronouns: two layers near zero; one layer two or three percent."}}
figure, axes = plt.subplots(2, 1, figsize=(6.4, 4.6))
for ax, (what, runs) in zip(axes, wrong.items()):
    bars(runs, f"{what}s wrong (%)", ax=ax)
plt.show()

# %% tags=["evidence"]
stored = experiments.load("pronouns").select(layers=2, heads=4)
of_two = {what: 100 * fmean(1 - row[what] for row in stored) for what in ("gap", "pronoun")}
gaps = wrong["gap"]["one layer"]
heard = fmean(wrong["pronoun"]["one layer"])
observe(
    "With one layer, three networks get {heard:.1f}% of the pronouns wrong on average, and {least:.1f}% to {most:.1f}% of the gaps. Five stored networks with two "
    "layers get {heard_2:.1f}% and {gaps_2:.1f}% wrong on average.",
    heard=heard,
    least=min(gaps),
    most=max(gaps),
    heard_2=of_two["pronoun"],
    gaps_2=of_two["gap"],
    holds=heard < 10 and min(gaps) < 15,
)

# %% [markdown]
# On the pronouns one layer does far better than the rules, and from some starts it also fills nearly all gaps. It's easy to imagine how it understands a pronoun: one head fetches the
# adjective, others the nouns that agree in number, and the output adds up the evidence. So one layer does most of the work. Three networks trained for six
# epochs can't decide whether it could do all of it with longer training.

# %% [markdown]
# (deeper-adjective)=
# ## By what route does the adjective reach the pronoun?
#
# *6 minutes.* The pronoun gives the adjective much of its weight, and yet most answers stay correct when that link is taken away: the lesson measured it. By what route
# does the adjective arrive, then? In many sentences the number alone decides, and the adjective isn't needed. We leave these out. In the others we hide the adjective from one
# kind of word at a time, in both layers.

# %%
needy = [s for s in corpus.validation if not pronouns.number_decides(s)]


def right_if_hidden(*from_whom: str) -> float:
    """Share of correct pronouns in `needy` when these words may not attend to the adjective."""
    T = max(len(s.words) for s in needy)
    mask = torch.ones(len(needy), T, T, dtype=torch.bool)
    for i, s in enumerate(needy):
        blind = {"pronoun": [s.pronoun], "nouns": s.nouns, "all": range(len(s.words))}
        for name in from_whom:
            mask[i, blind[name], s.said] = False
        mask[i, s.said, s.said] = True
    return right(reader, needy, mask[:, None, None])["pronoun"]


# %% tags=["evidence"]
ways = ("pronoun", "nouns", "pronoun and nouns", "all")
seen = right(reader, needy)["pronoun"]
points = {way: 100 * (seen - right_if_hidden(*way.split(" and "))) for way in ways}
observe(
    "Hiding the adjective from the pronoun costs {pronoun:.0f} of 100 answers, and hiding it from the nouns costs {nouns:.0f}. Hiding it from both costs {both:.0f}, from all "
    "other words {all:.0f}.",
    pronoun=points["pronoun"],
    nouns=points["nouns"],
    both=points["pronoun and nouns"],
    all=points["all"],
    holds=points["pronoun"] + 5 < points["all"]
    and points["pronoun and nouns"] > points["pronoun"] + 2,
)

# %% [markdown]
# Closing both routes costs more than closing the first, because the second fills in for it. The *street* can attend to *wide* in the first layer and mark itself; then *it*
# only has to find the noun that is marked.

# %% tags=["mechanism"] mystnb={"figure": {"caption": "The adjective can reach the pronoun by two routes. Arrows lead from the word that attends to the word it attends to. Above, *it* asks *wide* what it has to look for; below, *street* asks, and marks itself.", "name": "fig-two-ways"}, "image": {"alt": "The words street because it is too wide, twice. Above, an arrow of layer 1 leads from it to wide, and an arrow of layer 2 from it to street. Below, the arrow of layer 1 leads from street to wide; that of layer 2 is the same as above."}}
ax = sheet(7.4)
for y, way, sees, bend in (
    (1.6, "the pronoun's own link", 2, 0.28),
    (5.0, "by way of the noun", 0, 0.15),
):
    said = words(ax, (6.3, y), "street because it is too wide", gap=0.3)
    note(ax, (0.5, y + 0.42), way, align="left")
    arrow(ax, said[sees].at("top"), said[5].at("top"), role="query", bend=bend, text="layer 1")
    arrow(ax, said[2].at("bottom"), said[0].at("bottom"), role="query", bend=0.2, text="layer 2")
plt.show()

# %% [markdown]
# If {numref}`fig-two-ways` is correct, a reader with one layer, which can't take the lower route, must depend more on the pronoun's own link.


# %% tags=["evidence"]
def lost_without_look(model: SelfAttentionTagger) -> float:
    """Points lost, of all pronouns, when the pronoun may not attend to the adjective."""
    part = corpus.validation
    link = without_link(part, [s.pronoun for s in part], [s.said for s in part])  # (B, T, T)
    runs = right(model, part), right(model, part, link[:, None, None])
    return 100 * (runs[0]["pronoun"] - runs[1]["pronoun"])


two, alone = lost_without_look(reader), fmean(map(lost_without_look, one_layer))
observe(
    "Without the pronoun's own link to the adjective, two layers lose {two:.0f} of 100 answers; one layer loses {alone:.0f}, on average over three networks.",
    two=two,
    alone=alone,
    holds=alone > two + 5,
)

# %% [markdown]
# It does. Is it the same in other networks? A stored experiment trained five readers like this one and hid the adjective in the test sentences. The table shows how many of
# 100 answers are lost.

# %% tags=["evidence"]
readers = experiments.load("pronouns").select(layers=2, heads=4)
costs = [
    {way: 100 * (row["hidden from nobody"] - row[f"hidden from {way}"]) for way in ways}
    for row in readers
]
rows = [[i, *(f"{cost[way]:.1f}" for way in ways)] for i, cost in enumerate(costs, start=1)]
table(rows, ["network", "from pronoun", "from nouns", "from both", "from all"])
more_than_sum = [c["pronoun and nouns"] > c["pronoun"] + c["nouns"] + 1 for c in costs]
assert more_than_sum == [True] * 4 + [False]
assert all(c["pronoun"] < c["all"] * 2 / 3 for c in costs)

# %% [markdown]
# In the first four networks, closing both routes costs more than the two single costs added together. In the fifth it costs far less than hiding the adjective from all words, so most of
# its information can arrive through words that are neither pronoun nor noun.
#
# ### Weight against use, head by head
#
# Does the head with the largest weight matter most? In the same five networks, one link was cut in one of the eight heads at a time: from the pronoun to its antecedent, and
# from the gap to its subject.

# %% tags=["evidence"] mystnb={"figure": {"caption": "A head's weight says little about its use. In five networks of eight heads each: the weight that a head puts on its query's partner, and how many of 100 answers are lost when this head alone may not attend there.", "name": "fig-weight-use"}, "image": {"alt": "Two scatter plots with five kinds of points. Left, pronouns: weights up to a half, losses up to 13, only loosely rising. Right, gaps: most points lie near the origin; of four heads with weights over a half, two lose 26 and 44 points, one 6 and one none."}}
figure, axes = plt.subplots(1, 2, figsize=(7.2, 3.4))
links = (("pronoun", "antecedent"), ("gap", "subject"))
for ax, (query, key) in zip(axes, links):
    for i, row in enumerate(readers):
        lost = [100 * (row[query] - left) for left in row[f"cut {query} to {key}, by head"]]
        weight = row[f"{query} to {key}"]
        ax.plot(weight, lost, MARKERS[i], color=COLOURS[i], ls="", label=f"network {i + 1}")
    ax.set(title=f"{query}s", xlabel=f"weight on the {key}", ylabel="points lost")
axes[1].legend(fontsize=9)
plt.show()

# %% tags=["evidence"]
rows = []
for i, row in enumerate(readers, start=1):
    lost = 100 * (row["gap"] - row["cut gap to subject"])
    rows.append([i, f"{max(row['gap to subject']):.2f}", f"{lost:.1f}"])
table(rows, ["network", "largest weight of a head on the subject", "points lost without any link"])
looks, left = "pronoun to antecedent", "cut pronoun to antecedent, by head"
agree = sum(r[looks].index(max(r[looks])) == r[left].index(min(r[left])) for r in readers)
observe(
    "For the pronoun, the head with the largest weight is also the one that is missed most in {agree} of {networks} networks.",
    agree=agree,
    networks=len(readers),
    holds=agree < 3,
)

# %% [markdown]
# For the gap it depends on the network. Four networks have a head with over half its weight on the subject. Without any link there, two of them lose many of their gaps,
# and the other two few. No picture of weights tells these apart. So the adjective arrives by several routes at once, and you find out which by closing them.

# %% [markdown]
# (deeper-heads)=
# ## One head, or several?
#
# *4 minutes.* A softmax has one unit of weight to share out, and a head that looks in two places brings back a mixture. Does a single head fail, then, when two words are
# needed? Eight children each have a name, a game, a friend and a rival. Each has to name the game that its friend plays, and the one that its rival plays. The model is one
# layer of attention, followed by a small network at each position.
#
# A head that attends to both equally brings back two games, but not which is whose. A guess is then correct half of the time; in the other half, one answer in eight is
# correct as well, since both may play the same game. That makes 1/2 + 1/2 · 1/8 = 9/16, or 56%. A stored experiment trained one head and two at equal parameters, at three
# widths and four learning rates, with three seeds each.

# %% tags=["evidence"]
friends = experiments.load("friends")
rates = friends.parameters["learning_rate"]


def best_rate(**network) -> float:
    """The learning rate with most correct answers, of equal ones the highest; inside the grid."""

    def answered(rate: float) -> tuple[float, float]:
        return friends.spread("right", learning_rate=rate, **network)[0], rate

    best = max(rates, key=answered)
    assert rates[0] < best < rates[-1]
    return best


low, high = rates[0], best_rate(network="one head")


# %% tags=["evidence"]
def answers(*networks: str) -> None:
    """Show the lowest and highest share of correct answers of three seeds."""
    rows = []
    for name, rate in [(name, rate) for name in networks for rate in rates]:
        of_run = {"network": name, "learning_rate": rate}
        found = [friends.spread("right", width=w, **of_run) for w in friends.parameters["width"]]
        rows.append([name, f"{rate}", *(f"{least:.0%} to {most:.0%}" for _, least, most in found)])
    table(rows, ["network", "learning rate", *(f"width {w}" for w in friends.parameters["width"])])


answers("one head", "two heads")

# %% tags=["evidence"]
member = {"network": "one head", "width": 12, "seed": 0}
here = [experiments.live("friends", **member, learning_rate=rate)[0] for rate in (low, high)]
observe(
    "Trained here, too, a narrow single head answers {timid:.0%} correctly at the lowest rate and {bold:.0%} at its best.",
    timid=here[0]["right"],
    bold=here[1]["right"],
    holds=here[0]["right"] + 0.2 < here[1]["right"],
)

# %% [markdown]
# At the lowest rate the arithmetic fits: a narrow single head is correct about as often as a guess between the two. At three and at ten times that rate it answers
# everything correctly, so it had only been trained too timidly. (At thirty times it fails.) How does it tell friend from rival?


# %% tags=["evidence"]
def shares(rate: float) -> tuple[float, float]:
    """Mean weights of a single head, 12 or 24 wide, on the child that gets more and on the other."""
    rows = friends.select(network="one head", learning_rate=rate)
    pairs = [sorted((r["on friend"][0], r["on rival"][0])) for r in rows if r["width"] < 48]
    return fmean(more for _, more in pairs), fmean(less for less, _ in pairs)


more, less = shares(high)
timid, timid_less = shares(low)
observe(
    "At its best rate a narrow single head gives one of the two {more:.2f} of its weight and the other {less:.2f}; at the lowest, it gives {timid:.2f} "
    "and {timid_less:.2f}.",
    more=more,
    less=less,
    timid=timid,
    timid_less=timid_less,
    holds=more > less + 0.3 and timid < timid_less + 0.1,
)

# %% [markdown]
# At its best rate one of the two gets much more weight, and the network after it reads both games from the unequal mixture. Two heads divide the work instead:

# %% tags=["evidence"]
rows = friends.select(network="two heads", learning_rate=best_rate(network="two heads"))
at_friend = [row["on friend"].index(max(row["on friend"])) for row in rows]
divided = [row["on rival"][1 - i] == max(row["on rival"]) for i, row in zip(at_friend, rows)]
mostly = {key: fmean(max(row[f"on {key}"]) for row in rows) for key in ("friend", "rival")}
observe(
    "In {divided} of {networks} networks one head attends mostly to the friend ({friend:.2f} of its weight), and the other mostly to the rival "
    "({rival:.2f}).",
    divided=sum(divided),
    networks=len(rows),
    **mostly,
    holds=all(divided) and min(mostly.values()) > 0.65,
)

# %% [markdown]
# (claim-att-6)=

# %% tags=["evidence"]
claim(
    "att-6",
    "No: a single head serves two relations by an uneven mixture. At its best rate it is {one:.0%} correct, with weights of {more:.2f} and "
    "{less:.2f}.",
    one=friends.spread("right", network="one head", learning_rate=high)[0],
    more=more,
    less=less,
    holds=lambda one, more, less: one > 0.95 and more > less + 0.3,
    experiment="friends",
    scale="4,000 groups of 8 children, 4 epochs, widths 12 to 48, four rates, three seeds",
)

# %% tags=["evidence"]
of_grammar = experiments.load("pronouns")
gaps = {h: of_grammar.spread("gap", layers=2, heads=h)[1] for h in (1, 4)}
observe(
    "In the worst of five readers of the grammar, one head fills {one:.0%} of the gaps correctly, and four heads fill {four:.0%}, at the one rate that was "
    "tried.",
    one=gaps[1],
    four=gaps[4],
    holds=gaps[1] < 0.7 and gaps[4] > 0.99,
)

# %% [markdown]
# So one head can do it, and two are easier to train: they succeed at three of the four rates, one head at two.

# %% [markdown]
# ## Keys and values, separate or shared?
#
# *2 minutes.* Yesterday an annotation was key and value at once. Today the two are separate. Is that worth a third matrix? Another stored experiment put sixteen children into
# each group and drew new groups for every batch. Its networks have two heads, with a matrix for keys and one for values, or with one matrix that serves as both. In the second kind, everything
# is a third wider, so that the number of parameters is the same. How many steps does each network need until 95% of its answers are correct?

# %% tags=["evidence"]
keys = experiments.load("friends_keys")


def needed(network: str, width: int, learning_rate: float) -> list[float]:
    """Steps of ten networks, in order."""
    return sorted(keys.column("steps", network=network, width=width, learning_rate=learning_rate))


def soonest(network: str, width: int) -> tuple[float, float]:
    """(median steps, learning rate) at the rate at which they are fewest; inside the grid."""
    tried = keys.parameters["learning_rate"]
    best = min((median(needed(network, width, rate)), rate) for rate in tried)
    assert tried[0] < best[1] < tried[-1]
    return best


# %% tags=["evidence"]
apart, shared = keys.parameters["network"]
rows = []
for width in keys.parameters["width"]:
    for name in (apart, shared):
        steps, rate = soonest(name, width)
        found = needed(name, width, rate)
        rows.append(
            [name, width, f"{rate:g}", f"{steps:.0f}", f"{found[0]:.0f} to {found[-1]:.0f}"]
        )
    assert max(needed(apart, width, soonest(apart, width)[1])) < found[0]
table(rows, ["network", "width", "best rate", "median of steps", "ten networks"])

# %% [markdown]
# (claim-att-8)=

# %% tags=["evidence"]
claim(
    "att-8",
    "Yes: they are learned sooner. At its best rate a narrow network needs {apart:.0f} steps with separate vectors and {shared:.0f} with shared ones.",
    apart=soonest(apart, 12)[0],
    shared=soonest(shared, 12)[0],
    holds=lambda apart, shared: 1.5 * apart < shared,
    experiment="friends_keys",
    scale="two heads, 3,072 parameters in attention, groups of 16 children, six rates, ten seeds",
)

# %% [markdown]
# A child is found by its name, but has to tell its game, so a vector that serves both purposes first has to sort the two out. In the end both kinds answer
# correctly. ({cite:t}`daniluk2017frustratingly` measured it in a language model, which we haven't tried.)

# %% [markdown]
# ## How does order leak in through a causal mask?
#
# *5 minutes.* Without a mask and without positions, attention sees a bag of words. With a causal mask two layers know the order after all. How? In a stored experiment the
# last of twelve positions has to tell which of two marks came first.

# %% tags=["evidence"]
leak = experiments.load("order_leak")
rows = []
for n, causal, given in [(n, c, g) for n in (1, 2) for c in (False, True) for g in (False, True)]:
    _, least, most = leak.spread("right", layers=n, causal=causal, positions=given)
    told = "causal" if causal else "none", "waves" if given else "none"
    rows.append([n, *told, f"{least:.0%} to {most:.0%}"])
table(rows, ["layers", "mask", "positions", "correct, three networks"])
here, _ = experiments.live("order_leak", layers=2, causal=True, positions=False, seed=0)
observe(
    "Trained here, two layers with a causal mask and without positions answer {right:.0%} correctly.",
    right=here["right"],
    holds=here["right"] > 0.75,
)

# %% [markdown]
# The mask itself gives the order away. In the first layer each mark sees the symbols before it, so the second mark knows of the first, but the first doesn't know of the second.
# In the second layer the last position asks for just that. With one layer the mask changes nothing for the last position, because it sees all symbols in any case. Language
# models without positions do quite well, and {cite:t}`haviv2022transformer`, who found that, suggest a similar reason: a position can infer how many come before it. Most
# models still write the order in.

# %% [markdown]
# (deeper-rotary)=
# ## Rotary positions: how can a score know the distance?
#
# *5 minutes.* A row that is added says where a word is. But a score often needs to know how far away the other word is. Can it be told that? **Rotary** positions
# {cite:t}`su2021roformer` add nothing. They turn each query and each key, by an angle that grows with its position. If two vectors have both been turned, only the
# difference of the angles is left in their score.

# %% tags=["mechanism"] mystnb={"figure": {"caption": "Rotary positions: two positions apart, the angle between query and key is the same at the start of a text and further on.", "name": "fig-rotation"}, "image": {"alt": "Three dials. In the first, unturned, the query points to 11 degrees and the key to 69, 57 degrees apart. In the second, at positions 1 and 3, and in the third, at positions 5 and 7, both are turned, and the shaded angle between them is 103 degrees in both."}}
omega, cat, sat = 0.4, 0.2, 1.2  # radians a position; where query and key point unturned

ax = sheet(6.9)
for i, (m, n) in enumerate([(0, 0), (1, 3), (5, 7)]):
    face = dial(ax, (2.75 + 5.25 * i, 3.45), 2.0)
    turned = cat + m * omega, sat + n * omega
    sector(ax, face, *turned)
    for start, angle, role in ((cat, turned[0], "query"), (sat, turned[1], "key")):
        if m:
            hand(ax, face, start, role=role, dashed=True)
        hand(ax, face, angle, role=role, text=role[0])
    between = torch.tensor(turned[1] - turned[0]).rad2deg()
    note(ax, (face.middle[0], 0.4), f"cat at {m}, sat at {n}" if m else "unturned", weight="bold")
    note(ax, (face.middle[0], 6.5), f"{between:.0f}° between")
plt.show()

# %% [markdown]
# A query has more than two numbers, so each pair of neighbours is turned, every pair at a speed of its own.

# %%
show_source(Rotary)

# %% [markdown]
# Let $R_m$ be the turn at position $m$. Turning back by $m$ and on by $n$ is turning by $n - m$, so
#
# $$
# \langle R_m q, R_n k \rangle = \langle q, R_{n-m}\, k \rangle .
# $$ (eq-rotary)
#
# A score depends on the signed distance $n - m$ alone. We put the same query and the same key at all pairs of 20 positions.

# %%
generator = torch.Generator().manual_seed(0)
q, k = torch.randn(2, 1, 8, dtype=torch.float64, generator=generator)
turned = Rotary(8)
scores = turned(q.expand(20, 8)) @ turned(k.expand(20, 8)).T  # (20, 20)
by_distance = [scores.diagonal(n) for n in range(-19, 20)]
assert all(torch.allclose(d, d[0].expand_as(d), rtol=1e-10, atol=1e-10) for d in by_distance)
print("different scores:", len({round(d[0].item(), 6) for d in by_distance}), "for 39 distances")

# %% [markdown]
# Another way needs no vectors at all: it subtracts a price for the distance from each score {cite}`press2022train`. You build it in {numref}`exercise-alibi`. So order can
# be added to the words, rotated into queries and keys, or charged to the scores. And with a causal mask two layers find some of it by themselves.

# %% [markdown]
# (deeper-bits)=
# ## What can't attention compute?
#
# *4 minutes.* Attention fetches, mixes and weighs. Can it also compute something new from what it found? For given weights, its output is linear in the values: a mixture
# of two sets of values gives the same mixture of their outputs.

# %%
torch.manual_seed(0)
q, k, one, other = torch.randn(4, 1, 1, 5, 4)
mix = partial(self_attention.dot_product_attention, q, k)
mixed, first, second = (mix(value)[0] for value in (2 * one + 3 * other, one, other))
torch.testing.assert_close(mixed, 2 * first + 3 * second)

# %% [markdown]
# Take a position that sees only itself and holds two bits. Its one weight is 1, and between the bits and the answer there are only matrices. Can it tell whether *exactly
# one* of the bits is set? No line through the plane separates these cases, so it gets at most three of the four correct. One nonlinear function in between should be
# enough.


# %%
class OneLook(nn.Module):
    """Two bits at each position, through a layer of attention, to two logits: (B, T, 2) to the same."""

    def __init__(self, between: nn.Module):
        super().__init__()
        self.embed, self.output = nn.Linear(2, 16), nn.Linear(16, 2)
        self.look, self.between = MultiHeadAttention(16, 2), between

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        found, _ = self.look(self.embed(x))
        return self.output(self.between(found))


# %% tags=["evidence", "training"]
bits = torch.tensor([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])[:, None]  # (4, 1, 2)
exactly_one = torch.tensor([[0], [1], [1], [0]])


def can_tell(between: nn.Module, seed: int) -> float:
    """Share of the four cases that are correct, after 200 steps on all of them."""
    torch.manual_seed(seed)
    model = OneLook(between)
    optimiser = torch.optim.Adam(model.parameters(), lr=2e-2)
    cases = [(bits, exactly_one)] * 200
    fit(model, cases, lambda logits, y: F.cross_entropy(logits.mT, y), optimiser, epochs=1)
    return metrics.accuracy(model(bits), exactly_one)


told = {
    name: [can_tell(between, seed) for seed in (0, 1, 2)]
    for name, between in (("attention alone", nn.Identity()), ("a ReLU in between", nn.ReLU()))
}

# %% tags=["evidence"]
observe(
    "After 200 steps, the best of three networks of attention alone gets {alone:.0%} of the four cases correct; with a ReLU in between, three get {relu:.0%} on average.",
    alone=max(told["attention alone"]),
    relu=fmean(told["a ReLU in between"]),
    holds=max(told["attention alone"]) <= 0.75 and fmean(told["a ReLU in between"]) > 0.8,
)

# %% [markdown]
# The second thing that attention lacks is a memory of its input. The lesson showed that positions become alike when each layer's output *replaces* its input. That was
# before training, and training may prevent it. A stored experiment trained readers with and without the sum, with three seeds and at two learning rates; the validation loss
# chose the rate.


# %% tags=["evidence"]
stacked = experiments.load("pronouns_depth")


def chosen(**case) -> list[dict]:
    """The rows of three seeds, at the learning rate whose mean validation loss is lower."""
    best = stacked.lowest("learning_rate", "validation", **case)
    assert best == max(stacked.parameters["learning_rate"])
    return stacked.select(learning_rate=best, **case)


cases = [(layers, residual) for layers in (2, 6) for residual in (True, False)]
runs = {case: chosen(layers=case[0], residual=case[1]) for case in cases}

# %% tags=["evidence"]
rows = []
for (layers, residual), three in runs.items():
    spans = [[row[what] for row in three] for what in ("pronoun", "gap")]
    spans = [f"{min(found):.1%} to {max(found):.1%}" for found in spans]
    rows.append([layers, "yes" if residual else "no", *spans])
table(rows, ["layers", "with the sum", "pronouns correct", "gaps correct"])
assert max(row["pronoun"] for row in runs[6, False]) < 0.2 < 0.9
assert min(row["pronoun"] for row in runs[2, False]) > 0.9

# %% [markdown]
# Six layers without the sum do worse than the simplest rules ({numref}`fig-rules`). We can't tell whether they have collapsed or only learn much more slowly: both rates
# were tried for six epochs, and the higher was better. So attention alone can't compute anything new from what it found, and many layers of it, without a sum, hardly
# learn. Tomorrow's block adds both.

# %% [markdown]
# (claim-s2s-6)=
# ## Does the additive score work within one sequence?
#
# *3 minutes.* Does additive attention need a second sequence? Day 4 placed it between a decoder and an encoder, and it is often said to work only there. But its queries and
# keys are just vectors, so both may come from the same sentence. We stack two layers of it. Each adds its output to its input, as the reader's layers do. They have no heads
# and no matrices for the values.


# %%
class AdditiveReader(nn.Module):
    """Two layers of additive self-attention: ids (B, T) to logits (B, T, V)."""

    def __init__(self, d_model: int, max_len: int):
        super().__init__()
        V = len(VOCABULARY)
        scores = (AdditiveScore(d_model, d_model, d_model) for _ in range(2))
        self.embedding = Embedding(V, d_model)
        self.positions = LearnedPositions(max_len, d_model)
        self.layers = nn.ModuleList([Attention(score) for score in scores])
        self.output = nn.Linear(d_model, V)

    def forward(self, ids: Tensor) -> Tensor:
        x, real = self.positions(self.embedding(ids)), (ids != PAD)[:, None]  # (B, 1, T)
        for layer in self.layers:
            found, _ = layer(x, x, x, mask=real)  # query, keys and values are one sequence
            x = x + found
        return self.output(x)


# %% tags=["evidence"]
additive_readers = []
for seed in (0, 1, 2):
    torch.manual_seed(seed)
    model = AdditiveReader(32, 24)
    train_pronouns(model, sequence_loss, corpus, epochs=3, learning_rate=2e-2, seed=seed)
    additive_readers.append(model.eval())

# %% tags=["evidence"]
with torch.no_grad():
    answers = [model(as_ids(corpus.validation)[0]).argmax(-1) for model in additive_readers]
resolved = min(shares_right(said, corpus.validation)["pronoun"] for said in answers)

# %% tags=["evidence"]
claim(
    "s2s-6",
    "No: two layers of additive self-attention, with no second sequence, resolve {resolved:.0%} of new sentences' pronouns (the worst of three seeds); simple rules resolve {rule:.0%}.",
    resolved=resolved,
    rule=max(share for name, share in rules.items() if name.startswith("pronoun")) / 100,
    holds=lambda resolved, rule: resolved > rule + 0.1,
    scale="500 validation sentences, three seeds, three epochs, one learning rate; width 32",
)

# %% [markdown]
# The additive score was never bound to two sequences. What it costs is another matter.

# %% [markdown]
# ## What do the two scores cost?
#
# *2 minutes.* Day 4's additive score computes $d$ numbers for each pair of positions, today's dot product one. What does that cost? In a stored experiment $n$ positions of
# 64 numbers attend to themselves once, forwards and backwards. The experiment counted operations (a tanh as one), bytes at the peak, and processor time on one core.

# %% tags=["evidence"]
timed = experiments.load("scores")
kinds = {"additive": "additive", "dot": "dot product"}
rows = []
for row in timed.rows:
    if row["n"] in (64, 256, 1024):
        cost = (row["step_work"] / 1e6, row["step_bytes"] / 1e6, 1e3 * row["step_seconds"])
        rows.append([kinds[row["score"]], row["n"], *(f"{number:,.1f}" for number in cost)])
table(rows, ["score", "n", "million operations", "MB at the peak", "milliseconds"])

# %% tags=["evidence"]
additive, dot = (timed.select(score=score, n=1024)[0] for score in kinds)
names = ("work", "bytes", "seconds")
times = {name: additive[f"step_{name}"] / dot[f"step_{name}"] for name in names}
observe(
    "At 1,024 positions the additive score takes {work:.1f} times the operations, {bytes:.0f} times the memory and {seconds:.0f} times the time.",
    **times,
    holds=times["work"] < 2 and times["bytes"] > 40 and times["seconds"] > 20,
)

# %% [markdown]
# The operations differ little, the memory a lot, and time follows memory. Matrix products are what processors do best, and the dot product is one; a tanh of each of
# $n^2 d$ numbers is not. So the additive score costs memory and time, and that is why the Transformer took the dot product {cite}`vaswani2017attention`, and scaled it.

# %% [markdown]
# ## Exercises
#
# *178 minutes.* Which of these eleven would you like to write? They don't depend on each other either. Masks are as in the whole book, `True` = allowed, unless an exercise
# says otherwise. The solutions are on [a page of their own](../solutions/05_self_attention.ipynb).

# %% [markdown]
# ```{exercise} Predict: how far does a change reach?
# :label: exercise-reach
#
# *Warm-up, 3 minutes.* Stack two layers of self-attention. In each, a position sees **itself and the two before it**. You change one of twelve words, the one at position 4
# (counted from 0). How many of the twelve output rows change? ([Solution](../solutions/05_self_attention.ipynb#solution-reach))
# ```

# %%
my_rows = None

check("reach", my_rows)

# %% [markdown]
# ```{exercise} Packing: several documents in one row
# :label: exercise-packed-documents
#
# *Core, 10 minutes.* Padding is waste. So short documents are packed into one row, one after the other, and only the rest of the row is padding. Write the mask for it. A
# position sees itself and all positions before it **in its own document**. Padding sees nothing, and nothing sees padding.
# ([Solution](../solutions/05_self_attention.ipynb#solution-packed-documents))
# ```


# %%
def packed_mask(document: torch.Tensor) -> torch.Tensor:
    """Return the mask (B, 1, T, T), the same for all heads.

    Shapes: document (B, T): 1, 2, … is the document that a position belongs to, 0 is padding.
    """
    raise NotImplementedError


check("packed_documents", packed_mask)

# %% [markdown]
# ```{exercise} Silence a head
# :label: exercise-silenced-head
#
# *Stretch, 20 minutes.* Is a head of any use? The test is to do without it {cite}`michel2019sixteen`. Write multi-head self-attention with tensor operations, without a
# mask and without biases, in which the head with the number `head` (counted from 0) contributes nothing. The others contribute what they always did. A matrix $W$ maps the
# rows of $x$ to $x W^\top$, and each head has a block of neighbouring columns. ([Solution](../solutions/05_self_attention.ipynb#solution-silenced-head))
# ```


# %%
def silenced(x, W_q, W_k, W_v, W_o, n_heads: int, head: int) -> torch.Tensor:
    """Shapes: x (B, T, D), all matrices (D, D); returns the outputs (B, T, D)."""
    raise NotImplementedError


check("silenced_head", silenced)

# %% [markdown]
# ```{exercise} Induction head: what has come next so far?
# :label: exercise-induction-head
#
# *Research, 45 minutes.* Two layers of attention can learn on the fly from the text that they read. The first notes at each position which symbol came before. The second
# looks for positions where the present symbol was that one. The head that does so is called an **induction head** {cite}`olsson2022context`. Build the perfect one by hand. For
# each $t$, over all earlier positions where the symbol $x_t$ was seen: which symbols came next, and with what shares? In `a a`, the second `a` already counts as the symbol
# after the first. Where $x_t$ is new, the row is 0. A mask and `masked_softmax` from `utils.attention` are enough, without a loop.
#
# Then make it soft: in place of the mask, a score of $\beta$ where the symbols match and 0 elsewhere. How large must $\beta$ be for a single match to get half of the weight, by
# the length of the sequence? Let query and key both be a one-hot vector of width 64 times $\ell$, and the score be scaled: which $\ell$ gives that $\beta$? (Not checked.)
# ([Solution](../solutions/05_self_attention.ipynb#solution-induction-head))
# ```


# %%
def what_followed(ids: torch.Tensor, vocab_size: int) -> torch.Tensor:
    """Shapes: ids (B, T); returns shares (B, T, V), a row of which sums to 1, or is 0."""
    raise NotImplementedError


check("induction_head", what_followed)

# %% [markdown]
# ```{exercise} Dropout by hand
# :label: exercise-attention-dropout
#
# *Core, 5 minutes.* In training, attention drops some of its weights, so that no query relies on a single key. Each is kept with probability $1 - p$; which ones are kept
# was drawn for you. **On average**, a weight should stay as large as it was. In evaluation nothing is dropped.
# ([Solution](../solutions/05_self_attention.ipynb#solution-attention-dropout))
# ```


# %%
def dropped_weights(scores, kept, p: float, training: bool) -> torch.Tensor:
    """Shapes: scores (B, h, T, S), kept (B, h, T, S) boolean; returns weights like scores."""
    raise NotImplementedError


check("attention_dropout", dropped_weights)

# %% [markdown]
# ```{exercise} An attention mask for the library
# :label: exercise-library-mask
#
# *Core, 10 minutes.* A target attends to a source; both are padded with 0, sometimes in front. `nn.MultiheadAttention` takes an `attn_mask` of three axes, (B·h, T, S).
# In it **True blocks**, and all heads of the first sequence come first, then those of the second. Block the keys that are padding, and nothing else: a query that is
# padding may attend, since its row is never read. ([Solution](../solutions/05_self_attention.ipynb#solution-library-mask))
# ```


# %%
def library_mask(target: torch.Tensor, source: torch.Tensor, n_heads: int) -> torch.Tensor:
    """Shapes: ids target (B, T) and source (B, S); returns a mask (B·h, T, S), True = blocked."""
    raise NotImplementedError


check("library_mask", library_mask)

# %% [markdown]
# ```{exercise} Top-k attention: only the best
# :label: exercise-top-k-attention
#
# *Core, 15 minutes.* A softmax gives every key some weight, and over a long sequence many small weights add up. Let each query attend to its $k$ best keys only, and share
# its weight among them by their softmax {cite}`zhao2019explicit`. Masked keys don't count among the best: if fewer than $k$ are allowed, all of those get weight, and if
# none is, the weights are 0. It should hold for scores of any size, and in half precision. You may use `masked_softmax` from `utils.attention`.
# ([Solution](../solutions/05_self_attention.ipynb#solution-top-k-attention))
# ```


# %%
def top_k_weights(scores: torch.Tensor, mask: torch.Tensor, k: int) -> torch.Tensor:
    """Shapes: scores (B, h, T, S), mask broadcastable to them; returns weights like scores.

    k is at most S, and no two scores that compete for the last place are equal.
    """
    raise NotImplementedError


check("top_k_attention", top_k_weights)

# %% [markdown]
# ```{exercise} ALiBi: distance has a price
# :label: exercise-alibi
#
# *Core, 15 minutes.* ALiBi adds nothing to the symbols {cite}`press2022train`. It subtracts from each score the distance between query and key, in positions, times a slope
# that is fixed for each head:
#
# $$
# \begin{aligned}
# &\operatorname{softmax}_j\bigl(e_{ij} - m\,(i - j)\bigr), \quad j \le i, \\
# m &= 2^{-8/h},\, 2^{-16/h},\, \dots,\, 2^{-8} \text{ for heads } 1, 2, \dots, h .
# \end{aligned}
# $$
#
# Return the weights. There may be fewer queries than keys, as in generation: then the queries are the **last** T of the S positions.
# ([Solution](../solutions/05_self_attention.ipynb#solution-alibi))
# ```


# %%
def alibi_weights(scores: torch.Tensor) -> torch.Tensor:
    """Shapes: scores (B, h, T, S), scaled already, with T ≤ S; returns weights like scores."""
    raise NotImplementedError


check("alibi", alibi_weights)

# %% [markdown]
# ```{exercise} Rotary positions: turn the other pairs
# :label: exercise-rotary-halves
#
# *Core, 15 minutes.* Our `Rotary` turns neighbours, as the paper does: $x_0$ with $x_1$, $x_2$ with $x_3$. Many published models turn the first half with the second: pair
# $i$ is $(x_i, x_{i+d/2})$. Its angle is the same, $m \cdot \text{base}^{-2i/d}$ at position $m$, and so is its direction: $(1, 0)$ goes towards $(0, 1)$. Write it. If you
# load such a model's weights and turn the wrong pairs, you get no error, only nonsense. ([Solution](../solutions/05_self_attention.ipynb#solution-rotary-halves))
# ```


# %%
def rotary_halves(x: torch.Tensor, start: int, base: float) -> torch.Tensor:
    """Shapes: x (B, h, T, d), d even, positions from `start` on; returns the same shape."""
    raise NotImplementedError


check("rotary_halves", rotary_halves)

# %% [markdown]
# ```{exercise} A matrix that shifts positions
# :label: exercise-shift-matrix
#
# *Stretch, 20 minutes.* The Transformer's paper adds to each symbol a vector $p_m$ of **waves**: the hands of clocks, as numbers. At position $m$, with $d$ numbers in
# pairs $i = 0, 1, \dots, d/2 - 1$,
#
# $$
# \begin{aligned}
# p_{m, 2i} &= \sin(m\,\omega_i), \\
# p_{m, 2i+1} &= \cos(m\,\omega_i), \\
# \omega_i &= \text{base}^{-2i/d} .
# \end{aligned}
# $$
#
# A step of $k$ positions turns each pair by the fixed angle $k\,\omega_i$, and a turn is linear. So the authors hoped that a layer would easily learn to attend by
# *relative* position. Find the matrix $M_k$ of that step, so that for every $m$
#
# $$
# p_{m+k} = M_k\, p_m .
# $$
#
# (Not checked: with such a matrix, choose queries and keys made of the waves, so that position $t$ attends to $t - 1$. How sharp must the softmax be?) ([Solution](../solutions/05_self_attention.ipynb#solution-shift-matrix))
# ```


# %%
def shift_matrix(k: int, d: int, base: float) -> torch.Tensor:
    """Return M_k (d, d), all of it computed in float64; d is even, k may be negative."""
    raise NotImplementedError


check("shift_matrix", shift_matrix)

# %% [markdown]
# ```{exercise} Back through the softmax
# :label: exercise-softmax-gradient
#
# *Stretch, 20 minutes.* A context is $c_t = \sum_s \alpha_{ts} v_s$, with $\alpha_t = \operatorname{softmax}(e_t)$. You are given $\alpha$, the values, and the gradient of
# some loss with respect to the contexts. Return its gradient with respect to the scores $e$, without autograd. Begin with the lesson's {eq}`eq-softmax-gradient`. What
# happens to the gradient when one weight is almost 1? ([Solution](../solutions/05_self_attention.ipynb#solution-softmax-gradient))
# ```


# %%
def score_gradient(weights, value, grad_context) -> torch.Tensor:
    """Shapes: weights (B, h, T, S), value (B, h, S, d_v), grad_context (B, h, T, d_v).

    Returns: the gradient of the scores (B, h, T, S).
    """
    raise NotImplementedError


check("softmax_gradient", score_gradient)
