"""What a reader who is back again sees when a cell is run before those above it: what to do.

An extension of IPython, which the kernels of `make lab` load (`jupyter_data/kernels`).
"""

import json
import os
import symtable
from pathlib import Path
from types import TracebackType

from IPython.core.interactiveshell import InteractiveShell
from IPython.display import display

SENTENCE = (
    "`{name}` comes from a cell above that hasn't run yet. **Back again?** Press *Run all above* "
    "at the top of this page, or choose *Run › Run All Above Selected Cell* in the menu. Then "
    "run this cell again."
)


def load_ipython_extension(shell: InteractiveShell) -> None:
    """Let a missing name be explained from now on."""
    shell.set_custom_exc((NameError,), explain)


def explain(
    shell: InteractiveShell,
    kind: type[NameError],
    error: NameError,
    traceback: TracebackType,
    tb_offset: int | None = None,
) -> None:
    """Say what to run if a cell above has the missing name; show any other error as ever."""
    last = traceback
    while last.tb_next:
        last = last.tb_next
    in_a_cell = last.tb_frame.f_globals is shell.user_ns
    page = Path(os.environ.get("JPY_SESSION_NAME", ""))  # set by Jupyter's server
    cell = shell.get_parent().get("metadata", {}).get("cellId")  # and by JupyterLab
    if kind is NameError and in_a_cell and error.name in names_above(cell, page):
        sentence = SENTENCE.format(name=error.name)
        display({"text/plain": sentence, "text/markdown": sentence}, raw=True)
    else:
        shell.showtraceback((kind, error, traceback), running_compiled_code=True)


def names_above(cell: str | None, page: Path) -> set[str]:
    """The names that a saved page's cells define, down to the one with this id, or to the end."""
    found: set[str] = set()
    try:
        cells = json.loads(page.read_text(encoding="utf-8"))["cells"]
        for each in cells:
            if each.get("id") == cell:
                break
            if each["cell_type"] == "code":
                found |= _defined("".join(each["source"]))
    except (OSError, ValueError, LookupError, TypeError, AttributeError):  # no page, or damaged
        pass
    return found


def _defined(source: str) -> set[str]:
    try:
        symbols = symtable.symtable(source, "cell", "exec").get_symbols()
    except SyntaxError:  # a magic command, or what the reader is still writing
        return set()
    return {each.get_name() for each in symbols if each.is_assigned() or each.is_imported()}
