"""Pages with weights moved by their last bit: what findings compare, and how near that is."""

import ast
import json
import os
import re
import shutil
import subprocess
import sys
from contextlib import nullcontext
from pathlib import Path

import pytest
import torch
from nbformat.v4 import new_code_cell, new_notebook, new_output

from utils import ROOT
from utils.measure.experiments import ExperimentError
from utils.measure.shaking import kernel, results, running
from utils.measure.shaking.margins import Comparison, complaints
from utils.press import lessons, shake
from utils.press.notebooks import LessonError, scripts


def seen_by(finding: str, code: str, tmp_path, **names) -> list[dict]:
    """What is recorded of a cell with a finding that does nothing else."""
    record = kernel.Record(tmp_path / "record.jsonl")
    called = {"__compared__": record.compared, "__held__": record.held}
    says = {"observe": lambda *_, holds, **__: holds, "claim": _claim}
    tree = ast.fix_missing_locations(kernel.Recorder().visit(ast.parse(code)))
    exec(compile(tree, "cell", "exec"), called | says | names)
    lines = (tmp_path / "record.jsonl").read_text().splitlines()
    entries = [json.loads(line) for line in lines]
    assert {entry["finding"] for entry in entries} == {finding}
    return entries


def _claim(id, answer, *, holds, **numbers):
    assert holds(**numbers) and not holds(**{name: -number for name, number in numbers.items()})


def test_a_finding_tells_both_sides_of_each_comparison_and_whether_it_held(tmp_path):
    code = 'observe("It reads {a}.", a=a, holds=0 < a < 0.5 and max(b) != 3)'
    found = seen_by("observe It reads {a}.", code, tmp_path, a=0.25, b=[1, 2])
    assert [(each["by"], each["sides"]) for each in found[:-1]] == [
        ("Lt", [0, 0.25]),
        ("Lt", [0.25, 0.5]),
        ("NotEq", [2, 3]),
    ]
    assert found[-1]["held"] is True


def test_a_bound_that_fails_is_recorded_and_the_page_goes_on(tmp_path):
    *_, last = seen_by("assert a > 1", "assert a > 1\n", tmp_path, a=0.5)
    assert last["held"] is False


def test_of_a_table_the_narrowest_place_is_recorded(tmp_path):
    code = 'observe("rows", holds=(a < b).all())'
    first, _ = seen_by("observe rows", code, tmp_path, a=torch.tensor([1.0, 5.0]), b=6)
    assert first["sides"] == [5, 6]


def test_of_a_claim_the_first_call_counts_and_not_those_with_other_numbers(tmp_path):
    code = 'claim("rnn-1", "Yes.", n=3, holds=lambda n: n > 2)'
    assert [each.get("sides") for each in seen_by("claim rnn-1", code, tmp_path)] == [[3, 2], None]


def test_what_a_filter_leaves_out_decides_nothing(tmp_path):
    code = 'observe("all", holds=all(x < 9 for x in a if x > 0))'
    found = seen_by("observe all", code, tmp_path, a=[-1, 1, 2])
    assert [each["sides"] for each in found[:-1]] == [[1, 9], [2, 9]]


def test_weights_move_once_by_their_last_bit_when_an_optimiser_takes_them(monkeypatch):
    for kind, name in (
        (torch.optim.Optimizer, "add_param_group"),
        (torch.Tensor, "requires_grad_"),
    ):
        monkeypatch.setattr(kind, name, getattr(kind, name))
    torch.manual_seed(0)
    linear, double = torch.nn.Linear(50, 40), torch.ones(3, dtype=torch.float64)
    before, told = linear.weight.detach().clone(), []
    state = torch.get_rng_state()
    kernel.shake(1, told.append)
    torch.optim.SGD([*linear.parameters(), double.requires_grad_()], lr=0.1)
    moved = (linear.weight.detach() / before - 1).abs()
    assert 0.3 < (moved > 0).float().mean() and moved.max() < 1e-6
    assert told == [2000, 40] and (double == 1).all()
    assert equal_states(state, torch.get_rng_state())
    by_hand = torch.full((1000,), 0.3).requires_grad_()
    assert (by_hand != 0.3).any()


def equal_states(one, other) -> bool:
    return bool((one == other).all())


def bound(by: str, *sides: tuple[float, float]) -> Comparison:
    return Comparison("observe it", "a", by, [list(side) for side in sides])


