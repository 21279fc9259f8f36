"""Predict how often a visible word is false, where half of the words are hidden by the rule."""

from utils.exercises.checking import Prediction

SHARE = 0.5  # of the words are asked for
MASKED, OTHER = 0.8, 0.1  # of those


def trusted_word() -> float:
    """In percent: false words among all that are no [MASK]."""
    return 100 * SHARE * OTHER / (1 - SHARE * MASKED)


exercise = Prediction(trusted_word, tolerance=0.011)


@exercise.mistake(
    "that is their share of all words: [MASK] can't be mistaken for a word, so leave it out."
)
def of_all_words():
    return 100 * SHARE * OTHER


@exercise.mistake(
    "a tenth of the words that are *asked for* are false, and half of the words aren't."
)
def of_those_asked():
    return 100 * OTHER


@exercise.mistake("here half of the words are asked for, not BERT's 15%.")
def at_berts_share():
    return 100 * 0.15 * OTHER / (1 - 0.15 * MASKED)


@exercise.mistake("a word that is asked for and stays is true: only the exchanged ones are false.")
def stays_counted():
    return 100 * SHARE * (1 - MASKED) / (1 - SHARE * MASKED)


@exercise.mistake("that is the share of *true* words: the question is about false ones.")
def true_ones():
    return 100 - trusted_word()


@exercise.mistake("give the answer in percent, not as a share.")
def as_a_share():
    return trusted_word() / 100


@exercise.mistake(
    "that is the share among words that are asked for and visible: count the others, too."
)
def among_asked_and_visible():
    return 100 * OTHER / (1 - MASKED)


@exercise.mistake("words that are asked for and stay as they were are visible, too: count them.")
def stays_left_out():
    return 100 * SHARE * OTHER / (1 - SHARE + SHARE * OTHER)


@exercise.mistake("that is the share of [MASK] among all words: ask about the words that are left.")
def masks():
    return 100 * SHARE * MASKED


@exercise.mistake("nearly: a whole number is too coarse here, so give one digit after the point.")
def rounded():
    return round(trusted_word())
