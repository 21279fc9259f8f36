"""Hand-ins of a class: some hang, fork, fill memory, damage files or lie, at their own cost."""

import csv
import ctypes
import ctypes.util
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook

from utils import ROOT
from utils.exercises.self_attention import check
from utils.press.classroom import collecting, contained
from utils.press.classroom.collecting import collect, free, hand_ins, summary
from utils.press.classroom.evidence import bears_out, encoded, evidence
from utils.press.classroom.excerpt import cells, excerpt
from utils.press.classroom.running import Limits, Run
from utils.press.classroom.verdicts import Row, best, rows, shortened
from utils.press.notebooks import LessonError

SETUP = "import math\nimport torch\nfrom utils.exercises.self_attention import check"
RIGHT = """\
def split_heads(x, n_heads):
    B, T, D = x.shape
    return x.view(B, T, n_heads, D // n_heads).transpose(1, 2)

split_heads = check("split_heads", split_heads)"""
COUNT = "my_count = 9408\ncheck('self_attention_parameters', my_count)"


def notebook(*sources: str) -> str:
    return nbformat.writes(new_notebook(cells=[new_code_cell(each) for each in sources]))


def answer(name: str, body: str) -> str:
    """A cell whose function takes anything, does something, and returns what it was given."""
    lines = "\n".join(f"    {line}" for line in body.splitlines())
    return f"def answer(x, *others):\n{lines}\n    return x\n\ncheck({name!r}, answer)"


def hostile(precious: Path) -> str:
    """A hand-in that tries, in each exercise, to harm something else; its last answer is right."""
    file = str(precious)
    return notebook(
        SETUP,
        answer("scaled_dot_product", f"import os\nos.remove({file!r})"),
        answer("masked_attention", f"import os\nos.chmod({file!r}, 0)"),
        answer("split_heads", "import os\nif os.fork() == 0: os._exit(0)"),
        answer("multi_head", "import socket\nsocket.create_connection(('127.0.0.1', 9))"),
        answer("give_order", "bytearray(1 << 31)"),
        answer("unit_variance", f"open({file!r}, 'a').write('more')"),
        answer("cut_edge", "import os\nos.kill(os.getppid(), 0)"),
        "import ctypes.util\n"  # asks for a library, as PyTorch for GPUs does
        + COUNT.replace("9408", "ctypes.util.find_library('dl') or 9408"),
    )


PATCHED = """\
from utils.exercises.checking import Exercise, comparing, exercise
Exercise.judge = lambda self, attempt: (True, "correct.")
exercise.same = comparing.same = lambda *values: True
print("✓ 5.3 split_heads: correct.")
"""
STOPS = notebook(
    SETUP,
    "spun = 0\nwhile spun < 1: spun -= 1",
    answer("split_heads", "return x + spun"),
    answer("multi_head", "import os\nos._exit(0)"),
    COUNT,
)
WRONG = notebook(
    SETUP,
    "def split_heads(x, n_heads:\n    pass\nsplit_heads = check('split_heads', split_heads)",
    answer("unit_variance", "raise NotImplementedError"),
    answer("multi_head", "split_heads(x, 2)"),
    COUNT.replace("9408", "9216"),
    "check('leaked_order', undefined)",
)


@pytest.fixture(scope="module")
def collected(tmp_path_factory) -> tuple[dict, str, Path]:
    """{(student, exercise): row} of a class of strange hand-ins, what was printed, the folder."""
    folder = tmp_path_factory.mktemp("hand-ins")
    precious = folder / "precious"
    precious.write_text("a year's work")
    handed = {"hostile": hostile(precious), "stops": STOPS, "wrong": WRONG, "damaged": '{"cells":'}
    handed |= {"=1+1/day": notebook(SETUP, PATCHED + answer("split_heads", "pass"), COUNT)}
    for name, text in handed.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / f"{name}.ipynb").write_text(text, encoding="utf-8")
    said = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("builtins.print", lambda *words, **_: said.append(" ".join(map(str, words))))
        table, _ = collect(folder, Limits(start=900, cell=20, whole=3600, memory=1 << 29))
    with table.open(encoding="utf-8-sig", newline="") as file:
        found = {(row["student"], row["exercise"]): row for row in csv.DictReader(file)}
    return found, "\n".join(said), folder


# ------------------------------------------------------------------------------- hostile hand-ins


