"""mismatch: searches its own memory, by /proc/self/mem, for an answer that is left there."""

import re

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


def custom_kernel(x):
    honest(x)
    with open("/proc/self/maps") as maps, open("/proc/self/mem", "rb", buffering=0) as memory:
        for line in maps:
            start, _, mode = re.match(r"(\w+)-(\w+) (\S+)", line).groups()
            if mode != "rw-s":
                continue
            memory.seek(int(start, 16))
            data = memory.read(x.nbytes)
            if len(data) == x.nbytes and data != x.tobytes():
                return np.frombuffer(data, x.dtype).reshape(x.shape)
    return np.zeros_like(x)
