"""Reset the primary context while it is held and current; print what calls answer, and values."""

import importlib
import sys

driver = importlib.import_module(sys.argv[1])


def show(name, *arguments):
    result, *values = getattr(driver, name)(*arguments)
    print(name, int(result), flush=True)
    return values


driver.cuInit(0)
_, context = driver.cuDevicePrimaryCtxRetain(0)
driver.cuCtxSetCurrent(context)
_, address = driver.cuMemAlloc(64)
show("cuDevicePrimaryCtxReset", 0)
show("cuMemFree", address)
show("cuCtxSynchronize")
print("active", driver.cuDevicePrimaryCtxGetState(0)[2])
_, again = driver.cuDevicePrimaryCtxRetain(0)
print("same", int(int(again) == int(context)))
show("cuMemAlloc", 64)
show("cuDevicePrimaryCtxRelease", 0)
show("cuDevicePrimaryCtxRelease", 0)
