"""Memory in rows and in pools, callbacks, and how numbers are taken."""

import ctypes
import mmap
import resource
from pathlib import Path

import numpy as np
import pytest

from cudarun.emulator import driver
from cudarun.emulator.host import addresses
from cudarun.emulator.host.hostmemory import HostMemory
from cudarun.emulator.host.process import process

MIB = 1 << 20
HOST, DEVICE, ARRAY, UNIFIED = (driver.CUmemorytype(number) for number in (1, 2, 3, 4))
USED, USED_HIGH, THRESHOLD = (driver.CUmemPool_attribute(number) for number in (7, 8, 4))


@pytest.fixture(autouse=True)
def context(fresh_process):
    driver.cuInit(0)
    _, created = driver.cuCtxCreate(None, 0, 0)
    return created


def name(answer):
    return answer[0].name.removeprefix("CUDA_ERROR_")


def value(answer):
    assert name(answer) == "CUDA_SUCCESS"
    return answer[1] if len(answer) == 2 else answer[1:]


def contents(pointer, size):
    data = np.empty(size, dtype=np.uint8)
    value(driver.cuMemcpyDtoH(data, pointer, size))
    return data


# --- rows ----------------------------------------------------------------------------------------


def rectangle(width, height, **fields):
    copy = driver.CUDA_MEMCPY2D()
    copy.WidthInBytes, copy.Height = width, height
    for field, given in fields.items():
        setattr(copy, field, given)
    return copy


@pytest.mark.parametrize("call", ["cuMemcpy2D", "cuMemcpy2DUnaligned", "cuMemcpy2DAsync"])
@pytest.mark.parametrize("kind", [DEVICE, UNIFIED])
def test_a_rectangle_from_the_host(call, kind):
    host = np.arange(60, dtype=np.uint8).reshape(6, 10)
    pointer = value(driver.cuMemAlloc(64))
    copy = rectangle(
        4, 3, srcMemoryType=HOST, srcHost=host, srcPitch=10, srcXInBytes=2, srcY=1,
        dstMemoryType=kind, dstDevice=pointer, dstPitch=16, dstXInBytes=5, dstY=1,
    )  # fmt: skip
    stream = (0,) if call.endswith("Async") else ()
    assert name(getattr(driver, call)(copy, *stream)) == "CUDA_SUCCESS"
    expected = np.zeros((4, 16), dtype=np.uint8)
    expected[1:4, 5:9] = host[1:4, 2:6]
    assert contents(pointer, 64).tolist() == expected.ravel().tolist()


@pytest.mark.parametrize(
    ("fields", "refusal"),
    [
        ({"dstPitch": 3}, "INVALID_VALUE"),  # less than the width
        ({"dstPitch": 1 << 31}, "INVALID_VALUE"),  # more than MAX_PITCH
        ({"dstPitch": 32}, "INVALID_VALUE"),  # the last row is out of the allocation
        ({"dstMemoryType": ARRAY}, "INVALID_HANDLE"),
        ({"srcHost": 0}, "INVALID_VALUE"),
        ({}, "CUDA_SUCCESS"),
    ],
)
def test_a_rectangle_that_cannot_be_copied(fields, refusal):
    pointer = value(driver.cuMemAlloc(64))
    host = np.zeros(64, dtype=np.uint8)
    given = {
        "srcMemoryType": HOST, "srcHost": host, "srcPitch": 16,
        "dstMemoryType": DEVICE, "dstDevice": pointer, "dstPitch": 16,
    }  # fmt: skip
    assert name(driver.cuMemcpy2D(rectangle(8, 4, **given | fields))) == refusal


def test_a_copy_that_says_nothing():
    assert name(driver.cuMemcpy2D(driver.CUDA_MEMCPY2D())) == "INVALID_VALUE"


