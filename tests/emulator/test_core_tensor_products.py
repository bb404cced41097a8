"""``tcgen05.mma`` against products of numpy, with matrices laid out as CUTLASS's layouts say."""

from __future__ import annotations

from contextlib import suppress

import numpy as np
import pytest

from cudarun.emulator.detectors.detector_observer import DetectorObserver
from cudarun.emulator.faults import DeviceFault
from cudarun.emulator.machine.schedules.schedule import Schedule
from tests.emulator.tensor_kernels import chunk_places, commit, placed, whole
from tests.emulator.tensor_products import ENABLE, Case, check


@pytest.mark.parametrize(
    ("kind", "types"),
    [
        ("f16", ("f32", "f16", "f16")), ("f16", ("f16", "f16", "f16")),
        ("f16", ("f32", "bf16", "bf16")), ("f16", ("f32", "f16", "bf16")),
        ("tf32", ("f32", "tf32", "tf32")), ("i8", ("s32", "s8", "s8")),
        ("i8", ("s32", "u8", "s8")), ("f8f6f4", ("f32", "e4m3", "e5m2")),
        ("f8f6f4", ("f16", "e5m2", "e4m3")), ("f8f6f4", ("f32", "e2m1", "e4m3")),
        ("f8f6f4", ("f32", "e3m2", "e2m3")), ("f8f6f4", ("f32", "e2m3", "e2m1")),
    ],
)  # fmt: skip
@pytest.mark.parametrize("left", [False, True])
def test_types(kind: str, types: tuple[str, str, str], left: bool) -> None:
    check(Case(kind, types, 128, 32, left=left, tail=ENABLE))


@pytest.mark.parametrize(
    ("m", "n", "blocks", "stationary"),
    [
        (64, 8, 1, False), (64, 56, 1, False), (128, 16, 1, False), (128, 256, 1, False),
        (128, 32, 2, False), (256, 48, 2, False), (32, 64, 1, True), (64, 64, 1, True),
        (128, 128, 1, True), (32, 256, 1, True),
    ],
)  # fmt: skip
@pytest.mark.parametrize("left", [False, True])
def test_shapes(m: int, n: int, blocks: int, stationary: bool, left: bool) -> None:
    types = ("f32", "f16", "f16")
    check(Case("f16", types, m, n, blocks=blocks, stationary=stationary, left=left, tail=ENABLE))


@pytest.mark.parametrize("base", [0, 16])
def test_half_of_the_lanes(base: int) -> None:
    check(Case("f16", ("f32", "f16", "f16"), 64, 16, base=base, left=True, tail=ENABLE))


@pytest.mark.parametrize("swizzle", [0, 32, 64, 128])
@pytest.mark.parametrize("mn", [(False, False), (True, False), (False, True), (True, True)])
@pytest.mark.parametrize(("kind", "name"), [("f16", "f16"), ("f8f6f4", "e4m3")])
def test_layouts_in_shared_memory(
    kind: str, name: str, swizzle: int, mn: tuple[bool, bool]
) -> None:
    types = ("f32", name, name)
    check(Case(kind, types, 128, 64, swizzle=(swizzle, swizzle), mn=mn, tail=ENABLE))


@pytest.mark.parametrize(
    ("kind", "m", "n", "blocks"),
    [("f16", 128, 24, 1), ("f16", 64, 264, 1), ("f16", 96, 32, 1), ("i8", 64, 40, 1),
     ("i8", 128, 48, 2)],
)  # fmt: skip
def test_invalid_shapes(kind: str, m: int, n: int, blocks: int) -> None:
    types = ("s32", "s8", "s8") if kind == "i8" else ("f32", "f16", "f16")
    case = Case(kind, types, 128, 32, blocks=blocks, tail=ENABLE)
    case.m, case.n = m, n
    with pytest.raises(DeviceFault) as fault:
        case.run()
    assert fault.value.result == 715
    assert f"shape m{m}n{n}k" in fault.value.report


def test_transposed_words() -> None:
    """Elements of 32 bits, in atoms of 32 bytes."""
    types = ("f32", "tf32", "tf32")
    check(Case("tf32", types, 128, 64, swizzle=(1, 1), mn=(True, True), tail=ENABLE))


