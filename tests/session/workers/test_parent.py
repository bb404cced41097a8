"""The supervisor against real child processes: values, errors, crashes, hangs, bugs, leftovers."""

from __future__ import annotations

import ctypes
import faulthandler
import os
import resource
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable
from functools import partial
from typing import Any, NoReturn

import pytest

from cudarun.base.errors import DeviceFailed, OutOfTime, WorkerDied
from cudarun.model.documents import plain
from cudarun.session.workers.fresh_worker import start_fresh
from cudarun.session.workers.parent import WorkerProcess, settle
from cudarun.session.workers.pool import WorkerPool
from cudarun.session.workers.worker import Answer, WorkerSpec
from tests.support.processes import PATIENCE, is_alive, wait_for_end, wait_until


def supervise(
    tasks: list[Callable[[], Any]], *, timeout: float | None = None, capture: bool = False
) -> list[Answer[Any]]:
    """Run each task in a worker of its own, whose state it is, as its first and last work."""
    with WorkerPool() as pool:
        workers = [pool.acquire(spec_of(lambda task=task: task, capture=capture)) for task in tasks]
        for worker in workers:
            worker.submit(_call, timeout)
        return pool.gather(workers)


def spec_of(state: Callable[[], Any], *, capture: bool = False) -> WorkerSpec[Any]:
    """Return the spec of a worker whose state ``state`` makes."""
    return WorkerSpec(lambda progress: state(), capture=capture)


def started(state: Callable[[], Any], *, capture: bool = False) -> WorkerProcess[Any]:
    return WorkerProcess(spec_of(state, capture=capture))


def ask(worker: WorkerProcess[Any], task: Callable[[Any], Any]) -> Answer[Any]:
    worker.submit(task)
    assert settle([worker]) == [worker]
    return worker.answer()


def _call(task: Callable[[], Any]) -> Any:
    return task()


def _identity(state: Any) -> Any:
    return state


def test_values_come_back_in_order_from_processes_of_their_own() -> None:
    outcomes = supervise([lambda i=i: (i, os.getpid()) for i in range(3)])
    assert [outcome.unwrap()[0] for outcome in outcomes] == [0, 1, 2]
    assert len({outcome.unwrap()[1] for outcome in outcomes} | {os.getpid()}) == 4


def test_a_large_answer_arrives_whole() -> None:
    [outcome] = supervise([lambda: b"x" * (5 << 20)])
    assert outcome.unwrap() == b"x" * (5 << 20)


def test_an_error_keeps_everything_it_knows() -> None:
    def fail() -> NoReturn:
        raise DeviceFailed(
            "cuFoo: broken", cuda=("CUDA_ERROR_X", 9), hint="mend it", log="l", device="0"
        )

    [outcome] = supervise([fail])
    with pytest.raises(DeviceFailed, match=r"cuFoo: broken \(CUDA_ERROR_X, 9\)") as caught:
        outcome.unwrap()
    assert plain(caught.value) == {
        "kind": "DeviceFailed",
        "exit_code": 5,
        "message": "cuFoo: broken",
        "cuda": {"name": "CUDA_ERROR_X", "number": 9},
        "hint": "mend it",
        "log": "l",
        "device": "0",
    }


def test_a_bug_of_ours_is_told_with_its_traceback() -> None:
    def bug() -> NoReturn:
        raise KeyError("oops")

    [outcome] = supervise([bug])
    assert isinstance(outcome.error, WorkerDied)
    assert outcome.error.message == "internal error: KeyError: 'oops'"
    assert "Traceback" in (outcome.error.log or "")


def test_a_killed_worker_names_the_signal_and_leaves_the_others_alone() -> None:
    outcomes = supervise([lambda: os.kill(os.getpid(), signal.SIGKILL), lambda: 5])
    assert str(outcomes[0].error) == "the worker process was killed by signal 9 (SIGKILL)"
    assert outcomes[1].unwrap() == 5


def test_a_crash_of_native_code_is_a_report() -> None:
    def crash() -> None:
        faulthandler.disable()  # pytest's would print a traceback of its own
        ctypes.string_at(0)

    [outcome] = supervise([crash])
    assert str(outcome.error) == "the worker process was killed by signal 11 (SIGSEGV)"


