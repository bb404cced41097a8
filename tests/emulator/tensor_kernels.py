"""A kernel that executes any instruction on tensor memory, and matrices laid out for it.

The layouts are written from CUTLASS's CuTe layouts, element by element; nothing of the emulated
device is used.
"""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import numpy.typing as npt

from cudarun.emulator.machine.launch import DeviceTraits
from cudarun.emulator.machine.observer import NO_OBSERVER, Observer
from tests.emulator.device import Device

Array = npt.NDArray[Any]
HEADER = ".version 8.8\n.target sm_100a\n.address_size 64\n"
COLUMNS = 64  # that the kernel allocates, writes and reads, if no other number is given
ROOM = 32768  # bytes of shared memory for each of A and B
DTYPES: dict[str, Any] = {
    "f16": np.float16, "bf16": ml_dtypes.bfloat16, "tf32": np.float32, "s8": np.int8,
    "u8": np.uint8, "e4m3": ml_dtypes.float8_e4m3fn, "e5m2": ml_dtypes.float8_e5m2,
    "e2m3": ml_dtypes.float6_e2m3fn, "e3m2": ml_dtypes.float6_e3m2fn,
    "e2m1": ml_dtypes.float4_e2m1fn,
}  # fmt: skip
WIDTHS = {"e2m3": 6, "e3m2": 6, "e2m1": 4}
MODES = {0: 0, 128: 2, 64: 4, 32: 6, 1: 1}  # 1 is 128 bytes with atoms of 32


def registers(first: int, count: int) -> str:
    return "{" + ", ".join(f"%r{first + each}" for each in range(count)) + "}"


def kernel(body: str, *, columns: int, group: int, threads: int = 128) -> str:
    """``body`` is executed by thread 0 of the first block of each cluster.

    It finds the matrices at ``%a`` and ``%b`` in shared memory and the column ``%t``.
    """
    store = "\n".join(
        f"    tcgen05.st.sync.aligned.32x32b.x32.b32 [%mine+{first}], {registers(first, 32)};"
        for first in range(0, columns, 32)
    )
    load = store.replace("tcgen05.st", "tcgen05.ld")
    for first in range(0, columns, 32):
        load = load.replace(
            f"[%mine+{first}], {registers(first, 32)}", f"{registers(first, 32)}, [%mine+{first}]"
        )
    take = "\n".join(f"    ld.global.b32 %r{n}, [%from+{4 * n}];" for n in range(columns))
    give = "\n".join(f"    st.global.b32 [%from+{4 * n}], %r{n};" for n in range(columns))
    return f"""{HEADER}
.extern .shared .align 1024 .b8 room[];
.visible .entry k(.param .u64 images, .param .u64 memory, .param .u64 values)
{{
    .reg .b32 %r<{columns}>, %x, %t, %mine, %at, %i, %a, %b, %bar, %rank;
    .reg .b64 %images, %from, %values, %w, %v<8>;
    .reg .pred %p, %first, %yes;
    .shared .align 8 .b64 object;
    .shared .b32 address;
    ld.param.u64 %images, [images];
    ld.param.u64 %from, [memory];
    ld.param.u64 %values, [values];
    mov.u32 %x, %tid.x;
    mov.u32 %rank, %cluster_ctarank;
    mov.u32 %bar, object;
    setp.lt.u32 %p, %x, 32;
    @%p tcgen05.alloc.cta_group::{group}.sync.aligned.shared::cta.b32 [address], {columns};
    setp.eq.u32 %first, %x, 0;
    @%first mbarrier.init.shared.b64 [%bar], 1;
    mov.u32 %i, %ctaid.x;
    mul.wide.u32 %w, %i, {2 * ROOM};
    add.u64 %images, %images, %w;
    mul.lo.u32 %at, %x, 16;
    mov.u32 %a, room;
copy:
    cvt.u64.u32 %w, %at;
    add.u64 %w, %images, %w;
    ld.global.v2.b64 {{%v0, %v1}}, [%w];
    add.u32 %b, %a, %at;
    st.shared.v2.b64 [%b], {{%v0, %v1}};
    add.u32 %at, %at, {16 * threads};
    setp.lt.u32 %p, %at, {2 * ROOM};
    @%p bra copy;
    add.u32 %b, %a, {ROOM};
    fence.proxy.async;
    mad.lo.u32 %i, %i, {threads}, %x;
    mul.wide.u32 %w, %i, {4 * columns};
    add.u64 %from, %from, %w;
{take}
    bar.sync 0;
    ld.shared.b32 %t, [address];
    and.b32 %at, %x, 0x60;
    shl.b32 %at, %at, 16;
    add.u32 %mine, %t, %at;
{store}
    tcgen05.wait::st.sync.aligned;
    tcgen05.fence::before_thread_sync;
    bar.sync 0;
    barrier.cluster.arrive;
    barrier.cluster.wait;
    tcgen05.fence::after_thread_sync;
    setp.eq.and.u32 %first, %rank, 0, %first;
    mov.u32 %i, 0;
    setp.eq.u32 %yes, %i, 0;
    @!%first bra done;
{body}
done:
    and.b32 %at, %rank, {0xFFFE if group == 2 else 0xFFFF};
    setp.ne.u32 %p, %at, 0;
    @%p bra out;
wait:
    mbarrier.try_wait.parity.shared.b64 %p, [%bar], 0;
    @!%p bra wait;
out:
    tcgen05.fence::after_thread_sync;
{load}
    tcgen05.wait::ld.sync.aligned;
{give}
    tcgen05.fence::before_thread_sync;
    bar.sync 0;
    barrier.cluster.arrive;
    barrier.cluster.wait;
    setp.lt.u32 %p, %x, 32;
    @%p tcgen05.dealloc.cta_group::{group}.sync.aligned.b32 %t, {columns};
    ret;
}}
"""


