"""The lessons for Google Colab, which opens a notebook without the book around it.

`python -m utils.press.colab FOLDER ADDRESS [BRANCH]` writes a copy of each page; its first cell
fetches the book from the repository at ADDRESS, and installs what is missing there.
"""

import sys
from pathlib import Path

from nbformat import NotebookNode
from nbformat.v4 import new_code_cell

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
        notebook = notebooks.read(copy)
        notebook.cells.insert(0, first_cell(address, branch))
        notebooks.write(notebook, copy)


def first_cell(address: str, branch: str) -> NotebookNode:
    """The cell that comes before all others."""
    return new_code_cell(FIRST.format(address=address, branch=branch), id="fetch-the-book")


if __name__ == "__main__":
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    write_copies(Path(sys.argv[1]), *sys.argv[2:])
