"""What leaves a page when somebody reads it, and what stays."""

import os
import re
import subprocess
import sys
from functools import cache

import nbformat
import pytest
from browser import BOOK
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

NOT_BEGUN = (
    "○ 1.1 one_place: not started. Write the function's body and run this cell again.\n"
    "   From here on, the page uses the book's.\n"
)
POINTS = "☐ work one out by hand\n   1.1 one_place, 1.2 everywhere\n☑ tell when\n   unasked\n"
REFERENCE = '<details class="reference"><summary>One way</summary>the reference</details>'
FIGURE = {"figure": {"caption": "One square.", "name": "fig-square"}}


def code(source: str, *outputs, tags=(), **metadata):
    return new_code_cell(source, outputs=[*outputs], metadata={"tags": [*tags], **metadata})


def said(text: str):
    return new_output("stream", text=text)


def shown(**bundle: str):
    return new_output("display_data", {kind.replace("_", "/"): of for kind, of in bundle.items()})


CELLS = [
    new_markdown_cell("# Day 1\n\n(exercise-one-place)=\n## One\n\n(exercise-everywhere)=\n## Two"),
    code("import convolution_to_attention\nimport torch"),
    code("from utils import more", tags=["setup"]),
    code("prepared = 1", tags=["evidence"]),
    code("prepared_more = 1", tags=["view"]),
    code(
        "draw()",
        shown(text_html="<b>square</b>", text_plain="a square"),
        tags=["mechanism"],
        mystnb=FIGURE,
    ),
    code("plain = 1"),
    new_markdown_cell("Words."),
    code("measure()", shown(text_markdown="It is 3.", text_plain="3"), tags=["evidence"]),
    code("assert behind", tags=["evidence"]),
    new_markdown_cell("More words."),
    code("look()", shown(text_html="<i>looked</i>", text_plain="looked"), tags=["evidence"]),
    code("judge()", shown(text_markdown="It holds.", text_plain="holds"), tags=["evidence"]),
    code("quiz(one)", shown(text_html="<i>asked</i>", text_plain="a quiz"), tags=["view"]),
    new_markdown_cell("Other words."),
    code("assert alone", tags=["evidence"]),
    new_markdown_cell("Your turn."),
    code("def stub(): ...", said(NOT_BEGUN), shown(text_plain="<function f.<locals>.g(x) -> y>")),
    code("mixed()", said(f"Beforehand: 7\n{NOT_BEGUN}")),
    code("right()", said("✓ 1.1 one_place: correct.\n")),
    code(
        'check.show_reference("one_place")', shown(text_html=REFERENCE, text_plain="utils/one.py")
    ),
    code("checklist(points)", said(POINTS), tags=["view"]),
]


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    """A function that builds the page for a builder and returns its text."""
    made = tmp_path_factory.mktemp("reading")
    source = made / "source"
    source.mkdir()
    python = {"language_info": {"name": "python", "pygments_lexer": "ipython3"}}
    nbformat.write(new_notebook(cells=CELLS, metadata=python), source / "index.ipynb")
    path = os.pathsep.join(map(str, (BOOK / "_ext", BOOK)))

    @cache
    def build(builder: str, ending: str) -> str:
        given = ["extensions=myst_nb,reading", "nb_execution_mode=off", "copyright=us", "version=1"]
        settings = [part for setting in given for part in ("-D", setting)]
        folders = ["-d", made / "doctrees", source, made / builder]
        done = subprocess.run(
            [sys.executable, "-m", "sphinx", "-qWCb", builder, *settings, *folders],
            env=os.environ | {"PYTHONPATH": path, "PYTHONUTF8": "1"},
            capture_output=True,
            encoding="utf-8",
        )
        assert done.returncode == 0, done.stderr
        return (made / builder / f"index.{ending}").read_text(encoding="utf-8")

    return build


@pytest.fixture(scope="module")
def html(page):
    return page("html", "html")


def folds(html: str) -> dict[str, str]:
    """{folded code: the words on its fold}."""
    found = re.findall(
        r'<details class="code-fold"><summary[^>]*>(.*?)</summary>(.*?)</details>', html, re.DOTALL
    )
    return {" ".join(re.sub(r"<[^>]*>", "", body).split()): words for words, body in found}


def test_what_was_not_begun_says_nothing_and_all_else_is_said(html):
    assert "not started" not in html and "From here on" not in html and "function f" not in html
    stub = html.partition("stub")[2]
    assert stub.index("mixed") < stub.index("Beforehand: 7") < stub.index("correct.")
    assert "cell_output" not in stub.partition("mixed")[0]


def test_a_reference_stays_without_the_call_that_shows_it(html):
    assert "show_reference" not in html and html.count("the reference</details>") == 1


def test_folded_code_is_one_word_after_what_it_gave(html):
    square, measured = html.index("<b>square</b>"), html.index("It is 3.")
    draw, measure = (html.index(f'<span class="n">{name}') for name in ("draw", "measure"))
    assert square < draw < measured < measure
    assert html.index("One square.") < draw
    assert 'title="How this is drawn">code<' in html
    assert re.search(r"</details>\s*</div>", html[draw:])


def test_folded_code_that_gave_nothing_joins_the_fold_beside_it(html):
    words = folds(html)
    assert list(words.values()) == ["Set-up", "code", "code", "code", "How this was measured"]
    imports, drawn, measured, judged, alone = words
    assert imports.endswith("import torch from utils import more")
    assert judged == "look() judge()"
    assert drawn == "prepared = 1 prepared_more = 1 draw()"
    assert measured == "measure() assert behind" and alone == "assert alone"


def test_two_folds_in_a_row_are_one_after_the_second_and_a_view_has_none(html):
    looked, holds, asked = (html.index(f"{it}</") for it in ("looked", "It holds.", "asked"))
    assert looked < holds < html.index('<span class="n">look') < asked
    assert '<span class="n">quiz' not in html


def test_a_checklist_is_a_list_with_links_to_its_exercises(html):
    (listed,) = re.findall(r'<ul class="[^"]*checklist[^"]*">.*?</ul>', html, re.DOTALL)
    assert listed.count("<li>") == 2 and "☐" not in html and "☑" not in html
    links = re.findall(r'href="#([\w-]+)"><span class="[^"]*">([^<]+)<', listed)
    assert links == [("exercise-one-place", "1.1"), ("exercise-everywhere", "1.2")]
    assert "unasked" in listed and "checklist(" not in html


@pytest.mark.parametrize("builder, ending", [("text", "txt"), ("epub", "xhtml")])
def test_where_nothing_opens_there_is_nothing_folded(page, builder, ending):
    text = page(builder, ending)
    for hidden in ("prepared", "draw()", "measure", "alone", "Imports", "reference", "utils/one"):
        assert hidden not in re.sub(r"<[^>]*>", "", text), hidden
    for seen in ("plain", "It is 3.", "stub", "Beforehand: 7", "work one out by hand"):
        assert seen in text, seen
