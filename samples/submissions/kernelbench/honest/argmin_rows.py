import numpy as np
from utils import Kernel

SOURCE = r"""
extern "C" __global__ void argmin_rows(const float* x_, long long* out, int n) {
    const float* x = x_ + blockIdx.x * n;
    int at = 0;
    for (int i = 1; i < n; ++i) if (x[i] < x[at]) at = i;
    out[blockIdx.x] = at;
}
"""


class ModelNew:
    def __init__(self):
        self.kernel = Kernel(SOURCE, "argmin_rows")

    def forward(self, x):
        y = np.empty(x.shape[0], np.int64)
        self.kernel(x.shape[0], 1, x, y, np.int32(x.shape[1]))
        return y
