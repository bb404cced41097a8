"""Faults on both engines: the same code, report, block and thread."""

from __future__ import annotations

import numpy as np
import pytest

from cudarun.emulator.compiled import engine
from cudarun.emulator.engines import COMPILE
from tests.emulator.compiled.engines import check_equal, check_equal_fault, launched

HEAD = """.visible .entry faulty(.param .u64 given) {
    .shared .align 8 .b8 room[256];
    .reg .b32 %r<4>; .reg .b64 %a<4>; .reg .pred %p; .reg .f32 %f<2>;
    ld.param.u64 %a0, [given];
    mov.u32 %r0, %tid.x;
    mul.wide.u32 %a1, %r0, 4;
    add.u64 %a2, %a0, %a1;
    mov.u32 %r1, %ctaid.x;
"""
BODIES = {
    "past the end": ("st.global.u32 [%a2], %r0;", "just past the end of 256 bytes"),
    "a load": ("ld.global.v2.u32 {%r1, %r2}, [%a2+4];", "misaligned"),
    "null": ("mov.u64 %a3, 16; ld.global.u32 %r2, [%a3];", "is a null pointer plus 16"),
    "a whole copy, by its size": (
        "cp.async.ca.shared.global [room], [%a0+4], 8, 8;",
        "misaligned by 4 for a 8-byte access",
    ),
    "a part of a copy": (
        "cp.async.ca.shared.global [room], [%a0+2], 4, 3;",
        "misaligned by 2 for a 4-byte access",
    ),
    "an atomic": ("red.global.add.u32 [%a2], 1;", "illegal address in a 4-byte atomic operation"),
    "shared": ("st.shared.u32 [room+256], %r0;", "past the 256 bytes of shared memory"),
    "a local array": (
        ".local .align 4 .b8 array[20]; mov.u64 %a3, array; add.u64 %a3, %a3, %a1; "
        "st.local.u32 [%a3], %r0;",
        "is just past the 20 bytes of local memory",
    ),
    "past a kernel's parameters": ("ld.param.v2.u64 {%a3, %a2}, [given];", "past the 8 bytes"),
    "before a kernel's parameters": ("ld.param.u32 %r2, [given+-4];", "outside of the variable"),
    "past a parameter": (
        "{ .param .b8 p[8]; st.param.v2.b32 [p], {%r0, %r0}; st.param.v2.b32 [p+8], {%r0, %r0}; }",
        "outside of the variable",
    ),
    "before a parameter": (
        "{ .param .b8 p[8]; st.param.b32 [p+-4], %r0; }",
        "outside of the variable",
    ),
    "a misaligned parameter": ("{ .param .b8 p[8]; st.param.b32 [p+2], %r0; }", "misaligned by 2"),
    "generic shared": (
        "mov.u32 %r3, room; cvt.u64.u32 %a3, %r3; cvta.shared.u64 %a3, %a3; "
        "add.u64 %a3, %a3, %a1; st.u32 [%a3], %r0;",
        "past the 256 bytes of shared memory",
    ),
    "the window of another space": (
        "mov.u32 %r3, room; cvt.u64.u32 %a3, %r3; cvta.shared.u64 %a3, %a3; "
        "st.global.u32 [%a3], %r0;",
        "is in shared memory",
    ),
    "some lanes": (
        "setp.lt.u32 %p, %r0, 70; @%p bra skip; st.global.u32 [%a2], %r0; skip:",
        "thread (70, 0, 0)",
    ),
    "trap": ("setp.ne.u32 %p, %r0, 65; @%p bra on; trap; on:", "the kernel executed 'trap'"),
    "a branch": (
        "targets: .branchtargets one, two; brx.idx %r0, targets; one: two:",
        "branch index 2 is out of range",
    ),
    "deadlock": (
        "setp.lt.u32 %p, %r0, 3; @%p bra one; bar.sync 0; one: shfl.sync.idx.b32 %r1, %r1, 0, 31, "
        "0xffffffff;",
        "deadlock",
    ),
}


@pytest.mark.parametrize("what", BODIES)
def test_reports_are_equal(what: str) -> None:
    body, words = BODIES[what]
    text = f"{HEAD}{body}\n ret;\n}}"
    assert words in check_equal_fault(text, (1,), (96,), np.zeros(64, "u4"))


@pytest.mark.parametrize("offset", [12, -4, 1 << 30])
def test_a_function_loads_past_the_ends_of_its_parameter(offset: int) -> None:
    function = f"""
.func (.reg .b32 %out) f(.param .b8 p[12]) {{ ld.param.b32 %out, [p+8];
    ld.param.b32 %out, [p+{offset}]; ret; }}
"""
    body = "{ .param .b8 q[12]; st.param.b32 [q+8], %r0; call (%r2), f, (q); }\n ret;\n}"
    words = check_equal_fault(f"{function}{HEAD}{body}", (1,), (96,), np.zeros(96, "u4"))
    assert "4-byte load" in words
    assert "outside of the variable" in words


