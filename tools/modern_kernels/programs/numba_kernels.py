"""numba kernels to PTX for sm_90: python nb.py FOLDER"""

import math
import sys
from pathlib import Path

from numba import cuda, float32, int32

out = Path(sys.argv[1])


def emit(name, f, sig):
    ptx, _ = (
        cuda.compile(f, sig, device=False, abi="numba", cc=(9, 0), output="ptx")
        if False
        else cuda.compile_ptx(f, sig, cc=(9, 0))
    )
    (out / f"numba_{name}.ptx").write_text(ptx)


f1, f2, i1 = float32[::1], float32[:, ::1], int32[::1]


def axpy(a, x, y):
    i = cuda.grid(1)
    if i < x.size:
        y[i] = a * x[i] + y[i]


def reduce_sum(x, out):
    s = cuda.shared.array(128, float32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    s[t] = x[i] if i < x.size else 0.0
    cuda.syncthreads()
    w = 64
    while w:
        if t < w:
            s[t] += s[t + w]
        cuda.syncthreads()
        w //= 2
    if t == 0:
        out[cuda.blockIdx.x] = s[0]


def matmul(a, b, c):
    i, j = cuda.grid(2)
    if i < c.shape[0] and j < c.shape[1]:
        t = float32(0)
        for k in range(a.shape[1]):
            t += a[i, k] * b[k, j]
        c[i, j] = t


def histogram(x, h):
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        cuda.atomic.add(h, x[i] & 15, 1)


def nbody(p, v, dt):
    i = cuda.grid(1)
    if i < p.shape[0]:
        ax = float32(0)
        ay = float32(0)
        for j in range(p.shape[0]):
            dx = p[j, 0] - p[i, 0]
            dy = p[j, 1] - p[i, 1]
            r = dx * dx + dy * dy + float32(0.01)
            q = float32(1) / (r * math.sqrt(r))
            ax += dx * q
            ay += dy * q
        v[i, 0] += dt * ax
        v[i, 1] += dt * ay


emit("axpy", axpy, (float32, f1, f1))
emit("reduce", reduce_sum, (f1, f1))
emit("matmul", matmul, (f2, f2, f2))
emit("histogram", histogram, (i1, i1))
emit("nbody", nbody, (f2, f2, float32))
