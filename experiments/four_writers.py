"""Four writers, one text: Day 3's LSTM, Day 6's blocks, the lesson's GPT, and a table of counts.

All read the same byte pairs of a library's docstrings; the three networks have about 273,000
weights each and read the same 512,000 tokens, about four passes, with the lesson's recipe. Each
is trained at four learning rates of its own, `RATES`, and the one with the fewest bits on the
validation text is kept; "by rate" has the bits of all. The table's order is chosen in the same way.
Bits are for each byte of the text that is named, in windows of 64 tokens. "half" is the mixture of
a network and the table, half and half; "chosen" the one whose share of the network, "share", suited
the validation text best. "gzip" compresses the test text alone, and "xz" after it has read the
training text.
"""

from functools import cache

import numpy as np
from torch import Tensor

from utils.data.docstrings import docstring_text
from utils.tasks.rivals import (
    asked_about,
    best_share,
    best_table,
    compressed,
    counted,
    mixed,
    trained,
)
from utils.tasks.writing import T, Writing

RATES = {
    "LSTM": (4e-3, 8e-3, 1.6e-2, 3.2e-2),
    "Day 6's blocks": (1e-3, 2e-3, 4e-3, 8e-3),
    "GPT": (4e-3, 8e-3, 1.6e-2, 3.2e-2),
}
ORDERS = range(2, 7)
PARAMETERS = {"writer": ["table", *RATES], "seed": [0, 1, 2]}
SHORT = {"writer": ["table", "GPT"], "STEPS": 5}


def data() -> list[np.ndarray]:
    return [np.frombuffer(docstring_text().encode(), dtype=np.uint8)]


def measure(writer: str, seed: int) -> dict:
    tasks, table = read()
    task, asked = tasks["validation"], tasks["test"]
    if writer == "table":
        bits = {part: tasks[part].per_byte(nats) for part, nats in table.items()}
        return bits | compressed(task.text["test"], read=task.text["train"])
    models = {rate: trained(writer, task, rate, seed) for rate in RATES[writer]}
    by_rate = {rate: task.per_byte(task.judged(model)) for rate, model in models.items()}
    best = min(by_rate, key=by_rate.get)
    share = best_share(task.judged(models[best]), table["validation"])
    nats = asked.judged(models[best])
    return {
        "parameters": sum(weight.numel() for weight in models[best].parameters()),
        "rate": best,
        "by rate": [*by_rate.values()],
        "validation": by_rate[best],
        "test": asked.per_byte(nats),
        "half": asked.per_byte(mixed(nats, table["test"])),
        "share": share,
        "chosen": asked.per_byte(mixed(nats, table["test"], share)),
    }


@cache
def read() -> tuple[dict[str, Writing], dict[str, Tensor]]:
    """The task that asks about either part, and the surprises of the best table there."""
    task = Writing()
    table, _ = best_table(task, ORDERS, T)
    tasks = {part: asked_about(task, part) for part in ("validation", "test")}
    return tasks, {part: counted(table, task.ids[part], T) for part in tasks}
