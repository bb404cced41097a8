"""Sessions of the debugger: a bug each, found by a person's steps."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support.forked_processes import run_command
from tests.support.processes import PATIENCE, PYTHON_PATH, parents
from tools import generate_debug_docs
from tools.generate_debug_sessions import DATA, SESSIONS, session_text

SAMPLES = Path(__file__).resolve().parents[2] / "samples"
STOPS = int(os.environ.get("CUDARUN_DEBUG_STOPS", "12"))
"""The positions that are reached forwards and back; the whole are 500."""


@pytest.mark.parametrize("name", sorted(path.stem for path in SESSIONS.glob("*.txt")))
def test_session(name: str) -> None:
    path = SESSIONS / f"{name}.txt"
    assert session_text(path) == path.read_text(), "python -m tools.generate_debug_sessions"


def test_the_reference_lists_the_commands() -> None:
    page = generate_debug_docs.PAGE.read_text()
    assert page == generate_debug_docs.page(), "python -m tools.generate_debug_docs"


def answers(commands: list[str], *words: str) -> list[Any]:
    """What a session in JSON answers."""
    environment = {**os.environ, "PYTHONPATH": PYTHON_PATH}
    arguments = ["debug", *words, "--format", "json", "-x", ";".join(commands)]
    patience = PATIENCE + 2 * STOPS
    code, out, err = run_command(arguments, DATA, environment, b"", timeout=patience)
    assert (code, err) == (0, b"")
    return [json.loads(line) for line in out.splitlines()]


@pytest.mark.parametrize(
    ("words", "buffer", "end"),
    [
        ("bugs.ptx -k sequence --threads 10 y=i32[10]", "y", 2148),
        ("bugs.ptx -k row_sums --threads 64 x=f32[9999]:iota sums=f32[64] columns=i32:99", "sums",
         342),
        (f"{SAMPLES}/matmul.ptx -k matmul_tiled --threads 20,16 --block 16,16 a=f32[m,k]:rand "
         "b=f32[k,n]:rand c=f32[m,n] m=i32:16 n=i32:20 k=i32:80", "c", 400),
    ],
    ids=["recursion", "a loop", "shared memory"],
)  # fmt: skip
def test_a_position_is_the_same_state_forwards_and_back(words: str, buffer: str, end: int) -> None:
    launch = words.split()
    order = random.Random(STOPS)
    positions = sorted(order.choices(range(1, end), k=STOPS))
    mixed = order.sample(positions, STOPS)
    look = ["registers", "warps", "where", f"print {buffer}"]
    commands = [each for position in (*positions, *mixed) for each in (f"goto {position}", *look)]
    found = answers(commands, *launch)
    step = 1 + len(look)
    states = [json.dumps(found[first : first + step]) for first in range(0, len(found), step)]
    assert len(states) == 2 * STOPS
    forwards = dict(zip(positions, states[:STOPS], strict=True))
    assert dict(zip(mixed, states[STOPS:], strict=True)) == forwards
    assert len({*forwards.values()}) == len({*positions})


def test_steps_back_undo_steps() -> None:
    launch = ["bugs.ptx", "-k", "sequence", "--threads", "6", "y=i32[6]"]
    forth, back = ["thread 5", *["step"] * 8], ["reverse-step"] * 7
    found = answers(["break bugs.cu:69", "continue", *forth, *back], *launch)
    stops = [each["result"]["stop"]["position"] for each in found[1:]]
    steps = stops[2:]
    assert len({*steps[:8]}) == 8
    assert steps[8:] == steps[6::-1]


def launch_of(kernel: str, *arguments: str) -> list[str]:
    """A launch of 32 threads."""
    return ["bugs.ptx", "-k", kernel, "--threads", "32", *arguments]


@pytest.mark.parametrize("thread", [0, 5])
def test_a_thread_runs_until_a_location(thread: int) -> None:
    commands = ["break deviations", "continue", f"thread {thread}", "delete", "until bugs.cu:23"]
    found = answers(commands, *launch_of("deviations", "x=f32[32]:3", "y=f32[32]"))
    stop = found[-1]["result"]["stop"]
    assert (stop["place"]["line"], stop["thread"]["thread"]) == (23, [thread, 0, 0])


@pytest.mark.parametrize("where", ["x", "x[0]", "1.5"])
def test_memory_is_at_an_address(where: str) -> None:
    commands = ["break deviations", "continue", f"memory {where} f32"]
    found = answers(commands, *launch_of("deviations", "x=f32[32]:3", "y=f32[32]"))
    message = f"{where} is neither a shared variable nor an address"
    assert found[-1]["error"]["message"] == message


def test_an_address_that_is_negative_is_in_no_memory() -> None:
    commands = ["break deviations", "continue", "memory hidden:0 u8", "memory -1 u8"]
    found = answers(commands, *launch_of("deviations", "x=f32[32]:3", "y=f32[32]"))
    assert found[-2]["error"]["message"].startswith("unknown state space 'hidden'")
    assert found[-1]["error"]["message"] == "-1: not all of the 1 bytes are in memory"


def test_a_file_of_commands_that_is_not_text(tmp_path: Path) -> None:
    commands = tmp_path / "commands"
    commands.write_bytes(b"\xff\xfe\nprint n\n")
    words = ["debug", *launch_of("sequence", "y=i32[32]"), "-x", str(commands)]
    code, out, err = run_command(words, DATA, {**os.environ, "PYTHONPATH": PYTHON_PATH}, b"")
    assert (code, err) == (0, b"")
    assert b"unknown command" in out


def test_a_shared_variable_without_debug_information() -> None:
    launch = ["bugs.ptx", "-k", "handed_over", "--threads", "128", "--block", "64", "y=i32[128]"]
    look = ["print part[3]", "print part", "lanes part[threadIdx.x] + 1", "memory part i32[4]"]
    condition = "threadIdx.x < 32 and part[threadIdx.x] == 5 and blockIdx.x == 1"
    found = answers([f"break bugs.cu:77 if {condition}", "continue", *look], *launch)
    stop, element, whole, lanes, memory = [each["result"] for each in found[1:]]
    assert stop["stop"]["thread"] == {"block": [1, 0, 0], "thread": [5, 0, 0]}
    assert (element["text"], element["type"]) == ("3", "i32")
    assert (whole["type"], whole["text"][:14]) == ("i32[64]", "{0, 1, 2, 3, 4")
    assert lanes["values"] == [str(lane + 1) for lane in range(32)]
    assert memory["text"] == "[0, 1, 2, 3]"


def test_a_stop_has_all_breakpoints_and_watchpoints_that_it_is_for() -> None:
    watches = ["watch y[3]", "watch y[5]", "watch y[5]"]
    points = ["break bugs.cu:24", "tbreak bugs.cu:24 if threadIdx.x == 7", "break bugs.cu:24 if q"]
    commands = [*points, "continue", "delete", *watches, "break bugs.cu:25", "continue", "rc"]
    found = answers(commands, *launch_of("deviations", "x=f32[32]:3", "y=f32[32]"))
    stops = [each["result"]["stop"] for each in found if each["kind"] == "StoppedAt"]
    assert [each["breakpoints"] for each in stops] == [[1, 2, 3], [4, 5, 6, 7], []]
    assert "unknown name 'q'" in stops[0]["text"]
    assert [each["name"] for each in stops[1]["changes"]] == ["y[3]", "y[5]", "y[5]"]
    assert [each["thread"]["thread"][0] for each in stops[1]["changes"]] == [3, 5, 5]
    assert found[8]["result"]["number"] == 7


def test_a_register_without_a_percent_sign_in_its_name() -> None:
    commands = ["break fibonacci", "continue", "registers", "registers temp_param_reg r1 %r1"]
    found = answers(commands, "bugs.ptx", "-k", "sequence", "--threads", "6", "y=i32[6]")
    listed, chosen = [[each["name"] for each in answer["result"]] for answer in found[-2:]]
    assert chosen == ["temp_param_reg", "%r1", "%r1"]
    assert {*chosen} <= {*listed}


SCALE = (
    *("scale.ptx", "--threads", "64", "--block", "32", "y=f32[64]:ones", "x=f32[64]:iota"),
    *("factor=f32:2", "n=i32:64"),
)


def changes_of(found: list[Any]) -> list[tuple[list[int], str, str, str]]:
    """The writes that watchpoints have stopped at: thread, name, values before and after."""
    stops = [each["result"]["stop"] for each in found if each["kind"] == "StoppedAt"]
    return [
        (each["thread"]["thread"], each["name"], each["before"], each["after"])
        for stop in stops
        for each in stop["changes"]
    ]


def test_shared_memory_is_watched_in_its_block() -> None:
    launch = ["bugs.ptx", "-k", "handed_over", "--threads", "128", "--block", "64", "y=i32[128]"]
    begin = ["break bugs.cu:76 if blockIdx.x == 1", "continue", "delete", "watch part[7]"]
    found = answers([*begin, "continue", "continue", "reverse-continue", "writer part[9]"], *launch)
    [forth, back] = changes_of(found)
    assert forth == back
    assert forth[0] == [7, 0, 0]
    assert forth[3] == "7"
    assert found[5]["result"]["stop"]["reason"] == "ended"
    assert found[7]["result"]["thread"] == {"block": [1, 0, 0], "thread": [9, 0, 0]}


def test_a_local_variable_is_watched_in_its_call() -> None:
    begin = ["break scaled if threadIdx.x == 3", "continue", "thread 3", "delete"]
    watch = ["watch result", "watch value", "continue", "continue"]
    found = answers([*begin, *watch], *SCALE)
    assert ([3, 0, 0], "result", "0.0", "6.0") in changes_of(found)
    assert found[-1]["result"]["stop"]["reason"] == "ended"


def test_a_register_is_watched() -> None:
    begin = ["break bugs.cu:64 if threadIdx.x == 5", "continue", "thread 5", "delete"]
    commands = [*begin, "watch %r52", "continue", "goto 0", "continue"]
    launch = ["bugs.ptx", "-k", "sequence", "--threads", "6", "y=i32[6]"]
    found = answers(commands, *launch)
    first, again = changes_of(found)
    assert first == again == ([5, 0, 0], "%r52", "0", "1")


def test_a_variable_is_watched_that_moves_between_registers(tmp_path: Path) -> None:
    source = tmp_path / "powers.cu"
    source.write_text(
        "__global__ void powers(int* y) {\n"
        "    int power = 1;\n"
        "    for (int k = 0; k < 2; ++k)\n"
        "        power *= 3;\n"
        "    y[threadIdx.x] = power;\n}\n"
    )
    begin = ["tbreak powers.cu:3", "continue", "watch power"]
    motions = ["continue", "continue", "reverse-continue", "continue", "continue"]
    found = answers([*begin, *motions], str(source), "--threads", "4", "y=i32[4]")
    changes = [("1", "3"), ("3", "9"), ("1", "3"), ("3", "9")]
    assert [each[2:] for each in changes_of(found)] == changes
    assert found[3]["result"]["stop"]["changes"][0]["place"]["line"] == 4
    assert found[-1]["result"]["stop"]["reason"] == "ended"


def test_the_origin_of_a_variable_and_of_shared_memory() -> None:
    launch = ["bugs.ptx", "-k", "deviations", "--threads", "32", "x=f32[32]:nan", "y=f32[32]"]
    found = answers(["break bugs.cu:22", "continue", "origin total[0]", "origin total"], *launch)
    assert "it came from" in found[2]["result"]["text"]
    assert found[3]["error"]["message"] == "total is not a scalar"
    found = answers(
        ["break scale.cu:10 if threadIdx.x == 4", "continue", "origin value"],
        *(each.replace("iota", "nan") for each in SCALE),
    )
    assert "it came from" in found[2]["result"]["text"]


def test_the_origin_of_a_variable_of_a_caller(tmp_path: Path) -> None:
    source = tmp_path / "roots.cu"
    source.write_text(
        "__device__ __noinline__ float twice(float value) {\n"
        "    return value + value;\n}\n"
        "__global__ void roots(const float* x, float* y) {\n"
        "    float root = sqrtf(x[threadIdx.x]);\n"
        "    y[threadIdx.x] = root + twice(x[threadIdx.x]);\n}\n"
    )
    commands = ["break twice if threadIdx.x == 1", "continue", "origin root", "frame 1"]
    launch = [str(source), "--threads", "4", "x=f32[4]:iota(-2)", "y=f32[4]"]
    found = answers([*commands, "origin root", "step", "origin root"], *launch)
    assert found[2]["error"]["message"].startswith("unknown name 'root'")
    outer, inner = found[4]["result"], found[6]["result"]
    assert outer == inner
    assert [each["text"] for each in outer["operands"]] == ["-1.0", "nan"]


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("ignore 1", "missing number"),
        ("ignore 9 1", "no breakpoint 9"),
        ("log 2 text", "2 is not a location, which a message needs"),
        ("log 1 value {1 +}", "expected"),
        ("break 24 if ", "missing CONDITION"),
        ("ignore 3 1", "3 is an event, which cannot be passed"),
        ("watch part", "part is not a scalar"),
    ],
)
def test_odd_breakpoints_are_refused(command: str, message: str) -> None:
    launch = ["bugs.ptx", "-k", "handed_over", "--threads", "64", "--block", "64", "y=i32[64]"]
    points = ["break handed_over", "watch y[1]", "catch nan", "continue"]
    assert message in answers([*points, command], *launch)[-1]["error"]["message"]


def test_a_case_of_a_spec(tmp_path: Path) -> None:
    spec = tmp_path / "cases.toml"
    case = f'[[launch]]\nimage = "{DATA / "bugs.ptx"}"\nkernel = "sequence"\nargs = ["y=i32[4]"]\n'
    spec.write_text("".join(f'{case}name = "{n}"\nthreads = "{n}"\n' for n in ("3", "4")))
    found = answers(["break sequence", "continue"], "--spec", str(spec), "4")
    assert found[1]["result"]["stop"]["threads"] == 4
    environment = {**os.environ, "PYTHONPATH": PYTHON_PATH}
    code, _, err = run_command(["debug", "--spec", str(spec)], DATA, environment, b"")
    assert (code, b"select one case: 3, 4" in err) == (2, True)
    code, _, err = run_command(["debug", "--spec", str(spec), "zzz"], DATA, environment, b"")
    assert (code, b"hint: list the cases: cudarun launch --spec" in err) == (2, True)


def test_commands_of_gdb_have_hints() -> None:
    found = answers(["info locals", "up", "contniue"], *launch_of("sequence", "y=i32[32]"))
    assert [each["error"]["hint"] for each in found] == [
        "use breakpoints, names, registers, warps or where",
        "use frame",
        "did you mean continue?",
    ]


EXITS = """
.version 8.0
.target sm_80
.address_size 64
.visible .entry exits(.param .u64 y)
{
    .reg .b32 %r<3>; .reg .pred %p<3>;
    mov.u32 %r1, %ctaid.x;
    setp.eq.u32 %p1, %r1, 1;
    @%p1 exit;
    mov.u32 %r2, %tid.x;
    shr.u32 %r2, %r2, 5;
    setp.eq.u32 %p2, %r2, 1;
    @%p2 exit;
    mov.u32 %r1, 0;
    ret;
}
"""


def test_warps_that_are_in_the_same_states_are_shown_once(tmp_path: Path) -> None:
    """Those that have exited are not among them."""
    image = tmp_path / "exits.ptx"
    image.write_text(EXITS)
    launch = [str(image), "--grid", "4", "--block", "96", "y=i32[1]"]
    line = 1 + EXITS.splitlines().index("    mov.u32 %r1, 0;")
    words = ["debug", *launch, "-x", f"break exits; continue; warps; break ptx:{line}; c; warps"]
    code, out, err = run_command(words, DATA, {**os.environ, "PYTHONPATH": PYTHON_PATH}, b"")
    assert (code, err) == (0, b"")
    shown = [each for each in out.decode().splitlines() if "warp" in each and "(debug)" not in each]
    blocks = "blocks from (0, 0, 0) to (3, 0, 0)"
    assert shown == [f"4 {blocks}, warps 0-2", f"3 {blocks}, warps 0,2"]


def test_a_thread_outside_of_the_block() -> None:
    commands = ["break deviations", "continue", "thread 99"]
    found = answers(commands, *launch_of("deviations", "x=f32[32]:3", "y=f32[32]"))
    assert found[-1]["error"]["message"] == "no thread (99): the last one is (31, 0, 0)"


def test_a_launch_that_is_killed_is_an_error() -> None:
    """The session goes on, since a state before it may be left; the exit code has the error."""
    words = [sys.executable, "-m", "cudarun", "debug", *launch_of("sequence", "y=i32[32]")]
    environment = {**os.environ, "PYTHONPATH": PYTHON_PATH}
    pipe = subprocess.PIPE
    with subprocess.Popen(
        words, cwd=DATA, env=environment, stdin=pipe, stdout=pipe, stderr=pipe
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"start of the launch of sequence\n"
        of, killed = dict(parents()), [process.pid]
        for pid in killed:
            killed += [each for each, parent in of.items() if parent == pid]
        for pid in killed[1:]:
            os.kill(pid, signal.SIGKILL)
        out, _ = process.communicate(b"continue\nhelp where\n")
    assert b"ended unexpectedly" in out
    assert out.endswith(b"Show the calls of the thread.\n")
    assert process.returncode == 7


def test_a_debugger_that_is_killed_leaves_no_file(tmp_path: Path) -> None:
    words = [sys.executable, "-m", "cudarun", "debug", *launch_of("sequence", "y=i32[32]")]
    environment = {**os.environ, "PYTHONPATH": PYTHON_PATH, "TMPDIR": str(tmp_path)}
    streams = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen(words, cwd=DATA, env=environment, **streams) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"start of the launch of sequence\n"
        process.kill()
    assert [*tmp_path.iterdir()] == []


TOOLKIT_CALL = """\
.version 8.0
.target sm_80
.address_size 64

