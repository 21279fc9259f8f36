"""A long English text that is the same on every machine: what six libraries say of themselves."""

import inspect
import re
from functools import cache

from utils.data.docstrings import LEAST, docstring_text, is_prose, without_markup
from utils.data.libraries import LEFT_OUT
from utils.data.sources import folder_of

OTHERS = ("matplotlib", "networkx", "numpy", "pandas", "scipy", "sympy")  # beside scikit-learn
DOCSTRING = re.compile(r'^\s*[rRuU]?"""(.*?)"""', re.DOTALL | re.MULTILINE)


@cache
def long_prose() -> str:
    """The training part of `docstring_text`, then the paragraphs of prose of six other libraries.

    A paragraph that stood before is left out, and so is one that shares a sentence with the
    validation or the test part of `docstring_text`.
    """
    held_out = set(sentences(docstring_text("validation") + "\n\n" + docstring_text("test")))
    kept: dict[str, None] = {}
    for library in OTHERS:
        folder = folder_of(library)
        for file in sorted(folder.rglob("*.py"), key=lambda file: file.relative_to(folder).parts):
            if LEFT_OUT.isdisjoint(file.relative_to(folder).parts):
                kept |= dict.fromkeys(_prose(file.read_text(encoding="utf-8")))
    new = [text for text in kept if held_out.isdisjoint(sentences(text))]
    return "\n\n".join([docstring_text("train"), *new])


def sentences(text: str) -> list[str]:
    """The sentences of a text, each on one line."""
    paragraphs = (" ".join(paragraph.split()) for paragraph in text.split("\n\n"))
    return [one for each in paragraphs for one in re.split(r"(?<=[.:;])\s", each)]


def _prose(source: str) -> list[str]:
    """The paragraphs of a file's docstrings that are sentences, without markup."""
    texts = (inspect.cleandoc(text) for text in DOCSTRING.findall(source))
    paragraphs = [each.strip() for text in texts for each in re.split(r"\n\s*\n", text)]
    return [without_markup(each) for each in paragraphs if len(each) >= LEAST and is_prose(each)]
