# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Day 4: Sequence to sequence, and attention
#
# **Today's question:** how can a network look something up, instead of remembering everything?
#
# After today you can
#
# - build the decoder's input for training,
# - write the additive score, and turn scores into weights that leave out padding,
# - say which state is the query in Bahdanau's decoder and in Luong's,
# - decode greedily, symbol by symbol, with a minimum length,
# - measure what a fixed vector costs at each length,
# - read word alignments off attention weights, and measure their error.
#
# Today builds on [Day 2](02_recurrent.ipynb) and [Day 3](03_gates.ipynb): recurrent layers, padded batches, reading in both directions. It takes 50 minutes to read and
# half an hour to write the functions at its heart. At the end, your network reads dates as people write them in twelve countries.

# %% tags=["setup"]
import convolution_to_attention  # is `utils` this book's?

from functools import partial

import matplotlib.pyplot as plt
import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from utils.data.text import BucketedBatches, pad
from utils.exercises.attention import check
from utils.exercises.progress import checklist
from utils.measure import experiments
from utils.measure.claims import claim
from utils.measure.graphs import longest_chain
from utils.seq2seq import BOS, EOS, PAD, Seq2Seq, Seq2SeqConfig, sequence_loss
from utils.show.display import observe
from utils.show.mechanisms import attention as mechanisms
from utils.show.plotting import COLOURS, bars, curves, heat_map, in_chinese, use_book_style
from utils.show.views import Looks, alignment, guess, quiz, typed_date
from utils.tasks.backwards import LETTERS, VOCAB_SIZE, as_ids, as_text, random_words
from utils.tasks.backwards import arrivals, best_runs, right_by_length, train_backwards
from utils.tasks.dates import MAX_LEN, DateTask, shown_first
from utils.tasks.short_translation import ASKED, ShortTask, from_lesson
from utils.tasks.translation import diagonal_error
from utils.training.loop import fit
from utils.training.recipes import rise_and_fall

use_book_style()

# %% [markdown]
# **Five questions about yesterday**

# %% tags=["view"]
quiz("04_attention")

# %% [markdown]
# ## Where we stand
#
# *5 minutes.* So far, our networks have given one answer for a whole sequence, or one for each of its symbols. A translation is neither: it is another sequence, and its length
# isn't known in advance. Two recurrent networks can write it together {cite}`sutskever2014sequence,cho2014learning`. The **encoder** reads the source. Its last state is
# handed to the **decoder**, which writes the target symbol by symbol.
#
# Today's example is a tiny task that needs the whole source: write a word backwards. *faced* becomes *decaf*. The symbol **BOS** tells the decoder to begin, and the
# decoder writes **EOS** when it has finished. Sources end in EOS, too, but the picture leaves it out.

# %% tags=["mechanism"] mystnb={"figure": {"caption": "One vector is all that passes from the encoder to the decoder (both unrolled in time).", "name": "fig-unrolled-pair"}, "image": {"alt": "Five pink boxes, h1 to h5, joined by arrows, read the letters f, a, c, e, d from below. The last is framed, because it is all that is handed over. A thick arrow leads from it to six blue boxes, s1 to s6, which read BOS, d, e, c, a, f from below and write d, e, c, a, f, EOS above."}}
mechanisms.unrolled("faced", "decaf")
plt.show()

# %% [markdown]
# Yesterday ended with a doubt: how much can one vector hold? Here are an encoder and a decoder to measure it. Their GRUs are the library's, and compute the same as
# yesterday's; *packing* makes the encoder stop where a source ends. `bridge` turns the encoder's last states into the decoder's first state.


# %%
class Plain(nn.Module):
    """Source (B, S), its lengths (B,), decoder input (B, T) to logits (B, T, W).

    V and W are the sizes of the two vocabularies.
    """

    def __init__(self, V, W, D=48, N=64):
        super().__init__()
        self.source, self.target = nn.Embedding(V, D), nn.Embedding(W, D)
        self.encoder = nn.GRU(D, N // 2, batch_first=True, bidirectional=True)
        self.decoder = nn.GRU(D, N, batch_first=True)
        self.bridge, self.output = nn.Linear(N, N), nn.Linear(N, W)

    def encode(self, source, lengths):
        x = self.source(source)
        x = pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False)
        h, last = self.encoder(x)
        h, _ = pad_packed_sequence(h, batch_first=True)  # a state for each symbol, (B, S, N)
        return h, self.bridge(last.transpose(0, 1).flatten(1)).tanh()

    def forward(self, source, lengths, read):
        _, s = self.encode(source, lengths)
        states, _ = self.decoder(self.target(read), s[None])
        return self.output(states)


# %% [markdown]
# Look at the first underscore in `forward`. The encoder's states, one for each symbol, are thrown away: only the vector `s`, made from the last ones, is passed on. We make
# it 48 numbers wide. In training, the network sees 3,000 words seven times each; they have two to twelve letters, from *a* to *f*.

# %% tags=["training"]
words = random_words(3000, range(2, 13), seed=0)
torch.manual_seed(0)
fixed = Plain(VOCAB_SIZE, VOCAB_SIZE, 16, 48)
train_backwards(fixed, words, epochs=7, learning_rate=1e-2)
through_vector = right_by_length(fixed, range(2, 17))

# %% tags=["evidence"] mystnb={"figure": {"caption": "Short words come out correctly through a vector of 48 numbers; long ones hardly ever do.", "name": "fig-fixed-vector"}, "image": {"alt": "A curve over the number of letters in the word stays near one from two to four letters, then falls steeply, and is nearly zero from nine letters on."}}
curves(
    {"": (list(through_vector), list(through_vector.values()))},
    "letters in the word",
    "share correct",
)
plt.show()

