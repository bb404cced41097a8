"""A kernel of ``kernels.cl`` on an OpenCL platform: processor time of its launches.

Usage: ``python benchmarks/opencl_kernels.py LIBRARY NAME COUNT``; `engines.py` calls it. LIBRARY
has the functions of OpenCL: ``libOpenCL.so.1``, or Oclgrind's own. NAME is a case of
`emulator_cases.engine_cases`. Prints the milliseconds of processor time, of all threads: the
minimum of COUNT launches.
"""

from __future__ import annotations

import ctypes
import sys
import time
from ctypes import byref, c_int, c_size_t, c_uint, c_void_p
from pathlib import Path

import numpy as np
from emulator_cases import BUFFER, FULL, TENSOR_MAP, agrees, engine_cases
from timing import Failed

_READ_WRITE, _COPY_HOST = 1, 32
_EVERY_KIND = 0xFFFFFFFF


class OpenCL:
    """A context and a queue on the first device of the first platform of a library."""

    def __init__(self, library: str) -> None:
        self._library = ctypes.CDLL(library)
        platform, device = c_void_p(), c_void_p()
        self.call("clGetPlatformIDs", 1, byref(platform), None)
        kind = ctypes.c_uint64(_EVERY_KIND)
        self.call("clGetDeviceIDs", platform, kind, 1, byref(device), None)
        self._device = device
        self._context = self.made("clCreateContext", None, 1, byref(device), None, None)
        self.queue = self.made("clCreateCommandQueue", self._context, device, ctypes.c_uint64(0))

    def call(self, name: str, *arguments: object) -> None:
        """Call a function that returns a code.

        Raises:
            Failed: The code is not 0.
        """
        code = getattr(self._library, name)(*arguments)
        if code:
            raise Failed(f"{name}: {code}")

    def made(self, name: str, *arguments: object) -> c_void_p:
        """Call a function that returns an object."""
        function, code = getattr(self._library, name), c_int()
        function.restype = c_void_p
        found = function(*arguments, byref(code))
        if code.value:
            raise Failed(f"{name}: {code.value}")
        return c_void_p(found)

    def kernel(self, source: bytes, name: str) -> c_void_p:
        """Return a kernel of a program."""
        text = ctypes.c_char_p(source)
        program = self.made("clCreateProgramWithSource", self._context, 1, byref(text), None)
        self.call("clBuildProgram", program, 1, byref(self._device), b"", None, None)
        return self.made("clCreateKernel", program, name.encode())

    def buffer(self, array: np.ndarray) -> c_void_p:
        """Return a buffer with these values."""
        flags, size = ctypes.c_uint64(_READ_WRITE | _COPY_HOST), c_size_t(array.nbytes)
        return self.made("clCreateBuffer", self._context, flags, size, c_void_p(array.ctypes.data))


def milliseconds(library: str, name: str, count: int) -> float:
    """Return the processor time of a case.

    Raises:
        Failed: A call failed, or the answer is wrong.
    """
    case, opencl = engine_cases(FULL)[name](), OpenCL(library)
    source = Path(__file__).with_name("kernels.cl").read_bytes()
    kernel = opencl.kernel(source, case.name)
    buffers = {}
    for place, argument in enumerate(case.arguments):
        value = argument.value
        if argument.parameter in (BUFFER, TENSOR_MAP):
            buffers[argument.name] = opencl.buffer(value)
            value = np.array(buffers[argument.name].value, np.uint64)
        size, data = c_size_t(value.nbytes), c_void_p(value.ctypes.data)
        opencl.call("clSetKernelArg", kernel, c_uint(place), size, data)
    extent = [-(-t // b) * b for t, b in zip(case.threads, case.block, strict=True)]
    work, group = (c_size_t * 2)(*extent), (c_size_t * 2)(*case.block)
    times, found = [], np.empty_like(case.output.value)
    for _ in range(count):
        for argument in case.arguments:
            if argument.name in buffers:
                _copy(opencl, "clEnqueueWriteBuffer", buffers[argument.name], argument.value)
        start = time.process_time()
        nothing = (0, None, None)
        opencl.call("clEnqueueNDRangeKernel", opencl.queue, kernel, 2, None, work, group, *nothing)
        opencl.call("clFinish", opencl.queue)
        times.append(1000 * (time.process_time() - start))
        _copy(opencl, "clEnqueueReadBuffer", buffers[case.output.name], found)
    if not agrees(case, found):
        raise Failed(f"{name}: the answer is wrong")
    return min(times)


def _copy(opencl: OpenCL, name: str, buffer: c_void_p, array: np.ndarray) -> None:
    size, data = c_size_t(array.nbytes), c_void_p(array.ctypes.data)
    opencl.call(name, opencl.queue, buffer, c_uint(1), c_size_t(0), size, data, 0, None, None)


if __name__ == "__main__":
    print(milliseconds(sys.argv[1], sys.argv[2], int(sys.argv[3])))
