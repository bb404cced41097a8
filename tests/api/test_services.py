"""The processes of the Python API: beside threads, signal handlers and children, and their end."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import textwrap
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import cudarun
from cudarun.session.workers import service
from tests.support.processes import PATIENCE, PYTHON_PATH, children, marked, wait_until

KERNEL = b'extern "C" __global__ void f(int* y, int k) { y[threadIdx.x] = k; }'
ENDLESS = b'extern "C" __global__ void f(volatile int* y) { while (!y[0]) ; }'

BEGIN = f"""
import cudarun, os, signal, sys, threading, time
def launch(k=1, image={KERNEL!r}):
    return cudarun.launch(image, device="cpu", threads=1, args={{"y": "i32[1]", "k": k}})["y"][0]
def hang():
    cudarun.launch({ENDLESS!r}, device="cpu", threads=1, args=["i32[1]:zeros"], timeout=None)
"""


def start(program: str, mark: str) -> subprocess.Popen[str]:
    """Start a program, all of whose processes are marked."""
    return subprocess.Popen(
        [sys.executable, "-W", "error", "-c", BEGIN + textwrap.dedent(program)],
        env=os.environ | {"PYTHONPATH": PYTHON_PATH, "CUDARUN_MARK": mark},
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


def run(program: str, mark: str) -> str:
    """Run a program to its end; it leaves no process."""
    with start(program, mark) as process:
        stdout, stderr = process.communicate(timeout=PATIENCE)
    assert (process.returncode, stderr) == (0, "")
    wait_until(lambda: not marked(f"CUDARUN_MARK={mark}"), "end of all processes")
    return stdout


@pytest.fixture
def mark(tmp_path: Path) -> str:
    return str(tmp_path)


def test_threads_launch_side_by_side() -> None:
    def launch(k: int) -> int:
        args = {"y": "i32[4]", "k": k}
        return int(cudarun.launch(KERNEL, device="cpu", threads=4, args=args)["y"].sum())

    with ThreadPoolExecutor(3) as pool:
        assert [*pool.map(launch, range(6))] == [4 * k for k in range(6)]


def workers() -> list[int]:
    """Return the workers that an idle service keeps."""
    with service.service_process() as process:
        return children(process._process.pid)


def fill(k: int, threads: int = 1, **options: Any) -> int:
    """Launch `KERNEL`."""
    args = {"y": "i32[1]", "k": k}
    outputs = cudarun.launch(KERNEL, device="cpu", threads=threads, args=args, **options)
    return int(outputs["y"][0])


def test_a_worker_is_kept_until_it_is_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    def worker(k: int) -> list[int]:
        assert fill(k, timeout=60 + k) == k
        return workers()

    first = worker(1)
    assert len(first) == 1
    assert worker(2) == first
    with pytest.raises(cudarun.ExecutionFailed):
        fill(1, threads=2)
    assert worker(3) == first  # an emulated fault damages nothing
    with pytest.raises(cudarun.TimedOut):
        cudarun.launch(ENDLESS, device="cpu", threads=1, args=["i32[1]:zeros"], timeout=1)
    second = worker(4)
    assert second != first
    monkeypatch.setenv("CUDARUN_CPU_ENGINE", "interpret")
    third = worker(5)
    assert third != second
    assert worker(6) == third


def test_few_workers_are_kept() -> None:
    for size in range(1, 4):
        fill(1, limit=f"stack={size}KiB")
    wait_until(lambda: fill(1) and len(workers()) == 2, "end of the workers of other contexts")


def test_a_kept_worker_keeps_nothing_of_a_call(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUDARUN_NOTE", "a worker of this test")
    source = b"""#include <cstdio>
    extern "C" __global__ void f(int* y, const int* x) { printf("%d\\n", y[0] = x[0]); }"""
    for k in range(2):
        outputs = cudarun.launch(
            source, device="cpu", threads=1, args={"y": "i32[1]", "x": np.full(9, k, np.int32)}
        )
        assert (outputs.printed, outputs["y"].tolist()) == (f"{k}\n", [k])
    [worker] = workers()
    files = Path(f"/proc/{worker}/fd")
    targets = {each.name: os.readlink(each) for each in files.iterdir()}
    assert not [each for each in targets.values() if "cudarun-array" in each]
    printed = [each for each, target in targets.items() if "cudarun-stdout" in target]
    assert printed
    assert not any((files / each).stat().st_size for each in printed)


def test_the_heap_of_kernels_is_that_of_one_launch() -> None:
    source = b"""extern "C" __global__ void f(int* y) { y[0] = malloc(5 << 20) != nullptr; }"""
    for context in ("primary", "new"):
        found = [
            cudarun.launch(source, device="cpu", threads=1, args={"y": "i32[1]"}, context=context)[
                "y"
            ].tolist()
            for _ in range(2)
        ]
        assert found == [[1]] * 2


def test_a_function_that_changed_between_launches(tmp_path: Path) -> None:
    file = tmp_path / "reference.py"
    for k in (1, 2):
        file.write_text(f"{'#' * k}\ndef f(k):\n    return [{k}]\n")
        assert fill(k, expect={"y": f"{file}:f"}) == k
    with pytest.raises(cudarun.WrongResult):
        fill(3, expect={"y": f"{file}:f"})


def test_another_directory_at_the_same_path(tmp_path: Path) -> None:
    source = b"""
    .version 8.0
    .target sm_80
    .address_size 64
    .visible .entry f(.param .u64 y) {
        .reg .b64 d;
        .reg .b32 r;
        ld.param.u64 d, [y];
        ld.global.u32 r, [d];
        add.u32 r, r, 1;
        st.global.u32 [d], r;
        ret;
    }
    """
    folder = tmp_path / "data"
    for k in range(2):
        folder.mkdir()
        np.save(folder / "y.npy", np.full(1, k, np.int32))
        outputs = cudarun.launch(
            source, device="cpu", threads=1, args={"y": "@y.npy"}, directory=folder
        )
        assert outputs["y"].tolist() == [k + 1]
        shutil.rmtree(folder)


def test_a_process_with_handlers_threads_and_children(mark: str) -> None:
    """Signals that the program handles, ignores and blocks stay its own, and so do its children."""
    printed = run(
        """
        received = []
        for number in (signal.SIGALRM, signal.SIGTERM, signal.SIGINT, signal.SIGUSR1):
            signal.signal(number, lambda number, _: received.append(number))
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)
        signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM])
        child = os.fork()
        if child == 0:
            time.sleep(600)
        thread = threading.Thread(target=lambda: print(launch(5)))
        thread.start()  # the thread that starts the service ends before the next launch
        thread.join()
        print(launch(6))
        try:
            cudarun.launch(b"", device="cpu", threads=1)
        except cudarun.InvalidImage:
            pass
        os.kill(child, signal.SIGKILL)
        print(received)
        """,
        mark,
    )
    assert printed.split("\n")[:3] == ["5", "6", "[]"]


def test_a_forked_process_has_services_of_its_own(mark: str) -> None:
    printed = run(
        """
        print(launch(1), flush=True)
        if os.fork() == 0:
            print(launch(2), flush=True)
            sys.exit()
        os.wait()
        print(launch(3))
        """,
        mark,
    )
    assert printed.split() == ["1", "2", "3"]


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
def test_no_process_stays_after_the_end_in_a_launch(mark: str, number: signal.Signals) -> None:
    with start("print(launch(), flush=True)\nhang()", mark) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "1\n"
        [of_service] = children(process.pid)
        wait_until(lambda: bool(children(of_service)), "worker")
        os.kill(process.pid, number)
        _, stderr = process.communicate(timeout=PATIENCE)
        assert ("KeyboardInterrupt" in stderr) == (number == signal.SIGINT)
    wait_until(lambda: not marked(f"CUDARUN_MARK={mark}"), "end of all processes")


def test_a_launch_after_ctrl_c(mark: str) -> None:
    printed = run(
        """
        signal.signal(signal.SIGALRM, signal.default_int_handler)
        signal.setitimer(signal.ITIMER_REAL, 1)
        try:
            hang()
        except KeyboardInterrupt:
            print(launch(7))
        """,
        mark,
    )
    assert printed == "7\n"


def test_a_service_that_is_killed() -> None:
    with service.service_process() as process:
        pid = process._process.pid
    os.kill(pid, signal.SIGKILL)
    wait_until(lambda: not process.is_usable(), "end of the service")
    assert cudarun.load(KERNEL, device="cpu").kernels  # a new one

    class _Killed(service.ServiceProcess):
        def call(self, message: object, files: object) -> object:
            os.kill(self._process.pid, signal.SIGKILL)
            return super().call(message, ())

    with service._lock:
        service._idle.append(_Killed())
    with pytest.raises(cudarun.WorkerFailed, match="ended with status -9 before"):
        cudarun.load(KERNEL, device="cpu")


@pytest.mark.parametrize("closed", ["0", "0, 1, 2"])
def test_a_program_without_standard_streams(mark: str, tmp_path: Path, closed: str) -> None:
    result = tmp_path / "result"
    run(
        f"""
        for number in ({closed},):
            os.close(number)
        result = str(launch(5))
        with open({os.fspath(result)!r}, "w") as file:
            file.write(result)
        os._exit(0)
        """,
        mark,
    )
    assert result.read_text() == "5"


def test_few_services_stay_after_many_calls_at_once(mark: str) -> None:
    printed = run(
        """
        from cudarun.session.workers import service
        many = service._MOST_IDLE + 2
        together = threading.Barrier(many)
        def call():
            with service.service_process():
                together.wait()
        threads = [threading.Thread(target=call) for _ in range(many)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        print(len(service._all) == len(service._idle) == service._MOST_IDLE, launch(3))
        """,
        mark,
    )
    assert printed == "True 3\n"


def test_descriptors_that_the_program_closes_and_uses_itself(mark: str) -> None:
    """A peer of the program must get no call, and its answer would be unpickled."""
    program = """
        import socket
        from cudarun.session.workers import service
        with service.service_process() as first:
            numbers = [*first._own]
        os.closerange(3, max(numbers) + 1)
        ends = [end.detach() for end in socket.socketpair()]
        own, peer = os.dup2(ends[0], 90), os.dup2(ends[1], 91)
        for number in numbers:
            os.dup2(own, number)
        print(launch(), launch(2))
        os.set_blocking(peer, False)
        try:
            print(os.read(peer, 100))
        except BlockingIOError:
            print("nothing")
        print([os.fstat(number).st_ino == os.fstat(own).st_ino for number in numbers])
    """
    assert run(program, mark).split("\n") == ["1 2", "nothing", "[True, True]", ""]


def test_launches_leave_no_memory_in_their_worker() -> None:
    """A launch whose objects are only found by a collector leaves 2 MB."""
    sizes = []
    for count in (5, 40):
        for _ in range(count):
            fill(7, cpu_engine="interpret")
        pages = [Path(f"/proc/{each}/statm").read_text().split()[1] for each in workers()]
        sizes.append(sum(map(int, pages)) * os.sysconf("SC_PAGESIZE"))
    assert sizes[1] - sizes[0] < 8 << 20
