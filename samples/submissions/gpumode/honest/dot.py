import numpy as np
from utils import Kernel

kernel = Kernel(
    r"""
extern "C" __global__ void dot(const float* a, const float* b, float* out, int n) {
    double s = 0;
    for (int i = threadIdx.x; i < n; i += 32) s += (double)a[i] * b[i];
    for (int k = 16; k; k /= 2) s += __shfl_down_sync(~0u, s, k);
    if (!threadIdx.x) *out = s;
}
""",
    "dot",
)


def custom_kernel(data):
    a, b = data
    out = np.empty(1, np.float32)
    kernel(1, 32, a, b, out, np.int32(a.size))
    return out
