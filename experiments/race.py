"""A race to a loss of 1.88 on Shakespeare's letters: nanoGPT's setting beside the book's quickest.

Five seeds of each, in turn, in float32 and in bfloat16. "seconds" are of processor time, on one
thread, of the training steps up to the first check at which the whole validation text has a loss of
1.88 or less; None if the schedule ended first. The checks' own time is not counted. "test" is the
loss of what was then there on the last twentieth of the plays, which nothing else has looked at.
"""

from utils.tasks.letters import ids, judged, vocabulary
from utils.tasks.race import BASELINE, GOAL, WINDOW, WINNER, race

PARAMETERS = {
    "seed": [0, 1, 2, 3, 4],
    "bfloat16": [False, True],
    "racer": ["baseline", "winner"],
}
SECONDS = ("seconds", "seconds at checks")
RACERS = {"baseline": BASELINE, "winner": WINNER}


def measure(seed: int, bfloat16: bool, racer: str) -> dict:
    model, laps = race(RACERS[racer], seed, bfloat16)
    last = laps[-1]
    there = last.loss <= GOAL
    return {
        "parameters": sum(weight.numel() for weight in model.parameters()),
        "steps": last.steps if there else None,
        "seconds": last.seconds if there else None,
        "loss": last.loss,
        "test": judged(model, ids("plays", "test", vocabulary("plays")), WINDOW),
        "steps at checks": [lap.steps for lap in laps],
        "seconds at checks": [lap.seconds for lap in laps],
        "losses": [lap.loss for lap in laps],
    }
