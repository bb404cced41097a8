"""Tensor maps, and what kernels of `ptx/tensor_maps.ptx` copy with them.

The kernels are `ptx/tensor_maps.cu` as nvcc compiled it.
"""

import ctypes

import numpy as np
import pytest

from tests.conformance.tensor_objects import SWIZZLE_128B, arguments, columns, map_bytes

ADDRESS = 0x7F0000000000
WORD = ctypes.c_void_p


@pytest.fixture
def kernel(cuda, context, ptx):
    module = cuda.cuModuleLoadData(ptx("tensor_maps"))
    return lambda name: cuda.cuModuleGetFunction(module, name.encode())


@pytest.fixture
def numbers(cuda, context):
    """96 x 64 floats in memory: the array and its address."""
    array = np.arange(96 * 64, dtype=np.float32).reshape(64, 96)
    address = cuda.cuMemAlloc(array.nbytes)
    cuda.cuMemcpyHtoD(address, array, array.nbytes)
    yield array, int(address)
    cuda.cuMemFree(address)


def read(cuda, address, *shape):
    found = np.zeros(shape, np.float32)
    cuda.cuMemcpyDtoH(found, address, found.nbytes)
    return found


# --- the driver's calls --------------------------------------------------------------------------


def test_the_bytes_of_a_tiled_map(cuda, context):
    words = map_bytes(cuda.cuTensorMapEncodeTiled(*arguments(cuda, ADDRESS)))
    expected = np.zeros(32, np.uint32)
    expected[[0, 1, 2, 3, 8, 9, 13, 14, 16, 18]] = [
        0, 0x7F00, 0x40390, 24, 95, 63, 31 << 24, 31, 4096, 16,
    ]  # fmt: skip
    assert words.view(np.uint32).tolist() == expected.tolist()


def test_the_bytes_of_an_im2col_map(cuda, context):
    words = map_bytes(cuda.cuTensorMapEncodeIm2col(*columns(cuda, ADDRESS))).view(np.uint32)
    assert words[2] == 0x403B1
    assert words[13:16].tolist() == [15 << 24, 0x0101FFFF, 19]


@pytest.mark.parametrize(
    "changes",
    [
        {"rank": 0},
        {"address": ADDRESS + 8},
        {"address": 1 << 57},
        {"dims": (0, 64)},
        {"dims": (96, (1 << 32) + 1)},
        {"strides": (388,)},
        {"strides": (1 << 40,)},
        {"box": (30, 32)},
        {"box": (257, 1)},
        {"box": (32, 0)},
        {"box": (256, 256)},
        {"steps": (1, 9)},
        {"steps": (0, 1)},
        {"interleave": 1},
        {"swizzle": 2},
        {"swizzle": 4, "box": (8, 8)},
        {"type": 2, "fill": 1},
        {"type": 13},
    ],
)
def test_arguments_that_no_tiled_map_has(cuda, context, changes):
    given = arguments(cuda, **{"address": ADDRESS, **changes})
    assert cuda.result("cuTensorMapEncodeTiled", *given) == "INVALID_VALUE"


@pytest.mark.parametrize(
    "changes",
    [
        {"rank": 2},
        {"lower": (-129, 0)},
        {"upper": (0, 128)},
        {"lower": (9, 0), "upper": (0, 0)},
        {"channels": 257},
        {"channels": 6},
        {"pixels": 0},
        {"pixels": 1025},
    ],
)
def test_arguments_that_no_im2col_map_has(cuda, context, changes):
    given = columns(cuda, ADDRESS, **changes)
    assert cuda.result("cuTensorMapEncodeIm2col", *given) == "INVALID_VALUE"


@pytest.mark.parametrize(
    "changes",
    [
        {"steps": (8, 8)},
        {"box": (256, 1)},
        {"dims": (1, 1 << 32)},
        {"strides": (0,)},
        {"fill": 1},
        {"swizzle": SWIZZLE_128B},
    ],
)
def test_arguments_that_a_tiled_map_has(cuda, context, changes):
    cuda.cuTensorMapEncodeTiled(*arguments(cuda, ADDRESS, **changes))


def test_a_map_of_one_dimension_needs_strides_all_the_same(cuda, context):
    line = {"rank": 1, "dims": (96,), "box": (32,), "steps": (1,)}
    given = arguments(cuda, ADDRESS, **line, strides=())
    assert cuda.result("cuTensorMapEncodeTiled", *given) == "INVALID_VALUE"
    cuda.cuTensorMapEncodeTiled(*arguments(cuda, ADDRESS, **line, strides=(0,)))


def test_maps_need_a_context(cuda, device):
    given = arguments(cuda, ADDRESS)
    assert cuda.result("cuTensorMapEncodeTiled", *given) == "INVALID_CONTEXT"


def test_another_address(cuda, context):
    tensor_map = cuda.cuTensorMapEncodeTiled(*arguments(cuda, ADDRESS))
    before = map_bytes(tensor_map)
    cuda.cuTensorMapReplaceAddress(tensor_map, cuda.cuuint64_t(ADDRESS + 4096))
    after = map_bytes(tensor_map)
    assert after[0] == ADDRESS + 4096
    assert after[1:].tolist() == before[1:].tolist()


