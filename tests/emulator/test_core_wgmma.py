"""``wgmma`` against products of numpy, with matrices laid out as the manual's CuTe layouts say."""

from __future__ import annotations

from functools import cache
from itertools import product
from typing import Any

import ml_dtypes
import numpy as np
import numpy.typing as npt
import pytest

from cudarun.emulator.detectors.detector_observer import DetectorObserver
from cudarun.emulator.faults import DeviceFault
from tests.emulator.device import Device

Array = npt.NDArray[Any]
HEADER = ".version 8.4\n.target sm_90a\n.address_size 64\n"
ROOM = 18432  # bytes for each matrix
DTYPES: dict[str, Any] = {
    "f16": np.float16, "bf16": ml_dtypes.bfloat16, "tf32": np.float32, "f32": np.float32,
    "e4m3": ml_dtypes.float8_e4m3fn, "e5m2": ml_dtypes.float8_e5m2, "s8": np.int8, "u8": np.uint8,
    "s32": np.int32,
}  # fmt: skip
MODES = {0: 0, 128: 1, 64: 2, 32: 3}

# --- what the manual says ------------------------------------------------------------------------


def canonical(swizzle: int, lines: int, size: int, leading: int, stride: int, mn: bool) -> Array:
    """The byte address of each element, by line and k, of the table of canonical layouts.

    ``size`` is that of an element; the strides are in bytes. Shapes and strides are CuTe's: the
    first number of a tuple goes fastest.
    """
    t, width = 16 // size, max(swizzle // 16, 1)
    leading, stride = leading // size, stride // size
    m: tuple[int, ...]
    k: tuple[int, ...]
    if mn:
        m = (t, width, -(-lines // (t * width)))
        k = (8, 2)
        of_m = (1, t, stride if not swizzle else leading)
        of_k = (width * t, leading if not swizzle else stride)
    else:
        m, k = (8, lines // 8), (t, 2)
        of_m, of_k = (width * t, stride), (1, t if swizzle else leading)
    line = [along(m, of_m, number) for number in range(lines)]
    column = [along(k, of_k, number) for number in range(k[0] * k[1])]
    return np.add.outer(np.array(line), np.array(column)) * size


def along(shape: tuple[int, ...], strides: tuple[int, ...], number: int) -> int:
    """Where a CuTe layout of one dimension puts a coordinate."""
    place = 0
    for extent, stride in zip(shape, strides, strict=True):
        number, here = divmod(number, extent)
        place += here * stride
    return place


def swizzled(addresses: Array, swizzle: int) -> Array:
    """``Swizzle<B, 4, 3>``."""
    bits = {0: 0, 32: 1, 64: 2, 128: 3}[swizzle]
    return addresses ^ ((addresses >> 7) & ((1 << bits) - 1)) << 4


def strides(swizzle: int, lines: int, mn: bool) -> tuple[int, int]:
    """Leading and stride dimension byte offset: some that let nothing overlap."""
    width = max(swizzle // 16, 1)
    if not mn:
        return (lines * 16 + 256, 128) if not swizzle else (16, 128 * width)
    atoms = -(-lines // 8 // width)
    return (128 * atoms, 128) if not swizzle else (256 * width, 128 * width)


class Placed:
    """A matrix (A, or B transposed) as bytes of shared memory, and its descriptor."""

    def __init__(self, matrix: Array, swizzle: int, mn: bool, base: int = 0) -> None:
        lines = len(matrix)
        leading, stride = strides(swizzle, lines, mn)
        size = matrix.dtype.itemsize
        places = canonical(swizzle, lines, size, leading, stride, mn)
        # Where the pattern does not start at its boundary, it is the whole that is moved.
        places = swizzled(places, swizzle) + 128 * base
        self.image = np.full(ROOM, 0x3C, np.uint8)
        raw = np.ascontiguousarray(matrix).view(np.uint8).reshape(lines, -1, size)
        for byte in range(size):
            self.image[places + byte] = raw[..., byte]
        self.start = 128 * base
        self.high = leading >> 4 << 16 | stride >> 4 << 32 | base << 49 | MODES[swizzle] << 62

    def descriptor(self, at: int) -> int:
        return self.high | (at + self.start) >> 4


def rows_and_columns(count: int) -> tuple[Array, Array]:
    """Figures 149, 151, 153: where each of a thread's elements of D is."""
    thread, number = np.ogrid[:128, :count]
    row = thread // 32 * 16 + thread % 32 // 4 + 8 * (number // 2 % 2)
    return row + 0 * number, 8 * (number // 4) + 2 * (thread % 4) + number % 2


def fragments_of_a(matrix: Array) -> Array:
    """Figures 148, 150, 152: the registers of A, by thread."""
    e = 4 // matrix.dtype.itemsize
    words = np.zeros((128, 4), np.uint32)
    for thread, number in product(range(128), range(4)):
        row = thread // 32 * 16 + thread % 32 // 4 + 8 * (number % 2)
        column = thread % 4 * e + number // 2 * 4 * e
        words[thread, number] = matrix[row, column : column + e].view(np.uint32)[0]
    return words


# --- one kernel for all --------------------------------------------------------------------------


@cache
def kernel(name: str, count: int, left: bool, tail: str, before: str, after: str) -> str:
    """Each warpgroup of each block has its matrices, accumulators and results in global memory."""
    d = ", ".join(f"%d{number}" for number in range(count))
    loads = "\n".join(f"ld.global.b32 %d{i}, [%out+{4 * i}];" for i in range(count))
    stores = "\n".join(f"st.global.b32 [%out+{4 * i}], %d{i};" for i in range(count))
    a = "{%a0, %a1, %a2, %a3}" if left else "%adesc"
    return f"""{HEADER}
.extern .shared .align 1024 .b8 room[];
.visible .entry multiply(.param .u64 images, .param .u64 out, .param .u64 left,
    .param .u64 ahigh, .param .u64 bhigh, .param .u32 scale)
{{
    .reg .b32 %d<{count}>, %a<4>, %group, %groups, %lane, %at, %i, %s, %x, %scale;
    .reg .b64 %images, %out, %left, %adesc, %bdesc, %w, %from;
    .reg .pred %p, %scaled;
    ld.param.u64 %images, [images];
    ld.param.u64 %out, [out];
    ld.param.u64 %left, [left];
    ld.param.u64 %adesc, [ahigh];
    ld.param.u64 %bdesc, [bhigh];
    ld.param.u32 %scale, [scale];
    setp.ne.u32 %scaled, %scale, 0;
    mov.u32 %x, %tid.x;
    and.b32 %lane, %x, 127;
    shr.u32 %group, %x, 7;
    mov.u32 %groups, %ntid.x;
    shr.u32 %groups, %groups, 7;
    mov.u32 %s, room;
    mad.lo.u32 %s, %group, {2 * ROOM}, %s;
    mov.u32 %i, %ctaid.x;
    mad.lo.u32 %i, %i, %groups, %group;
    mul.wide.u32 %w, %i, {2 * ROOM};
    add.u64 %images, %images, %w;
    mad.lo.u32 %i, %i, 128, %lane;
    mul.wide.u32 %w, %i, {4 * count};
    add.u64 %out, %out, %w;
    mul.wide.u32 %w, %i, 16;
    add.u64 %left, %left, %w;
    mul.lo.u32 %at, %lane, 4;
copy:
    cvt.u64.u32 %w, %at;
    add.u64 %from, %images, %w;
    ld.global.b32 %i, [%from];
    add.u32 %x, %s, %at;
    st.shared.b32 [%x], %i;
    add.u32 %at, %at, 512;
    setp.lt.u32 %p, %at, {2 * ROOM};
    @%p bra copy;
    fence.proxy.async;
    bar.sync 0;
    {before}
    ld.global.v4.b32 {{%a0, %a1, %a2, %a3}}, [%left];
    {loads}
    shr.u32 %x, %s, 4;
    cvt.u64.u32 %w, %x;
    add.u64 %adesc, %adesc, %w;
    add.u64 %bdesc, %bdesc, %w;
    wgmma.fence.sync.aligned;
    wgmma.mma_async.sync.aligned.{name} {{{d}}}, {a}, %bdesc, %scaled{tail};
    wgmma.commit_group.sync.aligned;
    wgmma.wait_group.sync.aligned 0;
    {after}
    {stores}
    ret;
}}
"""


def whole(dtype: Any, shape: tuple[int, ...], seed: int) -> Array:
    low = 0 if dtype is np.uint8 else -4
    return np.random.default_rng(seed).integers(low, 5, shape).astype(dtype)


def multiply(
    types: tuple[str, str, str],
    n: int,
    *,
    swizzle: tuple[int, int] = (0, 0),
    mn: tuple[bool, bool] = (False, False),
    base: tuple[int, int] = (0, 0),
    left: bool = False,
    signs: tuple[int, int] = (1, 1),
    scale: int = 1,
    grid: int = 1,
    groups: int = 1,
    before: str = "",
    after: str = "",
    a: Array | None = None,
    b: Array | None = None,
    c: Array | None = None,
    words: str = "",
    **options: Any,
) -> tuple[Array, Array, Array, Array]:
    """A, B, C and the result of a launch, by warpgroup."""
    total = grid * groups
    of_d, of_a, of_b = (DTYPES[name] for name in types)
    k = 32 // np.dtype(of_a).itemsize
    a = whole(of_a, (total, 64, k), 1) if a is None else a
    b = whole(of_b, (total, k, n), 2) if b is None else b
    c = whole(of_d, (total, 64, n), 3) if c is None else c
    count = n // 2 * np.dtype(of_d).itemsize // 4
    elements = n // 2
    row, column = rows_and_columns(elements)
    placed = [
        (
            Placed(a[group], swizzle[0], mn[0], base[0]),
            Placed(b[group].T, swizzle[1], mn[1], base[1]),
        )
        for group in range(total)
    ]
    images = np.concatenate([part.image for pair in placed for part in pair])
    registers = np.stack([fragments_of_a(a[group]) for group in range(total)])
    tail = ""
    if types[0] != "s32":
        tail = f", {signs[0]}, {signs[1]}"
    if k == 16:
        tail += (f", {int(mn[0])}" if not left else "") + f", {int(mn[1])}"
    name = f"m64n{n}k{k}.{'.'.join(types)}{words}"
    device = Device(kernel(name, count, left, tail, before, after), **options)
    out = device.buffer(c[:, row, column])
    device.launch(
        "multiply", (grid,), (128 * groups,), device.buffer(images), out, device.buffer(registers),
        np.uint64(placed[0][0].descriptor(0)), np.uint64(placed[0][1].descriptor(ROOM)), scale,
        dynamic_shared=2 * ROOM * groups,
    )  # fmt: skip
    values = device.read(out, of_d, total * 128 * elements).reshape(total, 128, elements)
    result = np.zeros_like(c)
    result[:, row, column] = values
    return a, b, c, result


def expected(a: Array, b: Array, c: Array) -> Array:
    return np.einsum("gmk,gkn->gmn", a.astype("f8"), b.astype("f8")) + c.astype("f8")


FLOATS = [
    ("f16", "f16", "f16"), ("f32", "f16", "f16"), ("f32", "bf16", "bf16"), ("f32", "tf32", "tf32"),
    *((d, a, b) for d in ("f16", "f32") for a in ("e4m3", "e5m2") for b in ("e4m3", "e5m2")),
]  # fmt: skip
INTEGERS = [("s32", a, b) for a in ("s8", "u8") for b in ("s8", "u8")]


@pytest.mark.parametrize("types", [*FLOATS, *INTEGERS], ids=".".join)
@pytest.mark.parametrize("left", [False, True], ids=["descriptor", "registers"])
def test_every_type(types: tuple[str, str, str], left: bool) -> None:
    a, b, c, got = multiply(types, 24, left=left, swizzle=(128, 64))
    assert np.array_equal(got.astype("f8"), expected(a, b, c))


@pytest.mark.parametrize("n", [*range(8, 257, 8)])
def test_every_size(n: int) -> None:
    a, b, c, got = multiply(("f32", "f16", "f16"), n)
    assert np.array_equal(got, expected(a, b, c))


@pytest.mark.parametrize("types", [("f16", "f16", "f16"), ("f32", "bf16", "bf16")], ids=".".join)
@pytest.mark.parametrize("mn", [(False, True), (True, False), (True, True)])
@pytest.mark.parametrize("swizzle", [(0, 32), (32, 64), (64, 128), (128, 0), (128, 128)])
def test_transposed(types: Any, mn: Any, swizzle: Any) -> None:
    a, b, c, got = multiply(types, 136, mn=mn, swizzle=swizzle)
    assert np.array_equal(got.astype("f8"), expected(a, b, c))


@pytest.mark.parametrize("types", [FLOATS[1], FLOATS[3], FLOATS[4], INTEGERS[1]], ids=".".join)
@pytest.mark.parametrize("swizzle", [0, 32, 64, 128])
def test_swizzled(types: Any, swizzle: int) -> None:
    a, b, c, got = multiply(types, 48, swizzle=(swizzle, swizzle))
    assert np.array_equal(got.astype("f8"), expected(a, b, c))


@pytest.mark.parametrize("swizzle", [32, 64, 128])
@pytest.mark.parametrize("mn", [(False, False), (True, True)])
def test_a_pattern_that_starts_anywhere(swizzle: int, mn: Any) -> None:
    for base in ((1, 6), (5, 3)):
        found = multiply(FLOATS[1], 16, swizzle=(swizzle, swizzle), mn=mn, base=base)
        a, b, c, got = found
        assert np.array_equal(got, expected(a, b, c))


@pytest.mark.parametrize("types", FLOATS, ids=".".join)
@pytest.mark.parametrize("signs", [(-1, 1), (1, -1), (-1, -1)])
def test_negated(types: Any, signs: tuple[int, int]) -> None:
    a, b, c, got = multiply(types, 8, signs=signs, left=signs[1] > 0)
    assert np.array_equal(got.astype("f8"), expected(a * signs[0] * signs[1], b, c))


@pytest.mark.parametrize("types", [*FLOATS, *INTEGERS], ids=".".join)
def test_without_the_accumulator(types: Any) -> None:
    c = whole(DTYPES[types[0]], (1, 64, 8), 3)
    c[0, 0, 0] = np.nan if types[0] != "s32" else 77
    a, b, c, got = multiply(types, 8, scale=0, c=c)
    assert np.array_equal(got.astype("f8"), expected(a, b, np.zeros_like(c)))


def test_integers_wrap_or_are_clamped() -> None:
    a = np.full((1, 64, 32), 127, np.int8)
    b = np.full((1, 32, 8), 127, np.int8)
    c = np.full((1, 64, 8), (1 << 31) - 5, np.int32)
    exact = (1 << 31) - 5 + 32 * 127 * 127
    assert (multiply(INTEGERS[0], 8, a=a, b=b, c=c)[3] == exact - (1 << 32)).all()
    found = multiply(INTEGERS[0], 8, a=a, b=b, c=c, words=".satfinite")
    assert (found[3] == (1 << 31) - 1).all()


# Warps come at different times, in another order than their ranks.
LATE = """
    mov.u32 %x, %tid.x;
    shr.u32 %x, %x, 5;
    mul.lo.u32 %x, %x, 7;
    and.b32 %x, %x, 31;
late:
    sub.u32 %x, %x, 1;
    setp.gt.s32 %p, %x, 0;
    @%p bra late;
"""


@pytest.mark.parametrize("left", [False, True])
def test_several_warpgroups_and_blocks(left: bool) -> None:
    a, b, c, got = multiply(
        FLOATS[1], 24, left=left, grid=5, groups=3, before=LATE, swizzle=(32, 0), multiprocessors=2
    )
    assert np.array_equal(got, expected(a, b, c))


def test_a_warpgroup_that_others_leave_alone() -> None:
    """The second one multiplies, the others have ended."""
    before = "setp.ne.u32 %p, %group, 1; @%p exit;"
    a, b, c, got = multiply(FLOATS[1], 8, groups=3, before=before)
    assert np.array_equal(got[1], expected(a, b, c)[1])
    assert np.array_equal(got[[0, 2]], c[[0, 2]])


# --- how it rounds -------------------------------------------------------------------------------


def one_sum(types: Any, a: list[float], b: list[float], c: float) -> Array:
    """The result of one row and column that have these numbers first."""
    k = 32 // np.dtype(DTYPES[types[1]]).itemsize
    left = np.zeros((1, 64, k), DTYPES[types[1]])
    right = np.zeros((1, k, 8), DTYPES[types[2]])
    left[0, :, : len(a)] = np.array(a, "f4").astype(left.dtype)
    right[0, : len(b)] = np.array(b, "f4").astype(right.dtype)[:, None]
    given = np.full((1, 64, 8), c, DTYPES[types[0]])
    result = multiply(types, 8, a=left, b=right, c=given)[3]
    assert (result == result[0, 0, 0]).all()
    return result[0, 0, 0]


def test_sums_are_cut_off() -> None:
    """Of f16, 25 bits below the largest exponent and toward zero; of 8 bits after 13."""
    third = 1 + 2.0**-10
    single = FLOATS[1]
    assert one_sum(single, [third], [third], 0) == third * third
    assert one_sum(single, [2.0**-12, 2.0**-13], [2.0**-13, 2.0**-13], 1) == 1
    assert one_sum(single, [2.0**-12, 2.0**-12], [2.0**-12, 2.0**-12], 1) == 1 + 2.0**-23
    assert one_sum(single, [2.0**-12] * 3, [2.0**-13] * 3, -1) == -(1 - 2.0**-23)
    eight = ("f32", "e4m3", "e4m3")
    assert one_sum(eight, [1, 2.0**-6], [1, 2.0**-7], 0) == 1 + 2.0**-13
    assert one_sum(eight, [1, 2.0**-7], [1, 2.0**-7], 0) == 1
    assert one_sum(eight, [1, 2.0**-6, 2.0**-6], [2, 2.0**-7, 2.0**-7], 0) == 2
    assert one_sum(eight, [1], [1], 2.0**-14) == 1
    assert one_sum(eight, [0], [0], 1 + 2.0**-20) == 1


def test_special_values() -> None:
    single = FLOATS[1]
    assert one_sum(single, [np.inf], [1], 0) == np.inf
    a = np.zeros((1, 64, 16), np.float16)
    a[0, 0, 0] = np.nan
    found = multiply(single, 8, a=a)[3]
    assert (found[0, 0].view("u4") == 0x7FFFFFFF).all()
    assert np.isfinite(found[0, 1:]).all()


# --- what goes wrong -----------------------------------------------------------------------------


def fault(**options: Any) -> DeviceFault:
    with pytest.raises(DeviceFault) as caught:
        multiply(FLOATS[1], 8, **options)
    return caught.value


def test_a_warpgroup_that_is_not_whole() -> None:
    found = fault(before="setp.eq.u32 %p, %lane, 70; @%p exit;")
    assert found.result == 719
    assert "wgmma.mma_async in a warpgroup of fewer than 128 threads" in found.report


def test_a_thread_that_goes_another_way() -> None:
    before = "setp.eq.u32 %p, %lane, 70; @!%p bra on; bar.sync 1; on:"
    found = fault(before=before)
    assert found.result == 719
    assert "127 threads wait for the other threads of their warpgroup" in found.report


def test_descriptors_that_differ() -> None:
    found = fault(before="cvt.u64.u32 %w, %lane; shl.b64 %w, %w, 16; add.u64 %bdesc, %bdesc, %w;")
    assert found.result == 719
    assert "the threads of a warpgroup have different descriptors for B" in found.report
    found = fault(before="setp.ne.u32 %scaled, %lane, 3;")
    assert "the threads of a warpgroup have different scale-d values" in found.report


def test_a_matrix_beyond_shared_memory() -> None:
    found = fault(before="mov.u32 %s, 32000;")
    assert found.result == 700
    assert "illegal address in a 16-byte load" in found.report


# --- detectors -----------------------------------------------------------------------------------


def findings(**options: Any) -> list[str]:
    watch = DetectorObserver(["race", "uninit"])
    multiply(FLOATS[1], 8, observer=watch, **options)
    return [place.site.text for finding in watch.findings for place in finding.places]


def test_reads_are_watched() -> None:
    assert findings(groups=2, grid=2) == []
    # The store after the barrier races with the products.
    late = "setp.eq.u32 %p, %lane, 127; @%p st.shared.b32 [%s], 7;"
    texts = findings(before=late)
    assert any("st.shared.b32 [%s], 7" in text for text in texts)
    assert any("wgmma.mma_async" in text for text in texts)
    # Any thread may store where it knows that the products are done.
    assert findings(after=late, groups=2) == []
