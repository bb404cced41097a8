"""Named barriers, as the warpgroups of attention kernels use them."""

from __future__ import annotations

import numpy as np

from tests.emulator.device import Device

HEAD = """
.version 8.0
.target sm_90
.address_size 64
.visible .entry test(.param .u64 out)
{
    .reg .pred %p; .reg .b32 %t, %b, %v; .reg .b64 %out, %at;
    .shared .align 4 .b32 word;
    mov.u32 %v, 1;
    ld.param.u64 %out, [out]; mov.u32 %t, %tid.x; mov.u32 %b, %ctaid.x;
"""
STORE = """
    mad.lo.u32 %t, %b, 64, %t;
    mad.wide.u32 %at, %t, 4, %out;
    st.global.u32 [%at], %v;
    ret;
}
"""


def ran(body: str, blocks: int) -> np.ndarray:
    device = Device(HEAD + body + STORE)
    out = device.buffer(np.zeros(64 * blocks, np.uint32))
    device.launch("test", (blocks,), (64,), out)
    return device.read(out, np.uint32, 64 * blocks)


def test_a_thread_that_arrives_and_then_waits_counts_twice() -> None:
    body = """
    setp.ge.u32 %p, %t, 32;
    @%p bra END;
    bar.arrive 3, 64;
    bar.sync 3, 64;
    END:"""
    assert ran(body, 1).all()


def test_a_block_does_not_inherit_arrivals() -> None:
    """The second warp leaves an arrival behind, which must not let the next block's first go on."""
    body = """
    setp.ge.u32 %p, %t, 32;
    @%p bra SECOND;
    bar.sync 3, 64;
    ld.shared.u32 %v, [word];
    bra END;
    SECOND:
    st.shared.u32 [word], 1;
    bar.arrive 3, 64;
    bar.arrive 3, 64;
    END:"""
    assert ran(body, 4096).all()
