"""Structs by value, compared with the members that debug information has."""

from __future__ import annotations

import re
import struct as struct_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cudarun.arguments.binding import bind
from cudarun.arguments.grammar import parse_arguments
from cudarun.arguments.members import struct_fields
from cudarun.base.errors import RequestError
from cudarun.images.parameters import Parameter
from tests.support.parameters import member

RANGE = (member(0, 4, "int", "begin"), member(4, 4, "unsigned int", "end"))
SETTINGS = (
    member(0, 4, "float", "scale"),
    member(4, 16, "Range", "ranges", count=2, members=RANGE),
    member(24, 8, "float const*", "bias"),
    member(32, 8, "float2", "shift"),
    member(40, 6, "short", "rows", count=3),
    member(48, 4, "enum Mode : unsigned int", "mode"),
    member(52, 4, "Word", "word"),  # a union
    member(56, 8, "Base", members=(member(0, 8, "unsigned long", "address"),)),
)
PARAMETERS = (
    Parameter(0, 0, 64, type="Settings", name="s", members=SETTINGS),
    Parameter(1, 64, 4, type="enum Mode : unsigned int", name="mode"),
)
GOOD = "{f32:1, {i32, u32}*2:{0,4},{4,8}, f32[4], float2:1,2, i16*3:1,2,3, u32:1, f32:0, u64:9}"


def bound(text: str, mode: str = "1", **options: Any):
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
    odd = (member(0, 6, "short", "rows", count=3), member(6, 2, "short", "last"))
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


NAMED = {
    "scale": "1",
    "ranges": "{{0,4}, {begin=4, end=8}}",
    "bias": "f32[4]",
    "shift": "{1,2}",
    "rows": "{1,2,3}",
    "mode": "1",
    "word": "f32:0",
    "address": "9",
}


def struct(**changes: str | None) -> str:
    members = {name: text for name, text in (NAMED | changes).items() if text is not None}
    return f"{{{', '.join(f'{name}={text}' for name, text in members.items())}}}"


def test_named_members_are_laid_out_like_typed_ones():
    backwards = ", ".join(f"{name}={text}" for name, text in reversed(NAMED.items()))
    for text in (struct(), f"{{{backwards}}}", f"{{{', '.join(NAMED.values())}}}"):
        assert bound(text).pack({"s.bias": 64, "s.2": 64}, {}) == bound(GOOD).pack({"s.2": 64}, {})


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("rows", "[1,2,3]"),
        ("rows", "{{1},{2},{3}}"),
        ("rows", "i16[3]:[1,2,3]"),
        ("rows", "i16[1,3]:[[1,2,3]]"),
        ("ranges", "[{0,4}, {4,8}]"),
        ("ranges", "{i32, u32}[2]:[{0,4}, {4,8}]"),
        ("ranges", "i32[2,2]:[[0,4],[4,8]]"),
        ("shift", "[1,2]"),
    ],
)
def test_spellings_of_an_array_by_value(name: str, text: str):
    given = bound(struct(**{name: text})).pack({"s.bias": 64}, {})
    assert given == bound(GOOD).pack({"s.2": 64}, {})


def test_arrays_and_vectors_from_files(tmp_path: Path):
    np.save(tmp_path / "rows.npy", np.array([1, 2, 3], np.int16))
    np.save(tmp_path / "shift.npy", np.array([[1, 2]], np.float32))
    changed = struct(rows="@rows.npy", shift="@shift.npy")
    binding = bound(changed, directory=tmp_path)
    assert binding.pack({"s.bias": 64}, {}) == bound(GOOD).pack({"s.2": 64}, {})
    assert binding.scalars["s.rows"].tolist() == [1, 2, 3]
    for name, message in (("rows", "contains int16; the buffer is f32[2]"), ("shift", "i16[3]")):
        other = {"rows": "shift", "shift": "rows"}[name]
        with pytest.raises(RequestError, match=re.escape(message)):
            bound(struct(**{other: f"@{name}.npy"}), directory=tmp_path)
    np.array([1, 2, 3], np.int16).tofile(tmp_path / "rows.bin")
    changed = struct(rows="i16[3,1]:@rows.bin")
    assert bound(changed, directory=tmp_path).scalars["s.rows"].tolist() == [1, 2, 3]
    for typed in ("i16[4]:@rows.bin", "u16[3]:@rows.bin", "i16[n]:@rows.bin", "i16[3]:iota"):
        with pytest.raises(RequestError, match="it is an array: pass its 3 elements"):
            bound(struct(rows=typed), directory=tmp_path)
    np.array([1, 2], np.float32).tofile(tmp_path / "shift.bin")
    for typed in ("f32[2]:@shift.bin", "float2[1]:@shift.bin", "f32[1,2]:@shift.npy"):
        assert bound(struct(shift=typed), directory=tmp_path).scalars["s.shift"].tolist() == [1, 2]
    for typed in ("float2[2]:@shift.bin", "i32[2]:@shift.bin"):
        with pytest.raises(RequestError, match="it is float2 by value"):
            bound(struct(shift=typed), directory=tmp_path)
    np.save(tmp_path / "rows.npy", np.zeros(4, np.int16))
    with pytest.raises(RequestError, match=r"has shape \(4,\)"):
        bound(struct(rows="@rows.npy"), directory=tmp_path)


