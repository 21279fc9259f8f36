# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Day 10, deeper: BERT: learning from hidden words
#
# What goes beyond the evening of [Day 10](../10_pretraining.ipynb). The sections don't need each other: take those that you are curious about.

# %% tags=["setup"]
import convolution_to_attention  # is `utils` this book's?

import contextlib
import io
import math
import tempfile
from collections import Counter
from collections.abc import Sequence
from functools import partial
from itertools import chain
from pathlib import Path
from statistics import fmean

import matplotlib.pyplot as plt
import torch
from torch import nn

from utils.data.files import own_folder
from utils.data.libraries import NAME, NUMBER, sentences
from utils.exercises.pretraining import check
from utils.measure import experiments
from utils.measure.claims import claim
from utils.measure.costs import work
from utils.pretraining import MASK, PUBLISHED, SharedEncoder, cast_dice, make_pair, mask_words
from utils.pretraining import draw_infilling, draw_spans, hide_spans, infill
from utils.pretraining import load_albert, load_bert, load_distilbert, load_t5
from utils.pretraining import published_sizes, read_pieces, relative_buckets
from utils.pretraining.encoders import SignalledBlock
from utils.pretraining.heads import FewerHeads

# %% tags=["setup"]
from utils.pretraining.low_rank import LowRank, add_low_rank, merge_low_rank, n_trained
from utils.pretraining.rounded import round_weight
from utils.show.diagrams import arrow, box, cells, label, note, sheet, stack
from utils.show.display import observe, show_source, table
from utils.show.plotting import bars, curves, in_chinese, use_book_style
from utils.tasks.fine_tuning import classifier
from utils.tasks.held_out import held_out
from utils.tasks.pretraining import documents, hide, new_model, vocabulary
from utils.tasks.sentence_pairs import Pairs
from utils.tasks.sharing import ENCODERS, build
from utils.training.loop import seeded

use_book_style()


def told(values: list[float], form: str = ".1%") -> str:
    """The mean over the seeds, the lowest and the highest."""
    return f"{fmean(values):{form}} ({min(values):{form}} to {max(values):{form}})"


# %% [markdown]
# (deeper-masking)=
# ## Masking: which words should be hidden, and how often anew?
#
# *5 minutes.* BERT's masks were drawn before training: each text came in ten copies, hidden in ten ways, and each copy was read four times. RoBERTa {cite}`liu2019roberta` draws new masks whenever a text is read. **Do they teach more, and is 15 % the right share?**

# %% tags=["mechanism"] mystnb={"figure": {"caption": "Three passes over one sentence. If the masks are drawn once, the same words are asked for each time, and the others never. If they are drawn anew, nearly every word is asked for in the end.", "name": "fig-pre-drawn"}, "image": {"alt": "Two groups of three rows, each with the sentence it fits the model to the data. In the upper group, once, the same words are masked in all three rows. In the lower group, anew, other words in each row."}}
torch.manual_seed(176)
said = torch.arange(MASK + 1, MASK + 8)[None]
text = "it fits the model to the data".split()
once = cast_dice(said.shape, 100)
ax = sheet(6.6)
for top, name, dice in (
    (0.3, "once", [once] * 3),
    (3.6, "anew", [cast_dice(said.shape, 100) for _ in range(3)]),
):
    note(ax, (0.2, top + 1.35), name, align="left", weight="bold")
    asked = [(mask_words(said, each, 0.3)[1][0] >= 0).tolist() for each in dice]
    shown = [["[M]" if a else w for a, w in zip(row, text, strict=True)] for row in asked]
    weights = [[0.7 * each for each in row] for row in asked]
    cells(ax, (2.4, top), shown, role="query", weights=weights, size=(1.85, 0.9))
plt.show()

# %% [markdown]
# Two encoders of the lesson's size read the same passages sixteen times. Half of the words are hidden: for one encoder always the same, for the other new ones at each pass.

# %% tags=["evidence"] mystnb={"figure": {"caption": "Loss of hidden words in held-out text, after each pass over the same passages: means and ranges of three seeds.", "name": "fig-pre-passes"}, "image": {"alt": "Two curves over 16 passes, which begin together at 5.9 nats. Drawn anew, it falls to 4.75. Drawn once, it stays until the fifth pass, rises from the eighth on, and ends at 8.4."}}
masking = experiments.load("masking")
lines = {}
for drawn in ("drawn once", "drawn anew"):
    (row,) = masking.select(hidden=drawn)
    by_pass = [row[f"loss by pass, {seed}"] for seed in range(3)]
    lines[drawn] = (range(1, len(by_pass[0]) + 1), by_pass)
curves(lines, "passes over the same passages", "loss (nats per hidden word)")
plt.show()

# %% tags=["evidence"]
once, anew = (
    fmean(masking.column("100 labels", hidden=drawn)[0]) for drawn in ("drawn once", "drawn anew")
)
ends = {name: fmean(each[-1] for each in by_pass) for name, (_, by_pass) in lines.items()}

# %% [markdown]
# A model that always meets the same gaps can learn the answers by heart. In new text, this one is worse at the end than after a single pass.
#
# (claim-pre-10)=

# %% tags=["evidence"]
claim(
    "pre-10",
    "Yes: after 16 passes new hidden words cost {of_anew:.2f} nats, or {of_once:.2f} if drawn once; with 100 labels {anew:.0%} and {once:.0%} are right.",
    of_anew=ends["drawn anew"],
    of_once=ends["drawn once"],
    anew=anew,
    once=once,
    holds=lambda of_anew, of_once, anew, once: (
        of_anew < of_once - 1 and anew > once + 0.05 and of_once > 7
    ),
    scale="62 batches of 8 passages of 128 words, read 16 times, half of the words hidden; three seeds",
    experiment="masking",
)

# %% [markdown]
# BERT itself was not as badly off: it had ten masks, and met each of them four times. There, RoBERTa's authors found new masks *comparable or slightly better*.
#
# How many words should be hidden? Four more encoders read new passages at every step.

# %% tags=["evidence"]
rows = [
    [row["hidden"], told(row["loss"], ".2f"), told(row["right"]), told(row["100 labels"])]
    for row in masking.rows
    if not row["hidden"].startswith("drawn")
]
table(rows, ["hidden", "loss of hidden words", "found", "libraries, 100 labels"])

# %% tags=["evidence"]
of = {row["hidden"]: row for row in masking.rows}
few, all_masks, half = (of[name]["100 labels"] for name in ("15%", "15%, all [MASK]", "50%"))
observe(
    "Half beats 15 % in every seed: with 100 labels by {least:.0f} to {most:.0f} points. Whether 15 % are hidden by the rule or all behind [MASK] makes a difference of {rule:.1f}; seeds make one of {seeds:.1f}.",
    least=100 * min(more - less for more, less in zip(half, few, strict=True)),
    most=100 * max(more - less for more, less in zip(half, few, strict=True)),
    rule=100 * abs(fmean(few) - fmean(all_masks)),
    seeds=100 * (max(few) - min(few)),
    holds=min(half) > max(few) and abs(fmean(few) - fmean(all_masks)) < max(few) - min(few),
)

# %% [markdown]
# A step that asks for half of the words asks for three times as many as one that asks for 15 %, and these were only 1,000 steps, at rates that were chosen for half. Large models do best near 40 %, too {cite}`wettig2023mask`. Whether 80/10/10 is worth its trouble isn't decided here: loss and *found* are those of words behind `[MASK]`, which favours the last row, and labels don't tell the two apart. BERT's authors varied the rule as well, and found little between its variants in a model that is tuned {cite}`devlin2019bert`.

# %% [markdown]
# (deeper-next)=
# ## Next-sentence prediction: does it help?
#
# *6 minutes.* BERT was asked two things at once: which words are hidden, and whether the second of two parts follows the first {cite}`devlin2019bert`. In half of all pairs it does; in the others the second part comes from another document. ALBERT {cite}`lan2020albert` asks something harder: both parts are neighbours, and in half of the pairs they are exchanged. **Does either question teach what hidden words don't?**

# %% tags=["mechanism"] mystnb={"figure": {"caption": "Two questions about a pair, and how an encoder reads it. BOS is BERT's [CLS], and EOS its [SEP]. The types say which part a word belongs to.", "name": "fig-pre-pairs"}, "image": {"alt": "Three rows of boxes: BOS, a part, EOS, another part, EOS. In the first row the parts are A and B, the next of the same text: label 0. In the second they are A and a part X of another text: label 1, next sentence. In the third they are B and A: label 1, sentence order. Below, the types: 0 from BOS to the first EOS, 1 behind it."}}
ax = sheet(6.2)
PARTS = {"A": "A: here", "B": "B: what follows", "X": "X: another text"}
PAIRS = {"either: 0": "AB", "next: 1": "AX", "order: 1": "BA"}
for y, (asked, shown) in zip((0.3, 1.8, 3.3), PAIRS.items(), strict=True):
    note(ax, (0.1, y + 0.5), asked, align="left", weight="bold")
    x = 2.9
    for text, width in (("BOS", 1.4), (shown[0], 4.0), ("EOS", 1.4), (shown[1], 4.0), ("EOS", 1.4)):
        role = {"A": "query", "B": "value", "X": "gradient"}.get(text)
        box(ax, (x, y), PARTS.get(text, text), (width, 1.0), role=role)
        x += width + 0.15
note(ax, (0.1, 5.1), "types", align="left", weight="bold")
for x, width, kind in ((2.9, 7.1, 0), (10.15, 5.55, 1)):
    box(ax, (x, 4.7), str(kind), (width, 0.8), role="state" if kind else None)
