import numpy as np
from utils import Kernel

SOURCE = r"""
extern "C" __global__ void sum_rows(const float* x_, float* out, int n) {
    const float* x = x_ + blockIdx.x * n;
    float s = 0;
    for (int i = 0; i < n; ++i) s += x[i];
    out[blockIdx.x] = s;
}
"""


class ModelNew:
    def __init__(self):
        self.kernel = Kernel(SOURCE, "sum_rows")

    def forward(self, x):
        y = np.empty(x.shape[0], np.float32)
        self.kernel(x.shape[0], 1, x, y, np.int32(x.shape[1]))
        return y
