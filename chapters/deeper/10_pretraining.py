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
# This page goes beyond the evening of [Day 10](../10_pretraining.ipynb). The sections are independent: take those that you are curious about.

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
from utils.pretraining import MASK, PUBLISHED, cast_dice, make_pair, mask_words
from utils.pretraining import draw_infilling, draw_spans, hide_spans, infill
from utils.pretraining import load_albert, load_bert, load_distilbert, load_t5
from utils.pretraining import published_sizes, read_pieces, relative_buckets

# %% tags=["setup"]
from utils.show.diagrams import arrow, box, cells, label, note, sheet
from utils.show.display import observe, show_source, table
from utils.show.plotting import bars, curves, in_chinese, use_book_style
from utils.tasks.held_out import held_out
from utils.tasks.pretraining import documents, hide, vocabulary
from utils.tasks.sentence_pairs import Pairs
from utils.training.loop import seeded

use_book_style()


def told(values: list[float], form: str = ".1%") -> str:
    """The mean over the seeds, the lowest and the highest."""
    return f"{fmean(values):{form}} ({min(values):{form}} to {max(values):{form}})"


# %% [markdown]
# (deeper-masking)=
# ## Masking: how many words should be hidden, and should the masks change?
#
# *5 minutes.* BERT's masks were drawn before training. Each text came in ten copies, masked in ten ways, and each copy was read four times. RoBERTa {cite}`liu2019roberta` draws new masks whenever it reads a text. **Do new masks teach more, and is 15% a good share?**

# %% tags=["mechanism"] mystnb={"figure": {"caption": "New masks ask for nearly every word in the end; fixed masks ask for the same words again and again. Three passes over one sentence, with masks drawn once (top) and anew (bottom).", "name": "fig-pre-drawn"}, "image": {"alt": "Two groups of three rows, each with the sentence it fits the model to the data. In the upper group, once, the same words are masked in all three rows. In the lower group, anew, different words are masked in each row."}}
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
# Two encoders of the lesson's size read the same passages sixteen times. Half of the words are hidden: always the same ones for the first encoder, new ones in each pass for the second.

# %% tags=["evidence"] mystnb={"figure": {"caption": "With fixed masks the loss on new text rises after a few passes; with new masks it keeps falling. Loss on hidden words in held-out text; means and ranges of three seeds (stored experiment).", "name": "fig-pre-passes"}, "image": {"alt": "Two curves over 16 passes, which begin together at 5.9 nats. Drawn anew, it falls to 4.75. Drawn once, it stays until the fifth pass, rises from the eighth on, and ends at 8.4."}}
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
# A model that always meets the same gaps can memorise the answers. That is overfitting: on new text, this model is worse at the end than after its first pass.
#
# (claim-pre-10)=

# %% tags=["evidence"]
claim(
    "pre-10",
    "Yes: after 16 passes the loss on new text is {of_anew:.2f} nats, or {of_once:.2f} with fixed masks; with 100 labels {anew:.0%} and {once:.0%} are correct.",
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
# BERT itself was better off: it had ten masks for each text, and met each of them four times. In that setting, RoBERTa's authors found new masks *comparable or slightly better*.
#
# How many words should be hidden? Four more encoders, each with a share or a rule of its own, read new passages at every step.

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
    "With 100 labels, hiding half beats hiding 15% for every seed, by {least:.0f} to {most:.0f} points. Whether the 15% follow the rule or all become [MASK] changes the result by {rule:.1f} points, the choice of seed by {seeds:.1f}.",
    least=100 * min(more - less for more, less in zip(half, few, strict=True)),
    most=100 * max(more - less for more, less in zip(half, few, strict=True)),
    rule=100 * abs(fmean(few) - fmean(all_masks)),
    seeds=100 * (max(few) - min(few)),
    holds=min(half) > max(few) and abs(fmean(few) - fmean(all_masks)) < max(few) - min(few),
)

# %% [markdown]
# A step that hides half of the words asks for over three times as many as one that hides 15%. These encoders made only 1,000 steps, at learning rates that were chosen for hiding half. But large models also do best above 15%, near 40% {cite}`wettig2023mask`. We can't decide here whether the 80/10/10 rule is worth the trouble: loss and *found* are measured on words hidden by `[MASK]`, which favours the last row, and the accuracy with labels doesn't separate the two. BERT's authors varied the rule as well, and found little difference after fine-tuning {cite}`devlin2019bert`.

