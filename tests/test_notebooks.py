"""The stored lessons: executed, in step with their scripts, compared strictly, built as agreed."""

import ast
import json
import os
import re
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path
from unittest.mock import MagicMock

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from utils import ROOT
from utils.exercises.numbers import titled
from utils.press import lessons, notebooks
from utils.press.notebooks import BUDGET, CHAPTERS, LessonError, differences, scripts

LESSONS = [day.stem for day in lessons.days()]
CONCEPTS = lessons.concepts()
FLOORS = {  # what each of the other rooms may import
    "arguments": (),
    "show": ("show", "arguments"),
    "data": ("data",),
    "measure": ("measure", "show"),
    "training": ("training", "data", "arguments"),
    "tasks": ("tasks", "training", "data", "arguments", *CONCEPTS),
    "press": ("press", "exercises", "measure", "show"),
}
STORED = ("utils.show.views", "utils.show.views.models")  # tasks read what stored models know
NOT_STRICT = re.compile(r"nbval[-_](ignore|skip|raises)|raises-exception", re.IGNORECASE)
MACHINE = re.compile(r"(/(home|Users|root|tmp)/|/var/folders/|\b[A-Z]:\\\\|site-packages)")

each_lesson = pytest.mark.parametrize(
    "script", scripts(), ids=lambda p: f"{p.parent.name}/{p.stem}"
)


@cache
def notebook(script: Path) -> nbformat.NotebookNode:
    return notebooks.read(script.with_suffix(".ipynb"))


def code_cells(script: Path) -> list:
    return [cell for cell in notebook(script).cells if cell.cell_type == "code"]


def prints(cell) -> bool:
    """Whether a cell shows text that nbval can compare; a figure's `<Figure size …>` is none."""
    shown = [output.get("data", {}).get("text/plain", "") for output in cell.outputs]
    printed = any(output.get("name") == "stdout" for output in cell.outputs)
    return printed or any(text and not text.startswith("<Figure") for text in shown)


# --------------------------------------------------------------------------------- what is stored


def test_every_lesson_is_there_with_its_solutions_and_nothing_is_unpaired():
    found = {path.relative_to(CHAPTERS).as_posix() for path in CHAPTERS.rglob("*.ipynb")}
    found = {name for name in found if ".ipynb_checkpoints" not in name}
    written = {f"{script.relative_to(CHAPTERS).with_suffix('')}.ipynb" for script in scripts()}
    assert found == written, "a script without its notebook, or the reverse: run `make execute`"
    missing = {f"{folder}{name}.ipynb" for name in LESSONS for folder in ("", "solutions/")} - found
    assert not missing, f"lessons.toml lists what is not there: {missing}"
    assert {name.removeprefix("deeper/").removeprefix("solutions/") for name in found} == {
        f"{name}.ipynb" for name in LESSONS
    }, "a page of no day of lessons.toml"


@each_lesson
def test_a_notebook_is_stored_as_it_ran_from_top_to_bottom(script):
    cells = code_cells(script)
    run = [cell.execution_count for cell in cells]
    assert run == list(range(1, len(cells) + 1)), f"run `make execute LESSON={script.stem}`"
    for cell in cells:
        errors = [output for output in cell.outputs if output.output_type == "error"]
        assert not errors or "raises-exception" in cell.metadata.get("tags", ()), cell.source


@each_lesson
def test_a_pair_is_in_step(script):
    assert differences(script) == [], "script and notebook differ: run `make execute`"


@each_lesson
def test_nothing_is_stored_that_belongs_to_one_machine_or_one_run(script):
    stored = notebook(script)
    assert set(stored.metadata) == {"kernelspec", "language_info", "book"}
    assert set(stored.metadata.book) == {"processor_seconds"}
    assert stored.metadata.kernelspec.name == "python3"
    assert "version" not in stored.metadata.language_info
    for cell in code_cells(script):
        assert "execution" not in cell.metadata
        for output in cell.outputs:
            assert output.get("name") != "stderr", cell.source
            assert not [mime for mime in output.get("data", ()) if "widget" in mime], cell.source
    left = MACHINE.findall(json.dumps(stored.cells))
    assert not left, f"{left} is of this machine: print it without, then `make execute`"


