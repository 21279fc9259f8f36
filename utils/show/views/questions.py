"""Questions with explained answers: five about the day before, and a guess before a result."""

import tomllib
from collections.abc import Sequence
from functools import cache
from html import escape

from utils import ROOT
from utils.show.views.frame import listed, paragraph, view


@cache
def registry() -> dict[str, list[dict]]:
    """data/questions.toml: {lesson: its questions about the day before}."""
    return tomllib.loads((ROOT / "data" / "questions.toml").read_text(encoding="utf-8"))


def quiz(lesson: str) -> None:
    """Ask the five questions about the day before that open a lesson, such as "05_self_attention".

    Raises: ValueError if data/questions.toml has none for it.
    """
    if lesson not in registry():
        raise ValueError(
            f"There are no questions for {lesson!r}: data/questions.toml has some for "
            f"{', '.join(registry())}."
        )
    asked = [
        _question(row["question"], row["options"], row["right"], row["because"])
        for row in registry()[lesson]
    ]
    for row in asked:
        row["answers"] = [
            f"{'Correct.' if index == row['right'] else 'Not quite.'} {because}"
            for index, because in enumerate(row["answers"])
        ]
    title = f"Five questions about Day {int(lesson[:2]) - 1}"
    data = {"title": title, "questions": asked, "reveal": False}
    says = "\n".join([f"Questions: {title}", *(_as_text(row) for row in asked)])
    view("questions", data, says=says, still=paragraph(title) + "".join(map(_closed, asked)))


def guess(question: str, options: Sequence[str], *, right: int | str, because: str) -> None:
    """Let the reader commit to one of the options before a result is shown.

    right: the option that was measured, or its place. because: what the reader is then told, with
        the measured numbers; it is not compared from run to run.
    Raises: ValueError if there are fewer than two options, or two alike, or none is right, or a
        text is empty.
    """
    asked = _question(question, options, right, because)
    was = asked["options"][asked["right"]]
    asked["answers"] = [
        f"You guessed it. {because}" if index == asked["right"] else f"It was “{was}”. {because}"
        for index in range(len(asked["options"]))
    ]
    data = {"title": "Your guess, before you look", "questions": [asked], "reveal": True}
    says = "\n".join([f"Question: {question}", *(f"- {option}" for option in options)])
    view("questions", data, says=says, still=_closed(asked))


def _question(
    question: str, options: Sequence[str], right: int | str, because: str | Sequence[str]
) -> dict:
    """A question with an explanation of each option.

    Raises: ValueError if it can't be asked or answered.
    """
    where = f"The question {question!r}"
    options = list(options)
    if not 2 <= len(options) <= 6 or len(set(options)) < len(options):
        raise ValueError(f"{where} needs two to six options, no two alike, got {options}.")
    because = [because] * len(options) if isinstance(because, str) else list(because)
    if len(because) != len(options):
        raise ValueError(
            f"{where} needs one explanation, or one of each of its {len(options)} options, got "
            f"{len(because)}."
        )
    if not all(isinstance(text, str) and text.strip() for text in (question, *options, *because)):
        raise ValueError(f"{where} has a text that is empty, or none: write it out.")
    if isinstance(right, str) and right in options:
        right = options.index(right)
    if isinstance(right, (bool, str)) or right not in range(len(options)):
        raise ValueError(f"{where} has no option {right!r}: name one of {options}, or its place.")
    return {"question": question, "options": options, "right": int(right), "answers": because}


def _as_text(asked: dict) -> str:
    """A question with its options and what is said to each."""
    rows = zip(asked["options"], asked["answers"], strict=True)
    return "\n".join([asked["question"], *(f"- {option}: {answer}" for option, answer in rows)])


def _closed(asked: dict) -> str:
    """A question with its options, and the right answer to open."""
    right = paragraph(asked["answers"][asked["right"]])
    option = escape(asked["options"][asked["right"]])
    return (
        paragraph(asked["question"])
        + listed(asked["options"])
        + f"<details><summary>The answer</summary><p>{option}</p>{right}</details>"
    )
