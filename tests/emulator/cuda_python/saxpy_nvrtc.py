"""saxpy compiled by NVRTC, copied and launched in a stream and timed with events."""

import ctypes
import re
import sys

import numpy as np
from cuda.bindings import driver as cuda
from cuda.bindings import nvrtc

SOURCE = b"""
extern "C" __global__ void saxpy(float a, const float *x, float *y, size_t n)
{
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = a * x[i] + y[i];
}
"""


def check(answer):
    """The value or values of a call, which must have succeeded."""
    result, *values = answer
    if int(result):
        sys.exit(f"{result!r}")
    return values[0] if len(values) == 1 else values


def compile_to_ptx(source, major, minor):
    program = check(nvrtc.nvrtcCreateProgram(source, b"saxpy.cu", 0, [], []))
    options = [f"--gpu-architecture=compute_{major}{minor}".encode(), b"--fmad=false"]
    check(nvrtc.nvrtcCompileProgram(program, len(options), options))
    ptx = b" " * check(nvrtc.nvrtcGetPTXSize(program))
    check(nvrtc.nvrtcGetPTX(program, ptx))
    check(nvrtc.nvrtcDestroyProgram(program))
    return re.sub(rb"\.version \S+", b".version 8.5", ptx)  # NVRTC may be newer than the driver


check(cuda.cuInit(0))
device = check(cuda.cuDeviceGet(0))
context = check(cuda.cuCtxCreate(None, 0, device))
capability = [
    check(cuda.cuDeviceGetAttribute(attribute, device))
    for attribute in (
        cuda.CUdevice_attribute.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR,
        cuda.CUdevice_attribute.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR,
    )
]
ptx = compile_to_ptx(SOURCE, *capability)
module = check(cuda.cuModuleLoadData(ptx))
kernel = check(cuda.cuModuleGetFunction(module, b"saxpy"))

n = 50_000
a = np.float32(2.5)
host_x = np.arange(n, dtype=np.float32)
host_y = np.full(n, 0.5, dtype=np.float32)
device_x = check(cuda.cuMemAlloc(host_x.nbytes))
device_y = check(cuda.cuMemAlloc(host_y.nbytes))
stream = check(cuda.cuStreamCreate(cuda.CUstream_flags.CU_STREAM_NON_BLOCKING))
start, end = (check(cuda.cuEventCreate(0)) for _ in range(2))

check(cuda.cuMemcpyHtoDAsync(device_x, host_x, host_x.nbytes, stream))
check(cuda.cuMemcpyHtoDAsync(device_y, host_y.ctypes.data, host_y.nbytes, stream))
check(cuda.cuEventRecord(start, stream))
arguments = (a, device_x, device_y, n), (ctypes.c_float, None, None, ctypes.c_size_t)
blocks = (n + 255) / 256  # the bindings take a float
check(cuda.cuLaunchKernel(kernel, blocks, 1, 1, 256, 1, 1, 0, stream, arguments, 0))
check(cuda.cuEventRecord(end, stream))
result = np.empty_like(host_y)
check(cuda.cuMemcpyDtoHAsync(result, device_y, result.nbytes, stream))
check(cuda.cuStreamSynchronize(stream))

print("y[:4] =", result[:4])
print("equal to numpy's:", np.array_equal(result, a * host_x + host_y))
print("the kernel took time:", check(cuda.cuEventElapsedTime(start, end)) > 0)

for event in (start, end):
    check(cuda.cuEventDestroy(event))
check(cuda.cuStreamDestroy(stream))
check(cuda.cuMemFree(device_x))
check(cuda.cuMemFree(device_y))
check(cuda.cuModuleUnload(module))
check(cuda.cuCtxDestroy(context))
