import numpy as np
from utils import Kernel

SOURCE = r"""
extern "C" __global__ void sigmoid(const float* in, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float x = in[i];
    out[i] = 1 / (1 + expf(-x));
}
"""


class ModelNew:
    def __init__(self):
        self.kernel = Kernel(SOURCE, "sigmoid")

    def forward(self, x):
        y = np.empty_like(x)
        self.kernel(-(-x.size // 64), 64, x, y, np.int32(x.size))
        return y
