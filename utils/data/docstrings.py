"""English text that is the same on every machine: what a library's docstrings say."""

import ast
import re
from functools import cache
from pathlib import Path

from utils.data.sources import folder_of

PARTS = "train", "validation", "test"
LIBRARY = "sklearn"
LEAST = 60  # letters of a paragraph; shorter ones, such as "Fit the model.", stand everywhere


def docstring_text(part: str | None = None) -> str:
    """What scikit-learn says of itself in English: one part of it, or all (the default).

    These are the paragraphs of prose in its docstrings, as its sources have them. What marks a
    name there, as in `fit`, is a quotation mark here. A paragraph with a sentence that
    was there before is left out: otherwise the held-out parts would have been read in training. Of
    ten modules, ordered by their length, eight are for training, one for validation, one for the
    test.

    Raises: ValueError if there is no such part.
    """
    if part is not None and part not in PARTS:
        raise ValueError(f'No part is called {part!r}: say "train", "validation" or "test".')
    return "\n\n".join(
        text
        for rank, text in enumerate(_modules())
        if part in (None, {5: "validation", 6: "test"}.get(rank % 10, "train"))
    )


@cache
def _modules() -> list[str]:
    """The prose of each module, the longest first."""
    folder = folder_of(LIBRARY)
    seen: set[str] = set()
    kept = []
    for file in sorted(folder.rglob("*.py"), key=lambda file: file.relative_to(folder).parts):
        if {"tests", "externals"}.isdisjoint(file.relative_to(folder).parts):
            kept.append("\n\n".join(p for p in _prose(file) if _is_new(p, seen)))
    return sorted(filter(None, kept), key=len, reverse=True)  # equal lengths stay in order


def _is_new(paragraph: str, seen: set[str]) -> bool:
    """Whether none of its sentences was seen before; now all are."""
    sentences = set(re.split(r"(?<=[.:;])\s", " ".join(paragraph.split())))
    new = seen.isdisjoint(sentences)
    seen |= sentences
    return new


def _prose(file: Path) -> list[str]:
    """The paragraphs of a file's docstrings that are sentences, without markup."""
    nodes = ast.walk(ast.parse(file.read_text(encoding="utf-8")))
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef)
    texts = [ast.get_docstring(node) or "" for node in nodes if isinstance(node, documented)]
    paragraphs = [p.strip() for text in texts for p in re.split(r"\n\s*\n", text)]
    return [without_markup(p) for p in paragraphs if len(p) >= LEAST and is_prose(p)]


def is_prose(paragraph: str) -> bool:
    """Sentences: no code, formula, list, table of parameters, nor quotation within a name."""
    markup = r">>>|\.\. |::|\\|sphx_glr|^\s*([-=~*+]|\d+\.)|\s:\s|`[^`]*[\"'][^`]*`"
    sentence = paragraph[0].isupper() and paragraph[-1] == "."
    return sentence and paragraph.isascii() and not re.search(markup, paragraph, re.MULTILINE)


def without_markup(paragraph: str) -> str:
    """Lines without indentation and the markup of links, with quotation marks around names."""
    text = "\n".join(line.strip() for line in paragraph.splitlines())
    text = re.sub(r":[a-z:]+:`~?([^`<]*?)\s*(<[^`>]*>)?`", r"\1", text)  # :ref:`text <label>`
    text = re.sub(r"`([^`<]*?)\s*<[^`>]*>`_+", r"\1", text)  # `text <address>`_
    return re.sub(r"`+_*", '"', text)
