"""The text that is the same on every machine: its letters, its parts, and what is left out."""

import hashlib
from importlib.metadata import version

import pytest

from utils.data import docstrings
from utils.data.docstrings import PARTS, docstring_text

LETTERS = {  # version of scikit-learn: SHA-256 of the whole text
    "1.9.1": "6d47b9baa34c847f9d35e6518988e9cc66f425a907bdf85444afe8301698da18",
}


def paragraphs(part):
    return set(docstring_text(part).split("\n\n"))


def test_the_letters_are_those_that_the_book_was_written_with():
    found = hashlib.sha256(docstring_text().encode()).hexdigest()
    assert LETTERS.get(version("scikit-learn")) == found, (
        "Another scikit-learn says something else. Enter its version and this sum here, then run "
        "`make execute ALL=1` and `make experiments`, and read again what the lessons say of it."
    )


def test_it_is_plain_english_in_three_parts():
    parts = {part: docstring_text(part) for part in PARTS}
    assert len(parts["train"]) > 150_000
    assert all(len(parts[part]) > 20_000 for part in ("validation", "test"))
    whole = docstring_text()
    assert paragraphs(None) == set.union(*map(paragraphs, PARTS))
    assert whole.isascii() and "\t" not in whole and "\n\n\n" not in whole and " \n" not in whole
    for markup in ("`", ":ref:", ":class:", ">>>", ".. ", " : ", "\\"):
        assert markup not in whole, markup
    for word in (" the ", "estimator", '"fit"'):
        assert word in whole
    assert all(p[0].isupper() and p[-1] == "." for p in paragraphs(None))
    with pytest.raises(ValueError, match="'all'"):
        docstring_text("all")


def test_hardly_anything_that_is_held_out_was_read_in_training():
    train = docstring_text("train")
    read = {train[i : i + 50] for i in range(len(train) - 50)}
    for part in ("validation", "test"):
        text = docstring_text(part)
        met = sum(text[i : i + 50] in read for i in range(len(text) - 50))
        assert met < 0.02 * len(text), part


def test_of_ten_modules_by_length_the_sixth_validates_and_the_seventh_tests(monkeypatch):
    modules = [f"{rank:02}" for rank in range(20)]
    monkeypatch.setattr(docstrings, "_modules", lambda: modules)
    ranks = {part: docstring_text(part).split() for part in PARTS}
    assert ranks["validation"] == ["05", "15"] and ranks["test"] == ["06", "16"]
    assert len(ranks["train"]) == 16


MODULE = '''
"""Too short.

A sentence about :func:`~package.module.fit` and the `value`, long enough to be kept here.

    >>> code of some length stands here, and a reader of English has nothing of it at all
"""


def fit(X):
    """Fits the model, as the :ref:`User Guide <guide>` explains, to all of the data at hand.

    Parameters
    ----------
    X : what is fitted, in a paragraph that has a colon and is longer than sixty letters.
        It goes on.

    A sentence that came before is left out.  A sentence about ``None`` is not enough to save it.
    """


class Other:
    """Another paragraph says something new in words that no other has used in this library.

    Fits the model, as the :ref:`User Guide <guide>` explains, to all of the data at hand. And more.
    """
'''


def test_prose_is_kept_once_and_without_markup(tmp_path, monkeypatch):
    (tmp_path / "library" / "tests").mkdir(parents=True)
    (tmp_path / "library" / "__init__.py").write_text("")
    (tmp_path / "library" / "module.py").write_text(MODULE)
    (tmp_path / "library" / "tests" / "left_out.py").write_text(MODULE)
    monkeypatch.setattr(docstrings, "folder_of", lambda library: tmp_path / "library")
    monkeypatch.setattr(docstrings, "_modules", docstrings._modules.__wrapped__)
    assert docstring_text().split("\n\n") == [
        'A sentence about package.module.fit and the "value", long enough to be kept here.',
        "Fits the model, as the User Guide explains, to all of the data at hand.",
        "A sentence that came before is left out.  "
        'A sentence about "None" is not enough to save it.',
        "Another paragraph says something new in words that no other has used in this library.",
    ]
