"""Textures of blocks of 4 by 4 texels, and of channels of 10 bits."""

import functools

import numpy as np
import pytest

from tests.conformance.arrays import array_with, rectangle
from tests.conformance.texture_objects import described, fetched, of_array

BLUE_TO_RED = [0x1F, 0x00, 0x00, 0xF8]  # the ends of a block of BC1: more red is greater
TEXELS = np.float32([[x + 0.5, y + 0.5] for y in range(4) for x in range(4)])


@pytest.fixture
def fetch(cuda, context, ptx):
    module = cuda.cuModuleLoadData(ptx("textures"))
    return functools.partial(fetched, cuda, module, "float_2d")


def array_of(cuda, format_, channels, elements, side=4):
    """A CUDA array of rows of elements, which are bytes."""
    elements = np.array(elements, np.uint8)
    rows, columns, size = elements.shape
    descriptor = cuda.CUDA_ARRAY_DESCRIPTOR()
    descriptor.Format = getattr(cuda.CUarray_format, f"CU_AD_FORMAT_{format_}")
    descriptor.NumChannels = channels
    descriptor.Width, descriptor.Height = columns * side, rows * side
    array = cuda.cuArrayCreate(descriptor)
    source = elements.reshape(rows, -1)
    cuda.cuMemcpy2D(rectangle(cuda, rows=rows, width=columns * size, source=source, target=array))
    return array


def texture_of(cuda, array, view=None):
    return cuda.cuTexObjectCreate(of_array(cuda, array), described(cuda), view)


def test_a_block_of_three_colors_and_none(cuda, fetch):
    block = [*BLUE_TO_RED, 0b11_10_01_00, 0, 0, 0]
    texture = texture_of(cuda, array_of(cuda, "BC1_UNORM", 4, [[block]]))
    got = fetch(texture, TEXELS[:4])
    half = np.float32(127 / 255)  # 31 times 33, eighths
    assert got.tolist() == [[0, 0, 1, 1], [1, 0, 0, 1], [half, 0, half, 1], [0, 0, 0, 0]]


def test_blocks_are_in_rows(cuda, fetch):
    """A block of BC4 whose first end is in all texels shows which block is read."""
    blocks = [[[10 * row + column, 0, *[0] * 6] for column in range(3)] for row in range(2)]
    texture = texture_of(cuda, array_of(cuda, "BC4_UNORM", 1, blocks))
    at = np.float32([[4 * x + 1.5, 4 * y + 3.5] for y in range(2) for x in range(3)])
    got = fetch(texture, at)
    assert (got[:, 0] * 255).round().tolist() == [0, 1, 2, 10, 11, 12]
    assert got[:, 1:].tolist() == [[0, 0, 1]] * 6


def test_channels_of_ten_bits(cuda, fetch):
    word = np.array([1 << 30 | 341 << 20 | 1 << 10 | 1023], np.uint32)
    elements = word.view(np.uint8).reshape(1, 1, 4)
    texture = texture_of(cuda, array_of(cuda, "UNORM_INT_101010_2", 4, elements, side=1))
    expected = np.float32([1023 / 1023, 1 / 1023, 341 / 1023, 1 / 3])
    assert fetch(texture, TEXELS[:1])[0].tolist() == expected.tolist()


@pytest.mark.parametrize(
    ("view_format", "format_", "channels", "size"),
    [("UNSIGNED_BC1", "BC1_UNORM", 4, 8), ("SIGNED_BC4", "BC4_SNORM", 1, 8),
     ("UNSIGNED_BC5", "BC5_UNORM", 2, 16), ("SIGNED_BC6H", "BC6H_SF16", 3, 16),
     ("UNSIGNED_BC7", "BC7_UNORM", 4, 16)],
)  # fmt: skip
def test_a_view_of_integers_as_blocks(cuda, fetch, view_format, format_, channels, size):
    """The view has four times the size of the array, whose texels are blocks."""
    blocks = np.random.default_rng(3).integers(0, 256, (1, 2, size), np.uint8)
    view = cuda.CUDA_RESOURCE_VIEW_DESC()
    view.format = getattr(cuda.CUresourceViewFormat, f"CU_RES_VIEW_FORMAT_{view_format}")
    view.width, view.height = 8, 4
    integers = array_with(cuda, blocks.view(np.uint32))
    viewed = fetch(texture_of(cuda, integers, view), TEXELS)
    direct = fetch(texture_of(cuda, array_of(cuda, format_, channels, blocks)), TEXELS)
    if channels < 4:
        direct[:, 3] = 0
    assert viewed.view(np.uint32).tolist() == direct.view(np.uint32).tolist()


def test_formats_of_srgb_are_refused(cuda, context):
    array = array_of(cuda, "BC1_UNORM_SRGB", 4, [[[0] * 8]])
    result = cuda.result("cuTexObjectCreate", of_array(cuda, array), described(cuda), None)
    assert result == "INVALID_VALUE"
