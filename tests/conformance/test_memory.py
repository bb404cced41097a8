"""Driver API, sections 6.13 and 6.17: memory and unified addressing."""

import ctypes
import mmap

import numpy as np
import pytest


def read(cuda, address, count, dtype=np.uint32):
    data = np.empty(count, dtype)
    cuda.cuMemcpyDtoH(data, address, data.nbytes)
    return data.tolist()


def at(cuda, address, offset):
    """An address ``offset`` bytes on."""
    return cuda.CUdeviceptr(int(address) + offset)


# --- allocation ----------------------------------------------------------------------------------


def test_allocations_are_aligned_and_apart(cuda, context):
    first, second = (int(cuda.cuMemAlloc(100)) for _ in range(2))
    assert first % 256 == second % 256 == 0
    assert abs(first - second) >= 100


def test_allocations_of_nothing(cuda, context):
    assert cuda.result("cuMemAlloc", 0) == "INVALID_VALUE"
    assert cuda.result("cuMemAllocManaged", 0, 1) == "INVALID_VALUE"


def test_more_than_there_is(cuda, context):
    assert cuda.result("cuMemAlloc", 1 << 50) == "OUT_OF_MEMORY"


@pytest.mark.parametrize("offset", [0, 16])
def test_only_the_start_of_an_allocation_is_freed(cuda, context, offset):
    address = cuda.cuMemAlloc(64)
    if offset:
        assert cuda.result("cuMemFree", at(cuda, address, offset)) == "INVALID_VALUE"
    cuda.cuMemFree(address)
    assert cuda.result("cuMemFree", address) == "INVALID_VALUE"


def test_freeing_null_is_nothing(cuda, context):
    assert cuda.result("cuMemFree", 0) == "CUDA_SUCCESS"


def test_info_counts_allocations(cuda, context):
    free, total = cuda.cuMemGetInfo()
    address = cuda.cuMemAlloc(256 << 20)
    assert cuda.cuMemGetInfo()[0] <= free - (256 << 20)
    left = cuda.cuMemGetInfo()[0]
    cuda.cuMemFree(address)
    assert cuda.cuMemGetInfo()[0] >= left + (256 << 20)
    assert cuda.cuMemGetInfo()[1] == total


def test_address_range(cuda, context):
    address = cuda.cuMemAlloc(1000)
    base, size = cuda.cuMemGetAddressRange(at(cuda, address, 999))
    assert (int(base), size) == (int(address), 1000)
    cuda.cuMemFree(address)
    assert cuda.result("cuMemGetAddressRange", address) == "NOT_FOUND"


def test_pitch(cuda, context):
    address, pitch = cuda.cuMemAllocPitch(100, 10, 4)
    assert (pitch, int(address) % pitch) == (512, 0)
    assert cuda.cuMemGetAddressRange(address)[1] >= 10 * pitch
    assert cuda.result("cuMemAllocPitch", 100, 10, 5) == "INVALID_VALUE"


def test_allocation_in_a_stream(cuda, context):
    stream = cuda.cuStreamCreate(0)
    address = cuda.cuMemAllocAsync(64, stream)
    cuda.cuMemsetD32Async(address, 7, 16, stream)
    cuda.cuStreamSynchronize(stream)
    assert read(cuda, address, 16) == [7] * 16
    cuda.cuMemFreeAsync(address, stream)
    cuda.cuStreamSynchronize(stream)


# --- copies and fills ----------------------------------------------------------------------------


@pytest.mark.parametrize("make", [bytes, bytearray, lambda b: np.frombuffer(b, np.uint8)])
def test_host_memory_as_an_object(cuda, context, make):
    data = bytes(range(64))
    address = cuda.cuMemAlloc(64)
    cuda.cuMemcpyHtoD(address, make(data), 64)
    back = bytearray(64)
    cuda.cuMemcpyDtoH(back, address, 64)
    assert back == data


