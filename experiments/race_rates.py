"""Which rate and schedule suits each racer? The same fifteen trials for both, of one seed.

"share" is the schedule's length, as a share of the racer's own; "factor" is that of its rate.
"seconds" are as in the experiment `race`; None if the schedule ended first. The seed is none of
those that race.
"""

from dataclasses import replace

from utils.tasks.race import BASELINE, GOAL, WINNER, race

PARAMETERS = {
    "factor": [1.0, 2.0, 4.0, 8.0, 16.0],
    "share": [0.35, 0.6, 1.0],
    "racer": ["baseline", "winner"],
    "seed": 5,
}
SHORT = {
    "GOAL": 9.0,
    "CHECKS": [0.02],
    "judged": "lambda model, text, window, judge=judged: judge(model, text[:2000], window)",
}
SECONDS = ("seconds",)
RACERS = {"baseline": BASELINE, "winner": WINNER}


def measure(factor: float, share: float, racer: str, seed: int) -> dict:
    own = RACERS[racer]
    tried = replace(own, rate=factor * own.rate, steps=round(share * own.steps))
    _, laps = race(tried, seed)
    there = laps[-1].loss <= GOAL
    return {
        "rate": tried.rate,
        "schedule": tried.steps,
        "seconds": laps[-1].seconds if there else None,
        "loss": laps[-1].loss,
    }
