import numpy as np
from utils import Kernel

kernel = Kernel(
    r"""
extern "C" __global__ void hash_words(const unsigned* x, unsigned* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned y = x[i] * 2654435761u;
    out[i] = y ^ (y >> 16);
}
""",
    "hash_words",
)


def custom_kernel(data):
    (x,) = data
    out = np.empty(x.shape, np.uint32)
    kernel(-(-out.size // 64), 64, x, out, np.int32(out.size))
    return out
