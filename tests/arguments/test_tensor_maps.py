"""Tensor maps: their text, their layout, and the rules of the driver."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import pytest

from cudarun.arguments.binding import Binding, bind
from cudarun.arguments.files import files_of, relocated
from cudarun.arguments.grammar import parse_argument, parse_arguments, parse_buffer, parse_setting
from cudarun.arguments.packing import BufferElement, BufferSpec, TensorMapSpec
from cudarun.arguments.tensor_map_layout import TensorMapLayout, check_address, check_layout
from cudarun.arguments.tensor_map_options import ELEMENTS, INTERLEAVES, SWIZZLES, element_name
from cudarun.arguments.types import SCALARS
from cudarun.base.errors import ArgumentSyntaxError, RequestError
from cudarun.base.profiles import profile_named
from cudarun.base.tensor_map_rules import PixelBox
from cudarun.emulator.host import tensor_maps
from cudarun.emulator.host.refusal import Refusal
from cudarun.images.parameters import Parameter


def bound(*texts: str, buffers: tuple[str, ...] = ()) -> Binding:
    """Arguments without a kernel, in the layout of their own types."""
    arguments = parse_arguments(texts)
    return bind(arguments, None, kernel="k", others=[parse_buffer(text) for text in buffers])


def layout_of(*texts: str, buffers: tuple[str, ...] = ()) -> TensorMapLayout:
    (_, spec), *_ = bound(*texts, buffers=buffers).slots[0].pointers
    assert isinstance(spec, TensorMapSpec)
    assert spec.layout is not None
    return spec.layout


@pytest.mark.parametrize(
    "text",
    [
        "m=tensormap(x, box=64x64, swizzle=128B)",
        "m=tensormap(f16[m,k]:rand, box=[64, bk], type=bf16, l2=256B, oob=nan)",
        "tensormap(@a.npy, box=64, interleave=32B)",
        "tensormap(&x[128], box=64x32, shape=64x64, strides=[2*k, 1], element_strides=1x2)",
        "tensormap(x, im2col(lower=-1x-1, upper=[1, n-1], channels=16, pixels=20))",
        "s={p=tensormap(a.b, box=8x8), n=i32:3}",
    ],
)
def test_the_text_of_a_tensor_map(text: str) -> None:
    argument = parse_argument(text)
    assert str(argument) == text
    assert parse_argument(str(argument)) == argument


@pytest.mark.parametrize(
    ("text", "column", "message"),
    [
        ("tensormap(x)", 11, "has no box"),
        ("tensormap(x, box=8, im2col(lower=1, upper=1, channels=1, pixels=1))", 11, "both"),
        ("tensormap(x, box=8, box=8)", 20, "twice"),
        ("tensormap(x, bx=8)", 13, "no option 'bx'"),
        ("tensormap(x, swizzle=127B)", 21, "unknown swizzle"),
        ("tensormap(x, box=8y8)", 17, "expected sizes"),
        ("tensormap(3, box=8)", 10, "expected the tensor"),
        ("tensormap(x, im2col(lower=1))", 19, "requires upper, channels, pixels"),
        ("tensormap(x, box=8x8", 20, "expected '.'"),
    ],
)
def test_a_wrong_text_has_a_column(text: str, column: int, message: str) -> None:
    with pytest.raises(ArgumentSyntaxError, match=message) as raised:
        parse_argument(text)
    assert raised.value.column == column


def test_a_tensor_map_is_no_variable_and_no_buffer() -> None:
    for parse in (parse_setting, parse_buffer):
        with pytest.raises(RequestError):
            parse("v=tensormap(f32[8,8], box=8x8)")
    with pytest.raises(RequestError, match="cannot be written to a variable"):
        parse_setting("v={n=i32:1, m=tensormap(f32[8,8], box=8x8)}")


def test_the_file_of_a_tensor_is_found() -> None:
    argument = parse_argument("m=tensormap(f32[8,8]:@raw.bin, box=8x8)")
    assert files_of(argument) == ["raw.bin"]
    assert str(relocated(argument, lambda path: f"in/{path}").value).startswith(
        "tensormap(f32[8,8]:@in/raw.bin"
    )


def test_dimensions_come_from_the_buffer() -> None:
    found = layout_of("m=tensormap(x, box=[n, 2*n, 4])", "x=float4[6,10]", "n=i32:2")
    assert (found.type, found.shape, found.strides) == ("f32", (6, 10, 4), (160, 16))
    assert (found.box, found.element_strides, found.nbytes) == ((2, 4, 4), (1, 1, 1), 960)


def test_a_tensor_within_a_buffer() -> None:
    binding = bound(
        "m=tensormap(&x[64], shape=3x16, strides=32x1, box=2x16)", buffers=("x=f16[5,32]:iota",)
    )
    (_, spec), *_ = binding.slots[0].pointers
    assert isinstance(spec, TensorMapSpec)
    assert spec.layout is not None
    assert spec.tensor == BufferElement("x", 128)
    assert (spec.layout.strides, spec.layout.nbytes) == ((64,), 160)
    assert binding.rows[0].value == "tensormap(x + 128 B, f16[3,16], strides=32x1, box=2x16)"


def test_a_tensor_of_its_own_is_a_buffer_of_the_argument() -> None:
    binding = bound("s={m=tensormap(i8[4,16]:ones, box=4x16), n=i32:7}")
    assert [(row.offset, row.size, row.alignment) for row in binding.rows] == [
        (0, 192, 64),
        (0, 128, 64),
        (128, 4, 4),
    ]
    assert binding.rows[1].value == "tensormap(i8[4,16]:ones, u8[4,16], box=4x16)"
    (spec,) = binding.buffers
    assert isinstance(spec, BufferSpec)
    assert (spec.name, spec.shape) == ("s.m", (4, 16))
    packed = binding.pack({"s.m": 4096}, {}, lambda layout, address: address.to_bytes(128, "big"))
    assert packed == (4096).to_bytes(128, "big") + (7).to_bytes(64, "little")
    assert binding.scalars["s.n"] == 7


def test_the_first_parameter_in_code_for_an_h200() -> None:
    """Its offset is 48, as ptxas and the driver have it: parameters begin at 0x210."""
    (argument,) = parse_arguments(["m=tensormap(f32[8,8], box=8x8)"])
    binding = bind([argument], [Parameter(0, 48, 128, 64, "b8[128]")], kernel="k")
    packed = binding.pack({"m": 4096}, {}, lambda layout, address: b"\1" * 128)
    assert packed == bytes(48) + b"\1" * 128


def test_a_buffer_is_no_tensor_map() -> None:
    (argument,) = parse_arguments(["m=f32[8,8]"])
    with pytest.raises(RequestError, match=r"it is a tensor map: tensormap\(…, box=…\)"):
        bind([argument], [Parameter(0, 48, 128, 64, "b8[128]")], kernel="k")


@pytest.mark.parametrize(
    ("tensor", "options", "message"),
    [
        ("f32[4,6]", "box=4x4", "stride of dimension 0 is 24 bytes, not a multiple of 16"),
        ("f32[4,8]", "box=4", "box has 1 value, and the tensor has 2 dimensions"),
        ("f32[4,8]", "box=4x6", "6 elements of 24 bytes, not a multiple of 16 bytes"),
        ("f32[4,8]", "box=4x512", "the last side of the box has 512, which is not 1 to 256"),
        ("f32[4,64]", "box=4x16, swizzle=32B", "more than the 32 of swizzle=32B"),
        ("f32[4,8]", "box=4x8, shape=5x8", "ends at byte 160, m has 128 bytes"),
        ("f32[4,8]", "box=4x8, strides=16x2, shape=2x4", "strides: the last is 2"),
        ("i32[4,8]", "box=4x8, oob=nan", "oob=nan requires floating elements, not i32"),
        ("f32[4,8]", "box=4x8, type=f16", "requires elements of 2 bytes, f32 has 4"),
        ("f32[4,8]", "box=4x8, interleave=16B", "interleave requires 3 to 5 dimensions"),
        ("f32[4,8]", "box=4x8, element_strides=9x1", "element_strides has 9"),
        ("f32[2,2,2,2,2,4]", "box=1x1x1x1x1x4", "6 dimensions, not 1 to 5"),
        ("f32[256,256]", "box=256x256", "the box has 262144 bytes"),
        ("{i32, f32}[8]", "box=8", "requires a tensor of numbers"),
        ("f32[2,9,7,8]", "im2col(lower=1, upper=1, channels=8, pixels=8)", "lower has 1 value"),
    ],
)
def test_the_rule_is_named(tensor: str, options: str, message: str) -> None:
    with pytest.raises(RequestError, match=message):
        bound(f"m=tensormap({tensor}, {options})")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("tensormap(y, box=8)", "no buffer is named 'y'"),
        ("tensormap(&x[4], box=8)", "requires shape="),
        ("tensormap(&x[1], box=8, shape=8)", "byte 4 of x, not a multiple of 16"),
    ],
)
def test_the_tensor_of_a_name(text: str, message: str) -> None:
    with pytest.raises(RequestError, match=message):
        bound(text, buffers=("x=f32[16]",))


def random_layout(rng: random.Random) -> TensorMapLayout:
    """A layout that breaks some of the rules."""
    rank = rng.choice((1, 2, 2, 3, 3, 4, 5))
    element = rng.choice([name for name in ELEMENTS if not name.startswith(("u4", "u6"))])
    shape = tuple(rng.choice((1, 8, 16, 40, 64)) for _ in range(rank))
    return TensorMapLayout(
        type=element,
        shape=shape,
        strides=tuple(rng.choice((32, 64, 320, 320, 24, 48)) for _ in range(rank - 1)),
        box=tuple(rng.choice((1, 2, 4, 8, 16, 16, 257)) for _ in range(rank)),
        element_strides=tuple(rng.choice((1, 1, 1, 1, 2, 9)) for _ in range(rank)),
        swizzle=rng.choice([*SWIZZLES][:4]),
        interleave=rng.choice(("none", *INTERLEAVES)),
        l2="none",
        oob=rng.choice(("zero", "zero", "nan")),
    )


def refusals(layout: TensorMapLayout) -> tuple[str, str]:
    """The messages of cudarun and of the emulated driver, whose checks are those of an H200."""
    own = driver = ""
    try:
        check_layout(layout)
    except RequestError as error:
        own = str(error)
    box = layout.pixel_box
    try:
        tensor_maps.encoded_map(
            len(layout.shape),
            layout.shape[::-1],
            (layout.strides or (0,))[::-1],
            layout.element_strides[::-1],
            type=[*ELEMENTS].index(layout.type),
            address=1 << 40,
            interleave=[*INTERLEAVES].index(layout.interleave),
            swizzle=[*SWIZZLES].index(layout.swizzle),
            promotion=0,
            fill=layout.oob == "nan",
            corners=(box.lower[::-1], box.upper[::-1]) if box else None,
            box=(box.channels,) if box else layout.box[::-1],
            pixels=box.pixels if box else 0,
        )
    except Refusal as refusal:
        driver = str(refusal) or "refused"
    return own, driver


def test_the_rules_are_those_of_the_driver() -> None:
    rng = random.Random(5)
    answers = []
    for _ in range(600):
        layout = random_layout(rng)
        rank = len(layout.shape)
        if rank >= 3 and rng.random() < 0.4:
            lower, upper = (
                tuple(rng.choice((-17, -1, 0, 1, 9)) for _ in range(rank - 2)) for _ in range(2)
            )
            pixels = PixelBox(lower, upper, rng.choice((4, 16, 257)), rng.choice((1, 64, 1025)))
            layout = replace(layout, box=(), pixel_box=pixels)
        own, driver = refusals(layout)
        assert bool(own) == bool(driver), f"{layout}: {own} / {driver}"
        answers.append(bool(own))
    assert 40 < answers.count(False) < 500


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({}, ""),
        ({"swizzle": "128B_ATOM_64B"}, ""),
        ({"swizzle": "128B_ATOM_32B_FLIP_8B"}, "cannot be used with swizzle=128B_ATOM_32B_FLIP_8B"),
        ({"interleave": "16B"}, "u6_align16B requires interleave=none"),
        ({"type": "u4_align16B", "swizzle": "128B_ATOM_64B"}, "cannot be used with swizzle="),
        ({"strides": (1536, 208)}, "not a multiple of 32 bytes"),
        ({"box": (1, 4, 64)}, "the box is 64, and u6_align16B requires 128"),
        ({"shape": (8, 8, 192)}, "is 192, not a multiple of 128"),
        ({"type": "u4_align8B"}, ""),
        ({"type": "u4_align8B", "box": (1, 1, 40)}, "40 elements of 20 bytes"),
        ({"type": "u4_align8B", "shape": (8, 8, 255)}, "is 255, not a multiple of 2"),
    ],
)
def test_packed_types(
    changes: dict[str, Any], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tensor_maps, "current_profile", lambda: profile_named("b200"))
    layout = TensorMapLayout(
        type="u6_align16B", shape=(8, 8, 256), strides=(1536, 192), box=(1, 4, 128),
        element_strides=(1, 1, 1), swizzle="none", interleave="none", l2="none", oob="zero",
    )  # fmt: skip
    own, driver = refusals(replace(layout, **changes))
    assert message in own
    assert bool(own) == bool(driver) == bool(message)


def test_every_scalar_has_a_data_type() -> None:
    for scalar in SCALARS.values():
        assert ELEMENTS[element_name(scalar)].stored == scalar.size


def test_packed_types_count_elements() -> None:
    found = layout_of("m=tensormap(u8[4,128], box=4x128, type=u4_align16B)")
    assert (found.shape, found.strides, found.nbytes) == ((4, 256), (128,), 512)
    check_address(found, 32, 1024, "m")
    with pytest.raises(RequestError, match="not a multiple of 32"):
        check_address(found, 16, 1024, "m")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (f"tensormap(x, box={'9' * 5000})", "expected sizes"),
        ("tensormap(" * 3000, "levels deep"),
    ],
)
def test_the_parser_has_limits(text: str, message: str) -> None:
    with pytest.raises(ArgumentSyntaxError, match=message):
        parse_argument(text)