# %% tags=["evidence"]
observe(
    "It writes {short:.0%} of new 4-letter words backwards without a mistake, but only {middle:.0%} of those with 7 letters and {long:.0%} of those with 11.",
    **{"short": through_vector[4], "middle": through_vector[7], "long": through_vector[11]},
    holds=through_vector[4] > 0.7 and through_vector[7] < 0.6 and through_vector[11] < 0.1,
)

# %% [markdown]
# Is the vector too small, or was the training too short? [Further down](#seq-train) we find out, with larger vectors and more training. One thing is clear already: the
# decoder can't look at the word again. Whatever the last state doesn't hold is lost.

# %% [markdown]
# ## The idea
#
# *3 minutes.* Imagine two interpreters. One listens to a whole speech, closes her notebook, and then speaks. The other has the speech in writing, and before each word he
# looks at the page again, at the place that matters now. He needn't remember the page. He has to know *where to look*.
#
# That is **attention** {cite}`bahdanau2015neural`. The encoder keeps all of its states, the **annotations**: $h_j$ knows the $j$th symbol and its surroundings, because one network reads forwards and another backwards, and their states are joined. Before the decoder writes a symbol, it
#
# 1. compares its own state, the **query**, with each annotation, a **key**: a **score** tells how well the two match,
# 2. turns the scores into weights that sum to 1,
# 3. averages the annotations, now as **values**, with these weights; the result is the **context**.
#
# Queries from one sequence meet keys and values from another: this is **cross-attention**.

# %% tags=["mechanism"] mystnb={"figure": {"caption": "The context is a weighted average: 0.60 · (1, 0) + 0.12 · (0, 1) + 0.28 · (1, 1) = (0.88, 0.40). The weights come from comparing the query with each annotation (dashed).", "name": "fig-one-look"}, "image": {"alt": "Three pink boxes, h1 = (1, 0), h2 = (0, 1) and h3 = (1, 1), stand in a row, with the weights 0.60, 0.12 and 0.28 below them. Green arrows lead from them to the context, two numbers, 0.88 and 0.4; the first arrow is thick, the second thin. From a blue box, query s, dashed arrows lead to the three boxes."}}
h = torch.tensor([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])  # (S, N)
mechanisms.look(torch.tensor([0.60, 0.12, 0.28]), h)
plt.show()

# %% [markdown]
# A Python dictionary returns the value whose key equals the query, or nothing. Attention is a **soft dictionary**: every key matches a little, so it returns a mixture of
# all values. It has two limiting cases: one score is far above the rest, or all scores are equal.

# %% tags=["view"]
guess(
    "All scores are equal. What does a soft dictionary return?",
    ["Nothing, since no key matches best.", "The first value.", "The mean of all values."],
    right="The mean of all values.",
    because="Equal scores give equal weights. If one score is far above the rest, its value gets all the weight, and the dictionary is an ordinary one.",
)

# %%
for e in ([0.0, 0.0, 0.0], [20.0, 0.0, 0.0]):
    c = torch.tensor(e).softmax(0) @ h  # scores to weights, weights to context
    print("scores", e, "context", [round(number, 2) for number in c.tolist()])

# %% [markdown]
# The weights of all steps, one row below the other, form a table. It should fill up like this:

# %% tags=["mechanism"] mystnb={"figure": {"caption": "Each symbol adds a row of weights, which shows where the decoder looks while writing it. (Drawn, not learned.)", "name": "fig-table-filled"}, "image": {"alt": "Three tables of six rows and six columns, f, a, c, e, d, EOS. After one step the first row, d, has its dark cell under d. After two steps the second row, e, has it under e. When all six are filled the dark cells lie on the diagonal from upper right to lower left, and EOS is under EOS."}}
one_each = torch.full((6, 6), 0.03)
one_each[range(6), [4, 3, 2, 1, 0, 5]] = 0.85
mechanisms.table_filled([*"faced", "EOS"], [*"decaf", "EOS"], one_each)
plt.show()

# %% [markdown]
# We never fill in that table ourselves. Everything in {numref}`fig-one-look` has a derivative, so gradient descent trains the scores, too.

# %% [markdown]
# ## Step by step
#
# ### Teacher forcing: tell it the truth
#
# *7 minutes, 4 of them yours.* The model is autoregressive: it predicts each symbol of a target $y$ from the source $x$ and the symbols before it. The
# probability of the whole target is the product
#
# $$
# p(y \mid x) = \prod_{t} p(y_t \mid y_1 \dots y_{t-1}, x) .
# $$ (eq-seq2seq)
#
# During training, the decoder reads the **true** previous symbols, whatever it would have written: **teacher forcing** {cite}`williams1989learning`. Otherwise one wrong
# letter would spoil all that follow. ([What this costs](deeper/04_attention.ipynb#seq-exposure) is measured on the deeper page.)

# %% tags=["mechanism"] mystnb={"figure": {"caption": "With teacher forcing the decoder reads the target, one step late. Left alone, it reads its own output, mistakes included (framed).", "name": "fig-teacher-forcing"}, "image": {"alt": "Above, the row d, e, c, a, f, EOS is the target. Below it is the input, BOS, d, e, c, a, f, in green; arrows lead from each symbol one position to the right. Further down, the decoder was left alone: it wrote d, e, b, a, c, and it reads BOS, d, e, b, a, c, in blue, with the wrong b and c framed in both rows."}}
mechanisms.forced("decaf", "debac")
plt.show()

