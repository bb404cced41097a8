import numpy as np
from utils import Kernel

kernel = Kernel(
    r"""
extern "C" __global__ void conv1d(const float* x, const float* w, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float s = 0;
    for (int k = 0; k < 5; ++k) s += x[i + k] * w[k];
    y[i] = s;
}
""",
    "conv1d",
)


def custom_kernel(data):
    x, w = data
    out = np.empty(x.size - 4, np.float32)
    kernel(-(-out.size // 64), 64, x, w, out, np.int32(out.size))
    return out
