"""How programs end while a kernel runs, by themselves or killed: exit codes, and what is left."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.session.exec.conftest import GCC
from tests.support.processes import PATIENCE, children, is_alive, marked, wait_for_end, wait_until

pytestmark = pytest.mark.skipif(GCC is None, reason="needs gcc")

PROGRAM = Path(__file__).with_name("endings.py")
# The command with another limit of its own, in seconds.
LIMITED = """
from cudarun.__main__ import main
from cudarun.session.exec import parent
parent.{} = 0.1
main()
"""


class Command:
    """A command ``cudarun exec`` whose program has launched a kernel that does not end.

    Args:
        how: How the program ends.
        folder: For temporary files.
        options: Those of the command.
        limit: The limit in its module ``parent`` that is almost 0.
    """

    def __init__(self, how: str, folder: Path, *options: str, limit: str | None = None) -> None:
        self._mark = f"CUDARUN_TEST_ENDING={folder}"
        self._folder = folder
        self._process = subprocess.Popen(
            [
                sys.executable,
                *(("-m", "cudarun") if limit is None else ("-c", LIMITED.format(limit))),
                *("exec", *options, "--"),
                *(sys.executable, str(PROGRAM), how),
            ],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=os.environ | dict([self._mark.split("=", 1)]) | {"TMPDIR": str(folder)},
            start_new_session=True,
            text=True,
        )
        self.pid = self._process.pid
        self.program = int(self.line() or 0)  # 0 if it has ended before its kernel ran

    def line(self) -> str:
        """The next line that the program writes."""
        assert self._process.stdout is not None
        return self._process.stdout.readline()

    def server(self) -> tuple[int, int]:
        """The process that starts servers, and the server of the program."""
        [dispatcher] = (
            each for each in children(self.pid) if each != self.program and children(each)
        )
        [server] = children(dispatcher)
        return dispatcher, server

    def end(self) -> tuple[int, str]:
        """Wait for the end of the command and of all that it has started.

        Returns:
            The exit code, negative for a signal, and the messages.
        """
        _, messages = self._process.communicate(timeout=PATIENCE)
        wait_until(lambda: not marked(self._mark), "end of the processes")
        assert os.listdir(self._folder) == []
        return self._process.returncode, messages


def ignores(pid: int, number: int) -> bool:
    """Whether a process ignores a signal (proc_pid_status(5))."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    [mask] = (line.split()[1] for line in lines if line.startswith("SigIgn:"))
    return bool(int(mask, 16) >> (number - 1) & 1)


Start = Callable[..., Command]


@pytest.fixture
def start(tmp_path: Path, cached: None) -> Iterator[Start]:
    """Starts a command; whatever the test does, it ends with the test."""
    started: list[Command] = []

    def begin(how: str, *options: str, limit: str | None = None) -> Command:
        started.append(Command(how, tmp_path, *options, limit=limit))
        return started[-1]

    yield begin
    for each in started:
        if is_alive(each.pid):
            os.killpg(each.pid, signal.SIGKILL)


@pytest.mark.parametrize("options", [(), ("--detect", "race,uninit")])
@pytest.mark.parametrize(
    ("how", "code"), [("SIGSEGV", 128 + signal.SIGSEGV), ("abort", 128 + signal.SIGABRT)]
)
def test_a_crash_ends_the_kernel(
    start: Start, how: str, code: int, options: tuple[str, ...]
) -> None:
    status, messages = start(how, *options).end()
    assert status == code, messages
    assert "PASS" not in messages


def test_the_kernel_outlives_the_program(start: Start) -> None:
    status, messages = start("_exit").end()
    assert status == 4, messages
    assert "wait_for" in messages


def test_a_time_limit_of_the_kernel_that_outlives_the_program(start: Start) -> None:
    seconds, has_run = 3, False
    while not has_run:  # a limit in which the kernel starts, however slow the processor
        command = start("_exit at once", "--timeout", str(seconds))
        status, messages = command.end()
        assert status == 6, messages
        has_run, seconds = command.program != 0, 2 * seconds
    assert "kernel wait_for: 0 of 1 blocks have finished" in messages


def test_an_endless_kernel_that_outlives_the_program(start: Start) -> None:
    status, messages = start("_exit at once", limit="_STALL").end()
    assert status == 4, messages
    assert "note: the program did not wait for this kernel, which was stopped:" in messages
    assert "kernel wait_for: 0 of 1 blocks have finished" in messages


def test_a_server_that_does_not_stop(start: Start) -> None:
    command = start("wait", limit="_STOPPING")
    command.line()
    os.kill(command.server()[1], signal.SIGSTOP)
    os.kill(command.program, signal.SIGKILL)
    status, messages = command.end()
    assert status == 7, messages
    assert "a server of the program's processes has ended without its report" in messages


def test_ctrl_c_ends_the_program(start: Start) -> None:
    command = start("wait")
    command.line()
    os.killpg(command.pid, signal.SIGINT)  # as the terminal does
    status, messages = command.end()
    assert status == 128 + signal.SIGINT, messages


def test_a_second_ctrl_c_ends_the_kernel(start: Start) -> None:
    command = start("handler")
    command.line()
    os.killpg(command.pid, signal.SIGINT)
    wait_for_end(command.program)
    wait_until(lambda: not ignores(command.pid, signal.SIGINT), "end of the program's turn")
    os.killpg(command.pid, signal.SIGINT)
    status, messages = command.end()
    assert status in (3, 128 + signal.SIGINT), messages  # that of the program if it is reported


def test_sigterm_to_the_command_ends_all(start: Start) -> None:
    command = start("wait")
    command.line()
    os.kill(command.pid, signal.SIGTERM)
    assert command.end()[0] == -signal.SIGTERM
    assert not is_alive(command.program)


def test_the_program_is_killed(start: Start) -> None:
    command = start("wait")
    command.line()
    os.kill(command.program, signal.SIGKILL)
    status, messages = command.end()
    assert status == 128 + signal.SIGKILL, messages


def test_the_command_is_killed(start: Start) -> None:
    command = start("wait")
    command.line()
    os.kill(command.pid, signal.SIGKILL)
    assert command.end()[0] == -signal.SIGKILL


@pytest.mark.parametrize("number", [0, 1])
def test_a_server_is_killed(start: Start, number: int) -> None:
    command = start("wait")
    command.line()
    os.kill(command.server()[number], signal.SIGKILL)
    status, messages = command.end()
    assert status == 7, messages
    assert "the connection with the server has ended" in messages
    assert "a server of the program's processes has ended without its report" in messages


def test_a_thread_that_connects_after_the_end_of_the_servers(start: Start) -> None:
    command = start("new thread")
    command.line()
    servers = command.server()
    os.kill(servers[0], signal.SIGKILL)
    for each in servers:
        wait_for_end(each)
    status, messages = command.end()
    assert status == 7, messages
