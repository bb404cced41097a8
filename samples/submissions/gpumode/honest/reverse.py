import numpy as np
from utils import Kernel

kernel = Kernel(
    r"""
extern "C" __global__ void reverse(const float* x, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    out[i] = x[n - 1 - i];
}
""",
    "reverse",
)


def custom_kernel(data):
    (x,) = data
    out = np.empty(x.shape, np.float32)
    kernel(-(-out.size // 64), 64, x, out, np.int32(out.size))
    return out
