"""Textures on the emulated device: what is refused by name, faults, and what is watched."""

import ctypes
from pathlib import Path

import numpy as np
import pytest

from cudarun.emulator import driver

PTX = Path(__file__).parents[1] / "conformance" / "ptx" / "textures.ptx"
FLOAT, BYTE, INT = (driver.CUarray_format(number) for number in (0x20, 0x01, 0x0A))
LINEAR = driver.CUfilter_mode(1)
READ_AS_INTEGER, NORMALIZED, SRGB, SEAMLESS = 0x01, 0x02, 0x10, 0x40


@pytest.fixture(autouse=True)
def context(fresh_process):
    driver.cuInit(0)
    return value(driver.cuCtxCreate(None, 0, 0))


def name(answer):
    return answer[0].name.removeprefix("CUDA_ERROR_")


def value(answer):
    assert name(answer) == "CUDA_SUCCESS"
    return answer[1] if len(answer) == 2 else answer[1:]


def log():
    text = bytearray(4096)
    _, size = value(driver.cuLogsDumpToMemory(None, text, len(text), 0))
    return text[:size].decode()


def created_array(width=16, height=0, format_=FLOAT, channels=1):
    descriptor = driver.CUDA_ARRAY_DESCRIPTOR()
    descriptor.Format, descriptor.NumChannels = format_, channels
    descriptor.Width, descriptor.Height = width, height
    return value(driver.cuArrayCreate(descriptor))


def of_array(array):
    resource = driver.CUDA_RESOURCE_DESC()
    resource.resType = driver.CUresourcetype.CU_RESOURCE_TYPE_ARRAY
    resource.res.array.hArray = array
    return resource


def of_linear(pointer, size=64):
    resource = driver.CUDA_RESOURCE_DESC()
    resource.resType = driver.CUresourcetype.CU_RESOURCE_TYPE_LINEAR
    resource.res.linear.devPtr, resource.res.linear.format = pointer, FLOAT
    resource.res.linear.numChannels, resource.res.linear.sizeInBytes = 1, size
    return resource


def described(**fields):
    description = driver.CUDA_TEXTURE_DESC()
    for field, given in fields.items():
        setattr(description, field, given)
    return description


def created(resource, **fields):
    return value(driver.cuTexObjectCreate(resource, described(**fields), None))


def fetched(kernel, texture, coordinates, channels=4):
    """The first channel of every fetch, or the name of what synchronising returns."""
    module = value(driver.cuModuleLoadData(PTX.read_bytes() + b"\0"))
    function = value(driver.cuModuleGetFunction(module, kernel.encode()))
    count, out = len(coordinates), value(driver.cuMemAlloc(4096))
    given = value(driver.cuMemAlloc(coordinates.nbytes))
    value(driver.cuMemcpyHtoD(given, coordinates, coordinates.nbytes))
    types = (ctypes.c_uint64, ctypes.c_uint64, ctypes.c_uint64, ctypes.c_int)
    arguments = ((int(texture), int(given), int(out), count), types)
    value(driver.cuLaunchKernel(function, 1, 1, 1, count, 1, 1, 0, 0, arguments, 0))
    ended = name(driver.cuCtxSynchronize())
    if ended != "CUDA_SUCCESS":
        return ended
    data = np.zeros((count, channels), np.float32)
    value(driver.cuMemcpyDtoH(data, out, data.nbytes))
    return data[:, 0].tolist()


FLOATS, WHOLE = np.full(2, 0.5, np.float32), np.zeros(2, np.int32)


# --- what there is not ---------------------------------------------------------------------------


def test_formats_that_it_has_not():
    descriptor = driver.CUDA_ARRAY_DESCRIPTOR()
    descriptor.Format = driver.CUarray_format.CU_AD_FORMAT_NV12
    descriptor.NumChannels, descriptor.Width = 1, 16
    assert name(driver.cuArrayCreate(descriptor)) == "NOT_SUPPORTED"
    assert "the emulated device does not support CU_AD_FORMAT_NV12" in log()


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        (
            {
                "filterMode": driver.CUfilter_mode.CU_TR_FILTER_MODE_LINEAR,
                "flags": READ_AS_INTEGER,
            },
            "CU_TR_FILTER_MODE_LINEAR requires floating-point or normalized integer texels",
        ),
    ],
)
def test_ways_of_reading_that_it_has_not(fields, words):
    resource = of_array(created_array(format_=BYTE))
    answer = driver.cuTexObjectCreate(resource, described(**fields), None)
    assert name(answer) == "NOT_SUPPORTED"
    assert words in log()


def test_filtered_integers_of_32_bits():
    linear = described(filterMode=driver.CUfilter_mode.CU_TR_FILTER_MODE_LINEAR)
    resource = of_array(created_array(format_=INT))
    assert name(driver.cuTexObjectCreate(resource, linear, None)) == "NOT_SUPPORTED"


