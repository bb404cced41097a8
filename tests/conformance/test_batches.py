"""Driver API, sections 6.13 and 6.17: several copies or prefetches by one call, and peers."""

import ctypes

import numpy as np
import pytest

STREAM, DURING_CALL = 1, 2


@pytest.fixture
def stream(cuda, context):
    if cuda.module.CUDA_VERSION < 13000:
        pytest.skip("the calls of CUDA 12 have other parameters")
    return cuda.cuStreamCreate(1)


@pytest.fixture
def filled(cuda, context):
    """Device memory of 64 bytes: 0, 1, 2 and so on."""
    memory = cuda.cuMemAlloc(64)
    cuda.cuMemcpyHtoD(memory, np.arange(64, dtype=np.uint8), 64)
    return memory


def at(cuda, memory, offset=0):
    return cuda.CUdeviceptr(int(memory) + offset)


def contents(cuda, memory, size=64) -> list[int]:
    data = np.empty(size, np.uint8)
    cuda.cuMemcpyDtoH(data, memory, size)
    return data.tolist()


def attributes(cuda, order):
    made = cuda.CUmemcpyAttributes()
    made.srcAccessOrder = cuda.CUmemcpySrcAccessOrder(order)
    return made


def batch(cuda, stream, filled, target, firsts, orders, count=2):
    pairs = ([at(cuda, target), at(cuda, target, 8)], [at(cuda, filled, 32), at(cuda, filled, 1)])
    attrs = [attributes(cuda, each) for each in orders]
    return (*pairs, [4, 2], count, attrs, firsts, len(firsts), stream)


def test_several_copies(cuda, stream, filled):
    target = cuda.cuMemAlloc(64)
    cuda.cuMemsetD8(target, 99, 64)
    given = batch(cuda, stream, filled, target, [0, 1], [STREAM, DURING_CALL])
    cuda.cuMemcpyBatchAsync(*given)
    cuda.cuStreamSynchronize(stream)
    assert contents(cuda, target, 11) == [32, 33, 34, 35, 99, 99, 99, 99, 1, 2, 99]


@pytest.mark.parametrize("firsts", [[1], [0, 0], [0, 2], []])
def test_indices_of_attributes(cuda, stream, filled, firsts):
    orders = [STREAM] * len(firsts)
    given = batch(cuda, stream, filled, cuda.cuMemAlloc(64), firsts, orders)
    assert cuda.result("cuMemcpyBatchAsync", *given) == "INVALID_VALUE"


def test_nothing_is_copied_by_a_call_that_is_refused(cuda, stream, filled):
    target = cuda.cuMemAlloc(64)
    cuda.cuMemsetD8(target, 99, 64)
    given = batch(cuda, stream, filled, target, [0, 1], [STREAM, 0])
    assert cuda.result("cuMemcpyBatchAsync", *given) == "INVALID_VALUE"
    without_attributes = (*given[:4], [], [], 0, stream)
    assert cuda.result("cuMemcpyBatchAsync", *without_attributes) == "INVALID_VALUE"
    cuda.cuMemcpyBatchAsync(*batch(cuda, stream, filled, target, [0], [STREAM], count=1))
    cuda.cuStreamSynchronize(stream)
    assert contents(cuda, target, 11) == [32, 33, 34, 35, *[99] * 7]


def test_in_the_per_thread_stream_while_another_one_captures(cuda, stream, filled):
    blocking, target = cuda.cuStreamCreate(0), cuda.cuMemAlloc(64)
    given = batch(cuda, cuda.CUstream(2), filled, target, [0], [STREAM])
    cuda.cuStreamBeginCapture(blocking, cuda.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_RELAXED)
    cuda.cuMemcpyBatchAsync(*given)
    cuda.cuGraphDestroy(cuda.cuStreamEndCapture(blocking))
    assert contents(cuda, target, 4) == [32, 33, 34, 35]


def test_not_in_the_legacy_stream(cuda, stream, filled):
    given = batch(cuda, cuda.CUstream(0), filled, cuda.cuMemAlloc(64), [0], [STREAM])
    assert cuda.result("cuMemcpyBatchAsync", *given) == "INVALID_VALUE"


def test_several_boxes(cuda, stream, filled):
    target = cuda.cuMemAlloc(64)
    cuda.cuMemsetD8(target, 99, 64)
    operation = cuda.CUDA_MEMCPY3D_BATCH_OP()
    for side, memory, row in ((operation.src, filled, 8), (operation.dst, target, 4)):
        side.type = cuda.CUmemcpy3DOperandType.CU_MEMCPY_OPERAND_TYPE_POINTER
        side.op.ptr.ptr, side.op.ptr.rowLength, side.op.ptr.layerHeight = memory, row, 2
    extent = operation.extent
    extent.width, extent.height, extent.depth = 3, 2, 1
    operation.srcAccessOrder = cuda.CUmemcpySrcAccessOrder(STREAM)
    cuda.cuMemcpy3DBatchAsync(1, [operation], 0, stream)
    cuda.cuStreamSynchronize(stream)
    assert contents(cuda, target, 8) == [0, 1, 2, 99, 8, 9, 10, 99]


def test_a_box_between_contexts(cuda, context, filled):
    target = cuda.cuMemAlloc(64)
    copy, kinds = cuda.CUDA_MEMCPY3D_PEER(), cuda.CUmemorytype
    copy.srcMemoryType = copy.dstMemoryType = kinds.CU_MEMORYTYPE_DEVICE
    copy.srcDevice, copy.dstDevice = filled, target
    copy.srcContext = copy.dstContext = context
    copy.srcPitch, copy.dstPitch = 8, 4
    copy.WidthInBytes, copy.Height, copy.Depth = 4, 2, 1
    cuda.cuMemcpy3DPeer(copy)
    assert contents(cuda, target, 8) == [0, 1, 2, 3, 8, 9, 10, 11]
    copy.srcXInBytes = 1
    cuda.cuMemcpy3DPeerAsync(copy, cuda.CUstream(0))
    assert contents(cuda, target, 8) == [1, 2, 3, 4, 9, 10, 11, 12]


@pytest.mark.parametrize("name", ["Prefetch", "DiscardAndPrefetch"])
def test_several_prefetches(cuda, stream, name):
    memory = [cuda.cuMemAllocManaged(1 << 21, 1) for _ in range(2)]
    places = []
    for kind in ("DEVICE", "HOST"):
        places.append(cuda.CUmemLocation())
        places[-1].type = getattr(cuda.CUmemLocationType, f"CU_MEM_LOCATION_TYPE_{kind}")
    sizes = [1 << 21] * 2
    call = getattr(cuda, f"cuMem{name}BatchAsync")
    call(memory, sizes, 2, places, [0, 1], 2, 0, stream)
    cuda.cuStreamSynchronize(stream)
    attribute = cuda.CUmem_range_attribute.CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION
    ask = cuda.cuMemRangeGetAttribute
    assert [ask(4, attribute, each, 1 << 21) for each in memory] == [0, -1]
    ctypes.memset(int(memory[1]), 5, 64)
    cuda.cuMemDiscardBatchAsync(memory, sizes, 2, 0, stream)
    assert cuda.result("cuMemDiscardBatchAsync", memory, sizes, 2, 1, stream) == "INVALID_VALUE"