def test_host_memory_as_an_address(cuda, context):
    values = (ctypes.c_uint32 * 4)(1, 2, 3, 4)
    address = cuda.cuMemAlloc(16)
    cuda.cuMemcpyHtoD(address, ctypes.addressof(values), 16)
    back = (ctypes.c_uint32 * 4)()
    cuda.cuMemcpyDtoH(ctypes.addressof(back), address, 16)
    assert list(back) == [1, 2, 3, 4]


def test_parts_are_copied(cuda, context):
    address = cuda.cuMemAlloc(16)
    cuda.cuMemsetD8(address, 0, 16)
    cuda.cuMemcpyHtoD(at(cuda, address, 3), b"abc", 3)
    back = bytearray(16)
    cuda.cuMemcpyDtoH(back, address, 16)
    assert back == b"\0\0\0abc" + bytes(10)


def test_copies_of_nothing(cuda, context):
    address = cuda.cuMemAlloc(16)
    cuda.cuMemcpyHtoD(address, b"xyz", 0)
    cuda.cuMemcpyDtoD(address, address, 0)


def test_device_to_device(cuda, context):
    source, target = (cuda.cuMemAlloc(64) for _ in range(2))
    cuda.cuMemsetD32(source, 0xABCD, 16)
    cuda.cuMemcpyDtoD(target, source, 64)
    assert read(cuda, target, 16) == [0xABCD] * 16


def test_a_copy_that_knows_by_the_addresses(cuda, context):
    address = cuda.cuMemAlloc(64)
    data, back = np.arange(16, dtype=np.uint32), np.zeros(16, np.uint32)
    cuda.cuMemcpy(address, cuda.CUdeviceptr(data.ctypes.data), 64)
    cuda.cuMemcpy(cuda.CUdeviceptr(back.ctypes.data), address, 64)
    assert back.tolist() == data.tolist()


def test_copies_in_a_stream(cuda, context):
    stream = cuda.cuStreamCreate(0)
    data, back = np.arange(16, dtype=np.uint32), np.zeros(16, np.uint32)
    first, second = (cuda.cuMemAlloc(64) for _ in range(2))
    cuda.cuMemcpyHtoDAsync(first, data, 64, stream)
    cuda.cuMemcpyDtoDAsync(second, first, 64, stream)
    cuda.cuMemcpyDtoHAsync(back, second, 64, stream)
    cuda.cuStreamSynchronize(stream)
    assert back.tolist() == data.tolist()


def test_fills(cuda, context):
    address = cuda.cuMemAlloc(16)
    cuda.cuMemsetD8(address, 0x11, 16)
    cuda.cuMemsetD16(at(cuda, address, 4), 0x2222, 2)
    cuda.cuMemsetD32(at(cuda, address, 8), 0x33333333, 1)
    assert read(cuda, address, 4) == [0x11111111, 0x22222222, 0x33333333, 0x11111111]


@pytest.mark.parametrize(("call", "offset"), [("cuMemsetD16", 1), ("cuMemsetD32", 2)])
def test_fills_want_aligned_addresses(cuda, context, call, offset):
    address = cuda.cuMemAlloc(64)
    assert cuda.result(call, at(cuda, address, offset), 0, 1) == "INVALID_VALUE"


def test_host_copies_stay_inside_the_allocation(cuda, context):
    address = cuda.cuMemAlloc(64)
    big = bytearray(4 << 20)
    assert cuda.result("cuMemcpyDtoH", big, address, 4 << 20) == "INVALID_VALUE"
    assert cuda.result("cuMemcpyHtoD", address, big, 4 << 20) == "INVALID_VALUE"


def test_a_freed_address_is_none(cuda, context):
    address = cuda.cuMemAlloc(4 << 20)
    cuda.cuMemFree(address)
    assert cuda.result("cuMemcpyDtoH", bytearray(4), address, 4) == "INVALID_VALUE"


