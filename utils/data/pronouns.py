"""Sentences of a small grammar: a verb has a subject, and a pronoun has an antecedent.

"the animals near the gates _ not cross the street because it is too wide": the gap wants *do*,
because of *animals*, and *it* means *street*, because streets are wide and animals are not. One
noun of a sentence, and only one, agrees with the pronoun in number and can be what is said of it.
Nouns near the verb may disagree with it, and no place in the sentence is always the right one.
"""

import random
from collections.abc import Iterator
from typing import NamedTuple

SAID_OF = {  # the nouns of a kind, and what is said of no other kind
    "animal": (
        "animal dog cat horse bird cow fox goat".split(),
        "tired hungry scared young lazy ill".split(),
    ),
    "place": (
        "street road river bridge field wall hill gate".split(),
        "wide icy muddy long narrow steep".split(),
    ),
}
KIND = {noun: kind for kind, (nouns, _) in SAID_OF.items() for noun in nouns}
PLURAL = {noun: "foxes" if noun == "fox" else f"{noun}s" for noun in KIND}
SINGULAR = {plural: noun for noun, plural in PLURAL.items()}
NOUNS = {*KIND, *SINGULAR}
GAP, FORMS, PRONOUNS = "_", ("does", "do"), ("it", "they")  # singular, plural
VERBS = "cross reach leave see hear follow pass like".split()
FILLERS = "small brown old big".split()  # said of every kind


class Sentence(NamedTuple):
    """Words, and the places of those that belong together, counted from 0."""

    words: tuple[str, ...]
    gap: int
    subject: int
    pronoun: int
    antecedent: int
    said: int  # of the antecedent

    @property
    def form(self) -> str:
        """What the gap wants."""
        return FORMS[self.words[self.subject] in SINGULAR]

    @property
    def nouns(self) -> list[int]:
        """The places of all nouns."""
        return [place for place, word in enumerate(self.words) if word in NOUNS]


class Corpus(NamedTuple):
    """No sentence stands in two parts; what `unseen_pairs` say of a noun, no other part says of it.

    Both may stand in one sentence elsewhere: there it is said of another noun.
    """

    train: list[Sentence]
    validation: list[Sentence]
    test: list[Sentence]
    unseen_pairs: list[Sentence]


def corpus(seed: int, n_train: int = 4000, n_held_out: int = 500) -> Corpus:
    """Draw the parts. A sixth of what can be said of each noun is kept for `unseen_pairs`."""
    common, unseen = [], []
    drawn, ends = sentences(seed), n_train + n_held_out
    while len(common) < ends + n_held_out or len(unseen) < n_held_out:
        sentence = next(drawn)
        (unseen if _kept_apart(sentence) else common).append(sentence)
    test = common[ends : ends + n_held_out]
    return Corpus(common[:n_train], common[n_train:ends], test, unseen[:n_held_out])


def sentences(seed: int) -> Iterator[Sentence]:
    """Draw sentences without end, none of them twice."""
    chance, seen = random.Random(seed), set()
    while True:
        sentence = _sentence(_draw(chance))
        if sentence is not None and sentence.words not in seen:
            seen.add(sentence.words)
            yield sentence


def twin(sentence: Sentence) -> Sentence | None:
    """The sentence in which another kind is spoken of, one word apart, so that "it" turns over.

    Returns: None if there is no noun, or more than one, that the pronoun could then mean.
    """
    words = list(sentence.words)
    animals, places = (said for _, said in SAID_OF.values())
    here, there = (animals, places) if words[sentence.said] in animals else (places, animals)
    words[sentence.said] = there[here.index(words[sentence.said])]
    return _sentence(tuple(words))


