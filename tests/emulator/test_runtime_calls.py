"""The runtime API over the emulated driver, in the form of ``cuda.bindings.runtime``."""

import inspect
import re

import numpy as np
import pytest
from cuda.bindings import runtime as bindings

from cudarun.emulator import driver as cuda
from cudarun.emulator import runtime as cudart
from cudarun.emulator.runtime_api.calls import RUNTIME_CALLS, thread
from tools import generate_runtime_calls

KIND = cudart.cudaMemcpyKind
OWN = sorted(name for name, call in RUNTIME_CALLS.items() if hasattr(call, "__wrapped__"))

KNOWN = [name for name in OWN if hasattr(bindings, name)]  # CUDA 12 lacks some
BATCHES = {"cudaMemcpyBatchAsync", "cudaMemcpy3DBatchAsync"}  # CUDA 12 has one more result

# Parameters that CUDA 12 and 13 name differently: these calls take both.
OF_TWO_VERSIONS = {
    *("cudaGraphAddDependencies", "cudaGraphAddNode", "cudaMemAdvise", "cudaMemPrefetchAsync"),
}


@pytest.fixture(autouse=True)
def fresh_thread(fresh_process, monkeypatch):
    """A thread that has not called the runtime, with two devices."""
    monkeypatch.setenv("CUDARUN_CPU_DEVICES", "2")
    thread.device = thread.error = 0


def check(answer):
    error, *values = answer
    assert error == cudart.cudaError_t.cudaSuccess, error
    return values[0] if len(values) == 1 else tuple(values)


def documented(name):
    return getattr(bindings, name).__doc__


@pytest.mark.parametrize("name", sorted(set(KNOWN) - OF_TWO_VERSIONS))
def test_parameters(name):
    signature = documented(name).split("\n")[0]
    inside = signature[signature.index("(") + 1 : signature.rindex(")")]
    parts = re.split(r",(?![^\[]*\])", inside) if inside else []
    names = [re.split(r"\s|\*", part.split(":")[0].split("=")[0].strip())[-1] for part in parts]
    assert list(inspect.signature(RUNTIME_CALLS[name]).parameters) == names


@pytest.mark.parametrize("name", sorted(set(KNOWN) - BATCHES))
def test_a_failure_has_as_many_values_as_documented(name, monkeypatch):
    section = documented(name).split("Returns\n")[1]
    section = re.split(r"\n\s*(?:See Also|Notes)\n", section)[0]
    values = len(re.findall(r"^\s*\w+ : ", section, re.MULTILINE))
    monkeypatch.setenv("CUDARUN_CPU_DEVICES", "none")  # cuInit fails
    parameters = inspect.signature(RUNTIME_CALLS[name]).parameters.values()
    arguments = [0 for each in parameters if each.kind is not each.VAR_POSITIONAL]
    error, *found = RUNTIME_CALLS[name](*arguments)
    assert int(error) != 0
    assert found == [None] * values
    assert cudart.cudaPeekAtLastError() == (error,)


def test_types_are_the_bindings_and_other_calls_are_refused():
    assert cudart.cudaError_t is bindings.cudaError_t
    assert cudart.make_cudaExtent is bindings.make_cudaExtent
    assert {"cudaMalloc", "cudaError_t", "cudaMemAttachGlobal"} <= set(dir(cudart))
    with pytest.raises(cuda.NotProvided, match="cudaIpcGetMemHandle: the emulated device does not"):
        _ = cudart.cudaIpcGetMemHandle
    with pytest.raises(AttributeError, match="has no cudaNothing"):
        _ = cudart.cudaNothing


def test_the_document_is_up_to_date():
    text = generate_runtime_calls.TARGET.read_text()
    assert text == generate_runtime_calls.document(), "python -m tools.generate_runtime_calls"


# --- devices and contexts ------------------------------------------------------------------------


def test_the_first_call_creates_the_primary_context_of_the_device():
    check(cudart.cudaGetDeviceCount())
    assert int(check(cuda.cuCtxGetCurrent())) == 0
    check(cudart.cudaFree(0))
    assert int(check(cuda.cuCtxGetDevice())) == 0
    check(cudart.cudaSetDevice(1))
    assert int(check(cuda.cuCtxGetDevice())) == check(cudart.cudaGetDevice()) == 1
    assert check(cuda.cuDevicePrimaryCtxGetState(1)) == (0, 1)


