"""Asynchronous instructions of sm_100 on both engines: four rows, byte masks, canceled launches."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from cudarun.emulator.decode.module import compile_module
from cudarun.emulator.engines import COMPILE, INTERPRET
from cudarun.emulator.machine.schedules.schedule import Schedule
from cudarun.emulator.machine.tensor_maps.tensor_map import PACKED, PADDED_4, PADDED_6, TensorMap
from cudarun.ptx.errors import PtxError
from cudarun.ptx.parser import parse
from tests.emulator.compiled.engines import launched

HEADER = ".version 9.0\n.target sm_100a\n.address_size 64\n"
Array = npt.NDArray[Any]


@pytest.fixture(params=[INTERPRET, COMPILE])
def engine(request: pytest.FixtureRequest) -> str:
    if request.param == COMPILE:
        pytest.importorskip("llvmlite", reason="the extra cudarun[fast] is not installed")
    return str(request.param)


def run(text: str, engine: str, grid: int, block: int, *given: Any, **options: Any) -> list[Array]:
    text = text if text.startswith(".version") else HEADER + text
    buffers, fault, _ = launched(text, engine, (grid,), (block,), *given, **options)
    assert not fault
    arrays = (each for each in given if isinstance(each, np.ndarray))
    return [np.frombuffer(b, each.dtype) for b, each in zip(buffers, arrays, strict=True)]


ROWS = """.visible .entry rows(.param .u64 maps, .param .u64 from, .param .u64 to, .param .u64 out,
                      .param .u32 c, .param .u32 p, .param .u32 q, .param .u32 r, .param .u32 s) {
    .shared .align 128 .b8 tile[128]; .shared .align 8 .b64 object;
    .reg .b64 %m<3>, %a, %o; .reg .b32 %t, %c, %r<4>, %v; .reg .pred %first, %q;
    ld.param.u64 %m0, [maps]; ld.param.u64 %o, [out]; mov.u32 %t, %tid.x;
    ld.param.u32 %c, [c]; ld.param.u32 %r0, [p]; ld.param.u32 %r1, [q]; ld.param.u32 %r2, [r];
    ld.param.u32 %r3, [s]; setp.eq.u32 %first, %t, 0; add.u64 %m1, %m0, 128;
    ld.param.u64 %a, [from]; @%first st.global.u64 [%m0], %a;
    ld.param.u64 %a, [to]; @%first st.global.u64 [%m1], %a;
    @%first mbarrier.init.shared.b64 [object], 1;
    @%first mbarrier.arrive.expect_tx.shared.b64 _, [object], 128;
    @%first cp.async.bulk.tensor.2d.shared::cta.global.tile::gather4.mbarrier::complete_tx::bytes
        [tile], [%m0, {%c, %r0, %r1, %r2, %r3}], [object];
WAIT:
    mbarrier.try_wait.parity.shared.b64 %q, [object], 0; @!%q bra WAIT;
    mov.u32 %v, tile; mad.lo.u32 %v, %t, 4, %v; ld.shared.u32 %v, [%v];
    mad.wide.u32 %o, %t, 4, %o; st.global.u32 [%o], %v;
    @%first cp.async.bulk.tensor.2d.global.shared::cta.tile::scatter4.bulk_group
        [%m1, {%c, %r3, %r2, %r1, %r0}], [tile];
    @%first cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.tile::scatter4.bulk_group
        [%m1, {%c, %r3, %r2, %r1, %r0}], [tile];
    @%first cp.async.bulk.commit_group; @%first cp.async.bulk.wait_group 0;
}"""


@pytest.mark.parametrize("swizzle", [0, 1])
def test_four_rows(engine: str, swizzle: int) -> None:
    """Rows that are not in the tensor are zeros, and are not written."""
    tensor = TensorMap(2, 0, (32, 20), (128,), (1, 1), (8, 1), swizzle=swizzle)
    maps = np.frombuffer(2 * tensor.encode(), np.uint8).copy()
    source = np.arange(640, dtype="u4") + 1
    rows = (7, 19, 20, 2)
    _, _, to, out = run(ROWS, engine, 1, 32, maps, source, np.zeros(640, "u4"),
                        np.zeros(32, "u4"), 16, *rows)  # fmt: skip
    expected = np.zeros((4, 8), "u4")
    for place, row in enumerate(rows):
        if row < 20:
            expected[place] = source.reshape(20, 32)[row, 16:24]
    chunks = out.reshape(4, 2, 4)
    if swizzle:  # of 32 bytes: the chunks of every second line of 128 bytes change places
        assert np.array_equal(chunks.reshape(4, 8), expected)
    else:
        assert np.array_equal(out.reshape(4, 8), expected)
    written = np.zeros((20, 32), "u4")
    for place, row in enumerate(reversed(rows)):
        if row < 20:
            written[row, 16:24] = 2 * expected[place]
    assert np.array_equal(to.reshape(20, 32), written)


def test_masked_copies_and_zeros(engine: str) -> None:
    text = """.visible .entry masked(.param .u64 out, .param .u32 mask) {
        .shared .align 16 .b8 tile[512]; .reg .b64 %o, %n; .reg .b32 %t, %v, %m; .reg .b16 %h;
        .reg .pred %first; ld.param.u64 %o, [out]; ld.param.u32 %m, [mask]; cvt.u16.u32 %h, %m;
        mov.u32 %t, %tid.x; setp.eq.u32 %first, %t, 0; mov.u32 %v, tile;
        mad.lo.u32 %v, %t, 16, %v; st.shared.v4.u32 [%v], {-1, -1, -1, -1}; bar.sync 0;
        mov.u64 %n, 64; @%first st.bulk.weak.shared::cta [tile+32], %n, 0; bar.sync 0;
        @%first cp.async.bulk.global.shared::cta.bulk_group.cp_mask [%o], [tile], 512, %h;
        @%first cp.async.bulk.commit_group; @%first cp.async.bulk.wait_group 0;
    }"""
    mask = 0b1000000000010110
    (out,) = run(text, engine, 1, 32, np.full(512, 7, "u1"), mask)
    tile = np.full(512, 255, "u1")
    tile[32:96] = 0
    chosen = np.resize([mask >> place & 1 for place in range(16)], 512)
    assert np.array_equal(out, np.where(chosen, tile, 7))


@pytest.mark.parametrize("schedule", [None, Schedule(None)])
def test_the_mask_of_each_lane(schedule: Schedule | None) -> None:
    text = """.visible .entry masked(.param .u64 out) {
        .shared .align 16 .b8 tile[64]; .reg .b64 %o, %w; .reg .b32 %t, %v; .reg .b16 %h;
        ld.param.u64 %o, [out]; mov.u32 %t, %tid.x; mov.u32 %v, tile; mad.lo.u32 %v, %t, 16, %v;
        st.shared.v4.b32 [%v], {-1, -1, -1, -1}; fence.proxy.async.shared::cta;
        mad.wide.u32 %o, %t, 16, %o; cvt.u16.u32 %h, %t;
        cp.async.bulk.global.shared::cta.bulk_group.cp_mask [%o], [%v], 16, %h;
        cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;
    }"""
    (out,) = run(text, INTERPRET, 1, 4, np.zeros((4, 16), "u1"), schedule=schedule)
    masks = [[lane >> place & 1 for place in range(16)] for lane in range(4)]
    assert np.array_equal(out.reshape(4, 16), np.where(masks, 255, 0))


def test_zeros_at_a_generic_address(engine: str) -> None:
    text = """.visible .entry zeros(.param .u64 out) {
        .shared .align 16 .b8 tile[32]; .reg .b64 %o, %g; .reg .b32 %v<4>;
        ld.param.u64 %o, [out]; st.shared.v4.b32 [tile+16], {-1, -1, -1, -1};
        mov.u64 %g, tile; cvta.shared.u64 %g, %g; st.bulk [%g+16], 8, 0;
        ld.shared.v4.b32 {%v0, %v1, %v2, %v3}, [tile+16];
        st.global.v4.b32 [%o], {%v0, %v1, %v2, %v3}; }"""
    (out,) = run(text, engine, 1, 1, np.zeros(4, "u4"))
    assert out.tolist() == [0, 0, 2**32 - 1, 2**32 - 1]


CANCELING = """.visible .entry tiles(.param .u64 done, .param .u64 by) {
    .shared .align 16 .b8 answer[16]; .shared .align 8 .b64 object;
    .reg .b64 %d, %b, %p; .reg .b32 %t, %own, %tile, %phase, %x, %y, %z, %r;
    .reg .b128 %answer; .reg .pred %first, %q, %go;
    ld.param.u64 %d, [done]; ld.param.u64 %b, [by]; mov.u32 %t, %tid.x; setp.eq.u32 %first, %t, 0;
    mov.u32 %own, %ctaid.x; mov.u32 %tile, %own; mov.u32 %phase, 0; mov.u32 %r, %cluster_ctarank;
    setp.eq.and.u32 %go, %r, 0, %first;
    @%first mbarrier.init.shared.b64 [object], 1;
    CLUSTER
NEXT:
    @%first mbarrier.arrive.expect_tx.shared.b64 _, [object], 16;
    CLUSTER
    @%go clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytesMANY.b128
        [answer], [object];
    mad.wide.u32 %p, %tile, 4, %d; @%first red.async.relaxed.gpu.global.add.u32 [%p], 1;
    mad.wide.u32 %p, %tile, 4, %b; @%first st.async.release.gpu.global.u32 [%p], %own;
WAIT:
    mbarrier.try_wait.parity.shared.b64 %q, [object], %phase; @!%q bra WAIT;
    xor.b32 %phase, %phase, 1;
    ld.shared.b128 %answer, [answer];
    CLUSTER
    clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 %q, %answer;
    clusterlaunchcontrol.query_cancel.get_first_ctaid.v4.b32.b128 {%tile, %y, %z, _}, %answer;
    clusterlaunchcontrol.query_cancel.get_first_ctaid::x.b32.b128 %x, %answer;
    add.u32 %tile, %x, %r;
    @%q bra NEXT;
}"""


@pytest.mark.parametrize("cluster", [1, 2])
def test_canceled_launches(engine: str, cluster: int) -> None:
    """Each tile is done once; clusters that have begun do the work of others."""
    barrier = "barrier.cluster.arrive; barrier.cluster.wait;" if cluster > 1 else "bar.sync 0;"
    text = CANCELING.replace("CLUSTER", barrier)
    text = text.replace("MANY", ".multicast::cluster::all" if cluster > 1 else "")
    options = {"cluster": (cluster, 1, 1)} if cluster > 1 else {}
    done, by = run(text, engine, 12, 32, np.zeros(12, "u4"), np.full(12, 99, "u4"), **options)
    assert done.tolist() == [1] * 12
    assert by[:cluster].tolist() == list(range(cluster))
    assert len(set(by.tolist())) < 12
    assert (by % cluster == np.arange(12) % cluster).all()


@pytest.mark.parametrize("column", [0, 32])
def test_packed_elements(engine: str, column: int) -> None:
    """Coordinates of a tensor of packed elements of 4 bits count elements."""
    tensor = TensorMap(PACKED, 0, (64, 20), (32,), (1, 1), (64, 1))
    maps = np.frombuffer(2 * tensor.encode(), np.uint8).copy()
    source = np.arange(160, dtype="u4") + 1
    _, _, to, out = run(ROWS, engine, 1, 32, maps, source, np.zeros(160, "u4"),
                        np.zeros(32, "u4"), column, 3, 0, 11, 19)  # fmt: skip
    rows = source.reshape(20, 8)[[3, 0, 11, 19]]
    first = column // 8
    expected = np.zeros((4, 8), "u4")
    expected[:, : 8 - first] = rows[:, first:]
    assert np.array_equal(out.reshape(4, 8), expected)
    assert np.count_nonzero(to) == 4 * (8 - first)


PADDED = """.visible .entry padded(.param .u64 maps, .param .u64 from, .param .u64 to,
                      .param .u64 out, .param .u32 c, .param .u32 r) {
    .shared .align 128 .b8 tile[512]; .shared .align 8 .b64 object;
    .reg .b64 %m<3>, %a, %o; .reg .b32 %t, %c, %r, %v; .reg .pred %first, %q;
    ld.param.u64 %m0, [maps]; ld.param.u64 %o, [out]; mov.u32 %t, %tid.x;
    ld.param.u32 %c, [c]; ld.param.u32 %r, [r];
    setp.eq.u32 %first, %t, 0; add.u64 %m1, %m0, 128;
    ld.param.u64 %a, [from]; @%first st.global.u64 [%m0], %a;
    ld.param.u64 %a, [to]; @%first st.global.u64 [%m1], %a;
    fence.proxy.tensormap::generic.acquire.gpu [%m0], 128;
    @%first mbarrier.init.shared.b64 [object], 1;
    bar.sync 0;
    @%first mbarrier.arrive.expect_tx.shared.b64 _, [object], 512;
    @%first cp.async.bulk.tensor.2d.shared::cta.global.tile.mbarrier::complete_tx::bytes
        [tile], [%m0, {%c, %r}], [object];
wait: mbarrier.try_wait.parity.shared.b64 %q, [object], 0; @!%q bra wait;
    mad.wide.u32 %a, %t, 4, %o; mov.u32 %v, tile; mad.lo.u32 %v, %t, 4, %v;
    ld.shared.u32 %r, [%v]; st.global.u32 [%a], %r;
    and.b32 %r, %r, 0x3f3f3f3f; st.shared.u32 [%v], %r;
    fence.proxy.async.shared::cta; bar.sync 0;
    ld.param.u32 %r, [r];
    @!%first ret;
    STORE
    ret;
}
"""
STORE = """cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%m1, {%c, %r}], [tile];
    cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;"""


@pytest.mark.parametrize("row", [1, 4])
@pytest.mark.parametrize("kind", [PADDED_4, PADDED_6])
def test_packed_elements_with_gaps(engine: str, kind: int, row: int) -> None:
    """Groups of 16 elements have 8 or 12 bytes in global memory, and 16 in shared memory.

    The copy completes the bytes without gaps.
    """
    length = 8 if kind == PADDED_4 else 12
    width = 16 * length  # bytes of a row of 256 elements
    tensor = TensorMap(kind, 0, (256, 6), (width,), (1, 1), (128, 4))
    maps = np.frombuffer(2 * tensor.encode(), np.uint8).copy()
    source = np.random.default_rng(kind).integers(0, 256, 6 * width, np.uint8)
    stores = STORE if kind == PADDED_6 else ""
    text = PADDED.replace("STORE", stores).replace(", 512;", f", {32 * length};")
    to, out = np.zeros_like(source), np.zeros(512, np.uint8)
    _, _, to, out = run(text, engine, 1, 128, maps, source, to, out, 128, row)
    expected = np.zeros((4, 8, 16), np.uint8)
    rows = source.reshape(6, 16, length)[row : row + 4, 8:]
    expected[: len(rows), :, :length] = rows
    assert np.array_equal(out.reshape(4, 8, 16), expected)
    if kind == PADDED_6:  # a store takes elements of 8 bits, and packs 6 of each
        bits = np.unpackbits(expected.reshape(4, 128), axis=1, bitorder="little")
        packed = np.packbits(
            bits.reshape(4, 128, 8)[:, :, :6].reshape(4, -1), axis=1, bitorder="little"
        )
        assert np.array_equal(to.reshape(6, 192)[row : row + 4, 96:], packed[: len(rows)])
        assert np.count_nonzero(to) == np.count_nonzero(packed[: len(rows)])


def test_packed_elements_with_gaps_are_not_stored(engine: str) -> None:
    tensor = TensorMap(PADDED_4, 0, (256, 6), (128,), (1, 1), (128, 4))
    maps = np.frombuffer(2 * tensor.encode(), np.uint8).copy()
    arrays = (np.zeros(768, np.uint8), np.zeros(768, np.uint8), np.zeros(512, np.uint8))
    text = HEADER + PADDED.replace("STORE", STORE).replace(", 512;", ", 256;")
    _, fault, _ = launched(text, engine, (1,), (128,), maps, *arrays, 128, 1)
    assert "only be loaded" in str(fault)


@pytest.mark.parametrize("atomicity", [0, 1, 2, 3])
def test_atoms_of_the_swizzle_of_128_bytes(engine: str, atomicity: int) -> None:
    """In line n, chunks of 16, 32 or 64 bytes change places by the lowest bits of n."""
    tensor = TensorMap(2, 0, (32, 8), (128,), (1, 1), (32, 4), swizzle=3, atomicity=atomicity)
    maps = np.frombuffer(2 * tensor.encode(), np.uint8).copy()
    source = np.arange(256, dtype="u4")
    text = PADDED.replace("STORE", STORE).replace("and.b32 %r, %r, 0x3f3f3f3f;", "")
    _, _, to, out = run(text, engine, 1, 128, maps, source, np.zeros_like(source),
                        np.zeros(128, "u4"), 0, 4)  # fmt: skip
    atoms = (8, 4, 4, 2)[atomicity]
    lines = source.reshape(8, atoms, -1)[4:]
    expected = np.array([[line[atom ^ (n % atoms)] for atom in range(atoms)]
                         for n, line in enumerate(lines)])  # fmt: skip
    if atomicity == 2:
        expected = expected.reshape(4, 8, 2, 2)
        expected[1::2] = expected[1::2, :, ::-1]
    assert np.array_equal(out, expected.ravel())
    assert np.array_equal(to[128:], source[128:])  # a store goes the way back


def test_the_swizzle_of_96_bytes(engine: str) -> None:
    """The rows of a box follow each other; every second line of 128 bytes has its chunks exchanged.

    As in the manual's table, of which no kernel of others and no measurement is known.
    """
    tensor = TensorMap(2, 0, (24, 8), (96,), (1, 1), (24, 4), swizzle=4)
    maps = np.frombuffer(2 * tensor.encode(), np.uint8).copy()
    source = np.arange(192, dtype="u4")
    text = PADDED.replace("STORE", STORE).replace(", 512;", ", 384;")
    text = text.replace("and.b32 %r, %r, 0x3f3f3f3f;", "")
    _, _, to, out = run(text, engine, 1, 128, maps, source, np.zeros_like(source),
                        np.zeros(128, "u4"), 0, 4)  # fmt: skip
    lines = source[96:].reshape(3, 4, 2, 4)
    lines[1] = lines[1, :, ::-1].copy()
    assert np.array_equal(out[:96], lines.ravel())
    assert np.array_equal(to[96:], np.arange(96, 192))


@pytest.mark.parametrize(("target", "found"), [("103a", True), ("103f", False), ("100a", False)])
def test_the_targets_of_the_swizzle_of_96_bytes(target: str, found: bool) -> None:
    """As of ptxas 13.0 and 13.5."""
    replaced = "tensormap.replace.tile.swizzle_mode.global.b1024.b32 [%m], 4; ret;"
    text = f".entry k() {{ .reg .b64 %m; {replaced} }}"
    with nullcontext() if found else pytest.raises(PtxError, match="expected to be 0 to 3"):
        compile_module(parse(HEADER.replace("100a", target) + text))


@pytest.mark.parametrize("swizzle", [0, 1, 2])
def test_atoms_are_of_the_swizzle_of_128_bytes_only(engine: str, swizzle: int) -> None:
    """``tensormap.replace`` can leave them with another swizzle."""
    tensor = TensorMap(2, 0, (32, 8), (128,), (1, 1), (8, 4), swizzle=swizzle, atomicity=3)
    maps = np.frombuffer(2 * tensor.encode(), np.uint8).copy()
    text, zeros = HEADER + PADDED.replace("STORE", ""), np.zeros(256, "u4")
    _, fault, _ = launched(text, engine, (1,), (128,), maps, zeros, zeros, zeros, 0, 0)
    assert "invalid tensor map" in str(fault)


@pytest.mark.parametrize(
    ("field", "number"), [("elemtype", 13), ("elemtype", 14), ("elemtype", 15),
                          *(("swizzle_mode", number) for number in range(5)),
                          *(("swizzle_atomicity", number) for number in range(4))],
)  # fmt: skip
def test_replaced_fields(engine: str, field: str, number: int) -> None:
    """The copy is that of a map that the driver encodes with the same value."""
    width = {13: 128, 14: 128, 15: 192}.get(number, 128)
    if field == "elemtype":
        before = TensorMap(0, 0, (256, 6), (width,), (1, 1), (128, 4))
        after = replace(before, type=number)
    elif field == "swizzle_mode":
        before = TensorMap(2, 0, (32, 8), (width,), (1, 1), (8, 4), swizzle=2)
        after = replace(before, swizzle=number)
    else:
        before = TensorMap(2, 0, (32, 8), (width,), (1, 1), (32, 4), swizzle=3, atomicity=3)
        after = replace(before, atomicity=number)
    source = np.random.default_rng(number).integers(0, 256, 8 * width, np.uint8)
    change = f"@%first tensormap.replace.tile.{field}.global.b1024.b32 [%m0], {number};"
    size = {13: 256, 14: 256, 15: 384}.get(number, 512)  # bytes, without gaps
    size = 128 if field == "swizzle_mode" else size
    header = HEADER.replace("100a", "103a") if number == 4 else HEADER
    text = header + PADDED.replace("STORE", "").replace(", 512;", f", {size};")
    found = []
    for tensor, added in ((before, change), (after, "")):
        maps = np.frombuffer(2 * tensor.encode(), np.uint8).copy()
        changed = text.replace("fence.proxy.tensormap", f"{added} fence.proxy.tensormap")
        given = maps, source, np.zeros(1, "u4"), np.zeros(512, np.uint8), 0, 1
        found.append(run(changed, engine, 1, 128, *given)[3])
    assert np.array_equal(*found)
    assert found[0].any()