@pytest.mark.parametrize(
    "has_room, comparison",
    [
        (True, bound("Gt", (0.90, 0.5), (0.91, 0.5), (0.92, 0.5))),
        (False, bound("Gt", (0.51, 0.5), (0.52, 0.5), (0.53, 0.5))),  # two deviations
        (False, bound("Gt", (0.90, 0.5), (0.91, 0.5), (0.49, 0.5))),
        (True, bound("Eq", (3, 3), (3, 3))),
        (False, bound("Eq", (3, 3), (2, 3))),
        (True, bound("Lt", (1, 2), (1, 2))),
        (False, bound("Lt", (0.998, 1), (0.998, 1), (0.998, 1), (0.996, 1))),  # one of 500
        (True, bound("Gt", (0.1, 0.5), (0.1, 0.5), (0.11, 0.5))),  # never so, in an `or`
    ],
)
def test_a_bound_has_room_three_deviations_and_one_unit_away(has_room, comparison):
    assert comparison.has_room() is has_room


PAGE = (
    """\
import convolution_to_attention
import torch
from utils.show.display import observe
""",
    """\
w = torch.tensor([3e7, 1.0]).requires_grad_()
torch.optim.SGD([w], lr=0.1)
moved = w[0].item() - 3e7
observe("It moved by {moved}.", moved=moved, holds=abs(moved) < 1000 and moved == 0)
""",
    "print(moved)\n",
)


@pytest.fixture
def small_book(tmp_path) -> Path:
    """A small copy of the book with one page, where a finding falls and a printed line differs."""
    for name in ("conftest.py", "pyproject.toml", "convolution_to_attention.py"):
        shutil.copy(ROOT / name, tmp_path)
    no_caches = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "utils", tmp_path / "utils", ignore=no_caches)
    cells = [new_code_cell(source, execution_count=n) for n, source in enumerate(PAGE)]
    said = {"text/plain": "It moved by ….", "text/markdown": "It moved by 0."}
    cells[1].outputs = [new_output("display_data", data=said)]
    cells[2].outputs = [new_output("stream", text="0.0\n")]
    page = tmp_path / "chapters" / "01_shaken.ipynb"
    page.parent.mkdir()
    page.write_text(json.dumps(new_notebook(cells=cells)))
    return tmp_path


def test_a_page_is_run_shaken_and_each_complaint_is_told(small_book, monkeypatch):
    script = ROOT / "chapters" / "01_shaken.py"
    held = {script: running.nothing()}
    running.run([script], 1, "native", held, book=small_book)
    found = held[script]
    assert found["moves"] and found["fell"] == {"1": ["Cell 2"]}
    ((title, finding),) = found["findings"].items()
    assert title == "observe It moved by {moved}." and finding["held"] == [False]
    assert complaints(found)[:2] == [
        "holds in 0 of 1: observe It moved by {moved}.",
        "fell with BOOK_SHAKE=1: Cell 2",
    ]
    monkeypatch.setattr(results, "STORED", small_book / "shaken")
    results.write(script, found)
    assert results.stored(script) == found


@pytest.fixture
def page(tmp_path, monkeypatch) -> Path:
    """A page's script."""
    monkeypatch.setattr(results, "STORED", tmp_path / "shaken")
    monkeypatch.setattr(results, "name_of", lambda page: page.stem)
    script = tmp_path / "01_page.py"
    script.write_text("# %%\nobserve('It is {n}.', n=3, holds=3 > 2)\n")
    return script


@pytest.fixture(autouse=True)
def runs(request, monkeypatch) -> list:
    """The seeds and settings that a page was run with; a run finds the number in its script."""
    done = []
    if "page" not in request.fixturenames:
        return done

    def run(pages, seed, setting, held, book=ROOT):
        done.append((seed, setting))
        for each in pages:
            text = (each if book == ROOT else book / each.name).read_text()
            title = re.search(r"observe\('(.*?)'", text)[1]
            finding = held[each]["findings"].setdefault(title, {"held": []})
            finding["held"].append(True)
            finding.setdefault("n > 2", ["Gt"]).append([float(re.search(r"n=(\d)", text)[1]), 2.0])
            held[each]["runs"].append({"seed": seed, "setting": setting})
            held[each]["moves"] = "still" not in text
        return {}

    monkeypatch.setattr(running, "run", run)
    return done


def test_runs_are_stored_seed_by_seed_and_go_on(page, runs):
    running.shake([page], range(1, 3))
    running.shake([page], range(1, 5))
    assert runs == [(1, "native"), (2, "AVX2"), (3, "portable"), (4, "native")]
    assert len(results.stored(page)["runs"]) == 4 and not results.is_stale(page)


def test_other_prose_leaves_runs_as_they_are_and_other_code_does_not(page):
    running.shake([page], range(1, 2))
    page.write_text(page.read_text().replace("It is", "There are"))
    assert not results.is_stale(page)
    page.write_text(page.read_text().replace("> 2", "> 1"))
    assert results.is_stale(page)
    running.shake([page], range(1, 2))
    assert not results.is_stale(page) and len(results.stored(page)["runs"]) == 1


