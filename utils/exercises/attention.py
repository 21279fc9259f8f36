"""Checks of Day 4, and the mistakes that they know."""

import math

import torch
from torch import Tensor
from torch.nn import functional as F

from utils.attention import AdditiveScore, masked_softmax, padding_mask
from utils.exercises.checking import Checker, Exercise, Mistake, Prediction, Stage
from utils.seq2seq import Seq2Seq, Seq2SeqConfig

PAD, BOS, EOS = 0, 1, 2


def random(*shape: int) -> Tensor:
    """Draw a tensor in double precision, in which mistakes can't hide behind rounding."""
    return torch.randn(*shape, dtype=torch.float64)


def sentences(vocab_size: int, width: int, *lengths: int) -> Tensor:
    """Draw ids (B, width) of symbols, with PAD behind each sentence's length."""
    ids = torch.randint(EOS + 1, vocab_size, (len(lengths), width))
    return ids.masked_fill(torch.arange(width) >= torch.tensor(lengths)[:, None], PAD)


# 4.2 ------------------------------------------------------------------------------------------


def weight_of_a_masked_key() -> float:
    scores = torch.arange(8.0)
    return scores.masked_fill(torch.ones(8, dtype=torch.bool), -1e9).softmax(0)[0].item()


# 4.3 ------------------------------------------------------------------------------------------


