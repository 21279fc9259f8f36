"""A stored result is that of the present code; what can't change a result makes nothing stale."""

import ast
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch

from utils.measure import experiments
from utils.measure.experiments import (
    ExperimentError,
    grid,
    is_stale,
    live,
    load,
    names,
    run,
)
from utils.measure.fingerprint import Code, dump, fingerprint

BOOK = {
    "experiments/growth.py": '''\
"""How fast a thing grows."""

import math

from utils import layers
from utils.show.tools import scaled as rescaled
from utils.layers import Deep

PARAMETERS = {"width": [1, 2], "seed": 0}
START = 3


def data():
    return [range(START)]


def measure(width, seed):
    """Measure it."""
    import utils.show.late

    return {"value": rescaled(Deep(width).size(), math.pi) + layers.OFFSET + utils.show.late.LATE}


def notes():
    return "nobody calls this"
''',
    "utils/__init__.py": '"""The book."""\n',
    "utils/show/__init__.py": "",
    "utils/layers.py": '''\
import torch as backend

OFFSET = 10
LIMIT = {"depth": 2}
LIMIT["depth"] += 1
UNUSED = 0
backend.flag = True


class Layer:
    """A base class."""

    def size(self):
        return self.width * decorated(self.width)


def doubled(function):
    return lambda x: 2 * function(x)


@doubled
def decorated(x):
    """Twice."""
    return x + LIMIT["depth"]  # a comment


class Deep(Layer):
    def __init__(self, width):
        self.width = width

    def unused_method(self):
        return 1


class Unrelated:
    pass


def unrelated():
    return Unrelated()
''',
    "utils/show/tools.py": """\
from ..lab import deeper
from .elsewhere import moved


def scaled(x, by):
    return deeper.times(x, by) + moved()


def unrelated():
    return 5
""",
    "utils/show/deeper.py": '''\
"""One module further."""


def times(x, by):
    return x * by + constant()


def constant():
    return 1


def unrelated():
    return 6


if __name__ == "__main__":
    print("only as a program")
''',
    "utils/show/elsewhere.py": "from utils.show.origin import moved\n\nOTHER = 1\n",
    "utils/show/origin.py": "def moved():\n    return 0\n",
    "utils/show/late.py": "LATE = 0.5\n",
    "utils/show/plotting.py": "def curves():\n    return 1\n",
}


@pytest.fixture
def book(tmp_path) -> Path:
    """A small book with an experiment that reaches through several modules."""
    for name, text in BOOK.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return tmp_path


def mark(book: Path, parameters: dict | None = None, data=()) -> str:
    script = book / "experiments" / "growth.py"
    return fingerprint(script, ("measure", "data"), parameters or {"width": 1}, data, book)


def change(book: Path, file: str, old: str, new: str) -> None:
    path = book / file
    text = path.read_text(encoding="utf-8")
    assert text.count(old) == 1, f"{old!r} must stand once in {file}"
    path.write_text(text.replace(old, new), encoding="utf-8")


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        ("experiments/growth.py", "width).size()", "width + 1).size()"),
        ("experiments/growth.py", "START = 3", "START = 4"),
        ("experiments/growth.py", "START = 3", "START = 3\nmath.precise = True"),
        ("experiments/growth.py", "import math\n", "import cmath as math\n"),
        ("experiments/growth.py", "scaled as rescaled", "unrelated as rescaled"),
        ("utils/layers.py", "OFFSET = 10", "OFFSET = 11"),
        ("utils/layers.py", '"depth": 2', '"depth": 3'),
        ("utils/layers.py", '["depth"] += 1', '["depth"] += 2'),
        ("utils/layers.py", "backend.flag = True", "backend.flag = False"),
        ("utils/layers.py", "self.width * decorated", "self.width + decorated"),
        ("utils/layers.py", "class Deep(Layer)", "class Deep(Unrelated)"),
        ("utils/layers.py", "2 * function", "3 * function"),
        ("utils/layers.py", "@doubled\n", ""),
        ("utils/layers.py", "        self.width = width", "        self.width = -width"),
        ("utils/show/tools.py", "deeper.times(x, by)", "deeper.times(by, x)"),
        ("utils/show/deeper.py", "x * by", "x / by"),
        ("utils/show/deeper.py", "return 1", "return 2"),
        ("utils/show/origin.py", "return 0", "return None"),
        ("utils/show/late.py", "0.5", "0.25"),
        ("utils/__init__.py", '"""The book."""', "print(1)"),
    ],
)
def test_what_is_reached_changes_the_fingerprint(book, file, old, new):
    before = mark(book)
    change(book, file, old, new)
    assert mark(book) != before


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        ("experiments/growth.py", '    """Measure it."""\n', ""),
        ("experiments/growth.py", "How fast", "How slowly"),
        ("experiments/growth.py", "nobody calls", "somebody calls"),
        ("experiments/growth.py", "import math\n", "import math\nimport json\n"),
        ("utils/layers.py", "  # a comment", ""),
        ("utils/layers.py", '    """A base class."""', '    """Another\n    docstring."""'),
        ("utils/layers.py", '    """Twice."""\n', ""),
        ("utils/layers.py", "OFFSET = 10", "OFFSET = (\n    10\n)"),
        ("utils/layers.py", "OFFSET = 10", 'OFFSET = 10\n"""What it is for."""'),
        ("utils/layers.py", "UNUSED = 0", "UNUSED = 1"),
        ("utils/layers.py", "class Unrelated:\n    pass", "class Unrelated:\n    x = 1"),
        ("utils/layers.py", "return Unrelated()", "return None"),
        ("utils/show/tools.py", "return 5", "return 6"),
        ("utils/show/deeper.py", "return 6", "return 7"),
        ("utils/show/deeper.py", "only as", "not only as"),
        ("utils/show/elsewhere.py", "OTHER = 1", "OTHER = 2"),
    ],
)
def test_what_cannot_change_a_result_makes_nothing_stale(book, file, old, new):
    before = mark(book)
    change(book, file, old, new)
    assert mark(book) == before