def commit(group: int) -> str:
    """The arrival at the object of the block, or of both blocks of a pair."""
    name = f"tcgen05.commit.cta_group::{group}.mbarrier::arrive::one.shared::cluster"
    if group == 1:
        return f"    {name}.b64 [%bar];"
    return f"""    .reg .b16 %mask;
    mov.b16 %mask, 3;
    {name}.multicast::cluster.b64 [%bar], %mask;"""


def execute(
    body: str,
    images: Array,
    memory: Array,
    values: tuple[int, ...] = (),
    *,
    group: int = 1,
    observer: Observer = NO_OBSERVER,
    architecture: int = 100,
    **options: Any,
) -> Array:
    """Tensor memory, by block, lane and column, after one thread has executed instructions.

    Args:
        body: They are followed by a commit. ``values`` are in ``%v0`` and so on.
        images: The bytes of A and of B in shared memory, by block.
        memory: Tensor memory before, by block, lane and column.
        values: Numbers of 64 bits.
        group: Of the instructions.
        observer: Is told of the launch.
        architecture: Of the device.
        options: Of the launch.
    """
    loads = "\n".join(f"    ld.global.u64 %v{n}, [%values+{8 * n}];" for n in range(len(values)))
    text = kernel(f"{loads}\n{body}\n{commit(group)}", columns=memory.shape[2], group=group)
    device = Device(text, observer=observer)
    device.traits = DeviceTraits(architecture=architecture)
    given = device.buffer(images)
    cells = device.buffer(memory.astype(np.uint32))
    numbers = device.buffer(np.array([*values, 0], np.uint64))
    blocks = len(memory)
    cluster = (group, 1, 1) if group > 1 else None
    device.launch("k", (blocks,), (128,), given, cells, numbers, dynamic_shared=2 * ROOM,
                  cluster=cluster, **options)  # fmt: skip
    return device.read(cells, np.uint32, memory.size).reshape(memory.shape)


# --- matrices in shared memory -------------------------------------------------------------------


def along(shape: tuple[int, ...], strides: tuple[int, ...], number: int) -> int:
    """Where a CuTe layout of one dimension puts a coordinate."""
    place = 0
    for extent, stride in zip(shape, strides, strict=True):
        number, here = divmod(number, extent)
        place += here * stride
    return place


