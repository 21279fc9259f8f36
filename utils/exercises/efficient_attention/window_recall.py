"""What share of all questions does one block with a window answer in recall?"""

from utils.exercises.checking import Prediction


def share(T: int = 128, window: int = 16, values: int = 8, sees_itself: bool = False) -> float:
    """Return the share that is seen, and of the rest what a guess among all values gets right."""
    pairs = sum(min(T - 1, t + window) - max(0, t - window) + sees_itself for t in range(T))
    seen = pairs / (T * (T - 1 + sees_itself))
    return seen + (1 - seen) / values


exercise = Prediction(share, tolerance=0.005)


# What goes wrong ----------------------------------------------------------------------------------


@exercise.mistake(
    "that is the share that is seen: of the other questions, one in eight is guessed."
)
def seen_alone():
    return share(values=10**9)


@exercise.mistake("near the two ends of the text, a window is cut off: it sees fewer positions.")
def never_cut_off():
    return 32 / 127 + 95 / 127 / 8


@exercise.mistake("the window reaches to both sides.")
def one_side():
    seen = share(window=16, values=10**9) / 2
    return seen + (1 - seen) / 8


@exercise.mistake("that is what a guess is worth: within the window, the block sees the answer.")
def guesses_alone():
    return 1 / 8


@exercise.mistake(
    "a guess is correct for one in eight of the questions that are not seen, not of all."
)
def guessed_for_all():
    return share(values=10**9) + 1 / 8


@exercise.mistake("that counts the question's own position as seen: the answer is at another one.")
def itself_too():
    return share(sees_itself=True)


@exercise.mistake("that is a percentage; a share is between 0 and 1.")
def percent():
    return 100 * share()


@exercise.mistake("two blocks may reach 32 positions; here is one.")
def two_blocks():
    return share(window=32)


@exercise.mistake(
    "that is what a question far from both ends sees: near an end it sees less, and what is not "
    "seen can be guessed."
)
def in_the_middle_without_guesses():
    return 32 / 127