# %% [markdown]
# In a batch, shorter targets are padded with **PAD**, which the loss ignores.
#
# **Your turn.**
#
# ```{exercise} The shifted target
# :label: exercise-shift
#
# *4 minutes.* Given a batch of targets, each ending in EOS and padded with PAD, return the decoder's input: BOS, then the target without its last symbol.
# `torch.full_like(x, BOS)` is shaped like `x` and filled with BOS. ([Solution](solutions/04_attention.ipynb#solution-shift))
# ```


# %%
def shift(target):
    """Shapes: target (B, T) to the decoder's input (B, T)."""
    raise NotImplementedError


shift = check("shift", shift)

# %%
check.show_reference("shift")

# %%
print(shift(torch.tensor([[8, 7, EOS], [5, EOS, PAD]])).tolist())

# %% [markdown]
# The second row also reads its EOS, which does no harm: the target at that step is PAD.
#
# ### The additive score
#
# *15 minutes, 12 of them yours.* How well does an annotation match what the decoder needs now? {cite:t}`bahdanau2015neural` let a small network decide:
#
# $$
# e_{tj} = v^\top \tanh(W_a\, s_t + U_a\, h_j) .
# $$ (eq-score)
#
# The score is **additive**: it adds the query's part and the key's part. $W_a$, $U_a$ and $v$ are learned. Here are three annotations and a query, each with two numbers.

# %%
s = torch.tensor([0.5, 1.0])  # (N,)
W_a, U_a = torch.eye(2), torch.tensor([[1.0, 0.0], [0.0, -1.0]])
v = torch.tensor([2.0, 1.0])
print("annotations", h.tolist())

# %% [markdown]
# $W_a$ leaves the query unchanged, and $U_a$ flips the sign of an annotation's second number.

# %% tags=["view"]
guess(
    "Which annotation gets the highest score?",
    ["(1, 0)", "(0, 1)", "(1, 1)"],
    right="(1, 0)",
    because="Its sum is (1.5, 1): both numbers are large, and v counts the first twice. The third annotation has the same first number, but its flipped second number cancels the query's.",
)

# %% tags=["mechanism"] mystnb={"figure": {"caption": "The first annotation wins. From left to right: query and annotation are added, a tanh bounds each number, and v turns two numbers into one.", "name": "fig-additive"}, "image": {"alt": "On the left are the query's numbers, 0.5 and 1, in blue. Arrows lead from them to three rows in orange, which come from h1, h2 and h3: (1, 0), (0, -1) and (1, -1). To the right of the rows are their sums with the query, (1.5, 1), (0.5, 0) and (1.5, 0), then the tanh of each number, and then, after multiplication by v = (2, 1), the scores 2.57, 0.92 and 1.81 in green."}}
mechanisms.scored(s, h, W_a, U_a, v)
plt.show()

# %% [markdown]
# ```{exercise} The additive score
# :label: exercise-additive-score
#
# *12 minutes.* Return the scores of {eq}`eq-score` for a whole batch, comparing each of T queries with each of S keys. `x[:, :, None]` gives `x` a new axis, and addition
# repeats axes of length 1. ([Solution](solutions/04_attention.ipynb#solution-additive-score))
# ```


# %%
def additive_score(query, keys, W_a, U_a, v):
    """Shapes: query (B, T, N), keys (B, S, N), W_a and U_a (M, N), v (M,) to scores (B, T, S)."""
    raise NotImplementedError


additive_score = check("additive_score", additive_score)

# %%
check.show_reference("additive_score")

# %% [markdown]
# There are simpler scores {cite}`luong2015effective`: the dot product $s^\top h$ has no parameters at all, and the **general** score, $s^\top W h$, puts a matrix in
# between. Everything else stays the same. [Which is best?](deeper/04_attention.ipynb#seq-scores)
#
# ### From scores to weights
#
# *15 minutes, 12 of them yours.* A softmax turns scores into weights, and the weights average the annotations:
#
# $$
# \alpha_{tj} = \frac{\exp e_{tj}}{\sum_{k} \exp e_{tk}}, \qquad
# c_t = \sum_{j} \alpha_{tj}\, h_j .
# $$ (eq-attention)
#
# But a batch contains padding, which the decoder should never look at. So a padded position gets the score $-\infty$ *before* the softmax. Its weight is then 0, and all
# the weight goes to the real positions.

# %% tags=["mechanism"] mystnb={"figure": {"caption": "Padding (hatched) gets no weight, although its score is the highest: the mask turns the score into −∞.", "name": "fig-masked-row"}, "image": {"alt": "Three rows of four cells, for d, e, EOS and PAD. The first holds the scores 1.20, -0.50, 0.80 and 2.00, the last of them hatched. The second holds the scores under the mask, which are the same except for minus infinity under PAD. An arrow, softmax, leads to the third, the weights 0.54, 0.1, 0.36 and 0, in green."}}
mechanisms.masked(
    torch.tensor([1.2, -0.5, 0.8, 2.0]),
    torch.tensor([True, True, True, False]),
    ["d", "e", "EOS", "PAD"],
)
plt.show()

# %% [markdown]
# ```{exercise} Masked softmax
# :label: exercise-masked-softmax
#
# *12 minutes.* Given scores and a mask (`True` = allowed), return the weights. A masked position gets a weight of exactly 0, however large its score. Where nothing is
# allowed, all weights are 0: a softmax of $-\infty$ alone would be NaN. `x.masked_fill(mask, value)` writes `value` where the mask is `True`.
# ([Solution](solutions/04_attention.ipynb#solution-masked-softmax))
# ```


# %%
def masked_softmax(scores, mask):
    """Shapes: scores (B, T, S), mask broadcastable to it; returns weights (B, T, S)."""
    raise NotImplementedError


masked_softmax = check("masked_softmax", masked_softmax)

# %%
check.show_reference("masked_softmax")

