"""Which of four matrices has a 100th power that makes vectors more than 1,000 times as long?"""

import torch

from utils.exercises.checking import Prediction

MATRICES = {
    "a": [[0.9, 5.0], [0.0, 0.9]],
    "b": [[0.6, -0.8], [0.8, 0.6]],
    "c": [[0.5, 0.6], [0.6, 0.5]],
    "d": [[0.0, 4.0], [0.2, 0.0]],
}


def explodes() -> str:
    """Measure the norm of each matrix's 100th power."""

    def after_100_steps(rows: list) -> float:
        power = torch.linalg.matrix_power(torch.tensor(rows, dtype=torch.float64), 100)
        return torch.linalg.matrix_norm(power, 2).item()

    (name,) = [name for name, rows in MATRICES.items() if after_100_steps(rows) > 1000]
    return name


exercise = Prediction(explodes, choices=tuple(MATRICES))


@exercise.mistake("the 5 makes it grow at first, but is it still large after 100 factors of 0.9?")
def large_entry():
    return "a"


@exercise.mistake("what does this matrix do to the length of a vector?")
def rotation():
    return "b"


@exercise.mistake("multiply it by itself once: what is left of the 4?")
def large_entry_undone():
    return "d"
