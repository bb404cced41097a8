"""Waits for an event that processes share and whose record is never executed; see test_exec.py."""

import mmap
import os
import signal
import sys
import time
from ctypes import CDLL, CFUNCTYPE, Structure, byref, c_char, c_size_t, c_uint64, c_void_p

cuda = CDLL("libcuda.so.1")
PTX = b""".version 8.0
.target sm_80
.address_size 64
.visible .entry bad() { .reg .b64 %rd1; mov.u64 %rd1, 8; st.global.u64 [%rd1], %rd1; ret; }
"""


class Handle(Structure):
    """A ``CUipcEventHandle``, which is passed by value."""

    _fields_ = (("data", c_char * 64),)


event, stream, module, kernel, context, graph = (c_void_p() for _ in range(6))
source, target = os.pipe()
is_killed = sys.argv[-1] == "killed"
alive, holder = os.pipe()
if is_killed and os.fork():  # neither of both processes is the program, with which servers end
    os.close(holder)
    os.read(alive, 1)  # returns when they have ended
    sys.exit()
is_child = is_killed and not os.fork()
cuda.cuInit(0)
cuda.cuDevicePrimaryCtxRetain(byref(context), 0)
cuda.cuCtxSetCurrent(context)
if is_child:
    cuda.cuIpcOpenEventHandle(byref(event), Handle.from_buffer_copy(os.read(source, 64)))
    print(cuda.cuEventQuery(event))
    os.kill(os.getppid(), signal.SIGKILL)
    print(cuda.cuEventSynchronize(event), flush=True)
    os._exit(0)
handle = Handle()
cuda.cuEventCreate(byref(event), 6)
cuda.cuIpcGetEventHandle(byref(handle), event)
if is_killed:
    wait = CFUNCTYPE(None, c_void_p)(lambda _: signal.pause())
    cuda.cuStreamCreate(byref(stream), 1)
    cuda.cuLaunchHostFunc(stream, wait, None)
elif sys.argv[-1] == "error":  # in a graph, before the record: memory that is not readable by then
    executable, memory = c_void_p(), c_void_p()
    source = mmap.mmap(-1, 4096)
    data = c_char.from_buffer(source)
    wait = CFUNCTYPE(None, c_void_p)(lambda _: time.sleep(0.3))
    cuda.cuMemAlloc_v2(byref(memory), c_size_t(4096))
    cuda.cuStreamCreate(byref(stream), 1)
    cuda.cuStreamBeginCapture_v2(stream, 0)
    cuda.cuLaunchHostFunc(stream, wait, None)
    cuda.cuMemcpyHtoDAsync_v2(memory, byref(data), c_size_t(4096), stream)
    cuda.cuEventRecordWithFlags(event, stream, 1)
    cuda.cuStreamEndCapture(stream, byref(graph))
    cuda.cuGraphInstantiateWithFlags(byref(executable), graph, c_uint64(0))
    CDLL(None).mprotect(byref(data), c_size_t(4096), 0)
    print(cuda.cuGraphLaunch(executable, stream), flush=True)
else:
    cuda.cuModuleLoadData(byref(module), PTX)
    cuda.cuModuleGetFunction(byref(kernel), module, b"bad")
    cuda.cuLaunchKernel(kernel, *[1] * 6, 0, stream, None, None)
if not graph:
    print(cuda.cuEventRecord(event, stream), flush=True)
if is_killed:
    os.write(target, bytes(handle))
    signal.pause()
print(cuda.cuEventSynchronize(event))
