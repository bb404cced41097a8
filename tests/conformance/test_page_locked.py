"""Driver API, section 6.13: what goes through page-locked memory, block by block."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest

BLOCK = 1 << 16


def seen(address, size):
    """Page-locked memory as an array."""
    return np.frombuffer(memoryview((ctypes.c_uint8 * size).from_address(address)), np.uint8)


@pytest.fixture
def ring(cuda, context):
    """Two blocks of page-locked memory, each with its event."""
    start = int(cuda.cuMemHostAlloc(2 * BLOCK, 0))
    events = [cuda.cuEventCreate(2) for _ in range(2)]  # CU_EVENT_DISABLE_TIMING
    yield [(start + i * BLOCK, seen(start + i * BLOCK, BLOCK), events[i]) for i in range(2)]
    for event in events:
        cuda.cuEventDestroy(event)
    cuda.cuMemFreeHost(start)


def test_blocks_are_used_again_once_their_event_has_come(cuda, ring):
    blocks = 9
    data = np.random.default_rng(1).integers(0, 256, blocks * BLOCK, np.uint8)
    device = int(cuda.cuMemAlloc(data.size))
    for number in range(blocks):
        address, block, event = ring[number % 2]
        cuda.cuEventSynchronize(event)  # the first time it was never recorded
        block[:] = data[number * BLOCK : (number + 1) * BLOCK]
        cuda.cuMemcpyHtoDAsync(device + number * BLOCK, address, BLOCK, 0)
        cuda.cuEventRecord(event, 0)
    back = np.zeros_like(data)
    for number in range(blocks):
        address, block, event = ring[number % 2]
        cuda.cuEventSynchronize(event)
        cuda.cuMemcpyDtoHAsync(address, device + number * BLOCK, BLOCK, 0)
        cuda.cuEventRecord(event, 0)
        cuda.cuEventSynchronize(event)
        back[number * BLOCK : (number + 1) * BLOCK] = block
    assert (back == data).all()
    cuda.cuMemFree(device)


@pytest.mark.parametrize("item", [1, 2, 3, 8, 24])
def test_what_repeats_is_doubled_within_the_device(cuda, context, item):
    size = 1000 * item
    pattern = np.arange(item, dtype=np.uint8) + 1
    device = int(cuda.cuMemAlloc(size))
    cuda.cuMemcpyHtoD(device, pattern.ctypes.data, item)
    done = item
    while done < size:
        part = min(done, size - done)
        cuda.cuMemcpyDtoDAsync(device + done, device, part, 0)
        done += part
    back = np.empty(size, np.uint8)
    cuda.cuMemcpyDtoH(back.ctypes.data, device, size)
    assert (back == np.tile(pattern, 1000)).all()
    cuda.cuMemFree(device)


def test_copies_are_in_order_with_a_kernel_in_a_stream_with_a_priority(cuda, ring, ptx):
    """The stream of ``--priority`` waits for the default stream, as it is no non-blocking one."""
    address, block, _ = ring[0]
    block[:] = 7
    fill = cuda.cuModuleGetFunction(cuda.cuModuleLoadData(ptx("kernels")), b"fill")
    device = int(cuda.cuMemAlloc(BLOCK))
    cuda.cuMemcpyHtoDAsync(device, address, BLOCK, 0)
    stream = cuda.cuStreamCreateWithPriority(0, -1)
    values, types = (device, 5, 1), (ctypes.c_void_p, ctypes.c_uint32, ctypes.c_uint32)
    cuda.launch(fill, values, types, stream=stream)
    cuda.cuMemcpyDtoHAsync(address, device, BLOCK, 0)
    cuda.cuCtxSynchronize()
    assert block[:4].view(np.uint32)[0] == 5
    assert (block[4:] == 7).all()
    cuda.cuStreamDestroy(stream)
    cuda.cuMemFree(device)


def test_more_page_locked_memory_than_there_is(cuda, context):
    assert cuda.result("cuMemHostAlloc", 1 << 50, 0) == "OUT_OF_MEMORY"
    assert int(cuda.cuMemHostAlloc(0, 0) or 0) == 0
    assert cuda.result("cuMemHostAlloc", 4096, 1 << 10) == "INVALID_VALUE"
