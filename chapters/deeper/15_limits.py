# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Day 15, deeper: Limits and growth: what a network can compute, and what size buys
#
# This page goes beyond the evening of [Day 15](../15_limits.ipynb). The sections are independent: take those that you are curious about.

# %% tags=["setup"]
import convolution_to_attention  # is `utils` this book's?

from statistics import fmean

import matplotlib.pyplot as plt
import numpy as np
import torch

from utils import computation, scaling
from utils.data.formal import LANGUAGES
from utils.exercises.limits import check
from utils.measure import experiments
from utils.measure.claims import claim
from utils.show.display import observe, table
from utils.show.plotting import bars, curves, heat_map, use_book_style
from utils.tasks import ladder
from utils.tasks.formal_languages import HELD_OUT, LONGEST, SPANS, TABLED

use_book_style()

# %% [markdown]
# (deeper-languages)=
# ## Which network learns which language?
#
# *9 minutes.* **Counting, nesting, following something that moves: which of these does a network learn?** A **formal language** is a set of words given by a rule. Here are ten, each with a question that a network answers after every symbol.
#
# | language | question | kind |
# | --- | --- | --- |
# | first | Which was the first symbol? | regular |
# | majority | Were there more ones than zeros? | context-free |
# | parity | Was the number of ones odd? | regular |
# | modulo 5 | What is the number of ones, modulo 5? | regular |
# | addition | Two binary numbers, lowest digits first: which digit comes next in their sum? | regular |
# | aⁿbⁿ | Which letter may follow? | context-free |
# | aⁿbⁿcⁿ | Which letter may follow? | context-sensitive |
# | Dyck-1, Dyck-2 | Which closing bracket may follow, of one kind or of two? | context-free |
# | swaps | Pairs of five cups are swapped: where is the ball? | regular |
#
# A *regular* language needs a fixed number of states, a *context-free* one a stack, and a *context-sensitive* one more than a stack. Nine networks read words of 1 to 20 symbols: an RNN and an LSTM with 32 units, and seven networks of two blocks of width 32, with a linear recurrence or with attention. The first seed chooses each learning rate: neither a quarter of it nor four times as much answers more of other such words correctly. Then five seeds train for 600 or 700 steps each.

# %%
stored = [
    experiments.load(f"{name}_languages") for name in "counter bracket running moving".split()
]
table_of = {(row["kind"], row["language"]): row for result in stored for row in result.rows}
found = {
    which: 100 * torch.tensor([row[f"words to {T}"] for _, T in SPANS]).T  # (seeds, spans)
    for which, row in table_of.items()
}

# %%
KINDS = ["RNN", "LSTM", "gates 0 to 1", "gates −1 to 1", "no positions", "sinusoidal"]
KINDS += ["learned", "rotary", "ALiBi"]  # TABLED, in short
NAMES = [{"anbn": "aⁿbⁿ", "anbncn": "aⁿbⁿcⁿ"}.get(name, name) for name in LANGUAGES]


def language_map(span):
    means = [
        [round(found[kind, name][:, span].mean().item()) for name in LANGUAGES] for kind in TABLED
    ]
    how = {"xlabel": "", "ylabel": "", "rows": KINDS, "columns": NAMES, "annotate": True}
    ax = heat_map(means, ax=plt.subplots(figsize=(6.4, 4.8))[1], **how)
    ax.tick_params(axis="x", labelrotation=60)


# %% tags=["evidence"] mystnb={"figure": {"caption": "Inside the lengths of training: words of 1 to 20 symbols with no wrong answer, in per cent; training showed many of these words. The last five rows are Transformers, by their positions. Mean of five seeds (stored experiments).", "name": "fig-lim-inside"}, "image": {"alt": "A heat map with a number in each of 90 cells: nine networks by ten languages."}}
language_map(0)
plt.show()

# %% tags=["evidence"] mystnb={"figure": {"caption": "Twice as long: the same networks on words of 21 to 40 symbols, none of which training showed.", "name": "fig-lim-beyond"}, "image": {"alt": "The same heat map. Most Transformers have lower numbers than in the figure before."}}
language_map(1)
plt.show()

# %% tags=["evidence"] mystnb={"figure": {"caption": "Four to eight times as long: on words of 81 to 160 symbols, Transformers have kept little but the first symbol. The same networks again.", "name": "fig-lim-far"}, "image": {"alt": "The same heat map once more. In the five rows of Transformers, most cells are 0, and only those of the first symbol are 50 or more. The RNN and the LSTM have 93 to 100 in six and five columns."}}
language_map(3)
plt.show()

# %%
transformers = [kind for kind in TABLED if kind.startswith("Transformer")]
far = {name: {kind: found[kind, name][:, 3].mean().item() for kind in TABLED} for name in LANGUAGES}
recurrent = sorted(max(of["RNN"], of["LSTM"]) for of in far.values())
attentive = [max(far[name][kind] for kind in transformers) for name in LANGUAGES if name != "first"]

# %% tags=["evidence"]
observe(
    "On 81 to 160 symbols, the better of RNN and LSTM still reads at least {kept:.0f}% of the words in {n} of ten languages. In the other {lost}, it reads at most {most:.0f}%. Beyond *first*, no Transformer reads more than {attentive:.0f}% of any language.",
    kept=min(x for x in recurrent if x > 80),
    n=sum(x > 80 for x in recurrent),
    lost=sum(x <= 80 for x in recurrent),
    most=max(x for x in recurrent if x <= 80),
    attentive=max(attentive),
    holds=recurrent[3] > 80 > 60 > max(recurrent[2], *attentive),
)

# %% tags=["evidence"]
ranges = torch.stack([of[:, 0].max() - of[:, 0].min() for of in found.values()])
observe(
    "Among five seeds, the numbers of a cell in the first map differ by {median:.0f} points in the median cell, and by up to {most:.0f}.",
    median=ranges.median(),
    most=ranges.max(),
    holds=ranges.median() < 20,
)

# %% tags=["evidence"]
moving = ("parity", "modulo 5", "swaps")
beyond = {(kind, name): found[kind, name][:, 1].mean() for kind in TABLED for name in moving}
observe(
    "Where a state moves (parity, modulo 5, swaps), the LSTM reads at least {lstm:.0f}% of the words at twice its lengths, and no Transformer more than {most:.0f}%.",
    lstm=min(beyond["LSTM", name] for name in moving),
    most=max(beyond[kind, name] for kind in transformers for name in moving),
    holds=min(beyond["LSTM", name] for name in moving) > 90
    and max(beyond[kind, name] for kind in transformers for name in moving) < 30,
)

# %% [markdown]
# The article's table has four lines: Transformers learn parity and counters such as aⁿbⁿ, brackets in part, and context-sensitive languages not at all {cite}`unsigned2025architectures`. Here are a counter and a context-sensitive language, by the length of the words. That an LSTM can count with its cells was shown by {cite:t}`weiss2018practical`, and the lesson's, set by hand, counts to a thousand. These are trained.

