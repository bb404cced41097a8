"""``wgmma`` with a sparse A and with single bits, against products of numpy."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from tests.emulator.device import Device
from tests.emulator.fragments import (
    BITS,
    fragments,
    metadata_of,
    numbers,
    sparse_numbers,
    sums,
    words_of,
)

Array = npt.NDArray[Any]
HEADER = ".version 9.0\n.target sm_90a\n.address_size 64\n"
THREADS, M = 128, 64
ROOM = 8192  # bytes for each matrix
TYPES = [
    ("f16", "f16", "f16"), ("f32", "f16", "f16"), ("f32", "bf16", "bf16"), ("f32", "tf32", "tf32"),
    *((d, a, b) for d in ("f16", "f32") for a in ("e4m3", "e5m2") for b in ("e4m3", "e5m2")),
    *(("s32", a, b) for a in ("s8", "u8") for b in ("s8", "u8")),
]  # fmt: skip


def placed(lines: Array, bits: int, swizzle: int) -> Array:
    """Bytes of a K-major matrix: groups of 8 lines, one after the other along k, then the next."""
    words = np.ascontiguousarray(words_of(lines, bits))
    chunks = words.view(np.uint8).reshape(len(lines), -1, 16)
    width = max(swizzle // 16, 1)
    image = np.zeros(ROOM, np.uint8)
    for line, part in np.ndindex(chunks.shape[:2]):
        address = line // 8 * stride_of(chunks.shape[1], width) + part // width * 128 * width
        address += line % 8 * width * 16 + part % width * 16
        address ^= (address >> 7 & width - 1) << 4
        image[address : address + 16] = chunks[line, part]
    return image


def stride_of(parts: int, width: int) -> int:
    """Bytes from eight lines to the next."""
    return max(parts // width, 1) * 128 * width


def descriptor(parts: int, swizzle: int) -> int:
    width = max(swizzle // 16, 1)
    mode = {0: 0, 128: 1, 64: 2, 32: 3}[swizzle]
    return 128 * width >> 4 << 16 | stride_of(parts, width) >> 4 << 32 | mode << 62


def multiplied(
    name: str, types: tuple[str, str, str], a: Array, b: Array, c: Array, *,
    metadata: Array | None = None, selector: int = 0, swizzle: tuple[int, int] = (0, 0),
    left: bool = False, tail: str = "",
) -> Array:  # fmt: skip
    """The result; A is what of a sparse matrix is not zero."""
    d_type, a_type, b_type = types
    n = b.shape[1]
    count = n // 2 * BITS[d_type] // 32
    warps = range(4)
    row, column = sums(16)
    row = np.concatenate([row[:, :4] + 16 * warp for warp in warps])
    number = np.arange(n // 2)
    row, column = (
        row[:, number % 4],
        column[np.arange(THREADS) % 32][:, number % 4] + number // 4 * 8,
    )
    registers = np.concatenate([fragments(a[16 * w : 16 * w + 16], BITS[a_type]) for w in warps])
    images = [placed(a, BITS[a_type], swizzle[0]), placed(b.T, BITS[b_type], swizzle[1])]
    d = ", ".join(f"%d{number}" for number in range(count))
    operand = "{%a0, %a1, %a2, %a3}" if left else "%adesc"
    sparse = f", %e, {selector}" if metadata is not None else ""
    text = f"""{HEADER}
