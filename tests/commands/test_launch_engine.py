"""``launch --cpu-engine``: which engine ran, and why a kernel was interpreted."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.commands.limits import at_a_limit

if TYPE_CHECKING:
    from collections.abc import Callable

    from conftest import Run

SAXPY = (
    *("launch", "samples/saxpy.ptx", "-d", "cpu", "--threads", "n", "a=2", "x=f32[n]:iota"),
    *("y=f32[n]:ones", "n=i32:100", "--check", "y == a*x + 1"),
)
GRIDS = Path(__file__).parents[1] / "emulator/children/grids.ptx"
PARENT = ("launch", str(GRIDS), "-k", "fine", "-d", "cpu", "--threads", "1", "u32[16]", "u32[16]")

SCALE = (
    *("launch", "samples/scale.ptx", "-k", "example::scale<float>", "-d", "cpu"),
    *("--threads", "4", "f32[4]:ones", "2", "4"),
)


def test_the_default_is_named_in_the_document_and_by_verbose(run: Run) -> None:
    pytest.importorskip("llvmlite")
    ran = run(*SAXPY, "--json")
    (outcome,) = json.loads(ran.out)["outcomes"]
    reason = "it takes less time than compiling"
    assert outcome["result"]["engines"] == [
        {"kernel": "saxpy", "demangled": "saxpy", "engine": "interpret", "reason": reason}
    ]
    assert reason not in run(*SAXPY).out
    assert run(*SAXPY, "-v").out.splitlines().count(f"saxpy: interpreted: {reason}") == 1


def test_a_compiled_kernel(run: Run) -> None:
    pytest.importorskip("llvmlite")
    ran = run(*SAXPY, "--cpu-engine", "compile")
    assert ran.code == 0
    assert ran.out.splitlines()[1] == "saxpy: compiled"
    assert "PASS" in ran.out


def test_compiling_is_a_step_of_the_first_launch(run: Run) -> None:
    pytest.importorskip("llvmlite")
    command = *SAXPY[:-2], "--times", "3", "--cpu-engine", "compile", "-v"
    steps = [
        step
        for line in run(*command).err.splitlines()
        for step in re.findall(r"^ +[\d.]+ s  ((?:running|compiling) .*)", line)
    ]
    assert steps == ["running saxpy", "compiling saxpy", "running saxpy"]


def test_a_short_launch_is_interpreted(run: Run) -> None:
    pytest.importorskip("llvmlite")
    ran = run(*SAXPY, "--cpu-engine", "auto")
    assert ran.code == 0
    assert ran.out.splitlines()[1] == "saxpy: interpreted: it takes less time than compiling"


@pytest.mark.parametrize("more", [(), ("--stats",), ("--detect", "race")])
def test_the_option_that_selects_the_interpreter_is_the_reason(
    run: Run, more: tuple[str, ...]
) -> None:
    option = run(*SAXPY, *more, "--cpu-engine", "interpret").out
    assert option.splitlines()[1] == "saxpy: interpreted: --cpu-engine interpret"
    reason = "CUDARUN_CPU_ENGINE=interpret"
    variable = {"CUDARUN_CPU_ENGINE": "interpret"}
    assert run(*SAXPY, *more, env=variable).out.splitlines()[1] == f"saxpy: interpreted: {reason}"
    document = json.loads(run(*SAXPY, *more, "--json", env=variable).out)
    assert document["outcomes"][0]["result"]["engines"][0]["reason"] == reason


def test_an_interpreted_kernel_has_a_reason(run: Run) -> None:
    pytest.importorskip("llvmlite")
    ran = run(*SAXPY, "--cpu-engine", "auto", "--detect", "race", "--stats")
    assert ran.code == 0
    reason = "statistics and proofs observe the interpreter"
    assert ran.out.splitlines()[1] == f"saxpy: interpreted: {reason}"


@pytest.mark.parametrize("option", [(), ("--cpu-engine", "auto")])
def test_the_report_of_counts_names_the_engine(run: Run, option: tuple[str, ...]) -> None:
    pytest.importorskip("llvmlite")
    ran = run(*SAXPY, "--stats", *option)
    line = "saxpy: interpreted: statistics and proofs observe the interpreter"
    assert ran.out.splitlines().count(line) == 1
    document = json.loads(run(*SAXPY, "--stats", *option, "--json").out)
    (engine,) = document["outcomes"][0]["result"]["engines"]
    assert (engine["engine"], engine["reason"]) == (
        "interpret",
        line[len("saxpy: interpreted: ") :],
    )


def test_compile_refuses_what_cannot_be_compiled(run: Run) -> None:
    pytest.importorskip("llvmlite")
    ran = run(*PARENT, "--cpu-engine", "compile")
    assert ran.code == 5
    assert "kernel fine cannot be compiled: a call of __cudaCDP2GetParameterBufferV2" in ran.err
    assert (
        "hint: interpret the kernel: --cpu-engine auto, or CUDARUN_CPU_ENGINE=auto"
        in ran.err.splitlines()
    )
    assert run(*PARENT).code == 0
    assert run(*PARENT, "--cpu-engine", "auto").code == 0


def test_a_compiled_kernel_with_detectors(run: Run) -> None:
    pytest.importorskip("llvmlite")
    ran = run(*SAXPY, "--cpu-engine", "compile", "--detect", "race,uninit")
    assert ran.code == 0
    assert ran.out.splitlines()[1] == "saxpy: compiled"
    assert "PASS no race" in ran.out


FAULT = (
    *("launch", "samples/saxpy.ptx", "-d", "cpu", "--threads", "n", "a=2", "x=f32[1]:iota"),
    *("y=f32[1]:ones", "n=i32:1000"),
)
ENDLESS = ("launch", "samples/endless.ptx", "-d", "cpu", "--threads", "1024", "i32[1024]:zeros")


@pytest.mark.parametrize(
    ("engine", "line"),
    [
        ("compile", "saxpy: compiled"),
        ("auto", "saxpy: interpreted: the launch ended before the kernel was compiled"),
        ("interpret", "saxpy: interpreted: --cpu-engine interpret"),
    ],
)
def test_a_launch_that_faults_names_its_engine(run: Run, engine: str, line: str) -> None:
    pytest.importorskip("llvmlite")
    ran = run(*FAULT, "--cpu-engine", engine)
    assert (ran.code, ran.out.splitlines()) == (5, [line])
    assert run(*FAULT, "--cpu-engine", engine, "-q").out == ""
    document = run(*FAULT, "--cpu-engine", engine, "--json").document
    _, _, reason = line.partition("interpreted: ")
    expected = [
        {
            "kernel": "saxpy",
            "demangled": "saxpy",
            "engine": "compile" if engine == "compile" else "interpret",
            "reason": reason or None,
        }
    ]
    assert document["outcomes"][0]["error"]["engines"] == expected
    assert document["error"]["engines"] == expected


def test_the_default_engine_of_a_fault_is_named_by_verbose(run: Run) -> None:
    assert run(*FAULT).out == ""
    assert run(*FAULT, "-v").out.startswith("saxpy: interpreted: ")


def test_a_launch_that_times_out_names_its_engine(run: Run) -> None:
    ran, _ = at_a_limit(
        lambda limit: run(*ENDLESS, "--timeout", str(limit), "--cpu-engine", "interpret"),
        lambda ran: "blocks have finished" in ran.err,
    )
    assert ran.code == 6
    assert ran.out.splitlines() == ["endless: interpreted: --cpu-engine interpret"]


SPEC = """
[defaults]
image = "samples/saxpy.ptx"
threads = "n"