# %% [markdown]
# Here is our example, with all three annotations allowed:

# %%
e = additive_score(s[None, None], h[None], W_a, U_a, v)  # (1, 1, 3)
alpha = masked_softmax(e, torch.ones(1, 1, 3, dtype=torch.bool))
print("weights", [round(a, 2) for a in alpha[0, 0].tolist()])
print("context", [round(c, 2) for c in (alpha[0, 0] @ h).tolist()])

# %% [markdown]
# These are the numbers in {numref}`fig-one-look`.
#
# **Enough for tonight?** This is a good place to stop: you have written attention. Next we train it.
#
# ### Which state is the query?
#
# *1 minute.* {cite:t}`bahdanau2015neural` take the state *before* the step as the query, and the context goes into the step. {cite:t}`luong2015effective` take the step
# first and use the *new* state; the context goes into the output.

# %% tags=["mechanism"] mystnb={"figure": {"caption": "Bahdanau's decoder attends before its step, Luong's after it. The query's path is blue, and the context's is green. The logits come from $\\tilde h_t$.", "name": "fig-two-decoders"}, "image": {"alt": "Two diagrams of five boxes each. Bahdanau: a blue arrow leads from s t-1 to alpha t, then to the context c t, and a green arrow from there to s t. Luong: s t-1 leads to s t; a blue arrow leads from s t back to alpha t, then to c t, and a green arrow from there to the output h tilde t."}}
mechanisms.two_decoders()
plt.show()

# %% [markdown]
# In Bahdanau's decoder the context becomes part of the next query; in Luong's it doesn't. So Luong's decoder can first run through a whole known target, and then attend at
# all steps at once. We build Luong's, with $\tilde h_t = \tanh(W_c [c_t; s_t])$, where $[c_t; s_t]$ stacks the two vectors.
#
# ### A network with attention
#
# *3 minutes.* `Translator` is `Plain`, but it keeps the encoder's states. Three lines in `decode` are new: score, weights, context. The context then joins the decoder's
# state on the way to the output.


# %%
class Translator(Plain):
    """`Plain`, with attention to the states of the source."""

    def __init__(self, V, W, D=48, N=64):
        super().__init__(V, W, D, N)
        self.W_a, self.U_a = (nn.Parameter(torch.randn(N, N) / N**0.5) for _ in range(2))
        self.v = nn.Parameter(torch.randn(N) / N**0.5)
        self.W_c = nn.Linear(2 * N, N)

    def decode(self, read, s, h, real):
        s, last = self.decoder(self.target(read), s[None])  # states (B, T, N)
        e = additive_score(s, h, self.W_a, self.U_a, self.v)
        alpha = masked_softmax(e, real)
        c = alpha @ h
        logits = self.output(self.W_c(torch.cat([c, s], dim=-1)).tanh())
        return logits, last[0], alpha

    def forward(self, source, lengths, read):
        h, s = self.encode(source, lengths)
        return self.decode(read, s, h, (source != PAD)[:, None])[0]


# %% [markdown]
# For training, your `shift` builds the decoder's input. The loss is the mean of $-\log p$ over all symbols that aren't padding.


# %%
class Pairs(BucketedBatches):
    """Batches of source, lengths, decoder input and target."""

    def __iter__(self):
        for source, lengths, _, target in super().__iter__():
            yield source, lengths, shift(target), target


def trained(model, sources, targets, epochs, batch_size=64):
    batches = Pairs(sources, targets, batch_size, shuffle=True)
    optimiser, schedule = rise_and_fall(model, 1e-2, epochs * len(batches))
    fit(model, batches, sequence_loss, optimiser, epochs=epochs, schedule=schedule)
    return model.eval()


# %% tags=["training"]
torch.manual_seed(0)
sources, targets = [[*word, EOS] for word in words], [word[::-1] for word in words]
looking = trained(Translator(VOCAB_SIZE, VOCAB_SIZE, 16, 48), sources, targets, epochs=7)

# %% tags=["evidence"] mystnb={"figure": {"caption": "With your attention, long words come out correctly, too, almost up to the longest in training (dashed line).", "name": "fig-attention-words"}, "image": {"alt": "Two curves over the number of letters in the word. The one with attention stays near one up to about eleven letters and falls steeply beyond twelve. The fixed vector's falls from four letters on."}}
with_attention = right_by_length(looking, range(2, 17))
lines = {"with attention": with_attention, "vector of 48": through_vector}
lines = {name: (list(right), list(right.values())) for name, right in lines.items()}
curves(lines, "letters in the word", "share correct").axvline(12.5, color="black", linestyle="--")
plt.show()

# %% tags=["evidence"]
observe(
    "With attention, {ours:.0%} of the 11-letter words are correct; through the vector, {theirs:.0%} were. At 16 letters, more than any training word has, only {beyond:.0%} of the words are correct, even with attention.",
    **{"ours": with_attention[11], "theirs": through_vector[11], "beyond": with_attention[16]},
    holds=with_attention[11] > 0.6 and with_attention[16] < 0.5,
)

# %% [markdown]
# After so little training, your few lines make all the difference, at least up to the training lengths.
#
# ### Greedy decoding
#
# *1 minute.* How does the network write a new word? **Greedy decoding** takes the most probable symbol at each step and reads it at the next, until that symbol is EOS.


# %%
@torch.no_grad()
def write(model, source, max_len=20):
    """Write a target for one source; both are lists of ids."""
    source, written, last = torch.tensor([source]), [], BOS
    h, s = model.encode(source, torch.tensor([source.shape[1]]))
    while last != EOS and len(written) < max_len:
        logits, s, _ = model.decode(torch.tensor([[last]]), s, h, (source != PAD)[None])
        last = logits.argmax().item()
        written.append(last)
    return written


