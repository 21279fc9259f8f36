"""The processes of one training: how they are started, find each other, and end together.

`torchrun`, or `launch`, starts them, all with the same script; each has a rank, from 0. They talk
by nccl where there are GPUs, else by gloo.
"""

import logging
import os
import threading
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from tempfile import TemporaryDirectory

import torch
import torch.distributed as dist
from torch.distributed.elastic.multiprocessing import DefaultLogsSpecs
from torch.distributed.elastic.multiprocessing.errors import ChildFailedError, ProcessFailure
from torch.distributed.launcher import LaunchConfig, elastic_launch


class ProcessError(RuntimeError):
    """Processes that can't work together: the message says why, and what to do."""


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
    done = threading.Event()
    threading.Thread(target=end_with, args=(os.getppid(), done), daemon=True).start()
    try:
        yield dist.get_rank()
    finally:
        done.set()
        dist.destroy_process_group()


def end_with(parent: int, done: threading.Event) -> None:
    """End this process once what has started it is gone, or it would train on unseen."""
    while not done.wait(0.1):
        if os.getppid() != parent:
            os._exit(1)
