"""Allocation of tensor memory, and what moves to it and from it."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from cudarun.emulator.detectors.detector_observer import DetectorObserver
from cudarun.emulator.faults import DeviceFault
from cudarun.emulator.machine.observer import NO_OBSERVER
from cudarun.emulator.machine.schedules.schedule import Schedule
from tests.emulator.device import Device
from tests.emulator.tensor_kernels import COLUMNS, HEADER, ROOM, chunk_places, execute, registers

Array = npt.NDArray[Any]

# --- fragments, as CUTLASS's layouts have them ---------------------------------------------------

# By shape: (thread, register) -> bits, then rows and columns of a matrix of 16 or 32 rows.
REGISTERS = {"32x32b": 1, "16x64b": 1, "16x128b": 2, "16x256b": 4, "16x32bx2": 1}


def cell_of(shape: str, count: int, thread: int, register: int) -> tuple[int, int]:
    """The row and the column of a register of a thread, with so many repetitions."""
    repetition, number = divmod(register, REGISTERS[shape])
    match shape:
        case "32x32b":
            return thread, register
        case "16x32bx2":  # ((16, 2)): two accesses of 16 rows
            return thread % 16, register + 16 * (thread // 16)
        case "16x64b":  # ((2, 2, 8), (32 b, count)): ((8 rows, 1, row), (1 b, 2))
            return thread % 2 * 8 + thread // 4, thread // 2 % 2 + 2 * repetition
        case "16x128b":  # ((4, 8), (32 b, 2, count)): ((1, row), (1 b, 8 rows, 4))
            return thread // 4 + 8 * number, thread % 4 + 4 * repetition
        case _:  # ((4, 8), (64 b, 2, count)): ((2, row), (1 b, 8 rows, 8))
            return thread // 4 + 8 * (number // 2), 2 * (thread % 4) + number % 2 + 8 * repetition


def transfer(text: str, memory: Array, given: Array | None = None, **options: Any) -> Any:
    """Execute a load or a store in every warp; return tensor memory, or all registers.

    Args:
        text: The instruction, on ``{registers}`` and at ``%mine``.
        memory: By lane and column.
        given: The registers of a store, by thread.
        options: Of the launch.
    """
    count = given.shape[1] if given is not None else int(text.split("|")[0])
    text = text.split("|")[-1].replace("{registers}", registers(0, count))
    take = "\n".join(f"ld.global.b32 %r{n}, [%own+{4 * n}];" for n in range(count))
    give = "\n".join(f"st.global.b32 [%own+{4 * n}], %r{n};" for n in range(count))
    all_cells = registers(200, COLUMNS)
    body = f"""{HEADER.replace("100a", "103a")}
