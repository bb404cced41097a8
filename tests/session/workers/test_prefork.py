"""The worker that is begun before the command line is parsed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import pytest

from cudarun.session.driver.contexts import Target
from cudarun.session.driver.selection import parse_devices
from cudarun.session.workers import prefork
from cudarun.session.workers.devices import DeviceWorkers
from cudarun.session.workers.job import Job
from cudarun.session.workers.pool import WorkerPool
from tests.support.processes import PATIENCE, children, wait_for_end

ROOT = Path(__file__).resolve().parents[3]


def arguments(*more: str) -> list[str]:
    return ["launch", "kernel.ptx", "n=i32:1", *more]


@pytest.fixture(autouse=True)
def no_device_named(monkeypatch):
    monkeypatch.delenv("CUDARUN_DEVICE", raising=False)
    yield
    prefork.take([])  # ends what a test left


def waiting_processes() -> list[int]:
    return [waiting.process for waiting in prefork._waiting.values()]


def no_imports() -> None:
    """Nothing is imported early: the job needs nothing."""


@contextmanager
def workers_of(devices: str, *, capture: bool = False, together: bool = False):
    target = Target(parse_devices(devices), capture=capture, together=together)
    with WorkerPool() as pool:
        yield DeviceWorkers(pool, target)


def is_there(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.mark.parametrize("capture", [False, True])
def test_it_becomes_the_worker_of_its_device(capture, capfd) -> None:
    prefork.begin(arguments("-d", "cpu"), no_imports, no_imports)
    [pid] = waiting_processes()
    with workers_of("cpu", capture=capture) as workers:
        [first] = workers.run(Tell())
        [second] = workers.run(Tell())
    assert first.unwrap() == ("cpu", pid) == second.unwrap()
    assert first.output == second.output == ("told\n" if capture else "")
    assert capfd.readouterr().out == ("" if capture else "told\n" * 2)
    assert not is_there(pid)


class Tell(Job):
    """Print, and return the device and the process."""

    def on(self, device):
        print("told")
        self.session.progress.report("telling")
        return device.label, os.getpid()


def test_progress_goes_through_the_page_that_it_was_forked_with() -> None:
    prefork.begin(arguments("-d", "cpu"), no_imports, no_imports)
    [waiting] = prefork._waiting.values()
    with workers_of("cpu") as workers:
        workers.run(Tell())
        assert waiting.page.read() == ("done", 0.0)


def test_for_another_device_another_is_made() -> None:
    prefork.begin(arguments("--device=0"), no_imports, no_imports)
    [pid] = waiting_processes()
    with workers_of("cpu") as workers:
        [answer] = workers.run(Tell())
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
        (["-d", "1", "-d", "cpu"], None, "cpu"),
        (["-d", "what?"], None, "what?"),
    ],
)
def test_the_device_is_read_as_click_will(monkeypatch, given, environment, device) -> None:
    if environment is not None:
        monkeypatch.setenv("CUDARUN_DEVICE", environment)
    prefork.begin(arguments(*given), no_imports, no_imports)
    assert [*prefork._waiting] == [device]


@pytest.mark.parametrize(
    ("given", "devices"),
    [
        (["-d", "0,1"], ["0", "1"]),
        (["-d", "cpu, 1,cpu"], ["cpu", "1"]),
        (["-d", "all"], ["0", "1", "2"]),
        (["-d", "2,all"], ["2", "0", "1"]),
        (["-d", "0,1", "--together"], ["0,1"]),
        (["-d", "all", "--together"], ["all"]),
    ],
)
def test_a_process_for_each_worker(monkeypatch, given, devices) -> None:
    monkeypatch.setattr(prefork, "count", lambda: 3)
    prefork.begin(arguments(*given), no_imports, no_imports)
    assert [*prefork._waiting] == devices


@pytest.mark.parametrize(("together", "processes"), [(False, 2), (True, 1)])
def test_they_become_the_workers_of_their_devices(monkeypatch, together, processes) -> None:
    monkeypatch.setenv("CUDARUN_CPU_DEVICES", "2")
    word = ["--together"] if together else []
    prefork.begin(arguments("-d", "cpu,cpu:1", *word), no_imports, no_imports)
    begun = waiting_processes()
    assert len(begun) == processes
    with workers_of("cpu,cpu:1", together=together) as workers:
        answers = [answer.unwrap() for answer in workers.run(Tell())]
    assert [device for device, _ in answers] == ["cpu", "cpu:1"]
    assert [pid for _, pid in answers] == (begun * 2)[:2]
    assert not any(map(is_there, begun))


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
    prefork.begin(given, no_imports, no_imports)
    assert prefork._waiting == {}


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
                "--threads",
                "1",
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
        [worker] = children(parent.pid)
        parent.send_signal(number)
        assert parent.wait(timeout=PATIENCE) == status
    wait_for_end(worker)


@pytest.mark.parametrize(
    ("devices", "times"), [("cpu", 1), ("cpu:1, cpu", 1), ("0", 0), ("cpu,0", 0)]
)
def test_only_emulated_devices_wait_for_imports_of_the_parent(devices: str, times: int) -> None:
    shared: list[int] = []
    prefork.begin(arguments("-d", devices), no_imports, lambda: shared.append(os.getpid()))
    assert shared == [os.getpid()] * times
