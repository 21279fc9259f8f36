"""A cell that is run before those above it says what to do; any other error is shown as ever."""

import json
import sys
from types import SimpleNamespace

import pytest

from utils.press import back_again

CELLS = {
    "set-up": "from utils.exercises.convolution import check\nimport torch.nn as nn",
    "broken": "%matplotlib inline\nmagic = 1",
    "above": "def layer(x):\n    inner = 1\n    return nn.functional.relu(x)",
    "this": "check(layer)",
    "below": "later = 1",
}


@pytest.fixture
def page(tmp_path, monkeypatch):
    """A saved page, of which no cell has been run."""
    cells = [
        {"id": id, "cell_type": "code", "source": code.splitlines(keepends=True)}
        for id, code in CELLS.items()
    ]
    cells.insert(0, {"id": "title", "cell_type": "markdown", "source": "later = 1"})
    page = tmp_path / "page.ipynb"
    page.write_text(json.dumps({"cells": cells}), encoding="utf-8")
    monkeypatch.setenv("JPY_SESSION_NAME", str(page))
    return page


def run(code: str, monkeypatch, cell: str | None = "this") -> tuple[str, str]:
    """What the reader is told of an error of a cell, and the name of one that is shown as ever."""
    told, shown = [], []
    monkeypatch.setattr(back_again, "display", lambda data, raw: told.append(data))
    handlers = {}
    shell = SimpleNamespace(
        user_ns={},
        get_parent=lambda: {"metadata": {"cellId": cell} if cell else {}},
        showtraceback=lambda error, **options: shown.append(error[0].__name__),
        set_custom_exc=lambda kinds, handler: handlers.update(dict.fromkeys(kinds, handler)),
    )
    back_again.load_ipython_extension(shell)
    try:
        exec(code, shell.user_ns)
    except NameError:
        handlers[NameError](shell, *sys.exc_info())
    return "".join(each["text/markdown"] for each in told), "".join(shown)


@pytest.mark.parametrize("code", ["check(1)", "def f():\n    return check\nf()", "json = check"])
def test_a_name_from_above_is_explained_without_a_traceback(code, page, monkeypatch):
    told, shown = run(code, monkeypatch)
    assert told.startswith("`check` comes from a cell above") and shown == ""
    assert "Run All Above Selected Cell" in told and "Run all above" in told


def test_in_a_cell_that_is_not_saved_yet_every_cell_is_above(page, monkeypatch):
    assert run("later", monkeypatch, cell="new")[0] and run("later", monkeypatch, cell=None)[0]


@pytest.mark.parametrize(
    ("code", "error"),
    [
        ("chekc(1)", "NameError"),
        ("later", "NameError"),
        ("inner", "NameError"),
        ("magic", "NameError"),
        ("def f():\n    print(check)\n    check = 1\nf()", "UnboundLocalError"),
        ("exec('check', {})", "NameError"),
    ],
)
def test_any_other_error_is_shown_as_ever(code, error, page, monkeypatch):
    assert run(code, monkeypatch) == ("", error)


@pytest.mark.parametrize("text", [None, "", "[]", "{}", '{"cells": [1]}', '{"cells": [{}]}'])
def test_a_page_that_is_damaged_or_not_there_changes_nothing(text, page, monkeypatch):
    page.unlink() if text is None else page.write_text(text)
    assert run("check(1)", monkeypatch) == ("", "NameError")


def test_a_kernel_that_no_page_began_shows_what_it_ever_did(monkeypatch):
    monkeypatch.delenv("JPY_SESSION_NAME", raising=False)
    assert run("check(1)", monkeypatch) == ("", "NameError")
