"""A claim's answer follows from what was measured, and the page from the executed notebooks."""

import json
import math
import re

import pytest
import torch

from utils import ROOT
from utils.measure import claims
from utils.measure.claims import RECORD, ClaimError, claim
from utils.measure.experiments import ExperimentError
from utils.press.claims import lessons_and_deeper, page, records

NOTEBOOKS = lessons_and_deeper(ROOT / "chapters")
needs_lessons = pytest.mark.skipif(not NOTEBOOKS, reason="no lesson has been executed yet")


@pytest.fixture
def shown(monkeypatch) -> list[dict]:
    """The bundles that were displayed."""
    bundles: list[dict] = []
    monkeypatch.setattr(claims, "display", lambda bundle, raw: bundles.append(bundle))
    return bundles


def test_what_cannot_be_a_claim_is_refused(shown):
    with pytest.raises(ClaimError, match="'cnn-99'.*data/claims.toml"):
        claim("cnn-99", "Yes: {two:.0%} with it, {one:.0%} without.", **HALF)
    with pytest.raises(ClaimError, match="'cnn-1' begins"):
        claim("cnn-1", "Perhaps: {two:.0%} with it, {one:.0%} without.", **HALF)
    with pytest.raises(ExperimentError, match="'never_run'"):
        claim("cnn-1", "Yes: {two} and {one}.", experiment="never_run", **HALF)
    assert not shown


def test_a_claim_from_a_stored_experiment_says_so(shown, monkeypatch):
    asked = []
    monkeypatch.setattr(claims.experiments, "load", asked.append)
    claim("cnn-6", "Yes: {two} and {one}.", experiment="activations", **HALF)
    assert asked == ["activations"]
    assert shown[0]["text/plain"] == "cnn-6 (long experiment): Yes: … and …."
    assert "experiments/activations.py" in shown[0]["text/markdown"]


def test_the_page_lists_what_the_notebooks_measured(shown, monkeypatch, tmp_path):
    claim("cnn-9", "Can't tell here: {two} and {one}.", **HALF)
    claim("cnn-1", "Yes: {two:.0%} with it, {one:.0%} without.", **HALF)
    claim("cnn-2a", "No: {two:.0%} with it, {one:.0%} without.", **HALF)
    outputs = [[{"output_type": "display_data", "data": bundle}] for bundle in shown]
    cells = [{"cell_type": "code", "outputs": output} for output in outputs]
    (tmp_path / "chapters").mkdir()
    notebook = tmp_path / "chapters" / "01_convolution.ipynb"
    title = {"cell_type": "markdown", "source": ["# Day 1: Pictures\n", "\n", "Text."]}
    notebook.write_text(json.dumps({"cells": [title, *cells]}))
    monkeypatch.setattr("utils.press.claims.ROOT", tmp_path)
    listed = page()
    assert "answer 3 claims:" in listed
    answers = ["- 1 Yes", "- 1 No", "- 1 Can't tell here"]
    assert re.findall("^- .*", listed, re.MULTILINE) == answers
    assert "\n## Day 1: Pictures\n" in listed
    assert listed.count("\n:::{container} claim ") == 3
    assert ":::{container} claim can-t-tell-here\n[cnn-9](#claim-cnn-9)" in listed
    assert "**Can't tell here**: 0.9 and 0.4.\n\n*Measured live.* At our scale: a coin." in listed
    assert (
        ":::{container} claim yes\n[cnn-1](#claim-cnn-1): Weight sharing saves parameters. "
        "({cite:t}`lecun1998gradient`)\n\n**Yes**: 90% with it, 40% without.\n\n"
        "*Measured live.* At our scale: a coin.\n:::"
    ) in listed
    assert [position for position, _ in records(notebook)] == [1, 2, 3]
    monkeypatch.setattr(claims, "registry", lambda: {})
    for stored in (page, lambda: claims.card(shown[0][RECORD])):
        with pytest.raises(ClaimError, match="'cnn-9'.*data/claims.toml"):
            stored()


def test_the_registry_is_complete():
    keys = set(re.findall(r"@\w+\{([^,\s]+)", (ROOT / "references.bib").read_text("utf-8")))
    for id, entry in claims.registry().items():
        assert (
            {"statement", "made_by", "chapter"}
            <= set(entry)
            <= {*("statement", "made_by", "chapter", "cite")}
        ), f"{id} in data/claims.toml needs statement, made_by, chapter, perhaps cite, no more"
        assert entry["statement"].endswith("."), (
            f"the statement of {id} in data/claims.toml is a sentence and ends with a point"
        )
        assert set(entry.get("cite", ())) <= keys, (
            f"{id} cites what references.bib lacks: add the entry there, or mend the key"
        )
        assert ("cite" in entry) == (entry["made_by"] != "commonly said"), (
            f'{id} in data/claims.toml needs a cite, unless made_by is "commonly said"'
        )


HALF = {"one": 0.4, "two": 0.9, "holds": lambda one, two: two > 2 * one, "scale": "a coin"}


