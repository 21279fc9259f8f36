"""How long after a network knows its examples does it find the rule behind them?

One block learns half of all sums modulo 53. Every hundred steps: how many sums it gets right, of
those that it learns from and of the others. It stops 200 steps after 99 % of the others are right.
"""

from utils.tasks.modular import adder, additions, share_right, train_adder

PARAMETERS = {"weight_decay": [1.0, 0.0], "p": 53, "steps": 8000, "seed": [0, 1, 2]}
SHORT = {"steps": 200}


def measure(weight_decay: float, p: int, steps: int, seed: int) -> dict:
    learned, others = additions(p, seed)
    model = adder(p, seed)
    curves: dict[str, list[float]] = {"learned": [], "others": []}
    reached: dict[str, int | None] = {"learned": None, "others": None}
    for done in train_adder(model, learned, steps, weight_decay, seed):
        for name, half in (("learned", learned), ("others", others)):
            curves[name].append(share_right(model, half))
            if reached[name] is None and curves[name][-1] >= 0.99:
                reached[name] = done
        if reached["others"] is not None and done >= reached["others"] + 200:
            break
    return {
        "parameters": sum(weight.numel() for weight in model.parameters()),
        **curves,
        **{f"99 % of {name}": step for name, step in reached.items()},
    }
