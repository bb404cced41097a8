"""Registers that are computed again, that share a slot, or that are constants, on both engines."""

from __future__ import annotations

import numpy as np
import pytest

from cudarun.emulator.code import FunctionCode
from cudarun.emulator.compiled.control.recomputed import with_recomputed_values, with_shared_slots
from cudarun.emulator.compiled.kernels import KernelModule
from cudarun.emulator.decode.module import compile_module
from cudarun.emulator.machine.frame import each
from cudarun.ptx.parser import parse
from tests.emulator.compiled.engines import check_equal
from tests.emulator.device import HEADER

# Even and odd lanes wait at different barriers, with values of their own.
WAITS = (
    HEADER
    + """.visible .entry waits(.param .u64 out, .param .u64 in) {
    .reg .b64 %a<5>; .reg .b32 %r<9>; .reg .b16 %h; .reg .pred %p<3>;
    ld.param.u64 %a0, [out]; ld.param.u64 %a1, [in];
    mov.u32 %r0, %tid.x; and.b32 %r1, %r0, 1; setp.eq.u32 %p0, %r1, 0; shr.u32 %r2, %r0, 5;
    setp.gt.u32 %p1, %r0, 40;
    mul.wide.u32 %a2, %r0, 4; add.u64 %a3, %a1, %a2; ld.global.u32 %r3, [%a3];
    @%p0 bra EVEN;
    add.u32 %r4, %r3, 1;
    barrier.sync 0;
    selp.u32 %r6, %r4, %r2, %p1;
    bra END;
EVEN:
    xor.b32 %r5, %r3, -1; setp.lt.u32 %p2, %r5, %r3;
    barrier.sync 0;
    selp.u32 %r6, %r5, %r2, %p2;
    @%p1 add.u32 %r6, %r6, 7;
END:
    barrier.sync 0;
    add.u64 %a4, %a0, %a2;
    st.global.u32 [%a4], %r6;
    ret;
}"""
)

# A loop reads an index that is computed before it, and a register that not all lanes write.
LOOPS = (
    HEADER
    + """.visible .entry loops(.param .u64 out) {
    .reg .b64 %a<3>; .reg .b32 %r<7>; .reg .pred %p<3>;
    ld.param.u64 %a0, [out];
    mov.u32 %r0, %tid.x; mul.lo.u32 %r1, %r0, 3; and.b32 %r2, %r0, 7; mov.u32 %r3, 0;
    setp.lt.u32 %p0, %r2, 4;
    @%p0 shl.b32 %r5, %r0, 2;
NEXT:
    add.u32 %r3, %r3, %r1; xor.b32 %r3, %r3, %r5;
    bar.sync 0;
    sub.u32 %r2, %r2, 1; setp.gt.s32 %p1, %r2, -9;
    @%p1 bra NEXT;
    mul.wide.u32 %a1, %r0, 4; add.u64 %a2, %a0, %a1; st.global.u32 [%a2], %r3;
    ret;
}"""
)

# Compilers give shuffles their lanes and masks in registers.
SHUFFLES = (
    HEADER
    + """.visible .entry shuffles(.param .u64 out) {
    .reg .b64 %a<3>; .reg .b32 %r<9>; .reg .pred %p<2>;
    ld.param.u64 %a0, [out];
    mov.u32 %r0, %tid.x; mov.u32 %r1, 2; mov.u32 %r2, 0; mov.b32 %r3, -1; mov.u32 %r4, 31;
    mul.lo.u32 %r5, %r0, %r0;
    shfl.sync.up.b32 %r6|%p0, %r5, %r1, %r2, %r3;
    @%p0 add.u32 %r6, %r6, %r5;
    shfl.sync.bfly.b32 %r7, %r6, %r1, %r4, %r3;
    mul.wide.u32 %a1, %r0, 4; add.u64 %a2, %a0, %a1; st.global.u32 [%a2], %r7;
    ret;
}"""
)


def code_of(text: str) -> FunctionCode:
    """The code of the only kernel."""
    (function,) = compile_module(parse(text)).code.values()
    return function


def names(function: FunctionCode, slots: int) -> set[str]:
    """The names of some slots."""
    return {function.slots[slot].name for slot in each(slots)}


@pytest.mark.parametrize("threads", [64, 33])
def test_results(threads: int) -> None:
    given = np.random.default_rng(5).integers(0, 1 << 32, threads, np.uint32)
    out, _ = check_equal(WAITS, (2,), (threads,), np.zeros(threads, "u4"), given)
    lane = np.arange(threads)
    even = np.where(~given < given, ~given, lane >> 5) + 7 * (lane > 40)
    odd = np.where(lane > 40, given + 1, lane >> 5)
    assert out == np.where(lane % 2 == 0, even, odd).astype("u4").tobytes()
    check_equal(LOOPS, (2,), (threads,), np.zeros(threads, "u4"))
    check_equal(SHUFFLES, (2,), (threads,), np.zeros(threads, "u4"))


def test_indices_are_not_kept_while_warps_wait() -> None:
    before, after = code_of(WAITS), with_recomputed_values(code_of(WAITS))
    wait = next(block for block in before.blocks if "%r4" in names(before, block.live_in))
    assert names(before, wait.live_in) >= {"%r2", "%r4", "%p1", "%a2"}
    indices = {"%r0", "%r1", "%r2", "%p0", "%p1", "%a2"}
    assert all(not names(after, block.live_in) & indices for block in after.blocks)
    assert "%r4" in names(after, after.blocks[wait.index].live_in)


def test_loops_and_unwritten_registers_are_kept() -> None:
    after = with_recomputed_values(code_of(LOOPS))
    kept = set().union(*(names(after, block.live_in) for block in after.blocks))
    assert kept >= {"%r1", "%r5"}


def test_values_of_different_branches_share_a_slot() -> None:
    before, after = code_of(WAITS), with_shared_slots(code_of(WAITS))
    lives = [set().union(*(names(f, b.live_in) for b in f.blocks)) for f in (before, after)]
    assert lives[0] - lives[1] == {"%r5"}
    assert lives[1] <= lives[0]


def test_constants_in_registers_are_in_the_code() -> None:
    program = compile_module(parse(SHUFFLES))
    text = KernelModule(program.code["shuffles"], program).text.text()
    assert "@permute" not in text
