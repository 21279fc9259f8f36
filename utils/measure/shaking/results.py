"""What is stored of shaken runs, a file a page, and which code they are of."""

import ast
import hashlib
import json
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
from utils.measure.fingerprint import fingerprint

STORED = SCRIPTS / "results" / "shaken"
MODELS = ROOT / "_static" / "models"
EXERCISES = ROOT / "utils" / "exercises"


def name_of(page: Path) -> str:
    """A page's script as the name of a file, as in `deeper-01_convolution`."""
    return page.relative_to(ROOT / "chapters").with_suffix("").as_posix().replace("/", "-")


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
