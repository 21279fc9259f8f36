"""Day 9's GPT, trained in several processes: `make train PROCESSES=2`, or under `torchrun`."""

import argparse
import os
import sys
import time
from collections.abc import Callable
from functools import cache

import torch
import torch.distributed as dist
from torch import Tensor

from utils.data.batches import Batches
from utils.data.files import DatasetError, cache_folder
from utils.tasks.writing import RATE, T, Writing
from utils.training.checkpoints import CheckpointError
from utils.training.data_parallel import fit_data_parallel
from utils.training.loop import History
from utils.training.processes import ProcessError, launch, process_group
from utils.training.recipes import rise_and_fall, tag_loss
from utils.transformer import DecoderOnly, TransformerConfig

task = cache(Writing)


def windows(part: str, n: int | None = None) -> Tensor:
    """The first n pieces of a part of the text, T tokens and the one that follows: (n, T + 1)."""
    text = task().ids[part]
    return text[: len(text) // (T + 1) * (T + 1)].view(-1, T + 1)[:n]


def writer() -> DecoderOnly:
    """The lesson's GPT, made of the book's blocks."""
    torch.manual_seed(0)
    sizes = {"d_model": 96, "n_heads": 4, "d_ff": 384, "n_layers": 2, "dropout": 0.0}
    kinds = {"norm": "pre", "activation": "gelu", "positions": "rotary"}
    return DecoderOnly(TransformerConfig(len(task().tokens), **sizes, **kinds))


def loss(outputs: tuple, target: Tensor) -> Tensor:
    """Mean surprise of the next tokens. Shapes: logits (B, T, V) and a state; target (B, T)."""
    return tag_loss(outputs[0], target)


def train(
    model: DecoderOnly,
    rows: Tensor,
    *,
    epochs: int,
    batch_size: int = 64,
    loss: Callable = loss,
    checkpoint: str | None = None,
) -> History:
    """Train a writer on pieces of text (n, T + 1), in the processes of this group.

    batch_size: of all processes together.
    """
    held_out = windows("validation")
    batches = Batches(rows[:, :-1], rows[:, 1:], batch_size=batch_size, shuffle=True)
    optimiser, schedule = rise_and_fall(model, RATE, epochs * len(batches))
    return fit_data_parallel(
        model,
        batches,
        loss,
        optimiser,
        epochs=epochs,
        schedule=schedule,
        validation=Batches(held_out[:, :-1], held_out[:, 1:], batch_size=256),
        checkpoint=checkpoint,
    )


def steps_taken(batch_size: int = 32) -> tuple[list[float], float, float]:
    """The losses of 20 steps in double precision; what a step takes in single precision.

    That is the median of 40, in seconds and in seconds of this process's processor time.
    """
    rows, clocks = windows("train", 20 * batch_size), []
    exact = train(writer().double(), rows, epochs=1, batch_size=batch_size)

    def timed(outputs: tuple, target: Tensor) -> Tensor:
        if torch.is_grad_enabled():  # in training
            clocks.append((time.perf_counter(), time.process_time()))
        return loss(outputs, target)

    train(writer(), rows, epochs=2, batch_size=batch_size, loss=timed)
    steps = torch.tensor(clocks, dtype=torch.float64).diff(dim=0)
    return exact.step_loss, *steps.median(dim=0).values.tolist()


# The command --------------------------------------------------------------------------------------


def train_and_tell(epochs: int, checkpoint: str) -> None:
    """Train in the processes of this group; the first one says how it went."""
    history = train(writer(), windows("train"), epochs=epochs, checkpoint=checkpoint)
    if dist.get_rank() == 0:
        losses = zip(history.train["loss"], history.validation["loss"], strict=True)
        for epoch, (train_loss, validation_loss) in enumerate(losses, 1):
            print(f"epoch {epoch}: {train_loss:.3f}, of the validation text {validation_loss:.3f}")


def at_least_one(text: str) -> int:
    """A number of processes or epochs, at least one."""
    if (number := int(text)) < 1:
        raise argparse.ArgumentTypeError(f"{number} is less than 1")
    return number


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m utils.tasks.many_processes",
        description="Train Day 9's GPT in several processes of this machine, or in torchrun's.",
    )
    parser.add_argument(
        "--processes", type=at_least_one, default=2, help="of this machine (default: 2)"
    )
    parser.add_argument(
        "--epochs", type=at_least_one, default=10, help="through the text (default: 10)"
    )
    parser.add_argument(
        "--checkpoint", default=str(cache_folder() / "gpt.checkpoint"), help="goes on from it"
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
    except (ProcessError, CheckpointError, DatasetError) as error:
        sys.exit(str(error))
    except KeyboardInterrupt:
        sys.exit("Stopped. The same command goes on from the last epoch.")
