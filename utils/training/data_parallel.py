"""`fit` in several processes, on one machine or many: each computes the gradient of its shard.

`torchrun`, or `launch`, starts the processes, all with the same script and data; each has a rank,
from 0. PyTorch's DistributedDataParallel averages their gradients while the backward pass still
runs, so that all take the same step (Li et al., 2020). They talk by nccl on GPUs, else by gloo.
"""

import logging
import os
import threading
import time
import uuid
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.distributed.elastic.multiprocessing import DefaultLogsSpecs
from torch.distributed.elastic.multiprocessing.errors import ChildFailedError, ProcessFailure
from torch.distributed.launcher import LaunchConfig, elastic_launch
from torch.nn.parallel import DistributedDataParallel

from utils.training.checkpoints import describe
from utils.training.loop import History, fit, place, unpacked


class ProcessError(RuntimeError):
    """Processes that can't work together: the message says why, and what to do."""


# The processes ------------------------------------------------------------------------------------


def launch(work: Callable, *arguments: object, processes: int, threads: int = 1) -> list:
    """Run `work(*arguments)` in several processes of this machine, as `torchrun --standalone` does.

    work: a function of a module, which every process imports.
    threads: with which each process computes.
    Returns: what each process returned, by rank.
    Raises: ProcessError if a process fails; the others are then stopped.
    """
    logging.getLogger(DefaultLogsSpecs.__module__).setLevel(logging.CRITICAL)  # told below
    with TemporaryDirectory() as folder:
        config = LaunchConfig(
            min_nodes=1,
            max_nodes=1,
            nproc_per_node=processes,
            run_id=uuid.uuid4().hex,
            rdzv_backend="c10d",
            rdzv_endpoint="localhost:0",  # any free port
            local_addr="localhost",
            max_restarts=0,
            logs_specs=DefaultLogsSpecs(folder, local_ranks_filter={0}),  # what rank 0 prints
            signals_to_handle="SIGQUIT",  # the stop button stays Python's
        )
        try:
            returned = elastic_launch(config, in_group)(threads, work, *arguments)
        except ChildFailedError as error:
            raise failed(*error.get_first_failure()) from None
    return [returned[rank] for rank in range(processes)]


def failed(rank: int, failure: ProcessFailure) -> ProcessError:
    """What a process said when it failed, and where, if it could say anything."""
    if not isinstance(failure.message, dict):  # it was killed
        return ProcessError(f"Process {rank} failed: {failure.message}.")
    said, where = failure.message["message"], failure.message["extraInfo"]["py_callstack"]
    error = ProcessError(f"Process {rank} failed: {said.removeprefix('ProcessError: ')}")
    error.add_note(where)
    return error


def in_group(threads: int, work: Callable, *arguments: object) -> object:
    """Do the work as one of the processes."""
    torch.set_num_threads(threads)
    with process_group():
        return work(*arguments)


@contextmanager
def process_group() -> Iterator[int]:
    """Join the processes that were started with this one; gives this one's rank.

    Raises: ProcessError if nothing has started them, or they don't find each other.
    """
    if "RANK" not in os.environ:
        raise ProcessError(
            "This process is alone: start it with `torchrun --nproc-per-node 2`, or by `launch`."
        )
    local, gpus = int(os.environ["LOCAL_RANK"]), torch.cuda.device_count()
    if gpus:
        if local >= gpus:
            raise ProcessError(
                f"This machine has {gpus} GPU{'s' * (gpus > 1)} for more processes: start as many "
                "processes as it has GPUs."
            )
        torch.cuda.set_device(local)
    try:
        dist.init_process_group("nccl" if gpus else "gloo")
    except (dist.DistError, ValueError) as error:
        where = ":".join(os.environ.get(name, "?") for name in ("MASTER_ADDR", "MASTER_PORT"))
        raise ProcessError(
            f"The processes can't meet at {where} ({str(error).splitlines()[0]}): if another "
            "program has that port, choose another, as in `torchrun --master-port 29501`."
        ) from None
    threading.Thread(target=end_with, args=(os.getppid(),), daemon=True).start()
    try:
        yield dist.get_rank()
    finally:
        dist.destroy_process_group()


def end_with(parent: int) -> None:
    """End this process once what has started it is gone, or it would train on unseen."""
    while os.getppid() == parent:
        time.sleep(0.1)
    os._exit(1)


# Training -----------------------------------------------------------------------------------------


def fit_data_parallel(
    model: nn.Module,
    batches,
    loss: Callable,
    optimiser: torch.optim.Optimizer,
    *,
    epochs: int,
    seed: int = 0,
    schedule=None,
    metrics: dict[str, Callable] | None = None,
    validation=None,
    checkpoint: str | Path | None = None,
) -> History:
    """`fit`, with the examples of each batch dealt out to the processes of the group.

    All processes call this alike, within `process_group`. The weights begin as those of rank 0.
    Losses and metrics, which have to be means over examples, are those of the whole batches: n
    processes go the way of one, up to rounding, where nothing is dropped and no layer mixes the
    examples of a batch (BatchNorm does). They shuffle alike, and each drops by lots of its own.

    checkpoint: is written by rank 0, and read by all; another number of processes may go on from
        it, but not `fit` alone.
    Raises: as `fit` does; ProcessError if the processes were called with different settings, get
        different batches, or one of them has gone.
    """
    device = place(model, f"cuda:{torch.cuda.current_device()}" if on_gpus() else None)
    names = [*(metrics or {}), validation is not None]
    settings = describe(model, optimiser, schedule, seed, names)
    check_alike(settings | {"number of epochs": str(epochs)})
    replica = DistributedDataParallel(model)
    with own_checkpoint(checkpoint) as own, told_if_alone():
        return fit(
            replica,
            Shards(batches, device),
            over_whole(loss),
            optimiser,
            epochs=epochs,
            seed=seed,
            schedule=schedule,
            metrics={name: over_whole(metric) for name, metric in (metrics or {}).items()},
            validation=None if validation is None else Shards(validation, device),
            checkpoint=own,
        )


