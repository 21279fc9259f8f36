"""What several processes do together in `test_data_parallel.py`, which starts them."""

import ipaddress
import os
import sys
import time
from contextlib import suppress
from pathlib import Path

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.nn import functional as F

from utils.data.batches import Batches
from utils.training.data_parallel import Shards, fit_data_parallel
from utils.training.loop import History
from utils.training.processes import ProcessError, launch

EXAMPLES = 73  # in batches of 8: ten a pass, the last with one example, one process's share


def data(n: int = EXAMPLES, seed: int = 0) -> tuple[Tensor, Tensor]:
    """Inputs (n, 6) and classes (n,)."""
    x = torch.randn(n, 6, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    return x, (x[:, 0] > 0).long() + (x[:, 1] > 0).long()


def network(dropout: float = 0.0, width: int = 7) -> nn.Module:
    torch.manual_seed(1)
    return nn.Sequential(
        nn.Linear(6, width), nn.Tanh(), nn.Dropout(dropout), nn.Linear(width, 3)
    ).double()


def share_right(logits: Tensor, target: Tensor) -> float:
    return (logits.argmax(1) == target).double().mean().item()


def trained(
    how, model: nn.Module, examples=None, epochs: int = 2, loss=F.cross_entropy, **settings
) -> History:
    """Train with `fit` or `fit_data_parallel`: shuffled, with momentum, a schedule, a metric."""
    optimiser = torch.optim.Adam(model.parameters(), lr=0.02)
    return how(
        model,
        Batches(*(examples or data()), batch_size=8, shuffle=True, transform=noisy),
        loss,
        optimiser,
        epochs=epochs,
        schedule=torch.optim.lr_scheduler.ExponentialLR(optimiser, 0.98),
        metrics={"accuracy": share_right},
        validation=Batches(*data(21, seed=1), batch_size=8),
        **settings,
    )


def noisy(x: Tensor) -> Tensor:
    return x + 0.1 * torch.randn_like(x)


# What each process does ---------------------------------------------------------------------------


def all_of_it(folder: Path) -> dict:
    """One report from each process."""
    model = network()
    history = trained(fit_data_parallel, model)
    return {
        "history": history,
        "weights": model.state_dict(),
        "dropped": dropped(),
        "seen": seen(),
        "sentences": sentences(),
        "never stopped": never_stopped(folder),
    }


def dropped() -> Tensor:
    """What dropout leaves in a first step."""
    left = []
    model = nn.Sequential(nn.Linear(6, 6), nn.Dropout(0.5)).double()
    model[1].register_forward_hook(lambda *outputs: left.append(outputs[-1] != 0))
    optimiser = torch.optim.SGD(model.parameters(), lr=0.0)
    batches = Batches(*data(8), batch_size=8)
    fit_data_parallel(model, batches, F.cross_entropy, optimiser, epochs=1)
    return left[0]


def seen() -> list[Tensor]:
    """The inputs that this process sees in a pass, and the generator's state before and after."""
    before = torch.get_rng_state()
    batches = Shards(Batches(*data(11), batch_size=4), torch.device("cpu"))
    inputs = [x for x, _ in batches]
    return [before, torch.get_rng_state(), *inputs]


def sentences() -> dict[str, str]:
    """What is said where this process is not like the others."""
    rank = dist.get_rank()
    cases = {
        "model": {"model": network(width=5 + rank)},
        "seed": {"seed": rank},
        "epochs": {"epochs": 1 + rank},
        "data": {"examples": data(seed=rank)},
        "fewer": {"examples": data(EXAMPLES - 40 * rank)},
    }
    said = {}
    for case, differs in cases.items():
        try:
            trained(fit_data_parallel, **{"model": network()} | differs)
        except ProcessError as error:
            said[case] = str(error)
    return said


def never_stopped(folder: Path) -> bytes:
    model = network(dropout=0.5)
    trained(fit_data_parallel, model, epochs=6, checkpoint=folder / "never.checkpoint")
    return bytes_of(model)


def bytes_of(model: nn.Module) -> bytes:
    return b"".join(weight.detach().numpy().tobytes() for weight in model.parameters())


def held(logits: Tensor, target: Tensor) -> Tensor:
    """Waits after the first epoch for as long as the run is held."""
    folder, end = Path(sys.argv[1]), time.monotonic() + 1200  # longer than a test waits
    while (folder / "checkpoint").exists() and (folder / "held").exists():
        assert time.monotonic() < end, "held for ever"
        time.sleep(0.02)
    return F.cross_entropy(logits, target)


def listening() -> dict[int, list[str]]:
    """At which addresses this process and the one that started it listen, by process."""
    dist.barrier()
    return {pid: addresses(pid) for pid in (os.getpid(), os.getppid())}


def addresses(pid: int) -> list[str]:
    """The addresses at which a process of Linux listens."""
    opened, found = set(), []
    for file in Path(f"/proc/{pid}/fd").iterdir():
        with suppress(FileNotFoundError):  # it may be closed meanwhile
            opened.add(os.readlink(file))
    for table in ("/proc/net/tcp", "/proc/net/tcp6"):
        for row in map(str.split, Path(table).read_text(encoding="utf-8").splitlines()[1:]):
            address, state, inode = row[1].partition(":")[0], row[3], row[9]
            if state == "0A" and f"socket:[{inode}]" in opened:
                words = [address[i : i + 8] for i in range(0, len(address), 8)]
                packed = b"".join(bytes.fromhex(word)[::-1] for word in words)
                found.append(str(ipaddress.ip_address(packed)))
    return found


def one_makes_nan() -> None:
    model, rank = network(), dist.get_rank()
    model.register_forward_hook(lambda *outputs: outputs[-1] / (1 - rank))
    trained(fit_data_parallel, model)


def one_is_killed() -> None:
    if dist.get_rank() == 1:
        os.kill(os.getpid(), 9)
    trained(fit_data_parallel, network())


def until_stopped(folder: Path) -> None:
    """The same run as in `never_stopped`, which can be held."""
    (folder / f"process {dist.get_rank()}").write_text(str(os.getpid()))
    model = network(dropout=0.5)
    trained(fit_data_parallel, model, epochs=6, loss=held, checkpoint=folder / "checkpoint")
    (folder / f"weights {dist.get_rank()}").write_bytes(bytes_of(model))


if __name__ == "__main__":
    try:
        launch(until_stopped, Path(sys.argv[1]), processes=2)
    except KeyboardInterrupt:
        sys.exit("stopped")
