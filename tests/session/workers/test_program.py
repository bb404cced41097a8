"""Programs that are not ours, and the files that they share with this process."""

from __future__ import annotations

import os
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from cudarun.session.workers.parent import WorkerProcess, settle
from cudarun.session.workers.program import SupervisedProgram, run_in_foreground, temporary_folder
from cudarun.session.workers.shared_file import SharedFile
from cudarun.session.workers.worker import WorkerSpec
from tests.support.processes import PATIENCE, marked, wait_for_end, wait_until


def python(code: str, *arguments: str) -> list[str]:
    return [sys.executable, "-c", code, *arguments]


def test_its_status_and_its_output() -> None:
    with SharedFile() as output:
        with SupervisedProgram(
            python("print('hello'); exit(3)"), stdout=output.fileno()
        ) as program:
            assert program.wait(PATIENCE) == 3
        assert output.read() == b"hello\n"


def test_its_environment_is_ours_and_what_is_added(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUDARUN_TEST_A", "a")
    code = "import os; print(os.environ['CUDARUN_TEST_A'] + os.environ['CUDARUN_TEST_B'])"
    with SharedFile() as output:
        command = python(code)
        with SupervisedProgram(
            command, stdout=output.fileno(), environment={"CUDARUN_TEST_B": "b"}
        ) as it:
            it.wait(None)
        assert output.read() == b"ab\n"


def test_at_its_limit_it_is_killed_with_all_that_it_started(tmp_path: Path) -> None:
    pid = tmp_path / "pid"
    code = (
        "import pathlib, subprocess, sys, time\n"
        "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'])\n"
        f"pathlib.Path({os.fspath(pid)!r}).write_text(str(child.pid))\n"
        "time.sleep(600)"
    )

    long_ago = time.monotonic() - 600

    def child_is_there() -> float | None:
        return long_ago if pid.exists() and pid.read_text() else None

    with SupervisedProgram(python(code)) as program:
        assert program.wait(0.1, child_is_there) is None
    wait_for_end(int(pid.read_text()))


def test_a_later_phase_has_the_limit_by_itself() -> None:
    phases = iter(range(5))
    start = time.monotonic() - 600

    def phase_start() -> float | None:
        nonlocal start
        if next(phases, None) is not None:
            start += 1.0
        return start

    with SupervisedProgram(python("import time; time.sleep(600)")) as program:
        assert program.wait(0.1, phase_start) is None
    assert next(phases, None) is None


def test_a_shared_file_has_no_name_and_takes_what_others_write(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", os.fspath(tmp_path))
    with SharedFile() as file:
        code = "import sys; open(sys.argv[1], 'wb').write(b'x' * 5)"
        with SupervisedProgram(python(code, file.path)) as program:
            assert program.wait(PATIENCE) == 0
        assert file.read() == b"xxxxx"
        assert [*tmp_path.iterdir()] == []


def test_a_killed_worker_leaves_neither_its_program_nor_the_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", os.fspath(tmp_path))
    pid = tmp_path / "pid"
    code = (
        "import os, pathlib, subprocess, sys, time\n"
        "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'])\n"
        f"pathlib.Path({os.fspath(pid)!r} + '.part').write_text(str(child.pid))\n"
        f"os.rename({os.fspath(pid)!r} + '.part', {os.fspath(pid)!r})\n"
        "time.sleep(600)"
    )

    def run(_: object) -> None:
        with temporary_folder() as folder:
            (Path(folder) / "file").touch()
            with SupervisedProgram(python(code)) as program:
                program.wait(None)

    with WorkerProcess(WorkerSpec(lambda progress: run)) as worker:
        worker.submit(_call)
        wait_until(pid.exists, "start of the program")
        assert len([*tmp_path.iterdir()]) == 2
        worker.kill()
        wait_for_end(int(pid.read_text()))
    wait_until(lambda: [*tmp_path.iterdir()] == [pid], "end of the folder")


def _call(state: Callable[[object], object]) -> object:
    return state(None)


def test_a_worker_goes_on_after_its_program() -> None:
    def run(_: object) -> str:
        with temporary_folder() as folder:
            path = Path(folder) / "file"
            with SupervisedProgram(python(f"open({os.fspath(path)!r}, 'w').write('x')")) as it:
                it.wait(None)
            return path.read_text()

    with WorkerProcess(WorkerSpec(lambda progress: run)) as worker:
        for _ in range(2):
            worker.submit(_call)
            assert settle([worker]) == [worker]
            assert worker.answer().unwrap() == "x"
            assert worker.page.program == 0


class _Service(AbstractContextManager[None]):
    """It waits for the program, whose pipe it reads to the end."""

    def __init__(self, pipe: str) -> None:
        self.pipe = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
        self.has_ended = False

    def __exit__(self, *_: object) -> None:
        ready, _, _ = select.select([self.pipe], [], [], PATIENCE)
        self.has_ended = bool(ready) and os.read(self.pipe, 1) == b""
        os.close(self.pipe)


def test_a_stuck_program_is_killed_before_its_service_is_left(tmp_path: Path) -> None:
    pipe, begun = tmp_path / "pipe", tmp_path / "begun"
    os.mkfifo(pipe)
    service = _Service(str(pipe))
    code = "import sys, time; f = open(sys.argv[1], 'w'); open(sys.argv[2], 'w'); time.sleep(1e6)"
    status = run_in_foreground(
        python(code, str(pipe), str(begun)),
        {},
        stdout_to_stderr=True,
        service=service,
        is_stuck=begun.exists,
    )
    assert (status, service.has_ended) == (128 + signal.SIGKILL, True)


_OF_ROOT = """
#include <fcntl.h>
#include <unistd.h>
int main(int n, char **words) { return setuid(0) || creat(words[n - 1], 0644) < 0 || pause(); }
"""
_AS_NOBODY = """
import ctypes, os, sys  # this user may be unable to read the modules
from cudarun.session.workers.program import run_in_foreground
os.setgroups([])
os.setresgid(*3 * (65534,))
os.setresuid(*3 * (65534,))
path, file = sys.argv[1:]
status = run_in_foreground(
    [path, file], {}, stdout_to_stderr=True, is_stuck=lambda: os.path.exists(file)
)
print(status)
"""


@pytest.mark.skipif(os.geteuid() != 0 or shutil.which("gcc") is None, reason="needs root and gcc")
def test_a_program_that_cannot_be_killed_is_left() -> None:
    mark = f"CUDARUN_TEST_LEFT={os.getpid()}"
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        path, file = f"{folder}/program", f"{folder}/file"
        compiler = ["gcc", "-x", "c", "-", "-o", path]
        subprocess.run(compiler, input=_OF_ROOT, text=True, check=True)
        os.chmod(path, 0o4755)  # it runs as root
        ran = subprocess.run(
            python(_AS_NOBODY, path, file),
            env=os.environ | dict([mark.split("=", 1)]),
            stdout=subprocess.PIPE, text=True, timeout=PATIENCE, check=False,
        )  # fmt: skip
    for each in marked(mark):
        os.kill(each, signal.SIGKILL)
    assert (ran.stdout, ran.returncode) == ("137\n", 0)
