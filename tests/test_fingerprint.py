"""Places and sentences make no result stale; whatever may change a number does."""

import ast
from pathlib import Path

import numpy as np
import pytest
import torch

from utils.measure.fingerprint import Modules, fingerprint, modules

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


def mark(book: Path, data=(), roots=("measure", "data")) -> str:
    return fingerprint(book / "experiments" / "growth.py", roots, data, book)


def change(book: Path, file: str, old: str, new: str) -> None:
    path = book / file
    text = path.read_text(encoding="utf-8")
    assert text.count(old) == 1, f"{old!r} must stand once in {file}"
    path.write_text(text.replace(old, new), encoding="utf-8")


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
        (LAYERS, "    def unused_method(self):\n        return 1", "    unused = 1"),
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
        (LAYERS, "from torch import nn", "from backend import nn"),
        # an order, of calls or of arguments
        (TOOLS, "deeper.times(x, by) + moved(by)", "moved(by) + deeper.times(x, by)"),
        (TOOLS, "deeper.times(x, by)", "deeper.times(by, x)"),
        (LAYERS, "def stretched(x, by, less)", "def stretched(x, less, by)"),
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
        # docstrings, comments, annotations, form, sentences
        (GROWTH, '    """Measure it."""\n', ""),
        (GROWTH, "How fast", "How slowly"),
        (GROWTH, "width: int, seed: int) -> dict:", "width, seed):"),
        (GROWTH, "import math\n", "import math\nimport json\n"),
        (LAYERS, "  # a comment", ""),
        (LAYERS, '    """A base class."""', '    """Another\n    docstring."""'),
        (LAYERS, '    """Twice."""\n', ""),
        (LAYERS, "depth: int\n", "depth: float | None\n"),
        (LAYERS, "OFFSET = 10", 'OFFSET = (\n    10\n)\n"""What it is for."""'),
        (LAYERS, "No {problem} in {pair}: take others.", "Take others than {problem}."),
        ("utils/checks.py", "A size is at least 1, got {described(size)}.", "{size} is too small."),
        # what nobody calls
        ("utils/checks.py", "a {type(x)", "one {type(x)"),
        (GROWTH, "nobody calls", "somebody calls"),
        (LAYERS, "UNUSED = 0", "UNUSED = 1"),
        (LAYERS, "class Unrelated(nn.Module):\n    pass", "class Unrelated:\n    x = 1"),
        (LAYERS, "return Unrelated()", "return None"),
        (TOOLS, "return 5", "return 6"),
        (DEEPER, "return 6", "return 7"),
        (DEEPER, "only as", "not only as"),
        ("utils/data/elsewhere.py", "OTHER = 1", "OTHER = 2"),
    ],
)
def test_what_cannot_change_a_number_makes_nothing_stale(book, file, old, new):
    before = mark(book)
    change(book, file, old, new)
    assert mark(book) == before


def test_a_definition_may_stand_in_another_module_and_in_another_order(book):
    before = mark(book)
    text = (book / DEEPER).read_text()
    constant = "def constant():\n    return 1\n"
    (book / DEEPER).write_text("from utils.numbers import constant\n" + text.replace(constant, ""))
    (book / "utils" / "numbers.py").write_text("import json\n\n\n" + constant)
    (book / "utils" / "checks.py").rename(book / "utils" / "data" / "guards.py")
    change(book, LAYERS, "from utils.checks", "from utils.data.guards")
    text = (book / LAYERS).read_text()
    function = text[text.index("def stretched") : text.index("class Unrelated")]
    text = text.replace(function, "").replace("def doubled", f"{function}def doubled")
    (book / LAYERS).write_text(text)
    assert mark(book) == before


def test_two_definitions_of_one_name_that_change_places_are_noticed(book):
    late = book / "utils" / "data" / "late.py"
    late.write_text("LATE = constant()\n\n\ndef constant():\n    return 3\n")
    before = mark(book)
    change(book, "utils/data/late.py", "return 3", "return 1")
    change(book, DEEPER, "return 1", "return 3")
    assert mark(book) != before


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


