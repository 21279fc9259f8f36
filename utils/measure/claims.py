"""The ledger of claims: each one is measured by a call in a lesson's cell."""

import inspect
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from functools import cache

from IPython.display import display

from utils import ROOT
from utils.measure import experiments
from utils.show.display import filled
from utils.show.luck import came_out_otherwise, is_strict

ANSWERS = ("Yes", "Yes, if", "No", "Can't tell here")  # how an answer begins
LONGEST = 25  # words of an answer
RECORD = "application/vnd.book+json"


class ClaimError(ValueError):
    """A claim that can't be stated as it was; the message says why."""


@cache
def registry() -> dict[str, dict]:
    """data/claims.toml: {id: {statement, made_by, chapter, and cite where there is a source}}."""
    return tomllib.loads((ROOT / "data" / "claims.toml").read_text(encoding="utf-8"))


def claim(
    id: str,
    answer: str,
    *,
    holds: Callable[..., bool],
    scale: str,
    counted: bool = False,
    experiment: str | None = None,
    **measured: float,
) -> None:
    """Answer the claim `id` in a sentence, with the numbers that were measured in its fields.

    answer: begins with one of `ANSWERS`, as in "No: with pooling {missed:.0%} are misread."
    holds: of the numbers by name: whether they give this answer. For each number it has to be false
        of another one: as one of the others is, doubled, halved, turned over, 0 or 1.
    scale: data, size, steps, seeds and threads, in a few words.
    counted: whether it is arithmetic, rather than measured.
    experiment: the stored long experiment that the numbers were read from, if they were.
    Where the numbers give another answer, a reader sees the book's beside the own; under
    BOOK_STRICT=1 it is an AssertionError.
    Raises: ClaimError if it could not have come out otherwise, or is not in this form.
    """
    measured = {name: _plain(value) for name, value in measured.items()}
    if not measured:
        raise ClaimError(f"The answer to {id!r} needs a number that was measured, in a field.")
    said, left_open = filled(answer, measured)
    try:
        inspect.signature(holds).bind(**measured)
    except TypeError as wrong:
        raise ClaimError(
            f"`holds` of {id!r} has to take the numbers by name, {sorted(measured)}: {wrong}."
        ) from None
    held = holds(**measured)
    if is_strict() and not held:
        numbers = ", ".join(f"{name} = {value:.6g}" for name, value in measured.items())
        raise AssertionError(
            f"The claim {id!r} is answered by {said!r}, but `holds` is false of {numbers}: "
            "change the bound or the answer."
        )
    for name in measured:
        if is_strict() and all(holds(**others) for others in _otherwise(measured, name)):
            raise ClaimError(
                f"The answer to {id!r} stays the same whatever {name!r} is: compare it in `holds`."
            )
    if answer.startswith("Yes, if") and len(measured) < 2:
        raise ClaimError(f"The answer to {id!r} has a condition: give a number for either side.")
    if not scale.strip():
        raise ClaimError(f"Say at which scale the claim {id!r} was measured.")
    if experiment is not None:
        experiments.load(experiment)
    found = "long experiment" if experiment else "counted" if counted else "measured live"
    record = {"answer": _kind(id, said), "said": said, "open": left_open, "found": found}
    record |= {"scale": scale} | ({"experiment": experiment} if experiment else {})
    _show(id, record, held)


def _kind(id: str, said: str) -> str:
    """The answer's first words, one of `ANSWERS`."""
    found = max((kind for kind in ANSWERS if re.match(rf"{kind}\b", said)), key=len, default="")
    if not found:
        raise ClaimError(f"The answer to {id!r} begins with none of: {'; '.join(ANSWERS)}.")
    if len(said.split()) > LONGEST:
        raise ClaimError(f"The answer to {id!r} has over {LONGEST} words: {said!r}.")
    return found


def _otherwise(measured: Mapping[str, float], name: str) -> Iterator[dict]:
    """The numbers with one as it could have been: as another is, doubled, halved, 0, or 1."""
    value = measured[name]
    changed = [not value] if isinstance(value, bool) else [2 * value, value / 2, 0, 1]
    yield from ({**measured, name: another} for another in [*measured.values(), *changed])


def plain_text(record: dict) -> str:
    """The line that is the same from run to run and from machine to machine."""
    return f"{record['claim']} ({record['found']}): {record['open']}"


def entry_of(id: str) -> dict:
    """The claim's row.

    Raises: ClaimError if it has none.
    """
    if id not in registry():
        raise ClaimError(
            f"There is no claim {id!r} in data/claims.toml: add its row there, or take it out of "
            "the lesson and run `make execute`."
        )
    return registry()[id]


def card(record: dict) -> str:
    """The same as a reader sees it, in Markdown, with the statement and the numbers."""
    entry = entry_of(record["claim"])
    how = record["found"]
    if "experiment" in record:
        how += f" `experiments/{record['experiment']}.py`"
    title = f"**Claim {record['claim']}** ({entry['made_by']}): *{entry['statement']}*"
    scale = f"At our scale: {record['scale']}."
    return "\n\n".join([title, in_bold(record), f"*{how.capitalize()}.* {scale}"])


def in_bold(record: dict) -> str:
    """The answer with its first words in bold."""
    return f"**{record['answer']}**{record['said'].removeprefix(record['answer'])}"


def _plain(value: object) -> object:
    """A number out of its tensor or array."""
    return value.item() if getattr(value, "ndim", None) == 0 else value


def _show(id: str, record: dict, held: bool) -> None:
    record = {"claim": id, **record}
    plain, said = plain_text(record), card(record)
    if not held:
        said = came_out_otherwise(said, plain)
    display({"text/plain": plain, "text/markdown": said, RECORD: record}, raw=True)
