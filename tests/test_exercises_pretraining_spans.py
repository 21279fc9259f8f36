"""Day 10's exercises about spans and about what a decoder reads, held to the book's functions."""

import pytest
import torch
from torch.nn import functional as F

from utils import pretraining
from utils.data.text import BOS, EOS, PAD, BucketedBatches
from utils.exercises.pretraining import check
from utils.exercises.pretraining.decoder_reads import decoder_reads
from utils.exercises.pretraining.hide_spans import hide_spans
from utils.seq2seq import shift


def passes(number: str, answer) -> bool:
    return check.exercises[number].judge(answer) == (True, "correct.")


# 10.8 Spans with sentinels ------------------------------------------------------------------------


@pytest.mark.parametrize("n", [2, 9, 40, 128])
def test_source_and_target_are_the_books(n):
    generator = torch.Generator().manual_seed(n)
    ids = torch.randint(5, 400, (n,), generator=generator).tolist()
    spans = pretraining.draw_spans(n, 0.3, generator=generator)
    sentinels = range(500, 532)
    expected = pretraining.hide_spans(ids, spans, sentinels)
    assert hide_spans(ids, spans, sentinels) == expected


def spans_from_the_end(ids, spans, sentinels):
    source, target = list(ids), [sentinels[len(spans)]]
    for i in reversed(range(len(spans))):
        start, end = spans[i]
        target = [sentinels[i]] + list(ids[start:end]) + target
        source[start:end] = [sentinels[i]]
    return source, target


def spans_word_by_word(ids, spans, sentinels):
    of = {t: i for i, (start, end) in enumerate(spans) for t in range(start, end)}
    source, target = [], []
    for t, word in enumerate(ids):
        if t not in of:
            source.append(word)
            continue
        if t == spans[of[t]][0]:
            source.append(sentinels[of[t]])
            target.append(sentinels[of[t]])
        target.append(word)
    target.append(sentinels[len(spans)])
    return [source, target]


@pytest.mark.parametrize("answer", [spans_from_the_end, spans_word_by_word])
def test_spans_in_another_style_are_right(answer):
    assert passes("hide_spans", answer)


# 10.9 What the decoder reads ----------------------------------------------------------------------


def test_it_reads_and_says_what_the_books_batches_have():
    targets = [[7, 8, 9], [7], [8, 9, 9, 9]]
    ((_, _, target_in, target_out),) = BucketedBatches([[5]] * 3, targets, batch_size=3)
    reads, says = decoder_reads(targets, BOS, EOS, PAD)
    assert torch.equal(reads, target_in)
    assert torch.equal(says, target_out.masked_fill(target_out == PAD, -100))


def reads_by_a_shift(targets, start, end, pad):
    """What the book's `shift` and T5's own do: `end` is read, too, where nothing is to be said."""
    says = torch.nn.utils.rnn.pad_sequence(
        [torch.tensor([*target, end]) for target in targets], batch_first=True, padding_value=-100
    )
    assert start != BOS or torch.equal(shift(says), F.pad(says[:, :-1], (1, 0), value=BOS))
    reads = F.pad(says[:, :-1], (1, 0), value=start)
    return reads.masked_fill(reads == -100, pad), says


def reads_in_place(targets, start, end, pad):
    T = max(len(target) for target in targets) + 1
    reads = torch.full((len(targets), T), pad)
    says = torch.full((len(targets), T), -100)
    reads[:, 0] = start
    for b, target in enumerate(targets):
        reads[b, 1 : len(target) + 1] = torch.tensor(target, dtype=torch.int64)
        says[b, : len(target)] = torch.tensor(target, dtype=torch.int64)
        says[b, len(target)] = end
    return [reads, says]


@pytest.mark.parametrize("answer", [reads_by_a_shift, reads_in_place])
def test_reading_in_another_style_is_right(answer):
    assert passes("decoder_reads", answer)


# Other ways to the same mistakes ------------------------------------------------------------------


def spans_on_the_source(ids, spans, sentinels):
    """Replaces from the left, in a source that gets shorter."""
    source, target = list(ids), []
    for i, (start, end) in enumerate(spans):
        target += [sentinels[i]] + list(ids[start:end])
        del source[start:end]
        source.insert(start, sentinels[i])
    return source, target + [sentinels[len(spans)]]


def shifted_with_ignored(targets, start, end, pad):
    says = reads_by_a_shift(targets, start, end, pad)[1]
    return F.pad(says[:, :-1], (1, 0), value=start), says


def rolled_to_the_left(targets, start, end, pad):
    reads, says = reads_by_a_shift(targets, start, end, pad)
    padded = says.masked_fill(says == -100, pad)
    return torch.cat([padded[:, 1:], torch.full((len(says), 1), pad)], dim=1), says


def unshifted(targets, start, end, pad):
    says = reads_by_a_shift(targets, start, end, pad)[1]
    return torch.where(says == -100, pad, says), says


@pytest.mark.parametrize(
    ("id", "mistake", "answer"),
    [
        ("hide_spans", "places_moved", spans_on_the_source),
        ("decoder_reads", "ignored_read", shifted_with_ignored),
        ("decoder_reads", "shifted_left", rolled_to_the_left),
        ("decoder_reads", "start_forgotten", unshifted),
    ],
)
def test_a_mistake_made_in_another_way_is_named(id, mistake, answer):
    exercise = check.exercises[id]
    assert exercise.judge(answer) == (False, exercise.mistakes[mistake].says)
