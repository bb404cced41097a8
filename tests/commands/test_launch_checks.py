"""Checks of ``cudarun launch``: what a failed one shows, and elements that were never written."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from tests.support.toolkit import needs_nvrtc

if TYPE_CHECKING:
    from conftest import Run

SAXPY = ("launch", "samples/saxpy.ptx", "-d", "cpu", "--threads", "99", "a=2", "x=f32[n]:iota")
ADD = (
    *("launch", "samples/vector_add.ptx", "-d", "cpu", "--threads", "2"),
    *("a=float4[4]:ones", "b=float4[4]:iota", "c=float4[4]", "n=i32:2"),
)  # the first two elements of four are written

FILL = """
extern "C" __global__ void fill(unsigned char* bytes, unsigned short* shorts, int n) {
    int i = threadIdx.x;
    if (i < n) {
        bytes[i] = 0xa5;
        shorts[i] = 0xa5a5;
    }
}
"""


# --- a failed check ------------------------------------------------------------------------------


def test_the_worst_element_is_shown_though_it_is_not_among_the_first(run: Run) -> None:
    wrong = "y == where(x >= 40, 2*x + 1 + (x == 77), 0)"
    ran = run(*SAXPY, "y=f32[n]:ones", "n=i32:99", "--check", wrong)
    shown = ran.out.splitlines()[2:]
    assert shown == [
        "  41 of 99 elements mismatched; largest absolute error 79; largest relative error "
        "0.00641026",
        *(f"  [{i}]: got {2 * i + 1}.0, expected 0.0" for i in range(5)),
        "  [39]: got 79.0, expected 0.0  (worst)",
    ]
    document = run(*SAXPY, "y=f32[n]:ones", "n=i32:99", "--check", wrong, "--json").document
    [check] = document["outcomes"][0]["result"]["checks"]
    assert check["worst"] == {"index": [39], "got": "79.0", "expected": "0.0", "operator": "=="}


def test_buffers_declared_empty_pass(run: Run) -> None:
    empty = ("x=f32[n]:iota", "y=f32[n]:ones", "n=i32:0", "--check", "y == 2*x + 1")
    ran = run("launch", "samples/saxpy.ptx", "-d", "cpu", "--threads", "5", "a=2", *empty)
    assert ran.code == 0
    assert ran.out.splitlines()[-1] == "PASS y == 2*x + 1  (rtol 1e-05, atol 1e-06, 0 elements)"


def test_an_empty_selection_in_json(run: Run) -> None:
    ran = run(*SAXPY, "y=f32[n]:ones", "n=i32:99", "--check", "y[n:] == 3", "--json")
    [check] = ran.document["outcomes"][0]["result"]["checks"]
    assert (ran.code, check["passed"], check["elements"], check["is_empty"]) == (1, False, 0, True)


# --- elements that were never written ------------------------------------------------------------


def test_what_was_never_written_has_no_value(run: Run, tmp_path: Path) -> None:
    ran = run(
        *ADD, "--print", "c[1:3, 3]", "--print", "c[3, 0]", "--save", "c=c.npy",
        "--check", "c == b + 1",
    )  # fmt: skip
    assert ran.code == 1
    assert ran.out.splitlines()[1:] == [
        "c[1:3, 3] = [8.0 (never written)]",
        "c[3, 0] = (never written)",
        "saved c to c.npy, 192 bytes",
        "note c: 2 of 4 elements were never written",
        "FAIL c == b + 1  (rtol 1e-05, atol 1e-06)",
        "  8 of 16 elements mismatched, all in rows 2, 3",
        *(f"  [2, {i}]: got (never written), expected {9 + i}.0" for i in range(4)),
        "  [3, 0]: got (never written), expected 13.0",
    ]
    assert np.isnan(np.load(tmp_path / "c.npy")[2:]).all()


def test_a_sum_into_an_output_that_nothing_zeroed(run: Run) -> None:
    saxpy = ("launch", "samples/saxpy.ptx", "-d", "cpu", "--threads", "9", "a=f32:2")
    ran = run(*saxpy, "x=f32[n]:iota", "y=f32[n]", "n=i32:9", "--check", "y == 2*x")
    assert ran.code == 1
    assert "[0]: got nan, expected 0.0" in ran.out
    assert "note: y has no initializer: the kernel reads or updates elements before it" in ran.err


def test_two_parameters_have_one_buffer(run: Run) -> None:
    """Checks and prints refer to it by both names."""
    saxpy = ("launch", "samples/saxpy.cu", "-d", "cpu", "--threads", "9", "a=2", "n=9")
    ran = run(
        *saxpy, "x=f32[n]:iota", "y=x", "--check", "y == 3*arange(9)", "--print", "y[8] + x[8]"
    )
    assert (ran.code, "y[8] + x[8] = 48.0" in ran.out) == (0, True), ran.out + ran.err
    ran = run(*saxpy, "x=y", "y=x", "--check", "y == 1")
    assert (ran.code, "the arguments depend on each other" in ran.err) == (2, True)


READS = """.version 8.0
.target sm_90
.address_size 64
.visible .entry reads(.param .u64 x, .param .u64 scale, .param .u64 y) {
    .shared .b32 room[32]; .reg .b32 %r<4>; .reg .f32 %f<4>; .reg .b64 %a<4>;
    ld.param.u64 %a0, [x]; ld.param.u64 %a1, [scale]; ld.param.u64 %a2, [y];
    mov.u32 %r0, %tid.x; mul.wide.u32 %a3, %r0, 4; add.u64 %a0, %a0, %a3; add.u64 %a2, %a2, %a3;
    ld.global.f32 %f0, [%a0]; ld.global.f32 %f1, [%a1]; mul.f32 %f0, %f0, %f1;
    mov.u32 %r1, room; mad.lo.u32 %r1, %r0, 4, %r1; ld.shared.f32 %f2, [%r1]; FMA
    st.global.f32 [%a2], %f0; ret;
}
.visible .entry counts(.param .u64 count) {
    .reg .b64 %a; ld.param.u64 %a, [count]; red.global.add.u32 [%a], 1; ret;
}
.visible .entry largest(.param .u64 x, .param .u64 y, .param .u64 all) {
    .reg .b32 %r<4>; .reg .b64 %a<4>; .reg .pred %p;
    ld.param.u64 %a0, [x]; ld.param.u64 %a1, [y]; ld.param.u64 %a2, [all];
    mov.u32 %r0, %tid.x; mul.wide.u32 %a3, %r0, 4; add.u64 %a0, %a0, %a3; add.u64 %a1, %a1, %a3;
    ld.global.u32 %r1, [%a0]; ld.global.u32 %r2, [%a1]; max.s32 %r2, %r1, %r2;
    st.global.u32 [%a1], %r2; setp.lt.u32 %p, %r0, 20; @%p red.global.max.s32 [%a2], %r2;
    ld.global.u32 %r3, [%a1]; st.global.u32 [%a1], %r3; ret;
}
"""


@pytest.mark.parametrize(
    ("fma", "scale", "options", "note"),
    [
        ("", "f32[1]", (), "note: scale has no initializer: an input, which the kernel does"),
        ("", "f32[1]:ones", (), None),
        ("add.f32 %f0, %f0, %f2;", "f32[1]:ones", (), "registers, shared and local memory begin"),
        ("add.f32 %f0, %f0, %f2;", "f32[1]:ones", ("--detect", "uninit"), None),
        ("add.f32 %f0, %f0, %f2;", "f32[1]:ones", ("--buffer", "e=f32[0]"), "note: registers"),
        ("add.f32 %f0, %f0, %f3;", "f32[1]:ones", (), "note: registers"),
        ("", "f32[1]", ("--assert", "bank_conflicts<=0"), "note: scale has no initializer: an"),
    ],
)
def test_a_note_explains_nan(
    run: Run, tmp_path: Path, fma: str, scale: str, options: tuple[str, ...], note: str | None
) -> None:
    (tmp_path / "k.ptx").write_text(READS.replace("FMA", fma))
    words = ("launch", str(tmp_path / "k.ptx"), "-d", "cpu", "--block", "32", "-k", "reads")
    ran = run(
        *words, "x=f32[32]:iota", f"scale={scale}", "y=f32[32]:zeros", "--check", "y == x", *options
    )
    assert (ran.code, "note:" in ran.err) == (int(bool(fma or note)), note is not None)
    assert note is None or note in ran.err


def test_a_note_explains_the_fill_pattern(run: Run, tmp_path: Path) -> None:
    (tmp_path / "k.ptx").write_text(READS.replace("FMA", ""))
    words = ("launch", str(tmp_path / "k.ptx"), "-d", "cpu", "--block", "32", "-k", "counts")
    ran = run(*words, "count=u32[1]", "--check", "count == 32")
    assert "note: count has no initializer: the kernel reads or updates" in ran.err
    assert "note:" not in run(*words, "count=u32[1]:zeros", "--check", "count == 31").err


@pytest.mark.parametrize(
    "options",
    [("--cpu-engine", "interpret"), ("--cpu-engine", "compile"), ("--stats",)],
)
@pytest.mark.parametrize(
    ("y", "all_", "named"),
    [
        ("i32[40]", "i32[1]", "y, all have"),
        ("i32[40]:zeros", "i32[1]", "all has"),
        ("i32[40]", "i32[1]:zeros", "y has"),
        ("i32[40]:zeros", "i32[1]:zeros", None),
    ],
)
def test_a_note_names_what_is_read_before_it_is_written(
    run: Run, tmp_path: Path, options: tuple[str, ...], y: str, all_: str, named: str | None
) -> None:
    """The maximum with the fill pattern is right, and the check passes."""
    (tmp_path / "k.ptx").write_text(READS.replace("FMA", ""))
    words = ("launch", str(tmp_path / "k.ptx"), "-d", "cpu", "--block", "40", "-k", "largest")
    given = ("x=i32[40]:iota", f"y={y}", f"all={all_}", *options)
    ran = run(*words, *given, "--check", "y == x", "--check", "all == 19")
    assert ran.code == 0, ran.err
    assert ("no initializer" in ran.err) == (named is not None)
    assert named is None or f"note: {named} no initializer: the kernel reads or updates" in ran.err


@pytest.mark.parametrize("engine", ["interpret", "compile"])
def test_a_note_names_a_matrix_that_is_read_before_it_is_written(
    run: Run, tmp_path: Path, engine: str
) -> None:
    registers = ", ".join(f"%f{number}" for number in range(8))
    (tmp_path / "k.ptx").write_text(f"""
