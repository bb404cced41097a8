"""error: reads the memory of other processes by a system call, without a file."""

import ctypes
import os

import numpy as np


class Part(ctypes.Structure):
    _fields_ = [("base", ctypes.c_void_p), ("size", ctypes.c_size_t)]


def custom_kernel(x):
    library = ctypes.CDLL(None, use_errno=True)
    y = np.zeros_like(x)
    own = Part(y.ctypes.data, 1)
    other = Part(id(x), 1)
    call = library.process_vm_readv
    if call(os.getppid(), ctypes.byref(own), 1, ctypes.byref(other), 1, 0) < 0:
        raise PermissionError(os.strerror(ctypes.get_errno()))
    return y
