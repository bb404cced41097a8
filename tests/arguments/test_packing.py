"""Values as bytes, against ctypes and numpy."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cudarun.arguments import types
from cudarun.arguments.dtypes import element_dtype
from cudarun.arguments.grammar import parse_argument, parse_type
from cudarun.arguments.packing import BufferSpec, element_bytes, pack
from cudarun.arguments.scalars import Scalar
from cudarun.arguments.types import SCALARS, ArrayType, StructMember, StructType
from cudarun.arguments.values import (
    AddressOf,
    Buffer,
    FileBuffer,
    Member,
    SequenceValue,
    StructValue,
    value_type,
)
from cudarun.model.launch import LayoutRow

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
}


def no_buffers(value: Buffer | FileBuffer, name: str) -> BufferSpec:
    raise AssertionError(f"{name} holds no buffer")


def packed(text: str, resolve=no_buffers):
    return pack(parse_argument(text).value, "s", resolve)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("i32:-2", b"\xfe\xff\xff\xff"),
        ("u8:255", b"\xff"),
        ("bool:true", b"\x01"),
        ("f32:1", b"\x00\x00\x80\x3f"),
        ("f64:-2", bytes(7) + b"\xc0"),
        ("f16:1", b"\x00\x3c"),
        ("bf16:1", b"\x80\x3f"),
        ("f8e4m3:1", b"\x38"),
        ("f8e5m2:1", b"\x3c"),
        ("float2:1,-1", b"\x00\x00\x80\x3f\x00\x00\x80\xbf"),
        ("char3:1,2,3", b"\x01\x02\x03"),
        ("i16*3:1,2,3", b"\x01\x00\x02\x00\x03\x00"),
        ("bytes:00ff10", b"\x00\xff\x10"),
        ("{i8:1, i32:2}", b"\x01\x00\x00\x00\x02\x00\x00\x00"),
        ("{i32:1, i8:2}", b"\x01\x00\x00\x00\x02\x00\x00\x00"),
        ("{i8:1, {i8:2, i16:3}, i8:4}", b"\x01\x00\x02\x00\x03\x00\x04\x00"),
        ("{i8:1, bytes:aabbcc, i16:2}", b"\x01\xaa\xbb\xcc\x02\x00"),
        ("{i8,i16}*2:{1,2},{3,4}", b"\x01\x00\x02\x00\x03\x00\x04\x00"),
        ("null", bytes(8)),
    ],
)
def test_bytes(text, expected):
    assert packed(text).data == expected


# --- against ctypes and numpy --------------------------------------------------------------------


def _scalar(name: str) -> st.SearchStrategy:
    scalar = SCALARS[name]
    return st.integers(0, (1 << (8 * scalar.size)) - 1).map(lambda bits: Scalar(scalar, bits))


def _struct(elements: list) -> StructValue:
    return StructValue(tuple(Member(None, each) for each in elements))


elements = st.recursive(
    st.sampled_from(list(IN_C)).flatmap(_scalar),
    lambda inner: (
        st.lists(inner, min_size=1, max_size=4).map(_struct)
        | inner.map(lambda each: SequenceValue(ArrayType(each.type, 2), (each, each)))
    ),
    max_leaves=8,
)


def _to_c(element):
    """The same value as a ctypes object."""
    match element:
        case Scalar():
            raw = element.bits.to_bytes(element.type.size, "little")
            return IN_C[element.type.name].from_buffer_copy(raw)
        case SequenceValue():
            parts = [_to_c(each) for each in element.elements]
            array = (type(parts[0]) * len(parts))()
            for index, part in enumerate(parts):
                ctypes.memmove(
                    ctypes.addressof(array) + index * ctypes.sizeof(part),
                    ctypes.addressof(part),
                    ctypes.sizeof(part),
                )
            return array
        case StructValue():
            parts = [_to_c(member.value) for member in element.members]
            fields = [(f"f{index}", type(part)) for index, part in enumerate(parts)]
            struct = type("Struct", (ctypes.Structure,), {"_fields_": fields})()
            for index, part in enumerate(parts):
                offset = getattr(type(struct), f"f{index}").offset
                ctypes.memmove(
                    ctypes.addressof(struct) + offset, ctypes.addressof(part), ctypes.sizeof(part)
                )
            return struct
    raise AssertionError(element)


@given(elements)
def test_structs_are_packed_as_in_c(element):
    assert element_bytes(element) == bytes(_to_c(element))
    assert pack(element, "s", no_buffers).data == bytes(_to_c(element))


@given(st.lists(elements, min_size=1, max_size=4).map(_struct))
def test_structs_have_the_layout_that_numpy_gives_them(element):
    assert _layout(element_dtype(element.type)) == _layout(_numpy_aligned(element.type))


def _layout(dtype):
    """Sizes and offsets, all the way down."""
    shape = ()
    while dtype.subdtype:
        dtype, outer = dtype.subdtype
        shape += outer
    if not dtype.fields:
        return dtype.str, shape
    fields = {name: (offset, _layout(each)) for name, (each, offset, *_) in dtype.fields.items()}
    return dtype.itemsize, shape, fields


def _numpy_aligned(element):
    match element:
        case StructType():
            return np.dtype(
                [
                    (name, _numpy_aligned(member.type))
                    for name, member in zip(element.member_names, element.members, strict=True)
                ],
                align=True,
            )
        case ArrayType():
            return np.dtype((_numpy_aligned(element.element), (element.count,)))
        case _:
            return element_dtype(element)


# --- pointers and rows ---------------------------------------------------------------------------


def test_addresses_are_left_open():
    specs = {}

    def resolve(value, name):
        specs[name] = BufferSpec(name, value.type, (4,))
        return specs[name]

    text = "{i8:1, data=f32[n], {&counter, i32:7, u8[n]:zeros}, null}"
    found = packed(text, resolve)
    assert found.pointers == (
        (8, specs["s.data"]),
        (16, AddressOf("counter")),
        (32, specs["s.2.2"]),
    )
    assert len(found.data) == 48
    assert found.data[24] == 7
    assert not any(found.data[8:24] + found.data[32:])


def test_rows():
    def resolve(value, name):
        return BufferSpec(name, value.type, (4, 2), value.initial)

    rows = packed("{i8:1, v=float4:1,2,3,4, p=f32[m,n]:ones, {&c, f64:0.5}, null}", resolve).rows
    assert rows == (
        LayoutRow("s", "{i8, v=float4, p=f32*, {void*, f64}, void*}", 0, 64, 16, 0, "{…}"),
        LayoutRow("s.0", "i8", 0, 1, 1, 0, "1"),
        LayoutRow("s.v", "float4", 16, 16, 16, 15, "1,2,3,4"),
        LayoutRow("s.p", "f32*", 32, 8, 8, 0, "f32[4,2]:ones"),
        LayoutRow("s.3", "{void*, f64}", 40, 16, 8, 0, "{…}"),
        LayoutRow("s.3.0", "void*", 40, 8, 8, 0, "&c"),
        LayoutRow("s.3.1", "f64", 48, 8, 8, 0, "0.5"),
        LayoutRow("s.4", "void*", 56, 8, 8, 0, "null"),
    )


def test_a_bare_number_has_no_bytes():
    with pytest.raises(TypeError, match=r"the number 2\.5 has no type"):
        packed("2.5")


def test_buffers_as_arrays():
    spec = BufferSpec("x", parse_type("float2*3"), (5, 7))
    assert spec.nbytes == 5 * 7 * 24
    assert spec.array_shape == (5, 7, 3, 2)
    assert spec.dtype() == np.float32
    assert str(spec) == "float2*3[5,7]"
    assert BufferSpec("x", SCALARS["f64"], (0, 3)).nbytes == 0


def test_pointer_members_are_left_out_of_the_dtype():
    struct = value_type(parse_argument("{n=i32:1, p=null, x=f64:2}").value)
    dtype = element_dtype(struct)
    assert dtype.names == ("n", "x")
    assert dtype.fields["x"][1] == 16
    assert dtype.itemsize == 24


def test_vector_members_have_device_offsets():
    struct = StructType(
        (
            StructMember(None, SCALARS["i8"]),
            StructMember("v", types.VECTORS["double4_32a"]),
            StructMember(None, types.VECTORS["float3"]),
        )
    )
    dtype = element_dtype(struct)
    assert [dtype.fields[name][1] for name in ("f0", "v", "f2")] == [0, 32, 64]
    assert dtype.itemsize == struct.size == 96
