"""Shaken runs of pages, and what is stored of them: a file a page."""

import ast
import hashlib
import json
import os
import re
import subprocess
import sys
from collections import defaultdict
from fnmatch import fnmatchcase
from pathlib import Path
from tempfile import TemporaryDirectory

from utils import ROOT
from utils.measure.experiments import results
from utils.measure.experiments.results import (
    SCRIPTS,
    ExperimentError,
    load_script,
    write_atomically,
)
from utils.measure.experiments.running import commit, git, surroundings
from utils.measure.experiments.verifying import worktree
from utils.measure.fingerprint import fingerprint
from utils.measure.shaking.margins import Comparison

STORED = SCRIPTS / "results" / "shaken"
MODELS = ROOT / "_static" / "models"
EXERCISES = ROOT / "utils" / "exercises"
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


def name_of(page: Path) -> str:
    """A page's script as the name of a file, as in `deeper-01_convolution`."""
    return page.relative_to(ROOT / "chapters").with_suffix("").as_posix().replace("/", "-")


def shake(pages: list[Path], seeds: range, anew: bool = False) -> None:
    """Run pages once for each seed that they lack, side by side, and store what findings compare.

    anew: also where the stored runs are of the present code.
    """
    marks = {page: fingerprint_of(page) for page in pages}
    held = {page: _known(page, marks[page], anew) for page in pages}
    if any(held[page]["stamps"][-1]["commit"] is None for page in pages):
        print("There are runs of no commit, which VERIFY=1 can't use later: commit first.")
    for seed in seeds:
        asked = [page for page in pages if _lacks(held[page], seed)]
        if not asked:
            continue
        setting = list(SETTINGS)[(seed - 1) % len(SETTINGS)]
        fell = run(asked, seed, setting, held)
        told = [f"{name_of(page)}, {', '.join(cells)}" for page, cells in fell.items()]
        print(f"BOOK_SHAKE={seed} ({setting}): {'; '.join(told) or 'all holds'}", flush=True)
        for page in asked:
            write(page, held[page])


def verify(page: Path) -> str:
    """Run a page as at the commit of its stored runs and as it is now; keep them if all agrees.

    The sentence of a finding may have changed: its numbers may not, unless the present code gives
    others in a second run, as where seconds are compared.

    Returns: what was found, in a few words.
    Raises: ExperimentError if nothing is stored, or what is there now is not a commit.
    """
    held, mark = stored(page), fingerprint_of(page)
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
    write(page, held)
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
        held = stored(page)
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
            _gather(held[page], Path(folder) / f"{name_of(page)}.jsonl")
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


# ---------------------------------------------------------------------------------------- storing


def place(page: Path) -> Path:
    """Where the shaken runs of a page are stored."""
    return STORED / f"{name_of(page)}.json"


def stored(page: Path) -> dict:
    """The stored runs of a page: {stamps, moves, runs, findings, fell}.

    Raises: ExperimentError if there are none or the file is damaged.
    """
    try:
        held = json.loads(place(page).read_text(encoding="utf-8"))
        assert held.keys() == {"stamps", "moves", "runs", "findings", "fell"}
        return held
    except (OSError, ValueError, AttributeError, AssertionError) as error:
        raise ExperimentError(f"{name_of(page)} has no shaken runs: run `make shake`.") from error


def write(page: Path, held: dict) -> None:
    """Store the shaken runs of a page, each comparison on a line."""
    lines = []
    for title, finding in held["findings"].items():
        inner = ",\n".join(f"    {json.dumps(k)}: {json.dumps(v)}" for k, v in finding.items())
        lines.append(f"   {json.dumps(title)}: {{\n{inner}\n   }}")
    head = [f' "{key}": {json.dumps(held[key])}' for key in ("stamps", "moves", "runs", "fell")]
    findings = ' "findings": {\n' + ",\n".join(lines) + "\n }"
    place(page).parent.mkdir(parents=True, exist_ok=True)
    write_atomically(place(page), "{\n" + ",\n".join([*head, findings]) + "\n}\n")


