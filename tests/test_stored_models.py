"""Stored models: written whole, read back with a check, given to a page and never to a notebook."""

import errno
import re
import subprocess
import sys
from pathlib import Path

import nbformat
import numpy as np
import pytest
import torch
from kernels import execute
from nbformat.v4 import new_code_cell, new_notebook
from torch import nn

from utils.pretraining.rounded import round_weight
from utils.show.views import models
from utils.show.views.models import ModelError, load, store
from utils.tasks.rounded import in_int8


class Tied(nn.Module):
    """A table that is the output as well, a norm, and a kernel."""

    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.table, self.norm = nn.Embedding(7, 4), nn.LayerNorm(4)
        self.output = nn.Linear(4, 7, bias=False)
        self.output.weight = self.table.weight
        self.kernel = nn.Conv2d(2, 3, 3)


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Path:
    monkeypatch.setattr(models, "FOLDER", tmp_path / "models")
    return tmp_path / "models"


def small() -> dict:
    return in_int8(Tied())


def test_a_model_comes_back_as_it_was_stored(folder):
    weights = small()
    assert list(weights) == ["table.weight", "norm.weight", "norm.bias", "kernel.weight"] + (
        ["kernel.bias"]
    )
    path = store("tied", weights, made_by="tests", heads=2, characters="a<b")
    assert path == folder / "tied.js" and [*folder.iterdir()] == [path]
    header, found = load("tied")
    assert header["name"] == "tied" and header["made_by"] == "tests" and header["heads"] == 2
    assert header["characters"] == "a<b" and re.fullmatch("[0-9a-f]{64}", header["sha256"])
    assert found.keys() == weights.keys()
    for name, parts in weights.items():
        for ours, theirs in zip(found[name], parts, strict=True):
            assert ours.dtype == theirs.dtype
            np.testing.assert_array_equal(ours, theirs)


def test_a_kernel_is_rounded_by_its_rows(folder):
    weight = Tied().kernel.weight.detach()
    whole, scale = in_int8(Tied())["kernel.weight"]
    expected = round_weight(weight.flatten(1))
    assert whole.shape == (3, 18) and scale.shape == (3, 1)
    np.testing.assert_array_equal(whole, expected.whole.numpy())


def test_the_script_ends_no_script_and_is_the_same_each_time(folder):
    path = store("tied", small(), made_by="tests", characters="</script>")
    text = path.read_text("ascii")
    assert "<" not in text and text.count("\n") == 1
    assert store("tied", small(), made_by="tests", characters="</script>").read_text() == text
    header = load("tied").header
    store("tied", small(), made_by="tests", characters="others")
    assert load("tied").header["sha256"] != header["sha256"]


@pytest.mark.parametrize(
    "damage",
    [
        lambda text: text[:-1000],
        lambda text: text[:300] + text[301:],
        lambda text: text.replace('"made_by":"tests"', '"made_by":"others"'),
        lambda text: text.replace('"bytes":"', '"bytes":"AAAA'),
        lambda text: text.replace("tied", "other"),
        lambda text: "é" + text,
        lambda text: "",
        lambda text: "[]",
        lambda text: re.sub("= {.*};", "= [1];", text),
    ],
)
def test_a_damaged_file_is_told_in_a_sentence(folder, damage):
    path = store("tied", small(), made_by="tests")
    path.write_text(damage(path.read_text("ascii")), encoding="utf-8")
    with pytest.raises(ModelError, match=" tied.js .*damaged.* anew"):
        load("tied")


def test_a_missing_file_is_told_with_those_that_are_there(folder):
    with pytest.raises(ModelError, match="'tied'.* none. .* anew"):
        load("tied")
    store("tied", small(), made_by="tests")
    with pytest.raises(ModelError, match="'free'.* tied. .* anew"):
        load("free")
    (folder / "folder.js").mkdir()
    with pytest.raises(ModelError, match="folder.js .*read .* anew"):
        load("folder")


def test_where_there_is_no_room_the_old_file_stays(folder, monkeypatch):
    path = store("tied", small(), made_by="tests")
    before = path.read_text()

    def full(self, *_, **__):
        self.touch()
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "write_text", full)
    with pytest.raises(ModelError, match="written .*No space left"):
        store("tied", small(), made_by="others")
    assert path.read_text() == before and [*folder.iterdir()] == [path]


def test_a_model_of_this_session_is_found_and_not_written(folder, monkeypatch):
    monkeypatch.setattr(models, "KEPT", {})
    models.keep("mine", small(), heads=2)
    header, found = load("mine")
    assert header["heads"] == 2 and header["made_by"] == "this session" and not folder.exists()
    assert found.keys() == small().keys()
    script = store("mine", small(), heads=2, made_by="this session").read_text("ascii")
    assert script == models.KEPT["mine"]  # else a view would take one for the other
    with pytest.raises(ValueError, match="letters, digits and _"):
        models.keep("../mine", small())


ONE = np.ones((2, 3), np.int8), np.ones((2, 1), np.float32)


@pytest.mark.parametrize(
    ("weights", "said"),
    [
        ({}, "and weights, got 'tied'"),
        ({"W": (ONE[0],)}, "'W' should be int8"),
        ({"W": (ONE[0], ONE[1].T)}, "'W' should be int8"),
        ({"W": (ONE[0].astype(np.float32), ONE[1])}, "'W' should be int8"),
        ({"b": (np.ones(3, np.int8),)}, "'b' should be int8"),
        ({"b": (np.ones(0, np.float32),)}, "'b' should be int8"),
        ({"b": (np.array([1, np.nan], np.float32),)}, "'b' has a number that is NaN"),
        ({"W": (ONE[0], np.full((2, 1), np.inf, np.float32))}, "'W' has a number that is NaN"),
    ],
)
def test_what_is_no_model_is_refused(folder, weights, said):
    with pytest.raises(ValueError, match=said):
        store("tied", weights, made_by="tests")
    with pytest.raises(ValueError, match="letters, digits and _"):
        store("../tied", small(), made_by="tests")
    assert not folder.exists()


HANDED = """
from pathlib import Path
from utils.show.views import models
models.FOLDER = Path({!r})
models.hand_over("tied")
print("done")
"""


def test_no_output_of_a_stored_notebook_holds_weights(folder):
    store("tied", small(), made_by="tests")
    notebook = new_notebook(cells=[new_code_cell(HANDED.format(str(folder)))])
    execute(notebook)
    nothing, printed = notebook.cells[0].outputs
    assert nothing.data == {} and printed.text == "done\n"
    nbformat.validate(notebook)


def test_outside_of_a_notebook_nothing_is_handed_over(folder):
    store("tied", small(), made_by="tests")
    code = HANDED.format(str(folder))
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout.splitlines() == ["{}", "done"] and not done.stderr
