"""Day 4's exercises: other right answers pass, and wrong ones are called by their names."""

import math

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from utils.attention import masked_softmax, padding_mask
from utils.exercises.attention import (
    beam_search_curse,
    blocked_keys,
    check,
    cosine_score,
    coverage,
    input_feeding,
    perplexity_of_targets,
    teacher_forcing,
)
from utils.exercises.attention.alignment_error_rate import alignment_error
from utils.seq2seq import BOS, EOS, PAD, shift
from utils.training.metrics import alignment_error_rate


def draw(*shape: int, seed: int = 0) -> torch.Tensor:
    return torch.randn(*shape, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))


def verdict(id: str, attempt) -> tuple[bool | None, str]:
    return check.exercises[id].judge(attempt)


def sentence(id: str, mistake: str) -> str:
    return check.exercises[id].mistakes[mistake].says


# The references, held to the library and to definitions written out -------------------------------


def test_the_pairs_are_those_of_the_books_shift_but_for_the_fed_end():
    ids, lengths = torch.tensor([[5, 6, 7], [8, PAD, PAD]]), torch.tensor([3, 1])
    given, target = teacher_forcing.teacher_pairs(ids, lengths)
    assert torch.equal(shift(target)[given != PAD], given[given != PAD])
    assert target.tolist() == [[5, 6, 7, EOS], [8, EOS, PAD, PAD]]


def test_perplexity_is_the_exponential_of_the_librarys_cross_entropy():
    logits, targets = draw(2, 4, 7), torch.tensor([[3, 4, 5, 6], [4, EOS, PAD, PAD]])
    expected = F.cross_entropy(logits.mT, targets, ignore_index=PAD).exp()
    torch.testing.assert_close(perplexity_of_targets.perplexity(logits, targets), expected)


def test_the_weights_are_the_librarys_where_it_has_any():
    library = nn.MultiheadAttention(4, 1, bias=False, batch_first=True).double()
    query, keys = draw(2, 3, 4), draw(2, 5, 4, seed=1)
    blocked = torch.tensor([[False] * 3 + [True] * 2, [False] * 5])
    _, expected = library(query, keys, keys, key_padding_mask=blocked)
    W_q, W_k, _ = library.in_proj_weight.chunk(3)
    scores = (query @ W_q.T) @ (keys @ W_k.T).mT / math.sqrt(4)
    torch.testing.assert_close(blocked_keys.weights_where_not(scores, blocked), expected)


def test_the_length_of_a_vector_changes_no_cosine():
    query, keys = draw(2, 3, 4), draw(2, 5, 4, seed=1)
    got = cosine_score.cosine_weights(3 * query, keys * draw(2, 5, 1, seed=2).exp(), 2.0)
    torch.testing.assert_close(got, cosine_score.cosine_weights(query, keys, 2.0))


def test_input_feeding_looks_at_no_padding_and_only_back():
    x, s_0, annotations = draw(2, 4, 3), draw(2, 5), draw(2, 6, 5)
    lengths, W_s, W_c = torch.tensor([6, 2]), draw(5, 13), draw(5, 10)
    whole = input_feeding.input_feeding(x, s_0, annotations, lengths, W_s, W_c)
    cut = input_feeding.input_feeding(
        x[1:, :3], s_0[1:], annotations[1:, :2], lengths[1:], W_s, W_c
    )
    torch.testing.assert_close(whole[1:, :3], cut)


def test_coverage_is_the_sum_of_the_rows_above():
    queries, keys, W, U, w, v = coverage.drawn(2, 4, 5, 3)
    weights = coverage.coverage_weights(queries, keys, W, U, w, v)
    above = torch.cat([torch.zeros(2, 1, 5), weights[:, :-1].cumsum(1)], dim=1)[..., None]
    hidden = ((queries @ W.T)[:, :, None] + (keys @ U.T)[:, None] + above * w).tanh()
    torch.testing.assert_close((hidden @ v).softmax(-1), weights)


