"""Structs by value, compared with the members that debug information has."""

from __future__ import annotations

import re

import pytest

from cudarun.arguments.binding import bind
from cudarun.arguments.grammar import parse_arguments
from cudarun.arguments.members import struct_fields
from cudarun.errors import RequestError
from cudarun.parameters import Parameter, ParameterMember

RANGE = (ParameterMember(0, 4, "int", "begin"), ParameterMember(4, 4, "unsigned int", "end"))
SETTINGS = (
    ParameterMember(0, 4, "float", "scale"),
    ParameterMember(4, 16, "Range", "ranges", count=2, members=RANGE),
    ParameterMember(24, 8, "float const*", "bias"),
    ParameterMember(32, 8, "float2", "shift"),
    ParameterMember(40, 6, "short", "rows", count=3),
    ParameterMember(48, 4, "enum Mode : unsigned int", "mode"),
    ParameterMember(52, 4, "Word", "word"),  # a union
    ParameterMember(56, 8, "Base", members=(ParameterMember(0, 8, "unsigned long", "address"),)),
)
PARAMETERS = (
    Parameter(0, 0, 64, type="Settings", name="s", members=SETTINGS),
    Parameter(1, 64, 4, type="enum Mode : unsigned int", name="mode"),
)
GOOD = "{f32:1, {i32, u32}*2:{0,4},{4,8}, f32[4], float2:1,2, i16*3:1,2,3, u32:1, f32:0, u64:9}"


def bound(text: str, mode: str = "1", **options: bool):
    return bind(parse_arguments([f"s={text}", f"mode={mode}"]), PARAMETERS, kernel="k", **options)


def refusal(text: str, mode: str = "1") -> RequestError:
    with pytest.raises(RequestError) as refused:
        bound(text, mode)
    return refused.value


def test_fields_in_order():
    fields = [(each.name, each.offset, each.size) for each in struct_fields(SETTINGS)]
    assert fields == [
        ("scale", 0, 4),
        ("ranges[0].begin", 4, 4),
        ("ranges[0].end", 8, 4),
        ("ranges[1].begin", 12, 4),
        ("ranges[1].end", 16, 4),
        ("bias", 24, 8),
        ("shift", 32, 8),
        ("rows", 40, 6),
        ("mode", 48, 4),
        ("word", 52, 4),
        ("address", 56, 8),
    ]


@pytest.mark.parametrize(
    "text",
    [
        GOOD,
        GOOD.replace("i16*3:1,2,3", "i16:1, i16:2, u16:3"),  # an array as its elements
        GOOD.replace("float2:1,2", "f32*2:1,2"),
        GOOD.replace("f32:0, u64", "i32:0, u64"),  # a union takes anything
        GOOD.replace("u64:9", "null"),
        GOOD.replace("f32[4]", "u64:0"),  # a raw address
        GOOD.replace("f32[4]", "null"),
        GOOD.replace("f32[4]", "&counter"),
        f"bytes:{'00' * 64}",
        "{u8*64:" + ",".join(["0"] * 64) + "}",
    ],
)
def test_structs_that_match(text):
    assert bound(text).size == 68


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("f32:1,", "i32:1,", "scale at offset 0 is f32, not i32"),
        (
            "{i32, u32}*2:{0,4},{4,8}",
            "f32*4:0,4,4,8",
            "ranges[0].begin at offset 4 is i32, not f32",
        ),
        ("{i32, u32}*2:{0,4},{4,8}", "i64*2:0,4", "ranges[0].end at offset 8 is u32, not i64"),
        ("f32[4]", "f64:0", "bias at offset 24 is float const*, not f64"),
        ("float2:1,2", "f64:0", "shift at offset 32 is f32, not f64"),
        ("float2:1,2", "null", "shift at offset 32 is f32, not a pointer"),
        ("i16*3:1,2,3", "f16*3:1,2,3", "rows at offset 40 is i16, not f16"),
        ("i16*3:1,2,3, u32:1", "i8:1, i8:1, i32:1, u32:1", "rows at offset 44 is i16, not i32"),
        ("i16*3:1,2,3", "i8*3:1,2,3, f16:0", "rows at offset 44 is i16, not f16"),
        ("u32:1, f32:0, u64:9", "f32:1, f32:0, u64:9", "mode at offset 48 is u32, not f32"),
        ("u64:9", "f64:9", "address at offset 56 is u64, not f64"),
    ],
)
def test_members_of_another_type(old, new, problem):
    message = refusal(GOOD.replace(old, new)).message
    assert re.search(rf"\^ {re.escape(problem)}$", message, re.MULTILINE), message


def test_a_part_that_lies_in_two_members():
    odd = (ParameterMember(0, 6, "short", "rows", count=3), ParameterMember(6, 2, "short", "last"))
    to = (Parameter(0, 0, 8, type="S", name="s", members=odd),)
    with pytest.raises(RequestError, match=r"\^ rows at offset 4 is i16, not f32"):
        bind(parse_arguments(["s={i16:0, f32:0}"]), to, kernel="k")


def test_structs_without_known_members_take_anything():
    to = (Parameter(0, 0, 8, type="S", name="s"),)
    assert bind(parse_arguments(["s={i32:1, f32:1}"]), to, kernel="k").size == 8


def test_buffers_in_a_struct():
    error = refusal(GOOD.replace("f32[4]", "f64[4]"))
    assert error.message == "k: s.bias is float const* in the kernel, got f64[4]"
    assert error.hint == "pass the data unchanged with --allow-type-mismatch"
    allowed = bound(GOOD.replace("f32[4]", "f64[4]"), allow_type_mismatch=True)
    assert allowed.warnings == ("s.bias is float const* in the kernel, got f64[4]",)
    assert bound(GOOD.replace("f32[4]", "float4[4]")).warnings == ()


def test_an_enumeration_takes_integers_of_its_size():
    assert bound(GOOD, "i32:1").size == 68
    assert "it is u32, not f32" in refusal(GOOD, "f32:1").message
    assert "it is u32, not i64" in refusal(GOOD, "i64:1").message
    assert "-1 is out of range for u32" in refusal(GOOD, "-1").message
