import numpy as np
from utils import Kernel

kernel = Kernel(
    r"""
extern "C" __global__ void saxpy(const float* x, const float* y, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    out[i] = 2.5f * x[i] + y[i];
}
""",
    "saxpy",
)


def custom_kernel(data):
    x, y = data
    out = np.empty(x.shape, np.float32)
    kernel(-(-out.size // 64), 64, x, y, out, np.int32(out.size))
    return out