observe(
    "*faced* becomes *{written}*.",
    written=as_text(write(looking, [*as_ids("faced"), EOS])),
    holds=with_attention[5] > 0.8,
)

# %% [markdown]
# The best beginning doesn't always lead to the best sentence. [Beam search](deeper/04_attention.ipynb#seq-beam) keeps several and finds more probable sentences, though
# with our models they are hardly better.

# %% [markdown]
# ## Is it right?
#
# *1 minute.* We compare your network with the book's `Seq2Seq`, which has the same weights but takes one step at a time:

# %% tags=["evidence"]
mine = Translator(9, 8, 5, 6).double().eval()
book = from_lesson(mine)
source, lengths = pad([[3, 4, 5, 6, EOS], [7, 8, EOS]])
read = shift(torch.tensor([[3, 4, 5, EOS], [6, EOS, PAD, PAD]]))
close = partial(torch.testing.assert_close, rtol=1e-10, atol=1e-10)
close(mine(source, lengths, read), book(source, lengths, read))
print("logits agree with the book's model to ten digits")

# %% [markdown]
# The [deeper page](deeper/04_attention.ipynb#seq-right) checks the book's attention and its gradients.

# %% [markdown]
# (seq-train)=
# ## Train it
#
# *4 minutes.* Was the vector too small, or the training too short? In a stored experiment, three networks saw 12,000 words twenty times, each at its best learning rate and
# with three seeds.

# %% tags=["evidence"]
backwards = experiments.load("backwards")
runs = best_runs(backwards.select(words=12_000))
share = {name: torch.tensor([row["validation"] for row in rows]) for name, rows in runs.items()}
last = {name: shares[:, -1].mean().item() for name, shares in share.items()}

# %% tags=["view"]
guess(
    "After twenty passes over 12,000 words, what share of the words with 9 to 12 letters comes out correctly through a vector of 48 numbers?",
    ["under 10%", "about a quarter", "over half"],
    right="over half",
    because=f"It is {last['vector of 48']:.0%}, the mean of three seeds; with twice the width it is {last['vector of 96']:.0%}.",
)

# %% tags=["evidence"] mystnb={"figure": {"caption": "With more training the vectors improve, too, but much later: share of words of 9 to 12 letters written without a mistake. Means and ranges of three seeds (stored experiment).", "name": "fig-passes"}, "image": {"alt": "Three rising curves over twenty passes. Attention rises at the third pass, wavers, and is at one from the twelfth on. The vectors rise slowly from about the eighth on; that of 96 ends at 0.8, and that of 48 ends at 0.7."}}
lines = {name: (range(1, 21), shares) for name, shares in share.items()}
curves(lines, "passes", "share correct").set_xticks([1, 5, 10, 15, 20])
plt.show()

# %% tags=["evidence"]
half = arrivals(runs, 0.5)
observe(
    "With attention, half of these words are correct after {attention} passes; with a vector of 96 it takes {wide} passes, and with one of 48 it takes {narrow}. After all twenty, attention writes {most:.0%} of the words correctly, the vector of 96 writes {more:.0%}, and the vector of 48 writes {less:.0%}.",
    **{"attention": half["attention"], "wide": half["vector of 96"]},
    narrow=half["vector of 48"],
    **{"most": last["attention"], "more": last["vector of 96"], "less": last["vector of 48"]},
    holds=half["attention"] < half["vector of 96"] / 2 and last["vector of 48"] > 0.5,
)

# %% [markdown]
# So the vector's failure came mostly from too little training, not from too little room. What attention buys here is *time*: it needs less than half as many passes.
# {cite:t}`sutskever2014sequence` had shown what a vector can do with enough of everything: four layers of 1,000 units, twelve million pairs of sentences, and sources read
# backwards. Long sentences gave their network no trouble. Where does a vector really fail, then?

# %% tags=["evidence"] mystnb={"figure": {"caption": "Even after twenty passes the vectors get many of the longest words wrong. Beyond the training lengths (dashed line), attention fails, too.", "name": "fig-words-by-length"}, "image": {"alt": "Three curves over the number of letters, from two to eighteen. Attention stays at one up to twelve letters. The vectors fall from about eight and ten letters on. Beyond the dashed line at twelve the vectors are at zero within two letters; attention falls, too, but later."}}
lines = {name: (rows[0]["length"], [row["right"] for row in rows]) for name, rows in runs.items()}
curves(lines, "letters in the word", "share correct").axvline(12.5, color="black", linestyle="--")
plt.show()

# %% tags=["evidence"]
of = {name: torch.tensor([row["right"] for row in rows]).mean(0) for name, rows in runs.items()}
twelve, fourteen = ({name: right[n - 2].item() for name, right in of.items()} for n in (12, 14))
observe(
    "At 12 letters, the most in training, the vector of 48 writes {narrow:.0%} of the words correctly, the vector of 96 writes {wide:.0%}, and attention writes {ours:.0%}. At 14 letters, the vector of 48 manages {less:.0%}, the vector of 96 {more:.0%}, and attention {most:.0%}.",
    **{"narrow": twelve["vector of 48"], "wide": twelve["vector of 96"]},
    **{"less": fourteen["vector of 48"], "more": fourteen["vector of 96"]},
    **{"ours": twelve["attention"], "most": fourteen["attention"]},
    holds=twelve["vector of 96"] < 0.8 < twelve["attention"] and max(fourteen.values()) < 0.6,
)

