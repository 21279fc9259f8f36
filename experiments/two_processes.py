"""Do two processes that share each batch go the way of one, and how much faster?

Day 9's GPT takes 20 steps in double precision, and 40 in single precision, whose time is measured:
in one process and in two, each with one thread. Batches hold 32 pieces of text. Processor time is
that of the process that works most.
"""

from utils.tasks.many_processes import steps_taken, writer
from utils.training.processes import launch

PARAMETERS = {"processes": [1, 2]}
SHORT = {"processes": [1, 2]}
SECONDS = ["seconds per step", "processor seconds per step"]


def measure(processes: int) -> dict:
    reports = launch(steps_taken, processes=processes)
    losses, seconds, _ = reports[0]
    gradients = [p.numel() * p.element_size() for p in writer().parameters()]
    return {
        "losses": losses,
        "bytes of gradients": sum(gradients),
        "seconds per step": seconds,
        "processor seconds per step": max(own for *_, own in reports),
    }
