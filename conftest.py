"""How pytest treats the book: what it compares in notebooks, where, and in which order."""

import ast
import json
import os
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from nbval import kernel, plugin

ROOT = Path(__file__).resolve().parent
WHOLE_BOOK = "build"  # the fixture that builds the book from all its files

BEGUN_WITH = dict(os.environ)  # libraries add to it: joblib, which counts processors for xdist

PATIENCE = 600  # seconds for what takes one
SECONDS = "seconds.json"  # each file's, in the last run
TAKEN: Counter[str] = Counter()  # seconds of each file in this run
FINE: Counter[str] = Counter()  # tests of each file that were run here, less those that failed
WAITING: set[str] = set()  # files of which a test was skipped, and may run the next time
MAY_RUN = ("no Chromium found", "other programs")  # reasons that the setting doesn't tell

# Until a run has told how long each file takes: the files that begin first.
SLOWEST_FIRST = ("tests/test_jupyterlab.py", "tests/test_browser.py", "chapters/")

# Not compared: progress bars, warnings, and the numbers behind a claim; nbval leaves out pictures.
NOT_COMPARED = ("stderr", "text/markdown", "application/vnd.book+json", "image/svg+xml")

# Nor what an interactive view has measured; its script, style and text are compared.
IN_VIEWS = {
    r'(?s)<div class="view-still">.*?</div>': "",
    r'<script type="application/json">.*?</script>': "",
    r"\b(view-\w+)-[0-9a-f]{8}\b": r"\1",
}


class Run(NamedTuple):
    """What is settled before anything is collected, the same in all of xdist's processes."""

    begun: float
    setting: list[str]  # what else than files may change what a page shows
    passed: list[str]  # pages and tests that passed here with the same inputs, by path in the book
    seconds: dict[str, float]  # that a file took in the last run
    changes: str = ""  # of the setting, for which nothing is left out


class Patient(kernel.RunningKernel):
    """A page's kernel. Beside other programs it answers late, and may find a port taken."""

    ready = False

    def __init__(self, *given, **how):
        try:
            super().__init__(*given, **how)
        except RuntimeError:  # it died before it was ready, or was not heard
            if self.is_alive():
                self.stop()
            super().__init__(*given, **how)
        self.ready = True

    def await_reply(self, msg_id, timeout=None):
        super().await_reply(msg_id, timeout if self.ready else PATIENCE)


plugin.RunningKernel = Patient
RUN = pytest.StashKey[Run]()
READINGS = pytest.StashKey()  # what each module of the book has read in this process


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--all", action="store_true", help="run what passed here again, too")


def pytest_configure(config: pytest.Config) -> None:
    """Stop if the lessons would not find this book's `utils`; set their environment."""
    if hasattr(config, "workerinput"):  # xdist: the process that started this one has done it
        listen(config)
        config.stash[RUN] = Run(*config.workerinput["run"])
        return
    where = "import convolution_to_attention as book; print(ascii(book.__file__))"
    found = subprocess.run(
        [sys.executable, "-c", where], cwd=ROOT / "chapters", capture_output=True, text=True
    )
    if found.returncode or Path(ast.literal_eval(found.stdout)).parent != ROOT:
        reason = found.stderr.strip().splitlines() or [f"Python finds {found.stdout.strip()}"]
        pytest.exit(
            f"The book in {ROOT} is not the one installed in {sys.prefix} ({reason[-1]}): "
            "run `make test`, or `pip install --no-deps -e .` in the book's folder.",
            returncode=pytest.ExitCode.USAGE_ERROR,
        )
    listen(config)
    from utils.press import stamps
    from utils.press.notebooks import PERSONAL, REPRODUCIBLE

    os.environ.update(REPRODUCIBLE)
    for name in PERSONAL:
        os.environ.pop(name, None)
    folder = kept(config)
    try:
        seconds = json.loads((folder / SECONDS).read_text(encoding="utf-8"))
    except (OSError, TypeError, ValueError):
        seconds = {}
    here, passed, changes = setting(), [], ""
    if folder and leaves_out(config):
        passed = passed_before(folder, here)
        changes = stamps.changes(folder, here)
    config.stash[RUN] = Run(time.time(), here, passed, seconds, changes)


