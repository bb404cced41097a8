"""Driver API, section 6.14: virtual memory management."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest

from tests.conformance.mappings import MIB2, access, properties


@pytest.fixture
def reserved(cuda, context):
    """Four granules of addresses; what is left mapped is unmapped afterwards."""
    address = int(cuda.cuMemAddressReserve(4 * MIB2, 0, 0, 0))
    yield address
    for index in range(4):
        cuda.result("cuMemUnmap", address + index * MIB2, MIB2)
    cuda.cuMemAddressFree(address, 4 * MIB2)


def map_at(cuda, address, device=0):
    handle = cuda.cuMemCreate(MIB2, properties(cuda, device), 0)
    cuda.cuMemMap(address, MIB2, 0, handle, 0)
    cuda.cuMemRelease(handle)


def test_granularity(cuda, context):
    flags = cuda.CUmemAllocationGranularity_flags
    given = properties(cuda)
    minimum = flags.CU_MEM_ALLOC_GRANULARITY_MINIMUM
    recommended = flags.CU_MEM_ALLOC_GRANULARITY_RECOMMENDED
    assert cuda.cuMemGetAllocationGranularity(given, minimum) == MIB2
    assert cuda.cuMemGetAllocationGranularity(given, recommended) == MIB2
    given.location.id = 1000  # no such device
    assert cuda.cuMemGetAllocationGranularity(given, minimum) == MIB2
    assert cuda.result("cuMemGetAllocationGranularity", None, minimum) == "INVALID_VALUE"
    attribute = cuda.CUdevice_attribute
    supported = attribute.CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED
    assert cuda.cuDeviceGetAttribute(supported, 0) == 1


@pytest.mark.parametrize("alignment", [0, MIB2, 16 * MIB2])
def test_reserved_addresses_are_aligned(cuda, context, alignment):
    address = int(cuda.cuMemAddressReserve(MIB2, alignment, 0, 0))
    assert address % max(alignment, MIB2) == 0
    cuda.cuMemAddressFree(address, MIB2)


@pytest.mark.parametrize(
    ("call", "arguments"),
    [
        ("cuMemAddressReserve", (0, 0, 0, 0)),
        ("cuMemAddressReserve", (MIB2 + 4096, 0, 0, 0)),
        ("cuMemAddressReserve", (MIB2, 3, 0, 0)),
        ("cuMemAddressReserve", (MIB2, 0, 0, 8)),
        ("cuMemAddressFree", (MIB2, MIB2)),
        ("cuMemUnmap", (MIB2, MIB2)),
        ("cuMemRelease", (0,)),
    ],
)
def test_unusable_values(cuda, context, call, arguments):
    assert cuda.result(call, *arguments) == "INVALID_VALUE"


def test_unusable_allocations(cuda, context):
    assert cuda.result("cuMemCreate", MIB2 + 4096, properties(cuda), 0) == "INVALID_VALUE"
    assert cuda.result("cuMemCreate", 0, properties(cuda), 0) == "INVALID_VALUE"
    assert cuda.result("cuMemCreate", 1 << 50, properties(cuda), 0) == "OUT_OF_MEMORY"
    assert cuda.result("cuMemCreate", MIB2, properties(cuda, 1000), 0) == "INVALID_DEVICE"


def test_a_range_of_two_allocations(cuda, context, reserved, ptx):
    """Copies and kernels cross from one allocation to the next."""
    for index in range(2):
        map_at(cuda, reserved + index * MIB2)
    cuda.cuMemSetAccess(reserved, 2 * MIB2, access(cuda), 1)
    data = np.random.default_rng(1).integers(0, 1 << 32, 2 * MIB2 // 4, np.uint32)
    cuda.cuMemcpyHtoD(reserved, data, data.nbytes)
    first = reserved + MIB2 - 512
    cuda.cuMemsetD8(first, 7, 1024)
    back = np.empty_like(data)
    cuda.cuMemcpyDtoH(back, reserved, back.nbytes)
    expected = data.copy()
    expected.view(np.uint8)[MIB2 - 512 : MIB2 + 512] = 7
    assert (back == expected).all()
    module = cuda.cuModuleLoadData(ptx("kernels"))
    kernel = cuda.cuModuleGetFunction(module, b"fill")
    types = (ctypes.c_void_p, ctypes.c_uint32, ctypes.c_uint32)
    cuda.launch(kernel, (first, 9, 256), types, block=(256, 1, 1))
    cuda.cuMemcpyDtoH(back, reserved, back.nbytes)
    expected[(MIB2 - 512) // 4 : (MIB2 + 512) // 4] = 9
    assert (back == expected).all()
    cuda.cuModuleUnload(module)


def test_memory_at_two_addresses(cuda, context, reserved):
    """One allocation can be mapped twice, and lives until its last mapping ends."""
    handle = cuda.cuMemCreate(MIB2, properties(cuda), 0)
    for place in (reserved, reserved + 2 * MIB2):
        cuda.cuMemMap(place, MIB2, 0, handle, 0)
        cuda.cuMemSetAccess(place, MIB2, access(cuda), 1)
    cuda.cuMemRelease(handle)
    cuda.cuMemsetD32(reserved, 0x1234, MIB2 // 4)
    back = np.zeros(16, np.uint32)
    cuda.cuMemcpyDtoH(back, reserved + 3 * MIB2 - 64, 64)
    assert (back == 0x1234).all()
    cuda.cuMemUnmap(reserved, MIB2)
    cuda.cuMemcpyDtoH(back, reserved + 2 * MIB2, 64)
    assert (back == 0x1234).all()


def test_memory_is_free_after_the_last_reference(cuda, context, reserved):
    free = cuda.cuMemGetInfo()[0]
    handle = cuda.cuMemCreate(64 * MIB2, properties(cuda), 0)
    assert cuda.cuMemGetInfo()[0] <= free - 64 * MIB2
    cuda.cuMemRelease(handle)
    assert cuda.cuMemGetInfo()[0] > free - 64 * MIB2
    assert cuda.result("cuMemRelease", handle) == "INVALID_VALUE"


def test_handles_of_mapped_memory(cuda, context, reserved):
    handle = cuda.cuMemCreate(MIB2, properties(cuda), 0)
    cuda.cuMemMap(reserved, MIB2, 0, handle, 0)
    assert int(cuda.cuMemRetainAllocationHandle(reserved + 100)) == int(handle)
    for _ in range(2):
        cuda.cuMemRelease(handle)
    again = cuda.cuMemRetainAllocationHandle(reserved)
    found = cuda.cuMemGetAllocationPropertiesFromHandle(again)
    assert (int(found.type), int(found.location.type), found.location.id) == (1, 1, 0)
    cuda.cuMemRelease(again)


def test_access(cuda, context, reserved):
    whole = properties(cuda)  # its location is a part of it
    location = whole.location
    map_at(cuda, reserved)
    assert cuda.cuMemGetAccess(location, reserved) == 0
    cuda.cuMemSetAccess(reserved, MIB2, access(cuda), 1)
    assert cuda.cuMemGetAccess(location, reserved) == 3
    cuda.cuMemSetAccess(reserved, MIB2, access(cuda, permitted=False), 1)
    assert cuda.cuMemGetAccess(location, reserved) == 0
    assert cuda.result("cuMemSetAccess", reserved, 2 * MIB2, access(cuda), 1) == "INVALID_VALUE"


def test_misplaced_mappings(cuda, context, reserved):
    handle = cuda.cuMemCreate(2 * MIB2, properties(cuda), 0)
    assert cuda.result("cuMemMap", reserved + 4096, 2 * MIB2, 0, handle, 0) == "INVALID_VALUE"
    assert cuda.result("cuMemMap", reserved, MIB2, 0, handle, 0) == "NOT_SUPPORTED"
    cuda.cuMemMap(reserved, 2 * MIB2, 0, handle, 0)
    assert cuda.result("cuMemMap", reserved, 2 * MIB2, 0, handle, 0) == "INVALID_VALUE"
    assert cuda.result("cuMemUnmap", reserved, MIB2) == "INVALID_VALUE"
    assert cuda.result("cuMemAddressFree", reserved, 4 * MIB2) == "INVALID_VALUE"
    assert cuda.result("cuMemFree", reserved) == "INVALID_VALUE"
    cuda.cuMemUnmap(reserved, 2 * MIB2)
    cuda.cuMemRelease(handle)


def test_unmapping_what_is_not_mapped(cuda, context, reserved):
    """A range may contain any number of whole mappings, or none."""
    cuda.cuMemUnmap(reserved, 4 * MIB2)
    map_at(cuda, reserved + MIB2)
    cuda.cuMemUnmap(reserved, 4 * MIB2)
    cuda.cuMemUnmap(reserved, MIB2)


def test_access_of_whole_mappings(cuda, context, reserved):
    handle = cuda.cuMemCreate(2 * MIB2, properties(cuda), 0)
    cuda.cuMemMap(reserved, 2 * MIB2, 0, handle, 0)
    cuda.cuMemRelease(handle)
    for start, granules in ((0, 1), (1, 1)):
        place, size = reserved + start * MIB2, granules * MIB2
        assert cuda.result("cuMemSetAccess", place, size, access(cuda), 1) == "INVALID_VALUE"
    cuda.cuMemSetAccess(reserved, 2 * MIB2, access(cuda), 1)
    cuda.cuMemUnmap(reserved, 2 * MIB2)


def test_attributes_of_mapped_memory(cuda, context, reserved):
    """The range is the reservation's; the address range is the mapping's."""
    names = ("MEMORY_TYPE", "DEVICE_POINTER", "RANGE_START_ADDR", "RANGE_SIZE", "ACCESS_FLAGS")
    kinds = [getattr(cuda.CUpointer_attribute, f"CU_POINTER_ATTRIBUTE_{name}") for name in names]
    inside = reserved + MIB2 + 100
    assert cuda.result("cuPointerGetAttribute", kinds[0], inside) == "INVALID_VALUE"
    map_at(cuda, reserved + MIB2)
    assert cuda.result("cuPointerGetAttribute", kinds[1], inside) == "INVALID_VALUE"
    assert cuda.result("cuMemGetAddressRange", inside) == "NOT_FOUND"
    cuda.cuMemSetAccess(reserved + MIB2, MIB2, access(cuda), 1)
    found = [int(cuda.cuPointerGetAttribute(kind, inside)) for kind in kinds]
    assert found == [2, inside, reserved, 4 * MIB2, 3]
    assert list(map(int, cuda.cuMemGetAddressRange(inside))) == [reserved + MIB2, MIB2]


def test_memory_of_another_device(cuda, context, second_device, reserved):
    """A mapping gives access across devices without ``cuCtxEnablePeerAccess``."""
    if not cuda.cuDeviceCanAccessPeer(0, second_device):
        pytest.skip("no peer access")
    map_at(cuda, reserved)
    map_at(cuda, reserved + MIB2, second_device)
    cuda.cuMemSetAccess(reserved, 2 * MIB2, access(cuda), 1)
    cuda.cuMemsetD32(reserved, 5, 2 * MIB2 // 4)
    back = np.zeros(4, np.uint32)
    cuda.cuMemcpyDtoH(back, reserved + MIB2 - 8, 16)
    assert back.tolist() == [5, 5, 5, 5]
