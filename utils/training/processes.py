"""The processes of one training: how they are started, find each other, and end together.

`launch` starts them on this machine, where they meet in a file and talk over its loopback alone;
`torchrun` on several. All run the same script; each has a rank, from 0. They talk by nccl where
there are GPUs, else by gloo.
"""

import multiprocessing
import os
import pickle
import signal
import socket
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from pathlib import Path

import torch
import torch.distributed as dist

PATIENCE = 10  # seconds that a process which was told to end may take for it


class ProcessError(RuntimeError):
    """Processes that can't work together: the message says why, and what to do."""


def launch(work: Callable, *arguments: object, processes: int, threads: int = 1) -> list:
    """Run `work(*arguments)` in several processes of this machine, a group.

    work: a function of a module, which every process imports. What rank 0 prints is seen.
    threads: with which each process computes.
    Returns: what each process returned, by rank.
    Raises: ProcessError if a process fails; the others are then stopped.
    """
    if processes < 1:
        raise ProcessError(f"{processes} processes can't train anything: start at least 1.")
    spawn = multiprocessing.get_context("spawn")
    started = {}  # where a process is heard: the process
    with tempfile.TemporaryDirectory() as folder:
        try:
            for rank in range(processes):
                heard, said = spawn.Pipe(duplex=False)
                place = rank, processes, folder
                process = spawn.Process(
                    target=in_group, args=(place, threads, said, work, arguments)
                )
                process.start()
                said.close()  # here, so that nothing is heard of a process that has gone
                started[heard] = process
            returned = hear(started)
            for process in started.values():
                process.join()  # it may still be printing
            return returned
        finally:
            for process in started.values():
                process.terminate()
            for process in started.values():
                process.join(PATIENCE)
                process.kill()
                process.join()


def hear(started: dict[Connection, BaseProcess]) -> list:
    """Wait for what all processes return, by rank, or for the first failure."""
    ranks = {heard: rank for rank, heard in enumerate(started)}
    returned = {}
    while len(returned) < len(started):
        failures = []
        for heard in wait([heard for heard in started if ranks[heard] not in returned]):
            rank = ranks[heard]
            try:
                at, sentence, where, value = pickle.loads(heard.recv_bytes())
            except EOFError:  # it has gone without a word
                started[heard].join()
                at, sentence, where = 0.0, ended(started[heard].exitcode), ""
            if sentence:
                failures.append((at, rank, sentence, where))
            else:
                returned[rank] = value
        if failures:
            _, rank, sentence, where = min(failures)  # the others may have failed for it
            error = ProcessError(f"Process {rank} failed: {sentence}")
            error.add_note(where)
            raise error
    return [returned[rank] for rank in range(len(started))]


def ended(status: int) -> str:
    """How a process ended without a word: by a signal (status < 0), or with a status."""
    with suppress(ValueError):
        return f"{signal.Signals(-status).name} ended it."
    return f"it ended with status {status}."


def in_group(
    place: tuple[int, int, str], threads: int, said: Connection, work: Callable, arguments: tuple
) -> None:
    """Do the work as one of the processes, and say to the one that started it what came out."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the stop button is that one's,
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # which then ends this one in order
    rank, _, folder = place
    tempfile.tempdir = folder  # so that nothing is left, however it ends
    if rank > 0:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        for output in (1, 2):
            os.dup2(nowhere, output)
    torch.set_num_threads(threads)
    with failures_told(said), process_group(place), failures_told(said):  # before the group ends
        tell(said, "", "", work(*arguments))


@contextmanager
def failures_told(said: Connection) -> Iterator[None]:
    """Say to the process that started this one what fails within `with`, then end this one."""
    try:
        yield
    except Exception as error:
        kind = "" if isinstance(error, ProcessError) else f"{type(error).__name__}: "
        tell(said, f"{kind}{error}", traceback.format_exc(), None)
        sys.exit(1)


def tell(said: Connection, *message: object) -> None:
    """Send a message with its time, tensors as numbers: their memory goes with this process."""
    said.send_bytes(pickle.dumps((time.monotonic(), *message)))


@contextmanager
def process_group(place: tuple[int, int, str] | None = None) -> Iterator[int]:
    """Join the processes that were started with this one; gives this one's rank.

    place: its rank, how many there are, and an empty folder of this machine where they meet; None
        for what `torchrun` has put into the environment.
    Raises: ProcessError if nothing has started them, or they don't find each other.
    """
    if place is None and "RANK" not in os.environ:
        raise ProcessError(
            "This process is alone: start it with `torchrun --nproc-per-node 2`, or by `launch`."
        )
    local = int(os.environ["LOCAL_RANK"]) if place is None else place[0]
    gpus = torch.cuda.device_count()
    if gpus:
        if local >= gpus:
            raise ProcessError(
                f"This machine has {gpus} GPU{'s' * (gpus > 1)} for more processes: start as many "
                "processes as it has GPUs."
            )
        torch.cuda.set_device(local)
    try:
        dist.init_process_group(
            "nccl" if gpus else "gloo", **({} if place is None else met(*place))
        )
    except (dist.DistError, ValueError) as error:
        where = ":".join(os.environ.get(name, "?") for name in ("MASTER_ADDR", "MASTER_PORT"))
        raise ProcessError(
            f"The processes can't meet at {where} ({str(error).splitlines()[0]}): if another "
            "program has that port, choose another, as in `torchrun --master-port 29501`."
        ) from None
    done = threading.Event()
    threading.Thread(target=end_with_parent, args=(done,), daemon=True).start()
    try:
        yield dist.get_rank()
    finally:
        done.set()
        dist.destroy_process_group()


def met(rank: int, processes: int, folder: str) -> dict:
    """Where processes of one machine meet, a file, and by which network they talk: its own."""
    for _, name in socket.if_nameindex():
        if name in ("lo", "lo0"):  # Linux's, macOS's
            os.environ |= {"GLOO_SOCKET_IFNAME": name, "NCCL_SOCKET_IFNAME": name}
    store = dist.FileStore(str(Path(folder) / "meeting"), processes)
    return {"store": store, "rank": rank, "world_size": processes}


def end_with_parent(done: threading.Event) -> None:
    """End this process once what has started it is gone, or it would train on unseen."""
    launched, pid = multiprocessing.parent_process(), os.getppid()
    while not done.wait(0.1):
        if not launched.is_alive() if launched else os.getppid() != pid:
            os._exit(1)