@pytest.fixture(scope="module")
def from_another_context(in_new_process):
    """What ``other_context.py`` prints, by name."""
    lines = in_new_process("other_context.py").stdout.splitlines()
    return {name: int(number) for name, number in map(str.split, lines)}


# Section 6.17: one address space for all of a process's memory. It names no border between contexts
# of one device.
@pytest.mark.parametrize(
    ("name", "number"),
    [
        ("cuMemcpyDtoH", 0),
        ("copied", 5),
        ("cuLaunchKernel", 0),
        ("cuCtxSynchronize", 0),
        ("stored", 9),
        ("cuMemFree", 0),
    ],
)
def test_memory_of_another_context_of_the_device(from_another_context, name, number):
    assert from_another_context[name] == number


def test_memory_of_another_device(cuda, context, second_device):
    here = cuda.cuMemAlloc(64)
    cuda.cuMemsetD32(here, 5, 16)
    other = cuda.create_context(0, second_device)
    there = cuda.cuMemAlloc(64)
    cuda.cuMemcpyPeer(there, other, here, context, 64)
    assert read(cuda, there, 16) == [5] * 16
    cuda.cuCtxDestroy(other)


# --- memory that the host sees -------------------------------------------------------------------


@pytest.fixture(params=["cuMemAllocManaged", "cuMemAllocHost", "cuMemHostAlloc"])
def shared(request, cuda, context):
    """An address of 64 bytes that host and device share, by every call that makes one."""
    arguments = {"cuMemAllocManaged": (64, 1), "cuMemAllocHost": (64,), "cuMemHostAlloc": (64, 2)}
    address = int(getattr(cuda, request.param)(*arguments[request.param]))
    yield address
    if request.param == "cuMemAllocManaged":
        cuda.cuMemFree(cuda.CUdeviceptr(address))
    else:
        cuda.cuMemFreeHost(address)


def test_host_and_kernels_share_memory(cuda, context, ptx, shared):
    values = (ctypes.c_uint32 * 16).from_address(shared)
    values[:] = [1] * 16
    fill = cuda.cuModuleGetFunction(cuda.cuModuleLoadData(ptx("kernels")), b"fill")
    types = (ctypes.c_void_p, ctypes.c_uint32, ctypes.c_uint32)
    cuda.launch(fill, (shared, 9, 8), types, block=(32, 1, 1))
    cuda.cuCtxSynchronize()
    assert list(values) == [9] * 8 + [1] * 8


def test_managed_memory_says_so(cuda, context):
    address = cuda.cuMemAllocManaged(64, 1)
    attribute = cuda.CUpointer_attribute
    assert cuda.cuPointerGetAttribute(attribute.CU_POINTER_ATTRIBUTE_IS_MANAGED, address)
    assert cuda.result("cuMemAllocManaged", 64, 0) == "INVALID_VALUE"
    cuda.cuMemFree(address)


def test_page_locked_memory_is_not_freed_as_device_memory(cuda, context):
    address = cuda.cuMemAllocHost(64)
    assert cuda.result("cuMemFree", address) == "INVALID_VALUE"
    assert int(cuda.cuMemHostGetDevicePointer(address, 0)) == address
    cuda.cuMemFreeHost(address)
    assert cuda.result("cuMemFreeHost", address) == "INVALID_VALUE"


def test_registered_memory(cuda, context, ptx):
    data = np.zeros(4096, np.uint32)
    address = data.ctypes.data
    cuda.cuMemHostRegister(address, data.nbytes, 2)
    again = cuda.result("cuMemHostRegister", address, data.nbytes, 2)
    assert again == "HOST_MEMORY_ALREADY_REGISTERED"
    fill = cuda.cuModuleGetFunction(cuda.cuModuleLoadData(ptx("kernels")), b"fill")
    pointer = cuda.cuMemHostGetDevicePointer(address, 0)
    types = (ctypes.c_void_p, ctypes.c_uint32, ctypes.c_uint32)
    cuda.launch(fill, (int(pointer), 3, 4096), types, grid=(16, 1, 1), block=(256, 1, 1))
    cuda.cuCtxSynchronize()
    assert data.tolist() == [3] * 4096
    cuda.cuMemHostUnregister(address)
    assert cuda.result("cuMemHostUnregister", address) == "HOST_MEMORY_NOT_REGISTERED"
    assert cuda.result("cuMemHostGetDevicePointer", address, 0) == "INVALID_VALUE"


