# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Solutions of Day 4
#
# First come the solutions of [Sequence to sequence, and attention](../04_attention.ipynb), then those of its [deeper page](../deeper/04_attention.ipynb).
# There is more than one correct solution. What matters is that the check passes and that you can explain why.

# %%
import convolution_to_attention  # is `utils` this book's?

import math
from statistics import mean

import torch
from torch.nn import functional as F

from utils.attention import AdditiveScore, padding_mask
from utils.exercises.attention import check
from utils.exercises.attention.beam_search_curse import random_language
from utils.seq2seq import BOS, EOS, PAD, Seq2Seq, Seq2SeqConfig
from utils.show.display import observe, table

# %% [markdown]
# (solution-shift)=
# ## The shifted target
#
# BOS comes first, and the last symbol is left out: the decoder has to write it, but never reads it. All rows move together, including the PAD of the shorter ones.


# %%
def shift(target):
    begin = torch.full_like(target[:, :1], BOS)
    return torch.cat([begin, target[:, :-1]], dim=1)


shift = check("shift", shift)

# %% [markdown]
# (solution-additive-score)=
# ## The additive score
#
# The two matrices act on queries and keys alone, so they are applied once to each, and not once for each pair. Then every query meets every key: the queries get a new axis for
# the keys, the keys one for the queries, and the sum stretches both. The tanh comes after the sum, and `@ v` turns M numbers into one.


# %%
def additive_score(query, keys, W_a, U_a, v):
    asked = (query @ W_a.T)[:, :, None]  # (B, T, 1, M)
    offered = (keys @ U_a.T)[:, None]  # (B, 1, S, M)
    return (asked + offered).tanh() @ v


additive_score = check("additive_score", additive_score)

# %% [markdown]
# Without the tanh, a query would add the same number to all of its scores. That doesn't change a softmax, so the query would have no influence.

# %%
query, keys = torch.tensor([[[3.0]], [[-3.0]]]), torch.tensor([[[1.0], [2.0]]]).repeat(2, 1, 1)
bare = query + keys.mT
print(bare.softmax(-1).tolist()[0] == bare.softmax(-1).tolist()[1])

# %% [markdown]
# (solution-masked-softmax)=
# ## Masked softmax
#
# A masked position gets $-\infty$ *before* the softmax, so that the others share all of the weight. Any finite number could be beaten by scores that are lower still. A row
# in which nothing is allowed would be NaN, so its scores become 0 first, and its weights 0 afterwards. Replacing the NaN at the end works, too, but only because $-\infty$
# was filled in: had it been added, the gradient would be NaN.


# %%
def masked_softmax(scores, mask):
    nothing = ~mask.any(dim=-1, keepdim=True)
    scores = scores.masked_fill(~mask, -math.inf).masked_fill(nothing, 0)
    return scores.softmax(dim=-1).masked_fill(nothing, 0)


masked_softmax = check("masked_softmax", masked_softmax)

# %% [markdown]
# (solution-additive-score-parameters)=
# ## Count the score's weights
#
# There is one matrix for the query, one for the keys, and a vector that turns 32 numbers into one. There are no biases.

# %%
my_count = 64 * 32 + 128 * 32 + 32
print(my_count)
assert my_count == sum(p.numel() for p in AdditiveScore(64, 128, 32).parameters())
check("additive_score_parameters", my_count)

# %% [markdown]
# (solution-fully-masked-query)=
# ## Predict: nowhere to look
#
# All eight scores are the same large negative number, and the softmax depends only on their differences. So the query averages over everything that it should not see, and
# no error is raised.

# %%
weights = torch.full((8,), -1e9).softmax(dim=0)
check("fully_masked_query", weights[0].item())

# %% [markdown]
# (solution-who-asks)=
# ## Predict: which state is the query?
#
# Bahdanau's query is $s_{t-1}$, the state *before* the symbol is read. The symbol of step 3 goes into $s_3$, which is the query at step 4. Luong's query is $s_t$, which has
# just read it.


