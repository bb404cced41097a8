"""Programs on the emulated device: built by gcc, with what nvcc would have written."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from tests.session.exec.conftest import GCC, Exec
from tests.support.forked_processes import run_command
from tests.support.processes import PYTHON_PATH

HERE = Path(__file__).parent
pytestmark = pytest.mark.skipif(GCC is None, reason="needs gcc")


@pytest.mark.parametrize("cuda", [12, 13])
def test_a_program_runs_unchanged(program: Exec, cuda: int) -> None:
    ran = program("scale", cuda=cuda)
    assert (ran.stdout, ran.returncode) == ("93 9 0 12\n", 4)
    assert "1 " in ran.stderr
    assert "scale" in ran.stderr


def test_a_program_without_stdout(program: Exec) -> None:
    code = 'exec "$0" scale >&-'  # whose number is free for others
    ran = program("scale", through=("sh", "-c", code))
    assert ran.returncode == 4
    assert "scale" in ran.stderr
    assert "Traceback" not in ran.stderr


def test_kernels_print_between_what_the_program_prints(program: Exec) -> None:
    assert program("-q", "hello").stdout == "before, hello, after\n"


def test_a_fault_is_reported(program: Exec, tmp_path: Path) -> None:
    junit = tmp_path / "report.xml"
    ran = program("--junit", str(junit), "fault")
    assert ran.returncode == 5
    assert "illegal address" in ran.stderr
    assert "illegal address" in junit.read_text()
    assert program("--exit-code", "program", "fault").returncode == 0


def test_errors_that_a_program_ignores(program: Exec) -> None:
    ran = program("--json", "ignored")
    document = json.loads(ran.stdout)
    assert ran.returncode == document["exit_code"] == 1
    found = {(each["call"], each["error"]) for each in document["unchecked"]}
    launched = "cudaLaunchKernel", "cudaErrorInvalidConfiguration"
    assert found == {("cudaMalloc", "cudaErrorMemoryAllocation"), launched}
    assert {each["function"] for each in document["unchecked"]} <= {"main", "launch"}
    [problem] = document["problems"]
    assert problem.startswith("scale cannot be launched: invalid block (2000, 1, 1)")


def test_a_program_that_looks_at_its_errors(program: Exec) -> None:
    ran = program("probing")
    assert ran.returncode == 0
    assert "ignored" not in ran.stderr
    assert "cudaGraphicsGLRegisterBuffer" in ran.stderr


@pytest.mark.parametrize("options", [(), ("--detect", "race,uninit")])
def test_streams_run_on_their_own(program: Exec, options: tuple[str, ...]) -> None:
    ran = program(*options, "streams")
    assert (ran.stdout, ran.returncode) == ("2 7\n", 0)


RESULTS = {
    "registered memory": ("registered", 13, "93 93 45\n"),
    "a copy goes through the rows of an array": ("array", 13, "5 8 31\n"),
    "names are texts that stay": ("names", 13, "_Z8wait_forPViPi scale\n"),
    "attributes of a kernel": ("attributes", 13, "0 1024 75\n"),
    "threads of a program": ("threads", 13, "93 102\n"),
    "processes that fork": ("fork", 13, "cudaSuccess\ncudaErrorInitializationError\n"),
    "the number of nodes before the nodes": ("nodes", 12, "1 1 0 1 1 1\n"),
    "the parameters of a kernel node": ("kernel node", 13, "1 1 0 93 279 910 2\n"),
    "processes share memory and events": (
        "processes",
        13,
        "1 1 186 cudaErrorDeviceUninitialized\n",
    ),
    "a kernel ends a loop of a graph": ("loop", 13, "0 3 0\n"),
    "several copies by one call": ("batch", 13, "1 9 2 3 0 -2 -2\n"),
    "the state of a capture": ("capture", 12, "0 0 1 1 1 1\n"),
    "a launch of a graph waits for copies to pageable memory": ("pageable", 13, "1\n"),
    "a result needs a place": ("no place", 13, 3 * "cudaErrorInvalidValue\n"),
    "an error is the last one once": ("last error", 13, "0 101 101 0 0 1 0 0"),
}
"""What the program prints, by what is tested: its argument, the version of CUDA, its output."""


@pytest.mark.parametrize("tested", RESULTS)
def test_results_of_calls(program: Exec, tested: str) -> None:
    argument, version, output = RESULTS[tested]
    assert program(argument, cuda=version).stdout == output


def timed_out(
    program: Exec, what: str, *options: str, through: tuple[str, ...] = ()
) -> subprocess.CompletedProcess[str]:
    """Run a program with a time limit in which its kernel starts, however slow the processor."""
    seconds = 1
    while True:
        ran = program(*options, "--timeout", str(seconds), what, through=through)
        assert ran.returncode == 6
        assert f"timed out after {seconds} s" in ran.stderr
        if ran.stdout:  # which it writes once the kernel runs
            return ran
        seconds *= 2


def test_a_time_limit(program: Exec) -> None:
    ran = timed_out(program, "endless")
    assert ran.stdout == "running\n"
    assert "kernel wait_for(int volatile*, int*): 0 of 1 blocks have finished" in ran.stderr
    assert "\n  1 kernel waits until it ends: a device of cpu runs one kernel" in ran.stderr


def test_detectors_pass_only_in_a_complete_run(program: Exec) -> None:
    ran = program("--detect", "race", "scale")
    assert (ran.returncode, ran.stderr.count("PASS")) == (4, 1)
    endless = "sh", "-c", '"$0" scale; exec sleep 600'
    ran = timed_out(program, "", "--detect", "race", through=endless)
    assert ran.stderr.count("PASS") == 0
    ran = program("--detect", "race", "fault")
    assert (ran.returncode, ran.stderr.count("PASS")) == (5, 0)
    assert "PASS" not in program("--detect", "race", "--stats", "names").stderr  # without kernels


def test_a_time_limit_is_for_the_work_and_the_processes_that_are_left(program: Exec) -> None:
    ran = timed_out(program, "unfinished")
    with suppress(OSError):
        assert not Path(f"/proc/{int(ran.stdout)}/cmdline").read_bytes()  # it has ended


def test_a_host_function_makes_no_calls_and_can_exit(program: Exec) -> None:
    assert program("exit in a callback").returncode == 42


def test_a_host_function_after_the_end_is_no_fault(program: Exec) -> None:
    assert program("callback at the end").returncode == 4


def test_invalid_arguments_are_errors_of_the_call(program: Exec) -> None:
    ran = program("invalid")
    assert ran.stdout == 10 * "cudaErrorInvalidValue\n"
    assert "Traceback" not in ran.stderr


@pytest.mark.parametrize(
    ("end", "results"), [("fault", "0\n700\n"), ("error", "0\n1\n"), ("killed", "0\n600\n0\n")]
)
def test_an_event_ends_with_the_work_of_its_process(program: Exec, end: str, results: str) -> None:
    ran = program("--timeout", "60", end, through=(sys.executable, str(HERE / "shared_events.py")))
    assert ran.stdout == results, ran.stderr


def test_a_defect_of_cudarun_is_not_the_kernels(program: Exec) -> None:
    ran = program("malformed")
    assert ran.returncode == 7
    assert "internal error: IndexError" in ran.stderr


KILL_SERVERS = """
"$0" scale
for each in /proc/[0-9]*; do
  read -r pid _ _ parent _ < $each/stat
  [ "$parent" = $PPID ] && [ $pid != $$ ] && kill -9 $pid