@pytest.mark.parametrize("call", ["cuMemcpy3D", "cuMemcpy3DAsync"])
@pytest.mark.parametrize("box", [(0, 1 << 40, 1 << 40), (1 << 63, 1 << 63, 0), (1 << 40, 0, 5)])
def test_a_huge_box_without_bytes(call, box):
    copy = driver.CUDA_MEMCPY3D()
    copy.Depth, copy.Height, copy.WidthInBytes = box
    copy.srcMemoryType, copy.srcHost = HOST, np.zeros(4, np.uint8)
    copy.dstMemoryType, copy.dstDevice = DEVICE, value(driver.cuMemAlloc(4))
    stream = (0,) if call.endswith("Async") else ()
    assert name(getattr(driver, call)(copy, *stream)) == "CUDA_SUCCESS"


@pytest.mark.parametrize(("bits", "item"), [(8, 0xAB), (16, 0xABCD), (32, 0xABCDEF01)])
@pytest.mark.parametrize("stream", [(), (0,)])
def test_rows_are_filled(bits, item, stream):
    pointer = value(driver.cuMemAlloc(4 * 32))
    call = getattr(driver, f"cuMemsetD2D{bits}{'Async' if stream else ''}")
    assert name(call(int(pointer), 32, item, 3, 4, *stream)) == "CUDA_SUCCESS"
    expected = np.zeros((4, 32 * 8 // bits), dtype=f"u{bits // 8}")
    expected[:, :3] = item
    assert contents(pointer, 128).tobytes() == expected.tobytes()


@pytest.mark.parametrize(("offset", "pitch"), [(2, 32), (0, 30), (0, 8)])
def test_rows_that_cannot_be_filled(offset, pitch):
    pointer = int(value(driver.cuMemAlloc(256)))
    assert name(driver.cuMemsetD2D32(pointer + offset, pitch, 0, 4, 2)) == "INVALID_VALUE"


# --- pools ---------------------------------------------------------------------------------------


def properties(**fields):
    made = driver.CUmemPoolProps()
    made.allocType = driver.CUmemAllocationType.CU_MEM_ALLOCATION_TYPE_PINNED
    made.location.type = driver.CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE
    for field, given in fields.items():
        setattr(made, field, given)
    return made


def test_a_pool_counts_what_is_in_use():
    pool = value(driver.cuDeviceGetDefaultMemPool(0))
    first = value(driver.cuMemAllocAsync(100, 0))
    second = value(driver.cuMemAllocFromPoolAsync(50, pool, 0))
    value(driver.cuMemAlloc(1000))  # is of no pool
    assert int(value(driver.cuMemPoolGetAttribute(pool, USED))) == 150
    for pointer in (first, second):
        assert name(driver.cuMemFreeAsync(pointer, 0)) == "CUDA_SUCCESS"
    assert int(value(driver.cuMemPoolGetAttribute(pool, USED))) == 0
    assert int(value(driver.cuMemPoolGetAttribute(pool, USED_HIGH))) == 150
    answer = driver.cuMemPoolSetAttribute(pool, USED_HIGH, driver.cuuint64_t(0))
    assert name(answer) == "CUDA_SUCCESS"
    assert int(value(driver.cuMemPoolGetAttribute(pool, USED_HIGH))) == 0


def test_a_pool_of_its_own():
    pool = value(driver.cuMemPoolCreate(properties(maxSize=128)))
    assert name(driver.cuDeviceSetMemPool(0, pool)) == "CUDA_SUCCESS"
    assert int(value(driver.cuDeviceGetMemPool(0))) == int(pool)
    pointer = value(driver.cuMemAllocAsync(100, 0))
    assert name(driver.cuMemAllocAsync(100, 0)) == "OUT_OF_MEMORY"
    assert name(driver.cuMemPoolSetAttribute(pool, THRESHOLD, driver.cuuint64_t(7))) == (
        "CUDA_SUCCESS"
    )
    assert int(value(driver.cuMemPoolGetAttribute(pool, THRESHOLD))) == 7
    assert name(driver.cuMemPoolSetAttribute(pool, USED, driver.cuuint64_t(7))) == "INVALID_VALUE"
    assert name(driver.cuMemPoolTrimTo(pool, 0)) == "CUDA_SUCCESS"
    assert name(driver.cuMemPoolDestroy(pool)) == "CUDA_SUCCESS"
    default = int(value(driver.cuDeviceGetDefaultMemPool(0)))
    assert int(value(driver.cuDeviceGetMemPool(0))) == default
    assert name(driver.cuMemPoolDestroy(default)) == "INVALID_VALUE"
    assert name(driver.cuMemFreeAsync(pointer, 0)) == "CUDA_SUCCESS"


def test_pools_there_are_not():
    assert name(driver.cuMemPoolCreate(driver.CUmemPoolProps())) == "INVALID_VALUE"


# --- arguments -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "size", [16.9, np.float64(16.5), np.array(16, dtype=np.uint32), np.int8(16)]
)
def test_a_number_is_taken_as_the_bindings_take_it(size):
    pointer = value(driver.cuMemAlloc(size))
    assert value(driver.cuMemGetAddressRange(pointer))[1] == 16
    pointer = value(driver.cuMemAlloc(bytesize=size))
    assert value(driver.cuMemGetAddressRange(pointer))[1] == 16


@pytest.mark.parametrize("size", ["16", b"16", None, [16]])
def test_what_is_no_number(size):
    with pytest.raises(TypeError, match="an integer is required"):
        driver.cuMemAlloc(size)


def test_a_stream_callback():
    seen = []
    told = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p)(
        lambda stream, result, data: seen.append((stream, result, data))
    )
    stream = value(driver.cuStreamCreate(0))
    address = ctypes.cast(told, ctypes.c_void_p).value
    assert name(driver.cuStreamAddCallback(stream, address, 5, 0)) == "CUDA_SUCCESS"
    assert seen == [(int(stream), 0, 5)]
    assert name(driver.cuStreamAddCallback(stream, address, 5, 1)) == "INVALID_VALUE"
    assert name(driver.cuStreamAddCallback(stream, None, 5, 0)) == "INVALID_VALUE"


