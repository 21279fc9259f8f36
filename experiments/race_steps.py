"""What each step from nanoGPT's setting to the quickest racer wins alone, and what it is worth.

"alone": the tuned baseline with this change, on six tenths of its schedule. "without": the winner
with this change taken back, on the winner's schedule, then on 1.5 and on twice the steps. "nothing"
is the tuned baseline and the winner. Seconds are those of the first schedule that arrived, as in
the experiment `race`; None if none did. "loss" is then the last one's. No rate is tuned anew.
"""

from utils.tasks.race import CHANGES, GOAL, alone, race, without

PARAMETERS = {
    "seed": [0, 1, 2],
    "change": ["nothing", *CHANGES],
    "how": ["alone", "without"],
}
SHORT = {
    "GOAL": 9.0,
    "CHECKS": [0.02],
    "judged": "lambda model, text, window, judge=judged: judge(model, text[:2000], window)",
}
SECONDS = ("seconds",)
LONGER = {"alone": (0.6,), "without": (1.0, 1.5, 2.0)}


def measure(seed: int, change: str, how: str) -> dict:
    of = alone if how == "alone" else without
    for longer in LONGER[how]:
        racer = of(change, longer)
        model, laps = race(racer, seed)
        if laps[-1].loss <= GOAL:
            break
    last = laps[-1]
    there = last.loss <= GOAL
    return {
        "parameters": sum(weight.numel() for weight in model.parameters()),
        "schedule": racer.steps,
        "steps": last.steps if there else None,
        "seconds": last.seconds if there else None,
        "loss": last.loss,
    }