def is_stale(page: Path) -> bool:
    """Whether a page has no stored runs of its present code."""
    try:
        stamps = stored(page)["stamps"]
    except ExperimentError:
        return True
    return fingerprint_of(page) not in [stamp["fingerprint"] for stamp in stamps]


def fingerprint_of(page: Path) -> str:
    """The fingerprint of a page's cells, without their prose, and of what they reach.

    Experiments that a page trains, results and models that it names, and references that run in
    place of the reader's functions are reached as well.
    """
    tree = _WithoutProse().visit(ast.parse(page.read_text(encoding="utf-8")))
    code = "\n".join([ast.unparse(tree), *map(_reference, _named(tree, "check"))])
    with TemporaryDirectory() as folder:
        cells = Path(folder) / page.name
        cells.write_text(code, encoding="utf-8")
        marks = [fingerprint(cells)]
    marks += [results.fingerprint_of(load_script(name)) for name in _named(tree, "live")]
    marks += map(_held, _stored(tree))
    return hashlib.sha256("".join(marks).encode()).hexdigest()


def _named(tree: ast.AST, function: str) -> list[str]:
    """The names that a page's calls of a function begin with."""
    firsts = [call.args[0] for call in _calls(tree, function) if call.args]
    return [first.value for first in firsts if isinstance(first, ast.Constant)]


def _calls(tree: ast.AST, function: str) -> list[ast.Call]:
    """A page's calls of a function, also of one in a module."""
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    return [call for call in calls if ast.unparse(call.func).split(".")[-1] == function]


def _stored(tree: ast.AST) -> list[Path]:
    """The files of stored results and models that a page names, also by a text with gaps."""
    names = [node.value for node in ast.walk(tree) if isinstance(node, ast.Constant)]
    for text in [part for call in _calls(tree, "load") for part in ast.walk(call)]:
        if isinstance(text, ast.JoinedStr):  # f"{name}_languages": "*_languages"
            parts = [part.value if isinstance(part, ast.Constant) else "*" for part in text.values]
            names.append("".join(parts))
    files = sorted([*STORED.parent.glob("*.json"), *MODELS.glob("*.js")])
    names = [name for name in names if isinstance(name, str) and name.strip("*")]
    return [file for file in files if any(fnmatchcase(file.stem, name) for name in names)]


def _held(file: Path) -> str:
    """What a stored result or model says; of a result, when and how it was measured is left out."""
    if file.suffix == ".json":
        rows = results.stored(file.stem)["rows"]
        text = json.dumps([[row["member"], row["numbers"]] for row in rows])
    else:
        text = file.read_text(encoding="ascii")
    return hashlib.sha256(text.encode()).hexdigest()


def _reference(exercise: str) -> str:
    """What a page does that runs the reference of an exercise; nothing if it only asks."""
    for file in EXERCISES.glob(f"*/{exercise}.py"):
        for node in ast.parse(file.read_text(encoding="utf-8")).body:
            match node:
                case ast.Assign(targets=[ast.Name("exercise")], value=ast.Call(args=[of, *_])):
                    if any(each.arg == "runs" for each in node.value.keywords):
                        while isinstance(of, ast.Call):  # what is compared may be wrapped
                            of = of.args[0]
                        module = f"utils.exercises.{file.parent.name}.{exercise}"
                        return f"from {module} import {ast.unparse(of)} as _{exercise}\n_{exercise}"
    return ""


class _WithoutProse(ast.NodeTransformer):
    """Leaves out the sentences that a page says."""

    def visit_Call(self, node: ast.Call) -> ast.Call:
        self.generic_visit(node)
        name = node.func.id if isinstance(node.func, ast.Name) else ""
        if name in ("observe", "claim", "guess", "checklist"):
            node.args = node.args[: name == "claim"]  # its id
        return node
