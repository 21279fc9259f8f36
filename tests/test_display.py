"""What the page shows is the source that is tested, and tables say what they were given."""

import html
import importlib
import json
import operator
import re
from collections import Counter
from pathlib import Path
from types import SimpleNamespace

import pytest

from utils import ROOT
from utils.measure.experiments import Result
from utils.recurrent import RNN
from utils.show import display, luck, plotting
from utils.show.display import closed, observe, show_source, source_bundle, table

NOTEBOOKS = sorted((ROOT / "chapters").rglob("[0-9]*.ipynb"))


@pytest.fixture
def shown(monkeypatch) -> list[dict]:
    """The bundles that were displayed."""
    bundles: list[dict] = []
    monkeypatch.setattr(display, "display", lambda bundle, raw: bundles.append(bundle))
    return bundles


def text_of(markup: str) -> str:
    return html.unescape(re.sub("<[^>]*>", "", markup))


def stale_sources(notebook: dict) -> list[str]:
    """What a stored notebook shows as the source of something in `utils`, and is no longer."""
    stale = []
    for cell in notebook["cells"]:
        for output in cell.get("outputs", ()):
            data = output.get("data", {})
            name = "".join(data.get("text/plain", ""))
            if found := re.fullmatch(r"(utils/[\w/]+)\.py: ([\w.]+)", name):
                module = importlib.import_module(found[1].replace("/", "."))
                try:
                    present = source_bundle(operator.attrgetter(found[2])(module))
                except AttributeError:
                    present = {}
                now = present.get("text/html", "")
                if "".join(data.get("text/html", "")) not in (now, closed(now)):
                    stale.append(name)
    return stale


def as_notebook(bundle: dict) -> dict:
    return {"cells": [{"cell_type": "code", "outputs": [{"data": bundle}]}]}


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_the_source_on_the_page_is_the_source_that_is_tested(path: Path):
    stale = stale_sources(json.loads(path.read_text(encoding="utf-8")))
    assert not stale, f"{path.name} shows an old {', '.join(stale)}: run `make execute`."


def test_changed_and_removed_source_is_noticed():
    bundle = source_bundle(plotting.curves)
    assert stale_sources(as_notebook(bundle)) == []
    older = bundle | {"text/html": bundle["text/html"].replace("logx", "logz")}
    assert stale_sources(as_notebook(older)) == ["utils/show/plotting.py: curves"]
    gone = bundle | {"text/plain": "utils/show/plotting.py: spirals"}
    assert stale_sources(as_notebook(gone)) == ["utils/show/plotting.py: spirals"]


@pytest.mark.parametrize("thing", [plotting.curves, Result, RNN.forward])
def test_source_is_shown_whole_and_in_colours(thing, shown):
    show_source(thing)
    (bundle,) = shown
    source = Path(importlib.import_module(thing.__module__).__file__).read_text(encoding="utf-8")
    first, *lines = text_of(bundle["text/html"]).splitlines()
    file = f"{thing.__module__.replace('.', '/')}.py"
    assert first == f"# {file}"
    indented = source.replace("\n    ", "\n") if thing is RNN.forward else source
    assert "\n".join(lines).strip() in indented
    assert len(lines) > 10 and not lines[0].startswith(" ")
    assert '<span class="k">' in bundle["text/html"]
    assert bundle["text/plain"] == f"{file}: {thing.__qualname__}"


@pytest.mark.parametrize("thing", [print, json.dumps, plotting, 3, lambda x: x])
def test_only_functions_and_classes_of_the_book_have_a_source_to_show(thing):
    with pytest.raises(TypeError, match="`utils`"):
        show_source(thing)


def test_a_table_is_the_same_as_text_and_in_the_page(shown):
    table([["AlexNet", "61,100,840", 5], ["<LeNet>", "98.5 %", 12]], ["network", "n", "layers"])
    (bundle,) = shown
    lines = bundle["text/plain"].splitlines()
    assert lines[0].split() == ["network", "n", "layers"]
    assert lines[2].split() == ["AlexNet", "61,100,840", "5"]
    assert lines[3].index("98.5 %") > lines[2].index("61,100,840"), "numbers stand to the right"
    assert lines[2].startswith("AlexNet") and lines[3].startswith("<LeNet>")
    cells = re.findall(r'<t[hd] style="text-align: (\w+);">([^<]*)<', bundle["text/html"])
    assert [text.strip() for _, text in cells] == (
        ["network", "n", "layers", "AlexNet", "61,100,840", "5", "&lt;LeNet&gt;", "98.5 %", "12"]
    )
    assert [side for side, _ in cells] == ["left", "right", "right"] * 3
    table([], ["network"])
    assert "network" in shown[1]["text/plain"]


def test_a_table_takes_no_number_that_may_differ_between_machines():
    with pytest.raises(TypeError, match=r"write 0.1 as f'\{x:.3f\}'"):
        table([["a", 0.1]], ["name", "n"])
    with pytest.raises(ValueError, match="1 cells for 2 headers"):
        table([["a"]], ["name", "n"])
    with pytest.raises(ValueError, match="\\['', 'n'\\]"):
        table([["a", 1]], ["", "n"])