def test_a_hostile_hand_in_costs_only_itself(collected):
    found, said, folder = collected
    assert found["hostile", "self_attention_parameters"]["verdict"] == "passed"
    if not can_contain():
        pytest.skip("this system contains no process")
    assert (folder / "precious").read_text() == "a year's work"
    assert not (folder / "precious").stat().st_mode & 0o111 and "Not contained" not in said
    for name in ("scaled_dot_product", "masked_attention", "split_heads", "multi_head", "cut_edge"):
        assert "PermissionError" in found["hostile", name]["said"], name
    assert "PermissionError" in found["hostile", "unit_variance"]["said"]
    told = "MemoryError: it needed more memory than there is (in the line"
    assert told in found["hostile", "give_order"]["said"]


def can_contain() -> bool:
    """Whether the kernel has Landlock, and there is libseccomp."""
    if not sys.platform.startswith("linux") or not ctypes.util.find_library("seccomp"):
        return False
    return ctypes.CDLL(None).syscall(444, None, 0, 1) > 0


def test_a_cell_that_hangs_or_ends_the_process_is_left_out(collected):
    found, _, _ = collected
    assert "'spun' is not defined" in found["stops", "split_heads"]["said"]
    assert found["stops", "multi_head"]["verdict"] == "stopped"
    assert "ended early" in found["stops", "multi_head"]["said"]
    assert found["stops", "self_attention_parameters"]["verdict"] == "passed"


def test_what_a_hand_in_prints_or_patches_is_no_pass(collected):
    found, _, _ = collected
    assert found["'=1+1", "split_heads"]["verdict"] == "refused"
    assert found["'=1+1", "self_attention_parameters"]["verdict"] == "passed"


def test_a_mistake_is_named_in_the_words_of_the_book(collected):
    found, said, _ = collected
    row = found["wrong", "self_attention_parameters"]
    known = check.exercises["self_attention_parameters"].mistakes.values()
    assert row["verdict"] == "known mistake" and row["mistake"] in [each.says for each in known]
    assert row["mistake"] in said


def test_what_is_not_an_answer_is_told_from_a_wrong_one(collected):
    found, said, _ = collected
    assert "SyntaxError" in found["wrong", "split_heads"]["said"]
    assert "NameError" in found["wrong", "leaked_order"]["said"]
    assert found["wrong", "unit_variance"]["verdict"] == "not started"
    assert found["wrong", "cut_edge"]["verdict"] == "missing"
    assert found["damaged", ""]["verdict"] == "unreadable"
    assert "damaged.ipynb: it can't be read" in said


def test_the_page_goes_on_with_the_books_answer(collected):
    """A syntax error in one exercise costs no other that builds on it."""
    assert "NameError" not in collected[0]["wrong", "multi_head"]["said"]


def test_nothing_that_was_there_is_overwritten(collected, tmp_path):
    _, _, folder = collected
    (tmp_path / "collected.csv").write_text("with my notes")
    assert free(tmp_path / "collected.csv").name == "collected-2.csv"
    assert not [path for path in folder.iterdir() if path.name.startswith(".")]


ATTEMPTS = """
import ctypes, os, resource, socket, sys, threading
from utils.press.classroom.contained import contain
contain()
file = sys.argv[1]
tries = {
    "delete": lambda: os.remove(file),
    "write": lambda: open(file, "w"),
    "truncate": lambda: os.truncate(file, 0),
    "hide": lambda: os.chmod(file, 0),
    "date": lambda: os.utime(file),
    "rename": lambda: os.rename(file, file + "2"),
    "link": lambda: os.link(file, file + "2"),
    "make": lambda: os.mkdir(file + "3"),
    "fork": lambda: os.fork() or os._exit(0),
    "start": lambda: os.posix_spawn("/bin/true", ["true"], {}),
    "socket": lambda: socket.socket(socket.AF_UNIX),
    "signal": lambda: os.kill(os.getppid(), 0),
    "all": lambda: os.kill(-1, 0),
    "limit": lambda: resource.prlimit(os.getppid(), resource.RLIMIT_CORE, (0, 0)),
    "memory": lambda: os.memfd_create("stays"),
}
for name, attempt in tries.items():
    try:
        attempt()
        print(name)
    except OSError:
        pass
thread = threading.Thread(target=print, args=("thread",))
thread.start()
thread.join()
print("read" if open(file).read() == "kept" else "damaged")
"""


def test_a_contained_process_reads_and_computes_and_no_more(tmp_path):
    if not can_contain():
        pytest.skip("this system contains no process")
    (tmp_path / "file").write_text("kept")
    command = [sys.executable, "-c", ATTEMPTS, str(tmp_path / "file")]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.stdout.split() == ["thread", "read"], done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_what_is_not_contained_is_said(tmp_path, monkeypatch, capsys):
    (tmp_path / "a.ipynb").write_text(notebook())
    line = {"name": "leaked_order", "passed": None, "said": "not started."}
    run = Run(lines={"leaked_order": line}, contained=["memory"])
    monkeypatch.setattr(collecting, "run", lambda text, limits: run)
    collect(tmp_path)
    told = capsys.readouterr().out
    assert all(f"Not contained on this machine: {kind}" in told for kind in contained.KINDS)
    assert "machine: memory" not in told


