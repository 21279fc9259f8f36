"""Day 10's pairs: half follow, the others don't, and nothing but the text tells which."""

import itertools
from collections import Counter

import pytest
import torch

from utils.pretraining import make_pair, two_parts
from utils.pretraining.pairs import QUESTIONS
from utils.seq2seq import BOS, EOS

FIRST, SECOND, OTHER = [11, 12, 13], [21, 22], [31, 32, 33, 34]
SENTENCES = [[10 * i + k for k in range(n)] for i, n in enumerate((5, 3, 7, 2, 4, 6, 3), start=1)]


@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.parametrize("die", [0.0, 0.4999])
def test_a_part_that_follows_stands_behind(question, die):
    ids, types, label = make_pair(FIRST, SECOND, OTHER, question, die)
    assert ids == [BOS, 11, 12, 13, EOS, 21, 22, EOS]
    assert types == [0, 0, 0, 0, 0, 1, 1, 1]
    assert label == 0


@pytest.mark.parametrize("die", [0.5, 0.9999])
def test_one_that_does_not_follow_is_of_another_text_or_the_two_are_exchanged(die):
    ids, types, label = make_pair(FIRST, SECOND, OTHER, "next", die)
    assert ids == [BOS, 11, 12, 13, EOS, 31, 32, 33, 34, EOS]
    assert types == [0, 0, 0, 0, 0, 1, 1, 1, 1, 1] and label == 1
    ids, types, label = make_pair(FIRST, SECOND, OTHER, "order", die)
    assert ids == [BOS, 21, 22, EOS, 11, 12, 13, EOS]
    assert types == [0, 0, 0, 0, 1, 1, 1, 1] and label == 1


def test_half_of_the_dice_make_a_pair_that_follows():
    dice = [k / 1000 for k in range(1000)]
    labels = Counter(make_pair(FIRST, SECOND, OTHER, "order", die).label for die in dice)
    assert labels == {0: 500, 1: 500}


@pytest.mark.parametrize("length", [12, 16, 30, 100])
def test_parts_are_neighbours_of_whole_sentences_that_fit(length):
    generator = torch.Generator().manual_seed(0)
    seen = set()
    for _ in range(300):
        first, second = two_parts(SENTENCES, length, generator)
        starts, ends = ({said[i] for said in SENTENCES} for i in (0, -1))
        assert first[0] in starts and second[0] in starts
        assert first[-1] in ends and second[-1] in ends
        whole = [id for said in SENTENCES for id in said]
        begin = whole.index(first[0])
        assert whole[begin : begin + len(first + second)] == first + second
        assert len(first + second) <= length
        seen.add((first[0], second[0]))
    assert {begin for begin, _ in seen} == {said[0] for said in SENTENCES[:-1]}


def test_parts_are_parted_as_near_to_the_middle_as_can_be():
    generator = torch.Generator().manual_seed(0)
    for _ in range(100):
        first, second = two_parts(SENTENCES, 100, generator)
        begin = [said[0] for said in SENTENCES].index(first[0])
        sizes = [len(said) for said in SENTENCES[begin:]]
        best = min(abs(2 * end - sum(sizes)) for end in list(itertools.accumulate(sizes))[:-1])
        assert abs(len(first) - len(second)) == best


def test_all_that_fits_is_taken():
    generator = torch.Generator().manual_seed(0)
    for _ in range(100):
        first, second = two_parts(SENTENCES, 16, generator)
        last = next(i for i, said in enumerate(SENTENCES) if said[-1] == second[-1])
        more = len(SENTENCES[last + 1]) if last + 1 < len(SENTENCES) else 100
        assert len(first + second) + more > 16


def test_the_same_generator_draws_the_same_parts():
    def draw(seed: int) -> list:
        generator = torch.Generator().manual_seed(seed)
        return [two_parts(SENTENCES, 16, generator) for _ in range(20)]

    torch.manual_seed(0)
    before = torch.get_rng_state()
    assert draw(1) == draw(1) != draw(2)
    assert torch.equal(torch.get_rng_state(), before)
    torch.manual_seed(1)
    assert [two_parts(SENTENCES, 16) for _ in range(20)] == draw(1)


@pytest.mark.parametrize(
    "document, length, message",
    [
        ([], 10, "sentences, .* 0:"),
        ([[1, 2]], 10, "sentences, .* 1:"),
        ([[1] * 4, [2] * 3, [3] * 5], 7, " 8 ids .* 7 "),
    ],
)
def test_a_document_without_two_parts_is_refused(document, length, message):
    with pytest.raises(ValueError, match=message):
        two_parts(document, length)


@pytest.mark.parametrize(
    "question, die, message",
    [
        ("topic", 0.1, "'topic': .*'next', 'order'"),
        ("next", 1.0, "die .* 1.0"),
        ("next", float("nan"), "die .* nan"),
    ],
)
def test_a_pair_that_can_not_be_is_refused(question, die, message):
    with pytest.raises(ValueError, match=message):
        make_pair(FIRST, SECOND, OTHER, question, die)