def test_memory_around_a_registered_part(cuda, context):
    data = np.frombuffer(mmap.mmap(-1, 4 * mmap.PAGESIZE), np.uint8)
    address = data.ctypes.data
    cuda.cuMemHostRegister(address + mmap.PAGESIZE, mmap.PAGESIZE, 0)
    whole = cuda.result("cuMemHostRegister", address, data.nbytes, 0)
    assert whole == "HOST_MEMORY_ALREADY_REGISTERED"
    cuda.cuMemHostRegister(address, mmap.PAGESIZE, 0)
    cuda.cuMemHostUnregister(address)
    cuda.cuMemHostUnregister(address + mmap.PAGESIZE)
    cuda.cuMemHostRegister(address, data.nbytes, 0)
    cuda.cuMemHostUnregister(address)


# --- what is known of an address -----------------------------------------------------------------


def test_attributes_of_a_device_pointer(cuda, device, context):
    address = cuda.cuMemAlloc(1000)
    inside = at(cuda, address, 500)

    def attribute(name):
        number = getattr(cuda.CUpointer_attribute, f"CU_POINTER_ATTRIBUTE_{name}")
        return cuda.cuPointerGetAttribute(number, inside)

    assert attribute("MEMORY_TYPE") == cuda.CUmemorytype.CU_MEMORYTYPE_DEVICE
    assert attribute("DEVICE_ORDINAL") == int(device)
    assert int(attribute("CONTEXT")) == int(context)
    assert int(attribute("DEVICE_POINTER")) == int(inside)
    assert int(attribute("RANGE_START_ADDR")) == int(address)
    assert attribute("RANGE_SIZE") == 1000
    assert not attribute("IS_MANAGED")


def test_attributes_of_page_locked_memory(cuda, context):
    address = cuda.cuMemAllocHost(64)
    attribute = cuda.CUpointer_attribute
    kind = cuda.cuPointerGetAttribute(attribute.CU_POINTER_ATTRIBUTE_MEMORY_TYPE, address)
    assert kind == cuda.CUmemorytype.CU_MEMORYTYPE_HOST
    pointer = cuda.cuPointerGetAttribute(attribute.CU_POINTER_ATTRIBUTE_HOST_POINTER, address)
    assert pointer == address
    cuda.cuMemFreeHost(address)


def test_an_address_that_cuda_does_not_know(cuda, context):
    data = np.zeros(64, np.uint8)
    kind = cuda.CUpointer_attribute.CU_POINTER_ATTRIBUTE_MEMORY_TYPE
    managed = cuda.CUpointer_attribute.CU_POINTER_ATTRIBUTE_IS_MANAGED
    assert cuda.result("cuPointerGetAttribute", kind, data.ctypes.data) == "INVALID_VALUE"
    assert cuda.cuPointerGetAttributes(2, [kind, managed], data.ctypes.data) == [0, 0]


# --- rows and pools ------------------------------------------------------------------------------


