"""The set-up: make, the lock, readers' copies that nothing overwrites, the served book."""

import ast
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import threading
import tomllib
from importlib.metadata import packages_distributions, requires
from pathlib import Path
from urllib.request import urlopen

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from utils import ROOT
from utils.press import colab, jupyter, missing, notebooks, readable, serving
from utils.press.notebooks import LessonError

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
LOCK = [
    Requirement(line)
    for line in (ROOT / "requirements.txt").read_text(encoding="utf-8").splitlines()
    if not line.startswith("#")
]


def with_sums(file: str) -> dict[str, list[str]]:
    """{package with its version: checksums} of a requirements file that has them."""
    text = (ROOT / file).read_text(encoding="utf-8")
    blocks = [block.replace("\\\n", "") for block in re.split(r"\n(?=\S)", text) if block[0] != "#"]
    return {str(Requirement(name)): sums for name, *sums in (b.split("--hash=") for b in blocks)}


FOR_TESTS = [Requirement(line) for line in with_sums("requirements-test.txt")]
LAB, TEST = (PROJECT["optional-dependencies"][name] for name in ("lab", "test"))
READING = [*PROJECT["dependencies"], *LAB]
ANEW = "the requirements files are not as `make lock` writes them: run that"
ACCELERATOR = ("nvidia-", "cuda-", "triton")  # pip brings them where they are of use

# ------------------------------------------------------------------------------------------- make

# Stands for Python and pip: notes what it is called with, and fails where FAIL matches.
FAKE_PYTHON = """\
#!/bin/sh
if echo "$2" | grep -q pathlib; then exec "$REAL" "$@"; fi
echo "$*" | cut -c1-70 >> "$LOG"
if [ -n "$FAIL" ] && echo "$*" | grep -q -e "$FAIL"; then exit 1; fi
if [ "$*" = "-m venv .venv" ]; then mkdir -p .venv/bin && cp "$0" .venv/bin/python; fi
"""
REQUIREMENTS = ("requirements.txt", "requirements-hashes.txt", "requirements-test.txt")
CHECK = "-c import sys, venv, ensurepip"
VENV = "-m venv .venv"
INSTALL = "-m pip install --no-deps --require-hashes --requirement requirements-h"  # …ashes.txt
INSTALL_TORCH = "-m pip install torch==2.13.0"
FROM_INDEX = "-m pip install --no-deps --retries 1 --index-url https://download.pyto"  # …rch.org
INSTALL_BOOK = "-m pip install --quiet --no-deps --no-build-isolation --editable"
SET_UP = [INSTALL, INSTALL_TORCH, f"{INSTALL_BOOK} ."]
INSTALL_TESTS = "-m pip install --no-deps --require-hashes --requirement requirements-t"  # …est.txt
TESTS_RUN = "-m pytest --nbval"
LAB_OPENS = "-m utils.press.jupyter lab --"


@pytest.fixture
def book(tmp_path):
    """A folder with the Makefile, in which `make` finds a Python that only pretends."""
    if os.name == "nt" or not shutil.which("make"):
        pytest.skip("there is no make here")
    folder = tmp_path / "a book, with (blanks)"
    folder.mkdir()
    shutil.copy(ROOT / "Makefile", folder)
    for name in (*REQUIREMENTS, "pyproject.toml"):
        shutil.copy(ROOT / name, folder)
    python = tmp_path / "python"
    python.write_text(FAKE_PYTHON)
    python.chmod(0o755)
    return folder


NO_INDEX = {"TORCH_INDEX": ""}  # PyTorch's ordinary package, whatever machine this is


def make(
    book: Path,
    *arguments: str,
    fail: str = "",
    environment: dict | None = None,
    works: bool = False,
) -> tuple[list[str], str]:
    """What Python was asked for (shortened, without `CHECK`), and what make printed on stderr.

    fail: of which calls Python makes nothing; works: that make does without them.
    """
    works = works or not fail
    log = book.parent / "log"
    log.write_text("")
    done = subprocess.run(
        ["make", f"PYTHON={book.parent / 'python'}", *arguments],
        cwd=book,
        env={"PATH": os.environ["PATH"], "LOG": str(log), "FAIL": fail, "REAL": sys.executable}
        | (NO_INDEX if environment is None else environment),
        capture_output=True,
        text=True,
    )
    assert (done.returncode == 0) == works, done.stderr
    calls = [line.strip() for line in log.read_text().splitlines()]
    return [call for call in calls if not call.startswith(CHECK)], done.stderr


def test_the_first_run_sets_everything_up_and_the_second_goes_straight_on(book):
    assert make(book, "test")[0] == [VENV, *SET_UP, INSTALL_TESTS, TESTS_RUN]
    assert make(book, "test")[0] == [TESTS_RUN]


def test_a_reader_gets_the_tests_packages_with_the_tests(book):
    assert make(book, "lab")[0] == [VENV, *SET_UP, LAB_OPENS]
    assert make(book, "test")[0] == [INSTALL_TESTS, TESTS_RUN]
    assert make(book, "lab")[0] == [LAB_OPENS]


