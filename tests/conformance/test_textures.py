"""Texture objects, and what kernels fetch through them.

The kernels are `ptx/textures.cu` as nvcc compiled it. Of each fetch the whole vector is stored.
"""

import ctypes
import struct

import numpy as np
import pytest

from tests.conformance.arrays import (
    FORMATS,
    array_with,
    create_array,
    format_of,
    numbers,
    rectangle,
)
from tests.conformance.texture_objects import (
    BORDER,
    CLAMP,
    INTEGER,
    LINEAR,
    MIRROR,
    NORMALIZED,
    WRAP,
    described,
    of_array,
    of_linear,
    of_pitched,
)


def f32(*values):
    return np.array(values, np.float32)


# --- texture objects -----------------------------------------------------------------------------


def test_a_texture_says_what_it_is(cuda, context):
    array = create_array(cuda, "u1", 4, 16, 16)
    how = described(cuda, mode=MIRROR, filter_mode=LINEAR, flags=NORMALIZED)
    texture = cuda.cuTexObjectCreate(of_array(cuda, array), how, None)
    resource = cuda.cuTexObjectGetResourceDesc(texture)
    assert resource.resType == cuda.CUresourcetype.CU_RESOURCE_TYPE_ARRAY
    assert int(resource.res.array.hArray) == int(array)
    said = cuda.cuTexObjectGetTextureDesc(texture)
    assert list(map(int, said.addressMode))[:2] == [MIRROR] * 2
    assert (int(said.filterMode), said.flags) == (LINEAR, NORMALIZED)
    view = cuda.cuTexObjectGetResourceViewDesc(texture)
    assert int(view.format) == 0
    assert (view.width, view.height, view.depth, view.lastLayer) == (0, 0, 0, 0)
    cuda.cuTexObjectDestroy(texture)


def test_a_texture_says_where_its_memory_is(cuda, context):
    pointer = cuda.cuMemAlloc(4096)
    texture = cuda.cuTexObjectCreate(of_linear(cuda, pointer, "i2", 2, 400), described(cuda), None)
    resource = cuda.cuTexObjectGetResourceDesc(texture)
    linear = resource.res.linear  # which in the bindings does not outlive what it is part of
    assert (int(linear.devPtr), linear.numChannels) == (int(pointer), 2)
    assert (linear.format, linear.sizeInBytes) == (format_of(cuda, "i2"), 400)
    cuda.cuTexObjectDestroy(texture)


@pytest.mark.parametrize(("offset", "size"), [(4, 64), (0, 1 << 33)])
def test_linear_memory_that_no_texture_has(cuda, context, offset, size):
    pointer = cuda.cuMemAlloc(4096)
    resource = of_linear(cuda, cuda.CUdeviceptr(int(pointer) + offset), "f4", 1, size)
    assert cuda.result("cuTexObjectCreate", resource, described(cuda), None) == "INVALID_VALUE"


@pytest.mark.parametrize(
    ("name", "channels"), [("UNORM_INT8X1", 1), ("SNORM_INT8X2", 2), ("UNORM_INT16X4", 4)]
)
def test_normalized_formats(cuda, context, name, channels):
    """The name has the number of channels, and only arrays have such texels."""
    descriptor = cuda.CUDA_ARRAY_DESCRIPTOR()
    descriptor.Format = getattr(cuda.CUarray_format, f"CU_AD_FORMAT_{name}")
    descriptor.Width, descriptor.Height = 16, 4
    for other in {0, 1, 2, 3, 4} - {channels}:
        descriptor.NumChannels = other
        assert cuda.result("cuArrayCreate", descriptor) == "INVALID_VALUE"
    descriptor.NumChannels = channels
    said = cuda.cuArrayGetDescriptor(cuda.cuArrayCreate(descriptor))
    assert (said.Format, said.NumChannels) == (descriptor.Format, channels)
    pointer = cuda.cuMemAlloc(4096)
    memory = of_linear(cuda, pointer, "u1", channels, 64)
    memory.res.linear.format = descriptor.Format
    assert cuda.result("cuTexObjectCreate", memory, described(cuda), None) == "INVALID_VALUE"