def test_parameters_and_data_change_the_fingerprint(book):
    array = np.arange(6.0)
    variants = [
        mark(book),
        mark(book, {"width": 2}),
        mark(book, {"width": 1, "seed": 1}),
        mark(book, data=[array]),
        mark(book, data=[array.view(np.int64)]),
        mark(book, data=[array.reshape(2, 3)]),
        mark(book, data=[array + (array == 5)]),
        mark(book, data=[array, array]),
    ]
    assert len(set(variants)) == len(variants)
    assert mark(book, {"seed": 1, "width": 1}) == mark(book, {"width": 1, "seed": 1})
    assert mark(book, data=[torch.arange(6.0, dtype=torch.float64)]) == mark(book, data=[array])


def test_how_a_result_is_drawn_makes_nothing_stale(book):
    change(
        book,
        "utils/show/tools.py",
        "from ..lab import deeper\n",
        "from ..lab import deeper, plotting\n",
    )
    change(book, "utils/show/tools.py", "+ moved()", "+ moved() + plotting.curves()")
    before = mark(book)
    change(book, "utils/show/plotting.py", "return 1", "return 2")
    assert mark(book) == before


def test_a_module_that_is_handed_on_counts_as_a_whole(book):
    change(book, "utils/show/tools.py", "deeper.times(x, by)", "getattr(deeper, by)(x)")
    before = mark(book)
    change(book, "utils/show/deeper.py", "return 6", "return 7")
    assert mark(book) != before


def test_it_is_known_what_is_reached(book):
    places = Code(book / "experiments" / "growth.py", book).reached(("measure", "data"))
    assert {place for place in places if "at import" not in place} == {
        *(": measure", ": data", ": START", "utils.layers: OFFSET", "utils.layers: Deep"),
        *("utils.layers: Layer", "utils.layers: decorated", "utils.layers: doubled"),
        *("utils.layers: LIMIT", "utils.show.tools: scaled", "utils.show.deeper: times"),
        *("utils.show.deeper: constant", "utils.show.origin: moved", "utils.show.late: LATE"),
    }


def test_every_release_of_python_writes_a_syntax_tree_alike():
    tree = ast.parse("def f(x):\n    'docstring'\n    return f'{x:.2f} {None}'").body[0]
    assert dump(tree) == (
        "FunctionDef(name='f', args=arguments(args=[arg(arg='x')]), body=[Return(value=JoinedStr("
        "values=[FormattedValue(value=Name(id='x', ctx=Load()), conversion=-1, format_spec="
        "JoinedStr(values=[Constant(value='.2f')])), Constant(value=' '), "
        "FormattedValue(value=Constant(), conversion=-1)]))])"
    )


# ---------------------------------------------------------------------------------------- running