# %%
def first_changed(style: str) -> int:
    """The first step whose weights change if another symbol is fed at step 3."""
    torch.manual_seed(0)
    model = Seq2Seq(Seq2SeqConfig(8, 8, d_model=6, hidden_size=4, style=style))
    source, lengths = torch.tensor([[3, 4, 5, 6, 7]]), torch.tensor([5])
    target_in = torch.full((2, 8), 3)
    target_in[1, 3] = 5
    _, weights = model(source.expand(2, -1), lengths.expand(2), target_in, need_weights=True)
    return (weights[0] - weights[1]).abs().amax(dim=1).gt(1e-6).nonzero()[0].item()


table([[style, first_changed(style)] for style in ("Bahdanau", "Luong")], ["style", "first step"])

# %%
check("who_asks", 4)

# %% [markdown]
# (solution-cost-by-length)=
# ## Accuracy by sentence length
#
# Both models have translated the same sentences, so the difference of the shares is the mean of the differences. `clamp` keeps an empty bucket from dividing by 0.


# %%
def cost_by_length(attention, fixed, lengths, edges: list[int]) -> torch.Tensor:
    difference = attention.double() - fixed.double()
    costs = []
    for low, high in zip(edges[:-1], edges[1:], strict=True):
        inside = (lengths >= low) & (lengths < high)
        costs.append(difference[inside].sum() / inside.sum().clamp(min=1))
    return torch.stack(costs)


check("cost_by_length", cost_by_length)

# %% [markdown]
# If symbols were wrong at random, equally often at all positions, a share $p$ of correct symbols would give $p^T$ correct sentences of length $T$. So some loss with
# length is to be expected. The bottleneck shows in what the fixed vector loses *beyond* that, in the same bucket and on the same sentences.

# %% [markdown]
# (solution-alignment-error-rate)=
# ## Alignment error rate
#
# Sure links have to be found, so their number is in the denominator. Possible links may be found, so they only count where a link was made.


# %%
def alignment_error(weights, sure, possible, threshold: float) -> float:
    links = weights >= threshold
    hits = (links & sure).sum().item() + (links & possible).sum().item()
    return 1 - hits / (links.sum().item() + sure.sum().item())


check("alignment_error_rate", alignment_error)

# %% [markdown]
# (solution-minimum-length)=
# ## Greedy decoding, minimum length
#
# A forbidden symbol gets $-\infty$ before the maximum is taken. The row of the table is that of the symbol chosen last.


# %%
def greedy(log_p: torch.Tensor, min_len: int, max_len: int) -> list[int]:
    ids, last = [], BOS
    while len(ids) < max_len and last != EOS:
        choices = log_p[last].clone()
        if len(ids) < min_len:
            choices[EOS] = -math.inf
        last = int(choices.argmax())
        ids.append(last)
    return ids


check("minimum_length", greedy)

# %% [markdown]
# (solution-beam-step)=
# ## A step of beam search
#
# `alive[:, None]` adds each beginning's $\log p$ to its own row. In the flattened tensor, candidate number $n$ continues beginning $\lfloor n / V \rfloor$ with symbol
# $n \bmod V$. All candidates compete: one beginning may continue in two ways, and another not at all.


# %%
def beam_step(alive, log_p):
    W, V = log_p.shape
    scores, places = (alive[:, None] + log_p).flatten().topk(W)
    return scores, places // V, places % V


check("beam_step", beam_step)

# %% [markdown]
# (solution-beam-of-two)=
# ## Predict: what a beam finds
#
# Greedy decoding takes *a*, and then *c*: 0.6 · 0.4. A beam of 2 keeps both beginnings, and *b c* is the better sentence: 0.4 · 0.9. It begins with the less probable
# symbol, so no search that keeps a single beginning can find it.

# %%
check("beam_of_two", 0.4 * 0.9)

# %% [markdown]
# (solution-teacher-forcing)=
# ## Teacher forcing: input and target
#
# The input begins with BOS. The target has EOS at position `lengths`, the first one after the sentence.


