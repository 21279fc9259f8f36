"""Where does counting stop winning? GPTs of four sizes beside the best table of the same text.

The text is all that sympy's docstrings say, 4.6 million characters with examples and formulas, cut
into 768 byte pairs. Every GPT reads as many tokens as two passes over the training text have, in
pieces of 128, with Muon for its matrices. So the number of tokens is equal, and time is not. Of
three rates each size takes the one with the fewest bits on the validation text after a tenth of the
steps; "by rate" has them all. The smallest size has three seeds, the others one.

The table reads the same text in these byte pairs, in four times as many, or in letters, and looks
back as far as suits the validation text best. It is asked without a break, a GPT in windows of 128
tokens. "validation" and "test" are bits per byte, with a number for each seed. "half" is that of a
GPT and the best table of its tokens together on the test text, half and half.
"""

import numpy as np

from utils.data.docstrings import PARTS
from utils.data.manuals import manual
from utils.tasks.ladder import SIZES, best_rate, bits, judged, steps_of, train
from utils.tasks.rivals import best_table, counted, mixed
from utils.tasks.writing import Writing

CUTS = [768, 3072, 0]  # merges; a GPT has the first
ORDERS = range(4, 8)
PARAMETERS = {"reader": [*reversed(SIZES), "table"]}  # the longest training first
SHORT = {
    "reader": ["58 thousand", "table"],
    "PASSES": 0.2,
    "CUTS": [100],
    "manual": "lambda part, manual=manual: manual(part)[:100_000]",
}


def data() -> list[np.ndarray]:
    return [np.frombuffer(manual(part).encode(), dtype=np.uint8) for part in PARTS]


def measure(reader: str) -> dict:
    if reader == "table":
        return of_all_cuts()
    task = Writing(manual, CUTS[0])
    table, _ = best_table(task, ORDERS)
    rate, by_rate = best_rate(SIZES[reader], task)
    theirs, found = counted(table, task.ids["test"]), []
    for seed in SIZES[reader].seeds:
        model = train(SIZES[reader], task, rate, seed, steps_of(task))
        ours = {part: judged(model, task, part) for part in ("validation", "test")}
        nats = [*ours.items(), ("test", mixed(ours["test"], theirs))]
        found.append([bits(task, part, each) for part, each in nats])
    columns = zip(("validation", "test", "half"), map(list, zip(*found, strict=True)), strict=True)
    return {
        "parameters": sum(weight.numel() for weight in model.parameters()),
        "rate": rate,
        "by rate": by_rate,
        **dict(columns),
    }


def of_all_cuts() -> dict:
    """The best table of each cut, and of these the one that suits the validation text best."""
    found, test = {}, {}
    for cut in CUTS:
        task = Writing(manual, cut)
        table, found[cut] = best_table(task, ORDERS)
        test[cut] = bits(task, "test", counted(table, task.ids["test"]))
    lowest = {cut: min(by_order.values()) for cut, by_order in found.items()}
    best = min(lowest, key=lowest.get)
    return {
        "letters read": len(manual("train")),
        "merges": best,
        "order": min(found[best], key=found[best].get),
        "by merges": [*lowest.values()],
        "validation": [lowest[best]],
        "test": [test[best]],
    }
