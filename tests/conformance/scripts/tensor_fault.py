"""Run one load or store of ``tensor_maps.ptx`` with valid or invalid operands; print the result.

Arguments: the driver's module and the name of the case.
"""

import ctypes
import importlib
import sys
from pathlib import Path

import numpy as np

from tests.conformance.conftest import Driver
from tests.conformance.tensor_objects import arguments, map_bytes

# Kernel, where the map is, coordinates, offset in shared memory, changed arguments of the map.
CASES = {
    "load": ("any_load", 0, 32, 16, 0, {}),
    "load outside": ("any_load", 0, 960, -70, 0, {}),
    "map of zeros": ("any_load", 256, 32, 16, 0, {}),
    "map of rank 3": (
        "any_load", 0, 32, 16, 0,
        {"rank": 3, "dims": (96, 8, 8), "strides": (384, 3072), "box": (32, 4, 8),
         "steps": (1, 1, 1)},
    ),
    "map at 32": ("any_load", 32, 32, 16, 0, {}),
    "map at null": ("any_load", None, 32, 16, 0, {}),
    "x of 2": ("any_load", 0, 2, 16, 0, {}),
    "shared at 64": ("any_load", 0, 32, 16, 64, {}),
    "shared past the end": ("any_load", 0, 32, 16, 1024, {}),
    "unmapped tensor": ("any_load", 0, 32, 16, 0, {"address": 16}),
    "store": ("any_store", 0, 32, 16, 0, {}),
    "store outside": ("any_store", 0, 960, 70, 0, {}),
    "store at a negative row": ("any_store", 0, 32, -1, 0, {}),
    "store from 16": ("any_store", 0, 32, 16, 16, {}),
}  # fmt: skip

driver = importlib.import_module(sys.argv[1])
cuda = Driver(driver)
cuda.cuInit(0)
cuda.cuCtxSetCurrent(cuda.cuDevicePrimaryCtxRetain(0))
image = (Path(__file__).parent.parent / "ptx" / "tensor_maps.ptx").read_bytes() + b"\0"
kernel, place, x, y, offset, changes = CASES[sys.argv[2]]
function = cuda.cuModuleGetFunction(cuda.cuModuleLoadData(image), kernel.encode())
tensor, maps = cuda.cuMemAlloc(64 * 384), cuda.cuMemAlloc(512)
given = {"address": int(tensor), **changes}
memory = np.zeros(512, np.uint8)
if place in (0, 32):
    data = map_bytes(cuda.cuTensorMapEncodeTiled(*arguments(cuda, **given)))
    memory[place : place + 128] = data.view(np.uint8)
cuda.cuMemcpyHtoD(maps, memory, 512)
address = 0 if place is None else int(maps) + place
types = (ctypes.c_void_p, ctypes.c_int, ctypes.c_int, ctypes.c_uint)
cuda.launch(function, (address, x, y, offset), types, shared=1024 + 4096)
print(int(driver.cuCtxSynchronize()[0]))
