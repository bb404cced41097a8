"""Kernels that can show the order of warps, and those that cannot."""

from __future__ import annotations

import numpy as np
import pytest

from cudarun.emulator.engines import COMPILE, NotCompiled
from tests.emulator.compiled.engines import check_equal, device

# As the cooperative groups header: a block arrives with 1, block 0 with what flips the sign.
GRID = """.visible .entry exchange(.param .u64 out) {
    .reg .b32 %r<16>; .reg .b64 %a<8>; .reg .pred %p<4>;
    ld.param.u64 %a0, [out];
    mov.u32 %r0, %envreg2; cvt.u64.u32 %a1, %r0; mov.u32 %r1, %envreg1; cvt.u64.u32 %a2, %r1;
    bfi.b64 %a1, %a2, %a1, 32, 32; ADDRESS
    mov.u32 %r2, %tid.x; mov.u32 %r3, %ctaid.x; mov.u32 %r4, %nctaid.x;
    setp.eq.u32 %p0, %r3, 0; sub.u32 %r5, -2147483647, %r4; selp.b32 %r5, %r5, 1, %p0;
    mul.wide.u32 %a3, %r3, 4; add.u64 %a3, %a0, %a3; add.u32 %r6, %r3, 1; rem.u32 %r6, %r6, %r4;
    mul.wide.u32 %a4, %r6, 4; add.u64 %a4, %a0, %a4; setp.ne.u32 %p1, %r2, 0; mov.u32 %r7, 0;
again:
    @%p1 bra wait; ld.global.u32 %r8, [%a4]; add.u32 %r8, %r8, %r3;
wait:
    bar.sync 0; @%p1 bra on;
    atom.add.release.gpu.u32 %r9, [%a1+4], %r5;
spin:
    ld.acquire.gpu.u32 %r10, [%a1+4]; xor.b32 %r10, %r10, %r9; setp.gt.s32 %p2, %r10, -1;
    @%p2 bra spin; st.global.u32 [%a3], %r8;
on: bar.sync 0; @%p1 bra go;
    atom.add.release.gpu.u32 %r9, [%a1+4], %r5;
spin2:
    ld.acquire.gpu.u32 %r10, [%a1+4]; xor.b32 %r10, %r10, %r9; setp.gt.s32 %p2, %r10, -1;
    @%p2 bra spin2;
go: add.u32 %r7, %r7, 1; setp.lt.u32 %p3, %r7, 4; @%p3 bra again;
    ret;
}"""


def test_the_barrier_of_a_grid_shows_no_order() -> None:
    text = GRID.replace("ADDRESS", "")
    (found,) = check_equal(text, (6,), (64,), np.arange(6, dtype="u4"), cooperative=True)
    assert sum(np.frombuffer(found, "u4")) == 15 + 4 * 15


@pytest.mark.parametrize("address", ["add.u64 %a1, %a1, %a0;", "ld.global.u64 %a1, [%a1];"])
def test_other_addresses_can_show_it(address: str) -> None:
    made, _ = device(GRID.replace("ADDRESS", address), COMPILE)
    with pytest.raises(NotCompiled, match="in a loop, of floats or with a used result"):
        made.launch("exchange", (6,), (64,), made.buffer(np.zeros(6, "u4")), cooperative=True)
