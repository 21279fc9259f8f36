"""Deal phrases out to training and test so that what lies inside each other stays together."""

from utils.exercises.checking import Exercise


def goes_to_test(phrases: list[str], n_test: int) -> list[bool]:
    """Say of each phrase whether it is for the test; the others are for training.

    A phrase belongs to the longest phrase, in words, that contains it word for word; of several as
    long, to the first in the list. Groups go to the test whole, in the order in which their longest
    phrases stand in the list, until at least n_test phrases are there.
    """
    homes = [home(phrase, phrases) for phrase in phrases]
    test = set()
    for group in sorted(set(homes)):
        if sum(place in test for place in homes) < n_test:
            test.add(group)
    return [place in test for place in homes]


def home(phrase: str, phrases: list[str]) -> int:
    """The place of the longest phrase that contains this one."""
    around = [place for place, other in enumerate(phrases) if lies_inside(phrase, other)]
    return max(around, key=lambda place: len(phrases[place].split()))  # the first of equals


def lies_inside(phrase: str, other: str) -> bool:
    return f" {phrase} " in f" {other} "


exercise = Exercise(goes_to_test, gradient=False)


# What it is tried on ------------------------------------------------------------------------------


@exercise.stage("phrases that have nothing in common")
def nothing_in_common():
    phrases = ["so dull", "a treat", "great fun", "badly lit"]
    return [(phrases, 1), (phrases, 2), (phrases, 0), (phrases, 4)]


@exercise.stage("phrases inside one sentence")
def inside_a_sentence():
    return [
        (["the end", "a good film", "film", "so dull", "a good", "the end"], 1),
        (["good", "a treat", "a good film", "film", "too long"], 2),
    ]


@exercise.stage("words that are parts of words")
def parts_of_words():
    return [(["the art", "he", "heart", "apart from the artist", "a part", "part"], 2)]


@exercise.stage("the same words, with others between them or in another order")
def other_order():
    return [(["good film", "so dull", "a good old film", "film good", "old good"], 2)]


@exercise.stage("a phrase that lies inside several")
def inside_several():
    return [
        (["a film", "see a film", "go and see a film", "good", "and see a film", "not good"], 1),
        (["a film", "what a film it is", "not a film", "it is", "what it is", "so it is now"], 3),
    ]


@exercise.stage("the longest of several, in words")
def longest_in_words():
    return [
        (["in it", "uninteresting in it", "we are in it", "so dull"], 1),
        (["so dull", "a film", "such a film", "that is what a film is"], 1),
    ]


@exercise.stage("a phrase that lies inside two as long")
def two_as_long():
    return [(["a film", "what a film", "such a film", "so dull"], 1)]


@exercise.stage("groups that are larger than the test was to be")
def large_groups():
    return [
        (["a", "a b c", "d", "b c", "e f", "c", "f", "g h"], 2),
        (["a b", "c d e f", "b", "d e", "e f", "c", "g h", "h", "a", "f"], 5),
        (["a b", "c d e f", "b", "d e", "e f", "c", "g h", "h", "a", "f"], 4),
    ]


# What goes wrong ----------------------------------------------------------------------------------


def dealt(homes: list, n_test: int) -> list[bool]:
    """Deal out groups in the order of their names."""
    test = set()
    for group in sorted(set(homes)):
        if sum(place in test for place in homes) < n_test:
            test.add(group)
    return [place in test for place in homes]


def with_inside(inside):
    """Group with another idea of lying inside."""

    def split(phrases, n_test):
        homes = []
        for phrase in phrases:
            around = [place for place, other in enumerate(phrases) if inside(phrase, other)]
            homes.append(max(around, key=lambda place: len(phrases[place].split())))
        return dealt(homes, n_test)

    return split


@exercise.mistake(
    "each phrase is dealt out alone, as a random split does: a test phrase can lie inside one that "
    "was read in training."
)
def each_alone(phrases, n_test):
    return [place < n_test for place in range(len(phrases))]


@exercise.mistake(
    "only equal phrases stay together: a part of a sentence is as well known as the sentence."
)
def duplicates_alone(phrases, n_test):
    return dealt([phrases.index(phrase) for phrase in phrases], n_test)


@exercise.mistake(
    "you group by the first word. A phrase can begin anywhere inside a sentence, and two sentences "
    "can begin alike."
)
def by_first_word(phrases, n_test):
    first = [phrase.split()[0] for phrase in phrases]
    return dealt([first.index(word) for word in first], n_test)


