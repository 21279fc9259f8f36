"""Day 9's GPT in one process of a group: the same bits as without one, and its command."""

import sys

import pytest
import torch

from utils.data.batches import Batches
from utils.tasks import many_processes as task
from utils.training.loop import fit
from utils.training.processes import process_group
from utils.training.recipes import rise_and_fall


@pytest.fixture
def group(tmp_path):
    """A group of this process alone."""
    with process_group((0, 1, str(tmp_path))) as rank:
        yield rank


def test_windows_are_the_text_piece_by_piece():
    text, rows = task.task().ids["validation"], task.windows("validation", 3)
    assert rows.shape == (3, task.T + 1)
    assert torch.equal(rows.flatten(), text[: rows.numel()])
    assert len(task.windows("train")) == len(task.task().ids["train"]) // (task.T + 1)


def test_a_group_of_one_takes_the_steps_of_no_group_to_the_bit(group, tmp_path):
    assert group == 0
    rows = task.windows("train", 20)
    model = task.writer()
    history = task.train(model, rows, epochs=2, batch_size=8, checkpoint=tmp_path / "checkpoint")
    alone = task.writer()
    batches = Batches(rows[:, :-1], rows[:, 1:], batch_size=8, shuffle=True)
    optimiser, schedule = rise_and_fall(alone, task.RATE, 2 * 3)
    plain = fit(alone, batches, task.loss, optimiser, epochs=2, schedule=schedule)
    assert history.step_loss == plain.step_loss and len(history.validation["loss"]) == 2
    for ours, theirs in zip(model.parameters(), alone.parameters(), strict=True):
        assert torch.equal(ours, theirs)
    assert (tmp_path / "checkpoint").exists()


def test_under_torchrun_the_command_trains_and_rank_0_tells(monkeypatch, tmp_path, capsys):
    monkeypatch.setenv("RANK", "0")
    folders = iter("ab")

    def started() -> object:
        (folder := tmp_path / next(folders)).mkdir()
        return process_group((0, 1, str(folder)))

    monkeypatch.setattr(task, "process_group", started)
    few = task.windows("train", 16)
    monkeypatch.setattr(task, "windows", lambda part, n=None: few)
    where = ["--epochs", "2", "--checkpoint", str(tmp_path / "checkpoint")]
    monkeypatch.setattr(sys, "argv", ["many_processes", *where])
    task.main()
    first, second = capsys.readouterr().out.strip().splitlines()
    assert first.startswith("epoch 1: ") and second.startswith("epoch 2: ")
    task.main()  # goes on from the checkpoint, which is at its end
    assert capsys.readouterr().out.strip().splitlines() == [first, second]


def test_without_torchrun_the_command_starts_the_processes_itself(monkeypatch):
    monkeypatch.delenv("RANK", raising=False)
    started = []
    monkeypatch.setattr(task, "launch", lambda *what, **how: started.append((what, how)))
    monkeypatch.setattr(sys, "argv", ["many_processes", "--processes", "3", "--checkpoint", "x"])
    monkeypatch.setattr(task.os, "cpu_count", lambda: 8)
    task.main()
    assert started == [((task.train_and_tell, 10, "x"), {"processes": 3, "threads": 2})]


@pytest.mark.parametrize("option", ["--processes", "--epochs"])
def test_nothing_to_do_is_refused_in_a_sentence(option, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["many_processes", option, "0"])
    with pytest.raises(SystemExit):
        task.main()
    assert capsys.readouterr().err.endswith(f"argument {option}: 0 is less than 1\n")