def test_a_finding_has_its_numbers_in_place_and_is_compared_without_them(shown):
    observe("Of {all} {left:.0%} is left.", left=0.51, all=3, holds=True)
    (bundle,) = shown
    assert bundle == {"text/plain": "Of … … is left.", "text/markdown": "Of 3 51% is left."}
    with pytest.raises(AssertionError, match="Of 3 90% is left."):
        observe("Of {all} {left:.0%} is left.", left=0.9, all=3, holds=False)
    with pytest.raises(ValueError, match="field"):
        observe("{left:.0%} is left.", left=0.9, of=3, holds=True)


@pytest.fixture
def of_the_book() -> tuple[str, str]:
    """A finding as a page of the book has stored it: with its fields open, and filled."""
    cells = [cell for page in NOTEBOOKS for cell in json.loads(page.read_text())["cells"]]
    shown = [output.get("data", {}) for cell in cells for output in cell.get("outputs", ())]
    data = next(each for each in shown if "…" in "".join(each.get("text/plain", "")))
    return "".join(data["text/plain"]), "".join(data["text/markdown"])


def test_a_reader_goes_on_where_a_finding_comes_out_otherwise(shown, monkeypatch, of_the_book):
    monkeypatch.delenv("BOOK_STRICT")
    left_open, book = of_the_book
    names = [f"field{n}" for n in range(left_open.count("…"))]
    sentence = left_open
    for name in names:
        sentence = sentence.replace("…", f"{{{name}}}", 1)
    observe(sentence, holds=False, **dict.fromkeys(names, 12345))
    (bundle,) = shown
    assert bundle["text/plain"] == left_open
    own, beside = bundle["text/markdown"].split("\n\n", 1)
    assert "12345" in own and "otherwise than on the machine of the book" in beside
    assert beside.endswith(book)
    observe("Nowhere in the book stands {n}.", n=3, holds=False)
    for told in (beside.removesuffix(book), shown[1]["text/markdown"].partition("\n\n")[2]):
        assert re.findall(r"\*+", told) == ["*", "*"], "one emphasis, or asterisks are seen"


def test_a_finding_that_rests_on_a_wrong_answer_stops_the_page(monkeypatch):
    monkeypatch.delenv("BOOK_STRICT")

    def step(x):
        return x

    shell = SimpleNamespace(user_ns={"step": step})
    monkeypatch.setattr(luck, "get_ipython", lambda: shell)
    monkeypatch.setitem(luck.in_place, "step", step)
    observe("It reads {n}.", n=3, holds=False)
    shell.user_ns["step"] = lambda x: 2 * x
    with pytest.raises(luck.OtherwiseError, match="\\(step\\)"):
        observe("It reads {n}.", n=3, holds=False)
    observe("It reads {n}.", n=3, holds=True)


def test_a_wrong_answer_that_the_page_does_not_run_on_stops_nothing(monkeypatch, capsys):
    from utils.exercises.self_attention import check

    def my_own(*inputs):
        return None

    monkeypatch.delenv("BOOK_STRICT")
    monkeypatch.setattr(luck, "in_place", {})
    shell = SimpleNamespace(user_ns={"my_own": my_own})
    monkeypatch.setattr(luck, "get_ipython", lambda: shell)
    shell.user_ns["split_heads"] = check("split_heads", my_own)
    observe("It reads {n}.", n=3, holds=False)
    shell.user_ns["split_heads"] = my_own
    with pytest.raises(luck.OtherwiseError, match="\\(split_heads\\)"):
        observe("It reads {n}.", n=3, holds=False)


def test_what_a_check_gives_back_is_what_the_page_should_run_on(monkeypatch, capsys):
    from utils.exercises.self_attention import check

    monkeypatch.setattr(luck, "in_place", {})
    name, exercise = next((k, e) for k, e in check.exercises.items() if getattr(e, "runs", False))

    def wrong(*inputs):
        return None

    assert check(name, wrong) is luck.in_place[name] is exercise.reference

    def right(*inputs):
        return exercise.reference(*inputs)

    assert check(name, right) is luck.in_place[name] is right


def test_findings_are_told_apart_by_their_sentences():
    """The book's numbers are found by the sentence: none stands twice."""
    told = Counter()
    for page in NOTEBOOKS:
        for cell in json.loads(page.read_text(encoding="utf-8"))["cells"]:
            datas = [output.get("data", {}) for output in cell.get("outputs", ())]
            told.update("".join(d["text/plain"]) for d in datas if "text/markdown" in d)
    assert len(told) > 200 and max(told.values()) == 1


def test_a_reference_is_closed_until_it_is_opened(shown):
    from utils.exercises.self_attention import check

    check.show_reference("unit_variance")
    (bundle,) = shown
    assert bundle["text/html"].startswith(
        '<details class="reference"><summary style="list-style: revert;'
    )
    assert "unit_scores" in bundle["text/html"] and bundle["text/html"].endswith("</details>")
