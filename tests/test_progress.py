"""How far a training is: steps in the page of a notebook, and nothing of them afterwards."""

import re
import subprocess
import sys
from types import SimpleNamespace

import pytest
import torch
from kernels import execute
from nbclient import NotebookClient
from nbformat.v4 import new_code_cell, new_notebook
from torch import nn

from utils import ROOT
from utils.data.batches import Batches
from utils.show import progress
from utils.training import loop

SET_UP = """
import time
import convolution_to_attention
import torch
from utils.data.batches import Batches
from utils.training.loop import fit
from utils.training.recipes import rise_and_fall

def slow(outputs, target):
    time.sleep(0.04)
    return (outputs - target).square().mean()

def train():
    model = torch.nn.Linear(2, 1)
    batches = Batches(torch.ones(40, 2), torch.ones(40, 1), batch_size=2)
    fit(model, batches, slow, torch.optim.SGD(model.parameters(), lr=0.1), epochs=2)
"""


class Listening(NotebookClient):
    """Runs a notebook as a reader does, and keeps what each cell has shown on the way."""

    def process_message(self, msg, cell, cell_index):
        if msg["msg_type"] == "update_display_data":
            shown.append((cell_index, msg["content"]["data"].get("text/html", "")))
        return super().process_message(msg, cell, cell_index)


shown = []


@pytest.fixture(scope="module")
def cells():
    """The cells of a notebook that trains twice, after they were run."""
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("TQDM_DISABLE", raising=False)
        shown.clear()
        notebook = new_notebook(cells=[new_code_cell(SET_UP), new_code_cell("train()\ntrain()")])
        execute(notebook, Listening, resources={"metadata": {"path": str(ROOT)}})
    return notebook.cells


def test_a_training_counts_its_steps_in_the_page_and_says_how_long_it_takes(cells):
    lines = [
        re.search(r"step (\d+) of 40, about (?:\d+:)?\d\d:\d\d left", line)
        for _, line in shown
        if line
    ]
    steps = [int(line[1]) for line in lines]
    assert {cell for cell, _ in shown} == {1} and len(steps) >= 4
    begins = [n for n in range(1, len(steps)) if steps[n] < steps[n - 1]]
    assert len(begins) == 1, f"two trainings: {steps}"  # the second takes the place of the first


def test_when_it_is_done_nothing_of_it_is_left_and_nothing_went_to_stderr(cells):
    assert shown[-1][1] == ""
    assert cells[0].outputs == []
    assert [output.data for output in cells[1].outputs] == [{}]


class Enabled(progress.Steps):
    """As where TQDM_DISABLE is not set when tqdm is imported."""

    def __init__(self, **options):
        super().__init__(**{"disable": False} | options)


@pytest.fixture
def line(monkeypatch):
    """What the line of a training says, one after the other, in what takes itself for a page."""
    said, clock = [], iter(range(10**6))
    place = SimpleNamespace(update=lambda data, raw: said.append(data.get("text/html", "")))
    shell = SimpleNamespace(kernel=True, execution_count=1)
    monkeypatch.setattr(progress, "get_ipython", lambda: shell)
    monkeypatch.setattr(progress, "display", lambda data, **options: place)
    monkeypatch.setattr(progress, "Steps", Enabled)
    monkeypatch.setattr("tqdm.std.time", lambda: next(clock))  # each look is a second later
    for name in ("tqdm", "train_epoch"):
        monkeypatch.setattr(loop, name, getattr(loop, name))
    progress.in_the_page(loop)
    return said


def train(batches, epochs: int, **options) -> None:
    model = nn.Linear(2, 1)
    optimiser = torch.optim.SGD(model.parameters(), lr=0.1)
    loop.fit(model, batches, nn.functional.mse_loss, optimiser, epochs=epochs, **options)


FOUR = Batches(torch.ones(8, 2), torch.ones(8, 1), batch_size=2)


def counted(said: list[str]) -> list[str]:
    return [re.search(r"(\w+ [\d,]+ of [\d,]*\d)", line)[1] for line in said if line]


def test_every_step_is_counted_over_all_epochs(line):
    train(FOUR, 2, validation=FOUR)
    assert counted(line) == [f"step {n} of 8" for n in range(1, 9)] and line[-1] == ""
    assert [left for said in line[:-1] for left in re.findall(r"about (\S+) left", said)] == [
        f"00:{seconds:02}" for seconds in range(21, -1, -3)
    ]  # with a second for each look at the clock


def test_a_training_that_goes_on_from_its_checkpoint_counts_on(line, tmp_path):
    train(FOUR, 1, checkpoint=tmp_path / "run")
    line.clear()
    train(FOUR, 3, checkpoint=tmp_path / "run")
    assert counted(line) == [f"step {n} of 12" for n in range(5, 13)]


def test_of_batches_of_an_unknown_number_epochs_are_counted(line):
    class Endless:
        def __iter__(self):
            return iter(FOUR)

    train(Endless(), 2)
    assert counted(line) == ["epoch 1 of 2", "epoch 2 of 2"] and line[-1] == ""


def test_a_training_that_breaks_off_leaves_nothing(line):
    with pytest.raises(FloatingPointError):
        train([*FOUR, (torch.ones(2, 2), torch.full((2, 1), torch.inf))], 1)
    assert counted(line)[-1] == "step 4 of 5" and line[-1] == ""


def test_without_a_notebook_the_loop_stays_as_it_is():
    code = "import convolution_to_attention; from utils.training import loop; print(loop.tqdm)"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert done.stdout == "<class 'tqdm.std.tqdm'>\n"