[[launch]]
name = "passes"
args = ["a=2", "x=f32[n]:iota", "y=f32[n]:ones", "n=i32:100"]

[[launch]]
name = "faults"
args = ["a=2", "x=f32[1]:iota", "y=f32[1]:ones", "n=i32:100"]
"""


def test_verbose_names_the_engine_of_each_case(run: Run, put: Callable[..., str]) -> None:
    spec = "launch", "--spec", put("engines.toml", SPEC.encode()), "-d", "cpu"
    chosen = *spec, "--cpu-engine", "interpret"
    line = "  saxpy: interpreted: --cpu-engine interpret"
    lines = run(*chosen, "-v").out.splitlines()
    passes = next(n for n, each in enumerate(lines) if each.startswith("passed  passes on cpu"))
    faults = next(n for n, each in enumerate(lines) if each.startswith("failed  faults on cpu"))
    assert (lines[passes + 1], lines[faults + 1]) == (line, line)
    assert "interpreted" not in run(*chosen).out
    assert "  saxpy: interpreted: " in run(*spec, "-v").out
    passed, failed = run(*spec, "--json").document["cases"]
    assert passed["result"]["engines"][0]["engine"] == "interpret"
    assert failed["error"]["engines"][0]["engine"] == "interpret"


def test_a_failed_case_is_run_again_by_the_same_engine(run: Run, put: Callable[..., str]) -> None:
    spec = "launch", "--spec", put("engines.toml", SPEC.encode()), "-d", "cpu"
    ran = run(*spec, "--cpu-engine", "interpret", "--cpu-threads", "2")
    [command] = re.findall(r"run again: cudarun (.*)", ran.out)
    assert "--cpu-engine=interpret --cpu-threads=2" in command
    again = run(*shlex.split(command), "-v")
    assert "  saxpy: interpreted: --cpu-engine interpret" in again.out.splitlines()


def test_kernels_that_kernels_launch_are_named_too(run: Run) -> None:
    document = run(*PARENT, "--json", "--cpu-engine", "interpret").document
    engines = document["outcomes"][0]["result"]["engines"]
    assert engines[0]["kernel"] == "fine"
    assert len(engines) > 1


def test_a_template_has_its_name_of_the_source(run: Run) -> None:
    ran = run(*SCALE, "--cpu-engine", "interpret")
    headline, engine = ran.out.splitlines()[:2]
    name = "void example::scale<float>(float*, float, int)"
    assert headline.startswith(f"{name}  grid")
    assert engine == f"{name}: interpreted: --cpu-engine interpret"
    document = run(*SCALE, "--cpu-engine", "interpret", "--json").document
    (each,) = document["outcomes"][0]["result"]["engines"]
    assert (each["kernel"], each["demangled"]) == ("_ZN7example5scaleIfEEvPT_S1_i", name)


UNWRITTEN = """.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 y) {
    .reg .b64 %a, %w; .reg .f32 %f; .reg .b32 %t, %u, %v, %i; .reg .b16 %h; .reg .pred %p, %q, %r;
    ld.param.u64 %a, [y]; mov.u32 %t, %tid.x; mov.u32 %i, %ctaid.x; setp.lt.u32 %p, %t, 16;
    mad.lo.u32 %t, %i, 32, %t; mad.wide.u32 %a, %t, 24, %a; mov.u32 %i, 0;
    @!%p mov.f32 %f, 0f3F800000; and.b32 %v, %t, 15; @!%p cvt.u64.u32 %w, %v;
    @!%p mov.u32 %u, %v; @!%p cvt.u16.u32 %h, %v; @!%p setp.ne.u32 %r, %v, %v;
 L: add.f32 %f, %f, 0f3F800000; add.u32 %i, %i, 1; setp.lt.u32 %q, %i, 3; @%q bra L;
    st.global.f32 [%a], %f; st.global.u32 [%a+4], %u; st.global.b64 [%a+8], %w;
    st.global.u16 [%a+16], %h; st.global.u16 [%a+18], 0;
    selp.u32 %i, 1, 0, %r; st.global.u32 [%a+20], %i;
    ret;
}
"""


@pytest.mark.parametrize("engine", ["interpret", "compile"])
def test_registers_that_are_not_written_have_all_bits(
    run: Run, tmp_path: Path, engine: str
) -> None:
    """So have those of blocks after others; the sums of floats with them are NaN."""
    if engine == "compile":
        pytest.importorskip("llvmlite")
    (tmp_path / "k.ptx").write_text(UNWRITTEN)
    row = "0x7fffffff, 0xffffffff, 0xffffffff, 0xffffffff, 0xffff, 1"
    others = "y[:,1,:,1] == arange(16)", "y[:,1,:,2] == arange(16)", "y[:,1,:,4] == arange(16)"
    ran = run(
        *("launch", "k.ptx", "-d", "cpu", "--cpu-engine", engine, "--grid", "3", "--block", "32"),
        *("y=u32[3,2,16,6]", "--check", f"y[:,0] == [{row}]"),
        *(
            "--check",
            "y[:,1,:,0] == 0x40800000",
            *(w for each in others for w in ("--check", each)),
        ),
    )
    assert (ran.code, ran.err) == (0, "")