# %% [markdown]
# Up to the longest words in training, each extra letter makes a word harder for a vector, while attention doesn't notice. Beyond that length all three networks fail, although
# attention holds out a few letters longer: none of them has learned to "go back one letter", whatever the length. [With sentences](deeper/04_attention.ipynb#seq-vector),
# too, a fixed vector needs more training.
#
# **Now sentences.** A small grammar writes them in English and Chinese. *I love deep learning* is held back; your network learns from the others.

# %% tags=["training"]
task = ShortTask()
english, chinese = zip(*task.train)
read_in = [row[:n].tolist() for row, n in zip(*task.source(english))]
sizes = len(task.english), len(task.chinese)
torch.manual_seed(0)
translator = trained(Translator(*sizes), read_in, task.target(chinese), epochs=4, batch_size=32)


# %%
def translate(sentence):
    source = [*task.english.encode(sentence.split(), strict=True), EOS]
    return " ".join(task.chinese.decode(write(translator, source)))


# %% tags=["evidence"]
some = task.test[:200]
right = sum(translate(asked) == wanted for asked, wanted in some) / 200
observe(
    "*{asked}* becomes {text}. Your network translates {right:.0%} of 200 new sentences perfectly.",
    **{"asked": ASKED, "text": translate(ASKED), "right": right},
    holds=right > 0.6,
)

# %% [markdown]
# ## Look inside
#
# *8 minutes.* Here is the sentence we held back.


# %%
@torch.no_grad()
def looks(model, source, written):
    """Attention weights (T, S) while a model writes a given target; both are lists of ids."""
    h, s = model.encode(torch.tensor([source]), torch.tensor([len(source)]))
    real = torch.ones(1, 1, len(source), dtype=torch.bool)
    return model.decode(shift(torch.tensor([written])), s, h, real)[2][0]


# %% tags=["evidence"] mystnb={"figure": {"caption": "While it writes 我, your network looks mostly at *I*, in a sentence that it has never seen. Circles mark the true links, which it was never shown.", "name": "fig-sentence"}, "image": {"alt": "A map with five rows, 我, 爱, 深度, 学习 and EOS, and five columns, I, love, deep, learning and EOS. Circles mark the first four cells of the diagonal; the first two rows have their bright cells there, the others on or near it."}}
wanted = "我 爱 深度 学习"
source = [*task.english.encode(ASKED.split()), EOS]
weights = looks(translator, source, [*task.target([wanted])[0], EOS])
hanzi = in_chinese(wanted, pinyin="wǒ ài shēndù xuéxí")
names = {"rows": [*hanzi, "EOS"], "columns": [*ASKED.split(), "EOS"]}
ax = heat_map(weights, xlabel="English", ylabel="Chinese", value_label="weight", **names)
ring = {"markersize": 20, "markerfacecolor": "none", "markeredgecolor": COLOURS[1], "mew": 3}
ax.plot([j + 0.5 for j in range(4)], [t + 0.5 for t in range(4)], "o", **ring)
plt.show()

# %% tags=["evidence"]
observe(
    "While the network writes 我, {i:.0%} of the weight is on *I*; while it writes 深度 学习, {deep:.0%} is on the positions after *love*.",
    i=weights[0, 0].item(),
    deep=weights[2:4, 2:].sum().item() / 2,
    holds=weights[0, 0] > 0.5 and weights[2:4, 2:].sum() > 1,
)

# %% [markdown]
# For *deep learning*, the weight needn't fall on the matching word. In this grammar the two words always come together, and an annotation knows its neighbours, so either
# position can tell the decoder about both words. The largest weight shows where the decoder *looked*, not which word it *meant*. Choose a text, and point at a symbol:

# %% tags=["view"]
shown = []
for name, right_word in (("faced", "decaf"), ("bead", "daeb")):
    source = [*as_ids(name), EOS]
    ids = write(looking, source)
    said = [LETTERS[i - 3] if i > 2 else "EOS" for i in ids]
    shown.append(
        Looks(name, [*name, "EOS"], said, [*right_word, "EOS"], looks(looking, source, ids))
    )

# %% tags=["view"]
for said, right_one in ((ASKED, wanted), *task.test[1:4]):
    source = [*task.english.encode(said.split()), EOS]
    ids = write(translator, source)
    symbols = [*task.chinese.decode(ids), *["EOS"] * (EOS in ids)]
    right_words = [*right_one.split(), "EOS"]
    shown.append(
        Looks(said, [*said.split(), "EOS"], symbols, right_words, looks(translator, source, ids))
    )
alignment(shown, choose="Text")

# %% [markdown]
# A picture can be chosen to please; a number judges every sentence. Link each target word to the source word that gets its largest weight. The **alignment error rate** is,
# [nearly](deeper/04_attention.ipynb#seq-aer), the share of links that are wrong or missing. A stored experiment on 24,000 sentences measured it for four scores; *scaled
# dot* is tomorrow's. The baseline, which links along the diagonal, ignores the words.

# %% tags=["evidence"] mystnb={"figure": {"caption": "With all four scores, far fewer links are wrong or missing than along the diagonal. Means of three seeds (stored experiment), with lines from lowest to highest; the diagonal was measured on 1,000 sentences.", "name": "fig-aer"}, "image": {"alt": "Five bars. Those of dot, scaled dot, general and additive are all below 30 percent; the diagonal's is at nearly 80."}}
translated = experiments.load("translation")
scores = ("dot", "scaled dot", "general", "additive")
aer = {name: [100 * rate for rate in translated.column("aer", score=name)] for name in scores}
by_diagonal = diagonal_error(1000)
bars(aer | {"the diagonal": [100 * by_diagonal]}, "links wrong or missing (%)")
plt.show()

# %% [markdown]
# No one ever showed these networks a link. And some words need no attention: after the verb a decoder may know that 了 follows, wherever it looks.