# %%
def teacher_pairs(ids: torch.Tensor, lengths: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    target = F.pad(ids, (0, 1), value=PAD)
    target[torch.arange(len(ids)), lengths] = EOS
    return F.pad(ids, (1, 0), value=BOS), target


check("teacher_forcing", teacher_pairs)

# %% [markdown]
# (solution-perplexity-of-targets)=
# ## Perplexity of a padded batch
#
# Select the real symbols first; a single mean over them is then all you need.


# %%
def perplexity(logits: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
    log_p = logits.log_softmax(dim=-1).gather(-1, targets[..., None])[..., 0]  # (B, T)
    return (-log_p[targets != PAD].mean()).exp()


check("perplexity_of_targets", perplexity)

# %% [markdown]
# (solution-blocked-keys)=
# ## Key padding mask
#
# Only $-\infty$ is below every score. A row of nothing else would become NaN (and so would its gradient, if $-\infty$ were added instead of filled in), so such a row gets other
# scores before the softmax and zeros after it.


# %%
def weights_where_not(scores: torch.Tensor, blocked: torch.Tensor) -> torch.Tensor:
    blocked = blocked[:, None]  # (B, 1, S): the same for all queries
    nothing = blocked.all(dim=-1, keepdim=True)
    scores = scores.masked_fill(blocked, -math.inf).masked_fill(nothing, 0.0)
    return scores.softmax(dim=-1).masked_fill(nothing, 0.0)


check("blocked_keys", weights_where_not)

# %% [markdown]
# (solution-cosine-score)=
# ## Cosine: look for a direction
#
# Divide each vector by its length, and the dot product is the cosine.


# %%
def cosine_weights(query: torch.Tensor, keys: torch.Tensor, beta: float) -> torch.Tensor:
    cosine = F.normalize(query, dim=-1) @ F.normalize(keys, dim=-1).mT
    return (beta * cosine).softmax(dim=-1)


check("cosine_score", cosine_weights)

# %% [markdown]
# The cosine finds a short key that points in the query's direction; with a dot product a long key nearby can win. The dot product, in turn, lets a key show by its length
# how much it matters, and lets a query be undecided.

# %% [markdown]
# (solution-exact-match)=
# ## Exact match
#
# As lists, sentences can be cut where they end, and lists of different lengths can be compared.


# %%
def exact_match(predicted: torch.Tensor, target: torch.Tensor) -> float:
    right = 0
    for ours, theirs in zip(predicted.tolist(), target.tolist(), strict=True):
        end = theirs.index(EOS) + 1
        right += ours[:end] == theirs[:end]
    return right / len(target)


check("exact_match", exact_match)

# %% [markdown]
# (solution-coverage)=
# ## Coverage: remember where you looked
#
# The coverage is that of the previous step, plus that step's weights. It goes through the tanh with the rest.


# %%
def coverage_weights(queries, keys, W, U, w, v) -> torch.Tensor:
    covered, steps = keys.new_zeros(keys.shape[:2]), []  # (B, S)
    for s in queries.unbind(dim=1):
        hidden = torch.tanh((s @ W.T)[:, None] + keys @ U.T + covered[..., None] * w)
        weights = (hidden @ v).softmax(dim=-1)
        covered = covered + weights
        steps.append(weights)
    return torch.stack(steps, dim=1)


check("coverage", coverage_weights)

# %% [markdown]
# Without coverage, a query that stays the same would look at the same position for ever. If coverage counts against a position, it moves on: here are four steps of one query over three
# keys.

# %%
query, keys = torch.ones(1, 4, 1), torch.tensor([[[1.0], [0.5], [0.0]]])
one = torch.ones(1)
rows = coverage_weights(query, keys, torch.zeros(1, 1), torch.ones(1, 1), -2 * one, 4 * one)[0]
table(
    [[t, *(f"{weight:.2f}" for weight in row)] for t, row in enumerate(rows.tolist())],
    ["step", "first key", "second key", "third key"],
)

# %% [markdown]
# (solution-input-feeding)=
# ## Input feeding
#
# Since $\tilde h_{t-1}$ goes into step $t$, the steps can no longer all run at once, as they can in Luong's model without it.


# %%
def input_feeding(x, s_0, annotations, lengths, W_s, W_c) -> torch.Tensor:
    mask = padding_mask(lengths, annotations.shape[1])
    s, fed, steps = s_0, torch.zeros_like(s_0), []
    for x_t in x.unbind(dim=1):
        s = torch.tanh(torch.cat([x_t, fed, s], dim=1) @ W_s.T)
        weights = masked_softmax(s[:, None] @ annotations.mT, mask)  # (B, 1, S)
        context = (weights @ annotations)[:, 0]
        fed = torch.tanh(torch.cat([context, s], dim=1) @ W_c.T)
        steps.append(fed)
    return torch.stack(steps, dim=1)


check("input_feeding", input_feeding)

# %% [markdown]
# (solution-beam-search-curse)=
# ## The beam search curse
#
# A beam is a list of pairs: the sum of $\log p$ so far, and the symbols. `sorted` compares the sums first.


# %%
def n_best(log_p: torch.Tensor, width: int, max_len: int, penalty: float) -> list[list[int]]:
    rows, alive, ended = log_p.tolist(), [(0.0, [])], []
    for _ in range(max_len):
        candidates = [
            (score + added, [*ids, symbol])
            for score, ids in alive
            for symbol, added in enumerate(rows[ids[-1] if ids else BOS])
        ]
        best = sorted(candidates, reverse=True)[:width]
        ended += [(score, ids) for score, ids in best if ids[-1] == EOS]
        alive = [(score, ids) for score, ids in best if ids[-1] != EOS]
    ended.sort(key=lambda beam: beam[0] / len(beam[1]) ** penalty, reverse=True)
    return [ids for _, ids in ended]


check("beam_search_curse", n_best)

# %% [markdown]
# We measure on the twenty languages of the exercise.


# %%
def best_length(width: int, penalty: float) -> float:
    """Mean length of the best sentence over twenty languages; one that never ends counts 20."""
    found = [n_best(random_language(seed), width, 20, penalty) for seed in range(20)]
    return mean(len(sentences[0]) if sentences else 20 for sentences in found)


widths = (1, 2, 4, 8, 16, 32, 64)
lengths = {penalty: [best_length(width, penalty) for width in widths] for penalty in (0.0, 1.0)}
table(
    [
        [width, *(f"{lengths[penalty][i]:.1f}" for penalty in lengths)]
        for i, width in enumerate(widths)
    ],
    ["width", "mean length, penalty 0", "penalty 1"],
)


# %% [markdown]
# For comparison, here is the length of sentences drawn from the languages themselves.


# %%
def drawn_length(seed: int) -> int:
    """Length of a sentence that is drawn symbol by symbol, at most 20."""
    p, generator = random_language(seed).exp(), torch.Generator().manual_seed(seed)
    last, length = BOS, 0
    while last != EOS and length < 20:
        last = torch.multinomial(p[last], 1, generator=generator).item()
        length += 1
    return length


drawn = mean(drawn_length(seed) for seed in range(200))
endless = [
    sum(not n_best(random_language(i), width, 20, 0.0) for i in range(20)) for width in (1, 2)
]
observe(
    "With raw scores the widest beam's best sentence has {raw:.1f} symbols; with a penalty of 1 it has {divided:.1f}. A sentence drawn at random has {drawn:.1f}. At widths of 1 and 2, {one} and {two} of the twenty languages never end.",
    **{"raw": lengths[0.0][-1], "divided": lengths[1.0][-1], "drawn": drawn},
    **{"one": endless[0], "two": endless[1]},
    holds=lengths[0.0][-1] < 2
    and drawn > 5
    and lengths[1.0][-1] > 1.5 * drawn
    and min(endless) > 10,
)

# %% [markdown]
# So the better the search, the worse its result: each further symbol multiplies the probability by something below 1, and the most probable sentence of all says next to
# nothing. A typical sentence is one of a great many long ones, each of them less probable. {cite:t}`stahlberg2019nmt` found the same in real translation systems: for more
# than half of the sentences the exact maximum was the empty one.
#
# A narrow beam is no cure: at widths of 1 and 2 most of these languages run in a circle and never end, which counts as 20 here. Nor does a penalty of 1 repair the ranking.
# It reverses the error: the best sentences are now far longer than drawn ones.
