import numpy as np
from utils import Kernel

kernel = Kernel(
    r"""
extern "C" __global__ void mandelbrot(const float* re, const float* im, int* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float zr = 0, zi = 0;
    int k = 0;
    while (k < 50 && __fadd_rn(__fmul_rn(zr, zr), __fmul_rn(zi, zi)) <= 4) {
        float t = __fadd_rn(__fsub_rn(__fmul_rn(zr, zr), __fmul_rn(zi, zi)), re[i]);
        zi = __fadd_rn(__fmul_rn(2 * zr, zi), im[i]);
        zr = t;
        ++k;
    }
    out[i] = k;
}
""",
    "mandelbrot",
)


def custom_kernel(data):
    re, im = data
    out = np.empty(re.shape, np.int32)
    kernel(-(-out.size // 64), 64, re, im, out, np.int32(out.size))
    return out