def test_streams_have_numbers_of_their_own():
    first, second = (value(driver.cuStreamCreate(0)) for _ in range(2))
    numbers = {value(driver.cuStreamGetId(stream)) for stream in (first, second, 0, 2)}
    assert len(numbers) == 4


@pytest.mark.parametrize("call", [driver.cuMemGetMemPool, driver.cuMemGetDefaultMemPool])
def test_pools_of_other_memory_are_not_those_of_the_device(call):
    location, kinds = driver.CUmemLocation(), driver.CUmemAllocationType
    location.type = driver.CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE
    found = value(call(location, kinds.CU_MEM_ALLOCATION_TYPE_PINNED))
    assert int(found) == int(value(driver.cuDeviceGetDefaultMemPool(0)))
    assert name(call(location, kinds.CU_MEM_ALLOCATION_TYPE_INVALID)) == "INVALID_VALUE"


# --- memory at given addresses -------------------------------------------------------------------


def test_host_memory_makes_room_for_given_addresses():
    start, _ = process.host_memory.addresses()
    free = driver.allocate_at([(start + 4096, 64)])
    assert process.host_memory.addresses()[0] != start
    value(driver.cuMemsetD8(start + 4096, 7, 64))
    assert contents(start + 4096, 64).tolist() == [7] * 64
    free()


def test_given_addresses_of_allocated_host_memory_are_refused():
    taken = value(driver.cuMemHostAlloc(64, 0))
    with pytest.raises(ValueError, match="are addresses of the emulated device"):
        driver.allocate_at([(int(taken), 64)])


def test_given_addresses_need_addresses_of_the_host():
    start = process.host_memory.addresses()[0] - (1 << 44)
    ranges = [(start, 64), (start + 1000 * MIB, 64)]  # near enough for one arena
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    old = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (used + 500 * MIB, old[1]))
    try:
        with pytest.raises(MemoryError, match="address space cannot be reserved"):
            driver.allocate_at(ranges)
    finally:
        resource.setrlimit(resource.RLIMIT_AS, old)
    driver.allocate_at(ranges)()


def test_an_arena_that_is_shared_does_not_move(monkeypatch):
    base = 1 << 40
    monkeypatch.setattr(addresses.host, "arena", lambda size: (mmap.mmap(-1, size), base))
    memory = HostMemory(1 << 16)
    memory.move_from([(base + 4096, 64)])
    assert memory.addresses()[0] == base
    assert memory.allocate(16) == base
