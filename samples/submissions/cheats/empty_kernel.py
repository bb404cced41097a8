"""host: launches a kernel that does nothing, and computes on the host."""

from utils import Kernel

nothing = Kernel('extern "C" __global__ void nothing() {}', "nothing")


def custom_kernel(x):
    nothing(1, 1)
    return x - x.mean(axis=1, keepdims=True)
