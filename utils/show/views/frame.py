"""What all views share: one piece of HTML with its script, style and data, that asks no host."""

import json
from collections.abc import Sequence
from hashlib import sha256
from html import escape
from pathlib import Path

from IPython.display import display
from torch import Tensor

HERE = Path(__file__).parent


def view(name: str, data: dict, *, says: str, still: str, parts: Sequence[str] = ()) -> None:
    """Show the view that `<name>.js` draws of the data.

    says: the view as text, the same on every machine; nbval compares it, and the script and style.
    still: HTML that stands in the page where no script runs: in JupyterLab before the cell is run.
    parts: what the view shares with others, by the names of the files.
    Both `data` and `still` may hold what was measured, rounded: they are not compared.
    """
    display(bundle(name, data, says, still, parts), raw=True)


def bundle(
    name: str, data: dict, says: str, still: str, parts: Sequence[str] = ()
) -> dict[str, str]:
    """What `view` displays, by MIME type; the same for the same data."""
    written = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    written = written.replace("<", r"\u003c")  # no text of the data can end its script
    id = f"view-{name}-{sha256((name + written).encode()).hexdigest()[:8]}"
    files = [HERE / file for file in ("frame", *parts, name)]
    script = "\n".join(file.with_suffix(".js").read_text(encoding="utf-8") for file in files)
    styles = [file.with_suffix(".css") for file in files]  # not every view needs one of its own
    style = "".join(file.read_text(encoding="utf-8") for file in styles if file.exists())
    page = (
        f'<div class="book-view" id="{id}">\n<style>\n{style}</style>\n'
        f'<div class="view-still">{still}</div>\n'
        f'<script type="application/json">{written}</script>\n</div>\n'
        f'<script>\n(() => {{\n"use strict";\n{script}\nstart("{id}", draw);\n}})();\n'
        "</script>"
    )
    return {"text/plain": says, "text/html": page}


def paragraph(text: str) -> str:
    """A text as HTML."""
    return f"<p>{escape(text)}</p>"


def listed(items: list[str]) -> str:
    """Texts as a list in HTML."""
    return f"<ul>{''.join(f'<li>{escape(item)}</li>' for item in items)}</ul>"


def rounded(numbers: Tensor, digits: int) -> list:
    """A tensor as lists of numbers with so many digits after the point."""
    scale = 10**digits
    return ((numbers.detach().double() * scale).round() / scale).tolist()