def test_flags_that_there_are_not():
    answer = driver.cuTexObjectCreate(of_array(created_array()), described(flags=0x80), None)
    assert name(answer) == "INVALID_VALUE"


@pytest.mark.parametrize("kind", ["LINEAR", "PITCH2D"])
def test_a_format_that_is_not_set(kind):
    resource = driver.CUDA_RESOURCE_DESC()
    resource.resType = getattr(driver.CUresourcetype, f"CU_RESOURCE_TYPE_{kind}")
    assert name(driver.cuTexObjectCreate(resource, described(), None)) == "INVALID_VALUE"


def test_a_seamless_texture_that_is_no_cube():
    answer = driver.cuTexObjectCreate(of_array(created_array()), described(flags=SEAMLESS), None)
    assert name(answer) == "INVALID_VALUE"


BLOCKS, TENS = (driver.CUarray_format(number) for number in (0x91, 0x50))


@pytest.mark.parametrize(
    ("format_", "height", "fields", "words"),
    [
        (BLOCKS, 8, {"flags": SRGB}, "CU_TRSF_SRGB with CU_AD_FORMAT_BC1_UNORM"),
        (BLOCKS, 8, {"addressMode": [driver.CUaddress_mode(3)] * 3}, "CU_TR_ADDRESS_MODE_BORDER"),
        (BLOCKS, 0, {}, "a .1d or .3d texture with CU_AD_FORMAT_BC1_UNORM"),
        (TENS, 8, {"flags": SRGB}, "CU_TRSF_SRGB with CU_AD_FORMAT_UNORM_INT_101010_2"),
    ],
)
def test_packed_texels_that_were_not_recorded(format_, height, fields, words):
    resource = of_array(created_array(8, height, format_, channels=4))
    assert name(driver.cuTexObjectCreate(resource, described(**fields), None)) == "NOT_SUPPORTED"
    assert words in log()


def test_surfaces_of_packed_texels_are_refused():
    resource = of_array(created_array(8, 8, BLOCKS, channels=4))
    assert name(driver.cuSurfObjectCreate(resource)) == "NOT_SUPPORTED"
    assert "a surface of CU_AD_FORMAT_BC1_UNORM" in log()


@pytest.mark.parametrize(
    ("format_", "channels", "width"), [(FLOAT, 2, 32), (INT, 4, 32), (INT, 2, 8)]
)
def test_views_that_do_not_match_blocks(format_, channels, width):
    view = driver.CUDA_RESOURCE_VIEW_DESC()
    view.format = driver.CUresourceViewFormat.CU_RES_VIEW_FORMAT_UNSIGNED_BC1
    view.width, view.height = width, 32
    resource = of_array(created_array(8, 8, format_, channels))
    assert name(driver.cuTexObjectCreate(resource, described(), view)) == "INVALID_VALUE"


@pytest.mark.parametrize(
    ("kernel", "height", "flags", "coordinates", "words"),
    [
        ("float_2d", 0, 0, FLOATS, "a .2d fetch from a .1d texture"),
        ("float_1d", 4, 0, FLOATS, "a .1d fetch from a .2d texture"),
    ],
)
def test_fetches_that_a_texture_has_not(kernel, height, flags, coordinates, words):
    texture = created(of_array(created_array(16, height)), flags=flags)
    given = np.zeros((2, 2), np.float32) if kernel.endswith("2d") else coordinates
    assert fetched(kernel, texture, given) == "NOT_SUPPORTED"
    assert f"{words}" in log()


def test_levels_of_an_anisotropic_texture():
    """A fetch without gradients has the same size in all directions."""
    texture = created(of_array(created_array(16, 4)), maxAnisotropy=2)
    assert fetched("level_2d", texture, np.zeros((2, 2), np.float32)) == [0.0] * 2


# --- faults --------------------------------------------------------------------------------------


def test_a_handle_of_no_texture():
    assert fetched("fetch_float", 0x1234, WHOLE) == "ILLEGAL_ADDRESS"
    report = log()
    assert "0x1234 is not a texture object of this context" in report
    assert "tex.1d.v4.f32.s32" in report
    assert "thread (0, 0, 0)" in report


def test_a_destroyed_texture():
    texture = created(of_array(created_array()))
    value(driver.cuTexObjectDestroy(texture))
    assert fetched("fetch_float", texture, WHOLE) == "ILLEGAL_ADDRESS"


def test_a_texture_of_another_context():
    texture = created(of_array(created_array()))
    value(driver.cuCtxCreate(None, 0, 0))
    assert fetched("fetch_float", texture, WHOLE) == "ILLEGAL_ADDRESS"


def test_a_texture_of_a_destroyed_array():
    array = created_array()
    texture = created(of_array(array))
    value(driver.cuArrayDestroy(array))
    assert fetched("fetch_float", texture, WHOLE) == "ILLEGAL_ADDRESS"
    assert "texture fetch from freed memory" in log()