.extern .shared .align 1024 .b8 room[];
.visible .entry multiply(.param .u64 images, .param .u64 out, .param .u64 left, .param .u64 meta,
    .param .u64 adesc, .param .u64 bdesc)
{{
    .reg .b32 %d<{count}>, %a<4>, %e, %t, %at, %x, %s;
    .reg .b64 %images, %out, %left, %adesc, %bdesc, %w;
    .reg .pred %p;
    mov.u32 %t, %tid.x;
    mov.u32 %s, room;
    ld.param.u64 %images, [images];
    mul.lo.u32 %at, %t, 4;
copy:
    cvt.u64.u32 %w, %at;
    add.u64 %w, %w, %images;
    ld.global.b32 %x, [%w];
    add.u32 %e, %s, %at;
    st.shared.b32 [%e], %x;
    add.u32 %at, %at, {4 * THREADS};
    setp.lt.u32 %p, %at, {2 * ROOM};
    @%p bra copy;
    fence.proxy.async;
    bar.sync 0;
    ld.param.u64 %out, [out];
    mad.wide.u32 %out, %t, {4 * count}, %out;
    {" ".join(f"ld.global.b32 %d{i}, [%out+{4 * i}];" for i in range(count))}
    ld.param.u64 %left, [left];
    mad.wide.u32 %left, %t, 16, %left;
    ld.global.v4.b32 {{%a0, %a1, %a2, %a3}}, [%left];
    ld.param.u64 %w, [meta];
    mad.wide.u32 %w, %t, 4, %w;
    ld.global.b32 %e, [%w];
    ld.param.u64 %adesc, [adesc];
    ld.param.u64 %bdesc, [bdesc];
    shr.u32 %x, %s, 4;
    cvt.u64.u32 %w, %x;
    add.u64 %adesc, %adesc, %w;
    add.u64 %bdesc, %bdesc, %w;
    wgmma.fence.sync.aligned;
    {name} {{{d}}}, {operand}, %bdesc{sparse}, 1{tail};
    wgmma.commit_group.sync.aligned;
    wgmma.wait_group.sync.aligned 0;
    {" ".join(f"st.global.b32 [%out+{4 * i}], %d{i};" for i in range(count))}
    ret;
}}
"""
    device = Device(text)
    out = device.buffer(c[row, column])
    parts = [
        matrix.shape[axis] * BITS[kind] // 128
        for matrix, axis, kind in ((a, 1, a_type), (b, 0, b_type))
    ]
    words = np.zeros(THREADS, np.uint32) if metadata is None else metadata
    device.launch(
        "multiply", (1,), (THREADS,), device.buffer(np.concatenate(images)), out,
        device.buffer(registers), device.buffer(words),
        np.uint64(descriptor(parts[0], swizzle[0])),
        np.uint64(descriptor(parts[1], swizzle[1]) + (ROOM >> 4)), dynamic_shared=2 * ROOM,
    )  # fmt: skip
    result = np.zeros_like(c)
    result[row, column] = device.read(out, c.dtype, c.size).reshape(THREADS, -1)
    return result


@pytest.mark.parametrize("types", TYPES, ids=".".join)
@pytest.mark.parametrize("swizzle", [(0, 0), (32, 32), (64, 128), (128, 64)])
def test_sparse(types: tuple[str, str, str], swizzle: tuple[int, int]) -> None:
    d_type, a_type, b_type = types
    bits, n = BITS[a_type], 24
    k = 512 // bits
    dense, kept, nibbles = sparse_numbers(a_type, (M, k), 1)
    b, c = numbers(b_type, (k, n), 2), numbers(d_type, (M, n), 3)
    tail = {16: ", 1, 1, 0, 0", 32: ", 1, 1", 8: ", 1, 1"}[bits] if d_type != "s32" else ""
    name = f"wgmma.mma_async.sp.sync.aligned.m64n{n}k{k}.{'.'.join(types)}"
    for selector in range(1 if bits == 8 else 2):
        metadata = np.concatenate(
            [metadata_of(nibbles[16 * w : 16 * w + 16], selector, halves=bits >= 16)
             for w in range(4)]
        )  # fmt: skip
        for left in (False, True):
            end = tail.removesuffix(", 0") if left and bits == 16 else tail
            got = multiplied(name, types, kept, b, c, metadata=metadata, selector=selector,
                             swizzle=swizzle, left=left, tail=end)  # fmt: skip
            expected = dense.astype("f8") @ b.astype("f8") + c.astype("f8")
            assert np.array_equal(got.astype("f8"), expected)


@pytest.mark.parametrize("swizzle", [(0, 0), (32, 64), (128, 128)])
@pytest.mark.parametrize("left", [False, True])
def test_single_bits(swizzle: tuple[int, int], left: bool) -> None:
    types = ("s32", "b1", "b1")
    a, b = numbers("b1", (M, 256), 1), numbers("b1", (256, 32), 2)
    c = numbers("s32", (M, 32), 3)
    name = "wgmma.mma_async.sync.aligned.m64n32k256.s32.b1.b1.and.popc"
    got = multiplied(name, types, a, b, c, swizzle=swizzle, left=left)
    assert np.array_equal(got, a.astype("i8") @ b.astype("i8") + c)
