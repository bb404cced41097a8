"""Run the kernel ``greet``, which prints; show when its words come."""

import ctypes
import importlib
import sys
from pathlib import Path

driver = importlib.import_module(sys.argv[1])


def call(name, *arguments):
    result, *values = getattr(driver, name)(*arguments)
    assert int(result) == 0, f"{name}: {result!r}"
    return values[0] if values else None


call("cuInit", 0)
call("cuCtxSetCurrent", call("cuDevicePrimaryCtxRetain", 0))
image = (Path(__file__).parent.parent / "ptx" / "faults.ptx").read_bytes() + b"\0"
function = call("cuModuleGetFunction", call("cuModuleLoadData", image), b"greet")
call("cuLaunchKernel", function, 1, 1, 1, 2, 1, 1, 0, 0, ((0,), (ctypes.c_void_p,)), 0)
call("cuCtxSynchronize")