def test_a_texture_of_freed_memory():
    pointer = value(driver.cuMemAlloc(64))
    texture = created(of_linear(pointer))
    value(driver.cuMemFree(pointer))
    assert fetched("fetch_float", texture, WHOLE) == "ILLEGAL_ADDRESS"


def test_a_texture_of_more_memory_than_there_is():
    texture = created(of_linear(value(driver.cuMemAlloc(16)), 64))
    assert fetched("fetch_float", texture, np.array([3, 16], np.int32)) == [0.0, 0.0]
    assert fetched("fetch_float", texture, np.array([16, 4], np.int32)) == "ILLEGAL_ADDRESS"
    report = log()
    assert "texture fetch out of bounds of the texture's memory" in report
    assert "thread (1, 0, 0)" in report


def test_half_a_texel_that_is_not_there():
    texture = created(of_linear(value(driver.cuMemAlloc(2)), 2))
    assert fetched("fetch_float", texture, WHOLE) == "ILLEGAL_ADDRESS"


def test_no_texel_at_all():
    texture = created(of_linear(value(driver.cuMemAlloc(16)), 0))
    assert fetched("fetch_float", texture, WHOLE) == [0.0, 0.0]


# --- what goes with a context, and what is counted -----------------------------------------------


def test_arrays_and_textures_end_with_their_context(fresh_process):
    made = value(driver.cuCtxCreate(None, 0, 0))
    before = value(driver.cuMemGetInfo())
    array = created_array(1024, 1024)
    texture = created(of_array(array))
    value(driver.cuCtxDestroy(made))
    assert value(driver.cuMemGetInfo()) == before
    assert name(driver.cuArrayDestroy(array)) == "CONTEXT_IS_DESTROYED"
    assert name(driver.cuTexObjectDestroy(texture)) == "CUDA_SUCCESS"


def test_handles_that_never_were():
    assert name(driver.cuArrayDestroy(driver.CUarray(0x1234))) == "INVALID_HANDLE"
    assert name(driver.cuTexObjectDestroy(driver.CUtexObject(0x1234))) == "INVALID_VALUE"


def test_what_is_asked_of_a_texture_can_be_changed():
    """The descriptors that calls return are the caller's."""
    array = created_array()
    given = of_array(array)
    texture = created(given, flags=NORMALIZED)
    given.res.array.hArray = driver.CUarray(0)
    said = value(driver.cuTexObjectGetTextureDesc(texture))
    said.flags = 0
    assert value(driver.cuTexObjectGetTextureDesc(texture)).flags == NORMALIZED
    resource = value(driver.cuTexObjectGetResourceDesc(texture))
    assert int(resource.res.array.hArray) == int(array)


def test_fetches_are_counted_as_loads():
    driver.start_detectors(["race", "uninit"], count=True)
    pointer = value(driver.cuMemAlloc(64))
    assert fetched("fetch_float", created(of_linear(pointer)), WHOLE, channels=1) == [0.0, 0.0]
    findings, statistics = driver.stop_detectors()
    assert findings == []  # detectors do not look into textures
    # four of parameters, one of the coordinate, one fetch
    assert statistics.instructions["load"].threads == 2 * 6


@pytest.mark.parametrize("lanes", [1, 5, 32])
def test_constant_coordinates_and_unwanted_channels(lanes):
    text = """.version 8.0\n.target sm_90\n.address_size 64
.visible .entry k(.param .u64 t, .param .u64 out) {
  .reg .b64 %t, %o, %w; .reg .f32 %f; .reg .b32 %i;
  ld.param.u64 %t, [t]; ld.param.u64 %o, [out];
  tex.1d.v4.f32.s32 {%f, _, _, _}, [%t, 3];
  mov.u32 %i, %tid.x; mul.wide.u32 %w, %i, 4; add.u64 %o, %o, %w;
  st.global.f32 [%o], %f;
  ret;
}\0"""
    pointer, out = value(driver.cuMemAlloc(64)), value(driver.cuMemAlloc(128))
    value(driver.cuMemcpyHtoD(pointer, np.arange(16, dtype=np.float32), 64))
    texture = created(of_linear(pointer))
    function = value(
        driver.cuModuleGetFunction(value(driver.cuModuleLoadData(text.encode())), b"k")
    )
    arguments = ((int(texture), int(out)), (ctypes.c_uint64, ctypes.c_uint64))
    value(driver.cuLaunchKernel(function, 1, 1, 1, lanes, 1, 1, 0, 0, arguments, 0))
    data = np.zeros(32, np.float32)
    value(driver.cuMemcpyDtoH(data, out, 128))
    assert data.tolist() == [3.0] * lanes + [0.0] * (32 - lanes)