@pytest.mark.parametrize(
    "module, same",
    [
        ("utils.show.plotting", True),
        ("utils.training.runs", True),
        ("utils.training.checkpoints", True),
        ("utils.training.loop", False),
    ],
)
def test_how_a_result_is_drawn_and_a_run_is_kept_makes_nothing_stale(book, module, same):
    package, _, name = module.rpartition(".")
    file = Path(*module.split(".")).with_suffix(".py")
    (book / file).parent.mkdir(exist_ok=True)
    (book / file).with_name("__init__.py").touch()
    (book / file).write_text("def found():\n    return 1\n")
    change(
        book,
        TOOLS,
        "from . import deeper\n",
        f"from . import deeper\nfrom {package} import {name}\n",
    )
    change(book, TOOLS, "+ moved(by)", f"+ moved(by) + {name}.found()")
    before = mark(book)
    change(book, file, "return 1", "return 2")
    assert (mark(book) == before) is same


def test_a_module_that_is_handed_on_counts_as_a_whole(book):
    change(book, TOOLS, "deeper.times(x, by)", "getattr(deeper, by)(x)")
    before = mark(book)
    change(book, DEEPER, "return 6", "return 7")
    assert mark(book) != before


def test_it_is_known_what_is_reached(book):
    found = Modules(book / GROWTH, book).reached(("measure", "data"))
    layers = ("at import", "OFFSET", "LIMIT", "Settings", "Layer", "Deep", "doubled", "decorated")
    assert {f"{module}.{name}".lstrip(".") for module, name in found} == {
        *("measure", "data", "START", "utils.layers.opened", "utils.layers.stretched"),
        *(f"utils.layers.{name}" for name in layers),
        *("utils.checks.check_size", "utils.data.tools.scaled", "utils.data.deeper.times"),
        *("utils.data.deeper.constant", "utils.data.origin.moved", "utils.data.late.LATE"),
    }


PAGE = """\
# %% [markdown]
# # A page

# %%
import math

from utils.data.tools import scaled

# %%
rate = 1  # a comment
print(scaled(rate, math.pi))

# %%
rate = 2
print(scaled(rate, math.pi))
"""


@pytest.mark.parametrize(
    ("file", "old", "new", "same"),
    [
        ("page.py", "# # A page", "# # Another page\n# with more text", True),
        ("page.py", "  # a comment", "", True),
        (TOOLS, "return 5", "return 6", True),
        ("page.py", "rate = 2", "rate = 3", False),
        ("page.py", "import math\n", "import cmath as math\n", False),
        (DEEPER, "x * by", "x / by", False),
    ],
)
def test_of_a_page_its_code_cells_count_and_what_they_reach(book, file, old, new, same):
    page = book / "page.py"
    page.write_text(PAGE)
    before = fingerprint(page, book=book)
    change(book, file, old, new)
    assert (fingerprint(page, book=book) == before) == same


def test_of_a_page_the_order_of_its_statements_counts(book):
    page = book / "page.py"
    page.write_text(PAGE)
    before = fingerprint(page, book=book)
    page.write_text(PAGE.replace("rate = 1", "rate = 3").replace("rate = 2", "rate = 1"))
    swapped = fingerprint(page, book=book)
    page.write_text(
        PAGE.replace(
            "rate = 2\nprint(scaled(rate, math.pi))", "print(scaled(rate, math.pi))\nrate = 2"
        )
    )
    assert len({before, swapped, fingerprint(page, book=book)}) == 3


def test_every_release_of_python_writes_the_same_form(book):
    (book / GROWTH).write_text("def measure(x):\n    'says'\n    return f'{x:.2f} {None}'\n")
    (text,) = Modules(book / GROWTH, book).reached(("measure",)).values()
    assert text == (
        "[FunctionDef(name='measure', args=arguments(args=[arg(arg='x')]), body=[Return(value="
        "JoinedStr(values=[FormattedValue(value=x, conversion=-1, format_spec=JoinedStr(values=["
        "'.2f'])), ' ', FormattedValue(value=None, conversion=-1)]))])]"
    )


def test_a_text_is_read_once(book):
    mark(book)
    read = modules._parsed.cache_info().misses
    mark(book)
    assert modules._parsed.cache_info().misses == read
    change(book, DEEPER, "return 1", "return 11")
    mark(book)
    assert modules._parsed.cache_info().misses == read + 1


def test_an_empty_text_that_early_releases_of_3_12_put_into_a_format_is_left_out():
    tree = ast.parse("f'{amount:{form}} of it'")
    (held, _) = tree.body[0].value.values
    written = modules._written(tree, {})
    held.format_spec.values.append(ast.Constant("after it"))
    assert modules._written(tree, {}) != written
    held.format_spec.values[-1] = ast.Constant("")
    assert modules._written(tree, {}) == written
