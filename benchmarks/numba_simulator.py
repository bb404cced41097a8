"""The kernels of `emulator.py` in Python, under the CUDA simulator of numba.

``NUMBA_ENABLE_CUDASIM=1 python benchmarks/numba_simulator.py KERNEL N SIDE`` with numba and
numba-cuda installed; no GPU is needed. Checks the answer and prints the seconds of one launch.
`emulator.py --numba PYTHON` runs it.
"""

from __future__ import annotations

import sys
import time

import numpy as np
from numba import cuda, float32, int32


@cuda.jit
def saxpy(a, x, y, n):  # type: ignore[no-untyped-def]
    """An element a thread."""
    i = cuda.grid(1)
    if i < n:
        y[i] = a * x[i] + y[i]


@cuda.jit
def matmul_naive(a, b, c, m, n, k):  # type: ignore[no-untyped-def]
    """An element of the product a thread."""
    column, row = cuda.grid(2)
    if row < m and column < n:
        total = float32(0)
        for i in range(k):
            total += a[row, i] * b[i, column]
        c[row, column] = total


@cuda.jit
def matmul_tiled(a, b, c, m, n, k):  # type: ignore[no-untyped-def]
    """The same by tiles in shared memory."""
    tile_a = cuda.shared.array((16, 16), float32)
    tile_b = cuda.shared.array((16, 16), float32)
    column, row = cuda.grid(2)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    total = float32(0)
    for first in range(0, k, 16):
        tile_a[y, x] = a[row, first + x]
        tile_b[y, x] = b[first + y, column]
        cuda.syncthreads()
        for i in range(16):
            total += tile_a[y, i] * tile_b[i, x]
        cuda.syncthreads()
    c[row, column] = total


@cuda.jit
def reduce(x, total, n):  # type: ignore[no-untyped-def]
    """A sum per block, added up atomically."""
    partial = cuda.shared.array(256, float32)
    thread = cuda.threadIdx.x
    mine = float32(0)
    for i in range(cuda.grid(1), n, cuda.gridsize(1)):
        mine += x[i]
    partial[thread] = mine
    cuda.syncthreads()
    half = 128
    while half > 0:
        if thread < half:
            partial[thread] += partial[thread + half]
        cuda.syncthreads()
        half //= 2
    if thread == 0:
        cuda.atomic.add(total, 0, partial[0])


@cuda.jit
def histogram(data, bins, n):  # type: ignore[no-untyped-def]
    """Counts per block in shared memory, then together."""
    counts = cuda.shared.array(256, int32)
    counts[cuda.threadIdx.x] = 0
    cuda.syncthreads()
    for i in range(cuda.grid(1), n, cuda.gridsize(1)):
        cuda.atomic.add(counts, data[i], 1)
    cuda.syncthreads()
    cuda.atomic.add(bins, cuda.threadIdx.x, counts[cuda.threadIdx.x])


@cuda.jit
def mandelbrot(image, width, height, pixel, limit):  # type: ignore[no-untyped-def]
    """Steps until a point leaves the circle."""
    column, row = cuda.grid(2)
    if column < width and row < height:
        real = float32(-0.75) + pixel * (column - float32(0.5) * (width - 1))
        imaginary = pixel * (row - float32(0.5) * (height - 1))
        x = y = float32(0)
        steps = 0
        while steps < limit and x * x + y * y <= 4:
            x, y = x * x - y * y + real, 2 * x * y + imaginary
            steps += 1
        image[row, column] = steps


def launch(name: str, n: int, side: int) -> tuple[float, bool]:
    """Seconds of one launch, and whether the answer is right."""
    random = np.random.default_rng(1)
    x, y = np.arange(n, dtype=np.float32), np.ones(n, np.float32)
    a, b = (random.random((side, side), np.float32) for _ in range(2))
    c, total = np.zeros_like(a), np.zeros(1, np.float32)
    data, bins = random.integers(0, 256, n, np.uint8), np.zeros(256, np.int32)
    image = np.zeros((side, side), np.uint8)
    line, square = (-(-n // 256), 256), ((side // 16, side // 16), (16, 16))
    strided = (min(64, -(-n // 256)), 256)
    kernel, shape, arguments = {
        "saxpy": (saxpy, line, (np.float32(2), x, y, n)),
        "matmul_naive": (matmul_naive, square, (a, b, c, side, side, side)),
        "matmul_tiled": (matmul_tiled, square, (a, b, c, side, side, side)),
        "reduce": (reduce, strided, (x, total, n)),
        "histogram": (histogram, strided, (data, bins, n)),
        "mandelbrot": (
            mandelbrot,
            square,
            (image, side, side, np.float32(0.0125 * 256 / side), 50),
        ),
    }[name]
    start = time.perf_counter()
    kernel[shape](*arguments)
    seconds = time.perf_counter() - start
    right = {
        "saxpy": lambda: np.array_equal(y, 2 * x + 1),
        "matmul_naive": lambda: np.allclose(c, a @ b, rtol=1e-4),
        "matmul_tiled": lambda: np.allclose(c, a @ b, rtol=1e-4),
        "reduce": lambda: np.allclose(total[0], x.sum(), rtol=1e-4),
        "histogram": lambda: np.array_equal(bins, np.bincount(data, minlength=256)),
        "mandelbrot": lambda: image.max() == 50 and image.min() < 10,
    }[name]()
    return seconds, bool(right)


if __name__ == "__main__":
    taken, is_right = launch(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
    print(taken)
    sys.exit(0 if is_right else 1)
