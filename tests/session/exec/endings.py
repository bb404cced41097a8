"""Ends in the way that its first argument names, while its kernel runs; see test_endings.py."""

import ctypes
import os
import signal
import sys
import threading
from ctypes import byref, c_size_t, c_uint32, c_void_p

cuda = ctypes.CDLL("libcuda.so.1")
PTX = b"""
.version 8.0
.target sm_80
.address_size 64
.visible .entry wait_for(.param .u64 flags)
{
  .reg .b64 %rd<2>;
  .reg .b32 %r<2>;
  .reg .pred %p<2>;
  ld.param.u64 %rd1, [flags];
  st.volatile.global.u32 [%rd1], 1;
LOOP:
  ld.volatile.global.u32 %r1, [%rd1+4];
  setp.eq.u32 %p1, %r1, 0;
  @%p1 bra LOOP;
  ret;
}
"""


def call(name, *arguments):
    error = getattr(cuda, name)(*arguments)
    if error:
        raise SystemExit(f"{name}: {error}")


context, module, kernel, address = (c_void_p() for _ in range(4))
call("cuInit", 0)
call("cuDevicePrimaryCtxRetain", byref(context), 0)
call("cuCtxSetCurrent", context)
call("cuModuleLoadData", byref(module), PTX)
call("cuModuleGetFunction", byref(kernel), module, b"wait_for")
call("cuMemHostAlloc", byref(address), c_size_t(8), 2)
is_running, may_end = (c_uint32.from_address(address.value + at) for at in (0, 4))
parameters = (c_void_p * 1)(ctypes.addressof(address))
call("cuLaunchKernel", kernel, *[1] * 6, 0, None, parameters, None)
while not is_running.value:
    pass


print(os.getpid(), flush=True)
match sys.argv[1]:
    case "SIGSEGV":
        ctypes.string_at(0)
    case "abort":
        os.abort()
    case "_exit":
        source, target = os.pipe()
        if not os.fork():
            os.close(target)
            os.read(source, 1)  # returns when the parent has ended
            may_end.value = 1
        os._exit(4)
    case "_exit at once":
        os._exit(4)
    case "handler":
        signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
        print("ready", flush=True)
        signal.sigwait([signal.SIGINT])
        os._exit(3)
    case "wait":
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        print("ready", flush=True)
        call("cuCtxSynchronize")
    case "new thread":  # which connects when the test has killed the servers
        print("ready", flush=True)
        sys.stdin.read()
        thread = threading.Thread(target=call, args=("cuCtxSynchronize",))
        thread.start()
        thread.join()