SCRIPT = '''\
from pathlib import Path

PARAMETERS = {"activation": ["ReLU", "tanh"], "seed": [0, 1, 2], "steps": 5}
FACTOR = 10


def data():
    return [[1.0, 2.0]]


def measure(activation, seed, steps):
    """Count the calls in a file beside the script."""
    log = Path(__file__).with_name("calls.txt")
    calls = log.read_text() if log.exists() else ""
    if len(calls) == 4 and not Path(__file__).with_name("go_on").exists():
        raise KeyboardInterrupt
    log.write_text(calls + "x")
    return {"value": FACTOR * seed + steps, "curve": [1.0, seed], "goal": None if seed else 3}
'''


@pytest.fixture
def scripts(tmp_path, monkeypatch) -> Path:
    """A folder of experiments with one in it, which is interrupted after four members."""
    folder = tmp_path / "experiments"
    (folder / "results").mkdir(parents=True)
    (folder / "growth.py").write_text(SCRIPT, encoding="utf-8")
    monkeypatch.setattr(experiments, "SCRIPTS", folder)
    return folder


@pytest.fixture
def calm(scripts) -> Path:
    """The same, not interrupted."""
    (scripts / "go_on").touch()
    return scripts


def calls(folder: Path) -> int:
    return len((folder / "calls.txt").read_text())


def test_a_run_stores_every_member_of_the_grid_and_how_it_was_measured(calm):
    assert names() == ["growth"] and is_stale("growth")
    result = run("growth")
    assert [(row["activation"], row["seed"], row["value"]) for row in result.rows] == [
        (activation, seed, 10 * seed + 5) for activation in ("ReLU", "tanh") for seed in (0, 1, 2)
    ]
    assert result == load("growth") and not is_stale("growth")
    assert result.parameters["seed"] == [0, 1, 2]
    assert set(result.versions) == {"python", "torch", "numpy"}
    assert set(result.machine) == {"processor", "cores", "threads"}
    assert [path.name for path in (calm / "results").iterdir()] == ["growth.json"]


def test_one_member_is_measured_again_beside_its_stored_row(calm):
    result = run("growth")
    before = calls(calm)
    now, stored = live("growth", activation="tanh", seed=1)
    assert now == stored == result.select(activation="tanh", seed=1)[0]
    assert calls(calm) == before + 1
    with pytest.raises(ValueError):
        live("growth", activation="tanh", seed=7)


def test_an_interrupted_run_goes_on_where_it_stopped(scripts):
    with pytest.raises(KeyboardInterrupt):
        run("growth")
    assert calls(scripts) == 4 and is_stale("growth")
    (scripts / "go_on").touch()
    assert len(run("growth").rows) == 6 and calls(scripts) == 6


def test_a_changed_script_does_not_go_on_with_old_numbers(scripts):
    with pytest.raises(KeyboardInterrupt):
        run("growth")
    (scripts / "go_on").touch()
    change(scripts, "growth.py", "FACTOR = 10", "FACTOR = 20")
    assert run("growth").spread("value", seed=1) == (25, 25, 25)
    assert calls(scripts) == 4 + 6


def test_a_damaged_part_is_measured_again(calm):
    (calm / "results" / "growth.json.part").write_text('{"fingerprint": "ab')
    assert len(run("growth").rows) == 6


@pytest.mark.parametrize(
    ("old", "new"),
    [("FACTOR = 10", "FACTOR = 11"), ("[0, 1, 2]", "[0, 1]"), ("steps + ", ""), ("2.0", "3.0")],
)
def test_a_change_makes_the_result_stale(calm, old, new):
    run("growth")
    text = (
        (calm / "growth.py").read_text().replace("FACTOR * seed + steps", "steps + FACTOR * seed")
    )
    (calm / "growth.py").write_text(text)
    run("growth")
    change(calm, "growth.py", old, new)
    assert is_stale("growth")


def test_rows_are_selected_and_summarised(calm):
    result = run("growth")
    assert [row["seed"] for row in result.select(activation="tanh")] == [0, 1, 2]
    assert result.spread("value", activation="tanh") == (15, 5, 25)
    with pytest.raises(ValueError, match="No row has {'activation': 'GELU'}"):
        result.select(activation="GELU")
    with pytest.raises(ValueError, match="No row has {'colour': None}"):
        result.select(colour=None)
    with pytest.raises(ValueError, match="no column 'loss', only activation"):
        result.spread("loss")
    with pytest.raises(ValueError, match="'goal' did not happen in 2 of 3 runs"):
        result.spread("goal", activation="ReLU")


