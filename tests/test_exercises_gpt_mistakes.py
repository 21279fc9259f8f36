"""The mistakes of Day 9's exercises, made in other ways than the checks know them."""

import pytest
import torch
from torch.nn import functional as F

from utils.exercises.gpt import check


def passed_through(ids, table, blocks, norm, factor):
    x = factor * table[ids]
    for block in blocks:
        x = block(x)
    return norm(x) @ table.T


def written(begin, prompt, n, choose, row):
    read, text = begin(), list(prompt)
    logits = read(torch.tensor([text]), 0)
    for _ in range(n):
        text.append(choose(row(logits)))
        logits = read(torch.tensor([text[-1:]]), len(text) - 1)
    return text


def read_from_the_beginning(begin, prompt, n, choose):
    text = [*prompt]
    while len(text) < len(prompt) + n:
        read = begin()
        text += [choose(read(torch.tensor(text)[None], 0).squeeze(0)[-1])]
    return text


def normed_by(q, k, g_q, g_k, size):
    q, k = (gain * x / size(x.square()) for gain, x in ((g_q, q), (g_k, k)))
    return q @ k.mT / q.shape[-1] ** 0.5


def chances_of(ours, theirs):
    return torch.stack([(-ours).exp(), (-theirs).exp()])


def scaled_at_the_end(ids, table, blocks, norm):
    x = F.embedding(ids, table)
    for block in blocks:
        x = block(x)
    x = x * table.shape[1] ** 0.5
    return F.linear(norm(x), table)


def scaled_in_front_of_each(ids, table, blocks, norm):
    x = F.embedding(ids, table)
    for block in blocks:
        x = block(x * table.shape[1] ** 0.5)
    return F.linear(norm(x), table)


def scaled_behind_each(ids, table, blocks, norm):
    x = F.embedding(ids, table)
    for block in blocks:
        x = block(x) * table.shape[1] ** 0.5
    return F.linear(norm(x), table)


def all_blocks_at_once(ids, table, blocks, norm):
    x = F.embedding(ids, table) * table.shape[1] ** 0.5
    x = blocks(x)
    return F.linear(norm(x), table)


def all_blocks_in_each_round(ids, table, blocks, norm):
    x = F.embedding(ids, table) * table.shape[1] ** 0.5
    for _ in blocks:
        x = blocks(x)
    return F.linear(norm(x), table)


def next_nats(logits, ids):
    """Return -log p of every token, and the targets: (B, T - 1, V) and (B, T - 1)."""
    return -logits[:, :-1].log_softmax(dim=-1), ids[:, 1:]


def paired_with_all(logits, ids):
    nats, targets = next_nats(logits, ids)
    nats, targets = nats.flatten(0, 1), targets.flatten()
    return nats[:, targets][:, targets != 0].mean()


def paired_with_all_and_padding(logits, ids):
    nats, targets = next_nats(logits, ids)
    return nats[:, :, targets].mean()


def paired_with_other_texts(logits, ids):
    nats, targets = next_nats(logits, ids)
    return nats[:, range(targets.shape[1]), targets].mean()


def texts_in_a_row(logits, ids):
    nats, targets = next_nats(logits, ids)
    B, T = targets.shape
    return nats[torch.arange(B), torch.arange(T), targets][targets != 0].mean()


def by_cross_entropy(logits, targets):
    return F.cross_entropy(logits.mT, targets, ignore_index=0)


