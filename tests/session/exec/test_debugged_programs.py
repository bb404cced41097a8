"""``cudarun exec --debug``: the kernels of a whole program under the debugger."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from cudarun.session.compile.toolkit import find_program
from tests.session.exec.conftest import GCC, Exec
from tests.support.forked_processes import run_command

pytestmark = pytest.mark.skipif(GCC is None, reason="needs gcc")


def debugged(program: Exec, what: str, *commands: str, options: tuple[str, ...] = ()) -> Any:
    """The results of commands, the output of the program and the report, and the exit code."""
    given = ["--debug", "--format", "json", "-x", ";".join(commands), *options]
    ran = program(*given, what)
    lines = [json.loads(line) for line in ran.stdout.splitlines()]
    assert [each["command"] for each in lines] == [*commands]
    return [each.get("result", each.get("error")) for each in lines], ran.stderr, ran.returncode


def test_a_breakpoint_before_the_first_launch(program: Exec) -> None:
    commands = ["break scale", "continue", "stepi 7", "print %r4", "lanes %r2", "continue"]
    found, output, code = debugged(program, "scale", *commands)
    point, stop, _, product, lanes, end = found
    assert len(point["places"]) == 1
    assert (stop["stop"]["reason"], stop["stop"]["kernel"]) == ("breakpoint", "scale")
    assert product["text"] == "0"
    assert lanes["values"] == [str(lane) for lane in range(32)]
    assert end["stop"]["reason"] == "ended"
    assert "93 9 0 12\n" in output  # as without the debugger
    assert code == 4


def test_the_program_has_one_result_however_a_launch_was_run(program: Exec) -> None:
    """Kernels read and write the program's own memory, which only one run of them may change."""
    plain = program("registered")
    there_and_back = ["stepi 6", "reverse-continue", "goto 5", "goto 2"]
    commands = ["break scale", "continue", *there_and_back, "continue", *there_and_back, "delete"]
    found, output, code = debugged(program, "registered", *commands, "continue")
    starts = [found[each]["stop"] for each in (1, 6)]
    assert [each["reason"] for each in starts] == ["breakpoint", "breakpoint"]
    assert [each["stop"]["position"] for each in found[3:6]] == [0, 5, 2]
    assert found[-1]["stop"]["reason"] == "ended"
    assert plain.stdout in output
    assert code == plain.returncode


def test_a_breakpoint_is_passed_and_prints_in_all_launches(program: Exec) -> None:
    commands = ["break scale", "ignore 1 1", "continue", "log 1 value {%r2}", "break later.cu:5"]
    found, _, code = debugged(program, "registered", *commands, "continue", "breakpoints")
    assert found[2]["stop"]["hits"] == [[1, 2]]
    assert found[4]["places"] == []  # its code may be loaded later
    assert found[5]["stop"]["reason"] == "ended"
    first, second = found[6]
    assert (first["hits"], first["message"]) == (3, "value {%r2}")
    assert "block (0, 0, 0), thread (0, 0, 0): value 0\n" in found[5]["stop"]["output"]
    assert second["hits"] == 0
    assert code == program("registered").returncode


def test_a_fault_of_a_program_can_be_left_backwards(program: Exec) -> None:
    commands = ["continue", "reverse-stepi", "warps", "continue", "continue"]
    found, output, code = debugged(program, "fault", *commands)
    fault, before, warps, again, end = found
    assert fault["stop"]["reason"] == again["stop"]["reason"] == "fault"
    assert before["stop"]["position"] == fault["stop"]["position"] - 1
    assert len(warps) == 2
    assert end["stop"]["reason"] == "ended"
    assert "illegal address" in output
    assert code == 5


def test_printed_text_is_the_programs(program: Exec) -> None:
    ran = program("-q", "--debug", "-x", "break hello; continue; stepi; reverse-stepi; c", "hello")
    assert ran.stdout.endswith("before, hello, after\nthe program has ended\n")


def test_the_program_ends_with_the_debugger(program: Exec) -> None:
    ran = program("--debug", "-x", "break scale; continue; quit", "scale")
    assert ran.returncode == 0
    assert "93" not in ran.stdout


def test_a_breakpoint_that_is_passed_still_prints_later(program: Exec) -> None:
    commands = ["break scale", "log 1 value {%r2}", "ignore 1 1", "continue", "breakpoints"]
    found, *_ = debugged(program, "registered", *commands)
    assert found[3]["stop"]["reason"] == "ended"
    assert found[3]["stop"]["output"].count("thread (0, 0, 0): value 0\n") == 2
    assert found[4][0]["hits"] == 3


def test_a_program_ends_with_the_debugger_after_a_launch(program: Exec) -> None:
    ran = program("--debug", "-x", "break scale; continue; goto 999999999; quit", "scale")
    assert (ran.returncode, "93" in ran.stdout) == (0, False)


CLAMP = """
#include <cstdio>
struct Limits { float low, high; };
__device__ __noinline__ float clamped(float value, Limits limits) {
    return value < limits.low ? limits.low : value > limits.high ? limits.high : value;
}
__global__ void clamp(float* x, Limits limits, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float before = x[i];
        x[i] = clamped(before, limits);
    }
}
int main() {
    float host[100], *x;
    for (int i = 0; i < 100; ++i) host[i] = i;
    cudaMalloc(&x, sizeof host);
    cudaMemcpy(x, host, sizeof host, cudaMemcpyHostToDevice);
    for (int launch = 1; launch < 3; ++launch) {
        clamp<<<4, 32>>>(x, {10.0f * launch, 90.0f / launch}, 100);
    }
    cudaMemcpy(host, x, sizeof host, cudaMemcpyDeviceToHost);
    printf("%g %g %g\\n", host[0], host[50], host[99]);
    return cudaFree(x);
}
"""


@pytest.mark.skipif(find_program("nvcc") is None, reason="needs nvcc")
def test_a_program_of_cuda_source(tmp_path: Path) -> None:
    """It is compiled by nvcc with ``-G``, so that it has C++ variables."""
    (tmp_path / "app.cu").write_text(CLAMP)
    look = ["print limits.high", "watch x[95]", "continue", "reverse-continue", "print before"]
    commands = ["break app.cu:11 if before > 89 and i % 5 == 0", "continue", *look, "delete 2"]
    commands += ["continue", "print i", "print x[i]", "where", "continue"]
    words = ["exec", "--debug", "--format", "json", "-x", ";".join(commands), "app.cu"]
    code, out, err = run_command(words, tmp_path, os.environ)
    found = [json.loads(line)["result"] for line in out.splitlines()]
    first, high, written, back, before = (found[each] for each in (1, 2, 4, 5, 6))
    assert first["stop"]["thread"] == {"block": [2, 0, 0], "thread": [26, 0, 0]}
    assert (high["text"], before["text"]) == ("90.0", "95.0")  # of the thread that wrote
    assert [each["after"] for each in written["stop"]["changes"]] == ["90.0"]
    assert back["stop"]["position"] == first["stop"]["position"]
    assert (found[8]["stop"]["reason"], found[-1]["stop"]["reason"]) == ("breakpoint", "ended")
    assert b"20 45 45\n" in err
    assert code == 0


@pytest.mark.parametrize("options", [("-x", "continue"), ("--format", "json")])
def test_options_of_the_debugger_need_it(program: Exec, options: tuple[str, ...]) -> None:
    ran = program(*options, "scale")
    assert ran.returncode == 2
    assert "only with --debug" in ran.stderr