def test_the_error_rate_is_that_of_the_books_links():
    weights, sure = draw(5, 6).softmax(1), draw(5, 6, seed=1) > 1
    possible = sure | (draw(5, 6, seed=2) > 1)
    links = [{tuple(i) for i in x.nonzero().tolist()} for x in (weights >= 0.2, sure, possible)]
    expected = alignment_error_rate(*([part] for part in links))
    assert alignment_error(weights, sure, possible, 0.2) == pytest.approx(expected)


@pytest.mark.parametrize("penalty", [0.0, 1.0])
def test_a_beam_that_keeps_everything_ranks_all_sentences(penalty):
    log_p = draw(5, 5).log_softmax(-1)
    alive, every = [[]], []
    for _ in range(4):
        longer = [[*ids, symbol] for ids in alive for symbol in range(5)]
        alive = [ids for ids in longer if ids[-1] != EOS]
        every += [ids for ids in longer if ids[-1] == EOS]

    def value(ids: list[int]) -> float:
        steps = zip([BOS, *ids], ids, strict=False)
        return sum(log_p[last, following].item() for last, following in steps) / len(ids) ** penalty

    found = beam_search_curse.n_best(log_p, 5**4, 4, penalty)
    assert sorted(found) == sorted(every)
    values = [value(ids) for ids in found]
    assert values == pytest.approx(sorted(values, reverse=True))  # some have equal steps


# Right answers, written differently ---------------------------------------------------------------


def pairs_by_loop(ids, lengths):
    B, T = ids.shape
    given, target = torch.full((2, B, T + 1), PAD)
    for b, length in enumerate(lengths.tolist()):
        given[b, 0], given[b, 1 : length + 1] = BOS, ids[b, :length]
        target[b, :length], target[b, length] = ids[b, :length], EOS
    return given, target


def pairs_as_lists(ids, lengths):
    rows = [row[:n] for row, n in zip(ids.tolist(), lengths.tolist(), strict=True)]
    rest = [[PAD] * (ids.shape[1] - len(row)) for row in rows]
    both = list(zip(rows, rest, strict=True))
    return [
        torch.tensor([[BOS, *row, *pad] for row, pad in both]),
        torch.tensor([[*row, EOS, *pad] for row, pad in both]),
    ]


@torch.no_grad()
def perplexity_by_loop(logits, targets):
    total, count = torch.zeros(()), 0
    for row, target in zip(logits.flatten(0, 1), targets.flatten().tolist(), strict=True):
        if target != PAD:
            total += row.logsumexp(0) - row[target]
            count += 1
    return torch.exp(total / count)


def perplexity_by_mask(logits, targets):
    real = (targets != PAD).float()
    shifted = logits - logits.amax(-1, keepdim=True)
    p = shifted.exp() / shifted.exp().sum(-1, keepdim=True)
    log_p = p.log().gather(2, targets.unsqueeze(2)).squeeze(2)
    return torch.exp(-(log_p * real).sum() / real.sum())


def weights_by_loop(scores, blocked):
    weights = torch.zeros(scores.shape)
    for b in range(len(scores)):
        if not blocked[b].all():
            weights[b][:, ~blocked[b]] = scores[b][:, ~blocked[b]].softmax(-1).float()
    return weights


def weights_by_powers(scores, blocked):
    allowed = ~blocked[:, None].expand_as(scores)
    lowest = torch.finfo(scores.dtype).min
    top = torch.where(allowed, scores, lowest).amax(-1, keepdim=True)
    powers = torch.where(allowed, scores - top, -math.inf).exp()
    return powers / powers.sum(-1, keepdim=True).clamp(min=1)  # the largest power is 1


def weights_without_nan(scores, blocked):  # nothing that was filled in has a gradient
    return scores.masked_fill(blocked[:, None], -math.inf).softmax(-1).nan_to_num()


