"""A small GPT that learns in several processes: `make train PROCESSES=2`, or under `torchrun`."""

import argparse
import os
import sys
import time
from collections.abc import Callable
from functools import cache

import torch
import torch.distributed as dist
from torch import Tensor

from utils.data.files import cache_folder
from utils.tasks.writer import ids, vocabulary
from utils.training.checkpoints import CheckpointError
from utils.training.data_parallel import ProcessError, fit_data_parallel, launch, process_group
from utils.training.loop import Batches, History
from utils.training.recipes import rise_and_fall, tag_loss
from utils.transformer import DecoderOnly, TransformerConfig

T = 64  # characters of context


@cache
def windows(part: str) -> Tensor:
    """A part of the text, cut into pieces of T characters and the one that follows: (n, T + 1)."""
    text = ids(part)
    return text[: len(text) // (T + 1) * (T + 1)].view(-1, T + 1)


def writer(dropout: float = 0.0, seed: int = 0) -> DecoderOnly:
    """A GPT with two blocks, 64 wide."""
    torch.manual_seed(seed)
    return DecoderOnly(
        TransformerConfig(
            len(vocabulary()),
            d_model=64,
            n_heads=4,
            d_ff=256,
            n_layers=2,
            norm="pre",
            activation="gelu",
            positions="learned",
            max_len=T,
            dropout=dropout,
        )
    )


def loss(outputs: tuple, target: Tensor) -> Tensor:
    """Mean surprise of the next characters. Shapes: logits (B, T, V) and a state; target (B, T)."""
    return tag_loss(outputs[0], target)


def train(
    model: DecoderOnly,
    *,
    steps: int,
    epochs: int,
    batch_size: int,
    loss: Callable = loss,
    checkpoint: str | None = None,
) -> History:
    """Train a writer in the processes of this group, an epoch being so many steps.

    batch_size: of all processes together.
    """
    rows = windows("train")[: steps * batch_size]
    held_out = windows("validation")[:512]
    optimiser, schedule = rise_and_fall(model, 4e-3, epochs * steps)
    return fit_data_parallel(
        model,
        Batches(rows[:, :-1], rows[:, 1:], batch_size=batch_size, shuffle=True),
        loss,
        optimiser,
        epochs=epochs,
        schedule=schedule,
        validation=Batches(held_out[:, :-1], held_out[:, 1:], batch_size=256),
        checkpoint=checkpoint,
    )


def steps_taken(batch_size: int = 64) -> tuple[list[float], float, float]:
    """The losses of 20 steps in double precision; what a step takes in single precision.

    That is the median of 60, in seconds and in seconds of this process's processor time.
    """
    exact = train(writer().double(), steps=20, epochs=1, batch_size=batch_size)
    clocks = []

    def timed(outputs: tuple, target: Tensor) -> Tensor:
        clocks.append((time.perf_counter(), time.process_time()))
        return loss(outputs, target)

    train(writer(), steps=61, epochs=1, batch_size=batch_size, loss=timed)
    steps = torch.tensor(clocks[:61], dtype=torch.float64).diff(dim=0)  # without validation
    return exact.step_loss, *steps.median(dim=0).values.tolist()


# The command --------------------------------------------------------------------------------------


def train_and_tell(epochs: int, checkpoint: str) -> None:
    """Train in the processes of this group; the first one says how it went."""
    history = train(
        writer(dropout=0.1), steps=100, epochs=epochs, batch_size=64, checkpoint=checkpoint
    )
    if dist.get_rank() == 0:
        losses = zip(history.train["loss"], history.validation["loss"], strict=True)
        for epoch, (train_loss, validation_loss) in enumerate(losses, 1):
            print(f"epoch {epoch}: training {train_loss:.3f}, validation {validation_loss:.3f}")


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m utils.tasks.many_processes",
        description="Train a small GPT in several processes, or under torchrun in its processes.",
    )
    parser.add_argument("--processes", type=int, default=2, help="of this machine (default: 2)")
    parser.add_argument("--epochs", type=int, default=10, help="of 100 steps (default: 10)")
    parser.add_argument(
        "--checkpoint", default=str(cache_folder() / "writer.checkpoint"), help="goes on from it"
    )
    options = parser.parse_args()
    what = options.epochs, options.checkpoint
    if "RANK" in os.environ:  # torchrun has started this
        with process_group():
            train_and_tell(*what)
    else:
        threads = max(1, (os.cpu_count() or 1) // options.processes)
        launch(train_and_tell, *what, processes=options.processes, threads=threads)


if __name__ == "__main__":
    try:
        main()
    except (ProcessError, CheckpointError) as error:
        sys.exit(str(error))
    except KeyboardInterrupt:
        sys.exit("Stopped. The same command goes on from the last epoch.")
