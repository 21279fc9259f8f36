"""Shaken runs of pages."""

import json
import os
import re
import subprocess
import sys
from collections import defaultdict
from pathlib import Path
from tempfile import TemporaryDirectory

from utils import ROOT
from utils.measure.experiments.results import ExperimentError
from utils.measure.experiments.running import commit, git, surroundings
from utils.measure.experiments.verifying import worktree
from utils.measure.shaking import results
from utils.measure.shaking.margins import Comparison

SETTINGS = {  # of the processor, in turn
    "native": {},
    "AVX2": {
        "ATEN_CPU_CAPABILITY": "avx2",
        "ONEDNN_MAX_CPU_ISA": "AVX2",
        "MKL_ENABLE_INSTRUCTIONS": "AVX2",
        "OPENBLAS_CORETYPE": "Haswell",  # NumPy's and SciPy's
    },
    "portable": {
        "ATEN_CPU_CAPABILITY": "default",
        "ONEDNN_MAX_CPU_ISA": "SSE41",
        "MKL_CBWR": "COMPATIBLE",
        "OPENBLAS_CORETYPE": "Prescott",
    },
}


def shake(pages: list[Path], seeds: range, anew: bool = False) -> None:
    """Run pages once for each seed that they lack, side by side, and store what findings compare.

    anew: also where the stored runs are of the present code.
    """
    marks = {page: results.fingerprint_of(page) for page in pages}
    held = {page: _known(page, marks[page], anew) for page in pages}
    if any(held[page]["stamps"][-1]["commit"] is None for page in pages):
        print("There are runs of no commit, which VERIFY=1 can't use later: commit first.")
    for seed in seeds:
        asked = [page for page in pages if _lacks(held[page], seed)]
        if not asked:
            continue
        setting = list(SETTINGS)[(seed - 1) % len(SETTINGS)]
        fell = run(asked, seed, setting, held)
        told = [f"{results.name_of(page)}, {', '.join(cells)}" for page, cells in fell.items()]
        print(f"BOOK_SHAKE={seed} ({setting}): {'; '.join(told) or 'all holds'}", flush=True)
        for page in asked:
            results.write(page, held[page])


def verify(page: Path) -> str:
    """Run a page as at the commit of its stored runs and as it is now; keep them if all agrees.

    The sentence of a finding may have changed: its numbers may not, unless the present code gives
    others in a second run, as where seconds are compared.

    Returns: what was found, in a few words.
    Raises: ExperimentError if nothing is stored, or what is there now is not a commit.
    """
    held, mark = results.stored(page), results.fingerprint_of(page)
    if mark in [stamp["fingerprint"] for stamp in held["stamps"]]:
        return "up to date"
    if git("status", "--porcelain", "--", "utils", "chapters/*.py"):
        raise ExperimentError("What is verified is a commit: commit the changes first.")
    stamps = [stamp for stamp in held["stamps"] if stamp["commit"]]
    if not stamps:
        return "stale: its runs are of no commit, so run `make shake`"
    with worktree(stamps[-1]["commit"]) as then:
        before, after = _once(page, then), _once(page, ROOT)
    if differ := _unlike(before, after):  # what no two runs share is left out, if asked alike
        differ -= _unlike(after, _once(page, ROOT)) - _asked_otherwise(before, after)
    if differ:
        told = [title for n, title in enumerate(after["findings"]) if n in differ]
        which = (*told, "their number, or what is printed")[0]
        return f"stale, since other numbers came out ({which}): run `make shake`"
    said = dict(zip(before["findings"], after["findings"], strict=True))
    held["findings"] = {said.get(was, was): of for was, of in held["findings"].items()}
    by = surroundings() | {"compared with": stamps[-1]["commit"]}
    held["stamps"].append({"fingerprint": mark, "commit": commit(), "verified_by": by})
    results.write(page, held)
    return f"verified: the same numbers as at {stamps[-1]['commit'][:7]}"


def _once(page: Path, book: Path) -> dict:
    """What a native run of a page with the first seed finds."""
    held = {page: nothing()}
    run([page], 1, next(iter(SETTINGS)), held, book)
    return held[page]


