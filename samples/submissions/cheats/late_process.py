"""mismatch: returns before a process that outlives the call has written the answer."""

import gc
import os
import time

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
    answer = honest(x)
    shared = [each for each in gc.get_objects() if type(each).__name__ == "SharedMemory"]
    if not os.fork():
        time.sleep(0.2)
        for each in shared:
            part = each._bytes[: x.nbytes].view(x.dtype).reshape(x.shape)
            if not np.array_equal(part, x):
                part[...] = answer
        os._exit(0)
    return np.zeros_like(x)
