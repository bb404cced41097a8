"""Every device in a thread of its own: a managed counter, a context each, memory passed round."""

import ctypes
import pathlib
import sys
import threading

import numpy as np
from cuda.bindings import driver as cuda

SAMPLES = pathlib.Path(__file__).resolve().parents[3] / "samples"
LAUNCHES = 5


def check(answer):
    """The value or values of a call, which must have succeeded."""
    result, *values = answer
    if int(result):
        sys.exit(f"{result!r}")
    return values[0] if len(values) == 1 else values


def count(device, library, hits):
    """Launch ``bump`` in a context of the device's own, and read the device's variable."""
    context = check(cuda.cuCtxCreate(None, 0, device))
    kernel = check(cuda.cuLibraryGetKernel(library, b"bump"))
    arguments = (1,), (ctypes.c_int,)
    for _ in range(LAUNCHES):
        check(cuda.cuLaunchKernel(kernel, 2, 1, 1, 32, 1, 1, 0, 0, arguments, 0))
    check(cuda.cuCtxSynchronize())
    address, size = check(cuda.cuLibraryGetGlobal(library, b"hits"))
    value = np.zeros(1, dtype=np.int32)
    check(cuda.cuMemcpyDtoH(value, address, size))
    hits[device] = int(value[0])
    check(cuda.cuCtxDestroy(context))


check(cuda.cuInit(0))
devices = range(check(cuda.cuDeviceGetCount()))
contexts = [check(cuda.cuDevicePrimaryCtxRetain(device)) for device in devices]
check(cuda.cuCtxPushCurrent(contexts[0]))
library = check(cuda.cuLibraryLoadFromFile(bytes(SAMPLES / "managed.ptx"), [], [], 0, [], [], 0))

hits = {}
threads = [threading.Thread(target=count, args=(device, library, hits)) for device in devices]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
address, _ = check(cuda.cuLibraryGetManaged(library, b"counter"))
counter = ctypes.c_int.from_address(int(address)).value
print("each device's own variable:", set(hits.values()))
print("the managed one, divided by the devices:", counter / len(devices))

# a message goes through every device and comes back
message = np.frombuffer(b"from device to device", dtype=np.uint8)
places = []
for context in contexts:
    check(cuda.cuCtxSetCurrent(context))
    places.append(check(cuda.cuMemAlloc(message.nbytes)))
check(cuda.cuCtxSetCurrent(contexts[0]))
check(cuda.cuMemcpyHtoD(places[0], message, message.nbytes))
for here in devices[1:]:
    before = here - 1
    check(
        cuda.cuMemcpyPeer(
            places[here], contexts[here], places[before], contexts[before], message.nbytes
        )
    )
back = np.zeros_like(message)
check(cuda.cuMemcpy(back.ctypes.data, int(places[-1]), back.nbytes))
print("back at the host:", back.tobytes().decode())

kind = check(
    cuda.cuPointerGetAttribute(
        cuda.CUpointer_attribute.CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, places[-1]
    )
)
print("the last one is on the last device:", kind == devices[-1])
check(cuda.cuLibraryUnload(library))
for device in devices:
    check(cuda.cuDevicePrimaryCtxRelease(device))