def setting() -> list[str]:
    """What else than files may change what a page shows, as it was before any library came."""
    from utils.press import stamps
    from utils.press.notebooks import PERSONAL, REPRODUCIBLE

    common = {name: BEGUN_WITH[name] for name in BEGUN_WITH if name not in PERSONAL}
    return stamps.setting(common | REPRODUCIBLE)


def listen(config: pytest.Config) -> None:
    """Note what is read from now on."""
    from utils.press.reach import Readings

    config.stash[READINGS] = Readings()
    config.stash[READINGS].listen()


def kept(config: pytest.Config) -> Path | None:
    """The folder for what one run leaves to the next, if there is one."""
    cache = getattr(config, "cache", None)
    return cache.mkdir("book") if cache else None


def leaves_out(config: pytest.Config) -> bool:
    """Whether a run is of what didn't pass before, in the book or in a folder of it."""
    folders = {ROOT, *(ROOT / name for name in config.getini("testpaths"))}
    chosen = not {Path(os.path.abspath(given)) for given in config.args} <= folders
    everything = config.option.all or os.environ.get("CI")
    return not (chosen or picks_tests(config) or everything)


def passed_before(folder: Path, setting: list[str]) -> list[str]:
    """The pages and files of tests that needn't run again."""
    from utils.press import stamps
    from utils.press.notebooks import scripts

    pages = [script.with_suffix(".ipynb") for script in scripts()]
    files = [*pages, *sorted((ROOT / "tests").glob("test_*.py"))]
    return [
        str(file.relative_to(ROOT)) for file in files if stamps.is_current(folder, file, setting)
    ]