.func (.reg .b32 result) of_user (.reg .b32 x)
{
    .loc 1 2 5
    add.u32 result, x, 1;
    .loc 1 3 5
    ret;
}

.func (.reg .b32 result) of_toolkit (.reg .b32 x)
{
    .reg .b32 %r<2>;
    .loc 2 70 5
    add.u32 %r1, x, 1;
    .loc 2 71 5
    call.uni (result), of_user, (%r1);
    .loc 2 72 5
    ret;
}

.visible .entry calls(.param .u64 y)
{
    .reg .b32 %r<3>;
    .reg .b64 %rd<2>;
    .loc 1 10 5
    ld.param.u64 %rd1, [y];
    .loc 1 11 5
    mov.u32 %r1, 5;
    call.uni (%r2), of_toolkit, (%r1);
    add.u32 %r2, %r2, 1;
    .loc 1 12 5
    st.global.u32 [%rd1], %r2;
    ret;
}
.file 1 "calls.cu"
.file 2 "/usr/local/cuda/include/cuda_functions.h"
"""


def test_steps_pass_functions_of_the_headers_of_the_toolkit(tmp_path: Path) -> None:
    image = tmp_path / "calls.ptx"
    image.write_text(TOOLKIT_CALL)
    commands = ["break calls", "break cuda_functions.h:70", "continue", *["step"] * 5, "run"]
    commands += ["delete 2", *["step"] * 5]
    found = answers(commands, str(image), "--threads", "1", "y=i32[1]")
    results = [each.get("result") for each in found]
    stops = [each["stop"] for each in results if isinstance(each, dict) and "stop" in each]
    places = [each["place"] and each["place"]["line"] for each in stops]
    # Into a function of the header only at its breakpoint; into the function that it calls.
    assert places == [11, 70, 71, 2, 3, 12, 11, 2, 3, 12, None]
