"""Names, places and sentences make no result stale; whatever may change a number does."""

import re
import shutil
from pathlib import Path

import numpy as np
import pytest
import torch

from utils import ROOT
from utils.measure.experiments.results import load_script, names
from utils.measure.fingerprint import fingerprint
from utils.measure.fingerprint.canonical import Canonical
from utils.measure.fingerprint.modules import Modules

BOOK = {
    "experiments/growth.py": '''\
"""How fast a thing grows."""

import math
from functools import partial

from utils import layers
from utils.data.tools import scaled as rescaled
from utils.layers import Deep, Settings

PARAMETERS = {"width": [1, 2], "seed": 0}
START = 3


def data():
    return [range(START)]


def measure(width: int, seed: int) -> dict:
    """Measure it."""
    import utils.data.late

    deep = Deep(width, settings=Settings(depth=2, rate=0.5))
    deep.grow(steps=3, shrink=seed)
    longer = partial(layers.stretched, by=2, less=1)
    names = [f"{name}!" for name in ("value", "other")]
    with layers.opened(names) as (first, second):
        total = rescaled(deep.size(), math.pi) + layers.OFFSET + utils.data.late.LATE
    return {"value": longer(total), **deep.found(first, second), "seed": seed - width}


def notes():
    return "nobody calls this"
''',
    "utils/__init__.py": '"""The book."""\n',
    "utils/data/__init__.py": "",
    "utils/layers.py": '''\
from contextlib import contextmanager
from dataclasses import dataclass

import torch as backend
from torch import nn

from utils.checks import check_size

OFFSET = 10
LIMIT = {"depth": 2}
LIMIT["depth"] += 1
UNUSED = 0
backend.flag = True


@dataclass(frozen=True)
class Settings:
    depth: int
    rate: float = 0.1


class Layer(nn.Module):
    """A base class."""

    def size(self):
        return self.broad * decorated(self.broad) - self.settings.rate

    def grow(self, steps: int, shrink: int = 0) -> None:
        for _ in range(steps):
            self.broad, self.slim = self.broad + 2 * self.slim, self.slim - shrink


def doubled(function):
    return lambda x: 2 * function(x)


@doubled
def decorated(x):
    """Twice."""
    return x + LIMIT["depth"]  # a comment


class Deep(Layer):
    def __init__(self, broad, settings=None):
        super().__init__()
        check_size(broad)
        self.broad = broad
        self.slim = 1
        self.settings = settings
        self.rest: int = settings.depth

    def found(self, one, two):
        def mixed(x, y):
            return x - 2 * y + self.rest

        return {"first": mixed(len(one), len(two)), "last": min(mixed(n, 1) for n in (one, two))}

    def forward(self, x):
        return x

    def unused_method(self):
        return 1


@contextmanager
def opened(pair):
    try:
        yield pair
    except KeyError as problem:
        raise ValueError(f"No {problem} in {pair}: take others.") from problem


def stretched(x, by, less):
    return x * by - less


class Unrelated(nn.Module):
    pass


def unrelated():
    return Unrelated()
''',
    "utils/checks.py": """\
def check_size(size):
    if size < 1:
        raise ValueError(f"A size is at least 1, got {described(size)}.")


def described(x):
    return f"a {type(x).__name__}"
""",
    "utils/data/tools.py": """\
from . import deeper
from .elsewhere import moved


def scaled(x, by):
    return deeper.times(x, by) + moved(by)


def unrelated():
    return 5
""",
    "utils/data/deeper.py": '''\
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
    "utils/data/elsewhere.py": "from utils.data.origin import moved\n\nOTHER = 1\n",
    "utils/data/origin.py": "def moved(x):\n    return 0\n",
    "utils/data/late.py": "LATE = 0.5\n",
    "utils/show/__init__.py": "",
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


def mark(book: Path, data=()) -> str:
    script = book / "experiments" / "growth.py"
    return fingerprint(script, ("measure", "data"), ("width", "seed"), data, book)


def change(book: Path, file: str, old: str, new: str) -> None:
    path = book / file
    text = path.read_text(encoding="utf-8")
    assert text.count(old) == 1, f"{old!r} must stand once in {file}"
    path.write_text(text.replace(old, new), encoding="utf-8")


def rename(book: Path, old: str, new: str) -> int:
    """Write another name wherever one stands as a whole word, in every file; how often it did."""
    found = 0
    for path in book.rglob("*.py"):
        text, times = re.subn(rf"\b{old}\b", new, path.read_text(encoding="utf-8"))
        path.write_text(text, encoding="utf-8")
        found += times
    return found


GROWTH, LAYERS = "experiments/growth.py", "utils/layers.py"
TOOLS, DEEPER = "utils/data/tools.py", "utils/data/deeper.py"


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        # constants, operators, defaults, statements
        (GROWTH, "START = 3", "START = 4"),
        (GROWTH, "START = 3", "START = 3\nmath.precise = True"),
        (GROWTH, "math.pi", "math.e"),
        (GROWTH, "import math\n", "import cmath as math\n"),
        (GROWTH, '{"value":', '{"worth":'),
        (GROWTH, '("value", "other")', '("other", "value")'),
        (LAYERS, "OFFSET = 10", "OFFSET = 10.0"),
        (LAYERS, '"depth": 2', '"depth": 3'),
        (LAYERS, '["depth"] += 1', '["depth"] += 2'),
        (LAYERS, "backend.flag = True", "backend.flag = False"),
        (LAYERS, "self.broad * decorated", "self.broad + decorated"),
        (LAYERS, "shrink: int = 0", "shrink: int = 1"),
        (LAYERS, "settings=None", "settings=0"),
        (LAYERS, "rate: float = 0.1", "rate: float = 0.2"),
        (LAYERS, "2 * function", "3 * function"),
        (LAYERS, "@doubled\n", ""),
        (LAYERS, "        self.broad = broad", "        self.broad = -broad"),
        (LAYERS, "        check_size(broad)\n", ""),
        (LAYERS, "except KeyError as", "except IndexError as"),
        (LAYERS, "raise ValueError", "raise TypeError"),
        (LAYERS, "        return x\n\n    def unused", "        return -x\n\n    def unused"),
        ("utils/checks.py", "size < 1", "size <= 1"),
        (DEEPER, "x * by", "x / by"),
        (DEEPER, "return 1", "return 2"),
        ("utils/data/origin.py", "return 0", "return None"),
        ("utils/data/late.py", "0.5", "0.25"),
        ("utils/__init__.py", '"""The book."""', "print(1)"),
        # another thing in its place
        (GROWTH, "scaled as rescaled", "unrelated as rescaled"),
        (LAYERS, "class Deep(Layer)", "class Deep(Unrelated)"),
        (LAYERS, "class Layer(nn.Module)", "class Layer(nn.Identity)"),
        # an order of calls
        (TOOLS, "deeper.times(x, by) + moved(by)", "moved(by) + deeper.times(x, by)"),
        (
            LAYERS,
            "        check_size(broad)\n        self.broad = broad\n",
            "        self.broad = broad\n        check_size(broad)\n",
        ),
        # two arguments, two keywords, two locals
        (TOOLS, "deeper.times(x, by)", "deeper.times(by, x)"),
        (TOOLS, "def scaled(x, by)", "def scaled(by, x)"),
        (GROWTH, "depth=2, rate=0.5", "rate=2, depth=0.5"),
        (GROWTH, "steps=3, shrink=seed", "shrink=3, steps=seed"),
        (GROWTH, "by=2, less=1", "less=2, by=1"),
        (GROWTH, "width: int, seed: int", "seed: int, width: int"),
        (GROWTH, "seed - width", "width - seed"),
        (GROWTH, "as (first, second)", "as (second, first)"),
        (LAYERS, "def stretched(x, by, less)", "def stretched(x, less, by)"),
        (LAYERS, "steps: int, shrink: int = 0", "shrink: int, steps: int = 0"),
        (LAYERS, "def mixed(x, y)", "def mixed(y, x)"),
        (LAYERS, "mixed(n, 1)", "mixed(1, n)"),
        (LAYERS, "mixed(n, 1) for n in", "mixed(one, 1) for n in"),
        # two functions, two methods, two attributes
        (TOOLS, "deeper.times(x, by) + moved(by)", "moved(x, by) + deeper.times(by)"),
        (GROWTH, "**deep.found(first, second)", "**deep.grow(first, second)"),
        (LAYERS, "self.broad + 2 * self.slim", "self.slim + 2 * self.broad"),
        (
            LAYERS,
            "self.broad = broad\n        self.slim = 1",
            "self.slim = broad\n        self.broad = 1",
        ),
        (LAYERS, "self.settings.rate", "self.settings.depth"),
        (LAYERS, "depth: int\n    rate: float = 0.1", "rate: int\n    depth: float = 0.1"),
    ],
)
def test_what_may_change_a_number_changes_the_fingerprint(book, file, old, new):
    before = mark(book)
    change(book, file, old, new)
    assert mark(book) != before


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        # docstrings, comments, annotations, sentences
        (GROWTH, '    """Measure it."""\n', ""),
        (GROWTH, "How fast", "How slowly"),
        (GROWTH, "width: int, seed: int) -> dict:", "width, seed):"),
        (GROWTH, "import math\n", "import math\nimport json\n"),
        (LAYERS, "  # a comment", ""),
        (LAYERS, '    """A base class."""', '    """Another\n    docstring."""'),
        (LAYERS, '    """Twice."""\n', ""),
        (LAYERS, "self.rest: int = settings", "self.rest = settings"),
        (LAYERS, "depth: int\n", "depth: float | None\n"),
        (LAYERS, "OFFSET = 10", "OFFSET: int = (\n    10\n)"),
        (LAYERS, "OFFSET = 10", 'OFFSET = 10\n"""What it is for."""'),
        (LAYERS, "No {problem} in {pair}: take others.", "Take others than {problem}."),
        ("utils/checks.py", "A size is at least 1, got {described(size)}.", "{size} is too small."),
        ("utils/checks.py", "a {type(x)", "one {type(x)"),
        # what nobody calls
        (GROWTH, "nobody calls", "somebody calls"),
        (LAYERS, "UNUSED = 0", "UNUSED = 1"),
        (LAYERS, "        return 1\n", "        return 2\n"),
        (LAYERS, "class Unrelated(nn.Module):\n    pass", "class Unrelated:\n    x = 1"),
        (LAYERS, "return Unrelated()", "return None"),
        (TOOLS, "return 5", "return 6"),
        (DEEPER, "return 6", "return 7"),
        (DEEPER, "only as", "not only as"),
        ("utils/data/elsewhere.py", "OTHER = 1", "OTHER = 2"),
        # names in one place
        (GROWTH, "scaled as rescaled", "scaled as larger"),
        (LAYERS, "one, two):", "uno, due):"),
        (LAYERS, "import torch as backend", "import torch as library"),
    ],
)
def test_what_cannot_change_a_number_makes_nothing_stale(book, file, old, new):
    before = mark(book)
    change(book, file, old, new)
    if "larger" in new:
        change(book, GROWTH, "rescaled(deep", "larger(deep")
    if "uno" in new:
        change(book, LAYERS, "len(one), len(two)", "len(uno), len(due)")
        change(book, LAYERS, "in (one, two)", "in (uno, due)")
    if "as library" in new:
        change(book, LAYERS, "backend.flag", "library.flag")
    assert mark(book) == before


@pytest.mark.parametrize(
    "name",
    [
        *("measure_it", "decorated", "moved", "check_size", "doubled", "times"),  # functions
        *("Deep", "Layer", "Settings", "OFFSET", "LIMIT", "START"),  # classes, constants
        *("broad", "slim", "settings", "rest", "rate"),  # attributes
        *("found", "grow"),  # methods
        *("by", "less", "steps", "shrink", "one", "pair"),  # arguments
        *("mixed", "total", "longer"),  # what a function defines
    ],
)
def test_a_name_of_the_books_own_makes_nothing_stale(book, name):
    before = mark(book)
    renamed = rename(book, name, f"{name}_by_another_name")
    assert renamed >= 2 or name == "measure_it"
    assert mark(book) == before


def test_what_a_library_or_a_string_names_is_kept(book):
    before = mark(book)
    rename(book, "forward", "backward")
    rename(book, "total", "other")  # a local may be called like a string
    assert mark(book) != before
    change(book, LAYERS, "+ self.rest", '+ getattr(self, "rest")')
    named = mark(book)
    rename(book, "slim", "thin")
    assert mark(book) == named
    change(book, LAYERS, "self.rest: int =", "self.left: int =")
    assert mark(book) != named


def test_exchanged_fields_that_are_looked_up_by_a_string_are_noticed(book):
    change(book, GROWTH, "Settings(depth=2, rate=0.5)", "Settings(2, 0.5)")
    change(book, LAYERS, "- self.settings.rate", '- getattr(self.settings, "rate")')
    change(book, LAYERS, "settings.depth\n", 'getattr(settings, "depth")\n')
    before = mark(book)
    change(book, LAYERS, "depth: int\n    rate: float = 0.1", "rate: int\n    depth: float = 0.1")
    assert mark(book) != before


def test_exchanged_arguments_that_a_dictionary_gives_are_noticed(book):
    change(book, GROWTH, "steps=3, shrink=seed", '**{"steps": 3, "shrink": seed}')
    before = mark(book)
    change(book, LAYERS, "steps: int, shrink: int = 0", "shrink: int, steps: int = 0")
    change(book, LAYERS, "range(steps)", "range(shrink_)")
    change(book, LAYERS, "self.slim - shrink", "self.slim - steps")
    change(book, LAYERS, "range(shrink_)", "range(shrink)")
    assert mark(book) != before


def test_a_definition_may_move_and_a_module_be_called_otherwise(book):
    before = mark(book)
    text = (book / DEEPER).read_text()
    constant = "def constant():\n    return 1\n"
    (book / DEEPER).write_text("from utils.numbers import constant\n" + text.replace(constant, ""))
    (book / "utils" / "numbers.py").write_text("import json\n\n\n" + constant)
    assert mark(book) == before
    (book / "utils" / "checks.py").rename(book / "utils" / "data" / "guards.py")
    change(book, LAYERS, "from utils.checks", "from utils.data.guards")
    (book / LAYERS).rename(book / "utils" / "parts.py")
    change(book, GROWTH, "from utils import layers", "from utils import parts as layers")
    change(book, GROWTH, "from utils.layers", "from utils.parts")
    (book / "utils" / "data").rename(book / "utils" / "given")
    rename(book, r"utils\.data", "utils.given")
    assert mark(book) == before
    change(book, "utils/parts.py", "def doubled", "def halved")
    definitions = (book / "utils" / "parts.py").read_text()
    (book / "utils" / "parts.py").write_text(definitions.replace("@doubled", "@halved"))
    assert mark(book) == before


def test_the_order_of_definitions_and_of_methods_makes_nothing_stale(book):
    before = mark(book)
    text = (book / LAYERS).read_text()
    method = text[text.index("    def size") : text.index("    def grow")]
    function = text[text.index("def stretched") : text.index("class Unrelated")]
    text = text.replace(method, "").replace(function, "")
    text = text.replace("def doubled", f"{function}def doubled")
    text = text.replace("self.slim - shrink\n", f"self.slim - shrink\n\n{method.rstrip()}\n")
    (book / LAYERS).write_text(text)
    assert mark(book) == before


def test_data_change_the_fingerprint(book):
    array = np.arange(6.0)
    variants = [
        mark(book),
        mark(book, data=[array]),
        mark(book, data=[array.view(np.int64)]),
        mark(book, data=[array.reshape(2, 3)]),
        mark(book, data=[array + (array == 5)]),
        mark(book, data=[array, array]),
    ]
    assert len(set(variants)) == len(variants)
    assert mark(book, data=[torch.arange(6.0, dtype=torch.float64)]) == mark(book, data=[array])


def test_how_a_result_is_drawn_makes_nothing_stale(book):
    change(
        book,
        TOOLS,
        "from . import deeper\n",
        "from . import deeper\nfrom utils.show import plotting\n",
    )
    change(book, TOOLS, "+ moved(by)", "+ moved(by) + plotting.curves()")
    before = mark(book)
    change(book, "utils/show/plotting.py", "return 1", "return 2")
    assert mark(book) == before


def test_a_module_that_is_handed_on_counts_as_a_whole(book):
    change(book, TOOLS, "deeper.times(x, by)", "getattr(deeper, by)(x)")
    before = mark(book)
    change(book, DEEPER, "return 6", "return 7")
    assert mark(book) != before


def test_it_is_known_what_is_reached(book):
    code = Canonical(Modules(book / GROWTH, book), ("width", "seed"))
    text = code.text(("measure", "data"))
    reached = {".".join(filter(None, (p.module, p.owner, p.name))) for p in code.numbers}
    layers = ("OFFSET", "LIMIT", "Settings", "Layer", "Deep", "doubled", "decorated", "opened")
    methods = ("Layer.size", "Layer.grow", "Deep.__init__", "Deep.found", "Deep.forward")
    assert reached == {
        *("measure", "data", "START", "utils.layers.at import", "utils.layers.stretched"),
        *(f"utils.layers.{name}" for name in layers + methods),
        *("utils.checks.check_size", "utils.data.tools.scaled", "utils.data.deeper.times"),
        *("utils.data.deeper.constant", "utils.data.origin.moved", "utils.data.late.LATE"),
    }
    assert not {"decorated", "broad", "found", "check_size"} & {*re.findall(r"\w+", text)}
    assert {"width", "seed", "torch", "value", "flag"} <= {*re.findall(r"\w+", text)}


def test_every_release_of_python_writes_the_same_form(book):
    (book / GROWTH).write_text("def measure(x):\n    'says'\n    return f'{x:.2f} {None}'\n")
    text = Canonical(Modules(book / GROWTH, book), ("x",)).text(("measure",))
    assert text == (
        "\n0: FunctionDef[0, 1, 0, 0]False([]v0 x [Return(value=JoinedStr(values=[FormattedValue("
        "value=v0 conversion=-1 format_spec=JoinedStr(values=['.2f' , ])), ' ' , FormattedValue("
        "value=None conversion=-1 ), ])), ])"
    )


@pytest.fixture(scope="module")
def copied(tmp_path_factory) -> Path:
    """This book's code, to be renamed."""
    book = tmp_path_factory.mktemp("book")
    for folder in ("utils", "experiments"):
        shutil.copytree(ROOT / folder, book / folder, ignore=shutil.ignore_patterns("*.json"))
    return book


def marks(book: Path) -> dict[str, str]:
    found = {}
    for name in names():
        parameters = load_script(name).PARAMETERS
        script = book / "experiments" / f"{name}.py"
        found[name] = fingerprint(script, ("measure", "data"), parameters, book=book)
    return found


def test_a_rename_in_this_book_makes_no_experiment_stale(copied):
    """A function of `fit`, a check, a module and a class, as an author may call them otherwise."""
    before = marks(copied)
    assert rename(copied, "train_epoch", "one_epoch") >= 2
    assert rename(copied, "check_sizes", "check_whole_sizes") > 10
    assert rename(copied, "SelfAttentionTagger", "NamesWords") > 3
    assert rename(copied, r"utils\.arguments", "utils.refusals") > 5
    (copied / "utils" / "arguments.py").rename(copied / "utils" / "refusals.py")
    assert marks(copied) == before
