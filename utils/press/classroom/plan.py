"""What a teacher wants to know of each day, as tables that the build counts anew."""

import re
from importlib import import_module

import torch

from utils.exercises.checking import Exercise
from utils.exercises.checking.comparing import same
from utils.exercises.checking.sandbox import call, copies, own_lots
from utils.exercises.numbers import label
from utils.press.budget import count
from utils.press.lessons import Day, days
from utils.press.minutes import of_day
from utils.press.notebooks import CHAPTERS, read


def builds_on(day: Day) -> list[int]:
    """The days that a lesson says it builds on."""
    text = (CHAPTERS / f"{day.stem}.py").read_text(encoding="utf-8").replace("\n# ", " ")
    said = re.search(r"builds on (.*?\.) It takes", text)
    return [int(number) for number in re.findall(r"\[Day (\d+)\]", said[1])] if said else []


def term() -> list[list]:
    """A row for each day: its minutes, the seconds that its cells compute, what it builds on."""
    rows = [["Day", "read", "write", "at its end", "deeper", "computes", "builds on"]]
    for day in days():
        lesson = read(CHAPTERS / f"{day.stem}.ipynb")
        budget = count(lesson)
        deeper = [one.minutes for one in of_day(day) if one.page != day.stem]
        rows.append(
            [
                f"{day.number}: [{day.title}](chapters/{day.stem}.ipynb)",
                round(budget.reading),
                budget.writing,
                budget.writing_after,
                sum(deeper),
                f"{lesson.metadata.book.processor_seconds} s",
                ", ".join(map(str, builds_on(day))) or "none",
            ]
        )
    return rows


def first_case_shows(exercise: Exercise, wrong) -> bool:
    """Whether a mistake differs from the right answer on the inputs of the first stage."""
    wrong = exercise.through(wrong) if exercise.through else wrong
    with own_lots(), torch.enable_grad():
        return any(
            not same(call(wrong, inputs).value, exercise.reference(*copies(inputs)))
            for stage, inputs in exercise.trials()
            if stage is exercise.stages[0]
        )


def telling() -> list[list]:
    """A row for each day: its exercise in which most known mistakes pass the smallest case."""
    rows = [["Day", "exercise", "minutes", "known mistakes", "the first case misses"]]
    for day in days():
        check = import_module(f"utils.exercises.{day.topic}").check
        found = []
        for name, page, minutes in of_day(day):
            exercise = check.exercises[name]
            if page == day.stem and isinstance(exercise, Exercise):
                wrong = [mistake.wrong for mistake in exercise.mistakes.values()]
                missed = sum(not first_case_shows(exercise, each) for each in wrong)
                link = f"{{numref}}`{label(name)}`, `{name}`"
                found.append([day.number, link, minutes, len(wrong), missed])
        rows.append(max(found, key=lambda row: row[-1]))
    return rows


TABLES = {"term": term, "telling": telling}


def table(name: str) -> str:
    """One of TABLES in Markdown; its numbers stand at the right."""
    head, *rows = TABLES[name]()
    sides = ["---" if isinstance(each, str) else "--:" for each in rows[0]]
    return "\n".join(f"| {' | '.join(map(str, row))} |" for row in [head, sides, *rows])
