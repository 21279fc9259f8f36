"""Reviews say what their words say, the parts share nothing, and ceilings are counted."""

from collections import Counter
from itertools import combinations

import pytest

from utils.data import reviews
from utils.data.reviews import (
    BAD,
    FRAMES,
    GOOD,
    KINDS,
    LONG_FRAME,
    NEGATIONS,
    SMALL,
    STRONG,
    THINGS,
    UNSEEN,
    WEAK,
    WORDS,
    Lexicon,
    Review,
    ceiling,
    deciding,
    every,
    twin,
    windows,
)


@pytest.fixture(scope="module")
def parts() -> reviews.Reviews:
    return reviews.reviews(n_train=800, n_held_out=200)


def read(words: tuple[str, ...]) -> tuple[int, set[int]]:
    """Label and places by reading alone, another way than the grammar's."""
    opinions = []  # (place of the adjective, place of the negation or None, whether it is good)
    no = None
    for place, word in enumerate(words):
        if word in NEGATIONS:
            no = place
        if word in GOOD + BAD:
            opinions.append((place, no, (word in GOOD) != (no is not None)))
            no = None
    if len({good for *_, good in opinions}) == 1:
        deciding = opinions
    elif {"but", "yet"} & {*words} or words[0] in ("although", "though"):
        deciding = opinions[1:]
    elif {"although", "though"} & {*words}:
        deciding = opinions[:1]
    else:
        deciding = [o for o in opinions if words[o[0] - 1] in STRONG]
    places = {place for *both, _ in deciding for place in both if place is not None}
    return int(deciding[0][2]), places


def test_label_and_deciding_words_are_what_reading_gives(parts):
    for review in (review for part in parts for review in part):
        label, places = read(review.words)
        assert (review.label, {*review.decides}) == (label, places), " ".join(review.words)
        assert list(review.decides) == sorted({*review.decides})


def test_the_same_by_hand():
    by_words = {" ".join(review.words): review for review, _ in every()}
    for text, label, kind, decides in [
        ("the plot was not good but the acting was great", 1, "negated contrast", (9,)),
        ("the plot was good but the acting was not great", 0, "negated contrast", (8, 9)),
        ("although the plot was good the acting was bad", 0, "contrast", (8,)),
        ("the plot was good although the acting was bad", 1, "contrast", (3,)),
        ("the plot was truly good and the acting was fairly bad", 1, "strength", (4,)),
        ("the plot was good and the acting was great", 1, "plain", (3, 8)),
        ("to be honest I would never call the plot very bad", 1, "negation", (5, 10)),
    ]:
        assert by_words[text] == Review(tuple(text.split()), label, kind, decides)


def verdict(review: Review, taken: tuple[int, ...] = ()) -> bool | None:
    """Whether it says good by the grammar's rules, without some words; None where they say nothing.

    This is another way than the grammar's: the words are read, and nobody knows the kind.
    """
    words = ["" if place in taken else word for place, word in enumerate(review.words)]
    subject = next(word for word in ("I", "we", "the") if word in review.words)
    border = len(words) - 1 - review.words[::-1].index(subject)  # of two opinions in one frame
    said, degrees = [], []
    for half in (words[:border], words[border:]):
        found = [(place, word in GOOD) for place, word in enumerate(half) if word in GOOD + BAD]
        said += [(good != bool({*NEGATIONS} & {*half})) for _, good in found] or [None]
        degrees += [half[place - 1] for place, _ in found] or [None]
    if {"but", "yet"} & {*words} or words[0] in ("although", "though"):
        return said[1]
    if {"although", "though"} & {*words}:
        return said[0]
    for strong, weak in ((0, 1), (1, 0)):
        if degrees[strong] in STRONG and degrees[weak] in WEAK:
            return said[strong]
    opinions = {good for good in said if good is not None}
    return opinions.pop() if len(opinions) == 1 else None


def test_the_rules_are_those_of_the_grammar(parts):
    for review in (review for part in parts for review in part):
        assert verdict(review) == bool(review.label), " ".join(review.words)


def test_a_word_decides_if_the_rules_miss_it(parts):
    for review in (review for part in parts for review in part[:150]):
        for fewest in (1, 2):
            found = {
                place
                for taken in combinations(range(len(review.words)), fewest)
                if verdict(review, taken) != bool(review.label)
                for place in taken
            }
            if found:
                break
        assert deciding(review) == tuple(sorted(found)), " ".join(review.words)


def test_deciding_words_by_hand():
    by_words = {" ".join(review.words): review for review, _ in every()}
    for text, words in [
        ("the plot was not good but the acting was great", "but great"),
        ("the plot was good but the acting was not great", "but not great"),
        ("although the plot was good the acting was bad", "although bad"),
        ("the plot was good though the acting was bad", "good though"),
        ("the plot was truly good and the acting was fairly bad", "truly good fairly"),
        ("the plot was truly good", "good"),
        ("the plot was good and the acting was great", "good great"),
        ("to be honest I would never call the plot very bad", "never bad"),
    ]:
        review = by_words[text]
        assert " ".join(review.words[place] for place in deciding(review)) == words


