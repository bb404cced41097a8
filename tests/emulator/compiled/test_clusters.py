"""Accesses to the shared memory of other blocks of a cluster on both engines."""

from __future__ import annotations

import numpy as np
import pytest

from cudarun.emulator.compiled.runtime import CompiledRun
from cudarun.emulator.compiled.state import layout
from cudarun.emulator.engines import COMPILE
from tests.emulator.compiled.engines import check_equal, check_equal_fault, launched

# Each thread has an address in the next block, of `shared::cluster` and a generic one.
KERNEL = """.version 8.0
.target sm_90
.address_size 64
.visible .entry blocks(.param .u64 out) {
    .shared .align 16 .b32 data[128]; .shared .align 8 .b64 object; .reg .b64 %o, %g, %w<4>;
    .reg .b32 %t, %b, %n, %rank, %at, %there, %thing, %r<8>; .reg .pred %p, %q;
    ld.param.u64 %o, [out]; mov.u32 %t, %tid.x; mov.u32 %b, %ctaid.x; mov.u32 %n, %cluster_nctarank;
    mov.u32 %rank, %cluster_ctarank; add.u32 %rank, %rank, 1; rem.u32 %rank, %rank, %n;
    mov.u32 %at, data; shl.b32 %r0, %t, 2; add.u32 %at, %at, %r0; mad.lo.u32 %r1, %b, 100, %t;
    st.shared.u32 [%at], %r1; mov.u32 %r2, 0; mov.u32 %thing, object; setp.eq.u32 %p, %t, 0;
    @%p mbarrier.init.shared.b64 [object], 64;
    mapa.shared::cluster.u32 %there, %at, %rank; mapa.shared::cluster.u32 %thing, %thing, %rank;
    cvt.u64.u32 %g, %at; cvta.shared.u64 %g, %g; mapa.u64 %g, %g, %rank;
    barrier.cluster.arrive; barrier.cluster.wait;
    BODY
    barrier.cluster.arrive; barrier.cluster.wait;
    ld.shared.u32 %r3, [%at]; mad.lo.u32 %r4, %b, 64, %t; mad.wide.u32 %o, %r4, 8, %o;
    st.global.v2.u32 [%o], {%r2, %r3}; barrier.cluster.arrive; barrier.cluster.wait; ret;
}"""
BODIES = {
    "a load": "ld.shared::cluster.u32 %r2, [%there];",
    "a generic load": "ld.u32 %r2, [%g];",
    "a store": "st.shared::cluster.u32 [%there+128], %t;",
    "a generic store": "st.u32 [%g+128], %b;",
    "a reduction": "red.shared::cluster.add.u32 [%there], %t;",
    "an atomic operation": "atom.add.u32 %r5, [%g], %t;",
    "a loop": """LOOP: ld.u32 %r5, [%g]; add.u32 %r2, %r2, %r5; add.u32 %rank, %rank, 1;
        rem.u32 %rank, %rank, %n; mapa.u64 %g, %g, %rank; setp.ne.u32 %q, %rank, 0;
        @%q bra LOOP;""",
    "various blocks": """rem.u32 %rank, %t, %n; mapa.shared::cluster.u32 %there, %at, %rank;
        ld.shared::cluster.u32 %r2, [%there];""",
    "an own address among others": """and.b32 %r5, %t, 1; setp.eq.u32 %q, %r5, 0;
        selp.u32 %there, %there, %at, %q; ld.shared::cluster.u32 %r2, [%there];""",
    "a vector": """and.b32 %r5, %t, 31; sub.u32 %there, %there, %r0; shl.b32 %r5, %r5, 4;
        add.u32 %there, %there, %r5; ld.shared::cluster.v2.u32 {%r5, %r2}, [%there];""",
    "an object": "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%thing];",
    "global memory": "selp.b64 %g, %o, %g, %p; ld.u32 %r2, [%g];",
}


def text(body: str) -> str:
    return KERNEL.replace("BODY", body)


@pytest.mark.parametrize("what", BODIES)
@pytest.mark.parametrize("size", [1, 4])
def test_accesses(what: str, size: int) -> None:
    check_equal(text(BODIES[what]), (8,), (64,), np.zeros(1024, "u4"), cluster=(size, 1, 1))


@pytest.mark.parametrize("what", ["a load", "a generic load", "a store", "an atomic operation"])
def test_compiled_code_accesses_other_blocks(what: str, monkeypatch: pytest.MonkeyPatch) -> None:
    found: list[int] = []
    execute = CompiledRun._execute

    def counted(self: CompiledRun, *given: object) -> int:
        found.append(execute(self, *given))  # type: ignore[arg-type]
        return found[-1]

    monkeypatch.setattr(CompiledRun, "_execute", counted)
    launched(text(BODIES[what]), COMPILE, (8,), (64,), np.zeros(1024, "u4"), cluster=(4, 1, 1))
    assert set(found) <= {layout.RETRY}


FAULTS = {
    "a block that is not in the cluster": """add.u32 %there, %there, 0x04000000;
        ld.shared::cluster.u32 %r2, [%there];""",
    "an own address of such a block": """add.u32 %there, %there, 0x04000000;
        ld.shared.u32 %r2, [%there];""",
    "the end of shared memory": "ld.shared::cluster.u32 %r2, [%there+512];",
    "a generic address past the end": "st.u32 [%g+512], %r2;",
    "a misaligned address": "ld.shared::cluster.u32 %r2, [%there+2];",
    "a misaligned generic address": "ld.u32 %r2, [%g+2];",
}


@pytest.mark.parametrize("what", FAULTS)
def test_faults(what: str) -> None:
    words = np.zeros(1024, "u4")
    fault = check_equal_fault(text(FAULTS[what]), (8,), (64,), words, cluster=(4, 1, 1))
    assert ("is in the block of rank" in fault) == (
        "such a block" in what or "a block that" in what
    )


def test_arrivals_that_no_thread_waits_for() -> None:
    """The words that count them are in the state of the warp, not in that of the next one."""
    text = """.version 8.0
.target sm_90
.address_size 64
.visible .entry arrivals(.param .u64 out) {
    .reg .b64 %o; .reg .b32 %t; ld.param.u64 %o, [out]; mov.u32 %t, %tid.x;
    mad.wide.u32 %o, %t, 4, %o; barrier.cluster.arrive; st.global.u32 [%o], %t; ret;
}"""
    (found,) = check_equal(text, (1,), (128,), np.zeros(128, "u4"))
    assert np.frombuffer(found, "u4").tolist() == list(range(128))