# %%
ends = [longest for _, longest in SPANS]
by_length = {
    f"{shown}, {of}": (ends, found[kind, name])
    for name, shown in (("anbn", "aⁿbⁿ"), ("anbncn", "aⁿbⁿcⁿ"))
    for of, kind in (("LSTM", "LSTM"), ("no positions", "Transformer, none"))
}

counted = {
    kind: [found[kind, name].mean(dim=0) for name in ("anbn", "anbncn")] for kind in transformers
}
bare, learned = (counted.pop(f"Transformer, {of}") for of in ("none", "learned"))
for k in range(2):  # aⁿbⁿ, aⁿbⁿcⁿ
    assert bare[k][1] > max(of[k][1] for of in (learned, *counted.values()))
    assert bare[k][3] == 0 < learned[k][3] < 20

# %% tags=["evidence"] mystnb={"figure": {"caption": "At twice the lengths of training, a Transformer without positions still counts, and an LSTM less so. Words read without a wrong answer, by the greatest length of their group. Mean and range of five seeds (stored experiment).", "name": "fig-lim-counters"}, "image": {"alt": "Four curves with bands over lengths of 20, 40, 80 and 160 symbols: aⁿbⁿ and aⁿbⁿcⁿ, each for an LSTM and a Transformer without positions."}}
ax = curves(by_length, "symbols", "words (%)", logx=True)
ax.set_xticks(ends, ends)
ax.minorticks_off()
plt.show()

# %% [markdown]
# At twice its lengths, the best Transformer has no positions. Perhaps that is its advantage: an even mean gives the share of each letter, and a word ends where the shares are equal. The advantage doesn't last: from 81 symbols on, this Transformer reads no word. One with learned positions, most of which were never trained, still reads a few.
#
# And the brackets? In training they are nested four deep at most. Words of 21 to 40 symbols test two things: length alone, or length and depth.

# %% tags=["evidence"]
both = ("Dyck-1", "Dyck-2")
depth = {
    (kind, name, deep): 100 * fmean(of)
    for kind in TABLED
    for name in both
    for deep, of in (
        ("1 to 4", table_of[kind, name]["words to 40"]),
        ("5 to 8", table_of[kind, name]["deeper"]),
    )
}
heads = [(name, deep) for name in both for deep in ("1 to 4", "5 to 8")]
table(
    [[name, *(f"{depth[kind, *h]:.0f}%" for h in heads)] for kind, name in zip(TABLED, KINDS)],
    ["network", *(f"{name}, {deep} deep" for name, deep in heads)],
)

# %% tags=["evidence"]
deeper = [depth[kind, name, "5 to 8"] for name in both for kind in ("Transformer, none", "LSTM")]
observe(
    "Of words nested deeper than in training, the Transformer without positions reads {one:.0f}% with one kind of bracket (LSTM: {lstm_one:.0f}%) and {two:.0f}% with two kinds ({lstm_two:.0f}%).",
    one=deeper[0],
    lstm_one=deeper[1],
    two=deeper[2],
    lstm_two=deeper[3],
    holds=deeper[0] > 70 and deeper[1] < 70 and max(deeper[2:]) < 60,
)

# %%
two, three, lstm_two, lstm_three = (
    found[kind, name][:, 1].mean().item() / 100
    for kind in ("Transformer, none", "LSTM")
    for name in ("anbn", "anbncn")
)
different = [  # there are few such words: the test set has each of them many times
    len({tuple(ids[:T].tolist()) for ids, T in zip(words.ids, words.lengths)})
    for name in ("anbn", "anbncn")
    for words in [LANGUAGES[name].draw(500, *SPANS[1], seed=HELD_OUT)]
]

# %% [markdown]
# (claim-comp-2)=

# %% tags=["evidence"]
claim(
    "comp-2",
    "No: at twice its lengths, a Transformer without positions reads {two:.0%} of aⁿbⁿ and {three:.0%} of context-sensitive aⁿbⁿcⁿ (LSTM: {lstm_two:.0%}, {lstm_three:.0%}).",
    two=two,
    three=three,
    lstm_two=lstm_two,
    lstm_three=lstm_three,
    holds=lambda two, three, lstm_two, lstm_three: (
        two > 0.9 > lstm_two + 0.05 and three > 0.7 > lstm_three + 0.2
    ),
    experiment="counter_languages",
    scale=f"words of 21 to 40 symbols ({different[0]} and {different[1]} different ones) after training on 1 to 20; two blocks of width 32; 700 steps; five seeds",
)

# %% [markdown]
# (deeper-depth)=
# ## Does depth buy composition?
#
# *5 minutes.* **How many steps can a Transformer follow with a given number of blocks?** To follow a ball under five cups is to compose permutations, one for each symbol. This is **state tracking**: each symbol changes a state. A permutation of $n$ things is a row of $n$ numbers: the number at position $i$ is the position to which the thing at $i$ moves.
#
# ```{exercise} One move after another
# :label: exercise-compose
#
# *Core, 7 minutes.* Given two permutations for each of B rows, return the one that does the first and then the second. The thing at position $i$ moves to position `first[:, i]`. ([Solution](../solutions/15_limits.ipynb#solution-compose))
# ```


# %%
def compose(first, then):
    """Shapes: two tensors of whole numbers (B, n) to (B, n)."""
    raise NotImplementedError


compose = check("compose", compose)

# %% [markdown]
# Composition is associative, so neighbours can join in pairs, as the steps of the linear recurrence did in the lesson. Here are 16 swaps.

# %%
swaps = LANGUAGES["swaps"]
word = swaps.draw(1, 16, 16, seed=0).ids
moves, rounds = swaps.moves()[word[0]], 0  # (16, 5)
while len(moves) > 1:
    moves, rounds = compose(moves[0::2], moves[1::2]), rounds + 1
assert moves[0, 0] == swaps.truth(word)[0, -1]  # the ball of the first cup

# %% tags=["evidence"]
observe(
    "16 swaps have become one permutation in {rounds} rounds.", rounds=rounds, holds=rounds == 4
)

# %% [markdown]
# Suppose that each block does one round. Then $L$ blocks follow $2^L$ swaps. Indeed, about $\log T$ layers are enough for $T$ steps of *any* machine with finitely many states {cite}`liu2023transformers`. Does training find such weights? We train Transformers of 1, 2, 4 and 8 blocks on words of 1 to 20 swaps. Deeper ones also have more weights, and all were trained for the same 1,000 steps.

# %%
depths = experiments.load("depths")


def at_better_rate(result, by, **where):
    """The rows of all seeds, at the rate with more correct answers in training's lengths."""
    rates = [result.select(rate=rate, **where) for rate in result.parameters["rate"]]
    return max(rates, key=lambda rows: fmean(row[by] for row in rows))


