"""What ``cudarun launch samples/saxpy.ptx`` does, as a script on CuPy.

Usage: ``python saxpy_cupy.py IMAGE N``
"""

from __future__ import annotations

import sys

import cupy
import numpy as np

BLOCK = 256


def main() -> int:
    """Load, fill, launch, copy back, compare; 0 when every element is right."""
    path, n = sys.argv[1], int(sys.argv[2])
    kernel = cupy.RawModule(path=path).get_function("saxpy")

    x = np.arange(n, dtype=np.float32)
    y = np.ones(n, dtype=np.float32)
    device_x = cupy.asarray(x)
    device_y = cupy.asarray(y)

    kernel((-(-n // BLOCK),), (BLOCK,), (np.float32(2), device_x, device_y, np.int32(n)))
    return 0 if np.array_equal(cupy.asnumpy(device_y), 2 * x + 1) else 1


if __name__ == "__main__":
    sys.exit(main())