.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 y) {{
    .reg .b64 %a; .reg .f32 %f<8>; ld.param.u64 %a, [y];
    wmma.load.c.sync.aligned.row.m16n16k16.global.f32 {{{registers}}}, [%a], 16;
    wmma.store.d.sync.aligned.row.m16n16k16.global.f32 [%a], {{{registers}}}, 16; ret;
}}
""")
    words = ("launch", str(tmp_path / "k.ptx"), "-d", "cpu", "--block", "32", "y=f32[16,16]")
    ran = run(*words, "--cpu-engine", engine, "--check", "y == 1")
    assert "note: y has no initializer: the kernel reads or updates elements" in ran.err


@pytest.mark.parametrize("equal_nan", [False, True])
def test_nothing_equals_what_was_never_written(run: Run, equal_nan: bool) -> None:
    ran = run(*ADD, "--check", "c[3] == 0 * inf", *(("--equal-nan",) if equal_nan else ()))
    assert ran.code == 1
    assert "[0]: got (never written), expected nan" in ran.out


def test_what_was_never_written_is_null_in_json(run: Run) -> None:
    ran = run(*ADD, "--print", "c[1:3, 3]", "--check", "c[3] == 0", "--json")
    result = ran.document["outcomes"][0]["result"]
    assert result["prints"][0]["value"] == [8.0, None]
    assert [each["got"] for each in result["checks"][0]["first"]] == [None] * 4
    assert result["checks"][0]["worst"] is None
    assert [buffer["never_written"] for buffer in result["buffers"]] == [None, None, 2]


@needs_nvrtc
def test_counts_are_exact_on_cpu(run: Run, tmp_path: Path) -> None:
    """Results that equal the fill pattern were written."""
    (tmp_path / "fill.cu").write_text(FILL)
    ran = run(
        *("launch", "fill.cu", "-d", "cpu", "--block", "64"),
        *("bytes=u8[64]", "shorts=u16[64]", "61", "--print", "bytes[59:]", "--json"),
    )
    assert ran.code == 0, ran.err
    result = ran.document["outcomes"][0]["result"]
    assert [buffer["never_written"] for buffer in result["buffers"]] == [3, 3]
    assert result["prints"][0]["value"] == [165, 165, None, None, None]


# --- tolerances and names of one's own -----------------------------------------------------------

ONES = (*SAXPY, "y=f32[n]:ones", "n=i32:99", "-q")


def test_a_check_has_its_own_tolerance(run: Run) -> None:
    ran = run(
        *ONES, "--atol", "9", "--check", "y == 2*x + 2, rtol=0, atol=1",
        "--check", "y == 2*x + 9", "--check", "y == 2*x + 2, atol=0.5",
    )  # fmt: skip
    assert ran.code == 1
    verdicts = [line for line in ran.out.splitlines() if line[:4] in ("PASS", "FAIL")]
    assert verdicts == [
        "PASS y == 2*x + 2  (rtol 0, atol 1)",
        "PASS y == 2*x + 9  (rtol 1e-05, atol 9)",
        "FAIL y == 2*x + 2  (rtol 1e-05, atol 0.5)",
    ]


def test_names_for_expressions(run: Run) -> None:
    lets = ("--let", "p=a*x", "--let", "expected=old(y) + p")
    prints = ("--print", "expected[:2]", "--print", "old(p)[1]")
    ran = run(*ONES, *lets, "--check", "y == expected", *prints)
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.splitlines() == [
        "expected[:2] = [1. 3.]",
        "old(p)[1] = 2.0",
        "PASS y == expected  (rtol 1e-05, atol 1e-06)",
    ]


def test_names_that_would_make_too_much(run: Run) -> None:
    lets = [f"v{i + 1}=v{i} + v{i}" for i in range(20)]
    options = [word for let in ("v0=x", *lets) for word in ("--let", let)]
    ran = run(*ONES, *options, "--check", "v20 == 0")
    assert ran.code == 2
    assert ran.err.startswith("error: --let: v20 == 0: more than 600 operations")


def test_tolerances_and_names_in_specs(run: Run, tmp_path: Path) -> None:
    (tmp_path / "specs").mkdir()
    np.save(tmp_path / "two.npy", np.float32(2))
    lets = ("--let", "p=load('two.npy')*x", "--check", "y == p + load('two.npy'), atol=1")
    ran = run(*ONES, *lets, "--write-spec", "specs/one.toml")
    assert ran.code == 0, ran.err
    text = (tmp_path / "specs/one.toml").read_text()
    assert "let = [\"p=load('../two.npy')*x\"]" in text
    assert "check = [\"y == p + load('../two.npy'), atol=1\"]" in text
    assert run("launch", "--spec", "specs/one.toml", "-d", "cpu").code == 0


# --- weak checks ---------------------------------------------------------------------------------

WEAK = "weak checks: all also pass with the outputs replaced by"
FILES = ("--expect", "y=@y.npy")


@pytest.mark.parametrize(
    ("checks", "weaknesses"),
    [
        (("y == 2*x + 1",), []),
        (("y >= 0",), ["zeros", "their inputs"]),
        (("y >= 0", "y[3] == 7"), []),
        (("y != 0",), ["their inputs", "NaN"]),
        (("n == 99",), ["zeros", "their inputs"]),
        (("x == arange(99)",), ["zeros", "their inputs"]),
        (("y[0] == 1",), ["their inputs"]),
        (("y == old(y) + 2*x",), []),
        (("not any(y < 0)", "y[3] != 1", "y[3] != 0"), ["NaN"]),
        (("100 // i32(y[0]) == 100 and n > 1",), ["their inputs"]),
    ],
)
def test_weak_checks(run: Run, checks: tuple[str, ...], weaknesses: list[str]) -> None:
    options = [word for check in checks for word in ("--check", check)]
    ran = run(*ONES, *options, "--check-strength", "fail", "--json")
    result = ran.document["outcomes"][0]["result"]
    assert result["weaknesses"] == weaknesses
    assert ran.code == (1 if weaknesses else 0)
    ran = run(*ONES[:-1], *options)
    assert ran.code == 0
    last = ran.out.splitlines()[-1]
    assert last == f"note {WEAK} {' or '.join(weaknesses)}" if weaknesses else "weak" not in last
    assert "weak" not in run(*ONES[:-1], *options, "--check-strength", "off").out


def test_outputs_that_are_nan_are_not_weakly_checked_by_nan(run: Run) -> None:
    nan = (*ONES[:-1], "--let", "expected=x / 0 - x / 0", "--equal-nan", "--check-strength", "fail")
    arguments = [word.replace("a=2", "a=nan") for word in nan]
    ran = run(*arguments, "--check", "y == expected")
    assert ran.code == 0, ran.out


def test_weak_expectations(run: Run, tmp_path: Path) -> None:
    np.save(tmp_path / "y.npy", 2.0 * np.arange(99) + 1)
    assert run(*ONES, *FILES, "--check-strength", "fail").code == 0
    np.save(tmp_path / "y.npy", np.ones(99))
    ran = run(*ONES, *FILES, "--rtol", "0", "--atol", "1e9", "--check-strength", "fail")
    assert ran.code == 1
    assert ran.out.splitlines()[-1] == f"FAIL {WEAK} zeros or their inputs"


def test_a_kernel_that_does_nothing_is_weakly_checked(run: Run) -> None:
    ran = run(
        *("launch", "samples/saxpy.ptx", "-d", "cpu", "--threads", "9", "a=0", "x=f32[n]:iota"),
        *("y=f32[n]:ones", "n=i32:9", "--check", "y == a*x + 1", "--check-strength", "warn"),
    )
    assert ran.out.splitlines()[-1].startswith(f"note {WEAK} zeros")


def test_specs_warn_of_weak_checks(run: Run, tmp_path: Path) -> None:
    case = """[[launch]]
name = "%s"
image = "samples/saxpy.ptx"
threads = 9
args = ["a=2", "x=f32[n]:iota", "y=f32[n]:ones", "n=i32:9"]
check = "y >= 0"
%s
"""
    cases = [
        ("default", ""),
        ("off", 'check_strength = "off"'),
        ("fail", 'check_strength = "fail"'),
    ]
    (tmp_path / "cases.toml").write_text("".join(case % each for each in cases))
    spec = ("launch", "--spec", "cases.toml", "-d", "cpu")
    ran = run(*spec, "--junit", "out.xml")
    assert ran.code == 1
    assert "failed  fail on cpu" in ran.out
    assert f"\nFAIL {WEAK} zeros or their inputs\n" in ran.out
    assert f"note {WEAK} zeros or their inputs  (default on cpu)\n" in ran.out
    assert f"FAIL {WEAK} zeros or their inputs" in (tmp_path / "out.xml").read_text()
    assert "weak" not in run(*spec, "default", "--check-strength", "off").out
    assert run(*spec, "default", "--check-strength", "fail").code == 1
