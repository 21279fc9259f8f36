"""Mistakes in Day 13's exercises on rows and drawing, made in other ways than the checks know."""

import math

import pytest
import torch
from test_exercises_drawing import drawn_among_all
from torch.nn import functional as F

from utils.exercises.drawing import check

QUARTER = math.pi / 2  # of a turn


def unit(x):
    return x / x.norm(dim=-1, keepdim=True)


def joined(mark):
    return lambda words, codes, n_words, n_codes: torch.hstack(
        [words, mark(len(words), n_words + n_codes), codes + n_words]
    )


def row_by_row(logits, ids, n_words, share):
    V, total = logits.shape[2], 0
    for of_row, row in zip(logits, ids, strict=True):
        target = row[1:]
        nats = F.cross_entropy(of_row[:-1], target, reduction="none")
        words, codes = (0 < target) & (target < n_words), (n_words <= target) & (target < V - 1)
        total = total + (1 - share) * nats[words].mean() + share * nats[codes].mean()
    return total / len(ids)


def with_weights(logits, ids, n_words, share):
    weights = logits.new_full(logits.shape[2:], share)
    weights[:n_words] = 1 - share
    weights[0], weights[-1] = 0, 0
    return F.cross_entropy(logits[:, :-1].flatten(0, 1), ids[:, 1:].flatten(), weight=weights)


def parted_at_the_mark(after, read=lambda x: x):
    def answer(logits, ids, n_words, share):
        T = int((ids[0] == logits.shape[2] - 1).nonzero())
        words = F.cross_entropy(read(logits[:, : T - 1]).mT, ids[:, 1:T], ignore_index=0)
        codes = F.cross_entropy(read(logits[:, T + after : -1]).mT, ids[:, T + after + 1 :])
        return (1 - share) * words + share * codes

    return answer


def asked_for_the_one_before(logits, ids, n_words, share):
    nats = F.cross_entropy(logits[:, 1:].mT, ids[:, :-1], reduction="none")
    is_word = (ids[:, :-1] > 0) & (ids[:, :-1] < n_words)
    is_code = (ids[:, :-1] >= n_words) & (ids[:, :-1] < logits.shape[2] - 1)
    return (1 - share) * nats[is_word].mean() + share * nats[is_code].mean()


def all_that_is_left(logits, ids, n_words, share):
    target = ids[:, 1:]
    nats = F.cross_entropy(logits[:, :-1].mT, target, reduction="none")
    return (1 - share) * nats[target < n_words].mean() + share * nats[target >= n_words].mean()


def by_a_loop(choose, model, start, n, n_words, draw):
    """Codes drawn from what is made of all logits (B, T, V), each read before the next."""
    ids = start
    for _ in range(n):
        codes = draw(choose(model(ids)))
        ids = torch.hstack([ids, codes[:, None] + n_words])
    return ids[:, start.shape[1] :] - n_words


def drawn_from(probabilities):
    return lambda model, start, n, n_words, tau, draw: by_a_loop(
        lambda logits: probabilities(logits, n_words, tau), model, start, n, n_words, draw
    )


def only_codes(p, n_words):
    p = p.clone()
    p[:, :n_words], p[:, -1] = 0, 0
    return p


def moved_and_moved(model, start, n, n_words, tau, draw):
    ids = start
    for _ in range(n):
        logits = model(ids)[:, -1] / tau
        logits[:, :n_words] = logits[:, -1:] = -torch.inf
        ids = torch.hstack([ids, draw(logits.softmax(-1))[:, None] + n_words])
    return ids[:, start.shape[1] :] - n_words


def returned_from(first):
    def answer(model, start, n, n_words, tau, draw):
        ids = start
        for _ in range(n):
            codes = draw((model(ids)[:, -1, n_words:-1] / tau).softmax(-1))
            ids = torch.hstack([ids, codes[:, None] + n_words])
        return ids[:, first(start.shape[1]) :] - n_words

    return answer


def hidden(number):
    """A schedule: `number` takes n, t, steps and how many were hidden before."""

    def answer(n, steps):
        found = [n]
        for t in range(1, steps + 1):
            found.append(number(n, t, steps, found[-1]))
        return found[1:]

    return answer


def of_all(angle, n):
    return math.floor(n * math.cos(angle))


def by_an_angle(angle):
    """A schedule by the cosine of another angle, which shows at least one code in each step."""
    return hidden(lambda n, t, steps, before: min(before - 1, of_all(angle(t, steps), n)))