@pytest.mark.parametrize("fail", [VENV, INSTALL, INSTALL_TORCH, INSTALL_BOOK])
def test_an_interrupted_set_up_is_done_again_from_the_start(book, fail):
    calls, _ = make(book, "test", fail=fail)
    assert fail in calls[-1] and TESTS_RUN not in calls
    assert make(book, "test")[0] == [VENV, *SET_UP, INSTALL_TESTS, TESTS_RUN]


def test_where_only_the_tests_packages_are_lacking_they_alone_are_installed(book):
    calls, _ = make(book, "test", fail=INSTALL_TESTS)
    assert calls == [VENV, *SET_UP, INSTALL_TESTS]
    assert make(book, "test")[0] == [INSTALL_TESTS, TESTS_RUN]


@pytest.mark.parametrize("changed", ["requirements.txt", "requirements-hashes.txt"])
def test_a_changed_lock_is_installed_into_what_is_there(book, changed):
    make(book, "test")
    later = (book / ".venv" / "ready").stat().st_mtime + 10
    os.utime(book / changed, (later, later))
    calls, _ = make(book, "test", fail=INSTALL)
    assert calls == [INSTALL]
    assert make(book, "test")[0] == [*SET_UP, INSTALL_TESTS, TESTS_RUN]


@pytest.mark.parametrize("fail", ["", INSTALL_BOOK])
def test_a_book_that_was_moved_keeps_its_environment(book, fail):
    make(book, "test")
    script = f'#!/bin/sh\nexec "{book}/.venv/bin/python" "$0"\n'
    (book / ".venv" / "bin" / "torchrun").write_text(script)
    moved = book.rename(book.with_name("elsewhere"))
    calls, _ = make(moved, "test", fail=fail)
    whole = [*SET_UP, INSTALL_TESTS, TESTS_RUN]
    assert calls == (SET_UP if fail else whole)
    (found,) = (moved / ".venv" / "bin").glob("torch*")
    assert found.read_text() == script.replace(str(book), str(moved))
    assert make(moved, "test")[0] == (whole if fail else [TESTS_RUN])


def test_the_first_lab_says_at_once_what_it_does(book):
    silent = {"PATH": os.environ["PATH"], "LOG": os.devnull, "FAIL": ""}
    command = ["make", f"PYTHON={book.parent / 'python'}", "lab"]
    settings = {"cwd": book, "capture_output": True, "text": True, "env": silent}
    assert "Making copies of the lessons in my/" in subprocess.run(command, **settings).stdout
    (book / "my").mkdir()
    assert "Opening JupyterLab on your lessons" in subprocess.run(command, **settings).stdout


def test_another_python_is_refused_in_one_sentence(book):
    calls, said = make(book, "lab", fail=CHECK)
    assert calls == [] and not (book / ".venv").exists()
    (sentence, of_make) = said.splitlines()
    assert re.match(r"The book needs Python 3.11, 3.12 or 3.13 .*PYTHON=python3", sentence)
    assert of_make.startswith("make: ***")


@pytest.fixture
def without_a_gpu(book):
    """The environment of a machine with Linux and, if any, a GPU that nvidia-smi doesn't see."""
    if sys.platform != "linux":
        pytest.skip("elsewhere the ordinary package is the small one")
    (tools := book.parent / "tools").mkdir()
    (tools / "nvidia-smi").write_text("#!/bin/sh\nexit 9\n")
    (tools / "nvidia-smi").chmod(0o755)
    return {"PATH": f"{tools}:{os.environ['PATH']}"}


def test_without_a_gpu_pytorch_is_its_own_indexs_build_for_the_cpu(book, without_a_gpu):
    calls, _ = make(book, "lab", environment=without_a_gpu)
    assert calls == [VENV, INSTALL, FROM_INDEX, f"{INSTALL_BOOK} .", LAB_OPENS]


def test_where_that_index_is_not_reached_the_ordinary_package_serves(book, without_a_gpu):
    calls, _ = make(book, "lab", environment=without_a_gpu, fail="index-url", works=True)
    assert calls == [VENV, INSTALL, FROM_INDEX, *SET_UP[1:], LAB_OPENS]


def test_with_a_gpu_the_ordinary_package_is_taken(book, without_a_gpu):
    (book.parent / "tools" / "nvidia-smi").write_text("#!/bin/sh\necho GPU 0\n")
    assert make(book, "lab", environment=without_a_gpu)[0] == [VENV, *SET_UP, LAB_OPENS]


def test_another_index_is_asked_where_one_is_named(book):
    calls, _ = make(book, "lab", "TORCH_INDEX=file:///wheels")
    assert calls[2] == "-m pip install --no-deps --retries 1 --index-url file:///wheels torch="


def test_help_lists_every_command_and_is_what_make_alone_does(book):
    listed = subprocess.run(["make"], cwd=book, capture_output=True, text=True).stdout
    commands = re.findall(r"^  make ([\w-]+) +\S", listed, re.MULTILINE)
    assert commands == re.search(r"\.PHONY: (.*)", (ROOT / "Makefile").read_text())[1].split(), (
        "Makefile: each command has its place in .PHONY, and a `## comment` behind its name"
    )