# %% [markdown]
# (deeper-next)=
# ## Next-sentence prediction: does it help?
#
# *6 minutes.* BERT had two tasks at once: predict the hidden words, and decide whether the second of two parts follows the first {cite}`devlin2019bert`. In half of all pairs it does; in the others, the second part comes from another document. ALBERT {cite}`lan2020albert` asks something harder: both parts are neighbours, but in half of the pairs they are swapped. **Does either question teach something that hidden words don't?**

# %% tags=["mechanism"] mystnb={"figure": {"caption": "Next sentence asks whether two parts belong together, sentence order asks which comes first. An encoder reads a pair in one row; BOS is BERT's [CLS], EOS its [SEP], and the types say which part a word belongs to.", "name": "fig-pre-pairs"}, "image": {"alt": "Three rows of boxes: BOS, a part, EOS, another part, EOS. In the first row the parts are A and B, the next of the same text: label 0. In the second they are A and a part X of another text: label 1, next sentence. In the third they are B and A: label 1, sentence order. Below, the types: 0 from BOS to the first EOS, 1 after it."}}
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
# The vector at BOS answers the question about the pair, the other vectors predict the hidden words, and the two losses are added. Three encoders of the lesson's size read pairs from the libraries' text. The first only predicts hidden words; each of the other two also answers one of the questions. Layers, text, steps and words per step are the same for all, but the first encoder's parts always follow each other. Loss and accuracy are measured on held-out text, and each encoder is also tried on the question that it wasn't trained for.

# %% tags=["evidence"]
pairs = experiments.load("sentence_pairs")
COLUMNS = {"loss": ".2f", "next": ".0%", "order": ".0%", "100 labels": ".0%", "1000 labels": ".0%"}
rows = [
    [row["asked"], *(told(row[name], form) if row[name] else "–" for name, form in COLUMNS.items())]
    for row in pairs.rows
]
headers = ["asked for", "loss of hidden words", "next: correct", "order: correct"]
table(rows, [*headers, "libraries, 100 labels", "1,000 labels"])

# %% [markdown]
# A coin would be correct half of the time. Only one seed of three has begun to answer the first question, and none the second; and both questions get in the way of predicting the hidden words. Can they be answered at all? If a part comes from another document, its words should show it. So let us count: two parts belong together if they share enough of the words that few documents contain.

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
    """How much the parts of 800 pairs have in common, and which don't follow each other."""
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
    "Can't tell here: neither question was learned (next part {next:.0%}, order {order:.0%}), though counting answers {count:.0%} of the first; hidden words cost {gap:.2f} nats more.",
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
# So the text does answer the first question. Our encoder probably had too little time to learn to compare two parts: each step asks about some five hundred words, but about only eight pairs. A question that a model can't answer teaches it nothing, so this says nothing about larger models. BERT's authors found that the question helps; RoBERTa's left it out and lost nothing {cite}`liu2019roberta`. ALBERT swaps the parts because counting words can answer BERT's question, whereas two parts contain the same words in either order.

# %% [markdown]
# ```{exercise} Next sentence, or sentence order: two questions about a pair
# :label: exercise-ordered-pair
#
# *Core, 10 minutes.* Build a pair as an encoder reads it: `BOS`, a part, `EOS`, a part, `EOS` (import both from `utils.data.text`); a type for each symbol; and the label. If `die` is below 0.5, the second part follows the first. Otherwise `other` replaces it ("next"), or the two parts are swapped ("order").
# ([Solution](../solutions/10_pretraining.ipynb#solution-ordered-pair))
# ```


# %%
def ordered_pair(
    first: list[int], second: list[int], other: list[int], question: str, die: float
) -> tuple[list[int], list[int], int]:
    """Return ids, types (0 up to the first part's EOS, 1 after it) and label (0: it follows)."""
    raise NotImplementedError


check("ordered_pair", ordered_pair)

# %% [markdown]
# (deeper-spans)=
# ## Hidden spans: what if the answer is text, too?
#
# *7 minutes.* Today's encoder has a position for each hidden word, so it knows how many are missing. **Can a model be asked for text of any length?** Yes: let an encoder read and a decoder write, as on Day 6. All it takes is a way to turn plain text into questions and answers. Here are two.
#
# **T5** {cite}`raffel2020exploring` hides *spans*: 15% of the words, three in a row on average. Each span is replaced by a marker of its own, a *sentinel* ⟨0⟩, ⟨1⟩, … The decoder writes the hidden words, each span after its sentinel, and one more sentinel to mark the end.

