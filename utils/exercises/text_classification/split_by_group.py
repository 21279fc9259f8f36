"""Split phrases into training and test so that those that contain each other stay together."""

from utils.exercises.checking import Exercise


def goes_to_test(phrases: list[str], n_test: int) -> list[bool]:
    """Return for each phrase whether it goes to the test set; the others are for training.

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
    """The index of the longest phrase that contains this one."""
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


@exercise.stage("a phrase inside several others")
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


@exercise.stage("a phrase inside two that are equally long")
def two_as_long():
    return [(["a film", "what a film", "such a film", "so dull"], 1)]


@exercise.stage("groups that are larger than the test set should be")
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
    "you place each phrase separately, as a random split does: a test phrase can be part of one "
    "that was read in training."
)
def each_alone(phrases, n_test):
    return [place < n_test for place in range(len(phrases))]


@exercise.mistake(
    "only equal phrases stay together in yours: keep a part of a sentence with the sentence."
)
def duplicates_alone(phrases, n_test):
    return dealt([phrases.index(phrase) for phrase in phrases], n_test)


@exercise.mistake(
    "you group by the first word: a phrase can begin anywhere in a sentence, and two sentences "
    "can begin alike."
)
def by_first_word(phrases, n_test):
    first = [phrase.split()[0] for phrase in phrases]
    return dealt([first.index(word) for word in first], n_test)


@exercise.mistake(
    "you cut a group where the test set had enough: the rest of it, in training, is the leak. "
    "Take the whole group."
)
def cut_at_the_border(phrases, n_test):
    homes = [home(phrase, phrases) for phrase in phrases]
    order = sorted(range(len(phrases)), key=lambda place: homes[place])
    return [place in order[:n_test] for place in range(len(phrases))]


@exercise.mistake(
    "a group's longest phrase is in your test set, but its parts are in training: they belong "
    "together."
)
def parts_stay_in_training(phrases, n_test):
    test = goes_to_test(phrases, n_test)
    return [test[place] and home(phrases[place], phrases) == place for place in range(len(test))]


@exercise.mistake("`in` compares letters: “art” is inside “heart”, but it isn't one of its words.")
def letters(phrases, n_test):
    return with_inside(lambda phrase, other: phrase in other)(phrases, n_test)


@exercise.mistake(
    "all words of the one are in the other, but not next to each other in the same order: that "
    "isn't word for word."
)
def any_order(phrases, n_test):
    return with_inside(lambda phrase, other: {*phrase.split()} <= {*other.split()})(phrases, n_test)


@exercise.mistake(
    "in your groups, a phrase is contained only at the beginning of another: it can start later."
)
def beginnings_alone(phrases, n_test):
    return with_inside(lambda phrase, other: f"{other} ".startswith(f"{phrase} "))(phrases, n_test)


@exercise.mistake(
    "a phrase went with the first one that contains it: that one may itself be part of a longer "
    "one, so phrases that belong together are in two groups."
)
def first_found(phrases, n_test):
    def around(phrase):
        places = [i for i, other in enumerate(phrases) if lies_inside(phrase, other)]
        return next((i for i in places if phrases[i] != phrase), places[0])

    return dealt([around(phrase) for phrase in phrases], n_test)


@exercise.mistake("you exchanged training and test: True is for the test set.")
def exchanged(phrases, n_test):
    return [not to for to in goes_to_test(phrases, n_test)]


@exercise.mistake("n_test counts phrases, but you took that many groups.")
def counts_groups(phrases, n_test):
    homes = [home(phrase, phrases) for phrase in phrases]
    return [place in sorted(set(homes))[:n_test] for place in homes]


@exercise.mistake(
    "your test set has fewer phrases than n_test: the group that crosses the limit belongs to it."
)
def stops_before(phrases, n_test):
    homes = [home(phrase, phrases) for phrase in phrases]
    test = set()
    for group in sorted(set(homes)):
        if sum(place in {*test, group} for place in homes) > n_test:
            break
        test.add(group)
    return [place in test for place in homes]


@exercise.mistake("your largest groups went to the test set first: follow the order of the list.")
def largest_first(phrases, n_test):
    homes = [home(phrase, phrases) for phrase in phrases]
    order = sorted(set(homes), key=lambda place: (-homes.count(place), place))
    return dealt([order.index(place) for place in homes], n_test)


@exercise.mistake("the longest phrase is the one with the most words; yours has the most letters.")
def longest_by_letters(phrases, n_test):
    def longest(phrase):
        around = [i for i, other in enumerate(phrases) if lies_inside(phrase, other)]
        return max(around, key=lambda place: len(phrases[place]))

    return dealt([longest(phrase) for phrase in phrases], n_test)


@exercise.mistake("of several equally long phrases you took the last: take the first in the list.")
def last_of_equals(phrases, n_test):
    backwards = [home(phrase, phrases[::-1]) for phrase in phrases]
    return dealt([len(phrases) - 1 - place for place in backwards], n_test)


@exercise.mistake(
    "your groups with the longest phrases went to the test set first: follow the order of the list."
)
def longest_first(phrases, n_test):
    homes = [home(phrase, phrases) for phrase in phrases]
    order = sorted(set(homes), key=lambda place: (-len(phrases[place].split()), place))
    return dealt([order.index(place) for place in homes], n_test)


@exercise.mistake(
    "that is how the page's `groups` does it, longest first and then alphabetically; here the "
    "list's order counts, both among groups and among equally long phrases."
)
def as_the_page_groups(phrases, n_test):
    order = sorted(set(phrases), key=lambda phrase: (-len(phrase.split()), phrase.split()))
    return dealt([home(phrase, order) for phrase in phrases], n_test)


@exercise.mistake(
    "a group's turn comes where its longest phrase is in the list; yours comes where its first "
    "phrase is."
)
def order_of_first_appearance(phrases, n_test):
    homes = [home(phrase, phrases) for phrase in phrases]
    return dealt([homes.index(place) for place in homes], n_test)


@exercise.mistake(
    "those are the phrases of the test set: return True or False for each phrase of the list."
)
def phrases_returned(phrases, n_test):
    return [p for p, t in zip(phrases, goes_to_test(phrases, n_test), strict=True) if t]