@each_lesson
def test_most_of_what_is_printed_is_compared_strictly(script):
    printing = [cell for cell in code_cells(script) if prints(cell)]
    strict = [cell for cell in printing if not NOT_STRICT.search(f"{cell.metadata}{cell.source}")]
    assert printing, "a lesson that prints nothing shows nothing"
    assert len(strict) >= 0.7 * len(printing), (
        "too many cells print what is not compared: round it, or take the tag away, then "
        "`make execute`"
    )


@each_lesson
def test_a_page_keeps_its_budget_of_processor_seconds(script):
    seconds, budget = notebook(script).metadata.book.processor_seconds, BUDGET[script.parent.name]
    assert seconds <= budget, "train less, or show what is stored"


# ------------------------------------------------------------------------------- how it is written


@each_lesson
def test_a_lesson_begins_by_making_sure_of_its_utils(script):
    first = "import convolution_to_attention  # is `utils` this book's?"
    found = code_cells(script)[0].source.splitlines()[0]
    assert found == first, f"begin the first code cell with `{first}`, then `make execute`"


@pytest.mark.parametrize("script", [path for path in scripts() if path.parent == CHAPTERS])
def test_a_lesson_has_the_sections_of_every_lesson_in_their_order(script):
    headings = [
        line
        for cell in notebook(script).cells
        if cell.cell_type == "markdown"
        for line in cell.source.splitlines()
        if re.match(r"#{1,2} ", line)
    ]
    day = int(script.stem[:2])
    assert re.match(rf"# Day {day}: \S", headings[0])
    sections = [heading.removeprefix("## ") for heading in headings[1:]]
    # Day 0 may leave some out.
    expected = [name for name in lessons.SECTIONS if day or name in sections]
    assert sections == expected, "the headings are those of every lesson, in their order"


def without_question_or_minutes(deeper: nbformat.NotebookNode) -> list[str]:
    """The sections of a deeper page that don't begin with a question and how long they take."""
    text = "\n\n".join(cell.source for cell in deeper.cells if cell.cell_type == "markdown")
    found = []
    for section in re.split(r"^## ", text, flags=re.MULTILINE)[1:]:
        title, _, rest = section.partition("\n")
        first = rest.strip().partition("\n\n")[0]
        if not (re.search(r"\*\d+ minutes?\.\*", first) and re.search(r"\?(\W|$)", first)):
            found.append(title)
    return found


@each_lesson
def test_a_section_of_a_deeper_page_begins_with_a_question_and_its_minutes(script):
    if script.parent.name == "deeper":
        assert without_question_or_minutes(notebook(script)) == [], (
            "begin each section with its minutes and a question, as in `*6 minutes.* Why the root?`"
        )


def test_a_section_without_a_question_or_its_minutes_is_found():
    page = new_notebook(
        cells=[
            new_markdown_cell(
                "# Day 5, deeper: x\n\nWhy? *No section.*\n\n## A\n\n*1 minute.* Why?"
            ),
            new_code_cell("2"),
            new_markdown_cell("## B\n\n**How\nmany?** *12 minutes.* So.\n\nMore."),
            new_markdown_cell("## C\n\nWhy?\n\n*3 minutes.*\n\n## D\n\n*3 minutes.* So.\n\nWhy?"),
            new_markdown_cell("## E\n\n*Long.* Why?"),
        ]
    )
    assert without_question_or_minutes(page) == ["C", "D", "E"]