def test_an_answer_is_a_sentence_with_its_numbers_in_place(shown):
    claim("cnn-1", "Yes: {two:.0%} with it, {one:.0%} without.", **HALF)
    (bundle,) = shown
    assert bundle["text/plain"] == "cnn-1 (measured live): Yes: … with it, … without."
    assert "**Yes**: 90% with it, 40% without." in bundle["text/markdown"]
    assert "At our scale: a coin." in bundle["text/markdown"]
    assert bundle[RECORD]["answer"] == "Yes" and bundle[RECORD]["said"].endswith("without.")
    claim("cnn-1", "No: {two:.0%} with it, {one:.0%} without.", counted=True, **HALF)
    assert shown[1]["text/plain"].startswith("cnn-1 (counted): No")


def test_other_numbers_are_another_answer(shown):
    said = "Yes, if it is asked: {two:.0%} with it, {one:.0%} without."
    false_of = "answered by 'Yes, if it is asked: 40% with.*false of one = 0.9, two = 0.4:"
    with pytest.raises(AssertionError, match=false_of):
        claim("cnn-1", said, **HALF | {"one": 0.9, "two": 0.4})
    with pytest.raises(ClaimError, match=r"'cnn-1'.*by name, \['one', 'two'\].*'three'"):
        claim("cnn-1", said, **HALF | {"holds": lambda one, three: one < three})
    with pytest.raises(ClaimError, match="'cnn-1' needs a number"):
        claim("cnn-1", "Yes: it is so.", holds=lambda: True, scale="a coin")
    with pytest.raises(ClaimError, match="'cnn-1'.*'one'"):
        claim("cnn-1", said, **HALF | {"holds": lambda one, two: one + two != 100})
    with pytest.raises(ClaimError, match="'cnn-1'.* 25 "):
        claim("cnn-1", "No: " + 25 * "so " + "{one} and {two}.", **HALF)
    with pytest.raises(ClaimError, match="scale.*'cnn-1'"):
        claim("cnn-1", said, **HALF | {"scale": " "})
    with pytest.raises(ValueError, match=r"\['one', 'two'\].*\['one', 'three'"):
        claim("cnn-1", said, **HALF | {"three": 3})
    with pytest.raises(ClaimError, match="'cnn-1'.*'two'"):
        claim("cnn-1", said, **HALF | {"holds": lambda one, two: one < 0.5})
    with pytest.raises(ClaimError, match="'cnn-1'.*'one'"):
        claim("cnn-1", "Yes: {one:.0%}.", one=0.4, holds=lambda one: one >= 0, scale="a coin")
    with pytest.raises(ClaimError, match="'cnn-1'.*condition"):
        claim("cnn-1", "Yes, if: {one:.0%}.", one=0.4, holds=lambda one: one < 0.5, scale="a coin")
    assert not shown
    claim("cnn-1", "Yes: {one}.", one=0, holds=lambda one: one == 0, scale="a coin")


@needs_lessons
@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_no_sentence_has_formulas_that_the_book_shows_as_they_are_written(notebook):
    cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    outputs = [output for cell in cells for output in cell.get("outputs", ())]
    said = ["".join(output.get("data", {}).get("text/markdown", "")) for output in outputs]
    assert [each for each in said if re.search(r"\$[A-Za-z\\]", each)] == []


@needs_lessons
def test_every_claim_is_measured_once_in_its_chapter():
    measured = [(record["claim"], path.stem) for path in NOTEBOOKS for _, record in records(path)]
    registered = [(id, entry["chapter"]) for id, entry in claims.registry().items()]
    only = [set(measured) - set(registered), set(registered) - set(measured)]
    assert sorted(measured) == sorted(registered), (
        f"measured but not in data/claims.toml for that chapter: {sorted(only[0])}; in it but not "
        f"measured: {sorted(only[1])}. Mend the row or the lesson's call of `claim`, once each, "
        "and run `make execute`"
    )


@needs_lessons
def test_stored_claims_say_the_same_in_every_form():
    for path in NOTEBOOKS:
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        for position, record in records(path):
            (data,) = (
                output["data"]
                for output in cells[position]["outputs"]
                if output.get("data", {}).get(RECORD) == record
            )
            stale = (
                f"{record['claim']} is stored as its row in data/claims.toml or its form was "
                f"before: run `make execute LESSON={path.stem}`"
            )
            assert "".join(data["text/plain"]) == claims.plain_text(record), stale
            assert "".join(data["text/markdown"]) == claims.card(record), stale


@needs_lessons
def test_a_link_leads_to_the_text_of_each_claim():
    for path in NOTEBOOKS:
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        for position, record in records(path):
            texts = [cell for cell in cells[:position] if cell["cell_type"] == "markdown"]
            lines = "\n".join("".join(cell["source"]) for cell in texts).splitlines()
            targets = [line for line in lines if line.startswith("(claim-")]
            assert targets[-1:] == [f"(claim-{record['claim']})="], (
                f"{path.name}: a line (claim-{record['claim']})= must open the text on that claim: "
                "write it into the lesson's script and run `make execute`"
            )


@needs_lessons
def test_the_page_is_what_the_notebooks_say():
    assert (ROOT / "claims.md").read_text(encoding="utf-8") == page(), (
        "claims.md is not what the notebooks say: run `make execute`."
    )


def test_a_number_that_is_not_finite_is_told_and_decides(shown, monkeypatch):
    monkeypatch.delenv("BOOK_STRICT", raising=False)
    claim(
        next(iter(claims.registry())),
        "No: the loss is {loss:.2f}.",
        loss=torch.tensor(math.nan),
        holds=lambda loss: loss < 1,
        scale="one network",
    )
    assert "the loss is nan" in shown[0]["text/markdown"]
