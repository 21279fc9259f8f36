"""A race to a loss of 1.88 on Shakespeare's letters: nanoGPT's setting beside the book's quickest.

"baseline" is as published, "tuned" the same model with the best rate and schedule of the experiment
`race_rates`. Five seeds of each, in turn, in float32, and the two quicker ones in bfloat16, too.
"seconds" are of processor time, on one thread, of the training steps up to the first check at which
the whole validation text has a loss of 1.88 or less; None if the schedule ended first. The checks'
own time is not counted. "test" is the loss of what was then there on the last twentieth of the
plays, which nothing else has looked at.
"""

from utils.tasks.letters import ids, judged, vocabulary
from utils.tasks.race import BASELINE, GOAL, TUNED, WINDOW, WINNER, race

RACERS = {
    "baseline": (BASELINE, False),
    "tuned": (TUNED, False),
    "winner": (WINNER, False),
    "tuned, bfloat16": (TUNED, True),
    "winner, bfloat16": (WINNER, True),
}
PARAMETERS = {"seed": [0, 1, 2, 3, 4], "racer": list(RACERS)}
SHORT = {
    "GOAL": 9.0,
    "CHECKS": [0.01],
    "judged": "lambda model, text, window, judge=judged: judge(model, text[:2000], window)",
}
SECONDS = ("seconds", "seconds at checks")


def measure(seed: int, racer: str) -> dict:
    model, laps = race(RACERS[racer][0], seed, RACERS[racer][1])
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
