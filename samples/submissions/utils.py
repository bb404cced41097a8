"""A kernel of CUDA source that a submission launches with numpy arrays, by the driver API."""

import numpy as np
from cuda.bindings import driver, nvrtc


def checked(result):
    """Return the results of a call."""
    status, *values = result
    if status:
        raise RuntimeError(status)
    return values[0] if len(values) == 1 else values


class Kernel:
    """A kernel, compiled for the emulated device and for GPUs from Hopper on."""

    def __init__(self, source, name):
        checked(driver.cuInit(0))
        self._context = checked(driver.cuDevicePrimaryCtxRetain(0))
        checked(driver.cuCtxSetCurrent(self._context))
        program = checked(nvrtc.nvrtcCreateProgram(source.encode(), b"kernel.cu", 0, [], []))
        status = nvrtc.nvrtcCompileProgram(program, 1, [b"--gpu-architecture=compute_90"])[0]
        if status:
            log = b" " * checked(nvrtc.nvrtcGetProgramLogSize(program))
            checked(nvrtc.nvrtcGetProgramLog(program, log))
            raise RuntimeError(log.decode())
        ptx = b" " * checked(nvrtc.nvrtcGetPTXSize(program))
        checked(nvrtc.nvrtcGetPTX(program, ptx))
        module = checked(driver.cuModuleLoadData(ptx))
        self._function = checked(driver.cuModuleGetFunction(module, name.encode()))

    def __call__(self, grid, block, *arguments):
        """Launch with copies of arrays, which are copied back, and with numpy scalars."""
        checked(driver.cuCtxSetCurrent(self._context))
        buffers, values = [], []
        for each in arguments:
            if isinstance(each, np.ndarray):
                buffer = checked(driver.cuMemAlloc(max(each.nbytes, 1)))
                checked(driver.cuMemcpyHtoD(buffer, each.ctypes.data, each.nbytes))
                buffers.append((buffer, each))
                each = np.uint64(int(buffer))
            values.append(np.array([each]))
        places = np.array([each.ctypes.data for each in values], np.uint64)
        sizes = grid, 1, 1, block, 1, 1, 0, 0
        checked(driver.cuLaunchKernel(self._function, *sizes, places.ctypes.data, 0))
        checked(driver.cuCtxSynchronize())
        for buffer, array in buffers:
            checked(driver.cuMemcpyDtoH(array.ctypes.data, buffer, array.nbytes))
            checked(driver.cuMemFree(buffer))
