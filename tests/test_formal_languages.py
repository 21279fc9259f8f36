"""Formal languages: their words, and their answers beside machines written in another way."""

from collections import Counter
from fractions import Fraction
from itertools import product

import pytest
import torch

from utils.data.formal import (
    IGNORE_INDEX,
    LANGUAGES,
    Addition,
    Blocks,
    Dyck,
    Majority,
    Modulo,
    Swaps,
)

each_language = pytest.mark.parametrize("name", LANGUAGES)


# The truth, another time --------------------------------------------------------------------------


def by_counting(word: str, letters: str) -> str:
    """What may follow a beginning of aⁿbⁿ, aⁿbⁿcⁿ, …, found among all words that go on."""
    n = len(word)
    following = set()
    for size in range(1, n + 2):
        whole = "".join(letter * size for letter in letters)
        if whole.startswith(word):
            following.add(whole[n : n + 1] or "end")
    return "".join(sorted(following))


def by_erasing(word: str) -> str:
    """What may follow brackets besides an opening one: erase each pair that matches."""
    while (shorter := word.replace("()", "").replace("[]", "")) != word:
        word = shorter
    return {"(": ")", "[": "]"}[word[-1]] if word else "end"


def by_hand(name: str, word: list[str]) -> str:
    """The answer after a word."""
    if name == "first":
        return word[0]
    if name == "majority":
        return "yes" if 2 * word.count("1") > len(word) else "no"
    if name in ("parity", "modulo 5"):
        return str(word.count("1") % {"parity": 2, "modulo 5": 5}[name])
    if name == "addition":
        a, b = (int("".join(pair[i] for pair in reversed(word)), 2) for i in (0, 2))
        return str((a + b) >> (len(word) - 1) & 1)
    if name in ("anbn", "anbncn"):
        return by_counting("".join(word), "abc"[: {"anbn": 2, "anbncn": 3}[name]])
    if name.startswith("Dyck"):
        return by_erasing("".join(word))
    cups = [1, 0, 0, 0, 0]
    for i, j in word:
        a, b = int(i) - 1, int(j) - 1
        cups[a], cups[b] = cups[b], cups[a]
    return str(cups.index(1) + 1)


@each_language
def test_answers_are_those_of_another_machine(name):
    language = LANGUAGES[name]
    ids, answers, lengths = language.draw(30, 6, 19, seed=3)
    assert ids.shape == answers.shape and ids.dtype == answers.dtype == torch.long
    for row, given, length in zip(ids.tolist(), answers.tolist(), lengths.tolist(), strict=True):
        word = [language.symbols[i] for i in row[:length]]
        found = [language.classes[answer] for answer in given[:length]]
        assert found == [by_hand(name, word[: t + 1]) for t in range(length)]
        assert row[length:] == [0] * (ids.shape[1] - length)
        assert given[length:] == [IGNORE_INDEX] * (ids.shape[1] - length)
        assert language.truth(torch.tensor([row[:length]])).tolist() == [given[:length]]


@each_language
def test_words_have_all_lengths_and_a_seed_of_their_own(name):
    language = LANGUAGES[name]
    words = language.draw(400, 5, 20, seed=0)
    possible = {T for T in range(5, 21) if language.has_length(T)}
    assert {*words.lengths.tolist()} == possible and words.ids.shape[1] == max(possible)
    assert Counter(words.lengths.tolist()).most_common()[-1][1] > 200 / len(possible)
    again, other = (language.draw(400, 5, 20, seed=seed) for seed in (0, 1))
    assert all(map(torch.equal, words, again))
    assert not torch.equal(words.lengths, other.lengths)
    torch.manual_seed(5)
    before = torch.get_rng_state()
    language.draw(3, 6, 6, seed=4)
    assert torch.equal(torch.get_rng_state(), before)


@each_language
def test_words_may_be_long(name):
    words = LANGUAGES[name].draw(2, 1198, 1200, seed=0)
    assert words.lengths.min() >= 1198 and words.answers.max() < len(LANGUAGES[name].classes)


@each_language
def test_every_answer_occurs_and_none_decides_all(name):
    answers = LANGUAGES[name].draw(500, 12, 20, seed=0).answers
    shares = torch.bincount(answers[answers >= 0]) / (answers >= 0).sum()
    assert len(shares) == len(LANGUAGES[name].classes) and shares.min() > 0.02
    assert shares.max() < 0.9


# Languages of their own ---------------------------------------------------------------------------


def test_blocks_are_the_words_that_their_names_say():
    assert Blocks("abc").draw(1, 6, 6, 0).ids.tolist() == [[0, 0, 1, 1, 2, 2]]
    assert Blocks("ab").classes == ("ab", "b", "end")
    found = Blocks("abc").truth(Blocks("abc").encode("aabbcc")).tolist()[0]
    assert [Blocks("abc").classes[i] for i in found] == ["ab", "ab", "b", "c", "c", "end"]


def test_a_beginning_is_told_from_what_begins_no_word():
    for letters in ("ab", "abc"):
        language, words = Blocks(letters), set()
        for size in range(1, 7):
            whole = "".join(letter * size for letter in letters)
            words |= {whole[:t] for t in range(1, 7)}
        for word in map("".join, product(letters, repeat=5)):
            assert language.begins_word(language.encode(word)).tolist() == [word in words]
    language = Dyck(2, deepest=9)
    closed = {"".join(word) for T in (2, 4, 6, 8) for word in product("()[]", repeat=T)}
    closed = {word for word in closed if by_erasing_all(word)}
    begun = {word[:4] for word in closed}
    for word in map("".join, product("()[]", repeat=4)):
        assert language.begins_word(language.encode(word)).tolist() == [word in begun]