def cosines_by_the_library(query, keys, beta):
    cosine = F.cosine_similarity(query[:, :, None], keys[:, None], dim=-1)
    return torch.softmax(cosine * beta, dim=2)


def cosines_by_loop(query, keys, beta):
    weights = torch.zeros(len(query), query.shape[1], keys.shape[1])
    for b, q in enumerate(query):
        for t, one in enumerate(q):
            scores = [beta * (one @ k) / (one.dot(one) * k.dot(k)).sqrt() for k in keys[b]]
            weights[b, t] = torch.stack(scores).softmax(0)
    return weights


def fed_by_rows(x, s_0, annotations, lengths, W_s, W_c):
    rows = []
    for x_b, s, h, length in zip(x, s_0, annotations, lengths.tolist(), strict=True):
        fed, steps = torch.zeros(len(s)), []
        for x_t in x_b:
            s = (W_s @ torch.cat([x_t, fed.to(s.dtype), s])).tanh()
            weights = (h[:length] @ s).softmax(0)
            fed = (W_c @ torch.cat([weights @ h[:length], s])).tanh()
            steps.append(fed)
        rows.append(torch.stack(steps))
    return torch.stack(rows)


def fed_into_zeros(x, s_0, annotations, lengths, W_s, W_c):
    B, T, _ = x.shape
    out, s, fed = torch.zeros(B, T, s_0.shape[1]), s_0, torch.zeros_like(s_0)
    for t in range(T):
        s = torch.tanh(F.linear(torch.cat([x[:, t], fed, s], -1), W_s))
        weights = masked_softmax(
            torch.einsum("bsn,bn->bs", annotations, s),
            padding_mask(lengths, annotations.shape[1])[:, 0],
        )
        context = torch.einsum("bs,bsn->bn", weights, annotations)
        fed = torch.tanh(F.linear(torch.cat([context, s], -1), W_c))
        out[:, t] = fed
    return out


def greedy_by_sorting(log_p, min_len, max_len):
    ids = [BOS]
    for step in range(max_len):
        order = log_p[ids[-1]].argsort(descending=True).tolist()
        if step < min_len:
            order.remove(EOS)
        ids += order[:1]
        if ids[-1] == EOS:
            break
    return ids[1:]


def greedy_in_place(log_p, min_len, max_len):
    log_p = log_p.clone()
    ending, ids, last = log_p[:, EOS].clone(), [], BOS
    log_p[:, EOS] = float("-inf")
    while len(ids) < max_len:
        if len(ids) == min_len:
            log_p[:, EOS] = ending
        last = log_p[last].max(0).indices.item()
        ids.append(last)
        if last == EOS:
            break
    return tuple(ids)


def error_by_sets(weights, sure, possible, threshold):
    links = {(t, s) for t, row in enumerate(weights.tolist()) for s, x in enumerate(row)}
    made = {(t, s) for t, s in links if weights[t, s] >= threshold}
    S, P = ({link for link in links if x[link]} for x in (sure, possible))
    return 1 - (len(made & S) + len(made & P)) / (len(made) + len(S))


def error_by_numbers(weights, sure, possible, threshold):
    links = (weights >= threshold).float()
    return 1 - ((links * sure).sum() + (links * possible).sum()) / (links.sum() + sure.sum())


def matches_by_tensors(predicted, target):
    width = target.shape[1]
    predicted = F.pad(predicted, (0, max(0, width - predicted.shape[1])), value=-1)[:, :width]
    return ((predicted == target) | (target == PAD)).all(1).float().mean()


def matches_by_ends(predicted, target):
    def said(row):
        row = row.tolist()
        return row[: row.index(EOS)] if EOS in row else None

    right = [said(a) == said(b) for a, b in zip(predicted, target, strict=True)]
    return sum(right) / len(right)


def costs_by_loop(attention, fixed, lengths, edges):
    costs = torch.zeros(len(edges) - 1)
    for i in range(len(edges) - 1):
        inside = [j for j, n in enumerate(lengths.tolist()) if n in range(edges[i], edges[i + 1])]
        if inside:
            costs[i] = attention[inside].float().mean() - fixed[inside].float().mean()
    return costs


