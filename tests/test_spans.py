"""T5's spans and BART's noise: nothing is lost, shares hold, and the routine is as published."""

import math
from collections import Counter

import pytest
import torch

from utils.pretraining import (
    MASK,
    draw_infilling,
    draw_spans,
    hide_spans,
    infill,
    permute_sentences,
    put_back,
)

TEXT = [*range(100, 117)]
SENTINELS = range(50, 40, -1)
ALL = range(10_000, 11_000)


def generator(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def lengths(spans) -> list[int]:
    return [end - start for start, end in spans]


# T5 -----------------------------------------------------------------------------------------------


def test_the_papers_example():
    """Figure 2: "Thank you for inviting me to your party last week"."""
    text = "Thank you for inviting me to your party last week".split()
    source, target = hide_spans(text, [(2, 4), (8, 9)], ["<X>", "<Y>", "<Z>"])
    assert source == "Thank you <X> me to your party <Y> week".split()
    assert target == "<X> for inviting <Y> last <Z>".split()


@pytest.mark.parametrize("n", [2, 3, 7, 20, 128, 513])
@pytest.mark.parametrize(("share", "mean"), [(0.15, 3.0), (0.5, 3.0), (0.15, 1.0), (0.9, 1.0)])
def test_source_and_target_give_the_text_back(n, share, mean):
    text = torch.randint(5, 9000, (n,), generator=generator(n)).tolist()
    spans = draw_spans(n, share, mean, generator(n))
    source, target = hide_spans(text, spans, ALL)
    assert put_back(source, target, ALL) == text
    marks = [symbol for symbol in source if symbol in ALL]
    assert marks == [*ALL[: len(spans)]] and target[-1] == ALL[len(spans)]
    assert [symbol for symbol in target if symbol in ALL] == [*marks, target[-1]]
    assert len(source) + len(target) == n + 2 * len(spans) + 1


def published(n: int, share: float, mean: float) -> tuple[int, int]:
    """Words and spans that are hidden, by the published routine's rounding."""
    words = min(max(round(n * share), 1), n - 1)
    return words, max(round(words / mean), 1)


@pytest.mark.parametrize("n", [2, 6, 10, 17, 64, 114, 128, 512])
@pytest.mark.parametrize(("share", "mean"), [(0.15, 3.0), (0.5, 3.0), (0.25, 2.0)])
def test_as_many_words_and_spans_are_hidden_as_published(n, share, mean):
    for seed in range(20):
        spans = draw_spans(n, share, mean, generator(seed))
        assert (sum(lengths(spans)), len(spans)) == published(n, share, mean)


def test_unless_it_is_told_t5_hides_15_in_100_words_and_bart_30():
    """Raffel et al. (2020), §3.1.4, in spans of 3 on average; Lewis et al. (2020), §2.2."""
    spans = draw_spans(100, generator=generator())
    assert (sum(lengths(spans)), len(spans)) == (15, 5)
    assert sum(lengths(draw_infilling(100, generator=generator()))) == 30


def test_what_stays_and_what_is_hidden_take_turns():
    for seed in range(50):
        spans = draw_spans(40, 0.4, generator=generator(seed))
        ends = [0, *(place for span in spans for place in span)]
        assert all(a < b for a, b in zip(ends, ends[1:], strict=False)) and ends[-1] == 40


def mask_of_the_reference(n: int, words: int, n_spans: int, shuffled: tuple) -> list[bool]:
    """The published mask: two segmentations by shuffled beginnings, interleaved, counted up."""

    def sizes(total: int, order: torch.Tensor) -> list[int]:
        begins = (order < n_spans - 1).int()
        segment = torch.cat([torch.zeros(1, dtype=torch.int32), begins]).cumsum(0)
        return segment.bincount(minlength=n_spans)[:total].tolist()

    hidden, kept = (
        sizes(total, order) for total, order in zip((words, n - words), shuffled, strict=True)
    )
    parts = [part for pair in zip(kept, hidden, strict=True) for part in pair]
    begins = torch.zeros(n, dtype=torch.int64)
    begins[torch.tensor(parts).cumsum(0)[:-1]] = 1
    return (begins.cumsum(0) % 2 == 1).tolist()


def test_all_ways_are_equally_likely_as_published():
    """Of 9 words, 4 in 2 spans: 3 ways to cut what is hidden, times 4 to cut what stays."""
    n, words, n_spans, draws = 9, 4, 2, 4800
    ours, theirs, g = Counter(), Counter(), generator()
    for _ in range(draws):
        spans = draw_spans(n, words / n, words / n_spans, g)
        ours[tuple(any(a <= t < b for a, b in spans) for t in range(n))] += 1
        orders = tuple(torch.randperm(k - 1, generator=g) for k in (words, n - words))
        theirs[tuple(mask_of_the_reference(n, words, n_spans, orders))] += 1
    assert ours.keys() == theirs.keys() and len(ours) == 12
    for counts in (ours, theirs):
        assert all(abs(count - draws / 12) < 5 * math.sqrt(draws / 12) for count in counts.values())


def test_a_generator_decides_all():
    drawn = {(*draw_spans(60, 0.3, generator=generator(s)),) for s in (1, 1, 2)}
    assert len(drawn) == 2
    torch.manual_seed(3)
    once = draw_spans(60)
    torch.manual_seed(3)
    assert draw_spans(60) == once


def test_what_a_model_says_is_put_back_as_far_as_it_goes():
    source, target = hide_spans(TEXT, [(2, 4), (8, 11)], SENTINELS)
    assert put_back(source, [50, 7], SENTINELS) == [*TEXT[:2], 7, *TEXT[4:8], *TEXT[11:]]
    assert put_back(source, [9, 9, *target], SENTINELS) == TEXT
    assert put_back(source, target[3:] + target[:3], SENTINELS) == TEXT


# BART ---------------------------------------------------------------------------------------------


def test_each_span_becomes_one_mask_however_long():
    assert infill(TEXT[:6], [(0, 0), (1, 4), (6, 6)]) == [MASK, 100, MASK, 104, 105, MASK]
    assert infill(TEXT[:3], []) == TEXT[:3]
    assert infill(TEXT[:3], [(1, 1), (1, 2)], mask=9) == [100, 9, 9, 102]


@pytest.mark.parametrize("n", [1, 2, 5, 30, 128])
@pytest.mark.parametrize("share", [0.0, 0.3, 0.9])
def test_a_share_of_the_words_is_hidden_and_what_stays_stays(n, share):
    text = [*range(1000, 1000 + n)]
    for seed in range(20):
        spans = draw_infilling(n, share, generator=generator(seed))
        assert sum(lengths(spans)) == round(share * n)
        kept = [word for word in infill(text, spans) if word != MASK]
        hidden = [word for start, end in spans for word in text[start:end]]
        assert sorted(kept + hidden) == text and kept == sorted(kept)


def test_lengths_are_poisson_numbers():
    found, g = Counter(), generator()
    for _ in range(300):
        found.update(lengths(draw_infilling(300, 0.3, generator=g))[:-1])
    n = found.total()
    assert sum(k * count for k, count in found.items()) / n == pytest.approx(3, abs=0.1)
    for k in range(6):
        expected = math.exp(-3) * 3**k / math.factorial(k)
        assert found[k] / n == pytest.approx(expected, abs=0.015)


def test_gaps_are_anywhere_between_what_stays():
    g, found = generator(), Counter()
    for _ in range(2000):
        (span,) = draw_infilling(4, 0.25, mean=1e6, generator=g)
        found[span] += 1
    assert {*found} == {(t, t + 1) for t in range(4)}
    assert all(abs(count - 500) < 100 for count in found.values())


def test_sentences_change_places_and_stay_whole():
    text = [7, 8, 2, 9, 2, 5, 6]
    orders = {(*permute_sentences(text, 2, generator(seed)),) for seed in range(60)}
    assert len(orders) == 6
    for order in orders:
        assert Counter(order) == Counter(text)
        assert "7, 8, 2" in str(order) and "5, 6" in str(order)
    assert permute_sentences([7, 2], 2, generator()) == [7, 2]


# Refused ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: draw_spans(1), " 1 .* 2 "),
        (lambda: draw_infilling(0), " 0 .* 1 "),
        (lambda: draw_spans(9, 1.0), "share .* 1.0"),
        (lambda: draw_infilling(9, -0.1), "share .* -0.1"),
        (lambda: draw_spans(9, 0.3, 0.5), "mean .* 0.5"),
        (lambda: draw_infilling(9, 0.3, math.inf), "mean .* inf"),
        (lambda: hide_spans(TEXT, [(4, 6), (2, 3)], SENTINELS), " 2 .* 3 .* 6 "),
        (lambda: hide_spans(TEXT, [(4, 6), (5, 7)], SENTINELS), " 5 .* 7 .* 6 "),
        (lambda: infill(TEXT, [(16, 18)]), " 16 .* 18 .* 0 .* 17:"),
        (lambda: infill(TEXT, [(3, 2)]), " 3 .* 2 .* 0 "),
        (lambda: infill(TEXT, [(-1, 2)]), " -1 .* 2 .* 0 "),
        (lambda: hide_spans(TEXT, [(0, 1), (2, 3)], SENTINELS[:2]), "2 spans .* 3 .* 2"),
        (lambda: hide_spans([7, 50, 8], [(0, 1)], SENTINELS), "text has 50,"),
        (lambda: put_back([50], [50, 1, 49, 2, 50, 3], SENTINELS), "sentinel 50 "),
    ],
)
def test_what_makes_no_sense_is_refused_in_a_sentence(call, message):
    with pytest.raises(ValueError, match=message):
        call()