T = depths.rows[0]["length"]
by_depth = {
    kind: (T[:-1], [[100 * x for x in row["last"][:-1]] for row in rows])
    for kind in depths.parameters["kind"]
    for rows in [at_better_rate(depths, "chosen by", kind=kind)]
}

# %% tags=["evidence"] mystnb={"figure": {"caption": "Share of 500 words whose last answer is correct, by the number of swaps; a guess is correct in 20%. Transformers by their blocks, and recurrent networks of one layer. Mean and range of two seeds (stored experiment).", "name": "fig-lim-depths"}, "image": {"alt": "Six curves with bands over 1 to 20 swaps. The curves of Transformers fall from 100% towards 20%."}}
ax = curves(by_depth, "swaps", "correct (%)")
ax.set_xticks([1, 5, 10, 15, 20])
ax.legend(loc="lower center", bbox_to_anchor=(0.5, 1), ncols=3)
plt.show()


# %% tags=["evidence"]
def reach(kind):
    """Up to how many swaps at least half of the answers are correct."""
    means = np.mean(by_depth[kind][1], axis=0)
    return int(np.argmax([*(means < 50), True]))


observe(
    "One block answers at least half of the words correctly up to {one} swaps, two blocks do up to {two}, four up to {four}, and eight up to {eight}. The LSTM does up to {lstm}, the longest that we tested.",
    one=reach("1 block"),
    two=reach("2 blocks"),
    four=reach("4 blocks"),
    eight=reach("8 blocks"),
    lstm=reach("LSTM"),
    holds=reach("8 blocks") >= reach("1 block") + 3 and reach("LSTM") == 20,
)

# %% [markdown]
# That $\log T$ layers are *enough* is proved. That fewer are too few is not. A Transformer of fixed depth, whose numbers have about $\log T$ digits, does no more than a circuit of fixed depth whose gates take majorities, and whose size grows as a power of the length {cite}`merrill2023parallelism`; complexity theory calls this class **TC⁰**. Composing permutations of five things is as hard as anything in **NC¹**, circuits of depth $\log T$ whose gates have two inputs {cite}`barrington1989bounded`. Most experts believe that NC¹ is larger, but there is no proof yet.
#
# (deeper-papers)=
# ## What the papers say
#
# *6 minutes.* **Does the article report what its sources prove?** Here it is, line by line.
#
# | the article {cite}`unsigned2025architectures` | its source |
# | --- | --- |
# | The standard Transformer with hard attention is not Turing-complete. | {cite:t}`perez2019turing,perez2021attention` prove that it is. Their numbers have unlimited precision, their attention takes the maximum, and the decoder takes as many steps as it needs. |
# | With recurrence in depth, it is Turing-complete. | So it is in {cite}`dehghani2019universal`: the same block is repeated, and the number of repetitions may grow with the input. They, too, say that the standard Transformer isn't, but for numbers of finite precision. |
# | Parity is learned. | {cite}`bhattamishra2020ability` find little success with periodic languages and modular counting, of which parity is one. |
# | Counter languages are learned, with limited depth. | {cite:t}`bhattamishra2020ability` find Transformers that do well on some counter languages, and set weights for these languages by hand. |
# | Even pairs are learned, too: a word has an even number of neighbours that differ. | {cite:t}`bhattamishra2020ability` list no such language. Neighbours differ an even number of times exactly if the last symbol is the same as the first, so a network has to keep one symbol. We measured only whether it keeps the [first](#deeper-languages). |
# | Brackets (Dyck) are learned in part. | {cite:t}`bhattamishra2020ability` set weights for one kind by hand, and find that Transformers learn it. {cite:t}`hahn2020theoretical` proves that with hard attention, a Transformer of fixed size can't match two kinds at all lengths. [Ours](#deeper-languages) read both kinds at the lengths of training, and fewer and fewer words beyond. |
# | Context-sensitive languages aren't learned. | One of them is: in our runs, the Transformer without positions reads most words of aⁿbⁿcⁿ at [twice its lengths](#claim-comp-2), and none at more than four times. We measured no other. |
# | Positions are finite in number, so the length of sequences is limited. | It holds for a table of learned positions. [Ours](#deeper-languages) without a table fail beyond the lengths of training as well, so the lengths that they saw limit them first. |
# | Floating-point numbers limit the number of states, and how far a counter counts. | With about $\log T$ digits, a Transformer stays within TC⁰ {cite}`merrill2023parallelism`. For machines set by hand, we measure it: below for parity, and in the next section for a [stack](#deeper-numbers). |
# | A fixed depth is a fixed time. | It holds for one pass through the network. A decoder that reads its own answers makes as many passes as it writes tokens {cite}`feng2023towards,merrill2024expressive`. |
# | Recurrent networks with rational weights are Turing-complete; that takes real numbers of unlimited precision. | In {cite}`siegelmann1995computational`, rational numbers are enough, for the states as well. Their digits have to be unlimited in number. |
# | Attention is like a machine with counters: depth $d$ gives about $d$ of them. | No source is named. One head counts all 26 letters of a word, [below](#deeper-by-attention). |
# | The best size and the amount of text are in proportion (by Kaplan et al.). | That is {cite:t}`hoffmann2022training`. {cite:t}`kaplan2020scaling` let the model grow faster: $N \propto C^{0.73}$, $D \propto C^{0.27}$. |
# | The loss falls as a power of parameters, data or operations, for parameters with an exponent of about 0.076. | So it is in {cite}`kaplan2020scaling`, where the embeddings aren't counted. For data, the exponent is 0.095. |
# | Several passes are worse than more data (by Kaplan et al.). | {cite:t}`muennighoff2023scaling` measure it: up to four passes are nearly as good. |
# | Every continuous function from sequences to sequences can be approximated on compact sets. | {cite:t}`yun2020transformers` prove it, for the average error over such a set. Without positions, it holds for functions that treat all positions alike. |
#
# A proof has its fine print: which numbers, how many steps, and whether it says *can be set* or *is learned*. {cite:t}`hahn2020theoretical` shows how much depends on it. If each head attends to a single position, no Transformer computes parity. With softmax, one symbol of $n$ moves the output at any other position by at most a constant over $n$. That doesn't forbid parity; it forbids being sure of it on long words. {cite:t}`chiang2022overcoming` set weights that compute it, and with layer norm they are sure as well.
#
# Which numbers a machine has does matter. We run the parity Transformer of the lesson on longer and longer words, in three kinds of numbers.


# %%
def longest(dtype):
    """The longest words, of 10, 20, 40 … up to 1,280 symbols, of which all are correct."""
    machine, reached = computation.ParityTransformer(dtype), 0
    for n in [10 * 2**k for k in range(8)]:
        ids, answers, _ = LANGUAGES["parity"].draw(20, n, n, seed=1)
        if (machine(ids).argmax(dim=1) != answers[:, -1]).any():
            break
        reached = n
    return reached


reached = {dtype: longest(dtype) for dtype in (torch.bfloat16, torch.float16, torch.float32)}

