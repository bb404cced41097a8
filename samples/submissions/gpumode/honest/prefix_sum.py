import numpy as np
from utils import Kernel

kernel = Kernel(
    r"""
extern "C" __global__ void prefix_sum(const int* x, int* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int s = 0;
    for (int k = 0; k <= i; ++k) s += x[k];
    out[i] = s;
}
""",
    "prefix_sum",
)


def custom_kernel(data):
    (x,) = data
    out = np.empty(x.shape, np.int32)
    kernel(-(-out.size // 64), 64, x, out, np.int32(out.size))
    return out
