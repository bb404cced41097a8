"""Run a kernel of ``faults.ptx`` that faults, and print what every call answers afterwards.

Arguments: the driver's module, the kernel, its address (``null``, ``far``, ``odd``,
``freed``), and how the context ends: ``reset`` (where not given), ``release`` or ``destroy``. For
``destroy`` it is one of ``cuCtxCreate``, else the primary one.
"""

import ctypes
import importlib
import sys
from pathlib import Path

driver = importlib.import_module(sys.argv[1])
kernel, where, ending = [*sys.argv[2:], "reset"][:3]


def show(name, *arguments):
    result, *values = getattr(driver, name)(*arguments)
    print(name, int(result), flush=True)
    return values[0] if values else None


def quiet(name, *arguments):
    result, *values = getattr(driver, name)(*arguments)
    assert int(result) == 0, f"{name}: {result!r}"
    return values[0] if values else None


create = (None, 0, 0) if driver.CUDA_VERSION >= 13000 else (0, 0)
quiet("cuInit", 0)
if ending == "destroy":
    context = quiet("cuCtxCreate", *create)
else:
    context = quiet("cuDevicePrimaryCtxRetain", 0)
    quiet("cuCtxSetCurrent", context)
image = (Path(__file__).parent.parent / "ptx" / "faults.ptx").read_bytes() + b"\0"
function = quiet("cuModuleGetFunction", quiet("cuModuleLoadData", image), kernel.encode())
buffer = quiet("cuMemAlloc", 4096)
# An address past every allocation may lie in the window of shared memory, which gives 717 and not
# 700. An address that has been freed cannot.
freed = quiet("cuMemAlloc", 64 << 20)
quiet("cuMemFree", freed)
address = {
    "null": 0,
    "far": 0x10_0000,
    "odd": int(buffer) + 1,
    "freed": int(freed),
}[where]
quiet("cuCtxSynchronize")

show("cuLaunchKernel", function, 1, 1, 1, 1, 1, 1, 0, 0, ((address,), (ctypes.c_void_p,)), 0)
show("cuCtxSynchronize")
show("cuCtxSynchronize")
show("cuMemAlloc", 16)
show("cuMemFree", buffer)
show("cuLaunchKernel", function, 1, 1, 1, 1, 1, 1, 0, 0, ((int(buffer),), (ctypes.c_void_p,)), 0)
show("cuStreamSynchronize", 0)
show("cuModuleLoadData", image)
show("cuEventCreate", 0)
show("cuCtxCreate", *create)
show("cuDeviceGetCount")
show("cuCtxGetCurrent")

if ending == "reset":
    show("cuDevicePrimaryCtxReset", 0)
    show("cuCtxSynchronize")
    show("cuMemAlloc", 16)
    show("cuDevicePrimaryCtxGetState", 0)
    show("cuCtxCreate", *create)
    show("cuDevicePrimaryCtxRetain", 0)
elif ending == "release":
    show("cuDevicePrimaryCtxRelease", 0)
    show("cuCtxSynchronize")
    show("cuDevicePrimaryCtxRetain", 0)
else:
    show("cuCtxDestroy", context)
    show("cuCtxSynchronize")
    show("cuCtxPopCurrent")
    show("cuCtxCreate", *create)
