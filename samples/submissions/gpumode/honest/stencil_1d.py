import numpy as np
from utils import Kernel

kernel = Kernel(
    r"""
extern "C" __global__ void stencil_1d(const float* x, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float left = i ? x[i - 1] : 0, right = i + 1 < n ? x[i + 1] : 0;
    out[i] = (left + x[i] + right) / 3;
}
""",
    "stencil_1d",
)


def custom_kernel(data):
    (x,) = data
    out = np.empty(x.shape, np.float32)
    kernel(-(-out.size // 64), 64, x, out, np.int32(out.size))
    return out
