"""Which names are the book's own, and may be written as numbers.

A name stays as it is where it may mean something elsewhere: to Python, to a library, to the grid,
or in a string, by which it may be looked up.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

import numpy as np
import torch

KINDS = (torch.Tensor, np.ndarray, str, int, float, list, dict, set, tuple)


class Spelled(NamedTuple):
    """A name whose form is known when all is read."""

    kind: Literal["attribute", "keyword", "parameter"]
    name: str
    method: str = ""  # of a keyword: the method that is called with it


@dataclass
class Names:
    """Attributes, or keywords with parameters: the book's own, and those that stay as they are."""

    own: set[str] = field(default_factory=set)
    kept: set[str] = field(default_factory=set)

    def __contains__(self, name: str) -> bool:
        """Whether a name is the book's alone."""
        return name in self.own and name not in self.kept and not is_pythons(name)


class Spelling:
    """What is known of names."""

    def __init__(self, given: Iterable[str]):
        """given: parameters that others than the code name."""
        self.attributes = Names()
        self.keywords = Names(kept={*given})
        self.keep_of(*KINDS)

    def keep(self, name: str) -> None:
        """Keep a name that stands in a string."""
        self.attributes.kept.add(name)
        self.keywords.kept.add(name)

    def keep_of(self, *classes: object) -> None:
        """Keep the attributes of a library's classes."""
        self.attributes.kept |= {name for each in classes for name in dir(each)}

    def text(self, words: Iterable[str | Spelled]) -> Iterator[str]:
        """The words, each name that is the book's alone as the number of its first mention."""
        keywords = {each for each in words if isinstance(each, Spelled) and each.kind == "keyword"}
        for each in keywords:  # of a library's method, or of none that is known
            if (
                each.name not in self.keywords.own
                or each.method
                and (each.method not in self.attributes)
            ):
                self.keywords.kept.add(each.name)
        by_name = {each.name for each in keywords} | self.keywords.kept
        numbers: dict[bool, dict[str, int]] = {True: {}, False: {}}
        for word in words:
            if isinstance(word, str):
                yield word
            elif word.kind != "parameter" or word.name in by_name:  # else it is known by its place
                is_attribute = word.kind == "attribute"
                if word.name in (self.attributes if is_attribute else self.keywords):
                    seen = numbers[is_attribute]
                    yield f"#{seen.setdefault(word.name, len(seen))}"
                else:
                    yield word.name


def is_pythons(name: str) -> bool:
    """Whether Python itself calls a method of this name."""
    return name.startswith("__") and name.endswith("__")