done
true
"""


def test_a_server_that_ends_without_its_report(program: Exec) -> None:
    ran = program("scale", through=("sh", "-c", KILL_SERVERS))
    assert ran.returncode == 7
    assert "internal error: a server of the program's processes has ended" in ran.stderr


@pytest.mark.parametrize("detect", [(), ("--detect", "race")])
def test_counts_need_the_interpreter(program: Exec, detect: tuple[str, ...]) -> None:
    ran = program("--stats", *detect, "--cpu-engine", "compile", "scale")
    assert ran.returncode == 2
    assert "compiled kernels have no statistics" in ran.stderr
    assert not ran.stdout


FORGED = """
import os, pickle
class Act:
    def __reduce__(self):
        return os.mkdir, ("forged",)
with open(os.environ["CUDARUN_EXEC_LIBRARIES"] + "/report-1", "wb") as file:
    pickle.dump(Act(), file)
"""


@pytest.mark.usefixtures("cached")
def test_a_program_cannot_act_by_its_report(tmp_path: Path) -> None:
    command = ["exec", "--", sys.executable, "-c", FORGED]
    _, _, errors = run_command(command, tmp_path, os.environ | {"PYTHONPATH": PYTHON_PATH})
    assert b"posix.mkdir is not a dataclass" in errors
    assert not (tmp_path / "forged").exists()


def test_a_signal_is_the_exit_code(program: Exec) -> None:
    assert program("abort").returncode == 128 + signal.SIGABRT


def test_nothing_is_left(program: Exec, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    program("scale")
    assert not os.listdir(tmp_path)


def test_the_management_library_knows_the_devices(
    program: Exec, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CUDARUN_CPU_DEVICES", "2")
    ran = program("-q", "", through=(sys.executable, str(HERE / "management.py")))
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.splitlines() == [
        *("1", "2 [0, 2, 0]", "True", "7 0", "True", "0 True", "6"),
        *("0 True", "True", "3", "Not Supported", "0 1"),
    ]
