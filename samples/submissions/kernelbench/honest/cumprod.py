import numpy as np
from utils import Kernel

SOURCE = r"""
extern "C" __global__ void cumprod(const float* in, float* out, int n) {
    const float* x = in + blockIdx.x * n;
    float* y = out + blockIdx.x * n;
    if (threadIdx.x) return;
    float p = 1;
    for (int i = 0; i < n; ++i) y[i] = p *= x[i];
}
"""


class ModelNew:
    def __init__(self):
        self.kernel = Kernel(SOURCE, "cumprod")

    def forward(self, x):
        y = np.empty_like(x)
        self.kernel(x.shape[0], 32, x, y, np.int32(x.shape[1]))
        return y
