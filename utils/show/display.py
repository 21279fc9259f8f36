"""What a cell shows besides figures: the source of what was built, and tables."""

import inspect
import re
import string
import textwrap
from collections.abc import Mapping, Sequence
from pathlib import Path

from IPython.display import display
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer
from tabulate import tabulate

from utils import ROOT
from utils.show.luck import came_out_otherwise


def show_source(thing) -> None:
    """Show the source of a function or class of `utils` in the page.

    nbval compares it with the page that is stored: what is read is what is tested.
    Raises: TypeError if `thing` is anything else, for instance defined in a cell.
    """
    display(source_bundle(thing), raw=True)


def source_bundle(thing) -> dict[str, str]:
    """What `show_source` displays, by MIME type."""
    thing = inspect.unwrap(thing)
    try:
        path = Path(inspect.getfile(thing)).resolve().relative_to(ROOT)
        source = textwrap.dedent(inspect.getsource(thing)).rstrip()
    except (TypeError, ValueError, OSError):
        path = Path()
    if path.parts[:1] != ("utils",) or inspect.ismodule(thing):
        raise TypeError(f"show_source shows a function or a class of `utils`, not {thing!r}.")
    name = f"{path.as_posix()}: {thing.__qualname__}"
    coloured = highlight(f"# {path.as_posix()}\n{source}", PythonLexer(), HtmlFormatter())
    return {"text/plain": name, "text/html": coloured}


def show_reference(reference) -> None:
    """Show the reference of an exercise, closed until the reader opens it.

    reference: a function of `utils.exercises`.
    """
    bundle = source_bundle(reference)
    display(bundle | {"text/html": closed(bundle["text/html"])}, raw=True)


def closed(markup: str) -> str:
    """Markup that is folded under a line until the reader opens it.

    The line has the browser's own triangle, also in JupyterLab, whose styles would take it away.
    """
    line = '<summary style="list-style: revert; cursor: pointer">One way to write it</summary>'
    return f'<details class="reference">{line}{markup}</details>'


def observe(sentence: str, *, holds: bool, **measured: object) -> None:
    """Say what was measured in a sentence with its numbers in place.

    sentence: with a field for each number, as in "moved by one pixel, {moved:.0%} are read". nbval
        compares it with the fields left open, since the numbers may differ between machines.
    holds: whether the numbers are as the page goes on to say. If not, a reader sees the book's
        numbers beside the own; under BOOK_STRICT=1 it is an AssertionError.
    Raises: ValueError if fields and numbers do not match.
    """
    said, left_open = filled(sentence, measured)
    if not holds:
        said = came_out_otherwise(said, left_open)
    display({"text/plain": left_open, "text/markdown": said}, raw=True)


def filled(sentence: str, numbers: Mapping[str, object]) -> tuple[str, str]:
    """Return a sentence with its fields filled in, and with an ellipsis in place of each.

    Raises: ValueError if a field has no number, or a number no field.
    """
    fields = {name for _, name, *_ in string.Formatter().parse(sentence) if name is not None}
    if fields != set(numbers):
        raise ValueError(
            f"The sentence has the fields {sorted(fields)}, and the numbers are {sorted(numbers)}: "
            "each field needs its number, and each number its field."
        )
    return sentence.format(**numbers), re.sub(r"\{[^{}]*\}", "…", sentence)


def table(rows: Sequence[Sequence[str | int]], headers: Sequence[str]) -> None:
    """Show rows of text and whole numbers; other numbers are formatted by the caller.

    Raises: TypeError if a cell is neither; ValueError if a row has not one cell for each header, or
        a header is empty.
    """
    if not all(map(str.strip, headers)):
        raise ValueError(f"Each column needs a header that can be read aloud, got {list(headers)}.")
    rows = [list(row) for row in rows]
    for row in rows:
        if len(row) != len(headers):
            raise ValueError(f"The row {row} has {len(row)} cells for {len(headers)} headers.")
        for cell in row:
            if not isinstance(cell, (str, int)):
                raise TypeError(
                    f"A table shows text and whole numbers: write {cell!r} as f'{{x:.3f}}' or so."
                )
    bundle = {
        "text/plain": format_table(rows, headers),
        "text/html": format_table(rows, headers, "html"),
    }
    display(bundle, raw=True)


def format_table(rows: Sequence[Sequence], headers: Sequence[str], style: str = "simple") -> str:
    """The table as text; columns of numbers are aligned to the right."""
    number = re.compile(r"[-+−±≈<>≤≥]?\s*\d[-+±×·–\d,. %eEkMG]*")
    columns = zip(*rows, strict=True)
    align = [
        "right" if all(number.fullmatch(str(c)) for c in cells) else "left" for cells in columns
    ]
    text = tabulate(rows, headers, tablefmt=style, disable_numparse=True, colalign=align or None)
    left = r'<\1 style="text-align: left;">'  # else JupyterLab aligns it to the right
    return re.sub("<(t[hd])>", left, text).replace("<table>", '<table class="table dataframe">')
