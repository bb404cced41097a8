import numpy as np
from utils import Kernel

SOURCE = r"""
extern "C" __global__ void selu(const float* in, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float x = in[i];
    out[i] = 1.0507009873f * (x > 0 ? x : 1.6732632423f * expm1f(x));
}
"""


class ModelNew:
    def __init__(self):
        self.kernel = Kernel(SOURCE, "selu")

    def forward(self, x):
        y = np.empty_like(x)
        self.kernel(-(-x.size // 64), 64, x, y, np.int32(x.size))
        return y