@pytest.mark.parametrize("given", [{}, {"NUMBER": "8", "TOPIC": "Text Classification"}])
def test_a_topic_of_two_words_and_one_that_is_missing_arrive_as_they_are(book, given):
    told = subprocess.run(
        ["make", "--dry-run", "new-day", *(f"{name}={value}" for name, value in given.items())],
        cwd=book,
        env={
            name: os.environ[name] for name in os.environ if not name.startswith(("MAKE", "MFLAGS"))
        },
        capture_output=True,
        text=True,
    )
    called = shlex.split(told.stdout.splitlines()[-1])
    assert called[-2:] == [given.get("NUMBER", ""), given.get("TOPIC", "")]


def test_the_book_is_found_in_a_folder_that_the_code_page_can_not_name(tmp_path):
    (folder := tmp_path / "书" / "chapters").mkdir(parents=True)
    shutil.copy(ROOT / "conftest.py", folder.parent)
    (folder.parent / "convolution_to_attention.py").touch()
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider"],
        cwd=folder.parent,
        env=os.environ | {"PYTHONPATH": str(folder.parent), "PYTHONIOENCODING": "cp1252:replace"},
        capture_output=True,
    )
    assert done.returncode == pytest.ExitCode.NO_TESTS_COLLECTED, done.stdout + done.stderr


# ------------------------------------------------------------------------------- lock and settings


def test_the_lock_has_each_package_once_for_every_machine():
    names = [canonicalize_name(package.name) for package in LOCK]
    assert len(names) == len(set(names)), f"a package stands there twice: {ANEW}"
    for package in LOCK:
        assert re.fullmatch(r"==[\d.]+(post\d+)?", str(package.specifier)), f"{package}: {ANEW}"
        assert not package.name.startswith(ACCELERATOR), f"{package}: {ANEW}"
    assert "torch==2.13.0" in map(str, LOCK), ANEW


def test_every_package_but_pytorch_has_its_checksums():
    locked = with_sums("requirements-hashes.txt")
    assert list(locked) == [str(package) for package in LOCK if package.name != "torch"], ANEW
    for sums in [*locked.values(), *with_sums("requirements-test.txt").values()]:
        assert sums and all(each.startswith("sha256:") for each in sums)


def test_what_only_tests_need_is_not_installed_for_reading():
    reading, testing = ({canonicalize_name(p.name) for p in lock} for lock in (LOCK, FOR_TESTS))
    assert not reading & testing, ANEW
    assert {"pytest", "playwright", "ruff", "transformers"} <= testing


def test_binder_takes_the_locked_pytorch_for_the_cpu():
    environment = yaml.safe_load((ROOT / ".binder" / "environment.yml").read_text("utf-8"))
    (torch,) = (str(package.specifier) for package in LOCK if package.name == "torch")
    assert f"pytorch-cpu={torch.removeprefix('==')}" in environment["dependencies"], (
        "the lock has another PyTorch than .binder/environment.yml: write its version there too"
    )
    script = (ROOT / ".binder" / "postBuild").read_text(encoding="utf-8")
    assert "--no-deps --require-hashes --requirement requirements-hashes.txt" in script


def test_the_lock_fits_the_ranges_of_the_project():
    everything = [*LOCK, *FOR_TESTS]
    locked = {canonicalize_name(package.name): package.specifier for package in everything}
    for wanted in map(Requirement, [*READING, *TEST]):
        version = str(locked.get(canonicalize_name(wanted.name), "none")).removeprefix("==")
        assert wanted.specifier.contains(version), (
            f"pyproject.toml wants {wanted}, the lock has {version}: run `make lock`"
        )


@pytest.mark.parametrize("wanted, lock", [(READING, LOCK), (TEST, [*LOCK, *FOR_TESTS])])
def test_the_lock_is_complete(wanted, lock):
    locked = {canonicalize_name(package.name) for package in lock}
    waiting, seen = [Requirement(line) for line in wanted], set()
    while waiting:
        package = waiting.pop()
        if package.name.startswith(ACCELERATOR) or str(package) in seen:
            continue
        seen.add(str(package))
        assert canonicalize_name(package.name) in locked, f"{package} is missing: run `make lock`"
        for line in requires(package.name) or []:
            needed, extras = Requirement(line), package.extras or {""}
            if not needed.marker or any(needed.marker.evaluate({"extra": e}) for e in extras):
                waiting.append(needed)


def test_the_project_declares_whatever_it_imports():
    folders = ("utils", "tests", "experiments", "benchmarks", "chapters", "_ext")
    files = [
        ROOT / "conftest.py",
        *(file for name in folders for file in ROOT.glob(f"{name}/**/*.py")),
    ]
    names = {
        name.partition(".")[0]
        for file in files
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, ast.Import | ast.ImportFrom)
        for name in (
            [node.module] if isinstance(node, ast.ImportFrom) else [a.name for a in node.names]
        )
    }
    lines = [*PROJECT["dependencies"], *sum(PROJECT["optional-dependencies"].values(), [])]
    declared = {canonicalize_name(Requirement(line).name) for line in lines}
    declared.add(canonicalize_name(PROJECT["name"]))
    homes = packages_distributions()
    ours = {file.stem for file in files} | set(folders)
    foreign = names - set(sys.stdlib_module_names) - ours
    assert {"torch", "nbformat"} <= foreign
    homes = {name: {*map(canonicalize_name, homes.get(name, [name]))} for name in foreign}
    missing = {name for name in foreign if not declared & homes[name]}
    assert missing == set(), (
        f"{sorted(missing)} are imported: name their packages in pyproject.toml and run `make lock`"
    )