def _unlike(one: dict, other: dict) -> set[int]:
    """The places of findings with other numbers in two runs; −1 if anything else is unlike."""
    pairs = zip(one["findings"].values(), other["findings"].values(), strict=False)
    found = {n for n, (was, now) in enumerate(pairs) if was != now}
    whole = len(one["findings"]) == len(other["findings"])
    alike = whole and all(one[each] == other[each] for each in ("moves", "fell"))
    return found if alike else found | {-1}


def _asked_otherwise(one: dict, other: dict) -> set[int]:
    """The places of findings that two runs compare by other words."""
    pairs = zip(one["findings"].values(), other["findings"].values(), strict=False)
    return {n for n, (was, now) in enumerate(pairs) if was.keys() != now.keys()}


def nothing() -> dict:
    """What is held of a page that has not run."""
    return {"stamps": [], "moves": False, "runs": [], "findings": {}, "fell": {}}


def _lacks(held: dict, seed: int) -> bool:
    """Whether a page has still to run with this seed; if nothing is trained, once a setting."""
    done = [run["seed"] for run in held["runs"]]
    return seed not in done and (held["moves"] or len(done) < len(SETTINGS))


def _known(page: Path, mark: str, anew: bool) -> dict:
    """The stored runs of a page, if they are of the present code."""
    try:
        held = results.stored(page)
    except ExperimentError:
        anew = True
    if anew or mark not in [stamp["fingerprint"] for stamp in held["stamps"]]:
        return nothing() | {"stamps": [{"fingerprint": mark, "commit": _commit()}]}
    return held


def _commit() -> str | None:
    """The commit that this is; None if pages, or what they reach, are not those of a commit."""
    try:
        return None if git("status", "--porcelain", "--", "chapters/*.py") else commit()
    except ExperimentError:
        return None


def run(pages: list[Path], seed: int, setting: str, held: dict, book: Path = ROOT) -> dict:
    """Run pages once and add to what is `held` of each; returns the cells that fell, by page.

    book: the folder whose pages run, with its own `utils`.
    """
    with TemporaryDirectory() as folder:
        fell = _test(pages, seed, SETTINGS[setting], Path(folder), book)
        for page in pages:
            _gather(held[page], Path(folder) / f"{results.name_of(page)}.jsonl")
            held[page]["runs"].append({"seed": seed, "setting": setting} | surroundings())
            held[page]["fell"] |= {str(seed): fell[page]} if page in fell else {}
    return fell


def _test(pages: list[Path], seed: int, setting: dict, folder: Path, book: Path) -> dict:
    """Test pages in shaken kernels that record into a folder; the cells that fell, by page."""
    notebooks = [book / page.relative_to(ROOT).with_suffix(".ipynb") for page in pages]
    ended = subprocess.run(
        [sys.executable, "-m", "pytest", "--nbval", "-q", "-rfE", "--tb=no", *notebooks],
        cwd=book,
        env=os.environ
        | setting
        | {"PYTHONPATH": str(book)}
        | {"BOOK_SHAKE": str(seed), "BOOK_SHAKE_RECORD": str(folder)},
        capture_output=True,
        text=True,
    )
    if ended.returncode not in (0, 1):
        raise ExperimentError(f"The pages can't be run: {ended.stdout[-500:]}{ended.stderr[-500:]}")
    fell = defaultdict(list)
    for file, cell in re.findall(
        r"^(?:FAILED|ERROR) (\S+)::(Cell \d+)", ended.stdout, re.MULTILINE
    ):
        fell[(ROOT / file).with_suffix(".py")].append(cell)
    return fell


def _gather(held: dict, record: Path) -> None:
    """Add what a kernel has recorded: of a comparison made often, where it held most narrowly."""
    lines = record.read_text(encoding="utf-8").splitlines() if record.exists() else []
    entries, narrowest = [json.loads(line) for line in lines], {}
    for entry in entries:
        if "moved" in entry:
            held["moves"] = True
            continue
        finding = held["findings"].setdefault(entry["finding"], {"held": []})
        if "held" in entry:
            finding["held"].append(entry["held"])
        elif sides := entry["sides"]:
            which = entry["finding"], f"{entry['compares']} ({entry['link']})", entry["by"]
            margin = Comparison(*which, [sides]).margins()[0]
            if margin <= narrowest.get(which, (margin,))[0]:
                narrowest[which] = margin, sides
    for (title, written, by), (_, sides) in narrowest.items():
        held["findings"][title].setdefault(written, [by]).append(sides)