@pytest.mark.parametrize("address", [0, 8, 1 << 57])
def test_addresses_that_no_map_has(cuda, context, address):
    tensor_map = cuda.cuTensorMapEncodeTiled(*arguments(cuda, ADDRESS))
    result = cuda.result("cuTensorMapReplaceAddress", tensor_map, cuda.cuuint64_t(address))
    assert result == "INVALID_VALUE"


# --- kernels -------------------------------------------------------------------------------------


def test_a_pipeline(cuda, kernel, numbers):
    array, address = numbers
    out = cuda.cuMemAlloc(array.nbytes)
    maps = [cuda.cuTensorMapEncodeTiled(*arguments(cuda, at)) for at in (address, int(out))]
    cuda.launch(kernel("doubled"), (*maps, 3), (None, None, ctypes.c_int), grid=(2, 1, 1),
                block=(128, 1, 1))  # fmt: skip
    assert read(cuda, out, 64, 96).tolist() == (2 * array).tolist()


def test_a_swizzle(cuda, kernel, numbers):
    array, address = numbers
    tensor_map = cuda.cuTensorMapEncodeTiled(*arguments(cuda, address, swizzle=SWIZZLE_128B))
    out = cuda.cuMemAlloc(4096)
    cuda.launch(kernel("transposed"), (tensor_map, int(out)), (None, WORD), block=(128, 1, 1))
    assert read(cuda, out, 32, 32).tolist() == array[:32, :32].T.tolist()


def test_a_map_in_constant_memory(cuda, context, ptx, numbers):
    array, address = numbers
    module = cuda.cuModuleLoadData(ptx("tensor_maps"))
    pointer, size = cuda.cuModuleGetGlobal(module, b"constant_map")
    assert size == 128
    data = map_bytes(cuda.cuTensorMapEncodeTiled(*arguments(cuda, address)))
    cuda.cuMemcpyHtoD(pointer, data, 128)
    out = cuda.cuMemAlloc(4)
    function = cuda.cuModuleGetFunction(module, b"of_constant")
    cuda.launch(function, (int(out),), (WORD,), block=(128, 1, 1))
    assert read(cuda, out, 1)[0] == array[:32, :32].sum()


def test_a_map_in_global_memory(cuda, kernel, numbers):
    array, address = numbers
    data = map_bytes(cuda.cuTensorMapEncodeTiled(*arguments(cuda, address)))
    pointer, out = cuda.cuMemAlloc(128), cuda.cuMemAlloc(4)
    cuda.cuMemcpyHtoD(pointer, data, 128)
    cuda.launch(kernel("of_global"), (int(pointer), int(out)), (WORD, WORD), block=(128, 1, 1))
    assert read(cuda, out, 1)[0] == array[:32, :32].sum()


def test_maps_that_a_kernel_makes(cuda, kernel, numbers):
    array, address = numbers
    tensor_map = cuda.cuTensorMapEncodeTiled(*arguments(cuda, ADDRESS))
    made, out = cuda.cuMemAlloc(3 * 128), cuda.cuMemAlloc(12)
    values, types = (tensor_map, int(made), address, int(out), 7), (None, WORD, WORD, WORD, WORD)
    cuda.launch(kernel("replaced"), values, types, grid=(3, 1, 1), block=(128, 1, 1))
    expected = [array[: 7 - n, 32 * n : 32 * n + 32].sum() for n in range(3)]
    assert read(cuda, out, 3).tolist() == expected


def test_a_tile_for_two_blocks(cuda, kernel, numbers):
    array, address = numbers
    tensor_map = cuda.cuTensorMapEncodeTiled(*arguments(cuda, address, box=(32, 16)))
    out = cuda.cuMemAlloc(8192)
    cuda.launch(kernel("shared_by_two"), (tensor_map, int(out)), (None, WORD), grid=(2, 1, 1),
                block=(128, 1, 1))  # fmt: skip
    assert read(cuda, out, 2, 32, 32).tolist() == [array[:32, :32].tolist()] * 2


@pytest.mark.parametrize(("x", "y"), [(0, 0), (64, 40), (80, 32)])
def test_a_sum(cuda, kernel, numbers, x, y):
    array, address = numbers
    tensor_map = cuda.cuTensorMapEncodeTiled(*arguments(cuda, address))
    cuda.launch(kernel("increased"), (tensor_map, x, y), (None, ctypes.c_int, ctypes.c_int),
                block=(128, 1, 1))  # fmt: skip
    array[y : y + 32, x : x + 32] += 1
    assert read(cuda, address, 64, 96).tolist() == array.tolist()


# --- faults --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("case", "number"),
    [
        ("load", 0),
        ("load outside", 0),
        ("map of zeros", 715),
        ("map of rank 3", 715),
        ("map at 32", 716),
        ("map at null", 700),
        ("x of 2", 715),
        ("shared at 64", 716),
        ("shared past the end", 700),
        ("unmapped tensor", 700),
        ("store", 0),
        ("store outside", 0),
        ("store at a negative row", 715),
        ("store from 16", 716),
    ],
)
def test_faults(in_new_process, case, number):
    assert int(in_new_process("tensor_fault.py", case).stdout) == number