@each_lesson
def test_a_cell_does_one_thing_in_15_lines_or_one_definition(script):
    for cell in code_cells(script):
        lines = cell.source.splitlines()
        body = ast.parse(cell.source).body
        definitions = [node for node in body if isinstance(node, ast.FunctionDef | ast.ClassDef)]
        if len(definitions) == 1:
            del lines[definitions[0].lineno - 1 : definitions[0].end_lineno]
        long = len([line for line in lines if line.strip()])
        drawn = {"setup", "mechanism"} & set(cell.metadata.get("tags", ()))
        assert long <= (30 if drawn else 15), (
            f"{long} lines: split the cell, then `make execute`\n{cell.source}"
        )


# ------------------------------------------------------------------------------ which imports which


def imported(file: Path) -> set[str]:
    """The modules that a file names in its imports, anywhere in it."""
    found = set()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{file}: a relative import"
            found |= {node.module} | {f"{node.module}.{alias.name}" for alias in node.names}
    return found


def forbidden_imports(utils: Path) -> list[str]:
    """Imports in `utils` against the order in which it is taught."""
    found = []
    for file in sorted(utils.rglob("*.py")):
        folder = file.relative_to(utils).with_suffix("").parts[0]
        if folder in CONCEPTS:
            allowed = ("arguments", *CONCEPTS[: CONCEPTS.index(folder) + 1])
        elif folder in FLOORS:
            allowed = FLOORS[folder]
        else:
            assert folder in ("__init__", "exercises"), f"{file} has no place in the house"
            continue
        for name in imported(file):
            first, _, rest = name.partition(".")
            part = rest.partition(".")[0]
            stored = folder == "tasks" and name in STORED
            if first == "utils" and part not in ("", "ROOT", *allowed) and not stored:
                found.append(f"{file.relative_to(utils).as_posix()} imports {name}")
    return found


def test_a_module_imports_only_what_was_taught_before():
    assert forbidden_imports(ROOT / "utils") == []


@pytest.mark.parametrize(
    "file, line",
    [
        ("data/text.py", "from utils import attention"),
        ("measure/costs.py", "def f():\n    import utils.convolution"),
        ("show/plotting.py", "from utils.data import text"),
        ("training/loop.py", "from utils.tasks import dates"),
        ("convolution.py", "from utils.attention import scores"),
        ("attention.py", "from utils.show import plotting"),
        ("efficient/windowed.py", "from utils.exercises.checking import Exercise"),
    ],
)
def test_an_import_against_the_order_is_found(tmp_path, file, line):
    (tmp_path / file).parent.mkdir(exist_ok=True)
    (tmp_path / file).write_text(line)
    assert len({name.partition(" ")[0] for name in forbidden_imports(tmp_path)}) == 1


# ----------------------------------------------------------------------- the checks themselves bite

SCRIPT = """\
# %% [markdown]
# # A title

# %% tags=["hide-input"]
value = 12345
print(value)

# %%
value + 1
"""


@pytest.fixture(scope="module")
def executed(tmp_path_factory) -> Path:
    """A tiny lesson, executed."""
    script = tmp_path_factory.mktemp("chapters") / "01_tiny.py"
    script.write_text(SCRIPT)
    notebooks.execute(script)
    return script


@pytest.fixture
def pair(executed, tmp_path) -> Path:
    """The same, to be changed by a test."""
    for suffix in (".py", ".ipynb"):
        content = executed.with_suffix(suffix).read_bytes()
        (tmp_path / executed.name).with_suffix(suffix).write_bytes(content)
    return tmp_path / executed.name


def test_an_executed_pair_is_in_step_and_not_stale(pair):
    assert differences(pair) == []
    assert not notebooks.is_stale(pair)


