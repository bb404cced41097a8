"""A matrix in pitched memory: rectangles filled, copied and transposed, a callback at the end."""

import ctypes
import pathlib
import sys

import numpy as np
from cuda.bindings import driver as cuda

SAMPLE = pathlib.Path(__file__).resolve().parents[3] / "samples" / "transpose.ptx"


def check(answer):
    """The value or values of a call, which must have succeeded."""
    result, *values = answer
    if int(result):
        sys.exit(f"{result!r}")
    return values[0] if len(values) == 1 else values


def rectangle(width, height, *, source, source_pitch, target, target_pitch):
    """A copy of rows; each side is a host array or a device pointer."""
    copy = cuda.CUDA_MEMCPY2D()
    for side, place, pitch in (("src", source, source_pitch), ("dst", target, target_pitch)):
        on_host = isinstance(place, np.ndarray)
        kind = cuda.CUmemorytype.CU_MEMORYTYPE_HOST if on_host else cuda.CUmemorytype(2)
        setattr(copy, f"{side}MemoryType", kind)
        setattr(copy, f"{side}Host" if on_host else f"{side}Device", place)
        setattr(copy, f"{side}Pitch", pitch)
    copy.WidthInBytes, copy.Height = width, height
    return copy


check(cuda.cuInit(0))
device = check(cuda.cuDeviceGet(0))
check(cuda.cuCtxSetCurrent(check(cuda.cuDevicePrimaryCtxRetain(device))))
stream = check(cuda.cuStreamCreate(0))

rows, columns = 20, 30
host = np.arange(rows * columns, dtype=np.float32).reshape(rows, columns)
pitched, pitch = check(cuda.cuMemAllocPitch(columns * 4, rows, 4))
check(cuda.cuMemsetD2D32Async(pitched, pitch, 0xBF800000, columns, rows, stream))
copy = rectangle(40, 10, source=host, source_pitch=columns * 4, target=pitched, target_pitch=pitch)
copy.srcXInBytes, copy.srcY = 80, 10  # its lower right corner, to the upper left of the other
check(cuda.cuMemcpy2DAsync(copy, stream))

packed = check(cuda.cuMemAllocAsync(rows * columns * 4, stream))
transposed = check(cuda.cuMemAllocAsync(rows * columns * 4, stream))
check(
    cuda.cuMemcpy2DAsync(
        rectangle(
            columns * 4,
            rows,
            source=pitched,
            source_pitch=pitch,
            target=packed,
            target_pitch=columns * 4,
        ),
        stream,
    )
)

library = check(cuda.cuLibraryLoadFromFile(bytes(SAMPLE), [], [], 0, [], [], 0))
kernel = check(cuda.cuLibraryGetKernel(library, b"transpose_tiled"))
config = cuda.CUlaunchConfig()
config.gridDimX, config.gridDimY, config.gridDimZ = 1, 1, 1
config.blockDimX, config.blockDimY, config.blockDimZ = 32, 8, 1
config.hStream = stream

parameters = [check(cuda.cuKernelGetParamInfo(kernel, index)) for index in range(4)]
print("parameters (offset, size):", [tuple(map(int, one)) for one in parameters])
pointers = np.array([int(packed), int(transposed)], dtype=np.uint64)
sizes = np.array([rows, columns], dtype=np.int32)
places = [pointers.ctypes.data, pointers.ctypes.data + 8, sizes.ctypes.data, sizes.ctypes.data + 4]
check(cuda.cuLaunchKernelEx(config, kernel, np.array(places, dtype=np.uint64).ctypes.data, 0))

result = np.empty((columns, rows), dtype=np.float32)
check(cuda.cuMemcpyDtoHAsync(result, transposed, result.nbytes, stream))


@ctypes.CFUNCTYPE(None, ctypes.c_void_p)
def when_done(data):
    """What the stream calls once the copy before it is done."""
    print("called with", data)


check(cuda.cuLaunchHostFunc(stream, ctypes.cast(when_done, ctypes.c_void_p).value, 7))
check(cuda.cuStreamSynchronize(stream))

expected = np.full((rows, columns), -1, dtype=np.float32)
expected[:10, :10] = host[10:, 20:]
print("equal to numpy's:", np.array_equal(result, expected.T))
for pointer in (packed, transposed):
    check(cuda.cuMemFreeAsync(pointer, stream))
check(cuda.cuStreamSynchronize(stream))
pool = check(cuda.cuDeviceGetMemPool(device))
used = check(cuda.cuMemPoolGetAttribute(pool, cuda.CUmemPool_attribute(7)))
print("bytes of the pool in use:", int(used))
check(cuda.cuMemFree(pitched))
check(cuda.cuLibraryUnload(library))
check(cuda.cuDevicePrimaryCtxRelease(device))
