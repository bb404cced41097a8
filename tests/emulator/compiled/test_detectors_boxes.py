"""Detectors of copies of boxes of tensors: compiled code has the findings of the interpreter."""

from __future__ import annotations

import pytest

from cudarun.emulator.engines import COMPILE, INTERPRET
from cudarun.emulator.machine.tensor_maps.tensor_map import TensorMap
from tests.emulator.compiled.test_detectors import check_equal


def _tensor(rows: int) -> str:
    """A variable with a tensor, and the map for its boxes of some rows of 32 bytes."""
    encoded = TensorMap(2, 0x7F00_0000_0400, (8, 16), (32,), (1, 1), (8, rows)).encode()
    return f".global .align 128 .b8 other[4096] = {{{', '.join(map(str, encoded))}}};\n"


HEAD, ONE_ROW = _tensor(8), _tensor(1)
BARRIER = "bar.sync 0;\n"
FENCE = "fence.proxy.async.shared::cta;\n"
BEGIN = "mov.u64 %w1, other; mov.u32 %v6, 0; mov.u32 %v7, 8;\n"
INIT = BEGIN + "@%p0 mbarrier.init.shared.b64 [part+4096], 1;\n" + BARRIER
BYTES = "@%p0 mbarrier.arrive.expect_tx.shared.b64 _, [part+4096], 256;\n"
LOAD = (
    "@%p0 cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes"
    " [part], [%w1, {%v6, %v6}], [part+4096];\n"
)
WAIT = """
AGAIN: mbarrier.try_wait.parity.shared.b64 %p3, [part+4096], 0;
@!%p3 bra AGAIN;
"""
TEST = "mbarrier.test_wait.parity.shared.b64 %p3, [part+4096], 0;\n"
LATER = WAIT.replace("AGAIN", "LATER").replace("], 0;", "], 1;")
WRITE = "@%p0 st.global.u32 [%w1+1024], 7;\n"
USE = "ld.shared.u32 %v1, [%o];\n"
FILL = "st.shared.u32 [%s], %t;\n"
STORE = "@%p0 cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%w1, {%v6, %v6}], [part];\n"
GROUP, READ = "cp.async.bulk.commit_group;\n", "cp.async.bulk.wait_group.read 0;\n"

INIT_BOTH = INIT + INIT.replace("4096", "4104").removeprefix(BEGIN)
SECOND = (BYTES + LOAD.replace("[part]", "[part+512]")).replace("4096", "4104")
WAIT_SECOND = WAIT.replace("AGAIN", "SECOND").replace("4096", "4104")

