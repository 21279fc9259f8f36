"""`python -m utils.press.new_day NUMBER TOPIC` begins a lesson, with the files that each has.

They run, are in the book, and pass the tests, but for those that name what is [to be written].
"""

import sys
from collections.abc import Sequence
from pathlib import Path
from string import Template

from utils import ROOT
from utils.press import lessons, notebooks

TEMPLATES = Path(__file__).with_name("templates")
FILES = {  # template: what it becomes
    "lesson": "chapters/{stem}.py",
    "deeper": "chapters/deeper/{stem}.py",
    "solutions": "chapters/solutions/{stem}.py",
    "concept": "utils/{topic}.py",
    "exercises": "utils/exercises/{topic}/__init__.py",
    "exercise": "utils/exercises/{topic}/row_means.py",
    "test": "tests/test_{topic}.py",
}
ROW = """
[[day]]
stem = "{stem}"
title = "[to be written]"
teaches = "[to be written]"
question = "[to be written]"
fails = "[to be written]"
concepts = ["{topic}"]
state = "begun"
"""


def begin(number: int, topic: str, book: Path = ROOT) -> list[Path]:
    """Write the files of a day that there is not yet; enter it in lessons.toml and the questions.

    Returns: the files, the lesson first.
    Raises: ValueError if it is not the next day, the topic can't be a module's name, or a file of
        that name is there already; then nothing is written.
    """
    following = len(lessons.days(book))
    if number != following:
        raise ValueError(f"The next day is {following}, not {number}.")
    if not topic.isidentifier() or topic != topic.lower():
        raise ValueError(
            f"{topic!r} can't be a module's name: write the topic in small letters and "
            "underscores, as in `text_classification`."
        )
    stem = f"{number:02d}_{topic}"
    files = {name: book / file.format(stem=stem, topic=topic) for name, file in FILES.items()}
    taken = [file for file in (book / "utils" / topic, *files.values()) if file.exists()]
    if taken:
        raise ValueError(f"{taken[0].relative_to(book)} is there already: choose another topic.")
    words = {"number": number, "topic": topic, "stem": stem}
    steps, exercises = map(lessons.SECTIONS.index, ("Step by step", "Exercises"))
    words |= {"before": _empty(lessons.SECTIONS[:steps])}
    words |= {"after": _empty(lessons.SECTIONS[steps + 1 : exercises])}
    for name, file in files.items():
        file.parent.mkdir(exist_ok=True)
        file.write_text(_filled(name, words), encoding="utf-8")
    with (book / "data" / "questions.toml").open("a", encoding="utf-8") as questions:
        questions.write(5 * _filled("question", words))
    registry = book / lessons.REGISTRY
    row = ROW.format(stem=stem, topic=topic)
    registry.write_text(registry.read_text(encoding="utf-8") + row, encoding="utf-8")
    return list(files.values())


def _empty(sections: Sequence[str]) -> str:
    return "".join(f"\n# %% [markdown]\n# ## {name}\n#\n# [to be written]\n" for name in sections)


def _filled(template: str, words: dict) -> str:
    text = (TEMPLATES / f"{template}.txt").read_text(encoding="utf-8")
    return Template(text).substitute(words)


def main(number: str, topic: str) -> None:
    files = begin(int(number), topic)
    lessons.write_pages()
    for script in files[:3]:
        notebooks.execute(script)
    print("Written and executed:", *(f"  {notebooks.shown(file)}" for file in files), sep="\n")
    print("Fill in the row of lessons.toml, then `make days`; `make test` names what is missing.")


if __name__ == "__main__":
    if len(sys.argv) != 3 or not sys.argv[1].isdecimal():
        sys.exit("Say which day and what it is about: make new-day NUMBER=8 TOPIC=classification")
    try:
        main(*sys.argv[1:])
    except (ValueError, notebooks.LessonError) as error:
        sys.exit(str(error))