def test_without_addend() -> None:
    check(Case("f16", ("f32", "f16", "f16"), 128, 32, accumulate=False, tail=ENABLE))


def test_negated_factors() -> None:
    case = Case("f16", ("f32", "f16", "f16"), 128, 32, negate_a=1, tail=ENABLE)
    np.testing.assert_array_equal(case.run(), case.c - case.a @ case.b.T)


def test_scaled_addend() -> None:
    case = Case("f16", ("f32", "f16", "f16"), 128, 32, tail=f"{ENABLE}, 3")
    np.testing.assert_array_equal(case.run(), case.c / 8 + case.a @ case.b.T)


def test_saturated_integers() -> None:
    case = Case("i8", ("s32", "s8", "s8"), 128, 32, saturate=1, tail=ENABLE)
    case.memory[0, :, :32] = np.int32(2**31 - 1).view(np.uint32)
    product = case.a @ case.b.T
    np.testing.assert_array_equal(case.run(), np.minimum(2**31 - 1 + product, 2**31 - 1))


def test_lanes_that_are_not_written() -> None:
    masks = ", ".join(["0", "0xFFFF0000", "1", "0"])
    case = Case("f16", ("f32", "f16", "f16"), 128, 32, tail=f", {{{masks}}}{ENABLE}")
    expected = case.expected()
    for row in (*range(48, 64), 64):
        expected[row] = case.c[row]
    np.testing.assert_array_equal(case.run(), expected)


def test_shifted_rows_of_a() -> None:
    case = Case("f16", ("f32", "f16", "f16"), 128, 32, left=True, words=".ashift", tail=ENABLE)
    case.a = np.append(case.a[1:], case.a[-1:], axis=0)
    check(case)


def test_columns_of_zeros() -> None:
    """The manual's example 3: runs of three zeros and of four columns that are used."""
    case = Case("f16", ("f32", "f16", "f16"), 64, 64, stationary=True, tail=f"{ENABLE}, %v2")
    case.descriptors = (*case.descriptors, 1 << 32 | 1 << 39 | 2 << 40 | 3 << 48)
    column = np.arange(64)
    first, second = column % 7 < 3, (column - 32) % 7 >= 4
    case.b[np.where(column < 32, first, second)] = 0
    check(case)


# --- scale factors -------------------------------------------------------------------------------


