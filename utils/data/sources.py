"""Where the texts of packages come from: their installed sources, at the versions of the lock."""

import re
from functools import cache
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

from utils import ROOT

PACKAGES = {"sklearn": "scikit-learn"}  # where a package isn't called as its module is


@cache
def folder_of(library: str) -> Path:
    """The installed sources of a library; a sentence says so if they are not the lock's."""
    if difference := other_version(library):
        print(f"{difference} So texts differ, and so may the numbers of what learns from them.")
    return Path(find_spec(library).origin).parent  # found, not imported


def other_version(library: str) -> str:
    """A sentence if the installed version of a library is not that of the lock, else nothing."""
    package = PACKAGES.get(library, library)
    lock = (ROOT / "requirements.txt").read_text(encoding="utf-8")
    measured = re.search(rf"^{package}==(\S+)", lock, re.MULTILINE)[1]
    installed = version(package).partition("+")[0]  # +cpu is no other text
    if installed == measured:
        return ""
    return f"The book reads the texts of {package} {measured}, and {installed} is installed."
