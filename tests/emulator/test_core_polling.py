"""Polling loops: a loop that may wait for another thread lets that thread run."""

from __future__ import annotations

import numpy as np
import pytest

from tests.emulator.device import Device

# Thread 0 polls, and its loop stands before the store that ends it: it runs first. A batch has a
# patience of 4,096, of which a poll costs 512, or 1 where it may be a load that waits for nothing.
POLLING = """
.func (.param .b32 r) peek(.param .b64 at)
{{
    .reg .b32 %v; .reg .b64 %a;
    ld.param.b64 %a, [at];
    ld.global.b32 %v, [%a];
    st.param.b32 [r], %v;
    ret;
}}
.visible .entry test(.param .u64 flag, .param .u64 out)
{{
    .reg .pred %p, %q; .reg .b32 %i, %n, %v; .reg .b64 %flag, %out, %s, %token;
    .shared .align 8 .b64 barrier;
    ld.param.u64 %flag, [flag]; ld.param.u64 %out, [out];
    mov.u32 %i, %tid.x; mov.u32 %n, 0;
    setp.ne.u32 %q, %i, 0;
    @!%q mbarrier.init.shared.b64 [barrier], 1;
    bar.sync 0;
    @%q bra release;
again:
    add.u32 %n, %n, 1;
    {poll}
    setp.eq.u32 %p, %v, 0;
    setp.lt.and.u32 %p, %n, 20000, %p;
    @%p bra again;
    st.global.u32 [%out], %n; st.global.u32 [%out+4], %v;
    ret;
release:
    mbarrier.arrive.shared.b64 %token, [barrier];
    st.global.u32 [%flag], 1;
    ret;
}}
"""
WAIT = "mbarrier.test_wait.parity.shared.b64 %q, [barrier], 0; selp.u32 %v, 1, 0, %q;"
CALL = "call (%v), peek, (%flag);"


def polls(poll: str) -> tuple[int, int]:
    """Return the number of polls of thread 0 and the last value it read."""
    device = Device(POLLING.format(poll=poll))
    flag, out = (device.buffer(np.zeros(2, "u4")) for _ in range(2))
    device.launch("test", (1,), (2,), flag, out)
    asked, learned = device.read(out, "u4", 2)
    return int(asked), int(learned)


@pytest.mark.parametrize(
    "poll",
    [
        "ld.volatile.global.u32 %v, [%flag];",
        "ld.relaxed.gpu.global.u32 %v, [%flag];",
        "ld.acquire.gpu.global.u32 %v, [%flag];",
        "atom.global.or.b32 %v, [%flag], 0;",
        "atom.global.or.b32 %v, [%flag], 0; ld.global.u32 %i, [%flag];",
        WAIT,
        CALL,
    ],
)
def test_a_loop_that_waits_for_another_thread_loses_its_turn_soon(poll: str) -> None:
    asked, learned = polls(poll)
    assert learned == 1
    assert 8 <= asked <= 10


def test_a_loop_that_only_loads_loses_its_turn_late() -> None:
    asked, learned = polls("ld.global.u32 %v, [%flag];")
    assert learned == 1
    assert 4096 <= asked <= 4098


@pytest.mark.parametrize("others", ["", "red.global.add.u32 [%out+4], 1;"])
def test_a_loop_that_asks_nobody_keeps_its_turn(others: str) -> None:
    assert polls(f"{others} mov.u32 %v, 0;") == (20000, 0)
