import numpy as np
from utils import Kernel

SOURCE = r"""
extern "C" __global__ void max_rows(const float* x_, float* out, int n) {
    const float* x = x_ + blockIdx.x * n;
    float s = x[0];
    for (int i = 1; i < n; ++i) s = fmaxf(s, x[i]);
    out[blockIdx.x] = s;
}
"""


class ModelNew:
    def __init__(self):
        self.kernel = Kernel(SOURCE, "max_rows")

    def forward(self, x):
        y = np.empty(x.shape[0], np.float32)
        self.kernel(x.shape[0], 1, x, y, np.int32(x.shape[1]))
        return y
