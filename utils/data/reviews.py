"""Short reviews written by a grammar, which knows what each says, and by which words.

"I would not call the plot good but I would call the ending great": a review is good (1) or bad (0).

- A negation turns an opinion over: *not good* is bad, *never dull* is good.
- After *but* and *yet* comes what decides; *although* and *though* begin what does not.
- Of two opinions without such a word, the stronger one decides: *truly* good, *rather* dull.

Many reviews say the opposite with the same words in another order, and some with the same windows
of three words. A model that sees no more than these can't be right in all of them: `ceiling`
says in how many.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from fractions import Fraction
from math import prod
from random import Random
from typing import NamedTuple

THINGS = {  # what is reviewed, and eight things to be said of it
    "of this film": "plot acting ending music dialogue script camerawork opening".split(),
    "of this book": "story hero style humour cover translation mystery romance".split(),
    "at this restaurant": "food service soup dessert wine bread sauce fish".split(),
    "in this hotel": "room bed breakfast lobby pool garden bathroom bar".split(),
    "on this tour": "guide route lunch bus museum castle boat hike".split(),
    "on this phone": "screen camera battery sound keyboard design display charger".split(),
}
GOOD = (
    "good great excellent wonderful superb brilliant fantastic splendid lovely marvellous "
    "delightful impressive"
).split()
BAD = (
    "bad poor terrible awful dreadful disappointing horrible mediocre dull dismal unpleasant "
    "annoying"
).split()
FRAMES = (  # both opinions of a review stand in the same one
    "the {noun} was {no} {degree} {adjective}",
    "I would {no} call the {noun} {degree} {adjective}",
    "we could {no} call the {noun} {degree} {adjective}",
    "I would {no} say that the {noun} was {degree} {adjective}",
)
LONG_FRAME = "I would {no} tell a friend that the {noun} was {degree} {adjective}"
NEGATIONS = "not never".split()
STRONG, WEAK = "truly extremely incredibly".split(), "fairly rather somewhat".split()
OPENINGS = ("", "to be honest", "on the whole", "for me", "in the end")
CONTRASTS = (  # before the first opinion, between the two, and which of them decides
    ("", "but", 1),
    ("", "yet", 1),
    ("although", "", 1),
    ("though", "", 1),
    ("", "although", 0),
    ("", "though", 0),
)
KINDS = {  # and how many of ten are of each
    "plain": 4,
    "negation": 1,
    "contrast": 1,
    "negated contrast": 3,  # one of the two opinions is negated
    "strength": 1,
}
UNSEEN = "two negations"
WORDS = sorted(
    {*GOOD, *BAD, *NEGATIONS, *STRONG, *WEAK, "and", "while", "very"}
    | {word for thing, nouns in THINGS.items() for word in (*thing.split(), *nouns)}
    | {word for frame in (*FRAMES, LONG_FRAME) for word in frame.split() if word[0] != "{"}
    | {word for opening in OPENINGS for word in opening.split()}
    | {word for contrast in CONTRASTS for word in contrast[:2] if word}
)


class Review(NamedTuple):
    """Words, and what they say: label 1 is good, 0 is bad.

    decides: the places, counted from 0, of the opinion that decides: of its adjective and of its
        negation; of two that agree, of both. What makes it decide, `deciding` adds.
    """

    words: tuple[str, ...]
    label: int
    kind: str
    decides: tuple[int, ...]


class Reviews(NamedTuple):
    """No review is in two parts; those of `unseen` hold two negations, the others at most one."""

    train: list[Review]
    validation: list[Review]
    test: list[Review]
    unseen: list[Review]


class Lexicon(NamedTuple):
    """The words that opinions are made of; those of a kind are all as frequent."""

    things: Mapping[str, Sequence[str]]
    good: Sequence[str]
    bad: Sequence[str]


ALL = Lexicon(THINGS, GOOD, BAD)
Choose = Callable[[Sequence], object]  # takes one of several, each as probable as the others


def reviews(n_train: int = 6000, n_held_out: int = 1000, seed: int = 0) -> Reviews:
    """Draw n_train reviews to learn from, and n_held_out for each of the other parts.

    Raises: ValueError if a part would be empty.
    """
    if n_train < 1 or n_held_out < 1:
        raise ValueError(f"Each part needs a review, got {n_train} and {n_held_out}.")
    drawn = _without_end(seed, KINDS)
    sizes = (n_train, n_held_out, n_held_out)
    parts = [[next(drawn) for _ in range(size)] for size in sizes]
    unseen = _without_end(seed, {UNSEEN: 1})
    return Reviews(*parts, [next(unseen) for _ in range(n_held_out)])


def _without_end(seed: int, kinds: Mapping[str, int]) -> Iterator[Review]:
    """Draw reviews, none of them twice."""
    chance, seen = Random(seed), set()
    while True:
        review = _write(chance.choice, ALL, kinds)
        if review.words not in seen:
            seen.add(review.words)
            yield review


# Which words decide -------------------------------------------------------------------------------


def deciding(review: Review) -> tuple[int, ...]:
    """Return the places of the words that decide, in order.

    A word decides if it is one of the fewest without which the grammar's rules leave the verdict
    open or turn it over: the adjective and the *not* of the opinion that decides, the *but* (or
    *although* …) that makes it the one, and of two degrees that are compared, both.
    """
    joints = {word for contrast in CONTRASTS for word in contrast[:2]}
    if review.kind == "strength":
        joints |= {*STRONG, *WEAK}
    made = [place for place, word in enumerate(review.words) if word in joints]
    return tuple(sorted({*review.decides, *made}))


# What can be known without the order --------------------------------------------------------------


def windows(size: int) -> Callable[[Review], Hashable]:
    """What a bag of windows sees of a review: each run of `size` words, and how often it occurs.

    The ends are marked, so this is all that a convolution with a kernel of this size can tell
    apart, whatever it pools and however it pads. Windows of one word are a bag of words.

    Raises: ValueError if a window holds no word.
    """
    if size < 1:
        raise ValueError(f"A window holds at least 1 word, got {size}.")

    def see(review: Review) -> Hashable:
        edge = (None,) * (size - 1)
        words = (*edge, *review.words, *edge)
        runs = Counter(words[i : i + size] for i in range(len(words) - size + 1))
        return frozenset(runs.items())

    return see


def ceiling(see: Callable[[Review], Hashable], kinds: Mapping[str, int] = KINDS) -> float:
    """The greatest expected accuracy of anyone who knows the grammar, and `see(review)` only.

    This is Bayes' accuracy: of all reviews that look the same, the more probable label. Every
    review of a small lexicon is counted. With the whole one the ceiling is the same, as words of
    a kind can be exchanged for each other, and a review holds two of each kind at most.

    see: tells words apart, but takes none for special, as `windows`, or the length.
    kinds: which reviews there are, and how many of each; see KINDS.
    Raises: ValueError if there is no such kind.
    """
    seen: dict[Hashable, Counter] = defaultdict(Counter)
    for review, probability in every(kinds=kinds):
        seen[see(review)][review.label] += probability
    return float(sum(max(labels.values()) for labels in seen.values()))


SMALL = Lexicon({"of this film": THINGS["of this film"][:2]}, GOOD[:2], BAD[:2])


def every(
    lexicon: Lexicon = SMALL, kinds: Mapping[str, int] = KINDS
) -> Iterator[tuple[Review, Fraction]]:
    """Write all reviews that there are, each in every way, with its probability.

    The choices are counted through like the digits of a number, the last one fastest.

    Raises: ValueError if there is no such kind.
    """
    taken: list[int] = []
    while True:
        sizes: list[int] = []

        def choose(options: Sequence, sizes: list[int] = sizes) -> object:
            if len(sizes) == len(taken):
                taken.append(0)
            sizes.append(len(options))
            return options[taken[len(sizes) - 1]]

        review = _write(choose, lexicon, kinds)
        yield review, Fraction(1, prod(sizes))
        while taken and taken[-1] == sizes[len(taken) - 1] - 1:
            taken.pop()
        if not taken:
            return
        taken[-1] += 1


def twin(review: Review) -> Review | None:
    """A review of the same kind that says the opposite with the same words in another order.

    Returns: None if there is none; of several, one with the same windows of three words.
    """

    def own(words: Sequence[str]) -> list[str]:
        return sorted(words, key=lambda word: word not in review.words)[:2]  # its own first

    thing = min(THINGS, key=lambda thing: own(THINGS[thing])[0] not in review.words)
    lexicon = Lexicon({thing: own(THINGS[thing])}, own(GOOD), own(BAD))
    bag, three = windows(1), windows(3)
    found = [
        other
        for other, _ in every(lexicon, {review.kind: 1})
        if other.label != review.label and bag(other) == bag(review)
    ]
    return max(found, key=lambda other: three(other) == three(review), default=None)


# The grammar --------------------------------------------------------------------------------------


class _Opinion(NamedTuple):
    words: tuple[str, ...]
    is_good: bool
    decides: tuple[int, ...]


def _write(choose: Choose, lexicon: Lexicon, kinds: Mapping[str, int]) -> Review:
    """Write one review: the choices are made elsewhere."""
    unknown = sorted({*kinds} - {*KINDS, UNSEEN})
    if unknown or not kinds:
        raise ValueError(f"No kind {unknown or ''}: choose from {', '.join(KINDS)}, {UNSEEN}.")
    kind = choose([kind for kind, share in kinds.items() for _ in range(share)])
    thing = choose(list(lexicon.things))
    poles = choose([(lexicon.good, lexicon.bad), (lexicon.bad, lexicon.good)])

    def opinions(adjectives, negations=("", ""), degrees=("", "")) -> list[_Opinion]:
        frame, nouns = choose(FRAMES), _two(choose, lexicon.things[thing])
        slots = zip(nouns, adjectives, negations, degrees, strict=True)
        return [_opinion(frame, *words) for words in slots]

    if kind == "negation" or (kind == "plain" and choose([True, False])):
        no = choose(NEGATIONS) if kind == "negation" else ""
        degree = choose(["", "very"] if no else ["", "very", *STRONG, *WEAK])
        noun = choose(lexicon.things[thing]) + choose(["", f" {thing}"])
        frame = choose([*FRAMES, LONG_FRAME])
        said = _opinion(frame, noun, choose(poles[0]), no, degree)
        return _joined(kind, choose(OPENINGS), [said], "", [0])
    if kind == "plain":
        return _joined(kind, "", opinions(_two(choose, poles[0])), "and", [0, 1])
    if kind == "strength":
        strengths = choose([(STRONG, WEAK), (WEAK, STRONG)])
        said = opinions([choose(pole) for pole in poles], degrees=[choose(s) for s in strengths])
        return _joined(kind, "", said, choose(["and", "while"]), [strengths.index(STRONG)])
    before, between, deciding = choose(CONTRASTS)
    if kind == "negated contrast":
        no = choose(NEGATIONS)
        said = opinions(_two(choose, poles[0]), choose([(no, ""), ("", no)]))
    else:
        negated = kind == UNSEEN
        negations = [choose(NEGATIONS) if negated else "" for _ in poles]
        said = opinions([choose(pole) for pole in poles], negations)
    return _joined(kind, before, said, between, [deciding])


def _two(choose: Choose, words: Sequence[str]) -> list[str]:
    """Choose two different words."""
    first = choose(words)
    return [first, choose([word for word in words if word != first])]


def _opinion(frame: str, noun: str, adjective: str, no: str, degree: str) -> _Opinion:
    words = frame.format(noun=noun, adjective=adjective, no=no, degree=degree).split()
    decides = tuple(words.index(word) for word in (no, adjective) if word)
    return _Opinion(tuple(words), (adjective in GOOD) != bool(no), decides)


def _joined(
    kind: str, before: str, said: list[_Opinion], between: str, deciding: list[int]
) -> Review:
    """Join opinions; those at `deciding` say what the label is."""
    words, decides = before.split(), []
    for number, opinion in enumerate(said):
        if number:
            words += between.split()
        if number in deciding:
            decides += [len(words) + place for place in opinion.decides]
        words += opinion.words
    return Review(tuple(words), int(said[deciding[0]].is_good), kind, tuple(decides))
