"""What buffers hold before the launch."""

from __future__ import annotations

import numpy as np
import pytest

from cudarun.arguments.array_files import load_npy, npy_header
from cudarun.arguments.dtypes import by_value, convert, element_dtype, scalar_dtype, scalar_type
from cudarun.arguments.grammar import parse_argument, parse_type
from cudarun.arguments.initial_values import FileInitial, FileOrder
from cudarun.arguments.initializers import fill, seeded
from cudarun.arguments.types import SCALARS, VECTORS
from cudarun.arguments.values import Buffer, FileBuffer
from cudarun.base.errors import RequestError


def filled(text: str, *shape: int, seed: int = 1):
    buffer = parse_argument(text).value
    assert isinstance(buffer, Buffer)
    assert buffer.initial is not None
    return fill(buffer.initial, buffer.type, shape, seeded(seed, "x"))


def same(found, expected, dtype) -> None:
    assert found.dtype == dtype
    assert found.flags.c_contiguous
    assert found.flags.writeable
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("name", SCALARS)
def test_constants_of_every_type(name):
    dtype = scalar_dtype(SCALARS[name])
    same(filled(f"{name}[n]:zeros", 5), np.zeros(5, dtype), dtype)
    same(filled(f"{name}[n]:ones", 2, 3), np.ones((2, 3), dtype), dtype)


def test_constants_keep_their_bits():
    same(filled("f32[n]:3.5", 3), np.float32([3.5] * 3), np.float32)
    same(filled("i8[n]:-1", 3), np.int8([-1] * 3), np.int8)
    same(filled("u64[n]:0xffffffffffffffff", 1), np.uint64([2**64 - 1]), np.uint64)
    found = filled("f32[n]:0f7fc00001", 2)
    np.testing.assert_array_equal(found.view(np.uint32), 0x7FC00001)
    assert np.signbit(filled("f32[n]:-0.0", 1))[0]


def test_iota():
    same(filled("i32[n]:iota", 5), np.arange(5), np.int32)
    same(filled("f32[m,n]:iota(1, 0.5)", 2, 3), 1 + 0.5 * np.arange(6).reshape(2, 3), np.float32)
    same(filled("i32[n]:iota(10,-3)", 4), [10, 7, 4, 1], np.int32)
    same(filled("u8[n]:iota(250)", 10), (250 + np.arange(10)) % 256, np.uint8)
    same(filled("u64[n]:iota(18446744073709551614)", 3), [2**64 - 2, 2**64 - 1, 0], np.uint64)
    same(filled("i64[n]:iota(-2,4611686018427387904)", 3), [-2, 2**62 - 2, 2**63 - 2], np.int64)
    same(filled("f64[n]:iota", 0), [], np.float64)


def test_numbers_of_sequences_as_bit_patterns():
    same(filled("f32[n]:iota(0f3f800000,0f40000000)", 3), [1, 3, 5], np.float32)
    assert filled("f32[n]:rand(0f3f800000,2)", 100).min() >= 1


def test_iota_over_the_range_of_doubles():
    with pytest.raises(RequestError, match="iota reaches inf, which is out of range for f64"):
        filled("f64[n]:iota(1e308,1e308)", 2)


def test_iota_over_many_chunks():
    n = 5 * (1 << 16) + 3
    same(filled("f32[n]:iota", n), np.arange(n), np.float32)
    same(filled("i32[n]:iota(7,3)", n), 7 + 3 * np.arange(n), np.int32)
    found = filled("f64[n]:iota(0,0.1)", n)
    np.testing.assert_array_equal(found, np.arange(n) * 0.1)


def test_iota_that_leaves_its_type():
    with pytest.raises(RequestError, match="iota reaches 65536, which is out of range for f16"):
        filled("f16[n]:iota", 65537)
    filled("f16[n]:iota", 65504)


@pytest.mark.parametrize("elements", [1 << 50, 1 << 60])
@pytest.mark.parametrize("initial", ["zeros", "ones", "iota", "rand"])
def test_what_no_machine_holds(initial, elements):
    with pytest.raises(RequestError, match=rf"not enough host memory for f32\[{elements}\]: "):
        filled(f"f32[n]:{initial}", elements)


def test_eye():
    same(filled("f32[m,n]:eye", 3, 4), np.eye(3, 4), np.float32)
    same(filled("i32[b,m,n]:eye", 2, 3, 3), np.broadcast_to(np.eye(3), (2, 3, 3)), np.int32)


def test_lists():
    same(filled("i32[4]:[1,2,-3,4]", 4), [1, 2, -3, 4], np.int32)
    same(filled("f32[2,2]:[[1,2],[3,4.5]]", 2, 2), [[1, 2], [3, 4.5]], np.float32)
    same(filled("bool[2]:[true,false]", 2), [True, False], np.bool_)
    same(filled("float2[2]:[[1,2],[3,4]]", 2), [[1, 2], [3, 4]], np.float32)
    same(filled("i32[0]:[]", 0), [], np.int32)


