"""The process of the servers that starts before the command line is parsed."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from cudarun.session.driver import drivers
from cudarun.session.exec import server_process
from cudarun.session.exec.server_process import ServerProcess, begin, take
from tests.support.processes import wait_until


@pytest.fixture(autouse=True)
def ends() -> Iterator[None]:
    """Ends what a test leaves."""
    yield
    while server_process._waiting:
        left = server_process._waiting.pop()
        left._socket.close()
        left.end()


@pytest.mark.parametrize(
    "arguments",
    [["exec", "-d", "cpu@a100", "./a.out"], ["exec", "--timeout", "5", "--", "./a.out", "--help"]],
)
def test_it_is_taken_once(arguments: list[str]) -> None:
    begin(arguments)
    [early] = server_process._waiting
    with take(drivers.SERVER) as other, take() as process, take() as another:
        assert process is early
        assert early not in (other, another)
        for each in (other, process, another):
            assert each.status() is None  # it runs
            each._socket.close()


@pytest.mark.parametrize(
    "arguments",
    [["exec", "--help"], ["exec", "--debug", "--", "./a.out"], ["launch", "--", "exec"]],
)
def test_others_start_none(arguments: list[str]) -> None:
    begin(arguments)
    assert not server_process._waiting


def ignored(process: ServerProcess) -> int:
    """The signals that a process ignores, as bits (proc_pid_status(5))."""
    lines = Path(f"/proc/{process._process.pid}/status").read_text().splitlines()
    [mask] = (line.split()[1] for line in lines if line.startswith("SigIgn:"))
    return int(mask, 16)


def test_a_fork_ignores_the_signals_that_a_new_process_does() -> None:
    begin(["exec"])
    with take() as early, take() as other:
        wait_until(lambda: 0 < ignored(early) == ignored(other), "start of both")
        assert ignored(early) >> (signal.SIGPIPE - 1) & 1
        for each in (early, other):
            each._socket.close()


def test_it_ends_if_no_program_follows() -> None:
    begin(["exec"])
    [process] = server_process._waiting
    process._socket.close()
    assert process.wait(None) == 0
