"""A step of an n-body simulation as a kernel of numba, compiled to ``nbody.ptx`` beside it.

Needs no GPU. numba's compiler uses libNVVM of CUDA 12.0, so that the PTX (ISA 8.0, sm_75) loads on
any driver of CUDA 12 or later::

    python -m venv /tmp/numba
    /tmp/numba/bin/pip install numba-cuda==0.30.4 'cuda-bindings<13' \\
        nvidia-cuda-nvcc-cu12==12.0.140 nvidia-cuda-nvrtc-cu12==12.0.140 \\
        nvidia-cuda-runtime-cu12==12.0.146
    /tmp/numba/bin/python samples/nbody.py
"""

import math
from pathlib import Path

from numba import cuda, float32, void

SOFTENING = float32(0.01)


def nbody(position, velocity, moved, dt):
    """Attract each body by all others; ``position`` has x, y, z and the mass of each."""
    i = cuda.grid(1)
    if i >= position.shape[0]:
        return
    x, y, z = position[i, 0], position[i, 1], position[i, 2]
    ax, ay, az = float32(0), float32(0), float32(0)
    for j in range(position.shape[0]):
        dx, dy, dz = position[j, 0] - x, position[j, 1] - y, position[j, 2] - z
        square = dx * dx + dy * dy + dz * dz + SOFTENING
        scale = position[j, 3] / (square * math.sqrt(square))
        ax += dx * scale
        ay += dy * scale
        az += dz * scale
    velocity[i, 0] += dt * ax
    velocity[i, 1] += dt * ay
    velocity[i, 2] += dt * az
    moved[i, 0] = x + dt * velocity[i, 0]
    moved[i, 1] = y + dt * velocity[i, 1]
    moved[i, 2] = z + dt * velocity[i, 2]
    moved[i, 3] = position[i, 3]


if __name__ == "__main__":
    arrays = (float32[:, ::1],) * 3
    ptx, _ = cuda.compile(nbody, void(*arrays, float32), device=False, abi="numba", cc=(7, 5))
    Path(__file__).with_suffix(".ptx").write_text(ptx)
