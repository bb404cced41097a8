"""Bulk copies between global and shared memory on both engines."""

from __future__ import annotations

import numpy as np
import pytest

from cudarun.emulator.engines import COMPILE
from cudarun.emulator.machine.bulk_copies import BulkCopy
from tests.emulator.compiled.engines import check_equal, check_equal_fault, device, launched

# Lanes copy rows of 64 bytes to shared memory, wait, and copy them to other rows.
KERNEL = """.version 8.6
.target sm_90
.address_size 64
.visible .entry rows(.param .u64 from, .param .u64 to, .param .u64 out) {
    .shared .align 128 .b8 data[2048]; .shared .align 8 .b64 object; .reg .b64 %a, %b, %o, %w;
    .reg .b32 %t, %at, %size, %r, %n; .reg .pred %first, %copies, %p;
    ld.param.u64 %a, [from]; ld.param.u64 %b, [to]; ld.param.u64 %o, [out]; mov.u32 %t, %tid.x;
    shl.b32 %r, %t, 6; cvt.u64.u32 %w, %r; add.u64 %a, %a, %w; add.u64 %b, %b, %w;
    mov.u32 %at, data; add.u32 %at, %at, %r; setp.eq.u32 %first, %t, 0; setp.LANES %copies, %t, 3;
    mov.u32 %size, SIZE; and.b32 %n, %size, -16;
    @%first mbarrier.init.shared.b64 [object], COUNT; bar.sync 0;
    @!%copies bra WAIT;
    mbarrier.arrive.expect_tx.shared.b64 _, [object], %n;
    cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes
        [%at+PLACE], [%a], %size, [object+AHEAD];
WAIT:
    mbarrier.try_wait.parity.shared.b64 %p, [object], 0;
    @!%p bra WAIT;
    @%copies cp.async.bulk.global.shared::cta.bulk_group [%b], [%at+PLACE], %size;
    ld.shared.u64 %w, [object]; mad.wide.u32 %o, %t, 8, %o; st.global.u64 [%o], %w; ret;
}"""


def text(**given: str) -> str:
    """The kernel."""
    parts = {"LANES": "eq.u32", "SIZE": "64", "COUNT": "1", "PLACE": "0", "AHEAD": "0"} | given
    found = KERNEL
    for name, value in parts.items():
        found = found.replace(name, value)
    return found


def arguments(rows: int = 32) -> list[np.ndarray]:
    """The arguments of a launch of 32 threads."""
    return [np.arange(16 * rows, dtype=np.uint32), np.zeros(16 * rows, "u4"), np.zeros(32, "u8")]


CASES = {
    "one lane": text(),
    "a part of a chunk": text(SIZE="24"),
    "nothing": text(SIZE="8"),
    "all lanes": text(LANES="ge.s32", COUNT="29"),
    "various sizes": text(LANES="le.u32", COUNT="4", SIZE="%r"),
    "rows that overlap": text(LANES="le.u32", COUNT="4", SIZE="128", PLACE="16"),
}


@pytest.mark.parametrize("what", CASES)
def test_copies(what: str) -> None:
    check_equal(CASES[what], (2,), (32,), *arguments())


@pytest.mark.parametrize("what", ["one lane", "all lanes", "various sizes"])
def test_compiled_code_copies(what: str, monkeypatch: pytest.MonkeyPatch) -> None:
    wanted = check_equal(CASES[what], (2,), (32,), *arguments())

    def refuse(*given: object) -> None:
        raise AssertionError("the interpreter copies")

    monkeypatch.setattr(BulkCopy, "__call__", refuse)
    found, fault, _ = launched(CASES[what], COMPILE, (2,), (32,), *arguments())
    assert (found, fault) == (wanted, "")


FAULTS = {
    "misaligned": text(PLACE="8"),
    "beyond shared memory": text(PLACE="1808", SIZE="128"),
    "a misaligned object": text(AHEAD="4"),
    "an object beyond shared memory": text(AHEAD="8"),
    "before the kernel's shared memory": text(PLACE="-208"),
    "an object before it": text(AHEAD="-2056"),
}


@pytest.mark.parametrize("what", FAULTS)
def test_faults(what: str) -> None:
    check_equal_fault(FAULTS[what], (1,), (32,), *arguments())


def test_faults_of_global_memory() -> None:
    check_equal_fault(text(SIZE="128"), (1,), (32,), *arguments(rows=4))


def test_read_and_written_bytes_are_tracked() -> None:
    made, _ = device(CASES["one lane"], COMPILE)
    origin, place, out = map(made.buffer, arguments())
    made.memory.mark_unwritten(origin, 2048)
    made.memory.mark_unwritten(place, 2048)
    made.launch("rows", (1,), (32,), origin, place, out)
    left = made.memory.unwritten_at(place, 2048)
    assert np.flatnonzero(left == 0).tolist() == list(range(192, 256))
    assert np.unique(made.memory.unwritten_at(origin, 2048)).tolist() == [1, 3]
