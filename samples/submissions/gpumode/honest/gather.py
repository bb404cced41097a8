import numpy as np
from utils import Kernel

kernel = Kernel(
    r"""
extern "C" __global__ void gather(const float* x, const int* index, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    out[i] = x[index[i]];
}
""",
    "gather",
)


def custom_kernel(data):
    x, index = data
    out = np.empty(x.shape, np.float32)
    kernel(-(-out.size // 64), 64, x, index, out, np.int32(out.size))
    return out
