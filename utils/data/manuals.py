"""A long text that is the same on every machine: all that a library's docstrings say.

`docstrings` keeps plain sentences alone; here are examples and formulas, too, as they are written.
"""

import inspect
import re
from functools import cache

from utils.data.docstrings import PARTS
from utils.data.libraries import LEFT_OUT
from utils.data.sources import folder_of

LIBRARY = "sympy"  # pure Python, and the lock's longest such text


def manual(part: str, library: str = LIBRARY) -> str:
    """One part of what a library's docstrings say: "train", "validation" or "test".

    A paragraph that stood somewhere before is left out, so that no held-out one was read in
    training, and so is one with letters that are not ASCII. Of ten modules, ordered by their
    length, eight are for training, one for validation, one for the test.

    Raises: ValueError if there is no such part.
    """
    if part not in PARTS:
        raise ValueError(f'No part is called {part!r}: say "train", "validation" or "test".')
    modules = _modules(library)
    return "\n\n".join(
        text
        for rank, text in enumerate(modules)
        if part == {5: "validation", 6: "test"}.get(rank % 10, "train")
    )


@cache
def _modules(library: str) -> list[str]:
    """The docstrings of each module, the longest first."""
    folder = folder_of(library)
    seen: set[str] = set()
    kept = []
    for file in sorted(folder.rglob("*.py"), key=lambda file: file.relative_to(folder).parts):
        if LEFT_OUT.isdisjoint(file.relative_to(folder).parts):
            paragraphs = dict.fromkeys(_paragraphs(file.read_text(encoding="utf-8")))
            kept.append("\n\n".join(each for each in paragraphs if each not in seen))
            seen |= paragraphs.keys()
    return sorted(filter(None, kept), key=len, reverse=True)  # equal lengths stay in order


def _paragraphs(source: str) -> list[str]:
    """The paragraphs of all docstrings: texts in three quotation marks that begin a line."""
    found = []
    for text in re.findall(r'^\s*[rRuU]?"""(.*?)"""', source, re.DOTALL | re.MULTILINE):
        parts = re.split(r"\n\s*\n", inspect.cleandoc(text))
        found += [part.rstrip() for part in parts if part.strip() and part.isascii()]
    return found
