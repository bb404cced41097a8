import numpy as np
from utils import Kernel

kernel = Kernel(
    r"""
extern "C" __global__ void threshold(const float* x, int* out, int rows, int columns) {
    int r = blockIdx.x, c = threadIdx.x;
    const float* before = x + (r + rows - 1) % rows * columns;
    float most = before[0];
    for (int i = 1; i < columns; ++i) most = fmaxf(most, before[i]);
    out[r * columns + c] = x[r * columns + c] > most;
}
""",
    "threshold",
)


def custom_kernel(data):
    rows, columns = data.shape
    out = np.empty(data.shape, np.int32)
    kernel(rows, columns, data, out, np.int32(rows), np.int32(columns))
    return out