plt.show()

# %%
show_source(make_pair)

# %% [markdown]
# The vector at BOS answers the question about the pair, those of hidden words say which word it was, and the two losses are added. Three encoders of the lesson's size read pairs from the libraries' text. One is asked for hidden words alone, the others one of the two questions as well. Layers, text, steps and words per step are the same; but the first encoder's parts always follow each other, and the others' only half of the time. Loss and shares are those of held-out text; each answer is also tried on the question that the model was not asked.

# %% tags=["evidence"]
pairs = experiments.load("sentence_pairs")
COLUMNS = {"loss": ".2f", "next": ".0%", "order": ".0%", "100 labels": ".0%", "1000 labels": ".0%"}
rows = [
    [row["asked"], *(told(row[name], form) if row[name] else "–" for name, form in COLUMNS.items())]
    for row in pairs.rows
]
headers = ["asked for", "loss of hidden words", "next: right", "order: right"]
table(rows, [*headers, "libraries, 100 labels", "1,000 labels"])

# %% [markdown]
# A coin would be right for half. Only one seed of three has begun to answer the first question, none the second, and both get in the way of the words. Could they be answered at all? Whether a part comes from another document should show in its words. So let us count: two parts belong together if they share enough of the words that few documents have.

# %%
N_DOCUMENTS = Counter(word for document in documents() for word in {*chain(*document)})


def in_common(first: set[int], second: set[int]) -> float:
    """The cosine of two sets of words, a word weighted by ln(documents / documents with it)."""
    words = N_DOCUMENTS.keys()
    both, *each = (
        sum(math.log(len(documents()) / N_DOCUMENTS[word]) ** 2 for word in some & words)
        for some in (first & second, first, second)
    )
    return both / math.sqrt(math.prod(each) + 1e-9)


# %%
def counted(of: Sequence) -> tuple[torch.Tensor, torch.Tensor]:
    """What the parts of 800 pairs have in common, and which don't follow each other."""
    found = []
    with seeded(0, 0):
        for ids, _, types, target in Pairs(of, 100, "next", partial(hide, share=0.0)):
            for row, kind, label in zip(ids, types, target[:, 0], strict=True):
                parts = ({*row[(kind == part) & (row > MASK)].tolist()} for part in (0, 1))
                found.append((in_common(*parts), bool(label)))
    shares, labels = zip(*found, strict=True)
    return torch.tensor(shares), torch.tensor(labels)


shares, labels = counted(documents())
limit = max(shares.tolist(), key=lambda limit: ((shares < limit) == labels).sum())
shares, labels = counted(held_out())
by_counting = ((shares < limit) == labels).double().mean().item()

# %% tags=["evidence"]
right = {
    name: fmean(pairs.column(name, asked=asked)[0])
    for name, asked in (("next", "next sentence"), ("order", "sentence order"))
}
losses = {asked: fmean(pairs.column("loss", asked=asked)[0]) for asked in pairs.column("asked")}

# %% [markdown]
# (claim-pre-4)=

# %% tags=["evidence"]
claim(
    "pre-4",
    "Can't tell here: neither is learned ({next:.0%} and {order:.0%} right), and words cost at least {gap:.2f} nats more. Counting gets {count:.0%} of the first.",
    **right,
    gap=min(losses["next sentence"], losses["sentence order"]) - losses["words alone"],
    count=by_counting,
    holds=lambda next, order, gap, count: (
        max(abs(next - 0.5), abs(order - 0.5)) < 0.07 and gap > 0.1 and count > 0.75
    ),
    scale="2 blocks of width 64; 1,500 steps of 1,024 words, half of them hidden; three seeds",
    experiment="sentence_pairs",
)

# %% [markdown]
# So the answer to the first question stands in the text, and our encoder probably had too little time to learn to compare two parts: a step asks for some five hundred words, but for eight pairs. A question that it can't answer teaches it nothing, so nothing follows for larger ones. BERT's authors found that the question helps; RoBERTa's left it out and lost nothing {cite}`liu2019roberta`. That counting answers it is ALBERT's reason to exchange the parts: then both have the same words either way.

# %% [markdown]
# ```{exercise} Next sentence, or sentence order: two questions about a pair
# :label: exercise-ordered-pair
#
# *Core, 10 minutes.* Make a pair as an encoder reads it: `BOS`, a part, `EOS`, a part, `EOS`, a type for each symbol, and the label. If the die is below 0.5, the second part follows the first. Otherwise `other` stands in its place ("next"), or the two are exchanged ("order").
# ([Solution](../solutions/10_pretraining.ipynb#solution-ordered-pair))
# ```


# %%
def ordered_pair(
    first: list[int], second: list[int], other: list[int], question: str, die: float
) -> tuple[list[int], list[int], int]:
    """Return ids, types (0 up to the first part's EOS, 1 behind it) and label (0: it follows)."""
    raise NotImplementedError


check("ordered_pair", ordered_pair)

# %% [markdown]
# (deeper-spans)=
# ## Hidden spans: what if the answer is text, too?
#
# *7 minutes.* Today's encoder has a place for each hidden word, so it is told how many are missing. **Can a model be asked for text of any length?** Yes: let an encoder read and a decoder write, as on Day 6. All that's needed is a way to make questions and answers out of plain text. Here are two.
#
# **T5** {cite}`raffel2020exploring` hides *spans*: 15 % of the words, three in a row on average. One mark stands for each span, a *sentinel* ⟨0⟩, ⟨1⟩, … The decoder writes what is hidden, each span behind its sentinel, and the next sentinel as the end.

# %% tags=["mechanism"] mystnb={"figure": {"caption": "T5's spans: what is hidden, what the encoder reads, and what the decoder is to write.", "name": "fig-pre-spans"}, "image": {"alt": "Three rows of cells. The text: it fits the line to the data you give; fits the and data are coloured. The encoder reads: it, sentinel 0, line to the, sentinel 1, you give. The decoder writes: sentinel 0, fits the, sentinel 1, data, sentinel 2."}}
text = "it fits the line to the data you give".split()
spans, marks = [(1, 3), (6, 7)], ["⟨0⟩", "⟨1⟩", "⟨2⟩"]
hidden = {word for start, end in spans for word in range(start, end)}
source, target = hide_spans(text, spans, marks)
ax = sheet(4.6)
rows = {"text": text, "encoder reads": source, "decoder writes": target}
for y, (name, row) in zip((0.3, 1.9, 3.5), rows.items(), strict=True):
    note(ax, (0.1, y + 0.42), name, align="left", weight="bold")
    shade = [0.7 * (place in hidden) for place in range(len(row))]
    if name != "text":
        shade = [0.7 * (word in marks) for word in row]
    role = "value" if name == "text" else "query"
    cells(ax, (4.0, y), [row], role=role, weights=[shade], size=(1.32, 0.85))
plt.show()

# %%
show_source(hide_spans)

# %% [markdown]
# **BART** {cite}`lewis2020bart` *infills*. Three tenths of the words are hidden, in spans whose lengths are drawn from a Poisson distribution with a mean of 3. Each span becomes one `[MASK]`, and a span of no words a `[MASK]` that stands for nothing. The decoder writes the *whole* text, so it has to find out how much was missing, and where nothing was. BART also shuffles the sentences, as `permute_sentences` does.

# %% tags=["mechanism"] mystnb={"figure": {"caption": "BART's infilling of the same text: the second mask stands for nothing.", "name": "fig-pre-infilling"}, "image": {"alt": "Two rows of cells. The encoder reads: it, mask, line, mask, to the, mask, you give. The decoder writes the whole text: it fits the line to the data you give, in which fits the and data are coloured."}}
ax = sheet(3.0)
source = infill(text, [(1, 3), (4, 4), (6, 7)], mask="[M]")
rows = {"encoder reads": source, "decoder writes": text}
for y, (name, row) in zip((0.3, 1.9), rows.items(), strict=True):
    note(ax, (0.1, y + 0.42), name, align="left", weight="bold")
    shade = [0.7 * (word == "[M]") for word in row]
    if row is text:
        shade = [0.7 * (place in hidden) for place in range(len(row))]
    role = "value" if row is text else "query"
    cells(ax, (4.0, y), [row], role=role, weights=[shade], size=(1.32, 0.85))
plt.show()

# %% tags=["evidence"]
N, asked = 128, range(1000, 1032)
generator = torch.Generator().manual_seed(0)
drawn = [draw_spans(N, generator=generator) for _ in range(200)]
written = {len(hide_spans(range(N), spans, asked)[1]) for spans in drawn}
infilled = [draw_infilling(N, generator=generator) for _ in range(200)]
empty = sum(start == end for spans in infilled for start, end in spans) / sum(map(len, infilled))

# %% tags=["evidence"]
observe(
    "Of {N} words T5 hides {words} in {spans} spans, and its decoder writes {written} symbols. BART's writes all {N}; of its masks, {empty:.0%} stand for nothing.",
    N=N,
    words=sum(end - start for start, end in drawn[0]),
    spans=len(drawn[0]),
    written=max(written),
    empty=empty,
    holds=len(written) == 1 and max(written) < N / 4 and 0.02 < empty < 0.1,
)

# %% [markdown]
# So a step of T5 is cheap, and everything its decoder writes is something that the source doesn't show. BART's decoder copies most of what it writes, but it practises whole sentences.