@pytest.mark.parametrize(
    "call",
    [
        lambda: cudart.cudaDeviceGetLimit(99),
        lambda: cudart.cudaDeviceSetLimit(99, 0),
        lambda: cudart.cudaStreamBeginCapture(check(cudart.cudaStreamCreate()), 99),
        lambda: cudart.cudaThreadExchangeStreamCaptureMode(99),
        lambda: cudart.cudaMemPoolGetAttribute(check(cudart.cudaDeviceGetMemPool(0)), 99),
    ],
)
def test_a_number_that_an_enumeration_does_not_have_is_refused(call):
    assert call()[0] == cudart.cudaError_t.cudaErrorInvalidValue


def test_a_context_of_the_driver_is_used():
    check(cuda.cuInit(0))
    context = check(cuda.cuDevicePrimaryCtxRetain(1))
    check(cuda.cuCtxPushCurrent(context))
    pointer = check(cudart.cudaMalloc(64))
    ordinal = cuda.CUpointer_attribute.CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL
    assert check(cuda.cuPointerGetAttribute(ordinal, pointer)) == check(cudart.cudaGetDevice()) == 1


def test_a_reset_device_is_created_again():
    pointer = check(cudart.cudaMalloc(64))
    check(cudart.cudaDeviceReset())
    assert check(cuda.cuDevicePrimaryCtxGetState(0)) == (0, 0)
    assert cudart.cudaFree(pointer)[0] == cudart.cudaError_t.cudaErrorInvalidValue
    assert check(cudart.cudaMalloc(64))
    check(cudart.cudaDeviceReset())
    assert check(cuda.cuDevicePrimaryCtxGetState(0)) == (0, 0)


def test_properties():
    properties = check(cudart.cudaGetDeviceProperties(1))
    assert properties.name.startswith(b"cudarun emulated device")
    assert (properties.major, properties.minor, properties.warpSize) == (9, 0, 32)
    assert list(properties.maxThreadsDim) == [1024, 1024, 64]
    assert bytes(properties.uuid.bytes) == bytes(check(cuda.cuDeviceGetUuid(1)).bytes)
    assert properties.totalGlobalMem == check(cuda.cuDeviceTotalMem(1))
    unknown = {field for field in dir(properties) if getattr(properties, field) is None}
    assert unknown == set()


def test_errors_are_remembered_until_they_are_asked_for():
    invalid = cudart.cudaError_t.cudaErrorInvalidDevice
    assert cudart.cudaSetDevice(7) == (invalid,)
    check(cudart.cudaGetDeviceCount())
    assert cudart.cudaPeekAtLastError() == (invalid,)
    assert cudart.cudaGetLastError() == (invalid,)
    assert cudart.cudaGetLastError() == (cudart.cudaError_t.cudaSuccess,)
    assert check(cudart.cudaGetErrorName(invalid)) == b"cudaErrorInvalidDevice"


# --- memory --------------------------------------------------------------------------------------


def test_copies_of_every_kind():
    data, back = np.arange(16, dtype=np.uint8), np.zeros(16, np.uint8)
    first, second = check(cudart.cudaMalloc(16)), check(cudart.cudaMallocAsync(16, 0))
    check(cudart.cudaMemcpy(first, data, 16, KIND.cudaMemcpyHostToDevice))
    check(cudart.cudaMemcpyAsync(second, first, 16, KIND.cudaMemcpyDeviceToDevice, 0))
    check(cudart.cudaMemset(first, 0x1FF, 4))
    check(cudart.cudaMemcpyPeer(second, 0, first, 0, 8))
    check(cudart.cudaMemcpy(back, second, 16, KIND.cudaMemcpyDefault))
    assert back.tolist() == [255] * 4 + list(range(4, 16))
    wrong = cudart.cudaMemcpy(back, data, 16, KIND.cudaMemcpyHostToDevice)
    assert wrong == (cudart.cudaError_t.cudaErrorInvalidValue,)
    wrong = cudart.cudaMemcpy(back, data, 16, 9)
    assert wrong == (cudart.cudaError_t.cudaErrorInvalidMemcpyDirection,)


