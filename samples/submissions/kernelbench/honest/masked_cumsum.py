import numpy as np
from utils import Kernel

SOURCE = r"""
extern "C" __global__ void masked_cumsum(const float* in, float* out, int n) {
    const float* x = in + blockIdx.x * n;
    float* y = out + blockIdx.x * n;
    if (threadIdx.x) return;
    float s = 0;
    for (int i = 0; i < n; ++i) y[i] = s += x[i] > 0 ? x[i] : 0;
}
"""


class ModelNew:
    def __init__(self):
        self.kernel = Kernel(SOURCE, "masked_cumsum")

    def forward(self, x):
        y = np.empty_like(x)
        self.kernel(x.shape[0], 32, x, y, np.int32(x.shape[1]))
        return y
