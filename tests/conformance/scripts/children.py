"""Launch a kernel of ``children.ptx`` and print the results of the launch and its synchronization.

Arguments: the driver's module, the kernel, and its arguments after the buffer: a word and a stream.
"""

import ctypes
import importlib
import sys
from pathlib import Path

from tests.conformance.device_runtime import image

driver = importlib.import_module(sys.argv[1])
kernel, *arguments = sys.argv[2:]


def quiet(name, *values):
    result, *found = getattr(driver, name)(*values)
    assert int(result) == 0, f"{name}: {result!r}"
    return found[0] if found else None


quiet("cuInit", 0)
quiet("cuCtxSetCurrent", quiet("cuDevicePrimaryCtxRetain", 0))
text = (Path(__file__).parent.parent / "ptx" / "children.ptx").read_bytes() + b"\0"
linked = image(driver, text)
if linked is None:
    print("skip")
    sys.exit()
function = quiet("cuModuleGetFunction", quiet("cuModuleLoadData", linked), kernel.encode())
given = () if kernel.startswith("no_") else (int(quiet("cuMemAlloc", 4096)), *map(int, arguments))
types = (ctypes.c_uint64, ctypes.c_uint32, ctypes.c_uint64)[: len(given)]
(launched,) = driver.cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, 0, (given, types), 0)
(synchronized,) = driver.cuCtxSynchronize()
if kernel != "talk":
    print(int(launched), int(synchronized))
