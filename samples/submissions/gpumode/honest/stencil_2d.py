import numpy as np
from utils import Kernel

kernel = Kernel(
    r"""
extern "C" __global__ void stencil_2d(const float* x, float* out, int rows, int columns) {
    int r = blockIdx.x, c = threadIdx.x;
    auto at = [&](int i, int k) { return i < 0 || k < 0 || i >= rows || k >= columns ? 0.f : x[i * columns + k]; };
    out[r * columns + c] = at(r - 1, c) + at(r + 1, c) + at(r, c - 1) + at(r, c + 1) - 4 * at(r, c);
}
""",
    "stencil_2d",
)


def custom_kernel(data):
    rows, columns = data.shape
    out = np.empty(data.shape, np.float32)
    kernel(rows, columns, data, out, np.int32(rows), np.int32(columns))
    return out