def test_a_lesson_away_from_the_lab_imports_only_what_it_needs():
    base = {canonicalize_name(Requirement(line).name) for line in PROJECT["dependencies"]}
    assert not base & {canonicalize_name(Requirement(line).name) for line in TEST}
    assert missing.missing() == []
    sums = {name.partition("==")[0] for name in with_sums("requirements-hashes.txt")}
    assert base - sums == {"torch"}


def test_what_a_service_lacks_is_installed_at_the_versions_of_the_lock(monkeypatch):
    monkeypatch.setattr(missing, "installed", lambda name: name not in ("sacrebleu", "babel"))
    (bleu,) = (package for package in LOCK if package.name == "sacrebleu")
    (babel,) = (package for package in LOCK if package.name == "babel")
    assert missing.missing() == [str(babel), str(bleu)]


def test_the_version_is_the_same_everywhere():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    newest = re.search(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.M)
    assert citation["version"] == newest[1] == PROJECT["version"], (
        "write one version into CITATION.cff, pyproject.toml and the first heading of CHANGELOG.md"
    )


def test_every_command_that_the_text_names_is_one_of_make():
    phony = re.search(r"\.PHONY: (.*)", (ROOT / "Makefile").read_text())[1].split()
    pages = [*ROOT.glob("*.md"), *ROOT.glob("chapters/*.py"), *ROOT.glob("utils/**/*.py")]
    named = [
        (page.name, command)
        for page in pages
        for command in re.findall(r"(?:`|^)make ([\w-]+)", page.read_text(encoding="utf-8"), re.M)
    ]
    assert {"lab", "test", "book"} <= {command for page, command in named if page == "README.md"}
    unknown = [pair for pair in named if pair[1] not in phony]
    assert unknown == [], f"{unknown} name no command of the Makefile: `make` lists those there are"


def test_without_make_the_readme_calls_what_make_calls():
    recipes = (ROOT / "Makefile").read_text(encoding="utf-8")
    text = (ROOT / "installing.md").read_text(encoding="utf-8")
    named = re.findall(r"python -m (\S+).*# make ([\w-]+)", text)
    assert {command for _, command in named} == {
        *("lab", "fresh", "progress", "summary", "test"),
        *("execute", "days", "new-day", "class", "collect"),
    }
    for module, command in named:
        assert re.search(rf"^{command}:.*\n\t.*-m {module}\b", recipes, re.MULTILINE), (
            f"installing.md: without make, `make {command}` is another module than {module}"
        )


def test_the_workflow_runs_on_windows_what_the_page_says():
    page = (ROOT / "installing.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```powershell\n(.*?)\n```", page, re.DOTALL)
    lines = "\n".join(blocks).splitlines()
    named = [line.partition(" # ")[0].strip() for line in lines]
    workflow = yaml.safe_load((ROOT / ".github/workflows/book.yml").read_text(encoding="utf-8"))
    job = workflow["jobs"]["windows"]
    run = [step["run"] for step in job["steps"] if "run" in step]
    whole = r".venv\Scripts\python -m pytest --nbval"
    assert run[-1].startswith(f"{whole} chapters/")  # a part, for the sake of time
    settings = {f"$env:{name} = {value}" for name, value in job["env"].items()}
    done = {*run[:-1], whole, *settings}
    waiting = r"\.(jupyter lab|serving|notebooks|lessons|new_day 16 audio)$"  # or changing the book
    assert [line for line in named if line not in done and not re.search(waiting, line)] == []
    own = [line for line in run[:-1] if line not in named]
    assert all(re.match(r"mkdir |\S+ -m playwright install ", line) for line in own), own
    assert {"py -3.12 -m venv .venv", *settings} <= set(named)


def test_the_command_for_one_exercise_runs_the_tests_of_its_pages_too():
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    (arguments,) = re.findall(r'make test ARGS="([^"]* -k [^"]*)"', text)
    collected = subprocess.run(
        [sys.executable, "-m", "pytest", "--collect-only", "-q", "-n0", "-p", "no:cacheprovider"]
        + shlex.split(arguments),
        cwd=ROOT,
        capture_output=True,
        text=True,
    ).stdout
    for test in (
        "test_every_exercise_has_its_check_its_page_and_its_solution[self_attention-05_",
        "test_an_exercise_is_untouched_in_the_chapter_and_passed_in_its_solution[self_attention-05_",
        "test_the_checklist_of_a_chapter_names_its_exercises[self_attention-05_",
        "test_the_minutes_of_an_exercise_are_its_estimate[05_",
        "test_a_lesson_opens_with_how_long_it_takes[05_",
        "test_the_reference_passes[split_heads]",
        "test_a_name_is_that_of_one_exercise_in_the_book[split_heads]",
    ):
        assert test in collected, f"{test} is not run by `make test ARGS={arguments!r}`"
    assert "convolution" not in collected


WORKFLOWS = {
    path.stem: path.read_text(encoding="utf-8") for path in ROOT.glob(".github/workflows/*.yml")
}


