"""The ledger of claims: each one is measured by a call in a lesson's cell, and listed on one page.

`python -m utils.measure.claims` writes that page, claims.md, from the executed notebooks alone.
"""

import json
import math
import tomllib
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Literal, get_args

from IPython.display import display

from utils import ROOT
from utils.measure import experiments
from utils.show.display import format_table

Verdict = Literal["holds", "holds within limits", "does not hold"]
Found = Literal["measured live", "long experiment", "cited only"]
VERDICTS: tuple[Verdict, ...] = get_args(Verdict)
RECORD = "application/vnd.book+json"


class ClaimError(ValueError):
    """A claim that can't be stated as it was; the message says why."""


@cache
def registry() -> dict[str, dict]:
    """data/claims.toml: {id: {statement, made_by, chapter, and cite where there is a source}}."""
    return tomllib.loads((ROOT / "data" / "claims.toml").read_text(encoding="utf-8"))


def claim(
    id: str,
    *,
    supports: Mapping[str, bool] | None = None,
    limits: Mapping[str, bool] | None = None,
    numbers: Mapping[str, object] | None = None,
    experiment: str | None = None,
) -> None:
    """Show what was measured for and against the claim `id`, and the verdict that follows.

    supports, limits: {sentence: whether it was seen}; the sentences of `limits` speak against the
        claim or bound it. Only support: it holds; both: within limits; only limits: it does not.
    numbers: {name: value} in full, shown but not compared from run to run.
    experiment: the stored long experiment that the sentences were read from, if they were.
    Raises: AssertionError if a sentence is not true; ClaimError if there is nothing to judge by.
    """
    supports, limits = dict(supports or {}), dict(limits or {})
    if not supports and not limits:
        raise ClaimError(f"The claim {id!r} needs at least one sentence in `supports` or `limits`.")
    for sentence, seen in {**supports, **limits}.items():
        if not isinstance(_plain(seen), bool):
            raise ClaimError(f"{sentence!r} must come with True or False, not with {seen!r}.")
        if not seen:
            raise AssertionError(
                f"The claim {id!r} says {sentence!r}, but that was not measured here."
            )
    if experiment is not None:
        experiments.load(experiment)
    verdict = VERDICTS[0] if not limits else VERDICTS[1] if supports else VERDICTS[2]
    record = {"verdict": verdict, "found": "long experiment" if experiment else "measured live"}
    record |= {"supports": list(supports), "limits": list(limits)}
    record |= {"numbers": [(name, _plain(value)) for name, value in (numbers or {}).items()]}
    for name, value in record["numbers"]:
        if not isinstance(value, (int, float, str)):
            raise ClaimError(f"{name!r} must be one number or a text, not {value!r}.")
    record |= {"experiment": experiment} if experiment else {}
    _show(id, record)


def cited_only(id: str, verdict: Verdict, reason: str) -> None:
    """Show the verdict of others on the claim `id`, and why it can't be measured here.

    Raises: ClaimError if the verdict is none of `VERDICTS`, or no reason is given.
    """
    if verdict not in VERDICTS:
        raise ClaimError(f"The verdict {verdict!r} is none of: {', '.join(VERDICTS)}.")
    if not reason.strip():
        raise ClaimError(f"Say why the claim {id!r} can't be measured here.")
    _show(id, {"verdict": verdict, "found": "cited only", "reason": reason})


def plain_text(record: dict) -> str:
    """The lines that are the same from run to run and from machine to machine."""
    return "\n".join(
        [f"{record['claim']} {record['verdict']} ({record['found']})", *_evidence(record)]
    )


def card(record: dict) -> str:
    """The same as a reader sees it, in Markdown, with the statement and the numbers."""
    entry = registry()[record["claim"]]
    how = record["found"]
    if "experiment" in record:
        how += f" `experiments/{record['experiment']}.py`"
    title = f"**Claim {record['claim']}** ({entry['made_by']}): *{entry['statement']}*"
    parts = [title, f"**It {record['verdict']}** ({how})."]
    parts.append("\n".join(f"- {line}" for line in _evidence(record)))
    if numbers := record.get("numbers"):
        rows = [(name, _written(value)) for name, value in numbers]
        parts.append(format_table(rows, ("measured", "value"), "html"))
    return "\n\n".join(parts)


def records(notebook: Path) -> Iterator[tuple[int, dict]]:
    """(position of the cell, record) for each claim that stands in an executed notebook."""
    cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    for position, cell in enumerate(cells):
        for output in cell.get("outputs", ()):
            record = output.get("data", {}).get(RECORD, {})
            if "claim" in record:
                yield position, record


def page() -> str:
    """claims.md as the executed notebooks have it."""
    lines, count = [], dict.fromkeys(VERDICTS, 0)
    for notebook in sorted((ROOT / "chapters").glob("*.ipynb")):
        found = [record for _, record in records(notebook)]
        if found:
            lines += ["", f"## {{doc}}`chapters/{notebook.stem}`", ""]
            lines += ["| claim | what was measured |", "| --- | --- |"]
        for record in found:
            entry = registry()[record["claim"]]
            count[record["verdict"]] += 1
            by = f"{{cite:t}}`{','.join(entry['cite'])}`" if "cite" in entry else entry["made_by"]
            link = f"[{record['claim']}](#claim-{record['claim']})"
            told = [f"**{record['verdict']}** ({record['found']})", *_evidence(record)]
            cells = (f"{link}: {entry['statement']} ({by})", "<br>".join(told))
            lines.append("| " + " | ".join(cell.replace("|", r"\|") for cell in cells) + " |")
    total = sum(count.values())
    summary = ", ".join(f"{number} {verdict}" for verdict, number in count.items())
    return HEAD.format(total=total, summary=summary) + "\n".join(lines) + "\n"


HEAD = """\
# Claims, measured

<!-- Generated by `python -m utils.measure.claims` from the executed notebooks. -->

What is commonly said about networks is measured in the lessons, whichever way it comes out. So far
that makes {total}: {summary}. The name of a claim leads to its cell.

*Measured live* means that the lesson measures it each time it runs. A *long experiment* was
measured by a script in `experiments/`, and its result is stored. *Cited only* means that it can't
be measured here, and says why.
"""


def _evidence(record: dict) -> list[str]:
    lines = [f"supports: {sentence}" for sentence in record.get("supports", ())]
    lines += [f"limits: {sentence}" for sentence in record.get("limits", ())]
    return lines + ([f"reason: {record['reason']}"] if "reason" in record else [])


def _plain(value: object) -> object:
    """A number as JSON has it: out of its tensor or array, and finite."""
    value = value.item() if getattr(value, "ndim", None) == 0 else value
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value


def _written(value: object) -> str:
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:,}"
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _show(id: str, record: dict) -> None:
    if id not in registry():
        raise ClaimError(f"There is no claim {id!r} in data/claims.toml; add it there first.")
    record = {"claim": id, **record}
    bundle = {"text/plain": plain_text(record), "text/markdown": card(record), RECORD: record}
    display(bundle, raw=True)


if __name__ == "__main__":
    experiments.write_atomically(ROOT / "claims.md", page())
