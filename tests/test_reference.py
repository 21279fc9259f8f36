"""The reference: each public name has an entry, which reads as its docstring; links hold."""

import gzip
import inspect
import re
import sys
from functools import cache
from html import unescape
from importlib import import_module
from pathlib import Path

import pytest
from browser import BOOK

from utils.press import lessons

sys.path.append(str(BOOK / "_ext"))
import docstrings
import entries

CONCEPTS = lessons.concepts()


def public(concept: str) -> dict[str, object]:
    """{address: thing} of the public classes and functions that a concept's files define."""
    found = {}
    top = BOOK / "utils" / concept
    files = sorted(top.glob("*.py")) if top.is_dir() else [top.with_suffix(".py")]
    for file in files:
        name = ".".join(file.relative_to(BOOK).with_suffix("").parts)
        module = import_module(name.removesuffix(".__init__"))
        for name, thing in vars(module).items():
            if (inspect.isclass(thing) or inspect.isfunction(thing)) and name[0] != "_":
                if thing.__module__ == module.__name__:
                    found[f"{module.__name__}.{name}"] = thing
    return found


@pytest.mark.parametrize("concept", CONCEPTS)
def test_every_public_name_of_a_concept_has_an_entry_and_says_what_it_is(concept):
    for address, thing in public(concept).items():
        assert address in entries.addresses(), f"the reference lacks {address}"
        own = thing.__dict__.get("__doc__") if inspect.isclass(thing) else thing.__doc__
        assert own and own.strip(), f"{address} needs a docstring"


@cache
def page(html: Path, name: str) -> str:
    return (html / f"{name}.html").read_text(encoding="utf-8")


def body_of(text: str, address: str) -> str:
    """What a page says of an entry, from its signature to its source."""
    return text.partition(f'id="{address}"')[2].partition("</details>")[0]


def words(markup: str) -> str:
    return " ".join(unescape(re.sub("<[^>]+>", "", markup)).split())


def test_every_entry_is_on_its_page_with_its_source(build):
    for name in entries.pages():
        text = page(build.html, f"{lessons.REFERENCE}/{name}")
        there = set(re.findall(r'id="(utils\.[\w.]+)"', text))
        for listed in entries.entries(name).values():
            for entry in listed:
                assert entry.address in there
                if entry.kind != "data":
                    source = body_of(text, entry.address).partition("<pre>")[2]
                    assert words(source).startswith(words(entries.code(entry.thing)[0][:9]))


def test_a_docstring_reads_on_the_page_as_it_is_written(build):
    """All letters of all docstrings are there, in order, but for the marks of points and code."""

    def letters(text: str) -> str:
        return re.sub(r"[`\s:]", "", text)

    for name in CONCEPTS:
        text = page(build.html, f"{lessons.REFERENCE}/{name}")
        for listed in entries.entries(name).values():
            for entry in listed:
                if entry.kind != "data":
                    said = letters(words(body_of(text, entry.address).partition("<details")[0]))
                    assert letters(entry.thing.__doc__) in said, entry.address


def test_lessons_lead_to_entries_and_back(build):
    deeper = page(build.html, "chapters/deeper/04_attention")
    there = "../../reference/attention.html#utils.attention.AdditiveScore"
    assert re.search(rf'"in-reference">\s*<a [^>]*href="{re.escape(there)}"', deeper)
    assert f'<a class="entry" href="{there}"' in deeper
    lesson = page(build.html, "chapters/05_self_attention")
    assert re.search(
        r'<a [^>]*href="../reference/attention.html#utils.attention.masked_softmax"[^>]*><code',
        lesson,
    )
    entry = body_of(page(build.html, "reference/attention"), "utils.attention.AdditiveScore")
    anchor = re.search(r'href="\.\./chapters/deeper/04_attention.html#([\w-]+)"', entry)[1]
    assert f'id="{anchor}"' in deeper
    assert "chapters/05_self_attention.html" in page(build.html, "reference/self_attention")


def test_links_of_the_reference_lead_somewhere(build):
    for name in ("index", *entries.pages()):
        text = page(build.html, f"{lessons.REFERENCE}/{name}").partition("<article")[2]
        for target, anchor in re.findall(r'href="([\w./]*)#([\w.-]+)"', text):
            other = f"{lessons.REFERENCE}/{target or name}".removesuffix(".html")
            other = other.replace(f"{lessons.REFERENCE}/../", "")
            assert f'id="{anchor}"' in page(build.html, other), f"{name}: {target}#{anchor}"


def test_no_page_of_the_reference_is_heavy(build):
    for file in (build.html / lessons.REFERENCE).glob("*.html"):
        assert len(gzip.compress(file.read_bytes())) < 150_000, file.name


def test_the_registry_has_a_page_for_each_module_and_no_others():
    listed = {BOOK / file for file in lessons.in_reference(lessons.days())}
    assert listed == set((BOOK / lessons.REFERENCE).glob("*")), (
        "remove what `make days` didn't write"
    )


DOCSTRING = """Weigh *all* `values` |x|, as `Score` does_ (A., 2020): a_b, x**2, <T>, \\alpha.

    score, keys (B, S, D): two of these, on
        two lines: and a colon.
    other: not an argument. Shapes: (..., S) to (B, T).

    Returns: weights, see Day 4 and Day 99. Raises: ValueError if
    it has to.
    """


def test_points_of_a_docstring_are_told_from_prose():
    names = {"Score": "utils.attention.Score"}
    made = docstrings.as_rst(DOCSTRING, {"score", "keys"}, names.get)
    assert [line for line in made if line and line[0] != " "][1:] == [
        r"``score``, ``keys`` \(B\, S\, D\)",
        r"other\: not an argument\.",
        "Shapes",
        "Returns",
        "Raises",
    ]
    text = "\n".join(made)
    assert r"Weigh \*all\* \ ``values``\  \|x\|" in text and r"does\_" in text
    assert r"\ :py:obj:`Score <utils.attention.Score>`\ " in text
    assert "two of these\\, on two lines\\: and a colon" in text
    assert ":doc:`Day 4 </chapters/04_attention>`" in text and "Day 99" in text
    assert r"\ ``ValueError``\  if it has to" in text


def test_a_signature_is_the_one_that_is_written():
    from utils.attention import Attention, Memory, Score
    from utils.transformer import FeedForward

    assert docstrings.signature(Attention) == ("(score: utils.attention.Score)", None)
    fields = "(keys: Tensor, values: Tensor, mask: Tensor | None)"
    assert docstrings.signature(Memory) == (fields, None)
    assert docstrings.fields(Memory)["values"] == "(B, S, d_v)"
    assert docstrings.signature(Score) == ("", None)
    assert docstrings.signature(Attention.remember)[1] == "utils.attention.Memory"
    assert "bias: bool=True" in docstrings.signature(FeedForward)[0]