def test_every_push_runs_what_the_makefile_runs():
    workflow = yaml.safe_load(WORKFLOWS["book"])
    steps = [step for job in workflow["jobs"].values() for step in job["steps"]]
    assert {"run": ".ci/run"} in steps and os.access(ROOT / ".ci" / "run", os.X_OK)
    matrix = workflow["jobs"]["test"]["strategy"]["matrix"]
    assert matrix == {
        "os": ["ubuntu-latest", "macos-latest"],
        "python": ["3.11", "3.12", "3.13.0", "3.13"],
    }
    assert any("pip_audit --requirement requirements.txt" in step.get("run", "") for step in steps)
    assert "schedule" in workflow[True]  # YAML reads `on` so


def test_the_book_is_published_with_its_addresses_and_copies_for_colab():
    jobs = yaml.safe_load(WORKFLOWS["book"])["jobs"]
    assert {"BOOK_REPOSITORY", "BOOK_BRANCH", "BOOK_ADDRESS"} == set(jobs["publish"]["env"])
    steps = [step.get("run", "") for step in jobs["publish"]["steps"]]
    taken = next(at for at, step in enumerate(steps) if "utils.press.offline pdf epub zip" in step)
    built = next(at for at, step in enumerate(steps) if "jupyter-book build" in step)
    assert taken < built, "the first page links to what is there when it is built"
    steps = [step.get("run", "") for step in jobs["colab"]["steps"]]
    assert any("-m utils.press.colab" in step for step in steps)
    assert any(step.rstrip().endswith(f"origin {colab.BRANCH}") for step in steps)
    assert jobs["colab"]["permissions"] == {"contents": "write"}


def test_a_codespace_sets_the_book_up():
    settings = json.loads((ROOT / ".devcontainer" / "devcontainer.json").read_text("utf-8"))
    assert settings["postCreateCommand"] == "make .venv/ready"
    image, version = settings["image"].rsplit(":", 1)
    assert image == "mcr.microsoft.com/devcontainers/python"
    assert f'"{version}"' in WORKFLOWS["book"], "take a version that the tests run with"


def test_what_a_workflow_uses_is_one_commit_with_its_version():
    for used in re.findall(r"uses: (.*)", "\n".join(WORKFLOWS.values())):
        assert re.fullmatch(r"[\w-]+/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", used), (
            f"{used}: name the commit, and behind it the version, as in `action@COMMIT # v1.2.3`"
        )


def test_every_week_a_sample_of_mistakes_is_made():
    workflow = yaml.safe_load(WORKFLOWS["mutation"])
    assert {"run": 'make mutation SEED="$SEED"'} in workflow["jobs"]["mutation"]["steps"]
    assert {"schedule", "workflow_dispatch"} <= set(workflow[True])


def test_every_week_the_newest_of_all_ranges_and_another_shake_are_tried():
    newest, book = (yaml.safe_load(WORKFLOWS[name]) for name in ("newest", "book"))
    assert newest["env"]["NEWEST"] == 1 and "schedule" in newest[True]
    assert {"run": ".ci/run"} in newest["jobs"]["test"]["steps"]
    assert "run_number" in book["jobs"]["test"]["env"]["BOOK_SHAKE"]
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    assert "NEWEST" in script and "BOOK_SHAKE=${BOOK_SHAKE:-13}" in script
    assert script.count("unset BOOK_SHAKE") == 1  # in the first pass alone


def test_a_deployment_under_way_is_not_cancelled():
    workflow = yaml.safe_load(WORKFLOWS["book"])
    only_there = "${{ github.event_name == 'pull_request' }}"
    assert workflow["concurrency"]["cancel-in-progress"] == only_there
    assert "pull_request" not in workflow["jobs"]["publish"]["if"]


# --------------------------------------------------------------------------------- readers' copies

LESSON = """\
# %% [markdown]
# # Day 1

# %%
print({})
"""


@pytest.fixture
def lessons(tmp_path, monkeypatch):
    """A book with one lesson and its solutions; `my` is where the reader's copies go."""
    for module, name, folder in (
        (notebooks, "CHAPTERS", "chapters"),
        (jupyter, "CHAPTERS", "chapters"),
        (jupyter, "MINE", "my"),
        (notebooks, "ROOT", ""),
        (jupyter, "ROOT", ""),
    ):
        monkeypatch.setattr(module, name, tmp_path / folder)
    monkeypatch.setenv("BOOK_PROGRESS", "")  # `jupyter.main` sets it: later tests have their own
    (tmp_path / "chapters" / "solutions").mkdir(parents=True)
    change_lesson(tmp_path, 1, folder="chapters/solutions")
    change_lesson(tmp_path, 1)
    return tmp_path


def change_lesson(book: Path, number: int, folder: str = "chapters", output: str = "1\n") -> None:
    script = book / folder / "01_tiny.py"
    script.write_text(LESSON.format(number))
    notebook = notebooks.from_script(script)
    notebook.cells[1].outputs = [notebooks.nbformat.v4.new_output("stream", text=output)]
    notebook.cells[1].execution_count = 1
    notebooks.write(notebook, script.with_suffix(".ipynb"))


def rewrite(book: Path, section: str, code: str = "print(2)") -> None:
    """Give the lesson another section."""
    script = book / "chapters" / "01_tiny.py"
    script.write_text(f"# %% [markdown]\n# # Day 1\n#\n# {section}\n\n# %%\n{code}\n")
    notebooks.write(notebooks.from_script(script), script.with_suffix(".ipynb"))


