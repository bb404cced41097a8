"""A program with launches that it does not wait for, by the driver's library."""

import ctypes
import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

PTX = b"""
.version 8.0
.target sm_75
.address_size 64
.visible .entry append(.param .u32 value, .param .u64 data)
{
    .reg .b32 %r<3>;
    .reg .b64 %rd1;
    ld.param.u32 %r1, [value];
    ld.param.u64 %rd1, [data];
    ld.global.u32 %r2, [%rd1];
    mad.lo.u32 %r2, %r2, 3, %r1;
    st.global.u32 [%rd1], %r2;
    ret;
}
.visible .global .u32 counter;
.visible .entry count()
{
    .reg .b32 %r1;
    ld.global.u32 %r1, [counter];
    add.u32 %r1, %r1, 1;
    st.global.u32 [counter], %r1;
    ret;
}
"""
SHARED_BYTES = 8  # CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
driver = ctypes.CDLL("libcuda.so.1")


class Extent(ctypes.Structure):
    """A dim3."""

    _fields_ = tuple((axis, ctypes.c_uint32) for axis in "xyz")


def made(function: Callable[..., int], *arguments: Any) -> Any:
    """Return the handle or address that a call writes first."""
    place = ctypes.c_uint64()
    check(function(ctypes.byref(place), *arguments))
    return ctypes.c_uint64(place.value)


def check(result: int) -> None:
    """Exit if a call fails."""
    if result:
        sys.exit(f"error {result}")


check(driver.cuInit(0))
check(driver.cuCtxSetCurrent(made(driver.cuDevicePrimaryCtxRetain, 0)))
module = made(driver.cuModuleLoadData, PTX)
kernel = made(driver.cuModuleGetFunction, module, b"append")
memory = made(driver.cuMemAlloc_v2, ctypes.c_size_t(4))
value = ctypes.c_uint32()
pointers = (ctypes.c_void_p * 2)(ctypes.addressof(value), ctypes.addressof(memory))
NONE = ctypes.c_uint64()


def launch(number: int, stream: Any = NONE, shared: int = 0, arguments: Any = pointers) -> int:
    """Launch; return the result."""
    value.value = number
    extents = (1, 1, 1, 1, 1, 1)
    return int(driver.cuLaunchKernel(kernel, *extents, shared, stream, arguments, None))


def contents() -> int:
    """Return the value in memory, as a number, and reset it."""
    found = ctypes.c_uint32()
    check(driver.cuMemcpyDtoH_v2(ctypes.byref(found), memory, ctypes.c_size_t(4)))
    check(driver.cuMemsetD32_v2(memory, 0, ctypes.c_size_t(1)))
    return found.value


def expected(numbers: range) -> int:
    """Return what the launches with numbers leave."""
    left = 0
    for number in numbers:
        left = (3 * left + number) % (1 << 32)
    return left


def stopped() -> None:
    """Launch while the servers are stopped."""
    check(launch(1))
    servers = []
    for pid in sorted(int(each) for each in os.listdir("/proc") if each.isdecimal()):
        with suppress(OSError):  # it has ended
            parent = int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
            if pid != os.getpid() and parent in (os.getppid(), *servers):
                servers.append(pid)
    for each in servers:
        os.kill(each, signal.SIGSTOP)
    check(launch(2))
    for each in servers:
        os.kill(each, signal.SIGCONT)
    print(contents() == expected(range(1, 3)))


def ordered() -> None:
    """Launch with other parameters each time; other threads wait for the launches."""
    for number in range(100):
        check(launch(number))
    print(contents() == expected(range(100)))
    found = []

    def copy(turn: int) -> None:
        check(driver.cuCtxSetCurrent(context))
        if turn % 2:  # launches of both threads
            value.value = 49
            check(launch(49))
        found.append(contents())

    context = made(driver.cuCtxGetCurrent)
    for turn in range(10):
        for number in range(50 - turn % 2):
            check(launch(number))
        thread = threading.Thread(target=copy, args=(turn,))
        thread.start()
        thread.join()
    print(found == 10 * [expected(range(50))])


def contexts() -> None:
    """Launch in new threads, of two contexts in turns: each has a variable of its own."""
    runtime = ctypes.CDLL("libcudart.so.13")
    library = made(driver.cuLibraryLoadData, PTX, None, None, 0, None, None, 0)
    count = made(driver.cuLibraryGetKernel, library, b"count")
    other = made(driver.cuCtxCreate_v4, None, 0, 0)
    found = []

    def use(context: Any) -> None:
        made(driver.cuCtxGetCurrent)  # the first call of each thread is one of the driver
        if context is not None:
            check(driver.cuCtxSetCurrent(context))
        for _ in range(4):
            check(
                runtime.cudaLaunchKernel(
                    count, Extent(1, 1, 1), Extent(1, 1, 1), None, ctypes.c_size_t(), NONE
                )
            )
        size, copy = ctypes.c_size_t(), ctypes.c_uint32()
        address = ctypes.c_uint64()
        place = ctypes.byref(address), ctypes.byref(size)
        check(driver.cuLibraryGetGlobal(*place, library, b"counter"))
        check(driver.cuMemcpyDtoH_v2(ctypes.byref(copy), address, size))
        found.append(copy.value)

    for turn in range(16):
        thread = threading.Thread(target=use, args=((other, None)[turn % 2],))
        thread.start()
        thread.join()
        time.sleep(0.05)  # what served it ends, too
    print(found == [4 * (turn // 2 + 1) for turn in range(16)])


def refused() -> None:
    """Launch what has become invalid."""
    stream = made(driver.cuStreamCreate, 0)
    print(*(launch(1, stream) for _ in range(3)), launch(1, stream, arguments=None))
    print(launch(1, stream, 100), launch(1, stream, 100))
    check(driver.cuFuncSetAttribute(kernel, SHARED_BYTES, 10))
    print(launch(1, stream, 100))
    check(launch(1))
    check(driver.cuStreamBeginCapture_v2(stream, 0))
    print(launch(1), launch(1, stream))
    driver.cuStreamEndCapture(stream, ctypes.byref(ctypes.c_uint64()))
    check(launch(1, stream))
    check(driver.cuStreamDestroy_v2(stream))
    print(launch(1, stream))
    check(launch(1))
    check(driver.cuModuleUnload(module))
    print(launch(1))
    kernel.value = 0
    print(launch(1), ctypes.CDLL("libcudart.so.13").cudaGetLastError())


def faulting() -> None:
    """Launch after a fault, which a later call returns."""
    check(launch(1))
    memory.value = 8
    print(*(launch(1) for _ in range(3)), driver.cuCtxSynchronize(), launch(1))


globals()[sys.argv[1]]()
