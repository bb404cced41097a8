"""The clocks that compiled code reads are those of the interpreter."""

from __future__ import annotations

import time

import numpy as np
import pytest

from cudarun.emulator.engines import COMPILE, INTERPRET
from tests.emulator.compiled.engines import launched

READS = """.visible .entry read(.param .u64 out) {
    .reg .b64 %a, %d<2>; .reg .b32 %r<4>;
    ld.param.u64 %a, [out];
    mov.u64 %d0, %globaltimer; mov.u64 %d1, %clock64;
    mov.u32 %r0, %globaltimer_lo; mov.u32 %r1, %globaltimer_hi;
    mov.u32 %r2, %clock; mov.u32 %r3, %clock_hi;
    st.global.v2.u64 [%a], {%d0, %d1};
    st.global.v4.u32 [%a+16], {%r0, %r1, %r2, %r3};
    ret;
}"""
LOW = (1 << 32) - 1


@pytest.mark.parametrize("mode", [INTERPRET, COMPILE])
def test_clocks(mode: str) -> None:
    before = time.time_ns(), time.perf_counter_ns()
    (found,), fault, _ = launched(READS, mode, (1,), (1,), np.zeros(4, "u8"))
    after = time.time_ns(), time.perf_counter_ns()
    assert not fault
    moments = np.frombuffer(found, "u8")[:2].tolist()
    words = np.frombuffer(found, "u4")[4:].tolist()
    for place, moment in enumerate(moments):
        assert before[place] <= moment <= after[place]
        low, high = words[2 * place :][:2]
        assert 0 <= (low - moment) & LOW <= after[place] - moment
        assert high in (moment >> 32, after[place] >> 32)