def contents(folder: Path) -> dict[str, bytes]:
    return {p.relative_to(folder).as_posix(): p.read_bytes() for p in folder.rglob("*.ipynb")}


def test_missing_copies_are_made_without_outputs(lessons):
    assert jupyter.provide_copies() == []
    assert set(contents(lessons / "my")) == {"01_tiny.ipynb", "solutions/01_tiny.ipynb"}
    copy = notebooks.read(lessons / "my" / "01_tiny.ipynb")
    original = notebooks.read(lessons / "chapters" / "01_tiny.ipynb")
    assert [cell.source for cell in copy.cells] == [cell.source for cell in original.cells]
    assert copy.cells[1].outputs == [] and copy.cells[1].execution_count is None
    assert set(copy.metadata) == {"kernelspec", "book"}
    assert [p.name for p in (lessons / "my").iterdir() if p.is_file()] == ["01_tiny.ipynb"]


CITED = """\
# %% [markdown]
# See {cite:t}`two`, {cite}`one,three` and {numref}`fig-b`.

# %% tags=["hide-input"] mystnb={"figure": {"caption": "First, {cite}`one`.", "name": "fig-a"}}
1

# %% mystnb={"figure": {"caption": "Second.", "name": "fig-b"}}
2
"""
BIBLIOGRAPHY = """\
@misc{one, author = {M{\\"u}ller, A.}, title = {One}, year = {2001}, note = {arXiv:1234.5678}}
@misc{two, author = {Oord, A. van den and Li, B.}, title = {{T}wo}, year = {2002}, doi = {10.1/2}}
@article{three, author = {A, A. and B, B. and C, C.}, title = {Three}, year = {2003}, journal = {J}}
"""


def test_a_copy_has_the_citations_and_captions_that_the_book_has(tmp_path, monkeypatch):
    (tmp_path / "references.bib").write_text(BIBLIOGRAPHY, encoding="utf-8")
    (tmp_path / "03_cited.py").write_text(CITED)
    monkeypatch.setattr(readable, "ROOT", tmp_path)
    readable.references.cache_clear()
    notebook = notebooks.from_script(tmp_path / "03_cited.py")
    readable.make_readable(notebook, readable.names_in_the_book([notebook], 3, {}))
    readable.references.cache_clear()
    text, first, caption, second, caption_too, references = notebook.cells
    assert text.source == "See Oord and Li [2002], [Müller, 2001; A et al., 2003] and Figure 3.2."
    assert first.metadata.jupyter == {"source_hidden": True} and "jupyter" not in second.metadata
    assert caption.source == "*Figure 3.1.* First, [Müller, 2001]."
    assert caption_too.source == "*Figure 3.2.* Second."
    assert references.source.splitlines() == [
        "**References**",
        "",
        "- Müller (2001). *One*. [arXiv:1234.5678](https://arxiv.org/abs/1234.5678)",
        "- A, B, C (2003). *Three*. J.",
        "- Oord, Li (2002). *Two*. [doi:10.1/2](https://doi.org/10.1/2)",
    ]


@pytest.mark.parametrize("script", notebooks.scripts(), ids=lambda path: path.stem)
def test_every_lesson_becomes_a_copy_without_open_references(script, tmp_path):
    jupyter.make_copy(script.with_suffix(".ipynb"), tmp_path / "copy.ipynb")
    text = (tmp_path / "copy.ipynb").read_text()
    left = re.findall(r"\{(?:cite|numref|ref)\S*", text)
    linked, labels = re.findall(r"\{eq\}`([\w-]+)", text), re.findall(r":label: ([\w-]+)", text)
    left += set(linked) - set(labels)
    assert left == [], f"{left} lead nowhere: add the entry to references.bib, or name a figure"


LESSON_OF_A_DAY = """\
# %% [markdown]
# (sec-roles)=
# ## Three roles
#
# $$
# q = W_q x
# $$ (eq-query)
#
# ```{exercise} Scores
# :label: exercise-scores
#
# *5 minutes.* As {eq}`eq-query` has it, not {eq}`eq-proof`. More in {ref}`sec-proof`.
# ```

# %% mystnb={"figure": {"caption": "First.", "name": "fig-a"}}
1
"""
DEEPER = """\
# %% [markdown]
# (sec-proof)=
# ## The proof
#
# See {ref}`sec-roles`, or {ref}`its roles <sec-roles>`, {numref}`fig-a` and {numref}`fig-b`.
# {numref}`exercise-scores` comes before {numref}`exercise-more-scores`,
# {eq}`eq-query` before {eq}`eq-proof`.
#
# $$
# \\begin{aligned}
# k &= W_k x
# \\end{aligned}
# $$ (eq-proof)
#
# $$
# z = k
# $$
#
# ```{exercise} More scores
# :label: exercise-more-scores
# ```

# %% tags=["mechanism"] mystnb={"figure": {"caption": "Second.", "name": "fig-b"}}
2
"""
SOLVED = """\
# %% [markdown]
# # Solutions
#
# (solution-more-scores)=
# ## More scores
#
# As in {numref}`exercise-scores`, or in {ref}`sec-proof`.
"""


