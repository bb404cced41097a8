import numpy as np
from utils import Kernel

kernel = Kernel(
    r"""
extern "C" __global__ void scatter_add(const int* keys, const int* x, int* sums, int n) {
    if (threadIdx.x < 8) sums[threadIdx.x] = 0;
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += blockDim.x) atomicAdd(&sums[keys[i]], x[i]);
}
""",
    "scatter_add",
)


def custom_kernel(data):
    out = np.empty(8, np.int32)
    kernel(1, 64, data["keys"], data["x"], out, np.int32(data["x"].size))
    return out