def test_linear_memory_is_not_sampled(cuda, fetch):
    pointer = cuda.cuMemAlloc(64)
    cuda.cuMemcpyHtoD(pointer, numbers(16), 64)
    how = described(cuda, mode=WRAP, filter_mode=LINEAR, flags=NORMALIZED)
    texture = cuda.cuTexObjectCreate(of_linear(cuda, pointer, "f4", 1, 64), how, None)
    assert fetch("float_1d", texture, f32(0.0, 0.5, 7.5)).tolist() == [[0.0] * 4] * 3


@pytest.mark.parametrize("size", [0, 1, 2, 5, 399, (1 << 29) - 1, 1 << 31])
def test_linear_memory_of_any_size(cuda, context, size):
    """No whole number of texels is asked for, nor that the memory is there."""
    resource = of_linear(cuda, cuda.cuMemAlloc(4096), "f4", 1, size)
    cuda.cuTexObjectDestroy(cuda.cuTexObjectCreate(resource, described(cuda), None))


@pytest.mark.parametrize(
    ("width", "height", "pitch"),
    [(16, 4, 48), (16, 4, 33), (1 << 18, 4, 1 << 20), (16, 1 << 17, 64)],
)
def test_pitched_memory_that_no_texture_has(cuda, context, width, height, pitch):
    resource = of_pitched(cuda, cuda.cuMemAlloc(1 << 16), "f4", 1, width, height, pitch)
    assert cuda.result("cuTexObjectCreate", resource, described(cuda), None) == "INVALID_VALUE"


@pytest.mark.parametrize(
    ("width", "height", "pitch"), [(0, 4, 64), (16, 0, 64), (32, 4, 64), (16, 4, 0), (16, 4, 32)]
)
def test_pitched_memory_of_any_shape(cuda, context, width, height, pitch):
    """Rows may overlap, and be all the same one."""
    resource = of_pitched(cuda, cuda.cuMemAlloc(1 << 16), "f4", 1, width, height, pitch)
    cuda.cuTexObjectDestroy(cuda.cuTexObjectCreate(resource, described(cuda), None))


@pytest.mark.parametrize(
    ("call", "number"),
    [
        ("cuArrayDestroy", 709),
        ("cuArrayGetDescriptor", 709),
        ("cuTexObjectCreate", 1),
        ("cuTexObjectDestroy", 0),
        ("cuTexObjectGetResourceDesc", 1),
        ("cuTexObjectGetTextureDesc", 1),
    ],
)
def test_handles_of_what_was_destroyed(in_new_process, call, number):
    assert int(in_new_process("destroyed_textures.py", call).stdout) == number


# --- linear memory -------------------------------------------------------------------------------


@pytest.fixture
def linear(cuda, context):
    """A texture of linear memory with these texels."""

    def make(texels, **how):
        pointer = cuda.cuMemAlloc(texels.nbytes)
        cuda.cuMemcpyHtoD(pointer, np.ascontiguousarray(texels), texels.nbytes)
        resource = of_linear(cuda, pointer, texels.dtype, texels.shape[-1], texels.nbytes)
        return cuda.cuTexObjectCreate(resource, described(cuda, **how), None)

    return make


def test_floats_of_linear_memory(fetch, linear):
    texels = numbers(1000)
    places = np.arange(999, -1, -1, dtype=np.int32)
    got = fetch("fetch_float", linear(texels), places, channels=1)
    assert got[:, 0].tolist() == texels[::-1, 0].tolist()


def test_shorts_of_linear_memory(fetch, linear):
    texels = np.array([[-1, 2], [300, -32768]], np.int16)
    texture = linear(texels, flags=INTEGER)
    got = fetch("fetch_short2", texture, np.array([1, 0], np.int32), np.int32, 2)
    assert got.tolist() == [[300, -32768], [-1, 2]]


@pytest.mark.parametrize("dtype", FORMATS)
@pytest.mark.parametrize("channels", [1, 2, 4])
def test_formats(fetch, linear, dtype, channels):
    texels = numbers(8, channels, dtype)
    texels[2:4] = np.array(-3).astype(dtype) if dtype[0] != "u" else np.iinfo(dtype).max
    texture = linear(texels, flags=INTEGER)
    got = fetch("fetch_uint4", texture, np.arange(8, dtype=np.int32), np.uint32)
    wide = texels.astype({"u": "u4", "i": "i4", "f": "f4"}[dtype[0]])
    assert got[:, :channels].tolist() == wide.view(np.uint32).tolist()


