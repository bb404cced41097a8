import numpy as np
from utils import Kernel

SOURCE = r"""
extern "C" __global__ void l2norm(const float* in, float* out, int n) {
    const float* x = in + blockIdx.x * n;
    float* y = out + blockIdx.x * n;
    float q = 0;
    for (int i = threadIdx.x; i < n; i += 32) q += x[i] * x[i];
    for (int k = 16; k; k /= 2) q += __shfl_xor_sync(~0u, q, k);
    for (int i = threadIdx.x; i < n; i += 32) y[i] = x[i] / sqrtf(q);
}
"""


class ModelNew:
    def __init__(self):
        self.kernel = Kernel(SOURCE, "l2norm")

    def forward(self, x):
        y = np.empty_like(x)
        self.kernel(x.shape[0], 32, x, y, np.int32(x.shape[1]))
        return y
