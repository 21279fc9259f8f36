"""How long an exercise takes, by one formula for all: estimates, fitted to what readers counted.

`python -m utils.press.minutes` prints them beside the minutes that the boxes state.
"""

import ast
import inspect
import re
import sys
import textwrap
from collections.abc import Callable, Iterator
from importlib import import_module
from typing import NamedTuple

from utils.exercises.checking import Exercise, Prediction
from utils.press import notebooks
from utils.press.budget import BOX, source_lines, stated, words
from utils.press.lessons import Day, days
from utils.show.display import format_table

STATEMENT = 1 / 25  # minutes for each word of the box: it is read again while one writes
LINE = 1 / 5  # for each line of the reference below its `def`
TRY = 1.5  # one failed try, for each stage of the check: it may fail there, and is looked for there
PREDICTION = 2  # to make up one's mind

# Minutes that careful readers counted in 0.8.0: one of them line by line, the other by eye. The
# constants above are the least squares over both, rounded.
COUNTED = {
    **{"one_place": 8, "everywhere": 18, "max_pooling": 9, "residual_block": 4, "same_padding": 3},
    **{"receptive_field": 10, "shift": 4, "additive_score": 12, "masked_softmax": 12},
    **{"beam_step": 10, "cost_by_length": 10, "minimum_length": 10, "layer_norm": 6, "block": 4},
    **{"shifted_target": 7, "rms_norm": 4},
}
BY_EYE = {
    **{"merge_step": 14, "encode_word": 6, "masked_mean": 5, "left_out_words": 8},
    **{"calibration_error": 10, "tf_idf": 8, "next_token_loss": 9, "forward": 5},
    **{"next_chances": 18, "write": 9, "qk_norm": 10, "gated_width": 5, "mask_words": 9},
    **{"masked_word_loss": 5, "soft_targets": 6, "every_second": 4, "cosine": 8},
}
TAKEN = COUNTED | BY_EYE


def estimate(box: str, exercise: Exercise | Prediction) -> float:
    """Minutes for an exercise: its statement, the lines of its reference, and one failed try.

    box: its {exercise} as it stands on the page.
    """
    reading = STATEMENT * words(box)
    if not isinstance(exercise, Exercise):
        return reading + PREDICTION
    return reading + LINE * lines(exercise.reference) + TRY * len(exercise.stages)


def lines(reference: Callable) -> int:
    """The lines of a reference below its `def`, and those of what it calls in its own file."""
    found, waiting = {}, [reference]
    while waiting:
        function = waiting.pop()
        source = textwrap.dedent(inspect.getsource(function))
        found[function.__name__] = source_lines(source) - 1
        named = {node.id for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Name)}
        beside = (vars(sys.modules[reference.__module__]).get(name) for name in named - set(found))
        waiting += [
            other
            for other in beside
            if inspect.isfunction(other) and other.__module__ == reference.__module__
        ]
    return sum(found.values())


def fits(told: float, estimated: float, taken: float | None = None) -> bool:
    """Whether stated minutes are an estimate's, give or take a quarter or two minutes.

    taken: what a reader counted; then anything between the two will do.
    """
    low, high = sorted((estimated, taken or estimated))
    return low - max(2, low / 4) <= told <= high + max(2, high / 4)


class Box(NamedTuple):
    """An exercise as a day asks it: its page, as `deeper/05_self_attention`, and its minutes."""

    name: str
    page: str
    minutes: int


def of_day(day: Day) -> list[Box]:
    """The exercises of a day's lesson, then those of its deeper page, if they are in this book."""
    pages = (day.stem, f"deeper/{day.stem}")
    there = (page for page in pages if (notebooks.CHAPTERS / f"{page}.py").exists())
    return [Box(name, page, stated(box)) for page in there for name, box in boxes(page)]


def boxes(stem: str) -> Iterator[tuple[str, str]]:
    """(name, text) of each exercise of a day's lesson, as its script has them."""
    page = (notebooks.CHAPTERS / f"{stem}.py").read_text(encoding="utf-8")
    text = re.sub(r"^# ?", "", page, flags=re.MULTILINE)
    for box in re.findall(rf"^{BOX}.*?^```$", text, flags=re.MULTILINE | re.DOTALL):
        yield re.search(r"^:label: exercise-(.*)$", box, re.MULTILINE)[1].replace("-", "_"), box


def report() -> str:
    """What the boxes of the lessons state beside the estimates; a star where they don't fit."""
    rows = []
    for day in days():
        exercises = import_module(f"utils.exercises.{day.topic}").check.exercises
        for name, box in boxes(day.stem):
            told, found, taken = stated(box), estimate(box, exercises[name]), TAKEN.get(name)
            star = "" if fits(told, found, taken) else "*"
            rows.append([f"{day.number:02d} {name}", told, round(found), taken or "", star])
    return format_table(rows, ["exercise", "stated", "estimated", "counted", ""])


if __name__ == "__main__":
    print(report())
