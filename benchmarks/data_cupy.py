"""A file to the GPU, a kernel, and its result to a file, as one would write it with CuPy.

Usage: ``python data_cupy.py IMAGE INPUT [OUTPUT]``
"""

from __future__ import annotations

import sys

import cupy
import numpy as np

BLOCK = 256


def main() -> int:
    """Load, launch, save."""
    image, path, *output = sys.argv[1:]
    kernel = cupy.RawModule(path=image).get_function("saxpy")

    x = cupy.asarray(np.load(path))
    y = cupy.zeros_like(x)
    kernel((-(-x.size // BLOCK),), (BLOCK,), (np.float32(2), x, y, np.int32(x.size)))
    cupy.cuda.Device().synchronize()

    if output:
        np.save(output[0], cupy.asnumpy(y))
    return 0


if __name__ == "__main__":
    sys.exit(main())
