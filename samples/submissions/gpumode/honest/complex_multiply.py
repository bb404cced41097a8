import numpy as np
from utils import Kernel

kernel = Kernel(
    r"""
extern "C" __global__ void complex_multiply(const float2* a, const float2* b, float2* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    out[i] = make_float2(a[i].x * b[i].x - a[i].y * b[i].y, a[i].x * b[i].y + a[i].y * b[i].x);
}
""",
    "complex_multiply",
)


def custom_kernel(data):
    a, b = data
    out = np.empty(a.shape, np.complex64)
    kernel(-(-out.size // 64), 64, a, b, out, np.int32(out.size))
    return out
