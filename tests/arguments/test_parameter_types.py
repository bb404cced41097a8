"""Types of parameters: how they are read, and which arguments match them."""

from __future__ import annotations

import shlex

import numpy as np
import pytest

from cudarun.arguments.expressions.parser import parse_expression
from cudarun.arguments.parameter_match import Agreement, PtxType, expected_type
from cudarun.arguments.types import SCALARS, VECTORS, PointerType
from cudarun.base.errors import RequestError
from cudarun.images.parameters import Parameter
from tests.arguments.test_binding import bound, parameters, refusal


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (None, None),
        ("float*", PointerType("float")),
        ("float const*", PointerType("float")),
        ("const  volatile float *", PointerType("float")),
        ("char const* const*", PointerType("char")),
        ("unsigned int", SCALARS["u32"]),
        ("const unsigned int", SCALARS["u32"]),
        ("float4", VECTORS["float4"]),
        ("u64", PtxType("u", 8)),
        (".f32", PtxType("f", 4)),
        ("b8", PtxType("b", 1)),
        ("u64.ptr", PointerType("u64.ptr")),
        ("b8[24]", None),
        ("float const [4]", None),
        ("CUtensorMap_st", None),
        ("abc::Bar", None),
    ],
)
def test_types_of_parameters(text, expected):
    assert expected_type(text) == expected


def test_members_of_a_struct_have_one_name_everywhere():
    binding = bound(
        "s={n=i32:4, f32[2], in={d=f64:3, q=f32[1]}, v=float2:1,2}", to=[Parameter(0, 0, 40)]
    )
    rows = {row.name for row in binding.rows}
    assert rows == {"s", "s.n", "s.1", "s.in", "s.in.d", "s.in.q", "s.v"}
    assert [spec.name for spec in binding.buffers] == ["s.1", "s.in.q"]
    scalars = binding.scalars
    assert {*scalars, "s.1", "s.in.q"} == rows
    assert (scalars["s.n"], scalars["s.in.d"], scalars["s.v"].tolist()) == (4, 3.0, [1.0, 2.0])
    for name in rows:
        assert parse_expression(f"{name} == 1").names == {name}


FULL, SIGNEDNESS, NONE = Agreement


@pytest.mark.parametrize(
    ("type_", "given", "expected"),
    [
        ("float*", "f32[4]", FULL),
        ("float*", "i32[4]", NONE),
        ("float const*", "f64[4]", NONE),
        ("float volatile*", "f16[4]", NONE),
        ("__half*", "bf16[4]", NONE),
        ("__half const*", "f16[4]", FULL),
        ("unsigned int*", "i32[4]", SIGNEDNESS),
        ("int*", "u32[4]", SIGNEDNESS),
        ("int*", "i64[4]", NONE),
        ("long long*", "u64[4]", SIGNEDNESS),
        ("bool*", "bool[4]", FULL),
        ("bool*", "u8[4]", SIGNEDNESS),
        ("bool*", "i32[4]", NONE),
        ("void*", "f32[4]", FULL),
        ("void const*", "f32[4]", FULL),
        ("char*", "f32[4]", FULL),
        ("signed char*", "i32[4]", FULL),
        ("unsigned char const*", "f32[4]", FULL),
        ("uchar4*", "u32[4]", FULL),
        ("std::byte*", "f32[4]", FULL),
        ("float4*", "i32[4]", NONE),
        ("float4*", "f32[4]", FULL),
        ("float4*", "float2[4]", FULL),
        ("float*", "float4[4]", FULL),
        ("float*", "f32*3[4]", FULL),
        ("float*", "u8[16]", NONE),
        ("float*", "int4[4]", NONE),
        ("float*", "{i32,i32}[4]", NONE),
        ("float*", "{f32,float2}[4]", FULL),
        ("float*", "{f32,u32}[4]", NONE),
        ("float2*", "double2[4]", NONE),
        ("ns::Particle*", "f32[4]", FULL),
        ("ns::Mode*", "i32[4]", FULL),
        ("float**", "i32[4]", NONE),
        ("float**", "u64[4]", FULL),
        ("unsigned long", "f32[4]", FULL),
        ("u64.ptr", "f32[4]", FULL),
        ("u64", "f32[4]", FULL),
        (None, "f32[4]", FULL),
    ],
)
def test_elements_and_the_type_that_the_signature_points_to(type_, given, expected):
    to = parameters(type_, names=("x",))
    remark = f"x is {type_} in the kernel, got {given.replace(',', ', ')}"
    if expected is NONE:
        error = refusal(f"x={given}", to=to)
        assert (error.message, error.exit_code) == (f"saxpy: {remark}", 2)
    else:
        assert bound(f"x={given}", to=to).warnings == ((remark,) if expected is SIGNEDNESS else ())
    allowed = bound(f"x={given}", to=to, allow_type_mismatch=True)
    assert allowed.warnings == (() if expected is FULL else (remark,))


