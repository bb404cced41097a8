"""What ``cudarun launch samples/saxpy.ptx`` does, as a script on cuda.core and numpy.

Usage: ``python saxpy_cuda_core.py IMAGE N``
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from cuda.bindings import driver
from cuda.core import Device, LaunchConfig, ObjectCode, launch

BLOCK = 256


def main() -> int:
    """Load, fill, launch, copy back, compare; 0 when every element is right."""
    path, n = Path(sys.argv[1]), int(sys.argv[2])
    data = path.read_bytes()
    device = Device(0)
    device.set_current()
    stream = device.default_stream  # the one that synchronous copies are ordered with
    code = ObjectCode.from_ptx(data) if path.suffix == ".ptx" else ObjectCode.from_cubin(data)
    kernel = code.get_kernel("saxpy")

    x = np.arange(n, dtype=np.float32)
    y = np.ones(n, dtype=np.float32)
    device_x = device.allocate(x.nbytes, stream=stream)
    device_y = device.allocate(y.nbytes, stream=stream)
    _copy("HtoD", device_x.handle, x)
    _copy("HtoD", device_y.handle, y)

    config = LaunchConfig(grid=-(-n // BLOCK), block=BLOCK)
    launch(stream, config, kernel, np.float32(2), device_x, device_y, np.int32(n))
    stream.sync()

    _copy("DtoH", device_y.handle, y)
    return 0 if np.array_equal(y, 2 * x + 1) else 1


def _copy(direction: str, pointer: object, array: np.ndarray) -> None:
    """cuda.core copies between buffers only; pageable host memory goes through the bindings."""
    address = array.ctypes.data
    if direction == "HtoD":
        (result,) = driver.cuMemcpyHtoD(pointer, address, array.nbytes)
    else:
        (result,) = driver.cuMemcpyDtoH(address, pointer, array.nbytes)
    if result != driver.CUresult.CUDA_SUCCESS:
        raise RuntimeError(f"cuMemcpy{direction}: {result}")


if __name__ == "__main__":
    sys.exit(main())
