"""What a lesson asks of its reader: each count, each limit, and the lessons within them."""

import math
from dataclasses import replace

import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from utils.measure.claims import RECORD
from utils.press import budget, lessons, notebooks
from utils.press.budget import SHARES, Budget, count, limits, source_lines, words
from utils.show.display import source_bundle

text, page = new_markdown_cell, lambda *cells: new_notebook(cells=list(cells))


def code(source: str, *shown: dict, tags: tuple[str, ...] = (), **metadata):
    """A code cell that displayed these bundles."""
    outputs = [new_output("display_data", data=bundle) for bundle in shown]
    return new_code_cell(source, outputs=outputs, metadata={"tags": list(tags), **metadata})


def exercise(title: str, minutes: str) -> str:
    return f"```{{exercise}} {title}\n:label: exercise-title\n\n*{minutes}.* Do it.\n```"


PICTURE = {"image/png": "…", "text/plain": "<Figure size 640x480 with 1 Axes>"}
LISTING = "def f():\n    'Says one.'\n    return 1"
REFERENCE = {
    "text/html": f'<details><div class="highlight"><pre>{LISTING}</pre></div></details>',
    "text/plain": "the reference",
}


@pytest.mark.parametrize("day", lessons.days(), ids=lambda day: day.stem)
def test_a_lesson_keeps_its_budget(day):
    found = count(notebooks.read(notebooks.CHAPTERS / f"{day.stem}.ipynb"))
    assert not found.exceeded(day.number), f"Day {day.number}: " + "; ".join(
        found.exceeded(day.number)
    )


@pytest.mark.parametrize(
    ("markdown", "number"),
    [
        ("# Two words\n\nand three: it's", 5),
        ("The root $\\sqrt{d_k}$ of $2 + 2$ stays", 6),
        ("Before\n\n$$\na = b + c\n$$ (eq-a)\n\nafter", 2),
        ("(sec-a)=\n## A section\n\nsee {numref}`fig-a` and {cite:t}`one,two`", 6),
        ("[a link](to/some%20page.ipynb#there) and <b>bold</b>", 4),
        ("```{exercise} The title\n:label: exercise-title\n\n*Core, 5 minutes.* Why?\n```", 6),
        ("| a | b |\n| --- | --- |\n| 1 | 2.5 |", 4),
    ],
)
def test_words_are_those_that_are_read(markdown, number):
    assert words(markdown) == number


def test_captions_and_questions_are_words_and_other_outputs_are_not():
    figure = {"figure": {"caption": "Three whole words.", "name": "fig-a"}}
    cells = [
        text("one"),
        code("x", PICTURE, mystnb=figure),
        code("y", {"text/plain": "Question: how many?\n- one\n- more than one"}),
        code("z", {"text/plain": "Questions: two\nWhy?\n- so: No, not so.\nHow?\n- thus: Right."}),
        code("z", {"text/plain": "a long table of numbers"}),
    ]
    assert count(page(*cells)).words == 1 + 3 + 6 + 5


def test_code_is_visible_or_folded_and_some_of_it_evidence():
    found = count(
        page(
            code("a = 1\n\nb = 2  # two\n"),
            code("import a", tags=("setup",)),
            code("plot()\nshow()", tags=("mechanism",)),
            code("measure()\n\nprint()\nobserve()", tags=("evidence",)),
            code("hidden()", tags=("hide-input",)),
        )
    )
    assert (found.visible, found.folded) == (2, 7)
    assert found.evidence == 3 / 9


def test_a_source_that_is_shown_is_visible_and_a_reference_in_its_details_folded():
    found = count(page(code("show_source(x)", source_bundle(lessons.concepts))))
    assert found.visible == 1 + 2  # the call, then `def` and `return`
    found = count(page(code("show_reference('5.1')", REFERENCE)))
    assert (found.visible, found.folded) == (1, 2)


SOURCE = '''\
# utils/layer.py
class Layer:
    """Says what it is.

    Shapes: (B, D).
    """

    def forward(self, x, bias=None):
        """Return x."""
        check_sizes(D=len(x))
        if bias is not None:
            check_bias(bias, x.shape)
        if x.ndim != 2:
            raise ValueError(
                "x is a matrix."
            )
        # a comment
        if self.fused:
            return fused(x)
        return x
'''


def test_docstrings_guards_and_comments_of_a_source_are_not_counted():
    assert source_lines(SOURCE) == 5


def test_equations_with_a_number_are_counted():
    cells = [text("$$\na\n$$ (eq-a)\n\n$$\nb\n$$\n\nand $c$ (eq-c)\n\n$$\nd\n$$ (eq-d)")]
    assert count(page(*cells)).equations == 2


def test_pictures_are_images_and_those_of_mechanisms_are_tagged():
    cells = [
        code("a", PICTURE, {"image/svg+xml": "<svg/>"}, tags=("mechanism",)),
        code("b", PICTURE, tags=("evidence",)),
        code("c", {"text/plain": "<Figure size 640x480 with 1 Axes>"}, tags=("mechanism",)),
    ]
    found = count(page(*cells))
    assert (found.pictures, found.mechanisms) == (3, 2)


def test_views_questions_guesses_and_claims_are_told_from_each_other():
    shown = [
        {"text/plain": f"{kind}: heads"} for kind in ("View", "Questions", "Question", "Question")
    ]
    record = {"text/plain": "att-1 holds", RECORD: {"claim": "att-1"}}
    found = count(page(code("a", *shown, record, {RECORD: {"other": 1}})))
    assert (found.views, found.questions, found.guesses, found.claims) == (1, 1, 2, 1)


