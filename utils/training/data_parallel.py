"""`fit` in several processes, on one machine or many: each computes the gradient of its shard.

PyTorch's DistributedDataParallel averages the gradients of all processes while the backward pass
still runs, so that all take the same step (Li et al., 2020).
"""

import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import wraps
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.nn.parallel import DistributedDataParallel

from utils.training.checkpoints import usable
from utils.training.loop import History, device_of, fit, unpacked
from utils.training.processes import ProcessError
from utils.training.runs import describe


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
    if on_gpus():
        model.cuda()
    device = device_of(model)
    names = [*(metrics or {}), validation is not None]
    settings = describe(model, optimiser, schedule, loss, seed, names)
    check_alike(settings | {"number of epochs": str(epochs)})
    replica = DistributedDataParallel(model)
    last = [torch.tensor(0.0)]  # this process's loss, of its shard

    def of_shard(outputs, target: Tensor) -> Tensor:
        value = loss(outputs, target)
        last[0] = value.detach()
        return value

    with own_checkpoint(checkpoint) as own, told_if_alone(), told_by_its_maker(last):
        return fit(
            replica,
            Shards(batches, device),
            wraps(loss)(over_whole(of_shard)),
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
    path, held = usable(checkpoint), [None]
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
    """Whether the processes talk by nccl, which they do where there are GPUs."""
    return dist.get_backend() == "nccl"


def check_alike(settings: dict[str, str]) -> None:
    """Raise a ProcessError, in each process, if they were called with different settings."""
    said = [None] * dist.get_world_size()
    dist.all_gather_object(said, settings)
    unlike = [name for name in settings if len({other.get(name) for other in said}) > 1]
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
def told_by_its_maker(last: list[Tensor]) -> Iterator[None]:
    """Let all processes say why the loss became infinite or NaN, as that one says which made it."""
    try:
        yield
    except FloatingPointError as error:
        said = [None] * dist.get_world_size()
        dist.all_gather_object(said, (bool(last[0].isfinite()), str(error)))
        for rank, (ordinary, sentence) in enumerate(said):
            if not ordinary:
                raise FloatingPointError(f"{sentence} (in process {rank})") from error
        raise


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