def chunk_places(mode: int, lines: int, depth: int, *, mn: bool) -> tuple[Array, int]:
    """The byte address of each chunk of 16 bytes, by line and depth, and a descriptor's strides.

    If ``mn``, lines are counted in chunks and the depth in elements; otherwise the other way. The
    layouts are those of ``mma_sm100_desc.hpp``, in units of a chunk.
    """
    width = {0: 1, 1: 8}.get(mode, mode // 16)
    period = 4 if mode == 1 else 8
    if mn:
        atoms = -(-lines // width)
        stride, leading = width * period * atoms, width * period  # SBO, LBO
        if mode == 0:  # ((1, n), (8, k)): ((X, SBO), (1, LBO))
            leading, stride = 8 * lines, 8
            of_line, of_depth = (1, stride), (1, leading)
        else:  # ((w, n), (8, k)): ((1, LBO), (w, SBO))
            of_line, of_depth = (1, leading), (width, stride)
        line_shape, depth_shape = (width, atoms), (period, -(-depth // period))
    else:
        parts = -(-depth // width)
        leading, stride = 8 * lines, 8 * width * parts
        line_shape, depth_shape = (8, -(-lines // 8)), (width, parts)
        if mode == 0:  # ((8, n), 2): ((1, SBO), LBO)
            leading, stride = 8 * -(-lines // 8) + 2, 8
            of_line, of_depth = (1, stride), (1, leading)
        else:  # ((8, n), 2): ((w, SBO), 1)
            of_line, of_depth = (width, stride), (1, 8 * width)
    line = [along(line_shape, of_line, each) for each in range(lines)]
    column = [along(depth_shape, of_depth, each) for each in range(depth)]
    places = np.add.outer(np.array(line), np.array(column)) * 16
    bits, low = {0: (0, 4), 1: (2, 5)}.get(mode, (width.bit_length() - 1, 4))
    places ^= (places >> 7 & (1 << bits) - 1) << low
    return places, leading << 16 | stride << 32 | 1 << 46 | MODES[mode] << 61


def codes_of(matrix: Array, name: str) -> Array:
    """The bits of elements, each in an integer."""
    values = np.ascontiguousarray(matrix.astype(DTYPES[name]))
    return values.view(f"u{values.dtype.itemsize}")


def chunks_of(codes: Array, name: str, container: int) -> Array:
    """Elements along the last axis as chunks of 16 bytes, packed with padding."""
    width = min(WIDTHS.get(name, container), container)
    in_chunk = 128 // container
    rows = codes.reshape(*codes.shape[:-1], -1, in_chunk)
    bits = rows[..., None].astype(np.uint32) >> np.arange(width, dtype=np.uint32) & 1
    flat = bits.reshape(*rows.shape[:-1], -1).astype(np.uint8)
    padded = np.zeros((*rows.shape[:-1], 128), np.uint8)
    padded[..., : flat.shape[-1]] = flat
    return np.packbits(padded, axis=-1, bitorder="little")


def placed(
    matrix: Array, name: str, container: int, mode: int = 128, *, mn: bool = False
) -> tuple[Array, int]:
    """A matrix (A, or B transposed) as bytes of shared memory, and its descriptor from 0 on."""
    codes = codes_of(matrix, name)
    image = np.full(ROOM, 0x3C, np.uint8)
    if mn:
        in_chunk = 128 // container
        lines = -(-len(codes) // in_chunk)
        full = np.zeros((lines * in_chunk, codes.shape[1]), codes.dtype)
        full[: len(codes)] = codes
        chunks = chunks_of(full.T, name, container).transpose(1, 0, 2)  # chunk of lines, k
    else:
        chunks = chunks_of(codes, name, container)
    places, fields = chunk_places(mode, *chunks.shape[:2], mn=mn)
    image[places[..., None] + np.arange(16)] = chunks
    return image, fields


def words_of(codes: Array, name: str, container: int) -> Array:
    """Rows of elements as cells of tensor memory; of 8 bits, bits 2 to 5 have a 4-bit type."""
    if container == 4:
        pairs = codes.reshape(len(codes), -1, 2)
        codes = pairs[..., 0] | pairs[..., 1] << 4
    elif WIDTHS.get(name, 8) == 4:
        codes = codes << 2
    return np.ascontiguousarray(codes.astype(f"u{max(container, 8) // 8}")).view(np.uint32)


def whole(name: str, shape: tuple[int, ...], seed: int) -> Array:
    """Small integers that a type has, as f64."""
    most = {"e2m1": 3, "e2m3": 4, "e3m2": 4}.get(name, 5)
    low = 0 if name == "u8" else -most
    return np.random.default_rng(seed).integers(low, most, shape).astype(np.float64)