@exercise.mistake(
    "a group was cut where the test had enough: what is left of it in training is the leak. Take "
    "the whole group."
)
def cut_at_the_border(phrases, n_test):
    homes = [home(phrase, phrases) for phrase in phrases]
    order = sorted(range(len(phrases)), key=lambda place: homes[place])
    return [place in order[:n_test] for place in range(len(phrases))]


@exercise.mistake(
    "the longest phrase of a group is in the test, and its parts are in training: they belong "
    "together."
)
def parts_stay_in_training(phrases, n_test):
    test = goes_to_test(phrases, n_test)
    return [test[place] and home(phrases[place], phrases) == place for place in range(len(test))]


@exercise.mistake(
    "`in` looks for letters: “art” lies inside “heart”, but no reader of words would say so."
)
def letters(phrases, n_test):
    return with_inside(lambda phrase, other: phrase in other)(phrases, n_test)


@exercise.mistake(
    "all words of the one are in the other, but not side by side in the same order: word for word "
    "is more than that."
)
def any_order(phrases, n_test):
    return with_inside(lambda phrase, other: {*phrase.split()} <= {*other.split()})(phrases, n_test)


@exercise.mistake(
    "a phrase lies inside another only at its beginning in your groups: it can begin later."
)
def beginnings_alone(phrases, n_test):
    return with_inside(lambda phrase, other: f"{other} ".startswith(f"{phrase} "))(phrases, n_test)


@exercise.mistake(
    "a phrase went with the first one that contains it. That one may lie inside a longer one "
    "itself, so what belongs together is in two groups."
)
def first_found(phrases, n_test):
    def around(phrase):
        places = [i for i, other in enumerate(phrases) if lies_inside(phrase, other)]
        return next((i for i in places if phrases[i] != phrase), places[0])

    return dealt([around(phrase) for phrase in phrases], n_test)


@exercise.mistake("training and test are exchanged: True is for the test.")
def exchanged(phrases, n_test):
    return [not to for to in goes_to_test(phrases, n_test)]


@exercise.mistake("n_test counts phrases, and you took as many groups.")
def counts_groups(phrases, n_test):
    homes = [home(phrase, phrases) for phrase in phrases]
    return [place in sorted(set(homes))[:n_test] for place in homes]


@exercise.mistake(
    "the test has fewer phrases than n_test: the group that passes the border goes there as well."
)
def stops_before(phrases, n_test):
    homes = [home(phrase, phrases) for phrase in phrases]
    test = set()
    for group in sorted(set(homes)):
        if sum(place in {*test, group} for place in homes) > n_test:
            break
        test.add(group)
    return [place in test for place in homes]


@exercise.mistake(
    "the largest groups went to the test first: the order asked for is that of the list."
)
def largest_first(phrases, n_test):
    homes = [home(phrase, phrases) for phrase in phrases]
    order = sorted(set(homes), key=lambda place: (-homes.count(place), place))
    return dealt([order.index(place) for place in homes], n_test)


@exercise.mistake("the longest phrase is the one with most words; yours has most letters.")
def longest_by_letters(phrases, n_test):
    def longest(phrase):
        around = [i for i, other in enumerate(phrases) if lies_inside(phrase, other)]
        return max(around, key=lambda place: len(phrases[place]))

    return dealt([longest(phrase) for phrase in phrases], n_test)


@exercise.mistake("of several phrases as long you took the last; take the first in the list.")
def last_of_equals(phrases, n_test):
    backwards = [home(phrase, phrases[::-1]) for phrase in phrases]
    return dealt([len(phrases) - 1 - place for place in backwards], n_test)


@exercise.mistake(
    "the groups with the longest phrases went to the test first: the order asked for is that of "
    "the list."
)
def longest_first(phrases, n_test):
    homes = [home(phrase, phrases) for phrase in phrases]
    order = sorted(set(homes), key=lambda place: (-len(phrases[place].split()), place))
    return dealt([order.index(place) for place in homes], n_test)


@exercise.mistake(
    "that is how the page's `groups` does it, longest first and then by the alphabet; here the "
    "list's order counts, both among groups and among phrases as long."
)
def as_the_page_groups(phrases, n_test):
    order = sorted(set(phrases), key=lambda phrase: (-len(phrase.split()), phrase.split()))
    return dealt([home(phrase, order) for phrase in phrases], n_test)


@exercise.mistake(
    "a group's turn comes where its longest phrase stands in the list; yours comes where its first "
    "phrase stands."
)
def order_of_first_appearance(phrases, n_test):
    homes = [home(phrase, phrases) for phrase in phrases]
    return dealt([homes.index(place) for place in homes], n_test)
