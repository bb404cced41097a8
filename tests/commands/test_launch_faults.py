"""``cudarun launch`` on the emulated device: faults, hangs, workers and commands that are ended."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.commands.conftest import Ran
from tests.commands.limits import at_a_limit
from tests.commands.notes import BY_ORDER
from tests.support.forked_processes import run_script
from tests.support.processes import PATIENCE, PYTHON_PATH, children, wait_for_end

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.commands.conftest import Run

ROOT = Path(__file__).resolve().parents[2]
SAXPY = ("launch", "samples/saxpy.ptx", "-d", "cpu", "--threads", "100", "--block", "32")


def test_a_fault_says_which_thread_did_what_where(run: Run) -> None:
    ran = run(
        "launch", "samples/out_of_bounds.ptx", "-k", "far_past", "-d", "cpu", "--grid", "2",
        "--block", "64", "x=f32[n]:zeros", "n=i32:100",
    )  # fmt: skip
    assert ran.code == 5
    assert ran.out == ""
    assert "CUDA_ERROR_ILLEGAL_ADDRESS, 700" in ran.err
    for fact in (
        "st.global",
        "out_of_bounds.cu:",
        "block (0, 0, 0), thread (1, 0, 0)",
        "past the end",
    ):
        assert fact in ran.err


def test_an_endless_kernel_ends_with_the_time_limit(run: Run) -> None:
    command = ("launch", "samples/endless.ptx", "-d", "cpu", "--threads", "1", "x=i32[1]:zeros")
    ran, limit = at_a_limit(
        lambda limit: run(*command, "--timeout", f"{limit}"), lambda ran: "runs" in ran.err
    )
    assert ran.code == 6, ran.err
    assert ran.err == endless_until(limit)


def test_an_endless_kernel_of_two_devices(run: Run) -> None:
    def launched(limit: float, *more: str) -> Ran:
        two = {"CUDARUN_CPU_DEVICES": "2"}
        arguments = ("-d", "cpu:all", "--timeout", f"{limit}", "x=i32[1]:zeros")
        return run("launch", "samples/endless.ptx", "--threads", "1", *arguments, *more, env=two)

    ran, limit = at_a_limit(launched, lambda ran: ran.err.count("runs") == 2)
    assert ran.code == 6
    text = endless_until(limit)
    assert ran.err == text + text.replace("device cpu", "device cpu:1")
    ran, limit = at_a_limit(
        lambda limit: launched(limit, "--together"), lambda ran: "runs" in ran.err
    )
    assert (ran.code, ran.err) == (6, endless_until(limit))


SOON_LONG = """
from cudarun.__main__ import main
from cudarun.session.workers import deadline
deadline._LONG, deadline._LOOKING = 0.0, 0.01
main()
"""


def test_a_kernel_that_runs_for_long_reports_where(tmp_path: Path) -> None:
    script = tmp_path / "soon_long.py"
    script.write_text(SOON_LONG)

    def launched(*options: str) -> Ran:
        words = ["launch", str(ROOT / "samples/endless.ptx"), "-d", "cpu", "--threads", "1"]
        environment = os.environ | {"PYTHONPATH": PYTHON_PATH}
        code, out, err = run_script(script, [*words, "x=i32[1]:zeros", *options], environment)
        return Ran(code, out.decode(), err.decode())

    note = "note: the kernel still runs\n" + ENDLESS.partition("\n")[2]
    ran, _ = at_a_limit(
        lambda limit: launched("--json", "--timeout", f"{limit}"),
        lambda ran: note in ran.err,
    )
    assert ran.err.count(note) == 1
    error = json.loads(ran.out)["error"]
    assert error["places"] == [
        {
            "state": "runs", "threads": 1, "block": [0, 0, 0], "thread": [0, 0, 0],
            "ptx_line": 30, "ptx": "ld.volatile.global.u32 \t%r1, [%rd1];",
            "file": "endless.cu", "line": 7, "buffer": None, "element": None,
        }
    ]  # fmt: skip
    quiet = launched("-q", "--timeout", "1")
    assert "note:" not in quiet.err


def test_where_all_threads_of_a_hung_kernel_are(run: Run, hangs: str) -> None:
    """Also what it printed, and what detectors found until then."""
    command = (
        "launch", hangs, "-k", "at_a_barrier", "-d", "cpu", "--grid", "2", "--block", "64",
        "flag=i32[1]:zeros", "y=i32[n]", "n=i32:64", "--detect", "race",
    )  # fmt: skip
    ran, limit = at_a_limit(
        lambda limit: run(*command, "--timeout", f"{limit}"),
        lambda ran: "2 threads run:" in ran.err and "126 threads wait" in ran.err,
    )
    assert ran.code == 6, ran.err
    assert ran.out.startswith("waiting\nwaiting\nFAIL race in shared memory: part")
    shown = ran.err.splitlines()
    assert [line.strip() for line in shown if "PTX line" not in line] == [
        BY_ORDER.strip(),
        f"error: timed out after {limit} s (--timeout {limit}); the worker was killed",
        "in file hangs.ptx, kernel at_a_barrier, device cpu",
        "| kernel at_a_barrier: 0 of 2 blocks have finished",
        "|   2 threads run: block (0, 0, 0), thread (0, 0, 0); block (1, 0, 0), thread (0, 0, 0)",
        "|     from hangs.cu:16",
        "|   126 threads wait at barrier 0: block (0, 0, 0), thread (1, 0, 0); "
        "block (0, 0, 0), thread (2, 0, 0); block (0, 0, 0), thread (3, 0, 0) and 123 more",
        "|     from hangs.cu:17",
        "hint: check the kernel for an endless loop, or raise --timeout",
    ]


def test_threads_of_a_hung_kernel_that_have_parted(run: Run, hangs: str) -> None:
    command = (
        "launch", hangs, "-k", "in_six_loops", "-d", "cpu", "--block", "6", "flag=i32[1]:zeros",
        "--json",
    )  # fmt: skip
    ran, _ = at_a_limit(
        lambda limit: run(*command, "--timeout", f"{limit}"),
        lambda ran: "2 more at other instructions" in ran.out,
    )
    assert ran.code == 6
    log = ran.document["error"]["log"]
    assert log.count("1 thread runs: block (0, 0, 0), thread (") == 4
    assert log.endswith("\n  2 more at other instructions")


PRINTS_FOR_EVER = r"""
.version 8.0
.target sm_80
.address_size 64
.extern .func (.param .b32 result) vprintf (.param .b64 template, .param .b64 arguments);
.global .align 1 .b8 template[13] = {%s, 0};
.visible .entry prints()
{
    .reg .b64 %t;
    cvta.global.u64 %t, template;
again:
    {
        .param .b64 one; .param .b64 two; .param .b32 back;
        st.param.b64 [one], %t;
        st.param.b64 [two], %t;
        call.uni (back), vprintf, (one, two);
    }
    bra again;
}
"""


def test_an_endless_kernel_that_prints_wide_numbers(run: Run, tmp_path: Path) -> None:
    """Formatting one would take seconds, in which no time limit ends the kernel."""
    template = ", ".join(map(str, b"%1000000000d"))
    (tmp_path / "prints.ptx").write_text(PRINTS_FOR_EVER.replace("%s", template))
    command = ("launch", "prints.ptx", "-d", "cpu", "--threads", "1", "--timeout")
    ran, _ = at_a_limit(
        lambda limit: run(*command, f"{limit}"),
        lambda ran: "1 thread runs" in ran.err,
    )
    assert ran.code == 6, ran.err
    assert "  |   1 thread runs: block (0, 0, 0), thread (0, 0, 0)\n" in ran.err
    assert ran.out.startswith(" " * 1000)
    assert len(ran.out) < 1 << 25  # of printf's buffer


def endless_until(limit: float) -> str:
    return (
        f"error: timed out after {limit} s (--timeout {limit}); the worker was killed\n{ENDLESS}"
        "hint: check the kernel for an endless loop, or raise --timeout\n"
    )


ENDLESS = """\
  in file samples/endless.ptx, kernel endless, device cpu
  | kernel endless: 0 of 1 blocks have finished
  |   1 thread runs: block (0, 0, 0), thread (0, 0, 0)
  |     at PTX line 30: ld.volatile.global.u32 \t%r1, [%rd1];
  |     from endless.cu:7