@pytest.mark.parametrize(
    "old, new, part",
    [
        ("12345", "12346", "source"),
        ("A title", "A titel", "source"),
        ("hide-input", "hide-cell", "metadata"),
        ("# %% [markdown]\n# # A title", "# %%\n# # A title", "cell_type"),
        ("\n# %%\nvalue + 1\n", "", "is only in"),
        ("value + 1\n", "value + 1\n\n# %%\nvalue + 2\n", "is only in"),
    ],
)
def test_a_change_of_one_cell_is_seen_in_either_file(pair, tmp_path, old, new, part):
    assert SCRIPT.count(old) == 1
    pair.write_text(SCRIPT.replace(old, new))
    (found,) = differences(pair)
    assert part in found
    assert notebooks.is_stale(pair)

    changed = tmp_path / "other" / pair.name
    changed.parent.mkdir()
    changed.write_text(SCRIPT.replace(old, new))
    notebooks.write(notebooks.from_script(changed), changed.with_suffix(".ipynb"))
    changed.write_text(SCRIPT)
    (found,) = differences(changed)
    assert part in found


def test_a_tag_folds_a_cell_and_pairing_leaves_the_script_its_tag_alone(tmp_path):
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    (tmp_path / "chapters").mkdir()
    script = tmp_path / "chapters" / "01_tiny.py"
    script.write_text(SCRIPT.replace("hide-input", "evidence"))
    made = notebooks.from_script(script)
    assert made.cells[1].metadata == {"tags": ["evidence"], "jupyter": {"source_hidden": True}}
    assert made.cells[2].metadata == {}
    made.cells[2].source = "value + 2"
    notebooks.write(made, script.with_suffix(".ipynb"))
    pairing = [sys.executable, "-m", "jupytext", "--sync", script.with_suffix(".ipynb")]
    subprocess.run(pairing, cwd=tmp_path, check=True, capture_output=True)
    assert '# %% tags=["evidence"]\n' in script.read_text()
    assert "value + 2" in script.read_text() and "hidden" not in script.read_text()
    assert differences(script) == []


def test_a_notebook_without_outputs_is_stale(pair):
    stored = notebooks.read(pair.with_suffix(".ipynb"))
    stored.cells[1].execution_count = None
    notebooks.write(stored, pair.with_suffix(".ipynb"))
    assert differences(pair) == []
    assert notebooks.is_stale(pair)


@pytest.mark.parametrize(
    "printed", ["✓ {} split_heads: correct.\n", "☐ look\n   {} split_heads, and\n"]
)
def test_a_notebook_is_stale_once_its_exercises_have_other_numbers(pair, printed):
    number = titled("split_heads").partition(" ")[0]
    stored = notebooks.read(pair.with_suffix(".ipynb"))
    for shown, stale in ((number, False), ("5.99", True)):
        stored.cells[1].outputs = [new_output("stream", text=printed.format(shown))]
        notebooks.write(stored, pair.with_suffix(".ipynb"))
        assert notebooks.is_stale(pair) == stale


def test_execution_stores_only_what_stays_the_same_and_keeps_ids(pair):
    target = pair.with_suffix(".ipynb")
    before = notebooks.read(target)
    pair.write_text(
        SCRIPT.replace("12345", "54321") + "\n# %%\nimport sys\n\nprint('!', file=sys.stderr)\n"
    )
    notebooks.execute(pair)
    once = target.read_bytes()
    notebooks.execute(pair)
    assert target.read_bytes() == once
    after = notebooks.read(target)
    assert [cell.id for cell in after.cells[:-1]] == [cell.id for cell in before.cells]
    assert [cell.get("outputs") for cell in after.cells][1][0].text == "54321\n"
    assert after.cells[-1].outputs == []


def test_a_failing_cell_is_shown_and_leaves_the_stored_notebook(pair):
    before = pair.with_suffix(".ipynb").read_bytes()
    pair.write_text(SCRIPT + "\n# %%\nvalue / 0\n")
    with pytest.raises(LessonError, match="ZeroDivisionError"):
        notebooks.execute(pair)
    assert pair.with_suffix(".ipynb").read_bytes() == before
    assert sorted(path.suffix for path in pair.parent.iterdir()) == [".ipynb", ".py"]


def test_an_unknown_lesson_is_named_with_those_that_there_are():
    with pytest.raises(LessonError, match="'02_nothing'.* 00_first_steps, 01"):
        notebooks.find("02_nothing")