@pytest.mark.parametrize("call", ["cuMemcpy2D", "cuMemcpy2DUnaligned"])
def test_a_rectangle(cuda, context, call):
    host = np.arange(60, dtype=np.uint8).reshape(6, 10)
    pointer, pitch = cuda.cuMemAllocPitch(16, 4, 4)
    cuda.cuMemsetD2D8(pointer, pitch, 7, 16, 4)
    copy = cuda.CUDA_MEMCPY2D()
    copy.srcMemoryType, copy.srcHost, copy.srcPitch = cuda.CUmemorytype(1), host, 10
    copy.dstMemoryType, copy.dstDevice, copy.dstPitch = cuda.CUmemorytype(2), pointer, pitch
    copy.srcXInBytes, copy.srcY, copy.dstXInBytes, copy.dstY = 2, 1, 5, 1
    copy.WidthInBytes, copy.Height = 4, 3
    getattr(cuda, call)(copy)
    rows = [read(cuda, at(cuda, pointer, row * pitch), 16, np.uint8) for row in range(4)]
    expected = np.full((4, 16), 7, dtype=np.uint8)
    expected[1:4, 5:9] = host[1:4, 2:6]
    assert rows == expected.tolist()
    cuda.cuMemFree(pointer)


@pytest.mark.parametrize("pitch", [8, 30])
def test_rows_closer_than_their_width(cuda, context, pitch):
    pointer = cuda.cuMemAlloc(256)
    assert cuda.result("cuMemsetD2D32", pointer, pitch, 0, 4, 2) == "INVALID_VALUE"


def test_memory_of_a_pool_in_a_stream_without_a_current_context(cuda, context):
    """CUDA C++ (libcu++) initializes its pools so."""
    properties = cuda.CUmemPoolProps()
    properties.allocType = cuda.CUmemAllocationType.CU_MEM_ALLOCATION_TYPE_PINNED
    properties.location.type = cuda.CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE
    stream = cuda.cuStreamCreate(0)
    cuda.cuCtxPopCurrent()
    pool = cuda.cuMemPoolCreate(properties)
    address = cuda.cuMemAllocFromPoolAsync(64, pool, stream)
    kind = cuda.CUmemAllocationHandleType.CU_MEM_HANDLE_TYPE_NONE
    assert cuda.result("cuMemPoolExportToShareableHandle", pool, kind, 0) == "INVALID_VALUE"
    cuda.cuMemFreeAsync(address, stream)
    cuda.cuStreamSynchronize(stream)
    cuda.cuMemPoolDestroy(pool)
    cuda.cuCtxPushCurrent(context)


def test_a_pool(cuda, context):
    properties = cuda.CUmemPoolProps()
    properties.allocType = cuda.CUmemAllocationType.CU_MEM_ALLOCATION_TYPE_PINNED
    properties.location.type = cuda.CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE
    pool = cuda.cuMemPoolCreate(properties)
    used = cuda.CUmemPool_attribute.CU_MEMPOOL_ATTR_USED_MEM_CURRENT
    pointer = cuda.cuMemAllocFromPoolAsync(1 << 20, pool, 0)
    assert int(cuda.cuMemPoolGetAttribute(pool, used)) == 1 << 20
    assert int(cuda.cuMemAllocFromPoolAsync(0, pool, 0)) == 0
    location = properties.location
    assert int(cuda.cuMemPoolGetAccess(pool, location)) == 3  # to read and to write
    access = cuda.CUmemAccessDesc()
    access.location, access.flags = location, cuda.CUmemAccess_flags(3)
    cuda.cuMemPoolSetAccess(pool, [access], 1)
    cuda.cuMemFreeAsync(pointer, 0)
    cuda.cuCtxSynchronize()
    assert int(cuda.cuMemPoolGetAttribute(pool, used)) == 0
    assert cuda.result("cuMemPoolSetAttribute", pool, used, cuda.cuuint64_t(0)) == "INVALID_VALUE"
    cuda.cuMemPoolDestroy(pool)
    assert cuda.result("cuMemPoolCreate", cuda.CUmemPoolProps()) == "INVALID_VALUE"
    default = cuda.cuDeviceGetDefaultMemPool(0)
    assert cuda.result("cuMemPoolDestroy", default) == "INVALID_VALUE"


def test_a_number_with_a_fraction(cuda, context):
    pointer = cuda.cuMemAlloc(1000.7)
    assert cuda.cuMemGetAddressRange(pointer)[1] == 1000
    cuda.cuMemFree(pointer)