# %% tags=["evidence"]
table(
    [[str(dtype).removeprefix("torch."), f"{n:,}"] for dtype, n in reached.items()],
    ["numbers", "all words correct up to (1,280 at most)"],
)

# %% [markdown]
# (claim-comp-3)=

# %% tags=["evidence"]
claim(
    "comp-3",
    "No: Pérez et al. prove that it is, with exact numbers and unlimited written steps. In bfloat16, parity set by hand fails at {half} symbols.",
    half=2 * reached[torch.bfloat16],
    holds=lambda half: 20 <= half <= reached[torch.float32] / 2,
    counted=True,
    scale="cited from Pérez et al.; two blocks set by hand, 20 words for each of eight lengths, 10 to 1,280 symbols",
)

# %% [markdown]
# (deeper-numbers)=
# ## Where do machines set by hand break?
#
# *4 minutes.* **What if a machine's states are slightly off?** Two recurrent networks are set by hand. One corrects errors; the other keeps them. The first adds binary numbers with four units of the book's RNN. Three of them detect at least one, two or three ones to add, the carry included. Two or more ones make the next carry.

# %%
addition = LANGUAGES["addition"]
ids, sums, _ = addition.draw(20, 2000, 2000, seed=0)
adders = {dtype: computation.adding_rnn().to(dtype) for dtype in (torch.float32, torch.float64)}
wrong = {dtype: (adder(ids).argmax(dim=-1) != sums).sum().item() for dtype, adder in adders.items()}

# %% tags=["evidence"]
observe(
    "It adds {n} pairs of numbers with 2,000 binary digits. Of {digits:,} digits, {single} are wrong in float32, and {double} in float64.",
    n=len(ids),
    digits=sums.numel(),
    single=wrong[torch.float32],
    double=wrong[torch.float64],
    holds=not any(wrong.values()),
)

# %% [markdown]
# The second is the lesson's stack machine. It reads brackets of two kinds, and keeps all open ones in *one* number. Each bracket takes two of its binary digits. So we can predict how deep it reads from the digits of the number.

# %%
BITS = {torch.bfloat16: 8, torch.float16: 11, torch.float32: 24, torch.float64: 53}
deepest = {dtype: computation.deepest_stack(computation.StackMachine(dtype)) for dtype in BITS}