@pytest.mark.parametrize("damage", ["", "{", "[]", '{"rows": []}', None])
def test_a_missing_or_damaged_result_says_what_to_do(calm, damage):
    if damage is not None:
        (calm / "results" / "growth.json").write_text(damage)
    sentence = "no stored result" if damage is None else "is damaged"
    with pytest.raises(ExperimentError, match=f"{sentence}.*utils.measure.experiments growth"):
        load("growth")
    assert is_stale("growth")


@pytest.mark.parametrize("value", ["float('nan')", "[1, float('inf')]", "'many'", "{}"])
def test_only_finite_numbers_are_stored(calm, value):
    change(calm, "growth.py", "FACTOR * seed + steps", value)
    with pytest.raises(ExperimentError, match="value = .*finite numbers"):
        run("growth")
    assert is_stale("growth")


def test_what_is_no_experiment_is_refused(calm):
    with pytest.raises(ExperimentError, match="no experiment 'shrinkage', only: growth"):
        run("shrinkage")
    change(calm, "growth.py", '"value"', '"seed"')
    with pytest.raises(ExperimentError, match="seed = .*under names that no parameter has"):
        run("growth")
    change(calm, "growth.py", "def measure", "def weigh")
    with pytest.raises(ExperimentError, match="needs a dict PARAMETERS and a function measure"):
        run("growth")


def test_the_grid_is_every_combination():
    assert list(grid({"a": [1, 2], "b": "x", "c": [True, False]})) == [
        {"a": a, "b": "x", "c": c} for a in (1, 2) for c in (True, False)
    ]


def test_only_the_python_that_measured_tells_whether_its_own_text_has_changed(calm, monkeypatch):
    change(calm, "growth.py", "PARAMETERS = ", "VARIES_WITH_PYTHON = True\nPARAMETERS = ")
    assert is_stale("growth")  # without a stored result, in any release
    run("growth")
    change(calm, "growth.py", "FACTOR = 10", "FACTOR = 11")
    assert is_stale("growth")
    monkeypatch.setattr(experiments.platform, "python_version", lambda: "3.0.0")
    assert not is_stale("growth")
    change(calm, "growth.py", "VARIES_WITH_PYTHON = True\n", "")
    assert is_stale("growth")


def test_a_run_that_takes_too_long_is_noted(calm, monkeypatch, capsys):
    monkeypatch.setattr(experiments, "LIMIT", -1)
    run("growth")
    assert "growth took" in capsys.readouterr().err


def test_the_command_runs_what_is_stale_and_nothing_else(calm, monkeypatch, capsys):
    def command(*arguments: str) -> str:
        monkeypatch.setattr(sys, "argv", ["experiments", *arguments])
        experiments.main()
        return capsys.readouterr().out

    assert command("--list") == "growth: stale\n" and not (calm / "calls.txt").exists()
    assert command().startswith("growth: measured in")
    assert command() == "growth: up to date\n" and calls(calm) == 6
    assert command("--all", "growth").startswith("growth: measured in") and calls(calm) == 12


def test_an_unknown_name_ends_the_command_with_one_sentence():
    command = [sys.executable, "-m", "utils.measure.experiments", "nothing_of_that_name"]
    ended = subprocess.run(command, capture_output=True, text=True)
    assert ended.returncode == 1
    assert ended.stderr.startswith("There is no experiment") and ended.stderr.count("\n") == 1


# ----------------------------------------------------------------------------------- this book's


@pytest.mark.parametrize("name", names())
def test_the_stored_result_is_that_of_the_present_code(name):
    assert not is_stale(name), f"experiments/results/{name}.json is stale: run `make experiments`."


@pytest.mark.parametrize("name", names())
def test_the_stored_rows_are_the_whole_grid(name):
    result = load(name)
    measured = [{key: row[key] for key in result.parameters} for row in result.rows]
    assert sorted(map(str, measured)) == sorted(map(str, grid(result.parameters)))


def test_every_stored_result_has_its_experiment():
    stored = {path.stem for path in (experiments.SCRIPTS / "results").glob("*.json")}
    assert stored == set(names())


def test_no_experiment_takes_too_long():
    seconds = {name: load(name).seconds for name in names()}
    assert max(seconds.values()) <= experiments.LIMIT
    assert sum(seconds.values()) <= 2 * 2 * 60 * 60  # two hours of two cores
