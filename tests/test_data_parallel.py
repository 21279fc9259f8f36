"""Several processes go the way of one, go on after a kill, and say in a sentence what is wrong."""

import ipaddress
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest
import torch
from filelock import FileLock
from several import all_of_it, data, listening, network, one_is_killed, one_makes_nan, trained

from utils.training.loop import fit
from utils.training.processes import ProcessError, launch, process_group

HERE = Path(__file__).resolve().parent


@pytest.fixture(scope="module")
def reports(tmp_path_factory) -> list[dict]:
    """What two processes have to report, by rank."""
    return launch(all_of_it, tmp_path_factory.mktemp("reports"), processes=2)


def test_two_processes_give_the_losses_of_one_with_the_double_batch(reports):
    model = network()
    one = trained(fit, model)
    assert len(one.step_loss) == 20
    for report in reports:
        two = report["history"]
        assert two.step_loss == pytest.approx(one.step_loss, rel=1e-12)
        for name in ("loss", "accuracy"):
            assert two.train[name] == pytest.approx(one.train[name], rel=1e-12)
            assert two.validation[name] == pytest.approx(one.validation[name], rel=1e-12)
        for name, weight in model.state_dict().items():
            torch.testing.assert_close(report["weights"][name], weight, rtol=0, atol=1e-12)


def test_both_processes_have_the_same_weights_and_history_to_the_bit(reports):
    first, second = reports
    assert first["history"] == second["history"]
    for name, weight in first["weights"].items():
        assert torch.equal(weight, second["weights"][name])


def test_each_process_drops_by_lots_of_its_own(reports):
    masks = [report["dropped"] for report in reports]
    assert masks[0].shape == masks[1].shape == (4, 6)
    assert not torch.equal(*masks)


def test_shards_are_the_batch_and_the_generator_goes_on_as_it_would(reports):
    x, _ = data(11)
    for start in (0, 4, 8):
        batch = x[start : start + 4]
        shards = [report["seen"][2 + start // 4] for report in reports]
        assert torch.equal(shards[0], batch[0::2]) and torch.equal(shards[1], batch[1::2])
    for report in reports:
        before, after, *_ = report["seen"]
        assert torch.equal(before, after)  # batches without chance draw nothing


@pytest.mark.parametrize(
    ("case", "word"),
    [
        ("model", "their model:"),
        ("seed", "their seed:"),
        ("epochs", "epochs:"),
        ("data", "different batches:"),
        ("fewer", "different batches:"),
    ],
)
def test_processes_that_disagree_both_say_so_in_a_sentence(reports, case, word):
    for report in reports:
        sentence = report["sentences"][case]
        assert word in sentence and sentence.endswith(".") and "\n" not in sentence


def started(folder: Path, **how) -> subprocess.Popen:
    """The same run as in `never_stopped`, in two processes that a third one starts."""
    (folder / "temporary").mkdir(exist_ok=True)
    return subprocess.Popen(
        [sys.executable, HERE / "several.py", folder],
        env=os.environ | {"TMPDIR": str(folder / "temporary")},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        **how,
    )


def wait_for_a_checkpoint(folder: Path) -> None:
    deadline = time.monotonic() + 600
    while not (folder / "checkpoint").exists() and time.monotonic() < deadline:
        time.sleep(0.01)


def test_after_a_kill_the_same_command_goes_on_and_ends_with_the_same_bits(reports, tmp_path):
    held = tmp_path / "held"
    held.touch()
    killed = started(tmp_path)
    wait_for_a_checkpoint(tmp_path)
    killed.send_signal(signal.SIGKILL)  # that one alone: those that it has started end with it
    killed.communicate()
    with FileLock(tmp_path / ".checkpoint.lock", timeout=600):  # theirs, until they have ended
        assert (tmp_path / "checkpoint").exists() and not list(tmp_path.glob("weights *"))
    held.unlink()
    again = started(tmp_path)
    _, errors = again.communicate(timeout=600)
    assert again.returncode == 0, errors.decode()
    for rank, report in enumerate(reports):
        assert (tmp_path / f"weights {rank}").read_bytes() == report["never stopped"]


@pytest.mark.skipif(not hasattr(os, "killpg"), reason="no groups of processes here")
def test_the_stop_button_ends_all_processes_and_leaves_nothing(tmp_path):
    (tmp_path / "held").touch()
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # pytest's may be deaf to it,
    run = started(tmp_path, start_new_session=True)  # and so would be what it starts
    signal.signal(signal.SIGINT, before)
    wait_for_a_checkpoint(tmp_path)
    os.killpg(run.pid, signal.SIGINT)  # as a terminal does
    _, errors = run.communicate(timeout=600)
    assert errors.decode() == "stopped\n" and run.returncode == 1
    for rank in range(2):
        with pytest.raises(ProcessLookupError):
            os.kill(int((tmp_path / f"process {rank}").read_text()), 0)
    assert not list((tmp_path / "temporary").iterdir())


@pytest.mark.skipif(not Path("/proc/net/tcp").exists(), reason="only Linux tells who listens")
def test_no_other_machine_can_reach_the_processes():
    found = {}
    for report in launch(listening, processes=2):
        found |= report
    assert len(found) == 3 and any(found.values())
    for addresses in found.values():
        assert all(ipaddress.ip_address(address).is_loopback for address in addresses), found


def test_a_process_that_is_killed_stops_the_others_with_a_sentence():
    with pytest.raises(ProcessError, match=r"^Process 1 .*SIGKILL .*\.$"):
        launch(one_is_killed, processes=2)


def test_the_process_that_made_nan_says_why():
    with pytest.raises(ProcessError, match=r" nan .* 1: .*inside.* 1\)"):
        launch(one_makes_nan, processes=2)


def test_no_processes_are_refused():
    with pytest.raises(ProcessError, match="^0 "):
        launch(listening, processes=0)


def test_a_process_alone_says_how_to_start_several(monkeypatch):
    monkeypatch.delenv("RANK", raising=False)
    with pytest.raises(ProcessError, match="torchrun"), process_group():
        pass


def test_more_processes_than_gpus_are_refused(monkeypatch):
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 1)
    for name in ("RANK", "LOCAL_RANK"):
        monkeypatch.setenv(name, "1")
    with pytest.raises(ProcessError, match="1 GPU "), process_group():
        pass


def test_a_taken_port_is_told_in_a_sentence(monkeypatch):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        place = {"RANK": "0", "WORLD_SIZE": "1", "LOCAL_RANK": "0", "MASTER_ADDR": "127.0.0.1"}
        for name, value in (place | {"MASTER_PORT": port}).items():
            monkeypatch.setenv(name, value)
        with pytest.raises(ProcessError, match=f"127.0.0.1:{port} .*--master-port") as raised:
            with process_group():
                pass
    assert "\n" not in str(raised.value)