def test_the_parts_have_their_sizes_and_share_no_review(parts):
    assert [len(part) for part in parts] == [800, 200, 200, 200]
    assert len({review.words for part in parts for review in part}) == 1400
    assert reviews.reviews(800, 200) == parts
    assert reviews.reviews(800, 200, seed=1).train != parts.train
    with pytest.raises(ValueError, match=" 0 .* 200"):
        reviews.reviews(0, 200)


def test_unseen_combines_known_words_as_no_other_part_does(parts):
    negations = [[sum(w in NEGATIONS for w in r.words) for r in part] for part in parts]
    assert {*negations[3]} == {2} and {n for part in negations[:3] for n in part} == {0, 1}
    assert {w for r in parts.unseen for w in r.words} <= {w for r in parts.train for w in r.words}


def test_kinds_and_labels_are_as_frequent_as_they_say():
    train = reviews.reviews(4000, 1).train
    for kind, share in KINDS.items():
        assert sum(r.kind == kind for r in train) / 4000 == pytest.approx(share / 10, abs=0.03)
    assert sum(review.label for review in train) / 4000 == pytest.approx(0.5, abs=0.03)
    assert {word for review in train for word in review.words} == {*WORDS}
    lengths = [len(review.words) for review in train]
    assert min(lengths) >= 4 and max(lengths) <= 19


def test_no_word_is_of_two_kinds():
    kinds = [GOOD, BAD, NEGATIONS, STRONG, WEAK, *THINGS.values()]
    words = [word for kind in kinds for word in kind]
    words += {word for frame in (*FRAMES, LONG_FRAME) for word in frame.split()}
    words += {word for thing in THINGS for word in thing.split()}
    assert max(Counter(words).values()) == 1
    assert len({len(nouns) for nouns in THINGS.values()}) == 1  # things can be exchanged as well


def test_every_review_is_written_and_the_probabilities_add_up_to_1():
    written = list(every())
    assert sum(probability for _, probability in written) == 1
    for kind, share in KINDS.items():
        assert sum(p for review, p in written if review.kind == kind) * 10 == share
    for kinds in ({"irony": 1, "plain": 1}, {}):
        with pytest.raises(ValueError, match=": .* plain, negation"):
            next(every(kinds=kinds))


def test_ceilings():
    assert ceiling(lambda review: review.words) == 1
    assert ceiling(lambda review: None) == 0.5
    assert ceiling(windows(1)) == 0.75  # half of contrast, negated contrast and strength
    blind = 3 / 4  # of the four frames of negated contrasts: those that begin with "I" or "we"
    assert ceiling(windows(3)) == 1 - 0.3 * blind / 2
    assert ceiling(windows(4)) == 1
    for kind in ("contrast", "negated contrast", "strength", UNSEEN):
        assert ceiling(windows(1), {kind: 1}) == 0.5
    assert ceiling(windows(1), {"plain": 1, "negation": 1}) == 1


def test_a_ceiling_does_not_depend_on_how_many_words_there_are():
    larger = Lexicon({thing: THINGS[thing][:3] for thing in SMALL.things}, GOOD[:3], BAD[:3])
    for kind in ("negated contrast", "strength", "contrast"):
        for size in (1, 3):
            see, seen = windows(size), {}
            for review, probability in every(larger, {kind: 1}):
                seen.setdefault(see(review), Counter())[review.label] += probability
            best = sum(max(labels.values()) for labels in seen.values())
            assert float(best) == ceiling(see, {kind: 1})


def test_a_ceiling_fits_the_reviews_that_are_drawn(parts):
    twins = [(review, twin(review)) for review in parts.test]
    for size in (1, 3):
        see = windows(size)
        alike = [other is not None and see(other) == see(review) for review, other in twins]
        assert 1 - sum(alike) / len(alike) / 2 == pytest.approx(ceiling(see), abs=0.05)


def test_windows_show_runs_of_words_and_the_ends():
    see = windows(2)
    review = Review(tuple("a b a b".split()), 0, "plain", ())
    assert dict(see(review)) == {(None, "a"): 1, ("a", "b"): 2, ("b", "a"): 1, ("b", None): 1}
    assert dict(windows(1)(review)) == {("a",): 2, ("b",): 2}
    with pytest.raises(ValueError, match="window .* 0"):
        windows(0)


def test_a_twin_says_the_opposite_with_the_same_words(parts):
    for review in parts.test[:40]:
        other = twin(review)
        assert (other is None) == (review.kind in ("plain", "negation"))
        if other:
            assert other.label != review.label and Counter(other.words) == Counter(review.words)
            assert read(other.words)[0] == other.label
    text = "I would not call the soup good but I would call the wine great"
    review = Review(tuple(text.split()), 1, "negated contrast", (13,))
    swapped = "I would call the soup good but I would not call the wine great"
    assert " ".join(twin(review).words) == swapped
    assert windows(3)(twin(review)) == windows(3)(review)
