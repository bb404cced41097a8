"""A kernel that stores far out of its buffer: what its program is told, and when."""

import ctypes
import pathlib
import sys

from cuda.bindings import driver as cuda

SAMPLE = pathlib.Path(__file__).resolve().parents[3] / "samples" / "out_of_bounds.ptx"


def check(answer):
    """The value or values of a call, which must have succeeded."""
    result, *values = answer
    if int(result):
        sys.exit(f"{result!r}")
    return values[0] if len(values) == 1 else values


def told(what, answer):
    """Show what a call returned."""
    result = answer[0]
    name = check(cuda.cuGetErrorName(result)).decode()
    print(f"{what}: {name}, {check(cuda.cuGetErrorString(result)).decode()}")


check(cuda.cuInit(0))
check(cuda.cuCtxCreate(None, 0, 0))
module = check(cuda.cuModuleLoad(bytes(SAMPLE)))
kernel = check(cuda.cuModuleGetFunction(module, b"far_past"))
buffer = check(cuda.cuMemAlloc(400))
arguments = (buffer, 100), (None, ctypes.c_int)
told("no such kernel", cuda.cuModuleGetFunction(module, b"nowhere"))
told("too many threads", cuda.cuLaunchKernel(kernel, 1, 1, 1, 2048, 1, 1, 0, 0, arguments, 0))
told("the launch", cuda.cuLaunchKernel(kernel, 2, 1, 1, 64, 1, 1, 0, 0, arguments, 0))
told("after it", cuda.cuCtxSynchronize())
told("from now on", cuda.cuMemAlloc(16))
