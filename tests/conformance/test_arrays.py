"""CUDA arrays: their descriptors, their memory, and copies to and from them."""

import numpy as np
import pytest

from tests.conformance.arrays import FORMATS, create_array, format_of, rectangle


@pytest.mark.parametrize("size", [(100,), (100, 7)])
@pytest.mark.parametrize("dtype", FORMATS)
@pytest.mark.parametrize("channels", [1, 2, 4])
def test_an_array_says_what_it_is(cuda, context, size, dtype, channels):
    array = create_array(cuda, dtype, channels, *size)
    descriptor = cuda.cuArrayGetDescriptor(array)
    assert descriptor.Format == format_of(cuda, dtype)
    assert descriptor.NumChannels == channels
    assert (descriptor.Width, descriptor.Height) == (*size, 0)[:2]
    cuda.cuArrayDestroy(array)


@pytest.mark.parametrize(
    ("channels", "width"), [(3, 16), (0, 16), (8, 16), (1, 0), (1, (1 << 17) + 1)]
)
def test_arrays_that_there_are_not(cuda, context, channels, width):
    descriptor = cuda.CUDA_ARRAY_DESCRIPTOR()
    descriptor.Format, descriptor.NumChannels = format_of(cuda, "f4"), channels
    descriptor.Width = width
    assert cuda.result("cuArrayCreate", descriptor) == "INVALID_VALUE"


def test_an_array_without_a_format(cuda, context):
    descriptor = cuda.CUDA_ARRAY_DESCRIPTOR()
    descriptor.NumChannels, descriptor.Width = 1, 16
    assert cuda.result("cuArrayCreate", descriptor) == "INVALID_VALUE"


def test_arrays_take_memory(cuda, context):
    free, _ = cuda.cuMemGetInfo()
    array = create_array(cuda, "f4", 4, 4096, 4096)
    assert cuda.cuMemGetInfo()[0] <= free - (256 << 20)
    cuda.cuArrayDestroy(array)


def test_a_row_is_copied(cuda, context):
    data, back = np.arange(64, dtype=np.uint8), np.zeros(64, np.uint8)
    first, second = create_array(cuda, "u1", 4, 16), create_array(cuda, "u1", 4, 16)
    pointer = cuda.cuMemAlloc(64)
    cuda.cuMemcpyHtoA(first, 0, data, 64)
    cuda.cuMemcpyAtoA(second, 0, first, 0, 64)
    cuda.cuMemcpyAtoD(pointer, second, 0, 64)
    cuda.cuMemcpyDtoA(first, 0, cuda.CUdeviceptr(int(pointer) + 32), 32)
    cuda.cuMemcpyAtoH(back, first, 0, 64)
    assert back.tolist() == [*range(32, 64), *range(32, 64)]
    cuda.cuMemcpyAtoH(back, second, 16, 16)
    assert back[:16].tolist() == list(range(16, 32))
    stream = cuda.cuStreamCreate(0)
    cuda.cuMemcpyHtoAAsync(first, 0, data, 64, stream)
    cuda.cuMemcpyAtoHAsync(back, first, 0, 64, stream)
    cuda.cuStreamSynchronize(stream)
    assert back.tolist() == data.tolist()


def test_no_copy_beyond_a_row(cuda, context):
    array = create_array(cuda, "f4", 1, 16)
    assert cuda.result("cuMemcpyHtoA", array, 4, bytes(64), 64) == "INVALID_VALUE"
    assert cuda.result("cuMemcpyAtoH", bytearray(64), array, 64, 4) == "INVALID_VALUE"


@pytest.mark.parametrize(("offset", "size"), [(0, 3), (2, 4), (1, 1), (60, 4)])
def test_a_row_is_bytes(cuda, context, offset, size):
    array, data, back = create_array(cuda, "f4", 1, 16), bytes(range(64)), bytearray(64)
    cuda.cuMemcpyHtoA(array, 0, data, 64)
    cuda.cuMemcpyHtoA(array, offset, b"\xaa" * size, size)
    cuda.cuMemcpyAtoH(back, array, 0, 64)
    assert bytes(back) == data[:offset] + b"\xaa" * size + data[offset + size :]


def test_no_copy_beyond_the_first_row(cuda, context):
    array = create_array(cuda, "f4", 1, 16, 8)
    cuda.cuMemcpyHtoA(array, 60, bytes(8), 4)
    assert cuda.result("cuMemcpyHtoA", array, 60, bytes(8), 8) == "INVALID_VALUE"


def test_a_rectangle_goes_through_an_array(cuda, context):
    data = np.arange(80, dtype=np.float32).reshape(8, 10)
    array = create_array(cuda, "f4", 1, 10, 8)
    cuda.cuMemcpy2D(rectangle(cuda, rows=8, width=40, source=data, target=array))
    pointer, pitch = cuda.cuMemAllocPitch(16, 3, 4)
    part = rectangle(cuda, rows=3, width=16, source=array, target=(pointer, pitch))
    part.srcXInBytes, part.srcY = 8, 2
    cuda.cuMemcpy2D(part)
    back = np.zeros((3, 4), np.float32)
    cuda.cuMemcpy2D(rectangle(cuda, rows=3, width=16, source=(pointer, pitch), target=back))
    assert back.tolist() == data[2:5, 2:6].tolist()


@pytest.mark.parametrize(("x", "y", "width"), [(0, 1, 64), (4, 0, 64), (62, 0, 4)])
def test_rectangles_that_an_array_has_not(cuda, context, x, y, width):
    array = create_array(cuda, "f4", 1, 16, 8)
    data = np.zeros((8, 16), np.float32)
    copy = rectangle(cuda, rows=8, width=width, source=data, target=array)
    copy.dstXInBytes, copy.dstY = x, y
    assert cuda.result("cuMemcpy2D", copy) == "INVALID_VALUE"


@pytest.mark.parametrize(("x", "width"), [(0, 3), (1, 4), (2, 4), (62, 2), (61, 3)])
def test_a_rectangle_of_an_array_is_bytes(cuda, context, x, width):
    """No whole texels are asked for."""
    array, back = create_array(cuda, "f4", 1, 16, 8), np.zeros((8, 64), np.uint8)
    cuda.cuMemcpy2D(rectangle(cuda, rows=8, width=64, source=back, target=array))
    data = np.arange(1, 513, dtype=np.uint16).astype(np.uint8).reshape(8, 64)
    part = rectangle(cuda, rows=8, width=width, source=data, target=array)
    part.dstXInBytes = x
    cuda.cuMemcpy2D(part)
    cuda.cuMemcpy2D(rectangle(cuda, rows=8, width=64, source=array, target=back))
    expected = np.zeros_like(back)
    expected[:, x : x + width] = data[:, :width]
    assert back.tolist() == expected.tolist()