@pytest.mark.parametrize(
    ("id", "mistake", "answer"),
    [
        (
            "forward",
            "scaled_by_the_length",
            lambda *given: passed_through(*given, len(given[0][0]) ** 0.5),
        ),
        ("forward", "list_called", all_blocks_at_once),
        ("forward", "list_called_in_the_loop", all_blocks_in_each_round),
        ("forward", "scaled_in_the_loop", scaled_in_front_of_each),
        ("forward", "scaled_after_each", scaled_behind_each),
        ("forward", "scaled_behind_the_blocks", scaled_at_the_end),
        (
            "forward",
            "scaled_at_the_output_alone",
            lambda *given: passed_through(*given, 1) * given[1].shape[1] ** 0.5,
        ),
        (
            "forward",
            "positions_looked_up",
            lambda ids, table, *rest: passed_through(
                range(ids.shape[1]), table, *rest, table.shape[1] ** 0.5
            ),
        ),
        (
            "forward",
            "positions_of_each_text",
            lambda ids, table, *rest: passed_through(
                torch.arange(ids.shape[1]).repeat(len(ids), 1), table, *rest, table.shape[1] ** 0.5
            ),
        ),
        (
            "next_token_loss",
            "shifted_along_the_batch",
            lambda logits, ids: by_cross_entropy(logits[:-1], ids[1:]),
        ),
        (
            "next_token_loss",
            "logits_without_a_text",
            lambda logits, ids: F.cross_entropy(
                logits[:-1].reshape(-1, logits.shape[2]), ids[:, 1:].reshape(-1), ignore_index=0
            ),
        ),
        (
            "next_token_loss",
            "last_position_about_itself",
            lambda logits, ids: by_cross_entropy(logits[:, -1:], ids[:, -1:]),
        ),
        ("next_token_loss", "every_target_at_every_position", paired_with_all),
        ("next_token_loss", "texts_along_the_positions", texts_in_a_row),
        ("half_and_half", "mean_of_surprises", lambda a, b: torch.stack([a, b]).mean(dim=0)),
        ("half_and_half", "first_halved", lambda a, b: -(0.5 * (-a).exp() + (-b).exp()).log()),
        ("half_and_half", "halved_twice", lambda a, b: -(chances_of(a, b) / 2).mean(dim=0).log()),
        ("half_and_half", "mean_over_everything", lambda a, b: -chances_of(a, b).mean().log()),
        (
            "half_and_half",
            "mean_over_everything",
            lambda a, b: -torch.cat([*chances_of(a, b)]).mean(dim=0).log(),
        ),
        ("half_and_half", "mean_of_each_model", lambda a, b: -chances_of(a, b).T.mean(0).log()),
        ("half_and_half", "one_minus", lambda a, b: 1 - chances_of(a, b).mean(dim=0)),
        (
            "half_and_half",
            "surprise_of_the_others",
            lambda a, b: -torch.log1p(-chances_of(a, b).mean(dim=0)),
        ),
        ("write", "read_anew", read_from_the_beginning),
        ("write", "batch_kept", lambda *given: written(*given, lambda logits: logits[:, -1])),
        ("write", "batch_kept", lambda *given: written(*given, lambda logits: logits)),
        (
            "write",
            "chances_chosen",
            lambda *given: written(*given, lambda logits: logits.softmax(-1)[0, -1]),
        ),
        (
            "qk_norm",
            "no_eps",
            lambda *given: normed_by(*given[:4], lambda x: x.mean(-1, keepdim=True).sqrt()),
        ),
        (
            "qk_norm",
            "no_root",
            lambda *given: normed_by(*given[:4], lambda x: x.mean(-1, keepdim=True) + given[4]),
        ),
        ("gated_width", "rounded_off", lambda d_ff, m: int(2 * d_ff / 3 + 0.5)),
        ("gated_width", "down_then_up", lambda d_ff, m: (int(2 * d_ff / 3) + m - 1) // m * m),
    ],
)
def test_a_mistake_made_in_another_way_is_named(id, mistake, answer):
    exercise = check.exercises[id]
    assert exercise.judge(answer) == (False, exercise.mistakes[mistake].says)


@pytest.mark.parametrize(
    ("mistake", "answer"),
    [
        (
            "last_position_alone",
            lambda logits, ids: F.cross_entropy(logits[:, -2], ids[:, -1], ignore_index=0),
        ),
        (
            "last_position_alone",
            lambda logits, ids: F.cross_entropy(logits[:, -2], ids[:, -1]),
        ),
        ("every_target_at_every_position", paired_with_all_and_padding),
        ("targets_of_all_texts", paired_with_other_texts),
    ],
)
def test_a_mistake_is_named_whatever_becomes_of_the_padding(mistake, answer):
    exercise = check.exercises["next_token_loss"]
    passed, sentence = exercise.judge(answer)
    says = f", your result is that of a common mistake: {exercise.mistakes[mistake].says}"
    assert passed is False and sentence.endswith(says)


@pytest.mark.parametrize(
    ("id", "given", "mistake"),
    [
        ("bits_per_byte", 16, "times_eight"),
        ("bits_per_byte", 0.25, "per_bit"),
        ("bits_per_byte", 5 / 8, "by_eight"),
        ("bits_per_byte", 32, "perplexity"),
        ("bits_per_byte", 1.5, "base_10_per_token"),
        ("bits_per_byte", 2.55, "nats_divided_first"),
        ("bits_per_byte", 2.88, "turned_twice"),
        ("blocks_to_copy", 4, "four_blocks"),
        ("blocks_to_copy", 11, "as_many_as_it_writes"),
        ("blocks_to_copy", 26, "alphabet"),
    ],
)
def test_a_wrong_prediction_is_explained(id, given, mistake):
    exercise = check.exercises[id]
    assert exercise.judge(given) == (False, exercise.mistakes[mistake].says)


def test_log_chances_are_logits():
    def of_logs(*given):
        return written(*given, lambda logits: logits[0, -1].log_softmax(0))

    assert check.exercises["write"].judge(of_logs)[0]
