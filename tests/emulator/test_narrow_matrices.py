"""Products and copies of matrices of 4 to 8 bits, by the manual's formulas for fragments."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import ml_dtypes
import numpy as np
import numpy.typing as npt
import pytest

from cudarun.emulator.decode.module import compile_module
from cudarun.emulator.engines import COMPILE, INTERPRET, Engines
from cudarun.emulator.execution import execute
from cudarun.ptx.errors import PtxError
from cudarun.ptx.parser import parse
from tests.emulator.device import run_lanes
from tests.support.tiers import eager

HEADER = ".version 9.1\n.target sm_120a\n.address_size 64\n"
Array = npt.NDArray[np.generic]
TYPES = {
    "e2m1": ml_dtypes.float4_e2m1fn,
    "e2m3": ml_dtypes.float6_e2m3fn,
    "e3m2": ml_dtypes.float6_e3m2fn,
    "e4m3": ml_dtypes.float8_e4m3fn,
    "e5m2": ml_dtypes.float8_e5m2,
    "ue8m0": ml_dtypes.float8_e8m0fnu,
    "ue4m3": ml_dtypes.float8_e4m3fn,
}
SMALL = [0, 0.5, -0.5, 1, -1, 1.5, 2, -2, 3, -3, 4]


@pytest.fixture(params=[INTERPRET, COMPILE])
def warp(request: pytest.FixtureRequest) -> Callable[..., list[Array]]:
    """`run_lanes` for sm_120a with one of the engines."""
    if request.param == COMPILE:
        pytest.importorskip("llvmlite", reason="the extra cudarun[fast] is not installed")
    engines = Engines(request.param, in_order=True, tiers=eager())
    return partial(run_lanes, header=HEADER, execute=partial(execute, engines=engines))


def bits(values: Array, name: str) -> Array:
    return values.astype(TYPES[name]).view("u1")


def places(matrix: str, per_register: int, registers: int) -> Iterator[tuple[int, ...]]:
    """Yield lane, register, place in it, row and column of the elements of A or B."""
    for lane in range(32):
        group, thread = lane // 4, lane % 4
        for register in range(registers):
            for place in range(per_register):
                column = thread * per_register + place
                if matrix == "a":
                    row = group + 8 * (register % 2)
                    yield lane, register, place, row, column + 4 * per_register * (register // 2)
                else:
                    yield lane, register, place, column + 4 * per_register * register, group


def fragments(matrix: Array, which: str, name: str, registers: int, *, packed: bool) -> Array:
    """The registers of each lane: packed elements of 4 bits, or bytes with e2m1 in the middle."""
    width = 4 if packed else 8
    shift = 2 if name == "e2m1" and not packed else 0
    found = np.zeros((32, registers), "u4")
    encoded = bits(matrix, name).astype("u4") << shift
    for lane, register, place, row, column in places(which, 32 // width, registers):
        found[lane, register] |= encoded[row, column] << width * place
    return found


def scales(values: Array, name: str, byte: int, lanes: list[int]) -> Array:
    """The register with the scale factors of each line in the bytes of one lane."""
    register = np.zeros(32, "u4")
    for line, lane in enumerate(lanes):
        for place, value in enumerate(bits(values[line], name)):
            register[lane] |= np.uint32(value) << np.uint32(8 * (byte + place))
    return register


def product(
    warp: Callable[..., list[Array]], instruction: str, a: Array, b: Array, rest: str, **more: Array
) -> Array:
    """Multiply in one warp with an accumulator of quarters, and return the result less it."""
    c = np.arange(128, dtype="f4").reshape(16, 8) / 4
    rows = [
        (lane // 4 + 8 * (i // 2), lane % 4 * 2 + i % 2) for lane in range(32) for i in range(4)
    ]
    sums = np.array([c[row, column] for row, column in rows]).reshape(32, 4)
    given = {f"a{n}": a[:, n].copy() for n in range(a.shape[1])}
    given |= {f"b{n}": b[:, n].copy() for n in range(b.shape[1])}
    given |= {f"c{n}": sums[:, n].copy().view("u4") for n in range(4)} | more
    names = [", ".join(f"%{k}" for k in given if k[0] == x and k[1:].isdigit()) for x in "ab"]
    text = f"""{{ .reg .f32 %f<4>; {" ".join(f"mov.b32 %f{n}, %c{n};" for n in range(4))}
        {instruction} {{%f0, %f1, %f2, %f3}}, {{{names[0]}}}, {{{names[1]}}},
        {{%f0, %f1, %f2, %f3}}{rest}; {" ".join(f"mov.b32 %d{n}, %f{n};" for n in range(4))} }}"""
    got = warp(text, given, {f"d{n}": "u4" for n in range(4)})
    result = np.zeros((16, 8))
    for place, (row, column) in enumerate(rows):
        result[row, column] = got[place % 4].view("f4")[place // 4] - c[row, column]
    return result


@pytest.mark.parametrize("types", ["e2m1.e3m2", "e2m3.e2m1", "e4m3.e5m2"])
def test_product_of_bytes(warp: Callable[..., list[Array]], types: str) -> None:
    rng = np.random.default_rng(1)
    a, b = rng.choice(SMALL, (16, 32)), rng.choice(SMALL, (32, 8))
    names = types.split(".")
    got = product(
        warp, f"mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f32.{types}.f32",
        fragments(a, "a", names[0], 4, packed=False), fragments(b, "b", names[1], 2, packed=False),
        "",
    )  # fmt: skip
    assert np.array_equal(got, a @ b)


SCALED = [
    ("mxf8f6f4", "1X", "e4m3.e2m1", "ue8m0", 3, 1, 2),
    ("mxf4", "2X", "e2m1.e2m1", "ue8m0", 2, 0, 3),
    ("mxf4nvf4", "4X", "e2m1.e2m1", "ue4m3", 0, 1, 1),
]


@pytest.mark.parametrize(("kind", "vector", "types", "scale", "byte", "first", "second"), SCALED)
def test_product_with_scale_factors(
    warp: Callable[..., list[Array]],
    kind: str, vector: str, types: str, scale: str, byte: int, first: int, second: int,
) -> None:  # fmt: skip
    """The selectors name the byte, and the lanes of the group that have the scale factors."""
    rng = np.random.default_rng(2)
    packed, count = kind != "mxf8f6f4", int(vector[0])
    k = 64 if packed else 32
    a, b = rng.choice(SMALL, (16, k)), rng.choice(SMALL, (k, 8))
    factors = [1, 2, 0.5, 1.5] if scale == "ue4m3" else [1, 2, 0.5, 4]
    of_a, of_b = rng.choice(factors, (16, count)), rng.choice(factors, (8, count))
    left, right = types.split(".")
    got = product(
        warp,
        f"mma.sync.aligned.kind::{kind}.block_scale.scale_vec::{vector}.m16n8k{k}.row.col.f32."
        f"{types}.f32.{scale}",
        fragments(a, "a", left, 4, packed=packed),
        fragments(b, "b", right, 2, packed=packed),
        f", %s, {{{byte}, {first}}}, %t, {{{byte}, {second}}}",
        s=scales(of_a, scale, byte, [4 * (m % 8) + 2 * first + m // 8 for m in range(16)]),
        t=scales(of_b, scale, byte, [4 * n + second for n in range(8)]),
    )
    step = k // count
    expected = (a * of_a.repeat(step, 1)) @ (b * of_b.repeat(step, 1).T)
    assert np.array_equal(got, expected)


def test_selectors_of_each_warp(warp: Callable[..., list[Array]]) -> None:
    """Each warp names a byte in a register; a number beyond 3 is undefined, and no error."""
    ones, factors = np.full(96, 0x38383838, "u4"), np.full(96, 0x8281807F, "u4")
    bytes_named = np.repeat(np.array([1, 2, 7], "u2"), 32)
    text = """{ .reg .f32 %f<4>; .reg .b16 %zero; mov.b16 %zero, 0;
        mov.f32 %f0, 0f00000000; mov.f32 %f1, %f0; mov.f32 %f2, %f0; mov.f32 %f3, %f0;
        mma.sync.aligned.kind::mxf8f6f4.block_scale.m16n8k32.row.col.f32.e4m3.e4m3.f32.ue8m0
        {%f0, %f1, %f2, %f3}, {%a, %a, %a, %a}, {%a, %a}, {%f0, %f1, %f2, %f3},
        %s, {%byte, %zero}, %s, {%zero, %zero}; mov.b32 %d, %f3; }"""
    (got,) = warp(text, {"a": ones, "s": factors, "byte": bytes_named}, {"d": "u4"})
    assert np.array_equal(got.view("f4"), np.repeat([64.0, 128.0, 256.0], 32))


def test_sparse_product(warp: Callable[..., list[Array]]) -> None:
    """Two of four elements are not zero: the first and the third of each chunk."""
    rng = np.random.default_rng(3)
    kept, b = rng.choice(SMALL, (16, 32)), rng.choice(SMALL, (64, 8))
    of_a, of_b = rng.choice([1, 2, 4], (16, 1)), rng.choice([1, 0.5], (8, 1))
    a = np.zeros((16, 64))
    a[:, 0::4], a[:, 2::4] = kept[:, 0::2], kept[:, 1::2]
    got = product(
        warp,
        "mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.kind::mxf8f6f4.block_scale.f32."
        "e3m2.e2m1.f32.ue8m0",
        fragments(kept, "a", "e3m2", 4, packed=False),
        fragments(b, "b", "e2m1", 4, packed=False),
        ", %e, 0, %s, {0, 0}, %t, {0, 0}",
        e=np.full(32, 0x88888888, "u4"),
        s=scales(of_a, "ue8m0", 0, [4 * (m % 8) + m // 8 for m in range(16)]),
        t=scales(of_b, "ue8m0", 0, [4 * n for n in range(8)]),
    )
    assert np.array_equal(got, (a * of_a) @ (b * of_b.T))


def shared(values: Array, body: str, pitch: int = 16) -> str:
    """A kernel text: 32 rows of 16 bytes in shared memory at %w0, that of the lane at %t3."""
    return f"""{{ .shared .align 16 .b8 rows[512]; mov.u32 %t0, rows; mov.u32 %t1, %tid.x;
        mad.lo.u32 %t3, %t1, {pitch}, %t0;
        st.shared.v4.b32 [%t3], {{%r0, %r1, %r2, %r3}}; bar.warp.sync -1; {body} }}"""


def rows_of(rng: np.random.Generator, width: int) -> tuple[Array, Array]:
    """32 rows of 16 elements, and their 16 bytes in memory, packed and padded."""
    elements = rng.integers(0, 1 << width, (32, 16), "u1")
    stream = np.unpackbits(elements[..., None], axis=2, bitorder="little")[..., :width]
    packed = np.packbits(stream.reshape(32, -1), axis=1, bitorder="little")
    padded = np.full((32, 16), 0xEE, "u1")
    padded[:, : packed.shape[1]] = packed
    return elements, padded


@pytest.mark.parametrize("source", ["b8", "b8x16.b6x16_p32", "b8x16.b4x16_p64"])
def test_loads_of_matrices(warp: Callable[..., list[Array]], source: str) -> None:
    """Rows of 16 elements become bytes, and matrices of 16 rows are transposed."""
    width = {"b8": 8, "b8x16.b6x16_p32": 6, "b8x16.b4x16_p64": 4}[source]
    elements, padded = rows_of(np.random.default_rng(4), width)
    given = {f"r{n}": padded.view("u4")[:, n].copy() for n in range(4)}
    load = "ldmatrix.sync.aligned"
    text = f"{load}.m16n16.x2.trans.shared.{source} {{%d0, %d1, %d2, %d3}}, [%t3];"
    if source != "b8":
        text += f"{load}.m8n16.x4.shared.{source} {{%e0, %e1, %e2, %e3}}, [%t3];"
    wanted = [f"d{n}" for n in range(4)] + [f"e{n}" for n in range(4) if source != "b8"]
    got = np.stack(warp(shared(padded, text), given, dict.fromkeys(wanted, "u4")), axis=1)
    found = np.ascontiguousarray(got).view("u1").reshape(32, -1, 4)
    for lane in range(32):
        group, thread = lane // 4, lane % 4
        for register in range(4):
            first, column = 16 * (register // 2) + 4 * thread, group + 8 * (register % 2)
            assert np.array_equal(found[lane, register], elements[first : first + 4, column])
            if source != "b8":
                row = elements[8 * register + group, 4 * thread : 4 * thread + 4]
                assert np.array_equal(found[lane, 4 + register], row)


def test_stores_of_matrices(warp: Callable[..., list[Array]]) -> None:
    """What two of the columns of bytes in a register become: rows in memory."""
    rng = np.random.default_rng(5)
    values = rng.integers(0, 256, (32, 4, 4), "u1")
    given = {f"r{n}": values.view("u4")[:, n, 0].copy() for n in range(4)}
    text = """stmatrix.sync.aligned.m16n8.x4.trans.shared.b8 [%t3], {%r0, %r1, %r2, %r3};
        bar.warp.sync -1; ld.shared.v4.b32 {%d0, %d1, %d2, %d3}, [%t3];"""
    got = np.stack(warp(shared(values, text), given, {f"d{n}": "u4" for n in range(4)}), axis=1)
    rows = np.ascontiguousarray(got).view("u1").reshape(32, 16)
    for lane in range(32):
        for matrix in range(4):
            for place in range(4):
                row = 8 * matrix + lane % 4 * 2 + place % 2
                assert rows[row, lane // 4 + 8 * (place // 2)] == values[lane, matrix, place]


@pytest.mark.parametrize(
    ("selectors", "complaint"),
    [("{1, 0}, %t1, {0, 0}", "unexpected value '1'"), ("{0, 2}, %t1, {0, 0}", "'2'"),
     ("{0, 0}, %t1, {0, 4}", "'4'")],
)  # fmt: skip
def test_selectors_out_of_range(selectors: str, complaint: str) -> None:
    text = f"""{HEADER}.entry k() {{ .reg .b32 %t<9>; .reg .f32 %f<4>;
        mma.sync.aligned.m16n8k64.row.col.kind::mxf4.block_scale.f32.e2m1.e2m1.f32.ue8m0
        {{%f0, %f1, %f2, %f3}}, {{%t1, %t2, %t3, %t4}}, {{%t5, %t6}}, {{%f0, %f1, %f2, %f3}},
        %t0, {selectors}; }}"""
    with pytest.raises(PtxError, match=complaint):
        compile_module(parse(text))