def test_random_numbers():
    uniform = filled("f32[n]:rand(-3,5)", 100_000)
    assert uniform.dtype == np.float32
    assert uniform.min() >= -3
    assert uniform.max() <= 5
    assert abs(uniform.mean() - 1) < 0.05
    normal = filled("f64[n]:randn", 100_000)
    assert abs(normal.mean()) < 0.02
    assert abs(normal.std() - 1) < 0.02
    whole = filled("u8[n]:randint(0,256)", 100_000)
    assert set(np.unique(whole)) == set(range(256))
    signed = filled("i8[n]:randint(-2,2)", 1000)
    assert set(np.unique(signed)) == {-2, -1, 0, 1}
    floats = filled("f16[n]:randint(0,4)", 1000)
    assert set(np.unique(floats).tolist()) == {0, 1, 2, 3}
    filled("u64[n]:randint(0,18446744073709551616)", 10)


def test_random_numbers_depend_on_seed_and_name_only():
    one = filled("f32[n]:rand", 100)
    np.testing.assert_array_equal(one, filled("f32[n]:rand", 100))
    assert (one != filled("f32[n]:rand", 100, seed=2)).any()
    buffer = parse_argument("f32[n]:rand").value
    other = fill(buffer.initial, buffer.type, (100,), seeded(1, "y"))
    assert (one != other).any()
    # The first of the stream, so that a change of it does not pass unseen.
    assert seeded(1, "x")().integers(0, 1 << 32) == 303724346


def test_vectors_are_filled_as_the_flat_buffer_they_are():
    same(filled("float4[n]:iota", 3), np.arange(12).reshape(3, 4), np.float32)
    same(filled("f32*2[n]:iota", 3), np.arange(6).reshape(3, 2), np.float32)
    same(filled("float2*3[n]:ones", 2), np.ones((2, 3, 2)), np.float32)


def test_structs_are_filled_member_by_member():
    found = filled("{n=i8, v=float4, f64}[n]:iota(1)", 2)
    assert found.dtype == element_dtype(parse_type("{n=i8, v=float4, f64}"))
    assert found.dtype.itemsize == 48
    np.testing.assert_array_equal(found["n"], [1, 2])
    np.testing.assert_array_equal(found["v"], 1 + np.arange(8).reshape(2, 4))
    np.testing.assert_array_equal(found["f2"], [1, 2])
    assert found.tobytes()[1:16] == bytes(15)  # padding is zero, not what memory held


def test_structs_from_lists():
    found = filled("{i32, float2}[2]:[{1, 2,3}, {4, 5,6}]", 2)
    np.testing.assert_array_equal(found["f0"], [1, 4])
    np.testing.assert_array_equal(found["f1"], [[2, 3], [5, 6]])


# --- files ---------------------------------------------------------------------------------------


def from_file(text: str, path, *shape: int, word: str = ""):
    opened = f"{word}(" if word else ""
    buffer = parse_argument(f'{text}:{opened}@"{path}"{")" * opened.count("(")}').value
    assert isinstance(buffer, Buffer)
    assert isinstance(buffer.initial, FileInitial)
    return fill(buffer.initial, buffer.type, shape, seeded(0, "x"))


def test_raw_files(tmp_path):
    path = tmp_path / "raw"
    np.arange(6, dtype=np.float32).tofile(path)
    same(from_file("f32[2,3]", path, 2, 3), np.arange(6).reshape(2, 3), np.float32)
    same(from_file("float2[3]", path, 3), np.arange(6).reshape(3, 2), np.float32)
    assert from_file("{i32,f32}[3]", path, 3)["f1"].tolist() == [1, 3, 5]
    with pytest.raises(RequestError) as refused:
        from_file("f32[7]", path, 7)
    assert refused.value.message == f"{path} has 24 bytes; f32[7] has 28"
    assert refused.value.context == {"file": str(path)}


def test_npy_files(tmp_path):
    path = tmp_path / "x"  # told by its contents, not by its name
    np.save(path, np.arange(6, dtype=np.float32).reshape(2, 3))
    path = path.with_suffix(".npy").rename(path)
    same(from_file("f32[2,3]", path, 2, 3), np.arange(6).reshape(2, 3), np.float32)
    same(from_file("f32[6]", path, 6), np.arange(6), np.float32)
    same(from_file("float3[2]", path, 2), np.arange(6).reshape(2, 3), np.float32)
    with pytest.raises(RequestError, match="contains float32; the buffer is i32"):
        from_file("i32[6]", path, 6)
    with pytest.raises(RequestError, match=r"has shape \(2, 3\); the buffer is f32\[5\]"):
        from_file("f32[5]", path, 5)