.visible .entry k(.param .u64 memory, .param .u64 own)
{{
    .reg .b32 %r<{200 + COLUMNS}>, %x, %t, %mine, %at;
    .reg .b64 %from, %own, %w;
    .reg .pred %p;
    .reg .b32 %red;
    .shared .b32 address;
    ld.param.u64 %from, [memory];
    ld.param.u64 %own, [own];
    mov.u32 %x, %tid.x;
    setp.lt.u32 %p, %x, 32;
    @%p tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [address], {COLUMNS};
    mul.wide.u32 %w, %x, {4 * COLUMNS};
    add.u64 %from, %from, %w;
    mul.wide.u32 %w, %x, {4 * count + 4};
    add.u64 %own, %own, %w;
    {chr(10).join(f"ld.global.b32 %r{200 + n}, [%from+{4 * n}];" for n in range(COLUMNS))}
    {take}
    bar.sync 0;
    ld.shared.b32 %t, [address];
    and.b32 %at, %x, 0x60;
    shl.b32 %at, %at, 16;
    add.u32 %mine, %t, %at;
    tcgen05.st.sync.aligned.32x32b.x{COLUMNS}.b32 [%mine], {all_cells};
    tcgen05.wait::st.sync.aligned;
    mov.u32 %red, 0;
    {text}
    tcgen05.wait::ld.sync.aligned;
    tcgen05.wait::st.sync.aligned;
    {give}
    st.global.b32 [%own+{4 * count}], %red;
    tcgen05.ld.sync.aligned.32x32b.x{COLUMNS}.b32 {all_cells}, [%mine];
    tcgen05.wait::ld.sync.aligned;
    {chr(10).join(f"st.global.b32 [%from+{4 * n}], %r{200 + n};" for n in range(COLUMNS))}
    bar.sync 0;
    @%p tcgen05.dealloc.cta_group::1.sync.aligned.b32 %t, {COLUMNS};
    ret;
}}
"""
    device = Device(body)
    cells = device.buffer(memory)
    own = np.zeros((128, count + 1), np.uint32)
    if given is not None:
        own[:, :count] = given
    buffer = device.buffer(own)
    device.launch("k", (1,), (128,), cells, buffer, **options)
    if given is not None:
        return device.read(cells, np.uint32, memory.size).reshape(memory.shape)
    return device.read(buffer, np.uint32, own.size).reshape(own.shape)


def cells(seed: int = 0) -> Array:
    return np.random.default_rng(seed).integers(0, 1 << 32, (128, COLUMNS)).astype(np.uint32)


@pytest.mark.parametrize(("shape", "count"), [
    ("32x32b", 1), ("32x32b", 64), ("16x64b", 4), ("16x128b", 2), ("16x256b", 1), ("16x256b", 8),
    ("16x32bx2", 8),
])  # fmt: skip
@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("start", ["%mine", "%t"])  # the lanes of the warp, or those of the first
def test_fragments(shape: str, count: int, packed: bool, start: str) -> None:
    if packed:
        count = max(count // 2, 1)
    total, memory = REGISTERS[shape] * count, cells()
    split = ", 16" if shape == "16x32bx2" else ""
    half = 16 if shape != "32x32b" else 0  # the upper half of the lanes of each warp
    pack, unpack = (".pack::16b", ".unpack::16b") if packed else ("", "")
    name = f"sync.aligned.{shape}.x{count}"
    at = f"[{start}+{half << 16}]"
    places = np.array([
        [cell_of(shape, count, thread, register) for register in range(total)]
        for thread in range(32)
    ])  # fmt: skip
    rows = np.concatenate([places[..., 0] + 32 * warp + half for warp in range(4)])
    columns = np.tile(places[..., 1], (4, 1))
    loaded = transfer(f"{total}|tcgen05.ld.{name}{pack}.b32 {{registers}}, {at}{split};", memory)
    given = np.random.default_rng(1).integers(0, 1 << 32, (128, total)).astype(np.uint32)
    stored = transfer(f"tcgen05.st.{name}{unpack}.b32 {at}{split}, {{registers}};", memory, given)
    if packed:
        first = np.tile(np.arange(32) // 16 * 16, 4)[:, None] if split else 0
        columns = (columns - first) * 2 + first
        low, high = (memory[rows, columns + n] & 0xFFFF for n in range(2))
        expected = low | high << 16
        memory[rows, columns], memory[rows, columns + 1] = given & 0xFFFF, given >> 16
    else:
        expected = memory[rows, columns]
        memory[rows, columns] = given
    np.testing.assert_array_equal(loaded[:, :-1], expected)
    np.testing.assert_array_equal(stored, memory)


@pytest.mark.parametrize(
    ("words", "reduce"),
    [
        ("min.f32", np.fmin.reduce), ("max.abs.f32", lambda v, axis: np.fmax.reduce(abs(v), axis)),
        ("max.NaN.f32", np.maximum.reduce), ("min.s32", np.minimum.reduce),
        ("max.u32", np.maximum.reduce),
    ],
)  # fmt: skip
def test_reductions(words: str, reduce: Any) -> None:
    numbers = np.random.default_rng(3).normal(size=(128, COLUMNS)).astype(np.float32)
    numbers[5, 3] = np.nan
    kind = {"f32": "f4", "s32": "i4", "u32": "u4"}[words[-3:]]
    memory = numbers.view(np.uint32)
    text = f"tcgen05.ld.red.sync.aligned.32x32b.x8.{words} {{registers}}, %red, [%mine];"
    found = transfer(f"8|{text}", memory)
    np.testing.assert_array_equal(found[:, :8], memory[:, :8])
    expected = reduce(memory[:, :8].view(kind), axis=1)
    np.testing.assert_array_equal(found[:, 8].view(kind), expected)


def test_a_late_load_and_a_late_store() -> None:
    """With a schedule both complete at the wait; the registers have nothing before."""
    memory, given = cells(), cells(9)[:, :4]
    loaded = transfer(
        "4|tcgen05.ld.sync.aligned.32x32b.x4.b32 {registers}, [%mine];", memory,
        schedule=Schedule(None),
    )  # fmt: skip
    np.testing.assert_array_equal(loaded[:, :4], memory[:, :4])
    stored = transfer(
        "tcgen05.st.sync.aligned.32x32b.x4.b32 [%mine], {registers};", memory, given,
        schedule=Schedule(None),
    )  # fmt: skip
    np.testing.assert_array_equal(stored[:, :4], given)


def test_lanes_of_another_warp() -> None:
    with pytest.raises(DeviceFault) as fault:
        transfer("1|xor.b32 %t, %mine, 0x200000; tcgen05.ld.sync.aligned.32x32b.x1.b32 "
                 "{registers}, [%t];", cells())  # fmt: skip
    assert "warp 0 of a warpgroup accesses tensor memory from lane 32 on" in fault.value.report


# --- copies and shifts ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("shape", "lanes", "chunks", "targets"),
    [
        ("128x256b", 128, 2, [0]), ("128x128b", 128, 1, [0]),
        ("32x128b.warpx4", 32, 1, [0, 32, 64, 96]),
        ("64x128b.warpx2::02_13", 64, 1, [0, 64]), ("64x128b.warpx2::01_23", 64, 1, None),
        ("4x256b", 4, 2, None),
    ],
)  # fmt: skip
@pytest.mark.parametrize("mode", [0, 128])
@pytest.mark.parametrize("group", [1, 2])
def test_copies(
    shape: str, lanes: int, chunks: int, targets: list[int] | None, mode: int, group: int
) -> None:
    rng = np.random.default_rng(lanes)
    memory = np.stack([cells(block) for block in range(group)])
    images = rng.integers(0, 256, (group, 2, ROOM)).astype(np.uint8)
    places, fields = chunk_places(mode, lanes, chunks, mn=False)
    body = f"""
    shr.u32 %i, %a, 4;
    cvt.u64.u32 %w, %i;
    add.u64 %v0, %v0, %w;
    tcgen05.cp.cta_group::{group}.{shape} [%t+8], %v0;
