"""A fingerprint of the code that a script reaches, and of its data.

Code is followed definition by definition: from the script's own functions to the functions, classes
and constants of this book that they name, and on from those; a class counts as a whole. What can't
change a number doesn't count: docstrings, comments, annotations, what the sentences of errors say,
in which module a definition stands, how results are shown, and how a run is known and kept. Names
do count: after a rename, only measuring can tell that nothing else changed
(`utils.measure.experiments.verifying`).
"""

import hashlib
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from utils import ROOT
from utils.measure.fingerprint.modules import Modules

__all__ = ["Modules", "fingerprint"]


def fingerprint(
    script: Path, roots: Iterable[str] | None = None, data: Iterable = (), book: Path = ROOT
) -> str:
    """SHA-256 of the code reached from `roots` of `script`, and of arrays of data.

    roots: names that the script may define; without them, all that it runs, as of a page's script,
        in which text is a comment.
    """
    code = Modules(script, book).reached(roots)
    digest = hashlib.sha256("\n".join(code.values()).encode())
    for array in data:
        array = np.ascontiguousarray(array)
        digest.update(f"\n{array.dtype} {array.shape}\n".encode() + array.tobytes())
    return digest.hexdigest()