def test_npy_files_of_another_byte_order(tmp_path):
    path = tmp_path / "x.npy"
    np.save(path, np.arange(6, dtype=">f4").reshape(2, 3))
    same(from_file("f32[2,3]", path, 2, 3), np.arange(6).reshape(2, 3), np.float32)
    same(from_file("f64[6]", path, 6, word="cast"), np.arange(6), np.float64)
    stored = from_file("u32[6]", path, 6, word="asis")
    same(stored, np.arange(6, dtype=">f4").view("<u4"), np.uint32)


def test_npy_files_in_fortran_order(tmp_path):
    path = tmp_path / "x.npy"
    values = np.arange(6, dtype="f4").reshape(2, 3)
    np.save(path, np.asfortranarray(values))
    for read in (lambda: from_file("f32[2,3]", path, 2, 3), lambda: npy_header(path)):
        with pytest.raises(RequestError, match="is in Fortran order"):
            read()
    same(from_file("f32[2,3]", path, 2, 3, word="corder"), values, np.float32)
    same(from_file("f32[3,2]", path, 3, 2, word="asis"), values.T, np.float32)
    same(from_file("i32[6]", path, 6, word="cast(corder"), values.reshape(6), np.int32)
    same(from_file("i16[3,2]", path, 3, 2, word="cast(asis"), values.T, np.int16)
    assert npy_header(path, FileBuffer(str(path), FileOrder.C)) == (SCALARS["f32"], (2, 3))
    assert npy_header(path, FileBuffer(str(path), FileOrder.STORED)) == (SCALARS["f32"], (3, 2))


def test_files_that_are_converted(tmp_path):
    path = tmp_path / "x.npy"
    values = np.array([-1.5, 0.1, 1e300, np.nan, 70000.4, 2.0])
    np.save(path, values)
    for name in ("f32", "f16", "bf16", "i32", "u8", "bool"):
        scalar = SCALARS[name]
        read = from_file(f"{name}[6]", path, 6, word="cast")
        assert read.dtype == scalar_dtype(scalar)
        assert read.tobytes() == convert(values, scalar).tobytes()
    pairs = convert(values, SCALARS["f32"]).reshape(3, 2)
    same(from_file("float2[3]", path, 3, word="cast"), pairs, np.float32)
    with pytest.raises(RequestError, match=r"has shape \(6,\); the buffer is f32\[5\]"):
        from_file("f32[5]", path, 5, word="cast")
    (tmp_path / "raw").write_bytes(bytes(24))
    for word in ("cast", "corder"):
        with pytest.raises(RequestError, match=rf"is not a \.npy file: {word} requires its type"):
            from_file("f32[6]", tmp_path / "raw", 6, word=word)
    same(from_file("f32[6]", tmp_path / "raw", 6, word="asis"), np.zeros(6), np.float32)


def test_large_files_are_converted_in_parts(tmp_path):
    path = tmp_path / "x.npy"
    values = np.arange(200_000, dtype="i8") - 7
    np.save(path, values)
    same(from_file("f32[200000]", path, 200_000, word="cast"), values, np.float32)


def test_bytes_as_stored(tmp_path):
    path = tmp_path / "x.npy"
    np.save(path, np.arange(4, dtype="u2"))
    assert (
        from_file("bf16[4]", path, 4, word="asis").tobytes() == np.arange(4, dtype="u2").tobytes()
    )
    with pytest.raises(RequestError, match=r"has 8 bytes of data; f32\[4\] has 16"):
        from_file("f32[4]", path, 4, word="asis")


def test_complex_numbers(tmp_path):
    path = tmp_path / "x.npy"
    values = np.array([[1 + 2j, 3 - 4j, 5j]], np.complex64)
    pairs = values.view("f4").reshape(3, 2)
    np.save(path, values)
    assert npy_header(path) == (VECTORS["float2"], (1, 3))
    same(from_file("float2[3]", path, 3), pairs, np.float32)
    same(from_file("f32[6]", path, 6), pairs.reshape(6), np.float32)
    same(from_file("double2[3]", path, 3, word="cast"), pairs, np.float64)
    with pytest.raises(RequestError, match=r"has shape \(1, 3\); the buffer is f32\[3\]"):
        from_file("f32[3]", path, 3)
    np.save(path, values.astype(">c16"))
    assert npy_header(path) == (VECTORS["double2"], (1, 3))
    same(from_file("double2[3]", path, 3), pairs, np.float64)
    same(from_file("float2[3]", path, 3, word="cast"), pairs, np.float32)


