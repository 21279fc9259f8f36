"""Sentences of five libraries: plain, masked, the same everywhere, and nothing leaks."""

import ast
import hashlib
import random
from collections import Counter

import pytest

from utils import ROOT
from utils.data import libraries, sources
from utils.data.libraries import (
    LIBRARIES,
    NAME,
    NAMES,
    NUMBER,
    Sentence,
    everything,
    masked,
    near_copies,
    sentences,
    unlabelled,
    without_copies,
)

LETTERS = "0667a086d7b1c30918dc1bae92d5fbd29f6665ae6dcf93052fa9d609840a8a27"


def said(text: str, module: str = "one", label: int = 0) -> Sentence:
    return Sentence(tuple(text.split()), label, text, module)


def test_the_sentences_are_those_that_the_book_was_written_with():
    lines = "".join(f"{s.module}\t{s.text}\t{' '.join(s.words)}\n" for s in everything())
    assert hashlib.sha256(lines.encode()).hexdigest() == LETTERS, (
        "Another version says something else. Enter it and this sum here, then run `make execute "
        "ALL=1` and `make experiments`, and read again what Day 8 says of these sentences."
    )


def test_each_part_has_as_many_sentences_of_each_library_in_random_order():
    parts = sentences()
    assert [name for name in parts._fields] == ["train", "validation", "test"]
    for part in parts:
        counts = Counter(sentence.label for sentence in part)
        assert len(counts) == len(LIBRARIES) and len({*counts.values()}) == 1
        first = Counter(sentence.label for sentence in part[: len(part) // 4])
        assert min(first.values()) > 0.6 * len(part) / 20
    assert len(parts.train) >= 8000 and len(parts.validation) > 1000 and len(parts.test) > 1000
    assert sentences() is parts


def test_no_module_and_no_near_copy_is_in_two_parts():
    train, validation, test = sentences()
    modules = [{sentence.module for sentence in part} for part in (train, validation, test)]
    assert sum(map(len, modules)) == len(set.union(*modules))
    assert not any(near_copies(test, train + validation))
    assert not any(near_copies(validation, train))


def test_text_without_labels_has_no_module_and_no_near_copy_of_what_is_tested():
    held_out = [sentence for part in sentences()[1:] for sentence in part]
    kept = [Sentence(words, 0, "", str(i)) for i, of in enumerate(unlabelled()) for words in of]
    assert not any(near_copies(held_out, kept))
    tested = {sentence.module for sentence in held_out}
    rest = {}
    for sentence in everything():
        if sentence.module not in tested:
            rest.setdefault(sentence.module, []).append(sentence)
    left_out = near_copies([s for said in rest.values() for s in said], held_out)
    assert 0 < sum(left_out) < 0.1 * len(left_out)
    out = iter(left_out)
    expected = [tuple(s.words for s in said if not next(out)) for said in rest.values()]
    assert list(unlabelled()) == [said for said in expected if said]
    assert unlabelled() is unlabelled()


def test_text_without_labels_is_all_that_one_learns_with_and_copies_too():
    kept = Counter(words for of_module in unlabelled() for words in of_module)
    assert {sentence.words for sentence in sentences().train} <= kept.keys()
    assert 1000 < sum(count - 1 for count in kept.values())


def test_a_random_split_leaks_and_one_by_module_alone_does_too():
    every = list(everything())
    random.Random(0).shuffle(every)
    n = len(every) // 10
    assert sum(near_copies(every[:n], every[n:])) / n > 0.3
    modules = sorted({sentence.module for sentence in every})
    held_out = {*random.Random(0).sample(modules, len(modules) // 10)}
    test = [sentence for sentence in every if sentence.module in held_out]
    train = [sentence for sentence in every if sentence.module not in held_out]
    assert 0.05 < sum(near_copies(test, train)) / len(test) < 0.3


def test_no_name_of_a_library_is_left():
    for sentence in everything():
        for word in sentence.words:
            assert word in (NAME, NUMBER) or word == word.lower()
            assert not NAMES & {*word.split("-")} and "_" not in word and "." not in word
        assert sentence.module.split(".")[0] == LIBRARIES[sentence.label]
        assert "`" not in sentence.text and sentence.text[-1] == "."


@pytest.mark.parametrize(
    ("sentence", "words"),
    [
        ("Return the *axis*, an `int`.", "return the <name> an <name>"),
        ("Fits as :meth:`~sklearn.base.Fit` and ``x @ y`` do.", "fits as <name> and <name> do"),
        ("NumPy's arrays and np are faster.", "<name> arrays and <name> are faster"),
        ("The pyplot API of Matplotlib draws.", "the <name> of <name> draws"),
        (
            "Axes are non-negative, e.g. 2.5 or 1-D.",
            "axes are non-negative eg <number> or <number>",
        ),
        ("Calls fit_transform and foo() and a.b.", "calls <name> and <name> and <name>"),
        (
            "It doesn't hold for 'lbfgs' and/or \"mean x\".",
            "it doesn't hold for <name> and or <name>",
        ),
        ("A scikit-learn estimator (see X).", "a <name> estimator see <name>"),
        ("What a torch-like tensor holds - or not.", "what a <name> tensor holds or not"),
    ],
)
def test_names_are_masked(sentence, words):
    assert " ".join(masked(sentence)) == words


@pytest.mark.parametrize("formula", ["It is a = b here.", "See [1] for more.", "It is x^2 then."])
def test_a_formula_is_no_plain_sentence(formula):
    assert masked(formula) == ()


SOURCE = '''
"""First. A sentence of `six` words or more, and another. It says :func:`fit` is what is fitted.

    >>> code of some length, "quoted"
"""
text = """Not a docstring. It stands behind a name, so nobody reads it as one."""


class Thing:
    r"""Raw strings are read like the others are."""

    def fit(self, X):
        """Fits.

        Parameters
        ----------
        X : array
            Parameters are no sentences of their own.
        """


add_docstr(
    fit,
    """
    What is written in C has its docstring here.
    """,
)
'''


def test_docstrings_are_found_and_cut_into_sentences():
    assert list(libraries._sentences(SOURCE)) == [
        "First.",
        "A sentence of `six` words or more, and another.",
        "It says :func:`fit` is what is fitted.",
        "Raw strings are read like the others are.",
        "Fits.",
        "What is written in C has its docstring here.",
    ]


def test_parsing_would_find_the_same_docstrings():
    """Of these modules, every sentence of a parsed docstring is found, and only of strings."""
    for module, source in libraries._sources("sklearn"):
        if not module.startswith("sklearn.linear_model."):
            continue
        found = {sentence.replace("\\", "") for sentence in libraries._sentences(source)}
        tree = ast.parse(source)
        kinds = ast.Module | ast.ClassDef | ast.FunctionDef
        strings = [n.value for n in ast.walk(tree) if isinstance(n, ast.Constant)]
        text = " ".join(" ".join(s.split()) for s in strings if isinstance(s, str))
        docstrings = [ast.get_docstring(n) for n in ast.walk(tree) if isinstance(n, kinds)]
        parsed = {s for d in docstrings if d for s in libraries._sentences(f'"""{d}"""')}
        assert parsed <= found, module
        assert all(sentence in text for sentence in found), module


def test_near_copies_have_half_of_their_pairs_in_common():
    one = said("the model is fitted to all of the data")  # 8 pairs
    changed = said("the model is fitted to all of some data")  # 6 of 10 in common
    half = said("the model is fitted to all data")  # 5 of 9
    less = said("the model is fitted now and then")  # 3 of 11
    assert near_copies([changed, half, less], [one]) == [True, True, False]
    exactly = said("a b c d e f g")  # 6 pairs, and 3 of them in 6
    assert near_copies([said("a b c d")], [exactly]) == [True]
    assert near_copies([said("b c d")], [exactly]) == [False]
    assert near_copies([one], []) == [False]


def test_near_copies_are_those_that_comparing_all_with_all_finds():
    part = list(everything())[::40]
    other = list(everything())[1::40]

    def alike(a, b):
        a, b = ({*zip(s.words, s.words[1:], strict=False)} for s in (a, b))
        return 2 * len(a & b) >= len(a | b)

    assert near_copies(part, other) == [any(alike(a, b) for b in other) for a in part]


def test_of_near_copies_the_first_is_kept():
    one, two = said("a b c d e f", "m"), said("a b c d e g", "n")
    assert without_copies([one, two, said("x y z")]) == [one, said("x y z")]
    assert without_copies([two, one]) == [two]


def test_modules_by_their_sentences_deal_five_one_one(monkeypatch):
    every = tuple(
        said(f"{library} {rank} {i} is said", f"{rank:02}", label)
        for label, library in enumerate(LIBRARIES)
        for rank in range(14)
        for i in range(20 - rank - label // 4)  # the last library says less
    )
    monkeypatch.setattr(libraries, "everything", lambda: every)
    monkeypatch.setattr(libraries, "without_copies", list)
    parts = libraries.sentences.__wrapped__()
    modules = [{sentence.module for sentence in part} for part in parts]
    assert modules[1:] == [{"03", "10"}, {"04", "11"}] and len(modules[0]) == 10
    assert [len(part) for part in parts] == [5 * 127, 5 * 25, 5 * 23]


@pytest.fixture
def another_version(monkeypatch):
    """Another version of scikit-learn is installed than the lock has."""
    sources.folder_of.cache_clear()
    real = sources.version
    monkeypatch.setattr(sources, "version", lambda p: "0.99.1" if "scikit" in p else real(p))
    yield
    sources.folder_of.cache_clear()


def test_texts_are_those_of_the_lock(pytestconfig):
    tells = pytestconfig.pluginmanager.get_plugin(str(ROOT / "conftest.py")).pytest_report_header
    assert not tells(), "pages that read these texts will fail"


def test_texts_of_another_version_are_told_once_and_read(another_version, capsys):
    assert sources.folder_of("sklearn").joinpath("__init__.py").exists()
    sources.folder_of("sklearn")
    (told,) = capsys.readouterr().out.splitlines()
    assert told.startswith("The book reads the texts of scikit-learn ") and "0.99.1" in told
    sources.folder_of("numpy")
    assert capsys.readouterr().out == ""