# %% [markdown]
# ```{exercise} T5: spans with sentinels
# :label: exercise-hide-spans
#
# *Core, 10 minutes.* Make the source and the target for given spans. The sentinels are a list of ids, in order, at least one more than there are spans: T5's own count down from 32,099. Words are ids as well, and can occur twice; and there may be no span.
# ([Solution](../solutions/10_pretraining.ipynb#solution-hide-spans))
# ```


# %%
def hide_given_spans(
    ids: list[int], spans: list[tuple[int, int]], sentinels: list[int]
) -> tuple[list[int], list[int]]:
    """Return the source and the target; span (start, end) is ids[start:end].

    The next sentinel ends the target.
    """
    raise NotImplementedError


check("hide_spans", hide_given_spans)

# %% [markdown]
# ```{exercise} T5: the decoder's input
# :label: exercise-decoder-reads
#
# *Core, 8 minutes.* In training, a decoder reads the answer while it gives it. What does it read, and what is it to say at each place? Make both from targets of different lengths, padded behind their ends.
# ([Solution](../solutions/10_pretraining.ipynb#solution-decoder-reads))
# ```


# %%
def decoder_reads(
    targets: list[list[int]], start: int, end: int, pad: int
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return what is read and what is to be said, (B, T) each.

    The decoder reads `start` first, and is to say `end` last. Behind a shorter target, what is read
    is `pad`, and what is to be said -100, which no loss counts.
    """
    raise NotImplementedError


check("decoder_reads", decoder_reads)

# %% [markdown]
# (deeper-families)=
# ## Which is better: encoder, decoder, or both?
#
# *7 minutes.* Encoders understand and decoders write: so one often reads. **Is that still so if all of them read the same text for the same time?** The encoder guesses hidden words. The decoder says the next word, as on Day 9. Two models have both parts, with one block each: one writes T5's spans, and one what BART asks for. All are about the same size, and have four ways to read: two shares of hidden words with two rates each, or four rates where nothing is hidden. The best at hidden words of the validation sentences is judged.

# %% tags=["mechanism"] mystnb={"figure": {"caption": "What each symbol may look at: in a decoder itself and what is before, in an encoder everything. With both, the decoder also sees all of the source.", "name": "fig-pre-families"}, "image": {"alt": "Three grids. Encoder: all five by five cells are filled. Decoder: those on and below the diagonal. Both: five by five cells, all filled, for the source; beneath them three rows of five filled cells, which are the target looking at the source, and to their right a triangle of three by three, the target looking at itself."}}
ax = sheet(7.6)
size, seen = (0.62, 0.62), torch.ones(5, 5)
for x, name, grid in ((0.6, "encoder", seen), (5.0, "decoder", seen.tril())):
    cells(ax, (x, 1.2), [[""] * 5] * 5, role="key", weights=0.6 * grid, size=size)
    note(ax, (x + 1.55, 0.6), name, weight="bold")
cells(ax, (9.4, 1.2), [[""] * 5] * 5, role="key", weights=0.6 * seen, size=size)
cells(ax, (9.4, 4.5), [[""] * 5] * 3, role="query", weights=0.6, size=size)
own = cells(
    ax, (12.6, 4.5), [[""] * 3] * 3, role="value", weights=0.6 * seen.tril()[:3, :3], size=size
)
note(ax, (10.95, 0.6), "both", weight="bold")
note(ax, (12.8, 2.7), "the source", align="left")
note(ax, (10.95, 6.8), "at the source")
note(ax, (14.0, 6.8), "at itself")
plt.show()

# %% [markdown]
# Three tasks judge them, with the same sentences and the same number of trials for each.
#
# - **Fill** one gap in a sentence. An encoder has seen both sides when it guesses. A model that writes has to choose its word before it writes what follows. So it gets a second look: of its twenty likeliest words, it takes the one with which the rest is likeliest, too.
# - **Classify**, with 100 labels and with 1,000, as in the lesson: by the mean of all vectors, or, where spans are written, by the decoder's first.
# - **Go on**: say the next word, given all words before it. The encoder is shown a mask behind them.

# %% tags=["evidence"]
families = experiments.load("families")
rows = []
for row in families.rows:
    filled = [told(row[column], ".0%") for column in ("filled at once", "filled")]
    labels = [told(row[column], ".0%") for column in ("100 labels", "1000 labels")]
    seconds = f"{fmean(row['seconds']):.0f}"
    rows.append([row["family"], seconds, *filled, *labels, told(row["continuing"], ".2f")])
headers = ["family", "seconds", "filled at once", "filled", "100 labels", "1,000 labels"]
table(rows, [*headers, "nats of the next word"])

# %% tags=["evidence"]
of = {row["family"]: row for row in families.rows}
encoder, decoder, both = (of[name] for name in ("encoder", "decoder", "both, infilling"))

# %% [markdown]
# (claim-pre-2)=

# %% tags=["evidence"]
claim(
    "pre-2",
    "No: with 1,000 labels the encoder is right for {reads:.0%}, infilling for {both:.0%}. And the decoder fills {decoder:.0%} of the gaps, the encoder {encoder:.0%}.",
    reads=fmean(encoder["1000 labels"]),
    both=fmean(both["1000 labels"]),
    decoder=fmean(decoder["filled"]),
    encoder=fmean(encoder["filled"]),
    holds=lambda reads, both, decoder, encoder: both > reads + 0.03 and decoder > encoder + 0.05,
    scale="two blocks each; the libraries' text for about equal time; four ways to read, four rates to tune; three seeds",
    experiment="families",
)

# %% [markdown]
# It was a short time, and the two that are asked for every word, the decoder and BART's, are ahead at filling gaps and going on. The lesson's encoder takes twice as many steps, and is right for more than any of these. So the table says who learns quickly, and not who would know most in the end. What it does show: a model that writes can also fill gaps, and tell libraries apart.

# %% [markdown]
# (deeper-text-to-text)=
# ## T5: can every task be turned into text?
#
# *6 minutes.* So far each task has had a layer of its own: five outputs for five libraries, a head for hidden words. T5 has none {cite}`raffel2020exploring`. What it reads begins with the name of the task, and it writes the answer word by word, whether that is a translation, a library's name or what stood in a gap. **Can one model do the work of three?**

# %% tags=["mechanism"] mystnb={"figure": {"caption": "Three tasks as text. The first word says what to do, and the same decoder writes every answer.", "name": "fig-pre-prefixes"}, "image": {"alt": "Three rows, each a box with the task, a box with the text, and an arrow to a box with the answer. Translate: I know your brother, to four Chinese words. Classify: select a scale for the range, to matplotlib. Fill: select a sentinel 0 for the range, to sentinel 0, scale, sentinel 1."}}
ax = sheet(4.5)
hanzi = " ".join(in_chinese("我 认识 你 哥哥", pinyin="wǒ rènshi nǐ gēge"))
TASKS = {
    "translate:": ("I know your brother", hanzi),
    "classify:": ("select a scale for the range", "matplotlib"),
    "fill:": ("select a ⟨0⟩ for the range", "⟨0⟩ scale ⟨1⟩"),
}
for y, (task, (read, written)) in zip((0.3, 1.8, 3.3), TASKS.items(), strict=True):
    box(ax, (0.2, y), task, (2.6, 1.0), role="key")
    source = box(ax, (2.9, y), read, (7.2, 1.0))
    target = box(ax, (11.4, y), written, (4.4, 1.0), role="value")
    arrow(ax, source.at("right"), target.at("left"))
plt.show()

# %% [markdown]
# The tasks: Day 4's sentences, from English into Chinese; the five libraries; and gaps of one word. Three models learn one task each. A fourth translates, but with a third of the steps. Two models learn all three in turn: one with as many steps of each as its specialist had, one with a third of them. An answer counts if there is no mistake in it.

# %% tags=["evidence"]
unified = experiments.load("text_to_text")
ASKED = ["translate", "classify", "fill"]
rows = [
    [row["model"], *(told(row[task], ".0%") if row[task] else "–" for task in ASKED)]
    for row in unified.rows
]
table(rows, ["learns", *ASKED])

# %% tags=["evidence"]
alone = {task: fmean(unified.column(task, model=task)[0]) for task in ASKED}
together = {task: fmean(unified.column(task, model="all, steps of each")[0]) for task in ASKED}
third = fmean(unified.column("translate", model="translate, a third")[0])
short = fmean(unified.column("translate", model="all, steps in all")[0])
known = {*vocabulary().symbols} - {NAME, NUMBER}
words = [[word for word in said.words if word in known] for said in sentences().test[:500]]
the = fmean(said.count("the") / len(said) for said in words if said)

# %% [markdown]
# (claim-pre-7)=

# %% tags=["evidence"]
claim(
    "pre-7",
    "Yes: with as many steps of each task it translates {together:.0%} rightly, a specialist {alone:.0%}; with a third of them {short:.0%} and {third:.0%}.",
    together=together["translate"],
    alone=alone["translate"],
    short=short,
    third=third,
    holds=lambda together, alone, short, third: (
        alone - 0.1 < together < alone + 0.1 and third - 0.04 < short < third + 0.04
    ),
    scale="2 and 2 blocks of width 64; 420 steps of 32 examples for each task; three rates each, three seeds",
    experiment="text_to_text",
)

# %% tags=["evidence"]
observe(
    "Libraries: {one:.0%} and {of_one:.0%} for the specialist. Gaps: {gaps:.0%} and {of_gaps:.0%}, where always *the* would be right for {the:.0%}.",
    one=together["classify"],
    of_one=alone["classify"],
    gaps=together["fill"],
    of_gaps=alone["fill"],
    the=the,
    holds=abs(together["classify"] - alone["classify"]) < 0.03
    and abs(together["fill"] - alone["fill"]) < 0.02
    and the > together["fill"] - 0.03,
)

# %% [markdown]
# For translations and libraries, seeds differ by at least as much. So the tasks take nothing from each other, and here they give each other nothing either: what counts is how many steps each had. Filling gaps was too much for all of them. T5's tasks share a language, and billions of words to learn it from.

# %% [markdown]
# (deeper-lora)=
# ## LoRA: how little of a model has to be tuned?
#
# *6 minutes.* A fine-tuned model is as large as the one it comes from, so ten tasks take ten copies. **How much of a copy has to differ?** The least is the new layer alone: the encoder stays *frozen*. **LoRA** {cite}`hu2022lora` freezes it, too, but gives each chosen weight a change of low rank, made of two thin matrices.
#
# $$
# W' = W + \tfrac{\alpha}{r}\, B A
# $$ (eq-lora)
#
# $A$ has $r$ rows and $B$ has $r$ columns. $B$ begins at 0, so at first nothing has changed. As in the paper, the weights of queries and values get such a change. $\alpha$ is the same for all ranks, so that one rate suits them all.

# %% tags=["mechanism"] mystnb={"figure": {"caption": "LoRA. The frozen weight and a detour of width r read the same input, and what they say is added. After training B A is added to W, and the detour is gone.", "name": "fig-pre-lora"}, "image": {"alt": "An input x leads on two ways to a sum. Above through a large square, W, marked frozen. Below through A, which is wide and low, and B, which is narrow and high; between them r numbers. Behind B stands alpha over r."}}
ax = sheet(7.4)
x = box(ax, (0.3, 3.0), "x", (1.2, 0.9))
frozen = box(ax, (5.2, 0.4), "W, frozen", (3.0, 3.0), role="key")
thin = box(ax, (3.2, 5.3), "A", (3.0, 0.7), role="query")
tall = box(ax, (9.6, 4.15), "B", (0.7, 3.0), role="query")
total = box(ax, (12.8, 3.0), "+", (0.9, 0.9))
arrow(ax, x.at("right"), frozen.at("left"))
arrow(ax, x.at("right"), thin.at("left"))
arrow(ax, thin.at("right"), tall.at("left"))
arrow(ax, frozen.at("right"), total.at("left"))
arrow(ax, tall.at("right"), total.at("bottom"))
arrow(ax, total.at("right"), (15.4, 3.45))
note(ax, (7.9, 5.2), "r numbers")
note(ax, (13.2, 5.3), "times α/r")
plt.show()

# %%
show_source(LowRank)

# %% [markdown]
# Our attention keeps the weights of queries, keys and values in one matrix, so only some of its rows change. PyTorch calls this a *parametrisation*: whenever the layer asks for its weight, it is computed anew. Once merged into the weight, the change costs nothing.

# %%
torch.manual_seed(0)
tuned, ids = classifier(new_model(0), 5), torch.randint(5, 100, (2, 16))
everything = n_trained(tuned)
add_low_rank(tuned.encoder, rank=8)
learning = n_trained(tuned)
for weight in tuned.parameters():
    if weight.requires_grad:
        nn.init.normal_(weight)  # as if it had learned
before = tuned(ids)
merge_low_rank(tuned.encoder)
assert torch.equal(tuned(ids), before) and before.std() > 0.1  # to the last bit

# %% tags=["evidence"]
observe(
    "With rank 8, {learning:,} numbers of {everything:,} learn: {share:.1%}.",
    learning=learning,
    everything=everything,
    share=learning / everything,
    holds=0.01 < learning / everything < 0.03,
)

# %% [markdown]
# Is that enough? We tune the lesson's encoder with 100 labels and with 1,000. Each way has four rates of its own, of which the validation set chooses one for each seed.

# %% tags=["evidence"]
lora = experiments.load("lora")
RANKS = [1, 2, 4, 8, 16]
WAYS = ["frozen", *(f"rank {rank}" for rank in RANKS), "full"]
trained = {way: lora.column(f"{way}, trained")[0] for way in WAYS}
right = {n: {way: lora.column(f"{way}, {n} labels") for way in WAYS} for n in (100, 1000)}
mean = {n: {way: fmean(values) for way, values in of.items()} for n, of in right.items()}

# %% tags=["evidence"] mystnb={"figure": {"caption": "Accuracy on the test sentences by how many numbers are tuned: the new layer alone, LoRA of ranks 1 to 16, all. Means and ranges of three seeds (stored experiment `lora`).", "name": "fig-pre-ranks"}, "image": {"alt": "Two curves over the number of tuned parameters on a logarithmic axis, for 100 labels and for 1,000 labels, each with a band, far above a gray line at 20 per cent, which is chance. The curve for 1,000 labels lies above the other. Both rise from the frozen encoder on the left to the one that is tuned as a whole on the right; between the ranks there is little difference."}}
lines = {
    f"{n:,} labels": (list(trained.values()), list(zip(*of.values(), strict=True)))
    for n, of in right.items()
}
ax = curves(lines, "parameters that are tuned", "share right", logx=True)
ax.axhline(1 / 5, color="gray", linewidth=0.8)
ax.set_ylim(0.15, 0.6)
plt.show()

# %% tags=["evidence"]
ranks = {n: {way: mean[n][way] for way in WAYS[1:-1]} for n in mean}
best = {n: max(of, key=of.get) for n, of in ranks.items()}
apart = max(max(of.values()) - min(of.values()) for of in ranks.values())
ahead = [
    whole - low
    for n, of in right.items()
    for whole, low in zip(of["full"], of[best[n]], strict=True)
]
ways = (right[1000][way] for way in ("frozen", best[1000], "full"))
in_order = all(frozen < low < full for frozen, low, full in zip(*ways, strict=True))

# %% tags=["evidence"]
observe(
    "From rank 1 to rank 16, mean accuracies differ by at most {apart:.1f} points. With each seed and both numbers of labels, full tuning is ahead of the rank that is best in the mean, by {least:.1f} to {most:.1f}.",
    apart=100 * apart,
    least=100 * min(ahead),
    most=100 * max(ahead),
    holds=0 < min(ahead) <= max(ahead) < 0.03 and apart < 0.02,
)

# %% [markdown]
# (claim-pre-11)=

# %% tags=["evidence"]
claim(
    "pre-11",
    "No, but nearly: with 1,000 labels full tuning gets {full:.1%} right, LoRA's best rank {low:.1%}, the frozen encoder {frozen:.1%}. Every seed agrees.",
    full=mean[1000]["full"],
    low=mean[1000][best[1000]],
    frozen=mean[1000]["frozen"],
    holds=lambda full, low, frozen: frozen + 0.01 < low < full - 0.005 < low + 0.015 and in_order,
    scale="five libraries' sentences; 2 blocks of width 64, pre-trained; 150 steps, 4 rates, 3 seeds",
    experiment="lora",
)

# %% [markdown]
# What the encoder has learned from text serves as it is: a new layer of 325 numbers reads most of it off. Rank 1 does what rank 16 does, as Hu et al. found, too. They saw no loss at all, from 125 million weights to 175 billion. There, a full copy for each task is what hurts; a copy of ours is a megabyte.

# %% [markdown]
# ```{exercise} LoRA: a change of low rank
# :label: exercise-lora
#
# *Core, 8 minutes.* Write what a layer with LoRA says, and the one weight that says the same after training.
# ([Solution](../solutions/10_pretraining.ipynb#solution-lora))
# ```


# %%
def lora_layer(x, W, A, B, alpha):
    """Return the outputs, and the merged weight.

    Shapes: x (..., d_in), W (n, d_in), A (r, d_in), B (n, r) to (..., n) and (n, d_in).
    """
    raise NotImplementedError


check("lora", lora_layer)

# %% [markdown]
# (deeper-distilled)=
# ## Distillation: what does each part of DistilBERT's recipe contribute?
#
# *6 minutes.* **Does the student need its teacher?** DistilBERT's recipe has four parts {cite}`sanh2019distilbert`. The student begins with every second block of its teacher. Then it learns from three losses: the hidden words, the teacher's soft targets for them {cite}`hinton2015distilling`, and the cosine of the angle between the last vectors of the two. The published script gives them the weights 2, 5 and 1, at a temperature of 2.

# %% tags=["mechanism"] mystnb={"figure": {"caption": "The recipe, with a teacher of four blocks: its blocks 0 and 2 are where the student begins (dashed). Both read the same text with hidden words, and three losses teach the student.", "name": "fig-pre-recipe"}, "image": {"alt": "Left a teacher of four blocks in a row, right below it a student of two. Dashed arrows lead from the teacher's blocks 0 and 2 to the student's blocks. Behind the teacher stand its vectors and its chances of words; behind the student its own. Arrows marked cosine and soft targets lead from the teacher's vectors and chances to the student's, and one marked masked words from the hidden word to the student's chances."}}
ax = sheet(6.6)
above = [box(ax, (0.3 + 2.1 * i, 0.6), f"block {i}", (1.9, 0.9), role="key") for i in range(4)]
below = [
    box(ax, (0.3 + 4.2 * i, 3.4), f"block {2 * i}", (1.9, 0.9), role="query") for i in range(2)
]
for i in range(2):
    arrow(ax, above[2 * i].at("bottom"), below[i].at("top"), dashed=True)
arrow(ax, below[0].at("right"), below[1].at("left"))
rows = {}
for y, last in ((0.6, above[-1]), (3.4, below[-1])):
    x = box(ax, (9.3, y), "vectors", (2.1, 0.9), role="state")
    words = box(ax, (12.9, y), "chances", (2.4, 0.9), role="value")
    arrow(ax, last.at("right"), x.at("left"))
    arrow(ax, x.at("right"), words.at("left"))
    rows[y] = x, words
for place, name in enumerate(("cosine", "soft\ntargets")):
    over, under = rows[0.6][place], rows[3.4][place]
    arrow(ax, over.at("bottom"), under.at("top"), role="gradient")
    note(ax, (over.middle[0] - 0.9, 2.45), name)
right = box(ax, (12.7, 5.5), "hidden word", (2.8, 0.9))
arrow(ax, right.at("top"), rows[3.4][1].at("bottom"), role="gradient")
note(ax, (11.2, 4.9), "masked words")
note(ax, (1.6, 2.45), "copied", align="left")
plt.show()

# %% [markdown]
# Here the teacher is the lesson's, with two blocks. Each student has one block and reads for another 400 steps, and so does the teacher in its second row. Each of the other rows leaves something out, and one model of one block reads alone for as long as both. *Loss* and *found* are about hidden words in held-out text. With labels, each model is tuned at the best of four rates, chosen on the validation set. In the last two rows a teacher of four blocks has a student of two.

# %% tags=["evidence"]
recipe = {row["model"]: row for row in experiments.load("distilled").rows}

columns = {"loss": ".2f", "right": ".1%", "100 labels": ".1%", "1000 labels": ".1%"}
rows = [
    [
        model,
        f"{row['parameters']:,}",
        *(told(row[column], form) for column, form in columns.items()),
    ]
    for model, row in recipe.items()
]
table(rows, ["model", "parameters", "loss (nats)", "found", "100 labels", "1,000 labels"])


# %% tags=["evidence"] mystnb={"figure": {"caption": "What it costs to leave a part out: loss in held-out text, above that of the whole recipe's student of the same seed; three seeds (stored experiment `distilled`).", "name": "fig-pre-parts"}, "image": {"alt": "Seven lying bars. Without a teacher and from nothing is by far the longest, with 1.5 nats. From nothing follows with 0.55. Without a teacher, without soft targets and without masked words are below 0.1. Without the angle, and alone for as long, there is hardly a bar to be seen."}}
def cost(model: str) -> list[float]:
    """Loss above the whole recipe's, seed by seed."""
    pairs = zip(recipe[model]["loss"], recipe["student"]["loss"], strict=True)
    return [round(left_out - whole, 2) for left_out, whole in pairs]


LEFT_OUT = [model for model in recipe if model.startswith(("without", "from nothing", "alone"))]
bars({model: cost(model) for model in LEFT_OUT}, "loss above the whole recipe's (nats)")
plt.show()

# %% tags=["evidence"]
start, alone = fmean(cost("from nothing")), fmean(cost("without a teacher"))
observe(
    "A start from nothing costs {start:.2f} nats. To read without a teacher, from the same start, costs {alone:.2f}.",
    start=start,
    alone=alone,
    holds=start > 2 * alone > 0.02,
)

# %% [markdown]
# DistilBERT's authors left out the same parts, and judged by the tasks of GLUE. There, too, the start was worth most, and the soft targets came next. Then came the cosine, and last the masked words.

# %% tags=["evidence"]
parts = ("without soft targets", "without masked words", "without the angle")
soft, words, cosine = (fmean(cost(model)) for model in parts)
missed = max(
    fmean(recipe["student"]["100 labels"]) - fmean(recipe[model]["100 labels"]) for model in parts
)

# %% [markdown]
# (claim-pre-5d)=

# %% tags=["evidence"]
claim(
    "pre-5d",
    "No: soft targets are worth {soft:.2f} nats, masked words {words:.2f}, the cosine {cosine:.2f}; with 100 labels no part is missed by over {points:.1f} points.",
    soft=soft,
    words=words,
    cosine=cosine,
    points=100 * missed,
    holds=lambda soft, words, cosine, points: (
        soft > words > 0.01 > abs(cosine) and 0 < points < 0.9
    ),
    scale="blocks of width 64: two teach one; 400 steps of 1,024 words, half of them hidden; three seeds",
    experiment="distilled",
)

# %% tags=["evidence"]
GIFTS = {"both": "student", "start": "without a teacher", "lessons": "from nothing"}
GIFTS |= {"neither": "without a teacher, from nothing", "alone": "alone, as long as both"}
tuned = {gift: fmean(recipe[model]["100 labels"]) for gift, model in GIFTS.items()}
given = [tuned[gift] for gift in ("both", "start", "lessons", "alone")]
observe(
    "With 100 labels the student gets {both:.0%} right. With its teacher's block alone it gets {start:.0%}, with its teacher's lessons alone {lessons:.0%}, and with neither {neither:.0%}, or {alone:.0%} after 1,900 steps.",
    **tuned,
    holds=min(given) > tuned["neither"] + 0.1 and max(given) - min(given) < 0.03,
)

# %% [markdown]
# So with 100 labels, 400 steps are enough with one of its teacher's gifts, weights or lessons. In 1,900 steps, as many as teacher and student took together, it needs none. A teacher saves reading, where it is there already; that a student learns more from it than from the text, this experiment doesn't show. {numref}`exercise-cosine` is about the third loss.

# %% [markdown]
# (deeper-shared)=
# ## Shared layers: what if all blocks have the same weights?
#
# *7 minutes.* Four blocks hold four times as many weights as one. **Does an encoder need four different blocks, or only four passes?** ALBERT {cite}`lan2020albert` has a single block and sends the text through it again and again. It also makes the table of words narrow and lets one matrix widen its rows: $V \cdot E + E \cdot D$ numbers in place of $V \cdot D$. The Universal Transformer {cite}`dehghani2019universal` shares a block, too. Before each pass it is told where each symbol is and which pass this is. (It can also stop earlier for some symbols than for others, which we leave out.)

# %% tags=["mechanism"] mystnb={"figure": {"caption": "Three encoders of four passes. Boxes of one letter are one block, with the same weights; p is the signal of the positions, t that of the pass.", "name": "fig-pre-shared"}, "image": {"alt": "Three columns of four boxes, one above the other. Left, blocks of their own: A, B, C and D. Middle, ALBERT: A four times. Right, Universal Transformer: A four times, and in front of each an arrow from p plus t 1, p plus t 2, p plus t 3, p plus t 4."}}
ax = sheet(9.4)
for x, title, names in (
    (2.6, "of their own", "ABCD"),
    (7.6, "shared", "AAAA"),
    (12.0, "universal", "AAAA"),
):
    blocks = stack(ax, (x, 8.0), [f"block {name}" for name in names], (2.6, 1.0))
    note(ax, (x, 8.4), "embedded words")
    note(ax, (x, 9.0), title, weight="bold")
for step, block in enumerate(blocks, start=1):
    y = block.at("bottom")[1] + 0.35
    arrow(ax, (14.0, y), (12.05, y), role="gradient")
    note(ax, (14.2, y), f"p + t{step}", align="left")
plt.show()

# %%
show_source(SharedEncoder)

# %%
show_source(SignalledBlock)

# %% [markdown]
# The gradient of a shared weight is the sum over its uses. Nothing else changes, so a shared encoder saves memory, and no work. Here are seven encoders that have read the same text for the same number of steps. Both Universal Transformers have the paper's signals; the second has rotary positions as well, as all the others do. All read for 750 steps at the lesson's rates, which were chosen for blocks of their own. The last encoder has four blocks of its own, narrow enough to have as few parameters as the shared one. *Products* are those of one pass over a batch, as a share of the first row's.

# %% tags=["evidence"]
read = torch.randint(MASK + 1, 3000, (2, 128)), torch.full((2,), 128)
products = {}
for name in ENCODERS:
    with torch.no_grad():
        products[name] = work(partial(build(name, seed=0).eval(), *read)).products

# %% tags=["evidence"]
shared = experiments.load("shared_layers")
rows = []
for row in shared.rows:
    sizes = [f"{row['parameters']:,}", f"{row['bytes'] / 2**20:.2f}"]
    sizes.append(f"{products[row['encoder']] / products['four blocks']:.2f}")
    rows.append([row["encoder"], *sizes, told(row["loss"], ".2f")])
    rows[-1] += [told(row[name]) for name in ("100 labels", "1000 labels")]
headers = ["encoder", "parameters", "MiB", "products", "loss of hidden words"]
table(rows, [*headers, "100 labels", "1,000 labels"])

# %% tags=["evidence"] mystnb={"figure": {"caption": "Share of the test sentences that are right with 100 labels; in brackets thousands of parameters. Means of three seeds, lines from the lowest to the highest (stored experiment `shared_layers`).", "name": "fig-pre-sharing"}, "image": {"alt": "Seven lying bars. Four blocks and the shared one are the longest, about 0.36, and four narrower blocks follow with 0.33. The factorised table and both Universal Transformers have about 0.27, and the table with the shared block 0.24."}}
labelled = {f"{row['encoder']} ({row['parameters'] / 1000:.0f})": row for row in shared.rows}
bars({name: row["100 labels"] for name, row in labelled.items()}, "share right")
plt.show()

# %% tags=["evidence"]
means = {
    name: {row["encoder"]: fmean(row[name]) for row in shared.rows}
    for name in ("loss", "100 labels", "1000 labels")
}
four, one, narrow = "four blocks", "one block, shared", "four narrower blocks"

# %% [markdown]
# (claim-pre-6)=

# %% tags=["evidence"]
right = means["1000 labels"]
claim(
    "pre-6",
    "No: one block for four costs {nats:.2f} nats. With 1,000 labels {one:.1%} are right, not {four:.1%}; four narrow blocks of its size get {narrow:.1%}.",
    nats=means["loss"][one] - means["loss"][four],
    one=right[one],
    four=right[four],
    narrow=right[narrow],
    holds=lambda nats, one, four, narrow: (
        0.2 < nats < 0.6 and one + 0.02 < four < 0.6 and abs(narrow - one) < 0.03
    ),
    scale="four passes, width 64, 3,070 words; 750 steps of 1,024 words; four rates, three seeds",
    experiment="shared_layers",
)

# %% tags=["evidence"]
few = means["100 labels"]
observe(
    "With 100 labels nothing is lost: {one:.0%} are right with a shared block, {four:.0%} with four. A table 16 wide costs {table:.2f} nats. A Universal Transformer's loss is {signals:.2f}, or {rotary:.2f} with rotary positions.",
    one=few[one],
    four=few[four],
    table=means["loss"]["factorised table"] - means["loss"][four],
    signals=means["loss"]["Universal Transformer"],
    rotary=means["loss"]["Universal Transformer, rotary"],
    holds=abs(few[one] - few[four]) < 0.02
    and means["loss"]["factorised table"] > means["loss"][one]
    and means["loss"]["Universal Transformer"] > means["loss"]["Universal Transformer, rotary"],
)

# %% [markdown]
# In ALBERT's paper, too, sharing all weights cost 1.5 to 2.5 points at equal width, and a larger width made up for it. Four narrow blocks do as well here as one that is shared, with fewer products. What sharing saves is memory, and at our size nobody is short of it.

# %% [markdown]
# ```{exercise} The gradient of a shared layer
# :label: exercise-shared-gradient
#
# *Stretch, 12 minutes.* Each of $n$ layers returns $h + \tanh(h W^\top)$, and all share $W$. Return the gradient with respect to $W$ of the sum of $y \odot g$, where $y$ is the output of the last layer and $g$ the gradient that arrives there. Use autograd, or do it by hand.
# ([Solution](../solutions/10_pretraining.ipynb#solution-shared-gradient))
# ```


# %%
def shared_gradient(
    x: torch.Tensor, W: torch.Tensor, n: int, arriving: torch.Tensor
) -> torch.Tensor:
    """Shapes: x and arriving (T, D), W (D, D), to (D, D)."""
    raise NotImplementedError


check("shared_gradient", shared_gradient)

# %% [markdown]
# (deeper-int8)=
# ## Quantisation: what do weights of 8 bits cost?
#
# *6 minutes.* A weight in float32 takes 4 bytes. **Would one do?** In **int8**, a number is a whole number $q$ from $-127$ to $127$ times a scale: $w \approx s\,q$. The scale is the largest magnitude divided by 127, and 0 stays 0.

# %% tags=["mechanism"] mystnb={"figure": {"caption": "Two rows of weights in int8. With a scale for each row (middle) both keep their digits; with one for all (right) the small row becomes coarse.", "name": "fig-pre-int8"}, "image": {"alt": "Left two rows of four weights: small ones up to 1.27 and large ones up to 12.7. In the middle whole numbers up to 127 in both rows, beside them the scales 0.01 and 0.1. Right, with a single scale of 0.1, the small row has only 3, minus 13, 0 and 6."}}
ax = sheet(4.6)
weights = torch.tensor([[0.31, -1.27, 0.02, 0.64], [12.7, 5.0, -0.4, 8.1]])
by_row, at_once = round_weight(weights), round_weight(weights, by_row=False)
left = cells(ax, (0.3, 1.5), weights, role="value", weights=0.1, size=(1.25, 0.9))
for x, rounded, name in ((6.2, by_row, "a scale for each row"), (11.5, at_once, "one for all")):
    whole = rounded.whole.tolist()
    middle = cells(ax, (x, 1.5), whole, role="query", weights=0.1, size=(1.05, 0.9))
    note(ax, (middle.middle[0], 0.9), name, weight="bold")
    scales = "   ".join(f"{scale:.2f}" for scale in rounded.scale.flatten().tolist())
    note(ax, (middle.middle[0], 3.8), f"scale: {scales}")
note(ax, (left.middle[0], 0.9), "weights", weight="bold")
arrow(ax, left.at("right"), (6.2, 2.4))
plt.show()

# %% [markdown]
# Each row makes one output of a layer, so the scale can be multiplied in after the sum. We round all matrices of the tuned classifier, the table of words included, and tune nothing afterwards. (In memory, our numbers of 4 bits take a byte each; in a file two share one.)

# %% tags=["evidence"]
small = experiments.load("int8")
FORMS = ["float32", "int8 by row", "int8, one scale", "4 bits by row"]
JUDGED = {"accuracy": ".1%", "loss": ".3f"}


# %% tags=["evidence"]
rows = []
for form in FORMS:
    sizes = (small.column(f"{form}, bytes {where}")[0] for where in ("in memory", "on disk"))
    judged = [told(small.column(f"{form}, {what}"), how) for what, how in JUDGED.items()]
    rows.append([form, *judged, *(f"{size:,}" for size in sizes)])
judged = [told(small.column(f"whole products, {what}"), how) for what, how in JUDGED.items()]
rows.append(["int8, the blocks' inputs too", *judged, "–", "–"])
headers = ["form", "right, 1,000 labels", "masked-word loss", "bytes in memory", "bytes on disk"]
table(rows, headers)

# %% tags=["evidence"]
right_of = {form: fmean(small.column(f"{form}, accuracy")) for form in FORMS}
disk = {form: small.column(f"{form}, bytes on disk")[0] for form in FORMS}

# %% [markdown]
# (claim-pre-8)=

# %% tags=["evidence"]
claim(
    "pre-8",
    "Yes: in {share:.0%} of the bytes, {small:.1%} are right, and {full:.1%} in float32. Even 4 bits keep {four:.1%}.",
    share=disk["int8 by row"] / disk["float32"],
    small=right_of["int8 by row"],
    full=right_of["float32"],
    four=right_of["4 bits by row"],
    holds=lambda share, small, full, four: (
        0.25 < share < 0.35 and abs(small - full) < 0.005 and full - 0.02 < four < full + 0.01
    ),
    scale="five libraries' sentences, 1,000 labels; 2 blocks of width 64; three seeds; weights rounded after tuning",
    experiment="int8",
)

# %% [markdown]
# **Is it faster?** A weight that is *widened* to float32 before each product saves memory, but no time. Time is saved only where whole numbers are multiplied, and for that the inputs have to be rounded as well.

# %% tags=["evidence"] mystnb={"figure": {"caption": "Milliseconds for 8 passages of 128 words, one thread: our encoder of two blocks, and one block of BERT-base's width. Three runs (stored experiment `int8`).", "name": "fig-pre-int8-ms"}, "image": {"alt": "Two groups of three lying bars. At width 64, float32, int8 widened and int8 with whole products take about equally long. At width 768, float32 and widened take equally long, whole products about a third of it."}}
BY_WAY = ["float32", "int8, widened", "int8, whole products"]
figure, axes = plt.subplots(2, 1, figsize=(6.4, 4.2))
for ax, width in zip(axes, (64, 768), strict=True):
    bars({way: small.column(f"ms {width}, {way}") for way in BY_WAY}, "milliseconds", ax=ax)
    ax.set_title(f"width {width}")
plt.show()

# %% tags=["evidence"]
ms = {(w, way): fmean(small.column(f"ms {w}, {way}")) for w in (64, 768) for way in BY_WAY}
times = {w: ms[w, BY_WAY[0]] / ms[w, BY_WAY[2]] for w in (64, 768)}
observe(
    "Whole products are {narrow:.1f} times as fast at width 64, and {wide:.1f} times at width 768.",
    narrow=times[64],
    wide=times[768],
    holds=0.8 < times[64] < 1.4 and times[768] > 2,
)

# %% [markdown]
# In models of some seven billion weights and more, a few columns of the inputs are so large that this fails; LLM.int8 keeps those in 16 bits {cite}`dettmers2022llm`.
#
# Everything around the products is as slow as before: scores, softmax, norms and the rounding itself stay in float32, and at width 64 that costs what the products save. The processor also needs instructions for whole numbers. Without them, the library's kernel adds two products in 16 bits, where the largest overflow, and returns wrong sums without a word. `whole_product` tries the largest sum first, and refuses.

# %% [markdown]
# ```{exercise} Quantisation: rows in int8
# :label: exercise-int8-rows
#
# *Core, 10 minutes.* Round a weight, row by row, with `torch.round`. What is the scale of a row of zeros?
# ([Solution](../solutions/10_pretraining.ipynb#solution-int8-rows))
# ```


# %%
def int8_rows(W):
    """Return whole numbers from -127 to 127, as int8, and the scales: W ≈ scale · whole.

    A row of zeros has a scale of 1. Shapes: W (n, d) to (n, d) and (n, 1).
    """
    raise NotImplementedError


check("int8_rows", int8_rows)

# %% [markdown]
# (deeper-pruned)=
# ## Pruning: how many attention heads are needed?
#
# *6 minutes.* *Are sixteen heads really better than one?* ask Michel et al. {cite}`michel2019sixteen`. **How many can go, and which?** Give each head a gate $\xi$ that multiplies what it says. At $\xi = 1$ nothing has changed, at $\xi = 0$ the head is silent. How strongly the loss depends on the gate is the head's importance, a mean over texts $x$ (those of a block divided by the length of their vector, so that blocks can be compared):
#
# $$
# I_h = \mathbb{E}_x \left| \frac{\partial \mathcal{L}(x)}{\partial \xi_h} \right|
# $$ (eq-importance)
#
# One backward pass gives all of them.

# %% tags=["mechanism"] mystnb={"figure": {"caption": "A gate for each head, before the heads are mixed. The gate of head 2 is 0: its rows of the queries', keys' and values' weights and its columns of W_o can be cut out.", "name": "fig-pre-gates"}, "image": {"alt": "Four boxes, head 0 to head 3, each with an arrow to a gate; the gates of heads 0, 1 and 3 are 1, that of head 2 is 0. Arrows lead from the gates to a box W_o; the one from head 2 is dashed."}}
ax = sheet(5.4)
mix = box(ax, (11.2, 2.2), "W_o", (1.8, 0.9), role="value")
for i in range(4):
    y, gate = 0.3 + 1.25 * i, float(i != 2)
    head = box(ax, (1.2, y), f"head {i}", (2.6, 0.9), role="query" if gate else None)
    open_ = box(ax, (6.0, y), f"ξ = {gate:.0f}", (2.2, 0.9), role="key" if gate else None)
    arrow(ax, head.at("right"), open_.at("left"))
    arrow(ax, open_.at("right"), mix.at("left"), dashed=not gate)
arrow(ax, mix.at("right"), (14.6, 2.65))
plt.show()

# %% [markdown]
# A silent head still computes. `FewerHeads` cuts it out, and says the same:

# %%
model = new_model(0).double()
layer, x = model.encoder.blocks[0].self_attention, torch.randn(2, 9, 64).double()
fewer = FewerHeads(layer, kept=[0, 1, 3])
kept = torch.tensor([1.0, 1.0, 0.0, 1.0]).repeat_interleave(16)  # 64 columns of W_o, by head
layer.W_o.weight.data *= kept
torch.testing.assert_close(fewer(x)[0], layer(x)[0])

# %% tags=["evidence"]
n_whole, n_fewer = (sum(weight.numel() for weight in of.parameters()) for of in (layer, fewer))
observe(
    "The layer has {whole:,} parameters, and without a head {fewer:,}.",
    whole=n_whole,
    fewer=n_fewer,
    holds=n_whole - n_fewer == 4 * 64 * 16 + 3 * 16,
)

# %% [markdown]
# A model of four blocks, tuned with 1,000 labels, has sixteen heads. We silence them one by one: the least important first, at random, or the most important first. Importance is measured on the training sentences, and nothing is tuned afterwards.

# %% tags=["evidence"]
heads = experiments.load("pruned_heads")
N_HEADS = len(heads.column("importance")[0])
draws = [f"at random, {i}" for i in range(heads.parameters["draws"])]
ORDERS = {
    "least important first": heads.column("least first"),
    "at random": [curve for draw in draws for curve in heads.column(draw)],
    "most important first": heads.column("most first"),
}

# %% tags=["evidence"] mystnb={"figure": {"caption": "Accuracy on the test sentences by how many of sixteen heads are silent, in three orders. Means and ranges of three seeds, of random orders four draws each (stored experiment `pruned_heads`).", "name": "fig-pre-heads"}, "image": {"alt": "Three falling curves over 0 to 16 silent heads, each with a band, from about 50 per cent to about 35 per cent. With the least important first, and nearly so at random, the curve sinks little until twelve are silent, and then steeply. With the most important first it falls from the fifth head on."}}
lines = {name: (range(N_HEADS + 1), curves_of) for name, curves_of in ORDERS.items()}
ax = curves(lines, "silent heads", "share right")
ax.axhline(1 / 5, color="gray", linewidth=0.8)
plt.show()

# %% tags=["evidence"]
most = N_HEADS // 2 + 1
at = {
    name: [fmean(silent) for silent in zip(*curves_of, strict=True)]
    for name, curves_of in ORDERS.items()
}
whole, silent = at["at random"][0], at["at random"][-1]
cost = {name: whole - of[most] for name, of in at.items()}

# %% [markdown]
# (claim-pre-9)=

# %% tags=["evidence"]
claim(
    "pre-9",
    "Yes, unless they are the most important: {most} of 16 cost {first:.1f} points then, {random:.1f} at random, {least:.1f} if the least important; all cost {all:.0f}.",
    most=most,
    least=100 * cost["least important first"],
    random=100 * cost["at random"],
    first=100 * cost["most important first"],
    all=100 * (whole - silent),
    holds=lambda most, least, random, first, all: (
        most == 9 and max(least, random) < 3 < 5 < first < all < 30
    ),
    scale="five libraries' sentences, 1,000 labels; 4 blocks of 4 heads, width 64; three seeds; nothing tuned afterwards",
    experiment="pruned_heads",
)

# %% tags=["evidence"]
of_block = {
    name: [fmean(column) for column in zip(*heads.column(name), strict=True)]
    for name in ("without a block's", "but the most important")
}
rows = [
    [block + 1, *(f"{100 * (whole - of_block[name][block]):+.1f}" for name in of_block)]
    for block in range(heads.parameters["n_layers"])
]
table(rows, ["block", "cost of all its heads (points)", "of all but the most important"])

# %% tags=["evidence"]
worst = max(whole - right for right in of_block["without a block's"])
observe(
    "A whole block's heads cost at most {worst:.1f} points. Without any head {silent:.0%} are right; chance is 20 %.",
    worst=100 * worst,
    silent=silent,
    holds=worst < 0.04
    and 0.28 < silent < whole - 0.08
    and at["at random"][13] > at["least important first"][13],
)

# %% [markdown]
# So the heads can stand in for one another. Only the first block's are missed. The importances tell which heads to keep at all, but among the others chance chooses as well, and better when few are left. But much of what is right here can be told from the words alone, without a look at their neighbours. A task that depends on what stands where would miss its heads sooner, as Day 9's copying did.

# %% [markdown]
# ```{exercise} Pruning: the importance of heads
# :label: exercise-importance
#
# *Stretch, 10 minutes.* You have what each head says, and the gradient of each text's loss by it. What is the slope of a gate, and what the importance of a head?
# ([Solution](../solutions/10_pretraining.ipynb#solution-importance))
# ```


# %%
def importance(contexts, gradients):
    """Return the mean over texts of |∂loss / ∂ξ|, for a gate ξ = 1 of each head.

    Shapes: contexts and gradients (B, h, T, d_v), to (h,).
    """
    raise NotImplementedError


check("importance", importance)

# %% [markdown]
# (deeper-published)=
# ## Can your encoder load BERT's weights?
#
# *8 minutes.* **Do the weights of BERT, DistilBERT, ALBERT and T5 fit into the blocks that you know?** They are published as GPT-2 is: a config, the weights as *safetensors*, and the pieces into which words are cut. Their layers are Day 6's, but for a few choices {cite}`devlin2019bert,sanh2019distilbert,lan2020albert,raffel2020exploring`:
#
# | part | BERT | DistilBERT | ALBERT | T5 |
# | --- | --- | --- | --- | --- |
# | positions | learned | learned | learned | a bias for each distance |
# | types of sentences | two | none | two | none |
# | embedding | as wide as the blocks | as wide | narrow, then widened | as wide |
# | blocks | 12 | 6 | one, passed 12 times | an encoder's and a decoder's |
# | norm | behind each part, and behind the embedding | the same | the same | RMS norm, before each part |
# | scores | divided by $\sqrt{d_k}$ | the same | the same | not divided |
# | pooler | yes | no | yes | no |
#
# A wrong choice raises no error. Even a wrong $\varepsilon$ goes unnoticed: BERT's is $10^{-12}$, the library's layer norm begins with $10^{-5}$. So `transformers` {cite}`wolf2020transformers` makes a small random model of each kind and saves it as the large ones are saved; the book reads that folder.

# %% tags=["evidence"]
HEADS = {"num_attention_heads": 4, "intermediate_size": 64, "num_hidden_layers": 3}
BERT = HEADS | {"hidden_size": 32, "vocab_size": 64}
DISTILBERT = {"dim": 32, "hidden_dim": 64, "n_heads": 4, "n_layers": 3, "vocab_size": 64}
T5 = {"d_model": 32, "d_ff": 64, "num_layers": 3, "vocab_size": 64, "decoder_start_token_id": 0}
KINDS = {  # the reference's model, its sizes, and what reads it here
    "bert": ("BertForPreTraining", BERT, load_bert),
    "distilbert": ("DistilBertForMaskedLM", DISTILBERT, load_distilbert),
    "albert": ("AlbertForPreTraining", BERT | {"embedding_size": 12}, load_albert),
    "t5": ("T5ForConditionalGeneration", T5, load_t5),
}


# %% tags=["evidence"]
@torch.no_grad()
def published(kind: str, folder: Path) -> nn.Module:
    """Let the reference save a random model in which every part counts; return it."""
    import transformers

    name, sizes, _ = KINDS[kind]
    make = getattr(transformers, name)
    model = make(make.config_class(**sizes)).double().eval()
    torch.manual_seed(0)
    for weight in model.parameters():
        nn.init.normal_(weight, float(weight.dim() == 1), 0.2)
    with contextlib.redirect_stderr(io.StringIO()):  # it reports its progress
        model.save_pretrained(folder)
    for module in list(model.modules()):  # T5's norms compute in float32: PyTorch's in their place
        for name, norm in module.named_children():
            if hasattr(norm, "variance_epsilon"):
                exact = nn.RMSNorm(32, eps=norm.variance_epsilon)
                exact.weight = norm.weight
                setattr(module, name, exact)
    return model


# %% tags=["evidence"]
ids = torch.randint(64, (3, 20), generator=torch.Generator().manual_seed(0))
lengths = torch.tensor([20, 13, 5])
real = torch.arange(20) < lengths[:, None]
found, models = {}, {}
for kind, (_, _, load) in KINDS.items():
    with tempfile.TemporaryDirectory() as folder, torch.no_grad():
        theirs, ours = published(kind, Path(folder)), load(folder, torch.float64)
        more = {"labels": ids} if kind == "t5" else {}
        answer = theirs(ids, attention_mask=real.long(), **more)
        expected = answer["prediction_logits" if "prediction_logits" in answer else "logits"]
        logits = ours(ids, lengths, *([ours.shift(ids)] if kind == "t5" else []))
        apart = (logits - expected)[real].abs().max() / expected[real].abs().max()
    found[kind], models[kind] = apart.item(), ours

# %% tags=["evidence"]
observe(
    "With texts of three lengths, BERT's logits agree to {bert:.0e} of the largest, DistilBERT's to {distilbert:.0e} and ALBERT's to {albert:.0e}. T5's agree to {t5:.0e}, once PyTorch's norms have replaced the reference's own, which compute in single precision.",
    **found,
    holds=max(found.values()) < 1e-10,
)

# %% [markdown]
# One sometimes reads that BERT is a bidirectional *recurrent* network. A network that passes a state from word to word depends on their order, even without positions. So set the position vectors to 0, shuffle the words, and see whether each keeps its vector. And look through the published weights of BERT-base: is there one that belongs to no embedding, attention, feed-forward layer, norm or head?


# %% tags=["evidence"]
def names_of_bert_base() -> list[str]:
    """Return what the reference calls the weights of BERT-base."""
    import transformers

    with torch.device("meta"):
        return [*transformers.BertForPreTraining(transformers.BertConfig()).state_dict()]


KNOWN = "embeddings", "attention", "intermediate.dense", "output", "pooler", "cls"
names = names_of_bert_base()
left = [name for name in names if not any(part in name for part in KNOWN)]

# %% tags=["evidence"]
torch.manual_seed(0)
bert, order = models["bert"], torch.randperm(20)
bert.encoder.embedding.symbols.positions.table.data.zero_()
lstm = nn.LSTM(32, 16, batch_first=True, bidirectional=True).double()
vectors = bert.encoder.embedding.symbols.words(ids)
changed = {}
with torch.no_grad():
    runs = {"bert": (bert.read, ids), "lstm": (lambda x: lstm(x)[0], vectors)}
    for name, (read, given) in runs.items():
        whole, shuffled = read(given)[:, order], read(given[:, order])
        changed[name] = ((shuffled - whole).norm() / whole.norm()).item()

# %% [markdown]
# (claim-pre-1)=

# %% tags=["evidence"]
claim(
    "pre-1",
    "No: of its {n} published weights {left} are recurrent. Shuffled words without positions keep their vectors, to {bert:.0e}; in an LSTM those change by {lstm:.0%}.",
    n=len(names),
    left=len(left),
    **changed,
    holds=lambda n, left, bert, lstm: left == 0 < n and bert < 1e-10 and lstm > 0.1,
    scale="BERT-base's names; a random BERT of 3 blocks of width 32, 3 texts of 20 words, float64",
    counted=True,
)

# %% [markdown]
# **What was promised.** DistilBERT was to be 40 % smaller than BERT, and ALBERT-large to have 18 times fewer parameters than BERT-large. On PyTorch's `meta` device, which holds shapes and no numbers, such models can be counted without any memory. The last column has the papers' own figures.

# %% tags=["evidence"]
PAPERS = {"BERT-base": 110, "BERT-large": 340, "DistilBERT": 66} | {
    "ALBERT-base": 12,
    "ALBERT-large": 18,
    "ALBERT-xlarge": 60,
    "ALBERT-xxlarge": 235,
}
sizes = {name: published_sizes(name) for name in PUBLISHED}
rows = []
for name, counted in sizes.items():
    millions = [f"{n / 1e6:.1f}" for n in (*counted, counted.total)]
    rows.append([name, *millions, PAPERS[name]])
table(rows, ["millions of parameters", "embedding", "blocks", "pooler", "all", "the paper says"])

# %% tags=["evidence"]
fewer = 1 - sizes["DistilBERT"].total / sizes["BERT-base"].total
times = sizes["BERT-large"].total / sizes["ALBERT-large"].total
missing = 1 - sizes["ALBERT-xxlarge"].total / (1e6 * PAPERS["ALBERT-xxlarge"])
observe(
    "Counted, DistilBERT has {fewer:.0%} fewer parameters than BERT, and ALBERT-large {times:.0f} times fewer than BERT-large: both promises are kept, but for a rounding. ALBERT-xxlarge has {missing:.0%} fewer than its paper says.",
    fewer=fewer,
    times=times,
    missing=missing,
    holds=0.38 < fewer < 0.42 and 18 <= times < 20 and 0.03 < missing < 0.08,
)

# %% [markdown]
# Parameters are not time: ALBERT's text passes one block twelve times, BERT's twelve blocks once.
#
# **T5's positions.** To the score of query $t$ and key $s$ it adds a number from a table with a row for each *bucket* of distances $t - s$ and a column for each head. All layers of the encoder share one table. Near distances have buckets of their own. Farther ones share theirs with more and more others.

# %% tags=["mechanism"] mystnb={"figure": {"caption": "Eight buckets for distances up to 9: the row is the query, the column the key. What lies behind has buckets 0 to 3, what lies ahead 5 to 7; 4 would be a distance of 0 ahead.", "name": "fig-pre-buckets"}, "image": {"alt": "A square of ten rows and ten columns of numbers. On the diagonal 0; below it, going left, 1, then 2 for distances 2 to 4, then 3. Right of the diagonal 5, going right, then 6 for distances 2 to 4, then 7. Lower left and upper right have two colours, the lighter the farther."}}
ax = sheet(6.6)
shades = [1, 0.75, 0.45, 0.15]
for t, row in enumerate(relative_buckets(10, 10, 8, 9).tolist()):
    weights = [[shades[b % 4] for b in row]]
    place, size = (4.4, 0.5 + 0.56 * t), (0.86, 0.56)
    behind = cells(ax, place, [row[: t + 1]], role="key", weights=[weights[0][: t + 1]], size=size)
    label(ax, behind, "left", f"query {t + 1}")
    if row[t + 1 :]:
        place = (place[0] + size[0] * (t + 1), place[1])
        cells(ax, place, [row[t + 1 :]], role="value", weights=[weights[0][t + 1 :]], size=size)
note(ax, (8.7, 6.35), "keys 1 to 10")
plt.show()

# %% [markdown]
# ```{exercise} T5's relative positions: a bucket for each distance
# :label: exercise-relative-buckets
#
# *Stretch, 12 minutes.* Write the function that gives the buckets of T5's encoder. Half of the `n_buckets`, $n$, are for what is behind or at the query, the other $n$ for what is ahead. Of each side, the first $n / 2$ (rounded down) hold one distance each: 0, 1, 2 … From $i = n/2$ on, bucket $i$ begins at
#
# $$
# \frac{n}{2} \left(\frac{2 \, d_\text{max}}{n}\right)^{(i - n/2)\,/\,(n - n/2)},
# $$
#
# where $d_\text{max}$ is `max_distance`, and the last one has no end. ([Solution](../solutions/10_pretraining.ipynb#solution-relative-buckets))
# ```


# %%
def buckets(behind: torch.Tensor, n_buckets: int, max_distance: int) -> torch.Tensor:
    """behind: whole numbers t - s, of any shape; below 0 the key is ahead. Returns as many."""
    raise NotImplementedError


check("relative_buckets", buckets)

# %% [markdown]
# **The real ones.** Put folders `bert`, `distilbert`, `albert` or `t5`, with the files as they are published, into a folder that `BOOK_DATA` names. `read_pieces` reads the tokenizer, too.


# %%
@torch.no_grad()
def filled(folder: Path, load, text: str) -> str:
    """Let a published model fill a gap: five guesses of an encoder, or what T5 writes."""
    model, pieces = load(folder), read_pieces(folder)
    read = pieces.encode(text)
    ids = torch.tensor([read.ids])
    if load is not load_t5:
        logits = model(ids)[0, read.tokens.index("[MASK]")]
        return " · ".join(pieces.id_to_token(i) for i in logits.topk(5).indices.tolist())
    written = [model.config.start]
    for _ in range(8):
        logits = model(ids, torch.tensor([len(read.ids)]), torch.tensor([written]))
        written.append(logits[0, -1].argmax().item())
    return pieces.decode(written, skip_special_tokens=False)


# %% tags=["nbval-ignore-output"]
for kind, (_, _, load) in KINDS.items():
    gap = "<extra_id_0>" if kind == "t5" else "[MASK]"
    own = own_folder()
    if own and (own / kind).is_dir():
        print(f"{kind}:", filled(own / kind, load, f"The capital of France is {gap}."))
    else:
        print(f"{kind}: not tried here")
