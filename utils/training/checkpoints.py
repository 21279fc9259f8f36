"""Checkpoints: what a training run needs to go on as if it had never been stopped."""

import copy
import hashlib
import io
import os
from contextlib import suppress
from pathlib import Path

import torch
from filelock import FileLock, Timeout

from utils.training.runs import describe

DIGEST = hashlib.sha256().digest_size  # bytes of the checksum, at the start of the file
HISTORY = {  # what `fit` stores of it
    "train": dict,
    "validation": dict,
    "step_loss": list,
    "seconds": list,
    "interrupted": bool,
}


class CheckpointError(Exception):
    """A checkpoint that can't be written, can't be read, or belongs to another run."""


class Checkpoint:
    """The file in which a run keeps its model, optimiser, schedule and history.

    A run is known by its seed, what it measures, its loss and the settings of its model, optimiser
    and schedule (not by its data); another run is refused. Reading the file runs no code from it.
    Within `with`, the file is this run's alone (a hidden file beside it is the lock).

    Raises: CheckpointError if another run has the file now, or nothing can be written beside it.
    """

    def __init__(self, path, model, optimiser, schedule, loss, seed: int, measures: list):
        self.path = usable(path)
        self.parts = {"model": model, "optimiser": optimiser}
        if schedule is not None:
            self.parts["schedule"] = schedule
        self.run = describe(model, optimiser, schedule, loss, seed, measures)
        self.lock = FileLock(self.path.with_name(f".{self.path.name}.lock"), timeout=0)

    def __enter__(self) -> "Checkpoint":
        try:
            self.lock.acquire()
        except Timeout:
            raise CheckpointError(
                f"Another run has the checkpoint {self.path} now: "
                "wait until it has ended, or give another path."
            ) from None
        except OSError as error:
            raise self.unwritten(error) from None
        return self

    def __exit__(self, *_) -> None:
        self.lock.release()

    def save(self, history: dict) -> None:
        """Write the file whole or not at all, whatever happens meanwhile.

        Raises: CheckpointError if it can't be written; the one before it is then still there.
        """
        states = {name: part.state_dict() for name, part in self.parts.items()}
        buffer = io.BytesIO()
        torch.save({"run": self.run, "states": states, "history": history}, buffer)
        content = buffer.getvalue()
        beside = self.path.with_name(self.path.name + ".part")
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with open(beside, "wb") as file:
                file.write(checksum(content) + content)
                file.flush()
                os.fsync(file.fileno())  # on the disk before it gets its name
            os.replace(beside, self.path)
        except OSError as error:
            raise self.unwritten(error) from None
        finally:
            with suppress(OSError):
                beside.unlink()

    def unwritten(self, error: OSError) -> CheckpointError:
        return CheckpointError(
            f"The checkpoint {self.path} could not be written ({error.strerror}): make room or "
            "give another path; a checkpoint from an earlier epoch is still as it was."
        )

    def load(self, epochs: int) -> dict:
        """Put model, optimiser and schedule where the file left them; return its history.

        Returns: an empty history if there is no file.
        Raises: CheckpointError if the file can't be read, is damaged, belongs to another run, or
            has more than `epochs` epochs; model, optimiser and schedule are then as they were.
        """
        if not self.path.exists():
            return {}
        damaged = CheckpointError(
            f"The checkpoint {self.path} is damaged or was not written by `fit`: "
            "delete it to start anew, or give another path."
        )
        try:
            file = self.path.read_bytes()
        except OSError as error:
            raise CheckpointError(
                f"The checkpoint {self.path} could not be read ({error.strerror}): see to that, or "
                "give another path."
            ) from None
        try:
            written, content = file[:DIGEST], file[DIGEST:]
            if written != checksum(content):  # torch.load would not notice a changed weight
                raise ValueError
            stored = torch.load(io.BytesIO(content), map_location="cpu", weights_only=True)
            run = {"loss": self.run.get("loss"), **stored["run"]}  # a nameless one may be any
            states, history = stored["states"], stored["history"]
            done = finished_epochs(history)
        except Exception:
            raise damaged from None
        if other := [name for name in self.run if self.run[name] != run.get(name)]:
            others = " and another ".join(other)
            raise CheckpointError(
                f"The checkpoint {self.path} was written with another {others}: "
                "give another path, or delete it to start anew."
            )
        if done > epochs:
            raise CheckpointError(
                f"The checkpoint {self.path} is at epoch {done} already, beyond the {epochs} "
                "wanted: ask for more epochs, give another path, or delete it to start anew."
            )
        before = {name: copy.deepcopy(part.state_dict()) for name, part in self.parts.items()}
        try:
            if any(states[name].keys() != before[name].keys() for name in self.parts):
                raise ValueError
            for name, part in self.parts.items():
                part.load_state_dict(states[name])
            for weight, state in self.parts["optimiser"].state.items():
                for moment in state.values():
                    if isinstance(moment, torch.Tensor):
                        moment.expand_as(weight)  # or its first step would fail
        except Exception:
            for name, part in self.parts.items():
                part.load_state_dict(before[name])
            raise damaged from None
        return history


def usable(path: str | Path) -> Path:
    """Where a checkpoint is to be: ~ is the home folder, and a link stands for its file.

    Raises: CheckpointError if the path names no file.
    """
    try:
        path = Path(path).expanduser()
        path = path.resolve() if os.path.islink(path) else path
    except RuntimeError as error:  # no such home, a link to itself
        raise CheckpointError(f"The checkpoint can't be at {path}: {error}.") from None
    if not path.name or os.path.exists(path) and not os.path.isfile(path):
        raise CheckpointError(f"{str(path)!r} is no file for a checkpoint: give another path.")
    return path


def finished_epochs(history: dict) -> int:
    """How many epochs a stored history holds. Raises: ValueError if it is none of `fit`'s."""
    kinds = {name: type(part) for name, part in history.items()}
    epochs = [*history["train"].values(), *history["validation"].values(), history["seconds"]]
    numbers = [number for epoch in [*epochs, history["step_loss"]] for number in epoch]
    if (
        kinds != HISTORY
        or len(set(map(len, epochs))) > 1
        or not all(isinstance(number, float) for number in numbers)
    ):
        raise ValueError
    return len(history["seconds"])


def checksum(content: bytes) -> bytes:
    """The SHA-256 of a checkpoint's content, `DIGEST` bytes."""
    return hashlib.sha256(content).digest()