# %% tags=["evidence"]
table(
    [[str(d).removeprefix("torch."), bits, bits // 2, deepest[d]] for d, bits in BITS.items()],
    ["numbers", "binary digits", "half of them", "deepest stack"],
)
assert all(deepest[dtype] == bits // 2 for dtype, bits in BITS.items())

# %% [markdown]
# Now each state is disturbed at each step, by a random number up to some size.


# %%
def disturbed(machine, ids, noise):
    """A recurrent machine's answers, with each state off by up to `noise`."""
    h, states = machine.layer.initial_state(len(ids)), []
    for x_t in machine.embedding(ids).unbind(dim=1):
        h = machine.layer.cell(x_t, h)
        h = h + noise * (2 * torch.rand_like(h) - 1)
        states.append(h)
    return machine.output(torch.stack(states, dim=1)).argmax(dim=-1)


torch.manual_seed(0)
NOISES = [10.0**-k for k in range(9, 1, -1)] + [0.03, 0.1, 0.2, 0.3, 0.5, 0.8]
ids, sums, _ = addition.draw(50, 100, 100, seed=0)
read = {
    f"sums, {str(dtype).removeprefix('torch.')}": [
        (disturbed(adder, ids, x) == sums).all(dim=1).float().mean() for x in NOISES
    ]
    for dtype, adder in adders.items()
}
for depth in (3, 6, 9):
    machines = [computation.StackMachine(torch.float64, noise) for noise in NOISES]
    read[f"{depth} brackets deep"] = [computation.read_back(m, depth) for m in machines]

# %% tags=["evidence"] mystnb={"figure": {"caption": "The adder corrects a noise of 0.3 at every step. The stack keeps each error, and each further level survives only a quarter of the noise. Share of sums of 100 digits and of bracket words without a mistake; float64 for the stack.", "name": "fig-lim-noise"}, "image": {"alt": "Five falling curves over the noise, from a billionth to almost one. The stacks fall first, the deepest before the others; the sums fall near 0.4, those of both kinds of numbers together."}}
curves(
    {name: (NOISES, [100 * x for x in of]) for name, of in read.items()},
    "noise",
    "without a mistake (%)",
    logx=True,
)
plt.show()

# %% tags=["evidence"]
kept = {name: max(x for x, share in zip(NOISES, of) if share == 1) for name, of in read.items()}
adds = min(kept["sums, float32"], kept["sums, float64"])
observe(
    "In both kinds of numbers, the adder makes no mistake up to a noise of {adder:.1f}. A stack of three brackets survives a noise of {three:.0e}, and one of nine only {nine:.0e}.",
    adder=adds,
    three=kept["3 brackets deep"],
    nine=kept["9 brackets deep"],
    holds=adds >= 0.3 and kept["9 brackets deep"] < kept["3 brackets deep"],
)

# %% [markdown]
# The adder's units saturate: whatever goes in, the outputs are near −1 or 1. A machine with a few states, far apart, survives noise. One whose state holds a whole stack doesn't.
#
# (deeper-by-attention)=
# ## A majority, a sorted word, a parity: Transformers by hand
#
# *5 minutes.* **What can one head compute, if its weights are set by hand?** With scores of zero, attention returns a mean. That is enough to count votes. A one counts 1, a zero counts −1, and the sign of the mean is the majority.

# %%
ids = torch.tensor([[0, 1] * 1000 + [1]])  # a thousand zeros, a thousand and one ones
votes = computation.MajorityTransformer()(ids)[0, -1]  # logits of no and yes

# %% tags=["evidence"]
observe(
    "After 2,001 votes, one vote decides, and the logits differ by {apart:.5f}.",
    apart=votes[1] - votes[0],
    holds=0 < votes[1] - votes[0] < 0.001,
)

# %% [markdown]
# One head and an output layer also sort a word. For each letter, the head finds the share of the word that comes before it in the alphabet or is this letter. A position that is 60% of the way along then shows the first letter whose share exceeds 60%. That is counting sort.

# %%
LETTERS = "abcdefghijklmnopqrstuvwxyz"
word = "transformer"
ids = torch.tensor([[LETTERS.index(letter) for letter in word]])
logits = computation.SortingTransformer(26)(ids)[0]  # (11, 26)
ordered = "".join(LETTERS[i] for i in logits.argmax(dim=1))
assert ordered == "".join(sorted(word))

# %% tags=["mechanism"] mystnb={"figure": {"caption": "At each position, the largest logit belongs to the letter that comes there in the sorted word. Logits of the letters that occur, each column minus its maximum; a distance over 0.5 is drawn as 0.5.", "name": "fig-lim-sorting"}, "image": {"alt": "A heat map of eight letters by eleven positions. Its largest values, zero, form a staircase from a at the top left to t at the bottom right."}}
there = sorted(set(word))
shown = logits[:, [LETTERS.index(letter) for letter in there]]
heat_map(
    (shown - shown.max(dim=1, keepdim=True).values).clamp(min=-0.5).T,
    xlabel="position",
    ylabel="letter",
    rows=there,
    columns=ordered,
    value_label="logit below the largest",
)
plt.show()

# %% [markdown]
# Parity takes two blocks {cite}`chiang2022overcoming`. With a start before $n$ symbols there are $N = n + 1$ positions, of which $k$ hold a one. The first head finds $k/N$. The feed-forward layer subtracts each position's own share of the way, $i/N$, and has three units that together leave a peak:
#
# $$
# \max\bigl(0, \tfrac{k - i + 1}{N}\bigr) - 2 \max\bigl(0, \tfrac{k - i}{N}\bigr) + \max\bigl(0, \tfrac{k - i - 1}{N}\bigr) = \begin{cases} 1/N & i = k \\ 0 & \text{elsewhere.} \end{cases}
# $$ (eq-peak)

# %%
k, N = 7, 13
i = torch.arange(N)
units = {
    f"unit {u + 1}": c * ((k - i + d) / N).relu()
    for u, (c, d) in enumerate([(1, 1), (-2, 0), (1, -1)])
}
lines = {name: (i, unit) for name, unit in units.items()} | {"sum": (i, sum(units.values()))}

# %% tags=["mechanism"] mystnb={"figure": {"caption": "Three units leave a peak at the position that has the number of ones. The second block asks whether it is even or odd. Here, 7 of 12 symbols are ones.", "name": "fig-lim-peak"}, "image": {"alt": "Three bent lines over positions 0 to 12, and their sum: zero everywhere but at position 7."}}
curves(lines, "position", "output of the layer")
plt.show()

# %% [markdown]
# The second block has two heads, one for even positions and one for odd ones. Each takes a mean over some $N/2$ positions, one of which has the peak. So their outputs differ by about $\frac{1}{N} \cdot \frac{2}{N}$.

# %%
rows, off = [], []
for n in (10, 100, 1000):
    ids, answers, _ = LANGUAGES["parity"].draw(50, n, n, seed=2)
    logits = computation.ParityTransformer(torch.float64)(ids)
    assert torch.equal(logits.argmax(dim=1), answers[:, -1])
    gap = logits.diff(dim=1).abs().mean().item()
    rows.append([n, f"{gap:.3e}", f"{2 / (n + 1) ** 2:.3e}"])
    off.append(abs(gap * (n + 1) ** 2 / 2 - 1))

# %% tags=["evidence"]
table(rows, ["symbols", "difference of the logits", "2 / N²"])
assert max(off) < 0.05

# %% [markdown]
# (deeper-heart)=
# ## Any function at all, by heart
#
# *3 minutes.* **A theorem says that Transformers approximate every continuous function from sequences to sequences {cite}`yun2020transformers`. What does that promise?** Take the most arbitrary function there is: 256 random sequences of eight symbols, with a random answer at each position. There is nothing to understand. Each of 2,048 answers is one of four, so the table has 4,096 bits, and they have to go into the weights.

# %%
heart = experiments.load("by_heart")
WIDTHS, DEPTHS = (sorted(heart.parameters[name]) for name in ("width", "blocks"))


def by_heart(width, blocks):
    """The rows of all seeds, at the rate with the lower loss."""
    rates = [heart.select(width=width, blocks=blocks, rate=r) for r in heart.parameters["rate"]]
    return min(rates, key=lambda rows: fmean(row["loss"] for row in rows))


lines = {
    f"{blocks} block{'s' * (blocks > 1)}, {of}": (
        WIDTHS,
        100 * torch.tensor([[row[name] for row in by_heart(width, blocks)] for width in WIDTHS]).T,
    )
    for of, name in (("the table", "answers"), ("new sequences", "new"))
    for blocks in DEPTHS
}

# %% tags=["evidence"] mystnb={"figure": {"caption": "With enough weights, a Transformer knows an arbitrary table by heart, and nothing about other sequences (a guess is correct in 25%). Mean and range of two seeds, after 1,000 steps at the best of four rates (stored experiment).", "name": "fig-lim-heart"}, "image": {"alt": "Four curves over widths of 8, 16, 32 and 64. Two rise towards 100%, those of the table; two stay at 25%."}}
ax = curves(lines, "width", "correct answers (%)", logx=True)
ax.set_xticks(WIDTHS, WIDTHS)
ax.minorticks_off()
plt.show()

# %% tags=["evidence"] mystnb={"figure": {"caption": "What a weight holds: bits of the table that the network knows, for each of its weights. Mean and range of two seeds (stored experiment).", "name": "fig-lim-bits"}, "image": {"alt": "Eight bars, for four widths and one or two blocks."}}
bars(
    {
        f"width {width}, {blocks} block{'s' * (blocks > 1)}": [
            row["bits per weight"] for row in by_heart(width, blocks)
        ]
        for width in WIDTHS
        for blocks in DEPTHS
    },
    "bits per weight",
)
plt.show()

# %% tags=["evidence"]
one, two = (fmean(row["answers"] for row in by_heart(16, blocks)) for blocks in (1, 2))
observe(
    "Depth helps as well: at width 16, one block knows {one:.0%} of the table, and two blocks know {two:.0%}. They have nearly twice the weights.",
    one=one,
    two=two,
    holds=one < 0.9 < 0.95 < two,
)

# %% [markdown]
# (claim-comp-5)=

# %% tags=["evidence"]
large, small = (fmean(row["answers"] for row in by_heart(width, 2)) for width in (64, 8))
claim(
    "comp-5",
    "Can't tell here: no table is every function. Two blocks learn {large:.0%} of one at width 64, {small:.0%} at 8; others they guess ({new:.0%}).",
    large=large,
    small=small,
    new=fmean(row["new"] for row in by_heart(64, 2)),
    holds=lambda large, small, new: large > 0.95 and small < 0.8 and 0.2 < new < 0.3,
    experiment="by_heart",
    scale="256 random sequences of eight symbols, four answers; one or two blocks; 1,000 steps at the best of four rates; two seeds",
)

# %% [markdown]
# The theorem promises that the weights exist. It leaves open whether training finds them, how many are needed in practice, or what the network does between the examples.
#
# (deeper-residuals)=
# ## How well does the law fit?
#
# *6 minutes.* **The lesson's law has five constants for 28 runs. What does it miss, and how sure is it?** Without its floor and its text, it is a power law of the size alone.

# %% [markdown]
# ```{exercise} The exponent of a power law
# :label: exercise-exponent
#
# *Core, 7 minutes.* On two logarithmic axes, the power law $L = A / N^\alpha$ is a straight line. Fit that line by least squares, to predict the logarithms of the losses, and return $\alpha$. ([Solution](../solutions/15_limits.ipynb#solution-exponent))
# ```


# %%
def exponent(sizes, losses):
    """Shapes: sizes N (n,), losses L (n,), in any order; returns a number."""
    raise NotImplementedError


check("exponent", exponent)

# %% [markdown]
# Now we subtract the whole law from the measured losses.

# %%
runs = experiments.load("ladder")
N, D, losses = (np.array(runs.column(name)) for name in ("parameters", "tokens", "test"))
law = scaling.fit_scaling_law(N, D, losses)
missed = losses - law.loss(N, D)
by_amount = {
    f"{d / 1e6:.1f} million tokens": tuple(zip(*sorted(zip(N[D == d], missed[D == d]))))
    for d in sorted(set(D))
}

# %% tags=["evidence"] mystnb={"figure": {"caption": "The law misses in a pattern: with most text, small sizes lie above it and large ones below. Measured loss minus the law's, by the weights, for four lengths of text (stored experiment).", "name": "fig-lim-residuals"}, "image": {"alt": "Four broken lines around zero over weights from nine thousand to 1.4 million. The one for most text falls from left to right and crosses zero in the middle."}}
ax = curves(by_amount, "weights", "measured − fitted (nats)", logx=True)
ax.axhline(0, color="0.3", linewidth=1)
plt.show()

# %% tags=["evidence"]
most_text = missed[D == D.max()][np.argsort(N[D == D.max()])]
observe(
    "The law misses a run by {mean:.2f} nats on average. With most text, the smallest size is {small:.2f} nats above it and the largest {large:.2f} below.",
    mean=np.abs(missed).mean(),
    small=most_text[0],
    large=-most_text[-1],
    holds=most_text[:2].mean() > 0.03 and most_text[-2:].mean() < -0.03,
)

# %% [markdown]
# A law without a floor would be simpler. {cite:t}`kaplan2020scaling` describe weights and tokens together:
#
# $$
# L(N, D) = \left( \left( \frac{N_c}{N} \right)^{\alpha_N / \alpha_D} + \frac{D_c}{D} \right)^{\alpha_D}
# $$
#
# We fit that to the same runs.

# %%
(step,) = experiments.load("ladder_step").rows
bare = scaling.fit_kaplan_law(N, D, losses)
ahead = {
    name: of.loss(step["parameters"], step["tokens"]) - step["test"]
    for name, of in (("floor", law), ("none", bare))
}

# %% tags=["evidence"]
observe(
    "Without a floor, the law misses a run by {mean:.2f} nats on average. For the eighth size, the law with a floor predicts {above:.2f} nats too much, and the law without one {below:.2f} too little.",
    mean=np.abs(losses - bare.loss(N, D)).mean(),
    above=ahead["floor"],
    below=-ahead["none"],
    holds=0.05 < ahead["floor"] < 0.2 and 0.05 < -ahead["none"] < 0.2,
)

# %% [markdown]
# So one step ahead can't tell whether there is a floor.
#
# The law with a floor adds a part for the weights to a part for the text. Here the two act together: the more text there is, the more a larger model gains from it. So a forecast for the largest size is likely too high.
#
# How sure are the constants? The lesson drew the runs again for an interval around its prediction. Here are intervals for the floor and for both exponents.

# %%
redrawn = scaling.bootstrap(scaling.fit_scaling_law, N, D, losses, draws=300)
E, alpha, beta = (
    scaling.interval([getattr(each, name) for each in redrawn]) for name in ("E", "alpha", "beta")
)

# %% tags=["evidence"]
observe(
    "The fit has a floor *E* of {E:.2f} nats (90% interval: {E_low:.2f} to {E_high:.2f}), α = {alpha:.2f} ({alpha_low:.2f} to {alpha_high:.2f}), β = {beta:.2f} ({beta_low:.2f} to {beta_high:.2f}), *A* = {A:.0f} and *B* = {B:.0f}.",
    **law._asdict(),
    E_low=E.low,
    E_high=E.high,
    alpha_low=alpha.low,
    alpha_high=alpha.high,
    beta_low=beta.low,
    beta_high=beta.high,
    holds=E.low < 0.3 < 1.8 < E.high
    and scaling.HOFFMANN.alpha in alpha
    and scaling.HOFFMANN.beta in beta,
)

# %% [markdown]
# The floor's interval begins at zero. A law with a lower floor and smaller exponents fits nearly as well, because our sizes end long before the loss stops falling. Both exponents could also be those of Hoffmann et al., 0.34 and 0.28. So the law is good for one step more, and can't say where the loss will end.
#
# {cite:t}`kaplan2020scaling` plot the loss over the operations, too. We do the same for the ladder and for the runs with [equal operations](#deeper-budgets). For each number of operations, the law gives the best size, and the loss at this size.

# %%
equal = experiments.load("equal_operations")
drawn = {"ladder": runs, "equal operations": equal}
spent = {
    name: (
        [scaling.six_n_d(*each) for each in zip(of.column("parameters"), of.column("tokens"))],
        of.column("test"),
    )
    for name, of in drawn.items()
}
budget = np.logspace(9.7, 12.9, 40)
at_best = [law.loss(*law.best_split(C)) for C in budget]

# %% tags=["evidence"] mystnb={"figure": {"caption": "The law's best division of each budget (line) follows the lower edge of all runs. Loss by the operations, $6ND$: the ladder's 28 runs, from which the law was fitted, and 19 runs with three budgets, which it hasn't seen (stored experiments).", "name": "fig-lim-operations"}, "image": {"alt": "Two kinds of points over operations from six billion to seven trillion, three columns among them. A falling line touches the lowest points nearly everywhere."}}
_, ax = plt.subplots()
for (name, points), mark in zip(spent.items(), "o^"):
    ax.plot(*points, mark, markersize=5, label=name)
ax.plot(budget, at_best, "-", color="0.3", label="the law's best")
ax.set(xscale="log", xlabel="operations", ylabel="loss (nats)")
ax.legend()
plt.show()

# %%
below = max(
    law.loss(*law.best_split(C)) - loss for points in spent.values() for C, loss in zip(*points)
)
more = np.array(runs.column("operations")) / spent["ladder"][0] - 1

# %% tags=["evidence"]
observe(
    "No run lies more than {below:.2f} nats below the law's best. Counted product by product, the ladder's runs took {least:.0%} to {most:.0%} more operations than $6ND$.",
    below=below,
    least=more.min(),
    most=more.max(),
    holds=below < 0.15 and 0.02 < more.min() < more.max() < 0.3,
)

# %% [markdown]
# The difference is mostly attention: its scores and sums take operations, but no weights.
#
# (deeper-budgets)=
# ## Ten times more to spend: how sure is the exponent?
#
# *8 minutes.* **The lesson read a best size off each curve of equal operations. How sure can we be with three such curves?** Near its lowest point, a curve over $\log N$ looks like a parabola {cite}`hoffmann2022training`.
#
# ```{exercise} The cheapest size
# :label: exercise-cheapest-size
#
# *Core, 7 minutes.* Several sizes were trained with the same operations. Fit a parabola to their losses over the logarithm of the size by least squares, and return the size at its lowest point. ([Solution](../solutions/15_limits.ipynb#solution-cheapest-size))
# ```


# %%
def cheapest_size(sizes, losses):
    """Shapes: sizes and losses (n,), at least three different sizes; returns a number."""
    raise NotImplementedError


cheapest_size = check("cheapest_size", cheapest_size)

# %%
equal = experiments.load("equal_operations")
budgets = {}
for row in equal.rows:
    budgets.setdefault(row["budget"], []).append((row["parameters"], row["test"]))
budgets = {C: torch.tensor(points, dtype=torch.double).T for C, points in sorted(budgets.items())}
best = {C: cheapest_size(*points) for C, points in budgets.items()}
exponent = scaling.growth(list(best), list(best.values()))

# %% [markdown]
# For an interval, we draw the points again. Each curve keeps its parabola, and each point gets a distance from it, drawn from those that we have. All distances are made a little larger, because a fit lies closer to its points than the true curve does. The interval covers this scatter. It doesn't cover the risk that the true curve is no parabola.

# %%
chance = np.random.default_rng(0)


def drawn_again(sizes, losses):
    """The losses of a parabola, each with one of the distances from it."""
    x = np.log(sizes.numpy())
    fitted = np.polyval(np.polyfit(x, losses.numpy(), 2), x)
    off = (losses.numpy() - fitted) * (len(x) / (len(x) - 3)) ** 0.5
    return torch.tensor(fitted + chance.choice(off, size=len(x)))


draws = [
    scaling.growth(
        list(budgets), [cheapest_size(N, drawn_again(N, losses)) for N, losses in budgets.values()]
    )
    for _ in range(300)
]
within = scaling.interval(draws)

# %% tags=["evidence"] mystnb={"figure": {"caption": "Three budgets, each with its parabola and its lowest point (crosses). Loss by the weights; the scale of weights is logarithmic (stored experiment).", "name": "fig-lim-parabolas"}, "image": {"alt": "Three sets of points with a parabola through each. The lowest points move to the right, and down, as the budget grows."}}
ax = curves(
    {f"C = {C:.0e}": points for C, points in budgets.items()}, "weights", "loss (nats)", logx=True
)
for C, (N, losses) in budgets.items():
    x = torch.linspace(N.min().log(), N.max().log(), 50).numpy()
    parabola = np.polyfit(N.log().numpy(), losses.numpy(), 2)
    ax.plot(np.exp(x), np.polyval(parabola, x), color="0.6", linewidth=1, zorder=0)
    ax.plot(best[C], np.polyval(parabola, np.log(best[C])), "x", color="0.2", markersize=9)
plt.show()

# %% [markdown]
# (claim-scale-2)=

# %% tags=["evidence"]
claim(
    "scale-2",
    "Can't tell here: the best size grows as C to the {exponent:.2f}, between 0.50, alike, and Kaplan's 0.73; three budgets leave {low:.2f} to {high:.2f}.",
    exponent=exponent,
    low=within.low,
    high=within.high,
    holds=lambda exponent, low, high: low < 0.51 < 0.53 < exponent < 0.7 < 0.73 < high,
    experiment="equal_operations",
    scale="three budgets of 5e10 to 8e11 operations, six or seven sizes each, 9 to 725 thousand weights; one text, one seed",
)

# %% [markdown]
# Hoffmann et al. had nine budgets, up to billions of times larger than ours. Three published answers tell the best size $N$ for each budget $C$ {cite}`hoffmann2022training,besiroglu2024chinchilla,kaplan2020scaling`. Kaplan et al. count the weights without the embeddings.

# %%
C = np.logspace(18, 26, 30)
PETAFLOP_DAY = 1e15 * 24 * 3600
published = {
    "Hoffmann, as printed": [scaling.HOFFMANN.best_split(c).N for c in C],
    "Besiroglu": [scaling.BESIROGLU.best_split(c).N for c in C],
    "Kaplan": 1.3e9 * (C / PETAFLOP_DAY) ** scaling.KAPLAN_EXPONENT,  # ibid., table 6
}
MODELS = {"GPT-3": (175e9, 300e9), "Chinchilla": (70e9, 1.4e12), "Llama 3": (405e9, 15.6e12)}

# %% tags=["evidence"] mystnb={"figure": {"caption": "The larger the budget, the further the advice differs. Best number of weights by the operations, from published constants, and three models as they were built. Both scales are logarithmic.", "name": "fig-lim-published"}, "image": {"alt": "Three rising straight lines. Kaplan's is steeper than the other two. GPT-3 lies between it and the others, Chinchilla and Llama 3 near Besiroglu's."}}
ax = curves(
    {name: (C, N) for name, N in published.items()}, "operations", "weights", logx=True, logy=True
)
for name, (N, D) in MODELS.items():
    ax.plot(at := scaling.six_n_d(N, D), N, ".", color="0.2", markersize=9)
    side, by = ("left", (4, -16)) if name == "Chinchilla" else ("right", (-5, 4))
    ax.annotate(name, (at, N), by, textcoords="offset points", ha=side)
plt.show()

# %% tags=["evidence"]
exponents = [law.exponents[0] for law in (scaling.HOFFMANN, scaling.BESIROGLU)]
observe(
    "For ten times the operations, the constants as printed recommend {printed:.1f} times the weights, Besiroglu's recommend {again:.1f} times, and Kaplan's recommend {kaplan:.1f} times.",
    printed=10 ** exponents[0],
    again=10 ** exponents[1],
    kaplan=10**scaling.KAPLAN_EXPONENT,
    holds=exponents[0] < 0.47 and 0.48 < exponents[1] < 0.55,
)

# %% [markdown]
# Besiroglu et al. found two reasons: the paper's optimiser had stopped too early, and its constants were rounded before they were printed. They read 245 training runs off one of its figures, left five out, and fitted the law again. We do the same, with `fit_scaling_law`.

# %%
again = experiments.load("chinchilla_refit").rows[0]
here, printed = again["off"], again["off, as printed"]

# %% tags=["evidence"]
observe(
    "Fitted again to {runs} of Hoffmann's runs, the law lets the best size grow as C to the {a:.2f}, with a 90% interval of {low:.2f} to {high:.2f}. Parabolas through the same runs give {curves:.2f}. The printed constants miss the losses by {printed:.1%} on average, and the new fit misses them by {here:.1%}.",
    runs=again["trainings"],
    a=again["a"],
    low=again["a low"],
    high=again["a high"],
    curves=again["by curves"],
    here=here,
    printed=printed,
    holds=again["a low"] < 0.5 < again["a"] < again["a high"] < 0.6
    and again["a low"] < again["by curves"] < again["a high"]
    and printed > 3 * here,
)

# %% [markdown]
# So size and text should grow nearly alike, by both methods, and Kaplan's 0.73 lies far outside the interval. The points aren't part of this book. With `svg_extracted_data.csv` in your `BOOK_DATA` folder, `scaling.fit_scaling_law(*chinchilla())` fits the law on your machine; `chinchilla` comes from `utils.data.chinchilla`.
#
# And Kaplan? {cite:t}`pearce2024reconciling` find two reasons: weights were counted without embeddings, and the models were small, so that the embeddings were a large part. {cite:t}`porian2024resolving` trained anew and found three: the operations of the last layer were left out, the warm-up was too long for small models, and the optimiser wasn't tuned for each size. We can at least count our own weights in Kaplan's way; the operations stay as they are.

# %%
sizes = ladder.LADDER | ladder.BETWEEN
in_blocks = {}
for row in equal.rows:
    size = sizes[row["training"].partition(", ")[2]]
    n = scaling.weights_of_blocks(size.d_model, size.n_layers)
    in_blocks.setdefault(row["budget"], []).append((n, row["test"]))
best_blocks = {
    c: cheapest_size(*torch.tensor(points, dtype=torch.double).T)
    for c, points in sorted(in_blocks.items())
}
by_blocks = scaling.growth(list(best_blocks), list(best_blocks.values()))

# %% tags=["evidence"]
observe(
    "The same runs give an exponent of {all:.2f} if all weights count, and one of {blocks:.2f} if only those of the blocks do.",
    all=exponent,
    blocks=by_blocks,
    holds=by_blocks > exponent + 0.05,
)

# %% [markdown]
# (deeper-passes)=
# ## Reading the same text again
#
# *4 minutes.* **If the text runs out, is a second pass worth as much as new text?** A small GPT reads a fortieth of a text up to 40 times, or new text of the same length.

# %%
passes = experiments.load("passes")
part = passes.select(reading="1 again")[0]["unique"]  # tokens
read = {"again": {}, "new": {}}
for row in passes.rows:
    times, which = row["reading"].split()
    read[which][int(times)] = row["test"]
read["new"][1] = read["again"][1]
lines = {
    name: (sorted(read[which]), torch.tensor([loss for _, loss in sorted(read[which].items())]).T)
    for name, which in (("the same text", "again"), ("new text", "new"))
}

# %% tags=["evidence"] mystnb={"figure": {"caption": "A few passes are nearly as good as new text; many are worse: loss on the test text after reading a fortieth of the text so many times, or so much new text. Mean and range of three seeds, each at a rate that is better than its half and its double (stored experiment).", "name": "fig-lim-passes"}, "image": {"alt": "Two falling curves over 1 to 40 parts. Where the text is read again, the curve is the higher one for many passes."}}
ax = curves(lines, "parts read", "loss (nats)", logx=True)
ax.set_xticks(TIMES := [1, 2, 4, 8, 16, 40], TIMES)
ax.minorticks_off()
plt.show()

# %% [markdown]
# One of the three trainings of 40 passes failed, at a rate that the other two could bear. It lifts the last point of the curve, and with it the last one of the next figure.

# %% tags=["evidence"]
two, other, failed = sorted(read["again"][40])
observe(
    "After 40 passes, the failed training is at {failed:.2f} nats, and the other two are at {two:.2f} and {other:.2f}.",
    failed=failed,
    two=two,
    other=other,
    holds=failed > other + 0.3 > two + 0.3,
)

# %% [markdown]
# How much new text would have been as good? We read it off the other curve. {cite:t}`muennighoff2023scaling` found a law for this: after $R^*$ repetitions, what a further one adds has fallen to $1/e$. Their models had up to nine billion weights, and $R^*$ was about 15.

# %%
fresh = sorted((fmean(loss), n) for n, loss in read["new"].items())
worth = {
    n: float(np.exp(np.interp(fmean(loss), *zip(*[(x, np.log(m)) for x, m in fresh]))))
    for n, loss in sorted(read["again"].items())
}
by_law = [scaling.effective_tokens(1, n) for n in worth]

# %% tags=["evidence"] mystnb={"figure": {"caption": "What passes over one part are worth, in parts of new text. Read off the curves above (20 parts are half of the text), and by the law of Muennighoff et al.", "name": "fig-lim-worth"}, "image": {"alt": "Two curves and a dashed diagonal over 1 to 40 passes."}}
ax = curves(
    {"here": (list(worth), list(worth.values())), "their law": (list(worth), by_law)},
    "passes",
    "parts of new text",
    logx=True,
    logy=True,
)
ax.plot(list(worth), list(worth), color="0.3", linestyle="--", linewidth=1)
ax.set_xticks(TIMES, TIMES)
ax.set_yticks(TIMES, TIMES)
ax.minorticks_off()
plt.show()

# %% [markdown]
# (claim-scale-3)=

# %% tags=["evidence"]
means = {(which, n): fmean(loss) for which, of in read.items() for n, loss in of.items()}
claim(
    "scale-3",
    "Yes: sixteen passes end at {again:.2f} nats, and as much new text at {new:.2f}. After four, the difference is within the seeds' spread ({spread:.2f}).",
    again=means["again", 16],
    new=means["new", 16],
    spread=np.ptp(read["new"][4]),
    holds=lambda again, new, spread: (
        again - new > 0.3 > spread > abs(means["again", 4] - means["new", 4])
    ),
    experiment="passes",
    scale=f"39 thousand weights, {part / 1e3:.0f} thousand tokens; each at a rate better than its half and its double; three seeds",
)

# %% [markdown]
# (deeper-gpus)=
# ## How long would it take on another GPU?
#
# *1 minute.* **What did seven years of GPUs change?** We take $C = 6ND$ and 1,000 GPUs at 40% of what their data sheets promise in 16 bits. The models are GPT-3 {cite}`brown2020language`, Chinchilla and Llama 3 {cite}`grattafiori2024llama`.

# %% tags=["evidence"]
rows = [
    [
        name,
        f"{(operations := scaling.six_n_d(N, D)):.1e}",
        *(f"{scaling.days_of(operations, gpu, 1000):,.0f}" for gpu in scaling.GPUS),
    ]
    for name, (N, D) in MODELS.items()
]
table(rows, ["model", "operations", *(f"{gpu}, days" for gpu in scaling.GPUS)])

# %% tags=["evidence"]
first, *_, last = scaling.GPUS.values()
budget = [scaling.six_n_d(*MODELS[name]) for name in ("GPT-3", "Llama 3")]
observe(
    "From the first GPU to the last, the speed grew {gpu:.0f}-fold. From GPT-3 to Llama 3, the operations grew {models:.0f}-fold.",
    gpu=last / first,
    models=budget[1] / budget[0],
    holds=budget[1] / budget[0] > 5 * last / first,
)

# %% [markdown]
# The budgets grew faster than the chips, so the number of chips, or of days, had to grow, too.
