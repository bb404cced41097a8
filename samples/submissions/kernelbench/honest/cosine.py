import numpy as np
from utils import Kernel

SOURCE = r"""
extern "C" __global__ void cosine(const float* x_, const float* t_, float* out, int n) {
    const float* x = x_ + blockIdx.x * n;
    const float* t = t_ + blockIdx.x * n;
    float d = 0, a = 0, b = 0;
    for (int i = 0; i < n; ++i) d += x[i] * t[i], a += x[i] * x[i], b += t[i] * t[i];
    out[blockIdx.x] = d * rsqrtf(a) * rsqrtf(b);
}
"""


class ModelNew:
    def __init__(self):
        self.kernel = Kernel(SOURCE, "cosine")

    def forward(self, x, t):
        y = np.empty(x.shape[0], np.float32)
        self.kernel(x.shape[0], 1, x, t, y, np.int32(x.shape[1]))
        return y