def by_erasing_all(word: str) -> bool:
    while (shorter := word.replace("()", "").replace("[]", "")) != word:
        word = shorter
    return not word


@pytest.mark.parametrize("shallowest, deepest", [(1, 2), (1, 9), (3, 4), (4, 4)])
def test_brackets_keep_their_depth_and_all_such_words_are_equally_likely(shallowest, deepest):
    language = Dyck(1, shallowest=shallowest, deepest=deepest)
    ids, _, lengths = language.draw(6000, 8, 8, seed=1)
    expected = set()
    for word in product((0, 1), repeat=8):
        depths = torch.tensor([1 - 2 * i for i in word]).cumsum(0)
        if depths[-1] == 0 and depths.min() >= 0 and shallowest <= depths.max() <= deepest:
            expected.add(word)
    counts = Counter(map(tuple, ids.tolist()))
    assert {*counts} == expected
    mean, share = 6000 / len(expected), Fraction(1, len(expected))
    spread = (6000 * share * (1 - share)) ** 0.5
    assert all(abs(n - mean) <= 5 * spread for n in counts.values())


def test_words_of_brackets_end_where_none_is_open_and_kinds_are_mixed():
    language = Dyck(3, shallowest=2, deepest=5)
    ids, answers, lengths = language.draw(200, 4, 30, seed=0)
    depths = language.depths(ids)
    for row, answer, of, length in zip(ids, answers, depths, lengths, strict=True):
        assert answer[length - 1] == 0 and of[length - 1] == 0 and of[:length].min() >= 0
        assert 2 <= of[:length].max() <= 5
        assert language.begins_word(row[None, :length])
    opened = torch.bincount(ids[(ids < 3) & (answers >= 0)])
    assert opened.min() > 0.9 * opened.max()


def test_addition_adds():
    digits = torch.tensor([[0, 1, 1, 0], [1, 1, 1, 0]])  # 6 + 7 = 13, the lowest digit first
    found = Addition().truth(digits[:1] + 2 * digits[1:])
    assert sum(int(digit) << place for place, digit in enumerate(found[0])) == 13


def test_swaps_make_all_permutations():
    moves = Swaps(4).moves()
    found = {tuple(range(4))}
    while True:
        more = found | {tuple(move[list(p)].tolist()) for p in found for move in moves}
        if more == found:
            break
        found = more
    assert len(found) == 24 and Swaps(4).symbols[4] == "24"
    assert moves[4].tolist() == [0, 3, 2, 1]


def test_a_majority_is_more_than_half():
    assert Majority().truth(torch.tensor([[1, 0, 0, 1, 1]])).tolist() == [[1, 0, 0, 0, 1]]


# What is refused ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "make, sentence",
    [
        (lambda: Modulo(1), "modulo 2 or more, got 1"),
        (lambda: Swaps(1), "needs two things, got 1"),
        (lambda: Blocks("a"), "at least two letters, all different, got 'a'"),
        (lambda: Blocks("aba"), "all different, got 'aba'"),
        (lambda: Dyck(0, deepest=2), "1 to 4 kinds of brackets, got 0"),
        (lambda: Dyck(5, deepest=2), "1 to 4 kinds of brackets, got 5"),
        (lambda: Dyck(1, shallowest=3, deepest=2), "got 3 to 2"),
        (lambda: Dyck(1, shallowest=0, deepest=2), "got 0 to 2"),
        (lambda: Modulo(2).draw(0, 1, 5, 0), "at least one word, got n=0"),
        (lambda: Modulo(2).draw(1, 6, 5, 0), "No word of this language has 6 to 5 symbols"),
        (lambda: Blocks("ab").draw(1, 3, 3, 0), "has 3 to 3 symbols"),
        (lambda: Dyck(1, shallowest=4, deepest=5).draw(1, 2, 7, 0), "has 2 to 7 symbols"),
        (lambda: Modulo(2).truth(torch.tensor([[0, 2]])), "run to 1, got 2"),
        (lambda: Modulo(2).truth(torch.tensor([[0, -1]])), "run to 1, got -1"),
        (lambda: Modulo(2).truth(torch.ones(1, 2)), "Expected a tensor of ids"),
        (lambda: Modulo(2).truth(torch.ones(0, 2).long()), "Expected a tensor of ids"),
        (lambda: Modulo(2).truth(torch.ones(2).long()), "Expected a tensor of ids"),
        (lambda: Blocks("ab").truth(torch.tensor([[0, 1, 0]])), "begins with a b a"),
        (lambda: Dyck(2, deepest=2).truth(torch.tensor([[0, 1, 2]])), r"begins with \( \[ \)"),
        (lambda: Dyck(1, deepest=2).encode("(]"), r"made of \(, \), got ']'"),
        (lambda: Swaps(3).encode(" "), "made of 12, 13, 23, got nothing"),
    ],
)
def test_what_makes_no_word_is_refused_in_a_sentence(make, sentence):
    with pytest.raises(ValueError, match=sentence):
        make()


def test_words_are_read_as_they_are_written():
    assert Swaps(3).encode("12 23").tolist() == [[0, 2]] == Swaps(3).encode(" 12  23 ").tolist()
    assert Swaps(3).encode("13").tolist() == [[1]]
    assert Dyck(2, deepest=2).encode("([ ])").tolist() == [[0, 1, 3, 2]]
