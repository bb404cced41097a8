import numpy as np
from utils import Kernel

SOURCE = r"""
extern "C" __global__ void layernorm(const float* in, float* out, int n) {
    const float* x = in + blockIdx.x * n;
    float* y = out + blockIdx.x * n;
    float s = 0, q = 0;
    for (int i = 0; i < n; ++i) s += x[i];
    float mean = s / n;
    for (int i = 0; i < n; ++i) q += (x[i] - mean) * (x[i] - mean);
    float scale = rsqrtf(q / n + 1e-5f);
    for (int i = threadIdx.x; i < n; i += blockDim.x) y[i] = (x[i] - mean) * scale;
}
"""


class ModelNew:
    def __init__(self):
        self.kernel = Kernel(SOURCE, "layernorm")

    def forward(self, x):
        y = np.empty_like(x)
        self.kernel(x.shape[0], 32, x, y, np.int32(x.shape[1]))
        return y
