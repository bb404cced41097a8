"""Instructions that compiled code executes itself, without calls of the interpreter."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from cudarun.emulator.compiled import runtime
from cudarun.emulator.engines import COMPILE
from tests.emulator.compiled.engines import launched

HEAD = ".version 8.0\n.target sm_90\n.address_size 64\n"

ACCESSES = f"""{HEAD}
.visible .entry accesses(.param .u64 out) {{
    .shared .align 16 .b8 tile[4096]; .reg .b64 %a<3>; .reg .b32 %r<8>; .reg .pred %p;
    ld.param.u64 %a0, [out]; mov.u32 %r0, %tid.x; mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x;
    mad.lo.u32 %r1, %r1, %r2, %r0; mad.wide.u32 %a1, %r1, 4, %a0;
    shl.b32 %r3, %r0, 2; mov.u32 %r4, tile; add.u32 %r3, %r3, %r4; mov.u32 %r5, 0;
LOOP:
    ld.global.u32 %r6, [%a1]; st.shared.u32 [%r3], %r6; bar.sync 0;
    ld.shared.u32 %r6, [%r3]; add.u32 %r6, %r6, 1; st.global.u32 [%a1], %r6;
    atom.shared.add.u32 %r7, [tile+2048], 1; bar.sync 0;
    add.u32 %r5, %r5, 1; setp.lt.u32 %p, %r5, 100; @%p bra LOOP;
    ret;
}}"""

ARRIVALS = f"""{HEAD}
.visible .entry arrivals(.param .u64 out) {{
    .shared .align 8 .b64 object; .reg .b64 %a<2>, %s; .reg .b32 %r<4>; .reg .pred %p, %q;
    ld.param.u64 %a0, [out]; mov.u32 %r0, %tid.x; setp.eq.u32 %p, %r0, 0; mov.u32 %r1, 0;
    @%p mbarrier.init.shared.b64 [object], 128; bar.sync 0;
LOOP:
    mbarrier.arrive.shared.b64 %s, [object];
WAIT:
    mbarrier.test_wait.shared.b64 %q, [object], %s; @!%q bra WAIT;
    add.u32 %r1, %r1, 1; setp.lt.u32 %p, %r1, 100; @%p bra LOOP;
    mad.wide.u32 %a1, %r0, 4, %a0; st.global.u32 [%a1], %r1; ret;
}}"""


@pytest.mark.parametrize(("text", "expected"), [(ACCESSES, 100), (ARRIVALS, 100)])
def test_loops_do_not_call_the_interpreter(
    text: str, expected: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """4 warps execute each instruction of the loop 100 times; a callback is made once or twice."""
    calls = Counter[int]()
    execute = runtime.CompiledRun._execute

    def counted(self: object, site: object, *others: object) -> int:
        calls[id(site)] += 1
        return execute(self, site, *others)  # type: ignore[arg-type]

    monkeypatch.setattr(runtime.CompiledRun, "_execute", counted)
    [found], fault, _ = launched(text, COMPILE, (1,), (128,), np.zeros(128, "u4"))
    assert fault == ""
    assert np.array_equal(np.frombuffer(found, "u4"), np.full(128, expected))
    assert max(calls.values(), default=0) <= 2
