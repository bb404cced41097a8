import numpy as np
from utils import Kernel

SOURCE = r"""
extern "C" __global__ void leaky_relu(const float* in, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float x = in[i];
    out[i] = x > 0 ? x : 0.01f * x;
}
"""


class ModelNew:
    def __init__(self):
        self.kernel = Kernel(SOURCE, "leaky_relu")

    def forward(self, x):
        y = np.empty_like(x)
        self.kernel(-(-x.size // 64), 64, x, y, np.int32(x.size))
        return y