# %% tags=["mechanism"] mystnb={"figure": {"caption": "T5's decoder writes only the hidden words: a text with two hidden spans, the encoder's input, and the decoder's target.", "name": "fig-pre-spans"}, "image": {"alt": "Three rows of cells. The text: it fits the line to the data you give; fits the and data are coloured. The encoder reads: it, sentinel 0, line to the, sentinel 1, you give. The decoder writes: sentinel 0, fits the, sentinel 1, data, sentinel 2."}}
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
# **BART** {cite}`lewis2020bart` *infills*. It hides 30% of the words, in spans whose lengths are drawn from a Poisson distribution with a mean of 3. Each span becomes a single `[MASK]`; a span of length 0 becomes a `[MASK]` that hides nothing. The decoder writes the *whole* text, so it has to find out how many words were missing, and where none were. BART also shuffles the sentences, as `permute_sentences` does.

# %% tags=["mechanism"] mystnb={"figure": {"caption": "BART's decoder writes the whole text; here the second of three masks hides nothing.", "name": "fig-pre-infilling"}, "image": {"alt": "Two rows of cells. The encoder reads: it, mask, line, mask, to the, mask, you give. The decoder writes the whole text: it fits the line to the data you give, in which fits the and data are coloured."}}
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
    "T5 hides {words} of {N} words in {spans} spans, and its decoder writes {written} symbols. BART's decoder writes all {N}; {empty:.0%} of its masks hide nothing.",
    N=N,
    words=sum(end - start for start, end in drawn[0]),
    spans=len(drawn[0]),
    written=max(written),
    empty=empty,
    holds=len(written) == 1 and max(written) < N / 4 and 0.02 < empty < 0.1,
)

# %% [markdown]
# So a step of T5 is cheap, and its decoder writes nothing that the source already shows. BART's decoder copies most of its words, but it practises writing whole sentences.

# %% [markdown]
# ```{exercise} T5: spans with sentinels
# :label: exercise-hide-spans
#
# *Core, 10 minutes.* Turn a text and its spans into source and target. The sentinels are a list of ids, in order, at least one more than there are spans (T5's own count down from 32,099). Words are ids as well, and may occur twice. There may be no span at all.
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
# *Core, 8 minutes.* In training, a decoder reads the answer while it predicts it. What is its input, and what should it predict at each position? Build both from targets of different lengths, padded after their ends.
# ([Solution](../solutions/10_pretraining.ipynb#solution-decoder-reads))
# ```