def test_a_page_that_trains_nothing_runs_once_in_each_setting(page, runs):
    page.write_text(page.read_text() + "# still\n")
    running.shake([page], range(1, 13))
    assert runs == [(1, "native"), (2, "AVX2"), (3, "portable")]


@pytest.mark.parametrize("n, found", [(3, "verified"), (4, "stale, since other numbers came out")])
def test_after_a_rename_runs_are_kept_if_the_numbers_are_the_same(
    page, tmp_path, monkeypatch, n, found
):
    then = tmp_path / "then"
    then.mkdir()
    shutil.copy(page, then)
    monkeypatch.setattr(running, "git", lambda *arguments: "")
    monkeypatch.setattr(running, "commit", lambda: "c0ffee")
    monkeypatch.setattr(running, "worktree", lambda commit: nullcontext(then))
    running.shake([page], range(1, 3))
    assert running.verify(page) == "up to date"
    said = page.read_text().replace("n=3", f"n={n}").replace("It is", "There are")
    page.write_text(said + "renamed = 1\n")
    assert running.verify(page).startswith(found)
    assert results.is_stale(page) is (n == 4) and len(results.stored(page)["runs"]) == 2
    assert [*results.stored(page)["findings"]] == ["It is {n}." if n == 4 else "There are {n}."]


def test_what_a_page_runs_in_place_of_an_answer_counts_and_what_it_only_asks_does_not(
    page, tmp_path, monkeypatch
):
    monkeypatch.setattr(results, "EXERCISES", tmp_path)
    file = tmp_path / "attention" / "shift.py"
    file.parent.mkdir()
    marks = []
    asked = ("runs=True", "shift"), ("runs=True", "one_target"), ("runs=True", "listed(shift)")
    for runs, of in (*asked, ("", "shift")):
        file.write_text(f"exercise = Exercise({of}, {runs})\n")
        page.write_text("check('shift', shift)\n")
        marks.append(results.fingerprint_of(page))
    file.unlink()
    assert marks[2] == marks[0]  # what is compared is wrapped, not what runs
    assert len({*marks}) == 3 and results.fingerprint_of(page) == marks[3]


def test_an_experiment_that_a_page_trains_counts(page, monkeypatch):
    page.write_text("experiments.live('dropout', seed=0)\n")
    mark = results.fingerprint_of(page)
    monkeypatch.setattr(results, "load_script", lambda name: {"dropout": None}[name])
    monkeypatch.setattr(results.results, "fingerprint_of", lambda script: "other")
    assert results.fingerprint_of(page) != mark


def test_a_result_and_a_model_that_a_page_names_count_but_not_when_they_were_measured(
    page, tmp_path, monkeypatch
):
    row, models = {"member": {"seed": 0}, "numbers": {"loss": 1.0}}, tmp_path / "models"
    monkeypatch.setattr(results.results, "stored", lambda name: {"rows": [row]})
    monkeypatch.setattr(results, "MODELS", models)
    models.mkdir()
    (models / "clip.js").write_text("a")
    for name in ("race.json", "moving_languages.json"):
        (tmp_path / name).write_text("")
    cells = ("NAME = 'race'", "experiments.load(f'{kind}_languages')", "models.load('clip')")
    for cell in (*cells, "print(f'{kind}_languages', 'the race')"):
        page.write_text(cell)
        (models / "clip.js").write_text("a")
        row |= {"numbers": {"loss": 1.0}, "seconds": 1.0}
        mark = results.fingerprint_of(page)
        row["seconds"] = 2.0
        assert results.fingerprint_of(page) == mark
        row["numbers"] = {"loss": 2.0}
        (models / "clip.js").write_text("b")
        assert (results.fingerprint_of(page) != mark) is (cell in cells), cell


@pytest.mark.parametrize(("asked", "found"), [("s < 9", "verified"), ("s < 99", "stale")])
def test_a_number_that_no_two_runs_share_decides_nothing_if_it_is_compared_as_before(
    page, tmp_path, monkeypatch, asked, found
):
    monkeypatch.setattr(running, "git", lambda *arguments: "")
    monkeypatch.setattr(running, "commit", lambda: "c0ffee")
    monkeypatch.setattr(running, "worktree", lambda commit: nullcontext(tmp_path))
    running.shake([page], range(1, 2))
    page.write_text(page.read_text() + "renamed = 1\n")
    real, clock = running.run, iter(range(9))

    def timed(pages, seed, setting, held, book=ROOT):
        fell = real(pages, seed, setting, held, ROOT)
        held[page]["findings"]["seconds"] = {asked if book == ROOT else "s < 9": [next(clock)]}
        return fell

    monkeypatch.setattr(running, "run", timed)
    assert running.verify(page).startswith(found)