def with_scales(case: Case, count: int, first: int, name: str, column: int) -> None:
    """Put scale factors into all partitions of tensor memory, and scale what is expected."""
    rng = np.random.default_rng(count)
    for matrix, at in ((case.a, column), (case.b, column + 8)):
        exponents = rng.integers(-2, 3, (len(matrix), count))
        codes = exponents + 127 if name == "ue8m0" else (exponents + 7) << 3
        for block in range(case.blocks):
            mine = codes
            if matrix is case.a:
                rows = len(codes) // case.blocks
                mine = codes[block * rows : (block + 1) * rows]
            for line, of_line in enumerate(mine.tolist()):
                for place, code in enumerate(of_line):
                    lanes = np.arange(line % 32, 128, 32)
                    cell = at + line // 32 + (first + place) // 4 * 4
                    word = case.memory[block, lanes, cell]
                    shift = 8 * ((first + place) % 4)
                    word = word & ~np.uint32(255 << shift) | np.uint32(code << shift)
                    case.memory[block, lanes, cell] = word
        matrix *= np.repeat(2.0**exponents, case.k // count, axis=1)


@pytest.mark.parametrize(
    ("kind", "types", "vector", "count", "first", "scale"),
    [
        ("mxf8f6f4", ("e4m3", "e5m2"), "", 1, 0, "ue8m0"),
        ("mxf8f6f4", ("e2m1", "e3m2"), ".block32", 1, 3, "ue8m0"),
        ("mxf4", ("e2m1", "e2m1"), "", 2, 2, "ue8m0"),
        ("mxf4nvf4", ("e2m1", "e2m1"), ".block16", 4, 0, "ue4m3"),
        ("mxf4nvf4", ("e2m1", "e2m1"), ".scale_vec::2X", 2, 0, "ue8m0"),
    ],
)
@pytest.mark.parametrize(("m", "blocks", "sparse"), [(128, 1, False), (256, 2, True)])
def test_scale_factors(
    kind: str, types: tuple[str, str], vector: str, count: int, first: int, scale: str, m: int,
    blocks: int, sparse: bool,
) -> None:  # fmt: skip
    n, column = 64, 80
    tail = f", [%t+{column}], [%t+{column + 8}]{ENABLE}"
    case = Case(kind, ("f32", *types), m, n, blocks=blocks, tail=tail, sparse=sparse,
                words=f".block_scale{vector}", ue8m0=int(scale == "ue8m0"), sfa=first,
                sfb=first)  # fmt: skip
    if sparse:
        with_metadata(case)
    with_scales(case, count, first, scale, column)
    check(case)


LONG = [
    ("mxf4", "", 3, 0, "ue8m0"), ("mxf4", ".block32", 3, 3, "ue8m0"),
    ("mxf4nvf4", ".block16", 6, 0, "ue4m3"), ("mxf4nvf4", ".block16", 6, 2, "ue4m3"),
]  # fmt: skip


def long_case(kind: str, vector: str, first: int, scale: str, blocks: int = 1) -> Case:
    """A product with K = 96."""
    tail = f", [%t+{80 + (1 << 30)}], [%t+{88 + (1 << 31)}]{ENABLE}"
    return Case(kind, ("f32", "e2m1", "e2m1"), 128 * blocks, 64, blocks=blocks, tail=tail, depth=96,
                words=f".block_scale{vector}", ue8m0=int(scale == "ue8m0"), sfa=first, sfb=first,
                long=1)  # fmt: skip


@pytest.mark.parametrize(("kind", "vector", "count", "first", "scale"), LONG)
@pytest.mark.parametrize("blocks", [1, 2])
def test_long_products(
    kind: str, vector: str, count: int, first: int, scale: str, blocks: int
) -> None:
    case = long_case(kind, vector, first, scale, blocks)
    with_scales(case, count, first, scale, 80)
    check(case, architecture=103)


@pytest.mark.parametrize("start", [5, 6, 7])
def test_lines_that_continue_in_another_buffer(start: int) -> None:
    """The leading dimension of the descriptors is the address of the other buffer."""
    case = long_case("mxf4", "", 0, "ue8m0")
    for place, lines in enumerate((128, 64)):
        matrix = whole("e2m1", (lines, 512), place)
        parts = [placed(half, "e2m1", 4)[0] for half in np.split(matrix, 2, axis=1)]
        size = lines * 128  # bytes of a buffer
        case.images[0, place, : 2 * size] = np.concatenate([part[:size] for part in parts])
        chosen = matrix[:, 32 * start : 32 * start + 96]
        (case.a, case.b)[place][:] = chosen
        other = f"add.u64 %w, %v{place}, {size >> 4}; and.b64 %w, %w, 0x3fff;"
        case.before += f"""
    and.b64 %v{place}, %v{place}, 0xffffffffc000ffff; {other} shl.b64 %w, %w, 16;
    or.b64 %v{place}, %v{place}, %w; add.u64 %v{place}, %v{place}, {start};
    or.b64 %v{place}, %v{place}, {1 << 52};"""
    with_scales(case, 3, 0, "ue8m0", 80)
    check(case, architecture=103)


def test_long_products_of_other_devices() -> None:
    with pytest.raises(DeviceFault) as fault:
        long_case("mxf4", "", 0, "ue8m0").run()
    assert "K = 96, which only" in fault.value.report


# --- sparse matrices -----------------------------------------------------------------------------


def with_metadata(case: Case) -> None:
    """Choose the elements of A, write metadata to tensor memory, and expand what is expected."""
    rng = np.random.default_rng(7)
    chunk = {32: 2, 4: 8}.get(case.container, 4)  # elements
    pairs = [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]
    if chunk == 2:
        pairs = [(0, 1), (2, 3)]
    chunks = case.k // chunk
    chosen = np.array(pairs)[rng.integers(0, len(pairs), (case.m, chunks))]
    nibbles = chosen[..., 0] | chosen[..., 1] << 2
    whole_rows = np.zeros((case.m, case.k))
    kept = case.a.reshape(case.m, chunks, -1)
    for row, place in np.ndindex(case.m, chunks):
        units = chosen[row, place]
        places = units * (chunk // 4) if chunk >= 4 else units[:1] // 2
        if chunk == 8:
            places = np.add.outer(places, [0, 1]).reshape(-1)
        whole_rows[row, place * chunk + places] = kept[row, place]
    rows = case.m // case.blocks
    column = case.width + 32
    for block in range(case.blocks):
        for row, place in np.ndindex(rows, chunks):
            nibble = int(nibbles[block * rows + row, place])
            if case.container >= 16:  # CUTLASS: ((8, 2, 8), (16, 2)): ((1, 2048, 16), (128, 8))
                line = row // 16 * 16 + row % 8 + place // 4 * 8
                at, shift = column, row // 8 % 2 * 16 + place % 4 * 4
            else:
                line, at, shift = row, column + place // 8, place % 8 * 4
            lanes = [case.base + line % 16 + line // 16 * 32]
            if not case.half:
                lanes = list(range(line, 128, rows))
            for lane in lanes:
                word = int(case.memory[block, lane, at])
                case.memory[block, lane, at] = word & ~(15 << shift) | nibble << shift
    case.a = whole_rows


@pytest.mark.parametrize(
    ("kind", "types"),
    [
        ("f16", ("f32", "f16", "f16")), ("tf32", ("f32", "tf32", "tf32")),
        ("i8", ("s32", "s8", "u8")), ("f8f6f4", ("f32", "e4m3", "e2m3")),
    ],
)  # fmt: skip
@pytest.mark.parametrize(
    ("m", "blocks", "stationary"),
    [(128, 1, False), (64, 1, False), (128, 2, False), (256, 2, False), (32, 1, True)],
)
def test_sparse_matrices(
    kind: str, types: tuple[str, str, str], m: int, blocks: int, stationary: bool
) -> None:
    case = Case(kind, types, m, 64, blocks=blocks, stationary=stationary, sparse=True, tail=ENABLE)
    with_metadata(case)
    check(case)


def test_strides_of_chunks() -> None:
    """The layouts of the tests themselves let nothing overlap."""
    for mode in (0, 32, 64, 128, 1):
        places, _ = chunk_places(mode, 16, 8, mn=mode == 1)
        assert len(np.unique(places)) == places.size


# --- mistakes ------------------------------------------------------------------------------------


@pytest.mark.parametrize("place", [32, 61])
@pytest.mark.parametrize("change", [-1, 1])
def test_another_stride_or_swizzle_gives_another_result(place: int, change: int) -> None:
    """Or an invalid descriptor, or an address outside of shared memory."""
    case = Case("f16", ("f32", "f16", "f16"), 128, 64, mn=(True, True), tail=ENABLE)
    of_a, of_b = case.descriptors
    case.descriptors = of_a, of_b + (change << place)
    found = None
    with suppress(DeviceFault):
        found = case.run()
    assert found is None or not np.array_equal(found, case.expected())


@pytest.mark.parametrize("word", [1 << 46, 1 << 47, 1 << 60])
def test_constant_bits_of_descriptors(word: int) -> None:
    """A descriptor of `wgmma` has no bit 46."""
    case = Case("f16", ("f32", "f16", "f16"), 128, 64, tail=ENABLE)
    case.descriptors = case.descriptors[0] ^ word, case.descriptors[1]
    with pytest.raises(DeviceFault) as fault:
        case.run()
    assert fault.value.result == 715
    assert "bits 46 to 48 are not 0b001, or bits 53 to 60" in fault.value.report


def test_a_commit_before_the_last_product() -> None:
    """The kernel reads and deallocates D without waiting for the product."""
    case = Case("f16", ("f32", "f16", "f16"), 128, 64, tail=f"{ENABLE};\nbra done")  # no other one
    case.before = commit(1)
    with pytest.raises(DeviceFault, match="column 0 of tensor memory, which has been deallocated"):
        case.run(schedule=Schedule(None))
    observer = DetectorObserver(frozenset({"race"}))
    case.run(observer=observer)
    assert {each.memory and each.memory.space for each in observer.findings} == {"tensor"}