def test_rows_and_boxes():
    rows = np.arange(12, dtype=np.uint8).reshape(3, 4)
    pointer, pitch = check(cudart.cudaMallocPitch(4, 3))
    check(cudart.cudaMemcpy2D(pointer, pitch, rows, 4, 4, 3, KIND.cudaMemcpyHostToDevice))
    check(cudart.cudaMemset2D(pointer + 1, pitch, 7, 2, 3))
    back = np.zeros_like(rows)
    check(cudart.cudaMemcpy2D(back, 4, pointer, pitch, 4, 3, KIND.cudaMemcpyDeviceToHost))
    assert back.tolist() == [[0, 7, 7, 3], [4, 7, 7, 7], [8, 7, 7, 11]]


def test_elements_of_arrays():
    kind = cudart.cudaChannelFormatKind.cudaChannelFormatKindSigned
    channels = check(cudart.cudaCreateChannelDesc(16, 16, 0, 0, kind))
    array = check(cudart.cudaMalloc3DArray(channels, cudart.make_cudaExtent(4, 2, 3), 0))
    data = np.arange(48, dtype=np.int16).reshape(3, 2, 4, 2)
    copy = cudart.cudaMemcpy3DParms()
    copy.srcPtr, copy.dstArray = cudart.make_cudaPitchedPtr(data, 16, 4, 2), array
    copy.extent, copy.kind = cudart.make_cudaExtent(4, 2, 3), KIND.cudaMemcpyHostToDevice
    check(cudart.cudaMemcpy3D(copy))
    back = np.zeros((2, 1, 2, 2), np.int16)
    copy = cudart.cudaMemcpy3DParms()
    copy.srcArray, copy.dstPtr = array, cudart.make_cudaPitchedPtr(back, 8, 2, 1)
    copy.srcPos = cudart.make_cudaPos(1, 1, 1)  # x in elements
    copy.extent, copy.kind = cudart.make_cudaExtent(2, 1, 2), KIND.cudaMemcpyDeviceToHost
    check(cudart.cudaMemcpy3D(copy))
    assert (back == data[1:, 1:, 1:3]).all()
    found = check(cudart.cudaGetChannelDesc(array))
    assert [found.x, found.y, found.z, found.w, found.f] == [16, 16, 0, 0, kind]
    copy.srcPtr = copy.dstPtr
    assert cudart.cudaMemcpy3D(copy) == (cudart.cudaError_t.cudaErrorInvalidValue,)
    uneven = check(cudart.cudaCreateChannelDesc(16, 8, 0, 0, kind))
    wrong = cudart.cudaMallocArray(uneven, 4, 1, 0)
    assert wrong == (cudart.cudaError_t.cudaErrorInvalidChannelDescriptor, None)


def test_pools_and_peers():
    pool = check(cudart.cudaDeviceGetDefaultMemPool(1))
    threshold = cudart.cudaMemPoolAttr.cudaMemPoolAttrReleaseThreshold
    check(cudart.cudaMemPoolSetAttribute(pool, threshold, cuda.cuuint64_t(4096)))
    assert int(check(cudart.cudaMemPoolGetAttribute(pool, threshold))) == 4096
    assert check(cudart.cudaDeviceCanAccessPeer(0, 1)) == 1
    check(cudart.cudaDeviceEnablePeerAccess(1, 0))
    again = cudart.cudaDeviceEnablePeerAccess(1, 0)
    assert again == (cudart.cudaError_t.cudaErrorPeerAccessAlreadyEnabled,)
    check(cudart.cudaDeviceDisablePeerAccess(1))


