import numpy as np
from utils import Kernel

SOURCE = r"""
extern "C" __global__ void linear_swish(const float* x, const float* w, const float* b, float* y, int inner) {
    float s = b[threadIdx.x];
    for (int i = 0; i < inner; ++i) s += x[blockIdx.x * inner + i] * w[threadIdx.x * inner + i];
    y[blockIdx.x * blockDim.x + threadIdx.x] = s / (1 + expf(-s));
}
"""


class ModelNew:
    def __init__(self, inputs, outputs):
        self.weight = np.random.randn(outputs, inputs).astype(np.float32)
        self.bias = np.random.randn(outputs).astype(np.float32)
        self.inputs = inputs
        self.outputs = outputs
        self.kernel = Kernel(SOURCE, "linear_swish")

    def forward(self, x):
        y = np.empty((x.shape[0], self.outputs), np.float32)
        self.kernel(x.shape[0], self.outputs, x, self.weight, self.bias, y, np.int32(self.inputs))
        return y
