"""Calls of functions that are not inlined: recursion, many targets, deep and large code."""

from __future__ import annotations

import numpy as np
import pytest

from cudarun.emulator.compiled.engine import Repetition
from cudarun.emulator.engines import COMPILE, NotCompiled
from tests.emulator.compiled.engines import (
    check_equal,
    check_equal_fault,
    device,
    interrupted_states,
)

KERNEL = """.visible .entry test(.param .u64 out) {
    .reg .b32 %r<12>; .reg .b64 %a<8>; .reg .pred %p<4>;
    ld.param.u64 %a0, [out];
    mov.u32 %r0, %tid.x;
    mul.wide.u32 %a1, %r0, 4;
    add.u64 %a1, %a0, %a1;
    BODY
    st.global.u32 [%a1], %r1;
    ret;
}"""
FUNCTIONS = """
.func (.reg .b32 %r) fibonacci(.reg .b32 %n) {
    .reg .b32 %x, %y; .reg .pred %p;
    mov.u32 %r, %n; setp.lt.u32 %p, %n, 2; @%p ret;
    sub.u32 %x, %n, 1; call (%x), fibonacci, (%x);
    sub.u32 %y, %n, 2; call (%y), fibonacci, (%y);
    add.u32 %r, %x, %y; ret;
}
.func (.param .b32 r) ackermann(.param .b32 m, .param .b32 n) {
    .reg .b32 %m, %n, %t; .reg .pred %p, %q;
    ld.param.b32 %m, [m]; ld.param.b32 %n, [n];
    setp.ne.u32 %p, %m, 0; @%p bra some;
    add.u32 %n, %n, 1; st.param.b32 [r], %n; ret;
    some: setp.ne.u32 %q, %n, 0; mov.u32 %t, 1; @!%q bra on;
    { .param .b32 g; .param .b32 h; .param .b32 s;
      sub.u32 %t, %n, 1; st.param.b32 [g], %m; st.param.b32 [h], %t; call (s), ackermann, (g, h);
      ld.param.b32 %t, [s]; }
    on:
    { .param .b32 g; .param .b32 h; .param .b32 s;
      ld.param.b32 %m, [m]; sub.u32 %m, %m, 1; st.param.b32 [g], %m; st.param.b32 [h], %t;
      call (s), ackermann, (g, h); ld.param.b32 %t, [s]; }
    st.param.b32 [r], %t; ret;
}
.func (.reg .b32 %r) odd(.reg .b32 %n);
.func (.reg .b32 %r) even(.reg .b32 %n) {
    .reg .b32 %x; .reg .pred %p; setp.ne.u32 %p, %n, 0; @%p bra on; mov.u32 %r, 1; ret;
    on: sub.u32 %x, %n, 1; call (%x), odd, (%x); add.u32 %r, %x, %n; ret;
}
.func (.reg .b32 %r) odd(.reg .b32 %n) {
    .reg .b32 %x; .reg .pred %p; setp.ne.u32 %p, %n, 0; @%p bra on; mov.u32 %r, 0; ret;
    on: sub.u32 %x, %n, 1; call (%x), even, (%x); mad.lo.u32 %r, %x, 3, %n; ret;
}
.func (.reg .b32 %r) first(.reg .b64 %f, .reg .b32 %n) {
    .reg .b32 %x; .reg .b64 %g; .reg .pred %p; mov.u32 %r, 7; setp.eq.u32 %p, %n, 0; @%p ret;
    sub.u32 %x, %n, 1; mov.u64 %g, first;
    type: .callprototype (.reg .b32 _) _ (.reg .b64 _, .reg .b32 _);
    call (%x), %f, (%g, %x), type; mad.lo.u32 %r, %x, 5, %n; ret;
}
.func (.reg .b32 %r) second(.reg .b64 %f, .reg .b32 %n) {
    .reg .b32 %x; .reg .b64 %g; .reg .pred %p; mov.u32 %r, 9; setp.lt.s32 %p, %n, 1; @%p ret;
    sub.u32 %x, %n, 1; mov.u64 %g, second;
    type: .callprototype (.reg .b32 _) _ (.reg .b64 _, .reg .b32 _);
    call (%x), %f, (%g, %x), type; mad.lo.u32 %r, %x, 11, %n; ret;
}
.func (.reg .b32 %r) leave(.reg .b32 %n) {
    .reg .b32 %x; .reg .pred %p; setp.lt.u32 %p, %n, 20; @%p bra on; exit;
    on: mov.u32 %r, %n; setp.lt.u32 %p, %n, 3; @%p ret;
    sub.u32 %x, %n, 2; call (%x), leave, (%x); add.u32 %r, %x, %n; ret;
}
.func (.reg .b32 %r) waits(.reg .b32 %n) {
    .reg .b32 %x, %y; .reg .pred %p, %q; mul.lo.u32 %y, %n, 7; rem.u32 %x, %n, 3;
    setp.eq.u32 %p, %x, 0; @%p bra waiting; setp.eq.u32 %q, %x, 2; @%q bra writing;
    add.u32 %x, %n, 1; call (%r), waits, (%x); add.u32 %r, %r, %n; ret;
    waiting: mov.u32 %r, %y; ret;
    writing: mul.lo.u32 %y, %n, 5; xor.b32 %r, %y, 3; ret;
}
.func store(.reg .b64 %at, .reg .b32 %n) {
    .reg .b32 %x; .reg .b64 %b; .reg .pred %p; st.global.u32 [%at], %n;
    setp.eq.u32 %p, %n, 0; @%p ret;
    sub.u32 %x, %n, 1; add.u64 %b, %at, 128; call store, (%b, %x); ret;
}
"""
BODIES = {
    "fibonacci": "and.b32 %r2, %r0, 15; call (%r1), fibonacci, (%r2);",
    "fibonacci in a loop": """mov.u32 %r3, 0; mov.u32 %r1, 0; and.b32 %r4, %r0, 7;
        again: call (%r2), fibonacci, (%r3); add.u32 %r1, %r1, %r2; add.u32 %r3, %r3, 1;
        setp.le.u32 %p0, %r3, %r4; @%p0 bra again;""",
    "ackermann": """{ .param .b32 g; .param .b32 h; .param .b32 s;
        and.b32 %r2, %r0, 1; and.b32 %r3, %r0, 3; st.param.b32 [g], %r2; st.param.b32 [h], %r3;
        call (s), ackermann, (g, h); ld.param.b32 %r1, [s]; }""",
    "one another": "and.b32 %r2, %r0, 31; call (%r1), even, (%r2);",
    "pointers": """mov.u64 %a2, first; mov.u64 %a3, second; and.b32 %r2, %r0, 3;
        setp.eq.u32 %p0, %r2, 1; selp.b64 %a4, %a2, %a3, %p0; and.b32 %r2, %r0, 15;
        type: .callprototype (.reg .b32 _) _ (.reg .b64 _, .reg .b32 _);
        call (%r1), %a4, (%a3, %r2), type;""",
    "exit": "call (%r1), leave, (%r0);",
    "lanes that wait outside": "call (%r1), waits, (%r0);",
    "barriers around it": """bar.sync 0; and.b32 %r2, %r0, 7; call (%r1), fibonacci, (%r2);
        bar.sync 0; shfl.sync.bfly.b32 %r3, %r1, 1, 31, -1; call (%r4), fibonacci, (%r2);
        add.u32 %r1, %r3, %r4;""",
}


