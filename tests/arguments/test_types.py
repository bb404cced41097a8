"""Sizes, alignments and names of types, against what compilers give."""

from __future__ import annotations

import ctypes

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cudarun.arguments import types
from cudarun.arguments.grammar import parse_type
from cudarun.arguments.types import ArrayType, StructMember, StructType
from cudarun.base.errors import ArgumentSyntaxError

# (size, alignment) by nvcc 13.0: sizeof and alignof of every type, host and device agree.
MEASURED = {
    (1, 1): "char1 uchar1",
    (2, 2): "char2 uchar2 short1 ushort1",
    (3, 1): "char3 uchar3",
    (4, 4): "char4 uchar4 short2 ushort2 int1 uint1 float1 half2 bfloat162",
    (6, 2): "short3 ushort3",
    (8, 8): "short4 ushort4 int2 uint2 long1 ulong1 longlong1 ulonglong1 float2 double1",
    (12, 4): "int3 uint3 float3",
    (16, 16): "int4 uint4 long2 ulong2 longlong2 ulonglong2 float4 double2",
    (24, 8): "long3 ulong3 longlong3 ulonglong3 double3",
    (32, 16): "long4 ulong4 longlong4 ulonglong4 double4 "
    "long4_16a ulong4_16a longlong4_16a ulonglong4_16a double4_16a",
    (32, 32): "long4_32a ulong4_32a longlong4_32a ulonglong4_32a double4_32a",
}

IN_C = {
    "i8": ctypes.c_int8,
    "u8": ctypes.c_uint8,
    "i16": ctypes.c_int16,
    "u16": ctypes.c_uint16,
    "i32": ctypes.c_int32,
    "u32": ctypes.c_uint32,
    "i64": ctypes.c_int64,
    "u64": ctypes.c_uint64,
    "f32": ctypes.c_float,
    "f64": ctypes.c_double,
    "bool": ctypes.c_bool,
}


def test_vector_types_have_the_layout_of_nvcc():
    ours = {name: (each.size, each.alignment) for name, each in types.VECTORS.items()}
    assert ours == {name: layout for layout, names in MEASURED.items() for name in names.split()}


@pytest.mark.parametrize("name", types.NAMED)
def test_every_name_parses_to_its_type(name):
    assert parse_type(name) == types.NAMED[name]
    assert parse_type(str(types.NAMED[name])) == types.NAMED[name]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("char", "i8"),
        ("unsigned", "u32"),
        ("unsigned  long\tlong", "u64"),
        ("long", "i64"),
        ("size_t", "u64"),
        ("__half", "f16"),
        ("__nv_bfloat16", "bf16"),
        ("__nv_fp8_e4m3", "f8e4m3"),
        ("float8_e5m2", "f8e5m2"),
        ("__half2", "half2"),
    ],
)
def test_names_of_c(name, expected):
    assert str(parse_type(name)) == expected


def _ctype(element: types.Type) -> type:
    match element:
        case types.ScalarType():
            return IN_C[element.name]
        case ArrayType():
            return _ctype(element.element) * element.count
        case StructType():
            fields = [(f"f{i}", _ctype(m.type)) for i, m in enumerate(element.members)]
            return type("Struct", (ctypes.Structure,), {"_fields_": fields})
        case _:
            raise AssertionError(element)


scalars = st.sampled_from([types.SCALARS[name] for name in IN_C])
elements = st.recursive(
    scalars,
    lambda inner: (
        st.builds(ArrayType, inner, st.integers(1, 4))
        | st.lists(inner, min_size=1, max_size=4).map(
            lambda each: StructType(tuple(StructMember(None, one) for one in each))
        )
    ),
    max_leaves=8,
)


@given(elements)
def test_structs_are_laid_out_as_in_c(element):
    expected = _ctype(element)
    assert (element.size, element.alignment) == (
        ctypes.sizeof(expected),
        ctypes.alignment(expected),
    )
    if isinstance(element, StructType):
        in_c = [getattr(expected, f"f{i}").offset for i in range(len(element.members))]
        assert list(element.layout.offsets) == in_c


@given(elements)
def test_text_of_a_type_parses_to_it(element):
    assert parse_type(str(element)) == element


def test_vectors_align_the_members_after_them():
    layout = parse_type("{i8, float4, i8, double2}")
    assert layout.layout.offsets == (0, 16, 32, 48)
    assert (layout.size, layout.alignment) == (64, 16)
    assert parse_type("{i8, float3}").layout.offsets == (0, 4)


def test_a_type_is_no_value():
    with pytest.raises(ArgumentSyntaxError, match="expected a type, found a value"):
        parse_type("f32:1")
