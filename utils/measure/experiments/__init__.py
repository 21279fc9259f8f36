"""Long experiments: scripts in experiments/ measure what a lesson has no time for, and store it.

A script defines the grid, `PARAMETERS`, {name: value or list of values}, and `measure(**member)`,
which gets one value of each and returns {name: number, list of numbers, or None}. Where it measures
on data that does not come from the code, `data()` returns the arrays. Where only the reader can
bring the data, there is no `data()`, and `missing()` says in a sentence what is not there, or
nothing: what is stored then stays as it is. Where numbers are of seconds (or of another time),
`SECONDS` names them: their members are measured alone, one after the other. A docstring says what
for. Of what measures more than seconds, `SHORT` makes a run of a few seconds, with which it can be
verified that a change of form changed no bit (utils.measure.experiments.verifying).

`python -m utils.measure.experiments` runs what is stale: where the code that `measure` reaches
(utils.measure.fingerprint) or the data are no longer those of the stored result, all of it, and
else the members that the grid has and the result has not.
"""

from utils.measure.experiments.results import (
    ExperimentError,
    Result,
    grid,
    is_stale,
    live,
    load,
    missing,
    names,
    write_atomically,
)
from utils.measure.experiments.running import run
from utils.measure.experiments.verifying import verify

__all__ = [
    "ExperimentError",
    "Result",
    "grid",
    "is_stale",
    "live",
    "load",
    "missing",
    "names",
    "run",
    "verify",
    "write_atomically",
]