@pytest.mark.parametrize("what", BODIES)
def test_recursion(what: str) -> None:
    text = FUNCTIONS + KERNEL.replace("BODY", BODIES[what])
    (found,) = check_equal(text, (2,), (96,), np.zeros(96, "u4"))
    assert any(found)


def test_the_order_of_lanes_is_the_interpreters() -> None:
    """Lanes enter their numbers in a list, and which lanes are active with them."""
    functions = """.func (.reg .b32 %r) walk(.reg .b64 %log, .reg .b32 %n, .reg .b32 %id) {
        .local .align 4 .b8 own[8];
        .reg .b32 %x, %y, %z, %t, %k; .reg .b64 %w; .reg .pred %p;
        st.local.u32 [own+4], %id; mov.u32 %t, %tid.x; mad.lo.u32 %y, %t, 1000, %id;
        atom.global.add.u32 %x, [%log], 1; mul.wide.u32 %w, %x, 4; add.u64 %w, %w, %log;
        st.global.u32 [%w+4], %y; activemask.b32 %r; setp.lt.s32 %p, %n, 1; @%p ret;
        and.b32 %z, %t, 1; setp.eq.u32 %p, %z, 0; sub.u32 %x, %n, 1; mul.lo.u32 %y, %id, 2;
        @%p bra even;
        call (%z), walk, (%log, %x, %y); sub.u32 %x, %x, 1; add.u32 %y, %y, 1;
        call (%x), walk, (%log, %x, %y); bra on;
        even: add.u32 %y, %y, 1; call (%z), walk, (%log, %x, %y);
        on: ld.local.u32 %k, [own+4]; activemask.b32 %t;
        mad.lo.u32 %r, %z, 5, %x; add.u32 %r, %r, %k; xor.b32 %r, %r, %t; ret;
    }"""
    body = """and.b32 %r2, %r0, 3; add.u32 %r2, %r2, 2; mov.u32 %r3, 1; add.u64 %a2, %a0, 128;
        setp.eq.u32 %p0, %r2, 3; @%p0 bra other; call (%r1), walk, (%a2, %r2, %r3); bra on;
        other: call (%r1), walk, (%a2, %r2, %r3); on:"""
    text = functions + KERNEL.replace("BODY", body)
    (found,) = check_equal(text, (1,), (32,), np.zeros(1024, "u4"), in_order=False)
    assert np.frombuffer(found, "u4")[32] > 300