def picks_tests(config: pytest.Config) -> bool:
    """Whether a run may be of some tests of a file and not of others."""
    given = config.option
    named = given.keyword or given.deselect or any("::" in each for each in config.args)
    return bool(named or given.lf or given.stepwise or given.markexpr.strip() != "not speed")


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node) -> None:
    """Hand what is settled to a process of xdist."""
    node.workerinput["run"] = tuple(node.config.stash[RUN])


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """As many processes as there are whole processors for this one, and two at least."""
    from joblib import cpu_count  # which knows of quotas

    return max(2, cpu_count(only_physical_cores=True))


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave out a page or a file of tests that has passed here."""
    passed = config.stash[RUN].passed
    return True if passed and str(collection_path.relative_to(ROOT)) in passed else None


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    """Stamp a page when its last cell has passed, and all before it; not what `make shake` runs.

    A cell that writes to stderr fails: JupyterLab shows that to a reader in a pink box.
    """
    page, folder = item.parent, kept(item.config)
    if "BOOK_SHAKE_RECORD" in os.environ or not hasattr(page, "kernel"):
        return (yield)
    from utils.press import stamps

    stamped = folder is not None and page.path.is_relative_to(ROOT)
    if stamped and not hasattr(page, "passed"):
        page.passed = 0
        stamps.listen(page.kernel)
    result = yield
    fail_if_pink(item)
    if stamped:
        page.passed += 1
        if page.passed == sum(cell.cell_type == "code" for cell in page.nb.cells):
            files = stamps.reached(page.kernel, page.path.parent)
            run = item.config.stash[RUN]
            stamps.store(folder, page.path, files, run.setting, run.begun, page.path.stem)
    return result


def fail_if_pink(cell: pytest.Item) -> None:
    """Fail if a cell of a page wrote to stderr when it ran."""
    written = "".join(out.text for out in cell.test_outputs or () if out.get("name") == "stderr")
    if written:
        pytest.fail(f"the cell writes to stderr, which is pink in JupyterLab:\n{written}")


def pytest_report_header() -> list[str]:
    """Name what will make pages fail: texts of other versions than those that were measured."""
    from utils.data import libraries, prose
    from utils.data.sources import other_version

    read = sorted({*libraries.LIBRARIES, *prose.OTHERS, "babel"})
    return [f"{told} Pages that read them fail." for told in map(other_version, read) if told]


def pytest_collectstart(collector: pytest.Collector) -> None:
    """Widen what nbval does not compare."""
    if hasattr(collector, "skip_compare"):
        collector.skip_compare += NOT_COMPARED
        collector.sanitize_patterns.update(IN_VIEWS)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Tell a page's kernel, which starts now, whose it is; wait for what a cell shows."""
    if hasattr(item, "output_timeout"):
        item.output_timeout = PATIENCE
    if item.path.is_relative_to(ROOT / "chapters"):
        page = item.path.relative_to(ROOT / "chapters").with_suffix("")
        os.environ["BOOK_PAGE"] = page.as_posix().replace("/", "-")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Bring the files that took longest to the front; the order within a file stays."""
    seconds = config.stash[RUN].seconds

    def rank(item: pytest.Item) -> tuple[float, bool]:
        file = item.nodeid.partition("::")[0]
        return -seconds.get(file, 0), not file.startswith(SLOWEST_FIRST)

    items.sort(key=rank)


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Add up what each file takes, and count its tests that were run and didn't fail."""
    file = report.nodeid.partition("::")[0]
    TAKEN[file] += report.duration
    FINE[file] += report.when == "teardown"
    FINE[file] -= report.failed
    if report.skipped and report.longrepr[2].removeprefix("Skipped: ").startswith(MAY_RUN):
        WAITING.add(file)


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Keep the seconds of each file, and stamp the files of tests of which each has passed."""
    config = session.config
    folder = kept(config) if RUN in config.stash else None
    if folder is None:
        return
    run = config.stash[RUN]
    if not hasattr(config, "workerinput"):
        seconds = run.seconds | {file: round(TAKEN[file], 1) for file in TAKEN}
        (folder / SECONDS).write_text(json.dumps(seconds, indent=1), encoding="utf-8")
        if session.exitstatus == pytest.ExitCode.NO_TESTS_COLLECTED and run.passed:
            session.exitstatus = pytest.ExitCode.OK
    if not picks_tests(config):
        stamp_tests(session, folder)


def stamp_tests(session: pytest.Session, folder: Path) -> None:
    """Stamp the files of tests that this process has run whole.

    What a test is skipped for want of is part of the setting, all but `MAY_RUN`.
    """
    from utils.press import stamps
    from utils.press.reach import WHOLE

    run, readings = session.config.stash[RUN], session.config.stash[READINGS]
    of_file = {}
    for item in getattr(session, "items", ()):
        of_file.setdefault(item.nodeid.partition("::")[0], []).append(item)
    read = {}
    for name, items in of_file.items():
        if name.endswith(".py") and FINE[name] == len(items) and name not in WAITING:
            built = any(WHOLE_BOOK in item.fixturenames for item in items)
            read[ROOT / name] = readings.behind(ROOT / name) | ({WHOLE} if built else set())
    for file, files in read.items():  # when all is known, since this reads them
        stamps.store(folder, file, files, run.setting, run.begun)


def pytest_terminal_summary(terminalreporter) -> None:
    """Say in a line each what was not run, and why."""
    run = terminalreporter.config.stash[RUN]
    passed = run.passed
    if run.changes:
        terminalreporter.write_line(f"All is run, since the setting has changed: {run.changes}.")
    if passed:
        pages = sum(name.endswith(".ipynb") for name in passed)
        counted = [
            f"{count} {name}{'' if count == 1 else 's'}{of}"
            for count, name, of in ((pages, "page", ""), (len(passed) - pages, "file", " of tests"))
        ]
        terminalreporter.write_line(
            f"Not run, since they passed here and nothing that they read has changed: "
            f"{' and '.join(counted)} (ALL=1 runs all)."
        )
    why = Counter(
        report.longrepr[2].removeprefix("Skipped: ")
        for report in terminalreporter.getreports("skipped")
    )
    if why:
        said = "; ".join(f"{count} × {reason}" for reason, count in why.most_common())
        terminalreporter.write_line(f"Skipped: {said}.")