def _draw(chance: random.Random) -> tuple[str, ...]:
    """Words at random; the pronoun may mean a noun, several, or none."""
    plural = chance.random() < 0.5
    said = chance.choice(SAID_OF[chance.choice(list(SAID_OF))][1])
    reason = ["because", PRONOUNS[plural], ("is", "are")[plural], "too", said]
    subject = ["the", *_noun(chance, "animal")]
    beside = ["near", "the", *_noun(chance, chance.choice(list(SAID_OF)))]
    subject += beside if chance.random() < 0.5 else []
    thing = ["the", *_noun(chance, chance.choice(list(SAID_OF)))]
    clause = [*subject, GAP, "not", chance.choice(VERBS), *thing]
    return tuple(clause + reason if chance.random() < 0.5 else reason + clause)


def _sentence(words: tuple[str, ...]) -> Sentence | None:
    """Find what belongs together; None if not just one noun is meant, or a noun stands twice."""
    nouns = [place for place, word in enumerate(words) if word in NOUNS]
    pronoun = next(place for place, word in enumerate(words) if word in PRONOUNS)
    said = pronoun + 3  # "it is too wide"
    meant = [
        place
        for place in nouns
        if (words[place] in SINGULAR) == (words[pronoun] == PRONOUNS[1])
        and words[said] in SAID_OF[kind(words[place])][1]
    ]
    if len(meant) != 1 or len({words[place] for place in nouns}) < len(nouns):
        return None
    return Sentence(words, words.index(GAP), nouns[0], pronoun, meant[0], said)


def _noun(chance: random.Random, of: str) -> list[str]:
    noun = chance.choice(SAID_OF[of][0])
    noun = PLURAL[noun] if chance.random() < 0.5 else noun
    return [chance.choice(FILLERS), noun] if chance.random() < 0.3 else [noun]


def menus() -> list[tuple[str, list[str], int]]:
    """The parts of a sentence to be put together: (what it is, what there is, the first choice).

    Not all that they allow is in the grammar: the last has to fit exactly one of the nouns.
    """
    animals, places = ([*nouns, *(PLURAL[noun] for noun in nouns)] for nouns, _ in SAID_OF.values())
    things = [*animals, *places]
    said = [word for _, words in SAID_OF.values() for word in words]
    return [
        ("subject", [f"the {noun}" for noun in animals], 0),
        ("beside it", ["", *(f"near the {noun}" for noun in things)], 0),
        ("gap", [f"{GAP} not"], 0),
        ("verb", VERBS, 0),
        ("object", [f"the {noun}" for noun in things], things.index("street")),
        ("because", ["because"], 0),
        ("reason", [f"{who} too {word}" for who in ("it is", "they are") for word in said], 0),
    ]


def never_said(noun: str) -> str:
    """What can be said of a noun, singular or plural, and is kept for `unseen_pairs`."""
    _, said = SAID_OF[kind(noun)]
    return next(word for word in said if _kept_apart(Sentence((noun, word), 0, 0, 0, 0, 1)))


def kind(noun: str) -> str:
    """Of what kind a noun is, singular or plural: one of `SAID_OF`."""
    return KIND[SINGULAR.get(noun, noun)]


def first_of_its_number(sentence: Sentence) -> int:
    """The place of the first noun that agrees with the pronoun in number, a simple rule."""
    plural = sentence.words[sentence.pronoun] == PRONOUNS[1]
    return next(n for n in sentence.nouns if (sentence.words[n] in SINGULAR) == plural)


def number_decides(sentence: Sentence) -> bool:
    """Whether the antecedent is the only noun of its number."""
    plural = [sentence.words[place] in SINGULAR for place in sentence.nouns]
    return plural.count(sentence.words[sentence.antecedent] in SINGULAR) == 1


def _kept_apart(sentence: Sentence) -> bool:
    """Whether this is said of this noun only where training does not see it."""
    noun = sentence.words[sentence.antecedent]
    nouns, said = SAID_OF[kind(noun)]
    number = nouns.index(SINGULAR.get(noun, noun))
    return (number + 1) % len(said) == said.index(sentence.words[sentence.said])
