"""Can a GPT learn to add? Three digits, written from the units on, or in the usual order.

Two blocks, 64 wide, read "123+456=" and write the sum: at each of `STEPS` steps 64 new pairs, so
they see at most 19,200 of a million. Each order has the same three rates of Muon. "right" is the
share of 5,000 sums, none of which was in training in either order, whose four digits are all right,
after each tenth of the steps. "four digits" is that share for 1,000 sums of numbers with four
digits, which no model was trained on.
"""

from utils.tasks.adding import STEPS, adder, drawn, share_right, train_adder

PARAMETERS = {
    "seed": [0, 1, 2],
    "rate": [0.025, 0.05, 0.1],
    "order": ["units first", "usual"],
}
SHORT = {"STEPS": 20, "ASKED": 200}
ASKED = 5000
HELD_OUT = 10**6  # a seed that no training has


def measure(seed: int, rate: float, order: str) -> dict:
    units_first = order == "units first"
    asked = drawn(ASKED, HELD_OUT)
    model = adder(seed)
    steps, right = [], []
    for step in train_adder(
        model, STEPS, rate, seed, units_first=units_first, every=STEPS // 10, without=asked
    ):
        steps.append(step)
        right.append(share_right(model, asked, units_first))
    longer = drawn(1000, HELD_OUT, digits=4)
    return {
        "steps": steps,
        "right": right,
        "in the end": right[-1],
        "four digits": share_right(model, longer, units_first, digits=4),
    }