@pytest.mark.parametrize(
    ("name", "mistake", "answer"),
    [
        (
            "sentence_and_codes",
            "overlapping",
            lambda words, codes, n_words, n_codes: torch.hstack(
                [F.pad(words, (0, 1), value=n_words + n_codes), codes]
            ),
        ),
        ("sentence_and_codes", "as_floats", joined(lambda B, id: torch.ones(B, 1) * id)),
        ("sentence_and_codes", "as_floats", joined(lambda B, id: torch.full((B, 1), float(id)))),
        (
            "sentence_and_codes",
            "as_floats",
            lambda *given: joined(lambda B, id: torch.full((B, 1), id))(*given).double(),
        ),
        ("sentence_and_codes", "one_mark", joined(lambda B, id: torch.full((1, 1), id))),
        (
            "sentence_and_codes",
            "all_one_too_high",
            lambda words, codes, n_words, n_codes: torch.hstack(
                [F.pad(words, (0, 1), value=n_words + n_codes + 1), codes + n_words + 1]
            ),
        ),
        (
            "sentence_and_codes",
            "moved_by_the_largest_word",
            lambda words, codes, n_words, n_codes: torch.hstack(
                [F.pad(words, (0, 1), value=n_words + n_codes), codes + 1 + words.max().item()]
            ),
        ),
        (
            "sentence_and_codes",
            "mark_after_the_largest_code",
            lambda words, codes, n_words, n_codes: torch.hstack(
                [F.pad(words, (0, 1), value=(codes + n_words).max() + 1), codes + n_words]
            ),
        ),
        (
            "sentence_and_codes",
            "padding_cut_off",
            lambda words, codes, n_words, n_codes: torch.hstack(
                [
                    F.pad(words[:, (words != 0).any(dim=0)], (0, 1), value=n_words + n_codes),
                    codes + n_words,
                ]
            ),
        ),
        (
            "sentence_and_codes",
            "codes_one_too_low",
            lambda words, codes, n_words, n_codes: torch.hstack(
                [F.pad(words, (0, 1), value=n_words + n_codes), codes + n_words - 1]
            ),
        ),
        (
            "picture_loss",
            "sentence_alone",
            lambda logits, ids, n_words, share: F.cross_entropy(
                logits[:, :-1].flatten(0, 1),
                torch.where(ids < n_words, ids, 0)[:, 1:].flatten(),
                ignore_index=0,
            ),
        ),
        ("picture_loss", "mean_of_means", row_by_row),
        ("picture_loss", "weighted_ids", with_weights),
        ("picture_loss", "first_code_left_out", parted_at_the_mark(1)),
        ("picture_loss", "softmax_twice", parted_at_the_mark(0, lambda x: x.softmax(-1))),
        ("picture_loss", "shifted_backwards", asked_for_the_one_before),
        ("picture_loss", "nothing_left_out", all_that_is_left),
        (
            "draw_codes",
            "multiplied",
            lambda model, start, n, n_words, tau, draw: drawn_among_all(
                model, start, n, n_words, 1 / tau, draw
            ),
        ),
        (
            "draw_codes",
            "always_position_0",
            drawn_from(lambda x, w, t: (x[:, 0, w:-1] / t).softmax(1)),
        ),
        ("draw_codes", "last_but_one", drawn_from(lambda x, w, t: (x[:, -2, w:-1] / t).softmax(1))),
        (
            "draw_codes",
            "not_whole",
            drawn_from(lambda x, w, t: only_codes((x[:, -1] / t).softmax(1), w)),
        ),
        (
            "draw_codes",
            "not_whole_and_divided",
            drawn_from(lambda x, w, t: only_codes(x[:, -1].softmax(1), w) / t),
        ),
        (
            "draw_codes",
            "not_whole_without_tau",
            drawn_from(lambda x, w, t: x.softmax(-1)[:, -1, w:-1]),
        ),
        (
            "draw_codes",
            "not_whole_with_mark",
            drawn_from(lambda x, w, t: (x / t).softmax(-1)[:, -1, w:]),
        ),
        (
            "draw_codes",
            "softmax_twice",
            drawn_from(lambda x, w, t: F.softmax((x / t).softmax(-1)[:, -1, w:-1], -1)),
        ),
        (
            "draw_codes",
            "softmax_over_sentences",
            drawn_from(lambda x, w, t: F.softmax(x[:, -1, w:-1] / t, dim=0)),
        ),
        (
            "draw_codes",
            "probabilities_divided",
            drawn_from(
                lambda x, w, t: (x[:, -1, w:-1].exp() / x[:, -1, w:-1].exp().sum(1, True)) / t
            ),
        ),
        (
            "draw_codes",
            "no_temperature",
            drawn_from(lambda x, w, t: (x[:, -1, w:-1] - t).softmax(1)),
        ),
        ("draw_codes", "moved_twice", moved_and_moved),
        ("draw_codes", "mark_returned", returned_from(lambda T: T - 1)),
        ("draw_codes", "whole_row_moved", returned_from(lambda T: 0)),
        ("guided_logits", "exchanged", lambda a, b, w: a + w * (b - a)),
        ("guided_logits", "one_more", lambda a, b, w: (1 + w) * a - w * b),
        ("guided_logits", "weight_on_the_other", lambda a, b, w: torch.sub(a, b, alpha=w)),
        ("guided_logits", "rest_subtracted", lambda a, b, w: a + (w - 1) * (a + b)),
        ("guided_logits", "without_cancelled", lambda a, b, w: w * a),
        ("guided_logits", "weighted_mean", lambda a, b, w: b + w / (1 + w) * (a - b)),
        (
            "guided_logits",
            "log_softmax_last",
            lambda a, b, w: F.log_softmax(w * a + (1 - w) * b, -1),
        ),
        (
            "unmask_schedule",
            "idle_steps",
            lambda n, steps: [
                int(n * math.cos(math.pi * t / (2 * steps))) for t in range(1, steps + 1)
            ],
        ),
        (
            "unmask_schedule",
            "straight",
            hidden(lambda n, t, s, b: min(b - 1, n - math.ceil(n * t / s))),
        ),
        (
            "unmask_schedule",
            "rounded_up",
            hidden(lambda n, t, s, b: min(b - 1, math.ceil(n * math.cos(QUARTER * t / s)))),
        ),
        ("unmask_schedule", "no_quarter", by_an_angle(lambda t, s: t / s)),
        ("unmask_schedule", "to_minus_one", by_an_angle(lambda t, s: math.pi * t / s)),
        ("unmask_schedule", "sine", by_an_angle(lambda t, s: QUARTER * (1 - t / s))),
        ("unmask_schedule", "one_step_more", by_an_angle(lambda t, s: QUARTER * t / (s + 1))),
        ("unmask_schedule", "from_0", by_an_angle(lambda t, s: QUARTER * (t - 1) / s)),
        ("unmask_schedule", "whole_shares", by_an_angle(lambda t, s: QUARTER * (t // s))),
        (
            "unmask_schedule",
            "larger_of_both",
            hidden(lambda n, t, s, b: max(b - 1, of_all(QUARTER * t / s, n))),
        ),
        ("unmask_schedule", "of_the_rest", hidden(lambda n, t, s, b: of_all(QUARTER * t / s, b))),
        (
            "unmask_schedule",
            "of_the_rest_below_0",
            hidden(lambda n, t, s, b: min(b - 1, of_all(QUARTER * t / s, b))),
        ),
        ("best_of", "dot_product", lambda p, s: torch.einsum("bne,be->bn", p, s).argmax(1)),
        ("best_of", "with_its_value", lambda p, s: F.cosine_similarity(p, s[:, None], 2).max(1)),
        ("best_of", "how_well", lambda p, s: torch.einsum("bne,be->bn", unit(p), unit(s)).amax(1)),
        ("best_of", "of_each_picture", lambda p, s: (unit(p) * unit(s)[:, None]).sum(-1)),
        ("best_of", "each_against_all", lambda p, s: (unit(s) @ unit(p).mT).argmax(-1)),
        ("best_of", "products_with_all", lambda p, s: torch.matmul(p, s.T).max(1).indices),
        ("best_of", "a_sentence_for_each_picture", lambda p, s: (p @ unit(s).T).argmax(-1)),
        (
            "best_of",
            "lined_up_with_pictures",
            lambda p, s: F.cosine_similarity(p, s[None], dim=-1).argmax(1),
        ),
        (
            "best_of",
            "cosines_along_the_pictures",
            lambda p, s: F.cosine_similarity(p, s.unsqueeze(1)).argmax(1),
        ),
        (
            "best_of",
            "over_everything",
            lambda p, s: torch.einsum("bne,be->bn", unit(p), unit(s)).argmax(),
        ),
        (
            "best_of",
            "in_a_column",
            lambda p, s: F.cosine_similarity(p, s[:, None], 2).topk(1).indices,
        ),
        (
            "best_of",
            "sign_dropped",
            lambda p, s: (unit(p) @ s[:, :, None]).squeeze(2).square().argmax(1),
        ),
    ],
)
def test_a_mistake_made_in_another_way_is_named(name, mistake, answer):
    exercise = check.exercises[name]
    assert exercise.judge(answer) == (False, exercise.mistakes[mistake].says)


def test_who_returns_values_and_their_indices_is_told_to_take_the_indices():
    passed, sentence = check.exercises["best_of"].judge(
        lambda pictures, sentences: torch.einsum("bne,be->bn", pictures, sentences).max(dim=1)
    )
    assert not passed and sentence.endswith("take its .indices.")
