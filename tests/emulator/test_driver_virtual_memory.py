"""Virtual memory management where the emulated driver differs from a GPU's, or refuses."""

import ctypes

import pytest

from cudarun.emulator import driver as cuda
from tests.conformance.mappings import MIB2, access, properties

STORE = b"""
.version 8.0
.target sm_90
.address_size 64
.visible .entry store(.param .u64 to)
{
    .reg .b64 %to;
    ld.param.u64 %to, [to];
    st.global.u32 [%to], 1;
    ret;
}
\0"""


def check(answer):
    result, *values = answer
    assert int(result) == 0, result
    return values[0] if values else None


@pytest.fixture
def mapped(fresh_process, monkeypatch):
    """Mapped memory of device 0, in a context of device 1 of two."""
    monkeypatch.setenv("CUDARUN_CPU_DEVICES", "2")
    check(cuda.cuInit(0))
    check(cuda.cuCtxSetCurrent(check(cuda.cuDevicePrimaryCtxRetain(1))))
    address = int(check(cuda.cuMemAddressReserve(2 * MIB2, 0, 0, 0)))
    handle = check(cuda.cuMemCreate(MIB2, properties(cuda), 0))
    check(cuda.cuMemMap(address, MIB2, 0, handle, 0))
    check(cuda.cuMemRelease(handle))
    return address


@pytest.mark.parametrize(("devices", "result"), [((), 700), ((0,), 700), ((0, 1), 0)])
def test_a_kernel_reaches_memory_that_its_device_can_access(mapped, devices, result):
    for device in devices:
        check(cuda.cuMemSetAccess(mapped, MIB2, access(cuda, device), 1))
    kernel = check(cuda.cuModuleGetFunction(check(cuda.cuModuleLoadData(STORE)), b"store"))
    arguments = (mapped + MIB2 - 4,), (ctypes.c_void_p,)
    check(cuda.cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, 0, arguments, 0))
    assert int(cuda.cuCtxSynchronize()[0]) == result


def test_a_kernel_faults_past_the_last_mapping(mapped):
    check(cuda.cuMemSetAccess(mapped, MIB2, access(cuda, 1), 1))
    kernel = check(cuda.cuModuleGetFunction(check(cuda.cuModuleLoadData(STORE)), b"store"))
    arguments = (mapped + MIB2,), (ctypes.c_void_p,)
    check(cuda.cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, 0, arguments, 0))
    assert int(cuda.cuCtxSynchronize()[0]) == 700


def test_what_is_refused_by_name(mapped):
    unsupported = cuda.CUresult.CUDA_ERROR_NOT_SUPPORTED
    readable = access(cuda)
    readable[0].flags = cuda.CUmemAccess_flags.CU_MEM_ACCESS_FLAGS_PROT_READ
    assert cuda.cuMemSetAccess(mapped, MIB2, readable, 1) == (unsupported,)
    shared = properties(cuda)
    kinds = cuda.CUmemAllocationHandleType
    shared.requestedHandleTypes = kinds.CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR
    assert cuda.cuMemCreate(MIB2, shared, 0) == (unsupported, None)
    of_host = properties(cuda)
    of_host.location.type = cuda.CUmemLocationType.CU_MEM_LOCATION_TYPE_HOST
    assert cuda.cuMemCreate(MIB2, of_host, 0) == (unsupported, None)


def test_reserved_addresses_follow_a_hint_that_no_memory_has(mapped):
    hint = 0x5000_0000_0000
    assert int(check(cuda.cuMemAddressReserve(MIB2, 0, hint, 0))) == hint
    other = int(check(cuda.cuMemAddressReserve(MIB2, 0, hint, 0)))
    assert other not in (0, hint)
    of_device = int(check(cuda.cuMemAlloc(16))) // MIB2 * MIB2
    assert int(check(cuda.cuMemAddressReserve(MIB2, 0, of_device, 0))) not in (0, of_device)
    for address in (hint, other):
        check(cuda.cuMemAddressFree(address, MIB2))
