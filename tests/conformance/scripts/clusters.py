"""Launch a kernel of ``clusters.ptx`` on one block, and print what came of it.

Arguments: the driver's module, the kernel, and how large a cluster the launch asks for: 0 for none.
"""

import ctypes
import importlib
import sys
from pathlib import Path

import numpy as np

driver = importlib.import_module(sys.argv[1])
kernel, width = sys.argv[2], int(sys.argv[3])


def call(name, *arguments):
    result, *values = getattr(driver, name)(*arguments)
    assert int(result) == 0, f"{name}: {result!r}"
    return values[0] if values else None


call("cuInit", 0)
call("cuCtxSetCurrent", call("cuDevicePrimaryCtxRetain", 0))
image = (Path(__file__).parent.parent / "ptx" / "clusters.ptx").read_bytes() + b"\0"
function = call("cuModuleGetFunction", call("cuModuleLoadData", image), kernel.encode())
out = call("cuMemAlloc", 16)

config = driver.CUlaunchConfig()
config.gridDimX, config.gridDimY, config.gridDimZ = max(width, 1), 1, 1
config.blockDimX = config.blockDimY = config.blockDimZ = 1
if width:
    attribute = driver.CUlaunchAttribute()
    attribute.id = driver.CUlaunchAttributeID.CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION
    extent = attribute.value.clusterDim
    extent.x, extent.y, extent.z = width, 1, 1
    config.attrs, config.numAttrs = [attribute], 1
call("cuLaunchKernelEx", config, function, ((int(out),), (ctypes.c_void_p,)), 0)
code = int(driver.cuCtxSynchronize()[0])
words = np.zeros(4, np.uint32)
if code == 0:
    call("cuMemcpyDtoH", words, out, words.nbytes)
print(code, *words)
