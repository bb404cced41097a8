import numpy as np
from utils import Kernel

kernel = Kernel(
    r"""
extern "C" __global__ void vectoradd(const float* a, const float* b, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    out[i] = a[i] + b[i];
}
""",
    "vectoradd",
)


def custom_kernel(data):
    a, b = data
    out = np.empty(a.shape, np.float32)
    kernel(-(-out.size // 64), 64, a, b, out, np.int32(out.size))
    return out