"""
    found = execute(body, images, memory, (fields,), group=group)
    for block in range(group):
        rows = images[block, 0][places[..., None] + np.arange(16)].reshape(lanes, -1)
        words = rows.view(np.uint32)
        expected = memory[block].copy()
        width = slice(8, 8 + words.shape[1])
        if shape == "4x256b":
            expected[::32, width] = words
        elif targets is None:  # warps 0 and 1 have the first half, 2 and 3 the second one
            expected[:, width] = words.reshape(2, 32, -1)[[0, 0, 1, 1]].reshape(128, -1)
        for first in targets or []:
            expected[first : first + lanes, width] = words
        np.testing.assert_array_equal(found[block], expected)


@pytest.mark.parametrize(
    ("word", "problem"),
    [
        (3 << 61 | 1 << 46, "swizzling mode 3"),
        (1 << 61 | 1 << 46, "swizzling mode 1"),
        (0, "bits 46 to 48 are not 0b001"),  # as of `wgmma`
        (1 << 60 | 1 << 46, "bits 53 to 60 are not 0"),
    ],
)
def test_copy_with_an_invalid_descriptor(word: int, problem: str) -> None:
    images = np.zeros((1, 2, ROOM), np.uint8)
    with pytest.raises(DeviceFault) as fault:
        execute("    tcgen05.cp.cta_group::1.4x256b [%t], %v0;\n", images, cells()[None], (word,))
    assert fault.value.result == 715
    assert "tcgen05.cp with " in fault.value.report
    assert problem in fault.value.report


@pytest.mark.parametrize(("source", "bits"), [("b4x16_p64", 4), ("b6x16_p32", 6)])
def test_decompression(source: str, bits: int) -> None:
    codes = np.random.default_rng(bits).integers(0, 1 << bits, (128, 16)).astype(np.uint8)
    flat = (codes[..., None] >> np.arange(bits) & 1).reshape(128, -1)
    padded = np.zeros((128, 128), np.uint8)
    padded[:, : flat.shape[1]] = flat
    image = np.zeros((1, 2, ROOM), np.uint8)
    places, fields = chunk_places(0, 128, 1, mn=False)
    image[0, 0][places + np.arange(16)] = np.packbits(padded, axis=1, bitorder="little")
    body = f"""
    shr.u32 %i, %a, 4;
    cvt.u64.u32 %w, %i;
    add.u64 %v0, %v0, %w;
    tcgen05.cp.cta_group::1.128x128b.b8x16.{source} [%t], %v0;
"""
    found = execute(body, image, cells()[None], (fields,))
    bytes_ = np.ascontiguousarray(found[0, :, :4]).view(np.uint8)
    np.testing.assert_array_equal(bytes_, codes << (2 if bits == 4 else 0))


def test_shift() -> None:
    memory = cells()[None]
    body = f"    tcgen05.shift.cta_group::1.down [%t+{32 << 16 | 4}];\n"
    found = execute(body, np.zeros((1, 2, ROOM), np.uint8), memory)
    expected = memory[0].copy()
    expected[32:63, 4:12] = memory[0, 33:64, 4:12]
    np.testing.assert_array_equal(found[0], expected)


# --- mistakes ------------------------------------------------------------------------------------

ALLOC = "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [address], {};\n"
DEALLOC = "tcgen05.dealloc.cta_group::1.sync.aligned.b32 %t, {};\n"
LOAD = "tcgen05.ld.sync.aligned.32x32b.x1.b32 {{%r}}, [%t+{}];\ntcgen05.wait::ld.sync.aligned;\n"


def warp(body: str, blocks: int = 1, **options: Any) -> Device:
    """Execute instructions in one warp of each block."""
    device = Device(f"""{HEADER}
