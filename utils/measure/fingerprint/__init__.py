"""A fingerprint of the code that a script reaches, in a canonical form, and of its data.

Code is followed definition by definition: from the script's own functions to the functions, classes
and constants of this book that they name, and on from those. The form is that of
`utils.measure.fingerprint.canonical`: only what may change a result changes it, and a name doesn't.
"""

import hashlib
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from utils import ROOT
from utils.measure.fingerprint.canonical import Canonical
from utils.measure.fingerprint.modules import Modules


def fingerprint(
    script: Path, roots: Iterable[str], parameters: Iterable[str], data: Iterable = (), book=ROOT
) -> str:
    """SHA-256 of the code reached from `roots` of `script`, and of arrays of data.

    parameters: names that come from elsewhere than the code, as keyword arguments of the roots.
    """
    code = Canonical(Modules(script, book), parameters).text(roots)
    digest = hashlib.sha256(code.encode())
    for array in data:
        array = np.ascontiguousarray(array)
        digest.update(f"\n{array.dtype} {array.shape}\n".encode() + array.tobytes())
    return digest.hexdigest()