def test_what_takes_longer_than_its_budget_is_told(monkeypatch, capsys):
    pages = [CHAPTERS / folder / "01_convolution.py" for folder in ("", "deeper", "solutions")]
    monkeypatch.setattr(notebooks, "find", lambda name: pages)
    monkeypatch.setattr(notebooks, "execute", lambda script: 25 if "sol" not in str(script) else 9)
    monkeypatch.setattr(notebooks.subprocess, "run", lambda *_, **__: MagicMock(returncode=0))
    notebooks.execute_stale(["01_convolution"])
    lesson, deeper, solutions = capsys.readouterr().out.splitlines()
    assert "at most" not in lesson + solutions
    assert "25 s of processor time (at most 20:" in deeper


def test_processor_seconds_of_a_page_are_stored_without_its_imports(tmp_path):
    script = tmp_path / "01_busy.py"
    busy = "import time\nend = time.process_time() + {}\nwhile time.process_time() < end: pass\n"
    script.write_text(f"# %%\n{busy.format(1.5)}\n# %%\n{busy.format(1)}", encoding="utf-8")
    assert notebooks.execute(script) == 1
    assert notebooks.read(script.with_suffix(".ipynb")).metadata.book.processor_seconds == 1


def test_the_least_processor_seconds_of_the_same_code_count(tmp_path):
    script = tmp_path / "01_light.py"
    script.write_text("# %%\nimport time\n# %%\n1 + 1\n", encoding="utf-8")
    notebooks.execute(script)
    for seconds, code, least in ((-1, "1 + 1", -1), (-1, "1 + 2", 0), (99, "1 + 2", 0)):
        stored = notebooks.read(script.with_suffix(".ipynb"))
        stored.metadata.book.processor_seconds = seconds
        notebooks.write(stored, script.with_suffix(".ipynb"))
        script.write_text(f"# %%\nimport time\n# %%\n{code}\n", encoding="utf-8")
        assert notebooks.execute(script) == least


def test_nbval_compares_to_the_last_digit_leaves_out_what_it_should_and_refuses_stderr(tmp_path):
    bundle = {"text/plain": "value 1", "text/markdown": "value 1.25"}
    cells = [
        new_code_cell(
            "print(12345)", execution_count=1, outputs=[new_output("stream", text="12345\n")]
        ),
        new_code_cell(
            f"from IPython.display import display\ndisplay({bundle}, raw=True)",
            execution_count=2,
            outputs=[new_output("display_data", data=bundle)],
        ),
    ]
    text = json.dumps(new_notebook(cells=cells))
    altered = {
        "same": text,
        "printed": text.replace('"12345\\n"', '"12346\\n"'),
        "shown": text.replace('"text/plain": "value 1"', '"text/plain": "value 2"'),
        "beside": text.replace('"text/markdown": "value 1.25"', '"text/markdown": "value 1.26"'),
    }
    assert len(set(altered.values())) == len(altered)
    pink = new_code_cell("import sys\n\nprint('!', file=sys.stderr)", execution_count=1)
    altered["pink"] = json.dumps(new_notebook(cells=[pink]))
    for name, content in altered.items():
        (tmp_path / f"{name}.ipynb").write_text(content)
    settings = ["-c", ROOT / "pyproject.toml", "-p", "conftest", "-p", "no:cacheprovider"]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *settings, "-n0", "-rA", "--tb=no", tmp_path],
        cwd=ROOT,
        env={name: os.environ[name] for name in os.environ if not name.startswith("PYTEST_")},
        capture_output=True,
        text=True,
    )
    failed = re.findall(r"^FAILED \S*?(\w+)\.ipynb::Cell (\d)", done.stdout, re.MULTILINE)
    assert sorted(failed) == [("pink", "0"), ("printed", "0"), ("shown", "1")], done.stdout
    assert "3 failed, 6 passed" in done.stdout
