"""What synchronizing returns after one access of a surface of 8 by 4 words: BODY X."""

import ctypes
import importlib
import sys

import numpy as np

from tests.conformance.conftest import PREFIX, Driver
from tests.conformance.test_surfaces import HEAD
from tests.golden.sampling.case import SURFACE, Resource
from tests.golden.sampling.runner import created, resource_of

cuda = Driver(importlib.import_module(sys.argv[1]))
body, x = sys.argv[2], int(sys.argv[3])
cuda.cuInit(0)
cuda.create_context(0, cuda.cuDeviceGet(0))
given = Resource("2d", (np.zeros((1, 4, 8, 1), np.uint32),), SURFACE)
handle = cuda.cuSurfObjectCreate(resource_of(cuda, created(cuda, given), given))
text = f"{HEAD}  {body}\n  st.global.u32 [%o], %r0;\n  ret;\n}}\0"
function = cuda.cuModuleGetFunction(cuda.cuModuleLoadData(text.encode()), b"k")
types = (ctypes.c_uint64, ctypes.c_uint64, ctypes.c_uint32)
cuda.launch(function, (int(handle), int(cuda.cuMemAlloc(64)), x), types)
print(cuda.result("cuCtxSynchronize").removeprefix(PREFIX))
