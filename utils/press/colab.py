"""The lessons for Google Colab, which opens a notebook without the book around it.

`python -m utils.press.colab FOLDER ADDRESS [BRANCH]` writes a copy of each page; its first cell
fetches the book from the repository at ADDRESS, and installs what is missing there.
"""

import json
import sys
from pathlib import Path

BRANCH = "colab"  # where the copies are, in the book's repository
FIRST = """\
# Run this cell first: it fetches the book, and installs what is missing here.
!test -e ~/book || git clone --quiet --depth 1 --branch {branch} {address} ~/book
%cd -q ~/book
!python -m utils.press.missing"""


def write_copies(folder: Path, address: str, branch: str = "main") -> None:
    """Write a copy of each page, as a reader gets it, under its path in the book."""
    from utils.press import jupyter, notebooks

    for script in notebooks.scripts():
        copy = folder / script.relative_to(notebooks.ROOT).with_suffix(".ipynb")
        jupyter.make_copy(script.with_suffix(".ipynb"), copy)
        notebook = json.loads(copy.read_text(encoding="utf-8"))
        notebook["cells"].insert(0, first_cell(address, branch))
        copy.write_text(json.dumps(notebook, ensure_ascii=False, indent=1), encoding="utf-8")


def first_cell(address: str, branch: str) -> dict:
    """The cell that comes before all others."""
    source = FIRST.format(address=address, branch=branch)
    empty = {"execution_count": None, "metadata": {}, "outputs": []}
    return {"cell_type": "code", "id": "fetch-the-book", "source": source, **empty}


if __name__ == "__main__":
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    write_copies(Path(sys.argv[1]), *sys.argv[2:])