def test_runs_of_a_page_that_is_not_committed_are_of_no_commit(page, monkeypatch, capsys):
    monkeypatch.setattr(running, "commit", lambda: "c0ffee")
    for changed, known in ((" M chapters/01_page.py", None), ("", "c0ffee")):
        monkeypatch.setattr(running, "git", lambda *arguments, told=changed: told)
        running.shake([page], range(1, 2), anew=True)
        assert results.stored(page)["stamps"][0]["commit"] == known
        assert ("commit first" in capsys.readouterr().out) == (known is None)


def test_a_page_whose_notebook_is_not_its_script_is_not_shaken(monkeypatch):
    monkeypatch.setattr(shake, "differences", lambda page: ["cell 3"] * (page.stem == "09_gpt"))
    monkeypatch.setattr(shake, "shake", lambda *_: pytest.fail("it ran"))
    monkeypatch.setattr(sys, "argv", ["shake", "08_text_classification", "09_gpt"])
    with pytest.raises(LessonError, match="scripts: 09_gpt, deeper-09_gpt, solutions-09_gpt"):
        shake.main()


def test_a_damaged_file_of_runs_is_told(page):
    running.shake([page], range(1, 2))
    results.place(page).write_text("{}")
    with pytest.raises(ExperimentError, match="01_page"):
        results.stored(page)
    assert results.is_stale(page)


@pytest.mark.parametrize("seed, shaken", [("", False), ("1", True)])
def test_a_kernel_is_shaken_when_it_is_asked_to_be(seed, shaken):
    code = """
from IPython.core.interactiveshell import InteractiveShell
InteractiveShell.instance()
import utils, torch
print(torch.optim.Optimizer.add_param_group.__module__ == "utils.measure.shaking.kernel")
"""
    told = subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        env=os.environ | {"BOOK_SHAKE": seed},
        capture_output=True,
        text=True,
    )
    assert told.stdout.strip() == str(shaken), told.stderr


# ------------------------------------------------------------------------------------- this book's

RUNS = 12
BEGUN = {day.stem for day in lessons.days() if not day.written}  # nobody asks them for runs yet


@pytest.mark.parametrize("script", scripts(), ids=results.name_of)
def test_every_finding_of_a_page_holds_in_twelve_shaken_runs(script):
    again = f"run `make shake PAGES={script.relative_to(ROOT).with_suffix('')}`"
    ready = not results.is_stale(script) and _is_done(results.stored(script))
    assert ready or script.stem in BEGUN, f"its runs are missing or of other code: {again}"
    if ready:
        assert complaints(results.stored(script)) == []


def _is_done(held: dict) -> bool:
    return len(held["runs"]) >= (RUNS if held["moves"] else len(running.SETTINGS))


# Outcomes that are named before a finding, so that a shaken run can't see by how much they hold:
UNSEEN = {  # they are exact, or read from a stored experiment
    "03_gates": ["last", "first", "kept"],
    "08_text_classification": ["any(new_words)"],
    "deeper-05_self_attention": ["all(divided)"],
    "deeper-08_text_classification": ["same", "all(agree)"],
}


def unseen(code: str) -> list[str]:
    """Parts of the findings' `holds` that were compared before: names, and all or any of one."""
    found = []
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.keyword) and node.arg == "holds":
            parts = [node.value.body if isinstance(node.value, ast.Lambda) else node.value]
            while parts:
                part = parts.pop(0)
                if isinstance(part, ast.BoolOp):
                    parts += part.values
                elif isinstance(part, ast.UnaryOp):
                    parts.append(part.operand)
                elif re.fullmatch(r"\w+|(all|any)\(\w+\)", ast.unparse(part)):
                    found.append(ast.unparse(part))
    return found


def test_an_outcome_that_was_compared_before_is_found():
    code = "observe('', holds=a < 1 and (so or not all(them)) and all(x > 1 for x in b))"
    assert unseen(code) == ["so", "all(them)"]
    assert unseen("claim('', '', holds=lambda a: a > 1 and so)") == ["so"]


@pytest.mark.parametrize("script", scripts(), ids=results.name_of)
def test_what_a_finding_compares_is_seen_by_a_shaken_run(script):
    name = results.name_of(script)
    found = unseen(script.read_text(encoding="utf-8"))
    assert found == UNSEEN.get(name, []), "write it into `holds`, where a shaken run sees it"


def test_no_other_pages_have_stored_runs():
    stored = {path.stem for path in results.STORED.glob("*.json")}
    assert stored <= {results.name_of(script) for script in scripts()}
