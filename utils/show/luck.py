"""Where a finding comes out otherwise than on the machine of the book.

Weights that were trained here have other last bits there, so a bound may fail by chance. In a
reader's copy the page then says so and goes on; under BOOK_STRICT=1, as in the tests, it stops.
"""

import json
import os

from IPython import get_ipython

from utils import ROOT

# What a page runs on, by name: the answers, or the book's own, that checks gave back.
in_place: dict[str, object] = {}


class OtherwiseError(AssertionError):
    """A finding that does not hold, where that has to stop the page."""


def is_strict() -> bool:
    """Whether a finding that does not hold is an error."""
    return os.environ.get("BOOK_STRICT") == "1"


def came_out_otherwise(said: str, plain: str) -> str:
    """The sentence of a finding that fails here, and under it the book's own numbers.

    plain: the sentence with its fields left open, by which the book's pages know it.
    Raises: OtherwiseError if findings have to hold, or if the page runs on a wrong answer.
    """
    if is_strict():
        raise OtherwiseError(f"The page would not go on as it does: {said}")
    if wrong := _wrong_answers():
        raise OtherwiseError(
            f"This does not hold: {said} The page runs on an answer that no check has passed "
            f"({', '.join(wrong)}): run the cell with its check again, then this one."
        )
    stored = outputs_of_the_book(plain)
    book = stored.get("said") or stored.get("text/markdown", "")
    beside = f", which measured:* {book}" if book else ".*"
    return f"{said}\n\n*Here it came out otherwise than on the machine of the book{beside}"


def outputs_of_the_book(plain: str) -> dict[str, str]:
    """What the executed pages show beside this plain text, by MIME type; a claim's `said` too."""
    for page in sorted((ROOT / "chapters").glob("**/[0-9]*.ipynb")):
        cells = json.loads(page.read_text(encoding="utf-8"))["cells"]
        for output in (each for cell in cells for each in cell.get("outputs", ())):
            data = output.get("data", {})
            if "text/markdown" in data and "".join(data.get("text/plain", "")) == plain:
                texts = {kind: "".join(text) for kind, text in data.items() if "text/" in kind}
                return texts | {"said": _said(data)}
    return {}


def _said(data: dict) -> str:
    return data.get("application/vnd.book+json", {}).get("said", "")


def _wrong_answers() -> list[str]:
    """Names under which the page holds something else than a check gave back.

    They are the names of what was given back: the book's answer is called as the page calls it,
    whatever the reader's own was called.
    """
    shell = get_ipython()
    names = shell.user_ns if shell else {}
    called = {getattr(given, "__name__", ""): given for given in in_place.values()}
    return [name for name, given in called.items() if names.get(name, given) is not given]