# %%
def decoder_reads(
    targets: list[list[int]], start: int, end: int, pad: int
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the decoder's input and its target, (B, T) each.

    The input begins with `start`, and the target ends with `end`. After a shorter target, the input
    is padded with `pad`, and the target with -100, which no loss counts.
    """
    raise NotImplementedError


check("decoder_reads", decoder_reads)

# %% [markdown]
# (deeper-families)=
# ## Which is better: encoder, decoder, or both?
#
# *7 minutes.* It is often said that encoders understand and decoders write. **Is that still true if all of them read the same text for the same time?** The encoder predicts hidden words. The decoder predicts the next word, as on Day 9. Two models have both parts, with one block each: one writes T5's spans, the other BART's whole texts. All models are about the same size. Each was pre-trained in four ways: two shares of hidden words at two learning rates each, or four learning rates where nothing is hidden. Of these four, we judge the one that is best at the hidden words of the validation sentences.

# %% tags=["mechanism"] mystnb={"figure": {"caption": "An encoder's symbols attend to everything, a decoder's to themselves and everything before. With both parts, the decoder also attends to the whole source (cross-attention).", "name": "fig-pre-families"}, "image": {"alt": "Three grids. Encoder: all five by five cells are filled. Decoder: those on and below the diagonal. Both: five by five cells, all filled, for the source; beneath them three rows of five filled cells, in which the target attends to the source, and to their right a triangle of three by three, in which the target attends to itself."}}
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
# We judge them by three tasks, on the same sentences and with the same number of trials for each model.
#
# - **Fill** one gap in a sentence. An encoder has seen both sides before it answers. A model that writes has to choose its word before it writes the rest. So it gets a second try: among its twenty likeliest words, it takes the one that makes the whole sentence likeliest.
# - **Classify**, with 100 labels and with 1,000, as in the lesson: by the mean of all vectors, or, in the model that writes spans, by the decoder's first vector.
# - **Continue**: predict the next word, given all the words before it. The encoder reads a mask in its place.

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
encoder, decoder = of["encoder"], of["decoder"]

# %% [markdown]
# (claim-pre-2)=

# %% tags=["evidence"]
claim(
    "pre-2",
    "Can't tell here: after equal time the decoder classifies {writes:.0%} correctly, the encoder {reads:.0%}, later {longer:.0%}; they fill {decoder:.0%} and {encoder:.0%} of the gaps.",
    reads=fmean(encoder["1000 labels"]),
    writes=fmean(decoder["1000 labels"]),
    longer=fmean(experiments.load("few_labels").column("1000 labels", start="mixed")[0]),
    decoder=fmean(decoder["filled"]),
    encoder=fmean(encoder["filled"]),
    holds=lambda reads, writes, longer, decoder, encoder: (
        abs(writes - reads) < 0.06 and reads + 0.03 < longer and decoder > encoder + 0.05
    ),
    scale="two blocks each; the libraries' text for about equal time; four ways to read, four rates to tune; three seeds",
    experiment="families",
)

# %% [markdown]
# Half a minute is short. The two models that predict every word, the decoder and BART's, are ahead at filling gaps and continuing. But the lesson's encoder makes twice as many steps, and then classifies as well as any of these. So the table shows which model learns quickly, not which would know most in the end. It does show that a model that writes can also fill gaps and tell libraries apart.

# %% [markdown]
# (deeper-text-to-text)=
# ## T5: can every task be turned into text?
#
# *6 minutes.* So far each task has had an output layer of its own: five outputs for five libraries, a head for hidden words. T5 has none of these {cite}`raffel2020exploring`. Its input begins with the name of the task, and it writes the answer word by word, whether that is a translation, a library's name or the missing words. **Can one model do the work of three?**

# %% tags=["mechanism"] mystnb={"figure": {"caption": "One model, three tasks: the first word says what to do, and the same decoder writes every answer.", "name": "fig-pre-prefixes"}, "image": {"alt": "Three rows, each a box with the task, a box with the text, and an arrow to a box with the answer. Translate: I know your brother, to four Chinese words. Classify: select a scale for the range, to matplotlib. Fill: select a sentinel 0 for the range, to sentinel 0, scale, sentinel 1."}}
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
# The tasks are Day 4's translations from English into Chinese, the five libraries, and gaps of one word. Three models learn one task each, and a fourth only translates, for a third of the steps. Two models learn all three tasks in turn: one makes as many steps of each task as its specialist, the other a third of them. An answer counts if it is entirely correct.

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
    "Yes: with as many steps of each task it translates {together:.0%} correctly, a specialist {alone:.0%}; with a third of them {short:.0%} and {third:.0%}.",
    together=together["translate"],
    alone=alone["translate"],
    short=short,
    third=third,
    holds=lambda together, alone, short, third: (
        alone - 0.1 < together < alone + 0.1 and third - 0.04 < short < third + 0.04
    ),
    scale="filling gaps: none learned it; 2 and 2 blocks of width 64; 420 steps of 32 examples for each task; three rates each, three seeds",
    experiment="text_to_text",
)

# %% tags=["evidence"]
observe(
    "It names the library of {one:.0%} of the sentences, the specialist of {of_one:.0%}. It fills {gaps:.0%} of the gaps, the specialist {of_gaps:.0%}, where always answering *the* would fill {the:.0%}.",
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
# For translations and libraries, the seeds differ by at least that much. So here the tasks neither hurt nor help each other: what counts is the number of steps spent on each. Filling gaps was too hard for all of these models. T5's tasks share a language, and billions of words to learn it from.

# %% [markdown]
# (deeper-published)=
# ## Can your encoder load BERT's weights?
#
# *8 minutes.* **Do the weights of BERT, DistilBERT, ALBERT and T5 fit into the blocks that you know?** They are published as GPT-2's are: a configuration, the weights as *safetensors*, and the pieces into which words are split. Their layers are Day 6's, except for a few choices {cite}`devlin2019bert,sanh2019distilbert,lan2020albert,raffel2020exploring`:
#
# | part | BERT | DistilBERT | ALBERT | T5 |
# | --- | --- | --- | --- | --- |
# | positions | learned | learned | learned | a bias for each distance |
# | types of sentences | two | none | two | none |
# | embedding | as wide as the blocks | as wide | narrow, then widened | as wide |
# | blocks | 12 | 6 | one, passed 12 times | an encoder's and a decoder's |
# | norm | after each part, and after the embedding | the same | the same | RMS norm, before each part |
# | scores | divided by $\sqrt{d_k}$ | the same | the same | not divided |
# | pooler | yes | no | yes | no |
#
# A wrong choice raises no error. Even a wrong $\varepsilon$ goes unnoticed: BERT's is $10^{-12}$, and PyTorch's layer norm has $10^{-5}$ by default. So we let `transformers` {cite}`wolf2020transformers` build a small random model of each kind and save it in the published format; the book then loads that folder.

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
    "On texts of three lengths, BERT's logits agree to {bert:.0e} of the largest, DistilBERT's to {distilbert:.0e} and ALBERT's to {albert:.0e}. T5's agree to {t5:.0e}, once PyTorch's norms replace the reference's own, which compute in single precision.",
    **found,
    holds=max(found.values()) < 1e-10,
)

# %% [markdown]
# You may have read that BERT is a bidirectional *recurrent* network. A network that passes a state from word to word depends on the order of the words, even without position vectors. So we set the position vectors to 0, shuffle the words, and see whether each keeps its vector. And we look through the published weights of BERT-base: is there one that isn't part of an embedding, attention, a feed-forward layer, a norm or a head?


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
    "No: {left} of its {n} published weights are recurrent. Shuffled words without positions keep their vectors, to {bert:.0e}; an LSTM's change by {lstm:.0%}.",
    n=len(names),
    left=len(left),
    **changed,
    holds=lambda n, left, bert, lstm: left == 0 < n and bert < 1e-10 and lstm > 0.1,
    scale="BERT-base's names; a random BERT of 3 blocks of width 32, 3 texts of 20 words, float64",
    counted=True,
)

# %% [markdown]
# **Are they as small as promised?** DistilBERT's authors promise 40% fewer parameters than BERT has, and ALBERT's promise 18 times fewer, for the large models. On PyTorch's `meta` device, which stores shapes but no numbers, their parameters can be counted without any memory. The last column has the papers' own figures.

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
    "By our count, DistilBERT has {fewer:.0%} fewer parameters than BERT, and ALBERT-large {times:.0f} times fewer than BERT-large: both promises are kept, up to rounding. ALBERT-xxlarge has {missing:.0%} fewer than its paper says.",
    fewer=fewer,
    times=times,
    missing=missing,
    holds=0.38 < fewer < 0.42 and 18 <= times < 20 and 0.03 < missing < 0.08,
)

# %% [markdown]
# Fewer parameters don't mean less time: ALBERT's text passes through one block twelve times, BERT's through twelve blocks once.
#
# **T5's relative positions.** T5 adds a number to the score of query $t$ and key $s$. The number comes from a table with a row for each *bucket* of distances $t - s$ and a column for each head. All layers of the encoder share one table. Short distances have buckets of their own; the longer a distance, the more others share its bucket.

# %% tags=["mechanism"] mystnb={"figure": {"caption": "Short distances have buckets of their own, longer ones share them: eight buckets for distances up to 9, a row for each query, a column for each key. Keys up to the query have buckets 0 to 3, keys after it 5 to 7; bucket 4 would be for a key after the query at distance 0.", "name": "fig-pre-buckets"}, "image": {"alt": "A square of ten rows and ten columns of numbers. On the diagonal is 0; below it, going left, 1, then 2 for distances 2 to 4, then 3. To the right of the diagonal, going right, 5, then 6 for distances 2 to 4, then 7. The lower left and the upper right have two colours, lighter with distance."}}
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
# *Stretch, 12 minutes.* Write the function that returns the buckets of T5's encoder. Half of the `n_buckets`, $n$, are for keys before or at the query, the other $n$ for keys after it. On each side, the first $n / 2$ buckets (rounded down) hold one distance each: 0, 1, 2 … From $i = n/2$ on, bucket $i$ begins at
#
# $$
# \frac{n}{2} \left(\frac{2 \, d_\text{max}}{n}\right)^{(i - n/2)\,/\,(n - n/2)},
# $$
#
# where $d_\text{max}$ is `max_distance`, and the last bucket has no end. ([Solution](../solutions/10_pretraining.ipynb#solution-relative-buckets))
# ```


# %%
def buckets(behind: torch.Tensor, n_buckets: int, max_distance: int) -> torch.Tensor:
    """behind: whole numbers t - s, of any shape; below 0 the key is ahead. Returns as many."""
    raise NotImplementedError


check("relative_buckets", buckets)

# %% [markdown]
# **The published weights.** Put folders `bert`, `distilbert`, `albert` or `t5`, with the published files, into the folder that `BOOK_DATA` names. `read_pieces` reads the tokeniser as well.


# %%
@torch.no_grad()
def filled(folder: Path, load, text: str) -> str:
    """Let a published model fill a gap: five guesses of an encoder, or the text that T5 writes."""
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
