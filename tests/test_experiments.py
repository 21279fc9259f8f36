"""Experiments are measured member by member, stored as they were found, and verified by bits."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import joblib
import pytest

from utils import ROOT
from utils.measure.experiments import (
    ExperimentError,
    grid,
    is_stale,
    live,
    load,
    names,
    results,
    run,
    running,
    verifying,
)
from utils.measure.experiments import __main__ as command

SCRIPT = '''\
"""Counts its calls in files beside it."""

import tempfile
from pathlib import Path

PARAMETERS = {"activation": ["ReLU", "tanh"], "seed": [0, 1, 2], "steps": 5}
SECONDS = ("seconds",)
SHORT = {"steps": 2, "FACTOR": 3}
FACTOR = 10


def data():
    return [[1.0, 2.0]]


def measure(activation, seed, steps):
    here = Path(__file__).parent
    if len(list(here.glob("call*"))) == 4 and not (here / "go_on").exists():
        raise KeyboardInterrupt
    tempfile.mkdtemp(prefix="call", dir=here)
    return {"value": FACTOR * seed + steps, "curve": [1.0, seed], "goal": None if seed else 3}
'''
SIDE_BY_SIDE = 'SECONDS = ("seconds",)\n'
WAITING = "    for _ in range(6000):\n        if {}:\n            break\n        time.sleep(0.02)\n"


@pytest.fixture
def scripts(tmp_path, monkeypatch) -> Path:
    """A folder of experiments with one in it, which is interrupted after four members."""
    folder = tmp_path / "experiments"
    (folder / "results").mkdir(parents=True)
    (folder / "growth.py").write_text(SCRIPT, encoding="utf-8")
    monkeypatch.setattr(results, "SCRIPTS", folder)
    return folder


@pytest.fixture
def calm(scripts) -> Path:
    """The same, not interrupted."""
    (scripts / "go_on").touch()
    return scripts


def change(folder: Path, old: str, new: str, file: str = "growth.py") -> None:
    text = (folder / file).read_text(encoding="utf-8")
    assert text.count(old) == 1, f"{old!r} must stand once in {file}"
    (folder / file).write_text(text.replace(old, new), encoding="utf-8")


def calls(folder: Path) -> int:
    return len(list(folder.glob("call*")))


def left(folder: Path) -> set[str]:
    """The files among the results that are not the result itself."""
    return {path.name for path in (folder / "results").iterdir()} - {"growth.json"}


# ----------------------------------------------------------------------------- running, one by one


def test_a_run_stores_every_member_of_the_grid_and_how_it_was_measured(calm):
    assert names() == ["growth"] and is_stale("growth")
    result = run("growth")
    assert [(row["activation"], row["seed"], row["value"]) for row in result.rows] == [
        (activation, seed, 10 * seed + 5) for activation in ("ReLU", "tanh") for seed in (0, 1, 2)
    ]
    assert result == load("growth") and not is_stale("growth")
    assert result.parameters["seed"] == [0, 1, 2]
    (surroundings,) = result.runs
    assert set(surroundings["versions"]) == {"python", "torch", "numpy"}
    assert surroundings["machine"].keys() == {"processor", "cores", "threads"}
    assert surroundings["machine"]["threads"] == 1
    (stamp,) = result.stamps
    assert stamp.keys() == {"fingerprint", "commit"}
    assert left(calm) <= {"growth.json.lock"}


def test_each_row_knows_its_own_seconds_and_no_column_has_them(calm):
    change(calm, "    tempfile.mk", "    sum(range(seed * 3_000_000))\n    tempfile.mk")
    result = run("growth")
    by_seed = [sum(result.seconds[seed::3]) for seed in (0, 1, 2)]
    assert len(result.seconds) == 6 and by_seed == sorted(by_seed) and by_seed[2] > 0.05
    assert {*result.rows[0]} == {"activation", "seed", "steps", "value", "curve", "goal"}
    with pytest.raises(ValueError, match="'seconds'"):
        result.spread("seconds")


def test_rows_of_an_old_run_share_its_seconds(calm):
    run("growth")
    held = json.loads((calm / "results" / "growth.json").read_text())
    held["runs"].append(held["runs"][0] | {"seconds": 30.0, "members": 6})
    for row in held["rows"][:2]:
        row.update(seconds=None, run=1)
    (calm / "results" / "growth.json").write_text(json.dumps(held))
    assert load("growth").seconds[:2] == [5.0, 5.0] and sum(load("growth").seconds[2:]) < 1


def test_one_member_is_measured_again_beside_its_stored_row(calm):
    result = run("growth")
    before = calls(calm)
    now, stored = live("growth", activation="tanh", seed=1)
    assert now == stored == result.select(activation="tanh", seed=1)[0]
    assert calls(calm) == before + 1
    with pytest.raises(ValueError):
        live("growth", activation="tanh", seed=7)


def test_an_interrupted_run_goes_on_where_it_stopped(scripts):
    with pytest.raises(KeyboardInterrupt):
        run("growth")
    assert calls(scripts) == 4 and is_stale("growth")
    (scripts / "go_on").touch()
    assert len(run("growth").rows) == 6 and calls(scripts) == 6


def test_a_changed_script_does_not_go_on_with_old_numbers(scripts):
    with pytest.raises(KeyboardInterrupt):
        run("growth")
    (scripts / "go_on").touch()
    change(scripts, "FACTOR = 10", "FACTOR = 20")
    assert run("growth").spread("value", seed=1) == (25, 25, 25)
    assert calls(scripts) == 4 + 6


@pytest.mark.parametrize(
    "damage",
    [
        lambda part: '{"fingerprint": "ab',
        lambda part: "[]",
        lambda part: '{"rows": []}',
        lambda part: json.dumps(part | {"fingerprint": "0" * 64}),
        lambda part: json.dumps(part | {"rows": [{"activation": "ReLU", "value": 7}]}),
        lambda part: json.dumps(
            part | {"rows": [row | {"numbers": {"value": "7"}} for row in part["rows"]]}
        ),
        lambda part: json.dumps(part | {"rows": [row | {"numbers": [7]} for row in part["rows"]]}),
        lambda part: json.dumps(part | {"rows": {"0": 7}}),
    ],
)
def test_a_part_of_another_form_is_measured_again(scripts, damage):
    with pytest.raises(KeyboardInterrupt):
        run("growth")
    (scripts / "go_on").touch()
    part = scripts / "results" / "growth.json.part"
    part.write_text(damage(json.loads(part.read_text())))
    assert [row["value"] for row in run("growth").rows] == 2 * [5, 15, 25]
    assert calls(scripts) == 4 + 6 and left(scripts) <= {"growth.json.lock"}


def test_foreign_rows_in_a_part_are_left_out(scripts):
    with pytest.raises(KeyboardInterrupt):
        run("growth")
    (scripts / "go_on").touch()
    part = scripts / "results" / "growth.json.part"
    held = json.loads(part.read_text())
    held["rows"][0]["member"]["activation"] = "GELU"
    part.write_text(json.dumps(held))
    assert [row["activation"] for row in run("growth").rows] == 3 * ["ReLU"] + 3 * ["tanh"]
    assert calls(scripts) == 4 + 3


def test_a_changed_grid_measures_what_is_missing_and_drops_what_is_none_of_it(calm):
    run("growth")
    change(calm, '"seed": [0, 1, 2]', '"seed": [1, 3]')
    assert is_stale("growth")
    result = run("growth")
    assert calls(calm) == 6 + 2 and not is_stale("growth")
    assert [(row["activation"], row["value"]) for row in result.rows] == [
        *[("ReLU", 15), ("ReLU", 35), ("tanh", 15), ("tanh", 35)]
    ]
    change(calm, '["ReLU", "tanh"], "seed": [1, 3]', '["tanh"], "seed": [3]')
    assert [row["value"] for row in run("growth").rows] == [35] and calls(calm) == 8


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("FACTOR = 10", "FACTOR = 11"),
        ("[0, 1, 2]", "[0, 1]"),
        ("2.0", "3.0"),
        ("seed + steps", "seed"),
        ("    here = Path(__file__)", "    here = Path(str(__file__))"),
    ],
)
def test_a_change_makes_the_result_stale(calm, old, new):
    run("growth")
    change(calm, old, new)
    assert is_stale("growth")


def test_a_run_anew_measures_all(calm):
    run("growth")
    run("growth")
    assert calls(calm) == 6
    run("growth", anew=True)
    assert calls(calm) == 12


def test_rows_are_selected_and_summarised(calm):
    result = run("growth")
    assert [row["seed"] for row in result.select(activation="tanh")] == [0, 1, 2]
    assert result.spread("value", activation="tanh") == (15, 5, 25)
    shuffled = replace(result, parameters={"seed": [2, 0, 1]})
    assert shuffled.lowest("seed", "value", activation="tanh") == 0
    with pytest.raises(ValueError, match="{'activation': 'GELU'}"):
        result.select(activation="GELU")
    with pytest.raises(ValueError, match="{'colour': None}"):
        result.select(colour=None)
    with pytest.raises(ValueError, match="'loss'.* activation"):
        result.spread("loss")
    with pytest.raises(ValueError, match="'goal' .* 2 .* 3 "):
        result.spread("goal", activation="ReLU")


@pytest.mark.parametrize("damage", ["", "{", "[]", '{"rows": []}', '{"rows": [{"run": 0}]}', None])
def test_a_missing_or_damaged_result_says_what_to_do(calm, damage):
    if damage is not None:
        (calm / "results" / "growth.json").write_text(damage)
    says = "no stored" if damage is None else "damaged"
    with pytest.raises(ExperimentError, match=f"{says}.*utils.measure.experiments growth"):
        load("growth")
    assert is_stale("growth")


def test_a_result_that_cannot_be_read_says_so(calm):
    (calm / "results" / "growth.json").mkdir()
    with pytest.raises(ExperimentError, match="growth.json .*read .*measure.experiments growth"):
        load("growth")


@pytest.mark.parametrize("value", ["float('nan')", "[1, float('inf')]", "'many'", "{}"])
def test_only_finite_numbers_are_stored(calm, value):
    change(calm, "FACTOR * seed + steps", value)
    with pytest.raises(ExperimentError, match="value = .*finite"):
        run("growth")
    assert is_stale("growth")


def test_what_is_no_experiment_is_refused(calm):
    with pytest.raises(ExperimentError, match="'shrinkage'.*growth"):
        run("shrinkage")
    change(calm, '"value"', '"seed"')
    with pytest.raises(ExperimentError, match="seed = .*parameter"):
        run("growth")
    change(calm, "def measure", "def weigh")
    with pytest.raises(ExperimentError, match="growth.py .*PARAMETERS .*measure"):
        run("growth")


def test_the_grid_is_every_combination():
    assert list(grid({"a": [1, 2], "b": "x", "c": [True, False]})) == [
        {"a": a, "b": "x", "c": c} for a in (1, 2) for c in (True, False)
    ]


def test_a_run_that_takes_too_long_is_noted(calm, monkeypatch, capsys):
    monkeypatch.setattr(running, "LIMIT", -1)
    run("growth")
    assert "growth took" in capsys.readouterr().err


@pytest.mark.parametrize("after", [0, 3])
def test_a_full_disk_is_one_sentence_and_what_was_written_is_kept(calm, monkeypatch, after):
    real, done = Path.write_text, []

    def write_text(path, *arguments, **how):
        done.append(path)
        if len(done) <= after:
            return real(path, *arguments, **how)
        real(path, "{", **how)
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as full:
        full.setattr(Path, "write_text", write_text)
        with pytest.raises(ExperimentError, match=r"^growth.json.*No space left.*\.$"):
            run("growth")
    assert left(calm) <= {"growth.json.lock", "growth.json.part"}
    lost = calls(calm) - after
    assert len(run("growth").rows) == 6 and calls(calm) == 6 + lost == 7


def test_a_folder_that_cannot_be_written_is_one_sentence(calm):
    (calm / "results" / "growth.json.lock").mkdir()
    with pytest.raises(ExperimentError, match=r"growth.json.lock .*\("):
        run("growth")


# ---------------------------------------------------------------------------------- side by side


@pytest.fixture
def at_least_two(monkeypatch):
    """Two processes where only one processor may be used, too: members wait for each other."""
    n_jobs = max(2, joblib.cpu_count())
    monkeypatch.setattr(
        running, "Parallel", lambda **how: joblib.Parallel(**how | {"n_jobs": n_jobs})
    )


@pytest.mark.usefixtures("at_least_two")
def test_members_are_measured_side_by_side_and_stored_in_the_order_of_the_grid(calm):
    alone = run("growth").rows
    change(calm, SIDE_BY_SIDE, "")
    change(
        calm,
        "    tempfile.mk",
        "    import os, time\n"
        "    (here / f'process {os.getpid()}').touch()\n"
        + WAITING.format("len(list(here.glob('process *'))) >= 2")
        + "    time.sleep(0.2 * (2 - seed))\n    tempfile.mk",
    )
    change(calm, '"goal":', '"process": os.getpid(), "goal":')
    rows = run("growth").rows
    assert len({row.pop("process") for row in rows} - {os.getpid()}) >= 2
    assert rows == alone


def test_a_member_in_another_process_has_one_thread(calm):
    change(calm, SIDE_BY_SIDE, "")
    change(
        calm,
        "    tempfile.mk",
        "    import torch, threadpoolctl\n"
        "    threads = [each['num_threads'] for each in threadpoolctl.threadpool_info()]\n"
        "    tempfile.mk",
    )
    change(calm, '"goal":', '"threads": [torch.get_num_threads(), *threads], "goal":')
    assert {n for row in run("growth").rows for n in row["threads"]} == {1}


def test_what_fails_in_another_process_is_told_with_its_line(calm):
    change(calm, SIDE_BY_SIDE, "")
    change(calm, "    tempfile.mk", "    assert seed != 1, 'no luck'\n    tempfile.mk")
    with pytest.raises(ExperimentError, match=r"(?s)'seed': 1.*failed.*growth.py.*no luck"):
        run("growth")
    assert calls(calm) == 4  # the others are kept
    change(calm, "seed != 1", "seed != 7")


@pytest.mark.usefixtures("at_least_two")
def test_a_killed_worker_loses_what_it_measured_and_nothing_else(calm):
    change(calm, SIDE_BY_SIDE, "")
    others_are_kept = "part.exists() and part.read_text().count('\"member\"') == 5"
    change(
        calm,
        "    tempfile.mk",
        "    import os, signal, time\n"
        "    part = here / 'results' / 'growth.json.part'\n"
        "    bad = activation == 'tanh' and seed == 2 and not (here / 'healed').exists()\n"
        + WAITING.format(f"not bad or {others_are_kept}")
        + "    if bad:\n"
        "        os.kill(os.getpid(), signal.SIGKILL)\n"
        "    tempfile.mk",
    )
    with pytest.raises(ExperimentError, match=r"^growth: .*killed.*\.$"):
        run("growth")
    assert calls(calm) == 5
    (calm / "healed").touch()
    assert len(run("growth").rows) == 6 and calls(calm) == 6


def process(folder: Path, *code: str) -> subprocess.Popen:
    """Another process with the experiments of a folder."""
    lines = [
        "from pathlib import Path",
        "from utils.measure.experiments import results, run",
        "import signal, sys",
        "signal.signal(signal.SIGINT, signal.default_int_handler)",  # ignored after &
        f"results.SCRIPTS = Path({str(folder)!r})",
        *code,
    ]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    return subprocess.Popen(
        [sys.executable, "-c", "\n".join(lines)], env=environment, start_new_session=True, **pipes
    )


MAIN = [
    "sys.argv[1:] = ['growth']",
    "sys.path.insert(0, '')",
    "import runpy",
    "runpy.run_module('utils.measure.experiments', run_name='__main__')",
]


@pytest.mark.parametrize("alone", [True, False])
def test_ctrl_c_keeps_what_was_measured(calm, alone):
    if not alone:
        change(calm, SIDE_BY_SIDE, "")
    change(
        calm,
        "    tempfile.mk",
        "    import time\n    time.sleep(600 * (seed == 2))\n    tempfile.mk",
    )
    running_now = process(calm, *MAIN)
    part = calm / "results" / "growth.json.part"
    # all that do not wait, or all before the first that does
    wanted = 2 if alone or joblib.cpu_count() == 1 else 4
    while not (part.exists() and len(json.loads(part.read_text())["rows"]) >= wanted):
        assert running_now.poll() is None, running_now.communicate()[1]
        time.sleep(0.05)
    os.killpg(running_now.pid, signal.SIGINT)
    _, said = running_now.communicate(timeout=600)
    assert running_now.returncode == 1 and "What was measured is kept" in said
    kept = calls(calm)
    assert 2 <= kept <= 4
    assert len(json.loads(part.read_text())["rows"]) == kept


def test_two_processes_on_one_experiment_do_not_meet(calm):
    change(
        calm,
        "    tempfile.mk",
        "    import time\n" + WAITING.format("(here / 'other waits').exists()") + "    tempfile.mk",
    )
    heard = [
        "from utils.measure.experiments import running",
        "def said(*words, **how):",
        "    (results.SCRIPTS / 'other waits').touch()",
        "    print(*words, **how)",
        "running.print = said",
    ]
    both = [process(calm, *heard, "run('growth')") for _ in range(2)]
    said = [each.communicate(timeout=600)[1] for each in both]
    assert [each.returncode for each in both] == [0, 0], said
    assert sorted("another process measures it" in each for each in said) == [False, True]
    assert calls(calm) == 6 and len(load("growth").rows) == 6


def test_a_cluster_gives_the_same_rows(calm, monkeypatch):
    pytest.importorskip(
        "distributed", reason="Dask is an optional extra: pip install -e .[cluster]"
    )
    from distributed import LocalCluster

    alone = run("growth").rows
    change(calm, SIDE_BY_SIDE, "")
    change(calm, '"goal":', '"process": __import__("os").getpid(), "goal":')
    workers = {"n_workers": 2, "threads_per_worker": 2, "processes": True}
    monkeypatch.setattr(running, "PATIENCE", 600)
    with LocalCluster(dashboard_address=None, **workers) as cluster:
        rows = run("growth", scheduler=cluster.scheduler_address).rows
    assert os.getpid() not in {row.pop("process") for row in rows}
    assert rows == alone


def test_a_cluster_that_is_not_there_is_one_sentence(calm):
    pytest.importorskip(
        "distributed", reason="Dask is an optional extra: pip install -e .[cluster]"
    )
    change(calm, SIDE_BY_SIDE, "")
    with pytest.raises(ExperimentError, match="^No .*tcp://127.0.0.1:9: "):
        run("growth", scheduler="tcp://127.0.0.1:9")


def test_without_dask_one_sentence_says_how_to_get_it(calm, monkeypatch):
    change(calm, SIDE_BY_SIDE, "")
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(ExperimentError, match="Dask: .*cluster"):
        run("growth", scheduler="tcp://127.0.0.1:8786")


def test_a_worker_with_other_code_measures_nothing(calm):
    script = results.load_script("growth")
    member = {"activation": "ReLU", "seed": 1, "steps": 5}
    path, now = Path(script.__file__), results.fingerprint_of(script)
    assert running.measure_elsewhere(path, now, member)["numbers"]["value"] == 15
    said = running.measure_elsewhere(path, "0" * 64, member)
    assert re.fullmatch(r"growth: .*worker .*other code .*\.", said)


# -------------------------------------------------------------------------------------- verifying


@pytest.fixture
def history(calm, monkeypatch) -> Path:
    """A repository with a measured experiment, by whose code rows were found."""
    book = calm.parent
    (book / "utils").mkdir()
    (book / "utils" / "__init__.py").touch()
    (book / ".gitignore").write_text("call*\ngo_on\n*.lock\n__pycache__\n")
    monkeypatch.setattr(running, "ROOT", book)
    change(calm, "(activation, seed, steps):", "(activation, seed, steps):\n    factor = FACTOR")
    change(calm, "FACTOR * seed", "factor * (seed + 1)")
    change(calm, '"goal":', '"seconds": time.time(), "goal":')
    change(calm, "import tempfile\n", "import tempfile\nimport time\n")
    change(calm, '"curve": [1.0, seed]', '"curve": [(seed + 1) / 3]')
    change(calm, "else 3}", "else 3} | ({'of tanh': 1} if activation == 'tanh' else {})")
    running.git("init", "--quiet")
    commit("Script")
    run("growth")
    commit("Result")
    return calm


def commit(message: str) -> str:
    running.git("add", "--all")
    who = ["-c", "user.name=A", "-c", "user.email=a@b"]
    running.git(*who, "commit", "--quiet", "--allow-empty", "--message", message)
    return running.git("rev-parse", "HEAD")


def test_a_result_names_the_commit_that_measured(history):
    assert load("growth").stamps[0]["commit"] == running.git("rev-parse", "HEAD~1")
    change(history, "FACTOR = 10", "FACTOR = 12")
    run("growth")
    assert load("growth").stamps[0]["commit"] is None


def test_another_form_with_the_same_bits_is_stamped(history):
    rows = load("growth").rows
    change(history, "factor * (seed + 1) + steps", "steps + factor * (seed + 1)")
    assert is_stale("growth")
    now, before = commit("Another form"), calls(history)
    said = verifying.verify("growth")
    assert said.startswith("verified: its short form measures as at")
    assert calls(history) == before and not is_stale("growth")
    result = load("growth")
    first, second = result.stamps
    assert second["commit"] == now and second["fingerprint"] != first["fingerprint"]
    by = second["verified_by"]
    assert by["machine"]["threads"] == 1 and by["members"] == 2 and by["seconds"] < 5
    assert by["compared with"] == first["commit"] and set(by["versions"]) > {"torch"}
    assert result.rows == rows
    assert "then" not in running.git("worktree", "list")


def test_other_bits_are_not_stamped(history):
    change(history, "(seed + 1) / 3", "(seed + 1) * (1 / 3 + 1e-16)")
    commit("Rounded otherwise")
    said = verifying.verify("growth")
    assert "other numbers of {'activation': 'ReLU', 'seed': 0, 'steps': 2}: curve; stale" in said
    assert is_stale("growth") and len(load("growth").stamps) == 1


def test_a_column_more_is_not_the_same(history):
    change(history, '"curve":', '"more": 1, "curve":')
    commit("A column")
    assert ": more; stale" in verifying.verify("growth")


def test_what_is_not_committed_is_not_verified(history):
    change(history, "factor * (seed + 1) + steps", "steps + factor * (seed + 1)")
    with pytest.raises(ExperimentError, match="commit .*utils "):
        verifying.verify("growth")
    commit("Another form")
    (history.parent / "utils" / "new.py").touch()
    with pytest.raises(ExperimentError, match="commit .*utils "):
        verifying.verify("growth")


def test_losses_on_the_way_are_compared_too(history):
    rewarded = (
        "    import torch\n    torch.tensor(steps / 3, requires_grad=True).mul(2).backward()\n"
    )
    change(history, "    factor = FACTOR\n", f"    factor = FACTOR\n{rewarded}")
    run("growth")
    commit("Script and result")
    change(history, ".mul(2).backward()", ".mul(2 + 1e-6).backward()")
    commit("Another loss")
    assert "'steps': 2}: losses on the way; stale" in verifying.verify("growth")


def test_other_data_than_were_measured_are_not_verified(history):
    """As when a package brings other texts: both commits measure them alike."""
    change(
        history,
        "return [[1.0, 2.0]]",
        "return [[float((Path(__file__).parent / 'given').read_text())]]",
    )
    with (history.parent / ".gitignore").open("a") as ignored:
        ignored.write("given\n")
    (history / "given").write_text("1")
    run("growth")
    commit("Script and result")
    change(history, "factor * (seed + 1) + steps", "steps + factor * (seed + 1)")
    commit("Another form")
    (history / "given").write_text("2")
    assert verifying.verify("growth").startswith("the data are no longer those")
    assert is_stale("growth")
    (history / "given").write_text("1")
    assert verifying.verify("growth").startswith("verified")


def test_what_measures_seconds_alone_is_measured_anew(history):
    change(history, 'SHORT = {"steps": 2, "FACTOR": 3}\n', "")
    change(history, "FACTOR = 10", "FACTOR = 12")
    commit("Only seconds")
    assert verifying.verify("growth").startswith("nothing to compare but seconds; stale")


def test_a_short_form_that_the_old_code_has_not_is_one_sentence(history):
    text = (history / "growth.py").read_text()
    (history / "growth.py").write_text(text.replace("FACTOR", "TIMES"))
    commit("Renamed")
    old = load("growth").stamps[0]["commit"]
    said = rf"^its short form can't be measured at {old[:7]} \(0 constants .* called TIMES\): "
    assert re.match(said, verifying.verify("growth"))
    assert is_stale("growth") and "then" not in running.git("worktree", "list")


def test_a_result_that_came_with_its_code_is_compared_with_that_commit(history):
    change(history, "FACTOR = 10", "FACTOR = 12")
    run("growth")
    together = commit("Code and result")
    change(history, "factor * (seed + 1) + steps", "steps + factor * (seed + 1)")
    commit("Another form")
    assert verifying.verify("growth").endswith(f"as at {together[:7]}, the same to the bit")


def test_a_commit_that_is_not_there_is_one_sentence(history):
    change(history, "factor * (seed + 1) + steps", "steps + factor * (seed + 1)")
    path = history / "results" / "growth.json"
    path.write_text(path.read_text().replace(load("growth").stamps[0]["commit"], "1" * 40))
    commit("Another form")
    with pytest.raises(ExperimentError, match="growth: .*history"):
        verifying.verify("growth")


def test_a_member_that_fails_is_one_sentence(history):
    change(history, "factor * (seed + 1) + steps", "steps + factor * seeds")
    now = commit("A mistake")
    said = rf"can't be measured at {now[:7]} \(NameError: .*seeds"
    assert re.search(said, verifying.verify("growth"))


def test_a_short_form_has_all_values_that_are_no_numbers_and_the_first_of_numbers():
    parameters = {"layer": ["a", "b", "new"], "deep": [True, False], "n": [8, 4], "seed": 0}
    before = {"layer": ["a", "b"], "deep": [False, True], "n": 8, "seed": [1, 0]}
    members, constants = verifying.short_form({"STEPS": 2}, parameters, before)
    first = {"layer": "a", "deep": True, "n": 8, "seed": 0}
    assert members == [first, first | {"layer": "b"}, first | {"deep": False}]
    assert constants == {"STEPS": 2}
    members, constants = verifying.short_form({"layer": "b", "n": [1, 2]}, parameters, before)
    first = {"layer": "b", "deep": True, "n": 1, "seed": 0}
    assert members == [first, first | {"deep": False}, first | {"n": 2}] and constants == {}


BOOK = {
    "utils/__init__.py": "",
    "utils/sizes.py": "STEPS, WIDTH = 1500, 64\nDOUBLE = 2 * STEPS\n",
    "utils/more.py": """\