@pytest.mark.parametrize("place", [-1, 8, -(2**31), 2**31 - 1])
def test_beyond_linear_memory_is_zero(fetch, linear, place):
    got = fetch("fetch_float", linear(numbers(8)), np.array([place], np.int32), channels=1)
    assert got.tolist() == [[0.0]]


def test_half_a_texel_of_linear_memory_is_a_whole_one(cuda, fetch):
    pointer = cuda.cuMemAlloc(4096)
    cuda.cuMemsetD32(pointer, 5, 1024)
    texture = cuda.cuTexObjectCreate(of_linear(cuda, pointer, "u4", 1, 2), described(cuda), None)
    got = fetch("fetch_uint4", texture, np.array([0, 1], np.int32), np.uint32)
    assert got.tolist() == [[5, 0, 0, 0], [0, 0, 0, 0]]


def test_linear_memory_knows_no_filter(fetch, linear):
    texture = linear(numbers(8), mode=BORDER, filter_mode=LINEAR)
    assert fetch("fetch_float", texture, np.array([3], np.int32), channels=1).tolist() == [[4.0]]


def test_writes_are_seen_by_the_next_kernel(cuda, fetch):
    pointer = cuda.cuMemAlloc(64)
    cuda.cuMemsetD32(pointer, 0x3F800000, 16)
    texture = cuda.cuTexObjectCreate(of_linear(cuda, pointer, "f4", 1, 64), described(cuda), None)
    place = np.array([5], np.int32)
    assert fetch("fetch_float", texture, place, channels=1)[0, 0] == 1.0
    cuda.cuMemsetD32(pointer, 0x40000000, 16)
    assert fetch("fetch_float", texture, place, channels=1)[0, 0] == 2.0


def test_lanes_with_different_textures(cuda, linear, ptx):
    function = cuda.cuModuleGetFunction(cuda.cuModuleLoadData(ptx("textures")), b"either")
    even, odd, out = linear(numbers(16)), linear(-numbers(16)), cuda.cuMemAlloc(128)
    types, result = (ctypes.c_uint64,) * 3, np.zeros(32, np.float32)
    cuda.launch(function, (int(even), int(odd), int(out)), types, block=(32, 1, 1))
    cuda.cuMemcpyDtoH(result, out, 128)
    assert result.tolist() == [sign * n for n in range(1, 17) for sign in (1.0, -1.0)]


# --- the nearest texel ---------------------------------------------------------------------------

ONE_DIMENSION = f32(0.0, 0.5, 0.75, 1.0, 3.5, 7.0, 7.5)


@pytest.mark.parametrize("channels", [1, 2, 4])
def test_one_dimension(fetch, texture, channels):
    texels = numbers(8, channels)
    got = fetch("float_1d", texture(texels), ONE_DIMENSION)
    assert got[:, :channels].tolist() == texels[[0, 0, 0, 1, 3, 7, 7]].tolist()


def test_signed_integers_of_one_dimension(fetch, texture):
    texels = np.array([[-128, 127, 0, 1], [5, -6, 7, -8]], np.int8)
    got = fetch("int_1d", texture(texels, flags=INTEGER), f32(0.5, 1.5), np.int32)
    assert got.tolist() == texels.tolist()


@pytest.mark.parametrize("kernel", ["float_2d", "level_2d", "grad_2d"])
def test_two_dimensions(fetch, texture, kernel):
    texels = numbers(5 * 7, 4).reshape(5, 7, 4)
    at = f32(*(float(n) for n in np.ndindex(5, 7) for n in (n[1] + 0.5, n[0] + 0.5))).reshape(-1, 2)
    got = fetch(kernel, texture(texels), at)
    assert got.tolist() == texels.reshape(-1, 4).tolist()


def test_unsigned_integers_of_two_dimensions(fetch, texture):
    texels = np.array([[[1, 2, 3, 255]], [[5, 6, 7, 8]]], np.uint8)
    got = fetch("uint_2d", texture(texels, flags=INTEGER), f32(0.5, 0.5, 0.5, 1.5).reshape(2, 2),
                np.uint32)  # fmt: skip
    assert got.tolist() == texels.reshape(2, 4).tolist()