def test_exercises_inside_are_writing_and_those_after_are_not():
    found = count(
        page(
            text("# Day 5\n\nfour words"),
            text(f"## Step by step\n\nTwo more.\n\n{exercise('A', 'Core, 10 minutes')}"),
            text(exercise("B", "1 minute")),
            text(f"## Exercises\n\n{exercise('C', '20 minutes')}"),
            text(exercise("D", "Research, 30 minutes")),
            text("## Further reading"),
        )
    )
    assert (found.exercises, found.writing) == (2, 11)
    assert (found.after, found.writing_after) == (2, 50)
    assert found.first_exercise == 4 + 3 + 2


def test_an_exercise_without_its_minutes_is_named():
    with pytest.raises(ValueError, match="{exercise} How long"):
        count(page(text(f"{exercise('How long?', 'Core')}\n\n*3 minutes.* Then.")))


def test_the_place_to_stop_is_found_and_how_much_lies_before_it():
    stop = text(f"{budget.STOP} Yes.\n\nNo.")
    long = text(" ".join(["word"] * 260))
    found = count(page(long, stop, text(" ".join(["word"] * 255))))
    assert found.stop == pytest.approx(0.5, abs=0.01)
    after_exercise = count(page(text(exercise("A", "2 minutes")), stop, long))
    assert after_exercise.stop == pytest.approx(0.5, abs=0.02)
    assert count(page(long, text("So: **Enough for tonight?** No."))).stop == math.inf


def test_the_first_trained_output_is_found_by_its_tag():
    cells = [text("one two"), code("fit()", tags=("training", "evidence")), text("and six more")]
    assert count(page(*cells)).first_training == 2 / 5
    assert count(page(text("one"))).first_training == math.inf


def test_minutes_of_reading_are_computed():
    found = Budget(words=260, findings=130, visible=30, equations=2, pictures=6, views=1)
    assert found.reading == pytest.approx(2 + 1 + 2 + 1 + 2 + 5)


def test_what_claims_and_observations_say_is_read():
    said = {"text/plain": "Three … said.", "text/markdown": "Three words said."}
    found = count(page(text("one two"), code("a", said, {"text/plain": "not said"})))
    assert (found.words, found.findings) == (2, 3)


WITHIN = Budget(
    words=3_000, visible=240, folded=400, evidence=1 / 3, equations=6, pictures=15, mechanisms=6,
    views=1, questions=1, guesses=3, claims=5, exercises=3, writing=45, first_exercise=1_200,
    first_training=1 / 3,
)  # fmt: skip


def test_what_is_within_all_limits_is_not_complained_of():
    assert WITHIN.exceeded(5) == []


@pytest.mark.parametrize("name", [name for name in limits(5) if name != "reading"])
def test_each_limit_bites(name):
    least, most = limits(5)[name]
    beyond = [(1.01 * most, "at most")] if most < math.inf else []
    beyond += [(0.99 * least, "at least")] if least else []
    assert beyond
    for value, word in beyond:
        (sentence,) = replace(WITHIN, **{name: value}).exceeded(5)
        assert sentence.startswith(f"{name.replace('_', ' ')}: ") and word in sentence


def test_the_limit_of_reading_bites():
    (sentence,) = replace(WITHIN, pictures=24, writing=30).exceeded(5)
    assert sentence == "reading: 55.1, at most 55"


def test_reading_and_writing_together_are_at_most_100_minutes():
    assert WITHIN.minutes == WITHIN.reading + WITHIN.writing
    assert limits(5)["reading"][1] + limits(5)["writing"][1] == 100


def test_the_limits_are_those_of_the_design():
    assert {name: limits(5)[name][1] for name in ("reading", "writing", "words", "visible")} == {
        "reading": 55, "writing": 45, "words": 3_000, "visible": 240,
    }  # fmt: skip
    assert limits(5)["pictures"][0] == 15 and limits(5)["mechanisms"][0] == 6
    exact = {"folded": (0, 400), "equations": (0, 6), "claims": (0, 5), "exercises": (3, 5)}
    exact |= {"first_exercise": (0, 1_200), "questions": (1, 1), "evidence": (0, 1 / 3)}
    assert {name: limits(5)[name] for name in exact} == exact
    assert limits(5)["guesses"][0] == 3 and limits(5)["views"][0] == 1
    assert limits(5)["first_training"] == (0, 1 / 3)


def test_day_0_has_half_of_everything_and_neither_a_view_nor_questions():
    half = {name: value / 2 for name, value in vars(WITHIN).items() if name not in SHARES}
    found = Budget(**vars(WITHIN) | half | {"views": 0, "questions": 0})
    assert found.exceeded(0) == []
    assert replace(found, words=1_501).exceeded(0) == ["words: 1,501, at most 1,500"]
    assert "views: 0, at least 1" in found.exceeded(1)


def test_what_is_not_there_is_said():
    sentences = replace(WITHIN, first_exercise=math.inf, evidence=0.5).exceeded(5)
    assert sentences == ["first exercise: none, at most 1,200", "evidence: 50%, at most 33%"]


def test_the_report_has_a_column_for_each_day():
    head, _, *rows = budget.report().splitlines()
    assert head.split() == [*(f"{day.number:02d}" for day in lessons.days()), "wanted"]
    place = head.index("wanted")
    wanted = {row[:16].strip(): row[place:].strip() for row in rows}
    assert (wanted["words"], wanted["pictures"]) == ("to 3,000", "from 15")
    assert (wanted["questions"], wanted["exercises"], wanted["after"]) == ("1", "3 to 5", "")
