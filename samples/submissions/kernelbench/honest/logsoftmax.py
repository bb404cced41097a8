import numpy as np
from utils import Kernel

SOURCE = r"""
extern "C" __global__ void logsoftmax(const float* in, float* out, int n) {
    const float* x = in + blockIdx.x * n;
    float* y = out + blockIdx.x * n;
    float most = x[0], s = 0;
    for (int i = 1; i < n; ++i) most = fmaxf(most, x[i]);
    for (int i = 0; i < n; ++i) s += expf(x[i] - most);
    for (int i = threadIdx.x; i < n; i += blockDim.x) y[i] = x[i] - most - logf(s);
}
"""


class ModelNew:
    def __init__(self):
        self.kernel = Kernel(SOURCE, "logsoftmax")

    def forward(self, x):
        y = np.empty_like(x)
        self.kernel(x.shape[0], 32, x, y, np.int32(x.shape[1]))
        return y
