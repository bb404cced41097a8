"""Texture and surface objects in arguments: their text, their arrays and their parameters."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from cudarun.arguments.binding import Binding, bind
from cudarun.arguments.files import files_of
from cudarun.arguments.grammar import parse_argument, parse_arguments, parse_setting
from cudarun.arguments.packing import ArraySpec
from cudarun.base.errors import ArgumentSyntaxError, RequestError
from cudarun.images.parameters import Parameter


def bound(*texts: str, types: tuple[str | None, ...] = (), directory: Path = Path()) -> Binding:
    arguments = parse_arguments(texts)
    parameters = [Parameter(i, 8 * i, 8, type=type_) for i, type_ in enumerate(types)] or None
    return bind(arguments, parameters, kernel="k", directory=directory)


@pytest.mark.parametrize(
    "text",
    [
        "t=texture(f32[h,w]:@img.npy, filter=linear, address=wrap, normalized)",
        "texture(f32[w]:iota, read=element, anisotropy=4)",
        "texture(uchar4[6,n,n]:zeros, cube, seamless, read=normalized, srgb)",
        "texture(f16[l,w]:1.5, layered, address=[border], border=[0.25, -1, 3, 1e-3])",
        "texture([f32[4]:iota, f32[2]], normalized, mip_filter=linear, mip_bias=-0.5, mip_clamp=2)",
        "texture(half2[4,4]:[[[1,2]]], levels=all, normalized)",
        "texture(u8[4,4]:randint(0,9), gather)",
        'texture(@"a, b).png", filter=linear, read=normalized)',
        "texture(@x.npy, levels=3, normalized)",
        "texture(s.0, linear, address=[clamp, border])",
        "surface(u8[h,w])",
        "surface(i32[2,6,n,n]:0, cube, layered)",
        "{n=i32:3, t=texture(f32[4]:iota), s=surface(t)}",
        "ptr[2]:[texture(f32[4]:iota), surface(s)]",
    ],
)
def test_text(text: str) -> None:
    argument = parse_argument(text)
    assert parse_argument(str(argument)) == argument


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("texture", "unknown type 'texture'"),
        ("texture()", "expected a value, found ')'"),
        ("texture(3)", "a texture requires an array, found 3"),
        ("texture(f32[2]", "expected ')' or ',' after an option of texture, found the end"),
        ("texture(f32[2], filter)", "expected '=' after filter"),
        ("texture(f32[2], filter=cubic)", "expected point or linear, found 'cubic'"),
        ("texture(f32[2], fliter=linear)", "texture has no option 'fliter'"),
        ("texture(f32[2], normalized, normalized)", "normalized is given twice"),
        ("surface(f32[2], normalized)", "surface has no option 'normalized'"),
        ("texture(f64[2])", "not f64"),
        ("texture(float3[2])", "not float3"),
        ("texture(f32[1,1,1,1])", "an array has 1 to 3 dimensions, got 4"),
        ("texture(f32[4], layered)", "a layered array has 2 or 3 dimensions"),
        ("texture(f32[4,4], cube)", "a cube has the dimensions [6,n,n], got 2"),
        ("texture(f32[4], gather)", "gather requires an array of 2 dimensions"),
        ("texture(f32[4,4,4], linear)", "linear memory has 1 or 2 dimensions, got 3"),
        ("texture(f32[4,4], linear, layered)", "linear memory cannot be layered"),
        ("texture(f32[4], linear, filter=linear)", "linear memory of 1 dimension has no filter"),
        ("texture(f32[4], border=1)", "border requires address=border"),
        ("texture(f32[4], address=wrap)", "address=wrap requires normalized"),
        ("texture(f32[4], address=[clamp,border,clamp,clamp])", "at most 3 values, got 4"),
        ("texture(f32[4,4], address=[clamp,border,clamp])", "address has 3 modes"),
        ("texture(u8[4], filter=linear)", "filter=linear requires read=normalized or floating"),
        ("texture(u32[4], filter=linear)", "filter=linear requires floating-point texels"),
        ("texture(i32[4], read=normalized)", "requires integers of 8 or 16 bits, not i32"),
        ("texture(f32[4], srgb)", "srgb requires read=normalized"),
        ("texture(u16[4], srgb, read=normalized)", "srgb requires u8, not u16"),
        ("texture(f32[4,4], seamless)", "seamless requires a cube"),
        ("texture(f32[4,4], mip_bias=1)", "mip_bias requires levels"),
        ("texture(f32[4,4]:0, levels=2)", "levels require normalized coordinates"),
        ("texture(f32[4,4]:0, levels=0)", "expected an integer from 1 to 32"),
        ("texture(f32[4,4]:0, levels=2, normalized, mip_clamp=[2,1])", "[smallest, largest]"),
        ("texture([f32[4]:0, f32[2]:0], levels=2, normalized)", "with a list of levels"),
        ("texture(s, layered)", "layered belongs to the array, which s has"),
        ("texture(f32[4], border=inf, address=border)", "expected a finite number"),
    ],
)
def test_refused_text(text: str, says: str) -> None:
    with pytest.raises(ArgumentSyntaxError) as error:
        parse_argument(text)
    assert says in str(error.value)


def test_a_texture_is_no_value_of_a_variable() -> None:
    with pytest.raises(ArgumentSyntaxError, match="cannot be written to a variable") as error:
        parse_setting("t=texture(f32[4]:iota)")
    assert error.value.hint == "pass it as an argument; CUDA 12 has no texture references"


def test_files() -> None:
    assert files_of(parse_argument("{texture([@a.png, u8[2]:@b], filter=linear)}")) == [
        "a.png",
        "b",
    ]


def test_arrays_in_order_of_arguments() -> None:
    found = bound(
        *("n=i32:8", "t=texture(s, filter=linear)", "s=surface(f32[n,2*n]:zeros)"),
        *("m=texture(u8[n]:7, normalized, levels=all)", "x=f32[4]"),
    )
    assert [str(each) for each in found.buffers] == [
        "f32[8,16]", "u8[8]", "u8[4]", "u8[2]", "u8[1]", "f32[4]",
    ]  # fmt: skip
    assert [each.name for each in found.buffers] == ["s", "m", "m.1", "m.2", "m.3", "x"]
    arrays = [each for each in found.buffers if isinstance(each, ArraySpec)]
    assert [(each.level, each.levels) for each in arrays] == [(0, 1), *((i, 4) for i in range(4))]
    first, second, third = found.objects
    assert first.levels == second.levels == (arrays[0],)
    assert third.levels == tuple(arrays[1:])
    row = found.rows[2]
    assert (row.type, row.size, row.offset) == ("cudaSurfaceObject_t", 8, 16)
    assert found.rows[1].value == "texture(s, filter=linear)"
    assert found.rows[3].value == "texture(u8[8]:7, levels=all, normalized)"
    handles = {each: index for index, each in enumerate(found.objects, 1)}
    assert found.pack({"x": 9}, handles)[8:24].hex() == "01000000000000000200000000000000"


@pytest.mark.parametrize(
    ("texts", "says"),
    [
        (["t=texture(y)"], "no texture, surface or buffer is named 'y'"),
        (["t=texture(x)", "x=f32[4]"], "x is a buffer, not an array"),
        (["t=surface(x)", "x=f32[4]"], "x is a buffer, not an array"),
        (["t=texture(x, linear)", "x=f64[4]"], "not f64"),
        (["t=texture(s, linear)", "s=surface(f32[4])"], "s is an array, not linear memory"),
        (["t=texture(f32[4]:0, linear)", "s=surface(t)"], "a surface requires an array, not"),
        (["t=texture(f32[4]:0, levels=2, normalized)", "s=surface(t)"], "an array of one level"),
        (["t=texture(s, filter=linear)", "s=surface(u8[4])"], "filter=linear requires"),
        (["t=texture(f32[0])"], "an array has at least one texel"),
        (["t=texture(f32[5,4,4]:0, cube)"], "a cube has 6 square faces, got 5×4×4"),
        (["t=texture(f32[6,4,5]:0, cube)"], "a cube has 6 square faces, got 6×4×5"),
        (["t=texture(f32[4]:0, levels=4, normalized)"], "levels=4: it has at most 3"),
        (["t=texture(f32[4], levels=2, normalized)"], "which has no initializer"),
        (["t=texture([f32[4]:0, f32[3]:0], normalized)"], "level 1 is f32[3]; it must be f32[2]"),
        (["t=texture([f32[1]:0, f32[1]:0], normalized)"], "2 levels: it has at most 1"),
        (["t=texture(f32[4]:0)", "x=&t"], "&t: t is an array, which has no address"),
        (["t=texture(u8[2,2]:[[1,2,3]])"], "a list of shape 1×3 does not match u8[2,2]"),
    ],
)
def test_refused_arrays(texts: list[str], says: str) -> None:
    with pytest.raises(RequestError) as error:
        bound(*texts)
    assert says in str(error.value)


@pytest.mark.parametrize("type_", [None, "u64", "b64", "unsigned long long", "cudaTextureObject_t"])
def test_parameters_of_a_texture(type_: str | None) -> None:
    bound("texture(f32[4]:0)", types=(type_,))


@pytest.mark.parametrize(
    ("text", "type_", "says"),
    [
        ("texture(f32[4]:0)", "float const*", "it is a pointer: pass a buffer"),
        ("texture(f32[4]:0)", "double", "it is f64, not a handle"),
        ("texture(f32[4]:0)", "f64", "it is a float, not a handle"),
        ("texture(f32[4]:0)", "cudaSurfaceObject_t", "it is a surface object: pass surface(…)"),
        ("surface(f32[4]:0)", "const CUtexObject", "it is a texture object: pass texture(…)"),
        ("f32[4]:0", "cudaTextureObject_t", "it is a texture object: pass texture(…)"),
    ],
)
def test_other_parameters(text: str, type_: str, says: str) -> None:
    with pytest.raises(RequestError) as error:
        bound(text, types=(type_,))
    assert says in str(error.value)


def test_an_array_of_a_numpy_file(tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", np.zeros((3, 4), np.float32))
    [array] = bound("texture(@x.npy, filter=linear)", directory=tmp_path).buffers
    assert str(array) == "f32[3,4]"
    np.save(tmp_path / "x.npy", np.zeros((3, 4)))
    with pytest.raises(RequestError, match="not f64"):
        bound("texture(@x.npy)", directory=tmp_path)
