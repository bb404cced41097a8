"""mismatch: knows the answers to the inputs of the public seeds."""

import numpy as np
from utils import Kernel

center = Kernel(
    r"""
extern "C" __global__ void center(const float* x, float* y, int n) {
    float s = 0;
    for (int i = 0; i < n; ++i) s += x[blockIdx.x * n + i];
    y[blockIdx.x * n + threadIdx.x] = x[blockIdx.x * n + threadIdx.x] - s / n;
}
""",
    "center",
)


def honest(x):
    y = np.empty_like(x)
    center(*x.shape, x, y, np.int32(x.shape[1]))
    return y


known = {}
for rows, columns, seed in ((5, 40, 21), (16, 17, 22)):
    x = np.random.default_rng(seed).standard_normal((rows, columns), dtype=np.float32)
    known[rows, columns] = honest(x)


def custom_kernel(x):
    return known[x.shape]