def shard(n: int) -> tuple[slice, float]:
    """Which of n examples are this process's, and what its mean counts in that over processes.

    Where there are fewer examples than processes, some get the first one, which counts nothing.
    """
    rank, world = dist.get_rank(), dist.get_world_size()
    mine = len(range(rank, n, world))
    return (slice(rank, None, world), world * mine / n) if mine else (slice(1), 0.0)


class Shards:
    """Batches (*inputs, target) with this process's examples in the inputs, and the whole target.

    The batches draw from torch's generator what they would draw in one process; meanwhile it gives
    this process lots of its own.
    """

    def __init__(self, batches, device: torch.device):
        self.batches, self.device = batches, device

    def __iter__(self) -> Iterator[tuple[Tensor, ...]]:
        common = torch.get_rng_state()
        own = np.random.SeedSequence([torch.initial_seed(), dist.get_rank()])
        torch.manual_seed(int(own.generate_state(1, np.uint64)[0]))
        batches = unpacked(self.batches, self.device)
        while True:
            with torch.random.fork_rng(devices=[]):
                torch.set_rng_state(common)
                batch = next(batches, None)
                common = torch.get_rng_state()
            if batch is None:
                torch.set_rng_state(common)
                return
            inputs, target = batch
            check_equal([*inputs, target])
            rows, _ = shard(len(target))
            yield *(x[rows] for x in inputs), target


def over_whole(mean: Callable) -> Callable[[Tensor, Tensor], Tensor]:
    """Make a mean over the whole batch of one over a shard.

    Its gradients are the shard's part: what DistributedDataParallel makes the mean of is the whole
    batch's gradient.
    """

    def whole(outputs, target: Tensor) -> Tensor:
        rows, weight = shard(len(target))
        own = mean(outputs, target[rows])
        own = weight * (own if isinstance(own, Tensor) else torch.tensor(own, dtype=torch.float64))
        total = own.detach().to(target.device, torch.float64, copy=True)
        dist.all_reduce(total)
        value = (total / dist.get_world_size()).to(own)
        return value + (own - own.detach())  # the value of the first, the gradient of the second

    return whole


@contextmanager
def own_checkpoint(checkpoint: str | Path | None) -> Iterator[Path | None]:
    """Give rank 0 its checkpoint, and the other processes a copy of what it holds now."""
    if checkpoint is None:
        yield None
        return
    path, held = Path(checkpoint), [None]
    if dist.get_rank() == 0:
        with suppress(OSError):
            held = [path.read_bytes()]
    dist.broadcast_object_list(held)
    with TemporaryDirectory() as folder:
        if dist.get_rank() != 0:
            path = Path(folder) / path.name
            if held[0] is not None:
                path.write_bytes(held[0])
        yield path


# What can go wrong --------------------------------------------------------------------------------


def on_gpus() -> bool:
    return dist.get_backend() == "nccl"


def check_alike(settings: dict[str, str]) -> None:
    """Raise a ProcessError, in each process, if they were called with different settings."""
    said = [None] * dist.get_world_size()
    dist.all_gather_object(said, settings)
    unlike = [name for name in settings if len({other[name] for other in said}) > 1]
    if unlike:
        raise ProcessError(
            f"The processes differ in their {' and '.join(unlike)}: start all of them with the "
            "same script and the same arguments."
        )


def check_equal(batch: list[Tensor]) -> None:
    """Raise a ProcessError, in each process, if they got different batches."""
    own = 0
    for tensor in batch:
        content = tensor.detach().cpu().contiguous().flatten().view(torch.uint8).numpy()
        own = zlib.crc32(content, zlib.crc32(str(tensor.shape).encode(), own))
    ends = torch.tensor([own, -own], device=batch[0].device)
    dist.all_reduce(ends, dist.ReduceOp.MAX)
    if ends[0] != -ends[1]:
        raise ProcessError(
            "The processes got different batches: all need the same data, in the same order; what "
            "is drawn on the way is to come from torch's generator, which `fit` seeds."
        )


@contextmanager
def told_if_alone() -> Iterator[None]:
    """Say in a sentence that another process has gone, which gloo and nccl say in their words."""
    try:
        yield
    except RuntimeError as error:
        if not isinstance(error, dist.DistError) and "gloo" not in str(error):
            raise
        raise ProcessError(
            f"Process {dist.get_rank()} lost another one, which has ended or can't be reached: "
            "look at what that one said, then start all again; they go on from the checkpoint."
        ) from error