def test_arrays_of_vectors_and_pointers_by_value():
    members = (
        member(0, 32, "float2", "shifts", count=4),
        member(32, 16, "float*", "rows", count=2),
    )
    to = (Parameter(0, 0, 48, type="S", name="s", members=members),)
    for shifts in ("{{1,2},{3,4},{5,6},{7,8}}", "[[[1,2],[3,4]],[[5,6],float2:7,8]]"):
        text = f"s={{shifts={shifts}, rows=[f32[4], null]}}"
        binding = bind(parse_arguments([text]), to, kernel="k")
        data = binding.pack({"s.rows.0": 64}, {})
        assert struct_module.unpack("<8f2Q", data) == (1, 2, 3, 4, 5, 6, 7, 8, 64, 0)
    with pytest.raises(RequestError, match=r"pass its 2 elements, {…}$"):
        bind(parse_arguments([f"s={{shifts={shifts}, rows=u64[2]:[0,0]}}"]), to, kernel="k")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"rows": "5"}, "it is an array: pass its 3 elements, {…}, or i16*3:…"),
        ({"rows": "i16[3]:iota"}, "it is an array: pass its 3 elements, {…}, or i16*3:…"),
        ({"rows": "i16[0]:[]"}, "it is an array: pass its 3 elements, {…}, or i16*3:…"),
        ({"rows": "i16[4]:[1,2,3]"}, "it is an array: pass its 3 elements, {…}, or i16*3:…"),
        ({"rows": "i16[4]:[1,2,3,4]"}, "i16*4 is 8 bytes, not 6"),
        ({"rows": "[1,2]"}, "s.rows: takes 3 members, got 2"),
        ({"rows": "[]"}, "expected a value, found ']'"),
        ({"scale": None, "scael": "3"}, "s has no member 'scael'"),
        ({"scale": None}, "s: takes 8 members, got 7"),
        ({"scale": "f64:3"}, "it is f32, not f64"),
        ({"bias": "i32[8]"}, "s.bias is float const* in the kernel, got i32[8]"),
        ({"bias": "4"}, "it is a pointer: pass a buffer, &symbol or null"),
        ({"mode": "1.5"}, "'1.5' is not an integer, but u32 requires one"),
        ({"shift": "{4,5,6}"}, "s.shift: takes 2 members, got 3"),
        ({"shift": "int2:4,5"}, "it is float2, not int2"),
        ({"rows": "f16*3:1,2,3"}, "is i16, not f16"),
        ({"ranges": "{{8,9}, {begni=1, end=1}}"}, "s.ranges[1] has no member 'begni'"),
        ({"word": "{f=1}"}, "the types of its members are unknown: write them (f32:1)"),
        ({"mode": "m"}, "unknown name 'm'"),
        ({"mode": "s.mode+1"}, "the arguments depend on each other: s.mode → s.mode"),
    ],
)  # fmt: skip
def test_a_wrong_named_member(changes: dict[str, str | None], message: str):
    assert message in str(refusal(struct(**changes)))


@pytest.mark.parametrize("text", ["f32[8]", "null", "1"])
def test_a_struct_of_several_members_is_no_other_value(text: str):
    assert "it is a struct: pass its members, {…}" in str(refusal(text))


@pytest.mark.parametrize(
    ("numbers", "message"),
    [
        (("mode=scale", "scale=step+1", "step=mode"), "depend on each other: "),
        (("mode=m+1", "scale=1", "step=1"), "unknown name 'm'"),
        (("mode=scale/3", "scale=8", "step=1"), "is not an integer, but u32 requires one"),
        (("mode=s+1", "scale=1", "step=1"), "'s' is not a number"),
        (("mode=s", "scale=1", "step=1"), "'s' is not a number"),
        (("mode=scale//0", "scale=8", "step=1"), "8 // 0: division by zero"),
        (("mode=inf", "scale=1", "step=1"), "'inf' is not an integer"),
        (('mode=load("a.npy")', "scale=1", "step=1"), "only numbers, names, operators and"),
    ],
)
def test_a_number_without_a_value(numbers: tuple[str, ...], message: str):
    floats = (
        Parameter(2, 68, 4, None, "float", "scale"),
        Parameter(3, 72, 4, None, "float", "step"),
    )
    with pytest.raises(RequestError) as refused:
        bind(parse_arguments([f"s={GOOD}", *numbers]), (*PARAMETERS, *floats), kernel="k")
    assert message in str(refused.value)