def test_structs(tmp_path):
    path = tmp_path / "x.npy"
    fields = [("n", "i1"), ("v", "f4", (2, 3)), ("z", "c8"), ("inner", [("d", "f8")]), ("ok", "?")]
    values = np.zeros(3, np.dtype(fields, align=True))
    values["n"], values["v"], values["inner"]["d"] = [1, 2, 3], 4, [0.5, 1.5, 2.5]
    np.save(path, values)
    element, shape = npy_header(path)
    assert (str(element), shape) == (
        "{n=i8, v=f32*3*2, z=f32*2, inner={d=f64}, ok=bool}", (3,)
    )  # fmt: skip
    assert element.size == values.itemsize
    assert from_file(f"{element}[3]", path, 3).tobytes() == values.tobytes()
    assert from_file("{i8, f32*6, f32*2, {f64}, bool}[3]", path, 3).tobytes() == values.tobytes()
    with pytest.raises(RequestError, match="the buffer is"):
        from_file("{i8, f32*6, f32*2, f64, bool}[3]", path, 3)
    with pytest.raises(RequestError, match="which cast cannot convert"):
        from_file("f32[3]", path, 3, word="cast")


def test_structs_that_cxx_lays_out_in_another_way(tmp_path):
    path = tmp_path / "x.npy"
    np.save(path, np.zeros(2, [("n", "i4"), ("d", "f8")]))
    with pytest.raises(RequestError, match=r"structs whose layout is not that of C\+\+") as refused:
        npy_header(path)
    assert refused.value.hint == (
        f"save it with numpy.dtype(…, align=True), or pass its bytes: u8[24]:asis(@{path})"
    )
    assert not from_file("u8[24]", path, 24, word="asis").any()


def test_npy_files_of_types_numpy_has_no_name_for(tmp_path):
    path = tmp_path / "x.npy"
    values = np.arange(4).astype(scalar_dtype(SCALARS["bf16"]))
    np.save(path, values)
    same(from_file("bf16[4]", path, 4), values, values.dtype)
    with pytest.raises(RequestError, match="which is not an argument type") as refused:
        npy_header(path)
    assert refused.value.hint == f"add the type and dimensions: bf16[n]:@{path}"


@pytest.mark.parametrize("shape", [(), (0,), (0, 3), (5,), (2, 3, 4)])
@pytest.mark.parametrize("dtype", ["i1", "u8", "f2", "f8", "?"])
def test_headers(tmp_path, shape, dtype):
    np.save(tmp_path / "x.npy", np.zeros(shape, dtype))
    assert npy_header(tmp_path / "x.npy") == (scalar_type(np.dtype(dtype)), shape)
    assert load_npy(tmp_path / "x.npy").shape == shape


def test_objects_are_never_unpickled(tmp_path):
    path = tmp_path / "x.npy"
    np.save(path, np.array([print]), allow_pickle=True)
    for read in (npy_header, load_npy):
        with pytest.raises(RequestError, match=f"cannot read {path}: it contains Python objects"):
            read(path)


def test_files_that_are_not_there(tmp_path):
    with pytest.raises(RequestError, match=r"cannot read .*nowhere: No such file or directory"):
        from_file("f32[1]", tmp_path / "nowhere", 1)
    (tmp_path / "raw").write_bytes(b"abc")
    with pytest.raises(RequestError, match=r"is not a \.npy file, so its type is unknown"):
        npy_header(tmp_path / "raw")


def test_a_truncated_npy_file(tmp_path):
    path = tmp_path / "x.npy"
    np.save(path, np.arange(100))
    path.write_bytes(path.read_bytes()[:200])
    with pytest.raises(RequestError, match="cannot read"):
        load_npy(path)
    path.write_bytes(path.read_bytes()[:20])
    with pytest.raises(RequestError, match="cannot read"):
        load_npy(path)


# --- dtypes --------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", SCALARS)
def test_dtypes_and_back(name):
    dtype = scalar_dtype(SCALARS[name])
    assert dtype.itemsize == SCALARS[name].size
    assert scalar_type(dtype) == SCALARS[name]


def test_dtypes_that_are_no_types():
    assert scalar_type(np.dtype("c8")) is None
    assert scalar_type(np.dtype("O")) is None
    assert scalar_type(np.dtype("V2")) is None
    assert scalar_type(np.dtype("f16")) is None


def test_values_from_their_bytes():
    assert by_value(SCALARS["i32"], b"\xff\xff\xff\xff") == np.int32(-1)
    assert isinstance(by_value(SCALARS["i32"], bytes(4)), np.int32)
    np.testing.assert_array_equal(
        by_value(parse_type("float2"), np.float32([1, 2]).tobytes()), np.float32([1, 2])
    )
    struct = by_value(parse_type("{n=i32, f64}"), bytes([7, *[0] * 15]))
    assert struct["n"] == 7
