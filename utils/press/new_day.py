"""`python -m utils.press.new_day NUMBER TOPIC` begins a lesson, with the files that each has.

They run, are in the book, and pass the tests, but for those that name what is [to be written].
"""

import keyword
import re
import shutil
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
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
    "exercise": "utils/exercises/{topic}/{topic}_means.py",
    "test": "tests/test_{topic}.py",
}
QUESTIONS = "data/questions.toml"
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
    """Write the files of a day that there is not yet, enter it in the lists, execute its pages.

    Returns: the files, the lesson first.
    Raises: ValueError if it is not the next day, the topic can't be the module's name, or a file of
        that name is there already; LessonError if a cell fails. The book is then as it was.
    """
    following = len(lessons.days(book))
    if number != following:
        raise ValueError(f"The next day is {following}, not {number}.")
    if not re.fullmatch("[a-z][a-z0-9_]*", topic) or topic in {*keyword.kwlist, *_imported()}:
        raise ValueError(
            f"{topic!r} can't be a module's name: write the topic in small letters and "
            "underscores, as in `text_classification`, and take no word of Python's own and no "
            "name that a lesson imports."
        )
    stem = f"{number:02d}_{topic}"
    files = {name: book / file.format(stem=stem, topic=topic) for name, file in FILES.items()}
    modules = (book / "utils" / topic, book / "utils" / "exercises" / f"{topic}.py")
    taken = [file for file in (*modules, *files.values()) if file.exists()]
    if taken:
        raise ValueError(f"{taken[0].relative_to(book)} is there already: choose another topic.")
    with _all_or_nothing([*files.values(), book / f"{lessons.REFERENCE}/{topic}.rst"], book):
        label = f"{topic}_means".replace("_", "-")
        _write(files, {"number": number, "topic": topic, "stem": stem, "label": label}, book)
        lessons.write_pages(book)
        for page in ("lesson", "deeper", "solutions"):
            notebooks.execute(files[page])
    return list(files.values())


def entered(topic: str) -> list[str]:
    """The lists in which a day is entered, and its page of the reference."""
    of_modules, mine = f"{lessons.REFERENCE}/", f"{lessons.REFERENCE}/{topic}.rst"
    lists = [name for name in lessons.pages() if not name.startswith(of_modules) or name == mine]
    return [lessons.REGISTRY, QUESTIONS, *lists]


def _imported() -> set[str]:
    """The names that the template of a lesson imports, beside the topic's own."""
    text = (TEMPLATES / "lesson.txt").read_text(encoding="utf-8")
    return set(re.findall(r"^(?:from \S+ )?import (\w+)", text, re.MULTILINE))


@contextmanager
def _all_or_nothing(files: list[Path], book: Path) -> Iterator[None]:
    """Remove the files, and put the lists back as they were, if what is done here fails."""
    places = [book / name for name in (lessons.REGISTRY, QUESTIONS, *lessons.pages(book))]
    places += [path for file in files for path in (file.parent, file, file.with_suffix(".ipynb"))]
    before = {path: path.read_bytes() for path in places if path.is_file()}
    new = [path for path in places if not path.exists()]
    try:
        yield
    except BaseException:
        for path in new:
            if path.is_dir():
                shutil.rmtree(path)
            else:
                path.unlink(missing_ok=True)
        for path, content in before.items():
            path.write_bytes(content)
        raise


def _write(files: dict[str, Path], words: dict, book: Path) -> None:
    """Fill in the templates, and enter the day in lessons.toml and the questions."""
    steps, exercises = map(lessons.SECTIONS.index, ("Step by step", "Exercises"))
    words |= {"before": _empty(lessons.SECTIONS[:steps])}
    words |= {"after": _empty(lessons.SECTIONS[steps + 1 : exercises])}
    for name, file in files.items():
        file.parent.mkdir(exist_ok=True)
        file.write_text(_filled(name, words), encoding="utf-8")
    with (book / QUESTIONS).open("a", encoding="utf-8") as questions:
        questions.write(5 * _filled("question", words))
    registry = book / lessons.REGISTRY
    row = ROW.format(**words)
    registry.write_text(registry.read_text(encoding="utf-8") + row, encoding="utf-8")


def _empty(sections: Sequence[str]) -> str:
    below = "*[to be written] minutes.* [to be written]"
    return "".join(f"\n# %% [markdown]\n# ## {name}\n#\n# {below}\n" for name in sections)


def _filled(template: str, words: dict) -> str:
    text = (TEMPLATES / f"{template}.txt").read_text(encoding="utf-8")
    return Template(text).substitute(words)


def main(arguments: list[str]) -> None:
    if len(arguments) != 2 or not arguments[0].isdecimal() or not arguments[1]:
        sys.exit("Say which day and what it is about: make new-day NUMBER=16 TOPIC=audio")
    try:
        files = begin(int(arguments[0]), arguments[1])
    except (ValueError, notebooks.LessonError) as error:
        sys.exit(str(error))
    print("Written and executed:", *(f"  {notebooks.shown(file)}" for file in files), sep="\n")
    print("Entered in:", *(f"  {name}" for name in entered(arguments[1])), sep="\n")
    print("Fill in the row of lessons.toml, then `make days`; `make test` names what is missing.")


if __name__ == "__main__":
    main(sys.argv[1:])