def test_pitched_memory(cuda, fetch):
    texels = numbers(6 * 10).reshape(6, 10)
    pointer, pitch = cuda.cuMemAllocPitch(40, 6, 4)
    cuda.cuMemcpy2D(rectangle(cuda, rows=6, width=40, source=texels, target=(pointer, pitch)))
    resource = of_pitched(cuda, pointer, "f4", 1, 10, 6, pitch)
    texture = cuda.cuTexObjectCreate(resource, described(cuda), None)
    at = f32(0.5, 0.5, 9.5, 0.5, 3.5, 4.5, 9.5, 5.5, 20.0, 20.0).reshape(-1, 2)
    assert fetch("float_2d", texture, at)[:, 0].tolist() == [1.0, 10.0, 44.0, 60.0, 60.0]


@pytest.fixture
def counted(cuda, context):
    """Pitched memory of the numbers from 0 on."""
    data = np.arange(1 << 14, dtype=np.float32)
    pointer = cuda.cuMemAlloc(data.nbytes)
    cuda.cuMemcpyHtoD(pointer, data, data.nbytes)
    return lambda *shape: cuda.cuTexObjectCreate(
        of_pitched(cuda, pointer, "f4", 1, *shape), described(cuda), None
    )


def test_rows_that_overlap(fetch, counted):
    at = f32(0.5, 0.5, 20.5, 0.5, 31.5, 0.5, 20.5, 1.5).reshape(-1, 2)
    assert fetch("float_2d", counted(32, 4, 64), at)[:, 0].tolist() == [0.0, 20.0, 31.0, 36.0]


def test_a_width_of_0_limits_nothing(fetch, counted):
    at = f32(0.5, 0.5, 20.5, 0.5).reshape(-1, 2)
    assert fetch("float_2d", counted(0, 4, 64), at)[:, 0].tolist() == [0.0, 20.0]


def test_whole_coordinates_of_an_array(fetch, texture):
    texels = numbers(3 * 4).reshape(3, 4, 1)
    at = np.array([[0, 0], [3, 0], [1, 2], [3, 2]], np.int32)
    assert fetch("whole_2d", texture(texels), at)[:, 0].tolist() == [1.0, 4.0, 10.0, 12.0]


@pytest.mark.parametrize("at", [(-1, 0), (4, 0), (0, 3)])
def test_whole_coordinates_beyond_an_array(fetch, texture, at):
    texels = numbers(3 * 4).reshape(3, 4, 1)
    assert fetch("whole_2d", texture(texels), np.array([at], np.int32))[0, 0] == 0.0


@pytest.mark.parametrize("channels", [1, 2])
def test_channels_that_a_texture_has_not(fetch, texture, channels):
    got = fetch("float_1d", texture(numbers(8, channels)), f32(2.5))
    assert got[0, channels:].tolist() == [0.0] * (4 - channels)


def test_channels_that_a_texture_of_integers_has_not(fetch, texture):
    got = fetch("int_1d", texture(numbers(8, 1, np.int32)), f32(2.5), np.int32)
    assert got.tolist() == [[3, 0, 0, 0]]


@pytest.mark.parametrize("channels", [1, 2])
def test_channels_that_linear_memory_has_not(fetch, linear, channels):
    texture = linear(numbers(8, channels, np.uint32))
    got = fetch("fetch_uint4", texture, np.array([0, 8], np.int32), np.uint32)
    assert got.tolist() == [[*range(1, channels + 1), *[0] * (4 - channels)], [0] * 4]


@pytest.mark.parametrize("below", [2.0**-6, 2.0**-9, 2.0**-10, 2.0**-20])
def test_just_below_a_texel(fetch, texture, below):
    """Whether coordinates are rounded before the floor is taken."""
    assert fetch("float_1d", texture(numbers(8)), f32(4 - below))[0, 0] == 4.0


@pytest.mark.parametrize(("coordinate", "value"), [(np.nan, 1.0), (np.inf, 8.0), (-np.inf, 1.0)])
def test_coordinates_that_are_no_numbers(fetch, texture, coordinate, value):
    assert fetch("float_1d", texture(numbers(8)), f32(coordinate))[0, 0] == value