# %% [markdown]
# ## Show someone
#
# *7 minutes.* People write dates in many ways; machines want one, such as 1993-02-14. The same `Translator`, working letter by letter, learns from 7,000 dates from twelve countries.
# It is told the country, since `3/5/04` is in March in one and in May in another.

# %% tags=["training"]
dates = DateTask(7_000, locale=True, seed=0)
texts, iso = dates.ids(dates.parts.train)
torch.manual_seed(0)
date_reader = trained(Translator(len(dates.texts), len(dates.dates)), texts, iso, epochs=2)


# %%
def reads(text, language="en_US"):
    """Read a date; languages: en_US en_GB de fr es it pt_BR nl pl ru tr zh."""
    source = [*dates.texts.encode([f"<{language}>", *text]), EOS]
    return "".join(dates.dates.decode(write(date_reader, source, MAX_LEN)))


# %% tags=["evidence"]
judged = [
    reads(example.text, example.locale) == example.target for example in dates.parts.test[:200]
]
observe(
    "It reads *14 de fevereiro de 1993* as *{one}*. Of 200 dates, it reads {right:.1%} without a mistake, and none of their days is in the training set.",
    **{"one": reads("14 de fevereiro de 1993", "pt_BR"), "right": sum(judged) / 200},
    holds=sum(judged) > 0.9 * 200,
)

# %% [markdown]
# In JupyterLab, `reads("…")` reads your own birthday. Here, a network of the same kind answers. It was trained for longer, and also on dates as people type them: in lower
# case, without accents or full stops. Type `3/5/04`, change the country, and point at what it writes to see where it looks.

# %% tags=["view"]
typed_date("dates", examples=shown_first(dates.parts.test))

# %% [markdown]
# The [deeper page](deeper/04_attention.ipynb#seq-dates) tests this network without the country, on formats it never saw, and against hand-written rules.

# %% [markdown]
# ## Where it breaks
#
# *2 minutes.* Attention has taken the burden of memory off the recurrence, but the recurrence is still there: a state can't be computed until the one before it is done.

# %% tags=["mechanism"] mystnb={"figure": {"caption": "Each of six states waits for the one before. Six contexts over the same six annotations don't wait for each other.", "name": "fig-waiting"}, "image": {"alt": "Above: six blue boxes, s1 to s6, joined by thick arrows into a chain; the last waits for five. Below: six pink boxes, h1 to h6, and above them six green boxes, c1 to c6; an arrow leads from each pink box to each green one."}}
mechanisms.waiting(6)
plt.show()

# %% [markdown]
# How long is the longest chain of operations that must run one after the other? We count it in autograd's record of the computation.


# %%
def chains(n):
    """Longest chains for n source and n target symbols: the book's model, and attention alone."""
    ids, x = torch.full((1, n), 3), torch.randn(1, n, 16, requires_grad=True)
    model = Seq2Seq(Seq2SeqConfig(9, 9, 16, 16, style="Luong"))
    e = additive_score(x, x, torch.eye(16), torch.eye(16), torch.ones(16))
    look = masked_softmax(e, torch.ones(n, n, dtype=torch.bool)) @ x
    return longest_chain(model(ids, torch.tensor([n]), ids).sum()), longest_chain(look.sum())


# %% tags=["evidence"] mystnb={"figure": {"caption": "When the length doubles, so does the model's chain; attention's own stays the same. Operations that must run one after the other; both axes are logarithmic.", "name": "fig-chains"}, "image": {"alt": "The line of the whole model rises straight; that of attention alone is flat."}}
lengths = [8, 16, 32, 64, 128]
whole, alone = zip(*map(chains, lengths))
lines = {"encoder, attention, decoder": (lengths, whole), "attention alone": (lengths, alone)}
ax = curves(lines, "symbols", "longest chain (operations)", logx=True, logy=True)
ax.set_xticks(lengths, lengths)
plt.show()

# %% tags=["evidence"]
observe(
    "With 64 symbols, the model's chain has {half} operations, and with 128 it has {full}; attention's own has {short} with 64 symbols and {long} with 128.",
    **{"half": whole[3], "full": whole[4], "short": alone[3], "long": alone[4]},
    holds=1.9 < whole[4] / whole[3] < 2.05 and alone[3] == alone[4],
)

# %% [markdown]
# A thousand processors can't shorten a chain. But attention's chain is as short for 128 positions as for 8. If attention does the work, what is the recurrence still
# for?

# %% [markdown]
# ## What we found
#
# *1 minute.* Two claims that you will often read, and our answers. The [deeper page](deeper/04_attention.ipynb) has five more.
#
# (claim-s2s-1)=

# %% tags=["evidence"]
six = {name: right[6 - 2].item() for name, right in of.items()}
claim(
    "s2s-1",
    "Yes: through a vector of 96 numbers, {short:.0%} of 6-letter words come out correctly, but only {long:.0%} of 12-letter ones; with attention, {both:.0%} of both.",
    short=six["vector of 96"],
    long=twelve["vector of 96"],
    both=min(six["attention"], twelve["attention"]),
    holds=lambda short, long, both: long < 0.8 and min(short, both) > 0.95,
    experiment="backwards",
    scale="12,000 words of 2 to 12 letters backwards, 20 passes; each at its best learning rate, three seeds",
)

# %% [markdown]
# (claim-s2s-2)=

# %% tags=["evidence"]
rates = [sum(of) / 300 for of in aer.values()]
claim(
    "s2s-2",
    "Yes, mostly: depending on the score, {best:.0%} to {worst:.0%} of the links read off the weights are wrong or missing; along the diagonal, {guessed:.0%} are.",
    best=min(rates),
    worst=max(rates),
    guessed=by_diagonal,
    holds=lambda best, worst, guessed: 0.02 < best < 0.2 and best < worst < guessed / 3,
    experiment="translation",
    scale="24,000 sentences of 3 to 25 words from our own grammar, four scores, three seeds",
)