from utils.sizes import STEPS

WIDTH, RATE = 32, 7
BOTH = {"steps": STEPS}
""",
    "experiments/growth.py": """\
from utils import more, sizes
from utils.sizes import DOUBLE

RATE = 1
EPOCHS: int = 3


def measure():
    return DOUBLE, sizes.WIDTH, more.WIDTH, more.BOTH, RATE, EPOCHS, more.RATE
""",
}


@pytest.mark.parametrize(
    ("constants", "found"),
    [
        ({}, (3000, 64, 32, {"steps": 1500}, 1, 3, 7)),
        ({"STEPS": 2}, (4, 64, 32, {"steps": 2}, 1, 3, 7)),
        ({"sizes.WIDTH": 8, "EPOCHS": 1}, (3000, 8, 32, {"steps": 1500}, 1, 1, 7)),
        ({"more.WIDTH": "WIDTH // 2", "STEPS": 5}, (10, 64, 16, {"steps": 5}, 1, 3, 7)),
        ({"RATE": None, "more.RATE": (1, "a")}, (3000, 64, 32, {"steps": 1500}, None, 3, (1, "a"))),
        ({"BOTH": "BOTH | {'a': [0]}"}, (3000, 64, 32, {"steps": 1500, "a": [0]}, 1, 3, 7)),
    ],
)
def test_a_constant_is_set_wherever_it_is_defined(tmp_path, constants, found):
    for name, text in BOOK.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    script = tmp_path / "experiments" / "growth.py"
    verifying.overwrite(script, tmp_path, constants)
    ended = subprocess.run(
        [sys.executable, "-c", "import growth; print(growth.measure())"],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(script.parent)},
        capture_output=True,
        text=True,
    )
    assert ended.stdout == f"{found}\n", ended.stderr


@pytest.mark.parametrize(("constant", "n"), [("WIDTH", 2), ("LENGTH", 0), ("others.WIDTH", 0)])
def test_a_constant_that_is_none_or_several_is_not_set(tmp_path, constant, n):
    for name, text in BOOK.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    with pytest.raises(LookupError, match=f"^{n} .* {constant}$"):
        verifying.lines(tmp_path / "experiments" / "growth.py", tmp_path, {constant: 1})


# -------------------------------------------------------------------------------------- the command


def test_the_command_runs_what_is_stale_and_nothing_else(calm, monkeypatch, capsys):
    def say(*arguments: str) -> str:
        monkeypatch.setattr(sys, "argv", ["experiments", *arguments])
        command.main()
        return capsys.readouterr().out

    assert say("--list") == "growth: stale\n" and calls(calm) == 0
    assert say().startswith("growth: measured in")
    assert say() == "growth: up to date\n" and calls(calm) == 6
    assert say("--verify") == "growth: up to date\n" and calls(calm) == 6
    assert say("--all", "growth").startswith("growth: measured in") and calls(calm) == 12


@pytest.mark.parametrize("how", [[], ["--all"]])
def test_what_lacks_its_data_is_left_as_it_is_stored(calm, monkeypatch, capsys, how):
    run("growth")
    before = (calm / "results" / "growth.json").read_text()
    with (calm / "growth.py").open("a", encoding="utf-8") as script:
        script.write('\n\ndef missing():\n    return "growth.csv is missing: buy it."\n')
    change(calm, "FACTOR = 10", "FACTOR = 20")
    assert is_stale("growth")
    monkeypatch.setattr(sys, "argv", ["experiments", *how])
    command.main()
    told = "growth: left as it is stored. growth.csv is missing: buy it.\n"
    assert capsys.readouterr().out == told and calls(calm) == 6
    assert (calm / "results" / "growth.json").read_text() == before
    change(calm, "growth.csv is missing: buy it.", "")
    monkeypatch.setattr(sys, "argv", ["experiments"])
    command.main()
    assert capsys.readouterr().out.startswith("growth: measured in") and calls(calm) == 12


def test_what_lacks_its_data_is_said_to_be_stale_or_not(calm, monkeypatch, capsys):
    run("growth")
    with (calm / "growth.py").open("a", encoding="utf-8") as script:
        script.write('\n\ndef missing():\n    return "growth.csv is missing: buy it."\n')
    for how in ([], ["--list"]):
        monkeypatch.setattr(sys, "argv", ["experiments", *how])
        command.main()
        assert capsys.readouterr().out == "growth: up to date\n"


def test_an_unknown_name_ends_the_command_with_one_sentence():
    command = [sys.executable, "-m", "utils.measure.experiments", "nothing_of_that_name"]
    ended = subprocess.run(command, capture_output=True, text=True)
    assert ended.returncode == 1
    assert "'nothing_of_that_name'" in ended.stderr and ended.stderr.count("\n") == 1


# ------------------------------------------------------------------------------------- this book's


@pytest.mark.parametrize("name", names())
def test_the_stored_result_is_that_of_the_present_code(name):
    assert not is_stale(name), (
        f"experiments/results/{name}.json is stale: run `make experiments VERIFY=1` if the code "
        "should measure the same as before, else `make experiments`."
    )


@pytest.mark.parametrize("name", names())
def test_the_stored_rows_are_the_whole_grid(name):
    result = load(name)
    measured = [{key: row[key] for key in result.parameters} for row in result.rows]
    assert list(map(str, measured)) == list(map(str, grid(result.parameters)))


def test_every_stored_result_has_its_experiment():
    stored = {path.stem for path in (results.SCRIPTS / "results").glob("*.json")}
    assert stored == set(names())


def test_columns_of_seconds_are_named_as_such():
    """What is measured beside other members is slower: whoever measures time says so."""
    for name in names():
        columns = {*load(name).rows[0]} - {*load(name).parameters}
        timed = {column for column in columns if re.search("seconds", column)}
        assert timed <= {*getattr(results.load_script(name), "SECONDS", ())} <= columns, name


@pytest.mark.parametrize("name", names())
def test_every_experiment_has_a_short_form_that_costs_less(name):
    """But what measures seconds alone: no two runs agree in them."""
    script, result = results.load_script(name), load(name)
    parameters = result.parameters
    if {*result.rows[0]} - {*parameters} == {*getattr(script, "SECONDS", ())}:
        assert name == "translation_time" or not hasattr(script, "SHORT")  # it trains
        return
    members, constants = verifying.short_form(script.SHORT, script.PARAMETERS, parameters)
    verifying.lines(Path(script.__file__), ROOT, constants)  # each is there once
    assert constants or len(members) < len(result.rows) or name == "two_processes"
    for stamp in result.stamps:
        seconds, all_of_it = stamp.get("verified_by", {}).get("seconds", 0), sum(result.seconds)
        assert seconds <= 40 and (2 * seconds <= all_of_it or all_of_it < 10), (
            "write a shorter SHORT"
        )


def test_no_experiment_takes_too_long():
    seconds = {name: sum(load(name).seconds) for name in names()}
    for page in ("shakespeare_page", "drawing_page", "describing", "masked_pictures", "ladder"):
        assert seconds.pop(page) <= 2 * 21 * 60
    assert max(seconds.values()) <= running.LIMIT
    assert sum(seconds.values()) <= 2 * 600 * 60  # ten hours of two cores
