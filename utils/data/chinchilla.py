"""What Hoffmann et al. (2022) trained, read off their figure 4 by Besiroglu et al. (2024).

A point is a training: the weights N and the operations C are its place in the figure, the loss its
colour, so a loss is known to about 0.01.
"""

import csv
import math
from typing import NamedTuple

import numpy as np

from utils.data.files import DatasetError, own_file, read_lines

FILE = "svg_extracted_data.csv"
COLUMNS = "Model Size", "Training FLOP", "loss"
POINTS = 245
LEFT_OUT = 5  # with the fewest tokens for each weight, far from what any law says
GET = (
    "get data/svg_extracted_data.csv from https://github.com/epoch-research/analyzing-chinchilla "
    "and save it in that folder"
)


class Trainings(NamedTuple):
    """Weights, tokens, and the loss in nats for each token, each (n,)."""

    N: np.ndarray
    D: np.ndarray
    losses: np.ndarray


def chinchilla() -> Trainings:
    """Load the trainings from the reader's own file, in BOOK_DATA or the cache.

    Tokens follow from D = C / (6 · N), as the paper counts them. The five trainings with the fewest
    tokens for each weight are left out, as Besiroglu et al. do.

    Raises: DatasetError if the file is missing, a line has not the three numbers, all above 0, or
        there are more or fewer trainings than there should be.
    """
    path = own_file(FILE, GET)
    rows = csv.DictReader(read_lines(path))
    if not set(COLUMNS) <= set(rows.fieldnames):
        raise DatasetError(f"{path} has no columns {', '.join(COLUMNS)}: {GET}.")
    numbers = []
    for row in rows:
        try:
            numbers.append([float(row[column]) for column in COLUMNS])
        except (TypeError, ValueError):
            numbers.append([math.nan])
        if not all(0 < number < math.inf for number in numbers[-1]):
            raise DatasetError(f"{path} has no training in line {rows.line_num}: {GET}.")
    if len(numbers) != POINTS:
        raise DatasetError(f"{path} has {len(numbers)} trainings, not {POINTS}: {GET}.")
    N, C, losses = np.array(numbers).T
    D = C / (6 * N)
    kept = np.sort(np.argsort(D / N)[LEFT_OUT:])  # in the file's order
    return Trainings(N[kept], D[kept], losses[kept])
