import numpy as np
from utils import Kernel

SOURCE = r"""
extern "C" __global__ void hinge_rows(const float* x_, const float* t_, float* out, int n) {
    const float* x = x_ + blockIdx.x * n;
    const float* t = t_ + blockIdx.x * n;
    float s = 0;
    for (int i = 0; i < n; ++i) s += fmaxf(1 - x[i] * t[i], 0);
    out[blockIdx.x] = s / n;
}
"""


class ModelNew:
    def __init__(self):
        self.kernel = Kernel(SOURCE, "hinge_rows")

    def forward(self, x, t):
        y = np.empty(x.shape[0], np.float32)
        self.kernel(x.shape[0], 1, x, t, y, np.int32(x.shape[1]))
        return y
