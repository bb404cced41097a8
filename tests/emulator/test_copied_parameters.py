"""Functions that take the addresses of their parameters, which are then in local memory."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

from cudarun.emulator.engines import COMPILE, INTERPRET, Engines
from cudarun.emulator.execution import execute
from tests.emulator.device import Device

TEXT = """
.func (.param .b32 r) pick(.param .align 4 .b8 values[16], .param .b32 index, .param .b8 plus)
{
    .reg .b32 %r<4>; .reg .b64 %d<6>; .reg .b16 %h<2>;
    mov.b64 %d0, values+4;
    cvta.local.u64 %d1, %d0;
    ld.param.u32 %r0, [index];
    { mul.wide.u32 %d2, %r0, 4; add.u64 %d3, %d1, %d2; }
    ld.u32 %r1, [%d3];
    mov.b64 %d4, plus;
    ld.local.u8 %h0, [%d4];
    cvt.u32.u16 %r2, %h0;
    add.u32 %r1, %r1, %r2;
    st.u32 [%d3], %r1;
    ld.u32 %r1, [%d3];
    st.param.b32 [r], %r1;
    ret;
}
.visible .entry kernel(.param .u64 out, .param .align 4 .b8 given[16])
{
    .reg .b32 %r<8>; .reg .b64 %d<4>;
    ld.param.u64 %d0, [out];
    ld.param.u32 %r0, [given]; ld.param.u32 %r1, [given+4];
    ld.param.u32 %r2, [given+8]; ld.param.u32 %r3, [given+12];
    mov.u32 %r4, %tid.x;
    rem.u32 %r5, %r4, 3;
    { .param .align 4 .b8 a[16]; .param .b32 b; .param .b32 c; .param .b8 d;
      st.param.b32 [a], %r0; st.param.b32 [a+4], %r1; st.param.b32 [a+8], %r2;
      st.param.b32 [a+12], %r3; st.param.b32 [b], %r5; st.param.b8 [d], 7;
      call (c), pick, (a, b, d); ld.param.b32 %r6, [c]; }
    mul.wide.u32 %d1, %r4, 4; add.u64 %d2, %d0, %d1;
    st.global.u32 [%d2], %r6;
    ret;
}
"""


@pytest.mark.parametrize("engine", [INTERPRET, COMPILE])
def test_values_by_address(engine):
    device = Device(TEXT, execute=partial(execute, engines=Engines(engine)))
    out = device.buffer(np.zeros(64, np.int32))
    device.launch("kernel", (2,), (32,), out, np.array([10, 20, 30, 40], np.int32))
    thread = np.arange(32)
    assert np.array_equal(device.read(out, np.int32, 32), 27 + 10 * (thread % 3))