def test_the_first_block_that_fails_is_named() -> None:
    body = "setp.lt.u32 %p, %r1, 2; @%p bra on; st.global.u32 [%a0+256], %r0; on: ret;\n"
    report = check_equal_fault(f"{HEAD}{body}}}", (4,), (64,), np.zeros(64, "u4"))
    assert "block (2, 0, 0), thread (0, 0, 0)" in report


# --- several faults ------------------------------------------------------------------------------

# Warp 0 and block 0 are at the second store when they fault, the others at the first one.
SEVERAL = """
    @%p bra second;
    st.global.u32 [%a0+256], %r0;
    second: st.global.u32 [%a0+1024], %r0; ret;
}
"""


@pytest.mark.parametrize(
    ("condition", "where"),
    [("%r0, 32", "block (0, 0, 0), thread (32, 0, 0)"), ("%r1, 1", "block (1, 0, 0), thread (0")],
)
def test_the_fault_that_the_interpreter_meets_first_is_reported(condition: str, where: str) -> None:
    text = f"{HEAD}setp.lt.u32 %p, {condition};{SEVERAL}"
    report = check_equal_fault(text, (2,), (64,), np.zeros(64, "u4"))
    assert "st.global.u32 [%a0+256]" in report
    assert where in report


LOOP = "mov.u32 %r2, 9; again: sub.u32 %r2, %r2, 1; setp.ne.u32 %p, %r2, 0; @%p bra again;\n"


def test_the_first_warp_is_reported_where_memory_is_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "_MOST_BYTES", 255)
    text = f"{HEAD}setp.lt.u32 %p, %r0, 32;{SEVERAL}"
    _, report, _ = launched(text, COMPILE, (2,), (64,), np.zeros(64, "u4"))
    assert "st.global.u32 [%a0+1024]" in report
    assert "block (0, 0, 0), thread (0, 0, 0)" in report


def test_the_first_warp_is_reported_if_interpreting_takes_long(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(engine, "_MOST_WORK", 0)
    text = f"{HEAD}{LOOP}setp.lt.u32 %p, %r0, 32;{SEVERAL}"
    _, report, _ = launched(text, COMPILE, (2,), (64,), np.zeros(64, "u4"))
    assert "st.global.u32 [%a0+1024]" in report


def test_a_repeated_launch_finds_the_memory_as_it_was() -> None:
    """Thread 40 faults, if the sum is that of one run."""
    body = """
        red.global.add.u32 [%a2], %r0; ld.global.u32 %r2, [%a2];
        setp.ne.u32 %p, %r2, 40; @%p bra on; st.global.u32 [%a0+256], %r0; on: ret;
    }
    """
    report = check_equal_fault(f"{HEAD}{body}", (1,), (64,), np.zeros(64, "u4"))
    assert "thread (40, 0, 0)" in report


ASSERTION = """.extern .func __assertfail (.param .b64 message, .param .b64 file, .param .b32 line,
    .param .b64 function, .param .b64 width);
.global .align 1 .b8 words[6] = {102, 97, 108, 115, 101, 0};
"""
ASSERTED = """
    setp.lt.u32 %p, %r0, 33; @%p bra on;
    { .param .b64 m; .param .b64 f; .param .b32 l; .param .b64 n; .param .b64 w;
    mov.u64 %a3, words; st.param.b64 [m], %a3; st.param.b64 [f], %a3; st.param.b64 [n], %a3;
    mov.u32 %r2, 7; st.param.b32 [l], %r2; mov.u64 %a2, 1; st.param.b64 [w], %a2;
    call __assertfail, (m, f, l, n, w); } on: ret;
}
"""


def test_all_failed_assertions_are_printed_once(capfd: pytest.CaptureFixture[str]) -> None:
    text = f"{ASSERTION}{HEAD}{ASSERTED}"
    report = check_equal_fault(text, (2,), (66,), np.zeros(64, "u4"))
    assert "false:7: false: block: [0,0,0], thread: [33,0,0]" in report
    printed = capfd.readouterr().err.splitlines()
    assert len(printed) == 2 * 2 * 33  # of both engines
    assert printed[:66] == printed[66:]


def test_assertions_are_printed_if_interpreting_takes_long(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(engine, "_MOST_WORK", 0)
    _, report, _ = launched(
        f"{ASSERTION}{HEAD}{ASSERTED}", COMPILE, (1,), (66,), np.zeros(64, "u4")
    )
    assert "assertion failed: false:7" in report
    printed = capfd.readouterr().err.splitlines()
    assert "false:7: false: block: [0,0,0], thread: [33,0,0] Assertion `false` failed." in printed
    assert len({*printed}) == len(printed)


def test_assertions_that_hold_are_compiled() -> None:
    check_equal(f"{ASSERTION}{HEAD}{ASSERTED}", (2,), (33,), np.zeros(64, "u4"))