def teacher_pairs(ids: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
    return F.pad(ids, (1, 0), value=BOS), with_end(ids, lengths)


def with_end(ids: Tensor, lengths: Tensor) -> Tensor:
    return F.pad(ids, (0, 1)).scatter(1, lengths[:, None], EOS)


def teacher_pairs_feeding_the_end(ids, lengths):
    target = with_end(ids, lengths)
    return F.pad(target[:, :-1], (1, 0), value=BOS), target


def sentences_and_lengths(vocab_size: int, width: int, *lengths: int) -> tuple[Tensor, Tensor]:
    return sentences(vocab_size, width, *lengths), torch.tensor(lengths)


# 4.4 ------------------------------------------------------------------------------------------


def surprise(logits: Tensor, targets: Tensor) -> Tensor:
    """Return -log p of each target (B, T), padding included."""
    return -logits.log_softmax(-1).gather(-1, targets[..., None])[..., 0]


def perplexity(logits: Tensor, targets: Tensor) -> Tensor:
    return surprise(logits, targets)[targets != PAD].mean().exp()


def perplexity_mean_of_sentences(logits, targets):
    real = targets != PAD
    return ((surprise(logits, targets) * real).sum(1) / real.sum(1)).mean().exp()


def perplexity_over_positions(logits, targets):
    nll = -logits.log_softmax(1).gather(-1, targets[..., None])[..., 0]
    return nll[targets != PAD].mean().exp()


def predictions(vocab_size: int, width: int, *lengths: int) -> tuple[Tensor, Tensor]:
    return random(len(lengths), width, vocab_size), sentences(vocab_size, width, *lengths)


# 4.5 ------------------------------------------------------------------------------------------


def weights_where_not(scores: Tensor, blocked: Tensor) -> Tensor:
    return masked_softmax(scores, ~blocked[:, None])


def filled(value: float, axis: int = -1):
    def wrong(scores: Tensor, blocked: Tensor) -> Tensor:
        return scores.masked_fill(blocked[:, None], value).softmax(axis)

    return wrong


def scored(T: int, S: int, *lengths: int, offset: float = 0.0, grid: float = 0.25) -> tuple:
    """Draw scores on a grid, so that single precision holds them far from 0 too."""
    steps = torch.randint(-9, 10, (len(lengths), T, S), dtype=torch.float64)
    return offset + grid * steps, torch.arange(S) >= torch.tensor(lengths)[:, None]


# 4.6 ------------------------------------------------------------------------------------------


def cosine_weights(query: Tensor, keys: Tensor, beta: float) -> Tensor:
    return (beta * unit(query) @ unit(keys).mT).softmax(-1)


def unit(x: Tensor, axis: int = -1, power: int = 1) -> Tensor:
    return x / x.norm(dim=axis, keepdim=True) ** power


# 4.7 ------------------------------------------------------------------------------------------


def first_step_that_looks_elsewhere(style: str = "Bahdanau", changed: int = 3) -> int:
    with torch.random.fork_rng(devices=[]), torch.no_grad():
        torch.manual_seed(0)
        model = Seq2Seq(Seq2SeqConfig(8, 8, d_model=6, hidden_size=4, style=style)).double()
    source, target = torch.tensor([[3, 4, 5, 6, 7]]), torch.full((1, 8), 3)
    other = target.clone()
    other[0, changed] = 5
    with torch.no_grad():
        weights = [
            model(source, torch.tensor([5]), y, need_weights=True)[1] for y in (target, other)
        ]
    return int((weights[0] != weights[1]).any(-1)[0].nonzero()[0])


# 4.8 ------------------------------------------------------------------------------------------


def input_feeding(
    x, s, annotations, lengths, W_s, W_c, query="new", feed="attentional", keep_first=False
):
    """Run the decoder; the last three arguments are what mistakes change."""
    mask = padding_mask(lengths, annotations.shape[1])
    fed, context, steps = torch.zeros_like(s), None, []
    for x_t in x.unbind(1):
        old, s = s, torch.tanh(torch.cat([x_t, fed, s], dim=1) @ W_s.T)
        if context is None or not keep_first:
            q = s if query == "new" else old
            context = attend(q, annotations, mask)
        steps.append(torch.tanh(torch.cat([context, s], dim=1) @ W_c.T))
        fed = {"attentional": steps[-1], "state": s, "context": context, "zeros": 0 * s}[feed]
    return torch.stack(steps, dim=1)


def attend(query: Tensor, annotations: Tensor, mask: Tensor) -> Tensor:
    weights = masked_softmax(query[:, None] @ annotations.mT, mask)  # (B, 1, S)
    return (weights @ annotations)[:, 0]


def input_feeding_parts_exchanged(x, s, annotations, lengths, W_s, W_c):
    return input_feeding(x, s, annotations, lengths, W_s, W_c.roll(len(W_c), dims=1))


def input_feeding_over_padding(x, s, annotations, lengths, W_s, W_c):
    everything = torch.full_like(lengths, annotations.shape[1])
    return input_feeding(x, s, annotations, everything, W_s, W_c)


def decoder_inputs(T: int, S: int, D: int, N: int, *lengths: int) -> tuple:
    B = len(lengths)
    draw = random(B, T, D), random(B, N), random(B, S, N)
    return *draw, torch.tensor(lengths), random(N, D + 2 * N), random(N, 2 * N)


# 4.9 ------------------------------------------------------------------------------------------


def greedy(log_p: Tensor, min_len: int, max_len: int, start: int = BOS) -> list[int]:
    ids, last = [], start
    while len(ids) < max_len and last != EOS:
        choices = log_p[last].clone()
        if len(ids) < min_len:
            choices[EOS] = -math.inf
        last = int(choices.argmax())
        ids.append(last)
    return ids


def greedy_past_the_end(log_p, min_len, max_len):
    ids, last = [], BOS
    while len(ids) < max_len:
        row = log_p[last].clone()
        if len(ids) < min_len:
            row[EOS] = -math.inf
        last = int(row.argmax())
        ids.append(last)
    return ids


def greedy_from_the_start_each_time(log_p, min_len, max_len):
    return greedy(log_p[BOS].expand_as(log_p), min_len, max_len)


def greedy_ending_too_early(log_p, min_len, max_len):
    free = greedy(log_p, 0, max_len)
    return free if len(free) >= min_len else greedy(log_p, min_len, max_len)


def chain(vocab_size: int, *symbols: int) -> Tensor:
    """Draw log p (V, V) of the next symbol given the last, in which `symbols` follow each other."""
    logits = random(vocab_size, vocab_size)
    logits[:, :EOS] -= 20
    for last, following in zip((BOS, *symbols), symbols, strict=False):
        logits[last, following] += 8
    return logits.log_softmax(-1)


# 4.10 -----------------------------------------------------------------------------------------


def alignment_error(weights: Tensor, sure: Tensor, possible: Tensor, threshold: float) -> float:
    return error_of_links(weights >= threshold, sure, possible)


ON_THE_THRESHOLD = (
    torch.tensor([[0.5, 0.25, 0.25], [0.125, 0.75, 0.125]], dtype=torch.float64),
    torch.tensor([[1, 0, 0], [0, 1, 0]]).bool(),
    torch.tensor([[1, 1, 0], [0, 1, 0]]).bool(),
    0.25,
)


def error_of_links(links: Tensor, sure: Tensor, possible: Tensor) -> float:
    hits = (links & sure).sum().item() + (links & possible).sum().item()
    return 1 - hits / (links.sum().item() + sure.sum().item())


def alignment_error_of_the_largest(weights, sure, possible, threshold):
    links = F.one_hot(weights.argmax(1), weights.shape[1]).bool()
    return error_of_links(links, sure, possible)


def aligned(T: int, S: int) -> tuple[Tensor, Tensor, Tensor]:
    """Draw weights and links; where there is a link, the weight tends to be large."""
    sure = torch.rand(T, S) < 0.2
    possible = sure | (torch.rand(T, S) < 0.2)
    return (random(T, S) + 2 * possible).softmax(1), sure, possible


# 4.11 -----------------------------------------------------------------------------------------


def exact_match(predicted: Tensor, target: Tensor) -> float:
    return share(map(ended_alike, predicted.tolist(), target.tolist()))


def ended_alike(predicted: list[int], target: list[int]) -> bool:
    end = target.index(EOS) + 1
    return predicted[:end] == target[:end]


def share(right) -> float:
    right = list(right)
    return sum(right) / len(right)


def same_width(predicted: Tensor, target: Tensor) -> tuple[Tensor, Tensor]:
    width = max(predicted.shape[1], target.shape[1])
    return tuple(F.pad(ids, (0, width - ids.shape[1])) for ids in (predicted, target))


def exact_match_with_the_tail(predicted, target):
    predicted, target = same_width(predicted, target)
    return (predicted == target).all(1).double().mean().item()


def share_of_symbols(predicted, target):
    predicted, target = same_width(predicted, target)
    return (predicted == target)[target != PAD].double().mean().item()


def share_of_positions(predicted, target):
    predicted, target = same_width(predicted, target)
    return (predicted == target).double().mean().item()


def exact_match_of_beginnings(predicted, target):
    predicted, target = same_width(predicted, target)
    inner = (target != PAD) & (target != EOS)
    return ((predicted == target) | ~inner).all(1).double().mean().item()


def exact_match_of_what_both_have(predicted, target):
    width = min(predicted.shape[1], target.shape[1])
    predicted, target = predicted[:, :width], target[:, :width]
    return ((predicted == target) | (target == PAD)).all(1).double().mean().item()


# targets, and predictions that are right, right with a tail, wrong, too short and too long
GUESSES = [
    ([[4, 5, EOS, PAD]], [[4, 5, EOS, PAD]]),
    ([[4, 5, EOS, 7], [4, 6, EOS, PAD], [3, EOS, 5, 5]], [[4, 5, EOS], [4, 5, EOS], [3, EOS, PAD]]),
    ([[3, 4, 5, EOS], [6, 7, EOS, EOS]], [[3, 4, EOS], [6, 7, EOS]]),
    (
        [[3, 4, 5], [6, EOS, 4], [7, 5, EOS], [4, 4, 4]],
        [[3, 4, 5, EOS], [6, EOS, PAD, PAD], [7, 5, EOS, PAD], [4, EOS, PAD, PAD]],
    ),
    (  # the right symbols in another order, or behind another one
        [[5, 4, EOS, PAD], [7, 5, EOS, PAD], [6, 4, 5, EOS], [4, 4, EOS, 7]],
        [[4, 5, EOS], [6, 5, EOS], [4, 5, EOS], [4, 4, EOS]],
    ),
]

# 4.12 -----------------------------------------------------------------------------------------


def cost_by_length(attention: Tensor, fixed: Tensor, lengths: Tensor, edges: list[int]) -> Tensor:
    difference = attention.double() - fixed.double()
    bounds = zip(edges[:-1], edges[1:], strict=True)
    return mean_in_each(difference, [(low <= lengths) & (lengths < high) for low, high in bounds])


def mean_in_each(x: Tensor, buckets: list[Tensor]) -> Tensor:
    return torch.stack([x[bucket].sum() / bucket.sum().clamp(min=1) for bucket in buckets])


def cost_with_the_right_edge(attention, fixed, lengths, edges):
    return cost_by_length(attention, fixed, lengths - 1, edges)


def cost_up_to_each_edge(attention, fixed, lengths, edges):
    difference = attention.double() - fixed.double()
    return mean_in_each(difference, [lengths < high for high in edges[1:]])


def cost_of_all(attention, fixed, lengths, edges):
    difference = attention.double() - fixed.double()
    bounds = zip(edges[:-1], edges[1:], strict=True)
    inside = [(low <= lengths) & (lengths < high) for low, high in bounds]
    return torch.stack([difference[bucket].sum() / len(lengths) for bucket in inside])


def cost_undefined_where_empty(attention, fixed, lengths, edges):
    difference = attention.double() - fixed.double()
    bounds = zip(edges[:-1], edges[1:], strict=True)
    inside = [(low <= lengths) & (lengths < high) for low, high in bounds]
    return torch.stack([difference[bucket].mean() for bucket in inside])


def judged(n: int, longest: int, edges: list[int]) -> tuple:
    return torch.rand(n) < 0.8, torch.rand(n) < 0.5, torch.randint(1, longest + 1, (n,)), edges


# 4.13 -----------------------------------------------------------------------------------------


def coverage_weights(queries, keys, W, U, w, v, squash=torch.tanh, update=torch.add) -> Tensor:
    """Attend step by step; the last two arguments are what mistakes change."""
    covered, steps = keys.new_zeros(keys.shape[:2]), []
    for s in queries.unbind(1):
        hidden = squash((s @ W.T)[:, None] + keys @ U.T + covered[..., None] * w)  # (B, S, A)
        steps.append((hidden @ v).softmax(-1))
        covered = update(covered, steps[-1])
    return torch.stack(steps, dim=1)


def coverage_behind_the_squashing(queries, keys, W, U, w, v):
    covered, steps = keys.new_zeros(keys.shape[:2]), []
    for s in queries.unbind(1):
        hidden = ((s @ W.T)[:, None] + keys @ U.T).tanh() + covered[..., None] * w
        steps.append((hidden @ v).softmax(-1))
        covered = covered + steps[-1]
    return torch.stack(steps, dim=1)


def coverage_of_scores(queries, keys, W, U, w, v):
    covered, steps = keys.new_zeros(keys.shape[:2]), []
    for s in queries.unbind(1):
        scores = ((s @ W.T)[:, None] + keys @ U.T + covered[..., None] * w).tanh() @ v
        steps.append(scores.softmax(-1))
        covered = covered + scores
    return torch.stack(steps, dim=1)


def coverage_without_projections(queries, keys, W, U, w, v):
    eye = torch.eye(len(W), dtype=W.dtype)
    return coverage_weights(queries, keys, eye, eye, w, v)


def coverage_inputs(B: int, T: int, S: int, N: int) -> tuple:
    draw = random(B, T, N), random(B, S, N), random(N, N), random(N, N)
    return *draw, 3 * random(N), random(N)


# 4.14 -----------------------------------------------------------------------------------------


def random_language(seed: int) -> Tensor:
    """Draw log p (12, 12) of the next symbol, given the last; any symbol may be followed by EOS."""
    generator = torch.Generator().manual_seed(seed)
    logits = 1.5 * torch.randn(12, 12, dtype=torch.float64, generator=generator)
    logits[:, [PAD, BOS]] = -20  # are never said
    logits[:, EOS] = 1.0
    return logits.log_softmax(dim=-1)


def n_best(log_p: Tensor, width: int, max_len: int, penalty: float) -> list[list[int]]:
    alive, ended = [(0.0, [])], []
    for _ in range(max_len):
        best = sorted(extensions(log_p, alive), reverse=True)[:width]
        ended += [beam for beam in best if beam[1][-1] == EOS]
        alive = [beam for beam in best if beam[1][-1] != EOS]
    return ranked(ended, penalty)


def extensions(log_p: Tensor, alive: list) -> list:
    """Return all that may follow: pairs of log p and ids."""
    return [
        (score + added, [*ids, symbol])
        for score, ids in alive
        for symbol, added in enumerate(log_p[ids[-1] if ids else BOS].tolist())
    ]


def ranked(ended: list, penalty: float) -> list[list[int]]:
    def value(beam: tuple) -> float:
        score, ids = beam
        return score / max(len(ids), 1) ** penalty

    return [ids for _, ids in sorted(ended, key=value, reverse=True)]


def n_best_extending_the_ended(log_p, width, max_len, penalty):
    alive, ended = [(0.0, [])], []
    for _ in range(max_len):
        alive = sorted(extensions(log_p, alive), reverse=True)[:width]
        ended += [beam for beam in alive if beam[1][-1] == EOS]
    return ranked(ended, penalty)


def n_best_of_each_beam(log_p, width, max_len, penalty):
    alive, ended = [(0.0, [])], []
    for step in range(max_len):
        if step:
            best = [max(extensions(log_p, [beam])) for beam in alive]
        else:
            best = sorted(extensions(log_p, alive), reverse=True)[:width]
        ended += [beam for beam in best if beam[1][-1] == EOS]
        alive = [beam for beam in best if beam[1][-1] != EOS]
    return ranked(ended, penalty)


def n_best_forgetting(log_p, width, max_len, penalty):
    alive, ended = [(0.0, [])], []
    for _ in range(max_len):
        best = sorted(extensions(log_p, alive), reverse=True)[:width]
        ended = [beam for beam in best if beam[1][-1] == EOS] or ended
        alive = [beam for beam in best if beam[1][-1] != EOS]
    return ranked(ended, penalty)


def n_best_refilled(log_p, width, max_len, penalty):
    alive, ended = [(0.0, [])], []
    for _ in range(max_len):
        every = sorted(extensions(log_p, alive), reverse=True)
        ended += [beam for beam in every[:width] if beam[1][-1] == EOS]
        alive = [beam for beam in every if beam[1][-1] != EOS][:width]
    return ranked(ended, penalty)


def n_best_with_the_cut(log_p, width, max_len, penalty):
    alive, ended = [(0.0, [])], []
    for _ in range(max_len):
        best = sorted(extensions(log_p, alive), reverse=True)[:width]
        ended += [beam for beam in best if beam[1][-1] == EOS]
        alive = [beam for beam in best if beam[1][-1] != EOS]
    return ranked(ended + alive, penalty)


def n_best_of_chances(log_p, width, max_len, penalty):
    return n_best(log_p.exp(), width, max_len, penalty)


def language(vocab_size: int, ending: float) -> Tensor:
    """Draw log p (V, V) of the next symbol given the last."""
    logits = 1.5 * random(vocab_size, vocab_size)
    logits[:, :EOS] -= 20
    logits[:, EOS] += ending
    return logits.log_softmax(-1)


# 4.15 -----------------------------------------------------------------------------------------

SMALL_LANGUAGE = {"a": {"c": 0.4, "d": 0.35, "e": 0.25}, "b": {"c": 0.9, "d": 0.1}}


def best_of_beam(width: int) -> float:
    """Probability of the sentence that a beam of this width finds in the small language."""
    begun = sorted((("a", 0.6), ("b", 0.4)), key=lambda beam: -beam[1])[:width]
    return max(p * q for first, p in begun for q in SMALL_LANGUAGE[first].values())


check = Checker(
    Prediction(
        "4.1",
        lambda: sum(p.numel() for p in AdditiveScore(64, 128, 32).parameters()),
        {
            "v": Mistake("a vector makes one number of the 32 at the end.", 6144),
            "biases": Mistake("the two maps have no biases in the paper, and none here.", 6240),
            "one bias": Mistake("the sum has no bias in the paper, and none here.", 6208),
            "general": Mistake("that is the general score, a matrix from 128 to 64.", 8192),
            "query": Mistake("the keys have a matrix of their own.", 2080),
            "keys": Mistake("the query has a matrix of its own.", 4128),
        },
    ),
    Prediction(
        "4.2",
        weight_of_a_masked_key,
        {
            "nothing": Mistake(
                "that is what `masked_softmax` gives, on purpose; a bare softmax sums to 1 always.",
                0.0,
            ),
            "everything": Mistake("eight keys share the weight; none of them is special.", 1.0),
        },
    ),
    Exercise(
        "4.3",
        teacher_pairs,
        (
            Stage("one sentence", lambda: [sentences_and_lengths(9, 3, 3)]),
            Stage(
                "sentences with padding",
                lambda: [
                    sentences_and_lengths(9, 4, 4, 2, 3),
                    sentences_and_lengths(12, 5, 1, 5),
                    sentences_and_lengths(30, 4, 3, 1, 4, 2),
                ],
            ),
        ),
        {
            "answers fed": Mistake(
                "nothing is shifted: at each step the decoder is fed the very symbol that it is to "
                "say.",
                lambda ids, lengths: 2 * (with_end(ids, lengths),),
            ),
            "start predicted": Mistake(
                "the decoder is to say BOS first, which it has just been fed, and the end is "
                "missing.",
                lambda ids, lengths: 2 * (F.pad(ids, (1, 0), value=BOS),),
            ),
            "end behind padding": Mistake(
                "EOS stands in the last column: in shorter sentences there is padding before it.",
                lambda ids, lengths: (
                    F.pad(ids, (1, 0), value=BOS),
                    F.pad(ids, (0, 1), value=EOS),
                ),
            ),
            "end lost": Mistake(
                "the target has no EOS: how would the decoder learn to stop?",
                lambda ids, lengths: (F.pad(ids, (1, 0), value=BOS), F.pad(ids, (0, 1))),
            ),
            "end fed": Mistake(
                "EOS is also fed. That does no harm, as its answer is padding, but asked for is "
                "PAD.",
                teacher_pairs_feeding_the_end,
            ),
            "exchanged": Mistake(
                "input and target are exchanged.",
                lambda ids, lengths: teacher_pairs(ids, lengths)[::-1],
            ),
        },
        gradient=False,
    ),
    Exercise(
        "4.4",
        perplexity,
        (
            Stage("one sentence without padding", lambda: [predictions(5, 3, 3)]),
            Stage("one sentence with padding", lambda: [predictions(5, 4, 2)]),
            Stage(
                "logits of any size",
                lambda: [(1000 + random(2, 4, 7), sentences(7, 4, 4, 2))],
            ),
            Stage(
                "several sentences",
                lambda: [predictions(7, 5, 2, 5, 3), predictions(11, 4, 4, 1, 2, 4)],
            ),
        ),
        {
            "padding": Mistake(
                "padding counts as if it were to be predicted.",
                lambda logits, targets: surprise(logits, targets).mean().exp(),
            ),
            "denominator": Mistake(
                "you left padding out of the sum, and count it where you divide.",
                lambda logits, targets: (surprise(logits, targets) * (targets != PAD)).mean().exp(),
            ),
            "mean of sentences": Mistake(
                "a symbol of a short sentence weighs more than one of a long one: average once.",
                perplexity_mean_of_sentences,
            ),
            "base": Mistake(
                "the loss is in nats: its base is e, not 2.",
                lambda logits, targets: 2 ** surprise(logits, targets)[targets != PAD].mean(),
            ),
            "mean of perplexities": Mistake(
                "the mean goes inside of the exponential, not outside.",
                lambda logits, targets: surprise(logits, targets)[targets != PAD].exp().mean(),
            ),
            "loss": Mistake(
                "that is the loss; the perplexity is its exponential.",
                lambda logits, targets: surprise(logits, targets)[targets != PAD].mean(),
            ),
            "sum": Mistake(
                "the exponential of the sum is one over the whole text's probability: average "
                "first.",
                lambda logits, targets: surprise(logits, targets)[targets != PAD].sum().exp(),
            ),
            "axis": Mistake(
                "the probabilities sum to 1 over positions: they should over the vocabulary.",
                perplexity_over_positions,
            ),
        },
    ),
    Exercise(
        "4.5",
        weights_where_not,
        (
            Stage("nothing blocked", lambda: [scored(2, 3, 3)]),
            Stage("padding in two lengths", lambda: [scored(2, 5, 3, 5, 2)]),
            Stage("scores far below 0", lambda: [scored(3, 4, 2, 3, offset=-(2.0**15))]),
            Stage(
                "scores below any constant",
                lambda: [scored(3, 4, 3, 2, offset=-(2.0**31), grid=256)],
            ),
            Stage(
                "a source of nothing but padding",
                lambda: [scored(3, 5, 2, 0, 4, 5), scored(4, 3, 0, 2)],
            ),
        ),
        {
            "inverted": Mistake(
                "you let through what is blocked: the library's True means padding.",
                lambda scores, blocked: filled(-math.inf)(scores, ~blocked),
            ),
            "after": Mistake(
                "masked after the softmax, a row no longer sums to 1: what was blocked had its "
                "share already.",
                lambda scores, blocked: scores.softmax(-1) * ~blocked[:, None],
            ),
            "multiplied": Mistake(
                "a score of 0 is a score like any other: its exponential is 1.",
                lambda scores, blocked: (scores * ~blocked[:, None]).softmax(-1),
            ),
            "ten thousand": Mistake(
                "minus ten thousand is not below every score.",
                filled(-1e4),
            ),
            "a billion": Mistake(
                "minus a billion is not below every score, and no number at all in half precision.",
                filled(-1e9),
            ),
            "mean": Mistake(
                "where everything is blocked, you average over padding: nothing should be attended "
                "to.",
                filled(torch.finfo(torch.float64).min),
            ),
            "NaN": Mistake(
                "where everything is blocked, the softmax divides 0 by 0.",
                filled(-math.inf),
            ),
            "axis": Mistake(
                "your softmax runs over the queries: the weights of one query should sum to 1.",
                filled(-math.inf, axis=1),
            ),
            "ignored": Mistake(
                "what is blocked still gets weight.",
                lambda scores, blocked: scores.softmax(-1),
            ),
        },
    ),
    Exercise(
        "4.6",
        cosine_weights,
        (
            Stage("one query", lambda: [(random(1, 1, 4), random(1, 3, 4), 2.0)]),
            Stage(
                "several queries and sources",
                lambda: [
                    (random(2, 3, 6), random(2, 5, 6), 3.0),
                    (random(3, 4, 5), random(3, 2, 5), 0.5),
                    (random(4, 4, 3), random(4, 6, 3), 5.0),
                ],
            ),
        ),
        {
            "dot": Mistake(
                "that is the dot product: long keys win, whatever their direction.",
                lambda query, keys, beta: (beta * query @ keys.mT).softmax(-1),
            ),
            "keys": Mistake(
                "the query keeps its length, which sharpens the weights as β should alone.",
                lambda query, keys, beta: (beta * query @ unit(keys).mT).softmax(-1),
            ),
            "query": Mistake(
                "the keys keep their lengths, and long ones win.",
                lambda query, keys, beta: (beta * unit(query) @ keys.mT).softmax(-1),
            ),
            "squared": Mistake(
                "you divided by the sum of squares; a length is its root.",
                lambda query, keys, beta: (
                    beta * unit(query, power=2) @ unit(keys, power=2).mT
                ).softmax(-1),
            ),
            "positions": Mistake(
                "you took lengths over the positions: a vector's numbers stand on the last axis.",
                lambda query, keys, beta: (beta * unit(query, 1) @ unit(keys, 1).mT).softmax(-1),
            ),
            "axis": Mistake(
                "your softmax runs over the queries: the weights of one query should sum to 1.",
                lambda query, keys, beta: (beta * unit(query) @ unit(keys).mT).softmax(1),
            ),
            "scaled": Mistake(
                "a cosine lies between -1 and 1 in any width: it needs no √d.",
                lambda query, keys, beta: cosine_weights(
                    query, keys, beta / math.sqrt(query.shape[-1])
                ),
            ),
            "divided": Mistake(
                "a larger β is to make the weights sharper, and yours get flatter.",
                lambda query, keys, beta: cosine_weights(query, keys, 1 / beta),
            ),
            "scores": Mistake(
                "those are the scores; how do they become weights?",
                lambda query, keys, beta: beta * unit(query) @ unit(keys).mT,
            ),
        },
    ),
    Prediction(
        "4.7",
        first_step_that_looks_elsewhere,
        {
            "Luong": Mistake(
                "that is Luong's: his query has read the symbol. Which state asks in Bahdanau's?", 3
            ),
            "before": Mistake("what is fed at step 3 can't reach back in time.", 2),
            "all": Mistake("what is fed at step 3 can't reach back to the beginning.", 0),
            "two later": Mistake("that is one step more than it takes: which state asks?", 5),
        },
    ),
    Exercise(
        "4.8",
        input_feeding,
        (
            Stage("one step", lambda: [decoder_inputs(1, 3, 2, 4, 3)]),
            Stage("two steps", lambda: [decoder_inputs(2, 3, 2, 4, 3)]),
            Stage(
                "several steps and sources of two lengths",
                lambda: [decoder_inputs(4, 5, 3, 6, 5, 2), decoder_inputs(3, 4, 5, 2, 1, 4, 3)],
            ),
        ),
        {
            "first context": Mistake(
                "all steps get the context of the first: each step asks anew.",
                lambda *inputs: input_feeding(*inputs, keep_first=True),
            ),
            "old query": Mistake(
                "the query is the state before the step: that is Bahdanau's order.",
                lambda *inputs: input_feeding(*inputs, query="old"),
            ),
            "not fed": Mistake(
                "nothing of what was attended to goes into the next step: h̃ stays 0.",
                lambda *inputs: input_feeding(*inputs, feed="zeros"),
            ),
            "state fed": Mistake(
                "you feed the state a second time, where h̃ is wanted.",
                lambda *inputs: input_feeding(*inputs, feed="state"),
            ),
            "context fed": Mistake(
                "you feed the context; wanted is what became of context and state together.",
                lambda *inputs: input_feeding(*inputs, feed="context"),
            ),
            "padding": Mistake(
                "shorter sources are attended to beyond their ends.",
                input_feeding_over_padding,
            ),
            "exchanged": Mistake(
                "context and state are exchanged before W_c: the context comes first.",
                input_feeding_parts_exchanged,
            ),
        },
    ),
    Exercise(
        "4.9",
        greedy,
        (
            Stage("a sentence that ends by itself", lambda: [(chain(7, 5, 3, EOS, 4), 0, 9)]),
            Stage("a sentence that is cut off", lambda: [(chain(8, 5, 4, 6, 3, 7, EOS), 0, 3)]),
            Stage(
                "an end that comes too early",
                lambda: [
                    (chain(7, 6, EOS, 3), 1, 8),
                    (chain(7, 6, EOS, 3), 2, 8),
                    (chain(9, 5, 8, EOS, 6), 4, 7),
                    (chain(6, EOS, 5), 1, 4),
                ],
            ),
        ),
        {
            "past the end": Mistake(
                "you go on behind EOS.",
                greedy_past_the_end,
            ),
            "end left out": Mistake(
                "EOS is missing from the result: it is chosen like any other symbol.",
                lambda log_p, min_len, max_len: [
                    symbol for symbol in greedy(log_p, min_len, max_len) if symbol != EOS
                ],
            ),
            "start": Mistake(
                "you begin with the row of PAD: which symbol stands before the first?",
                lambda log_p, min_len, max_len: greedy(log_p, min_len, max_len, start=PAD),
            ),
            "not fed back": Mistake(
                "each step looks at the same row: what was chosen last is not fed back.",
                greedy_from_the_start_each_time,
            ),
            "minimum ignored": Mistake(
                "the sentence may end before it is long enough.",
                lambda log_p, min_len, max_len: greedy(log_p, 0, max_len),
            ),
            "end counted": Mistake(
                "`min_len` counts the symbols before EOS, not EOS itself.",
                lambda log_p, min_len, max_len: greedy(log_p, min_len - 1, max_len),
            ),
            "one too many": Mistake(
                "the sentence gets one symbol longer than it may.",
                lambda log_p, min_len, max_len: greedy(log_p, min_len, max_len + 1),
            ),
        },
        gradient=False,
    ),
    Exercise(
        "4.10",
        alignment_error,
        (
            Stage("a small alignment", lambda: [(*aligned(3, 4), 0.3)]),
            Stage("a weight on the threshold", lambda: [ON_THE_THRESHOLD]),
            Stage(
                "several alignments and thresholds",
                lambda: [(*aligned(6, 5), 0.2), (*aligned(5, 7), 0.4), (*aligned(6, 6), 0.15)],
            ),
        ),
        {
            "strict": Mistake(
                "a weight that is the threshold reaches it.",
                lambda weights, sure, possible, threshold: error_of_links(
                    weights > threshold, sure, possible
                ),
            ),
            "possible below": Mistake(
                "possible links need not be found: below the line stand the sure ones.",
                lambda weights, sure, possible, threshold: alignment_error(
                    weights, possible, sure, threshold
                ),
            ),
            "sure alone": Mistake(
                "a link that is possible is no error: you count it as one.",
                lambda weights, sure, possible, threshold: alignment_error(
                    weights, sure, sure, threshold
                ),
            ),
            "right": Mistake(
                "that is how much is right; the error is what is left of 1.",
                lambda weights, sure, possible, threshold: (
                    1 - alignment_error(weights, sure, possible, threshold)
                ),
            ),
            "largest": Mistake(
                "you link each target with its largest weight: here every weight that reaches the "
                "threshold makes a link.",
                alignment_error_of_the_largest,
            ),
            "precision": Mistake(
                "that looks only at links that were made; what of the sure ones that weren't?",
                lambda weights, sure, possible, threshold: (
                    1
                    - ((weights >= threshold) & possible).sum().item()
                    / (weights >= threshold).sum().item()
                ),
            ),
        },
        gradient=False,
    ),
    Exercise(
        "4.11",
        exact_match,
        (
            Stage(
                "one sentence",
                lambda: [tuple(map(torch.tensor, GUESSES[0]))],
            ),
            Stage(
                "symbols behind the end, sentences too short or too long, other widths",
                lambda: [tuple(map(torch.tensor, guesses)) for guesses in GUESSES[1:]],
            ),
        ),
        {
            "tail": Mistake(
                "what a decoder writes behind EOS is nothing that it says: don't compare it.",
                exact_match_with_the_tail,
            ),
            "symbols": Mistake(
                "that is the share of symbols; a sentence is right only as a whole.",
                share_of_symbols,
            ),
            "positions": Mistake(
                "that is a share of positions, padding among them.",
                share_of_positions,
            ),
            "beginnings": Mistake(
                "a sentence that goes on where it should end is not right: EOS must be said too.",
                exact_match_of_beginnings,
            ),
            "cut": Mistake(
                "you cut both to the shorter width, and what is missing counts as right.",
                exact_match_of_what_both_have,
            ),
        },
        gradient=False,
    ),
    Exercise(
        "4.12",
        cost_by_length,
        (
            Stage("one bucket", lambda: [judged(7, 4, [1, 5])]),
            Stage(
                "several buckets",
                lambda: [judged(40, 12, [1, 4, 8, 13]), judged(60, 20, [2, 5, 10, 15, 20])],
            ),
            Stage("an empty bucket", lambda: [judged(30, 8, [1, 4, 9, 20])]),
        ),
        {
            "right edge": Mistake(
                "a length on an edge belongs to the bucket that begins there.",
                cost_with_the_right_edge,
            ),
            "sign": Mistake(
                "the cost is what the fixed vector loses: yours has the other sign.",
                lambda attention, fixed, lengths, edges: cost_by_length(
                    fixed, attention, lengths, edges
                ),
            ),
            "all": Mistake(
                "you divide by all sentences; a share of a bucket is divided by the bucket's own.",
                cost_of_all,
            ),
            "up to": Mistake(
                "your buckets hold all that is shorter too: a long one hides behind many short.",
                cost_up_to_each_edge,
            ),
            "empty": Mistake(
                "an empty bucket gives 0 divided by 0; asked for is 0.",
                cost_undefined_where_empty,
            ),
        },
        gradient=False,
    ),
    Exercise(
        "4.13",
        coverage_weights,
        (
            Stage("one step, nothing covered", lambda: [coverage_inputs(1, 1, 3, 2)]),
            Stage("two steps", lambda: [coverage_inputs(1, 2, 3, 4)]),
            Stage(
                "several steps", lambda: [coverage_inputs(2, 4, 5, 3), coverage_inputs(3, 3, 4, 6)]
            ),
        ),
        {
            "last step": Mistake(
                "your coverage remembers one step: it should add up all of them.",
                lambda *inputs: coverage_weights(*inputs, update=lambda covered, weights: weights),
            ),
            "never": Mistake(
                "nothing is ever covered: that is additive attention as it was.",
                lambda *inputs: coverage_weights(*inputs, update=lambda covered, weights: covered),
            ),
            "scores": Mistake(
                "you add up the scores; what a position was given are the weights.",
                coverage_of_scores,
            ),
            "outside": Mistake(
                "the coverage comes in behind the tanh: it should go through it with the others.",
                coverage_behind_the_squashing,
            ),
            "no tanh": Mistake(
                "without tanh, the query adds one number to all scores, and the softmax drops it.",
                lambda *inputs: coverage_weights(*inputs, squash=lambda x: x),
            ),
            "no v": Mistake(
                "you sum over the hidden units: each should have a weight of its own, in v.",
                lambda queries, keys, W, U, w, v: coverage_weights(
                    queries, keys, W, U, w, torch.ones_like(v)
                ),
            ),
            "no projections": Mistake(
                "query and keys are added as they are; each needs its matrix first.",
                coverage_without_projections,
            ),
            "transposed": Mistake(
                "the matrices are transposed: W s is `s @ W.T` for states in rows.",
                lambda queries, keys, W, U, w, v: coverage_weights(queries, keys, W.T, U.T, w, v),
            ),
        },
    ),
    Exercise(
        "4.14",
        n_best,
        (
            Stage("a beam of one", lambda: [(chain(6, 4, 3, EOS), 1, 5, 0.0)]),
            Stage(
                "raw scores", lambda: [(language(6, 1.0), 3, 4, 0.0), (language(8, 2.0), 4, 5, 0.0)]
            ),
            Stage(
                "scores by length",
                lambda: [(language(7, 2.0), 3, 5, 1.0), (language(9, 2.0), 5, 6, 0.7)],
            ),
        ),
        {
            "ended extended": Mistake(
                "what has ended is extended further: behind EOS nothing comes.",
                n_best_extending_the_ended,
            ),
            "each beam": Mistake(
                "each beginning keeps one continuation; the best of *all* should stay, whoever's "
                "they are.",
                n_best_of_each_beam,
            ),
            "forgotten": Mistake(
                "what ended earlier is lost when something ends later.",
                n_best_forgetting,
            ),
            "raw": Mistake(
                "sentences of different lengths are compared by raw log p: the short ones win.",
                lambda log_p, width, max_len, penalty: n_best(log_p, width, max_len, 0.0),
            ),
            "mean": Mistake(
                "you divide by the length, whatever the penalty.",
                lambda log_p, width, max_len, penalty: n_best(log_p, width, max_len, 1.0),
            ),
            "refilled": Mistake(
                "places of what has ended are filled up again: here they stay empty.",
                n_best_refilled,
            ),
            "cut": Mistake(
                "what `max_len` cuts off has not ended, and does not compete.",
                n_best_with_the_cut,
            ),
            "chances": Mistake(
                "you add probabilities; along a sequence they multiply, and their logarithms add.",
                n_best_of_chances,
            ),
            "worst first": Mistake(
                "the worst comes first.",
                lambda log_p, width, max_len, penalty: n_best(log_p, width, max_len, penalty)[::-1],
            ),
        },
        gradient=False,
    ),
    Prediction(
        "4.15",
        lambda: best_of_beam(2),
        {
            "greedy": Mistake(
                "that is greedy decoding's: a beam of 2 keeps the second-best beginning, too.",
                best_of_beam(1),
            ),
            "beginning": Mistake("that is the beginning's; its continuation is to come.", 0.4),
            "best beginning": Mistake(
                "that is the best beginning's; the best whole begins differently.", 0.6
            ),
            "sum": Mistake("along a sentence probabilities multiply.", 1.3),
        },
    ),
)