def test_a_day_counts_on_from_page_to_page_and_a_copy_says_what_the_book_says(lessons):
    (lessons / "chapters" / "deeper").mkdir()
    for folder, text in (("", LESSON_OF_A_DAY), ("deeper", DEEPER), ("solutions", SOLVED)):
        script = lessons / "chapters" / folder / "03_day.py"
        script.write_text(text)
        notebooks.write(notebooks.from_script(script), script.with_suffix(".ipynb"))
    assert jupyter.provide_copies() == []
    assert "my/deeper/03_day.ipynb" in contents(lessons)
    lesson = notebooks.read(lessons / "my" / "03_day.ipynb").cells
    equation = "~~~{math}\n:label: eq-query\n:enumerator: 3.1\nq = W_q x\n~~~\n"
    assert equation in lesson[0].source and "$$" not in lesson[0].source
    assert ":label: exercise-scores\n:enumerator: 3.1\n" in lesson[0].source
    assert "As {eq}`eq-query` has it, not (3.2). More in The proof." in lesson[0].source
    assert lesson[2].source == "*Figure 3.1.* First."
    deeper = notebooks.read(lessons / "my" / "deeper" / "03_day.ipynb").cells
    text = deeper[0].source
    assert "See Three roles, or its roles, Figure 3.1 and Figure 3.2." in text
    assert "Exercise 3.1 comes before Exercise 3.2,\n(3.1) before {eq}`eq-proof`." in text
    assert ":enumerator: 3.2\n\\begin{aligned}\nk &= W_k x\n\\end{aligned}\n~~~" in text
    assert "~~~{math}\n:enumerated: false\nz = k\n~~~" in text
    assert ":label: exercise-more-scores\n:enumerator: 3.2\n" in text
    assert deeper[1].metadata.jupyter == {"source_hidden": True}
    assert deeper[2].source == "*Figure 3.2.* Second."
    solved = notebooks.read(lessons / "my" / "solutions" / "03_day.ipynb").cells[0].source
    assert "(solution-more-scores)=\n## 3.2 More scores\n" in solved
    assert "As in Exercise 3.1, or in The proof." in solved


def test_a_copy_for_colab_begins_with_a_cell_that_fetches_the_book(lessons):
    colab.write_copies(lessons / "copies", "https://example.org/a/book", "work")
    assert len(contents(lessons / "copies")) == 2
    copy = notebooks.read(lessons / "copies" / "chapters" / "01_tiny.ipynb")
    notebooks.nbformat.validate(copy)
    assert "--branch work https://example.org/a/book " in copy.cells[0].source
    original = notebooks.read(lessons / "chapters" / "01_tiny.ipynb")
    assert [cell.source for cell in copy.cells[1:]] == [cell.source for cell in original.cells]


def test_a_copy_is_never_overwritten_and_other_outputs_are_no_change(lessons):
    jupyter.provide_copies()
    mine = lessons / "my" / "01_tiny.ipynb"
    notebook = notebooks.read(mine)
    notebook.cells[1].source = "print('my own')"
    notebooks.write(notebook, mine)
    before = contents(lessons / "my")
    change_lesson(lessons, 1, output="2\n")
    assert jupyter.provide_copies() == []
    assert contents(lessons / "my") == before


def test_a_changed_lesson_is_told_of_and_comes_beside_the_copy(lessons):
    jupyter.provide_copies()
    before = contents(lessons / "my")
    change_lesson(lessons, 2)
    (said,) = jupyter.provide_copies()
    assert "my/01_tiny.ipynb: the lesson has changed" in said
    assert "`make fresh LESSON=chapters/01_tiny` puts a new copy beside it" in said

    assert jupyter.fresh_copy("chapters/01_tiny") == lessons / "my" / "01_tiny.new1.ipynb"
    (said,) = jupyter.provide_copies()
    assert "the current one is my/01_tiny.new1.ipynb" in said
    assert jupyter.fresh_copy("01_tiny").name == "01_tiny.new2.ipynb"
    (lessons / "my" / "01_tiny.new1.ipynb").unlink()
    kept = contents(lessons / "my")
    assert jupyter.fresh_copy("01_tiny").name == "01_tiny.new1.ipynb"
    assert contents(lessons / "my").items() >= kept.items() >= before.items()
    assert "print(2)" in (lessons / "my" / "01_tiny.new1.ipynb").read_text()


def test_rewritten_lessons_come_into_a_folder_of_their_own_and_one_sentence_says_so(lessons):
    jupyter.provide_copies()
    before = contents(lessons / "my")
    rewrite(lessons, "## Step by step")
    (said,) = jupyter.provide_copies()
    assert said == (
        "The lessons have been rewritten since you began. The new ones are in my/rewritten/. Your "
        "copies in my/ stay as they are, and your ticks count for both."
    )
    new = lessons / "my" / "rewritten"
    assert set(contents(new)) == {"01_tiny.ipynb", "solutions/01_tiny.ipynb"}
    assert contents(lessons / "my").items() >= before.items()
    assert "Step by step" in (new / "01_tiny.ipynb").read_text()
    assert jupyter.fresh_copy("01_tiny") == new / "01_tiny.new1.ipynb"
    assert jupyter.provide_copies() == [said]
    rewrite(lessons, "## Step by step", "print(3)")  # a smaller change, after that
    assert [text.partition(";")[0] for text in jupyter.provide_copies()] == [
        said,
        "my/rewritten/01_tiny.ipynb: the lesson has changed since you began",
    ]