# --- faults --------------------------------------------------------------------------------------


@pytest.fixture
def once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Faults of compiled code are reported as they are: no launch is repeated."""
    monkeypatch.setattr(Repetition, "of", lambda *_, **__: None)


@pytest.mark.usefixtures("once")
def test_a_fault_has_the_calls() -> None:
    text = FUNCTIONS + KERNEL.replace("BODY", "and.b32 %r1, %r0, 7; call store, (%a1, %r1);")
    report = check_equal_fault(text, (1,), (32,), np.zeros(4 * 32, "u4"))
    assert report.count("called from store") == 4
    assert report.count("called from test") == 1


@pytest.mark.usefixtures("once")
@pytest.mark.parametrize("depth", [40, 60, 100])
def test_the_stack_overflows(depth: int) -> None:
    body = f"add.u32 %r2, %r0, {depth}; call (%r1), even, (%r2);"
    text = FUNCTIONS + KERNEL.replace("BODY", body)
    report = check_equal_fault(text, (1,), (32,), np.zeros(32, "u4"))
    assert "stack overflow in a call of" in report


def test_the_states_of_threads_have_the_calls() -> None:
    functions = """.func (.reg .b32 %r) spin(.reg .b32 %n) {
        .reg .b32 %x; .reg .pred %p; mov.u32 %r, %tid.x; setp.eq.u32 %p, %r, 3; @%p ret;
        setp.ne.u32 %p, %n, 0; @%p bra on; L: add.u32 %r, %r, 1; bra L;
        on: sub.u32 %x, %n, 1; call (%r), spin, (%x); ret;
    }"""
    body = "and.b32 %r2, %r0, 1; add.u32 %r2, %r2, 1; call (%r1), spin, (%r2);"
    states = interrupted_states(functions + KERNEL.replace("BODY", body), (1,), (32,))
    assert "16 threads run: block (0, 0, 0), thread (0, 0, 0)" in states
    assert "15 threads" in states
    assert "1 thread " in states


# --- code that is not inlined --------------------------------------------------------------------


def function(number: int, body: str) -> str:
    return f""".func (.reg .b32 %r) f{number}(.reg .b32 %x) {{
        .reg .b32 %y; .reg .pred %p; {body} ret; }}\n"""


def test_many_targets() -> None:
    functions = "".join(
        function(number, f"setp.gt.u32 %p, %x, 50; @%p ret; mad.lo.u32 %r, %x, {number}, 5;")
        for number in range(20)
    )
    body = """type: .callprototype (.reg .b32 _) _ (.reg .b32 _); mov.u64 %a2, f0;
        and.b32 %r2, %r0, 1; setp.eq.u32 %p0, %r2, 1; mov.u64 %a3, f13; selp.b64 %a2, %a3, %a2, %p0;
        and.b32 %r2, %r0, 7; setp.eq.u32 %p0, %r2, 1; mov.u64 %a3, f19; selp.b64 %a2, %a3, %a2, %p0;
        mov.u32 %r1, 3; call (%r1), %a2, (%r0), type;"""
    text = functions + KERNEL.replace("BODY", body)
    (found,) = check_equal(text, (2,), (96,), np.zeros(96, "u4"))
    assert list(np.frombuffer(found, "u4")[:4]) == [5, 24, 5, 44]
    fault = text.replace("mov.u64 %a3, f19", "mov.u64 %a3, 64")
    assert "not the address of a function" in check_equal_fault(
        fault, (1,), (32,), np.zeros(32, "u4")
    )


def nested(body: str, depth: int) -> str:
    functions = function(0, body) + "".join(
        function(number, f"call (%y), f{number - 1}, (%x); add.u32 %r, %y, {number};")
        for number in range(1, depth)
    )
    return functions + KERNEL.replace("BODY", f"call (%r1), f{depth - 1}, (%r0);")


def test_deep_calls() -> None:
    text = nested("add.u32 %r, %x, 1;", 90)
    (found,) = check_equal(text, (1,), (32,), np.zeros(32, "u4"))
    assert np.array_equal(np.frombuffer(found, "u4"), np.arange(32) + 1 + 89 * 90 // 2)


def test_large_functions_that_are_called_often() -> None:
    large = " ".join(f"mad.lo.u32 %r, %r, {3 + 2 * n}, %x;" for n in range(600))
    functions = function(0, "mov.u32 %r, 1; " + large) + function(
        1, "call (%y), f0, (%x); call (%r), f0, (%y);"
    )
    calls = " ".join(f"call (%r1), f{number % 2}, (%r1);" for number in range(8))
    text = functions + KERNEL.replace("BODY", "mov.u32 %r1, %r0; " + calls)
    check_equal(text, (1,), (64,), np.zeros(64, "u4"))


def test_barriers_in_deep_calls_are_interpreted() -> None:
    made, _ = device(nested("bar.sync 0; add.u32 %r, %x, 1;", 400), COMPILE)
    with pytest.raises(NotCompiled, match="a barrier in function f0, which cannot be inlined"):
        made.launch("test", (1,), (32,), made.buffer(np.zeros(32, "u4")))


REFUSED = {
    "a barrier in function wait, which cannot be inlined": "bar.sync 0;",
    "a warp-synchronous instruction": "vote.sync.any.pred %p, %p, -1;",
    "a loop that may wait for other threads": """spin: ld.volatile.global.u32 %x, [%at];
        setp.eq.u32 %p, %x, 0; @%p bra spin;""",
}


@pytest.mark.parametrize("reason", REFUSED)
def test_recursive_functions_that_wait_are_interpreted(reason: str) -> None:
    functions = f""".func wait(.reg .b64 %at, .reg .b32 %n) {{
        .reg .b32 %x; .reg .pred %p; setp.eq.u32 %p, %n, 0; @%p ret; {REFUSED[reason]}
        sub.u32 %x, %n, 1; call wait, (%at, %x); ret; }}"""
    text = functions + KERNEL.replace("BODY", "mov.u32 %r1, 4; call wait, (%a1, %r1);")
    made, _ = device(text, COMPILE)
    with pytest.raises(NotCompiled, match=reason):
        made.launch("test", (1,), (32,), made.buffer(np.ones(32, "u4")))