SILENT = {
    "loaded": INIT + BYTES + LOAD + WAIT + USE,
    "a fence of objects": (
        INIT.replace("bar.", "fence.mbarrier_init.release.cluster; bar.", 1) + BYTES + LOAD + WAIT),
    "two objects": INIT_BOTH + BYTES + LOAD + SECOND + WAIT + WAIT_SECOND + USE,
    "one warp": INIT + BYTES + LOAD + "@!%p2 bra END;" + WAIT + USE + "END:",
    "loaded again": INIT + BYTES + LOAD + WAIT + USE + BARRIER + BYTES + LOAD + LATER + USE,
    "a thread waits": INIT + BYTES + LOAD + "@!%p0 bra NEXT;" + WAIT + "NEXT:" + BARRIER + USE,
    "a warp waits": INIT + BYTES + LOAD + "@%p2 bra NEXT;" + WAIT + "NEXT:" + BARRIER + USE,
    "stored": BEGIN + FILL + FENCE + BARRIER + STORE + GROUP + READ + BARRIER + FILL,
    "loaded and stored": INIT + BYTES + LOAD + WAIT + BARRIER + STORE.replace("%v6}", "%v7}"),
}  # fmt: skip
WRONG = {
    "no wait": INIT + BYTES + LOAD + USE,
    "a barrier and no wait": INIT + BYTES + LOAD + BARRIER + USE,
    "the other phase": (
        INIT + BYTES + LOAD + "mbarrier.test_wait.parity.shared.b64 %p3, [part+4096], 1;\n" + USE),
    "one warp does not wait": INIT + BYTES + LOAD + "@!%p2 bra NEXT;" + WAIT + "NEXT:" + USE,
    "the other warp does not wait": INIT + BYTES + LOAD + "@%p2 bra NEXT;" + WAIT + "NEXT:" + USE,
    "a warp waits too late": (
        INIT + BYTES + LOAD + "@%p2 bra NEXT;" + USE + "NEXT:" + WAIT + USE),
    "a warp waits for one of two objects": (
        INIT_BOTH + BYTES + LOAD + SECOND + "@!%p2 bra NEXT;" + WAIT + "NEXT:" + WAIT_SECOND + USE),
    "some threads wait": INIT + BYTES + LOAD + "@!%p0 bra NEXT;" + WAIT + "NEXT:" + USE,
    "loaded again without a wait": INIT + BYTES + LOAD + WAIT + USE + BARRIER + BYTES + LOAD + USE,
    "loaded again without a barrier": INIT + BYTES + LOAD + WAIT + USE + BYTES + LOAD + LATER,
    "a tile that others read": INIT + FILL + BARRIER + USE + BYTES + LOAD + WAIT,
    "no barrier before it": BEGIN + FILL + FENCE + STORE,
    "no fence": BEGIN + FILL + BARRIER + STORE,
    "a fence before the write": BEGIN + FENCE + FILL + BARRIER + STORE,
    "a fence of some threads": BEGIN + FILL + "@%p0 " + FENCE + BARRIER + STORE,
    "a fence of one warp": BEGIN + FILL + "@%p2 " + FENCE + BARRIER + STORE,
    "no wait for the read": BEGIN + FILL + FENCE + BARRIER + STORE + GROUP + BARRIER + FILL,
    "no group": BEGIN + FILL + FENCE + BARRIER + STORE + READ + BARRIER + FILL,
    "a wait of the wrong thread": (
        BEGIN + FILL + FENCE + BARRIER + STORE + GROUP + "@!%p0 " + READ + BARRIER + FILL),
    "no barrier after the wait": BEGIN + FILL + FENCE + BARRIER + STORE + GROUP + READ + FILL,
    "the object is not ready": INIT.replace(BARRIER, "") + BYTES + LOAD + WAIT + USE,
    "a written tensor": INIT + WRITE + BARRIER + BYTES + LOAD + WAIT + USE,
    "the tensor is written": INIT + BYTES + LOAD + WAIT + USE + WRITE,
    "a written map": INIT + "@%p0 st.global.u32 [%w1+124], 0;" + BARRIER + BYTES + LOAD + WAIT,
    "unwritten memory is stored": BEGIN + FENCE + BARRIER + STORE,
    "an equal value where a thread has waited": (
        INIT + BYTES + LOAD + "@!%p0 bra NEXT;" + WAIT + "NEXT: setp.eq.u32 %p4, %t, 1;"
        "ld.global.u32 %v2, [%w1+1024]; @%p4 st.shared.u32 [part], %v2;"),
    "a test that fails without a barrier": INIT.replace(BARRIER, TEST),
    "a test of an unwritten object": TEST.replace("], 0;", "], 1;"),
    "an object that is written": INIT + BYTES + "st.shared.u32 [part+4096], %t;",
}  # fmt: skip


@pytest.mark.parametrize("name", SILENT)
def test_copies_without_findings(name: str) -> None:
    note = check_equal(SILENT[name], before=HEAD, detect="race,uninit,sync")
    assert name == "loaded and stored" or (note.engine, note.reason) == (COMPILE, "")


@pytest.mark.parametrize("name", WRONG)
def test_findings_of_copies_are_equal(name: str) -> None:
    assert check_equal(WRONG[name], before=HEAD).engine == INTERPRET


@pytest.mark.parametrize("shared", [256, 512, 1024])
@pytest.mark.parametrize("write", ["@%p4 st.shared.u32 [%s], 99;", "st.shared.u32 [%s+96], %b;"])
def test_all_of_a_tile_that_a_copy_may_read(shared: int, write: str) -> None:
    """Thread 2 writes the second half of a chunk; rows of lanes have the tile in their middle."""
    store = STORE.replace("[part]", "[part+128]") if "+96" in write else STORE
    body = BEGIN + FILL + FENCE + BARRIER + store + GROUP + BARRIER + "setp.eq.u32 %p4, %t, 2;"
    head = HEAD if store == STORE else ONE_ROW
    note = check_equal(body + write, before=head, block=32, shared=shared, detect="race")
    assert note.engine == INTERPRET


def test_more_waits_than_are_kept() -> None:
    """Warps wait for the copies of an object while those of another one are incomplete."""
    body = INIT_BOTH
    for turn in range(9):
        body += BYTES + LOAD + SECOND
        for place in (4096, 4104):
            wait = WAIT.replace("], 0;", f"], {turn % 2};").replace("4096", str(place))
            body += wait.replace("AGAIN", f"AGAIN_{turn}_{place}") + "ld.shared.u32 %v1, [part];"
    assert check_equal(body, before=HEAD, block=32, detect="race").engine == INTERPRET