def test_a_pool_is_created_without_a_context():
    """The tests of CUDA C++ (libcu++) expect so on hardware."""
    check(cuda.cuInit(0))
    properties = cudart.cudaMemPoolProps()
    properties.allocType = cudart.cudaMemAllocationType.cudaMemAllocationTypePinned
    properties.location.type = cudart.cudaMemLocationType.cudaMemLocationTypeDevice
    pool = check(cudart.cudaMemPoolCreate(properties))
    check(cudart.cudaMemPoolGetAttribute(pool, cudart.cudaMemPoolAttr(4)))
    kind = cudart.cudaMemAllocationHandleType.cudaMemHandleTypeNone
    refused = cudart.cudaMemPoolExportToShareableHandle(pool, kind, 0)
    assert refused[0] == cudart.cudaError_t.cudaErrorInvalidValue
    assert int(check(cuda.cuCtxGetCurrent())) == 0


@pytest.mark.parametrize(
    ("call", "arguments", "kind", "on_host"),
    [
        ("cudaMalloc", (64,), "Device", False),
        ("cudaMallocManaged", (64, 1), "Managed", True),
        ("cudaMallocHost", (64,), "Host", True),
    ],
)
def test_attributes_of_an_address(call, arguments, kind, on_host):
    address = int(check(getattr(cudart, call)(*arguments))) + 8
    found = check(cudart.cudaPointerGetAttributes(address))
    assert found.type.name == f"cudaMemoryType{kind}"
    assert (found.device, found.devicePointer) == (0, address)
    assert found.hostPointer == (address if on_host else 0)


def test_attributes_of_memory_unknown_to_cuda():
    own = np.zeros(4)
    found = check(cudart.cudaPointerGetAttributes(own.ctypes.data))
    assert found.type.name == "cudaMemoryTypeUnregistered"
    assert (found.device, found.devicePointer, found.hostPointer) == (-2, 0, own.ctypes.data)


def test_an_array_of_the_driver_whose_channels_have_no_description():
    check(cudart.cudaSetDevice(0))
    descriptor = cuda.CUDA_ARRAY3D_DESCRIPTOR()
    descriptor.Format = cuda.CUarray_format.CU_AD_FORMAT_UNORM_INT8X4
    descriptor.NumChannels, descriptor.Width, descriptor.Height = 4, 2, 1
    array = cudart.cudaArray_t(int(check(cuda.cuArray3DCreate(descriptor))))
    error, _ = cudart.cudaGetChannelDesc(array)
    assert error == cudart.cudaError_t.cudaErrorInvalidChannelDescriptor
    data, copy = np.arange(8, dtype=np.uint8), cudart.cudaMemcpy3DParms()
    copy.srcPtr, copy.dstArray = cudart.make_cudaPitchedPtr(data, 8, 8, 1), array
    copy.extent, copy.kind = cudart.make_cudaExtent(2, 1, 1), KIND.cudaMemcpyHostToDevice
    check(cudart.cudaMemcpy3D(copy))
    back = np.zeros_like(data)
    check(cudart.cudaMemcpy2DFromArray(back, 8, array, 0, 0, 8, 1, KIND.cudaMemcpyDeviceToHost))
    assert back.tolist() == data.tolist()


def test_the_description_of_an_array():
    unsigned = cudart.cudaChannelFormatKind.cudaChannelFormatKindUnsigned
    channels = cudart.cudaCreateChannelDesc(8, 8, 0, 0, unsigned)[1]
    array = check(cudart.cudaMallocArray(channels, 5, 3, 2))  # cudaArraySurfaceLoadStore
    found, extent, flags = check(cudart.cudaArrayGetInfo(array))
    assert (found.x, found.y, found.z, int(found.f), flags) == (8, 8, 0, 1, 2)
    assert (extent.width, extent.height, extent.depth) == (5, 3, 0)


def test_attributes_of_streams():
    stream, other = (check(cudart.cudaStreamCreate()) for _ in range(2))
    policy, value = cudart.cudaSynchronizationPolicy, bindings.cudaStreamAttrValue()
    value.syncPolicy = policy.cudaSyncPolicyBlockingSync
    check(cudart.cudaStreamSetAttribute(stream, 3, value))
    check(cudart.cudaStreamCopyAttributes(other, stream))
    found = check(cudart.cudaStreamGetAttribute(other, 3))
    assert (type(found), found.syncPolicy) == (type(value), policy.cudaSyncPolicyBlockingSync)
