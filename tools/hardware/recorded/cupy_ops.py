"""Kernels of CuPy. Usage: cupy_ops.py kernels | texture | graph."""

from __future__ import annotations

import sys

import cupy
import numpy as np
from cupy.cuda import runtime, texture

RAW = r"""
extern "C" __global__ void shift(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = 2 * x[(i + 1) % n];
}
"""
FETCH = r"""
extern "C" __global__ void fetch(cudaTextureObject_t image, cudaSurfaceObject_t out, float* y) {
    int x = threadIdx.x, row = blockIdx.x;
    float found = tex2D<float>(image, x + 0.75f, row + 0.25f);
    surf2Dwrite(found + 1, out, x * 4, row);
    y[row * blockDim.x + x] = found;
}
"""
ROWS, COLUMNS = 16, 64


def kernels() -> None:
    """An ElementwiseKernel and a RawKernel."""
    x = cupy.arange(5000, dtype=cupy.float32)
    square = cupy.ElementwiseKernel("float32 x", "float32 y", "y = x * x + 1", "square")
    assert float(square(x)[3]) == 10
    y = cupy.zeros_like(x)
    cupy.RawKernel(RAW, "shift")((20,), (256,), (x, y, np.int32(x.size)))
    assert float(y[3]) == 8


def objects() -> None:
    """A texture object over an array, and a surface object."""
    channel = texture.ChannelFormatDescriptor(32, 0, 0, 0, runtime.cudaChannelFormatKindFloat)
    source = texture.CUDAarray(channel, COLUMNS, ROWS)
    flag = runtime.cudaArraySurfaceLoadStore
    target = texture.CUDAarray(channel, COLUMNS, ROWS, 0, flag)
    values = np.arange(ROWS * COLUMNS, dtype=np.float32).reshape(ROWS, COLUMNS)
    source.copy_from(values)
    target.copy_from(np.zeros_like(values))
    description = texture.TextureDescriptor(
        (runtime.cudaAddressModeClamp,) * 2, runtime.cudaFilterModeLinear
    )
    resource = texture.ResourceDescriptor(runtime.cudaResourceTypeArray, cuArr=source)
    image = texture.TextureObject(resource, description)
    out = texture.SurfaceObject(
        texture.ResourceDescriptor(runtime.cudaResourceTypeArray, cuArr=target)
    )
    print("handles", image.ptr, out.ptr)
    y = cupy.zeros((ROWS, COLUMNS), cupy.float32)
    cupy.RawKernel(FETCH, "fetch")((ROWS,), (COLUMNS,), (image, out, y))
    back = np.empty_like(values)
    target.copy_to(back)
    np.testing.assert_array_equal(back, y.get() + 1)


def graph() -> None:
    """A graph that a stream captures."""
    x = cupy.arange(5000, dtype=cupy.float32)
    y = cupy.zeros_like(x)
    kernel = cupy.RawKernel(RAW, "shift")
    kernel((20,), (256,), (x, y, np.int32(x.size)))
    stream = cupy.cuda.Stream(non_blocking=True)
    with stream:
        stream.begin_capture()
        kernel((20,), (256,), (x, y, np.int32(x.size)))
        kernel((20,), (256,), (y, x, np.int32(x.size)))
        captured = stream.end_capture()
    for _ in range(3):
        captured.launch(stream)
    stream.synchronize()


{"kernels": kernels, "texture": objects, "graph": graph}[sys.argv[1]]()
print("done")