def pasted(error: RequestError) -> list[str]:
    """The arguments of the hint, as a shell would take them."""
    first, last = (error.hint or "").splitlines()
    assert last == "or pass the data unchanged with --allow-type-mismatch"
    return shlex.split(first.removeprefix("pass "))


@pytest.mark.parametrize(
    ("text", "type_", "hint"),
    [
        ("x=@x.npy", "int*", "x=i32[2,3]:cast(@x.npy)"),
        ("@x.npy", "int*", "i32[2,3]:cast(@x.npy)"),
        ("x=@f.npy", "float4*", None),
        ("x=corder(@f.npy)", "float4*", "x=f32[2,3]:cast(corder(@f.npy))"),
        ("x=asis(@f.npy)", "float*", "x=f32[3,2]:cast(asis(@f.npy))"),
        ("x=i64[6]:@x.npy", "float const*", "x=f32[6]:cast(@x.npy)"),
        ("x=longlong2[3]:@x.npy", "float*", "x=f32[3,2]:cast(@x.npy)"),
        ("x=f64[2,2]:iota", "float*", "x=f32[2,2]:iota"),
        ("x=f64[4]", "float*", "x=f32[4]"),
        ("x=i32[2]:[1,2]", "double*", "x=f64[2]:[1, 2]"),
        ("x=@b.npy", "__nv_bfloat16*", "x=bf16[4]:asis(@b.npy)"),
        ("x=@c.npy", "float*", "x=f32[2,2]:cast(@c.npy)"),
        ("x=u8[40]:@raw.bin", "float*", "x=f32[10]:@raw.bin"),
    ],
)
def test_the_hint_of_a_mismatch_is_an_argument_that_matches(tmp_path, text, type_, hint):
    np.save(tmp_path / "x.npy", np.arange(6).reshape(2, 3))
    np.save(tmp_path / "f.npy", np.asfortranarray(np.ones((2, 3))))
    np.save(tmp_path / "b.npy", np.ones(4, np.uint16))
    np.save(tmp_path / "c.npy", np.ones(2, np.complex128))
    (tmp_path / "raw.bin").write_bytes(bytes(40))
    to = parameters(type_, names=("x",))
    error = refusal(text, to=to, directory=tmp_path)
    if hint is None:
        assert error.message == f"{tmp_path / 'f.npy'} is in Fortran order"
        return
    assert pasted(error) == [hint]
    assert bound(hint, to=to, directory=tmp_path).warnings == ()


@pytest.mark.parametrize("text", ["f32[2]:[0.5,1]", "f64[5]:@raw.bin", "{f32,f64}[2]"])
def test_mismatches_that_no_other_argument_mends(tmp_path, text):
    (tmp_path / "raw.bin").write_bytes(bytes(40))
    error = refusal(text, to=parameters("int*"), directory=tmp_path)
    assert error.hint == "pass the data unchanged with --allow-type-mismatch"


def test_several_mismatches_are_told_together():
    error = refusal("2", "x=f64[1]", "y=i32[1]", "1")
    assert error.message == (
        "saxpy: x is float const* in the kernel, got f64[1]; y is float* in the kernel, got i32[1]"
    )
    assert pasted(error) == ["x=f32[1]", "y=f32[1]"]