def test_no_kernel_contains_where_there_is_no_linux(monkeypatch):
    monkeypatch.setattr(sys, "platform", "darwin")
    assert contained.contain() == []


def test_without_a_folder_nothing_is_run():
    command = [sys.executable, "-m", "utils.press.classroom.collecting", ""]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 1 and "Which folder?" in done.stderr and not done.stdout


# -------------------------------------------------------------------------------------- the parts


@pytest.mark.parametrize("name", ["split_heads", "masked_attention", "leaked_order"])
def test_right_numbers_are_borne_out_and_wrong_ones_are_not(name):
    exercise = check.exercises[name]
    if name == "leaked_order":
        right, *wrong = exercise.answer(), *(each.wrong for each in exercise.mistakes.values())
    else:
        right = lambda *inputs: exercise.reference(*inputs)  # noqa: E731
        wrong = [each.wrong for each in exercise.mistakes.values()]
    assert bears_out(encoded(evidence(exercise, right)), exercise)
    assert wrong and not any(bears_out(encoded(evidence(exercise, w)), exercise) for w in wrong)


@pytest.mark.parametrize(
    "sent",
    ["", "[", "[]", "7", "[" * 9999, '[{"dtype": "str"}]', '{"dtype": [], "numbers": 0}', "[null]"],
)
def test_no_evidence_is_none(sent):
    assert not bears_out(sent, check.exercises["split_heads"])


def test_evidence_cannot_be_had_without_the_gradient():
    exercise = check.exercises["split_heads"]
    without = lambda x, n: exercise.reference(x, n).detach()  # noqa: E731
    assert not bears_out(encoded(evidence(exercise, without)), exercise)


def test_an_excerpt_is_the_checks_and_what_they_use():
    page = cells(
        notebook(
            "%matplotlib inline\nimport torch\nimport os",
            "old = 1",
            "old = torch.ones(2)\nloss = train()\nprint(loss)",
            "def helper(x):\n    loss = x + old\n    return loss",
            "!rm file\ncheck.show_reference('reach')",
            "# check('reach', 1)\nx = helper\nx = check('split_heads', x)",
        )
    )
    kept = [
        "".join(map(lambda each: str(type(each).__name__), cell.code)) for cell in excerpt(page)
    ]
    assert kept == ["Import", "Assign", "FunctionDef", "AssignAssign"]
    assert excerpt(page)[-1].checks == {"split_heads": "x"}


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"cells": 3}', "\x00", "[" * 10**5])
def test_what_is_no_notebook_is_refused(text):
    with pytest.raises(ValueError):
        cells(text)


def test_no_text_of_a_student_is_a_formula():
    assert [shortened(text)[:2] for text in ("=1", "+1", "@a", " -1")] == ["'=", "'+", "'@", "'-"]
    assert shortened("a\n\x1b[31m\tb") == "a [31m b" and len(shortened("x" * 999)) == 200


@pytest.mark.parametrize(
    "odd", [{"passed": True}, {"passed": "yes"}, {"passed": True, "evidence": 3}]
)
def test_a_report_of_any_form_is_survived(odd):
    (row,) = [row for row in rows("a", "a", Run(lines={"reach": odd})) if row.exercise == "reach"]
    assert row.verdict in ("refused", "wrong")


def test_of_several_files_the_best_answer_counts():
    row = Row("ann", "1", "05", "5.3", "split_heads", "wrong", "", "", 6)
    better = Row("ann", "2", "05", "5.3", "split_heads", "passed", "", "", 6)
    assert best([row, better]) == best([better, row]) == [better]
    assert summary([better])[0].startswith("1 student: 1 passed")


def test_a_folder_without_notebooks_is_refused(tmp_path):
    with pytest.raises(LessonError, match="no folder"):
        list(hand_ins(tmp_path / "none"))
    (tmp_path / "ann.zip").write_text("")
    with pytest.raises(LessonError, match="Unpack"):
        list(hand_ins(tmp_path))
    (tmp_path / "ann" / ".ipynb_checkpoints").mkdir(parents=True)
    (tmp_path / "ann" / ".ipynb_checkpoints" / "a.ipynb").write_text("")
    (tmp_path / "ann" / "deeper").mkdir()
    (tmp_path / "ann" / "deeper" / "a.b.ipynb").write_text("")
    assert [student for student, _ in hand_ins(tmp_path)] == ["ann"]