def test_a_reader_who_begins_with_the_rewritten_lessons_works_in_my(lessons):
    rewrite(lessons, "## Step by step")
    assert jupyter.provide_copies() == []
    mine = lessons / "my" / "01_tiny.ipynb"
    notebook = notebooks.read(mine)
    notebook.cells[0].source += "\n\n## My own notes"
    notebooks.write(notebook, mine)
    assert jupyter.provide_copies() == [] and jupyter.folder() == lessons / "my"


def test_make_lab_opens_the_rewritten_lesson(lessons, monkeypatch, capsys):
    jupyter.provide_copies()
    rewrite(lessons, "## Step by step")
    opened = []
    monkeypatch.setattr(jupyter, "open_lab", lambda workspace, page, options: opened.append(page))
    monkeypatch.setenv("BOOK_PROGRESS", "")
    jupyter.main(["lab", "01_tiny"])
    assert opened == [lessons / "my" / "rewritten" / "01_tiny.ipynb"]
    assert os.environ["BOOK_PROGRESS"] == str(lessons / "my" / ".progress.json")
    out = capsys.readouterr().out
    assert out.startswith("The lessons have been rewritten since you began. ")
    assert "copies of the lessons that are yours, in my/rewritten/.\n" in out


@pytest.mark.parametrize(
    "damage",
    [b"", b"{", b"[]", b"{}", b"\xff\xfe\x00", b'{"cells": 1, "metadata": {}, "nbformat": 4}'],
)
def test_a_damaged_copy_is_told_of_and_left(lessons, damage):
    jupyter.provide_copies()
    (lessons / "my" / "01_tiny.ipynb").write_bytes(damage)
    (said,) = jupyter.provide_copies()
    assert re.fullmatch(r"my/01_tiny.ipynb is damaged: .*; it was left as it is, and .*\.", said)
    assert (lessons / "my" / "01_tiny.ipynb").read_bytes() == damage


def test_a_copy_without_its_note_is_told_of_and_left(lessons):
    jupyter.provide_copies()
    mine = lessons / "my" / "01_tiny.ipynb"
    notebook = notebooks.read(mine)
    notebook.metadata = {}
    notebooks.write(notebook, mine)
    before = mine.read_bytes()
    (said,) = jupyter.provide_copies()
    assert "doesn't say which version" in said and "left as it is" in said
    assert mine.read_bytes() == before


def test_copies_that_cannot_be_written_are_a_sentence(lessons, capsys):
    (lessons / "my").write_text("a file")
    with pytest.raises(SystemExit, match="my/01_tiny.ipynb .*written"):
        jupyter.main(["lab"])


def test_a_lesson_that_does_not_exist_is_a_sentence(lessons):
    with pytest.raises(LessonError, match="'02'; .* 01_tiny"):
        jupyter.fresh_copy("02")
    with pytest.raises(SystemExit, match="'02'; .* 01_tiny"):
        jupyter.main(["lab", "02"])


@pytest.mark.parametrize("arguments", [[], ["fresh"], ["lap"], ["lab", "a", "b"]])
def test_a_wrong_command_says_what_there_is(arguments):
    with pytest.raises(SystemExit, match="python -m utils.press.jupyter lab"):
        jupyter.main(arguments)


def test_links_between_lessons_lead_somewhere_from_a_copy_too():
    copies = {jupyter.MINE / path.relative_to(notebooks.CHAPTERS) for path in notebooks.scripts()}
    copies = {path.with_suffix(".ipynb") for path in copies}
    for script in notebooks.scripts():
        copy = jupyter.MINE / script.relative_to(notebooks.CHAPTERS)
        lines = script.read_text(encoding="utf-8").splitlines()
        text = "\n".join(line for line in lines if line.startswith("#"))
        for target in re.findall(r"\]\(([^)#\s:]+)[)#]", text):
            path = Path(os.path.normpath(copy.parent / target))
            assert path in copies or path.exists(), (
                f"{script.name} links to {target}, which is not there: mend it, `make execute`"
            )


# --------------------------------------------------------------------------------- the served book


def test_the_book_is_served_to_this_machine_alone_and_a_taken_port_is_no_obstacle(tmp_path):
    with pytest.raises(FileNotFoundError, match="`make book`"):
        serving.server(tmp_path)
    (tmp_path / "index.html").write_text("the book")
    with serving.server(tmp_path, 0) as first:
        taken = first.server_address[1]
        with serving.server(tmp_path, taken) as second:
            assert second.server_address[0] == "127.0.0.1"
            assert second.server_address[1] != taken
            threading.Thread(target=second.serve_forever, daemon=True).start()
            with urlopen(f"http://127.0.0.1:{second.server_address[1]}/") as answer:
                assert answer.read() == b"the book"
            second.shutdown()


def test_a_port_that_is_no_number_is_a_sentence():
    with pytest.raises(SystemExit, match="port .*'x'"):
        serving.main(["x"])


def test_jupyterlab_is_told_not_to_ask_about_news():
    settings = json.loads((jupyter.SETTINGS / "overrides.json").read_text())
    assert settings["@jupyterlab/apputils-extension:notification"]["fetchNews"] == "false"