"""


@pytest.fixture
def hangs(tmp_path: Path) -> str:
    """Kernels that never end. A source would have to be compiled within the limit."""
    shutil.copy(ROOT / "tests/data/hangs/hangs.ptx", tmp_path)
    return "hangs.ptx"


def endless(device: str = "cpu") -> subprocess.Popen[str]:
    """A launch that never ends, started and known to have its workers at work."""
    process = subprocess.Popen(
        [sys.executable, "-m", "cudarun", "launch", "samples/endless.ptx", "-d", device,
         "--threads", "1", "--trace", "x=i32[1]:zeros"],
        cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip
    assert process.stderr is not None
    launched = 0
    for line in process.stderr:
        launched += line.startswith("cuMemcpyHtoD")  # the last call that returns
        if launched == (2 if device == "cpu:all" else 1):
            return process
    raise AssertionError("it never launched")


def press(process: subprocess.Popen[str]) -> None:
    process.send_signal(signal.SIGINT)


def interrupted(
    device: str, send: Callable[[subprocess.Popen[str]], None] = press, status: int = 130
) -> str:
    """What is on stderr after Ctrl-C, which is pressed later where no thread ran yet."""
    kernels = 2 if device == "cpu:all" else 1
    for seconds in (0, 1, 4, 16):
        with endless(device) as process:
            workers = children(process.pid)
            time.sleep(seconds)
            send(process)
            _, err = process.communicate(timeout=PATIENCE)
        assert process.returncode == status
        for worker in workers:
            wait_for_end(worker)
        if err.count("at PTX line") == kernels:
            break
    return err


def test_ctrl_c_is_130_and_leaves_no_process() -> None:
    assert interrupted("cpu").endswith("error: interrupted\n" + ENDLESS)


def test_sigterm_reports_what_ctrl_c_reports() -> None:
    def end(process: subprocess.Popen[str]) -> None:  # as timeout(1) does
        process.terminate()
        os.killpg(process.pid, signal.SIGTERM)

    err = interrupted("cpu", end, -signal.SIGTERM)
    assert err.endswith("error: interrupted\n" + ENDLESS)


def test_ctrl_c_on_two_devices(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUDARUN_CPU_DEVICES", "2")
    err = interrupted("cpu:all")
    assert "  in file samples/endless.ptx, kernel endless, device cpu, cpu:1\n" in err
    assert err.count("  | kernel endless: 0 of 1 blocks have finished\n") == 2


def test_a_killed_worker_is_7() -> None:
    with endless() as process:
        [worker] = children(process.pid)
        os.kill(worker, signal.SIGKILL)
        _, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 7
    assert "the worker process was killed by signal 9 (SIGKILL)" in err
    wait_for_end(worker)


def test_a_document_for_a_launch_that_came_to_nothing(run: Run) -> None:
    ran = run(*SAXPY, "a=f3:2", "--json")
    assert ran.code == 2
    document = json.loads(ran.out)
    document.pop("machine")
    assert document == {
        "schema": "cudarun/launch/1",
        "exit_code": 2,
        "error": {
            "kind": "ArgumentSyntaxError",
            "exit_code": 2,
            "message": "unknown type 'f3'",
            "hint": "did you mean f32?",
        },
    }


MEETING = """.version 8.0
.target sm_90
.address_size 64
.extern .shared .align 16 .b8 room[];
.visible .entry meet(.param .u64 arrived)
{
    .reg .b64 %p; .reg .b32 %old, %all; .reg .pred %wait;
    ld.param.u64 %p, [arrived];
    mov.u32 %all, %nctaid.x;
    atom.global.add.u32 %old, [%p], 1;
WAIT:
    ld.volatile.global.u32 %old, [%p];
    setp.lt.u32 %wait, %old, %all;
    @%wait bra WAIT;
    ret;
}
"""


@pytest.mark.parametrize(("grid", "shared"), [(132, 200 << 10), (264, 100 << 10)])
def test_blocks_that_wait_for_blocks_that_do_not_fit(
    run: Run, tmp_path: Path, grid: int, shared: int
) -> None:
    (tmp_path / "meet.ptx").write_text(MEETING)
    command = ("launch", "meet.ptx", "-d", "cpu", "--block", "1", "--smem", str(shared))
    arrived = ("arrived=u32[1]:zeros", "--check")
    assert run(*command, "--grid", str(grid), *arrived, f"arrived == {grid}").code == 0
    ran = run(*command, "--grid", str(grid + 1), *arrived, f"arrived == {grid + 1}")
    assert ran.code == 5
    assert "deadlock: blocks wait for others, which cannot begin" in ran.err
    assert f"1 of {grid + 1} blocks have not begun, from block ({grid}, 0, 0) on" in ran.err
    assert "ld.volatile.global.u32" in ran.err
