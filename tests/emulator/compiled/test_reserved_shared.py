"""Memory of a block before anything writes it, and the KiB that the system reserves there."""

from __future__ import annotations

import re
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from cudarun.emulator.detectors.detector_observer import DetectorObserver
from cudarun.emulator.engines import AUTO, COMPILE, INTERPRET, Engines
from cudarun.emulator.execution import execute
from tests.emulator.compiled.engines import check_equal, check_equal_fault
from tests.emulator.device import Device

TILES = Path(__file__).parents[1] / "nvcc" / "tiles.ptx"


def tiles(mode: str, observer: DetectorObserver | None = None) -> Device:
    options = {} if observer is None else {"observer": observer}
    return Device.from_file(TILES, execute=partial(execute, engines=Engines(mode)), **options)


@pytest.mark.parametrize("mode", [INTERPRET, COMPILE])
def test_tiles_of_several_warps(mode: str) -> None:
    made = tiles(mode)
    values = np.arange(512, dtype="i4") ** 2 % 1009
    given, out = made.buffer(values), made.buffer(np.zeros(512, "i4"))
    made.launch("sums", (2,), (256,), given, out)
    expected = values.reshape(-1, 64).sum(axis=1).repeat(64) + np.arange(512) % 256 % 13 * 1000
    np.testing.assert_array_equal(made.read(out, "i4", 512), expected)
    made.launch("around", (2,), (256,), out, dynamic_shared=1024)
    thread = np.arange(256)
    expected = np.tile(thread // 128 * 128 + (thread + 3 * 33) % 128, 2)
    np.testing.assert_array_equal(made.read(out, "i4", 512), expected)


@pytest.mark.parametrize("mode", [INTERPRET, AUTO])
def test_detectors_find_nothing_in_tiles(mode: str) -> None:
    observer = DetectorObserver(("race", "uninit"))
    made = tiles(mode, observer)
    given, out = made.buffer(np.arange(512, dtype="i4")), made.buffer(np.zeros(512, "i4"))
    made.launch("sums", (2,), (256,), given, out)
    made.launch("around", (2,), (256,), out, dynamic_shared=1024)
    assert observer.findings == []


# The last words: the addresses of variables, `BODY`, and what is at the start of both variables.
KERNEL = """.extern .shared .align 4 .b8 more[];
.visible .entry reserved(.param .u64 out) {
    .shared .align 4 .b32 own[8]; .reg .b32 %r<12>; .reg .b64 %o, %g; .reg .pred %p;
    ld.param.u64 %o, [out]; mov.u32 %r0, %tid.x; mad.wide.u32 %o, %r0, 16, %o;
    mov.u32 %r1, own; mov.u32 %r2, more; mov.u32 %r3, 0; mov.u32 %r4, 0;
    st.shared.u32 [%r1], 7; st.shared.u32 [%r2], 9;
    BODY
    ld.shared.u32 %r5, [%r1]; ld.shared.u32 %r6, [%r2]; mad.lo.u32 %r5, %r5, 10, %r6;
    st.global.v4.u32 [%o], {%r1, %r2, %r3, %r5}; ret;
}"""
RESERVED = """
    mov.u32 %r4, %reserved_smem_offset_1; ld.shared.u32 %r5, [%r4+64]; setp.ne.u32 %p, %r5, 0;
    @%p trap; bar.sync 0; cvt.u64.u32 %g, %r4; cvta.shared.u64 %g, %g;
    atom.add.u32 %r5, [%g+64], %r0; bar.sync 0; ld.shared.u32 %r3, [%r4+64];"""


def test_the_layout() -> None:
    """As an H100 has it; the memory that the system reserves is zero when a block begins."""
    text = KERNEL.replace("BODY", RESERVED)
    (found,) = check_equal(text, (3,), (64,), np.zeros((64, 4), "u4"), dynamic_shared=64)
    rows = np.frombuffer(found, "u4").reshape(64, 4)
    assert np.unique(rows, axis=0).tolist() == [[1024, 1056, 64 * 63 // 2, 79]]


UNDEFINED = """.visible .entry undefined(.param .u64 out) {
    .shared .align 4 .b32 own[8]; .local .align 4 .b32 mine[4];
    .reg .b32 %r<12>; .reg .b64 %o, %g; .reg .b16 %h;
    ld.param.u64 %o, [out]; mov.u32 %r0, %tid.x; mad.wide.u32 %o, %r0, 16, %o;
    and.b32 %r1, %r0, 7; mov.u32 %r2, own; mad.lo.u32 %r2, %r1, 4, %r2;
    ld.shared.u32 %r3, [%r2]; ld.local.u32 %r4, [mine+8]; ld.shared.u16 %h, [own+2];
    cvt.u32.u16 %r5, %h; bar.sync 0; st.shared.u32 [%r2], 5; st.local.u32 [mine+8], 6;
    ld.shared.u32 %r6, [%r2];
    st.global.v4.u32 [%o], {%r3, %r4, %r5, %r6}; ret;
}"""


def test_undefined_memory_is_nan_in_every_block() -> None:
    """Whatever the blocks before it wrote; zeros would hide a forgotten initialization."""
    for grid in (1,), (700,):
        (found,) = check_equal(UNDEFINED, grid, (64,), np.zeros((64, 4), "u4"))
        rows = np.frombuffer(found, "u4").reshape(64, 4)
        assert np.unique(rows, axis=0).tolist() == [[2**32 - 1, 2**32 - 1, 2**16 - 1, 5]]
        assert np.isnan(rows[:, :2].copy().view("f4")).all()


def test_no_detector_takes_reserved_memory_for_unwritten() -> None:
    body = "mov.u32 %r4, %reserved_smem_offset_0; ld.shared.u32 %r3, [%r4+1020]; WRONG"
    for wrong, count in (("", 0), ("ld.shared.u32 %r3, [%r1+4];", 1)):
        for mode in (INTERPRET, COMPILE):
            observer = DetectorObserver(("uninit",))
            engines = Engines(mode)
            made = Device(
                KERNEL.replace("BODY", body.replace("WRONG", wrong)),
                observer=observer,
                execute=partial(execute, engines=engines),
            )
            out = made.buffer(np.zeros(128, "u4"))
            made.launch("reserved", (2,), (32,), out, dynamic_shared=64)
            assert [each.memory.address for each in observer.findings] == [1028] * count


BEFORE = {
    "an index of -1": "ld.shared.u32 %r3, [%r1+-4];",
    "a null pointer": "ld.shared.u32 %r3, [%r4];",
    "a generic address": "cvt.u64.u32 %g, %r1; cvta.shared.u64 %g, %g; st.u32 [%g+-8], %r3;",
    "an atomic operation": "atom.shared.add.u32 %r3, [%r1+-1024], 1;",
}


@pytest.mark.parametrize("what", BEFORE)
def test_kernels_that_do_not_ask_for_it_have_no_access(what: str) -> None:
    text = KERNEL.replace("BODY", BEFORE[what])
    fault = check_equal_fault(text, (1,), (32,), np.zeros(128, "u4"), dynamic_shared=64)
    assert re.search(
        "before the (32 bytes of shared variable own|96 bytes of shared memory)", fault
    )