# %% [markdown]
# ## Exercises
#
# Ten more are on the [deeper page](deeper/04_attention.ipynb), and all solutions are on [a page of their own](solutions/04_attention.ipynb).

# %% [markdown]
# ```{exercise} Count the score's weights
# :label: exercise-additive-score-parameters
#
# *Warm-up, 3 minutes.* An additive score compares queries of 64 numbers with keys of 128. Before they are added, both become vectors of 32 numbers. How many parameters do
# $W_a$, $U_a$ and $v$ have together? ([Solution](solutions/04_attention.ipynb#solution-additive-score-parameters))
# ```

# %%
my_count = None

check("additive_score_parameters", my_count)

# %% [markdown]
# ```{exercise} Predict: nowhere to look
# :label: exercise-fully-masked-query
#
# *Warm-up, 3 minutes.* Someone masks by filling in $-10^9$, in single precision, and then takes the softmax. By mistake, all eight keys of a query are masked. Their scores
# were 0, 1, …, 7. What weight does the first key get? ([Solution](solutions/04_attention.ipynb#solution-fully-masked-query))
# ```

# %%
my_weight = None

check("fully_masked_query", my_weight)

# %% [markdown]
# ```{exercise} Predict: which state is the query?
# :label: exercise-who-asks
#
# *Core, 5 minutes.* In a decoder of **Bahdanau's** style you change the symbol that it reads at step 3 (steps count from 0). Everything else stays the same. At which step
# do the attention weights first change? (And in Luong's?) ([Solution](solutions/04_attention.ipynb#solution-who-asks))
# ```

# %%
my_step = None

check("who_asks", my_step)

# %% [markdown]
# ```{exercise} Accuracy by sentence length
# :label: exercise-cost-by-length
#
# *Core, 10 minutes.* Two models have translated the same sentences, one with attention and one through a fixed vector. For each translation you know whether it is correct.
# For each **bucket of lengths**, return how much larger the share of correct translations is with attention. A bucket holds the lengths from one edge up to, but not
# including, the next. For an empty bucket, return 0. ([Solution](solutions/04_attention.ipynb#solution-cost-by-length))
# ```


# %%
def cost_by_length(attention, fixed, lengths, edges: list[int]) -> torch.Tensor:
    """Shapes: attention and fixed (B,) boolean, lengths (B,); returns one number per bucket.

    edges: the start of each bucket, and after them the end of the last.
    """
    raise NotImplementedError


check("cost_by_length", cost_by_length)

# %% [markdown]
# ```{exercise} Alignment error rate
# :label: exercise-alignment-error-rate
#
# *Core, 9 minutes.* The usual alignment has one link for each target symbol, but some symbols have two partners or none. So let **every weight that reaches a threshold**
# be a link. With these links $A$, the sure links $S$, and the possible links $P$, which include $S$, the alignment error rate {cite}`och2003systematic` is
#
# $$
# 1 - \frac{|A \cap S| + |A \cap P|}{|A| + |S|} .
# $$
#
# Return this rate. ([Solution](solutions/04_attention.ipynb#solution-alignment-error-rate))
# ```


# %%
def alignment_error(weights, sure, possible, threshold: float) -> float:
    """Shapes: weights (T, S), sure and possible (T, S) boolean; returns the rate."""
    raise NotImplementedError


check("alignment_error_rate", alignment_error)

# %% [markdown]
# ```{exercise} Greedy decoding, minimum length
# :label: exercise-minimum-length
#
# *Core, 10 minutes.* Decode greedily with a **minimum length**, and return the chosen ids: EOS may not be chosen before `min_len` other symbols have been written. The
# model is a table here. Row `log_p[last]` holds the log-probabilities of the symbol after `last`; the first symbol comes after BOS. A sentence ends with EOS, which is
# part of the result, or is cut off at `max_len` symbols. ([Solution](solutions/04_attention.ipynb#solution-minimum-length))
# ```


# %%
def greedy(log_p: torch.Tensor, min_len: int, max_len: int) -> list[int]:
    """Shapes: log_p (V, V); returns the chosen ids, at most max_len."""
    raise NotImplementedError


check("minimum_length", greedy)

# %% [markdown]
# ## Checklist and tomorrow

# %% tags=["view"]
points = {
    "build the decoder's input for training": "shift",
    "write the additive score, and turn scores into weights that leave out padding": "additive_score masked_softmax additive_score_parameters fully_masked_query",
    "say which state is the query in Bahdanau's decoder and in Luong's": "who_asks",
    "decode greedily, symbol by symbol, with a minimum length": "minimum_length",
    "measure what a fixed vector costs at each length": "cost_by_length",
    "read word alignments off attention weights, and measure their error": "alignment_error_rate",
}
checklist({point: ids.split() for point, ids in points.items()})

# %% [markdown]
# So a network can look something up: it keeps every state, compares each with a query, and averages those that match. **Tomorrow** the recurrence goes. A sequence attends
# to itself, at all positions at once. Then nothing tells it which symbol came first, so we have to.

# %% [markdown]
# ## Further reading
#
# - {cite:t}`bahdanau2015neural`, the paper to read first; look at its pictures of alignments.
# - {cite:t}`sutskever2014sequence`, what a vector can do with enough data, depth and time.
# - {cite:t}`luong2015effective`, which compares the scores, and global with local attention.
# - {cite:t}`koehn2017six`, what went wrong with such models in practice: long sentences, rare words, beams that were too wide.
