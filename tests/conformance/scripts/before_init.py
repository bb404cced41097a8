"""What calls answer before ``cuInit``, a line for each."""

import importlib
import sys

driver = importlib.import_module(sys.argv[1])
CALLS = {
    "cuDriverGetVersion": (),
    "cuGetErrorName": (driver.CUresult.CUDA_ERROR_INVALID_VALUE,),
    "cuGetErrorString": (driver.CUresult.CUDA_ERROR_INVALID_VALUE,),
    "cuDeviceGetCount": (),
    "cuDeviceGet": (0,),
    "cuDevicePrimaryCtxRetain": (0,),
    "cuCtxGetCurrent": (),
    "cuMemAlloc": (16,),
    "cuInit": (1,),
}
for name, arguments in CALLS.items():
    print(name, int(getattr(driver, name)(*arguments)[0]))
