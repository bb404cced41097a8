"""Surface objects: their descriptors, and loads, stores and reductions of kernels through them."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest

from tests.golden.sampling.case import CUBEMAP, LAYERED, SURFACE, Case, Resource, Sampling, words_of
from tests.golden.sampling.runner import Runner, created, descriptor_of, destroyed, resource_of

SHAPES = {
    "1d": (1, 1, 8), "2d": (1, 4, 8), "3d": (3, 4, 8), "a1d": (3, 1, 8), "a2d": (3, 4, 8),
    "cube": (6, 8, 8), "acube": (12, 8, 8),
}  # fmt: skip

HEAD = """.version 8.1
.target sm_90
.address_size 64
.visible .entry k(.param .u64 object, .param .u64 out, .param .u32 x) {
  .reg .b64 %t, %o; .reg .b32 %x, %r<8>; .reg .pred %p;
  ld.param.u64 %t, [object];
  ld.param.u64 %o, [out];
  ld.param.u32 %x, [x];
  mov.u32 %r0, 7777;
"""


def resource(kind="2d", dtype="u4", channels=1, flags=SURFACE):
    count = int(np.prod(SHAPES[kind])) * channels
    texels = np.arange(1, count + 1).astype(dtype).reshape(*SHAPES[kind], channels)
    return Resource(kind, (texels,), flags)


@pytest.fixture
def surface(cuda, context):
    """Returns a surface object of an array, and the array."""

    def make(given):
        array = created(cuda, given)
        return cuda.cuSurfObjectCreate(resource_of(cuda, array, given)), array

    return make


def run(cuda, handle, body, x=0):
    """The word that a kernel stores after a body."""
    text = f"{HEAD}  {body}\n  st.global.u32 [%o], %r0;\n  ret;\n}}\0"
    function = cuda.cuModuleGetFunction(cuda.cuModuleLoadData(text.encode()), b"k")
    out = cuda.cuMemAlloc(64)
    types = (ctypes.c_uint64, ctypes.c_uint64, ctypes.c_uint32)
    cuda.launch(function, (int(handle), int(out), x), types)
    result = np.zeros(1, np.uint32)
    cuda.cuMemcpyDtoH(result, out, 4)
    return int(result[0])


# --- objects -------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", SHAPES)
@pytest.mark.parametrize("flags", [0, SURFACE])
def test_a_surface_of_every_geometry(cuda, surface, kind, flags):
    """The driver does not require the flag."""
    handle, array = surface(resource(kind, flags=flags))
    found = cuda.cuSurfObjectGetResourceDesc(handle)
    assert found.resType == cuda.CUresourcetype.CU_RESOURCE_TYPE_ARRAY
    assert int(found.res.array.hArray) == int(array)
    cuda.cuSurfObjectDestroy(handle)
    cuda.cuSurfObjectDestroy(handle)
    assert cuda.result("cuSurfObjectGetResourceDesc", handle) == "INVALID_VALUE"


def test_surfaces_and_textures_are_not_the_same(cuda, surface, context):
    handle, array = surface(resource())
    texture = cuda.cuTexObjectCreate(resource_of(cuda, array, resource()), _plain(cuda), None)
    assert cuda.result("cuTexObjectGetResourceDesc", cuda.CUtexObject(int(handle))) == (
        "INVALID_VALUE"
    )
    assert cuda.result("cuSurfObjectGetResourceDesc", cuda.CUsurfObject(int(texture))) == (
        "INVALID_VALUE"
    )


def _plain(cuda):
    description = cuda.CUDA_TEXTURE_DESC()
    description.addressMode = [cuda.CUaddress_mode(1)] * 3
    return description


def test_a_surface_requires_an_array(cuda, context):
    mipmapped = resource()
    mipmapped = Resource("2d", mipmapped.levels, SURFACE, mipmapped=True)
    made = created(cuda, mipmapped)
    assert cuda.result("cuSurfObjectCreate", resource_of(cuda, made, mipmapped)) == "INVALID_VALUE"
    level = cuda.cuMipmappedArrayGetLevel(made, 0)
    cuda.cuSurfObjectCreate(resource_of(cuda, level, resource()))
    assert cuda.result("cuSurfObjectCreate", None) == "INVALID_VALUE"
    empty = resource_of(cuda, cuda.CUarray(0), resource())
    assert cuda.result("cuSurfObjectCreate", empty) == "INVALID_VALUE"


# --- arrays --------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", SHAPES)
def test_the_descriptor_of_an_array(cuda, context, driver_name, kind):
    given = resource(kind)
    array = created(cuda, given)
    asked, found = descriptor_of(cuda, given), cuda.cuArray3DGetDescriptor(array)
    for name in ("Width", "Height", "Depth", "NumChannels", "Flags", "Format"):
        assert getattr(found, name) == getattr(asked, name), name
    destroyed(cuda, array, given)
    if driver_name == "emulator":  # an H200 says so mostly: it reads the memory of the object
        assert cuda.result("cuArray3DGetDescriptor", array) == "CONTEXT_IS_DESTROYED"


@pytest.mark.parametrize(
    ("width", "height", "depth", "flags"),
    [
        (0, 0, 0, 0),
        (16, 0, 4, 0),
        (16, 8, 0, LAYERED),
        (16, 16, 7, CUBEMAP),
        (16, 8, 6, CUBEMAP),
        (16, 16, 7, CUBEMAP | LAYERED),
        (16, 8, 4, 8),
        (16, 8, 4, 8 | LAYERED),
        (16385, 1, 1, 0),
        (2, 2, 32769, 0),
        (2, 0, 2049, LAYERED),
        (32769, 2, 2, LAYERED),
        (32769, 0, 0, SURFACE),
        (2, 2, 32768, SURFACE),
        (32769, 2, 0, 8),
        (16, 8, 0, 0x200),
    ],
)
def test_arrays_that_there_are_not(cuda, context, width, height, depth, flags):
    descriptor = descriptor_of(cuda, resource("2d", "f4", flags=0))
    descriptor.Width, descriptor.Height, descriptor.Depth = width, height, depth
    descriptor.Flags = flags
    assert cuda.result("cuArray3DCreate", descriptor) == "INVALID_VALUE"


def test_the_levels_of_a_mipmapped_array(cuda, context):
    descriptor = descriptor_of(cuda, resource("3d", flags=0))
    descriptor.Width, descriptor.Height, descriptor.Depth = 13, 7, 33
    made = cuda.cuMipmappedArrayCreate(descriptor, 20)
    sizes = []
    for number in range(6):
        found = cuda.cuArray3DGetDescriptor(cuda.cuMipmappedArrayGetLevel(made, number))
        sizes.append((found.Width, found.Height, found.Depth))
    assert sizes == [(13, 7, 33), (6, 3, 16), (3, 1, 8), (1, 1, 4), (1, 1, 2), (1, 1, 1)]
    assert cuda.result("cuMipmappedArrayGetLevel", made, 6) == "INVALID_VALUE"
    level = cuda.cuMipmappedArrayGetLevel(made, 1)
    assert int(cuda.cuMipmappedArrayGetLevel(made, 1)) == int(level)
    cuda.cuMipmappedArrayDestroy(made)


def box(cuda, data, array, width, height, depth, **fields):
    copy = cuda.CUDA_MEMCPY3D()
    copy.srcMemoryType = cuda.CUmemorytype.CU_MEMORYTYPE_HOST
    copy.srcHost, copy.srcPitch, copy.srcHeight = data, 32, 4
    copy.dstMemoryType, copy.dstArray = cuda.CUmemorytype.CU_MEMORYTYPE_ARRAY, array
    copy.WidthInBytes, copy.Height, copy.Depth = width, height, depth
    for name, value in fields.items():
        setattr(copy, name, value)
    return copy


@pytest.mark.parametrize(
    ("size", "fields", "result"),
    [
        ((32, 4, 3), {}, "SUCCESS"),
        ((3, 2, 2), {"dstXInBytes": 5, "dstY": 1, "dstZ": 1}, "SUCCESS"),
        ((0, 4, 3), {}, "SUCCESS"),
        ((32, 0, 3), {}, "SUCCESS"),
        ((36, 4, 3), {}, "INVALID_VALUE"),
        ((32, 5, 3), {}, "INVALID_VALUE"),
        ((32, 4, 4), {}, "INVALID_VALUE"),
        ((32, 4, 3), {"dstXInBytes": 4}, "INVALID_VALUE"),
        ((32, 4, 3), {"dstY": 1}, "INVALID_VALUE"),
        ((32, 4, 3), {"dstZ": 1}, "INVALID_VALUE"),
        ((32, 4, 3), {"srcPitch": 16}, "INVALID_VALUE"),
        ((32, 4, 3), {"srcHeight": 2}, "INVALID_VALUE"),
        ((32, 4, 3), {"dstLOD": 1}, "INVALID_VALUE"),
        ((32, 4, 3), {"srcLOD": 1}, "SUCCESS"),
    ],
)
@pytest.mark.parametrize("kind", ["3d", "a2d"])
def test_a_box_is_copied(cuda, context, kind, size, fields, result):
    array = created(cuda, resource(kind))
    data = np.zeros(1024, np.uint8)
    assert cuda.result("cuMemcpy3D", box(cuda, data, array, *size, **fields)) in (
        result,
        f"CUDA_{result}",
    )


# --- kernels -------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["1d", "2d", "3d", "a1d", "a2d"])
def test_a_store_is_loaded(cuda, surface, kind):
    handle, _ = surface(resource(kind))
    at = {"1d": "{4}", "2d": "{4, 2}", "3d": "{4, 2, 1, 0}", "a1d": "{1, 4}",
          "a2d": "{1, 4, 2, 0}"}[kind]  # fmt: skip
    body = f"sust.b.{kind}.b32.trap [%t, {at}], %r0; suld.b.{kind}.b32.trap %r0, [%t, {at}];"
    assert run(cuda, handle, body) == 7777


@pytest.mark.parametrize(
    ("mode", "x", "value"), [("zero", 64, 0), ("zero", -4, 0), ("clamp", 64, 8), ("clamp", -4, 1)]
)
def test_out_of_range(cuda, surface, mode, x, value):
    handle, _ = surface(resource())
    body = f"suld.b.2d.b32.{mode} %r0, [%t, {{%x, 0}}];"
    assert run(cuda, handle, body, x % (1 << 32)) == value


@pytest.mark.parametrize(
    ("query", "sizes"),
    [("width", [8, 8, 8, 8, 8]), ("height", [0, 4, 4, 3, 4]), ("depth", [0, 0, 3, 0, 3])],
)
def test_the_size_of_a_surface(cuda, surface, query, sizes):
    for kind, size in zip(SHAPES, sizes, strict=False):
        handle, _ = surface(resource(kind))
        assert run(cuda, handle, f"suq.{query}.b32 %r0, [%t];") == size


def test_a_reduction(cuda, surface):
    handle, _ = surface(resource())
    body = "sured.b.add.2d.u32.trap [%t, {8, 1}], %r0; suld.b.2d.b32.trap %r0, [%t, {8, 1}];"
    assert run(cuda, handle, body) == 11 + 7777


@pytest.mark.parametrize("word", [0, 100, 300])
def test_a_texel_saturates(cuda, surface, word):
    handle, _ = surface(resource(dtype="u1"))
    body = (
        "sust.p.2d.b32.trap [%t, {3, 1}], %x; { .reg .b16 %h;"
        " suld.b.2d.b8.trap %h, [%t, {3, 1}]; cvt.u32.u16 %r0, %h; }"
    )
    assert run(cuda, handle, body, word) == min(word, 255)


@pytest.mark.parametrize("kind", ["texref", "samplerref", "surfref"])
def test_an_object_is_no_variable(cuda, surface, kind):
    handle, _ = surface(resource())
    assert run(cuda, handle, f"istypep.{kind} %p, %t; selp.u32 %r0, 11, 22, %p;") == 22


FAULTS = {
    "suld.b.2d.b32.trap %r0, [%t, {%x, 0}];": (64, "ILLEGAL_ADDRESS"),
    "suld.b.2d.b32.trap  %r0, [%t, {%x, 0}];": (6, "MISALIGNED_ADDRESS"),
    "sust.b.2d.b32.trap [%t, {0, %x}], %r0;": (8, "ILLEGAL_ADDRESS"),
    "sust.p.2d.b32.trap [%t, {0, %x}], %r0;": (8, "ILLEGAL_ADDRESS"),
    "sured.b.add.2d.u32.trap [%t, {0, %x}], %r0;": (8, "ILLEGAL_ADDRESS"),
    "sust.b.2d.b32.zero [%t, {%x, 0}], %r0;": (6, "MISALIGNED_ADDRESS"),
    "suld.b.2d.b32.zero %r0, [%t, {%x, 0}];": (66, "MISALIGNED_ADDRESS"),
    "suld.b.2d.b32.clamp %r0, [%t, {%x, 0}];": (66, "MISALIGNED_ADDRESS"),
    "suld.b.2d.b32.trap   %r0, [%t, {%x, 0}];": (66, "ILLEGAL_ADDRESS"),
    "sured.b.add.2d.u32.zero [%t, {%x, 0}], %r0;": (6, "MISALIGNED_ADDRESS"),
}


@pytest.mark.parametrize("body", FAULTS)
def test_a_fault(in_new_process, body):
    x, result = FAULTS[body]
    assert in_new_process("surface_fault.py", body, str(x)).stdout.strip() == result


# --- textures of these arrays --------------------------------------------------------------------


@pytest.fixture
def fetched(drv):
    """Returns what a case fetches, as floats."""
    runner = Runner(drv)
    yield lambda case: runner.run(case).view(np.float32)
    runner.close()


@pytest.mark.parametrize(("lod", "value"), [(0.0, 1.0), (0.5, 3.0), (1.0, 5.0), (9.0, 5.0)])
def test_a_level_of_detail(fetched, lod, value):
    levels = tuple(np.full((1, size, size, 1), number, np.float32) for size, number in
                   ((2, 1.0), (1, 5.0)))  # fmt: skip
    case = Case("level", "tex.level.2d.v4.f32.f32", Resource("2d", levels),
                words_of([0.5], [0.5], [lod]),
                Sampling(between_levels=1, flags=2, most=9.0))  # fmt: skip
    assert fetched(case)[0, 0] == value


@pytest.mark.parametrize(
    ("direction", "face"),
    [((1, 0, 0), 0), ((-1, 0, 0), 1), ((0, 1, 0), 2), ((0, -1, 0), 3), ((0, 0, 1), 4),
     ((0, 0, -1), 5), ((1, 1, 1), 4), ((1, 1, 0), 2), ((0, 0, 0), 4)],
)  # fmt: skip
def test_the_face_of_a_direction(fetched, direction, face):
    texels = np.broadcast_to(np.arange(6, dtype=np.float32)[:, None, None, None], (6, 4, 4, 1))
    case = Case("face", "tex.cube.v4.f32.f32", Resource("cube", (texels.copy(),)),
                words_of(*([float(axis)] for axis in direction)), Sampling(flags=2))  # fmt: skip
    assert fetched(case)[0, 0] == face


def test_a_gather(fetched):
    texels = np.arange(16, dtype=np.float32).reshape(1, 4, 4, 1)
    case = Case("gather", "tld4.r.2d.v4.f32.f32", Resource("2d", (texels,)),
                words_of([2.0], [2.0]))  # fmt: skip
    assert fetched(case)[0].tolist() == [9.0, 10.0, 6.0, 5.0]


@pytest.mark.parametrize(("layer", "value"), [(0, 0.0), (2, 2.0), (7, 2.0), (-1, 2.0)])
def test_a_layer(fetched, layer, value):
    texels = np.broadcast_to(np.arange(3, dtype=np.float32)[:, None, None, None], (3, 4, 4, 1))
    case = Case("layer", "tex.a2d.v4.f32.f32", Resource("a2d", (texels.copy(),)),
                words_of([layer], [1.5], [1.5]))  # fmt: skip
    assert fetched(case)[0, 0] == value
