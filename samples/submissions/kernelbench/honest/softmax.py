import numpy as np
from utils import Kernel

SOURCE = r"""
extern "C" __global__ void softmax(const float* in, float* out, int n) {
    const float* x = in + blockIdx.x * n;
    float* y = out + blockIdx.x * n;
    float most = -__int_as_float(0x7f800000), s = 0;
    for (int i = threadIdx.x; i < n; i += 32) most = fmaxf(most, x[i]);
    for (int k = 16; k; k /= 2) most = fmaxf(most, __shfl_xor_sync(~0u, most, k));
    for (int i = threadIdx.x; i < n; i += 32) s += expf(x[i] - most);
    for (int k = 16; k; k /= 2) s += __shfl_xor_sync(~0u, s, k);
    for (int i = threadIdx.x; i < n; i += 32) y[i] = expf(x[i] - most) / s;
}
"""


class ModelNew:
    def __init__(self):
        self.kernel = Kernel(SOURCE, "softmax")

    def forward(self, x):
        y = np.empty_like(x)
        self.kernel(x.shape[0], 32, x, y, np.int32(x.shape[1]))
        return y
