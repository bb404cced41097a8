import numpy as np
from utils import Kernel

kernel = Kernel(
    r"""
extern "C" __global__ void half_scale(const unsigned short* x, unsigned short* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float v;
    asm("cvt.f32.f16 %0, %1;" : "=f"(v) : "h"(x[i]));
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(out[i]) : "f"(3 * v));
}
""",
    "half_scale",
)


def custom_kernel(data):
    (x,) = data
    out = np.empty(x.shape, np.float16)
    kernel(-(-out.size // 64), 64, x, out, np.int32(out.size))
    return out
