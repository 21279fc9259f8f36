"""What others publish beside a model in JSON: its config, its tokeniser.

Each value is asked for by its kind, and one of another kind is named with its file.
"""

import json
import math
import os
from collections.abc import Mapping
from numbers import Real
from pathlib import Path
from reprlib import repr as brief
from typing import Any

MOST = 10**9  # of any size; no published model comes near


class PublishedConfig(dict):
    """A table in JSON. What it lacks and is asked for is named in a ValueError."""

    def __init__(self, file: Path, told: Mapping[str, Any]):
        super().__init__(told)
        self.file = file

    def __missing__(self, key: str) -> Any:
        raise ValueError(f"{self.file} lacks {key!r}: it is cut short, or of another kind.")

    def expect(self, **values: object) -> None:
        """Refuse what would make another model; a value that is left out is the expected one."""
        for key, value in values.items():
            if self.get(key, value) != value:
                raise ValueError(
                    f"{self.file} has {key} = {brief(self[key])}, and the book reads models with "
                    f"{value!r} there."
                )

    def number(self, key: str) -> float:
        """Return a number above 0."""
        value = self[key]
        if isinstance(value, bool) or not isinstance(value, Real) or not 0 < value < math.inf:
            raise self.unlike(key, "a number above 0")
        return value

    def size(self, key: str, most: int = MOST) -> int:
        """Return a whole number from 1 on."""
        value = self[key]
        if type(value) is not int or not 1 <= value <= most:
            raise self.unlike(key, f"a whole number from 1 to {most}")
        return value

    def size_or(self, key: str, other: int | None, most: int = MOST) -> int | None:
        """Return a whole number from 1 on, or another where it is left out or null."""
        return other if self.get(key) is None else self.size(key, most)

    def flag(self, key: str, *default: bool) -> bool:
        """Return what is true or false; where it is left out, the default, if there is one."""
        value = self.get(key, *default) if default else self[key]
        if not isinstance(value, bool):
            raise self.unlike(key, "true or false")
        return value

    def choice(self, key: str, known: Mapping[str, Any]) -> Any:
        """Return what stands for a name."""
        name = self[key]
        if not isinstance(name, str) or name not in known:
            raise ValueError(
                f"{self.file} has {key} = {brief(name)}, and the book reads "
                f"{', '.join(map(repr, known))} there."
            )
        return known[name]

    def table(self, key: str) -> "PublishedConfig":
        """Return a table inside this one, empty if it is left out."""
        told = self.get(key) or {}
        if not isinstance(told, dict):
            raise self.unlike(key, "a table")
        return PublishedConfig(self.file, told)

    def tables(self, key: str) -> list["PublishedConfig"]:
        """Return a list of tables inside this one, empty if it is left out."""
        told = self.get(key) or []
        if not isinstance(told, list) or not all(isinstance(each, dict) for each in told):
            raise self.unlike(key, "a list of tables")
        return [PublishedConfig(self.file, each) for each in told]

    def unlike(self, key: str, kind: str) -> ValueError:
        """Return the error that a value is of another kind."""
        return ValueError(f"{self.file} has {key} = {brief(self[key])}: it is {kind}.")


def read_json(file: Path) -> PublishedConfig:
    """Read a table in JSON.

    Raises: ValueError if there is no such file, or it is cut short or no table.
    """
    check_folder(file.parent)
    try:
        told = json.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise ValueError(f"{file} can't be read ({error.strerror}): fetch it again.") from None
    except (ValueError, RecursionError):  # of JSON, or of UTF-8
        raise ValueError(
            f"{file} is no whole JSON: perhaps cut short, so fetch it again."
        ) from None
    if not isinstance(told, dict):
        raise ValueError(f"{file} holds a {type(told).__name__}, not a table: fetch it again.")
    return PublishedConfig(file, told)


def check_folder(folder: Path) -> None:
    """Raise a ValueError if there is no such folder, or it may not be entered."""
    if not os.path.isdir(folder):
        raise ValueError(
            f"There is no folder {folder} that you may read: a published model is a folder."
        )
    if not os.access(folder, os.X_OK):
        raise ValueError(f"The folder {folder} may not be entered: ask its owner for the right to.")
