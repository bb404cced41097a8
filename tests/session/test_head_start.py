"""The worker that is begun before the command line is parsed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from cudarun.session import head_start
from cudarun.session.fleet import Fleet
from cudarun.session.selection import parse_devices
from cudarun.session.targets import Target

ROOT = Path(__file__).resolve().parents[2]


def arguments(*more: str) -> list[str]:
    return ["launch", "kernel.ptx", "n=i32:1", *more]


@pytest.fixture(autouse=True)
def no_device_named(monkeypatch):
    monkeypatch.delenv("CUDARUN_DEVICE", raising=False)
    yield
    head_start.take(parse_devices("7"))  # ends what a test left


def is_there(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.mark.parametrize("capture", [False, True])
def test_it_becomes_the_worker_of_its_device(capture, capfd) -> None:
    head_start.begin(arguments("-d", "cpu"))
    assert head_start._begun is not None
    pid = head_start._begun.pid
    with Fleet(Target(parse_devices("cpu"), capture=capture)) as fleet:
        [first] = fleet.run(_tell)
        [second] = fleet.run(_tell)
    assert first.unwrap() == ("cpu", pid) == second.unwrap()
    assert first.output == second.output == ("told\n" if capture else "")
    assert capfd.readouterr().out == ("" if capture else "told\n" * 2)
    assert not is_there(pid)


def _tell(session):
    def on_device(device):
        print("told")
        session.progress.say("telling")
        return device.label, os.getpid()

    return on_device


def test_progress_goes_through_the_page_that_it_was_begun_with() -> None:
    head_start.begin(arguments("-d", "cpu"))
    with Fleet(Target(parse_devices("cpu"))) as fleet:
        fleet.run(lambda_free)
        assert fleet._progress[0].read() == ("done", 0.0)


def lambda_free(session):
    return _label


def _label(device):
    return device.label


def test_for_another_device_another_is_made() -> None:
    head_start.begin(arguments("--device=0"))
    assert head_start._begun is not None
    pid = head_start._begun.pid
    with Fleet(Target(parse_devices("cpu"))) as fleet:
        [answer] = fleet.run(_tell)
    assert answer.unwrap()[1] != pid
    assert not is_there(pid)


@pytest.mark.parametrize(
    ("given", "environment", "device"),
    [
        ([], None, "0"),
        ([], "cpu", "cpu"),
        (["-d", "1"], "cpu", "1"),
        (["-dcpu:1"], None, "cpu:1"),
        (["--device", "2"], None, "2"),
        (["--device=all"], None, "all"),
        (["-d", "1", "-d", "cpu"], None, "cpu"),
        (["-d", "what?"], None, "what?"),
    ],
)
def test_the_device_is_read_as_click_will(monkeypatch, given, environment, device) -> None:
    if environment is not None:
        monkeypatch.setenv("CUDARUN_DEVICE", environment)
    head_start.begin(arguments(*given))
    assert head_start._begun is not None
    assert head_start._begun.device == device


@pytest.mark.parametrize(
    "given",
    [
        [],
        ["devices"],
        ["load", "kernel.ptx"],
        arguments("--help"),
        arguments("--dry-run"),
        arguments("--trace"),
        ["launch", "--spec=cases.toml"],
        ["launch", "--spec", "cases.toml"],
    ],
)
def test_what_needs_no_such_worker_gets_none(given) -> None:
    head_start.begin(given)
    assert head_start._begun is None


@pytest.mark.parametrize(
    ("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, -15), (signal.SIGKILL, -9)]
)
def test_it_ends_with_its_parent(number: int, status: int) -> None:
    with subprocess.Popen(
        [
            *(
                sys.executable,
                "-m",
                "cudarun",
                "launch",
                "samples/endless.ptx",
                "flag=i32[1]:zeros",
            ),
            *("-d", "cpu", "-v"),
        ],
        cwd=ROOT,
        stderr=subprocess.PIPE,
        text=True,
    ) as parent:
        assert parent.stderr is not None
        assert any("running" in line for line in parent.stderr)
        [worker] = Path(f"/proc/{parent.pid}/task/{parent.pid}/children").read_text().split()
        parent.send_signal(number)
        assert parent.wait(timeout=20) == status
    deadline = time.monotonic() + 10
    while is_there(int(worker)) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not is_there(int(worker))