def costs_by_bucket(attention, fixed, lengths, edges):
    bucket = torch.bucketize(lengths, torch.tensor(edges), right=True)  # 0 lies before all buckets
    total = torch.zeros(len(edges) + 1).index_add(0, bucket, attention.float() - fixed.float())
    return (total / bucket.bincount(minlength=len(edges) + 1).clamp(min=1))[1:-1]


def covered_in_one_tensor(queries, keys, W, U, w, v):
    (B, T, _), S = queries.shape, keys.shape[1]
    weights = torch.zeros(B, T, S)
    for t in range(T):
        covered = weights[:, :t].sum(1)[..., None]
        hidden = torch.tanh(F.linear(queries[:, t, None], W) + F.linear(keys, U) + w * covered)
        weights[:, t] = torch.softmax(hidden @ v, 1)
    return weights


def covered_as_a_list(queries, keys, W, U, w, v):
    weights = []
    for t in range(queries.shape[1]):
        covered = sum(weights) if weights else torch.zeros(len(keys), keys.shape[1])
        hidden = torch.einsum("nm,bm->bn", W, queries[:, t])[:, None] + keys @ U.mT
        weights.append(((hidden + covered.unsqueeze(2) * w).tanh() * v).sum(2).softmax(1))
    return torch.stack(weights, 1)