@pytest.mark.parametrize("end", [lambda: os._exit(1), os.abort])
def test_a_worker_that_dies_of_limited_memory(
    end: Callable[[], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """OpenBLAS exits and LLVM aborts where they get no memory."""

    def die() -> None:
        faulthandler.disable()
        end()

    [outcome] = supervise([die])
    assert outcome.error is not None
    assert outcome.error.hint is None
    monkeypatch.setattr(resource, "getrlimit", lambda kind: (120000 << 10, -1))
    [outcome] = supervise([die])
    assert outcome.error is not None
    assert outcome.error.hint == (
        "its memory is limited to 120000 KiB: raise the limit with ulimit -v"
    )


def test_a_worker_that_leaves_without_an_answer() -> None:
    [outcome] = supervise([lambda: os._exit(3)])
    expected = "the worker process exited with status 3 before it returned a result"
    assert str(outcome.error) == expected


def _pause(_: object) -> None:
    while True:
        signal.pause()


def overdue(state: Callable[[], Any]) -> Answer[Any]:
    """Return the outcome of a task that never ends on its own; ``state`` runs before it starts."""
    with started(state) as worker:
        worker.submit(_pause, 0.1)
        assert settle([worker]) == [worker]
        return worker.answer()


def test_a_hang_ends_with_the_time_limit_and_its_process() -> None:
    with WorkerPool() as pool:
        hung, quick = (pool.acquire(spec_of(os.getpid)) for _ in range(2))
        hung.submit(_pause, 0.1)
        quick.submit(_identity, PATIENCE)
        outcomes = pool.gather([hung, quick])
        wait_for_end(hung.pid)
    assert isinstance(outcomes[0].error, OutOfTime)
    assert str(outcomes[0].error) == "timed out after 0.1 s (--timeout 0.1); the worker was killed"
    assert outcomes[1].unwrap() == quick.pid


@pytest.mark.parametrize(
    ("step", "during", "hint"),
    [
        ("filling x", " while filling x", "raise --timeout"),
        ("running spin", "", "check the kernel for an endless loop, or raise --timeout"),
    ],
)
def test_a_time_limit_names_the_step(step: str, during: str, hint: str) -> None:
    with WorkerProcess(WorkerSpec(lambda progress: progress.report(step))) as worker:
        worker.submit(_pause, 0.1)
        assert settle([worker]) == [worker]
        error = worker.answer().error
    assert error is not None
    limit = "timed out after 0.1 s (--timeout 0.1)"
    assert (str(error), error.hint) == (f"{limit}{during}; the worker was killed", hint)


def test_a_worker_can_report_where_it_stands_at_its_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    def listen() -> None:
        def stop(*_: object) -> NoReturn:
            raise OutOfTime("late", log="at the loop")

        signal.signal(signal.SIGALRM, stop)

    monkeypatch.setattr("cudarun.session.workers.parent.GRACE", PATIENCE)
    outcome = overdue(listen)
    assert isinstance(outcome.error, OutOfTime)
    assert str(outcome.error) == "timed out after 0.1 s (--timeout 0.1); the worker was killed"
    assert outcome.error.log == "at the loop"


def _until_signaled(late: list[bool]) -> str:
    while not late:
        time.sleep(0.01)
    return "done"


def test_a_result_that_comes_too_late_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    def listen() -> list[bool]:
        late: list[bool] = []
        signal.signal(signal.SIGALRM, lambda *_: late.append(True))
        return late

    monkeypatch.setattr("cudarun.session.workers.parent.GRACE", PATIENCE)
    with started(listen) as worker:
        worker.submit(_until_signaled, 0.1)
        assert settle([worker]) == [worker]
        outcome = worker.answer()
    assert isinstance(outcome.error, OutOfTime)
    assert outcome.value is None


def test_a_worker_that_does_not_answer_is_killed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cudarun.session.workers.parent.GRACE", 0.1)
    outcome = overdue(lambda: signal.signal(signal.SIGALRM, lambda *_: None) and None)
    assert str(outcome.error) == "timed out after 0.1 s (--timeout 0.1); the worker was killed"


def test_a_worker_that_has_nothing_to_report_is_killed_at_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Otherwise a signal that is blocked would be waited for."""
    monkeypatch.setattr("cudarun.session.workers.parent.GRACE", 1e6)
    outcome = overdue(lambda: signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGALRM]) and None)
    assert str(outcome.error) == "timed out after 0.1 s (--timeout 0.1); the worker was killed"


@pytest.mark.parametrize("layer", ["python", "c"])
def test_captured_output_comes_with_the_outcome(layer: str) -> None:
    def speak() -> None:
        if layer == "python":
            print("hello from the worker")
        else:
            ctypes.CDLL(None).printf(b"hello from the worker\n")

    [outcome] = supervise([speak], capture=True)
    assert outcome.output == "hello from the worker\n"


def test_output_before_a_crash_is_kept() -> None:
    def speak_and_die() -> None:
        os.write(1, b"last words\n")
        os.kill(os.getpid(), signal.SIGKILL)

    [outcome] = supervise([speak_and_die], capture=True)
    assert outcome.output == "last words\n"


def _add(number: int, state: list[int]) -> list[int]:
    state.append(number)
    return state


def _print(text: str, _: object) -> None:
    print(text)


def test_tasks_follow_one_another_on_the_same_state() -> None:
    with started(list) as worker:
        for number, expected in ((1, [1]), (2, [1, 2])):
            assert ask(worker, partial(_add, number)).unwrap() == expected


def test_output_belongs_to_the_task_that_wrote_it() -> None:
    with started(list, capture=True) as worker:
        for text in ("first", "second"):
            assert ask(worker, partial(_print, text)).output == f"{text}\n"


def test_a_worker_that_died_between_tasks_says_so() -> None:
    with started(os.getpid) as worker:
        os.kill(worker.pid, signal.SIGKILL)
        wait_for_end(worker.pid)
        outcome = ask(worker, _identity)
    assert str(outcome.error) == "the worker process was killed by signal 9 (SIGKILL)"


def test_a_worker_that_nobody_needs_is_ended_at_once() -> None:
    with started(signal.pause) as worker:
        assert is_alive(worker.pid)
    assert not is_alive(worker.pid)


_PARENT = """
    import os, sys, time
    from cudarun.session.workers.pool import call_in_worker

    def work(_):
        print(os.getpid(), flush=True)
        while True:
            time.sleep(1)

    try:
        call_in_worker(work, capture=False)
    except KeyboardInterrupt:
        sys.exit(130)
"""


@pytest.mark.parametrize(
    ("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, -15), (signal.SIGKILL, -9)]
)
def test_no_worker_outlives_its_parent(number: int, status: int) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(_PARENT)], stdout=subprocess.PIPE, text=True
    ) as parent:
        assert parent.stdout is not None
        worker = int(parent.stdout.readline())
        parent.send_signal(number)
        assert parent.wait(timeout=PATIENCE) == status
        wait_for_end(worker)


def test_a_retired_worker_holds_no_descriptors() -> None:
    before = set(os.listdir("/proc/self/fd"))
    with started(list, capture=True) as worker:
        worker.retire()
        worker.retire()
        assert set(os.listdir("/proc/self/fd")) == before
    assert not is_alive(worker.pid)


def test_whoever_is_settled_first_is_told_first() -> None:
    with started(list) as quick, started(list) as slow:
        quick.submit(_identity)
        slow.submit(_pause)
        assert settle([slow, quick]) == [quick]


def test_a_worker_is_settled_by_its_time_limit() -> None:
    with started(list) as worker:
        worker.submit(_pause, 0.1)
        assert settle([worker]) == [worker]
        assert isinstance(worker.answer().error, OutOfTime)


def test_patience_ends_without_any() -> None:
    with started(list) as worker:
        worker.submit(_pause)
        assert settle([worker], patience=0.05) == []


def test_starting_does_not_count_for_the_time_limit() -> None:
    with started(signal.pause) as worker:
        worker.submit(_pause, 0.1)
        assert settle([worker], patience=0.3) == []


def test_a_driver_that_never_initializes_has_a_limit_of_its_own(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("cudarun.session.workers.parent.STARTUP_LIMIT", 0.3)
    with started(signal.pause) as worker:
        worker.submit(_identity, PATIENCE)
        assert settle([worker]) == [worker]
        outcome = worker.answer()
    assert isinstance(outcome.error, OutOfTime)
    assert "the driver was not initialized within 0.3 s" in str(outcome.error)


def test_without_a_limit_starting_has_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cudarun.session.workers.parent.STARTUP_LIMIT", 0.0)
    with started(partial(time.sleep, 0.3)) as worker:
        assert ask(worker, _identity).error is None


def test_each_phase_has_the_limit_by_itself() -> None:
    with started(list) as worker:
        worker.submit(_pause, PATIENCE)
        wait_until(lambda: worker.page.phase_start is not None, "phase")
        before = worker.page.phase_start
        worker.page.start_phase()
        after = worker.page.phase_start
        assert before is not None
        assert after is not None
        assert after > before
        left = worker.seconds_left
        assert left is not None
        assert left > before + PATIENCE - time.monotonic()


def test_a_fresh_process_is_used_before_an_idle_worker() -> None:
    with WorkerPool() as pool:
        spec = WorkerSpec(bool)
        pool.reserve(spec)
        fresh = start_fresh()
        assert pool.acquire(spec, fresh).pid == fresh.process


@pytest.mark.parametrize("given", [None, "26"])
def test_threads_of_a_worker_that_wait_for_work_sleep(
    given: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    from cudarun.session.workers.pool import call_in_worker

    name = "OPENBLAS_THREAD_TIMEOUT"
    if given is None:
        monkeypatch.delenv(name, raising=False)
    else:
        monkeypatch.setenv(name, given)
    assert call_in_worker(partial(_variable, name)).unwrap() == (given or "20")


def _variable(name: str, _: None) -> str:
    return os.environ[name]