def test_the_size_of_a_texture(cuda, texture, ptx):
    function = cuda.cuModuleGetFunction(cuda.cuModuleLoadData(ptx("textures")), b"size_2d")
    created, out = texture(np.zeros((3, 5, 2), np.float32)), cuda.cuMemAlloc(8)
    cuda.launch(function, (int(created), int(out)), (ctypes.c_uint64, ctypes.c_uint64))
    result = np.zeros(2, np.int32)
    cuda.cuMemcpyDtoH(result, out, 8)
    assert result.tolist() == [5, 3]


# --- address modes -------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", [CLAMP, WRAP, MIRROR])
def test_coordinates_out_of_range_are_clamped(fetch, texture, mode):
    """Those that are not normalized know no other mode but the border."""
    got = fetch("float_1d", texture(numbers(8), mode=mode), f32(-0.5, -100, 8.0, 8.5, 1e9))
    assert got[:, 0].tolist() == [1.0, 1.0, 8.0, 8.0, 8.0]


def test_a_border(fetch, texture):
    got = fetch("float_1d", texture(numbers(8), mode=BORDER), f32(-0.5, 0.5, 7.5, 8.5))
    assert got[:, 0].tolist() == [0.0, 1.0, 8.0, 0.0]


def test_a_border_with_a_color(fetch, texture):
    created = texture(numbers(8, 4), mode=BORDER, border=(0.5, -2.0, 3.0, 4.0))
    assert fetch("float_1d", created, f32(-0.5)).tolist() == [[0.5, -2.0, 3.0, 4.0]]


def test_a_border_has_the_channels_of_its_texels(fetch, texture):
    created = texture(numbers(4, 2), mode=BORDER, border=(7.0, 8.0, 9.0, 10.0))
    assert fetch("float_1d", created, f32(-1)).tolist() == [[7.0, 8.0, 0.0, 0.0]]


def test_a_border_of_integers_is_given_by_its_bits(fetch, texture):
    color = struct.unpack("<4f", struct.pack("<4i", 7, 8, 9, 10))
    created = texture(numbers(8, 4, np.int32), mode=BORDER, border=color)
    assert fetch("int_1d", created, f32(8.5), np.int32).tolist() == [[7, 8, 9, 10]]


SIXTHS = f32(-1.0625, -0.9375, -0.0625, 0.0625, 0.4375, 0.9375, 1.0625, 1.9375, 2.0625)


@pytest.mark.parametrize(
    ("mode", "values"),
    [
        (WRAP, [8, 1, 8, 1, 4, 8, 1, 8, 1]),
        (CLAMP, [1, 1, 1, 1, 4, 8, 8, 8, 8]),
        (MIRROR, [8, 8, 1, 1, 4, 8, 8, 1, 1]),
        (BORDER, [0, 0, 0, 1, 4, 8, 0, 0, 0]),
    ],
)
def test_normalized_coordinates(fetch, texture, mode, values):
    created = texture(numbers(8), mode=mode, flags=NORMALIZED)
    assert fetch("float_1d", created, SIXTHS)[:, 0].tolist() == values


def test_a_mode_for_each_dimension(cuda, fetch, context):
    array = array_with(cuda, numbers(8).reshape(2, 4, 1))
    how = described(cuda, flags=NORMALIZED)
    how.addressMode = [cuda.CUaddress_mode(mode) for mode in (WRAP, BORDER, CLAMP)]
    texture = cuda.cuTexObjectCreate(of_array(cuda, array), how, None)
    at = f32(1.125, 0.25, 1.125, 1.25, -0.125, 0.75).reshape(-1, 2)
    assert fetch("float_2d", texture, at)[:, 0].tolist() == [1.0, 0.0, 8.0]


# --- integers as fractions -----------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["u1", "u2", "i1", "i2"])
def test_integers_become_fractions_of_the_largest(fetch, texture, dtype):
    limits = np.iinfo(dtype)
    texels = np.array([limits.min, limits.min + 1, 0, 1, limits.max // 3, limits.max], dtype)
    got = fetch("float_1d", texture(texels.reshape(-1, 1)), f32(*(n + 0.5 for n in range(6))))
    expected = np.maximum(texels / np.float64(limits.max), -1).astype(np.float32)
    assert got[:, 0].tolist() == expected.tolist()


def test_integers_of_32_bits_stay_integers(fetch, texture):
    got = fetch("int_1d", texture(np.array([[-5], [6]], np.int32)), f32(0.5, 1.5), np.int32)
    assert got[:, 0].tolist() == [-5, 6]