.visible .entry k(.param .u64 out)
{{
    .reg .b32 %r, %t, %s;
    .reg .pred %p;
    .reg .b64 %out;
    .shared .b32 address;
    ld.param.u64 %out, [out];
    {body}
    ret;
}}
""", **options)  # fmt: skip
    device.launch("k", (blocks,), (32,), device.buffer(np.zeros(32, np.uint32)))
    return device


TAKE = "ld.shared.b32 %t, [address];\n"


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        (ALLOC.format(32), "exit of a block with 32 columns of tensor memory from column 0 on"),
        (ALLOC.format(512) + ALLOC.format(32), "waits for 32 columns of tensor memory"),
        (ALLOC.format(32) + TAKE + 2 * DEALLOC.format(32), "column 0 has been deallocated"),
        (ALLOC.format(64) + TAKE + DEALLOC.format(32), "64 columns are allocated there"),
        ("mov.u32 %t, 64;\n" + DEALLOC.format(32), "column 64 is not allocated"),
        ("mov.u32 %s, 48;\n" + ALLOC.format("%s"), "tcgen05.alloc with 48 columns"),
        (
            "tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;\n" + ALLOC.format(32),
            "tcgen05.alloc after tcgen05.relinquish_alloc_permit",
        ),
        (ALLOC.format(32) + TAKE + LOAD.format(32), "column 32 of tensor memory, which is not"),
        (
            ALLOC.format(32) + TAKE + DEALLOC.format(32) + LOAD.format(0),
            "load of column 0 of tensor memory, which has been deallocated",
        ),
        (ALLOC.format(512) + TAKE + LOAD.format(512), "lane 0, column 512 is outside"),
        (ALLOC.format(32) + TAKE + LOAD.format(32 << 16), "warp 0 of a warpgroup accesses"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("detect", [[], ["race", "uninit"]])
def test_mistakes_are_reported(body: str, problem: str, detect: list[str]) -> None:
    with pytest.raises(DeviceFault) as fault:
        warp(body, observer=DetectorObserver(frozenset(detect)) if detect else NO_OBSERVER)
    assert fault.value.result == 719
    assert problem in fault.value.report


def test_columns_of_another_block() -> None:
    body = "mov.u32 %s, %ctaid.x;\nsetp.eq.u32 %p, %s, 0;\n@%p " + ALLOC.format(32)
    with pytest.raises(DeviceFault) as fault:
        warp(f"{body}mov.u32 %t, 0;\n{LOAD.format(0)}@%p {DEALLOC.format(32)}", blocks=2)
    assert "load of column 0 of tensor memory, which is not allocated" in fault.value.report
    assert "block (1, 0, 0)" in fault.value.report


def test_columns_are_allocated_again() -> None:
    body = ALLOC.format(256) + TAKE + DEALLOC.format(256) + ALLOC.format(512) + TAKE
    warp(body + DEALLOC.format(512))


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        (LOAD.format(0), "uninit in tensor memory"),
        (
            "tcgen05.st.sync.aligned.32x32b.x1.b32 [%t], {%s};\ntcgen05.wait::st.sync.aligned;\n"
            + DEALLOC.format(32)
            + ALLOC.format(32)
            + LOAD.format(0),
            "uninit in tensor memory",
        ),
        (
            "tcgen05.st.sync.aligned.32x32b.x1.b32 [%t], {%s};\n" + LOAD.format(0),
            "no tcgen05.wait::st before the issue",
        ),
        (
            "tcgen05.st.sync.aligned.32x32b.x1.b32 [%t], {%s};\ntcgen05.wait::st.sync.aligned;\n"
            "tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r}, [%t];\nst.global.b32 [%out], %r;",
            "no tcgen05.wait::ld before the read",
        ),
    ],
)
def test_detectors(body: str, problem: str) -> None:
    observer = DetectorObserver(frozenset({"race", "uninit"}))
    start, end = ALLOC.format(32) + TAKE + "mov.u32 %s, 1;\n", DEALLOC.format(32)
    warp(start + body + end, observer=observer)
    texts = [
        f"{each.kind} in {each.memory and each.memory.space} memory: {each.problem}"
        for each in observer.findings
    ]
    assert any(problem in text for text in texts), texts
