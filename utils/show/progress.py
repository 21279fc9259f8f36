"""Training's progress in a notebook: one line in the page, which is gone when training is done."""

from collections.abc import Iterable, Iterator, Sequence
from functools import wraps
from types import ModuleType

from IPython import get_ipython
from IPython.display import display
from tqdm import tqdm

SHOWN = (
    '<label><progress max="100" value="{percentage:.0f}"></progress> '
    "{desc}: {unit} {n:,} of {total:,}, about {remaining} left</label>"
)


class Line:
    """A file in which tqdm's line stands in the page, under the cell that runs.

    What trains later in the same cell takes the same place. Empty, it can't be seen.
    """

    def __init__(self):
        self.cell, self.place, self.text = None, None, ""

    def write(self, text: str) -> None:
        """Put a text in place of what the line says; blanks empty it."""
        text = text.strip()
        if text == self.text:
            return
        cell = get_ipython().execution_count
        if self.place is None or cell != self.cell:
            self.cell, self.place = cell, display({}, raw=True, display_id=True)
        self.text = text
        self.place.update({"text/html": text} if text else {}, raw=True)


class Steps(tqdm):
    """The bar of `fit`, which counts epochs: of batches of a known number it counts the steps."""

    monitor_interval = 0  # no thread beside the training

    def over(self, batches: Iterable) -> Iterable:
        """The batches of an epoch; each is counted when the next one is asked for."""
        if self.disable or not hasattr(batches, "__len__"):
            return batches
        if self.unit == "epoch":
            self.unit = "step"
            self.total, self.initial, self.n = (
                count * len(batches) for count in (self.total, self.initial, self.n)
            )
        return self._each(batches)

    def _each(self, batches: Sequence) -> Iterator:
        for batch in batches:
            yield batch
            super().update()

    def update(self, n: float = 1) -> None:
        """Count an epoch, if its steps were not."""
        if not self.disable and self.unit == "epoch":
            super().update(n)


def in_the_page(loop: ModuleType) -> None:
    """In a notebook, let `fit` of this module show in the page how far it is.

    It is told from outside, since what `fit` itself says is in the fingerprint of all that it has
    trained. Whatever ends within a second shows nothing.
    """
    if not hasattr(get_ipython(), "kernel"):
        return
    line, bar, train_epoch = Line(), Steps(disable=True), loop.train_epoch

    def begin(**options: object) -> Steps:
        nonlocal bar
        often = {"mininterval": 0.25, "miniters": 0, "smoothing": 0, "delay": 1, "position": 0}
        bar = Steps(file=line, bar_format=SHOWN, **often, **options)
        return bar

    @wraps(train_epoch)
    def counted(model, batches, *rest):
        return train_epoch(model, bar.over(batches), *rest)

    loop.tqdm, loop.train_epoch = begin, counted
