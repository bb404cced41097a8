"""Reach memory of one context from another one of the same device; print what comes of it.

By itself, for a kernel that may not reach it faults.
"""

import ctypes
import importlib
import sys
from pathlib import Path

driver = importlib.import_module(sys.argv[1])
create = (None, 0, 0) if driver.CUDA_VERSION >= 13000 else (0, 0)


def call(name, *arguments):
    result, *values = getattr(driver, name)(*arguments)
    assert int(result) == 0, f"{name}: {result!r}"
    return values[0] if values else None


def show(name, *arguments):
    print(name, int(getattr(driver, name)(*arguments)[0]), flush=True)


call("cuInit", 0)
call("cuCtxCreate", *create)
address = call("cuMemAlloc", 4)
call("cuMemsetD32", address, 5, 1)
call("cuCtxSynchronize")

call("cuCtxCreate", *create)
data = (ctypes.c_uint32 * 1)()
show("cuMemcpyDtoH", ctypes.addressof(data), address, 4)
print("copied", data[0])

image = (Path(__file__).parent.parent / "ptx" / "kernels.ptx").read_bytes() + b"\0"
fill = call("cuModuleGetFunction", call("cuModuleLoadData", image), b"fill")
params = ((int(address), 9, 1), (ctypes.c_void_p, ctypes.c_uint32, ctypes.c_uint32))
show("cuLaunchKernel", fill, 1, 1, 1, 1, 1, 1, 0, 0, params, 0)
show("cuCtxSynchronize")
driver.cuMemcpyDtoH(ctypes.addressof(data), address, 4)
print("stored", data[0])
show("cuMemFree", address)
