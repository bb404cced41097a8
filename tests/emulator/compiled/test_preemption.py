"""Every loop lets other lanes run, whatever is in it: on both engines."""

from __future__ import annotations

import numpy as np
import pytest

from cudarun.emulator.compiled import runtime
from cudarun.emulator.engines import COMPILE, INTERPRET
from tests.emulator.compiled.engines import interrupted_states, launched

# Thread 0 is in a loop that stands before the store of the other threads: it runs first. Whether
# they have been executed meanwhile is known after the loop.
KERNEL = """
.func (.param .b32 r) next(.param .b32 n)
{{
    .reg .b32 %n;
    ld.param.b32 %n, [n]; add.u32 %n, %n, 1; st.param.b32 [r], %n; ret;
}}
.visible .entry test(.param .u64 out, .param .u32 count, .param .u32 setter)
{{
    .reg .pred %p, %q; .reg .b32 %i, %n, %m, %v, %w, %count, %setter; .reg .b64 %out, %d;
    .shared .align 4 .b32 room;
    ld.param.u64 %out, [out]; ld.param.u32 %count, [count];
    ld.param.u32 %setter, [setter];
    mov.u32 %i, %tid.x; mov.u32 %n, 0; mov.u32 %m, 0; mov.u32 %v, 7; mov.u32 %w, 0;
    setp.ne.u32 %q, %i, 0;
    @%q bra release;
    cases: .branchtargets again, done;
again:
    {body}
    setp.lt.u32 %p, %n, %count;
    {back}
done:
    ld.volatile.global.u32 %w, [%out+4];
    st.global.u32 [%out], %w; st.global.u32 [%out+8], %n; st.global.u32 [%out+12], %m;
    ret;
release:
    setp.ne.u32 %q, %i, %setter;
    @%q ret;
    st.volatile.global.u32 [%out+4], 1;
    ret;
}}
"""
BACK = "@%p bra again;"
COUNT = "add.u32 %n, %n, 1; "
BODIES = {
    "arithmetic": "mad.lo.u32 %v, %v, 5, 1; " + COUNT,
    "clock": "mov.u64 %d, %clock64; " + COUNT,
    "activemask": "activemask.b32 %m; " + COUNT,
    "vote": "vote.sync.ballot.b32 %m, 1, 1; " + COUNT,
    "shuffle": "shfl.sync.idx.b32 %m, %i, 0, 31, 1; " + COUNT,
    "reduction": "red.shared.add.u32 [room], 1; " + COUNT,
    "call": "call (%n), next, (%n);",
    "inner loop": "mov.u32 %m, 0; inner: add.u32 %m, %m, 1; setp.lt.u32 %q, %m, 3; @%q bra inner; "
    + COUNT,
}
ENOUGH = {INTERPRET: 4500, COMPILE: 1500}
"""Iterations; compiled lanes are preempted after 1024 jumps back here."""


@pytest.mark.parametrize("engine", ENOUGH)
@pytest.mark.parametrize("body", [*BODIES, "branch by index"])
def test_other_lanes_run(body: str, engine: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runtime, "_MOST_JUMPS", 1024)
    back = BACK
    if body == "branch by index":
        back = "selp.b32 %m, 0, 1, %p; brx.idx %m, cases;"
    text = KERNEL.format(body=BODIES.get(body, COUNT), back=back)
    if body != "branch by index":
        text = text.replace("cases: .branchtargets again, done;", "")
    count = ENOUGH[engine]
    for setter in (1, 33):  # of the same warp, and of another one
        given = np.zeros(4, "u4"), count, setter
        (found,), fault, _ = launched(text, engine, (1,), (64,), *given)
        assert fault == ""
        assert list(np.frombuffer(found, "u4"))[:3] == [1, 1, count]


def test_registers_survive_when_lanes_take_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each lane sums in a loop of its own length, with more values than are live elsewhere."""
    monkeypatch.setattr(runtime, "_MOST_JUMPS", 64)
    text = """.visible .entry test(.param .u64 out) {
        .reg .b32 %i, %n, %k, %a, %b, %c, %d; .reg .b64 %o, %w, %e; .reg .pred %p, %q, %even;
        ld.param.u64 %o, [out]; mov.u32 %i, %tid.x; mul.wide.u32 %w, %i, 4; add.u64 %o, %o, %w;
        mul.lo.u32 %n, %i, 3; add.u32 %n, %n, 40; mov.u32 %k, 0;
        mov.u32 %a, %i; mov.u32 %b, 1; mov.u64 %e, 3; add.u32 %d, %i, 9;
        and.b32 %c, %i, 1; setp.eq.u32 %even, %c, 0;
        @%even bra second;
    first: mad.lo.u32 %a, %a, 3, %d; add.u32 %k, %k, 1; setp.lt.u32 %p, %k, %n; @%p bra first;
        bra join;
    second: mad.lo.u32 %b, %b, 5, %d; mul.lo.u64 %e, %e, 7; add.u32 %k, %k, 1;
        setp.lt.u32 %p, %k, %n; @%p bra second;
    join: cvt.u32.u64 %c, %e; xor.b32 %a, %a, %b; add.u32 %a, %a, %c; selp.u32 %c, 1, 2, %even;
        mad.lo.u32 %a, %a, %c, %k;
        st.global.u32 [%o], %a; ret; }"""
    results = [launched(text, e, (2,), (70,), np.zeros(70, "u4"))[0] for e in (INTERPRET, COMPILE)]
    wanted = []
    for lane in range(70):
        a, b, e, count = lane, 1, 3, 3 * lane + 40
        for _ in range(count):
            if lane % 2:
                a = a * 3 + lane + 9 & 0xFFFFFFFF
            else:
                b, e = b * 5 + lane + 9 & 0xFFFFFFFF, e * 7 & 0xFFFFFFFFFFFFFFFF
        wanted.append(((a ^ b) + e) * (2 if lane % 2 else 1) + count & 0xFFFFFFFF)
    assert [list(np.frombuffer(each, "u4")) for (each,) in results] == [wanted, wanted]


def test_the_report_of_a_hang_names_only_lanes_that_cannot_go_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(runtime, "_MOST_JUMPS", 64)
    text = """.visible .entry test(.param .u64 out) {
        .reg .b32 %i; .reg .b64 %o; .reg .pred %p;
        ld.param.u64 %o, [out]; mov.u32 %i, %tid.x; setp.ne.u32 %p, %i, 3; @%p bra store;
    again: mad.lo.u32 %i, %i, 5, 1; bra again;
    store: st.global.u32 [%o], %i; ret; }"""
    report = interrupted_states(text, (1,), (64,))
    assert "1 thread runs: block (0, 0, 0), thread (3, 0, 0)" in report
    assert "st.global" not in report
