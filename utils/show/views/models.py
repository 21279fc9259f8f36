"""Models that live in pages: a trained one as a script that a page can load, also from disk.

A file `_static/models/NAME.js` sets one entry of `bookModels`: a header, and in base64 the numbers.
A notebook never holds them: a built page loads the file, and in JupyterLab `hand_over` sends it.
"""

import json
import os
import re
from base64 import b64decode, b64encode
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

import numpy as np
from IPython.display import display

from utils import ROOT

FOLDER = ROOT / "_static" / "models"
SCRIPT = '(globalThis.bookModels ??= {{}})["{}"] = {};\n'
ANEW = "Get it anew with the book, or run the script that makes it."
Weights = Mapping[str, tuple[np.ndarray, ...]]
KEPT: dict[str, str] = {}  # scripts of this session's own models


class ModelError(Exception):
    """A stored model that can't be read or written; the message says what to do."""


class Stored(NamedTuple):
    """A stored model.

    header: its name, "made_by", "sha256", and what else was said of it.
    weights: {name: (int8 of (n, d_in), float32 scales (n, 1))} of matrices, {name: (float32,)} of
        vectors.
    """

    header: dict
    weights: dict[str, tuple[np.ndarray, ...]]


def store(name: str, weights: Weights, *, made_by: str, **told: object) -> Path:
    """Write a model beside its place, then move it there: a page never loads half of one.

    weights: as in `Stored`, at least one; `utils.tasks.rounded.in_int8` makes them of one.
    made_by: the script that trained it, as in "experiments/shakespeare_page.py".
    told: what else the page needs to know, such as the number of heads.
    Raises: ValueError if the name is no plain word, or a weight has another shape or is not finite;
        ModelError if there is no room, or no leave to write.
    """
    script = _written(name, weights, {"made_by": made_by, **told})
    path = FOLDER / f"{name}.js"
    beside = path.with_name(f"{path.name}.{os.getpid()}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        beside.write_text(script, encoding="ascii")
        beside.replace(path)
    except OSError as error:
        beside.unlink(missing_ok=True)
        raise ModelError(
            f"{path.name} can't be written ({error.strerror}): what was there before is kept. Make "
            "room for it, then run this again."
        ) from error
    return path


def keep(name: str, weights: Weights, **told: object) -> None:
    """Hold a model until this session ends, so that views can run it: one that you have trained.

    It is found under its name as if it were stored, but only in JupyterLab: a built page has no
    file of it. Arguments are those of `store`.
    Raises: ValueError as `store` does.
    """
    KEPT[name] = _written(name, weights, {"made_by": "this session", **told})


def load(name: str) -> Stored:
    """Read a stored model, and check that it is whole.

    Raises: ModelError if there is none, or it is damaged.
    """
    return _read(name, _script(name))


def shapes(held: Stored) -> dict[str, tuple[int, ...]]:
    """The shape of each weight of a stored model, by its name."""
    return {name: parts[0].shape for name, parts in held.weights.items()}


def encoder_block(D: int, F: int) -> dict[str, tuple[int, ...]]:
    """The shape of each weight of an encoder's block, of width D, and F in its feed-forward."""
    return {
        "self_attention.W_in": (3 * D, D),
        "self_attention.b_in": (3 * D,),
        "self_attention.W_o.weight": (D, D),
        "self_attention.W_o.bias": (D,),
        "feed_forward.W_1.weight": (F, D),
        "feed_forward.W_1.bias": (F,),
        "feed_forward.W_2.weight": (D, F),
        "feed_forward.W_2.bias": (D,),
        **{f"residuals.{i}.norm.{part}": (D,) for i in (0, 1) for part in ("weight", "bias")},
    }


def check_shapes(
    held: Stored, wanted: Mapping[str, tuple[int, ...]], fits: bool, kind: str, told: str
) -> None:
    """Raise a ValueError if a stored model has other weights than those, or `fits` is false.

    kind: the models that the page computes; told: what of the header may not fit.
    """
    found = shapes(held)
    unlike = sorted(name for name in wanted.keys() | found if wanted.get(name) != found.get(name))
    if unlike or not fits:
        raise ValueError(
            f"The page computes models of `{kind}`; in {held.header['name']!r} these are missing, "
            f"too much or of another size: {', '.join(unlike[:3]) or told}."
        )


def hand_over(name: str) -> None:
    """Give a stored model to the page in which this cell runs, and leave nothing in its output.

    The script is put in place of an empty output, where it runs, and then taken out again.
    Raises: ModelError as `load` does.
    """
    script = _script(name)
    _read(name, script)
    place = display({}, raw=True, display_id=True)
    if place is not None:  # outside of IPython nobody listens
        place.update({"text/html": f"<script>{script}</script>"}, raw=True)
        place.update({}, raw=True)


def _written(name: str, weights: Weights, told: dict) -> str:
    if not re.fullmatch(r"[a-z0-9_]+", name) or not weights:
        raise ValueError(f"A model has a name of letters, digits and _, and weights, got {name!r}.")
    shapes = [[weight, *_shape(weight, parts)] for weight, parts in weights.items()]
    reals = [parts[-1].astype("<f4").ravel() for parts in weights.values()]
    whole = [parts[0].ravel() for parts in weights.values() if len(parts) == 2]
    numbers = b"".join(part.tobytes() for part in (*reals, *whole))
    header = {"name": name, **told, "weights": shapes}
    header["sha256"] = _checksum(header, numbers)
    written = json.dumps(header | {"bytes": b64encode(numbers).decode()}, separators=(",", ":"))
    return SCRIPT.format(name, written.replace("<", r"\u003c"))


def _script(name: str) -> str:
    if name in KEPT:
        return KEPT[name]
    path = FOLDER / f"{name}.js"
    try:
        return path.read_text(encoding="ascii", errors="replace")
    except FileNotFoundError:
        known = ", ".join(sorted(file.stem for file in FOLDER.glob("*.js"))) or "none"
        problem = f"There is no stored model {name!r}; there are: {known}."
    except OSError as error:
        problem = f"The stored model {path.name} can't be read ({error.strerror})."
    raise ModelError(f"{problem} {ANEW}")


def _read(name: str, script: str) -> Stored:
    before, after = SCRIPT.format(name, "\n").split("\n", 1)
    try:
        header = json.loads(script.removeprefix(before).removesuffix(after))
        numbers = b64decode(header.pop("bytes"), validate=True)
        if header.pop("sha256") == _checksum(header, numbers):
            weights = _weights(header["weights"], numbers)
            return Stored(header | {"sha256": _checksum(header, numbers)}, weights)
    except (ValueError, LookupError, TypeError, AttributeError):
        pass
    raise ModelError(f"The stored model {name}.js is damaged. {ANEW}")


def _weights(shapes: list[list], numbers: bytes) -> dict[str, tuple[np.ndarray, ...]]:
    """Each weight of the numbers: all scales and vectors stand first, then all whole numbers."""
    n = sum(shape[0] for _, *shape in shapes)
    reals, whole = np.frombuffer(numbers, "<f4", n), np.frombuffer(numbers, "i1", offset=4 * n)
    found = {}
    for name, rows, *columns in shapes:
        own, reals = np.split(reals, [rows])
        if columns:
            matrix, whole = np.split(whole, [rows * columns[0]])
            found[name] = matrix.reshape(rows, columns[0]), own[:, None]
        else:
            found[name] = (own,)
    return found


def _checksum(header: dict, numbers: bytes) -> str:
    return sha256(json.dumps(header).encode() + numbers).hexdigest()


def _shape(name: str, parts: tuple[np.ndarray, ...]) -> tuple[int, ...]:
    """The shape of a weight; ValueError if it is none."""
    first, *scale = parts
    fits = first.ndim == 1 if not scale else scale[0].shape == (*first.shape[:1], 1)
    whole = first.dtype == np.int8
    if not fits or first.ndim != 1 + len(scale) or whole != bool(scale) or not first.size:
        kind = "int8 (n, d_in) with a scale (n, 1), or a vector of real numbers"
        raise ValueError(f"{name!r} should be {kind}, got {[part.shape for part in parts]}.")
    if not np.isfinite(parts[-1]).all():
        raise ValueError(f"{name!r} has a number that is NaN or infinite.")
    return first.shape