def best_by_topk(log_p, width, max_len, penalty):
    V = len(log_p)
    scores, beams, ended = torch.zeros(1, dtype=log_p.dtype), [[BOS]], []
    for _ in range(max_len):
        if not beams:
            break
        every = (scores[:, None] + log_p[[ids[-1] for ids in beams]]).flatten()
        top = every.topk(min(width, len(every)))
        longer = [
            (score, [*beams[i // V], i % V])
            for score, i in zip(top.values.tolist(), top.indices.tolist(), strict=True)
        ]
        ended += [(s / (len(ids) - 1) ** penalty, ids[1:]) for s, ids in longer if ids[-1] == EOS]
        alive = [(s, ids) for s, ids in longer if ids[-1] != EOS]
        scores, beams = torch.tensor([s for s, _ in alive]).double(), [ids for _, ids in alive]
    return [ids for _, ids in sorted(ended, key=lambda beam: -beam[0])]


def by_torch(masked: float):
    return torch.full((8,), masked).softmax(0)[0].item()


RIGHT = [
    *[
        ("additive_score_parameters", 6176),
        ("fully_masked_query", 0.125),
        ("fully_masked_query", 1 / 8),
        ("fully_masked_query", by_torch(-1e9)),
        ("who_asks", 4),
    ],
    *[("teacher_forcing", pairs_by_loop), ("teacher_forcing", pairs_as_lists)],
    *[("perplexity_of_targets", perplexity_by_loop), ("perplexity_of_targets", perplexity_by_mask)],
    *[
        ("blocked_keys", weights_by_loop),
        ("blocked_keys", weights_by_powers),
        ("blocked_keys", weights_without_nan),
    ],
    *[("cosine_score", cosines_by_the_library), ("cosine_score", cosines_by_loop)],
    *[("input_feeding", fed_by_rows), ("input_feeding", fed_into_zeros)],
    *[("minimum_length", greedy_by_sorting), ("minimum_length", greedy_in_place)],
    *[("alignment_error_rate", error_by_sets), ("alignment_error_rate", error_by_numbers)],
    *[("exact_match", matches_by_tensors), ("exact_match", matches_by_ends)],
    *[("cost_by_length", costs_by_loop), ("cost_by_length", costs_by_bucket)],
    *[("coverage", covered_in_one_tensor), ("coverage", covered_as_a_list)],
    *[("beam_search_curse", best_by_topk), ("beam_of_two", 0.36), ("beam_of_two", 0.4 * 0.9)],
]


@pytest.mark.parametrize(("id", "attempt"), RIGHT)
def test_another_right_answer_passes(id, attempt):
    assert verdict(id, attempt) == (True, "correct.")


def read_without_ends(target):
    read = shift(target)
    return read.masked_fill(read == EOS, PAD)


def best_of_each_first(alive, log_p):
    W = len(alive)
    best, symbols = log_p.topk(W, dim=1)  # no more of each can be among the best of all
    scores, places = (alive[:, None] + best).flatten().topk(W)
    return scores, places // W, symbols[places // W, places % W]


@pytest.mark.parametrize(
    ("id", "attempt"), [("shift", read_without_ends), ("beam_step", best_of_each_first)]
)
def test_a_right_answer_passes_that_reads_or_sorts_otherwise(id, attempt):
    assert verdict(id, attempt) == (True, "correct.")


# Known mistakes, written differently --------------------------------------------------------------


def overwritten(ids, lengths):
    given, target = pairs_by_loop(ids, lengths)
    for row, length in zip(target, lengths.tolist(), strict=True):
        row[length - 1], row[length] = EOS, PAD
    return given, target


def perplexities_of_sentences(logits, targets):
    each = [
        F.cross_entropy(row, target, ignore_index=PAD).exp()
        for row, target in zip(logits, targets, strict=True)
    ]
    return sum(each) / len(each)


def by_naive_softmax(logits, targets):
    p = logits.exp() / logits.exp().sum(-1, keepdim=True)
    log_p = p.log().gather(2, targets.unsqueeze(2)).squeeze(2)
    return torch.exp(-log_p[targets != PAD].mean())


def by_naive_logarithm(logits, targets):
    log_p = logits - logits.exp().sum(-1, keepdim=True).log()
    log_p = log_p.gather(2, targets.unsqueeze(2)).squeeze(2)
    return torch.exp(-log_p[targets != PAD].mean())


def with_a_mask_of_numbers(scores, blocked):
    return torch.softmax(scores + blocked.unsqueeze(1) * -1e9, dim=-1)


def renormalised(scores, blocked):
    weights = scores.softmax(-1).masked_fill(blocked.unsqueeze(1), 0.0)
    return F.normalize(weights, p=1, dim=-1, eps=0.0)


def greedy_by_loop(log_p, min_len, max_len, late=0, short=0, begun=()):
    ids, last = list(begun), BOS
    for step in range(max_len - short):
        row = log_p[last].tolist()
        if step < min_len + late:
            row[EOS] = -math.inf
        last = max(range(len(row)), key=row.__getitem__)
        ids.append(last)
        if last == EOS:
            break
    return ids


def costs_between(inside):
    def costs(attention, fixed, lengths, edges):
        result = []
        for low, high in zip(edges[:-1], edges[1:], strict=True):
            rows = inside(low, lengths, high).nonzero()[:, 0].tolist()
            gained = sum(int(attention[i]) - int(fixed[i]) for i in rows)
            result.append(gained / max(1, len(rows)))
        return torch.tensor(result)

    return costs


def best_by_length_without_end(log_p, width, max_len, penalty):
    found = best_by_topk(log_p, width, max_len, 0.0)

    def value(ids):
        scores = [log_p[a, b].item() for a, b in zip([BOS, *ids], ids, strict=False)]
        return sum(scores) / len(ids[:-1]) ** penalty

    return sorted(found, key=value, reverse=True)


def filled(value, then=lambda weights, mask: weights, turned=False):
    def weights(scores, mask):
        hidden = mask if turned else torch.logical_not(mask)
        return then(torch.where(hidden, value, scores).softmax(-1), mask)

    return weights


def powers_shared_out(scores, mask):
    powers = torch.exp(scores) * mask.double()
    return powers / torch.maximum(powers.sum(-1, keepdim=True), torch.tensor(1e-9))


def greedy_with_certainty(log_p, min_len, max_len):
    ids = [BOS]
    while len(ids) <= max_len and ids[-1] != EOS:
        row = log_p[ids[-1]].tolist()
        row[EOS] = 0.0 if len(ids) <= min_len else row[EOS]
        ids.append(row.index(max(row)))
    return ids[1:]


def greedy_with_an_end(log_p, min_len, max_len):
    ids = greedy_by_loop(log_p, min_len, max_len)
    return ids + [EOS] * (EOS not in ids)


def cost_of_sums(sign=1, divide=False):
    def costs(attention, fixed, lengths, edges):
        result = []
        for low, high in zip(edges[:-1], edges[1:], strict=True):
            inside = (lengths >= low) & (lengths < high)
            gained = attention[inside].sum() + sign * fixed[inside].sum()
            result.append(gained / max(1, inside.sum()) if divide else gained.double())
        return torch.stack(result)

    return costs


NAMED = [
    ("shift", "begun_at_the_end", lambda y: F.pad(y[:, :-1], (0, 1), value=BOS)),
    (
        "additive_score",
        "one_matrix",
        lambda q, k, W, U, v: (q[:, :, None] @ W.T + (k @ W.T)[:, None]).tanh() @ v,
    ),
    ("masked_softmax", "filled_upside_down", filled(-math.inf, turned=True)),
    ("masked_softmax", "a_billion_then_masked", filled(-1e9, lambda weights, mask: weights * mask)),
    (
        "masked_softmax",
        "a_billion_taken_away",
        lambda s, m: torch.softmax(s + (1 - m.double()) * -1e9, -1),
    ),
    (
        "masked_softmax",
        "exponentials_vanish",
        lambda s, m: F.normalize(s.exp() * m, p=1, dim=-1, eps=0.0),
    ),
    ("masked_softmax", "exponentials_vanish_unseen", powers_shared_out),
    ("fully_masked_query", "not_a_number", math.nan),
    ("beam_of_two", "last_symbol", 0.9),
    ("beam_of_two", "behind_the_other", 0.54),
    ("cost_by_length", "counts", cost_of_sums(-1)),
    ("cost_by_length", "attention_alone", cost_of_sums(0, divide=True)),
    ("minimum_length", "certain_to_end", greedy_with_certainty),
    ("minimum_length", "ended_though_cut_off", greedy_with_an_end),
    ("fully_masked_query", "mask_forgotten", torch.arange(8.0).softmax(0)[0].item()),
    ("fully_masked_query", "mask_forgotten", 0.00058),
    ("teacher_forcing", "last_symbol_overwritten", overwritten),
    ("perplexity_of_targets", "mean_of_perplexities_of_sentences", perplexities_of_sentences),
    ("perplexity_of_targets", "overflow", by_naive_softmax),
    ("perplexity_of_targets", "overflow_in_the_sum", by_naive_logarithm),
    ("blocked_keys", "large_number_added", with_a_mask_of_numbers),
    ("blocked_keys", "shared_out_afterwards", renormalised),
    ("minimum_length", "held_back_too_long", lambda *inputs: greedy_by_loop(*inputs, late=1)),
    ("minimum_length", "end_counted", lambda *inputs: greedy_by_loop(*inputs, late=-1)),
    ("minimum_length", "one_too_few", lambda *inputs: greedy_by_loop(*inputs, short=1)),
    ("minimum_length", "one_too_many", lambda *inputs: greedy_by_loop(*inputs, short=-1)),
    ("minimum_length", "start_included", lambda *inputs: greedy_by_loop(*inputs, begun=[BOS])),
    (
        "exact_match",
        "widths_taken_for_equal",
        lambda p, t: ((p == t) | (t == PAD)).all(1).float().mean(),
    ),
    ("cost_by_length", "both_edges_in", costs_between(lambda a, n, b: (a <= n) & (n <= b))),
    ("cost_by_length", "both_edges_out", costs_between(lambda a, n, b: (a < n) & (n < b))),
    ("cost_by_length", "right_edge_in", costs_between(lambda a, n, b: (a < n) & (n <= b))),
    ("beam_search_curse", "end_not_counted", best_by_length_without_end),
]


@pytest.mark.parametrize(("id", "mistake", "attempt"), NAMED)
def test_a_mistake_is_named_however_it_is_written(id, mistake, attempt):
    assert verdict(id, attempt) == (False, sentence(id, mistake))


# Wrong answers that are no known mistake ----------------------------------------------------------


def below_the_largest_of_all(scores, blocked):
    powers = (scores - scores.amax(-1, keepdim=True)).exp() * ~blocked[:, None]
    return powers / powers.sum(-1, keepdim=True).clamp(min=1e-300)


WRONG = [
    *[
        ("additive_score_parameters", 6177),
        ("fully_masked_query", 0.5),
        ("who_asks", 1),
        ("beam_of_two", 0.5),
    ],
    *[("teacher_forcing", lambda ids, lengths: (F.pad(ids, (1, 0)), F.pad(ids, (0, 1))))],
    *[
        ("perplexity_of_targets", lambda logits, targets: logits.mean()),
        ("blocked_keys", below_the_largest_of_all),
    ],
    *[("cosine_score", lambda query, keys, beta: (-beta * torch.cdist(query, keys)).softmax(-1))],
    *[("input_feeding", lambda x, s_0, *others: s_0[:, None].expand(-1, x.shape[1], -1))],
    *[("minimum_length", lambda log_p, *lengths: log_p[BOS].argsort().tolist()[: lengths[1]])],
    *[
        ("alignment_error_rate", lambda *inputs: 0.5),
        ("exact_match", lambda predicted, target: 0.5),
    ],
    *[("cost_by_length", lambda attention, fixed, lengths, edges: torch.zeros(len(edges) - 1))],
    *[("coverage", lambda queries, keys, *weights: (queries @ keys.mT).softmax(-1))],
    ("beam_search_curse", lambda log_p, width, max_len, penalty: [[EOS]]),
]


@pytest.mark.parametrize(("id", "attempt"), WRONG)
def test_a_wrong_answer_gets_no_false_name(id, attempt):
    exercise = check.exercises[id]
    passed, says = exercise.judge(attempt)
    assert passed is False
    assert not says.endswith(tuple(m.says for m in exercise.mistakes.values()))


def test_weights_that_are_right_with_a_gradient_of_nan_are_told_so():
    def minus_infinity_added(scores, blocked):
        mask = torch.zeros(blocked.shape).masked_fill(blocked, -math.inf)
        return (scores + mask[:, None]).softmax(-1).nan_to_num()

    passed, says = verdict("blocked_keys", minus_infinity_added)
    assert passed is False and says == "the values are correct, but the gradient is not."


def weights_emptied_in_place(scores, blocked):
    nothing = blocked.all(1)
    weights = scores.masked_fill(blocked[:, None] & ~nothing[:, None, None], -math.inf).softmax(-1)
    weights[nothing] = 0
    return weights


def covered_in_place(queries, keys, W, U, w, v):
    covered, weights = torch.zeros(keys.shape[:2], dtype=keys.dtype), []
    for t in range(queries.shape[1]):
        hidden = torch.tanh((queries[:, t] @ W.T)[:, None] + keys @ U.T + covered[..., None] * w)
        weights.append((hidden @ v).softmax(-1))
        covered += weights[-1]
    return torch.stack(weights, dim=1)


@pytest.mark.parametrize(
    ("id", "attempt"), [("blocked_keys", weights_emptied_in_place), ("coverage", covered_in_place)]
)
def test_what_autograd_cannot_follow_is_blamed_on_no_line_of_the_checker(id, attempt):
    _, says = verdict(id, attempt)
    assert "it overwrites a tensor that the gradient needs" in says and "autograd.grad(" not in says
