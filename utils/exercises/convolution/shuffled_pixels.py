"""Which network reads worse when the pixels of all pictures are shuffled in the same way?"""

from utils.exercises.checking import Prediction
from utils.measure import experiments


def hurt_by_shuffling() -> str:
    """Name the networks whose mean share of errors grew by more than a quarter when measured."""
    stored = experiments.load("shuffled")

    def errors(model: str, shuffled: bool) -> float:
        return 1 - stored.spread("test", model=model, shuffled=shuffled)[0]

    dense, convolutional = (
        errors(model, True) > 1.25 * errors(model, False) for model in ("dense", "DigitsNet")
    )
    return {
        (True, True): "both",
        (True, False): "dense",
        (False, True): "convolutional",
        (False, False): "neither",
    }[dense, convolutional]


exercise = Prediction(hurt_by_shuffling, choices=("dense", "convolutional", "both", "neither"))


@exercise.mistake("does a dense layer know which pixels are neighbours?")
def dense_alone():
    return "dense"


@exercise.mistake("only one of the two looks at neighbours.")
def both():
    return "both"


@exercise.mistake("what is left of an edge after the shuffle?")
def neither():
    return "neither"
